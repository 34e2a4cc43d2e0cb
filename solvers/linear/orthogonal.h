// Orthogonal bases of given rows and of what is orthogonal to them.
#ifndef LASH_SOLVERS_ORTHOGONAL_H
#define LASH_SOLVERS_ORTHOGONAL_H

#include "core/types.h"

// A (count x ld, rows of length n, zero from n to ld) becomes L, row order[i] first:
//
//     A_order[i] = sum over j <= i of L_order[i],j Q_j,    Q (n x ld) by rows, orthonormal
//
// Returns the rank r: rows of which less than `share` of their squared length is left are dropped,
// they come last in order. Q_0 .. Q_{r-1} span the rows, the others their complement.
// work: n ld + 3 count + 2 n doubles.
int lash_orthogonal_factor(int n, int count, double* A, int ld, double share, int* order, double* Q,
                           double* work);
// c (r): L c = e (in the order of A's rows);  P (count): L' P = c, 0 for dropped rows
void lash_orthogonal_forward(int rank, const double* A, int ld, const int* order, const double* e,
                             double* c);
void lash_orthogonal_backward(int rank, int count, const double* A, int ld, const int* order,
                              const double* c, double* P);

#endif
