// Shared by the files of the pair manager.
#ifndef LASH_GEOMETRY_PAIRS_INTERNAL_H
#define LASH_GEOMETRY_PAIRS_INTERNAL_H

#include <stdatomic.h>

#include "geometry/kernels/kernels.h"
#include "geometry/pairs.h"
#include "geometry/solid.h"

enum { PAIR_BLOCK = 32 }; // combinations per block, see pairs.c

typedef struct PairSide {
    const LashShape* shape;
    LashFeature* feature;
    int features;
    int* neighbor;           // faces across convex edges, as features
    int* first_neighbor;     // (features + 1)
    const LashSolid** solid; // (features) of its part, NULL: not watertight
    LashFace* wall;          // of loose faces, see pairs_walls.c
    int* first_wall;         // (features + 1)
    uint8_t* chosen;         // (faces of the shape)
    Pose body_shape;
    bool shifted;    // body_shape is not the identity
    bool turned;     // nor is its rotation
    LashFeature all; // bounds of the whole side
    double radius;   // about the body's origin [m]
} PairSide;

typedef struct PairCombination {
    int a, b; // features
    int slots;
    int warm;     // index of its LashWarm, -1: none
    int room;     // index of its first LashTrimRoom, -1: none
    double depth; // penetration to be reported: the reach [m]
    bool medial;  // one is a face with neighbours across convex edges
    bool rim;     // of a rim and a barrel: two of them go together
} PairCombination;

struct LashPair {
    PairSide a, b;
    PairCombination* combination;
    int combinations, blocks, warms, rooms, max_slots;
    double offset;
    double depth;              // largest of the combinations [m]
    struct LashPairOcct* occt; // LASH_QUERY_OCCT: no combinations, one slot; else NULL
    atomic_int others;         // owners besides the first
};

typedef struct PairView { // poses of one call
    LashPlacement b_a, a_b;
    Pose b;       // of shape b in the world
    Mat3 world_b; // its rotation; set before points are written
    Quat rotation;
} PairView;

// A vertex or convex ball.
static inline bool pair_is_point(const LashFeature* feature) {
    return feature->skeleton == LASH_SKELETON_POINT && feature->side > 0;
}

static inline bool pair_has_neighbors(const PairSide* side, int feature) {
    return side->first_neighbor[feature] < side->first_neighbor[feature + 1] &&
           side->feature[feature].skeleton != LASH_SKELETON_SURFACE;
}

typedef struct PairVerdict { // on a root in penetration
    bool shadowed;           // a shallower root nearby may stand for it
    bool inside;             // some of its point is in the other solid
    double real; // > 0: it is much deeper than what was found of its features in the other solids
                 // [m]; a root that is about so deep stands for it
} PairVerdict;

// In penetration: does the root count? It may be moved to where its point is really nearest.
bool pair_root_counts(const PairSide* a, const PairSide* b, const PairCombination* combination,
                      const PairView* view, LashRoot* root, PairVerdict* verdict);

// The walls of the loose faces of a side that lie on a solid in the same frame; NULL: there is
// none.
void pair_find_walls(PairSide* side, const LashShape* solid);
// Is a point (in the side's frame) behind a face outside one of its walls, or less deep than this?
bool pair_wall_is_nearer(const PairSide* side, int face, Vec3 point, double depth);

#endif
