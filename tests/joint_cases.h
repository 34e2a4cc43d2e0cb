// Small mechanisms and runs shared by the tests of joints. Include it behind cmocka.h.
#ifndef LASH_TESTS_JOINT_CASES_H
#define LASH_TESTS_JOINT_CASES_H

#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/math3.h"
#include "joints/mechanism.h"
#include "solvers/sim.h"
#include "tests/system_check.h"

static const double GRAVITY = 9.81; // [m/s^2]

static inline LashBodyId add(LashMechanism* mech, double mass, Mat3 inertia, Pose at) {
    LashBodyDef def = lash_body_def();
    def.mass = mass;
    def.inertia = inertia;
    def.world_body = at;
    return lash_mechanism_add_body(mech, &def);
}

static inline Mat3 ball(double J) {
    return mat3_diagonal(J, J, J);
}

static inline Pose at(double x, double y, double z) {
    return pose(vec3(x, y, z), quat_identity());
}

// z along `axis`, x along the part of `x_axis` across it.
static inline Pose frame(Vec3 point, Vec3 axis, Vec3 x_axis) {
    Vec3 z = vec3_normalize(axis);
    Vec3 x = vec3_normalize(vec3_add_scaled(x_axis, -vec3_dot(x_axis, z), z));
    Vec3 y = vec3_cross(z, x);
    Mat3 R = {{x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z}};
    return pose(point, quat_from_matrix(R));
}

// A joint whose two frames stand at the world frame `at` of the initial configuration.
static inline LashJointDef joint_at(const LashMechanism* mech, LashJointType type, LashBodyId a,
                                    LashBodyId b, Pose world) {
    LashJointDef def = lash_joint_def();
    const LashBodyId id[2] = {a, b};
    Pose* side[2] = {&def.a_joint, &def.b_joint};
    for (int s = 0; s < 2; ++s) {
        Pose body = id[s].index1 == 1 ? pose_identity()
                                      : lash_mechanism_body(mech, id[s].index1 - 2)->world_body;
        *side[s] = pose_mul(pose_inverse(body), world);
    }
    def.type = type;
    def.body_a = a;
    def.body_b = b;
    return def;
}

static inline LashFunction function(const char* text) {
    const char* names[] = {"t", "x", "v"};
    LashFunction f = {.out = 1, .in = {1, 1, 1}};
    f.expression = lash_expression_compile(text, names, 3, NULL);
    assert_non_null(f.expression);
    return f;
}

static inline LashSim* start(LashMechanism* mech, double h) {
    LashSettings settings = lash_settings();
    settings.h = h;
    return lash_sim_create(lash_mechanism_system(mech), &settings);
}

// One step, which must converge and keep all rows at 1e-10, recomputed.
static inline LashStepInfo step(LashSim* sim) {
    LashStepInfo info = lash_sim_step(sim);
    if (info.outcome != LASH_CONVERGED) {
        print_error("step at t = %g: outcome %d, position %g, velocity %g, dynamics %g\n",
                    lash_sim_time(sim), (int)info.outcome, info.position_error, info.velocity_error,
                    info.dynamics_error);
        fail();
    }
    check("joint error", info.position_error, 0, 1e-10);
    check("penetration", info.penetration, 0, 1e-10);
    check("velocity error", info.velocity_error, 0, 1e-10);
    return info;
}

static inline void run_to(LashSim* sim, double h, double T) {
    while (lash_sim_time(sim) < T - 0.5 * h) step(sim);
}

static inline double coordinate(const LashMechanism* mech, LashSim* sim, int joint, int c) {
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    return lash_mechanism_joint_coordinate(mech, lash_sim_work(sim), joint, c, q);
}

static inline double speed(const LashMechanism* mech, const LashSim* sim, int joint, int c) {
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    return lash_mechanism_joint_speed(mech, joint, c, q, v);
}

static inline LashReaction reaction(const LashMechanism* mech, LashSim* sim, int joint, double h) {
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    return lash_mechanism_reaction(mech, lash_sim_work(sim), joint, q, lash_sim_impulses(sim), h);
}

static inline void check_vector(const char* what, Vec3 got, Vec3 expected, double tolerance) {
    check(what, got.x, expected.x, tolerance);
    check(what, got.y, expected.y, tolerance);
    check(what, got.z, expected.z, tolerance);
}

#endif
