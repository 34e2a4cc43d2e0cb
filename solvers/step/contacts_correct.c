// A correction with the operator of contacts: positions closed, contacts solved, motions expanded.
// The equations stand in operator_contacts.c, in the same letters.
#include <math.h>
#include <string.h>

#include "solvers/linear/orthogonal.h"
#include "solvers/step/contact_newton_internal.h"
#include "solvers/step/rows.h"

// |N G tau - shift|; m = G tau - M shift stays for the correction.
double contact_newton_motion_error(LashSim* sim, const Step* step) {
    double *m, *off, error = 0;
    int nv = sim->system->nv;
    if (sim_is_sparse(sim)) {
        islands_motion(sim, &m, &off);
    } else {
        m = sim->operators.contacts->motion;
        off = sim->operators.contacts->off;
    }
    mass_multiply(sim, step->shift, m);
    for (int i = 0; i < nv; ++i) m[i] = -m[i];
    projection_force(sim, step, m);
    memcpy(off, m, (size_t)nv * sizeof *m);
    lash_block_lu_solve(sim->operators.M, off);
    for (int i = 0; i < nv; ++i) error = worse(error, fabs(off[i]));
    return error;
}

// y (k) += V' C(tau) x
static void add_turned_projection(ContactNewton* newton, const double* x, double* y) {
    lash_dense_sum_rows(newton->ldn, newton->n, x, 1, newton->C_tau, newton->ldn, newton->force);
    motions_reduce(newton->motions, true, newton->force, newton->t);
    for (int i = 0; i < newton->k; ++i) y[i] += newton->t[i];
}

// dv_p, dd_p, z_c, mu, eta, the gaps of normals with the joints closed, and dd = dd_c.
static void close_positions(LashSim* sim, const Step* step, ContactNewton* newton) {
    double w = step->stencil.d_v, *c = newton->t + newton->n, *e = newton->e;
    motions_close(newton->motions, step->U, newton->dv_p);
    memset(newton->eta, 0, (size_t)newton->ldl * sizeof *newton->eta);
    if (newton->levels != POSITIONS) {
        for (int i = 0; i < newton->n; ++i) newton->dd[i] = newton->dd_p[i] = w * newton->dv_p[i];
        memset(newton->z_c, 0, (size_t)newton->k * sizeof *newton->z_c);
        return;
    }
    motions_close(newton->motions, step->g, newton->dd_p);
    motions_reduce(newton->motions, true, newton->motion, newton->mu);
    if (newton->curved) add_turned_projection(newton, newton->dd_p, newton->mu);
    for (int r = 0; r < step->nn; ++r) {
        const LashInteraction* item = &step->list->item[step->normal[r]];
        double U[LASH_MAX_ROWS];
        lash_row_velocity(sim->system, item, step->G, newton->dd_p, U);
        newton->gap[r] = is_empty(step, item) ? tuning.far : step->g[item->row] + U[0];
    }
    for (int i = 0; i < newton->ne; ++i) e[i] = -newton->gap[newton->closed[i]];
    lash_orthogonal_forward(newton->rank, newton->E, newton->ldk, newton->order, e, c);
    multiply_transposed(newton->rank, newton->B, newton->ldk, c, newton->z_c);
    motions_expand(newton->motions, newton->z_c, newton->dd);
    memcpy(newton->z, newton->mu, (size_t)newton->k * sizeof *newton->z);
    if (newton->curved) add_turned_projection(newton, newton->dd, newton->z);
    lash_dense_add_rows(newton->ldl, newton->k, newton->z, 1, newton->N, newton->ldl, newton->eta);
    for (int i = 0; i < newton->n; ++i) newton->dd[i] += newton->dd_p[i];
}

// force += c_v C dv + Q dd
static void add_turned_forces(LashSim* sim, const Step* step, ContactNewton* newton,
                              const double* dv, const double* dd) {
    if (newton->derivatives == DERIVATIVES_NONE) return;
    if (newton->damping_couples)
        lash_block_multiply(sim->system, sim->operators.C_values, dv, newton->t);
    else
        lash_block_multiply_diagonal(sim->system, sim->operators.C_values, dv, newton->t);
    for (int i = 0; i < newton->n; ++i) newton->force[i] += step->stencil.c_v * newton->t[i];
    lash_dense_add_rows(newton->ldn, newton->n, dd, 1, newton->Q, newton->ldn, newton->force);
}

// a, z, and from them dv and dd, of the given x.
static void follow(const Step* step, ContactNewton* newton) {
    double w = step->stencil.d_v, *right = newton->t;
    lash_dense_sum_rows(newton->ldl, newton->k, newton->x, 1, newton->N, newton->ldl, right);
    for (int j = 0; j < newton->l; ++j) right[j] = w * right[j] + newton->eta[j];
    if (newton->derivatives == DERIVATIVES_NONE)
        memcpy(newton->y, right, (size_t)newton->l * sizeof *newton->y);
    else
        lash_dense_multiply_rows(newton->l, newton->ldl, newton->Theta, newton->ldl, right,
                                 newton->y);
    for (int j = newton->l; j < newton->ldl; ++j) newton->y[j] = 0;
    memcpy(newton->a, newton->x, (size_t)newton->k * sizeof *newton->a);
    if (newton->derivatives != DERIVATIVES_NONE)
        add_product(newton->k, newton->ldl, -1, newton->S, newton->ldl, newton->y, newton->t,
                    newton->a);
    memcpy(newton->z, newton->z_c, (size_t)newton->k * sizeof *newton->z);
    add_product(newton->k, newton->ldl, 1, newton->N, newton->ldl, newton->y, newton->t, newton->z);
}

static void move(ContactNewton* newton) {
    motions_expand(newton->motions, newton->a, newton->dv);
    motions_expand(newton->motions, newton->z, newton->dd);
    for (int i = 0; i < newton->n; ++i) {
        newton->dv[i] += newton->dv_p[i];
        newton->dd[i] += newton->dd_p[i];
    }
}

// Impulses of the joints: G* dP = M dv + c_v C dv + Q dd + r - G* dP of the contacts (force).
static void answer_joints(LashSim* sim, const Step* step, ContactNewton* newton) {
    add_turned_forces(sim, step, newton, newton->dv, newton->dd);
    mass_multiply(sim, newton->dv, newton->t);
    for (int i = 0; i < newton->n; ++i) newton->force[i] += newton->t[i];
    motions_answer(newton->motions, newton->force, newton->e);
}

// Rows of friction in joints, with the loads that the joints have at dv, dd.
static void pose_loads(LashSim* sim, Step* step, ContactNewton* newton) {
    answer_joints(sim, step, newton);
    for (int i = 0; i < newton->p; ++i) step->P[i] += newton->e[i];
    assemble_loads(sim, step, step->W, step->ldw, step->b, step->P_c);
    for (int i = 0; i < newton->p; ++i) step->P[i] -= newton->e[i];
    memcpy(newton->force, step->r, (size_t)newton->n * sizeof *newton->force); // as it was
}

// Friction problem of the contacts at dv, dd: b, and P_c to start from.
static void pose_contacts(LashSim* sim, Step* step, ContactNewton* newton) {
    for (int j = 0; j < newton->ld; ++j) step->b[j] = 0;
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        double *b = step->b + step->first[c], shift[LASH_MAX_ROWS], turned[LASH_MAX_ROWS] = {0};
        law_shift(step, step->contact[c], shift);
        lash_row_velocity(sim->system, item, law_rows(step), newton->dv, b);
        if (newton->derivatives == DERIVATIVES_ALL)
            lash_row_velocity(sim->system, item, newton->D, newton->dd, turned);
        for (int r = 0; r < item->rows; ++r) {
            b[r] += step->U[item->row + r] + shift[r] + turned[r];
            step->P_c[step->first[c] + r] = step->P[item->row + r];
        }
    }
    if (newton->holds) clear_held_rows(step, step->b, step->P_c);
    if (sim->jam.tried) memcpy(step->U_c, step->b, (size_t)newton->m * sizeof *step->b);
    lash_dense_subtract_rows(newton->ld, newton->m, step->P_c, 1, step->W, step->ldw, step->b);
    part_empty_slots(step, step->W, step->ldw, step->b);
    if (newton->loads) pose_loads(sim, step, newton);
    step->b_norm = sqrt(dot(newton->m, step->b, step->b));
}

// P of the contacts; force = r - G* dP, and what that changes. False: no answer.
static bool correct_contacts(LashSim* sim, Step* step, ContactNewton* newton) {
    double* force = newton->dv; // G* dP
    memcpy(newton->force, step->r, (size_t)newton->n * sizeof *newton->force);
    if (step->nc == 0) return true;
    move(newton);
    pose_contacts(sim, step, newton);
    if (!contacts_solve_coupled(sim, step, newton->loads ? 0 : newton->number, newton->derivatives))
        return false;
    memset(force, 0, (size_t)newton->n * sizeof *force);
    contacts_take(sim, step, step->P_c, force);
    for (int i = 0; i < newton->n; ++i) newton->force[i] -= force[i];
    motions_reduce(newton->motions, false, force, newton->t);
    for (int i = 0; i < newton->k; ++i) newton->x[i] += newton->t[i];
    follow(step, newton);
    return true;
}

// Kinds of the position rows for the impulses found.
static void decide_positions(Step* step, const ContactNewton* newton) {
    double largest = 0;
    for (int c = 0; c < step->nc; ++c)
        largest = fmax(largest, step->P[step->list->item[step->contact[c]].row]);
    for (int k = 0; k < step->nn; ++k) {
        bool pushed = !is_empty(step, &step->list->item[step->normal[k]]) &&
                      contact_newton_pushes(step, newton, k, tuning.pushes * largest);
        step->kind_n[k] = pushed ? LASH_PROJECT_EQUALITY : LASH_PROJECT_INEQUALITY;
    }
}

// Takes E for granted: its multipliers tau change by what N leaves out of
// (1 - C(tau)) z = w a + mu + G dtau. False when the result contradicts it.
static bool close_guessed(const Step* step, ContactNewton* newton, double tolerance) {
    double w = step->stencil.d_v, *rest = newton->grid, *c = rest + newton->n;
    memset(rest, 0, (size_t)newton->k * sizeof *rest);
    if (newton->curved) {
        motions_expand(newton->motions, newton->z, newton->dv);
        memcpy(newton->dd, newton->force, (size_t)newton->n * sizeof *newton->dd); // is kept
        add_turned_projection(newton, newton->dv, rest);
        memcpy(newton->force, newton->dd, (size_t)newton->n * sizeof *newton->dd);
    }
    for (int i = 0; i < newton->k; ++i)
        rest[i] = newton->z[i] - rest[i] - w * newton->a[i] - newton->mu[i];
    lash_dense_multiply_rows(newton->rank, newton->k, newton->B, newton->ldk, rest, c);
    lash_orthogonal_backward(newton->rank, newton->ne, newton->E, newton->ldk, newton->order, c,
                             newton->e);
    for (int r = 0; r < step->nn; ++r)
        newton->tau[r] = step->tau[step->list->item[step->normal[r]].row];
    for (int i = 0; i < newton->ne; ++i) newton->tau[newton->closed[i]] += newton->e[i];
    for (int r = 0, k = 0; r < step->nn; ++r) {
        const LashInteraction* item = &step->list->item[step->normal[r]];
        bool in_E = k < newton->ne && newton->closed[k] == r;
        k += in_E;
        if (is_empty(step, item)) {
            if (step->tau[item->row] != 0) return false;
            continue;
        }
        double gap = newton->gap[r] + dot(newton->k, newton->G_n + r * newton->ldk, newton->z);
        double tau = newton->tau[r];
        bool equality = step->kind_n[r] == LASH_PROJECT_EQUALITY;
        if (gap < -tolerance || ((equality || in_E) && gap > tolerance)) return false;
        if (!equality && (tau < 0 || (!in_E && tau != 0))) return false;
    }
    return true;
}

// The positions as a complementarity problem at the velocities found.
static bool close_searched(Step* step, ContactNewton* newton, double tolerance) {
    int nn = step->nn, k = newton->k, ldk = newton->ldk;
    double w = step->stencil.d_v, *z = newton->z;
    for (int i = 0; i < k; ++i) z[i] = w * newton->a[i] + newton->mu[i];
    for (int r = 0; r < nn; ++r) {
        const LashInteraction* item = &step->list->item[step->normal[r]];
        bool empty = is_empty(step, item);
        newton->kind[r] = step->kind_n[r];
        newton->P_n[r] = step->P[item->row];
        newton->gap_new[r] =
            empty ? tuning.far
                  : fmin(tuning.far, newton->gap[r] + dot(k, newton->G_n + r * ldk, z));
        newton->tau[r] = empty ? 0 : step->tau[item->row];
        lash_dense_multiply_rows(nn, k, newton->G_n, ldk, newton->G_n + r * ldk,
                                 newton->A_n + r * nn);
        if (!(newton->A_n[r * nn + r] > 0)) newton->A_n[r * nn + r] = 1; // an empty slot
    }
    for (int r = 0; r < nn; ++r)
        for (int q = 0; q < nn; ++q) newton->gap_new[q] -= newton->A_n[r * nn + q] * newton->tau[r];
    memcpy(newton->gap, newton->gap_new, (size_t)nn * sizeof *newton->gap);
    if (!all_finite(newton->gap, nn) || !diagonal_finite(newton->A_n, nn, nn)) return false;
    LashProjectionProblem problem = {.m = nn,
                                     .A = newton->A_n,
                                     .lda = nn,
                                     .g = newton->gap,
                                     .kind = newton->kind,
                                     .P_n = newton->P_n,
                                     .tolerance = tolerance,
                                     .max_iterations = tuning.search_iterations};
    uint8_t* final = newton->kind + nn;
    LashProjectionInfo info = lash_projection_solve(&problem, newton->tau, newton->gap_new, final,
                                                    newton->projection_work);
    if (info.outcome == LASH_FAILED) return false;
    step->demoted = info.demoted;
    if (nn > 0) memcpy(step->kind_n, final, (size_t)nn);
    for (int r = 0; r < nn; ++r) {
        // What moves by less than the tolerance is rounding: an open contact has none at all.
        if (fabs(newton->tau[r]) * newton->A_n[r * nn + r] < tolerance) newton->tau[r] = 0;
        double change = newton->tau[r] - step->tau[step->list->item[step->normal[r]].row];
        if (change != 0)
            for (int i = 0; i < k; ++i) z[i] += change * newton->G_n[r * ldk + i];
    }
    return true;
}

// The shift, and tau of the joints: G dtau = M shift - G tau - C(tau) dd, contacts completed.
static void take_positions(LashSim* sim, Step* step, ContactNewton* newton) {
    double w = step->stencil.d_v;
    for (int r = 0; r < step->nn; ++r)
        step->tau[step->list->item[step->normal[r]].row] = newton->tau[r];
    for (int i = 0; i < newton->n; ++i) step->shift[i] += newton->dd[i] - w * newton->dv[i];
    ++sim->info.projection;
    if (newton->p == 0) return;
    memset(newton->force, 0, (size_t)newton->n * sizeof *newton->force);
    if (newton->curved)
        lash_dense_sum_rows(newton->ldn, newton->n, newton->dd, 1, newton->C_tau, newton->ldn,
                            newton->force);
    projection_force(sim, step, newton->force);
    mass_multiply(sim, step->shift, newton->t);
    for (int i = 0; i < newton->n; ++i) newton->t[i] -= newton->force[i];
    motions_answer(newton->motions, newton->t, newton->e);
    for (int i = 0; i < newton->p; ++i) step->tau[i] += newton->e[i];
}

bool contact_newton_correct(LashSim* sim, Step* step) {
    ContactNewton* newton = sim->operators.contacts;
    double tolerance = 0.001 * step->goal * sim->settings.tolerance_position;
    bool project = step->levels == POSITIONS;
    close_positions(sim, step, newton);
    memcpy(newton->force, step->r, (size_t)newton->n * sizeof *newton->force);
    add_turned_forces(sim, step, newton, newton->dv_p, newton->dd);
    motions_reduce(newton->motions, false, newton->force, newton->x);
    for (int i = 0; i < newton->k; ++i) newton->x[i] = -newton->x[i];
    follow(step, newton);
    if (!correct_contacts(sim, step, newton)) return false;
    if (project) {
        decide_positions(step, newton);
        if (!close_guessed(step, newton, tolerance) &&
            !close_searched(step, newton, 0.2 * tolerance))
            return false;
    }
    move(newton);
    if (newton->p > 0) answer_joints(sim, step, newton);
    for (int i = 0; i < newton->p; ++i) step->P[i] += newton->e[i];
    if (project) take_positions(sim, step, newton);
    for (int i = 0; i < newton->n; ++i) step->v[i] += newton->dv[i];
    return true;
}
