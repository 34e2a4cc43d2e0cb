// FCLIB files, written here with the HDF5 library: local and global, in each storage of matrices; damaged
// and hostile ones.
#include <hdf5.h>
#include <math.h>
#include <unistd.h>

#include "app/bench/problem_file.h"
#include "command.h"
#include "core/arena.h"
#include "test.h"

static void put(hid_t at, const char* name, hid_t type, const void* numbers, hsize_t count) {
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t data = H5Dcreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(data >= 0);
    assert_true(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
    H5Dclose(data);
    H5Sclose(space);
}

static void put_int(hid_t at, const char* name, int value) {
    put(at, name, H5T_NATIVE_INT, &value, 1);
}

typedef struct Matrix {
    int m, n, nz; // nz as FCLIB: -1 by columns, -2 by rows, else a list
    int p[8], i[8];
    double x[8];
    int ps, xs;
} Matrix;

static void put_matrix(hid_t root, const char* name, const Matrix* matrix) {
    hid_t at = H5Gcreate2(root, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_int(at, "m", matrix->m);
    put_int(at, "n", matrix->n);
    put_int(at, "nz", matrix->nz);
    put_int(at, "nzmax", matrix->xs);
    put(at, "p", H5T_NATIVE_INT, matrix->p, (hsize_t)matrix->ps);
    put(at, "i", H5T_NATIVE_INT, matrix->i, (hsize_t)matrix->xs);
    put(at, "x", H5T_NATIVE_DOUBLE, matrix->x, (hsize_t)matrix->xs);
    H5Gclose(at);
}

// W = [2 0 0.5; 0 3 0; 0.5 0 4] in the three storages.
static const Matrix by_columns = {3, 3, -1, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {2, 0.5, 3, 0.5, 4},
                                  4, 5};
static const Matrix by_rows = {3, 3, -2, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {2, 0.5, 3, 0.5, 4}, 4, 5};
static const Matrix listed = {3, 3, 5, {0, 0, 1, 2, 2}, {0, 2, 1, 0, 2}, {2, 0.5, 3, 0.5, 4}, 5, 5};

typedef struct Local { // what a file is made of; NULL and 0: as it should be
    const Matrix* W;
    int dimension, contacts, joints;
    const char* without; // a vector that is left out
} Local;

static const char* local_file(const Local* local, char* path, size_t size) {
    static const double q[3] = {-1, 0.2, 0.3}, mu[2] = {0.4, 0.4};
    hid_t file =
        H5Fcreate(scratch_file("local.hdf5", path, size), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t root = H5Gcreate2(file, "fclib_local", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_int(root, "spacedim", local->dimension != 0 ? local->dimension : 3);
    put_matrix(root, "W", local->W != NULL ? local->W : &by_columns);
    if (local->joints != 0) put_matrix(root, "V", &by_columns);
    hid_t vectors = H5Gcreate2(root, "vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool all = local->without == NULL;
    if (all || strcmp(local->without, "q") != 0) put(vectors, "q", H5T_NATIVE_DOUBLE, q, 3);
    if (all || strcmp(local->without, "mu") != 0)
        put(vectors, "mu", H5T_NATIVE_DOUBLE, mu,
            local->contacts != 0 ? (hsize_t)local->contacts : 1);
    H5Gclose(vectors);
    H5Gclose(root);
    H5Fclose(file);
    return path;
}

static void local_problems_are_read_in_every_storage(void** state) {
    (void)state;
    const Matrix* storage[] = {&by_columns, &by_rows, &listed};
    for (int k = 0; k < 3; ++k) {
        char path[400];
        LashError error = {0};
        AppProblem* problem =
            app_problem_load(local_file(&(Local){.W = storage[k]}, path, sizeof path), &error);
        if (problem == NULL) fail_msg("%s: %s", error.where, error.message);
        const LashFrictionProblem* f = &problem->friction;
        assert_true(problem->hdf5 && problem->layout == APP_LAYOUT_FRICTION);
        assert_int_equal(f->contacts, 1);
        assert_true(f->W[0] == 2 && f->W[2] == 0.5 && f->W[1 + f->ldw] == 3);
        assert_true(f->W[2 + 2 * f->ldw] == 4 && f->W[2 * f->ldw] == 0.5);
        assert_true(f->b[0] == -1 && f->b[2] == 0.3 && f->mu[0] == 0.4);
        app_problem_destroy(problem);
    }
}

// M = diag(2, 2, 4), H = [1 0 0; 0 1 0; 0 0 2], so W = diag(0.5, 0.5, 1).
static void global_problems_are_read_and_solved(void** state) {
    (void)state;
    static const Matrix M = {3, 3, 3, {0, 1, 2}, {0, 1, 2}, {2, 2, 4}, 3, 3};
    static const Matrix H = {3, 3, -2, {0, 1, 2, 3}, {0, 1, 2}, {1, 1, 2}, 4, 3};
    static const double f[3] = {-4, 1, 2}, w[3] = {0.5, 0, 0}, mu = 0.3;
    char path[400];
    hid_t file = H5Fcreate(scratch_file("global.hdf5", path, sizeof path), H5F_ACC_TRUNC,
                           H5P_DEFAULT, H5P_DEFAULT);
    hid_t root = H5Gcreate2(file, "fclib_global", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_int(root, "spacedim", 3);
    put_matrix(root, "M", &M);
    put_matrix(root, "H", &H);
    hid_t vectors = H5Gcreate2(root, "vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put(vectors, "f", H5T_NATIVE_DOUBLE, f, 3);
    put(vectors, "w", H5T_NATIVE_DOUBLE, w, 3);
    put(vectors, "mu", H5T_NATIVE_DOUBLE, &mu, 1);
    H5Gclose(vectors);
    H5Gclose(root);
    H5Fclose(file);
    LashError error = {0};
    AppProblem* problem = app_problem_load(path, &error);
    if (problem == NULL) fail_msg("%s: %s", error.where, error.message);
    const LashFrictionProblem* friction = &problem->friction;
    assert_true(problem->layout == APP_LAYOUT_GLOBAL);
    assert_true(fabs(friction->W[0] - 0.5) < 1e-15);
    assert_true(fabs(friction->W[2 + 2 * friction->ldw] - 1) < 1e-15);
    assert_true(fabs(friction->b[0] - (0.5 - 2)) < 1e-15 && fabs(friction->b[2] - 1) < 1e-15);
    app_problem_destroy(problem);
    Outcome o = LASH("bench", "solvers", path, "--shares", "--no-peer", "--tolerance", "1e-12");
    if (o.code != 0) fail_msg("exit code %d: %s", o.code, o.err);
    assert_non_null(strstr(o.out, "Signorini"));
    assert_non_null(strstr(o.out, "100.0 %  of 1 problem"));
    outcome_free(&o);
}

static void refused(const char* path, const char* words) {
    Outcome o = LASH("bench", "solvers", path, "--no-peer");
    if (o.code != LASH_ERROR_MODEL || strstr(o.err, words) == NULL)
        fail_msg("exit code %d, expected '%s' in: %s", o.code, words, o.err);
    outcome_free(&o);
}

static void hostile_files_are_refused_with_the_reason(void** state) {
    (void)state;
    static const Matrix outside = {3, 3, 2, {0, 1}, {0, 7}, {1, 1}, 2, 2};
    static const Matrix negative = {3, 3, 2, {0, -1}, {0, 1}, {1, 1}, 2, 2};
    static const Matrix few = {3, 3, 5, {0, 1}, {0, 1}, {1, 1}, 2, 2};
    static const Matrix odd = {3, 3, -3, {0, 1}, {0, 1}, {1, 1}, 2, 2};
    static const Matrix falling = {3, 3, -1, {0, 2, 1, 2}, {0, 1}, {1, 1}, 4, 2};
    static const Matrix beyond = {3, 3, -1, {0, 1, 2, 9}, {0, 1}, {1, 1}, 4, 2};
    static const Matrix little = {3, 3, -1, {0, 1}, {0, 1}, {1, 1}, 2, 2};
    static const Matrix empty = {0, 3, 0, {0}, {0}, {0}, 1, 1};
    static const Matrix huge = {2000000000, 3, 0, {0}, {0}, {0}, 1, 1};
    static const Matrix other = {2, 2, 2, {0, 1}, {0, 1}, {1, 1}, 2, 2};
    static const struct {
        Local local;
        const char* words;
    } cases[] = {
        {{.W = &outside}, "index outside"},
        {{.W = &negative}, "index outside"},
        {{.W = &few}, "fewer entries"},
        {{.W = &odd}, "nz: expected"},
        {{.W = &falling}, "ascending"},
        {{.W = &beyond}, "ascending"},
        {{.W = &little}, "too short"},
        {{.W = &empty}, "rows and columns"},
        {{.W = &huge}, "rows and columns"},
        {{.W = &other}, "W: has another size"},
        {{.contacts = 2}, "W: has another size"},
        {{.dimension = 7}, "the dimension 2 or 3"},
        {{.without = "q"}, "vectors/q: is missing"},
        {{.without = "mu"}, "vectors/mu: is missing"},
        {{.joints = 1}, "joint rows"},
    };
    char path[400];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        refused(local_file(&cases[k].local, path, sizeof path), cases[k].words);
    H5Fclose(H5Fcreate(scratch_file("empty.hdf5", path, sizeof path), H5F_ACC_TRUNC, H5P_DEFAULT,
                       H5P_DEFAULT));
    refused(path, "no group fclib_local or fclib_global");
}

// A file that is cut anywhere is refused, or complete.
static void files_that_are_cut_off_are_refused(void** state) {
    (void)state;
    char path[400];
    local_file(&(Local){0}, path, sizeof path);
    FILE* file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fclose(file);
    for (long cut = size - 1; cut > 8; cut -= size / 7) {
        assert_int_equal(truncate(path, cut), 0);
        LashError error = {0};
        AppProblem* problem = app_problem_load(path, &error);
        assert_true(problem == NULL && error.status == LASH_ERROR_MODEL);
    }
}

RUN(TEST(local_problems_are_read_in_every_storage), TEST(global_problems_are_read_and_solved),
    TEST(hostile_files_are_refused_with_the_reason), TEST(files_that_are_cut_off_are_refused))
