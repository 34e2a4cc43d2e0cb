// The nonlinear problem of one step for a given set of active contacts.
//
// Unknowns v = v_{k+1}, P, tau. With v_theta = (1-theta) v_k + theta v and directions G* =
// G(q_{k+theta}) (or at the end, or at the start of the step) the step solves
//
//     d = h v_theta + N G tau,   q_{k+1} = q_k (+) d,   q_{k+theta} = q_k (+) theta d
//     r = M(q_{k+theta}) (v - v_k) - h F(t_{k+theta}, q_{k+theta}, v_theta) - G* P = 0
//     joints:    U = G(q_{k+1})' v + g_t = 0   and   g(q_{k+1}) = 0 (of speeds: drivers.c)
//     contacts:  the law of friction and impact in (U, P); positions as the scheme says
//
// Iteration: all residuals are evaluated at the iterate, afresh; the correction uses the operator
// of factor.c:
//
//     y  = -A^-1 r,    dP_b = -(G'A^-1 G)^+ (U_b + G_b' y),    v_free = v + y + A^-1 G* dP_b
//     contacts:  U_c = W P_c + b,  W = G_c' B G_c*,  b = G_c' v_free + g_t - W P_c(old)   solved
//     for P_c dv = y + A^-1 G* dP;   then tau from the gaps predicted at the new v.
//
// Since dv uses fresh directions, the dynamics stay satisfied to rounding while the rows converge.
// The iteration ends when the recomputed residuals pass, and never before one correction has been
// made.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/step/rows.h"
#include "solvers/step/sim_internal.h"

// Contraction per correction above which the operator is renewed for the next step.
static const double SLOW = 0.003;
// The same where the factors no longer fit into the cache, and making them costs more.
static const double SLOW_LARGE = 0.02;
// The same where the responses to contacts have to be found again, too.
static const double SLOW_CONTACTS = 0.04;
enum { MANY_ROWS = 2000, LONGEST_SEPARATION = 1 << 16 };
// Contraction above which a fresh operator is not good enough.
static const double POOR = 0.1;
// Corrections in a row that gain less than half, after which the kept operator is given up; and
// corrections without a new best, after which any iteration is: it runs in a circle.
enum { PATIENCE = 4, CIRCLE = 12 };
// Steps with the full Newton matrix before the kept operator is tried again, at most.
enum { LONGEST_RUN = 16 };
// Corrections that an operator of contacts may still need before a new one is cheaper; error
// [tolerances] to which one of an earlier step must be expected to come at once.
static const double CHORDS = 3, KEEP_BELOW = 100;
// Error of contacts beyond which derivatives of their directions do more harm than good [m/s].
static const double FAR_OFF = 0.01;
// Corrections with the kept operator before it is given up.
enum { KEPT_ITERATIONS = 12 };

// --- Evaluation ----------------------------------------------------------------------------------

void projection_force(LashSim* sim, const StepContext* s, double* x) {
    const LashSystem* system = sim->system;
    lash_rows_apply(system, s->list, 0, s->list->bilateral, NULL, s->G, 1, s->tau, x);
    for (int k = 0; k < s->nn; ++k) {
        const LashInteraction* item = &s->list->item[s->normal[k]];
        double only_normal[LASH_MAX_ROWS] = {s->tau[item->row]};
        lash_row_apply(system, item, s->G, 1, only_normal, x);
    }
}

void projection_shift(LashSim* sim, const StepContext* s, double* x) {
    for (int i = 0; i < sim->system->nv; ++i) x[i] = 0;
    projection_force(sim, s, x);
    if (!sim->system->unit_metric) lash_block_lu_solve(sim->same_metric ? sim->A : sim->M, x);
}

void projection_update(LashSim* sim, StepContext* s) {
    if (!sim->curved) {
        projection_shift(sim, s, s->shift);
        return;
    }
    double *moved = sim->x, ht = s->h * s->move_theta;
    increment_so_far(sim, s, moved);
    for (int i = 0; i < sim->system->nv; ++i) s->shift[i] += moved[i] - ht * sim->y[i];
}

// d = h v_theta + N G tau; q_end, q_theta, v_theta. The shift is the guessed one when a pass
// begins.
static void set_positions(LashSim* sim, StepContext* s, bool project) {
    const LashSystem* system = sim->system;
    double w = s->move_theta, moved = s->h * w, before = s->h * (1 - w), theta = s->theta;
    for (int i = 0; i < system->nv; ++i) {
        s->d[i] = before * sim->v[i] + moved * s->v[i];
        s->v_theta[i] = (1 - theta) * sim->v[i] + theta * s->v[i];
    }
    for (int i = 0; i < system->nv && project; ++i) s->d[i] += s->shift[i];
    system->move(system, sim->q, 1, s->d, s->q_end);
    system->move(system, sim->q, theta, s->d, s->q_theta);
}

bool sim_evaluate(LashSim* sim, double t, const double* q, const uint8_t* wanted, double* g,
                  double* g_t, double* G) {
    bool good = sim->system->evaluate(sim->system, sim->work, t, q, wanted, g, g_t, G);
    sim->outside = sim->outside || !good;
    return good;
}

// A contact that has a place at the end of the step but none where its impulse would point: it
// points as at the end.
static void complete_directions(const LashSim* sim, StepContext* s) {
    for (int i = s->list->bilateral; i < s->list->count; ++i) {
        const LashInteraction* item = &s->list->item[i];
        if (!s->wanted[i] || item->kind != LASH_UNILATERAL) continue;
        if (s->g_star[item->row] < INFINITY || s->g[item->row] == INFINITY) continue;
        int n = 0;
        for (int b = 0; b < item->touched; ++b) n += lash_block_size(sim->system, item->block[b]);
        memcpy(s->G_star + item->offset, s->G + item->offset,
               (size_t)(n * item->rows) * sizeof *s->G);
        memcpy(s->g_t_star + item->row, s->g_t + item->row, (size_t)item->rows * sizeof *s->g_t);
    }
}

static bool evaluate_rows(LashSim* sim, StepContext* s) {
    double t_end = s->t0 + s->h, t_theta = s->t0 + s->theta * s->h;
    bool fremond = sim->settings.law == LASH_FREMOND;
    switch (sim->settings.direction) {
        case LASH_AT_MIDPOINT:
            if (!sim_evaluate(sim, t_theta, s->q_theta, s->wanted, s->g_star,
                              fremond ? s->g_t_star : NULL, s->G_star))
                return false;
            if (!sim_evaluate(sim, t_end, s->q_end, s->wanted, s->g, s->g_t, s->G)) return false;
            drivers_hold(sim, s, s->g_t, s->g);
            complete_directions(sim, s);
            return true;
        case LASH_AT_END:
            if (!sim_evaluate(sim, t_end, s->q_end, s->wanted, s->g, s->g_t, s->G)) return false;
            drivers_hold(sim, s, s->g_t, s->g);
            memcpy(s->G_star, s->G, (size_t)s->list->G_size * sizeof *s->G);
            memcpy(s->g_t_star, s->g_t, (size_t)s->list->rows * sizeof *s->g_t);
            return true;
        case LASH_AT_START: // rows and impulses at q_k; the gaps are those of the end
            if (!sim_evaluate(sim, t_end, s->q_end, s->wanted, s->g, s->g_t, NULL)) return false;
            drivers_hold(sim, s, s->g_t, s->g);
            if (!sim_evaluate(sim, s->t0, sim->q, s->wanted, s->g_star, s->g_t, s->G)) return false;
            memcpy(s->G_star, s->G, (size_t)s->list->G_size * sizeof *s->G);
            memcpy(s->g_t_star, s->g_t, (size_t)s->list->rows * sizeof *s->g_t);
            return true;
    }
    return false;
}

// r, U and the errors of the iterate.
static void compute_residuals(LashSim* sim, StepContext* s) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = s->list;
    int nv = system->nv;
    if (!system->constant_mass) system->mass(system, sim->work, s->q_theta, sim->M_values);
    system->forces(system, sim->work, s->t0 + s->theta * s->h, s->q_theta, s->v_theta, s->F);
    for (int i = 0; i < nv; ++i) sim->x[i] = s->v[i] - sim->v[i];
    lash_block_multiply(system, sim->M_values, sim->x, s->r);
    for (int i = 0; i < nv; ++i) s->r[i] -= s->h * s->F[i];
    lash_rows_apply(system, list, 0, list->count, s->active, s->G_star, -1, s->P, s->r);
    lash_rows_velocity(system, list, 0, list->bilateral, NULL, s->G, s->v, s->U);
    lash_rows_velocity(system, list, list->bilateral, list->count, s->wanted, law_rows(sim, s),
                       s->v, s->U);
    bool fremond = sim->settings.law == LASH_FREMOND;
    s->velocity_error = 0;
    s->position_error = 0;
    for (int i = 0; i < list->count; ++i) {
        if (!s->wanted[i]) continue;
        const LashInteraction* item = &list->item[i];
        for (int k = item->row; k < item->row + item->rows; ++k) {
            s->U[k] += i >= list->bilateral && fremond ? s->g_t_star[k] : s->g_t[k];
            if (i >= list->bilateral) continue;
            if (!(fabs(s->U[k]) <= s->velocity_error)) {
                s->velocity_error = worse(s->velocity_error, fabs(s->U[k]));
                s->worst_velocity = item->id;
            }
            if (!(fabs(s->g[k]) <= s->position_error)) {
                s->position_error = worse(s->position_error, fabs(s->g[k]));
                s->worst_position = item->id;
            }
        }
    }
    if (fremond) fremond_start(sim, s);
    // The velocity error that r stands for, M^-1 r, in m/s; and y = A^-1 r for the correction.
    const double* error = sim->y;
    if (!sim->coupled) {
        memcpy(sim->y, s->r, (size_t)nv * sizeof *sim->y);
        lash_block_lu_solve(sim->A, sim->y);
    }
    if (!sim->same_metric || sim->coupled) {
        memcpy(sim->x, s->r, (size_t)nv * sizeof *sim->x);
        lash_block_lu_solve(sim->M, sim->x);
        error = sim->x;
    }
    s->dynamics_error = 0;
    for (int i = 0; i < nv; ++i)
        s->dynamics_error = worse(s->dynamics_error, sim->weight[i] * fabs(error[i]));
    if (!(s->dynamics_error + s->velocity_error + s->position_error < INFINITY))
        fault_of_iterate(sim, s);
}

// --- Correction ----------------------------------------------------------------------------------

// dv into sim->y, P updated; with project tau of the joints too. On entry sim->y = A^-1 r.
// The joints' position errors after the correction are g + G'(h theta dv) = g - h theta U, whatever
// the contacts do.
static void correct_joints(LashSim* sim, StepContext* s, bool project) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = s->list;
    int nv = system->nv, rows = list->bilateral_rows;
    double *y = sim->y, *u = sim->u, *dP = sim->w, *errors = s->g_star, ht = s->h * s->move_theta;
    lash_rows_velocity(system, list, 0, list->bilateral, NULL, s->G, y, u);
    for (int i = 0; i < rows; ++i) {
        u[i] += s->U[i];
        errors[i] = s->g[i] - ht * s->U[i];
    }
    bool together = project && sim->same_metric;
    if (together) {
        lash_joint_solver_solve_two(&sim->velocity_joints, u, errors, dP, sim->dtau);
    } else {
        lash_joint_solver_solve(&sim->velocity_joints, u, dP);
        if (project) lash_joint_solver_solve(&sim->position_joints, errors, sim->dtau);
    }
    double* x = sim->x;
    for (int i = 0; i < nv; ++i) x[i] = 0;
    lash_rows_apply(system, list, 0, list->bilateral, NULL, s->G_star, 1, dP, x);
    lash_block_lu_solve(sim->A, x);
    for (int i = 0; i < nv; ++i) y[i] += x[i];
    for (int i = 0; i < rows; ++i) s->P[i] += dP[i];
    if (!project) return;
    for (int i = 0; i < rows; ++i) s->tau[i] += sim->dtau[i];
    ++sim->info.projection;
}

static bool correct_positions(LashSim* sim, StepContext* s) {
    if (s->nn > 0 && !positions_correct(sim, s)) return false;
    projection_update(sim, s);
    return true;
}

static bool correct(LashSim* sim, StepContext* s, bool project) {
    int nv = sim->system->nv;
    if (sim->coupled) return contact_newton_correct(sim, s, project);
    if (sim->robust && sim->full != NULL && !sim->curved) {
        full_newton_correct(sim, s, project);
    } else {
        for (int i = 0; i < nv; ++i) sim->y[i] = -sim->y[i];
        if (s->list->bilateral > 0) correct_joints(sim, s, project && !sim->curved);
    }
    bool coupled =
        project && s->nn > 0 && sim->settings.coupled && sim->settings.scheme == LASH_DIRECT;
    if (coupled) {
        if (!coupled_correct(sim, s)) return false;
    } else if (s->nc > 0 && !contacts_correct(sim, s)) {
        return false;
    }
    for (int i = 0; i < nv; ++i) s->v[i] += sim->y[i];
    if (!project) return true;
    if (!coupled) return correct_positions(sim, s);
    projection_shift(sim, s, s->shift);
    return true;
}

// --- The loop ------------------------------------------------------------------------------------

static bool passes(const LashSim* sim, const StepContext* s, bool project) {
    const LashSettings* set = &sim->settings;
    if (!(s->dynamics_error <= set->tolerance_velocity)) return false;
    if (!(s->velocity_error <= set->tolerance_velocity)) return false;
    if (!(s->contact_error <= set->tolerance_velocity)) return false;
    return !project || s->position_error <= set->tolerance_position;
}

static double largest_error(const LashSim* sim, const StepContext* s, bool project) {
    const LashSettings* set = &sim->settings;
    double e = worse(s->dynamics_error, worse(s->velocity_error, s->contact_error)) /
               set->tolerance_velocity;
    return project ? worse(e, s->position_error / set->tolerance_position) : e;
}

// Errors are multiples of the tolerances. Newton goes on to GOAL of them, so that what is left does
// not add up over many steps; without rows to close it goes on to rounding, which keeps the energy
// of a free body to the last digits. Linear systems reach LINEAR_GOAL with the first correction,
// unless they are projected: their energy identity then holds to 1e-12.
static double newton_goal(const LashSim* sim, const StepContext* s) {
    static const double GOAL = 0.05, LINEAR_GOAL = 1e-3;
    if (s->list->rows == 0) return 0;
    return sim->system->constant_mass && sim->system->linear_motion ? LINEAR_GOAL : GOAL;
}

static bool evaluate_iterate(LashSim* sim, StepContext* s, bool project) {
    set_positions(sim, s, project);
    if (!evaluate_rows(sim, s)) return false;
    if (!sim->coupled && (!sim->factored || sim->factored_h != s->h) &&
        !step_factor(sim, s, project)) {
        fault_of_iterate(sim, s);
        return false;
    }
    compute_residuals(sim, s);
    contacts_errors(sim, s, project);
    if (sim->coupled && project)
        s->position_error = worse(s->position_error, contact_newton_motion_error(sim, s));
    return true;
}

// Keeps the iterate (v, P, tau), or brings it back and evaluates it again.
static void keep_iterate(LashSim* sim, const StepContext* s) {
    memcpy(sim->kept, s->v, (size_t)sim->system->nv * sizeof *s->v);
    memcpy(sim->kept + sim->system->nv, s->P, (size_t)s->list->rows * sizeof *s->P);
    memcpy(sim->kept + sim->system->nv + s->list->rows, s->tau,
           (size_t)s->list->rows * sizeof *s->tau);
    memcpy(sim->kept_shift, s->shift, (size_t)sim->system->nv * sizeof *s->shift);
}
static bool restore_iterate(LashSim* sim, StepContext* s, bool project) {
    memcpy(s->v, sim->kept, (size_t)sim->system->nv * sizeof *s->v);
    memcpy(s->P, sim->kept + sim->system->nv, (size_t)s->list->rows * sizeof *s->P);
    memcpy(s->tau, sim->kept + sim->system->nv + s->list->rows,
           (size_t)s->list->rows * sizeof *s->tau);
    memcpy(s->shift, sim->kept_shift, (size_t)sim->system->nv * sizeof *s->shift);
    return evaluate_iterate(sim, s, project) && passes(sim, s, project);
}

static double slow_rate(const LashSim* sim, const StepContext* s) {
    if (s->nc > 0 && sim->B != NULL) return SLOW_CONTACTS;
    return sim->velocity_joints.rows > MANY_ROWS ? SLOW_LARGE : SLOW;
}

// For a while, twice as long each time: near a singular position it is a matter of a few steps,
// with thin bodies of the whole run.
static void separate_operators(LashSim* sim) {
    if (sim->separate) return;
    sim->separate_run = sim->separate_run == 0 ? 32 : 2 * sim->separate_run;
    if (sim->separate_run > LONGEST_SEPARATION) sim->separate_run = LONGEST_SEPARATION;
    sim->separate = true;
    sim->separate_steps = sim->separate_run;
}

// The dynamics of light parts are known to rounding only: forces of all contacts over small
// inertias.
static bool at_rounding(const LashSim* sim, const StepContext* s, double goal) {
    const LashSettings* set = &sim->settings;
    return sim->coupled && s->position_error <= goal * set->tolerance_position &&
           worse(s->velocity_error, s->contact_error) <= goal * set->tolerance_velocity;
}

// Does a contact outside the index set penetrate, whatever the rest of the iteration does? Then
// the pass need not be finished: the set grows (combined_projection.c).
static bool clearly_violated(const LashSim* sim, StepContext* s) {
    if (sim->settings.scheme != LASH_COMBINED) return false;
    double left = s->position_error + s->h * (s->contact_error * (1 + s->b_norm) +
                                              s->velocity_error + s->dynamics_error);
    bool found = false;
    for (int i = s->list->bilateral; i < s->list->count && !found; ++i)
        found = !s->active[i] && s->g[s->list->item[i].row] < -2 * left;
    s->unfinished = found;
    return found;
}

// Is a new operator cheaper than what the one at hand would still need? One of an earlier step is
// judged by how far the first correction with such a one came last, and tried again now and then.
static bool renew_coupled(LashSim* sim, const StepContext* s, double error, double last) {
    bool first = s->correction == 0;
    if (s->correction == 1 && sim->used_old) sim->old_rate = error / last;
    if (first && !contact_newton_is_old(sim, s)) return false;
    if (first) return error * (sim->old_rate *= 0.9) > KEEP_BELOW;
    double left = log(error / s->goal) / -log(fmin(error / last, 0.99)); // corrections
    return left > CHORDS;
}

// One coupled correction. False: no answer.
static bool correct_coupled(LashSim* sim, StepContext* s, bool project, double error, double last,
                            bool* plain) {
    bool fits = contact_newton_fits(sim, s, project);
    bool renew = sim->robust || renew_coupled(sim, s, error, last);
    if (s->contact_error < FAR_OFF) *plain = false;
    bool without = fits ? *plain : s->contact_error > FAR_OFF;
    if ((!fits || renew) && !contact_newton_factor(sim, s, project, without)) return false;
    sim->used_old = contact_newton_is_old(sim, s);
    if (correct(sim, s, project)) return true;
    if (contact_newton_is_plain(sim)) return false;
    *plain = true; // with all derivatives there may be no answer
    return contact_newton_factor(sim, s, project, true) && correct(sim, s, project);
}

// Newton until the goal; an iterate that passes is kept in case the next one is no better.
static LashOutcome iterate(LashSim* sim, StepContext* s, bool project) {
    double first = INFINITY, last = INFINITY, kept = INFINITY, rate = 0;
    double goal = newton_goal(sim, s);
    if (sim->settings.full_newton) goal = 1;
    s->goal = goal;
    s->unfinished = false;
    bool plain = false; // contacts: without the derivatives of directions
    int slow = 0, growing = 0, stalled = 0, solved = -1, best_at = 0;
    double best = INFINITY;
    int most = sim->settings.max_iterations;
    if (!sim->robust && most > KEPT_ITERATIONS) most = KEPT_ITERATIONS;
    for (int i = 0; i <= most; ++i) {
        if (sim_stopped(sim) || !evaluate_iterate(sim, s, project)) return LASH_FAILED;
        double error = largest_error(sim, s, project);
        bool pass = passes(sim, s, project);
        if (i == 0) first = error;
        growing = error > last ? growing + 1 : 0;
        if (i > 0 && last > 1) rate = fmin(1, fmax(rate, error / last));
        if (!sim->coupled) sim->contraction_rate = fmax(sim->contraction_rate, rate);
        if (kept < INFINITY && !(error < 0.5 * kept)) { // no better than the one kept
            if (pass && error <= kept) return LASH_CONVERGED;
            return restore_iterate(sim, s, project) ? LASH_CONVERGED : LASH_INACCURATE;
        }
        if (!(error < 1e4 * first + 1) || growing >= 3)
            return LASH_FAILED; // diverges, or not a number
        stalled = error > 0.5 * last ? stalled + 1 : 0;
        if (!sim->robust && stalled >= PATIENCE) return LASH_FAILED; // creeps
        if (error < 0.5 * best) {
            best = error;
            best_at = i;
        }
        if (i - best_at >= CIRCLE) return LASH_FAILED;
        // The contact solver had nothing left to do: its own tolerance is what the rest is.
        bool settled = s->nc > 0 && (sim->robust || sim->info.solver == solved);
        if (i > 0 && pass && (settled || error <= goal || at_rounding(sim, s, goal))) {
            if (rate > POOR && sim->fresh) separate_operators(sim);
            if (rate > slow_rate(sim, s))
                sim->factored = false; // renewed when the next step starts
            sim->fresh = false;
            return LASH_CONVERGED;
        }
        if (i > 0 && pass) {
            keep_iterate(sim, s);
            kept = error;
        }
        if (i > 0 && sim->coupled && clearly_violated(sim, s)) return LASH_CONVERGED;
        if (sim->coupled) {
            s->correction = i;
            if (i == most || !correct_coupled(sim, s, project, error, last, &plain)) break;
            last = error;
            solved = sim->info.solver;
            ++sim->info.newton;
            continue;
        }
        bool old = s->nc > 0 && sim->B != NULL && !sim->has_response && sim->factored_t != s->t0;
        if (sim->robust || old ||
            (i > 1 && error > 0.25 * last && ++slow >= 2)) { // renew the operator here
            if (s->nc > 0) sim->exact = true;
            if (!step_factor(sim, s, project)) return LASH_FAILED;
            compute_residuals(sim, s);
            slow = 0;
        }
        last = error;
        solved = sim->info.solver;
        s->correction = i;
        if (i == most || !correct(sim, s, project)) break;
        ++sim->info.newton;
    }
    return LASH_INACCURATE;
}

static bool can_couple(const LashSim* sim, const StepContext* s) {
    if (sim->contact_newton == NULL || s->nc + s->nn == 0 || sim->settings.full_newton)
        return false;
    if (sim->settings.direction == LASH_AT_START || sim->settings.law == LASH_FREMOND) return false;
    return !(sim->settings.coupled && sim->settings.scheme == LASH_DIRECT);
}

static LashOutcome solve_coupled(LashSim* sim, StepContext* s, bool project) {
    sim->coupled = true;
    LashOutcome outcome = iterate(sim, s, project);
    if (outcome != LASH_CONVERGED && sim->settings.max_substeps == 1) {
        sim->robust = true;
        step_guess(sim, s);
        outcome = iterate(sim, s, project);
        sim->robust = false;
    }
    sim->coupled = false;
    return outcome;
}

// With contacts the coupled correction (contact_newton.c), where there is one. Otherwise, and where
// that fails: with the kept operator, and if that does not converge again with the full Newton
// matrix in every iteration. Where that was needed the next steps begin with it, more of them each
// time in a row: a mechanism passes a singular position in a few steps or stays near it for long.
LashOutcome step_solve(LashSim* sim, StepContext* s, bool project) {
    if (!contacts_list(sim, s)) return LASH_FAILED;
    LashOutcome outcome = LASH_INACCURATE;
    bool possible = can_couple(sim, s);
    sim->coupled_run = possible;
    if (possible) {
        outcome = solve_coupled(sim, s, project);
        if (outcome == LASH_CONVERGED || shorter_first(sim, s)) return outcome;
        sim->robust = true;
        sim->coupled_run = false;
        step_guess(sim, s);
        outcome = iterate(sim, s, project);
        sim->robust = sim->factored = false;
        return outcome;
    }
    bool chosen = sim->settings.full_newton, skip = !chosen && sim->singular_steps > 0;
    if (!skip) outcome = iterate(sim, s, project);
    if (outcome == LASH_CONVERGED || chosen) {
        sim->singular_run = 0;
        return outcome;
    }
    sim->robust = true;
    if (!skip) {
        sim->singular_run = sim->singular_run == 0 ? 1 : 2 * sim->singular_run;
        if (sim->singular_run > LONGEST_RUN) sim->singular_run = LONGEST_RUN;
        sim->singular_steps = sim->singular_run + 1;
        step_guess(sim, s);
    }
    outcome = iterate(sim, s, project);
    sim->robust = sim->factored = false;
    return outcome;
}

// --- Beginning and end ---------------------------------------------------------------------------

// What the list consists of: an operator fits only the one that it was made for.
static void mark_list(LashSim* sim, const StepContext* s) {
    uint64_t key = (uint64_t)s->list->count;
    for (int i = s->list->bilateral; i < s->list->count; ++i)
        key = (key ^ s->list->item[i].id) * 0x100000001b3u; // FNV
    sim->list_key = key;
}

void step_begin(LashSim* sim, StepContext* s, double h) {
    const LashSystem* system = sim->system;
    s->t0 = sim->t;
    s->h = h;
    s->theta = sim->settings.theta;
    s->move_theta = sim->settings.variant ? 0.5 : s->theta;
    s->list = system->collect(system, sim->work, sim->t, sim->q, sim->v, h, sim->reach);
    s->worst_velocity = s->worst_position = s->worst_gap = LASH_NOWHERE;
    s->restitution = 1;
    s->demoted = 0;
    s->nc = 0;
    s->nn = 0;
    for (int i = 0; i < s->list->count; ++i) {
        s->active[i] = s->wanted[i] = i < s->list->bilateral;
        s->position[i] = POSITION_FREE;
        s->has_U_start[i] = 0;
    }
    mark_list(sim, s);
    step_guess(sim, s);
    for (int i = s->list->bilateral; i < s->list->count; ++i) {
        if (joint_friction(&s->list->item[i])) step_activate(sim, s, i);
    }
}
