// Pieces of free curves and surfaces with proven bounds, for the global search.
#ifndef LASH_GEOMETRY_CELLS_H
#define LASH_GEOMETRY_CELLS_H

#include "geometry/kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bounds on the lengths of derivatives over a piece (curves: u only) [m per parameter].
typedef struct LashDerivatives {
    double d1[2]; // u, v
    double d2[3]; // uu, uv, vv
    double d3[4]; // uuu, uuv, uvv, vvv
} LashDerivatives;

typedef struct LashCell {
    Vec3 center, tangent[2]; // at the middle of the parameters
    Vec3 normal;             // outward unit normal there (surfaces)
    double radius;           // every point of the piece is at most this far from center [m]
    double cone;             // normals deviate at most by this from normal [rad]
    double p[2], half[2];    // parameters of the middle, half their ranges
    LashDerivatives d;
} LashCell; // all bounds are proven, up to rounding

typedef struct LashCellGroup { // the cells of one patch or segment
    Vec3 center;
    double radius;
    int first, count;
} LashCellGroup;

// The profile of an extruded face over one patch, in the plane across the axis.
typedef struct LashProfilePiece {
    double u0, u1;
    int degree, first_pole;
} LashProfilePiece;

struct LashCells {
    LashCell* cell;
    LashCellGroup* group;
    int cells, groups;
    // A face that is its profile at the middle of v, moved along a straight line: one cell in v.
    bool extruded;
    Vec3 axis;     // unit, along rising v
    double speed;  // [m] per unit of v
    double middle; // v of the profile
    Vec3 x, y;     // unit, across the axis; x, y, axis are right-handed
    LashProfilePiece* piece;
    double* pole; // (x, y, weight) each
    int pieces;
};

LashBox lash_cell_box(const LashCell* cell); // around all points of the piece

// The least radius of curvature of a prepared freeform face on the material's side, less 20 % [m].
// proven: a lower bound; else made of some hundred places or more.
double lash_cells_reach(const LashFeature* feature, bool* proven);

#ifdef __cplusplus
}
#endif
#endif
