// The bilateral rows of a system: solves (G' A^-1 G) P = -U with minimum norm, whatever the rank.
#ifndef LASH_SOLVERS_JOINT_SOLVER_H
#define LASH_SOLVERS_JOINT_SOLVER_H

#include "core/system.h"
#include "solvers/block_lu.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashJointSolver {
    const LashSystem* system;
    int capacity; // rows
    int rows, rank;
    double* W_inverse; // (rows x rows) pseudo-inverse of the symmetric part of G' A^-1 G
    double* scale;     // (rows) 1, or 1/length for moments: the norm that is minimal is |scale P|
    int* pivot;        // (rows) independent rows first, in the order of elimination
    double *L, *S, *column; // scratch
} LashJointSolver;

void lash_joint_solver_init(LashJointSolver* solver, const LashSystem* system, int capacity);
void lash_joint_solver_free(LashJointSolver* solver);

// Factors for the bilateral interactions of list with directions G; lu holds the factors of A (not
// looked at when unit_metric: A = I). When positions is set, rows of LASH_BILATERAL_VELOCITY are
// left out (zero in the inverse).
void lash_joint_solver_factor(LashJointSolver* solver, const LashInteractionList* list,
                              const double* G, const LashBlockLu* lu, bool positions,
                              bool unit_metric);

// P = -W^+ U over the bilateral rows.
void lash_joint_solver_solve(const LashJointSolver* solver, const double* U, double* P);

#ifdef __cplusplus
}
#endif
#endif
