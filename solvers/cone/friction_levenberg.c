// Friction problems inside the Newton iteration of a step: semismooth Newton with least squares.
//
// Two end circles of a pin, or four corners of a foot, give rows that depend on each other: W is
// singular, and away from the solution of the step its linearised rows contradict each other a
// little, so that no P meets them all. In the reduced form of friction_small.c,
// J = F' W E + D, each step is therefore the one of Levenberg and Marquardt,
//
//     min |J dx + r|^2 + delta^2 |dx|^2      (rows over each contact's lambda: impulses)
//
// with delta between what is rank and what is rounding: contradictions are met halfway. J and its
// factor are kept while W and the statuses stay the same. Where the steps do not come near an
// answer, sweeps of Gauss and Seidel find better statuses. The caller judges what is left.
//
// What dependent rows leave open is not free: P is to be the smallest. From a start at x = 0 it is, since x
// then stays in the row space of J. From any other P the answer is moved along the null space of J, as far
// as no contact has to pull and none leaves its cone:
//
//     x <- x - alpha n,    n = x - J' (J J' + delta^2)^-1 J x,    0 <= alpha <= 1
//
// A contact that loses its load on the way is open from then on, and the next step goes on without it. This
// also ends a squeeze between two faces without play, where P decides about sliding: it has no load to keep.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/cone/friction_internal.h"
#include "solvers/linear/dense.h"

static const double DELTA = 1e-6; // [-]
// A row of J whose part independent of the rows before it is below this many DELTA lacks rank: ten
// times what the shift itself leaves of a dependent one.
static const double DEPENDENT = 10;

typedef struct Levenberg {
    const LashFrictionProblem* p;
    LocalContact* contact;
    double scale;           // 1 + |b|
    double threshold;       // of closing [m/s]
    int k, ld;              // unknowns; leading dimension: a multiple of 8, padded with zeros
    double *J, *N;          // (ld x k) by columns; factor of J J' + delta^2, by rows
    double *c1, *c2, *D;    // (m) rows: c1 row + c2 (row + 1); diagonal term, all over lambda
    double* n;              // (m) part of x in the null space of J
    int32_t* row;           // (m)
    double *t, *x, *r;      // (m + 8)
    double* inverse;        // (m) of the diagonal of the factor
    double *best_P, *start; // (m)
    double* kept;           // (m) before it is shrunk
    // What J and its factor were made for: kept from call to call while W stays the same.
    uint64_t matrix;
    uint8_t* factored; // (contacts) statuses
    bool valid;
    bool deficient; // J of the latest factor lacks rank
    int wait; // passes before the next start from nothing is tried: the last one found no answer
    bool hopeless; // none is tried in this pass
} Levenberg;

size_t friction_levenberg_size(int contacts, int m) {
    size_t n = (size_t)lash_dense_padded(m) + 8, c = (size_t)contacts;
    size_t bytes = sizeof(Levenberg) + c * (sizeof(LocalContact) + 1) + n * sizeof(int32_t);
    return 2 * n * n + 14 * n + bytes / 8 + 24;
}

// The state lives at the beginning of the work, which is laid out anew where the size changes.
static Levenberg* begin(const LashFrictionProblem* p, uint64_t matrix, double* work) {
    Levenberg* s = (Levenberg*)work;
    size_t n = (size_t)lash_dense_padded(p->m) + 8;
    s->valid = matrix != 0 && s->matrix == matrix && s->valid;
    s->matrix = matrix;
    s->p = p;
    work = lash_dense_aligned(work + (sizeof *s + 7) / 8);
    s->J = work;
    work += n * n;
    s->N = work;
    work += n * n;
    double** vector[] = {&s->c1, &s->c2,     &s->D,     &s->n,       &s->t,   &s->x,
                         &s->r,  &s->best_P, &s->start, &s->inverse, &s->kept};
    for (size_t i = 0; i < sizeof vector / sizeof vector[0]; ++i) {
        *vector[i] = work;
        work += n;
    }
    s->contact = (LocalContact*)work;
    work += ((size_t)p->contacts * sizeof(LocalContact) + 7) / 8;
    s->row = (int32_t*)work;
    work += (n + 1) / 2;
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
    double unit = 1 / c->lambda;
    s->row[k] = row;
    s->c1[k] = c1 * unit;
    s->c2[k] = c2 * unit;
    s->D[k] = D * unit;
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
            c->d[0] = c->rows > 1 && P[1] - U[1] / c->lambda > 0 ? 1 : -1;
            c->d[1] = 0;
        } else {
            double rho = 1 / c->lambda, z1 = P[1] - rho * U[1], z2 = P[2] - rho * U[2];
            double z = sqrt(z1 * z1 + z2 * z2), push = c->mu * (P[0] - rho * U[0]);
            c->d[0] = z1 / z;
            c->d[1] = z2 / z;
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
                a0 = 1;
                w0 = w + (size_t)k * ld;
            } else if (c->rows > 1 && c->mu > 0) {
                a1 = k == 0 ? c->mu * c->d[0] : -c->d[1];
                a2 = k == 0 ? c->mu * c->d[1] : c->d[0];
                w1 = w + ld;
                w2 = c->rows == 3 ? w1 + ld : w1;
            }
            combine(p->m, a0, w0, a1, w1, a2, w2, s->t);
            reduce_rows(s, s->t, column);
            for (int r = s->k; r < s->ld; ++r) column[r] = 0;
            column[j] += s->D[j];
        }
    }
}

// x (unknowns) of P, when extract; P = E x, when not.
static void transfer(const Levenberg* s, double* x, double* P_all, bool extract) {
    for (int i = 0; i < s->p->contacts; ++i) {
        const LocalContact* c = s->contact + i;
        double* P = P_all + c->row;
        int n = unknowns(c);
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

// Are the statuses those of the factor at hand?
static bool same_statuses(const Levenberg* s) {
    bool same = s->valid;
    for (int i = 0; i < s->p->contacts; ++i) same = same && s->factored[i] == s->contact[i].status;
    return same;
}

// J and its factor for the present statuses. Those at hand will do where only the directions of
// sliding have turned since.
static bool renew(Levenberg* s, bool again) {
    if (!again && same_statuses(s)) return true;
    assemble(s);
    s->valid = lash_dense_gram_factor(s->k, s->ld, s->J, DELTA * DELTA, s->N, s->inverse);
    for (int i = 0; i < s->p->contacts; ++i) s->factored[i] = s->contact[i].status;
    double largest = 0; // of the factor's inverse diagonal
    for (int j = 0; j < s->k; ++j) largest = fmax(largest, s->inverse[j]);
    s->deficient = largest * DEPENDENT * DELTA > 1;
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
    for (int j = 0; j < k; ++j) s->r[j] += s->D[j] * s->x[j];
    for (int j = k; j < s->ld; ++j) s->r[j] = 0;
    lash_dense_upper_solve(k, s->ld, s->N, s->inverse, s->r);
    lash_dense_multiply_rows(k, s->ld, s->J, s->ld, s->r, s->t); // dx = -J' (J J' + delta^2)^-1 r
    for (int j = 0; j < k; ++j) s->x[j] -= s->t[j];
    transfer(s, s->x, P, false);
    return true;
}

// The largest part of n, up to 1, that x can lose at one contact: P_N >= 0, and inside the cone if it sticks.
static double room(const LocalContact* c, int unknowns, const double* x, const double* n) {
    double most = n[0] > x[0] ? x[0] / n[0] : 1;
    if (c->status != STATUS_STICK || unknowns < 2) return most > 0 ? most : 0;
    // |x_T - a n_T|^2 <= mu^2 (x_N - a n_N)^2: where it ends, A a^2 - 2 B a + C = 0
    double mu2 = c->mu * c->mu, A = -mu2 * n[0] * n[0], B = -mu2 * x[0] * n[0],
           C = -mu2 * x[0] * x[0];
    for (int r = 1; r < unknowns; ++r) {
        A += n[r] * n[r];
        B += x[r] * n[r];
        C += x[r] * x[r];
    }
    if (!(C < 0)) return 0; // on the cone already
    double root = B * B - A * C;
    double down = root > 0 ? sqrt(root) - B : 0; // the first a above 0, if any, is -C / down
    return down > 0 && -C < most * down ? -C / down : most;
}

// n (k) <- the part of it in the null space of J
static void project(Levenberg* s, double* n) {
    int k = s->k, ld = s->ld;
    lash_dense_sum_rows(ld, k, n, 1, s->J, ld, s->r); // J n
    for (int j = k; j < ld; ++j) s->r[j] = 0;
    lash_dense_upper_solve(k, ld, s->N, s->inverse, s->r);
    lash_dense_multiply_rows(k, ld, s->J, ld, s->r, s->t);
    for (int j = 0; j < k; ++j) n[j] -= s->t[j];
}

// Steps of a start from nothing that is only tried; passes before it is tried again where it failed. P would
// jump between two answers if every other pass failed.
enum { TRIES = 4, LONGEST_WAIT = 16 };

typedef struct Aim {
    double tolerance, enough; // of the residual: at the start, after a step
    FrictionStart start;
    bool
        strict; // from nothing: no other answer will do, nor one that needs other contacts to stick or slide
    int max_steps;
} Aim;

// Did contacts only open since the latest factor was made?
static bool only_opened(const Levenberg* s) {
    for (int i = 0; i < s->p->contacts; ++i) {
        uint8_t status = s->contact[i].status;
        if (status != s->factored[i] && status != STATUS_OPEN) return false;
    }
    return true;
}

// Newton steps from P until they no longer help. Returns the best residual; P and U are there.
static double newton(Levenberg* s, Aim aim, double* P, double* U, int* iterations) {
    enum { PATIENCE = 8 };
    size_t bytes = (size_t)s->p->m * sizeof(double);
    double residual = check(s, P, U), best = aim.strict ? INFINITY : residual;
    bool cold = true, again = false, nothing = aim.start == FRICTION_FROM_NOTHING;
    for (int i = 0; i < s->p->m; ++i) cold = cold && P[i] == 0;
    memcpy(s->best_P, P, bytes);
    for (int k = 0, idle = 0; k < aim.max_steps && idle < PATIENCE; ++k) {
        bool first = k == 0 && nothing;
        if (best <= (k == 0 ? aim.tolerance : aim.enough) && !first) break;
        decide(s, k == 0 && cold ? -s->threshold : s->threshold, P, U);
        bool anew = first || (nothing && s->deficient && !same_statuses(s));
        if (anew && !first && aim.strict && !only_opened(s)) break;
        if (!step(s, again, anew, P)) break;
        double before = residual;
        residual = check(s, P, U);
        again = residual > 0.1 * before;
        ++*iterations;
        if (!(residual < INFINITY)) break;
        idle = residual < 0.5 * best ? 0 : idle + 1;
        if (residual < best || (anew && residual <= aim.enough)) {
            best = residual;
            memcpy(s->best_P, P, bytes);
        }
    }
    memcpy(P, s->best_P, bytes);
    return check(s, P, U);
}

// One move of P along the null space, and whether a contact lost its load on the way: then there may be more.
typedef enum Moved { NOT_MOVED, MOVED, MOVED_AND_OPENED } Moved;
static Moved move(Levenberg* s, double* P, double* U) {
    static const double NEGLIGIBLE = 1e-12; // of |x|^2: nothing is open
    decide(s, s->threshold, P, U);
    if (!renew(s, false) || !s->deficient) return NOT_MOVED;
    double alpha = 1, x2 = 0, n2 = 0;
    int last = -1; // contact that ends the way
    transfer(s, s->x, P, true);
    memcpy(s->n, s->x, (size_t)s->k * sizeof *s->n);
    project(s, s->n);
    for (int j = 0; j < s->k; ++j) {
        x2 += s->x[j] * s->x[j];
        n2 += s->n[j] * s->n[j];
    }
    if (n2 <= NEGLIGIBLE * x2) return NOT_MOVED;
    project(s, s->n); // once more: delta leaves a little of the weakest rows
    for (int i = 0, at = 0; i < s->p->contacts; at += unknowns(s->contact + i), ++i) {
        const LocalContact* c = s->contact + i;
        if (c->status == STATUS_OPEN) continue;
        double limit = room(c, unknowns(c), s->x + at, s->n + at);
        if (limit >= alpha) continue;
        alpha = limit;
        last = i;
    }
    if (alpha == 0) return NOT_MOVED;
    for (int j = 0; j < s->k; ++j) s->x[j] -= alpha * s->n[j];
    double before = last < 0 ? 0 : P[s->contact[last].row];
    transfer(s, s->x, P, false);
    if (last < 0) return MOVED;
    double* P_last = P + s->contact[last].row;
    if (P_last[0] > 1e-12 * before) return MOVED; // its cone ends the way
    for (int r = 0; r < s->contact[last].rows; ++r) P_last[r] = 0;
    return MOVED_AND_OPENED;
}

// P without what the rows leave open. Newton mends what a finite move along the null space spoils; where it
// does not, P stays as it was. Returns the residual.
static double shrink(Levenberg* s, double residual, double enough, double* P, double* U,
                     int* iterations) {
    enum { MOVES = 8, STEPS = 6 };
    size_t bytes = (size_t)s->p->m * sizeof *P;
    bool moved = false;
    memcpy(s->kept, P, bytes);
    for (int k = 0; k < MOVES; ++k) {
        Moved how = move(s, P, U);
        moved = moved || how != NOT_MOVED;
        if (how != MOVED_AND_OPENED) break;
        velocity(s, P, U);
    }
    if (!moved) return residual;
    double after = newton(s, (Aim){enough, enough, FRICTION_WARM, false, STEPS}, P, U, iterations);
    if (after <= enough) return after;
    memcpy(P, s->kept, bytes);
    return check(s, P, U);
}

// Where J lacks rank: the answer from nothing, if it is found soon. Otherwise P is as before.
static bool answer_from_nothing(Levenberg* s, double tolerance, double enough, double* P, double* U,
                                LashFrictionInfo* info) {
    Aim aim = {tolerance, enough, FRICTION_FROM_NOTHING, true, TRIES};
    double residual = newton(s, aim, P, U, &info->iterations);
    if (residual <= enough) {
        info->residual = residual;
        return true;
    }
    s->hopeless = true;
    s->wait = LONGEST_WAIT;
    memcpy(P, s->start, (size_t)s->p->m * sizeof *P);
    return false;
}

LashFrictionInfo friction_levenberg(const LashFrictionProblem* p, uint64_t matrix, double tolerance,
                                    double enough, FrictionStart start, double* P, double* U,
                                    double* work) {
    static const int sweeps[] = {0, 10};
    enum { ATTEMPTS = sizeof sweeps / sizeof sweeps[0] };
    LASH_ASSERT(p->W != NULL);
    LashFrictionInfo info = {LASH_INACCURATE, LASH_FRICTION_NEWTON, 0, INFINITY};
    Levenberg* s = begin(p, matrix, work);
    memcpy(s->start, P, (size_t)p->m * sizeof *P);
    enough = fmax(tolerance, enough);
    bool begins = start == FRICTION_SHRUNK || start == FRICTION_FROM_NOTHING;
    if (begins && s->wait > 0) --s->wait;
    if (begins) s->hopeless = s->wait > 0;
    s->threshold = 0.1 * fmin(tolerance, 1e-10) * s->scale;
    for (int k = 0; k < ATTEMPTS && !(info.residual <= enough); ++k) {
        for (int i = 0; i < p->contacts && k == 1; ++i)
            friction_local_prepare(s->contact + i,
                                   p->W + (size_t)s->contact[i].row * (size_t)(p->ldw + 1), p->ldw);
        if (sweeps[k] > 0) friction_sweep(p, s->contact, sweeps[k], LASH_SWEEP_ANGLE, P, U);
        info.iterations += sweeps[k];
        bool try = k == 0 && s->deficient && !s->hopeless;
        if (start == FRICTION_FROM_NOTHING || start == FRICTION_ANY) try = false;
        if (try && answer_from_nothing(s, tolerance, enough, P, U, &info)) break;
        Aim aim = {tolerance, enough, k == 0 ? start : FRICTION_WARM, false, 20};
        info.residual = newton(s, aim, P, U, &info.iterations);
        if (aim.start == FRICTION_SHRUNK && s->deficient && info.residual <= enough)
            info.residual = shrink(s, info.residual, enough, P, U, &info.iterations);
        if (!(info.residual < INFINITY)) memcpy(P, s->start, (size_t)p->m * sizeof *P);
    }
    if (info.residual <= enough) info.outcome = LASH_CONVERGED;
    if (!(info.residual < INFINITY)) info.outcome = LASH_FAILED;
    return info;
}
