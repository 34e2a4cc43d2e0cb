// The bilateral rows of a system: solves (G' A^-1 G) P = -U with minimum norm, whatever the rank.
#ifndef LASH_SOLVERS_JOINT_SOLVER_H
#define LASH_SOLVERS_JOINT_SOLVER_H

#include "core/system.h"
#include "solvers/joints/joint_sparse.h"
#include "solvers/linear/block_lu.h"
#include "solvers/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashJointSolver {
    const LashSystem* system;
    int capacity; // rows
    int rows, rank;
    double* W_inverse; // (rows x rows) pseudo-inverse of the symmetric part of G' A^-1 G
    double* projector; // (rows x rows) -W^+ W: the part of P that joints feel; unused at full rank
    double* scale;     // (rows) 1, or 1/length for moments: the norm that is minimal is |scale P|
    int* pivot;        // (rows) independent rows first, in the order of elimination
    double *L, *S, *column;          // scratch
    bool general;                    // solve with the unsymmetric W itself, by least squares
    double *W, *work;                // (rows x rows) of the general case; scratch of least squares
    LashJointSparse* sparse;         // NULL: the full matrices above, none of them otherwise
    const LashInteractionList* list; // sparse: of the last factorisation
} LashJointSolver;

// For the bilateral interactions of list. Small systems are solved with full matrices, large ones
// with a sparse factorisation; automatic: whichever is expected to be faster.
void lash_joint_solver_init(LashJointSolver* solver, const LashSystem* system,
                            const LashInteractionList* list, LashJointMethod method);
void lash_joint_solver_free(LashJointSolver* solver);

// Factors for the bilateral interactions of list with directions G; lu holds the factors of A (not
// looked at when unit_metric: A = I). When positions is set, rows of LASH_BILATERAL_VELOCITY are
// left out (zero in the inverse).
void lash_joint_solver_factor(LashJointSolver* solver, const LashInteractionList* list,
                              const double* G, const LashBlockLu* lu, bool positions,
                              bool unit_metric);

// The same for the unsymmetric matrix G_hat' A^-1 G_star, solved by least squares of minimum norm:
// for near-singular positions, where the symmetric part is no longer near enough. Slow.
void lash_joint_solver_factor_general(LashJointSolver* solver, const LashInteractionList* list,
                                      const double* G_hat, const double* G_star,
                                      const LashBlockLu* lu);

// P <- W^+ W P: the part of minimum norm; nothing at full rank. Sparse: dependent rows get zero.
void lash_joint_solver_project(LashJointSolver* solver, double* P);
// Factors with A = M and gives the P of minimum norm with the same G P.
void lash_joint_solver_minimum_norm(LashJointSolver* solver, const LashInteractionList* list,
                                    const double* G, const LashBlockLu* M, double* P);

// P = -W^+ U over the bilateral rows; and the same for two right sides in one pass.
void lash_joint_solver_solve_two(LashJointSolver* solver, const double* U1, const double* U2,
                                 double* P1, double* P2);

void lash_joint_solver_solve(LashJointSolver* solver, const double* U, double* P);

// The factors, for a solver of the same joints. Reading: `list` is that of the run.
void lash_joint_solver_archive(LashJointSolver* solver, const LashInteractionList* list,
                               LashArchive* archive);

#ifdef __cplusplus
}
#endif
#endif
