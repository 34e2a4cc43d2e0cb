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

// C (m x n) = A (m x k) B (k x n), or C -= A B: four rows of four columns, which stay in registers.
LASH_KERNEL void kernel_tile(int m, int k, const double* restrict A, const double* restrict B,
                             double* restrict C, const bool subtract) {
    double c[16];
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) c[i + 4 * j] = subtract ? C[i + m * j] : 0;
    for (int l = 0; l < k; ++l) {
        const double* a = A + m * l;
        for (int j = 0; j < 4; ++j) {
            double b = B[l + k * j];
            for (int i = 0; i < 4; ++i)
                c[i + 4 * j] = subtract ? c[i + 4 * j] - a[i] * b : c[i + 4 * j] + a[i] * b;
        }
    }
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) C[i + m * j] = c[i + 4 * j];
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
    int rows = m / 4 * 4, columns = n / 4 * 4;
    for (int j = 0; j < columns; j += 4)
        for (int i = 0; i < rows; i += 4)
            kernel_tile(m, k, A + i, B + k * j, C + i + m * j, subtract);
    if (rows < m) kernel_product_rows(rows, m, columns, k, A, B, C, subtract);
    if (columns < n)
        kernel_product_rows(0, m, n - columns, k, A, B + k * columns, C + m * columns, subtract);
}

// The same for few rows, which stay in registers.
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

// Bodies with velocities and positions (12) and one, two or four contacts with P and tau. False:
// other sizes.
LASH_KERNEL bool kernel_multiply_contacts(int m, int n, int k, const double* A, const double* B,
                                          double* C, const bool subtract) {
    if (m == 12 && k == 8)
        kernel_product_fixed(12, n, 8, A, B, C, subtract);
    else if (m == 8 && k == 12)
        kernel_product_fixed(8, n, 12, A, B, C, subtract);
    else if (m == 8 && k == 8)
        kernel_product_fixed(8, n, 8, A, B, C, subtract);
    else if (m == 16 && k == 12)
        kernel_product_fixed(16, n, 12, A, B, C, subtract);
    else if (m == 12 && k == 16)
        kernel_product_fixed(12, n, 16, A, B, C, subtract);
    else if (m == 16 && k == 16)
        kernel_product_fixed(16, n, 16, A, B, C, subtract);
    else if (m == 4 && k == 12)
        kernel_product_fixed(4, n, 12, A, B, C, subtract);
    else if (m == 12 && k == 4)
        kernel_product_fixed(12, n, 4, A, B, C, subtract);
    else if (m == 4 && k == 4)
        kernel_product_fixed(4, n, 4, A, B, C, subtract);
    else
        return false;
    return true;
}

LASH_KERNEL void kernel_multiply(int m, int n, int k, const double* A, const double* B, double* C,
                                 const bool subtract) {
    if (m == 5 && k == 6)
        kernel_product_fixed(5, n, 6, A, B, C, subtract);
    else if (m == 6 && k == 6)
        kernel_product_fixed(6, n, 6, A, B, C, subtract);
    else if (m == 5 && k == 5)
        kernel_product_fixed(5, n, 5, A, B, C, subtract);
    else if (m == 6 && k == 5)
        kernel_product_fixed(6, n, 5, A, B, C, subtract);
    else if (m == 12 && k == 12)
        kernel_product_fixed(12, n, 12, A, B, C, subtract);
    else if (m == 10 && k == 12)
        kernel_product_fixed(10, n, 12, A, B, C, subtract);
    else if (m == 12 && k == 10)
        kernel_product_fixed(12, n, 10, A, B, C, subtract);
    else if (m == 10 && k == 10)
        kernel_product_fixed(10, n, 10, A, B, C, subtract);
    else if (!kernel_multiply_contacts(m, n, k, A, B, C, subtract))
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
