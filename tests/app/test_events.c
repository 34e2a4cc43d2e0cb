// Events of joints in result files and in their CSV: limits and friction beside contacts.
#include "app/run/record.h"
#include "command.h"
#include "joints/mechanism.h"
#include "model_text.h"
#include "solvers/sim.h"
#include "test.h"

// Number of lines that begin with `start`.
static int lines(const char* text, const char* start) {
    int count = 0;
    for (const char* line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        count += strncmp(line, start, strlen(start)) == 0;
    }
    return count;
}

// A block that falls along z onto the stop of its guide, with e = 1/2, at 0.1 and 0.2 s.
static void an_impact_on_a_limit_is_an_event_with_the_name_of_the_limit(void** state) {
    (void)state;
    char model[300], result[300];
    write_model("stop.json",
                "{'format': 'lash-model/1', 'gravity': [0, 0, -10], 'parts': [{'name': 'block', "
                "'mass': 2, 'inertia': [1, 1, 1]}], 'joints': [{'name': 'guide', 'type': "
                "'prismatic', 'a': 'ground', 'b': 'block', 'point': [0, 0, 0], 'axis': [0, 0, 1], "
                "'limits': {'lower': "
                "-0.05, 'restitution': 0.5}}], 'simulation': {'duration': 0.24, 'step': 1e-3}}",
                model, sizeof model);
    scratch_file("stop.h5", result, sizeof result);
    Outcome o = LASH("run", model, "-o", result);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = LASH("export", result, "--csv", "--events");
    assert_int_equal(o.code, 0);
    assert_int_equal(lines(o.out, "kind,of,"), 1);
    assert_int_equal(lines(o.out, "impact,guide.lower_limit,"), 2);
    assert_int_equal(lines(o.out, "open,guide.lower_limit,"), 2);
    outcome_free(&o);
    LashError error = {0};
    LashRecord* record = lash_record_open(result, &error);
    LashRecordEvent event;
    assert_true(lash_record_read_events(record, 0, 1, &event, &error));
    assert_int_equal(event.kind, LASH_EVENT_IMPACT);
    assert_int_equal(event.contact, -1);
    assert_int_equal(event.joint, 0);
    assert_int_equal(event.part, LASH_PART_LOWER_LIMIT);
    assert_float_equal(event.before[0], -1, 0.02); // sqrt(2 g 0.05)
    assert_float_equal(event.impulse[0], 3, 0.06); // (1 + e) m v
    lash_record_close(record);
}

// A block on a rail, started with 1 m/s, comes to rest after 0.2 s by friction 0.5.
static void friction_in_a_joint_that_begins_to_stick_is_an_event(void** state) {
    (void)state;
    char model[300], result[300];
    write_model("rail.json",
                "{'format': 'lash-model/1', 'gravity': [0, 0, -10], 'parts': [{'name': 'block', "
                "'mass': 2, 'inertia': [1, 1, 1], 'velocity': [1, 0, 0]}], 'joints': [{'name': "
                "'rail', 'type': 'prismatic', 'a': 'ground', 'b': 'block', 'point': [0, 0, 0], "
                "'axis': [1, 0, 0], "
                "'friction': 0.5}], 'simulation': {'duration': 0.4, 'step': 1e-3}}",
                model, sizeof model);
    scratch_file("rail.h5", result, sizeof result);
    Outcome o = LASH("run", model, "-o", result);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = LASH("export", result, "--csv", "--events");
    assert_int_equal(o.code, 0);
    assert_int_equal(lines(o.out, "stick,rail.friction,"), 1);
    double t = 0;
    assert_int_equal(sscanf(strstr(o.out, "stick,rail"), "stick,rail.friction,%lf", &t), 1);
    assert_float_equal(t, 0.2, 2e-3);
    outcome_free(&o);
}

// Events that a scheme locates have no step: h = 0. Ballard's ball hits its floor at 1, 2, 2.5 ... s.
static void located_events_are_kept(void** state) {
    (void)state;
    char result[300];
    scratch_file("ball.h5", result, sizeof result);
    Outcome o = LASH("run", LASH_SOURCE_DIR "/models/papers/bouncing_ball.json", "--scheme",
                     "trapezoidal", "--duration", "2.2", "-o", result);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = LASH("export", result, "--csv", "--events");
    assert_int_equal(lines(o.out, "impact,bounce,"), 2);
    double t = 0;
    assert_int_equal(sscanf(strstr(o.out, "impact,bounce,"), "impact,bounce,%lf", &t), 1);
    assert_float_equal(t, 1, 1e-12);
    outcome_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(located_events_are_kept),
        cmocka_unit_test(an_impact_on_a_limit_is_an_event_with_the_name_of_the_limit),
        cmocka_unit_test(friction_in_a_joint_that_begins_to_stick_is_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
