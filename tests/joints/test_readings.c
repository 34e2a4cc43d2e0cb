// Loads that read the state: tangents against differences, blocks of the pattern, energy.
#include "test.h"

#include "core/math3.h"
#include "joints/mechanism.h"
#include "system_check.h"

static LashBodyId add_body(LashMechanism* mech, double at) {
    LashBodyDef def = lash_body_def();
    def.mass = 2 + at;
    def.inertia = (Mat3){{1.1, 0, 0, 0, 1.4, 0, 0, 0, 0.9 + at}};
    def.world_body = pose(vec3(at, 2 * at, -at), quat_normalize(quat(0.9, at, -0.2, 0.3)));
    def.velocity = vec3(0.2, at, -0.4);
    def.omega = vec3(at, 0.3, -0.5);
    return lash_mechanism_add_body(mech, &def);
}

static LashFunction function(const char* text, const LashReading* reading, int readings) {
    const char* names[] = {"t", "x", "v", "y", "s", "p", "u", "w"};
    LashError error = {0};
    LashFunction f = {.out = 1.5, .in = {1, 2, 0.5}, .readings = readings, .reading = reading};
    f.expression = lash_expression_compile(text, names, 3 + readings, &error);
    if (f.expression == NULL) fail_msg("%s", error.message);
    return f;
}

enum { READINGS = 5 };
static const char* const scalar = "x*y + v*s^2 + sin(p)*u - w*y + 0.3*w*v";
static const char* const vector[] = {"y*s + p", "u*w - y^2", "sin(p)*w + t*s"};

// Two bodies far apart that carry the load, a joint between two others and a fifth body that are read.
static LashMechanism* make(LashForceType type, bool body_axes, LashJointType joint_type,
                           int coordinate, bool same) {
    LashMechanism* mech = lash_mechanism_create();
    LashForceDef def = lash_force_def();
    LashBodyId ground = lash_mechanism_ground(mech);
    def.type = type;
    def.body_a = add_body(mech, 0.4);
    def.body_b = add_body(mech, -0.3);
    LashBodyId c = same ? def.body_a : add_body(mech, 0.2), d = add_body(mech, 0.1);
    LashBodyId e = same ? def.body_b : add_body(mech, -0.5);
    LashJointDef joint = lash_joint_def();
    joint.type = joint_type;
    joint.body_a = joint_type == LASH_PRISMATIC ? ground : c;
    joint.body_b = d;
    joint.a_joint = pose(vec3(0.3, -0.1, 0.2), quat_normalize(quat(0.9, 0.2, 0.1, -0.3)));
    joint.b_joint = pose(vec3(-0.2, 0.1, 0.1), quat_normalize(quat(0.8, 0.1, 0.3, -0.3)));
    LashJointId read = lash_mechanism_add_joint(mech, &joint);
    joint.type = LASH_CYLINDRICAL;
    joint.body_a = def.body_a;
    joint.body_b = def.body_b;
    def.joint = lash_mechanism_add_joint(mech, &joint);
    def.a_point = vec3(0.1, 0.2, -0.3);
    def.b_point = vec3(0.4, -0.2, 0.1);
    def.body_axes = body_axes;
    const LashReading reading[READINGS] = {
        {.kind = LASH_READ_COORDINATE, .joint = read, .coordinate = coordinate, .unit = 0.5},
        {.kind = LASH_READ_SPEED, .joint = read, .coordinate = coordinate, .unit = 2},
        {.kind = LASH_READ_POSITION, .body = e, .axis = 1, .unit = 1},
        {.kind = LASH_READ_VELOCITY, .body = e, .axis = 2, .unit = 0.7},
        {.kind = LASH_READ_ANGULAR_VELOCITY, .body = d, .axis = 0, .unit = 3}};
    bool one = type == LASH_JOINT_FORCE || type == LASH_SPRING_FUNCTION;
    for (int i = 0; i < (one ? 1 : 3); ++i)
        def.component[i] = function(one ? scalar : vector[i], reading, READINGS);
    lash_mechanism_add_force(mech, &def);
    return mech;
}

static const LashForceType types[] = {LASH_JOINT_FORCE, LASH_SPRING_FUNCTION, LASH_POINT_FORCE,
                                      LASH_TORQUE};

static void tangents_of_loads_that_read_others_match_differences(void** state) {
    (void)state;
    static const struct {
        LashJointType type;
        int coordinate;
    } read[] = {{LASH_REVOLUTE, 0}, {LASH_PRISMATIC, 0},  {LASH_UNIVERSAL, 1},
                {LASH_PLANAR, 1},   {LASH_FREE_JOINT, 3}, {LASH_FREE_JOINT, 4}};
    for (size_t k = 0; k < sizeof types / sizeof *types; ++k) {
        for (size_t j = 0; j < sizeof read / sizeof *read; ++j) {
            for (int variant = 0; variant < 4; ++variant) {
                LashMechanism* mech = make(types[k], variant % 2 == 1, read[j].type,
                                           read[j].coordinate, variant / 2 == 1);
                Probe p = probe_create(lash_mechanism_system(mech));
                check_force_tangents(&p); // 1e-7 of the largest
                check_energy(&p, 1e-5);
                probe_destroy(&p);
                check_system(lash_mechanism_system(mech), 0.2, 1e-5);
                lash_mechanism_destroy(mech);
            }
        }
    }
}

static void the_pattern_holds_the_blocks_between_load_and_reading(void** state) {
    (void)state;
    LashMechanism* mech = make(LASH_POINT_FORCE, false, LASH_REVOLUTE, 0, false);
    const LashSystem* system = lash_mechanism_system(mech);
    bool found[5][5] = {{false}};
    for (int b = 0; b < system->pattern.count; ++b)
        found[system->pattern.row[b]][system->pattern.column[b]] = true;
    for (int read = 2; read < 5; ++read) { // the load is on body 1
        assert_true(found[1][read]);
        assert_true(found[read][1]);
        assert_false(found[0][read]);
    }
    lash_mechanism_destroy(mech);
}

static void models_without_readings_keep_their_pattern(void** state) {
    (void)state;
    LashMechanism* mech = lash_mechanism_create();
    LashForceDef def = lash_force_def();
    def.type = LASH_POINT_FORCE;
    def.body_a = lash_mechanism_ground(mech);
    def.body_b = add_body(mech, 0.4);
    add_body(mech, 0.1);
    for (int i = 0; i < 3; ++i) def.component[i] = function("t", NULL, 0);
    lash_mechanism_add_force(mech, &def);
    assert_int_equal(lash_mechanism_system(mech)->pattern.count, 2);
    lash_mechanism_destroy(mech);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangents_of_loads_that_read_others_match_differences),
        cmocka_unit_test(the_pattern_holds_the_blocks_between_load_and_reading),
        cmocka_unit_test(models_without_readings_keep_their_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
