// Jams: a light part that heavy ones squeeze.
//
// Impulses that stop the heavy parts are in balance at the light one but for what its own mass takes: 5e4 N s
// on 0.1 kg. Of M dv = h F + G* P there 1e-10 m/s asks for sixteen digits of G* P, and a position that is a double
// of 0.1 m, in a play of 0.1 mm, leaves twelve. So a step that no attempt has solved, where momentum and forces
// are so large that rounding may be why, is tried once more as a jam:
//
//     dynamics   sum of G* P in wide numbers, at q_k (+) star_d d, which is not rounded (system->push); impulses
//                P + P_low, since 5e4 N s have a last digit of 7e-12, 7e-11 m/s. v and d are doubles as ever: a
//                step moves by so little that they have digits enough.
//     contacts   the mobility of the squeezed part against that of all: W has eigenvalues 1e8 apart. Near the
//                answer one step of Newton for the change of P, from the velocities as they are; afar problems
//                are solved by proximal steps where others need too long, derivatives of directions or none, and
//                there is more work for them. Errors of contacts are measured in m/s, not over 1 + |b|.
//
// What is kept passes the same tolerances, with residuals of more digits. The next step begins where this one
// ends, at a position that is a double, like any other. Steps that are solved without know nothing of it.
#include <float.h>
#include <math.h>
#include <string.h>

#include "solvers/cone/friction_internal.h"
#include "solvers/linear/twofold_internal.h"
#include "solvers/step/rows.h"
#include "solvers/step/sim_internal.h"

// --- G* P ----------------------------------------------------------------------------------------

static LashWide* scratch_wide(LashSim* sim) { // (nv), zero
    LashWide* x = lash_arena_push(&sim->arena, (size_t)sim->system->nv * sizeof *x);
    for (int i = 0; i < sim->system->nv; ++i) x[i] = 0;
    return x;
}

// x += G P with the directions that are known as doubles.
static void push_as_evaluated(const LashSystem* system, const LashInteraction* item,
                              const double* G, const double* P, LashWide* x) {
    const double* column = G + item->offset;
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]);
        LashWide* to = x + system->block_start[item->block[b]];
        for (int r = 0; r < item->rows; ++r, column += n)
            for (int k = 0; k < n; ++k) to[k] += (LashWide)column[k] * P[r];
    }
}

// x += G P with directions of 30 digits. False: there are none.
static bool push_exactly(LashSim* sim, const Step* step, int i, const double* P, LashWide* x) {
    const double* place = step->stencil.star_place;
    return sim->system->push(sim->system, sim->work, place != NULL ? place : sim->now.q,
                             place != NULL ? 0 : step->stencil.star_d, step->d, i, P, x);
}

// --- Is it one? ----------------------------------------------------------------------------------

// The momentum of all parts at the start of the step and what the forces add to it: impulses between them are
// hardly larger [N s].
static double momentum(const LashSim* sim, const Step* step) {
    const LashSystem* system = sim->system;
    double sum = 0;
    for (int b = 0; b < system->blocks; ++b) {
        int n = lash_block_size(system, b), first = system->block_start[b];
        const double* M = sim->operators.M_values + system->pattern.offset[b];
        for (int k = 0; k < n; ++k) {
            double of_force = step->stencil.force_h * step->F[first + k];
            sum += fabs(M[k + n * k] * sim->now.v[first + k] + of_force) / sim->weight[first + k];
        }
    }
    return sum;
}

// What doubles leave out of the normal impulse P at contact i, as a velocity [m/s].
static double rounding_of_push(LashSim* sim, const Step* step, int i, double P) {
    const LashSystem* system = sim->system;
    const LashInteraction* item = &step->list->item[i];
    const double there[LASH_MAX_ROWS] = {P}, back[LASH_MAX_ROWS] = {-P};
    double error = 0;
    Scratch scratch = scratch_begin(sim);
    LashWide* x = scratch_wide(sim);
    if (push_exactly(sim, step, i, there, x))
        push_as_evaluated(system, item, step->G_star, back, x);
    for (int b = 0; b < item->touched; ++b) {
        int block = item->block[b], n = lash_block_size(system, block),
            first = system->block_start[block];
        const double* M = sim->operators.M_values + system->pattern.offset[block];
        for (int k = 0; k < n; ++k)
            error = fmax(error, sim->weight[first + k] * fabs((double)x[first + k]) / M[k + n * k]);
    }
    scratch_end(sim, scratch);
    return error;
}

void jam_suspect(LashSim* sim, const Step* step) {
    if (sim->jam.suspected || sim->system->push == NULL) return;
    double P = momentum(sim, step);
    for (int c = 0; c < step->nc && !sim->jam.suspected; ++c)
        sim->jam.suspected =
            rounding_of_push(sim, step, step->contact[c], P) > sim->settings.tolerance_velocity;
}

// After a jam some steps begin as jams, more of them each time, fewer where one does without.
void jam_learn(Jam* jam, bool at_once) {
    if (jam->steps > 0) --jam->steps;
    if (!jam->tried) {
        jam->steps = 0;
        if (jam->run > 0) --jam->run;
    } else if (!at_once) {
        jam->run = 2 * jam->run + 1;
        if (jam->run > tuning.longest_run) jam->run = tuning.longest_run;
        jam->steps = jam->run;
    }
}

// --- Dynamics ------------------------------------------------------------------------------------

void jam_impulses(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    Scratch scratch = scratch_begin(sim);
    LashWide* x = scratch_wide(sim);
    for (int i = 0; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        const double* P = step->P + item->row;
        if (!step->active[i]) continue;
        push_as_evaluated(system, item, step->G_star, step->P_low + item->row, x);
        if (push_exactly(sim, step, i, P, x)) continue;
        push_as_evaluated(system, item, step->G_star, P, x);
    }
    for (int i = 0; i < system->nv; ++i) step->r[i] = (double)(step->r[i] - x[i]);
    scratch_end(sim, scratch);
}

// --- Contacts ------------------------------------------------------------------------------------

int jam_work(const Step* step) {
    enum { MANY_ROWS = 96 }; // a factor of so many takes 0.1 ms
    return step->m <= MANY_ROWS ? tuning.jam_work : tuning.friction_work;
}

// The error that rounding of W P leaves in a friction problem [m/s]: the largest sum of a row.
static double rounding_of_products(const LashFrictionProblem* problem, const double* P) {
    double most = 0;
    for (int i = 0; i < problem->m; ++i) {
        double sum = 0;
        for (int j = 0; j < problem->m; ++j)
            sum += fabs(problem->W[i + (size_t)problem->ldw * (size_t)j] * P[j]);
        most = fmax(most, sum);
    }
    return DBL_EPSILON * most;
}

// Shift of Newton's matrix, which damps its steps; near an answer it must be small against the mobility of all
// parts together, of which the squeezed one has 1e8 times as much.
static const double FAR = 1e-9, NEAR = 1e-13;

double jam_take(Step* step, int row, int c) {
    double P = step->P[row], low = step->P_low[row], dP = step->dP_c[c];
    if (!step->increments) dP = (step->P_c[c] - P) - low;
    Twofold sum = twofold_sum(P, low + dP);
    step->P[row] = sum.high;
    step->P_low[row] = sum.low;
    return dP;
}

// Near the answer: one step of Newton for the change of P, from the velocities as they are instead of W P + b.
static bool solve_increments(LashSim* sim, Step* step, const LashFrictionProblem* problem) {
    LashFrictionProblem rest = *problem;
    LashFrictionSettings settings = friction_settings(sim);
    settings.shift = NEAR;
    for (int c = 0; c < step->nc; ++c) { // their rows are not those of velocities
        const LashInteraction* item = &step->list->item[step->contact[c]];
        if (joint_friction(item) || is_empty(step, item)) return false;
    }
    Scratch scratch = scratch_begin(sim);
    double* u = lash_arena_doubles(&sim->arena, (size_t)step->m);
    memcpy(u, step->U_c, (size_t)step->m * sizeof *u);
    rest.b = u;
    double error = friction_increment(&rest, &settings, step->P_c, step->dP_c, step->U_c,
                                      sim->solvers.friction);
    scratch_end(sim, scratch);
    ++step->friction_work;
    ++sim->info.solver;
    return error <= fmax(1e-3 * sim->settings.tolerance_velocity, 0.1 * step->contact_error);
}

// From afar: what is tried, in this order.
typedef struct Try {
    LashFrictionMethod method;
    int most; // factors and sweeps; 0: all that are left
    bool near;
} Try;
static const Try tries[] = {{LASH_FRICTION_DEFAULT, 60, false},
                            {LASH_FRICTION_NEWTON, 20, true},
                            {LASH_FRICTION_PROXIMAL, 300, false},
                            {LASH_FRICTION_NEWTON, 20, true},
                            {LASH_FRICTION_PROXIMAL, 0, true}};
enum { TRIES = sizeof tries / sizeof *tries };

static bool solve_from_afar(LashSim* sim, Step* step, const LashFrictionProblem* problem) {
    static const double SPREAD = 1e11; // of masses, at most
    LashFrictionSettings settings = friction_settings(sim);
    LashFrictionInfo info = {.outcome = LASH_INACCURATE};
    double error = step->contact_error, scale = 1 + step->b_norm;
    double rounding = 4 * rounding_of_products(problem, step->P_c);
    settings.tolerance = fmax(fmax(settings.tolerance, 0.1 * error), rounding) / scale;
    settings.minimum_norm = false;
    settings.spread = SPREAD;
    for (int k = 0; k < TRIES && info.outcome != LASH_CONVERGED; ++k) {
        settings.method = tries[k].method;
        settings.max_iterations = tries[k].most;
        settings.shift = tries[k].near ? NEAR : FAR;
        info = friction_solve(sim, step, problem, settings, step->P_c, step->U_c);
    }
    return info.residual <= fmax(settings.tolerance, 0.5 * error / scale);
}

bool jam_solve_contacts(LashSim* sim, Step* step, const LashFrictionProblem* problem) {
    step->increments = solve_increments(sim, step, problem);
    return step->increments || solve_from_afar(sim, step, problem);
}
