// Linear springs with dampers, along the line between two points and on a joint coordinate:
//   f = -k (x - rest) - c dx/dt,   potential k (x - rest)^2 / 2,   the damper takes c (dx/dt)^2
#include "joints/force.h"

static double law(const LashForceDef* def, const LashInput* input, double t, double x, double speed,
                  double d[3]) {
    (void)input;
    (void)t;
    d[0] = 0;
    d[1] = -def->stiffness;
    d[2] = -def->damping;
    return -def->stiffness * (x - def->rest) - def->damping * speed;
}

static double potential(const LashForceDef* def, double x) {
    return 0.5 * def->stiffness * (x - def->rest) * (x - def->rest);
}

static double conservative(const LashForceDef* def, double x) {
    return -def->stiffness * (x - def->rest);
}

static LashPower power(const LashForceDef* def, const LashInput* input, double t, double x,
                       double speed) {
    (void)input;
    (void)t;
    (void)x;
    return (LashPower){.damping = -(def->damping * speed * speed)};
}

const ForceKind force_spring =
    FORCE_ALONG("spring", ALONG_LINE, law, potential, conservative, power);
const ForceKind force_joint_spring =
    FORCE_ALONG("joint spring", ALONG_COORDINATE, law, potential, conservative, power);
