// Mechanisms of any size for `lash bench mechanisms`: does the cost per body stay the same?
//
//   four_bars  IFToMM A02: N windows of links of 1 m and 1 kg in a row, 2N + 1 bodies, one degree
//   of
//              freedom, three redundant rows per window; starts upright with 1 m/s
//   chain      N links of 0.1 m hanging from the ground, hinges about y and z in turn, released
//   from
//              rest in a slanted line with a slight zigzag in space
#include <math.h>
#include <stdio.h>

#include "app/bench/bench_scenes.h"
#include "app/verify/paper_systems.h"
#include "core/math3.h"

static LashBodyId add_link(LashMechanism* mech, double mass, double length, Pose at, Vec3 velocity,
                           Vec3 omega) {
    LashBodyDef def = lash_body_def();
    double J = mass * length * length / 12;
    def.mass = mass;
    def.inertia = mat3_diagonal(J / 100, J, J);
    def.world_body = at;
    def.velocity = velocity;
    def.omega = omega;
    return lash_mechanism_add_body(mech, &def);
}

// A revolute at points given in each body, about the axis that rot turns z of that body into.
static void add_hinge(LashMechanism* mech, LashBodyId a, LashBodyId b, Pose a_joint, Pose b_joint) {
    LashJointDef def = lash_joint_def();
    def.type = LASH_REVOLUTE;
    def.body_a = a;
    def.body_b = b;
    def.a_joint = a_joint;
    def.b_joint = b_joint;
    lash_mechanism_add_joint(mech, &def);
}

static LashMechanism* build_four_bars(int n) {
    LashMechanism* mech = lash_mechanism_create();
    LashBodyId ground = lash_mechanism_ground(mech), last = ground;
    Quat up = quat_exp(vec3(0, 0, LASH_PI / 2)), none = quat(1, 0, 0, 0);
    lash_mechanism_set_gravity(mech, vec3(0, -9.81, 0));
    for (int i = 0; i <= n; ++i) {
        LashBodyId link =
            add_link(mech, 1, 1, pose(vec3(i, 0.5, 0), up), vec3(0.5, 0, 0), vec3(0, 0, -1));
        Pose foot = pose(vec3(-0.5, 0, 0), none), head = pose(vec3(0.5, 0, 0), none);
        add_hinge(mech, ground, link, pose(vec3(i, 0, 0), none), foot);
        if (i > 0) {
            LashBodyId bar =
                add_link(mech, 1, 1, pose(vec3(i - 0.5, 1, 0), none), vec3(1, 0, 0), vec3_zero());
            add_hinge(mech, last, bar, head, foot);
            add_hinge(mech, bar, link, head, head);
        }
        last = link;
    }
    return mech;
}

static LashMechanism* build_chain(int n) {
    static const double LENGTH = 0.1, MASS = 0.1; // of a link [m], [kg]
    LashMechanism* mech = lash_mechanism_create();
    LashBodyId last = lash_mechanism_ground(mech);
    Quat none = quat(1, 0, 0, 0), about_y = quat_exp(vec3(-LASH_PI / 2, 0, 0));
    Vec3 at = vec3_zero();
    lash_mechanism_set_gravity(mech, vec3(0, 0, -9.81));
    Quat rot = none;
    Pose head = pose(vec3_zero(), none);
    for (int i = 0; i < n; ++i) {
        bool across = i % 2 == 0; // hinges about y, then z of the link before
        Quat axis = across ? about_y : none;
        double bend = i % 4 < 2 ? 0.05 : -0.05;
        if (i == 0) bend = 0;
        rot = quat_mul(rot, quat_exp(across ? vec3(0, bend, 0) : vec3(0, 0, bend)));
        Vec3 along = quat_rotate(rot, vec3(LENGTH, 0, 0));
        LashBodyId link =
            add_link(mech, MASS, LENGTH, pose(vec3_add(at, vec3_scale(0.5, along)), rot),
                     vec3_zero(), vec3_zero());
        Pose a = head;
        a.rot = i == 0 ? quat_mul(rot, axis) : axis;
        add_hinge(mech, last, link, a, pose(vec3(-LENGTH / 2, 0, 0), axis));
        head = pose(vec3(LENGTH / 2, 0, 0), none);
        at = vec3_add(at, along);
        last = link;
    }
    return mech;
}

void app_scene_open_growth(AppSceneKind kind, int size, double h, AppScene* scene) {
    *scene = (AppScene){.settings = lash_settings()};
    scene->settings.h = h;
    if (kind == APP_SCENE_BAR) {
        LashPaperBar bar = lash_paper_bar();
        bar.gap = 5e-7; // it hits in step 25 of 2e-7 s
        scene->lagrangian = lash_paper_impacting_bar(size, &bar);
        scene->system = lash_lagrangian_system(scene->lagrangian);
        return;
    }
    scene->mech = kind == APP_SCENE_CHAIN ? build_chain(size) : build_four_bars(size);
    scene->system = lash_mechanism_system(scene->mech);
}
