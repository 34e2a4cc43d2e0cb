// Moreau-Jean theta-scheme, SCHEMES section 2: contacts that the forecast activates obey the
// velocity law; positions follow.
#include "solvers/step/sim_internal.h"

LashOutcome step_moreau_jean(LashSim* sim, StepContext* s) {
    LashOutcome outcome = forecast_activate(sim, s);
    return outcome == LASH_CONVERGED ? step_solve(sim, s, false) : outcome;
}
