// Reader of the text layout of public friction-contact problem files (numbers separated by white
// space; line breaks matter only in the sparse dump).
//
// A file does not say what it holds, so each layout is tried in turn; sizes that must agree (matrix
// against contacts) tell them apart. When none fits, the error of the attempt that got furthest is
// the one to report.
#include "app/bench/problem_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/bench/problem_internal.h"
#include "core/arena.h"

// Nothing may follow but a flag that some writers add: numbers that nobody has read mean that the
// file holds another problem than was understood.
static bool read_end(ProblemReader* reader) {
    int flag;
    LashError none = {0};
    ProblemReader trial = *reader;
    trial.error = &none;
    if (problem_read_int(&trial, 0, 1, &flag, "")) reader->at = trial.at;
    while (reader->at < reader->end && isspace((unsigned char)*reader->at)) reader->at++;
    return reader->at == reader->end ||
           problem_fail(reader, "the end of the file after the friction");
}

// Dimension and number of contacts; makes mu and kind.
static bool read_contacts(ProblemReader* reader, AppProblem* problem) {
    int dim, contacts;
    if (!problem_read_int(reader, 2, 3, &dim, "the dimension 2 or 3")) return false;
    if (!problem_read_int(reader, 1, PROBLEM_MAX_ROWS / dim, &contacts,
                          "the number of contacts, 1 to 60000 rows of dimension"))
        return false;
    uint8_t* kind = lash_alloc((size_t)contacts);
    memset(kind, dim, (size_t)contacts);
    problem->friction.kind = kind;
    problem->friction.mu = lash_alloc((size_t)contacts * sizeof(double));
    problem->friction.contacts = problem->units = contacts;
    problem->friction.m = dim * contacts;
    return true;
}

static bool read_friction_coefficients(ProblemReader* reader, AppProblem* problem) {
    double* mu = (double*)problem->friction.mu;
    for (int i = 0; i < problem->friction.contacts; ++i) {
        if (!problem_read_double(reader, mu + i, "a friction coefficient")) return false;
        if (mu[i] < 0) return problem_fail(reader, "a friction coefficient >= 0 before this");
    }
    return read_end(reader);
}

static bool read_friction(ProblemReader* reader, AppProblem* problem) {
    ProblemMatrix a = {0};
    if (!read_contacts(reader, problem)) return false;
    bool ok = problem_read_square(reader, &a);
    if (ok && a.rows != problem->friction.m)
        ok = problem_fail(reader, "a matrix of dimension times contacts rows before");
    if (ok) {
        double* b = lash_alloc((size_t)a.rows * sizeof(double));
        problem->friction.b = b;
        ok = problem_read_doubles(reader, a.rows, b, "an entry of q") &&
             read_friction_coefficients(reader, problem);
    }
    if (ok) problem_set_matrix(problem, &a);
    problem_free_matrix(&a);
    return ok;
}

static bool read_global(ProblemReader* reader, AppProblem* problem) {
    return read_contacts(reader, problem) && problem_read_global(reader, problem) &&
           read_friction_coefficients(reader, problem);
}

// One type code per block of rows: 0 complementarity, 2 joint, 3 and 4 friction with mu.
static bool read_types(ProblemReader* reader, AppProblem* problem, const ProblemMatrix* matrix,
                       uint8_t* kind, double* mu) {
    int contacts = 0;
    for (int i = 0; i < matrix->blocks; ++i) {
        int rows = matrix->bounds[i] - (i > 0 ? matrix->bounds[i - 1] : 0), type;
        if (!problem_read_int(reader, 0, 4, &type, "a problem type (0, 2, 3 or 4)")) return false;
        if (type == 0 || type == 2) {
            for (int k = 0; k < rows; ++k)
                kind[contacts++] = type == 2 ? LASH_CONTACT_BILATERAL : LASH_CONTACT_FRICTIONLESS;
            continue;
        }
        if (type == 1 || rows != type - 1)
            return problem_fail(reader, "a type that suits the block's rows");
        if (!problem_read_double(reader, mu + contacts, "a friction coefficient")) return false;
        if (mu[contacts] < 0)
            return problem_fail(reader, "a friction coefficient >= 0 before this");
        kind[contacts++] = (uint8_t)rows;
    }
    problem->friction.contacts = problem->units = contacts;
    return true;
}

static bool read_generic(ProblemReader* reader, AppProblem* problem) {
    ProblemMatrix a = {0};
    if (!problem_read_square(reader, &a)) {
        problem_free_matrix(&a);
        return false;
    }
    bool ok = a.storage == 1 || problem_fail(reader, "a block matrix before");
    ok = ok && (a.rows <= PROBLEM_MAX_ROWS || problem_fail(reader, "at most 60000 rows before"));
    double *b = lash_alloc((size_t)a.rows * sizeof(double)),
           *mu = lash_alloc((size_t)a.rows * sizeof(double));
    uint8_t* kind = lash_alloc((size_t)a.rows);
    problem->friction.b = b;
    problem->friction.mu = mu;
    problem->friction.kind = kind;
    ok = ok && problem_read_doubles(reader, a.rows, b, "an entry of q") &&
         read_types(reader, problem, &a, kind, mu);
    if (ok) problem_set_matrix(problem, &a);
    problem_free_matrix(&a);
    return ok;
}

static void set_mixed(AppProblem* problem, int n, double* A, double* b, uint8_t* free_rows) {
    problem->lcp = (LashLcpProblem){n, A, n, b, free_rows};
    problem->units = n;
}

static bool read_lcp(ProblemReader* reader, AppProblem* problem) {
    int n;
    ProblemMatrix a = {0};
    if (!problem_read_int(reader, 1, PROBLEM_MAX_SIZE, &n, "the size")) return false;
    bool ok = problem_read_square(reader, &a) &&
              (a.rows <= PROBLEM_MAX_LCP_ROWS || problem_fail(reader, "at most 3000 rows before"));
    if (ok) {
        double* b = lash_alloc((size_t)a.rows * sizeof(double));
        ok = problem_read_doubles(reader, a.rows, b, "an entry of q");
        set_mixed(problem, a.rows, problem_dense(&a), b, lash_alloc((size_t)a.rows));
    }
    problem_free_matrix(&a);
    return ok;
}

static bool read_mixed_blocks(ProblemReader* reader, int total, AppProblem* problem) {
    int bounds[1025], blocks = 0;
    if (!problem_read_int(reader, 0, 0, bounds, "block bounds from 0")) return false;
    while (bounds[blocks] < total) {
        if (blocks == 1024) return problem_fail(reader, "at most 1024 blocks");
        if (!problem_read_int(reader, bounds[blocks] + 1, total, bounds + blocks + 1,
                              "a block bound"))
            return false;
        blocks++;
    }
    uint8_t* free_rows = lash_alloc((size_t)total);
    double* b = lash_alloc((size_t)total * sizeof(double));
    ProblemMatrix a = {0};
    bool ok = true;
    for (int i = 0; ok && i < blocks; ++i) {
        int flag = 0;
        ok = problem_read_int(reader, 0, 1, &flag, "a flag 0 (equality) or 1 (complementarity)");
        for (int row = bounds[i]; row < bounds[i + 1]; ++row) free_rows[row] = flag == 0;
    }
    ok = ok && problem_read_square(reader, &a);
    if (ok && a.rows != total) ok = problem_fail(reader, "a matrix of n + m rows");
    ok = ok && problem_read_doubles(reader, total, b, "an entry of q");
    set_mixed(problem, total, ok ? problem_dense(&a) : NULL, b, free_rows);
    problem_free_matrix(&a);
    return ok;
}

// A(n x n) B(m x m) C(n x m) D(m x n) row by row, a, b.
static bool read_mixed_parts(ProblemReader* reader, int n, int m, AppProblem* problem) {
    int total = n + m, rows[4] = {n, m, n, m}, columns[4] = {n, m, m, n};
    int top[4] = {0, n, 0, n}, left[4] = {0, n, n, 0};
    if ((reader->end - reader->at) / 2 + 1 < (long)total * total)
        return problem_fail(reader, "(n + m)^2 numbers");
    double *A = lash_alloc((size_t)total * (size_t)total * sizeof(double)),
           *b = lash_alloc((size_t)total * sizeof(double));
    uint8_t* free_rows = lash_alloc((size_t)total);
    set_mixed(problem, total, A, b, free_rows);
    for (int k = 0; k < 4; ++k)
        for (int i = 0; i < rows[k]; ++i)
            for (int j = 0; j < columns[k]; ++j)
                if (!problem_read_double(reader,
                                         A + top[k] + i + (size_t)(left[k] + j) * (size_t)total,
                                         "an entry of A, B, C or D"))
                    return false;
    for (int i = 0; i < n; ++i) free_rows[i] = 1;
    return problem_read_doubles(reader, total, b, "an entry of a or b");
}

static bool read_mixed(ProblemReader* reader, AppProblem* problem) {
    int blocks, parts, n, m;
    if (!problem_read_int(reader, 0, 1, &blocks, "a storage flag 0 or 1")) return false;
    if (!problem_read_int(reader, 0, 1, &parts, "a storage flag 0 or 1")) return false;
    if (!problem_read_int(reader, 0, 3000, &n, "the number of equalities")) return false;
    if (!problem_read_int(reader, 0, 3000, &m, "the number of complementarities")) return false;
    if (n + m > PROBLEM_MAX_LCP_ROWS) return problem_fail(reader, "at most 3000 rows before");
    if (n + m == 0 || (blocks == 0 && parts == 0)) return problem_fail(reader, "at least one row");
    return blocks ? read_mixed_blocks(reader, n + m, problem)
                  : read_mixed_parts(reader, n, m, problem);
}

AppProblem* app_problem_parse(const char* text, size_t size, LashError* error) {
    static const struct {
        AppProblemLayout layout;
        bool (*read)(ProblemReader*, AppProblem*);
    } layouts[] = {{APP_LAYOUT_GLOBAL, read_global},
                   {APP_LAYOUT_FRICTION, read_friction},
                   {APP_LAYOUT_GENERIC, read_generic},
                   {APP_LAYOUT_LCP, read_lcp},
                   {APP_LAYOUT_MIXED, read_mixed}};
    static const char hdf5[] = "\x89HDF\r\n\x1a\n";
    LashError furthest = {0};
    const char* reached = NULL;
    if (size >= 8 && memcmp(text, hdf5, 8) == 0) {
        lash_error_set(error, LASH_ERROR_MODEL, "",
                       "is an HDF5 file; problems are read as text (docs/solvers.md)");
        return NULL;
    }
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; ++k) {
        LashError trial = {0};
        ProblemReader r = {text, text + size, text, &trial};
        AppProblem* problem = lash_alloc(sizeof *problem);
        problem->layout = layouts[k].layout;
        if (layouts[k].read(&r, problem)) return problem;
        app_problem_destroy(problem);
        bool local = layouts[k].layout == APP_LAYOUT_FRICTION; // begins like the global one
        if (reached == NULL || r.at > reached || (local && r.at == reached)) {
            reached = r.at;
            furthest = trial;
        }
    }
    lash_error_set(error, furthest.status, furthest.where, "%s", furthest.message);
    return NULL;
}

static const size_t LARGEST_FILE = 256 << 20; // [bytes]; its matrices take ten times as much

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
        if (used > LARGEST_FILE) break;
    }
    bool ok = ferror(file) == 0;
    fclose(file);
    text[used] = 0;
    *size = used;
    if (ok && used <= LARGEST_FILE) return text;
    lash_free(text);
    lash_error_set(error, LASH_ERROR_IO, "", ok ? "is larger than 256 MB" : "cannot be read");
    return NULL;
}

AppProblem* app_problem_load(const char* path, LashError* error) {
    size_t size = 0;
    char* text = read_file(path, &size, error);
    bool hdf5 = text != NULL && problem_is_fclib(text, size);
    if (hdf5) {
        lash_free(text);
        text = problem_fclib_text(path, &size, error);
    }
    AppProblem* problem = text != NULL ? app_problem_parse(text, size, error) : NULL;
    if (problem == NULL) lash_error_file(error, path);
    if (problem != NULL) problem->hdf5 = hdf5;
    lash_free(text);
    return problem;
}

void app_problem_destroy(AppProblem* problem) {
    if (problem == NULL) return;
    lash_free((void*)problem->friction.W);
    lash_free((void*)problem->friction.b);
    lash_free((void*)problem->friction.mu);
    lash_free((void*)problem->friction.kind);
    lash_free((void*)problem->lcp.A);
    lash_free((void*)problem->lcp.b);
    lash_free((void*)problem->lcp.free);
    problem_free_sparse(&problem->sparse);
    problem_free_global(problem->global);
    lash_free(problem);
}

AppProblem* app_problem_build(int contacts, const uint8_t* kind, const double* mu, const double* b,
                              int m, size_t count, const AppEntry* entries) {
    ProblemMatrix a = {.rows = m, .columns = m};
    for (size_t k = 0; k < count; ++k)
        problem_add_entry(&a, entries[k].row, entries[k].column, entries[k].value);
    AppProblem* problem = lash_alloc(sizeof *problem);
    double *b_copy = lash_alloc((size_t)m * sizeof(double)),
           *mu_copy = lash_alloc((size_t)contacts * sizeof(double));
    uint8_t* kind_copy = lash_alloc((size_t)contacts);
    memcpy(b_copy, b, (size_t)m * sizeof(double));
    memcpy(mu_copy, mu, (size_t)contacts * sizeof(double));
    memcpy(kind_copy, kind, (size_t)contacts);
    problem->friction.b = b_copy;
    problem->friction.mu = mu_copy;
    problem->friction.kind = kind_copy;
    problem->friction.contacts = problem->units = contacts;
    problem_set_matrix(problem, &a);
    problem_free_matrix(&a);
    return problem;
}
