// The slider-crank with play in maximal coordinates: crank, rod and slider as free bodies, three
// revolutes, the four corners of the slider as points against the two walls of the guide, friction
// in space. Same data and start as lash_paper_crank(), so both have the same exact motion.
#include "app/bench/bench_scenes.h"

#include <math.h>
#include <time.h>

#include "app/run/drive.h"
#include "app/run/start.h"
#include "app/verify/paper_systems.h"
#include "core/math3.h"

typedef struct Moving {
    LashBodyId id;
    double x; // of its mass center at the start [m]
} Moving;

static Moving add_body(LashMechanism* mech, const LashBodyDef* like, double J, double x, double vy,
                       double spin) {
    LashBodyDef def = *like;
    def.inertia = mat3_diagonal(J, J, J);
    def.world_body.r = vec3(x, 0, 0);
    def.velocity = vec3(0, vy, 0);
    def.omega = vec3(0, 0, spin);
    return (Moving){lash_mechanism_add_body(mech, &def), x};
}

// A revolute about z through (x, 0, 0); all bodies start unturned.
static void add_revolute(LashMechanism* mech, const char* name, Moving a, Moving b, double x) {
    LashJointDef def = lash_joint_def();
    def.type = LASH_REVOLUTE;
    def.name = name;
    def.body_a = a.id;
    def.body_b = b.id;
    def.a_joint.r = vec3(x - a.x, 0, 0);
    def.b_joint.r = vec3(x - b.x, 0, 0);
    lash_mechanism_add_joint(mech, &def);
}

static void add_corner(LashMechanism* mech, const LashPaperSliderCrank* crank, LashBodyId slider,
                       int i) {
    static const char* const names[] = {"corner.1", "corner.2", "corner.3", "corner.4"};
    double side = i < 2 ? 1 : -1;
    LashContactDef def = lash_contact_def();
    def.name = names[i];
    def.body_a = lash_mechanism_ground(mech);
    def.body_b = slider;
    def.a_type = LASH_FEATURE_PLANE;
    def.b_type = LASH_FEATURE_SPHERE;
    def.a_frame = pose(vec3(0, side * (crank->b + crank->c), 0),
                       quat_between(vec3(0, 0, 1), vec3(0, -side, 0)));
    def.b_frame.r = vec3(i % 2 == 1 ? crank->a : -crank->a, side * crank->b, 0);
    def.e = crank->e;
    def.mu = crank->mu;
    lash_mechanism_add_contact(mech, &def);
}

static LashMechanism* build_maximal(void) {
    LashPaperSliderCrank d = lash_paper_crank();
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, -d.gravity, 0));
    double x3 = d.l1 + d.l2, pin = d.v[0] * d.l1; // [m], speed of the crank pin [m/s]
    LashBodyDef def = lash_body_def();
    Moving ground = {lash_mechanism_ground(mech), 0};
    def.name = "crank";
    def.mass = d.m1;
    Moving crank = add_body(mech, &def, d.J1, d.l1 / 2, pin / 2, d.v[0]);
    def.name = "rod";
    def.mass = d.m2;
    Moving rod = add_body(mech, &def, d.J2, d.l1 + d.l2 / 2, pin + d.v[1] * d.l2 / 2, d.v[1]);
    def.name = "slider";
    def.mass = d.m3;
    Moving slider = add_body(mech, &def, d.J3, x3, pin + d.v[1] * d.l2, d.v[2]);
    add_revolute(mech, "main_bearing", ground, crank, 0);
    add_revolute(mech, "crank_pin", crank, rod, d.l1);
    add_revolute(mech, "piston_pin", rod, slider, x3);
    for (int i = 0; i < 4; ++i) add_corner(mech, &d, slider.id, i);
    return mech;
}

bool app_scene_open(AppSceneKind kind, const char* path, double h, AppScene* scene,
                    LashError* error) {
    *scene = (AppScene){.settings = lash_settings()};
    if (kind == APP_SCENE_MINIMAL) {
        scene->lagrangian = lash_paper_slider_crank(NULL);
        scene->system = lash_lagrangian_system(scene->lagrangian);
    } else if (kind == APP_SCENE_MAXIMAL) {
        scene->mech = build_maximal();
    } else {
        scene->model = lash_model_load(path, NULL, 0, error);
        if (scene->model == NULL) return false;
        scene->settings = scene->model->simulation.settings;
        scene->mech = lash_model_build(scene->model, error);
        if (error->status != LASH_OK) return false;
    }
    if (scene->mech != NULL) scene->system = lash_mechanism_system(scene->mech);
    scene->settings.h = h;
    return true;
}

void app_scene_close(AppScene* scene) {
    lash_mechanism_destroy(scene->mech);
    lash_lagrangian_destroy(scene->lagrangian);
    lash_model_destroy(scene->model);
    *scene = (AppScene){.model = NULL};
}

static double processor_time(void) { // of this thread [us]
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static bool simulate(LashSim* sim, int steps, AppSceneRun* run, LashError* error) {
    double index_sets = 0, start = processor_time();
    AppSteps loop = app_steps(sim, steps);
    while (app_steps_next(&loop)) {
        run->penetration = fmax(run->penetration, loop.info.penetration);
        run->position_error = fmax(run->position_error, loop.info.position_error);
        index_sets += loop.info.index_set;
    }
    run->steps = (int)loop.done;
    if (loop.failed)
        return lash_error_set(error, LASH_ERROR_NUMERICS, "", "step %d failed", run->steps + 1);
    run->us = (processor_time() - start) / steps;
    run->index_sets = index_sets / steps;
    return true;
}

bool app_scene_run(const AppScene* scene, int steps, AppSceneRun* run, LashError* error) {
    *run = (AppSceneRun){.us = NAN};
    LashSim* sim = lash_sim_create(scene->system, &scene->settings);
    double moved;
    bool done = scene->model == NULL ||
                app_start_prepare(scene->model, scene->mech, scene->system, sim, &moved, error);
    done = done && simulate(sim, steps, run, error);
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    if (scene->mech == NULL)
        run->angle = q[0];
    else if (lash_mechanism_joint_count(scene->mech) > 0)
        run->angle = lash_mechanism_joint_coordinate(scene->mech, lash_sim_work(sim), 0, 0, q);
    lash_sim_destroy(sim);
    return done;
}
