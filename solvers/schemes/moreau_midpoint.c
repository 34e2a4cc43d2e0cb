// Moreau's midpoint rule [S12 2.3]: the explicit one of midpoint.c with d = h v_m. One contact problem on
// the contacts with g(q_M) <= 0; positions follow, gaps and joint errors are reported. Of first order:
// forces are taken with v_n.
#include "solvers/schemes/midpoint.h"

static void plan(LashSim* sim, Step* step) {
    stencil_explicit_midpoint(sim, step, sim->option[0] == ROWS_MIDPOINT);
}

static LashOutcome advance(LashSim* sim, Step* step) {
    LashOutcome outcome = forecast_activate(sim, step, LASH_FORECAST_MIDPOINT);
    return outcome == LASH_CONVERGED ? step_solve(sim, step, VELOCITIES) : outcome;
}

const Scheme scheme_moreau_midpoint = {
    .summary = "Moreau's midpoint rule: forces of the explicit midpoint; gaps are reported",
    .uses = USES_FREMOND | USES_JOINT_FRICTION | USES_RESTITUTION,
    .option = &midpoint_rows_option,
    .options = 1,
    .projection = PROJECTS_NOTHING,
    .plan = plan,
    .advance = advance,
};
