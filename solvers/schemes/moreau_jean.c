// Moreau-Jean theta-scheme, SCHEMES section 2: contacts that the forecast activates obey the
// velocity law; positions follow.
#include "solvers/step/sim_internal.h"

LashOutcome step_moreau_jean(LashSim* sim, Step* step) {
    LashOutcome outcome = forecast_activate(sim, step);
    return outcome == LASH_CONVERGED ? step_solve(sim, step, false) : outcome;
}
