// Kinds of forces: the table, and what a kind consists of.
#ifndef LASH_JOINTS_FORCE_H
#define LASH_JOINTS_FORCE_H

#include "joints/joint.h"
#include "joints/mechanism.h"

typedef enum ForceAlong {
    ALONG_LINE,       // x is the distance of a_point and b_point
    ALONG_DIRECTION,  // x is the distance of the points along a direction of body a
    ALONG_COORDINATE, // x is a coordinate of a joint
    ALONG_SIX,        // a bushing (bushing.c)
    ON_BODY           // three components on body b, functions of time
} ForceAlong;

// A force along a coordinate x has law, potential, conservative part and power; one on a body has load and turn. Made
// by the two macros below: a kind that lacks one of its functions does not compile.
typedef struct ForceKind {
    const char* name;
    ForceAlong along;
    double sense; // of component[0] along x: 1, or -1 of a tension
    // Generalized force along x and its derivatives d = (by t, by x, by speed).
    double (*law)(const LashForceDef* def, const LashInput* input, double t, double x, double speed,
                  double d[3]);
    // Energy whose negative derivative is the conservative part of the law [J].
    double (*potential)(const LashForceDef* def, double x);
    double (*conservative)(const LashForceDef* def, double x); // that part of the law
    // Power of the rest of the law [W].
    LashPower (*power)(const LashForceDef* def, const LashInput* input, double t, double x,
                       double speed);
    // Force (world axes) and torque (body axes) on b of the components f.
    void (*load)(const LashForceDef* def, const BodyState* b, Vec3 f, Vec3* world, Vec3* torque);
    // Adds minus their derivative by a rotation of b to the 6x6 block.
    void (*turn)(const LashForceDef* def, const BodyState* b, Vec3 f, double* block);
} ForceKind;
#define FORCE_ALONG(name, along, law, potential, conservative, power) \
    { name, along, 1, law, potential, conservative, power, NULL, NULL }
#define FORCE_TENSION(name, law, potential, conservative, power) \
    { name, ALONG_LINE, -1, law, potential, conservative, power, NULL, NULL }
#define FORCE_ON_BODY(name, load, turn) \
    { name, ON_BODY, 1, NULL, NULL, NULL, NULL, load, turn }

const ForceKind* force_kind(LashForceType type);

// Force kinds (forces/).
extern const ForceKind force_spring, force_joint_spring, force_joint_force, force_spring_function,
    force_point_force, force_torque, force_direction_spring, force_direction_force, force_bushing;

// value and derivatives of a function of (t, x, v) in SI units, the inputs of the run moving with t;
// d may be NULL
double function_value(const LashFunction* function, const LashInput* input, double t, double x,
                      double v, double d[3]);

// Derivatives of the expression by all its variables, in its own units: t, x, v, inputs, readings.
void function_slopes(const LashFunction* function, const LashInput* input, double t, double x,
                     double v, double slope[3 + LASH_FUNCTION_INPUTS]);

// Adds s X to the 3x3 block at (row, column) of a 6x6 block.
void add_block3(double* block, int row, int column, double s, Mat3 X);

#endif
