// Normals of freeform faces along their edges.
#ifndef LASH_GEOMETRY_FREEFORM_NORMAL_H
#define LASH_GEOMETRY_FREEFORM_NORMAL_H

#include "core/math3.h"
#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

// Outward normal of a freeform face at a point of one of its edges.
Vec3 lash_freeform_edge_normal(const LashShape* shape, const LashFace* face, const LashEdge* edge,
                               double t, Vec3 p);

#ifdef __cplusplus
}
#endif
#endif
