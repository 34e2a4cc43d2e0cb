// Direct projected scheme, Algorithm 1 of [A12] section 4: the forecast decides on the velocity
// law, and every contact is kept from overlapping at the end of the step, 0 <= g(q_{k+1}) perp tau
// >= 0. Decoupled: velocities, then positions, in every iteration (newton.c). Coupled: both in one
// problem (coupled.c). Without project_all only the contacts of the forecast are projected, a
// variant that a public implementation offers; the others may then overlap.
#include "solvers/step/sim_internal.h"

LashOutcome step_direct(LashSim* sim, StepContext* s) {
    LashOutcome outcome = forecast_activate(sim, s);
    if (outcome != LASH_CONVERGED) return outcome;
    for (int i = s->list->bilateral; i < s->list->count; ++i) {
        if (joint_friction(&s->list->item[i])) continue;
        if (sim->settings.project_all || s->active[i]) s->position[i] = POSITION_NOT_NEGATIVE;
    }
    return step_solve(sim, s, true);
}
