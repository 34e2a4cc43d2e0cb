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

static void number_clusters(Motions* s) {
    const LashSystem* system = s->system;
    int blocks = system->blocks, *parent = lash_alloc(((size_t)blocks + 1) * sizeof *parent);
    for (int b = 0; b < blocks; ++b) parent[b] = b;
    for (int i = 0; i < s->joints; ++i)
        for (int b = 1; b < s->joint[i].touched; ++b)
            parent[find(parent, s->joint[i].block[b])] = find(parent, s->joint[i].block[0]);
    s->cluster = lash_alloc(((size_t)blocks + 1) * sizeof *s->cluster);
    for (int root = 0; root < blocks; ++root) {
        if (find(parent, root) != root) continue;
        Cluster* c = &s->cluster[s->clusters];
        c->block = lash_alloc((size_t)blocks * sizeof *c->block);
        c->at = lash_alloc((size_t)blocks * sizeof *c->at);
        for (int b = 0; b < blocks; ++b) {
            if (find(parent, b) != root) continue;
            s->cluster_of[b] = s->clusters;
            s->at[b] = c->n;
            c->block[c->blocks] = b;
            c->at[c->blocks++] = c->n;
            c->n += lash_block_size(system, b);
        }
        c->ld = lash_dense_padded(c->n);
        ++s->clusters;
    }
    lash_free(parent);
}

static void lay_out_cluster(Motions* s, int index) {
    Cluster* c = &s->cluster[index];
    size_t n = (size_t)c->n, ld = (size_t)c->ld;
    c->item = lash_alloc(((size_t)s->joints + 1) * sizeof *c->item);
    c->row = lash_alloc(((size_t)s->p + 1) * sizeof *c->row);
    for (int i = 0; i < s->joints; ++i) {
        const LashInteraction* item = &s->joint[i];
        if (item->touched == 0 || s->cluster_of[item->block[0]] != index) continue;
        c->item[c->items++] = i;
        for (int r = 0; r < item->rows; ++r) c->row[c->p++] = item->row + r;
    }
    c->order = lash_alloc(((size_t)c->p + 1) * sizeof *c->order);
    c->memory = lash_alloc((((size_t)c->p + 3 * n) * ld + 8) * sizeof *c->memory);
    c->L = lash_dense_aligned(c->memory);
    c->Q = c->L + (size_t)c->p * ld;
    c->V = c->Q + n * ld;
    c->LL = c->V + n * ld;
    if (c->p > 0) return;
    const double* inverse = s->inverse + c->block[0] * BODY * BODY; // a free body: V = A^-T
    for (int i = 0; i < c->n; ++i)
        for (int j = 0; j < c->n; ++j)
            c->Q[i * c->ld + j] = c->V[i * c->ld + j] = inverse[i * c->n + j];
}

Motions* motions_create(const LashSystem* system, const LashInteractionList* list,
                        const double* M) {
    bool possible = system->nv <= LARGEST && masses_are_blocks(system, M);
    for (int b = 0; b < system->blocks; ++b)
        possible = possible && lash_block_size(system, b) <= BODY;
    if (!possible) return NULL;
    Motions* s = lash_alloc(sizeof *s);
    size_t blocks = (size_t)system->blocks, p = (size_t)list->bilateral_rows;
    s->system = system;
    s->p = list->bilateral_rows;
    s->joints = list->bilateral;
    s->joint = lash_alloc(((size_t)s->joints + 1) * sizeof *s->joint);
    if (s->joints > 0) memcpy(s->joint, list->item, (size_t)s->joints * sizeof *s->joint);
    s->at = lash_alloc((blocks + 1) * sizeof *s->at);
    s->cluster_of = lash_alloc((blocks + 1) * sizeof *s->cluster_of);
    s->inverse = lash_alloc((blocks * BODY * BODY + 1) * sizeof *s->inverse);
    s->e = lash_alloc((p + 1) * sizeof *s->e);
    s->c = lash_alloc((p + LARGEST) * sizeof *s->c);
    s->work = lash_alloc(((p + LARGEST) * LARGEST + 2 * p + LARGEST) * sizeof *s->work);
    for (int b = 0; b < system->blocks && possible; ++b)
        possible = invert_factor(lash_block_size(system, b), M + system->pattern.offset[b],
                                 s->inverse + b * BODY * BODY);
    if (!possible) {
        motions_destroy(s);
        return NULL;
    }
    number_clusters(s);
    for (int c = 0; c < s->clusters; ++c) lay_out_cluster(s, c);
    return s;
}

void motions_destroy(Motions* s) {
    if (s == NULL) return;
    for (int i = 0; i < s->clusters; ++i) {
        Cluster* c = &s->cluster[i];
        void* owned[] = {c->block, c->at, c->item, c->row, c->order, c->memory};
        for (size_t k = 0; k < sizeof owned / sizeof owned[0]; ++k) lash_free(owned[k]);
    }
    lash_free(s->cluster);
    lash_free(s->joint);
    lash_free(s->at);
    lash_free(s->cluster_of);
    lash_free(s->inverse);
    lash_free(s->e);
    lash_free(s->c);
    lash_free(s->work);
    lash_free(s);
}

int motions_count(const Motions* s) {
    return s->k;
}

// --- Factoring

static inline double dot_block(int n, const double* x, const double* y) {
    if (n == BODY) return lash_dot6(x, y);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

// Rows of the joints in units of one mass: A^-1 G*.
static void joint_rows(const Motions* s, const Cluster* c, const double* G, double* rows) {
    memset(rows, 0, (size_t)(c->p * c->ld) * sizeof *rows);
    for (int i = 0; i < c->items; ++i) {
        const LashInteraction* item = &s->joint[c->item[i]];
        const double* column = G + item->offset;
        for (int b = 0; b < item->touched; ++b) {
            int n = lash_block_size(s->system, item->block[b]);
            const double* inverse = s->inverse + item->block[b] * BODY * BODY;
            double* to = rows + s->at[item->block[b]];
            for (int r = 0; r < item->rows; ++r, column += n, to += c->ld)
                for (int k = 0; k < n; ++k) to[k] = dot_block(n, inverse + n * k, column);
        }
        rows += item->rows * c->ld;
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
static void divide_by_masses(const Motions* s, Cluster* c) {
    for (int b = 0; b < c->blocks; ++b) {
        int n = lash_block_size(s->system, c->block[b]);
        const double* inverse = s->inverse + c->block[b] * BODY * BODY;
        double* x = c->Q + c->at[b];
        for (int l = 0; l < c->n; ++l, x += c->ld) {
            if (n == BODY)
                divide(BODY, inverse, x);
            else
                divide(n, inverse, x);
        }
    }
}

// V = V* - Y (G'V*)
static void turn_basis(Motions* s, Cluster* c, const double* G) {
    for (int l = 0; l < c->k; ++l) {
        double* v = c->V + l * c->ld;
        for (int i = 0, p = 0; i < c->items; ++i) {
            const LashInteraction* item = &s->joint[c->item[i]];
            const double* column = G + item->offset;
            for (int r = 0; r < item->rows; ++r) s->e[p + r] = 0;
            for (int b = 0; b < item->touched; ++b) {
                int n = lash_block_size(s->system, item->block[b]);
                for (int r = 0; r < item->rows; ++r, column += n)
                    s->e[p + r] += dot_block(n, column, v + s->at[item->block[b]]);
            }
            p += item->rows;
        }
        lash_orthogonal_forward(c->rank, c->L, c->ld, c->order, s->e, s->c);
        lash_dense_subtract_rows(c->ld, c->rank, s->c, 1, c->Q, c->ld, v);
    }
}

// L'L of all rows, dependent ones too: for answers of minimum norm.
static bool factor_redundant(Cluster* c) {
    int r = c->rank;
    memset(c->LL, 0, (size_t)(r * r) * sizeof *c->LL);
    for (int i = 0; i < c->p; ++i) {
        const double* row = c->L + c->order[i] * c->ld;
        int n = i < r ? i + 1 : r;
        for (int a = 0; a < n; ++a)
            for (int b = 0; b < n; ++b) c->LL[a + r * b] += row[a] * row[b];
    }
    return lash_dense_cholesky(r, c->LL,
                               r); // L has full rank, unless its numbers have no digits left
}

bool motions_factor(Motions* s, const double* G_star, const double* G) {
    s->k = 0;
    for (int i = 0; i < s->clusters; ++i) {
        Cluster* c = &s->cluster[i];
        if (c->p > 0) {
            joint_rows(s, c, G_star, c->L);
            c->rank = lash_orthogonal_factor(c->n, c->p, c->L, c->ld, LASH_RANK_ROWS, c->order,
                                             c->Q, s->work);
            if (c->rank < c->p && c->rank > 0 && !factor_redundant(c)) return false;
            divide_by_masses(s, c);
        }
        c->first = s->k;
        c->k = c->n - c->rank;
        s->k += c->k;
        if (c->p == 0) continue;
        memcpy(c->V, c->Q + c->rank * c->ld, (size_t)(c->k * c->ld) * sizeof *c->V);
        turn_basis(s, c, G);
    }
    return true;
}

// --- Products

// Velocities or forces of a cluster from x, padded with zeros; back into x.
static inline void gather(const Motions* s, const Cluster* c, const double* x, double* local) {
    for (int b = 0; b < c->blocks; ++b) {
        int from = s->system->block_start[c->block[b]], n = lash_block_size(s->system, c->block[b]);
        for (int k = 0; k < n; ++k) local[c->at[b] + k] = x[from + k];
    }
    for (int k = c->n; k < c->ld; ++k) local[k] = 0;
}
static inline void give_back(const Motions* s, const Cluster* c, const double* local, double* x) {
    for (int b = 0; b < c->blocks; ++b) {
        int to = s->system->block_start[c->block[b]], n = lash_block_size(s->system, c->block[b]);
        for (int k = 0; k < n; ++k) x[to + k] = local[c->at[b] + k];
    }
}

static const double* basis(const Cluster* c, bool end) {
    return end ? c->V : c->Q + c->rank * c->ld;
}

void motions_reduce(const Motions* s, bool end, const double* f, double* a) {
    double local[LARGEST];
    for (int i = 0; i < s->clusters; ++i) {
        const Cluster* c = &s->cluster[i];
        gather(s, c, f, local);
        lash_dense_multiply_rows(c->k, c->ld, basis(c, end), c->ld, local, a + c->first);
    }
}

void motions_expand(const Motions* s, const double* a, double* x) {
    double local[LARGEST];
    for (int i = 0; i < s->clusters; ++i) {
        const Cluster* c = &s->cluster[i];
        lash_dense_sum_rows(c->ld, c->k, a + c->first, 1, c->V, c->ld, local);
        give_back(s, c, local, x);
    }
}

void motions_close(Motions* s, const double* e, double* x) {
    double local[LARGEST];
    for (int i = 0; i < s->clusters; ++i) {
        const Cluster* c = &s->cluster[i];
        memset(local, 0, (size_t)c->ld * sizeof *local);
        for (int r = 0; r < c->p; ++r) s->e[r] = e[c->row[r]];
        lash_orthogonal_forward(c->rank, c->L, c->ld, c->order, s->e, s->c);
        lash_dense_subtract_rows(c->ld, c->rank, s->c, 1, c->Q, c->ld, local);
        give_back(s, c, local, x);
    }
}

// P = L (L'L)^-1 x
static void answer_redundant(const Cluster* c, double* x, double* P) {
    if (c->rank > 0) lash_dense_cholesky_solve(c->rank, c->LL, c->rank, x);
    for (int i = 0; i < c->p; ++i) {
        const double* row = c->L + c->order[i] * c->ld;
        double sum = 0;
        for (int j = 0; j < (i < c->rank ? i + 1 : c->rank); ++j) sum += row[j] * x[j];
        P[c->row[c->order[i]]] = sum;
    }
}

void motions_answer(Motions* s, const double* f, double* P) {
    double local[LARGEST];
    for (int i = 0; i < s->p; ++i) P[i] = 0;
    for (int i = 0; i < s->clusters; ++i) {
        const Cluster* c = &s->cluster[i];
        if (c->p == 0) continue;
        gather(s, c, f, local);
        lash_dense_multiply_rows(c->rank, c->ld, c->Q, c->ld, local, s->c);
        if (c->rank < c->p) {
            answer_redundant(c, s->c, P);
            continue;
        }
        lash_orthogonal_backward(c->rank, c->p, c->L, c->ld, c->order, s->c, s->e);
        for (int r = 0; r < c->p; ++r) P[c->row[r]] = s->e[r];
    }
}

// --- Contacts

int motions_touched(const Motions* s, const LashInteraction* item, int* first, int* last) {
    int n = 0;
    for (int b = 0; b < item->touched; ++b) {
        const Cluster* c = &s->cluster[s->cluster_of[item->block[b]]];
        bool known = c->k == 0;
        for (int i = 0; i < n; ++i) known = known || first[i] == c->first;
        if (!known) {
            first[n] = c->first;
            last[n++] = c->first + c->k;
        }
    }
    return n;
}

void motions_rows(const Motions* s, const LashInteraction* item, const double* G, int count,
                  bool end, double* rows, int ld) {
    const double* block = G + item->offset;
    for (int b = 0; b < item->touched; ++b) {
        const Cluster* c = &s->cluster[s->cluster_of[item->block[b]]];
        bool begun = false;
        for (int a = 0; a < b; ++a)
            begun = begun || s->cluster_of[item->block[a]] == c - s->cluster;
        int n = lash_block_size(s->system, item->block[b]);
        const double* V = basis(c, end) + s->at[item->block[b]];
        for (int r = 0; r < count; ++r) {
            double* row = rows + r * ld + c->first;
            for (int l = 0; l < c->k; ++l)
                row[l] = (begun ? row[l] : 0) + dot_block(n, V + l * c->ld, block + n * r);
        }
        block += n * item->rows;
    }
}

void motions_expand_columns(const Motions* s, const double* A, int ld, double* X) {
    for (int b = 0; b < s->system->blocks; ++b) {
        const Cluster* c = &s->cluster[s->cluster_of[b]];
        lash_dense_multiply_blocks(lash_block_size(s->system, b), ld, c->k, 1, c->V + s->at[b], 1,
                                   c->ld, A + c->first * ld, ld, false,
                                   X + s->system->block_start[b] * ld, ld);
    }
}

void motions_reduce_columns(const Motions* s, bool end, const double* X, int ld, double* A) {
    memset(A, 0, (size_t)(s->k * ld) * sizeof *A);
    for (int b = 0; b < s->system->blocks; ++b) {
        const Cluster* c = &s->cluster[s->cluster_of[b]];
        lash_dense_multiply_blocks(
            c->k, ld, lash_block_size(s->system, b), 1, basis(c, end) + s->at[b], c->ld, 1,
            X + s->system->block_start[b] * ld, ld, true, A + c->first * ld, ld);
    }
}
