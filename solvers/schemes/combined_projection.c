// Combined activation and projection, Algorithm 2 of [A12] section 5: the default scheme.
//
//     I = {}                                        joints are always in
//     repeat  solve the step with velocity law on I;  g = 0 where P_N > 0,  0 <= g perp tau >= 0 on
//     the rest of I
//             I = I + { a : g_a(q_{k+1}) <= 0 }     until I no longer grows
//
// Contacts that were closed after the last step are taken into I at once, instead of being found by
// a pass without them; where that has no solution the step starts again from the empty set.
//
// g = 0 where P_N > 0 may have no solution that Newton can reach: of two points that almost
// coincide (a corner and the rounded edge beside it, near a flat position) one pushes and the other
// is the deeper one. Then all of I get 0 <= g perp tau >= 0, counted as demoted: nothing
// penetrates, and what pushes may stay open by what the points differ.
#include <math.h>

#include "solvers/step/sim_internal.h"

static void take_in(LashSim* sim, StepContext* s, int i) {
    step_activate(sim, s, i);
    s->position[i] = s->relaxed ? POSITION_NOT_NEGATIVE : POSITION_CLOSED_IF_PUSHED;
}

// Contacts of the last step that are listed again. Returns how many.
static int take_in_last(LashSim* sim, StepContext* s) {
    int taken = 0;
    for (int i = s->list->bilateral; i < s->list->count; ++i) {
        if (joint_friction(&s->list->item[i])) continue; // active from the start
        for (int k = 0; k < sim->last.count; ++k) {
            if (sim->last.id[k] != s->list->item[i].id || !sim->last.closed[k]) continue;
            take_in(sim, s, i);
            ++taken;
        }
    }
    return taken;
}

static bool grow(LashSim* sim, StepContext* s) {
    bool grown = false;
    double limit = s->unfinished ? -s->position_error : 0;
    for (int i = s->list->bilateral; i < s->list->count; ++i) {
        if (s->active[i] || s->g[s->list->item[i].row] > limit) continue;
        take_in(sim, s, i);
        grown = true;
    }
    return grown;
}

// The same set again with inequalities only.
static LashOutcome relax(LashSim* sim, StepContext* s) {
    s->relaxed = true;
    for (int i = s->list->bilateral; i < s->list->count; ++i) {
        if (s->position[i] == POSITION_CLOSED_IF_PUSHED) s->position[i] = POSITION_NOT_NEGATIVE;
    }
    step_guess(sim, s);
    LashOutcome outcome = step_solve(sim, s, true);
    if (outcome == LASH_CONVERGED) s->demoted += s->nn;
    return outcome;
}

LashOutcome step_combined(LashSim* sim, StepContext* s) {
    s->relaxed = false;
    int guessed = take_in_last(sim, s);
    LashOutcome outcome = step_solve(sim, s, true);
    if (guessed > 0 && outcome != LASH_CONVERGED) {
        step_begin(sim, s, s->h);
        outcome = step_solve(sim, s, true);
        guessed = 0;
    }
    if (guessed > 0) ++sim->info.index_set;
    while (outcome == LASH_CONVERGED && grow(sim, s)) {
        ++sim->info.index_set;
        outcome = step_solve(sim, s, true);
        if (outcome != LASH_CONVERGED && shorter_first(sim, s)) return outcome;
        if (outcome != LASH_CONVERGED && !s->relaxed) outcome = relax(sim, s);
        if (outcome == LASH_CONVERGED || s->restitution == 0) continue;
        s->restitution = 0; // opposed contacts that cannot both rebound: plastic impact instead
        step_guess(sim, s);
        outcome = step_solve(sim, s, true);
    }
    return outcome;
}
