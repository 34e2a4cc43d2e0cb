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

static void sparse_push(Sparse* s, int index, double value) {
    size_t n = s->start[s->rows + 1];
    if (n == s->capacity) {
        s->capacity = 2 * s->capacity + 64;
        s->index = lash_realloc(s->index, s->capacity * sizeof *s->index);
        s->value = lash_realloc(s->value, s->capacity * sizeof *s->value);
    }
    s->index[n] = index;
    s->value[n] = value;
    s->start[s->rows + 1] = n + 1;
}

// Ends the row just pushed.
static void sparse_close(Sparse* s) {
    if (s->rows + 3 > s->row_capacity) {
        s->row_capacity = 2 * s->row_capacity + 64;
        s->start = lash_realloc(s->start, (size_t)s->row_capacity * sizeof *s->start);
    }
    ++s->rows;
    s->start[s->rows + 1] = s->start[s->rows];
}

static void sparse_init(Sparse* s) {
    s->row_capacity = 64;
    s->start = lash_alloc(64 * sizeof *s->start);
}

static void sparse_free(Sparse* s) {
    lash_free(s->start);
    lash_free(s->index);
    lash_free(s->value);
}

LashElimination* lash_elimination_create(int columns, double tolerance) {
    LashElimination* e = lash_alloc(sizeof *e);
    size_t n = (size_t)columns + 1;
    e->columns = columns;
    e->tolerance = tolerance;
    sparse_init(&e->L);
    sparse_init(&e->U);
    e->pivot_row = lash_alloc(n * sizeof *e->pivot_row);
    e->pivot_of_column = lash_alloc(n * sizeof *e->pivot_of_column);
    e->x = lash_alloc(n * sizeof *e->x);
    e->used = lash_alloc(n);
    e->pattern = lash_alloc(n * sizeof *e->pattern);
    e->heap = lash_alloc(n * sizeof *e->heap);
    for (int i = 0; i < columns; ++i) e->pivot_of_column[i] = -1;
    return e;
}

void lash_elimination_destroy(LashElimination* e) {
    if (e == NULL) return;
    sparse_free(&e->L);
    sparse_free(&e->U);
    lash_free(e->pivot_row);
    lash_free(e->pivot_of_row);
    lash_free(e->left);
    lash_free(e->pivot_of_column);
    lash_free(e->x);
    lash_free(e->used);
    lash_free(e->pattern);
    lash_free(e->heap);
    lash_free(e);
}

// ---- one row ------------------------------------------------------------------------------------

static void heap_push(LashElimination* e, int pivot) {
    int i = e->heaped++;
    for (; i > 0 && e->heap[(i - 1) / 2] > pivot; i = (i - 1) / 2)
        e->heap[i] = e->heap[(i - 1) / 2];
    e->heap[i] = pivot;
}

static int heap_pop(LashElimination* e) {
    int top = e->heap[0], last = e->heap[--e->heaped], i = 0;
    for (int child = 1; child < e->heaped; child = 2 * i + 1) {
        if (child + 1 < e->heaped && e->heap[child + 1] < e->heap[child]) ++child;
        if (e->heap[child] >= last) break;
        e->heap[i] = e->heap[child];
        i = child;
    }
    e->heap[i] = last;
    return top;
}

static void touch(LashElimination* e, int column) {
    if (e->used[column]) return;
    e->used[column] = 1;
    e->pattern[e->patterns++] = column;
    if (e->pivot_of_column[column] >= 0) heap_push(e, e->pivot_of_column[column]);
}

// Reduces the row into x; multipliers are pushed to the open row of L. Returns what is left of it,
// as a share of its norm; *best is the column of the largest entry.
static double reduce(LashElimination* e, int n, const int* column, const double* value, int* best) {
    double norm = 0, left = 0;
    for (int k = 0; k < n; ++k) {
        if (value[k] == 0) continue;
        touch(e, column[k]);
        e->x[column[k]] = value[k];
        norm += value[k] * value[k];
    }
    while (e->heaped > 0) {
        int p = heap_pop(e);
        size_t first = e->U.start[p], end = e->U.start[p + 1];
        double l = e->x[e->U.index[first]] / e->U.value[first];
        e->x[e->U.index[first]] = 0;
        if (l == 0) continue;
        sparse_push(&e->L, p, l);
        for (size_t k = first + 1; k < end; ++k) {
            touch(e, e->U.index[k]);
            e->x[e->U.index[k]] -= l * e->U.value[k];
        }
        e->work += (double)(end - first);
    }
    *best = -1;
    for (int k = 0; k < e->patterns; ++k) {
        int c = e->pattern[k];
        left += e->x[c] * e->x[c];
        if (e->x[c] != 0 && (*best < 0 || fabs(e->x[c]) > fabs(e->x[*best]))) *best = c;
    }
    return norm > 0 ? sqrt(left / norm) : 0;
}

static void forget(LashElimination* e) {
    for (int k = 0; k < e->patterns; ++k) {
        e->x[e->pattern[k]] = 0;
        e->used[e->pattern[k]] = 0;
    }
    e->patterns = 0;
}

// Keeps the reduced row, but for what rounding left of cancelled entries.
static void keep(LashElimination* e, int best) {
    double largest = fabs(e->x[best]);
    sparse_push(&e->U, best, e->x[best]);
    for (int k = 0; k < e->patterns; ++k) {
        int c = e->pattern[k];
        if (c != best && fabs(e->x[c]) > 1e-15 * largest) sparse_push(&e->U, c, e->x[c]);
    }
    sparse_close(&e->U);
    e->pivot_of_column[best] = e->rank;
    e->pivot_row[e->rank] = e->L.rows;
    ++e->rank;
}

bool lash_elimination_add(LashElimination* e, int n, const int* column, const double* value) {
    int row = e->L.rows, best;
    if (row % 64 == 0) { // room for 64 more
        e->pivot_of_row = lash_realloc(e->pivot_of_row, ((size_t)row + 64) * sizeof(int));
        e->left = lash_realloc(e->left, ((size_t)row + 64) * sizeof(double));
    }
    double left = reduce(e, n, column, value, &best);
    bool independent = left > e->tolerance;
    e->left[row] = left;
    e->pivot_of_row[row] = independent ? e->rank : -1;
    if (independent) keep(e, best);
    sparse_close(&e->L);
    forget(e);
    return independent;
}

// ---- circuits -----------------------------------------------------------------------------------

// weight (rows) -= coefficients of the independent rows in sum c_p u_p; c (rank) is destroyed.
static void resolve(const LashElimination* e, double* c, double* weight) {
    for (int p = e->rank - 1; p >= 0; --p) {
        if (c[p] == 0) continue;
        int row = e->pivot_row[p];
        weight[row] -= c[p];
        for (size_t k = e->L.start[row]; k < e->L.start[row + 1]; ++k) {
            c[e->L.index[k]] -= c[p] * e->L.value[k];
        }
    }
}

static void circuit(const LashElimination* e, size_t first, size_t end, int row, double* weight) {
    double* c = lash_alloc(((size_t)e->rank + 1) * sizeof *c);
    for (size_t k = first; k < end; ++k) c[e->L.index[k]] = e->L.value[k];
    resolve(e, c, weight);
    weight[row] = 1;
    lash_free(c);
}

void lash_elimination_circuit(const LashElimination* e, int row, double* weight) {
    LASH_ASSERT(row < e->L.rows && e->pivot_of_row[row] < 0);
    memset(weight, 0, (size_t)e->L.rows * sizeof *weight);
    circuit(e, e->L.start[row], e->L.start[row + 1], row, weight);
}

bool lash_elimination_test(LashElimination* e, int n, const int* column, const double* value,
                           double* weight) {
    int best;
    size_t first = e->L.start[e->L.rows];
    double left = reduce(e, n, column, value, &best);
    bool independent = left > e->tolerance;
    forget(e);
    if (!independent && weight != NULL) {
        memset(weight, 0, (size_t)(e->L.rows + 1) * sizeof *weight);
        circuit(e, first, e->L.start[e->L.rows + 1], e->L.rows, weight);
    }
    e->L.start[e->L.rows + 1] = first; // the row is not kept
    return independent;
}

// ---- solving ------------------------------------------------------------------------------------

// x at the pivots from the last to the first: U x = y (rank), or 0 for y = NULL.
static void substitute(const LashElimination* e, const double* y, double* x) {
    for (int p = e->rank - 1; p >= 0; --p) {
        size_t first = e->U.start[p];
        double sum = y == NULL ? 0 : y[p];
        for (size_t k = first + 1; k < e->U.start[p + 1]; ++k) {
            sum -= e->U.value[k] * x[e->U.index[k]];
        }
        x[e->U.index[first]] = sum / e->U.value[first];
    }
}

void lash_elimination_null_vector(const LashElimination* e, int column, double* x) {
    LASH_ASSERT(e->pivot_of_column[column] < 0);
    memset(x, 0, (size_t)e->columns * sizeof *x);
    x[column] = 1;
    substitute(e, NULL, x);
}

void lash_elimination_solve(const LashElimination* e, const double* b, double* x) {
    double* y = lash_alloc(((size_t)e->rank + 1) * sizeof *y);
    for (int p = 0; p < e->rank; ++p) {
        int row = e->pivot_row[p];
        y[p] = b[row];
        for (size_t k = e->L.start[row]; k < e->L.start[row + 1]; ++k) {
            y[p] -= e->L.value[k] * y[e->L.index[k]];
        }
    }
    memset(x, 0, (size_t)e->columns * sizeof *x);
    substitute(e, y, x);
    lash_free(y);
}

void lash_elimination_solve_transposed(const LashElimination* e, const double* c, double* y) {
    double* z = lash_alloc(((size_t)e->columns + 1) * sizeof *z); // rest of c
    double* s = lash_alloc(((size_t)e->rank + 1) * sizeof *s);    // U' s = c
    memcpy(z, c, (size_t)e->columns * sizeof *z);
    for (int p = 0; p < e->rank; ++p) {
        size_t first = e->U.start[p];
        s[p] = z[e->U.index[first]] / e->U.value[first];
        for (size_t k = first + 1; k < e->U.start[p + 1]; ++k) {
            z[e->U.index[k]] -= s[p] * e->U.value[k];
        }
    }
    memset(y, 0, (size_t)e->L.rows * sizeof *y);
    resolve(e, s, y); // y = -L^-T s
    for (int i = 0; i < e->L.rows; ++i) y[i] = -y[i];
    lash_free(z);
    lash_free(s);
}

// ---- questions ----------------------------------------------------------------------------------

int lash_elimination_rows(const LashElimination* e) {
    return e->L.rows;
}
int lash_elimination_rank(const LashElimination* e) {
    return e->rank;
}
bool lash_elimination_independent(const LashElimination* e, int row) {
    return e->pivot_of_row[row] >= 0;
}
bool lash_elimination_is_pivot(const LashElimination* e, int column) {
    return e->pivot_of_column[column] >= 0;
}
double lash_elimination_left(const LashElimination* e, int row) {
    return e->left[row];
}
double lash_elimination_work(const LashElimination* e) {
    return e->work;
}
