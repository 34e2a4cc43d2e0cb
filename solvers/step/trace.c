// One line per attempt, for whoever asked (lash_sim_set_trace): why a step was slow, or failed.
#include "solvers/schemes/scheme.h"

void lash_sim_set_trace(LashSim* sim, LashTrace* trace, void* context) {
    sim->trace = trace;
    sim->trace_context = context;
}

// Ids of the contacts that act, whatever their order.
static uint64_t set_key(const Step* step) {
    uint64_t key = 0;
    for (int c = 0; c < step->nc; ++c)
        key += (step->list->item[step->contact[c]].id + 1) * 0x9e3779b97f4a7c15u;
    return key;
}

static const char* derivatives_name(Derivatives derivatives) {
    static const char* const name[] = {
        [DERIVATIVES_NONE] = "none",
        [DERIVATIVES_FORCES] = "forces",
        [DERIVATIVES_CONTACTS] = "contacts",
        [DERIVATIVES_ALL] = "all",
    };
    return name[derivatives];
}

static const char* outcome_name(LashOutcome outcome) {
    switch (outcome) {
        case LASH_CONVERGED:
            return "converged";
        case LASH_INACCURATE:
            return "inaccurate";
        case LASH_FAILED:
            return "failed";
        case LASH_INTERRUPTED:
            return "interrupted";
    }
    return "failed";
}

void trace_attempt(LashSim* sim, const Step* step, const char* operator_name,
                   Derivatives derivatives, int solver_before, LashOutcome outcome) {
    if (sim->trace == NULL) return;
    bool jam = sim->jam.tried && attempt_couples(step->attempt);
    LashAttempt attempt = {.t = step->t0,
                           .h = step->h,
                           .scheme = lash_scheme_name(sim->settings.scheme),
                           .contacts = step->nc,
                           .set = set_key(step),
                           .operator_name = jam ? "jam" : operator_name,
                           .derivatives = derivatives_name(derivatives),
                           .iterations = step->correction,
                           .solver = sim->info.solver - solver_before,
                           .dynamics_error = step->dynamics_error,
                           .velocity_error = step->velocity_error,
                           .contact_error = step->contact_error,
                           .position_error = step->position_error,
                           .outcome = step->unfinished ? "grows" : outcome_name(outcome)};
    sim->trace(sim->trace_context, &attempt);
}
