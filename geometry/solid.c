// Inside or outside: the sign of the nearest boundary point.
//
// The nearest boundary point q of a point p lies inside a face, on an edge or at a vertex. With
// w = p - q and the outward normals there, p is outside when
//   face:    w . n > 0
//   edge:    w . (n1 + n2) > 0. Near a convex edge w lies in the cone of both normals, near a
//            concave one in that of their opposites: so convex is outside, concave inside, and a
//            smooth seam is like its faces.
//   vertex:  w . sum_i angle_i n_i > 0, angle_i that of face i at the vertex (Baerentzen and
//            Aanaes, Signed distance computation using the angle weighted pseudonormal, 2005).
// A foot on the border of a trim is left to the edge there: trims and edges agree to the CAD's
// tolerance only.
//
// A tree of boxes over faces and edges, free ones by their cells, finds q: a search with a small
// limit costs some compares.
#include "geometry/solid.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/math3.h"
#include "geometry/kernels/bezier.h"
#include "geometry/kernels/bounds.h"
#include "geometry/kernels/cells.h"
#include "geometry/kernels/freeform_normal.h"
#include "geometry/kernels/kernels_internal.h"
#include "geometry/kernels/trim.h"

typedef struct Item { // a face or an edge; of a free one a cell
    LashBox box;
    int face, edge;       // one of them is -1
    double p[2], half[2]; // cell: middle and half ranges of the parameters
} Item;

typedef struct Node {
    LashBox box;
    int first, count; // items of a leaf; count 0: children follow, the second at `right`
    int right;
} Node;

enum { LEAF = 4, DEEPEST = 64 };

struct LashSolid {
    const LashShape* shape;
    Item* item;
    Node* node;
    int items, nodes;
    double* border; // (faces of the part) width of the border of its trims [m]
    Vec3* normal;   // (vertices of the part) angle-weighted, not unit
    int first_face, first_vertex, vertices;
};

// ---- tree -------------------------------------------------------------------------------------

static Vec3 middle_of(const LashBox* box) {
    return vec3_scale(0.5, vec3_add(box->low, box->high));
}

static double along(Vec3 a, int axis) {
    if (axis == 0) return a.x;
    return axis == 1 ? a.y : a.z;
}

// Moves the items with the smaller middles to the front half (quickselect).
static void halve(Item* item, int count, int axis) {
    int low = 0, high = count - 1, half = count / 2;
    while (low < high) {
        double pivot = along(middle_of(&item[(low + high) / 2].box), axis);
        int i = low, k = high;
        while (i <= k) {
            while (along(middle_of(&item[i].box), axis) < pivot) ++i;
            while (along(middle_of(&item[k].box), axis) > pivot) --k;
            if (i > k) break;
            Item swap = item[i];
            item[i++] = item[k];
            item[k--] = swap;
        }
        if (half <= k)
            high = k;
        else if (half >= i)
            low = i;
        else
            return;
    }
}

static int build(LashSolid* solid, int first, int count) {
    int id = solid->nodes++;
    Item* item = solid->item + first;
    LashBox box = item[0].box, middles = {middle_of(&item[0].box), middle_of(&item[0].box)};
    for (int i = 1; i < count; ++i) {
        Vec3 m = middle_of(&item[i].box);
        box = lash_box_union(box, item[i].box);
        middles = lash_box_union(middles, (LashBox){m, m});
    }
    solid->node[id] = (Node){.box = box, .first = first, .count = count};
    if (count <= LEAF) return id;
    Vec3 e = vec3_sub(middles.high, middles.low);
    int axis = 2;
    if (e.x >= e.y && e.x >= e.z)
        axis = 0;
    else if (e.y >= e.z)
        axis = 1;
    halve(item, count, axis);
    solid->node[id].count = 0;
    build(solid, first, count / 2);
    int right = build(solid, first + count / 2, count - count / 2);
    solid->node[id].right = right;
    return id;
}

// ---- building ---------------------------------------------------------------------------------

static void add_item(LashSolid* solid, Item item, int* capacity) {
    if (solid->items == *capacity) {
        *capacity = 2 * *capacity + 64;
        solid->item = lash_realloc(solid->item, (size_t)*capacity * sizeof *solid->item);
    }
    solid->item[solid->items++] = item;
}

static LashBox wider(LashBox box, double by) {
    Vec3 h = vec3(by, by, by);
    return (LashBox){vec3_sub(box.low, h), vec3_add(box.high, h)};
}

// The cells of a free face or edge, each an item.
static void add_cells(LashSolid* solid, const LashFeature* f, int face, int edge, int* capacity) {
    LashFeature feature = *f;
    lash_feature_cells(&feature);
    for (int i = 0; i < feature.cells->cells; ++i) {
        const LashCell* c = feature.cells->cell + i;
        Item item = {.box = lash_cell_box(c),
                     .face = face,
                     .edge = edge,
                     .p = {c->p[0], c->p[1]},
                     .half = {c->half[0], c->half[1]}};
        add_item(solid, item, capacity);
    }
    lash_feature_release(&feature);
}

static void add_face(LashSolid* solid, int index, int* capacity) {
    const LashShape* s = solid->shape;
    const LashFace* face = s->face + index;
    double size = vec3_distance(face->box.low, face->box.high);
    double border = LASH_BORDER_LENGTH * size + 2 * lash_trim_mismatch(s, face);
    solid->border[index - solid->first_face] = border;
    if (face->type == LASH_FREEFORM) {
        LashFeature f = {
            .kind = LASH_FEATURE_FACE, .skeleton = LASH_SKELETON_SURFACE, .shape = s, .face = face};
        add_cells(solid, &f, index, -1, capacity);
        return;
    }
    Item item = {.box = wider(face->box, border + face->deviation), .face = index, .edge = -1};
    add_item(solid, item, capacity);
}

static void add_edge(LashSolid* solid, int index, int* capacity) {
    const LashShape* s = solid->shape;
    const LashEdge* e = s->edge + index;
    if (e->type == LASH_FREE_CURVE) {
        LashFeature f = {
            .kind = LASH_FEATURE_EDGE, .skeleton = LASH_SKELETON_CURVE, .shape = s, .edge = e};
        add_cells(solid, &f, -1, index, capacity);
        return;
    }
    double size = vec3_distance(e->box.low, e->box.high);
    Item item = {.box = wider(e->box, LASH_BORDER_LENGTH * size), .face = -1, .edge = index};
    add_item(solid, item, capacity);
}

static Vec3 face_normal_at(const LashShape* shape, int face, const LashEdge* e, double t, Vec3 p) {
    const LashFace* f = shape->face + face;
    if (f->type != LASH_FREEFORM) return lash_face_normal(f, p);
    return lash_freeform_edge_normal(shape, f, e, t, p);
}

typedef struct Spoke { // an edge that leaves a vertex
    Vec3 direction;
    const LashEdge* edge;
    double t;
    int left, right; // faces, seen from outside along the direction
} Spoke;

// The spokes of a vertex; both ends of an edge may be there.
static int spokes_of(const LashShape* shape, int vertex, Spoke* spoke, int most) {
    const LashVertex* v = shape->vertex + vertex;
    int count = 0;
    for (int k = 0; k < v->edges; ++k) {
        const LashEdge* e = shape->edge + shape->vertex_edge[v->first_edge + k];
        for (int end = 0; end < 2; ++end) {
            if (e->vertex[end] != vertex || count == most) continue;
            double t = end == 0 ? e->t0 : e->t1;
            Vec3 d = lash_edge_point(shape, e, t).d;
            double l = vec3_norm(d);
            if (!(l > 0)) continue;
            bool out = end == 0;
            spoke[count++] = (Spoke){.direction = vec3_scale((out ? 1 : -1) / l, d),
                                     .edge = e,
                                     .t = t,
                                     .left = e->face[out ? 0 : 1],
                                     .right = e->face[out ? 1 : 0]};
        }
    }
    return count;
}

// A face lies on the left of one spoke and, counterclockwise from there, on the right of the next
// one: the angle between them is its share.
static Vec3 vertex_normal(const LashShape* shape, int vertex) {
    enum { MOST = 32 };
    Spoke spoke[MOST];
    int count = spokes_of(shape, vertex, spoke, MOST);
    Vec3 sum = vec3_zero();
    for (int i = 0; i < count; ++i) {
        int face = spoke[i].left;
        if (face < 0) continue;
        Vec3 n =
            face_normal_at(shape, face, spoke[i].edge, spoke[i].t, shape->vertex[vertex].point);
        double least = 2 * LASH_PI;
        for (int k = 0; k < count; ++k) {
            if (spoke[k].right != face || k == i) continue;
            Vec3 a = spoke[i].direction, b = spoke[k].direction;
            double angle = atan2(vec3_dot(n, vec3_cross(a, b)), vec3_dot(a, b));
            if (angle < 0) angle += 2 * LASH_PI;
            least = fmin(least, angle);
        }
        sum = vec3_add_scaled(sum, least, n);
    }
    return sum;
}

static LashSolid* solid_create(const LashShape* shape, int part) {
    const LashShapePart* shape_part = shape->part + part;
    LashSolid* solid = lash_alloc(sizeof *solid);
    int capacity = 0;
    solid->shape = shape;
    solid->first_face = shape_part->first_face;
    solid->first_vertex = shape_part->first_vertex;
    solid->vertices = shape_part->vertices;
    solid->border = lash_alloc(((size_t)shape_part->faces + 1) * sizeof *solid->border);
    solid->normal = lash_alloc(((size_t)shape_part->vertices + 1) * sizeof *solid->normal);
    for (int i = 0; i < shape_part->faces; ++i)
        add_face(solid, shape_part->first_face + i, &capacity);
    for (int i = 0; i < shape_part->edges; ++i)
        add_edge(solid, shape_part->first_edge + i, &capacity);
    for (int i = 0; i < shape_part->vertices; ++i)
        solid->normal[i] = vertex_normal(shape, shape_part->first_vertex + i);
    solid->node = lash_alloc((2 * (size_t)solid->items + 1) * sizeof *solid->node);
    if (solid->items > 0) build(solid, 0, solid->items);
    return solid;
}

static void solid_destroy(LashSolid* solid) {
    if (solid == NULL) return;
    lash_free(solid->item);
    lash_free(solid->node);
    lash_free(solid->border);
    lash_free(solid->normal);
    lash_free(solid);
}

// Two threads may make it at once: one of both stays.
const LashSolid* lash_shape_solid(const LashShape* shape, int part) {
    if (shape->solid == NULL || part >= shape->parts) return NULL; // faces alone
    const LashShapePart* shape_part = shape->part + part;
    if (!shape_part->closed || shape_part->faces == 0) return NULL;
    LashSolid** place = shape->solid + part;
    LashSolid* made = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (made != NULL) return made;
    LashSolid* solid = solid_create(shape, part);
    if (__atomic_compare_exchange_n(place, &made, solid, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return solid;
    solid_destroy(solid);
    return made;
}

void lash_shape_solids_destroy(LashShape* shape) {
    if (shape->solid == NULL) return;
    for (int i = 0; i < shape->parts; ++i) solid_destroy(shape->solid[i]);
    lash_free(shape->solid);
}

// ---- nearest ----------------------------------------------------------------------------------

static void keep_face(int face, double distance, bool inside, Vec3 foot, Vec3 normal,
                      LashSolidFoot* best) {
    *best = (LashSolidFoot){.distance = distance,
                            .inside = inside,
                            .foot = foot,
                            .normal = normal,
                            .face = face,
                            .edge = -1,
                            .vertex = -1};
}

// The tip of a cone belongs to no edge.
static void look_at_tip(const LashSolid* solid, int index, Vec3 p, LashSolidFoot* best) {
    const LashFace* face = solid->shape->face + index;
    double sine = sin(face->half_angle);
    if (face->type != LASH_CONE || sine == 0) return;
    double v = -face->radius / sine, size = fabs(face->v1 - face->v0);
    if (fabs(v - face->v0) > 1e-9 * size && fabs(v - face->v1) > 1e-9 * size) return;
    Vec3 tip = vec3_add_scaled(face->origin, v * cos(face->half_angle), face->z);
    double d = vec3_distance(p, tip);
    if (d < best->distance) keep_face(index, d, face->side < 0, tip, face->z, best);
}

static void look_at_face(const LashSolid* solid, int index, Vec3 p, LashSolidFoot* best) {
    const LashFace* face = solid->shape->face + index;
    double e = lash_face_distance(face, p), d = fabs(e);
    if (!(d < best->distance)) return;
    Vec3 n = lash_face_normal(face, p), foot = vec3_add_scaled(p, -e, n);
    double border = solid->border[index - solid->first_face];
    if (lash_trim_point(solid->shape, face, foot, border) == LASH_INSIDE)
        keep_face(index, d, e < 0, foot, n, best);
    else
        look_at_tip(solid, index, p, best);
}

static double clamp(double x, double low, double high) {
    if (x < low) return low;
    return x > high ? high : x;
}

// Newton for the nearest point of a cell; a point on its border will do, the next cell is better.
static void look_at_patch(const LashSolid* solid, const Item* cell, Vec3 p, LashSolidFoot* best) {
    const LashShape* s = solid->shape;
    const LashFace* face = s->face + cell->face;
    double u = cell->p[0], v = cell->p[1];
    LashSurfacePoint at = lash_face_point(s, face, u, v);
    for (int k = 0; k < 12; ++k) {
        Vec3 r = vec3_sub(at.p, p);
        double f = vec3_dot(r, at.u), g = vec3_dot(r, at.v);
        double a = vec3_dot(at.u, at.u), b = vec3_dot(at.u, at.v), c = vec3_dot(at.v, at.v);
        double A = a + vec3_dot(r, at.uu), B = b + vec3_dot(r, at.uv), C = c + vec3_dot(r, at.vv);
        if (A * C - B * B > 1e-3 * (a * c - b * b) && A > 0) { // convex: Newton, else Gauss-Newton
            a = A;
            b = B;
            c = C;
        }
        double det = a * c - b * b;
        if (!(det > 0)) break;
        double to_u = u - (c * f - b * g) / det, to_v = v - (a * g - b * f) / det;
        to_u = clamp(to_u, cell->p[0] - cell->half[0], cell->p[0] + cell->half[0]);
        to_v = clamp(to_v, cell->p[1] - cell->half[1], cell->p[1] + cell->half[1]);
        bool done = fabs(to_u - u) <= 1e-13 * cell->half[0] + 4e-16 * fabs(u) &&
                    fabs(to_v - v) <= 1e-13 * cell->half[1] + 4e-16 * fabs(v);
        u = to_u;
        v = to_v;
        at = lash_face_point(s, face, u, v);
        if (done) break;
    }
    double d = vec3_distance(p, at.p);
    if (!(d < best->distance)) return;
    double border = solid->border[cell->face - solid->first_face];
    if (lash_trim_parameters(s, face, u, v, border) != LASH_INSIDE) return;
    Vec3 n = vec3_scale(face->side, vec3_normalize(vec3_cross(at.u, at.v)));
    keep_face(cell->face, d, vec3_dot(vec3_sub(p, at.p), n) < 0, at.p, n, best);
}

// Point q of an edge at t.
static void keep_edge(const LashSolid* solid, int index, double t, Vec3 q, Vec3 p,
                      LashSolidFoot* best) {
    const LashShape* s = solid->shape;
    const LashEdge* e = s->edge + index;
    Vec3 w = vec3_sub(p, q), n = vec3_zero();
    double d = vec3_norm(w), hair = 1e-12 * (e->t1 - e->t0);
    if (!(d < best->distance)) return;
    int vertex = -1;
    if (t <= e->t0 + hair) vertex = e->vertex[0];
    if (t >= e->t1 - hair) vertex = e->vertex[1];
    if (vertex - solid->first_vertex >= solid->vertices) vertex = -1;
    if (vertex < solid->first_vertex) vertex = -1;
    for (int i = 0; i < 2 && vertex < 0; ++i)
        if (e->face[i] >= 0) n = vec3_add(n, face_normal_at(s, e->face[i], e, t, q));
    if (vertex >= 0) n = solid->normal[vertex - solid->first_vertex];
    bool inside = vec3_dot(w, n) < 0;
    *best = (LashSolidFoot){.distance = d,
                            .inside = inside,
                            .foot = q,
                            .normal = d > 0 ? vec3_scale((inside ? -1 : 1) / d, w) : n,
                            .face = e->face[0] >= 0 ? e->face[0] : e->face[1],
                            .edge = index,
                            .vertex = vertex};
}

static void look_at_edge(const LashSolid* solid, int index, Vec3 p, LashSolidFoot* best) {
    const LashEdge* e = solid->shape->edge + index;
    Vec3 w = vec3_sub(p, e->origin);
    if (e->type == LASH_LINE) {
        double t = clamp(vec3_dot(w, e->z), e->t0, e->t1);
        keep_edge(solid, index, t, vec3_add_scaled(e->origin, t, e->z), p, best);
        return;
    }
    double z = vec3_dot(w, e->z), x = vec3_dot(w, e->x), y = vec3_dot(w, e->y);
    double off = hypot(hypot(x, y) - e->radius, z);
    if (!(off < best->distance)) return;
    double t = atan2(y, x);
    t = e->t0 + (t - e->t0) - 2 * LASH_PI * floor((t - e->t0) / (2 * LASH_PI));
    if (t > e->t1) t = t - e->t1 < e->t0 + 2 * LASH_PI - t ? e->t1 : e->t0;
    Vec3 out = vec3_add(vec3_scale(cos(t), e->x), vec3_scale(sin(t), e->y));
    keep_edge(solid, index, t, vec3_add_scaled(e->origin, e->radius, out), p, best);
}

static void look_at_curve(const LashSolid* solid, const Item* cell, Vec3 p, LashSolidFoot* best) {
    const LashShape* s = solid->shape;
    const LashEdge* e = s->edge + cell->edge;
    double low = fmax(e->t0, cell->p[0] - cell->half[0]), t = cell->p[0];
    double high = fmin(e->t1, cell->p[0] + cell->half[0]);
    LashCurvePoint at = lash_edge_point(s, e, t);
    for (int k = 0; k < 12; ++k) {
        Vec3 r = vec3_sub(at.p, p);
        double f = vec3_dot(r, at.d), a = vec3_dot(at.d, at.d), A = a + vec3_dot(r, at.dd);
        if (!(a > 0)) break;
        double to = clamp(t - f / (A > 1e-3 * a ? A : a), low, high);
        bool done = fabs(to - t) <= 1e-13 * cell->half[0] + 4e-16 * fabs(t);
        t = to;
        at = lash_edge_point(s, e, t);
        if (done) break;
    }
    keep_edge(solid, cell->edge, t, at.p, p, best);
}

static void look_at(const LashSolid* solid, const Item* item, Vec3 p, LashSolidFoot* best) {
    bool cell = item->half[0] > 0;
    if (item->face >= 0 && cell)
        look_at_patch(solid, item, p, best);
    else if (item->face >= 0)
        look_at_face(solid, item->face, p, best);
    else if (cell)
        look_at_curve(solid, item, p, best);
    else
        look_at_edge(solid, item->edge, p, best);
}

static double box_distance2(const LashBox* box, Vec3 p) {
    double x = fmax(0, fmax(box->low.x - p.x, p.x - box->high.x));
    double y = fmax(0, fmax(box->low.y - p.y, p.y - box->high.y));
    double z = fmax(0, fmax(box->low.z - p.z, p.z - box->high.z));
    return x * x + y * y + z * z;
}

bool lash_solid_nearest(const LashSolid* solid, Vec3 p, double limit, LashSolidFoot* foot) {
    int stack[DEEPEST], depth = 0;
    LashSolidFoot best = {.distance = limit, .face = -1, .edge = -1, .vertex = -1};
    if (solid->items > 0) stack[depth++] = 0;
    while (depth > 0) {
        int id = stack[--depth];
        const Node* node = solid->node + id;
        double near2 = best.distance * best.distance;
        if (!(box_distance2(&node->box, p) < near2)) continue;
        if (node->count == 0) {
            const Node *left = node + 1, *right = solid->node + node->right;
            bool swap = box_distance2(&left->box, p) < box_distance2(&right->box, p);
            stack[depth++] = swap ? node->right : id + 1; // the nearer one is taken next
            stack[depth++] = swap ? id + 1 : node->right;
            continue;
        }
        for (int i = node->first; i < node->first + node->count; ++i) {
            const Item* item = solid->item + i;
            if (box_distance2(&item->box, p) < best.distance * best.distance)
                look_at(solid, item, p, &best);
        }
    }
    if (best.face < 0) return false;
    *foot = best;
    return true;
}
