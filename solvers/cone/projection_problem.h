// Moves a configuration back onto its constraints along G: position multipliers of one step.
//
//     g+ = g + A tau,  A = G' N G (symmetric, positive semidefinite, possibly singular)
//     bilateral, equality: g+ = 0, tau free;     inequality: 0 <= g+ perp tau >= 0
#ifndef LASH_SOLVERS_PROJECTION_PROBLEM_H
#define LASH_SOLVERS_PROJECTION_PROBLEM_H

#include "core/stop.h"
#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LashProjectionKind {
    LASH_PROJECT_INEQUALITY, // an active contact without impulse
    LASH_PROJECT_EQUALITY,   // a contact with P_N > 0; demoted to an inequality when inconsistent
    LASH_PROJECT_BILATERAL   // a joint row; never demoted
} LashProjectionKind;

typedef struct LashProjectionProblem {
    int m;
    const double* A; // (m x m) column-major
    int lda;
    const double* g;      // (m) gaps and joint errors [m]
    const uint8_t* kind;  // (m) LashProjectionKind
    const double* P_n;    // (m) impulses of the equalities: the smallest is demoted first [N s]
    double tolerance;     // absolute, on g+ [m]
    const LashStop* stop; // asked between iterations; NULL: none
    int max_iterations;   // of each solution; 0: as many as it takes
} LashProjectionProblem;

typedef struct LashProjectionInfo {
    LashOutcome outcome; // LASH_INACCURATE: no tau keeps all bilateral and inequality rows
    int demoted;         // equalities that became inequalities
    int iterations;      // linear solves
    double residual;     // worst row after demotion [m], recomputed from A, g, tau
} LashProjectionInfo;

size_t lash_projection_work_size(int m);

// tau (m) is the one of minimum norm; g_new (m) gets g + A tau; final_kind (m), or NULL, gets the
// kinds after demotion.
LashProjectionInfo lash_projection_solve(const LashProjectionProblem* problem, double* tau,
                                         double* g_new, uint8_t* final_kind, void* work);

// Recomputes g_new and returns the worst row [m] under the given kinds.
double lash_projection_residual(const LashProjectionProblem* problem, const uint8_t* kind,
                                const double* tau, double* g_new);

#ifdef __cplusplus
}
#endif
#endif
