// The multibody system: derivatives of joints, drivers and forces against differences, energy,
// reactions.
#include "core/math3.h"
#include "joints/mechanism.h"
#include "joints/mechanism_internal.h"
#include "test.h"
#include "tests/system_check.h"

static LashBodyId add_body(LashMechanism* mech, double seed) {
    LashBodyDef def = lash_body_def();
    def.mass = 1 + 0.3 * seed;
    def.inertia = (Mat3){{2, 0.1, 0.2, 0.1, 1.5, -0.1, 0.2, -0.1, 1.8 + 0.1 * seed}};
    def.world_body =
        pose(vec3(seed, 0.5 - seed, 0.2), quat_normalize(quat(1, 0.1 * seed, -0.2, 0.3)));
    def.velocity = vec3(0.3, -0.2, seed);
    def.omega = vec3(0.5, seed, -0.7);
    return lash_mechanism_add_body(mech, &def);
}

static LashFunction function(const char* text) {
    const char* names[] = {"t", "x", "v"};
    LashFunction f = {.out = 1.5, .in = {1, 2, 0.5}};
    f.expression = lash_expression_compile(text, names, 3, NULL);
    assert_non_null(f.expression);
    return f;
}

static LashJointId add_joint(LashMechanism* mech, LashJointType type, LashBodyId a, LashBodyId b,
                             LashDriverType driver) {
    LashJointDef def = lash_joint_def();
    def.type = type;
    def.body_a = a;
    def.body_b = b;
    def.a_joint = pose(vec3(0.3, -0.1, 0.2), quat_normalize(quat(0.9, 0.2, 0.1, -0.3)));
    def.b_joint = pose(vec3(-0.2, 0.4, 0.1), quat_normalize(quat(0.8, -0.1, 0.3, 0.2)));
    def.coordinate[0].driver = driver;
    def.length = 0.5;
    def.pitch = 0.3;
    if (driver != LASH_NO_DRIVER) def.coordinate[0].motion = function("sin(3*t)");
    return lash_mechanism_add_joint(mech, &def);
}

static void derivatives_of_every_joint_match_differences(void** state) {
    (void)state;
    for (int type = 0; type < LASH_JOINT_TYPES; ++type) {
        if (type == LASH_GEAR || type == LASH_RACK_AND_PINION) continue; // they couple joints
        for (int grounded = 0; grounded < 3; ++grounded) {
            LashMechanism* mech = lash_mechanism_create();
            LashBodyId ground = lash_mechanism_ground(mech), one = add_body(mech, 0.4),
                       two = add_body(mech, -0.3);
            LashBodyId a = grounded == 1 ? ground : one, b = grounded == 2 ? ground : two;
            add_joint(mech, (LashJointType)type, a, b, LASH_NO_DRIVER);
            check_system(lash_mechanism_system(mech), 0.3, 1e-6);
            lash_mechanism_destroy(mech);
        }
    }
}

// Where the joint keeps them; test_joints_library.c looks at frames that do not meet.
static void driver_gradients_match_differences_on_aligned_axes(void** state) {
    (void)state;
    const LashJointType types[] = {LASH_REVOLUTE, LASH_PRISMATIC};
    for (int k = 0; k < 4; ++k) {
        LashMechanism* mech = lash_mechanism_create();
        LashBodyId a = add_body(mech, 0.4), b = add_body(mech, 0.4);
        LashJointDef def = lash_joint_def();
        def.type = types[k / 2];
        def.body_a = a;
        def.body_b = b;
        Quat rot = quat_normalize(quat(0.9, 0.2, 0.1, -0.3));
        def.a_joint = pose(vec3(0.3, -0.1, 0.2), rot);
        def.b_joint =
            pose(vec3(0.3, -0.1, 0.2), quat_mul(rot, quat_from_axis_angle(vec3(0, 0, 1), 0.7)));
        def.coordinate[0].driver = k % 2 == 0 ? LASH_DRIVE_POSITION : LASH_DRIVE_SPEED;
        def.coordinate[0].motion = function("sin(3*t)");
        lash_mechanism_add_joint(mech, &def);
        check_system(lash_mechanism_system(mech), 0, 1e-6);
        lash_mechanism_destroy(mech);
    }
}

static LashMechanism* with_force(LashForceType type, bool body_axes) {
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0.1, -9, 0.3));
    LashForceDef def = lash_force_def();
    def.type = type;
    def.body_a = add_body(mech, 0.4);
    def.body_b = add_body(mech, -0.3);
    def.a_point = vec3(0.1, 0.2, -0.3);
    def.b_point = vec3(0.4, -0.2, 0.1);
    def.stiffness = 20;
    def.damping = 3;
    def.rest = 0.25;
    def.body_axes = body_axes;
    if (type == LASH_JOINT_SPRING || type == LASH_JOINT_FORCE) {
        LashJointDef joint = lash_joint_def(); // aligned axes in the initial configuration
        joint.type = LASH_PRISMATIC;
        joint.body_a = def.body_a;
        joint.body_b = def.body_b;
        joint.a_joint = pose(vec3(0.3, -0.1, 0.2), quat_normalize(quat(0.9, 0.2, 0.1, -0.3)));
        def.joint = lash_mechanism_add_joint(mech, &joint);
    }
    const char* vector[] = {"sin(t)+1", "2*t", "cos(2*t)"};
    bool scalar =
        type == LASH_JOINT_FORCE || type == LASH_SPRING_FUNCTION || type == LASH_DIRECTION_FORCE;
    def.direction = vec3(0.3, -2, 0.5);
    for (int i = 0; i < 3; ++i)
        def.component[i] = function(scalar ? "x^2*v + sin(t)*x" : vector[i]);
    lash_mechanism_add_force(mech, &def);
    return mech;
}

static void derivatives_of_every_force_match_differences(void** state) {
    (void)state;
    for (int type = LASH_SPRING; type <= LASH_DIRECTION_FORCE; ++type) {
        for (int axes = 0; axes < 2; ++axes) {
            LashMechanism* mech = with_force((LashForceType)type, axes == 1);
            check_system(lash_mechanism_system(mech), 0.3, 1e-5);
            lash_mechanism_destroy(mech);
        }
    }
}

// Springs that only push or pull: on the side of their rest where they act, and on the other.
static void derivatives_of_one_sided_springs_match_differences(void** state) {
    (void)state;
    const LashForceType types[] = {LASH_SPRING, LASH_JOINT_SPRING, LASH_DIRECTION_SPRING};
    for (int k = 0; k < 12; ++k) {
        LashMechanism* mech = with_force(types[k % 3], false);
        Force* force = &mech->force[0];
        force->def.acts = k % 2 == 0 ? LASH_PUSHES : LASH_PULLS;
        force->def.damping = 0;
        force->def.rest = k < 6 ? 9 : -9; // of lengths below 3 m
        LashSystemWork* work = lash_mechanism_system(mech)->work_create(&mech->system);
        double x = force->kind->potential(&force->def, 1);
        bool acts = (force->def.acts == LASH_PUSHES) == (force->def.rest > 0);
        assert_true(acts ? x > 1 : x == 0);
        mech->system.work_destroy(&mech->system, work);
        check_system(&mech->system, 0.2, 1e-5);
        lash_mechanism_destroy(mech);
    }
}

static LashBushingDef stiff_bushing(void) {
    LashBushingDef def = {
        .a_frame = pose(vec3(0.1, 0.2, -0.3), quat_normalize(quat(0.9, 0.2, 0.1, -0.3))),
        .b_frame = pose(vec3(0.4, -0.2, 0.1), quat_normalize(quat(0.8, -0.1, 0.3, 0.2))),
        .rest = {0.1, -0.2, 0.05, 0.3, -0.1, 0.2}};
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            def.stiffness[i][j] = (i == j ? 20 + 3 * i : 0) + 1.0 / (1 + i + j);
            def.damping[i][j] = (i == j ? 2 : 0) + 0.1 * cos(i + j) * (i != j);
        }
    }
    return def;
}

static void derivatives_of_bushings_match_differences(void** state) {
    (void)state;
    LashBushingDef bushing = stiff_bushing();
    for (int k = 0; k < 2; ++k) {
        LashMechanism* mech = lash_mechanism_create();
        LashForceDef def = lash_force_def();
        def.type = LASH_BUSHING;
        def.body_b = add_body(mech, 0.4);
        def.body_a = k == 0 ? add_body(mech, -0.3) : lash_mechanism_ground(mech);
        def.bushing = &bushing;
        lash_mechanism_add_force(mech, &def);
        check_system(lash_mechanism_system(mech), 0.3, 1e-5);
        lash_mechanism_destroy(mech);
    }
    bushing.stiffness[0][1] += 1;
    assert_false(lash_bushing_check(&bushing, NULL));
    bushing = stiff_bushing();
    bushing.damping[2][2] = -1;
    assert_false(lash_bushing_check(&bushing, NULL));
}

static void derivatives_of_every_contact_match_differences(void** state) {
    (void)state;
    const LashFeatureType a_type[] = {LASH_FEATURE_PLANE, LASH_FEATURE_CYLINDER,
                                      LASH_FEATURE_SPHERE, LASH_FEATURE_PLANE};
    for (int k = 0; k < 4; ++k) {
        for (int variant = 0; variant < 12; ++variant) {
            LashMechanism* mech = lash_mechanism_create();
            LashBodyId ground = lash_mechanism_ground(mech), one = add_body(mech, 0.4),
                       two = add_body(mech, -0.3);
            LashContactDef def = lash_contact_def();
            def.a_type = a_type[k];
            def.b_type = k == 3 ? LASH_FEATURE_DISC : LASH_FEATURE_SPHERE;
            def.body_a = variant % 3 == 1 ? ground : one;
            def.body_b = variant % 3 == 2 ? ground : two;
            def.inside = variant % 2 == 1;
            def.mu = variant < 6 ? 0.3 : 0;
            def.e = 0.5;
            def.a_radius = 0.7;
            def.b_radius = 0.2;
            def.a_frame = pose(vec3(0.3, -0.1, 0.2), quat_normalize(quat(0.9, 0.2, 0.1, -0.3)));
            def.b_frame = pose(vec3(-0.2, 0.4, 0.1), quat_normalize(quat(0.8, -0.1, 0.3, 0.2)));
            lash_mechanism_add_contact(mech, &def);
            check_system(lash_mechanism_system(mech), 0.1, 1e-6);
            lash_mechanism_destroy(mech);
        }
    }
}

static void torsion_spring_counts_turns(void** state) {
    (void)state;
    LashMechanism* mech = lash_mechanism_create();
    LashBodyDef def = lash_body_def();
    LashBodyId body = lash_mechanism_add_body(mech, &def);
    LashJointDef joint = lash_joint_def();
    joint.type = LASH_REVOLUTE;
    joint.body_a = lash_mechanism_ground(mech);
    joint.body_b = body;
    lash_mechanism_add_joint(mech, &joint);
    const LashSystem* system = lash_mechanism_system(mech);
    LashSystemWork* work = system->work_create(system);
    double q[7], v[6] = {0}, d[6] = {0, 0, 0, 0, 0, 0.5};
    system->initial_state(system, q, v);
    for (int k = 0; k < 100; ++k) {
        double next[7];
        system->move(system, q, 1, d, next);
        memcpy(q, next, sizeof q);
        system->accept(system, work, 0, q, v);
    }
    check("angle after 50 rad", lash_mechanism_joint_coordinate(mech, work, 0, 0, q), 50,
          1e-12 * 50);
    system->work_destroy(system, work);
    lash_mechanism_destroy(mech);
}

// The id of no interaction is that of no contact: a step may fail without one that errs.
static void no_interaction_has_no_name(void** state) {
    (void)state;
    LashMechanism* mech = lash_mechanism_create();
    add_body(mech, 0.5);
    const LashSystem* system = lash_mechanism_system(mech);
    char name[20] = "left over";
    system->name(system, UINT64_MAX, name, sizeof name);
    assert_string_equal(name, "");
    assert_int_equal(lash_mechanism_contact_of(mech, UINT64_MAX), -1);
    lash_mechanism_destroy(mech);
}

RUN(TEST(derivatives_of_every_joint_match_differences),
    TEST(driver_gradients_match_differences_on_aligned_axes),
    TEST(derivatives_of_every_force_match_differences),
    TEST(derivatives_of_one_sided_springs_match_differences),
    TEST(derivatives_of_bushings_match_differences),
    TEST(derivatives_of_every_contact_match_differences), TEST(torsion_spring_counts_turns),
    TEST(no_interaction_has_no_name))
