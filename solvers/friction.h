// Contact with Coulomb friction at velocity level, mixed with frictionless contacts and joints.
//
//     U = W P + b,    contacts:  C_mu  contains  P  perp  U + (mu |U_T|, 0, 0)  in  C_mu*
//                     joint rows: U = 0, P free
//
// The restitution term e U_N,k stands in the normal rows of b already. Algebra only: no bodies.
#ifndef LASH_SOLVERS_FRICTION_H
#define LASH_SOLVERS_FRICTION_H

#include "core/stop.h"
#include "core/types.h"
#include "solvers/linear/block_sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

// A contact is a block of consecutive rows n, t1, t2; the kind of 1 .. 3 is its number of rows.
typedef enum LashContactKind {
    LASH_CONTACT_BILATERAL = 0,    // one row of a joint: P free, U = 0
    LASH_CONTACT_FRICTIONLESS = 1, // 0 <= U perp P >= 0
    LASH_CONTACT_PLANAR = 2,       // |P_T| <= mu P_N in the plane
    LASH_CONTACT_SPATIAL = 3       // |P_T| <= mu P_N, the round cone
} LashContactKind;

static inline int lash_contact_rows(uint8_t kind) {
    return kind == LASH_CONTACT_BILATERAL ? 1 : kind;
}

typedef struct LashFrictionProblem {
    int contacts;        // blocks, joint rows counted as one block each
    int m;               // rows: the sum over the blocks
    const uint8_t* kind; // (contacts) LashContactKind; NULL: all spatial
    const double* mu;    // (contacts) >= 0 [-]; not looked at where there is no friction
    const double* b;     // (m) velocity without impulses, plus restitution [m/s]
    const double* W;     // (m x m) column-major [1/kg]; symmetric or not; NULL: sparse is set
    int ldw;             // leading dimension of W
    const LashBlockSparse* sparse; // W in blocks (same rows per block), or NULL
} LashFrictionProblem;

enum { LASH_MAX_DIRECTIONS = 8 };

typedef enum LashFrictionMeasure {
    LASH_MEASURE_VELOCITY, // max |P - proj(P - rho u)| / rho / (1 + |b|), rho = 1/lambda_max(W_aa)
    LASH_MEASURE_PLAIN     // |P - proj(P - u)|_2 / (1 + |b|): published problem files
} LashFrictionMeasure;

// What settings ask for, and what an answer was found by (docs/solvers.md has the order).
typedef enum LashFrictionMethod {
    LASH_FRICTION_DEFAULT,       // chooses, verifies, falls back
    LASH_FRICTION_STATUS,        // guesses open/stick/slip, solves that system exactly (small ones)
    LASH_FRICTION_GAUSS_SEIDEL,  // sweeps with an exact solver per contact
    LASH_FRICTION_NEWTON,        // semismooth Newton with line search
    LASH_FRICTION_ROBUST,        // the three below in turn; an answer names the one that found it
    LASH_FRICTION_PIVOTING,      // without friction: exact; not to be asked for
    LASH_FRICTION_INTERIOR,      // interior points; not to be asked for
    LASH_FRICTION_PROXIMAL,      // proximal steps; asked for in jams only
    LASH_FRICTION_LEAST_SQUARES, // inside the Newton iteration of a step; not to be asked for
    LASH_FRICTION_POLYHEDRAL     // the cone cut to settings.directions planes, by pivoting
} LashFrictionMethod;

typedef struct LashFrictionSettings {
    double tolerance;            // of the residual in the measure below
    LashFrictionMeasure measure; // what the tolerance is compared with
    LashFrictionMethod method;
    int max_iterations; // sweeps and Newton steps after which no new attempt begins; 0: own limit
    int directions;     // of the polyhedral cone in space: 3 .. LASH_MAX_DIRECTIONS
    bool cold;          // true: P on entry is not read
    double spread;      // |P| lambda / |b| above which rows are taken to contradict each other [-]
    double shift;       // of Newton's matrix, over the contacts' own eigenvalues, at first [-]
    bool minimum_norm;  // among equal solutions return the one with the smallest |P|
    const LashStop* stop; // asked between iterations; NULL: none. The best point so far is returned
} LashFrictionSettings;

typedef struct LashFrictionInfo {
    LashOutcome outcome;
    LashFrictionMethod method; // the one that gave the answer
    int iterations;            // sweeps and linear solves of all methods tried
    double residual;           // in the chosen measure, recomputed from W, b and the returned P;
                               // of the LCP for the polyhedral cone
} LashFrictionInfo;

LashFrictionSettings lash_friction_settings(void); // 1e-12 in LASH_MEASURE_VELOCITY, warm

// Bytes of workspace for problems up to this size (monotone in both).
size_t lash_friction_work_size(int contacts, int m);

// Solves; P (m) holds the warm start and gets the answer, U (m) gets W P + b. work is 64-byte
// aligned. Asserts on NaN and on sizes that do not fit. LASH_FAILED: P is 0.
LashFrictionInfo lash_friction_solve(const LashFrictionProblem* problem,
                                     const LashFrictionSettings* settings, double* P, double* U,
                                     void* work);

// The independent check: recomputes U = W P + b and returns the residual.
double lash_friction_residual(const LashFrictionProblem* problem, LashFrictionMeasure measure,
                              const double* P, double* U);

const char* lash_friction_method_name(LashFrictionMethod method);

#ifdef __cplusplus
}
#endif
#endif
