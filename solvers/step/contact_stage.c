// Contacts inside the iteration of a step: the velocity problem with impact and friction, and the
// position problem.
//
//     velocities  U_c = W P_c + b,   W = G^' B G*,   b = U_c(free) - W P_c(old) + shift of the law:
//                     e U_N(start) in normal rows, under Fremond's law also
//                     (1 - theta)/theta U_T(start) in tangential ones
//     positions   g+ = g + G'(d_v dv) + G' N G dtau
//                     0 = g+ where P_N > 0,   0 <= g+ perp tau >= 0 elsewhere
//
// Friction in joints (LASH_FRICTION) has an empty normal row, so U_N = 0 there. In its place stands
//     U_N = w (P_N - L),   L = |P_load| of the joint's force rows,   w = mean diagonal of W_TT,
// a contact that closes exactly when P_N = L: the cone |P_T| <= mu P_N then is Coulomb's law with
// the joint's own reaction, and every friction solver takes it as it is. L is linearised in the
// contact impulses through the joints' answer to them, so Newton converges quadratically.
//
// B is the response of the system with its joints closed (operator_joints.c), W the Delassus
// operator; G^ = G + d_v d(G'v)/dq where derivatives of the directions are in the Newton matrix.
// Friction acts at velocity level only, positions move along normals.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/cone/friction_internal.h"
#include "solvers/step/rows.h"
#include "solvers/step/sim_internal.h"

// --- Lists ---------------------------------------------------------------------------------------

bool joint_friction(const LashInteraction* item) {
    return item->kind == LASH_FRICTION;
}

// U at the start, G(q_k)' v_k + g_t(t_k), and the gap there, of active contacts that were not
// active before.
static bool start_velocities(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    bool missing = false;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        step->wanted[i] = step->active[i] && !step->has_U_start[i];
        missing = missing || step->wanted[i];
    }
    if (!missing) return true;
    if (!sim_evaluate(sim, step->t0, sim->now.q, step->wanted, step->g_star, step->g_t,
                      step->G_star))
        return false;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (!step->wanted[i]) continue;
        const LashInteraction* item = &step->list->item[i];
        lash_row_velocity(system, item, step->G_star, sim->now.v, step->U_start + item->row);
        for (int r = 0; r < item->rows; ++r)
            step->U_start[item->row + r] += step->g_t[item->row + r];
        step->gap_start[i] = step->g_star[item->row];
        step->has_U_start[i] = 1;
    }
    return true;
}

bool contacts_list(LashSim* sim, Step* step) {
    if (!start_velocities(sim, step)) return false;
    step->nc = step->m = step->nn = 0;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        step->wanted[i] = step->active[i] || step->position[i] != POSITION_FREE;
        step->scale[i] = 0;
        if (step->wanted[i] &&
            (step->nc == sim->sizes.contacts || step->nn == sim->sizes.contacts ||
             step->m + item->rows > sim->sizes.contact_rows)) {
            step->crowded = true;
            return false; // more than there is room for
        }
        if (step->active[i]) {
            step->contact[step->nc] = i;
            step->first[step->nc] = step->m;
            step->kind[step->nc] = (uint8_t)item->rows;
            step->mu[step->nc] = item->mu;
            step->m += item->rows;
            ++step->nc;
        }
        if (step->position[i] != POSITION_FREE) {
            step->kind_n[step->nn] = LASH_PROJECT_INEQUALITY;
            step->normal[step->nn++] = i;
        }
    }
    step->b_norm = 0;
    step->increments = false;
    step->friction_work = 0;
    return true;
}

// --- Velocity problem ----------------------------------------------------------------------------

// Fremond's law [AC24]: the cone of friction acts on u = (1 - theta) U_k + theta U_{k+1}, whose
// normal part is shifted so that Newton's law is left as it is. Divided by theta it reads
// U + (e U_N,k, (1 - theta)/theta U_T,k), a problem with the same W.
void law_shift(const Step* step, int i, double* shift) {
    const LashInteraction* item = &step->list->item[i];
    double e = step->levels == GAPS ? 0 : item->e * step->restitution;
    shift[0] = e == 0 ? 0 : e * step->U_start[item->row];
    for (int r = 1; r < item->rows; ++r)
        shift[r] = step->stencil.law == LASH_FREMOND
                       ? step->stencil.law_before * step->U_start[item->row + r]
                       : 0;
}

void star_start(LashSim* sim, Step* step) {
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (!step->active[i]) continue;
        const LashInteraction* item = &step->list->item[i];
        lash_row_velocity(sim->system, item, step->G_star, sim->now.v, step->U_start + item->row);
        for (int r = 0; r < item->rows; ++r)
            step->U_start[item->row + r] += step->g_t_star[item->row + r];
        step->has_U_start[i] = 1;
    }
}

// |impulses of the load rows| of a joint's friction
static double load_of(const Step* step, const LashInteraction* item) {
    const LashInteraction* joint = &step->list->item[item->load];
    double sum = 0;
    for (int r = 0; r < joint->rows; ++r) {
        double P = step->P[joint->row + r];
        if (item->load_rows >> r & 1) sum += P * P;
    }
    return sqrt(sum);
}

static double tangent_norm(const double* x, int rows) {
    if (rows == 1) return 0;
    return rows == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
}

// |P - proj(P - rho (u + (mu |u_T|, 0, 0)))| / rho of one contact, u = U + shift of the law
static double natural_map(int rows, double mu, double rho, const double* P, const double* U,
                          const double* shift) {
    double x[3] = {0}, u[3] = {0};
    for (int r = 0; r < rows; ++r) u[r] = U[r] + shift[r];
    if (P[0] > LASH_LARGE_PUSH * rho && rows > 1)
        return friction_natural_exact(rows, mu, rho, P, u) / rho;
    x[0] = P[0] - rho * (u[0] + mu * tangent_norm(u, rows));
    for (int r = 1; r < rows; ++r) x[r] = P[r] - rho * u[r];
    double t = tangent_norm(x, rows), n = x[0];
    if (t > mu * n || n < 0) { // outside the cone: onto its side, or its tip
        double along = (n + mu * t) / (1 + mu * mu);
        if (along <= 0) along = 0;
        double scale = t > 0 ? mu * along / t : 0;
        x[0] = along;
        for (int r = 1; r < rows; ++r) x[r] *= scale;
    }
    double sum = 0;
    for (int r = 0; r < rows; ++r) sum += (P[r] - x[r]) * (P[r] - x[r]);
    return sqrt(sum) / rho;
}

double row_mobility(const LashSim* sim, const LashInteraction* item, const double* G, int row) {
    const LashSystem* system = sim->system;
    double sum = 0;
    const double* column = G + item->offset;
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]);
        const double* M = sim->operators.M_values + system->pattern.offset[item->block[b]];
        for (int i = 0; i < n; ++i) sum += column[n * row + i] * column[n * row + i] / M[i + n * i];
        column += n * item->rows;
    }
    return sum;
}

// 1 / sum of G^2 / M over the diagonal of M: near enough for a scale where solving costs too much.
static double contact_scale_of_masses(const LashSim* sim, const Step* step,
                                      const LashInteraction* item) {
    double sum = 0;
    for (int r = 0; r < item->rows; ++r) sum += row_mobility(sim, item, step->G, r);
    return sum > 0 ? 1 / sum : 1;
}

// 1 / trace(G_a' M^-1 G_a): a scale that needs no factorisation of the contact problem.
static double contact_scale(LashSim* sim, const Step* step, const LashInteraction* item) {
    const LashSystem* system = sim->system;
    if (attempt_couples(step->attempt)) return contact_scale_of_masses(sim, step, item);
    if (!lash_block_lu_is_diagonal(sim->operators.A))
        return sim->operators.B != NULL ? 0 : contact_scale_of_masses(sim, step, item);
    double trace = 0;
    const double* column = step->G + item->offset;
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]);
        const double* D = lash_block_lu_inverse(sim->operators.A, item->block[b]);
        for (int r = 0; r < item->rows; ++r, column += n) {
            for (int j = 0; j < n; ++j) {
                double sum = 0;
                for (int i = 0; i < n; ++i) sum += column[i] * D[i + n * j];
                trace += sum * column[j];
            }
        }
    }
    return trace > 0 ? 1 / trace : 1;
}

// 1 / trace of the contact's block of W when W is not known yet: solves for its columns.
static double contact_scale_by_columns(LashSim* sim, const Step* step,
                                       const LashInteraction* item) {
    Scratch scratch = scratch_begin(sim);
    double *x = scratch_velocity(sim), trace = 0;
    for (int r = 0; r < item->rows; ++r) {
        double unit[LASH_MAX_ROWS] = {0}, U[LASH_MAX_ROWS];
        unit[r] = 1;
        memset(x, 0, (size_t)sim->system->nv * sizeof *x);
        lash_row_apply(sim->system, item, step->G, 1, unit, x);
        lash_block_lu_solve(sim->operators.A, x);
        lash_row_velocity(sim->system, item, step->G, x, U);
        trace += U[r];
    }
    scratch_end(sim, scratch);
    return trace > 0 ? 1 / trace : 1;
}

double contact_law_error(LashSim* sim, Step* step, int i) {
    const LashInteraction* item = &step->list->item[i];
    double rho = step->scale[i]; // a measure: taken once per pass
    if (rho == 0) rho = contact_scale(sim, step, item);
    if (rho == 0) rho = contact_scale_by_columns(sim, step, item);
    if (is_empty(step, item)) return fabs(step->P[item->row]) / rho; // its law: U = P / rho
    step->scale[i] = rho;
    double shift[LASH_MAX_ROWS];
    law_shift(step, i, shift);
    if (joint_friction(item)) // U_N of the law: w (P_N - L), w = 1/(rho (rows - 1))
        shift[0] = (step->P[item->row] - load_of(step, item)) / (rho * (item->rows - 1));
    double error =
        natural_map(item->rows, item->mu, rho, step->P + item->row, step->U + item->row, shift);
    return sim->jam.tried ? error : error / (1 + step->b_norm);
}

double contact_gap_error(const Step* step, int k) {
    const LashInteraction* item = &step->list->item[step->normal[k]];
    double g = step->g[item->row];
    bool closed = step->kind_n[k] == LASH_PROJECT_EQUALITY || step->tau[item->row] != 0;
    if (is_empty(step, item)) return 0;
    return closed ? fabs(g) : worse(-g, 0);
}

void contacts_errors(LashSim* sim, Step* step) {
    step->contact_error = 0;
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        double error = contact_law_error(sim, step, step->contact[c]);
        if (!is_empty(step, item) &&
            !(error <= step->velocity_error || error <= step->contact_error))
            step->worst_velocity = item->id;
        step->contact_error = worse(step->contact_error, error);
    }
    if (step->levels != POSITIONS) return;
    for (int k = 0; k < step->nn; ++k) {
        double error = contact_gap_error(step, k);
        if (!(error <= step->position_error))
            step->worst_position = step->list->item[step->normal[k]].id;
        step->position_error = worse(step->position_error, error);
    }
}

// y += B x over n columns of B
LASH_VECTOR_CLONES static void add_columns(int nv, int n, const double* restrict B, const double* x,
                                           double* restrict y) {
    for (int k = 0; k < n; ++k) {
        const double* Bk = B + (size_t)nv * (size_t)k;
        double xk = x[k];
        for (int i = 0; i < nv; ++i) y[i] += xk * Bk[i];
    }
}

void response_column(LashSim* sim, const Step* step, const LashInteraction* item, int row,
                     bool positions, double* y) {
    const LashSystem* system = sim->system;
    double unit[LASH_MAX_ROWS] = {0};
    unit[row] = 1;
    const double* G = positions ? step->G : step->G_star;
    memset(y, 0, (size_t)system->nv * sizeof *y);
    if (!response_ready(sim, step)) {
        lash_row_apply(system, item, G, 1, unit, y);
        joints_response(sim, step, positions, y);
        return;
    }
    const double* B =
        positions && sim->operators.metric != METRIC_SHARED ? sim->operators.B_n : sim->operators.B;
    const double* column = G + item->offset;
    int nv = system->nv;
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]),
            start = system->block_start[item->block[b]];
        const double* x = column + n * row;
        add_columns(nv, n, B + (size_t)nv * (size_t)start, x, y);
        column += n * item->rows;
    }
}

// Change of the joints' impulses (bilateral rows) by a unit impulse of row `row` of contact c;
// room (rows) for it.
static const double* loads_of_joints(LashSim* sim, const Step* step, int c, int row, double* room) {
    const LashSystem* system = sim->system;
    const LashInteraction* item = &step->list->item[step->contact[c]];
    double unit[LASH_MAX_ROWS] = {0};
    if (attempt_couples(step->attempt)) return contact_newton_loads(sim, step->first[c] + row);
    unit[row] = 1;
    Scratch scratch = scratch_begin(sim);
    double *x = scratch_velocity(sim), *u = scratch_rows(sim);
    memset(x, 0, (size_t)system->nv * sizeof *x);
    lash_row_apply(system, item, step->G_star, 1, unit, x);
    impulse_answer(sim, step, x);
    lash_rows_velocity(system, step->list, 0, step->list->bilateral, NULL, step->G, x, u);
    lash_joint_solver_solve(&sim->operators.velocity_joints, u, room);
    scratch_end(sim, scratch);
    return room;
}

void assemble_loads(LashSim* sim, Step* step, double* W, int ld, double* b, const double* P) {
    const LashInteractionList* list = step->list;
    int loaded = 0;
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &list->item[step->contact[c]];
        if (!joint_friction(item)) continue;
        int n = step->first[c];
        double w = 0, scale = step->scale[step->contact[c]];
        for (int r = 1; r < item->rows; ++r) w += W[(n + r) + ld * (n + r)] / (item->rows - 1);
        // Where the joint hardly turns with the mechanism W_TT says nothing: as the errors are
        // measured.
        if (scale > 0) w = fmax(w, 1 / (scale * (item->rows - 1)));
        for (int j = 0; j < step->m; ++j) W[n + ld * j] = 0;
        W[n + ld * n] = w > 0 ? w : 1;
        b[n] = -W[n + ld * n] * load_of(step, item);
        ++loaded;
    }
    if (loaded == 0) return;
    Scratch scratch = scratch_begin(sim);
    double* room = scratch_rows(sim);
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* by = &list->item[step->contact[c]];
        for (int r = joint_friction(by) ? 1 : 0; r < by->rows; ++r) {
            int j = step->first[c] + r;
            const double* answer = loads_of_joints(sim, step, c, r, room);
            for (int k = 0; k < step->nc; ++k) {
                const LashInteraction* item = &list->item[step->contact[k]];
                double L = joint_friction(item) ? load_of(step, item) : 0, slope = 0;
                if (L == 0) continue;
                const LashInteraction* joint = &list->item[item->load];
                for (int i = 0; i < joint->rows; ++i) {
                    int row = joint->row + i;
                    if (item->load_rows >> i & 1) slope += step->P[row] / L * answer[row];
                }
                int n = step->first[k];
                double w = W[n + ld * n];
                W[n + ld * j] = -w * slope;
                b[n] += w * slope * P[j];
            }
        }
    }
    scratch_end(sim, scratch);
}

void part_empty_slots(const Step* step, double* W, int ld, double* b) {
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        if (!is_empty(step, item)) continue;
        double w = 0;
        for (int k = 0; k < step->m; ++k) w = fmax(w, W[k + ld * k]);
        for (int r = step->first[c]; r < step->first[c] + item->rows; ++r) {
            for (int k = 0; k < step->m; ++k) W[r + ld * k] = W[k + ld * r] = 0;
            W[r + ld * r] = w > 0 ? w : 1;
            b[r] = 0;
        }
    }
}

void part_held_rows(Step* step, double* W, int ld) {
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        double w = 0;
        for (int r = step->first[c]; r < step->first[c] + item->rows; ++r)
            if (!step->held[r]) w = fmax(w, W[r + ld * r]);
        for (int r = step->first[c]; r < step->first[c] + item->rows; ++r) {
            if (!step->held[r]) continue;
            for (int k = 0; k < step->m; ++k) W[r + ld * k] = W[k + ld * r] = 0;
            W[r + ld * r] = w > 0 ? w : 1;
        }
    }
}

void clear_held_rows(const Step* step, double* b, double* P) {
    for (int r = 0; r < step->m; ++r) {
        if (!step->held[r]) continue;
        b[r] = 0;
        P[r] = 0;
    }
}

static void find_held_rows(const LashSim* sim, Step* step) {
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        for (int r = 0; r < item->rows; ++r) {
            int row = step->first[c] + r;
            step->held[row] =
                step->list->bilateral > 0 &&
                is_held(step->W[row + step->ldw * row], row_mobility(sim, item, step->G, r));
        }
    }
}

static void assemble_velocity_problem(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    // All derivatives, or those of contacts, are in A.
    bool turned =
        attempt_renews(step->attempt) || sim->experience.derivatives == DERIVATIVES_CONTACTS;
    turned = turned && step->stencil.star_d != 0 && step->stencil.law != LASH_FREMOND;
    const double* rows = turned
                             ? row_derivatives(sim, step, step->list->bilateral, step->list->count)
                             : law_rows(step);
    int m = step->m;
    step->ldw = m;
    contact_newton_forget(sim); // W was its
    Scratch scratch = scratch_begin(sim);
    double* x = scratch_velocity(sim);
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        for (int r = 0; r < item->rows; ++r) {
            double* column = step->W + (size_t)m * (size_t)(step->first[c] + r);
            response_column(sim, step, item, r, false, x);
            for (int k = 0; k < step->nc; ++k) {
                lash_row_velocity(system, &step->list->item[step->contact[k]], rows, x,
                                  column + step->first[k]);
            }
        }
    }
    scratch_end(sim, scratch);
    find_held_rows(sim, step);
    part_held_rows(step, step->W, m);
    double norm = 0;
    for (int c = 0; c < step->nc; ++c) { // U at v + y
        const LashInteraction* item = &step->list->item[step->contact[c]];
        double *b = step->b + step->first[c], shift[LASH_MAX_ROWS];
        law_shift(step, step->contact[c], shift);
        lash_row_velocity(system, item, rows, step->dv, b);
        for (int r = 0; r < item->rows; ++r) {
            b[r] += step->U[item->row + r] + shift[r];
            step->P_c[step->first[c] + r] = step->P[item->row + r];
        }
    }
    clear_held_rows(step, step->b, step->P_c);
    for (int j = 0; j < m; ++j) {
        double p = step->P_c[j];
        if (p == 0) continue;
        for (int i = 0; i < m; ++i) step->b[i] -= step->W[i + m * j] * p;
    }
    part_empty_slots(step, step->W, m, step->b);
    assemble_loads(sim, step, step->W, m, step->b, step->P_c);
    for (int i = 0; i < m; ++i) norm += step->b[i] * step->b[i];
    step->b_norm = sqrt(norm);
}

LashFrictionProblem friction_problem(const Step* step) {
    return (LashFrictionProblem){.contacts = step->nc,
                                 .m = step->m,
                                 .kind = step->kind,
                                 .mu = step->mu,
                                 .b = step->b,
                                 .W = step->W,
                                 .ldw = step->ldw};
}

LashFrictionSettings friction_settings(const LashSim* sim) {
    LashFrictionSettings settings = lash_friction_settings();
    settings.tolerance = sim->settings.tolerance_solver;
    settings.stop = &sim->stop;
    return settings;
}

// How many factors and sweeps the friction solvers may still make in this pass.
static int friction_left(const LashSim* sim, const Step* step) {
    return (sim->jam.tried ? jam_work(step) : tuning.friction_work) - step->friction_work;
}

static void count_friction(LashSim* sim, Step* step, int iterations) {
    sim->info.solver += iterations;
    step->friction_work += iterations;
}

LashFrictionInfo friction_solve(LashSim* sim, Step* step, const LashFrictionProblem* problem,
                                LashFrictionSettings settings, double* P, double* U) {
    LashFrictionInfo info = {LASH_INACCURATE, settings.method, 0, INFINITY};
    int left = friction_left(sim, step), most = settings.max_iterations;
    if (left <= 0) return info;
    settings.max_iterations = most > 0 && most < left ? most : left;
    info = lash_friction_solve(problem, &settings, P, U, sim->solvers.friction);
    count_friction(sim, step, info.iterations);
    return info;
}

static bool well_posed(const Step* step) {
    return isfinite(step->b_norm) && all_finite(step->P_c, step->m) &&
           diagonal_finite(step->W, step->ldw, step->m);
}

static bool contacts_solve(LashSim* sim, Step* step) {
    LashFrictionProblem problem = friction_problem(step);
    if (!well_posed(step)) return false;
    LashFrictionSettings settings = friction_settings(sim);
    LashFrictionInfo info = friction_solve(sim, step, &problem, settings, step->P_c, step->U_c);
    return info.outcome != LASH_FAILED && info.residual <= sim->settings.tolerance_velocity;
}

// Within the coupled correction Newton squares the error, so the friction solver need not do
// better; a tenth of it will do where it cannot. With all derivatives there may be no answer.
// Without them (plain), far from the solution, it starts from nothing: old impulses would only
// mislead it; and other solvers find what it does not, most of them soon or never.
bool contacts_solve_coupled(LashSim* sim, Step* step, uint64_t number, Derivatives derivatives) {
    LashFrictionProblem problem = friction_problem(step);
    if (!well_posed(step)) return false;
    if (sim->jam.tried) return jam_solve_contacts(sim, step, &problem);
    LashFrictionSettings settings = friction_settings(sim);
    settings.max_iterations = tuning.coupled_iterations;
    LashFrictionInfo info = {.outcome = LASH_INACCURATE};
    if (step->m <= tuning.few_rows) { // exactly, and at no cost
        info = friction_solve(sim, step, &problem, settings, step->P_c, step->U_c);
        if (info.outcome == LASH_CONVERGED) return true;
    }
    double error = step->contact_error;
    bool plain = derivatives < DERIVATIVES_ALL;
    FrictionStart start = plain ? FRICTION_FROM_NOTHING : FRICTION_SHRUNK;
    if (step->correction > 0) start = FRICTION_WARM;
    // A step that could not be solved whole nor in halves is glad of any forces.
    if (4 * step->h <= sim->settings.h && start != FRICTION_FROM_NOTHING) start = FRICTION_ANY;
    if (friction_left(sim, step) <= 0) return false;
    info = friction_levenberg(&problem, number, settings.tolerance, error * fmin(1e-2, 10 * error),
                              friction_left(sim, step), start, step->P_c, step->U_c,
                              sim->solvers.levenberg);
    count_friction(sim, step, info.iterations);
    bool near = info.residual <= fmax(settings.tolerance, 0.1 * error);
    if (near || !plain) return near;
    settings.minimum_norm = false;
    settings.tolerance = fmax(settings.tolerance, 0.1 * error);
    settings.max_iterations = 0;
    info = friction_solve(sim, step, &problem, settings, step->P_c, step->U_c);
    return info.residual <= fmax(settings.tolerance, 0.5 * error);
}

void contacts_take(LashSim* sim, Step* step, const double* P, double* x) {
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        double dP[LASH_MAX_ROWS];
        for (int r = 0; r < item->rows; ++r) {
            if (sim->jam.tried) {
                dP[r] = jam_take(step, item->row + r, step->first[c] + r);
                continue;
            }
            dP[r] = P[step->first[c] + r] - step->P[item->row + r];
            step->P[item->row + r] = P[step->first[c] + r];
        }
        lash_row_apply(sim->system, item, step->G_star, 1, dP, x);
    }
}

void contacts_push(LashSim* sim, Step* step, double* x) {
    int nv = sim->system->nv;
    impulse_answer(sim, step, x);
    lash_axpy(nv, 1, x, step->dv);
    if (step->list->bilateral == 0) return;
    Scratch scratch = scratch_begin(sim);
    double *z = scratch_velocity(sim), *dP = scratch_rows(sim);
    joints_answer(sim, step, x, dP, z);
    lash_axpy(nv, 1, z, step->dv);
    lash_axpy(step->list->bilateral_rows, 1, dP, step->P);
    scratch_end(sim, scratch);
}

bool contacts_fit(const LashSim* sim, const Step* step) {
    const Sizes* sizes = &sim->sizes;
    return step->nc <= sizes->dense && step->m <= sizes->dense_rows && step->nn <= sizes->dense;
}

bool contacts_correct(LashSim* sim, Step* step) {
    if (!contacts_fit(sim, step)) return false;
    assemble_velocity_problem(sim, step);
    if (!contacts_solve(sim, step)) return false;
    Scratch scratch = scratch_begin(sim);
    double* x = scratch_velocity(sim);
    memset(x, 0, (size_t)sim->system->nv * sizeof *x);
    contacts_take(sim, step, step->P_c, x);
    contacts_push(sim, step, x);
    scratch_end(sim, scratch);
    return true;
}

// --- Position problem ----------------------------------------------------------------------------

void solve_metric(LashSim* sim, double* x) {
    const Operators* operators = &sim->operators;
    switch (sim->step.stencil.shift_metric) {
        case SHIFT_BY_MASS:
            lash_block_lu_solve(metric_of(operators), x);
            break;
        case SHIFT_BY_PLACE:
            lash_block_lu_solve(operators->N, x);
            break;
        case SHIFT_BY_UNIT:
            break;
    }
}

void projection_update(LashSim* sim, Step* step) {
    if (sim->operators.metric != METRIC_TURNED) {
        memset(step->shift, 0, (size_t)sim->system->nv * sizeof *step->shift);
        projection_force(sim, step, step->shift);
        solve_metric(sim, step->shift);
        return;
    }
    Scratch scratch = scratch_begin(sim);
    double *moved = scratch_velocity(sim), d_v = step->stencil.d_v;
    increment_so_far(sim, step, moved);
    for (int i = 0; i < sim->system->nv; ++i) step->shift[i] += moved[i] - d_v * step->dv[i];
    scratch_end(sim, scratch);
}

// tau of the joints changes so that they stay closed under the increment x (nv); x gets their
// answer.
void keep_joints_closed(LashSim* sim, Step* step, double* x) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    if (list->bilateral == 0) return;
    Operators* operators = &sim->operators;
    LashJointSolver* joints = operators->metric == METRIC_SHARED ? &operators->velocity_joints
                                                                 : &operators->position_joints;
    Scratch scratch = scratch_begin(sim);
    double *u = scratch_rows(sim), *dtau = scratch_rows(sim), *z = scratch_velocity(sim);
    lash_rows_velocity(system, list, 0, list->bilateral, NULL, step->G, x, u);
    lash_joint_solver_solve(joints, u, dtau);
    joints_push(sim, step, step->G, dtau, NULL, z);
    solve_metric(sim, z);
    lash_axpy(system->nv, 1, z, x);
    lash_axpy(list->bilateral_rows, 1, dtau, step->tau);
    scratch_end(sim, scratch);
}

// Increment d of the configuration by the corrections made so far: d_v dv, and N G tau instead
// of the shift that the iterate was evaluated with (a guess, when a pass begins). Where the
// directions' dependence on it counts: (M - d(G tau)/dq) d = M (d_v dv - shift) + G tau.
void increment_so_far(LashSim* sim, const Step* step, double* moved) {
    const LashSystem* system = sim->system;
    double ht = step->stencil.d_v;
    if (sim->operators.metric != METRIC_TURNED) {
        memset(moved, 0, (size_t)system->nv * sizeof *moved);
        projection_force(sim, step, moved);
        solve_metric(sim, moved);
        for (int i = 0; i < system->nv; ++i) moved[i] += ht * step->dv[i] - step->shift[i];
        return;
    }
    Scratch scratch = scratch_begin(sim);
    double* z = scratch_velocity(sim);
    for (int i = 0; i < system->nv; ++i) z[i] = ht * step->dv[i] - step->shift[i];
    lash_block_multiply(system, sim->operators.M_values, z, moved);
    scratch_end(sim, scratch);
    projection_force(sim, step, moved);
    lash_block_lu_solve(sim->operators.N, moved);
}

// tau of the joints so that they are closed after the increment; without curvature that has been
// done before the contacts.
static void close_joints(LashSim* sim, Step* step, double* moved) {
    const LashInteractionList* list = step->list;
    if (sim->operators.metric != METRIC_TURNED || list->bilateral == 0) return;
    Scratch scratch = scratch_begin(sim);
    double *u = scratch_rows(sim), *dtau = scratch_rows(sim);
    lash_rows_velocity(sim->system, list, 0, list->bilateral, NULL, step->G, moved, u);
    for (int r = 0; r < list->bilateral_rows; ++r) u[r] += step->g[r];
    lash_joint_solver_solve(&sim->operators.position_joints, u, dtau);
    for (int i = 0; i < list->bilateral_rows; ++i) step->tau[i] += dtau[i];
    scratch_end(sim, scratch);
    increment_so_far(sim, step, moved);
    ++sim->info.projection;
}

// Kinds of the rows and gaps predicted after the increment `moved`. True when they hold already to
// half of what the iteration goes on to: nothing is to be projected.
static bool predict_gaps(LashSim* sim, Step* step, const double* moved, double tolerance) {
    double largest = 0, U[LASH_MAX_ROWS];
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        if (step->active[i] && !joint_friction(item)) largest = fmax(largest, step->P[item->row]);
    }
    bool hold = true;
    for (int k = 0; k < step->nn; ++k) {
        const LashInteraction* item = &step->list->item[step->normal[k]];
        bool pushed = step->active[step->normal[k]] &&
                      step->P[item->row] > tuning.pushes * largest && !is_empty(step, item);
        bool equality = pushed && step->position[step->normal[k]] == POSITION_CLOSED_IF_PUSHED;
        step->kind_n[k] = equality ? LASH_PROJECT_EQUALITY : LASH_PROJECT_INEQUALITY;
        step->P_n[k] = step->P[item->row];
        lash_row_velocity(sim->system, item, step->G, moved, U);
        step->gap_n[k] = fmin(step->g[item->row] + U[0], tuning.far);
        step->tau_n[k] = is_empty(step, item) ? 0 : step->tau[item->row];
        bool closed = equality || step->tau_n[k] != 0; // an extrapolated tau may be negative
        hold = hold && step->gap_n[k] >= -tolerance && (!closed || step->gap_n[k] <= tolerance);
    }
    return hold;
}

// A = G' N G of the normals; gap_n becomes the gaps without tau.
static void assemble_position_problem(LashSim* sim, Step* step) {
    Scratch scratch = scratch_begin(sim);
    double *x = scratch_velocity(sim), U[LASH_MAX_ROWS];
    for (int k = 0; k < step->nn; ++k) {
        response_column(sim, step, &step->list->item[step->normal[k]], 0, true, x);
        for (int j = 0; j < step->nn; ++j) {
            lash_row_velocity(sim->system, &step->list->item[step->normal[j]], step->G, x, U);
            step->A_n[j + step->nn * k] = U[0];
        }
    }
    scratch_end(sim, scratch);
    for (int k = 0; k < step->nn; ++k) {
        for (int j = 0; j < step->nn; ++j)
            step->gap_n[j] -= step->A_n[j + step->nn * k] * step->tau_n[k];
    }
}

// Solves the position problem for tau.
static bool project_positions(LashSim* sim, Step* step, double tolerance) {
    const LashSystem* system = sim->system;
    if (step->list->bilateral == 0) ++sim->info.projection;
    assemble_position_problem(sim, step);
    LashProjectionProblem problem = {.m = step->nn,
                                     .A = step->A_n,
                                     .lda = step->nn,
                                     .g = step->gap_n,
                                     .kind = step->kind_n,
                                     .P_n = step->P_n,
                                     .tolerance = 0.2 * tolerance,
                                     .max_iterations = tuning.search_iterations,
                                     .stop = &sim->stop};
    if (!all_finite(step->gap_n, step->nn) || !all_finite(step->tau_n, step->nn) ||
        !diagonal_finite(step->A_n, step->nn, step->nn))
        return false;
    uint8_t* final = step->kind_n + step->nn;
    LashProjectionInfo info =
        lash_projection_solve(&problem, step->tau_n, step->gap_new, final, sim->solvers.projection);
    if (info.outcome == LASH_FAILED) return false;
    memcpy(step->kind_n, final, (size_t)step->nn);
    step->demoted = info.demoted;
    Scratch scratch = scratch_begin(sim);
    double* x = scratch_velocity(sim);
    memset(x, 0, (size_t)system->nv * sizeof *x);
    for (int k = 0; k < step->nn; ++k) {
        const LashInteraction* item = &step->list->item[step->normal[k]];
        double dtau[LASH_MAX_ROWS] = {step->tau_n[k] - step->tau[item->row]};
        step->tau[item->row] = step->tau_n[k];
        lash_row_apply(system, item, step->G, 1, dtau, x);
    }
    solve_metric(sim, x);
    keep_joints_closed(sim, step, x);
    scratch_end(sim, scratch);
    return true;
}

bool positions_correct(LashSim* sim, Step* step) {
    // Gaps left within a dead band would make the extrapolated tau jump from step to step; with the
    // full matrix, which stops at the tolerances, there is nothing to extrapolate.
    double share = sim->settings.full_newton ? 0.5 : 0.001;
    double tolerance = share * step->goal * sim->settings.tolerance_position;
    if (!contacts_fit(sim, step)) return false;
    Scratch scratch = scratch_begin(sim);
    double* moved = scratch_velocity(sim);
    increment_so_far(sim, step, moved);
    close_joints(sim, step, moved);
    bool hold = predict_gaps(sim, step, moved, tolerance);
    scratch_end(sim, scratch);
    return hold || project_positions(sim, step, tolerance);
}
