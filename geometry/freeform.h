// Free curves and surfaces: cells for the global search, projection.
#ifndef LASH_GEOMETRY_FREEFORM_H
#define LASH_GEOMETRY_FREEFORM_H

#include "geometry/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashCell { // a piece of a curve or surface
    Vec3 center, normal;  // point at the middle of the parameters; outward unit normal (surfaces)
    double radius;        // every point of the piece is at most this far from center (proven) [m]
    double cone;          // normals deviate at most by about this from normal [rad]
    double p[2];          // parameters of center
} LashCell;

typedef struct LashCellGroup { // the cells of one patch or segment
    Vec3 center;
    double radius;
    int first, count;
} LashCellGroup;

struct LashCells {
    LashCell* cell;
    LashCellGroup* group;
    int cells, groups;
};

// Outward normal of a freeform face at a point of one of its edges.
Vec3 lash_freeform_edge_normal(const LashShape* shape, const LashFace* face, const LashEdge* edge,
                               double t, Vec3 p);

#ifdef __cplusplus
}
#endif
#endif
