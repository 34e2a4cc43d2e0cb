// Block LU without pivoting between blocks, in the order of block_order.c:  A = (I + L) (D + U).
//
//   for k:  D_k^-1 by Gauss-Jordan with pivoting inside the block
//           for i in later(k):  L_ik = A_ik D_k^-1;   for j in later(k):  A_ij -= L_ik A_kj
//
// later(k): blocks coupled to k, fill included, found once at creation, so a factorisation only
// computes. The mass matrix dominates the diagonal blocks of every system we have, so pivoting
// inside blocks is enough. A banded system stays banded: cost is linear in its length.
//
// Rows of joints, [A -G; G' 0]: their diagonal block starts at zero and becomes what is left of
// G' A^-1 G once the rows before them are met. A row of which nothing but rounding is left depends
// on those before; it is left out (a zero row and column in the inverse of its block). Complete
// pivoting inside the block finds the independent ones; those left out last time are taken last, so
// that the choice does not change without need.
#include "solvers/linear/block_lu.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "solvers/linear/block_kernels_internal.h"

// Inverted without a search for pivots while each keeps this share of its diagonal entry; for rows,
// of what the bodies put there.
static const double EASY = 1e-4;
enum { LARGEST_ON_DIAGONAL = 16 };

struct LashBlockLu {
    const LashSystem* system; // NULL: made from a graph
    LashBlockOrder order;
    int nodes, unknowns, values, max_block;
    int *size, *start;  // (nodes) rows, first unknown
    uint8_t* rows;      // (nodes) 1: of joints
    int* diagonal;      // (nodes) value offset, by place
    int *lower, *upper; // (length of order.later) value offsets of A_ik and A_kj
    int* target_at;     // (nodes) by place: where its targets start
    int* target;        // (count x count per place) value offset of A_ij
    int* source;        // (pattern.count) where each block of the pattern goes
    double* value;      // factors; the diagonal blocks hold D^-1
    double* panel;      // scratch, (max_block x max_block)
    double* whole;      // (unknowns) of rows: what the bodies put on the diagonal
    uint8_t* needed;    // (nodes) rows, and what their unknowns are found from
    uint8_t* left_out;  // (unknowns)
    int* pivot;         // scratch, (2 max_block)
    int left_out_count;
    const double* matrix; // borrowed
    bool is_diagonal;
    bool
        separate; // the matrix factored is zero off the diagonal: masses of bodies that only contacts couple
};

// --- Symbolic ------------------------------------------------------------------------------------

static int later_count(const LashBlockLu* lu, int place) {
    return lu->order.first[place + 1] - lu->order.first[place];
}

int lash_block_lu_find(const LashBlockLu* lu, int row, int column) {
    int r = lu->order.place[row], c = lu->order.place[column], low = r < c ? r : c;
    if (r == c) return lu->diagonal[r];
    int first = lu->order.first[low], last = lu->order.first[low + 1], high = r < c ? c : r;
    while (first < last) { // lists are sorted by place
        int middle = (first + last) / 2;
        if (lu->order.place[lu->order.later[middle]] < high)
            first = middle + 1;
        else
            last = middle;
    }
    if (first == lu->order.first[low + 1] || lu->order.place[lu->order.later[first]] != high)
        return -1;
    return r > c ? lu->lower[first] : lu->upper[first];
}

int lash_block_lu_offset(const LashBlockLu* lu, int row, int column) {
    int at = lash_block_lu_find(lu, row, column);
    LASH_ASSERT(at >= 0);
    return at;
}

static void lay_out(LashBlockLu* lu) {
    int next = 0, targets = 0;
    for (int p = 0; p < lu->nodes; ++p) {
        int n = lu->size[lu->order.order[p]];
        lu->diagonal[p] = next;
        next += n * n;
        for (int i = lu->order.first[p]; i < lu->order.first[p + 1]; ++i) {
            int size = n * lu->size[lu->order.later[i]];
            lu->lower[i] = next;
            next += size;
            lu->upper[i] = next;
            next += size;
        }
        lu->target_at[p] = targets;
        targets += later_count(lu, p) * later_count(lu, p);
        if (n > lu->max_block) lu->max_block = n;
        if (later_count(lu, p) > 0) lu->is_diagonal = false;
    }
    lu->values = next;
    lu->target = lash_alloc(((size_t)targets + 1) * sizeof(int));
    for (int p = 0; p < lu->nodes; ++p) {
        const int* later = lu->order.later + lu->order.first[p];
        int count = later_count(lu, p), *target = lu->target + lu->target_at[p];
        for (int i = 0; i < count; ++i) {
            for (int j = 0; j < count; ++j)
                target[i * count + j] = lash_block_lu_offset(lu, later[i], later[j]);
        }
    }
}

// The order given when it makes no fill (a banded system), else one that looks for little.
static LashBlockOrder choose_order(const LashBlockGraph* graph, const LashSystem* system) {
    LashBlockOrder given = lash_block_order(graph, true);
    if (2 * given.first[graph->nodes] + graph->nodes <= system->pattern.count) return given;
    lash_block_order_free(&given);
    return lash_block_order(graph, false);
}

static LashBlockLu* create(const LashBlockGraph* graph, const LashSystem* system,
                           LashBlockOrder order) {
    LashBlockLu* lu = lash_alloc(sizeof *lu);
    size_t n = (size_t)graph->nodes;
    lu->system = system;
    lu->nodes = graph->nodes;
    lu->is_diagonal = true;
    lu->order = order;
    lu->size = lash_alloc((n + 1) * sizeof(int));
    lu->start = lash_alloc((n + 1) * sizeof(int));
    lu->rows = lash_alloc(n + 1);
    for (int i = 0; i < graph->nodes; ++i) {
        lu->size[i] = graph->size[i];
        lu->start[i] = lu->unknowns;
        lu->rows[i] = graph->rows != NULL && graph->rows[i] == LASH_NODE_ROWS;
        lu->unknowns += graph->size[i];
        LASH_ASSERT(!lu->rows[i] || graph->size[i] <= 64);
    }
    size_t later = (size_t)lu->order.first[graph->nodes] + 1;
    lu->diagonal = lash_alloc((n + 1) * sizeof(int));
    lu->lower = lash_alloc(later * sizeof(int));
    lu->upper = lash_alloc(later * sizeof(int));
    lu->target_at = lash_alloc((n + 1) * sizeof(int));
    lay_out(lu);
    lu->value = lash_alloc(((size_t)lu->values + 1) * sizeof(double));
    lu->panel = lash_alloc(((size_t)(lu->max_block * lu->max_block) + 1) * sizeof(double));
    lu->pivot = lash_alloc((2 * (size_t)lu->max_block + 1) * sizeof(int));
    lu->whole = lash_alloc(((size_t)lu->unknowns + 1) * sizeof(double));
    lu->left_out = lash_alloc((size_t)lu->unknowns + 1);
    lu->needed = lash_alloc(n + 1);
    for (int p = 0; p < lu->nodes; ++p) {
        int node = lu->order.order[p];
        if (lu->rows[node]) lu->needed[node] = 1;
        for (int i = lu->order.first[p]; i < lu->order.first[p + 1] && lu->needed[node]; ++i)
            lu->needed[lu->order.later[i]] = 1;
    }
    return lu;
}

LashBlockLu* lash_block_lu_create_graph(const LashBlockGraph* graph) {
    return create(graph, NULL, lash_block_order(graph, false));
}

LashBlockLu* lash_block_lu_create_like(const LashBlockLu* like, const LashBlockGraph* graph) {
    LASH_ASSERT(graph->nodes == like->nodes);
    return create(graph, NULL, lash_block_order_copy(&like->order));
}

LashBlockLu* lash_block_lu_create(const LashSystem* system) {
    const LashBlocks* pattern = &system->pattern;
    int *a = lash_alloc((size_t)pattern->count * sizeof(int)),
        *b = lash_alloc((size_t)pattern->count * sizeof(int)),
        *size = lash_alloc(((size_t)system->blocks + 1) * sizeof(int));
    LashBlockGraph graph = {.nodes = system->blocks, .size = size, .a = a, .b = b};
    for (int i = 0; i < system->blocks; ++i) size[i] = lash_block_size(system, i);
    for (int k = 0; k < pattern->count; ++k) {
        if (pattern->row[k] == pattern->column[k]) continue;
        a[graph.edges] = pattern->row[k];
        b[graph.edges++] = pattern->column[k];
    }
    LashBlockLu* lu = create(&graph, system, choose_order(&graph, system));
    lu->source = lash_alloc((size_t)pattern->count * sizeof(int));
    for (int k = 0; k < pattern->count; ++k)
        lu->source[k] = lash_block_lu_offset(lu, pattern->row[k], pattern->column[k]);
    lash_free(a);
    lash_free(b);
    lash_free(size);
    return lu;
}

void lash_block_lu_destroy(LashBlockLu* lu) {
    if (lu == NULL) return;
    lash_block_order_free(&lu->order);
    lash_free(lu->size);
    lash_free(lu->start);
    lash_free(lu->rows);
    lash_free(lu->diagonal);
    lash_free(lu->lower);
    lash_free(lu->upper);
    lash_free(lu->target_at);
    lash_free(lu->target);
    lash_free(lu->source);
    lash_free(lu->value);
    lash_free(lu->panel);
    lash_free(lu->pivot);
    lash_free(lu->whole);
    lash_free(lu->left_out);
    lash_free(lu->needed);
    lash_free(lu);
}

bool lash_block_lu_is_diagonal(const LashBlockLu* lu) {
    return lu->is_diagonal;
}

const double* lash_block_lu_inverse(const LashBlockLu* lu, int block) {
    return lu->value + lu->diagonal[lu->order.place[block]];
}

const double* lash_block_lu_matrix(const LashBlockLu* lu) {
    return lu->matrix;
}

void lash_block_lu_archive(LashBlockLu* lu, LashArchive* archive) {
    lash_archive(archive, lu->value, (size_t)lu->values * sizeof *lu->value);
    lash_archive(archive, lu->whole, (size_t)lu->unknowns * sizeof *lu->whole);
    lash_archive(archive, &lu->separate, sizeof lu->separate);
    lash_archive(archive, lu->left_out, (size_t)lu->unknowns);
    lash_archive_count(archive, &lu->left_out_count, lu->unknowns);
}

void lash_block_lu_name_matrix(LashBlockLu* lu, const double* values) {
    lu->matrix = values;
}

const uint8_t* lash_block_lu_left_out(const LashBlockLu* lu) {
    return lu->left_out;
}

int lash_block_lu_left_out_count(const LashBlockLu* lu) {
    return lu->left_out_count;
}

// Rows of the later blocks of a place.
static double later_rows(const LashBlockLu* lu, int place) {
    double rows = 0;
    for (int i = lu->order.first[place]; i < lu->order.first[place + 1]; ++i)
        rows += lu->size[lu->order.later[i]];
    return rows;
}

double lash_block_lu_factor_cost(const LashBlockLu* lu) {
    LashBlockGraph graph = {.nodes = lu->nodes, .size = lu->size};
    return lash_block_order_cost(&graph, &lu->order);
}

double lash_block_lu_solve_cost(const LashBlockLu* lu) {
    double cost = 0;
    for (int p = 0; p < lu->nodes; ++p) {
        double n = lu->size[lu->order.order[p]], m = later_rows(lu, p);
        cost += n * (n + 2 * m);
    }
    return cost;
}

// --- Numeric -------------------------------------------------------------------------------------

// A (n x n) <- A^-1, Gauss-Jordan with row pivoting; false when singular.
static bool invert(int n, double* A, double* B) {
    memset(B, 0, (size_t)(n * n) * sizeof *B);
    for (int i = 0; i < n; ++i) B[i + n * i] = 1;
    for (int k = 0; k < n; ++k) {
        int p = k;
        for (int i = k + 1; i < n; ++i) {
            if (fabs(A[i + n * k]) > fabs(A[p + n * k])) p = i;
        }
        if (!(fabs(A[p + n * k]) > 0)) return false;
        for (int j = 0; j < n && p != k; ++j) {
            double a = A[k + n * j], b = B[k + n * j];
            A[k + n * j] = A[p + n * j];
            A[p + n * j] = a;
            B[k + n * j] = B[p + n * j];
            B[p + n * j] = b;
        }
        double scale = 1 / A[k + n * k];
        for (int j = 0; j < n; ++j) {
            A[k + n * j] *= scale;
            B[k + n * j] *= scale;
        }
        for (int i = 0; i < n; ++i) {
            double f = A[i + n * k];
            if (i == k || f == 0) continue;
            for (int j = 0; j < n; ++j) {
                A[i + n * j] -= f * A[k + n * j];
                B[i + n * j] -= f * B[k + n * j];
            }
        }
    }
    memcpy(A, B, (size_t)(n * n) * sizeof *B);
    return true;
}

// Inverse of the independent part of the block of rows S (n x n), in place: complete pivoting on
// S in units of `whole`, the exchange step of Gauss-Jordan, zero rows and columns for the rest.
// X: scratch (n x n), at: scratch (2 n).
static int invert_rows(int n, double* S, const double* whole, double dependent, uint8_t* left_out,
                       double* X, int* at) {
    int *row = at, *column = at + n, rank = 0;
    double scale[64];
    for (int i = 0; i < n; ++i) {
        row[i] = column[i] = i;
        scale[i] = whole[i] > 0 ? 1 / sqrt(whole[i]) : 0;
    }
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) X[i + n * j] = S[i + n * j] * scale[i] * scale[j];
    }
    for (; rank < n; ++rank) {
        int p = rank, q = rank;
        double best = 0;
        for (int j = rank; j < n; ++j) {
            double weight = left_out[column[j]] ? 0.1 : 1;
            for (int i = rank; i < n; ++i) {
                double x = fabs(X[i + n * j]);
                if (x > dependent && weight * x > best) {
                    best = weight * x;
                    p = i;
                    q = j;
                }
            }
        }
        if (best == 0) break;
        for (int j = 0; j < n && p != rank; ++j) {
            double x = X[p + n * j];
            X[p + n * j] = X[rank + n * j];
            X[rank + n * j] = x;
        }
        for (int i = 0; i < n && q != rank; ++i) {
            double x = X[i + n * q];
            X[i + n * q] = X[i + n * rank];
            X[i + n * rank] = x;
        }
        int r = row[p], c = column[q];
        row[p] = row[rank];
        row[rank] = r;
        column[q] = column[rank];
        column[rank] = c;
        kernel_exchange(n, X, rank);
    }
    memset(S, 0, (size_t)(n * n) * sizeof *S);
    for (int i = 0; i < n; ++i) left_out[i] = 1;
    for (int j = 0; j < rank; ++j) { // the inverse maps rows to columns
        left_out[column[j]] = 0;
        for (int i = 0; i < rank; ++i) {
            S[column[i] + n * row[j]] = X[i + n * j] * scale[column[i]] * scale[row[j]];
        }
    }
    return n - rank;
}

double* lash_block_lu_clear(LashBlockLu* lu) {
    memset(lu->value, 0, (size_t)lu->values * sizeof *lu->value);
    return lu->value;
}

// A_ij -= L_ik A_kj over all pairs of later blocks; k is a body: what it adds to the diagonal of
// rows is noted.
LASH_KERNEL void update(LashBlockLu* lu, int place) {
    int node = lu->order.order[place], n = lu->size[node], count = later_count(lu, place);
    const int *later = lu->order.later + lu->order.first[place],
              *target = lu->target + lu->target_at[place];
    const int *lower = lu->lower + lu->order.first[place],
              *upper = lu->upper + lu->order.first[place];
    const double* D = lu->value + lu->diagonal[place];
    for (int i = 0; i < count; ++i) {
        int m = lu->size[later[i]];
        double *L = lu->value + lower[i], *S = lu->value + target[i * count + i];
        double* whole = lu->whole + lu->start[later[i]];
        bool noted = lu->rows[later[i]] && !lu->rows[node];
        kernel_multiply(m, n, n, L, D, lu->panel, false);
        memcpy(L, lu->panel, (size_t)(m * n) * sizeof(double));
        for (int r = 0; r < m && noted; ++r) whole[r] -= S[r + m * r];
        for (int j = 0; j < count; ++j) {
            kernel_multiply(m, lu->size[later[j]], n, L, lu->value + upper[j],
                            lu->value + target[i * count + j], true);
        }
        for (int r = 0; r < m && noted; ++r) whole[r] += S[r + m * r];
    }
}

// Most blocks need no pivoting: bodies because of their mass, rows because they are independent.
LASH_KERNEL bool invert_on_diagonal(int n, double* D, const double* whole) {
    double least[LARGEST_ON_DIAGONAL];
    if (n > LARGEST_ON_DIAGONAL) return false;
    for (int i = 0; i < n; ++i) least[i] = whole != NULL ? EASY * whole[i] : EASY * D[i + n * i];
    switch (n) {
        case 5:
            return kernel_invert_diagonal(5, D, least);
        case 6:
            return kernel_invert_diagonal(6, D, least);
        case 10:
            return kernel_invert_diagonal(10, D, least);
        case 12:
            return kernel_invert_diagonal(12, D, least);
        default:
            return kernel_invert_diagonal(n, D, least);
    }
}

static bool none_left_out(const uint8_t* left_out, int n) {
    for (int i = 0; i < n; ++i) {
        if (left_out[i]) return false;
    }
    return true;
}

LASH_VECTOR_CLONES bool lash_block_lu_eliminate(LashBlockLu* lu, double dependent) {
    memset(lu->whole, 0, (size_t)lu->unknowns * sizeof *lu->whole);
    lu->left_out_count = 0;
    for (int p = 0; p < lu->nodes; ++p) {
        int node = lu->order.order[p], n = lu->size[node], start = lu->start[node];
        double *D = lu->value + lu->diagonal[p], *copy = lu->panel;
        bool rows = lu->rows[node], simple = !rows || none_left_out(lu->left_out + start, n);
        memcpy(copy, D, (size_t)(n * n) * sizeof *D);
        if (simple) simple = invert_on_diagonal(n, D, rows ? lu->whole + start : NULL);
        if (!simple) memcpy(D, copy, (size_t)(n * n) * sizeof *D);
        if (!simple && rows) {
            lu->left_out_count += invert_rows(n, D, lu->whole + start, dependent,
                                              lu->left_out + start, lu->panel, lu->pivot);
        } else if (!simple && !invert(n, D, lu->panel)) {
            return false;
        }
        update(lu, p);
    }
    return true;
}

static bool all_zero(const double* x, int n) {
    for (int i = 0; i < n; ++i) {
        if (x[i] != 0) return false;
    }
    return true;
}

bool lash_block_lu_factor(LashBlockLu* lu, const double* values) {
    const LashBlocks* pattern = &lu->system->pattern;
    lu->matrix = values;
    lu->separate = true;
    lash_block_lu_clear(lu);
    for (int b = 0; b < pattern->count; ++b) {
        int size = pattern->offset[b + 1] - pattern->offset[b];
        if (pattern->row[b] != pattern->column[b])
            lu->separate = lu->separate && all_zero(values + pattern->offset[b], size);
        memcpy(lu->value + lu->source[b], values + pattern->offset[b],
               (size_t)size * sizeof(double));
    }
    return lash_block_lu_eliminate(lu, 0);
}

// y (6) = A (6 x 6) x: rigid bodies
static inline void multiply6(const double* A, const double* x, double* y) {
    double r[6];
    for (int i = 0; i < 6; ++i) r[i] = A[i] * x[0];
    for (int j = 1; j < 6; ++j) {
        for (int i = 0; i < 6; ++i) r[i] += A[i + 6 * j] * x[j];
    }
    for (int i = 0; i < 6; ++i) y[i] = r[i];
}

LASH_KERNEL void solve_one(const LashBlockLu* lu, const bool rows_only, double* x) {
    const int *start = lu->start, *later = lu->order.later, *size = lu->size;
    for (int p = 0; p < lu->nodes; ++p) {
        int k = lu->order.order[p];
        if (rows_only && !lu->rows[k] && all_zero(x + start[k], size[k])) continue;
        for (int i = lu->order.first[p]; i < lu->order.first[p + 1]; ++i)
            kernel_subtract(size[later[i]], size[k], lu->value + lu->lower[i], x + start[k],
                            x + start[later[i]]);
    }
    for (int p = lu->nodes - 1; p >= 0; --p) {
        int k = lu->order.order[p];
        if (rows_only && !lu->needed[k]) continue;
        for (int j = lu->order.first[p]; j < lu->order.first[p + 1]; ++j)
            kernel_subtract(size[k], size[later[j]], lu->value + lu->upper[j], x + start[later[j]],
                            x + start[k]);
        kernel_apply(size[k], lu->value + lu->diagonal[p], x + start[k], lu->panel);
    }
}

LASH_VECTOR_CLONES void lash_block_lu_solve(const LashBlockLu* lu, double* x) {
    if (!lu->is_diagonal && !lu->separate) {
        solve_one(lu, false, x);
        return;
    }
    for (int p = 0; p < lu->nodes; ++p) {
        int k = lu->order.order[p];
        kernel_apply(lu->size[k], lu->value + lu->diagonal[p], x + lu->start[k], lu->panel);
    }
}

void lash_block_lu_solve_block(const LashBlockLu* lu, int block, double* x) {
    const double* D = lu->value + lu->diagonal[lu->order.place[block]];
    kernel_apply(lu->size[block], D, x + lu->start[block], lu->panel);
}

LASH_VECTOR_CLONES void lash_block_lu_solve_rows(const LashBlockLu* lu, double* x) {
    solve_one(lu, true, x);
}

LASH_VECTOR_CLONES void lash_block_lu_solve_two(const LashBlockLu* lu, bool rows_only, double* x,
                                                double* y) {
    const int *start = lu->start, *later = lu->order.later, *size = lu->size;
    for (int p = 0; p < lu->nodes; ++p) {
        int k = lu->order.order[p], at = start[k];
        if (!lu->rows[k] && all_zero(x + at, size[k]) && all_zero(y + at, size[k])) continue;
        for (int i = lu->order.first[p]; i < lu->order.first[p + 1]; ++i) {
            int to = start[later[i]];
            kernel_subtract_two(size[later[i]], size[k], lu->value + lu->lower[i], x + at, y + at,
                                x + to, y + to);
        }
    }
    for (int p = lu->nodes - 1; p >= 0; --p) {
        int k = lu->order.order[p], at = start[k];
        if (rows_only && !lu->needed[k]) continue;
        for (int j = lu->order.first[p]; j < lu->order.first[p + 1]; ++j) {
            int from = start[later[j]];
            kernel_subtract_two(size[k], size[later[j]], lu->value + lu->upper[j], x + from,
                                y + from, x + at, y + at);
        }
        kernel_apply(size[k], lu->value + lu->diagonal[p], x + at, lu->panel);
        kernel_apply(size[k], lu->value + lu->diagonal[p], y + at, lu->panel);
    }
}

void lash_block_multiply_one(int m, int n, const double* A, const double* x, double* y) {
    if (m == 6 && n == 6) {
        double r[6];
        multiply6(A, x, r);
        for (int i = 0; i < 6; ++i) y[i] += r[i];
        return;
    }
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) y[i] += A[i + m * j] * x[j];
}

void lash_block_multiply_diagonal(const LashSystem* system, const double* values, const double* x,
                                  double* y) {
    for (int b = 0; b < system->blocks; ++b) { // the first blocks of the pattern
        int n = lash_block_size(system, b), at = system->block_start[b];
        const double* A = values + system->pattern.offset[b];
        if (n == 6) {
            multiply6(A, x + at, y + at);
            continue;
        }
        for (int i = 0; i < n; ++i) {
            y[at + i] = 0;
            for (int j = 0; j < n; ++j) y[at + i] += A[i + n * j] * x[at + j];
        }
    }
}

void lash_block_multiply(const LashSystem* system, const double* values, const double* x,
                         double* y) {
    memset(y, 0, (size_t)system->nv * sizeof *y);
    const LashBlocks* pattern = &system->pattern;
    for (int b = 0; b < pattern->count; ++b) {
        int m = lash_block_size(system, pattern->row[b]),
            n = lash_block_size(system, pattern->column[b]);
        const double *A = values + pattern->offset[b],
                     *xb = x + system->block_start[pattern->column[b]];
        lash_block_multiply_one(m, n, A, xb, y + system->block_start[pattern->row[b]]);
    }
}
