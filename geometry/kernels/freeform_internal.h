// Shared by the files of the free pairs: the system of equations of one pair and its roots.
#ifndef LASH_GEOMETRY_FREEFORM_INTERNAL_H
#define LASH_GEOMETRY_FREEFORM_INTERNAL_H

#include "geometry/kernels/cells.h"
#include "geometry/kernels/kernels_internal.h"

enum { LASH_FREE_ROOTS = 32 };

typedef enum LashFreeMode { LASH_MODE_S, LASH_MODE_N, LASH_MODE_E, LASH_MODE_C } LashFreeMode;

// E: a point of a and its derivatives, and the profile with its, in the plane across the axis.
typedef struct LashFlatPoint {
    double p[2], d[2][2], dd[3][2]; // u, v; uu, uv, vv
    double c[3][2];
} LashFlatPoint;

// E: that plane and a.
typedef struct LashFlatPlace {
    Vec3 x, y;                     // its axes in a's frame
    double t[2];                   // a's frame in the plane
    double origin[2], along[2][2]; // of a line: its point 0, its direction; circle: center, radii
} LashFlatPlace;

typedef struct LashFreeProblem {
    LashPairView* v;
    LashFreeMode mode;
    const LashFeature *P, *Q;                           // S: parametric and elementary feature
    LashPlacement place;                                // S: P in Q's frame
    int na, n;                                          // parameters of a; of all (S: of P)
    double tube;                                        // E: of a, negative: hollow [m]
    double x[LASH_FREE_ROOTS][4], gap[LASH_FREE_ROOTS]; // ascending gap
    int roots;
    LashSurfacePoint at[2]; // last evaluation: P (S) or a, placed; b
    double at_x[4];
    bool evaluated;
    LashFlatPlace flat_place; // E
    LashFlatPoint flat;       // E: last evaluation
    int budget;               // boxes the search may still look at
    int unresolved;           // boxes about which nothing was proven
    LashCandidates* list;     // NULL: boxes are searched, else pairs of cells are listed
    bool overflow;            // the list was full
} LashFreeProblem;

int lash_free_parameters(const LashFeature* feature);
// Own frame; curves: u only. Of elementary faces the skeleton.
LashSurfacePoint lash_free_point(const LashFeature* feature, const double* t);
// Points and first derivatives of both sides at x into q->at; by Taylor's formula when x is a last
// Newton step away from the last evaluation.
void lash_free_points(LashFreeProblem* problem, const double* x);
// Signed distance of X from the elementary face Q, its gradient, and the Hessian k1 e1 e1' + k2 e2
// e2'.
double lash_free_distance(const LashFeature* Q, Vec3 X, Vec3* n, Vec3 e[2], double k[2]);

// F and its Jacobian (column stride 4) at x. Returns the point in Q's frame (S) or r = pa - pb.
Vec3 lash_free_system(LashFreeProblem* problem, const double* x, double F[4], double J[16]);
// E (freeform_extruded.c); place: once per problem.
void free_flat_place(LashFreeProblem* problem);
Vec3 free_flat_system(LashFreeProblem* problem, const double* x, double F[4], double J[16]);
static inline void free_flat_turn(const LashFlatPlace* place, Vec3 w, double flat[2]) {
    flat[0] = vec3_dot(place->x, w);
    flat[1] = vec3_dot(place->y, w);
}
double free_flat_gap(LashFreeProblem* problem, const double* x); // of the surfaces
// Range of parameter i; returns its period, 0: none.
double lash_free_range(const LashFreeProblem* problem, int i, double* low, double* high);
// Difference of two values of parameter i, as a share of its range or period.
double lash_free_parameter_distance(const LashFreeProblem* problem, int i, double x, double y);

// From x to a root; false: there is none near.
bool lash_free_newton(LashFreeProblem* problem, double x[4]);

double lash_free_gap(LashFreeProblem* problem, const double x[4]); // INFINITY: of no use
bool lash_free_is_minimum(LashFreeProblem* problem, const double x[4]);
bool lash_free_same(const LashFreeProblem* problem, const double* x, const double* y);
// Enters a new root into the list, the smallest gaps first; a full list drops its largest.
void lash_free_keep(LashFreeProblem* problem, const double x[4]);

typedef struct FreeRange {        // what is searched for
    double low, gap_high;         // of the gaps; E: of the skeleton of a
    double high;                  // S: gap_high; others: of |r|
    double move, turn;            // the motion it shall hold for [m], [rad]
    const LashDerivatives *a, *b; // of the parameters of a and b (S: a only, of P)
} FreeRange;

// freeform_bounds.c: of the distance from Q, and whether a cone is left; how far J varies over a box; what a
// motion adds to that and (E) to F. The letters are the modes, r and a rows that modes share.
void free_distance_bounds(const LashFeature* Q, Vec3 X, double rho, double* k2, double* k3);
bool free_beyond_cone(const LashFeature* Q, Vec3 X, double gap, double rho);
void free_variation_S(const FreeRange* range, int n, const double* h, double k2, double k3,
                      double V[16]);
void free_variation_r(const FreeRange* range, int na, int nb, int row, const double* h, double r,
                      double V[16]);
void free_variation_N(const FreeRange* range, int na, const double* h, double V[16]);
void free_variation_E(const FreeRange* range, const double d1[2], int na, const double* h, double r,
                      double V[16]);
void free_variation_a(const FreeRange* range, const double* h, double r, double V[16]);
void free_motion_S(const FreeRange* range, int n, double k2, double k3, double E[4], double V[16]);
void free_motion_r(const FreeRange* range, int na, int nb, int row, double E[4], double V[16]);
void free_motion_N(const FreeRange* range, int na, double E[4], double V[16]);
void free_motion_E(const FreeRange* range, int na, double E[4], double V[16]);
void free_motion_a(const FreeRange* range, double r, double E[4], double V[16]);

// All roots within the limit of the query; listed: look at these cells only, of a list that holds.
void lash_free_search(LashFreeProblem* problem, const LashCellPair* listed, int count);
// Appends the pairs of cells that can hold a root within the limit after any motion up to move [m]
// and turn [rad]; false: the list is full, or there is no root here whatever the cells; nothing is
// appended.
bool lash_free_list(LashFreeProblem* problem, double move, double turn, LashCandidates* list);

#endif
