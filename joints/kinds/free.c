// Free joint: no rows. Six coordinates of frame b against frame a, those of a bushing:
//   x, y, z           along the axes of a
//   roll, pitch, yaw  R_b = R_a Rz(yaw) Ry(pitch) Rx(roll): about x of b, between, about z of a
// They can be read, driven, loaded and limited like those of other joints; with nothing of that the
// joint only measures. |pitch| < 90 degrees: beyond, roll and yaw jump by half a turn.
#include "joints/joint.h"

static const char* const names[] = {"x", "y", "z", "roll", "pitch", "yaw"};

const JointKind joint_free = {
    .name = "free",
    .coordinates = 6,
    .coordinate = {ALONG_X, ALONG_Y, ALONG_Z, ABOUT_X_OF_B, ABOUT_BETWEEN, ABOUT_Z},
    .coordinate_name = names};
