// Distance joint: a massless rod between two points.   |p_b - p_a| - L = 0
#include "joints/joint.h"

static void reaction(const JointFrames* frames, const double* P, Vec3* force, Vec3* moment) {
    Vec3 d = vec3_sub(frames->p_b, frames->p_a);
    double x = vec3_norm(d);
    *force = x > 0 ? vec3_scale(P[0] / x, d) : vec3_zero();
    *moment = vec3_zero();
}

const JointKind joint_distance = {.name = "distance",
                                  .rows = 1,
                                  .write = row_distance,
                                  .contract = row_distance_contract,
                                  .reaction = reaction};
