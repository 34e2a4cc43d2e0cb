// Poisson's impact at one instant [P06 7.3, 7.4], all contacts of the set together:
//
//     compression     M (v^c - v-) = G P^c:   joints U^c = 0,   0 <= U_N^c perp P_N^c >= 0, friction
//     decompression   M (v+ - v^c) = G P^x:   joints U+ = 0,    P_N^x >= e P_N^c,
//                     0 <= U_N+ perp P_N^x - e P_N^c >= 0, friction with the whole P_N^x
//
// One contact without friction: Newton's law. With friction, or several contacts, it may create
// energy. The second problem by sets: normals with P_N^x = e P_N^c first, then those that would approach
// as contacts with U_N+ = 0.
#include <math.h>
#include <string.h>

#include "solvers/schemes/trapezoidal.h"
#include "solvers/step/rows.h"

typedef struct Impact {
    double* load;    // (contacts) e P_N^c
    uint8_t* closes; // (contacts) obeys 0 <= U_N perp P_N instead
} Impact;

// M and the joints at (t, q).
static bool take_operator(LashSim* sim, Step* step, Leg* leg) {
    const LashInteractionList* list = step->list;
    Operators* operators = &sim->operators;
    for (int i = list->bilateral; i < list->count; ++i) step->wanted[i] = step->active[i];
    sim->system->mass(sim->system, sim->work, leg->q, operators->M_values);
    operator_forget(sim);
    operators->mass_known = false;
    if (!lash_block_lu_factor(operators->A, operators->M_values)) return false;
    if (!sim_evaluate(sim, leg->t, leg->q, step->wanted, step->g, step->g_t, step->G)) return false;
    memcpy(step->G_star, step->G, (size_t)list->G_size * sizeof *step->G);
    lash_joint_solver_factor_general(&operators->velocity_joints, list, step->G, step->G_star,
                                     operators->A);
    for (int i = list->bilateral; i < list->count; ++i) step->has_U_start[i] = 1;
    return contacts_list(sim, step);
}

// The legs leave joints open by O(h^2) in their velocities.
static void close_joints(LashSim* sim, Step* step, Leg* leg) {
    const LashInteractionList* list = step->list;
    if (list->bilateral == 0) return;
    lash_rows_velocity(sim->system, list, 0, list->bilateral, NULL, step->G, leg->v, leg->u);
    for (int r = 0; r < list->bilateral_rows; ++r) leg->u[r] += step->g_t[r];
    lash_joint_solver_solve(&sim->operators.velocity_joints, leg->u, leg->dP);
    joints_push(sim, step, step->G_star, leg->dP, sim->operators.A, leg->z);
    for (int i = 0; i < sim->system->nv; ++i) leg->v[i] += leg->z[i];
    for (int r = 0; r < list->bilateral_rows; ++r) leg->P[r] += leg->dP[r];
}

// x <- what the generalized impulse x does to v with the joints closed; P gets their impulses.
static void respond(LashSim* sim, Step* step, Leg* leg, double* P) {
    const LashInteractionList* list = step->list;
    lash_block_lu_solve(sim->operators.A, leg->x);
    if (list->bilateral == 0) return;
    joints_answer(sim, step, leg->x, leg->dP, leg->z);
    for (int i = 0; i < sim->system->nv; ++i) leg->x[i] += leg->z[i];
    for (int r = 0; r < list->bilateral_rows && P != NULL; ++r) P[r] += leg->dP[r];
}

static void pose_contacts(LashSim* sim, Step* step, Leg* leg) {
    const LashSystem* system = sim->system;
    step->ldw = step->m;
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        for (int r = 0; r < item->rows; ++r) {
            double unit[LASH_MAX_ROWS] = {0};
            double* column = step->W + (size_t)step->m * (size_t)(step->first[c] + r);
            unit[r] = 1;
            memset(leg->x, 0, (size_t)system->nv * sizeof *leg->x);
            lash_row_apply(system, item, step->G, 1, unit, leg->x);
            respond(sim, step, leg, NULL);
            for (int k = 0; k < step->nc; ++k)
                lash_row_velocity(system, &step->list->item[step->contact[k]], step->G, leg->x,
                                  column + step->first[k]);
        }
        double* b = step->b + step->first[c];
        lash_row_velocity(system, item, step->G, leg->v, b);
        for (int r = 0; r < item->rows; ++r) {
            b[r] += step->g_t[item->row + r];
            step->P_c[step->first[c] + r] = 0;
        }
    }
}

// A given normal impulse: the row says U_N = w (P_N - load), closed exactly there.
static void give_loads(Step* step, const Impact* impact) {
    int m = step->m;
    for (int c = 0; c < step->nc && impact != NULL; ++c) {
        int n = step->first[c];
        double w = step->W[n + m * n];
        if (impact->closes[c]) continue;
        for (int j = 0; j < m; ++j) step->W[n + m * j] = 0;
        step->W[n + m * n] = w;
        step->b[n] = -w * impact->load[c];
    }
}

static bool solve(LashSim* sim, Step* step, Leg* leg, const Impact* impact) {
    pose_contacts(sim, step, leg);
    give_loads(step, impact);
    return leg_solve_friction(sim, step, leg);
}

// v and P get the impulses of the problem just solved.
static void apply(LashSim* sim, Step* step, Leg* leg) {
    memset(leg->x, 0, (size_t)sim->system->nv * sizeof *leg->x);
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        const double* P = step->P_c + step->first[c];
        for (int r = 0; r < item->rows; ++r) leg->P[item->row + r] += P[r];
        lash_row_apply(sim->system, item, step->G, 1, P, leg->x);
    }
    respond(sim, step, leg, leg->P);
    for (int i = 0; i < sim->system->nv; ++i) leg->v[i] += leg->x[i];
}

// U_N of contact c after the impulses of the problem just solved.
static double normal_velocity(LashSim* sim, Step* step, const Leg* leg, int c) {
    const LashInteraction* item = &step->list->item[step->contact[c]];
    double U[LASH_MAX_ROWS], before[LASH_MAX_ROWS];
    lash_row_velocity(sim->system, item, step->G, leg->x, U);
    lash_row_velocity(sim->system, item, step->G, leg->v, before);
    return U[0] + before[0] + step->g_t[item->row];
}

static bool decompress(LashSim* sim, Step* step, Leg* leg, const uint8_t* kind) {
    enum { PASSES = 8 };
    Impact impact = {.load = step->P_n, .closes = step->kind_n};
    bool any = false;
    for (int c = 0; c < step->nc; ++c) {
        int i = step->contact[c];
        const LashInteraction* item = &step->list->item[i];
        double e = kind[i] == IMPACT_PLASTIC ? 0 : item->e;
        impact.load[c] = e * step->P_c[step->first[c]];
        impact.closes[c] = 0;
        any = any || impact.load[c] > 0;
    }
    if (!any) return true;
    for (int k = 0; k < PASSES; ++k) {
        if (!solve(sim, step, leg, &impact)) return false;
        memset(leg->x, 0, (size_t)sim->system->nv * sizeof *leg->x);
        for (int c = 0; c < step->nc; ++c)
            lash_row_apply(sim->system, &step->list->item[step->contact[c]], step->G, 1,
                           step->P_c + step->first[c], leg->x);
        respond(sim, step, leg, NULL);
        bool grown = false;
        for (int c = 0; c < step->nc; ++c) {
            if (impact.closes[c]) continue;
            if (normal_velocity(sim, step, leg, c) >= -sim->settings.tolerance_velocity) continue;
            impact.closes[c] = 1;
            grown = true;
        }
        if (!grown) break;
    }
    apply(sim, step, leg);
    return true;
}

// W x = -b on the n rows, W symmetric: elimination by the largest diagonals; rows that depend on others get
// nothing. x into P_c.
static void solve_rows(Step* step, int n, int* row) {
    static const double DEPENDS = 1e-9; // of the largest diagonal
    double *W = step->W, *b = step->b, largest = 0;
    int m = step->m, rank = 0;
    for (; rank < n; ++rank) {
        int best = rank;
        for (int k = rank + 1; k < n; ++k)
            if (W[row[k] + m * row[k]] > W[row[best] + m * row[best]]) best = k;
        int p = row[best];
        row[best] = row[rank];
        row[rank] = p;
        largest = fmax(largest, W[p + m * p]);
        if (!(W[p + m * p] > DEPENDS * largest)) break;
        for (int k = rank + 1; k < n; ++k) {
            int i = row[k];
            double factor = W[i + m * p] / W[p + m * p];
            for (int j = rank + 1; j < n; ++j) W[i + m * row[j]] -= factor * W[p + m * row[j]];
            b[i] -= factor * b[p];
        }
    }
    for (int k = rank - 1; k >= 0; --k) {
        int p = row[k];
        double x = -b[p];
        for (int j = k + 1; j < rank; ++j) x -= W[p + m * row[j]] * step->P_c[row[j]];
        step->P_c[p] = x / W[p + m * p];
    }
}

// U_N = 0 in contacts that pushed, U = 0 in those that stuck, where the legs leave O(h^2) as in joints, and in several whose
// accumulations end: a hit of one alone would open the others again. The least change of v that does it, in
// the metric M: it takes energy, never gives.
static void close_contacts(LashSim* sim, Step* step, Leg* leg, const uint8_t* kind) {
    enum { MOST = 96 }; // others end with their next hit
    int row[MOST], n = 0;
    bool pushed = false;
    for (int c = 0; c < step->nc; ++c) {
        int i = step->contact[c];
        if (kind[i] == IMPACT_REBOUNDS) continue;
        pushed = pushed || kind[i] != IMPACT_PLASTIC;
        int rows = kind[i] == IMPACT_STUCK ? step->list->item[i].rows : 1;
        for (int r = 0; r < rows && n < MOST; ++r) row[n++] = step->first[c] + r;
    }
    if (!pushed && n < 2) return;
    pose_contacts(sim, step, leg);
    solve_rows(step, n, row);
    apply(sim, step, leg);
}

// Newton's law: U_N+ = -e U_N- where it pushes.
static bool rebound(LashSim* sim, Step* step, Leg* leg, const uint8_t* kind) {
    pose_contacts(sim, step, leg);
    for (int c = 0; c < step->nc; ++c) {
        int i = step->contact[c];
        const LashInteraction* item = &step->list->item[i];
        double e = kind[i] == IMPACT_PLASTIC ? 0 : item->e, U = step->b[step->first[c]];
        step->b[step->first[c]] += e * fmin(U, 0);
    }
    if (!leg_solve_friction(sim, step, leg)) return false;
    apply(sim, step, leg);
    return true;
}

static bool compress_and_release(LashSim* sim, Step* step, Leg* leg, const uint8_t* kind) {
    if (!solve(sim, step, leg, NULL)) return false;
    apply(sim, step, leg);
    return decompress(sim, step, leg, kind);
}

static bool rows_after(LashSim* sim, Step* step, Leg* leg) {
    const LashInteractionList* list = step->list;
    if (!sim_evaluate(sim, leg->t, leg->q, NULL, leg->g, step->g_t, step->G)) return false;
    lash_rows_velocity(sim->system, list, 0, list->count, NULL, step->G, leg->v, leg->U);
    for (int r = 0; r < list->rows; ++r) leg->U[r] += step->g_t[r];
    return true;
}

bool impact_of_closed(LashSim* sim, Step* step, Leg* leg, const uint8_t* kind) {
    memset(leg->P, 0, (size_t)step->list->rows * sizeof *leg->P);
    if (!take_operator(sim, step, leg)) return false;
    close_joints(sim, step, leg);
    close_contacts(sim, step, leg, kind);
    return rows_after(sim, step, leg);
}

bool impact_solve(LashSim* sim, Step* step, Leg* leg, int law, const uint8_t* kind) {
    memset(leg->P, 0, (size_t)step->list->rows * sizeof *leg->P);
    if (!take_operator(sim, step, leg)) return false;
    close_joints(sim, step, leg);
    close_contacts(sim, step, leg, kind);
    bool good = law == LAW_NEWTON ? rebound(sim, step, leg, kind)
                                  : compress_and_release(sim, step, leg, kind);
    return good && rows_after(sim, step, leg);
}
