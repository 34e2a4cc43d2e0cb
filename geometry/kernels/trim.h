// Trimmed faces: parameters of a point, inside or outside, normals.
#ifndef LASH_GEOMETRY_TRIM_H
#define LASH_GEOMETRY_TRIM_H

#include "core/math3.h"
#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LashTrimSide { LASH_OUTSIDE, LASH_BORDER, LASH_INSIDE } LashTrimSide;

// (u, v) of a point on (or near) an elementary surface, u and v in [low, low + 2 pi) of the box.
void lash_face_parameters(const LashFace* face, Vec3 p, double* u, double* v);
// Outward unit normal of an elementary surface at a point on (or near) it.
Vec3 lash_face_normal(const LashFace* face, Vec3 p);
// Signed distance of a point from the untrimmed elementary surface, positive outside [m].
double lash_face_distance(const LashFace* face, Vec3 p);

// Is (u, v) inside the trimmed face? BORDER: within tolerance [m] of its rim.
LashTrimSide lash_trim_parameters(const LashShape* shape, const LashFace* face, double u, double v,
                                  double tolerance);
// The same for a point on an elementary surface.
LashTrimSide lash_trim_point(const LashShape* shape, const LashFace* face, Vec3 p,
                             double tolerance);
// What the last test of a face proved: within `room` of p every point of the surface is on this
// side.
typedef struct LashTrimRoom {
    Vec3 p;
    double room; // [m] 0: nothing
    LashTrimSide side;
} LashTrimRoom;
// lash_trim_point from `last` where that answers, else renewing it (planes and cylinders); last may
// be NULL. A plane or cylinder without shape fills its box.
LashTrimSide lash_trim_near(const LashShape* shape, const LashFace* face, Vec3 p, double tolerance,
                            LashTrimRoom* last);
// True when the loops run along the (u, v) box only, so that comparing with the box is enough.
bool lash_trim_is_box(const LashShape* shape, const LashFace* face);
LashTrimSide lash_trim_box(const LashFace* face, Vec3 p, double tolerance);

#ifdef __cplusplus
}
#endif
#endif
