// The end of a step: is it good, what did it do, and the new state.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/schemes/scheme.h"

// Largest penetration of all candidates at the end of the step; the interaction it belongs to.
static void measure_gaps(Step* step) {
    step->penetration = 0;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        double g = step->g[step->list->item[i].row];
        if (-g <= step->penetration) continue;
        step->penetration = worse(step->penetration, -g);
        step->worst_gap = step->list->item[i].id;
    }
}

static void remember_contacts(LashSim* sim, const Step* step) {
    int closed = 0;
    const double* steady = sim->now.steady_h > 0 ? step->steady : step->P;
    sim->now.last.count = 0;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (!step->active[i]) continue;
        const LashInteraction* item = &step->list->item[i];
        int k = sim->now.last.count++;
        sim->now.last.id[k] = item->id;
        sim->now.last.closed[k] =
            step->P[item->row] > 0 || step->g[item->row] <= sim->settings.tolerance_position;
        sim->now.last.state[k] = step->state[i];
        sim->now.last.tau[k] = step->tau[item->row];
        for (int r = 0; r < 3; ++r) {
            sim->now.last.P[3 * k + r] = r < item->rows ? step->P[item->row + r] : 0;
            sim->now.last.steady[3 * k + r] = r < item->rows ? steady[item->row + r] : 0;
            sim->now.last.U[3 * k + r] = r < item->rows ? step->U[item->row + r] : 0;
        }
        if (joint_friction(item) || !(step->P[item->row] > 0)) continue;
        ++closed;
        sim->info.opening += step->has_U_start[i] && step->U_start[item->row] > 0;
    }
    if (closed > sim->info.contacts) sim->info.contacts = closed;
}

static void take_over(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    size_t nv = (size_t)system->nv, nq = (size_t)system->nq;
    int before = sim->now.last.count;
    events_of_step(sim, step);
    steady_find(sim, step);
    remember_contacts(sim, step);
    if (sim->scheme->accept != NULL) sim->scheme->accept(sim, step);
    sim->now.h = step->h;
    memcpy(sim->now.v, step->v, nv * sizeof *sim->now.v);
    memcpy(sim->now.q, step->q_end, nq * sizeof *sim->now.q);
    drivers_accept(sim);
    step_remember(sim, step, before == sim->now.last.count);
    // The operator holds the impulses of an impact; what follows may not need their derivatives.
    if (sim->experience.derivatives == DERIVATIVES_CONTACTS && sim->predictor.history <= 2) {
        sim->experience.derivatives = DERIVATIVES_FORCES;
        operator_forget(sim);
    }
    sim->now.t = step->t0 + step->h;
    system->accept(system, sim->work, sim->now.t, sim->now.q, sim->now.v);
}

// Where the largest error is, measured in tolerances.
static uint64_t worst_interaction(const LashSim* sim, const Step* step) {
    double velocity =
        worse(step->velocity_error, step->contact_error) / sim->settings.tolerance_velocity;
    double position = step->position_error / sim->settings.tolerance_position;
    double gap = step->penetration / sim->settings.tolerance_position;
    if (gap > position && gap > velocity) return step->worst_gap;
    return !(position <= velocity) ? step->worst_position : step->worst_velocity;
}

static void note_errors(LashSim* sim, const Step* step) {
    LashStepInfo* info = &sim->info;
    info->position_error = worse(info->position_error, step->position_error);
    info->penetration = worse(info->penetration, step->penetration);
    info->velocity_error =
        worse(info->velocity_error, worse(step->velocity_error, step->contact_error));
    info->dynamics_error = worse(info->dynamics_error, step->dynamics_error);
    info->worst = worst_interaction(sim, step);
    info->demoted += step->demoted;
}

// The largest displacement by the projection, of all parts of the step.
static void note_shift(LashSim* sim, const Step* step) {
    const LashSystem* system = sim->system;
    if (sim->scheme->projection == PROJECTS_NOTHING) return;
    double most = sim->info.shift * sim->info.shift;
    int at = -1;
    for (int b = 0; b < system->blocks; ++b) {
        double square = 0;
        for (int i = system->block_start[b]; i < system->block_start[b + 1]; ++i)
            square += sim->weight[i] * sim->weight[i] * step->shift[i] * step->shift[i];
        if (!(square > most)) continue;
        most = square;
        at = b;
    }
    if (at < 0) return;
    sim->info.shift = sqrt(most);
    sim->info.shift_block = at;
}

// Adds the work of the solved step; no step is accepted whose numbers are not finite.
static LashOutcome add_energies(LashSim* sim, Step* step) {
    if (!step_is_finite(sim, step)) return LASH_FAILED;
    LashEnergy before = sim->now.energy;
    pushes_begin_part(sim);
    if (sim->scheme->energy != NULL)
        sim->scheme->energy(sim, step);
    else
        energy_theta(sim, step);
    if (energy_is_finite(sim, step)) return LASH_CONVERGED;
    sim->now.energy = before;
    pushes_clear(sim);
    return LASH_FAILED;
}

LashOutcome step_accept(LashSim* sim, Step* step, LashOutcome outcome) {
    const Scheme* scheme = sim->scheme;
    measure_gaps(step);
    bool held = scheme->holds == NULL || scheme->holds(sim, step);
    if (outcome == LASH_CONVERGED && !held) outcome = LASH_INACCURATE;
    note_errors(sim, step);
    if (outcome == LASH_CONVERGED && gaps_jump(sim, step)) outcome = LASH_FAILED;
    if (outcome == LASH_CONVERGED) outcome = add_energies(sim, step);
    if (outcome == LASH_CONVERGED) {
        note_shift(sim, step);
        take_over(sim, step);
    } else if (!sim->stopped) {
        gaps_of_failure(sim, step);
        memcpy(sim->failure.start_q, sim->now.q, (size_t)sim->system->nq * sizeof *sim->now.q);
        sim->failure.start_t = sim->now.t;
    }
    return outcome;
}
