// The linear operator of a step.
//
//     A = M + h theta C + h^2 theta^2 K,     joints closed:  B = A^-1 - A^-1 G (G'A^-1 G)^+ G' A^-1
//
// It is kept over many steps: the iteration of a step (newton.c) evaluates its residuals afresh, so
// an old operator costs iterations, never accuracy. It is renewed when a step converges slowly, and
// at once when one does not converge.
//
// One operator serves velocities, G' A^-1 G*, and positions, G' M^-1 G, as long as it contracts
// well. Bodies with inertias that differ by 100 and more, turning fast, feel that G and G* are half
// a step apart: both then get their own.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/step/rows.h"
#include "solvers/step/sim_internal.h"

static LashJointSolver* joints_of(LashSim* sim, bool positions) {
    return positions && !sim->operators.same_metric ? &sim->operators.position_joints
                                                    : &sim->operators.velocity_joints;
}

static const LashBlockLu* response_operator(const LashSim* sim, bool positions) {
    if (!positions || sim->operators.same_metric) return sim->operators.A;
    return sim->operators.curved ? sim->operators.N : sim->operators.M;
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
        bool unit = positions && system->unit_metric;
        lash_joint_solver_solve(joints_of(sim, positions), u, dP);
        joints_push(sim, step, sim->robust && !positions ? step->G_star : step->G, dP,
                    unit ? NULL : response_operator(sim, positions), z);
        for (int i = 0; i < system->nv; ++i) x[i] += z[i];
    }
    scratch_end(sim, scratch);
    return open;
}

void joints_push(LashSim* sim, const Step* step, const double* directions, const double* dP,
                 const LashBlockLu* inverse, double* z) {
    memset(z, 0, (size_t)sim->system->nv * sizeof *z);
    lash_rows_apply(sim->system, step->list, 0, step->list->bilateral, NULL, directions, 1, dP, z);
    if (inverse != NULL) lash_block_lu_solve(inverse, z);
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
    } else if (!(positions && sim->system->unit_metric))
        lash_block_lu_solve(response_operator(sim, positions), x);
    close_response(sim, step, positions, 0, INFINITY, x);
}

// B is formed when it is small enough to pay: contact columns then cost a block product instead of
// a solve. Contacts may differ by what the joints hold only (both ends of a bore between bodies
// held in a plane): that they are dependent must not be lost in the joints' inaccuracy, so the
// response is refined.
static void form_response(LashSim* sim, const Step* step, bool positions, double* B) {
    enum { REFINEMENTS = 8 };
    static const double CLOSED = 1e-13;
    int n = sim->system->nv, refinements = sim->operators.refined ? REFINEMENTS : 1;
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
    double weight = step->h * step->move_theta;
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

bool response_ready(LashSim* sim, const Step* step) {
    if (sim->operators.B == NULL) return false;
    bool refined = step->nc > 1 || step->nn > 1; // one contact depends on no other
    if (sim->operators.has_response && (sim->operators.refined || !refined)) return true;
    sim->operators.refined = refined;
    form_response(sim, step, false, sim->operators.B);
    if (!sim->operators.same_metric) form_response(sim, step, true, sim->operators.B_n);
    sim->operators.has_response = true;
    return true;
}

// The projection shifts by x = M^-1 G(q + x) tau: for small changes
//     (M - d(G tau)/dq) dx = G dtau,
// which matters once the shift is not small against the radius of curvature: a pin in a bore with
// less play than it moves in a step. Used where the full Newton matrix is asked for.
static bool factor_projection(LashSim* sim, Step* step) {
    sim->operators.curved = sim->robust && step->nn > 0 && !sim->system->unit_metric &&
                            sim->settings.scheme == LASH_COMBINED;
    if (!sim->operators.curved) return true;
    int values = sim->system->pattern.offset[sim->system->pattern.count];
    memcpy(sim->operators.A_values, sim->operators.M_values,
           (size_t)values * sizeof *sim->operators.A_values);
    for (int i = 0; i < step->list->bilateral; ++i) {
        add_curvature(sim, step, i, step->t0 + step->h, step->q_end,
                      step->tau + step->list->item[i].row, 1);
    }
    for (int k = 0; k < step->nn; ++k) {
        double tau[LASH_MAX_ROWS] = {step->tau[step->list->item[step->normal[k]].row]};
        add_curvature(sim, step, step->normal[k], step->t0 + step->h, step->q_end, tau, 1);
    }
    return lash_block_lu_factor(sim->operators.N, sim->operators.A_values);
}

bool step_factor(LashSim* sim, Step* step, bool project) {
    const LashSystem* system = sim->system;
    int values = system->pattern.offset[system->pattern.count];
    double t_theta = step->t0 + step->theta * step->h, ht = step->h * step->theta,
           hk = ht * step->h * step->move_theta;
    if (!system->constant_mass || !sim->operators.factored)
        system->mass(system, sim->work, step->q_theta, sim->operators.M_values);
    system->tangents(system, sim->work, t_theta, step->q_theta, step->v_theta,
                     sim->operators.C_values, sim->operators.K_values);
    if (!system->constant_mass) {
        Scratch scratch = scratch_begin(sim);
        double* jump = scratch_velocity(sim);
        for (int i = 0; i < system->nv; ++i) jump[i] = step->v[i] - sim->now.v[i];
        system->mass_tangent(system, sim->work, step->q_theta, jump, 1 / step->h,
                             sim->operators.K_values);
        scratch_end(sim, scratch);
    }
    for (int i = 0; i < values; ++i) {
        sim->operators.A_values[i] = sim->operators.M_values[i] + ht * sim->operators.C_values[i] +
                                     hk * sim->operators.K_values[i];
    }
    bool contacts = step->nc > 0 || step->nn > 0;
    if (contacts && (sim->operators.exact || sim->robust)) {
        bool end = sim->settings.direction == LASH_AT_END;
        double weight = step->theta * step->h * step->move_theta;
        if (end) weight = step->h * step->move_theta;
        if (sim->settings.direction == LASH_AT_START) weight = 0;
        for (int i = sim->robust ? 0 : step->list->bilateral; i < step->list->count; ++i) {
            const double* P = step->P + step->list->item[i].row;
            if (step->active[i])
                add_curvature(sim, step, i, end ? step->t0 + step->h : t_theta,
                              end ? step->q_end : step->q_theta, P, weight);
        }
    }
    if (!lash_block_lu_factor(sim->operators.A, sim->operators.A_values)) return false;
    if (!factor_projection(sim, step)) return false;
    sim->operators.same_metric = !sim->robust && !system->unit_metric &&
                                 near(system, sim->operators.A_values, sim->operators.M_values);
    bool separate = sim->experience.separate && sim->operators.velocity_joints.sparse != NULL;
    if (separate) sim->operators.same_metric = false;
    if (!sim->operators.same_metric &&
        !lash_block_lu_factor(sim->operators.M, sim->operators.M_values))
        return false;
    if (sim->robust && sim->operators.full != NULL && !sim->operators.curved &&
        !full_newton_factor(sim, step, project))
        return false;
    if (sim->robust && !contacts) {
        sim->operators.velocity_joints.rows = 0; // not factored
    } else if (sim->robust) {
        // Where positions are projected, what P does to them is undone by tau, so d(G'v)/dq does
        // not enter.
        bool derivatives =
            sim->settings.scheme == LASH_MOREAU_JEAN && sim->settings.direction != LASH_AT_START;
        const double* rows =
            derivatives ? row_derivatives(sim, step, 0, step->list->bilateral) : step->G;
        lash_joint_solver_factor_general(&sim->operators.velocity_joints, step->list, rows,
                                         step->G_star, sim->operators.A);
    } else if (separate) {
        lash_joint_solver_factor_general(&sim->operators.velocity_joints, step->list, step->G,
                                         step->G_star, sim->operators.A);
    } else {
        lash_joint_solver_factor(&sim->operators.velocity_joints, step->list, step->G,
                                 sim->operators.A, false, false);
    }
    if (!sim->operators.same_metric && (!sim->robust || contacts)) {
        lash_joint_solver_factor(&sim->operators.position_joints, step->list, step->G,
                                 sim->operators.curved ? sim->operators.N : sim->operators.M, false,
                                 system->unit_metric);
    }
    sim->operators.factored = true;
    sim->operators.has_response = false;
    sim->operators.fresh = true;
    sim->operators.factored_h = step->h;
    sim->operators.factored_t = step->t0;
    return true;
}
