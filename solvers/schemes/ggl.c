// Gear, Gupta and Leimkuhler with impulses, unified [S12]: velocities and positions at once, with
// q_m = q_n (+) d/2, v_m = (v_n + v_{n+1})/2 and the explicit midpoint q_M = q_n (+) h/2 v_n:
//
//     M(q_M) (v_{n+1} - v_n) = h F(t_n + h/2, q_m, v_m) + G(q_m) Lambda
//     d = h v_m + N G(q_m) Psi,   N = M(q_M)^-1,   q_{n+1} = q_n (+) d
//     0 <= g(q_{n+1}) perp Psi >= 0 on the set;   joints: g = 0 and U = 0
//     law of impact in U+ = G(q_{n+1})'v_{n+1} and U- at the start, on the same set
//
// The set: contacts with g(q_M) <= 0, and every one with g(q_{n+1}) < 0, until none is added: with
// the paper's set alone a contact that closes in the second half of a step penetrates.
#include "solvers/schemes/scheme.h"

static void plan(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    Stencil* stencil = &step->stencil;
    stencil_theta(sim, step, 0.5, 0.5, LASH_AT_MIDPOINT);
    system->move(system, sim->now.q, step->h / 2, sim->now.v, step->room[2]);
    stencil->mass_place = step->room[2];
    stencil->mass_d = 0;
    stencil->mass_w = 0;
    stencil->projects_at_star = true;
}

static bool grow(LashSim* sim, Step* step) {
    bool grown = false;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        if (joint_friction(item) || step->active[i] || step->g[item->row] >= 0) continue;
        step_activate(sim, step, i);
        grown = true;
    }
    return grown;
}

static LashOutcome advance(LashSim* sim, Step* step) {
    LashOutcome outcome = forecast_activate(sim, step, LASH_FORECAST_MIDPOINT);
    while (outcome == LASH_CONVERGED) {
        for (int i = step->list->bilateral; i < step->list->count; ++i) {
            if (step->active[i] && !joint_friction(&step->list->item[i]))
                step->position[i] = POSITION_NOT_NEGATIVE;
        }
        outcome = step_solve(sim, step, POSITIONS);
        if (outcome != LASH_CONVERGED || !grow(sim, step)) break;
        ++sim->info.index_set;
    }
    return outcome;
}

const Scheme scheme_ggl = {
    .summary = "velocities and positions of the midpoint rule at once, inequalities on both",
    .uses = USES_JOINT_FRICTION | USES_RESTITUTION,
    .projection = PROJECTS_INEQUALITIES,
    .plan = plan,
    .advance = advance,
    .holds = gaps_hold,
};
