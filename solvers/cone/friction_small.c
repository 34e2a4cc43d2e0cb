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
#include "solvers/cone/friction_internal.h"
#include "solvers/linear/dense.h"

enum { N = LASH_SMALL_ROWS };
static const double RANK = 1e-11; // smallest over largest pivot of a regular system [-]

typedef struct Small {
    const LashFrictionProblem* p;
    bool plain, prepared, singular;
    double scale;            // 1 + |b|
    double threshold;        // of closing [m/s]
    LocalContact contact[N]; // block and inverse only once prepared
    int n;                   // unknowns; their rows are c1 row + c2 (row + 1), k on the diagonal
    int row[N];
    double c1[N], c2[N], k[N];
    double* P; // (m) current point and its velocity: the caller's
    double* U;
    double best_P[N], best;
    int iterations;
} Small;

static void small_begin(Small* s, const LashFrictionProblem* p, const LashFrictionSettings* set,
                        double* P, double* U) {
    s->p = p;
    s->P = P;
    s->U = U;
    s->plain = set->measure == LASH_MEASURE_PLAIN;
    s->prepared = s->singular = false;
    s->best = INFINITY;
    s->iterations = 0;
    memcpy(s->best_P, P, (size_t)p->m * sizeof(double));
    s->scale = friction_list_contacts(p, s->contact);
    s->threshold = 0.1 * (set->tolerance < 1e-10 ? set->tolerance : 1e-10) * s->scale;
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
    if (residual < 0.9 * s->best) // a little better by a huge P is not better
    {
        s->best = residual;
        memcpy(s->best_P, s->P, (size_t)p->m * sizeof(double));
    }
    return residual;
}

// Adds the unknown that belongs to the combination c1 row + c2 (row + 1) of rows.
static inline int small_row(Small* s, int n, int row, double c1, double c2) {
    s->row[n] = row;
    s->c1[n] = c1;
    s->c2[n] = c2;
    s->k[n] = 0;
    return n + 1;
}

// Statuses from (P, U); the rows of the reduced system and, for slip, direction and diagonal term.
// Returns the number of unknowns.
static int small_decide(Small* s) {
    int n = 0;
    for (int i = 0; i < s->p->contacts; ++i) {
        LocalContact* c = s->contact + i;
        const double *P = s->P + c->row, *U = s->U + c->row;
        c->status = (uint8_t)friction_status(c, s->threshold, P, U);
        if (c->status == STATUS_OPEN) continue;
        n = small_row(s, n, c->row, 1, 0);
        if (c->status == STATUS_STICK) {
            for (int r = 1; r < c->rows; ++r) n = small_row(s, n, c->row + r, 1, 0);
        } else if (c->rows == 2 || c->mu == 0) {
            c->d[0] = P[1] - U[1] / c->lambda > 0 ? 1 : -1;
            c->d[1] = 0;
        } else {
            double rho = 1 / c->lambda, z1 = P[1] - rho * U[1], z2 = P[2] - rho * U[2];
            double z = sqrt(z1 * z1 + z2 * z2), push = c->mu * (P[0] - rho * U[0]);
            c->d[0] = z1 / z;
            c->d[1] = z2 / z;
            n = small_row(s, n, c->row + 1, -c->d[1], c->d[0]);
            s->k[n - 1] = (z - push) / (rho * push);
        }
    }
    s->n = n;
    return n;
}

// The rows of the reduced system, from the rows t (m + 1).
static inline void small_rows(const Small* s, const double* t, double* out) {
    for (int r = 0; r < s->n; ++r) out[r] = s->c1[r] * t[s->row[r]] + s->c2[r] * t[s->row[r] + 1];
}

static inline int small_unknowns(const LocalContact* c) {
    if (c->status == STATUS_OPEN) return 0;
    if (c->status == STATUS_STICK) return c->rows;
    return c->rows == 2 || c->mu == 0 ? 1 : 2;
}

// A = F' W E + D
static void small_assemble(const Small* s, double* A) {
    const LashFrictionProblem* p = s->p;
    size_t ld = (size_t)p->ldw;
    double t[N + 1];
    t[p->m] = 0;
    for (int i = 0, j = 0; i < p->contacts; ++i) {
        const LocalContact* c = s->contact + i;
        int n = small_unknowns(c);
        const double* w = p->W + (size_t)c->row * ld;
        for (int k = 0; k < n; ++k, ++j) {
            double a0 = 1 - k, a1 = 0, a2 = 0; // slip: weights of the contact's columns
            const double *w0 = w, *w1 = w, *w2 = w;
            if (c->status == STATUS_STICK) {
                a0 = 1;
                w0 = w + (size_t)k * ld;
            } else if (c->rows > 1 && c->mu > 0) {
                a1 = k == 0 ? c->mu * c->d[0] : -c->d[1];
                a2 = k == 0 ? c->mu * c->d[1] : c->d[0];
                w1 = w + ld;
                w2 = c->rows == 3 ? w1 + ld : w1;
            }
            for (int r = 0; r < p->m; ++r) t[r] = a0 * w0[r] + (a1 * w1[r] + a2 * w2[r]);
            small_rows(s, t, A + j * N);
            for (int r = s->n; r % 4 != 0; ++r) A[j * N + r] = 0; // what fills the last four
            A[j * (N + 1)] += s->k[j];
        }
    }
}

// x (unknowns) of the current P, when extract; P = E x, when not.
static void small_transfer(Small* s, double* x, bool extract) {
    for (int i = 0; i < s->p->contacts; ++i) {
        const LocalContact* c = s->contact + i;
        double* P = s->P + c->row;
        int n = small_unknowns(c);
        bool slip = c->status == STATUS_SLIP && c->rows > 1;
        double d1 = c->d[0], d2 = c->d[1];
        if (extract) {
            if (n > 0) x[0] = P[0];
            if (slip && n == 2) x[1] = -d2 * P[1] + d1 * P[2];
            for (int r = 1; !slip && r < n; ++r) x[r] = P[r];
        } else if (slip) {
            double t = c->mu * x[0], u = n == 2 ? x[1] : 0;
            P[0] = x[0];
            P[1] = t * d1 - u * d2;
            if (c->rows == 3) P[2] = t * d2 + u * d1;
        } else {
            for (int r = 0; r < c->rows; ++r) P[r] = r < n ? x[r] : 0;
        }
        x += n;
    }
}

// A = L U without exchanges, in place: the symmetric part of a reduced W is nearly always positive
// definite. Columns have leading dimension N; four rows at a time, multipliers of finished rows
// are zero. Returns false when a pivot says otherwise.
static bool small_lu(int n, double* restrict A) {
    double l[N] __attribute__((aligned(32))) = {0}, largest = 0;
    for (int k = 0; k < n; ++k) largest = A[k * (N + 1)] > largest ? A[k * (N + 1)] : largest;
    for (int k = 0; k < n; ++k) {
        double* restrict c = A + k * N;
        if (!(c[k] > RANK * largest)) return false;
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

// Solves A x = rhs in place; least squares, and false, when A is singular.
static bool small_solve(const Small* s, int n, double* A, double* rhs) {
    if (small_lu(n, A)) {
        small_lu_solve(n, A, rhs);
        return true;
    }
    double x[N], work[N * N + 4 * N];
    int32_t pivot[N];
    small_assemble(s, A);
    if (lash_dense_lu(n, A, N, pivot) > RANK) {
        lash_dense_lu_solve(n, A, N, pivot, rhs);
        return true;
    }
    small_assemble(s, A);
    lash_dense_least_squares(n, n, A, N, rhs, x, 1e-10, work);
    memcpy(rhs, x, (size_t)n * sizeof(double));
    return false;
}

// One Newton step with the decided statuses. The first solves for P, later ones for its
// correction, which refines away rounding.
static void small_step(Small* s, int n, bool first) {
    const LashFrictionProblem* p = s->p;
    double A[N * N] __attribute__((aligned(32))), x[N] = {0}, rhs[N], t[N + 1];
    small_assemble(s, A);
    if (first) {
        memcpy(t, p->b, (size_t)p->m * sizeof(double));
    } else {
        small_transfer(s, x, true);
        small_transfer(s, x, false);
        friction_velocity(p, s->P, t);
    }
    t[p->m] = 0;
    small_rows(s, t, rhs);
    for (int j = 0; j < n; ++j) rhs[j] = -rhs[j] - s->k[j] * x[j];
    if (!small_solve(s, n, A, rhs)) s->singular = true;
    for (int j = 0; j < n; ++j) x[j] += rhs[j];
    small_transfer(s, x, false);
    s->iterations++;
}

// Newton from the current point. In a hurry it stops when a step does not help much.
static double small_newton(Small* s, int steps, double tolerance, bool hurry, bool at_least_one) {
    double residual = small_check(s), before;
    for (int k = 0; k < steps; ++k) {
        if (residual <= tolerance && (k > 0 || !at_least_one)) break;
        int n = small_decide(s);
        small_step(s, n, k == 0);
        double largest = 0;
        for (int i = 0; i < s->p->contacts; ++i) {
            double size = fabs(s->P[s->contact[i].row]) * s->contact[i].lambda;
            largest = size > largest ? size : largest;
        }
        if (!(largest <= LASH_LARGEST_GAIN * s->scale)) return INFINITY;
        before = residual;
        residual = small_check(s);
        if (hurry && residual > 0.2 * before) break;
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
    friction_sweep(p, s->contact, sweeps, p->contacts == 1 ? 1e-8 : LASH_SWEEP_ANGLE, s->P, s->U);
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
    static const int sweeps[] = {0, 3, 6, 20, 60}, steps[] = {8, 6, 8, 10, 12};
    *info = (LashFrictionInfo){LASH_CONVERGED, LASH_FRICTION_STATUS, 0, 0};
    if (all_open(p)) {
        memset(P, 0, (size_t)p->m * sizeof(double));
        memcpy(U, p->b, (size_t)p->m * sizeof(double));
        return true;
    }
    Small s;
    small_begin(&s, p, set, P, U);
    double residual = INFINITY;
    for (int k = p->contacts == 1; k < 5 && !(residual <= set->tolerance); ++k) {
        if (k > 0) small_sweeps(&s, p->contacts == 1 ? 1 : sweeps[k]);
        residual = small_newton(&s, steps[k], set->tolerance, k == 0, k == 0 && set->minimum_norm);
    }
    if (!(residual <= set->tolerance)) {
        memcpy(P, s.best_P, (size_t)p->m * sizeof(double));
        residual = small_check(&s);
    }
    info->iterations = s.iterations;
    info->residual = residual;
    if (!(residual <= set->tolerance)) return false;
    if (set->minimum_norm && (s.singular || friction_touching(p, s.contact, s.scale, P, U))) {
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
