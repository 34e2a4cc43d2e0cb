// One leg of the linearly implicit trapezoidal rule [P06]: no iteration. With q_m = q (+) h/2 v and
// directions G at (t + h/2, q_m):
//
//     A (v+ - v) = h/2 (k(t,q,v) + k(t+h,q,v) + h k_q v) + G P,    A = M^ + h/2 C + h^2/4 K
//     q+ = q (+) h/2 (v + v+)
//     M^ = M(q_m), or (M(q) + M(q (+) h v))/2;   K = -k_q, C = -k_v at (t+h, q, v), or of them what keeps A
//     positive definite for every h (tangents: definite), of first order where springs turn
//     rows mean   joints G'(v+v+)/2 + g_t + g(q)/h = 0;   contacts 0 <= the same of n perp P_N >= 0,
//                 friction on the mean velocity
//     rows end    the same on v+, with the rows' G at q (+) h v
//
// [P06] prints (h/2) k_q v, which is of first order, and takes the rows of scheme I (end) at q_m, which
// is so on curved joints. g(q)/h (stabilize) is not in [P06]: without it joints drift by O(h^2).
#include <math.h>
#include <string.h>

#include "solvers/schemes/trapezoidal.h"
#include "solvers/step/rows.h"

Leg leg_create(LashSim* sim) {
    return (Leg){.q = scratch_place(sim),
                 .v = scratch_velocity(sim),
                 .q_end = scratch_place(sim),
                 .v_end = scratch_velocity(sim),
                 .g = scratch_rows(sim),
                 .U = scratch_rows(sim),
                 .g_end = scratch_rows(sim),
                 .U_end = scratch_rows(sim),
                 .P = scratch_rows(sim),
                 .y = scratch_velocity(sim),
                 .mean = scratch_velocity(sim),
                 .x = scratch_velocity(sim),
                 .z = scratch_velocity(sim),
                 .u = scratch_rows(sim),
                 .dP = scratch_rows(sim),
                 .q_middle = scratch_place(sim)};
}

// g and U of all interactions at (t, q, v); G stays in step->G.
static bool rows_at(LashSim* sim, Step* step, double t, const double* q, const double* v, double* g,
                    double* U) {
    const LashInteractionList* list = step->list;
    if (!sim_evaluate(sim, t, q, NULL, g, step->g_t, step->G)) return false;
    lash_rows_velocity(sim->system, list, 0, list->count, NULL, step->G, v, U);
    for (int r = 0; r < list->rows; ++r) U[r] += step->g_t[r];
    return true;
}

bool leg_start(LashSim* sim, Step* step, Leg* leg) {
    return rows_at(sim, step, leg->t, leg->q, leg->v, leg->g, leg->U);
}

void leg_advance(const LashSim* sim, const Step* step, Leg* leg) {
    leg->t += leg->h;
    memcpy(leg->q, leg->q_end, (size_t)sim->system->nq * sizeof *leg->q);
    memcpy(leg->v, leg->v_end, (size_t)sim->system->nv * sizeof *leg->v);
    memcpy(leg->g, leg->g_end, (size_t)step->list->rows * sizeof *leg->g);
    memcpy(leg->U, leg->U_end, (size_t)step->list->rows * sizeof *leg->U);
}

// M^ into the values of M.
static void take_mass(LashSim* sim, Leg* leg) {
    const LashSystem* system = sim->system;
    Operators* operators = &sim->operators;
    int values = system->pattern.offset[system->pattern.count];
    if (leg->mass_at == MASS_MIDPOINT || system->constant_mass) {
        system->mass(system, sim->work, leg->q_middle, operators->M_values);
        return;
    }
    system->move(system, leg->q, leg->h, leg->v, leg->q_end);
    system->mass(system, sim->work, leg->q, operators->M_values);
    system->mass(system, sim->work, leg->q_end, operators->A_values);
    for (int i = 0; i < values; ++i)
        operators->M_values[i] = 0.5 * (operators->M_values[i] + operators->A_values[i]);
}

// A, and y = A^-1 h/2 (k(t) + k(t+h) - h K v).
static bool smooth_part(LashSim* sim, Step* step, Leg* leg) {
    const LashSystem* system = sim->system;
    Operators* operators = &sim->operators;
    double h = leg->h;
    int values = system->pattern.offset[system->pattern.count];
    system->move(system, leg->q, h / 2, leg->v, leg->q_middle);
    take_mass(sim, leg);
    bool definite = leg->tangents == TANGENTS_DEFINITE;
    (definite ? system->definite_tangents : system->tangents)(
        system, sim->work, leg->t + h, leg->q, leg->v, operators->C_values, operators->K_values);
    system->forces(system, sim->work, leg->t, leg->q, leg->v, step->F);
    system->forces(system, sim->work, leg->t + h, leg->q, leg->v, leg->x);
    lash_block_multiply(system, operators->K_values, leg->v, leg->z);
    for (int i = 0; i < system->nv; ++i)
        leg->y[i] = h / 2 * (step->F[i] + leg->x[i] - h * leg->z[i]);
    for (int i = 0; i < values; ++i)
        operators->A_values[i] = operators->M_values[i] + h / 2 * operators->C_values[i] +
                                 h * h / 4 * operators->K_values[i];
    operator_forget(sim);
    operators->mass_known = false;
    if (!all_finite(leg->y, system->nv) || !all_finite(operators->A_values, values)) return false;
    if (!lash_block_lu_factor(operators->A, operators->A_values)) return false;
    lash_block_lu_solve(operators->A, leg->y);
    return true;
}

// Directions at the middle into G*, rows into G; contacts that have no place there do not act.
static bool take_rows(LashSim* sim, Step* step, Leg* leg) {
    const LashInteractionList* list = step->list;
    double t = leg->t + leg->h / 2;
    for (int i = list->bilateral; i < list->count; ++i) step->wanted[i] = step->active[i];
    if (!sim_evaluate(sim, t, leg->q_middle, step->wanted, step->g, step->g_t, step->G_star))
        return false;
    if (leg->rows == LEG_ROWS_END) {
        sim->system->move(sim->system, leg->q, leg->h, leg->v, leg->q_end);
        if (!sim_evaluate(sim, leg->t + leg->h, leg->q_end, step->wanted, step->g, step->g_t,
                          step->G))
            return false;
    } else {
        memcpy(step->G, step->G_star, (size_t)list->G_size * sizeof *step->G);
    }
    for (int i = list->bilateral; i < list->count; ++i) {
        if (step->active[i] && step->g[list->item[i].row] == INFINITY) step->active[i] = 0;
        step->has_U_start[i] = 1;
    }
    lash_joint_solver_factor_general(&sim->operators.velocity_joints, list, step->G, step->G_star,
                                     sim->operators.A);
    return contacts_list(sim, step);
}

// What the rows say of the velocity change y: G'y is so many times as much.
static double share(const Leg* leg) {
    return leg->rows == LEG_ROWS_MEAN ? 0.5 : 1;
}

// The gap's part of a row: joints close theirs within the leg, contacts as within the whole step. Rows of the
// mean velocity leave twice the speed that closes a gap in the end velocity, with a sign that alternates; hence
// nothing is closed within a short leg: it would be an impact that keeps others going.
static double opening(const Leg* leg, const LashInteraction* item, int r) {
    static const double SHORT = 0.05; // of the step; larger: double pendulum, known states
    if (item->kind == LASH_BILATERAL_VELOCITY || leg->h < SHORT * leg->whole) return 0;
    double g = leg->g[item->row + r];
    if (item->kind != LASH_UNILATERAL) return leg->stabilize * g / leg->h;
    return r > 0 ? 0 : leg->stabilize * g / leg->whole;
}

static void close_joints(LashSim* sim, Step* step, Leg* leg) {
    const LashInteractionList* list = step->list;
    if (list->bilateral == 0) return;
    for (int i = 0; i < sim->system->nv; ++i) leg->x[i] = leg->v[i] + share(leg) * leg->y[i];
    lash_rows_velocity(sim->system, list, 0, list->bilateral, NULL, step->G, leg->x, leg->u);
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        for (int r = 0; r < item->rows; ++r) {
            int row = item->row + r;
            leg->u[row] = (leg->u[row] + step->g_t[row] + opening(leg, item, r)) / share(leg);
        }
    }
    lash_joint_solver_solve(&sim->operators.velocity_joints, leg->u, leg->dP);
    joints_push(sim, step, step->G_star, leg->dP, sim->operators.A, leg->z);
    for (int i = 0; i < sim->system->nv; ++i) leg->y[i] += leg->z[i];
    for (int r = 0; r < list->bilateral_rows; ++r) leg->P[r] = leg->dP[r];
}

// leg->x <- response to the generalized impulse x with the joints closed; adds their impulses.
static void respond(LashSim* sim, Step* step, Leg* leg, double* P) {
    const LashInteractionList* list = step->list;
    lash_block_lu_solve(sim->operators.A, leg->x);
    if (list->bilateral == 0) return;
    joints_answer(sim, step, leg->x, leg->dP, leg->z);
    for (int i = 0; i < sim->system->nv; ++i) leg->x[i] += leg->z[i];
    for (int r = 0; r < list->bilateral_rows && P != NULL; ++r) P[r] += leg->dP[r];
}

// U = W P + b of the active contacts.
static void pose_contacts(LashSim* sim, Step* step, Leg* leg) {
    const LashSystem* system = sim->system;
    step->ldw = step->m;
    for (int i = 0; i < system->nv; ++i) leg->mean[i] = leg->v[i] + share(leg) * leg->y[i];
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        double* b = step->b + step->first[c];
        for (int r = 0; r < item->rows; ++r) {
            double unit[LASH_MAX_ROWS] = {0};
            double* column = step->W + (size_t)step->m * (size_t)(step->first[c] + r);
            unit[r] = share(leg);
            memset(leg->x, 0, (size_t)system->nv * sizeof *leg->x);
            lash_row_apply(system, item, step->G_star, 1, unit, leg->x);
            respond(sim, step, leg, NULL);
            for (int k = 0; k < step->nc; ++k)
                lash_row_velocity(system, &step->list->item[step->contact[k]], step->G, leg->x,
                                  column + step->first[k]);
            step->P_c[step->first[c] + r] = 0;
        }
        lash_row_velocity(system, item, step->G, leg->mean, b);
        for (int r = 0; r < item->rows; ++r)
            b[r] += step->g_t[item->row + r] + opening(leg, item, r);
    }
}

bool eliminate_small(int n, double* A, double* b) {
    for (int k = 0; k < n; ++k) {
        int p = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(A[i + n * k]) > fabs(A[p + n * k])) p = i;
        if (!(fabs(A[p + n * k]) > 0)) return false;
        for (int j = 0; j < n && p != k; ++j) {
            double a = A[k + n * j];
            A[k + n * j] = A[p + n * j];
            A[p + n * j] = a;
        }
        double x = b[k];
        b[k] = b[p];
        b[p] = x;
        for (int i = k + 1; i < n; ++i) {
            double factor = A[i + n * k] / A[k + n * k];
            for (int j = k; j < n; ++j) A[i + n * j] -= factor * A[k + n * j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = k + 1; j < n; ++j) b[k] -= A[k + n * j] * b[j];
        b[k] /= A[k + n * k];
    }
    return true;
}

// Direction of sliding at the start of the leg; false: it does not slide there.
bool leg_slide(const Leg* leg, const LashInteraction* item, Status status, double d[2]) {
    const double* U = leg->U + item->row;
    d[0] = status == STATUS_SLIDES_BACK ? -1 : 1;
    d[1] = 0;
    if (item->rows < 3) return true;
    double speed = hypot(U[1], U[2]);
    d[0] = U[1] / speed;
    d[1] = U[2] / speed;
    return speed > 0;
}

// A row of the held problem: U = 0 in it, and the impulses that one unit of its impulse brings.
typedef struct HeldRow {
    int row;
    double side[2]; // in the two rows after it
} HeldRow;

static double held_entry(const Step* step, const HeldRow* at, const HeldRow* of) {
    double sum = step->W[at->row + step->m * of->row];
    for (int k = 0; k < 2; ++k)
        if (of->side[k] != 0) sum += of->side[k] * step->W[at->row + step->m * (of->row + 1 + k)];
    return sum;
}

// Statuses held: closed contacts have U_N = 0, sticking ones U_T = 0, sliding ones P_T = -mu P_N d with the
// direction d of the start.
static bool solve_held(Step* step, const Leg* leg) {
    enum { MOST = 24 };
    double S[MOST * MOST], x[MOST], d[2];
    HeldRow row[MOST];
    int n = 0;
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        Status status = (Status)leg->held[step->contact[c]];
        if (status == STATUS_OPEN) continue;
        bool slides = status >= STATUS_SLIDES && item->rows > 1;
        if (slides && !leg_slide(leg, item, status, d)) return false;
        for (int r = 0; r < (slides ? 1 : item->rows); ++r) {
            if (n == MOST) return false;
            row[n] = (HeldRow){.row = step->first[c] + r};
            for (int k = 0; k < 2 && slides; ++k) row[n].side[k] = -item->mu * d[k];
            ++n;
        }
    }
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) S[i + n * j] = held_entry(step, &row[i], &row[j]);
        x[j] = -step->b[row[j].row];
    }
    if (!eliminate_small(n, S, x)) return false;
    for (int j = 0; j < n; ++j) {
        step->P_c[row[j].row] = x[j];
        for (int k = 0; k < 2; ++k)
            if (row[j].side[k] != 0) step->P_c[row[j].row + 1 + k] = row[j].side[k] * x[j];
    }
    return true;
}

// Solves the contact problem, from P_c or cold, with a third of the work that a pass allows: there may be three
// tries. True: to the tolerance of velocities.
static bool try_friction(LashSim* sim, Step* step, const Leg* leg, double tolerance, bool cold) {
    LashFrictionProblem problem = friction_problem(step);
    LashFrictionSettings settings = lash_friction_settings();
    settings.tolerance = tolerance;
    settings.cold = cold;
    settings.max_iterations = tuning.friction_work / 3;
    settings.stop = &sim->stop;
    if (leg->directions > 0) {
        settings.method = LASH_FRICTION_POLYHEDRAL;
        settings.directions = leg->directions;
    }
    LashFrictionInfo info = friction_solve(sim, step, &problem, settings, step->P_c, step->U_c);
    if (info.residual < INFINITY) step->contact_error = info.residual;
    return info.outcome != LASH_FAILED && info.residual <= sim->settings.tolerance_velocity;
}

// Many contacts of pins depend on each other nearly, and the way from another start, or to a tolerance that is just enough,
// may lead where the first one did not.
bool leg_solve_friction(LashSim* sim, Step* step, const Leg* leg) {
    double sharp = sim->settings.tolerance_solver, enough = sim->settings.tolerance_velocity;
    if (!all_finite(step->b, step->m) || !all_finite(step->W, step->m * step->m)) return false;
    step->friction_work = 0; // an impact has several problems
    if (try_friction(sim, step, leg, sharp, false)) return true;
    if (!sim_stopped(sim) && try_friction(sim, step, leg, sharp, false)) return true;
    if (!sim_stopped(sim) && try_friction(sim, step, leg, enough, true)) return true;
    if (!sim_stopped(sim))
        sim->failure.fault = (LashFault){.kind = LASH_FAULT_CONTACTS,
                                         .t = leg->t,
                                         .id = step->list->item[step->contact[0]].id,
                                         .contacts = step->nc,
                                         .residual = step->contact_error};
    return false;
}

static bool solve_contacts(LashSim* sim, Step* step, Leg* leg) {
    if (step->nc == 0) return true;
    pose_contacts(sim, step, leg);
    if (leg->held != NULL ? !solve_held(step, leg) : !leg_solve_friction(sim, step, leg))
        return false;
    memset(leg->x, 0, (size_t)sim->system->nv * sizeof *leg->x);
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        double* P = leg->P + item->row;
        memcpy(P, step->P_c + step->first[c], (size_t)item->rows * sizeof *P);
        lash_row_apply(sim->system, item, step->G_star, 1, P, leg->x);
    }
    respond(sim, step, leg, leg->P);
    for (int i = 0; i < sim->system->nv; ++i) leg->y[i] += leg->x[i];
    return true;
}

bool leg_solve(LashSim* sim, Step* step, Leg* leg) {
    const LashSystem* system = sim->system;
    memset(leg->P, 0, (size_t)step->list->rows * sizeof *leg->P);
    ++sim->info.newton;
    if (!smooth_part(sim, step, leg) || !take_rows(sim, step, leg)) return false;
    close_joints(sim, step, leg);
    if (!solve_contacts(sim, step, leg)) return false;
    for (int i = 0; i < system->nv; ++i) {
        leg->v_end[i] = leg->v[i] + leg->y[i];
        leg->mean[i] = leg->v[i] + 0.5 * leg->y[i];
    }
    if (!all_finite(leg->v_end, system->nv)) return false;
    system->move(system, leg->q, leg->h, leg->mean, leg->q_end);
    return rows_at(sim, step, leg->t + leg->h, leg->q_end, leg->v_end, leg->g_end, leg->U_end);
}

Status leg_status(const Step* step, const Leg* leg, int i) {
    const LashInteraction* item = &step->list->item[i];
    const double* P = leg->P + item->row;
    static const double IN_CONE = 1e-9;
    if (!(P[0] > 0)) return STATUS_OPEN;
    if (item->rows < 2 || item->mu == 0) return STATUS_STICKS;
    double t = item->rows == 2 ? fabs(P[1]) : hypot(P[1], P[2]);
    if (t < item->mu * P[0] * (1 - IN_CONE)) return STATUS_STICKS;
    return item->rows == 2 && P[1] > 0 ? STATUS_SLIDES_BACK : STATUS_SLIDES;
}
