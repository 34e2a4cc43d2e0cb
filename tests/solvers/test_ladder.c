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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manual_shows_the_ladder),
        cmocka_unit_test(rungs_for_small_problems_stand_first),
        cmocka_unit_test(an_answer_names_its_rung),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
