// The beginning of a step: which interactions there are, and where the iteration starts.
#include "solvers/schemes/scheme.h"

static int last_index(const LashSim* sim, uint64_t id) {
    for (int i = 0; i < sim->now.last.count; ++i) {
        if (sim->now.last.id[i] == id) return i;
    }
    return -1;
}

void step_activate(LashSim* sim, Step* step, int i) {
    const LashInteraction* item = &step->list->item[i];
    step->active[i] = 1;
    int k = last_index(sim, item->id);
    if (k < 0) return;
    bool predicted = sim->predictor.guess_P != NULL;
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
    if (sim->scheme->plan != NULL)
        sim->scheme->plan(sim, step);
    else
        plan_theta(sim, step);
    step_guess(sim, step);
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (joint_friction(&step->list->item[i])) step_activate(sim, step, i);
    }
}
