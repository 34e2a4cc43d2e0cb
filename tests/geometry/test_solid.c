// Inside or outside of a solid, and gaps along paths over parts whose faces end in fillets, hooks,
// rims, counterbores and studs: no false depths, no jumps, no memory.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <math.h>
#include <string.h>

#include "geometry/interference.h"
#include "geometry/kernels/bezier.h"
#include "geometry/pairs.h"
#include "geometry/solid.h"
#include "tests/cad_parts.h"
#include "tests/geometry_oracle.h"

static CadFolder folder;

static int make_folder(void** state) {
    (void)state;
    folder = cad_folder();
    return 0;
}

static int remove_folder(void** state) {
    (void)state;
    cad_remove_all(folder.path);
    return 0;
}

static long poses(long normal, long many) {
    return getenv("LASH_LONG_TESTS") != NULL ? many : normal;
}

// ---- points -------------------------------------------------------------------------------------

static void a_point_in_a_primitive_has_the_depth_of_first_principles(void** state) {
    (void)state;
    Random r = {7};
    const Solid solids[] = {{SOLID_BOX, {0.5, 0.4, 0.3}},
                            {SOLID_CYLINDER, {0.4, 0.5, 0}},
                            {SOLID_SPHERE, {0.25, 0, 0}},
                            {SOLID_CAPSULE, {0.3, 0.4, 0}},
                            {SOLID_RING, {0.45, 0.7, 0.3}}};
    LashShape* shape[] = {lash_shape_box(vec3(1, 0.8, 0.6)), lash_shape_cylinder(0.4, 1),
                          lash_shape_sphere(0.25), lash_shape_capsule(0.3, 0.8),
                          lash_shape_ring(0.45, 0.7, 0.6)};
    for (int i = 0; i < 5; ++i) {
        const LashSolid* solid = lash_shape_solid(shape[i], 0);
        assert_non_null(solid);
        for (long k = 0; k < poses(20000, 1000000); ++k) {
            Vec3 p = vec3(random_in(&r, -1, 1), random_in(&r, -1, 1), random_in(&r, -1, 1));
            LashSolidFoot foot;
            double expected = solid_distance(&solids[i], p);
            assert_true(lash_solid_nearest(solid, p, INFINITY, &foot));
            double found = foot.inside ? -foot.distance : foot.distance;
            if (fabs(found - expected) > 1e-12)
                print_message("solid %d at (%.17g, %.17g, %.17g): %g, expected %g\n", i, p.x, p.y,
                              p.z, found, expected);
            assert_true(fabs(found - expected) <= 1e-12);
            assert_true(fabs(vec3_distance(p, foot.foot) - foot.distance) <= 1e-12);
            assert_false(lash_solid_nearest(solid, p, 0.999 * foot.distance, &foot));
        }
        lash_shape_destroy(shape[i]);
    }
}

// ---- parts --------------------------------------------------------------------------------------

static LashShape* part(const char* name, const char* body) {
    char json[700], step[700], command[1800], text[2400];
    snprintf(text, sizeof text, "{\"format\": \"lash-step/1\", \"name\": \"%s\", %s}", name, body);
    snprintf(json, sizeof json, "%s/%s.json", folder.path, name);
    snprintf(step, sizeof step, "%s/%s.step", folder.path, name);
    cad_write(json, text, strlen(text));
    snprintf(command, sizeof command, "'%s/lash-make-step' '%s' '%s'", LASH_BINARY_DIR, json, step);
    if (system(command) != 0) fail_msg("cannot make %s", name);
    LashError error = {0};
    LashImport import = {0};
    LashShape* shape = lash_shape_load(step, &import, &error);
    if (shape == NULL) fail_msg("%s: %s", name, error.message);
    return shape;
}

enum { PARTS = 6 };
static const char* const names[PARTS] = {"nose", "hook", "studs", "counterbore", "wave", "blade"};

// Millimetres; each about 10 mm large.
static LashShape* make(int i) {
    static const char* const body[PARTS] = {
        // a block whose upper edges are rounded
        "\"steps\": [{\"box\": {\"size\": [8, 6, 5], \"centered\": true}}, {\"fillet\": "
        "{\"radius\": 0.8, \"edges\": [[4, 0, 2.5], [-4, 0, 2.5]]}}]",
        // a hook: a reentrant mouth
        "\"steps\": [{\"extrude\": {\"profile\": {\"polygon\": [[-5, -4], [5, -4], [5, 4], [1, 4], "
        "[1, 2], [3, 2], [3, -2], [-5, -2]]}, \"length\": 6}, \"at\": [0, 0, -3]}]",
        // round studs on a plate
        "\"steps\": [{\"box\": {\"size\": [12, 12, 2], \"centered\": true}}, {\"cylinder\": "
        "{\"radius\": 1.5, \"length\": 3}, \"at\": [3, 3, 0.5]}, {\"cylinder\": {\"radius\": 1.5, "
        "\"length\": 3}, \"at\": [-3, 3, 0.5]}, {\"cylinder\": {\"radius\": 1.5, \"length\": 3}, "
        "\"at\": [0, -3, 0.5]}]",
        // a hole with a counterbore and a rim
        "\"steps\": [{\"cylinder\": {\"radius\": 6, \"length\": 6}, \"at\": [0, 0, -3]}, {\"do\": "
        "\"cut\", \"cylinder\": {\"radius\": 2, \"length\": 8}, \"at\": [0, 0, -4]}, {\"do\": "
        "\"cut\", \"cylinder\": {\"radius\": 4, \"length\": 3}, \"at\": [0, 0, 1]}]",
        // a block whose top is a wave, a spline
        "\"steps\": [{\"extrude\": {\"profile\": {\"path\": [{\"start\": [-4, -2.5]}, {\"line\": "
        "[4, -2.5]}, "
        "{\"line\": [4, 1.5]}, {\"spline\": [[2, 2.5], [0, 1.8], [-2, 2.5], [-4, 1.5]]}, "
        "{\"close\": true}]}, "
        "\"length\": 6}, \"at\": [0, 0, -3]}]",
        // a wedge of 60 degrees
        "\"steps\": [{\"extrude\": {\"profile\": {\"polygon\": [[-4, -3], [4, -3], [0, "
        "3.9282032302755]]}, \"length\": 7}, \"at\": [0, 0, -3.5]}]"};
    return part(names[i], body[i]);
}

// Winding number of the viewing mesh: 1 inside, 0 outside.
static double winding(const LashShape* s, Vec3 p) {
    double sum = 0;
    for (int i = 0; i < s->triangles; ++i) {
        Vec3 q[3];
        double l[3];
        for (int k = 0; k < 3; ++k) {
            const float* m = s->mesh_point + 3 * s->triangle[3 * i + k];
            q[k] = vec3_sub(vec3(m[0], m[1], m[2]), p);
            l[k] = vec3_norm(q[k]);
        }
        double top = vec3_dot(q[0], vec3_cross(q[1], q[2]));
        double low = l[0] * l[1] * l[2] + vec3_dot(q[0], q[1]) * l[2] +
                     vec3_dot(q[1], q[2]) * l[0] + vec3_dot(q[2], q[0]) * l[1];
        sum += 2 * atan2(top, low);
    }
    return sum / (4 * LASH_PI);
}

static void a_point_is_inside_where_the_mesh_winds_around_it(void** state) {
    (void)state;
    Random r = {11};
    for (int i = 0; i < PARTS; ++i) {
        LashShape* shape = make(i);
        const LashSolid* solid = lash_shape_solid(shape, 0);
        assert_non_null(solid);
        for (long k = 0; k < poses(4000, 100000); ++k) {
            Vec3 p = vec3(random_in(&r, -7e-3, 7e-3), random_in(&r, -7e-3, 7e-3),
                          random_in(&r, -6e-3, 6e-3));
            LashSolidFoot foot;
            assert_true(lash_solid_nearest(solid, p, INFINITY, &foot));
            if (foot.distance < 5e-5) continue; // as coarse as the mesh
            bool inside = winding(shape, p) > 0.5;
            if (inside != foot.inside)
                print_message("%s at (%g, %g, %g): inside %d, distance %g, face %d edge %d\n",
                              names[i], p.x, p.y, p.z, foot.inside, foot.distance, foot.face,
                              foot.edge);
            assert_int_equal(inside, foot.inside);
        }
        lash_shape_destroy(shape);
    }
}

// ---- paths --------------------------------------------------------------------------------------

enum { CAPACITY = 512 };

typedef struct Rig {
    const LashShape* shape[2];
    LashPair* pair;
    LashPairWork *warm, *fresh;
    long poses, depths; // of all walks; in penetration, and looked at
    double beyond;      // largest change of a gap beyond the motion, while apart [m]
    LashContactPoint point[2][CAPACITY];
} Rig;

static double depth_in(const LashSolid* solid, Vec3 p) {
    LashSolidFoot foot;
    if (!lash_solid_nearest(solid, p, 1e-3, &foot)) return -1e-3;
    return foot.inside ? foot.distance : -foot.distance;
}

static double least_gap(Rig* rig, LashPairWork* work, int slot, Pose a, int* count) {
    *count = lash_pair_query(rig->pair, work, a, pose_identity(), 1e-3, rig->point[slot], CAPACITY);
    assert_true(*count <= CAPACITY);
    double gap = INFINITY;
    for (int i = 0; i < *count; ++i) gap = fmin(gap, rig->point[slot][i].gap);
    return gap;
}

// From outside towards the other part, up to 20 um.
static Pose approach(Rig* rig, Random* r) {
    Pose a = pose(vec3_scale(25e-3, random_direction(r)), random_rotation(r));
    Vec3 aim = vec3_scale(random_in(r, 0, 4e-3), random_direction(r));
    for (int k = 0; k < 200; ++k) {
        LashPairWork* work = rig->fresh;
        int n = lash_pair_query(rig->pair, work, a, pose_identity(), 0.1, rig->point[0], CAPACITY);
        double gap = INFINITY;
        for (int i = 0; i < n && i < CAPACITY; ++i) gap = fmin(gap, rig->point[0][i].gap);
        if (gap < 2e-5) break;
        Vec3 way = vec3_sub(aim, a.r);
        a.r = vec3_add_scaled(a.r, fmin(1, 0.9 * gap / vec3_norm(way)), way);
    }
    return a;
}

// The deepest point of the edges of both parts in the other solid, in steps of 2 % of it; and of the
// points reported.
static double true_depth(Rig* rig, Pose a, int count) {
    double best = 0;
    Pose back = pose_inverse(a);
    for (int side = 0; side < 2; ++side) {
        const LashShape* s = rig->shape[side];
        const LashSolid* other = lash_shape_solid(rig->shape[1 - side], 0);
        for (int i = 0; i < s->edges; ++i) {
            const LashEdge* e = s->edge + i;
            double t = e->t0, speed = 1; // [m] per unit of t, at most
            if (e->type == LASH_CIRCLE) speed = e->radius;
            if (e->type == LASH_FREE_CURVE) speed = 0.02 / (e->t1 - e->t0);
            for (bool last = false; !last;) {
                last = t >= e->t1;
                Vec3 p = pose_point(side == 0 ? a : back, lash_edge_point(s, e, t).p);
                double d = depth_in(other, p);
                best = fmax(best, d);
                t = fmin(e->t1, t + fmax(best - d, 0.02 * best + 2e-8) / speed);
            }
        }
    }
    for (int i = 0; i < count; ++i) {
        const LashContactPoint* p = rig->point[0] + i;
        best = fmax(best, depth_in(lash_shape_solid(rig->shape[1], 0), p->point_a));
        best =
            fmax(best, depth_in(lash_shape_solid(rig->shape[0], 0), pose_point(back, p->point_b)));
    }
    return best;
}

// A path that stays at the surface: small random steps, back out along the normal when deeper than
// `depth`, in again when apart.
static void walk(Rig* rig, Random* r, const char* what, double depth, long steps) {
    Pose a = approach(rig, r);
    double last = INFINITY, radius = lash_pair_radius_a(rig->pair);
    Vec3 drift = random_direction(r);
    for (long k = 0; k < steps; ++k) {
        LashTravel travel;
        lash_travel_start(&travel, a, radius);
        if (k % 200 == 0) drift = random_direction(r);
        Vec3 step = vec3_scale(2e-6, random_direction(r));
        step = vec3_add_scaled(step, 4e-6, drift);
        if (!(last < 2e-4)) step = vec3_add_scaled(step, -2e-5 / vec3_norm(a.r), a.r);
        if (last < 0) {
            int n, at = 0;
            least_gap(rig, rig->warm, 0, a, &n);
            for (int i = 1; i < n; ++i)
                if (rig->point[0][i].gap < rig->point[0][at].gap) at = i;
            if (n > 0 && last < -depth)
                step = vec3_add_scaled(step, fmin(1e-5, -last), rig->point[0][at].normal);
        }
        a.r = vec3_add(a.r, step);
        a.rot = quat_mul(quat_exp(vec3_scale(1e-3 * random_unit(r), random_direction(r))), a.rot);
        lash_travel_move(&travel, a);
        int n, m;
        lash_pair_work_reset(rig->fresh);
        double gap = least_gap(rig, rig->warm, 0, a, &n);
        double again = least_gap(rig, rig->fresh, 1, a, &m);
        if (n != m || gap != again)
            fail_msg(
                "%s step %ld at [%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g, %.17g]: %d points, "
                "%.17g, from scratch %d, %.17g",
                what, k, a.r.x, a.r.y, a.r.z, a.rot.w, a.rot.x, a.rot.y, a.rot.z, n, gap, m, again);
        if (gap < -1e-6 && k % 10 == 0) {
            double depth_here = true_depth(rig, a, n);
            if (!(-gap >= 0.97 * depth_here && -gap <= 2.05 * depth_here))
                print_message("%s step %ld: depth %g reported, %g is true\n", what, k, -gap,
                              depth_here);
            assert_true(-gap >= 0.97 * depth_here && -gap <= 2.05 * depth_here);
            ++rig->depths;
        }
        double from = fmin(last, 1e-3), to = fmin(gap, 1e-3);
        double most = travel.sum + 1e-9 + fmax(0, fmax(-from, -to));
        if (k > 0 && from >= 0 && to >= 0)
            rig->beyond = fmax(rig->beyond, fabs(to - from) - travel.sum);
        if (k > 0 && fabs(to - from) > most)
            print_message("%s step %ld: %g to %g, moved %g\n", what, k, from, to, travel.sum);
        assert_false(k > 0 && fabs(to - from) > most);
        ++rig->poses;
        last = gap;
    }
}

static void gaps_along_paths_change_by_no_more_than_the_motion(void** state) {
    (void)state;
    Random r = {2024};
    static Rig rig;
    LashShape* shape[PARTS];
    for (int i = 0; i < PARTS; ++i) shape[i] = make(i);
    for (int i = 0; i < PARTS; ++i) {
        for (int j = 0; j < PARTS; ++j) {
            if (i == 4 && j == 4) continue; // splines against each other are slow
            char what[64];
            LashPairDef def = lash_pair_def();
            def.a.shape = shape[i];
            def.b.shape = shape[j];
            snprintf(what, sizeof what, "%s on %s", names[i], names[j]);
            rig.pair = lash_pair_create(&def);
            rig.warm = lash_pair_work_create(rig.pair);
            rig.fresh = lash_pair_work_create(rig.pair);
            rig.shape[0] = shape[i];
            rig.shape[1] = shape[j];
            bool slow = lash_pair_searches(rig.pair);
            long walks = poses(1, slow ? 13 : 80);
            for (long k = 0; k < walks; ++k) {
                lash_pair_work_reset(rig.warm);
                walk(&rig, &r, what, 1e-5, slow ? 60 : 500);
            }
            lash_pair_work_destroy(rig.warm);
            lash_pair_work_destroy(rig.fresh);
            lash_pair_destroy(rig.pair);
        }
    }
    print_message("%ld poses, %ld depths, change beyond the motion %.2g m while apart\n", rig.poses,
                  rig.depths, rig.beyond);
    assert_true(rig.depths > rig.poses / 100);
    for (int i = 0; i < PARTS; ++i) lash_shape_destroy(shape[i]);
}

// Poses that such paths have lost a contact at.
typedef struct Lost {
    int a, b; // parts
    Pose pose;
    double depth; // the true one [m]
} Lost;

static void poses_that_lost_a_contact_keep_its_depth(void** state) {
    (void)state;
    static const Lost lost[] = {
        // a wedge cuts off the corner of a box; the corner itself is outside again
        {0,
         5,
         {{3.8285e-3, 7.00727e-3, -1.4255e-4}, {0.175715, -0.171630, 0.938104, -0.244189}},
         1.83e-5},
        // a round edge where two edges of the hook's end meet in its mouth
        {0,
         1,
         {{5.9074e-4, -2.7085e-4, -7.11777e-3}, {0.014813, -0.395120, 0.361748, 0.844274}},
         5.34e-6},
        // the arc of a fillet is deepest near a wall; the straight edge it goes on to is as deep, far from there
        {0,
         3,
         {{0.0020998746351326989, 0.00016722313396033358, -0.005498617808719455},
          {0.99999232655391501, -0.0031691309988979319, -0.0011984113756633096,
           -0.0019665330333215264}},
         2.798e-5},
        // the edge of a wedge between a stud and its plate, nearest to the reentrant edge of the two
        {2,
         5,
         {{-0.0051931125356278604, -0.0075030143813129453, -0.0044955293073398097},
          {0.9999988979514054, 0.00011483878801380339, 0.00070702060027111389,
           0.0013003960537689067}},
         4.723e-6},
        // crossed rims alone: neither has a point half as deep as their crossing
        {3,
         3,
         {{-0.012447910554969308, 0.0024826152471305934, -0.0027349634957484071},
          {0.93209337575375317, -0.10298966221377087, -0.18358510378507278, 0.29477377431055707}},
         3.975e-6}};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; ++i) {
        static Rig rig;
        LashShape *a = make(lost[i].a), *b = make(lost[i].b);
        LashPairDef def = lash_pair_def();
        def.a.shape = a;
        def.b.shape = b;
        rig.pair = lash_pair_create(&def);
        rig.fresh = lash_pair_work_create(rig.pair);
        Pose at = lost[i].pose;
        at.rot = quat_normalize(at.rot);
        int count;
        double gap = least_gap(&rig, rig.fresh, 0, at, &count);
        if (!(gap <= -0.9 * lost[i].depth && gap >= -2.1 * lost[i].depth))
            print_message("pose %zu: gap %g, depth %g\n", i, gap, lost[i].depth);
        assert_true(gap <= -0.9 * lost[i].depth && gap >= -2.1 * lost[i].depth);
        lash_pair_work_destroy(rig.fresh);
        lash_pair_destroy(rig.pair);
        lash_shape_destroy(a);
        lash_shape_destroy(b);
    }
}

// ---- between the same planes --------------------------------------------------------------------

// Rollers, gears: their edges lie in the end planes of the other, at no depth.
static void parts_between_the_same_planes_have_the_depth_of_their_sides(void** state) {
    (void)state;
    static const char lobe[] =
        "\"steps\": [{\"extrude\": {\"profile\": {\"spline\": [[6, 0], [0, 5], [-6, 0], [0, "
        "-5]]}, \"length\": 5}, \"at\": [0, 0, -2.5]}]";
    LashShape* shape[2] = {lash_shape_cylinder(6e-3, 5e-3), part("lobe", lobe)};
    for (int i = 0; i < 4; ++i) {
        LashPairDef def = lash_pair_def();
        def.a.shape = shape[i / 2];
        def.b.shape = shape[i % 2];
        Rig rig = {.pair = lash_pair_create(&def)};
        LashPairWork* work = lash_pair_work_create(rig.pair);
        for (int k = -20; k <= 50; ++k) {
            int count;
            Pose a = pose(vec3(12e-3 - 1e-6 * k, 0, 0), quat_identity());
            double gap = least_gap(&rig, work, 0, a, &count);
            a.r.z = 5e-4; // the same depth, and edges that are inside
            double beside = least_gap(&rig, work, 0, a, &count);
            if (i == 0) assert_true(fabs(gap + 1e-6 * k) <= 1e-12);
            if (!(fabs(gap - beside) <= 1e-12))
                fail_msg("%d, %d: gap %.9g, expected %.9g", i, k, gap, beside);
        }
        lash_pair_work_destroy(work);
        lash_pair_destroy(rig.pair);
    }
    for (int i = 0; i < 2; ++i) lash_shape_destroy(shape[i]);
}

// Three depths beside an edge, where the plane face of it has ended.
static void a_stud_beside_a_hook_is_apart(void** state) {
    (void)state;
    LashShape *studs = make(2), *hook = make(1);
    LashPairDef def = lash_pair_def();
    def.a.shape = studs;
    def.b.shape = hook;
    Rig rig = {.pair = lash_pair_create(&def)};
    LashPairWork* work = lash_pair_work_create(rig.pair);
    Pose a = pose(vec3(0.0053122934067913238, -0.0036372215769156688, 0.007484315359794512),
                  quat(0.47448544911536317, -0.62688304390636029, -0.52358912420272952,
                       -0.32823107235164284));
    int count;
    assert_true(fabs(least_gap(&rig, work, 0, a, &count) - 0.000185054) < 1e-9);
    lash_pair_work_destroy(work);
    lash_pair_destroy(rig.pair);
    lash_shape_destroy(studs);
    lash_shape_destroy(hook);
}

// ---- interference -------------------------------------------------------------------------------

static void boxes_in_each_other_are_found_with_place_and_depth(void** state) {
    (void)state;
    LashShape* box = lash_shape_box(vec3(0.04, 0.03, 0.02));
    LashPairDef def = lash_pair_def();
    def.a.shape = def.b.shape = box;
    LashPair* pair = lash_pair_create(&def);
    Pose a = pose_identity();
    a.r = vec3(0.005, 0, 0);
    LashInterference found = lash_pair_interference(pair, a, pose_identity());
    assert_true(found.depth > 0.004 && found.depth <= 0.01 + 1e-12);
    assert_true(fabs(found.point.x) <= 0.025 && fabs(found.point.y) <= 0.015);
    a.r = vec3(0.0401, 0, 0);
    assert_true(lash_pair_interference(pair, a, pose_identity()).depth == 0);
    lash_pair_destroy(pair);
    lash_shape_destroy(box);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_in_a_primitive_has_the_depth_of_first_principles),
        cmocka_unit_test(a_point_is_inside_where_the_mesh_winds_around_it),
        cmocka_unit_test(poses_that_lost_a_contact_keep_its_depth),
        cmocka_unit_test(gaps_along_paths_change_by_no_more_than_the_motion),
        cmocka_unit_test(parts_between_the_same_planes_have_the_depth_of_their_sides),
        cmocka_unit_test(a_stud_beside_a_hook_is_apart),
        cmocka_unit_test(boxes_in_each_other_are_found_with_place_and_depth),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
