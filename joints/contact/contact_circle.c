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

static double value_at(const Extremum* extremum, double c, double s) {
    double along = extremum->u_x * c + extremum->u_y * s;
    return extremum->sign *
           (2 * (extremum->d_x * c + extremum->d_y * s) - extremum->r * along * along);
}

// The best of START points.
static void best_start(const Extremum* extremum, double* c, double* s) {
    double best = value_at(extremum, *c, *s);
    for (int i = 0; i < START; ++i) {
        double angle = 2 * LASH_PI * i / START, x = cos(angle), y = sin(angle);
        double value = value_at(extremum, x, y);
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
static inline bool extremum_by_series(const Extremum* extremum, double* c, double* s) {
    double d = sqrt(extremum->d_x * extremum->d_x + extremum->d_y * extremum->d_y),
           per = extremum->sign / d;
    double c_0 = extremum->d_x * per, s_0 = extremum->d_y * per, along = extremum->sign * d;
    double u_1 = extremum->u_x * c_0 + extremum->u_y * s_0,
           u_2 = extremum->u_y * c_0 - extremum->u_x * s_0;
    double A = extremum->r * u_1 * u_2, B = extremum->r * (u_2 * u_2 - u_1 * u_1),
           inverse = 1 / (B + along);
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
    return (d > 4 * extremum->r * (u_1 * u_1 + u_2 * u_2)) & (yy < 2.5e-4);
}

// Newton's iteration for the extremum of f; steps that lead away from it are turned round. A step
// leaves (bend / |f''|) step^2 of the angle, and a third of its cube; bend: a bound on half the
// third derivative of f.
static void extremum_by_iteration(const Extremum* extremum, double* c, double* s) {
    double d = sqrt(extremum->d_x * extremum->d_x + extremum->d_y * extremum->d_y);
    double tilt = extremum->r * (extremum->u_x * extremum->u_x + extremum->u_y * extremum->u_y),
           bend = d + 4 * tilt;
    *c = d > 0 ? extremum->sign * extremum->d_x / d : extremum->sign;
    *s = d > 0 ? extremum->sign * extremum->d_y / d : 0;
    if (d <= 1.5 * tilt && tilt > 0) best_start(extremum, c, s);
    for (int i = 0; i < ITERATIONS; ++i) {
        double along = extremum->u_x * *c + extremum->u_y * *s,
               across = -extremum->u_x * *s + extremum->u_y * *c;
        double d_1 =
            2 * (-extremum->d_x * *s + extremum->d_y * *c) - 2 * extremum->r * along * across;
        double d_2 = -2 * (extremum->d_x * *c + extremum->d_y * *s) +
                     2 * extremum->r * (along * along - across * across);
        d_1 *= extremum->sign;
        d_2 *= extremum->sign;
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

static inline void see(const Circle* circle, const Mat3* Q, Vec3 d, Seen* seen) {
    seen->center = vec3_add(d, mat3_mul(*Q, circle->c));
    seen->x = mat3_mul(*Q, circle->x);
    seen->y = mat3_mul(*Q, circle->y);
    Vec3 D = vec3_sub(seen->center, circle->o);
    seen->height = vec3_dot(D, circle->u);
    seen->D = D = vec3_add_scaled(D, -seen->height, circle->u);
    seen->f.d_x = vec3_dot(D, seen->x);
    seen->f.d_y = vec3_dot(D, seen->y);
    seen->f.u_x = vec3_dot(circle->u, seen->x);
    seen->f.u_y = vec3_dot(circle->u, seen->y);
    seen->f.r = circle->r;
    seen->f.sign = -circle->sign;
}

// The circle touches in the direction (cosine, sine) of its axes. Returns false on the axis of the
// cylinder, where the normal is not known.
static inline bool touch(const Circle* circle, const Seen* seen, double cosine, double sine,
                         ContactState* state) {
    Vec3 t =
        vec3_add(vec3_scale(circle->r * cosine, seen->x), vec3_scale(circle->r * sine, seen->y));
    double lift = vec3_dot(t, circle->u), height = seen->height + lift;
    Vec3 w = vec3_add_scaled(vec3_add(seen->D, t), -lift, circle->u);
    double rho = vec3_norm(w), gap = circle->sign * (rho - circle->R);
    state->center = seen->center;
    state->rim = vec3_add(seen->center, t);
    state->n = vec3_scale(circle->sign / rho, w);
    state->point = vec3_add_scaled(state->rim, -0.5 * gap, state->n);
    bool between = (height >= circle->low) & (height <= circle->high); // of the ends
    state->gap = between ? gap : INFINITY;
    return rho > 0;
}

void circle_gap(const Contact* contact, const ContactView* view, ContactState* state) {
    Circle k = circle_of(contact);
    Seen c;
    double cosine, sine;
    see(&k, &view->Q, view->d, &c);
    if (!extremum_by_series(&c.f, &cosine, &sine)) extremum_by_iteration(&c.f, &cosine, &sine);
    if (touch(&k, &c, cosine, sine, state)) return;
    state->n = vec3(k.sign, 0, 0); // every direction is as near as any other: take a fixed one
    state->point = vec3_add_scaled(state->rim, 0.5 * k.sign * k.R, state->n);
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
        if (contact[c].pair != CONTACT_OF_FEATURES || !contact_is_circle_in_cylinder(&contact[c]))
            continue;
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
LASH_VECTOR_CLONES static void find_by_series(Batch* batch) {
    for (int i = 0; i < BATCH; ++i) {
        double(*of)[BATCH] = batch->circle, (*view)[BATCH] = batch->view;
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
        batch->state[0][i] = s.gap;
        batch->good[i] = good ? 1 : 0;
        put_at(s.center, batch->state + 1, i);
        put_at(s.n, batch->state + 4, i);
        put_at(s.point, batch->state + 7, i);
        put_at(s.rim, batch->state + 10, i);
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
            ContactState* contact_state = &state[b->contact[i]];
            if (b->good[i] == 0) {
                circle_gap(of, &view[of->view], contact_state);
                continue;
            }
            contact_state->gap = b->state[0][i];
            contact_state->center = vec3_at(b->state + 1, i);
            contact_state->n = vec3_at(b->state + 4, i);
            contact_state->point = vec3_at(b->state + 7, i);
            contact_state->rim = vec3_at(b->state + 10, i);
        }
    }
}

Vec3 circle_turning(const Contact* contact, const ContactView* view, const ContactState* state,
                    ContactWorld* world) {
    Vec3 u = contact->a_axis, arm = vec3_sub(state->rim, state->center);
    Vec3 D = vec3_sub(state->center, contact->def.a_frame.r);
    Vec3 along = vec3_cross(mat3_mul(view->Q, contact->b_axis), arm);
    double rise = vec3_dot(u, arm), lift = vec3_dot(u, along);
    D = vec3_add_scaled(D, -vec3_dot(u, D), u);
    world->lift = lift;
    world->slope = rise * rise - lift * lift - vec3_dot(D, arm);
    world->out = vec3_dot(state->n, vec3_add(D, arm)); // w = out n
    return along;
}

void circle_rates(const ContactWorld* world, const Contraction* contraction, const double* P,
                  ContractionRates* rates) {
    double gap = isfinite(world->gap) ? world->gap : 0;
    double inverse = world->slope != 0 ? -1 / world->slope : 0,
           per = world->out != 0 ? 1 / world->out : 0;
    Vec3 around = vec3_cross(world->axis, world->n);
    Vec3 along = vec3_add_scaled(world->along, -world->lift, world->axis); // across the axis
    Vec3 angle_v = vec3_scale(inverse, along);
    Vec3 angle_phi = vec3_scale(inverse * world->out, vec3_cross(world->along, world->n));
    // dn = around (turn_v . v + turn_phi . phi): w turns about the axis
    double part = vec3_dot(around, along);
    Vec3 turn_v = vec3_scale(per, vec3_add_scaled(around, part, angle_v));
    Vec3 turn_phi = vec3_scale(per * part, angle_phi);
    contact_add_turn(contraction, P, around, turn_v, turn_phi, rates);
    Vec3 back = vec3_scale(-0.5 * gap, around), half = vec3_scale(-0.5, world->n);
    // The rim wanders; half the gap, e, lies between it and the point.
    Mat3 e_v = mat3_add(mat3_outer(back, turn_v), mat3_outer(half, world->n));
    Mat3 e_phi = mat3_outer(back, turn_phi);
    rates->x_0 = world->rim;
    rates->p_v = mat3_add(rates->p_v, mat3_add(mat3_outer(world->along, angle_v), e_v));
    rates->p_phi = mat3_add(mat3_outer(world->along, angle_phi), e_phi);
    if (!contraction->own_points) return;
    rates->e_v = mat3_scale(-1, e_v);
    rates->e_phi = mat3_scale(-1, e_phi);
}
