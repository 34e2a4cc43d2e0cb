// Spherical joint: the points coincide.   p_b - p_a = 0
#include "joints/rows.h"

static void write(const JointFrames* frames, RowWriter* out) {
    row_point3(frames, out);
}

static void reaction(const JointFrames* frames, const double* P, Vec3* force, Vec3* moment) {
    (void)frames;
    *force = vec3(P[0], P[1], P[2]);
    *moment = vec3_zero();
}

const JointKind joint_spherical = {.name = "spherical",
                                   .rows = 3,
                                   .write = write,
                                   .contract = row_point3_contract,
                                   .reaction = reaction};
