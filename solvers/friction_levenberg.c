// Friction problems inside the Newton iteration of a step: semismooth Newton with least squares.
//
// Two end circles of a pin, or four corners of a foot, give rows that depend on each other: W is
// singular, and away from the solution of the step its linearised rows contradict each other a
// little, so that no P meets them all. In the reduced form of friction_small.c,
// J = F' W E + D, each step is therefore the one of Levenberg and Marquardt,
//
//     min |J dx + r|^2 + delta^2 |dx|^2      (rows and unknowns in units of each contact's lambda)
//
// with delta between what is rank and what is rounding: contradictions are met halfway, and P
// changes no more than it must, so that what redundant rows leave open stays as it is from step to
// step. J and its factor are kept while W and the statuses stay the same. Where the steps do not
// come near an answer, sweeps of Gauss and Seidel find better statuses. The caller judges what is
// left.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/dense.h"
#include "solvers/friction_internal.h"

static const double DELTA = 1e-6; // [-]

typedef struct Levenberg {
    const LashFrictionProblem* p;
    LocalContact* contact;
    double scale;               // 1 + |b|
    int k, ld;                  // unknowns; leading dimension: a multiple of 8, padded with zeros
    double *J, *N;              // (ld x k) by columns; factor of J J' + delta^2, by rows
    double *c1, *c2, *D, *unit; // (m) rows: c1 row + c2 (row + 1); diagonal term; 1/sqrt(lambda)
    int32_t* row;               // (m)
    double *t, *x, *r;          // (m + 8)
    double* inverse;            // (m) of the diagonal of the factor
    double *best_P, *start;     // (m)
    // What J and its factor were made for: kept from call to call while W stays the same.
    uint64_t matrix;
    uint8_t* factored; // (contacts) statuses
    bool valid;
} Levenberg;

size_t friction_levenberg_size(int contacts, int m) {
    size_t n = (size_t)lash_dense_padded(m) + 8, c = (size_t)contacts;
    size_t bytes = sizeof(Levenberg) + c * (sizeof(LocalContact) + 1) + n * sizeof(int32_t);
    return 2 * n * n + 13 * n + bytes / 8 + 24;
}

// The state lives at the beginning of the work, which is laid out anew where the size changes.
static Levenberg* begin(const LashFrictionProblem* p, uint64_t matrix, double* work) {
    Levenberg* s = (Levenberg*)work;
    size_t n = (size_t)lash_dense_padded(p->m) + 8;
    s->valid = matrix != 0 && s->matrix == matrix && s->valid;
    s->matrix = matrix;
    s->p = p;
    work = lash_dense_aligned(work + (sizeof *s + 7) / 8);
    s->J = work, work += n * n;
    s->N = work, work += n * n;
    double** vector[] = {&s->c1, &s->c2, &s->D,      &s->unit,  &s->t,
                         &s->x,  &s->r,  &s->best_P, &s->start, &s->inverse};
    for (size_t i = 0; i < sizeof vector / sizeof vector[0]; ++i) *vector[i] = work, work += n;
    s->contact = (LocalContact*)work, work += ((size_t)p->contacts * sizeof(LocalContact) + 7) / 8;
    s->row = (int32_t*)work, work += (n + 1) / 2;
    s->factored = (uint8_t*)work;
    s->scale = friction_list_contacts(p, s->contact);
    return s;
}

// U = W P + b, or into t, which is padded
static void velocity(const Levenberg* s, const double* P, double* U) {
    const LashFrictionProblem* p = s->p;
    if (p->ldw % 8 != 0) {
        friction_velocity(p, P, U);
        return;
    }
    lash_dense_sum_rows(p->ldw, p->m, P, 1, p->W, p->ldw, s->t);
    for (int i = 0; i < p->m; ++i) U[i] = s->t[i] + p->b[i];
}

static double check(const Levenberg* s, const double* P, double* U) {
    velocity(s, P, U);
    double worst = 0;
    for (int i = 0; i < s->p->contacts; ++i) {
        const LocalContact* c = s->contact + i;
        double r = friction_natural(c->kind, c->mu, 1 / c->lambda, P + c->row, U + c->row);
        r *= c->lambda;
        if (!(r <= worst)) worst = r;
    }
    return worst / s->scale;
}

static void add_row(Levenberg* s, const LocalContact* c, int row, double c1, double c2, double D) {
    int k = s->k++;
    double unit = 1 / sqrt(c->lambda);
    s->row[k] = row, s->c1[k] = c1 * unit, s->c2[k] = c2 * unit, s->D[k] = D, s->unit[k] = unit;
}

// Statuses from (P, U), as friction_small.c; the rows of the reduced system.
static void decide(Levenberg* s, double threshold, const double* P_all, const double* U_all) {
    s->k = 0;
    for (int i = 0; i < s->p->contacts; ++i) {
        LocalContact* c = s->contact + i;
        const double *P = P_all + c->row, *U = U_all + c->row;
        c->status = (uint8_t)friction_status(c, threshold, P, U);
        if (c->status == STATUS_OPEN) continue;
        add_row(s, c, c->row, 1, 0, 0);
        if (c->status == STATUS_STICK) {
            for (int r = 1; r < c->rows; ++r) add_row(s, c, c->row + r, 1, 0, 0);
        } else if (c->rows == 2 || c->mu == 0) {
            c->d[0] = c->rows > 1 && P[1] - U[1] / c->lambda > 0 ? 1 : -1, c->d[1] = 0;
        } else {
            double rho = 1 / c->lambda, z1 = P[1] - rho * U[1], z2 = P[2] - rho * U[2];
            double z = sqrt(z1 * z1 + z2 * z2), push = c->mu * (P[0] - rho * U[0]);
            c->d[0] = z1 / z, c->d[1] = z2 / z;
            add_row(s, c, c->row + 1, -c->d[1], c->d[0], (z - push) / (rho * push));
        }
    }
    s->ld = lash_dense_padded(s->k);
}

static int unknowns(const LocalContact* c) {
    if (c->status == STATUS_OPEN) return 0;
    if (c->status == STATUS_STICK) return c->rows;
    return c->rows == 2 || c->mu == 0 ? 1 : 2;
}

// t (m) = a0 w0 + a1 w1 + a2 w2
LASH_VECTOR_CLONES static void combine(int m, double a0, const double* w0, double a1,
                                       const double* w1, double a2, const double* w2,
                                       double* restrict t) {
    for (int r = 0; r < m; ++r) t[r] = a0 * w0[r] + (a1 * w1[r] + a2 * w2[r]);
}

// out (k) = c1 t_row + c2 t_row+1
LASH_VECTOR_CLONES static void gather_rows(int k, const double* c1, const double* c2,
                                           const int32_t* row, const double* t,
                                           double* restrict out) {
    for (int r = 0; r < k; ++r) out[r] = c1[r] * t[row[r]] + c2[r] * t[row[r] + 1];
}

static void reduce_rows(const Levenberg* s, const double* t, double* out) {
    gather_rows(s->k, s->c1, s->c2, s->row, t, out);
}

static void assemble(Levenberg* s) {
    const LashFrictionProblem* p = s->p;
    size_t ld = (size_t)p->ldw;
    int j = 0;
    s->t[p->m] = 0;
    for (int i = 0; i < p->contacts; ++i) {
        const LocalContact* c = s->contact + i;
        const double* w = p->W + (size_t)c->row * ld;
        for (int k = 0; k < unknowns(c); ++k, ++j) {
            double* column = s->J + (size_t)j * (size_t)s->ld;
            double a0 = 1 - k, a1 = 0, a2 = 0;
            const double *w0 = w, *w1 = w, *w2 = w;
            if (c->status == STATUS_STICK) {
                a0 = 1, w0 = w + (size_t)k * ld;
            } else if (c->rows > 1 && c->mu > 0) {
                a1 = k == 0 ? c->mu * c->d[0] : -c->d[1], a2 = k == 0 ? c->mu * c->d[1] : c->d[0];
                w1 = w + ld, w2 = c->rows == 3 ? w1 + ld : w1;
            }
            double u = s->unit[j];
            combine(p->m, u * a0, w0, u * a1, w1, u * a2, w2, s->t);
            reduce_rows(s, s->t, column);
            for (int r = s->k; r < s->ld; ++r) column[r] = 0;
            column[j] += s->D[j] * u * u;
        }
    }
}

// x (scaled unknowns) of P, when extract; P = E x, when not.
static void transfer(const Levenberg* s, double* x, double* P_all, bool extract) {
    const double* unit = s->unit;
    for (int i = 0; i < s->p->contacts; ++i) {
        const LocalContact* c = s->contact + i;
        double* P = P_all + c->row;
        int n = unknowns(c);
        bool slip = c->status == STATUS_SLIP && c->rows > 1;
        double d1 = c->d[0], d2 = c->d[1];
        if (extract) {
            if (n > 0) x[0] = P[0] / unit[0];
            if (slip && n == 2) x[1] = (-d2 * P[1] + d1 * P[2]) / unit[1];
            for (int r = 1; !slip && r < n; ++r) x[r] = P[r] / unit[r];
        } else if (slip) {
            double t = c->mu * x[0] * unit[0], u = n == 2 ? x[1] * unit[1] : 0;
            P[0] = x[0] * unit[0], P[1] = t * d1 - u * d2;
            if (c->rows == 3) P[2] = t * d2 + u * d1;
        } else {
            for (int r = 0; r < c->rows; ++r) P[r] = r < n ? x[r] * unit[r] : 0;
        }
        x += n, unit += n;
    }
}

// J and its factor for the present statuses. Those at hand will do where only the directions of
// sliding have turned since.
static bool renew(Levenberg* s, bool again) {
    bool same = s->valid && !again;
    for (int i = 0; i < s->p->contacts; ++i) same = same && s->factored[i] == s->contact[i].status;
    if (same) return true;
    assemble(s);
    s->valid = lash_dense_gram_factor(s->k, s->ld, s->J, DELTA * DELTA, s->N, s->inverse);
    for (int i = 0; i < s->p->contacts; ++i) s->factored[i] = s->contact[i].status;
    return s->valid;
}

// One step from P, or from nothing: the smallest P that the statuses allow.
static bool step(Levenberg* s, bool again, bool from_nothing, double* P) {
    int k = s->k;
    if (!renew(s, again)) return false;
    transfer(s, s->x, P, true);
    for (int j = 0; j < k && from_nothing; ++j) s->x[j] = 0;
    transfer(s, s->x, P, false);
    velocity(s, P, s->t);
    s->t[s->p->m] = 0;
    reduce_rows(s, s->t, s->r);
    for (int j = 0; j < k; ++j) s->r[j] += s->D[j] * s->unit[j] * s->unit[j] * s->x[j];
    for (int j = k; j < s->ld; ++j) s->r[j] = 0;
    lash_dense_upper_solve(k, s->ld, s->N, s->inverse, s->r);
    lash_dense_multiply_rows(k, s->ld, s->J, s->ld, s->r, s->t); // dx = -J' (J J' + delta^2)^-1 r
    for (int j = 0; j < k; ++j) s->x[j] -= s->t[j];
    transfer(s, s->x, P, false);
    return true;
}

// Newton steps from P until they no longer help. Returns the best residual; P and U are there.
static double newton(Levenberg* s, int max_steps, double tolerance, double enough, bool smallest,
                     double* P, double* U, int* iterations) {
    enum { PATIENCE = 8 };
    size_t bytes = (size_t)s->p->m * sizeof(double);
    double threshold = 0.1 * fmin(tolerance, 1e-10) * s->scale;
    double residual = check(s, P, U), best = residual;
    bool cold = true, again = false;
    for (int i = 0; i < s->p->m; ++i) cold = cold && P[i] == 0;
    memcpy(s->best_P, P, bytes);
    for (int k = 0, idle = 0; k < max_steps && idle < PATIENCE; ++k) {
        if (best <= (k == 0 ? tolerance : enough) && !(smallest && k == 0)) break;
        decide(s, k == 0 && cold ? -threshold : threshold, P, U);
        if (!step(s, again, smallest && k == 0, P)) break;
        double before = residual;
        residual = check(s, P, U);
        again = residual > 0.1 * before;
        ++*iterations;
        if (!(residual < INFINITY)) break;
        idle = residual < 0.5 * best ? 0 : idle + 1;
        if (residual < best || (smallest && k == 0 && residual <= tolerance)) {
            best = residual;
            memcpy(s->best_P, P, bytes);
        }
    }
    memcpy(P, s->best_P, bytes);
    return check(s, P, U);
}

LashFrictionInfo friction_levenberg(const LashFrictionProblem* p, uint64_t matrix, double tolerance,
                                    double enough, bool smallest, double* P, double* U,
                                    double* work) {
    static const int sweeps[] = {0, 10};
    enum { ATTEMPTS = sizeof sweeps / sizeof sweeps[0] };
    LASH_ASSERT(p->W != NULL);
    LashFrictionInfo info = {LASH_INACCURATE, LASH_FRICTION_NEWTON, 0, INFINITY};
    Levenberg* s = begin(p, matrix, work);
    memcpy(s->start, P, (size_t)p->m * sizeof *P);
    enough = fmax(tolerance, enough);
    for (int k = 0; k < ATTEMPTS && !(info.residual <= enough); ++k) {
        for (int i = 0; i < p->contacts && k == 1; ++i)
            friction_local_prepare(s->contact + i,
                                   p->W + (size_t)s->contact[i].row * (size_t)(p->ldw + 1), p->ldw);
        if (sweeps[k] > 0) friction_sweep(p, s->contact, sweeps[k], LASH_SWEEP_ANGLE, P, U);
        info.iterations += sweeps[k];
        info.residual =
            newton(s, 20, tolerance, enough, smallest && k == 0, P, U, &info.iterations);
        if (!(info.residual < INFINITY)) memcpy(P, s->start, (size_t)p->m * sizeof *P);
    }
    if (info.residual <= enough) info.outcome = LASH_CONVERGED;
    if (!(info.residual < INFINITY)) info.outcome = LASH_FAILED;
    return info;
}
