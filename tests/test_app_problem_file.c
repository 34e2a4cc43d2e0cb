// Reader of problem files: the three storages, every layout, and damaged files.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/problem_file.h"
#include "solvers/friction_internal.h"

static const char dense_text[] =
    "2 2\n0\n4\n4\n4 4\n2 0.5 1 0\n0.5 3 0 0\n1 0 2 0.25\n0 0 0.25 3\n-1 0.5\n-2 0\n0.3 0.4\n";
static const char block_text[] =
    "2 2\n1\n4\n4\n4 2 2\n2 4\n2 4\n3 4\n0 2 4\n0 1 0 1\n"
    "0\n2 0.5 0.5 3\n1\n1 0 0 0\n2\n1 0 0 0\n3\n2 0.25 0.25 3\n-1 0.5\n-2 0\n0.3 0.4\n";
static const char column_text[] =
    "2 2\n2\n4\n4\n2\nCSparse Version 3.1.9, some text\n4-by-4, nzmax: 10 nnz: 10, 1-norm: 3.5\n"
    "    col 0 : locations 0 to 2\n      0 : 2\n      1 : 0.5\n      2 : 1\n"
    "    col 1 : locations 3 to 4\n      0 : 0.5\n      1 : 3\n"
    "    col 2 : locations 5 to 7\n      0 : 1\n      2 : 2\n      3 : 0.25\n"
    "    col 3 : locations 8 to 9\n      2 : 0.25\n      3 : 3\n-1 0.5 -2 0\n0.3 0.4\n";
static const char triplet_text[] =
    "2 2\n2\n4\n4\n1\nCSparse Version 3.1.9, some text\ntriplet: 4-by-4, nzmax: 10 nnz: 11\n"
    "0 0 : 2\n1 0 : 0.5\n2 0 : 1\n0 1 : 0.5\n1 1 : 1\n1 1 : 2\n0 2 : 1\n2 2 : 2\n3 2 : 0.25\n"
    "2 3 : 0.25\n3 3 : 3\n-1 0.5 -2 0\n0.3 0.4\n";
static const char generic_text[] =
    "1\n5\n5\n3 3 3\n1 2 5\n1 2 5\n4 3\n0 1 2 3\n0 1 2\n0\n2\n1\n4\n2\n1 0 0 0 1 0 0 0 1\n"
    "-1 -2 -1 0.1 0.2\n2\n0\n4\n0.5\n";
static const char lcp_text[] = "2\n0\n2\n2\n2 2\n2 1 1 2\n-1 -1\nremark: free text follows\n";
static const char mixed_text[] =
    "1 1 1 1\n0 1 2\n0 1\n0\n2\n2\n2 2\n1 0\n-1 1\n-1 1\n1 1 -1 0 -1 1 0 1\n";
static const char parts_text[] = "0 1 1 2\n1\n1 1.5 0 1\n2 0\n0 0\n-1\n1 -3\n";

static AppProblem* parse(const char* text, LashError* error) {
    return app_problem_parse(text, strlen(text), error);
}

static AppProblem* parse_ok(const char* text, AppProblemLayout layout) {
    LashError error = {0};
    AppProblem* p = parse(text, &error);
    if (p == NULL) fail_msg("%s: %s", error.where, error.message);
    assert_int_equal(p->layout, layout);
    return p;
}

static void the_three_storages_hold_the_same_matrix(void** state) {
    (void)state;
    const char* texts[] = {dense_text, block_text, column_text, triplet_text};
    double expected[16] = {2, 0.5, 1, 0, 0.5, 3, 0, 0, 1, 0, 2, 0.25, 0, 0, 0.25, 3};
    for (int k = 0; k < 4; ++k) {
        AppProblem* p = parse_ok(texts[k], APP_LAYOUT_FRICTION);
        assert_int_equal(p->friction.contacts, 2);
        assert_int_equal(p->friction.m, 4);
        assert_memory_equal(p->friction.W, expected, sizeof expected);
        assert_true(p->friction.b[2] == -2 && p->friction.mu[1] == 0.4 && p->friction.kind[0] == 2);
        app_problem_destroy(p);
    }
}

static void dense_matrices_are_column_major(void** state) {
    (void)state;
    AppProblem* p = parse_ok("2 1 0 2 2 2 2  1 2  3 4  0 0  0.1", APP_LAYOUT_FRICTION);
    assert_true(p->friction.W[1] == 2 && p->friction.W[2] == 3);
    app_problem_destroy(p);
}

static void generic_lcp_and_mixed_layouts_are_recognised(void** state) {
    (void)state;
    AppProblem* p = parse_ok(generic_text, APP_LAYOUT_GENERIC);
    assert_int_equal(p->friction.contacts, 3);
    assert_int_equal(p->friction.kind[0], LASH_CONTACT_BILATERAL);
    assert_int_equal(p->friction.kind[1], LASH_CONTACT_FRICTIONLESS);
    assert_int_equal(p->friction.kind[2], LASH_CONTACT_SPATIAL);
    assert_true(p->friction.mu[2] == 0.5);
    app_problem_destroy(p);
    p = parse_ok(lcp_text, APP_LAYOUT_LCP);
    assert_int_equal(p->mixed.lcp.n, 2);
    app_problem_destroy(p);
    p = parse_ok(mixed_text, APP_LAYOUT_MIXED);
    assert_true(p->mixed.free[0] == 1 && p->mixed.free[1] == 0 && p->mixed.lcp.A[2] == -1);
    app_problem_destroy(p);
    p = parse_ok(parts_text, APP_LAYOUT_MIXED);
    assert_int_equal(p->mixed.lcp.n, 3);
    assert_true(p->mixed.lcp.A[1 + 2 * 3] == 1.5 && p->mixed.lcp.A[0 + 1 * 3] == 2);
    app_problem_destroy(p);
}

static void errors_name_line_and_expectation(void** state) {
    (void)state;
    LashError error = {0};
    assert_null(parse("2 2\n0\n4\n4\n4 4\n2 0.5 1 zero\n", &error));
    assert_int_equal(error.status, LASH_ERROR_MODEL);
    assert_string_equal(error.where, "line 6");
    assert_non_null(strstr(error.message, "entry of the matrix"));
    assert_non_null(strstr(error.message, "zero"));
    LashError empty = {0};
    assert_null(parse("", &empty));
    assert_int_equal(empty.status, LASH_ERROR_MODEL);
    LashError negative = {0};
    assert_null(parse("2 1 0 2 2 2 2  1 2  3 4  0 0  -0.1", &negative));
    assert_non_null(strstr(negative.message, "friction coefficient"));
    LashError missing = {0};
    assert_null(app_problem_load("/nonexistent/file.dat", &missing));
    assert_int_equal(missing.status, LASH_ERROR_IO);
    assert_string_equal(missing.file, "/nonexistent/file.dat");
}

// Whatever is read must be a problem that the solver accepts.
static void use(AppProblem* p) {
    if (p->layout <= APP_LAYOUT_GENERIC && p->friction.m <= 64) {
        size_t size = (lash_friction_work_size(p->friction.contacts, p->friction.m) + 63) / 64 * 64;
        void* work = aligned_alloc(64, size);
        double P[64], U[64];
        LashFrictionSettings s = lash_friction_settings();
        s.cold = true, s.max_iterations = 20;
        lash_friction_solve(&p->friction, &s, P, U, work);
        free(work);
    }
    if (p->friction.sparse != NULL) lash_block_sparse_check(p->friction.sparse);
    app_problem_destroy(p);
}

static void truncated_files_are_rejected_or_complete(void** state) {
    (void)state;
    const char* texts[] = {dense_text, block_text, column_text,  triplet_text,
                           lcp_text,   mixed_text, generic_text, parts_text};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; ++k)
        for (size_t n = 0; n < strlen(texts[k]); ++n) {
            char* copy = strndup(texts[k], n);
            LashError error = {0};
            AppProblem* p = app_problem_parse(copy, n, &error);
            if (p != NULL)
                use(p);
            else
                assert_true(error.status == LASH_ERROR_MODEL && error.message[0] != 0);
            free(copy);
        }
}

static void damaged_files_never_crash(void** state) {
    (void)state;
    const char* texts[] = {dense_text, block_text, column_text,  triplet_text,
                           lcp_text,   mixed_text, generic_text, parts_text};
    const char pool[] = "0123456789.-+eE \n:abx\t";
    uint64_t seed = 42;
    for (int trial = 0; trial < 20000; ++trial) {
        char* copy = strdup(texts[trial % 8]);
        size_t size = strlen(copy);
        for (int edit = 0; edit < 1 + trial % 4; ++edit) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            copy[(seed >> 33) % size] = pool[(seed >> 20) % (sizeof pool - 1)];
        }
        LashError error = {0};
        AppProblem* p = app_problem_parse(copy, size, &error);
        if (p != NULL) app_problem_destroy(p);
        free(copy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_three_storages_hold_the_same_matrix),
        cmocka_unit_test(dense_matrices_are_column_major),
        cmocka_unit_test(generic_lcp_and_mixed_layouts_are_recognised),
        cmocka_unit_test(errors_name_line_and_expectation),
        cmocka_unit_test(truncated_files_are_rejected_or_complete),
        cmocka_unit_test(damaged_files_never_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
