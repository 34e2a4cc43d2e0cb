// Numbers and matrices of problem files. Matrices arrive dense, as sparse blocks or as a sparse
// dump; all become a list of entries, from which dense or block-sparse storage is built.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/bench/problem_internal.h"
#include "core/arena.h"

// Larger numbers overflow in the powers that solvers take; nothing measured is as large.
static const double LARGEST_NUMBER = 1e30;

// The next word, or what there is instead.
static void describe(const ProblemReader* r, char* found, size_t size) {
    const char* c = r->at;
    while (c < r->end && isspace((unsigned char)*c)) ++c;
    if (c >= r->end) {
        snprintf(found, size, "the end of the file");
        return;
    }
    int n = 0;
    while (c + n < r->end && n < 24 && isgraph((unsigned char)c[n])) ++n;
    if (n == 0)
        snprintf(found, size, "the byte 0x%02x", (unsigned char)*c);
    else
        snprintf(found, size, "\"%.*s\"", n, c);
}

bool problem_fail(ProblemReader* r, const char* what) {
    int line = 1;
    char where[32], found[48];
    for (const char* c = r->text; c < r->at && c < r->end; ++c) line += *c == '\n';
    snprintf(where, sizeof where, "line %d", line);
    describe(r, found, sizeof found);
    return lash_error_set(r->error, LASH_ERROR_MODEL, where, "expected %s, found %s", what, found);
}

static void skip_space(ProblemReader* r) {
    while (r->at < r->end && isspace((unsigned char)*r->at)) r->at++;
}

// One number; the text is terminated by a zero, so strtod stays inside.
bool problem_read_double(ProblemReader* r, double* value, const char* what) {
    *value = 0;
    skip_space(r);
    if (r->at >= r->end) return problem_fail(r, what);
    char* stop;
    double v = strtod(r->at, &stop);
    if (stop == r->at || !isfinite(v)) return problem_fail(r, what);
    if (stop < r->end && !isspace((unsigned char)*stop)) return problem_fail(r, what);
    if (fabs(v) > LARGEST_NUMBER) return problem_fail(r, "a number up to 1e30");
    r->at = stop;
    *value = v;
    return true;
}

bool problem_read_int(ProblemReader* r, int low, int high, int* value, const char* what) {
    const char* start = r->at;
    double v = 0;
    *value = 0;
    if (!problem_read_double(r, &v, what)) return false;
    if (v != floor(v) || v < low || v > high) {
        r->at = start;
        return problem_fail(r, what);
    }
    *value = (int)v;
    return true;
}

bool problem_read_doubles(ProblemReader* r, int count, double* values, const char* what) {
    for (int i = 0; i < count; ++i)
        if (!problem_read_double(r, values + i, what)) return false;
    return true;
}

void problem_add_entry(ProblemMatrix* a, int row, int column, double value) {
    if (value == 0) return;
    if (a->count == a->capacity) {
        a->capacity = a->capacity ? 2 * a->capacity : 256;
        a->entry = lash_realloc(a->entry, a->capacity * sizeof(AppEntry));
    }
    a->entry[a->count++] = (AppEntry){row, column, value};
}

void problem_free_matrix(ProblemMatrix* a) {
    lash_free(a->entry);
    lash_free(a->bounds);
    *a = (ProblemMatrix){0};
}

static bool read_dense(ProblemReader* r, ProblemMatrix* a) {
    int rows, columns;
    if (!problem_read_int(r, a->rows, a->rows, &rows, "the row count again")) return false;
    if (!problem_read_int(r, a->columns, a->columns, &columns, "the column count again"))
        return false;
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) {
            double v;
            if (!problem_read_double(r, &v, "an entry of the matrix")) return false;
            problem_add_entry(a, i, j, v);
        }
    return true;
}

static bool read_ints(ProblemReader* r, int count, int low, int high, int* values,
                      const char* what) {
    for (int i = 0; i < count; ++i)
        if (!problem_read_int(r, low, high, values + i, what)) return false;
    return true;
}

// Cumulated sizes must ascend to the full size.
static bool check_bounds(ProblemReader* r, int count, const int* bounds, int size) {
    for (int i = 0; i < count; ++i)
        if (bounds[i] <= (i > 0 ? bounds[i - 1] : 0))
            return problem_fail(r, "ascending block bounds");
    if (count == 0 || bounds[count - 1] != size)
        return problem_fail(r, "block bounds up to the size");
    return true;
}

typedef struct BlockIndex {
    int *row_bounds, *column_bounds, *pointer, *column;
    int blocks, rows, columns, filled1, filled2;
} BlockIndex;

static void free_index(BlockIndex* x) {
    lash_free(x->row_bounds);
    lash_free(x->column_bounds);
    lash_free(x->pointer);
    lash_free(x->column);
}

static bool read_block_index(ProblemReader* r, ProblemMatrix* a, BlockIndex* x) {
    int limit = (int)((r->end - r->at) / 2) + 1; // every number takes two characters
    if (!problem_read_int(r, 1, limit, &x->blocks, "the number of blocks")) return false;
    if (!problem_read_int(r, 1, limit, &x->rows, "the number of block rows")) return false;
    if (!problem_read_int(r, 1, limit, &x->columns, "the number of block columns")) return false;
    x->row_bounds = lash_alloc((size_t)x->rows * sizeof(int));
    x->column_bounds = lash_alloc((size_t)x->columns * sizeof(int));
    if (!read_ints(r, x->rows, 0, PROBLEM_MAX_SIZE, x->row_bounds, "a block row bound"))
        return false;
    if (!check_bounds(r, x->rows, x->row_bounds, a->rows)) return false;
    if (!read_ints(r, x->columns, 0, PROBLEM_MAX_SIZE, x->column_bounds, "a block column bound"))
        return false;
    if (!check_bounds(r, x->columns, x->column_bounds, a->columns)) return false;
    if (!problem_read_int(r, 1, x->rows + 1, &x->filled1, "the number of row pointers"))
        return false;
    if (!problem_read_int(r, x->blocks, x->blocks, &x->filled2, "the number of blocks again"))
        return false;
    x->pointer = lash_alloc((size_t)x->filled1 * sizeof(int));
    x->column = lash_alloc((size_t)x->filled2 * sizeof(int));
    if (!read_ints(r, x->filled1, 0, x->blocks, x->pointer, "a row pointer")) return false;
    for (int i = 1; i < x->filled1; ++i)
        if (x->pointer[i] < x->pointer[i - 1]) return problem_fail(r, "ascending row pointers");
    if (x->pointer[0] != 0 || x->pointer[x->filled1 - 1] != x->blocks)
        return problem_fail(r, "row pointers from 0 to the number of blocks");
    return read_ints(r, x->filled2, 0, x->columns - 1, x->column, "a block column");
}

static bool read_blocks(ProblemReader* r, ProblemMatrix* a, const BlockIndex* x) {
    for (int i = 0, k = 0; i + 1 < x->filled1; ++i) {
        int top = i > 0 ? x->row_bounds[i - 1] : 0, rows = x->row_bounds[i] - top;
        for (; k < x->pointer[i + 1]; ++k) {
            int j = x->column[k], left = j > 0 ? x->column_bounds[j - 1] : 0, index;
            int columns = x->column_bounds[j] - left;
            if (!problem_read_int(r, k, k, &index, "the index of the next block")) return false;
            for (int c = 0; c < columns; ++c)
                for (int s = 0; s < rows; ++s) {
                    double v;
                    if (!problem_read_double(r, &v, "an entry of a block")) return false;
                    problem_add_entry(a, top + s, left + c, v);
                }
        }
    }
    return true;
}

static bool read_block_matrix(ProblemReader* r, ProblemMatrix* a) {
    BlockIndex x = {0};
    bool ok = read_block_index(r, a, &x) && read_blocks(r, a, &x);
    if (ok) {
        a->blocks = x.rows;
        a->bounds = x.row_bounds;
        x.row_bounds = NULL;
    }
    free_index(&x);
    return ok;
}

static bool skip_word(ProblemReader* r, const char* word) {
    skip_space(r);
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || strncmp(r->at, word, n) != 0) return problem_fail(r, word);
    r->at += n;
    return true;
}

static void skip_line(ProblemReader* r) {
    while (r->at < r->end && *r->at != '\n') r->at++;
    if (r->at < r->end) r->at++;
}

static bool read_triplets(ProblemReader* r, ProblemMatrix* a, int count) {
    for (int k = 0; k < count; ++k) {
        int i, j;
        double v;
        if (!problem_read_int(r, 0, a->rows - 1, &i, "a row index")) return false;
        if (!problem_read_int(r, 0, a->columns - 1, &j, "a column index")) return false;
        if (!skip_word(r, ":") || !problem_read_double(r, &v, "an entry of the matrix"))
            return false;
        problem_add_entry(a, i, j, v);
    }
    return true;
}

static bool read_columns(ProblemReader* r, ProblemMatrix* a) {
    for (int j = 0; j < a->columns; ++j) {
        int column, from, to, i;
        if (!skip_word(r, "col")) return false;
        if (!problem_read_int(r, j, j, &column, "the index of the next column")) return false;
        if (!skip_word(r, ":") || !skip_word(r, "locations")) return false;
        if (!problem_read_int(r, 0, PROBLEM_MAX_SIZE * 100, &from, "the first location"))
            return false;
        if (!skip_word(r, "to")) return false;
        if (!problem_read_int(r, -1, PROBLEM_MAX_SIZE * 100, &to, "the last location"))
            return false;
        for (int k = from; k <= to; ++k) {
            double v;
            if (!problem_read_int(r, 0, a->rows - 1, &i, "a row index")) return false;
            if (!skip_word(r, ":") || !problem_read_double(r, &v, "an entry of the matrix"))
                return false;
            problem_add_entry(a, i, j, v);
        }
    }
    return true;
}

static bool read_sparse_dump(ProblemReader* r, ProblemMatrix* a) {
    int origin, rows, columns;
    double count;
    char line[256];
    if (!problem_read_int(r, 0, 100, &origin, "the origin of the sparse matrix")) return false;
    skip_space(r);
    if (r->end - r->at < 7 || strncmp(r->at, "CSparse", 7) != 0)
        return problem_fail(r, "CSparse Version");
    skip_line(r);
    skip_space(r);
    size_t n = 0;
    while (r->at + n < r->end && n + 1 < sizeof line && r->at[n] != '\n') n++;
    memcpy(line, r->at, n);
    line[n] = 0;
    bool triplet = strncmp(line, "triplet:", 8) == 0;
    const char* nnz = strstr(line, "nnz:");
    if (sscanf(triplet ? line + 8 : line, " %d-by-%d", &rows, &columns) != 2 || nnz == NULL ||
        sscanf(nnz + 4, "%lf", &count) != 1 || !(count >= 0 && count <= 1e8))
        return problem_fail(r, "\"m-by-n, nzmax: a nnz: b\"");
    if (rows != a->rows || columns != a->columns)
        return problem_fail(r, "the size of the matrix again");
    skip_line(r);
    return triplet ? read_triplets(r, a, (int)count) : read_columns(r, a);
}

bool problem_read_matrix(ProblemReader* r, ProblemMatrix* a) {
    *a = (ProblemMatrix){0};
    if (!problem_read_int(r, 0, 2, &a->storage, "a storage code of 0, 1 or 2")) return false;
    if (!problem_read_int(r, 1, PROBLEM_MAX_SIZE, &a->rows, "the number of rows")) return false;
    if (!problem_read_int(r, 1, PROBLEM_MAX_SIZE, &a->columns, "the number of columns"))
        return false;
    if (a->storage == 0) return read_dense(r, a);
    if (a->storage == 1) return read_block_matrix(r, a);
    return read_sparse_dump(r, a);
}

bool problem_read_square(ProblemReader* r, ProblemMatrix* a) {
    if (!problem_read_matrix(r, a)) return false;
    return a->rows == a->columns || problem_fail(r, "as many columns as rows before");
}

double* problem_dense(const ProblemMatrix* a) {
    size_t n = (size_t)a->rows;
    double* A = lash_alloc(n * n * sizeof(double));
    for (size_t k = 0; k < a->count; ++k)
        A[(size_t)a->entry[k].row + (size_t)a->entry[k].column * n] += a->entry[k].value;
    return A;
}

static int compare_int(const void* a, const void* b) {
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

// Block pattern of the entries and of its transpose, diagonal included, as sorted block columns
// per block row. owner maps rows to blocks.
static void block_pattern(const ProblemMatrix* a, const int* owner, int blocks, int32_t** pointer,
                          int32_t** column) {
    size_t pairs = 2 * a->count + (size_t)blocks;
    int *head = lash_alloc(((size_t)blocks + 1) * sizeof(int)),
        *list = lash_alloc(pairs * sizeof(int));
    for (size_t k = 0; k < a->count; ++k) {
        head[owner[a->entry[k].row] + 1]++;
        head[owner[a->entry[k].column] + 1]++;
    }
    for (int i = 0; i < blocks; ++i) head[i + 1] += head[i] + 1;
    int* fill = lash_alloc((size_t)blocks * sizeof(int));
    for (int i = 0; i < blocks; ++i) {
        fill[i] = head[i];
        list[fill[i]++] = i;
    }
    for (size_t k = 0; k < a->count; ++k) {
        int i = owner[a->entry[k].row], j = owner[a->entry[k].column];
        list[fill[i]++] = j;
        list[fill[j]++] = i;
    }
    *pointer = lash_alloc(((size_t)blocks + 1) * sizeof(int32_t));
    int32_t count = 0;
    for (int i = 0; i < blocks; ++i) {
        (*pointer)[i] = count;
        qsort(list + head[i], (size_t)(fill[i] - head[i]), sizeof(int), compare_int);
        for (int k = head[i]; k < fill[i]; ++k)
            if (k == head[i] || list[k] != list[k - 1]) list[count++] = list[k];
    }
    (*pointer)[blocks] = count;
    *column = lash_alloc((size_t)count * sizeof(int32_t));
    for (int32_t k = 0; k < count; ++k) (*column)[k] = list[k];
    lash_free(head);
    lash_free(list);
    lash_free(fill);
}

void problem_sparse(const ProblemMatrix* a, int blocks, const uint8_t* kind, LashBlockSparse* s) {
    int* owner = lash_alloc((size_t)a->rows * sizeof(int));
    int32_t *start = lash_alloc(((size_t)blocks + 1) * sizeof(int32_t)), *pointer, *column;
    for (int i = 0; i < blocks; ++i) {
        start[i + 1] = start[i] + lash_contact_rows(kind[i]);
        for (int row = start[i]; row < start[i + 1]; ++row) owner[row] = i;
    }
    block_pattern(a, owner, blocks, &pointer, &column);
    int64_t *offset = lash_alloc((size_t)pointer[blocks] * sizeof(int64_t)), size = 0;
    for (int i = 0; i < blocks; ++i)
        for (int k = pointer[i]; k < pointer[i + 1]; ++k) {
            int j = column[k];
            offset[k] = size;
            size += (int64_t)(start[i + 1] - start[i]) * (start[j + 1] - start[j]);
        }
    double* values = lash_alloc((size_t)size * sizeof(double));
    *s = (LashBlockSparse){blocks, start, pointer, column, offset, values};
    for (size_t e = 0; e < a->count; ++e) {
        int i = owner[a->entry[e].row], j = owner[a->entry[e].column];
        double* block = values + (lash_block_sparse_find(s, i, j) - values);
        block[(a->entry[e].row - start[i]) +
              (a->entry[e].column - start[j]) * (start[i + 1] - start[i])] += a->entry[e].value;
    }
    lash_free(owner);
}

void problem_free_sparse(LashBlockSparse* s) {
    lash_free((void*)s->start);
    lash_free((void*)s->pointer);
    lash_free((void*)s->column);
    lash_free((void*)s->offset);
    lash_free((void*)s->values);
    *s = (LashBlockSparse){0};
}

// Dense when small or well filled, sparse blocks otherwise.
void problem_set_matrix(AppProblem* p, const ProblemMatrix* a) {
    double filled = (double)a->count / ((double)a->rows * (double)a->rows);
    p->friction.m = a->rows;
    if (a->rows <= 64 || (filled > 0.5 && a->rows <= 6000)) {
        p->friction.W = problem_dense(a);
        p->friction.ldw = a->rows;
    } else {
        problem_sparse(a, p->friction.contacts, p->friction.kind, &p->sparse);
        p->friction.sparse = &p->sparse;
    }
}
