// Direct projected scheme, Algorithm 1 of [A12] section 4, on the theta-method (theta.c): the
// forecast decides on the velocity law, and every contact is kept from overlapping at the end of
// the step,
//
//     0 <= g(q_{k+1}) perp tau >= 0.
//
// Decoupled: velocities, then positions, in every correction (step/operator_joints.c). Coupled:
// both in one problem (step/operator_coupled.c). Without project_all only the contacts of the forecast are
// projected, a variant that a public implementation offers; the others may then overlap.
#include "solvers/schemes/scheme.h"

static LashOutcome advance(LashSim* sim, Step* step) {
    LashOutcome outcome = forecast_activate(sim, step, sim->settings.forecast);
    if (outcome != LASH_CONVERGED) return outcome;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (joint_friction(&step->list->item[i])) continue;
        if (sim->settings.project_all || step->active[i]) step->position[i] = POSITION_NOT_NEGATIVE;
    }
    return step_solve(sim, step, POSITIONS);
}

static bool holds(const LashSim* sim, const Step* step) {
    return !sim->settings.project_all || gaps_hold(sim, step);
}

const Scheme scheme_direct = {
    .summary = "as moreau-jean, and every contact is kept from overlapping by projection",
    .uses = USES_THETA_METHOD | USES_FORECAST | USES_COUPLED,
    .projection = PROJECTS_INEQUALITIES,
    .advance = advance,
    .holds = holds,
};
