// FCLIB files: friction problems in HDF5, local and global, as the public collections have them.
//
//   fclib_local   spacedim, W, vectors/q, vectors/mu           u = W r + q
//   fclib_global  spacedim, M, H, vectors/f, /w, /mu           M v = H r + f,  u = H' v + w
//
// A matrix is a group with m, n (rows, columns), nz, p, i, x: nz = -1 by columns (p: first entry of
// each column, i: rows), -2 by rows, >= 0 a list of nz entries (i: rows, p: columns). What the layout
// may have besides (joint rows G, V, R of local problems) is refused, not dropped.
//
// The file becomes the text layout of problem_file.c, which checks the rest: sizes, signs, numbers.
// Nothing in it is believed before it is checked: ranks, types, lengths, indices.
#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/bench/problem_internal.h"
#include "core/arena.h"

static const size_t LARGEST = 20000000; // numbers of one array

typedef struct Fclib {
    hid_t file;
    LashError* error;
    const char* root; // "fclib_local" or "fclib_global"
    int rows;         // dimension times contacts
    int motions;      // of a global problem: rows of M
} Fclib;

static bool fail(const Fclib* fclib, const char* name, const char* what) {
    return lash_error_set(fclib->error, LASH_ERROR_MODEL, name, "%s", what);
}

static bool exists(const Fclib* fclib, const char* name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", fclib->root, name);
    for (char* slash = path; (slash = strchr(slash, '/')) != NULL; ++slash) { // each part of it
        *slash = '\0';
        bool there = H5Lexists(fclib->file, path, H5P_DEFAULT) > 0;
        *slash = '/';
        if (!there) return false;
    }
    return H5Lexists(fclib->file, path, H5P_DEFAULT) > 0;
}

// All numbers of a data set, as int or double; NULL with error. The caller frees them.
static void* read_numbers(const Fclib* fclib, const char* name, bool whole, size_t* count) {
    char path[128], where[160];
    void* numbers = NULL;
    snprintf(path, sizeof path, "%s/%s", fclib->root, name);
    snprintf(where, sizeof where, "%s", path);
    if (!exists(fclib, name)) {
        fail(fclib, where, "is missing");
        return NULL;
    }
    hid_t data = H5Dopen2(fclib->file, path, H5P_DEFAULT);
    hid_t space = data < 0 ? -1 : H5Dget_space(data), type = data < 0 ? -1 : H5Dget_type(data);
    hssize_t length = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    bool right = class == H5T_INTEGER || (!whole && class == H5T_FLOAT);
    size_t size = whole ? sizeof(int) : sizeof(double);
    if (length < 0 || !right) {
        fail(fclib, where, whole ? "expected whole numbers" : "expected numbers");
    } else if ((size_t)length > LARGEST) {
        fail(fclib, where, "has more than 20 million numbers");
    } else {
        *count = (size_t)length;
        numbers = lash_alloc(*count * size + 1);
        hid_t as = whole ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE;
        if (*count > 0 && H5Dread(data, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0) {
            fail(fclib, where, "cannot be read: the file is damaged or packed in an unknown way");
            lash_free(numbers);
            numbers = NULL;
        }
    }
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    if (data >= 0) H5Dclose(data);
    return numbers;
}

static bool read_int(const Fclib* fclib, const char* name, int* value) {
    size_t count = 0;
    int* numbers = read_numbers(fclib, name, true, &count);
    if (numbers == NULL) return false;
    bool one = count == 1;
    if (one) *value = numbers[0];
    lash_free(numbers);
    return one || fail(fclib, name, "expected one number");
}

typedef struct Sparse { // as the file has it
    int rows, columns, nz;
    int *p, *i;
    double* x;
    size_t ps, is, xs;
} Sparse;

static void free_sparse(Sparse* sparse) {
    lash_free(sparse->p);
    lash_free(sparse->i);
    lash_free(sparse->x);
}

static bool read_part(const Fclib* fclib, const char* matrix, const char* key, int* value) {
    char name[64];
    snprintf(name, sizeof name, "%s/%s", matrix, key);
    return read_int(fclib, name, value);
}

// Lengths and indices of a matrix.
static bool check_sparse(const Fclib* fclib, const char* name, const Sparse* s) {
    bool listed = s->nz >= 0;
    int lines = s->nz == -1 ? s->columns : s->rows; // of compressed storage
    int most = s->nz == -1 ? s->rows : s->columns;
    if (s->nz < -2) return fail(fclib, name, "nz: expected -2, -1 or a number of entries");
    size_t entries = listed ? (size_t)s->nz : s->xs;
    if (listed && (s->ps < entries || s->is < entries || s->xs < entries))
        return fail(fclib, name, "has fewer entries than nz says");
    if (!listed && (s->ps < (size_t)lines + 1 || s->is < s->xs))
        return fail(fclib, name, "p or i is too short");
    for (int k = 0; !listed && k < lines; ++k) {
        if (s->p[k] < 0 || s->p[k] > s->p[k + 1] || (size_t)s->p[k + 1] > s->xs)
            return fail(fclib, name, "p: expected ascending numbers up to the number of entries");
    }
    if (!listed) entries = (size_t)s->p[lines];
    for (size_t k = 0; k < entries; ++k) {
        bool inside = s->i[k] >= 0 && s->i[k] < (listed ? s->rows : most);
        if (listed) inside = inside && s->p[k] >= 0 && s->p[k] < s->columns;
        if (!inside) return fail(fclib, name, "has an index outside of the matrix");
    }
    return true;
}

static bool read_sparse(const Fclib* fclib, const char* matrix, Sparse* sparse) {
    char name[64];
    *sparse = (Sparse){0};
    if (!read_part(fclib, matrix, "m", &sparse->rows) ||
        !read_part(fclib, matrix, "n", &sparse->columns) ||
        !read_part(fclib, matrix, "nz", &sparse->nz))
        return false;
    if (sparse->rows < 1 || sparse->columns < 1 || sparse->rows > PROBLEM_MAX_SIZE ||
        sparse->columns > PROBLEM_MAX_SIZE)
        return fail(fclib, matrix, "expected 1 to 1000000 rows and columns");
    snprintf(name, sizeof name, "%s/p", matrix);
    sparse->p = read_numbers(fclib, name, true, &sparse->ps);
    if (sparse->p == NULL) return false;
    snprintf(name, sizeof name, "%s/i", matrix);
    sparse->i = read_numbers(fclib, name, true, &sparse->is);
    if (sparse->i == NULL) return false;
    snprintf(name, sizeof name, "%s/x", matrix);
    sparse->x = read_numbers(fclib, name, false, &sparse->xs);
    return sparse->x != NULL && check_sparse(fclib, matrix, sparse);
}

static void put_sparse(const Sparse* sparse, FILE* text) {
    bool listed = sparse->nz >= 0;
    int lines = sparse->nz == -1 ? sparse->columns : sparse->rows;
    int entries = listed ? sparse->nz : sparse->p[lines];
    fprintf(text, "2\n%d\n%d\n0\nCSparse Version 3\ntriplet: %d-by-%d, nzmax: %d nnz: %d\n",
            sparse->rows, sparse->columns, sparse->rows, sparse->columns, entries, entries);
    for (int k = 0; listed && k < entries; ++k)
        fprintf(text, "%d %d : %.17g\n", sparse->i[k], sparse->p[k], sparse->x[k]);
    for (int l = 0; !listed && l < lines; ++l) {
        for (int k = sparse->p[l]; k < sparse->p[l + 1]; ++k) {
            int row = sparse->nz == -1 ? sparse->i[k] : l;
            int column = sparse->nz == -1 ? l : sparse->i[k];
            fprintf(text, "%d %d : %.17g\n", row, column, sparse->x[k]);
        }
    }
}

// A matrix of this size; rows 0: whatever it has, which is then the number of motions.
static bool put_matrix(Fclib* fclib, const char* name, int rows, int columns, FILE* text) {
    Sparse sparse;
    bool good = read_sparse(fclib, name, &sparse);
    if (good && rows == 0) fclib->motions = rows = columns = sparse.rows;
    if (good && (sparse.rows != rows || sparse.columns != columns))
        good = fail(fclib, name, "has another size than dimension, contacts and M say");
    if (good) put_sparse(&sparse, text);
    free_sparse(&sparse);
    return good;
}

static bool put_vector(const Fclib* fclib, const char* name, int length, FILE* text) {
    size_t count = 0;
    double* numbers = read_numbers(fclib, name, false, &count);
    if (numbers == NULL) return false;
    bool good = count == (size_t)length;
    for (size_t i = 0; good && i < count; ++i) fprintf(text, "%.17g\n", numbers[i]);
    lash_free(numbers);
    return good || fail(fclib, name, "has another length than dimension, contacts and M say");
}

// Dimension and number of contacts, which is that of mu.
static bool put_head(Fclib* fclib, int* contacts_read, FILE* text) {
    int dimension = 0;
    size_t contacts = 0;
    if (!read_int(fclib, "spacedim", &dimension)) return false;
    double* mu = read_numbers(fclib, "vectors/mu", false, &contacts);
    if (mu == NULL) return false;
    lash_free(mu);
    if (dimension != 2 && dimension != 3)
        return fail(fclib, "spacedim", "expected the dimension 2 or 3");
    if (contacts < 1 || contacts > PROBLEM_MAX_ROWS / (size_t)dimension)
        return fail(fclib, "vectors/mu", "expected 1 contact or more, at most 60000 rows");
    *contacts_read = (int)contacts;
    fclib->rows = dimension * (int)contacts;
    fprintf(text, "%d\n%zu\n", dimension, contacts);
    return true;
}

static bool refuse(const Fclib* fclib, const char* name) {
    if (!exists(fclib, name)) return true;
    return fail(fclib, name, "joint rows beside the contacts are not read");
}

static bool convert(Fclib* fclib, FILE* text) {
    bool local = H5Lexists(fclib->file, "fclib_local", H5P_DEFAULT) > 0;
    bool global = H5Lexists(fclib->file, "fclib_global", H5P_DEFAULT) > 0;
    fclib->root = local ? "fclib_local" : "fclib_global";
    if (!local && !global)
        return fail(fclib, "", "is HDF5, but has no group fclib_local or fclib_global");
    int contacts = 0;
    if (!refuse(fclib, "G") || !refuse(fclib, "V") || !refuse(fclib, "R")) return false;
    if (!put_head(fclib, &contacts, text)) return false;
    if (local)
        return put_matrix(fclib, "W", fclib->rows, fclib->rows, text) &&
               put_vector(fclib, "vectors/q", fclib->rows, text) &&
               put_vector(fclib, "vectors/mu", contacts, text);
    return put_matrix(fclib, "M", 0, 0, text) &&
           put_matrix(fclib, "H", fclib->motions, fclib->rows, text) &&
           put_vector(fclib, "vectors/f", fclib->motions, text) &&
           put_vector(fclib, "vectors/w", fclib->rows, text) &&
           put_vector(fclib, "vectors/mu", contacts, text);
}

bool problem_is_fclib(const char* bytes, size_t size) {
    static const char signature[] = "\211HDF\r\n\032\n";
    return size >= 8 && memcmp(bytes, signature, 8) == 0;
}

char* problem_fclib_text(const char* path, size_t* size, LashError* error) {
    Fclib fclib = {.error = error};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); // messages are ours
    fclib.file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (fclib.file < 0) {
        lash_error_set(error, LASH_ERROR_MODEL, "", "begins as HDF5, but is damaged or cut off");
        return NULL;
    }
    char* text = NULL;
    FILE* stream = open_memstream(&text, size);
    LASH_ASSERT(stream != NULL);
    bool good = convert(&fclib, stream);
    fclose(stream);
    H5Fclose(fclib.file);
    char* copy = good ? lash_strdup(text) : NULL;
    free(text);
    return copy;
}
