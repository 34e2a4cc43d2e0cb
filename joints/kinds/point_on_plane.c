// Point on plane: the point of b stays in the plane through p_a with normal z of a.
//   z_a . (p_b - p_a) = 0
#include "joints/rows.h"

static void write(const JointFrames* frames, RowWriter* out) {
    row_axis_point(frames, 2, out);
}

static void contract(const JointFrames* frames, RowContraction* contraction) {
    row_axis_point_contract(frames, 2, contraction);
}

static void reaction(const JointFrames* frames, const double* P, Vec3* force, Vec3* moment) {
    *force = vec3_scale(P[0], axis_a(frames, 2));
    *moment = vec3_zero();
}

const JointKind joint_point_on_plane = {.name = "point_on_plane",
                                        .rows = 1,
                                        .write = write,
                                        .contract = contract,
                                        .reaction = reaction,
                                        .coordinates = 2,
                                        .coordinate = {ALONG_X, ALONG_Y},
                                        .load = 0x1,
                                        .slips = 2,
                                        .slip = {0, 1}};
