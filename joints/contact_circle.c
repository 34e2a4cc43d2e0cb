// Edge circle of a disc (body b) inside a bore, or around a pin (the cylinder, body a), tilted or
// not.
//
// Circle: center c, axis k, radius r, points x = c + r t with t a unit vector across k. Cylinder:
// origin o, axis u, radius R. With w = (x - o) across u and D = (c - o) across u:
//
//     |w|^2 = D^2 + r^2 + r f(t),     f(t) = 2 D.t - r (u.t)^2
//
// The end of a pin touches its bore where |w| is largest, the end of a bore touches its pin where
// |w| is least:
//
//     inside   gap = R - max |w|,  n = -w/|w|          outside   gap = min |w| - R,  n = w/|w|
//
// Over the angle on the circle f = 2 |D_k| cos(.) - (r s^2 / 2) cos(2 .) with s the sine of the
// tilt and D_k the part of D in the circle's plane: one extremum of each sort when |D_k| > r s^2,
// near D's direction when it is much larger. A nearly centered, tilted circle has two of each sort;
// then the best of START points begins. The gap is a continuous function of the motion in all
// cases.
//
// A cylinder of finite length (def.a_low, def.a_high along u) is touched only there: beyond its
// ends the gap is infinite, since there the end of the cylinder touches the other's surface, which
// is another contact. At the hand-over both touch in the same point.
//
// Derivatives: gap by the envelope theorem: the velocity of the material points at the contact.
// The touching point wanders on the circle: with x' = dx/d(angle), seen from a, the condition
// w.x' = 0 gives
//     d(angle) = -(v.x' + w.(phi x x')) / (x'.x' - (u.x')^2 - w.(x - c)),
// v: velocity of b's point at x against a's, across u; phi: of b against a.
#include <math.h>

#include "joints/contact.h"

enum { START = 16, ITERATIONS = 30 };
static const double SMALL = 1e-16; // error of the angle [rad]

typedef struct Extremum { // of f over the angle; sign +1: largest, -1: least
    double d_x, d_y;      // D in the circle's axes
    double u_x, u_y;      // u in them
    double r, sign;
} Extremum;

static double value_at(const Extremum* e, double c, double s) {
    double along = e->u_x * c + e->u_y * s;
    return e->sign * (2 * (e->d_x * c + e->d_y * s) - e->r * along * along);
}

// The best of START points.
static void best_start(const Extremum* e, double* c, double* s) {
    double best = value_at(e, *c, *s);
    for (int i = 0; i < START; ++i) {
        double angle = 2 * LASH_PI * i / START, x = cos(angle), y = sin(angle);
        double value = value_at(e, x, y);
        if (value > best) best = value, *c = x, *s = y;
    }
}

// Turns (c, s), D's direction or against it, d = |D|, to the extremum where that is near. With u_1
// and u_2 the parts of u along and across it, +-d = D.(c, s), A = r u_1 u_2, B = r (u_2^2 - u_1^2):
//     +-d sin x + A cos 2x + (B/2) sin 2x = 0,     y = -A / (B +- d),
//     x = y - (11/6 - B / (2 (B +- d))) y^3,   wrong by less than 9 y^5 where |B| < d/4.
static bool turn_by_series(const Extremum* e, double d, double* c, double* s) {
    double u_1 = e->u_x * *c + e->u_y * *s, u_2 = e->u_y * *c - e->u_x * *s;
    double B = e->r * (u_2 * u_2 - u_1 * u_1), inverse = 1 / (B + e->sign * d);
    double y = -e->r * u_1 * u_2 * inverse, t = y * y;
    if (t > 1.6e-7) return false; // 9 y^5 = SMALL
    double x = y - y * t * (11.0 / 6 - 0.5 * B * inverse);
    t = x * x;
    double cosine = 1 - t * (0.5 - t / 24), sine = x - x * t / 6, c_0 = *c;
    *c = c_0 * cosine - *s * sine;
    *s = *s * cosine + c_0 * sine;
    return true;
}

// By series where the circle is hardly tilted, else by Newton's iteration for the extremum of f;
// steps that lead away from it are turned round. A step leaves (bend / |f''|) step^2 of the angle,
// and a third of its cube; bend: a bound on half the third derivative of f.
static void find_extremum(const Extremum* e, double* c, double* s) {
    double d = sqrt(e->d_x * e->d_x + e->d_y * e->d_y);
    double tilt = e->r * (e->u_x * e->u_x + e->u_y * e->u_y), bend = d + 4 * tilt;
    *c = e->sign, *s = 0;
    if (d > 0) {
        double inverse = e->sign / d;
        *c = e->d_x * inverse, *s = e->d_y * inverse;
    }
    if (d > 4 * tilt && turn_by_series(e, d, c, s)) return;
    if (d <= 1.5 * tilt && tilt > 0) best_start(e, c, s);
    for (int i = 0; i < ITERATIONS; ++i) {
        double along = e->u_x * *c + e->u_y * *s, across = -e->u_x * *s + e->u_y * *c;
        double d_1 = 2 * (-e->d_x * *s + e->d_y * *c) - 2 * e->r * along * across;
        double d_2 =
            -2 * (e->d_x * *c + e->d_y * *s) + 2 * e->r * (along * along - across * across);
        d_1 *= e->sign, d_2 *= e->sign;
        if (d_1 == 0) return;
        double step = d_2 < 0 ? -d_1 / d_2 : copysign(0.3, d_1);
        step = step > 0.3 ? 0.3 : step < -0.3 ? -0.3 : step;
        double t = step * step, norm = t < 4e-6 ? 1 - t * (0.5 - 0.375 * t) : 1 / sqrt(1 + t);
        double x = (*c - step * *s) * norm; // the series is good to 1e-17
        *s = (*s + step * *c) * norm;
        *c = x;
        if (d_2 < 0 && t * (bend + fabs(step * d_2)) < -SMALL * d_2) return;
    }
}

void circle_gap(const Contact* contact, const ContactView* view, ContactState* s) {
    double r = contact->def.b_radius, sign = contact->def.inside ? -1 : 1;
    Vec3 u = contact->a_axis;
    s->center = vec3_add(view->d, mat3_mul(view->Q, contact->def.b_frame.r));
    Vec3 p = mat3_mul(view->Q, contact->b_x), q = mat3_mul(view->Q, contact->b_y);
    Vec3 D = vec3_sub(s->center, contact->def.a_frame.r);
    double height = vec3_dot(D, u), cosine, sine;
    D = vec3_add_scaled(D, -height, u);
    Extremum e = {vec3_dot(D, p), vec3_dot(D, q), vec3_dot(u, p), vec3_dot(u, q), r, -sign};
    find_extremum(&e, &cosine, &sine);
    Vec3 t = vec3_add(vec3_scale(r * cosine, p), vec3_scale(r * sine, q)); // from the center
    double lift = vec3_dot(t, u);
    Vec3 w = vec3_add_scaled(vec3_add(D, t), -lift, u);
    double rho = vec3_norm(w);
    s->rim = vec3_add(s->center, t);
    s->n = rho > 0 ? vec3_scale(sign / rho, w) : vec3(sign, 0, 0);
    s->gap = sign * (rho - contact->def.a_radius);
    s->point = vec3_add_scaled(s->rim, -0.5 * s->gap, s->n);
    height += lift;
    if (height < contact->def.a_low || height > contact->def.a_high) s->gap = INFINITY;
}

void circle_rates(const Contact* contact, const ContactWorld* s, const Contraction* c,
                  const double* P, ContractionRates* rates) {
    double sign = contact->def.inside ? -1 : 1, gap = isfinite(s->gap) ? s->gap : 0;
    Vec3 u = s->axis, x = s->rim, w = vec3_sub(x, s->origin), around = vec3_cross(u, s->n);
    w = vec3_add_scaled(w, -vec3_dot(w, u), u);
    double lift = vec3_dot(u, s->along), rho = vec3_norm(w);
    double slope = vec3_dot(s->along, s->along) - lift * lift - vec3_dot(w, vec3_sub(x, s->center));
    double inverse = slope != 0 ? -1 / slope : 0;
    Vec3 along = vec3_add_scaled(s->along, -lift, u); // across the axis
    Vec3 angle_v = vec3_scale(inverse, along);
    Vec3 angle_phi = vec3_scale(inverse, vec3_cross(s->along, w));
    // dn = around (turn_v . v + turn_phi . phi): w turns about the axis
    double part = vec3_dot(around, along), per = rho > 0 ? sign / rho : 0;
    Vec3 turn_v = vec3_scale(per, vec3_add_scaled(around, part, angle_v));
    Vec3 turn_phi = vec3_scale(per * part, angle_phi);
    contact_add_turn(c, P, around, turn_v, turn_phi, rates);
    Vec3 back = vec3_scale(-0.5 * gap, around), half = vec3_scale(-0.5, s->n);
    Mat3 wander = mat3_add(mat3_outer(s->along, angle_v), mat3_outer(back, turn_v));
    rates->x_0 = x;
    rates->p_v = mat3_add(rates->p_v, mat3_add(wander, mat3_outer(half, s->n)));
    rates->p_phi = mat3_add(mat3_outer(s->along, angle_phi), mat3_outer(back, turn_phi));
}
