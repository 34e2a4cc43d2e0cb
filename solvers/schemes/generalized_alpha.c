// Generalized alpha with impulses [A16 4.3]: the optimal member of the family (alpha.c) for a spectral
// radius rho at infinity. rho = 1 is Newmark (1/4, 1/2), rho = 1/2 hht with alpha = 1/3.
#include "solvers/schemes/alpha.h"

static void coefficients(const double* value, double* coefficient) {
    alpha_of_radius(value[0], coefficient);
}

const Scheme scheme_generalized_alpha = {
    .summary = "generalized alpha with impulses: second order, least damping of what is slow",
    .uses = USES_ALPHA,
    .option = &alpha_radius_option,
    .options = 1,
    .coefficients = coefficients,
    .projection = PROJECTS_NOTHING,
    .history_v = ALPHA_POTENTIAL,
    .start = alpha_start,
    .plan = alpha_plan,
    .advance = forecast_velocities,
    .energy = alpha_energy,
    .algorithmic = alpha_algorithmic,
    .accept = alpha_accept,
};
