// Cylindrical joint: b turns about z of a and slides along it.
//   x_a . (p_b - p_a) = 0,   y_a . (p_b - p_a) = 0,   x_a . z_b = 0,   y_a . z_b = 0
// The shaft slides over the bore with (radius * angle, displacement): friction acts along the sum.
#include "joints/rows.h"

static void write(const JointFrames* frames, RowWriter* out) {
    row_axis_point(frames, 0, out);
    row_axis_point(frames, 1, out);
    row_parallel(frames, out);
}

static void contract(const JointFrames* frames, RowContraction* contraction) {
    row_across_contract(frames, contraction);
    row_parallel_contract(frames, contraction);
}

static void reaction(const JointFrames* frames, const double* P, Vec3* force, Vec3* moment) {
    *force = vec3_add(vec3_scale(P[0], axis_a(frames, 0)), vec3_scale(P[1], axis_a(frames, 1)));
    *moment = vec3_add(row_dot_moment(frames, 0, 2, P[2]), row_dot_moment(frames, 1, 2, P[3]));
}

const JointKind joint_cylindrical = {.name = "cylindrical",
                                     .rows = 4,
                                     .angular = 0xc,
                                     .write = write,
                                     .contract = contract,
                                     .reaction = reaction,
                                     .coordinates = 2,
                                     .coordinate = {ABOUT_Z, ALONG_Z},
                                     .load = 0x3,
                                     .slips = 2,
                                     .slip = {0, 1}};
