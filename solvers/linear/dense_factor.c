// Factors of dense matrices, column-major, without a library.
//
//     P A = L U,  A = L L'
//
// Large matrices are done in panels of NB columns (Golub and Van Loan, Matrix Computations, 4th
// ed., sections 3.2.11 and 4.2.9): a panel is factored column by column, then
//
//     U12 = L11^-1 A12,   A22 <- A22 - L21 U12
//
// with the kernels of dense_rows.c, whose rows are the columns here. Every entry is reduced by the
// same products in the same order on any machine, so that results are the same bits everywhere; a
// tuned BLAS chooses its order by the processor.
//
// Band matrices: A(i, j) is at base[i + j (lda - 1)], so that a column is worked on like one of a
// full matrix, from the left: all columns before it are subtracted, then it is pivoted.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/linear/dense.h"

enum {
    NB = 32,            // columns of a panel: L21 (300 x 32) stays in the first caches
    PANELS_FROM = 40,   // rows from which panels win over plain loops
    LANE = 8,           // rows of a register, as lash_dense_multiply_blocks wants them
    COLUMNS_AT_ONCE = 3 // as many as that kernel keeps in registers
};

// C (m x n) -= A (m x k) B, B(l, j) at B[j row + l step]; k <= NB.
static void subtract_product(int m, int n, int k, const double* A, const double* B, int row,
                             int step, double* C, int ld) {
    if (m == 0 || n == 0) return;
    int whole = m / LANE * LANE, rest = m - whole;
    lash_dense_multiply_blocks(n, whole, k, -1, B, row, step, A, ld, true, C, ld);
    if (rest == 0) return;
    // The last rows, filled up with zeros to a register.
    double tail[NB * LANE] = {0}, part[COLUMNS_AT_ONCE * LANE] = {0};
    size_t bytes = (size_t)rest * sizeof(double);
    for (int l = 0; l < k; ++l) memcpy(tail + l * LANE, A + (size_t)l * (size_t)ld + whole, bytes);
    for (int j = 0; j < n; j += COLUMNS_AT_ONCE) {
        int width = n - j < COLUMNS_AT_ONCE ? n - j : COLUMNS_AT_ONCE;
        double* to = C + (size_t)j * (size_t)ld + whole;
        for (int c = 0; c < width; ++c) memcpy(part + c * LANE, to + (size_t)c * (size_t)ld, bytes);
        lash_dense_multiply_blocks(width, LANE, k, -1, B + (size_t)j * (size_t)row, row, step, tail,
                                   LANE, true, part, LANE);
        for (int c = 0; c < width; ++c) memcpy(to + (size_t)c * (size_t)ld, part + c * LANE, bytes);
    }
}

// x (n) <- L^-1 x for the unit lower triangle L (n x n).
static void unit_lower_solve(int n, const double* L, size_t ld, double* x) {
    for (int k = 0; k < n; ++k)
        for (int i = k + 1; i < n; ++i) x[i] -= x[k] * L[(size_t)k * ld + (size_t)i];
}

// The same for n = LANE and `count` columns X, four at once. Returns the columns done.
LASH_VECTOR_CLONES static int unit_lower_solve_fours(int count, const double* L, size_t ld,
                                                     double* X) {
    double T[LANE * LANE], Y[LANE][4];
    for (int k = 0; k < LANE; ++k)
        for (int i = 0; i < LANE; ++i) T[k * LANE + i] = L[(size_t)k * ld + (size_t)i];
    int done = 0;
    for (; done + 4 <= count; done += 4, X += 4 * ld) {
        for (int i = 0; i < LANE; ++i)
            for (int c = 0; c < 4; ++c) Y[i][c] = X[(size_t)c * ld + (size_t)i];
        for (int k = 0; k < LANE; ++k)
            for (int i = k + 1; i < LANE; ++i)
                for (int c = 0; c < 4; ++c) Y[i][c] -= Y[k][c] * T[k * LANE + i];
        for (int i = 0; i < LANE; ++i)
            for (int c = 0; c < 4; ++c) X[(size_t)c * ld + (size_t)i] = Y[i][c];
    }
    return done;
}

static void swap(double* a, double* b) {
    double t = *a;
    *a = *b;
    *b = t;
}

// The row of the largest entry of column (n) from row k on, the first of equals.
static int largest_entry(const double* column, int k, int n) {
    double best[4] = {0}; // apart, so that comparisons do not wait for each other
    int i = k;
    for (; i + 4 <= n; i += 4)
        for (int l = 0; l < 4; ++l) {
            double size = fabs(column[i + l]);
            best[l] = size > best[l] ? size : best[l];
        }
    for (; i < n; ++i) best[0] = fabs(column[i]) > best[0] ? fabs(column[i]) : best[0];
    double most = fmax(fmax(best[0], best[1]), fmax(best[2], best[3]));
    for (i = k; i < n; ++i)
        if (fabs(column[i]) == most) return i;
    return k; // none is a number
}

// The largest and the smallest pivot so far.
typedef struct Pivots {
    double smallest, largest;
} Pivots;

// False: the pivot is zero, or not a number.
static bool take_pivot(Pivots* pivots, double pivot) {
    double size = fabs(pivot);
    if (!(size > 0)) return false;
    if (size < pivots->smallest) pivots->smallest = size;
    if (size > pivots->largest) pivots->largest = size;
    return true;
}

// Columns [from, to) of A, at most LANE, rows from `from` on; the other columns are not swapped.
static bool lu_columns(int n, int from, int to, double* A, size_t ld, int32_t* pivot,
                       Pivots* pivots) {
    for (int j = from; j < to; ++j) {
        double* column = A + (size_t)j * ld;
        int done = j - from;
        unit_lower_solve(done, A + (size_t)from * (ld + 1), ld, column + from);
        lash_dense_subtract_rows(n - j, done, column + from, 1, A + (size_t)from * ld + j, (int)ld,
                                 column + j);
        int best = largest_entry(column, j, n);
        pivot[j] = best;
        if (!take_pivot(pivots, column[best])) return false;
        if (best != j)
            for (int c = from; c < to; ++c)
                swap(&A[(size_t)c * ld + (size_t)j], &A[(size_t)c * ld + (size_t)best]);
        double inverse = 1 / column[j];
        for (int i = j + 1; i < n; ++i) column[i] *= inverse;
    }
    return true;
}

// The swaps of columns [from, to) in the columns [first, last).
static void swap_rows(int from, int to, int first, int last, double* A, size_t ld,
                      const int32_t* pivot) {
    for (int c = first; c < last; ++c) {
        double* column = A + (size_t)c * ld;
        for (int j = from; j < to; ++j)
            if (pivot[j] != j) swap(&column[j], &column[pivot[j]]);
    }
}

// Rows [from, to) of the columns [first, last): U12 = L11^-1 A12, by LANE rows.
static void solve_rows(int from, int to, int first, int last, double* A, size_t ld) {
    for (int j = from; j < to; j += LANE) {
        int end = j + LANE < to ? j + LANE : to;
        const double* L = A + (size_t)j * ld;
        double* U = A + (size_t)first * ld;
        int done = end - j < LANE ? 0 : unit_lower_solve_fours(last - first, L + j, ld, U + j);
        for (int c = done; c < last - first; ++c)
            unit_lower_solve(end - j, L + j, ld, U + (size_t)c * ld + j);
        subtract_product(to - end, last - first, end - j, L + end, U + j, (int)ld, 1, U + end,
                         (int)ld);
    }
}

// Columns [from, to) of A in panels of `width`; the last width has no panels within.
static bool lu_panels(int n, int from, int to, int width, double* A, size_t ld, int32_t* pivot,
                      Pivots* pivots) {
    for (int j = from; j < to; j += width) {
        int end = j + width < to ? j + width : to;
        bool regular = width == LANE ? lu_columns(n, j, end, A, ld, pivot, pivots)
                                     : lu_panels(n, j, end, LANE, A, ld, pivot, pivots);
        if (!regular) return false;
        swap_rows(j, end, from, j, A, ld, pivot);
        swap_rows(j, end, end, to, A, ld, pivot);
        solve_rows(j, end, end, to, A, ld);
        double* U = A + (size_t)end * ld;
        subtract_product(n - end, to - end, end - j, A + (size_t)j * ld + end, U + j, (int)ld, 1,
                         U + end, (int)ld);
    }
    return true;
}

static bool lu_plain(int n, double* A, size_t ld, int32_t* pivot, Pivots* pivots) {
    for (int k = 0; k < n; ++k) {
        double* column = A + (size_t)k * ld;
        int best = largest_entry(column, k, n);
        pivot[k] = best;
        if (!take_pivot(pivots, column[best])) return false;
        if (best != k)
            for (int j = 0; j < n; ++j)
                swap(&A[(size_t)j * ld + (size_t)k], &A[(size_t)j * ld + (size_t)best]);
        double inverse = 1 / column[k];
        for (int i = k + 1; i < n; ++i) column[i] *= inverse;
        for (int j = k + 1; j < n; ++j) {
            double* a = A + (size_t)j * ld;
            double s = a[k];
            if (s == 0) continue;
            for (int i = k + 1; i < n; ++i) a[i] -= s * column[i];
        }
    }
    return true;
}

double lash_dense_lu(int n, double* A, int lda, int32_t* pivot) {
    Pivots pivots = {INFINITY, 0};
    bool regular = n < PANELS_FROM ? lu_plain(n, A, (size_t)lda, pivot, &pivots)
                                   : lu_panels(n, 0, n, NB, A, (size_t)lda, pivot, &pivots);
    if (!regular) return 0;
    return n == 0 ? 1 : pivots.smallest / pivots.largest;
}

LASH_VECTOR_CLONES void lash_dense_lu_solve(int n, const double* LU, int lda, const int32_t* pivot,
                                            double* restrict x) {
    size_t ld = (size_t)lda;
    for (int k = 0; k < n; ++k) {
        double t = x[pivot[k]];
        x[pivot[k]] = x[k];
        x[k] = t;
    }
    for (int k = 0; k < n; ++k) {
        const double* restrict column = LU + (size_t)k * ld;
        double s = x[k];
        for (int i = k + 1; i < n; ++i) x[i] -= s * column[i];
    }
    for (int k = n - 1; k >= 0; --k) {
        const double* restrict column = LU + (size_t)k * ld;
        double s = x[k] /= column[k];
        for (int i = 0; i < k; ++i) x[i] -= s * column[i];
    }
}

// Columns [from, to) of A below the diagonal.
static bool cholesky_panel(int n, int from, int to, double* A, size_t ld) {
    for (int j = from; j < to; ++j) {
        double *column = A + (size_t)j * ld, *row = A + (size_t)from * ld + j;
        lash_dense_subtract_rows(n - j, j - from, row, (int)ld, row, (int)ld, column + j);
        if (!(column[j] > 0)) return false;
        column[j] = sqrt(column[j]);
        double inverse = 1 / column[j];
        for (int i = j + 1; i < n; ++i) column[i] *= inverse;
    }
    return true;
}

static bool cholesky_panels(int n, double* A, size_t ld) {
    for (int from = 0; from < n; from += NB) {
        int to = from + NB < n ? from + NB : n;
        if (!cholesky_panel(n, from, to, A, ld)) return false;
        // A22 -= L21 L21' below the diagonal, in strips of columns; the corner of a strip that lies
        // above the diagonal is the caller's and stays.
        for (int j = to; j < n; j += LANE) {
            int width = n - j < LANE ? n - j : LANE;
            const double* L = A + (size_t)from * ld + j;
            double *strip = A + (size_t)j * (ld + 1), corner[LANE][LANE];
            for (int c = 1; c < width; ++c)
                memcpy(corner[c], strip + (size_t)c * ld, (size_t)c * sizeof(double));
            subtract_product(n - j, width, to - from, L, L, 1, (int)ld, strip, (int)ld);
            for (int c = 1; c < width; ++c)
                memcpy(strip + (size_t)c * ld, corner[c], (size_t)c * sizeof(double));
        }
    }
    return true;
}

static bool cholesky_plain(int n, double* A, size_t ld) {
    for (int k = 0; k < n; ++k) {
        double* column = A + (size_t)k * ld;
        if (!(column[k] > 0)) return false;
        double d = sqrt(column[k]), inverse = 1 / d;
        column[k] = d;
        for (int i = k + 1; i < n; ++i) column[i] *= inverse;
        for (int j = k + 1; j < n; ++j) {
            double* a = A + (size_t)j * ld;
            double s = column[j];
            for (int i = j; i < n; ++i) a[i] -= s * column[i];
        }
    }
    return true;
}

bool lash_dense_cholesky(int n, double* A, int lda) {
    if (n < PANELS_FROM) return cholesky_plain(n, A, (size_t)lda);
    return cholesky_panels(n, A, (size_t)lda);
}

void lash_dense_cholesky_solve(int n, const double* L, int lda, double* x) {
    size_t ld = (size_t)lda;
    for (int k = 0; k < n; ++k) {
        const double* column = L + (size_t)k * ld;
        double s = x[k] /= column[k];
        for (int i = k + 1; i < n; ++i) x[i] -= s * column[i];
    }
    for (int k = n - 1; k >= 0; --k) {
        const double* column = L + (size_t)k * ld;
        double s = x[k];
        for (int i = k + 1; i < n; ++i) s -= column[i] * x[i];
        x[k] = s / column[k];
    }
}

// The end of the entries below the diagonal in a column.
static int band_end(int n, int kl, int column) {
    return column + kl + 1 < n ? column + kl + 1 : n;
}

// Column j of a band minus what the columns before it take: x_k is final when k is reached.
LASH_VECTOR_CLONES static void band_column(int n, int kl, int first, int j, const double* A,
                                           size_t ld, const int32_t* pivot, double* restrict x) {
    for (int k = first; k < j; ++k) {
        const double* restrict column = A + (size_t)k * ld;
        double s = x[pivot[k]];
        x[pivot[k]] = x[k];
        x[k] = s;
        if (s == 0) continue;
        int end = band_end(n, kl, k);
        for (int i = k + 1; i < end; ++i) x[i] -= s * column[i];
    }
}

bool lash_dense_band_lu(int n, int kl, int ku, double* AB, int lda, int32_t* pivot) {
    LASH_ASSERT(lda >= 2 * kl + ku + 1);
    double* A = AB + kl + ku; // A(i, j) at A[i + j ld]
    size_t ld = (size_t)lda - 1;
    for (int j = 0; j < n; ++j) {
        double* column = A + (size_t)j * ld;
        int first = j - ku - kl > 0 ? j - ku - kl : 0, top = j - ku > 0 ? j - ku : 0;
        for (int i = first; i < top; ++i) column[i] = 0; // filled by the pivots
        band_column(n, kl, first, j, A, ld, pivot, column);
        int end = band_end(n, kl, j), best = largest_entry(column, j, end);
        pivot[j] = best;
        if (!(fabs(column[best]) > 0)) return false;
        if (best != j) swap(&column[j], &column[best]);
        double inverse = 1 / column[j];
        for (int i = j + 1; i < end; ++i) column[i] *= inverse;
    }
    return true;
}

LASH_VECTOR_CLONES void lash_dense_band_solve(int n, int kl, int ku, const double* LU, int lda,
                                              const int32_t* pivot, double* restrict x) {
    const double* A = LU + kl + ku;
    size_t ld = (size_t)lda - 1;
    band_column(n, kl, 0, n, A, ld, pivot, x);
    for (int k = n - 1; k >= 0; --k) {
        const double* restrict column = A + (size_t)k * ld;
        int first = k - ku - kl > 0 ? k - ku - kl : 0;
        double s = x[k] /= column[k];
        for (int i = first; i < k; ++i) x[i] -= s * column[i];
    }
}
