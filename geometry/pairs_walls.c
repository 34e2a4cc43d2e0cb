// Walls behind the borders of loose faces.
//
// A loose face has no inside: behind it everything is in penetration, however deep, and a point that
// went round its border and comes in behind it would be deep at once. Where a loose face lies on its
// part's solid and its border runs along a convex edge of that, the other face at the edge is a
// wall: the material ends there. Elsewhere (faces that overhang, borders inside a face of the solid)
// nothing is known, and nothing ends.
#include <string.h>

#include "core/arena.h"
#include "geometry/kernels/bezier.h"
#include "geometry/kernels/kernels_internal.h"
#include "geometry/pairs_internal.h"

static const double NEAR = 1e-5;  // of the solid's part: faces taken out of it lie on it (orient.c)
static const double LEAST = 1e-6; // [m]
static const double ALIKE = 0.9;  // cosine: normals of the same surface
enum { PLACES = 9, ENOUGH = 2 };  // along an edge; a border that crosses it meets one at most

// Does the border of the loose face run along the edge? *at: a place where it does.
static bool runs_along(const LashFeature* loose, const LashShape* solid, const LashEdge* e,
                       double tolerance, Vec3* at) {
    int count = 0;
    for (int k = 1; k <= PLACES; ++k) {
        Vec3 p = lash_edge_point(solid, e, e->t0 + (e->t1 - e->t0) * k / (PLACES + 1)).p;
        if (fabs(lash_face_distance(loose->face, p)) > tolerance) continue;
        if (lash_trim_point(loose->shape, loose->face, p, tolerance) != LASH_BORDER) continue;
        *at = p;
        ++count;
    }
    return count >= ENOUGH;
}

// The face at the edge that the loose one does not lie on; NULL: none, or not an elementary one.
static const LashFace* wall_of(const LashFeature* loose, const LashShape* solid, const LashEdge* e,
                               double tolerance) {
    Vec3 p;
    if (e->convexity != LASH_CONVEX || e->face[0] < 0 || e->face[1] < 0) return NULL;
    if (!solid->part[e->part].closed || !runs_along(loose, solid, e, tolerance, &p)) return NULL;
    const LashFace* wall = NULL;
    int on = 0;
    for (int k = 0; k < 2; ++k) {
        const LashFace* face = solid->face + e->face[k];
        if (face->type == LASH_FREEFORM) continue;
        bool alike = vec3_dot(lash_face_normal(face, p), lash_face_normal(loose->face, p)) > ALIKE;
        on += alike;
        if (!alike) wall = face;
    }
    return on == 1 ? wall : NULL;
}

void pair_find_walls(PairSide* side, const LashShape* solid) {
    side->first_wall = lash_alloc((size_t)(side->features + 1) * sizeof(int));
    for (int pass = 0; pass < 2; ++pass) {
        int count = 0;
        for (int i = 0; i < side->features; ++i) {
            const LashFeature* f = side->feature + i;
            side->first_wall[i] = count;
            if (solid == NULL || f->kind != LASH_FEATURE_FACE || side->solid[i] != NULL) continue;
            if (f->face->type == LASH_FREEFORM) continue;
            for (int k = 0; k < solid->edges; ++k) {
                const LashEdge* e = solid->edge + k;
                const LashBox* box = &solid->part[e->part].box;
                double size = vec3_distance(box->low, box->high);
                double tolerance = fmax(LEAST, NEAR * size) + f->face->deviation;
                const LashFace* wall = wall_of(f, solid, e, tolerance);
                if (wall == NULL) continue;
                if (pass == 1) side->wall[count] = *wall;
                ++count;
            }
        }
        side->first_wall[side->features] = count;
        if (pass == 0) side->wall = lash_alloc((size_t)(count + 1) * sizeof *side->wall);
    }
}

bool pair_wall_is_nearer(const PairSide* side, int face, Vec3 point, double depth) {
    for (int k = side->first_wall[face]; k < side->first_wall[face + 1]; ++k)
        if (lash_face_distance(side->wall + k, point) > -depth) return true;
    return false;
}
