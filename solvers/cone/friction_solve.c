// The friction solver: checks what comes in, hands it to the ladder of methods, checks what comes out.
//
//     small and dense:  the first rungs, on the stack (friction_small.c)
//     from nothing:     one sweep, where that is enough (friction_once.c)
//     otherwise:        the rungs above them (friction_ladder.c), in the caller's workspace
//
// Whatever a method claims, the residual returned is lash_friction_residual of the returned P.
#include <limits.h>
#include <string.h>

#include "core/error.h"
#include "solvers/cone/reduced.h"

LashFrictionSettings lash_friction_settings(void) {
    LashFrictionSettings s = {.tolerance = 1e-12,
                              .measure = LASH_MEASURE_VELOCITY,
                              .method = LASH_FRICTION_DEFAULT,
                              .max_iterations = 0,
                              .directions = 8,
                              .cold = false,
                              .spread = 1e7,
                              .shift = 1e-9,
                              .minimum_norm = true};
    return s;
}

const char* lash_friction_method_name(LashFrictionMethod method) {
    static const char* const name[] = {
        [LASH_FRICTION_DEFAULT] = "default",
        [LASH_FRICTION_STATUS] = "status",
        [LASH_FRICTION_GAUSS_SEIDEL] = "gauss-seidel",
        [LASH_FRICTION_NEWTON] = "newton",
        [LASH_FRICTION_ROBUST] = "robust",
        [LASH_FRICTION_PIVOTING] = "pivoting",
        [LASH_FRICTION_INTERIOR] = "interior",
        [LASH_FRICTION_PROXIMAL] = "proximal",
        [LASH_FRICTION_LEAST_SQUARES] = "least-squares",
        [LASH_FRICTION_POLYHEDRAL] = "polyhedral",
    };
    LASH_ASSERT((unsigned)method < sizeof name / sizeof name[0]);
    return name[method];
}

// Numbers for the factorisation, the interior point matrix and the minimum norm, used in turn: enough
// for every problem of at most so many contacts and rows, since a step makes its workspace once.
static size_t matrix_size(int contacts, int m) {
    size_t n = (size_t)m, size = n * (n < LASH_BAND_ROWS ? n : LASH_BAND_ROWS) + 2 * n + 64;
    size_t norm = friction_norm_size(m < LASH_NORM_ROWS ? m : LASH_NORM_ROWS);
    size_t pivoting = friction_polyhedral_size(contacts, m);
    if (norm > size) size = norm;
    return size > pivoting ? size : pivoting;
}

static size_t round_up(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

// Vectors of m numbers, and a little more for the scratch of the reduced system.
enum { VECTORS = 29, PADDING = 8 };

size_t lash_friction_work_size(int contacts, int m) {
    LASH_ASSERT(contacts >= 0 && m >= contacts && m <= 3 * contacts);
    size_t n = (size_t)m, c = (size_t)contacts;
    return round_up(c * sizeof(LocalContact)) + round_up(sizeof(Reduced)) +
           round_up((VECTORS * n + PADDING) * sizeof(double)) +
           round_up((6 * (c + 1) + 2 * n) * sizeof(int32_t)) +
           round_up(matrix_size(contacts, m) * sizeof(double));
}

// Is every number finite? 0 x is NaN where it is not; eight sums, so that none waits for another.
static bool all_finite(const double* x, int n) {
    typedef double Two __attribute__((vector_size(16), aligned(8), may_alias));
    Two sum[4] = {{0}};
    double rest = 0;
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 4; ++k) sum[k] += 0 * ((const Two*)(x + i))[k];
    for (; i < n; ++i) rest += 0 * x[i];
    sum[0] += (sum[1] + sum[2]) + sum[3];
    return sum[0][0] + sum[0][1] + rest == 0;
}

static void check_contacts(const LashFrictionProblem* problem) {
    LASH_ASSERT(problem->contacts >= 0 && problem->m >= 0 &&
                (problem->W != NULL) != (problem->sparse != NULL));
    LASH_ASSERT(problem->W == NULL || problem->ldw >= problem->m);
    int rows = 0;
    for (int i = 0; i < problem->contacts; ++i) {
        uint8_t kind = friction_kind(problem, i);
        LASH_ASSERT(kind <= LASH_CONTACT_SPATIAL);
        LASH_ASSERT(kind <= LASH_CONTACT_FRICTIONLESS ||
                    (problem->mu[i] >= 0 && problem->mu[i] < INFINITY));
        rows += lash_contact_rows(kind);
    }
    LASH_ASSERT(rows == problem->m);
    if (problem->sparse != NULL)
        LASH_ASSERT(problem->sparse->blocks == problem->contacts &&
                    problem->sparse->start[problem->contacts] == problem->m);
}

// O(m^2): only where small systems did not answer.
static void check_matrix(const LashFrictionProblem* problem) {
    const LashBlockSparse* W = problem->sparse;
    size_t ld = (size_t)problem->ldw;
    bool finite = true;
    for (int j = 0; j < problem->m && W == NULL; ++j)
        finite = finite && all_finite(problem->W + (size_t)j * ld, problem->m);
    for (int i = 0; W != NULL && i < problem->contacts; ++i)
        for (int k = W->pointer[i]; k < W->pointer[i + 1]; ++k) {
            int j = W->column[k];
            int size = (W->start[i + 1] - W->start[i]) * (W->start[j + 1] - W->start[j]);
            finite = finite && all_finite(W->values + W->offset[k], size);
        }
    LASH_ASSERT(finite); // NaN or infinity in W
}

// The next part of the workspace, rounded up.
static void* take(char** at, size_t bytes) {
    void* part = *at;
    *at += round_up(bytes);
    return part;
}

Friction friction_prepare(const LashFrictionProblem* problem, const LashFrictionSettings* settings,
                          double* P, double* U, void* work) {
    Friction friction = {.problem = problem, .settings = settings, .P = P, .U = U};
    size_t m = (size_t)problem->m, contacts = (size_t)problem->contacts;
    char* at = work;
    friction.contacts = problem->contacts;
    friction.m = problem->m;
    friction.end = settings->max_iterations > 0 ? settings->max_iterations : INT_MAX;
    friction.contact = take(&at, contacts * sizeof(LocalContact));
    Reduced* reduced = friction.reduced = take(&at, sizeof *reduced);
    *reduced = (Reduced){.problem = problem, .contact = friction.contact};
    double* vector = take(&at, (VECTORS * m + PADDING) * sizeof(double));
    double** part[] = {&friction.best_P, &friction.trial_P, &friction.warm_P, &friction.saved_P,
                       &friction.center, &friction.x,       &friction.rhs,    &reduced->c1,
                       &reduced->c2,     &reduced->D,       &friction.vectors};
    for (size_t i = 0; i < sizeof part / sizeof part[0]; ++i) *part[i] = vector + i * m;
    reduced->t = vector + (VECTORS - 1) * m;
    int32_t* index = take(&at, (6 * (contacts + 1) + 2 * m) * sizeof(int32_t));
    friction.first = index;
    friction.order = index + contacts + 1;
    friction.scratch = index + 2 * (contacts + 1);
    reduced->first = index + 5 * (contacts + 1);
    reduced->order = friction.order;
    friction.pivot = index + 6 * (contacts + 1);
    reduced->row = friction.pivot + m;
    friction.matrix = (double*)at;
    friction.matrix_size = matrix_size(problem->contacts, problem->m);
    friction.saved_residual = INFINITY;
    for (size_t i = 0; i < m; ++i)
        friction.b_largest = fmax(friction.b_largest, fabs(problem->b[i]));
    friction.scale = friction_list_contacts(problem, friction.contact);
    friction_prepare_contacts(problem, friction.contact);
    for (int i = 0; i < problem->contacts; ++i) friction.order[i] = i;
    return friction;
}

// Moves P to the smallest of equal answers where there may be several, unless rounding spoils it.
// False: P and U are as they were.
static bool minimise_norm(Friction* friction) {
    const LashFrictionProblem* problem = friction->problem;
    const LashFrictionSettings* settings = friction->settings;
    double *P = friction->P, *U = friction->U, *P_new = friction->trial_P;
    if (!friction->singular &&
        !friction_touching(problem, friction->contact, friction->scale, P, U))
        return false;
    if (friction->m > LASH_NORM_ROWS) {
        if (problem->W != NULL) friction_smallest(friction, settings->tolerance);
        return true;
    }
    if (!friction_minimum_norm(problem, friction->contact, friction->scale, P, U, P_new,
                               friction->matrix))
        return false;
    if (lash_friction_residual(problem, settings->measure, P_new, U) <= settings->tolerance)
        memcpy(P, P_new, (size_t)friction->m * sizeof(double));
    return true;
}

static void finish(Friction* friction, LashFrictionInfo* info) {
    const LashFrictionProblem* problem = friction->problem;
    const LashFrictionSettings* settings = friction->settings;
    double *P = friction->P, *U = friction->U;
    double residual = lash_friction_residual(problem, settings->measure, P, U);
    if (residual <= settings->tolerance && settings->minimum_norm && minimise_norm(friction))
        residual = lash_friction_residual(problem, settings->measure, P, U);
    info->outcome = residual <= settings->tolerance ? LASH_CONVERGED : LASH_INACCURATE;
    if (!(residual < INFINITY)) {
        memset(P, 0, (size_t)friction->m * sizeof(double));
        residual = lash_friction_residual(problem, settings->measure, P, U);
        info->outcome = LASH_FAILED;
    }
    info->residual = residual;
    info->iterations = friction->iterations;
}

// The answer of the polyhedral cone is judged by the LCP, not by the round cone.
static LashFrictionInfo run_polyhedral(Friction* friction) {
    const LashFrictionSettings* settings = friction->settings;
    LASH_ASSERT(settings->directions >= 3 && settings->directions <= LASH_MAX_DIRECTIONS);
    LashLcpInfo found = friction_polyhedral(friction, settings->directions, settings->tolerance);
    if (found.outcome == LASH_FAILED) memset(friction->P, 0, (size_t)friction->m * sizeof(double));
    friction_velocity(friction->problem, friction->P, friction->U);
    return (LashFrictionInfo){found.outcome, LASH_FRICTION_POLYHEDRAL, found.iterations,
                              found.residual};
}

static LashFrictionInfo run_method(Friction* friction) {
    LashFrictionMethod method = friction->settings->method;
    double tolerance = friction->settings->tolerance;
    int limit = friction->settings->max_iterations;
    LashFrictionInfo info = {LASH_INACCURATE, method, 0, INFINITY};
    if (method == LASH_FRICTION_GAUSS_SEIDEL)
        friction_gauss_seidel(friction, limit > 0 ? limit : 10000, tolerance);
    else if (method == LASH_FRICTION_NEWTON)
        friction_newton(friction, limit > 0 ? limit : 100, tolerance);
    else
        info = friction_climb(friction, method);
    return info;
}

// |x|, in four sums, so that none waits for another
static double length(const double* x, int n) {
    double sum[4] = {0};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; ++k) sum[k] += x[i + k] * x[i + k];
    for (; i < n; ++i) sum[0] += x[i] * x[i];
    return sqrt((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

// Square of the error |proj(-u)| of one contact at P = 0, where U = b, u = b + (mu |b_T|, 0, 0):
//
//     b_N >= 0: 0,      -u inside the cone: |u|^2,      else b_N^2 / (1 + mu^2)
//
// It does not depend on lambda: a cone looks the same at any distance.
static inline double resting_error(uint8_t kind, double mu, const double* b) {
    double square = 1 + mu * mu, normal = b[0] * b[0];
    if (kind == LASH_CONTACT_BILATERAL) return normal;
    if (!(b[0] < 0)) return b[0] >= 0 ? 0 : NAN;
    if (kind == LASH_CONTACT_FRICTIONLESS) return normal;
    double slip = b[1] * b[1] + (kind == LASH_CONTACT_SPATIAL ? b[2] * b[2] : 0);
    if (slip * square * square > mu * mu * normal) return normal / square;
    double u = b[0] + mu * sqrt(slip);
    return u * u + slip;
}

// From nothing: is P = 0 an answer already? No where b is not finite.
static bool rests(const LashFrictionProblem* problem, const LashFrictionSettings* settings,
                  double* U, LashFrictionInfo* info) {
    double scale = 1 + length(problem->b, problem->m), limit = settings->tolerance * scale;
    double sum = 0, worst = 0, square = limit * limit;
    if (!(scale < INFINITY)) return false;
    for (int i = 0, row = 0; i < problem->contacts; ++i) {
        uint8_t kind = friction_kind(problem, i);
        double error = resting_error(kind, kind > 1 ? problem->mu[i] : 0, problem->b + row);
        if (!(error <= square)) return false;
        worst = error > worst ? error : worst;
        sum += error;
        row += lash_contact_rows(kind);
    }
    if (settings->measure == LASH_MEASURE_PLAIN) worst = sum;
    if (!(worst <= square)) return false;
    memcpy(U, problem->b, (size_t)problem->m * sizeof *U);
    info->residual = sqrt(worst) / scale;
    return true;
}

LashFrictionInfo lash_friction_solve(const LashFrictionProblem* problem,
                                     const LashFrictionSettings* settings, double* P, double* U,
                                     void* work) {
    LashFrictionInfo info = {LASH_CONVERGED, LASH_FRICTION_STATUS, 0, 0};
    if (settings->cold) memset(P, 0, (size_t)problem->m * sizeof(double));
    check_contacts(problem);
    LASH_VALIDATE((check_matrix(problem), true));
    LashFrictionMethod method = settings->method;
    if (settings->cold && method == LASH_FRICTION_DEFAULT && rests(problem, settings, U, &info))
        return info;
    LASH_ASSERT(all_finite(problem->b, problem->m)); // no NaN, no infinity
    LASH_ASSERT(settings->cold || all_finite(P, problem->m));
    bool small = problem->W != NULL && problem->m <= LASH_SMALL_ROWS;
    if (small && (method == LASH_FRICTION_DEFAULT || method == LASH_FRICTION_STATUS)) {
        if (friction_small(problem, settings, P, U, &info)) return info;
    }
    OnceAnswer once = ONCE_NONE;
    if (!small && settings->cold && method <= LASH_FRICTION_STATUS)
        once = friction_once(problem, settings, work, P, U, &info);
    if (once == ONCE_THE_ANSWER) return info;
    check_matrix(problem);
    Friction friction = friction_prepare(problem, settings, P, U, work);
    friction.iterations = info.iterations;
    if (method == LASH_FRICTION_POLYHEDRAL) return run_polyhedral(&friction);
    if (once == ONCE_NONE) info = run_method(&friction);
    finish(&friction, &info);
    return info;
}
