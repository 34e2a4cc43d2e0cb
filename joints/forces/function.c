// Forces that are functions of t, x and dx/dt: on a joint coordinate, and between two points, where
// a positive one is a tension and pulls them together. Their power is a load's.
#include "joints/force.h"

static double none(const LashForceDef* def, double x) {
    (void)def;
    (void)x;
    return 0;
}

static double on_joint(const LashForceDef* def, const LashInput* input, double t, double x,
                       double speed, double d[3]) {
    return function_value(&def->component[0], input, t, x, speed, d);
}

static LashPower joint_power(const LashForceDef* def, const LashInput* input, double t, double x,
                             double speed) {
    double d[3];
    return (LashPower){.external = on_joint(def, input, t, x, speed, d) * speed};
}

static double tension(const LashForceDef* def, const LashInput* input, double t, double x,
                      double speed, double d[3]) {
    double f = function_value(&def->component[0], input, t, x, speed, d);
    for (int i = 0; i < 3; ++i) d[i] = -d[i];
    return -f;
}

static LashPower tension_power(const LashForceDef* def, const LashInput* input, double t, double x,
                               double speed) {
    double d[3];
    return (LashPower){.external = tension(def, input, t, x, speed, d) * speed};
}

const ForceKind force_joint_force =
    FORCE_ALONG("joint force", ALONG_COORDINATE, on_joint, none, none, joint_power);
const ForceKind force_spring_function =
    FORCE_TENSION("spring function", tension, none, none, tension_power);
const ForceKind force_direction_force =
    FORCE_ALONG("force along", ALONG_DIRECTION, on_joint, none, none, joint_power);
const ForceKind force_bushing = {.name = "bushing", .along = ALONG_SIX, .sense = 1};
