// What the bilateral rows leave free, and the nearest state that satisfies them and the contacts.
//
// Rank: freedom.c. Assembly, with V = G' M^-1 G, nearest in the metric M:
//
//     q <- q (+) x,  x = -M^-1 G V^+ g,        until g passes
//     v <- v - M^-1 G V^+ (G'v + g_t)
//
// Contacts that overlap take part with their normals n: x += sum r_a tau_a, where r_a is M^-1 n_a
// with the joints kept closed, and 0 <= g + n'x perp tau >= 0.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/cone/projection_problem.h"
#include "solvers/step/mobility_internal.h"
#include "solvers/step/rows.h"
#include "solvers/step/sim_internal.h"

enum { ASSEMBLY_ITERATIONS = 100 };
static const double DEEP = 100; // overlaps to be opened may be deeper than what a step moves

// Marks the contacts with a gap of at most `reach` [m] as wanted, beside the bilateral rows; where
// some overlap also those near enough to be closed by mending that.
static void want_contacts(LashSim* sim, Step* step, double reach) {
    static const double NEAR = 10; // overlaps
    const LashSystem* system = sim->system;
    double depth = 0;
    if (step->list->count == step->list->bilateral || reach < 0) return;
    system->evaluate(system, sim->work, sim->now.t, sim->now.q, step->wanted, step->g, NULL, NULL);
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        depth = worse(depth, -step->g[step->list->item[i].row]);
    }
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        step->wanted[i] = !joint_friction(item) && step->g[item->row] <= reach + NEAR * depth;
    }
}

// Evaluates the bilateral rows, and the contacts within reach, at (t, q) of the sim into its step
// context and factors M.
static bool evaluate_start(LashSim* sim, Step* step, double reach) {
    const LashSystem* system = sim->system;
    double factor = reach < 0 ? sim->reach : DEEP * sim->reach;
    step->list = system->collect(system, sim->work, sim->now.t, sim->now.q, sim->now.v,
                                 sim->settings.h, factor);
    for (int i = 0; i < step->list->count; ++i) step->wanted[i] = i < step->list->bilateral;
    want_contacts(sim, step, reach);
    system->evaluate(system, sim->work, sim->now.t, sim->now.q, step->wanted, step->g, step->g_t,
                     step->G);
    lash_rows_velocity(system, step->list, 0, step->list->bilateral, NULL, step->G, sim->now.v,
                       step->U);
    for (int i = 0; i < step->list->bilateral_rows; ++i) step->U[i] += step->g_t[i];
    system->mass(system, sim->work, sim->now.q, sim->operators.M_values);
    operator_forget(sim);
    sim->predictor.history = 0;
    return lash_block_lu_factor(sim->operators.M, sim->operators.M_values);
}

static void measure_rows(const Step* step, LashMobility* mobility) {
    for (int i = 0; i < step->list->bilateral; ++i) {
        const LashInteraction* item = &step->list->item[i];
        for (int k = item->row; k < item->row + item->rows; ++k) {
            mobility->velocity_error = worse(mobility->velocity_error, fabs(step->U[k]));
            if (item->kind != LASH_BILATERAL) continue;
            mobility->position_error = worse(mobility->position_error, fabs(step->g[k]));
        }
    }
}

LashMobility lash_sim_mobility(LashSim* sim, int* redundant_rows) {
    Step* step = &sim->step;
    LashMobility mobility = {.dof = sim->system->nv};
    if (!evaluate_start(sim, step, -1)) return mobility;
    measure_rows(step, &mobility);
    mobility.rows = step->list->bilateral_rows;
    mobility.rank = lash_bilateral_rank(sim->system, step->list, step->G, redundant_rows);
    mobility.dof = sim->system->nv - mobility.rank;
    return mobility;
}

// x (nv) = M^-1 G V^+ (-u): the smallest motion that changes the rows by -u; position_joints is
// factored.
static void smallest_motion(LashSim* sim, Step* step, const double* u, double* x) {
    Scratch scratch = scratch_begin(sim);
    double* dP = scratch_rows(sim);
    lash_joint_solver_solve(&sim->operators.position_joints, u, dP);
    joints_push(sim, step, step->G, dP, sim->operators.M, x);
    scratch_end(sim, scratch);
}

// r (nv) = M^-1 n of contact i, with the joints kept closed
static void contact_motion(LashSim* sim, Step* step, int i, double* r) {
    const LashSystem* system = sim->system;
    const double normal[LASH_MAX_ROWS] = {1};
    memset(r, 0, (size_t)system->nv * sizeof *r);
    lash_row_apply(system, &step->list->item[i], step->G, 1, normal, r);
    lash_block_lu_solve(sim->operators.M, r);
    if (step->list->bilateral == 0) return;
    Scratch scratch = scratch_begin(sim);
    double *u = scratch_rows(sim), *z = scratch_velocity(sim);
    lash_rows_velocity(system, step->list, 0, step->list->bilateral, NULL, step->G, r, u);
    smallest_motion(sim, step, u, z);
    for (int k = 0; k < system->nv; ++k) r[k] += z[k];
    scratch_end(sim, scratch);
}

// x (nv) += the smallest motion that opens the wanted contacts.
static bool push_apart(LashSim* sim, Step* step, double* x) {
    const LashSystem* system = sim->system;
    size_t nv = (size_t)system->nv, n = 0;
    double U[LASH_MAX_ROWS];
    int* contact = lash_alloc((size_t)step->list->count * sizeof *contact);
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (step->wanted[i]) contact[n++] = i;
    }
    double* memory = lash_alloc((n * nv + n * n + 4 * n + 1) * sizeof *memory);
    double *r = memory, *A = r + n * nv, *g = A + n * n, *tau = g + n, *g_new = tau + n;
    uint8_t* kind = lash_alloc(2 * n + 1); // zero: inequalities
    void* work = lash_alloc(lash_projection_work_size((int)n) + 1);
    for (size_t c = 0; c < n; ++c) {
        contact_motion(sim, step, contact[c], r + c * nv);
        for (size_t k = 0; k < n; ++k) {
            lash_row_velocity(system, &step->list->item[contact[k]], step->G, r + c * nv, U);
            A[k + n * c] = U[0];
        }
        lash_row_velocity(system, &step->list->item[contact[c]], step->G, x, U);
        g[c] = step->g[step->list->item[contact[c]].row] + U[0];
    }
    LashProjectionProblem problem = {.m = (int)n,
                                     .A = A,
                                     .lda = (int)n,
                                     .g = g,
                                     .kind = kind,
                                     .P_n = g_new + n,
                                     .tolerance = 1e-3 * sim->settings.tolerance_position};
    bool known = all_finite(g, (int)n) && diagonal_finite(A, (int)n, (int)n);
    bool good =
        n == 0 ||
        (known && lash_projection_solve(&problem, tau, g_new, NULL, work).outcome != LASH_FAILED);
    for (size_t c = 0; c < n && good; ++c) {
        for (size_t k = 0; k < nv; ++k) x[k] += tau[c] * r[c * nv + k];
    }
    lash_free(contact);
    lash_free(memory);
    lash_free(kind);
    lash_free(work);
    return good;
}

// Depth of the deepest wanted contact [m].
static double overlap(const Step* step) {
    double depth = 0;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (step->wanted[i]) depth = worse(depth, -step->g[step->list->item[i].row]);
    }
    return depth;
}

// The correction of q (nv) from the rows just evaluated.
static bool correction(LashSim* sim, Step* step, double* x) {
    lash_joint_solver_factor(&sim->operators.position_joints, step->list, step->G, sim->operators.M,
                             true, false);
    smallest_motion(sim, step, step->g, x);
    return push_apart(sim, step, x);
}

// q to the nearest place where joints are closed and contacts open; x (nv) scratch.
static bool close_positions(LashSim* sim, Step* step, double* x) {
    const LashSystem* system = sim->system;
    double tolerance = 0.01 * sim->settings.tolerance_position;
    for (int k = 0; k < ASSEMBLY_ITERATIONS; ++k) {
        if (!evaluate_start(sim, step, tolerance)) return false;
        LashMobility mobility = {0};
        measure_rows(step, &mobility);
        if (mobility.position_error <= tolerance && overlap(step) <= tolerance) return true;
        if (!isfinite(mobility.position_error)) return false;
        if (!correction(sim, step, x)) return false;
        double longest = 0; // far from closed the linear model overshoots: at most 0.2 rad or 0.2
                            // length per step
        for (int i = 0; i < system->nv; ++i) longest = fmax(longest, fabs(x[i]));
        system->move(system, sim->now.q, longest > 0.2 ? 0.2 / longest : 1, x, step->q_end);
        memcpy(sim->now.q, step->q_end, (size_t)system->nq * sizeof *sim->now.q);
        system->accept(system, sim->work, sim->now.t, sim->now.q, sim->now.v);
    }
    return false;
}

// v to the nearest velocity that the joints allow, at the place just evaluated; x (nv) scratch.
static bool close_velocities(LashSim* sim, Step* step, double* x) {
    const LashSystem* system = sim->system;
    lash_joint_solver_factor(&sim->operators.position_joints, step->list, step->G, sim->operators.M,
                             false, false);
    smallest_motion(sim, step, step->U, x);
    for (int i = 0; i < system->nv; ++i) step->v[i] = sim->now.v[i] + x[i];
    memcpy(step->q_end, sim->now.q, (size_t)system->nq * sizeof *sim->now.q);
    lash_sim_set_state(sim, sim->now.t, step->q_end, step->v);
    LashMobility after = {0};
    if (!evaluate_start(sim, step, -1)) return false;
    measure_rows(step, &after);
    return after.position_error <= sim->settings.tolerance_position &&
           after.velocity_error <= sim->settings.tolerance_velocity;
}

bool lash_sim_assemble(LashSim* sim, double* moved) {
    const LashSystem* system = sim->system;
    Scratch scratch = scratch_begin(sim);
    double *q_start = scratch_place(sim), *x = scratch_velocity(sim);
    memcpy(q_start, sim->now.q, (size_t)system->nq * sizeof *q_start);
    bool closed = close_positions(sim, &sim->step, x);
    if (moved != NULL) {
        system->difference(system, sim->now.q, q_start, x);
        *moved = 0;
        for (int i = 0; i < system->nv; ++i) *moved = fmax(*moved, fabs(x[i]));
    }
    bool good = closed && close_velocities(sim, &sim->step, x);
    scratch_end(sim, scratch);
    return good;
}
