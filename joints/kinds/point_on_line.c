// Point on line: the point of b stays on the line through p_a along z of a.
//   x_a . (p_b - p_a) = 0,   y_a . (p_b - p_a) = 0
#include "joints/rows.h"

static void write(const JointFrames* f, RowWriter* out) {
    row_axis_point(f, 0, out);
    row_axis_point(f, 1, out);
}

static void contract(const JointFrames* f, RowContraction* c) {
    row_across_contract(f, c);
}

static void reaction(const JointFrames* f, const double* P, Vec3* force, Vec3* moment) {
    *force = vec3_add(vec3_scale(P[0], axis_a(f, 0)), vec3_scale(P[1], axis_a(f, 1)));
    *moment = vec3_zero();
}

const JointKind joint_point_on_line = {.name = "point_on_line",
                                       .rows = 2,
                                       .write = write,
                                       .contract = contract,
                                       .reaction = reaction,
                                       .coordinates = 1,
                                       .coordinate = {ALONG_Z},
                                       .load = 0x3,
                                       .slips = 1,
                                       .slip = {0}};
