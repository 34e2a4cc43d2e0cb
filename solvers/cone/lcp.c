// Linear complementarity w = A z + b, 0 <= w perp z >= 0: the driver, enumeration, and the residual.
// Lemke stands in lcp_pivot.c.
//
//     enumeration:   for every set S of variables: A_SS z_S = -b_S; the first complementary answer
//
// The default is Lemke; when it ends on a ray (no solution found), enumeration (up to 12
// complementarity rows). What is returned is checked: |min(z, w)| / (1 + |b|).
#include "solvers/cone/lcp.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/cone/lcp_internal.h"
#include "solvers/linear/dense.h"
#include "solvers/linear/rank.h"

enum { ENUMERATION_ROWS = 12 };

LashLcpSettings lash_lcp_settings(void) {
    return (LashLcpSettings){.tolerance = 1e-10, .method = LASH_LCP_DEFAULT};
}

const char* lash_lcp_method_name(LashLcpMethod method) {
    static const char* const name[] = {"default", "lemke", "enumeration"};
    LASH_ASSERT((unsigned)method < sizeof name / sizeof name[0]);
    return name[method];
}

size_t lash_lcp_work_size(int n) {
    LASH_ASSERT(n >= 0);
    size_t s = (size_t)n, least = lash_dense_least_squares_size(n, n);
    size_t doubles = 2 * s * (s + 2) + (least > 2 * s ? least : 2 * s) + 3 * (s + 1);
    return doubles * sizeof(double) + (5 * s + 8) * sizeof(int32_t);
}

static Lcp begin(const LashLcpProblem* problem, const LashLcpSettings* settings, double* z,
                 double* w, void* work) {
    LASH_ASSERT(problem->n >= 0 && problem->lda >= problem->n && settings->tolerance > 0);
    size_t n = (size_t)problem->n, least = lash_dense_least_squares_size(problem->n, problem->n);
    double sum = 0, *d = work;
    for (size_t j = 0; j < n; ++j) {
        sum += 0 * problem->b[j];
        for (size_t i = 0; i < n; ++i) sum += 0 * problem->A[i + j * (size_t)problem->lda];
    }
    LASH_ASSERT(sum == 0); // NaN or infinity
    if (n > 0) memset(z, 0, n * sizeof(double));
    Lcp p = {.n = problem->n,
             .lda = problem->lda,
             .A = problem->A,
             .b = problem->b,
             .free = problem->free,
             .z = z,
             .w = w};
    p.matrix = d;
    d += n * (n + 2);
    p.matrix2 = d;
    d += n * (n + 2);
    p.least = d;
    d += least > 2 * n ? least : 2 * n;
    p.x = d;
    p.r = d + n + 1;
    p.d = d + 2 * (n + 1);
    d += 3 * (n + 1);
    p.pivot = (int32_t*)d;
    p.basic = p.pivot + n + 1;
    p.nonbasic = p.basic + n + 1;
    p.where = p.nonbasic + n + 1;
    p.tolerance = settings->tolerance;
    p.max_iterations = settings->max_iterations;
    p.stop = settings->stop;
    return p;
}

double lcp_residual(const Lcp* lcp) {
    double worst = 0, norm = 0;
    for (int i = 0; i < lcp->n; ++i) {
        lcp->w[i] = lcp->b[i];
        norm = fmax(norm, fabs(lcp->b[i]));
    }
    lash_dense_multiply_add(lcp->n, lcp->n, lcp->A, lcp->lda, lcp->z, lcp->w);
    for (int i = 0; i < lcp->n; ++i) {
        double r = fabs(lcp_free(lcp, i) ? lcp->w[i] : fmin(lcp->z[i], lcp->w[i]));
        if (!(r <= worst)) worst = r;
    }
    return worst / (1 + norm);
}

// Gathers A_SS into matrix; returns the size.
static int gather(const Lcp* lcp, const uint8_t* in) {
    int size = 0, c = 0;
    for (int i = 0; i < lcp->n; ++i) size += in[i] || lcp_free(lcp, i);
    for (int j = 0; j < lcp->n; ++j) {
        if (!in[j] && !lcp_free(lcp, j)) continue;
        for (int i = 0, r = 0; i < lcp->n; ++i)
            if (in[i] || lcp_free(lcp, i))
                lcp->matrix[r++ + c * size] = lcp->A[(size_t)i + (size_t)j * (size_t)lcp->lda];
        c++;
    }
    return size;
}

double lcp_solve_basis(Lcp* lcp, const uint8_t* in) {
    uint8_t* keep = (uint8_t*)lcp->d; // x may hold the caller's set
    for (int i = 0; i < lcp->n; ++i) keep[i] = in[i] || lcp_free(lcp, i);
    int size = gather(lcp, keep);
    memset(lcp->z, 0, (size_t)lcp->n * sizeof(double));
    bool regular =
        size == 0 || lash_dense_lu(size, lcp->matrix, size, lcp->pivot) > LASH_RANK_GIVEN;
    double* x = lcp->r;
    for (int pass = 0; pass < 3; ++pass) { // the later passes refine
        lcp_residual(lcp);
        for (int i = 0, k = 0; i < lcp->n; ++i)
            if (keep[i]) x[k++] = -lcp->w[i];
        if (regular) {
            lash_dense_lu_solve(size, lcp->matrix, size, lcp->pivot, x);
        } else {
            gather(lcp, keep);
            memcpy(lcp->x, x, (size_t)size * sizeof(double));
            lash_dense_least_squares(size, size, lcp->matrix, size, lcp->x, x, LASH_RANK_PIVOT,
                                     lcp->least);
        }
        for (int i = 0, k = 0; i < lcp->n; ++i)
            if (keep[i]) lcp->z[i] += x[k++];
    }
    return lcp_residual(lcp);
}

double lcp_enumerate(Lcp* lcp) {
    int rows[ENUMERATION_ROWS], count = 0;
    for (int i = 0; i < lcp->n; ++i)
        if (!lcp_free(lcp, i)) {
            if (count == ENUMERATION_ROWS) return INFINITY;
            rows[count++] = i;
        }
    uint8_t* in = (uint8_t*)lcp->matrix2;
    double residual = INFINITY;
    for (int size = 0; size <= count; ++size)
        for (unsigned set = 0; set < 1u << count; ++set) {
            int bits = 0;
            for (unsigned s = set; s != 0; s &= s - 1) bits++;
            if (bits != size) continue;
            memset(in, 0, (size_t)lcp->n);
            for (int k = 0; k < count; ++k) in[rows[k]] = set >> k & 1;
            lcp->iterations++;
            residual = lcp_solve_basis(lcp, in);
            if (residual <= lcp->tolerance || lash_stop_asked(lcp->stop)) return residual;
        }
    return residual;
}

static double run_default(Lcp* lcp, LashLcpMethod* method) {
    *method = LASH_LCP_LEMKE;
    double residual = lcp_lemke(lcp);
    int rows = 0;
    for (int i = 0; i < lcp->n; ++i) rows += !lcp_free(lcp, i);
    if (residual <= lcp->tolerance || rows > ENUMERATION_ROWS) return residual;
    *method = LASH_LCP_ENUMERATION;
    return lcp_enumerate(lcp);
}

LashLcpInfo lash_lcp_solve(const LashLcpProblem* problem, const LashLcpSettings* settings,
                           double* z, double* w, void* work) {
    Lcp p = begin(problem, settings, z, w, work);
    LashLcpInfo info = {LASH_FAILED, settings->method, false, 0, INFINITY};
    if (settings->method == LASH_LCP_DEFAULT)
        run_default(&p, &info.method);
    else if (settings->method == LASH_LCP_LEMKE)
        lcp_lemke(&p);
    else
        lcp_enumerate(&p);
    info.iterations = p.iterations;
    info.ray = p.ray;
    info.residual = lcp_residual(&p);
    if (!(info.residual < INFINITY)) {
        memset(z, 0, (size_t)p.n * sizeof(double));
        info.residual = lcp_residual(&p);
    }
    if (info.residual <= p.tolerance)
        info.outcome = LASH_CONVERGED;
    else if (info.residual <= 1e-6 && info.residual <= 1e4 * p.tolerance)
        info.outcome = LASH_INACCURATE;
    return info;
}

double lash_lcp_residual(const LashLcpProblem* problem, const double* z, double* w) {
    Lcp p = {.n = problem->n, .lda = problem->lda, .A = problem->A, .b = problem->b};
    p.free = problem->free;
    p.z = (double*)z;
    p.w = w;
    return lcp_residual(&p);
}
