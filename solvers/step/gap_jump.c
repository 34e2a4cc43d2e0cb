// No contact appears from nowhere.
//
// The least gap of two surfaces cannot change by more than the surfaces move against each other:
// with dx of the bodies' reference points, their turns dphi and the radii R of the surfaces about
// these points
//
//     |gamma(q (+) d) - gamma(q)| <= D(d) = |dx_b - dx_a| + R_a |dphi_a| + R_b |dphi_b|
//
// gamma is the least gap over all points of the two surfaces. A gap that falls by more is an error
// of the geometry (a root beyond a trim, a face that looks the other way), and the projection would
// move parts by as much in one step. So a solved step is refused when
//
//     gamma(q_k (+) h v_theta) < gamma(q_k) - 1.01 D(h v_theta) - tolerance
//
// The motion is the step's own, without what the projection added: that is just what undoes the
// jump. Where gamma(q_k) is not known (no point, or none listed: farther away than the motion
// promised) it counts as 0.
//
// Evaluating gaps at q_k (+) h v_theta costs as much as an iteration, so a linear estimate comes
// first: the contact's gap at the end minus what the projection lifted it by, G_n' (d - h v_theta).
// Only where that is too deep, which is never in a sound model, gaps are evaluated.
//
// Where they are sound at q_k (+) h v_theta although the estimate is too deep, the push was for
// nothing: a surface that the solver met at one of its iterates only, and that now holds the parts
// at a place to which no motion led. The estimate is wrong by the curvature of the surfaces, of
// second order in the lift; beyond a tenth of it, the step is refused as well. So is one that begins
// in an overlap.
#include <math.h>
#include <string.h>

#include "solvers/schemes/scheme.h"

static const double SHARE = 1.01;
static const double BENT = 0.1; // of a lift, by curvature
// A step that holds gaps ends without overlaps. One that is there when the next begins came in
// where nobody looked: through a face that the contact leaves out, up to a chosen one from inside.
static const double SUNK = 1e-9; // [m]

// d (nv) = h v_theta, with the velocity v at the end of the step.
static void own_motion(const LashSim* sim, const Step* step, const double* v, double* d) {
    const Stencil* stencil = &step->stencil;
    for (int i = 0; i < sim->system->nv; ++i) d[i] = stencil->d_0[i] + stencil->d_v * v[i];
}

// G_n' x of one interaction.
static double along_normal(const LashSystem* system, const LashInteraction* item, const double* G,
                           const double* x) {
    const double* column = G + item->offset;
    double sum = 0;
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]);
        const double* part = x + system->block_start[item->block[b]];
        for (int i = 0; i < n; ++i) sum += column[i] * part[i];
        column += n * item->rows;
    }
    return sum;
}

// Least gap of the points [i, *end) between the same surfaces, and one of them that has it.
static double least_gap(const LashInteractionList* list, int i, const double* g, int* at,
                        int* end) {
    int surfaces = list->item[i].surfaces;
    double least = INFINITY;
    *at = i;
    for (; i < list->count && list->item[i].surfaces == surfaces; ++i) {
        double gap = g[list->item[i].row];
        if (!(gap < least)) continue;
        least = gap;
        *at = i;
    }
    *end = i;
    return least;
}

// Compares the gaps of all surfaces at q_k and at q_k (+) d; keeps the worst jump as the fault.
static bool find_jump(LashSim* sim, Step* step, const double* d) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    Scratch scratch = scratch_begin(sim);
    double *before = scratch_rows(sim), *after = scratch_rows(sim), worst = 0;
    double *q = scratch_place(sim), t = step->t0 + step->h;
    system->move(system, sim->now.q, 1, d, q);
    bool known = all_finite(q, system->nq);
    known = known &&
            system->evaluate(system, sim->work, step->t0, sim->now.q, NULL, before, NULL, NULL);
    known = known && system->evaluate(system, sim->work, t, q, NULL, after, NULL, NULL);
    for (int i = list->bilateral, end = i; i < list->count && known; i = end) {
        end = i + 1;
        if (list->item[i].surfaces == 0) continue;
        int at, other;
        double start = least_gap(list, i, before, &other, &end);
        double gap = least_gap(list, i, after, &at, &end);
        double moved = system->surface_motion(system, list->item[i].surfaces, d);
        if (start == INFINITY) start = 0;
        double beyond = start - SHARE * moved - sim->settings.tolerance_position - gap;
        if (!(beyond > worst)) continue;
        worst = beyond;
        sim->failure.fault = (LashFault){.kind = LASH_FAULT_GAP,
                                         .t = t,
                                         .id = list->item[at].id,
                                         .fell = start - gap,
                                         .moved = moved};
    }
    scratch_end(sim, scratch);
    return worst > 0;
}

static bool has_surfaces(const Step* step) {
    int last = step->list->count - 1; // they come at the end of the list
    return last >= step->list->bilateral && step->list->item[last].surfaces > 0;
}

typedef struct Suspect {
    const LashInteraction* item; // NULL: none
    double deep;                 // deeper than the motion allows [m]
    double fell, moved;          // as in LashFault [m]
} Suspect;

// The contact whose gap, without what the projection lifted it by, is deepest below what the motion
// `own` allows; to first order.
static Suspect find_suspect(LashSim* sim, Step* step, double* own, double* lift) {
    const LashSystem* system = sim->system;
    Suspect worst = {0};
    bool ready = false;
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        if (item->surfaces == 0 || is_empty(step, item)) continue;
        if (!ready) {
            own_motion(sim, step, step->v, own);
            for (int i = 0; i < system->nv; ++i) lift[i] = step->d[i] - own[i];
            ready = true;
        }
        double gap = step->g[item->row] - along_normal(system, item, step->G, lift);
        double start = step->gap_start[step->contact[c]];
        if (!(fabs(start) < INFINITY)) start = 0;
        double moved = system->surface_motion(system, item->surfaces, own);
        double deep = start - SHARE * moved - sim->settings.tolerance_position - gap;
        double fell = start - gap;
        if (step->levels != VELOCITIES && start < -SUNK - 10 * sim->settings.tolerance_position) {
            deep = fmax(deep, -start); // not there when the last step was accepted
            fell = fmax(fell, -start);
        }
        if (deep > worst.deep) worst = (Suspect){item, deep, fell, moved};
    }
    return worst;
}

bool gaps_jump(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    if (sim->scheme->equations == EQUATIONS_OWN || step->levels == GAPS) return false;
    if (!has_surfaces(step)) return false;
    Scratch scratch = scratch_begin(sim);
    double *own = scratch_velocity(sim), *lift = scratch_velocity(sim), *gaps = scratch_rows(sim);
    Suspect suspect = find_suspect(sim, step, own, lift);
    bool jumps = suspect.item != NULL && find_jump(sim, step, own);
    if (suspect.item != NULL && !jumps) {
        double lifted = system->surface_motion(system, suspect.item->surfaces, lift);
        jumps = suspect.deep > BENT * lifted;
        if (jumps)
            sim->failure.fault = (LashFault){.kind = LASH_FAULT_GAP,
                                             .t = step->t0 + step->h,
                                             .id = suspect.item->id,
                                             .fell = suspect.fell,
                                             .moved = suspect.moved};
    }
    // What the system remembers of its last evaluation is that of the step's end.
    if (suspect.item != NULL)
        system->evaluate(system, sim->work, step->t0 + step->h, step->q_end, NULL, gaps, NULL,
                         NULL);
    scratch_end(sim, scratch);
    return jumps;
}

void gaps_of_failure(LashSim* sim, Step* step) {
    if (!has_surfaces(step) || sim->failure.fault.kind != LASH_FAULT_NONE) return;
    Scratch scratch = scratch_begin(sim);
    double* own = scratch_velocity(sim);
    own_motion(sim, step, step->v, own);
    if (!all_finite(own, sim->system->nv) || !find_jump(sim, step, own)) {
        own_motion(sim, step, sim->now.v, own);
        find_jump(sim, step, own);
    }
    scratch_end(sim, scratch);
}
