// Products and inverses of the small blocks of block_lu.c, column-major. Sizes that rigid bodies
// and their joints have are compiled one by one; all are inlined into functions that exist for
// several kinds of vector registers. Every number is summed in the same order whatever the
// registers, so the bits are the same.
#ifndef LASH_SOLVERS_BLOCK_KERNELS_INTERNAL_H
#define LASH_SOLVERS_BLOCK_KERNELS_INTERNAL_H

#include <math.h>
#include <string.h>

#include "core/types.h"

#define LASH_KERNEL static inline __attribute__((always_inline))

typedef double KernelFour __attribute__((vector_size(32), aligned(8), may_alias));
typedef double KernelTwo __attribute__((vector_size(16), aligned(8), may_alias));

// C = A B, or C -= A B, for 4 fours rows and so many columns, which stay in registers: m, k are the
// leading dimensions of A and C, of B.
LASH_KERNEL void kernel_tile(const int fours, const int columns, int m, int k,
                             const double* restrict A, const double* restrict B, double* restrict C,
                             const bool subtract) {
    KernelFour c[12] = {0};
    for (int j = 0; j < columns && subtract; ++j)
        for (int q = 0; q < fours; ++q) c[q + 3 * j] = *(const KernelFour*)(C + 4 * q + m * j);
    for (int l = 0; l < k; ++l) {
        for (int j = 0; j < columns; ++j) {
            double b = B[l + k * j];
            for (int q = 0; q < fours; ++q) {
                KernelFour ab = *(const KernelFour*)(A + 4 * q + m * l) * b;
                c[q + 3 * j] = subtract ? c[q + 3 * j] - ab : c[q + 3 * j] + ab;
            }
        }
    }
    for (int j = 0; j < columns; ++j)
        for (int q = 0; q < fours; ++q) *(KernelFour*)(C + 4 * q + m * j) = c[q + 3 * j];
}

// Rows [0, m / 4 * 4) of so many columns.
LASH_KERNEL void kernel_tiles(const int columns, int m, int k, const double* A, const double* B,
                              double* C, const bool subtract) {
    int i = 0;
    for (; i + 12 <= m; i += 12) kernel_tile(3, columns, m, k, A + i, B, C + i, subtract);
    if (i + 8 <= m) {
        kernel_tile(2, columns, m, k, A + i, B, C + i, subtract);
        i += 8;
    }
    if (i + 4 <= m) kernel_tile(1, columns, m, k, A + i, B, C + i, subtract);
}

// C (m x n) = A (m x k) B (k x n), or C -= A B: rows [from, m)
LASH_KERNEL void kernel_product_rows(int from, int m, int n, int k, const double* restrict A,
                                     const double* restrict B, double* restrict C, bool subtract) {
    for (int j = 0; j < n; ++j) {
        double* c = C + m * j;
        for (int i = from; i < m && !subtract; ++i) c[i] = 0;
        for (int l = 0; l < k; ++l) {
            double b = B[l + k * j];
            for (int i = from; i < m; ++i)
                c[i] = subtract ? c[i] - A[i + m * l] * b : c[i] + A[i + m * l] * b;
        }
    }
}

LASH_KERNEL void kernel_product(int m, int n, int k, const double* restrict A,
                                const double* restrict B, double* restrict C, const bool subtract) {
    int rows = m / 4 * 4, j = 0;
    for (; j + 4 <= n; j += 4) kernel_tiles(4, m, k, A, B + k * j, C + m * j, subtract);
    for (; j < n; ++j) kernel_tiles(1, m, k, A, B + k * j, C + m * j, subtract);
    if (rows < m) kernel_product_rows(rows, m, n, k, A, B, C, subtract);
}

// The same for few rows, fours and a two and a one of them, and so many columns, which stay in registers.
LASH_KERNEL void kernel_columns(const int m, const int columns, const int k,
                                const double* restrict A, const double* restrict B,
                                double* restrict C, const bool subtract) {
    const int fours = m / 4, two = m / 4 * 4, one = m / 2 * 2;
    KernelFour c[6] = {0};
    KernelTwo d[2] = {0};
    double e[2] = {0};
    for (int j = 0; j < columns && subtract; ++j) {
        for (int q = 0; q < fours; ++q) c[q + 3 * j] = *(const KernelFour*)(C + 4 * q + m * j);
        if (two < one) d[j] = *(const KernelTwo*)(C + two + m * j);
        if (one < m) e[j] = C[one + m * j];
    }
    for (int l = 0; l < k; ++l) {
        for (int j = 0; j < columns; ++j) {
            double b = B[l + k * j];
            for (int q = 0; q < fours; ++q) {
                KernelFour ab = *(const KernelFour*)(A + 4 * q + m * l) * b;
                c[q + 3 * j] = subtract ? c[q + 3 * j] - ab : c[q + 3 * j] + ab;
            }
            if (two < one) {
                KernelTwo ab = *(const KernelTwo*)(A + two + m * l) * b;
                d[j] = subtract ? d[j] - ab : d[j] + ab;
            }
            if (one < m) e[j] = subtract ? e[j] - A[one + m * l] * b : e[j] + A[one + m * l] * b;
        }
    }
    for (int j = 0; j < columns; ++j) {
        for (int q = 0; q < fours; ++q) *(KernelFour*)(C + 4 * q + m * j) = c[q + 3 * j];
        if (two < one) *(KernelTwo*)(C + two + m * j) = d[j];
        if (one < m) C[one + m * j] = e[j];
    }
}

LASH_KERNEL void kernel_product_few(const int m, int n, const int k, const double* restrict A,
                                    const double* restrict B, double* restrict C,
                                    const bool subtract) {
    int j = 0;
    for (; j + 2 <= n; j += 2) kernel_columns(m, 2, k, A, B + k * j, C + m * j, subtract);
    if (j < n) kernel_columns(m, 1, k, A, B + k * j, C + m * j, subtract);
}

// The same where the compiler does better with the rows as they are (measured size by size).
LASH_KERNEL void kernel_product_fixed(const int m, int n, const int k, const double* restrict A,
                                      const double* restrict B, double* restrict C, bool subtract) {
    for (int j = 0; j < n; ++j) {
        double c[16];
        for (int i = 0; i < m; ++i) c[i] = subtract ? C[i + m * j] : 0;
        for (int l = 0; l < k; ++l) {
            double b = B[l + k * j];
            for (int i = 0; i < m; ++i)
                c[i] = subtract ? c[i] - A[i + m * l] * b : c[i] + A[i + m * l] * b;
        }
        for (int i = 0; i < m; ++i) C[i + m * j] = c[i];
    }
}

LASH_KERNEL void kernel_multiply(int m, int n, int k, const double* A, const double* B, double* C,
                                 const bool subtract) {
    if (m == 5 && k == 6)
        kernel_product_few(5, n, 6, A, B, C, subtract);
    else if (m == 6 && k == 6)
        kernel_product_few(6, n, 6, A, B, C, subtract);
    else if (m == 5 && k == 5)
        kernel_product_fixed(5, n, 5, A, B, C, subtract);
    else if (m == 6 && k == 5)
        kernel_product_fixed(6, n, 5, A, B, C, subtract);
    else if (m == 6 && k == 3) // two matrices of a pile: bodies of 6, contacts of 3 and 1
        kernel_product_few(6, n, 3, A, B, C, subtract);
    else if (m == 3 && k == 6)
        kernel_product_few(3, n, 6, A, B, C, subtract);
    else if (m == 3 && k == 3)
        kernel_product_fixed(3, n, 3, A, B, C, subtract);
    else if (m == 6 && k == 1)
        kernel_product_fixed(6, n, 1, A, B, C, subtract);
    else if (m == 10 && k == 12)
        kernel_product_few(10, n, 12, A, B, C, subtract);
    else if (m == 10 && k == 10)
        kernel_product_fixed(10, n, 10, A, B, C, subtract);
    else
        kernel_product(m, n, k, A, B, C, subtract);
}

// y (m) -= A (m x n) x
LASH_KERNEL void kernel_subtract_fixed(const int m, const int n, const double* restrict A,
                                       const double* restrict x, double* restrict y) {
    double r[12];
    for (int i = 0; i < m; ++i) r[i] = y[i];
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) r[i] -= A[i + m * j] * x[j];
    }
    for (int i = 0; i < m; ++i) y[i] = r[i];
}

LASH_KERNEL void kernel_subtract(int m, int n, const double* restrict A, const double* restrict x,
                                 double* restrict y) {
    if (m == 5 && n == 6) {
        kernel_subtract_fixed(5, 6, A, x, y);
    } else if (m == 6 && n == 5) {
        kernel_subtract_fixed(6, 5, A, x, y);
    } else if (m == 5 && n == 5) {
        kernel_subtract_fixed(5, 5, A, x, y);
    } else if (m == 6 && n == 6) {
        kernel_subtract_fixed(6, 6, A, x, y);
    } else if (m == 12 && n == 12) {
        kernel_subtract_fixed(12, 12, A, x, y);
    } else if (m == 8 && n == 12) {
        kernel_subtract_fixed(8, 12, A, x, y);
    } else if (m == 12 && n == 8) {
        kernel_subtract_fixed(12, 8, A, x, y);
    } else {
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < m; ++i) y[i] -= A[i + m * j] * x[j];
        }
    }
}

// The same for two vectors: the block is read once.
LASH_KERNEL void kernel_subtract_two_fixed(const int m, const int n, const double* restrict A,
                                           const double* restrict x1, const double* restrict x2,
                                           double* restrict y1, double* restrict y2) {
    double r1[6], r2[6];
    for (int i = 0; i < m; ++i) {
        r1[i] = y1[i];
        r2[i] = y2[i];
    }
    for (int j = 0; j < n; ++j) {
        double f1 = x1[j], f2 = x2[j];
        for (int i = 0; i < m; ++i) r1[i] -= A[i + m * j] * f1;
        for (int i = 0; i < m; ++i) r2[i] -= A[i + m * j] * f2;
    }
    for (int i = 0; i < m; ++i) {
        y1[i] = r1[i];
        y2[i] = r2[i];
    }
}

LASH_KERNEL void kernel_subtract_two(int m, int n, const double* A, const double* x1,
                                     const double* x2, double* y1, double* y2) {
    if (m == 5 && n == 6) {
        kernel_subtract_two_fixed(5, 6, A, x1, x2, y1, y2);
    } else if (m == 6 && n == 5) {
        kernel_subtract_two_fixed(6, 5, A, x1, x2, y1, y2);
    } else if (m == 5 && n == 5) {
        kernel_subtract_two_fixed(5, 5, A, x1, x2, y1, y2);
    } else if (m == 6 && n == 6) {
        kernel_subtract_two_fixed(6, 6, A, x1, x2, y1, y2);
    } else {
        kernel_subtract(m, n, A, x1, y1);
        kernel_subtract(m, n, A, x2, y2);
    }
}

// x <- D x; y (n): scratch
LASH_KERNEL void kernel_apply_fixed(const int n, const double* D, double* x) {
    double r[6];
    for (int i = 0; i < n; ++i) r[i] = D[i] * x[0];
    for (int j = 1; j < n; ++j) {
        for (int i = 0; i < n; ++i) r[i] += D[i + n * j] * x[j];
    }
    for (int i = 0; i < n; ++i) x[i] = r[i];
}

LASH_KERNEL void kernel_apply(int n, const double* D, double* x, double* y) {
    if (n == 6) {
        kernel_apply_fixed(6, D, x);
    } else if (n == 5) {
        kernel_apply_fixed(5, D, x);
    } else {
        for (int i = 0; i < n; ++i) y[i] = D[i] * x[0];
        for (int j = 1; j < n; ++j) {
            for (int i = 0; i < n; ++i) y[i] += D[i + n * j] * x[j];
        }
        for (int i = 0; i < n; ++i) x[i] = y[i];
    }
}

// Exchange step k of Gauss-Jordan: after steps 0 .. r - 1 the leading (r x r) part holds its
// inverse.
LASH_KERNEL void kernel_exchange(int n, double* restrict A, int k) {
    double d = 1 / A[k + n * k], column[64];
    for (int i = 0; i < n; ++i) column[i] = A[i + n * k];
    column[k] = 0;
    for (int j = 0; j < n; ++j) {
        double f = A[k + n * j] * d;
        for (int i = 0; i < n; ++i) A[i + n * j] -= column[i] * f;
        A[k + n * j] = f;
    }
    for (int i = 0; i < n; ++i) A[i + n * k] = -d * column[i];
    A[k + n * k] = d;
}

// A^-1 in place, pivots on the diagonal; false when one is not above least[k] (A is destroyed
// then).
LASH_KERNEL bool kernel_invert_diagonal(const int n, double* A, const double* least) {
    for (int k = 0; k < n; ++k) {
        if (!(A[k + n * k] > least[k])) return false;
        kernel_exchange(n, A, k);
    }
    return true;
}

#endif
