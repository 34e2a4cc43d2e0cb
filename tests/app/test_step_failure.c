// A step whose numbers are not finite, or that cannot be solved, ends the run with exit code 5 and
// says why: which force, motion or contact, which part, when. What was saved before stays readable.
#include "test.h"

#include "command.h"

static const char* write_text(const char* name, const char* text) {
    static char path[300];
    FILE* file = fopen(scratch_file(name, path, sizeof path), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void assert_says(const Outcome* outcome, const char* word) {
    if (strstr(outcome->err, word) != NULL) return;
    fail_msg("exit code %d, no \"%s\" in: %s", outcome->code, word, outcome->err);
}

// A model of one ball, 4.19 kg, with these keys.
static const char* ball(const char* keys) {
    static char text[2000];
    snprintf(text, sizeof text,
             "{\"format\": \"lash-model/1\", \"gravity\": [0, 0, -9.81], \"parts\": [{\"name\": "
             "\"ball\", \"shape\": {\"type\": \"sphere\", \"radius\": 0.1}, \"density\": 1000, "
             "\"pose\": {\"position\": [0, 0, 1]}}], \"simulation\": {\"step\": 0.001, "
             "\"duration\": 0.05}, %s}",
             keys);
    return write_text("ball.json", text);
}

// A bar on a hinge, with these keys of the hinge and of the model.
static const char* pendulum(const char* of_hinge, const char* keys) {
    static char text[2000];
    snprintf(text, sizeof text,
             "{\"format\": \"lash-model/1\", \"gravity\": [0, 0, -9.81], \"parts\": [{\"name\": "
             "\"bar\", \"shape\": {\"type\": \"box\", \"size\": [0.3, 0.02, 0.01]}, \"density\": "
             "7850, \"pose\": {\"position\": [0.15, 0, 0]}}], \"joints\": [{\"name\": \"hinge\", "
             "\"type\": \"revolute\", \"a\": \"ground\", \"b\": \"bar\", \"point\": [0, 0, 0], "
             "\"axis\": [0, 1, 0]%s}], \"simulation\": {\"step\": 0.001, \"duration\": 0.05}%s}",
             of_hinge, keys);
    return write_text("pendulum.json", text);
}

static const char* const nan_force =
    "\"forces\": [{\"name\": \"gust\", \"type\": \"force\", \"part\": \"ball\", \"force\": [0, 0, "
    "\"if(t < 0.0305, 1, 0/0)\"]}]";

static void a_force_that_is_no_number_ends_the_run_in_every_scheme(void** state) {
    (void)state;
    static const char* const scheme[] = {"combined", "moreau-jean", "direct", "schatzman-paoli"};
    for (int i = 0; i < 4; ++i) {
        char result[300];
        const char* model = ball(nan_force);
        Outcome o = LASH("run", model, "--scheme", scheme[i], "-o",
                         scratch_file("nan.h5", result, sizeof result));
        assert_int_equal(o.code, 5);
        assert_says(&o, "force 'gust' on part 'ball' is not a number at t = 0.0305");
        assert_says(&o, "if(t < 0.0305, 1, 0/0)");
        assert_null(strstr(o.out, "nan"));
        outcome_free(&o);
        o = LASH("export", "--csv", result);
        assert_int_equal(o.code, 0);
        assert_null(strstr(o.out, "nan"));
        const char* last = o.out;
        for (const char* c = o.out; *c != '\0'; ++c) {
            if (c[0] == '\n' && c[1] != '\0') last = c + 1;
        }
        assert_true(fabs(strtod(last, NULL) - 0.03) < 1e-12);
        outcome_free(&o);
    }
}

static void the_same_beside_joints(void** state) {
    (void)state;
    const char* model = pendulum("",
                                 ", \"forces\": [{\"name\": \"motor\", \"type\": \"joint_force\", "
                                 "\"joint\": \"hinge\", \"force\": \"sqrt(0.01 - t)\"}]");
    Outcome o = LASH("run", model);
    assert_int_equal(o.code, 5);
    assert_says(&o, "force 'motor' on part 'bar' is not a number at t = 0.01");
    assert_says(&o, "sqrt(0.01 - t)");
    outcome_free(&o);
}

static void an_infinite_force_is_named(void** state) {
    (void)state;
    const char* model = pendulum("",
                                 ", \"forces\": [{\"name\": \"motor\", \"type\": \"joint_force\", "
                                 "\"joint\": \"hinge\", \"force\": \"if(t < 0.02, 1, 1/0)\"}]");
    Outcome o = LASH("run", model);
    assert_int_equal(o.code, 5);
    assert_says(&o, "force 'motor' on part 'bar' is infinite");
    outcome_free(&o);
}

static void a_force_beyond_all_range_is_named(void** state) {
    (void)state;
    static const char* const size[] = {"1e100", "1e160", "1e200", "1e300"};
    for (int i = 0; i < 4; ++i) {
        char keys[300];
        snprintf(keys, sizeof keys,
                 ", \"forces\": [{\"name\": \"motor\", \"type\": \"joint_force\", \"joint\": "
                 "\"hinge\", \"force\": \"if(t < 0.02, 1, %s)\"}]",
                 size[i]);
        Outcome o = LASH("run", pendulum("", keys));
        assert_int_equal(o.code, 5);
        assert_says(&o, "force 'motor' on part 'bar' is 1e+");
        assert_null(strstr(o.out, "nan"));
        outcome_free(&o);
    }
}

static void energies_that_overflow_end_the_run(void** state) {
    (void)state;
    const char* model = ball(
        "\"forces\": [{\"name\": \"gun\", \"type\": \"force\", \"part\": \"ball\", "
        "\"force\": [0, 0, \"if(t < 0.02, 0, 1e160)\"]}]");
    Outcome o = LASH("run", model);
    assert_int_equal(o.code, 5);
    assert_says(&o, "force 'gun' on part 'ball' is 1e+160");
    assert_null(strstr(o.out, "inf"));
    outcome_free(&o);
}

static void a_motion_that_is_no_number_names_its_driver(void** state) {
    (void)state;
    const char* model = pendulum(", \"driver\": {\"speed\": \"0*sqrt(0.01 - t)\"}", "");
    Outcome o = LASH("run", model);
    assert_int_equal(o.code, 5);
    assert_says(&o, "the driver of joint 'hinge' prescribes a");
    assert_says(&o, "sqrt(0.01 - t)");
    outcome_free(&o);
}

// There is no joint that could be "worst": the program used to look one up all the same.
static void a_step_that_fails_without_joints_is_reported(void** state) {
    (void)state;
    const char* model =
        write_text("top.json",
                   "{\"format\": \"lash-model/1\", \"parts\": [{\"name\": \"top\", \"mass\": 1, "
                   "\"inertia\": [1, 4, 3.0000003], \"angular_velocity\": [1, 1e30, 0.8]}], "
                   "\"simulation\": {\"step\": 0.001, \"duration\": 0.1}}");
    Outcome o = LASH("run", model);
    assert_int_equal(o.code, 5);
    assert_says(&o, "part 'top' turns at 1e+30 rad/s");
    outcome_free(&o);
}

static void a_part_beyond_all_rounding_is_named(void** state) {
    (void)state;
    const char* model = write_text(
        "rack.json",
        "{\"format\": \"lash-model/1\", \"gravity\": [0, -9.81, 0], \"parts\": [{\"name\": "
        "\"motor\", \"shape\": {\"type\": \"cylinder\", \"radius\": 0.02, \"length\": 0.01}, "
        "\"density\": 7850}, {\"name\": \"wheel\", \"shape\": {\"type\": \"cylinder\", "
        "\"radius\": 0.06, \"length\": 0.01}, \"density\": 7850, \"pose\": {\"position\": [0.08, "
        "0, 0]}}, {\"name\": \"rack\", \"shape\": {\"type\": \"box\", \"size\": [0.04, 0.2, "
        "0.032]}, \"mass\": 2, \"pose\": {\"position\": [0.105, 0, 1e12]}}], \"joints\": "
        "[{\"name\": \"motor_bearing\", \"type\": \"revolute\", \"a\": \"ground\", \"b\": "
        "\"motor\", \"point\": [0, 0, 0], \"axis\": [0, 0, 1]}, {\"name\": \"wheel_bearing\", "
        "\"type\": \"revolute\", \"a\": \"ground\", \"b\": \"wheel\", \"point\": [0.08, 0, 0], "
        "\"axis\": [0, 0, 1], \"friction\": 0.1, \"radius\": 0.008}, {\"name\": \"guide\", "
        "\"type\": \"prismatic\", \"a\": \"ground\", \"b\": \"rack\", \"point\": [0.105, 0, 0], "
        "\"axis\": [0, 1, 0], \"x_axis\": [1, 0, 0], \"limits\": {\"lower\": -0.05, \"upper\": "
        "0.12, \"restitution\": 0.4}}, {\"name\": \"mesh\", \"type\": \"gear\", \"joint_a\": "
        "\"motor_bearing\", \"joint_b\": \"wheel_bearing\", \"ratio\": \"-20/60\"}, {\"name\": "
        "\"lift\", \"type\": \"rack_and_pinion\", \"joint_a\": \"wheel_bearing\", \"joint_b\": "
        "\"guide\", \"radius\": 0.025}], \"simulation\": {\"step\": 0.0005, \"duration\": "
        "0.0015}}");
    Outcome o = LASH("run", model);
    assert_int_equal(o.code, 5);
    assert_says(&o, "part 'rack' is 1e+12 m from the origin");
    outcome_free(&o);
}

static void a_study_marks_such_samples_failed(void** state) {
    (void)state;
    char store[300];
    ball(
        "\"parameters\": {\"c\": 1}, \"forces\": [{\"name\": \"gust\", \"type\": \"force\", "
        "\"part\": \"ball\", \"force\": [0, 0, \"if(t < 0.03, c, 0/0)\"]}], \"outputs\": "
        "[{\"name\": \"top\", \"quantity\": \"position.z\", \"of\": \"ball\", \"when\": "
        "\"max\"}]");
    const char* study = write_text(
        "ball.study.json",
        "{\"format\": \"lash-study/1\", \"model\": \"ball.json\", \"parameters\": [{\"name\": "
        "\"c\", \"distribution\": \"uniform\", \"low\": 1, \"high\": 2}], \"design\": {\"type\": "
        "\"random\", \"samples\": 3, \"seed\": 1}, \"outputs\": [{\"name\": \"top\", \"usl\": "
        "1.1}]}");
    Outcome o = LASH("study", "run", study, "-o", scratch_file("ball.db", store, sizeof store));
    if (strstr(o.out, "0 ok, 3 failed") == NULL) fail_msg("%s%s", o.out, o.err);
    outcome_free(&o);
}

// Two driven walls close on a box; then there is no motion left.
static void a_part_squeezed_by_two_drivers_names_them(void** state) {
    (void)state;
    const char* model = write_text(
        "squeeze.json",
        "{\"format\": \"lash-model/1\", \"gravity\": [0, 0, -9.81], \"parts\": [{\"name\": "
        "\"box\", \"shape\": {\"type\": \"box\", \"size\": [0.05, 0.05, 0.05]}, \"mass\": 1, "
        "\"pose\": {\"position\": [0, 0, 0.025]}}, {\"name\": \"left\", \"shape\": {\"type\": "
        "\"box\", \"size\": [0.01, 0.05, 0.05]}, \"mass\": 1, \"pose\": {\"position\": [-0.031, "
        "0, 0.025]}}, {\"name\": \"right\", \"shape\": {\"type\": \"box\", \"size\": [0.01, "
        "0.05, 0.05]}, \"mass\": 1, \"pose\": {\"position\": [0.031, 0, 0.025]}}], \"joints\": "
        "[{\"name\": \"push_left\", \"type\": \"prismatic\", \"a\": \"ground\", \"b\": "
        "\"left\", \"point\": [-0.031, 0, 0.025], \"axis\": [1, 0, 0], \"driver\": "
        "{\"position\": \"0.1*t\"}}, {\"name\": \"push_right\", \"type\": \"prismatic\", "
        "\"a\": \"ground\", \"b\": \"right\", \"point\": [0.031, 0, 0.025], \"axis\": [-1, 0, "
        "0], \"driver\": {\"position\": \"0.3*t\"}}], \"contacts\": [{\"name\": \"floor\", "
        "\"a\": {\"part\": \"ground\", \"plane\": {\"point\": [0, 0, 0], \"normal\": [0, 0, "
        "1]}}, \"b\": {\"part\": \"box\", \"box\": {}}, \"friction\": 0.3}, {\"name\": "
        "\"west\", \"a\": {\"part\": \"left\", \"plane\": {\"point\": [0.005, 0, 0], "
        "\"normal\": [1, 0, 0]}}, \"b\": {\"part\": \"box\", \"box\": {\"corners\": [[-1, 1, "
        "1], [-1, 1, -1], [-1, -1, 1], [-1, -1, -1]]}}}, {\"name\": \"east\", \"a\": {\"part\": "
        "\"right\", \"plane\": {\"point\": [-0.005, 0, 0], \"normal\": [-1, 0, 0]}}, \"b\": "
        "{\"part\": \"box\", \"box\": {\"corners\": [[1, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, "
        "-1]]}}}], \"simulation\": {\"step\": 1e-4, \"duration\": 0.02, \"substeps\": 64, "
        "\"assemble\": true}}");
    static const char* const scheme[] = {"combined", "trapezoidal"};
    for (int i = 0; i < 2; ++i) {
        Outcome o = LASH("run", model, "--scheme", scheme[i]);
        assert_int_equal(o.code, 5);
        assert_says(&o, "exclude each other at t = 0.00"); // 2 mm at 0.4 m/s: 5 ms
        assert_says(&o,
                    "'push_left.driver' (0.1 m/s), 'push_right.driver' (0.3 m/s), 'west', 'east'");
        assert_null(strstr(o.err, "floor"));
        assert_null(strstr(o.err, "smaller step"));
        outcome_free(&o);
    }
}

static void a_driver_against_its_stop_names_both(void** state) {
    (void)state;
    const char* model = pendulum(
        ", \"driver\": {\"speed\": 3}, \"limits\": {\"lower\": -0.05, \"upper\": 0.05}", "");
    char text[4000];
    char* whole = slurp(model);
    snprintf(text, sizeof text, "%.*s, \"assemble\": true}}", (int)(strlen(whole) - 2), whole);
    free(whole);
    Outcome o = LASH("run", write_text("stop.json", text));
    assert_int_equal(o.code, 5);
    assert_says(&o, "exclude each other at t = 0.016");
    assert_says(&o, "'hinge.driver' (3 rad/s), 'hinge.upper_limit'");
    outcome_free(&o);
}

static void the_largest_shift_is_in_summary_document_and_result(void** state) {
    (void)state;
    char model[400], result[300];
    snprintf(model, sizeof model, "%s/models/slider_crank/planar_play.json", LASH_SOURCE_DIR);
    scratch_file("shift.h5", result, sizeof result);
    Outcome o = LASH("run", model, "--duration", "0.01", "-o", result);
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.out, "shift       the projection moved parts by at most"));
    outcome_free(&o);
    o = LASH("run", model, "--duration", "0.01", "--json");
    assert_non_null(strstr(o.out, "\"shift\""));
    outcome_free(&o);
    o = LASH("export", "--csv", result);
    assert_non_null(strstr(o.out, "shift"));
    outcome_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_force_that_is_no_number_ends_the_run_in_every_scheme),
        cmocka_unit_test(the_same_beside_joints),
        cmocka_unit_test(an_infinite_force_is_named),
        cmocka_unit_test(a_force_beyond_all_range_is_named),
        cmocka_unit_test(energies_that_overflow_end_the_run),
        cmocka_unit_test(a_motion_that_is_no_number_names_its_driver),
        cmocka_unit_test(a_step_that_fails_without_joints_is_reported),
        cmocka_unit_test(a_part_beyond_all_rounding_is_named),
        cmocka_unit_test(a_study_marks_such_samples_failed),
        cmocka_unit_test(a_part_squeezed_by_two_drivers_names_them),
        cmocka_unit_test(a_driver_against_its_stop_names_both),
        cmocka_unit_test(the_largest_shift_is_in_summary_document_and_result),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
