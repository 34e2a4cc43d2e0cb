// Gaps of whole STEP parts against BRepExtrema_DistShapeShape at random separated poses.
//
// The distance is unique, so where the two differ one of them missed the minimum. Ours comes with
// two points: when both lie on their parts (equation of the face, inside its trim, on the mesh that
// OpenCASCADE made), they prove that the distance is no larger, and a larger answer is the peer's
// miss. A smaller answer of the peer would be ours: it fails the test.
#include "core/arena.h"
#include "geometry/cad/occt_query.h"
#include "geometry/kernels/trim.h"
#include "geometry/pairs.h"
#include "geometry/select.h"
#include "test.h"
#include "tests/cad_parts.h"
#include "tests/geometry_oracle.h"

enum { CAPACITY = 512 };

typedef struct PartText {
    const char *name, *steps;
} PartText;

static const PartText texts[] = {
    {"block", "{\"box\": {\"size\": [30, 24, 18], \"centered\": true}}"},
    {"pin", "{\"cylinder\": {\"radius\": 7.6, \"length\": 30}}"},
    {"ball", "{\"sphere\": {\"radius\": 9}}"},
    {"cone", "{\"cone\": {\"radius\": 12, \"radius2\": 5, \"length\": 16}}"},
    {"tire", "{\"torus\": {\"radius\": 14, \"tube\": 4}}"},
    {"dome", "{\"cylinder\": {\"radius\": 6, \"length\": 12}}, {\"sphere\": {\"radius\": 6}}"},
    {"ring",
     "{\"cylinder\": {\"radius\": 14, \"length\": 10}}, {\"cylinder\": {\"radius\": 8, "
     "\"length\": 10}, \"do\": \"cut\"}"},
    {"plate",
     "{\"box\": {\"size\": [50, 30, 5], \"centered\": true}}, {\"cylinder\": {\"radius\": "
     "7, \"length\": 20}, \"at\": [8, 0, -10], \"do\": \"cut\"}"},
    {"cam",
     "{\"extrude\": {\"profile\": {\"spline\": [[14, 0], [4, 12], [-9, 9], [-12, -4], [2, "
     "-11]]}, \"length\": 8}}"},
};
enum { PARTS = sizeof texts / sizeof *texts };

static CadFolder folder;
static char path[PARTS][700];
static LashShape* shape[PARTS];

static int set_up(void** state) {
    (void)state;
    folder = cad_folder();
    for (int i = 0; i < PARTS; ++i) {
        shape[i] = cad_part(&folder, texts[i].name, texts[i].steps, "");
        if (shape[i] == NULL) return 1;
        snprintf(path[i], sizeof path[i], "%s/%s.step", folder.path, texts[i].name);
    }
    return 0;
}

static int tear_down(void** state) {
    (void)state;
    for (int i = 0; i < PARTS; ++i) lash_shape_destroy(shape[i]);
    cad_remove_all(folder.path);
    return 0;
}

static int find_part(const char* name) {
    for (int i = 0; i < PARTS; ++i)
        if (strcmp(texts[i].name, name) == 0) return i;
    fail_msg("no part %s", name);
    return -1;
}

typedef struct Rig {
    const LashShape *a, *b;
    LashPair* pair;
    LashPairWork* work;
    LashOcctQuery* peer;
    LashContactPoint nearest;
    char name[64];
} Rig;

static Rig rig_make(int a, int b, bool with_peer) {
    Rig rig = {.a = shape[a], .b = shape[b]};
    snprintf(rig.name, sizeof rig.name, "%s/%s", texts[a].name, texts[b].name);
    LashPairDef def = lash_pair_def();
    def.a.shape = rig.a;
    def.b.shape = rig.b;
    rig.pair = lash_pair_create(&def);
    rig.work = lash_pair_work_create(rig.pair);
    if (!with_peer) return rig;
    LashError error = {0};
    LashOcctSide side_a = {.path = path[a]}, side_b = {.path = path[b]};
    rig.peer = lash_occt_query_open(&side_a, &side_b, &error);
    if (rig.peer == NULL) fail_msg("%s", error.message);
    return rig;
}

static void rig_free(Rig* rig) {
    lash_occt_query_close(rig->peer);
    lash_pair_work_destroy(rig->work);
    lash_pair_destroy(rig->pair);
}

// The smallest gap, INFINITY when there is none; its points stay in rig->nearest.
static double least_gap(Rig* rig, Pose world_a, Pose world_b, double activation) {
    static LashContactPoint points[CAPACITY];
    int count =
        lash_pair_query(rig->pair, rig->work, world_a, world_b, activation, points, CAPACITY);
    assert_in_range(count, 0, CAPACITY);
    rig->nearest.gap = INFINITY;
    for (int i = 0; i < count; ++i)
        if (points[i].gap < rig->nearest.gap) rig->nearest = points[i];
    return rig->nearest.gap;
}

// The same where there must be one.
static double our_gap(Rig* rig, Pose world_a, Pose world_b, double activation) {
    double gap = least_gap(rig, world_a, world_b, activation);
    Pose p = pose_mul(pose_inverse(world_b), world_a);
    if (isinf(gap))
        fail_msg("%s: nothing found; a in b: (%.17g %.17g %.17g | %.17g %.17g %.17g %.17g)",
                 rig->name, p.r.x, p.r.y, p.r.z, p.rot.w, p.rot.x, p.rot.y, p.rot.z);
    return gap;
}

// Is the point (shape's frame) on some face of the shape? Equation and trim, or, of a freeform
// face, the mesh alone: within its deflection.
static bool on_shape(const LashShape* s, Vec3 p) {
    double size = vec3_distance(s->part[0].box.low, s->part[0].box.high);
    for (int i = 0; i < s->faces; ++i) {
        if (lash_face_mesh_distance(s, i, p) > 2e-3 * size) continue;
        const LashFace* f = s->face + i;
        if (f->type == LASH_FREEFORM) return true;
        if (fabs(lash_face_distance(f, p)) < 1e-12 &&
            lash_trim_point(s, f, p, 1e-10) != LASH_OUTSIDE)
            return true;
    }
    return false;
}

typedef struct Tally {
    int compared, peer_missed, peer_silent;
    double agreement, largest_miss; // [m]
} Tally;

static void compare(Rig* rig, Pose a, Pose b, Tally* tally) {
    double gap = our_gap(rig, a, b, 1), tolerance = 1e-9; // [m]; BRepExtrema works to 1e-7 mm
    const LashContactPoint* p = &rig->nearest;
    assert_true(gap > 0);
    // the bounds must let it pass when nothing farther away is asked for
    double again = our_gap(rig, a, b, gap * (1 + 1e-6));
    if (fabs(again - gap) > 1e-13) fail_msg("%s: gap %.15g, again %.15g", rig->name, gap, again);
    assert_true(fabs(vec3_distance(p->point_a, p->point_b) - gap) < 1e-13);
    assert_true(on_shape(rig->a, pose_point_inverse(a, p->point_a)));
    assert_true(on_shape(rig->b, pose_point_inverse(b, p->point_b)));
    LashOcctAnswer answer;
    LashError error = {0};
    ++tally->compared;
    if (!lash_occt_query_distance(rig->peer, a, b, &answer, &error)) {
        assert_int_equal(error.status, LASH_ERROR_NUMERICS);
        ++tally->peer_silent;
        return;
    }
    if (answer.distance < gap - tolerance)
        fail_msg("%s: gap %.12g, BRepExtrema is nearer: %.12g", rig->name, gap, answer.distance);
    if (answer.distance > gap + tolerance) {
        ++tally->peer_missed;
        tally->largest_miss = fmax(tally->largest_miss, answer.distance - gap);
    } else {
        tally->agreement = fmax(tally->agreement, fabs(answer.distance - gap));
    }
}

// Parts come from far away: b moves towards a in a straight line by a share of the gap, which can
// never bring them into contact, down to a hundredth of the first gap.
static void approach(Rig* rig, Random* r, int poses, Tally* tally) {
    for (int k = 0; k < poses; ++k) {
        Pose a = pose(vec3_scale(0.05, random_direction(r)), random_rotation(r));
        Pose b = pose(vec3_add_scaled(a.r, 0.12, random_direction(r)), random_rotation(r));
        if (k % 4 == 3) b.rot = a.rot; // parallel axes and faces
        for (int i = 0; i < k % 5; ++i) {
            double gap = our_gap(rig, a, b, 1);
            assert_true(gap > 0);
            Vec3 d = vec3_sub(rig->nearest.point_a, rig->nearest.point_b);
            b.r = vec3_add_scaled(b.r, random_in(r, 0.5, 0.95), d);
        }
        compare(rig, a, b, tally);
    }
}

static void separated_parts_have_the_distance_of_brepextrema(void** state) {
    (void)state;
    Random r = {2024};
    int poses = getenv("LASH_LONG_TESTS") != NULL ? 100 : 8;
    Tally all = {0};
    for (int i = 0; i < PARTS; ++i)
        for (int j = i; j < PARTS; ++j) {
            Rig rig = rig_make(i, j, true);
            Tally tally = {0};
            approach(&rig, &r, poses, &tally);
            rig_free(&rig);
            if (tally.peer_missed + tally.peer_silent > 0)
                print_message(
                    "%s: BRepExtrema missed the minimum %d times of %d (by up to %.3g "
                    "mm), silent %d\n",
                    rig.name, tally.peer_missed, tally.compared, 1e3 * tally.largest_miss,
                    tally.peer_silent);
            all.compared += tally.compared;
            all.peer_missed += tally.peer_missed;
            all.peer_silent += tally.peer_silent;
            all.agreement = fmax(all.agreement, tally.agreement);
        }
    print_message("%d poses; agreement to %.2g m; BRepExtrema missed %d, silent %d\n", all.compared,
                  all.agreement, all.peer_missed, all.peer_silent);
    assert_true(all.compared >= 300);
    assert_true(all.peer_missed + all.peer_silent < all.compared / 4); // else nothing was compared
}

// The concave pair: a pin inside a hole, tilted, off the axis, in the play of 0.4 mm.
static void pin_in_a_hole_has_the_distance_of_brepextrema(void** state) {
    (void)state;
    Random r = {7};
    Tally tally = {0};
    Rig rig = rig_make(find_part("pin"), find_part("ring"), true);
    for (int k = 0; k < 60; ++k) {
        Pose b = pose(random_direction(&r), random_rotation(&r));
        Vec3 shift = vec3_scale(1e-4, random_direction(&r));
        Pose b_a = pose(vec3(shift.x, shift.y, -10e-3 + 8 * shift.z),
                        quat_exp(vec3_scale(0.006, random_direction(&r))));
        compare(&rig, pose_mul(b, b_a), b, &tally);
    }
    print_message("pin in hole: %d poses, agreement to %.2g m, BRepExtrema missed %d (%.3g mm)\n",
                  tally.compared, tally.agreement, tally.peer_missed, 1e3 * tally.largest_miss);
    rig_free(&rig);
}

// A cam that rolls and slides close to other parts: the gap of roots that are followed is the gap
// of a search from nothing, also where the contact passes from one feature to the next.
static void following_a_cam_finds_what_a_search_finds(void** state) {
    (void)state;
    Random r = {5};
    const char* others[] = {"block", "pin", "plate", "cam"};
    long steps = 0, worse = 0;
    for (int o = 0; o < 4; ++o)
        for (int k = 0; k < 6; ++k) {
            Rig rig = rig_make(find_part("cam"), find_part(others[o]), false);
            Pose a = pose_identity();
            Pose b = pose(vec3_scale(0.12, random_direction(&r)), random_rotation(&r));
            for (int i = 0; i < 6; ++i) { // to 1e-6 of the distance
                our_gap(&rig, a, b, 1);
                Vec3 d = vec3_sub(rig.nearest.point_a, rig.nearest.point_b);
                b.r = vec3_add_scaled(b.r, 0.95, d);
            }
            Vec3 drift = vec3_scale(2e-6, random_direction(&r)), spin = random_direction(&r);
            LashPairWork* fresh = lash_pair_work_create(rig.pair);
            LashPairWork* own = rig.work;
            for (int i = 0; i < 300; ++i) {
                b.r = vec3_add(b.r, drift);
                b.rot = quat_mul(b.rot, quat_exp(vec3_scale(1e-4 * (k + 1), spin)));
                double gap = least_gap(&rig, a, b, 2e-4);
                lash_pair_work_reset(fresh);
                rig.work = fresh;
                double searched = least_gap(&rig, a, b, 2e-4);
                rig.work = own;
                if (fmin(gap, searched) < -1e-4) break; // deep: many ways out
                if (isinf(gap) && isinf(searched)) continue;
                ++steps;
                if (!(fabs(gap - searched) <= 1e-12)) ++worse;
                if (!(fabs(gap - searched) <= 1e-12) && worse < 5)
                    print_message("cam/%s %d, step %d: followed %.12g, searched %.12g\n", others[o],
                                  k, i, gap, searched);
            }
            lash_pair_work_destroy(fresh);
            rig_free(&rig);
        }
    print_message("%ld steps, %ld differ\n", steps, worse);
    assert_true(steps > 500);
    assert_int_equal(worse, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separated_parts_have_the_distance_of_brepextrema),
        cmocka_unit_test(following_a_cam_finds_what_a_search_finds),
        cmocka_unit_test(pin_in_a_hole_has_the_distance_of_brepextrema),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
