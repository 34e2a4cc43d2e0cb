// Prismatic joint: b slides along z of a without turning.
//   x_a . (p_b - p_a) = 0,   y_a . (p_b - p_a) = 0,   x_a . z_b = 0,   y_a . z_b = 0,
//   y_a . x_b = 0
#include "joints/rows.h"

static void write(const JointFrames* frames, RowWriter* out) {
    row_axis_point(frames, 0, out);
    row_axis_point(frames, 1, out);
    row_parallel(frames, out);
    row_dot(frames, 1, 0, out);
}

static void contract(const JointFrames* frames, RowContraction* contraction) {
    row_across_contract(frames, contraction);
    row_parallel_contract(frames, contraction);
    row_dot_contract(frames, 1, 0, contraction);
}

static void reaction(const JointFrames* frames, const double* P, Vec3* force, Vec3* moment) {
    *force = vec3_add(vec3_scale(P[0], axis_a(frames, 0)), vec3_scale(P[1], axis_a(frames, 1)));
    *moment =
        vec3_add(vec3_add(row_dot_moment(frames, 0, 2, P[2]), row_dot_moment(frames, 1, 2, P[3])),
                 row_dot_moment(frames, 1, 0, P[4]));
}

const JointKind joint_prismatic = {.name = "prismatic",
                                   .rows = 5,
                                   .angular = 0x1c,
                                   .write = write,
                                   .contract = contract,
                                   .reaction = reaction,
                                   .coordinates = 1,
                                   .coordinate = {ALONG_Z},
                                   .load = 0x3,
                                   .slips = 1,
                                   .slip = {0}};
