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

double lcp_residual(const Lcp* p) {
    double worst = 0, norm = 0;
    for (int i = 0; i < p->n; ++i) {
        p->w[i] = p->b[i];
        norm = fmax(norm, fabs(p->b[i]));
    }
    lash_dense_multiply_add(p->n, p->n, p->A, p->lda, p->z, p->w);
    for (int i = 0; i < p->n; ++i) {
        double r = fabs(lcp_free(p, i) ? p->w[i] : fmin(p->z[i], p->w[i]));
        if (!(r <= worst)) worst = r;
    }
    return worst / (1 + norm);
}

// Gathers A_SS into matrix; returns the size.
static int gather(const Lcp* p, const uint8_t* in) {
    int size = 0, c = 0;
    for (int i = 0; i < p->n; ++i) size += in[i] || lcp_free(p, i);
    for (int j = 0; j < p->n; ++j) {
        if (!in[j] && !lcp_free(p, j)) continue;
        for (int i = 0, r = 0; i < p->n; ++i)
            if (in[i] || lcp_free(p, i))
                p->matrix[r++ + c * size] = p->A[(size_t)i + (size_t)j * (size_t)p->lda];
        c++;
    }
    return size;
}

double lcp_solve_basis(Lcp* p, const uint8_t* in) {
    uint8_t* keep = (uint8_t*)p->d; // x may hold the caller's set
    for (int i = 0; i < p->n; ++i) keep[i] = in[i] || lcp_free(p, i);
    int size = gather(p, keep);
    memset(p->z, 0, (size_t)p->n * sizeof(double));
    bool regular = size == 0 || lash_dense_lu(size, p->matrix, size, p->pivot) > LASH_RANK_GIVEN;
    double* x = p->r;
    for (int pass = 0; pass < 3; ++pass) { // the later passes refine
        lcp_residual(p);
        for (int i = 0, k = 0; i < p->n; ++i)
            if (keep[i]) x[k++] = -p->w[i];
        if (regular) {
            lash_dense_lu_solve(size, p->matrix, size, p->pivot, x);
        } else {
            gather(p, keep);
            memcpy(p->x, x, (size_t)size * sizeof(double));
            lash_dense_least_squares(size, size, p->matrix, size, p->x, x, LASH_RANK_PIVOT,
                                     p->least);
        }
        for (int i = 0, k = 0; i < p->n; ++i)
            if (keep[i]) p->z[i] += x[k++];
    }
    return lcp_residual(p);
}

double lcp_enumerate(Lcp* p) {
    int rows[ENUMERATION_ROWS], count = 0;
    for (int i = 0; i < p->n; ++i)
        if (!lcp_free(p, i)) {
            if (count == ENUMERATION_ROWS) return INFINITY;
            rows[count++] = i;
        }
    uint8_t* in = (uint8_t*)p->matrix2;
    double residual = INFINITY;
    for (int size = 0; size <= count; ++size)
        for (unsigned set = 0; set < 1u << count; ++set) {
            int bits = 0;
            for (unsigned s = set; s != 0; s &= s - 1) bits++;
            if (bits != size) continue;
            memset(in, 0, (size_t)p->n);
            for (int k = 0; k < count; ++k) in[rows[k]] = set >> k & 1;
            p->iterations++;
            residual = lcp_solve_basis(p, in);
            if (residual <= p->tolerance || lash_stop_asked(p->stop)) return residual;
        }
    return residual;
}

static double run_default(Lcp* p, LashLcpMethod* method) {
    *method = LASH_LCP_LEMKE;
    double residual = lcp_lemke(p);
    int rows = 0;
    for (int i = 0; i < p->n; ++i) rows += !lcp_free(p, i);
    if (residual <= p->tolerance || rows > ENUMERATION_ROWS) return residual;
    *method = LASH_LCP_ENUMERATION;
    return lcp_enumerate(p);
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
