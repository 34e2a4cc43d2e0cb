// Force elements in models: bushings, springs that only push or pull, springs of fixed direction,
// motors by a table. Closed forms, energy, and what is refused.
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bushing_swings_as_six_springs),
        cmocka_unit_test(a_full_matrix_couples_and_dampers_take_energy),
        cmocka_unit_test(a_spring_that_only_pushes_lets_go),
        cmocka_unit_test(a_spring_of_fixed_direction_leaves_the_other_alone),
        cmocka_unit_test(a_motor_runs_up_by_its_table),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
