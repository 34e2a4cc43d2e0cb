// Tables in model files: inline and CSV, in forces, numbers and outputs of studies; a measured spring
// against its closed form; what is wrong with a file is told with its line.
#include <cjson/cJSON.h>
#include "test.h"

#include "app/model/model.h"
#include "model_text.h"

#define SLIDER(tables, force, step)                                                             \
    "{'format': 'lash-model/1', 'tables': [" tables                                             \
    "], 'parts': [{'name': 'p', 'mass': 2, "                                                    \
    "'inertia': [1, 1, 1], 'velocity': [1, 0, 0]}], 'joints': [{'name': 's', 'type': "          \
    "'prismatic', 'a': 'ground', 'b': 'p', 'point': [0, 0, 0], 'axis': [1, 0, 0]}], 'forces': " \
    "[{'name': 'f', 'type': 'joint_force', 'joint': 's', 'force': '" force                      \
    "'}], 'simulation': {'step': " step                                                         \
    ", 'duration': 1}, 'outputs': [{'name': 'end', "                                            \
    "'quantity': 'coordinate', 'of': 's'}]}"

static double run_to_end(const char* text, const char* says) {
    char path[300];
    write_model("tables.json", text, path, sizeof path);
    Outcome o = LASH("run", path, "--json");
    if (says != NULL) {
        if (strstr(o.err, says) == NULL && strstr(o.out, says) == NULL)
            print_error("code %d: %s%s\n", o.code, o.err, o.out);
        assert_true(o.code == 3 || o.code == 5);
        assert_true(strstr(o.err, says) != NULL || strstr(o.out, says) != NULL);
        outcome_free(&o);
        return NAN;
    }
    if (o.code != 0) print_error("%s%s", o.err, o.out);
    assert_int_equal(o.code, 0);
    cJSON* json = cJSON_Parse(o.out);
    outcome_free(&o);
    const cJSON* outputs = cJSON_GetObjectItem(json, "outputs");
    const cJSON* end = cJSON_IsArray(outputs) ? cJSON_GetArrayItem(outputs, 0)
                                              : cJSON_GetObjectItem(outputs, "end");
    if (cJSON_IsObject(end)) end = cJSON_GetObjectItem(end, "value");
    assert_true(cJSON_IsNumber(end));
    double value = end->valuedouble;
    cJSON_Delete(json);
    return value;
}

#define LINE(kind)                                                                             \
    "{'name': 'pull', 'x': [-5, 0, 1, 5], 'values': [40, 0, -8, -40], 'interpolation': '" kind \
    "', 'outside': 'error'}"

static void a_straight_table_is_a_spring(void** state) {
    (void)state;
    // x'' = -4 x, x(0) = 0, v(0) = 1
    double exact = 0.5 * sin(2.0);
    assert_true(fabs(run_to_end(SLIDER(LINE("linear"), "pull(x)", "1e-3"), NULL) - exact) < 1e-6);
    assert_true(fabs(run_to_end(SLIDER(LINE("cubic"), "pull(x)", "1e-3"), NULL) - exact) < 1e-6);
    assert_true(fabs(run_to_end(SLIDER(LINE("linear"), "0.5*pull(2*x)", "1e-3"), NULL) - exact) <
                1e-6);
}

#define CURVE                                                                             \
    "{'name': 'pull', 'x': [-1, 0, 0.1, 0.3, 0.6, 2], 'values': [0.2, 1, 2, 6, 7, 7.5], " \
    "'interpolation': 'cubic', 'outside': 'error'}"

static void smooth_motion_with_a_cubic_table_is_of_second_order(void** state) {
    (void)state;
    double end[3];
    end[0] = run_to_end(SLIDER(CURVE, "-3*pull(x)", "4e-3"), NULL);
    end[1] = run_to_end(SLIDER(CURVE, "-3*pull(x)", "2e-3"), NULL);
    end[2] = run_to_end(SLIDER(CURVE, "-3*pull(x)", "1e-3"), NULL);
    double ratio = (end[0] - end[1]) / (end[1] - end[2]);
    if (!(ratio > 3.2 && ratio < 4.8)) print_error("%.12g %.12g %.12g\n", end[0], end[1], end[2]);
    assert_true(ratio > 3.2 && ratio < 4.8);
}

static void write_file(const char* name, const char* text) {
    char path[300];
    FILE* file = fopen(scratch_file(name, path, sizeof path), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#define FROM(file) \
    "{'name': 'pull', 'file': '" file "', 'interpolation': 'linear', 'outside': 'hold'}"

static void files_say_the_same_as_lists(void** state) {
    (void)state;
    double exact = run_to_end(SLIDER(LINE("linear"), "pull(x)", "1e-3"), NULL);
    static const char* const same[] = {"-5,40\n0,0\n1,-8\n5,-40\n",
                                       "x [m];force [N]\r\n-5; 40\r\n0; 0\r\n1; -8\r\n5; -40\r\n",
                                       "# measured\n\n-5\t40\n0 0 # rest\n1,-8e0\n5,-40"};
    for (int i = 0; i < 3; ++i) {
        write_file("pull.csv", same[i]);
        assert_true(run_to_end(SLIDER(FROM("pull.csv"), "pull(x)", "1e-3"), NULL) == exact);
    }
    write_file("two.csv", "x\\y, 0, 1, 2\n-5, 0, 40, 80\n0, 0, 0, 0\n5, 0, -40, -80\n");
    double two = run_to_end(SLIDER(FROM("two.csv"), "pull(x, 1)", "1e-3"), NULL);
    assert_true(fabs(two - exact) < 1e-12);
}

static void broken_files_are_told_with_their_line(void** state) {
    (void)state;
    static const char* const bad[][2] = {{"0,1\n1,2\n1,3\n", "must rise"},
                                         {"0,1\n2,2\n1,3\n", "must rise"},
                                         {"0,1\n1,two\n", "line 2: expected numbers"},
                                         {"0,1\n1,2,3\n", "line 2: expected 2 numbers, found 3"},
                                         {"0,1\n1,nan\n", "line 2: expected numbers"},
                                         {"0,1\n1,inf\n", "line 2: expected numbers"},
                                         {"", "bad.csv: there are no numbers"},
                                         {"5\n", "two columns"},
                                         {"0,1\n", "2 points or more"},
                                         {"c,1,x\n0,1,2\n", "y values"},
                                         {"c,1,2\n0,1\n", "line 2: expected 3 numbers"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        write_file("bad.csv", bad[i][0]);
        run_to_end(SLIDER(FROM("bad.csv"), "1", "1e-3"), bad[i][1]);
    }
    run_to_end(SLIDER(FROM("missing.csv"), "1", "1e-3"), "missing.csv");
}

static void wrong_tables_are_refused(void** state) {
    (void)state;
#define T(keys) \
    SLIDER("{'name': 'f1', 'interpolation': 'linear', 'outside': 'hold', " keys "}", "1", "0.1")
    run_to_end(T("'x': [0, 1]"), "needs 'x' and 'values'");
    run_to_end(T("'x': [0, 1], 'values': [1, 2, 3]"), "expected 2 values");
    run_to_end(T("'x': [0, 1], 'y': [0, 1], 'values': [[1, 2], [3]]"), "a list of 2 numbers");
    run_to_end(T("'x': [0, 1], 'y': [0, 1], 'values': [1, 2]"), "expected 4 values");
    run_to_end(T("'file': 'a.csv', 'x': [0, 1]"), "not both");
#define N(name)       \
    "{'name': '" name \
    "', 'interpolation': 'linear', 'outside': 'hold', 'x': [0, 1], 'values': [0, 1]}"
    run_to_end(SLIDER(N("sin"), "1", "0.1"), "no name for a table");
    run_to_end(SLIDER(N("t"), "1", "0.1"), "no name for a table");
    run_to_end(SLIDER(N("a b"), "1", "0.1"), "no name for a table");
    run_to_end(SLIDER(N("a") ", " N("a"), "1", "0.1"), "taken by tables[0]");
    run_to_end(SLIDER("{'name': 'q', 'x': [0, 1], 'values': [0, 1], 'interpolation': 'linear'}",
                      "1", "0.1"),
               "'outside' is missing");
    run_to_end(SLIDER(N("a"), "a(x, 1)", "0.1"), "takes 1 argument");
    run_to_end(SLIDER(N("pull"), "pul(x)", "0.1"), "did you mean 'pull'");
}

static void leaving_a_table_ends_the_run_and_names_it(void** state) {
    (void)state;
    run_to_end(
        SLIDER("{'name': 'pull', 'x': [-1, 0.25], 'values': [0, 0], 'interpolation': 'cubic', "
               "'outside': 'error'}",
               "pull(x)", "1e-2"),
        "table 'pull' was read at x = 0.25");
}

static void numbers_of_the_model_and_studies_call_tables(void** state) {
    (void)state;
    char model[300], study[300], store[300];
    write_model(
        "tables.json",
        "{'format': 'lash-model/1', 'parameters': {'a': 0.5}, 'tables': [{'name': 'twice', "
        "'x': [0, 1], 'values': [0, 'if(a > 0, 2, 2)'], 'interpolation': 'linear', "
        "'outside': 'extrapolate'}], 'parts': [{'name': 'p', 'mass': 'twice(a)', 'inertia': "
        "[1, 1, 1], 'velocity': ['twice(a)', 0, 0]}], 'simulation': {'step': 0.1, "
        "'duration': 1}, 'outputs': [{'name': 'end', 'quantity': 'position.x', 'of': 'p'}]}",
        model, sizeof model);
    write_model("tables.study.json",
                "{'format': 'lash-study/1', 'model': 'tables.json', 'parameters': [{'name': 'a', "
                "'distribution': 'uniform', 'low': 1, 'high': 2}], 'outputs': [{'name': 'y', "
                "'expression': 'twice(end) - 4*a'}], 'design': {'type': 'random', 'samples': 8}}",
                study, sizeof study);
    Outcome o = LASH("study", "run", study, "-o", scratch_file("tables.db", store, sizeof store),
                     "-j", "2");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = LASH("study", "report", store, "--json");
    cJSON* json = cJSON_Parse(o.out);
    const cJSON* y = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "outputs"), 0);
    assert_true(fabs(cJSON_GetObjectItem(y, "max")->valuedouble) < 1e-12);
    assert_true(fabs(cJSON_GetObjectItem(y, "min")->valuedouble) < 1e-12);
    cJSON_Delete(json);
    outcome_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_straight_table_is_a_spring),
        cmocka_unit_test(smooth_motion_with_a_cubic_table_is_of_second_order),
        cmocka_unit_test(files_say_the_same_as_lists),
        cmocka_unit_test(broken_files_are_told_with_their_line),
        cmocka_unit_test(wrong_tables_are_refused),
        cmocka_unit_test(leaving_a_table_ends_the_run_and_names_it),
        cmocka_unit_test(numbers_of_the_model_and_studies_call_tables),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
