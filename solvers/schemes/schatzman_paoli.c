// Schatzman-Paoli scheme, [A12] section 3.2: contacts at position level.
//
//     M(q_{k+1}) (delta_{k+1} - delta_k) - h^2 F_{k+theta} = h G P,   delta_{k+1} = q_{k+1} (-) q_k
//     v_{k+1} = (q_{k+1} (-) q_{k-1}) / 2h
//     joints:    g(q_{k+1}) = 0;  speed drivers: G' delta_{k+1} / h + g_t = 0
//     contacts:  0 <= g(q-) perp P_N >= 0,  q- = q_{k-1} (+) (q_{k+1} (-) q_{k-1}) / (1 + e),  G at
//     q-
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
#include "solvers/step/rows.h"
#include "solvers/step/sim_internal.h"

typedef struct Position { // what this scheme adds to the step
    double* delta;        // (nv) q_{k+1} (-) q_k: the unknown, in s->d
    double* delta_start;  // (nv) q_k (-) q_{k-1}, of this step's length, in s->r until the end
    double* q_start;      // (nq) q_{k-1}, one step of this length back
    double dynamics_error, contact_error, joint_error;
} Position;

// v_{k+1}, v_{k+theta}, q_{k+1}, q_{k+theta} from delta.
static void set_state(LashSim* sim, StepContext* s, const Position* p) {
    const LashSystem* system = sim->system;
    system->move(system, sim->q, 1, p->delta, s->q_end);
    system->move(system, sim->q, s->theta, p->delta, s->q_theta);
    system->difference(system, s->q_end, p->q_start, s->v);
    for (int i = 0; i < system->nv; ++i) {
        s->v[i] /= 2 * s->h;
        s->v_theta[i] = (1 - s->theta) * sim->v[i] + s->theta * s->v[i];
    }
}

// Gaps and directions of all contacts at their own q-: into g_star and G_star; s->U gets the rows
// of the contact law, (1 + e) g / h and U_T.
static bool evaluate_contacts(LashSim* sim, StepContext* s, const Position* p) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = s->list;
    double *between = s->q_theta, *span = sim->x; // q_theta is not needed any more
    system->difference(system, s->q_end, p->q_start, span);
    for (int first = list->bilateral; first < list->count; ++first) {
        double e = list->item[first].e;
        bool done = false;
        for (int i = list->bilateral; i < first; ++i) done = done || list->item[i].e == e;
        if (done) continue;
        for (int i = 0; i < list->count; ++i)
            s->wanted[i] = i >= list->bilateral && list->item[i].e == e;
        system->move(system, p->q_start, 1 / (1 + e), span, between);
        double t = s->t0 - s->h + 2 * s->h / (1 + e);
        if (!sim_evaluate(sim, t, between, s->wanted, s->g_star, s->g_t, s->G_star)) return false;
        for (int i = first; i < list->count; ++i) {
            const LashInteraction* item = &list->item[i];
            if (item->e != e) continue;
            double* U = s->U + item->row;
            lash_row_velocity(system, item, s->G_star, p->delta, U);
            for (int r = 1; r < item->rows; ++r) U[r] = U[r] / s->h + s->g_t[item->row + r];
            U[0] = (1 + e) * s->g_star[item->row] / s->h;
        }
    }
    return true;
}

// Rows of joints into s->U, as displacements divided by h [m/s].
static bool evaluate_joints(LashSim* sim, StepContext* s, Position* p) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = s->list;
    for (int i = 0; i < list->count; ++i) s->wanted[i] = i < list->bilateral;
    if (!sim_evaluate(sim, s->t0 + s->h, s->q_end, s->wanted, s->g, s->g_t, s->G)) return false;
    p->joint_error = s->position_error = 0;
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        double U[LASH_MAX_ROWS];
        lash_row_velocity(system, item, s->G, p->delta, U);
        for (int r = 0; r < item->rows; ++r) {
            int k = item->row + r;
            bool speed = item->kind == LASH_BILATERAL_VELOCITY;
            s->U[k] = speed ? U[r] / s->h + s->g_t[k] : s->g[k] / s->h;
            double error = fabs(speed ? s->U[k] : s->g[k]);
            if (!(error <= p->joint_error)) s->worst_position = item->id;
            p->joint_error = worse(p->joint_error, error);
            if (!speed) s->position_error = worse(s->position_error, error);
        }
    }
    return true;
}

// The operator of the iteration and r (in sim->y): M a - h^2 F - h G P.
static bool factor_and_residual(LashSim* sim, StepContext* s, Position* p) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = s->list;
    int nv = system->nv, values = system->pattern.offset[system->pattern.count];
    double t = s->t0 + s->theta * s->h, hc = 0.5 * s->h * s->theta, hk = s->h * s->h * s->theta;
    for (int i = 0; i < nv; ++i) sim->x[i] = p->delta[i] - p->delta_start[i];
    system->mass(system, sim->work, s->q_end, sim->M_values);
    system->tangents(system, sim->work, t, s->q_theta, s->v_theta, sim->C_values, sim->K_values);
    system->forces(system, sim->work, t, s->q_theta, s->v_theta, s->F);
    if (!system->constant_mass)
        system->mass_tangent(system, sim->work, s->q_end, sim->x, 1 / hk, sim->K_values);
    lash_block_multiply(system, sim->M_values, sim->x, sim->y);
    for (int i = 0; i < nv; ++i) sim->y[i] -= s->h * s->h * s->F[i];
    for (int i = 0; i < values; ++i)
        sim->A_values[i] = sim->M_values[i] + hc * sim->C_values[i] + hk * sim->K_values[i];
    if (!lash_block_lu_factor(sim->A, sim->A_values)) return false;
    if (!lash_block_lu_factor(sim->M, sim->M_values)) return false;
    if (!evaluate_joints(sim, s, p) || !evaluate_contacts(sim, s, p)) return false;
    lash_joint_solver_factor(&sim->velocity_joints, list, s->G, sim->A, false, false);
    lash_rows_apply(system, list, 0, list->bilateral, NULL, s->G, -s->h, s->P, sim->y);
    lash_rows_apply(system, list, list->bilateral, list->count, NULL, s->G_star, -s->h, s->P,
                    sim->y);
    memcpy(sim->x, sim->y, (size_t)nv * sizeof *sim->x);
    lash_block_lu_solve(sim->M, sim->x);
    p->dynamics_error = 0;
    for (int i = 0; i < nv; ++i)
        p->dynamics_error = worse(p->dynamics_error, fabs(sim->x[i]) / s->h);
    lash_block_lu_solve(sim->A, sim->y);
    return true;
}

// x (nv) [m] gets what the joints add to the displacement x, divided by h, so that rows + G'x = 0;
// rows: joint rows [m/s] or NULL for none. P of the joints is completed.
static void close_joints_at_end(LashSim* sim, StepContext* s, double* x, const double* rows) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = s->list;
    if (list->bilateral == 0) return;
    lash_rows_velocity(system, list, 0, list->bilateral, NULL, s->G, x, sim->u);
    for (int i = 0; i < list->bilateral_rows && rows != NULL; ++i) sim->u[i] += rows[i];
    lash_joint_solver_solve(&sim->velocity_joints, sim->u, sim->w);
    memset(sim->z, 0, (size_t)system->nv * sizeof *sim->z);
    lash_rows_apply(system, list, 0, list->bilateral, NULL, s->G, 1, sim->w, sim->z);
    lash_block_lu_solve(sim->A, sim->z);
    for (int i = 0; i < system->nv; ++i) x[i] += sim->z[i];
}

// W of all contacts: rows of G' (joints closed) A^-1 G; everything in velocities, delta / h.
static LashFrictionProblem assemble(LashSim* sim, StepContext* s) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = s->list;
    s->nc = s->m = 0;
    for (int i = list->bilateral; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        if (s->U[item->row] == INFINITY) continue; // an empty slot
        s->contact[s->nc] = i;
        s->first[s->nc] = s->m;
        s->kind[s->nc] = (uint8_t)item->rows;
        s->mu[s->nc] = item->mu;
        s->m += item->rows;
        ++s->nc;
    }
    for (int c = 0; c < s->nc; ++c) {
        const LashInteraction* item = &list->item[s->contact[c]];
        for (int r = 0; r < item->rows; ++r) {
            double* column = s->W + (size_t)s->m * (size_t)(s->first[c] + r);
            double unit[LASH_MAX_ROWS] = {0};
            unit[r] = 1;
            memset(sim->x, 0, (size_t)system->nv * sizeof *sim->x);
            lash_row_apply(system, item, s->G_star, 1, unit, sim->x);
            lash_block_lu_solve(sim->A, sim->x);
            close_joints_at_end(sim, s, sim->x, NULL);
            for (int k = 0; k < s->nc; ++k)
                lash_row_velocity(system, &list->item[s->contact[k]], s->G_star, sim->x,
                                  column + s->first[k]);
        }
    }
    s->ldw = s->m;
    return friction_problem(s);
}

// b so that W P + b are the rows u of the law (s->U, plus G' y when y is given).
static void set_b(LashSim* sim, StepContext* s, const double* y) {
    for (int c = 0; c < s->nc; ++c) {
        const LashInteraction* item = &s->list->item[s->contact[c]];
        double* b = s->b + s->first[c];
        for (int r = 0; r < item->rows; ++r) b[r] = 0;
        if (y != NULL) lash_row_velocity(sim->system, item, s->G_star, y, b);
        for (int r = 0; r < item->rows; ++r) {
            b[r] += s->U[item->row + r];
            s->P_c[s->first[c] + r] = s->P[item->row + r];
        }
    }
    for (int j = 0; j < s->m; ++j) {
        for (int i = 0; i < s->m; ++i) s->b[i] -= s->W[i + s->m * j] * s->P_c[j];
    }
}

// One correction of delta and P. On entry sim->y = A^-1 r [m].
static bool correct(LashSim* sim, StepContext* s, Position* p, const LashFrictionProblem* problem) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = s->list;
    double* y = sim->y;
    for (int i = 0; i < system->nv; ++i) y[i] = -y[i] / s->h; // displacement / h
    close_joints_at_end(sim, s, y, s->U);
    for (int i = 0; i < list->bilateral_rows; ++i) s->P[i] += sim->w[i];
    if (s->nc > 0) {
        set_b(sim, s, y);
        if (!all_finite(s->b, s->m) || !all_finite(s->P_c, s->m) ||
            !diagonal_finite(s->W, s->m, s->m))
            return false;
        LashFrictionSettings settings = lash_friction_settings();
        settings.tolerance = sim->settings.tolerance_solver;
        settings.stop = &sim->stop;
        settings.minimum_norm = true;
        LashFrictionInfo info =
            lash_friction_solve(problem, &settings, s->P_c, s->U_c, sim->friction_work);
        sim->info.solver += info.iterations;
        if (info.outcome == LASH_FAILED) return false;
        memset(sim->x, 0, (size_t)system->nv * sizeof *sim->x);
        for (int c = 0; c < s->nc; ++c) {
            const LashInteraction* item = &list->item[s->contact[c]];
            double dP[LASH_MAX_ROWS];
            for (int r = 0; r < item->rows; ++r) {
                dP[r] = s->P_c[s->first[c] + r] - s->P[item->row + r];
                s->P[item->row + r] = s->P_c[s->first[c] + r];
            }
            lash_row_apply(system, item, s->G_star, 1, dP, sim->x);
        }
        lash_block_lu_solve(sim->A, sim->x);
        close_joints_at_end(sim, s, sim->x, NULL);
        for (int i = 0; i < list->bilateral_rows; ++i) s->P[i] += sim->w[i];
        for (int i = 0; i < system->nv; ++i) y[i] += sim->x[i];
    }
    for (int i = 0; i < system->nv; ++i) p->delta[i] += s->h * y[i];
    return true;
}

// The step as the rest of the run sees it: all gaps at q_{k+1}, U = G' v_{k+1}, works at the
// velocity they belong to.
static bool finish(LashSim* sim, StepContext* s, const Position* p) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = s->list;
    for (int i = 0; i < list->count; ++i)
        s->active[i] = i < list->bilateral || s->P[list->item[i].row] > 0;
    if (!sim_evaluate(sim, s->t0 + s->h, s->q_end, NULL, s->g, s->g_t, s->G)) return false;
    lash_rows_velocity(system, list, 0, list->count, NULL, s->G, s->v, s->U);
    for (int i = 0; i < list->rows; ++i) s->U[i] += s->g_t[i];
    for (int i = 0; i < list->bilateral; ++i) { // joints push along the directions at q_{k+1}
        const LashInteraction* item = &list->item[i];
        int n = 0;
        for (int b = 0; b < item->touched; ++b) n += lash_block_size(system, item->block[b]);
        memcpy(s->G_star + item->offset, s->G + item->offset,
               (size_t)(n * item->rows) * sizeof *s->G);
    }
    for (int i = 0; i < system->nv; ++i)
        s->v_theta[i] = (p->delta[i] + p->delta_start[i]) / (2 * s->h);
    system->move(system, sim->q, s->theta, p->delta, s->q_theta);
    return true;
}

// U and gaps of the contacts at the start of the step: for the record of events.
static bool start_values(LashSim* sim, StepContext* s) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = s->list;
    if (list->count == list->bilateral) return true;
    if (!sim_evaluate(sim, s->t0, sim->q, NULL, s->g, s->g_t, s->G)) return false;
    for (int i = list->bilateral; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        if (joint_friction(item)) return false;
        lash_row_velocity(system, item, s->G, sim->v, s->U_start + item->row);
        for (int r = 0; r < item->rows; ++r) s->U_start[item->row + r] += s->g_t[item->row + r];
        s->gap_start[i] = s->g[item->row];
        s->has_U_start[i] = 1;
    }
    return true;
}

LashOutcome step_schatzman_paoli(LashSim* sim, StepContext* s) {
    const LashSystem* system = sim->system;
    const LashSettings* set = &sim->settings;
    Position p = {.delta = s->d, .delta_start = s->r, .q_start = sim->q_back};
    system->difference(system, sim->q, sim->q_prev, p.delta_start);
    double ratio = s->h / sim->h_prev; // sub-steps: the velocity stays
    for (int i = 0; i < system->nv; ++i) p.delta[i] = p.delta_start[i] *= ratio;
    system->move(system, sim->q, -1, p.delta_start, p.q_start);
    for (int i = s->list->bilateral_rows; i < s->list->rows; ++i) s->P[i] = 0;
    if (!start_values(sim, s)) return LASH_FAILED;
    for (int i = 0; i <= set->max_iterations && !sim_stopped(sim); ++i) {
        set_state(sim, s, &p);
        bool evaluated = factor_and_residual(sim, s, &p);
        if (!evaluated || !(p.dynamics_error + p.joint_error < INFINITY)) {
            set_state(sim, s, &p); // q_theta held other places meanwhile
            fault_of_iterate(sim, s);
        }
        if (!evaluated) return LASH_FAILED;
        sim->factored = false;
        LashFrictionProblem problem = assemble(sim, s);
        set_b(sim, s, NULL);
        p.contact_error =
            s->nc == 0 ? 0
                       : lash_friction_residual(&problem, LASH_MEASURE_VELOCITY, s->P_c, s->U_c);
        s->dynamics_error = p.dynamics_error;
        s->velocity_error = 0;
        s->contact_error = p.contact_error;
        bool pass = p.dynamics_error <= set->tolerance_velocity &&
                    p.contact_error <= set->tolerance_velocity &&
                    p.joint_error <= set->tolerance_position;
        if (i > 0 && pass) return finish(sim, s, &p) ? LASH_CONVERGED : LASH_FAILED;
        if (i == set->max_iterations || !correct(sim, s, &p, &problem)) break;
        ++sim->info.newton;
    }
    return LASH_INACCURATE;
}
