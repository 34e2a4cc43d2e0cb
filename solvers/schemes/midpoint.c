// The midpoint rules of [S12]: v_m = (v_n + v_{n+1})/2, q_m = q_n (+) d/2, explicit q_M = q_n (+) h/2 v_n.
//
//     implicit   M(q_M) (v_{n+1} - v_n) = h F(t_n + h/2, q_m, v_m) + G(q_m) Lambda,   d = h v_m + ...
//     explicit   M(q_M) (v_{n+1} - v_n) = h F(t_n + h/2, q_M, v_n) + G(q_M) Lambda
//
// Rows of joints and of the law of impact: at the end of the step, U+ = G(q_{n+1})'v_{n+1} and U- =
// G(q_n)'v_n; or at the midpoint, U+ = G'v_{n+1} and U- = G'v_n with the G of the impulses. The latter
// is what [S12] computes: contacts drift, and all that turns is of first order.
#include "solvers/schemes/midpoint.h"

const char* const rows_names[] = {"midpoint", "end", "mean", NULL};
const LashOption midpoint_rows_option = {
    .name = "rows",
    .help =
        "where velocities of joints and contacts are taken: of moreau-midpoint and ggl end or "
        "midpoint, of trapezoidal mean (of both ends) or end",
    .value = ROWS_END,
    .low = ROWS_MIDPOINT,
    .high = ROWS_END,
    .names = rows_names};

void stencil_midpoint(LashSim* sim, Step* step, bool rows_at_midpoint) {
    Stencil* stencil = &step->stencil;
    double* place = step->room[2];
    stencil_theta(sim, step, 0.5, 0.5, LASH_AT_MIDPOINT);
    sim->system->move(sim->system, sim->now.q, step->h / 2, sim->now.v, place);
    stencil->law = sim->settings.law;
    stencil->tie = 0;
    stencil->mass_place = place;
    stencil->mass_d = 0;
    stencil->mass_w = 0;
    stencil->rows_at_star = rows_at_midpoint;
    stencil->projects_at_star = true;
}

void stencil_explicit_midpoint(LashSim* sim, Step* step, bool rows_at_midpoint) {
    Stencil* stencil = &step->stencil;
    stencil_midpoint(sim, step, rows_at_midpoint);
    stencil->force_place = stencil->star_place = stencil->mass_place;
    stencil->force_d = 0;
    stencil->star_d = 0;
    stencil->f_v = 0;
    stencil->c_v = 0;
    stencil->c_d = 0;
    for (int i = 0; i < sim->system->nv; ++i) stencil->f_0[i] = sim->now.v[i];
}
