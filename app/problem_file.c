// Reader of the text layout of public friction-contact problem files (numbers separated by white
// space; line breaks matter only in the sparse dump).
//
// A file does not say what it holds, so each layout is tried in turn; sizes that must agree (matrix
// against contacts) tell them apart. When none fits, the error of the attempt that got furthest is
// the one to report. Matrices arrive dense, as sparse blocks or as a sparse dump; all become a list
// of entries, from which dense or block-sparse storage is built.
#include "app/problem_file.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"

enum { MAX_SIZE = 1000000 };

typedef struct Reader {
    const char *text, *end, *at;
    LashError* error;
} Reader;

typedef struct Matrix {
    int storage, rows, columns;
    size_t count, capacity;
    AppEntry* entry;
    int blocks;  // storage 1: block rows
    int* bounds; // storage 1: (blocks) cumulated row sizes
} Matrix;

static bool fail(Reader* r, const char* what) {
    int line = 1;
    char where[32], found[24] = "";
    for (const char* c = r->text; c < r->at && c < r->end; ++c) line += *c == '\n';
    snprintf(where, sizeof where, "line %d", line);
    size_t n = 0;
    const char* c = r->at;
    while (c < r->end && isspace((unsigned char)*c)) ++c;
    for (; c < r->end && n + 1 < sizeof found && isprint((unsigned char)*c) && *c != ' '; ++c)
        found[n++] = *c;
    found[n] = 0;
    lash_error_set(r->error, LASH_ERROR_MODEL, where, "expected %s, found %s%s%s", what,
                   n ? "\"" : "", n ? found : "the end of the file", n ? "\"" : "");
    return false;
}

static void skip_space(Reader* r) {
    while (r->at < r->end && isspace((unsigned char)*r->at)) r->at++;
}

// One number; the text is terminated by a zero, so strtod stays inside.
static bool read_double(Reader* r, double* value, const char* what) {
    *value = 0;
    skip_space(r);
    if (r->at >= r->end) return fail(r, what);
    char* stop;
    double v = strtod(r->at, &stop);
    if (stop == r->at || !isfinite(v)) return fail(r, what);
    if (stop < r->end && !isspace((unsigned char)*stop)) return fail(r, what);
    r->at = stop, *value = v;
    return true;
}

static bool read_int(Reader* r, int low, int high, int* value, const char* what) {
    const char* start = r->at;
    double v = 0;
    *value = 0;
    if (!read_double(r, &v, what)) return false;
    if (v != floor(v) || v < low || v > high) {
        r->at = start;
        return fail(r, what);
    }
    *value = (int)v;
    return true;
}

static bool read_doubles(Reader* r, int count, double* values, const char* what) {
    for (int i = 0; i < count; ++i)
        if (!read_double(r, values + i, what)) return false;
    return true;
}

static void add_entry(Matrix* a, int row, int column, double value) {
    if (value == 0) return;
    if (a->count == a->capacity) {
        a->capacity = a->capacity ? 2 * a->capacity : 256;
        a->entry = lash_realloc(a->entry, a->capacity * sizeof(AppEntry));
    }
    a->entry[a->count++] = (AppEntry){row, column, value};
}

static void free_matrix(Matrix* a) {
    lash_free(a->entry);
    lash_free(a->bounds);
    *a = (Matrix){0};
}

static bool read_dense(Reader* r, Matrix* a) {
    int rows, columns;
    if (!read_int(r, a->rows, a->rows, &rows, "the row count again")) return false;
    if (!read_int(r, a->columns, a->columns, &columns, "the column count again")) return false;
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) {
            double v;
            if (!read_double(r, &v, "an entry of the matrix")) return false;
            add_entry(a, i, j, v);
        }
    return true;
}

static bool read_ints(Reader* r, int count, int low, int high, int* values, const char* what) {
    for (int i = 0; i < count; ++i)
        if (!read_int(r, low, high, values + i, what)) return false;
    return true;
}

// Cumulated sizes must ascend to the full size.
static bool check_bounds(Reader* r, int count, const int* bounds, int size) {
    for (int i = 0; i < count; ++i)
        if (bounds[i] <= (i > 0 ? bounds[i - 1] : 0)) return fail(r, "ascending block bounds");
    if (count == 0 || bounds[count - 1] != size) return fail(r, "block bounds up to the size");
    return true;
}

typedef struct BlockIndex {
    int *row_bounds, *column_bounds, *pointer, *column;
    int blocks, rows, columns, filled1, filled2;
} BlockIndex;

static void free_index(BlockIndex* x) {
    lash_free(x->row_bounds), lash_free(x->column_bounds);
    lash_free(x->pointer), lash_free(x->column);
}

static bool read_block_index(Reader* r, Matrix* a, BlockIndex* x) {
    int limit = (int)((r->end - r->at) / 2) + 1; // every number takes two characters
    if (!read_int(r, 1, limit, &x->blocks, "the number of blocks")) return false;
    if (!read_int(r, 1, limit, &x->rows, "the number of block rows")) return false;
    if (!read_int(r, 1, limit, &x->columns, "the number of block columns")) return false;
    x->row_bounds = lash_alloc((size_t)x->rows * sizeof(int));
    x->column_bounds = lash_alloc((size_t)x->columns * sizeof(int));
    if (!read_ints(r, x->rows, 0, MAX_SIZE, x->row_bounds, "a block row bound")) return false;
    if (!check_bounds(r, x->rows, x->row_bounds, a->rows)) return false;
    if (!read_ints(r, x->columns, 0, MAX_SIZE, x->column_bounds, "a block column bound"))
        return false;
    if (!check_bounds(r, x->columns, x->column_bounds, a->columns)) return false;
    if (!read_int(r, 1, x->rows + 1, &x->filled1, "the number of row pointers")) return false;
    if (!read_int(r, x->blocks, x->blocks, &x->filled2, "the number of blocks again")) return false;
    x->pointer = lash_alloc((size_t)x->filled1 * sizeof(int));
    x->column = lash_alloc((size_t)x->filled2 * sizeof(int));
    if (!read_ints(r, x->filled1, 0, x->blocks, x->pointer, "a row pointer")) return false;
    for (int i = 1; i < x->filled1; ++i)
        if (x->pointer[i] < x->pointer[i - 1]) return fail(r, "ascending row pointers");
    if (x->pointer[0] != 0 || x->pointer[x->filled1 - 1] != x->blocks)
        return fail(r, "row pointers from 0 to the number of blocks");
    return read_ints(r, x->filled2, 0, x->columns - 1, x->column, "a block column");
}

static bool read_blocks(Reader* r, Matrix* a, const BlockIndex* x) {
    for (int i = 0, k = 0; i + 1 < x->filled1; ++i) {
        int top = i > 0 ? x->row_bounds[i - 1] : 0, rows = x->row_bounds[i] - top;
        for (; k < x->pointer[i + 1]; ++k) {
            int j = x->column[k], left = j > 0 ? x->column_bounds[j - 1] : 0, index;
            int columns = x->column_bounds[j] - left;
            if (!read_int(r, k, k, &index, "the index of the next block")) return false;
            for (int c = 0; c < columns; ++c)
                for (int s = 0; s < rows; ++s) {
                    double v;
                    if (!read_double(r, &v, "an entry of a block")) return false;
                    add_entry(a, top + s, left + c, v);
                }
        }
    }
    return true;
}

static bool read_block_matrix(Reader* r, Matrix* a) {
    BlockIndex x = {0};
    bool ok = read_block_index(r, a, &x) && read_blocks(r, a, &x);
    if (ok) a->blocks = x.rows, a->bounds = x.row_bounds, x.row_bounds = NULL;
    free_index(&x);
    return ok;
}

static bool skip_word(Reader* r, const char* word) {
    skip_space(r);
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || strncmp(r->at, word, n) != 0) return fail(r, word);
    r->at += n;
    return true;
}

static void skip_line(Reader* r) {
    while (r->at < r->end && *r->at != '\n') r->at++;
    if (r->at < r->end) r->at++;
}

static bool read_triplets(Reader* r, Matrix* a, int count) {
    for (int k = 0; k < count; ++k) {
        int i, j;
        double v;
        if (!read_int(r, 0, a->rows - 1, &i, "a row index")) return false;
        if (!read_int(r, 0, a->columns - 1, &j, "a column index")) return false;
        if (!skip_word(r, ":") || !read_double(r, &v, "an entry of the matrix")) return false;
        add_entry(a, i, j, v);
    }
    return true;
}

static bool read_columns(Reader* r, Matrix* a) {
    for (int j = 0; j < a->columns; ++j) {
        int column, from, to, i;
        if (!skip_word(r, "col")) return false;
        if (!read_int(r, j, j, &column, "the index of the next column")) return false;
        if (!skip_word(r, ":") || !skip_word(r, "locations")) return false;
        if (!read_int(r, 0, MAX_SIZE * 100, &from, "the first location")) return false;
        if (!skip_word(r, "to")) return false;
        if (!read_int(r, -1, MAX_SIZE * 100, &to, "the last location")) return false;
        for (int k = from; k <= to; ++k) {
            double v;
            if (!read_int(r, 0, a->rows - 1, &i, "a row index")) return false;
            if (!skip_word(r, ":") || !read_double(r, &v, "an entry of the matrix")) return false;
            add_entry(a, i, j, v);
        }
    }
    return true;
}

static bool read_sparse_dump(Reader* r, Matrix* a) {
    int origin, rows, columns;
    double count;
    char line[256];
    if (!read_int(r, 0, 100, &origin, "the origin of the sparse matrix")) return false;
    skip_space(r);
    if (r->end - r->at < 7 || strncmp(r->at, "CSparse", 7) != 0) return fail(r, "CSparse Version");
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
        return fail(r, "\"m-by-n, nzmax: a nnz: b\"");
    if (rows != a->rows || columns != a->columns) return fail(r, "the size of the matrix again");
    skip_line(r);
    return triplet ? read_triplets(r, a, (int)count) : read_columns(r, a);
}

static bool read_matrix(Reader* r, Matrix* a) {
    *a = (Matrix){0};
    if (!read_int(r, 0, 2, &a->storage, "a storage code of 0, 1 or 2")) return false;
    if (!read_int(r, 1, MAX_SIZE, &a->rows, "the number of rows")) return false;
    if (!read_int(r, a->rows, a->rows, &a->columns, "as many columns as rows")) return false;
    if (a->storage == 0) return read_dense(r, a);
    if (a->storage == 1) return read_block_matrix(r, a);
    return read_sparse_dump(r, a);
}

static double* to_dense(const Matrix* a) {
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
static void block_pattern(const Matrix* a, const int* owner, int blocks, int32_t** pointer,
                          int32_t** column) {
    size_t pairs = 2 * a->count + (size_t)blocks;
    int *head = lash_alloc(((size_t)blocks + 1) * sizeof(int)),
        *list = lash_alloc(pairs * sizeof(int));
    for (size_t k = 0; k < a->count; ++k)
        head[owner[a->entry[k].row] + 1]++, head[owner[a->entry[k].column] + 1]++;
    for (int i = 0; i < blocks; ++i) head[i + 1] += head[i] + 1;
    int* fill = lash_alloc((size_t)blocks * sizeof(int));
    for (int i = 0; i < blocks; ++i) fill[i] = head[i], list[fill[i]++] = i;
    for (size_t k = 0; k < a->count; ++k) {
        int i = owner[a->entry[k].row], j = owner[a->entry[k].column];
        list[fill[i]++] = j, list[fill[j]++] = i;
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
    lash_free(head), lash_free(list), lash_free(fill);
}

static void to_sparse(const Matrix* a, int blocks, const uint8_t* kind, LashBlockSparse* s) {
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

// Dense when small or well filled, sparse blocks otherwise.
static void set_matrix(AppProblem* p, const Matrix* a) {
    double filled = (double)a->count / ((double)a->rows * (double)a->rows);
    p->friction.m = a->rows;
    if (a->rows <= 64 || (filled > 0.5 && a->rows <= 6000)) {
        p->friction.W = to_dense(a);
        p->friction.ldw = a->rows;
    } else {
        to_sparse(a, p->friction.contacts, p->friction.kind, &p->sparse);
        p->friction.sparse = &p->sparse;
    }
}

static bool read_friction(Reader* r, AppProblem* p) {
    int dim, contacts;
    Matrix a = {0};
    if (!read_int(r, 2, 3, &dim, "the dimension 2 or 3")) return false;
    if (!read_int(r, 1, MAX_SIZE / 3, &contacts, "the number of contacts")) return false;
    bool ok = read_matrix(r, &a);
    if (ok && a.rows != dim * contacts) ok = fail(r, "a matrix of dimension times contacts rows");
    double* b = lash_alloc((size_t)a.rows * sizeof(double) + 1);
    double* mu = lash_alloc((size_t)contacts * sizeof(double));
    uint8_t* kind = lash_alloc((size_t)contacts);
    p->friction.b = b, p->friction.mu = mu, p->friction.kind = kind;
    ok = ok && read_doubles(r, a.rows, b, "an entry of q");
    for (int i = 0; ok && i < contacts; ++i) {
        kind[i] = (uint8_t)dim;
        ok = read_double(r, mu + i, "a friction coefficient");
        if (ok && mu[i] < 0) ok = fail(r, "a friction coefficient >= 0");
    }
    if (ok) {
        p->friction.contacts = p->units = contacts;
        set_matrix(p, &a);
    }
    free_matrix(&a);
    return ok;
}

// One type code per block of rows: 0 complementarity, 2 joint, 3 and 4 friction with mu.
static bool read_types(Reader* r, AppProblem* p, const Matrix* a, uint8_t* kind, double* mu) {
    int contacts = 0;
    for (int i = 0; i < a->blocks; ++i) {
        int rows = a->bounds[i] - (i > 0 ? a->bounds[i - 1] : 0), type;
        if (!read_int(r, 0, 4, &type, "a problem type (0, 2, 3 or 4)")) return false;
        if (type == 0 || type == 2) {
            for (int k = 0; k < rows; ++k)
                kind[contacts++] = type == 2 ? LASH_CONTACT_BILATERAL : LASH_CONTACT_FRICTIONLESS;
            continue;
        }
        if (type == 1 || rows != type - 1) return fail(r, "a type that suits the block's rows");
        if (!read_double(r, mu + contacts, "a friction coefficient")) return false;
        if (mu[contacts] < 0) return fail(r, "a friction coefficient >= 0");
        kind[contacts++] = (uint8_t)rows;
    }
    p->friction.contacts = p->units = contacts;
    return true;
}

static bool read_generic(Reader* r, AppProblem* p) {
    Matrix a = {0};
    if (!read_matrix(r, &a)) {
        free_matrix(&a);
        return false;
    }
    bool ok = a.storage == 1 || fail(r, "a block matrix");
    double *b = lash_alloc((size_t)a.rows * sizeof(double)),
           *mu = lash_alloc((size_t)a.rows * sizeof(double));
    uint8_t* kind = lash_alloc((size_t)a.rows);
    p->friction.b = b, p->friction.mu = mu, p->friction.kind = kind;
    ok = ok && read_doubles(r, a.rows, b, "an entry of q") && read_types(r, p, &a, kind, mu);
    if (ok) set_matrix(p, &a);
    free_matrix(&a);
    return ok;
}

static void set_mixed(AppProblem* p, int n, double* A, double* b, uint8_t* free_rows) {
    p->mixed.lcp = (LashLcpProblem){n, A, n, b};
    p->mixed.free = free_rows, p->units = n;
}

static bool read_lcp(Reader* r, AppProblem* p) {
    int n;
    Matrix a = {0};
    if (!read_int(r, 1, MAX_SIZE, &n, "the size")) return false;
    bool ok = read_matrix(r, &a) && (a.rows <= 6000 || fail(r, "at most 6000 rows"));
    if (ok) {
        double* b = lash_alloc((size_t)a.rows * sizeof(double));
        ok = read_doubles(r, a.rows, b, "an entry of q");
        set_mixed(p, a.rows, to_dense(&a), b, lash_alloc((size_t)a.rows));
    }
    free_matrix(&a);
    return ok;
}

static bool read_mixed_blocks(Reader* r, int total, AppProblem* p) {
    int bounds[1025], blocks = 0;
    if (!read_int(r, 0, 0, bounds, "block bounds from 0")) return false;
    while (bounds[blocks] < total) {
        if (blocks == 1024) return fail(r, "at most 1024 blocks");
        if (!read_int(r, bounds[blocks] + 1, total, bounds + blocks + 1, "a block bound"))
            return false;
        blocks++;
    }
    uint8_t* free_rows = lash_alloc((size_t)total);
    double* b = lash_alloc((size_t)total * sizeof(double));
    Matrix a = {0};
    bool ok = true;
    for (int i = 0; ok && i < blocks; ++i) {
        int flag = 0;
        ok = read_int(r, 0, 1, &flag, "a flag 0 (equality) or 1 (complementarity)");
        for (int row = bounds[i]; row < bounds[i + 1]; ++row) free_rows[row] = flag == 0;
    }
    ok = ok && read_matrix(r, &a);
    if (ok && a.rows != total) ok = fail(r, "a matrix of n + m rows");
    ok = ok && read_doubles(r, total, b, "an entry of q");
    set_mixed(p, total, ok ? to_dense(&a) : NULL, b, free_rows);
    free_matrix(&a);
    return ok;
}

// A(n x n) B(m x m) C(n x m) D(m x n) row by row, a, b.
static bool read_mixed_parts(Reader* r, int n, int m, AppProblem* p) {
    int total = n + m, rows[4] = {n, m, n, m}, columns[4] = {n, m, m, n};
    int top[4] = {0, n, 0, n}, left[4] = {0, n, n, 0};
    if ((r->end - r->at) / 2 + 1 < (long)total * total) return fail(r, "(n + m)^2 numbers");
    double *A = lash_alloc((size_t)total * (size_t)total * sizeof(double)),
           *b = lash_alloc((size_t)total * sizeof(double));
    uint8_t* free_rows = lash_alloc((size_t)total);
    set_mixed(p, total, A, b, free_rows);
    for (int k = 0; k < 4; ++k)
        for (int i = 0; i < rows[k]; ++i)
            for (int j = 0; j < columns[k]; ++j)
                if (!read_double(r, A + top[k] + i + (size_t)(left[k] + j) * (size_t)total,
                                 "an entry of A, B, C or D"))
                    return false;
    for (int i = 0; i < n; ++i) free_rows[i] = 1;
    return read_doubles(r, total, b, "an entry of a or b");
}

static bool read_mixed(Reader* r, AppProblem* p) {
    int blocks, parts, n, m;
    if (!read_int(r, 0, 1, &blocks, "a storage flag 0 or 1")) return false;
    if (!read_int(r, 0, 1, &parts, "a storage flag 0 or 1")) return false;
    if (!read_int(r, 0, 3000, &n, "the number of equalities")) return false;
    if (!read_int(r, 0, 3000, &m, "the number of complementarities")) return false;
    if (n + m == 0 || (blocks == 0 && parts == 0)) return fail(r, "at least one row");
    return blocks ? read_mixed_blocks(r, n + m, p) : read_mixed_parts(r, n, m, p);
}

AppProblem* app_problem_parse(const char* text, size_t size, LashError* error) {
    static bool (*const layouts[])(Reader*, AppProblem*) = {read_friction, read_generic, read_lcp,
                                                            read_mixed};
    LashError furthest = {0};
    const char* reached = NULL;
    for (int k = 0; k < 4; ++k) {
        LashError trial = {0};
        Reader r = {text, text + size, text, &trial};
        AppProblem* p = lash_alloc(sizeof *p);
        p->layout = (AppProblemLayout)k;
        if (layouts[k](&r, p)) return p;
        app_problem_destroy(p);
        if (reached == NULL || r.at > reached) reached = r.at, furthest = trial;
    }
    lash_error_set(error, furthest.status, furthest.where, "%s", furthest.message);
    return NULL;
}

static char* read_file(const char* path, size_t* size, LashError* error) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        lash_error_set(error, LASH_ERROR_IO, "", "cannot be opened");
        return NULL;
    }
    char* text = NULL;
    size_t used = 0, capacity = 0, got = 1;
    while (got > 0) {
        if (capacity - used < 65536) {
            capacity = capacity ? 2 * capacity : 262144;
            text = lash_realloc(text, capacity);
        }
        got = fread(text + used, 1, capacity - used - 1, file);
        used += got;
    }
    bool ok = ferror(file) == 0;
    fclose(file);
    text[used] = 0, *size = used;
    if (ok) return text;
    lash_free(text);
    lash_error_set(error, LASH_ERROR_IO, "", "cannot be read");
    return NULL;
}

AppProblem* app_problem_load(const char* path, LashError* error) {
    size_t size = 0;
    char* text = read_file(path, &size, error);
    AppProblem* p = text != NULL ? app_problem_parse(text, size, error) : NULL;
    if (p == NULL) lash_error_file(error, path);
    lash_free(text);
    return p;
}

void app_problem_destroy(AppProblem* p) {
    if (p == NULL) return;
    lash_free((void*)p->friction.W), lash_free((void*)p->friction.b);
    lash_free((void*)p->friction.mu), lash_free((void*)p->friction.kind);
    lash_free((void*)p->mixed.lcp.A), lash_free((void*)p->mixed.lcp.b);
    lash_free((void*)p->mixed.free);
    lash_free((void*)p->sparse.start), lash_free((void*)p->sparse.pointer);
    lash_free((void*)p->sparse.column), lash_free((void*)p->sparse.offset);
    lash_free((void*)p->sparse.values);
    lash_free(p);
}

AppProblem* app_problem_build(int contacts, const uint8_t* kind, const double* mu, const double* b,
                              int m, size_t count, const AppEntry* entries) {
    Matrix a = {.rows = m, .columns = m};
    for (size_t k = 0; k < count; ++k)
        add_entry(&a, entries[k].row, entries[k].column, entries[k].value);
    AppProblem* p = lash_alloc(sizeof *p);
    double *b_copy = lash_alloc((size_t)m * sizeof(double)),
           *mu_copy = lash_alloc((size_t)contacts * sizeof(double));
    uint8_t* kind_copy = lash_alloc((size_t)contacts);
    memcpy(b_copy, b, (size_t)m * sizeof(double));
    memcpy(mu_copy, mu, (size_t)contacts * sizeof(double));
    memcpy(kind_copy, kind, (size_t)contacts);
    p->friction.b = b_copy, p->friction.mu = mu_copy, p->friction.kind = kind_copy;
    p->friction.contacts = p->units = contacts;
    set_matrix(p, &a);
    free_matrix(&a);
    return p;
}

const char* app_problem_layout_name(AppProblemLayout layout) {
    static const char* const name[] = {"friction", "generic", "lcp", "mixed"};
    return name[layout];
}
