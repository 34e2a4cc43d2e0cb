// Reads complementarity problems in the text layout of the public friction-contact collections:
// friction (2D, 3D), the same with masses (global), mixed friction with joint rows, LCP and mixed
// LCP; and friction problems, local and global, in FCLIB's HDF5 files.
#ifndef LASH_APP_PROBLEM_FILE_H
#define LASH_APP_PROBLEM_FILE_H

#include <stdio.h>

#include "core/error.h"
#include "solvers/cone/lcp.h"
#include "solvers/friction.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum AppProblemLayout {
    APP_LAYOUT_FRICTION, // dim, contacts, matrix, q, mu
    APP_LAYOUT_GENERIC,  // block matrix, q, type of each block: joints, contacts, friction
    APP_LAYOUT_LCP,      // n, matrix, q
    APP_LAYOUT_MIXED,    // equalities and complementarities
    APP_LAYOUT_GLOBAL    // dim, contacts, M, H, q, b, mu: M v = q + H P, U = H' v + b
} AppProblemLayout;

typedef struct AppGlobal AppGlobal; // M, H, q, b as read, and the factors of M

typedef struct AppProblem {
    AppProblemLayout layout;
    LashFrictionProblem friction; // of the layouts with friction; owns its arrays
    LashLcpProblem lcp;           // of LCP and mixed LCP; owns its arrays
    LashBlockSparse sparse;       // what friction.sparse points to
    AppGlobal* global;            // of the global layout; friction is then W = H' M^-1 H
    int units;                    // contacts, or rows of an LCP
    bool hdf5;                    // it came from an FCLIB file
} AppProblem;

// Of impulses P (m): recomputed from what the file holds, in LASH_MEASURE_PLAIN. Global layout: the
// larger of |M v - q - H P| / (1 + |q|) and |P - proj(P - u)| / (1 + |H' M^-1 q + b|), with
// v = M^-1 (q + H P) and U = H' v + b.
double app_problem_residual(const AppProblem* problem, const double* P);

// The layout is recognised from the contents. NULL and error filled when the file cannot be read
// (LASH_ERROR_IO) or does not hold a problem (LASH_ERROR_MODEL, with the line).
AppProblem* app_problem_load(const char* path, LashError* error); // caller owns
AppProblem* app_problem_parse(const char* text, size_t size, LashError* error);
void app_problem_destroy(AppProblem* problem); // NULL is allowed

// Largest of all contacts (problem_write.c): |min(u_N, r_N)|, max(0, |r_T| - mu r_N),
// |mu r_N |u_T| + r_T.u_T|.
typedef struct AppThreeResiduals {
    double signorini, coulomb, dissipation;
} AppThreeResiduals;
AppThreeResiduals app_problem_three(const AppProblem* problem, const double* P);

// Writes a friction problem as text of the local layout; it can hold contacts of one dimension with
// friction and nothing else.
bool app_friction_can_write(const LashFrictionProblem* problem);
void app_friction_write(const LashFrictionProblem* problem, FILE* file);

typedef struct AppEntry { // of a matrix; entries of the same place are added up
    int row, column;
    double value;
} AppEntry;

// Builds a friction problem from the entries of W: dense or block sparse, whichever suits. Copies
// everything.
AppProblem* app_problem_build(int contacts, const uint8_t* kind, const double* mu, const double* b,
                              int m, size_t count, const AppEntry* entries);

#ifdef __cplusplus
}
#endif
#endif
