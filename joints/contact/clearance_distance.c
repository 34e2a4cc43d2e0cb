// How far a pin is from the bore that it has left.
//
// Both are cylinders of finite length. With the pin outside, the nearest points lie on the end
// circle of one of them: the least over the angle of the distance of a point from the finite
// surface of the other,
//     d = hypot(rho - R, max(0, |z - middle| - length / 2)),
// which has few minima on a circle: the best of START angles begins, a golden section ends it.
#include <math.h>

#include "joints/mechanism_internal.h"

typedef struct Tube { // the surface of a pin or of a bore
    Pose world;       // joint frame
    double radius, low, high;
} Tube;

static double distance_of(const Tube* tube, Vec3 x) {
    Vec3 p = pose_point_inverse(tube->world, x);
    double beyond = fmax(0, fmax(tube->low - p.z, p.z - tube->high));
    return hypot(hypot(p.x, p.y) - tube->radius, beyond);
}

static double at_angle(const Tube* from, double z, double angle, const Tube* to) {
    Vec3 p = vec3(from->radius * cos(angle), from->radius * sin(angle), z);
    return distance_of(to, pose_point(from->world, p));
}

// The least distance of the circle at height z of `from`.
static double circle_distance(const Tube* from, double z, const Tube* to) {
    enum { START = 64, SECTIONS = 60 };
    const double golden = 0.6180339887498949, step = 2 * LASH_PI / START;
    double best = INFINITY, at = 0;
    for (int i = 0; i < START; ++i) {
        double d = at_angle(from, z, i * step, to);
        if (d < best) {
            best = d;
            at = i * step;
        }
    }
    double low = at - step, high = at + step;
    for (int i = 0; i < SECTIONS; ++i) {
        double x = high - golden * (high - low), y = low + golden * (high - low);
        if (at_angle(from, z, x, to) < at_angle(from, z, y, to))
            high = y;
        else
            low = x;
    }
    return fmin(best, at_angle(from, z, 0.5 * (low + high), to));
}

static Pose world_of(const double* q, int body, Pose body_joint) {
    if (body == 0) return body_joint;
    const double* r = q + 7 * (body - 1);
    return pose_mul(pose(vec3(r[0], r[1], r[2]), quat(r[3], r[4], r[5], r[6])), body_joint);
}

double lash_mechanism_joint_distance(const LashMechanism* mech, int index, const double* q) {
    const Joint* joint = &mech->joint[index];
    const LashClearanceDef* clearance_def = &joint->def.clearance;
    Pose a = world_of(q, joint->a, joint->def.a_joint);
    Pose b = world_of(q, joint->b, joint->def.b_joint);
    Tube bore = {.world = clearance_def->outer_b ? b : a,
                 .radius = clearance_def->radius + clearance_def->play};
    Tube pin = {.world = clearance_def->outer_b ? a : b, .radius = clearance_def->radius};
    bore.high = 0.5 * clearance_def->bore_length;
    bore.low = -bore.high;
    pin.high = clearance_def->pin_offset + 0.5 * clearance_def->pin_length;
    pin.low = clearance_def->pin_offset - 0.5 * clearance_def->pin_length;
    double least = INFINITY;
    const double end[2] = {-1, 1};
    for (int i = 0; i < 2; ++i) {
        double z = end[i] < 0 ? bore.low : bore.high, w = end[i] < 0 ? pin.low : pin.high;
        if (isfinite(z)) least = fmin(least, circle_distance(&bore, z, &pin));
        if (isfinite(w)) least = fmin(least, circle_distance(&pin, w, &bore));
    }
    return least;
}
