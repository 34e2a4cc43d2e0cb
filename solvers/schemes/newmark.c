// Nonsmooth Newmark [A16 4.2]: smooth forces at the end of the step, no reactions in the acceleration.
//
//     M(q_{k+1}) a_{k+1} = F(t_{k+1}, q_{k+1}, v_{k+1})                 no impulse in it
//     M(q*) w = G(q*) P,   q* = q_k (+) d/2                             joints and contacts alike
//     d       = h v_k + h^2 (1/2 - beta) a_k + h^2 beta a_{k+1} + h/2 w
//     v_{k+1} = v_k + h (1 - gamma) a_k + h gamma a_{k+1} + w
//     joints and contacts as in Moreau-Jean: rows at the end, U(start) at the start of the step
//
// Without a_{k+1}, with b = beta / gamma:
//
//     d = h (1-b) v_k + h^2 (1/2 - b) a_k + h b v_{k+1} + h (1/2 - b) w
//     r = M(q_{k+1}) (v_{k+1} - v_k - h (1-gamma) a_k - w) - h gamma F = 0
//
// Impulses point along G at q*, masses of w too: at one end the scheme would be of first order on
// all that turns. 2 beta = gamma: d = h (v_k + v_{k+1})/2, the variant (29) of Moreau-Jean in linear
// systems. a holds no impulses, so nothing is to be reset after an impact.
//
// Works: of the forces of both ends, gamma and 1 - gamma, with d/h; of impulses with the mean of
// v_k and v_{k+1}. Linear systems, H = kinetic + potential + h^2/4 (2 beta - gamma) a'M a:
//
//     dH - works = U_{k+1/2} . P - (gamma - 1/2) (|dq|_K^2 + h^2/2 (2 beta - gamma) |da|_M^2)
#include <string.h>

#include "solvers/schemes/scheme.h"

// a <- M(q)^-1 F
static void set_acceleration(LashSim* sim, const double* F, const double* q) {
    double* a = sim->now.history;
    memcpy(a, F, (size_t)sim->system->nv * sizeof *a);
    if (mass_factor(sim, q)) lash_block_lu_solve(sim->operators.N, a);
}

static void start(LashSim* sim) {
    const LashSystem* system = sim->system;
    Scratch scratch = scratch_begin(sim);
    double* F = scratch_velocity(sim);
    system->forces(system, sim->work, sim->now.t, sim->now.q, sim->now.v, F);
    set_acceleration(sim, F, sim->now.q);
    scratch_end(sim, scratch);
}

static void plan(LashSim* sim, Step* step) {
    const LashSettings* settings = &sim->settings;
    Stencil* stencil = &step->stencil;
    const double *a = sim->now.history, *v = sim->now.v, h = step->h;
    double gamma = settings->newmark_gamma, b = settings->newmark_beta / gamma;
    static const double share[] = {
        [LASH_AT_MIDPOINT] = 0.5, [LASH_AT_END] = 1, [LASH_AT_START] = 0};
    stencil->move = b;
    stencil->free_weight = b;
    stencil->d_v = h * b;
    stencil->d_w = h * (0.5 - b);
    stencil->f_v = 1;
    stencil->force_h = h * gamma;
    stencil->force_d = 1;
    stencil->mass_d = 1;
    stencil->star_d = share[settings->direction];
    stencil->mass_w = stencil->star_d;
    stencil->t_force = step->t0 + h;
    stencil->t_star = step->t0 + stencil->star_d * h;
    stencil->c_v = stencil->force_h;
    stencil->c_d = stencil->force_h;
    stencil->law = LASH_NEWTON_COULOMB;
    stencil->coupled = false;
    stencil->mass_place = NULL;
    stencil->projects_at_star = false;
    for (int i = 0; i < sim->system->nv; ++i) {
        stencil->d_0[i] = h * (1 - b) * v[i] + h * h * (0.5 - b) * a[i];
        stencil->f_0[i] = 0;
        stencil->v_star[i] = v[i] + h * (1 - gamma) * a[i];
    }
}

static LashOutcome advance(LashSim* sim, Step* step) {
    LashOutcome outcome = forecast_activate(sim, step, sim->settings.forecast);
    return outcome == LASH_CONVERGED ? step_solve(sim, step, VELOCITIES) : outcome;
}

static void energy(LashSim* sim, Step* step) {
    double gamma = sim->settings.newmark_gamma, h = step->h;
    Scratch scratch = scratch_begin(sim);
    double *mean = scratch_velocity(sim), *moved = scratch_velocity(sim);
    for (int i = 0; i < sim->system->nv; ++i) {
        mean[i] = 0.5 * (sim->now.v[i] + step->v[i]);
        moved[i] = step->d[i] / h;
    }
    energy_add_forces(sim, h * gamma, step->t0 + h, step->q_end, step->v, moved);
    energy_add_forces(sim, h * (1 - gamma), step->t0, sim->now.q, sim->now.v, moved);
    energy_add_impulses(sim, step, mean);
    scratch_end(sim, scratch);
}

static void keep_acceleration(LashSim* sim, const Step* step) {
    set_acceleration(sim, step->F, step->q_end);
}

const Scheme scheme_newmark = {
    .summary = "Newmark with impulses: second order, damps by gamma; gaps are reported",
    .uses = USES_DIRECTION | USES_FORECAST | USES_JOINT_FRICTION | USES_RESTITUTION | USES_NEWMARK,
    .projection = PROJECTS_NOTHING,
    .history_v = 1,
    .start = start,
    .plan = plan,
    .advance = advance,
    .energy = energy,
    .accept = keep_acceleration,
};
