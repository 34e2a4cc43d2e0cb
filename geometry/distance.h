// The distance between two sets of faces, however far apart they are.
//
// A contact looks at what can touch within a step; here the nearest points are found anywhere.
// Faces with all their edges and vertices, whatever these could touch. Unsigned: 0 where the sets
// meet. Not for the time step: a query looks at every combination of features.
#ifndef LASH_GEOMETRY_DISTANCE_H
#define LASH_GEOMETRY_DISTANCE_H

#include "core/math3.h"
#include "geometry/pairs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashDistance LashDistance; // with the memory of its queries: one thread at a time

LashDistance* lash_distance_create(const LashPairSide* a, const LashPairSide* b); // borrows shapes
void lash_distance_destroy(LashDistance* distance);                               // NULL is allowed

// Poses are those of the bodies. INFINITY: one of the sets is empty.
typedef struct LashNearest {
    double distance;       // [m]
    Vec3 point_a, point_b; // world
} LashNearest;
LashNearest lash_distance_query(LashDistance* distance, Pose world_a, Pose world_b);

#ifdef __cplusplus
}
#endif
#endif
