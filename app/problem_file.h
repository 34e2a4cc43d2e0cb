// Reads complementarity problems in the text layout of the public friction-contact collections:
// friction (2D, 3D), mixed friction with joint rows, LCP and mixed LCP.
#ifndef LASH_APP_PROBLEM_FILE_H
#define LASH_APP_PROBLEM_FILE_H

#include "core/error.h"
#include "solvers/friction.h"
#include "solvers/mixed.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum AppProblemLayout {
    APP_LAYOUT_FRICTION, // dim, contacts, matrix, q, mu
    APP_LAYOUT_GENERIC,  // block matrix, q, type of each block: joints, contacts, friction
    APP_LAYOUT_LCP,      // n, matrix, q
    APP_LAYOUT_MIXED     // equalities and complementarities
} AppProblemLayout;

typedef struct AppProblem {
    AppProblemLayout layout;
    LashFrictionProblem friction; // of the first two layouts; owns its arrays
    LashMixedProblem mixed;       // of the last two; owns its arrays
    LashBlockSparse sparse;       // what friction.sparse points to
    int units;                    // contacts, or rows of an LCP
} AppProblem;

// The layout is recognised from the contents. NULL and error filled when the file cannot be read
// (LASH_ERROR_IO) or does not hold a problem (LASH_ERROR_MODEL, with the line).
AppProblem* app_problem_load(const char* path, LashError* error); // caller owns
AppProblem* app_problem_parse(const char* text, size_t size, LashError* error);
void app_problem_destroy(AppProblem* problem); // NULL is allowed

typedef struct AppEntry { // of a matrix; entries of the same place are added up
    int row, column;
    double value;
} AppEntry;

// Builds a friction problem from the entries of W: dense or block sparse, whichever suits. Copies
// everything.
AppProblem* app_problem_build(int contacts, const uint8_t* kind, const double* mu, const double* b,
                              int m, size_t count, const AppEntry* entries);

const char* app_problem_layout_name(AppProblemLayout layout);

#ifdef __cplusplus
}
#endif
#endif
