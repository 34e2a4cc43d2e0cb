// Screw joint: a cylindrical joint whose displacement follows the angle, counted over all turns.
//   the four rows of the cylindrical joint,   z - lead angle = 0,   lead = pitch / (2 pi)
// A positive pitch is a right-hand thread. The thread row pulls b along z with P and turns it back
// with lead P.
#include <string.h>

#include "joints/rows.h"

static void write(const JointFrames* frames, RowWriter* out) {
    joint_cylindrical.write(frames, out);
    double turn, Ga[6], Gb[6];
    RowWriter angle = {.g = &turn, .Ga = Ga, .Gb = Gb};
    coordinate_row(ABOUT_Z, frames, &angle);
    int i = out->rows;
    row_axis_point(frames, 2, out);
    if (out->g != NULL)
        out->g[i] -= frames->lead * coordinate_unwrapped(ABOUT_Z, frames, frames->turned[0]);
    for (int k = 0; k < 6; ++k) {
        if (out->Ga != NULL) out->Ga[6 * i + k] -= frames->lead * Ga[k];
        if (out->Gb != NULL) out->Gb[6 * i + k] -= frames->lead * Gb[k];
    }
}

// Second derivative of the row: that of the displacement, then -lead that of the angle.
static void contract(const JointFrames* frames, RowContraction* contraction) {
    joint_cylindrical.contract(frames, contraction);
    int row = contraction->row;
    row_axis_point_contract(frames, 2, contraction);
    double H[144], one = 1;
    memset(H, 0, sizeof H);
    RowContraction angle = {.rows = 1, .has_a = true, .has_b = true, .P = &one, .dGP = H};
    coordinate_contract(ABOUT_Z, frames, &angle);
    for (int part = A_LIN; part <= B_ANG; ++part) {
        for (int along = A_LIN; along <= B_ANG; ++along) {
            Mat3 block;
            for (int j = 0; j < 3; ++j) {
                for (int i = 0; i < 3; ++i)
                    block.m[i + 3 * j] = -frames->lead * H[(3 * part + i) + 12 * (3 * along + j)];
            }
            add_block(contraction, row, part, along, block);
        }
    }
}

static void reaction(const JointFrames* frames, const double* P, Vec3* force, Vec3* moment) {
    joint_cylindrical.reaction(frames, P, force, moment);
    coordinate_reaction(ALONG_Z, frames, P[4], force, moment);
    coordinate_reaction(ABOUT_Z, frames, -frames->lead * P[4], force, moment);
}

const JointKind joint_screw = {.name = "screw",
                               .rows = 5,
                               .angular = 0xc,
                               .write = write,
                               .contract = contract,
                               .reaction = reaction,
                               .coordinates = 2,
                               .coordinate = {ABOUT_Z, ALONG_Z}};
