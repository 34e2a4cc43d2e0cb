// lash draft on assemblies with known joints: every joint found, none false, plays exact, types
// right, fasteners welded; the drafted model loads, checks and runs.
#include "test.h"

#include <cjson/cJSON.h>

#include "model_text.h"

// Writes NAME.step in the scratch folder from the parts of an assembly, drafts it with the option
// given (NULL: none), and returns the report.
static cJSON* draft(const char* name, const char* parts, const char* option, const char* value) {
    char step[400], model[400], file[64];
    make_assembly(name, parts, step, sizeof step);
    snprintf(file, sizeof file, "%s.json", name);
    scratch_file(file, model, sizeof model);
    Outcome o = option == NULL ? LASH("draft", step, "--json", "-o", model)
                               : LASH("draft", step, "--json", "-o", model, option, value);
    if (o.code != 0) fail_msg("%s: exit %d: %s", name, o.code, o.err);
    cJSON* report = cJSON_Parse(o.out);
    assert_non_null(report);
    outcome_free(&o);
    return report;
}

// The drafted model loads, checks and runs as it is.
static void runs(const char* name) {
    char file[64], model[400];
    snprintf(file, sizeof file, "%s.json", name);
    scratch_file(file, model, sizeof model);
    Outcome o = LASH("check", model);
    if (o.code != 0) fail_msg("%s: check: exit %d: %s", name, o.code, o.err);
    outcome_free(&o);
    o = LASH("run", model, "--duration", "0.01");
    if (o.code != 0) fail_msg("%s: run: exit %d: %s", name, o.code, o.err);
    outcome_free(&o);
}

static int number(const cJSON* report, const char* key) {
    return cJSON_GetObjectItem(report, key)->valueint;
}

static const char* text_of(const cJSON* item, const char* key) {
    return cJSON_GetObjectItem(item, key)->valuestring;
}

// The joint between the two bodies, in either order.
static const cJSON* joint(const cJSON* report, const char* a, const char* b) {
    const cJSON* item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(report, "joints")) {
        const char *outer = text_of(item, "outer"), *inner = text_of(item, "inner");
        if ((strcmp(outer, a) == 0 && strcmp(inner, b) == 0) ||
            (strcmp(outer, b) == 0 && strcmp(inner, a) == 0))
            return item;
    }
    fail_msg("no joint between %s and %s", a, b);
    return NULL;
}

static int joints(const cJSON* report) {
    return cJSON_GetArraySize(cJSON_GetObjectItem(report, "joints"));
}

static double component(const cJSON* item, const char* key, int k) {
    return cJSON_GetArrayItem(cJSON_GetObjectItem(item, key), k)->valuedouble;
}

static void expect(const cJSON* report, const char* a, const char* b, const char* type,
                   double play_mm) {
    const cJSON* item = joint(report, a, b);
    assert_string_equal(text_of(item, "type"), type);
    double play = cJSON_GetObjectItem(item, "radial_clearance")->valuedouble;
    if (fabs(play - 1e-3 * play_mm) > 1e-9) fail_msg("%s-%s: play %.12g m", a, b, play);
    assert_true(strlen(text_of(item, "reason")) > 10);
}

// A link of two eyes on an axis along z: `bores` at both ends, or pins of its own.
#define PLATE(name, length, z, ends)                                                \
    "{'name': '" name                                                               \
    "', 'steps': [{'extrude': {'profile': {'slot': {'from': [0, 0], 'to': [" length \
    ", 0], 'radius': 9}}, 'length': 8}, 'at': [0, 0, " z "]}, " ends "]"
#define BORE(x, r) \
    "{'do': 'cut', 'cylinder': {'radius': " r ", 'length': 60}, 'at': [" x ", 0, -30]}"
#define PIN(x, r, z, l) "{'cylinder': {'radius': " r ", 'length': " l "}, 'at': [" x ", 0, " z "]}"

#define FOUR_BAR(play) \
    "{'name': 'frame', 'steps': [{'extrude': {'profile': {'slot': {'from': [0, 0], 'to': [200, " \
    "0],"  \
    " 'radius': 14}}, 'length': 6}, 'at': [0, 0, -12]}, " PIN("0", "5", "-8", "14") ", "          \
    PIN("200", "5", "-8", "14") "]}, {'name': 'links', 'parts': [" PLATE("crank", "60", "-4",      \
    BORE("0", play) ", " PIN("60", "5", "-4", "22")) "}, " PLATE("coupler", "180", "6",              \
    BORE("0", play) ", " BORE("180", play)) ", 'at': [60, 0, 0], 'x': [0.6964285714285714,"         \
    "0.71762611776464713, 0]}, " PLATE("rocker", "130", "-4", BORE("0", play) ", " PIN("130", "5", "-4",    \
    "22")) ", 'at': [200, 0, 0], 'x': [-0.11263736263736261, 0.99363616305874214, 0]}]}"

static void a_four_bar_has_its_four_pins(void** state) {
    (void)state;
    cJSON* report = draft("four_bar", FOUR_BAR("5.05"), NULL, NULL);
    assert_int_equal(number(report, "parts"), 4);
    assert_int_equal(joints(report), 4);
    expect(report, "frame", "crank", "revolute", 0.05);
    expect(report, "crank", "coupler", "revolute", 0.05);
    expect(report, "coupler", "rocker", "revolute", 0.05);
    expect(report, "frame", "rocker", "revolute", 0.05);
    assert_int_equal(number(report, "freedom"), 1);
    const cJSON* pin = joint(report, "crank", "coupler");
    assert_true(fabs(component(pin, "point", 0) - 0.06) < 1e-9);
    assert_true(fabs(fabs(component(pin, "axis", 2)) - 1) < 1e-9);
    cJSON_Delete(report);
    runs("four_bar");
}

static void pins_at_nominal_size_ask_for_their_play(void** state) {
    (void)state;
    cJSON* report = draft("nominal", FOUR_BAR("5"), NULL, NULL);
    assert_int_equal(joints(report), 4);
    const cJSON* item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(report, "joints")) {
        assert_true(cJSON_IsTrue(cJSON_GetObjectItem(item, "no_play")));
        assert_non_null(strstr(text_of(item, "reason"), "which fit?"));
    }
    cJSON_Delete(report);
    runs("nominal");
    report = draft("fitted", FOUR_BAR("5"), "--fit", "H7/g6");
    cJSON_Delete(report);
    runs("fitted");
    char path[400];
    char* text = slurp(scratch_file("fitted.json", path, sizeof path));
    assert_non_null(strstr(text, "{\"fit\": \"10 H7/g6\"}"));
    free(text);
}

// Base and bracket held by two screws with washers; a lever turns on a pin of the bracket.
static void fasteners_are_welded_to_what_they_hold(void** state) {
    (void)state;
#define SCREW(name, x)                                                           \
    "{'name': '" name                                                            \
    "', 'steps': [{'cylinder': {'radius': 3, 'length': 20}, 'at': [0, 0, -20]}," \
    " {'cylinder': {'radius': 5, 'length': 6}}], 'at': [" x ", 0, 17.6]}"
#define WASHER(name, x)                                                      \
    "{'name': '" name                                                        \
    "', 'steps': [{'cylinder': {'radius': 6, 'length': 1.6}}, {'do': 'cut'," \
    " 'cylinder': {'radius': 3.2, 'length': 10}, 'at': [0, 0, -5]}], 'at': [" x ", 0, 16]}"
    cJSON* report = draft(
        "screwed",
        "{'name': 'plate', 'steps': [{'box': {'size': [100, 60, 10]}, 'at': [-50, -30, 0]},"
        " {'do': 'cut', 'cylinder': {'radius': 3, 'length': 40}, 'at': [-30, 0, -5]},"
        " {'do': 'cut', 'cylinder': {'radius': 3, 'length': 40}, 'at': [30, 0, -5]}]},"
        "{'name': 'bracket', 'steps': [{'box': {'size': [80, 30, 6]}, 'at': [-40, -15, 10]},"
        " {'do': 'cut', 'cylinder': {'radius': 3.3, 'length': 40}, 'at': [-30, 0, 0]},"
        " {'do': 'cut', 'cylinder': {'radius': 3.3, 'length': 40}, 'at': [30, 0, 0]},"
        " {'cylinder': {'radius': 4, 'length': 30}, 'at': [0, 0, 16]}]}," SCREW(
            "ISO4762 M6x20", "-30") "," SCREW("ISO4762 M6x20", "30") "," WASHER("washer",
                                                                                "-30") "," WASHER("washer",
                                                                                                  "30") ","
        "{'name': 'lever', 'steps': [{'box': {'size': [60, 12, 8]}, 'at': [-6, -6, 26]},"
        " {'do': 'cut', 'cylinder': {'radius': 4.02, 'length': 40}, 'at': [0, 0, 10]}]}",
        NULL, NULL);
    assert_int_equal(number(report, "parts"), 7);
    assert_int_equal(number(report, "bodies"), 2);
    assert_int_equal(joints(report), 1);
    expect(report, "plate", "lever", "revolute", 0.02);
    cJSON_Delete(report);
    runs("screwed");
}

// Two rods with play guide, two dowels without hold, a ball sits in its socket.
static void parallel_axes_and_balls_have_their_types(void** state) {
    (void)state;
    cJSON* report = draft(
        "types",
        "{'name': 'base', 'steps': [{'box': {'size': [100, 60, 10]}, 'at': [-50, -30, 0]},"
        " {'cylinder': {'radius': 4, 'length': 60}, 'at': [-30, 0, 5]},"
        " {'cylinder': {'radius': 4, 'length': 60}, 'at': [30, 0, 5]},"
        " {'cylinder': {'radius': 3, 'length': 20}, 'at': [-20, 20, 5]},"
        " {'cylinder': {'radius': 3, 'length': 20}, 'at': [20, 20, 5]}]},"
        "{'name': 'carriage', 'steps': [{'box': {'size': [90, 16, 20]}, 'at': [-45, -8, 30]},"
        " {'do': 'cut', 'cylinder': {'radius': 4.03, 'length': 40}, 'at': [-30, 0, 20]},"
        " {'do': 'cut', 'cylinder': {'radius': 4.03, 'length': 40}, 'at': [30, 0, 20]},"
        " {'sphere': {'radius': 8}, 'at': [0, 0, 62]}, {'cylinder': {'radius': 4, 'length': 10},"
        " 'at': [0, 0, 48]}]},"
        "{'name': 'ledge', 'steps': [{'box': {'size': [60, 16, 8]}, 'at': [-30, 12, 10]},"
        " {'do': 'cut', 'cylinder': {'radius': 3, 'length': 40}, 'at': [-20, 20, 0]},"
        " {'do': 'cut', 'cylinder': {'radius': 3, 'length': 40}, 'at': [20, 20, 0]}]},"
        "{'name': 'cup', 'steps': [{'box': {'size': [30, 30, 20]}, 'at': [-15, -15, 58]},"
        " {'do': 'cut', 'sphere': {'radius': 8.05}, 'at': [0, 0, 62]}]}",
        NULL, NULL);
    assert_int_equal(joints(report), 3);
    expect(report, "base", "carriage", "prismatic", 0.03);
    expect(report, "base", "ledge", "fixed", 0);
    expect(report, "carriage", "cup", "spherical", 0.05);
    cJSON_Delete(report);
    runs("types");
}

// Nothing stops the piston: only the freedom of the whole tells that it slides and the pins do not.
static void a_piston_slides_because_the_crank_must_turn(void** state) {
    (void)state;
    cJSON* report = draft(
        "engine",
        "{'name': 'housing', 'steps': [{'box': {'size': [60, 60, 6]}, 'at': [-30, -30, -20]},"
        " {'cylinder': {'radius': 6, 'length': 30}, 'at': [0, 0, -16]},"
        " {'box': {'size': [20, 50, 6]}, 'at': [20, -25, -20]},"
        " {'box': {'size': [60, 50, 46]}, 'at': [80, -25, -20]},"
        " {'do': 'cut', 'cylinder': {'radius': 15.02, 'length': 200}, 'at': [60, 0, 5], 'axis': "
        "[1, 0, 0]},"
        " {'box': {'size': [60, 10, 6]}, 'at': [30, -25, -20]}]},"
        "{'name': 'crank', 'steps': [{'extrude': {'profile': {'slot': {'from': [0, 0], 'to': [20, "
        "0],"
        " 'radius': 10}}, 'length': 6}, 'at': [0, 0, -8]}, {'do': 'cut', 'cylinder': {'radius': "
        "6.02,"
        " 'length': 40}, 'at': [0, 0, -20]}, {'cylinder': {'radius': 4, 'length': 16}, 'at': [20, "
        "0, -4]}],"
        " 'x': [0.8, 0.6, 0]},"
        "{'name': 'rod', 'steps': [{'extrude': {'profile': {'slot': {'from': [0, 0], 'to': [80, 0],"
        " 'radius': 7}}, 'length': 6}, 'at': [0, 0, 2]}, {'do': 'cut', 'cylinder': {'radius': 4.02,"
        " 'length': 40}, 'at': [0, 0, -10]}, {'do': 'cut', 'cylinder': {'radius': 3.02, 'length': "
        "40},"
        " 'at': [80, 0, -10]}], 'at': [16, 12, 0], 'x': [0.98868599666425949, -0.15, 0]},"
        "{'name': 'piston', 'steps': [{'cylinder': {'radius': 15, 'length': 40}, 'at': [-14, 0, 0],"
        " 'axis': [1, 0, 0]}, {'do': 'cut', 'box': {'size': [40, 60, 9]}, 'at': [-30, -30, -4.5]},"
        " {'cylinder': {'radius': 3, 'length': 20}, 'at': [0, 0, -10]}], 'at': "
        "[95.094879733140759, 0, 5]}",
        NULL, NULL);
    assert_int_equal(joints(report), 4);
    expect(report, "housing", "crank", "revolute", 0.02);
    expect(report, "crank", "rod", "revolute", 0.02);
    expect(report, "rod", "piston", "revolute", 0.02);
    expect(report, "housing", "piston", "cylindrical", 0.02);
    assert_int_equal(number(report, "freedom"), 1);
    cJSON_Delete(report);
    runs("engine");
}

static void a_block_in_a_guide_slides(void** state) {
    (void)state;
    cJSON* report = draft(
        "guide",
        "{'name': 'bed', 'steps': [{'box': {'size': [200, 60, 60]}, 'at': [-100, -30, -30]},"
        " {'do': 'cut', 'box': {'size': [220, 30.1, 20.08]}, 'at': [-110, -15.05, -10.04]}]},"
        "{'name': 'slider', 'steps': [{'box': {'size': [50, 30, 20]}, 'at': [-25, -15, -10]}]}",
        NULL, NULL);
    assert_int_equal(joints(report), 1);
    expect(report, "bed", "slider", "prismatic", 0.04);
    assert_true(fabs(fabs(component(joint(report, "bed", "slider"), "axis", 0)) - 1) < 1e-9);
    cJSON_Delete(report);
    runs("guide");
}

static void refused(const char* name, const char* parts, const char* option, const char* value,
                    int code, const char* says) {
    char step[400], file[64];
    make_assembly(name, parts, step, sizeof step);
    Outcome o = option == NULL ? LASH("draft", step) : LASH("draft", step, option, value);
    assert_int_equal(o.code, code);
    if (strstr(o.err, says) == NULL) fail_msg("%s", o.err);
    outcome_free(&o);
    snprintf(file, sizeof file, "%s.draft.json", name);
    assert_int_not_equal(access(scratch_file(file, step, sizeof step), F_OK), 0);
}

static void what_cannot_be_drafted_is_refused_with_what_to_do(void** state) {
    (void)state;
    static const char box[] = "{'name': 'a', 'steps': [{'box': {'size': [10, 10, 10]}}]}";
    static const char two[] =
        "{'name': 'a', 'steps': [{'box': {'size': [10, 10, 10]}}]},"
        "{'name': 'b', 'steps': [{'box': {'size': [10, 10, 10]}}], 'at': [50, 0, 0]}";
    refused("one", box, NULL, NULL, 3, "needs an assembly");
    refused("apart", two, NULL, NULL, 3, "do they stand in their places?");
    refused("fit", two, "--fit", "10 H7/g6", 2, "without the size");
    refused("density", two, "--density", "-3", 2, "kg/m^3");
    refused("material", two, "--material", "stell", 2, "did you mean 'steel'?");
    Outcome o = LASH("draft", "/nonexistent.step");
    assert_int_equal(o.code, 7);
    outcome_free(&o);
}

static void the_ground_can_be_named(void** state) {
    (void)state;
    cJSON* report = draft("grounded", FOUR_BAR("5.05"), "--ground", "rocker");
    char path[400];
    char* text = slurp(scratch_file("grounded.json", path, sizeof path));
    const char* line = strstr(text, "\"name\": \"rocker\"");
    assert_non_null(line);
    assert_non_null(strstr(line, "\"fixed\": true"));
    free(text);
    cJSON_Delete(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_four_bar_has_its_four_pins),
        cmocka_unit_test(pins_at_nominal_size_ask_for_their_play),
        cmocka_unit_test(fasteners_are_welded_to_what_they_hold),
        cmocka_unit_test(parallel_axes_and_balls_have_their_types),
        cmocka_unit_test(a_piston_slides_because_the_crank_must_turn),
        cmocka_unit_test(a_block_in_a_guide_slides),
        cmocka_unit_test(what_cannot_be_drafted_is_refused_with_what_to_do),
        cmocka_unit_test(the_ground_can_be_named),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
