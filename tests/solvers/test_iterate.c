// The iteration of a step, by its trace: which operator solves what, how often, and what is tried
// when one fails.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <math.h>
#include <string.h>

#include "core/math3.h"
#include "joints/mechanism.h"
#include "solvers/sim.h"

typedef struct Count {
    int attempts, contacts; // all; with contacts
    int joints, full, coupled;
    int all, iterations;
    char order[64]; // first letters of the operators, in their order
} Count;

static void count(void* context, const LashAttempt* attempt) { // LashTrace
    Count* sum = context;
    size_t at = strlen(sum->order);
    if (at + 1 < sizeof sum->order) sum->order[at] = attempt->operator_name[0];
    ++sum->attempts;
    sum->contacts += attempt->contacts > 0;
    sum->joints += strcmp(attempt->operator_name, "joints") == 0;
    sum->full += strcmp(attempt->operator_name, "full") == 0;
    sum->coupled += strcmp(attempt->operator_name, "contacts") == 0;
    sum->all += strcmp(attempt->derivatives, "all") == 0;
    sum->iterations += attempt->iterations;
}

// Two bars in a row on the ground's pivot, the second with a ball at its end above the floor.
static LashMechanism* pendulum_over_ground(double drop) {
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, -9.81, 0));
    LashBodyId body[3] = {lash_mechanism_ground(mech)};
    for (int i = 1; i < 3; ++i) {
        LashBodyDef def = lash_body_def();
        def.name = i == 1 ? "upper" : "lower";
        def.mass = 1;
        def.inertia = mat3_diagonal(0.01, 0.1, 0.1);
        def.world_body.r = vec3(i - 0.5, 0, 0);
        body[i] = lash_mechanism_add_body(mech, &def);
        LashJointDef joint = lash_joint_def();
        joint.type = LASH_REVOLUTE;
        joint.name = i == 1 ? "pivot" : "elbow";
        joint.body_a = body[i - 1];
        joint.body_b = body[i];
        joint.a_joint = pose(vec3(i == 1 ? 0 : 0.5, 0, 0), quat_identity());
        joint.b_joint = pose(vec3(-0.5, 0, 0), quat_identity());
        lash_mechanism_add_joint(mech, &joint);
    }
    LashContactDef contact = lash_contact_def();
    contact.name = "floor";
    contact.body_a = body[0];
    contact.body_b = body[2];
    contact.a_type = LASH_FEATURE_PLANE;
    contact.b_type = LASH_FEATURE_SPHERE;
    contact.a_frame = pose(vec3(0, -drop, 0), quat_from_axis_angle(vec3(1, 0, 0), -LASH_PI / 2));
    contact.b_frame = pose(vec3(0.5, 0, 0), quat_identity());
    contact.b_radius = 0.05;
    contact.e = 0.3;
    contact.mu = 0.2;
    lash_mechanism_add_contact(mech, &contact);
    return mech;
}

static Count run(LashMechanism* mech, const LashSettings* settings, int steps, bool good) {
    Count sum = {0};
    LashSim* sim = lash_sim_create(lash_mechanism_system(mech), settings);
    lash_sim_set_trace(sim, count, &sum);
    for (int i = 0; i < steps; ++i) {
        LashStepInfo info = lash_sim_step(sim);
        if (good && info.outcome != LASH_CONVERGED) fail_msg("step %d", i);
    }
    lash_sim_destroy(sim);
    return sum;
}

static void a_kept_operator_serves_smooth_motion(void** state) {
    (void)state;
    LashMechanism* mech = pendulum_over_ground(100);
    LashSettings settings = lash_settings();
    settings.h = 1e-3;
    Count sum = run(mech, &settings, 500, true);
    assert_int_equal(sum.attempts, 500);
    assert_int_equal(sum.joints, 500);
    assert_int_equal(sum.all, 0);
    assert_true(sum.iterations <= 3 * 500); // 1.9 on average
    lash_mechanism_destroy(mech);
}

// Whatever the law, the directions and the projection: between bodies it is the coupled operator.
static void contacts_between_bodies_are_coupled(void** state) {
    (void)state;
    for (int k = 0; k < 5; ++k) {
        LashMechanism* mech = pendulum_over_ground(0.5);
        LashSettings settings = lash_settings();
        settings.h = 1e-3;
        if (k == 1) settings.law = LASH_FREMOND;
        if (k == 2) settings.direction = LASH_AT_START;
        if (k >= 3) settings.scheme = LASH_DIRECT;
        settings.coupled = k == 4;
        Count sum = run(mech, &settings, 1500, true);
        assert_true(sum.contacts > 20);
        assert_true(sum.coupled >= 0.98 * sum.contacts);
        lash_mechanism_destroy(mech);
    }
}

static void the_full_matrix_is_used_when_asked_for(void** state) {
    (void)state;
    LashMechanism* mech = pendulum_over_ground(0.5);
    LashSettings settings = lash_settings();
    settings.h = 1e-3;
    settings.full_newton = true;
    Count sum = run(mech, &settings, 300, true);
    assert_int_equal(sum.coupled, 0);
    assert_int_equal(sum.all, sum.attempts);
    assert_true(sum.full > 0);
    lash_mechanism_destroy(mech);
}

// With one correction only nothing converges: kept, then all derivatives; the next steps begin with
// these at once.
static void what_fails_is_tried_harder(void** state) {
    (void)state;
    LashMechanism* mech = pendulum_over_ground(100);
    LashSettings settings = lash_settings();
    settings.h = 0.1;
    settings.max_iterations = 1;
    settings.tolerance_velocity = 1e-14;
    settings.tolerance_position = 1e-14;
    Count sum = run(mech, &settings, 1, false);
    assert_string_equal(sum.order, "jf");
    lash_mechanism_destroy(mech);
    mech = pendulum_over_ground(0.01); // falls on the floor in the first step
    sum = run(mech, &settings, 1, false);
    assert_true(sum.attempts >= 2);
    lash_mechanism_destroy(mech);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_operator_serves_smooth_motion),
        cmocka_unit_test(contacts_between_bodies_are_coupled),
        cmocka_unit_test(the_full_matrix_is_used_when_asked_for),
        cmocka_unit_test(what_fails_is_tried_harder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
