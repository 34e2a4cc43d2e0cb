// The mechanisms of models/scale: the files are what the generator writes, they start consistent, move
// within the tolerances, and what comes out is what it should be.
#include <stdlib.h>
#include <string.h>

#include "app/bench/bench_scale.h"
#include "app/model/json_scan.h"
#include "app/run/start.h"
#include "core/arena.h"
#include "test.h"

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 }; // fewer steps do
#else
enum { SANITIZED = 0 };
#endif

static const int shipped[APP_SCALE_MODELS] = {
    [APP_SCALE_FOUR_BARS] = 4, [APP_SCALE_CHAIN] = 8,         [APP_SCALE_GEARS] = 8,
    [APP_SCALE_SCISSORS] = 3,  [APP_SCALE_ROLLER_CHAIN] = 20, [APP_SCALE_STACK] = 5,
    [APP_SCALE_WALL] = 12,     [APP_SCALE_DOMINOES] = 6,      [APP_SCALE_BALLS] = 20};

static char* written(AppScaleModel model, int n, size_t* bytes) {
    char* text = NULL;
    FILE* file = open_memstream(&text, bytes);
    assert_non_null(file);
    app_scale_write(model, n, file);
    fclose(file);
    return text;
}

static void the_files_are_what_the_generator_writes(void** state) {
    (void)state;
    for (int i = 0; i < APP_SCALE_MODELS; ++i) {
        AppScaleModel model = (AppScaleModel)i;
        char path[400];
        size_t bytes = 0, size = 0;
        LashError error = {0};
        snprintf(path, sizeof path, "%s/models/scale/%s_%d.json", LASH_SOURCE_DIR,
                 app_scale_name(model), shipped[i]);
        char* text = written(model, shipped[i], &bytes);
        char* file = app_read_file(path, 1 << 24, &size, &error);
        if (file == NULL) fail_msg("%s: %s", path, error.message);
        if (size != bytes || memcmp(file, text, bytes) != 0)
            fail_msg("%s differs: lash-make-scale %s %d", path, app_scale_name(model), shipped[i]);
        lash_free(file);
        free(text);
    }
}

typedef struct Ran {
    int bodies, contacts; // most contacts at once
    double height;        // of the lowest mass center [m]
    double speed;         // largest component of a velocity [m/s]
    int solver, last;     // most iterations for contacts in a step, those of the last one
    int after;            // most of those in a step with as many contacts as the one before
} Ran;

// From a consistent start, every step within the tolerances.
static Ran ran(AppScaleModel model, int n, int steps) {
    LashError error = {0};
    AppScene scene;
    Ran result = {.height = INFINITY};
    if (!app_scale_open(model, n, &scene, &error)) fail_msg("%s: %s", error.where, error.message);
    LashSim* sim = lash_sim_create(scene.system, &scene.settings);
    int contacts = 0;
    double moved;
    if (!app_start_prepare(scene.model, scene.mech, scene.system, sim, &moved, &error))
        fail_msg("%s: %s", error.where, error.message);
    for (int k = 0; k < steps; ++k) {
        LashStepInfo info = lash_sim_step(sim);
        if (info.outcome != LASH_CONVERGED)
            fail_msg("%s_%d: step %d failed", app_scale_name(model), n, k + 1);
        assert_true(info.penetration <= 1e-10 && info.position_error <= 1e-10);
        if (info.contacts > result.contacts) result.contacts = info.contacts;
        if (info.solver > result.solver) result.solver = info.solver;
        if (info.contacts == contacts && info.solver > result.after) result.after = info.solver;
        contacts = info.contacts;
        result.last = info.solver;
    }
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    result.bodies = scene.system->blocks;
    for (int i = 0; i < result.bodies; ++i) {
        result.height = fmin(result.height, q[7 * i + 2]);
        for (int c = 0; c < 3; ++c) result.speed = fmax(result.speed, fabs(v[6 * i + c]));
    }
    lash_sim_destroy(sim);
    app_scene_close(&scene);
    return result;
}

static void mechanisms_with_play_move_within_the_tolerances(void** state) {
    (void)state;
    Ran bars = ran(APP_SCALE_FOUR_BARS, 3, 60), chain = ran(APP_SCALE_CHAIN, 6, 60);
    Ran gears = ran(APP_SCALE_GEARS, 6, 60), scissors = ran(APP_SCALE_SCISSORS, 2, 60);
    assert_int_equal(bars.bodies, 7);
    assert_true(fabs(bars.speed - 1) < 0.05); // 5 rad/s at 0.2 m
    assert_int_equal(chain.bodies, 6);
    assert_true(chain.contacts >= 6); // it hangs
    assert_int_equal(gears.bodies, 6);
    assert_int_equal(scissors.bodies, 5);
    assert_true(scissors.speed > 0 && scissors.speed < 0.1); // it has begun to sink
}

static void the_roller_chain_runs_over_its_sprockets(void** state) {
    (void)state;
    Ran chain = ran(APP_SCALE_ROLLER_CHAIN, 16, 500);
    assert_int_equal(chain.bodies, 18);
    assert_true(chain.contacts > 0);
    assert_true(chain.speed > 0.3 && chain.speed < 0.6); // 10 rad/s at 39 mm
}

static void boxes_come_to_rest_on_each_other(void** state) {
    (void)state;
    Ran stack = ran(APP_SCALE_STACK, 4, 120);
    assert_int_equal(stack.contacts, 16);
    assert_true(fabs(stack.height - 0.05) < 1e-9 && stack.speed < 1e-6);
    Ran wall = ran(APP_SCALE_WALL, 6, 120);
    assert_true(wall.contacts >= 20);
    assert_true(fabs(wall.height - 0.03) < 1e-9 && wall.speed < 1e-6);
}

// 300 links bend out of their plane as one beam, a mode of 1e-10 of the mobility of the others.
static void a_chain_of_300_links_swings_on(void** state) {
    (void)state;
    Ran chain = ran(APP_SCALE_CHAIN, 300, SANITIZED ? 10 : 140);
    assert_int_equal(chain.bodies, 300);
    assert_true(chain.solver <= 20);
    assert_true(chain.contacts >= 600);
}

// Bricks in bond have more rows of contact than velocities. Once they rest, one iteration does; when others have
// landed on them what they carry then is known from the impact.
static void a_wall_settles_and_rests(void** state) {
    (void)state;
    Ran wall = ran(APP_SCALE_WALL, 20, SANITIZED ? 40 : 100);
    if (SANITIZED) return;
    assert_true(wall.solver <= 100);
    assert_true(wall.after <= 3);
    assert_true(wall.last <= 1);
    assert_true(wall.speed < 1e-9);
}

static void the_first_domino_reaches_the_second(void** state) {
    (void)state;
    Ran row = ran(APP_SCALE_DOMINOES, 3, 400);
    assert_true(row.height > 0.004 && row.speed > 0.02);
}

static void balls_fall_into_the_funnel_and_none_through_it(void** state) {
    (void)state;
    Ran few = ran(APP_SCALE_BALLS, 12, 1200); // 0.12 s
    assert_true(few.contacts > 3);
    assert_true(few.height >= 0.02 - 1e-9); // on the floor, or above
}

RUN(TEST(the_files_are_what_the_generator_writes),
    TEST(mechanisms_with_play_move_within_the_tolerances),
    TEST(the_roller_chain_runs_over_its_sprockets), TEST(boxes_come_to_rest_on_each_other),
    TEST(a_chain_of_300_links_swings_on), TEST(a_wall_settles_and_rests),
    TEST(the_first_domino_reaches_the_second), TEST(balls_fall_into_the_funnel_and_none_through_it))
