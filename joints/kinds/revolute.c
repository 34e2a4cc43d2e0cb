// Revolute joint: the points coincide, z of b stays along z of a.
//   p_b - p_a = 0,   x_a . z_b = 0,   y_a . z_b = 0
#include "joints/rows.h"

static void write(const JointFrames* f, RowWriter* out) {
    row_point3(f, out);
    row_parallel(f, out);
}

static void contract(const JointFrames* f, RowContraction* c) {
    row_point3_contract(f, c);
    row_parallel_contract(f, c);
}

static void reaction(const JointFrames* f, const double* P, Vec3* force, Vec3* moment) {
    *force = vec3(P[0], P[1], P[2]);
    *moment = vec3_add(row_dot_moment(f, 0, 2, P[3]), row_dot_moment(f, 1, 2, P[4]));
}

const JointKind joint_revolute = {.name = "revolute",
                                  .rows = 5,
                                  .angular = 0x18,
                                  .write = write,
                                  .contract = contract,
                                  .reaction = reaction,
                                  .coordinates = 1,
                                  .coordinate = {ABOUT_Z},
                                  .load = 0x7,
                                  .slips = 1,
                                  .slip = {0}};
