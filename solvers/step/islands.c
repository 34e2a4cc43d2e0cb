// The islands of a pass: bodies that hang together by joints, by forces and by the contacts that take
// part in it. Nothing couples two of them, so each has its own matrix, its own statuses of contacts and
// its own end of the iteration (iterate.c); all are evaluated together.
//
// They are found by joining trees of bodies (R. Tarjan, J. ACM 22, 1975), in the order of the list, and
// numbered by their first bodies: the answer depends on the list alone. Bodies that nothing touches are
// one island, the last: their matrix is diagonal. An island that is the same as in the pass before, by
// its bodies, joints and contacts, keeps its operator, factors included.
#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "solvers/step/rows.h"
#include "solvers/step/sparse_newton_internal.h"

// --- Memory --------------------------------------------------------------------------------------

Islands* islands_create(const LashSystem* system, const LashInteractionList* list) {
    Islands* islands = lash_alloc(sizeof *islands);
    SparseShared* shared = &islands->shared;
    size_t n = (size_t)system->nv + 1, blocks = (size_t)system->blocks + 1;
    size_t joints = (size_t)list->bilateral + 1;
    int** number[] = {&shared->body_node, &shared->body_x, &islands->of_block,
                      &islands->before,   &islands->place, &islands->body};
    for (size_t i = 0; i < sizeof number / sizeof number[0]; ++i)
        *number[i] = lash_alloc(blocks * sizeof(int));
    shared->joint_node = lash_alloc(joints * sizeof(int));
    shared->joint_x = lash_alloc(joints * sizeof(int));
    islands->joint = lash_alloc(joints * sizeof(int));
    double** vector[] = {&shared->dv,     &shared->dd,  &shared->force, &shared->move,
                         &shared->motion, &shared->off, &shared->work};
    for (size_t i = 0; i < sizeof vector / sizeof vector[0]; ++i)
        *vector[i] = lash_alloc(n * sizeof(double));
    shared->forces_t0 = -INFINITY;
    islands->sweeps = sweeps_create(system);
    return islands;
}

void islands_destroy(Islands* islands) {
    if (islands == NULL) return;
    SparseShared* shared = &islands->shared;
    sweeps_destroy(islands->sweeps);
    for (int k = 0; k < islands->capacity; ++k) sparse_island_destroy(islands->island[k]);
    void* owned[] = {shared->body_node, shared->joint_node, shared->body_x,   shared->joint_x,
                     shared->dv,        shared->dd,         shared->force,    shared->move,
                     shared->motion,    shared->off,        shared->work,     islands->island,
                     islands->spare,    islands->errors,    islands->done,    islands->convergence,
                     islands->of_block, islands->body,      islands->joint,   islands->contact,
                     islands->before,   islands->place,     islands->largest, islands->first,
                     islands->made,     islands->parts};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i) lash_free(owned[i]);
    lash_free(islands);
}

static void reserve(Islands* islands, int count) {
    if (count <= islands->capacity) return;
    int before = islands->capacity, after = count + count / 2 + 1;
    size_t n = (size_t)after;
    islands->island = lash_realloc(islands->island, n * sizeof(SparseNewton*));
    islands->spare = lash_realloc(islands->spare, n * sizeof(SparseNewton*));
    islands->errors = lash_realloc(islands->errors, n * sizeof *islands->errors);
    islands->done = lash_realloc(islands->done, n * sizeof *islands->done);
    islands->convergence = lash_realloc(islands->convergence, n * sizeof *islands->convergence);
    islands->made = lash_realloc(islands->made, n * sizeof *islands->made);
    islands->parts = lash_realloc(islands->parts, n * sizeof *islands->parts);
    islands->largest = lash_realloc(islands->largest, n * sizeof *islands->largest);
    islands->first = lash_realloc(islands->first, (n + 1) * sizeof *islands->first);
    for (int k = before; k < after; ++k)
        islands->island[k] = sparse_island_create(&islands->shared);
    islands->capacity = after;
}

// --- Which bodies hang together ------------------------------------------------------------------

static int root_of(int* parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// The smaller number is the root: that of the first body.
static void join(int* parent, int a, int b) {
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

static void join_touched(int* parent, const LashInteraction* item) {
    for (int k = 1; k < item->touched; ++k) join(parent, item->block[0], item->block[k]);
}

// Fills of_block; touched bodies first. Returns the number of islands.
static int number_islands(const LashSystem* system, const Step* step, Islands* islands) {
    const LashInteractionList* list = step->list;
    int *parent = islands->place, *number = islands->of_block, count = 0;
    for (int b = 0; b < system->blocks; ++b) {
        parent[b] = b;
        number[b] = -1;
    }
    for (int k = 0; k < system->pattern.count; ++k)
        join(parent, system->pattern.row[k], system->pattern.column[k]);
    for (int i = 0; i < list->count; ++i)
        if (i < list->bilateral || step->wanted[i]) join_touched(parent, &list->item[i]);
    for (int i = 0; i < list->count; ++i) { // -2: something touches it
        if (i >= list->bilateral && !step->wanted[i]) continue;
        const LashInteraction* item = &list->item[i];
        if (item->touched > 0) number[root_of(parent, item->block[0])] = -2;
    }
    for (int b = 0; b < system->blocks; ++b)
        if (number[b] == -2) number[b] = count++;
    bool loose = false;
    for (int b = system->blocks - 1; b >= 0; --b) { // roots come last
        int own = number[root_of(parent, b)];
        loose = loose || own < 0;
        number[b] = own < 0 ? count : own;
    }
    return count + loose;
}

static int island_of(const Islands* islands, const LashInteraction* item) {
    return item->touched > 0 ? islands->of_block[item->block[0]] : 0;
}

// --- Lists ---------------------------------------------------------------------------------------

// first (count + 1): how many there are of each island -> where they begin
static void add_up(int* first, int count) {
    for (int k = 0, sum = 0; k <= count; ++k) {
        int own = k < count ? first[k] : 0;
        first[k] = sum;
        sum += own;
    }
}

static void list_bodies(const LashSystem* system, Islands* islands, int count) {
    int* first = islands->first;
    memset(first, 0, ((size_t)count + 1) * sizeof *first);
    for (int b = 0; b < system->blocks; ++b) ++first[islands->of_block[b]];
    add_up(first, count);
    for (int b = 0; b < system->blocks; ++b) islands->body[first[islands->of_block[b]]++] = b;
}

static bool takes_part(const Step* step, int i, bool joints) {
    return joints ? true : step->wanted[i] != 0;
}

// Joints, or contacts: their numbers sorted by island.
static void list_items(const Step* step, Islands* islands, int count, bool joints, int* sorted) {
    const LashInteractionList* list = step->list;
    int* first = islands->first;
    int from = joints ? 0 : list->bilateral, to = joints ? list->bilateral : list->count;
    memset(first, 0, ((size_t)count + 1) * sizeof *first);
    for (int i = from; i < to; ++i)
        if (takes_part(step, i, joints)) ++first[island_of(islands, &list->item[i])];
    add_up(first, count);
    for (int i = from; i < to; ++i)
        if (takes_part(step, i, joints)) sorted[first[island_of(islands, &list->item[i])]++] = i;
}

static void list_contacts(const Step* step, Islands* islands, int count) {
    int contacts = 0;
    for (int i = step->list->bilateral; i < step->list->count; ++i) contacts += step->wanted[i];
    if (contacts > islands->contact_capacity) {
        islands->contact_capacity = 2 * contacts;
        islands->contact = lash_realloc(islands->contact, 2 * (size_t)contacts * sizeof(int));
    }
    list_items(step, islands, count, false, islands->contact);
}

// --- Operators -----------------------------------------------------------------------------------

static uint64_t mix(uint64_t key, uint64_t x) {
    return (key ^ x) * 0x100000001b3u; // FNV
}

static uint64_t contact_key(uint64_t key, const Step* step, int i) {
    key = mix(key, step->list->item[i].id);
    return mix(key, step->active[i] + 2u * (step->position[i] != POSITION_FREE));
}

static uint64_t first_key(const Step* step) {
    return step->levels == POSITIONS ? 1 : 0;
}

// Contacts that take part in the pass: ids, and which of their rows do.
static uint64_t pass_key(const Step* step) {
    uint64_t key = first_key(step);
    for (int i = step->list->bilateral; i < step->list->count; ++i)
        if (step->wanted[i]) key = contact_key(key, step, i);
    return key;
}

// The same of an island; its joints follow from its bodies.
static uint64_t island_key(const Step* step, const SparseNewton* newton) {
    uint64_t key = mix(first_key(step), (uint64_t)newton->bodies);
    for (int b = 0; b < newton->bodies; ++b) key = mix(key, (uint64_t)newton->body[b]);
    for (int s = 0; s < newton->slots; ++s) key = contact_key(key, step, newton->contact[s]);
    return key;
}

static void take_parts(SparseNewton* newton, const IslandParts* parts) {
    newton->bodies = parts->bodies;
    newton->joints = parts->joints;
    newton->slots = parts->slots;
    newton->body = parts->body;
    newton->joint = parts->joint;
    newton->contact = parts->contact;
}

// What belongs to each island.
static void list_parts(const LashSystem* system, const Step* step, Islands* islands, int count) {
    IslandParts* parts = islands->parts;
    const int* end = islands->first; // after a list is sorted
    list_bodies(system, islands, count);
    for (int k = 0, begin = 0; k < count; begin = end[k++]) {
        parts[k].body = islands->body + begin;
        parts[k].bodies = end[k] - begin;
    }
    list_items(step, islands, count, true, islands->joint);
    for (int k = 0, begin = 0; k < count; begin = end[k++]) {
        parts[k].joint = islands->joint + begin;
        parts[k].joints = end[k] - begin;
    }
    list_contacts(step, islands, count);
    for (int k = 0, begin = 0; k < count; begin = end[k++]) {
        parts[k].contact = islands->contact + begin;
        parts[k].slots = end[k] - begin;
    }
}

// The operator `newton` of an island before, where that of these parts is the same. False: it is not.
static bool is_same(const Step* step, SparseNewton* newton, const IslandParts* parts) {
    if (newton == NULL || !newton->known) return false;
    if (newton->bodies != parts->bodies || newton->joints != parts->joints ||
        newton->slots != parts->slots)
        return false;
    SparseNewton now = *newton;
    take_parts(&now, parts);
    return newton->key == island_key(step, &now);
}

// Bodies that nothing touches: are they some of those that nothing touched before?
static bool stays_loose(const Islands* islands, const IslandParts* parts, const SparseNewton* old) {
    bool loose = parts->joints + parts->slots + old->joints + old->slots == 0;
    for (int i = 0; i < parts->bodies && loose; ++i)
        loose = islands->before[parts->body[i]] == parts->before;
    return loose;
}

// What an island learns from the one before that its first body was in.
static void inherit(const Islands* islands, int count) {
    for (int k = 0; k < count; ++k) {
        IslandParts* parts = &islands->parts[k];
        parts->before = islands->known ? islands->before[parts->body[0]] : -1;
        const SparseNewton* old = parts->before < 0 ? NULL : islands->island[parts->before];
        parts->wait = old == NULL ? 0 : old->wait;
        parts->longest = old == NULL ? 0 : old->longest;
        parts->together = old == NULL ? 0 : old->together;
        parts->asked_nodes = old == NULL ? 0 : old->asked_nodes;
        parts->asked_loose = old != NULL && old->asked_loose;
        parts->longest_together = old == NULL ? 0 : old->longest_together;
        bool solved = old != NULL && stays_loose(islands, parts, old);
        parts->solved = solved ? old->solved : 0;
        parts->old_rate = old == NULL ? 0.1 : old->old_rate;
    }
}

// An operator made anew takes the memory of the one before it, which was of about its size.
static void take_memory(Islands* islands, int count) {
    for (int k = 0; k < count; ++k) {
        int before = islands->parts[k].before;
        islands->made[k] = islands->island[k] == NULL;
        if (!islands->made[k] || before < 0) continue;
        islands->island[k] = islands->spare[before];
        islands->spare[before] = NULL;
    }
}

// Operators: those before where the island is the same, others made anew in what is left over.
static void match_operators(const LashSim* sim, const Step* step, Islands* islands, int count) {
    SparseNewton **spare = islands->spare, **island = islands->island;
    int next = 0;
    memcpy(spare, island, (size_t)islands->capacity * sizeof(SparseNewton*));
    for (int k = 0; k < count; ++k) {
        int before = islands->parts[k].before;
        SparseNewton* old = before < 0 ? NULL : spare[before];
        bool same = is_same(step, old, &islands->parts[k]);
        island[k] = same ? old : NULL;
        if (same) spare[before] = NULL;
    }
    take_memory(islands, count);
    for (int k = 0; k < islands->capacity; ++k) {
        bool none = k >= count || island[k] == NULL;
        while (none && spare[next] == NULL) ++next;
        if (none) island[k] = spare[next++];
        if (k >= count) sparse_island_release(island[k]); // never looked at again
        if (k >= count) continue;
        take_parts(island[k], &islands->parts[k]);
        if (!islands->made[k]) {
            sparse_number_again(island[k]);
            continue;
        }
        island[k]->key = island_key(step, island[k]);
        island[k]->wait = islands->parts[k].wait;
        island[k]->longest = islands->parts[k].longest;
        island[k]->together = islands->parts[k].together;
        island[k]->asked_nodes = islands->parts[k].asked_nodes;
        island[k]->asked_loose = islands->parts[k].asked_loose;
        island[k]->longest_together = islands->parts[k].longest_together;
        island[k]->solved = islands->parts[k].solved;
        island[k]->old_rate = islands->parts[k].old_rate;
        sparse_structure(sim, step, island[k]);
    }
}

void islands_find(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    Islands* islands = sim->operators.sparse;
    uint64_t key = pass_key(step);
    int count = islands->count;
    if (!islands->known || islands->key != key) {
        memcpy(islands->before, islands->of_block, (size_t)system->blocks * sizeof(int));
        count = number_islands(system, step, islands);
        reserve(islands, count);
        list_parts(system, step, islands, count);
        inherit(islands, count);
        match_operators(sim, step, islands, count);
        islands->count = count;
        islands->key = key;
        islands->known = true;
    } else { // the list may have changed around the same contacts
        list_parts(system, step, islands, count);
        for (int k = 0; k < count; ++k) {
            take_parts(islands->island[k], &islands->parts[k]);
            sparse_number_again(islands->island[k]);
        }
    }
    for (int k = 0; k < count; ++k) {
        SparseNewton* newton = islands->island[k];
        if (newton->solved != sim->predictor.guesses) newton->b_norm = 0;
    }
}

void islands_forget(LashSim* sim) {
    Islands* islands = sim->operators.sparse;
    if (islands == NULL) return;
    for (int k = 0; k < islands->capacity; ++k) sparse_island_forget(islands->island[k]);
    islands->shared.forces_t0 = -INFINITY;
}

void islands_motion(const LashSim* sim, double** motion, double** off) {
    *motion = sim->operators.sparse->shared.motion;
    *off = sim->operators.sparse->shared.off;
}

bool sparse_may_be_shorter(const LashSim* sim, const Step* step) {
    return attempt_couples(step->attempt) && sim->settings.max_substeps > 1 &&
           sim->settings.max_substeps * step->h > 1.5 * sim->settings.h;
}

bool sparse_shorter_first(const LashSim* sim, const Step* step) {
    const Islands* islands = sim->operators.sparse;
    bool no_answer = false;
    if (!sim_is_sparse(sim)) return false;
    for (int k = 0; k < islands->count; ++k) no_answer = no_answer || islands->island[k]->no_answer;
    return no_answer && sparse_may_be_shorter(sim, step);
}

void sim_use_sparse(LashSim* sim) {
    if (sim->operators.contacts == NULL) return;
    contact_newton_destroy(sim->operators.contacts);
    sim->operators.contacts = NULL;
    if (sim->operators.sparse == NULL)
        sim->operators.sparse = islands_create(sim->system, sim->step.list);
}

// --- Products ------------------------------------------------------------------------------------

void island_multiply(const LashSim* sim, const SparseNewton* newton, const double* A,
                     const double* x, double* y) {
    const LashSystem* system = sim->system;
    const LashBlocks* pattern = &system->pattern;
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i], m = lash_block_size(system, b);
        double* to = y + system->block_start[b];
        memset(to, 0, (size_t)m * sizeof *to);
        for (int k = sim->operators.pattern_first[b]; k < sim->operators.pattern_first[b + 1];
             ++k) {
            int p = sim->operators.pattern_block[k];
            lash_block_multiply_one(m, lash_block_size(system, pattern->column[p]),
                                    A + pattern->offset[p],
                                    x + system->block_start[pattern->column[p]], to);
        }
    }
}

// --- Errors --------------------------------------------------------------------------------------

static double dynamics_of(const LashSim* sim, const SparseNewton* newton, const double* x) {
    const LashSystem* system = sim->system;
    double largest = 0;
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i];
        for (int k = system->block_start[b]; k < system->block_start[b + 1]; ++k)
            largest = worse(largest, sim->weight[k] * fabs(x[k]));
    }
    return largest;
}

static double motion_of(const LashSim* sim, const SparseNewton* newton) {
    const LashSystem* system = sim->system;
    double largest = 0;
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i];
        for (int k = system->block_start[b]; k < system->block_start[b + 1]; ++k)
            largest = worse(largest, fabs(newton->shared->off[k]));
    }
    return largest;
}

// Of joints, in velocity and position.
static void joints_of(const Step* step, const SparseNewton* newton, IslandErrors* errors) {
    for (int j = 0; j < newton->joints; ++j) {
        const LashInteraction* item = &step->list->item[newton->joint[j]];
        for (int k = item->row; k < item->row + item->rows; ++k) {
            errors->velocity = worse(errors->velocity, fabs(step->U[k]));
            errors->position = worse(errors->position, fabs(step->g[k]));
        }
    }
}

static void measure_all(LashSim* sim, Step* step, Islands* islands) {
    size_t nv = (size_t)sim->system->nv;
    Scratch scratch = scratch_begin(sim);
    double* x = scratch_velocity(sim);
    memcpy(x, step->r, nv * sizeof *x);
    lash_block_lu_solve(sim->operators.M, x);
    for (int k = 0; k < islands->count; ++k) {
        const SparseNewton* newton = islands->island[k];
        IslandErrors errors = {.dynamics = dynamics_of(sim, newton, x)};
        joints_of(step, newton, &errors);
        if (step->levels == POSITIONS)
            errors.position = worse(errors.position, motion_of(sim, newton));
        islands->errors[k] = errors;
    }
    scratch_end(sim, scratch);
    for (int c = 0; c < step->nc; ++c) {
        int k = island_of(islands, &step->list->item[step->contact[c]]);
        step->b_norm = islands->island[k]->b_norm;
        IslandErrors* errors = &islands->errors[k];
        errors->contact = worse(errors->contact, contact_law_error(sim, step, step->contact[c]));
    }
    for (int n = 0; n < step->nn && step->levels == POSITIONS; ++n) {
        int k = island_of(islands, &step->list->item[step->normal[n]]);
        IslandErrors* errors = &islands->errors[k];
        errors->position = worse(errors->position, contact_gap_error(step, n));
    }
}

double islands_scale(const LashSim* sim) {
    const Islands* islands = sim->operators.sparse;
    double largest = 0;
    for (int k = 0; k < islands->count; ++k) largest = worse(largest, islands->island[k]->b_norm);
    return largest;
}

void islands_measure(LashSim* sim, Step* step) {
    Islands* islands = sim->operators.sparse;
    if (islands->count == 1) {
        islands->errors[0] = (IslandErrors){step->dynamics_error, step->velocity_error,
                                            step->contact_error, step->position_error};
        return;
    }
    measure_all(sim, step, islands);
    step->b_norm = islands_scale(sim);
    islands_unfocus(sim, step);
}

void island_focus(const LashSim* sim, Step* step, int k) {
    const IslandErrors* errors = &sim->operators.sparse->errors[k];
    step->dynamics_error = errors->dynamics;
    step->velocity_error = errors->velocity;
    step->contact_error = errors->contact;
    step->position_error = errors->position;
}

void islands_unfocus(const LashSim* sim, Step* step) {
    Islands* islands = sim->operators.sparse;
    IslandErrors all = {0};
    for (int k = 0; k < islands->count; ++k) {
        all.dynamics = worse(all.dynamics, islands->errors[k].dynamics);
        all.velocity = worse(all.velocity, islands->errors[k].velocity);
        all.contact = worse(all.contact, islands->errors[k].contact);
        all.position = worse(all.position, islands->errors[k].position);
    }
    islands->worst = all;
    step->dynamics_error = all.dynamics;
    step->velocity_error = all.velocity;
    step->contact_error = all.contact;
    step->position_error = all.position;
}

// Closed where it pushes: the kinds of the rows of the position problem; resting: of
// islands that rest or are solved only.
static void note_kinds(const LashSim* sim, Step* step, bool resting) {
    const Islands* islands = sim->operators.sparse;
    for (int k = 0; k < islands->count; ++k) {
        const SparseNewton* newton = islands->island[k];
        double largest = 0;
        for (int s = 0; s < newton->slots; ++s) {
            const Slot* slot = &newton->slot[s];
            if (slot->rows > 0) largest = fmax(largest, step->P[step->list->item[slot->item].row]);
        }
        islands->largest[k] = largest;
    }
    for (int n = 0; n < step->nn; ++n) {
        int i = step->normal[n];
        const LashInteraction* item = &step->list->item[i];
        int k = island_of(islands, item);
        double pushes = tuning.pushes * islands->largest[k];
        const Convergence* convergence = &islands->convergence[k];
        if (resting && !convergence->rests && !convergence->solved) continue;
        bool pushed = step->active[i] && step->P[item->row] > pushes &&
                      (resting || !is_empty(step, item)) &&
                      step->position[i] == POSITION_CLOSED_IF_PUSHED;
        step->kind_n[n] = pushed ? LASH_PROJECT_EQUALITY : LASH_PROJECT_INEQUALITY;
    }
}

void islands_note_kinds(const LashSim* sim, Step* step) {
    note_kinds(sim, step, false);
}

// --- Rest ----------------------------------------------------------------------------------------

// Nothing moved at the start of the step, and it has the contacts of the last one.
static bool rests(const LashSim* sim, const Step* step, const SparseNewton* newton) {
    const LashSystem* system = sim->system;
    if (sim->predictor.history == 0 || newton->joints > 0 || newton->slots == 0) return false;
    for (int k = 0; k < newton->bodies; ++k) {
        int b = newton->body[k];
        for (int i = system->block_start[b]; i < system->block_start[b + 1]; ++i)
            if (!(sim->weight[i] * fabs(sim->now.v[i]) <= sim->settings.tolerance_velocity))
                return false;
    }
    for (int s = 0; s < newton->slots; ++s)
        if (last_place(sim, step->list->item[newton->contact[s]].id) < 0) return false;
    return true;
}

static void stay(const LashSim* sim, Step* step, const SparseNewton* newton) {
    for (int k = 0; k < newton->bodies; ++k) guess_stays(sim, step, newton->body[k]);
    for (int s = 0; s < newton->slots; ++s) {
        const LashInteraction* item = &step->list->item[newton->contact[s]];
        int at = last_place(sim, item->id);
        for (int r = 0; r < item->rows; ++r)
            step->P[item->row + r] = sim->now.last.steady[3 * at + r];
        step->tau[item->row] = 0;
    }
}

// Bodies that nothing touches fly on when others are struck, which ends what the predictor knows of all.
static bool flies(const LashSim* sim, const Step* step, const SparseNewton* newton) {
    return newton->slots + newton->joints == 0 && sim->now.steady_h == step->h;
}

static void fly(const LashSim* sim, Step* step, const SparseNewton* newton) {
    const LashSystem* system = sim->system;
    bool struck = sim->predictor.span[SPAN_V].history < 2;
    for (int k = 0; k < newton->bodies && struck; ++k) {
        int b = newton->body[k];
        for (int i = system->block_start[b]; i < system->block_start[b + 1]; ++i)
            step->v[i] = sim->now.v[i] + sim->now.steady_change[i];
    }
}

void islands_guess(LashSim* sim, Step* step) {
    static const double ROUNDING = 1e-5; // 1e-15 m/s, so that free bodies keep their energy
    Islands* islands = sim->operators.sparse;
    bool any = false;
    for (int k = 0; k < islands->count; ++k) {
        bool solved = islands->island[k]->solved == sim->predictor.guesses;
        bool still = !solved && rests(sim, step, islands->island[k]);
        islands->convergence[k].rests = still;
        islands->convergence[k].solved = solved;
        bool free = !solved && flies(sim, step, islands->island[k]);
        if (still) stay(sim, step, islands->island[k]);
        if (still) islands->convergence[k].enough = step->goal;
        if (free) fly(sim, step, islands->island[k]);
        if (free) islands->convergence[k].enough = ROUNDING;
        any = any || still || solved;
    }
    if (any) note_kinds(sim, step, true);
}

// --- An iterate that passes ----------------------------------------------------------------------

typedef enum Direction { KEEP, RESTORE } Direction;

static void copy(Direction direction, double* iterate, double* kept, int count) {
    size_t bytes = (size_t)count * sizeof *iterate;
    if (direction == KEEP)
        memcpy(kept, iterate, bytes);
    else
        memcpy(iterate, kept, bytes);
}

static void copy_rows(Direction direction, const LashSim* sim, Step* step,
                      const LashInteraction* item) {
    double *P = step->kept + sim->system->nv, *tau = P + step->list->rows;
    copy(direction, step->P + item->row, P + item->row, item->rows);
    copy(direction, step->tau + item->row, tau + item->row, item->rows);
}

static void copy_island(Direction direction, const LashSim* sim, Step* step,
                        const SparseNewton* newton) {
    const LashSystem* system = sim->system;
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i], at = system->block_start[b], n = lash_block_size(system, b);
        copy(direction, step->v + at, step->kept + at, n);
        copy(direction, step->shift + at, step->kept_shift + at, n);
    }
    for (int j = 0; j < newton->joints; ++j)
        copy_rows(direction, sim, step, &step->list->item[newton->joint[j]]);
    for (int s = 0; s < newton->slots; ++s)
        copy_rows(direction, sim, step, &step->list->item[newton->contact[s]]);
}

void island_keep(const LashSim* sim, Step* step, const SparseNewton* newton) {
    copy_island(KEEP, sim, step, newton);
}

void island_restore(const LashSim* sim, Step* step, const SparseNewton* newton) {
    copy_island(RESTORE, sim, step, newton);
}

// --- Saving --------------------------------------------------------------------------------------

void islands_archive(const LashSim* sim, Islands* islands, LashArchive* archive) {
    enum { MOST = 1 << 27 };
    const LashSystem* system = sim->system;
    SparseShared* shared = &islands->shared;
    size_t nv = (size_t)system->nv, blocks = (size_t)system->blocks;
    size_t joints = (size_t)sim->step.list->bilateral;
    int count = islands->count;
    lash_archive_count(archive, &count, MOST);
    if (lash_archive_reads(archive) && !archive->failed) reserve(islands, count);
    if (archive->failed) return;
    islands->count = count;
    lash_archive(archive, &islands->key, sizeof islands->key);
    lash_archive(archive, &islands->known, sizeof islands->known);
    lash_archive(archive, islands->of_block, blocks * sizeof *islands->of_block);
    lash_archive(archive, &shared->soft, sizeof shared->soft);
    lash_archive(archive, &shared->forces_t0, sizeof shared->forces_t0);
    lash_archive(archive, shared->body_node, blocks * sizeof(int));
    lash_archive(archive, shared->body_x, blocks * sizeof(int));
    lash_archive(archive, shared->joint_node, joints * sizeof(int));
    lash_archive(archive, shared->joint_x, joints * sizeof(int));
    double* vector[] = {shared->dv,     shared->dd,  shared->force, shared->move,
                        shared->motion, shared->off, shared->work};
    for (size_t i = 0; i < sizeof vector / sizeof vector[0]; ++i)
        lash_archive(archive, vector[i], nv * sizeof(double));
    for (int k = 0; k < count && !archive->failed; ++k)
        sparse_island_archive(islands->island[k], archive);
}

// --- The operator of an iteration ----------------------------------------------------------------

static Derivatives derivatives(const LashSim* sim, const Step* step) {
    (void)step;
    return sim->operators.sparse->island[0]->derivatives;
}

const Operator operator_sparse = {.name = "sparse", .derivatives = derivatives};
