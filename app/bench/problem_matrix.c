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
static void describe(const ProblemReader* reader, char* found, size_t size) {
    const char* c = reader->at;
    while (c < reader->end && isspace((unsigned char)*c)) ++c;
    if (c >= reader->end) {
        snprintf(found, size, "the end of the file");
        return;
    }
    int n = 0;
    while (c + n < reader->end && n < 24 && isgraph((unsigned char)c[n])) ++n;
    if (n == 0)
        snprintf(found, size, "the byte 0x%02x", (unsigned char)*c);
    else
        snprintf(found, size, "\"%.*s\"", n, c);
}

bool problem_fail(ProblemReader* reader, const char* what) {
    int line = 1;
    char where[32], found[48];
    for (const char* c = reader->text; c < reader->at && c < reader->end; ++c) line += *c == '\n';
    snprintf(where, sizeof where, "line %d", line);
    describe(reader, found, sizeof found);
    return lash_error_set(reader->error, LASH_ERROR_MODEL, where, "expected %s, found %s", what,
                          found);
}

static void skip_space(ProblemReader* reader) {
    while (reader->at < reader->end && isspace((unsigned char)*reader->at)) reader->at++;
}

// One number; the text is terminated by a zero, so strtod stays inside.
bool problem_read_double(ProblemReader* reader, double* value, const char* what) {
    *value = 0;
    skip_space(reader);
    if (reader->at >= reader->end) return problem_fail(reader, what);
    char* stop;
    double v = strtod(reader->at, &stop);
    if (stop == reader->at || !isfinite(v)) return problem_fail(reader, what);
    if (stop < reader->end && !isspace((unsigned char)*stop)) return problem_fail(reader, what);
    if (fabs(v) > LARGEST_NUMBER) return problem_fail(reader, "a number up to 1e30");
    reader->at = stop;
    *value = v;
    return true;
}

bool problem_read_int(ProblemReader* reader, int low, int high, int* value, const char* what) {
    const char* start = reader->at;
    double v = 0;
    *value = 0;
    if (!problem_read_double(reader, &v, what)) return false;
    if (v != floor(v) || v < low || v > high) {
        reader->at = start;
        return problem_fail(reader, what);
    }
    *value = (int)v;
    return true;
}

bool problem_read_doubles(ProblemReader* reader, int count, double* values, const char* what) {
    for (int i = 0; i < count; ++i)
        if (!problem_read_double(reader, values + i, what)) return false;
    return true;
}

void problem_add_entry(ProblemMatrix* matrix, int row, int column, double value) {
    if (value == 0) return;
    if (matrix->count == matrix->capacity) {
        matrix->capacity = matrix->capacity ? 2 * matrix->capacity : 256;
        matrix->entry = lash_realloc(matrix->entry, matrix->capacity * sizeof(AppEntry));
    }
    matrix->entry[matrix->count++] = (AppEntry){row, column, value};
}

void problem_free_matrix(ProblemMatrix* matrix) {
    lash_free(matrix->entry);
    lash_free(matrix->bounds);
    *matrix = (ProblemMatrix){0};
}

static bool read_dense(ProblemReader* reader, ProblemMatrix* matrix) {
    int rows, columns;
    if (!problem_read_int(reader, matrix->rows, matrix->rows, &rows, "the row count again"))
        return false;
    if (!problem_read_int(reader, matrix->columns, matrix->columns, &columns,
                          "the column count again"))
        return false;
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) {
            double v;
            if (!problem_read_double(reader, &v, "an entry of the matrix")) return false;
            problem_add_entry(matrix, i, j, v);
        }
    return true;
}

static bool read_ints(ProblemReader* reader, int count, int low, int high, int* values,
                      const char* what) {
    for (int i = 0; i < count; ++i)
        if (!problem_read_int(reader, low, high, values + i, what)) return false;
    return true;
}

// Cumulated sizes must ascend to the full size.
static bool check_bounds(ProblemReader* reader, int count, const int* bounds, int size) {
    for (int i = 0; i < count; ++i)
        if (bounds[i] <= (i > 0 ? bounds[i - 1] : 0))
            return problem_fail(reader, "ascending block bounds");
    if (count == 0 || bounds[count - 1] != size)
        return problem_fail(reader, "block bounds up to the size");
    return true;
}

typedef struct BlockIndex {
    int *row_bounds, *column_bounds, *pointer, *column;
    int blocks, rows, columns, filled1, filled2;
} BlockIndex;

static void free_index(BlockIndex* index) {
    lash_free(index->row_bounds);
    lash_free(index->column_bounds);
    lash_free(index->pointer);
    lash_free(index->column);
}

static bool read_block_index(ProblemReader* reader, ProblemMatrix* matrix, BlockIndex* index) {
    int limit = (int)((reader->end - reader->at) / 2) + 1; // every number takes two characters
    if (!problem_read_int(reader, 1, limit, &index->blocks, "the number of blocks")) return false;
    if (!problem_read_int(reader, 1, limit, &index->rows, "the number of block rows")) return false;
    if (!problem_read_int(reader, 1, limit, &index->columns, "the number of block columns"))
        return false;
    index->row_bounds = lash_alloc((size_t)index->rows * sizeof(int));
    index->column_bounds = lash_alloc((size_t)index->columns * sizeof(int));
    if (!read_ints(reader, index->rows, 0, PROBLEM_MAX_SIZE, index->row_bounds,
                   "a block row bound"))
        return false;
    if (!check_bounds(reader, index->rows, index->row_bounds, matrix->rows)) return false;
    if (!read_ints(reader, index->columns, 0, PROBLEM_MAX_SIZE, index->column_bounds,
                   "a block column bound"))
        return false;
    if (!check_bounds(reader, index->columns, index->column_bounds, matrix->columns)) return false;
    if (!problem_read_int(reader, 1, index->rows + 1, &index->filled1,
                          "the number of row pointers"))
        return false;
    if (!problem_read_int(reader, index->blocks, index->blocks, &index->filled2,
                          "the number of blocks again"))
        return false;
    index->pointer = lash_alloc((size_t)index->filled1 * sizeof(int));
    index->column = lash_alloc((size_t)index->filled2 * sizeof(int));
    if (!read_ints(reader, index->filled1, 0, index->blocks, index->pointer, "a row pointer"))
        return false;
    for (int i = 1; i < index->filled1; ++i)
        if (index->pointer[i] < index->pointer[i - 1])
            return problem_fail(reader, "ascending row pointers");
    if (index->pointer[0] != 0 || index->pointer[index->filled1 - 1] != index->blocks)
        return problem_fail(reader, "row pointers from 0 to the number of blocks");
    return read_ints(reader, index->filled2, 0, index->columns - 1, index->column,
                     "a block column");
}

static bool read_blocks(ProblemReader* reader, ProblemMatrix* matrix,
                        const BlockIndex* block_index) {
    for (int i = 0, k = 0; i + 1 < block_index->filled1; ++i) {
        int top = i > 0 ? block_index->row_bounds[i - 1] : 0,
            rows = block_index->row_bounds[i] - top;
        for (; k < block_index->pointer[i + 1]; ++k) {
            int j = block_index->column[k], left = j > 0 ? block_index->column_bounds[j - 1] : 0,
                index;
            int columns = block_index->column_bounds[j] - left;
            if (!problem_read_int(reader, k, k, &index, "the index of the next block"))
                return false;
            for (int c = 0; c < columns; ++c)
                for (int s = 0; s < rows; ++s) {
                    double v;
                    if (!problem_read_double(reader, &v, "an entry of a block")) return false;
                    problem_add_entry(matrix, top + s, left + c, v);
                }
        }
    }
    return true;
}

static bool read_block_matrix(ProblemReader* reader, ProblemMatrix* matrix) {
    BlockIndex x = {0};
    bool ok = read_block_index(reader, matrix, &x) && read_blocks(reader, matrix, &x);
    if (ok) {
        matrix->blocks = x.rows;
        matrix->bounds = x.row_bounds;
        x.row_bounds = NULL;
    }
    free_index(&x);
    return ok;
}

static bool skip_word(ProblemReader* reader, const char* word) {
    skip_space(reader);
    size_t n = strlen(word);
    if ((size_t)(reader->end - reader->at) < n || strncmp(reader->at, word, n) != 0)
        return problem_fail(reader, word);
    reader->at += n;
    return true;
}

static void skip_line(ProblemReader* reader) {
    while (reader->at < reader->end && *reader->at != '\n') reader->at++;
    if (reader->at < reader->end) reader->at++;
}

static bool read_triplets(ProblemReader* reader, ProblemMatrix* matrix, int count) {
    for (int k = 0; k < count; ++k) {
        int i, j;
        double v;
        if (!problem_read_int(reader, 0, matrix->rows - 1, &i, "a row index")) return false;
        if (!problem_read_int(reader, 0, matrix->columns - 1, &j, "a column index")) return false;
        if (!skip_word(reader, ":") || !problem_read_double(reader, &v, "an entry of the matrix"))
            return false;
        problem_add_entry(matrix, i, j, v);
    }
    return true;
}

static bool read_columns(ProblemReader* reader, ProblemMatrix* matrix) {
    for (int j = 0; j < matrix->columns; ++j) {
        int column, from, to, i;
        if (!skip_word(reader, "col")) return false;
        if (!problem_read_int(reader, j, j, &column, "the index of the next column")) return false;
        if (!skip_word(reader, ":") || !skip_word(reader, "locations")) return false;
        if (!problem_read_int(reader, 0, PROBLEM_MAX_SIZE * 100, &from, "the first location"))
            return false;
        if (!skip_word(reader, "to")) return false;
        if (!problem_read_int(reader, -1, PROBLEM_MAX_SIZE * 100, &to, "the last location"))
            return false;
        for (int k = from; k <= to; ++k) {
            double v;
            if (!problem_read_int(reader, 0, matrix->rows - 1, &i, "a row index")) return false;
            if (!skip_word(reader, ":") ||
                !problem_read_double(reader, &v, "an entry of the matrix"))
                return false;
            problem_add_entry(matrix, i, j, v);
        }
    }
    return true;
}

static bool read_sparse_dump(ProblemReader* reader, ProblemMatrix* matrix) {
    int origin, rows, columns;
    double count;
    char line[256];
    if (!problem_read_int(reader, 0, 100, &origin, "the origin of the sparse matrix")) return false;
    skip_space(reader);
    if (reader->end - reader->at < 7 || strncmp(reader->at, "CSparse", 7) != 0)
        return problem_fail(reader, "CSparse Version");
    skip_line(reader);
    skip_space(reader);
    size_t n = 0;
    while (reader->at + n < reader->end && n + 1 < sizeof line && reader->at[n] != '\n') n++;
    memcpy(line, reader->at, n);
    line[n] = 0;
    bool triplet = strncmp(line, "triplet:", 8) == 0;
    const char* nnz = strstr(line, "nnz:");
    if (sscanf(triplet ? line + 8 : line, " %d-by-%d", &rows, &columns) != 2 || nnz == NULL ||
        sscanf(nnz + 4, "%lf", &count) != 1 || !(count >= 0 && count <= 1e8))
        return problem_fail(reader, "\"m-by-n, nzmax: a nnz: b\"");
    if (rows != matrix->rows || columns != matrix->columns)
        return problem_fail(reader, "the size of the matrix again");
    skip_line(reader);
    return triplet ? read_triplets(reader, matrix, (int)count) : read_columns(reader, matrix);
}

bool problem_read_matrix(ProblemReader* reader, ProblemMatrix* matrix) {
    *matrix = (ProblemMatrix){0};
    if (!problem_read_int(reader, 0, 2, &matrix->storage, "a storage code of 0, 1 or 2"))
        return false;
    if (!problem_read_int(reader, 1, PROBLEM_MAX_SIZE, &matrix->rows, "the number of rows"))
        return false;
    if (!problem_read_int(reader, 1, PROBLEM_MAX_SIZE, &matrix->columns, "the number of columns"))
        return false;
    if (matrix->storage == 0) return read_dense(reader, matrix);
    if (matrix->storage == 1) return read_block_matrix(reader, matrix);
    return read_sparse_dump(reader, matrix);
}

bool problem_read_square(ProblemReader* reader, ProblemMatrix* matrix) {
    if (!problem_read_matrix(reader, matrix)) return false;
    return matrix->rows == matrix->columns ||
           problem_fail(reader, "as many columns as rows before");
}

double* problem_dense(const ProblemMatrix* matrix) {
    size_t n = (size_t)matrix->rows;
    double* A = lash_alloc(n * n * sizeof(double));
    for (size_t k = 0; k < matrix->count; ++k)
        A[(size_t)matrix->entry[k].row + (size_t)matrix->entry[k].column * n] +=
            matrix->entry[k].value;
    return A;
}

static int compare_int(const void* a, const void* b) {
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

// Block pattern of the entries and of its transpose, diagonal included, as sorted block columns
// per block row. owner maps rows to blocks.
static void block_pattern(const ProblemMatrix* matrix, const int* owner, int blocks,
                          int32_t** pointer, int32_t** column) {
    size_t pairs = 2 * matrix->count + (size_t)blocks;
    int *head = lash_alloc(((size_t)blocks + 1) * sizeof(int)),
        *list = lash_alloc(pairs * sizeof(int));
    for (size_t k = 0; k < matrix->count; ++k) {
        head[owner[matrix->entry[k].row] + 1]++;
        head[owner[matrix->entry[k].column] + 1]++;
    }
    for (int i = 0; i < blocks; ++i) head[i + 1] += head[i] + 1;
    int* fill = lash_alloc((size_t)blocks * sizeof(int));
    for (int i = 0; i < blocks; ++i) {
        fill[i] = head[i];
        list[fill[i]++] = i;
    }
    for (size_t k = 0; k < matrix->count; ++k) {
        int i = owner[matrix->entry[k].row], j = owner[matrix->entry[k].column];
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

void problem_sparse(const ProblemMatrix* matrix, int blocks, const uint8_t* kind,
                    LashBlockSparse* sparse) {
    int* owner = lash_alloc((size_t)matrix->rows * sizeof(int));
    int32_t *start = lash_alloc(((size_t)blocks + 1) * sizeof(int32_t)), *pointer, *column;
    for (int i = 0; i < blocks; ++i) {
        start[i + 1] = start[i] + lash_contact_rows(kind[i]);
        for (int row = start[i]; row < start[i + 1]; ++row) owner[row] = i;
    }
    block_pattern(matrix, owner, blocks, &pointer, &column);
    int64_t *offset = lash_alloc((size_t)pointer[blocks] * sizeof(int64_t)), size = 0;
    for (int i = 0; i < blocks; ++i)
        for (int k = pointer[i]; k < pointer[i + 1]; ++k) {
            int j = column[k];
            offset[k] = size;
            size += (int64_t)(start[i + 1] - start[i]) * (start[j + 1] - start[j]);
        }
    double* values = lash_alloc((size_t)size * sizeof(double));
    *sparse = (LashBlockSparse){blocks, start, pointer, column, offset, values};
    for (size_t e = 0; e < matrix->count; ++e) {
        int i = owner[matrix->entry[e].row], j = owner[matrix->entry[e].column];
        double* block = values + (lash_block_sparse_find(sparse, i, j) - values);
        block[(matrix->entry[e].row - start[i]) +
              (matrix->entry[e].column - start[j]) * (start[i + 1] - start[i])] +=
            matrix->entry[e].value;
    }
    lash_free(owner);
}

void problem_free_sparse(LashBlockSparse* sparse) {
    lash_free((void*)sparse->start);
    lash_free((void*)sparse->pointer);
    lash_free((void*)sparse->column);
    lash_free((void*)sparse->offset);
    lash_free((void*)sparse->values);
    *sparse = (LashBlockSparse){0};
}

// Dense when so small that the solver works on its stack (LASH_SMALL_ROWS), or well filled; sparse blocks otherwise.
void problem_set_matrix(AppProblem* problem, const ProblemMatrix* matrix) {
    double filled = (double)matrix->count / ((double)matrix->rows * (double)matrix->rows);
    problem->friction.m = matrix->rows;
    if (matrix->rows <= 32 || (filled > 0.5 && matrix->rows <= 6000)) {
        problem->friction.W = problem_dense(matrix);
        problem->friction.ldw = matrix->rows;
    } else {
        problem_sparse(matrix, problem->friction.contacts, problem->friction.kind,
                       &problem->sparse);
        problem->friction.sparse = &problem->sparse;
    }
}
