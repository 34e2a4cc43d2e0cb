// What happened to the contacts in a step, told from the impulses before and after it.
//
//     impact   P_N > 0, and the contact did not push before, or U_N(start) < 0 and P_N jumps
//     open     pushed in the last step, does not now
//     slip     pushed in both steps; the impulse reached the cone only now;  stick: it left the
//     cone
#include <math.h>
#include <string.h>

#include "solvers/sim_internal.h"

// Slower than this is not an impact but what the tolerance of velocities leaves [tolerances].
static const double AT_REST = 100;
// Pushing on with a force that changed by less than this share: a contact that slides along a
// curved surface, whose rows turn within the step, is not hit again.
static const double STEADY = 0.02;
static const double IN_CONE =
    1e-9; // share of mu P_N by which a sticking impulse stays inside its cone

static bool sticks(const LashInteraction* item, const double* P) {
    if (item->rows < 2) return false;
    double t = item->rows == 2 ? fabs(P[1]) : hypot(P[1], P[2]);
    return t < item->mu * P[0] * (1 - IN_CONE);
}

static void add_event(LashSim* sim, const StepContext* s, LashEventKind kind, int i) {
    const LashInteraction* item = &s->list->item[i];
    if (sim->events == sim->event_capacity)
        --sim->events; // a step in very many parts: the last one stands for the rest
    LashEvent* event = &sim->event[sim->events++];
    *event = (LashEvent){.kind = kind, .t = s->t0, .h = s->h, .id = item->id};
    event->gap_before = s->has_U_start[i] ? s->gap_start[i] : s->g[item->row];
    for (int r = 0; r < item->rows; ++r) {
        event->impulse[r] = s->P[item->row + r];
        event->U_before[r] = s->has_U_start[i] ? s->U_start[item->row + r] : 0;
        event->U_after[r] = s->U[item->row + r];
    }
}

static void look_at(LashSim* sim, const StepContext* s, int i, const double* before) {
    const LashInteraction* item = &s->list->item[i];
    const double* P = s->P + item->row;
    bool pushed = before != NULL && before[0] > 0, pushes = s->active[i] && P[0] > 0;
    double U = s->has_U_start[i] ? s->U_start[item->row] : 0;
    double at_rest = AT_REST * sim->settings.tolerance_velocity;
    double same = pushed ? before[0] * s->h / sim->h_prev : 0; // force, over this step
    bool steady = pushed && fabs(P[0] - same) <= STEADY * same;
    bool turns = pushed && pushes && sticks(item, before) != sticks(item, P);
    if (joint_friction(item)) { // a load that comes and goes is no impact
        if (turns) add_event(sim, s, sticks(item, P) ? LASH_EVENT_STICK : LASH_EVENT_SLIP, i);
    } else if (pushes && (!pushed || (U < -at_rest && !steady))) {
        add_event(sim, s, LASH_EVENT_IMPACT, i);
    } else if (pushed && !pushes) {
        add_event(sim, s, LASH_EVENT_OPEN, i);
    } else if (turns) {
        add_event(sim, s, sticks(item, P) ? LASH_EVENT_STICK : LASH_EVENT_SLIP, i);
    }
}

void events_of_step(LashSim* sim, const StepContext* s) {
    if (sim->last.count == 0 && s->nc == 0) return;
    for (int i = s->list->bilateral; i < s->list->count; ++i) {
        const double* before = NULL;
        for (int k = 0; k < sim->last.count && before == NULL; ++k) {
            if (sim->last.id[k] == s->list->item[i].id) before = sim->last.P + 3 * k;
        }
        if (before != NULL || s->active[i]) look_at(sim, s, i, before);
    }
    if (s->restitution == 0 && s->nc > 0) add_event(sim, s, LASH_EVENT_PLASTIC, s->contact[0]);
}

const LashEvent* lash_sim_events(const LashSim* sim, int* count) {
    *count = sim->events;
    return sim->event;
}
