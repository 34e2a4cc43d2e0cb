// Gear, rack and pinion: one row between the coordinates of two joints.
//
//     g = (x_2 - x_2(0)) - ratio (x_1 - x_1(0)),   G = grad x_2 - ratio grad x_1
//
// Each gradient lies on the two bodies of its joint; a body that both joints share (the carrier)
// gets the sum. Angles are unwrapped with the turn counters of the joints.
#include <string.h>

#include "joints/mechanism_internal.h"

// Place of a body among the touched ones, -1: the ground.
static int place_of(const LashInteraction* item, int body) {
    for (int k = 0; k < item->touched; ++k) {
        if (item->block[k] == body - 1) return k;
    }
    return -1;
}

LashInteraction coupling_interaction(const LashMechanism* mech, const Joint* joint) {
    LashInteraction item = {.kind = LASH_BILATERAL, .rows = 1, .angular = joint->kind->angular};
    for (int k = 0; k < 2; ++k) {
        const Joint* via = &mech->joint[joint->via[k]];
        const int side[2] = {via->a, via->b};
        for (int s = 0; s < 2; ++s) {
            if (side[s] == 0 || place_of(&item, side[s]) >= 0) continue;
            item.block[item.touched++] = side[s] - 1;
        }
    }
    return item;
}

static CoordinateType coupled_type(const LashMechanism* mech, const Joint* joint, int k) {
    return mech->joint[joint->via[k]].kind->coordinate[joint->def.coupled_coordinate[k]];
}

void coupling_evaluate(const LashMechanism* mech, const LashSystemWork* work, const Joint* joint,
                       const LashInteraction* item, double* g, double* G) {
    const double weight[2] = {-joint->def.ratio, 1};
    double error = 0;
    if (G != NULL) memset(G + item->offset, 0, (size_t)(6 * item->touched) * sizeof *G);
    for (int k = 0; k < 2; ++k) {
        const Joint* via = &mech->joint[joint->via[k]];
        int c = joint->def.coupled_coordinate[k];
        const double* turned = mechanism_turned(work, joint->via[k]);
        CoordinateType type = coupled_type(mech, joint, k);
        JointFrames f;
        mechanism_joint_frames(via, work->body, turned, &f);
        error += weight[k] * (coordinate_unwrapped(type, &f, turned[c]) - via->start[c]);
        if (G == NULL) continue;
        double row[12];
        RowWriter out = {.Ga = row, .Gb = row + 6};
        coordinate_row(type, &f, &out);
        const int side[2] = {via->a, via->b};
        for (int s = 0; s < 2; ++s) {
            int place = place_of(item, side[s]);
            if (place < 0) continue;
            double* column = G + item->offset + 6 * place;
            for (int i = 0; i < 6; ++i) column[i] += weight[k] * row[6 * s + i];
        }
    }
    g[item->row] = error;
}

void coupling_contract(const LashMechanism* mech, const LashSystemWork* work, const Joint* joint,
                       const LashInteraction* item, const double* P, const double* v, double* dGP,
                       double* dGv) {
    const double weight[2] = {-joint->def.ratio, 1}, one = 1;
    int n = 6 * item->touched;
    for (int k = 0; k < 2; ++k) {
        const Joint* via = &mech->joint[joint->via[k]];
        JointFrames f;
        mechanism_joint_frames(via, work->body, mechanism_turned(work, joint->via[k]), &f);
        double H[144] = {0};
        RowContraction c = {.rows = 1, .has_a = true, .has_b = true, .P = &one, .dGP = H};
        coordinate_contract(coupled_type(mech, joint, k), &f, &c);
        const int place[2] = {place_of(item, via->a), place_of(item, via->b)};
        for (int j = 0; j < 12; ++j) {
            for (int i = 0; i < 12; ++i) {
                if (place[i / 6] < 0 || place[j / 6] < 0) continue;
                int row = 6 * place[i / 6] + i % 6, column = 6 * place[j / 6] + j % 6;
                double h = weight[k] * H[i + 12 * j];
                if (dGP != NULL) dGP[row + n * column] += P[0] * h;
                if (dGv != NULL) dGv[column] += v[row] * h;
            }
        }
    }
}
