// Krenk and Hogsberg with impulses [A16 (49); (30) prints one sign wrong]: as generalized alpha
// (alpha.c), but only the forces of the potential F_p are averaged, all others F_r go with M a:
//
//     (1 - am) s_{k+1} + am s_k = (1 - af) F_p(q_{k+1}) + af F_p(q_k),   s = M a - F_r
//     r = M(q_{k+1}) (v_{k+1} - v_k - h (1-gamma) a_k - w) - h gamma F
//         - h gamma ((1-af)/(1-am) - 1) F_p(q_{k+1}) + h gamma/(1-am) (am s_k - af F_p(q_k)) = 0
//
// The energy identity is that of alpha.c without the filters x and y. Of first order as soon as there
// are dampers or loads that vary.
#include <string.h>

#include "core/error.h"
#include "solvers/schemes/alpha.h"

static void potential_forces(LashSim* sim, double t, const double* q, double* F) {
    sim->system->conservative(sim->system, sim->work, t, q, F);
}

static void coefficients(const double* value, double* coefficient) {
    alpha_of_radius(value[0], coefficient);
}

static bool fits(const LashSystem* system, const double* value, LashError* error) {
    (void)value;
    if (system->conservative != NULL) return true;
    return lash_error_set(error, LASH_ERROR_MODEL, "simulation.scheme",
                          "the scheme krenk-hogsberg needs the forces of the potential apart from "
                          "the others; this system does not give them");
}

static void start(LashSim* sim) {
    alpha_start(sim);
    double* F_p = alpha_history(sim, ALPHA_POTENTIAL);
    potential_forces(sim, sim->now.t, sim->now.q, F_p);
    memcpy(alpha_history(sim, ALPHA_SMOOTH), F_p, (size_t)sim->system->nv * sizeof *F_p);
}

static void plan(LashSim* sim, Step* step) {
    const double *c = sim->coefficient, *v = sim->now.v, *a = alpha_history(sim, ALPHA_A),
                 *s = alpha_history(sim, ALPHA_SMOOTH), *F_p = alpha_history(sim, ALPHA_POTENTIAL);
    double h = step->h, weight = h * c[ALPHA_GAMMA];
    Stencil* stencil = &step->stencil;
    alpha_plan(sim, step);
    stencil->force_h = weight;
    stencil->c_v = weight;
    stencil->c_d = weight * (1 - c[ALPHA_F]) / (1 - c[ALPHA_M]); // K is that of the potential
    stencil->potential_h = stencil->c_d - weight;
    for (int i = 0; i < sim->system->nv; ++i) {
        stencil->v_star[i] = v[i] + h * (1 - c[ALPHA_GAMMA]) * a[i];
        stencil->r_0[i] = weight / (1 - c[ALPHA_M]) * (c[ALPHA_M] * s[i] - c[ALPHA_F] * F_p[i]);
    }
}

static void keep(LashSim* sim, const Step* step) {
    const double* c = sim->coefficient;
    double *a = alpha_history(sim, ALPHA_A), *s = alpha_history(sim, ALPHA_SMOOTH),
           *F_p = alpha_history(sim, ALPHA_POTENTIAL);
    Scratch scratch = scratch_begin(sim);
    double* end = scratch_velocity(sim); // F_p there
    potential_forces(sim, step->t0 + step->h, step->q_end, end);
    for (int i = 0; i < sim->system->nv; ++i) {
        s[i] = ((1 - c[ALPHA_F]) * end[i] + c[ALPHA_F] * F_p[i] - c[ALPHA_M] * s[i]) /
               (1 - c[ALPHA_M]);
        a[i] = s[i] + step->F[i] - end[i];
        F_p[i] = end[i];
    }
    if (mass_factor(sim, step->q_end)) lash_block_lu_solve(sim->operators.N, a);
    scratch_end(sim, scratch);
    alpha_filter(sim, step);
}

const Scheme scheme_krenk_hogsberg = {
    .summary = "as generalized-alpha, averaging the forces of the potential alone",
    .uses = USES_ALPHA,
    .option = &alpha_radius_option,
    .options = 1,
    .fits = fits,
    .coefficients = coefficients,
    .projection = PROJECTS_NOTHING,
    .history_v = ALPHA_HISTORY,
    .start = start,
    .plan = plan,
    .advance = forecast_velocities,
    .energy = alpha_energy,
    .algorithmic = alpha_algorithmic,
    .accept = keep,
};
