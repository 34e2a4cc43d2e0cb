// STEP files read through the helper program: trees of parts, placements, units.
#include "geometry/select.h"
#include "test.h"
#include "tests/cad_parts.h"

static CadFolder folder;

static int set_up(void** state) {
    (void)state;
    folder = cad_folder();
    return 0;
}

static int tear_down(void** state) {
    (void)state;
    cad_remove_all(folder.path);
    return 0;
}

static void check_near(const char* what, double got, double expected, double tolerance) {
    if (fabs(got - expected) <= tolerance) return;
    fail_msg("%s: got %.17g, expected %.17g, error %.3g, tolerance %.3g", what, got, expected,
             got - expected, tolerance);
}

static void check_relative(const char* what, double got, double expected, double tolerance) {
    check_near(what, got, expected, tolerance * fabs(expected));
}

// volume, center and the diagonal of inertia about it (density 1), all to 1e-12 of their size

static void assemblies_keep_tree_placements_and_units(void** state) {
    (void)state;
    static const char* const units[] = {"MM", "M", "INCH"};
    for (int i = 0; i < 3; ++i) {
        char json[1200];
        snprintf(
            json, sizeof json,
            "{\"format\": \"lash-step/1\", \"name\": \"engine\", \"unit\": \"%s\", \"parts\": ["
            "{\"name\": \"pin\", \"color\": [0, 0, 1], \"at\": [10, 0, 5], \"axis\": [1, 0, 0], "
            "\"steps\": [{\"cylinder\": {\"radius\": 4, \"length\": 30, \"side\": \"journal\"}}]}, "
            "{\"name\": \"pin\", \"at\": [0, 50, 0], \"steps\": [{\"sphere\": {\"radius\": 6}}]}]}",
            units[i]);
        LashError error = {0};
        LashShape* s = lash_shape_load(cad_make(&folder, units[i], json), NULL, &error);
        assert_non_null(s);
        assert_int_equal(s->parts, 3);
        assert_true(s->part[0].assembly);
        assert_string_equal(lash_shape_string(s, s->part[1].name), "engine/pin");
        assert_string_equal(lash_shape_string(s, s->part[2].name), "engine/pin#2");
        assert_int_equal(s->part[2].parent, 0);
        check_near("center", vec3_distance(s->part[1].center, vec3(25e-3, 0, 5e-3)), 0, 1e-13);
        check_near("placement", vec3_distance(s->part[1].placement.r, vec3(10e-3, 0, 5e-3)), 0,
                   1e-13);
        Vec3 z = quat_rotate(s->part[1].placement.rot, vec3(0, 0, 1));
        check_near("rotation", vec3_distance(z, vec3(1, 0, 0)), 0, 1e-13);
        check_relative("volume", s->part[1].volume, LASH_PI * 16e-6 * 30e-3, 2e-11);
        check_relative("volume", s->part[2].volume, 4 * LASH_PI / 3 * 216e-9, 2e-11);
        assert_true(s->part[1].color[2] > 0.99f && s->part[1].color[3] > 0);
        lash_shape_destroy(s);
    }
}

static void a_scale_override_replaces_the_unit(void** state) {
    (void)state;
    LashShape* s = cad_part(&folder, "small", "{\"box\": {\"size\": [0.1, 0.2, 0.3]}}", "");
    assert_non_null(strstr(lash_shape_string(s, s->warnings), "metre numbers under a millimetre"));
    lash_shape_destroy(s);
    // a surface taken out of a part may well be so small
    s = cad_part(
        &folder, "small_face", "{\"box\": {\"size\": [0.1, 0.2, 0.3]}}",
        ", \"names\": [{\"name\": \"top\", \"near\": [0.05, 0.1, 0.3]}], \"only\": [\"top\"]");
    assert_int_equal(s->faces, 1);
    assert_int_equal(s->warnings, 0);
    lash_shape_destroy(s);
    char path[700];
    snprintf(path, sizeof path, "%s/small.step", folder.path);
    s = lash_shape_load(path, &(LashImport){.scale = 1}, NULL);
    assert_int_equal(s->warnings, 0);
    check_relative("volume", s->part[0].volume, 0.006, 1e-12);
    assert_true(s->scale == 1);
    lash_shape_destroy(s);
}

static void separate_solids_of_one_product_are_separate_parts(void** state) {
    (void)state;
    LashShape* s = cad_part(&folder, "pair",
                            "{\"box\": {\"size\": [10, 10, 10]}, \"name\": \"left\"}, {\"sphere\": "
                            "{\"radius\": 4}, \"at\": [30, 0, 0], \"name\": \"right\"}",
                            "");
    int solids = 0;
    for (int i = 0; i < s->parts; ++i) solids += s->part[i].solids;
    assert_int_equal(solids, 2);
    int rows[8];
    assert_int_equal(lash_select_name(s, LASH_ANY_PART, "left", rows, 8, NULL), 6);
    int left = s->face[rows[0]].part;
    assert_int_equal(lash_select_name(s, LASH_ANY_PART, "right", rows, 8, NULL), 1);
    assert_int_not_equal(s->face[rows[0]].part, left);
    check_relative("volume", s->part[left].volume, 1e-6, 1e-12);
    lash_shape_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assemblies_keep_tree_placements_and_units),
        cmocka_unit_test(a_scale_override_replaces_the_unit),
        cmocka_unit_test(separate_solids_of_one_product_are_separate_parts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
