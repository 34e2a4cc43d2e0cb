// Gear, Gupta and Leimkuhler with impulses [S12 3]: positions get multipliers Psi of their own.
//
//     unified      implicit midpoint rule (midpoint.c), all unknowns at once
//     decoupled    velocities of the explicit one, then positions with G(q_M), every contact
//     none         unified without Psi: the reference of [S12]
//
//     d = h v_m + N G Psi,   q_{n+1} = q_n (+) d,   0 <= g(q_{n+1}) perp Psi >= 0;   joints: g = 0
//     law of impact and friction in U, on the active set;   joints: U = 0
//
// N = M(q_M)^-1, or 1 as in [S12], which adds metres and radians. The active set begins with the contacts
// that are closed at q_M. With that set alone (paper) a contact that closes in the second half of a step
// penetrates; with Psi for every contact (all) it is lifted without an impulse, and energy grows; so
// every contact that would penetrate enters both sets, until none is added (grown).
#include "core/error.h"
#include "solvers/schemes/midpoint.h"

enum { COUPLING, ROWS, ACTIVATION, METRIC, OPTIONS };
enum { UNIFIED, DECOUPLED, NONE };
enum { PAPER, ALL, GROWN };
enum { OF_SYSTEM, MASS, UNIT };
static const char* const coupling_names[] = {"unified", "decoupled", "none", NULL};
static const char* const activation_names[] = {"paper", "all", "grown", NULL};
static const char* const metric_names[] = {"automatic", "mass", "unit", NULL};

// As midpoint_rows_option; an initializer cannot copy it.
extern const char* const rows_names[];
static const LashOption option[OPTIONS] = {
    [COUPLING] = {.name = "coupling",
                  .help = "of ggl: velocities and positions at once, one after the other, or "
                          "velocities alone",
                  .value = UNIFIED,
                  .low = UNIFIED,
                  .high = NONE,
                  .names = coupling_names},
    [ROWS] = {.name = "rows",
              .help = "where velocities of joints and contacts are taken: of moreau-midpoint and "
                      "ggl end or midpoint, of trapezoidal mean (of both ends) or end",
              .value = ROWS_END,
              .low = ROWS_MIDPOINT,
              .high = ROWS_END,
              .names = rows_names},
    [ACTIVATION] = {.name = "activation",
                    .help =
                        "of ggl: which contacts act, those closed at the midpoint alone, all in "
                        "positions, or those and every one that would penetrate",
                    .value = GROWN,
                    .low = PAPER,
                    .high = GROWN,
                    .names = activation_names},
    [METRIC] = {.name = "metric",
                .help = "of ggl: in which positions are corrected, that of the masses, or of "
                        "coordinates as they are; automatic: as the system asks for",
                .value = OF_SYSTEM,
                .low = OF_SYSTEM,
                .high = UNIT,
                .names = metric_names},
};

static bool fits(const LashSystem* system, const double* value, LashError* error) {
    if (value[METRIC] != UNIT || system->linear_motion) return true;
    return lash_error_set(error, LASH_ERROR_MODEL, "simulation.metric",
                          "unit: metres and radians are mixed; for Lagrangian systems");
}

static ShiftMetric metric_of_option(const LashSim* sim) {
    bool unit =
        sim->option[METRIC] == OF_SYSTEM ? sim->system->unit_metric : sim->option[METRIC] == UNIT;
    return unit ? SHIFT_BY_UNIT : SHIFT_BY_PLACE;
}

static void plan(LashSim* sim, Step* step) {
    bool rows_at_midpoint = sim->option[ROWS] == ROWS_MIDPOINT;
    if (sim->option[COUPLING] == DECOUPLED)
        stencil_explicit_midpoint(sim, step, rows_at_midpoint);
    else
        stencil_midpoint(sim, step, rows_at_midpoint);
    step->stencil.shift_metric = metric_of_option(sim);
    if (step->stencil.shift_metric == SHIFT_BY_PLACE) mass_factor(sim, step->stencil.mass_place);
}

// Contacts that get a Psi: those that act, or all.
static void choose_positions(const LashSim* sim, Step* step) {
    bool all = sim->option[COUPLING] == DECOUPLED || sim->option[ACTIVATION] == ALL;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (joint_friction(&step->list->item[i])) continue;
        if (all || step->active[i]) step->position[i] = POSITION_NOT_NEGATIVE;
    }
}

static bool grow(LashSim* sim, Step* step) {
    bool grown = false;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        if (joint_friction(item) || step->active[i] || step->g[item->row] >= 0) continue;
        step_activate(sim, step, i);
        grown = true;
    }
    return grown;
}

static LashOutcome advance(LashSim* sim, Step* step) {
    bool grows = sim->option[COUPLING] == UNIFIED && sim->option[ACTIVATION] == GROWN;
    LashOutcome outcome = forecast_activate(sim, step, LASH_FORECAST_MIDPOINT);
    if (outcome != LASH_CONVERGED) return outcome;
    if (sim->option[COUPLING] == NONE) return step_solve(sim, step, VELOCITIES);
    choose_positions(sim, step);
    outcome = step_solve(sim, step, POSITIONS);
    while (outcome == LASH_CONVERGED && grows && grow(sim, step)) {
        ++sim->info.index_set;
        choose_positions(sim, step);
        step_guess(sim,
                   step); // what is added mostly pushed before: nearer than the solution without it
        outcome = step_solve(sim, step, POSITIONS);
    }
    return outcome;
}

static bool holds(const LashSim* sim, const Step* step) {
    bool reported = sim->option[COUPLING] == NONE ||
                    (sim->option[COUPLING] == UNIFIED && sim->option[ACTIVATION] == PAPER);
    return reported || gaps_hold(sim, step);
}

const Scheme scheme_ggl = {
    .summary = "Gear-Gupta-Leimkuhler: the midpoint rule with multipliers for positions too",
    .uses = USES_FREMOND | USES_JOINT_FRICTION | USES_RESTITUTION,
    .option = option,
    .options = OPTIONS,
    .fits = fits,
    .projection = PROJECTS_INEQUALITIES,
    .plan = plan,
    .advance = advance,
    .holds = holds,
};
