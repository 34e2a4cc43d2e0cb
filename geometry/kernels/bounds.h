// Proven lower bounds on distances: boxes, balls, motions.
#ifndef LASH_GEOMETRY_BOUNDS_H
#define LASH_GEOMETRY_BOUNDS_H

#include "geometry/kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

double lash_box_distance(const LashBox* box, Vec3 p); // 0 inside [m]
LashBox lash_box_union(LashBox a, LashBox b);
// No point of a comes nearer to any point of b than this; <= 0: they may overlap.
double lash_feature_bound(const LashFeature* a, const LashFeature* b, const LashPlacement* b_a);
// Angle of the rotation between two orientations [rad]; never too small.
double lash_rotation_angle(Quat a, Quat b);

#ifdef __cplusplus
}
#endif
#endif
