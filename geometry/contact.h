// Signed gaps between features of two shapes: points, normals, persistent ids, second-order data.
//
// Conventions. Shapes a and b with poses world_a, world_b. The normal n is unit, world axes, the
// outward normal of b at point_b (for a vertex or edge of b: minus the outward normal of a): the
// gap grows when a moves along +n. gap = (point_a - point_b) . n, negative in penetration, valid
// through zero down to the reach of the features.
#ifndef LASH_GEOMETRY_CONTACT_H
#define LASH_GEOMETRY_CONTACT_H

#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LASH_MAX_POINTS = 4 }; // contact points of one feature pair

// Local shape of one side to second order, in the basis (t1, t2) of vec3_basis(n): when the foot
// point slides by X p on the side, its normal turns by Y p (p a 2-vector). Smooth face: X = I, Y =
// curvature; vertex: X = 0, Y = I; edge: mixed.
typedef struct LashSecondOrder {
    double X[4], Y[4]; // 2 x 2, column-major; Y in 1/m where X = I
} LashSecondOrder;

typedef struct LashContactPoint {
    double gap;            // [m]
    Vec3 normal;           // from b into a, world axes
    Vec3 point_a, point_b; // foot points, world [m]
    LashSecondOrder a, b;  // with respect to the outward normal of each side
    uint64_t id;           // persistent: features of both sides and slot
} LashContactPoint;

#ifdef __cplusplus
}
#endif
#endif
