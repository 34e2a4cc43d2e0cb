// What a pair of face sets consists of: the features of both sides, and every combination of them
// that can touch.
#include <string.h>

#include "core/arena.h"
#include "geometry/kernels/bounds.h"
#include "geometry/kernels/kernels_internal.h"
#include "geometry/pairs.h"
#include "geometry/pairs_internal.h"
#include "geometry/pairs_occt.h"

LashPairDef lash_pair_def(void) {
    LashPairDef def;
    memset(&def, 0, sizeof def);
    def.a.body_shape = def.b.body_shape = pose_identity();
    return def;
}

static void mark_faces(const LashPairSide* side, uint8_t* face, uint8_t* edge, uint8_t* vertex) {
    const LashShape* s = side->shape;
    bool all = side->face_count == 0 && side->edge_count == 0;
    for (int i = 0; i < s->faces; ++i) face[i] = all;
    for (int i = 0; i < side->face_count; ++i) {
        LASH_ASSERT(side->faces[i] >= 0 && side->faces[i] < s->faces);
        face[side->faces[i]] = 1;
    }
    for (int i = 0; i < s->edges; ++i) {
        const LashEdge* e = s->edge + i;
        for (int k = 0; k < 2; ++k)
            if (e->face[k] >= 0 && face[e->face[k]]) edge[i] = 1;
        if (all) edge[i] = 1;
    }
    for (int i = 0; i < side->edge_count; ++i) {
        LASH_ASSERT(side->edges[i] >= 0 && side->edges[i] < s->edges);
        edge[side->edges[i]] = 1;
    }
    for (int i = 0; i < s->vertices; ++i) {
        const LashVertex* v = s->vertex + i;
        if (all) vertex[i] = 1;
        for (int k = 0; k < v->edges; ++k)
            if (edge[s->vertex_edge[v->first_edge + k]]) vertex[i] = 1;
    }
}

// Neighbours of each face feature across convex edges, elementary ones in the set only.
static void find_neighbors(PairSide* side, const LashShape* shape, const int* feature_of_face) {
    side->first_neighbor = lash_alloc((size_t)(side->features + 1) * sizeof(int));
    for (int pass = 0; pass < 2; ++pass) {
        int count = 0;
        for (int i = 0; i < side->features; ++i) {
            side->first_neighbor[i] = count;
            const LashFeature* f = side->feature + i;
            if (f->kind != LASH_FEATURE_FACE) continue;
            int index = (int)(f->face - shape->face);
            for (int k = 0; k < shape->edges; ++k) {
                const LashEdge* e = shape->edge + k;
                if (e->convexity != LASH_CONVEX || (e->face[0] != index && e->face[1] != index))
                    continue;
                int other = e->face[0] == index ? e->face[1] : e->face[0];
                if (other < 0 || other == index || feature_of_face[other] < 0) continue;
                if (shape->face[other].type == LASH_FREEFORM) continue;
                if (pass == 1) side->neighbor[count] = feature_of_face[other];
                ++count;
            }
        }
        side->first_neighbor[side->features] = count;
        if (pass == 0) side->neighbor = lash_alloc((size_t)(count + 1) * sizeof(int));
    }
}

static void side_bounds(PairSide* side) {
    LashFeature* all = &side->all;
    if (side->features == 0) return;
    all->box = side->feature[0].box;
    for (int i = 1; i < side->features; ++i)
        all->box = lash_box_union(all->box, side->feature[i].box);
    all->center = vec3_scale(0.5, vec3_add(all->box.low, all->box.high));
    for (int i = 0; i < side->features; ++i) {
        const LashFeature* f = side->feature + i;
        double r = vec3_distance(f->center, all->center) + f->bound;
        all->bound = fmax(all->bound, r);
    }
    all->bound = fmin(all->bound, 0.5 * vec3_distance(all->box.low, all->box.high) * (1 + 1e-12));
    side->radius = vec3_norm(pose_point(side->body_shape, all->center)) + all->bound;
}

static int part_of(const LashFeature* feature) {
    if (feature->kind == LASH_FEATURE_FACE) return feature->face->part;
    return feature->kind == LASH_FEATURE_EDGE ? feature->edge->part : feature->vertex->part;
}

static void make_side(PairSide* side, const LashPairSide* def) {
    const LashShape* s = def->shape;
    size_t faces = (size_t)s->faces, edges = (size_t)s->edges, vertices = (size_t)s->vertices;
    uint8_t* mark = lash_alloc(faces + edges + vertices + 1);
    int* feature_of_face = lash_alloc((faces + 1) * sizeof(int));
    mark_faces(def, mark, mark + faces, mark + faces + edges);
    side->feature = lash_alloc((faces + edges + vertices + 1) * sizeof(LashFeature));
    side->shape = s;
    side->body_shape = def->body_shape;
    Pose one = pose_identity();
    side->shifted = memcmp(&one, &def->body_shape, sizeof one) != 0;
    side->turned = memcmp(&one.rot, &def->body_shape.rot, sizeof one.rot) != 0;
    for (int i = 0; i < s->faces; ++i) {
        feature_of_face[i] = mark[i] ? side->features : -1;
        if (mark[i]) side->feature[side->features++] = lash_feature_face(s, i);
    }
    for (int i = 0; i < s->edges; ++i)
        if (mark[faces + (size_t)i] && lash_feature_edge_matters(s, i))
            side->feature[side->features++] = lash_feature_edge(s, i);
    for (int i = 0; i < s->vertices; ++i)
        if (mark[faces + edges + (size_t)i] && lash_feature_vertex_matters(s, i))
            side->feature[side->features++] = lash_feature_vertex(s, i);
    side->solid = lash_alloc(((size_t)side->features + 1) * sizeof *side->solid);
    for (int i = 0; i < side->features; ++i) {
        lash_feature_prepare(side->feature + i);
        side->solid[i] = lash_shape_solid(s, part_of(side->feature + i));
    }
    find_neighbors(side, s, feature_of_face);
    pair_find_walls(side, def->solid);
    side_bounds(side);
    side->chosen = mark;
    lash_free(feature_of_face);
}

// A plane or cylinder whose trims cost more to look at than a distance.
static bool has_trims(const LashFeature* feature) {
    if (feature->kind != LASH_FEATURE_FACE) return false;
    return (feature->skeleton == LASH_SKELETON_PLANE && !feature->box_trim) ||
           (feature->skeleton == LASH_SKELETON_LINE && !feature->barrel);
}

static void make_combinations(LashPair* pair) {
    for (int pass = 0; pass < 2; ++pass) {
        int count = 0;
        for (int i = 0; i < pair->a.features; ++i)
            for (int j = 0; j < pair->b.features; ++j) {
                const LashFeature *a = pair->a.feature + i, *b = pair->b.feature + j;
                int slots = lash_kernel_slots(a, b);
                if (slots == 0) continue;
                if (pass == 1) {
                    PairCombination* pair_combination = pair->combination + count;
                    pair_combination->a = i;
                    pair_combination->b = j;
                    pair_combination->slots = slots;
                    pair_combination->warm = lash_kernel_is_free(a, b) ? pair->warms++ : -1;
                    bool trimmed = has_trims(a) || has_trims(b);
                    pair_combination->room = trimmed ? pair->rooms : -1;
                    pair->rooms += trimmed ? 2 * slots : 0;
                    pair_combination->depth = fmin(lash_kernel_reach(a, b), fmin(a->size, b->size));
                    pair_combination->rim =
                        lash_is_rim_cylinder(a, b) || lash_is_rim_cylinder(b, a);
                    pair_combination->medial =
                        pair_has_neighbors(&pair->a, i) || pair_has_neighbors(&pair->b, j);
                    pair->max_slots += slots;
                    pair->depth = fmax(pair->depth, pair_combination->depth);
                }
                ++count;
            }
        if (pass == 0)
            pair->combination = lash_alloc((size_t)(count + 1) * sizeof(PairCombination));
        pair->combinations = count;
    }
    pair->blocks = (pair->combinations + PAIR_BLOCK - 1) / PAIR_BLOCK;
}

LashPair* lash_pair_create(const LashPairDef* def) {
    LASH_ASSERT(def->a.shape != NULL && def->b.shape != NULL);
    LashPair* pair = lash_alloc(sizeof(LashPair));
    pair->offset = def->offset;
    make_side(&pair->a, &def->a);
    make_side(&pair->b, &def->b);
    if (def->query == LASH_QUERY_OCCT) {
        pair->occt = lash_pair_occt_create(def);
        pair->max_slots = 1;
    } else
        make_combinations(pair);
    return pair;
}

static void free_side(PairSide* side) {
    for (int i = 0; i < side->features; ++i) lash_feature_release(side->feature + i);
    lash_free(side->feature);
    lash_free(side->neighbor);
    lash_free(side->first_neighbor);
    lash_free(side->wall);
    lash_free(side->first_wall);
    lash_free(side->solid);
    lash_free(side->chosen);
}

LashPair* lash_pair_share(LashPair* pair) {
    atomic_fetch_add(&pair->others, 1);
    return pair;
}

void lash_pair_destroy(LashPair* pair) {
    if (pair == NULL || atomic_fetch_sub(&pair->others, 1) > 0) return;
    free_side(&pair->a);
    free_side(&pair->b);
    lash_free(pair->combination);
    lash_pair_occt_destroy(pair->occt);
    lash_free(pair);
}

int lash_pair_combinations(const LashPair* pair) {
    return pair->combinations;
}
bool lash_pair_searches(const LashPair* pair) {
    return pair->warms > 0;
}
int lash_pair_max_slots(const LashPair* pair) {
    return pair->max_slots;
}
double lash_pair_radius_a(const LashPair* pair) {
    return pair->a.radius;
}
double lash_pair_radius_b(const LashPair* pair) {
    return pair->b.radius;
}
