// Planar joint: b slides and turns on the plane through p_a with normal z of a.
//   z_a . (p_b - p_a) = 0,   x_a . z_b = 0,   y_a . z_b = 0
#include "joints/rows.h"

static void write(const JointFrames* f, RowWriter* out) {
    row_axis_point(f, 2, out);
    row_parallel(f, out);
}

static void contract(const JointFrames* f, RowContraction* c) {
    row_axis_point_contract(f, 2, c);
    row_parallel_contract(f, c);
}

static void reaction(const JointFrames* f, const double* P, Vec3* force, Vec3* moment) {
    *force = vec3_scale(P[0], axis_a(f, 2));
    *moment = vec3_add(row_dot_moment(f, 0, 2, P[1]), row_dot_moment(f, 1, 2, P[2]));
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
