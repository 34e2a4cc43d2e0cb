// Reader of problem files: the three storages, every layout, and damaged files.
#include "test.h"

#include "app/bench/problem_builtin.h"
#include "app/bench/problem_file.h"
#include "solvers/cone/friction_internal.h"

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

// Two bodies in the plane (masses 2 and 4, no rotation), one contact between them and one of the
// second with the ground: M and H in different storages.
static const char global_text[] =
    "2 2\n2\n4\n4\n1\nCSparse Version 3.1.9, some text\ntriplet: 4-by-4, nzmax: 4 nnz: 4\n"
    "0 0 : 2\n3 3 : 4\n1 1 : 2\n2 2 : 4\n"
    "0\n4\n4\n4 4\n1 0 -1 0\n0 1 0 -1\n0 0 1 0\n0 0 0 1\n"
    "-2 0.5 -4 1\n0.25 0 0 0.125\n0.3 0.4\n";

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
    assert_int_equal(p->lcp.n, 2);
    app_problem_destroy(p);
    p = parse_ok(mixed_text, APP_LAYOUT_MIXED);
    assert_true(p->lcp.free[0] == 1 && p->lcp.free[1] == 0 && p->lcp.A[2] == -1);
    app_problem_destroy(p);
    p = parse_ok(parts_text, APP_LAYOUT_MIXED);
    assert_int_equal(p->lcp.n, 3);
    assert_true(p->lcp.A[1 + 2 * 3] == 1.5 && p->lcp.A[0 + 1 * 3] == 2);
    app_problem_destroy(p);
}

static void a_global_problem_is_reduced_to_its_contacts(void** state) {
    (void)state;
    AppProblem* p = parse_ok(global_text, APP_LAYOUT_GLOBAL);
    // H' M^-1 H with 1/2 + 1/4, -1/4 and 1/4; b + H' M^-1 q with M^-1 q = (-1, 1/4, -1, 1/4)
    double W[16] = {0.75, 0, -0.25, 0, 0, 0.75, 0, -0.25, -0.25, 0, 0.25, 0, 0, -0.25, 0, 0.25};
    double b[4] = {0.25, 0, -1, 0.375};
    assert_int_equal(p->friction.contacts, 2);
    assert_int_equal(p->friction.m, 4);
    for (int i = 0; i < 16; ++i) assert_true(fabs(p->friction.W[i] - W[i]) < 1e-15);
    for (int i = 0; i < 4; ++i) assert_true(fabs(p->friction.b[i] - b[i]) < 1e-15);
    assert_true(p->friction.mu[0] == 0.3 && p->friction.mu[1] == 0.4);
    double P[4], U[4];
    void* work = aligned_alloc(64, (lash_friction_work_size(2, 4) + 63) / 64 * 64);
    LashFrictionSettings s = lash_friction_settings();
    s.cold = true;
    s.measure = LASH_MEASURE_PLAIN;
    assert_int_equal(lash_friction_solve(&p->friction, &s, P, U, work).outcome, LASH_CONVERGED);
    assert_true(P[2] > 3); // the second body lands
    assert_true(app_problem_residual(p, P) < 1e-14);
    P[2] += 1e-3;
    assert_true(app_problem_residual(p, P) > 1e-5);
    free(work);
    app_problem_destroy(p);
}

// A chain of masses coupled by M, in shuffled rows, against the solution by dense elimination.
static void masses_that_are_coupled_are_factorised_sparsely(void** state) {
    (void)state;
    enum { N = 60, M = 4 };
    static char text[65536];
    int used = snprintf(text, sizeof text,
                        "2 2\n2\n%d\n%d\n1\nCSparse\ntriplet: %d-by-%d, nzmax: 999 nnz: %d\n", N, N,
                        N, N, 3 * N - 4);
    for (int i = 0; i < N; ++i) { // two chains of N / 2; row i stands at place 7 i mod N
        int to = 7 * i % N;
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "%d %d : %d\n", to, to, 3 + i % 5);
        if (i % (N / 2) == N / 2 - 1) continue;
        int next = 7 * (i + 1) % N;
        used += snprintf(text + used, sizeof text - (size_t)used, "%d %d : -1\n%d %d : -1\n", to,
                         next, next, to);
    }
    used += snprintf(text + used, sizeof text - (size_t)used, "0\n%d\n%d\n%d %d\n", N, M, N, M);
    for (int j = 0; j < M; ++j)
        for (int i = 0; i < N; ++i)
            used +=
                snprintf(text + used, sizeof text - (size_t)used, "%d ", (i * 3 + j * 5) % 7 == 0);
    for (int i = 0; i < N + M; ++i)
        used += snprintf(text + used, sizeof text - (size_t)used, "%d ", i % 4 - 2);
    snprintf(text + used, sizeof text - (size_t)used, "0.5 0.5\n");
    AppProblem* p = parse_ok(text, APP_LAYOUT_GLOBAL);
    double A[N][N + M + 1] = {{0}}; // M | H | q, eliminated
    for (int i = 0; i < N; ++i) {
        int to = 7 * i % N, next = 7 * (i + 1) % N;
        A[to][to] = 3 + i % 5;
        if (i % (N / 2) != N / 2 - 1) A[to][next] = A[next][to] = -1;
    }
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < M; ++j) A[i][N + j] = (i * 3 + j * 5) % 7 == 0;
        A[i][N + M] = i % 4 - 2;
    }
    for (int k = 0; k < N; ++k)
        for (int i = 0; i < N; ++i) {
            double f = i == k ? 0 : A[i][k] / A[k][k];
            for (int j = k; f != 0 && j <= N + M; ++j) A[i][j] -= f * A[k][j];
        }
    for (int a = 0; a < M; ++a)
        for (int c = 0; c <= M; ++c) {
            double sum = c == M ? (N + a) % 4 - 2 : 0;
            for (int i = 0; i < N; ++i)
                if ((i * 3 + a * 5) % 7 == 0) sum += A[i][N + c] / A[i][i];
            double got = c == M ? p->friction.b[a] : p->friction.W[a + c * M];
            assert_true(fabs(got - sum) < 1e-12);
        }
    app_problem_destroy(p);
}

static void refused(const char* text, const char* word) {
    LashError error = {0};
    AppProblem* p = parse(text, &error);
    if (p != NULL) fail_msg("accepted: %s", text);
    assert_int_equal(error.status, LASH_ERROR_MODEL);
    if (strstr(error.message, word) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", word, error.message);
}

// A global problem whose M has as many rows as its contacts begins like a local one.
static void numbers_that_nobody_reads_are_refused(void** state) {
    (void)state;
    refused("2 1 0 2 2 2 2  1 0 0 1  -1 0  0.3  0.4", "end of the file");
    refused("2 1 0 2 2 2 2  1 0 0 1  -1 0  0.3  1 1", "end of the file");
    refused("2 1 0 2 2 2 2  1 0 0 1  0 2 2 2 2  1 0 0 x", "entry of the matrix");
    refused("2 1 0 2 2 2 2  1 0 0 1  0 2 2 2 2  1 0 0 1  -1 0  0 0", "friction coefficient");
    app_problem_destroy(parse_ok("2 1 0 2 2 2 2  1 0 0 1  -1 0  0.3 1\n", APP_LAYOUT_FRICTION));
    app_problem_destroy(parse_ok("2 1 0 2 2 2 2  1 0 0 1  0 2 2 2 2  1 0 0 1  -1 0  0 0  0.3 0\n",
                                 APP_LAYOUT_GLOBAL));
}

static void what_cannot_be_solved_is_refused_with_the_reason(void** state) {
    (void)state;
    refused("2 1 0 2 2 2 2  1 1 1 1  0 2 2 2 2  1 0 0 1  -1 0  0 0  0.3", "regular matrix M");
    refused("2 1 0 2 2 2 2  1 0 0 1  0 3 2 3 2  1 0 0 1 0 0  -1 0  0 0  0.3", "rows of M");
    refused("2 1 0 2 2 2 2  1e200 0 0 1  -1 0  0.3", "up to 1e30");
    refused("2 1 0 2 2 2 2  1 0 0 1  -1e99 0  0.3", "up to 1e30");
    refused("2 1 0 2 2 2 2  1 0 0 1  nan 0  0.3", "entry of q");
    refused("2 1 0 2 2 2 2  1 0 0 1  -1 0  inf", "friction coefficient");
    refused("3 1000000 2 3000000 3000000 1\n", "number of contacts");
    refused("5 0 2000000 2000000 2000000 2000000 1", "number of rows");
    refused("1 0 4000 4000 4000 4000 1", "entry of the matrix");
    refused("4000 2 4000 4000 1\nCSparse\ntriplet: 4000-by-4000, nzmax: 1 nnz: 0\n0", "3000 rows");
    refused("2 1 2 2 2 1\nCSparse\ntriplet: 2-by-2, nzmax: 1 nnz: 99999999\n0 0 : 1\n",
            "row index");
    refused("2 1 2 2 2 1\nCSparse\ntriplet: 2-by-2, nzmax: 1 nnz: 1\n0 2 : 1\n", "column index");
    refused("\x01\x02", "byte 0x01");
    refused("\x89HDF\r\n\x1a\n and more", "HDF5");
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

// Whatever is read must be a problem that the solver accepts, and what it calls solved must be.
static void use(AppProblem* p) {
    const LashFrictionProblem* f = &p->friction;
    double x[64], y[64];
    if (f->contacts > 0 && f->m <= 64) {
        void* work = aligned_alloc(64, (lash_friction_work_size(f->contacts, f->m) + 63) / 64 * 64);
        LashFrictionSettings s = lash_friction_settings();
        s.cold = true;
        s.max_iterations = 20;
        s.measure = LASH_MEASURE_PLAIN;
        LashFrictionInfo info = lash_friction_solve(f, &s, x, y, work);
        double residual = app_problem_residual(p, x);
        assert_true(isfinite(residual));
        if (info.outcome == LASH_CONVERGED && p->global == NULL)
            assert_true(residual <= s.tolerance);
        free(work);
    }
    if (f->sparse != NULL) lash_block_sparse_check(f->sparse);
    int n = p->lcp.n;
    if (n > 0 && n <= 64) {
        void* work = malloc(lash_lcp_work_size(n));
        LashLcpSettings s = lash_lcp_settings();
        LashLcpInfo info = lash_lcp_solve(&p->lcp, &s, x, y, work);
        double residual = lash_lcp_residual(&p->lcp, x, y);
        assert_true(isfinite(residual));
        assert_true((info.outcome == LASH_CONVERGED) == (residual <= s.tolerance));
        free(work);
    }
    app_problem_destroy(p);
}

static void truncated_files_are_rejected_or_complete(void** state) {
    (void)state;
    const char* texts[] = {dense_text, block_text,   column_text, triplet_text, lcp_text,
                           mixed_text, generic_text, parts_text,  global_text};
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
    const char* texts[] = {dense_text, block_text,   column_text, triplet_text, lcp_text,
                           mixed_text, generic_text, parts_text,  global_text};
    const char pool[] = "0123456789.-+eE \n:abx\t";
    uint64_t seed = 42;
    for (int trial = 0; trial < 20000; ++trial) {
        char* copy = strdup(texts[trial % 9]);
        size_t size = strlen(copy);
        for (int edit = 0; edit < 1 + trial % 4; ++edit) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            copy[(seed >> 33) % size] = pool[(seed >> 20) % (sizeof pool - 1)];
        }
        LashError error = {0};
        AppProblem* p = app_problem_parse(copy, size, &error);
        if (p != NULL) use(p);
        free(copy);
    }
}

// Dense (slider, not symmetric to the last digit) and in blocks (stack): what is written is read as the same problem,
// and its storage is one that Siconos reads, too.
static void a_problem_written_is_read_again(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        AppProblem* problem = k == 0 ? app_problem_slider(-3) : app_problem_stack(12, 0.5);
        LashFrictionProblem* f = &problem->friction;
        assert_int_equal(f->W != NULL, k == 0);
        assert_true(app_friction_can_write(f));
        char* text = NULL;
        size_t bytes = 0;
        FILE* file = open_memstream(&text, &bytes);
        app_friction_write(f, file);
        fclose(file);
        int dimension, contacts, storage;
        assert_int_equal(sscanf(text, "%d %d %d", &dimension, &contacts, &storage), 3);
        assert_int_equal(storage, k);
        LashError error = {0};
        AppProblem* again = app_problem_parse(text, bytes, &error);
        if (again == NULL) fail_msg("%s: %s", error.where, error.message);
        assert_int_equal(again->friction.contacts, f->contacts);
        double P[3 * 48], U[3 * 48], U_again[3 * 48];
        assert_in_range(f->m, 1, 3 * 48);
        for (int i = 0; i < f->m; ++i) P[i] = 1.0 / (1 + i);
        double residual = lash_friction_residual(f, LASH_MEASURE_PLAIN, P, U);
        double same = lash_friction_residual(&again->friction, LASH_MEASURE_PLAIN, P, U_again);
        assert_memory_equal(U, U_again, (size_t)f->m * sizeof *U);
        assert_memory_equal(&residual, &same, sizeof same);
        free(text);
        app_problem_destroy(problem);
        app_problem_destroy(again);
    }
}

RUN(TEST(the_three_storages_hold_the_same_matrix), TEST(dense_matrices_are_column_major),
    TEST(generic_lcp_and_mixed_layouts_are_recognised),
    TEST(a_global_problem_is_reduced_to_its_contacts),
    TEST(masses_that_are_coupled_are_factorised_sparsely),
    TEST(numbers_that_nobody_reads_are_refused),
    TEST(what_cannot_be_solved_is_refused_with_the_reason), TEST(errors_name_line_and_expectation),
    TEST(truncated_files_are_rejected_or_complete), TEST(damaged_files_never_crash),
    TEST(a_problem_written_is_read_again))
