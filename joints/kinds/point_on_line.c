// Point on line: the point of b stays on the line through p_a along z of a.
//   x_a . (p_b - p_a) = 0,   y_a . (p_b - p_a) = 0
#include "joints/rows.h"

static void write(const JointFrames* frames, RowWriter* out) {
    row_axis_point(frames, 0, out);
    row_axis_point(frames, 1, out);
}

static void contract(const JointFrames* frames, RowContraction* contraction) {
    row_across_contract(frames, contraction);
}

static void reaction(const JointFrames* frames, const double* P, Vec3* force, Vec3* moment) {
    *force = vec3_add(vec3_scale(P[0], axis_a(frames, 0)), vec3_scale(P[1], axis_a(frames, 1)));
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
