// The deepest of some points of each side in the solids of the other.
//
// Triangles of the viewing mesh are cut until their sides are SHARE of the part: a place where parts
// are in each other by a tenth of their size is not missed. The mesh is off the surface by up to
// COARSE of its part, so less than that is no overlap.
#include "geometry/interference.h"

#include <math.h>

#include "core/arena.h"
#include "geometry/kernels/bezier.h"
#include "geometry/kernels/bounds.h"
#include "geometry/pairs_internal.h"

static const double COARSE = 1.5e-3;  // of the part's diagonal: deflection of the mesh, and half
static const double SHARE = 0.07;     // of the part's diagonal
enum { TRIANGLES = 4000, CUTS = 16 }; // looked at per side; most pieces per side of a triangle

typedef struct Looking {
    const PairSide *own, *other;
    Pose world_own, other_own, world_other; // shapes
    bool of_a;                              // own is a
    LashInterference best;
} Looking;

static double diagonal(const LashBox* box) {
    return vec3_distance(box->low, box->high);
}

static void look_at(Looking* look, Vec3 own_point, double coarse) {
    const LashShape* s = look->other->shape;
    Vec3 p = pose_point(look->other_own, own_point);
    for (int i = 0; i < s->parts; ++i) {
        LashSolidFoot foot;
        const LashSolid* solid = NULL;
        if (lash_box_distance(&s->part[i].box, p) == 0) solid = lash_shape_solid(s, i);
        if (solid == NULL || !lash_solid_nearest(solid, p, INFINITY, &foot)) continue;
        if (!foot.inside || !look->other->chosen[foot.face] || foot.distance <= coarse) continue;
        if (foot.distance <= look->best.depth) continue;
        Vec3 n = quat_rotate(look->world_other.rot, foot.normal);
        look->best.depth = foot.distance;
        look->best.point = pose_point(look->world_own, own_point);
        look->best.normal = look->of_a ? n : vec3_neg(n);
    }
}

static Vec3 mesh_point(const LashShape* shape, int vertex) {
    const float* p = shape->mesh_point + 3 * (size_t)vertex;
    return vec3(p[0], p[1], p[2]);
}

// A triangle is within its longest side of each of its corners.
static bool is_away(const Looking* look, Vec3 corner, double longest) {
    const LashShape* s = look->other->shape;
    Vec3 p = pose_point(look->other_own, corner);
    for (int i = 0; i < s->parts; ++i)
        if (lash_box_distance(&s->part[i].box, p) <= 1.001 * longest) return false;
    return true;
}

static void look_at_triangle(Looking* look, int triangle, double size) {
    const LashShape* s = look->own->shape;
    const int* v = s->triangle + 3 * (size_t)triangle;
    Vec3 a = mesh_point(s, v[0]), b = mesh_point(s, v[1]), c = mesh_point(s, v[2]);
    double longest = fmax(vec3_distance(a, b), fmax(vec3_distance(b, c), vec3_distance(c, a)));
    if (is_away(look, a, longest)) return;
    int cuts = (int)fmin(CUTS, ceil(longest / (SHARE * size)));
    if (cuts < 1) cuts = 1;
    for (int i = 0; i <= cuts; ++i) {
        for (int k = 0; i + k <= cuts; ++k) {
            Vec3 p = vec3_add_scaled(a, (double)i / cuts, vec3_sub(b, a));
            look_at(look, vec3_add_scaled(p, (double)k / cuts, vec3_sub(c, a)), COARSE * size);
        }
    }
}

static void look_at_side(Looking* look) {
    const LashShape* s = look->own->shape;
    int chosen = 0, seen = 0;
    for (int i = 0; i < s->triangles; ++i) chosen += look->own->chosen[s->triangle_face[i]];
    int step = 1 + chosen / TRIANGLES;
    for (int i = 0; i < s->triangles; ++i) {
        int face = s->triangle_face[i];
        if (!look->own->chosen[face] || seen++ % step != 0) continue;
        look_at_triangle(look, i, diagonal(&s->part[s->face[face].part].box));
    }
}

LashInterference lash_pair_interference(const LashPair* pair, Pose world_a, Pose world_b) {
    Pose a = pose_mul(world_a, pair->a.body_shape), b = pose_mul(world_b, pair->b.body_shape);
    Looking look = {.own = &pair->a,
                    .other = &pair->b,
                    .world_own = a,
                    .world_other = b,
                    .other_own = pose_mul(pose_inverse(b), a),
                    .of_a = true};
    look_at_side(&look);
    look.own = &pair->b;
    look.other = &pair->a;
    look.world_own = b;
    look.world_other = a;
    look.other_own = pose_inverse(look.other_own);
    look.of_a = false;
    look_at_side(&look);
    look.best.depth = fmax(0, look.best.depth - fmax(0, pair->offset));
    return look.best;
}

// ---- through faces that were left out -----------------------------------------------------------

static const double TOUCH = 1e-7; // [m] what is less deep lies on the face
enum { PLACES = 64 };             // looked at per edge

static bool is_left_out(const PairSide* side, const LashSolidFoot* foot) {
    if (side->chosen[foot->face]) return false;
    if (foot->edge < 0) return true;
    const int* face = side->shape->edge[foot->edge].face;
    return !(face[0] >= 0 && side->chosen[face[0]]) && !(face[1] >= 0 && side->chosen[face[1]]);
}

static void look_for_intrusion(const Looking* look, Vec3 own_point, LashIntrusion* best) {
    const LashShape* s = look->other->shape;
    Vec3 p = pose_point(look->other_own, own_point);
    for (int i = 0; i < s->parts; ++i) {
        LashSolidFoot foot;
        const LashSolid* solid = NULL;
        if (lash_box_distance(&s->part[i].box, p) == 0) solid = lash_shape_solid(s, i);
        if (solid == NULL || !lash_solid_nearest(solid, p, INFINITY, &foot)) continue;
        if (!foot.inside || foot.distance <= fmax(TOUCH, best->depth)) continue;
        if (!is_left_out(look->other, &foot)) continue;
        best->depth = foot.distance;
        best->point = pose_point(look->world_own, own_point);
        best->into_a = !look->of_a;
        best->face = s->face + foot.face;
        best->name = lash_shape_string(s, best->face->name);
    }
}

// Corners, edges and mesh of the chosen faces: points that lie on them exactly.
static void look_for_intrusions(const Looking* look, LashIntrusion* best) {
    const PairSide* own = look->own;
    const LashShape* s = own->shape;
    for (int i = 0; i < own->features; ++i) {
        const LashFeature* f = own->feature + i;
        if (f->kind == LASH_FEATURE_VERTEX) look_for_intrusion(look, f->origin, best);
        for (int k = 0; k <= PLACES && f->kind == LASH_FEATURE_EDGE; ++k) {
            double t = f->edge->t0 + (f->edge->t1 - f->edge->t0) * k / PLACES;
            look_for_intrusion(look, lash_edge_point(s, f->edge, t).p, best);
        }
    }
    uint8_t* done = lash_alloc((size_t)s->mesh_vertices + 1);
    for (int i = 0; i < 3 * s->triangles; ++i) {
        int v = s->triangle[i];
        if (!own->chosen[s->triangle_face[i / 3]] || done[v]) continue;
        done[v] = 1;
        look_for_intrusion(look, mesh_point(s, v), best);
    }
    lash_free(done);
}

LashIntrusion lash_pair_intrusion(const LashPair* pair, Pose world_a, Pose world_b) {
    Pose a = pose_mul(world_a, pair->a.body_shape), b = pose_mul(world_b, pair->b.body_shape);
    LashIntrusion best = {0};
    Looking of_a = {.own = &pair->a,
                    .other = &pair->b,
                    .world_own = a,
                    .world_other = b,
                    .other_own = pose_mul(pose_inverse(b), a),
                    .of_a = true};
    Looking of_b = {.own = &pair->b,
                    .other = &pair->a,
                    .world_own = b,
                    .world_other = a,
                    .other_own = pose_mul(pose_inverse(a), b)};
    look_for_intrusions(&of_a, &best);
    look_for_intrusions(&of_b, &best);
    return best;
}
