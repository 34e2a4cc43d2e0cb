// Distances by BRepExtrema through the helper: against closed forms.
#include "geometry/cad/occt_query.h"
#include "geometry/pairs.h"
#include "geometry/select.h"
#include "test.h"
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

// ---- behind the pair manager --------------------------------------------------------------------

typedef struct Both { // the same two parts, asked both ways
    LashShape *pin, *block;
    int face;
    LashPair* pair[2]; // exact, occt
    LashPairWork* work[2];
} Both;

static LashPairDef definition(const Both* t, LashQuery query) {
    LashPairDef def = lash_pair_def();
    def.a.shape = t->pin;
    def.a.faces = &t->face;
    def.a.face_count = 1;
    def.a.path = ball;
    def.b.shape = t->block;
    def.b.path = block;
    def.a.body_shape = pose(vec3(1e-3, 2e-3, -3e-3), quat_normalize(quat(1, 0.2, 0, 0.1)));
    def.offset = 2e-6;
    def.query = query;
    return def;
}

static Both both_make(void) {
    LashError error = {0};
    Both t = {.pin = lash_shape_load(ball, NULL, &error),
              .block = lash_shape_load(block, NULL, &error)};
    assert_true(t.pin != NULL && t.block != NULL);
    assert_int_equal(lash_select_name(t.pin, 0, "pin", &t.face, 1, &error), 1);
    for (int i = 0; i < 2; ++i) {
        LashPairDef def = definition(&t, i == 0 ? LASH_QUERY_EXACT : LASH_QUERY_OCCT);
        assert_true(lash_pair_check(&def, &error));
        t.pair[i] = lash_pair_create(&def);
        t.work[i] = lash_pair_work_create(t.pair[i]);
    }
    return t;
}

static void both_free(Both* t) {
    for (int i = 0; i < 2; ++i) {
        lash_pair_work_destroy(t->work[i]);
        lash_pair_destroy(t->pair[i]);
    }
    lash_shape_destroy(t->pin);
    lash_shape_destroy(t->block);
}

static double least_gap(Both* t, int way, Pose a, Pose b, LashContactPoint* nearest) {
    LashContactPoint p[32];
    memset(nearest, 0, sizeof *nearest);
    double least = INFINITY;
    int n = lash_pair_query(t->pair[way], t->work[way], a, b, 0.02, p, 32);
    assert_true(n <= 32);
    for (int i = 0; i < n; ++i)
        if (p[i].gap < least) {
            least = p[i].gap;
            *nearest = p[i];
        }
    return least;
}

static void pair_manager_answers_the_same_through_occt_while_apart(void** state) {
    (void)state;
    Both t = both_make();
    for (int i = 0; i < 12; ++i) {
        Pose b = pose(vec3(0.1 * i, -0.2, 0.05), quat_normalize(quat(1, 0.1 * i, -0.3, 0.02)));
        Pose a = pose_mul(b, pose(vec3(30e-3 + i * 1e-4, 1e-3 * i, 2e-3),
                                  quat_normalize(quat(1, 0.1 * i, 0.05 * i, 0.3))));
        LashContactPoint p[2];
        double exact = least_gap(&t, 0, a, b, p), occt = least_gap(&t, 1, a, b, p + 1);
        if (!(fabs(exact - occt) < 1e-9)) fail_msg("exact %.12g, occt %.12g", exact, occt);
        assert_true(vec3_distance(p[0].normal, p[1].normal) < 1e-6);
        assert_true(vec3_distance(p[0].point_b, p[1].point_b) < 1e-6);
        double along = vec3_dot(vec3_sub(p[1].point_a, p[1].point_b), p[1].normal);
        assert_true(fabs(along + 2e-6 - p[1].gap) < 1e-9);
        assert_int_equal(lash_pair_beyond_reach(t.work[1]), 0);
        // the same number through collect and evaluate, and rates that are owned up as unknown
        LashMotion some = {1e-3, 1e-2}, none = {0, 0};
        double gap[8];
        LashContactPoint q[8];
        assert_int_equal(lash_pair_collect(t.pair[1], t.work[1], a, b, some, none, 0.02), 1);
        assert_true(lash_pair_evaluate(t.pair[1], t.work[1], a, b, gap, NULL, q));
        assert_true(gap[0] == occt && q[0].id == lash_pair_slots(t.work[1])[0]);
        LashContactRate rate;
        assert_false(lash_contact_rate(q, vec3(1, 2, 3), vec3(0, 1, 0), &rate));
        assert_true(fabs(rate.gap - vec3_dot(q[0].normal, vec3(1, 2, 3))) < 1e-12);
        a.r.x += 5e-3; // breaks the promise
        assert_false(lash_pair_evaluate(t.pair[1], t.work[1], a, b, gap, NULL, q));
    }
    both_free(&t);
}

static void occt_owns_up_that_it_cannot_see_penetration(void** state) {
    (void)state;
    Both t = both_make();
    Pose b = pose_identity(), deep = pose(vec3(19e-3, 0, 0), quat_identity());
    LashContactPoint p;
    // never seen apart: no normal, no point, but it says so
    assert_true(isinf(least_gap(&t, 1, deep, b, &p)));
    assert_int_equal(lash_pair_beyond_reach(t.work[1]), 1);
    assert_int_equal(lash_pair_error(t.work[1])->status, LASH_OK);
    // seen apart before: gap 0 (and the offset) along the last normal; the kernels know the depth
    Pose apart = pose(vec3(26e-3, 0, 0), quat_identity());
    assert_true(least_gap(&t, 1, apart, b, &p) > 0);
    Vec3 last = p.normal;
    assert_true(least_gap(&t, 1, deep, b, &p) == 2e-6);
    assert_true(vec3_distance(p.normal, last) < 1e-12);
    assert_int_equal(lash_pair_beyond_reach(t.work[1]), 1);
    assert_true(least_gap(&t, 0, deep, b, &p) < -1e-3);
    // far: the boxes answer, nobody is asked
    Pose far = pose(vec3(1, 0, 0), quat_identity());
    assert_true(isinf(least_gap(&t, 1, far, b, &p)));
    assert_true(lash_pair_bound(t.work[1]) > 0.9 && lash_pair_bound(t.work[1]) < 1);
    both_free(&t);
}

static void occt_pairs_without_files_are_refused(void** state) {
    (void)state;
    LashError error = {0};
    LashShape* box = lash_shape_box(vec3(1, 1, 1));
    LashPairDef def = lash_pair_def();
    def.a.shape = def.b.shape = box;
    def.query = LASH_QUERY_OCCT;
    assert_false(lash_pair_check(&def, &error));
    assert_non_null(strstr(error.message, "STEP"));
    int edge = 0;
    error = (LashError){0};
    def.a.path = def.b.path = block;
    def.b.edges = &edge;
    def.b.edge_count = 1;
    assert_false(lash_pair_check(&def, &error));
    assert_string_equal(error.where, "b");
    error = (LashError){0};
    def.b.edge_count = 0;
    def.b.path = "/nowhere.step";
    assert_false(lash_pair_check(&def, &error));
    assert_int_equal(error.status, LASH_ERROR_CAD);
    LashPair* pair = lash_pair_create(&def); // and at run time it is not taken for "no contact"
    LashPairWork* work = lash_pair_work_create(pair);
    LashContactPoint p;
    assert_int_equal(lash_pair_query(pair, work, pose_identity(), pose_identity(), 0, &p, 1), 0);
    assert_int_equal(lash_pair_error(work)->status, LASH_ERROR_CAD);
    assert_true(isinf(lash_pair_bound(work)) && lash_pair_bound(work) < 0);
    double gap;
    LashMotion none = {0, 0};
    Pose here = pose_identity();
    assert_int_equal(lash_pair_collect(pair, work, here, here, none, none, 0), 1);
    assert_false(lash_pair_evaluate(pair, work, here, here, &gap, NULL, NULL));
    lash_pair_work_destroy(work);
    lash_pair_destroy(pair);
    lash_shape_destroy(box);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pin_beside_a_block_has_the_right_distance),
        cmocka_unit_test(scale_overrides_apply_to_queries),
        cmocka_unit_test(bad_requests_are_told),
        cmocka_unit_test(pair_manager_answers_the_same_through_occt_while_apart),
        cmocka_unit_test(occt_owns_up_that_it_cannot_see_penetration),
        cmocka_unit_test(occt_pairs_without_files_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
