// Joint kinds in model files: keys, units, coordinates, and what is refused with which words.
#include "test.h"

#include "app/model/model.h"
#include "core/math3.h"

// Models are written with ' for ".
static LashModel* parse(const char* joints, const char* forces, LashError* error) {
    char text[4000];
    snprintf(
        text, sizeof text,
        "{'format': 'lash-model/1', 'units': {'length': 'mm', 'angle': 'deg'}, 'gravity': [0, "
        "-9810, 0], 'parts': ["
        "{'name': 'p', 'mass': 1, 'inertia': [1000, 2000, 2500]},"
        "{'name': 'r', 'mass': 2, 'inertia': [1000, 2000, 2500], 'pose': {'position': [100, 0, "
        "0]}}], 'joints': [%s], 'forces': [%s]}",
        joints, forces);
    for (char* c = text; *c != '\0'; ++c) {
        if (*c == '\'') *c = '"';
    }
    return lash_model_parse("test", text, strlen(text), NULL, 0, error);
}

// Builds and makes one step of 1 ms; the caller destroys mech and model.
static LashMechanism* build(LashModel* model, LashSim** sim) {
    LashMechanism* mech = lash_model_build(model, NULL);
    *sim = lash_sim_create(lash_mechanism_system(mech), &model->simulation.settings);
    assert_int_equal(lash_sim_step(*sim).outcome, LASH_CONVERGED);
    return mech;
}

#define BETWEEN "'a': 'ground', 'b': 'p', 'point': [10, 20, 30], 'axis': [0, 1, 1]"

static void every_kind_is_read_and_runs(void** state) {
    (void)state;
    const char* joints[] = {
        "{'name': 'j', 'type': 'fixed', " BETWEEN "}",
        "{'name': 'j', 'type': 'revolute', " BETWEEN ", 'friction': 0.2, 'radius': 5}",
        "{'name': 'j', 'type': 'prismatic', " BETWEEN ", 'friction': 0.2}",
        "{'name': 'j', 'type': 'spherical', " BETWEEN "}",
        "{'name': 'j', 'type': 'distance', 'a': 'ground', 'b': 'p', 'a_point': [0, 50, 0], "
        "'b_point': [0, 0, 0]}",
        "{'name': 'j', 'type': 'cylindrical', " BETWEEN
        ", 'driver': [{'coordinate': 'displacement', 'speed': 5}]}",
        "{'name': 'j', 'type': 'universal', " BETWEEN ", 'second_axis': [1, 0, 0]}",
        "{'name': 'j', 'type': 'planar', " BETWEEN ", 'limits': {'coordinate': 'y', 'lower': -1}}",
        "{'name': 'j', 'type': 'screw', " BETWEEN ", 'pitch': 2, 'start': 720}",
        "{'name': 'j', 'type': 'point_on_line', " BETWEEN ", 'friction': 0.1}",
        "{'name': 'j', 'type': 'point_on_plane', " BETWEEN ", 'friction': 0.1}",
        "{'name': 'j', 'type': 'free', 'a': 'ground', 'b': 'p', 'point': [10, 20, 30], 'limits': "
        "{'coordinate': 'yaw', 'lower': -1}, 'driver': {'coordinate': 'pitch', 'position': 0}}",
        "{'name': 'j1', 'type': 'revolute', " BETWEEN
        "}, {'name': 'j2', 'type': 'revolute', 'a': 'ground', 'b': 'r', 'point': [100, 0, 0], "
        "'axis': [0, 0, 1]}, {'name': 'j', 'type': 'gear', 'joint_a': 'j1', 'joint_b': 'j2', "
        "'ratio': -2}",
        "{'name': 'j1', 'type': 'revolute', " BETWEEN
        "}, {'name': 'j2', 'type': 'prismatic', 'a': 'ground', 'b': 'r', 'point': [100, 0, 0], "
        "'axis': [0, 0, 1]}, {'name': 'j', 'type': 'rack_and_pinion', 'joint_a': 'j1', 'joint_b': "
        "'j2', 'radius': 12}"};
    for (int type = 0; type < LASH_JOINT_TYPES; ++type) {
        LashError error = {0};
        LashModel* model = parse(joints[type], "", &error);
        if (model == NULL) fail_msg("%d: %s: %s", type, error.where, error.message);
        const LashModelJoint* joint = &model->joint[model->joints - 1];
        assert_int_equal(joint->type, type); // names stand in the order of LashJointType
        char named[64];
        snprintf(named, sizeof named, "'type': '%s'", lash_joint_type_name((LashJointType)type));
        assert_non_null(strstr(joints[type], named));
        LashSim* sim;
        LashMechanism* mech = build(model, &sim);
        lash_sim_destroy(sim);
        lash_mechanism_destroy(mech);
        lash_model_destroy(model);
    }
}

static void numbers_reach_the_mechanism_in_si(void** state) {
    (void)state;
    LashModel* model = parse(
        "{'name': 'j', 'type': 'cylindrical', " BETWEEN
        ", 'start': 400, 'friction': 0.3, 'radius': 5, 'limits': [{'upper': 450, 'restitution': "
        "0.5}, {'coordinate': 'displacement', 'lower': -3}], 'driver': {'coordinate': "
        "'displacement', 'position': '2*t'}}, {'name': 's', 'type': 'screw', 'a': 'ground', 'b': "
        "'r', 'point': [100, 0, 0], 'axis': [0, 0, 1], 'pitch': 4, 'start': 540}",
        "{'name': 'f', 'type': 'joint_spring', 'joint': 'j', 'coordinate': 'displacement', "
        "'stiffness': 7}, {'name': 't', 'type': 'torsion_spring', 'joint': 'j', 'stiffness': 90}",
        NULL);
    assert_non_null(model);
    LashMechanism* mech = lash_model_build(model, NULL);
    const LashJointDef* def = lash_mechanism_joint(mech, 0);
    assert_true(fabs(def->radius - 5e-3) < 1e-18 && def->mu == 0.3);
    assert_true(fabs(def->coordinate[0].upper - 2.5 * LASH_PI) < 1e-14);
    assert_true(def->coordinate[0].lower == -INFINITY && def->coordinate[0].e == 0.5);
    assert_true(fabs(def->coordinate[1].lower + 3e-3) < 1e-18);
    assert_int_equal(def->coordinate[0].driver, LASH_NO_DRIVER);
    assert_int_equal(def->coordinate[1].driver, LASH_DRIVE_POSITION);
    assert_true(fabs(lash_mechanism_joint(mech, 1)->pitch - 4e-3) < 1e-18);
    assert_int_equal(model->force[0].coordinate_index, 1);
    assert_true(fabs(model->force[0].stiffness_si - 7e3) < 1e-9);
    assert_int_equal(model->force[1].coordinate_index, 0);
    LashSim* sim = lash_sim_create(lash_mechanism_system(mech), &model->simulation.settings);
    LashMobility mobility = lash_sim_mobility(sim, NULL);
    assert_true(mobility.position_error < 1e-13); // the screw stands at 1.5 turns and 6 mm
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    LashSystemWork* work = lash_sim_work(sim);
    assert_true(fabs(lash_mechanism_joint_coordinate(mech, work, 0, 0, q) - LASH_PI * 400 / 180) <
                1e-12);
    assert_true(fabs(lash_mechanism_joint_coordinate(mech, work, 1, 0, q) - 3 * LASH_PI) < 1e-12);
    assert_true(fabs(lash_mechanism_joint_coordinate(mech, work, 1, 1, q) - 6e-3) < 1e-15);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
    lash_model_destroy(model);
}

static void refuse_all(const char* cases[][2], size_t count) {
    for (size_t i = 0; i < count; ++i) {
        LashError error = {0};
        LashModel* model = parse(cases[i][0], "", &error);
        if (model != NULL || strstr(error.message, cases[i][1]) == NULL)
            fail_msg("%s: expected '%s', got '%s'", cases[i][0], cases[i][1], error.message);
    }
}

static void mistakes_with_free_joints_are_named(void** state) {
    (void)state;
    const char* cases[][2] = {
        {"{'name': 'j', 'type': 'free', " BETWEEN
         ", 'limits': {'coordinate': 'angle', 'lower': -1}}",
         "it has x, y, z, roll, pitch, yaw"},
        {"{'name': 'j', 'type': 'free', " BETWEEN ", 'limits': {'coordinate': 'w', 'upper': 1}}",
         "no coordinate 'w'"},
        {"{'name': 'j', 'type': 'free', " BETWEEN
         ", 'driver': [{'coordinate': 'yaw', 'speed': 1}, {'coordinate': 'yaw', 'position': 0}]}",
         "the coordinate 'yaw' is driven twice"},
        {"{'name': 'j', 'type': 'free', " BETWEEN ", 'friction': 0.1}", "has no 'friction'"},
        {"{'name': 'j', 'type': 'free', " BETWEEN ", 'clearance': 0.1}", "has no 'clearance'"},
        {"{'name': 'j', 'type': 'free', " BETWEEN ", 'start': 1}", "no coordinate to 'start'"},
        {"{'name': 'j', 'type': 'free', 'a': 'ground', 'b': 'p', 'a_point': [0, 0, 0], "
         "'b_point': [5, 0, 0], 'limits': {'coordinate': 'x', 'lower': -4, 'upper': 4}}",
         "lies outside the limits"},
        {"{'name': 'j', 'type': 'free', " BETWEEN
         "}, {'name': 'g', 'type': 'gear', 'joint_a': 'j', 'joint_b': 'j', 'ratio': 2}",
         "has no angle to couple"},
    };
    refuse_all(cases, sizeof cases / sizeof *cases);
}

static void mistakes_are_named(void** state) {
    (void)state;
    const char* cases[][2] = {
        {"{'name': 'j', 'type': 'revolute', 'b': 'p', 'point': [0, 0, 0], 'axis': [0, 0, 1]}",
         "'a' is missing"},
        {"{'name': 'j', 'type': 'screw', " BETWEEN "}", "'pitch' is missing"},
        {"{'name': 'j', 'type': 'screw', " BETWEEN ", 'pitch': 0}", "must not be 0"},
        {"{'name': 'j', 'type': 'fixed', " BETWEEN ", 'pitch': 2}", "has no 'pitch'"},
        {"{'name': 'j', 'type': 'revolute', " BETWEEN ", 'friction': 0.2}", "'radius' is missing"},
        {"{'name': 'j', 'type': 'revolute', " BETWEEN ", 'friction': 0.2, 'radius': -1}",
         "must be > 0"},
        {"{'name': 'j', 'type': 'spherical', " BETWEEN ", 'friction': 0.2}", "has no 'friction'"},
        {"{'name': 'j', 'type': 'planar', " BETWEEN
         ", 'driver': {'coordinate': 'displacement', 'speed': 1}}",
         "it has x, y, angle"},
        {"{'name': 'j', 'type': 'spherical', " BETWEEN ", 'driver': {'speed': 1}}",
         "no free coordinate"},
        {"{'name': 'j', 'type': 'planar', " BETWEEN
         ", 'driver': [{'coordinate': 'x', 'speed': 1}, {'speed': 2}]}",
         "driven twice"},
        {"{'name': 'j', 'type': 'prismatic', " BETWEEN ", 'limits': {'lower': 2, 'upper': 1}}",
         "'lower' must be below 'upper'"},
        {"{'name': 'j', 'type': 'prismatic', " BETWEEN ", 'limits': {'lower': 2}}",
         "outside the limits"},
        {"{'name': 'j', 'type': 'prismatic', " BETWEEN ", 'limits': {}}", "'lower', 'upper'"},
        {"{'name': 'j', 'type': 'universal', " BETWEEN ", 'second_axis': [0, 1, 0]}",
         "must stand across"},
        {"{'name': 'j', 'type': 'distance', 'a': 'ground', 'b': 'p', 'point': [0, 0, 0]}",
         "coincide"},
        {"{'name': 'j', 'type': 'gear', 'joint_a': 'x', 'joint_b': 'y', 'ratio': 2}",
         "no joint 'x'"},
        {"{'name': 'j', 'type': 'prismatic', " BETWEEN
         "}, {'name': 'g', 'type': 'gear', 'joint_a': 'j', 'joint_b': 'j', 'ratio': 2}",
         "has no angle to couple"},
        {"{'name': 'j', 'type': 'revolute', " BETWEEN
         "}, {'name': 'g', 'type': 'gear', 'joint_a': 'j', 'joint_b': 'j', 'ratio': 2}",
         "different parts"},
        {"{'name': 'g', 'type': 'gear', 'joint_a': 'j', 'joint_b': 'j', 'ratio': 2}, {'name': 'j', "
         "'type': 'revolute', " BETWEEN "}",
         "must stand before"},
    };
    refuse_all(cases, sizeof cases / sizeof *cases);
}

RUN(TEST(every_kind_is_read_and_runs), TEST(numbers_reach_the_mechanism_in_si),
    TEST(mistakes_are_named), TEST(mistakes_with_free_joints_are_named))
