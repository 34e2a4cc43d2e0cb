// Universal (Cardan) joint: a cross with one axis, z, in a and the other, x, in b.
//   p_b - p_a = 0,   z_a . x_b = 0
// With R_b = R_a Rz(angle) Rx(second angle): both coordinates are exact turns about their axes.
#include "joints/rows.h"

static void write(const JointFrames* frames, RowWriter* out) {
    row_point3(frames, out);
    row_dot(frames, 2, 0, out);
}

static void contract(const JointFrames* frames, RowContraction* contraction) {
    row_point3_contract(frames, contraction);
    row_dot_contract(frames, 2, 0, contraction);
}

static void reaction(const JointFrames* frames, const double* P, Vec3* force, Vec3* moment) {
    *force = vec3(P[0], P[1], P[2]);
    *moment = row_dot_moment(frames, 2, 0, P[3]);
}

const JointKind joint_universal = {.name = "universal",
                                   .rows = 4,
                                   .angular = 0x8,
                                   .write = write,
                                   .contract = contract,
                                   .reaction = reaction,
                                   .coordinates = 2,
                                   .coordinate = {ABOUT_Z, ABOUT_X_OF_B}};
