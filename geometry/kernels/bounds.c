// Proven lower bounds on distances.
//
// A feature lies in its box (axes of its shape) and in a ball around the box's middle. The distance
// of two features is at least the distance of one ball's center to the other's box minus the
// radius; both ways round, the larger counts. The box of a torus is mostly empty: every point of
// it is `tube` away from its circle, so a ball with center c is at least |d(c, circle) - tube| - R
// away. 1e-12 of the sizes covers rounding.
//
// Boxes are poor for what lies askew. A feature also lies within `tube` of its skeleton (point,
// segment, circle), of which heights over a plane and distances from a sphere's center or a
// cylinder's axis are bounded in closed form. With these, side + of a surface of radius r is
// distance - r away, side - (a bore) r - distance: negative inside the material, as gaps are.
//
// A rigid motion that moves a point c by at most d and turns by at most t moves every point within
// radius R of c by at most d + R t.
#include "geometry/kernels/bounds.h"

static double beyond(double x, double low, double high) {
    if (x < low) return low - x;
    return x > high ? x - high : 0;
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
    x = x > 0 ? x : 0;
    y = y > 0 ? y : 0;
    z = z > 0 ? z : 0;
    return sqrt(x * x + y * y + z * z);
}

static bool is_torus(const LashFeature* feature) {
    return feature->skeleton == LASH_SKELETON_CIRCLE && feature->kind == LASH_FEATURE_FACE;
}

// Distance of the ball (c, R) in the torus' frame from the torus.
static double torus_distance(const LashFeature* torus, Vec3 c, double R) {
    Vec3 w = vec3_sub(c, torus->origin);
    double z = vec3_dot(w, torus->z), rho = vec3_norm(vec3_add_scaled(w, -z, torus->z));
    double x = rho - torus->radius;
    return fabs(sqrt(x * x + z * z) - torus->tube) - R;
}

// The skeleton of a feature in another frame: a segment from p to q (a point: p = q), or a circle
// around p; what it misses of the feature [m].
typedef struct Bones {
    bool circle;
    Vec3 p, q, z;
    double radius, flesh;
} Bones;

static double hair(const LashFeature* feature) {
    return feature->border + (feature->kind == LASH_FEATURE_FACE ? feature->face->deviation : 0);
}

static bool bones_of(const LashFeature* feature, const LashPlacement* place, Bones* bones) {
    double t0 = feature->t0, t1 = feature->t1;
    if (feature->skeleton > LASH_SKELETON_CIRCLE) return false;
    bones->circle = feature->skeleton == LASH_SKELETON_CIRCLE;
    bones->flesh = feature->tube + hair(feature);
    if (feature->skeleton == LASH_SKELETON_LINE) {
        if (feature->kind == LASH_FEATURE_FACE) {
            t0 = feature->face->v0;
            t1 = feature->face->v1;
        }
        bones->p = lash_place(place, vec3_add_scaled(feature->origin, t0, feature->z));
        bones->q = lash_place(place, vec3_add_scaled(feature->origin, t1, feature->z));
        return true;
    }
    bones->p = bones->q = lash_place(place, feature->origin);
    bones->z = mat3_mul(place->rot, feature->z);
    bones->radius = feature->radius;
    return true;
}

// Least and largest distance of the segment from p to q (seen from the point) from that point.
static void segment_range(Vec3 p, Vec3 q, double* low, double* high) {
    Vec3 d = vec3_sub(q, p);
    double pp = vec3_norm_squared(p), qq = vec3_norm_squared(q), dd = vec3_norm_squared(d);
    double t = dd > 0 ? -vec3_dot(p, d) / dd : 0;
    t = within(t, 0, 1);
    *low = vec3_norm(vec3_add_scaled(p, t, d));
    *high = sqrt(pp > qq ? pp : qq);
}

// Lower bound on the distance of the bones, in f's frame, from the elementary face f.
static double face_distance(const LashFeature* feature, const Bones* bones) {
    Vec3 p = vec3_sub(bones->p, feature->origin), q = vec3_sub(bones->q, feature->origin);
    double rim = bones->circle ? bones->radius : 0, low, high;
    if (feature->skeleton == LASH_SKELETON_PLANE) { // its z points outward
        double c = vec3_dot(bones->z, feature->z),
               least = fmin(vec3_dot(p, feature->z), vec3_dot(q, feature->z));
        if (rim > 0) least -= rim * sqrt(fmax(0, 1 - c * c));
        return least;
    }
    if (feature->skeleton == LASH_SKELETON_LINE) { // across the axis
        p = vec3_add_scaled(p, -vec3_dot(p, feature->z), feature->z);
        q = vec3_add_scaled(q, -vec3_dot(q, feature->z), feature->z);
    }
    segment_range(p, q, &low, &high);
    if (rim > 0 && feature->skeleton == LASH_SKELETON_POINT) {
        double z = vec3_dot(p, bones->z), rho = vec3_norm(vec3_add_scaled(p, -z, bones->z));
        low = sqrt(z * z + (rho - rim) * (rho - rim));
        high = sqrt(z * z + (rho + rim) * (rho + rim));
    } else {
        low -= rim;
        high += rim;
    }
    return feature->side > 0 ? low - feature->tube : feature->tube - high;
}

static double skeleton_bound(const LashFeature* feature, const LashFeature* face,
                             const LashPlacement* place) {
    Bones bones = {0};
    bool known = face->skeleton == LASH_SKELETON_POINT || face->skeleton == LASH_SKELETON_LINE ||
                 face->skeleton == LASH_SKELETON_PLANE;
    if (face->kind != LASH_FEATURE_FACE || !known || !bones_of(feature, place, &bones))
        return -INFINITY;
    return face_distance(face, &bones) - bones.flesh - hair(face);
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
    if (a->kind == LASH_FEATURE_FACE || b->kind == LASH_FEATURE_FACE) {
        LashPlacement a_b = lash_placement_inverse(b_a);
        near = fmax(near, fmax(skeleton_bound(a, b, b_a), skeleton_bound(b, a, &a_b)));
    }
    return near - 1e-12 * (a->bound + b->bound + vec3_norm(d));
}

double lash_rotation_angle(Quat a, Quat b) {
    Quat d = quat_mul(quat_conjugate(a), b);
    double s = sqrt(d.x * d.x + d.y * d.y + d.z * d.z), c = fabs(d.w);
    // 2 atan2(s, c), from above and without the arc tangent while small: atan x <= x
    if (s < 0.05 * c) return 2 * s / c;
    return 2 * atan2(s, c) * (1 + 1e-15);
}
