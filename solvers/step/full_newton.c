// The full Newton correction of a step, joints included: for positions where the mechanism is
// nearly singular and every shortcut of newton.c and factor.c costs convergence.
//
// Unknowns are the changes of v, of the increment d, of P and of tau; w = h theta of the motion:
//
//     dynamics    (M + h theta C) dv + theta (h K - d(G*P)/dq) dd - G* dP = -r
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
#include "solvers/step/rows.h"
#include "solvers/step/sim_internal.h"

static const double DEPENDENT = 1e-13; // of a row's diagonal entry

struct FullNewton {
    LashBlockLu* lu;
    int bodies, bilateral, nv, rows;
    int* size; // (nodes)
    double* x; // (2 nv + 2 rows)
};

FullNewton* full_newton_create(const LashSystem* system, const LashInteractionList* list) {
    FullNewton* f = lash_alloc(sizeof *f);
    int nodes = system->blocks + list->bilateral;
    size_t most = (size_t)system->pattern.count +
                  (size_t)list->bilateral * LASH_MAX_TOUCHED * (LASH_MAX_TOUCHED + 1) / 2;
    f->bodies = system->blocks;
    f->bilateral = list->bilateral;
    f->nv = system->nv;
    f->rows = list->bilateral_rows;
    f->size = lash_alloc((size_t)(nodes + 1) * sizeof(int));
    f->x = lash_alloc(2 * (size_t)(f->nv + f->rows) * sizeof(double));
    uint8_t* rows = lash_alloc((size_t)nodes + 1);
    int *a = lash_alloc((most + 1) * sizeof(int)), *b = lash_alloc((most + 1) * sizeof(int));
    LashBlockGraph graph = {.nodes = nodes, .size = f->size, .rows = rows, .a = a, .b = b};
    for (int i = 0; i < system->blocks; ++i) f->size[i] = 2 * lash_block_size(system, i);
    for (int k = 0; k < system->pattern.count; ++k) {
        if (system->pattern.row[k] >= system->pattern.column[k]) continue;
        a[graph.edges] = system->pattern.row[k];
        b[graph.edges++] = system->pattern.column[k];
    }
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        f->size[system->blocks + i] = 2 * item->rows;
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
    f->lu = lash_block_lu_create_graph(&graph);
    lash_free(rows);
    lash_free(a);
    lash_free(b);
    return f;
}

void full_newton_destroy(FullNewton* f) {
    if (f == NULL) return;
    lash_block_lu_destroy(f->lu);
    lash_free(f->size);
    lash_free(f->x);
    lash_free(f);
}

// --- Matrix

// Bodies without the derivatives of directions.
static void write_bodies(const LashSim* sim, const StepContext* s, FullNewton* f, double* value) {
    const LashSystem* system = sim->system;
    const LashBlocks* pattern = &system->pattern;
    double ht = s->h * s->theta, w = s->h * s->move_theta;
    for (int p = 0; p < pattern->count; ++p) {
        int row = pattern->row[p], column = pattern->column[p], m = lash_block_size(system, row),
            n = lash_block_size(system, column);
        const double *M = sim->M_values + pattern->offset[p],
                     *C = sim->C_values + pattern->offset[p],
                     *K = sim->K_values + pattern->offset[p];
        double* D = value + lash_block_lu_offset(f->lu, row, column); // (2m x 2n)
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < m; ++i) {
                int at = i + m * j;
                double metric = !system->unit_metric ? M[at] : row == column && i == j ? 1 : 0;
                D[i + 2 * m * j] = M[at] + ht * C[at];
                D[i + 2 * m * (n + j)] = ht * K[at];
                D[m + i + 2 * m * j] = -w * metric;
                D[m + i + 2 * m * (n + j)] = metric;
            }
        }
    }
}

// -weight d(G*P)/dq of interaction i, where the matrix has a place for it.
static void write_curvature(LashSim* sim, const StepContext* s, FullNewton* f, int i,
                            double* value) {
    const LashSystem* system = sim->system;
    const LashInteraction* item = &s->list->item[i];
    bool end = sim->settings.direction == LASH_AT_END;
    double weight = end ? 1 : s->theta;
    int size = 0, start[LASH_MAX_TOUCHED];
    for (int k = 0; k < item->touched; ++k) {
        start[k] = size;
        size += lash_block_size(system, item->block[k]);
    }
    system->contract(system, sim->work, s->t0 + (end ? 1 : s->theta) * s->h,
                     end ? s->q_end : s->q_theta, i, s->P + item->row, s->v, sim->contraction,
                     NULL);
    for (int r = 0; r < item->touched; ++r) {
        for (int c = 0; c < item->touched; ++c) {
            int at = lash_block_lu_find(f->lu, item->block[r], item->block[c]);
            if (at < 0) continue;
            int m = lash_block_size(system, item->block[r]),
                n = lash_block_size(system, item->block[c]);
            for (int j = 0; j < n; ++j) {
                for (int k = 0; k < m; ++k)
                    value[at + k + 2 * m * (n + j)] -=
                        weight * sim->contraction[(start[r] + k) + size * (start[c] + j)];
            }
        }
    }
}

// Rows (G', d(G'v)/dq; 0, G') and columns (-G*, 0; 0, -G) of joint i.
static void write_joint(LashSim* sim, const StepContext* s, FullNewton* f, int i, bool project,
                        double* value) {
    const LashSystem* system = sim->system;
    const LashInteraction* item = &s->list->item[i];
    int m = item->rows, node = f->bodies + i;
    bool turns = sim->settings.direction != LASH_AT_START;
    if (turns)
        system->contract(system, sim->work, s->t0 + s->h, s->q_end, i, s->P + item->row, s->v, NULL,
                         sim->contraction);
    const double *G = s->G + item->offset, *star = s->G_star + item->offset,
                 *turn = sim->contraction;
    for (int k = 0; k < item->touched; ++k) {
        int n = lash_block_size(system, item->block[k]);
        double* rows = value + lash_block_lu_offset(f->lu, node, item->block[k]);    // 2m x 2n
        double* columns = value + lash_block_lu_offset(f->lu, item->block[k], node); // 2n x 2m
        for (int r = 0; r < m; ++r) {
            for (int j = 0; j < n; ++j) {
                double g = *G++;
                rows[r + 2 * m * j] = g;
                if (turns) rows[r + 2 * m * (n + j)] = turn[r + m * j];
                columns[j + 2 * n * r] = -*star++;
                if (!project) continue;
                rows[m + r + 2 * m * (n + j)] = g;
                columns[n + j + 2 * n * (m + r)] = -g;
            }
        }
        turn += m * n;
    }
}

bool full_newton_factor(LashSim* sim, StepContext* s, bool project) {
    FullNewton* f = sim->full;
    double* value = lash_block_lu_clear(f->lu);
    write_bodies(sim, s, f, value);
    for (int i = 0; i < s->list->count && sim->settings.direction != LASH_AT_START; ++i) {
        if (s->active[i]) write_curvature(sim, s, f, i, value);
    }
    for (int i = 0; i < f->bilateral; ++i) write_joint(sim, s, f, i, project, value);
    return lash_block_lu_eliminate(f->lu, DEPENDENT);
}

// --- Correction

// Right side by nodes: (-r, G tau - N^-1 shift) per body, (-U, -g) per joint.
static void right_side(LashSim* sim, const StepContext* s, FullNewton* f, bool project) {
    const LashSystem* system = sim->system;
    double *left = sim->x, *x = f->x;
    memset(left, 0, (size_t)f->nv * sizeof *left);
    if (project) {
        if (system->unit_metric)
            memcpy(left, s->shift, (size_t)f->nv * sizeof *left);
        else
            lash_block_multiply(system, sim->M_values, s->shift, left);
        for (int i = 0; i < f->nv; ++i) left[i] = -left[i];
        lash_rows_apply(system, s->list, 0, f->bilateral, NULL, s->G, 1, s->tau, left);
        for (int k = 0; k < s->nn; ++k) {
            const LashInteraction* item = &s->list->item[s->normal[k]];
            double only_normal[LASH_MAX_ROWS] = {s->tau[item->row]};
            lash_row_apply(system, item, s->G, 1, only_normal, left);
        }
    }
    for (int b = 0; b < f->bodies; ++b) {
        int n = lash_block_size(system, b), start = system->block_start[b];
        for (int k = 0; k < n; ++k) *x++ = -s->r[start + k];
        for (int k = 0; k < n; ++k) *x++ = left[start + k];
    }
    for (int i = 0; i < f->bilateral; ++i) {
        const LashInteraction* item = &s->list->item[i];
        for (int r = 0; r < item->rows; ++r) *x++ = -s->U[item->row + r];
        for (int r = 0; r < item->rows; ++r) *x++ = -s->g[item->row + r];
    }
}

void full_newton_correct(LashSim* sim, StepContext* s, bool project) {
    FullNewton* f = sim->full;
    right_side(sim, s, f, project);
    lash_block_lu_solve(f->lu, f->x);
    const double* x = f->x;
    for (int b = 0; b < f->bodies; ++b) {
        int n = lash_block_size(sim->system, b), start = sim->system->block_start[b];
        memcpy(sim->y + start, x, (size_t)n * sizeof *x);
        x += 2 * n;
    }
    for (int i = 0; i < f->bilateral; ++i) {
        const LashInteraction* item = &s->list->item[i];
        for (int r = 0; r < item->rows; ++r) {
            s->P[item->row + r] += x[r];
            if (project) s->tau[item->row + r] += x[item->rows + r];
        }
        x += 2 * item->rows;
    }
    if (project) ++sim->info.projection;
}
