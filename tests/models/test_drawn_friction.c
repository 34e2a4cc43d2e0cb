// Friction problems drawn from steps of the mechanisms of models/scale are all solved to 1e-10: those
// kept as files (tests/data/friction, written by lash run --dump-friction), and fresh ones; with
// LASH_LONG_TESTS=1 a thousand.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "app/bench/bench_scale.h"
#include "app/bench/problem_file.h"
#include "app/run/friction_dump.h"
#include "app/run/start.h"
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

typedef struct Drawn {
    int count, unsolved;
    double worst;
} Drawn;

static void draw(AppFrictionDump* dump, Drawn* drawn) {
    char* text = NULL;
    size_t bytes = 0;
    LashError error = {0};
    FILE* file = open_memstream(&text, &bytes);
    assert_non_null(file);
    int contacts = app_friction_dump_put(dump, file);
    fclose(file);
    if (contacts > 0) {
        AppProblem* problem = app_problem_parse(text, bytes, &error);
        if (problem == NULL) fail_msg("%s: %s", error.where, error.message);
        double residual = solved_to(problem);
        app_problem_destroy(problem);
        ++drawn->count;
        drawn->unsolved += !(residual <= TOLERANCE);
        drawn->worst = fmax(drawn->worst, residual);
    }
    free(text);
}

// Every so many steps of a run.
static void draw_from(AppScaleModel model, int n, int steps, int every, Drawn* drawn) {
    LashError error = {0};
    AppScene scene;
    char folder[400];
    double moved;
    if (!app_scale_open(model, n, &scene, &error)) fail_msg("%s: %s", error.where, error.message);
    LashSim* sim = lash_sim_create(scene.system, &scene.settings);
    assert_true(app_start_prepare(scene.model, scene.mech, scene.system, sim, &moved, &error));
    AppFrictionDump* dump = app_friction_dump_create(
        scene.system, sim, scene.settings.h, scratch_file("drawn", folder, sizeof folder), &error);
    assert_non_null(dump);
    for (int k = 1; k <= steps; ++k) {
        assert_int_equal(lash_sim_step(sim).outcome, LASH_CONVERGED);
        if (k % every == 0) draw(dump, drawn);
    }
    app_friction_dump_free(dump);
    lash_sim_destroy(sim);
    app_scene_close(&scene);
}

static void problems_drawn_from_steps_are_solved(void** state) {
    (void)state;
    bool all = getenv("LASH_LONG_TESTS") != NULL;
    Drawn drawn = {0};
    static const struct {
        AppScaleModel model;
        int n, steps, every; // a tenth of the steps in the short run
    } runs[] = {
        {APP_SCALE_FOUR_BARS, 4, 1250, 10},     {APP_SCALE_CHAIN, 8, 1250, 10},
        {APP_SCALE_GEARS, 8, 1250, 10},         {APP_SCALE_SCISSORS, 3, 2500, 10},
        {APP_SCALE_ROLLER_CHAIN, 16, 2500, 20}, {APP_SCALE_STACK, 8, 2000, 10},
        {APP_SCALE_WALL, 12, 1250, 10},         {APP_SCALE_DOMINOES, 8, 2500, 20},
        {APP_SCALE_BALLS, 12, 3000, 15},
    };
    for (size_t k = 0; k < sizeof runs / sizeof *runs; ++k) {
        int share = all ? 1 : 10;
        draw_from(runs[k].model, runs[k].n, runs[k].steps / share, runs[k].every, &drawn);
    }
    print_message("%d problems, worst residual %.1e\n", drawn.count, drawn.worst);
    assert_true(drawn.count >= (all ? 1000 : 60));
    assert_int_equal(drawn.unsolved, 0);
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
    TEST(a_run_writes_its_friction_problems))
