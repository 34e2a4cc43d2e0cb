// lash draft where it has to hold up: many parts in little time, parts held by bolts and nuts, real
// CAD where it is at hand, contact candidates, and input that is no assembly.
#include "test.h"

#include <cjson/cJSON.h>

#include "cad_parts.h"
#include "model_text.h"

static cJSON* draft(const char* step, const char* output) {
    char model[400];
    Outcome o = LASH("draft", step, "--json", "-o", scratch_file(output, model, sizeof model));
    if (o.code != 0) fail_msg("%s: exit %d: %s", step, o.code, o.err);
    cJSON* report = cJSON_Parse(o.out);
    assert_non_null(report);
    outcome_free(&o);
    return report;
}

static void make_step(const char* json, const char* step) {
    char command[2000];
    snprintf(command, sizeof command, "'%s/lash-make-step' '%s' '%s'", LASH_BINARY_DIR, json, step);
    if (system(command) != 0) fail_msg("%s", command);
}

static int number(const cJSON* report, const char* key) {
    return cJSON_GetObjectItem(report, key)->valueint;
}

static int size(const cJSON* report, const char* key) {
    return cJSON_GetArraySize(cJSON_GetObjectItem(report, key));
}

static const char* text_of(const cJSON* item, const char* key) {
    return cJSON_GetObjectItem(item, key)->valuestring;
}

static bool has_joint(const cJSON* report, const char* a, const char* b) {
    const cJSON* joint;
    cJSON_ArrayForEach(joint, cJSON_GetObjectItem(report, "joints")) {
        const char *p = text_of(joint, "outer"), *q = text_of(joint, "inner");
        if ((strcmp(p, a) == 0 && strcmp(q, b) == 0) || (strcmp(p, b) == 0 && strcmp(q, a) == 0))
            return true;
    }
    return false;
}

// ---- many parts ---------------------------------------------------------------------------------

#define UNITS "20"
static const char engines[] =
    "{'format': 'lash-step/1', 'name': 'bank', 'shapes': {"
    "'crank': {'steps': [{'extrude': {'profile': {'slot': {'from': [0, 0], 'to': [20, 0], "
    "'radius': "
    "10}}, 'length': 6}, 'at': [0, 0, -8]}, {'do': 'cut', 'cylinder': {'radius': 6.02, 'length': "
    "40}, 'at': [0, 0, -20]}, {'cylinder': {'radius': 4, 'length': 16}, 'at': [20, 0, -4]}]},"
    "'rod': {'steps': [{'extrude': {'profile': {'slot': {'from': [0, 0], 'to': [80, 0], 'radius': "
    "7}}, 'length': 6}, 'at': [0, 0, 2]}, {'do': 'cut', 'cylinder': {'radius': 4.02, 'length': "
    "40}, "
    "'at': [0, 0, -10]}, {'do': 'cut', 'cylinder': {'radius': 3.02, 'length': 40}, 'at': [80, 0, "
    "-10]}]},"
    "'piston': {'steps': [{'cylinder': {'radius': 15, 'length': 40}, 'at': [-14, 0, 0], 'axis': "
    "[1, "
    "0, 0]}, {'do': 'cut', 'box': {'size': [40, 60, 9]}, 'at': [-30, -30, -4.5]}, {'cylinder': "
    "{'radius': 3, 'length': 20}, 'at': [0, 0, -10]}]},"
    "'M6x16': {'steps': [{'cylinder': {'radius': 3, 'length': 10}, 'at': [0, 0, -10]}, "
    "{'cylinder': "
    "{'radius': 5, 'length': 6}}]},"
    "'washer': {'steps': [{'cylinder': {'radius': 6, 'length': 1.6}}, {'do': 'cut', 'cylinder': "
    "{'radius': 3.2, 'length': 4}, 'at': [0, 0, -1]}]},"
    "'unit': {'parts': [{'shape': 'crank', 'x': [0.8, 0.6, 0]}, {'shape': 'rod', 'at': [16, 12, "
    "0], "
    "'x': [0.98868599666425949, -0.15, 0]}, {'shape': 'piston', 'at': [95.094879733140759, 0, 5]}, "
    "{'shape': 'M6x16', 'at': [-25, 20, -12.4]}, {'shape': 'washer', 'at': [-25, 20, -14]}]}},"
    "'parts': [{'name': 'housing', 'steps': [{'box': {'size': [170, 1400, 6]}, 'at': [-30, -35, "
    "-20]}, {'cylinder': {'radius': 6, 'length': 30}, 'at': [0, 0, -16], 'repeat': {'count': " UNITS
    ", 'shift': [0, 70, 0]}}, {'box': {'size': [60, 1400, 46]}, 'at': [80, -35, -20]}, {'do': "
    "'cut', "
    "'cylinder': {'radius': 15.02, 'length': 200}, 'at': [60, 0, 5], 'axis': [1, 0, 0], 'repeat': "
    "{'count': " UNITS
    ", 'shift': [0, 70, 0]}}, {'do': 'cut', 'cylinder': {'radius': 3, 'length': "
    "60}, 'at': [-25, 20, -40], 'repeat': {'count': " UNITS ", 'shift': [0, 70, 0]}}]}";

// Twenty engines: no stop tells that their pistons slide, the freedom of all 61 bodies does.
static void a_hundred_parts_are_drafted_within_ten_seconds(void** state) {
    (void)state;
    char json[400], step[400], text[8000];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", engines);
    for (int i = 0; i < 20; ++i)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 ", {'shape': 'unit', 'at': [0, %d, 0]}", 70 * i);
    snprintf(text + used, sizeof text - used, "]}");
    write_model("bank.asm.json", text, json, sizeof json);
    make_step(json, scratch_file("bank.step", step, sizeof step));
    cJSON_Delete(draft(step, "bank.json")); // warms the cache
    double start = test_clock();
    cJSON* report = draft(step, "bank.json");
    double seconds = test_clock() - start;
    print_message("101 parts drafted in %.2f s\n", seconds);
#if !defined(__SANITIZE_ADDRESS__) // which is several times slower
    assert_true(seconds < 10);
#endif
    assert_int_equal(number(report, "parts"), 101);
    assert_int_equal(number(report, "bodies"), 61);
    assert_int_equal(number(report, "freedom"), 20);
    int sliding = 0;
    const cJSON* joint;
    cJSON_ArrayForEach(joint, cJSON_GetObjectItem(report, "joints")) {
        sliding += strcmp(text_of(joint, "type"), "cylindrical") == 0;
    }
    assert_int_equal(sliding, 20);
    cJSON_Delete(report);
}

// ---- bolts and nuts -----------------------------------------------------------------------------

static void bolts_and_nuts_are_welded_three_assemblies_deep(void** state) {
    (void)state;
    char step[400];
    make_step(LASH_SOURCE_DIR "/tests/data/assemblies/plate_and_brackets.json",
              scratch_file("as1.step", step, sizeof step));
    cJSON* report = draft(step, "as1.json");
    assert_int_equal(number(report, "parts"), 18);
    assert_int_equal(number(report, "bodies"), 2);
    assert_int_equal(size(report, "joints"), 1);
    assert_true(has_joint(report, "plate", "rod"));
    cJSON_Delete(report);
}

static void the_public_assembly_as1_has_no_phantom_joints(void** state) {
    (void)state;
    char step[800];
    snprintf(step, sizeof step, "%s/as1-oc-214.stp", cad_third_party());
    if (access(step, R_OK) != 0) skip();
    cJSON* report = draft(step, "as1_real.json");
    assert_int_equal(number(report, "parts"), 18);
    const cJSON* joint;
    cJSON_ArrayForEach(joint, cJSON_GetObjectItem(report, "joints")) {
        assert_null(strstr(text_of(joint, "name"), "bolt"));
        assert_null(strstr(text_of(joint, "name"), "nut"));
    }
    assert_true(size(report, "joints") <= 1); // the rod in its brackets
    cJSON_Delete(report);
}

// ---- a real breaker -----------------------------------------------------------------------------

static void turn(const double* axis, double angle, const double* v, double* out) { // Rodrigues
    double n = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double a[3] = {axis[0] / n, axis[1] / n, axis[2] / n}, c = cos(angle), s = sin(angle);
    double dot = a[0] * v[0] + a[1] * v[1] + a[2] * v[2];
    for (int k = 0; k < 3; ++k) {
        int p = (k + 1) % 3, q = (k + 2) % 3;
        out[k] = v[k] * c + (a[p] * v[q] - a[q] * v[p]) * s + a[k] * dot * (1 - c);
    }
}

static void numbers(const cJSON* item, const char* key, double* x) {
    for (int k = 0; k < 3; ++k)
        x[k] = cJSON_GetArrayItem(cJSON_GetObjectItem(item, key), k)->valuedouble;
}

// The eight bodies of the published breaker, put together by the poses of their model.
static void the_journals_of_a_real_breaker_are_found(void** state) {
    (void)state;
    char folder[800], path[900], json[400], step[400], text[8000] = "";
    snprintf(folder, sizeof folder, "%s/../cases/c60", cad_third_party());
    snprintf(path, sizeof path, "%s/c60_joints.json", folder);
    if (access(path, R_OK) != 0) skip();
    char* source = slurp(path);
    cJSON* model = cJSON_Parse(source);
    free(source);
    size_t used =
        (size_t)snprintf(text, sizeof text, "{'format': 'lash-step/1', 'name': 'c60', 'parts': [");
    const cJSON* part;
    int count = 0;
    cJSON_ArrayForEach(part, cJSON_GetObjectItem(model, "parts")) {
        const cJSON* pose = cJSON_GetObjectItem(part, "pose");
        double at[3], axis[3], z[3], x[3], e3[3] = {0, 0, 1}, e1[3] = {1, 0, 0};
        numbers(pose, "position", at);
        numbers(pose, "axis", axis);
        double angle = cJSON_GetObjectItem(pose, "angle")->valuedouble;
        turn(axis, angle, e3, z);
        turn(axis, angle, e1, x);
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "%s{'step': '%s/%s', 'name': '%s', 'at': [%.17g, %.17g, %.17g], 'axis': [%.17g, %.17g, "
            "%.17g], 'x': [%.17g, %.17g, %.17g]}",
            count++ > 0 ? ", " : "", folder, text_of(part, "step"), text_of(part, "name"), at[0],
            at[1], at[2], z[0], z[1], z[2], x[0], x[1], x[2]);
    }
    snprintf(text + used, sizeof text - used, "]}");
    cJSON_Delete(model);
    write_model("c60.asm.json", text, json, sizeof json);
    make_step(json, scratch_file("c60.step", step, sizeof step));
    cJSON* report = draft(step, "c60.json");
    static const char* const journals[][2] = {{"aiguille", "platine"},  {"platine", "crochet"},
                                              {"platine", "barre"},     {"manette", "biellette"},
                                              {"crochet", "biellette"}, {"aiguille", "equipage"}};
    assert_int_equal(size(report, "joints"), 6);
    for (int i = 0; i < 6; ++i) assert_true(has_joint(report, journals[i][0], journals[i][1]));
    cJSON_Delete(report);
    char drafted[400];
    Outcome o =
        LASH("run", scratch_file("c60.json", drafted, sizeof drafted), "--duration", "0.001");
    if (o.code != 0) fail_msg("%s", o.err);
    outcome_free(&o);
}

// ---- contacts -----------------------------------------------------------------------------------

#define LEVER                                                                                     \
    "{'name': 'base', 'steps': [{'box': {'size': [80, 40, 6]}, 'at': [-20, -20, -12]}, "          \
    "{'cylinder': "                                                                               \
    "{'radius': 4, 'length': 16}, 'at': [0, 0, -8]}, {'box': {'size': [10, 10, 16]}, 'at': [30, " \
    "-18.1, -8]}]}, {'name': 'lever', 'steps': [{'box': {'size': [50, 16, 8]}, 'at': [-8, -8, "   \
    "-4]}, "                                                                                      \
    "{'do': 'cut', 'cylinder': {'radius': 4.02, 'length': 40}, 'at': [0, 0, -20]}]}"

// The lever's flank stands 0.1 mm above a stop of the base.
static void faces_that_could_touch_are_listed_and_off(void** state) {
    (void)state;
    char step[400], model[400], on[400];
    make_assembly("lever", LEVER, step, sizeof step);
    cJSON* report = draft(step, "lever.json");
    assert_int_equal(size(report, "joints"), 1);
    assert_int_equal(size(report, "contacts"), 1);
    const cJSON* contact = cJSON_GetArrayItem(cJSON_GetObjectItem(report, "contacts"), 0);
    double gap = cJSON_GetObjectItem(contact, "gap")->valuedouble;
    if (fabs(gap - 1e-4) > 1e-9) fail_msg("gap %.12g m", gap);
    cJSON_Delete(report);
    Outcome o = LASH("check", scratch_file("lever.json", model, sizeof model), "--json");
    assert_int_equal(o.code, 0);
    cJSON* check = cJSON_Parse(o.out);
    int without = number(check, "contacts");
    cJSON_Delete(check);
    outcome_free(&o);
    char* text = slurp(model); // on: the key is taken away
    char* off = strstr(text, "\"off\": true, ");
    assert_non_null(off);
    memset(off, ' ', strlen("\"off\": true, "));
    cad_write(scratch_file("lever_on.json", on, sizeof on), text, strlen(text));
    free(text);
    o = LASH("check", on, "--json");
    assert_int_equal(o.code, 0);
    check = cJSON_Parse(o.out);
    assert_true(number(check, "contacts") > without);
    cJSON_Delete(check);
    outcome_free(&o);
}

// ---- no assembly --------------------------------------------------------------------------------

static void refused(const char* name, const char* parts, const char* says) {
    char step[400];
    make_assembly(name, parts, step, sizeof step);
    Outcome o = LASH("draft", step);
    assert_int_equal(o.code, 3);
    if (strstr(o.err, says) == NULL) fail_msg("%s", o.err);
    outcome_free(&o);
}

static void parts_that_do_not_stand_in_their_places_are_told(void** state) {
    (void)state;
    refused("heap",
            "{'name': 'a', 'steps': [{'box': {'size': [20, 20, 20]}}]},"
            "{'name': 'b', 'steps': [{'box': {'size': [30, 10, 12]}}]}",
            "they do not stand in their places");
    refused("stack",
            "{'name': 'a', 'steps': [{'box': {'size': [20, 20, 20]}}]},"
            "{'name': 'washer', 'steps': [{'cylinder': {'radius': 5, 'length': 2}, 'at': [10, 10, "
            "20]}]}",
            "held together by fasteners");
    // joints by chance: drafted, but told
    char step[400];
    make_assembly("chance",
                  LEVER
                  ", {'name': 'block', 'steps': [{'box': {'size': [12, 12, 12]}, 'at': [12, "
                  "-6, -6]}]}",
                  step, sizeof step);
    cJSON* report = draft(step, "chance.json");
    assert_int_equal(number(report, "overlaps"), 1);
    bool told = false;
    const cJSON* note;
    cJSON_ArrayForEach(note, cJSON_GetObjectItem(report, "notes")) {
        told = told || strstr(note->valuestring, "in each other") != NULL;
    }
    assert_true(told);
    cJSON_Delete(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_parts_are_drafted_within_ten_seconds),
        cmocka_unit_test(bolts_and_nuts_are_welded_three_assemblies_deep),
        cmocka_unit_test(the_public_assembly_as1_has_no_phantom_joints),
        cmocka_unit_test(the_journals_of_a_real_breaker_are_found),
        cmocka_unit_test(faces_that_could_touch_are_listed_and_off),
        cmocka_unit_test(parts_that_do_not_stand_in_their_places_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
