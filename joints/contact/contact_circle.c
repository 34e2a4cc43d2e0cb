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
// v: velocity of b's point at x against a's, across u; phi: of b against a. With w = D + r t across
// u the denominator is (u.(x - c))^2 - (u.x')^2 - D.(x - c), in which nothing large cancels.
#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "joints/contact/contact.h"

enum { START = 16, ITERATIONS = 30, BATCH = 8 };
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
        if (value > best) {
            best = value;
            *c = x;
            *s = y;
        }
    }
}

// The extremum near D's direction (c_0, s_0), or against it, where that is near. With d = |D|,
// u_1 and u_2 the parts of u along and across it, A = r u_1 u_2, B = r (u_2^2 - u_1^2):
//     F(x) = +-d sin x + A cos 2x + (B/2) sin 2x = 0,     y = -A / (B +- d),
//     x = y - (11/6 - B / (2 (B +- d))) y^3,   wrong by less than 9 y^5 where |B| < d/4
// and one Newton step. Returns whether that is good to SMALL.
static inline bool extremum_by_series(const Extremum* e, double* c, double* s) {
    double d = sqrt(e->d_x * e->d_x + e->d_y * e->d_y), per = e->sign / d;
    double c_0 = e->d_x * per, s_0 = e->d_y * per, along = e->sign * d;
    double u_1 = e->u_x * c_0 + e->u_y * s_0, u_2 = e->u_y * c_0 - e->u_x * s_0;
    double A = e->r * u_1 * u_2, B = e->r * (u_2 * u_2 - u_1 * u_1), inverse = 1 / (B + along);
    double y = -A * inverse, yy = y * y;
    double x = y - y * yy * (11.0 / 6 - 0.5 * B * inverse), t = x * x;
    double cosine = 1 - t * (0.5 - t * (1.0 / 24 - t / 720));
    double sine = x * (1 - t * (1.0 / 6 - t / 120));
    double sin_2 = 2 * sine * cosine, cos_2 = cosine * cosine - sine * sine;
    double F = along * sine + A * cos_2 + 0.5 * B * sin_2;
    double step = -F / (along * cosine - 2 * A * sin_2 + B * cos_2);
    double c_1 = cosine - step * sine, s_1 = sine + step * cosine;
    *c = c_0 * c_1 - s_0 * s_1;
    *s = s_0 * c_1 + c_0 * s_1;
    return (d > 4 * e->r * (u_1 * u_1 + u_2 * u_2)) & (yy < 2.5e-4);
}

// Newton's iteration for the extremum of f; steps that lead away from it are turned round. A step
// leaves (bend / |f''|) step^2 of the angle, and a third of its cube; bend: a bound on half the
// third derivative of f.
static void extremum_by_iteration(const Extremum* e, double* c, double* s) {
    double d = sqrt(e->d_x * e->d_x + e->d_y * e->d_y);
    double tilt = e->r * (e->u_x * e->u_x + e->u_y * e->u_y), bend = d + 4 * tilt;
    *c = d > 0 ? e->sign * e->d_x / d : e->sign;
    *s = d > 0 ? e->sign * e->d_y / d : 0;
    if (d <= 1.5 * tilt && tilt > 0) best_start(e, c, s);
    for (int i = 0; i < ITERATIONS; ++i) {
        double along = e->u_x * *c + e->u_y * *s, across = -e->u_x * *s + e->u_y * *c;
        double d_1 = 2 * (-e->d_x * *s + e->d_y * *c) - 2 * e->r * along * across;
        double d_2 =
            -2 * (e->d_x * *c + e->d_y * *s) + 2 * e->r * (along * along - across * across);
        d_1 *= e->sign;
        d_2 *= e->sign;
        if (d_1 == 0) return;
        double step = d_2 < 0 ? -d_1 / d_2 : copysign(0.3, d_1);
        if (step > 0.3) step = 0.3;
        if (step < -0.3) step = -0.3;
        double t = step * step, norm = t < 4e-6 ? 1 - t * (0.5 - 0.375 * t) : 1 / sqrt(1 + t);
        double x = (*c - step * *s) * norm; // the series is good to 1e-17
        *s = (*s + step * *c) * norm;
        *c = x;
        if (d_2 < 0 && t * (bend + fabs(step * d_2)) < -SMALL * d_2) return;
    }
}

// Circle and cylinder of a contact.
typedef struct Circle {
    Vec3 c, x, y;     // of b: center, axes in the circle's plane
    Vec3 o, u;        // of a: origin and axis of the cylinder
    double r, R;      // radii
    double low, high; // ends of the cylinder
    double sign;      // -1: inside
} Circle;
enum { CIRCLE_NUMBERS = sizeof(Circle) / sizeof(double) };

static Circle circle_of(const Contact* contact) {
    const LashContactDef* def = &contact->def;
    return (Circle){.c = def->b_frame.r,
                    .x = contact->b_x,
                    .y = contact->b_y,
                    .o = def->a_frame.r,
                    .u = contact->a_axis,
                    .r = def->b_radius,
                    .R = def->a_radius,
                    .low = def->a_low,
                    .high = def->a_high,
                    .sign = def->inside ? -1 : 1};
}

// A circle in the axes of a.
typedef struct Seen {
    Vec3 center, x, y;
    Vec3 D; // from the axis of the cylinder to the center
    double height;
    Extremum f;
} Seen;

static inline void see(const Circle* k, const Mat3* Q, Vec3 d, Seen* c) {
    c->center = vec3_add(d, mat3_mul(*Q, k->c));
    c->x = mat3_mul(*Q, k->x);
    c->y = mat3_mul(*Q, k->y);
    Vec3 D = vec3_sub(c->center, k->o);
    c->height = vec3_dot(D, k->u);
    c->D = D = vec3_add_scaled(D, -c->height, k->u);
    c->f.d_x = vec3_dot(D, c->x);
    c->f.d_y = vec3_dot(D, c->y);
    c->f.u_x = vec3_dot(k->u, c->x);
    c->f.u_y = vec3_dot(k->u, c->y);
    c->f.r = k->r;
    c->f.sign = -k->sign;
}

// The circle touches in the direction (cosine, sine) of its axes. Returns false on the axis of the
// cylinder, where the normal is not known.
static inline bool touch(const Circle* k, const Seen* c, double cosine, double sine,
                         ContactState* s) {
    Vec3 t = vec3_add(vec3_scale(k->r * cosine, c->x), vec3_scale(k->r * sine, c->y));
    double lift = vec3_dot(t, k->u), height = c->height + lift;
    Vec3 w = vec3_add_scaled(vec3_add(c->D, t), -lift, k->u);
    double rho = vec3_norm(w), gap = k->sign * (rho - k->R);
    s->center = c->center;
    s->rim = vec3_add(c->center, t);
    s->n = vec3_scale(k->sign / rho, w);
    s->point = vec3_add_scaled(s->rim, -0.5 * gap, s->n);
    bool between = (height >= k->low) & (height <= k->high); // of the ends
    s->gap = between ? gap : INFINITY;
    return rho > 0;
}

void circle_gap(const Contact* contact, const ContactView* view, ContactState* s) {
    Circle k = circle_of(contact);
    Seen c;
    double cosine, sine;
    see(&k, &view->Q, view->d, &c);
    if (!extremum_by_series(&c.f, &cosine, &sine)) extremum_by_iteration(&c.f, &cosine, &sine);
    if (touch(&k, &c, cosine, sine, s)) return;
    s->n = vec3(k.sign, 0, 0); // every direction is as near as any other: take a fixed one
    s->point = vec3_add_scaled(s->rim, 0.5 * k.sign * k.R, s->n);
}

// BATCH circles, number by number: those of their Circle, Q and d of their views, their states.
typedef struct Batch {
    int count, contact[BATCH];
    double circle[CIRCLE_NUMBERS][BATCH], view[12][BATCH], state[13][BATCH];
    double good[BATCH]; // 1: the series sufficed
} Batch;

struct Circles {
    int batches;
    Batch* batch;
};

Circles* circles_create(const Contact* contact, int contacts) {
    Circles* circles = lash_alloc(sizeof *circles);
    circles->batch = lash_alloc((size_t)(contacts / BATCH + 1) * sizeof *circles->batch);
    for (int c = 0; c < contacts; ++c) {
        if (contact[c].pair >= 0 || !contact_is_circle_in_cylinder(&contact[c])) continue;
        Batch* b = &circles->batch[circles->batches];
        Circle circle = circle_of(&contact[c]);
        double number[CIRCLE_NUMBERS];
        memcpy(number, &circle, sizeof number);
        b->contact[b->count] = c;
        for (int k = 0; k < CIRCLE_NUMBERS; ++k) b->circle[k][b->count] = number[k];
        if (++b->count == BATCH) ++circles->batches;
    }
    if (circles->batch[circles->batches].count > 0) ++circles->batches;
    return circles;
}

void circles_destroy(Circles* circles) {
    lash_free(circles->batch);
    lash_free(circles);
}

static inline Vec3 vec3_at(double (*of)[BATCH], int i) {
    return vec3(of[0][i], of[1][i], of[2][i]);
}
static inline void put_at(Vec3 x, double (*of)[BATCH], int i) {
    of[0][i] = x.x;
    of[1][i] = x.y;
    of[2][i] = x.z;
}

// One circle per lane: without branches the compiler takes as many at once as the registers hold.
LASH_VECTOR_CLONES static void find_by_series(Batch* b) {
    for (int i = 0; i < BATCH; ++i) {
        double(*of)[BATCH] = b->circle, (*view)[BATCH] = b->view;
        Circle k = {.c = vec3_at(of, i),
                    .x = vec3_at(of + 3, i),
                    .y = vec3_at(of + 6, i),
                    .o = vec3_at(of + 9, i),
                    .u = vec3_at(of + 12, i),
                    .r = of[15][i],
                    .R = of[16][i],
                    .low = of[17][i],
                    .high = of[18][i],
                    .sign = of[19][i]};
        Mat3 Q = mat3_columns(vec3_at(view, i), vec3_at(view + 3, i), vec3_at(view + 6, i));
        Seen c;
        ContactState s;
        double cosine, sine;
        see(&k, &Q, vec3_at(view + 9, i), &c);
        bool good = extremum_by_series(&c.f, &cosine, &sine);
        good &= touch(&k, &c, cosine, sine, &s);
        b->state[0][i] = s.gap;
        b->good[i] = good ? 1 : 0;
        put_at(s.center, b->state + 1, i);
        put_at(s.n, b->state + 4, i);
        put_at(s.point, b->state + 7, i);
        put_at(s.rim, b->state + 10, i);
    }
}

void circles_find(Circles* circles, const Contact* contact, const ContactView* view,
                  ContactState* state) {
    for (Batch* b = circles->batch; b < circles->batch + circles->batches; ++b) {
        for (int i = 0; i < b->count; ++i) {
            const ContactView* of = &view[contact[b->contact[i]].view];
            for (int k = 0; k < 9; ++k) b->view[k][i] = of->Q.m[k];
            put_at(of->d, b->view + 9, i);
        }
        find_by_series(b);
        for (int i = 0; i < b->count; ++i) {
            const Contact* of = &contact[b->contact[i]];
            ContactState* s = &state[b->contact[i]];
            if (b->good[i] == 0) {
                circle_gap(of, &view[of->view], s);
                continue;
            }
            s->gap = b->state[0][i];
            s->center = vec3_at(b->state + 1, i);
            s->n = vec3_at(b->state + 4, i);
            s->point = vec3_at(b->state + 7, i);
            s->rim = vec3_at(b->state + 10, i);
        }
    }
}

Vec3 circle_turning(const Contact* contact, const ContactView* view, const ContactState* s,
                    ContactWorld* world) {
    Vec3 u = contact->a_axis, arm = vec3_sub(s->rim, s->center);
    Vec3 D = vec3_sub(s->center, contact->def.a_frame.r);
    Vec3 along = vec3_cross(mat3_mul(view->Q, contact->b_axis), arm);
    double rise = vec3_dot(u, arm), lift = vec3_dot(u, along);
    D = vec3_add_scaled(D, -vec3_dot(u, D), u);
    world->lift = lift;
    world->slope = rise * rise - lift * lift - vec3_dot(D, arm);
    world->out = vec3_dot(s->n, vec3_add(D, arm)); // w = out n
    return along;
}

void circle_rates(const ContactWorld* s, const Contraction* c, const double* P,
                  ContractionRates* rates) {
    double gap = isfinite(s->gap) ? s->gap : 0;
    double inverse = s->slope != 0 ? -1 / s->slope : 0, per = s->out != 0 ? 1 / s->out : 0;
    Vec3 around = vec3_cross(s->axis, s->n);
    Vec3 along = vec3_add_scaled(s->along, -s->lift, s->axis); // across the axis
    Vec3 angle_v = vec3_scale(inverse, along);
    Vec3 angle_phi = vec3_scale(inverse * s->out, vec3_cross(s->along, s->n));
    // dn = around (turn_v . v + turn_phi . phi): w turns about the axis
    double part = vec3_dot(around, along);
    Vec3 turn_v = vec3_scale(per, vec3_add_scaled(around, part, angle_v));
    Vec3 turn_phi = vec3_scale(per * part, angle_phi);
    contact_add_turn(c, P, around, turn_v, turn_phi, rates);
    Vec3 back = vec3_scale(-0.5 * gap, around), half = vec3_scale(-0.5, s->n);
    // The rim wanders; half the gap, e, lies between it and the point.
    Mat3 e_v = mat3_add(mat3_outer(back, turn_v), mat3_outer(half, s->n));
    Mat3 e_phi = mat3_outer(back, turn_phi);
    rates->x_0 = s->rim;
    rates->p_v = mat3_add(rates->p_v, mat3_add(mat3_outer(s->along, angle_v), e_v));
    rates->p_phi = mat3_add(mat3_outer(s->along, angle_phi), e_phi);
    if (!c->own_points) return;
    rates->e_v = mat3_scale(-1, e_v);
    rates->e_phi = mat3_scale(-1, e_phi);
}
