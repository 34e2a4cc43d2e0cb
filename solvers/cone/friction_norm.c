// The smallest among equal solutions of a friction problem.
//
// When W is rank-deficient (four corners of a box on a plane) many P give the same U. With U known
// the set of all of them is convex: 0 for an open contact, a ray for a slipping one, the whole cone
// for a sticking one, cut with W P = const. In coordinates P = E x (E orthonormal) and with V an
// orthonormal basis of the row space of W E the smallest is
//
//     min |x|^2 / 2   with   V' x = d = V' x_found,  x in K        =>   x = proj_K(V y),
//
// y the minimiser of the smooth convex function |proj_K(V y)|^2 / 2 - d' y: semismooth Newton with
// line search (the dual method of projections onto affine sets and cones, e.g. L. Qi, D. Sun, SIAM
// Review 48, 2006). Mostly x = V d lies in K already and nothing is left to do.
#include <string.h>

#include "core/error.h"
#include "solvers/cone/friction_internal.h"
#include "solvers/linear/dense.h"
#include "solvers/linear/rank.h"

typedef struct NormSet { // one contact's part of K
    int row, rows, first, count;
    double mu;
    double e[3]; // slip: unit vector of the ray; count is 1
    enum { SET_FREE, SET_RAY, SET_CONE } kind;
} NormSet;

typedef struct Norm {
    int m, n, rank, sets;
    NormSet* set; // (sets)
    double* B;    // (m x n) W E
    double* V;    // (n x rank)
    double* J;    // (rank x rank)
    double *x, *z, *y, *d, *h, *step;
} Norm;

static bool coupled(const LashFrictionProblem* problem, const LocalContact* a,
                    const LocalContact* b) {
    const double* W = problem->W + (size_t)a->row + (size_t)b->row * (size_t)problem->ldw;
    for (int s = 0; s < b->rows; ++s)
        for (int r = 0; r < a->rows; ++r)
            if (W[(size_t)r + (size_t)s * (size_t)problem->ldw] != 0) return true;
    return false;
}

// Is a contact loaded that contact i is coupled with?
static bool beside_load(const LashFrictionProblem* problem, const LocalContact* contacts, int i,
                        const double* P) {
    const LashBlockSparse* W = problem->sparse;
    for (int k = W != NULL ? W->pointer[i] : 0; W != NULL && k < W->pointer[i + 1]; ++k)
        if (W->column[k] != i && P[contacts[W->column[k]].row] != 0) return true;
    for (int j = 0; j < problem->contacts && W == NULL; ++j)
        if (P[contacts[j].row] != 0 && j != i && coupled(problem, contacts + i, contacts + j))
            return true;
    return false;
}

bool friction_touching(const LashFrictionProblem* problem, const LocalContact* contacts,
                       double scale, const double* P, const double* U) {
    double zero = 1e-9 * scale;
    for (int i = 0; i < problem->contacts; ++i) {
        const LocalContact* contact = contacts + i;
        if (contact->kind == LASH_CONTACT_BILATERAL || U[contact->row] > zero ||
            P[contact->row] * contact->lambda > zero)
            continue;
        if (beside_load(problem, contacts, i, P)) return true;
    }
    return false;
}

size_t friction_norm_size(int m) {
    size_t n = (size_t)m;
    return 3 * n * n + 7 * n + (n * sizeof(NormSet) + 7) / 8 + 8;
}

static double dot(int n, const double* a, const double* b) {
    double s = 0;
    for (int i = 0; i < n; ++i) s += a[i] * b[i];
    return s;
}

// The set of impulses of each contact that go with U; its columns of W E.
static void collect_sets(Norm* norm, const LashFrictionProblem* problem,
                         const LocalContact* contacts, double zero, const double* U) {
    norm->n = norm->sets = 0;
    for (int i = 0; i < problem->contacts; ++i) {
        const LocalContact* contact = contacts + i;
        const double* u = U + contact->row;
        double t = 0; // |u_T|
        if (contact->rows == 2) t = fabs(u[1]);
        if (contact->rows == 3) t = sqrt(u[1] * u[1] + u[2] * u[2]);
        if (contact->kind != LASH_CONTACT_BILATERAL && u[0] > zero) continue;
        NormSet* set = norm->set + norm->sets++;
        *set = (NormSet){
            .row = contact->row, .rows = contact->rows, .first = norm->n, .mu = contact->mu};
        set->kind = SET_RAY;
        set->count = 1;
        set->e[0] = 1;
        if (contact->kind == LASH_CONTACT_BILATERAL) {
            set->kind = SET_FREE;
        } else if (contact->rows > 1 && contact->mu > 0 && t <= zero) {
            set->kind = SET_CONE;
            set->count = contact->rows;
        } else if (contact->rows > 1 && contact->mu > 0) {
            double a = 1 / sqrt(1 + contact->mu * contact->mu);
            set->e[0] = a;
            for (int r = 1; r < contact->rows; ++r) set->e[r] = -a * contact->mu * u[r] / t;
        }
        norm->n += set->count;
    }
}

static void fill_columns(Norm* norm, const LashFrictionProblem* problem) {
    memset(norm->B, 0, (size_t)norm->m * (size_t)norm->n * sizeof(double));
    double* unit = norm->h; // (m)
    memset(unit, 0, (size_t)norm->m * sizeof(double));
    for (int i = 0; i < norm->sets; ++i) {
        const NormSet* set = norm->set + i;
        for (int k = 0; k < set->count; ++k) {
            for (int r = 0; r < set->rows; ++r)
                unit[set->row + r] = set->kind == SET_CONE ? r == k : set->e[r];
            double* column = norm->B + (size_t)(set->first + k) * (size_t)norm->m;
            if (problem->W != NULL) {
                lash_dense_multiply_add(norm->m, set->rows,
                                        problem->W + (size_t)set->row * (size_t)problem->ldw,
                                        problem->ldw, unit + set->row, column);
            } else {
                lash_block_sparse_multiply(problem->sparse, unit, column);
            }
            for (int r = 0; r < set->rows; ++r) unit[set->row + r] = 0;
        }
    }
}

// V: orthonormal basis of the rows of B, largest first, each made orthogonal twice. The rows of B
// are kept orthogonal to V; h holds their squared norms.
static void row_space(Norm* norm) {
    size_t m = (size_t)norm->m, n = (size_t)norm->n;
    double first = 0;
    memset(norm->h, 0, m * sizeof(double));
    for (size_t j = 0; j < n; ++j)
        for (size_t i = 0; i < m; ++i) norm->h[i] += norm->B[j * m + i] * norm->B[j * m + i];
    norm->rank = 0;
    while (norm->rank < norm->n && norm->rank < norm->m) {
        size_t best = 0;
        for (size_t i = 1; i < m; ++i)
            if (norm->h[i] > norm->h[best]) best = i;
        double length = sqrt(norm->h[best]);
        if (norm->rank == 0) first = length;
        if (!(length > LASH_RANK_SPAN * first)) break;
        double* v = norm->V + (size_t)norm->rank * n;
        for (size_t j = 0; j < n; ++j) v[j] = norm->B[j * m + best];
        for (int k = 0; k < norm->rank; ++k) {
            const double* u = norm->V + (size_t)k * n;
            double s = dot(norm->n, u, v);
            for (size_t j = 0; j < n; ++j) v[j] -= s * u[j];
        }
        double s = 1 / sqrt(dot(norm->n, v, v));
        for (size_t j = 0; j < n; ++j) v[j] *= s;
        memset(norm->z, 0, m * sizeof(double));
        lash_dense_multiply_add(norm->m, norm->n, norm->B, norm->m, v, norm->z);
        memset(norm->h, 0, m * sizeof(double));
        for (size_t j = 0; j < n; ++j)
            for (size_t i = 0; i < m; ++i) {
                double b = norm->B[j * m + i] -= norm->z[i] * v[j];
                norm->h[i] += b * b;
            }
        norm->rank++;
    }
}

// x = proj_K(z); returns |x|^2 / 2.
static double project_sets(const Norm* norm, const double* z, double* x) {
    double sum = 0;
    memcpy(x, z, (size_t)norm->n * sizeof(double));
    for (int i = 0; i < norm->sets; ++i) {
        const NormSet* set = norm->set + i;
        if (set->kind == SET_RAY && x[set->first] < 0) x[set->first] = 0;
        if (set->kind == SET_CONE) friction_project(set->rows, set->mu, x + set->first);
    }
    for (int j = 0; j < norm->n; ++j) sum += x[j] * x[j];
    return 0.5 * sum;
}

// out = derivative of proj_K at z applied to v.
static void project_derivative(const Norm* norm, const double* z, const double* v, double* out) {
    memcpy(out, v, (size_t)norm->n * sizeof(double));
    for (int i = 0; i < norm->sets; ++i) {
        const NormSet* set = norm->set + i;
        const double *a = z + set->first, *b = v + set->first;
        double* o = out + set->first;
        if (set->kind == SET_RAY && a[0] < 0) o[0] = 0;
        if (set->kind != SET_CONE) continue;
        double t = set->rows == 3 ? sqrt(a[1] * a[1] + a[2] * a[2]) : fabs(a[1]), mu = set->mu;
        if (t <= mu * a[0]) continue;
        if (mu * t <= -a[0]) {
            for (int r = 0; r < set->rows; ++r) o[r] = 0;
            continue;
        }
        double d1 = a[1] / t, d2 = set->rows == 3 ? a[2] / t : 0, b2 = set->rows == 3 ? b[2] : 0;
        double n = (a[0] + mu * t) / (1 + mu * mu), along = d1 * b[1] + d2 * b2;
        double change = (b[0] + mu * along) / (1 + mu * mu), across = -d2 * b[1] + d1 * b2;
        double k = set->rows == 3 ? mu * n / t * across : 0;
        o[0] = change;
        o[1] = mu * change * d1 - k * d2;
        if (set->rows == 3) o[2] = mu * change * d2 + k * d1;
    }
}

static void combine(const Norm* norm, const double* y, double* z) { // z = V y
    memset(z, 0, (size_t)norm->n * sizeof(double));
    lash_dense_multiply_add(norm->n, norm->rank, norm->V, norm->n, y, z);
}

static void assemble_hessian(Norm* norm) { // J = V' proj_K'(z) V, a little above singular
    size_t n = (size_t)norm->n, r = (size_t)norm->rank;
    for (size_t k = 0; k < r; ++k) {
        project_derivative(norm, norm->z, norm->V + k * n, norm->x);
        for (size_t i = 0; i < r; ++i) norm->J[k * r + i] = dot(norm->n, norm->V + i * n, norm->x);
        norm->J[k * r + k] += 1e-10;
    }
}

// Semismooth Newton on the dual; true when V' proj_K(V y) = d to rounding.
static bool solve_dual(Norm* norm) {
    size_t n = (size_t)norm->n;
    double size = sqrt(dot(norm->rank, norm->d, norm->d)), *x_try = norm->step + norm->rank;
    memcpy(norm->y, norm->d, (size_t)norm->rank * sizeof(double));
    for (int k = 0; k < 60; ++k) {
        combine(norm, norm->y, norm->z);
        double value = project_sets(norm, norm->z, norm->x) - dot(norm->rank, norm->d, norm->y),
               error = 0;
        for (int i = 0; i < norm->rank; ++i) {
            norm->h[i] = dot(norm->n, norm->V + (size_t)i * n, norm->x) - norm->d[i];
            error = fmax(error, fabs(norm->h[i]));
        }
        if (error <= 4e-15 * size) return true;
        if (k == 59) return error <= 1e-13 * size;
        assemble_hessian(norm);
        for (int i = 0; i < norm->rank; ++i) norm->step[i] = -norm->h[i];
        if (!lash_dense_cholesky(norm->rank, norm->J, norm->rank)) return false;
        lash_dense_cholesky_solve(norm->rank, norm->J, norm->rank, norm->step);
        double slope = dot(norm->rank, norm->h, norm->step), s = 1;
        for (int half = 0; half < 30; ++half, s *= 0.5) {
            for (int i = 0; i < norm->rank; ++i) x_try[i] = norm->y[i] + s * norm->step[i];
            combine(norm, x_try, norm->z);
            double next = project_sets(norm, norm->z, norm->x) - dot(norm->rank, norm->d, x_try);
            if (next <= value + 1e-4 * s * slope + 1e-15 * size * size) break;
        }
        memcpy(norm->y, x_try, (size_t)norm->rank * sizeof(double));
    }
    return false;
}

bool friction_minimum_norm(const LashFrictionProblem* problem, const LocalContact* contact,
                           double scale, const double* P, const double* U, double* P_new,
                           double* work) {
    size_t m = (size_t)problem->m;
    Norm w = {.m = problem->m, .B = work, .V = work + m * m, .J = work + 2 * m * m};
    double* vectors = work + 3 * m * m;
    w.x = vectors;
    w.z = vectors + m;
    w.y = vectors + 2 * m;
    w.d = vectors + 3 * m;
    w.h = vectors + 4 * m;
    w.step = vectors + 5 * m; // step: 2 m
    w.set = (NormSet*)(vectors + 7 * m);
    collect_sets(&w, problem, contact, 1e-9 * scale, U);
    fill_columns(&w, problem);
    row_space(&w);
    for (int i = 0; i < w.sets; ++i) { // x = E' P
        const NormSet* set = w.set + i;
        for (int k = 0; k < set->count; ++k) {
            double v = 0;
            for (int r = 0; r < set->rows; ++r) v += set->e[r] * P[set->row + r];
            w.x[set->first + k] = set->kind == SET_CONE ? P[set->row + k] : v;
        }
    }
    for (int i = 0; i < w.rank; ++i) w.d[i] = dot(w.n, w.V + (size_t)i * (size_t)w.n, w.x);
    combine(&w, w.d, w.z);
    project_sets(&w, w.z, w.x);
    double size = sqrt(dot(w.n, w.z, w.z)), outside = 0;
    for (int j = 0; j < w.n; ++j) outside = fmax(outside, fabs(w.z[j] - w.x[j]));
    if (outside > 1e-15 * size && !solve_dual(&w)) return false;
    memset(P_new, 0, m * sizeof(double));
    for (int i = 0; i < w.sets; ++i) {
        const NormSet* set = w.set + i;
        for (int r = 0; r < set->rows; ++r)
            P_new[set->row + r] =
                set->kind == SET_CONE ? w.x[set->first + r] : set->e[r] * w.x[set->first];
    }
    return true;
}
