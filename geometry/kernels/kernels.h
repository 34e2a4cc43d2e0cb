// Contact kernels: all places where one feature of shape a may touch one feature of shape b.
//
// A feature is a face, edge or vertex in the form the kernels want: a skeleton (point, line,
// circle) with a tube radius around it (vertex and sphere are a point, edge and cylinder a line,
// circular edge and torus a circle), or a plane, a cone, a free curve, a freeform surface.
// Immutable.
#ifndef LASH_GEOMETRY_KERNELS_H
#define LASH_GEOMETRY_KERNELS_H

#include "core/math3.h"
#include "geometry/contact_point.h"
#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LashFeatureKind {
    LASH_FEATURE_VERTEX,
    LASH_FEATURE_EDGE,
    LASH_FEATURE_FACE
} LashFeatureKind;

typedef enum LashSkeleton { // pairs are computed with the smaller one first
    LASH_SKELETON_POINT,    // vertex, sphere
    LASH_SKELETON_LINE,     // straight edge, cylinder
    LASH_SKELETON_CIRCLE,   // circular edge, torus
    LASH_SKELETON_CURVE,    // free edge
    LASH_SKELETON_PLANE,    // face
    LASH_SKELETON_CONE,     // face
    LASH_SKELETON_SURFACE   // freeform face
} LashSkeleton;

enum { LASH_MAX_DIRECTIONS = 8 };

typedef enum LashWedge { // how the outward directions of an edge are bounded
    LASH_WEDGE_NONE,     // free edge: every direction
    LASH_WEDGE_FIXED,    // side[] are vectors, the same along the edge
    LASH_WEDGE_COAXIAL,  // side[] are (radial, axial, 0), the same along a circle
    LASH_WEDGE_GENERAL   // from the normals of the faces at the foot point
} LashWedge;

typedef struct LashFeature {
    LashFeatureKind kind;
    LashSkeleton skeleton;
    Vec3 origin, x, y, z; // as in the shape's tables
    double radius;        // of the circle; of a cone at its origin [m]
    double tube;          // around the skeleton: 0 for vertices and edges [m]
    double side; // +1 convex or plain, -1 concave: the outward normal points to the skeleton
    double sin_a, cos_a; // of a cone's half angle
    double t0, t1;       // range of an edge's parameter
    bool closed;         // the edge is a full circle
    bool seam;           // a smooth edge that ends a ruled face: one-sided wedge
    bool box_trim;       // the face fills its (u, v) box
    bool of_solid;       // a face of a part that is watertight
    int concave_edges;   // of a face: lines and circles it ends at, behind which it goes on;
    int concave_edge[8]; // the first of them, edges of the shape
    bool whole;          // and the box is the whole closed surface
    bool rim;            // a full circular edge whose wedge is the same all around
    bool barrel;         // a cylinder, all around and between two circles
    double bend;         // of a circle: 1 / radius [1/m]
    LashWedge wedge;
    Vec3 wedge_side[2];   // directions from the edge into its two faces, across the edge
    Vec3 wedge_normal[2]; // outward normals of the two faces, like wedge_side
    Vec3 direction[LASH_MAX_DIRECTIONS]; // of a vertex: unit tangents of its edges, leaving it
    int directions;
    double reach;  // depth to which a negative gap means something [m]
    double size;   // scale of tolerances [m]
    double border; // width of the border to its neighbours: rounding, mismatch of trims [m]
    Vec3 center;   // bounding sphere, shape's frame [m]
    double bound;  // its radius [m]
    LashBox box;   // shape's axes
    struct LashCells* cells; // see lash_feature_prepare
    const LashShape* shape;
    const LashFace* face;     // kind FACE
    const LashEdge* edge;     // kind EDGE
    const LashVertex* vertex; // kind VERTEX
    uint32_t code;            // kind and index in the shape, for ids
} LashFeature;

// Free features (and cones) are searched over a grid of cells; memory of its own.
typedef struct LashCells LashCells;
void lash_feature_prepare(
    LashFeature* feature); // makes the cells where the kind needs them, the reach
void lash_feature_cells(LashFeature* feature); // the cells alone: of shape and face or edge
void lash_feature_release(LashFeature* feature);
// Is it a freeform face that is a profile, moved along a straight line (v)?
bool lash_face_is_extruded(const LashShape* shape, const LashFace* face);
bool lash_feature_is_extruded(const LashFeature* feature); // a prepared freeform face along a line

// A frame of shape a seen in shape b's frame, as a matrix.
typedef struct LashPlacement {
    Mat3 rot;
    Vec3 r;
} LashPlacement;

// One place of (possible) contact, in the frame of shape b.
typedef struct LashRoot {
    double gap;
    Vec3 normal;           // as in LashContactPoint
    Vec3 point_a, point_b; // both in b's frame
    double t_a[2], t_b[2]; // parameters on free curves and surfaces
    int slot;              // 0 .. LASH_MAX_POINTS - 1, stable under small motions
    bool boundary;         // lies on the border between two features: may be found twice
    bool ball_a, ball_b;   // the side acts as a material ball on its skeleton (spanning points)
    bool deep;             // below the reach: not a gap
    bool beyond;           // in penetration: a foot lies beyond the end of its edge
    bool shadowed;         // in penetration, but a neighbouring face is a much shorter way out
    bool raised;           // in penetration: its depth is told by a shallower place than its own
    // A rim on a barrel: what its second order needs. Unit vectors along the rim and around the
    // barrel (b's frame, either sense); curvature of the rim against its outward direction [1/m].
    bool rim;
    Vec3 tangent, around;
    double bend;
} LashRoot;

// Pairs of cells of free features that can hold a root, those of many feature pairs one after
// another.
typedef struct LashCellPair {
    int a, b; // cells; of one side only: the other is 0
} LashCellPair;
typedef struct LashCandidates {
    LashCellPair* item;
    int used, capacity;
} LashCandidates;

// Private memory of one pair; only pairs with free curves or surfaces use it.
typedef struct LashWarm {
    int count;                    // slots that were in use
    int unresolved;               // boxes of the last search about which nothing could be proven
    bool listed;                  // its candidates are known
    int first, pairs;             // and stand here
    double p[LASH_MAX_POINTS][4]; // parameters of a, then of b, of the last root of each slot
} LashWarm;

typedef struct LashKernelQuery {
    double limit;               // roots with a larger gap need not be reported [m]
    double depth;               // free pairs: nor those below -depth; 0: down to the reach
    LashWarm* warm;             // NULL: slots by the order of the gaps
    LashCandidates* candidates; // of warm, or NULL: all cells are searched
    const LashPlacement* a_b;   // inverse of b_a when the caller has it, or NULL
    // A circle on a plane, tilted by less than this (radius times sine), lies on its fixed points
    // (an arc on its ends): its deepest point is left out, which jumps about there. They may miss
    // half of that, an arc's ends twice a quarter of it [m].
    double flat;
    // Private memory of the pair, two per slot (of the foot on a, on b): what is proven of the
    // trims of planes; or NULL.
    struct LashTrimRoom* room;
} LashKernelQuery;

LashFeature lash_feature_face(const LashShape* shape, int face);
LashFeature lash_feature_edge(const LashShape* shape, int edge);
LashFeature lash_feature_vertex(const LashShape* shape, int vertex);
// Can the edge or vertex touch anything on its own account?
bool lash_feature_edge_matters(const LashShape* shape, int edge);
bool lash_feature_vertex_matters(const LashShape* shape, int vertex);

// Slots the pair needs; 0: these two never touch other than at their edges or vertices.
int lash_kernel_slots(const LashFeature* a, const LashFeature* b);
// Depth to which a negative gap of the pair means something [m].
double lash_kernel_reach(const LashFeature* a, const LashFeature* b);
bool lash_kernel_is_free(const LashFeature* a, const LashFeature* b); // needs a LashWarm

// All valid roots (inside the trims, owned by this pair, locally a contact); returns their number.
int lash_kernel_roots(const LashFeature* a, const LashFeature* b, const LashPlacement* b_a,
                      const LashKernelQuery* query, LashRoot roots[LASH_MAX_POINTS]);

// Of a free pair, with warm and candidates: which cells can hold a root within the limit, here and
// after any motion of a against b by which no point of a moves by more than `move` [m], nor a turns
// by more than `turn` [rad]. Until then the roots are searched in these cells only, with the same
// result. False: the list is full, or not needed here; all are searched.
bool lash_kernel_list(const LashFeature* a, const LashFeature* b, const LashPlacement* b_a,
                      const LashKernelQuery* query, double move, double turn);

// Both of two pairs at once, faster than one after the other; false when they are not two rims on
// the same barrel.
bool lash_kernel_rims(const LashFeature* const a[2], const LashFeature* const b[2],
                      const LashPlacement* b_a, const LashKernelQuery* query,
                      LashRoot (*roots)[LASH_MAX_POINTS], int* count);

// Second-order data of both sides in the basis of vec3_basis(contact->normal), which must be set;
// world_b rotates b's axes to the world's.
void lash_kernel_second_order(const LashFeature* a, const LashFeature* b, const LashPlacement* b_a,
                              const LashRoot* root, const Mat3* world_b, LashContactPoint* contact);

static inline Vec3 lash_place(const LashPlacement* placement, Vec3 a) {
    return vec3_add(mat3_mul(placement->rot, a), placement->r);
}
static inline Vec3 lash_place_inverse(const LashPlacement* placement, Vec3 a) {
    return mat3_mul_transposed(placement->rot, vec3_sub(a, placement->r));
}
static inline LashPlacement lash_placement_inverse(const LashPlacement* placement) {
    LashPlacement q;
    q.rot = mat3_transpose(placement->rot);
    q.r = vec3_neg(mat3_mul(q.rot, placement->r));
    return q;
}

#ifdef __cplusplus
}
#endif
#endif
