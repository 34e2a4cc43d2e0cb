// Dense kernels, column-major. Nothing here allocates, and every number is the same sum in the same
// order on any machine: no library chooses another kernel for another processor.
#ifndef LASH_SOLVERS_DENSE_H
#define LASH_SOLVERS_DENSE_H

#include <stdint.h>

#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// y = A x + y (rows x columns)
void lash_dense_multiply_add(int rows, int columns, const double* A, int lda, const double* x,
                             double* y);

// LU with row pivoting in place. Returns the smallest |pivot| / largest |pivot|; 0 when singular.
double lash_dense_lu(int n, double* A, int lda, int32_t* pivot);
void lash_dense_lu_solve(int n, const double* LU, int lda, const int32_t* pivot, double* x);

// A = L L' in place (lower). Returns false when A is not positive definite to rounding.
bool lash_dense_cholesky(int n, double* A, int lda);
void lash_dense_cholesky_solve(int n, const double* L, int lda, double* x);

// LU of a band matrix (kl below, ku above the diagonal), in place, LAPACK band layout with
// lda >= 2 kl + ku + 1: A(i, j) at AB[kl + ku + i - j + j * lda]. Returns false when singular.
bool lash_dense_band_lu(int n, int kl, int ku, double* AB, int lda, int32_t* pivot);
void lash_dense_band_solve(int n, int kl, int ku, const double* LU, int lda, const int32_t* pivot,
                           double* x);

// y (columns) -= sum over k of a_k X_k, for count rows X_k of length columns with leading dimension
// ld and coefficients a[k stride]. Every y_j is summed in the same order on any machine.
void lash_dense_subtract_rows(int columns, int count, const double* a, int stride, const double* X,
                              int ld, double* y);
// The same with y += ..., and with y = ...
void lash_dense_add_rows(int columns, int count, const double* a, int stride, const double* X,
                         int ld, double* y);
void lash_dense_sum_rows(int columns, int count, const double* a, int stride, const double* X,
                         int ld, double* y);
// Y (rows x columns) += sign A X, sign 1 or -1, or Y = A X where it is not kept: X (count x
// columns) and Y by rows with leading dimensions ld and ldy, columns a multiple of 8; A(i, k) at
// A[i row + k step].
void lash_dense_multiply_blocks(int rows, int columns, int count, double sign, const double* A,
                                int row, int step, const double* X, int ld, bool keep, double* Y,
                                int ldy);
// y (rows) = A x, A (rows x n) by rows with leading dimension ld. Sums in the same order on any
// machine.
void lash_dense_multiply_rows(int rows, int n, const double* A, int ld, const double* x, double* y);
// J J' + shift = R'R for J (k x k) by columns and R by rows, both with leading dimension ld, a
// multiple of 8, J padded with zeros; three rows more than k are written in R. inverse (k): one
// over the diagonal of R. False: not positive.
bool lash_dense_gram_factor(int k, int ld, const double* J, double shift, double* R,
                            double* inverse);
// x (ld) <- (R'R)^-1 x, R (n x ld) upper triangular by rows with zeros elsewhere, ld a multiple of
// 8; inverse: one over its diagonal.
void lash_dense_upper_solve(int n, int ld, const double* R, const double* inverse, double* x);
// n rounded up to what rows are best padded to for it
static inline int lash_dense_padded(int n) {
    return (n + 7) / 8 * 8;
}

// The next address at which a row begins with a whole register.
static inline double* lash_dense_aligned(double* at) {
    return (double*)(((uintptr_t)at + 63) / 64 * 64);
}

// Minimum-norm least squares: x of smallest |x| among those with smallest |A x - b|. Columns whose
// pivot falls below rank_tolerance times the largest count as dependent. A is destroyed, b (rows)
// is destroyed, x (columns). Returns the rank. work: lash_dense_least_squares_size doubles.
size_t lash_dense_least_squares_size(int rows, int columns);
int lash_dense_least_squares(int rows, int columns, double* A, int lda, double* b, double* x,
                             double rank_tolerance, double* work);

#ifdef __cplusplus
}
#endif
#endif
