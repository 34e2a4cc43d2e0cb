// Proven lower bounds on the distance of two features against the distances of points on them.
#include "test.h"

#include "geometry/kernels/bounds.h"
#include "geometry/kernels/kernels_internal.h"
#include "geometry/kernels/trim.h"
#include "geometry/shape.h"

enum { GRID = 7, MOST = GRID * GRID, FEATURES = 32 };

typedef struct Sampled {
    LashFeature feature;
    Vec3 point[MOST];
    int points;
} Sampled;

static double random_in(uint64_t* state, double low, double high) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*state >> 11) / 9007199254740992.0;
}

static int sample_shape(const LashShape* s, Sampled* out) {
    int n = 0;
    for (int i = 0; i < s->faces; ++i, ++n) {
        const LashFace* f = s->face + i;
        out[n] = (Sampled){.feature = lash_feature_face(s, i)};
        for (int k = 0; k < MOST; ++k) {
            double u = f->u0 + (f->u1 - f->u0) * (k % GRID) / (GRID - 1.0);
            double v = f->v0 + (f->v1 - f->v0) * (k / GRID) / (GRID - 1.0);
            if (lash_trim_parameters(s, f, u, v, 1e-12) == LASH_OUTSIDE) continue;
            out[n].point[out[n].points++] = lash_face_point(s, f, u, v).p;
        }
    }
    for (int i = 0; i < s->edges; ++i, ++n) {
        const LashEdge* e = s->edge + i;
        out[n] = (Sampled){.feature = lash_feature_edge(s, i)};
        for (int k = 0; k < MOST; ++k)
            out[n].point[out[n].points++] =
                lash_edge_point(s, e, e->t0 + (e->t1 - e->t0) * k / (MOST - 1.0)).p;
    }
    for (int i = 0; i < s->vertices; ++i, ++n)
        out[n] = (Sampled){
            .feature = lash_feature_vertex(s, i), .point = {s->vertex[i].point}, .points = 1};
    assert_true(n <= FEATURES);
    return n;
}

static double least_distance(const Sampled* a, const Sampled* b, const LashPlacement* b_a) {
    double least = INFINITY;
    for (int i = 0; i < a->points; ++i) {
        Vec3 p = lash_place(b_a, a->point[i]);
        for (int k = 0; k < b->points; ++k) {
            double d = vec3_norm_squared(vec3_sub(p, b->point[k]));
            least = d < least ? d : least;
        }
    }
    return sqrt(least);
}

static void bounds_are_never_larger_than_a_distance(void** state) {
    (void)state;
    LashShape* shape[5] = {lash_shape_box(vec3(0.3, 0.5, 0.7)), lash_shape_cylinder(0.3, 0.5),
                           lash_shape_sphere(0.35), lash_shape_capsule(0.2, 0.4),
                           lash_shape_ring(0.4, 0.6, 0.5)};
    static Sampled side[5][FEATURES];
    int count[5], useful = 0;
    uint64_t random = 7;
    for (int i = 0; i < 5; ++i) count[i] = sample_shape(shape[i], side[i]);
    for (int trial = 0; trial < 600; ++trial) {
        int i = trial % 5, k = trial / 5 % 5;
        double far = random_in(&random, 0, 1.2);
        LashPlacement b_a;
        b_a.rot =
            quat_matrix(quat_normalize(quat(random_in(&random, -1, 1), random_in(&random, -1, 1),
                                            random_in(&random, -1, 1), random_in(&random, -1, 1))));
        b_a.r = vec3(random_in(&random, -far, far), random_in(&random, -far, far),
                     random_in(&random, -far, far));
        for (int m = 0; m < count[i]; ++m) {
            for (int n = 0; n < count[k]; ++n) {
                const Sampled *a = &side[i][m], *b = &side[k][n];
                if (a->points == 0 || b->points == 0) continue;
                double bound = lash_feature_bound(&a->feature, &b->feature, &b_a);
                assert_true(bound <= least_distance(a, b, &b_a) + 1e-12);
                useful += bound > 0;
            }
        }
    }
    assert_true(useful > 10000);
    for (int i = 0; i < 5; ++i) lash_shape_destroy(shape[i]);
}

// Where the closed forms are sharp the bound is the distance.
static void bounds_of_skeletons_are_sharp(void** state) {
    (void)state;
    LashShape *pin = lash_shape_cylinder(0.1, 1), *ring = lash_shape_ring(0.4, 0.6, 0.5),
              *box = lash_shape_box(vec3(0.2, 0.2, 0.2));
    int bore = 0;
    while (ring->face[bore].type != LASH_CYLINDER || ring->face[bore].side > 0) ++bore;
    LashFeature hole = lash_feature_face(ring, bore), corner = lash_feature_vertex(box, 0);
    int mantle = 0;
    while (pin->face[mantle].type != LASH_CYLINDER) ++mantle;
    LashFeature shaft = lash_feature_face(pin, mantle);
    LashPlacement turned = {.rot = quat_matrix(quat_exp(vec3(0, 0, 0.6))), .r = {0.02, 0.01, 0}};
    Vec3 p = lash_place(&turned, corner.origin);
    double gap = 0.4 - hypot(p.x, p.y);
    assert_true(fabs(lash_feature_bound(&corner, &hole, &turned) - gap) < 1e-11);
    gap = 0.4 - 0.1 - hypot(0.02, 0.01); // the shaft in the hole, parallel
    assert_true(fabs(lash_feature_bound(&shaft, &hole, &turned) - gap) < 1e-11);
    turned.r = vec3(0.5, 0.4, 0.1);
    p = lash_place(&turned, corner.origin);
    gap = hypot(p.x, p.y) - 0.1;
    assert_true(fabs(lash_feature_bound(&corner, &shaft, &turned) - gap) < 1e-11);
    lash_shape_destroy(pin);
    lash_shape_destroy(ring);
    lash_shape_destroy(box);
}

RUN(TEST(bounds_are_never_larger_than_a_distance), TEST(bounds_of_skeletons_are_sharp))
