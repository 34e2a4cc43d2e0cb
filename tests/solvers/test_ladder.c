// The order in which friction methods are tried: docs/solvers.md shows the table of
// solvers/cone/friction_ladder.c, and an answer names its rung.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manual_shows_the_ladder),
        cmocka_unit_test(rungs_for_small_problems_stand_first),
        cmocka_unit_test(an_answer_names_its_rung),
        cmocka_unit_test(contacts_that_do_not_feel_each_other_need_one_sweep),
        cmocka_unit_test(nothing_is_an_answer_where_it_is_one_to_the_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
