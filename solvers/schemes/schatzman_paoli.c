// Schatzman-Paoli scheme, [A12] section 3.2: contacts at position level.
//
//     M(q_{k+1}) (delta_{k+1} - delta_k) - h^2 F_{k+theta} = h G P,   delta_{k+1} = q_{k+1} (-) q_k
//     v_{k+1} = (q_{k+1} (-) q_{k-1}) / 2h
//     joints:    g(q_{k+1}) = 0;  speed drivers: G' delta_{k+1} / h + g_t = 0
//     contacts:  0 <= g(q-) perp P_N >= 0,  q- = q_{k-1} (+) (q_{k+1} (-) q_{k-1}) / (1 + e)
//                directions G at q-
//
// The first step starts from q_{-1} = q_0 (+) (-h v_0), so delta_0 = h v_0. P is an impulse [N s].
//
// Within the iteration v is the velocity of the step, delta_{k+1} / h, and all rows are velocities:
//
//     joints    U = g(q_{k+1}) / h                        U = 0
//     contacts  U_N = (1 + e) g(q-) / h                   0 <= U_N perp P_N >= 0
//               U_T = G_T' delta_{k+1} / h + g_t          Coulomb's law
//
// whose derivatives by v are G' in every row. Derivatives of G are left out (they cost iterations).
//
// Friction in joints (LASH_FRICTION) is not known here: such a step fails.
//
// What the paper leaves open. Friction: as above, on the velocity of the step. Contacts with
// different e have a q- each. Energy: kinetic energy is that of v_{k+1}; works are taken with
// (delta_{k+1} + delta_k) / 2h, with which the balance of the kinetic energy of delta / h is exact
// in linear systems.
#include <string.h>

#include "solvers/schemes/scheme.h"
#include "solvers/step/rows.h"

// v_star = delta_k / h: in parts of a step the velocity stays.
static void plan(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    Stencil* stencil = &step->stencil;
    double theta = sim->settings.theta, *before = stencil->v_star;
    stencil_theta(sim, step, theta, 1, LASH_AT_START);
    stencil->mass_d = stencil->mass_w = 1;
    stencil->f_v = theta / 2;
    stencil->c_v = step->h * stencil->f_v;
    system->difference(system, sim->now.q, sim->now.history, before);
    for (int i = 0; i < system->nv; ++i) {
        before[i] /= sim->now.h;
        stencil->f_0[i] = (1 - theta) * sim->now.v[i] + stencil->f_v * before[i];
    }
}

// span (nv) = q_{k+1} (-) q_{k-1}; q_before (nq) = q_{k-1}, one step of this length back
static void span_of_steps(LashSim* sim, const Step* step, double* q_before, double* span) {
    sim->system->move(sim->system, sim->now.q, -step->h, step->stencil.v_star, q_before);
    sim->system->difference(sim->system, step->q_end, q_before, span);
}

static bool joint_rows(LashSim* sim, Step* step) {
    const LashInteractionList* list = step->list;
    for (int i = 0; i < list->count; ++i) step->wanted[i] = i < list->bilateral;
    if (!sim_evaluate(sim, step->t0 + step->h, step->q_end, step->wanted, step->g, step->g_t,
                      step->G))
        return false;
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        bool speed = item->kind == LASH_BILATERAL_VELOCITY;
        if (speed) lash_row_velocity(sim->system, item, step->G, step->v, step->U + item->row);
        for (int k = item->row; k < item->row + item->rows; ++k) {
            if (speed) step->g[k] = 0;
            step->U[k] = speed ? step->U[k] + step->g_t[k] : step->g[k] / step->h;
        }
    }
    return true;
}

// Contacts with this e: gaps and directions at their q- (nq).
static bool contact_rows(LashSim* sim, Step* step, double e, const double* between) {
    const LashInteractionList* list = step->list;
    double t = step->t0 - step->h + 2 * step->h / (1 + e);
    for (int i = 0; i < list->count; ++i)
        step->wanted[i] = i >= list->bilateral && list->item[i].e == e;
    if (!sim_evaluate(sim, t, between, step->wanted, step->g_star, step->g_t_star, step->G))
        return false;
    for (int i = list->bilateral; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        if (!step->wanted[i]) continue;
        double *U = step->U + item->row, gap = step->g_star[item->row];
        lash_row_velocity(sim->system, item, step->G, step->v, U);
        for (int r = 1; r < item->rows; ++r) U[r] += step->g_t_star[item->row + r];
        U[0] = (1 + e) * gap / step->h;
        step->g[item->row] = gap;
    }
    return true;
}

static bool first_of_its_e(const LashInteractionList* list, int i) {
    for (int k = list->bilateral; k < i; ++k) {
        if (list->item[k].e == list->item[i].e) return false;
    }
    return true;
}

// And the velocity of the forces, which is exact where bodies turn.
static bool rows(LashSim* sim, Step* step) {
    const LashInteractionList* list = step->list;
    double theta = sim->settings.theta;
    Scratch scratch = scratch_begin(sim);
    double *q_before = scratch_place(sim), *between = scratch_place(sim);
    double* span = scratch_velocity(sim);
    span_of_steps(sim, step, q_before, span);
    for (int i = 0; i < sim->system->nv; ++i)
        step->v_force[i] = (1 - theta) * sim->now.v[i] + theta * span[i] / (2 * step->h);
    bool good = joint_rows(sim, step);
    for (int i = list->bilateral; i < list->count && good; ++i) {
        if (!first_of_its_e(list, i)) continue;
        double e = list->item[i].e;
        sim->system->move(sim->system, q_before, 1 / (1 + e), span, between);
        good = contact_rows(sim, step, e, between);
    }
    scratch_end(sim, scratch);
    copy_directions(step);
    return good;
}

// The step as the rest of the run sees it: all gaps at q_{k+1}, U = G' v_{k+1}.
static bool finish(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    Scratch scratch = scratch_begin(sim);
    span_of_steps(sim, step, scratch_place(sim), step->v);
    scratch_end(sim, scratch);
    for (int i = 0; i < system->nv; ++i) step->v[i] /= 2 * step->h;
    for (int i = 0; i < list->count; ++i)
        step->active[i] = i < list->bilateral || step->P[list->item[i].row] > 0;
    if (!sim_evaluate(sim, step->t0 + step->h, step->q_end, NULL, step->g, step->g_t, step->G))
        return false;
    lash_rows_velocity(system, list, 0, list->count, NULL, step->G, step->v, step->U);
    for (int i = 0; i < list->rows; ++i) step->U[i] += step->g_t[i];
    return true;
}

// All contacts take part.
static LashOutcome advance(LashSim* sim, Step* step) {
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (joint_friction(&step->list->item[i])) return LASH_FAILED;
        step->active[i] = 1;
    }
    memcpy(step->v, step->stencil.v_star, (size_t)sim->system->nv * sizeof *step->v);
    LashOutcome outcome = step_solve(sim, step, GAPS);
    if (outcome != LASH_CONVERGED) return outcome;
    return finish(sim, step) ? LASH_CONVERGED : LASH_FAILED;
}

// delta_0 = h v_0
static void start(LashSim* sim) {
    const LashSystem* system = sim->system;
    sim->now.h = sim->settings.h;
    system->move(system, sim->now.q, -sim->now.h, sim->now.v, sim->now.history);
}

static void keep_place(LashSim* sim, const Step* step) {
    (void)step;
    memcpy(sim->now.history, sim->now.q, (size_t)sim->system->nq * sizeof *sim->now.q);
}

// Works with (delta_{k+1} + delta_k) / 2h.
static void energy(LashSim* sim, Step* step) {
    Scratch scratch = scratch_begin(sim);
    double* mean = scratch_velocity(sim);
    for (int i = 0; i < sim->system->nv; ++i)
        mean[i] = (step->d[i] / step->h + step->stencil.v_star[i]) / 2;
    energy_add_forces(sim, step->h, step->stencil.t_force, step->q_force, NULL, mean);
    energy_add_impulses(sim, step, mean);
    scratch_end(sim, scratch);
}

const Scheme scheme_schatzman_paoli = {
    .summary = "contacts at position level, with restitution; gaps may be left",
    .uses = USES_THETA | USES_RESTITUTION,
    .projection = PROJECTS_NOTHING,
    .history_q = 1,
    .start = start,
    .plan = plan,
    .advance = advance,
    .rows = rows,
    .energy = energy,
    .accept = keep_place,
};
