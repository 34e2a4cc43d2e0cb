// Proven lower bounds on distances.
//
// A feature lies in its box (axes of its shape) and in a ball around the box's middle. The distance
// of two features is at least the distance of one ball's center to the other's box minus the
// radius; both ways round, the larger counts. The box of a torus is mostly empty: every point of
// it is `tube` away from its circle, so a ball with center c is at least |d(c, circle) - tube| - R
// away. 1e-12 of the sizes covers rounding.
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

// Distance of two boxes along the axes of b: a's half sizes h, turned by |R|, around its middle d.
static double axis_distance(const Mat3* R, Vec3 d, Vec3 ha, Vec3 hb) {
    const double* m = R->m;
    double x = fabs(d.x) - hb.x - (fabs(m[0]) * ha.x + fabs(m[3]) * ha.y + fabs(m[6]) * ha.z);
    double y = fabs(d.y) - hb.y - (fabs(m[1]) * ha.x + fabs(m[4]) * ha.y + fabs(m[7]) * ha.z);
    double z = fabs(d.z) - hb.z - (fabs(m[2]) * ha.x + fabs(m[5]) * ha.y + fabs(m[8]) * ha.z);
    x = x > 0 ? x : 0, y = y > 0 ? y : 0, z = z > 0 ? z : 0;
    return sqrt(x * x + y * y + z * z);
}

static bool is_torus(const LashFeature* f) {
    return f->skeleton == LASH_SKELETON_CIRCLE && f->kind == LASH_FEATURE_FACE;
}

// Distance of the ball (c, R) in the torus' frame from the torus.
static double torus_distance(const LashFeature* torus, Vec3 c, double R) {
    Vec3 w = vec3_sub(c, torus->origin);
    double z = vec3_dot(w, torus->z), rho = vec3_norm(vec3_add_scaled(w, -z, torus->z));
    double x = rho - torus->radius;
    return fabs(sqrt(x * x + z * z) - torus->tube) - R;
}

double lash_feature_bound(const LashFeature* a, const LashFeature* b, const LashPlacement* b_a) {
    Vec3 ha = vec3_scale(0.5, vec3_sub(a->box.high, a->box.low));
    Vec3 hb = vec3_scale(0.5, vec3_sub(b->box.high, b->box.low));
    Vec3 d = vec3_sub(lash_place(b_a, a->center), b->center);
    Mat3 back = mat3_transpose(b_a->rot);
    double near = fmax(axis_distance(&b_a->rot, d, ha, hb), vec3_norm(d) - a->bound - b->bound);
    near = fmax(near, axis_distance(&back, mat3_mul(back, d), hb, ha));
    if (b->skeleton != LASH_SKELETON_POINT) // a ball fits its sphere better than its box
        near = fmax(near, lash_box_distance(&b->box, vec3_add(d, b->center)) - a->bound);
    if (is_torus(b)) near = fmax(near, torus_distance(b, vec3_add(d, b->center), a->bound));
    if (is_torus(a))
        near = fmax(near, torus_distance(a, vec3_sub(a->center, mat3_mul(back, d)), b->bound));
    return near - 1e-12 * (a->bound + b->bound + vec3_norm(d));
}

double lash_rotation_angle(Quat a, Quat b) {
    Quat d = quat_mul(quat_conjugate(a), b);
    double s = sqrt(d.x * d.x + d.y * d.y + d.z * d.z), c = fabs(d.w);
    // 2 atan2(s, c), from above and without the arc tangent while small: atan x <= x
    if (s < 0.05 * c) return 2 * s / c;
    return 2 * atan2(s, c) * (1 + 1e-15);
}
