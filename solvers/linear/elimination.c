// Rows a_r in the given order:  a_r = sum_p l_rp u_p (+ u_r when independent), where u_p are the
// reduced rows kept so far. The pivot of u_p is its largest entry, so |l| stays small; entries of
// u_p lie in its pivot column and in columns that were no pivots before it. Only nonzeros are kept.
//
//     dependent:    |a_r - sum_p l_rp u_p| <= tolerance |a_r|
//     circuit:      a_r = sum_p l_rp u_p; every u_p = a_p - sum_k l_pk u_k, resolved from the last to
//                   the first, gives a_r = sum_p c_p a_p: the one way to write a_r in the rows kept
//     null vector:  U x = 0 from the last pivot to the first, one free column set to 1
#include "solvers/linear/elimination.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"

typedef struct Sparse { // rows of nonzeros, one after the other
    int rows, row_capacity;
    size_t* start; // (rows + 2) the last row is open
    int* index;
    double* value;
    size_t capacity;
} Sparse;

struct LashElimination {
    int columns, rank;
    double tolerance, work;
    Sparse L;               // (rows) multipliers: index is the number of the pivot
    Sparse U;               // (rank) reduced rows, pivot first
    int* pivot_row;         // (rank) row the pivot stands in
    int* pivot_of_row;      // (rows) or -1: dependent
    double* left;           // (rows)
    int* pivot_of_column;   // (columns) or -1: free
    double* x;              // (columns) the row at work; zero between calls
    uint8_t* used;          // (columns)
    int *pattern, patterns; // columns at work
    int *heap, heaped;      // pivots still to eliminate, smallest first
};

static void sparse_push(Sparse* sparse, int index, double value) {
    size_t n = sparse->start[sparse->rows + 1];
    if (n == sparse->capacity) {
        sparse->capacity = 2 * sparse->capacity + 64;
        sparse->index = lash_realloc(sparse->index, sparse->capacity * sizeof *sparse->index);
        sparse->value = lash_realloc(sparse->value, sparse->capacity * sizeof *sparse->value);
    }
    sparse->index[n] = index;
    sparse->value[n] = value;
    sparse->start[sparse->rows + 1] = n + 1;
}

// Ends the row just pushed.
static void sparse_close(Sparse* sparse) {
    if (sparse->rows + 3 > sparse->row_capacity) {
        sparse->row_capacity = 2 * sparse->row_capacity + 64;
        sparse->start =
            lash_realloc(sparse->start, (size_t)sparse->row_capacity * sizeof *sparse->start);
    }
    ++sparse->rows;
    sparse->start[sparse->rows + 1] = sparse->start[sparse->rows];
}

static void sparse_init(Sparse* sparse) {
    sparse->row_capacity = 64;
    sparse->start = lash_alloc(64 * sizeof *sparse->start);
}

static void sparse_free(Sparse* sparse) {
    lash_free(sparse->start);
    lash_free(sparse->index);
    lash_free(sparse->value);
}

LashElimination* lash_elimination_create(int columns, double tolerance) {
    LashElimination* elimination = lash_alloc(sizeof *elimination);
    size_t n = (size_t)columns + 1;
    elimination->columns = columns;
    elimination->tolerance = tolerance;
    sparse_init(&elimination->L);
    sparse_init(&elimination->U);
    elimination->pivot_row = lash_alloc(n * sizeof *elimination->pivot_row);
    elimination->pivot_of_column = lash_alloc(n * sizeof *elimination->pivot_of_column);
    elimination->x = lash_alloc(n * sizeof *elimination->x);
    elimination->used = lash_alloc(n);
    elimination->pattern = lash_alloc(n * sizeof *elimination->pattern);
    elimination->heap = lash_alloc(n * sizeof *elimination->heap);
    for (int i = 0; i < columns; ++i) elimination->pivot_of_column[i] = -1;
    return elimination;
}

void lash_elimination_destroy(LashElimination* elimination) {
    if (elimination == NULL) return;
    sparse_free(&elimination->L);
    sparse_free(&elimination->U);
    lash_free(elimination->pivot_row);
    lash_free(elimination->pivot_of_row);
    lash_free(elimination->left);
    lash_free(elimination->pivot_of_column);
    lash_free(elimination->x);
    lash_free(elimination->used);
    lash_free(elimination->pattern);
    lash_free(elimination->heap);
    lash_free(elimination);
}

// ---- one row ------------------------------------------------------------------------------------

static void heap_push(LashElimination* elimination, int pivot) {
    int i = elimination->heaped++;
    for (; i > 0 && elimination->heap[(i - 1) / 2] > pivot; i = (i - 1) / 2)
        elimination->heap[i] = elimination->heap[(i - 1) / 2];
    elimination->heap[i] = pivot;
}

static int heap_pop(LashElimination* elimination) {
    int top = elimination->heap[0], last = elimination->heap[--elimination->heaped], i = 0;
    for (int child = 1; child < elimination->heaped; child = 2 * i + 1) {
        if (child + 1 < elimination->heaped &&
            elimination->heap[child + 1] < elimination->heap[child])
            ++child;
        if (elimination->heap[child] >= last) break;
        elimination->heap[i] = elimination->heap[child];
        i = child;
    }
    elimination->heap[i] = last;
    return top;
}

static void touch(LashElimination* elimination, int column) {
    if (elimination->used[column]) return;
    elimination->used[column] = 1;
    elimination->pattern[elimination->patterns++] = column;
    if (elimination->pivot_of_column[column] >= 0)
        heap_push(elimination, elimination->pivot_of_column[column]);
}

// Reduces the row into x; multipliers are pushed to the open row of L. Returns what is left of it,
// as a share of its norm; *best is the column of the largest entry.
static double reduce(LashElimination* elimination, int n, const int* column, const double* value,
                     int* best) {
    double norm = 0, left = 0;
    for (int k = 0; k < n; ++k) {
        if (value[k] == 0) continue;
        touch(elimination, column[k]);
        elimination->x[column[k]] = value[k];
        norm += value[k] * value[k];
    }
    while (elimination->heaped > 0) {
        int p = heap_pop(elimination);
        size_t first = elimination->U.start[p], end = elimination->U.start[p + 1];
        double l = elimination->x[elimination->U.index[first]] / elimination->U.value[first];
        elimination->x[elimination->U.index[first]] = 0;
        if (l == 0) continue;
        sparse_push(&elimination->L, p, l);
        for (size_t k = first + 1; k < end; ++k) {
            touch(elimination, elimination->U.index[k]);
            elimination->x[elimination->U.index[k]] -= l * elimination->U.value[k];
        }
        elimination->work += (double)(end - first);
    }
    *best = -1;
    for (int k = 0; k < elimination->patterns; ++k) {
        int c = elimination->pattern[k];
        left += elimination->x[c] * elimination->x[c];
        if (elimination->x[c] != 0 &&
            (*best < 0 || fabs(elimination->x[c]) > fabs(elimination->x[*best])))
            *best = c;
    }
    return norm > 0 ? sqrt(left / norm) : 0;
}

static void forget(LashElimination* elimination) {
    for (int k = 0; k < elimination->patterns; ++k) {
        elimination->x[elimination->pattern[k]] = 0;
        elimination->used[elimination->pattern[k]] = 0;
    }
    elimination->patterns = 0;
}

// Keeps the reduced row, but for what rounding left of cancelled entries.
static void keep(LashElimination* elimination, int best) {
    double largest = fabs(elimination->x[best]);
    sparse_push(&elimination->U, best, elimination->x[best]);
    for (int k = 0; k < elimination->patterns; ++k) {
        int c = elimination->pattern[k];
        if (c != best && fabs(elimination->x[c]) > 1e-15 * largest)
            sparse_push(&elimination->U, c, elimination->x[c]);
    }
    sparse_close(&elimination->U);
    elimination->pivot_of_column[best] = elimination->rank;
    elimination->pivot_row[elimination->rank] = elimination->L.rows;
    ++elimination->rank;
}

bool lash_elimination_add(LashElimination* elimination, int n, const int* column,
                          const double* value) {
    int row = elimination->L.rows, best;
    if (row % 64 == 0) { // room for 64 more
        elimination->pivot_of_row =
            lash_realloc(elimination->pivot_of_row, ((size_t)row + 64) * sizeof(int));
        elimination->left = lash_realloc(elimination->left, ((size_t)row + 64) * sizeof(double));
    }
    double left = reduce(elimination, n, column, value, &best);
    bool independent = left > elimination->tolerance;
    elimination->left[row] = left;
    elimination->pivot_of_row[row] = independent ? elimination->rank : -1;
    if (independent) keep(elimination, best);
    sparse_close(&elimination->L);
    forget(elimination);
    return independent;
}

// ---- circuits -----------------------------------------------------------------------------------

// weight (rows) -= coefficients of the independent rows in sum c_p u_p; c (rank) is destroyed.
static void resolve(const LashElimination* elimination, double* c, double* weight) {
    for (int p = elimination->rank - 1; p >= 0; --p) {
        if (c[p] == 0) continue;
        int row = elimination->pivot_row[p];
        weight[row] -= c[p];
        for (size_t k = elimination->L.start[row]; k < elimination->L.start[row + 1]; ++k) {
            c[elimination->L.index[k]] -= c[p] * elimination->L.value[k];
        }
    }
}

static void circuit(const LashElimination* elimination, size_t first, size_t end, int row,
                    double* weight) {
    double* c = lash_alloc(((size_t)elimination->rank + 1) * sizeof *c);
    for (size_t k = first; k < end; ++k) c[elimination->L.index[k]] = elimination->L.value[k];
    resolve(elimination, c, weight);
    weight[row] = 1;
    lash_free(c);
}

void lash_elimination_circuit(const LashElimination* elimination, int row, double* weight) {
    LASH_ASSERT(row < elimination->L.rows && elimination->pivot_of_row[row] < 0);
    memset(weight, 0, (size_t)elimination->L.rows * sizeof *weight);
    circuit(elimination, elimination->L.start[row], elimination->L.start[row + 1], row, weight);
}

bool lash_elimination_test(LashElimination* elimination, int n, const int* column,
                           const double* value, double* weight) {
    int best;
    size_t first = elimination->L.start[elimination->L.rows];
    double left = reduce(elimination, n, column, value, &best);
    bool independent = left > elimination->tolerance;
    forget(elimination);
    if (!independent && weight != NULL) {
        memset(weight, 0, (size_t)(elimination->L.rows + 1) * sizeof *weight);
        circuit(elimination, first, elimination->L.start[elimination->L.rows + 1],
                elimination->L.rows, weight);
    }
    elimination->L.start[elimination->L.rows + 1] = first; // the row is not kept
    return independent;
}

// ---- solving ------------------------------------------------------------------------------------

// x at the pivots from the last to the first: U x = y (rank), or 0 for y = NULL.
static void substitute(const LashElimination* elimination, const double* y, double* x) {
    for (int p = elimination->rank - 1; p >= 0; --p) {
        size_t first = elimination->U.start[p];
        double sum = y == NULL ? 0 : y[p];
        for (size_t k = first + 1; k < elimination->U.start[p + 1]; ++k) {
            sum -= elimination->U.value[k] * x[elimination->U.index[k]];
        }
        x[elimination->U.index[first]] = sum / elimination->U.value[first];
    }
}

void lash_elimination_null_vector(const LashElimination* elimination, int column, double* x) {
    LASH_ASSERT(elimination->pivot_of_column[column] < 0);
    memset(x, 0, (size_t)elimination->columns * sizeof *x);
    x[column] = 1;
    substitute(elimination, NULL, x);
}

void lash_elimination_solve(const LashElimination* elimination, const double* b, double* x) {
    double* y = lash_alloc(((size_t)elimination->rank + 1) * sizeof *y);
    for (int p = 0; p < elimination->rank; ++p) {
        int row = elimination->pivot_row[p];
        y[p] = b[row];
        for (size_t k = elimination->L.start[row]; k < elimination->L.start[row + 1]; ++k) {
            y[p] -= elimination->L.value[k] * y[elimination->L.index[k]];
        }
    }
    memset(x, 0, (size_t)elimination->columns * sizeof *x);
    substitute(elimination, y, x);
    lash_free(y);
}

void lash_elimination_solve_transposed(const LashElimination* elimination, const double* c,
                                       double* y) {
    double* z = lash_alloc(((size_t)elimination->columns + 1) * sizeof *z); // rest of c
    double* s = lash_alloc(((size_t)elimination->rank + 1) * sizeof *s);    // U' s = c
    memcpy(z, c, (size_t)elimination->columns * sizeof *z);
    for (int p = 0; p < elimination->rank; ++p) {
        size_t first = elimination->U.start[p];
        s[p] = z[elimination->U.index[first]] / elimination->U.value[first];
        for (size_t k = first + 1; k < elimination->U.start[p + 1]; ++k) {
            z[elimination->U.index[k]] -= s[p] * elimination->U.value[k];
        }
    }
    memset(y, 0, (size_t)elimination->L.rows * sizeof *y);
    resolve(elimination, s, y); // y = -L^-T s
    for (int i = 0; i < elimination->L.rows; ++i) y[i] = -y[i];
    lash_free(z);
    lash_free(s);
}

// ---- questions ----------------------------------------------------------------------------------

int lash_elimination_rows(const LashElimination* elimination) {
    return elimination->L.rows;
}
int lash_elimination_rank(const LashElimination* elimination) {
    return elimination->rank;
}
bool lash_elimination_independent(const LashElimination* elimination, int row) {
    return elimination->pivot_of_row[row] >= 0;
}
bool lash_elimination_is_pivot(const LashElimination* elimination, int column) {
    return elimination->pivot_of_column[column] >= 0;
}
double lash_elimination_left(const LashElimination* elimination, int row) {
    return elimination->left[row];
}
double lash_elimination_work(const LashElimination* elimination) {
    return elimination->work;
}
