// Which contacts may act in the coming step, where a scheme decides it beforehand:
//
//     explicit   g_k + gamma h U_k <= 0
//     free       g_k + h ((1 - w) U_k + w U_free) <= 0     U_free of the step without contacts,
//                                                          w its weight in the motion's forecast
//     midpoint   g(q_k (+) h/2 v_k) <= 0
//     end        g(q_k (+) h v_k) <= 0  and  U_k <= 0
//
// A projected contact is closed to the position tolerance only, so gaps are compared with that (tie);
// those of [S12], which have no other rule, with 0.
#include <string.h>

#include "solvers/schemes/scheme.h"
#include "solvers/step/rows.h"

// Gaps at (t, q) into step->g.
static bool gaps_at(LashSim* sim, Step* step, double t, const double* q) {
    return sim_evaluate(sim, t, q, NULL, step->g, NULL, NULL);
}

LashOutcome forecast_activate(LashSim* sim, Step* step, LashForecast forecast) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    if (list->count == list->bilateral) return LASH_CONVERGED;
    double weight = step->stencil.free_weight;
    if (forecast == LASH_FORECAST_FREE) {
        LashOutcome outcome = step_solve(sim, step, VELOCITIES);
        if (outcome != LASH_CONVERGED) return outcome;
    }
    for (int i = list->bilateral; i < list->count; ++i) step->wanted[i] = 1;
    if (!sim_evaluate(sim, step->t0, sim->now.q, step->wanted, step->g_star, step->g_t, step->G))
        return LASH_FAILED;
    lash_rows_velocity(system, list, list->bilateral, list->count, NULL, step->G, sim->now.v,
                       step->U_start);
    lash_rows_velocity(system, list, list->bilateral, list->count, NULL, step->G, step->v,
                       step->U); // v_free
    for (int i = list->bilateral_rows; i < list->rows; ++i) {
        step->U_start[i] += step->g_t[i];
        step->U[i] += step->g_t[i];
    }
    if (forecast == LASH_FORECAST_MIDPOINT || forecast == LASH_FORECAST_END) {
        double share = forecast == LASH_FORECAST_END ? 1 : 0.5;
        system->move(system, sim->now.q, share * step->h, sim->now.v, step->q_end);
        if (!gaps_at(sim, step, step->t0 + share * step->h, step->q_end)) return LASH_FAILED;
    }
    for (int i = list->bilateral; i < list->count; ++i) {
        int n = list->item[i].row;
        double U = step->U_start[n], gap = step->g_star[n];
        switch (forecast) {
            case LASH_FORECAST_EXPLICIT:
                gap += sim->settings.gamma * step->h * U;
                break;
            case LASH_FORECAST_FREE:
                gap += step->h * (weight * step->U[n] + (1 - weight) * U);
                break;
            case LASH_FORECAST_MIDPOINT:
                gap = step->g[n];
                break;
            case LASH_FORECAST_END:
                gap = U <= 0 ? step->g[n] : 1;
                break;
        }
        step->has_U_start[i] = 1;
        step->gap_start[i] = step->g_star[n];
        if (gap <= step->stencil.tie) step->active[i] = 1;
        step->wanted[i] = 0;
    }
    return LASH_CONVERGED;
}

LashOutcome forecast_velocities(LashSim* sim, Step* step) {
    LashOutcome outcome = forecast_activate(sim, step, sim->settings.forecast);
    return outcome == LASH_CONVERGED ? step_solve(sim, step, VELOCITIES) : outcome;
}
