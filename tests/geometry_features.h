// Single features for the kernel tests: shapes with one face, edge or vertex, and independent
// formulas for their points and signed distances.
#ifndef LASH_TESTS_GEOMETRY_FEATURES_H
#define LASH_TESTS_GEOMETRY_FEATURES_H

#include "test.h"

#include <string.h>

#include "geometry/kernels/kernels.h"
#include "tests/geometry_oracle.h"

typedef enum Kind {
    VERTEX,
    LINE,
    CIRCLE,
    CURVE,
    PLANE,
    SPHERE,
    SOCKET,
    CYLINDER,
    BORE,
    TORUS,
    GROOVE,
    CONE,
    FUNNEL,
    FREEFORM,
    KINDS
} Kind;

static const char* const kind_name[KINDS] = {"vertex", "line",   "circle",   "curve",   "plane",
                                             "sphere", "socket", "cylinder", "bore",    "torus",
                                             "groove", "cone",   "funnel",   "freeform"};

typedef struct One {
    Kind kind;
    LashShape shape;
    LashFace face;
    LashEdge edge;
    LashVertex vertex;
    LashPatch patch;
    LashSegment segment;
    double pole[4 * 16];
    LashFeature feature;
} One;

static inline int kind_parameters(Kind k) {
    if (k == VERTEX) return 0;
    return k <= CURVE ? 1 : 2;
}
static inline bool kind_hollow(Kind k) {
    return k == SOCKET || k == BORE || k == GROOVE || k == FUNNEL;
}
static inline bool kind_has_distance(Kind k) {
    return k >= PLANE && k <= FUNNEL;
}

static inline void one_pole(One* o, int i, double x, double y, double z, double w) {
    double* p = o->pole + 4 * i;
    p[0] = x;
    p[1] = y;
    p[2] = z;
    p[3] = w;
}

static inline void one_freeform(One* o) { // bicubic, curved in both directions, rational
    LashFace* f = &o->face;
    f->u0 = f->v0 = 0;
    f->u1 = f->v1 = 1;
    f->u_closed = false;
    f->u_patches = f->v_patches = 1;
    o->patch.u_degree = o->patch.v_degree = 3;
    o->patch.u1 = o->patch.v1 = 1;
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) {
            double x = i / 3.0 - 0.5, y = j / 3.0 - 0.5;
            one_pole(o, i + 4 * j, 1.2 * x, y,
                     0.5 - 1.8 * x * x - 1.5 * y * y + 0.3 * x * y + 0.2 * x * x * x,
                     1 + 0.2 * x - 0.1 * y);
        }
}

// The edge of kinds LINE, CIRCLE and CURVE.
static inline void one_edge(One* o) {
    LashEdge* e = &o->edge;
    if (o->kind == LINE) {
        e->type = LASH_LINE;
        e->t0 = -0.7;
        e->t1 = 0.7;
    } else if (o->kind == CIRCLE) {
        e->type = LASH_CIRCLE;
        e->radius = 0.4;
        e->t1 = 2 * LASH_PI;
        e->closed = true;
    } else if (o->kind == CURVE) {
        e->type = LASH_FREE_CURVE;
        e->segments = 1;
        e->t1 = 1;
        o->segment.degree = 3;
        o->segment.t1 = 1;
        one_pole(o, 0, -0.5, 0, 0.1, 1);
        one_pole(o, 1, -0.2, 0.5, 0.2, 0.9);
        one_pole(o, 2, 0.3, 0.4, -0.2, 1.1);
        one_pole(o, 3, 0.6, -0.1, 0.1, 1);
    }
}

static inline void one_face(One* o) {
    static const struct {
        LashSurfaceType type;
        double radius, radius2, half_angle;
    } surface[KINDS] = {
        [PLANE] = {LASH_PLANE, 0, 0, 0},      [SPHERE] = {LASH_SPHERE, 0.3, 0, 0},
        [SOCKET] = {LASH_SPHERE, 0.9, 0, 0},  [CYLINDER] = {LASH_CYLINDER, 0.3, 0, 0},
        [BORE] = {LASH_CYLINDER, 0.8, 0, 0},  [TORUS] = {LASH_TORUS, 0.4, 0.12, 0},
        [GROOVE] = {LASH_TORUS, 1.0, 0.6, 0}, [CONE] = {LASH_CONE, 0.4, 0, 0.45},
        [FUNNEL] = {LASH_CONE, 0.8, 0, -0.5}, [FREEFORM] = {LASH_FREEFORM, 0, 0, 0}};
    LashFace* f = &o->face;
    f->type = surface[o->kind].type;
    f->radius = surface[o->kind].radius;
    f->radius2 = surface[o->kind].radius2;
    f->half_angle = surface[o->kind].half_angle;
    if (o->kind == PLANE) {
        f->u0 = f->v0 = -1;
        f->u1 = f->v1 = 1;
        f->u_closed = false;
    }
    if (o->kind == FREEFORM) one_freeform(o);
}

static inline void one_make(One* o, Kind kind) {
    memset(o, 0, sizeof *o);
    o->kind = kind;
    LashShape* s = &o->shape;
    s->face = &o->face;
    s->edge = &o->edge;
    s->vertex = &o->vertex;
    s->patch = &o->patch;
    s->segment = &o->segment;
    s->pole = o->pole;
    LashFace* f = &o->face;
    LashEdge* e = &o->edge;
    f->x = e->x = vec3(1, 0, 0);
    f->y = e->y = vec3(0, 1, 0);
    f->z = e->z = vec3(0, 0, 1);
    f->side = kind_hollow(kind) ? -1 : 1;
    f->box.low = vec3(-2, -2, -2);
    f->box.high = vec3(2, 2, 2);
    e->box = f->box;
    f->u1 = 2 * LASH_PI;
    f->u_closed = true;
    f->v0 = -0.6;
    f->v1 = 0.6;
    e->face[0] = e->face[1] = e->vertex[0] = e->vertex[1] = -1;
    e->convexity = LASH_FREE;
    if (kind <= CURVE) {
        one_edge(o);
    } else {
        one_face(o);
    }
    if (kind == SPHERE || kind == SOCKET) {
        f->v0 = -0.5 * LASH_PI;
        f->v1 = 0.5 * LASH_PI;
    }
    if (kind == TORUS || kind == GROOVE) {
        f->v0 = 0;
        f->v1 = 2 * LASH_PI;
    }
    o->feature = kind <= CURVE ? lash_feature_edge(s, 0) : lash_feature_face(s, 0);
    if (kind == VERTEX) o->feature = lash_feature_vertex(s, 0);
    lash_feature_prepare(&o->feature);
}

// Own evaluation, by de Casteljau on homogeneous poles.
static inline Vec3 casteljau(const double* pole, int n, double t) { // n = degree <= 3, stride 4
    double h[4][4];
    for (int i = 0; i <= n; ++i) {
        for (int c = 0; c < 3; ++c) h[i][c] = pole[4 * i + c] * pole[4 * i + 3];
        h[i][3] = pole[4 * i + 3];
    }
    for (int k = n; k > 0; --k)
        for (int i = 0; i < k; ++i)
            for (int c = 0; c < 4; ++c) h[i][c] += t * (h[i + 1][c] - h[i][c]);
    return vec3(h[0][0] / h[0][3], h[0][1] / h[0][3], h[0][2] / h[0][3]);
}

static inline double casteljau_weight(const double* pole, double t) {
    double w[4] = {pole[3], pole[7], pole[11], pole[15]};
    for (int k = 3; k > 0; --k)
        for (int i = 0; i < k; ++i) w[i] += t * (w[i + 1] - w[i]);
    return w[0];
}

// Point at (u, v) of its own parameters.
static inline Vec3 one_point(const One* o, double u, double v) {
    const LashFace* f = &o->face;
    double c = cos(u), s = sin(u), r = f->radius;
    switch (o->kind) {
        case VERTEX:
            return vec3_zero();
        case LINE:
            return vec3(0, 0, u);
        case CIRCLE:
            return vec3(0.4 * c, 0.4 * s, 0);
        case CURVE:
            return casteljau(o->pole, 3, u);
        case PLANE:
            return vec3(u, v, 0);
        case SPHERE:
        case SOCKET:
            return vec3(r * cos(v) * c, r * cos(v) * s, r * sin(v));
        case CYLINDER:
        case BORE:
            return vec3(r * c, r * s, v);
        case TORUS:
        case GROOVE:
            r += f->radius2 * cos(v);
            return vec3(r * c, r * s, f->radius2 * sin(v));
        case CONE:
        case FUNNEL:
            r += v * sin(f->half_angle);
            return vec3(r * c, r * s, v * cos(f->half_angle));
        case FREEFORM: {
            double row[16];
            for (int j = 0; j < 4; ++j) {
                Vec3 p = casteljau(o->pole + 16 * j, 3, u);
                row[4 * j] = p.x;
                row[4 * j + 1] = p.y;
                row[4 * j + 2] = p.z;
                row[4 * j + 3] = casteljau_weight(o->pole + 16 * j, u);
            }
            return casteljau(row, 3, v);
        }
        case KINDS:
            break;
    }
    return vec3_zero();
}

static inline void one_range(const One* o, double low[2], double high[2]) {
    bool edge = o->kind <= CURVE;
    low[0] = edge ? o->edge.t0 : o->face.u0;
    high[0] = edge ? o->edge.t1 : o->face.u1;
    low[1] = edge ? 0 : o->face.v0;
    high[1] = edge ? 0 : o->face.v1;
}

static inline bool one_closed(const One* o, int i) {
    if (o->kind == CIRCLE) return true;
    if (o->kind < PLANE) return false;
    if (i == 0) return o->face.u_closed;
    return o->kind == TORUS || o->kind == GROOVE || o->kind == SPHERE || o->kind == SOCKET;
}

// Signed distance of X from the surface, positive on the outward side, and parameters of the foot.
static inline double one_distance(const One* o, Vec3 X, double* foot_v) {
    const LashFace* f = &o->face;
    double rho = sqrt(X.x * X.x + X.y * X.y), d = 0, a = f->half_angle;
    *foot_v = 0;
    switch (o->kind) {
        case PLANE:
            return X.z;
        case SPHERE:
        case SOCKET:
            d = sqrt(rho * rho + X.z * X.z) - f->radius;
            break;
        case CYLINDER:
        case BORE:
            d = rho - f->radius;
            *foot_v = X.z;
            break;
        case TORUS:
        case GROOVE:
            d = hypot(rho - f->radius, X.z) - f->radius2;
            break;
        case CONE:
        case FUNNEL:
            d = (rho - f->radius) * cos(a) - X.z * sin(a);
            *foot_v = (rho - f->radius) * sin(a) + X.z * cos(a);
            break;
        default:
            break;
    }
    return f->side * d;
}

#endif
