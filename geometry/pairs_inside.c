// Which roots in penetration count.
//
// The depth of a point of one part in the solid of the other is its distance to that solid's
// boundary, all faces counted. A kernel knows two features only: behind an endless cylinder a point
// may be far outside the solid, or inside and much nearer to another face. So a root deeper than
// SHALLOW counts when its point lies in the other solid and
//   vertex:     nothing of the boundary is nearer than its foot; every other face has a root of its
//               own for the point. Nearest to a reentrant edge, where the feet on both faces lie
//               beyond their trims: the root moves to that edge. Where another face is nearer, or
//               the vertex has gone through and is outside, an edge that leaves it may still be
//               inside (the corner of a box, cut off by a wedge): a root along which the whole
//               corner would leave counts as one of that edge;
//   edge, face: the boundary is not nearer than half the depth. The deepest point of an edge is
//               often one between two faces, where no kernel looks; the roots on both sides stand
//               for it. Crossed edges that cut a wedge of 60 degrees are twice as deep as their
//               points.
// Face on face and edge on edge: both points, each in the other solid. Of an edge on a face only
// the edge's point: the foot on the face may lie anywhere.
//
// Parts that are not watertight have no inside. There a vertex or ball belongs to the nearest of
// the face and its chosen neighbours across convex edges, and other penetrations are left out where
// such a neighbour is at less than half the depth and a shallower root nearby stands for them.
#include "geometry/kernels/bezier.h"
#include "geometry/kernels/freeform_normal.h"
#include "geometry/kernels/kernels_internal.h"
#include "geometry/pairs_internal.h"

// Roots above this are not looked at [m]: a false one is so near to the edge of the other part that
// it is off by less than this. Larger: jumps of that size at edges; smaller: rounding of the trims.
static const double SHALLOW = 1e-9;
static const double HALF = 0.49;      // of the depth: 1/2, and rounding
static const double LEAST = 0.1;      // of the depth: what is really less deep says nothing
static const double ROUNDING = 1e-13; // of the size of the features
// Of the size of a loose face: so deep a point counts beside a wall, too. The definition asks for 0,
// and a jump at the border is at most this. Smaller: a step that predicts a point a little inside
// misses it; larger: what comes round the border of the face is deep at once.
static const double SLIGHT = 2e-3;

// ---- parts without an inside --------------------------------------------------------------------

// A point (in the side's frame) inside the material below a face: is a neighbour of the face
// nearer, at less than `share` of the depth?
static bool neighbor_is_nearer(const PairSide* side, int face, Vec3 point, double share) {
    double d = share * lash_face_distance(side->feature[face].face, point);
    if (d >= 0) return false;
    for (int k = side->first_neighbor[face]; k < side->first_neighbor[face + 1]; ++k) {
        int other = side->neighbor[k];
        const LashFeature* g = side->feature + other;
        double e = lash_face_distance(g->face, point);
        if (e < d || (e == d && other > face)) continue;
        Vec3 foot = vec3_add_scaled(point, -e, lash_face_normal(g->face, point));
        if (lash_trim_point(g->shape, g->face, foot, g->border) != LASH_OUTSIDE) return true;
    }
    return false;
}

// point: of the other feature f, in the side's frame.
static bool owned_by_neighbor(const PairSide* side, int face, const LashFeature* feature,
                              Vec3 point) {
    return pair_is_point(feature) && pair_has_neighbors(side, face) &&
           neighbor_is_nearer(side, face, point, 1);
}

// Edges and faces have many points; their neighbours usually have roots of their own.
static bool is_shadowed(const PairSide* side, int face, const LashFeature* feature, Vec3 point) {
    return !pair_is_point(feature) && pair_has_neighbors(side, face) &&
           neighbor_is_nearer(side, face, point, 0.5);
}

// A loose face ends at the walls of the solid that it was taken from: half as deep behind all of
// them counts, as in a solid.
static bool is_behind_wall(const PairSide* a, const PairSide* b, const PairCombination* c,
                           const PairView* view, const LashRoot* root) {
    double depth = -HALF * root->gap;
    const LashFeature *fa = a->feature + c->a, *fb = b->feature + c->b;
    if (-root->gap < SLIGHT * fmax(fa->size, fb->size)) return false;
    if (b->solid[c->b] == NULL && pair_wall_is_nearer(b, c->b, root->point_a, depth)) return true;
    return a->solid[c->a] == NULL &&
           pair_wall_is_nearer(a, c->a, lash_place(&view->a_b, root->point_b), depth);
}

// ---- solids -------------------------------------------------------------------------------------

// A feature f at a root and what it may be inside of: the solid of the other part, its feature at
// the root and its chosen faces. Points are in the frame of that part; place: f's part there.
typedef struct Inside {
    const LashFeature *f, *other;
    const LashSolid* solid;
    const uint8_t* chosen;
    const LashPlacement* place;
    Vec3 point, foot; // of the root
    const double* t;  // parameter of the point where f is a free curve
} Inside;

typedef struct Deepest { // the deepest point found
    double depth;        // [m] negative: none is inside
    Vec3 point;
    LashSolidFoot foot;
    const Inside* in;
} Deepest;

static void keep_deeper(Deepest* best, const Inside* in, Vec3 point, const LashSolidFoot* foot) {
    if (!foot->inside || !(foot->distance > best->depth)) return;
    *best = (Deepest){foot->distance, point, *foot, in};
}

// The root's point on a face at `depth`. The foot there is boundary at just this depth, with the
// point inside; false: something nearer says that it is outside.
static bool look_at_point(const Inside* in, double depth, Deepest* best) {
    LashSolidFoot foot;
    if (lash_solid_nearest(in->solid, in->point, depth * (1 - 1e-9), &foot)) {
        keep_deeper(best, in, in->point, &foot);
        return foot.inside;
    }
    foot = (LashSolidFoot){.distance = depth, .inside = true, .foot = in->foot};
    keep_deeper(best, in, in->point, &foot);
    return true;
}

// Of the root's point, beyond an end that of the end.
static double parameter_of(const Inside* in) {
    const LashFeature* feature = in->f;
    if (feature->skeleton == LASH_SKELETON_CURVE) return in->t[0];
    double u = lash_feature_parameter(feature, lash_place_inverse(in->place, in->point));
    if (feature->skeleton == LASH_SKELETON_LINE) return fmax(feature->t0, fmin(feature->t1, u));
    u -= 2 * LASH_PI * floor((u - feature->t0) / (2 * LASH_PI));
    if (feature->closed || u <= feature->t1) return u;
    return u - feature->t1 < feature->t0 + 2 * LASH_PI - u ? feature->t1 : feature->t0;
}

typedef struct Line { // an upper bound of the depth along an edge: depth + slope (u - at)
    bool known;
    double at, depth, slope;
} Line;

// The depth of a straight edge in a convex solid is concave along it, and each nearest boundary
// point bounds it by a line. From the root on: to where the lines cross, or where the depth would
// be that of the root, until it is enough. Elsewhere that is a good guess. s: where to begin. Returns
// the last place looked at.
static double look_along_edge(const Inside* in, const LashEdge* e, double s, double depth,
                              double enough, Deepest* best) {
    enum { PLACES = 6 };
    double low = e->t0, high = e->t1;
    Line up = {0}, down = {0};
    if (in->f->closed && in->f->edge == e) {
        low = s - 1;
        high = s + 1;
    }
    for (int k = 0; k < PLACES; ++k) {
        LashSolidFoot foot;
        LashCurvePoint at = lash_edge_point(in->f->shape, e, s);
        Vec3 p = lash_place(in->place, at.p);
        double limit = (depth + vec3_distance(p, in->point)) * (1 + 1e-6);
        if (!lash_solid_nearest(in->solid, p, limit, &foot)) return s;
        keep_deeper(best, in, p, &foot);
        double slope = -vec3_dot(mat3_mul(in->place->rot, at.d), foot.normal);
        if (best->depth >= enough || slope == 0) return s;
        Line line = {true, s, foot.inside ? foot.distance : -foot.distance, slope};
        if (slope > 0)
            up = line;
        else
            down = line;
        double to = s + (depth - line.depth) / slope;
        if (up.known && down.known)
            to = (down.depth - down.slope * down.at - up.depth + up.slope * up.at) /
                 (up.slope - down.slope);
        to = fmax(low, fmin(high, to));
        if (to == s) return s;
        s = to;
    }
    return s;
}

// The edge of a root ends where it still goes deeper: on along the other edges of that vertex, such as
// the straight part of an outline that the root's arc only touches.
static void look_beyond_end(const Inside* in, double s, double depth, double enough,
                            Deepest* best) {
    const LashShape* shape = in->f->shape;
    const LashEdge* e = in->f->edge;
    if (in->f->closed || (s != e->t0 && s != e->t1) || !(best->depth > 0)) return;
    int vertex = e->vertex[s == e->t1];
    if (vertex < 0) return;
    const LashVertex* end = shape->vertex + vertex;
    for (int k = 0; k < end->edges && best->depth < enough; ++k) {
        const LashEdge* other = shape->edge + shape->vertex_edge[end->first_edge + k];
        if (other == e) continue;
        look_along_edge(in, other, other->vertex[0] == vertex ? other->t0 : other->t1, depth,
                        enough, best);
    }
}

// A point of a face beside its vertex or edge (p, own frame; into: unit direction along the face). Parts of the same
// outline that lie flush on each other, or side by side between the same planes (gears, rollers), have every edge and
// vertex in a side of the other, at no depth; their faces are inside all the same. A free face is left by its curvature
// times the square of that little way, little against the face; of another the point must be in its trim.
static void look_into_face(const Inside* in, const LashFace* face, Vec3 p, Vec3 into, double depth,
                           Deepest* best) {
    static const double BESIDE = 3; // depths: the side is not nearer than the root's face
    bool free = face->type == LASH_FREEFORM;
    double size = vec3_distance(face->box.low, face->box.high), far = BESIDE * depth;
    if (free && far > 0.1 * size) return;
    Vec3 beside = vec3_add_scaled(p, far, into);
    for (int k = 0; k < 3 && !free; ++k) { // less far on a narrow face
        beside = vec3_add_scaled(p, far, into);
        beside = vec3_add_scaled(beside, -lash_face_distance(face, beside),
                                 lash_face_normal(face, beside));
        double border = LASH_BORDER_LENGTH * size;
        if (lash_trim_point(in->f->shape, face, beside, border) != LASH_OUTSIDE) break;
        if (k == 2) return;
        far *= 0.5;
    }
    LashSolidFoot foot;
    Vec3 point = lash_place(in->place, beside);
    if (lash_solid_nearest(in->solid, point, 2 * BESIDE * depth, &foot))
        keep_deeper(best, in, point, &foot);
}

// Both faces of the edge at e(t).
static void look_beside_edge(const Inside* in, const LashEdge* e, double t, double depth,
                             Deepest* best) {
    LashCurvePoint at = lash_edge_point(in->f->shape, e, t);
    for (int k = 0; k < 2; ++k) {
        const LashFace* face = e->face[k] >= 0 ? in->f->shape->face + e->face[k] : NULL;
        if (face == NULL) continue;
        // of round faces only where the edge itself is at no depth
        if (face->type != LASH_PLANE && best->depth >= fmax(SHALLOW, LEAST * depth)) continue;
        Vec3 normal = face->type == LASH_FREEFORM
                          ? lash_freeform_edge_normal(in->f->shape, face, e, t, at.p)
                          : lash_face_normal(face, at.p);
        Vec3 left = vec3_normalize(vec3_cross(normal, at.d));
        look_into_face(in, face, at.p, k == 0 ? left : vec3_neg(left), depth, best);
    }
}

// The face between two edges that leave a vertex.
static void look_between_edges(const Inside* in, const LashEdge* e, const LashEdge* f, double depth,
                               Deepest* best) {
    const LashShape* shape = in->f->shape;
    bool left = e->face[0] == f->face[0] || e->face[0] == f->face[1];
    bool right = e->face[1] == f->face[0] || e->face[1] == f->face[1];
    int common = left ? e->face[0] : e->face[1];
    if ((!left && !right) || common < 0 || shape->face[common].type != LASH_PLANE) return;
    Vec3 middle = {0};
    for (int k = 0; k < 2; ++k) {
        const LashEdge* edge = k == 0 ? e : f;
        bool first = shape->vertex + edge->vertex[0] == in->f->vertex;
        LashCurvePoint at = lash_edge_point(shape, edge, first ? edge->t0 : edge->t1);
        middle = vec3_add_scaled(middle, first ? 1 : -1, vec3_normalize(at.d));
    }
    if (vec3_norm(middle) > 0.1) // a half circle has its vertex on a line
        look_into_face(in, shape->face + common, in->f->vertex->point, vec3_normalize(middle),
                       depth, best);
}

// The vertex of a root on a face, not nearest to it: are all its edges above, and some of one
// half as deep as the root inside? m: outward direction of the vertex, its own frame.
static bool corner_is_inside(const Inside* in, Vec3 m, double depth) {
    const LashFeature* feature = in->f;
    const LashShape* s = feature->shape;
    Deepest best = {.depth = -1};
    bool border = false;
    if (in->solid == NULL || in->other->kind != LASH_FEATURE_FACE) return false;
    if (!lash_feature_owns(feature, feature->origin, NULL, m, LASH_BORDER_ANGLE, NULL, &border))
        return false;
    for (int k = 0; k < feature->vertex->edges && best.depth < HALF * depth; ++k) {
        const LashEdge* e = s->edge + s->vertex_edge[feature->vertex->first_edge + k];
        bool first = s->vertex + e->vertex[0] == feature->vertex;
        look_along_edge(in, e, first ? e->t0 : e->t1, depth, HALF * depth, &best);
        for (int j = 0; j < k && best.depth < HALF * depth; ++j)
            look_between_edges(in, e, s->edge + s->vertex_edge[feature->vertex->first_edge + j],
                               depth, &best);
    }
    return best.depth >= HALF * depth;
}

// A vertex or edge below two faces with a reentrant edge between them, and its foot beyond that edge:
// the nearest boundary point is on the reentrant edge.
static bool nearest_is_edge(const Inside* in, double depth, Deepest* best) {
    const LashFeature* feature = in->other;
    LashSolidFoot foot;
    if (feature->concave_edges == 0 || feature->face->type == LASH_FREEFORM) return false;
    if (lash_trim_point(feature->shape, feature->face, in->foot, feature->border) != LASH_OUTSIDE)
        return false;
    if (!lash_solid_nearest(in->solid, in->point, 1.5 * depth, &foot)) return false;
    if (!foot.inside || foot.edge < 0) return false;
    *best = (Deepest){foot.distance, in->point, foot, in};
    return true;
}

static bool is_chosen(const Inside* in, const LashSolidFoot* foot) {
    const LashEdge* e = foot->edge >= 0 ? in->other->shape->edge + foot->edge : NULL;
    if (e == NULL) return in->chosen[foot->face];
    return (e->face[0] >= 0 && in->chosen[e->face[0]]) ||
           (e->face[1] >= 0 && in->chosen[e->face[1]]);
}

// The root goes to the point's nearest boundary. of_a: the point is one of a.
static void move_root(LashRoot* root, const Deepest* deepest, bool of_a, const LashPlacement* b_a) {
    Vec3 point = deepest->point, foot = deepest->foot.foot, n = deepest->foot.normal;
    root->gap = -deepest->depth;
    root->boundary = true; // the other face finds it, too
    root->point_a = of_a ? point : lash_place(b_a, foot);
    root->point_b = of_a ? foot : lash_place(b_a, point);
    root->normal = of_a ? n : vec3_neg(mat3_mul(b_a->rot, n));
}

// A root that alone stands for what was found tells no more than twice of that. How its points move
// is not known: to second order it is one of planes, which lash_contact_operator tells.
static void raise_root(LashRoot* root, double depth) {
    root->raised = true;
    root->gap = -depth;
    root->point_b = vec3_add_scaled(root->point_a, depth, root->normal);
}

// Both features of a root deeper than SHALLOW, at least one of them to be looked at.
static bool counts_in_solids(const Inside in[2], const bool test[2], const LashPlacement* b_a,
                             LashRoot* root, PairVerdict* verdict) {
    const LashFeature *fa = in[0].f, *fb = in[1].f;
    double depth = -root->gap, enough = HALF * depth;
    bool vertex = fa->kind == LASH_FEATURE_VERTEX || fb->kind == LASH_FEATURE_VERTEX;
    bool edges = fa->kind == LASH_FEATURE_EDGE && fb->kind == LASH_FEATURE_EDGE;
    bool along = edges || root->beyond; // the root's point is not one to be looked at
    if (vertex) enough = depth * (1 - 1e-8) - ROUNDING * fmax(fa->size, fb->size);
    Deepest best = {.depth = -1};
    bool outside = false;
    for (int i = 0; i < 2; ++i)
        outside |= test[i] && !along && !look_at_point(in + i, depth, &best);
    bool edge = fa->kind == LASH_FEATURE_EDGE || fb->kind == LASH_FEATURE_EDGE;
    if (outside && !vertex && !edge) return false;
    for (int i = 0; i < 2; ++i) {
        if (!test[i] || in[i].f->kind != LASH_FEATURE_EDGE || best.depth >= enough) continue;
        double u =
            look_along_edge(in + i, in[i].f->edge, parameter_of(in + i), depth, enough, &best);
        if (best.depth < enough) look_beyond_end(in + i, u, depth, enough, &best);
        if (best.depth < enough)
            look_beside_edge(in + i, in[i].f->edge, parameter_of(in + i), depth, &best);
    }
    bool shallower = best.depth < enough;
    verdict->inside = best.depth > 0;
    if (vertex && (outside || shallower)) {
        if (fa->kind != LASH_FEATURE_VERTEX) return corner_is_inside(in + 1, root->normal, depth);
        return corner_is_inside(in, vec3_neg(mat3_mul_transposed(b_a->rot, root->normal)), depth);
    }
    if (shallower && best.depth < fmax(SHALLOW, LEAST * depth)) return false;
    if (shallower) {
        verdict->real = best.depth;
        raise_root(root, best.depth / HALF);
        return is_chosen(best.in, &best.foot);
    }
    bool sharp = best.in->f->kind != LASH_FEATURE_FACE;
    if (sharp && best.in->other->kind == LASH_FEATURE_FACE &&
        nearest_is_edge(best.in, depth, &best))
        move_root(root, &best, best.in == in, b_a);
    return true;
}

bool pair_root_counts(const PairSide* a, const PairSide* b, const PairCombination* combination,
                      const PairView* view, LashRoot* root, PairVerdict* verdict) {
    const LashFeature *fa = a->feature + combination->a, *fb = b->feature + combination->b;
    const LashSolid *solid_a = a->solid[combination->a], *solid_b = b->solid[combination->b];
    const bool faces = fa->kind == LASH_FEATURE_FACE && fb->kind == LASH_FEATURE_FACE;
    bool test[2] = {fa->kind != LASH_FEATURE_FACE || faces, fb->kind != LASH_FEATURE_FACE || faces};
    if ((test[0] && solid_b == NULL) || (test[1] && solid_a == NULL)) {
        if (combination->medial &&
            (owned_by_neighbor(b, combination->b, fa, lash_place(&view->b_a, fa->origin)) ||
             owned_by_neighbor(a, combination->a, fb, lash_place(&view->a_b, fb->origin))))
            return false;
        verdict->shadowed =
            root->shadowed || is_shadowed(b, combination->b, fa, root->point_a) ||
            is_shadowed(a, combination->a, fb, lash_place(&view->a_b, root->point_b));
    }
    if (root->gap < -SHALLOW && is_behind_wall(a, b, combination, view, root)) return false;
    test[0] = test[0] && solid_b != NULL;
    test[1] = test[1] && solid_a != NULL;
    if (!test[0] && !test[1]) return !root->beyond;
    if (root->gap > -SHALLOW) return true;
    Vec3 a_in_a = lash_place(&view->a_b, root->point_a),
         b_in_a = lash_place(&view->a_b, root->point_b);
    const Inside in[2] = {
        {fa, fb, solid_b, b->chosen, &view->b_a, root->point_a, root->point_b, root->t_a},
        {fb, fa, solid_a, a->chosen, &view->a_b, b_in_a, a_in_a, root->t_b},
    };
    return counts_in_solids(in, test, &view->b_a, root, verdict);
}
