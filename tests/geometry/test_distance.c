// Distances of sets of faces that are far apart: closed forms, and BRepExtrema at random poses.
#include "geometry/cad/occt_query.h"
#include "geometry/distance.h"
#include "geometry/select.h"
#include "test.h"
#include "tests/cad_parts.h"
#include "tests/geometry_oracle.h"

static CadFolder folder;
static const char* const ball = "{\"sphere\": {\"radius\": 5}}";
static const char* const block =
    "{\"box\": {\"size\": [40, 30, 20], \"centered\": true}, \"name\": \"side\"}";
static const char* const pin = "{\"cylinder\": {\"radius\": 4, \"length\": 30, \"side\": \"pin\"}}";
static const char* const hook =
    "{\"extrude\": {\"profile\": {\"polygon\": [[-20, -16], [20, -16], [20, 16], [4, 16], [4, 8], "
    "[12, 8], [12, -8], [-20, -8]]}, \"length\": 24}, \"at\": [0, 0, -12]}";
static const char* const cam =
    "{\"extrude\": {\"profile\": {\"outer\": {\"cam\": {\"base\": 15, \"lift\": [[0, 0], [60, 2], "
    "[120, 8], [180, 3], [240, 0], [300, 0]]}}}, \"length\": 8}}";
static const char* const ring =
    "{\"extrude\": {\"profile\": {\"outer\": {\"circle\": {\"radius\": 12}}, \"holes\": "
    "[{\"circle\": {\"radius\": 7}, \"name\": \"bore\"}]}, \"length\": 10}}";

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

static LashPairSide whole(const LashShape* shape) {
    LashPairDef def = lash_pair_def();
    def.a.shape = shape;
    return def.a;
}

static void assert_distance(LashDistance* d, Pose a, Pose b, double expected) {
    LashNearest nearest = lash_distance_query(d, a, b);
    if (!(fabs(nearest.distance - expected) <= 1e-12))
        fail_msg("distance %.15g, expected %.15g", nearest.distance, expected);
    assert_true(fabs(vec3_distance(nearest.point_a, nearest.point_b) - expected) <= 1e-12);
}

static void a_ball_over_a_block_has_the_distance_of_the_nearest_face_edge_or_corner(void** state) {
    (void)state;
    LashShape *a = cad_part(&folder, "ball", ball, ""), *b = cad_part(&folder, "block", block, "");
    LashPairSide side_a = whole(a), side_b = whole(b);
    LashDistance* d = lash_distance_create(&side_a, &side_b);
    for (int i = 0; i < 200; ++i) {
        double x = -1 + 0.013 * i, y = 0.4 - 0.007 * i, z = 0.3 + 0.002 * i;
        Vec3 beyond = vec3(fmax(0, fabs(x) - 0.02), fmax(0, fabs(y) - 0.015), fmax(0, z - 0.01));
        Pose turn = pose(vec3(0.1, 0.2, 0.3), quat_normalize(quat(1, 0.01 * i, 0.3, -0.2)));
        assert_distance(d, pose_mul(turn, pose(vec3(x, y, z), quat_identity())), turn,
                        vec3_norm(beyond) - 5e-3);
    }
    lash_distance_destroy(d);
    lash_shape_destroy(a);
    lash_shape_destroy(b);
}

// A block that stands on its corner over a cylinder face.
static void a_corner_over_a_cylinder_has_the_distance_from_the_axis(void** state) {
    (void)state;
    LashError error = {0};
    LashShape *a = cad_part(&folder, "block", block, ""), *b = cad_part(&folder, "pin", pin, "");
    int face;
    assert_int_equal(lash_select_name(b, 0, "pin", &face, 1, &error), 1);
    LashPairSide side_a = whole(a), side_b = whole(b);
    side_b.faces = &face;
    side_b.face_count = 1;
    LashDistance* d = lash_distance_create(&side_a, &side_b);
    Vec3 corner = vec3(20e-3, 15e-3, 10e-3);
    Quat down = quat_between(vec3_normalize(corner), vec3(-1, 0, 0)); // the corner towards -x
    for (int i = 0; i < 50; ++i) {
        double x = 1e-3 + 0.02 * i + vec3_norm(corner) + 4e-3;
        assert_distance(d, pose(vec3(x, 0, 12e-3), down), pose_identity(),
                        x - vec3_norm(corner) - 4e-3);
    }
    lash_distance_destroy(d);
    lash_shape_destroy(a);
    lash_shape_destroy(b);
}

// Two faces that look past each other have no contact point at all, but a distance.
static void faces_that_do_not_face_each_other_have_the_distance_of_their_edges(void** state) {
    (void)state;
    LashError error = {0};
    LashShape* s = cad_part(&folder, "block", block, "");
    int top, bottom;
    LashFaceQuery query = lash_face_query();
    query.type = LASH_PLANE;
    query.has_near = true;
    query.near = vec3(0, 0, 10e-3);
    assert_true(lash_select_query(s, 0, &query, &top, &error));
    query.near = vec3(0, 0, -10e-3);
    assert_true(lash_select_query(s, 0, &query, &bottom, &error));
    LashPairSide a = whole(s), b = whole(s);
    a.faces = &bottom;
    b.faces = &top;
    a.face_count = b.face_count = 1;
    LashDistance* d = lash_distance_create(&a, &b);
    assert_distance(d, pose(vec3(0.1, 0, 0), quat_identity()), pose_identity(),
                    hypot(0.1 - 0.04, 0.02)); // the bottom stands lower than the top, beside it
    assert_distance(d, pose(vec3(0.1, 0, 0.5), quat_identity()), pose_identity(),
                    hypot(0.1 - 0.04, 0.5 - 0.02));
    lash_distance_destroy(d);
    lash_shape_destroy(s);
}

// BRepExtrema misses minima now and then (docs/geometry.md); it is never nearer.
static void distances_agree_with_brepextrema_far_apart(void** state) {
    (void)state;
    // behind the reentrant corners of the hook edges and faces go on, but not for a distance
    const char* steps[] = {block, pin, ring, cam, hook};
    const char* name[] = {"block", "pin", "ring", "cam", "hook"};
    enum { PARTS = 5, POSES = 12 };
    Random r = {17};
    int agreed = 0, asked = 0;
    for (int i = 0; i < PARTS; ++i) {
        for (int k = i; k < PARTS; ++k) {
            LashError error = {0};
            LashShape* a = cad_part(&folder, name[i], steps[i], "");
            LashShape* b = cad_part(&folder, name[k], steps[k], "");
            char path_a[700], path_b[700];
            snprintf(path_a, sizeof path_a, "%.500s/%s.step", folder.path, name[i]);
            snprintf(path_b, sizeof path_b, "%.500s/%s.step", folder.path, name[k]);
            LashOcctSide occt_a = {.path = path_a}, occt_b = {.path = path_b};
            LashOcctQuery* query = lash_occt_query_open(&occt_a, &occt_b, &error);
            if (query == NULL) fail_msg("%s", error.message);
            LashPairSide side_a = whole(a), side_b = whole(b);
            LashDistance* d = lash_distance_create(&side_a, &side_b);
            for (int n = 0; n < POSES; ++n, ++asked) {
                Pose p =
                    pose(vec3_scale(0.06 + 0.04 * n, random_direction(&r)), random_rotation(&r));
                LashOcctAnswer answer;
                assert_true(lash_occt_query_distance(query, p, pose_identity(), &answer, &error));
                double own = lash_distance_query(d, p, pose_identity()).distance;
                if (own > answer.distance + 1e-9)
                    fail_msg("%s, %s: %.12g, BRepExtrema %.12g", name[i], name[k], own,
                             answer.distance);
                agreed += fabs(own - answer.distance) <= 1e-9;
            }
            lash_distance_destroy(d);
            lash_occt_query_close(query);
            lash_shape_destroy(a);
            lash_shape_destroy(b);
        }
    }
    if (agreed < asked - 2) fail_msg("%d of %d distances agree", agreed, asked);
}

// A circle a hundredth as large as the other has all its nearest and farthest points over a small part
// of that one.
static void a_small_circle_beside_a_large_one_is_as_near_as_its_nearest_point(void** state) {
    (void)state;
    const double small = 1e-5, large = 8e-4;
    LashShape *a = lash_shape_cylinder(large, 2e-3), *b = lash_shape_cylinder(small, 1e-4);
    const int top = 0;
    LashPairDef def = lash_pair_def();
    def.a =
        (LashPairSide){.shape = a, .edges = &top, .edge_count = 1, .body_shape = pose_identity()};
    def.b =
        (LashPairSide){.shape = b, .edges = &top, .edge_count = 1, .body_shape = pose_identity()};
    assert_int_equal(a->edge[top].type, LASH_CIRCLE);
    LashDistance *there = lash_distance_create(&def.a, &def.b),
                 *back = lash_distance_create(&def.b, &def.a);
    Random r = {17};
    for (int n = 0; n < 2000; ++n) { // the small one's center beside the large circle
        const LashEdge *e = a->edge + top, *f = b->edge + top;
        double turn = random_in(&r, 0, 2 * LASH_PI), most = INFINITY;
        Vec3 at = vec3_add(e->origin, vec3_scale(large, vec3(cos(turn), sin(turn), 0)));
        at = vec3_add_scaled(at, random_in(&r, 0, 3e-5), random_direction(&r));
        Pose world = pose(
            at, n % 2 == 0 ? random_rotation(&r)
                           : quat_from_axis_angle(random_direction(&r), random_in(&r, 0, 0.03)));
        for (int k = 0; k < 2000; ++k) {
            double t = 2 * LASH_PI * k / 2000;
            Vec3 p = vec3_add_scaled(f->origin, small * cos(t), f->x);
            p = vec3_sub(pose_point(world, vec3_add_scaled(p, small * sin(t), f->y)), e->origin);
            most = fmin(most, hypot(p.z, hypot(p.x, p.y) - large));
        }
        double one = lash_distance_query(there, pose_identity(), world).distance;
        double two = lash_distance_query(back, world, pose_identity()).distance;
        assert_true(fabs(one - two) <= 1e-15);
        // the sample nearest to the least is half a step away: less than that nearer
        if (!(one <= most + 1e-15 && one >= most - small * LASH_PI / 2000))
            fail_msg("pose %d: %.12g, a point is at %.12g", n, one, most);
    }
    lash_distance_destroy(there);
    lash_distance_destroy(back);
    lash_shape_destroy(a);
    lash_shape_destroy(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_over_a_block_has_the_distance_of_the_nearest_face_edge_or_corner),
        cmocka_unit_test(a_corner_over_a_cylinder_has_the_distance_from_the_axis),
        cmocka_unit_test(faces_that_do_not_face_each_other_have_the_distance_of_their_edges),
        cmocka_unit_test(a_small_circle_beside_a_large_one_is_as_near_as_its_nearest_point),
        cmocka_unit_test(distances_agree_with_brepextrema_far_apart),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
