// Signed gaps between features of two shapes: points, normals, persistent ids, second-order data.
//
// Conventions. Shapes a and b with poses world_a, world_b. The normal n is unit, world axes, the
// outward normal of b at point_b (for a vertex or edge of b: minus the outward normal of a): the
// gap grows when a moves along +n. gap = (point_a - point_b) . n + offset, negative in penetration,
// valid through zero down to the reach of the features. The offset is a number of the pair of face
// sets: positive adds play, negative takes it away.
#ifndef LASH_GEOMETRY_CONTACT_H
#define LASH_GEOMETRY_CONTACT_H

#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LASH_MAX_POINTS = 4 }; // contact points of one feature pair

// Local shape of one side to second order, in the basis (t1, t2) of vec3_basis(n): when the foot
// point slides by X p on the side, its normal turns by Y p (p a 2-vector).
// Smooth face: X = I, Y = curvature; vertex: X = 0, Y = I; edge: mixed.
typedef struct LashSecondOrder {
    double X[4], Y[4]; // 2 x 2, column-major; Y in 1/m where X = I
} LashSecondOrder;

typedef struct LashContactPoint {
    double gap;                // with the offset of the pair [m]
    LashVec3 normal;           // from b into a, world axes
    LashVec3 point_a, point_b; // foot points, world [m]
    LashSecondOrder a, b;      // with respect to the outward normal of each side
    uint64_t id;               // persistent: features of both sides and slot
} LashContactPoint;

// How a contact point changes while a moves and b rests.
typedef struct LashContactRate {
    double gap;                // w . n [m/s]
    LashVec3 normal;           // across n [1/s]
    LashVec3 point_a, point_b; // of the foot points in space, not of the material [m/s]
} LashContactRate;

// Rates for the velocity w of the material point of a at point_a and the angular velocity omega of
// a, both relative to b and in world axes. (b moves too: w = v_a - v_b at point_a, omega = omega_a
// - omega_b, then add omega_b x normal and the rigid velocity of b to the results.) Returns false
// and gives the gap rate only where the foot points are not determined (line and area contact).
bool lash_contact_rate(const LashContactPoint* contact, LashVec3 w, LashVec3 omega,
                       LashContactRate* rate);

// The same for one side only, as the 4 x 4 system's solution operator:
// (p_a, p_b) = D (w_t, omega_t) in the basis (t1, t2); w_t and c = (omega x n) are the tangential components. D is
// column-major. dn = Y_b p_b. Returns false when the system is singular (D is then 0).
bool lash_contact_operator(const LashContactPoint* contact, double D[16]);

// At most four of the points that span the patch they lie on: the deepest, the farthest from it,
// the farthest from the line through both, and the farthest on its other side. Returns how many.
int lash_contact_span(const LashContactPoint* points, int count, int chosen[LASH_MAX_POINTS]);

#ifdef __cplusplus
}
#endif
#endif
