// The beginning of a step: which interactions there are, and where the iteration starts.
#include <string.h>

#include "solvers/schemes/scheme.h"

enum { FEW = 24 }; // contacts that are looked for one by one

static uint64_t scatter(uint64_t id) {
    return (id * 0x9e3779b97f4a7c15u) >> 32; // golden ratio
}

static void note_places(LashSim* sim) {
    const LastContacts* last = &sim->now.last;
    LastPlaces* places = &sim->last_places;
    places->size = 0;
    if (last->count <= FEW) return;
    for (places->size = 64; places->size < 2 * last->count;) places->size *= 2;
    uint64_t mask = (uint64_t)places->size - 1;
    memset(places->place, 0, (size_t)places->size * sizeof *places->place);
    for (int i = last->count - 1; i >= 0; --i) {
        uint64_t at = scatter(last->id[i]) & mask;
        while (places->place[at] != 0) at = (at + 1) & mask;
        places->place[at] = i + 1;
    }
}

int last_place(const LashSim* sim, uint64_t id) {
    const LastContacts* last = &sim->now.last;
    const LastPlaces* places = &sim->last_places;
    for (int i = 0; i < last->count && places->size == 0; ++i)
        if (last->id[i] == id) return i;
    if (places->size == 0) return -1;
    uint64_t mask = (uint64_t)places->size - 1, at = scatter(id) & mask;
    for (; places->place[at] != 0; at = (at + 1) & mask)
        if (last->id[places->place[at] - 1] == id) return places->place[at] - 1;
    return -1;
}

// Of many contacts some have been struck a step or two ago: extrapolated, they would pull.
static bool trusted(const LashSim* sim, const LashInteraction* item, int k) {
    if (!sim_is_sparse(sim) || joint_friction(item)) return true;
    double last = sim->now.last.P[3 * k], guess = sim->predictor.guess_P[3 * k];
    return guess >= 0.5 * last && guess <= 2 * last;
}

void step_activate(LashSim* sim, Step* step, int i) {
    const LashInteraction* item = &step->list->item[i];
    step->active[i] = 1;
    int k = last_place(sim, item->id);
    if (k < 0) return;
    bool predicted = sim->predictor.guess_P != NULL && trusted(sim, item, k);
    if (predicted && !joint_friction(item)) step->tau[item->row] = sim->predictor.guess_tau[k];
    for (int r = 0; r < item->rows; ++r) {
        step->P[item->row + r] =
            predicted ? sim->predictor.guess_P[3 * k + r] : sim->now.last.P[3 * k + r];
        step->U_start[item->row + r] = sim->now.last.U[3 * k + r];
    }
    step->gap_start[i] = 0;
    // With directions at the start, the last U is that of directions one step older.
    step->has_U_start[i] = step->stencil.star_d != 0;
}

// What the list consists of: an operator fits only the one that it was made for.
static void mark_list(Step* step) {
    uint64_t key = (uint64_t)step->list->count;
    for (int i = step->list->bilateral; i < step->list->count; ++i)
        key = (key ^ step->list->item[i].id) * 0x100000001b3u; // FNV
    step->list_key = key;
}

void step_begin(LashSim* sim, Step* step, double h) {
    const LashSystem* system = sim->system;
    step->t0 = sim->now.t;
    step->h = h;
    step->list =
        system->collect(system, sim->work, sim->now.t, sim->now.q, sim->now.v, h, sim->reach);
    sim_fit_list(sim, step->list);
    step->worst_velocity = step->worst_position = step->worst_gap = LASH_NOWHERE;
    step->restitution = 1;
    step->demoted = 0;
    step->nc = 0;
    step->nn = 0;
    for (int i = 0; i < step->list->count; ++i) {
        step->active[i] = step->wanted[i] = i < step->list->bilateral;
        step->position[i] = POSITION_FREE;
        step->has_U_start[i] = 0;
    }
    mark_list(step);
    note_places(sim);
    if (sim->scheme->plan != NULL)
        sim->scheme->plan(sim, step);
    else
        plan_theta(sim, step);
    step_guess(sim, step);
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (joint_friction(&step->list->item[i])) step_activate(sim, step, i);
    }
}
