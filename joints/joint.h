// Joint kinds: rows of constraints between two bodies. A new kind is one file and one line in the
// table of joint.c.
#ifndef LASH_JOINTS_JOINT_H
#define LASH_JOINTS_JOINT_H

#include "core/math3.h"
#include "joints/mechanism.h"

// Where a body is, with its rotation matrix: computed once per evaluation.
typedef struct BodyState {
    Vec3 x; // mass center, world [m]
    Mat3 R; // body -> world
} BodyState;

// The two sides of a joint in the world.
typedef struct JointFrames {
    const BodyState *a, *b;
    Vec3 a_point, b_point; // joint point in each body [m]
    Mat3 a_axes, b_axes;   // joint axes in each body (columns x, y, z)
    Vec3 p_a, p_b;         // joint point of each side, world
    Mat3 a_b;              // R_a' R_b: axes of b in axes of a
    double length;         // of a distance joint [m]
} JointFrames;

// Joint axis e (0 x, 1 y, 2 z) of each side, world.
static inline Vec3 axis_a(const JointFrames* f, int e) {
    return mat3_mul(f->a->R, mat3_column(f->a_axes, e));
}
static inline Vec3 axis_b(const JointFrames* f, int e) {
    return mat3_mul(f->b->R, mat3_column(f->b_axes, e));
}

// Rows being written. Ga, Gb: (6 x rows) columns of G per side, or NULL where that side is the
// ground.
typedef struct RowWriter {
    int rows, capacity;
    double* g;       // (rows) or NULL
    double *Ga, *Gb; // (6 x rows) or NULL
} RowWriter;

// Second derivatives being summed: H of row i is dG_i/dq. dGP += P_i H_i, dGv(i, :) = v' H_i.
typedef struct RowContraction {
    int row, rows;
    bool has_a, has_b;
    const double* P;   // (rows) or NULL
    const double* v;   // (n) velocities of the touched bodies, a first; or NULL
    double *dGP, *dGv; // (n x n), (rows x n), zeroed by the caller; or NULL
} RowContraction;

typedef struct JointKind {
    const char* name;
    int rows;
    unsigned angular;                                               // bit i: row i is an angle
    void (*write)(const JointFrames* frames, RowWriter* out);       // g and G
    void (*contract)(const JointFrames* frames, RowContraction* c); // second derivatives
    void (*reaction)(const JointFrames* frames, const double* P, Vec3* force,
                     Vec3* moment); // on b, world
    LashDriverType free_coordinate; // LASH_DRIVE_POSITION when it has one
    bool rotates;                   // the coordinate is an angle
} JointKind;

const JointKind* joint_kind(LashJointType type);

// Joint kinds, one file each.
extern const JointKind joint_fixed, joint_revolute, joint_prismatic, joint_spherical,
    joint_distance;

// Free coordinate of a joint: angle of b about z of a in (-pi, pi], or displacement along z of a.
double joint_coordinate(const JointKind* kind, const JointFrames* frames);
// Its gradient as one row.
void joint_coordinate_row(const JointKind* kind, const JointFrames* frames, RowWriter* out);
void joint_coordinate_contract(const JointKind* kind, const JointFrames* frames, RowContraction* c);

// Building blocks of rows (rows.c). e: index of a joint axis (0 x, 1 y, 2 z).
// point3: p_b - p_a = 0 in world axes, three rows.
void row_point3(const JointFrames* f, RowWriter* out);
void row_point3_contract(const JointFrames* f, RowContraction* c);
// axis_point: e_a . (p_b - p_a), e_a an axis of a.
void row_axis_point(const JointFrames* f, int e, RowWriter* out);
void row_axis_point_contract(const JointFrames* f, int e, RowContraction* c);
// dot: e_a . k_b, an axis of a and one of b.
void row_dot(const JointFrames* f, int e, int k, RowWriter* out);
void row_dot_contract(const JointFrames* f, int e, int k, RowContraction* c);
// distance: |p_b - p_a| - length, one row.
void row_distance(const JointFrames* f, RowWriter* out);
void row_distance_contract(const JointFrames* f, RowContraction* c);
// Reaction of a dot row with impulse P: moment on b, world.
Vec3 row_dot_moment(const JointFrames* f, int e, int k, double P);

#endif
