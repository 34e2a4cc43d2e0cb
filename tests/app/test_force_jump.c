// A force that jumps with the state: the message names the force, its expression and where, not a
// joint.
#include "model_text.h"
#include "test.h"

// Two links; the force acts between them.
static Outcome run_links(const char* force) {
    char text[2000], path[400];
    snprintf(text, sizeof text,
             "{'format': 'lash-model/1', 'gravity': [0, -10, 0], 'parts': [{'name': 'upper', "
             "'mass': 1, 'inertia': [0.1, 0.1, 0.1], 'pose': {'position': [0.5, 0, 0]}}, {'name': "
             "'lower', 'mass': 1, 'inertia': [0.1, 0.1, 0.1], 'pose': {'position': [1.5, 0, 0]}}], "
             "'joints': [{'name': 'shoulder', 'type': 'revolute', 'a': 'ground', 'b': 'upper', "
             "'point': [0, 0, 0], 'axis': [0, 0, 1]}, {'name': 'elbow', 'type': 'revolute', 'a': "
             "'upper', 'b': 'lower', 'point': [1, 0, 0], 'axis': [0, 0, 1]}], 'forces': [{'name': "
             "'spring', 'type': 'joint_force', 'joint': 'shoulder', 'force': '-0.1*x'}, {'name': "
             "'brake', 'type': 'joint_force', 'joint': 'elbow', 'force': '%s'}], 'simulation': "
             "{'duration': 2, 'step': 1e-3, 'substeps': 1}}",
             force);
    write_model("links.json", text, path, sizeof path);
    return LASH("run", path);
}

static void a_force_that_jumps_is_named_with_its_expression(void** state) {
    (void)state;
    const char* const force[] = {"if(v > 0, -5.3, 0)", "-50*sign(v)", "if(x > 0.01, -200, 200)"};
    for (size_t i = 0; i < sizeof force / sizeof *force; ++i) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"%s\"", force[i]);
        Outcome o = run_links(force[i]);
        assert_int_equal(o.code, 5);
        assert_non_null(strstr(o.err, "force 'brake' on parts 'upper' and 'lower' jumps from"));
        assert_non_null(strstr(o.err, quoted));
        assert_non_null(strstr(o.err, "joint friction"));
        assert_null(strstr(o.err, "try a smaller step"));
        outcome_free(&o);
    }
}

// However steep: what is continuous can be solved.
static void a_steep_force_runs(void** state) {
    (void)state;
    Outcome o = run_links("-5.3*tanh(v/1e-3)");
    assert_int_equal(o.code, 0);
    outcome_free(&o);
}

// A wheel that turns by 10 rad in a step, with a spring: the search near the state goes round more
// than once, where the angle of the joint leaps by a turn. The step fails for its tight tolerance.
static void an_angle_that_leaps_by_a_turn_is_no_force_that_jumps(void** state) {
    (void)state;
    char path[400];
    write_model("wheel.json",
                "{'format': 'lash-model/1', 'gravity': [0, -10, 0], 'parts': [{'name': 'wheel', "
                "'mass': 1, 'inertia': [0.1, 0.2, 0.3], 'pose': {'position': [0.1, 0, 0]}, "
                "'velocity': [0, 1000, 0], 'angular_velocity': [0, 0, 10000]}], 'joints': "
                "[{'name': 'axle', 'type': 'revolute', 'a': 'ground', 'b': 'wheel', 'point': "
                "[0, 0, 0], 'axis': [0, 0, 1]}], 'forces': [{'name': 'spring', 'type': "
                "'joint_force', 'joint': 'axle', 'force': '-0.1*x'}], 'simulation': {'duration': "
                "0.1, 'step': 1e-3, 'substeps': 64, 'tolerance_velocity': 1e-13}}",
                path, sizeof path);
    Outcome o = LASH("run", path);
    assert_int_equal(o.code, 5);
    assert_null(strstr(o.err, "jumps"));
    assert_non_null(strstr(o.err, "did not reach the tolerances"));
    outcome_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_force_that_jumps_is_named_with_its_expression),
        cmocka_unit_test(a_steep_force_runs),
        cmocka_unit_test(an_angle_that_leaps_by_a_turn_is_no_force_that_jumps),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
