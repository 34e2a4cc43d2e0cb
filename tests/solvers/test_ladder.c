// The order in which friction methods are tried: docs/solvers.md shows the table of
// solvers/cone/friction_ladder.c, and an answer names its rung.
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

#include "app/bench/problem_builtin.h"
#include "solvers/cone/friction_internal.h"

static const char* const where_text[] = {
    [WHERE_SMALL] = "up to 32 rows, dense",
    [WHERE_COLD] = "all, without a warm start",
    [WHERE_ANY] = "all",
    [WHERE_CONES] = "with friction",
    [WHERE_NO_CONES] = "without friction",
};
static const char* const start_text[] = {
    [START_WARM] = "warm start",
    [START_LATEST] = "the rung before",
    [START_ZERO] = "P = 0",
    [START_BEST] = "best so far",
};

// The table as docs/solvers.md has it.
static void print_ladder(char* text, size_t size) {
    size_t at = (size_t)snprintf(text, size,
                                 "| rung | method | problems | starts from | sweeps | steps |\n"
                                 "|---|---|---|---|---|---|\n");
    for (int i = 0; i < friction_ladder_count; ++i) {
        const Rung* rung = friction_ladder + i;
        char steps[64];
        const char* held = rung->slip == SLIP_HELD ? ", slip held" : "";
        int length = snprintf(steps, sizeof steps, "%d", rung->steps);
        if (rung->near > 0)
            snprintf(steps + length, sizeof steps - (size_t)length, ", near an answer %d more",
                     rung->near);
        at +=
            (size_t)snprintf(text + at, size - at, "| %d | %s%s | %s | %s | %d | %s |\n", i + 1,
                             lash_friction_method_name(rung->method), held, where_text[rung->where],
                             start_text[rung->start], rung->sweeps, steps);
    }
    assert_true(at < size);
}

static void the_manual_shows_the_ladder(void** state) {
    (void)state;
    static char manual[200000], ladder[8000];
    FILE* file = fopen(LASH_SOURCE_DIR "/docs/solvers.md", "r");
    assert_non_null(file);
    size_t length = fread(manual, 1, sizeof manual - 1, file);
    fclose(file);
    manual[length] = 0;
    print_ladder(ladder, sizeof ladder);
    if (strstr(manual, ladder) == NULL)
        print_message("docs/solvers.md, \"Which method when\": put this table there\n\n%s\n",
                      ladder);
    assert_non_null(strstr(manual, ladder));
}

// Small problems are answered by the first rungs, on the stack: they stand together.
static void rungs_for_small_problems_stand_first(void** state) {
    (void)state;
    bool small = true;
    for (int i = 0; i < friction_ladder_count; ++i) {
        bool now = friction_ladder[i].where == WHERE_SMALL;
        assert_true(small || !now);
        assert_true(now == (friction_ladder[i].method == LASH_FRICTION_STATUS));
        small = now;
    }
    assert_false(small);
}

static LashFrictionInfo solve(const LashFrictionProblem* problem, LashFrictionMethod method) {
    LashFrictionSettings settings = lash_friction_settings();
    settings.cold = true;
    settings.tolerance = 1e-10;
    settings.method = method;
    size_t m = (size_t)problem->m, size = lash_friction_work_size(problem->contacts, problem->m);
    double *P = calloc(m, sizeof *P), *U = calloc(m, sizeof *U);
    void* work = aligned_alloc(64, (size + 63) / 64 * 64);
    LashFrictionInfo info = lash_friction_solve(problem, &settings, P, U, work);
    free(P);
    free(U);
    free(work);
    return info;
}

static LashFrictionMethod method_of(AppProblem* problem, LashFrictionMethod asked) {
    LashFrictionInfo info = solve(&problem->friction, asked);
    assert_int_equal(info.outcome, LASH_CONVERGED);
    app_problem_destroy(problem);
    return info.method;
}

static void an_answer_names_its_rung(void** state) {
    (void)state;
    AppRandomProblem set = {.seed = 3, .contacts = 40, .bodies = 14, .rows = 3};
    LashFrictionMethod small = method_of(app_problem_slider(-3), LASH_FRICTION_DEFAULT);
    LashFrictionMethod large = method_of(app_problem_stack(20, 0.5), LASH_FRICTION_DEFAULT);
    LashFrictionMethod hard = method_of(app_problem_random(&set), LASH_FRICTION_ROBUST);
    set.rows = 1;
    LashFrictionMethod smooth = method_of(app_problem_random(&set), LASH_FRICTION_ROBUST);
    assert_string_equal(lash_friction_method_name(small), "status");
    assert_string_equal(lash_friction_method_name(large), "newton");
    assert_string_equal(lash_friction_method_name(hard), "interior");
    assert_string_equal(lash_friction_method_name(smooth), "pivoting");
}

// Blocks of their own: W = diag(2, 1, 1) for each contact, b pushes half of them together.
static AppProblem* apart(int contacts, double b_n) {
    AppEntry entry[3 * 50];
    uint8_t kind[50];
    double mu[50], b[3 * 50];
    assert_in_range(contacts, 1, 50);
    for (int i = 0; i < contacts; ++i) {
        kind[i] = LASH_CONTACT_SPATIAL;
        mu[i] = 0.3;
        for (int r = 0; r < 3; ++r)
            entry[3 * i + r] = (AppEntry){3 * i + r, 3 * i + r, r == 0 ? 2 : 1};
        b[3 * i] = i % 2 == 0 ? b_n : 1;
        b[3 * i + 1] = 0.5 * b_n;
        b[3 * i + 2] = -0.25 * b_n;
    }
    return app_problem_build(contacts, kind, mu, b, 3 * contacts, (size_t)(3 * contacts), entry);
}

static void contacts_that_do_not_feel_each_other_need_one_sweep(void** state) {
    (void)state;
    AppProblem* problem = apart(40, -1);
    LashFrictionInfo info = solve(&problem->friction, LASH_FRICTION_DEFAULT);
    assert_int_equal(info.outcome, LASH_CONVERGED);
    assert_string_equal(lash_friction_method_name(info.method), "gauss-seidel");
    assert_int_equal(info.iterations, 1);
    app_problem_destroy(problem);
}

// The residual of P = 0 is that of the independent check, in both measures; a warm start is not asked so.
static void nothing_is_an_answer_where_it_is_one_to_the_tolerance(void** state) {
    (void)state;
    for (int k = 0; k < 4; ++k) {
        AppProblem* problem = apart(k % 2 == 0 ? 6 : 40, k < 2 ? -1e-12 : -1e-8);
        double P[120], U[120];
        size_t size = lash_friction_work_size(problem->friction.contacts, problem->friction.m);
        void* work = aligned_alloc(64, (size + 63) / 64 * 64);
        for (int measure = 0; measure < 2; ++measure) {
            LashFrictionSettings settings = lash_friction_settings();
            settings.cold = true;
            settings.tolerance = 1e-10;
            settings.measure = measure == 0 ? LASH_MEASURE_VELOCITY : LASH_MEASURE_PLAIN;
            LashFrictionInfo info = lash_friction_solve(&problem->friction, &settings, P, U, work);
            assert_int_equal(info.outcome, LASH_CONVERGED);
            assert_int_equal(info.iterations == 0, k < 2);
            assert_int_equal(P[0] == 0, k < 2);
            double check = lash_friction_residual(&problem->friction, settings.measure, P, U);
            assert_true(fabs(info.residual - check) <= 1e-12 * check);
        }
        free(work);
        app_problem_destroy(problem);
    }
}

// The error at P = 0 is that of the check, for every kind of contact and inside, outside and opposite the cone.
static void the_error_of_no_impulse_is_that_of_the_check(void** state) {
    (void)state;
    enum { CONTACTS = 7 };
    uint64_t random = 1;
    double W[441] = {0}, b[21], mu[CONTACTS], P[21], U[21];
    uint8_t kind[CONTACTS];
    void* work = aligned_alloc(64, (lash_friction_work_size(CONTACTS, 21) + 63) / 64 * 64);
    for (int k = 0; k < 2000; ++k) {
        LashFrictionProblem problem = {
            .contacts = 1 + k % CONTACTS, .kind = kind, .mu = mu, .b = b, .W = W};
        for (int i = 0; i < problem.contacts; ++i) {
            kind[i] = (uint8_t)((k / 7 + i) % 4);
            mu[i] = 0.5 * ((k + i) % 3);
            problem.m += lash_contact_rows(kind[i]);
        }
        problem.ldw = problem.m;
        for (int i = 0; i < problem.m; ++i) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            b[i] = (double)(random >> 40) / (1 << 23) - 1;
            if (random >> 33 & 4) b[i] *= 0.1;
            for (int j = 0; j < problem.m; ++j) W[i + problem.m * j] = i == j ? 2 : 0;
        }
        LashFrictionSettings settings = lash_friction_settings();
        settings.cold = true;
        settings.tolerance = 10;
        settings.measure = k & 1 ? LASH_MEASURE_PLAIN : LASH_MEASURE_VELOCITY;
        LashFrictionInfo info = lash_friction_solve(&problem, &settings, P, U, work);
        assert_int_equal(info.iterations, 0);
        double check = lash_friction_residual(&problem, settings.measure, P, U);
        // Without lambda it is that of W = 1; the velocity measure is the same for every lambda.
        assert_true(fabs(info.residual - check) <= 1e-14 * (1 + check));
    }
    free(work);
}

// Without friction it is open whatever its tangential velocity is, also 0.
static void a_contact_that_parts_has_no_error(void** state) {
    (void)state;
    for (uint8_t kind = 1; kind <= 3; ++kind) {
        double W[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, b[3] = {1, 0, 0}, P[3] = {0}, U[3], mu = 0;
        LashFrictionProblem problem = {
            .contacts = 1, .m = kind, .kind = &kind, .mu = &mu, .b = b, .W = W, .ldw = kind};
        if (kind == 2) W[3] = 2;
        assert_true(lash_friction_residual(&problem, LASH_MEASURE_VELOCITY, P, U) == 0);
        double x[3] = {-1, 0, 0};
        friction_project(kind, 0, x);
        assert_true(x[0] == 0);
    }
}

// max_iterations holds for all rungs together, and for least squares, warm and cold.
static void the_work_allowed_is_not_exceeded(void** state) {
    (void)state;
    static const int allowed[] = {1, 3, 7, 20, 60, 200};
    int cut = 0;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        int contacts = 2 + (int)(seed % 40);
        AppRandomProblem random = {
            .seed = seed, .contacts = contacts, .bodies = 1 + contacts / 3, .rows = 3};
        AppProblem* problem = app_problem_random(&random);
        const LashFrictionProblem* f = &problem->friction;
        size_t m = (size_t)f->m, size = lash_friction_work_size(f->contacts, f->m);
        double *P = calloc(m, sizeof *P), *U = calloc(m, sizeof *U);
        double* least = calloc(friction_levenberg_size(f->contacts, f->m), sizeof *least);
        void* work = aligned_alloc(64, (size + 63) / 64 * 64);
        for (int k = 0; k < 12; ++k) {
            LashFrictionSettings settings = lash_friction_settings();
            settings.max_iterations = allowed[k / 2];
            settings.cold = k % 2 == 0;
            LashFrictionInfo info = lash_friction_solve(f, &settings, P, U, work);
            assert_in_range(info.iterations, 0, allowed[k / 2]);
            cut += info.outcome != LASH_CONVERGED;
            for (size_t j = 0; j < m; ++j) P[j] *= 1.5;
            if (f->W == NULL) continue;
            info =
                friction_levenberg(f, 0, 1e-12, 1e-12, allowed[k / 2], FRICTION_WARM, P, U, least);
            assert_in_range(info.iterations, 0, allowed[k / 2]);
        }
        free(P);
        free(U);
        free(least);
        free(work);
        app_problem_destroy(problem);
    }
    assert_true(cut > 60); // some were
}

// --- A light part between two heavy ones ---------------------------------------------------------

enum { JAM = 4, JAM_ROWS = 3 * JAM, JAM_UNKNOWNS = 18 };

// Row of a contact at x, y (z = 0) of the light part along d: it against the heavy part `other`.
static void jam_row(const double at[3], int other, const double d[3], double row[JAM_UNKNOWNS]) {
    static const double CENTER[3] = {0, -0.1,
                                     0.1}; // of the light part and the heavy ones, along x [m]
    memset(row, 0, JAM_UNKNOWNS * sizeof *row);
    for (int side = 0; side < 2; ++side) {
        int body = side == 0 ? 0 : other;
        double sign = side == 0 ? 1 : -1, r[3] = {at[0] - CENTER[body], at[1], at[2]};
        double* v = row + 6 * body;
        for (int k = 0; k < 3; ++k) {
            int p = (k + 1) % 3, q = (k + 2) % 3;
            v[k] = sign * d[k];
            v[3 + k] = sign * (r[p] * d[q] - r[q] * d[p]);
        }
    }
}

// A bar of 0.1 kg between two of `heavy` kg that come nearer, its ends held by two points each; the line between
// them lies inside both cones of friction, so that it jams: impulses are those of the heavy parts.
static void fill_jam(double heavy, double* W, double* b) {
    static const double TILT = 0.058,
                        END[3] = {0.05, 0.01, 0}; // of the normals [rad]; of the bar [m]
    static double G[JAM_ROWS][JAM_UNKNOWNS];
    double mass[3] = {0.1, heavy, heavy}, inertia[3] = {5e-4, 10.4e-4, 8.5e-4}; // of 1 kg [m^2]
    for (int c = 0; c < JAM; ++c) {
        double side = c < 2 ? -1 : 1, at[3] = {side * END[0], c % 2 ? END[1] : -END[1], 0};
        double d[3][3] = {{-side * cos(TILT), 0, -side * sin(TILT)},
                          {side * sin(TILT), 0, -side * cos(TILT)},
                          {0, 1, 0}};
        for (int r = 0; r < 3; ++r) jam_row(at, c < 2 ? 1 : 2, d[r], G[3 * c + r]);
        b[3 * c] = c < 2 ? -0.0094 : -0.0163;
        b[3 * c + 1] = c < 2 ? 0.27 : 0.43;
        b[3 * c + 2] = -3e-8;
    }
    for (int i = 0; i < JAM_ROWS; ++i)
        for (int j = 0; j < JAM_ROWS; ++j) {
            double sum = 0;
            for (int k = 0; k < JAM_UNKNOWNS; ++k) {
                double of = mass[k / 6] * (k % 6 < 3 ? 1 : inertia[k % 3]);
                sum += G[i][k] * G[j][k] / of;
            }
            W[i + JAM_ROWS * j] = sum;
        }
}

static void a_jam_is_solved_within_the_work_of_a_step(void** state) {
    (void)state;
    enum { ALLOWED = 170 }; // what least squares leave of 200
    double W[JAM_ROWS * JAM_ROWS], b[JAM_ROWS], P[JAM_ROWS] = {0}, U[JAM_ROWS], mu[JAM];
    uint8_t kind[JAM];
    void* work = aligned_alloc(64, (lash_friction_work_size(JAM, JAM_ROWS) + 63) / 64 * 64);
    for (int c = 0; c < JAM; ++c) {
        mu[c] = 0.1;
        kind[c] = LASH_CONTACT_SPATIAL;
    }
    for (double heavy = 1e3; heavy < 2e6; heavy *= 10) {
        fill_jam(heavy, W, b);
        LashFrictionProblem problem = {.contacts = JAM,
                                       .m = JAM_ROWS,
                                       .kind = kind,
                                       .mu = mu,
                                       .b = b,
                                       .W = W,
                                       .ldw = JAM_ROWS};
        LashFrictionSettings settings = lash_friction_settings();
        settings.tolerance = 1e-9;
        settings.max_iterations = ALLOWED;
        settings.cold = true;
        LashFrictionInfo info = lash_friction_solve(&problem, &settings, P, U, work);
        print_message("%g kg: %s, %d factors and sweeps, residual %g, impulse %g N s\n", heavy,
                      lash_friction_method_name(info.method), info.iterations, info.residual, P[0]);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        assert_true(P[0] > 1e-3 * heavy); // it jams
    }
    free(work);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manual_shows_the_ladder),
        cmocka_unit_test(rungs_for_small_problems_stand_first),
        cmocka_unit_test(an_answer_names_its_rung),
        cmocka_unit_test(contacts_that_do_not_feel_each_other_need_one_sweep),
        cmocka_unit_test(nothing_is_an_answer_where_it_is_one_to_the_tolerance),
        cmocka_unit_test(the_error_of_no_impulse_is_that_of_the_check),
        cmocka_unit_test(a_contact_that_parts_has_no_error),
        cmocka_unit_test(the_work_allowed_is_not_exceeded),
        cmocka_unit_test(a_jam_is_solved_within_the_work_of_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
