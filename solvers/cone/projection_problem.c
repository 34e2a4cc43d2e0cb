// The position projection of one step ([A12] section 5; docs/schemes.md).
//
//     g+ = g + A tau;   bilateral, equality: g+ = 0, tau free;   inequality: 0 <= g+ perp tau >= 0
//
// This is a friction problem without friction: U = g+, W = A, b = g, P = tau, joint rows for the
// equalities and frictionless contacts for the inequalities, so the friction solver answers it,
// minimum norm included. What is left to do here: equalities may contradict each other (three
// points, both sides of a guide). Since A = G' N G, the rows E can be met together exactly when
// A_EE tau = -g_E has a solution; while it has none, the equality with the smallest impulse is
// demoted to an inequality. If equalities and inequalities together cannot be met, the demotion
// goes on, because g >= -tol never yields.
#include "solvers/cone/projection_problem.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/friction.h"
#include "solvers/linear/dense.h"
#include "solvers/linear/rank.h"

typedef struct Projection {
    const LashProjectionProblem* p;
    uint8_t* kind;         // (m) after demotion
    uint8_t* contact_kind; // (m) for the friction solver
    double *A, *g, *x;     // equalities only: (m x m), (m), (m)
    double* least;         // least squares
    int32_t* pivot;        // (m)
    void* friction;        // workspace
} Projection;

static size_t round_up(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

size_t lash_projection_work_size(int m) {
    LASH_ASSERT(m >= 0);
    size_t n = (size_t)m;
    return round_up(2 * n) + round_up(n * sizeof(int32_t)) +
           round_up((n * n + 2 * n + lash_dense_least_squares_size(m, m)) * sizeof(double)) +
           lash_friction_work_size(m, m);
}

static Projection begin(const LashProjectionProblem* problem, void* work) {
    size_t n = (size_t)problem->m;
    char* at = work;
    Projection s = {.p = problem, .kind = (uint8_t*)at, .contact_kind = (uint8_t*)at + n};
    at += round_up(2 * n);
    s.pivot = (int32_t*)at;
    at += round_up(n * sizeof(int32_t));
    s.A = (double*)at;
    s.g = s.A + n * n;
    s.x = s.g + n;
    s.least = s.x + n;
    at += round_up((n * n + 2 * n + lash_dense_least_squares_size(problem->m, problem->m)) *
                   sizeof(double));
    s.friction = at;
    if (n > 0) memcpy(s.kind, problem->kind, n);
    return s;
}

double lash_projection_residual(const LashProjectionProblem* problem, const uint8_t* kind,
                                const double* tau, double* g_new) {
    double worst = 0;
    for (int i = 0; i < problem->m; ++i) g_new[i] = problem->g[i];
    lash_dense_multiply_add(problem->m, problem->m, problem->A, problem->lda, tau, g_new);
    for (int i = 0; i < problem->m; ++i) {
        double a = problem->A[(size_t)i * ((size_t)problem->lda + 1)], t = (a > 0 ? a : 1) * tau[i];
        double r = kind[i] == LASH_PROJECT_INEQUALITY ? fabs(fmin(t, g_new[i])) : fabs(g_new[i]);
        if (!(r <= worst)) worst = r;
    }
    return worst;
}

static int gather_equalities(const Projection* projection, double* A, double* g) {
    const LashProjectionProblem* problem = projection->p;
    int n = 0;
    for (int i = 0; i < problem->m; ++i) n += projection->kind[i] != LASH_PROJECT_INEQUALITY;
    for (int j = 0, c = 0; j < problem->m; ++j) {
        if (projection->kind[j] == LASH_PROJECT_INEQUALITY) continue;
        for (int i = 0, r = 0; i < problem->m; ++i)
            if (projection->kind[i] != LASH_PROJECT_INEQUALITY)
                A[r++ + c * n] = problem->A[(size_t)i + (size_t)j * (size_t)problem->lda];
        g[c++] = -problem->g[j];
    }
    return n;
}

// Can all equalities be met together?
static bool consistent(const Projection* projection) {
    const LashProjectionProblem* problem = projection->p;
    int n = gather_equalities(projection, projection->A, projection->g);
    if (n == 0 || lash_dense_lu(n, projection->A, n, projection->pivot) > LASH_RANK_PIVOT)
        return true;
    gather_equalities(projection, projection->A, projection->g);
    lash_dense_least_squares(n, n, projection->A, n, projection->g, projection->x, LASH_RANK_LEAST,
                             projection->least);
    for (int i = 0; i < problem->m; ++i) {
        if (projection->kind[i] == LASH_PROJECT_INEQUALITY) continue;
        double error = problem->g[i];
        for (int j = 0, c = 0; j < problem->m; ++j)
            if (projection->kind[j] != LASH_PROJECT_INEQUALITY)
                error +=
                    problem->A[(size_t)i + (size_t)j * (size_t)problem->lda] * projection->x[c++];
        if (fabs(error) > problem->tolerance) return false;
    }
    return true;
}

// The equality with the smallest impulse becomes an inequality; false when none is left.
static bool demote(Projection* projection) {
    int smallest = -1;
    for (int i = 0; i < projection->p->m; ++i)
        if (projection->kind[i] == LASH_PROJECT_EQUALITY &&
            (smallest < 0 || projection->p->P_n[i] < projection->p->P_n[smallest]))
            smallest = i;
    if (smallest < 0) return false;
    projection->kind[smallest] = LASH_PROJECT_INEQUALITY;
    return true;
}

static LashFrictionInfo solve_rows(const Projection* projection, double* tau, double* g_new) {
    const LashProjectionProblem* problem = projection->p;
    double norm = 0;
    for (int i = 0; i < problem->m; ++i) {
        projection->contact_kind[i] = projection->kind[i] == LASH_PROJECT_INEQUALITY
                                          ? LASH_CONTACT_FRICTIONLESS
                                          : LASH_CONTACT_BILATERAL;
        norm += problem->g[i] * problem->g[i];
    }
    LashFrictionProblem friction = {.contacts = problem->m,
                                    .m = problem->m,
                                    .kind = projection->contact_kind,
                                    .b = problem->g,
                                    .W = problem->A,
                                    .ldw = problem->lda};
    LashFrictionSettings settings = lash_friction_settings();
    settings.tolerance = problem->tolerance / (1 + sqrt(norm));
    // Not cold: gaps within the tolerance are closed, too, or the multipliers would jump from step to step.
    if (problem->m > 0) memset(tau, 0, (size_t)problem->m * sizeof *tau);
    settings.max_iterations = problem->max_iterations;
    settings.stop = problem->stop;
    return lash_friction_solve(&friction, &settings, tau, g_new, projection->friction);
}

LashProjectionInfo lash_projection_solve(const LashProjectionProblem* problem, double* tau,
                                         double* g_new, uint8_t* final_kind, void* work) {
    LASH_ASSERT(problem->m >= 0 && problem->lda >= problem->m && problem->tolerance > 0);
    LashProjectionInfo info = {LASH_CONVERGED, 0, 0, 0};
    Projection s = begin(problem, work);
    for (;;) {
        bool possible = consistent(&s);
        if (!possible && demote(&s)) {
            info.demoted++;
            continue;
        }
        LashFrictionInfo found = solve_rows(&s, tau, g_new);
        info.iterations += found.iterations;
        if (found.outcome == LASH_CONVERGED || lash_stop_asked(problem->stop) || !demote(&s)) break;
        info.demoted++;
    }
    info.residual = lash_projection_residual(problem, s.kind, tau, g_new);
    info.outcome = info.residual <= problem->tolerance ? LASH_CONVERGED : LASH_INACCURATE;
    if (final_kind != NULL && problem->m > 0) memcpy(final_kind, s.kind, (size_t)problem->m);
    return info;
}
