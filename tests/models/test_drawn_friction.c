// Friction problems drawn from steps of the mechanisms of models/scale are all solved to 1e-10: those
// kept as files (tests/data/friction, written by lash run --dump-friction), and fresh ones; with
// LASH_LONG_TESTS=1 a thousand.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "app/bench/problem_drawn.h"
#include "command.h"
#include "core/arena.h"
#include "test.h"

static const double TOLERANCE = 1e-10;

// Residual by the independent check after a cold start.
static double solved_to(const AppProblem* problem) {
    LashFrictionProblem f = problem->friction;
    double *P = lash_alloc((size_t)f.m * sizeof *P), *U = lash_alloc((size_t)f.m * sizeof *U);
    size_t size = (lash_friction_work_size(f.contacts, f.m) + 63) / 64 * 64;
    void* work = aligned_alloc(64, size);
    assert_non_null(work);
    LashFrictionSettings settings = lash_friction_settings();
    settings.tolerance = 0.5 * TOLERANCE; // W has rounding too
    settings.measure = LASH_MEASURE_PLAIN;
    settings.cold = true;
    lash_friction_solve(&f, &settings, P, U, work);
    double residual = app_problem_residual(problem, P);
    free(work);
    lash_free(P);
    lash_free(U);
    return residual;
}

static void kept_problems_are_solved(void** state) {
    (void)state;
    const char* folder = LASH_SOURCE_DIR "/tests/data/friction";
    int files = 0;
    DIR* listing = opendir(folder);
    assert_non_null(listing);
    for (const struct dirent* entry; (entry = readdir(listing)) != NULL;) {
        if (strstr(entry->d_name, ".dat") == NULL) continue;
        char path[700];
        LashError error = {0};
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        AppProblem* problem = app_problem_load(path, &error);
        if (problem == NULL) fail_msg("%s: %s", error.where, error.message);
        assert_int_equal(problem->layout, APP_LAYOUT_GLOBAL);
        double residual = solved_to(problem);
        if (!(residual <= TOLERANCE)) fail_msg("%s: residual %g", entry->d_name, residual);
        app_problem_destroy(problem);
        ++files;
    }
    closedir(listing);
    assert_true(files >= 16);
}

typedef struct Tally {
    int count, unsolved;
    double worst;
    bool of[APP_SCALE_MODELS];
} Tally;

static bool solve_drawn(void* context, const AppDrawn* drawn, LashError* error) { // AppDrawnEach
    Tally* tally = context;
    AppProblem* problem = app_problem_parse(drawn->text, drawn->bytes, error);
    if (problem == NULL) return false;
    double residual = solved_to(problem);
    app_problem_destroy(problem);
    ++tally->count;
    tally->unsolved += !(residual <= TOLERANCE);
    tally->worst = fmax(tally->worst, residual);
    tally->of[drawn->model] = true;
    return true;
}

static void problems_drawn_from_steps_are_solved(void** state) {
    (void)state;
    int count = getenv("LASH_LONG_TESTS") != NULL ? 1000 : 63;
    Tally tally = {0};
    LashError error = {0};
    if (!app_problems_draw(count, solve_drawn, &tally, &error))
        fail_msg("%s: %s", error.where, error.message);
    print_message("%d problems, worst residual %.1e\n", tally.count, tally.worst);
    assert_int_equal(tally.count, count);
    assert_int_equal(tally.unsolved, 0);
    for (int m = 0; m < APP_SCALE_MODELS; ++m) assert_true(tally.of[m]);
}

// Drawn, kept as files and read again: the same problems.
static void problems_drawn_are_kept_as_files(void** state) {
    (void)state;
    char folder[400], file[500];
    scratch_file("kept", folder, sizeof folder);
    Outcome drawn = LASH("bench", "solvers", "--drawn", "18", "--keep", folder);
    if (drawn.code != 0) fail_msg("exit code %d: %s", drawn.code, drawn.err);
    assert_non_null(strstr(drawn.out, "of 18 problems"));
    assert_non_null(strstr(drawn.out, "chain_play_8"));
    outcome_free(&drawn);
    snprintf(file, sizeof file, "%s/chain_play_8_0020.dat", folder);
    Outcome read = LASH("bench", "solvers", file, "--no-peer", "--tolerance", "1e-12");
    if (read.code != 0) fail_msg("exit code %d: %s", read.code, read.err);
    outcome_free(&read);
    Outcome wrong = LASH("bench", "solvers", "--keep", folder);
    assert_int_equal(wrong.code, 2);
    outcome_free(&wrong);
    wrong = LASH("bench", "solvers", "--drawn", "3", "--keep", "/dev/null/x");
    assert_int_equal(wrong.code, 7);
    outcome_free(&wrong);
}

// lash run writes them, lash bench solvers reads them.
static void a_run_writes_its_friction_problems(void** state) {
    (void)state;
    char folder[400], file[500], result[400];
    scratch_file("dumped", folder, sizeof folder);
    scratch_file("dumped.h5", result, sizeof result);
    Outcome run = LASH("run", LASH_SOURCE_DIR "/models/scale/chain_play_8.json", "--duration",
                       "2e-4", "--dump-friction", folder, "-o", result);
    if (run.code != 0) fail_msg("exit code %d: %s", run.code, run.err);
    outcome_free(&run);
    snprintf(file, sizeof file, "%s/friction_0000010.dat", folder);
    Outcome bench = LASH("bench", "solvers", file, "--no-peer", "--tolerance", "1e-10");
    if (bench.code != 0) fail_msg("exit code %d: %s", bench.code, bench.err);
    outcome_free(&bench);
    Outcome wrong = LASH("run", LASH_SOURCE_DIR "/models/scale/chain_play_8.json", "--duration",
                         "2e-4", "--dump-friction", "/dev/null/x", "-o", result);
    assert_int_equal(wrong.code, 7);
    assert_non_null(strstr(wrong.err, "is no folder"));
    outcome_free(&wrong);
}

RUN(TEST(kept_problems_are_solved), TEST(problems_drawn_from_steps_are_solved),
    TEST(problems_drawn_are_kept_as_files), TEST(a_run_writes_its_friction_problems))
