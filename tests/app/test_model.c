// Models: units, expressions, mass properties, frames, and mutilated files.
#include "test.h"

#include "app/model/model.h"
#include "app/model/quantity.h"
#include "app/run/measure.h"
#include "core/math3.h"

static LashModel* parse(const char* text) {
    LashError error = {0};
    LashModel* model = lash_model_parse("test", text, strlen(text), NULL, 0, &error);
    if (model == NULL) fail_msg("%s: %s", error.where, error.message);
    return model;
}

static void assert_near(double value, double expected, double tolerance) {
    if (fabs(value - expected) <= tolerance) return;
    fail_msg("%.17g differs from %.17g by more than %g", value, expected, tolerance);
}

static void hard_steps_are_cut_by_default(void** state) {
    (void)state;
    LashModel* m = parse(
        "{\"format\": \"lash-model/1\", \"parts\": [{\"name\": \"a\", \"mass\": 5, "
        "\"inertia\": [1, 2, 3]}]}");
    assert_int_equal(m->simulation.settings.max_substeps, 64);
    assert_int_equal(lash_settings().max_substeps, 1); // in C the caller decides
    lash_model_destroy(m);
}

static void units_are_converted_once(void** state) {
    (void)state;
    LashModel* m = parse(
        "{\"format\": \"lash-model/1\", \"units\": {\"length\": \"mm\", \"mass\": \"g\", \"time\": "
        "\"ms\", "
        "\"angle\": \"deg\", \"force\": \"kN\"}, \"gravity\": [0, 0, -0.00981],"
        "\"parts\": [{\"name\": \"a\", \"mass\": 5, \"inertia\": [1, 2, 3], \"velocity\": [1, 0, "
        "0], "
        "\"angular_velocity\": [0, 0, 180], \"pose\": {\"position\": [10, 0, 0], \"axis\": [0, 0, "
        "1], "
        "\"angle\": 90}}],"
        "\"joints\": [{\"name\": \"j\", \"type\": \"revolute\", \"a\": \"ground\", \"b\": \"a\", "
        "\"point\": "
        "[10, 0, 0], \"axis\": [0, 0, 2]}],"
        "\"forces\": [{\"name\": \"s\", \"type\": \"torsion_spring\", \"joint\": \"j\", "
        "\"stiffness\": 2, "
        "\"damping\": 3, \"rest\": 45}]}");
    assert_near(m->gravity.z, -9.81, 1e-14);
    assert_near(m->part[0].mass, 5e-3, 1e-18);
    assert_near(m->part[0].inertia.m[8], 3e-9, 1e-24);
    assert_near(m->part[0].velocity.x, 1, 1e-15);
    assert_near(m->part[0].angular_velocity.z, 1000 * LASH_PI, 1e-11);
    assert_near(m->part[0].world_part.r.x, 0.01, 1e-17);
    assert_near(m->part[0].world_part.rot.w, sqrt(0.5), 1e-15);
    assert_near(m->force[0].stiffness_si, 2 * 1e3 * 1e-3 * 180 / LASH_PI, 1e-10); // kN mm / deg
    assert_near(m->force[0].damping_si, 3e-3 * 180 / LASH_PI, 1e-13);
    assert_near(m->force[0].rest_si, LASH_PI / 4, 1e-15);
    lash_model_destroy(m);
}

static void parameters_depend_on_each_other_in_any_order(void** state) {
    (void)state;
    const char* text =
        "{\"format\": \"lash-model/1\", \"parameters\": {\"c\": \"a+b\", \"b\": \"2*a\", \"a\": 3, "
        "\"e5\": 7},"
        "\"parts\": [{\"name\": \"p\", \"mass\": \"c+1e5*0+e5\", \"inertia\": [\"a\", \"a\", "
        "\"b-a\"]}]}";
    LashModel* m = parse(text);
    assert_near(m->part[0].mass, 16, 1e-14);
    lash_model_destroy(m);
    LashError error = {0};
    const char* sets[] = {"a=1", "b=c-1"};
    m = lash_model_parse("test", text, strlen(text), sets, 1, &error);
    assert_near(m->part[0].mass, 10, 1e-14);
    lash_model_destroy(m);
    m = lash_model_parse("test", text, strlen(text), sets, 2, &error);
    assert_null(m);
    assert_non_null(strstr(error.message, "c -> b -> c"));
}

static LashModelPart* shape_part(const char* shape, LashModel** model) {
    char text[600];
    snprintf(text, sizeof text,
             "{\"format\": \"lash-model/1\", \"parts\": [{\"name\": \"p\", \"density\": 1000, "
             "\"shape\": %s}]}",
             shape);
    *model = parse(text);
    return &(*model)->part[0];
}

// Integrates x^2 and the like over a solid of revolution about z by slices: an independent check.
static void slices(double (*area)(double, double*), double half, double* mass, double* along,
                   double* across) {
    enum { N = 200000 };
    *mass = *along = *across = 0;
    for (int i = 0; i < N; ++i) {
        double z = -half + 2 * half * (i + 0.5) / N,
               square; // square: mean of x^2 + y^2 over the slice
        double dm = 1000 * area(z, &square) * 2 * half / N;
        *mass += dm;
        *along += dm * square;
        *across += dm * (0.5 * square + z * z);
    }
}

static double capsule_slice(double z, double* square) { // radius 0.1, length 0.3
    double beyond = fmax(fabs(z) - 0.15, 0), r2 = 0.01 - beyond * beyond;
    *square = 0.5 * r2;
    return LASH_PI * r2;
}

static double ring_slice(double z, double* square) { // 0.05 .. 0.1, length 0.2
    (void)z;
    *square = 0.5 * (0.01 + 0.0025);
    return LASH_PI * (0.01 - 0.0025);
}

static double sphere_slice(double z, double* square) {
    double r2 = 0.01 - z * z;
    *square = 0.5 * r2;
    return LASH_PI * r2;
}

static void shapes_have_exact_mass_properties(void** state) {
    (void)state;
    static const struct {
        const char* shape;
        double (*area)(double, double*);
        double half;
    } cases[] = {
        {"{\"type\": \"capsule\", \"radius\": 0.1, \"length\": 0.3}", capsule_slice, 0.25},
        {"{\"type\": \"ring\", \"inner_radius\": 0.05, \"outer_radius\": 0.1, \"length\": 0.2}",
         ring_slice, 0.1},
        {"{\"type\": \"sphere\", \"radius\": 0.1}", sphere_slice, 0.1}};
    for (int i = 0; i < 3; ++i) {
        LashModel* m;
        double mass, along, across;
        LashModelPart* p = shape_part(cases[i].shape, &m);
        slices(cases[i].area, cases[i].half, &mass, &along, &across);
        assert_near(p->mass, mass, 1e-8 * mass);
        assert_near(p->inertia.m[8], along, 1e-8 * along);
        assert_near(p->inertia.m[0], across, 1e-8 * across);
        lash_model_destroy(m);
    }
}

static void shapes_of_a_part_are_summed(void** state) {
    (void)state;
    LashModel *whole, *cut;
    LashModelPart* a = shape_part(
        "{\"type\": \"box\", \"size\": [0.4, 0.2, 0.1], \"pose\": {\"position\": "
        "[0.2, 0, 0], \"axis\": [0, 0, 1], \"angle\": 0}}",
        &whole);
    LashModelPart* b = shape_part(
        "[{\"type\": \"box\", \"size\": [0.2, 0.1, 0.1], \"pose\": {\"position\": [0.3, 0, 0], "
        "\"axis\": [0, 0, 1], \"angle\": \"pi/2\"}}, {\"type\": \"box\", \"size\": [0.3, 0.2, "
        "0.1], "
        "\"pose\": {\"position\": [0.15, 0, 0]}}]",
        &cut);
    // second: box 0.1 x 0.2 turned from 0.2 x 0.1, at x = 0.3; with [0, 0.3] it fills [0, 0.35]
    assert_near(b->mass, 1000 * (0.2 * 0.1 * 0.1 + 0.3 * 0.2 * 0.1), 1e-12);
    assert_near(a->center.x, 0.2, 1e-15);
    assert_near(a->body_part.r.x, -0.2, 1e-15);
    double x = (2 * 0.3 + 6 * 0.15) / 8, m1 = 2, m2 = 6;
    double jz = m1 * (0.01 + 0.04) / 12 + m1 * (0.3 - x) * (0.3 - x) + m2 * (0.09 + 0.04) / 12 +
                m2 * (0.15 - x) * (0.15 - x);
    assert_near(b->center.x, x, 1e-15);
    assert_near(b->inertia.m[8], jz, 1e-14);
    lash_model_destroy(whole);
    lash_model_destroy(cut);
}

static void joint_frames_meet_and_start_at_the_given_coordinate(void** state) {
    (void)state;
    LashModel* m = parse(
        "{\"format\": \"lash-model/1\", \"units\": {\"angle\": \"deg\", \"length\": \"mm\"},"
        "\"parts\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1], \"center\": [3, 4, 5], "
        "\"pose\": "
        "{\"position\": [10, 20, 30], \"axis\": [1, 2, 3], \"angle\": 77}},"
        "{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1], \"pose\": {\"position\": [-5, 8, "
        "1], \"axis\": "
        "[3, -1, 0], \"angle\": -130}}],"
        "\"joints\": [{\"name\": \"hinge\", \"type\": \"revolute\", \"a\": \"a\", \"b\": \"b\", "
        "\"point\": [1, 2, "
        "3], \"axis\": [1, 1, 0], \"start\": 400},"
        "{\"name\": \"slide\", \"type\": \"prismatic\", \"a\": \"ground\", \"b\": \"a\", "
        "\"point\": [1, 2, 3], "
        "\"axis\": [0, 1, 1], \"start\": -7}]}");
    LashMechanism* mech = lash_model_build(m, NULL);
    const LashSystem* system = lash_mechanism_system(mech);
    LashSim* sim = lash_sim_create(system, &m->simulation.settings);
    LashMobility mobility = lash_sim_mobility(sim, NULL);
    assert_near(mobility.position_error, 0, 1e-13);
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    // turns are counted from the start on
    assert_near(lash_mechanism_joint_coordinate(mech, lash_sim_work(sim), 0, 0, q),
                400 * LASH_PI / 180, 1e-12);
    assert_near(lash_mechanism_joint_coordinate(mech, lash_sim_work(sim), 1, 0, q), -7e-3, 1e-15);
    Vec3 center = pose_point(m->part[0].world_part, m->part[0].center);
    assert_near(vec3_distance(center, vec3(q[0], q[1], q[2])), 0, 1e-16);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
    lash_model_destroy(m);
}

static void statistics_follow_their_definitions(void** state) {
    (void)state;
    LashModelOutput output = {.kind = LASH_POSITION_X, .level_si = 0.5};
    AppStatistic s = {0};
    for (int i = 0; i <= 1000; ++i) { // sin over one period
        double t = i / 1000.0;
        app_statistic_add(&s, &output, t, sin(2 * LASH_PI * t));
    }
    static const double expected[] = {0, 1, -1, 0, 0.70710678118654752, 0, 1.0 / 12};
    for (int when = LASH_WHEN_FINAL; when <= LASH_WHEN_FIRST_CROSSING; ++when) {
        output.when = when;
        assert_near(app_statistic_result(&s, &output), expected[when], 1e-6);
    }
    output.direction = 2;
    AppStatistic down = {0};
    for (int i = 0; i <= 1000; ++i)
        app_statistic_add(&down, &output, i / 1000.0, sin(2 * LASH_PI * i / 1000.0));
    assert_near(app_statistic_result(&down, &output), 5.0 / 12, 1e-6);
}

// Every third byte of real models changed in turn: an answer or a message, never a crash.
static void mutilate(const char* path) {
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    char text[8192];
    size_t bytes = fread(text, 1, sizeof text, file);
    fclose(file);
    static const char replacements[] = {'"', '}', ',', '0', '-', '\\', '\0', '\xff'};
    for (size_t i = 0; i < bytes; i += 3) {
        char kept = text[i];
        text[i] = replacements[(i / 3) % sizeof replacements];
        LashError error = {0};
        LashModel* model = lash_model_parse("fuzz", text, bytes, NULL, 0, &error);
        if (model == NULL)
            assert_true(error.status == LASH_ERROR_MODEL && error.message[0] != '\0');
        lash_model_destroy(model);
        text[i] = kept;
    }
}

static void mutilated_models_never_crash(void** state) {
    (void)state;
    mutilate(LASH_SOURCE_DIR "/models/benchmarks/four_bar.json");
    mutilate(LASH_SOURCE_DIR "/models/papers/slider_crank_play.json");
    mutilate(LASH_SOURCE_DIR "/models/papers/pendulum_in_ring.json");
}

RUN(TEST(hard_steps_are_cut_by_default), TEST(units_are_converted_once),
    TEST(parameters_depend_on_each_other_in_any_order), TEST(shapes_have_exact_mass_properties),
    TEST(shapes_of_a_part_are_summed), TEST(joint_frames_meet_and_start_at_the_given_coordinate),
    TEST(statistics_follow_their_definitions), TEST(mutilated_models_never_crash))
