// Impulses of rest, out of those of an impact.
//
// A brick that lands on a wall which rests pushes on all of it. In the next step the wall carries its
// weight again, and the bricks that landed: neither the impulses of the impact nor those before it. But
// both are known, and in the step j what they did,
//
//     M Delta_j = h f + G P_j,   Delta_j = v_j - v_{j-1},
//
// so that with the same directions and forces the impulses (1 - s) P_a + s P_b change velocities by
// (1 - s) Delta_a + s Delta_b: they lie in the cones of friction, as these are convex, and where that change
// is none they are an answer for bodies that rest. From step to step
//
//     (P, Delta) <- (1 - s) (P, Delta) + s (P_k, Delta_k),   s in [0, 1],   |Delta| as small as can be,
//
// (E. Gilbert, SIAM J. Control 4, 1966: the point of a convex hull nearest to the origin), |Delta| in m/s, for each
// island. With s = v_g / (v_g + v), v_g = g h, v the velocity of the bricks that landed, the wall above is in
// equilibrium to rounding, whatever its contacts; where rows depend on each other nobody else would know
// which of the solutions lies inside the cones. It is a guess: residuals judge it (islands_guess).
#include <math.h>
#include <string.h>

#include "solvers/step/sparse_newton_internal.h"

// s of each island.
static void find_shares(const LashSim* sim, const Step* step, int count, double* share,
                        double* square) {
    const LashSystem* system = sim->system;
    const Islands* islands = sim->operators.sparse;
    size_t bytes = (size_t)count * sizeof *share;
    bool known = sim->now.steady_h == step->h;
    memset(share, 0, bytes);
    memset(square, 0, bytes);
    for (int b = 0; b < system->blocks; ++b) {
        int k = islands->of_block[b];
        for (int i = system->block_start[b]; i < system->block_start[b + 1]; ++i) {
            double w = sim->weight[i] * sim->weight[i], before = sim->now.steady_change[i];
            double less = before - (step->v[i] - sim->now.v[i]);
            share[k] += w * before * less;
            square[k] += w * less * less;
        }
    }
    for (int k = 0; k < count; ++k)
        share[k] = known && square[k] > 0 ? fmin(1, fmax(0, share[k] / square[k])) : 1;
}

static double mixed(double share, double before, double now) {
    return share == 1 ? now : (1 - share) * before + share * now;
}

void steady_find(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    const Islands* islands = sim->operators.sparse;
    double* change = sim->now.steady_change;
    if (!sim_is_sparse(sim)) {
        sim->now.steady_h = 0;
        return;
    }
    int count = islands->count > 0 ? islands->count : 1; // of_block is 0 before the first contact
    Scratch scratch = scratch_begin(sim);
    double* share = lash_arena_doubles(&sim->arena, 2 * (size_t)count);
    find_shares(sim, step, count, share, share + count);
    for (int b = 0; b < system->blocks; ++b)
        for (int i = system->block_start[b]; i < system->block_start[b + 1]; ++i)
            change[i] = mixed(share[islands->of_block[b]], change[i], step->v[i] - sim->now.v[i]);
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        if (!step->active[i]) continue;
        double s = item->touched > 0 ? share[islands->of_block[item->block[0]]] : 1;
        int k = s < 1 ? last_place(sim, item->id) : -1;
        for (int r = 0; r < item->rows; ++r)
            step->steady[item->row + r] =
                mixed(s, k < 0 ? 0 : sim->now.last.steady[3 * k + r], step->P[item->row + r]);
    }
    scratch_end(sim, scratch);
    sim->now.steady_h = step->h;
}
