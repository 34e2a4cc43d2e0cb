// Friction problems inside the Newton iteration of a step: semismooth Newton with least squares.
//
// Two end circles of a pin, or four corners of a foot, give rows that depend on each other: W is
// singular, and away from the solution of the step its linearised rows contradict each other a
// little, so that no P meets them all. In the reduced form, J = F' W E + D (reduced.c), each step is
// therefore the one of Levenberg and Marquardt,
//
//     min |J dx + r|^2 + delta^2 |dx|^2,      dx = -J' (J J' + delta^2)^-1 r,      r = F' U + D x
//
// with rows over each contact's lambda, so that they are impulses, and with delta (rank.h) between what is
// rank and what is rounding: contradictions are met halfway. J and its factor are kept while W and
// the statuses stay the same. Where the steps do not come near an answer, sweeps of Gauss and Seidel
// find better statuses. The caller judges what is left.
//
// What dependent rows leave open is not free: P is to be the smallest. From a start at x = 0 it is,
// since x then stays in the row space of J. From any other P the answer is moved along the null space
// of J, as far as no contact has to pull and none leaves its cone:
//
//     x <- x - alpha n,    n = x - J' (J J' + delta^2)^-1 J x,    0 <= alpha <= 1
//
// A contact that loses its load on the way is open from then on, and the next step goes on without it.
// This also ends a squeeze between two faces without play, where P decides about sliding: it has no
// load to keep.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/cone/reduced.h"
#include "solvers/linear/dense.h"
#include "solvers/linear/rank.h"

typedef struct Levenberg {
    const LashFrictionProblem* problem;
    LocalContact* contact;
    double scale;           // 1 + |b|
    double threshold;       // of closing [m/s]
    int ld;                 // leading dimension: a multiple of 8, padded with zeros
    double *J, *N;          // (ld x k) by columns; factor of J J' + delta^2, by rows
    Reduced reduced;        // rows are impulses
    double* n;              // (m) part of x in the null space of J
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
    int end;       // factors and sweeps that there may be
} Levenberg;

size_t friction_levenberg_size(int contacts, int m) {
    size_t n = (size_t)lash_dense_padded(m) + 8, c = (size_t)contacts;
    size_t bytes = sizeof(Levenberg) + c * (sizeof(LocalContact) + 5) + n * sizeof(int32_t);
    return 2 * n * n + 14 * n + bytes / 8 + 24;
}

// The state lives at the beginning of the work, which is laid out anew where the size changes.
static Levenberg* begin(const LashFrictionProblem* problem, uint64_t matrix, double* work) {
    Levenberg* solver = (Levenberg*)work;
    size_t n = (size_t)lash_dense_padded(problem->m) + 8;
    solver->valid = matrix != 0 && solver->matrix == matrix && solver->valid;
    solver->matrix = matrix;
    solver->problem = problem;
    Reduced* reduced = &solver->reduced;
    *reduced = (Reduced){.problem = problem, .unit = ROWS_ARE_IMPULSES};
    work = lash_dense_aligned(work + (sizeof *solver + 7) / 8);
    solver->J = work;
    work += n * n;
    solver->N = work;
    work += n * n;
    double** vector[] = {&reduced->c1,   &reduced->c2,     &reduced->D,  &solver->n,
                         &solver->t,     &solver->x,       &solver->r,   &solver->best_P,
                         &solver->start, &solver->inverse, &solver->kept};
    for (size_t i = 0; i < sizeof vector / sizeof vector[0]; ++i) {
        *vector[i] = work;
        work += n;
    }
    solver->contact = (LocalContact*)work;
    work += ((size_t)problem->contacts * sizeof(LocalContact) + 7) / 8;
    reduced->row = (int32_t*)work;
    work += (n + 1) / 2;
    reduced->first = (int32_t*)work;
    work += (problem->contacts + 2) / 2;
    solver->factored = (uint8_t*)work;
    reduced->contact = solver->contact;
    reduced->t = solver->t;
    solver->scale = friction_list_contacts(problem, solver->contact);
    return solver;
}

// U = W P + b, or into t, which is padded
static void velocity(const Levenberg* solver, const double* P, double* U) {
    const LashFrictionProblem* problem = solver->problem;
    if (problem->ldw % 8 != 0) {
        friction_velocity(problem, P, U);
        return;
    }
    lash_dense_sum_rows(problem->ldw, problem->m, P, 1, problem->W, problem->ldw, solver->t);
    for (int i = 0; i < problem->m; ++i) U[i] = solver->t[i] + problem->b[i];
}

static double check(const Levenberg* solver, const double* P, double* U) {
    velocity(solver, P, U);
    return friction_error(solver->problem->contacts, solver->contact, LASH_MEASURE_VELOCITY, P, U) /
           solver->scale;
}

// Statuses from (P, U); the rows of the reduced system.
static void decide(Levenberg* solver, double threshold, const double* P, const double* U) {
    reduced_decide(&solver->reduced, threshold, P, U);
    solver->ld = lash_dense_padded(solver->reduced.n);
}

// Are the statuses those of the factor at hand?
static bool same_statuses(const Levenberg* solver) {
    bool same = solver->valid;
    for (int i = 0; i < solver->problem->contacts; ++i)
        same = same && solver->factored[i] == solver->contact[i].status;
    return same;
}

// When J and its factor are made again.
typedef enum Renewal {
    WHEN_STATUSES_CHANGE, // those at hand will do where only the directions of sliding have turned
    IN_ANY_CASE
} Renewal;

// J and its factor for the present statuses.
static bool renew(Levenberg* solver, Renewal renewal) {
    if (renewal == WHEN_STATUSES_CHANGE && same_statuses(solver)) return true;
    int n = solver->reduced.n;
    reduced_assemble(&solver->reduced, solver->J, solver->ld, solver->ld);
    solver->valid =
        lash_dense_gram_factor(n, solver->ld, solver->J, LASH_RANK_DAMPING * LASH_RANK_DAMPING,
                               solver->N, solver->inverse);
    for (int i = 0; i < solver->problem->contacts; ++i)
        solver->factored[i] = solver->contact[i].status;
    double largest = 0; // of the factor's inverse diagonal
    for (int j = 0; j < n; ++j) largest = fmax(largest, solver->inverse[j]);
    solver->deficient = largest * LASH_RANK_DAMPED * LASH_RANK_DAMPING > 1;
    return solver->valid;
}

// t (n) = J' (J J' + delta^2)^-1 r, r destroyed
static void solve_gram(Levenberg* solver) {
    int n = solver->reduced.n, ld = solver->ld;
    for (int j = n; j < ld; ++j) solver->r[j] = 0;
    lash_dense_upper_solve(n, ld, solver->N, solver->inverse, solver->r);
    lash_dense_multiply_rows(n, ld, solver->J, ld, solver->r, solver->t);
}

// Where a step begins.
typedef enum Origin {
    AT_P,
    AT_ZERO // it ends in the smallest P that the statuses allow
} Origin;

static bool step(Levenberg* solver, Renewal renewal, Origin origin, double* P) {
    const Reduced* reduced = &solver->reduced;
    double *x = solver->x, *t = solver->t;
    int n = reduced->n;
    if (!renew(solver, renewal)) return false;
    reduced_extract(reduced, P, x);
    for (int j = 0; j < n && origin == AT_ZERO; ++j) x[j] = 0;
    reduced_expand(reduced, x, P);
    velocity(solver, P, t);
    t[solver->problem->m] = 0;
    reduced_residual(reduced, t, x, solver->r);
    solve_gram(solver);
    for (int j = 0; j < n; ++j) x[j] -= t[j];
    reduced_expand(reduced, x, P);
    return true;
}

// The largest part of n, up to 1, that x can lose at one contact: P_N >= 0, and inside the cone if it sticks.
static double room(const LocalContact* contact, const double* x, const double* n) {
    int unknowns = contact->unknowns;
    double most = n[0] > x[0] ? x[0] / n[0] : 1;
    if (contact->status != STATUS_STICK || unknowns < 2) return most > 0 ? most : 0;
    // |x_T - a n_T|^2 <= mu^2 (x_N - a n_N)^2: where it ends, A a^2 - 2 B a + C = 0
    double mu2 = contact->mu * contact->mu, A = -mu2 * n[0] * n[0], B = -mu2 * x[0] * n[0],
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

// n <- the part of it in the null space of J
static void project(Levenberg* solver, double* n) {
    int count = solver->reduced.n, ld = solver->ld;
    lash_dense_sum_rows(ld, count, n, 1, solver->J, ld, solver->r); // J n
    solve_gram(solver);
    for (int j = 0; j < count; ++j) n[j] -= solver->t[j];
}

// Steps of a start from nothing that is only tried; passes before it is tried again where it failed. P would
// jump between two answers if every other pass failed.
enum { TRIES = 4, LONGEST_WAIT = 16 };

typedef struct Aim {
    double tolerance, enough; // of the residual: at the start, after a step
    FrictionStart start;
    bool
        strict; // from nothing: no other answer will do, nor one where other contacts stick or slide
    int max_steps;
} Aim;

// Did contacts only open since the latest factor was made?
static bool only_opened(const Levenberg* solver) {
    for (int i = 0; i < solver->problem->contacts; ++i) {
        uint8_t status = solver->contact[i].status;
        if (status != solver->factored[i] && status != STATUS_OPEN) return false;
    }
    return true;
}

static bool all_zero(const double* P, int m) {
    for (int i = 0; i < m; ++i)
        if (P[i] != 0) return false;
    return true;
}

// Where the step with number k begins; false: none follows, since the aim is strict.
static bool choose_origin(const Levenberg* solver, const Aim* aim, int k, Origin* origin) {
    *origin = AT_P;
    if (aim->start != FRICTION_FROM_NOTHING) return true;
    if (k > 0 && (!solver->deficient || same_statuses(solver))) return true;
    *origin = AT_ZERO;
    return k == 0 || !aim->strict || only_opened(solver);
}

// Newton steps from P until they no longer help. Returns the best residual; P and U are there.
static double newton(Levenberg* solver, const Aim* aim, double* P, double* U, int* iterations) {
    enum { PATIENCE = 8 };
    int m = solver->problem->m;
    size_t bytes = (size_t)m * sizeof(double);
    double residual = check(solver, P, U), best = aim->strict ? INFINITY : residual;
    double threshold = all_zero(P, m) ? -solver->threshold : solver->threshold;
    double goal = aim->start == FRICTION_FROM_NOTHING ? -INFINITY : aim->tolerance;
    Renewal renewal = WHEN_STATUSES_CHANGE;
    Origin origin;
    memcpy(solver->best_P, P, bytes);
    for (int k = 0, idle = 0; k < aim->max_steps && idle < PATIENCE && !(best <= goal); ++k) {
        if (*iterations >= solver->end) break;
        decide(solver, threshold, P, U);
        if (!choose_origin(solver, aim, k, &origin)) break;
        if (!step(solver, renewal, origin, P)) break;
        double before = residual;
        residual = check(solver, P, U);
        renewal = residual > 0.1 * before ? IN_ANY_CASE : WHEN_STATUSES_CHANGE;
        ++*iterations;
        if (!(residual < INFINITY)) break;
        threshold = solver->threshold;
        goal = aim->enough;
        idle = residual < 0.5 * best ? 0 : idle + 1;
        if (residual < best || (origin == AT_ZERO && residual <= aim->enough)) {
            best = residual;
            memcpy(solver->best_P, P, bytes);
        }
    }
    memcpy(P, solver->best_P, bytes);
    return check(solver, P, U);
}

// The part n of x = E^-1 P that the rows leave open; false: there is none.
static bool find_open_part(Levenberg* solver, const double* P) {
    static const double NEGLIGIBLE = 1e-12; // of |x|^2
    double x2 = 0, n2 = 0;
    int count = solver->reduced.n;
    reduced_extract(&solver->reduced, P, solver->x);
    memcpy(solver->n, solver->x, (size_t)count * sizeof *solver->n);
    project(solver, solver->n);
    for (int j = 0; j < count; ++j) {
        x2 += solver->x[j] * solver->x[j];
        n2 += solver->n[j] * solver->n[j];
    }
    if (n2 <= NEGLIGIBLE * x2) return false;
    project(solver, solver->n); // once more: delta leaves a little of the weakest rows
    return true;
}

// One move of P along the null space, and whether a contact lost its load on the way: then there may
// be more.
typedef enum Moved { NOT_MOVED, MOVED, MOVED_AND_OPENED } Moved;
static Moved move(Levenberg* solver, double* P, double* U) {
    double alpha = 1;
    int last = -1; // contact that ends the way
    decide(solver, solver->threshold, P, U);
    if (!renew(solver, WHEN_STATUSES_CHANGE) || !solver->deficient) return NOT_MOVED;
    if (!find_open_part(solver, P)) return NOT_MOVED;
    for (int i = 0; i < solver->problem->contacts; ++i) {
        int at = solver->reduced.first[i];
        if (solver->contact[i].status == STATUS_OPEN) continue;
        double limit = room(solver->contact + i, solver->x + at, solver->n + at);
        if (limit >= alpha) continue;
        alpha = limit;
        last = i;
    }
    if (alpha == 0) return NOT_MOVED;
    for (int j = 0; j < solver->reduced.n; ++j) solver->x[j] -= alpha * solver->n[j];
    double before = last < 0 ? 0 : P[solver->contact[last].row];
    reduced_expand(&solver->reduced, solver->x, P);
    if (last < 0) return MOVED;
    double* P_last = P + solver->contact[last].row;
    if (P_last[0] > 1e-12 * before) return MOVED; // its cone ends the way
    for (int r = 0; r < solver->contact[last].rows; ++r) P_last[r] = 0;
    return MOVED_AND_OPENED;
}

// P without what the rows leave open. Newton mends what a finite move along the null space spoils;
// where it does not, P stays as it was. Returns the residual.
static double shrink(Levenberg* solver, double residual, double enough, double* P, double* U,
                     int* iterations) {
    enum { MOVES = 8, STEPS = 6 };
    size_t bytes = (size_t)solver->problem->m * sizeof *P;
    bool moved = false;
    memcpy(solver->kept, P, bytes);
    for (int k = 0; k < MOVES; ++k) {
        Moved how = move(solver, P, U);
        moved = moved || how != NOT_MOVED;
        if (how != MOVED_AND_OPENED) break;
        velocity(solver, P, U);
    }
    if (!moved) return residual;
    Aim aim = {enough, enough, FRICTION_WARM, false, STEPS};
    double after = newton(solver, &aim, P, U, iterations);
    if (after <= enough) return after;
    memcpy(P, solver->kept, bytes);
    return check(solver, P, U);
}

// Where J lacks rank: the answer from nothing, if it is found soon. Otherwise P is as before.
static double answer_from_nothing(Levenberg* solver, const Aim* warm, double* P, double* U,
                                  int* iterations) {
    Aim aim = {warm->tolerance, warm->enough, FRICTION_FROM_NOTHING, true, TRIES};
    double residual = newton(solver, &aim, P, U, iterations);
    if (residual <= aim.enough) return residual;
    solver->hopeless = true;
    solver->wait = LONGEST_WAIT;
    memcpy(P, solver->start, (size_t)solver->problem->m * sizeof *P);
    return INFINITY;
}

// The answer near P, or from nothing, as aim says.
static double answer(Levenberg* solver, const Aim* aim, double* P, double* U, int* iterations) {
    bool smaller = aim->start == FRICTION_WARM || aim->start == FRICTION_SHRUNK;
    if (smaller && solver->deficient && !solver->hopeless) {
        double residual = answer_from_nothing(solver, aim, P, U, iterations);
        if (residual <= aim->enough) return residual;
    }
    double residual = newton(solver, aim, P, U, iterations);
    if (aim->start == FRICTION_SHRUNK && solver->deficient && residual <= aim->enough)
        residual = shrink(solver, residual, aim->enough, P, U, iterations);
    return residual;
}

// The same after sweeps, which may find better statuses.
static double answer_after_sweeps(Levenberg* solver, Aim aim, double* P, double* U,
                                  int* iterations) {
    enum { SWEEPS = 10 };
    int left = solver->end - *iterations, sweeps = left < SWEEPS ? left : SWEEPS;
    friction_prepare_contacts(solver->problem, solver->contact);
    friction_velocity(solver->problem, P, U);
    for (int k = 0; k < sweeps; ++k)
        friction_sweep(solver->problem, solver->contact, 0, LASH_SWEEP_ANGLE, P, U);
    *iterations += sweeps;
    aim.start = FRICTION_WARM;
    return newton(solver, &aim, P, U, iterations);
}

LashFrictionInfo friction_levenberg(const LashFrictionProblem* problem, uint64_t matrix,
                                    double tolerance, double enough, int max_iterations,
                                    FrictionStart start, double* P, double* U, double* work) {
    enum { STEPS = 20 };
    LASH_ASSERT(problem->W != NULL);
    size_t bytes = (size_t)problem->m * sizeof *P;
    LashFrictionInfo info = {LASH_INACCURATE, LASH_FRICTION_LEAST_SQUARES, 0, INFINITY};
    Levenberg* solver = begin(problem, matrix, work);
    solver->end = max_iterations > 0 ? max_iterations : INT_MAX;
    memcpy(solver->start, P, bytes);
    Aim aim = {tolerance, fmax(tolerance, enough), start, false, STEPS};
    bool begins = start == FRICTION_SHRUNK || start == FRICTION_FROM_NOTHING;
    if (begins && solver->wait > 0) --solver->wait;
    if (begins) solver->hopeless = solver->wait > 0;
    solver->threshold = 0.1 * fmin(tolerance, 1e-10) * solver->scale;
    info.residual = answer(solver, &aim, P, U, &info.iterations);
    if (!(info.residual < INFINITY)) memcpy(P, solver->start, bytes);
    if (!(info.residual <= aim.enough)) {
        info.residual = answer_after_sweeps(solver, aim, P, U, &info.iterations);
        if (!(info.residual < INFINITY)) memcpy(P, solver->start, bytes);
    }
    if (info.residual <= aim.enough) info.outcome = LASH_CONVERGED;
    if (!(info.residual < INFINITY)) info.outcome = LASH_FAILED;
    return info;
}
