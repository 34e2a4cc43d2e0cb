// Inputs: numbers from outside that functions read. From CSV files, from a program, as parameters of
// runs and studies; against closed forms; what is wrong is refused and sets nothing.
#include <cjson/cJSON.h>
#include "test.h"

#include "app/lash.h"
#include "app/model/model.h"
#include "model_text.h"

#define SLIDER(inputs, joint, force)                                                        \
    "{'format': 'lash-model/1', 'parameters': {'a': 3}, 'inputs': {" inputs                 \
    "}, 'parts': "                                                                          \
    "[{'name': 'p', 'mass': 2, 'inertia': [1, 1, 1]}], 'joints': [{'name': 's', 'type': "   \
    "'prismatic', 'a': 'ground', 'b': 'p', 'point': [0, 0, 0], 'axis': [1, 0, 0]" joint     \
    "}], 'forces': [" force                                                                 \
    "], 'simulation': {'step': 1e-3, 'duration': 1}, 'outputs': "                           \
    "[{'name': 'end', 'quantity': 'coordinate', 'of': 's'}, {'name': 'speed', 'quantity': " \
    "'speed', 'of': 's'}]}"
#define PUSH(text) "{'name': 'f', 'type': 'joint_force', 'joint': 's', 'force': '" text "'}"
#define CURRENT "'current': {'value': 0, 'unit': 'A'}"

static void write_file(const char* name, const char* text) {
    char path[300];
    FILE* file = fopen(scratch_file(name, path, sizeof path), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

// Outputs of a run with this option; NAN and a look at the message where it should be refused.
static void run_with(const char* text, const char* option, const char* value, const char* says,
                     double output[2]) {
    char path[300];
    write_model("inputs.json", text, path, sizeof path);
    Outcome o =
        option != NULL ? LASH("run", path, "--json", option, value) : LASH("run", path, "--json");
    output[0] = output[1] = NAN;
    if (says != NULL) {
        if (strstr(o.err, says) == NULL) print_error("code %d: %s\n", o.code, o.err);
        assert_true(o.code == 2 || o.code == 3 || o.code == 7);
        assert_non_null(strstr(o.err, says));
    } else {
        if (o.code != 0) print_error("%s", o.err);
        assert_int_equal(o.code, 0);
        cJSON* json = cJSON_Parse(o.out);
        const cJSON* outputs = cJSON_GetObjectItem(json, "outputs");
        for (int i = 0; i < 2; ++i) {
            const cJSON* one = cJSON_GetArrayItem(outputs, i);
            if (cJSON_IsObject(one)) one = cJSON_GetObjectItem(one, "value");
            assert_true(cJSON_IsNumber(one));
            output[i] = one->valuedouble;
        }
        cJSON_Delete(json);
    }
    outcome_free(&o);
}

static const char* input_of(const char* file) {
    static char text[400];
    char path[300];
    snprintf(text, sizeof text, "current=%s", scratch_file(file, path, sizeof path));
    return text;
}

static void a_force_follows_a_file(void** state) {
    (void)state;
    double y[2];
    write_file("ramp.csv", "t,current\n0,0\n1,6\n");
    // 2 x'' = 4 + 6 t
    run_with(SLIDER(CURRENT, "", PUSH("current + 4")), "--input", input_of("ramp.csv"), NULL, y);
    assert_true(fabs(y[1] - 3.5) < 1e-9 && fabs(y[0] - 1.5) < 1e-6);
    write_file("late.csv", "0.25; 2\n0.5; 2\n"); // held before and after
    run_with(SLIDER(CURRENT, "", PUSH("current")), "-i", input_of("late.csv"), NULL, y);
    assert_true(fabs(y[0] - 0.5) < 1e-9);
    run_with(SLIDER(CURRENT, "", PUSH("current")), NULL, NULL, NULL, y);
    assert_true(y[0] == 0);
}

static void a_driver_follows_a_file_with_its_speed(void** state) {
    (void)state;
    double y[2];
    write_file("ramp.csv", "0,0\n1,6\n");
    run_with(SLIDER(CURRENT, ", 'driver': {'position': 'current^2/4'}", ""), "--input",
             input_of("ramp.csv"), NULL, y);
    assert_true(fabs(y[0] - 9) < 1e-9 && fabs(y[1] - 18) < 1e-6); // 2 c c' / 4
}

static void an_input_is_a_parameter_too(void** state) {
    (void)state;
    double y[2];
    const char* text = SLIDER("'current': {'value': '2*a'}", "", PUSH("current"));
    run_with(text, NULL, NULL, NULL, y);
    assert_true(fabs(y[0] - 1.5) < 1e-9);
    run_with(text, "--set", "a=1", NULL, y);
    assert_true(fabs(y[0] - 0.5) < 1e-9);
    run_with(text, "--set", "current=4", NULL, y);
    assert_true(fabs(y[0] - 1) < 1e-9);
    char study[300], store[300];
    write_model(
        "inputs.study.json",
        "{'format': 'lash-study/1', 'model': 'inputs.json', 'parameters': [{'name': "
        "'current', 'distribution': 'uniform', 'low': 1, 'high': 2}], 'outputs': [{'name': "
        "'y', 'expression': 'end - current/4'}], 'design': {'type': 'random', 'samples': 6}}",
        study, sizeof study);
    Outcome o = LASH("study", "run", study, "-o", scratch_file("inputs.db", store, sizeof store),
                     "-j", "2");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = LASH("study", "report", store, "--json");
    cJSON* json = cJSON_Parse(o.out);
    const cJSON* one = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "outputs"), 0);
    assert_true(fabs(cJSON_GetObjectItem(one, "max")->valuedouble) < 1e-9);
    assert_true(fabs(cJSON_GetObjectItem(one, "min")->valuedouble) < 1e-9);
    cJSON_Delete(json);
    outcome_free(&o);
}

static void the_result_keeps_the_signal(void** state) {
    (void)state;
    char model[300], result[300];
    write_file("ramp.csv", "0,0\n0.123456,6.5\n");
    write_model("inputs.json", SLIDER(CURRENT, "", PUSH("current")), model, sizeof model);
    Outcome o = LASH("run", model, "--input", input_of("ramp.csv"), "-o",
                     scratch_file("inputs.h5", result, sizeof result));
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    FILE* file = fopen(result, "rb");
    assert_non_null(file);
    static char bytes[1 << 20];
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    bool found = false;
    for (size_t i = 0; i + 8 < n && !found; ++i) found = memcmp(bytes + i, "0.123456", 8) == 0;
    assert_true(found);
}

// Value in the column whose name begins so, in line `line` of a CSV text, 0 being the head.
static double column_value(const char* text, const char* column, int line) {
    int index = 0;
    const char* at = strstr(text, column);
    assert_non_null(at);
    for (const char* c = text; c < at; ++c) index += *c == ',';
    for (; line > 0; --line) text = strchr(text, '\n') + 1;
    for (; index > 0; --index) text = strchr(text, ',') + 1;
    return strtod(text, NULL);
}

// The value at every frame is a series of the result, and an output like others.
static void an_input_is_recorded_over_time(void** state) {
    (void)state;
    char model[300], result[300], plot[300];
    write_file("ramp.csv", "0,1\n0.5,6\n0.75,2\n");
    write_model(
        "inputs.json",
        "{'format': 'lash-model/1', 'inputs': {'current': {'value': 0, 'unit': 'A'}, "
        "'fixed': {'value': 7}}, 'parts': [{'name': 'p', 'mass': 2, 'inertia': [1, 1, 1]}], "
        "'forces': [{'name': 'f', 'type': 'force', 'part': 'p', 'force': ['current', 0, "
        "0]}], 'simulation': {'step': 1e-2, 'duration': 1}, 'outputs': [{'name': 'peak', "
        "'quantity': 'input', 'of': 'current', 'when': 'max'}, {'name': 'mean', "
        "'quantity': 'input', 'of': 'current', 'when': 'mean'}]}",
        model, sizeof model);
    Outcome o = LASH("run", model, "--input", input_of("ramp.csv"), "-o",
                     scratch_file("inputs.h5", result, sizeof result), "-p",
                     scratch_file("inputs.svg", plot, sizeof plot), "--json");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    cJSON* json = cJSON_Parse(o.out);
    const cJSON* outputs = cJSON_GetObjectItem(json, "outputs");
    const cJSON* peak = cJSON_GetObjectItem(outputs, "peak");
    const cJSON* mean = cJSON_GetObjectItem(outputs, "mean");
    assert_true(fabs(peak->valuedouble - 6) < 1e-12);
    assert_true(fabs(mean->valuedouble - 3.25) < 1e-9);
    cJSON_Delete(json);
    outcome_free(&o);
    o = LASH("export", "--csv", result);
    assert_int_equal(o.code, 0);
    for (int line = 1; line <= 101; ++line) {
        double t = 0.01 * (line - 1), expected = 2;
        if (t < 0.75) expected = 6 - 16 * (t - 0.5);
        if (t < 0.5) expected = 1 + 10 * t;
        assert_true(fabs(column_value(o.out, "input.current [A]", line) - expected) < 1e-9);
        assert_true(column_value(o.out, "input.fixed", line) == 7);
    }
    outcome_free(&o);
    char* svg = slurp(plot);
    assert_non_null(strstr(svg, "current input"));
    free(svg);
}

static void what_is_wrong_is_refused(void** state) {
    (void)state;
    double y[2];
    const char* good = SLIDER(CURRENT, "", PUSH("current"));
    write_file("ramp.csv", "0,0\n1,6\n");
    run_with(good, "--input", "current", "expected input=file.csv", y);
    run_with(good, "--input", "curent=x.csv", "did you mean 'current'", y);
    run_with(good, "--input", "current=/nowhere/x.csv", "cannot open", y);
    static const char* const bad[][2] = {{"0,0\n0,1\n", "must rise"},
                                         {"1,0\n0,1\n", "must rise"},
                                         {"0,0\n1,nan\n", "line 2"},
                                         {"0,0,1\n1,1,2\n", "two columns"},
                                         {"0,0\n", "2 points or more"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        write_file("bad.csv", bad[i][0]);
        run_with(good, "--input", input_of("bad.csv"), bad[i][1], y);
    }
    run_with(SLIDER("'a': {'value': 1}", "", PUSH("1")), NULL, NULL, "taken by a parameter", y);
    run_with(SLIDER("'sin': {'value': 1}", "", PUSH("1")), NULL, NULL, "choose another name", y);
    run_with(SLIDER("'i': {'unit': 'A'}", "", PUSH("1")), NULL, NULL, "'value' is missing", y);
    run_with(SLIDER("'i': 3", "", PUSH("1")), NULL, NULL, "expected an object", y);
    run_with(SLIDER("'i': {'value': 'i + 1'}", "", PUSH("1")), NULL, NULL, "depend on themselves",
             y);
    run_with(SLIDER(CURRENT, "", PUSH("curent")), NULL, NULL, "no parameter", y);
}

// ---- from a program -----------------------------------------------------------------------------

typedef struct Bench {
    LashModel* model;
    LashMechanism* mech;
    LashSim* sim;
} Bench;

static Bench bench_of(const char* text, double h) {
    char copy[3000];
    LashError error = {0};
    snprintf(copy, sizeof copy, "%s", text);
    for (char* c = copy; *c != '\0'; ++c) {
        if (*c == '\'') *c = '"';
    }
    Bench b = {.model = lash_model_parse("m.json", copy, strlen(copy), NULL, 0, &error)};
    if (b.model == NULL) fail_msg("%s: %s", error.where, error.message);
    b.mech = lash_model_build(b.model, &error);
    LashSettings settings = b.model->simulation.settings;
    settings.h = h;
    b.sim = lash_sim_create(lash_mechanism_system(b.mech), &settings);
    return b;
}

static void bench_free(Bench* b) {
    lash_sim_destroy(b->sim);
    lash_mechanism_destroy(b->mech);
    lash_model_destroy(b->model);
}

// A coil and a plunger: L di/dt = U - R i - k x', 2 x'' = k i - c x'. The test integrates the coil by
// the trapezoidal rule with the speed of the plunger, and hands the current over. Closed form of the
// linear system from its own fine integration.
static double plunger(double h) {
    const double L = 0.1, R = 2, k = 3, U = 5;
    Bench b = bench_of(SLIDER(CURRENT, "", PUSH("3*current - 0.5*v")), h);
    int input = lash_mechanism_find_input(b.mech, "current");
    assert_int_equal(input, 0);
    assert_int_equal(lash_mechanism_input_count(b.mech), 1);
    assert_string_equal(lash_mechanism_input_name(b.mech, 0), "current");
    double current = 0, last_speed = 0;
    const double *q, *v;
    for (int step = 0; step < (int)(1 / h + 0.5); ++step) {
        lash_sim_state(b.sim, &q, &v);
        double speed = v[0],
               ahead = speed + 0.5 * (speed - last_speed); // at the middle of the step
        double next = (current * (L / h - R / 2) + U - k * ahead) / (L / h + R / 2);
        assert_true(lash_sim_set_input(b.sim, input, current, next));
        assert_int_equal(lash_sim_step(b.sim).outcome, LASH_CONVERGED);
        last_speed = speed;
        current = next;
        double t = lash_sim_time(b.sim);
        assert_true(fabs(lash_mechanism_input_value(lash_sim_work(b.sim), 0, t) - next) < 1e-12);
    }
    lash_sim_state(b.sim, &q, &v);
    double x = q[0];
    LashEnergy e = lash_sim_energy(b.sim);
    assert_true(fabs(e.kinetic - e.external_work) < 1e-4 * e.external_work);
    bench_free(&b);
    return x;
}

static double plunger_exact(void) {
    double x = 0, v = 0, i = 0, h = 1e-5;
    for (int n = 0; n < 100000; ++n) { // Heun
        double a = (3 * i - 0.5 * v) / 2, d = (5 - 2 * i - 3 * v) / 0.1;
        double v1 = v + h * a, i1 = i + h * d;
        double a1 = (3 * i1 - 0.5 * v1) / 2, d1 = (5 - 2 * i1 - 3 * v1) / 0.1;
        x += h * 0.5 * (v + v1);
        v += h * 0.5 * (a + a1);
        i += h * 0.5 * (d + d1);
    }
    return x;
}

static void a_coil_integrated_outside_moves_a_plunger(void** state) {
    (void)state;
    double exact = plunger_exact();
    double coarse = fabs(plunger(4e-3) - exact), fine = fabs(plunger(2e-3) - exact);
    if (!(fine < 1e-5 && coarse / fine > 3)) print_error("%g %g of %g\n", coarse, fine, exact);
    assert_true(fine < 1e-4);
    assert_true(coarse / fine > 3); // second order
}

static void a_program_can_set_nothing_wrong(void** state) {
    (void)state;
    Bench b = bench_of(SLIDER(CURRENT, "", PUSH("current")), 1e-3);
    assert_true(lash_sim_set_input(b.sim, 0, 2, 2));
    assert_false(lash_sim_set_input(b.sim, 0, NAN, 1));
    assert_false(lash_sim_set_input(b.sim, 0, 1, INFINITY));
    assert_false(lash_sim_set_input(b.sim, 1, 0, 0));
    assert_false(lash_sim_set_input(b.sim, -1, 0, 0));
    assert_int_equal(lash_mechanism_find_input(b.mech, "voltage"), -1);
    const double *q, *v;
    for (int i = 0; i < 1000; ++i) assert_int_equal(lash_sim_step(b.sim).outcome, LASH_CONVERGED);
    lash_sim_state(b.sim, &q, &v);
    assert_true(fabs(q[0] - 0.5) < 1e-9); // the first call held
    bench_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_force_follows_a_file),
        cmocka_unit_test(a_driver_follows_a_file_with_its_speed),
        cmocka_unit_test(an_input_is_a_parameter_too),
        cmocka_unit_test(the_result_keeps_the_signal),
        cmocka_unit_test(an_input_is_recorded_over_time),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(a_coil_integrated_outside_moves_a_plunger),
        cmocka_unit_test(a_program_can_set_nothing_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
