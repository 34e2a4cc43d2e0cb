// The pair manager: exact distances of whole solids, none missed, none counted twice, continuous.
#include <pthread.h>
#include "test.h"

#include "core/arena.h"
#include "geometry/pairs.h"
#include "tests/geometry_oracle.h"

enum { SOLIDS = 5, CAPACITY = 256 };
static const Solid solids[SOLIDS] = {
    {SOLID_BOX, {0.5, 0.4, 0.3}},   {SOLID_CYLINDER, {0.4, 0.5, 0}}, {SOLID_SPHERE, {0.25, 0, 0}},
    {SOLID_CAPSULE, {0.3, 0.4, 0}}, {SOLID_RING, {0.45, 0.7, 0.3}},
};

static long poses(long normal, long many) {
    return getenv("LASH_LONG_TESTS") != NULL ? many : normal;
}

static LashShape* shape_of(const Solid* s) {
    const double* p = s->p;
    switch (s->kind) {
        case SOLID_BOX:
            return lash_shape_box(vec3(2 * p[0], 2 * p[1], 2 * p[2]));
        case SOLID_CYLINDER:
            return lash_shape_cylinder(p[0], 2 * p[1]);
        case SOLID_SPHERE:
            return lash_shape_sphere(p[0]);
        case SOLID_CAPSULE:
            return lash_shape_capsule(p[0], 2 * p[1]);
        case SOLID_RING:
            return lash_shape_ring(p[0], p[1], 2 * p[2]);
    }
    return NULL;
}

typedef struct Rig { // two solids and the pair between them
    LashShape *a, *b;
    LashPair* pair;
    LashPairWork* work;
    LashContactPoint point[CAPACITY];
    int count;
} Rig;

static void rig_make(Rig* rig, const Solid* a, const Solid* b, double offset) {
    rig->a = shape_of(a);
    rig->b = shape_of(b);
    LashPairDef def = lash_pair_def();
    def.a.shape = rig->a;
    def.b.shape = rig->b;
    def.offset = offset;
    rig->pair = lash_pair_create(&def);
    rig->work = lash_pair_work_create(rig->pair);
}

static void rig_free(Rig* rig) {
    lash_pair_work_destroy(rig->work);
    lash_pair_destroy(rig->pair);
    lash_shape_destroy(rig->a);
    lash_shape_destroy(rig->b);
}

// Smallest gap, INFINITY when nothing is within the activation distance.
static double rig_gap(Rig* rig, Pose world_a, Pose world_b, double activation) {
    rig->count =
        lash_pair_query(rig->pair, rig->work, world_a, world_b, activation, rig->point, CAPACITY);
    assert_true(rig->count <= CAPACITY);
    double gap = INFINITY;
    for (int i = 0; i < rig->count; ++i) gap = fmin(gap, rig->point[i].gap);
    return gap;
}

static Pose random_pose(Random* r, double reach) {
    return pose(vec3_scale(random_in(r, 0, reach), random_direction(r)), random_rotation(r));
}

// ---- whole solids against brute force -----------------------------------------------------------

static void separated_solids_have_the_distance_of_brute_force(void** state) {
    (void)state;
    Random r = {42};
    static Rig rig;
    for (int i = 0; i < SOLIDS; ++i)
        for (int j = 0; j < SOLIDS; ++j) {
            rig_make(&rig, solids + i, solids + j, 0);
            for (long k = 0; k < poses(40, 4000); ++k) {
                Pose world_b = random_pose(&r, 1), b_a = random_pose(&r, 1.5);
                if (k % 5 == 0)
                    b_a.rot = quat_exp(vec3_scale(1e-5, random_direction(&r))); // near-parallel
                double expected = fmin(surface_minimum(solids + i, solids + j, b_a),
                                       surface_minimum(solids + j, solids + i, pose_inverse(b_a)));
                if (expected < 1e-3 || expected > 0.3) continue;
                Pose world_a = pose_mul(world_b, b_a);
                double gap = rig_gap(&rig, world_a, world_b, 0.5);
                if (gap > expected + 1e-12 || gap < expected - 5e-3)
                    print_message("%d/%d: %.15g, brute force %.15g\n", i, j, gap, expected);
                assert_true(gap <=
                            expected + 1e-12); // brute force is an upper bound: nothing missed
                assert_true(gap >= expected - 5e-3);
                for (int m = 0; m < rig.count; ++m) { // and every point is a true one
                    const LashContactPoint* p = rig.point + m;
                    double da = fabs(
                               solid_distance(solids + i, pose_point_inverse(world_a, p->point_a))),
                           db = fabs(
                               solid_distance(solids + j, pose_point_inverse(world_b, p->point_b)));
                    if (da > 1e-13 || db > 1e-13)
                        print_message("%d/%d off %g %g id %llx gap %g b %d\n", i, j, da, db,
                                      (unsigned long long)p->id, p->gap, k % 5 == 0);
                    assert_true(fabs(solid_distance(
                                    solids + i, pose_point_inverse(world_a, p->point_a))) < 1e-13);
                    assert_true(fabs(solid_distance(
                                    solids + j, pose_point_inverse(world_b, p->point_b))) < 1e-13);
                    assert_true(p->gap > 0 &&
                                fabs(vec3_distance(p->point_a, p->point_b) - p->gap) < 1e-13);
                }
            }
            rig_free(&rig);
        }
}

// A ball against every solid: the signed distance of its center minus its radius, exactly, outside
// and inside, at faces, edges and vertices; found once.
static void ball_gap_is_the_signed_distance_of_its_center(void** state) {
    (void)state;
    Random r = {9};
    static Rig rig;
    const Solid ball = {SOLID_SPHERE, {0.05, 0, 0}};
    for (int j = 0; j < SOLIDS; ++j) {
        rig_make(&rig, &ball, solids + j, 0);
        int inside = 0;
        for (long k = 0; k < poses(10000, 1000000); ++k) {
            Vec3 c =
                vec3(random_in(&r, -0.9, 0.9), random_in(&r, -0.9, 0.9), random_in(&r, -0.9, 0.9));
            if (k % 4 == 0) { // on the borders between features
                double edge[4] = {0.3, 0.4, 0.5, 0.0};
                c.z = edge[k / 4 % 4];
                if (k % 8 == 0) c.x = edge[k / 8 % 4];
            }
            Pose world_b = random_pose(&r, 1),
                 world_a = pose(pose_point(world_b, c), random_rotation(&r));
            double d = solid_distance(solids + j, c), expected = d - 0.05;
            if (expected > 0.3) continue;
            double gap = rig_gap(&rig, world_a, world_b, 0.4);
            double reach = j == 0 ? 0.3 : 0.25;
            if (j == 4) reach = 0.125;
            if (expected < -fmin(reach, 0.05) + 1e-9) { // deeper than the ball's radius: no answer
                continue;
            }
            inside += d < 0;
            if (fabs(gap - expected) > 1e-13)
                print_message(
                    "solid %d at (%.17g, %.17g, %.17g): %.15g, expected %.15g, %d points\n", j, c.x,
                    c.y, c.z, gap, expected, rig.count);
            assert_true(fabs(gap - expected) <= 1e-13);
            int touching = 0;
            for (int m = 0; m < rig.count; ++m) touching += rig.point[m].gap < expected + 1e-9;
            bool tie =
                j == 4 || d < 1e-6; // equally near to two sides of the bore, or on a medial surface
            if (!tie && touching != 1)
                print_message("solid %d: %d points at one place\n", j, touching);
            assert_true(tie || touching == 1);
        }
        (void)inside;
        rig_free(&rig);
    }
}

// From the closest distance, pushed together along the normal: the gap becomes what is left, with
// the right sign, through contact into penetration.
static void pushing_along_the_normal_changes_the_gap_by_the_push(void** state) {
    (void)state;
    Random r = {21};
    static Rig rig;
    long compared = 0;
    for (int i = 0; i < SOLIDS - 1;
         ++i) // convex ones: pushed together they touch at one place only
        for (int j = 0; j < SOLIDS - 1; ++j) {
            rig_make(&rig, solids + i, solids + j, 0);
            for (long k = 0; k < poses(3000, 100000); ++k) {
                Pose a = random_pose(&r, 1.6), b = random_pose(&r, 0.2);
                if (k % 5 == 0)
                    a.rot = quat_mul(b.rot, quat_exp(vec3_scale(1e-4, random_direction(&r))));
                double gap = rig_gap(&rig, a, b, 0.2);
                if (!(gap > 1e-6 && gap < 0.2)) continue;
                Vec3 n = vec3_zero();
                for (int m = 0; m < rig.count; ++m)
                    if (rig.point[m].gap == gap) n = rig.point[m].normal;
                double depth = pow(10, random_in(&r, -9, -2));
                Pose pushed = a;
                pushed.r = vec3_add_scaled(a.r, -(gap + depth), n);
                double after = rig_gap(&rig, pushed, b, 0.1);
                // near edges several directions out compete: at most a few times deeper
                bool ok = after < 0 && after >= -4 * depth - 1e-13;
                if (!ok) print_message("%d/%d: from %g by %g: %g\n", i, j, gap, gap + depth, after);
                assert_true(ok);
                ++compared;
            }
            rig_free(&rig);
        }
    assert_true(compared > 5000);
}

// ---- boxes: exact distance and overlap from first principles ------------------------------------

static double segment_distance(Vec3 p, Vec3 q, Vec3 r, Vec3 s) { // p-q and r-s
    Vec3 u = vec3_sub(q, p), v = vec3_sub(s, r), w = vec3_sub(p, r);
    double a = vec3_dot(u, u), b = vec3_dot(u, v), c = vec3_dot(v, v), d = vec3_dot(u, w),
           e = vec3_dot(v, w);
    double best = INFINITY, det = a * c - b * b;
    double try_s[5] = {0, 1, det > 1e-12 ? (b * e - c * d) / det : 0, 0,
                       0}; // interior and all ends
    try_s[3] = -d / a;
    try_s[4] = (b - d) / a;
    for (int i = 0; i < 5; ++i) {
        double x = fmin(1, fmax(0, try_s[i])), y = fmin(1, fmax(0, (b * x + e) / c));
        best = fmin(best, vec3_norm(vec3_add_scaled(vec3_add_scaled(w, x, u), -y, v)));
    }
    return best;
}

static Vec3 corner(const Solid* s, int i) {
    return vec3(i & 1 ? s->p[0] : -s->p[0], i & 2 ? s->p[1] : -s->p[1], i & 4 ? s->p[2] : -s->p[2]);
}

// Of the edge number l along axis k: the one with the smaller coordinate.
static int first_corner(int k, int l) {
    if (k == 0) return l << 1;
    return k == 1 ? (l & 1) | (l & 2) << 1 : l;
}

static double box_box_distance(const Solid* a, const Solid* b, Pose b_a) { // when apart
    double best = INFINITY;
    for (int i = 0; i < 8; ++i) {
        best = fmin(best, solid_distance(b, pose_point(b_a, corner(a, i))));
        best = fmin(best, solid_distance(a, pose_point_inverse(b_a, corner(b, i))));
    }
    for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j) {
            int ka = i / 4, kb = j / 4, la = i % 4, lb = j % 4;
            int va = first_corner(ka, la), vb = first_corner(kb, lb);
            best = fmin(best, segment_distance(pose_point(b_a, corner(a, va)),
                                               pose_point(b_a, corner(a, va | 1 << ka)),
                                               corner(b, vb), corner(b, vb | 1 << kb)));
        }
    return best;
}

// Largest separation over the 15 axes of two boxes: > 0 apart, < 0 minus the depth.
static double box_box_separation(const Solid* a, const Solid* b, Pose b_a) {
    Mat3 R = quat_matrix(b_a.rot);
    Vec3 axis[15], e[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int n = 0;
    for (int i = 0; i < 3; ++i) {
        axis[n++] = e[i];
        axis[n++] = mat3_column(R, i);
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            Vec3 c = vec3_cross(e[i], mat3_column(R, j));
            if (vec3_norm(c) > 1e-6) axis[n++] = vec3_normalize(c);
        }
    double best = -INFINITY;
    for (int k = 0; k < n; ++k) {
        double ra = 0, rb = 0;
        for (int i = 0; i < 3; ++i) {
            ra += a->p[i] * fabs(vec3_dot(axis[k], mat3_column(R, i)));
            rb += b->p[i] * fabs(vec3_dot(axis[k], e[i]));
        }
        best = fmax(best, fabs(vec3_dot(axis[k], b_a.r)) - ra - rb);
    }
    return best;
}

static void boxes_agree_with_first_principles(void** state) {
    (void)state;
    Random r = {77};
    static Rig rig;
    const Solid *a = solids, b = {SOLID_BOX, {0.3, 0.6, 0.2}};
    rig_make(&rig, a, &b, 0);
    long apart = 0, overlap = 0;
    for (long k = 0; k < poses(10000, 1000000); ++k) {
        Pose world_b = random_pose(&r, 1), b_a = random_pose(&r, 1.4);
        if (k % 3 == 0)
            b_a.rot = quat_exp(vec3_scale(pow(10, random_in(&r, -9, -1)), random_direction(&r)));
        double s = box_box_separation(a, &b, b_a);
        if (s > 0.2 || s < -0.15) continue;
        double gap = rig_gap(&rig, pose_mul(world_b, b_a), world_b, 0.5);
        if (s > 1e-12) {
            double expected = box_box_distance(a, &b, b_a);
            if (fabs(gap - expected) > 1e-13)
                print_message("%.15g, expected %.15g\n", gap, expected);
            assert_true(fabs(gap - expected) <= 1e-13);
            ++apart;
        } else if (s < -1e-12) {
            if (!(gap < 0)) print_message("overlap by %g, gap %g, %d points\n", -s, gap, rig.count);
            assert_true(gap < 0);
            ++overlap;
        }
    }
    assert_true(apart > 500 && overlap > 500);
    rig_free(&rig);
}

// ---- pin in hole --------------------------------------------------------------------------------

// Smallest distance between the rims of a pin and the wall of a hole, both long enough: the deepest
// point of each end circle by dense search.
static double rim_gap(double pin_r, double half, double hole_r, Pose hole_pin) {
    double best = INFINITY;
    for (int e = -1; e <= 1; e += 2) {
        double t = 0, h = 0.1, f = INFINITY;
        for (int i = 0; i < 64; ++i) {
            Vec3 q =
                pose_point(hole_pin, vec3(pin_r * cos(0.1 * i), pin_r * sin(0.1 * i), e * half));
            double g = hole_r - hypot(q.x, q.y);
            if (g < f) {
                f = g;
                t = 0.1 * i;
            }
        }
        for (int k = 0; k < 60; ++k, h *= 0.6)
            for (int s = -1; s <= 1; s += 2) {
                Vec3 q = pose_point(hole_pin,
                                    vec3(pin_r * cos(t + s * h), pin_r * sin(t + s * h), e * half));
                double g = hole_r - hypot(q.x, q.y);
                if (g < f) {
                    f = g;
                    t += s * h;
                }
            }
        best = fmin(best, f);
    }
    return best;
}

static void pin_in_hole_is_exact_and_continuous_in_the_tilt(void** state) {
    (void)state;
    Random r = {13};
    LashShape* pin = lash_shape_cylinder(0.010, 0.040);
    LashShape* ring = lash_shape_ring(0.0101, 0.02, 0.060);
    int side = 0, hole = 1;
    LashPairDef def = lash_pair_def();
    def.a.shape = pin;
    def.a.faces = &side;
    def.a.face_count = 1;
    def.b.shape = ring;
    def.b.faces = &hole;
    def.b.face_count = 1;
    LashPair* pair = lash_pair_create(&def);
    LashPairWork* work = lash_pair_work_create(pair);
    LashContactPoint p[CAPACITY];
    for (long k = 0; k < poses(10000, 1000000); ++k) {
        double tilt = k % 10 == 0 ? 0 : pow(10, random_in(&r, -12, -2.2));
        Vec3 axis = random_direction(&r);
        Pose hole_pin = pose(vec3(random_in(&r, -1e-4, 1e-4), random_in(&r, -1e-4, 1e-4),
                                  random_in(&r, -5e-3, 5e-3)),
                             quat_mul(quat_exp(vec3_scale(tilt, axis)),
                                      quat_from_axis_angle(vec3(0, 0, 1), r.s % 7)));
        double expected = rim_gap(0.010, 0.020, 0.0101, hole_pin), gap = INFINITY;
        int n = lash_pair_query(pair, work, hole_pin, pose_identity(), 1e-3, p, CAPACITY);
        assert_true(n >= 2 && n <= 4);
        for (int i = 0; i < n; ++i) gap = fmin(gap, p[i].gap);
        if (fabs(gap - expected) > 2e-16) assert_true(fabs(gap - expected) <= 1e-15);
    }
    double last[2] = {0, 0}; // through zero tilt, both ends
    for (int i = -1000; i <= 1000; ++i) {
        Pose q = pose(vec3(3e-5, 1e-5, 0), quat_from_axis_angle(vec3(0, 1, 0), 1e-6 * i));
        int n = lash_pair_query(pair, work, q, pose_identity(), 1e-3, p, CAPACITY);
        assert_true(n >= 2);
        double low = INFINITY, high = INFINITY;
        for (int k = 0; k < n; ++k) {
            if (p[k].point_a.z < 0)
                low = fmin(low, p[k].gap);
            else
                high = fmin(high, p[k].gap);
        }
        if (i > -1000) assert_true(fabs(low - last[0]) < 2.1e-8 && fabs(high - last[1]) < 2.1e-8);
        last[0] = low;
        last[1] = high;
    }
    lash_pair_work_destroy(work);
    lash_pair_destroy(pair);
    lash_shape_destroy(pin);
    lash_shape_destroy(ring);
}

// ---- motions ------------------------------------------------------------------------------------

typedef struct Smooth { // a smooth random motion
    Vec3 r[3], w[3];
} Smooth;

static Smooth random_motion(Random* r, double length) {
    Smooth m;
    for (int i = 0; i < 3; ++i) {
        m.r[i] = vec3_scale(length * random_unit(r), random_direction(r));
        m.w[i] = vec3_scale(2 * random_unit(r), random_direction(r));
    }
    return m;
}

static Pose motion_at(const Smooth* m, double t) {
    Pose p = pose_identity();
    for (int i = 0; i < 3; ++i) {
        p.r = vec3_add_scaled(p.r, sin((i + 1) * t + i), m->r[i]);
        p.rot = quat_mul(p.rot, quat_exp(vec3_scale(sin((i + 1) * t + 2 * i), m->w[i])));
    }
    return p;
}

// The gap follows the motion (it is 1-Lipschitz) across all changes of feature, and a work that
// lives on finds bit for bit what a fresh one finds.
static void gap_is_continuous_and_bounds_never_lose_a_contact(void** state) {
    (void)state;
    Random r = {4};
    static Rig rig, fresh;
    for (int i = 0; i < SOLIDS; ++i)
        for (int j = 0; j < SOLIDS; ++j) {
            rig_make(&rig, solids + i, solids + j, 0);
            rig_make(&fresh, solids + i, solids + j, 0);
            for (long k = 0; k < poses(6, 300); ++k) {
                Smooth m = random_motion(&r, 1.2);
                double last = INFINITY, dt = 2e-3;
                Pose before_pose = motion_at(&m, 0);
                LashTravel travel;
                lash_travel_start(&travel, motion_at(&m, 0), lash_pair_radius_a(rig.pair));
                for (int s = 0; s < 1500; ++s) {
                    Pose p = motion_at(&m, s * dt);
                    double before = travel.sum;
                    lash_travel_move(&travel, p);
                    double moved = travel.sum - before,
                           gap = rig_gap(&rig, p, pose_identity(), 0.1);
                    lash_pair_work_reset(fresh.work);
                    double other = rig_gap(&fresh, p, pose_identity(), 0.1);
                    assert_int_equal(rig.count, fresh.count);
                    for (int c = 0; c < rig.count; ++c) {
                        assert_int_equal(rig.point[c].id, fresh.point[c].id);
                        assert_true(
                            memcmp(&rig.point[c], &fresh.point[c], sizeof(LashContactPoint)) == 0);
                    }
                    assert_true(gap == other);
                    assert_true(lash_pair_bound(rig.work) <= gap || gap < 0);
                    double a = fmin(gap, 0.1),
                           b = fmin(last, 0.1); // none: larger than the activation
                    bool jump = fabs(a - b) > moved + 1e-12 && fmin(a, b) > -0.03;
                    for (int e = 0; e < 2 && s > 0 && jump;
                         ++e) { // too deep in each other elsewhere?
                        Pose q = e == 0 ? p : before_pose;
                        double o = fmin(surface_minimum(solids + i, solids + j, q),
                                        surface_minimum(solids + j, solids + i, pose_inverse(q)));
                        if (o < -0.05) jump = false;
                    }
                    before_pose = p;
                    if (s > 0 && jump && fmax(a, b) > 0)
                        print_message("%d/%d: %g to %g while moving %g\n", i, j, b, a, moved);
                    if (s > 0 && fmax(a, b) > 0) assert_false(jump); // down to contact
                    last = gap;
                }
            }
            rig_free(&rig);
            rig_free(&fresh);
        }
}

// ---- collect and evaluate -----------------------------------------------------------------------

static void evaluate_finds_all_that_query_finds_within_the_promise(void** state) {
    (void)state;
    Random r = {99};
    static Rig rig, fresh;
    static double gap[8192];
    static LashContactPoint points[8192];
    for (int i = 0; i < SOLIDS; ++i)
        for (int j = 0; j < SOLIDS; ++j) {
            rig_make(&rig, solids + i, solids + j, 0);
            rig_make(&fresh, solids + i, solids + j, 0);
            for (long k = 0; k < poses(30, 3000); ++k) {
                Pose a = random_pose(&r, 1.2), b = random_pose(&r, 0.1);
                LashMotion ma = {0.03, 0.02}, mb = {0.01, 0.04};
                int slots = lash_pair_collect(rig.pair, rig.work, a, b, ma, mb, 0.02);
                assert_true(slots <= lash_pair_max_slots(rig.pair) && slots <= 8192);
                for (int s = 0; s < 10; ++s) {
                    Pose p = a, q = b;
                    p.r = vec3_add_scaled(a.r, 0.03 * random_unit(&r), random_direction(&r));
                    p.rot = quat_mul(
                        a.rot, quat_exp(vec3_scale(0.02 * random_unit(&r), random_direction(&r))));
                    q.r = vec3_add_scaled(b.r, 0.01 * random_unit(&r), random_direction(&r));
                    q.rot = quat_mul(
                        b.rot, quat_exp(vec3_scale(0.04 * random_unit(&r), random_direction(&r))));
                    assert_true(lash_pair_evaluate(rig.pair, rig.work, p, q, gap, NULL, points));
                    lash_pair_work_reset(fresh.work);
                    rig_gap(&fresh, p, q, 0.02);
                    for (int c = 0; c < fresh.count; ++c) {
                        int found = -1;
                        for (int m = 0; m < slots; ++m)
                            if (lash_pair_slots(rig.work)[m] == fresh.point[c].id) found = m;
                        if (fresh.point[c].gap < -0.02) continue; // was deep before the step
                        assert_true(found >= 0);
                        // a double on a border may be kept by its neighbour instead
                        assert_true(gap[found] == fresh.point[c].gap || isinf(gap[found]));
                        if (gap[found] == fresh.point[c].gap)
                            assert_true(memcmp(points + found, fresh.point + c, sizeof *points) ==
                                        0);
                    }
                    int near = 0;
                    for (int m = 0; m < slots; ++m) near += gap[m] <= 0.02;
                    int expected = 0;
                    for (int c = 0; c < fresh.count; ++c) expected += fresh.point[c].gap >= -0.02;
                    for (int m = 0; m < slots; ++m) near -= gap[m] < -0.02;
                    assert_int_equal(near, expected);
                }
                Pose far = a;
                far.r = vec3_add(far.r, vec3(0.031, 0, 0));
                assert_false(lash_pair_evaluate(rig.pair, rig.work, far, b, gap, NULL, NULL));
                far = a;
                far.rot = quat_mul(a.rot, quat_exp(vec3(0.021, 0, 0)));
                assert_false(lash_pair_evaluate(rig.pair, rig.work, far, b, gap, NULL, NULL));
            }
            rig_free(&rig);
            rig_free(&fresh);
        }
}

static void queries_do_not_allocate(void** state) {
    (void)state;
    Random r = {1};
    static Rig rig;
    static double gap[8192];
    rig_make(&rig, solids, solids + 4, 0);
    uint64_t before = lash_allocation_count();
    for (int k = 0; k < 100; ++k) {
        Pose a = random_pose(&r, 1);
        LashMotion still = {0, 0};
        rig_gap(&rig, a, pose_identity(), 0.1);
        lash_pair_collect(rig.pair, rig.work, a, pose_identity(), still, still, 0.1);
        assert_true(lash_pair_evaluate(rig.pair, rig.work, a, pose_identity(), gap, NULL, NULL));
    }
    assert_int_equal(lash_allocation_count(), before);
    rig_free(&rig);
}

// ---- line and area contact ----------------------------------------------------------------------

static int touching(const Rig* rig, double gap) {
    int n = 0;
    for (int i = 0; i < rig->count; ++i) n += rig->point[i].gap < gap;
    return n;
}

static void flat_and_line_contacts_are_spanned(void** state) {
    (void)state;
    static Rig rig;
    const Solid table = {SOLID_BOX, {2, 2, 0.5}};
    double tilts[3] = {0, 1e-9, 1e-6};
    for (int t = 0; t < 3; ++t) {
        Quat tilt = quat_exp(vec3(tilts[t], 0.6 * tilts[t], 0));
        rig_make(&rig, solids, &table, 0); // box standing: its four corners
        rig_gap(&rig, pose(vec3(0.1, 0.2, 0.8), tilt), pose_identity(), 1e-4);
        assert_int_equal(touching(&rig, 1e-5), 4);
        rig_free(&rig);
        rig_make(&rig, solids + 1, &table,
                 0); // cylinder standing: three points of its rim, and the deepest
        rig_gap(&rig, pose(vec3(0.1, 0.2, 1.0), tilt), pose_identity(), 1e-4);
        assert_int_equal(touching(&rig, 1e-5), tilts[t] > 0 ? 4 : 3);
        rig_free(&rig);
        Quat lying = quat_mul(tilt, quat_from_axis_angle(vec3(0, 1, 0), 0.5 * LASH_PI));
        rig_make(&rig, solids + 1, &table, 0); // lying: both ends
        rig_gap(&rig, pose(vec3(0.1, 0.2, 0.9), lying), pose_identity(), 1e-4);
        assert_int_equal(touching(&rig, 1e-5), 2);
        rig_free(&rig);
        rig_make(&rig, solids + 3, &table, 0); // capsule lying: both ends
        rig_gap(&rig, pose(vec3(0.1, 0.2, 0.8), lying), pose_identity(), 1e-4);
        assert_int_equal(touching(&rig, 1e-5), 2);
        rig_free(&rig);
        const Solid plate = {SOLID_BOX, {0.3, 0.2, 0.1}}; // cylinder longer than what it lies on
        rig_make(&rig, solids + 1, &plate, 0);
        rig_gap(&rig, pose(vec3(0, 0, 0.5), lying), pose_identity(), 1e-4);
        assert_int_equal(touching(&rig, 1e-5), 2);
        rig_free(&rig);
        rig_make(&rig, &plate, &table, 0); // crosswise on a narrower box: crossings of edges
        Quat cross = quat_mul(tilt, quat_from_axis_angle(vec3(0, 0, 1), 0.25 * LASH_PI));
        rig_free(&rig);
        rig_make(&rig, &plate, &plate, 0);
        rig_gap(&rig, pose(vec3(0, 0, 0.2), cross), pose_identity(), 1e-4);
        assert_true(touching(&rig, 1e-5) >= 4);
        rig_free(&rig);
    }
}

static void offset_shifts_the_gap_both_ways(void** state) {
    (void)state;
    static Rig rig;
    for (double offset = -0.02; offset < 0.03; offset += 0.02) {
        rig_make(&rig, solids + 2, solids, offset);
        double gap = rig_gap(&rig, pose(vec3(0, 0, 0.56), quat_identity()), pose_identity(), 0.1);
        assert_true(fabs(gap - (0.01 + offset)) < 1e-15);
        gap =
            rig_gap(&rig, pose(vec3(0, 0, 0.56), quat_identity()), pose_identity(), 0.009 + offset);
        assert_true(isinf(gap)); // the activation distance is one of gaps
        rig_free(&rig);
    }
}

static void beyond_the_reach_there_is_no_gap_but_a_count(void** state) {
    (void)state;
    static Rig rig;
    const Solid plate = {SOLID_BOX, {1, 1, 0.02}};
    rig_make(&rig, solids + 2, &plate, 0);
    double gap = rig_gap(&rig, pose(vec3(0.1, 0.2, 0.26), quat_identity()), pose_identity(), 0.1);
    assert_true(fabs(gap + 0.01) < 1e-15 && lash_pair_beyond_reach(rig.work) == 0);
    rig_gap(&rig, pose(vec3(0.1, 0.2, 0.24), quat_identity()), pose_identity(), 0.1);
    assert_true(rig.count == 0 && lash_pair_beyond_reach(rig.work) > 0);
    rig_free(&rig);
}

// ---- gradients in the world ---------------------------------------------------------------------

// Moves both bodies along random twists; gap, normal and points of the same id follow the rates.
static void rates_hold_when_both_bodies_move(void** state) {
    (void)state;
    Random r = {55};
    static Rig rig, other;
    int compared = 0;
    for (int i = 0; i < SOLIDS; ++i)
        for (int j = 0; j < SOLIDS; ++j) {
            rig_make(&rig, solids + i, solids + j, 0.01);
            rig_make(&other, solids + i, solids + j, 0.01);
            for (int k = 0; k < 30; ++k) {
                Pose a = random_pose(&r, 1.3), b = random_pose(&r, 0.2), moved[2][2];
                Vec3 va = random_direction(&r), wa = random_direction(&r),
                     vb = random_direction(&r), wb = random_direction(&r);
                double h = 1e-6;
                rig_gap(&rig, a, b, 0.1);
                for (int s = 0; s < 2; ++s) {
                    double e = s == 0 ? h : -h;
                    moved[s][0] = pose(vec3_add_scaled(a.r, e, va),
                                       quat_mul(quat_exp(vec3_scale(e, wa)), a.rot));
                    moved[s][1] = pose(vec3_add_scaled(b.r, e, vb),
                                       quat_mul(quat_exp(vec3_scale(e, wb)), b.rot));
                }
                for (int c = 0; c < rig.count; ++c) {
                    const LashContactPoint* p = rig.point + c;
                    double D[16], size = 0;
                    LashContactPoint q[2];
                    bool found[2] = {false, false};
                    for (int s = 0; s < 2; ++s) {
                        rig_gap(&other, moved[s][0], moved[s][1], 0.2);
                        for (int m = 0; m < other.count; ++m)
                            if (other.point[m].id == p->id) {
                                q[s] = other.point[m];
                                found[s] = true;
                            }
                    }
                    if (!found[0] || !found[1] || !lash_contact_operator(p, D)) continue;
                    for (int m = 0; m < 16; ++m) size = fmax(size, fabs(D[m]));
                    if (size > 50) continue;
                    // velocity of a's material at point_a minus that of b's material there
                    Vec3 ra = vec3_sub(p->point_a, a.r), rb = vec3_sub(p->point_a, b.r);
                    Vec3 vb_at = vec3_add(vb, vec3_cross(wb, rb));
                    Vec3 w = vec3_sub(vec3_add(va, vec3_cross(wa, ra)), vb_at);
                    LashContactRate rate;
                    lash_contact_rate(p, w, vec3_sub(wa, wb), &rate);
                    Vec3 dn = vec3_add(rate.normal, vec3_cross(wb, p->normal));
                    Vec3 dpb = vec3_add(rate.point_b,
                                        vec3_add(vb, vec3_cross(wb, vec3_sub(p->point_b, b.r))));
                    double tolerance = 1e-7 * (1 + size * size * size);
                    assert_true(fabs((q[0].gap - q[1].gap) / (2 * h) - rate.gap) < tolerance);
                    assert_true(
                        vec3_distance(vec3_scale(0.5 / h, vec3_sub(q[0].normal, q[1].normal)), dn) <
                        tolerance);
                    assert_true(
                        vec3_distance(vec3_scale(0.5 / h, vec3_sub(q[0].point_b, q[1].point_b)),
                                      dpb) < tolerance);
                    ++compared;
                }
            }
            rig_free(&rig);
            rig_free(&other);
        }
    assert_true(compared > 200);
}

// ---- threads ------------------------------------------------------------------------------------

typedef struct Job {
    const LashPair* pair;
    double sum;
    uint64_t hash;
} Job;

static void* run_job(void* argument) {
    Job* job = argument;
    Random r = {1234};
    LashPairWork* work = lash_pair_work_create(job->pair);
    LashContactPoint p[CAPACITY];
    for (int k = 0; k < 3000; ++k) {
        memset(p, 0, sizeof p);
        int n = lash_pair_query(job->pair, work, random_pose(&r, 1.2), random_pose(&r, 0.1), 0.1, p,
                                CAPACITY);
        const unsigned char* byte = (const unsigned char*)p;
        for (size_t i = 0; i < (size_t)n * sizeof p[0]; ++i)
            job->hash = (job->hash ^ byte[i]) * 1099511628211ull;
    }
    lash_pair_work_destroy(work);
    return NULL;
}

static void two_threads_give_the_same_bits_as_one(void** state) {
    (void)state;
    static Rig rig;
    rig_make(&rig, solids, solids + 4, 0);
    Job alone = {.pair = rig.pair}, job[2] = {{.pair = rig.pair}, {.pair = rig.pair}};
    run_job(&alone);
    pthread_t thread[2];
    for (int i = 0; i < 2; ++i)
        assert_int_equal(pthread_create(thread + i, NULL, run_job, job + i), 0);
    for (int i = 0; i < 2; ++i) pthread_join(thread[i], NULL);
    assert_true(alone.hash != 0 && job[0].hash == alone.hash && job[1].hash == alone.hash);
    rig_free(&rig);
}

RUN(TEST(separated_solids_have_the_distance_of_brute_force),
    TEST(ball_gap_is_the_signed_distance_of_its_center),
    TEST(pushing_along_the_normal_changes_the_gap_by_the_push),
    TEST(boxes_agree_with_first_principles), TEST(pin_in_hole_is_exact_and_continuous_in_the_tilt),
    TEST(gap_is_continuous_and_bounds_never_lose_a_contact),
    TEST(evaluate_finds_all_that_query_finds_within_the_promise), TEST(queries_do_not_allocate),
    TEST(flat_and_line_contacts_are_spanned), TEST(offset_shifts_the_gap_both_ways),
    TEST(beyond_the_reach_there_is_no_gap_but_a_count), TEST(rates_hold_when_both_bodies_move),
    TEST(two_threads_give_the_same_bits_as_one))
