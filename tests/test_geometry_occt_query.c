// Distances by BRepExtrema through the helper: against closed forms.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include "geometry/occt_query.h"
#include "geometry/select.h"
#include "tests/cad_parts.h"

static CadFolder folder;
static char ball[700], block[700];

static int set_up(void** state) {
    (void)state;
    folder = cad_folder();
    snprintf(
        ball, sizeof ball, "%s",
        cad_make(&folder, "ball",
                 "{\"format\": \"lash-step/1\", \"name\": \"ball\", \"steps\": [{\"cylinder\": "
                 "{\"radius\": 3, \"length\": 20, \"side\": \"pin\"}}]}"));
    snprintf(block, sizeof block, "%s",
             cad_make(&folder, "block",
                      "{\"format\": \"lash-step/1\", \"name\": \"block\", \"steps\": [{\"box\": "
                      "{\"size\": [40, 40, 40], \"centered\": true}}]}"));
    return 0;
}

static int tear_down(void** state) {
    (void)state;
    cad_remove_all(folder.path);
    return 0;
}

static void pin_beside_a_block_has_the_right_distance(void** state) {
    (void)state;
    LashError error = {0};
    LashShape* s = lash_shape_load(ball, NULL, &error);
    int row;
    assert_int_equal(lash_select_name(s, 0, "pin", &row, 1, &error), 1);
    lash_shape_destroy(s);
    LashOcctSide a = {.path = ball, .faces = &row, .count = 1}, b = {.path = block};
    LashOcctQuery* query = lash_occt_query_open(&a, &b, &error);
    if (query == NULL) fail_msg("%s", error.message);
    for (int i = 0; i < 20; ++i) { // the pair moves as one; the pin's axis stays parallel to a face
        Quat turn = quat_normalize(quat(1, 0.1 * i, -0.3, 0.02 * i));
        Pose world_b = pose(vec3(0.1 * i, -0.2, 0.05), turn);
        Pose b_a = pose(vec3(30e-3 + i * 1e-3, 1e-3, -10e-3),
                        quat_from_axis_angle(vec3(0, 0, 1), 0.3 * i));
        LashOcctAnswer answer;
        assert_true(
            lash_occt_query_distance(query, pose_mul(world_b, b_a), world_b, &answer, &error));
        double expected = 30e-3 + i * 1e-3 - 3e-3 - 20e-3;
        if (fabs(answer.distance - expected) > 1e-9)
            fail_msg("distance %.12g, expected %.12g", answer.distance, expected);
        assert_true(fabs(vec3_distance(answer.point_a, answer.point_b) - answer.distance) < 1e-9);
        Vec3 on_b = pose_point_inverse(world_b, answer.point_b);
        assert_true(fabs(on_b.x - 20e-3) < 1e-9);
        assert_true(answer.seconds > 0);
    }
    lash_occt_query_close(query);
}

static void scale_overrides_apply_to_queries(void** state) {
    (void)state;
    LashError error = {0};
    LashOcctSide a = {.path = ball, .import = {.scale = 1}},
                 b = {.path = block, .import = {.scale = 1}};
    LashOcctQuery* query = lash_occt_query_open(&a, &b, &error);
    assert_non_null(query);
    LashOcctAnswer answer;
    assert_true(lash_occt_query_distance(query, pose(vec3(30, 0, 0), quat_identity()),
                                         pose_identity(), &answer, &error));
    assert_true(fabs(answer.distance - 7) < 1e-6);
    lash_occt_query_close(query);
}

static void bad_requests_are_told(void** state) {
    (void)state;
    LashError error = {0};
    int row = 99;
    LashOcctSide a = {.path = ball, .faces = &row, .count = 1}, b = {.path = "/nowhere.step"};
    assert_null(lash_occt_query_open(&a, &a, &error));
    assert_non_null(strstr(error.message, "no face 99"));
    error = (LashError){0};
    assert_null(lash_occt_query_open(&b, &b, &error));
    assert_int_equal(error.status, LASH_ERROR_CAD);
    lash_occt_query_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pin_beside_a_block_has_the_right_distance),
        cmocka_unit_test(scale_overrides_apply_to_queries),
        cmocka_unit_test(bad_requests_are_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
