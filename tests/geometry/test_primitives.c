// Primitive shapes: tables are consistent, mass properties exact, meshes closed.
#include "test.h"

#include "core/math3.h"
#include "geometry/kernels/bezier.h"
#include "geometry/kernels/trim.h"
#include "geometry/shape.h"
#include "tests/geometry_oracle.h"

static const Solid solids[] = {
    {SOLID_BOX, {0.5, 0.4, 0.3}},   {SOLID_CYLINDER, {0.4, 0.5, 0}}, {SOLID_SPHERE, {0.5, 0, 0}},
    {SOLID_CAPSULE, {0.3, 0.4, 0}}, {SOLID_RING, {0.45, 0.7, 0.3}},
};
enum { SOLIDS = 5 };

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

// Volume integrals by Gauss-Legendre in the natural coordinates of each solid.
typedef struct Integrals {
    double volume, xx, yy, zz;
} Integrals;

static void add_box(Integrals* s, double w, Vec3 p) {
    s->volume += w;
    s->xx += w * p.x * p.x;
    s->yy += w * p.y * p.y;
    s->zz += w * p.z * p.z;
}

// Rings of the profile rho in [inner(z), outer(z)].
static void add_revolved(Integrals* s, const Solid* solid, double z0, double z1) {
    static const double x[5] = {-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831,
                                0.9061798459386640};
    static const double w[5] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889,
                                0.4786286704993665, 0.2369268850561891};
    for (int i = 0; i < 5; ++i) {
        double z = 0.5 * (z0 + z1) + 0.5 * (z1 - z0) * x[i], half = 0.5 * (z1 - z0) * w[i];
        double inner = solid->kind == SOLID_RING ? solid->p[0] : 0, outer2 = 0;
        switch (solid->kind) {
            case SOLID_CYLINDER:
                outer2 = solid->p[0] * solid->p[0];
                break;
            case SOLID_SPHERE:
                outer2 = solid->p[0] * solid->p[0] - z * z;
                break;
            case SOLID_CAPSULE: {
                double over = fmax(fabs(z) - solid->p[1], 0);
                outer2 = solid->p[0] * solid->p[0] - over * over;
                break;
            }
            case SOLID_RING:
                outer2 = solid->p[1] * solid->p[1];
                break;
            default:
                break;
        }
        double inner2 = inner * inner, area = LASH_PI * (outer2 - inner2);
        double moment =
            LASH_PI / 4 * (outer2 * outer2 - inner2 * inner2); // of x^2 over the annulus
        s->volume += half * area;
        s->xx += half * moment;
        s->yy += half * moment;
        s->zz += half * area * z * z;
    }
}

static Integrals integrals_of(const Solid* s) {
    Integrals r = {0, 0, 0, 0};
    const double* p = s->p;
    double g = 1 / sqrt(3);
    switch (s->kind) {
        case SOLID_BOX: // two Gauss points per direction are exact
            for (int i = 0; i < 8; ++i)
                add_box(&r, p[0] * p[1] * p[2],
                        vec3((i & 1 ? g : -g) * p[0], (i & 2 ? g : -g) * p[1],
                             (i & 4 ? g : -g) * p[2]));
            break;
        case SOLID_CYLINDER:
            add_revolved(&r, s, -p[1], p[1]);
            break;
        case SOLID_SPHERE:
            add_revolved(&r, s, -p[0], p[0]);
            break;
        case SOLID_CAPSULE:
            add_revolved(&r, s, -p[1] - p[0], -p[1]);
            add_revolved(&r, s, -p[1], p[1]);
            add_revolved(&r, s, p[1], p[1] + p[0]);
            break;
        case SOLID_RING:
            add_revolved(&r, s, -p[2], p[2]);
            break;
    }
    return r;
}

static void mass_properties_equal_quadrature_to_1e_12(void** state) {
    (void)state;
    for (int i = 0; i < SOLIDS; ++i) {
        LashShape* s = shape_of(solids + i);
        const LashShapePart* part = s->part;
        Integrals r = integrals_of(solids + i);
        assert_true(fabs(part->volume / r.volume - 1) < 1e-12);
        assert_true(fabs(part->inertia.m[0] / (r.yy + r.zz) - 1) < 1e-12);
        assert_true(fabs(part->inertia.m[4] / (r.xx + r.zz) - 1) < 1e-12);
        assert_true(fabs(part->inertia.m[8] / (r.xx + r.yy) - 1) < 1e-12);
        assert_true(part->closed && part->valid && !part->inward);
        lash_shape_destroy(s);
    }
}

static void faces_lie_on_the_solid_and_point_outward(void** state) {
    (void)state;
    Random random = {3};
    for (int i = 0; i < SOLIDS; ++i) {
        LashShape* s = shape_of(solids + i);
        for (int f = 0; f < s->faces; ++f)
            for (int k = 0; k < 200; ++k) {
                const LashFace* face = s->face + f;
                double u = random_in(&random, face->u0, face->u1),
                       v = random_in(&random, face->v0, face->v1);
                if (lash_trim_parameters(s, face, u, v, 1e-9) != LASH_INSIDE) continue;
                LashSurfacePoint p = lash_face_point(s, face, u, v);
                Vec3 n = lash_face_normal(face, p.p);
                assert_true(fabs(solid_distance(solids + i, p.p)) < 1e-14);
                assert_true(solid_distance(solids + i, vec3_add_scaled(p.p, 1e-6, n)) > 0.9e-6);
                assert_true(vec3_dot(vec3_cross(p.u, p.v), n) * face->side >= 0);
                double pu, pv;
                lash_face_parameters(face, p.p, &pu, &pv);
                assert_true(fabs(pv - v) < 1e-12 && fabs(remainder(pu - u, 2 * LASH_PI)) < 1e-9);
            }
        lash_shape_destroy(s);
    }
}

static void edges_join_their_faces(void** state) {
    (void)state;
    for (int i = 0; i < SOLIDS; ++i) {
        LashShape* s = shape_of(solids + i);
        for (int k = 0; k < s->edges; ++k) {
            const LashEdge* e = s->edge + k;
            for (int j = 0; j <= 8; ++j) {
                LashCurvePoint c = lash_edge_point(s, e, e->t0 + (e->t1 - e->t0) * j / 8);
                for (int side = 0; side < 2; ++side) {
                    assert_true(fabs(lash_face_distance(s->face + e->face[side], c.p)) < 1e-14);
                    assert_int_equal(lash_trim_point(s, s->face + e->face[side], c.p, 1e-9),
                                     LASH_BORDER);
                }
            }
            for (int end = 0; end < 2; ++end)
                if (e->vertex[end] >= 0)
                    assert_true(vec3_distance(lash_edge_point(s, e, end ? e->t1 : e->t0).p,
                                              s->vertex[e->vertex[end]].point) < 1e-15);
        }
        lash_shape_destroy(s);
    }
}

static void coedges_follow_their_edges(void** state) {
    (void)state;
    for (int i = 0; i < SOLIDS; ++i) {
        LashShape* s = shape_of(solids + i);
        for (int f = 0; f < s->faces; ++f)
            for (int l = 0; l < s->face[f].loops; ++l) {
                const LashLoop* loop = s->loop + s->face[f].first_loop + l;
                for (int k = 0; k < loop->coedges; ++k) {
                    const LashCoedge* c = s->coedge + loop->first_coedge + k;
                    if (c->edge < 0) continue;
                    const LashEdge* e = s->edge + c->edge;
                    assert_true(e->face[0] == f || e->face[1] == f);
                    for (double t = 0; t <= 1; t += 0.25) {
                        double uv[2], q = c->reversed ? 1 - t : t;
                        lash_coedge_point(s, c, t, uv);
                        Vec3 p = lash_face_point(s, s->face + f, uv[0], uv[1]).p;
                        Vec3 r = lash_edge_point(s, e, e->t0 + q * (e->t1 - e->t0)).p;
                        assert_true(vec3_distance(p, r) < 1e-14);
                    }
                }
            }
        lash_shape_destroy(s);
    }
}

static void mesh_is_closed_and_encloses_the_volume(void** state) {
    (void)state;
    for (int i = 0; i < SOLIDS; ++i) {
        LashShape* s = shape_of(solids + i);
        double volume = 0;
        for (int t = 0; t < s->triangles; ++t) {
            Vec3 p[3], n = vec3_zero();
            for (int k = 0; k < 3; ++k) {
                const float *q = s->mesh_point + 3 * s->triangle[3 * t + k],
                            *m = s->mesh_normal + 3 * s->triangle[3 * t + k];
                p[k] = vec3(q[0], q[1], q[2]);
                n = vec3_add(n, vec3(m[0], m[1], m[2]));
            }
            Vec3 c = vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0]));
            if (vec3_norm(c) > 1e-9) assert_true(vec3_dot(c, n) > 0);
            volume += vec3_dot(p[0], vec3_cross(p[1], p[2])) / 6;
            assert_true(s->triangle_face[t] >= 0 && s->triangle_face[t] < s->faces);
        }
        assert_true(fabs(volume / s->part->volume - 1) < 6e-3);
        assert_true(s->triangles == s->part->triangles && s->lines == s->part->lines);
        lash_shape_destroy(s);
    }
}

static void trim_agrees_with_the_solid_everywhere(void** state) {
    (void)state;
    Random random = {17};
    LashShape* s = lash_shape_ring(0.45, 0.7, 0.6);
    const LashFace* top = s->face + 3;
    for (int k = 0; k < 10000; ++k) {
        double u = random_in(&random, -0.8, 0.8), v = random_in(&random, -0.8, 0.8),
               r = hypot(u, v);
        LashTrimSide expected = r > 0.45 && r < 0.7 ? LASH_INSIDE : LASH_OUTSIDE;
        if (fabs(r - 0.45) < 1e-6 || fabs(r - 0.7) < 1e-6) expected = LASH_BORDER;
        assert_int_equal(lash_trim_parameters(s, top, u, v, 1e-6), expected);
    }
    // straight through the ends of the arcs, where a ray meets two pieces at once
    assert_int_equal(lash_trim_parameters(s, top, 0.45, -0.2, 1e-9), LASH_INSIDE);
    assert_int_equal(lash_trim_parameters(s, top, -0.45, -0.2, 1e-9), LASH_INSIDE);
    assert_int_equal(lash_trim_parameters(s, top, 0.0, 0.0, 1e-9), LASH_OUTSIDE);
    assert_int_equal(lash_trim_parameters(s, top, 0.7, -0.2, 1e-9), LASH_OUTSIDE);
    lash_shape_destroy(s);
}

// A plane trimmed by a closed chain of two rational quadratic Bezier half circles.
static void bezier_trims_are_exact(void** state) {
    (void)state;
    // quarter arcs of the unit circle: poles (1,0) (1,1) (0,1) with weights 1, sqrt(1/2), 1
    double w = sqrt(0.5);
    double pole[4][9] = {{1, 0, 1, 1, 1, w, 0, 1, 1},
                         {0, 1, 1, -1, 1, w, -1, 0, 1},
                         {-1, 0, 1, -1, -1, w, 0, -1, 1},
                         {0, -1, 1, 1, -1, w, 1, 0, 1}};
    LashCoedge coedge[4] = {{.kind = LASH_FREE_CURVE, .degree = 2, .first_pole = 0},
                            {.kind = LASH_FREE_CURVE, .degree = 2, .first_pole = 3},
                            {.kind = LASH_FREE_CURVE, .degree = 2, .first_pole = 6},
                            {.kind = LASH_FREE_CURVE, .degree = 2, .first_pole = 9}};
    LashLoop loop = {0, 4};
    LashFace face = {.type = LASH_PLANE, .x = {1, 0, 0}, .y = {0, 1, 0}, .z = {0, 0, 1}, .side = 1};
    face.u0 = face.v0 = -1;
    face.u1 = face.v1 = 1;
    face.loops = 1;
    LashShape s = {.face = &face, .loop = &loop, .coedge = coedge, .uv_pole = pole[0]};
    Random random = {29};
    for (int k = 0; k < 5000; ++k) {
        double t = random_in(&random, 0, 2 * LASH_PI), d = pow(10, random_in(&random, -11, -0.5));
        double sign = random_unit(&random) < 0.5 ? -1 : 1, r = 1 + sign * d;
        LashTrimSide side = lash_trim_parameters(&s, &face, r * cos(t), r * sin(t), 1e-12);
        assert_int_equal(side, sign > 0 ? LASH_OUTSIDE : LASH_INSIDE);
    }
    LashTrimRoom room = {.room = 0}; // and what is proven of it
    for (int k = 0; k < 5000; ++k) {
        Vec3 p = vec3(random_in(&random, -1.1, 1.1), random_in(&random, -1.1, 1.1), 0);
        for (int i = 0; i < 5; ++i) {
            LashTrimSide expected = lash_trim_point(&s, &face, p, 1e-12);
            assert_int_equal(lash_trim_near(&s, &face, p, 1e-12, &room), expected);
            p.x += random_in(&random, -0.05, 0.05);
            p.y += random_in(&random, -0.05, 0.05);
        }
    }
}

// A point wanders over the face: what was proven before must be what a new test finds.
static void check_room(const LashShape* s, const LashFace* face, double size, int* answered) {
    Random random = {41};
    LashTrimRoom room = {.room = 0};
    double u = 0.5 * (face->u0 + face->u1), v = 0.5 * (face->v0 + face->v1);
    double per_u = face->type == LASH_PLANE ? 1 : face->radius;
    for (int k = 0; k < 20000; ++k) {
        double step = size * pow(10, random_in(&random, -6, -1)), margin = 0.2 * size;
        u += random_in(&random, -step, step) / per_u;
        v += random_in(&random, -step, step);
        if (face->type == LASH_PLANE || !face->u_closed)
            u = fmin(fmax(u, face->u0 - margin / per_u), face->u1 + margin / per_u);
        v = fmin(fmax(v, face->v0 - margin), face->v1 + margin);
        Vec3 p = lash_face_point(s, face, u, v).p;
        *answered += vec3_distance(p, room.p) < room.room;
        LashTrimSide expected = lash_trim_point(s, face, p, 1e-9);
        assert_int_equal(lash_trim_near(s, face, p, 1e-9, &room), expected);
    }
}

static void what_is_proven_of_a_trim_holds(void** state) {
    (void)state;
    LashShape* ring = lash_shape_ring(0.45, 0.7, 0.6);
    LashShape* box = lash_shape_box(vec3(0.3, 0.5, 0.7));
    int answered = 0;
    for (int i = 0; i < ring->faces; ++i) check_room(ring, ring->face + i, 0.7, &answered);
    for (int i = 0; i < box->faces; ++i) check_room(box, box->face + i, 0.7, &answered);
    LashFace* bore = ring->face + (ring->face[0].type == LASH_CYLINDER ? 0 : 1);
    assert_int_equal(bore->type, LASH_CYLINDER);
    LashFace half = *bore; // a part of it, by its box alone
    half.loops = 0;
    half.u0 = 1;
    half.u1 = 3;
    half.u_closed = false;
    check_room(ring, &half, 0.7, &answered);
    assert_true(answered > 20000);
    lash_shape_destroy(ring);
    lash_shape_destroy(box);
}

RUN(TEST(mass_properties_equal_quadrature_to_1e_12), TEST(faces_lie_on_the_solid_and_point_outward),
    TEST(edges_join_their_faces), TEST(coedges_follow_their_edges),
    TEST(mesh_is_closed_and_encloses_the_volume), TEST(trim_agrees_with_the_solid_everywhere),
    TEST(bezier_trims_are_exact), TEST(what_is_proven_of_a_trim_holds))
