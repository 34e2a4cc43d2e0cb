// Shared by the kernel files and their tests.
#ifndef LASH_GEOMETRY_KERNELS_INTERNAL_H
#define LASH_GEOMETRY_KERNELS_INTERNAL_H

#include "geometry/kernels/bezier.h"
#include "geometry/kernels/kernels.h"
#include "geometry/kernels/trim.h"

#define LASH_BORDER_LENGTH 1e-12 // of the feature's size: width of the border between two features
#define LASH_BORDER_ANGLE 1e-9   // [rad]
#define LASH_CONCAVE_SLACK 1e-4  // of the feature's size: faces go on behind their concave edges
#define LASH_FREE_REACH 0.95     // of the reach: near an axis or center no search comes to an end
#define LASH_SLACK_TIGHT 1e-12   // [rad] against strictly curved features
#define LASH_SLACK_RULED 0.02    // [rad] against features with a straight direction: line contact
#define LASH_SLACK_PLANE 0.1     // [rad] against planes: area contact

// A pair under work: a placed in b's frame.
typedef struct LashPairView {
    const LashFeature *a, *b;
    const LashPlacement* b_a;
    const LashKernelQuery* query;
    Vec3 origin, x, y, z; // of a in b's frame
    LashRoot* roots;
    int count;
} LashPairView;

// Does feature f own a contact with foot p (parameters t) and outward direction m? All in its
// shape. room: of this foot, or NULL.
bool lash_feature_owns(const LashFeature* feature, Vec3 p, const double* t, Vec3 m, double slack,
                       LashTrimRoom* room, bool* border);
// A face ends at a concave edge because its neighbour's material begins: a point that is in that by
// rounding, or in the course of an iteration, still touches the face. Is p there, or not farther
// behind the edge than depth [m]?
bool lash_behind_concave_edge(const LashFeature* face, Vec3 p, double depth);
// An edge, line or arc, ends at a vertex that cannot touch (one of the edges there is concave): the
// material of its neighbours begins, and in penetration a foot beyond the end by up to depth [m] is
// still the edge's.
bool lash_edge_goes_on(const LashFeature* edge, Vec3 p, Vec3 m, double slack, double depth);
// Largest distance of the trims from the edges they follow: CAD data agree to their tolerance only.
double lash_trim_mismatch(const LashShape* shape, const LashFace* face);
double lash_feature_parameter(const LashFeature* feature, Vec3 p); // of an edge, line or circle
void lash_feature_second_order(const LashFeature* feature, bool ball, Vec3 p, const double* t,
                               Vec3 m, Vec3 t1, Vec3 t2, LashSecondOrder* order);

// Skeleton points ca, cb and the contact direction n (b's frame) of a stationary point: adds the
// root when it is within the limit, above the reach, owned by both features and, with check,
// locally a contact.
typedef struct LashCandidate {
    Vec3 ca, cb, n;
    int slot;
    bool check, ball;      // ball: of a
    double t_a[2], t_b[2]; // free features only
} LashCandidate;
void lash_pair_add(LashPairView* view, const LashCandidate* candidate);
// The same for two edges: finds the normal across both, signed by the wedges.
void lash_pair_add_edges(LashPairView* view, LashCandidate* candidate, Vec3 tangent_a,
                         Vec3 tangent_b);

static inline bool lash_is_smooth(
    const LashFeature* feature) { // a face, so that its normal is given
    return feature->kind == LASH_FEATURE_FACE;
}

// The part of w across the unit vector z; twice, because rounding counts where it is small (near an
// axis), and its direction is used.
static inline Vec3 lash_across(Vec3 w, Vec3 z) {
    Vec3 e = vec3_add_scaled(w, -vec3_dot(w, z), z);
    return vec3_add_scaled(e, -vec3_dot(e, z), z);
}

// One file per family; each adds the roots of its pair.
void lash_pair_point(LashPairView* view);  // point with anything elementary
void lash_pair_line(LashPairView* view);   // line with line, circle, cone
void lash_pair_circle(LashPairView* view); // circle with circle, plane, cone
void lash_pair_free(LashPairView* view);   // all others, numerically
void lash_pair_list_free(LashPairView* view, double move, double turn); // see lash_kernel_list
// A full circular edge with a whole cylinder, the fast way: roots in the cylinder's frame, a the
// rim.
static inline bool lash_is_rim_cylinder(const LashFeature* rim, const LashFeature* cylinder) {
    return rim->rim && cylinder->barrel;
}
int lash_rim_cylinder(const LashFeature* rim, const LashFeature* cylinder,
                      const LashPlacement* place, double limit, LashRoot roots[2]);
void lash_rims_cylinder(const LashFeature* const rim[2], const LashFeature* cylinder,
                        const LashPlacement* place, double limit,
                        LashRoot (*roots)[LASH_MAX_POINTS], int* count);
// Relative second-order test; K from lash_feature_second_order.
bool lash_second_order_is_contact(const LashFeature* a, const LashFeature* b,
                                  const LashSecondOrder* A, const LashSecondOrder* B, double gap);

#endif
