// Impulses of a contact between round features, in wide numbers.
//
// The normal in a small play c points along w, |w| = c, a difference of positions: with their last digit,
// 1e-17 m of 0.1 m, it turns by 1e-17 / c. Where a heavy part jams a light one, 5e4 N s on 0.1 kg in a play of
// 0.1 mm, that alone is 7e-8 m/s. So the same equations as in contact.c and contact_circle.c from the positions
// on, with places that are exact: x + s d and p exp(s d / 2), nowhere rounded to double.
//
// Planes need none of it: their normals rest in the body.
#include "joints/contact/contact_wide.h"

#include "joints/contact/wide_internal.h"

typedef struct WidePlace {
    Wide3 x;
    WideMat3 R;
} WidePlace;

// exp of half the rotation vector: cosine, and the vector part, by their series.
static LashWide half_turn(Wide3 turn, Wide3* vector) {
    enum { TERMS = 24 }; // enough for half a turn
    Wide3 half = wide3_scale((LashWide)0.5, turn);
    LashWide square = wide3_dot(half, half), cosine = 1, sinc = 1, term = 1;
    for (int k = 1; k <= TERMS && 1 + term != 1; ++k) {
        term *= -square / (2 * k * (2 * k - 1));
        cosine += term;
        sinc += term / (2 * k + 1);
    }
    *vector = wide3_scale(sinc, half);
    return cosine;
}

// The body at q (+) s d. Its quaternion stands for a direction, whatever its length.
static WidePlace place_of(int body, const double* q, double s, const double* d) {
    static const WidePlace ground = {{0, 0, 0}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    if (body == 0) return ground;
    LashWide share = s;
    q += 7 * (body - 1);
    d += 6 * (body - 1);
    WidePlace place = {.x = {q[0] + share * d[0], q[1] + share * d[1], q[2] + share * d[2]}};
    Wide3 b, a = {q[4], q[5], q[6]};
    LashWide b_w = half_turn((Wide3){share * d[3], share * d[4], share * d[5]}, &b), a_w = q[3];
    LashWide w = a_w * b_w - wide3_dot(a, b);
    Wide3 v = wide3_cross(a, b);
    v = wide3_add_scaled(wide3_add_scaled(v, a_w, b), b_w, a);
    LashWide k = 2 / (w * w + wide3_dot(v, v)), xx = k * v.x * v.x, yy = k * v.y * v.y,
             zz = k * v.z * v.z, xy = k * v.x * v.y, xz = k * v.x * v.z, yz = k * v.y * v.z,
             wx = k * w * v.x, wy = k * w * v.y, wz = k * w * v.z;
    place.R = (WideMat3){{{1 - (yy + zz), xy + wz, xz - wy},
                          {xy - wz, 1 - (xx + zz), yz + wx},
                          {xz + wy, yz - wx, 1 - (xx + yy)}}};
    return place;
}

// In the axes of a, from its mass center, as in ContactState.
typedef struct WideTouch {
    WideMat3 Q;  // R_a' R_b
    Wide3 apart; // R_a'(x_b - x_a)
    Wide3 n, point;
    LashWide gap;
} WideTouch;

// The angle on the circle where w is extreme, by Newton's iteration from that of doubles; D across the axis.
static Wide3 arm_of(const Contact* contact, const ContactState* near, Wide3 D, Wide3 u, Wide3 x,
                    Wide3 y) {
    enum { STEPS = 2 }; // 16 digits, 32, 64
    LashWide r = contact->def.b_radius;
    LashWide d_x = wide3_dot(D, x), d_y = wide3_dot(D, y), u_x = wide3_dot(u, x),
             u_y = wide3_dot(u, y);
    Wide3 arm = wide3(vec3_sub(near->rim, near->center));
    LashWide c = wide3_dot(arm, x) / r, s = wide3_dot(arm, y) / r;
    for (int i = 0; i < STEPS; ++i) {
        LashWide along = u_x * c + u_y * s, across = u_y * c - u_x * s;
        LashWide slope = d_y * c - d_x * s - r * along * across;
        LashWide bend = r * (along * along - across * across) - (d_x * c + d_y * s);
        LashWide turn = bend != 0 ? -slope / bend : 0, cosine = c - turn * s;
        s += turn * c;
        c = cosine;
        LashWide length = wide_sqrt(c * c + s * s);
        c /= length;
        s /= length;
    }
    return wide3_add_scaled(wide3_scale(r * c, x), r * s, y);
}

static bool touch(const Contact* contact, const ContactState* near, WideTouch* touch) {
    const LashContactDef* def = &contact->def;
    bool disc = def->b_type == LASH_FEATURE_DISC;
    LashWide sign = def->inside ? -1 : 1, ball = disc ? 0 : def->b_radius;
    Wide3 u = wide3(contact->a_axis);
    Wide3 x = wide3_add_scaled(touch->apart, 1, wide3_multiply(&touch->Q, wide3(def->b_frame.r)));
    Wide3 w = wide3_add_scaled(x, -1, wide3(def->a_frame.r));
    if (def->a_type == LASH_FEATURE_CYLINDER) w = wide3_add_scaled(w, -wide3_dot(w, u), u);
    if (disc) {
        Wide3 arm = arm_of(contact, near, w, u, wide3_multiply(&touch->Q, wide3(contact->b_x)),
                           wide3_multiply(&touch->Q, wide3(contact->b_y)));
        x = wide3_add_scaled(x, 1, arm);
        w = wide3_add_scaled(wide3_add_scaled(w, 1, arm), -wide3_dot(arm, u), u);
    }
    LashWide rho = wide_sqrt(wide3_dot(w, w));
    if (!(rho > 0)) return false;
    touch->n = wide3_scale(sign / rho, w);
    touch->gap = sign * (rho - def->a_radius) - ball;
    touch->point = wide3_add_scaled(x, -ball - touch->gap / 2, touch->n);
    return true;
}

// P_1 t1 + P_2 t2, with the tangents of contact.c
static Wide3 along_surface(const Contact* contact, Wide3 n, const double* P) {
    Wide3 u = wide3(contact->a_axis);
    if (contact->def.a_type == LASH_FEATURE_CYLINDER) // around, along
        return wide3_add_scaled(wide3_scale(P[2], u), P[1], wide3_cross(u, n));
    const Mat3* A = &contact->a_axes;
    WideMat3 axes = {
        {wide3(mat3_column(*A, 0)), wide3(mat3_column(*A, 1)), wide3(mat3_column(*A, 2))}};
    n = wide3_multiply_transposed(&axes, n);
    LashWide from_pole = 1 + n.z;
    if (from_pole < CONTACT_POLE) from_pole = CONTACT_POLE;
    LashWide slide = (P[1] * n.x + P[2] * n.y) / from_pole;
    Wide3 t = {P[1] - slide * n.x, P[2] - slide * n.y, -(P[1] * n.x + P[2] * n.y)};
    return wide3_multiply(&axes, t);
}

static void add_side(int body, LashWide sign, Wide3 force, Wide3 moment, LashWide* x) {
    const LashWide part[6] = {force.x, force.y, force.z, moment.x, moment.y, moment.z};
    for (int i = 0; i < 6 && body > 0; ++i) x[6 * (body - 1) + i] += sign * part[i];
}

bool contact_push_wide(const Contact* contact, const double* q, double s, const double* d,
                       const ContactState* near, LashLevers levers, int rows, const double* P,
                       LashWide* x) {
    if (contact->def.a_type == LASH_FEATURE_PLANE || !(near->gap < INFINITY)) return false;
    WidePlace a = place_of(contact->a, q, s, d), b = place_of(contact->b, q, s, d);
    WideTouch at = {.apart = wide3_multiply_transposed(&a.R, wide3_add_scaled(b.x, -1, a.x))};
    for (int k = 0; k < 3; ++k) at.Q.column[k] = wide3_multiply_transposed(&a.R, b.R.column[k]);
    if (!touch(contact, near, &at)) return false;
    Wide3 f = wide3_scale(P[0], at.n);
    if (rows > 1) f = wide3_add_scaled(f, 1, along_surface(contact, at.n, P));
    LashWide half = levers == LASH_OWN_POINTS && rows > 1 ? at.gap / 2 : 0;
    Wide3 arm_a = wide3_add_scaled(at.point, -half, at.n);
    Wide3 arm_b = wide3_add_scaled(wide3_add_scaled(at.point, -1, at.apart), half, at.n);
    Wide3 force = wide3_multiply(&a.R, f);
    add_side(contact->a, -1, force, wide3_cross(arm_a, f), x);
    add_side(contact->b, 1, force, wide3_multiply_transposed(&at.Q, wide3_cross(arm_b, f)), x);
    return true;
}
