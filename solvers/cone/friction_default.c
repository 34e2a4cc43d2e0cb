// The friction solver as callers see it: prepares the problem, runs the method asked for or, by
// default, chooses, verifies and falls back.
//
//     small and dense:  statuses from the warm start, one small system, check (friction_small.c)
//     otherwise:        a few Gauss-Seidel sweeps, Newton from there, more sweeps, Newton again,
//                       interior point and Newton from its answer, long Gauss-Seidel
//
// Whatever a method claims, the residual returned is lash_friction_residual of the returned P.
#include <string.h>

#include "core/error.h"
#include "solvers/cone/friction_internal.h"

LashFrictionSettings lash_friction_settings(void) {
    LashFrictionSettings s = {.tolerance = 1e-12,
                              .measure = LASH_MEASURE_VELOCITY,
                              .method = LASH_FRICTION_DEFAULT,
                              .max_iterations = 0,
                              .directions = 8,
                              .cold = false,
                              .minimum_norm = true};
    return s;
}

const char* lash_friction_method_name(LashFrictionMethod method) {
    static const char* const name[] = {"default", "status", "gauss-seidel",
                                       "newton",  "robust", "polyhedral"};
    LASH_ASSERT((unsigned)method < sizeof name / sizeof name[0]);
    return name[method];
}

// Numbers for the factorisation, the interior point matrix and the minimum norm, used in turn: enough
// for every problem of at most so many contacts and rows, since a step makes its workspace once.
static size_t matrix_size(int contacts, int m) {
    size_t n = (size_t)m, size = n * (n < LASH_BAND_ROWS ? n : LASH_BAND_ROWS) + 2 * n + 64;
    size_t norm = friction_norm_size(m < LASH_SHRINK_ROWS ? m : LASH_SHRINK_ROWS);
    size_t pivoting = friction_polyhedral_size(contacts, m);
    if (norm > size) size = norm;
    return size > pivoting ? size : pivoting;
}

static size_t round_up(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

size_t lash_friction_work_size(int contacts, int m) {
    LASH_ASSERT(contacts >= 0 && m >= contacts && m <= 3 * contacts);
    size_t n = (size_t)m, c = (size_t)contacts;
    return round_up(c * sizeof(LocalContact)) + round_up(26 * n * sizeof(double)) +
           round_up((5 * (c + 1) + n) * sizeof(int32_t)) +
           round_up(matrix_size(contacts, m) * sizeof(double));
}

static void check_input(const LashFrictionProblem* p, const double* P) {
    LASH_ASSERT(p->contacts >= 0 && p->m >= 0 && (p->W != NULL) != (p->sparse != NULL));
    LASH_ASSERT(p->W == NULL || p->ldw >= p->m);
    int rows = 0;
    double sum = 0;
    for (int i = 0; i < p->contacts; ++i) {
        uint8_t kind = friction_kind(p, i);
        LASH_ASSERT(kind <= LASH_CONTACT_SPATIAL);
        LASH_ASSERT(kind <= LASH_CONTACT_FRICTIONLESS || (p->mu[i] >= 0 && p->mu[i] < INFINITY));
        rows += lash_contact_rows(kind);
    }
    LASH_ASSERT(rows == p->m);
    for (int i = 0; i < p->m; ++i) sum += p->b[i] * 0 + P[i] * 0;
    LASH_ASSERT(sum == 0); // NaN or infinity in b or P
    if (p->sparse != NULL)
        LASH_ASSERT(p->sparse->blocks == p->contacts && p->sparse->start[p->contacts] == p->m);
}

// O(m^2): only once the cheap way has failed to give a number.
static void check_matrix(const LashFrictionProblem* p) {
    double sum = 0;
    if (p->W != NULL) {
        for (int j = 0; j < p->m; ++j)
            for (int i = 0; i < p->m; ++i) sum += 0 * p->W[(size_t)j * (size_t)p->ldw + (size_t)i];
    } else {
        int last = p->sparse->pointer[p->contacts];
        for (int i = 0; i < p->contacts; ++i)
            for (int k = p->sparse->pointer[i]; k < p->sparse->pointer[i + 1]; ++k) {
                int j = p->sparse->column[k];
                int size = (p->sparse->start[i + 1] - p->sparse->start[i]) *
                           (p->sparse->start[j + 1] - p->sparse->start[j]);
                for (int e = 0; e < size; ++e)
                    sum += 0 * p->sparse->values[p->sparse->offset[k] + e];
            }
        LASH_ASSERT(last >= 0);
    }
    LASH_ASSERT(sum == 0); // NaN or infinity in W
}

static Friction prepare(const LashFrictionProblem* p, const LashFrictionSettings* set, double* P,
                        double* U, void* work) {
    Friction f = {.problem = p, .settings = set, .contacts = p->contacts, .m = p->m};
    size_t n = (size_t)p->m, c = (size_t)p->contacts;
    char* at = work;
    f.contact = (LocalContact*)at;
    at += round_up(c * sizeof(LocalContact));
    double* v = (double*)at;
    at += round_up(26 * n * sizeof(double));
    f.best_P = v;
    f.trial_P = v + n;
    f.x = v + 2 * n;
    f.rhs = v + 3 * n;
    f.center = v + 4 * n;
    f.saved_P = v + 5 * n;
    f.vectors = v + 6 * n;
    int32_t* i32 = (int32_t*)at;
    at += round_up((5 * (c + 1) + n) * sizeof(int32_t));
    f.first = i32;
    f.order = i32 + c + 1;
    f.scratch = i32 + 2 * (c + 1);
    f.pivot = i32 + 5 * (c + 1);
    f.matrix = (double*)at;
    f.matrix_size = matrix_size(p->contacts, p->m);
    f.P = P;
    f.U = U;
    f.saved_residual = INFINITY;
    double norm = 0;
    for (size_t i = 0; i < n; ++i) {
        norm += p->b[i] * p->b[i];
        f.b_largest = fmax(f.b_largest, fabs(p->b[i]));
    }
    f.scale = 1 + sqrt(norm);
    for (int i = 0, row = 0; i < p->contacts; ++i) {
        LocalContact* k = f.contact + i;
        k->kind = friction_kind(p, i);
        k->rows = (uint8_t)lash_contact_rows(k->kind);
        k->row = row;
        k->mu = k->kind > 1 ? p->mu[i] : 0;
        const double* W = p->W != NULL ? p->W + (size_t)row * ((size_t)p->ldw + 1)
                                       : lash_block_sparse_find(p->sparse, i, i);
        LASH_ASSERT(W != NULL);
        int ld = p->W != NULL ? p->ldw : k->rows;
        double lambda = friction_lambda(k->rows, W, ld);
        k->lambda = lambda > 0 ? lambda : 1;
        friction_local_prepare(k, W, ld);
        row += k->rows;
        f.order[i] = i;
    }
    return f;
}

// Without spatial friction pivoting is exact. Returns the largest number of rows of a contact.
static int largest_kind(const Friction* f) {
    int rows = 0;
    for (int i = 0; i < f->contacts; ++i)
        if (f->contact[i].rows > rows) rows = f->contact[i].rows;
    return rows;
}

// Remembers the best point of all methods.
static double save(Friction* f, double residual) {
    if (residual < f->saved_residual) {
        f->saved_residual = residual;
        memcpy(f->saved_P, f->P, (size_t)f->m * sizeof(double));
    }
    return residual;
}

// The smallest equal solution, when this one is spoilt by the rounding of large impulses.
static double shrink(Friction* f, double residual, double tolerance) {
    if (f->m > LASH_SHRINK_ROWS || !(residual < 1e-6)) return residual;
    size_t bytes = (size_t)f->m * sizeof(double);
    memcpy(f->center, f->P, bytes); // not in use: no proximal term now
    if (friction_minimum_norm(f->problem, f->contact, f->scale, f->P, f->U, f->trial_P,
                              f->matrix)) {
        memcpy(f->P, f->trial_P, bytes);
        double other = friction_newton(f, 8, tolerance);
        if (other < residual) return other;
    }
    memcpy(f->P, f->center, bytes);
    friction_velocity(f->problem, f->P, f->U);
    return residual;
}

// For the hard rest. A frictionless problem without solution ends here with the best point so far.
static double run_robust(Friction* f, double tolerance) {
    static const int steps[] = {6, 300, 120, 1000}; // solves, steps, solves, steps
    int kind = largest_kind(f);
    double residual = INFINITY;
    LashLcpInfo info = friction_polyhedral(f, 4, 0.1 * tolerance);
    if (info.outcome != LASH_FAILED) {
        friction_velocity(f->problem, f->P, f->U);
        residual = friction_residual_at(f, f->P, f->U);
        if (!(residual <= tolerance)) residual = friction_newton(f, 20, tolerance);
    }
    if (save(f, residual) <= tolerance || (kind < 2 && info.ray)) return residual;
    if (f->settings->max_iterations > 0 && kind < 2)
        return residual; // pivoting is all there is time for
    for (int k = 0; k < 4 && !friction_stopped(f); ++k) {
        size_t bytes = (size_t)f->m * sizeof(double);
        if (k == 1) memset(f->P, 0, bytes);
        if (k == 3) memcpy(f->P, f->saved_P, bytes);
        residual = k % 2 == 1 ? friction_proximal(f, steps[k], tolerance)
                              : friction_interior_point(f, steps[k], tolerance);
        if (!(residual <= tolerance)) residual = shrink(f, residual, tolerance);
        if (save(f, residual) <= tolerance) break;
        if (k >= 1 && f->m > 150 && f->saved_residual <= 5 * tolerance) break; // it is rounding
    }
    return residual;
}

// Multiplications of a sweep, roughly: the products with W and the contacts themselves.
static double sweep_cost(const Friction* f) {
    double products = (double)f->m * (double)f->m;
    if (f->problem->sparse != NULL) products = 9.0 * f->problem->sparse->pointer[f->contacts];
    return products + 200.0 * f->contacts;
}

// Sweeps and Newton in turn, then the robust method. Keeps the best point of all.
static LashFrictionInfo run_default(Friction* f) {
    static const int sweeps[] = {10, 40, 150}, steps[] = {15, 20, 25};
    double tolerance = f->settings->tolerance, residual = INFINITY;
    LashFrictionInfo info = {LASH_INACCURATE, LASH_FRICTION_GAUSS_SEIDEL, 0, INFINITY};
    int limit = f->settings->max_iterations;
    memcpy(f->center, f->P, (size_t)f->m * sizeof(double));
    residual = friction_newton(f, 2, tolerance); // a good start needs no more
    info.method = LASH_FRICTION_NEWTON;
    if (residual > tolerance && residual < 1e-4) residual = friction_newton(f, 10, tolerance);
    if (save(f, residual) > tolerance) memcpy(f->P, f->center, (size_t)f->m * sizeof(double));
    for (int k = 0; !(residual <= tolerance) && k < 3 && (limit <= 0 || f->iterations < limit);
         ++k) {
        // Where a factorisation is dear, as many sweeps as the Newton steps before have cost.
        double price = f->newton_cost / sweep_cost(f);
        double fair = price > 15 ? (k == 0 ? 2 : steps[k - 1]) * price : 0;
        residual = friction_gauss_seidel(f, (int)fmax(sweeps[k], fmin(fair, 4000)), tolerance);
        info.method = LASH_FRICTION_GAUSS_SEIDEL;
        if (residual <= tolerance) break;
        residual = friction_newton(f, steps[k], tolerance);
        info.method = LASH_FRICTION_NEWTON;
        if (save(f, residual) <= tolerance) break;
        if (k == 0 && largest_kind(f) < 2) break; // pivoting settles it, or shows that it has none
    }
    bool time = limit <= 0 || f->iterations < limit || largest_kind(f) < 2;
    if (!(residual <= tolerance) && time) {
        residual = run_robust(f, tolerance);
        info.method = LASH_FRICTION_ROBUST;
    }
    if (f->saved_residual < residual || !(residual < INFINITY))
        memcpy(f->P, f->saved_P, (size_t)f->m * sizeof(double));
    if (!(residual <= tolerance) && limit <= 0 && f->problem->sparse != NULL) {
        // Too large to factorise, perhaps: patience.
        double other = friction_gauss_seidel(f, 20000, tolerance);
        if (other <= tolerance) info.method = LASH_FRICTION_GAUSS_SEIDEL;
        if (!(other <= f->saved_residual)) memcpy(f->P, f->saved_P, (size_t)f->m * sizeof(double));
    }
    info.residual = residual;
    return info;
}

static LashFrictionInfo run_method(Friction* f) {
    LashFrictionMethod method = f->settings->method;
    double tolerance = f->settings->tolerance;
    int limit = f->settings->max_iterations;
    LashFrictionInfo info = {LASH_INACCURATE, method, 0, INFINITY};
    if (method == LASH_FRICTION_GAUSS_SEIDEL)
        info.residual = friction_gauss_seidel(f, limit > 0 ? limit : 10000, tolerance);
    else if (method == LASH_FRICTION_NEWTON)
        info.residual = friction_newton(f, limit > 0 ? limit : 100, tolerance);
    else if (method == LASH_FRICTION_ROBUST)
        info.residual = run_robust(f, tolerance);
    else
        info = run_default(f);
    return info;
}

static void finish(Friction* f, LashFrictionInfo* info) {
    const LashFrictionSettings* set = f->settings;
    double residual = lash_friction_residual(f->problem, set->measure, f->P, f->U);
    if (residual <= set->tolerance && set->minimum_norm && f->m <= LASH_NORM_ROWS &&
        (f->singular || friction_touching(f->problem, f->contact, f->scale, f->P, f->U)) &&
        friction_minimum_norm(f->problem, f->contact, f->scale, f->P, f->U, f->trial_P,
                              f->matrix)) {
        double other = lash_friction_residual(f->problem, set->measure, f->trial_P, f->U);
        if (other <= set->tolerance) memcpy(f->P, f->trial_P, (size_t)f->m * sizeof(double));
        residual = lash_friction_residual(f->problem, set->measure, f->P, f->U);
    }
    bool large = f->m > LASH_NORM_ROWS && f->problem->W != NULL;
    if (residual <= set->tolerance && set->minimum_norm && large &&
        (f->singular || friction_touching(f->problem, f->contact, f->scale, f->P, f->U))) {
        friction_smallest(f, set->tolerance);
        residual = lash_friction_residual(f->problem, set->measure, f->P, f->U);
    }
    if (!(residual < INFINITY)) {
        check_matrix(f->problem);
        memset(f->P, 0, (size_t)f->m * sizeof(double));
        residual = lash_friction_residual(f->problem, set->measure, f->P, f->U);
        info->outcome = LASH_FAILED;
    } else {
        info->outcome = residual <= set->tolerance ? LASH_CONVERGED : LASH_INACCURATE;
    }
    info->residual = residual;
    info->iterations = f->iterations;
}

// The answer of the polyhedral cone is judged by the LCP, not by the round cone.
static LashFrictionInfo run_polyhedral(Friction* f) {
    int directions = f->settings->directions;
    LASH_ASSERT(directions >= 3 && directions <= LASH_MAX_DIRECTIONS);
    LashLcpInfo found = friction_polyhedral(f, directions, f->settings->tolerance);
    if (found.outcome == LASH_FAILED) memset(f->P, 0, (size_t)f->m * sizeof(double));
    friction_velocity(f->problem, f->P, f->U);
    return (LashFrictionInfo){found.outcome, LASH_FRICTION_POLYHEDRAL, found.iterations,
                              found.residual};
}

LashFrictionInfo lash_friction_solve(const LashFrictionProblem* p, const LashFrictionSettings* set,
                                     double* P, double* U, void* work) {
    LashFrictionInfo info = {LASH_CONVERGED, LASH_FRICTION_STATUS, 0, 0};
    if (set->cold) memset(P, 0, (size_t)p->m * sizeof(double));
    check_input(p, P);
    LASH_VALIDATE((check_matrix(p), true));
    LashFrictionMethod method = set->method;
    bool small = p->W != NULL && p->m <= LASH_SMALL_ROWS;
    int spent = 0;
    if (small && (method == LASH_FRICTION_DEFAULT || method == LASH_FRICTION_STATUS)) {
        if (friction_small(p, set, P, U, &info)) return info;
        spent = info.iterations;
    }
    Friction f = prepare(p, set, P, U, work);
    f.iterations = spent;
    if (method == LASH_FRICTION_POLYHEDRAL) return run_polyhedral(&f);
    info = run_method(&f);
    finish(&f, &info);
    return info;
}
