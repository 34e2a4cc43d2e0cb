// Small dense problems (m <= LASH_SMALL_ROWS), the inner loop of a time step: no workspace, no
// library calls.
//
// Every contact is open, sticks or slips. For given statuses the problem is one small system in
//     P = E x,   rows F' (W E x + b) + D x = 0
//     stick:         E = I,                           rows U = 0
//     slip, planar:  E = (1, mu s),                   row  U_N = 0
//     slip, spatial: E = [(1, mu d), (0, d_perp)],    rows U_N = 0, U_perp + k x_perp = 0
// where d = z / |z|, z = P_T - rho U_T, and k = (|z| - mu p) / (rho mu p), p = P_N - rho U_N: the
// Newton step of the Alart-Curnier function in reduced form (P. Alart, A. Curnier, CMAME 92, 1991).
// Statuses come from the warm start; each answer is checked by the residual before it is
// believed; when the statuses wander, a few Gauss-Seidel sweeps give better ones.
#include <string.h>

#include "core/error.h"
#include "solvers/dense.h"
#include "solvers/friction_internal.h"

enum { N = LASH_SMALL_ROWS };
static const double RANK = 1e-11; // smallest over largest pivot of a regular system [-]

typedef struct Small {
    const LashFrictionProblem* p;
    bool plain, prepared, singular;
    double scale;            // 1 + |b|
    LocalContact contact[N]; // block and inverse only once prepared
    double d[2 * N];         // slip direction per contact
    double k[N];             // diagonal term of the perpendicular row
    double* P;               // (m) current point and its velocity: the caller's
    double* U;
    double best_P[N], best;
    int iterations;
} Small;

static void small_begin(Small* s, const LashFrictionProblem* p, const LashFrictionSettings* set,
                        double* P, double* U) {
    s->p = p, s->P = P, s->U = U;
    s->plain = set->measure == LASH_MEASURE_PLAIN, s->prepared = s->singular = false;
    s->best = INFINITY, s->iterations = 0;
    double norm = 0;
    for (int i = 0; i < p->m; ++i) norm += p->b[i] * p->b[i];
    s->scale = 1 + sqrt(norm);
    for (int i = 0, row = 0; i < p->contacts; ++i) {
        LocalContact* c = s->contact + i;
        c->kind = friction_kind(p, i), c->rows = (uint8_t)lash_contact_rows(c->kind);
        c->row = row, c->mu = c->kind > 1 ? p->mu[i] : 0;
        double lambda = friction_lambda(c->rows, p->W + (size_t)row * ((size_t)p->ldw + 1), p->ldw);
        c->lambda = lambda > 0 ? lambda : 1;
        row += c->rows;
    }
}

// U = W P + b and the residual; remembers the best point.
static double small_check(Small* s) {
    const LashFrictionProblem* p = s->p;
    friction_velocity(p, s->P, s->U);
    double worst = 0, sum = 0;
    for (int i = 0; i < p->contacts; ++i) {
        const LocalContact* c = s->contact + i;
        double lambda = s->plain ? 1 : c->lambda;
        double r =
            friction_natural(c->kind, c->mu, 1 / lambda, s->P + c->row, s->U + c->row) * lambda;
        if (!(r <= worst)) worst = r;
        sum += r * r;
    }
    double residual = (s->plain ? sqrt(sum) : worst) / s->scale;
    if (residual < s->best) s->best = residual, memcpy(s->best_P, s->P, (size_t)p->m * 8);
    return residual;
}

// Statuses from (P, U), and the direction and diagonal term of slipping contacts. Returns the
// number of unknowns.
static int small_decide(Small* s) {
    int n = 0;
    for (int i = 0; i < s->p->contacts; ++i) {
        LocalContact* c = s->contact + i;
        const double *P = s->P + c->row, *U = s->U + c->row;
        c->status = (uint8_t)friction_status(c, P, U);
        if (c->status == STATUS_OPEN) continue;
        if (c->status == STATUS_STICK) {
            n += c->rows;
        } else if (c->rows == 2 || c->mu == 0) {
            s->d[2 * i] = P[1] - U[1] / c->lambda > 0 ? 1 : -1, s->d[2 * i + 1] = 0;
            n += 1;
        } else {
            double rho = 1 / c->lambda, z1 = P[1] - rho * U[1], z2 = P[2] - rho * U[2];
            double z = sqrt(z1 * z1 + z2 * z2), push = c->mu * (P[0] - rho * U[0]);
            s->d[2 * i] = z1 / z, s->d[2 * i + 1] = z2 / z;
            s->k[i] = (z - push) / (rho * push);
            n += 2;
        }
    }
    return n;
}

// Puts the rows of one contact, combined as its status says, from t (m) into out.
static inline int small_rows(const Small* s, int i, const double* t, double* out) {
    const LocalContact* c = s->contact + i;
    t += c->row;
    if (c->status == STATUS_OPEN) return 0;
    out[0] = t[0];
    if (c->status == STATUS_STICK) {
        for (int r = 1; r < c->rows; ++r) out[r] = t[r];
        return c->rows;
    }
    if (c->rows == 2 || c->mu == 0) return 1;
    out[1] = -s->d[2 * i + 1] * t[1] + s->d[2 * i] * t[2];
    return 2;
}

// Column k of contact i's part of W E into t (m).
static inline void small_column(const Small* s, int i, int k, double* t) {
    const LocalContact* c = s->contact + i;
    int m = s->p->m;
    size_t ld = (size_t)s->p->ldw;
    const double* w = s->p->W + (size_t)c->row * ld;
    if (c->status == STATUS_STICK) {
        memcpy(t, w + (size_t)k * ld, (size_t)m * sizeof(double));
    } else if (c->mu == 0) {
        memcpy(t, w, (size_t)m * sizeof(double));
    } else if (c->rows == 2) {
        double a = c->mu * s->d[2 * i];
        for (int r = 0; r < m; ++r) t[r] = w[r] + a * w[ld + (size_t)r];
    } else {
        double d1 = s->d[2 * i], d2 = s->d[2 * i + 1], e = k == 0 ? 1 : 0;
        double a1 = k == 0 ? c->mu * d1 : -d2, a2 = k == 0 ? c->mu * d2 : d1;
        for (int r = 0; r < m; ++r)
            t[r] = e * w[r] + a1 * w[ld + (size_t)r] + a2 * w[2 * ld + (size_t)r];
    }
}

static inline int small_unknowns(const LocalContact* c) {
    if (c->status == STATUS_OPEN) return 0;
    if (c->status == STATUS_STICK) return c->rows;
    return c->rows == 2 || c->mu == 0 ? 1 : 2;
}

// x (unknowns) of the current P, when extract; P = E x, when not.
static void small_transfer(Small* s, double* x, bool extract) {
    for (int i = 0; i < s->p->contacts; ++i) {
        const LocalContact* c = s->contact + i;
        double* P = s->P + c->row;
        int n = small_unknowns(c);
        bool slip = c->status == STATUS_SLIP && c->rows > 1;
        double d1 = s->d[2 * i], d2 = s->d[2 * i + 1];
        if (extract) {
            if (n > 0) x[0] = P[0];
            if (slip && n == 2) x[1] = -d2 * P[1] + d1 * P[2];
            for (int r = 1; !slip && r < n; ++r) x[r] = P[r];
        } else if (slip) {
            double t = c->mu * x[0], u = n == 2 ? x[1] : 0;
            P[0] = x[0], P[1] = t * d1 - u * d2;
            if (c->rows == 3) P[2] = t * d2 + u * d1;
        } else {
            for (int r = 0; r < c->rows; ++r) P[r] = r < n ? x[r] : 0;
        }
        x += n;
    }
}

// One Newton step with the decided statuses. The first solves for P, later ones for its
// correction, which refines away rounding.
static void small_step(Small* s, int n, bool first) {
    const LashFrictionProblem* p = s->p;
    double A[N * N], x[N], rhs[N], t[N];
    int32_t pivot[N];
    for (int i = 0, j = 0; i < p->contacts; ++i)
        for (int k = 0; k < small_unknowns(s->contact + i); ++k, ++j) {
            small_column(s, i, k, t);
            double* out = A + (size_t)j * (size_t)n;
            for (int a = 0; a < p->contacts; ++a) out += small_rows(s, a, t, out);
            if (k == 1 && s->contact[i].status == STATUS_SLIP)
                A[(size_t)j * (size_t)(n + 1)] += s->k[i];
        }
    const double* at = p->b;
    memset(x, 0, sizeof x);
    if (!first) {
        small_transfer(s, x, true);
        small_transfer(s, x, false);
        friction_velocity(p, s->P, s->U);
        at = s->U;
    }
    double* out = rhs;
    for (int a = 0, j = 0; a < p->contacts; ++a) {
        int rows = small_rows(s, a, at, out);
        if (rows == 2 && s->contact[a].status == STATUS_SLIP) out[1] += s->k[a] * x[j + 1];
        out += rows, j += rows;
    }
    for (int j = 0; j < n; ++j) rhs[j] = -rhs[j];
    double copy[N * N];
    memcpy(copy, A, (size_t)(n * n) * sizeof(double));
    if (lash_dense_lu(n, A, n, pivot) > RANK) {
        lash_dense_lu_solve(n, A, n, pivot, rhs);
        for (int j = 0; j < n; ++j) x[j] += rhs[j];
    } else {
        double work[N * N + 4 * N], dx[N];
        lash_dense_least_squares(n, n, copy, n, rhs, dx, 1e-10, work);
        for (int j = 0; j < n; ++j) x[j] += dx[j];
        s->singular = true;
    }
    small_transfer(s, x, false);
    s->iterations++;
}

static double small_newton(Small* s, int steps, double tolerance, bool at_least_one) {
    double residual = small_check(s);
    for (int k = 0; k < steps; ++k) {
        if (residual <= tolerance && (k > 0 || !at_least_one)) break;
        int n = small_decide(s);
        small_step(s, n, k == 0);
        residual = small_check(s);
        if (!(residual < INFINITY)) break;
    }
    return residual;
}

static void small_sweeps(Small* s, int sweeps) {
    const LashFrictionProblem* p = s->p;
    size_t ld = (size_t)p->ldw;
    if (!s->prepared)
        for (int i = 0; i < p->contacts; ++i)
            friction_local_prepare(s->contact + i, p->W + (size_t)s->contact[i].row * (ld + 1),
                                   p->ldw);
    s->prepared = true;
    memcpy(s->P, s->best_P, (size_t)p->m * sizeof(double));
    friction_velocity(p, s->P, s->U);
    for (int k = 0; k < sweeps; ++k)
        for (int i = 0; i < p->contacts; ++i) {
            LocalContact* c = s->contact + i;
            double q[3] = {0, 0, 0}, P[3] = {0, 0, 0};
            for (int r = 0; r < c->rows; ++r) P[r] = s->P[c->row + r];
            for (int r = 0; r < c->rows; ++r) {
                q[r] = s->U[c->row + r];
                for (int j = 0; j < c->rows; ++j) q[r] -= c->W[3 * j + r] * P[j];
            }
            friction_local(c, q, P);
            for (int j = 0; j < c->rows; ++j) {
                double change = P[j] - s->P[c->row + j];
                const double* w = p->W + (size_t)(c->row + j) * ld;
                if (change == 0) continue;
                for (int r = 0; r < p->m; ++r) s->U[r] += change * w[r];
                s->P[c->row + j] = P[j];
            }
        }
    s->iterations += sweeps;
}

// Without joints, P = 0 answers when no contact closes; it is also the smallest answer.
static bool all_open(const LashFrictionProblem* p) {
    for (int i = 0, row = 0; i < p->contacts; ++i) {
        uint8_t kind = friction_kind(p, i);
        if (kind == LASH_CONTACT_BILATERAL || p->b[row] < 0) return false;
        row += kind;
    }
    return true;
}

bool friction_small(const LashFrictionProblem* p, const LashFrictionSettings* set, double* P,
                    double* U, LashFrictionInfo* info) {
    static const int sweeps[] = {0, 6, 20, 60}, steps[] = {8, 8, 10, 12};
    *info = (LashFrictionInfo){LASH_CONVERGED, LASH_FRICTION_STATUS, 0, 0};
    if (all_open(p)) {
        memset(P, 0, (size_t)p->m * sizeof(double));
        memcpy(U, p->b, (size_t)p->m * sizeof(double));
        return true;
    }
    Small s;
    small_begin(&s, p, set, P, U);
    double residual = INFINITY;
    for (int k = 0; k < 4 && !(residual <= set->tolerance); ++k) {
        if (k > 0) small_sweeps(&s, sweeps[k]);
        residual = small_newton(&s, steps[k], set->tolerance, k == 0 && set->minimum_norm);
    }
    if (!(residual <= set->tolerance)) {
        memcpy(P, s.best_P, (size_t)p->m * sizeof(double));
        residual = small_check(&s);
    }
    info->iterations = s.iterations, info->residual = residual;
    if (!(residual <= set->tolerance)) return false;
    if (s.singular && set->minimum_norm) {
        double P_new[N], work[3 * N * N + 16 * N];
        LASH_ASSERT(friction_norm_size(N) <= sizeof work / sizeof work[0]);
        if (friction_minimum_norm(p, s.contact, s.scale, P, U, P_new, work)) {
            double P_old[N];
            memcpy(P_old, P, (size_t)p->m * sizeof(double));
            memcpy(P, P_new, (size_t)p->m * sizeof(double));
            info->residual = small_check(&s);
            if (!(info->residual <= set->tolerance)) { // rounding: the answer found stands
                memcpy(P, P_old, (size_t)p->m * sizeof(double));
                info->residual = small_check(&s);
            }
        }
    }
    return true;
}
