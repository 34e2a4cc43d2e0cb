// Nonsmooth Newmark [A16 4.2]: the alpha family (alpha.c) with am = af = 0, a = M^-1 F. gamma > 1/2
// damps, and is of first order; 2 beta >= gamma >= 1/2 keeps the energy H from growing. 2 beta = gamma is
// the variant (29) of Moreau-Jean in linear systems.
#include "core/error.h"
#include "solvers/schemes/alpha.h"

enum { GAMMA, BETA, OPTIONS };
static const LashOption option[OPTIONS] = {
    [GAMMA] = {.name = "newmark_gamma",
               .help = "of newmark, 1/2 to 1: above 1/2 it damps",
               .value = 0.5,
               .low = 0.5,
               .high = 1},
    [BETA] = {.name = "newmark_beta",
              .help = "of newmark, newmark_gamma/2 to 1",
              .value = 0.25,
              .low = 0.25,
              .high = 1},
};

static bool check(const double* value, LashError* error) {
    if (2 * value[BETA] >= value[GAMMA]) return true;
    return lash_error_set(error, LASH_ERROR_MODEL, "simulation.newmark_beta",
                          "must be at least newmark_gamma/2 = %g, got %g: below it energy can grow",
                          value[GAMMA] / 2, value[BETA]);
}

static void coefficients(const double* value, double* coefficient) {
    coefficient[ALPHA_M] = 0;
    coefficient[ALPHA_F] = 0;
    coefficient[ALPHA_GAMMA] = value[GAMMA];
    coefficient[ALPHA_BETA] = value[BETA];
}

const Scheme scheme_newmark = {
    .summary = "Newmark with impulses: second order, damps by gamma; gaps are reported",
    .uses = USES_ALPHA,
    .option = option,
    .options = OPTIONS,
    .check = check,
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
