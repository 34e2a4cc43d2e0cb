// The nonlinear problem of one step for a given set of active contacts: Newton's method.
//
// Every iteration evaluates all residuals at the iterate, afresh (residual.c), judges how it is
// going, and corrects (operator.h). An operator may be old or lack derivatives: that costs
// corrections, never accuracy. The iteration ends when the recomputed residuals pass, and never
// before one correction has been made.
//
// What does not converge is tried again, harder: attempts in the order of operator.h.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/schemes/scheme.h"
#include "solvers/step/sparse_newton_internal.h"

// --- Judgement -----------------------------------------------------------------------------------

typedef enum Verdict {
    GO_ON,
    PASSES,    // likewise, but this iterate would do
    DONE,      // the iterate is the solution
    TAKE_KEPT, // the one kept before is better
    GIVE_UP
} Verdict;

static bool passes(const LashSim* sim, const Step* step) {
    const LashSettings* set = &sim->settings;
    if (!(step->dynamics_error <= set->tolerance_velocity)) return false;
    if (!(step->velocity_error <= set->tolerance_velocity)) return false;
    if (!(step->contact_error <= set->tolerance_velocity)) return false;
    return step->levels == VELOCITIES || step->position_error <= set->tolerance_position;
}

static double largest_error(const LashSim* sim, const Step* step) {
    const LashSettings* set = &sim->settings;
    double e = worse(step->dynamics_error, worse(step->velocity_error, step->contact_error)) /
               set->tolerance_velocity;
    return step->levels == VELOCITIES ? e
                                      : worse(e, step->position_error / set->tolerance_position);
}

// Without rows to close Newton goes on to rounding, which keeps the energy of a free body to the
// last digits. Where the operator is a new one for every correction it stops at the tolerances:
// users ask for that, or impulses are second differences of positions, in which more corrections
// would only leave more rounding.
static double newton_goal(const LashSim* sim, const Step* step) {
    if (sim->settings.full_newton) return 1;
    if (step->levels == GAPS) return tuning.linear_goal;
    if (step->list->rows == 0) return 0;
    bool linear = sim->system->constant_mass && sim->system->linear_motion;
    return linear ? tuning.linear_goal : tuning.goal;
}

// The dynamics of light parts are known to rounding only: forces of all contacts over small
// inertias.
static bool at_rounding(const LashSim* sim, const Step* step) {
    const LashSettings* set = &sim->settings;
    return attempt_couples(step->attempt) &&
           step->position_error <= step->goal * set->tolerance_position &&
           worse(step->velocity_error, step->contact_error) <= step->goal * set->tolerance_velocity;
}

// Does a contact outside the active set penetrate, whatever the rest of the iteration does? Then
// the pass need not be finished: the set grows.
static bool clearly_violated(const LashSim* sim, Step* step) {
    if (sim->scheme->projection != PROJECTS_PUSHED) return false;
    double left = step->position_error + step->h * (step->contact_error * (1 + step->b_norm) +
                                                    step->velocity_error + step->dynamics_error);
    bool found = false;
    for (int i = step->list->bilateral; i < step->list->count && !found; ++i)
        found = !step->active[i] && step->g[step->list->item[i].row] < -2 * left;
    step->unfinished = found;
    return found;
}

static Convergence convergence_begin(const LashSim* sim, const Step* step) {
    int most = sim->settings.max_iterations;
    if (!attempt_renews(step->attempt) && most > tuning.kept_iterations)
        most = tuning.kept_iterations;
    return (Convergence){.most = most,
                         .first = INFINITY,
                         .last = INFINITY,
                         .kept = INFINITY,
                         .best = INFINITY,
                         .solver = -1,
                         .enough = -1,
                         .solver_first = sim->info.solver,
                         .derivatives = DERIVATIVES_ALL};
}

static void measure(LashSim* sim, const Step* step, Convergence* convergence) {
    double error = largest_error(sim, step), last = convergence->last;
    convergence->error = error;
    // A pass may begin from the solution of the one before, and leave it first.
    if (convergence->i == 0 || (convergence->i == 1 && error > convergence->first))
        convergence->first = error;
    convergence->growing = error > last ? convergence->growing + 1 : 0;
    if (convergence->i > 0 && last > 1)
        convergence->rate = fmin(1, fmax(convergence->rate, error / last));
    if (attempt_couples(step->attempt)) return;
    sim->experience.contraction_rate = fmax(sim->experience.contraction_rate, convergence->rate);
}

// Diverges (or is not a number), creeps, or runs in a circle.
static bool hopeless(const Step* step, Convergence* convergence) {
    double error = convergence->error;
    if (!(error < tuning.diverged * convergence->first + 1)) return true;
    if (convergence->growing >= tuning.growing) return true;
    bool creeps = error > tuning.gain * convergence->last;
    convergence->stalled = creeps ? convergence->stalled + 1 : 0;
    if (!attempt_renews(step->attempt) && convergence->stalled >= tuning.patience) return true;
    if (error < tuning.gain * convergence->best) {
        convergence->best = error;
        convergence->best_at = convergence->i;
    }
    return convergence->i - convergence->best_at >= tuning.circle;
}

// Is there nothing left that another correction would improve? Where the contact solver had
// nothing to do, its own tolerance is what the rest is.
static bool settled(const LashSim* sim, const Step* step, const Convergence* convergence) {
    bool idle = attempt_couples(step->attempt) || attempt_renews(step->attempt) ||
                sim->info.solver == convergence->solver;
    if (step->nc > 0 && idle && step->levels != GAPS) return true;
    return convergence->error <= step->goal || at_rounding(sim, step);
}

static Verdict judge(LashSim* sim, Step* step, Convergence* convergence) {
    bool pass = passes(sim, step);
    measure(sim, step, convergence);
    if (convergence->kept < INFINITY && !(convergence->error < tuning.gain * convergence->kept))
        return pass && convergence->error <= convergence->kept ? DONE : TAKE_KEPT;
    if (hopeless(step, convergence)) return GIVE_UP;
    if (convergence->i == 0 && pass && convergence->solved) return DONE;
    if (convergence->i == 0) return convergence->error <= convergence->enough ? DONE : GO_ON;
    if (pass && settled(sim, step, convergence)) {
        operator_learn(sim, step, convergence->rate);
        return DONE;
    }
    if (pass) convergence->kept = convergence->error;
    return pass ? PASSES : GO_ON;
}

// Need the pass not be finished?
static bool ends_early(const LashSim* sim, Step* step) {
    return step->correction > 0 && attempt_couples(step->attempt) && clearly_violated(sim, step);
}

// So much was done that it is given up. A body that turns by half a radian in a step leaves a tenth of
// the error with each correction: what still comes nearer goes on.
static bool exhausted(const LashSim* sim, const Step* step, const Convergence* convergence) {
    bool couples = attempt_couples(step->attempt);
    int work = sim->info.solver - convergence->solver_first;
    if (couples && work > (sim->jam.tried ? jam_work(step) : tuning.most_work)) return true;
    if (convergence->i < convergence->most) return false;
    bool nearer = convergence->error < tuning.gain * convergence->last;
    return !couples || !nearer || convergence->i >= sim->settings.max_iterations;
}

// --- The loop ------------------------------------------------------------------------------------

static bool evaluate(LashSim* sim, Step* step, const Operator* operator) {
    residual_places(sim, step);
    if (!residual_rows(sim, step)) return false;
    if (operator->prepare != NULL && !operator->prepare(sim, step)) return false;
    residual_errors(sim, step);
    return true;
}

static LashOutcome take_kept(LashSim* sim, Step* step, const Operator* operator) {
    iterate_restore(sim, step);
    return evaluate(sim, step, operator) && passes(sim, step) ? LASH_CONVERGED : LASH_INACCURATE;
}

static LashOutcome iterate(LashSim* sim, Step* step, const Operator* operator) {
    Convergence convergence = convergence_begin(sim, step);
    step->goal = newton_goal(sim, step);
    step->unfinished = step->foreseen = false;
    for (;; ++convergence.i) {
        step->correction = convergence.i;
        if (sim_stopped(sim) || !evaluate(sim, step, operator)) return LASH_FAILED;
        Verdict verdict = judge(sim, step, &convergence);
        if (verdict == DONE) return LASH_CONVERGED;
        if (verdict == TAKE_KEPT) return take_kept(sim, step, operator);
        if (verdict == GIVE_UP) return LASH_FAILED;
        if (verdict == PASSES) iterate_keep(sim, step);
        if (ends_early(sim, step)) return LASH_CONVERGED;
        if (exhausted(sim, step, &convergence)) return LASH_INACCURATE;
        if (!operator->renew(sim, step, &convergence)) return LASH_FAILED;
        convergence.last = convergence.error;
        convergence.solver = sim->info.solver;
        if (!operator->correct(sim, step, &convergence)) return LASH_INACCURATE;
        ++sim->info.newton;
    }
}

// --- The same, island by island ------------------------------------------------------------------

// All are evaluated together; each is judged by its own errors, and what is solved stays as it is while
// others go on.
typedef struct Round {
    int open;      // islands that go on
    bool restored; // one was brought back to an iterate that passes: errors are of another
} Round;

static void end_island(LashSim* sim, Step* step, int k, bool restore, Round* round) {
    Islands* islands = sim->operators.sparse;
    islands->done[k] = true;
    islands->island[k]->solved = sim->predictor.guesses;
    if (!restore) return;
    island_restore(sim, step, islands->island[k]);
    round->restored = true;
}

// False: an island cannot be solved.
static bool judge_islands(LashSim* sim, Step* step, Round* round) {
    Islands* islands = sim->operators.sparse;
    Verdict verdict = GO_ON;
    round->open = 0;
    for (int k = 0; k < islands->count && verdict != GIVE_UP; ++k) {
        if (islands->done[k]) continue;
        island_focus(sim, step, k);
        islands->convergence[k].i = step->correction;
        verdict = judge(sim, step, &islands->convergence[k]);
        if (verdict == PASSES) island_keep(sim, step, islands->island[k]);
        if (verdict == DONE || verdict == TAKE_KEPT)
            end_island(sim, step, k, verdict == TAKE_KEPT, round);
        else
            ++round->open;
    }
    islands_unfocus(sim, step);
    return verdict != GIVE_UP;
}

// False: there is no answer, and no iterate before that would do.
static bool correct_islands(LashSim* sim, Step* step, Round* round) {
    Islands* islands = sim->operators.sparse;
    bool good = true, corrected = false;
    for (int k = 0; k < islands->count && good; ++k) {
        if (islands->done[k]) continue;
        SparseNewton* newton = islands->island[k];
        Convergence* convergence = &islands->convergence[k];
        island_focus(sim, step, k);
        sparse_renew(sim, step, newton, convergence);
        convergence->last = convergence->error;
        bool found = sparse_correct_island(sim, step, newton, convergence);
        corrected = corrected || found;
        good = found || convergence->kept < INFINITY;
        if (good && !found) end_island(sim, step, k, true, round);
    }
    islands_unfocus(sim, step);
    if (!good) return false;
    islands_note_kinds(sim, step);
    step->b_norm = islands_scale(sim);
    sim->info.newton += corrected;
    sim->info.projection += corrected && step->levels == POSITIONS;
    return true;
}

// Where the motion foreseen already closes other contacts, the pass is not begun: they belong to the set. With many
// contacts only; that of piles is swept first, a few times per guess, other motion is that of the last steps, once.
static bool foresees_contacts(LashSim* sim, Step* step, const Operator* operator) {
    enum { MANY = 32, FORESIGHTS = 6 };
    Islands* islands = sim->operators.sparse;
    bool first = islands->foreseen != sim->predictor.guesses;
    if (first) islands->foresights = 0;
    if (step->correction > 0 || islands->foresights == FORESIGHTS || step->nc < MANY) return false;
    if (sim->scheme->projection != PROJECTS_PUSHED || sim->info.substeps > 1) return false;
    islands->foreseen = sim->predictor.guesses;
    ++islands->foresights;
    Foresight foresight = contacts_foresee(sim, step);
    step->foreseen = step->unfinished = foresight == FORESEES_CONTACTS;
    if (foresight == FORESEES_MOTION && evaluate(sim, step, operator)) islands_measure(sim, step);
    if (foresight != FORESEES_NOT || !first) return step->unfinished;
    for (int i = step->list->bilateral; i < step->list->count && !step->unfinished; ++i)
        step->unfinished =
            !step->active[i] && step->g[step->list->item[i].row] < -step->position_error;
    return step->unfinished;
}

static LashOutcome iterate_islands(LashSim* sim, Step* step, const Operator* operator) {
    Islands* islands = sim->operators.sparse;
    Round round = {0};
    islands_find(sim, step);
    for (int k = 0; k < islands->count; ++k) {
        islands->convergence[k] = convergence_begin(sim, step);
        islands->done[k] = false;
        islands->island[k]->factors = 0;
        islands->island[k]->again = false;
        islands->island[k]->no_answer = false;
    }
    step->goal = newton_goal(sim, step);
    islands_guess(sim, step);
    step->unfinished = step->foreseen = false;
    for (step->correction = 0;; ++step->correction) {
        if (sim_stopped(sim) || !evaluate(sim, step, operator)) return LASH_FAILED;
        islands_measure(sim, step);
        if (foresees_contacts(sim, step, operator)) return LASH_CONVERGED;
        round.restored = false;
        if (!judge_islands(sim, step, &round)) return LASH_FAILED;
        if (round.open == 0 && !round.restored)
            return passes(sim, step) ? LASH_CONVERGED : LASH_INACCURATE;
        if (round.open == 0) continue;
        if (ends_early(sim, step)) return LASH_CONVERGED;
        if (step->correction >= islands->convergence[0].most) return LASH_INACCURATE;
        if (!correct_islands(sim, step, &round)) return LASH_INACCURATE;
    }
}

// --- Attempts ------------------------------------------------------------------------------------

static Attempt first_attempt(const LashSim* sim, const Step* step) {
    if (contact_newton_possible(sim, step)) return ATTEMPT_CONTACTS;
    if (sim->settings.full_newton || step->levels == GAPS || sim->experience.singular_steps > 0)
        return ATTEMPT_ALL_DERIVATIVES;
    return ATTEMPT_KEPT;
}

// Where all derivatives were needed the next steps begin with them, more of them each time in a
// row: a mechanism passes a singular position in a few steps or stays near it for long.
static void expect_singular(Experience* experience) {
    experience->singular_run = experience->singular_run == 0 ? 1 : 2 * experience->singular_run;
    if (experience->singular_run > tuning.longest_run)
        experience->singular_run = tuning.longest_run;
    experience->singular_steps = experience->singular_run + 1;
}

// Where the sparse operator has found no answer full matrices are tried, if the run has them, and in the
// next steps at once: more of them each time, fewer where it does without. False: nothing changes.
static bool expect_full(LashSim* sim) {
    Experience* experience = &sim->experience;
    if (!sim_is_sparse(sim) || sim->operators.contacts == NULL) return false;
    experience->full_run = 2 * experience->full_run + 1;
    if (experience->full_run > tuning.longest_run) experience->full_run = tuning.longest_run;
    experience->full_steps = experience->full_run + 1;
    return true;
}

static Attempt harder(LashSim* sim, const Step* step) {
    switch (step->attempt) {
        case ATTEMPT_CONTACTS:
            if (expect_full(sim)) return ATTEMPT_CONTACTS;
            if (sim->settings.max_substeps == 1) return ATTEMPT_CONTACTS_RENEWED;
            if (sparse_shorter_first(sim, step)) return ATTEMPT_NONE;
            if (!sim_is_sparse(sim) && shorter_first(sim, step)) return ATTEMPT_NONE;
            return ATTEMPT_CONTACTS_RENEWED;
        case ATTEMPT_KEPT:
            expect_singular(&sim->experience);
            return ATTEMPT_ALL_DERIVATIVES;
        case ATTEMPT_CONTACTS_RENEWED:
        case ATTEMPT_ALL_DERIVATIVES:
        case ATTEMPT_NONE:
            break;
    }
    return ATTEMPT_NONE;
}

// What the next step begins with. An operator with all derivatives is one of its iterate alone.
static void end_attempts(LashSim* sim, Step* step) {
    if (step->attempt == ATTEMPT_CONTACTS_RENEWED) step->attempt = ATTEMPT_CONTACTS;
    if (step->attempt != ATTEMPT_ALL_DERIVATIVES || sim->settings.full_newton) return;
    step->attempt = ATTEMPT_KEPT;
    operator_forget(sim);
}

static LashOutcome attempt(LashSim* sim, Step* step, Attempt which) {
    int solver = sim->info.solver;
    step->attempt = which;
    const Operator* operator= attempt_operator(sim, step);
    bool islands = operator== & operator_sparse;
    LashOutcome outcome =
        islands ? iterate_islands(sim, step, operator) : iterate(sim, step, operator);
    if (outcome != LASH_CONVERGED && attempt_couples(which)) jam_suspect(sim, step);
    if (sim->trace != NULL)
        trace_attempt(sim, step, operator->name, operator->derivatives(sim, step), solver, outcome);
    return outcome;
}

LashOutcome step_solve(LashSim* sim, Step* step, Levels levels) {
    step->levels = levels;
    if (!contacts_list(sim, step)) return LASH_FAILED;
    LashOutcome outcome = attempt(sim, step, first_attempt(sim, step));
    bool first = outcome == LASH_CONVERGED && step->attempt == ATTEMPT_KEPT;
    if (first || sim->settings.full_newton) sim->experience.singular_run = 0;
    bool coupled = outcome == LASH_CONVERGED && step->attempt == ATTEMPT_CONTACTS;
    if (coupled && sim_is_sparse(sim) && sim->experience.full_run > 0) --sim->experience.full_run;
    while (outcome != LASH_CONVERGED) {
        Attempt next = harder(sim, step);
        if (next == ATTEMPT_NONE) break;
        step->attempt = next;
        step_guess(sim, step);
        outcome = attempt(sim, step, next);
    }
    end_attempts(sim, step);
    return outcome;
}
