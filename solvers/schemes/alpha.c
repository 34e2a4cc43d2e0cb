// The nonsmooth alpha family [A16 4.2, 4.3]: smooth forces enter through accelerations a, which hold
// no impulse; impulses act at once, along G at the middle of the step.
//
//     M(q_{k+1}) a~_{k+1} = F(t_{k+1}, q_{k+1}, v_{k+1})
//     (1 - am) a_{k+1} + am a_k = (1 - af) a~_{k+1} + af a~_k
//     M(q*) w = G(q*) P,   q* = q_k (+) d/2                             joints and contacts alike
//     d       = h v_k + h^2 (1/2 - beta) a_k + h^2 beta a_{k+1} + h/2 w,   q_{k+1} = q_k (+) d
//     v_{k+1} = v_k + h (1 - gamma) a_k + h gamma a_{k+1} + w
//     joints and contacts: rows at the end, U(start) at the start of the step
//
// Without a_{k+1}, with b = beta/gamma and kappa = (1 - am)/(1 - af):
//
//     d = h (1-b) v_k + h^2 (1/2 - b) a_k + h b v_{k+1} + h (1/2 - b) w
//     r = M(q_{k+1}) (v_{k+1} - v_star - w) - h gamma/kappa F = 0
//     v_star = v_k + h (1-gamma) a_k - h gamma/(1-am) (am a_k - af a~_k)
//
// Directions and masses of w both at q*: at one end, or at different places, the family is of first
// order on all that turns. Nothing is reset after an impact. Started with a = a~ = M^-1 F.
// 2 beta = gamma: d = h (v_k + v_{k+1})/2.
//
// Fremond's law takes theta = 1/2: the work of an impulse is P . U_{k+1/2}, never positive then.
//
// Works: of the forces of both ends, gamma and 1 - gamma, with d/h; of impulses with the mean of v_k
// and v_{k+1}. In linear systems, nu = 1/2 - am, eta = af - am, the filters z, x, y of dq, dv, dF,
// (1/2 + nu) z_{k+1} + (1/2 - nu) z_k = nu dq, started at zero,
// x_{k,gamma} = gamma x_{k+1} + (1-gamma) x_k [A16 (58), its h/2 before (2 beta - gamma) must be h^2/2]:
//
//     H = E + h^2/4 (2 beta - gamma) a'M a + eta/(2 nu^2) (nu - gamma + 1/2) z'K z
//     dH - dq.(F - eta/nu y)_{k,gamma} + dq.C (v - eta/nu x)_{k,gamma} = U_{k+1/2}.P
//         - h^2/2 (gamma - 1/2)(2 beta - gamma) |da|_M^2 - (gamma - 1/2 - eta) |dq|_K^2
//         - eta/nu (nu - gamma + 1/2) |dz|_K^2
#include "solvers/schemes/alpha.h"

#include <string.h>

#include "solvers/step/rows.h"

const LashOption alpha_radius_option = {
    .name = "spectral_radius",
    .help =
        "of generalized-alpha and krenk-hogsberg, 0 to 1: what is left per step of the fastest "
        "vibrations; 1 damps nothing",
    .value = 0.8,
    .low = 0,
    .high = 1};

void alpha_of_radius(double radius, double* coefficient) {
    double m = (2 * radius - 1) / (radius + 1), f = radius / (radius + 1), gamma = 0.5 + f - m;
    coefficient[ALPHA_M] = m;
    coefficient[ALPHA_F] = f;
    coefficient[ALPHA_GAMMA] = gamma;
    coefficient[ALPHA_BETA] = (gamma + 0.5) * (gamma + 0.5) / 4;
}

// x (nv) <- M(q)^-1 x
static void divide_by_mass(LashSim* sim, const double* q, double* x) {
    if (mass_factor(sim, q)) lash_block_lu_solve(sim->operators.N, x);
}

void alpha_start(LashSim* sim) {
    const LashSystem* system = sim->system;
    size_t bytes = (size_t)system->nv * sizeof(double);
    double *a = alpha_history(sim, ALPHA_A), *smooth = alpha_history(sim, ALPHA_SMOOTH);
    memset(sim->now.history, 0, (size_t)sim->scheme->history_v * bytes);
    system->forces(system, sim->work, sim->now.t, sim->now.q, sim->now.v, a);
    divide_by_mass(sim, sim->now.q, a);
    memcpy(smooth, a, bytes);
}

void alpha_plan(LashSim* sim, Step* step) {
    static const double share[] = {
        [LASH_AT_MIDPOINT] = 0.5, [LASH_AT_END] = 1, [LASH_AT_START] = 0};
    const double* c = sim->coefficient;
    double h = step->h, gamma = c[ALPHA_GAMMA], b = c[ALPHA_BETA] / gamma;
    double weight = h * gamma / (1 - c[ALPHA_M]); // of forces, before 1 - af
    Stencil* stencil = &step->stencil;
    stencil_theta(sim, step, 0.5, b, LASH_AT_MIDPOINT);
    stencil->free_weight = b;
    stencil->d_w = h * (0.5 - b);
    stencil->f_v = 1;
    stencil->force_h = weight * (1 - c[ALPHA_F]);
    stencil->force_d = 1;
    stencil->mass_d = 1;
    stencil->star_d = share[sim->settings.direction];
    stencil->mass_w = stencil->star_d;
    stencil->t_force = step->t0 + h;
    stencil->t_star = step->t0 + stencil->star_d * h;
    stencil->c_v = stencil->force_h;
    stencil->c_d = stencil->force_h;
    const double *v = sim->now.v, *a = alpha_history(sim, ALPHA_A),
                 *smooth = alpha_history(sim, ALPHA_SMOOTH);
    for (int i = 0; i < sim->system->nv; ++i) {
        stencil->d_0[i] = h * (1 - b) * v[i] + h * h * (0.5 - b) * a[i];
        stencil->f_0[i] = 0;
        stencil->v_star[i] =
            v[i] + h * (1 - gamma) * a[i] - weight * (c[ALPHA_M] * a[i] - c[ALPHA_F] * smooth[i]);
    }
}

void alpha_energy(LashSim* sim, Step* step) {
    double gamma = sim->coefficient[ALPHA_GAMMA], h = step->h;
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

// Exact in linear systems; elsewhere with the K of the present state.
double alpha_algorithmic(LashSim* sim) {
    const LashSystem* system = sim->system;
    Operators* operators = &sim->operators;
    const double *c = sim->coefficient, *a = alpha_history(sim, ALPHA_A),
                 *z = alpha_history(sim, ALPHA_Z);
    double nu = 0.5 - c[ALPHA_M], eta = c[ALPHA_F] - c[ALPHA_M], sum = 0, h = sim->now.h;
    double of_a = h * h / 4 * (2 * c[ALPHA_BETA] - c[ALPHA_GAMMA]);
    double of_z = eta == 0 ? 0 : eta / (2 * nu * nu) * (nu - c[ALPHA_GAMMA] + 0.5);
    Scratch scratch = scratch_begin(sim);
    double* product = scratch_velocity(sim);
    if (of_a != 0) {
        system->mass(system, sim->work, sim->now.q, operators->A_values);
        lash_block_multiply(system, operators->A_values, a, product);
        for (int i = 0; i < system->nv; ++i) sum += of_a * a[i] * product[i];
    }
    if (of_z != 0) {
        system->tangents(system, sim->work, sim->now.t, sim->now.q, sim->now.v, operators->C_values,
                         operators->K_values);
        operator_forget(sim); // C and K were its
        lash_block_multiply(system, operators->K_values, z, product);
        for (int i = 0; i < system->nv; ++i) sum += of_z * z[i] * product[i];
    }
    scratch_end(sim, scratch);
    return sum;
}

void alpha_filter(LashSim* sim, const Step* step) {
    double nu = 0.5 - sim->coefficient[ALPHA_M], *z = alpha_history(sim, ALPHA_Z);
    for (int i = 0; i < sim->system->nv; ++i)
        z[i] = (nu * step->d[i] - (0.5 - nu) * z[i]) / (0.5 + nu);
}

void alpha_accept(LashSim* sim, const Step* step) {
    const double* c = sim->coefficient;
    double *a = alpha_history(sim, ALPHA_A), *smooth = alpha_history(sim, ALPHA_SMOOTH);
    int nv = sim->system->nv;
    Scratch scratch = scratch_begin(sim);
    double* end = scratch_velocity(sim); // a~ there
    memcpy(end, step->F, (size_t)nv * sizeof *end);
    divide_by_mass(sim, step->q_end, end);
    for (int i = 0; i < nv; ++i) {
        a[i] = ((1 - c[ALPHA_F]) * end[i] + c[ALPHA_F] * smooth[i] - c[ALPHA_M] * a[i]) /
               (1 - c[ALPHA_M]);
        smooth[i] = end[i];
    }
    scratch_end(sim, scratch);
    alpha_filter(sim, step);
}
