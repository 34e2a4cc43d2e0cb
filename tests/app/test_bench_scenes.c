// The mechanisms of `lash bench`: what is timed must be the right motion.
#include "test.h"

#include "app/bench/bench_scenes.h"
#include "app/bench/peer.h"

static const double EXACT_ANGLE = 9.00063984252595; // of the crank at 0.1 s [rad]
static const double TOLERANCE = 1e-10;              // of gaps and joints [m, rad]

static AppSceneRun run_scene(AppSceneKind kind, double h, int steps) {
    LashError error = {0};
    AppScene scene;
    AppSceneRun run;
    assert_true(app_scene_open(kind, NULL, h, &scene, &error));
    assert_true(app_scene_run(&scene, steps, &run, &error));
    app_scene_close(&scene);
    return run;
}

static void expect_motion(const AppSceneRun* run, int steps, double near) {
    assert_int_equal(run->steps, steps);
    assert_true(run->us > 0);
    assert_true(run->penetration <= TOLERANCE);
    assert_true(run->position_error <= TOLERANCE);
    assert_true(run->index_sets >= 1 && run->index_sets < 2); // it touches, and seldom
    assert_true(fabs(run->angle - EXACT_ANGLE) <= near);
}

static void slider_crank_in_minimal_coordinates_ends_where_it_must(void** state) {
    (void)state;
    AppSceneRun run = run_scene(APP_SCENE_MINIMAL, 1e-4, 1000);
    expect_motion(&run, 1000, 5e-3);
}

static void slider_crank_in_maximal_coordinates_ends_where_it_must(void** state) {
    (void)state;
    AppSceneRun run = run_scene(APP_SCENE_MAXIMAL, 1e-4, 1000);
    expect_motion(&run, 1000, 5e-3);
}

static void ideal_slider_crank_is_the_papers(void** state) {
    (void)state;
    LashError error = {0};
    AppScene scene;
    AppSceneRun run;
    assert_true(app_scene_open(APP_SCENE_MODEL, LASH_SOURCE_DIR "/models/slider_crank/ideal.json",
                               1e-4, &scene, &error));
    assert_true(app_scene_run(&scene, 1000, &run, &error));
    app_scene_close(&scene);
    assert_true(fabs(run.angle - 9.1401524169416283) <= 2e-3); // second order: 1.2e-3 here
    assert_true(run.position_error <= TOLERANCE);
}

static void missing_model_file_is_an_error_not_a_crash(void** state) {
    (void)state;
    LashError error = {0};
    AppScene scene;
    assert_false(app_scene_open(APP_SCENE_MODEL, "/nonexistent.json", 1e-4, &scene, &error));
    assert_int_not_equal(error.status, LASH_OK);
    app_scene_close(&scene);
}

static void peer_that_was_not_built_does_not_start(void** state) {
    (void)state; // it would stand beside this test
    AppPeer peer;
    assert_false(app_peer_exists());
    assert_false(app_peer_start((const char*[]){"mechanisms", NULL}, &peer));
}

RUN(TEST(slider_crank_in_minimal_coordinates_ends_where_it_must),
    TEST(slider_crank_in_maximal_coordinates_ends_where_it_must),
    TEST(ideal_slider_crank_is_the_papers), TEST(missing_model_file_is_an_error_not_a_crash),
    TEST(peer_that_was_not_built_does_not_start))
