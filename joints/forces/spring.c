// Linear springs with dampers, along the line between two points and on a joint coordinate:
//   f = -k (x - rest) - c dx/dt,   potential k (x - rest)^2 / 2,   the damper takes c (dx/dt)^2
// One that only pushes or pulls is not there on the other side of its rest, and has no damper.
#include "joints/force.h"

static bool lets_go(const LashForceDef* def, double x) {
    if (def->acts == LASH_ACTS_BOTH_WAYS) return false;
    return def->acts == LASH_PUSHES ? x > def->rest : x < def->rest;
}

static double law(const LashForceDef* def, const LashInput* input, double t, double x, double speed,
                  double d[3]) {
    (void)input;
    (void)t;
    d[0] = 0;
    if (lets_go(def, x)) {
        d[1] = d[2] = 0;
        return 0;
    }
    d[1] = -def->stiffness;
    d[2] = -def->damping;
    return -def->stiffness * (x - def->rest) - def->damping * speed;
}

static double potential(const LashForceDef* def, double x) {
    if (lets_go(def, x)) return 0;
    return 0.5 * def->stiffness * (x - def->rest) * (x - def->rest);
}

static double conservative(const LashForceDef* def, double x) {
    if (lets_go(def, x)) return 0;
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
const ForceKind force_direction_spring =
    FORCE_ALONG("spring along", ALONG_DIRECTION, law, potential, conservative, power);
