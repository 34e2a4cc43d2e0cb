// What a step must not contain: anything that is not a finite number.
//
// Residuals that are not finite never pass (maxima keep what is not a number). What they cannot
// show is looked at here before a solved step is taken: the state itself, impulses, energies. Where
// a step ends for such a reason, the first (t, q, v) of its last attempt that shows it is kept, so
// that the caller can find the force or the motion that is to blame.
#include <math.h>
#include <string.h>

#include "solvers/step/sim_internal.h"

static void keep(LashSim* sim, LashFaultKind kind, double t, uint64_t id, const double* q,
                 const double* v) {
    memcpy(sim->failure.q, q, (size_t)sim->system->nq * sizeof *q);
    memcpy(sim->failure.v, v, (size_t)sim->system->nv * sizeof *v);
    sim->failure.fault =
        (LashFault){.kind = kind, .t = t, .id = id, .q = sim->failure.q, .v = sim->failure.v};
}

// Forces and their derivatives where the iterate takes them.
static bool forces_are_finite(LashSim* sim, const Step* step, double t) {
    const LashSystem* system = sim->system;
    int values = system->pattern.offset[system->pattern.count];
    Scratch scratch = scratch_begin(sim);
    double* F = scratch_velocity(sim);
    system->forces(system, sim->work, t, step->q_force, step->v_force, F);
    bool finite = all_finite(F, system->nv);
    scratch_end(sim, scratch);
    if (!finite) return false;
    system->tangents(system, sim->work, t, step->q_force, step->v_force, sim->operators.C_values,
                     sim->operators.K_values);
    return all_finite(sim->operators.C_values, values) &&
           all_finite(sim->operators.K_values, values);
}

void fault_of_iterate(LashSim* sim, const Step* step) {
    const LashSystem* system = sim->system;
    if (sim->failure.fault.kind != LASH_FAULT_NONE) return;
    double t = step->stencil.t_force;
    bool finite = all_finite(step->q_force, system->nq) && all_finite(step->v_force, system->nv);
    if (!finite) return; // the iteration diverged: the forces have not been asked anything
    if (!forces_are_finite(sim, step, t)) {
        keep(sim, LASH_FAULT_FORCE, t, LASH_NOWHERE, step->q_force, step->v_force);
        return;
    }
    if (!all_finite(step->q_end, system->nq) || !all_finite(step->v, system->nv)) return;
    bool velocity = !(step->velocity_error < INFINITY);
    if (!velocity && step->position_error < INFINITY) return;
    keep(sim, LASH_FAULT_ROWS, step->t0 + step->h,
         velocity ? step->worst_velocity : step->worst_position, step->q_end, step->v);
}

static double sum_of_squares(const double* x, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * x[i];
    return sum;
}

bool step_is_finite(LashSim* sim, const Step* step) {
    const LashSystem* system = sim->system;
    double errors = step->position_error + step->velocity_error + step->contact_error +
                    step->dynamics_error + step->penetration;
    if (errors < INFINITY && all_finite(step->v, system->nv) &&
        all_finite(step->q_end, system->nq) && all_finite(step->P, step->list->rows))
        return true;
    if (sim->failure.fault.kind == LASH_FAULT_NONE)
        keep(sim, LASH_FAULT_OVERFLOW, step->t0 + step->h, LASH_NOWHERE, step->q_end, step->v);
    return false;
}

bool energy_is_finite(LashSim* sim, const Step* step) {
    static const double HUGE_SQUARE = 1e200; // of coordinates and speeds: energies may overflow
    const LashSystem* system = sim->system;
    const LashEnergy* e = &sim->now.energy;
    double work =
        e->external_work + e->damping_work + e->contact_work_n + e->contact_work_t + e->joint_work;
    double size = sum_of_squares(step->v, system->nv) + sum_of_squares(step->q_end, system->nq);
    bool finite = isfinite(work);
    if (finite && !(size < HUGE_SQUARE)) {
        double kinetic = energy_kinetic(sim, step->q_end, step->v);
        finite = isfinite(kinetic +
                          system->potential(system, sim->work, step->t0 + step->h, step->q_end));
    }
    if (!finite && sim->failure.fault.kind == LASH_FAULT_NONE)
        keep(sim, LASH_FAULT_OVERFLOW, step->t0 + step->h, LASH_NOWHERE, step->q_end, step->v);
    return finite;
}
