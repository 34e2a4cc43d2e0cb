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

static bool coupled(const LashFrictionProblem* p, int i, const LocalContact* a, int j,
                    const LocalContact* b) {
    if (p->W == NULL) return lash_block_sparse_find(p->sparse, i, j) != NULL;
    const double* W = p->W + (size_t)a->row + (size_t)b->row * (size_t)p->ldw;
    for (int s = 0; s < b->rows; ++s)
        for (int r = 0; r < a->rows; ++r)
            if (W[(size_t)r + (size_t)s * (size_t)p->ldw] != 0) return true;
    return false;
}

bool friction_touching(const LashFrictionProblem* p, const LocalContact* contact, double scale,
                       const double* P, const double* U) {
    double zero = 1e-9 * scale;
    for (int i = 0; i < p->contacts; ++i) {
        const LocalContact* c = contact + i;
        if (c->kind == LASH_CONTACT_BILATERAL || U[c->row] > zero || P[c->row] * c->lambda > zero)
            continue;
        for (int j = 0; j < p->contacts; ++j)
            if (P[contact[j].row] != 0 && j != i && coupled(p, i, c, j, contact + j)) return true;
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
static void collect_sets(Norm* w, const LashFrictionProblem* p, const LocalContact* contact,
                         double zero, const double* U) {
    w->n = w->sets = 0;
    for (int i = 0; i < p->contacts; ++i) {
        const LocalContact* c = contact + i;
        const double* u = U + c->row;
        double t = c->rows == 3 ? sqrt(u[1] * u[1] + u[2] * u[2]) : c->rows == 2 ? fabs(u[1]) : 0;
        if (c->kind != LASH_CONTACT_BILATERAL && u[0] > zero) continue;
        NormSet* s = w->set + w->sets++;
        *s = (NormSet){.row = c->row, .rows = c->rows, .first = w->n, .mu = c->mu};
        s->kind = SET_RAY;
        s->count = 1;
        s->e[0] = 1;
        if (c->kind == LASH_CONTACT_BILATERAL) {
            s->kind = SET_FREE;
        } else if (c->rows > 1 && c->mu > 0 && t <= zero) {
            s->kind = SET_CONE;
            s->count = c->rows;
        } else if (c->rows > 1 && c->mu > 0) {
            double a = 1 / sqrt(1 + c->mu * c->mu);
            s->e[0] = a;
            for (int r = 1; r < c->rows; ++r) s->e[r] = -a * c->mu * u[r] / t;
        }
        w->n += s->count;
    }
}

static void fill_columns(Norm* w, const LashFrictionProblem* p) {
    memset(w->B, 0, (size_t)w->m * (size_t)w->n * sizeof(double));
    double* unit = w->h; // (m)
    memset(unit, 0, (size_t)w->m * sizeof(double));
    for (int i = 0; i < w->sets; ++i) {
        const NormSet* s = w->set + i;
        for (int k = 0; k < s->count; ++k) {
            for (int r = 0; r < s->rows; ++r)
                unit[s->row + r] = s->kind == SET_CONE ? (r == k ? 1 : 0) : s->e[r];
            double* column = w->B + (size_t)(s->first + k) * (size_t)w->m;
            if (p->W != NULL) {
                lash_dense_multiply_add(w->m, s->rows, p->W + (size_t)s->row * (size_t)p->ldw,
                                        p->ldw, unit + s->row, column);
            } else {
                lash_block_sparse_multiply(p->sparse, unit, column);
            }
            for (int r = 0; r < s->rows; ++r) unit[s->row + r] = 0;
        }
    }
}

// V: orthonormal basis of the rows of B, largest first, each made orthogonal twice. The rows of B
// are kept orthogonal to V; h holds their squared norms.
static void row_space(Norm* w) {
    size_t m = (size_t)w->m, n = (size_t)w->n;
    double first = 0;
    memset(w->h, 0, m * sizeof(double));
    for (size_t j = 0; j < n; ++j)
        for (size_t i = 0; i < m; ++i) w->h[i] += w->B[j * m + i] * w->B[j * m + i];
    w->rank = 0;
    while (w->rank < w->n && w->rank < w->m) {
        size_t best = 0;
        for (size_t i = 1; i < m; ++i)
            if (w->h[i] > w->h[best]) best = i;
        double norm = sqrt(w->h[best]);
        if (w->rank == 0) first = norm;
        if (!(norm > LASH_RANK_SPAN * first)) break;
        double* v = w->V + (size_t)w->rank * n;
        for (size_t j = 0; j < n; ++j) v[j] = w->B[j * m + best];
        for (int k = 0; k < w->rank; ++k) {
            const double* u = w->V + (size_t)k * n;
            double s = dot(w->n, u, v);
            for (size_t j = 0; j < n; ++j) v[j] -= s * u[j];
        }
        double s = 1 / sqrt(dot(w->n, v, v));
        for (size_t j = 0; j < n; ++j) v[j] *= s;
        memset(w->z, 0, m * sizeof(double));
        lash_dense_multiply_add(w->m, w->n, w->B, w->m, v, w->z);
        memset(w->h, 0, m * sizeof(double));
        for (size_t j = 0; j < n; ++j)
            for (size_t i = 0; i < m; ++i) {
                double b = w->B[j * m + i] -= w->z[i] * v[j];
                w->h[i] += b * b;
            }
        w->rank++;
    }
}

// x = proj_K(z); returns |x|^2 / 2.
static double project_sets(const Norm* w, const double* z, double* x) {
    double sum = 0;
    memcpy(x, z, (size_t)w->n * sizeof(double));
    for (int i = 0; i < w->sets; ++i) {
        const NormSet* s = w->set + i;
        if (s->kind == SET_RAY && x[s->first] < 0) x[s->first] = 0;
        if (s->kind == SET_CONE) friction_project(s->rows, s->mu, x + s->first);
    }
    for (int j = 0; j < w->n; ++j) sum += x[j] * x[j];
    return 0.5 * sum;
}

// out = derivative of proj_K at z applied to v.
static void project_derivative(const Norm* w, const double* z, const double* v, double* out) {
    memcpy(out, v, (size_t)w->n * sizeof(double));
    for (int i = 0; i < w->sets; ++i) {
        const NormSet* s = w->set + i;
        const double *a = z + s->first, *b = v + s->first;
        double* o = out + s->first;
        if (s->kind == SET_RAY && a[0] < 0) o[0] = 0;
        if (s->kind != SET_CONE) continue;
        double t = s->rows == 3 ? sqrt(a[1] * a[1] + a[2] * a[2]) : fabs(a[1]), mu = s->mu;
        if (t <= mu * a[0]) continue;
        if (mu * t <= -a[0]) {
            for (int r = 0; r < s->rows; ++r) o[r] = 0;
            continue;
        }
        double d1 = a[1] / t, d2 = s->rows == 3 ? a[2] / t : 0, b2 = s->rows == 3 ? b[2] : 0;
        double n = (a[0] + mu * t) / (1 + mu * mu), along = d1 * b[1] + d2 * b2;
        double change = (b[0] + mu * along) / (1 + mu * mu), across = -d2 * b[1] + d1 * b2;
        double k = s->rows == 3 ? mu * n / t * across : 0;
        o[0] = change;
        o[1] = mu * change * d1 - k * d2;
        if (s->rows == 3) o[2] = mu * change * d2 + k * d1;
    }
}

static void combine(const Norm* w, const double* y, double* z) { // z = V y
    memset(z, 0, (size_t)w->n * sizeof(double));
    lash_dense_multiply_add(w->n, w->rank, w->V, w->n, y, z);
}

static void assemble_hessian(Norm* w) { // J = V' proj_K'(z) V, a little above singular
    size_t n = (size_t)w->n, r = (size_t)w->rank;
    for (size_t k = 0; k < r; ++k) {
        project_derivative(w, w->z, w->V + k * n, w->x);
        for (size_t i = 0; i < r; ++i) w->J[k * r + i] = dot(w->n, w->V + i * n, w->x);
        w->J[k * r + k] += 1e-10;
    }
}

// Semismooth Newton on the dual; true when V' proj_K(V y) = d to rounding.
static bool solve_dual(Norm* w) {
    size_t n = (size_t)w->n;
    double size = sqrt(dot(w->rank, w->d, w->d)), *x_try = w->step + w->rank;
    memcpy(w->y, w->d, (size_t)w->rank * sizeof(double));
    for (int k = 0; k < 60; ++k) {
        combine(w, w->y, w->z);
        double value = project_sets(w, w->z, w->x) - dot(w->rank, w->d, w->y), error = 0;
        for (int i = 0; i < w->rank; ++i) {
            w->h[i] = dot(w->n, w->V + (size_t)i * n, w->x) - w->d[i];
            error = fmax(error, fabs(w->h[i]));
        }
        if (error <= 4e-15 * size) return true;
        if (k == 59) return error <= 1e-13 * size;
        assemble_hessian(w);
        for (int i = 0; i < w->rank; ++i) w->step[i] = -w->h[i];
        if (!lash_dense_cholesky(w->rank, w->J, w->rank)) return false;
        lash_dense_cholesky_solve(w->rank, w->J, w->rank, w->step);
        double slope = dot(w->rank, w->h, w->step), s = 1;
        for (int half = 0; half < 30; ++half, s *= 0.5) {
            for (int i = 0; i < w->rank; ++i) x_try[i] = w->y[i] + s * w->step[i];
            combine(w, x_try, w->z);
            double next = project_sets(w, w->z, w->x) - dot(w->rank, w->d, x_try);
            if (next <= value + 1e-4 * s * slope + 1e-15 * size * size) break;
        }
        memcpy(w->y, x_try, (size_t)w->rank * sizeof(double));
    }
    return false;
}

bool friction_minimum_norm(const LashFrictionProblem* p, const LocalContact* contact, double scale,
                           const double* P, const double* U, double* P_new, double* work) {
    size_t m = (size_t)p->m;
    Norm w = {.m = p->m, .B = work, .V = work + m * m, .J = work + 2 * m * m};
    double* vectors = work + 3 * m * m;
    w.x = vectors;
    w.z = vectors + m;
    w.y = vectors + 2 * m;
    w.d = vectors + 3 * m;
    w.h = vectors + 4 * m;
    w.step = vectors + 5 * m; // step: 2 m
    w.set = (NormSet*)(vectors + 7 * m);
    collect_sets(&w, p, contact, 1e-9 * scale, U);
    fill_columns(&w, p);
    row_space(&w);
    for (int i = 0; i < w.sets; ++i) { // x = E' P
        const NormSet* s = w.set + i;
        for (int k = 0; k < s->count; ++k) {
            double v = 0;
            for (int r = 0; r < s->rows; ++r) v += s->e[r] * P[s->row + r];
            w.x[s->first + k] = s->kind == SET_CONE ? P[s->row + k] : v;
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
        const NormSet* s = w.set + i;
        for (int r = 0; r < s->rows; ++r)
            P_new[s->row + r] = s->kind == SET_CONE ? w.x[s->first + r] : s->e[r] * w.x[s->first];
    }
    return true;
}
