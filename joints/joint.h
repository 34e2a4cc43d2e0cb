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
    Vec3 a_point, b_point;       // joint point in each body [m]
    const Mat3 *a_axes, *b_axes; // joint axes in each body (columns x, y, z)
    Vec3 p_a, p_b;               // joint point of each side, world
    Mat3 a_b;                    // R_a' R_b: axes of b in axes of a
    double length;               // of a distance joint [m]
    double lead;                 // of a screw: displacement per angle [m/rad]
    const double* turned; // (LASH_MAX_COORDINATES) coordinates near which angles are unwrapped
} JointFrames;

// Joint axis e (0 x, 1 y, 2 z) of each side, world.
static inline Vec3 axis_a(const JointFrames* frames, int e) {
    return mat3_mul(frames->a->R, mat3_column(*frames->a_axes, e));
}
static inline Vec3 axis_b(const JointFrames* frames, int e) {
    return mat3_mul(frames->b->R, mat3_column(*frames->b_axes, e));
}

// Rows being written. Ga, Gb: (6 x rows) columns of G per side, or NULL where that side is the
// ground.
typedef struct RowWriter {
    int rows;
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

// Free coordinates, all of b against a.
typedef enum CoordinateType {
    ALONG_X, // x_a . (p_b - p_a) [m]
    ALONG_Y,
    ALONG_Z,
    ABOUT_Z,      // angle from x_a to x_b about z_a [rad]
    ABOUT_X_OF_B, // angle from z_a to z_b about x_b, second angle of a universal joint [rad]
    ABOUT_BETWEEN // angle of x_b below the plane across z_a, about z_a x x_b [rad]
} CoordinateType;

typedef struct JointKind {
    const char* name;
    int rows;
    unsigned angular;                                               // bit i: row i is an angle
    void (*write)(const JointFrames* frames, RowWriter* out);       // g and G
    void (*contract)(const JointFrames* frames, RowContraction* c); // second derivatives
    void (*reaction)(const JointFrames* frames, const double* P, Vec3* force,
                     Vec3* moment); // on b, world
    int coordinates;                // free ones that can be driven, limited, loaded
    CoordinateType coordinate[LASH_MAX_COORDINATES];
    const char* const* coordinate_name; // (coordinates); NULL: the usual ones of joint.c
    // Friction: |P_t| <= mu |P_load| against the motion along `slip` coordinates (0: none).
    unsigned load; // bit i: row i is a force that presses the surfaces together
    int slips, slip[2];
    bool couples; // rows act on the coordinates of two other joints: coupling.c, no write or
                  // contract
} JointKind;

const JointKind* joint_kind(LashJointType type);

// Joint kinds, one file each.
#define X(id, name) extern const JointKind joint_##name;
LASH_JOINT_TABLE(X)
#undef X

// Free coordinates (coordinate.c): value (angles in (-pi, pi]), gradient as one row, second
// derivative.
static inline bool coordinate_is_angle(CoordinateType type) {
    return type >= ABOUT_Z;
}
double coordinate_value(CoordinateType type, const JointFrames* frames);
void coordinate_row(CoordinateType type, const JointFrames* frames, RowWriter* out);
void coordinate_contract(CoordinateType type, const JointFrames* frames,
                         RowContraction* contraction);
// The value, an angle unwrapped to the turn nearest to `last`.
double coordinate_unwrapped(CoordinateType type, const JointFrames* frames, double last);
// Force and moment on b, world, of the generalized force Q along the coordinate.
void coordinate_reaction(CoordinateType type, const JointFrames* frames, double Q, Vec3* force,
                         Vec3* moment);

// Building blocks of rows (rows.c; what is written inline: rows.h). e: index of a joint axis (0 x,
// 1 y, 2 z).
void put_row(RowWriter* out, double g, Vec3 lin_a, Vec3 ang_a, Vec3 lin_b, Vec3 ang_b);
// Parts of a touched pair of bodies, in the order of their velocities.
enum { A_LIN, A_ANG, B_LIN, B_ANG };
// Adds the 3x3 block H of the second derivative of row `row`: rows of G in `part`, increment in
// `along`.
void add_block(RowContraction* contraction, int row, int part, int along, Mat3 H);
void row_point3_contract(const JointFrames* frames, RowContraction* contraction);
void row_axis_point_contract(const JointFrames* frames, int e, RowContraction* contraction);
void row_across_contract(const JointFrames* frames, RowContraction* contraction); // axes x and y
void row_dot_contract(const JointFrames* frames, int e, int k, RowContraction* contraction);
void row_parallel_contract(const JointFrames* frames,
                           RowContraction* contraction); // x and y with z
// distance: |p_b - p_a| - length, one row.
void row_distance(const JointFrames* frames, RowWriter* out);
void row_distance_contract(const JointFrames* frames, RowContraction* contraction);
// Reaction of a dot row with impulse P: moment on b, world.
Vec3 row_dot_moment(const JointFrames* frames, int e, int k, double P);

#endif
