// The normal of a freeform face at a point of its edge: Gauss-Newton projection, started on the
// trim that follows the edge.
#include "geometry/kernels/freeform_normal.h"

#include "geometry/kernels/bezier.h"

typedef struct Nearest {
    double u, v, distance, enough; // [m]: nearer than `enough` no further start is tried
    LashSurfacePoint at;
} Nearest;

static void try_start(const LashShape* shape, const LashFace* face, Vec3 p, double u, double v,
                      Nearest* best) {
    if (best->distance < best->enough) return;
    u = fmin(face->u1, fmax(face->u0, u));
    v = fmin(face->v1, fmax(face->v0, v));
    LashSurfacePoint at = lash_face_point(shape, face, u, v);
    double d = vec3_distance(p, at.p);
    if (d < best->distance) {
        best->u = u;
        best->v = v;
        best->distance = d;
        best->at = at;
    }
}

// Where to start on a face without trims: its edges are the sides of the (u, v) box, usually with
// the same parameter; else the nearest of some points on the sides.
static void start_on_sides(const LashShape* shape, const LashFace* face, double t, Vec3 p,
                           Nearest* best) {
    for (int k = 0; k < 2; ++k) {
        try_start(shape, face, p, t, k ? face->v1 : face->v0, best);
        try_start(shape, face, p, k ? face->u1 : face->u0, t, best);
    }
    if (best->distance < 1e3 * best->enough) return;
    int nu = 4 * face->u_patches, nv = 4 * face->v_patches;
    for (int i = 0; i <= nu; ++i)
        for (int k = 0; k < 2; ++k)
            try_start(shape, face, p, face->u0 + (face->u1 - face->u0) * i / nu,
                      k ? face->v1 : face->v0, best);
    for (int i = 0; i <= nv; ++i)
        for (int k = 0; k < 2; ++k)
            try_start(shape, face, p, k ? face->u1 : face->u0,
                      face->v0 + (face->v1 - face->v0) * i / nv, best);
}

Vec3 lash_freeform_edge_normal(const LashShape* shape, const LashFace* face, const LashEdge* edge,
                               double t, Vec3 p) {
    Nearest best = {.distance = INFINITY};
    best.enough = 1e-9 * vec3_distance(face->box.low, face->box.high);
    int index = (int)(edge - shape->edge);
    for (int i = 0; i < face->loops; ++i) { // start on the trim that follows the edge
        const LashLoop* loop = shape->loop + face->first_loop + i;
        for (int j = 0; j < loop->coedges; ++j) {
            const LashCoedge* e = shape->coedge + loop->first_coedge + j;
            if (e->edge != index) continue;
            double uv[2], run = (t - edge->t0) / (edge->t1 - edge->t0);
            lash_coedge_point(shape, e, e->reversed ? 1 - run : run, uv); // usually there
            try_start(shape, face, p, uv[0], uv[1], &best);
            for (int k = 0; best.distance > 1e6 * best.enough && k <= 16; ++k) {
                lash_coedge_point(shape, e, k / 16.0, uv);
                try_start(shape, face, p, uv[0], uv[1], &best);
            }
        }
    }
    if (isinf(best.distance)) start_on_sides(shape, face, t, p, &best);
    double u = best.u, v = best.v;
    LashSurfacePoint s = best.at;
    for (int k = 0; k < 6; ++k) { // Gauss-Newton projection
        Vec3 r = vec3_sub(p, s.p);
        double a = vec3_dot(s.u, s.u), b = vec3_dot(s.u, s.v), c = vec3_dot(s.v, s.v);
        double f = vec3_dot(r, s.u), g = vec3_dot(r, s.v), det = a * c - b * b;
        if (!(det > 0)) break;
        double du = (c * f - b * g) / det, dv = (a * g - b * f) / det;
        u = fmin(face->u1, fmax(face->u0, u + du));
        v = fmin(face->v1, fmax(face->v0, v + dv));
        if (fabs(du) <= 1e-12 * (face->u1 - face->u0) && fabs(dv) <= 1e-12 * (face->v1 - face->v0))
            break;
        s = lash_face_point(shape, face, u, v);
    }
    Vec3 n = vec3_cross(s.u, s.v);
    double l = vec3_norm(n);
    return l > 0 ? vec3_scale(face->side / l, n) : vec3(0, 0, 1);
}
