// Features from the tables of a shape; which feature owns a contact; second-order data.
//
// Ownership (Voronoi cones). A contact with outward direction m at the foot point p belongs to
//   a face    when p lies inside its trim,
//   an edge   when p lies within its ends and m within the wedge of the face normals:
//             m . c_i <= 0, c_i the direction from the edge into face i, across the edge,
//   a vertex  when m . e_k <= 0 for every edge leaving it (the polar cone).
// Neighbouring conditions share their limit; there the root is marked and found again by the
// neighbour, the pair manager drops the second one. A slack in the limits keeps the far ends of
// line and area contacts that are parallel up to a small angle: the points are material points, so
// their gaps remain true.
//
// Second order. Smooth face: Y = sum k_i e_i e_i'. Edge with unit tangent s and curvature vector k:
// X = s s', Y = -(m.k) s s' + b b' with b = m x s. Vertex: X = 0, Y = I.
#include <string.h>

#include "geometry/kernels/bounds.h"
#include "geometry/kernels/freeform_normal.h"
#include "geometry/kernels/kernels_internal.h"

// The box, wider by `hair` [m]: roots are accepted that far outside the trims, and boxes of faces
// are those of their edges.
static void set_bound(LashFeature* feature, LashBox box, double hair) {
    Vec3 h = vec3(hair, hair, hair);
    box.low = vec3_sub(box.low, h);
    box.high = vec3_add(box.high, h);
    feature->box = box;
    feature->center = vec3_scale(0.5, vec3_add(box.low, box.high));
    feature->bound = 0.5 * vec3_distance(box.low, box.high);
}

double lash_trim_mismatch(const LashShape* shape, const LashFace* face) {
    double largest = 0;
    for (int i = 0; i < face->loops; ++i) {
        const LashLoop* loop = shape->loop + face->first_loop + i;
        for (int j = 0; j < loop->coedges; ++j) {
            const LashCoedge* c = shape->coedge + loop->first_coedge + j;
            if (c->edge < 0) continue;
            const LashEdge* e = shape->edge + c->edge;
            if (e->type == LASH_FREE_CURVE) largest = fmax(largest, e->tolerance);
            for (int k = 0; k <= 8 && e->type != LASH_FREE_CURVE; ++k) {
                double uv[2];
                lash_coedge_point(shape, c, k / 8.0, uv);
                Vec3 w = vec3_sub(lash_face_point(shape, face, uv[0], uv[1]).p, e->origin);
                double z = vec3_dot(w, e->z), rho = vec3_norm(vec3_add_scaled(w, -z, e->z));
                largest = fmax(largest, e->type == LASH_LINE ? rho : hypot(z, rho - e->radius));
            }
        }
    }
    return largest;
}

static bool is_concave_edge_of(const LashEdge* edge, int face) {
    return edge->convexity == LASH_CONCAVE && edge->type != LASH_FREE_CURVE &&
           (edge->face[0] == face || edge->face[1] == face);
}

// The skeleton of a face, its sizes and how deep its normal can be followed.
static void set_skeleton(LashFeature* feature, const LashFace* face) {
    switch (face->type) {
        case LASH_PLANE: // z becomes the outward normal; the trims use the face's own frame
            feature->skeleton = LASH_SKELETON_PLANE;
            feature->z = vec3_scale(feature->side, feature->z);
            feature->y = vec3_scale(feature->side, feature->y);
            feature->side = 1;
            break;
        case LASH_CYLINDER:
            feature->skeleton = LASH_SKELETON_LINE;
            feature->tube = face->radius;
            break;
        case LASH_SPHERE:
            feature->skeleton = LASH_SKELETON_POINT;
            feature->tube = face->radius;
            break;
        case LASH_TORUS:
            feature->skeleton = LASH_SKELETON_CIRCLE;
            feature->radius = face->radius;
            feature->tube = face->radius2;
            break;
        case LASH_CONE:
            feature->skeleton = LASH_SKELETON_CONE;
            feature->radius = face->radius;
            feature->sin_a = sin(face->half_angle);
            feature->cos_a = cos(face->half_angle);
            break;
        case LASH_FREEFORM:
            feature->skeleton = LASH_SKELETON_SURFACE;
            break;
    }
    // at the center of curvature the normal turns round: the skeleton, or the axis of a groove
    double curvature = face->type == LASH_TORUS ? feature->radius - feature->tube : 0;
    if (feature->side > 0) curvature = feature->tube;
    if (curvature > 0 && curvature < feature->reach) feature->reach = curvature;
}

LashFeature lash_feature_face(const LashShape* shape, int index) {
    const LashFace* face = shape->face + index;
    LashFeature f;
    memset(&f, 0, sizeof f);
    f.kind = LASH_FEATURE_FACE;
    f.shape = shape;
    f.face = face;
    f.origin = face->origin;
    f.x = face->x;
    f.y = face->y;
    f.z = face->z;
    f.side = face->side;
    f.of_solid = shape->part != NULL && shape->part[face->part].closed;
    f.reach = face->reach > 0 ? face->reach : INFINITY;
    f.code = (uint32_t)LASH_FEATURE_FACE << 26 | (uint32_t)index;
    set_skeleton(&f, face);
    f.box_trim = face->type != LASH_FREEFORM && lash_trim_is_box(shape, face);
    double v_range = face->v1 - face->v0;
    f.whole = f.box_trim && face->u_closed &&
              ((face->type == LASH_SPHERE && v_range >= LASH_PI - 1e-12) ||
               (face->type == LASH_TORUS && v_range >= 2 * LASH_PI - 1e-12));
    f.barrel = face->type == LASH_CYLINDER && f.box_trim && face->u_closed;
    set_bound(&f, face->box, 0);
    f.size = fmax(2 * f.bound, f.tube + f.radius);
    f.border = LASH_BORDER_LENGTH * f.size + 2 * lash_trim_mismatch(shape, face);
    set_bound(&f, face->box, f.border + face->deviation);
    for (int i = 0; i < shape->edges; ++i) {
        if (!is_concave_edge_of(shape->edge + i, index)) continue;
        if (f.concave_edges < (int)(sizeof f.concave_edge / sizeof f.concave_edge[0]))
            f.concave_edge[f.concave_edges] = i;
        ++f.concave_edges;
    }
    if (face->type == LASH_SPHERE && f.whole) // a ball is its own bounding sphere
    {
        f.center = face->origin;
        f.bound = face->radius + face->deviation;
    }
    return f;
}

// Direction from the smooth edge into the ruled face (cylinder or cone) that it ends, at p.
static bool ruled_side(const LashShape* shape, int index, Vec3 p, Vec3* side) {
    if (index < 0) return false;
    const LashFace* face = shape->face + index;
    if (face->type != LASH_CYLINDER && face->type != LASH_CONE) return false;
    double u, v;
    lash_face_parameters(face, p, &u, &v);
    LashSurfacePoint s = lash_face_point(shape, face, u, v);
    *side = v < 0.5 * (face->v0 + face->v1) ? s.v : vec3_neg(s.v);
    return true;
}

// Directions from the edge into its faces at t, as vectors; false when one has no say.
static bool wedge_at(const LashFeature* feature, double t, Vec3 side[2]) {
    const LashEdge* e = feature->edge;
    LashCurvePoint c = lash_edge_point(feature->shape, e, t);
    if (feature->seam) {
        Vec3 ruled = vec3_zero();
        bool ok = ruled_side(feature->shape, e->face[0], c.p, &ruled) ||
                  ruled_side(feature->shape, e->face[1], c.p, &ruled);
        side[0] = ruled;
        side[1] = vec3_zero();
        return ok;
    }
    Vec3 n[2], tangent = vec3_normalize(c.d);
    for (int i = 0; i < 2; ++i) {
        const LashFace* face = feature->shape->face + e->face[i];
        n[i] = face->type == LASH_FREEFORM
                   ? lash_freeform_edge_normal(feature->shape, face, e, t, c.p)
                   : lash_face_normal(face, c.p);
    }
    for (int i = 0; i < 2; ++i) { // across the edge, in the tangent plane of face i, away from the
        Vec3 s = vec3_cross(n[i], tangent); // normal of the other face: the edge is convex
        if (vec3_dot(s, n[1 - i]) > 0) s = vec3_neg(s);
        side[i] = s;
    }
    return true;
}

// (radial, axial) components of a vector at angle t of a circle.
static Vec3 circle_components(const LashFeature* feature, double t, Vec3 a) {
    Vec3 e = vec3_add(vec3_scale(cos(t), feature->x), vec3_scale(sin(t), feature->y));
    return vec3(vec3_dot(a, e), vec3_dot(a, feature->z), vec3_dot(a, vec3_cross(feature->z, e)));
}

static void set_wedge(LashFeature* feature) {
    const LashEdge* e = feature->edge;
    bool sharp = e->convexity == LASH_CONVEX && e->face[0] >= 0 && e->face[1] >= 0;
    feature->wedge = LASH_WEDGE_NONE;
    if (!sharp && !feature->seam) return;
    feature->wedge = LASH_WEDGE_GENERAL;
    if (feature->skeleton == LASH_SKELETON_CURVE) return;
    Vec3 first[2] = {{0}};
    for (int k = 0; k < 5; ++k) { // the same at five places: the same everywhere
        double t = e->t0 + (e->t1 - e->t0) * (0.03 + 0.235 * k);
        Vec3 side[2];
        if (!wedge_at(feature, t, side)) return;
        for (int i = 0; i < 2; ++i) {
            Vec3 s = feature->skeleton == LASH_SKELETON_CIRCLE
                         ? circle_components(feature, t, side[i])
                         : side[i];
            if (k == 0) first[i] = s;
            if (vec3_distance(s, first[i]) > 1e-10) return;
        }
    }
    feature->wedge =
        feature->skeleton == LASH_SKELETON_CIRCLE ? LASH_WEDGE_COAXIAL : LASH_WEDGE_FIXED;
    feature->wedge_side[0] = first[0];
    feature->wedge_side[1] = first[1];
    for (int i = 0; i < 2; ++i) { // across the edge and the side, away from the other side
        Vec3 n = feature->wedge == LASH_WEDGE_FIXED ? vec3_cross(feature->z, first[i])
                                                    : vec3(-first[i].y, first[i].x, 0);
        feature->wedge_normal[i] = vec3_dot(n, first[1 - i]) > 0 ? vec3_neg(n) : n;
    }
}

LashFeature lash_feature_edge(const LashShape* shape, int index) {
    const LashEdge* e = shape->edge + index;
    LashFeature f;
    memset(&f, 0, sizeof f);
    f.kind = LASH_FEATURE_EDGE;
    f.shape = shape;
    f.edge = e;
    f.origin = e->origin;
    f.x = e->x;
    f.y = e->y;
    f.z = e->z;
    f.radius = e->radius;
    f.side = 1;
    f.t0 = e->t0;
    f.t1 = e->t1;
    f.closed = e->closed && e->type == LASH_CIRCLE;
    f.skeleton = LASH_SKELETON_CURVE;
    if (e->type == LASH_LINE) f.skeleton = LASH_SKELETON_LINE;
    if (e->type == LASH_CIRCLE) f.skeleton = LASH_SKELETON_CIRCLE;
    f.seam = e->convexity == LASH_SMOOTH;
    f.code = (uint32_t)LASH_FEATURE_EDGE << 26 | (uint32_t)index;
    f.reach = INFINITY;
    for (int i = 0; i < 2; ++i) {
        if (e->face[i] < 0) continue;
        double reach = shape->face[e->face[i]].reach;
        if (reach > 0 && reach < f.reach) f.reach = reach;
    }
    set_bound(&f, e->box, 0);
    f.size = fmax(2 * f.bound, 1e-9);
    f.border = LASH_BORDER_LENGTH * f.size;
    set_bound(&f, e->box, f.border);
    set_wedge(&f);
    f.rim = f.closed && f.wedge != LASH_WEDGE_GENERAL;
    if (f.skeleton == LASH_SKELETON_CIRCLE) f.bend = 1 / f.radius;
    return f;
}

LashFeature lash_feature_vertex(const LashShape* shape, int index) {
    const LashVertex* v = shape->vertex + index;
    LashFeature f;
    memset(&f, 0, sizeof f);
    f.kind = LASH_FEATURE_VERTEX;
    f.skeleton = LASH_SKELETON_POINT;
    f.shape = shape;
    f.vertex = v;
    f.side = 1;
    f.reach = INFINITY;
    f.origin = f.center = v->point;
    f.x = vec3(1, 0, 0);
    f.y = vec3(0, 1, 0);
    f.z = vec3(0, 0, 1);
    f.box.low = f.box.high = v->point;
    f.code = (uint32_t)LASH_FEATURE_VERTEX << 26 | (uint32_t)index;
    for (int k = 0; k < v->edges; ++k) {
        const LashEdge* e = shape->edge + shape->vertex_edge[v->first_edge + k];
        f.size = fmax(f.size, vec3_distance(e->box.low, e->box.high));
        for (int end = 0; end < 2; ++end) {
            if (e->vertex[end] != index || f.directions == LASH_MAX_DIRECTIONS) continue;
            Vec3 d = lash_edge_point(shape, e, end == 0 ? e->t0 : e->t1).d;
            double l = vec3_norm(d);
            if (l > 0) f.direction[f.directions++] = vec3_scale((end == 0 ? 1 : -1) / l, d);
        }
    }
    f.size = fmax(f.size, 1e-9);
    f.border = LASH_BORDER_LENGTH * f.size;
    return f;
}

bool lash_feature_edge_matters(const LashShape* shape, int index) {
    const LashEdge* e = shape->edge + index;
    if (e->convexity == LASH_CONVEX || e->convexity == LASH_FREE) return true;
    if (e->convexity != LASH_SMOOTH || e->type != LASH_CIRCLE) return false;
    for (int i = 0; i < 2; ++i) { // a seam that ends a convex ruled face
        if (e->face[i] < 0) continue;
        const LashFace* face = shape->face + e->face[i];
        bool ruled = face->type == LASH_CYLINDER || face->type == LASH_CONE;
        if (ruled && face->side > 0) return true;
    }
    return false;
}

bool lash_feature_vertex_matters(const LashShape* shape, int index) {
    return shape->vertex[index].convexity != LASH_CONCAVE;
}

// ---- ownership --------------------------------------------------------------------------------

// Parameter of p on an edge, line or arc; beyond its ends that of the nearer one.
static double parameter_near(const LashFeature* feature, Vec3 p) {
    double low = feature->t0, high = feature->t1;
    Vec3 w = vec3_sub(p, feature->origin);
    if (feature->skeleton == LASH_SKELETON_LINE) return vec3_dot(w, feature->z);
    double t = atan2(vec3_dot(w, feature->y), vec3_dot(w, feature->x)) - low;
    t = low + t - 2 * LASH_PI * floor(t / (2 * LASH_PI));
    if (t > high && t - high > low + 2 * LASH_PI - t) t -= 2 * LASH_PI;
    return t;
}

static bool inside_ends(const LashFeature* feature, Vec3 p, double tolerance, bool* border) {
    double low = feature->t0, high = feature->t1;
    if (feature->closed || feature->skeleton == LASH_SKELETON_CURVE) return true;
    double t = parameter_near(feature, p);
    if (feature->skeleton == LASH_SKELETON_CIRCLE) tolerance /= feature->radius;
    if (t < low - tolerance || t > high + tolerance) return false;
    if (t < low + tolerance || t > high - tolerance) *border = true;
    return true;
}

static bool inside_wedge(const LashFeature* feature, Vec3 p, double t, Vec3 m, double slack,
                         bool* border) {
    double d[2] = {0, 0};
    switch (feature->wedge) {
        case LASH_WEDGE_NONE:
            return true;
        case LASH_WEDGE_FIXED:
            d[0] = vec3_dot(m, feature->wedge_side[0]);
            d[1] = vec3_dot(m, feature->wedge_side[1]);
            break;
        case LASH_WEDGE_COAXIAL: {
            Vec3 w = vec3_sub(p, feature->origin);
            double axial = vec3_dot(m, feature->z), rho = feature->radius;
            double radial = (vec3_dot(m, w) - axial * vec3_dot(w, feature->z)) / rho;
            for (int i = 0; i < 2; ++i)
                d[i] = radial * feature->wedge_side[i].x + axial * feature->wedge_side[i].y;
            break;
        }
        case LASH_WEDGE_GENERAL: {
            Vec3 side[2];
            if (feature->skeleton != LASH_SKELETON_CURVE) t = lash_feature_parameter(feature, p);
            if (!wedge_at(feature, t, side)) return false;
            d[0] = vec3_dot(m, side[0]);
            d[1] = vec3_dot(m, side[1]);
            break;
        }
    }
    if (feature->seam)
        return d[0] > 0 && d[0] <= slack; // over the ruled face, nearly parallel to it
    if (d[0] > slack || d[1] > slack) return false;
    if (fabs(d[0]) < LASH_BORDER_ANGLE || fabs(d[1]) < LASH_BORDER_ANGLE) *border = true;
    return true;
}

double lash_feature_parameter(const LashFeature* feature, Vec3 p) {
    Vec3 w = vec3_sub(p, feature->origin);
    if (feature->skeleton == LASH_SKELETON_LINE) return vec3_dot(w, feature->z);
    return atan2(vec3_dot(w, feature->y), vec3_dot(w, feature->x));
}

static bool near_edge(const LashEdge* edge, Vec3 p, double slack) {
    Vec3 w = vec3_sub(p, edge->origin);
    double z = vec3_dot(w, edge->z), rho = vec3_norm(vec3_add_scaled(w, -z, edge->z));
    if (edge->type == LASH_LINE)
        return rho <= slack && z >= edge->t0 - slack && z <= edge->t1 + slack;
    return hypot(z, rho - edge->radius) <= slack && lash_box_distance(&edge->box, p) <= slack;
}

bool lash_behind_concave_edge(const LashFeature* feature, Vec3 p, double depth) {
    enum { LISTED = sizeof feature->concave_edge / sizeof feature->concave_edge[0] };
    double slack = fmax(LASH_CONCAVE_SLACK * feature->size, depth);
    if (feature->concave_edges == 0 || lash_box_distance(&feature->box, p) > slack) return false;
    const LashShape* shape = feature->shape;
    int index = (int)(feature->face - shape->face);
    for (int i = 0; i < feature->concave_edges && i < LISTED; ++i)
        if (near_edge(shape->edge + feature->concave_edge[i], p, slack)) return true;
    if (feature->concave_edges <= LISTED) return false;
    for (int i = feature->concave_edge[LISTED - 1] + 1; i < shape->edges; ++i) {
        const LashEdge* e = shape->edge + i;
        if (is_concave_edge_of(e, index) && near_edge(e, p, slack)) return true;
    }
    return false;
}

bool lash_edge_goes_on(const LashFeature* feature, Vec3 p, Vec3 m, double slack, double depth) {
    bool border = false;
    if (feature->kind != LASH_FEATURE_EDGE || feature->closed ||
        feature->skeleton == LASH_SKELETON_CURVE)
        return false;
    double t = parameter_near(feature, p),
           unit = feature->skeleton == LASH_SKELETON_CIRCLE ? feature->radius : 1;
    double over = fmax(feature->t0 - t, t - feature->t1) * unit;
    int vertex = feature->edge->vertex[t > feature->t1];
    if (over > depth || vertex < 0 || lash_feature_vertex_matters(feature->shape, vertex))
        return false;
    return inside_wedge(feature, p, t, m, slack, &border);
}

static LashTrimSide trim_side(const LashFeature* feature, Vec3 p, const double* t,
                              LashTrimRoom* room) {
    bool quick = feature->box_trim && (feature->barrel || feature->skeleton != LASH_SKELETON_LINE);
    if (quick) return lash_trim_box(feature->face, p, feature->border);
    if (feature->skeleton == LASH_SKELETON_SURFACE)
        return lash_trim_parameters(feature->shape, feature->face, t[0], t[1], feature->border);
    return lash_trim_near(feature->box_trim ? NULL : feature->shape, feature->face, p,
                          feature->border, room);
}

bool lash_feature_owns(const LashFeature* feature, Vec3 p, const double* t, Vec3 m, double slack,
                       LashTrimRoom* room, bool* border) {
    double tolerance = feature->border;
    if (feature->kind == LASH_FEATURE_FACE) {
        if (feature->whole) return true;
        LashTrimSide side = trim_side(feature, p, t, room);
        if (side == LASH_BORDER) *border = true;
        return side != LASH_OUTSIDE || lash_behind_concave_edge(feature, p, 0);
    }
    if (feature->kind == LASH_FEATURE_EDGE)
        return inside_ends(feature, p, tolerance, border) &&
               inside_wedge(feature, p, t[0], m, slack, border);
    for (int k = 0; k < feature->directions; ++k) {
        double d = vec3_dot(m, feature->direction[k]);
        if (d > slack) return false;
        if (fabs(d) < LASH_BORDER_ANGLE) *border = true;
    }
    return true;
}

// ---- second order -----------------------------------------------------------------------------

static void add_outer(double M[4], double s, Vec3 e, Vec3 t1, Vec3 t2) { // M += s e e' in (t1, t2)
    double a = vec3_dot(e, t1), b = vec3_dot(e, t2);
    M[0] += s * a * a;
    M[1] += s * a * b;
    M[2] += s * a * b;
    M[3] += s * b * b;
}

static void surface_second_order(const LashFeature* feature, const double* t, Vec3 t1, Vec3 t2,
                                 LashSecondOrder* order) {
    LashSurfacePoint q = lash_face_point(feature->shape, feature->face, t[0], t[1]);
    Vec3 n = vec3_scale(feature->side, vec3_normalize(vec3_cross(q.u, q.v)));
    // foot moves by S_u du + S_v dv = J d; normal turns by -(II) d in the dual basis
    double a = vec3_dot(q.u, t1), b = vec3_dot(q.v, t1), c = vec3_dot(q.u, t2),
           d = vec3_dot(q.v, t2);
    double det = a * d - b * c;
    double P[4] = {d / det, -c / det, -b / det, a / det}; // inverse of J = [a b; c d], column-major
    double L[3] = {-vec3_dot(n, q.uu), -vec3_dot(n, q.uv), -vec3_dot(n, q.vv)};
    // Y = P' L P
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            order->Y[i + 2 * j] = P[2 * i] * (L[0] * P[2 * j] + L[1] * P[2 * j + 1]) +
                                  P[2 * i + 1] * (L[1] * P[2 * j] + L[2] * P[2 * j + 1]);
}

static void face_second_order(const LashFeature* feature, Vec3 p, const double* t, Vec3 t1, Vec3 t2,
                              LashSecondOrder* order) {
    order->X[0] = order->X[3] = 1;
    if (feature->skeleton == LASH_SKELETON_PLANE) return;
    if (feature->skeleton == LASH_SKELETON_SURFACE) {
        surface_second_order(feature, t, t1, t2, order);
        return;
    }
    if (feature->skeleton == LASH_SKELETON_POINT) {
        order->Y[0] = order->Y[3] = feature->side / feature->tube;
        return;
    }
    // a surface of revolution: circumferential curvature (n . radial) / rho, meridional 1/tube
    Vec3 w = vec3_sub(p, feature->origin),
         e = vec3_add_scaled(w, -vec3_dot(w, feature->z), feature->z);
    double rho = fmax(vec3_norm(e), 1e-300);
    e = vec3_scale(1 / rho, e);
    Vec3 n = lash_face_normal(feature->face, p), around = vec3_cross(feature->z, e);
    add_outer(order->Y, vec3_dot(n, e) / rho, around, t1, t2);
    if (feature->skeleton == LASH_SKELETON_CIRCLE)
        add_outer(order->Y, feature->side / feature->tube, vec3_cross(n, around), t1, t2);
}

void lash_feature_second_order(const LashFeature* feature, bool ball, Vec3 p, const double* t,
                               Vec3 m, Vec3 t1, Vec3 t2, LashSecondOrder* order) {
    memset(order, 0, sizeof *order);
    if (ball && feature->tube > 0) {
        order->X[0] = order->X[3] = 1;
        order->Y[0] = order->Y[3] = feature->side / feature->tube;
    } else if (feature->kind == LASH_FEATURE_VERTEX || ball) {
        order->Y[0] = order->Y[3] = 1;
    } else if (feature->kind == LASH_FEATURE_FACE) {
        face_second_order(feature, p, t, t1, t2, order);
    } else {
        Vec3 tangent = feature->z, k = vec3_zero();
        if (feature->skeleton == LASH_SKELETON_CIRCLE) {
            Vec3 e = vec3_sub(p, feature->origin);
            tangent = vec3_scale(1 / feature->radius, vec3_cross(feature->z, e));
            k = vec3_scale(-1 / (feature->radius * feature->radius), e);
        } else if (feature->skeleton == LASH_SKELETON_CURVE) {
            LashCurvePoint c = lash_edge_point(feature->shape, feature->edge, t[0]);
            double l = vec3_norm(c.d);
            tangent = vec3_scale(1 / l, c.d);
            k = vec3_scale(1 / (l * l), vec3_add_scaled(c.dd, -vec3_dot(c.dd, tangent), tangent));
        }
        add_outer(order->X, 1, tangent, t1, t2);
        add_outer(order->Y, -vec3_dot(m, k), tangent, t1, t2);
        add_outer(order->Y, 1, vec3_cross(m, tangent), t1, t2);
    }
}
