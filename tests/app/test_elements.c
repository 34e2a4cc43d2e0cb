// Force elements in models: bushings, springs that only push or pull, springs of fixed direction,
// motors by a table, free joints. Closed forms, energy, and what is refused.
#include <cjson/cJSON.h>
#include <math.h>
#include "test.h"

#include "model_text.h"

#define MODEL(tables, part, forces, end, outputs)                                              \
    "{'format': 'lash-model/1', 'units': {'length': 'mm', 'mass': 'g', 'angle': 'deg'}" tables \
    ", 'parts': [{'name': 'p', 'mass': 2000, 'inertia': [3e6, 3e6, 3e6]" part                  \
    "}], 'forces': [" forces "], 'simulation': {'step': 5e-4, 'duration': " end                \
    "}, 'outputs': [" outputs "]}"
#define OUT(name, quantity) "{'name': '" name "', 'quantity': '" quantity "', 'of': 'p'}"

static cJSON* run(const char* text) {
    char path[300];
    write_model("element.json", text, path, sizeof path);
    Outcome o = LASH("run", path, "--json");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    cJSON* json = cJSON_Parse(o.out);
    outcome_free(&o);
    return json;
}

static double number_at(const cJSON* json, const char* group, const char* key) {
    const cJSON* item = cJSON_GetObjectItem(cJSON_GetObjectItem(json, group), key);
    if (cJSON_IsObject(item)) item = cJSON_GetObjectItem(item, "value");
    if (!cJSON_IsNumber(item)) fail_msg("%s.%s is missing", group, key);
    return item->valuedouble;
}

static void expect(const char* what, double got, double expected, double tolerance) {
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%s: %.12g, expected %.12g", what, got, expected);
}

// x' = -w^2 x in each coordinate; 8 N/mm on 2 kg: w = 63.2/s; angles 100 N mm/deg on 3e-3 kg m^2.
static void a_bushing_swings_as_six_springs(void** state) {
    (void)state;
    cJSON* json = run(MODEL(
        "", ", 'velocity': [10, 0, 20], 'angular_velocity': [0, 0, 30]",
        "{'name': 'b', 'type': 'bushing', 'a': 'ground', 'b': 'p', 'stiffness_matrix': [8, 8, 2, "
        "100, 100, 100]}",
        "0.02",
        OUT("x", "position.x") "," OUT("z", "position.z") "," OUT("w", "angular_velocity.z")));
    double w = sqrt(8e3 / 2), wz = sqrt(2e3 / 2), turn = sqrt(0.1 * 180 / M_PI / 3e-3);
    expect("x", number_at(json, "outputs", "x"), 0.010 / w * sin(w * 0.02), 1e-7);
    expect("z", number_at(json, "outputs", "z"), 0.020 / wz * sin(wz * 0.02), 1e-7);
    expect("w", number_at(json, "outputs", "w"), 30 * M_PI / 180 * cos(turn * 0.02), 2e-5);
    expect("balance", number_at(json, "energy", "balance_error"), 0, 1e-9);
    cJSON_Delete(json);
}

static void a_full_matrix_couples_and_dampers_take_energy(void** state) {
    (void)state;
    cJSON* json = run(MODEL(
        "", ", 'velocity': [10, 0, 0]",
        "{'name': 'b', 'type': 'bushing', 'a': 'ground', 'b': 'p', 'place': [0, 0, 0], "
        "'stiffness_matrix': [[8,2,0,0,0,0],[2,8,0,0,0,0],[0,0,8,0,0,0],[0,0,0,9,0,0],[0,0,0,0,9,"
        "0],[0,0,0,0,0,9]], 'damping_matrix': [0.01, 0.01, 0.01, 0, 0, 0]}",
        "0.05", OUT("x", "position.x") "," OUT("y", "position.y")));
    // along x + y and x - y: stiffness 10 and 6 N/mm, damping 10 N s/m
    double sum[2], k[2] = {1e4, 6e3};
    for (int i = 0; i < 2; ++i) {
        double c = 10.0 / 4, w = sqrt(k[i] / 2 - c * c);
        sum[i] = 0.010 / w * exp(-c * 0.05) * sin(w * 0.05);
    }
    expect("x", number_at(json, "outputs", "x"), 0.5 * (sum[0] + sum[1]), 2e-7);
    expect("y", number_at(json, "outputs", "y"), 0.5 * (sum[0] - sum[1]), 2e-7);
    assert_true(number_at(json, "energy", "dissipated") > 1e-6);
    expect("balance", number_at(json, "energy", "balance_error"), 0, 1e-9);
    cJSON_Delete(json);
}

// Half a swing while it pushes, free flight after.
static void a_spring_that_only_pushes_lets_go(void** state) {
    (void)state;
    double w = sqrt(8e3 / 2), half = M_PI / w, v = 0.1;
    for (int k = 0; k < 2; ++k) {
        cJSON* json =
            run(k == 0 ? MODEL("", ", 'pose': {'position': [50, 0, 0]}, 'velocity': [-100, 0, 0]",
                               "{'name': 's', 'type': 'spring', 'a': 'ground', 'b': 'p', "
                               "'stiffness': 8, 'rest': 50, 'acts': 'push'}",
                               "0.2", OUT("x", "position.x"))
                       : MODEL("", ", 'pose': {'position': [50, 0, 0]}, 'velocity': [100, 0, 0]",
                               "{'name': 's', 'type': 'spring', 'a': 'ground', 'b': 'p', "
                               "'stiffness': 8, 'rest': 50, 'acts': 'pull'}",
                               "0.2", OUT("x", "position.x")));
        double sign = k == 0 ? 1 : -1;
        expect("x", number_at(json, "outputs", "x"), 0.05 + sign * v * (0.2 - half), 2e-5);
        expect("balance", number_at(json, "energy", "balance_error"), 0, 2e-4 * 0.01);
        cJSON_Delete(json);
    }
}

// Along x of the ground whatever y is.
static void a_spring_of_fixed_direction_leaves_the_other_alone(void** state) {
    (void)state;
    cJSON* json = run(
        MODEL("", ", 'velocity': [10, 70, 0]",
              "{'name': 's', 'type': 'spring', 'a': 'ground', 'b': 'p', 'direction': [1, 0, 0], "
              "'stiffness': 8}",
              "0.02", OUT("x", "position.x") "," OUT("y", "position.y")));
    double w = sqrt(8e3 / 2);
    expect("x", number_at(json, "outputs", "x"), 0.010 / w * sin(w * 0.02), 1e-7);
    expect("y", number_at(json, "outputs", "y"), 0.070 * 0.02, 1e-9);
    expect("balance", number_at(json, "energy", "balance_error"), 0, 1e-9);
    cJSON_Delete(json);
}

// Torque 600 N mm at rest, 0 at 600 deg/s, linear: speed = 600 (1 - exp(-t/T)), T = J w0 / M0.
static void a_motor_runs_up_by_its_table(void** state) {
    (void)state;
    cJSON* json =
        run("{'format': 'lash-model/1', 'units': {'length': 'mm', 'mass': 'g', 'angle': 'deg'}, "
            "'tables': [{'name': 'motor', 'x': [0, 600, 1200], 'values': [600, 0, -600], "
            "'interpolation': 'linear', 'outside': 'hold'}], 'parts': "
            "[{'name': 'p', 'mass': 2000, 'inertia': [3e6, 3e6, 3e6]}], 'joints': [{'name': 'j', "
            "'type': 'revolute', 'a': 'ground', 'b': 'p', 'point': [0, 0, 0], 'axis': [0, 0, 1]}], "
            "'forces': [{'name': 'm', 'type': 'joint_force', 'joint': 'j', 'force': 'motor(v)'}], "
            "'simulation': {'step': 5e-4, 'duration': 0.1}, 'outputs': [{'name': 'v', 'quantity': "
            "'speed', 'of': 'j'}]}");
    double top = 600 * M_PI / 180, T = 3e-3 * top / 0.6;
    expect("speed", number_at(json, "outputs", "v"), top * (1 - exp(-0.1 / T)), 1e-5 * top);
    double work = number_at(json, "energy", "external_work");
    expect("work", work, 0.5 * 3e-3 * pow(number_at(json, "outputs", "v"), 2), 1e-6);
    cJSON_Delete(json);
}

static void what_makes_no_sense_is_refused(void** state) {
    (void)state;
    static const char* const wrong[][2] = {
        {"{'name': 'b', 'type': 'bushing', 'a': 'ground', 'b': 'p'}", "needs 'stiffness_matrix'"},
        {"{'name': 'b', 'type': 'bushing', 'a': 'ground', 'b': 'p', 'stiffness_matrix': [1, 2]}",
         "expected 6 numbers or 6 lists of 6"},
        {"{'name': 'b', 'type': 'bushing', 'a': 'ground', 'b': 'p', 'stiffness_matrix': [1, 2, 3, "
         "4, 5, -6]}",
         "negative eigenvalue"},
        {"{'name': 'b', 'type': 'bushing', 'a': 'ground', 'b': 'p', 'stiffness_matrix': "
         "[[8,2,0,0,0,0],[1,8,0,0,0,0],[0,0,8,0,0,0],[0,0,0,9,0,0],[0,0,0,0,9,0],[0,0,0,0,0,9]]}",
         "symmetric"},
        {"{'name': 'b', 'type': 'bushing', 'a': 'p', 'b': 'p', 'stiffness_matrix': [1, 1, 1, 1, 1, "
         "1]}",
         "two different parts"},
        {"{'name': 's', 'type': 'spring', 'a': 'ground', 'b': 'p', 'b_point': [1, 0, 0], "
         "'stiffness': 8, 'damping': 1, 'acts': 'push'}",
         "a spring that only pushes"},
        {"{'name': 's', 'type': 'spring', 'a': 'ground', 'b': 'p', 'stiffness': 8, 'direction': "
         "[0, 0, 0]}",
         "must not be zero"},
        {"{'name': 's', 'type': 'force', 'part': 'p', 'force': [0, 0, 0], 'acts': 'push'}",
         "has no 'acts'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        char text[2000], path[300];
        snprintf(text, sizeof text, MODEL("", "", "%s", "0.1", ""), wrong[i][0]);
        write_model("wrong.json", text, path, sizeof path);
        Outcome o = LASH("check", path);
        if (o.code != 3 || strstr(o.err, wrong[i][1]) == NULL)
            fail_msg("%s: code %d, %s", wrong[i][0], o.code, o.err);
        outcome_free(&o);
    }
}

// ---- free joints --------------------------------------------------------------------------------

#define FREE(part, joint, forces, end, outputs)                                              \
    "{'format': 'lash-model/1', 'units': {'length': 'mm', 'mass': 'g', 'angle': 'deg'}, "    \
    "'parts': [{'name': 'p', 'mass': 2000, 'inertia': [3e6, 2e6, 4e6]" part                  \
    "}], 'joints': [{'name': 'j', 'type': 'free', 'a': 'ground', 'b': 'p', 'point': [0, 0, " \
    "0]" joint "}], 'forces': [" forces "], 'simulation': {'step': 5e-4, 'duration': " end   \
    "}, 'outputs': [" outputs "]}"
#define COORDINATE(name)                                                             \
    "{'name': '" name "', 'quantity': 'coordinate', 'of': 'j', 'coordinate': '" name \
    "'}, {'name': 'v_" name "', 'quantity': 'speed', 'of': 'j', 'coordinate': '" name "'}"
#define SIX                                                                        \
    COORDINATE("x")                                                                \
    "," COORDINATE("y") "," COORDINATE("z") "," COORDINATE("roll") "," COORDINATE( \
        "pitch") "," COORDINATE("yaw")
static const char* const six[] = {"x", "y", "z", "roll", "pitch", "yaw"};

#define SPRING(name, k, c)                                                            \
    "{'name': '" name "', 'type': 'joint_spring', 'joint': 'j', 'coordinate': '" name \
    "', 'stiffness': " k ", 'damping': " c "}"

// The same swing, wide and in all directions, once by a bushing and once by springs on each of the
// six coordinates.
static void springs_on_six_coordinates_are_a_bushing(void** state) {
    (void)state;
    static const char start[] =
        ", 'velocity': [900, -700, 500], 'angular_velocity': [600, 500, -700]";
    char text[4000];
    cJSON* json[2];
    snprintf(text, sizeof text, FREE("%s", "", "%s", "0.3", SIX), start,
             "{'name': 'b', 'type': 'bushing', 'a': 'ground', 'b': 'p', 'stiffness_matrix': [8, 6, "
             "4, 100, 200, 150], 'damping_matrix': [0.01, 0.02, 0.03, 0.1, 0.2, 0.3]}");
    json[0] = run(text);
    snprintf(
        text, sizeof text, FREE("%s", "", "%s", "0.3", SIX), start,
        SPRING("x", "8", "0.01") "," SPRING("y", "6", "0.02") "," SPRING(
            "z", "4", "0.03") "," SPRING("roll", "100",
                                         "0.1") "," SPRING("pitch", "200",
                                                           "0.2") "," SPRING("yaw", "150", "0.3"));
    json[1] = run(text);
    for (int c = 0; c < 6; ++c) {
        double x = number_at(json[0], "outputs", six[c]);
        assert_true(fabs(x) > 1e-4);
        expect(six[c], number_at(json[1], "outputs", six[c]), x, 1e-10);
    }
    double lost = number_at(json[0], "energy", "dissipated");
    assert_true(lost > 0.1);
    expect("dissipated", number_at(json[1], "energy", "dissipated"), lost, 1e-9);
    expect("balance", number_at(json[1], "energy", "balance_error"), 0, 1e-4 * lost);
    cJSON_Delete(json[0]);
    cJSON_Delete(json[1]);
}

// Five positions and a speed are prescribed; what they do is external work.
static void a_part_follows_drivers_on_six_coordinates(void** state) {
    (void)state;
    cJSON* json = run(FREE(
        "",
        ", 'driver': [{'coordinate': 'x', 'position': '40*t^2'}, {'coordinate': 'y', 'position': "
        "'30*t^2'}, {'coordinate': 'z', 'position': '50*t^3'}, {'coordinate': 'roll', 'position': "
        "'60*t^2'}, {'coordinate': 'pitch', 'position': '-50*t^2'}, {'coordinate': 'yaw', "
        "'speed': '900*t'}]",
        "", "1", SIX));
    const double value[] = {40e-3, 30e-3, 50e-3, M_PI / 3, -M_PI / 3.6, 2.5 * M_PI};
    const double speed[] = {80e-3, 60e-3, 150e-3, M_PI / 1.5, -M_PI / 1.8, 5 * M_PI};
    for (int c = 0; c < 6; ++c) {
        char name[16];
        snprintf(name, sizeof name, "v_%s", six[c]);
        expect(six[c], number_at(json, "outputs", six[c]), value[c], c == 5 ? 1e-6 : 1e-9);
        expect(name, number_at(json, "outputs", name), speed[c], 2e-3 * fabs(speed[c]));
    }
    expect("balance", number_at(json, "energy", "balance_error"), 0, 1e-7);
    assert_true(number_at(json, "energy", "external_work") > 0.1);
    cJSON_Delete(json);
}

static bool has_line(const char* text, const char* begin) {
    for (const char* line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, begin, strlen(begin)) == 0) return true;
    }
    return false;
}

// It bounces from stop to stop of each coordinate; a load reads its yaw. Events and columns have the
// names of the coordinates.
static void limits_on_six_coordinates_are_met_and_named(void** state) {
    (void)state;
    char path[300], result[300];
    write_model("free.json",
                FREE(", 'velocity': [200, 300, 400], 'angular_velocity': [50, 60, 70]",
                     ", 'limits': [{'coordinate': 'x', 'lower': -2, 'upper': 2, 'restitution': 1}, "
                     "{'coordinate': 'y', 'lower': -2, 'upper': 2}, {'coordinate': 'z', 'lower': "
                     "-2, 'upper': 2, 'restitution': 0.5}, {'coordinate': 'roll', 'lower': -1, "
                     "'upper': 1}, {'coordinate': 'pitch', 'lower': -1, 'upper': 1}, "
                     "{'coordinate': 'yaw', 'lower': -1, 'upper': 1}]",
                     "{'name': 'f', 'type': 'torque', 'part': 'p', 'torque': [0, 0, '-10*j.yaw - "
                     "j.yaw.speed']}",
                     "0.2", SIX),
                path, sizeof path);
    Outcome o = LASH("run", path, "-o", scratch_file("free.h5", result, sizeof result), "--json");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    cJSON* json = cJSON_Parse(o.out);
    outcome_free(&o);
    for (int c = 0; c < 6; ++c)
        assert_true(fabs(number_at(json, "outputs", six[c])) <= (c < 3 ? 2e-3 : M_PI / 180) + 1e-9);
    assert_true(number_at(json, "energy", "balance_error") < 1e-6);
    cJSON_Delete(json);
    o = LASH("export", "--csv", result);
    assert_int_equal(o.code, 0);
    char* end = strchr(o.out, '\n');
    assert_non_null(end);
    *end = '\0';
    for (int c = 0; c < 6; ++c) {
        char name[40];
        snprintf(name, sizeof name, ",j.coordinate.%s [%s],", six[c], c < 3 ? "m" : "rad");
        if (strstr(o.out, name) == NULL) fail_msg("no column %s in %s", name, o.out);
        snprintf(name, sizeof name, ",j.speed.%s [%s/s],", six[c], c < 3 ? "m" : "rad");
        if (strstr(o.out, name) == NULL) fail_msg("no column %s in %s", name, o.out);
    }
    outcome_free(&o);
    o = LASH("export", "--csv", "--events", result);
    assert_int_equal(o.code, 0);
    for (int c = 0; c < 6; ++c) {
        char name[40];
        snprintf(name, sizeof name, "impact,j.%s.upper_limit,", six[c]);
        if (!has_line(o.out, name)) fail_msg("no event %s in %s", name, o.out);
    }
    assert_true(has_line(o.out, "impact,j.x.lower_limit,"));
    outcome_free(&o);
}

// Where roll and yaw turn about the same axis, torques on them have no answer: the run ends and says so.
static void a_free_joint_ends_where_its_angles_end(void** state) {
    (void)state;
    char path[300];
    write_model("lock.json",
                FREE(", 'pose': {'axis': [0, 1, 0], 'angle': 80}, 'angular_velocity': [0, 0, 0]",
                     ", 'a_axis': [0, 0, 1], 'a_x_axis': [1, 0, 0], 'b_axis': [0, 0, 1], "
                     "'b_x_axis': [1, 0, 0], 'driver': {'coordinate': 'pitch', 'position': '80 + "
                     "100*t^2'}",
                     SPRING("yaw", "10", "0") "," SPRING("roll", "10", "0"), "0.5", ""),
                path, sizeof path);
    Outcome o = LASH("run", path);
    assert_int_equal(o.code, 5);
    assert_true(strlen(o.err) > 20);
    outcome_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bushing_swings_as_six_springs),
        cmocka_unit_test(a_full_matrix_couples_and_dampers_take_energy),
        cmocka_unit_test(a_spring_that_only_pushes_lets_go),
        cmocka_unit_test(a_spring_of_fixed_direction_leaves_the_other_alone),
        cmocka_unit_test(a_motor_runs_up_by_its_table),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(springs_on_six_coordinates_are_a_bushing),
        cmocka_unit_test(a_part_follows_drivers_on_six_coordinates),
        cmocka_unit_test(limits_on_six_coordinates_are_met_and_named),
        cmocka_unit_test(a_free_joint_ends_where_its_angles_end),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
