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

#include "solvers/schemes/scheme.h"

// Slower than this is at rest: what the tolerance of velocities leaves [tolerances].
static const double AT_REST = 100;
// Share of mu P_N by which a sticking impulse stays inside its cone [-].
static const double IN_CONE = 1e-9;

static double tangential(int rows, const double* x) {
    if (rows < 2) return 0;
    return rows == 2 ? fabs(x[1]) : hypot(x[1], x[2]);
}

// At the end of the step; before: at the end of the last one.
static ContactState state_of(const LashSim* sim, const Step* step, int i, ContactState before) {
    const LashInteraction* item = &step->list->item[i];
    const double *P = step->P + item->row, *U = step->U + item->row;
    double at_rest = AT_REST * sim->settings.tolerance_velocity;
    if (step->active[i] && P[0] > 0) {
        bool inside = tangential(item->rows, P) < item->mu * P[0] * (1 - IN_CONE);
        bool slides = tangential(item->rows, U) > at_rest || (before == CONTACT_SLIDES && !inside);
        return slides && item->rows > 1 ? CONTACT_SLIDES : CONTACT_STICKS;
    }
    if (joint_friction(item) || step->g[item->row] > sim->settings.tolerance_position)
        return CONTACT_OPEN;
    return step->active[i] && U[0] > at_rest ? CONTACT_OPEN : CONTACT_TOUCHES;
}

static void add_event(LashSim* sim, const Step* step, LashEventKind kind, int i) {
    const LashInteraction* item = &step->list->item[i];
    if (sim->events.count == sim->events.capacity)
        --sim->events.count; // a step in very many parts: the last one stands for the rest
    LashEvent* event = &sim->events.item[sim->events.count++];
    *event = (LashEvent){.kind = kind, .t = step->t0, .h = step->h, .id = item->id};
    event->gap_before = step->has_U_start[i] ? step->gap_start[i] : step->g[item->row];
    for (int r = 0; r < item->rows; ++r) {
        event->impulse[r] = step->P[item->row + r];
        event->U_before[r] = step->has_U_start[i] ? step->U_start[item->row + r] : 0;
        event->U_after[r] = step->U[item->row + r];
    }
}

static void look_at(LashSim* sim, Step* step, int i, ContactState before) {
    const LashInteraction* item = &step->list->item[i];
    double at_rest = AT_REST * sim->settings.tolerance_velocity;
    bool approached = step->has_U_start[i] && step->U_start[item->row] < -at_rest;
    ContactState now = state_of(sim, step, i, before);
    step->state[i] = (uint8_t)now;
    bool turns = before >= CONTACT_STICKS && now >= CONTACT_STICKS && now != before;
    if (now >= CONTACT_STICKS && approached && !joint_friction(item)) {
        add_event(sim, step, LASH_EVENT_IMPACT, i);
    } else if (before != CONTACT_OPEN && now == CONTACT_OPEN && !joint_friction(item)) {
        add_event(sim, step, LASH_EVENT_OPEN,
                  i); // a joint's load that comes and goes opens nothing
    } else if (turns) {
        add_event(sim, step, now == CONTACT_SLIDES ? LASH_EVENT_SLIP : LASH_EVENT_STICK, i);
    }
}

void events_of_step(LashSim* sim, Step* step) {
    if (sim->scheme->equations == EQUATIONS_OWN) return; // it has located them
    if (sim->now.last.count == 0 && step->nc == 0) return;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        int before = last_place(sim, step->list->item[i].id);
        step->state[i] = CONTACT_OPEN;
        if (before >= 0 || step->active[i])
            look_at(sim, step, i,
                    before < 0 ? CONTACT_OPEN : (ContactState)sim->now.last.state[before]);
    }
    if (step->restitution == 0 && step->nc > 0)
        add_event(sim, step, LASH_EVENT_PLASTIC, step->contact[0]);
}

const LashEvent* lash_sim_events(const LashSim* sim, int* count) {
    *count = sim->events.count;
    return sim->events.item;
}
