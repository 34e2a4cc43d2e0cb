// Rows that prescribe a speed hold a position, too: what the motion of the step integrates from it.
//
// With x(q) the coordinate of such a row (its g), s(t) = -dg/dt the prescribed speed and w the
// weight of v_{k+1} in the motion (theta, or 1/2 for the variant):
//
//     X_{k+1} = X_k + h ((1 - w) s(t_k) + w s(t_{k+1})),    X_0 = x(q_0)
//     position error of the row:  x(q_{k+1}) - X_{k+1}
//
// X is a sum of prescribed speeds alone: no projection of joints or contacts moves a driven part,
// and errors of single steps do not add up. From here on the row is as any other of a joint.
#include <string.h>

#include "solvers/step/sim_internal.h"

int drivers_count(const LashInteractionList* list) {
    int count = 0;
    for (int i = 0; i < list->bilateral; ++i) {
        if (list->item[i].kind == LASH_BILATERAL_VELOCITY) count += list->item[i].rows;
    }
    return count;
}

// X and s of the present state.
void drivers_start(LashSim* sim) {
    Drivers* drivers = &sim->drivers;
    Step* step = &sim->step;
    const LashInteractionList* list = step->list;
    double *x = step->g_star, *rate = step->g_t_star;
    int count = 0;
    if (drivers->count == 0) return;
    for (int i = 0; i < list->count; ++i) step->wanted[i] = i < list->bilateral;
    sim_evaluate(sim, sim->now.t, sim->now.q, step->wanted, x, rate, NULL);
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        if (item->kind != LASH_BILATERAL_VELOCITY) continue;
        for (int r = item->row; r < item->row + item->rows; ++r, ++count) {
            drivers->row[count] = r;
            sim->now.driver_x[count] = x[r];
            sim->now.driver_speed[count] = -rate[r];
        }
    }
}

void drivers_hold(LashSim* sim, const Step* step, const double* g_t, double* g) {
    Drivers* drivers = &sim->drivers;
    double w = step->stencil.move;
    for (int k = 0; k < drivers->count; ++k) {
        int row = drivers->row[k];
        drivers->speed_end[k] = -g_t[row];
        drivers->x_end[k] = sim->now.driver_x[k] + step->h * ((1 - w) * sim->now.driver_speed[k] +
                                                              w * drivers->speed_end[k]);
        g[row] -= drivers->x_end[k];
    }
}

void drivers_accept(LashSim* sim) {
    size_t size = (size_t)sim->drivers.count * sizeof(double);
    if (size == 0) return;
    memcpy(sim->now.driver_x, sim->drivers.x_end, size);
    memcpy(sim->now.driver_speed, sim->drivers.speed_end, size);
}
