// The full Newton correction of a step, joints included: for positions where the mechanism is
// nearly singular and every shortcut of operator_joints.c costs convergence.
//
// Unknowns are the changes of v, of the increment d, of P and of tau; w = d_v of the stencil:
//
//     dynamics    (M + c_v C) dv + (c_d K - star_d d(G*P)/dq) dd - G* dP = -r
//     motion      N^-1 (dd - w dv) - G dtau                               = G tau - N^-1 shift
//     velocities  G' dv + d(G'v)/dq dd                                    = -U
//     positions   G' dd                                                   = -g
//
// A body with its 12 unknowns (dv, dd) and a joint with twice its rows (dP, dtau) are blocks of one
// sparse matrix. Near a flat position of a parallelogram, a distance x from it, impulses grow like
// 1/x and the rows' Gram matrix shrinks like x^2: the derivatives of G*P, also those between
// bodies, then are as large as the rest. Rows that depend on others are left out (block_lu.c).
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "solvers/linear/rank.h"
#include "solvers/step/rows.h"
#include "solvers/step/sim_internal.h"

struct FullNewton {
    LashBlockLu* lu;
    int bodies, bilateral, nv, rows;
    int* size; // (nodes)
    double* x; // (2 nv + 2 rows)
};

FullNewton* full_newton_create(const LashSystem* system, const LashInteractionList* list) {
    FullNewton* full = lash_alloc(sizeof *full);
    int nodes = system->blocks + list->bilateral;
    size_t most = (size_t)system->pattern.count +
                  (size_t)list->bilateral * LASH_MAX_TOUCHED * (LASH_MAX_TOUCHED + 1) / 2;
    full->bodies = system->blocks;
    full->bilateral = list->bilateral;
    full->nv = system->nv;
    full->rows = list->bilateral_rows;
    full->size = lash_alloc((size_t)(nodes + 1) * sizeof(int));
    full->x = lash_alloc(2 * (size_t)(full->nv + full->rows) * sizeof(double));
    uint8_t* rows = lash_alloc((size_t)nodes + 1);
    int *a = lash_alloc((most + 1) * sizeof(int)), *b = lash_alloc((most + 1) * sizeof(int));
    LashBlockGraph graph = {.nodes = nodes, .size = full->size, .rows = rows, .a = a, .b = b};
    for (int i = 0; i < system->blocks; ++i) full->size[i] = 2 * lash_block_size(system, i);
    for (int k = 0; k < system->pattern.count; ++k) {
        if (system->pattern.row[k] >= system->pattern.column[k]) continue;
        a[graph.edges] = system->pattern.row[k];
        b[graph.edges++] = system->pattern.column[k];
    }
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        full->size[system->blocks + i] = 2 * item->rows;
        rows[system->blocks + i] = 1;
        for (int k = 0; k < item->touched; ++k) {
            a[graph.edges] = system->blocks + i;
            b[graph.edges++] = item->block[k];
            for (int l = 0; l < k; ++l) {
                a[graph.edges] = item->block[l];
                b[graph.edges++] = item->block[k];
            }
        }
    }
    full->lu = lash_block_lu_create_graph(&graph);
    lash_free(rows);
    lash_free(a);
    lash_free(b);
    return full;
}

void full_newton_destroy(FullNewton* full) {
    if (full == NULL) return;
    lash_block_lu_destroy(full->lu);
    lash_free(full->size);
    lash_free(full->x);
    lash_free(full);
}

void full_newton_archive(FullNewton* full, LashArchive* archive) {
    lash_block_lu_archive(full->lu, archive);
}

// --- Matrix

// Bodies without the derivatives of directions.
static void write_bodies(const LashSim* sim, const Step* step, FullNewton* full, double* value) {
    const LashSystem* system = sim->system;
    const LashBlocks* pattern = &system->pattern;
    const Stencil* stencil = &step->stencil;
    double c_v = stencil->c_v, c_d = stencil->c_d, w = stencil->d_v;
    for (int p = 0; p < pattern->count; ++p) {
        int row = pattern->row[p], column = pattern->column[p], m = lash_block_size(system, row),
            n = lash_block_size(system, column);
        const double *M = sim->operators.M_values + pattern->offset[p],
                     *C = sim->operators.C_values + pattern->offset[p],
                     *K = sim->operators.K_values + pattern->offset[p];
        double* D = value + lash_block_lu_offset(full->lu, row, column); // (2m x 2n)
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < m; ++i) {
                int at = i + m * j;
                double metric = row == column && i == j ? 1 : 0;
                if (!shifts_by_unit(step)) metric = M[at];
                D[i + 2 * m * j] = M[at] + c_v * C[at];
                D[i + 2 * m * (n + j)] = c_d * K[at];
                D[m + i + 2 * m * j] = -w * metric;
                D[m + i + 2 * m * (n + j)] = metric;
            }
        }
    }
}

// -weight d(G*P)/dq of interaction i, where the matrix has a place for it.
static void write_curvature(LashSim* sim, const Step* step, FullNewton* full, int i,
                            double* value) {
    const LashSystem* system = sim->system;
    const LashInteraction* item = &step->list->item[i];
    double weight = step->stencil.star_d;
    int size = 0, start[LASH_MAX_TOUCHED];
    for (int k = 0; k < item->touched; ++k) {
        start[k] = size;
        size += lash_block_size(system, item->block[k]);
    }
    system->contract(system, sim->work, step->stencil.t_star, step->q_star, i, step->P + item->row,
                     step->v, sim->operators.contraction, NULL);
    for (int r = 0; r < item->touched; ++r) {
        for (int c = 0; c < item->touched; ++c) {
            int at = lash_block_lu_find(full->lu, item->block[r], item->block[c]);
            if (at < 0) continue;
            int m = lash_block_size(system, item->block[r]),
                n = lash_block_size(system, item->block[c]);
            for (int j = 0; j < n; ++j) {
                for (int k = 0; k < m; ++k)
                    value[at + k + 2 * m * (n + j)] -=
                        weight * sim->operators.contraction[(start[r] + k) + size * (start[c] + j)];
            }
        }
    }
}

// Rows (G', d(G'v)/dq; 0, G') and columns (-G*, 0; 0, -G) of joint i.
static void write_joint(LashSim* sim, const Step* step, FullNewton* full, int i, double* value) {
    const LashSystem* system = sim->system;
    const LashInteraction* item = &step->list->item[i];
    int m = item->rows, node = full->bodies + i;
    bool turns = step->stencil.star_d != 0;
    if (turns)
        system->contract(system, sim->work, step->t0 + step->h, step->q_end, i, step->P + item->row,
                         step->v, NULL, sim->operators.contraction);
    const double *G = step->G + item->offset, *star = step->G_star + item->offset,
                 *turn = sim->operators.contraction;
    for (int k = 0; k < item->touched; ++k) {
        int n = lash_block_size(system, item->block[k]);
        double* rows = value + lash_block_lu_offset(full->lu, node, item->block[k]);    // 2m x 2n
        double* columns = value + lash_block_lu_offset(full->lu, item->block[k], node); // 2n x 2m
        for (int r = 0; r < m; ++r) {
            for (int j = 0; j < n; ++j) {
                double g = *G++;
                rows[r + 2 * m * j] = g;
                if (turns) rows[r + 2 * m * (n + j)] = turn[r + m * j];
                columns[j + 2 * n * r] = -*star++;
                if (step->levels != POSITIONS) continue;
                rows[m + r + 2 * m * (n + j)] = g;
                columns[n + j + 2 * n * (m + r)] = -g;
            }
        }
        turn += m * n;
    }
}

bool full_newton_factor(LashSim* sim, Step* step) {
    FullNewton* full = sim->operators.full;
    double* value = lash_block_lu_clear(full->lu);
    write_bodies(sim, step, full, value);
    for (int i = 0; i < step->list->count && step->stencil.star_d != 0; ++i) {
        if (step->active[i]) write_curvature(sim, step, full, i, value);
    }
    for (int i = 0; i < full->bilateral; ++i) write_joint(sim, step, full, i, value);
    return lash_block_lu_eliminate(full->lu, LASH_RANK_SINGULAR);
}

// --- Correction

// Right side by nodes: (-r, G tau - N^-1 shift) per body, (-U, -g) per joint.
static void right_side(LashSim* sim, const Step* step, FullNewton* full) {
    const LashSystem* system = sim->system;
    Scratch scratch = scratch_begin(sim);
    double *left = scratch_velocity(sim), *x = full->x;
    memset(left, 0, (size_t)full->nv * sizeof *left);
    if (step->levels == POSITIONS) {
        if (shifts_by_unit(step))
            memcpy(left, step->shift, (size_t)full->nv * sizeof *left);
        else
            lash_block_multiply(system, sim->operators.M_values, step->shift, left);
        for (int i = 0; i < full->nv; ++i) left[i] = -left[i];
        lash_rows_apply(system, step->list, 0, full->bilateral, NULL, step->G, 1, step->tau, left);
        for (int k = 0; k < step->nn; ++k) {
            const LashInteraction* item = &step->list->item[step->normal[k]];
            double only_normal[LASH_MAX_ROWS] = {step->tau[item->row]};
            lash_row_apply(system, item, step->G, 1, only_normal, left);
        }
    }
    for (int b = 0; b < full->bodies; ++b) {
        int n = lash_block_size(system, b), start = system->block_start[b];
        for (int k = 0; k < n; ++k) *x++ = -step->r[start + k];
        for (int k = 0; k < n; ++k) *x++ = left[start + k];
    }
    scratch_end(sim, scratch);
    for (int i = 0; i < full->bilateral; ++i) {
        const LashInteraction* item = &step->list->item[i];
        for (int r = 0; r < item->rows; ++r) *x++ = -step->U[item->row + r];
        for (int r = 0; r < item->rows; ++r) *x++ = -step->g[item->row + r];
    }
}

void full_newton_correct(LashSim* sim, Step* step) {
    FullNewton* full = sim->operators.full;
    right_side(sim, step, full);
    lash_block_lu_solve(full->lu, full->x);
    const double* x = full->x;
    for (int b = 0; b < full->bodies; ++b) {
        int n = lash_block_size(sim->system, b), start = sim->system->block_start[b];
        memcpy(step->dv + start, x, (size_t)n * sizeof *x);
        x += 2 * n;
    }
    for (int i = 0; i < full->bilateral; ++i) {
        const LashInteraction* item = &step->list->item[i];
        for (int r = 0; r < item->rows; ++r) {
            step->P[item->row + r] += x[r];
            if (step->levels == POSITIONS) step->tau[item->row + r] += x[item->rows + r];
        }
        x += 2 * item->rows;
    }
    if (step->levels == POSITIONS) ++sim->info.projection;
}
