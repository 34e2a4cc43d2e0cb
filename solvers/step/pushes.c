// What contacts, limits and friction in joints gave in a step, added up over the parts it was
// solved in. Per interaction, with the impulses P_k of part k along G*_k:
//     P = sum P_k,   G P = sum G*_k P_k,   work = sum P_k . (G*_k' v)       (v: energy.c)
// Parts list different points of CAD surfaces: pushes are told apart by the interactions' ids.
#include "solvers/step/sim_internal.h"

// The push of this id in an earlier part of the step, or a new one. Without room for more, the last
// one stands for the rest: no impulse gets lost.
static LashPush* push_of(LashSim* sim, const LashInteraction* item) {
    for (int k = 0; k < sim->pushes.before; ++k) {
        if (sim->pushes.item[k].id == item->id) return &sim->pushes.item[k];
    }
    if (sim->pushes.count == sim->pushes.capacity) return &sim->pushes.item[sim->pushes.count - 1];
    LashPush* push = &sim->pushes.item[sim->pushes.count++];
    *push = (LashPush){.id = item->id, .rows = item->rows};
    return push;
}

void pushes_clear(LashSim* sim) {
    sim->pushes.count = sim->pushes.before = 0;
}
void pushes_begin_part(LashSim* sim) {
    sim->pushes.before = sim->pushes.count;
}

void pushes_add(LashSim* sim, const Step* step, int i, double work_n, double work_t) {
    const LashInteraction* item = &step->list->item[i];
    const double* P = step->P + item->row;
    bool any = false;
    for (int r = 0; r < item->rows; ++r) any = any || P[r] != 0;
    if (!any || item->touched == 0) return;
    LashPush* push = push_of(sim, item);
    int last = item->touched - 1, n = lash_block_size(sim->system, item->block[last]);
    const double* column = step->G_star + item->offset;
    for (int b = 0; b < last; ++b)
        column += item->rows * lash_block_size(sim->system, item->block[b]);
    for (int r = 0; r < item->rows; ++r, column += n) {
        push->P[r] += P[r];
        for (int k = 0; k < 3 && k < n; ++k) push->impulse[k] += P[r] * column[k];
    }
    push->work_n += work_n;
    push->work_t += work_t;
}

const LashPush* lash_sim_pushes(const LashSim* sim, int* count) {
    *count = sim->pushes.count;
    return sim->pushes.item;
}
