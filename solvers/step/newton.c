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

void projection_force(LashSim* sim, const Step* step, double* x) {
    const LashSystem* system = sim->system;
    lash_rows_apply(system, step->list, 0, step->list->bilateral, NULL, step->G, 1, step->tau, x);
    for (int k = 0; k < step->nn; ++k) {
        const LashInteraction* item = &step->list->item[step->normal[k]];
        double only_normal[LASH_MAX_ROWS] = {step->tau[item->row]};
        lash_row_apply(system, item, step->G, 1, only_normal, x);
    }
}

void projection_shift(LashSim* sim, const Step* step, double* x) {
    for (int i = 0; i < sim->system->nv; ++i) x[i] = 0;
    projection_force(sim, step, x);
    if (!sim->system->unit_metric)
        lash_block_lu_solve(sim->operators.same_metric ? sim->operators.A : sim->operators.M, x);
}

void projection_update(LashSim* sim, Step* step) {
    if (!sim->operators.curved) {
        projection_shift(sim, step, step->shift);
        return;
    }
    Scratch scratch = scratch_begin(sim);
    double *moved = scratch_velocity(sim), ht = step->h * step->move_theta;
    increment_so_far(sim, step, moved);
    for (int i = 0; i < sim->system->nv; ++i) step->shift[i] += moved[i] - ht * step->dv[i];
    scratch_end(sim, scratch);
}

// d = h v_theta + N G tau; q_end, q_theta, v_theta. The shift is the guessed one when a pass
// begins.
static void set_positions(LashSim* sim, Step* step, bool project) {
    const LashSystem* system = sim->system;
    double w = step->move_theta, moved = step->h * w, before = step->h * (1 - w),
           theta = step->theta;
    for (int i = 0; i < system->nv; ++i) {
        step->d[i] = before * sim->now.v[i] + moved * step->v[i];
        step->v_theta[i] = (1 - theta) * sim->now.v[i] + theta * step->v[i];
    }
    for (int i = 0; i < system->nv && project; ++i) step->d[i] += step->shift[i];
    system->move(system, sim->now.q, 1, step->d, step->q_end);
    system->move(system, sim->now.q, theta, step->d, step->q_theta);
}

bool sim_evaluate(LashSim* sim, double t, const double* q, const uint8_t* wanted, double* g,
                  double* g_t, double* G) {
    bool good = sim->system->evaluate(sim->system, sim->work, t, q, wanted, g, g_t, G);
    sim->step.outside = sim->step.outside || !good;
    return good;
}

// A contact that has a place at the end of the step but none where its impulse would point: it
// points as at the end.
static void complete_directions(const LashSim* sim, Step* step) {
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        if (!step->wanted[i] || item->kind != LASH_UNILATERAL) continue;
        if (step->g_star[item->row] < INFINITY || step->g[item->row] == INFINITY) continue;
        int n = 0;
        for (int b = 0; b < item->touched; ++b) n += lash_block_size(sim->system, item->block[b]);
        memcpy(step->G_star + item->offset, step->G + item->offset,
               (size_t)(n * item->rows) * sizeof *step->G);
        memcpy(step->g_t_star + item->row, step->g_t + item->row,
               (size_t)item->rows * sizeof *step->g_t);
    }
}

static bool evaluate_rows(LashSim* sim, Step* step) {
    double t_end = step->t0 + step->h, t_theta = step->t0 + step->theta * step->h;
    bool fremond = sim->settings.law == LASH_FREMOND;
    switch (sim->settings.direction) {
        case LASH_AT_MIDPOINT:
            if (!sim_evaluate(sim, t_theta, step->q_theta, step->wanted, step->g_star,
                              fremond ? step->g_t_star : NULL, step->G_star))
                return false;
            if (!sim_evaluate(sim, t_end, step->q_end, step->wanted, step->g, step->g_t, step->G))
                return false;
            drivers_hold(sim, step, step->g_t, step->g);
            complete_directions(sim, step);
            return true;
        case LASH_AT_END:
            if (!sim_evaluate(sim, t_end, step->q_end, step->wanted, step->g, step->g_t, step->G))
                return false;
            drivers_hold(sim, step, step->g_t, step->g);
            memcpy(step->G_star, step->G, (size_t)step->list->G_size * sizeof *step->G);
            memcpy(step->g_t_star, step->g_t, (size_t)step->list->rows * sizeof *step->g_t);
            return true;
        case LASH_AT_START: // rows and impulses at q_k; the gaps are those of the end
            if (!sim_evaluate(sim, t_end, step->q_end, step->wanted, step->g, step->g_t, NULL))
                return false;
            drivers_hold(sim, step, step->g_t, step->g);
            if (!sim_evaluate(sim, step->t0, sim->now.q, step->wanted, step->g_star, step->g_t,
                              step->G))
                return false;
            memcpy(step->G_star, step->G, (size_t)step->list->G_size * sizeof *step->G);
            memcpy(step->g_t_star, step->g_t, (size_t)step->list->rows * sizeof *step->g_t);
            return true;
    }
    return false;
}

// r, U and the errors of the iterate.
static void compute_residuals(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    int nv = system->nv;
    if (!system->constant_mass)
        system->mass(system, sim->work, step->q_theta, sim->operators.M_values);
    system->forces(system, sim->work, step->t0 + step->theta * step->h, step->q_theta,
                   step->v_theta, step->F);
    Scratch scratch = scratch_begin(sim);
    double* x = scratch_velocity(sim); // v - v_k, then M^-1 r
    for (int i = 0; i < nv; ++i) x[i] = step->v[i] - sim->now.v[i];
    lash_block_multiply(system, sim->operators.M_values, x, step->r);
    for (int i = 0; i < nv; ++i) step->r[i] -= step->h * step->F[i];
    lash_rows_apply(system, list, 0, list->count, step->active, step->G_star, -1, step->P, step->r);
    lash_rows_velocity(system, list, 0, list->bilateral, NULL, step->G, step->v, step->U);
    lash_rows_velocity(system, list, list->bilateral, list->count, step->wanted,
                       law_rows(sim, step), step->v, step->U);
    bool fremond = sim->settings.law == LASH_FREMOND;
    step->velocity_error = 0;
    step->position_error = 0;
    for (int i = 0; i < list->count; ++i) {
        if (!step->wanted[i]) continue;
        const LashInteraction* item = &list->item[i];
        for (int k = item->row; k < item->row + item->rows; ++k) {
            step->U[k] += i >= list->bilateral && fremond ? step->g_t_star[k] : step->g_t[k];
            if (i >= list->bilateral) continue;
            if (!(fabs(step->U[k]) <= step->velocity_error)) {
                step->velocity_error = worse(step->velocity_error, fabs(step->U[k]));
                step->worst_velocity = item->id;
            }
            if (!(fabs(step->g[k]) <= step->position_error)) {
                step->position_error = worse(step->position_error, fabs(step->g[k]));
                step->worst_position = item->id;
            }
        }
    }
    if (fremond) fremond_start(sim, step);
    // The velocity error that r stands for, M^-1 r, in m/s; and A^-1 r for the correction.
    const double* error = step->answer;
    if (!sim->coupled) {
        memcpy(step->answer, step->r, (size_t)nv * sizeof *step->answer);
        lash_block_lu_solve(sim->operators.A, step->answer);
    }
    if (!sim->operators.same_metric || sim->coupled) {
        memcpy(x, step->r, (size_t)nv * sizeof *x);
        lash_block_lu_solve(sim->operators.M, x);
        error = x;
    }
    step->dynamics_error = 0;
    for (int i = 0; i < nv; ++i)
        step->dynamics_error = worse(step->dynamics_error, sim->weight[i] * fabs(error[i]));
    scratch_end(sim, scratch);
    if (!(step->dynamics_error + step->velocity_error + step->position_error < INFINITY))
        fault_of_iterate(sim, step);
}

// --- Correction ----------------------------------------------------------------------------------

// dv = -A^-1 r is completed, P updated; with project tau of the joints too.
// The joints' position errors after the correction are g + G'(h theta dv) = g - h theta U, whatever
// the contacts do.
static void correct_joints(LashSim* sim, Step* step, bool project) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    int nv = system->nv, rows = list->bilateral_rows;
    Scratch scratch = scratch_begin(sim);
    double *y = step->dv, *x = scratch_velocity(sim), *u = scratch_rows(sim),
           *dP = scratch_rows(sim), *errors = scratch_rows(sim), ht = step->h * step->move_theta;
    lash_rows_velocity(system, list, 0, list->bilateral, NULL, step->G, y, u);
    for (int i = 0; i < rows; ++i) {
        u[i] += step->U[i];
        errors[i] = step->g[i] - ht * step->U[i];
    }
    bool together = project && sim->operators.same_metric;
    if (together) {
        lash_joint_solver_solve_two(&sim->operators.velocity_joints, u, errors, dP, step->dtau);
    } else {
        lash_joint_solver_solve(&sim->operators.velocity_joints, u, dP);
        if (project) lash_joint_solver_solve(&sim->operators.position_joints, errors, step->dtau);
    }
    joints_push(sim, step, step->G_star, dP, sim->operators.A, x);
    for (int i = 0; i < nv; ++i) y[i] += x[i];
    for (int i = 0; i < rows; ++i) step->P[i] += dP[i];
    scratch_end(sim, scratch);
    if (!project) return;
    for (int i = 0; i < rows; ++i) step->tau[i] += step->dtau[i];
    ++sim->info.projection;
}

static bool correct_positions(LashSim* sim, Step* step) {
    if (step->nn > 0 && !positions_correct(sim, step)) return false;
    projection_update(sim, step);
    return true;
}

static bool correct(LashSim* sim, Step* step, bool project) {
    int nv = sim->system->nv;
    if (sim->coupled) return contact_newton_correct(sim, step, project);
    if (sim->robust && sim->operators.full != NULL && !sim->operators.curved) {
        full_newton_correct(sim, step, project);
    } else {
        for (int i = 0; i < nv; ++i) step->dv[i] = -step->answer[i];
        if (step->list->bilateral > 0) correct_joints(sim, step, project && !sim->operators.curved);
    }
    bool coupled =
        project && step->nn > 0 && sim->settings.coupled && sim->settings.scheme == LASH_DIRECT;
    if (coupled) {
        if (!coupled_correct(sim, step)) return false;
    } else if (step->nc > 0 && !contacts_correct(sim, step)) {
        return false;
    }
    for (int i = 0; i < nv; ++i) step->v[i] += step->dv[i];
    if (!project) return true;
    if (!coupled) return correct_positions(sim, step);
    projection_shift(sim, step, step->shift);
    return true;
}

// --- The loop ------------------------------------------------------------------------------------

static bool passes(const LashSim* sim, const Step* step, bool project) {
    const LashSettings* set = &sim->settings;
    if (!(step->dynamics_error <= set->tolerance_velocity)) return false;
    if (!(step->velocity_error <= set->tolerance_velocity)) return false;
    if (!(step->contact_error <= set->tolerance_velocity)) return false;
    return !project || step->position_error <= set->tolerance_position;
}

static double largest_error(const LashSim* sim, const Step* step, bool project) {
    const LashSettings* set = &sim->settings;
    double e = worse(step->dynamics_error, worse(step->velocity_error, step->contact_error)) /
               set->tolerance_velocity;
    return project ? worse(e, step->position_error / set->tolerance_position) : e;
}

// Errors are multiples of the tolerances. Newton goes on to GOAL of them, so that what is left does
// not add up over many steps; without rows to close it goes on to rounding, which keeps the energy
// of a free body to the last digits. Linear systems reach LINEAR_GOAL with the first correction,
// unless they are projected: their energy identity then holds to 1e-12.
static double newton_goal(const LashSim* sim, const Step* step) {
    static const double GOAL = 0.05, LINEAR_GOAL = 1e-3;
    if (step->list->rows == 0) return 0;
    return sim->system->constant_mass && sim->system->linear_motion ? LINEAR_GOAL : GOAL;
}

static bool evaluate_iterate(LashSim* sim, Step* step, bool project) {
    set_positions(sim, step, project);
    if (!evaluate_rows(sim, step)) return false;
    if (!sim->coupled && (!sim->operators.factored || sim->operators.factored_h != step->h) &&
        !step_factor(sim, step, project)) {
        fault_of_iterate(sim, step);
        return false;
    }
    compute_residuals(sim, step);
    contacts_errors(sim, step, project);
    if (sim->coupled && project)
        step->position_error = worse(step->position_error, contact_newton_motion_error(sim, step));
    return true;
}

// Keeps the iterate (v, P, tau), or brings it back and evaluates it again.
static void keep_iterate(LashSim* sim, const Step* step) {
    memcpy(step->kept, step->v, (size_t)sim->system->nv * sizeof *step->v);
    memcpy(step->kept + sim->system->nv, step->P, (size_t)step->list->rows * sizeof *step->P);
    memcpy(step->kept + sim->system->nv + step->list->rows, step->tau,
           (size_t)step->list->rows * sizeof *step->tau);
    memcpy(step->kept_shift, step->shift, (size_t)sim->system->nv * sizeof *step->shift);
}
static bool restore_iterate(LashSim* sim, Step* step, bool project) {
    memcpy(step->v, step->kept, (size_t)sim->system->nv * sizeof *step->v);
    memcpy(step->P, step->kept + sim->system->nv, (size_t)step->list->rows * sizeof *step->P);
    memcpy(step->tau, step->kept + sim->system->nv + step->list->rows,
           (size_t)step->list->rows * sizeof *step->tau);
    memcpy(step->shift, step->kept_shift, (size_t)sim->system->nv * sizeof *step->shift);
    return evaluate_iterate(sim, step, project) && passes(sim, step, project);
}

static double slow_rate(const LashSim* sim, const Step* step) {
    if (step->nc > 0 && sim->operators.B != NULL) return SLOW_CONTACTS;
    return sim->operators.velocity_joints.rows > MANY_ROWS ? SLOW_LARGE : SLOW;
}

// For a while, twice as long each time: near a singular position it is a matter of a few steps,
// with thin bodies of the whole run.
static void separate_operators(LashSim* sim) {
    if (sim->experience.separate) return;
    sim->experience.separate_run =
        sim->experience.separate_run == 0 ? 32 : 2 * sim->experience.separate_run;
    if (sim->experience.separate_run > LONGEST_SEPARATION)
        sim->experience.separate_run = LONGEST_SEPARATION;
    sim->experience.separate = true;
    sim->experience.separate_steps = sim->experience.separate_run;
}

// The dynamics of light parts are known to rounding only: forces of all contacts over small
// inertias.
static bool at_rounding(const LashSim* sim, const Step* step, double goal) {
    const LashSettings* set = &sim->settings;
    return sim->coupled && step->position_error <= goal * set->tolerance_position &&
           worse(step->velocity_error, step->contact_error) <= goal * set->tolerance_velocity;
}

// Does a contact outside the index set penetrate, whatever the rest of the iteration does? Then
// the pass need not be finished: the set grows (combined_projection.c).
static bool clearly_violated(const LashSim* sim, Step* step) {
    if (sim->settings.scheme != LASH_COMBINED) return false;
    double left = step->position_error + step->h * (step->contact_error * (1 + step->b_norm) +
                                                    step->velocity_error + step->dynamics_error);
    bool found = false;
    for (int i = step->list->bilateral; i < step->list->count && !found; ++i)
        found = !step->active[i] && step->g[step->list->item[i].row] < -2 * left;
    step->unfinished = found;
    return found;
}

// Is a new operator cheaper than what the one at hand would still need? One of an earlier step is
// judged by how far the first correction with such a one came last, and tried again now and then.
static bool renew_coupled(LashSim* sim, const Step* step, double error, double last) {
    bool first = step->correction == 0;
    if (step->correction == 1 && sim->experience.used_old) sim->experience.old_rate = error / last;
    if (first && !contact_newton_is_old(sim, step)) return false;
    if (first) return error * (sim->experience.old_rate *= 0.9) > KEEP_BELOW;
    double left = log(error / step->goal) / -log(fmin(error / last, 0.99)); // corrections
    return left > CHORDS;
}

// One coupled correction. False: no answer.
static bool correct_coupled(LashSim* sim, Step* step, bool project, double error, double last,
                            bool* plain) {
    bool fits = contact_newton_fits(sim, step, project);
    bool renew = sim->robust || renew_coupled(sim, step, error, last);
    if (step->contact_error < FAR_OFF) *plain = false;
    bool without = fits ? *plain : step->contact_error > FAR_OFF;
    if ((!fits || renew) && !contact_newton_factor(sim, step, project, without)) return false;
    sim->experience.used_old = contact_newton_is_old(sim, step);
    if (correct(sim, step, project)) return true;
    if (contact_newton_is_plain(sim)) return false;
    *plain = true; // with all derivatives there may be no answer
    return contact_newton_factor(sim, step, project, true) && correct(sim, step, project);
}

// Newton until the goal; an iterate that passes is kept in case the next one is no better.
static LashOutcome iterate(LashSim* sim, Step* step, bool project) {
    double first = INFINITY, last = INFINITY, kept = INFINITY, rate = 0;
    double goal = newton_goal(sim, step);
    if (sim->settings.full_newton) goal = 1;
    step->goal = goal;
    step->unfinished = false;
    bool plain = false; // contacts: without the derivatives of directions
    int slow = 0, growing = 0, stalled = 0, solved = -1, best_at = 0;
    double best = INFINITY;
    int most = sim->settings.max_iterations;
    if (!sim->robust && most > KEPT_ITERATIONS) most = KEPT_ITERATIONS;
    for (int i = 0; i <= most; ++i) {
        if (sim_stopped(sim) || !evaluate_iterate(sim, step, project)) return LASH_FAILED;
        double error = largest_error(sim, step, project);
        bool pass = passes(sim, step, project);
        if (i == 0) first = error;
        growing = error > last ? growing + 1 : 0;
        if (i > 0 && last > 1) rate = fmin(1, fmax(rate, error / last));
        if (!sim->coupled)
            sim->experience.contraction_rate = fmax(sim->experience.contraction_rate, rate);
        if (kept < INFINITY && !(error < 0.5 * kept)) { // no better than the one kept
            if (pass && error <= kept) return LASH_CONVERGED;
            return restore_iterate(sim, step, project) ? LASH_CONVERGED : LASH_INACCURATE;
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
        bool settled = step->nc > 0 && (sim->robust || sim->info.solver == solved);
        if (i > 0 && pass && (settled || error <= goal || at_rounding(sim, step, goal))) {
            if (rate > POOR && sim->operators.fresh) separate_operators(sim);
            if (rate > slow_rate(sim, step))
                sim->operators.factored = false; // renewed when the next step starts
            sim->operators.fresh = false;
            return LASH_CONVERGED;
        }
        if (i > 0 && pass) {
            keep_iterate(sim, step);
            kept = error;
        }
        if (i > 0 && sim->coupled && clearly_violated(sim, step)) return LASH_CONVERGED;
        if (sim->coupled) {
            step->correction = i;
            if (i == most || !correct_coupled(sim, step, project, error, last, &plain)) break;
            last = error;
            solved = sim->info.solver;
            ++sim->info.newton;
            continue;
        }
        bool old = step->nc > 0 && sim->operators.B != NULL && !sim->operators.has_response &&
                   sim->operators.factored_t != step->t0;
        if (sim->robust || old ||
            (i > 1 && error > 0.25 * last && ++slow >= 2)) { // renew the operator here
            if (step->nc > 0) sim->operators.exact = true;
            if (!step_factor(sim, step, project)) return LASH_FAILED;
            compute_residuals(sim, step);
            slow = 0;
        }
        last = error;
        solved = sim->info.solver;
        step->correction = i;
        if (i == most || !correct(sim, step, project)) break;
        ++sim->info.newton;
    }
    return LASH_INACCURATE;
}

static bool can_couple(const LashSim* sim, const Step* step) {
    if (sim->operators.contacts == NULL || step->nc + step->nn == 0 || sim->settings.full_newton)
        return false;
    if (sim->settings.direction == LASH_AT_START || sim->settings.law == LASH_FREMOND) return false;
    return !(sim->settings.coupled && sim->settings.scheme == LASH_DIRECT);
}

static LashOutcome solve_coupled(LashSim* sim, Step* step, bool project) {
    sim->coupled = true;
    LashOutcome outcome = iterate(sim, step, project);
    if (outcome != LASH_CONVERGED && sim->settings.max_substeps == 1) {
        sim->robust = true;
        step_guess(sim, step);
        outcome = iterate(sim, step, project);
        sim->robust = false;
    }
    sim->coupled = false;
    return outcome;
}

// With contacts the coupled correction (contact_newton.c), where there is one. Otherwise, and where
// that fails: with the kept operator, and if that does not converge again with the full Newton
// matrix in every iteration. Where that was needed the next steps begin with it, more of them each
// time in a row: a mechanism passes a singular position in a few steps or stays near it for long.
LashOutcome step_solve(LashSim* sim, Step* step, bool project) {
    if (!contacts_list(sim, step)) return LASH_FAILED;
    LashOutcome outcome = LASH_INACCURATE;
    bool possible = can_couple(sim, step);
    sim->coupled_run = possible;
    if (possible) {
        outcome = solve_coupled(sim, step, project);
        if (outcome == LASH_CONVERGED || shorter_first(sim, step)) return outcome;
        sim->robust = true;
        sim->coupled_run = false;
        step_guess(sim, step);
        outcome = iterate(sim, step, project);
        sim->robust = sim->operators.factored = false;
        return outcome;
    }
    bool chosen = sim->settings.full_newton, skip = !chosen && sim->experience.singular_steps > 0;
    if (!skip) outcome = iterate(sim, step, project);
    if (outcome == LASH_CONVERGED || chosen) {
        sim->experience.singular_run = 0;
        return outcome;
    }
    sim->robust = true;
    if (!skip) {
        sim->experience.singular_run =
            sim->experience.singular_run == 0 ? 1 : 2 * sim->experience.singular_run;
        if (sim->experience.singular_run > LONGEST_RUN) sim->experience.singular_run = LONGEST_RUN;
        sim->experience.singular_steps = sim->experience.singular_run + 1;
        step_guess(sim, step);
    }
    outcome = iterate(sim, step, project);
    sim->robust = sim->operators.factored = false;
    return outcome;
}

// --- Beginning and end ---------------------------------------------------------------------------

// What the list consists of: an operator fits only the one that it was made for.
static void mark_list(Step* step) {
    uint64_t key = (uint64_t)step->list->count;
    for (int i = step->list->bilateral; i < step->list->count; ++i)
        key = (key ^ step->list->item[i].id) * 0x100000001b3u; // FNV
    step->list_key = key;
}

void step_begin(LashSim* sim, Step* step, double h) {
    const LashSystem* system = sim->system;
    step->t0 = sim->now.t;
    step->h = h;
    step->theta = sim->settings.theta;
    step->move_theta = sim->settings.variant ? 0.5 : step->theta;
    step->list =
        system->collect(system, sim->work, sim->now.t, sim->now.q, sim->now.v, h, sim->reach);
    step->worst_velocity = step->worst_position = step->worst_gap = LASH_NOWHERE;
    step->restitution = 1;
    step->demoted = 0;
    step->nc = 0;
    step->nn = 0;
    for (int i = 0; i < step->list->count; ++i) {
        step->active[i] = step->wanted[i] = i < step->list->bilateral;
        step->position[i] = POSITION_FREE;
        step->has_U_start[i] = 0;
    }
    mark_list(step);
    step_guess(sim, step);
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (joint_friction(&step->list->item[i])) step_activate(sim, step, i);
    }
}
