// Every kernel against brute force, and its derivatives against finite differences.
#include "test.h"

#include "tests/geometry_features.h"

static LashPlacement placement_of(Pose p) {
    LashPlacement q = {quat_matrix(p.rot), p.r};
    return q;
}

static long poses(long normal, long many) {
#if defined(__SANITIZE_ADDRESS__)
    normal /= 4;
#endif
    return getenv("LASH_LONG_TESTS") != NULL ? many : normal;
}

static void contact_of(const One* a, const One* b, const LashPlacement* b_a, const LashRoot* r,
                       LashContactPoint* c) {
    memset(c, 0, sizeof *c);
    c->gap = r->gap;
    c->normal = r->normal;
    c->point_a = r->point_a;
    c->point_b = r->point_b;
    Mat3 one = mat3_identity();
    lash_kernel_second_order(&a->feature, &b->feature, b_a, r, &one, c);
}

// ---- brute force: local minima of the distance over the parameters of a -------------------------

typedef struct Minimum {
    double value, p[2];
    bool inside; // not at an end of the parameter range
} Minimum;

enum { GRID = 40, MAX_MINIMA = 8 };

static double value_at(const One* a, const One* b, const LashPlacement* q, double u, double v) {
    double foot;
    return one_distance(b, lash_place(q, one_point(a, u, v)), &foot);
}

static void refine(const One* a, const One* b, const LashPlacement* q, const double h0[2],
                   Minimum* m) {
    int n = kind_parameters(a->kind);
    double low[2], high[2], h[2] = {h0[0], h0[1]}, u[2] = {m->p[0], m->p[1]};
    one_range(a, low, high);
    for (int k = 0; k < 60; ++k) {
        double best[2] = {u[0], u[1]};
        for (int i = -3; i <= 3; ++i)
            for (int j = n == 2 ? -3 : 0; j <= (n == 2 ? 3 : 0); ++j) {
                double w[2] = {u[0] + h[0] * i / 3, u[1] + h[1] * j / 3};
                for (int c = 0; c < n; ++c)
                    if (!one_closed(a, c)) w[c] = fmin(high[c], fmax(low[c], w[c]));
                double f = value_at(a, b, q, w[0], w[1]);
                if (f < m->value) {
                    m->value = f;
                    best[0] = w[0];
                    best[1] = w[1];
                }
            }
        bool moved = best[0] != u[0] || best[1] != u[1];
        u[0] = best[0];
        u[1] = best[1];
        for (int c = 0; c < 2 && !moved; ++c) h[c] *= 0.4;
    }
    m->p[0] = u[0];
    m->p[1] = u[1];
    m->inside = true;
    for (int c = 0; c < n; ++c) {
        double margin = 1e-3 * (high[c] - low[c]);
        if (!one_closed(a, c) && (u[c] < low[c] + margin || u[c] > high[c] - margin))
            m->inside = false;
    }
}

static int grid_minima(const One* a, const One* b, const LashPlacement* q, Minimum* found) {
    static double value[GRID + 1][GRID + 1];
    double low[2], high[2];
    int n = kind_parameters(a->kind), count = 0, nj = n == 2 ? GRID : 0, ni = n >= 1 ? GRID : 0;
    one_range(a, low, high);
    double h[2] = {(high[0] - low[0]) / GRID, (high[1] - low[1]) / GRID};
    for (int i = 0; i <= ni; ++i)
        for (int j = 0; j <= nj; ++j)
            value[i][j] = value_at(a, b, q, low[0] + h[0] * i, low[1] + h[1] * j);
    for (int i = 0; i <= ni; ++i)
        for (int j = 0; j <= nj; ++j) {
            bool least = true;
            for (int di = -1; di <= 1; ++di)
                for (int dj = -1; dj <= 1; ++dj) {
                    int k = i + di, l = j + dj;
                    if (one_closed(a, 0) && n >= 1) k = (k + GRID) % GRID;
                    if (k < 0 || l < 0 || k > ni || l > nj) continue;
                    if (value[k][l] < value[i][j]) least = false;
                }
            if (!least || count == MAX_MINIMA) continue;
            Minimum m = {value[i][j], {low[0] + h[0] * i, low[1] + h[1] * j}, true};
            refine(a, b, q, h, &m);
            found[count++] = m;
        }
    return count;
}

// Where the tube of a groove runs: contacts are near there.
static void into_groove(Random* r, Pose* p, const One* a, const One* b) {
    double t = random_in(r, 0, 2 * LASH_PI);
    Vec3 c = vec3_add_scaled(vec3(cos(t), sin(t), 0), 0.3, random_direction(r));
    if (b->kind == GROOVE) p->r = c;
    if (a->kind == GROOVE) p->r = vec3_neg(quat_rotate(p->rot, c));
}

// At this point of a the outward normals of a and b do not oppose: the material overlaps there.
static bool same_way_round(const One* a, const One* b, const LashPlacement* q, const double p[2]) {
    double h = 1e-6, foot;
    if (kind_parameters(a->kind) < 2) return false;
    Vec3 u = vec3_sub(one_point(a, p[0] + h, p[1]), one_point(a, p[0] - h, p[1]));
    Vec3 v = vec3_sub(one_point(a, p[0], p[1] + h), one_point(a, p[0], p[1] - h));
    Vec3 n = mat3_mul(q->rot, vec3_cross(u, v)), X = lash_place(q, one_point(a, p[0], p[1]));
    if (a->kind == SPHERE) n = mat3_mul(q->rot, one_point(a, p[0], p[1])); // also at the poles
    n = vec3_scale(h / vec3_norm(n), n);
    return one_distance(b, vec3_add(X, n), &foot) > one_distance(b, vec3_sub(X, n), &foot);
}

static Pose near_pose(Random* r, const One* a, const One* b) {
    Pose p = pose(vec3_scale(random_in(r, 0, 0.9), random_direction(r)), random_rotation(r));
    if (kind_hollow(b->kind)) p.r = vec3_scale(0.35, p.r);
    into_groove(r, &p, a, b);
    if (random_unit(r) < 0.2)
        p.rot = quat_exp(vec3_scale(1e-4, random_direction(r))); // near-parallel
    if (kind_has_distance(b->kind) &&
        !kind_hollow(b->kind)) { // bring the gap near zero along a push
        Minimum m[MAX_MINIMA];
        LashPlacement q = placement_of(p);
        int n = grid_minima(a, b, &q, m);
        double least = INFINITY;
        for (int i = 0; i < n; ++i) least = fmin(least, m[i].value);
        Vec3 d = b->kind == PLANE ? vec3(0, 0, 1) : vec3_normalize(vec3_add(p.r, vec3(1e-9, 0, 0)));
        if (n > 0) p.r = vec3_add_scaled(p.r, random_in(r, -0.05, 0.3) - least, d);
    }
    return p;
}

// Minima of the brute force (well inside all ranges) must be roots; returns how many were compared.
static int compare_minima(const One* a, const One* b, const LashPlacement* q, double tolerance) {
    LashRoot roots[LASH_MAX_POINTS];
    LashKernelQuery query = {.limit = 1};
    int n = lash_kernel_roots(&a->feature, &b->feature, q, &query, roots), compared = 0;
    Minimum m[MAX_MINIMA];
    int count = grid_minima(a, b, q, m);
    for (int i = 0; i < count; ++i) {
        double foot;
        one_distance(b, lash_place(q, one_point(a, m[i].p[0], m[i].p[1])), &foot);
        bool inside = m[i].inside && (b->kind == PLANE || one_closed(b, 1) || fabs(foot) < 0.59);
        Vec3 X = lash_place(q, one_point(a, m[i].p[0], m[i].p[1]));
        if (b->kind == PLANE && fmax(fabs(X.x), fabs(X.y)) > 0.99) inside = false;
        if (inside && same_way_round(a, b, q, m[i].p)) inside = false;
        if (!inside || m[i].value > 0.5 || m[i].value < -0.04) continue;
        double best = INFINITY;
        for (int k = 0; k < n; ++k) { // brute force is an upper bound, poor near poles
            double excess = roots[k].gap - m[i].value;
            best = fmin(best, excess < 0 && excess > -2e-3 ? 0 : fabs(excess));
        }
        if (!(best <= tolerance)) {
            // ruled contact (a flat valley) is reported at edges, which this feature does not have
            double e = 0.02, side = INFINITY;
            for (int c = 0; c < kind_parameters(a->kind); ++c)
                for (int s = -1; s <= 1; s += 2)
                    side = fmin(side, value_at(a, b, q, m[i].p[0] + (c == 0 ? s * e : 0),
                                               m[i].p[1] + (c == 1 ? s * e : 0)));
            if (side - m[i].value < 1e-7) continue;
            print_message("%s/%s: minimum %.15g at (%g, %g), %d roots", kind_name[a->kind],
                          kind_name[b->kind], m[i].value, m[i].p[0], m[i].p[1], n);
            for (int k = 0; k < n; ++k) print_message(" %.15g", roots[k].gap);
            print_message("\n");
            assert_true(best <= tolerance);
        }
        ++compared;
    }
    return compared;
}

static bool brute_applies(const One* a, const One* b) {
    if (!kind_has_distance(b->kind) || a->kind == PLANE || kind_hollow(a->kind)) return false;
    return lash_kernel_slots(&a->feature, &b->feature) > 0;
}

static void every_local_minimum_of_brute_force_is_a_root(void** state) {
    (void)state;
    Random r = {7};
    One a, b;
    for (int i = 0; i < KINDS; ++i)
        for (int j = 0; j < KINDS; ++j) {
            one_make(&a, (Kind)i);
            one_make(&b, (Kind)j);
            if (brute_applies(&a, &b)) {
                bool free = lash_kernel_is_free(&a.feature, &b.feature);
                int compared = 0;
                bool two = kind_parameters(a.kind) == 2; // a grid of two parameters is slow
                long count = two ? poses(40, 2000) : poses(200, 20000);
                for (long k = 0; k < count; ++k) {
                    LashPlacement q = placement_of(near_pose(&r, &a, &b));
                    compared += compare_minima(&a, &b, &q, free ? 1e-10 : 2e-12);
                }
                if (getenv("LASH_VERBOSE"))
                    print_message("%s/%s: %d\n", kind_name[i], kind_name[j], compared);
            }
            lash_feature_release(&a.feature);
            lash_feature_release(&b.feature);
        }
}

// Two minima and a maximum within one cell of the curve: all of them must be seen.
static void minimum_at_the_end_of_a_curve_is_not_hidden_by_a_maximum_beside_it(void** state) {
    (void)state;
    One a, b;
    one_make(&a, CURVE);
    one_make(&b, TORUS);
    LashPlacement q = {.r = {0.19831442650748271, 0.10221654152495203, -0.20218129918682051}};
    q.rot = quat_matrix(quat_exp(vec3(-5.07927760928e-05, 7.80819320545e-05, 3.63772702295e-05)));
    LashRoot roots[LASH_MAX_POINTS];
    LashKernelQuery query = {.limit = 1};
    assert_int_equal(lash_kernel_roots(&a.feature, &b.feature, &q, &query, roots), 2);
    double larger = fmax(roots[0].gap, roots[1].gap);
    double least = INFINITY;
    for (int i = 0; i <= 2000; ++i) least = fmin(least, value_at(&a, &b, &q, 5e-6 * i, 0));
    assert_true(fabs(larger - least) < 1e-10 && larger <= least);
    lash_feature_release(&a.feature);
    lash_feature_release(&b.feature);
}

// ---- a root is what it says ---------------------------------------------------------------------

static double closest(const One* o, Vec3 p) { // distance of p from the feature by brute force
    double low[2], high[2], best = INFINITY, u[2] = {0, 0};
    int n = kind_parameters(o->kind);
    one_range(o, low, high);
    for (int i = 0; i <= (n >= 1 ? 60 : 0); ++i)
        for (int j = 0; j <= (n == 2 ? 60 : 0); ++j) {
            double x = low[0] + (high[0] - low[0]) * i / 60,
                   y = low[1] + (high[1] - low[1]) * j / 60;
            double d = vec3_distance(p, one_point(o, x, y));
            if (d < best) {
                best = d;
                u[0] = x;
                u[1] = y;
            }
        }
    double h[2] = {(high[0] - low[0]) / 60, (high[1] - low[1]) / 60};
    for (int k = 0; k < 80 && n > 0; ++k) {
        double b[2] = {u[0], u[1]};
        for (int i = -2; i <= 2; ++i)
            for (int j = n == 2 ? -2 : 0; j <= (n == 2 ? 2 : 0); ++j) {
                double d = vec3_distance(p, one_point(o, u[0] + h[0] * i / 2, u[1] + h[1] * j / 2));
                if (d < best) {
                    best = d;
                    b[0] = u[0] + h[0] * i / 2;
                    b[1] = u[1] + h[1] * j / 2;
                }
            }
        bool moved = b[0] != u[0] || b[1] != u[1];
        u[0] = b[0];
        u[1] = b[1];
        for (int c = 0; c < 2 && !moved; ++c) h[c] *= 0.5;
    }
    return best;
}

static void check_root(const One* a, const One* b, const LashPlacement* q, const LashRoot* r) {
    Vec3 d = vec3_sub(r->point_a, r->point_b);
    assert_true(fabs(vec3_norm(r->normal) - 1) < 1e-12);
    assert_true(fabs(vec3_dot(d, r->normal) - r->gap) < 1e-12);
    assert_true(vec3_norm(vec3_add_scaled(d, -r->gap, r->normal)) < 1e-7);
    double tolerance = 1e-8;            // of the brute force
    if (r->ball_a || r->ball_b) return; // a ball inside the torus
    double da = closest(a, lash_place_inverse(q, r->point_a)), db = closest(b, r->point_b);
    if (da > tolerance || db > tolerance)
        print_message("%s/%s: points off by %g, %g\n", kind_name[a->kind], kind_name[b->kind], da,
                      db);
    assert_true(da <= tolerance && db <= tolerance);
}

static Pose random_near(Random* r, const One* a, const One* b) {
    Pose p = pose(vec3_scale(random_in(r, 0.1, 1.0), random_direction(r)), random_rotation(r));
    bool hollow = kind_hollow(a->kind) || kind_hollow(b->kind);
    if (hollow) p.r = vec3_scale(0.4, p.r);
    into_groove(r, &p, a, b);
    return p;
}

static void foot_points_lie_on_both_features(void** state) {
    (void)state;
    Random r = {11};
    One a, b;
    for (int i = 0; i < KINDS; ++i)
        for (int j = 0; j < KINDS; ++j) {
            one_make(&a, (Kind)i);
            one_make(&b, (Kind)j);
            int found = 0;
            for (int k = 0; k < 400 && found < 12 && lash_kernel_slots(&a.feature, &b.feature) > 0;
                 ++k) {
                Pose p = random_near(&r, &a, &b);
                LashPlacement q = placement_of(p);
                LashRoot roots[LASH_MAX_POINTS];
                LashKernelQuery query = {.limit = 1};
                int n = lash_kernel_roots(&a.feature, &b.feature, &q, &query, roots);
                for (int m = 0; m < n; ++m)
                    if (!roots[m].deep) {
                        check_root(&a, &b, &q, roots + m);
                        ++found;
                    }
            }
            if (lash_kernel_slots(&a.feature, &b.feature) > 0 && found == 0 &&
                getenv("LASH_VERBOSE"))
                print_message("no root seen: %s/%s\n", kind_name[i], kind_name[j]);
            lash_feature_release(&a.feature);
            lash_feature_release(&b.feature);
        }
}

// Distance of X (b's frame) from the elementary feature o by closed form, unsigned; edges
// unlimited.
static double distance_of(const One* o, Vec3 X) {
    double rho = sqrt(X.x * X.x + X.y * X.y), foot;
    if (o->kind == VERTEX) return vec3_norm(X);
    if (o->kind == LINE) return rho;
    if (o->kind == CIRCLE) return hypot(rho - 0.4, X.z);
    return fabs(one_distance(o, X, &foot));
}

static bool is_elementary(Kind k) {
    return k != CURVE && k != FREEFORM;
}

// 10^4 poses per pair (10^6 on request): feet on both features, normal along their connection, and
// no point of a closed convex feature nearer than the nearest root.
static void roots_hold_in_ten_thousand_random_poses(void** state) {
    (void)state;
    Random r = {71};
    One a, b;
    for (int i = 0; i < KINDS; ++i)
        for (int j = 0; j < KINDS; ++j) {
            one_make(&a, (Kind)i);
            one_make(&b, (Kind)j);
            bool tested = is_elementary(a.kind) && is_elementary(b.kind) &&
                          !lash_kernel_is_free(&a.feature, &b.feature);
            long count =
                tested && lash_kernel_slots(&a.feature, &b.feature) > 0 ? poses(10000, 1000000) : 0;
            bool whole =
                a.kind == VERTEX || a.kind == CIRCLE || a.kind == SPHERE || a.kind == TORUS;
            for (long k = 0; k < count; ++k) {
                Pose p = random_near(&r, &a, &b);
                if (k % 5 == 0)
                    p.rot =
                        quat_exp(vec3_scale(pow(10, random_in(&r, -12, -2)), random_direction(&r)));
                if (k % 7 == 0)
                    p.r = vec3(p.r.x, 0, k % 2 ? 0 : p.r.z); // symmetric and touching places
                LashPlacement q = placement_of(p);
                LashRoot roots[LASH_MAX_POINTS];
                LashKernelQuery query = {.limit = 2};
                int n = lash_kernel_roots(&a.feature, &b.feature, &q, &query, roots);
                double least = INFINITY;
                for (int m = 0; m < n; ++m) {
                    const LashRoot* t = roots + m;
                    if (t->gap < -0.95 * lash_kernel_reach(&a.feature, &b.feature)) continue;
                    Vec3 d = vec3_sub(t->point_a, t->point_b);
                    double off_a =
                        t->ball_a ? 0 : distance_of(&a, lash_place_inverse(&q, t->point_a));
                    double off_b = t->ball_b ? 0 : distance_of(&b, t->point_b);
                    double across = vec3_norm(vec3_add_scaled(d, -t->gap, t->normal));
                    bool ok = off_a < 1e-12 && off_b < 1e-12 && across < 1e-7 &&
                              fabs(vec3_norm(t->normal) - 1) < 1e-14;
                    if (!ok)
                        print_message("%s/%s: off %g %g, across %g, gap %g\n", kind_name[i],
                                      kind_name[j], off_a, off_b, across, t->gap);
                    assert_true(ok);
                    least = fmin(least, t->gap);
                }
                if (!whole || !kind_has_distance(b.kind) || (!one_closed(&b, 1) && b.kind != PLANE))
                    continue;
                if (b.kind == PLANE && hypot(p.r.x, p.r.y) > 0.45) continue; // not at its border
                double nearest = INFINITY, foot; // over the skeleton of a
                bool ring = a.kind == CIRCLE || a.kind == TORUS;
                for (int m = 0; m < (ring ? 64 : 1); ++m) {
                    double t = 2 * LASH_PI * m / 64, R = ring ? 0.4 : 0;
                    Vec3 X = lash_place(&q, vec3(R * cos(t), R * sin(t), 0));
                    nearest = fmin(nearest, one_distance(&b, X, &foot) - a.feature.tube);
                }
                if (nearest < 0.02 || nearest > 1.9 || kind_hollow(b.kind)) continue;
                if (!(least <= nearest + 1e-12))
                    print_message("%s/%s: %g below the root %g\n", kind_name[i], kind_name[j],
                                  nearest, least);
                assert_true(least <= nearest + 1e-12);
            }
            lash_feature_release(&a.feature);
            lash_feature_release(&b.feature);
        }
}

// A limit leaves roots out and changes no other. (Free edges apart by more than the limit were once
// taken for edges in each other.)
static void limit_only_leaves_roots_out(void** state) {
    (void)state;
    Random r = {83};
    One a, b;
    for (int i = 0; i < KINDS; ++i)
        for (int j = 0; j < KINDS; ++j) {
            one_make(&a, (Kind)i);
            one_make(&b, (Kind)j);
            bool tested = lash_kernel_slots(&a.feature, &b.feature) > 0 &&
                          !lash_kernel_is_free(&a.feature, &b.feature);
            for (long k = 0; k < poses(300, 30000) && tested; ++k) {
                LashPlacement q = placement_of(random_near(&r, &a, &b));
                LashRoot all[LASH_MAX_POINTS], near[LASH_MAX_POINTS];
                LashKernelQuery wide = {.limit = 10}, narrow = {.limit = random_in(&r, -0.1, 0.5)};
                int n = lash_kernel_roots(&a.feature, &b.feature, &q, &wide, all), kept = 0;
                int m = lash_kernel_roots(&a.feature, &b.feature, &q, &narrow, near);
                for (int l = 0; l < n; ++l) {
                    if (all[l].gap > narrow.limit) continue;
                    assert_true(kept < m && near[kept].gap == all[l].gap);
                    ++kept;
                }
                if (kept != m)
                    print_message("%s/%s: %d roots, %d of them without the limit\n", kind_name[i],
                                  kind_name[j], m, kept);
                assert_int_equal(kept, m);
            }
            lash_feature_release(&a.feature);
            lash_feature_release(&b.feature);
        }
}

// ---- derivatives --------------------------------------------------------------------------------

typedef struct Touch { // a root, and where it is
    const One *a, *b;
    Pose p;
    LashRoot root;
    LashWarm warm; // of free pairs
    LashCandidates candidates;
} Touch;

// The root of the moved pair that continues the old one; false when it is gone.
static bool continued(const Touch* t, Pose p, LashRoot* moved) {
    LashPlacement q = placement_of(p);
    LashWarm warm = t->warm;
    LashCandidates candidates = t->candidates;
    LashKernelQuery query = {.limit = 2, .warm = &warm, .candidates = &candidates};
    LashRoot roots[LASH_MAX_POINTS];
    int n = lash_kernel_roots(&t->a->feature, &t->b->feature, &q, &query, roots), best = -1;
    double least = 0.02;
    for (int i = 0; i < n; ++i) {
        const LashRoot* r = roots + i;
        double d =
            vec3_distance(r->point_a, t->root.point_a) + vec3_distance(r->point_b, t->root.point_b);
        if (r->ball_a == t->root.ball_a && r->ball_b == t->root.ball_b && d < least) {
            least = d;
            best = i;
        }
    }
    if (best >= 0) *moved = roots[best];
    return best >= 0;
}

typedef struct Slopes {
    double gap;
    Vec3 normal, point_a, point_b;
} Slopes;

static double slopes_distance(const Slopes* x, const Slopes* y) { // largest of the four
    double points =
        fmax(vec3_distance(x->point_a, y->point_a), vec3_distance(x->point_b, y->point_b));
    return fmax(fmax(fabs(x->gap - y->gap), points), vec3_distance(x->normal, y->normal));
}

// Central differences over the exact rigid motion of a about point_a; false when the root is gone.
static bool central_slopes(const Touch* t, Vec3 w, Vec3 omega, double h, Slopes* out) {
    LashRoot moved[2];
    for (int s = 0; s < 2; ++s) {
        double e = s == 0 ? h : -h, k = 0.5 / h;
        Quat turn = quat_exp(vec3_scale(e, omega));
        Vec3 foot = t->root.point_a, arm = quat_rotate(turn, vec3_sub(t->p.r, foot));
        Pose m = pose(vec3_add(vec3_add_scaled(foot, e, w), arm), quat_mul(turn, t->p.rot));
        if (!continued(t, m, moved + s)) return false;
        if (s == 0) continue;
        out->gap = k * (moved[0].gap - moved[1].gap);
        out->normal = vec3_scale(k, vec3_sub(moved[0].normal, moved[1].normal));
        out->point_a = vec3_scale(k, vec3_sub(moved[0].point_a, moved[1].point_a));
        out->point_b = vec3_scale(k, vec3_sub(moved[0].point_b, moved[1].point_b));
    }
    return true;
}

// Largest curvature of the surface parallel to the side at the gap (an edge: of its tube): how fast
// the normal turns there, and by how much rounding turns it. Edge: X = s s', k = s' Y s.
static double focus(const One* o, const LashSecondOrder* s, double gap) {
    const double *X = s->X, *Y = s->Y;
    double a = 1 + gap * Y[0], d = 1 + gap * Y[3], det = a * d - gap * gap * Y[1] * Y[2], y = 0;
    double k = X[0] * Y[0] + X[1] * Y[2] + X[2] * Y[1] + X[3] * Y[3];
    if (o->kind == VERTEX) return 0;
    if (o->feature.kind == LASH_FEATURE_EDGE) return fabs(k / (1 + gap * k));
    for (int i = 0; i < 4; ++i) y = fmax(y, fabs(Y[i]));
    return y * fmax(fmax(a, d), gap * y) / fabs(det);
}

// Compares the rates with central differences s(h); returns 1 when the comparison was possible.
// s(h) = rate + c h^2 + O(h^4): |s(h) - s(h/2)| is three times the truncation error of s(h/2).
// Poses rounded to 2e-16 move the roots by `noise`, and so the differences by noise / h.
static int check_rates(const Touch* t, Random* random) {
    LashPlacement q = placement_of(t->p);
    LashContactPoint c;
    contact_of(t->a, t->b, &q, &t->root, &c);
    double D[16], largest = 0, best = INFINITY, off = 0;
    if (!lash_contact_operator(&c, D)) return 0;
    for (int i = 0; i < 16; ++i) largest = fmax(largest, fabs(D[i]));
    double turn = fmax(focus(t->a, &c.a, t->root.gap), focus(t->b, &c.b, t->root.gap));
    if (t->a->kind < PLANE && t->b->kind < PLANE) // the normal is the direction between the feet
        turn = fmax(turn, 1 / fabs(t->root.gap));
    if (largest > 50 || turn > 1e4) return 0; // feet or normal nearly undetermined
    double noise = 1e-15 * (1 + largest) * (1 + turn);
    Vec3 w = random_direction(random), omega = random_direction(random);
    LashContactRate rate;
    assert_true(lash_contact_rate(&c, w, omega, &rate));
    Slopes exact = {rate.gap, rate.normal, rate.point_a, rate.point_b};
    for (double h = 1e-5; h > 5e-8 && best > 1e-7; h *= 0.1) {
        Slopes s[2];
        for (int i = 0; i < 2; ++i)
            if (!central_slopes(t, w, omega, i == 0 ? h : 0.5 * h, s + i)) return 0;
        double tolerance = slopes_distance(s, s + 1) + noise / h;
        if (tolerance < best) {
            best = tolerance;
            off = slopes_distance(s + 1, &exact);
        }
    }
    bool ok = off < best && best < 1e-4 * (1 + largest);
    if (!ok)
        print_message("%s/%s gap %g: rates off by %g, differences good to %g, |D| %g, turn %g\n",
                      kind_name[t->a->kind], kind_name[t->b->kind], t->root.gap, off, best, largest,
                      turn);
    assert_true(ok);
    return 1;
}

static void rates_equal_finite_differences_for_every_pair(void** state) {
    (void)state;
    Random r = {23};
    One a, b;
    for (int i = 0; i < KINDS; ++i)
        for (int j = 0; j < KINDS; ++j) {
            one_make(&a, (Kind)i);
            one_make(&b, (Kind)j);
            int checked = 0, wanted = (int)poses(12, 1000);
            for (int k = 0; k < 60 * wanted && checked < wanted &&
                            lash_kernel_slots(&a.feature, &b.feature) > 0;
                 ++k) {
                static LashCellPair cells[1 << 16];
                Touch t = {.a = &a, .b = &b, .p = random_near(&r, &a, &b)};
                LashPlacement q = placement_of(t.p);
                LashRoot roots[LASH_MAX_POINTS];
                t.candidates = (LashCandidates){cells, 0, 1 << 16};
                LashKernelQuery query = {.limit = 2, .warm = &t.warm, .candidates = &t.candidates};
                if (lash_kernel_is_free(&a.feature, &b.feature))
                    lash_kernel_list(&a.feature, &b.feature, &q, &query, 0.02, 0.02);
                query.limit = 1;
                int n = lash_kernel_roots(&a.feature, &b.feature, &q, &query, roots);
                for (int m = 0; m < n; ++m) {
                    t.root = roots[m];
                    if (!t.root.deep && !t.root.boundary) checked += check_rates(&t, &r);
                }
            }
            if (getenv("LASH_VERBOSE"))
                print_message("%s/%s: %d rates\n", kind_name[i], kind_name[j], checked);
            lash_feature_release(&a.feature);
            lash_feature_release(&b.feature);
        }
}

// ---- closed forms and symmetry ------------------------------------------------------------------

static void exchanging_the_sides_turns_the_normal_round(void** state) {
    (void)state;
    Random r = {31};
    One a, b;
    for (int i = 0; i < KINDS; ++i)
        for (int j = 0; j < KINDS; ++j) {
            one_make(&a, (Kind)i);
            one_make(&b, (Kind)j);
            assert_int_equal(lash_kernel_slots(&a.feature, &b.feature),
                             lash_kernel_slots(&b.feature, &a.feature));
            for (int k = 0; k < 40 && i != j; ++k) {
                Pose p = random_near(&r, &a, &b);
                LashPlacement q = placement_of(p), inverse = placement_of(pose_inverse(p));
                LashRoot x[LASH_MAX_POINTS], y[LASH_MAX_POINTS];
                LashKernelQuery query = {.limit = 1};
                int n = lash_kernel_roots(&a.feature, &b.feature, &q, &query, x);
                int m = lash_kernel_roots(&b.feature, &a.feature, &inverse, &query, y);
                if (n != m)
                    print_message("%s/%s: %d and %d roots\n", kind_name[i], kind_name[j], n, m);
                assert_int_equal(n, m);
                for (int l = 0; l < n; ++l) {
                    double best = INFINITY; // the order may differ
                    for (int o = 0; o < n; ++o) {
                        Vec3 normal = quat_rotate(p.rot, y[o].normal);
                        best = fmin(best, fabs(x[l].gap - y[o].gap) +
                                              1e-5 * vec3_norm(vec3_add(x[l].normal, normal)));
                    }
                    if (best > 1e-12) print_message("%s/%s %g\n", kind_name[i], kind_name[j], best);
                    assert_true(best <= 1e-12);
                }
            }
            lash_feature_release(&a.feature);
            lash_feature_release(&b.feature);
        }
}

static void sphere_in_socket_and_on_sphere_have_the_textbook_gap(void** state) {
    (void)state;
    Random r = {5};
    One a, socket, ball;
    one_make(&a, SPHERE);
    one_make(&socket, SOCKET);
    one_make(&ball, SPHERE);
    for (long k = 0; k < poses(10000, 1000000); ++k) {
        Pose p =
            pose(vec3_scale(random_in(&r, 1e-6, 0.9), random_direction(&r)), random_rotation(&r));
        LashPlacement q = placement_of(p);
        LashRoot root[LASH_MAX_POINTS];
        LashKernelQuery query = {.limit = 10};
        double d = vec3_norm(p.r);
        assert_int_equal(lash_kernel_roots(&a.feature, &socket.feature, &q, &query, root), 1);
        assert_true(fabs(root[0].gap - (0.9 - 0.3 - d)) < 1e-15 * 4);
        assert_true(vec3_distance(root[0].normal, vec3_scale(-1 / d, p.r)) < 1e-9);
        assert_int_equal(lash_kernel_roots(&a.feature, &ball.feature, &q, &query, root), 1);
        assert_true(fabs(root[0].gap - (d - 0.6)) < 1e-15 * 4);
        assert_int_equal(root[0].deep, d < 0.3);
    }
}

static void four_points_span_an_area(void** state) {
    (void)state;
    LashContactPoint p[40];
    memset(p, 0, sizeof p);
    for (int i = 0; i < 40; ++i) { // around an ellipse, tilted
        double t = 2 * LASH_PI * i / 40;
        p[i].point_b = vec3(2 * cos(t), sin(t), 0);
        p[i].normal = vec3(0, 0, 1);
        p[i].gap = 1e-3 * p[i].point_b.x;
    }
    int chosen[LASH_MAX_POINTS];
    assert_int_equal(lash_contact_span(p, 40, chosen), 4);
    assert_int_equal(chosen[0], 20);
    assert_int_equal(chosen[1], 0);
    assert_true(fabs(p[chosen[2]].point_b.y - p[chosen[3]].point_b.y) > 1.99);
    assert_int_equal(lash_contact_span(p, 1, chosen), 1);
    assert_int_equal(lash_contact_span(p, 0, chosen), 0);
    for (int i = 0; i < 40; ++i) p[i].point_b.y = 0; // a line
    assert_int_equal(lash_contact_span(p, 40, chosen), 2);
}

RUN(TEST(every_local_minimum_of_brute_force_is_a_root),
    TEST(minimum_at_the_end_of_a_curve_is_not_hidden_by_a_maximum_beside_it),
    TEST(roots_hold_in_ten_thousand_random_poses), TEST(limit_only_leaves_roots_out),
    TEST(foot_points_lie_on_both_features), TEST(rates_equal_finite_differences_for_every_pair),
    TEST(exchanging_the_sides_turns_the_normal_round), TEST(four_points_span_an_area),
    TEST(sphere_in_socket_and_on_sphere_have_the_textbook_gap))
