// Small dense problems (m <= LASH_SMALL_ROWS), the inner loop of a time step: no workspace, no
// library calls.
//
// Statuses come from the warm start; the reduced system they give (reduced.c) is solved by LU
// without exchanges, and each answer is checked by the residual before it is believed. When the
// statuses wander, a few Gauss-Seidel sweeps give better ones.
#include <limits.h>
#include <string.h>

#include "core/error.h"
#include "solvers/cone/reduced.h"
#include "solvers/linear/dense.h"
#include "solvers/linear/rank.h"

enum { N = LASH_SMALL_ROWS };

typedef struct Small {
    const LashFrictionProblem* problem;
    LashFrictionMeasure measure;
    bool prepared, singular;
    double scale;            // 1 + |b|
    double threshold;        // of closing [m/s]
    LocalContact contact[N]; // block and inverse only once prepared
    Reduced reduced;         // in the arrays below
    int32_t first[N], row[N];
    double c1[N], c2[N], D[N], t[N + 1];
    double *P, *U; // (m) current point and its velocity: the caller's
    double best_P[N], best;
    int iterations, end; // factors and sweeps so far, and how many there may be
} Small;

static void small_begin(Small* small, const LashFrictionProblem* problem,
                        const LashFrictionSettings* settings, double* P, double* U) {
    small->problem = problem;
    small->P = P;
    small->U = U;
    small->measure = settings->measure;
    small->prepared = small->singular = false;
    small->best = INFINITY;
    small->iterations = 0;
    small->end = settings->max_iterations > 0 ? settings->max_iterations : INT_MAX;
    memcpy(small->best_P, P, (size_t)problem->m * sizeof(double));
    small->scale = friction_list_contacts(problem, small->contact);
    small->threshold = 0.1 * fmin(settings->tolerance, 1e-10) * small->scale;
    small->reduced = (Reduced){.problem = problem,
                               .contact = small->contact,
                               .first = small->first,
                               .row = small->row,
                               .c1 = small->c1,
                               .c2 = small->c2,
                               .D = small->D,
                               .t = small->t};
}

// U = W P + b and the residual; remembers the best point.
static double small_check(Small* small) {
    const LashFrictionProblem* problem = small->problem;
    friction_velocity(problem, small->P, small->U);
    double residual =
        friction_error(problem->contacts, small->contact, small->measure, small->P, small->U) /
        small->scale;
    if (residual < 0.9 * small->best) { // a little better by a huge P is not better
        small->best = residual;
        memcpy(small->best_P, small->P, (size_t)problem->m * sizeof(double));
    }
    return residual;
}

// A = L U without exchanges, in place: the symmetric part of a reduced W is nearly always positive
// definite. Columns have leading dimension N; four rows at a time, multipliers of finished rows
// are zero. Returns false when a pivot says otherwise.
static bool small_lu(int n, double* restrict A) {
    double l[N] __attribute__((aligned(32))) = {0}, largest = 0;
    for (int k = 0; k < n; ++k) largest = A[k * (N + 1)] > largest ? A[k * (N + 1)] : largest;
    for (int k = 0; k < n; ++k) {
        double* restrict c = A + k * N;
        if (!(c[k] > LASH_RANK_PIVOT * largest)) return false;
        double inverse = 1 / c[k];
        l[k] = 0;
        c[k] = inverse;
        for (int i = k + 1; i < n; ++i) {
            c[i] *= inverse;
            l[i] = c[i];
        }
        int from = (k + 1) & ~3;
        for (int j = k + 1; j < n; ++j) {
            double* restrict a = A + j * N;
            double s = a[k];
            for (int i = from; i < n; i += 4) {
                a[i] -= s * l[i];
                a[i + 1] -= s * l[i + 1];
                a[i + 2] -= s * l[i + 2];
                a[i + 3] -= s * l[i + 3];
            }
        }
    }
    return true;
}

static void small_lu_solve(int n, const double* restrict A, double* restrict x) {
    for (int k = 0; k < n; ++k) {
        double s = x[k];
        for (int i = k + 1; i < n; ++i) x[i] -= s * A[k * N + i];
    }
    for (int k = n - 1; k >= 0; --k) {
        double s = x[k] *= A[k * (N + 1)]; // the diagonal holds inverses
        for (int i = 0; i < k; ++i) x[i] -= s * A[k * N + i];
    }
}

// Rows in a block of four are computed together.
static void assemble(const Small* small, double* A) {
    reduced_assemble(&small->reduced, A, N, (small->reduced.n + 3) & ~3);
}

// Solves A x = rhs in place; least squares, and false, when A is singular.
static bool small_solve(const Small* small, double* A, double* rhs) {
    int n = small->reduced.n;
    if (small_lu(n, A)) {
        small_lu_solve(n, A, rhs);
        return true;
    }
    double x[N], work[N * N + 4 * N];
    int32_t pivot[N];
    assemble(small, A);
    if (lash_dense_lu(n, A, N, pivot) > LASH_RANK_PIVOT) {
        lash_dense_lu_solve(n, A, N, pivot, rhs);
        return true;
    }
    assemble(small, A);
    lash_dense_least_squares(n, n, A, N, rhs, x, LASH_RANK_LEAST, work);
    memcpy(rhs, x, (size_t)n * sizeof(double));
    return false;
}

// One Newton step with the decided statuses. The first solves for P, later ones for its
// correction, which refines away rounding.
static void small_step(Small* small, bool first) {
    const LashFrictionProblem* problem = small->problem;
    const Reduced* reduced = &small->reduced;
    double A[N * N] __attribute__((aligned(32))), x[N] = {0}, rhs[N], *t = small->t;
    assemble(small, A);
    if (first) {
        memcpy(t, problem->b, (size_t)problem->m * sizeof(double));
    } else {
        reduced_extract(reduced, small->P, x);
        reduced_expand(reduced, x, small->P);
        friction_velocity(problem, small->P, t);
    }
    t[problem->m] = 0;
    reduced_residual(reduced, t, x, rhs);
    for (int j = 0; j < reduced->n; ++j) rhs[j] = -rhs[j];
    if (!small_solve(small, A, rhs)) small->singular = true;
    for (int j = 0; j < reduced->n; ++j) x[j] += rhs[j];
    reduced_expand(reduced, x, small->P);
    small->iterations++;
}

// Contradictory rows send P towards infinity: such a point is of no use to anyone.
static bool bounded(const Small* small, double spread) {
    double largest = 0;
    for (int i = 0; i < small->problem->contacts; ++i) {
        const LocalContact* contact = small->contact + i;
        double size = fabs(small->P[contact->row]) * contact->lambda;
        if (!(size <= largest)) largest = size;
    }
    return largest <= spread * small->scale;
}

// Newton from the current point. Before any sweep it gives up when a step does not help much, and
// takes at least one where the smallest of equal answers is wanted: the warm start may be another.
static double small_newton(Small* small, const Rung* rung, const LashFrictionSettings* settings) {
    double residual = small_check(small), tolerance = settings->tolerance;
    bool hurry = rung->sweeps == 0;
    for (int k = 0; k < rung->steps && small->iterations < small->end; ++k) {
        bool needed = k == 0 && hurry && settings->minimum_norm;
        if (residual <= tolerance && !needed) break;
        reduced_decide(&small->reduced, small->threshold, small->P, small->U);
        small_step(small, k == 0);
        if (!bounded(small, settings->spread)) return INFINITY;
        double before = residual;
        residual = small_check(small);
        if (hurry && residual > 0.2 * before) break;
    }
    return residual;
}

static void small_sweeps(Small* small, int sweeps) {
    const LashFrictionProblem* problem = small->problem;
    int left = small->end - small->iterations;
    if (sweeps > left) sweeps = left;
    double angle = problem->contacts == 1 ? 1e-8 : LASH_SWEEP_ANGLE;
    if (!small->prepared) friction_prepare_contacts(problem, small->contact);
    small->prepared = true;
    memcpy(small->P, small->best_P, (size_t)problem->m * sizeof(double));
    friction_velocity(problem, small->P, small->U);
    for (int k = 0; k < sweeps; ++k)
        friction_sweep(problem, small->contact, 0, angle, small->P, small->U);
    small->iterations += sweeps;
}

// Without joints, P = 0 answers when no contact closes; it is also the smallest answer.
static bool all_open(const LashFrictionProblem* problem) {
    for (int i = 0, row = 0; i < problem->contacts; ++i) {
        uint8_t kind = friction_kind(problem, i);
        if (kind == LASH_CONTACT_BILATERAL || problem->b[row] < 0) return false;
        row += kind;
    }
    return true;
}

// Moves P to the smallest of equal answers, unless rounding spoils it. Returns the residual.
static double minimise_norm(Small* small, double residual, double tolerance) {
    const LashFrictionProblem* problem = small->problem;
    double P_new[N], P_old[N], work[3 * N * N + 16 * N], *P = small->P;
    size_t bytes = (size_t)problem->m * sizeof(double);
    LASH_ASSERT(friction_norm_size(N) <= sizeof work / sizeof work[0]);
    if (!friction_minimum_norm(problem, small->contact, small->scale, P, small->U, P_new, work))
        return residual;
    memcpy(P_old, P, bytes);
    memcpy(P, P_new, bytes);
    residual = small_check(small);
    if (residual <= tolerance) return residual;
    memcpy(P, P_old, bytes);
    return small_check(small);
}

bool friction_small(const LashFrictionProblem* problem, const LashFrictionSettings* settings,
                    double* P, double* U, LashFrictionInfo* info) {
    size_t bytes = (size_t)problem->m * sizeof(double);
    double tolerance = settings->tolerance, residual = INFINITY;
    bool single = problem->contacts == 1; // exact after one sweep
    *info = (LashFrictionInfo){LASH_CONVERGED, LASH_FRICTION_STATUS, 0, 0};
    if (all_open(problem)) {
        memset(P, 0, bytes);
        memcpy(U, problem->b, bytes);
        return true;
    }
    Small small;
    small_begin(&small, problem, settings, P, U);
    for (const Rung* rung = friction_ladder; rung->where == WHERE_SMALL; ++rung) {
        if (single && rung->sweeps == 0) continue;
        if (rung->sweeps > 0) small_sweeps(&small, single ? 1 : rung->sweeps);
        residual = small_newton(&small, rung, settings);
        if (residual <= tolerance) break;
    }
    bool solved = residual <= tolerance;
    if (!solved) {
        memcpy(P, small.best_P, bytes);
        residual = small_check(&small);
    } else if (settings->minimum_norm &&
               (small.singular || friction_touching(problem, small.contact, small.scale, P, U))) {
        residual = minimise_norm(&small, residual, tolerance);
    }
    info->iterations = small.iterations;
    info->residual = residual;
    return residual <= tolerance;
}
