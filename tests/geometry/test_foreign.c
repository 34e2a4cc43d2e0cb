// Parts of other people's CAD, where they are at hand (LASH_REFERENCE_DIR, or ../shared beside the
// sources): volumes, and gaps against BRepExtrema. Skips without them.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <math.h>
#include <string.h>

#include "geometry/cad/occt_query.h"
#include "geometry/distance.h"
#include "geometry/pairs.h"
#include "geometry/solid.h"
#include "tests/cad_parts.h"
#include "tests/geometry_oracle.h"

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

// A file of the breaker; skips the test without it.
static const char* foreign(const char* file, char* path, size_t size) {
    snprintf(path, size, "%s/../cases/c60/cad/%s", cad_third_party(), file);
    if (access(path, R_OK) != 0) skip();
    return path;
}

static LashShape* load(const char* path) {
    LashError error = {0};
    LashShape* shape = lash_shape_load(path, NULL, &error);
    if (shape == NULL) fail_msg("%s: %s", path, error.message);
    return shape;
}

// A free face whose trim leaves its patch by the tolerance had 2000 times its area.
static void a_blend_that_its_trim_leaves_has_its_area(void** state) {
    (void)state;
    char path[900];
    LashShape* s = load(foreign("portcontact/porte_contact.stp", path, sizeof path));
    assert_true(fabs(s->part[1].volume - 848.332e-9) < 1e-3 * 848e-9);
    for (int i = 0; i < s->faces; ++i) {
        const LashFace* f = s->face + i;
        Vec3 e = vec3_sub(f->box.high, f->box.low);
        if (f->type == LASH_FREEFORM) assert_true(f->area < 10 * vec3_norm_squared(e));
    }
    lash_shape_destroy(s);
}

typedef struct Pairing { // whole parts of two files
    const char *a, *b;
} Pairing;

static double largest_tolerance(const LashShape* s) {
    double most = 0;
    for (int i = 0; i < s->parts; ++i) most = fmax(most, s->part[i].tolerance_max);
    return most;
}

static bool lies_on(const LashShape* s, Vec3 p) {
    for (int i = 0; i < s->parts; ++i) {
        LashSolidFoot foot;
        const LashSolid* solid = lash_shape_solid(s, i);
        if (solid != NULL && lash_solid_nearest(solid, p, 1e-9, &foot)) return true;
    }
    return false;
}

// It misses minima now and then (docs/geometry.md) and is never nearer.
static int compare(const Pairing* p, Random* r, int poses, int* asked, int* within) {
    char path_a[900], path_b[900];
    LashError error = {0};
    LashShape* a = load(foreign(p->a, path_a, sizeof path_a));
    LashShape* b = load(foreign(p->b, path_b, sizeof path_b));
    LashOcctSide occt_a = {.path = path_a}, occt_b = {.path = path_b};
    LashOcctQuery* query = lash_occt_query_open(&occt_a, &occt_b, &error);
    if (query == NULL) fail_msg("%s", error.message);
    LashPairDef def = lash_pair_def();
    def.a.shape = a;
    def.b.shape = b;
    double edges = largest_tolerance(a) + largest_tolerance(b);
    LashDistance* distance = lash_distance_create(&def.a, &def.b);
    LashPair* pair = lash_pair_create(&def);
    LashPairWork* work = lash_pair_work_create(pair);
    static LashContactPoint point[512];
    int agreed = 0;
    for (int n = 0; n < poses; ++n) {
        Pose at =
            pose(vec3_scale(random_in(r, 0.002, 0.03), random_direction(r)), random_rotation(r));
        LashOcctAnswer answer;
        if (!lash_occt_query_distance(query, at, pose_identity(), &answer, &error))
            fail_msg("%s", error.message);
        if (!(answer.distance > 1e-9)) continue; // it knows no penetration
        LashNearest nearest = lash_distance_query(distance, at, pose_identity());
        double own = nearest.distance;
        lash_pair_work_reset(work);
        int count = lash_pair_query(pair, work, at, pose_identity(), 0.05, point, 512);
        double gap = INFINITY;
        for (int i = 0; i < count && i < 512; ++i) gap = fmin(gap, point[i].gap);
        // edges and corners are where faces meet, the CAD's are off by up to their tolerance
        if (fabs(own - answer.distance) > 1e-9 + edges && own > answer.distance)
            fail_msg("%s, %s: %.12g, BRepExtrema %.12g", p->a, p->b, own, answer.distance);
        assert_true(gap < 0 || gap >= own - 1e-9);
        ++*asked;
        agreed += fabs(own - answer.distance) <= 1e-9;
        bool proven = lies_on(a, pose_point(pose_inverse(at), nearest.point_a)) &&
                      lies_on(b, nearest.point_b) &&
                      fabs(vec3_distance(nearest.point_a, nearest.point_b) - own) <= 1e-12;
        *within += fabs(own - answer.distance) <= 1e-9 + edges || (own < answer.distance && proven);
    }
    lash_distance_destroy(distance);
    lash_pair_work_destroy(work);
    lash_pair_destroy(pair);
    lash_occt_query_close(query);
    lash_shape_destroy(a);
    lash_shape_destroy(b);
    return agreed;
}

static void gaps_of_foreign_parts_agree_with_brepextrema(void** state) {
    (void)state;
    static const Pairing pairings[] = {
        {"J1/Aiguille.stp", "biellette.stp"},
        {"C8/probe.stp", "crochet.stp"},
        {"biellette.stp", "crochet.stp"},
    };
    Random r = {2026};
    int asked = 0, agreed = 0, within = 0, poses = getenv("LASH_LONG_TESTS") != NULL ? 350 : 10;
    for (size_t i = 0; i < sizeof pairings / sizeof *pairings; ++i)
        agreed += compare(&pairings[i], &r, poses, &asked, &within);
    print_message(
        "of %d distances %d agree to 1e-9 m; %d do within the CAD's tolerance, or are less "
        "with both points on the parts\n",
        asked, agreed, within);
    assert_true(asked > 0);
    assert_int_equal(within, asked);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_blend_that_its_trim_leaves_has_its_area),
        cmocka_unit_test(gaps_of_foreign_parts_agree_with_brepextrema),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
