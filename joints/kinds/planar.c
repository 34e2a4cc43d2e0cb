// Planar joint: b slides and turns on the plane through p_a with normal z of a.
//   z_a . (p_b - p_a) = 0,   x_a . z_b = 0,   y_a . z_b = 0
#include "joints/rows.h"

static void write(const JointFrames* frames, RowWriter* out) {
    row_axis_point(frames, 2, out);
    row_parallel(frames, out);
}

static void contract(const JointFrames* frames, RowContraction* contraction) {
    row_axis_point_contract(frames, 2, contraction);
    row_parallel_contract(frames, contraction);
}

static void reaction(const JointFrames* frames, const double* P, Vec3* force, Vec3* moment) {
    *force = vec3_scale(P[0], axis_a(frames, 2));
    *moment = vec3_add(row_dot_moment(frames, 0, 2, P[1]), row_dot_moment(frames, 1, 2, P[2]));
}

const JointKind joint_planar = {.name = "planar",
                                .rows = 3,
                                .angular = 0x6,
                                .write = write,
                                .contract = contract,
                                .reaction = reaction,
                                .coordinates = 3,
                                .coordinate = {ALONG_X, ALONG_Y, ABOUT_Z},
                                .load = 0x1,
                                .slips = 2,
                                .slip = {0, 1}};
