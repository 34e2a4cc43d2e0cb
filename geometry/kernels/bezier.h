// Rational Bezier curves and patches: points, derivatives, bounds.
#ifndef LASH_GEOMETRY_BEZIER_H
#define LASH_GEOMETRY_BEZIER_H

#include "core/math3.h"
#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LASH_MAX_DEGREE = 25 }; // what OpenCASCADE allows

typedef struct LashCurvePoint {
    Vec3 p, d, dd; // point, first and second derivative
} LashCurvePoint;

typedef struct LashSurfacePoint {
    Vec3 p, u, v, uu, uv, vv; // point and derivatives
} LashSurfacePoint;

// Point and derivatives of an edge at t: line, circle or Bezier chain; t outside the range of a
// free curve extends its last segment.
LashCurvePoint lash_edge_point(const LashShape* shape, const LashEdge* edge, double t);
// The same for a face at (u, v), any type.
LashSurfacePoint lash_face_point(const LashShape* shape, const LashFace* face, double u, double v);
// Point, first and second derivative at s in [0, 1] of a rational Bezier curve of the plane, poles
// (x, y, weight).
void lash_plane_curve(const double* pole, int degree, double s, double d[3][2]);
// Point of a trimming piece at fraction s in [0, 1] of its own run.
void lash_coedge_point(const LashShape* shape, const LashCoedge* coedge, double s, double uv[2]);

LashSurfacePoint lash_patch_point(const LashShape* shape, const LashPatch* patch, double u,
                                  double v);

// Bounds over the whole patch or segment: |dS/du|, |dS/dv| [m per unit of the parameter].
void lash_patch_speed(const LashShape* shape, const LashPatch* patch, double* u, double* v);
double lash_segment_speed(const LashShape* shape, const LashSegment* segment);

#ifdef __cplusplus
}
#endif
#endif
