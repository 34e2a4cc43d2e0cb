// Spherical joint: the points coincide.   p_b - p_a = 0
#include "joints/joint.h"

static void reaction(const JointFrames* f, const double* P, Vec3* force, Vec3* moment) {
    (void)f;
    *force = vec3(P[0], P[1], P[2]);
    *moment = vec3_zero();
}

const JointKind joint_spherical = {.name = "spherical",
                                   .rows = 3,
                                   .write = row_point3,
                                   .contract = row_point3_contract,
                                   .reaction = reaction};
