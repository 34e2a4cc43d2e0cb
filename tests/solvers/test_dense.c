// Dense and sparse kernels against identities.
#include "test.h"

#include "solvers/linear/block_sparse.h"
#include "solvers/linear/dense.h"

static uint64_t seed = 12345;

static double random_unit(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0 - 0.5;
}

static double* random_matrix(int rows, int columns) {
    double* A = malloc((size_t)(rows * columns) * sizeof(double));
    for (int i = 0; i < rows * columns; ++i) A[i] = random_unit();
    return A;
}

// max |A x - b|
static double defect(int n, const double* A, const double* x, const double* b) {
    double worst = 0;
    for (int i = 0; i < n; ++i) {
        double s = -b[i];
        for (int j = 0; j < n; ++j) s += A[i + j * n] * x[j];
        worst = fmax(worst, fabs(s));
    }
    return worst;
}

static void lu_solves_small_and_large_systems(void** state) {
    (void)state;
    for (int n = 1; n <= 90; n += n < 20 ? 1 : 23) {
        double *A = random_matrix(n, n), *LU = malloc((size_t)(n * n) * 8), x[90], b[90];
        int32_t pivot[90];
        memcpy(LU, A, (size_t)(n * n) * 8);
        for (int i = 0; i < n; ++i) x[i] = b[i] = random_unit();
        assert_true(lash_dense_lu(n, LU, n, pivot) > 0);
        lash_dense_lu_solve(n, LU, n, pivot, x);
        assert_true(defect(n, A, x, b) < 1e-11);
        free(A);
        free(LU);
    }
}

static void lu_reports_a_singular_matrix(void** state) {
    (void)state;
    double A[4] = {1, 2, 2, 4};
    int32_t pivot[2];
    assert_true(lash_dense_lu(2, A, 2, pivot) < 1e-15);
}

static void cholesky_solves_and_rejects(void** state) {
    (void)state;
    for (int n = 1; n <= 60; n += 7) {
        double *G = random_matrix(n, n), *A = calloc((size_t)(n * n), 8),
               *L = malloc((size_t)(n * n) * 8);
        double x[60], b[60];
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                for (int k = 0; k < n; ++k) A[i + j * n] += G[k + i * n] * G[k + j * n];
                if (i == j) A[i + j * n] += 0.1;
            }
        memcpy(L, A, (size_t)(n * n) * 8);
        for (int i = 0; i < n; ++i) x[i] = b[i] = random_unit();
        assert_true(lash_dense_cholesky(n, L, n));
        lash_dense_cholesky_solve(n, L, n, x);
        assert_true(defect(n, A, x, b) < 1e-12);
        A[0] = -1;
        assert_false(lash_dense_cholesky(n, A, n));
        free(G);
        free(A);
        free(L);
    }
}

static void band_lu_solves(void** state) {
    (void)state;
    enum { n = 50, k = 4, ld = 3 * k + 1 };
    double *AB = calloc(n * ld, 8), A[n * n] = {0}, x[n], b[n];
    int32_t pivot[n];
    for (int j = 0; j < n; ++j)
        for (int i = j - k < 0 ? 0 : j - k; i <= j + k && i < n; ++i)
            AB[2 * k + i - j + j * ld] = A[i + j * n] = random_unit();
    for (int i = 0; i < n; ++i) x[i] = b[i] = random_unit();
    assert_true(lash_dense_band_lu(n, k, k, AB, ld, pivot));
    lash_dense_band_solve(n, k, k, AB, ld, pivot, x);
    assert_true(defect(n, A, x, b) < 1e-11);
    free(AB);
}

// Elimination as it is taught, one product after the other: what any machine must compute, to the
// bit, in panels or not.
static void plain_lu(int n, double* A, int32_t* pivot) {
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(A[i + k * n]) > fabs(A[best + k * n])) best = i;
        pivot[k] = best;
        for (int j = 0; j < n; ++j) {
            double t = A[k + j * n];
            A[k + j * n] = A[best + j * n];
            A[best + j * n] = t;
        }
        double inverse = 1 / A[k + k * n];
        for (int i = k + 1; i < n; ++i) A[i + k * n] *= inverse;
        for (int j = k + 1; j < n; ++j)
            for (int i = k + 1; i < n; ++i) A[i + j * n] -= A[k + j * n] * A[i + k * n];
    }
}

static void plain_cholesky(int n, double* A) {
    for (int k = 0; k < n; ++k) {
        A[k + k * n] = sqrt(A[k + k * n]);
        double inverse = 1 / A[k + k * n];
        for (int i = k + 1; i < n; ++i) A[i + k * n] *= inverse;
        for (int j = k + 1; j < n; ++j)
            for (int i = j; i < n; ++i) A[i + j * n] -= A[j + k * n] * A[i + k * n];
    }
}

static void large_factors_are_the_bits_of_plain_elimination(void** state) {
    (void)state;
    for (int n = 38; n <= 170; n += 11) {
        size_t size = (size_t)(n * n) * sizeof(double);
        double *A = random_matrix(n, n), *B = malloc(size);
        int32_t pivot[170], plain_pivot[170];
        memcpy(B, A, size);
        plain_lu(n, B, plain_pivot);
        assert_true(lash_dense_lu(n, A, n, pivot) > 0);
        assert_memory_equal(pivot, plain_pivot, (size_t)n * sizeof *pivot);
        assert_memory_equal(A, B, size);
        for (int i = 0; i < n * n; ++i) A[i] = random_unit();
        for (int i = 0; i < n; ++i) A[i * (n + 1)] += n;
        memcpy(B, A, size);
        plain_cholesky(n, B);
        assert_true(lash_dense_cholesky(n, A, n)); // what is above the diagonal stays
        assert_memory_equal(A, B, size);
        free(A);
        free(B);
    }
}

static void band_factors_are_the_bits_of_full_ones(void** state) {
    (void)state;
    enum { n = 60, ld = 40 };
    for (int k = 1; k <= 12; k += 3) {
        double *A = calloc(n * n, sizeof(double)), *AB = calloc(n * ld, sizeof(double)), x[n], y[n];
        int32_t pivot[n], full_pivot[n];
        for (int j = 0; j < n; ++j)
            for (int i = j - k < 0 ? 0 : j - k; i <= j + k && i < n; ++i)
                AB[2 * k + i - j + j * ld] = A[i + j * n] = random_unit();
        for (int i = 0; i < n; ++i) x[i] = y[i] = random_unit();
        assert_true(lash_dense_band_lu(n, k, k, AB, ld, pivot));
        lash_dense_band_solve(n, k, k, AB, ld, pivot, x);
        plain_lu(n, A, full_pivot);
        lash_dense_lu_solve(n, A, n, full_pivot, y);
        assert_memory_equal(pivot, full_pivot, sizeof pivot);
        assert_memory_equal(x, y, sizeof x);
        free(A);
        free(AB);
    }
}

static void lu_refuses_what_is_no_number(void** state) {
    (void)state;
    for (int n = 3; n <= 60; n += 57) {
        double* A = random_matrix(n, n);
        int32_t pivot[60];
        A[n + 1] = NAN;
        assert_true(!(lash_dense_lu(n, A, n, pivot) > 0));
        free(A);
    }
}

// A = B C of rank r: the answer must lie in the row space and leave a residual orthogonal to A.
static void least_squares_has_minimum_norm_and_orthogonal_residual(void** state) {
    (void)state;
    for (int trial = 0; trial < 200; ++trial) {
        int m = 1 + (int)((random_unit() + 0.5) * 15), n = 1 + (int)((random_unit() + 0.5) * 15);
        int r = 1 + (int)((random_unit() + 0.5) * 8);
        if (r > m) r = m;
        if (r > n) r = n;
        double *B = random_matrix(m, r), *C = random_matrix(r, n), A[256] = {0}, copy[256];
        double b[16], rest[16], x[16], *work = malloc(lash_dense_least_squares_size(m, n) * 8);
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j)
                for (int k = 0; k < r; ++k) A[i + j * m] += B[i + k * m] * C[k + j * r];
        for (int i = 0; i < m; ++i) b[i] = rest[i] = random_unit();
        memcpy(copy, A, sizeof A);
        int rank = lash_dense_least_squares(m, n, copy, m, b, x, 1e-9, work);
        assert_int_equal(rank, r);
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j) rest[i] -= A[i + j * m] * x[j];
        for (int j = 0; j < n; ++j) {
            double s = 0;
            for (int i = 0; i < m; ++i) s += A[i + j * m] * rest[i];
            assert_true(fabs(s) < 1e-8);
        }
        // x = C' y for some y: subtract its projection on the rows of C (Gram-Schmidt).
        double y[16], Q[16 * 16];
        memcpy(y, x, sizeof y);
        double size = 0, left = 0;
        for (int k = 0; k < r; ++k) {
            double* q = Q + 16 * k;
            for (int j = 0; j < n; ++j) q[j] = C[k + j * r];
            for (int pass = 0; pass < 2; ++pass)
                for (int l = 0; l < k; ++l) {
                    double s = 0;
                    for (int j = 0; j < n; ++j) s += q[j] * Q[16 * l + j];
                    for (int j = 0; j < n; ++j) q[j] -= s * Q[16 * l + j];
                }
            double s = 0;
            for (int j = 0; j < n; ++j) s += q[j] * q[j];
            for (int j = 0; j < n; ++j) q[j] /= sqrt(s);
        }
        for (int k = 0; k < r; ++k) {
            double s = 0;
            for (int j = 0; j < n; ++j) s += y[j] * Q[16 * k + j];
            for (int j = 0; j < n; ++j) y[j] -= s * Q[16 * k + j];
        }
        for (int j = 0; j < n; ++j) {
            size += x[j] * x[j];
            left += y[j] * y[j];
        }
        assert_true(left <= 1e-12 * (size + 1e-30));
        free(B);
        free(C);
        free(work);
    }
}

static void ordering_makes_a_shuffled_chain_narrow(void** state) {
    (void)state;
    enum { n = 40 };
    int32_t start[n + 1], pointer[n + 1], column[3 * n], order[n], place[n], work[3 * n];
    int64_t offset[3 * n];
    double values[3 * n];
    int count = 0;
    for (int i = 0; i < n; ++i) { // block i is link 7 i mod n of the chain
        int link = 7 * i % n;
        start[i] = i;
        pointer[i] = count;
        for (int j = 0; j < n; ++j)
            if (abs(7 * j % n - link) <= 1) {
                column[count] = j;
                offset[count] = count;
                values[count] = 1;
                count++;
            }
    }
    start[n] = n;
    pointer[n] = count;
    LashBlockSparse A = {n, start, pointer, column, offset, values};
    lash_block_sparse_check(&A);
    lash_block_sparse_order(&A, order, work);
    for (int i = 0; i < n; ++i) place[i] = -1;
    for (int i = 0; i < n; ++i) place[order[i]] = i;
    for (int i = 0; i < n; ++i) {
        assert_true(place[i] >= 0);
        for (int k = pointer[i]; k < pointer[i + 1]; ++k)
            assert_true(abs(place[i] - place[column[k]]) <= 1);
    }
}

RUN(TEST(lu_solves_small_and_large_systems), TEST(lu_reports_a_singular_matrix),
    TEST(cholesky_solves_and_rejects), TEST(band_lu_solves),
    TEST(large_factors_are_the_bits_of_plain_elimination),
    TEST(band_factors_are_the_bits_of_full_ones), TEST(lu_refuses_what_is_no_number),
    TEST(least_squares_has_minimum_norm_and_orthogonal_residual),
    TEST(ordering_makes_a_shuffled_chain_narrow))
