// Materials of STEP files: `lash info` shows name, density and mass; `lash draft` weighs parts by
// them, whatever units the file has.
#include "test.h"

#include <cjson/cJSON.h>
#include <math.h>

#include "model_text.h"

#define DISC(name, material, z)                                                                  \
    "{'name': '" name "', " material                                                             \
    "'steps': [{'cylinder': {'radius': 10, 'length': 5}}, {'do': 'cut', 'cylinder': {'radius': " \
    "4.05, 'length': 5}}], 'at': [0, 0, " z "]}"
#define BASE(material)                                                                           \
    "{'name': 'base', " material                                                                 \
    "'steps': [{'box': {'size': [60, 60, 10]}, 'at': [-30, -30, -11]}, {'cylinder': {'radius': " \
    "4, "                                                                                        \
    "'length': "                                                                                 \
    "21}, 'at': [0, 0, -1]}]}, "
#define BRASS "'material': {'name': 'CuZn39Pb3', 'density': 8.4}, "

static char* read_all(const char* path) {
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t n = (size_t)ftell(file);
    rewind(file);
    char* text = malloc(n + 1);
    assert_int_equal(fread(text, 1, n, file), n);
    text[n] = '\0';
    fclose(file);
    return text;
}

// As `from`, with the first `old` in the text replaced.
static void replace(const char* from, const char* old, const char* by, const char* to) {
    char* text = read_all(from);
    char* at = strstr(text, old);
    assert_non_null(at);
    FILE* file = fopen(to, "wb");
    fwrite(text, 1, (size_t)(at - text), file);
    fputs(by, file);
    fputs(at + strlen(old), file);
    fclose(file);
    free(text);
}

static void check(const char* what, double got, double expected, double tolerance) {
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%s: %.15g, expected %.15g", what, got, expected);
}

// The part of this name in `lash info --json`.
static void look(const char* step, const char* part, const char* material, double density) {
    Outcome o = LASH("info", step, "--json");
    assert_int_equal(o.code, 0);
    cJSON *report = cJSON_Parse(o.out), *item = NULL, *found = NULL;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(report, "parts")) {
        const char* name = cJSON_GetStringValue(cJSON_GetObjectItem(item, "name"));
        if (name != NULL && strstr(name, part) != NULL) found = item;
    }
    assert_non_null(found);
    const char* text = cJSON_GetStringValue(cJSON_GetObjectItem(found, "material"));
    if (material == NULL)
        assert_null(text);
    else
        assert_string_equal(text, material);
    cJSON* number = cJSON_GetObjectItem(found, "density");
    if (density == 0)
        assert_null(number);
    else
        check("density [kg/m^3]", number->valuedouble, density, 1e-9 * density);
    cJSON_Delete(report);
    outcome_free(&o);
}

static void the_file_s_material_is_shown_in_any_unit(void** state) {
    (void)state;
    char step[400], kilo[400], other[400];
    make_assembly("units", BASE("") DISC("disc", BRASS, "0"), step, sizeof step);
    look(step, "disc", "CuZn39Pb3", 8400);
    look(step, "base", NULL, 0);
    Outcome o = LASH("info", step);
    assert_non_null(strstr(o.out, "material CuZn39Pb3, 8.4 g/cm^3, mass 11.03"));
    outcome_free(&o);
    // 8400 kg/m^3
    replace(step, "SI_UNIT($,.GRAM.)", "SI_UNIT(.KILO.,.GRAM.)", scratch_file("a.step", kilo, 400));
    replace(kilo, "SI_UNIT(.CENTI.,.METRE.)", "SI_UNIT($,.METRE.)",
            scratch_file("b.step", other, 400));
    replace(other, "(8.4)", "(8400.)", kilo);
    look(kilo, "disc", "CuZn39Pb3", 8400);
    // a unit of mass that is not known: the name alone
    replace(step, "SI_UNIT($,.GRAM.)", "SI_UNIT(.MEGA.,.GRAM.)", other);
    look(other, "disc", "CuZn39Pb3", 0);
}

// Density of the drafted body [g/mm^3]; notes go to text.
static double drafted(const char* name, const char* parts, const char* body, char* notes) {
    char step[400], model[400], file[64];
    make_assembly(name, parts, step, sizeof step);
    snprintf(file, sizeof file, "%s.json", name);
    scratch_file(file, model, sizeof model);
    Outcome o = LASH("draft", step, "-o", model, "--ground", "base");
    if (o.code != 0) fail_msg("%s: exit %d: %s", name, o.code, o.err);
    snprintf(notes, 4000, "%s", o.out);
    outcome_free(&o);
    char* text = read_all(model);
    cJSON *json = cJSON_Parse(text), *item = NULL;
    double density = 0;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "parts")) {
        if (strcmp(cJSON_GetObjectItem(item, "name")->valuestring, body) != 0) continue;
        density = cJSON_GetObjectItem(item, "density")->valuedouble;
    }
    cJSON_Delete(json);
    free(text);
    return density;
}

static void a_draft_weighs_parts_by_the_file(void** state) {
    (void)state;
    char notes[4000];
    const char* known = BASE(BRASS) DISC("disc", BRASS, "0");
    check("brass", drafted("known", known, "disc", notes), 8.4e-3, 1e-12);
    assert_non_null(strstr(notes, "densities of the materials in the file"));
    const char* half = BASE("") DISC("disc", BRASS, "0");
    check("brass", drafted("half", half, "disc", notes), 8.4e-3, 1e-12);
    assert_non_null(strstr(notes, "parts without a density in the file"));
    const char* none = BASE("") DISC("disc", "", "0");
    check("steel", drafted("none", none, "disc", notes), 7.85e-3, 1e-12);
    assert_non_null(strstr(notes, "steel is assumed for every part"));
}

RUN(TEST(the_file_s_material_is_shown_in_any_unit), TEST(a_draft_weighs_parts_by_the_file))
