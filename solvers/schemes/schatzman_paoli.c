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
// Friction in joints (LASH_FRICTION) is not known here: such a step fails.
//
// What the paper leaves open. Friction: the law of Coulomb acts on the velocity of the step,
// U_T = G_T' delta_{k+1} / h, together with the normal row (1 + e) g(q-) / h. Contacts with
// different e have a q- each. Energy: kinetic energy is that of v_{k+1}; works are taken with
// (delta_{k+1} + delta_k) / 2h, with which the balance of the kinetic energy of delta / h is exact
// in linear systems.
//
// Newton: unknowns delta and P; d(residual)/d(delta) = M + h theta/2 C + h^2 theta K + d(M a)/dq,
// a = delta_{k+1} - delta_k, renewed in every iteration; derivatives of G are left out (they cost
// iterations), and so is the Jacobian of the exponential.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/schemes/scheme.h"
#include "solvers/step/rows.h"

typedef struct Position {   // what this scheme adds to the step
    double* delta;          // (nv) q_{k+1} (-) q_k: the unknown, in step->d
    double* delta_start;    // (nv) q_k (-) q_{k-1}, of this step's length
    double* q_start;        // (nq) q_{k-1}, one step of this length back
    double *between, *span; // (nq) q- of some contacts; (nv) q_{k+1} (-) q_{k-1}
    double *y, *x, *z;      // (nv) A^-1 r, then the correction; scratch
    double *u, *dP;         // (rows) rows of the joints, their impulses
    double dynamics_error, contact_error, joint_error;
} Position;

// v_{k+1}, v_{k+theta}, q_{k+1}, q_{k+theta} from delta.
static void set_state(LashSim* sim, Step* step, const Position* p) {
    const LashSystem* system = sim->system;
    system->move(system, sim->now.q, 1, p->delta, step->q_end);
    double theta = sim->settings.theta;
    system->move(system, sim->now.q, theta, p->delta, step->room[0]);
    step->q_force = step->room[0];
    system->difference(system, step->q_end, p->q_start, step->v);
    for (int i = 0; i < system->nv; ++i) {
        step->v[i] /= 2 * step->h;
        step->v_force[i] = (1 - theta) * sim->now.v[i] + theta * step->v[i];
    }
}

// Gaps and directions of all contacts at their own q-: into g_star and G_star; step->U gets the rows
// of the contact law, (1 + e) g / h and U_T.
static bool evaluate_contacts(LashSim* sim, Step* step, const Position* p) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    double *between = p->between, *span = p->span;
    system->difference(system, step->q_end, p->q_start, span);
    for (int first = list->bilateral; first < list->count; ++first) {
        double e = list->item[first].e;
        bool done = false;
        for (int i = list->bilateral; i < first; ++i) done = done || list->item[i].e == e;
        if (done) continue;
        for (int i = 0; i < list->count; ++i)
            step->wanted[i] = i >= list->bilateral && list->item[i].e == e;
        system->move(system, p->q_start, 1 / (1 + e), span, between);
        double t = step->t0 - step->h + 2 * step->h / (1 + e);
        if (!sim_evaluate(sim, t, between, step->wanted, step->g_star, step->g_t, step->G_star))
            return false;
        for (int i = first; i < list->count; ++i) {
            const LashInteraction* item = &list->item[i];
            if (item->e != e) continue;
            double* U = step->U + item->row;
            lash_row_velocity(system, item, step->G_star, p->delta, U);
            for (int r = 1; r < item->rows; ++r) U[r] = U[r] / step->h + step->g_t[item->row + r];
            U[0] = (1 + e) * step->g_star[item->row] / step->h;
        }
    }
    return true;
}

// Rows of joints into step->U, as displacements divided by h [m/s].
static bool evaluate_joints(LashSim* sim, Step* step, Position* p) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    for (int i = 0; i < list->count; ++i) step->wanted[i] = i < list->bilateral;
    if (!sim_evaluate(sim, step->t0 + step->h, step->q_end, step->wanted, step->g, step->g_t,
                      step->G))
        return false;
    p->joint_error = step->position_error = 0;
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        double U[LASH_MAX_ROWS];
        lash_row_velocity(system, item, step->G, p->delta, U);
        for (int r = 0; r < item->rows; ++r) {
            int k = item->row + r;
            bool speed = item->kind == LASH_BILATERAL_VELOCITY;
            step->U[k] = speed ? U[r] / step->h + step->g_t[k] : step->g[k] / step->h;
            double error = fabs(speed ? step->U[k] : step->g[k]);
            if (!(error <= p->joint_error)) step->worst_position = item->id;
            p->joint_error = worse(p->joint_error, error);
            if (!speed) step->position_error = worse(step->position_error, error);
        }
    }
    return true;
}

// The operator of the iteration and r (in p->y): M a - h^2 F - h G P.
static bool factor_and_residual(LashSim* sim, Step* step, Position* p) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    int nv = system->nv, values = system->pattern.offset[system->pattern.count];
    double t = step->stencil.t_force, hc = 0.5 * step->h * sim->settings.theta,
           hk = step->h * step->h * sim->settings.theta;
    for (int i = 0; i < nv; ++i) p->x[i] = p->delta[i] - p->delta_start[i];
    system->mass(system, sim->work, step->q_end, sim->operators.M_values);
    system->tangents(system, sim->work, t, step->q_force, step->v_force, sim->operators.C_values,
                     sim->operators.K_values);
    system->forces(system, sim->work, t, step->q_force, step->v_force, step->F);
    if (!system->constant_mass)
        system->mass_tangent(system, sim->work, step->q_end, p->x, 1 / hk, sim->operators.K_values);
    lash_block_multiply(system, sim->operators.M_values, p->x, p->y);
    for (int i = 0; i < nv; ++i) p->y[i] -= step->h * step->h * step->F[i];
    for (int i = 0; i < values; ++i)
        sim->operators.A_values[i] = sim->operators.M_values[i] + hc * sim->operators.C_values[i] +
                                     hk * sim->operators.K_values[i];
    if (!lash_block_lu_factor(sim->operators.A, sim->operators.A_values)) return false;
    if (!lash_block_lu_factor(sim->operators.M, sim->operators.M_values)) return false;
    if (!evaluate_joints(sim, step, p) || !evaluate_contacts(sim, step, p)) return false;
    lash_joint_solver_factor(&sim->operators.velocity_joints, list, step->G, sim->operators.A,
                             false, false);
    lash_rows_apply(system, list, 0, list->bilateral, NULL, step->G, -step->h, step->P, p->y);
    lash_rows_apply(system, list, list->bilateral, list->count, NULL, step->G_star, -step->h,
                    step->P, p->y);
    memcpy(p->x, p->y, (size_t)nv * sizeof *p->x);
    lash_block_lu_solve(sim->operators.M, p->x);
    p->dynamics_error = 0;
    for (int i = 0; i < nv; ++i)
        p->dynamics_error = worse(p->dynamics_error, fabs(p->x[i]) / step->h);
    lash_block_lu_solve(sim->operators.A, p->y);
    return true;
}

// x (nv) [m] gets what the joints add to the displacement x, divided by h, so that rows + G'x = 0;
// rows: joint rows [m/s] or NULL for none. P of the joints is completed.
static void close_joints_at_end(LashSim* sim, Step* step, Position* p, double* x,
                                const double* rows) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    if (list->bilateral == 0) return;
    lash_rows_velocity(system, list, 0, list->bilateral, NULL, step->G, x, p->u);
    for (int i = 0; i < list->bilateral_rows && rows != NULL; ++i) p->u[i] += rows[i];
    lash_joint_solver_solve(&sim->operators.velocity_joints, p->u, p->dP);
    memset(p->z, 0, (size_t)system->nv * sizeof *p->z);
    lash_rows_apply(system, list, 0, list->bilateral, NULL, step->G, 1, p->dP, p->z);
    lash_block_lu_solve(sim->operators.A, p->z);
    for (int i = 0; i < system->nv; ++i) x[i] += p->z[i];
}

// W of all contacts: rows of G' (joints closed) A^-1 G; everything in velocities, delta / h.
static LashFrictionProblem assemble(LashSim* sim, Step* step, Position* p) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    step->nc = step->m = 0;
    for (int i = list->bilateral; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        if (step->U[item->row] == INFINITY) continue; // an empty slot
        step->contact[step->nc] = i;
        step->first[step->nc] = step->m;
        step->kind[step->nc] = (uint8_t)item->rows;
        step->mu[step->nc] = item->mu;
        step->m += item->rows;
        ++step->nc;
    }
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &list->item[step->contact[c]];
        for (int r = 0; r < item->rows; ++r) {
            double* column = step->W + (size_t)step->m * (size_t)(step->first[c] + r);
            double unit[LASH_MAX_ROWS] = {0};
            unit[r] = 1;
            memset(p->x, 0, (size_t)system->nv * sizeof *p->x);
            lash_row_apply(system, item, step->G_star, 1, unit, p->x);
            lash_block_lu_solve(sim->operators.A, p->x);
            close_joints_at_end(sim, step, p, p->x, NULL);
            for (int k = 0; k < step->nc; ++k)
                lash_row_velocity(system, &list->item[step->contact[k]], step->G_star, p->x,
                                  column + step->first[k]);
        }
    }
    step->ldw = step->m;
    return friction_problem(step);
}

// b so that W P + b are the rows u of the law (step->U, plus G' y when y is given).
static void set_b(LashSim* sim, Step* step, const double* y) {
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        double* b = step->b + step->first[c];
        for (int r = 0; r < item->rows; ++r) b[r] = 0;
        if (y != NULL) lash_row_velocity(sim->system, item, step->G_star, y, b);
        for (int r = 0; r < item->rows; ++r) {
            b[r] += step->U[item->row + r];
            step->P_c[step->first[c] + r] = step->P[item->row + r];
        }
    }
    for (int j = 0; j < step->m; ++j) {
        for (int i = 0; i < step->m; ++i) step->b[i] -= step->W[i + step->m * j] * step->P_c[j];
    }
}

// One correction of delta and P. On entry p->y = A^-1 r [m].
static bool correct(LashSim* sim, Step* step, Position* p, const LashFrictionProblem* problem) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    double* y = p->y;
    for (int i = 0; i < system->nv; ++i) y[i] = -y[i] / step->h; // displacement / h
    close_joints_at_end(sim, step, p, y, step->U);
    for (int i = 0; i < list->bilateral_rows; ++i) step->P[i] += p->dP[i];
    if (step->nc > 0) {
        set_b(sim, step, y);
        if (!all_finite(step->b, step->m) || !all_finite(step->P_c, step->m) ||
            !diagonal_finite(step->W, step->m, step->m))
            return false;
        LashFrictionSettings settings = lash_friction_settings();
        settings.tolerance = sim->settings.tolerance_solver;
        settings.stop = &sim->stop;
        settings.minimum_norm = true;
        LashFrictionInfo info =
            lash_friction_solve(problem, &settings, step->P_c, step->U_c, sim->solvers.friction);
        sim->info.solver += info.iterations;
        if (info.outcome == LASH_FAILED) return false;
        memset(p->x, 0, (size_t)system->nv * sizeof *p->x);
        for (int c = 0; c < step->nc; ++c) {
            const LashInteraction* item = &list->item[step->contact[c]];
            double dP[LASH_MAX_ROWS];
            for (int r = 0; r < item->rows; ++r) {
                dP[r] = step->P_c[step->first[c] + r] - step->P[item->row + r];
                step->P[item->row + r] = step->P_c[step->first[c] + r];
            }
            lash_row_apply(system, item, step->G_star, 1, dP, p->x);
        }
        lash_block_lu_solve(sim->operators.A, p->x);
        close_joints_at_end(sim, step, p, p->x, NULL);
        for (int i = 0; i < list->bilateral_rows; ++i) step->P[i] += p->dP[i];
        for (int i = 0; i < system->nv; ++i) y[i] += p->x[i];
    }
    for (int i = 0; i < system->nv; ++i) p->delta[i] += step->h * y[i];
    return true;
}

// The step as the rest of the run sees it: all gaps at q_{k+1}, U = G' v_{k+1}, works at the
// velocity they belong to.
static bool finish(LashSim* sim, Step* step, const Position* p) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    for (int i = 0; i < list->count; ++i)
        step->active[i] = i < list->bilateral || step->P[list->item[i].row] > 0;
    if (!sim_evaluate(sim, step->t0 + step->h, step->q_end, NULL, step->g, step->g_t, step->G))
        return false;
    lash_rows_velocity(system, list, 0, list->count, NULL, step->G, step->v, step->U);
    for (int i = 0; i < list->rows; ++i) step->U[i] += step->g_t[i];
    for (int i = 0; i < list->bilateral; ++i) { // joints push along the directions at q_{k+1}
        const LashInteraction* item = &list->item[i];
        int n = 0;
        for (int b = 0; b < item->touched; ++b) n += lash_block_size(system, item->block[b]);
        memcpy(step->G_star + item->offset, step->G + item->offset,
               (size_t)(n * item->rows) * sizeof *step->G);
    }
    for (int i = 0; i < system->nv; ++i)
        step->v_force[i] = (p->delta[i] + p->delta_start[i]) / (2 * step->h);
    system->move(system, sim->now.q, sim->settings.theta, p->delta, step->room[0]);
    return true;
}

// U and gaps of the contacts at the start of the step: for the record of events.
static bool start_values(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    if (list->count == list->bilateral) return true;
    if (!sim_evaluate(sim, step->t0, sim->now.q, NULL, step->g, step->g_t, step->G)) return false;
    for (int i = list->bilateral; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        if (joint_friction(item)) return false;
        lash_row_velocity(system, item, step->G, sim->now.v, step->U_start + item->row);
        for (int r = 0; r < item->rows; ++r)
            step->U_start[item->row + r] += step->g_t[item->row + r];
        step->gap_start[i] = step->g[item->row];
        step->has_U_start[i] = 1;
    }
    return true;
}

static LashOutcome iterate(LashSim* sim, Step* step, Position* p) {
    const LashSettings* set = &sim->settings;
    for (int i = 0; i <= set->max_iterations && !sim_stopped(sim); ++i) {
        step->correction = i;
        set_state(sim, step, p);
        bool evaluated = factor_and_residual(sim, step, p);
        if (!evaluated || !(p->dynamics_error + p->joint_error < INFINITY))
            fault_of_iterate(sim, step);
        if (!evaluated) return LASH_FAILED;
        operator_forget(sim);
        LashFrictionProblem problem = assemble(sim, step, p);
        set_b(sim, step, NULL);
        p->contact_error = 0;
        if (step->nc > 0)
            p->contact_error =
                lash_friction_residual(&problem, LASH_MEASURE_VELOCITY, step->P_c, step->U_c);
        step->dynamics_error = p->dynamics_error;
        step->velocity_error = 0;
        step->contact_error = p->contact_error;
        bool pass = p->dynamics_error <= set->tolerance_velocity &&
                    p->contact_error <= set->tolerance_velocity &&
                    p->joint_error <= set->tolerance_position;
        if (i > 0 && pass) return finish(sim, step, p) ? LASH_CONVERGED : LASH_FAILED;
        if (i == set->max_iterations || !correct(sim, step, p, &problem)) break;
        ++sim->info.newton;
    }
    return LASH_INACCURATE;
}

static LashOutcome advance(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    Scratch scratch = scratch_begin(sim);
    Position p = {.delta = step->d,
                  .delta_start = scratch_velocity(sim),
                  .q_start = scratch_place(sim),
                  .between = scratch_place(sim),
                  .span = scratch_velocity(sim),
                  .y = scratch_velocity(sim),
                  .x = scratch_velocity(sim),
                  .z = scratch_velocity(sim),
                  .u = scratch_rows(sim),
                  .dP = scratch_rows(sim)};
    system->difference(system, sim->now.q, sim->now.history, p.delta_start);
    double ratio = step->h / sim->now.h; // sub-steps: the velocity stays
    for (int i = 0; i < system->nv; ++i) p.delta[i] = p.delta_start[i] *= ratio;
    system->move(system, sim->now.q, -1, p.delta_start, p.q_start);
    for (int i = step->list->bilateral_rows; i < step->list->rows; ++i) step->P[i] = 0;
    LashOutcome outcome = LASH_FAILED;
    int solver = sim->info.solver;
    if (start_values(sim, step)) outcome = iterate(sim, step, &p);
    trace_attempt(sim, step, "positions", DERIVATIVES_FORCES, solver, outcome);
    scratch_end(sim, scratch);
    return outcome;
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

// Works with (delta_{k+1} + delta_k) / 2h, which `finish` left in v_force.
static void energy(LashSim* sim, Step* step) {
    energy_add_forces(sim, step->h, step->stencil.t_force, step->q_force, NULL, step->v_force);
    energy_add_impulses(sim, step, step->v_force);
}

const Scheme scheme_schatzman_paoli = {
    .summary = "contacts at position level, with restitution; gaps may be left",
    .uses = USES_THETA | USES_RESTITUTION,
    .projection = PROJECTS_NOTHING,
    .equations = EQUATIONS_OWN,
    .history_q = 1,
    .start = start,
    .advance = advance,
    .energy = energy,
    .accept = keep_place,
};
