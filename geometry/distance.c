// The least distance of two sets of faces by branch and bound over their features.
//
// The nearest points of two closed sets lie on a common normal: inside two faces, or on an edge or
// vertex of one of them, whose normals are then any directions. So every pair of features whose
// proven lower bound (bounds.h) is below the best distance so far goes to the contact kernels, with
// edges and vertices that own every direction, and the least |gap| of all roots is the distance.
//
// The kernels look at the outer sides of faces. Behind an elementary face (its reach is taken as
// infinite here) points are seen too, with a negative gap. What is not seen is the back of a curved
// face nearer to another face than all edges and fronts are: a ball beside the tube whose bore is
// chosen; the distance is then that of the edges.
#include "geometry/distance.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "geometry/kernels/bounds.h"
#include "geometry/kernels/kernels_internal.h"

typedef struct Side {
    LashFeature* feature; // (features)
    LashFeature* open;    // (features) the same with infinite reach; borrows the cells
    int features;
    Pose body_shape;
} Side;

typedef struct Combination {
    int a, b;
    bool free;
} Combination;

struct LashDistance {
    Side a, b;
    Combination* combination;
    int combinations;
    double* expiry; // (combinations) travel at which the proven bound is used up [m]
    double travel;  // relative motion of all queries: no point of a moved farther against b [m]
    double radius;  // of a about its shape's origin [m]
    bool started;
    Vec3 r; // of a in b's frame in the last query
    Quat rotation;
    int last; // the combination that was nearest in the last query
};

// ---- features -----------------------------------------------------------------------------------

static void mark(const LashPairSide* def, uint8_t* face, uint8_t* edge, uint8_t* vertex) {
    const LashShape* s = def->shape;
    bool all = def->face_count == 0 && def->edge_count == 0;
    for (int i = 0; i < s->faces; ++i) face[i] = all;
    for (int i = 0; i < def->face_count; ++i) face[def->faces[i]] = 1;
    for (int i = 0; i < s->edges; ++i) {
        edge[i] = all;
        for (int k = 0; k < 2; ++k)
            if (s->edge[i].face[k] >= 0 && face[s->edge[i].face[k]]) edge[i] = 1;
    }
    for (int i = 0; i < def->edge_count; ++i) edge[def->edges[i]] = 1;
    for (int i = 0; i < s->vertices; ++i) {
        const LashVertex* v = s->vertex + i;
        vertex[i] = all;
        for (int k = 0; k < v->edges; ++k)
            if (edge[s->vertex_edge[v->first_edge + k]]) vertex[i] = 1;
    }
}

// In penetration faces go on behind concave edges; for a distance they end there.
static LashFeature face_within_its_border(const LashShape* shape, int index) {
    LashFeature f = lash_feature_face(shape, index);
    f.concave_edges = 0;
    return f;
}

static LashFeature edge_of_all_directions(const LashShape* shape, int index) {
    LashFeature f = lash_feature_edge(shape, index);
    f.wedge = LASH_WEDGE_NONE;
    f.seam = f.rim = false;
    return f;
}

static LashFeature vertex_of_all_directions(const LashShape* shape, int index) {
    LashFeature f = lash_feature_vertex(shape, index);
    f.directions = 0;
    return f;
}

static void make_side(Side* side, const LashPairSide* def) {
    const LashShape* s = def->shape;
    size_t faces = (size_t)s->faces, edges = (size_t)s->edges, vertices = (size_t)s->vertices;
    size_t most = faces + edges + vertices + 1;
    uint8_t* marks = lash_alloc(most);
    side->feature = lash_alloc(most * sizeof *side->feature);
    side->open = lash_alloc(most * sizeof *side->open);
    side->body_shape = def->body_shape;
    mark(def, marks, marks + faces, marks + faces + edges);
    for (int i = 0; i < s->faces; ++i)
        if (marks[i]) side->feature[side->features++] = face_within_its_border(s, i);
    for (int i = 0; i < s->edges; ++i)
        if (marks[faces + (size_t)i])
            side->feature[side->features++] = edge_of_all_directions(s, i);
    for (int i = 0; i < s->vertices; ++i)
        if (marks[faces + edges + (size_t)i])
            side->feature[side->features++] = vertex_of_all_directions(s, i);
    for (int i = 0; i < side->features; ++i) {
        lash_feature_prepare(side->feature + i);
        side->open[i] = side->feature[i];
        side->open[i].reach = INFINITY;
    }
    lash_free(marks);
}

static void free_side(Side* side) {
    for (int i = 0; i < side->features; ++i) lash_feature_release(side->feature + i);
    lash_free(side->feature);
    lash_free(side->open);
}

LashDistance* lash_distance_create(const LashPairSide* a, const LashPairSide* b) {
    LASH_ASSERT(a->shape != NULL && b->shape != NULL);
    LashDistance* distance = lash_alloc(sizeof *distance);
    make_side(&distance->a, a);
    make_side(&distance->b, b);
    size_t most = (size_t)distance->a.features * (size_t)distance->b.features + 1;
    distance->combination = lash_alloc(most * sizeof *distance->combination);
    distance->expiry = lash_alloc(most * sizeof *distance->expiry);
    for (size_t i = 0; i < most; ++i) distance->expiry[i] = -INFINITY;
    for (int i = 0; i < distance->a.features; ++i)
        distance->radius = fmax(distance->radius, vec3_norm(distance->a.feature[i].center) +
                                                      distance->a.feature[i].bound);
    for (int i = 0; i < distance->a.features; ++i) {
        for (int k = 0; k < distance->b.features; ++k) {
            const LashFeature *f = distance->a.feature + i, *g = distance->b.feature + k;
            if (lash_kernel_slots(f, g) == 0) continue;
            distance->combination[distance->combinations++] =
                (Combination){i, k, lash_kernel_is_free(f, g)};
        }
    }
    return distance;
}

void lash_distance_destroy(LashDistance* distance) {
    if (distance == NULL) return;
    free_side(&distance->a);
    free_side(&distance->b);
    lash_free(distance->combination);
    lash_free(distance->expiry);
    lash_free(distance);
}

// ---- query --------------------------------------------------------------------------------------

// Looks at combination i; *nearest is in the frame of shape b.
static void look_at(LashDistance* d, int i, const LashPlacement* b_a, LashNearest* nearest) {
    const Combination* c = &d->combination[i];
    const LashFeature* a = (c->free ? d->a.feature : d->a.open) + c->a;
    const LashFeature* b = (c->free ? d->b.feature : d->b.open) + c->b;
    LashKernelQuery query = {.limit = nearest->distance};
    LashRoot root[LASH_MAX_POINTS];
    int count = lash_kernel_roots(a, b, b_a, &query, root);
    for (int k = 0; k < count; ++k) {
        // beyond: in penetration edges go on behind their ends, which are no points of theirs
        if (root[k].deep || root[k].beyond) continue;
        if (!(fabs(root[k].gap) < nearest->distance)) continue;
        *nearest = (LashNearest){fabs(root[k].gap), root[k].point_a, root[k].point_b};
        d->last = i;
    }
}

// A motion by dr and an angle t moves no point of a by more than |dr| + radius t.
static void advance(LashDistance* distance, Vec3 r, Quat rotation) {
    if (distance->started) {
        double turn = distance->radius * lash_rotation_angle(distance->rotation, rotation);
        distance->travel += (vec3_distance(distance->r, r) + turn) * (1 + 1e-12);
    }
    distance->started = true;
    distance->r = r;
    distance->rotation = rotation;
}

// May combination i be nearer than the best so far? Renews its bound when that is used up.
static bool is_near(LashDistance* distance, int i, const LashPlacement* b_a, double best) {
    const Combination* c = &distance->combination[i];
    if (distance->expiry[i] - distance->travel >= best) return false;
    double bound = lash_feature_bound(distance->a.feature + c->a, distance->b.feature + c->b, b_a);
    distance->expiry[i] = distance->travel + bound;
    return bound < best;
}

LashNearest lash_distance_query(LashDistance* d, Pose world_a, Pose world_b) {
    Pose a = pose_mul(world_a, d->a.body_shape), b = pose_mul(world_b, d->b.body_shape);
    Quat rotation = quat_mul(quat_conjugate(b.rot), a.rot);
    LashPlacement b_a = {.rot = quat_matrix(rotation),
                         .r = quat_rotate_inverse(b.rot, vec3_sub(a.r, b.r))};
    LashNearest nearest = {.distance = INFINITY};
    if (d->combinations == 0) return nearest;
    advance(d, b_a.r, rotation);
    look_at(d, d->last, &b_a, &nearest);   // a good upper bound: bodies move little between queries
    for (int pass = 0; pass < 2; ++pass) { // searches last
        for (int i = 0; i < d->combinations; ++i) {
            if (d->combination[i].free != (pass == 1)) continue;
            if (is_near(d, i, &b_a, nearest.distance)) look_at(d, i, &b_a, &nearest);
        }
    }
    nearest.point_a = pose_point(b, nearest.point_a);
    nearest.point_b = pose_point(b, nearest.point_b);
    return nearest;
}
