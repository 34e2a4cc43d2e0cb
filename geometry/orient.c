// Three ways to tell the outside of loose faces, see docs/geometry.md.
//
// By the solid: sampled points of the group (of its viewing mesh) lie on the solid's boundary, and
// both normals agree or are opposite there. By points: a point is held against the endless surface
// of the group's face that it is nearest to; an endless surface, so that a shaft longer than its
// bearing is inside it all along.
#include "geometry/orient.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/math3.h"
#include "geometry/extract.h"
#include "geometry/kernels/trim.h"
#include "geometry/solid.h"

static const double CLEAR = 1e-6; // [m] what is nearer is on neither side: CAD is as good as that
static const double ON_SOLID = 1e-5; // of the solid's size: faces taken out of it lie on it
static const double ALIKE = 0.9;     // cosine: normals of the same surface
enum { SAMPLES = 200 };              // triangles per group

// ---- groups -------------------------------------------------------------------------------------

static int root_of(int* group, int face) {
    while (group[face] != face) face = group[face] = group[group[face]];
    return face;
}

int lash_loose_groups(const LashShape* shape, int* group) {
    int count = 0;
    for (int i = 0; i < shape->faces; ++i) group[i] = i;
    for (int i = 0; i < shape->edges; ++i) {
        const int* face = shape->edge[i].face;
        if (face[0] >= 0 && face[1] >= 0) group[root_of(group, face[0])] = root_of(group, face[1]);
    }
    for (int i = 0; i < shape->faces; ++i) group[i] = root_of(group, i);
    int* number = lash_alloc(((size_t)shape->faces + 1) * sizeof *number);
    for (int i = 0; i < shape->faces; ++i) {
        bool loose = !shape->part[shape->face[i].part].closed;
        if (group[i] == i) number[i] = loose ? count++ : -1;
    }
    for (int i = 0; i < shape->faces; ++i) group[i] = number[group[i]];
    lash_free(number);
    return count;
}

// ---- by the solid -------------------------------------------------------------------------------

static Vec3 corner(const LashShape* shape, int triangle, int k) {
    const float* p =
        shape->mesh_point + 3 * (size_t)shape->triangle[3 * (size_t)triangle + (size_t)k];
    return vec3(p[0], p[1], p[2]);
}

static Vec3 triangle_normal(const LashShape* shape, int triangle) {
    Vec3 a = corner(shape, triangle, 0);
    return vec3_cross(vec3_sub(corner(shape, triangle, 1), a),
                      vec3_sub(corner(shape, triangle, 2), a));
}

// The middle of a triangle, on the surface where that is elementary, and the normal there.
static Vec3 sample(const LashShape* shape, int triangle, Vec3* normal) {
    const LashFace* face = shape->face + shape->triangle_face[triangle];
    Vec3 p = vec3_zero();
    for (int k = 0; k < 3; ++k) p = vec3_add_scaled(p, 1.0 / 3, corner(shape, triangle, k));
    *normal = vec3_normalize(triangle_normal(shape, triangle));
    if (face->type == LASH_FREEFORM) return corner(shape, triangle, 0);
    *normal = lash_face_normal(face, p);
    return vec3_add_scaled(p, -lash_face_distance(face, p), *normal);
}

static bool nearest_of_all(const LashShape* shape, Vec3 p, double limit, LashSolidFoot* foot) {
    bool found = false;
    for (int i = 0; i < shape->parts; ++i) {
        const LashSolid* solid = lash_shape_solid(shape, i);
        if (solid == NULL || !lash_solid_nearest(solid, p, limit, foot)) continue;
        limit = foot->distance;
        found = true;
    }
    return found;
}

LashOutside lash_outside_by_solid(const LashShape* shape, const int* group, int which,
                                  const LashShape* solid) {
    int triangles = 0, seen = 0, alike = 0, opposite = 0, off = 0;
    double size = 0;
    for (int i = 0; i < solid->parts; ++i)
        size = fmax(size, vec3_distance(solid->part[i].box.low, solid->part[i].box.high));
    for (int i = 0; i < shape->triangles; ++i) triangles += group[shape->triangle_face[i]] == which;
    int step = 1 + triangles / SAMPLES;
    for (int i = 0; i < shape->triangles; ++i) {
        LashSolidFoot foot;
        Vec3 n;
        const LashFace* face = shape->face + shape->triangle_face[i];
        if (group[shape->triangle_face[i]] != which || seen++ % step != 0) continue;
        Vec3 p = sample(shape, i, &n);
        double limit = fmax(CLEAR, ON_SOLID * size) + face->deviation;
        if (!nearest_of_all(solid, p, limit, &foot) || foot.edge >= 0) {
            ++off;
            continue;
        }
        double cosine = vec3_dot(n, foot.normal);
        alike += cosine > ALIKE;
        opposite += cosine < -ALIKE;
    }
    // a patch may overhang a hole or a rounding that was drawn later
    if (alike > 0 && opposite == 0 && alike >= off) return LASH_OUTSIDE_AS_WRITTEN;
    if (opposite > 0 && alike == 0 && opposite >= off) return LASH_OUTSIDE_TURNED;
    return LASH_OUTSIDE_UNKNOWN;
}

// ---- by points ----------------------------------------------------------------------------------

// Squared distance of p from a triangle, by the nearest of its corners, edges and inside.
static double triangle_distance2(const LashShape* shape, int triangle, Vec3 p) {
    Vec3 q[3] = {corner(shape, triangle, 0), corner(shape, triangle, 1),
                 corner(shape, triangle, 2)};
    Vec3 n = vec3_cross(vec3_sub(q[1], q[0]), vec3_sub(q[2], q[0]));
    double best = INFINITY, nn = vec3_norm_squared(n);
    bool inside = nn > 0;
    for (int k = 0; k < 3; ++k) {
        Vec3 a = q[k], e = vec3_sub(q[(k + 1) % 3], a), w = vec3_sub(p, a);
        double ee = vec3_norm_squared(e), t = ee > 0 ? vec3_dot(w, e) / ee : 0;
        Vec3 foot = vec3_add_scaled(a, fmax(0, fmin(1, t)), e);
        best = fmin(best, vec3_norm_squared(vec3_sub(p, foot)));
        inside = inside && vec3_dot(vec3_cross(e, w), n) >= 0;
    }
    if (!inside) return best;
    double height = vec3_dot(vec3_sub(p, q[0]), n);
    return height * height / nn;
}

// Signed distance from the group's surface, > 0 outside as written.
static double distance_from(const LashShape* shape, const int* group, int which, Vec3 p) {
    int nearest = -1, faces = 0, face = -1;
    double best = INFINITY;
    for (int i = 0; i < shape->faces; ++i) {
        if (group[i] != which) continue;
        face = i;
        ++faces;
    }
    if (faces == 1 && shape->face[face].type != LASH_FREEFORM)
        return lash_face_distance(shape->face + face, p);
    for (int i = 0; i < shape->triangles; ++i) {
        if (group[shape->triangle_face[i]] != which) continue;
        double d = triangle_distance2(shape, i, p);
        if (d < best) {
            best = d;
            nearest = i;
        }
    }
    if (nearest < 0) return 0;
    const LashFace* f = shape->face + shape->triangle_face[nearest];
    if (f->type != LASH_FREEFORM) return lash_face_distance(f, p);
    double height =
        vec3_dot(vec3_sub(p, corner(shape, nearest, 0)), triangle_normal(shape, nearest));
    return copysign(sqrt(best), height);
}

void lash_outside_add_point(const LashShape* shape, const int* group, int which, Vec3 point,
                            double offset, LashOutsidePoints* points) {
    double d = distance_from(shape, group, which, point);
    bool written = d + offset >= -CLEAR, turned = -d + offset >= -CLEAR;
    points->clear[0] += d + offset > CLEAR;
    points->clear[1] += -d + offset > CLEAR;
    points->both += written && turned;
    points->neither += !written && !turned;
    points->as_written += written && !turned;
    points->turned += turned && !written;
}

LashOutside lash_outside_by_points(const LashOutsidePoints* points) {
    if (points->neither > 0) return LASH_OUTSIDE_UNKNOWN;
    if (points->turned == 0 && points->as_written > 0 && points->clear[0] > 0)
        return LASH_OUTSIDE_AS_WRITTEN;
    if (points->as_written == 0 && points->turned > 0 && points->clear[1] > 0)
        return LASH_OUTSIDE_TURNED;
    return LASH_OUTSIDE_UNKNOWN;
}

// ---- turning ------------------------------------------------------------------------------------

static LashConvexity opposite_of(LashConvexity c) {
    if (c == LASH_CONVEX) return LASH_CONCAVE;
    return c == LASH_CONCAVE ? LASH_CONVEX : c;
}

static void turn_edge(LashEdge* edge, const uint8_t* turned) {
    bool first = edge->face[0] >= 0 && turned[edge->face[0]];
    bool second = edge->face[1] >= 0 && turned[edge->face[1]];
    if (!first && !second) return;
    bool both = edge->face[0] >= 0 && edge->face[1] >= 0;
    int left = edge->face[0];
    edge->face[0] = edge->face[1]; // left and right, seen from outside
    edge->face[1] = left;
    if (both) edge->convexity = first == second ? opposite_of(edge->convexity) : LASH_FREE;
}

// A vertex touches like its edges: convex and free ones do.
static void turn_vertex(LashShape* shape, LashVertex* vertex) {
    LashConvexity all = LASH_FREE;
    for (int k = 0; k < vertex->edges; ++k) {
        LashConvexity c = shape->edge[shape->vertex_edge[vertex->first_edge + k]].convexity;
        if (c == LASH_CONCAVE) all = LASH_CONCAVE;
        if (c == LASH_CONVEX && all == LASH_FREE) all = LASH_CONVEX;
    }
    vertex->convexity = all;
}

static void turn_mesh(LashShape* shape, const uint8_t* turned) {
    uint8_t* done = lash_alloc((size_t)shape->mesh_vertices + 1);
    for (int i = 0; i < shape->triangles; ++i) {
        int* v = shape->triangle + 3 * (size_t)i;
        if (!turned[shape->triangle_face[i]]) continue;
        for (int k = 0; k < 3; ++k) {
            float* n = shape->mesh_normal + 3 * (size_t)v[k];
            for (int m = 0; m < 3 && !done[v[k]]; ++m) n[m] = -n[m];
            done[v[k]] = 1;
        }
        int second = v[1];
        v[1] = v[2];
        v[2] = second;
    }
    lash_free(done);
}

LashShape* lash_shape_turn(const LashShape* shape, const uint8_t* turned) {
    uint8_t* all = lash_alloc((size_t)shape->parts + 1);
    memset(all, 1, (size_t)shape->parts);
    LashShape* copy = lash_shape_extract(shape, all); // the same rows
    lash_free(all);
    for (int i = 0; i < copy->faces; ++i) {
        if (!turned[i]) continue;
        copy->face[i].side = -copy->face[i].side;
        const LashBox* box = &copy->part[copy->face[i].part].box; // it was that of the other side
        copy->face[i].reach = vec3_distance(box->low, box->high);
    }
    for (int i = 0; i < copy->edges; ++i) turn_edge(copy->edge + i, turned);
    for (int i = 0; i < copy->vertices; ++i) {
        const LashVertex* v = copy->vertex + i;
        bool any = false;
        for (int k = 0; k < v->edges; ++k) {
            const int* face = copy->edge[copy->vertex_edge[v->first_edge + k]].face;
            any |= (face[0] >= 0 && turned[face[0]]) || (face[1] >= 0 && turned[face[1]]);
        }
        if (any) turn_vertex(copy, copy->vertex + i);
    }
    turn_mesh(copy, turned);
    return copy;
}
