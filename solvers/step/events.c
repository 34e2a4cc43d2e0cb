// What happened to the contacts in a step.
//
//     impact   U_N(start) < 0, beyond the tolerance, and P_N > 0: the approach is ended within the step
//     open     touched at the end of the last step, does not now: no impulse, and apart or parting
//     slip     pushed in both steps; |U_T| > 0, beyond the tolerance, only now
//     stick    pushed in both steps; slid before, and now |U_T| = 0 and P_T is inside its cone
//
// An impact is told from velocities alone: a contact that takes over a load, or passes on the impact of
// another one, changes its P without any approach. Between slip and stick a contact stays what it was:
// at rest on the edge of its cone rounding decides neither way.
#include <math.h>
#include <string.h>

#include "solvers/step/sim_internal.h"

// Slower than this is at rest: what the tolerance of velocities leaves [tolerances].
static const double AT_REST = 100;
// Share of mu P_N by which a sticking impulse stays inside its cone [-].
static const double IN_CONE = 1e-9;

static double tangential(int rows, const double* x) {
    if (rows < 2) return 0;
    return rows == 2 ? fabs(x[1]) : hypot(x[1], x[2]);
}

// At the end of the step; before: at the end of the last one.
static ContactState state_of(const LashSim* sim, const StepContext* s, int i, ContactState before) {
    const LashInteraction* item = &s->list->item[i];
    const double *P = s->P + item->row, *U = s->U + item->row;
    double at_rest = AT_REST * sim->settings.tolerance_velocity;
    if (s->active[i] && P[0] > 0) {
        bool inside = tangential(item->rows, P) < item->mu * P[0] * (1 - IN_CONE);
        bool slides = tangential(item->rows, U) > at_rest || (before == CONTACT_SLIDES && !inside);
        return slides && item->rows > 1 ? CONTACT_SLIDES : CONTACT_STICKS;
    }
    if (joint_friction(item) || s->g[item->row] > sim->settings.tolerance_position)
        return CONTACT_OPEN;
    return s->active[i] && U[0] > at_rest ? CONTACT_OPEN : CONTACT_TOUCHES;
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

static void look_at(LashSim* sim, StepContext* s, int i, ContactState before) {
    const LashInteraction* item = &s->list->item[i];
    double at_rest = AT_REST * sim->settings.tolerance_velocity;
    bool approached = s->has_U_start[i] && s->U_start[item->row] < -at_rest;
    ContactState now = state_of(sim, s, i, before);
    s->state[i] = (uint8_t)now;
    bool turns = before >= CONTACT_STICKS && now >= CONTACT_STICKS && now != before;
    if (now >= CONTACT_STICKS && approached && !joint_friction(item)) {
        add_event(sim, s, LASH_EVENT_IMPACT, i);
    } else if (before != CONTACT_OPEN && now == CONTACT_OPEN && !joint_friction(item)) {
        add_event(sim, s, LASH_EVENT_OPEN, i); // a joint's load that comes and goes opens nothing
    } else if (turns) {
        add_event(sim, s, now == CONTACT_SLIDES ? LASH_EVENT_SLIP : LASH_EVENT_STICK, i);
    }
}

void events_of_step(LashSim* sim, StepContext* s) {
    if (sim->last.count == 0 && s->nc == 0) return;
    for (int i = s->list->bilateral; i < s->list->count; ++i) {
        int before = -1;
        for (int k = 0; k < sim->last.count && before < 0; ++k) {
            if (sim->last.id[k] == s->list->item[i].id) before = k;
        }
        s->state[i] = CONTACT_OPEN;
        if (before >= 0 || s->active[i])
            look_at(sim, s, i, before < 0 ? CONTACT_OPEN : (ContactState)sim->last.state[before]);
    }
    if (s->restitution == 0 && s->nc > 0) add_event(sim, s, LASH_EVENT_PLASTIC, s->contact[0]);
}

const LashEvent* lash_sim_events(const LashSim* sim, int* count) {
    *count = sim->events;
    return sim->event;
}
