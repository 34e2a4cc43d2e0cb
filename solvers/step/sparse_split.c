// Velocities and positions of a correction with the sparse operator by matrices of their own, each an
// eighth of the work of one of both (operator_sparse.c has the equations):
//
//     velocities  (M + c_v C + w (c_d K - star_d C*(P))) dv - G* dP = r,   F (G' + w D) dv + ... = u
//     positions   (M - C(tau)) dd - G dtau = m + w M dv,   G'dd = g where closed
//
// The one thing left out is what the motion of the projection, dd - w dv, does to directions: a share of
// the error of at most w |D| / |G|, which the iteration takes away, as its residuals have all of it. Where
// that share is large (pins whose play is less than what they move in a step), and where joints
// hold the bodies, both are solved together.
#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "solvers/linear/rank.h"
#include "solvers/step/rows.h"
#include "solvers/step/sparse_newton_internal.h"

static const double WEAK = 0.05; // share of the error that may be left by what is left out

// w |D| / |G| of a slot, in the metric of the masses.
static double turning(const LashSim* sim, const Step* step, const SparseNewton* newton,
                      const Slot* slot) {
    const LashInteraction* item = &step->list->item[slot->item];
    LashInteraction packed = *item;
    packed.offset = slot->D;
    double most = 0, own = row_mobility(sim, item, step->G, 0);
    for (int r = 0; r < slot->rows; ++r)
        most = fmax(most, row_mobility(sim, &packed, newton->D, r));
    return own > 0 ? step->stencil.d_v * sqrt(most / own) : 0;
}

bool sparse_may_split(const LashSim* sim, const Step* step, const SparseNewton* newton) {
    if (newton->parts != 2 || newton->joints > 0) return false;
    if (!newton->asked_loose) return false; // factors are not what it costs: a row of four-bars
    for (int s = 0; s < newton->slots; ++s) {
        const Slot* slot = &newton->slot[s];
        if (slot->rows == 0 || !slot->has_tau) return false;
        if (joint_friction(&step->list->item[slot->item])) return false;
        if (!is_empty(step, &step->list->item[slot->item]) &&
            !(turning(sim, step, newton, slot) < WEAK))
            return false;
    }
    return true;
}

void sparse_split_forget(SparseNewton* newton) {
    lash_block_lu_destroy(newton->position_lu);
    lash_free((void*)(uintptr_t)newton->position_graph.size);
    newton->position_lu = NULL;
    newton->position_graph = (LashBlockGraph){0};
    newton->positions_factored = false;
}

// The same nodes; those of contacts have a row for each point.
void sparse_split_structure(SparseNewton* newton) {
    LashBlockGraph graph = newton->graph;
    size_t bytes = ((size_t)graph.nodes + 1) * sizeof(int);
    int* size = lash_alloc(bytes);
    memcpy(size, graph.size, bytes);
    for (int s = 0; s < newton->slots; ++s) size[newton->slot[s].node] = 0;
    for (int s = 0; s < newton->slots; ++s) ++size[newton->slot[s].node];
    graph.size = size;
    newton->position_graph = graph;
    newton->position_lu = lash_block_lu_create_like(newton->lu, &graph);
}

bool sparse_positions_as_factored(const SparseNewton* newton) {
    if (!newton->positions_factored) return false;
    for (int s = 0; s < newton->slots; ++s)
        if (newton->slot[s].closed != newton->slot[s].made_closed) return false;
    return true;
}

static void write_masses(const LashSim* sim, const SparseNewton* newton, double* value) {
    const LashSystem* system = sim->system;
    const LashBlocks* pattern = &system->pattern;
    const int *first = sim->operators.pattern_first, *node = newton->shared->body_node;
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i];
        for (int k = first[b]; k < first[b + 1]; ++k) {
            int p = sim->operators.pattern_block[k], column = pattern->column[p];
            int numbers = lash_block_size(system, b) * lash_block_size(system, column);
            lash_axpy(numbers, 1, sim->operators.M_values + pattern->offset[p],
                      value + lash_block_lu_offset(newton->position_lu, node[b], node[column]));
        }
    }
}

// -d(G tau)/dq
static void write_turning(const LashSim* sim, const Step* step, const SparseNewton* newton,
                          const Slot* slot, double* value) {
    const LashSystem* system = sim->system;
    const LashInteraction* item = &step->list->item[slot->item];
    const int* node = newton->shared->body_node;
    for (int b = 0, column = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]);
        for (int a = 0, row = 0; a < item->touched; ++a) {
            int m = lash_block_size(system, item->block[a]);
            double* to = value + lash_block_lu_offset(newton->position_lu, node[item->block[a]],
                                                      node[item->block[b]]);
            for (int j = 0; j < n; ++j)
                lash_axpy(m, -1, newton->turn_tau + slot->turn + row + slot->size * (column + j),
                          to + m * j);
            row += m;
        }
        column += n;
    }
}

// Row G' where it is closed, and column -G of tau.
static void write_slot(const LashSim* sim, const Step* step, const SparseNewton* newton,
                       const Slot* slot, double* value) {
    const LashInteraction* item = &step->list->item[slot->item];
    const LashBlockLu* lu = newton->position_lu;
    const double* G = step->G + item->offset;
    int points = newton->position_graph.size[slot->node], at = slot->tau_at;
    double share = slot->closed ? sparse_plain_share(newton) : 1;
    for (int b = 0; b < item->touched && !slot->empty; ++b) {
        int n = lash_block_size(sim->system, item->block[b]);
        int body = newton->shared->body_node[item->block[b]];
        double* R = value + lash_block_lu_offset(lu, slot->node, body) + at;
        double* C = value + lash_block_lu_offset(lu, body, slot->node) + n * at;
        for (int j = 0; j < n; ++j) {
            if (slot->closed) R[points * j] = G[j];
            C[j] = -G[j];
        }
        G += n * item->rows;
    }
    value[lash_block_lu_offset(lu, slot->node, slot->node) + at * (points + 1)] =
        share * slot->lambda_n;
}

bool sparse_factor_positions(LashSim* sim, const Step* step, SparseNewton* newton) {
    if (!sparse_may_factor(sim, newton)) return false;
    double* value = lash_block_lu_clear(newton->position_lu);
    ++newton->factors;
    write_masses(sim, newton, value);
    for (int s = 0; s < newton->slots; ++s) {
        Slot* slot = &newton->slot[s];
        if (newton->curved) write_turning(sim, step, newton, slot, value);
        write_slot(sim, step, newton, slot, value);
        slot->made_closed = slot->closed;
    }
    newton->positions_factored = lash_block_lu_eliminate(newton->position_lu, LASH_RANK_SINGULAR);
    return newton->positions_factored;
}

// dv and dP of x; dv stays in shared->dv, too.
static void solve_velocities(const LashSim* sim, SparseNewton* newton, double* x) {
    const LashSystem* system = sim->system;
    const SparseShared* shared = newton->shared;
    double *a = newton->velocities, *to = a;
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i], n = lash_block_size(system, b);
        memcpy(to, x + shared->body_x[b], (size_t)n * sizeof *to);
        to += n;
    }
    for (int s = 0; s < newton->slots; ++s) {
        const Slot* slot = &newton->slot[s];
        memcpy(to, x + slot->x, (size_t)slot->rows * sizeof *to);
        to += slot->rows;
    }
    lash_block_lu_solve(newton->lu, a);
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i], n = lash_block_size(system, b);
        memcpy(x + shared->body_x[b], a, (size_t)n * sizeof *a);
        memcpy(shared->dv + system->block_start[b], a, (size_t)n * sizeof *a);
        a += n;
    }
    for (int s = 0; s < newton->slots; ++s) {
        const Slot* slot = &newton->slot[s];
        memcpy(x + slot->x, a, (size_t)slot->rows * sizeof *a);
        a += slot->rows;
    }
}

// dv = 0, dP = 0
static void keep_velocities(const LashSystem* system, const SparseNewton* newton, double* x) {
    const SparseShared* shared = newton->shared;
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i];
        size_t bytes = (size_t)lash_block_size(system, b) * sizeof *x;
        memset(x + shared->body_x[b], 0, bytes);
        memset(shared->dv + system->block_start[b], 0, bytes);
    }
    for (int s = 0; s < newton->slots; ++s)
        memset(x + newton->slot[s].x, 0, (size_t)newton->slot[s].rows * sizeof *x);
}

// dd = w dv + M^-1 m; what is open gives its tau back.
static void follow_velocities(const LashSim* sim, const Step* step, SparseNewton* newton,
                              double* x) {
    const LashSystem* system = sim->system;
    const SparseShared* shared = newton->shared;
    double w = step->stencil.d_v;
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i], n = lash_block_size(system, b), at = system->block_start[b];
        double* dd = x + shared->body_x[b] + n;
        memcpy(shared->work + at, dd, (size_t)n * sizeof *dd);
        lash_block_lu_solve_block(sim->operators.M, b, shared->work);
        for (int k = 0; k < n; ++k) dd[k] = shared->work[at + k] + w * shared->dv[at + k];
    }
    for (int s = 0; s < newton->slots; ++s) {
        const Slot* slot = &newton->slot[s];
        double* dtau = x + slot->x + slot->rows;
        *dtau = slot->closed ? 0 : *dtau / slot->lambda_n;
    }
}

static void solve_positions(const LashSim* sim, const Step* step, SparseNewton* newton, double* x) {
    const LashSystem* system = sim->system;
    const SparseShared* shared = newton->shared;
    double *a = newton->positions, *to = a, w = step->stencil.d_v;
    island_multiply(sim, newton, sim->operators.M_values, shared->dv, shared->work);
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i], n = lash_block_size(system, b), at = system->block_start[b];
        const double* m = x + shared->body_x[b] + n;
        for (int k = 0; k < n; ++k) *to++ = m[k] + w * shared->work[at + k];
    }
    for (int s = 0; s < newton->slots; ++s) *to++ = x[newton->slot[s].x + newton->slot[s].rows];
    lash_block_lu_solve(newton->position_lu, a);
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i], n = lash_block_size(system, b);
        memcpy(x + shared->body_x[b] + n, a, (size_t)n * sizeof *a);
        a += n;
    }
    for (int s = 0; s < newton->slots; ++s) x[newton->slot[s].x + newton->slot[s].rows] = *a++;
}

void sparse_split_solve(LashSim* sim, const Step* step, SparseNewton* newton, double* x) {
    if (newton->velocities_wait)
        keep_velocities(sim->system, newton, x);
    else
        solve_velocities(sim, newton, x);
    if (newton->positions_wait)
        follow_velocities(sim, step, newton, x);
    else
        solve_positions(sim, step, newton, x);
}
