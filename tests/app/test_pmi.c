// Sizes with tolerances from AP242 files: lash info --pmi, the play that lash draft makes of them,
// and the study of hole and shaft, on files of the part generator.
#include <cjson/cJSON.h>
#include "test.h"

#include "command.h"

static const char* at(const char* name) {
    static char path[8][300];
    static int next;
    next = (next + 1) % 8;
    return scratch_file(name, path[next], sizeof path[0]);
}

// A crank's pin in a plate, both 10 mm, and a lone bolt.
static void make(const char* name, const char* unit, const char* bore, const char* pin) {
    char source[300], command[1200];
    snprintf(source, sizeof source, "%s.json", at(name));
    FILE* file = fopen(source, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"format\": \"lash-step/1\", \"name\": \"asm\", \"unit\": \"%s\", \"parts\": ["
            "{\"name\": \"plate\", \"steps\": [{\"box\": {\"size\": [40, 40, 10], \"centered\": "
            "true}}, {\"do\": \"cut\", \"cylinder\": {\"radius\": 5, \"length\": 30}, \"at\": [0, "
            "0, -15], \"name\": \"bore\"}], \"sizes\": [%s]}, "
            "{\"name\": \"crank\", \"steps\": [{\"cylinder\": {\"radius\": 5, \"length\": 40}, "
            "\"at\": [0, 0, -20], \"name\": \"pin\"}], \"sizes\": [%s]}]}",
            unit, bore, pin);
    fclose(file);
    snprintf(command, sizeof command, "'%s/lash-make-step' '%s' '%s'", LASH_BINARY_DIR, source,
             at(name));
    assert_int_equal(system(command), 0);
}

#define SIZE(face, rest) "{\"face\": \"" face "\", \"diameter\": 10, " rest "}"
#define HOLE SIZE("bore", "\"upper\": 0.015, \"lower\": 0")
#define SHAFT SIZE("pin", "\"upper\": -0.005, \"lower\": -0.014")

static double number_of(const cJSON* object, const char* key) {
    const cJSON* item = cJSON_GetObjectItem(object, key);
    assert_non_null(item);
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

static void check_size(const cJSON* size, double upper, double lower) {
    assert_string_equal(cJSON_GetObjectItem(size, "kind")->valuestring, "diameter");
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(size, "note")));
    assert_true(fabs(number_of(size, "nominal") - 0.010) < 1e-12);
    assert_true(fabs(number_of(size, "upper") - upper) < 1e-12);
    assert_true(fabs(number_of(size, "lower") - lower) < 1e-12);
}

static void sizes_come_with_signs_faces_and_units(void** state) {
    (void)state;
    static const char* const units[] = {"MM", "INCH", "M"};
    for (int i = 0; i < 3; ++i) {
        make("a.step", units[i], HOLE, SHAFT);
        Outcome o = LASH("info", "--pmi", "--json", at("a.step"));
        assert_int_equal(o.code, 0);
        cJSON* json = cJSON_Parse(o.out);
        const cJSON* sizes = cJSON_GetObjectItem(json, "sizes");
        assert_int_equal(cJSON_GetArraySize(sizes), 2);
        check_size(cJSON_GetArrayItem(sizes, 0), 15e-6, 0);
        check_size(cJSON_GetArrayItem(sizes, 1), -5e-6, -14e-6);
        assert_int_equal((int)number_of(cJSON_GetArrayItem(sizes, 0), "face"), 6);
        cJSON_Delete(json);
        outcome_free(&o);
    }
}

static void limits_and_classes_are_read(void** state) {
    (void)state;
    make("b.step", "MM", SIZE("bore", "\"class\": \"H7\""),
         SIZE("pin", "\"upper\": 0.02, \"lower\": -0.01, \"limits\": true"));
    Outcome o = LASH("info", "--pmi", "--json", at("b.step"));
    cJSON* json = cJSON_Parse(o.out);
    const cJSON* sizes = cJSON_GetObjectItem(json, "sizes");
    assert_int_equal(cJSON_GetArraySize(sizes), 2);
    assert_string_equal(cJSON_GetObjectItem(cJSON_GetArrayItem(sizes, 0), "class")->valuestring,
                        "H7");
    check_size(cJSON_GetArrayItem(sizes, 1), 20e-6, -10e-6);
    cJSON_Delete(json);
    outcome_free(&o);
}

// A model file's text.
static char* drafted(const char* step, char** out) {
    Outcome o = LASH("draft", step, "-o", at("d.json"));
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    *out = o.out;
    free(o.err);
    return slurp(at("d.json"));
}

static void draft_takes_the_play_from_both_sizes(void** state) {
    (void)state;
    static const struct {
        const char *bore, *pin, *model, *reason;
    } known[] = {
        {HOLE, SHAFT, "{\"fit\": \"10 (+0.015 +0)/(-0.005 -0.014)\"}", "2.5 to 14.5 um per side"},
        {SIZE("bore", "\"class\": \"H7\""), SIZE("pin", "\"class\": \"g6\""),
         "{\"fit\": \"10 H7/g6\"}", "10 H7/g6, 2.5 to 14.5 um per side"},
        {HOLE, "", "\"play_plate_crank\": 0", "tolerance of the bore, none of the pin"},
        {HOLE, SIZE("pin", "\"class\": \"p6\""), "\"play_plate_crank\": 0", "leave no play"},
        {HOLE, "{\"face\": \"pin\", \"diameter\": 9, \"upper\": 0.1}", "\"play_plate_crank\": 0",
         "says 9 mm, its face measures 10 mm"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        make("c.step", "MM", known[i].bore, known[i].pin);
        char *out, *model = drafted(at("c.step"), &out);
        if (strstr(model, known[i].model) == NULL) fail_msg("%s not in %s", known[i].model, model);
        if (strstr(out, known[i].reason) == NULL) fail_msg("%s not in %s", known[i].reason, out);
        free(model);
        free(out);
        Outcome o = LASH("run", at("d.json"), "--duration", "0.001");
        assert_int_equal(o.code, 0);
        outcome_free(&o);
    }
}

static void a_study_of_hole_and_shaft_is_written(void** state) {
    (void)state;
    char* out;
    make("e.step", "MM", HOLE, SHAFT);
    char* model = drafted(at("e.step"), &out);
    Outcome o = LASH("study", "plan", "--from-pmi", at("d.json"));
    assert_int_equal(o.code, 3); // nothing to measure
    assert_non_null(strstr(o.err, "add outputs"));
    assert_non_null(strstr(o.err, "\"quantity\": \"force\", \"of\": \"plate-crank\""));
    outcome_free(&o);
    FILE* file = fopen(at("d.json"), "w");
    char* place = strstr(model, "  \"simulation\"");
    fprintf(file,
            "%.*s\"outputs\": [{\"name\": \"y\", \"quantity\": \"position.y\", \"of\": "
            "\"crank\"}],\n%s",
            (int)(place - model), model, place);
    fclose(file);
    o = LASH("study", "plan", "--from-pmi", at("d.json"), "-o", at("d.study.json"));
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = LASH("study", "plan", at("d.study.json"));
    assert_int_equal(o.code, 0);
    assert_null(strstr(o.err, "warning"));
    char* written = slurp(at("d.study.json"));
    assert_non_null(strstr(written, "\"unit\": \"m\""));
    free(written);
    assert_non_null(strstr(o.out, "play_plate_crank.hole truncated-normal mean 10.0075"));
    assert_non_null(strstr(o.out, "play_plate_crank.shaft truncated-normal mean 9.9905"));
    outcome_free(&o);
    free(model);
    free(out);
}

static void files_without_sizes_say_so(void** state) {
    (void)state;
    make("f.step", "MM", "", "");
    Outcome o = LASH("info", "--pmi", at("f.step"));
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.out, "no sizes with tolerances"));
    outcome_free(&o);
    char *out, *model = drafted(at("f.step"), &out);
    assert_non_null(strstr(out, "which fit?"));
    free(model);
    free(out);
    o = LASH("study", "plan", "--from-pmi", at("d.json"));
    assert_int_equal(o.code, 3);
    assert_non_null(strstr(o.err, "no parameter is given by a fit"));
    outcome_free(&o);
}

static void deviations_stand_for_a_class_in_a_fit(void** state) {
    (void)state;
    static const struct {
        const char* text;
        int code;
        const char* says;
    } known[] = {
        {"10 (+0.015 0)/(-0.005 -0.014)", 0, "2.5 .. 14.5 um"},
        {"10 H7/(-0.005 -0.014)", 0, "2.5 .. 14.5 um"},
        {"600 (+0.2 0)/(-0.1 -0.2)", 0, "50 .. 200 um"},
        {"10 (0 +0.015)/g6", 2, "upper deviation first"},
        {"10 (0.015)/g6", 2, "expected a size"},
        {"10 (+0.015 0)/G7", 2, "hole/shaft"},
        {"10 (nan 0)/g6", 2, "expected a size"},
        {"600 H7/(0 -1)", 2, "end at 500 mm"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        Outcome o = LASH("fit", known[i].text);
        const char* said = known[i].code == 0 ? o.out : o.err;
        if (strstr(said, known[i].says) == NULL) fail_msg("%s: %s", known[i].text, said);
        assert_true((o.code == 0) == (known[i].code == 0));
        outcome_free(&o);
    }
}

static int set_up(void** state) {
    (void)state;
    setenv("XDG_CACHE_HOME", scratch(), 1);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_come_with_signs_faces_and_units),
        cmocka_unit_test(limits_and_classes_are_read),
        cmocka_unit_test(draft_takes_the_play_from_both_sizes),
        cmocka_unit_test(a_study_of_hole_and_shaft_is_written),
        cmocka_unit_test(files_without_sizes_say_so),
        cmocka_unit_test(deviations_stand_for_a_class_in_a_fit),
    };
    return cmocka_run_group_tests(tests, set_up, remove_scratch);
}
