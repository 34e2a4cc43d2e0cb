// Contacts of files with faces alone: their outside is that of the part's solid, that of the start,
// or asked for. Every surface is made twice, as drawn and reversed: nothing may depend on that.
#include <cjson/cJSON.h>
#include "test.h"

#include "command.h"
#include "model_text.h"

static void make_loose(const char* name, const char* body) {
    char text[1500], file[40];
    make_part(name, body);
    snprintf(file, sizeof file, "%.20s_reversed", name);
    snprintf(text, sizeof text, "%s, 'reversed': true", body);
    make_part(file, text);
}

// A dovetail: below its top, x = -30..30 at z = 0, it grows narrow, x = -10..10 at z = -30.
#define NOSE                                                                                  \
    "'steps': [{'extrude': {'profile': {'path': [{'start': [-30, 0]}, {'line': [-10, -30]}, " \
    "{'line': [10, -30]}, {'line': [30, 0]}, {'line': [-30, 0], 'name': 'top'}, "             \
    "{'close': true}]}, 'length': 20}}]"

// Line contact as it is published for some parts: the bore of a disc 5 um high.
#define RING                                                                   \
    "'steps': [{'extrude': {'profile': {'outer': {'circle': {'radius': 12}}, " \
    "'holes': [{'circle': {'radius': 2.021}, 'name': 'bore'}]}, 'length': 0.005}}]"

static int make_parts(void** state) {
    (void)state;
    char cache[300];
    setenv("XDG_CACHE_HOME", scratch_file("cache", cache, sizeof cache), 1);
    make_part("ball", "'steps': [{'sphere': {'radius': 8}}]");
    make_part("pin", "'steps': [{'cylinder': {'radius': 5, 'length': 30}, 'at': [0, 0, -10]}]");
    make_part("plate", "'steps': [{'box': {'size': [90, 90, 10], 'centered': true}}]");
    make_part("block", "'steps': [{'box': {'size': [40, 40, 10]}}]");
    make_loose("table",
               "'steps': [{'box': {'size': [60, 60, 10], 'centered': true}}], 'names': [{'name': "
               "'top', 'near': [0, 0, 5]}], 'only': ['top']");
    make_loose(
        "bush",
        "'steps': [{'extrude': {'profile': {'outer': {'circle': {'radius': 12}}, 'holes': "
        "[{'circle': {'radius': 5.05}, 'name': 'bore'}]}, 'length': 10}}], 'only': ['bore']");
    make_part("ring", RING ", 'only': ['bore']");
    make_part("high_ring", "'at': [0, 0, 2.9], " RING ", 'only': ['bore']");
    make_part("axle",
              "'steps': [{'cylinder': {'radius': 2, 'length': 30, 'side': 'side'}, 'at': "
              "[0, 0, -10]}]");
    make_part("nose", NOSE);
    make_loose("nose_top", NOSE ", 'only': ['top']");
    make_part("walls", // two faces that share no edge
              "'steps': [{'box': {'size': [60, 60, 30], 'centered': true}}], 'names': [{'name': "
              "'top', 'near': [0, 0, 15]}, {'name': 'back', 'near': [0, 0, -15]}], 'only': ['top', "
              "'back']");
    make_loose("upper",
               "'steps': [{'box': {'size': [90, 90, 10], 'centered': true}}], 'names': [{'name': "
               "'top', 'near': [0, 0, 5]}], 'only': ['top']");
    return 0;
}

static int remove_parts(void** state) {
    (void)state;
    scratch_remove();
    return 0;
}

// A ball, a pin or a plate over a surface of the ground, and what `lash check` says of it.
static cJSON* check_over(const char* base, const char* part, const char* place, const char* a,
                         const char* b, int code) {
    char path[300], text[2000];
    snprintf(text, sizeof text,
             "{'format': 'lash-model/1', 'units': {'length': 'mm'}, 'parts': [{'name': 'body', "
             "'step': '%s.step', 'density': 7.8e-6, 'pose': {'position': %s}}, {'name': 'base', "
             "'step': '%s.step', 'fixed': true}], 'contacts': [{'name': 'touch', 'a': %s, 'b': "
             "%s}], 'simulation': {'step': 1e-4, 'duration': 1e-3}}",
             part, place, base, a, b);
    write_model("model.json", text, path, sizeof path);
    Outcome o = LASH("check", path, "--json");
    if (o.code != code) fail_msg("exit code %d, not %d: %s", o.code, code, o.out);
    cJSON* json = cJSON_Parse(o.out);
    outcome_free(&o);
    return json;
}

static cJSON* check(const char* part, const char* place, const char* a, const char* b, int code) {
    return check_over("plate", part, place, a, b, code);
}

static const cJSON* first(const cJSON* json, const char* list) {
    const cJSON* items = cJSON_GetObjectItem(json, list);
    return cJSON_GetArrayItem(cJSON_GetObjectItem(json, "result") != NULL
                                  ? cJSON_GetObjectItem(cJSON_GetObjectItem(json, "result"), list)
                                  : items,
                              0);
}

static void assert_outside(const cJSON* json, const char* rule, int turned, double gap) {
    const cJSON* o = first(json, "outside");
    char* text = cJSON_Print(json);
    if (o == NULL) fail_msg("no outside in %s", text);
    assert_string_equal(cJSON_GetObjectItem(o, "rule")->valuestring, rule);
    assert_int_equal(cJSON_GetObjectItem(o, "turned")->valueint, turned);
    double found = cJSON_GetObjectItem(first(json, "gaps"), "gap")->valuedouble;
    if (fabs(found - gap) > 1e-9) fail_msg("gap %g, not %g: %s", found, gap, text);
    free(text);
}

static void the_start_tells_which_side_of_a_loose_plane_is_outside(void** state) {
    (void)state;
    const char* const file[] = {"table", "table_reversed"};
    int turned[2][2];
    for (int i = 0; i < 2; ++i) {
        for (int below = 0; below < 2; ++below) { // the ball over the plane, and under it
            char side[100];
            snprintf(side, sizeof side, "{'part': 'ground', 'step': '%s.step'}", file[i]);
            cJSON* json = check("ball", below ? "[0, 0, -6]" : "[0, 0, 16]", side,
                                "{'part': 'body', 'faces': 'all'}", 0);
            turned[i][below] = cJSON_GetObjectItem(first(json, "outside"), "turned")->valueint;
            assert_outside(json, "start", turned[i][below], 3e-3);
            cJSON_Delete(json);
        }
        assert_int_equal(turned[i][0] + turned[i][1], 1);
    }
    assert_int_equal(turned[0][0] + turned[1][0], 1);
}

static void the_start_tells_that_a_loose_bush_holds_its_pin(void** state) {
    (void)state;
    const char* const file[] = {"bush", "bush_reversed"};
    for (int i = 0; i < 2; ++i) {
        char side[100];
        snprintf(side, sizeof side, "{'part': 'ground', 'step': '%s.step'}", file[i]);
        cJSON* json =
            check("pin", "[0, 0, 0]", side, "{'part': 'body', 'faces': {'type': 'cylinder'}}", 0);
        assert_outside(json, "start", i, 5e-5);
        const cJSON* fits = cJSON_GetObjectItem(json, "fits");
        if (fits == NULL) fits = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "result"), "fits");
        assert_int_equal(cJSON_GetArraySize(fits), 1);
        cJSON_Delete(json);
    }
}

static void a_face_on_the_solid_of_its_part_is_oriented_like_it(void** state) {
    (void)state;
    const char* const file[] = {"upper", "upper_reversed"};
    for (int i = 0; i < 2; ++i) {
        char side[100];
        snprintf(side, sizeof side, "{'part': 'base', 'step': '%s.step'}", file[i]);
        cJSON* json = check("ball", "[0, 0, 14]", side, "{'part': 'body', 'faces': 'all'}", 0);
        assert_outside(json, "solid", i, 1e-3);
        cJSON_Delete(json);
    }
}

// A ball of 8 mm beside the nose and behind its top: 32 mm deep below an endless plane.
static void behind_a_loose_face_the_material_ends_at_the_solid_it_lies_on(void** state) {
    (void)state;
    const char* const file[] = {"nose_top", "nose_top_reversed"};
    for (int i = 0; i < 2; ++i) {
        char side[100];
        snprintf(side, sizeof side, "{'part': 'base', 'step': '%s.step'}", file[i]);
        cJSON* json = check_over("nose", "ball", "[28, -24, 10]", side,
                                 "{'part': 'body', 'faces': 'all'}", 0);
        int turned = cJSON_GetObjectItem(first(json, "outside"), "turned")->valueint;
        assert_outside(json, "solid", turned, 1e-3 * (hypot(2, 24) - 8));
        cJSON_Delete(json);
    }
}

// A block beside the nose, under the overhang of its top: 0.1 mm outside the solid, and 0.3 mm (a 200th of the face)
// behind the face. Its gap is that of the border over it.
static void a_point_that_came_round_the_border_of_a_loose_face_is_outside(void** state) {
    (void)state;
    cJSON* json =
        check_over("nose", "block", "[29.9, -40.3, 5]", "{'part': 'base', 'step': 'nose_top.step'}",
                   "{'part': 'body', 'faces': 'all'}", 0);
    int turned = cJSON_GetObjectItem(first(json, "outside"), "turned")->valueint;
    assert_outside(json, "solid", turned, 3e-4);
    cJSON_Delete(json);
}

// A file of two half cylinders that share no edge of the B-rep.
static void halves_of_a_bush_that_meet_are_one_face(void** state) {
    (void)state;
    char path[300];
    FILE* file = fopen(scratch_file("halves.step", path, sizeof path), "w");
    assert_non_null(file);
    fputs(
        "ISO-10303-21;\nHEADER;\nFILE_DESCRIPTION((''),'2;1');\nFILE_NAME('','',(''),(''),'',"
        "'','');\nFILE_SCHEMA(('CONFIG_CONTROL_DESIGN'));\nENDSEC;\nDATA;\n"
        "#1=CARTESIAN_POINT('',(0.,0.,0.));\n#2=DIRECTION('',(0.,0.,1.));\n"
        "#3=DIRECTION('',(1.,0.,0.));\n#4=AXIS2_PLACEMENT_3D('',#1,#2,#3);\n"
        "#5=CYLINDRICAL_SURFACE('',#4,5.05);\n"
        "#6=RECTANGULAR_TRIMMED_SURFACE('',#5,0.,3.14159265358979,0.,10.,.T.,.T.);\n"
        "#7=RECTANGULAR_TRIMMED_SURFACE('',#5,3.14159265358979,6.28318530717959,0.,10.,.T.,.T.);"
        "\n#8=GEOMETRIC_SET('',(#6,#7));\n"
        "#9=(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.));\n"
        "#10=(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.));\n"
        "#11=(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT());\n"
        "#12=(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNIT_ASSIGNED_CONTEXT((#9,#10,#11))"
        "REPRESENTATION_CONTEXT('',''));\n"
        "#13=GEOMETRICALLY_BOUNDED_SURFACE_SHAPE_REPRESENTATION('',(#8),#12);\n"
        "#14=APPLICATION_CONTEXT('');\n#15=PRODUCT_CONTEXT('',#14,'mechanical');\n"
        "#16=PRODUCT('bush','bush','',(#15));\n#17=PRODUCT_DEFINITION_FORMATION('','',#16);\n"
        "#18=PRODUCT_DEFINITION_CONTEXT('part definition',#14,'design');\n"
        "#19=PRODUCT_DEFINITION('design','',#17,#18);\n#20=PRODUCT_DEFINITION_SHAPE('','',#19);"
        "\n#21=SHAPE_DEFINITION_REPRESENTATION(#20,#13);\nENDSEC;\nEND-ISO-10303-21;\n",
        file);
    fclose(file);
    Outcome o = LASH("info", path);
    assert_int_equal(o.code, 0);
    if (strstr(o.out, "1 faces, 2 edges") == NULL) fail_msg("not joined: %s", o.out);
    outcome_free(&o);
    cJSON* json = check("pin", "[0, 0, 0]", "{'part': 'ground', 'step': 'halves.step'}",
                        "{'part': 'body', 'faces': {'type': 'cylinder'}}", 0);
    assert_outside(json, "start", 1, 5e-5);
    cJSON_Delete(json);
}

static void where_nothing_tells_the_model_is_asked_for_flip(void** state) {
    (void)state;
    const char* all = "{'part': 'body', 'faces': 'all'}";
    cJSON* json = check("ball", "[0, 0, 5]", "{'part': 'ground', 'step': 'table.step'}", all, 3);
    char* text = cJSON_Print(json);
    assert_non_null(strstr(text, "contacts[0].a.step"));
    assert_non_null(strstr(text, "flip"));
    free(text);
    cJSON_Delete(json);
    // the word of the model comes before all others, also against the start
    json = check("ball", "[0, 0, 16]", "{'part': 'ground', 'step': 'table.step', 'flip': false}",
                 all, 0);
    assert_outside(json, "flip", 0, 3e-3);
    cJSON_Delete(json);
    json = check("ball", "[0, 0, -6]",
                 "{'part': 'ground', 'step': 'table.step', 'faces': {'index': 0, 'flip': true}}",
                 all, 0);
    assert_outside(json, "flip", 1, 3e-3);
    cJSON_Delete(json);
}

// Between two walls that were taken out of a block, where they look away from each other.
static void each_face_of_a_list_may_have_its_own_flip(void** state) {
    (void)state;
    static const struct {
        const char *faces, *rule;
        int turned;
    } cases[] = {{"[0, 1]", "start", 2},
                 {"[{'index': 0, 'flip': true}, 1]", "several", 2},
                 {"[{'index': 0, 'flip': true}, {'index': 1, 'flip': true}]", "flip", 2},
                 {"[{'index': 0, 'flip': false}, {'index': 1, 'flip': true}]", "flip", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char side[200];
        snprintf(side, sizeof side, "{'part': 'ground', 'step': 'walls.step', 'faces': %s}",
                 cases[i].faces);
        cJSON* json = check("ball", "[0, 0, 0]", side, "{'part': 'body', 'faces': 'all'}", 0);
        assert_outside(json, cases[i].rule, cases[i].turned, 7e-3);
        cJSON_Delete(json);
    }
}

static void a_solid_needs_no_flip(void** state) {
    (void)state;
    cJSON* json = check("ball", "[0, 0, 16]", "{'part': 'base', 'faces': 'all', 'flip': true}",
                        "{'part': 'body', 'faces': 'all'}", 3);
    char* text = cJSON_Print(json);
    assert_non_null(strstr(text, "contacts[0].a.flip"));
    free(text);
    cJSON_Delete(json);
}

// models/foreign_cad: two of its four surfaces are written inside out.
static void the_example_of_the_documentation_comes_to_rest(void** state) {
    (void)state;
    char result[300];
    Outcome o = LASH("run", LASH_SOURCE_DIR "/models/foreign_cad/foreign_cad.json", "--json", "-o",
                     scratch_file("foreign.h5", result, sizeof result));
    if (o.code != 0) fail_msg("exit code %d: %s", o.code, o.err);
    cJSON* json = cJSON_Parse(o.out);
    const cJSON* force = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "outputs"), "rest_force");
    assert_true(cJSON_IsNumber(force) && force->valuedouble > 0.05 && force->valuedouble < 0.17);
    cJSON_Delete(json);
    outcome_free(&o);
}

// Two rims 5 um apart share the load, and their gaps differ by what the part is tilted: to close both it would
// have to tilt by that over 5 um.
static void two_rims_of_a_thin_ring_are_closed_as_one(void** state) {
    (void)state;
    char path[300];
    write_model("rings.json",
                "{'format': 'lash-model/1', 'units': {'length': 'mm', 'mass': 'g'}, 'gravity': [0, "
                "-9810, 0], 'parts': [{'name': 'axle', 'step': 'axle.step', 'fixed': true}, "
                "{'name': 'hook', 'mass': 0.09, 'center': [-2, 0.7, 1.3], 'inertia': [[0.305, "
                "0.08, -0.054], [0.08, 0.442, 0.019], [-0.054, 0.019, 0.62]], "
                "'angular_velocity': [3, -2, 60]}], 'contacts': [{'name': 'low', 'a': {'part': "
                "'hook', 'step': 'ring.step'}, 'b': {'part': 'axle', 'faces': ['side']}, "
                "'friction': 0.1}, {'name': 'high', 'a': {'part': 'hook', 'step': "
                "'high_ring.step'}, 'b': {'part': 'axle', 'faces': ['side']}, 'friction': 0.1}], "
                "'simulation': {'step': 1e-5, 'duration': 0.02}}",
                path, sizeof path);
    Outcome o = LASH("run", path, "--json");
    if (o.code != 0) fail_msg("exit code %d: %s", o.code, o.err);
    cJSON* json = cJSON_Parse(o.out);
    const cJSON* newton = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "iterations"), "newton");
    // Both closed: 55 steps in parts, 5.9 corrections per step, 270 in one of them.
    assert_int_equal(cJSON_GetObjectItem(json, "substepped")->valueint, 0);
    assert_true(cJSON_GetObjectItem(newton, "avg")->valuedouble < 2);
    assert_true(cJSON_GetObjectItem(newton, "max")->valuedouble <= 20);
    cJSON_Delete(json);
    outcome_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_start_tells_which_side_of_a_loose_plane_is_outside),
        cmocka_unit_test(the_start_tells_that_a_loose_bush_holds_its_pin),
        cmocka_unit_test(a_face_on_the_solid_of_its_part_is_oriented_like_it),
        cmocka_unit_test(behind_a_loose_face_the_material_ends_at_the_solid_it_lies_on),
        cmocka_unit_test(a_point_that_came_round_the_border_of_a_loose_face_is_outside),
        cmocka_unit_test(halves_of_a_bush_that_meet_are_one_face),
        cmocka_unit_test(where_nothing_tells_the_model_is_asked_for_flip),
        cmocka_unit_test(each_face_of_a_list_may_have_its_own_flip),
        cmocka_unit_test(a_solid_needs_no_flip),
        cmocka_unit_test(two_rims_of_a_thin_ring_are_closed_as_one),
        cmocka_unit_test(the_example_of_the_documentation_comes_to_rest),
    };
    return cmocka_run_group_tests(tests, make_parts, remove_parts);
}
