// Hilber, Hughes and Taylor with impulses [A16 4.3]: the alpha family (alpha.c) with am = 0,
// af = alpha, gamma = 1/2 + alpha, beta = (1 + alpha)^2/4: damps fast vibrations, of second order.
#include "solvers/schemes/alpha.h"

static const LashOption option[] = {
    {.name = "alpha",
     .help = "of hht, 0 to 1/3: the larger, the more it damps fast vibrations",
     .value = 0.05,
     .low = 0,
     .high = 1.0 / 3},
};

static void coefficients(const double* value, double* coefficient) {
    coefficient[ALPHA_M] = 0;
    coefficient[ALPHA_F] = value[0];
    coefficient[ALPHA_GAMMA] = 0.5 + value[0];
    coefficient[ALPHA_BETA] = (1 + value[0]) * (1 + value[0]) / 4;
}

const Scheme scheme_hht = {
    .summary = "Hilber-Hughes-Taylor with impulses: second order, damps fast vibrations",
    .uses = USES_ALPHA,
    .option = option,
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
