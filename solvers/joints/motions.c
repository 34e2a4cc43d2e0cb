// The motions that ideal joints leave (motions.h), for each cluster of bodies that they tie
// together.
//
//     M = A A' per body,  A^-1 G* = L Q1 (by rows, orthogonal.h):   rows of Q1 A^-1 and, for the
//     rest of the basis, of V*' = Q2 A^-1
#include "solvers/joints/motions.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "solvers/linear/dense.h"
#include "solvers/linear/orthogonal.h"
#include "solvers/linear/rank.h"
#include "solvers/step/rows.h"

enum { BODY = 6, LARGEST = 96 }; // velocities of a block, of all

typedef struct Cluster {
    int n, ld;               // velocities; padded
    int first, k;            // its motions
    int blocks, *block, *at; // (blocks) its blocks, and where their velocities stand in it
    int p, rank;             // rows of its joints; independent ones
    int items, *item;        // its joints
    int *row, *order;        // (p) rows in the list; order of the factor
    double* L;               // (p x ld) rows of the joints, factored
    double* Q;               // (n x ld) by rows: Q1 A^-1, then V*'
    double* V;               // (n x ld) by rows: V' in the first k
    double* LL;              // (rank x rank) factor of L'L, where rows depend on each other
    double* memory;          // of the four
} Cluster;

struct Motions {
    const LashSystem* system;
    int k, p;
    int joints;
    LashInteraction* joint; // (joints) the bilateral interactions, as first listed
    int *cluster_of, *at;   // (blocks)
    double* inverse;        // (blocks x 6 x 6) A^-1 by rows
    int clusters;
    Cluster* cluster;
    double *e, *c, *work; // scratch
};

// --- Making

static int find(int* parent, int b) {
    while (parent[b] != b) b = parent[b] = parent[parent[b]];
    return b;
}

static bool masses_are_blocks(const LashSystem* system, const double* M) {
    const LashBlocks* pattern = &system->pattern;
    for (int b = 0; b < pattern->count; ++b) {
        if (pattern->row[b] == pattern->column[b]) continue;
        for (int i = pattern->offset[b]; i < pattern->offset[b + 1]; ++i)
            if (M[i] != 0) return false;
    }
    return true;
}

// inverse (n x n, by rows) = L^-1 of M = L L'
static bool invert_factor(int n, const double* M, double* inverse) {
    double L[BODY * BODY];
    memcpy(L, M, (size_t)(n * n) * sizeof *L);
    if (!lash_dense_cholesky(n, L, n)) return false;
    memset(inverse, 0, (size_t)(n * n) * sizeof *inverse);
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            double sum = i == j ? 1 : 0;
            for (int k = j; k < i; ++k) sum -= L[i + n * k] * inverse[k * n + j];
            inverse[i * n + j] = sum / L[i + n * i];
        }
    }
    return true;
}

static void number_clusters(Motions* motions) {
    const LashSystem* system = motions->system;
    int blocks = system->blocks, *parent = lash_alloc(((size_t)blocks + 1) * sizeof *parent);
    for (int b = 0; b < blocks; ++b) parent[b] = b;
    for (int i = 0; i < motions->joints; ++i)
        for (int b = 1; b < motions->joint[i].touched; ++b)
            parent[find(parent, motions->joint[i].block[b])] =
                find(parent, motions->joint[i].block[0]);
    motions->cluster = lash_alloc(((size_t)blocks + 1) * sizeof *motions->cluster);
    for (int root = 0; root < blocks; ++root) {
        if (find(parent, root) != root) continue;
        Cluster* cluster = &motions->cluster[motions->clusters];
        cluster->block = lash_alloc((size_t)blocks * sizeof *cluster->block);
        cluster->at = lash_alloc((size_t)blocks * sizeof *cluster->at);
        for (int b = 0; b < blocks; ++b) {
            if (find(parent, b) != root) continue;
            motions->cluster_of[b] = motions->clusters;
            motions->at[b] = cluster->n;
            cluster->block[cluster->blocks] = b;
            cluster->at[cluster->blocks++] = cluster->n;
            cluster->n += lash_block_size(system, b);
        }
        cluster->ld = lash_dense_padded(cluster->n);
        ++motions->clusters;
    }
    lash_free(parent);
}

static void lay_out_cluster(Motions* motions, int index) {
    Cluster* cluster = &motions->cluster[index];
    size_t n = (size_t)cluster->n, ld = (size_t)cluster->ld;
    cluster->item = lash_alloc(((size_t)motions->joints + 1) * sizeof *cluster->item);
    cluster->row = lash_alloc(((size_t)motions->p + 1) * sizeof *cluster->row);
    for (int i = 0; i < motions->joints; ++i) {
        const LashInteraction* item = &motions->joint[i];
        if (item->touched == 0 || motions->cluster_of[item->block[0]] != index) continue;
        cluster->item[cluster->items++] = i;
        for (int r = 0; r < item->rows; ++r) cluster->row[cluster->p++] = item->row + r;
    }
    cluster->order = lash_alloc(((size_t)cluster->p + 1) * sizeof *cluster->order);
    cluster->memory = lash_alloc((((size_t)cluster->p + 3 * n) * ld + 8) * sizeof *cluster->memory);
    cluster->L = lash_dense_aligned(cluster->memory);
    cluster->Q = cluster->L + (size_t)cluster->p * ld;
    cluster->V = cluster->Q + n * ld;
    cluster->LL = cluster->V + n * ld;
    if (cluster->p > 0) return;
    const double* inverse =
        motions->inverse + cluster->block[0] * BODY * BODY; // a free body: V = A^-T
    for (int i = 0; i < cluster->n; ++i)
        for (int j = 0; j < cluster->n; ++j)
            cluster->Q[i * cluster->ld + j] = cluster->V[i * cluster->ld + j] =
                inverse[i * cluster->n + j];
}

Motions* motions_create(const LashSystem* system, const LashInteractionList* list,
                        const double* M) {
    bool possible = system->nv <= LARGEST && masses_are_blocks(system, M);
    for (int b = 0; b < system->blocks; ++b)
        possible = possible && lash_block_size(system, b) <= BODY;
    if (!possible) return NULL;
    Motions* motions = lash_alloc(sizeof *motions);
    size_t blocks = (size_t)system->blocks, p = (size_t)list->bilateral_rows;
    motions->system = system;
    motions->p = list->bilateral_rows;
    motions->joints = list->bilateral;
    motions->joint = lash_alloc(((size_t)motions->joints + 1) * sizeof *motions->joint);
    if (motions->joints > 0)
        memcpy(motions->joint, list->item, (size_t)motions->joints * sizeof *motions->joint);
    motions->at = lash_alloc((blocks + 1) * sizeof *motions->at);
    motions->cluster_of = lash_alloc((blocks + 1) * sizeof *motions->cluster_of);
    motions->inverse = lash_alloc((blocks * BODY * BODY + 1) * sizeof *motions->inverse);
    motions->e = lash_alloc((p + 1) * sizeof *motions->e);
    motions->c = lash_alloc((p + LARGEST) * sizeof *motions->c);
    motions->work = lash_alloc(((p + LARGEST) * LARGEST + 2 * p + LARGEST) * sizeof *motions->work);
    for (int b = 0; b < system->blocks && possible; ++b)
        possible = invert_factor(lash_block_size(system, b), M + system->pattern.offset[b],
                                 motions->inverse + b * BODY * BODY);
    if (!possible) {
        motions_destroy(motions);
        return NULL;
    }
    number_clusters(motions);
    for (int c = 0; c < motions->clusters; ++c) lay_out_cluster(motions, c);
    return motions;
}

void motions_destroy(Motions* motions) {
    if (motions == NULL) return;
    for (int i = 0; i < motions->clusters; ++i) {
        Cluster* cluster = &motions->cluster[i];
        void* owned[] = {cluster->block, cluster->at,    cluster->item,
                         cluster->row,   cluster->order, cluster->memory};
        for (size_t k = 0; k < sizeof owned / sizeof owned[0]; ++k) lash_free(owned[k]);
    }
    lash_free(motions->cluster);
    lash_free(motions->joint);
    lash_free(motions->at);
    lash_free(motions->cluster_of);
    lash_free(motions->inverse);
    lash_free(motions->e);
    lash_free(motions->c);
    lash_free(motions->work);
    lash_free(motions);
}

void motions_archive(Motions* motions, LashArchive* archive) {
    lash_archive_count(archive, &motions->k, LARGEST);
    for (int i = 0; i < motions->clusters; ++i) {
        Cluster* cluster = &motions->cluster[i];
        size_t numbers = ((size_t)cluster->p + 3 * (size_t)cluster->n) * (size_t)cluster->ld;
        lash_archive_count(archive, &cluster->first, LARGEST);
        lash_archive_count(archive, &cluster->k, LARGEST);
        lash_archive_count(archive, &cluster->rank, cluster->p);
        lash_archive(archive, cluster->order, (size_t)cluster->p * sizeof *cluster->order);
        lash_archive(archive, cluster->L, numbers * sizeof(double)); // Q, V and LL follow
    }
}

int motions_count(const Motions* motions) {
    return motions->k;
}

// --- Factoring

static inline double dot_block(int n, const double* x, const double* y) {
    if (n == BODY) return lash_dot6(x, y);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

// Rows of the joints in units of one mass: A^-1 G*.
static void joint_rows(const Motions* motions, const Cluster* cluster, const double* G,
                       double* rows) {
    memset(rows, 0, (size_t)(cluster->p * cluster->ld) * sizeof *rows);
    for (int i = 0; i < cluster->items; ++i) {
        const LashInteraction* item = &motions->joint[cluster->item[i]];
        const double* column = G + item->offset;
        for (int b = 0; b < item->touched; ++b) {
            int n = lash_block_size(motions->system, item->block[b]);
            const double* inverse = motions->inverse + item->block[b] * BODY * BODY;
            double* to = rows + motions->at[item->block[b]];
            for (int r = 0; r < item->rows; ++r, column += n, to += cluster->ld)
                for (int k = 0; k < n; ++k) to[k] = dot_block(n, inverse + n * k, column);
        }
        rows += item->rows * cluster->ld;
    }
}

// x' <- x' A^-1
static inline __attribute__((always_inline)) void divide(const int n, const double* inverse,
                                                         double* x) {
    double y[BODY] = {0};
    for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k) y[k] += x[j] * inverse[j * n + k];
    memcpy(x, y, (size_t)n * sizeof *x);
}

// Rows of the basis times A^-1.
static void divide_by_masses(const Motions* motions, Cluster* cluster) {
    for (int b = 0; b < cluster->blocks; ++b) {
        int n = lash_block_size(motions->system, cluster->block[b]);
        const double* inverse = motions->inverse + cluster->block[b] * BODY * BODY;
        double* x = cluster->Q + cluster->at[b];
        for (int l = 0; l < cluster->n; ++l, x += cluster->ld) {
            if (n == BODY)
                divide(BODY, inverse, x);
            else
                divide(n, inverse, x);
        }
    }
}

// V = V* - Y (G'V*)
static void turn_basis(Motions* motions, Cluster* cluster, const double* G) {
    for (int l = 0; l < cluster->k; ++l) {
        double* v = cluster->V + l * cluster->ld;
        for (int i = 0, p = 0; i < cluster->items; ++i) {
            const LashInteraction* item = &motions->joint[cluster->item[i]];
            const double* column = G + item->offset;
            for (int r = 0; r < item->rows; ++r) motions->e[p + r] = 0;
            for (int b = 0; b < item->touched; ++b) {
                int n = lash_block_size(motions->system, item->block[b]);
                for (int r = 0; r < item->rows; ++r, column += n)
                    motions->e[p + r] += dot_block(n, column, v + motions->at[item->block[b]]);
            }
            p += item->rows;
        }
        lash_orthogonal_forward(cluster->rank, cluster->L, cluster->ld, cluster->order, motions->e,
                                motions->c);
        lash_dense_subtract_rows(cluster->ld, cluster->rank, motions->c, 1, cluster->Q, cluster->ld,
                                 v);
    }
}

// L'L of all rows, dependent ones too: for answers of minimum norm.
static bool factor_redundant(Cluster* cluster) {
    int r = cluster->rank;
    memset(cluster->LL, 0, (size_t)(r * r) * sizeof *cluster->LL);
    for (int i = 0; i < cluster->p; ++i) {
        const double* row = cluster->L + cluster->order[i] * cluster->ld;
        int n = i < r ? i + 1 : r;
        for (int a = 0; a < n; ++a)
            for (int b = 0; b < n; ++b) cluster->LL[a + r * b] += row[a] * row[b];
    }
    return lash_dense_cholesky(r, cluster->LL,
                               r); // L has full rank, unless its numbers have no digits left
}

bool motions_factor(Motions* motions, const double* G_star, const double* G) {
    motions->k = 0;
    for (int i = 0; i < motions->clusters; ++i) {
        Cluster* cluster = &motions->cluster[i];
        if (cluster->p > 0) {
            joint_rows(motions, cluster, G_star, cluster->L);
            cluster->rank =
                lash_orthogonal_factor(cluster->n, cluster->p, cluster->L, cluster->ld,
                                       LASH_RANK_ROWS, cluster->order, cluster->Q, motions->work);
            if (cluster->rank < cluster->p && cluster->rank > 0 && !factor_redundant(cluster))
                return false;
            divide_by_masses(motions, cluster);
        }
        cluster->first = motions->k;
        cluster->k = cluster->n - cluster->rank;
        motions->k += cluster->k;
        if (cluster->p == 0) continue;
        memcpy(cluster->V, cluster->Q + cluster->rank * cluster->ld,
               (size_t)(cluster->k * cluster->ld) * sizeof *cluster->V);
        turn_basis(motions, cluster, G);
    }
    return true;
}

// --- Products

// Velocities or forces of a cluster from x, padded with zeros; back into x.
static inline void gather(const Motions* motions, const Cluster* cluster, const double* x,
                          double* local) {
    for (int b = 0; b < cluster->blocks; ++b) {
        int from = motions->system->block_start[cluster->block[b]],
            n = lash_block_size(motions->system, cluster->block[b]);
        for (int k = 0; k < n; ++k) local[cluster->at[b] + k] = x[from + k];
    }
    for (int k = cluster->n; k < cluster->ld; ++k) local[k] = 0;
}
static inline void give_back(const Motions* motions, const Cluster* cluster, const double* local,
                             double* x) {
    for (int b = 0; b < cluster->blocks; ++b) {
        int to = motions->system->block_start[cluster->block[b]],
            n = lash_block_size(motions->system, cluster->block[b]);
        for (int k = 0; k < n; ++k) x[to + k] = local[cluster->at[b] + k];
    }
}

static const double* basis(const Cluster* cluster, bool end) {
    return end ? cluster->V : cluster->Q + cluster->rank * cluster->ld;
}

void motions_reduce(const Motions* motions, bool end, const double* f, double* a) {
    double local[LARGEST];
    for (int i = 0; i < motions->clusters; ++i) {
        const Cluster* cluster = &motions->cluster[i];
        gather(motions, cluster, f, local);
        lash_dense_multiply_rows(cluster->k, cluster->ld, basis(cluster, end), cluster->ld, local,
                                 a + cluster->first);
    }
}

void motions_expand(const Motions* motions, const double* a, double* x) {
    double local[LARGEST];
    for (int i = 0; i < motions->clusters; ++i) {
        const Cluster* cluster = &motions->cluster[i];
        lash_dense_sum_rows(cluster->ld, cluster->k, a + cluster->first, 1, cluster->V, cluster->ld,
                            local);
        give_back(motions, cluster, local, x);
    }
}

void motions_close(Motions* motions, const double* e, double* x) {
    double local[LARGEST];
    for (int i = 0; i < motions->clusters; ++i) {
        const Cluster* cluster = &motions->cluster[i];
        memset(local, 0, (size_t)cluster->ld * sizeof *local);
        for (int r = 0; r < cluster->p; ++r) motions->e[r] = e[cluster->row[r]];
        lash_orthogonal_forward(cluster->rank, cluster->L, cluster->ld, cluster->order, motions->e,
                                motions->c);
        lash_dense_subtract_rows(cluster->ld, cluster->rank, motions->c, 1, cluster->Q, cluster->ld,
                                 local);
        give_back(motions, cluster, local, x);
    }
}

// P = L (L'L)^-1 x
static void answer_redundant(const Cluster* cluster, double* x, double* P) {
    if (cluster->rank > 0) lash_dense_cholesky_solve(cluster->rank, cluster->LL, cluster->rank, x);
    for (int i = 0; i < cluster->p; ++i) {
        const double* row = cluster->L + cluster->order[i] * cluster->ld;
        double sum = 0;
        for (int j = 0; j < (i < cluster->rank ? i + 1 : cluster->rank); ++j) sum += row[j] * x[j];
        P[cluster->row[cluster->order[i]]] = sum;
    }
}

void motions_answer(Motions* motions, const double* f, double* P) {
    double local[LARGEST];
    for (int i = 0; i < motions->p; ++i) P[i] = 0;
    for (int i = 0; i < motions->clusters; ++i) {
        const Cluster* cluster = &motions->cluster[i];
        if (cluster->p == 0) continue;
        gather(motions, cluster, f, local);
        lash_dense_multiply_rows(cluster->rank, cluster->ld, cluster->Q, cluster->ld, local,
                                 motions->c);
        if (cluster->rank < cluster->p) {
            answer_redundant(cluster, motions->c, P);
            continue;
        }
        lash_orthogonal_backward(cluster->rank, cluster->p, cluster->L, cluster->ld, cluster->order,
                                 motions->c, motions->e);
        for (int r = 0; r < cluster->p; ++r) P[cluster->row[r]] = motions->e[r];
    }
}

// --- Contacts

int motions_touched(const Motions* motions, const LashInteraction* item, int* first, int* last) {
    int n = 0;
    for (int b = 0; b < item->touched; ++b) {
        const Cluster* cluster = &motions->cluster[motions->cluster_of[item->block[b]]];
        bool known = cluster->k == 0;
        for (int i = 0; i < n; ++i) known = known || first[i] == cluster->first;
        if (!known) {
            first[n] = cluster->first;
            last[n++] = cluster->first + cluster->k;
        }
    }
    return n;
}

void motions_rows(const Motions* motions, const LashInteraction* item, const double* G, int count,
                  bool end, double* rows, int ld) {
    const double* block = G + item->offset;
    for (int b = 0; b < item->touched; ++b) {
        const Cluster* cluster = &motions->cluster[motions->cluster_of[item->block[b]]];
        bool begun = false;
        for (int a = 0; a < b; ++a)
            begun = begun || motions->cluster_of[item->block[a]] == cluster - motions->cluster;
        int n = lash_block_size(motions->system, item->block[b]);
        const double* V = basis(cluster, end) + motions->at[item->block[b]];
        for (int r = 0; r < count; ++r) {
            double* row = rows + r * ld + cluster->first;
            for (int l = 0; l < cluster->k; ++l)
                row[l] = (begun ? row[l] : 0) + dot_block(n, V + l * cluster->ld, block + n * r);
        }
        block += n * item->rows;
    }
}

void motions_expand_columns(const Motions* motions, const double* A, int ld, double* X) {
    for (int b = 0; b < motions->system->blocks; ++b) {
        const Cluster* cluster = &motions->cluster[motions->cluster_of[b]];
        lash_dense_multiply_blocks(lash_block_size(motions->system, b), ld, cluster->k, 1,
                                   cluster->V + motions->at[b], 1, cluster->ld,
                                   A + cluster->first * ld, ld, false,
                                   X + motions->system->block_start[b] * ld, ld);
    }
}

void motions_reduce_columns(const Motions* motions, bool end, const double* X, int ld, double* A) {
    memset(A, 0, (size_t)(motions->k * ld) * sizeof *A);
    for (int b = 0; b < motions->system->blocks; ++b) {
        const Cluster* cluster = &motions->cluster[motions->cluster_of[b]];
        lash_dense_multiply_blocks(cluster->k, ld, lash_block_size(motions->system, b), 1,
                                   basis(cluster, end) + motions->at[b], cluster->ld, 1,
                                   X + motions->system->block_start[b] * ld, ld, true,
                                   A + cluster->first * ld, ld);
    }
}
