// Linearly implicit trapezoidal rule with events [P06]: a step is cut into legs (trapezoidal_leg.c) where a
// contact is hit, and where one begins or ends to stick or to push.
//
//     full step of length h from (t, q, v), left = h:
//     repeat
//       A = {g <= band and U_N <= v_tol} + keep                                                     (a)
//       one of A that was not in the A before approaches: impact now with A (poisson_impact.c)       (b)
//       leg of length left with A
//       a contact outside A penetrates: shorten the leg to its root; again                           (c)
//       a status changed: cut the leg where it does, the old statuses held; again                    (e)
//       take the leg; keep = {P_N > 0}; end
//
// (a) Contacts that part are left out, else their rows would stop them; those that pushed are kept
//     whatever their gap drifted to.
// (b) Finds what reached the band exactly at the end of a leg; hits end with it too. What would follow within a
//     thousandth of the step is hit together with it (choose_impacts).
// (c) The first guess is the root of the cubic through gaps and velocities of both ends; [P06] takes the
//     state there by interpolation (locate: interpolate), which fails with stiff modes not resolved.
// (d) A contact hit more than max_rebounds times in the step, whose last three hits say that infinitely
//     many would end in it, is hit plastically; and one whose last bounce stayed within a tenth of the band. Contacts that
//     so end their bounces come to rest together: two ends of a pin would else hit in turn for ever.
// (e) A slide ends where its end velocity is zero, pushing and sticking where a force reaches its limit:
//     the root of the smallest of them over the length of the leg; in space a slide is held in its direction
//     at the start. A change before the leg began is taken as it is: the error of v is O(h^2).
//
// Rows on the mean velocity leave speeds that alternate in what is closed. Where they grow or turn a part to and fro an
// impulse on the closed joints and contacts ends them (alternates).
//
// Second order, impact times O(h^2); in linear systems the trapezoidal rule, energy kept to rounding.
// Not damping: stiff modes that are not resolved flip their sign every step.
#include "solvers/schemes/trapezoidal.h"

#include <math.h>
#include <string.h>

#include "solvers/schemes/midpoint.h"
#include "solvers/step/rows.h"

enum {
    ROWS,
    STABILIZE,
    EVENTS,
    LOCATE,
    MASS_AT,
    TANGENTS,
    CONE,
    DIRECTIONS,
    BAND,
    BAND_H3,
    MAX_REBOUNDS,
    MAX_EVENTS,
    IMPACT,
    OPTIONS
};
enum { SHORTEN, INTERPOLATE };
static const char* const locate_names[] = {"shorten", "interpolate", NULL};
static const char* const tangents_names[] = {"exact", "definite", NULL};
static const char* const cone_names[] = {"exact", "polyhedral", NULL};
static const char* const impact_names[] = {"poisson", "newton", NULL};
static const char* const mass_names[] = {"midpoint", "ends", NULL};
extern const char* const rows_names[];

static const LashOption option[OPTIONS] = {
    [ROWS] = {.name = "rows",
              .help = "of trapezoidal",
              .value = LEG_ROWS_MEAN,
              .low = LEG_ROWS_END,
              .high = LEG_ROWS_MEAN,
              .names = rows_names},
    [STABILIZE] = {.name = "stabilize",
                   .help = "of trapezoidal: gaps and joint errors are closed within a step",
                   .value = 1,
                   .low = 0,
                   .high = 1,
                   .names = lash_truth_names},
    [EVENTS] = {.name = "events",
                .help = "of trapezoidal: where sticking, sliding and pushing begin and end is "
                        "located; impacts always are",
                .value = 1,
                .low = 0,
                .high = 1,
                .names = lash_truth_names},
    [LOCATE] = {.name = "locate",
                .help = "of trapezoidal: the state of an impact, by a shorter step or interpolated",
                .value = SHORTEN,
                .low = SHORTEN,
                .high = INTERPOLATE,
                .names = locate_names},
    [MASS_AT] = {.name = "mass_at",
                 .help = "of trapezoidal: masses at the midpoint, or the mean of both ends",
                 .value = MASS_MIDPOINT,
                 .low = MASS_MIDPOINT,
                 .high = MASS_ENDS,
                 .names = mass_names},
    [TANGENTS] = {.name = "tangents",
                  .help = "of trapezoidal: derivatives of the forces, or of them what keeps the "
                          "matrix positive definite for every step",
                  .value = TANGENTS_EXACT,
                  .low = TANGENTS_EXACT,
                  .high = TANGENTS_DEFINITE,
                  .names = tangents_names},
    [CONE] = {.name = "cone",
              .help = "of trapezoidal: friction in space by the round cone or by one of flat sides",
              .value = CONE_EXACT,
              .low = CONE_EXACT,
              .high = CONE_POLYHEDRAL,
              .names = cone_names},
    [DIRECTIONS] = {.name = "directions",
                    .help = "of trapezoidal with a polyhedral cone: its sides, 4, 6 or 8",
                    .value = 8,
                    .low = 4,
                    .high = LASH_MAX_DIRECTIONS},
    [BAND] = {.name = "active_band",
              .help = "of trapezoidal: gap below which a contact touches [m; SI always]",
              .value = 1e-10,
              .low = 0,
              .high = 1},
    [BAND_H3] = {.name = "active_band_h3",
                 .help = "of trapezoidal: the same by the step, times h^3 [m/s^3; SI always]",
                 .value = 0,
                 .low = 0,
                 .high = 1e12},
    [MAX_REBOUNDS] = {.name = "max_rebounds",
                      .help = "of trapezoidal: hits of a contact in a step, before it is asked "
                              "whether infinitely many follow",
                      .value = 2,
                      .low = 2,
                      .high = 1e6},
    [MAX_EVENTS] = {.name = "max_events",
                    .help = "of trapezoidal: per step, more of them fail it",
                    .value = 200,
                    .low = 1,
                    .high = 1e9},
    [IMPACT] = {.name = "impact",
                .help = "of trapezoidal: law of impact; equal for one contact without friction",
                .value = LAW_POISSON,
                .low = LAW_POISSON,
                .high = LAW_NEWTON,
                .names = impact_names},
};

typedef struct Hits { // of one contact in the step
    int count;
    double last[3]; // times of the last ones, oldest first
    double speed;   // of the last one [m/s]
    double height; // of the bounce before it, speed x time / 4; infinite if it came back faster [m]
} Hits;

typedef struct Whole {
    Leg leg;
    double left, end;    // what is left of the step, when it ends [s]
    double tie, at_rest; // |g| and |U| below which nothing is hit [m, m/s]
    int events;
    uint8_t *before, *keep, *status, *impact; // (count)
    Hits* hits;                               // (count)
} Whole;

// ---- Beginning and end --------------------------------------------------------------------------

static void take_last(const LashSim* sim, const Step* step, Whole* whole) {
    const LastContacts* last = &sim->now.last;
    static const Status of_state[] = {[CONTACT_OPEN] = STATUS_OPEN,
                                      [CONTACT_TOUCHES] = STATUS_OPEN,
                                      [CONTACT_STICKS] = STATUS_STICKS,
                                      [CONTACT_SLIDES] = STATUS_SLIDES};
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        for (int k = 0; k < last->count; ++k) {
            if (last->id[k] != step->list->item[i].id || !last->closed[k]) continue;
            bool back = last->U[3 * k + 1] < 0 && step->list->item[i].rows == 2;
            whole->before[i] = whole->keep[i] = 1;
            whole->status[i] = (uint8_t)of_state[last->state[k]];
            if (whole->status[i] == STATUS_SLIDES && back) whole->status[i] = STATUS_SLIDES_BACK;
        }
    }
}

static bool begin(LashSim* sim, Step* step, Whole* whole) {
    size_t count = (size_t)sim->sizes.interactions;
    Leg leg = leg_create(sim);
    leg.rows = (int)sim->option[ROWS];
    leg.mass_at = (int)sim->option[MASS_AT];
    leg.tangents = (int)sim->option[TANGENTS];
    leg.directions = sim->option[CONE] == CONE_POLYHEDRAL ? (int)sim->option[DIRECTIONS] : 0;
    leg.stabilize = sim->option[STABILIZE];
    leg.whole = step->h;
    leg.band = fmax(sim->option[BAND], sim->option[BAND_H3] * step->h * step->h * step->h);
    leg.t = step->t0;
    memcpy(leg.q, sim->now.q, (size_t)sim->system->nq * sizeof *leg.q);
    memcpy(leg.v, sim->now.v, (size_t)sim->system->nv * sizeof *leg.v);
    *whole = (Whole){.leg = leg,
                     .left = step->h,
                     .end = step->t0 + step->h,
                     .tie = sim->settings.tolerance_position,
                     .at_rest = sim->settings.tolerance_velocity,
                     .before = lash_arena_push(&sim->arena, count),
                     .keep = lash_arena_push(&sim->arena, count),
                     .status = lash_arena_push(&sim->arena, count),
                     .impact = lash_arena_push(&sim->arena, count),
                     .hits = lash_arena_push(&sim->arena, count * sizeof(Hits))};
    memset(whole->before, 0, count);
    memset(whole->keep, 0, count);
    memset(whole->status, STATUS_UNKNOWN, count);
    memset(whole->impact, 0, count);
    memset(whole->hits, 0, count * sizeof(Hits));
    memset(step->P, 0, (size_t)step->list->rows * sizeof *step->P);
    memset(step->work, 0, 2 * (size_t)step->list->count * sizeof *step->work);
    take_last(sim, step, whole);
    step->contact_error = 0;
    step->correction = 1;
    if (!leg_start(sim, step, &whole->leg)) return false;
    memcpy(step->U_start, whole->leg.U, (size_t)step->list->rows * sizeof *step->U_start);
    for (int i = step->list->bilateral; i < step->list->count; ++i)
        step->gap_start[i] = whole->leg.g[step->list->item[i].row];
    return true;
}

static ContactState state_of(const Whole* whole, int i) {
    switch ((Status)whole->status[i]) {
        case STATUS_STICKS:
            return CONTACT_STICKS;
        case STATUS_SLIDES:
        case STATUS_SLIDES_BACK:
            return CONTACT_SLIDES;
        case STATUS_UNKNOWN:
        case STATUS_OPEN:
            break;
    }
    return CONTACT_OPEN;
}

static void finish(LashSim* sim, Step* step, Whole* whole) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    const Leg* leg = &whole->leg;
    memcpy(step->v, leg->v, (size_t)system->nv * sizeof *step->v);
    memcpy(step->q_end, leg->q, (size_t)system->nq * sizeof *step->q_end);
    system->difference(system, step->q_end, sim->now.q, step->d);
    memcpy(step->g, leg->g, (size_t)list->rows * sizeof *step->g);
    memcpy(step->U, leg->U, (size_t)list->rows * sizeof *step->U);
    drivers_hold(sim, step, step->g_t, step->g);
    for (int i = list->bilateral; i < list->count; ++i) {
        step->state[i] = (uint8_t)state_of(whole, i);
        step->keep[i] = whole->keep[i];
        step->active[i] = step->active[i] || step->P[list->item[i].row] > 0;
        step->has_U_start[i] = 1;
    }
    step->dynamics_error = step->velocity_error = step->position_error = 0;
    for (int r = 0; r < list->bilateral_rows; ++r)
        step->position_error = worse(step->position_error, fabs(step->g[r]));
}

// ---- Books --------------------------------------------------------------------------------------

// Impulses of the leg, or of an impact, and their work with the velocity v.
static void book_impulses(LashSim* sim, Step* step, const Leg* leg, const double* v) {
    LashEnergy* energy = &sim->now.energy;
    for (int i = 0; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        if (!step->active[i]) continue;
        const double* P = leg->P + item->row;
        double U[LASH_MAX_ROWS], work = 0;
        lash_row_velocity(sim->system, item, step->G_star, v, U);
        for (int r = 0; r < item->rows; ++r) {
            step->P[item->row + r] += P[r];
            work += P[r] * U[r];
        }
        if (item->kind == LASH_UNILATERAL) {
            step->work[2 * i] += P[0] * U[0];
            step->work[2 * i + 1] += work - P[0] * U[0];
            energy->contact_work_n += P[0] * U[0];
            energy->contact_work_t += work - P[0] * U[0];
        } else if (item->prescribed) {
            energy->external_work += work;
        } else {
            energy->joint_work += work;
        }
    }
}

// The leg becomes part of the step.
static void take_leg(LashSim* sim, Step* step, Whole* whole) {
    Leg* leg = &whole->leg;
    energy_add_forces(sim, leg->h, leg->t + leg->h / 2, leg->q_middle, NULL, leg->mean);
    book_impulses(sim, step, leg, leg->mean);
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        whole->keep[i] = step->active[i] && leg->P[step->list->item[i].row] > 0;
        whole->before[i] = step->active[i];
    }
    leg_advance(sim, step, leg);
    whole->left = whole->end - leg->t;
}

static void note_event(LashSim* sim, const Step* step, const Leg* leg, LashEventKind kind, int i,
                       const double* U_before) {
    const LashInteraction* item = &step->list->item[i];
    if (sim->events.count == sim->events.capacity) --sim->events.count;
    LashEvent* event = &sim->events.item[sim->events.count++];
    *event = (LashEvent){.kind = kind, .t = leg->t, .h = 0, .id = item->id};
    event->gap_before = leg->g[item->row];
    for (int r = 0; r < item->rows; ++r) {
        event->impulse[r] = kind == LASH_EVENT_IMPACT ? leg->P[item->row + r] : 0;
        event->U_before[r] = U_before[item->row + r];
        event->U_after[r] = leg->U[item->row + r];
    }
}

// ---- Impacts ------------------------------------------------------------------------------------

// Would infinitely many hits of contact i end within the step?
static bool accumulates(const LashSim* sim, const Whole* whole, int i) {
    static const double LOW =
        0.1; // of the band; 1: slider-crank at 2.5e-5 s one hit short of the known ones
    const Hits* hits = &whole->hits[i];
    if (hits->count >= 2 && hits->height <= LOW * whole->leg.band) return true;
    if (hits->count <= sim->option[MAX_REBOUNDS] || hits->count < 3) return false;
    double one = hits->last[1] - hits->last[0], two = hits->last[2] - hits->last[1];
    double ratio = two / one;
    return ratio < 1 && hits->last[2] + two * ratio / (1 - ratio) <= whole->end;
}

static void note_hit(Hits* hits, double t, double speed) {
    bool dies = hits->count > 0 && speed < hits->speed;
    hits->height = dies ? speed * (t - hits->last[2]) / 4 : INFINITY;
    hits->speed = speed;
    hits->last[0] = hits->last[1];
    hits->last[1] = hits->last[2];
    hits->last[2] = t;
    ++hits->count;
}

// One more event, at contact i. False: too many.
static bool count_event(LashSim* sim, const Step* step, Whole* whole, int i) {
    if (++whole->events <= sim->option[MAX_EVENTS]) return true;
    sim->failure.fault =
        (LashFault){.kind = LASH_FAULT_EVENTS, .t = whole->leg.t, .id = step->list->item[i].id};
    return false;
}

// How each contact takes part in an impact now. Returns one that is hit. Contacts that would follow within a small share
// of the step are hit together: their times are known no better, and one after the other a part that lands flat would
// be spun by either corner.
static int choose_impacts(const LashSim* sim, Step* step, Whole* whole) {
    static const double TOGETHER = 1e-3; // of the step
    const LashInteractionList* list = step->list;
    const Leg* leg = &whole->leg;
    int last = list->bilateral;
    bool ends = false;
    for (int i = list->bilateral; i < list->count; ++i) {
        int n = list->item[i].row;
        if (leg->g[n] <= -leg->U[n] * TOGETHER * leg->whole) step->active[i] = 1;
        bool approaches = step->active[i] && leg->U[n] < -whole->at_rest;
        bool pushed = step->active[i] && whole->before[i] && whole->keep[i];
        whole->impact[i] = pushed ? IMPACT_PUSHED : IMPACT_REBOUNDS;
        if (pushed || !approaches) continue;
        last = i;
        note_hit(&whole->hits[i], leg->t, -leg->U[n]);
        if (!accumulates(sim, whole, i)) continue;
        whole->impact[i] = IMPACT_PLASTIC;
        ends = true;
    }
    for (int i = list->bilateral; i < list->count && ends; ++i) {
        if (leg->g[list->item[i].row] > leg->band || !accumulates(sim, whole, i)) continue;
        step->active[i] = 1;
        whole->impact[i] = IMPACT_PLASTIC;
    }
    return last;
}

// What stays closed after an impact, and the events of it.
static void note_impacts(LashSim* sim, const Step* step, Whole* whole) {
    const Leg* leg = &whole->leg;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        int n = step->list->item[i].row;
        whole->status[i] = STATUS_UNKNOWN;
        whole->keep[i] = step->active[i] && leg->U[n] <= whole->at_rest;
        whole->before[i] = step->active[i];
        if (!step->active[i] || !(leg->U_end[n] < -whole->at_rest)) continue;
        note_event(sim, step, leg, LASH_EVENT_IMPACT, i, leg->U_end);
        if (whole->impact[i] == IMPACT_PLASTIC)
            note_event(sim, step, leg, LASH_EVENT_PLASTIC, i, leg->U_end);
    }
}

// An impact of the set at the present place.
static bool hit(LashSim* sim, Step* step, Whole* whole) {
    Leg* leg = &whole->leg;
    memcpy(leg->U_end, leg->U, (size_t)step->list->rows * sizeof *leg->U);
    memcpy(leg->mean, leg->v, (size_t)sim->system->nv * sizeof *leg->v);
    int last = choose_impacts(sim, step, whole);
    if (!count_event(sim, step, whole, last)) return false;
    if (!impact_solve(sim, step, leg, (int)sim->option[IMPACT], whole->impact)) return false;
    for (int i = 0; i < sim->system->nv; ++i) leg->mean[i] = 0.5 * (leg->mean[i] + leg->v[i]);
    book_impulses(sim, step, leg, leg->mean);
    note_impacts(sim, step, whole);
    return true;
}

// Smallest s in [0, 1] where the cubic through gaps and slopes of both ends falls below the level.
static double cubic_root(double g0, double slope0, double g1, double slope1, double level) {
    enum { PIECES = 16, BISECTIONS = 50 };
    double c2 = 3 * (g1 - g0) - 2 * slope0 - slope1, c3 = 2 * (g0 - g1) + slope0 + slope1;
    double low = 0, high = 1;
    for (int k = 1; k <= PIECES; ++k) {
        double s = (double)k / PIECES, g = g0 + s * (slope0 + s * (c2 + s * c3));
        high = s;
        if (g < level) break;
        low = s;
    }
    for (int k = 0; k < BISECTIONS; ++k) {
        double s = 0.5 * (low + high), g = g0 + s * (slope0 + s * (c2 + s * c3));
        if (g < level)
            high = s;
        else
            low = s;
    }
    return low;
}

// The contact outside the set that is hit first in the solved leg, and where in it; -1: none.
static int first_hit(const Step* step, const Whole* whole, double* at) {
    const Leg* leg = &whole->leg;
    int first = -1;
    *at = 2;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        int n = step->list->item[i].row;
        double level = fmin(0, leg->g[n]);
        double tie = whole->hits[i].count > 0 ? 0 : whole->tie; // else low bounces sink by one each
        if (step->active[i] || !(leg->g_end[n] < level - tie)) continue;
        double s = 0.5; // it had no place there
        if (leg->g[n] < INFINITY)
            s = cubic_root(leg->g[n], leg->h * leg->U[n], leg->g_end[n], leg->h * leg->U_end[n],
                           level);
        if (s >= *at) continue;
        *at = s;
        first = i;
    }
    return first;
}

// The leg ends at the share s of it, by interpolation.
static bool interpolate(LashSim* sim, Step* step, Leg* leg, double s) {
    int nv = sim->system->nv;
    for (int i = 0; i < nv; ++i) {
        leg->mean[i] = leg->v[i] + 0.5 * s * leg->y[i];
        leg->v_end[i] = leg->v[i] + s * leg->y[i];
    }
    for (int r = 0; r < step->list->rows; ++r) leg->P[r] *= s;
    leg->h *= s;
    sim->system->move(sim->system, leg->q, leg->h, leg->mean, leg->q_end);
    return sim_evaluate(sim, leg->t + leg->h, leg->q_end, NULL, leg->g_end, step->g_t, step->G);
}

static const double SHARP = 1e-4; // of the tolerance: impact times to 1e-14 m / speed

// Solves the leg for the share s of `left`; what its gap of row n is above the level. NaN: no solution.
static double gap_at(LashSim* sim, Step* step, Leg* leg, double left, double s, int n,
                     double level) {
    leg->h = s * left;
    return leg_solve(sim, step, leg) ? leg->g_end[n] - level : NAN;
}

static bool friction_sticks(const Step* step, const Leg* leg) {
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        bool friction = item->rows > 1 && item->mu > 0;
        if (friction && leg_status(step, leg, step->contact[c]) == STATUS_STICKS) return true;
    }
    return false;
}

// Friction on the mean velocity may hold a contact that just rebounded: it sticks over a whole range of lengths, in
// which the gap stays as it is. It is hit where it begins to fall: from s, in the range, to high, beyond it.
static bool end_of_range(LashSim* sim, Step* step, Whole* whole, int n, double s, double high) {
    enum { MOST = 50 };
    static const double PROBE = 1e-3; // of the length; a gap that falls has fallen there
    Leg* leg = &whole->leg;
    double left = leg->h / s, level = fmin(0, leg->g[n]), next = s * (1 + PROBE);
    if (leg->g[n] - level > whole->tie || !friction_sticks(step, leg)) return true;
    for (int k = 0; k < MOST && next > s && next < high; ++k) {
        double f = gap_at(sim, step, leg, left, next, n, level);
        if (isnan(f)) return false;
        if (f >= -SHARP * whole->tie) {
            s = next;
        } else {
            high = next;
            if (k == 0) break;
        }
        next = 0.5 * (s + high);
    }
    return !isnan(gap_at(sim, step, leg, left, s, n, level));
}

// Shortens the leg until the gap of contact j is `level`: secants from the guess s, kept in brackets. A contact that had no
// place at the start, over an edge say, is hit where it gets one, or later.
static bool shorten(LashSim* sim, Step* step, Whole* whole, int j, double s) {
    enum { MOST = 40 };
    static const double SHORTEST = 1e-12; // of the step
    Leg* leg = &whole->leg;
    int n = step->list->item[j].row;
    double level = fmin(0, leg->g[n]), left = leg->h, low = 0, high = 1;
    double last = 1, f = leg->g_end[n] - level, f_last = f;
    if (leg->g[n] - level <= whole->tie && s < 1e-9) { // it is there already
        leg->h = 0;
        return true;
    }
    for (int k = 0; k < MOST; ++k) {
        if (!(s * left > SHORTEST * step->h)) {
            leg->h = 0;
            return true;
        }
        f = gap_at(sim, step, leg, left, s, n, level);
        if (isnan(f)) return false;
        if (fabs(f) <= SHARP * whole->tie) break;
        if (f > 0)
            low = s;
        else
            high = s;
        double next = s - f * (s - last) / (f - f_last);
        last = s;
        f_last = f;
        s = next > low && next < high ? next : 0.5 * (low + high);
    }
    if (f == INFINITY) return !isnan(gap_at(sim, step, leg, left, high, n, level));
    return end_of_range(sim, step, whole, n, leg->h / left, high);
}

// Contact j is hit at about the share s of the leg: the leg ends there, (b) does the rest.
static bool end_at_hit(LashSim* sim, Step* step, Whole* whole, int j, double s) {
    Leg* leg = &whole->leg;
    const LashInteraction* item = &step->list->item[j];
    bool good = sim->option[LOCATE] == SHORTEN ? shorten(sim, step, whole, j, s)
                                               : interpolate(sim, step, leg, s);
    if (!good) return false;
    if (leg->h > 0) take_leg(sim, step, whole);
    for (int i = step->list->bilateral; i < step->list->count; ++i)
        whole->status[i] = STATUS_UNKNOWN;
    whole->keep[j] = 1;
    whole->before[j] = 0;
    if (!leg_start(sim, step, leg)) return false;
    return leg->U[item->row] < 0 || count_event(sim, step, whole, j);
}

// ---- Statuses -----------------------------------------------------------------------------------

// What is left of the slide at the end of the leg, along its direction at the start [m/s].
static double slide_left(const Leg* leg, const LashInteraction* item, Status status) {
    const double* U = leg->U_end + item->row;
    double d[2];
    if (item->rows < 2 || !leg_slide(leg, item, status, d)) return INFINITY;
    return d[0] * U[1] + (item->rows > 2 ? d[1] * U[2] : 0);
}

static bool changed(const Step* step, const Whole* whole) {
    const Leg* leg = &whole->leg;
    bool differs = false;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        if (!step->active[i]) continue;
        const LashInteraction* item = &step->list->item[i];
        Status before = (Status)whole->status[i];
        if (before == STATUS_UNKNOWN) return false;
        bool turned = before >= STATUS_SLIDES && slide_left(leg, item, before) < 0;
        differs = differs || turned || leg_status(step, leg, i) != before;
    }
    return differs;
}

// How far the statuses of the start hold over a leg of length z; below 0: no longer. NaN: not known.
static double margin(LashSim* sim, Step* step, Whole* whole, double z, int* least) {
    Leg* leg = &whole->leg;
    double smallest = INFINITY;
    leg->h = z;
    leg->held = whole->status;
    bool good = leg_solve(sim, step, leg);
    leg->held = NULL;
    if (!good) return NAN;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        const double* P = leg->P + item->row;
        Status status = (Status)whole->status[i];
        if (!step->active[i] || status == STATUS_OPEN) continue;
        double value = P[0] / z;
        if (status == STATUS_STICKS && item->rows > 1 && item->mu > 0) {
            double t = item->rows == 2 ? fabs(P[1]) : hypot(P[1], P[2]);
            value = fmin(value, (item->mu * P[0] - t) / z);
        }
        if (status >= STATUS_SLIDES) value = fmin(value, slide_left(leg, item, status));
        if (value >= smallest) continue;
        smallest = value;
        *least = i;
    }
    return smallest;
}

// Ends the leg where a status changes. False: it changed before, or that cannot be told.
static bool end_at_change(LashSim* sim, Step* step, Whole* whole) {
    enum { MOST = 60 };
    double left = whole->left, low = 1e-6 * left, high = left;
    int least = -1;
    double f_low = margin(sim, step, whole, low, &least);
    double f_high = f_low > 0 ? margin(sim, step, whole, high, &least) : NAN;
    if (!(f_low > 0 && f_high < 0)) return false;
    for (int k = 0; k < MOST && high - low > 1e-13 * left; ++k) {
        double z = low + (high - low) * f_low / (f_low - f_high);
        if (!(z > low && z < high) || k % 3 == 2) z = 0.5 * (low + high);
        double f = margin(sim, step, whole, z, &least);
        if (!isfinite(f)) return false;
        if (f >= 0) {
            low = z;
            f_low = f;
        } else {
            high = z;
            f_high = f;
        }
        if (f == 0) break;
    }
    int unused;
    margin(sim, step, whole, high, &least);
    if (!isfinite(margin(sim, step, whole, low, &unused)) || least < 0) return false;
    Status before = (Status)whole->status[least];
    take_leg(sim, step, whole);
    LashEventKind kind = LASH_EVENT_OPEN;
    if (whole->keep[least] && before == STATUS_STICKS) kind = LASH_EVENT_SLIP;
    if (whole->keep[least] && before >= STATUS_SLIDES) kind = LASH_EVENT_STICK;
    note_event(sim, step, &whole->leg, kind, least, whole->leg.U);
    for (int i = step->list->bilateral; i < step->list->count; ++i)
        whole->status[i] = STATUS_UNKNOWN;
    return true;
}

// ---- The step -----------------------------------------------------------------------------------

// A; is one of them hit as it stands?
static bool choose_set(Step* step, const Whole* whole) {
    const Leg* leg = &whole->leg;
    bool late = false;
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        int n = step->list->item[i].row;
        bool touches = leg->g[n] <= leg->band && leg->U[n] <= whole->at_rest;
        step->active[i] = touches || (whole->keep[i] && leg->g[n] < INFINITY);
        late = late || (step->active[i] && !whole->before[i] && leg->U[n] < -whole->at_rest);
    }
    return late;
}

// The speeds that rows leave in what they close, and what the leg added to them.
typedef struct Alternation {
    double size, added;
    double most, least;             // speeds, with their signs
    double most_added, least_added; // of the same sign in all legs
} Alternation;

static void note_row(const Leg* leg, int r, Alternation* found) {
    double speed = leg->U_end[r], added = leg->U_end[r] + leg->U[r];
    found->size = fmax(found->size, fabs(speed));
    found->added = fmax(found->added, fabs(added));
    found->most = fmax(found->most, speed);
    found->least = fmin(found->least, speed);
    found->most_added = fmax(found->most_added, added);
    found->least_added = fmin(found->least_added, added);
}

typedef struct Alternations {
    Alternation joints, contacts, stuck; // stuck: tangential speeds of contacts that stick
} Alternations;

// Of the solved leg, and how its contacts take part in an impulse that ends them.
static Alternations note_closed(const LashSim* sim, const Step* step, Whole* whole) {
    const Alternation none = {0, 0, -INFINITY, INFINITY, -INFINITY, INFINITY};
    Alternations found = {none, none, none};
    const Leg* leg = &whole->leg;
    for (int r = 0; r < step->list->bilateral_rows; ++r) note_row(leg, r, &found.joints);
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        bool pushed = step->active[i] && whole->keep[i] && leg->P[item->row] > 0;
        whole->impact[i] = pushed ? IMPACT_PUSHED : IMPACT_REBOUNDS;
        if (!pushed) continue;
        note_row(leg, item->row, &found.contacts);
        bool sticks = item->mu > 0 && leg_status(step, leg, i) == STATUS_STICKS;
        if (!sticks || !sim->option[EVENTS]) continue;
        whole->impact[i] = IMPACT_STUCK;
        for (int r = 1; r < item->rows; ++r) note_row(leg, item->row + r, &found.stuck);
    }
    return found;
}

// Has it outgrown the most that a leg has added so far?
static bool outgrown(const Alternation* found, double* most) {
    static const double OUTGROWN = 10; // times; test_app_benchmarks, test_solvers_trapezoidal
    *most = fmax(*most, found->added);
    return found->size > OUTGROWN * *most;
}

// Rows on the mean velocity leave joints and closed contacts with speeds whose sign alternates, U_{k+1} = -U_k + O(h^2).
// Where the motion feeds it the alternation grows, whatever the step is: by e in 5 ms on the ideal slider-crank. It ends
//  - where it has outgrown what legs add (history: joints, contacts),
//  - where it is what closing the last gap left, and nothing else moves,
//  - where contacts of different speeds are closed, and not because the leg made them so: their part would turn to and
//    fro, take off turning, and what left flat would not land flat,
//  - where a contact sticks, likewise: its slide did not end at a located time.
static bool alternates(const LashSim* sim, const Step* step, Whole* whole) {
    static const double NOTHING = 1e-3; // of the tolerance
    static const double TURNS =
        3; // times; pendulum_in_ring: its pin's ends gain a seventh per step
    if (sim->option[STABILIZE] == 0 || whole->leg.rows != LEG_ROWS_MEAN) return false;
    Alternations found = note_closed(sim, step, whole);
    const Alternation *c = &found.contacts, *stuck = &found.stuck;
    bool joints = outgrown(&found.joints, &sim->now.history[0]);
    bool contacts = outgrown(c, &sim->now.history[1]);
    double rest = whole->at_rest, nothing = NOTHING * rest, turn = c->most - c->least;
    bool left = c->added <= nothing && c->size > nothing && c->size <= rest;
    bool turns = turn > rest && turn > TURNS * (c->most_added - c->least_added);
    bool slides = stuck->size > rest && stuck->size > TURNS * stuck->added;
    return joints || contacts || left || turns || slides;
}

// The velocity of what is closed becomes that of rows on the end velocity, by an impulse.
static bool end_alternation(LashSim* sim, Step* step, Whole* whole) {
    Leg* leg = &whole->leg;
    memcpy(leg->mean, leg->v, (size_t)sim->system->nv * sizeof *leg->v);
    if (!impact_of_closed(sim, step, leg, whole->impact)) return false;
    for (int i = 0; i < sim->system->nv; ++i) leg->mean[i] = 0.5 * (leg->mean[i] + leg->v[i]);
    book_impulses(sim, step, leg, leg->mean);
    return true;
}

// The next leg, or an impact. False: no solution.
static bool go_on(LashSim* sim, Step* step, Whole* whole) {
    Leg* leg = &whole->leg;
    double at;
    if (choose_set(step, whole)) return hit(sim, step, whole);
    leg->h = whole->left;
    if (!leg_solve(sim, step, leg)) return false;
    int first = first_hit(step, whole, &at);
    if (first < 0 && sim->option[EVENTS] && changed(step, whole)) {
        if (end_at_change(sim, step, whole))
            return count_event(sim, step, whole, step->list->bilateral);
        leg->h = whole->left;
        choose_set(step, whole);
        if (!leg_solve(sim, step, leg)) return false;
    }
    if (first >= 0) return end_at_hit(sim, step, whole, first, at);
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        Status now = step->active[i] ? leg_status(step, leg, i) : STATUS_OPEN;
        whole->status[i] = (uint8_t)now;
    }
    bool alternating = alternates(sim, step, whole);
    take_leg(sim, step, whole);
    whole->left = 0;
    return !alternating || end_alternation(sim, step, whole);
}

static LashOutcome advance(LashSim* sim, Step* step) {
    Scratch scratch = scratch_begin(sim);
    LashEnergy energy = sim->now.energy;
    int solver = sim->info.solver, events = sim->events.count;
    Whole whole;
    bool good = begin(sim, step, &whole);
    while (good && whole.left > 0 && !sim_stopped(sim)) good = go_on(sim, step, &whole);
    good = good && !sim->stopped;
    if (good) finish(sim, step, &whole);
    if (!good) sim->events.count = events;
    step->works = sim->now.energy;
    sim->now.energy = energy;
    LashOutcome outcome = good ? LASH_CONVERGED : LASH_FAILED;
    trace_attempt(sim, step, "linear", DERIVATIVES_FORCES, solver, outcome);
    scratch_end(sim, scratch);
    return outcome;
}

static void start(LashSim* sim) {
    sim->now.history[0] = sim->now.history[1] = 0;
}

static void energy(LashSim* sim, Step* step) {
    sim->now.energy = step->works;
    for (int i = step->list->bilateral; i < step->list->count; ++i)
        pushes_add(sim, step, i, step->work[2 * i], step->work[2 * i + 1]);
}

// What pushed in the last leg is kept in the next step.
static void accept(LashSim* sim, const Step* step) {
    LastContacts* last = &sim->now.last;
    for (int k = 0; k < last->count; ++k) {
        for (int i = step->list->bilateral; i < step->list->count; ++i)
            if (step->list->item[i].id == last->id[k]) last->closed[k] = step->keep[i];
    }
}

static bool check(const double* value, LashError* error) {
    if ((int)value[DIRECTIONS] % 2 == 0 && value[DIRECTIONS] == floor(value[DIRECTIONS]))
        return true;
    return lash_error_set(error, LASH_ERROR_MODEL, "simulation.directions",
                          "must be even: friction acts along a line in both senses");
}

static bool fits(const LashSystem* system, const double* value, LashError* error) {
    if (value[TANGENTS] == TANGENTS_EXACT || system->definite_tangents != NULL) return true;
    return lash_error_set(error, LASH_ERROR_MODEL, "simulation.tangents",
                          "definite: this system does not give them; use exact");
}

const Scheme scheme_trapezoidal = {
    .summary = "linearly implicit trapezoidal rule: impacts, sticking and take-off are located",
    .uses = USES_RESTITUTION,
    .option = option,
    .options = OPTIONS,
    .check = check,
    .fits = fits,
    .projection = PROJECTS_NOTHING,
    .equations = EQUATIONS_OWN,
    .history_v = 2, // of them two numbers
    .start = start,
    .advance = advance,
    .energy = energy,
    .accept = accept,
};
