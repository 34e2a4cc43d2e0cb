// Dense kernels, column-major: products with a vector, least squares. Factors are in
// dense_factor.c.
//
//     A P = Q [R11 R12; 0 0], [R11 R12]' = Q2 [S; 0]:  x = P Q2 [S'^-1 Q1' b; 0]   minimum norm
//
// The complete orthogonal decomposition of the last line is Golub and Van Loan, Matrix
// Computations, 4th ed., section 5.4.7 and 5.5.7.
#include "solvers/linear/dense.h"

#include <math.h>

void lash_dense_multiply_add(int rows, int columns, const double* restrict A, int lda,
                             const double* restrict x, double* restrict y) {
    size_t ld = (size_t)lda;
    int j = 0;
    for (; j + 4 <= columns; j += 4, A += 4 * ld) {
        double a = x[j], b = x[j + 1], c = x[j + 2], d = x[j + 3];
        if (a == 0 && b == 0 && c == 0 && d == 0) continue;
        const double *A1 = A + ld, *A2 = A1 + ld, *A3 = A2 + ld;
        for (int i = 0; i < rows; ++i) y[i] += (a * A[i] + b * A1[i]) + (c * A2[i] + d * A3[i]);
    }
    for (; j < columns; ++j, A += ld) {
        double a = x[j];
        if (a == 0) continue;
        for (int i = 0; i < rows; ++i) y[i] += a * A[i];
    }
}

// Householder vector of x (n) in place: x becomes (beta, v_1 ..) with v_0 = 1 implied; returns
// the factor t of H = I - t v v'.
static double householder(int n, double* x) {
    double tail = 0;
    for (int i = 1; i < n; ++i) tail += x[i] * x[i];
    if (tail == 0) return 0;
    double norm = sqrt(x[0] * x[0] + tail), beta = x[0] > 0 ? -norm : norm;
    double scale = 1 / (x[0] - beta), t = (beta - x[0]) / beta;
    for (int i = 1; i < n; ++i) x[i] *= scale;
    x[0] = beta;
    return t;
}

// y = (I - t v v') y with v_0 = 1
static void reflect(int n, const double* v, double t, double* y) {
    double s = y[0];
    for (int i = 1; i < n; ++i) s += v[i] * y[i];
    s *= t;
    y[0] -= s;
    for (int i = 1; i < n; ++i) y[i] -= s * v[i];
}

// A P = Q R with column pivoting, applied to b as well; stops at the numerical rank.
static int pivoted_qr(int rows, int columns, double* A, size_t ld, double* b, int* order,
                      double* norm, double rank_tolerance) {
    double first = 0;
    int steps = rows < columns ? rows : columns;
    for (int j = 0; j < columns; ++j) order[j] = j;
    for (int k = 0; k < steps; ++k) {
        // The column norms are recomputed, not updated: no cancellation, and sizes are small.
        int best = k;
        for (int j = k; j < columns; ++j) {
            double s = 0;
            const double* a = A + (size_t)j * ld;
            for (int i = k; i < rows; ++i) s += a[i] * a[i];
            norm[j] = s;
            if (s > norm[best]) best = j;
        }
        double pivot = sqrt(norm[best]);
        if (k == 0) first = pivot;
        if (!(pivot > rank_tolerance * first)) return k;
        if (best != k) {
            int t = order[k];
            order[k] = order[best];
            order[best] = t;
            for (int i = 0; i < rows; ++i) {
                double s = A[(size_t)k * ld + (size_t)i];
                A[(size_t)k * ld + (size_t)i] = A[(size_t)best * ld + (size_t)i];
                A[(size_t)best * ld + (size_t)i] = s;
            }
        }
        double* v = A + (size_t)k * (ld + 1);
        double t = householder(rows - k, v);
        for (int j = k + 1; j < columns; ++j)
            reflect(rows - k, v, t, A + (size_t)j * ld + (size_t)k);
        reflect(rows - k, v, t, b + k);
    }
    return steps;
}

size_t lash_dense_least_squares_size(int rows, int columns) {
    size_t r = (size_t)(rows < columns ? rows : columns), n = (size_t)columns;
    return n * r + r + 2 * n + 8;
}

int lash_dense_least_squares(int rows, int columns, double* A, int lda, double* b, double* x,
                             double rank_tolerance, double* work) {
    size_t ld = (size_t)lda, n = (size_t)columns;
    double* norm = work;
    int* order = (int*)(work + n);
    double* T = work + 2 * n; // (columns x rank) [R11 R12]'
    int rank = pivoted_qr(rows, columns, A, ld, b, order, norm, rank_tolerance);
    size_t r = (size_t)rank;
    double* factor = T + n * r;
    if (rank == columns) { // full rank: back substitution
        for (int k = columns - 1; k >= 0; --k) {
            double s = b[k] / A[(size_t)k * (ld + 1)];
            b[k] = s;
            for (int i = 0; i < k; ++i) b[i] -= s * A[(size_t)k * ld + (size_t)i];
        }
        for (int k = 0; k < columns; ++k) x[order[k]] = b[k];
        return rank;
    }
    for (size_t k = 0; k < r; ++k)
        for (size_t j = 0; j < n; ++j) T[k * n + j] = j < k ? 0 : A[j * ld + k];
    for (size_t k = 0; k < r; ++k) {
        double* v = T + k * n + k;
        factor[k] = householder((int)(n - k), v);
        for (size_t j = k + 1; j < r; ++j) reflect((int)(n - k), v, factor[k], T + j * n + k);
    }
    for (size_t k = 0; k < r; ++k) { // S' y = Q1' b, S upper triangular in T
        double s = b[k];
        for (size_t i = 0; i < k; ++i) s -= T[k * n + i] * norm[i];
        norm[k] = s / T[k * n + k];
    }
    for (size_t j = r; j < n; ++j) norm[j] = 0;
    for (size_t k = r; k-- > 0;) reflect((int)(n - k), T + k * n + k, factor[k], norm + k);
    for (size_t j = 0; j < n; ++j) x[order[j]] = norm[j];
    return rank;
}
