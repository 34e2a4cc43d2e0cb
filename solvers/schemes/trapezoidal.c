// Linearly implicit trapezoidal rule [P06], without events: one linear system and one contact
// problem per step. With q_m = q (+) h/2 v and all rows and directions G at (t + h/2, q_m):
//
//     A (v+ - v) = h/2 (k(t,q,v) + k(t+h,q,v) + h k_q v) + G P,    A = M(q_m) + h/2 C + h^2/4 K
//     q+ = q (+) h/2 (v + v+)
//     joints     G'(v + v+)/2 + g_t + g(q)/h = 0
//     contacts   0 <= G_N'(v + v+)/2 + g_t + g(q)/h perp P_N >= 0, friction on the mean velocity
//
// K = -k_q, C = -k_v at (t+h, q, v). Second order, since rows act on the mean velocity. Contacts
// take part where g(q) + h U(q, v) <= 0. There is no law of impact yet: e is not read, a contact
// ends its approach within the step.
#include <math.h>
#include <string.h>

#include "solvers/schemes/scheme.h"
#include "solvers/step/rows.h"

typedef struct Rule {
    double *y, *mean;    // (nv) v+ - v; v + y/2
    double *x, *z;       // (nv) scratch
    double *u, *dP, *g0; // (rows) scratch; impulses of joints; gaps at the start
} Rule;

// Joints answer the velocity x (nv): z, their impulses dP.
static void answer(LashSim* sim, Step* step, Rule* rule, const double* u) {
    lash_joint_solver_solve(&sim->operators.velocity_joints, u, rule->dP);
    joints_push(sim, step, step->G, rule->dP, sim->operators.A, rule->z);
}

// A, and y = A^-1 h/2 (k(t) + k(t+h) - h K v).
static bool smooth_part(LashSim* sim, Step* step, Rule* rule) {
    const LashSystem* system = sim->system;
    Operators* operators = &sim->operators;
    const double *q = sim->now.q, *v = sim->now.v, h = step->h;
    int nv = system->nv, values = system->pattern.offset[system->pattern.count];
    system->move(system, q, h / 2, v, step->room[0]);
    system->mass(system, sim->work, step->room[0], operators->M_values);
    system->tangents(system, sim->work, step->t0 + h, q, v, operators->C_values,
                     operators->K_values);
    system->forces(system, sim->work, step->t0, q, v, step->F);
    system->forces(system, sim->work, step->t0 + h, q, v, rule->x);
    lash_block_multiply(system, operators->K_values, v, rule->z);
    for (int i = 0; i < nv; ++i) rule->y[i] = h / 2 * (step->F[i] + rule->x[i] - h * rule->z[i]);
    for (int i = 0; i < values; ++i)
        operators->A_values[i] = operators->M_values[i] + h / 2 * operators->C_values[i] +
                                 h * h / 4 * operators->K_values[i];
    operator_forget(sim);
    if (!lash_block_lu_factor(operators->A, operators->A_values)) return false;
    if (!lash_block_lu_factor(operators->M, operators->M_values)) return false;
    lash_block_lu_solve(operators->A, rule->y);
    return true;
}

// Rows at the midpoint, and which contacts take part.
static bool rows(LashSim* sim, Step* step, Rule* rule) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    if (!sim_evaluate(sim, step->t0, sim->now.q, NULL, rule->g0, step->g_t, step->G)) return false;
    for (int i = list->bilateral; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        double* U = step->U_start + item->row;
        lash_row_velocity(system, item, step->G, sim->now.v, U);
        for (int r = 0; r < item->rows; ++r) U[r] += step->g_t[item->row + r];
        step->gap_start[i] = rule->g0[item->row];
        step->has_U_start[i] = 1;
        step->active[i] = rule->g0[item->row] + step->h * U[0] <= 0;
    }
    double t = step->t0 + step->h / 2;
    if (!sim_evaluate(sim, t, step->room[0], NULL, step->g, step->g_t, step->G)) return false;
    memcpy(step->G_star, step->G, (size_t)list->G_size * sizeof *step->G);
    lash_joint_solver_factor(&sim->operators.velocity_joints, list, step->G, sim->operators.A,
                             false, false);
    return contacts_list(sim, step);
}

static void close_joints(LashSim* sim, Step* step, Rule* rule) {
    const LashInteractionList* list = step->list;
    if (list->bilateral == 0) return;
    for (int i = 0; i < sim->system->nv; ++i) rule->x[i] = 2 * sim->now.v[i] + rule->y[i];
    lash_rows_velocity(sim->system, list, 0, list->bilateral, NULL, step->G, rule->x, rule->u);
    for (int r = 0; r < list->bilateral_rows; ++r)
        rule->u[r] += 2 * (step->g_t[r] + rule->g0[r] / step->h);
    answer(sim, step, rule, rule->u);
    for (int i = 0; i < sim->system->nv; ++i) rule->y[i] += rule->z[i];
    for (int r = 0; r < list->bilateral_rows; ++r) step->P[r] = rule->dP[r];
}

// rule->x <- response to the generalized impulse x with the joints closed; adds their impulses.
static void respond(LashSim* sim, Step* step, Rule* rule, double* P) {
    const LashInteractionList* list = step->list;
    lash_block_lu_solve(sim->operators.A, rule->x);
    if (list->bilateral == 0) return;
    lash_rows_velocity(sim->system, list, 0, list->bilateral, NULL, step->G, rule->x, rule->u);
    answer(sim, step, rule, rule->u);
    for (int i = 0; i < sim->system->nv; ++i) rule->x[i] += rule->z[i];
    for (int r = 0; r < list->bilateral_rows && P != NULL; ++r) P[r] += rule->dP[r];
}

static void pose_contacts(LashSim* sim, Step* step, Rule* rule) {
    const LashSystem* system = sim->system;
    step->ldw = step->m;
    for (int i = 0; i < system->nv; ++i) rule->mean[i] = sim->now.v[i] + rule->y[i] / 2;
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        double* b = step->b + step->first[c];
        for (int r = 0; r < item->rows; ++r) {
            double unit[LASH_MAX_ROWS] = {0};
            double* column = step->W + (size_t)step->m * (size_t)(step->first[c] + r);
            unit[r] = 0.5;
            memset(rule->x, 0, (size_t)system->nv * sizeof *rule->x);
            lash_row_apply(system, item, step->G, 1, unit, rule->x);
            respond(sim, step, rule, NULL);
            for (int k = 0; k < step->nc; ++k)
                lash_row_velocity(system, &step->list->item[step->contact[k]], step->G, rule->x,
                                  column + step->first[k]);
            step->P_c[step->first[c] + r] = 0;
        }
        lash_row_velocity(system, item, step->G, rule->mean, b);
        for (int r = 0; r < item->rows; ++r) b[r] += step->g_t[item->row + r];
        b[0] += rule->g0[item->row] / step->h;
    }
}

static bool solve_contacts(LashSim* sim, Step* step, Rule* rule) {
    if (step->nc == 0) return true;
    pose_contacts(sim, step, rule);
    LashFrictionProblem problem = friction_problem(step);
    LashFrictionSettings settings = lash_friction_settings();
    settings.tolerance = sim->settings.tolerance_solver;
    settings.stop = &sim->stop;
    LashFrictionInfo info =
        lash_friction_solve(&problem, &settings, step->P_c, step->U_c, sim->solvers.friction);
    sim->info.solver += info.iterations;
    step->contact_error = info.residual;
    if (info.outcome == LASH_FAILED) return false;
    memset(rule->x, 0, (size_t)sim->system->nv * sizeof *rule->x);
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        double* P = step->P + item->row;
        memcpy(P, step->P_c + step->first[c], (size_t)item->rows * sizeof *P);
        lash_row_apply(sim->system, item, step->G, 1, P, rule->x);
    }
    respond(sim, step, rule, step->P);
    for (int i = 0; i < sim->system->nv; ++i) rule->y[i] += rule->x[i];
    return info.residual <= sim->settings.tolerance_velocity;
}

static bool finish(LashSim* sim, Step* step, Rule* rule) {
    const LashSystem* system = sim->system;
    double t = step->t0 + step->h;
    for (int i = 0; i < system->nv; ++i) {
        step->v[i] = sim->now.v[i] + rule->y[i];
        step->d[i] = step->h * (sim->now.v[i] + rule->y[i] / 2);
        step->v_force[i] = step->d[i] / step->h;
    }
    system->move(system, sim->now.q, 1, step->d, step->q_end);
    step->q_force = step->room[0];
    if (!sim_evaluate(sim, t, step->q_end, NULL, step->g, step->g_t, step->G)) return false;
    lash_rows_velocity(system, step->list, 0, step->list->count, NULL, step->G, step->v, step->U);
    for (int r = 0; r < step->list->rows; ++r) step->U[r] += step->g_t[r];
    step->dynamics_error = step->velocity_error = step->position_error = 0;
    for (int r = 0; r < step->list->bilateral_rows; ++r)
        step->position_error = worse(step->position_error, fabs(step->g[r]));
    return true;
}

static LashOutcome advance(LashSim* sim, Step* step) {
    Scratch scratch = scratch_begin(sim);
    Rule rule = {.y = scratch_velocity(sim),
                 .mean = scratch_velocity(sim),
                 .x = scratch_velocity(sim),
                 .z = scratch_velocity(sim),
                 .u = scratch_rows(sim),
                 .dP = scratch_rows(sim),
                 .g0 = scratch_rows(sim)};
    memset(step->P, 0, (size_t)step->list->rows * sizeof *step->P);
    int solver = sim->info.solver;
    step->contact_error = 0;
    step->correction = 1;
    bool good = smooth_part(sim, step, &rule) && rows(sim, step, &rule);
    if (good) close_joints(sim, step, &rule);
    good = good && solve_contacts(sim, step, &rule) && finish(sim, step, &rule);
    ++sim->info.newton;
    LashOutcome outcome = good ? LASH_CONVERGED : LASH_FAILED;
    trace_attempt(sim, step, "linear", DERIVATIVES_FORCES, solver, outcome);
    scratch_end(sim, scratch);
    return outcome;
}

// Works with the mean velocity.
static void energy(LashSim* sim, Step* step) {
    energy_add_forces(sim, step->h, step->t0 + step->h / 2, step->q_force, NULL, step->v_force);
    energy_add_impulses(sim, step, step->v_force);
}

const Scheme scheme_trapezoidal = {
    .summary = "linearly implicit trapezoidal rule, no iteration; contacts without rebound",
    .projection = PROJECTS_NOTHING,
    .equations = EQUATIONS_OWN,
    .advance = advance,
    .energy = energy,
};
