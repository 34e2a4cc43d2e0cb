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
    memcpy(sim->fault_q, q, (size_t)sim->system->nq * sizeof *q);
    memcpy(sim->fault_v, v, (size_t)sim->system->nv * sizeof *v);
    sim->fault = (LashFault){.kind = kind, .t = t, .id = id, .q = sim->fault_q, .v = sim->fault_v};
}

// Forces and their derivatives where the iterate takes them.
static bool forces_are_finite(LashSim* sim, const StepContext* s, double t) {
    const LashSystem* system = sim->system;
    int values = system->pattern.offset[system->pattern.count];
    system->forces(system, sim->work, t, s->q_theta, s->v_theta, sim->x);
    if (!all_finite(sim->x, system->nv)) return false;
    system->tangents(system, sim->work, t, s->q_theta, s->v_theta, sim->C_values, sim->K_values);
    return all_finite(sim->C_values, values) && all_finite(sim->K_values, values);
}

void fault_of_iterate(LashSim* sim, const StepContext* s) {
    const LashSystem* system = sim->system;
    if (sim->fault.kind != LASH_FAULT_NONE) return;
    double t = s->t0 + s->theta * s->h;
    bool finite = all_finite(s->q_theta, system->nq) && all_finite(s->v_theta, system->nv);
    if (!finite) return; // the iteration diverged: the forces have not been asked anything
    if (!forces_are_finite(sim, s, t)) {
        keep(sim, LASH_FAULT_FORCE, t, LASH_NOWHERE, s->q_theta, s->v_theta);
        return;
    }
    if (!all_finite(s->q_end, system->nq) || !all_finite(s->v, system->nv)) return;
    bool velocity = !(s->velocity_error < INFINITY);
    if (!velocity && s->position_error < INFINITY) return;
    keep(sim, LASH_FAULT_ROWS, s->t0 + s->h, velocity ? s->worst_velocity : s->worst_position,
         s->q_end, s->v);
}

static double sum_of_squares(const double* x, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * x[i];
    return sum;
}

bool step_is_finite(LashSim* sim, const StepContext* s) {
    const LashSystem* system = sim->system;
    double errors = s->position_error + s->velocity_error + s->contact_error + s->dynamics_error +
                    s->penetration;
    if (errors < INFINITY && all_finite(s->v, system->nv) && all_finite(s->q_end, system->nq) &&
        all_finite(s->P, s->list->rows))
        return true;
    if (sim->fault.kind == LASH_FAULT_NONE)
        keep(sim, LASH_FAULT_OVERFLOW, s->t0 + s->h, LASH_NOWHERE, s->q_end, s->v);
    return false;
}

bool energy_is_finite(LashSim* sim, const StepContext* s) {
    static const double HUGE_SQUARE = 1e200; // of coordinates and speeds: energies may overflow
    const LashSystem* system = sim->system;
    const LashEnergy* e = &sim->energy;
    double work =
        e->external_work + e->damping_work + e->contact_work_n + e->contact_work_t + e->joint_work;
    double size = sum_of_squares(s->v, system->nv) + sum_of_squares(s->q_end, system->nq);
    bool finite = isfinite(work);
    if (finite && !(size < HUGE_SQUARE)) {
        double kinetic = energy_kinetic(sim, s->q_end, s->v);
        finite = isfinite(kinetic + system->potential(system, sim->work, s->t0 + s->h, s->q_end));
    }
    if (!finite && sim->fault.kind == LASH_FAULT_NONE)
        keep(sim, LASH_FAULT_OVERFLOW, s->t0 + s->h, LASH_NOWHERE, s->q_end, s->v);
    return finite;
}
