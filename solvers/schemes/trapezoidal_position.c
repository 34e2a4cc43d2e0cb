// Trapezoidal rule with contacts at position level [A12 6.2, figure 11]: shows why positions alone are not
// enough. With q_m = q_k (+) d/2, v_m = (v_k + v_{k+1})/2:
//
//     M(q_m) (v_{k+1} - v_k) = h F(t + h/2, q_m, v_m) + G(q_{k+1}) P,   d = h v_m
//     joints   g(q_{k+1}) = 0;   contacts   0 <= g(q_{k+1}) perp P_N >= 0, friction on v_m
//
// There is no law of impact: a contact that closes with the velocity v0, its gap r h |v0| before, moves with
// +-(1 - 2r) v0 in every closed step. Within the iteration rows are velocities, U = 2 g(q_{k+1})/h, whose
// derivative by v is G'.
#include "solvers/schemes/scheme.h"
#include "solvers/step/rows.h"

static void plan(LashSim* sim, Step* step) {
    stencil_theta(sim, step, 0.5, 0.5, LASH_AT_END);
}

static bool rows(LashSim* sim, Step* step) {
    const LashInteractionList* list = step->list;
    double h = step->h;
    if (!sim_evaluate(sim, step->t0 + h, step->q_end, NULL, step->g, step->g_t, step->G))
        return false;
    lash_rows_velocity(sim->system, list, 0, list->count, NULL, step->G, step->d, step->U);
    for (int i = 0; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        bool speed = item->kind == LASH_BILATERAL_VELOCITY;
        if (speed) lash_row_velocity(sim->system, item, step->G, step->v, step->U + item->row);
        for (int r = 0; r < item->rows; ++r) {
            int row = item->row + r;
            bool gap = !speed && (i < list->bilateral || r == 0);
            if (speed) step->g[row] = 0;
            if (speed) step->U[row] += step->g_t[row];
            if (gap) step->U[row] = 2 * step->g[row] / h;
            if (!gap && !speed) step->U[row] = 2 * (step->U[row] / h + step->g_t[row]);
        }
    }
    copy_directions(step);
    return true;
}

// All contacts take part; afterwards U is G'v again.
static LashOutcome advance(LashSim* sim, Step* step) {
    const LashInteractionList* list = step->list;
    for (int i = list->bilateral; i < list->count; ++i) step->active[i] = 1;
    LashOutcome outcome = step_solve(sim, step, GAPS);
    if (outcome != LASH_CONVERGED) return outcome;
    lash_rows_velocity(sim->system, list, 0, list->count, NULL, step->G, step->v, step->U);
    for (int r = 0; r < list->rows; ++r) step->U[r] += step->g_t[r];
    for (int i = list->bilateral; i < list->count; ++i)
        step->active[i] = step->P[list->item[i].row] > 0;
    return LASH_CONVERGED;
}

const Scheme scheme_trapezoidal_position = {
    .summary =
        "trapezoidal rule, contacts at position level without a law of impact: velocities "
        "flip",
    .projection = PROJECTS_NOTHING,
    .plan = plan,
    .advance = advance,
    .rows = rows,
    .holds = gaps_hold,
};
