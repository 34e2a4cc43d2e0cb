// Rack and pinion: the rack's displacement follows the pinion's turns (rows: coupling.c).
//   (x_2 - x_2(0)) - radius (x_1 - x_1(0)) = 0,   x_1 an angle, x_2 a displacement
// The impulse P of the row pushes the rack along its axis; the pinion gets the torque impulse
// -radius P. A negative radius turns the sense.
#include "joints/joint.h"

const JointKind joint_rack_and_pinion = {.name = "rack_and_pinion", .rows = 1, .couples = true};
