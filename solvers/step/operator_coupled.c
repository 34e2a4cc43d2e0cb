// Algorithm 1 of [A12] section 4.3, coupled: velocities and positions of the contacts in one
// problem.
//
// Linearised at the iterate, with B and B_n the responses with the joints closed (operator_joints.c),
// w = d_v the weight of v_{k+1} in the motion and T = tau / w, all rows are velocities:
//
//     dv = B G* dP - c_d B K dx,     dx = B_n G w dT
//     U+ = U + G'(y + dv)                [+ e U_start]           law of friction and impact with P
//     g+ / w = (g + G'(moved + w dv + dx)) / w                   0 <= g+ perp T >= 0
//
// y and moved are the correction of the joints alone (operator_joints.c) and its displacement. Without
// friction this is one LCP in (P, T); with friction, or where Lemke ends on a ray, the two halves
// are solved in turn until they agree: the coupling, c_d B K B_n, is O(h^2). tau acts on
// normals only. B keeps the joints closed at both levels, so their tau answers dx alone. The fixed
// point of the iteration is that of the decoupled one.
#include <math.h>
#include <string.h>

#include "solvers/cone/lcp.h"
#include "solvers/step/rows.h"
#include "solvers/step/sim_internal.h"

enum { TURNS = 100 }; // of the two halves

size_t coupled_scratch(int contacts, int contact_rows) {
    enum { ARRAYS = 6, ALIGNED = 64 };
    size_t n = (size_t)(contacts + contact_rows);
    return (n * n + 4 * n) * sizeof(double) + lash_lcp_work_size((int)n) + ARRAYS * ALIGNED;
}

typedef struct Coupled {
    int m, n;                // rows of the velocity law; of both laws
    double weight;           // d_v of the motion
    double *A, *b, *z, *row; // (n x n), (n), unknowns (P, tau / weight), W z + b
    double* kept;            // (n) z before, to see the change
    void* lcp_work;
} Coupled;

static Coupled lay_out(LashSim* sim, const Step* step) {
    Coupled c = {.m = step->m, .n = step->m + step->nn, .weight = step->stencil.d_v};
    size_t n = (size_t)c.n;
    c.A = lash_arena_doubles(&sim->arena, n * n);
    c.b = lash_arena_doubles(&sim->arena, n);
    c.z = lash_arena_doubles(&sim->arena, n);
    c.row = lash_arena_doubles(&sim->arena, n);
    c.kept = lash_arena_doubles(&sim->arena, n);
    c.lcp_work = lash_arena_push(&sim->arena, lash_lcp_work_size(c.n));
    return c;
}

// Rows of both laws for a velocity dv and a displacement dx.
static void fill_column(LashSim* sim, const Step* step, const Coupled* coupled, const double* dv,
                        const double* dx, double* column) {
    for (int k = 0; k < step->nc; ++k)
        lash_row_velocity(sim->system, &step->list->item[step->contact[k]], law_rows(step), dv,
                          column + step->first[k]);
    for (int k = 0; k < step->nn; ++k) {
        double U[LASH_MAX_ROWS];
        lash_row_velocity(sim->system, &step->list->item[step->normal[k]], step->G, dx, U);
        column[coupled->m + k] = U[0] / coupled->weight;
    }
}

static void assemble(LashSim* sim, Step* step, Coupled* coupled, const double* moved) {
    int nv = sim->system->nv;
    Scratch scratch = scratch_begin(sim);
    double *x = scratch_velocity(sim), *dx = scratch_velocity(sim), ht = step->stencil.c_d;
    for (int k = 0; k < step->nc; ++k) {
        const LashInteraction* item = &step->list->item[step->contact[k]];
        for (int r = 0; r < item->rows; ++r) {
            response_column(sim, step, item, r, false, x);
            for (int i = 0; i < nv; ++i) dx[i] = coupled->weight * x[i];
            fill_column(sim, step, coupled, x, dx,
                        coupled->A + (size_t)coupled->n * (size_t)(step->first[k] + r));
            coupled->z[step->first[k] + r] = step->P[item->row + r];
        }
    }
    for (int k = 0; k < step->nn; ++k) {
        const LashInteraction* item = &step->list->item[step->normal[k]];
        response_column(sim, step, item, 0, true, dx);
        for (int i = 0; i < nv; ++i) dx[i] *= coupled->weight;
        lash_block_multiply(sim->system, sim->operators.K_values, dx, x);
        joints_response(sim, step, false, x);
        for (int i = 0; i < nv; ++i) {
            x[i] *= -ht;
            dx[i] += coupled->weight * x[i];
        }
        fill_column(sim, step, coupled, x, dx,
                    coupled->A + (size_t)coupled->n * (size_t)(coupled->m + k));
        coupled->z[coupled->m + k] = step->tau[item->row] / coupled->weight;
    }
    scratch_end(sim, scratch);
    fill_column(sim, step, coupled, step->dv, moved, coupled->b);
    for (int k = 0; k < step->nc; ++k) {
        const LashInteraction* item = &step->list->item[step->contact[k]];
        double shift[LASH_MAX_ROWS];
        law_shift(step, step->contact[k], shift);
        for (int r = 0; r < item->rows; ++r)
            coupled->b[step->first[k] + r] += step->U[item->row + r] + shift[r];
    }
    for (int k = 0; k < step->nn; ++k)
        coupled->b[coupled->m + k] +=
            fmin(step->g[step->list->item[step->normal[k]].row], tuning.far) / coupled->weight;
    for (int j = 0; j < coupled->n; ++j) {
        for (int i = 0; i < coupled->n; ++i)
            coupled->b[i] -= coupled->A[i + coupled->n * j] * coupled->z[j];
    }
    assemble_loads(sim, step, coupled->A, coupled->n, coupled->b, coupled->z);
}

static bool without_friction(const Step* step) {
    for (int k = 0; k < step->nc; ++k) {
        if (step->kind[k] != LASH_CONTACT_FRICTIONLESS) return false;
    }
    return true;
}

static bool solve_lcp(LashSim* sim, const Coupled* coupled, int first, int n, const double* b) {
    if (!all_finite(b, n) || !all_finite(coupled->z + first, n) ||
        !diagonal_finite(coupled->A, coupled->n, coupled->n))
        return false;
    LashLcpSettings settings = lash_lcp_settings();
    settings.tolerance = sim->settings.tolerance_solver;
    settings.stop = &sim->stop;
    LashLcpProblem problem = {.n = n,
                              .A = coupled->A + first + (size_t)coupled->n * (size_t)first,
                              .lda = coupled->n,
                              .b = b};
    LashLcpInfo info = lash_lcp_solve(&problem, &settings, coupled->z + first, coupled->row + first,
                                      coupled->lcp_work);
    sim->info.solver += info.iterations;
    return info.outcome == LASH_CONVERGED;
}

// rhs (rows [first, first + n)) = b + A z of the other unknowns
static void other_half(const Coupled* coupled, int first, int n, double* rhs) {
    int from = first == 0 ? coupled->m : 0, to = first == 0 ? coupled->n : coupled->m;
    for (int i = 0; i < n; ++i) {
        rhs[i] = coupled->b[first + i];
        for (int j = from; j < to; ++j)
            rhs[i] += coupled->A[first + i + coupled->n * j] * coupled->z[j];
    }
}

// Velocities and positions in turn.
static bool solve_in_turn(LashSim* sim, Step* step, Coupled* coupled) {
    LashFrictionSettings settings = friction_settings(sim);
    for (int turn = 0; turn < TURNS && !sim_stopped(sim); ++turn) {
        memcpy(coupled->kept, coupled->z, (size_t)coupled->n * sizeof *coupled->z);
        other_half(coupled, 0, coupled->m, step->b);
        LashFrictionProblem problem = friction_problem(step);
        problem.W = coupled->A;
        problem.ldw = coupled->n;
        if (!all_finite(step->b, step->m) || !all_finite(coupled->z, step->m) ||
            !diagonal_finite(coupled->A, coupled->n, coupled->n))
            return false;
        if (step->nc > 0) {
            LashFrictionInfo info =
                friction_solve(sim, step, &problem, settings, coupled->z, coupled->row);
            if (info.outcome == LASH_FAILED) return false;
        }
        other_half(coupled, coupled->m, step->nn, step->gap_n);
        if (!solve_lcp(sim, coupled, coupled->m, step->nn, step->gap_n)) return false;
        double change = 0, size = 0;
        for (int i = 0; i < coupled->n; ++i) {
            change = fmax(change, fabs(coupled->z[i] - coupled->kept[i]));
            size = fmax(size, fabs(coupled->z[i]));
        }
        if (change <= 1e-13 * size) break; // the outer iteration judges the result
    }
    return true;
}

// Takes P and tau over: the change of velocity into dv.
static void apply(LashSim* sim, Step* step, const Coupled* coupled) {
    const LashSystem* system = sim->system;
    Scratch scratch = scratch_begin(sim);
    double *x = scratch_velocity(sim), *dx = scratch_velocity(sim);
    memset(dx, 0, (size_t)system->nv * sizeof *dx);
    for (int k = 0; k < step->nn; ++k) {
        const LashInteraction* item = &step->list->item[step->normal[k]];
        double dtau[LASH_MAX_ROWS] = {coupled->weight * coupled->z[coupled->m + k] -
                                      step->tau[item->row]};
        step->tau[item->row] += dtau[0];
        lash_row_apply(system, item, step->G, 1, dtau, dx);
    }
    solve_metric(sim, dx);
    keep_joints_closed(sim, step, dx);
    lash_block_multiply(system, sim->operators.K_values, dx, x);
    for (int i = 0; i < system->nv; ++i) x[i] *= -step->stencil.c_d;
    contacts_take(sim, step, coupled->z, x);
    contacts_push(sim, step, x);
    scratch_end(sim, scratch);
}

bool coupled_correct(LashSim* sim, Step* step) {
    if (!contacts_fit(sim, step)) return false;
    Scratch scratch = scratch_begin(sim);
    Coupled c = lay_out(sim, step);
    double* moved = scratch_velocity(sim);
    increment_so_far(sim, step, moved);
    if (step->list->bilateral == 0) ++sim->info.projection;
    assemble(sim, step, &c, moved);
    double norm = 0;
    for (int i = 0; i < c.m; ++i) norm += c.b[i] * c.b[i];
    step->b_norm = sqrt(norm);
    bool solved = without_friction(step) && solve_lcp(sim, &c, 0, c.n, c.b);
    solved = solved || solve_in_turn(sim, step, &c);
    if (solved) apply(sim, step, &c);
    scratch_end(sim, scratch);
    return solved;
}
