// Householder reflections with the row of largest remaining share first (Golub and Van Loan,
// Matrix Computations, 4th ed., section 5.4.2, on rows instead of columns).
//
//     H_s = 1 - beta_s u_s u_s',   A H_0 .. H_{r-1} = L,   Q_j = H_0 .. H_{r-1} e_j
#include "solvers/linear/orthogonal.h"

#include <math.h>
#include <string.h>

#include "solvers/linear/dense.h"

// row -= beta (u' row) u for `count` rows, entries [0, n), n a multiple of 8;
// products (count)
LASH_VECTOR_CLONES static void subtract_products(int n, const double* restrict u, double beta,
                                                 int count, const double* restrict products,
                                                 double* restrict A, int ld) {
    for (int r = 0; r < count; ++r) {
        double *row = A + (size_t)r * (size_t)ld, t = beta * products[r];
        for (int i = 0; i < n; ++i) row[i] -= t * u[i];
    }
}
static void reflect(int n, const double* u, double beta, int count, double* A, int ld,
                    double* products) {
    lash_dense_multiply_rows(count, n, A, ld, u, products);
    subtract_products(n, u, beta, count, products, A, ld);
}

// The row that is largest against what it was; -1: none above the share.
static int choose(int from, int count, const double* left, const double* start, const int* order,
                  double share) {
    int best = -1;
    for (int i = from; i < count; ++i) {
        double ratio = left[order[i]] / start[order[i]];
        if (ratio > share) {
            best = i;
            share = ratio;
        }
    }
    return best;
}

int lash_orthogonal_factor(int n, int count, double* A, int ld, double share, int* order, double* Q,
                           double* work) {
    double *U = work, *left = U + (size_t)n * (size_t)ld, *start = left + count;
    double* products = start + count + n;
    int rank = 0;
    for (int i = 0; i < count; ++i) {
        const double* row = A + (size_t)i * (size_t)ld;
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += row[k] * row[k];
        order[i] = i;
        left[i] = start[i] = sum;
    }
    for (int s = 0; s < n && s < count; ++s) {
        int best = choose(s, count, left, start, order, share), from = s & ~7;
        if (best < 0) break;
        int pivot = order[best];
        order[best] = order[s];
        order[s] = pivot;
        double *row = A + (size_t)pivot * (size_t)ld, *u = U + (size_t)s * (size_t)ld, sum = 0;
        memset(u, 0, (size_t)ld * sizeof *u);
        for (int k = s; k < n; ++k) {
            u[k] = row[k];
            sum += row[k] * row[k];
        }
        double norm = row[s] > 0 ? -sqrt(sum) : sqrt(sum);
        u[s] -= norm;
        double beta = 1 / (norm * (norm - row[s])); // 2 / u'u
        // Rows that are done have only zeros here, and stay as they are.
        reflect(ld - from, u + from, beta, count, A + from, ld, products);
        row[s] = norm;
        for (int k = s + 1; k < n; ++k) row[k] = 0;
        for (int i = s + 1; i < count; ++i) {
            double part = A[(size_t)order[i] * (size_t)ld + (size_t)s];
            left[order[i]] -= part * part;
        }
        start[count + s] = beta;
        ++rank;
    }
    memset(Q, 0, (size_t)n * (size_t)ld * sizeof *Q);
    for (int j = 0; j < n; ++j) Q[(size_t)j * (size_t)(ld + 1)] = 1;
    for (int s = rank - 1; s >= 0; --s) {
        int from = s & ~7;
        reflect(ld - from, U + (size_t)s * (size_t)ld + from, start[count + s], n - s,
                Q + (size_t)s * (size_t)ld + from, ld, products);
    }
    return rank;
}

void lash_orthogonal_forward(int rank, const double* A, int ld, const int* order, const double* e,
                             double* c) {
    for (int i = 0; i < rank; ++i) {
        const double* row = A + (size_t)order[i] * (size_t)ld;
        double sum = e[order[i]];
        for (int j = 0; j < i; ++j) sum -= row[j] * c[j];
        c[i] = sum / row[i];
    }
}

void lash_orthogonal_backward(int rank, int count, const double* A, int ld, const int* order,
                              const double* c, double* P) {
    for (int i = 0; i < count; ++i) P[i] = 0;
    for (int i = 0; i < rank; ++i) P[order[i]] = c[i];
    for (int i = rank - 1; i >= 0; --i) {
        const double* row = A + (size_t)order[i] * (size_t)ld;
        double p = P[order[i]] /= row[i];
        for (int j = 0; j < i; ++j) P[order[j]] -= row[j] * p;
    }
}
