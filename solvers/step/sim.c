// A run: memory, the step with its acceptance, state and results.
#include "solvers/sim.h"

#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "core/error.h"
#include "solvers/cone/friction_internal.h"
#include "solvers/schemes/scheme.h"

// --- Memory --------------------------------------------------------------------------------------

typedef struct Piece {
    void* memory;
    size_t bytes;
} Piece;
typedef struct Take { // first pass counts, second pass gives
    LashArena* arena;
    size_t bytes;
    Piece* piece; // (pieces) what was given, in order; NULL: nobody asks
    int pieces;
} Take;

static void* take(Take* t, size_t bytes) {
    t->bytes += (bytes + 63) / 64 * 64;
    void* memory = NULL; // zero: never used
    if (t->arena->memory != NULL) memory = lash_arena_push(t->arena, bytes);
    if (t->piece != NULL) t->piece[t->pieces] = (Piece){memory, bytes};
    ++t->pieces;
    return memory;
}
// The same for what nothing remembers from one call to the next: it is not copied, so that pages which are never
// used are never there.
static void* take_scratch(Take* t, size_t bytes) {
    void* memory = take(t, bytes);
    if (t->piece != NULL) t->piece[t->pieces - 1].bytes = 0;
    return memory;
}
static double* take_doubles(Take* t, size_t n) {
    return take(t, n * sizeof(double));
}

static void lay_out_last(LastContacts* last, int contacts, Take* t) {
    size_t n = (size_t)contacts;
    last->id = take(t, n * sizeof(uint64_t));
    last->closed = take(t, n);
    last->state = take(t, n);
    last->P = take_doubles(t, 3 * n);
    last->U = take_doubles(t, 3 * n);
    last->tau = take_doubles(t, n);
    last->steady = take_doubles(t, 3 * n);
}

static void lay_out_step(Step* step, const LashSystem* system, const Sizes* sizes, Take* t) {
    size_t nv = (size_t)system->nv, nq = (size_t)system->nq, rows = (size_t)sizes->rows;
    size_t count = (size_t)sizes->interactions, G = (size_t)sizes->G;
    step->active = take(t, count);
    step->position = take(t, count);
    step->wanted = take(t, count);
    step->has_U_start = take(t, count);
    step->state = take(t, count);
    step->keep = take(t, count);
    step->work = take_doubles(t, 2 * count);
    step->U_start = take_doubles(t, rows);
    step->gap_start = take_doubles(t, count);
    step->scale = take_doubles(t, count);
    step->v = take_doubles(t, nv);
    step->answer = take_doubles(t, nv);
    step->dv = take_doubles(t, nv);
    step->kept = take_doubles(t, nv + 3 * rows);
    step->kept_shift = take_doubles(t, nv);
    step->P = take_doubles(t, rows);
    step->P_low = take_doubles(t, rows);
    step->tau = take_doubles(t, rows);
    step->steady = take_doubles(t, rows);
    step->shift = take_doubles(t, nv);
    step->d = take_doubles(t, nv);
    step->q_end = take_doubles(t, nq);
    for (int i = 0; i < 4; ++i) step->room[i] = take_doubles(t, nq);
    step->stencil.d_0 = take_doubles(t, nv);
    step->stencil.f_0 = take_doubles(t, nv);
    step->stencil.v_star = take_doubles(t, nv);
    step->stencil.r_0 = take_doubles(t, nv);
    step->w = take_doubles(t, nv);
    step->w_used = take_doubles(t, nv);
    step->v_force = take_doubles(t, nv);
    step->F = take_doubles(t, nv);
    step->r = take_doubles(t, nv);
    step->g = take_doubles(t, rows);
    step->g_t = take_doubles(t, rows);
    step->G = take_doubles(t, G);
    step->g_star = take_doubles(t, rows);
    step->g_t_star = take_doubles(t, rows);
    step->G_star = take_doubles(t, G);
    step->G_hat = take_doubles(t, G);
    step->U = take_doubles(t, rows);
}

size_t sim_history_size(const LashSim* sim) {
    return (size_t)(sim->scheme->history_q * sim->system->nq +
                    sim->scheme->history_v * sim->system->nv);
}

static void lay_out_state(const LashSim* sim, State* state, Take* t) {
    const LashSystem* system = sim->system;
    size_t drivers = (size_t)sim->drivers.count;
    state->q = take_doubles(t, (size_t)system->nq);
    state->v = take_doubles(t, (size_t)system->nv);
    state->history = take_doubles(t, sim_history_size(sim));
    state->driver_x = take_doubles(t, drivers);
    state->driver_speed = take_doubles(t, drivers);
    state->steady_change = take_doubles(t, (size_t)system->nv);
    lay_out_last(&state->last, sim->sizes.contacts, t);
}

static void lay_out_contacts(Step* step, const Sizes* sizes, Take* t) {
    size_t nc = (size_t)sizes->contacts, m = (size_t)sizes->contact_rows;
    size_t full = (size_t)sizes->dense, rows = (size_t)sizes->dense_rows;
    step->contact = take(t, nc * sizeof(int));
    step->first = take(t, nc * sizeof(int));
    step->normal = take(t, nc * sizeof(int));
    step->kind = take(t, nc);
    step->kind_n = take(t, 2 * nc);
    step->held = take(t, m);
    step->W = take_scratch(t, rows * (rows + 8) * sizeof(double));
    step->b = take_doubles(t, m + 8);
    step->P_c = take_doubles(t, m);
    step->dP_c = take_doubles(t, m);
    step->U_c = take_doubles(t, m);
    step->mu = take_doubles(t, nc);
    step->A_n = take_scratch(t, full * full * sizeof(double));
    step->gap_n = take_doubles(t, nc);
    step->tau_n = take_doubles(t, nc);
    step->gap_new = take_doubles(t, nc);
    step->P_n = take_doubles(t, nc);
}

static void lay_out_predictor(Predictor* predictor, const LashSystem* system, const Sizes* sizes,
                              Take* t) {
    size_t line = 2 * (size_t)(system->nv + sizes->joint_rows) + 4 * (size_t)sizes->contacts;
    predictor->guess = take_doubles(t, line);
    for (int i = 0; i <= ORDERS; ++i) predictor->difference[i] = take_doubles(t, line);
}

static void lay_out_operators(Operators* operators, const LashSystem* system, const Sizes* sizes,
                              Take* t) {
    size_t values = (size_t)system->pattern.offset[system->pattern.count], touched = 0;
    size_t nv = (size_t)system->nv;
    operators->pattern_first = take(t, (size_t)(system->blocks + 1) * sizeof(int));
    operators->pattern_block = take(t, (size_t)system->pattern.count * sizeof(int));
    operators->M_values = take_doubles(t, values);
    operators->C_values = take_doubles(t, values);
    operators->K_values = take_doubles(t, values);
    operators->A_values = take_doubles(t, values);
    if (system->nv <= RESPONSE_LIMIT && sizes->contacts > 0) {
        operators->B = take_doubles(t, nv * nv);
        operators->B_n = take_doubles(t, nv * nv);
    }
    for (int i = 0; i < system->blocks; ++i) {
        size_t n = (size_t)lash_block_size(system, i);
        if (n > touched) touched = n;
    }
    touched *= LASH_MAX_TOUCHED;
    operators->contraction =
        take_doubles(t, touched * (touched > LASH_MAX_ROWS ? touched : LASH_MAX_ROWS));
}

static void lay_out_solvers(Solvers* solvers, const Sizes* sizes, Take* t) {
    int contacts = sizes->dense, rows = sizes->dense_rows;
    if (contacts == 0) return;
    solvers->friction = take_scratch(t, lash_friction_work_size(contacts, rows));
    solvers->levenberg = take_scratch(t, friction_levenberg_size(contacts, rows) * sizeof(double));
    solvers->projection = take_scratch(t, lash_projection_work_size(contacts));
}

// Room of the functions of a step, each between mark and release: the deepest nesting of them.
static size_t scratch_bytes(const LashSim* sim) {
    enum { NESTED = 16 };
    const LashSystem* system = sim->system;
    size_t n = (size_t)(system->nv + system->nq + sim->sizes.rows);
    size_t most = NESTED * (n * sizeof(double) + 3 * 64);
    if (sim->settings.coupled) most += coupled_scratch(sim->sizes.dense, sim->sizes.dense_rows);
    return most;
}

// Where the sparse operator solves for contacts, full matrices need not hold all of them.
static void limit_full_matrices(const LashSystem* system, Sizes* sizes) {
    sizes->dense = sizes->contacts;
    sizes->dense_rows = sizes->contact_rows;
    bool sparse = system->nv > RESPONSE_LIMIT && sparse_newton_possible(system);
    if (!sparse || sizes->dense_rows <= DENSE_ROWS) return;
    if (sizes->dense > DENSE_ROWS / 3) sizes->dense = DENSE_ROWS / 3;
    sizes->dense_rows = 3 * sizes->dense;
}

enum { PUSHES_PER_CONTACT = 4, EVENTS_PER_CONTACT = 16 }; // of a step with its parts

static int smaller(int a, int b) {
    return a < b ? a : b;
}
static int larger(int a, int b) {
    return a > b ? a : b;
}

// Room to begin with. Contacts that act at once need matrices: of many that are listed few act, and
// where more do, the run grows (make_room).
static Sizes first_sizes(const LashSystem* system, const LashInteractionList* list) {
    enum { FIRST_CONTACTS = 256 };
    Sizes sizes = {.interactions = larger(system->max_interactions, list->count),
                   .rows = larger(system->max_rows, list->rows),
                   .G = larger(system->max_G, list->G_size),
                   .joint_rows = list->bilateral_rows};
    sizes.contacts = smaller(sizes.interactions - list->bilateral, FIRST_CONTACTS);
    sizes.contact_rows = smaller(sizes.rows - list->bilateral_rows, 3 * FIRST_CONTACTS);
    limit_full_matrices(system, &sizes);
    return sizes;
}

static void lay_out(LashSim* sim, Take* t) {
    const LashSystem* system = sim->system;
    const Sizes* sizes = &sim->sizes;
    size_t nv = (size_t)system->nv, nq = (size_t)system->nq, rows = (size_t)sizes->rows;
    size_t drivers = (size_t)sim->drivers.count;
    sim->last_places.place = take(t, (size_t)(4 * sizes->contacts + 64) * sizeof(int));
    sim->weight = take_doubles(t, nv);
    sim->failure.q = take_doubles(t, nq);
    sim->failure.v = take_doubles(t, nv);
    sim->failure.start_q = take_doubles(t, nq);
    lay_out_state(sim, &sim->now, t);
    sim->now.q = sim->place; // stays where callers have seen it
    sim->now.v = sim->place + nq;
    lay_out_state(sim, &sim->saved, t);
    sim->drivers.row = take(t, drivers * sizeof(int));
    sim->drivers.x_end = take_doubles(t, drivers);
    sim->drivers.speed_end = take_doubles(t, drivers);
    lay_out_predictor(&sim->predictor, system, sizes, t);
    lay_out_operators(&sim->operators, system, sizes, t);
    lay_out_solvers(&sim->solvers, sizes, t);
    sim->reactions.P = take_doubles(t, rows);
    sim->reactions.parts = take_doubles(t, (size_t)sizes->joint_rows);
    sim->pushes.capacity = PUSHES_PER_CONTACT * (sizes->contacts + 1);
    sim->pushes.item = take(t, (size_t)sim->pushes.capacity * sizeof *sim->pushes.item);
    sim->events.capacity = EVENTS_PER_CONTACT * (sizes->contacts + 1);
    sim->events.item = take(t, (size_t)sim->events.capacity * sizeof *sim->events.item);
    lay_out_step(&sim->step, system, sizes, t);
    lay_out_contacts(&sim->step, sizes, t);
}

static void reserve(LashSim* sim) {
    Take t = {.arena = &sim->arena};
    lay_out(sim, &t);
    lash_arena_reserve(&sim->arena, t.bytes + scratch_bytes(sim) + 64);
}

// Is a step cheaper with the sparse operator of contacts than with full matrices? Measured on stacks,
// walls, chains, gear trains and four-bars of 2 to 16 bodies in motion (docs/solvers.md): full matrices
// take 0.2 to 2.5 ns for the cube of the freedoms that joints leave, the sparse ones 1.1 to 7 us for a
// velocity. A quarter less must be promised: steps in which a part is held by dependent rows need full
// matrices all the same, after the sparse operator has tried (a breaker of 8 free parts and 39 contacts
// would take 1.1 to 1.7 times as long). test_models_scale
static bool sparse_is_cheaper(const LashSystem* system, const LashInteractionList* list) {
    const double full_ns = 1, sparse_ns = 2000, gain = 1.25;
    double free = system->nv - list->bilateral_rows;
    if (free < 0) free = 0;
    return full_ns * free * free * free > gain * sparse_ns * system->nv;
}

static void create_contact_newton(LashSim* sim, const LashInteractionList* list) {
    sim->operators.contacts =
        contact_newton_create(sim->system, list, sim->operators.M_values, &sim->sizes);
}

// The values that a factorisation was made from have moved with everything else.
static void move_matrix(LashBlockLu* lu, const Take* old, const Take* new) {
    const char *matrix = (const char*)lash_block_lu_matrix(lu), *moved = NULL;
    for (int i = 0; i < old->pieces && matrix != NULL && moved == NULL; ++i) {
        const char* from = old->piece[i].memory;
        bool inside = matrix >= from && matrix < from + old->piece[i].bytes;
        if (inside) moved = (const char*)new->piece[i].memory + (matrix - from);
    }
    lash_block_lu_name_matrix(lu, (const double*)(const void*)moved);
}

// Lays everything out again, with more room: between steps, or at the beginning of one. All that a
// run keeps is copied; only guesses of the next step are forgotten.
static void make_room(LashSim* sim, const LashInteractionList* list, const Sizes* sizes) {
    Take old = {.arena = &sim->arena}, new = {.arena = &sim->arena};
    sim->arena.used = 0;
    lay_out(sim, &old); // once more, where everything is: counts
    old.piece = lash_alloc((size_t)old.pieces * sizeof *old.piece);
    new.piece = lash_alloc((size_t)old.pieces * sizeof *new.piece);
    sim->arena.used = 0;
    old.pieces = 0;
    lay_out(sim, &old);
    LashArena before = sim->arena;
    sim->arena = (LashArena){0};
    sim->sizes = *sizes;
    limit_full_matrices(sim->system, &sim->sizes);
    reserve(sim);
    lay_out(sim, &new);
    LASH_ASSERT(old.pieces == new.pieces);
    for (int i = 0; i < old.pieces; ++i) {
        const Piece *from = &old.piece[i], *to = &new.piece[i];
        if (from->bytes > 0 && to->bytes > 0)
            memcpy(to->memory, from->memory, from->bytes < to->bytes ? from->bytes : to->bytes);
    }
    move_matrix(sim->operators.A, &old, &new);
    move_matrix(sim->operators.M, &old, &new);
    move_matrix(sim->operators.N, &old, &new);
    lash_free(old.piece);
    lash_free(new.piece);
    lash_arena_free(&before);
    sim->predictor.history = 0;
    operator_forget(sim);
    contact_newton_forget(sim);
    if (sim->operators.contacts == NULL) return;
    contact_newton_destroy(sim->operators.contacts);
    create_contact_newton(sim, list);
}

void sim_fit_list(LashSim* sim, const LashInteractionList* list) {
    Sizes sizes = sim->sizes;
    if (list->count <= sizes.interactions && list->rows <= sizes.rows && list->G_size <= sizes.G)
        return;
    sizes.interactions = larger(sizes.interactions, list->count + list->count / 2);
    sizes.rows = larger(sizes.rows, list->rows + list->rows / 2);
    sizes.G = larger(sizes.G, list->G_size + list->G_size / 2);
    make_room(sim, list, &sizes);
}

void sim_fit_sizes(LashSim* sim, const Sizes* sizes) {
    if (memcmp(sizes, &sim->sizes, sizeof *sizes) != 0) make_room(sim, sim->step.list, sizes);
}

void sim_lay_out(LashSim* sim) {
    Take t = {.arena = &sim->arena};
    sim->arena.used = 0;
    lay_out(sim, &t);
}

// Room for more contacts at once; false: there is room for all that are listed.
static bool fit_contacts(LashSim* sim) {
    const LashInteractionList* list = sim->step.list;
    Sizes sizes = sim->sizes;
    int count = list->count - list->bilateral, rows = list->rows - list->bilateral_rows;
    if (sizes.contacts >= count && sizes.contact_rows >= rows) return false;
    sizes.contacts = larger(sizes.contacts, smaller(2 * sizes.contacts, count));
    sizes.contact_rows = larger(sizes.contact_rows, smaller(2 * sizes.contact_rows, rows));
    make_room(sim, list, &sizes);
    return true;
}

// Errors of velocities are measured in m/s: those of a rigid body that turns at its radius of
// gyration. Lagrangian velocities count as they are.
static void weigh_velocities(LashSim* sim, const double* q) {
    const LashSystem* system = sim->system;
    for (int i = 0; i < system->nv; ++i) sim->weight[i] = 1;
    if (system->linear_motion) return;
    system->mass(system, sim->work, q, sim->operators.M_values);
    for (int b = 0; b < system->blocks; ++b) {
        const double* M = sim->operators.M_values + system->pattern.offset[b];
        for (int i = 3; i < 6 && lash_block_size(system, b) == 6; ++i)
            sim->weight[system->block_start[b] + i] = sqrt(M[7 * i] / M[0]);
    }
}

LashSim* lash_sim_create(const LashSystem* system, const LashSettings* settings) {
    LASH_ASSERT(system != NULL);
    LASH_ASSERT(lash_settings_check(settings, NULL));
    LASH_ASSERT(lash_settings_fit(settings, system, NULL));
    LashSim* sim = lash_alloc(sizeof *sim);
    sim->system = system;
    sim->settings = *settings;
    sim->work = system->work_create(system);
    sim->scheme = scheme_of(settings);
    scheme_options(settings, sim->option);
    if (sim->scheme->coefficients != NULL) sim->scheme->coefficients(sim->option, sim->coefficient);
    bool closes_gaps = sim->scheme->projection != PROJECTS_NOTHING;
    if (system->set_levers != NULL)
        system->set_levers(sim->work, closes_gaps ? LASH_OWN_POINTS : LASH_COMMON_POINT);
    if (system->set_exchange != NULL) system->set_exchange(sim->work, sim->scheme->exchanges);
    sim->reach = 2;
    sim->experience.contraction_rate = sim->experience.old_rate = 0.1;
    sim->step.attempt = settings->full_newton ? ATTEMPT_ALL_DERIVATIVES : ATTEMPT_KEPT;
    sim->experience.derivatives = DERIVATIVES_FORCES;
    double* start = lash_alloc((size_t)(system->nq + system->nv) * sizeof *start);
    system->initial_state(system, start, start + system->nq);
    const LashInteractionList* list =
        system->collect(system, sim->work, 0, start, start + system->nq, settings->h, sim->reach);
    sim->drivers.count = drivers_count(list);
    sim->place = lash_alloc((size_t)(system->nq + system->nv) * sizeof *sim->place);
    sim->sizes = first_sizes(system, list);
    reserve(sim);
    lay_out(sim, &(Take){.arena = &sim->arena});
    pattern_sort(sim);
    weigh_velocities(sim, start);
    sim->operators.A = lash_block_lu_create(system);
    sim->operators.M = lash_block_lu_create(system);
    sim->operators.N = lash_block_lu_create(system);
    lash_joint_solver_init(&sim->operators.velocity_joints, system, list, settings->joints);
    lash_joint_solver_init(&sim->operators.position_joints, system, list, settings->joints);
    lash_joint_solver_init(&sim->reactions.joints, system, list, settings->joints);
    if (list->bilateral > 0) sim->operators.full = full_newton_create(system, list);
    bool large = system->nv > RESPONSE_LIMIT || sparse_is_cheaper(system, list);
    bool sparse = large && sim->sizes.contacts > 0 && sparse_newton_possible(system);
    if (sim->operators.B != NULL && system->constant_mass) { // contacts between rigid bodies
        system->mass(system, sim->work, start, sim->operators.M_values);
        if (lash_block_lu_factor(sim->operators.M, sim->operators.M_values))
            create_contact_newton(sim, list);
    }
    if (sparse) {
        system->mass(system, sim->work, start, sim->operators.M_values);
        if (lash_block_lu_factor(sim->operators.M, sim->operators.M_values))
            sim->operators.sparse = islands_create(system, list);
    }
    lash_sim_set_state(sim, 0, start, start + system->nq);
    lash_free(start);
    return sim;
}

void lash_sim_destroy(LashSim* sim) {
    if (sim == NULL) return;
    sim->system->work_destroy(sim->system, sim->work);
    lash_block_lu_destroy(sim->operators.A);
    lash_block_lu_destroy(sim->operators.M);
    lash_block_lu_destroy(sim->operators.N);
    full_newton_destroy(sim->operators.full);
    contact_newton_destroy(sim->operators.contacts);
    islands_destroy(sim->operators.sparse);
    lash_joint_solver_free(&sim->operators.velocity_joints);
    lash_joint_solver_free(&sim->operators.position_joints);
    lash_joint_solver_free(&sim->reactions.joints);
    lash_arena_free(&sim->arena);
    lash_free(sim->place);
    lash_free(sim);
}

bool lash_sim_set_input(LashSim* sim, int input, double from, double to) {
    const LashSystem* system = sim->system;
    if (input < 0 || input >= system->inputs || !isfinite(from) || !isfinite(to)) return false;
    LashInput signal = {sim->now.t, sim->now.t + sim->settings.h, from, to};
    system->set_input(sim->work, input, &signal);
    return true;
}

void lash_sim_set_state(LashSim* sim, double t, const double* q, const double* v) {
    const LashSystem* system = sim->system;
    sim->now.t = t;
    memmove(sim->now.q, q, (size_t)system->nq * sizeof *q);
    memmove(sim->now.v, v, (size_t)system->nv * sizeof *v);
    sim->predictor.history = 0;
    sim->now.last.count = 0;
    sim->now.steady_h = 0;
    operator_forget(sim);
    contact_newton_forget(sim);
    sim->now.h = sim->settings.h;
    if (sim->scheme->start != NULL) sim->scheme->start(sim);
    system->accept(system, sim->work, t, sim->now.q, sim->now.v);
    system->mass(system, sim->work, sim->now.q, sim->operators.M_values);
    sim->now.energy = (LashEnergy){0};
    sim->now.energy.kinetic = energy_kinetic(sim, sim->now.q, sim->now.v);
    sim->now.energy.potential = system->potential(system, sim->work, t, sim->now.q);
    sim->now.energy.start = sim->now.energy.kinetic + sim->now.energy.potential;
    sim->step.list =
        system->collect(system, sim->work, t, sim->now.q, sim->now.v, sim->settings.h, sim->reach);
    sim_fit_list(sim, sim->step.list);
    drivers_start(sim);
}

// --- The step ------------------------------------------------------------------------------------

// One step of length h, or one part of a step: the new state, or the old one where it fails.
static LashOutcome one_step(LashSim* sim, double h) {
    Step* step = &sim->step;
    LashOutcome outcome = LASH_FAILED;
    double reach = sim->reach;
    sim->failure.fault.kind = LASH_FAULT_NONE;
    for (int k = 0; k < tuning.reach_attempts && !sim_stopped(sim); ++k) {
        do {
            step->outside = false;
            step->crowded = false;
            step_begin(sim, step, h);
            outcome = sim->scheme->advance(sim, step);
        } while (outcome != LASH_CONVERGED && step->crowded && fit_contacts(sim));
        if (outcome == LASH_CONVERGED || !step->outside) break;
        sim->reach *= 8; // farther than promised: promise more
    }
    sim->reach = reach;
    return step_accept(sim, step, outcome);
}

// Forgets what an attempt left behind that is not state: errors it ran into, guesses, the operator
// of its step length.
static void start_again(LashSim* sim) {
    LashStepInfo* info = &sim->info;
    info->position_error = info->penetration = info->velocity_error = info->dynamics_error = 0;
    info->contacts = info->opening = info->demoted = 0;
    sim->events.count = 0;
    info->shift = 0;
    pushes_clear(sim);
    sim->predictor.history = 0;
    operator_forget(sim);
}

void last_contacts_copy(const LastContacts* from, LastContacts* to) {
    size_t n = (size_t)from->count;
    to->count = from->count;
    if (n == 0) return;
    memcpy(to->id, from->id, n * sizeof *to->id);
    memcpy(to->closed, from->closed, n * sizeof *to->closed);
    memcpy(to->state, from->state, n * sizeof *to->state);
    memcpy(to->P, from->P, 3 * n * sizeof *to->P);
    memcpy(to->U, from->U, 3 * n * sizeof *to->U);
    memcpy(to->tau, from->tau, n * sizeof *to->tau);
    memcpy(to->steady, from->steady, 3 * n * sizeof *to->steady);
}

static void copy_state(const LashSim* sim, const State* from, State* to) {
    size_t nq = (size_t)sim->system->nq, nv = (size_t)sim->system->nv;
    size_t drivers = (size_t)sim->drivers.count;
    to->t = from->t;
    to->h = from->h;
    to->energy = from->energy;
    to->steady_h = from->steady_h;
    memcpy(to->q, from->q, nq * sizeof *to->q);
    memcpy(to->v, from->v, nv * sizeof *to->v);
    memcpy(to->steady_change, from->steady_change, nv * sizeof *to->steady_change);
    memcpy(to->history, from->history, sim_history_size(sim) * sizeof *to->history);
    last_contacts_copy(&from->last, &to->last);
    if (drivers == 0) return;
    memcpy(to->driver_x, from->driver_x, drivers * sizeof *to->driver_x);
    memcpy(to->driver_speed, from->driver_speed, drivers * sizeof *to->driver_speed);
}

// P of the step just solved with the joints' part replaced by the one of minimum norm that gives
// the same G* P.
static void joint_reactions(LashSim* sim) {
    const Step* step = &sim->step;
    memcpy(sim->reactions.P, step->P, (size_t)step->list->rows * sizeof *step->P);
    if (step->list->bilateral == 0) return;
    const LashJointSolver* joints = &sim->operators.velocity_joints; // at full rank P is unique
    if (joints->rows == step->list->bilateral_rows && joints->rank == joints->rows) return;
    if (!lash_block_lu_factor(sim->operators.M, sim->operators.M_values)) return;
    lash_joint_solver_minimum_norm(&sim->reactions.joints, step->list, step->G_star,
                                   sim->operators.M, sim->reactions.P);
}

static void add_part_reactions(LashSim* sim) {
    joint_reactions(sim);
    for (int r = 0; r < sim->sizes.joint_rows; ++r) sim->reactions.parts[r] += sim->reactions.P[r];
}

// The step in `parts` equal parts; all of them or none.
static LashOutcome step_in_parts(LashSim* sim, double t, int parts) {
    LashOutcome outcome = LASH_CONVERGED;
    start_again(sim);
    sim->info.substeps = parts;
    memset(sim->reactions.parts, 0, (size_t)sim->sizes.joint_rows * sizeof(double));
    for (int k = 0; k < parts && outcome == LASH_CONVERGED; ++k) {
        outcome = one_step(sim, sim->settings.h / parts);
        if (outcome == LASH_CONVERGED) add_part_reactions(sim);
    }
    if (outcome == LASH_CONVERGED) {
        sim->now.t = t + sim->settings.h;
    } else {
        copy_state(sim, &sim->saved, &sim->now);
        sim->system->accept(sim->system, sim->work, t, sim->now.q, sim->now.v); // turn counters
    }
    return outcome;
}

// Numbers below 1e-308 count as zero during a step: what is left of an out-of-plane motion that
// dies out would otherwise make every operation on it a hundred times slower.
static unsigned flush_tiny_numbers(void) {
#ifdef __SSE2__
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040u); // flush to zero, denormals are zero
    return before;
#else
    return 0;
#endif
}
static void restore_tiny_numbers(unsigned before) {
#ifdef __SSE2__
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

// The step whole, or else in more and more parts.
static LashOutcome step_whole_or_in_parts(LashSim* sim, double t) {
    sim->info.substeps = 1;
    LashOutcome outcome = one_step(sim, sim->settings.h);
    for (int parts = 2;
         parts <= sim->settings.max_substeps && !sim->stopped && outcome != LASH_CONVERGED;
         parts *= 2) {
        if (parts == 2) copy_state(sim, &sim->now, &sim->saved);
        outcome = step_in_parts(sim, t, parts);
    }
    return outcome;
}

// The same, and where it has no solution as a jam, if rounding may be why; or the other way round, where steps
// before were jams.
static LashOutcome step_or_jam(LashSim* sim, double t) {
    Jam* jam = &sim->jam;
    bool at_once = jam->steps > 0;
    jam->suspected = false;
    jam->tried = at_once;
    LashOutcome outcome = step_whole_or_in_parts(sim, t);
    if (outcome != LASH_CONVERGED && !sim->stopped && (at_once || jam->suspected)) {
        jam->tried = !at_once;
        if (sim->info.substeps > 1) copy_state(sim, &sim->saved, &sim->now); // to the last bit
        start_again(sim);
        outcome = step_whole_or_in_parts(sim, t);
    }
    if (outcome == LASH_CONVERGED) jam_learn(jam, at_once);
    jam->tried = false;
    return outcome;
}

LashStepInfo lash_sim_step(LashSim* sim) {
    LASH_ASSERT(sim != NULL);
    unsigned before = flush_tiny_numbers();
    double t = sim->now.t;
    sim->info = (LashStepInfo){.index_set = 1, .substeps = 1, .worst = LASH_NOWHERE};
    sim->events.count = 0;
    sim->reactions.clean = false;
    sim->stopped = false;
    pushes_clear(sim);
    sim->info.outcome = step_or_jam(sim, t);
    if (sim->stopped && sim->info.outcome != LASH_CONVERGED) sim->info.outcome = LASH_INTERRUPTED;
    LashFaultKind known = sim->failure.fault.kind;
    bool unexplained = (known == LASH_FAULT_NONE || known == LASH_FAULT_CONTACTS) && !sim->stopped;
    if (sim->info.outcome != LASH_CONVERGED && unexplained && conflict_find(sim))
        sim->failure.fault = (LashFault){.kind = LASH_FAULT_CONFLICT,
                                         .t = sim->failure.start_t,
                                         .id = sim->failure.conflict[0].id};
    if (sim->info.substeps > 1) operator_forget(sim); // its step length was another
    restore_tiny_numbers(before);
    if (sim->info.outcome == LASH_CONVERGED) ++sim->steps;
    return sim->info;
}

LashStepInfo lash_sim_step_n(LashSim* sim, int n, int* done) {
    LashStepInfo info = {.outcome = LASH_CONVERGED};
    int count = 0;
    while (count < n) {
        info = lash_sim_step(sim);
        if (info.outcome != LASH_CONVERGED) break;
        ++count;
    }
    if (done != NULL) *done = count;
    return info;
}

void lash_sim_set_stop(LashSim* sim, LashStop stop) {
    sim->stop = stop;
}

const LashConflict* lash_sim_conflicts(const LashSim* sim, int* count) {
    *count = sim->failure.fault.kind == LASH_FAULT_CONFLICT ? sim->failure.conflicts : 0;
    return sim->failure.conflict;
}

LashFault lash_sim_fault(const LashSim* sim) {
    return sim->failure.fault;
}

// --- Results -------------------------------------------------------------------------------------

double lash_sim_time(const LashSim* sim) {
    LASH_ASSERT(sim != NULL);
    return sim->now.t;
}
uint64_t lash_sim_steps(const LashSim* sim) {
    return sim->steps;
}
void lash_sim_state(const LashSim* sim, const double** q, const double** v) {
    *q = sim->now.q;
    *v = sim->now.v;
}
LashSystemWork* lash_sim_work(LashSim* sim) {
    return sim->work;
}
const LashInteractionList* lash_sim_interactions(const LashSim* sim) {
    return sim->step.list;
}
// P of the last step, all its parts. Of contacts that the list of the last part does not know any
// more only the pushes tell.
const double* lash_sim_impulses(LashSim* sim) {
    const LashInteractionList* list = sim->step.list;
    if (sim->steps == 0) return sim->step.P;
    if (sim->reactions.clean) return sim->reactions.P;
    joint_reactions(sim);
    sim->reactions.clean = true;
    if (sim->info.substeps < 2) return sim->reactions.P;
    memcpy(sim->reactions.P, sim->reactions.parts, (size_t)sim->sizes.joint_rows * sizeof(double));
    for (int i = list->bilateral; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        const LashPush* push = NULL;
        for (int k = 0; k < sim->pushes.count && push == NULL; ++k) {
            if (sim->pushes.item[k].id == item->id) push = &sim->pushes.item[k];
        }
        for (int r = 0; r < item->rows; ++r)
            sim->reactions.P[item->row + r] = push == NULL ? 0 : push->P[r];
    }
    return sim->reactions.P;
}
const double* lash_sim_contact_impulses(const LashSim* sim) {
    return sim->step.P;
}
const double* lash_sim_gaps(const LashSim* sim) {
    return sim->step.g;
}
const double* lash_sim_velocities(const LashSim* sim) {
    return sim->step.U;
}

LashEnergy lash_sim_energy(LashSim* sim) {
    sim->now.energy.kinetic = energy_kinetic(sim, sim->now.q, sim->now.v);
    sim->now.energy.potential =
        sim->system->potential(sim->system, sim->work, sim->now.t, sim->now.q);
    sim->now.energy.algorithmic = NAN;
    if (sim->scheme->algorithmic != NULL)
        sim->now.energy.algorithmic =
            sim->now.energy.kinetic + sim->now.energy.potential + sim->scheme->algorithmic(sim);
    return sim->now.energy;
}
