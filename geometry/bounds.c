// Proven lower bounds on distances.
//
// A feature lies in its box (axes of its shape) and in a ball around the box's middle. The distance
// of two features is at least the distance of one ball's center to the other's box minus the
// radius; both ways round, the larger counts. 1e-12 of the sizes covers rounding.
//
// A rigid motion that moves a point c by at most d and turns by at most t moves every point within
// radius R of c by at most d + R t.
#include "geometry/bounds.h"

static double beyond(double x, double low, double high) {
    return x < low ? low - x : x > high ? x - high : 0;
}

double lash_box_distance(const LashBox* box, Vec3 p) {
    double x = beyond(p.x, box->low.x, box->high.x), y = beyond(p.y, box->low.y, box->high.y),
           z = beyond(p.z, box->low.z, box->high.z);
    return sqrt(x * x + y * y + z * z);
}

LashBox lash_box_union(LashBox a, LashBox b) {
    LashBox c;
    c.low = vec3(fmin(a.low.x, b.low.x), fmin(a.low.y, b.low.y), fmin(a.low.z, b.low.z));
    c.high = vec3(fmax(a.high.x, b.high.x), fmax(a.high.y, b.high.y), fmax(a.high.z, b.high.z));
    return c;
}

double lash_feature_bound(const LashFeature* a, const LashFeature* b, const LashPlacement* b_a) {
    Vec3 ca = lash_place(b_a, a->center), cb = lash_place_inverse(b_a, b->center);
    double near =
        fmax(lash_box_distance(&b->box, ca) - a->bound, lash_box_distance(&a->box, cb) - b->bound);
    return near - 1e-12 * (a->bound + b->bound + fabs(near));
}

double lash_rotation_angle(Quat a, Quat b) {
    Quat d = quat_mul(quat_conjugate(a), b);
    double s = sqrt(d.x * d.x + d.y * d.y + d.z * d.z), c = fabs(d.w);
    // 2 atan2(s, c), from above and without the arc tangent while small: atan x <= x
    if (s < 0.05 * c) return 2 * s / c;
    return 2 * atan2(s, c) * (1 + 1e-15);
}
