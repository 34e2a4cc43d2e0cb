// What a step starts from: v, the shift, impulses and multipliers extrapolated from the last steps.
//
// With backward differences D_0 = x_k, D_j = D_{j-1}(k) - D_{j-1}(k-1) the polynomial through the
// last n steps gives
//
//     x_{k+1} = D_0 + D_1 + ... + D_{n-1},     and was wrong in the last step by just D_n.
//
// So the table itself says which order would have been best; each kind of quantity takes that one.
// A jump (impact, another set of contacts) starts the table again. What redundant rows leave open
// differs from step to step without a rule: there low orders win.
#include <math.h>
#include <string.h>

#include "solvers/step/rows.h"
#include "solvers/step/sim_internal.h"

enum { FEW_ORDERS = 4 }; // where velocities and positions are corrected in turn

typedef struct Place {
    int at, size;
} Place;

// Where each kind of quantity stands in a line of the table. Contacts: the active ones, in the
// order of last.id, three rows of P each.
static void lay_out_spans(const LashSim* sim, Place place[SPANS]) {
    int nv = sim->system->nv, joints = sim->sizes.joint_rows, contacts = sim->now.last.count;
    int fixed = 2 * (nv + joints);
    place[SPAN_V] = (Place){0, nv};
    place[SPAN_SHIFT] = (Place){nv, nv};
    place[JOINT_P] = (Place){2 * nv, joints};
    place[JOINT_TAU] = (Place){2 * nv + joints, joints};
    place[CONTACT_P] = (Place){fixed, 3 * contacts};
    place[CONTACT_TAU] = (Place){fixed + 3 * sim->sizes.contacts, contacts};
}

// Extrapolation over n steps multiplies what is wrong in them by up to 2^n - 1, a correction by the
// contraction rate of the iteration: the product must stay small, or errors that the residuals
// hardly see would grow from step to step.
static int guess_order(const LashSim* sim) {
    if (sim->settings.full_newton) return 0; // counts iterations from the state alone
    bool renews = attempt_renews(sim->step.attempt);
    if (attempt_couples(sim->step.attempt)) return ORDERS;
    if (sim->predictor.history == 0 || (!renews && sim->experience.contraction_rate > 0.5))
        return 0; // from the state alone
    if (renews) return sim->predictor.history < 2 || sim->step.nc > 0 ? 0 : 2;
    int n = 1;
    while (n < FEW_ORDERS && n < sim->predictor.history &&
           (2 << n) * sim->experience.contraction_rate < 1.0)
        ++n;
    return n;
}

// x (size) = the prediction of order n for the numbers from `at` on
static void extrapolate(const LashSim* sim, int n, int at, int size, double* x) {
    for (int i = 0; i < size; ++i) x[i] = 0;
    for (int j = 0; j < n; ++j) lash_axpy(size, 1, sim->predictor.difference[j] + at, x);
}

void step_guess(LashSim* sim, Step* step) {
    bool couples = attempt_couples(step->attempt);
    ++sim->predictor.guesses;
    int most = guess_order(sim), order[SPANS], joint_rows = step->list->bilateral_rows;
    Place place[SPANS];
    lay_out_spans(sim, place);
    for (int i = 0; i < SPANS; ++i) {
        const Span* span = &sim->predictor.span[i];
        int n = couples ? span->order : span->history;
        order[i] = n < most ? n : most;
        if (sim->predictor.history == 0) order[i] = 0;
        // One step alone says nothing of impulses: it may have been an impact.
        if (i > SPAN_V && span->history < 2) order[i] = 0;
        extrapolate(sim, order[i], place[i].at, place[i].size, sim->predictor.guess + place[i].at);
    }
    size_t nv = (size_t)sim->system->nv;
    const double *P = sim->predictor.guess + place[JOINT_P].at,
                 *tau = sim->predictor.guess + place[JOINT_TAU].at;
    sim->predictor.guess_P =
        order[CONTACT_P] > 0 ? sim->predictor.guess + place[CONTACT_P].at : NULL;
    sim->predictor.guess_tau = sim->predictor.guess + place[CONTACT_TAU].at;
    memcpy(step->v, order[SPAN_V] > 0 ? sim->predictor.guess : sim->now.v, nv * sizeof *step->v);
    memcpy(step->shift, sim->predictor.guess + nv, nv * sizeof *step->shift);
    for (int i = 0; i < joint_rows; ++i) {
        step->P[i] = P[i];
        step->tau[i] = tau[i];
    }
    for (int i = joint_rows; i < step->list->rows; ++i) step->P[i] = step->tau[i] = 0;
    memset(step->P_low, 0, (size_t)step->list->rows * sizeof *step->P_low);
    if (couples || most == 0 || sim->operators.velocity_joints.rows != joint_rows) return;
    // Redundant rows: what the residuals do not see would grow from step to step.
    lash_joint_solver_project(&sim->operators.velocity_joints, step->P);
    LashJointSolver* positions = sim->operators.metric == METRIC_SHARED
                                     ? &sim->operators.velocity_joints
                                     : &sim->operators.position_joints;
    lash_joint_solver_project(positions, step->tau);
}

void guess_stays(const LashSim* sim, Step* step, int block) {
    const LashSystem* system = sim->system;
    const Stencil* stencil = &step->stencil;
    for (int i = system->block_start[block]; i < system->block_start[block + 1]; ++i) {
        step->v[i] = sim->now.v[i];
        step->shift[i] = -(stencil->d_0[i] + stencil->d_v * step->v[i]);
    }
}

// D <- next, next <- next - D. Returns the sum of |D|: eight lanes that are added at the end, four to a
// register, since the compiler makes a mess of them by itself.
typedef double Lanes __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t LaneBits __attribute__((vector_size(32)));
LASH_VECTOR_CLONES static double exchange(int size, double* restrict D, double* restrict next) {
    const LaneBits magnitude = (LaneBits){0} + INT64_MAX;
    Lanes low = {0}, high = {0};
    double rest = 0;
    int i = 0;
    for (; i + 8 <= size; i += 8) {
        Lanes *to = (Lanes*)(D + i), *from = (Lanes*)(next + i);
        Lanes first = from[0], second = from[1];
        from[0] = first - to[0];
        from[1] = second - to[1];
        to[0] = first;
        to[1] = second;
        low += (Lanes)((LaneBits)first & magnitude);
        high += (Lanes)((LaneBits)second & magnitude);
    }
    for (; i < size; ++i) {
        double old = D[i];
        D[i] = next[i];
        next[i] -= old;
        rest += fabs(D[i]);
    }
    Lanes sum = low + high;
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest;
}

// Takes x into the columns of the table that are its place; next: room for as many numbers.
static void take_in(LashSim* sim, Span* span, Place place, const double* x, double* next) {
    bool couples = sim->operators.contacts != NULL || sim->operators.sparse != NULL;
    int most = couples ? ORDERS : FEW_ORDERS;
    int known = span->history < most ? span->history : most;
    double last = INFINITY;
    bool smooth = true; // each order so far much better than the one before
    span->order = 1;
    ++span->history;
    if (place.size == 0) return;
    memcpy(next, x, (size_t)place.size * sizeof *x);
    for (int j = 0; j <= known; ++j) {
        double error = exchange(place.size, sim->predictor.difference[j] + place.at, next);
        if (j == 0) continue;
        smooth = smooth && error < 0.7 * last;
        // The highest order there is has no error yet to compare: the one before stands for it.
        if (smooth) span->order = j == known && j < most ? j + 1 : j;
        last = error;
    }
}

// Ids of the active contacts, in their order.
static uint64_t key_of_contacts(const LashSim* sim) {
    uint64_t key = (uint64_t)sim->now.last.count;
    for (int i = 0; i < sim->now.last.count; ++i)
        key = (key ^ sim->now.last.id[i]) * 0x100000001b3u; // FNV
    return key;
}

void step_remember(LashSim* sim, const Step* step, bool smooth) {
    const double* x[SPANS] = {step->v,   step->shift,     step->P,
                              step->tau, sim->now.last.P, sim->now.last.tau};
    uint64_t key = key_of_contacts(sim);
    Place place[SPANS];
    lay_out_spans(sim, place);
    Scratch scratch = scratch_begin(sim);
    int most = place[CONTACT_TAU].at + place[CONTACT_TAU].size; // numbers of a line
    double* next = lash_arena_doubles(&sim->arena, (size_t)most);
    for (int i = 0; i < SPANS; ++i) {
        Span* span = &sim->predictor.span[i];
        bool others = i >= CONTACT_P && key != sim->predictor.contacts_key;
        if (!smooth || sim->predictor.history == 0 || others) span->history = 0;
        take_in(sim, span, place[i], x[i], next);
    }
    scratch_end(sim, scratch);
    sim->predictor.contacts_key = key;
    sim->predictor.history = smooth ? sim->predictor.history + 1 : 1;
    sim->experience.contraction_rate *= 0.9; // forgets: the next steps tell anew
    if (sim->experience.singular_steps > 0) --sim->experience.singular_steps;
    if (sim->experience.full_steps > 0) --sim->experience.full_steps;
    if (sim->experience.separate_steps > 0) --sim->experience.separate_steps;
}
