// The theta-method, with v_theta = (1 - theta) v_k + theta v_{k+1}:
//
//     M(q_{k+theta}) (v_{k+1} - v_k) = h F(t_{k+theta}, q_{k+theta}, v_theta) + G* P
//     q_{k+1} = q_k (+) d,   d = h v_theta [+ N G tau],   q_{k+theta} = q_k (+) theta d
//
// G* at q_{k+theta} by default; at the end, or at the start of the step for the papers' runs.
// Variant [A16 (29)]: q moves with v_{k+1/2} whatever theta.
#include "solvers/schemes/scheme.h"

void stencil_theta(LashSim* sim, Step* step, double theta, double move, LashDirection direction) {
    const LashSettings* settings = &sim->settings;
    Stencil* stencil = &step->stencil;
    double h = step->h, t_theta = step->t0 + theta * h;
    stencil->move = move;
    stencil->free_weight = theta;
    stencil->tie = settings->tolerance_position;
    stencil->d_v = h * stencil->move;
    stencil->f_v = theta;
    stencil->force_h = h;
    stencil->potential_h = 0;
    stencil->force_d = theta;
    stencil->mass_d = theta;
    stencil->mass_w = theta;
    stencil->force_place = stencil->star_place = stencil->mass_place = NULL;
    stencil->rows_at_star = false;
    stencil->projects_at_star = false;
    stencil->shift_metric = sim->system->unit_metric ? SHIFT_BY_UNIT : SHIFT_BY_MASS;
    stencil->d_w = 0;
    stencil->t_force = t_theta;
    switch (direction) {
        case LASH_AT_MIDPOINT:
            stencil->star_d = theta;
            stencil->t_star = t_theta;
            break;
        case LASH_AT_END:
            stencil->star_d = 1;
            stencil->t_star = step->t0 + h;
            break;
        case LASH_AT_START:
            stencil->star_d = 0;
            stencil->t_star = step->t0;
            break;
    }
    stencil->c_v = h * theta;
    stencil->c_d = h * theta;
    stencil->law = settings->law;
    stencil->law_before = (1 - theta) / theta;
    stencil->coupled = settings->coupled && sim->scheme->uses & USES_COUPLED;
    double before = h * (1 - stencil->move);
    for (int i = 0; i < sim->system->nv; ++i) {
        stencil->d_0[i] = before * sim->now.v[i];
        stencil->f_0[i] = (1 - theta) * sim->now.v[i];
        stencil->v_star[i] = sim->now.v[i];
    }
}

void plan_theta(LashSim* sim, Step* step) {
    const LashSettings* settings = &sim->settings;
    double move = settings->variant ? 0.5 : settings->theta;
    stencil_theta(sim, step, settings->theta, move, settings->direction);
}

bool gaps_hold(const LashSim* sim, const Step* step) {
    return step->penetration <= sim->settings.tolerance_position;
}
