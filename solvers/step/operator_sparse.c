// The Newton correction of a step with contacts, velocities and positions coupled, on the sparse
// structure of bodies, joints and contacts: its cost is linear in a chain, a row, a train of parts.
//
// Unknowns are the changes of v, of the increment d, of P and tau of the joints, and P and tau of
// the contacts themselves; w = d_v of the stencil, C(x) = d(G x)/dq, D = d(G'v + dg/dt)/dq:
//
//     dynamics    (M + c_v C) dv + (c_d K - star_d C*(P)) dd - G* dP       = -r
//     motion      (M - C(tau)) dd - w M dv - G dtau                        = m = G tau - M shift
//     joints      G'dv = -U,   G'dd = -g
//     contacts    the law of impact and friction in (P, u),  u = U + shift + G'dv + D dd
//                 g + G'dd = 0 where P_N > 0,  0 <= g + G'dd perp tau >= 0 elsewhere
//
// as operator_contacts.c has it; where that eliminates joints and closed contacts by full matrices,
// here every body is a node of 12 unknowns (dv, dd), every joint one of (dP, dtau), and the points
// between the same parts one of (P, tau) each. A node's block is eliminated once one of its bodies
// is, so that it holds G'A^-1 G* and needs no pivots outside (block_order.c).
//
// The law is one of statuses (open, sticks, slips; closed or not), found by a semismooth Newton
// iteration inside the correction (sparse_correct.c). Points of a flat face depend on each other:
// the diagonal of contacts in the factor carries `shift` times lambda, the residual does not, so
// that repeated solutions with one factor converge to the equations without it, and what rows leave
// open stays as it was: from P = 0, the smallest forces.
//
// Whoever adds a term to the dynamics adds it in three places that must agree: write_bodies (the
// matrix), dynamics_left of sparse_correct.c (the same times (dv, dd)) and structure_graph (which bodies
// are coupled; the pattern of the system is, in both directions). Matrix and product need not be
// symmetric. The factor may be an old one: it is only what the inner iteration is preconditioned by.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "solvers/linear/rank.h"
#include "solvers/step/rows.h"
#include "solvers/step/sparse_newton_internal.h"

enum {
    BODY = 6,           // velocities of a block, at most
    GROUP = 8,          // points of one node, at most: larger nodes cost more than they save
    FIRST_FACTORS = 150 // of an island in a pass, before it is tried otherwise
};

// Share of lambda on the diagonal of contacts: rounding of the factors grows with its inverse. A mode
// of less mobility (300 links bend out of their plane as one beam: 1e-10) needs many corrections, and
// its impulses follow whatever error they leave. Held by test_models_scale.
static const double DIAGONAL = 1e-11;
// The same where contacts stand at any place in the order of elimination: until both of their bodies are
// eliminated nothing else is on their diagonal, and factors have numbers of its inverse. With 1e-9 and 1e-11
// a pile of 200 balls needs five times as many factors; from 1e-8 to 1e-6 it is indifferent. 64 hanging links,
// which have no loops, would need 2 times as many with 1e-8, 11 times with 1e-7.
static const double LOOSE_DIAGONAL = 1e-8;
// An order with contacts at any place must promise this share of the work of the other: rows of four-bars
// have 0.47 and need more factors with it, piles of 100 balls and walls of 100 bricks 0.3.
static const double CHEAPER = 0.4;
// The same of tau with interior points, which leave positions to the corrections after them: gaps of
// faces that lie on each other need not fit to more than what they are off.
static const double INSIDE = 1e-6;

bool sparse_newton_possible(const LashSystem* system) {
    if (!system->constant_mass || system->linear_motion || system->unit_metric) return false;
    for (int b = 0; b < system->blocks; ++b)
        if (lash_block_size(system, b) > BODY) return false;
    return true;
}

SparseNewton* sparse_island_create(SparseShared* shared) {
    SparseNewton* newton = lash_alloc(sizeof *newton);
    newton->shared = shared;
    newton->old_rate = 0.1;
    return newton;
}

static void free_graph(LashBlockGraph* graph) {
    const void* owned[] = {graph->size, graph->rows, graph->a, graph->b};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i)
        lash_free((void*)(uintptr_t)owned[i]);
    *graph = (LashBlockGraph){0};
}

void sparse_island_release(SparseNewton* newton) {
    sparse_split_forget(newton);
    lash_block_lu_destroy(newton->lu);
    free_graph(&newton->graph);
    newton->lu = NULL;
}

void sparse_island_destroy(SparseNewton* newton) {
    sparse_island_release(newton);
    void* owned[] = {newton->slot,   newton->D,          newton->turn,     newton->turn_tau,
                     newton->y,      newton->x,          newton->best,     newton->kept,
                     newton->center, newton->velocities, newton->positions};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i) lash_free(owned[i]);
    lash_free(newton);
}

void sparse_island_forget(SparseNewton* newton) {
    newton->h = 0;
    newton->factored = false;
}

// --- Structure -----------------------------------------------------------------------------------

static bool touches_same(const LashInteraction* a, const LashInteraction* b) {
    if (a->touched != b->touched || joint_friction(a) || joint_friction(b)) return false;
    for (int i = 0; i < a->touched; ++i)
        if (a->block[i] != b->block[i]) return false;
    return true;
}

static void make_room(SparseNewton* newton, int slots) {
    if (slots <= newton->slot_capacity) return;
    newton->slot_capacity = 2 * slots;
    newton->slot = lash_realloc(newton->slot, (size_t)newton->slot_capacity * sizeof *newton->slot);
}

// Lists the slots and puts them into nodes, numbered from `node` on. Returns the nodes after them.
static int list_slots(const LashSystem* system, const Step* step, SparseNewton* newton, int node) {
    int in_node = 0;
    newton->D_size = newton->turn_size = 0;
    make_room(newton, newton->slots + 1);
    for (int s = 0; s < newton->slots; ++s) {
        int i = newton->contact[s];
        const LashInteraction* item = &step->list->item[i];
        Slot* slot = &newton->slot[s];
        bool joins =
            s > 0 && in_node < GROUP && touches_same(item, &step->list->item[slot[-1].item]);
        if (!joins) {
            ++node;
            in_node = 0;
        }
        *slot = (Slot){.item = i,
                       .node = node - 1,
                       .tau_at = in_node,
                       .rows = step->active[i] ? item->rows : 0,
                       .has_tau = newton->parts == 2 && step->position[i] != POSITION_FREE,
                       .D = newton->D_size,
                       .turn = newton->turn_size};
        for (int b = 0; b < item->touched; ++b)
            slot->size += lash_block_size(system, item->block[b]);
        ++in_node;
        newton->D_size += slot->size * item->rows;
        newton->turn_size += slot->size * slot->size;
    }
    return node;
}

typedef struct Edges {
    int count, capacity;
    int *a, *b;
} Edges;

static void add_edge(Edges* edges, int a, int b) {
    if (a == b) return;
    if (edges->count == edges->capacity) {
        edges->capacity = 2 * edges->capacity + 64;
        edges->a = lash_realloc(edges->a, (size_t)edges->capacity * sizeof(int));
        edges->b = lash_realloc(edges->b, (size_t)edges->capacity * sizeof(int));
    }
    edges->a[edges->count] = a;
    edges->b[edges->count++] = b;
}

static void couple(Edges* edges, const SparseShared* shared, const LashInteraction* item, int node,
                   bool turns) {
    for (int k = 0; k < item->touched; ++k) {
        int body = shared->body_node[item->block[k]];
        add_edge(edges, node, body);
        for (int l = 0; l < k && turns; ++l)
            add_edge(edges, shared->body_node[item->block[l]], body);
    }
}

static Edges structure_edges(const LashSim* sim, const Step* step, const SparseNewton* newton) {
    const LashSystem* system = sim->system;
    const SparseShared* shared = newton->shared;
    Edges edges = {0};
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i];
        for (int k = sim->operators.pattern_first[b]; k < sim->operators.pattern_first[b + 1]; ++k)
            add_edge(&edges, shared->body_node[b],
                     shared->body_node[system->pattern.column[sim->operators.pattern_block[k]]]);
    }
    for (int j = 0; j < newton->joints; ++j) {
        int i = newton->joint[j];
        couple(&edges, shared, &step->list->item[i], shared->joint_node[i], false);
    }
    for (int s = 0; s < newton->slots; ++s) {
        const LashInteraction* item = &step->list->item[newton->slot[s].item];
        couple(&edges, shared, item, newton->slot[s].node, true);
        if (joint_friction(item))
            add_edge(&edges, newton->slot[s].node, shared->joint_node[item->load]);
    }
    return edges;
}

// The factors of another graph, whose arrays become the operator's.
static void take_graph(SparseNewton* newton, const LashBlockGraph* graph) {
    sparse_island_release(newton);
    newton->graph = *graph;
    newton->lu = lash_block_lu_create_graph(graph);
}

// Where each unknown stands: of bodies, joints and contacts one after the other, node by node.
static void place_unknowns(const LashSystem* system, const Step* step, SparseNewton* newton) {
    SparseShared* shared = newton->shared;
    int next = 0;
    for (int i = 0; i < newton->bodies; ++i) {
        shared->body_x[newton->body[i]] = next;
        next += newton->parts * lash_block_size(system, newton->body[i]);
    }
    for (int j = 0; j < newton->joints; ++j) {
        shared->joint_x[newton->joint[j]] = next;
        next += newton->parts * step->list->item[newton->joint[j]].rows;
    }
    for (int s = 0; s < newton->slots; ++s) {
        newton->slot[s].x = next;
        next += newton->slot[s].rows + newton->slot[s].has_tau;
    }
    newton->unknowns = next;
}

static void name_contacts(SparseNewton* newton, uint8_t* rows, bool loose) {
    for (int s = 0; s < newton->slots; ++s)
        rows[newton->slot[s].node] = loose ? LASH_NODE_LOOSE_ROWS : LASH_NODE_SHIFTED_ROWS;
}

// Where contacts close loops, bodies first and contacts after them makes far more fill than any order. Asked
// again once an island has grown or shrunk by a quarter.
static bool loose_is_cheaper(SparseNewton* newton, const LashBlockGraph* graph, uint8_t* rows) {
    if (!sparse_closes_loops(newton)) return false;
    int change = abs(newton->nodes - newton->asked_nodes);
    if (newton->asked_nodes > 0 && 4 * change <= newton->asked_nodes) return newton->asked_loose;
    newton->asked_nodes = newton->nodes;
    name_contacts(newton, rows, true);
    double enough = lash_block_order_cost_up_to(graph, INFINITY) / CHEAPER;
    name_contacts(newton, rows, false);
    newton->asked_loose = lash_block_order_cost_up_to(graph, enough) > enough;
    return newton->asked_loose;
}

double sparse_plain_share(const SparseNewton* newton) {
    return newton->loose ? LOOSE_DIAGONAL : DIAGONAL;
}

double sparse_share(const SparseNewton* newton) {
    return fmax(sparse_plain_share(newton), newton->prox);
}

static int matrix_parts(const SparseNewton* newton) {
    return newton->split ? 1 : newton->parts;
}

static int matrix_rows(const SparseNewton* newton, const Slot* slot) {
    return slot->rows + (slot->has_tau && !newton->split);
}

static void make_factors(const LashSim* sim, const Step* step, SparseNewton* newton, bool strict) {
    int* size = lash_alloc((size_t)(newton->nodes + 1) * sizeof(int));
    uint8_t* rows = lash_alloc((size_t)newton->nodes + 1);
    for (int i = 0; i < newton->bodies; ++i)
        size[i] = matrix_parts(newton) * lash_block_size(sim->system, newton->body[i]);
    for (int j = 0; j < newton->joints; ++j) {
        size[newton->bodies + j] = newton->parts * step->list->item[newton->joint[j]].rows;
        rows[newton->bodies + j] = LASH_NODE_ROWS;
    }
    for (int s = 0; s < newton->slots; ++s) {
        Slot* slot = &newton->slot[s];
        slot->at = size[slot->node];
        size[slot->node] += matrix_rows(newton, slot);
    }
    Edges edges = structure_edges(sim, step, newton);
    LashBlockGraph graph = {.nodes = newton->nodes,
                            .edges = edges.count,
                            .size = size,
                            .rows = rows,
                            .a = edges.a,
                            .b = edges.b};
    newton->loose = !strict && loose_is_cheaper(newton, &graph, rows);
    name_contacts(newton, rows, newton->loose);
    take_graph(newton, &graph);
    if (newton->split) sparse_split_structure(newton);
    newton->factored = false;
}

// Room for twice as many numbers as are needed now; what is far more than that was another island's and is
// given back. False: it stays as it is.
static bool refit(int needed, int* capacity) {
    enum { AMPLE = 8, FEW = 1024 };
    if (needed <= *capacity && *capacity <= AMPLE * needed + FEW) return false;
    *capacity = 2 * needed + 1;
    return true;
}

static void fit_vectors(SparseNewton* newton) {
    if (refit(newton->unknowns, &newton->vector_capacity)) {
        double** vector[] = {&newton->y,      &newton->x,          &newton->best,     &newton->kept,
                             &newton->center, &newton->velocities, &newton->positions};
        for (size_t i = 0; i < sizeof vector / sizeof vector[0]; ++i)
            *vector[i] = lash_realloc(*vector[i], (size_t)newton->vector_capacity * sizeof(double));
    }
    if (refit(newton->D_size, &newton->D_capacity))
        newton->D = lash_realloc(newton->D, (size_t)newton->D_capacity * sizeof(double));
    if (refit(newton->turn_size, &newton->turn_capacity)) {
        size_t bytes = (size_t)newton->turn_capacity * sizeof(double);
        newton->turn = lash_realloc(newton->turn, bytes);
        newton->turn_tau = lash_realloc(newton->turn_tau, bytes);
    }
}

void sparse_number_again(SparseNewton* newton) {
    for (int s = 0; s < newton->slots; ++s) newton->slot[s].item = newton->contact[s];
}

void sparse_structure(const LashSim* sim, const Step* step, SparseNewton* newton) {
    SparseShared* shared = newton->shared;
    newton->parts = step->levels == POSITIONS ? 2 : 1;
    for (int i = 0; i < newton->bodies; ++i) shared->body_node[newton->body[i]] = i;
    for (int j = 0; j < newton->joints; ++j)
        shared->joint_node[newton->joint[j]] = newton->bodies + j;
    newton->nodes = list_slots(sim->system, step, newton, newton->bodies + newton->joints);
    place_unknowns(sim->system, step, newton);
    fit_vectors(newton);
    newton->factored = false;
    newton->h = 0;
    newton->known = true;
    sparse_island_release(newton); // those of another set
    newton->listed = true;
}

// --- Saving --------------------------------------------------------------------------------------

// Reading: an array of so many bytes is made, and what it points to comes from the archive.
static const void* pass_array(LashArchive* archive, const void* array, size_t bytes) {
    void* data = (void*)(uintptr_t)array;
    if (lash_archive_reads(archive)) data = lash_alloc(bytes + 1);
    lash_archive(archive, data, bytes);
    return data;
}

static void pass_graph(SparseNewton* newton, LashArchive* archive) {
    enum { MOST = 1 << 27 };
    LashBlockGraph graph = newton->graph;
    bool made = newton->lu != NULL;
    lash_archive(archive, &made, sizeof made);
    if (!made) return;
    lash_archive_count(archive, &graph.nodes, MOST);
    lash_archive_count(archive, &graph.edges, MOST);
    size_t nodes = (size_t)graph.nodes, edges = (size_t)graph.edges;
    graph.size = pass_array(archive, graph.size, (nodes + 1) * sizeof *graph.size);
    graph.rows = pass_array(archive, graph.rows, nodes + 1);
    graph.a = pass_array(archive, graph.a, edges * sizeof *graph.a);
    graph.b = pass_array(archive, graph.b, edges * sizeof *graph.b);
    if (!lash_archive_reads(archive)) return;
    if (archive->failed)
        free_graph(&graph);
    else
        take_graph(newton, &graph);
}

#define PASS(member) lash_archive(archive, &newton->member, sizeof newton->member)
void sparse_island_archive(SparseNewton* newton, LashArchive* archive) {
    enum { MOST = 1 << 27 };
    pass_graph(newton, archive);
    int* count[] = {&newton->bodies, &newton->joints, &newton->unknowns,
                    &newton->slots,  &newton->D_size, &newton->turn_size};
    for (size_t i = 0; i < sizeof count / sizeof count[0]; ++i)
        lash_archive_count(archive, count[i], MOST);
    if (lash_archive_reads(archive)) {
        make_room(newton, newton->slots + 1);
        fit_vectors(newton);
    }
    PASS(key);
    PASS(parts);
    PASS(loose);
    PASS(split);
    PASS(positions_factored);
    PASS(asked_nodes);
    PASS(asked_loose);
    PASS(together);
    PASS(longest_together);
    PASS(curved);
    PASS(derivatives);
    PASS(factored);
    PASS(fresh);
    PASS(h);
    PASS(t0);
    PASS(factors);
    PASS(again);
    PASS(held);
    PASS(wait);
    PASS(longest);
    PASS(singular);
    PASS(no_answer);
    PASS(interior);
    PASS(made_prox);
    PASS(prox);
    PASS(b_norm);
    PASS(nodes);
    PASS(known);
    PASS(listed);
    PASS(solved);
    PASS(old_rate);
    size_t unknowns = (size_t)newton->unknowns;
    lash_archive(archive, newton->slot, (size_t)newton->slots * sizeof *newton->slot);
    lash_archive(archive, newton->D, (size_t)newton->D_size * sizeof(double));
    lash_archive(archive, newton->turn, (size_t)newton->turn_size * sizeof(double));
    lash_archive(archive, newton->turn_tau, (size_t)newton->turn_size * sizeof(double));
    double* inner[] = {newton->y, newton->x, newton->best, newton->kept, newton->center};
    for (size_t i = 0; i < sizeof inner / sizeof inner[0]; ++i)
        lash_archive(archive, inner[i], unknowns * sizeof(double));
    if (newton->lu == NULL || archive->failed) return;
    lash_block_lu_archive(newton->lu, archive);
    if (!newton->split) return;
    if (lash_archive_reads(archive)) sparse_split_structure(newton);
    lash_block_lu_archive(newton->position_lu, archive);
}
#undef PASS

// --- Derivatives ---------------------------------------------------------------------------------

// Do the forces change by less than a hundredth of the masses within a step?
static bool forces_are_soft(const LashSim* sim, const Step* step) {
    const LashSystem* system = sim->system;
    const LashBlocks* pattern = &system->pattern;
    double c_v = step->stencil.c_v, c_k = step->stencil.c_d * step->stencil.d_v;
    for (int b = 0; b < pattern->count; ++b) {
        int row = pattern->row[b], column = pattern->column[b], at = pattern->offset[b];
        int rows = lash_block_size(system, row), columns = lash_block_size(system, column);
        const double* M_row = sim->operators.M_values + pattern->offset[row];
        const double* M_column = sim->operators.M_values + pattern->offset[column];
        for (int j = 0; j < columns; ++j) {
            for (int i = 0; i < rows; ++i, ++at) {
                double change = c_v * fabs(sim->operators.C_values[at]) +
                                c_k * fabs(sim->operators.K_values[at]);
                double masses = M_row[i + rows * i] * M_column[j + columns * j];
                if (change * change > tuning.soft * tuning.soft * masses) return false;
            }
        }
    }
    return true;
}

// D of a slot, packed like G: weight times what contract gave, (rows x n)
static void pack_row_derivatives(const LashSystem* system, const LashInteraction* item,
                                 double weight, const double* from, double* D) {
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]);
        for (int r = 0; r < item->rows; ++r)
            for (int k = 0; k < n; ++k) *D++ = weight * from[r + item->rows * k];
        from += item->rows * n;
    }
}

static void derive_slot(LashSim* sim, Step* step, SparseNewton* newton, const Slot* slot,
                        bool moves) {
    const LashSystem* system = sim->system;
    const LashInteraction* item = &step->list->item[slot->item];
    double dGv[LASH_MAX_ROWS * LASH_MAX_TOUCHED * BODY];
    double *turn = newton->turn + slot->turn, *turn_tau = newton->turn_tau + slot->turn;
    double tau[LASH_MAX_ROWS] = {moves && slot->has_tau ? step->tau[item->row] : 0};
    bool mean = step->stencil.law == LASH_FREMOND; // rows of the law are those of G*
    size_t bytes = (size_t)(slot->size * slot->size) * sizeof(double);
    bool pushes = slot->rows > 0 && step->P[item->row] != 0;
    memset(turn, 0, bytes);
    memset(turn_tau, 0, bytes);
    memset(newton->D + slot->D, 0, (size_t)(slot->size * item->rows) * sizeof(double));
    if (newton->derivatives != DERIVATIVES_ALL || slot->rows == 0) return;
    if (pushes || mean)
        system->contract(system, sim->work, step->stencil.t_star, step->q_star, slot->item,
                         step->P + item->row, step->v, pushes ? turn : NULL, mean ? dGv : NULL);
    if (!mean || tau[0] != 0)
        system->contract(system, sim->work, step->t0 + step->h, step->q_end, slot->item, tau,
                         step->v, tau[0] != 0 ? turn_tau : NULL, mean ? NULL : dGv);
    pack_row_derivatives(system, item, mean ? step->stencil.star_d : 1, dGv, newton->D + slot->D);
    newton->curved = newton->curved || tau[0] != 0;
}

void sparse_derive(LashSim* sim, Step* step, SparseNewton* newton, Derivatives wanted) {
    const LashSystem* system = sim->system;
    SparseShared* shared = newton->shared;
    if (shared->forces_t0 != step->t0) { // forces change little within a step
        system->tangents(system, sim->work, step->stencil.t_force, step->q_force, step->v_force,
                         sim->operators.C_values, sim->operators.K_values);
        shared->soft = forces_are_soft(sim, step);
        shared->forces_t0 = step->t0;
    }
    if (step->stencil.star_d == 0 && wanted == DERIVATIVES_ALL) // directions of the start stay
        wanted = DERIVATIVES_FORCES;
    newton->derivatives = wanted;
    newton->curved = false;
    double largest = 0;
    for (int k = 0; k < newton->bodies; ++k) {
        int b = newton->body[k];
        for (int i = system->block_start[b]; i < system->block_start[b + 1]; ++i)
            largest = fmax(largest, fabs(step->shift[i]));
    }
    bool moves = newton->parts == 2 && largest >= tuning.small_shift;
    for (int s = 0; s < newton->slots; ++s) derive_slot(sim, step, newton, &newton->slot[s], moves);
    newton->h = step->h;
    newton->t0 = step->t0;
    newton->fresh = false;
}

// --- Matrix --------------------------------------------------------------------------------------

// Adds block p of the system's pattern at D.
static void write_block(const LashSim* sim, const Step* step, int parts, int p, double* D) {
    const LashSystem* system = sim->system;
    const LashBlocks* pattern = &system->pattern;
    double c_v = step->stencil.c_v, c_d = step->stencil.c_d, w = step->stencil.d_v;
    int m = lash_block_size(system, pattern->row[p]),
        n = lash_block_size(system, pattern->column[p]), ld = parts * m;
    const double *M = sim->operators.M_values + pattern->offset[p],
                 *C = sim->operators.C_values + pattern->offset[p],
                 *K = sim->operators.K_values + pattern->offset[p];
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
            int at = i + m * j;
            if (parts == 1) {
                D[i + ld * j] += M[at] + c_v * C[at] + w * c_d * K[at];
                continue;
            }
            D[i + ld * j] += M[at] + c_v * C[at];
            D[i + ld * (n + j)] += c_d * K[at];
            D[m + i + ld * j] -= w * M[at];
            D[m + i + ld * (n + j)] += M[at];
        }
    }
}

static void write_bodies(const LashSim* sim, const Step* step, SparseNewton* newton,
                         double* value) {
    const LashBlocks* pattern = &sim->system->pattern;
    const int *first = sim->operators.pattern_first, *node = newton->shared->body_node;
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i];
        for (int k = first[b]; k < first[b + 1]; ++k) {
            int p = sim->operators.pattern_block[k];
            int at = lash_block_lu_offset(newton->lu, node[b], node[pattern->column[p]]);
            write_block(sim, step, matrix_parts(newton), p, value + at);
        }
    }
}

// -star_d d(G* P)/dq and -d(G tau)/dq of a slot
static void write_turning(const LashSim* sim, const Step* step, const SparseNewton* newton,
                          const Slot* slot, double* value) {
    const LashSystem* system = sim->system;
    const LashInteraction* item = &step->list->item[slot->item];
    const double *turn = newton->turn + slot->turn, *turn_tau = newton->turn_tau + slot->turn;
    const int* node = newton->shared->body_node;
    double weight = step->stencil.star_d;
    int parts = matrix_parts(newton), size = slot->size;
    if (parts == 1) weight *= step->stencil.d_v;
    for (int b = 0, column = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]);
        for (int a = 0, row = 0; a < item->touched; ++a) {
            int m = lash_block_size(system, item->block[a]), ld = parts * m;
            double* A = value + lash_block_lu_offset(newton->lu, node[item->block[a]],
                                                     node[item->block[b]]);
            double* to = A + ld * (parts - 1) * n;
            for (int j = 0; j < n; ++j) {
                const double* from = turn + row + size * (column + j);
                for (int i = 0; i < m; ++i) to[i + ld * j] -= weight * from[i];
                if (!newton->curved || parts == 1) continue;
                from = turn_tau + row + size * (column + j);
                for (int i = 0; i < m; ++i) to[m + i + ld * j] -= from[i];
            }
            row += m;
        }
        column += n;
    }
}

// Rows (G', 0; 0, G') and columns (-G*, 0; 0, -G) of joint i.
static void write_joint(const LashSim* sim, const Step* step, const SparseNewton* newton, int i,
                        double* value) {
    const LashSystem* system = sim->system;
    const LashInteraction* item = &step->list->item[i];
    int m = item->rows, node = newton->shared->joint_node[i], parts = newton->parts;
    const int* body = newton->shared->body_node;
    const double *G = step->G + item->offset, *star = step->G_star + item->offset;
    for (int k = 0; k < item->touched; ++k) {
        int n = lash_block_size(system, item->block[k]), ld = parts * m, lc = parts * n;
        double* rows = value + lash_block_lu_offset(newton->lu, node, body[item->block[k]]);
        double* columns = value + lash_block_lu_offset(newton->lu, body[item->block[k]], node);
        for (int r = 0; r < m; ++r) {
            for (int j = 0; j < n; ++j) {
                double g = *G++;
                rows[r + ld * j] = g;
                columns[j + lc * r] = -*star++;
                if (parts == 1) continue;
                rows[m + r + ld * (n + j)] = g;
                columns[n + j + lc * (m + r)] = -g;
            }
        }
    }
}

// F of a slot's velocity rows: they read F (G'dv + D dd), F = 1 where it sticks, 0 where it is open,
// e e' in the tangential rows where it slips, e across the direction d. Inside, of interior points:
// the normal row is that of u_N + mu |u_T|, d its derivative.
static void row_mix(const Slot* slot, bool inside, double F[9]) {
    memset(F, 0, 9 * sizeof *F);
    if (inside) {
        F[0] = F[4] = F[8] = 1;
        F[3] = slot->d[0];
        F[6] = slot->d[1];
        return;
    }
    if (slot->status == SLOT_OPEN) return;
    F[0] = 1;
    if (slot->status == SLOT_STICKS && !slot->smooth) F[4] = F[8] = 1;
    if (slot->status != SLOT_SLIPS || slot->rows < 3 || slot->smooth) return;
    double e[2] = {-slot->d[1], slot->d[0]};
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) F[(1 + i) + 3 * (1 + j)] = e[i] * e[j];
}

// Block of the slot's own unknowns: what its law says of P beside u.
static void write_law(const Step* step, const SparseNewton* newton, const Slot* slot, double* A,
                      int ld) {
    double share = sparse_share(newton);
    double lambda = slot->lambda, small = share * lambda;
    double mu = step->list->item[slot->item].mu;
    bool inside = newton->interior && !slot->empty;
    for (int r = 0; r < slot->rows && inside; ++r)
        for (int s = 0; s < slot->rows; ++s) A[r + ld * s] += slot->H[r + 3 * s];
    for (int r = 0; r < slot->rows && !inside; ++r) {
        bool open = slot->status == SLOT_OPEN;
        A[r + ld * r] += open ? lambda : small;
    }
    if (slot->status == SLOT_SLIPS) {
        for (int r = 1; r < slot->rows; ++r) {
            A[r + ld * r] -= small;
            A[r] -= lambda * mu * slot->d[r - 1];
            for (int s = 1; s < slot->rows; ++s) {
                double along = slot->d[r - 1] * slot->d[s - 1], across = (r == s) - along;
                if (slot->rows == 2) across = 0;
                A[r + ld * s] += lambda * along + (slot->k + small) * across;
            }
        }
    }
    if (!slot->has_tau || newton->split) return;
    int t = slot->rows;
    if (newton->interior) share = INSIDE;
    A[t + ld * t] = slot->closed ? share * slot->lambda_n : slot->lambda_n;
}

// Rows F (G', D) and columns -G* of P, row G' and column -G of tau.
static void write_slot(const LashSim* sim, const Step* step, const SparseNewton* newton,
                       const Slot* slot, int node_size, double* value) {
    const LashSystem* system = sim->system;
    const LashInteraction* item = &step->list->item[slot->item];
    const double *G = step->G + item->offset, *star = step->G_star + item->offset,
                 *law = law_rows(step) + item->offset, *D = newton->D + slot->D;
    int parts = matrix_parts(newton), ld = node_size, at = slot->at, rows = item->rows;
    double F[9], w = parts == 1 ? step->stencil.d_v : 1;
    row_mix(slot, newton->interior && !slot->empty && !slot->smooth, F);
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]), lc = parts * n;
        int body = newton->shared->body_node[item->block[b]];
        double* R = value + lash_block_lu_offset(newton->lu, slot->node, body) + at;
        double* C = value + lash_block_lu_offset(newton->lu, body, slot->node) + lc * at;
        for (int j = 0; j < n; ++j) {
            for (int r = 0; r < slot->rows; ++r) {
                double u = 0, turned = 0;
                for (int s = 0; s < rows; ++s) {
                    u += F[r + 3 * s] * law[n * s + j];
                    turned += F[r + 3 * s] * D[n * s + j];
                }
                R[r + ld * j] = parts == 1 ? u + w * turned : u;
                if (parts == 2) R[r + ld * (n + j)] = turned;
                C[j + lc * r] = slot->empty ? 0 : -star[n * r + j];
            }
            if (!slot->has_tau || slot->empty || newton->split) continue;
            if (slot->closed) R[slot->rows + ld * (n + j)] = G[j];
            C[n + j + lc * slot->rows] = -G[j];
        }
        G += n * rows;
        star += n * rows;
        law += n * rows;
        D += n * rows;
    }
    write_law(step, newton, slot,
              value + lash_block_lu_offset(newton->lu, slot->node, slot->node) + at + ld * at, ld);
}

// Friction in a joint: u_N = lambda_N (P_N - L), L = |P_load| of the joint.
static void write_load(const Step* step, const SparseNewton* newton, const Slot* slot,
                       int node_size, double* value) {
    const LashInteraction* item = &step->list->item[slot->item];
    const LashInteraction* joint = &step->list->item[item->load];
    double* A = value + lash_block_lu_offset(newton->lu, slot->node, slot->node);
    const SparseShared* shared = newton->shared;
    double* R =
        value + lash_block_lu_offset(newton->lu, slot->node, shared->joint_node[item->load]);
    const double* dP = newton->y + shared->joint_x[item->load];
    double load = 0;
    if (slot->status == SLOT_OPEN) return;
    if (!newton->interior) A[slot->at * (node_size + 1)] = 0;
    A[slot->at * (node_size + 1)] += slot->lambda_n;
    for (int r = 0; r < joint->rows; ++r) {
        double P = step->P[joint->row + r] + dP[r];
        if (item->load_rows >> r & 1) load += P * P;
    }
    load = sqrt(load);
    for (int r = 0; r < joint->rows && load > 0; ++r) {
        double P = step->P[joint->row + r] + dP[r];
        if (item->load_rows >> r & 1) R[slot->at + node_size * r] = -slot->lambda_n * P / load;
    }
}

static void write_slots(LashSim* sim, Step* step, SparseNewton* newton, double* value) {
    for (int s = 0, last = 0; s < newton->slots; s = last) {
        int size = 0; // of the node
        for (last = s; last < newton->slots && newton->slot[last].node == newton->slot[s].node;
             ++last)
            size += matrix_rows(newton, &newton->slot[last]);
        for (int k = s; k < last; ++k) {
            Slot* slot = &newton->slot[k];
            if (newton->derivatives == DERIVATIVES_ALL)
                write_turning(sim, step, newton, slot, value);
            write_slot(sim, step, newton, slot, size, value);
            if (joint_friction(&step->list->item[slot->item]))
                write_load(step, newton, slot, size, value);
            slot->made = slot->status;
            if (!newton->split) slot->made_closed = slot->closed;
        }
    }
}

// Work is bounded: so many factors of an island in a pass, the last of them for another try, and no more.
bool sparse_may_factor(LashSim* sim, const SparseNewton* newton) {
    int most = newton->again ? SPARSE_MOST_FACTORS : FIRST_FACTORS;
    return newton->factors < most && !sim_stopped(sim);
}

bool sparse_factor(LashSim* sim, Step* step, SparseNewton* newton) {
    if (!sparse_may_factor(sim, newton)) return false;
    double* value = lash_block_lu_clear(newton->lu);
    ++newton->factors;
    write_bodies(sim, step, newton, value);
    for (int j = 0; j < newton->joints; ++j)
        write_joint(sim, step, newton, newton->joint[j], value);
    write_slots(sim, step, newton, value);
    newton->factored = lash_block_lu_eliminate(newton->lu, LASH_RANK_SINGULAR);
    newton->fresh = true;
    newton->made_prox = newton->prox;
    return newton->factored;
}

void sparse_solve(LashSim* sim, const Step* step, SparseNewton* newton, double* x) {
    if (newton->split)
        sparse_split_solve(sim, step, newton, x);
    else
        lash_block_lu_solve(newton->lu, x);
}

// --- The operator of an iteration ----------------------------------------------------------------

// Makes what the factors need, once a correction needs them: of velocities and positions in one matrix,
// or one each.
static void choose_factors(const LashSim* sim, const Step* step, SparseNewton* newton) {
    bool split = (newton->listed || newton->split) && newton->together == 0 &&
                 sparse_may_split(sim, step, newton);
    if (!newton->listed && split == newton->split) return;
    newton->split = split;
    newton->listed = false;
    make_factors(sim, step, newton, false);
}

void sparse_renew(LashSim* sim, Step* step, SparseNewton* newton, Convergence* convergence) {
    bool far_off = step->contact_error > tuning.far_off, fit = newton->h == step->h;
    bool again = attempt_renews(step->attempt) ||
                 operator_is_slow(step, convergence, newton->t0, &newton->old_rate);
    if (convergence->i == 0) newton->plain = false;
    if (step->contact_error < tuning.far_off) convergence->derivatives = DERIVATIVES_ALL;
    if (newton->plain) convergence->derivatives = DERIVATIVES_FORCES;
    if (fit && !again) {
        newton->fresh = false;
        return;
    }
    Derivatives wanted = fit ? convergence->derivatives : DERIVATIVES_ALL;
    if (!fit && far_off) wanted = DERIVATIVES_FORCES;
    if (newton->together > 0 && convergence->i == 0) --newton->together;
    sparse_derive(sim, step, newton, wanted);
    choose_factors(sim, step, newton);
    newton->factored = newton->positions_factored = false;
}

// Velocities and positions, each with a matrix of their own, have found no answer: for some passes, more of
// them each time, they are solved together.
static void solve_together(const LashSim* sim, const Step* step, SparseNewton* newton) {
    enum { LONGEST = 255 };
    newton->longest_together = 2 * newton->longest_together + 1;
    if (newton->longest_together > LONGEST) newton->longest_together = LONGEST;
    newton->together = newton->longest_together;
    newton->split = false;
    make_factors(sim, step, newton, false);
}

// What was found with a matrix that rounding spoils may be found with another.
static bool correct_again(LashSim* sim, Step* step, SparseNewton* newton, Derivatives wanted) {
    newton->again = true;
    sparse_derive(sim, step, newton, wanted);
    newton->factored = newton->positions_factored = false;
    return sparse_correct(sim, step, newton);
}

bool sparse_correct_island(LashSim* sim, Step* step, SparseNewton* newton,
                           Convergence* convergence) {
    convergence->used_old = newton->t0 != step->t0;
    if (sparse_correct(sim, step, newton)) return true;
    if (newton->pile && sparse_may_be_shorter(sim, step)) return false;
    if (newton->split) {
        solve_together(sim, step, newton);
        if (correct_again(sim, step, newton, newton->derivatives)) return true;
    }
    if (newton->loose) {
        make_factors(sim, step, newton, true);
        if (correct_again(sim, step, newton, newton->derivatives)) return true;
    }
    if (newton->derivatives != DERIVATIVES_ALL) return false;
    convergence->derivatives = DERIVATIVES_FORCES; // with all derivatives there may be no answer
    newton->plain = true; // for the rest of the pass: with them it would turn away again
    return correct_again(sim, step, newton, DERIVATIVES_FORCES);
}
