// The bilateral rows of a large system at a cost linear in its size: one sparse factorisation of
// bodies and joints together, instead of the full matrix G' A^-1 G (joint_solver.c).
#ifndef LASH_SOLVERS_JOINT_SPARSE_H
#define LASH_SOLVERS_JOINT_SPARSE_H

#include "core/system.h"
#include "solvers/linear/block_lu.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashJointSparse LashJointSparse;

// For the bilateral interactions of list, which every later list must have as well.
LashJointSparse* lash_joint_sparse_create(const LashSystem* system,
                                          const LashInteractionList* list);
void lash_joint_sparse_destroy(LashJointSparse* sparse);             // NULL is allowed
double lash_joint_sparse_factor_cost(const LashJointSparse* sparse); // multiplications
double lash_joint_sparse_solve_cost(const LashJointSparse* sparse);

// Factors [A -G_star; G_hat' 0], A in the layout of system->pattern. positions: rows of
// LASH_BILATERAL_VELOCITY are left out. Returns the number of independent rows.
int lash_joint_sparse_factor(LashJointSparse* sparse, const LashInteractionList* list,
                             const double* G_hat, const double* G_star, const double* A,
                             bool positions);
// P with G_hat' A^-1 G_star P = -U, for two right sides or, U2 = NULL, one; dependent rows get
// zero.
void lash_joint_sparse_solve(LashJointSparse* sparse, const LashInteractionList* list,
                             const double* U1, const double* U2, double* P1, double* P2);
// x1, x2 (nv) <- (A^-1 - A^-1 G* (G' A^-1 G*)^-1 G' A^-1) x: the answer to a generalized impulse
// with the joints closed, for two of them
void lash_joint_sparse_respond(LashJointSparse* sparse, double* x1, double* x2);
// Sets the rows that the factorisation leaves out to zero.
void lash_joint_sparse_clear_dependent(const LashJointSparse* sparse,
                                       const LashInteractionList* list, double* P);
// P <- the one of smallest norm with the same G P; moments divided by the length of the system.
void lash_joint_sparse_minimum_norm(LashJointSparse* sparse, const LashInteractionList* list,
                                    const double* G, double* P);

void lash_joint_sparse_archive(LashJointSparse* sparse, LashArchive* archive);

#ifdef __cplusplus
}
#endif
#endif
