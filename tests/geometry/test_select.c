// Faces chosen by index, name and query; what does not fit is told with the candidates.
#include "geometry/select.h"
#include "test.h"
#include "tests/cad_parts.h"

static CadFolder folder;

static int set_up(void** state) {
    folder = cad_folder();
    *state =
        cad_part(&folder, "plate",
                 "{\"box\": {\"size\": [60, 40, 8]}}, {\"do\": \"cut\", \"cylinder\": "
                 "{\"radius\": 5, \"length\": 8}, \"at\": [15, 20, 0], \"name\": \"left\"}, "
                 "{\"do\": \"cut\", \"cylinder\": {\"radius\": 5, \"length\": 8}, \"at\": [45, "
                 "20, 0], \"name\": \"right\"}, {\"cylinder\": {\"radius\": 3, \"length\": 10}, "
                 "\"at\": [30, 20, 8]}, {\"cone\": {\"radius\": 3, \"radius2\": 1, \"length\": 2}, "
                 "\"at\": [30, 20, 18]}",
                 "");
    return *state == NULL;
}

static int tear_down(void** state) {
    lash_shape_destroy(*state);
    cad_remove_all(folder.path);
    return 0;
}

static void index_and_name_find_their_face(void** state) {
    const LashShape* s = *state;
    int face, rows[4];
    LashError error = {0};
    assert_true(lash_select_index(s, LASH_ANY_PART, 3, &face, &error));
    assert_int_equal(s->face[face].index, 3);
    assert_int_equal(lash_select_name(s, 0, "left", rows, 4, &error), 1);
    assert_int_equal(s->face[rows[0]].type, LASH_CYLINDER);
    assert_false(lash_select_index(s, LASH_ANY_PART, 99, &face, &error));
    assert_int_equal(error.status, LASH_ERROR_MODEL);
    assert_non_null(strstr(error.message, "no face 99"));
    error = (LashError){0};
    assert_int_equal(lash_select_name(s, 0, "middle", rows, 4, &error), 0);
    assert_non_null(strstr(error.message, "left"));
    assert_non_null(strstr(error.message, "right"));
}

static void queries_find_by_radius_side_axis_and_place(void** state) {
    const LashShape* s = *state;
    int face;
    LashError error = {0};
    LashFaceQuery q = lash_face_query();
    q.type = LASH_CYLINDER;
    q.radius = 3e-3;
    assert_true(lash_select_query(s, 0, &q, &face, &error));
    assert_true(s->face[face].side > 0);
    q = lash_face_query();
    q.type = LASH_CYLINDER;
    q.side = 1;
    assert_true(lash_select_query(s, 0, &q, &face, &error));
    assert_true(fabs(s->face[face].radius - 3e-3) < 1e-12);
    q = lash_face_query();
    q.type = LASH_CYLINDER;
    q.radius = 5e-3;
    q.has_near = true;
    q.near = vec3(44e-3, 20e-3, 4e-3);
    assert_true(lash_select_query(s, 0, &q, &face, &error));
    assert_string_equal(lash_shape_string(s, s->face[face].name), "right");
    q = lash_face_query();
    q.type = LASH_CONE;
    q.radius = 2e-3; // between its ends
    assert_true(lash_select_query(s, 0, &q, &face, &error));
    q = lash_face_query();
    q.type = LASH_PLANE;
    q.has_axis = true;
    q.axis = vec3(0, 0, -2);
    q.has_near = true;
    q.near = vec3(1e-3, 1e-3, -1e-3);
    assert_true(lash_select_query(s, 0, &q, &face, &error));
    assert_true(s->face[face].box.high.z < 1e-9);
    for (int side = -1; side <= 1; side += 2) { // a plane is neither a pin nor a bore
        q.side = side;
        assert_false(lash_select_query(s, 0, &q, &face, &error));
        assert_non_null(strstr(error.message, "no face fits"));
        error = (LashError){0};
    }
}

static void doubt_is_told_with_the_candidates(void** state) {
    const LashShape* s = *state;
    int face;
    LashError error = {0};
    LashFaceQuery q = lash_face_query();
    q.type = LASH_CYLINDER;
    q.radius = 5e-3;
    assert_false(lash_select_query(s, 0, &q, &face, &error));
    assert_int_equal(error.status, LASH_ERROR_MODEL);
    assert_non_null(strstr(error.message, "2 faces fit"));
    assert_non_null(strstr(error.message, "left"));
    assert_non_null(strstr(error.message, "right"));
    error = (LashError){0};
    q.has_near = true;
    q.near = vec3(30e-3, 20e-3, 4e-3); // as near to one as to the other
    assert_false(lash_select_query(s, 0, &q, &face, &error));
    assert_non_null(strstr(error.message, "2 faces fit"));
    assert_null(strstr(error.message, "add 'near'"));
    error = (LashError){0};
    q = lash_face_query();
    q.type = LASH_CYLINDER;
    q.radius = 4e-3;
    assert_false(lash_select_query(s, 0, &q, &face, &error));
    assert_non_null(strstr(error.message, "no face fits"));
    assert_non_null(strstr(error.message, "r 3 mm"));
    error = (LashError){0};
    q.type = LASH_TORUS;
    assert_false(lash_select_query(s, 0, &q, &face, &error));
    assert_non_null(strstr(error.message, "none of that type"));
}

static void parts_are_found_by_path_or_last_name(void** state) {
    (void)state;
    LashError error = {0};
    LashShape* s = lash_shape_load(
        cad_make(
            &folder, "two",
            "{\"format\": \"lash-step/1\", \"name\": \"two\", \"parts\": [{\"name\": \"a\", "
            "\"steps\": [{\"sphere\": {\"radius\": 3}}]}, {\"name\": \"b\", \"at\": [9, 0, 0], "
            "\"steps\": [{\"sphere\": {\"radius\": 4}}]}]}"),
        NULL, &error);
    int part, face;
    assert_true(lash_select_part(s, "two/b", &part, &error));
    assert_int_equal(part, 2);
    assert_true(lash_select_part(s, "a", &part, &error));
    assert_int_equal(part, 1);
    assert_true(lash_select_index(s, part, 0, &face, &error));
    assert_true(fabs(s->face[face].radius - 3e-3) < 1e-15);
    for (int i = 0; i < 2; ++i) { // one number for all faces of the file
        assert_true(lash_select_index(s, LASH_ANY_PART, i, &face, &error));
        assert_int_equal(s->face[face].part, 1 + i);
    }
    assert_false(lash_select_index(s, part, 1, &face, &error));
    assert_non_null(strstr(error.message, "1 faces, in lash info from 0 to 0"));
    error = (LashError){0};
    assert_false(lash_select_part(s, "c", &part, &error));
    assert_non_null(strstr(error.message, "two/a"));
    lash_shape_destroy(s);
}

static void long_lists_are_cut(void** state) {
    const LashShape* s = *state;
    int face;
    LashError error = {0};
    LashFaceQuery q = lash_face_query();
    assert_false(lash_select_query(s, 0, &q, &face, &error));
    assert_true(strlen(error.message) < sizeof error.message);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_and_name_find_their_face),
        cmocka_unit_test(queries_find_by_radius_side_axis_and_place),
        cmocka_unit_test(doubt_is_told_with_the_candidates),
        cmocka_unit_test(parts_are_found_by_path_or_last_name),
        cmocka_unit_test(long_lists_are_cut),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
