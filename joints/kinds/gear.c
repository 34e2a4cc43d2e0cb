// Gear pair: the turns of two joints keep a ratio (rows: coupling.c).
//   (x_2 - x_2(0)) - ratio (x_1 - x_1(0)) = 0,   both angles counted over all turns
// ratio = -z_1/z_2 for two external gears with z teeth whose axes point the same way, +z_1/z_2 for
// an internal gear. The impulse P of the row is the torque impulse on the second gear; the first
// one gets -ratio P.
#include "joints/joint.h"

const JointKind joint_gear = {.name = "gear", .rows = 1, .angular = 0x1, .couples = true};
