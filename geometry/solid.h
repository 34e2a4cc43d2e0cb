// Where a point lies in a solid: inside or outside, how far from its boundary, nearest to what.
//
// All faces of a part count, chosen for a contact or not. Made of the exact surfaces, edges and
// vertices; immutable, shared by all threads.
#ifndef LASH_GEOMETRY_SOLID_H
#define LASH_GEOMETRY_SOLID_H

#include "core/math3.h"
#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashSolid LashSolid;

// The solid of a part; NULL: it is not watertight. Made at the first call (by any thread), owned by
// the shape.
const LashSolid* lash_shape_solid(const LashShape* shape, int part);

// Nearest boundary point of a point.
typedef struct LashSolidFoot {
    double distance; // [m]
    bool inside;     // the point is in the material
    Vec3 foot;       // shape's frame [m]
    Vec3 normal;     // unit, of the face there; of an edge or vertex: of the point's own direction
    int face;        // where it is; of an edge or vertex: one of its faces
    int edge;        // it lies on this edge, -1: inside the face
    int vertex;      // it is this vertex, -1: none
} LashSolidFoot;

// False: there is no boundary nearer than `limit` [m].
bool lash_solid_nearest(const LashSolid* solid, Vec3 p, double limit, LashSolidFoot* foot);

// For lash_shape_destroy.
void lash_shape_solids_destroy(LashShape* shape);

#ifdef __cplusplus
}
#endif
#endif
