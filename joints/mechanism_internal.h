// Inside of a mechanism: for joints/ and its tests only.
#ifndef LASH_JOINTS_MECHANISM_INTERNAL_H
#define LASH_JOINTS_MECHANISM_INTERNAL_H

#include "joints/contact.h"

typedef struct Body {
    LashBodyDef def; // name owned
} Body;

typedef struct Joint {
    LashJointDef def; // name owned
    const JointKind* kind;
    int a, b;            // bodies: 0 is the ground, i > 0 has velocity block i - 1
    Mat3 a_axes, b_axes; // joint axes in each body
    int interaction;     // in the list
    int driver;          // interaction of the driver, -1: none
    double start_angle;  // coordinate of the initial configuration [rad]
} Joint;

typedef struct Force {
    LashForceDef def; // name owned
    int a, b, joint;  // bodies as in Joint; joint index or -1
    int block[2][2];  // blocks of the pattern it writes to, by side; -1: ground
} Force;

struct LashMechanism {
    LashSystem system; // first: a LashSystem* of a mechanism is a LashMechanism*
    bool complete;
    int bodies, joints, forces, contacts; // bodies count the ground
    Body* body;
    Joint* joint;
    Force* force;
    Contact* contact;
    Vec3 gravity;
    // Tables of the system.
    int *block_start, *q_start, *pattern_row, *pattern_column, *pattern_offset;
    LashInteraction* interaction; // in list order: joints and drivers, then contacts
    int interactions, rows, G_size;
    int bilateral, bilateral_rows;
};

struct LashSystemWork {
    BodyState* body; // (bodies) at the configuration evaluated last
    double* turned;  // (joints) unwrapped coordinate at the last accepted step [rad]
    LashInteractionList list;
};

// Body states of a configuration.
void mechanism_place(const LashMechanism* mech, const double* q, BodyState* body);
// The two sides of a joint.
void mechanism_joint_frames(const Joint* joint, const BodyState* body, JointFrames* frames);
void mechanism_frames_between(const Joint* joint, const BodyState* a, const BodyState* b,
                              JointFrames* frames);
// Coordinate of a joint, unwrapped to the turn nearest to the last accepted one.
double mechanism_unwrapped(const Joint* joint, const JointFrames* frames, double last);

// Forces (force.c): added to F (nv), C and K (pattern layout; both or neither NULL); potential [J];
// power.
void mechanism_add_forces(const LashMechanism* mech, LashSystemWork* work, double t,
                          const double* v, double* F);
void mechanism_add_tangents(const LashMechanism* mech, LashSystemWork* work, double t,
                            const double* v, double* C, double* K);
double mechanism_force_potential(const LashMechanism* mech, LashSystemWork* work);
LashPower mechanism_force_power(const LashMechanism* mech, LashSystemWork* work, double t,
                                const double* v);

// value and derivatives of a function of (t, x, v) in SI units; d may be NULL
double function_value(const LashFunction* function, double t, double x, double v, double d[3]);

#endif
