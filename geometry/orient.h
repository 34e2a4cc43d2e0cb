// Which side of loose faces is the outside.
//
// A solid tells the outside of its faces; a file of faces alone (surfaces taken out of a part) does
// not: its orientation is that of the drawing's construction. Faces that share edges form a group,
// which is turned as a whole.
#ifndef LASH_GEOMETRY_ORIENT_H
#define LASH_GEOMETRY_ORIENT_H

#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LashOutside {
    LASH_OUTSIDE_UNKNOWN,
    LASH_OUTSIDE_AS_WRITTEN, // the file's orientation is right
    LASH_OUTSIDE_TURNED      // its opposite is
} LashOutside;

// group: (faces) -1 for faces of watertight parts, which have an outside; returns the number of
// groups.
int lash_loose_groups(const LashShape* shape, int* group);

// From the faces of a solid that the group lies on; both shapes in the same frame.
LashOutside lash_outside_by_solid(const LashShape* shape, const int* group, int which,
                                  const LashShape* solid);

// Points that must be outside, and how many of them are on each side: gap = distance + offset, not
// below -1 um for all and above 1 um for one.
typedef struct LashOutsidePoints {
    int as_written, turned; // points that one side has outside, and the other does not
    int neither, both;      // all others
    int clear[2];           // points that are clear by 1 um as written, turned
} LashOutsidePoints;
void lash_outside_add_point(const LashShape* shape, const int* group, int which, LashVec3 point,
                            double offset, LashOutsidePoints* points);
LashOutside lash_outside_by_points(const LashOutsidePoints* points);

// A copy with these faces turned; the caller owns it. An edge between a turned face and one that is
// not becomes a free one.
LashShape* lash_shape_turn(const LashShape* shape, const uint8_t* turned);

#ifdef __cplusplus
}
#endif
#endif
