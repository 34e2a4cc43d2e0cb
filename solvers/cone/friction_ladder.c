// Friction problems, easy ones first: the methods in the order they are tried.
//
// Every rung is one method from one starting point; an answer ends the climb. What a method claims
// does not count: the residual is that of the independent check (friction_solve.c). docs/solvers.md
// shows this table and what each rung is worth; tests/solvers/test_ladder.c compares the two.
#include <string.h>

#include "solvers/cone/friction_internal.h"

const Rung friction_ladder[] = {
    {LASH_FRICTION_STATUS, WHERE_SMALL, START_WARM, .sweeps = 0, .steps = 8},
    {LASH_FRICTION_STATUS, WHERE_SMALL, START_BEST, .sweeps = 3, .steps = 6},
    {LASH_FRICTION_GAUSS_SEIDEL, WHERE_COLD, START_WARM, .sweeps = 1},
    {LASH_FRICTION_NEWTON, WHERE_ANY, START_WARM, .sweeps = 0, .steps = 2, .near = 10},
    {LASH_FRICTION_NEWTON, WHERE_ANY, START_WARM, .sweeps = 10, .steps = 15},
    {LASH_FRICTION_INTERIOR, WHERE_CONES, START_LATEST, .steps = 90},
    {LASH_FRICTION_NEWTON, WHERE_CONES, START_LATEST, .sweeps = 150, .steps = 25},
    {LASH_FRICTION_PIVOTING, WHERE_NO_CONES, START_LATEST, .steps = 20},
    {LASH_FRICTION_PROXIMAL, WHERE_ANY, START_ZERO, .steps = 300},
    {LASH_FRICTION_INTERIOR, WHERE_ANY, START_LATEST, .steps = 120, .slip = SLIP_HELD},
    {LASH_FRICTION_PROXIMAL, WHERE_ANY, START_BEST, .steps = 1000},
};
const int friction_ladder_count = sizeof friction_ladder / sizeof friction_ladder[0];

typedef struct Climb {
    Friction* friction;
    double tolerance;
    bool cones;    // some contact has friction
    bool hopeless; // pivoting has shown that there is no solution
    int steps;     // of Newton's latest rung
    LashFrictionInfo info;
} Climb;

static bool has_cones(const Friction* friction) {
    for (int i = 0; i < friction->contacts; ++i)
        if (friction->contact[i].rows > 1) return true;
    return false;
}

// Is the rung meant for this problem, and is there time for it?
static bool applies(const Climb* climb, const Rung* rung) {
    const Friction* friction = climb->friction;
    bool time = !friction_stopped(friction);
    if (climb->hopeless || lash_stop_asked(friction->settings->stop)) return false;
    switch (rung->where) {
        case WHERE_SMALL:
        case WHERE_COLD:
            return false; // tried before
        case WHERE_NO_CONES:
            return !climb->cones; // it takes its time: nothing else says that there is no solution
        case WHERE_CONES:
            return climb->cones && time;
        case WHERE_ANY:
            break;
    }
    return time;
}

static void go_to_start(Friction* friction, RungStart start) {
    size_t bytes = (size_t)friction->m * sizeof(double);
    if (start == START_WARM) memcpy(friction->P, friction->warm_P, bytes);
    if (start == START_ZERO) memset(friction->P, 0, bytes);
    if (start == START_BEST) memcpy(friction->P, friction->saved_P, bytes);
}

// Multiplications of a sweep, roughly: the products with W and the contacts themselves.
static double sweep_cost(const Friction* friction) {
    double products = (double)friction->m * (double)friction->m;
    const LashBlockSparse* W = friction->problem->sparse;
    if (W != NULL) products = 9.0 * W->pointer[friction->contacts];
    return products + 200.0 * friction->contacts;
}

// Where a factorisation is dear, as many sweeps as the Newton steps before have cost.
static int fair_sweeps(const Climb* climb, int sweeps) {
    double price = climb->friction->newton_cost / sweep_cost(climb->friction);
    double fair = price > 15 ? climb->steps * price : 0;
    return (int)fmax(sweeps, fmin(fair, 4000));
}

static double run_newton(Climb* climb, const Rung* rung) {
    Friction* friction = climb->friction;
    double tolerance = climb->tolerance, residual = INFINITY;
    if (rung->sweeps > 0) {
        residual = friction_gauss_seidel(friction, fair_sweeps(climb, rung->sweeps), tolerance);
        if (residual <= tolerance) climb->info.method = LASH_FRICTION_GAUSS_SEIDEL;
        if (residual <= tolerance) return residual;
    }
    climb->steps = rung->steps;
    residual = friction_newton(friction, rung->steps, tolerance);
    if (residual > tolerance && residual < LASH_NEAR && rung->near > 0)
        residual = friction_newton(friction, rung->near, tolerance);
    return residual;
}

static double run_pivoting(Climb* climb, const Rung* rung) {
    Friction* friction = climb->friction;
    LashLcpInfo found = friction_polyhedral(friction, LASH_MAX_DIRECTIONS, 0.1 * climb->tolerance);
    climb->hopeless = found.ray || friction->settings->max_iterations > 0;
    if (found.outcome == LASH_FAILED) return INFINITY;
    friction_velocity(friction->problem, friction->P, friction->U);
    double residual = friction_residual_at(friction, friction->P, friction->U);
    if (residual <= climb->tolerance) return residual;
    return friction_newton(friction, rung->steps, climb->tolerance);
}

static double run(Climb* climb, const Rung* rung) {
    Friction* friction = climb->friction;
    double tolerance = climb->tolerance;
    climb->info.method = rung->method;
    switch (rung->method) {
        case LASH_FRICTION_NEWTON:
            return run_newton(climb, rung);
        case LASH_FRICTION_PIVOTING:
            return run_pivoting(climb, rung);
        case LASH_FRICTION_INTERIOR:
            if (rung->slip == SLIP_HELD)
                return friction_interior_held(friction, rung->steps, tolerance);
            return friction_interior_point(friction, rung->steps, tolerance);
        default:
            return friction_proximal(friction, rung->steps, tolerance);
    }
}

// Large problems end a little above the tolerance where the rounding of W P does; no rung helps.
static bool is_rounding(const Climb* climb, const Rung* rung) {
    enum { LONG_RUN = 100, MANY_ROWS = 150 };
    const Friction* friction = climb->friction;
    if (rung->steps < LONG_RUN || friction->m <= MANY_ROWS) return false;
    return friction->saved_residual <= 5 * climb->tolerance;
}

void friction_remember(Friction* friction, double residual) {
    if (friction->shift != 0 || !(residual < friction->saved_residual)) return;
    friction->saved_residual = residual;
    memcpy(friction->saved_P, friction->P, (size_t)friction->m * sizeof(double));
}

// Where the work is bounded no rung but the last takes more than half of what is left: those above it, one
// of which may answer at once, get their turn.
static int end_of_rung(const Friction* friction, const Rung* rung, int end) {
    bool last = rung == friction_ladder + friction_ladder_count - 1;
    int left = end - friction->iterations;
    return last || friction->settings->max_iterations == 0 ? end : end - left / 2;
}

// Methods from the given one on: the enumeration has them in the order of the ladder.
LashFrictionInfo friction_climb(Friction* friction, LashFrictionMethod from) {
    Climb climb = {.friction = friction,
                   .tolerance = friction->settings->tolerance,
                   .cones = has_cones(friction),
                   .info = {LASH_INACCURATE, from, 0, INFINITY}};
    size_t bytes = (size_t)friction->m * sizeof(double);
    int end = friction->end;
    memcpy(friction->warm_P, friction->P, bytes);
    memcpy(friction->saved_P, friction->P, bytes);
    for (const Rung* rung = friction_ladder; rung < friction_ladder + friction_ladder_count;
         ++rung) {
        if (rung->method < from || !applies(&climb, rung)) continue;
        go_to_start(friction, rung->start);
        friction->end = end_of_rung(friction, rung, end);
        double residual = run(&climb, rung);
        friction->end = end;
        friction_remember(friction, residual);
        if (residual <= climb.tolerance) return climb.info;
        if (is_rounding(&climb, rung)) break;
    }
    memcpy(friction->P, friction->saved_P, bytes);
    return climb.info;
}
