// Which contacts may act in the coming step, where a scheme decides it beforehand (SCHEMES section
// 2):
//     explicit   g_k + gamma h U_k <= 0
//     free       g_k + h (theta U_free + (1 - theta) U_k) <= 0,  U_free of the step without
//     contacts midpoint   g(q_k (+) h/2 v_k) <= 0 end        g(q_k (+) h v_k) <= 0  and  U_k <= 0
// A projected contact is closed to the position tolerance only, so gaps are compared with that.
#include <string.h>

#include "solvers/step/rows.h"
#include "solvers/step/sim_internal.h"

// Gaps at (t, q) into s->g.
static bool gaps_at(LashSim* sim, StepContext* s, double t, const double* q) {
    return sim_evaluate(sim, t, q, NULL, s->g, NULL, NULL);
}

LashOutcome forecast_activate(LashSim* sim, StepContext* s) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = s->list;
    if (list->count == list->bilateral) return LASH_CONVERGED;
    LashForecast forecast = sim->settings.forecast;
    if (forecast == LASH_FORECAST_FREE) {
        LashOutcome outcome = step_solve(sim, s, false);
        if (outcome != LASH_CONVERGED) return outcome;
    }
    memcpy(sim->x, s->v, (size_t)system->nv * sizeof *sim->x); // v_free
    for (int i = list->bilateral; i < list->count; ++i) s->wanted[i] = 1;
    if (!sim_evaluate(sim, s->t0, sim->q, s->wanted, s->g_star, s->g_t, s->G)) return LASH_FAILED;
    lash_rows_velocity(system, list, list->bilateral, list->count, NULL, s->G, sim->v, s->U_start);
    lash_rows_velocity(system, list, list->bilateral, list->count, NULL, s->G, sim->x, s->U);
    for (int i = list->bilateral_rows; i < list->rows; ++i) {
        s->U_start[i] += s->g_t[i];
        s->U[i] += s->g_t[i];
    }
    if (forecast == LASH_FORECAST_MIDPOINT || forecast == LASH_FORECAST_END) {
        double share = forecast == LASH_FORECAST_END ? 1 : 0.5;
        system->move(system, sim->q, share * s->h, sim->v, s->q_end);
        if (!gaps_at(sim, s, s->t0 + share * s->h, s->q_end)) return LASH_FAILED;
    }
    for (int i = list->bilateral; i < list->count; ++i) {
        int n = list->item[i].row;
        double U = s->U_start[n], gap = s->g_star[n];
        switch (forecast) {
            case LASH_FORECAST_EXPLICIT:
                gap += sim->settings.gamma * s->h * U;
                break;
            case LASH_FORECAST_FREE:
                gap += s->h * (s->theta * s->U[n] + (1 - s->theta) * U);
                break;
            case LASH_FORECAST_MIDPOINT:
                gap = s->g[n];
                break;
            case LASH_FORECAST_END:
                gap = U <= 0 ? s->g[n] : 1;
                break;
        }
        s->has_U_start[i] = 1;
        s->gap_start[i] = s->g_star[n];
        if (gap <= sim->settings.tolerance_position) s->active[i] = 1; // a tie is a contact
        s->wanted[i] = 0;
    }
    return LASH_CONVERGED;
}
