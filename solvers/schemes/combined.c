// Combined activation and projection, Algorithm 2 of [A12] section 5, on the theta-method (theta.c):
// the default scheme.
//
//     I = {}                                                  joints are always in
//     repeat
//         solve the step with the velocity law on I;
//         positions: g = 0 where P_N > 0,  0 <= g perp tau >= 0 on the rest of I
//         I = I + { a : g_a(q_{k+1}) <= 0 }
//     until I no longer grows
//
// A contact that stands for many points (the rim of a ring that lies flat) acts at one of them; where another one
// penetrates or approaches at the end, it acts there instead (exchange), and the step is solved again.
//
// Contacts that were closed after the last step are taken into I at once, instead of being found by
// a pass without them; where that has no solution the step starts again from the empty set.
//
// g = 0 where P_N > 0 may have no solution that Newton can reach: of two points that almost
// coincide (a corner and the rounded edge beside it, near a flat position) one pushes and the other
// is the deeper one. Then all of I get 0 <= g perp tau >= 0, counted as demoted: nothing
// penetrates, and what pushes may stay open by what the points differ. Two points of the same contact
// that are one but for a few micrometres are told beforehand, and the deeper one is closed
// (operator_contacts.c).
#include <string.h>

#include "solvers/schemes/scheme.h"

enum { EXCHANGES = 16 }; // of points that are closed where they push; then none need be

static void take_in(LashSim* sim, Step* step, int i) {
    step_activate(sim, step, i);
    step->position[i] = step->relaxed ? POSITION_NOT_NEGATIVE : POSITION_CLOSED_IF_PUSHED;
}

// Contacts of the last step that are listed again. Returns how many.
static int take_in_last(LashSim* sim, Step* step) {
    int taken = 0;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (joint_friction(&step->list->item[i])) continue; // active from the start
        int k = last_place(sim, step->list->item[i].id);
        if (k < 0 || !sim->now.last.closed[k]) continue;
        take_in(sim, step, i);
        ++taken;
    }
    return taken;
}

static bool grow(LashSim* sim, Step* step) {
    bool grown = false;
    double limit = step->unfinished ? -step->position_error : 0;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        bool closed = step->g[step->list->item[i].row] <= limit;
        if (step->foreseen) closed = step->wanted[i];
        if (step->active[i] || !closed) continue;
        take_in(sim, step, i);
        grown = true;
    }
    return grown;
}

static void take_inequalities(Step* step) {
    step->relaxed = true;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (step->position[i] == POSITION_CLOSED_IF_PUSHED)
            step->position[i] = POSITION_NOT_NEGATIVE;
    }
}

// Contacts that stand for many points: one that another of them takes the place of acts, too.
static bool exchange(LashSim* sim, Step* step) {
    if (sim->system->exchange == NULL || step->unfinished) return false;
    LashPass pass = {.q = step->q_end,
                     .v = step->v,
                     .v_start = sim->now.v,
                     .restitution = step->restitution,
                     .position = sim->settings.tolerance_position,
                     .velocity = sim->settings.tolerance_velocity,
                     .h = step->h};
    memset(step->wanted, 0, (size_t)step->list->count);
    if (!sim->system->exchange(sim->system, sim->work, &pass, step->wanted)) return false;
    if (++step->exchanges == EXCHANGES) take_inequalities(step);
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (!step->wanted[i]) continue;
        if (!step->active[i]) take_in(sim, step, i);
        step->has_U_start[i] = 0; // it was that of another point
    }
    return true;
}

// Contacts that neither push nor touch in the iterate where a pass ended leave the set; they come back if
// they penetrate without it. A contact in the set may not approach, one that pushes is closed: where closing
// a gap of 1e-10 m turns a normal so much that it would part, neither has a solution, and it need not be
// in the set at all.
static bool shrink(Step* step) {
    bool left = false;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        if (!step->active[i] || joint_friction(item) || step->P[item->row] > 0) continue;
        if (!(step->g[item->row] > 0)) continue;
        step->active[i] = 0;
        step->position[i] = POSITION_FREE;
        step->P[item->row] = step->tau[item->row] = 0;
        left = true;
    }
    return left;
}

// The same set again with inequalities only.
static LashOutcome relax(LashSim* sim, Step* step) {
    take_inequalities(step);
    step_guess(sim, step);
    LashOutcome outcome = step_solve(sim, step, POSITIONS);
    if (outcome == LASH_CONVERGED) step->demoted += step->nn;
    return outcome;
}

static LashOutcome advance(LashSim* sim, Step* step) {
    step->relaxed = false;
    step->exchanges = 0;
    int guessed = take_in_last(sim, step);
    LashOutcome outcome = step_solve(sim, step, POSITIONS);
    if (outcome != LASH_CONVERGED && sim_is_sparse(sim) && shrink(step))
        outcome = step_solve(sim, step, POSITIONS);
    if (outcome != LASH_CONVERGED && sparse_shorter_first(sim, step)) return outcome;
    if (guessed > 0 && outcome != LASH_CONVERGED) {
        step_begin(sim, step, step->h);
        outcome = step_solve(sim, step, POSITIONS);
        guessed = 0;
    }
    if (guessed > 0) ++sim->info.index_set;
    while (outcome == LASH_CONVERGED && (grow(sim, step) || exchange(sim, step))) {
        ++sim->info.index_set;
        outcome = step_solve(sim, step, POSITIONS);
        if (outcome != LASH_CONVERGED && shorter_first(sim, step)) return outcome;
        if (outcome != LASH_CONVERGED && sparse_shorter_first(sim, step)) return outcome;
        if (outcome != LASH_CONVERGED && !step->relaxed) outcome = relax(sim, step);
        if (outcome == LASH_CONVERGED || step->restitution == 0) continue;
        step->restitution = 0; // opposed contacts that cannot both rebound: plastic impact instead
        step_guess(sim, step);
        outcome = step_solve(sim, step, POSITIONS);
    }
    return outcome;
}

const Scheme scheme_combined = {
    .summary = "contacts enter as they close and are closed exactly: no penetration; the default",
    .uses = USES_THETA_METHOD,
    .projection = PROJECTS_PUSHED,
    .exchanges = true,
    .advance = advance,
    .holds = gaps_hold,
};
