// Joints on a sparse factorisation.
//
//     [A  -G*] [x]   [ 0]
//     [G'   0] [P] = [-U]      <=>      x = A^-1 G* P,   (G' A^-1 G*) P = -U
//
// The blocks of the matrix are bodies and joints; interactions between the same bodies (a joint
// and its driver) form one block. A mechanism's graph of bodies and joints is almost a tree, so
// elimination in the order of block_order.c makes little fill and the cost is linear in its size.
// Redundant rows are found and left out on the way (block_lu.c): P is then a basic solution, one of
// many with the same G P. The iteration of a step needs no more than that. Reactions are asked for
// with minimum norm:
//
//     min |S P|  with  G P = f,  S = diag(1 or 1/length):     P = S^-2 G' z,   (G S^-2 G') z = f.
//
// That matrix is a sparse one between bodies, with the free motions of the mechanism as null space.
// e times its diagonal is added, and what this spoils is removed by repetition: each one reduces
// the error by e over the smallest positive eigenvalue.
#include "solvers/joints/joint_sparse.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "solvers/linear/rank.h"
#include "solvers/step/rows.h"

static const double SHIFT = 1e-10; // e of the minimum norm
enum { REPETITIONS = 30 };         // of it, at most

struct LashJointSparse {
    const LashSystem* system;
    int bilateral, rows, unknowns;
    int* group;                       // (bilateral) node of the interaction's block
    int* within;                      // (bilateral) its first row there
    int* at;                          // (bilateral) its first unknown
    int* size;                        // (nodes)
    LashBlockLu *joined, *between;    // bodies and joints; bodies alone, coupled by joints
    int* A_at;                        // (pattern.count) of A in joined
    int (*G_at)[2][LASH_MAX_TOUCHED]; // (bilateral) rows G' and columns G* in joined
    int (*K_at)[LASH_MAX_TOUCHED][LASH_MAX_TOUCHED]; // (bilateral) in between
    double *x, *f, *result;                          // (2 unknowns), (2 nv), (rows)
};

// --- Symbolic

static bool same_bodies(const LashInteraction* a, const LashInteraction* b) {
    if (a->touched != b->touched) return false;
    for (int i = 0; i < a->touched; ++i) {
        bool found = false;
        for (int k = 0; k < b->touched; ++k) found = found || a->block[i] == b->block[k];
        if (!found) return false;
    }
    return true;
}

// Numbers the blocks of joints after those of bodies; returns the number of nodes. Blocks stay
// small, so that their rows can be pivoted.
static int number_groups(LashJointSparse* sparse, const LashInteractionList* list) {
    enum { LARGEST = 30 };
    int nodes = sparse->system->blocks, *last = lash_alloc((size_t)(nodes + 1) * sizeof(int));
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        int found = -1;
        // The interactions of a joint follow each other; two joints between the same bodies are
        // rare. One look at the last interaction of each body finds both.
        for (int k = 0; k < item->touched && found < 0; ++k) {
            int other = last[item->block[k]] - 1;
            if (other >= 0 && same_bodies(item, &list->item[other])) found = sparse->group[other];
        }
        if (found >= 0 && sparse->size[found] + item->rows > LARGEST) found = -1;
        if (found < 0) found = nodes++;
        sparse->group[i] = found;
        sparse->within[i] = sparse->size[found];
        sparse->size[found] += item->rows;
        for (int k = 0; k < item->touched; ++k) last[item->block[k]] = i + 1;
    }
    lash_free(last);
    return nodes;
}

// Edges of the graph: what A couples and, to_joints: joints with their bodies; else: bodies that
// share a joint.
static int list_edges(const LashJointSparse* sparse, const LashInteractionList* list,
                      bool to_joints, int* a, int* b) {
    const LashBlocks* pattern = &sparse->system->pattern;
    int n = 0;
    for (int k = 0; k < pattern->count && to_joints; ++k) {
        if (pattern->row[k] >= pattern->column[k]) continue;
        a[n] = pattern->row[k];
        b[n++] = pattern->column[k];
    }
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        for (int k = 0; k < item->touched; ++k) {
            if (to_joints) {
                a[n] = sparse->group[i];
                b[n++] = item->block[k];
            }
            for (int l = 0; l < k && !to_joints; ++l) {
                a[n] = item->block[l];
                b[n++] = item->block[k];
            }
        }
    }
    return n;
}

static void create_factors(LashJointSparse* sparse, const LashInteractionList* list, int nodes) {
    enum { PAIRS = LASH_MAX_TOUCHED * (LASH_MAX_TOUCHED - 1) / 2 };
    size_t most = (size_t)sparse->system->pattern.count +
                  (size_t)list->bilateral * (PAIRS + LASH_MAX_TOUCHED);
    int *a = lash_alloc((most + 1) * sizeof(int)), *b = lash_alloc((most + 1) * sizeof(int));
    uint8_t* rows = lash_alloc((size_t)nodes + 1);
    for (int i = sparse->system->blocks; i < nodes; ++i) rows[i] = 1;
    LashBlockGraph graph = {.nodes = nodes, .size = sparse->size, .rows = rows, .a = a, .b = b};
    graph.edges = list_edges(sparse, list, true, a, b);
    sparse->joined = lash_block_lu_create_graph(&graph);
    graph.nodes = sparse->system->blocks;
    graph.edges = list_edges(sparse, list, false, a, b);
    sparse->between = lash_block_lu_create_graph(&graph);
    lash_free(a);
    lash_free(b);
    lash_free(rows);
}

static void find_offsets(LashJointSparse* sparse, const LashInteractionList* list) {
    const LashBlocks* pattern = &sparse->system->pattern;
    for (int k = 0; k < pattern->count; ++k)
        sparse->A_at[k] = lash_block_lu_offset(sparse->joined, pattern->row[k], pattern->column[k]);
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        for (int k = 0; k < item->touched; ++k) {
            sparse->G_at[i][0][k] =
                lash_block_lu_offset(sparse->joined, sparse->group[i], item->block[k]);
            sparse->G_at[i][1][k] =
                lash_block_lu_offset(sparse->joined, item->block[k], sparse->group[i]);
            for (int l = 0; l < item->touched; ++l)
                sparse->K_at[i][k][l] =
                    lash_block_lu_offset(sparse->between, item->block[k], item->block[l]);
        }
    }
}

LashJointSparse* lash_joint_sparse_create(const LashSystem* system,
                                          const LashInteractionList* list) {
    LashJointSparse* sparse = lash_alloc(sizeof *sparse);
    size_t n = (size_t)list->bilateral + 1;
    sparse->system = system;
    sparse->bilateral = list->bilateral;
    sparse->rows = list->bilateral_rows;
    sparse->unknowns = system->nv + sparse->rows;
    sparse->group = lash_alloc(n * sizeof(int));
    sparse->within = lash_alloc(n * sizeof(int));
    sparse->at = lash_alloc(n * sizeof(int));
    sparse->size = lash_alloc(((size_t)system->blocks + n) * sizeof(int));
    sparse->A_at = lash_alloc((size_t)system->pattern.count * sizeof(int));
    sparse->G_at = lash_alloc(n * sizeof *sparse->G_at);
    sparse->K_at = lash_alloc(n * sizeof *sparse->K_at);
    sparse->x = lash_alloc(2 * (size_t)sparse->unknowns * sizeof(double));
    sparse->f = lash_alloc(2 * (size_t)system->nv * sizeof(double));
    sparse->result = lash_alloc(n * LASH_MAX_ROWS * sizeof(double));
    for (int i = 0; i < system->blocks; ++i) sparse->size[i] = lash_block_size(system, i);
    int nodes = number_groups(sparse, list), next = system->nv;
    int* start = lash_alloc((size_t)(nodes + 1) * sizeof(int));
    for (int i = system->blocks; i < nodes; ++i) {
        start[i] = next;
        next += sparse->size[i];
    }
    for (int i = 0; i < list->bilateral; ++i)
        sparse->at[i] = start[sparse->group[i]] + sparse->within[i];
    create_factors(sparse, list, nodes);
    find_offsets(sparse, list);
    lash_free(start);
    return sparse;
}

void lash_joint_sparse_destroy(LashJointSparse* sparse) {
    if (sparse == NULL) return;
    lash_block_lu_destroy(sparse->joined);
    lash_block_lu_destroy(sparse->between);
    lash_free(sparse->group);
    lash_free(sparse->within);
    lash_free(sparse->at);
    lash_free(sparse->size);
    lash_free(sparse->A_at);
    lash_free(sparse->G_at);
    lash_free(sparse->K_at);
    lash_free(sparse->x);
    lash_free(sparse->f);
    lash_free(sparse->result);
    lash_free(sparse);
}

void lash_joint_sparse_archive(LashJointSparse* sparse, LashArchive* archive) {
    lash_block_lu_archive(sparse->joined, archive);
    lash_block_lu_archive(sparse->between, archive);
}

double lash_joint_sparse_factor_cost(const LashJointSparse* sparse) {
    return lash_block_lu_factor_cost(sparse->joined);
}
double lash_joint_sparse_solve_cost(const LashJointSparse* sparse) {
    return lash_block_lu_solve_cost(sparse->joined);
}

// --- Numeric

static void write_rows(const LashJointSparse* sparse, const LashInteraction* item, int i,
                       const double* G_hat, const double* G_star, double* value) {
    const double *hat = G_hat + item->offset, *star = G_star + item->offset;
    int size = sparse->size[sparse->group[i]], within = sparse->within[i];
    for (int k = 0; k < item->touched; ++k) {
        int n = sparse->size[item->block[k]];
        double* rows = value + sparse->G_at[i][0][k] + within;        // (size x n), G'
        double* columns = value + sparse->G_at[i][1][k] + n * within; // (n x size), -G*
        for (int r = 0; r < item->rows; ++r) {
            for (int l = 0; l < n; ++l) {
                rows[r + size * l] = *hat++;
                *columns++ = -*star++;
            }
        }
    }
}

int lash_joint_sparse_factor(LashJointSparse* sparse, const LashInteractionList* list,
                             const double* G_hat, const double* G_star, const double* A,
                             bool positions) {
    LASH_ASSERT(list->bilateral == sparse->bilateral && list->bilateral_rows == sparse->rows);
    const LashBlocks* pattern = &sparse->system->pattern;
    double* value = lash_block_lu_clear(sparse->joined);
    for (int k = 0; k < pattern->count; ++k) {
        size_t size = (size_t)(pattern->offset[k + 1] - pattern->offset[k]);
        memcpy(value + sparse->A_at[k], A + pattern->offset[k], size * sizeof *A);
    }
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        if (positions && item->kind == LASH_BILATERAL_VELOCITY) continue;
        write_rows(sparse, item, i, G_hat, G_star, value);
    }
    if (!lash_block_lu_eliminate(sparse->joined, LASH_RANK_SPARSE)) return -1;
    return sparse->rows - lash_block_lu_left_out_count(sparse->joined);
}

// x (unknowns) <- (0, -U); P <- its rows
static void put_rows(const LashJointSparse* sparse, const LashInteractionList* list,
                     const double* U, double* x) {
    memset(x, 0, (size_t)sparse->system->nv * sizeof *x);
    for (int i = 0; i < sparse->bilateral; ++i) {
        int row = list->item[i].row, at = sparse->at[i];
        for (int r = 0; r < list->item[i].rows; ++r) x[at + r] = -U[row + r];
    }
}
static void get_rows(const LashJointSparse* sparse, const LashInteractionList* list,
                     const double* x, double* P) {
    for (int i = 0; i < sparse->bilateral; ++i) {
        int row = list->item[i].row, at = sparse->at[i];
        for (int r = 0; r < list->item[i].rows; ++r) P[row + r] = x[at + r];
    }
}

void lash_joint_sparse_solve(LashJointSparse* sparse, const LashInteractionList* list,
                             const double* U1, const double* U2, double* P1, double* P2) {
    double *x = sparse->x, *y = sparse->x + sparse->unknowns;
    put_rows(sparse, list, U1, x);
    if (U2 == NULL) {
        lash_block_lu_solve_rows(sparse->joined, x);
        get_rows(sparse, list, x, P1);
        return;
    }
    put_rows(sparse, list, U2, y);
    lash_block_lu_solve_two(sparse->joined, true, x, y);
    get_rows(sparse, list, x, P1);
    get_rows(sparse, list, y, P2);
}

void lash_joint_sparse_respond(LashJointSparse* sparse, double* x1, double* x2) {
    size_t nv = (size_t)sparse->system->nv, rows = (size_t)sparse->rows;
    double *x = sparse->x, *y = sparse->x + sparse->unknowns;
    memcpy(x, x1, nv * sizeof *x);
    memcpy(y, x2, nv * sizeof *x);
    memset(x + nv, 0, rows * sizeof *x);
    memset(y + nv, 0, rows * sizeof *x);
    lash_block_lu_solve_two(sparse->joined, false, x, y);
    memcpy(x1, x, nv * sizeof *x);
    memcpy(x2, y, nv * sizeof *x);
}

void lash_joint_sparse_clear_dependent(const LashJointSparse* sparse,
                                       const LashInteractionList* list, double* P) {
    const uint8_t* left_out = lash_block_lu_left_out(sparse->joined);
    for (int i = 0; i < sparse->bilateral; ++i) {
        for (int r = 0; r < list->item[i].rows; ++r)
            if (left_out[sparse->at[i] + r]) P[list->item[i].row + r] = 0;
    }
}

// --- Minimum norm

static double inverse_square(const LashJointSparse* sparse, const LashInteraction* item, int r) {
    double length = sparse->system->length;
    return (item->angular >> r & 1) != 0 ? length * length : 1;
}

// Adds G S^-2 G' of one interaction.
static void add_between(const LashJointSparse* sparse, const LashInteraction* item, int i,
                        const double* G, double* value) {
    const double* Gk = G + item->offset;
    for (int k = 0; k < item->touched; ++k) {
        const double* Gl = G + item->offset;
        int m = sparse->size[item->block[k]];
        for (int l = 0; l < item->touched; ++l) {
            int n = sparse->size[item->block[l]];
            double* K = value + sparse->K_at[i][k][l];
            for (int r = 0; r < item->rows; ++r) {
                double w = inverse_square(sparse, item, r);
                for (int b = 0; b < n; ++b) {
                    double f = w * Gl[b + n * r];
                    for (int a = 0; a < m; ++a) K[a + m * b] += f * Gk[a + m * r];
                }
            }
            Gl += n * item->rows;
        }
        Gk += m * item->rows;
    }
}

static bool factor_between(LashJointSparse* sparse, const LashInteractionList* list,
                           const double* G) {
    double* value = lash_block_lu_clear(sparse->between);
    for (int i = 0; i < list->bilateral; ++i) add_between(sparse, &list->item[i], i, G, value);
    for (int b = 0; b < sparse->system->blocks; ++b) {
        int n = sparse->size[b];
        double* K = value + lash_block_lu_offset(sparse->between, b, b);
        for (int k = 0; k < n; ++k) {
            double* x = &K[k + n * k];
            *x = *x > 0 ? *x * (1 + SHIFT) : 1;
        }
    }
    return lash_block_lu_eliminate(sparse->between, 0);
}

void lash_joint_sparse_minimum_norm(LashJointSparse* sparse, const LashInteractionList* list,
                                    const double* G, double* P) {
    const LashSystem* system = sparse->system;
    double *left = sparse->f, *z = sparse->f + system->nv, last = INFINITY;
    if (!factor_between(sparse, list, G)) return;
    memset(left, 0, (size_t)system->nv * sizeof *left);
    lash_rows_apply(system, list, 0, list->bilateral, NULL, G, 1, P, left);
    memset(P, 0, (size_t)sparse->rows * sizeof *P);
    for (int k = 0; k < REPETITIONS; ++k) {
        double change = 0, size = 0;
        memcpy(z, left, (size_t)system->nv * sizeof *z);
        lash_block_lu_solve(sparse->between, z);
        lash_rows_velocity(system, list, 0, list->bilateral, NULL, G, z, sparse->result);
        for (int i = 0; i < list->bilateral; ++i) {
            const LashInteraction* item = &list->item[i];
            for (int r = 0; r < item->rows; ++r) {
                double* p = &sparse->result[item->row + r];
                *p *= inverse_square(sparse, item, r);
                P[item->row + r] += *p;
                change = fmax(change, fabs(*p));
                size = fmax(size, fabs(P[item->row + r]));
            }
        }
        lash_rows_apply(system, list, 0, list->bilateral, NULL, G, -1, sparse->result, left);
        if (change <= 1e-15 * size || change >= 0.5 * last) break;
        last = change;
    }
}
