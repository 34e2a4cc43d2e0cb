// Freeform faces and curves: wavy surfaces with many minima against dense grids; smooth following.
#include "test.h"

#include "geometry/kernels/bezier.h"
#include "geometry/kernels/cells.h"
#include "geometry/pairs.h"
#include "tests/geometry_features.h"

enum { WAVES = 4, GRID = 120 }; // patches per direction; steps of the dense grid

typedef struct Wavy { // z = f(x, y) over [-1, 1]^2 as C1 bicubic patches
    LashShape shape;
    LashFace face;
    LashPatch patch[WAVES * WAVES];
    double pole[WAVES * WAVES * 64];
    double amplitude, bow;
    Vec3 grid[GRID + 1][GRID + 1]; // points at equal steps of u, v
} Wavy;

static Vec3 wavy_point(const Wavy* w, double u, double v);

static double height(const Wavy* w, double x, double y, double d[3]) { // d: x, y, xy derivatives
    double k = 4, a = w->amplitude, c = w->bow;
    d[0] = a * k * cos(k * x) * cos(k * y) - 2 * c * x;
    d[1] = -a * k * sin(k * x) * sin(k * y) - 2 * c * y;
    d[2] = -a * k * k * cos(k * x) * sin(k * y);
    return a * sin(k * x) * cos(k * y) - c * (x * x + y * y);
}

static void wavy_patch(Wavy* w, int i, int j) { // Hermite data to Bezier poles
    LashPatch* p = w->patch + i + WAVES * j;
    double h = 2.0 / WAVES;
    p->u_degree = p->v_degree = 3;
    p->first_pole = 16 * (i + WAVES * j);
    p->u0 = -1 + h * i;
    p->u1 = p->u0 + h;
    p->v0 = -1 + h * j;
    p->v1 = p->v0 + h;
    for (int m = 0; m < 4; ++m)
        for (int l = 0; l < 4; ++l) {
            int ci = l / 2, cj = m / 2; // nearest corner
            double x = ci ? p->u1 : p->u0, y = cj ? p->v1 : p->v0, d[3], z = height(w, x, y, d);
            const double offset[] = {0, h / 3, -h / 3, 0};
            double dx = offset[l], dy = offset[m];
            double* q = w->pole + 4 * (p->first_pole + l + 4 * m);
            q[0] = x + dx;
            q[1] = y + dy;
            q[2] = z + dx * d[0] + dy * d[1] + dx * dy * d[2];
            q[3] = 1;
        }
}

static void wavy_make(Wavy* w, double amplitude, double bow) {
    memset(w, 0, sizeof *w);
    w->amplitude = amplitude;
    w->bow = bow;
    LashFace* f = &w->face;
    f->type = LASH_FREEFORM;
    f->side = 1;
    f->x = vec3(1, 0, 0);
    f->y = vec3(0, 1, 0);
    f->z = vec3(0, 0, 1);
    f->u0 = f->v0 = -1;
    f->u1 = f->v1 = 1;
    f->u_patches = f->v_patches = WAVES;
    f->box.low = vec3(-1, -1, -amplitude - 2 * bow - 0.1);
    f->box.high = vec3(1, 1, amplitude + 0.1);
    for (int i = 0; i < WAVES * WAVES; ++i) wavy_patch(w, i % WAVES, i / WAVES);
    w->shape.face = f;
    w->shape.faces = 1;
    w->shape.patch = w->patch;
    w->shape.pole = w->pole;
    for (int i = 0; i <= GRID; ++i)
        for (int j = 0; j <= GRID; ++j)
            w->grid[i][j] = wavy_point(w, -1 + 2.0 * i / GRID, -1 + 2.0 * j / GRID);
}

static Vec3 wavy_point(const Wavy* w, double u, double v) { // own evaluation
    int i = (int)fmin(WAVES - 1, fmax(0, floor((u + 1) * WAVES / 2)));
    int j = (int)fmin(WAVES - 1, fmax(0, floor((v + 1) * WAVES / 2)));
    const LashPatch* p = w->patch + i + WAVES * j;
    double s = (u - p->u0) / (p->u1 - p->u0), t = (v - p->v0) / (p->v1 - p->v0), row[16];
    for (int m = 0; m < 4; ++m) {
        Vec3 q = casteljau(w->pole + 4 * (p->first_pole + 4 * m), 3, s);
        row[4 * m] = q.x;
        row[4 * m + 1] = q.y;
        row[4 * m + 2] = q.z;
        row[4 * m + 3] = 1;
    }
    return casteljau(row, 3, t);
}

static long poses(long normal, long many) {
    return getenv("LASH_LONG_TESTS") != NULL ? many : normal;
}

static LashPlacement placement_of(Pose p) {
    LashPlacement q = {quat_matrix(p.rot), p.r};
    return q;
}

// Global minimum over the wavy face of the signed distance from the elementary face o.
static double grid_minimum(const Wavy* w, const One* o, const LashPlacement* q, double best_uv[2]) {
    enum { N = GRID };
    static double value[N + 1][N + 1];
    double best = INFINITY, foot, lowest = INFINITY;
    for (int i = 0; i <= N; ++i)
        for (int j = 0; j <= N; ++j) {
            value[i][j] = one_distance(o, lash_place(q, w->grid[i][j]), &foot);
            lowest = fmin(lowest, value[i][j]);
        }
    for (int i = 0; i <= N; ++i)
        for (int j = 0; j <= N; ++j) {
            if (value[i][j] > fmin(best, lowest) + 0.05) continue;
            bool least = true;
            for (int di = -1; di <= 1 && least; ++di)
                for (int dj = -1; dj <= 1; ++dj) {
                    int k = i + di, l = j + dj;
                    if (k >= 0 && l >= 0 && k <= N && l <= N && value[k][l] < value[i][j])
                        least = false;
                }
            if (!least) continue;
            double u = -1 + 2.0 * i / N, v = -1 + 2.0 * j / N, h = 2.0 / N, f = value[i][j];
            for (int k = 0; k < 40; ++k) {
                double bu = u, bv = v;
                for (int a = -3; a <= 3; ++a)
                    for (int b = -3; b <= 3; ++b) {
                        double x = fmin(1, fmax(-1, u + h * a / 3)),
                               y = fmin(1, fmax(-1, v + h * b / 3));
                        double g = one_distance(o, lash_place(q, wavy_point(w, x, y)), &foot);
                        if (g < f) {
                            f = g;
                            bu = x;
                            bv = y;
                        }
                    }
                if (bu == u && bv == v) h *= 0.4;
                u = bu;
                v = bv;
            }
            if (f < best) {
                best = f;
                best_uv[0] = u;
                best_uv[1] = v;
            }
        }
    return best;
}

// An elementary face that the wavy one touches inside its rim: bores must be wide.
static void partner_make(One* b, Kind kind) {
    one_make(b, kind);
    if (kind != BORE) return;
    b->face.radius = 10;
    b->face.box.low = vec3(-10, -10, -2);
    b->face.box.high = vec3(10, 10, 2);
    b->feature = lash_feature_face(&b->shape, 0);
}

// A random pose of the wavy face that looks at b, from about where it touches.
static Pose pose_over(Random* r, const One* b, Vec3* up) {
    bool hollow = kind_hollow(b->kind), round = b->kind == SPHERE || b->kind == TORUS;
    double t = random_in(r, 0, 2 * LASH_PI), c = cos(b->face.half_angle);
    *up = vec3(cos(t), sin(t), 0);
    if (round) *up = random_direction(r);
    if (b->kind == PLANE) *up = vec3(0, 0, 1);
    if (b->kind == CONE) *up = vec3(c * cos(t), c * sin(t), -sin(b->face.half_angle));
    if (hollow) *up = vec3_neg(*up);
    Quat turn = quat_mul(quat_between(vec3(0, 0, -1), *up),
                         quat_from_axis_angle(vec3(0, 0, 1), random_in(r, 0, 6)));
    turn = quat_mul(quat_exp(vec3_scale(random_in(r, 0, 0.3), random_direction(r))), turn);
    return pose(vec3_add_scaled(vec3_scale(0.3, random_direction(r)),
                                hollow ? 0.7 - b->face.radius : 0.5, *up),
                turn);
}

// Wavy face a over an elementary face b, from above, at random attitudes.
static void deepest_point_of_a_wavy_face_is_never_missed(void** state) {
    (void)state;
    Random r = {3};
    static Wavy w;
    const Kind kinds[] = {PLANE, SPHERE, CYLINDER, TORUS, CONE, BORE};
    wavy_make(&w, 0.08, 0.1);
    LashFeature a = lash_feature_face(&w.shape, 0);
    lash_feature_prepare(&a);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
        One b;
        long compared = 0;
        partner_make(&b, kinds[i]);
        for (long k = 0; k < poses(40, 3000); ++k) {
            Vec3 up;
            Pose p = pose_over(&r, &b, &up);
            LashPlacement q = placement_of(p);
            double uv[2], foot, expected = grid_minimum(&w, &b, &q, uv);
            // bring the deepest point to a gap in [-0.05, 0.1]
            double target = random_in(&r, -0.05, 0.1);
            p.r = vec3_add_scaled(p.r, target - expected, up);
            q = placement_of(p);
            expected = grid_minimum(&w, &b, &q, uv);
            if (fmax(fabs(uv[0]), fabs(uv[1])) > 0.999 || expected > 0.3 || expected < -0.05)
                continue;
            Vec3 X = lash_place(&q, wavy_point(&w, uv[0], uv[1]));
            one_distance(&b, X, &foot);
            if (b.kind == PLANE ? fmax(fabs(X.x), fabs(X.y)) > 0.99
                                : !one_closed(&b, 1) && fabs(foot) > 0.59)
                continue;
            LashRoot roots[LASH_MAX_POINTS];
            LashKernelQuery query = {.limit = 0.4};
            int n = lash_kernel_roots(&a, &b.feature, &q, &query, roots);
            double best = INFINITY;
            for (int m = 0; m < n; ++m) best = fmin(best, roots[m].gap);
            if (!(fabs(best - expected) < 1e-10))
                print_message("wavy/%s: %.14g, grid %.14g at (%g, %g), %d roots\n",
                              kind_name[b.kind], best, expected, uv[0], uv[1], n);
            assert_true(fabs(best - expected) < 1e-10);
            ++compared;
        }
        if (getenv("LASH_VERBOSE")) print_message("%s: %ld\n", kind_name[b.kind], compared);
        assert_true(compared > 10);
        lash_feature_release(&b.feature);
    }
    lash_feature_release(&a);
}

// 10^6 poses per pair (on request): no point of a grid on the wavy face lies below the nearest
// root. A bound from above only, but fast; where the face touches at its rim there is no root.
static void no_sample_of_a_wavy_face_lies_below_the_nearest_root(void** state) {
    (void)state;
    enum { STEP = 5 };
    Random r = {17};
    static Wavy w;
    const Kind kinds[] = {PLANE, SPHERE, CYLINDER, TORUS, CONE, BORE};
    wavy_make(&w, 0.08, 0.1);
    w.face.reach = 0.1;
    LashFeature a = lash_feature_face(&w.shape, 0);
    lash_feature_prepare(&a);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
        One b;
        long compared = 0, unresolved = 0, count = poses(2000, 1000000);
        partner_make(&b, kinds[i]);
        for (long k = 0; k < count; ++k) {
            Vec3 up;
            Pose p = pose_over(&r, &b, &up);
            double least[2] = {INFINITY, INFINITY}, foot, foot_at = 0; // at the rim, inside
            Vec3 X = vec3_zero();
            for (int pass = 0; pass < 2; ++pass) { // the second at a gap in [-0.04, 0.1]
                if (pass == 1) p.r = vec3_add_scaled(p.r, random_in(&r, -0.04, 0.1) - least[1], up);
                LashPlacement q = placement_of(p);
                least[0] = least[1] = INFINITY;
                for (int m = 0; m <= GRID; m += STEP)
                    for (int n = 0; n <= GRID; n += STEP) {
                        Vec3 Y = lash_place(&q, w.grid[m][n]);
                        bool inside = m > 0 && n > 0 && m < GRID && n < GRID;
                        double d = one_distance(&b, Y, &foot);
                        if (d < least[inside]) {
                            least[inside] = d;
                            if (inside) {
                                foot_at = foot;
                                X = Y;
                            }
                        }
                    }
            }
            if (least[1] > least[0] - 0.03 || least[1] < -0.045) continue;
            if (b.kind == PLANE ? fmax(fabs(X.x), fabs(X.y)) > 0.9
                                : !one_closed(&b, 1) && fabs(foot_at) > 0.5)
                continue;
            LashPlacement q = placement_of(p);
            LashRoot roots[LASH_MAX_POINTS];
            LashWarm warm = {0};
            LashKernelQuery query = {.limit = least[1] + 1e-9, .warm = &warm};
            int n = lash_kernel_roots(&a, &b.feature, &q, &query, roots);
            double nearest = INFINITY;
            for (int m = 0; m < n; ++m) nearest = fmin(nearest, roots[m].gap);
            if (!(nearest <= least[1] + 1e-12)) { // has the minimum slipped off the face b?
                double uv[2] = {0, 0}, low = grid_minimum(&w, &b, &q, uv);
                one_distance(&b, lash_place(&q, wavy_point(&w, uv[0], uv[1])), &foot);
                if (!one_closed(&b, 1) && b.kind != PLANE && fabs(foot) > 0.59) continue;
                print_message("wavy/%s: sample %.14g, dense grid %.14g below the root %.14g\n",
                              kind_name[b.kind], least[1], low, nearest);
                assert_true(nearest <= least[1] + 1e-12);
            }
            ++compared;
            unresolved += warm.unresolved > 0;
        }
        if (getenv("LASH_VERBOSE"))
            print_message("%s: %ld compared, %ld searches with unproven boxes\n", kind_name[b.kind],
                          compared, unresolved);
        assert_true(compared > count / 5);
        lash_feature_release(&b.feature);
    }
    lash_feature_release(&a);
}

// ---- freeform against freeform, edges and vertices ----------------------------------------------

// Smallest vertical-ish distance is not what we want: true minimum over both surfaces by
// alternating zooms from a grid of starts.
static double two_surface_minimum(const Wavy* a, const Wavy* b, const LashPlacement* q,
                                  double uv[4]) {
    enum { N = 40, STEP = GRID / N };
    static double d2[N + 1][N + 1], at[N + 1][N + 1][2];
    double best = INFINITY;
    for (int i = 0; i <= N; ++i)
        for (int j = 0; j <= N; ++j) { // nearest grid point of b
            Vec3 p = lash_place(q, a->grid[STEP * i][STEP * j]);
            d2[i][j] = INFINITY;
            for (int k = 0; k <= N; ++k)
                for (int l = 0; l <= N; ++l) {
                    double e = vec3_norm_squared(vec3_sub(p, b->grid[STEP * k][STEP * l]));
                    if (e < d2[i][j]) {
                        d2[i][j] = e;
                        at[i][j][0] = -1 + 2.0 * k / N;
                        at[i][j][1] = -1 + 2.0 * l / N;
                    }
                }
        }
    for (int i = 0; i <= N; ++i)
        for (int j = 0; j <= N; ++j) { // from the minima refine all four parameters
            bool least = true;
            for (int k = i - 1; k <= i + 1; ++k)
                for (int l = j - 1; l <= j + 1; ++l)
                    if (k >= 0 && l >= 0 && k <= N && l <= N && d2[k][l] < d2[i][j]) least = false;
            double d = sqrt(d2[i][j]), h = 2.0 / N;
            if (!least || d > best + 0.12) continue;
            double x[4] = {-1 + 2.0 * i / N, -1 + 2.0 * j / N, at[i][j][0], at[i][j][1]};
            for (int k = 0; k < 2000 && h > 1e-9; ++k) { // compass search
                bool moved = false;
                for (int c = 0; c < 4; ++c)
                    for (int t = -1; t <= 1; t += 2) {
                        double y[4] = {x[0], x[1], x[2], x[3]};
                        y[c] = fmin(1, fmax(-1, y[c] + t * h));
                        double e = vec3_distance(lash_place(q, wavy_point(a, y[0], y[1])),
                                                 wavy_point(b, y[2], y[3]));
                        if (e < d) {
                            d = e;
                            memcpy(x, y, sizeof x);
                            moved = true;
                        }
                    }
                if (!moved) h *= 0.5;
            }
            if (d < best) {
                best = d;
                memcpy(uv, x, sizeof x);
            }
        }
    return best;
}

static void two_wavy_faces_have_the_distance_of_a_dense_search(void** state) {
    (void)state;
    Random r = {8};
    static Wavy a, b;
    wavy_make(&a, 0.05, 0.15);
    wavy_make(&b, 0.06, 0.12);
    LashFeature fa = lash_feature_face(&a.shape, 0), fb = lash_feature_face(&b.shape, 0);
    lash_feature_prepare(&fa);
    lash_feature_prepare(&fb);
    int compared = 0;
    for (long k = 0; k < poses(6, 200); ++k) {
        Quat turn = quat_mul(quat_exp(vec3_scale(random_in(&r, 0, 0.3), random_direction(&r))),
                             quat_mul(quat_from_axis_angle(vec3(0, 0, 1), random_in(&r, 0, 6)),
                                      quat_from_axis_angle(vec3(1, 0, 0), LASH_PI)));
        Pose p =
            pose(vec3(random_in(&r, -0.3, 0.3), random_in(&r, -0.3, 0.3), random_in(&r, 0.15, 0.3)),
                 turn);
        LashPlacement q = placement_of(p);
        double uv[4], expected = two_surface_minimum(&a, &b, &q, uv), edge = 0;
        for (int c = 0; c < 4; ++c) edge = fmax(edge, fabs(uv[c]));
        if (edge > 0.99 || expected < 0.01) continue;
        LashRoot roots[LASH_MAX_POINTS];
        LashKernelQuery query = {.limit = expected + 0.05};
        int n = lash_kernel_roots(&fa, &fb, &q, &query, roots);
        double best = INFINITY;
        for (int m = 0; m < n; ++m)
            if (roots[m].gap > 0) best = fmin(best, roots[m].gap);
        if (!(best < expected + 1e-10 && best > expected - 1e-6))
            print_message("%.14g, search %.14g, %d roots\n", best, expected, n);
        assert_true(best < expected + 1e-10 && best > expected - 1e-6);
        ++compared;
    }
    assert_true(compared >= 2);
    lash_feature_release(&fa);
    lash_feature_release(&fb);
}

// A vertex and a circle over the wavy face: nearest points, by dense search, from both sides.
static void vertex_and_edge_find_the_nearest_point_of_a_wavy_face(void** state) {
    (void)state;
    Random r = {6};
    static Wavy w;
    wavy_make(&w, 0.06, 0.1);
    LashFeature b = lash_feature_face(&w.shape, 0);
    lash_feature_prepare(&b);
    One vertex;
    one_make(&vertex, VERTEX);
    int compared = 0;
    for (long k = 0; k < poses(300, 100000); ++k) {
        Pose p =
            pose(vec3(random_in(&r, -0.8, 0.8), random_in(&r, -0.8, 0.8), 0), random_rotation(&r));
        double d[3];
        p.r.z = height(&w, p.r.x, p.r.y, d) + random_in(&r, -0.05, 0.2);
        double best = INFINITY, u = 0, v = 0, h = 0.02;
        for (int i = 0; i <= GRID; ++i)
            for (int j = 0; j <= GRID; ++j) {
                double e = vec3_norm_squared(vec3_sub(p.r, w.grid[i][j]));
                if (e < best) {
                    best = e;
                    u = -1 + 2.0 * i / GRID;
                    v = -1 + 2.0 * j / GRID;
                }
            }
        best = sqrt(best);
        for (int i = 0; i < 200 && h > 1e-10; ++i) {
            double bu = u, bv = v;
            for (int a = -2; a <= 2; ++a)
                for (int c = -2; c <= 2; ++c) {
                    double e = vec3_distance(p.r, wavy_point(&w, u + h * a / 2, v + h * c / 2));
                    if (e < best) {
                        best = e;
                        bu = u + h * a / 2;
                        bv = v + h * c / 2;
                    }
                }
            if (bu == u && bv == v) h *= 0.5;
            u = bu;
            v = bv;
        }
        if (fmax(fabs(u), fabs(v)) > 0.99) continue;
        double side = p.r.z > wavy_point(&w, p.r.x, p.r.y).z ? 1 : -1, gap = INFINITY;
        LashPlacement q = placement_of(p);
        LashRoot roots[LASH_MAX_POINTS];
        LashKernelQuery query = {.limit = 0.5};
        int n = lash_kernel_roots(&vertex.feature, &b, &q, &query, roots);
        for (int m = 0; m < n; ++m)
            if (fabs(roots[m].gap) < fabs(gap)) gap = roots[m].gap;
        if (!(fabs(gap - side * best) < 1e-9))
            print_message("vertex: %.14g, grid %.14g, %d roots\n", gap, side * best, n);
        assert_true(fabs(gap - side * best) <
                    1e-9); // the grid is good to 1e-9 here, the sign is exact
        ++compared;
    }
    assert_true(compared > 100);
    lash_feature_release(&b);
}

static int by_size(const void* x, const void* y) {
    double a = *(const double*)x, b = *(const double*)y;
    return (a > b) - (a < b);
}

// Gaps of all points of a query, ascending; the unused ones infinite.
static int all_gaps(const LashPair* pair, LashPairWork* work, Pose a, double gap[16]) {
    LashContactPoint p[16];
    int n = lash_pair_query(pair, work, a, pose_identity(), 0.05, p, 16);
    for (int i = 0; i < 16; ++i) gap[i] = i < n ? p[i].gap : INFINITY;
    qsort(gap, 16, sizeof *gap, by_size);
    return n;
}

// Along a smooth motion through contact over hills and valleys, where contacts are born and vanish
// at folds: the candidates that the pair manager keeps give what a search of all cells gives.
static void a_list_of_cells_gives_what_a_search_gives_bit_for_bit(void** state) {
    (void)state;
    static Wavy w;
    wavy_make(&w, 0.15, 0.05);
    LashShape* ball = lash_shape_sphere(0.6);
    LashPairDef def = lash_pair_def();
    def.a.shape = ball;
    def.b.shape = &w.shape;
    LashPair* pair = lash_pair_create(&def);
    LashPairWork *work = lash_pair_work_create(pair), *fresh = lash_pair_work_create(pair);
    double last = INFINITY;
    int touching = 0, born = 0, points = 0;
    for (int i = 0; i < poses(3000, 100000); ++i) {
        double t = 2e-3 * i, d[3];
        Pose a = pose(vec3(0.5 * sin(t), 0.5 * cos(1.3 * t), 0), quat_identity());
        a.r.z = height(&w, a.r.x, a.r.y, d) + 0.66 + 0.05 * sin(5 * t);
        double kept[16], searched[16];
        int n = all_gaps(pair, work, a, kept);
        lash_pair_work_reset(fresh);
        int m = all_gaps(pair, fresh, a, searched);
        if (n != m || memcmp(kept, searched, sizeof kept) != 0)
            print_message("step %d: listed %d points, %.17g, searched %d, %.17g\n", i, n, kept[0],
                          m, searched[0]);
        assert_int_equal(n, m);
        assert_memory_equal(kept, searched, sizeof kept);
        if (isfinite(last) && isfinite(kept[0])) assert_true(fabs(kept[0] - last) < 4e-3);
        last = kept[0];
        touching += kept[0] < 0;
        born += i > 0 && n > points;
        points = n;
    }
    assert_true(touching > 100 && born > 3);
    lash_pair_work_destroy(work);
    lash_pair_work_destroy(fresh);
    lash_pair_destroy(pair);
    lash_shape_destroy(ball);
}

typedef struct Bar { // the wave z = f(x) over [-1, 1], moved along an axis
    LashShape shape;
    LashFace face;
    LashPatch patch[WAVES];
    double pole[WAVES * 32];
} Bar;

// bent: one pole is off by so much that the face is no longer a moved profile.
static void bar_make(Bar* bar, double amplitude, Vec3 axis, double bent) {
    memset(bar, 0, sizeof *bar);
    double h = 2.0 / WAVES, k = 3;
    bar->face.type = LASH_FREEFORM;
    bar->face.side = 1;
    bar->face.u0 = bar->face.v0 = -1;
    bar->face.u1 = bar->face.v1 = 1;
    bar->face.u_patches = WAVES;
    bar->face.v_patches = 1;
    bar->face.box = (LashBox){vec3(-3, -3, -3), vec3(3, 3, 3)};
    for (int i = 0; i < WAVES; ++i) {
        bar->patch[i] = (LashPatch){3, 1, 8 * i, -1 + h * i, -1 + h * (i + 1), -1, 1};
        for (int j = 0; j < 8; ++j) {
            double x = -1 + h * (i + (j % 4) / 2), dx = h / 3 * (j % 4 == 1) - h / 3 * (j % 4 == 2);
            double z = amplitude * sin(k * x) - 0.1 * x * x;
            z += dx * (amplitude * k * cos(k * x) - 0.2 * x);
            Vec3 p = vec3_add_scaled(vec3(x + dx, 0, z), j < 4 ? -1 : 1, axis);
            double pole[4] = {p.x, p.y, p.z, 1};
            memcpy(bar->pole + 4 * (8 * i + j), pole, sizeof pole);
        }
    }
    bar->pole[4 * 9 + 1] += bent;
    bar->shape.face = &bar->face;
    bar->shape.faces = 1;
    bar->shape.patch = bar->patch;
    bar->shape.patches = WAVES;
    bar->shape.pole = bar->pole;
    bar->shape.poles = 8 * WAVES;
}

static double nearest_of(const LashRoot* roots, int n, const LashRoot* to) {
    double best = INFINITY;
    for (int i = 0; i < n; ++i)
        best = fmin(best, fabs(roots[i].gap - to->gap) +
                              1e-3 * vec3_distance(roots[i].point_b, to->point_b));
    return best;
}

// Seen along its axis, or as any other free face.
static void an_extruded_face_has_the_contacts_of_a_free_one(void** state) {
    (void)state;
    static Bar bar, bent, other;
    Random r = {91};
    Vec3 axis = vec3(0.1, 0.9, 0.2);
    const double off = 1e-10;
    bar_make(&bar, 0.15, axis, 0);
    bar_make(&bent, 0.15, axis, off);
    bar_make(&other, 0.1, vec3(0, 0.8, 0), 0);
    LashFeature b = lash_feature_face(&bar.shape, 0), c = lash_feature_face(&bent.shape, 0);
    lash_feature_prepare(&b);
    lash_feature_prepare(&c);
    assert_true(lash_feature_is_extruded(&b) && !lash_feature_is_extruded(&c));
    for (int kind = 0; kind <= KINDS; ++kind) {
        One one;
        LashFeature a = lash_feature_face(&other.shape, 0);
        if (kind < KINDS) one_make(&one, (Kind)kind);
        if (kind < KINDS) lash_feature_release(&one.feature);
        if (kind < KINDS) a = one.feature;
        lash_feature_prepare(&a);
        int compared = 0, wanted = (int)poses(60, 4000);
        double depth = 0.9 * fmin(lash_kernel_reach(&a, &b), fmin(a.size, b.size));
        bool never = lash_kernel_slots(&a, &b) == 0;
        for (int k = 0; k < 40 * wanted && compared < wanted && !never; ++k) {
            LashRoot x[LASH_MAX_POINTS], y[LASH_MAX_POINTS];
            LashKernelQuery query = {.limit = 0.3};
            Vec3 at =
                vec3(random_in(&r, -0.8, 0.8), random_in(&r, -0.6, 0.6), random_in(&r, -0.2, 1.2));
            LashPlacement q = placement_of(pose(at, random_rotation(&r)));
            int n = lash_kernel_roots(&a, &b, &q, &query, x);
            int m = lash_kernel_roots(&a, &c, &q, &query, y);
            compared += n > 0;
            if (n == LASH_MAX_POINTS || m == LASH_MAX_POINTS) continue; // of many some
            for (int i = 0; i < n + m; ++i) {
                const LashRoot* root = i < n ? x + i : y + i - n;
                if (root->boundary || root->gap > 0.299 || root->gap < -depth) continue;
                double d = i < n ? nearest_of(y, m, root) : nearest_of(x, n, root);
                if (d > 1e-6)
                    print_message("kind %d pose %d: gap %.12g of %d, %d, off by %g\n", kind, k,
                                  root->gap, n, m, d);
                assert_true(d <= 1e-6);
            }
        }
        assert_true(never || compared > 0 || (kind < KINDS && kind_hollow((Kind)kind)));
        lash_feature_release(&a);
    }
    lash_feature_release(&b);
    lash_feature_release(&c);
}

typedef struct Tube { // a cylinder of radius 0.5 along z, as four rational patches closed in v
    LashShape shape;
    LashFace face;
    LashPatch patch[4];
    double pole[4 * 6 * 4];
} Tube;

static void tube_make(Tube* t) {
    memset(t, 0, sizeof *t);
    LashFace* f = &t->face;
    f->type = LASH_FREEFORM;
    f->side = -1; // Su x Sv points to the axis
    f->u0 = -1;
    f->u1 = 1;
    f->v1 = 4;
    f->v_closed = true;
    f->u_patches = 1;
    f->v_patches = 4;
    f->box.low = vec3(-0.5, -0.5, -1);
    f->box.high = vec3(0.5, 0.5, 1);
    for (int k = 0; k < 4; ++k) {
        LashPatch* p = t->patch + k;
        p->u_degree = 1;
        p->v_degree = 2;
        p->first_pole = 6 * k;
        p->u0 = -1;
        p->u1 = 1;
        p->v0 = k;
        p->v1 = k + 1;
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 2; ++i) { // the middle pole: corner of the square, weight 1/sqrt 2
                double a = 0.5 * LASH_PI * (k + 0.5 * j), r = j == 1 ? 0.5 * sqrt(2) : 0.5;
                double* q = t->pole + 4 * (6 * k + i + 2 * j);
                q[0] = r * cos(a);
                q[1] = r * sin(a);
                q[2] = i ? 1 : -1;
                q[3] = j == 1 ? sqrt(0.5) : 1;
            }
    }
    t->shape.face = f;
    t->shape.faces = 1;
    t->shape.patch = t->patch;
    t->shape.pole = t->pole;
}

// A ball rolls round the tube: one root all the way, also where v jumps from 4 to 0.
static void root_is_followed_across_the_seam_of_a_face_closed_in_v(void** state) {
    (void)state;
    static Tube t;
    tube_make(&t);
    LashFeature b = lash_feature_face(&t.shape, 0);
    lash_feature_prepare(&b);
    One ball;
    one_make(&ball, SPHERE);
    LashWarm warm = {0};
    for (int k = 0; k < 2000; ++k) {
        double a = 5 + 0.01 * k, r = 0.8 + 0.01 * sin(0.1 * k);
        LashPlacement q = placement_of(pose(vec3(r * cos(a), r * sin(a), 0.1), quat_identity()));
        LashRoot roots[LASH_MAX_POINTS];
        LashKernelQuery query = {.limit = 0.1, .warm = &warm};
        int n = lash_kernel_roots(&ball.feature, &b, &q, &query, roots);
        if (n != 1) print_message("step %d: %d roots\n", k, n);
        assert_int_equal(n, 1);
        assert_true(fabs(roots[0].gap - (r - 0.8)) < 1e-12);
        query.warm = NULL;
        assert_int_equal(lash_kernel_roots(&ball.feature, &b, &q, &query, roots), 1);
        assert_true(fabs(roots[0].gap - (r - 0.8)) < 1e-12);
    }
    lash_feature_release(&b);
}

static void derivatives_of_a_patch_equal_differences(void** state) {
    (void)state;
    Random r = {2};
    static One o;
    one_make(&o, FREEFORM);
    for (int k = 0; k < 200; ++k) {
        double u = random_in(&r, 0.05, 0.95), v = random_in(&r, 0.05, 0.95), h = 1e-5;
        LashSurfacePoint s = lash_face_point(&o.shape, &o.face, u, v);
        LashSurfacePoint up = lash_face_point(&o.shape, &o.face, u + h, v),
                         um = lash_face_point(&o.shape, &o.face, u - h, v);
        LashSurfacePoint vp = lash_face_point(&o.shape, &o.face, u, v + h),
                         vm = lash_face_point(&o.shape, &o.face, u, v - h);
        assert_true(vec3_distance(s.p, one_point(&o, u, v)) < 1e-15 * 8);
        assert_true(vec3_distance(s.u, vec3_scale(0.5 / h, vec3_sub(up.p, um.p))) < 1e-9);
        assert_true(vec3_distance(s.v, vec3_scale(0.5 / h, vec3_sub(vp.p, vm.p))) < 1e-9);
        assert_true(vec3_distance(s.uu, vec3_scale(0.5 / h, vec3_sub(up.u, um.u))) < 1e-8);
        assert_true(vec3_distance(s.uv, vec3_scale(0.5 / h, vec3_sub(up.v, um.v))) < 1e-8);
        assert_true(vec3_distance(s.vv, vec3_scale(0.5 / h, vec3_sub(vp.v, vm.v))) < 1e-8);
        double su, sv;
        lash_patch_speed(&o.shape, &o.patch, &su, &sv);
        assert_true(vec3_norm(s.u) <= su && vec3_norm(s.v) <= sv);
    }
    lash_feature_release(&o.feature);
}

// Largest convex curvature of the wavy face at (u, v), by differences.
static double wavy_curvature(const Wavy* w, double u, double v) {
    double h = 1e-4;
    Vec3 p[3][3];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) p[i][j] = wavy_point(w, u + h * (i - 1), v + h * (j - 1));
    Vec3 s = vec3_scale(0.5 / h, vec3_sub(p[2][1], p[0][1]));
    Vec3 t = vec3_scale(0.5 / h, vec3_sub(p[1][2], p[1][0]));
    Vec3 n = vec3_normalize(vec3_cross(s, t)), twice = vec3_scale(2, p[1][1]);
    Vec3 ss = vec3_sub(vec3_add(p[2][1], p[0][1]), twice);
    Vec3 tt = vec3_sub(vec3_add(p[1][2], p[1][0]), twice);
    Vec3 st = vec3_sub(vec3_add(p[2][2], p[0][0]), vec3_add(p[2][0], p[0][2]));
    double L = -vec3_dot(n, ss) / (h * h), N = -vec3_dot(n, tt) / (h * h);
    double M = -vec3_dot(n, st) / (4 * h * h), E = vec3_dot(s, s), F = vec3_dot(s, t);
    double G = vec3_dot(t, t), det = E * G - F * F, mean = 0.5 * (G * L - 2 * F * M + E * N) / det;
    return mean + sqrt(fmax(0, mean * mean - (L * N - M * M) / det));
}

// No place is more curved than the reach allows, and it is not much less than it could be.
static void reach_of_a_free_face_is_bounded_by_its_curvature(void** state) {
    (void)state;
    static Wavy w;
    static Tube t;
    bool proven;
    for (int k = 0; k < 4; ++k) {
        wavy_make(&w, 0.02 + 0.03 * k, 0.1 * (k - 1));
        LashFeature f = lash_feature_face(&w.shape, 0);
        lash_feature_prepare(&f);
        double reach = lash_cells_reach(&f, &proven), most = 0;
        for (int i = 1; i < 200; ++i) // off the seams, where the curvature jumps
            for (int j = 1; j < 200; ++j)
                if (i % 50 && j % 50)
                    most = fmax(most, wavy_curvature(&w, -1 + 0.01 * i, -1 + 0.01 * j));
        if (!proven || !(reach * most < 1 && reach * most > 0.75))
            print_message("reach %g, radius of curvature %g\n", reach, 1 / most);
        assert_true(proven && reach * most < 1 && reach * most > 0.75);
        assert_true(f.reach == reach);
        lash_feature_release(&f);
    }
    tube_make(&t);
    LashFeature f = lash_feature_face(&t.shape, 0);
    lash_feature_prepare(&f);
    double reach = lash_cells_reach(&f, &proven);
    assert_true(reach > 0.39 && reach < 0.5);
    lash_feature_release(&f);
    t.face.side = 1; // a bore: hollow everywhere
    f = lash_feature_face(&t.shape, 0);
    lash_feature_prepare(&f);
    assert_true(isinf(lash_cells_reach(&f, &proven)));
    lash_feature_release(&f);
}

RUN(TEST(derivatives_of_a_patch_equal_differences),
    TEST(root_is_followed_across_the_seam_of_a_face_closed_in_v),
    TEST(reach_of_a_free_face_is_bounded_by_its_curvature),
    TEST(deepest_point_of_a_wavy_face_is_never_missed),
    TEST(no_sample_of_a_wavy_face_lies_below_the_nearest_root),
    TEST(two_wavy_faces_have_the_distance_of_a_dense_search),
    TEST(vertex_and_edge_find_the_nearest_point_of_a_wavy_face),
    TEST(an_extruded_face_has_the_contacts_of_a_free_one),
    TEST(a_list_of_cells_gives_what_a_search_gives_bit_for_bit))
