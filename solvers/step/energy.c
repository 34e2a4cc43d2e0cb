// Energy bookkeeping of a run. Of the theta-method, per step, with P along G* and v the velocity that
// positions move with, v_theta or v_{k+1/2} for the variant [A16 (29)]:
//
//     external work = h (power of applied forces at theta) + P . (G*' v) of prescribed rows
//     damping work  = h (power of dampers at theta)
//     contact work  = P . (G*' v), normal and tangential
#include <string.h>

#include "solvers/step/rows.h"
#include "solvers/step/sim_internal.h"

double energy_kinetic(LashSim* sim, const double* q, const double* v) {
    const LashSystem* system = sim->system;
    if (!system->constant_mass) system->mass(system, sim->work, q, sim->operators.M_values);
    Scratch scratch = scratch_begin(sim);
    double *momentum = scratch_velocity(sim), energy = 0;
    mass_multiply(sim, v, momentum);
    for (int i = 0; i < system->nv; ++i) energy += 0.5 * v[i] * momentum[i];
    scratch_end(sim, scratch);
    return energy;
}

// The forces of v_force move with v. Where the two differ the power of dampers is a bilinear form,
// got from the quadratic one by polarisation (exact for linear dampers).
void energy_add_forces(LashSim* sim, double weight, double t, const double* q,
                       const double* v_force, const double* v) {
    const LashSystem* system = sim->system;
    LashEnergy* energy = &sim->now.energy;
    LashPower power = system->power(system, sim->work, t, q, v);
    energy->external_work += weight * power.external;
    if (v_force == NULL) {
        energy->damping_work += weight * power.damping;
        return;
    }
    Scratch scratch = scratch_begin(sim);
    double sign[2] = {1, -1}, damping = 0, *sum = scratch_velocity(sim);
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < system->nv; ++i) sum[i] = v[i] + sign[k] * v_force[i];
        damping += sign[k] * system->power(system, sim->work, t, q, sum).damping;
    }
    energy->damping_work += weight * damping / 4;
    scratch_end(sim, scratch);
}

void energy_add_impulses(LashSim* sim, const Step* step, const double* v) {
    LashEnergy* energy = &sim->now.energy;
    for (int i = 0; i < step->list->count; ++i) {
        if (!step->active[i]) continue;
        const LashInteraction* item = &step->list->item[i];
        const double* P = step->P + item->row;
        double U[LASH_MAX_ROWS], work = 0;
        lash_row_velocity(sim->system, item, step->G_star, v, U);
        for (int r = 0; r < item->rows; ++r) work += P[r] * U[r];
        if (item->kind == LASH_UNILATERAL || joint_friction(item)) {
            energy->contact_work_n += P[0] * U[0];
            if (step->has_U_start[i] && step->U_start[item->row] > 0) energy->opening_work += work;
            energy->contact_work_t += work - P[0] * U[0];
            pushes_add(sim, step, i, P[0] * U[0], work - P[0] * U[0]);
        } else if (item->prescribed) {
            energy->external_work += work;
        } else {
            energy->joint_work += work;
        }
    }
}

void energy_theta(LashSim* sim, Step* step) {
    const Stencil* stencil = &step->stencil;
    double w = stencil->move;
    Scratch scratch = scratch_begin(sim);
    double* v = scratch_velocity(sim); // that q moved with, without the projection
    for (int i = 0; i < sim->system->nv; ++i) v[i] = (1 - w) * sim->now.v[i] + w * step->v[i];
    energy_add_forces(sim, step->h, stencil->t_force, step->q_force,
                      w == stencil->f_v ? NULL : step->v_force, v);
    energy_add_impulses(sim, step, v);
    scratch_end(sim, scratch);
}
