// Fixed joint: points coincide, axes stay parallel.
//   p_b - p_a = 0,   x_a . z_b = 0,   y_a . z_b = 0,   y_a . x_b = 0
#include "joints/rows.h"

static void write(const JointFrames* frames, RowWriter* out) {
    row_point3(frames, out);
    row_parallel(frames, out);
    row_dot(frames, 1, 0, out);
}

static void contract(const JointFrames* frames, RowContraction* contraction) {
    row_point3_contract(frames, contraction);
    row_parallel_contract(frames, contraction);
    row_dot_contract(frames, 1, 0, contraction);
}

static void reaction(const JointFrames* frames, const double* P, Vec3* force, Vec3* moment) {
    *force = vec3(P[0], P[1], P[2]);
    *moment =
        vec3_add(vec3_add(row_dot_moment(frames, 0, 2, P[3]), row_dot_moment(frames, 1, 2, P[4])),
                 row_dot_moment(frames, 1, 0, P[5]));
}

const JointKind joint_fixed = {.name = "fixed",
                               .rows = 6,
                               .angular = 0x38,
                               .write = write,
                               .contract = contract,
                               .reaction = reaction};
