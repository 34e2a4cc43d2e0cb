// The linear operator of a step.
//
//     A = M + c_v C + c_d d_v K,     joints closed:  B = A^-1 - A^-1 G (G'A^-1 G)^+ G' A^-1
//
// It is kept over many steps: the iteration of a step (iterate.c) evaluates its residuals afresh, so
// an old operator costs iterations, never accuracy. It is renewed when a step converges slowly, and
// at once when one does not converge.
//
// One operator serves velocities, G' A^-1 G*, and positions, G' M^-1 G, as long as it contracts
// well. Bodies with inertias that differ by 100 and more, turning fast, feel that G and G* are half
// a step apart: both then get their own.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/schemes/scheme.h"
#include "solvers/step/rows.h"

static LashJointSolver* joints_of(LashSim* sim, bool positions) {
    return positions && sim->operators.metric != METRIC_SHARED ? &sim->operators.position_joints
                                                               : &sim->operators.velocity_joints;
}

static const LashBlockLu* response_operator(const LashSim* sim, bool positions) {
    return positions ? metric_of(&sim->operators) : sim->operators.A;
}

// x += A^-1 G w so that the joints stay closed; returns by how much they were open, and does
// nothing when that is not between `enough` and `limit`. The joints' factorisation is that of the
// symmetric part of G'A^-1 G: where A is not symmetric (gyroscopic terms) they are closed nearly,
// repeated exactly. A robust pass has that of G'A^-1 G*.
static double close_response(LashSim* sim, const Step* step, bool positions, double enough,
                             double limit, double* x) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    if (list->bilateral == 0) return 0;
    Scratch scratch = scratch_begin(sim);
    double *u = scratch_rows(sim), *dP = scratch_rows(sim), *z = scratch_velocity(sim), open = 0;
    lash_rows_velocity(system, list, 0, list->bilateral, NULL, step->G, x, u);
    for (int i = 0; i < list->bilateral_rows; ++i) open = fmax(open, fabs(u[i]));
    if (open < limit && open > enough) {
        bool unit = positions && shifts_by_unit(step);
        lash_joint_solver_solve(joints_of(sim, positions), u, dP);
        joints_push(sim, step, attempt_renews(step->attempt) && !positions ? step->G_star : step->G,
                    dP, unit ? NULL : response_operator(sim, positions), z);
        lash_axpy(system->nv, 1, z, x);
    }
    scratch_end(sim, scratch);
    return open;
}

void joints_push(LashSim* sim, const Step* step, const double* directions, const double* dP,
                 const LashBlockLu* inverse, double* z) {
    memset(z, 0, (size_t)sim->system->nv * sizeof *z);
    lash_rows_apply(sim->system, step->list, 0, step->list->bilateral, NULL, directions, 1, dP, z);
    if (inverse == sim->operators.A)
        impulse_answer(sim, step, z);
    else if (inverse != NULL)
        lash_block_lu_solve(inverse, z);
}

// What impulses do to the increment changes the forces: A dv = (1 - c_d d_w K M^-1) G* dP.
void impulse_answer(LashSim* sim, const Step* step, double* x) {
    double weight = step->stencil.c_d * step->stencil.d_w;
    if (weight != 0) {
        Scratch scratch = scratch_begin(sim);
        double *w = scratch_velocity(sim), *force = scratch_velocity(sim);
        memcpy(w, x, (size_t)sim->system->nv * sizeof *w);
        lash_block_lu_solve(sim->operators.N, w);
        lash_block_multiply(sim->system, sim->operators.K_values, w, force);
        for (int i = 0; i < sim->system->nv; ++i) x[i] -= weight * force[i];
        scratch_end(sim, scratch);
    }
    lash_block_lu_solve(sim->operators.A, x);
}

void joints_answer(LashSim* sim, const Step* step, const double* x, double* dP, double* z) {
    Scratch scratch = scratch_begin(sim);
    double* u = scratch_rows(sim);
    lash_rows_velocity(sim->system, step->list, 0, step->list->bilateral, NULL, step->G, x, u);
    lash_joint_solver_solve(&sim->operators.velocity_joints, u, dP);
    joints_push(sim, step, step->G_star, dP, sim->operators.A, z);
    scratch_end(sim, scratch);
}

// Sparse joints answer at once, but with the directions of the operator.
void joints_response(LashSim* sim, const Step* step, bool positions, double* x) {
    LashJointSparse* sparse = joints_of(sim, positions)->sparse;
    if (sparse != NULL) {
        Scratch scratch = scratch_begin(sim);
        lash_joint_sparse_respond(sparse, x, scratch_velocity(sim));
        scratch_end(sim, scratch);
    } else if (!positions) {
        impulse_answer(sim, step, x);
    } else if (!shifts_by_unit(step)) {
        lash_block_lu_solve(metric_of(&sim->operators), x);
    }
    close_response(sim, step, positions, 0, INFINITY, x);
}

// B is formed when it is small enough to pay: contact columns then cost a block product instead of
// a solve. Contacts may differ by what the joints hold only (both ends of a bore between bodies
// held in a plane): that they are dependent must not be lost in the joints' inaccuracy, so the
// response is refined.
static void form_response(LashSim* sim, const Step* step, bool positions, double* B) {
    enum { REFINEMENTS = 8 };
    static const double CLOSED = 1e-13;
    int n = sim->system->nv,
        refinements = sim->operators.response == RESPONSE_REFINED ? REFINEMENTS : 1;
    LashJointSparse* sparse = joints_of(sim, positions)->sparse;
    Scratch scratch = scratch_begin(sim);
    double* beyond = scratch_velocity(sim);
    memset(B, 0, (size_t)n * (size_t)n * sizeof *B);
    for (int j = 0; j < n; ++j) B[j + (size_t)n * (size_t)j] = 1;
    for (int j = 0; j < n; ++j) {
        double *x = B + (size_t)n * (size_t)j, *next = j + 1 < n ? x + n : beyond;
        if (sparse == NULL)
            joints_response(sim, step, positions, x);
        else if (j % 2 == 0)
            lash_joint_sparse_respond(sparse, x, next);
        double size = 0;
        for (int i = 0; i < n; ++i) size = fmax(size, fabs(x[i]));
        double limit = INFINITY;
        for (int k = 0; k < refinements && limit > CLOSED * size; ++k) {
            double open = close_response(sim, step, positions, CLOSED * size, limit, x);
            limit = open < limit ? 0.3 * open : 0;
        }
    }
    scratch_end(sim, scratch);
}

// Index of block (row, column) in the pattern, -1: none.
static int pattern_find(const LashSim* sim, int row, int column) {
    for (int k = sim->operators.pattern_first[row]; k < sim->operators.pattern_first[row + 1];
         ++k) {
        if (sim->system->pattern.column[sim->operators.pattern_block[k]] == column)
            return sim->operators.pattern_block[k];
    }
    return -1;
}

void pattern_sort(LashSim* sim) {
    const LashBlocks* pattern = &sim->system->pattern;
    for (int b = 0; b < pattern->count; ++b) ++sim->operators.pattern_first[pattern->row[b] + 1];
    for (int i = 0; i < sim->system->blocks; ++i)
        sim->operators.pattern_first[i + 1] += sim->operators.pattern_first[i];
    for (int b = pattern->count - 1; b >= 0; --b) // first[i + 1] is where row i ends so far
        sim->operators.pattern_block[--sim->operators.pattern_first[pattern->row[b] + 1]] = b;
    for (int i = 0; i < sim->system->blocks; ++i)
        sim->operators.pattern_first[i] = sim->operators.pattern_first[i + 1];
    sim->operators.pattern_first[sim->system->blocks] = pattern->count;
}

// Adds -weight d(G P)/dq of interaction i at (t, q) to the values of A; blocks the pattern does not
// have are left out (more iterations).
static void add_curvature(LashSim* sim, const Step* step, int i, double t, const double* q,
                          const double* P, double weight) {
    const LashSystem* system = sim->system;
    const LashInteraction* item = &step->list->item[i];
    int n = 0, start[LASH_MAX_TOUCHED];
    for (int k = 0; k < item->touched; ++k) {
        start[k] = n;
        n += lash_block_size(system, item->block[k]);
    }
    system->contract(system, sim->work, t, q, i, P, step->v, sim->operators.contraction, NULL);
    for (int r = 0; r < item->touched; ++r) {
        for (int c = 0; c < item->touched; ++c) {
            int b = pattern_find(sim, item->block[r], item->block[c]);
            if (b < 0) continue;
            double* A = sim->operators.A_values + system->pattern.offset[b];
            int rows = lash_block_size(system, item->block[r]),
                columns = lash_block_size(system, item->block[c]);
            for (int y = 0; y < columns; ++y) {
                for (int x = 0; x < rows; ++x) {
                    A[x + rows * y] -=
                        weight * sim->operators.contraction[(start[r] + x) + n * (start[c] + y)];
                }
            }
        }
    }
}

const double* row_derivatives(LashSim* sim, Step* step, int first, int last) {
    const LashSystem* system = sim->system;
    double weight = step->stencil.d_v;
    for (int i = first; i < last; ++i) {
        if (!step->wanted[i]) continue;
        const LashInteraction* item = &step->list->item[i];
        system->contract(system, sim->work, step->t0 + step->h, step->q_end, i, step->P + item->row,
                         step->v, NULL, sim->operators.contraction);
        const double *column = step->G + item->offset, *derivative = sim->operators.contraction;
        double* hat = step->G_hat + item->offset;
        for (int b = 0; b < item->touched; ++b) {
            int n = lash_block_size(system, item->block[b]);
            for (int r = 0; r < item->rows; ++r) {
                for (int k = 0; k < n; ++k)
                    *hat++ = *column++ + weight * derivative[r + item->rows * k];
            }
            derivative += item->rows * n;
        }
    }
    return step->G_hat;
}

bool response_ready(LashSim* sim, const Step* step) {
    Operators* operators = &sim->operators;
    if (operators->B == NULL) return false;
    // One contact depends on no other.
    Response wanted = step->nc > 1 || step->nn > 1 ? RESPONSE_REFINED : RESPONSE_FORMED;
    if (operators->response >= wanted) return true;
    operators->response = wanted;
    form_response(sim, step, false, operators->B);
    if (operators->metric != METRIC_SHARED) form_response(sim, step, true, operators->B_n);
    return true;
}

// --- Metric ---------------------------------------------------------------------------------------

// True when A is within 1 % of M, entry by entry in units of its diagonal: one factorisation then
// serves both.
static bool near(const LashSystem* system, const double* A, const double* M) {
    const LashBlocks* pattern = &system->pattern;
    for (int b = 0; b < pattern->count; ++b) {
        int m = lash_block_size(system, pattern->row[b]),
            n = lash_block_size(system, pattern->column[b]);
        const double *Mr = M + pattern->offset[pattern->row[b]],
                     *Mc = M + pattern->offset[pattern->column[b]];
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < m; ++i) {
                int at = pattern->offset[b] + i + m * j;
                double change = A[at] - M[at];
                if (change * change > 1e-4 * Mr[i + m * i] * Mc[j + n * j]) return false;
            }
        }
    }
    return true;
}

// Do velocities and positions have joints of their own for now?
static bool joints_apart(const LashSim* sim) {
    return sim->experience.separate_steps > 0 && sim->operators.velocity_joints.sparse != NULL;
}

// --- Factors -------------------------------------------------------------------------------------

// A = M + c_v C + c_d d_v K [- star_d d_v d(G* P)/dq], the last of what is `known`.
static bool factor_bodies(LashSim* sim, Step* step, Derivatives known) {
    const LashSystem* system = sim->system;
    const Stencil* stencil = &step->stencil;
    Operators* operators = &sim->operators;
    int values = system->pattern.offset[system->pattern.count];
    double c_k = stencil->c_d * stencil->d_v, turn = stencil->star_d * stencil->d_v;
    if (!system->constant_mass || operators->made_h == 0)
        system->mass(system, sim->work, step->q_mass, operators->M_values);
    system->tangents(system, sim->work, stencil->t_force, step->q_force, step->v_force,
                     operators->C_values, operators->K_values);
    if (!system->constant_mass) {
        Scratch scratch = scratch_begin(sim);
        double* jump = scratch_velocity(sim);
        for (int i = 0; i < system->nv; ++i) jump[i] = step->v[i] - stencil->v_star[i];
        for (int i = 0; i < system->nv && stencil->mass_w != stencil->mass_d; ++i)
            jump[i] -= step->w[i];
        if (stencil->mass_d != 0)
            system->mass_tangent(system, sim->work, step->q_mass, jump,
                                 stencil->mass_d / stencil->c_d, operators->K_values);
        scratch_end(sim, scratch);
    }
    for (int i = 0; i < values; ++i) {
        operators->A_values[i] = operators->M_values[i] + stencil->c_v * operators->C_values[i] +
                                 c_k * operators->K_values[i];
    }
    bool contacts = step->nc > 0 || step->nn > 0;
    int first = known == DERIVATIVES_ALL ? 0 : step->list->bilateral;
    for (int i = first; i < step->list->count; ++i) {
        if (!contacts || known < DERIVATIVES_CONTACTS || turn == 0) break;
        if (!step->active[i]) continue;
        const double* P = step->P + step->list->item[i].row;
        add_curvature(sim, step, i, stencil->t_star, step->q_star, P, turn);
    }
    return lash_block_lu_factor(operators->A, operators->A_values);
}

// The projection shifts by x = M^-1 G(q + x) tau: for small changes
//
//     (M - d(G tau)/dq) dx = G dtau,
//
// which matters once the shift is not small against the radius of curvature: a pin in a bore with
// less play than it moves in a step. Used where all derivatives are asked for.
static bool projection_turns(const LashSim* sim, const Step* step) {
    return step->attempt == ATTEMPT_ALL_DERIVATIVES && step->nn > 0 && !shifts_by_unit(step) &&
           sim->scheme->projection == PROJECTS_PUSHED;
}

static bool factor_turned_metric(LashSim* sim, Step* step) {
    Operators* operators = &sim->operators;
    int values = sim->system->pattern.offset[sim->system->pattern.count];
    memcpy(operators->A_values, operators->M_values, (size_t)values * sizeof *operators->A_values);
    double t_end = step->t0 + step->h;
    for (int i = 0; i < step->list->bilateral; ++i)
        add_curvature(sim, step, i, t_end, step->q_end, step->tau + step->list->item[i].row, 1);
    for (int k = 0; k < step->nn; ++k) {
        double tau[LASH_MAX_ROWS] = {step->tau[step->list->item[step->normal[k]].row]};
        add_curvature(sim, step, step->normal[k], t_end, step->q_end, tau, 1);
    }
    operators->mass_known = false;
    return lash_block_lu_factor(operators->N, operators->A_values);
}

// In which metric the projection is factored: with A, where that is near enough to M.
static bool factor_metric(LashSim* sim, Step* step) {
    Operators* operators = &sim->operators;
    bool all = step->attempt == ATTEMPT_ALL_DERIVATIVES;
    bool shared = !all && !shifts_by_unit(step) && !joints_apart(sim) &&
                  near(sim->system, operators->A_values, operators->M_values);
    operators->metric = shared ? METRIC_SHARED : METRIC_MASS;
    if (projection_turns(sim, step)) {
        operators->metric = METRIC_TURNED;
        if (!factor_turned_metric(sim, step)) return false;
    }
    return shared || lash_block_lu_factor(operators->M, operators->M_values);
}

static void factor_joints(LashSim* sim, Step* step) {
    Operators* operators = &sim->operators;
    const LashInteractionList* list = step->list;
    bool all = step->attempt == ATTEMPT_ALL_DERIVATIVES, contacts = step->nc > 0 || step->nn > 0;
    if (attempt_operator(sim, step) == &operator_full && !contacts) {
        operators->velocity_joints.rows = 0; // not factored
        return;
    }
    if (all) {
        // Where positions are projected, what P does to them is undone by tau, so d(G'v)/dq does
        // not enter.
        bool turns = sim->scheme->projection == PROJECTS_NOTHING && step->stencil.star_d != 0;
        const double* rows = turns ? row_derivatives(sim, step, 0, list->bilateral) : step->G;
        lash_joint_solver_factor_general(&operators->velocity_joints, list, rows, step->G_star,
                                         operators->A);
    } else if (joints_apart(sim)) {
        lash_joint_solver_factor_general(&operators->velocity_joints, list, step->G, step->G_star,
                                         operators->A);
    } else {
        lash_joint_solver_factor(&operators->velocity_joints, list, step->G, operators->A, false,
                                 false);
    }
    if (operators->metric == METRIC_SHARED || step->levels == GAPS) return;
    lash_joint_solver_factor(&operators->position_joints, list, step->G,
                             operators->metric == METRIC_TURNED ? operators->N : operators->M,
                             false, shifts_by_unit(step));
}

static Derivatives derivatives(const LashSim* sim, const Step* step) {
    if (step->attempt == ATTEMPT_ALL_DERIVATIVES) return DERIVATIVES_ALL;
    return sim->experience.derivatives;
}

static bool factor(LashSim* sim, Step* step) {
    Operators* operators = &sim->operators;
    if (!factor_bodies(sim, step, derivatives(sim, step)) || !factor_metric(sim, step))
        return false;
    if (attempt_operator(sim, step) == &operator_full && !full_newton_factor(sim, step))
        return false;
    factor_joints(sim, step);
    operators->response = RESPONSE_NONE;
    operators->served = 0;
    operators->made_h = step->h;
    operators->made_t = step->t0;
    return true;
}

// --- The operator of an iteration ----------------------------------------------------------------

void operator_forget(LashSim* sim) {
    sim->operators.made_h = 0;
}

static double slow_rate(const LashSim* sim, const Step* step) {
    if (step->nc > 0 && sim->operators.B != NULL) return tuning.slow_contacts;
    return sim->operators.velocity_joints.rows > tuning.many_rows ? tuning.slow_large : tuning.slow;
}

// For a while, twice as long each time: near a singular position it is a matter of a few steps,
// with thin bodies of the whole run.
static void separate_joints(Experience* experience) {
    if (experience->separate_steps > 0) return;
    experience->separate_run =
        experience->separate_run == 0 ? tuning.first_separation : 2 * experience->separate_run;
    if (experience->separate_run > tuning.longest_separation)
        experience->separate_run = tuning.longest_separation;
    experience->separate_steps = experience->separate_run;
}

void operator_learn(LashSim* sim, const Step* step, double rate) {
    if (rate > tuning.poor && sim->operators.served == 0) separate_joints(&sim->experience);
    if (rate > slow_rate(sim, step)) operator_forget(sim); // renewed when the next step starts
    sim->operators.served = 1;
}

static bool prepare(LashSim* sim, Step* step) {
    if (sim->operators.made_h == step->h || factor(sim, step)) return true;
    fault_of_iterate(sim, step);
    return false;
}

static bool make_new(LashSim* sim, Step* step) {
    if (step->nc > 0) sim->experience.derivatives = DERIVATIVES_CONTACTS;
    if (!factor(sim, step)) return false;
    residual_answer(sim, step);
    return true;
}

static bool renew(LashSim* sim, Step* step, Convergence* convergence) {
    const Operators* operators = &sim->operators;
    if (attempt_renews(step->attempt)) return make_new(sim, step);
    bool old = step->nc > 0 && operators->B != NULL && operators->response == RESPONSE_NONE &&
               operators->made_t != step->t0;
    if (!old) {
        if (convergence->i < 2) return true;
        if (!(convergence->error > tuning.weak * convergence->last)) return true;
        if (++convergence->weak < tuning.weak_corrections) return true;
    }
    convergence->weak = 0;
    return make_new(sim, step);
}

// dv = -A^-1 r, completed by the joints; P updated; at the level of positions tau of the joints, too.
// The joints' position errors after the correction are g + G'(d_v dv) = g - d_v U, whatever the
// contacts do.
static void correct_joints(LashSim* sim, Step* step) {
    const LashInteractionList* list = step->list;
    Operators* operators = &sim->operators;
    int nv = sim->system->nv, rows = list->bilateral_rows;
    bool project = step->levels == POSITIONS && operators->metric != METRIC_TURNED;
    for (int i = 0; i < nv; ++i) step->dv[i] = -step->answer[i];
    if (list->bilateral == 0) return;
    Scratch scratch = scratch_begin(sim);
    double *x = scratch_velocity(sim), *u = scratch_rows(sim), *dP = scratch_rows(sim);
    double *errors = scratch_rows(sim), *dtau = scratch_rows(sim);
    lash_rows_velocity(sim->system, list, 0, list->bilateral, NULL, step->G, step->dv, u);
    lash_axpy(rows, 1, step->U, u);
    lash_combine(rows, step->g, -step->stencil.d_v, step->U, errors);
    if (project && operators->metric == METRIC_SHARED) {
        lash_joint_solver_solve_two(&operators->velocity_joints, u, errors, dP, dtau);
    } else {
        lash_joint_solver_solve(&operators->velocity_joints, u, dP);
        if (project) lash_joint_solver_solve(&operators->position_joints, errors, dtau);
    }
    joints_push(sim, step, step->G_star, dP, operators->A, x);
    lash_axpy(nv, 1, x, step->dv);
    lash_axpy(rows, 1, dP, step->P);
    if (project) lash_axpy(rows, 1, dtau, step->tau);
    sim->info.projection += project;
    scratch_end(sim, scratch);
}

// Contacts, then positions, for the dv of the joints.
static bool correct_contacts(LashSim* sim, Step* step) {
    if (step->nc > 0 && !contacts_correct(sim, step)) return false;
    lash_axpy(sim->system->nv, 1, step->dv, step->v);
    if (step->levels != POSITIONS) return true;
    if (step->nn > 0 && !positions_correct(sim, step)) return false;
    projection_update(sim, step);
    return true;
}

static bool correct(LashSim* sim, Step* step, Convergence* convergence) {
    (void)convergence;
    correct_joints(sim, step);
    return correct_contacts(sim, step);
}

const Operator operator_joints = {.name = "joints",
                                  .prepare = prepare,
                                  .renew = renew,
                                  .correct = correct,
                                  .derivatives = derivatives};

static bool correct_full(LashSim* sim, Step* step, Convergence* convergence) {
    (void)convergence;
    full_newton_correct(sim, step);
    return correct_contacts(sim, step);
}

const Operator operator_full = {.name = "full",
                                .prepare = prepare,
                                .renew = renew,
                                .correct = correct_full,
                                .derivatives = derivatives};

static bool correct_coupled(LashSim* sim, Step* step, Convergence* convergence) {
    (void)convergence;
    correct_joints(sim, step);
    if (!coupled_correct(sim, step)) return false;
    lash_axpy(sim->system->nv, 1, step->dv, step->v);
    projection_update(sim, step);
    return true;
}

const Operator operator_coupled = {.name = "coupled",
                                   .prepare = prepare,
                                   .renew = renew,
                                   .correct = correct_coupled,
                                   .derivatives = derivatives};

const Operator* attempt_operator(const LashSim* sim, const Step* step) {
    if (attempt_couples(step->attempt))
        return sim_is_sparse(sim) ? &operator_sparse : &operator_contacts;
    bool projects = step->levels == POSITIONS && step->nn > 0;
    if (projects && step->stencil.coupled) return &operator_coupled;
    bool all = step->attempt == ATTEMPT_ALL_DERIVATIVES && sim->operators.full != NULL;
    return all && step->levels != GAPS && !projection_turns(sim, step) ? &operator_full
                                                                       : &operator_joints;
}
