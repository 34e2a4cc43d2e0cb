// Are two parts in each other, however deep?
//
// The contact kernels look at places where features face each other, down to half a wall. Parts
// that were placed deeper in each other may have no such place. Here points all over the chosen
// faces (of the viewing mesh) are held against the exact solid of the other part. For the start of
// a run, not for the time step.
#ifndef LASH_GEOMETRY_INTERFERENCE_H
#define LASH_GEOMETRY_INTERFERENCE_H

#include "core/math3.h"
#include "geometry/pairs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashInterference {
    double depth; // of the deepest point whose nearest boundary is a chosen face [m]; 0: none that
                  // is deeper than the mesh is coarse
    Vec3 point;   // world [m]
    Vec3 normal;  // shortest way out of a point of a, or into a of a point of b; world
} LashInterference;

// Poses are those of the bodies. Parts that are not watertight have no inside.
LashInterference lash_pair_interference(const LashPair* pair, Pose world_a, Pose world_b);

// A point of one side that is in the solid of the other, nearest to a face that the contact leaves
// out: it came in through that face, and does not count before a chosen face is nearer.
typedef struct LashIntrusion {
    double depth; // of the deepest one [m]; 0: none
    Vec3 point;   // world [m]
    bool into_a;  // the solid and the face are those of side a
    const LashFace* face;
    const char* name; // of the face, "": none
} LashIntrusion;
LashIntrusion lash_pair_intrusion(const LashPair* pair, Pose world_a, Pose world_b);

#ifdef __cplusplus
}
#endif
#endif
