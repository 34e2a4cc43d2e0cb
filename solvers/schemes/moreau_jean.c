// Moreau-Jean: the theta-method (theta.c) with contacts at velocity level. Those that the forecast
// activates obey the law of impact and friction; positions follow, and gaps are reported only.
#include "solvers/schemes/scheme.h"

const Scheme scheme_moreau_jean = {
    .summary = "contacts at velocity level, forecast before the step; gaps are reported",
    .uses = USES_THETA_METHOD | USES_FORECAST,
    .projection = PROJECTS_NOTHING,
    .advance = forecast_velocities,
};
