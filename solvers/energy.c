// Energy bookkeeping of a run. Per step, with v_theta and the impulses P along G*:
//     external work = h (power of applied forces at theta) + P . (G*' v_theta) of prescribed rows
//     damping work  = h (power of dampers at theta),   contact work = P . (G*' v_theta + g_t),
//     normal and tangential
#include <string.h>

#include "solvers/rows.h"
#include "solvers/sim_internal.h"

double energy_kinetic(LashSim* sim, const double* q, const double* v) {
    const LashSystem* system = sim->system;
    if (!system->constant_mass) system->mass(system, sim->work, q, sim->M_values);
    lash_block_multiply(system, sim->M_values, v, sim->x);
    double energy = 0;
    for (int i = 0; i < system->nv; ++i) energy += 0.5 * v[i] * sim->x[i];
    return energy;
}

void energy_add_step(LashSim* sim, const StepContext* s) {
    const LashSystem* system = sim->system;
    LashEnergy* e = &sim->energy;
    LashPower power =
        system->power(system, sim->work, s->t0 + s->theta * s->h, s->q_theta, s->v_theta);
    e->external_work += s->h * power.external;
    e->damping_work += s->h * power.damping;
    for (int i = 0; i < s->list->count; ++i) {
        if (!s->active[i]) continue;
        const LashInteraction* item = &s->list->item[i];
        const double* P = s->P + item->row;
        double U[LASH_MAX_ROWS], work = 0;
        lash_row_velocity(system, item, s->G_star, s->v_theta, U);
        for (int r = 0; r < item->rows; ++r) work += P[r] * U[r];
        if (item->kind == LASH_UNILATERAL || joint_friction(item)) {
            e->contact_work_n += P[0] * U[0];
            e->contact_work_t += work - P[0] * U[0];
        } else if (item->prescribed) {
            e->external_work += work;
        } else {
            e->joint_work += work;
        }
    }
}
