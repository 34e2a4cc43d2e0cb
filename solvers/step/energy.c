// Energy bookkeeping of a run. Per step, with v_theta and the impulses P along G*:
//     external work = h (power of applied forces at theta) + P . (G*' v) of prescribed rows
//     damping work  = h (power of dampers at theta),   contact work = P . (G*' v), normal and
//     tangential
// v is the velocity that positions move with: v_theta, or v_{k+1/2} for the variant [A16 (29)].
#include <string.h>

#include "solvers/step/rows.h"
#include "solvers/step/sim_internal.h"

double energy_kinetic(LashSim* sim, const double* q, const double* v) {
    const LashSystem* system = sim->system;
    if (!system->constant_mass) system->mass(system, sim->work, q, sim->operators.M_values);
    Scratch scratch = scratch_begin(sim);
    double *momentum = scratch_velocity(sim), energy = 0;
    lash_block_multiply(system, sim->operators.M_values, v, momentum);
    for (int i = 0; i < system->nv; ++i) energy += 0.5 * v[i] * momentum[i];
    scratch_end(sim, scratch);
    return energy;
}

// h (power of dampers): the force of v_theta moves with v. The two differ for the variant only;
// there the power is a bilinear form, got from the quadratic one by polarisation (exact for linear
// dampers).
static double damping_work(LashSim* sim, const Step* step, const double* v) {
    const LashSystem* system = sim->system;
    double t = step->t0 + step->theta * step->h;
    if (step->move_theta == step->theta)
        return step->h * system->power(system, sim->work, t, step->q_theta, v).damping;
    Scratch scratch = scratch_begin(sim);
    double sign[2] = {1, -1}, power = 0, *sum = scratch_velocity(sim);
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < system->nv; ++i) sum[i] = v[i] + sign[k] * step->v_theta[i];
        power += sign[k] * system->power(system, sim->work, t, step->q_theta, sum).damping;
    }
    scratch_end(sim, scratch);
    return step->h * power / 4;
}

void energy_add_step(LashSim* sim, const Step* step) {
    const LashSystem* system = sim->system;
    LashEnergy* e = &sim->now.energy;
    Scratch scratch = scratch_begin(sim);
    double *v = scratch_velocity(sim),
           w = step->move_theta; // the velocity q moved with, without the projection
    for (int i = 0; i < system->nv; ++i) v[i] = (1 - w) * sim->now.v[i] + w * step->v[i];
    if (sim->settings.scheme == LASH_SCHATZMAN_PAOLI) // ... or the one its balance is exact with
        for (int i = 0; i < system->nv; ++i) v[i] = step->v_theta[i];
    LashPower power =
        system->power(system, sim->work, step->t0 + step->theta * step->h, step->q_theta, v);
    e->external_work += step->h * power.external;
    e->damping_work += damping_work(sim, step, v);
    for (int i = 0; i < step->list->count; ++i) {
        if (!step->active[i]) continue;
        const LashInteraction* item = &step->list->item[i];
        const double* P = step->P + item->row;
        double U[LASH_MAX_ROWS], work = 0;
        lash_row_velocity(system, item, step->G_star, v, U);
        for (int r = 0; r < item->rows; ++r) work += P[r] * U[r];
        if (item->kind == LASH_UNILATERAL || joint_friction(item)) {
            e->contact_work_n += P[0] * U[0];
            if (step->has_U_start[i] && step->U_start[item->row] > 0) e->opening_work += work;
            e->contact_work_t += work - P[0] * U[0];
            pushes_add(sim, step, i, P[0] * U[0], work - P[0] * U[0]);
        } else if (item->prescribed) {
            e->external_work += work;
        } else {
            e->joint_work += work;
        }
    }
    scratch_end(sim, scratch);
}
