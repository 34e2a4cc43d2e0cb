// Semismooth Newton for friction problems of any size, in the reduced form of reduced.c.
//
//     (F' W E + D + eps L) dx = -(F' U + D x),    P = E (x + dx)
//
// The small eps L (L the contacts' own eigenvalues) stands in the matrix only, not in the residual:
// a rank-deficient W still gives a bounded step, and repeated steps converge to a solution of the
// original problem. The step is shortened when the residual grows beyond its recent maximum (the
// nonmonotone line search of L. Grippo, F. Lampariello, S. Lucidi, SIAM J. Numer. Anal. 23, 1986).
// Dense W: LU of the reduced matrix. Sparse W: band LU in reverse Cuthill-McKee order, linear in
// the length of a chain.
#include <string.h>

#include "core/error.h"
#include "solvers/cone/reduced.h"
#include "solvers/linear/dense.h"

static const double SMALLEST_SHIFT = 1e-13; // eps [-]

typedef struct Layout { // where A(i, j) of the reduced matrix stands
    bool band;
    int n, half, ld;
} Layout;

static double* entry(const Friction* friction, const Layout* layout, int i, int j) {
    size_t at = layout->band ? (size_t)(2 * layout->half + i - j) : (size_t)i;
    return friction->matrix + at + (size_t)j * (size_t)layout->ld;
}

// Unknowns between the first and the last one of two contacts: half the band that they need.
static int distance(const Reduced* reduced, int i, int j) {
    int first_i = reduced->first[i], first_j = reduced->first[j];
    int end_i = first_i + reduced->contact[i].unknowns,
        end_j = first_j + reduced->contact[j].unknowns;
    return (end_i > end_j ? end_i : end_j) - 1 - (first_i < first_j ? first_i : first_j);
}

// Chooses band or dense storage. Returns false when the workspace holds neither.
static bool choose_layout(const Friction* friction, Layout* layout) {
    const LashBlockSparse* W = friction->problem->sparse;
    const Reduced* reduced = friction->reduced;
    int n = reduced->n;
    *layout = (Layout){false, n, 0, n};
    for (int i = 0; W != NULL && i < W->blocks; ++i) {
        if (reduced->contact[i].unknowns == 0) continue;
        for (int k = W->pointer[i]; k < W->pointer[i + 1]; ++k) {
            int j = W->column[k];
            if (reduced->contact[j].unknowns == 0) continue;
            int half = distance(reduced, i, j);
            if (half > layout->half) layout->half = half;
        }
    }
    layout->band = W != NULL && 3 * layout->half + 1 < n;
    if (layout->band) layout->ld = 3 * layout->half + 1;
    return (size_t)n * (size_t)layout->ld <= friction->matrix_size;
}

// Block (i, j) of the reduced matrix, from the block of W.
static void add_block(const Friction* friction, const Layout* layout, int i, int j, const double* W,
                      int ld) {
    const Reduced* reduced = friction->reduced;
    if (friction->contact[i].unknowns == 0 || friction->contact[j].unknowns == 0) return;
    reduced_block(reduced, i, j, W, ld,
                  entry(friction, layout, reduced->first[i], reduced->first[j]),
                  layout->band ? layout->ld - 1 : layout->ld); // from column to column
}

static void add_blocks(Friction* friction, const Layout* layout) {
    const LashFrictionProblem* problem = friction->problem;
    const LashBlockSparse* W = problem->sparse;
    size_t ld = (size_t)problem->ldw;
    for (int j = 0; j < friction->contacts && W == NULL; ++j)
        for (int i = 0; i < friction->contacts; ++i) {
            size_t row = (size_t)friction->contact[i].row,
                   column = (size_t)friction->contact[j].row;
            add_block(friction, layout, i, j, problem->W + row + column * ld, problem->ldw);
        }
    if (W == NULL) return;
    memset(friction->matrix, 0, (size_t)layout->n * (size_t)layout->ld * sizeof(double));
    for (int i = 0; i < W->blocks; ++i)
        for (int k = W->pointer[i]; k < W->pointer[i + 1]; ++k)
            add_block(friction, layout, i, W->column[k], W->values + W->offset[k],
                      friction->contact[i].rows);
}

static void assemble(Friction* friction, const Layout* layout) {
    const Reduced* reduced = friction->reduced;
    add_blocks(friction, layout);
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        double shift = (friction->newton_shift + friction->shift) * contact->lambda;
        for (int j = reduced->first[i]; j < reduced->first[i] + contact->unknowns; ++j)
            *entry(friction, layout, j, j) += shift + reduced->D[j];
    }
}

// rhs <- A^-1 rhs. Returns false when the matrix cannot be factorised.
static bool solve(Friction* friction, const Layout* layout) {
    int n = layout->n, half = layout->half, ld = layout->ld;
    double* A = friction->matrix;
    if (layout->band) {
        if (!lash_dense_band_lu(n, half, half, A, ld, friction->pivot)) return false;
        lash_dense_band_solve(n, half, half, A, ld, friction->pivot, friction->rhs);
    } else if (n > 0) {
        double ratio = lash_dense_lu(n, A, n, friction->pivot);
        if (!(ratio > 0)) return false;
        if (ratio < 100 * friction->newton_shift) friction->singular = true;
        lash_dense_lu_solve(n, A, n, friction->pivot, friction->rhs);
    }
    return true;
}

// Contradictory rows send P towards infinity: such a point is of no use to anyone.
static bool bounded(const Friction* friction) {
    double limit = friction->settings->spread * friction->b_largest;
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        const double* P = friction->P + contact->row;
        for (int r = 0; r < contact->rows; ++r)
            if (!(fabs(P[r]) * contact->lambda <= limit)) return false;
    }
    return true;
}

// One full Newton step from (P, U) to P. Returns false when there is none.
static bool newton_step(Friction* friction, double threshold) {
    Reduced* reduced = friction->reduced;
    Layout layout;
    double *P = friction->P, *x = friction->x, *rhs = friction->rhs;
    reduced_decide(reduced, threshold, P, friction->U);
    if (!choose_layout(friction, &layout)) return false;
    int n = layout.n, half = layout.half;
    friction->newton_cost = layout.band ? 2.0 * n * half * half : (double)n * n * n / 3;
    assemble(friction, &layout);
    reduced_extract(reduced, P, x);
    reduced_expand(reduced, x, P);
    friction_velocity_at(friction, P, reduced->t);
    reduced->t[friction->m] = 0;
    reduced_residual(reduced, reduced->t, x, rhs);
    for (int i = 0; i < n; ++i) rhs[i] = -rhs[i];
    friction->iterations++;
    if (!solve(friction, &layout)) return false;
    for (int i = 0; i < n; ++i) x[i] += rhs[i];
    reduced_expand(reduced, x, P);
    return bounded(friction);
}

// Halves the step from trial_P to P until the residual is not above limit. Returns it.
static double shorten(Friction* friction, double limit) {
    enum { HALVINGS = 4 };
    for (int half = 0;; ++half) {
        friction_velocity_at(friction, friction->P, friction->U);
        double residual = friction_residual_at(friction, friction->P, friction->U);
        if (residual <= limit || half == HALVINGS) return residual;
        for (int i = 0; i < friction->m; ++i)
            friction->P[i] = 0.5 * (friction->P[i] + friction->trial_P[i]);
    }
}

static double start(Friction* friction) {
    const LashFrictionProblem* problem = friction->problem;
    if (problem->sparse != NULL && !friction->band_ready) {
        lash_block_sparse_order(problem->sparse, friction->order, friction->scratch);
        friction->band_ready = true;
    }
    friction->newton_shift = friction->settings->shift;
    friction_velocity_at(friction, friction->P, friction->U);
    return friction_residual_at(friction, friction->P, friction->U);
}

double friction_newton(Friction* friction, int max_steps, double tolerance) {
    enum { MEMORY = 4, PATIENCE = 12 };
    size_t bytes = (size_t)friction->m * sizeof(double);
    double residual = start(friction), best = residual, before = residual, recent[MEMORY];
    double threshold = 0.1 * fmin(tolerance, 1e-10) * friction->scale;
    bool cold = true;
    for (int i = 0; i < friction->m; ++i) cold = cold && friction->P[i] == 0;
    for (int i = 0; i < MEMORY; ++i) recent[i] = residual;
    memcpy(friction->best_P, friction->P, bytes);
    for (int k = 0, idle = 0; k < max_steps && best > tolerance && idle < PATIENCE; ++k) {
        if (friction_stopped(friction)) break;
        memcpy(friction->trial_P, friction->P, bytes);
        if (!newton_step(friction, k == 0 && cold ? -threshold : threshold)) break;
        double limit = recent[0];
        for (int i = 1; i < MEMORY; ++i) limit = fmax(limit, recent[i]);
        residual = shorten(friction, limit);
        if (!(residual < INFINITY)) break;
        recent[k % MEMORY] = residual;
        // Slow but steady: eps is no longer small against the system's own eigenvalues.
        if (friction->reduced->changed == 0 && residual > 0.02 * before && residual < before)
            friction->newton_shift = fmax(SMALLEST_SHIFT, 0.1 * friction->newton_shift);
        before = residual;
        bool better = residual < 0.9 * best; // not for a little by a huge P
        idle = better ? 0 : idle + 1;
        if (!better && residual > tolerance) continue;
        best = residual;
        memcpy(friction->best_P, friction->P, bytes);
    }
    memcpy(friction->P, friction->best_P, bytes);
    friction_velocity_at(friction, friction->P, friction->U);
    residual = friction_residual_at(friction, friction->P, friction->U);
    friction_remember(friction, residual);
    return residual;
}

// U = b + W dP
static void velocity_after(const LashFrictionProblem* problem, const double* dP, double* U) {
    memcpy(U, problem->b, (size_t)problem->m * sizeof *U);
    lash_dense_multiply_add(problem->m, problem->m, problem->W, problem->ldw, dP, U);
}

double friction_increment(const LashFrictionProblem* problem, const LashFrictionSettings* settings,
                          const double* P, double* dP, double* U, void* work) {
    Friction friction = friction_prepare(problem, settings, dP, U, work);
    Reduced* reduced = friction.reduced;
    Layout layout;
    int m = problem->m;
    double *x = friction.x, *rhs = friction.rhs, *at = friction.trial_P;
    friction.newton_shift = settings->shift;
    reduced_decide(reduced, 0, P, problem->b);
    if (!choose_layout(&friction, &layout)) return INFINITY;
    reduced_extract(reduced, P, x);
    reduced_expand(reduced, x, at); // onto the span of the statuses
    for (int i = 0; i < m; ++i) dP[i] = at[i] - P[i];
    velocity_after(problem, dP, reduced->t);
    reduced->t[m] = 0;
    reduced_residual(reduced, reduced->t, x, rhs);
    for (int i = 0; i < layout.n; ++i) rhs[i] = -rhs[i];
    assemble(&friction, &layout);
    if (!solve(&friction, &layout)) return INFINITY;
    reduced_expand(reduced, rhs, at);
    for (int i = 0; i < m; ++i) dP[i] += at[i];
    for (int i = 0; i < m; ++i) at[i] = P[i] + dP[i];
    velocity_after(problem, dP, U);
    return friction_error(problem->contacts, friction.contact, LASH_MEASURE_VELOCITY, at, U);
}
