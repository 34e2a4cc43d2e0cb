// Gap, normal and contact point of simple feature pairs. With c the center of b's feature and r its
// radius, o and u origin and axis of a's feature and R its radius:
//
//   plane      n = u,                         gap = n.(c - o) - r
//   cylinder   w = c - o,  e = (w - u u.w)/rho,  outside: n = e, gap = rho - R - r;   inside: n =
//   -e, gap = R - r - rho sphere     e = (c - o)/rho,                  the same disc on a plane:
//   with k its axis, m = n - k (k.n), s = m/|m|:  lowest point x = c - r s,  gap = n.(x - o)
//
// The contact point is the middle of both closest points: x - (gap/2) n with x = c - r n (sphere)
// or c - r s (disc). Columns of G: linear -/+ t, angular R'((x - x_body) x t) for t = n, t1, t2.
// Derivatives: see differentiate.
#include "joints/contact.h"

static const double POLE = 1e-12; // nearest to a sphere's lower pole that tangents are taken [-]

static bool is_disc(const Contact* contact) {
    return contact->def.b_type == LASH_FEATURE_DISC;
}

// Unit vector of the part of n across the disc's axis; any such vector when the disc lies flat.
static Vec3 across(Vec3 n, Vec3 k, double* length) {
    Vec3 m = vec3_add_scaled(n, -vec3_dot(n, k), k);
    *length = vec3_norm(m);
    if (*length > 1e-12) return vec3_scale(1 / *length, m);
    Vec3 t1, t2;
    vec3_basis(k, &t1, &t2);
    return t1;
}

void contact_state(const Contact* contact, const BodyState* body, ContactState* s) {
    if (contact_is_circle_in_cylinder(contact)) {
        circle_state(contact, body, s);
        return;
    }
    const BodyState *a = &body[contact->a], *b = &body[contact->b];
    double r = contact->def.b_radius, R = contact->def.a_radius;
    s->origin = vec3_add(a->x, mat3_mul(a->R, contact->def.a_frame.r));
    s->axis = mat3_mul(a->R, contact->a_axis);
    s->center = vec3_add(b->x, mat3_mul(b->R, contact->def.b_frame.r));
    Vec3 w = vec3_sub(s->center, s->origin), x = s->center;
    double sign = contact->def.inside ? -1 : 1;
    if (contact->def.a_type == LASH_FEATURE_PLANE) {
        s->n = s->axis;
        s->gap = vec3_dot(s->n, w);
    } else {
        if (contact->def.a_type == LASH_FEATURE_CYLINDER) { // in the plane across the axis
            w = vec3_add_scaled(w, -vec3_dot(w, s->axis), s->axis);
        }
        double rho = vec3_norm(w);
        // On the axis every direction is as near as any other: take a fixed one.
        s->n = rho > 0 ? vec3_scale(sign / rho, w) : vec3_scale(sign, mat3_column(a->R, 0));
        s->gap = sign * (rho - R);
    }
    if (is_disc(contact)) {
        s->disc_axis = mat3_mul(b->R, contact->b_axis);
        double length;
        Vec3 e = across(s->n, s->disc_axis, &length);
        x = vec3_add_scaled(s->center, -r, e);
        s->gap = r * length < contact->def.flat ? INFINITY : s->gap - r * length;
    } else {
        s->disc_axis = s->axis;
        x = vec3_add_scaled(s->center, -r, s->n);
        s->gap -= r;
    }
    s->point = s->gap < INFINITY ? vec3_add_scaled(x, -0.5 * s->gap, s->n) : x;
}

static void put_column(const BodyState* body, Vec3 point, double sign, Vec3 t, double* G) {
    Vec3 moment = mat3_mul_transposed(body->R, vec3_cross(vec3_sub(point, body->x), t));
    G[0] = sign * t.x, G[1] = sign * t.y, G[2] = sign * t.z;
    G[3] = sign * moment.x, G[4] = sign * moment.y, G[5] = sign * moment.z;
}

// Tangents t1, t2. A sphere's are those of vec3_basis in the axes of its frame, without the change
// of sign at the equator: they are singular at one point only, its lower pole.
//   t1 = (1 + x^2 a, x y a, -x),  t2 = (x y a, 1 + y^2 a, -y),  a = -1/(1 + z),  (x, y, z) = n
static void tangents(const Contact* contact, const BodyState* a, const ContactState* s, Vec3* t1,
                     Vec3* t2) {
    if (contact->def.a_type == LASH_FEATURE_CYLINDER) { // around, along
        *t1 = vec3_cross(s->axis, s->n), *t2 = s->axis;
        return;
    }
    Mat3 A = mat3_product(a->R, contact->a_axes);
    if (contact->def.a_type == LASH_FEATURE_PLANE) {
        *t1 = mat3_column(A, 0), *t2 = mat3_column(A, 1);
        return;
    }
    Vec3 n = mat3_mul_transposed(A, s->n);
    double k = -1 / fmax(1 + n.z, POLE), b = n.x * n.y * k;
    *t1 = mat3_mul(A, vec3(1 + n.x * n.x * k, b, -n.x));
    *t2 = mat3_mul(A, vec3(b, 1 + n.y * n.y * k, -n.y));
}

void contact_directions(const Contact* contact, const BodyState* body, const ContactState* s,
                        int rows, double* Ga, double* Gb) {
    Vec3 t[3] = {s->n};
    if (rows > 1) tangents(contact, &body[contact->a], s, &t[1], &t[2]);
    for (int r = 0; r < rows; ++r) {
        if (Ga != NULL) put_column(&body[contact->a], s->point, -1, t[r], Ga + 6 * r);
        if (Gb != NULL) put_column(&body[contact->b], s->point, 1, t[r], Gb + 6 * r);
    }
}

// dn and dpoint for a small motion. With the motion of c seen from a, dw = dc - do - phi_a x w:
//   plane     dn = phi_a x n;    cylinder, sphere    dn = phi_a x n +- (I - e e' [- u u']) dw / rho
//   disc      dm = dn - k (dn.k + n.dk) - (n.k) dk,  ds = (I - s s') dm / |m|,  dk = phi_b x k
static void differentiate(const Contact* contact, const BodyState* body, const ContactState* s,
                          const PairMotion* t, Vec3* dn, Vec3* dpoint) {
    if (contact_is_circle_in_cylinder(contact)) {
        circle_differentiate(contact, body, s, t, dn, dpoint);
        return;
    }
    const BodyState *a = &body[contact->a], *b = &body[contact->b];
    double r = contact->def.b_radius, sign = contact->def.inside ? -1 : 1;
    Vec3 dc = vec3_add(t->x_b, vec3_cross(t->phi_b, vec3_sub(s->center, b->x)));
    Vec3 at_center = vec3_add(t->x_a, vec3_cross(t->phi_a, vec3_sub(s->center, a->x)));
    Vec3 dw = vec3_sub(dc, at_center), w = vec3_sub(s->center, s->origin);
    *dn = vec3_cross(t->phi_a, s->n);
    if (contact->def.a_type != LASH_FEATURE_PLANE) {
        if (contact->def.a_type == LASH_FEATURE_CYLINDER) {
            w = vec3_add_scaled(w, -vec3_dot(w, s->axis), s->axis);
            dw = vec3_add_scaled(dw, -vec3_dot(dw, s->axis), s->axis);
        }
        double rho = vec3_norm(w);
        Vec3 e = vec3_scale(sign, s->n), sideways = vec3_add_scaled(dw, -vec3_dot(dw, e), e);
        if (rho > 0) *dn = vec3_add_scaled(*dn, sign / rho, sideways);
    }
    Vec3 dx = vec3_add_scaled(dc, -r, *dn);
    if (is_disc(contact)) {
        double length;
        Vec3 k = s->disc_axis, e = across(s->n, k, &length), dk = vec3_cross(t->phi_b, k);
        Vec3 dm = vec3_add_scaled(*dn, -(vec3_dot(*dn, k) + vec3_dot(s->n, dk)), k);
        dm = vec3_add_scaled(dm, -vec3_dot(s->n, k), dk);
        Vec3 de = vec3_add_scaled(dm, -vec3_dot(dm, e), e);
        dx = length > 1e-12 ? vec3_add_scaled(dc, -r / length, de) : dc;
    }
    // the gap changes by the relative velocity of the material points at the contact
    Vec3 v_a = vec3_add(t->x_a, vec3_cross(t->phi_a, vec3_sub(s->point, a->x)));
    Vec3 v_b = vec3_add(t->x_b, vec3_cross(t->phi_b, vec3_sub(s->point, b->x)));
    double dgap = vec3_dot(s->n, vec3_sub(v_b, v_a));
    double gap = s->gap < INFINITY ? s->gap : 0;
    *dpoint = vec3_add_scaled(vec3_add_scaled(dx, -0.5 * dgap, s->n), -0.5 * gap, *dn);
}

// Derivatives of the tangents along dn while a turns by phi.
static void tangent_derivatives(const Contact* contact, const BodyState* a, const ContactState* s,
                                const Vec3* t, Vec3 dn, Vec3 phi, Vec3* dt1, Vec3* dt2) {
    *dt1 = vec3_cross(phi, t[1]), *dt2 = vec3_cross(phi, t[2]);
    if (contact->def.a_type == LASH_FEATURE_PLANE) return;
    Vec3 seen = vec3_sub(dn, vec3_cross(phi, s->n)); // from a
    if (contact->def.a_type == LASH_FEATURE_CYLINDER) {
        *dt1 = vec3_add(*dt1, vec3_cross(s->axis, seen));
        return;
    }
    Mat3 A = mat3_product(a->R, contact->a_axes);
    Vec3 n = mat3_mul_transposed(A, s->n), d = mat3_mul_transposed(A, seen);
    double k = -1 / fmax(1 + n.z, POLE), dk = k * k * d.z;
    double db = (d.x * n.y + n.x * d.y) * k + n.x * n.y * dk;
    Vec3 d1 = vec3(2 * n.x * d.x * k + n.x * n.x * dk, db, -d.x);
    Vec3 d2 = vec3(db, 2 * n.y * d.y * k + n.y * n.y * dk, -d.y);
    *dt1 = vec3_add(*dt1, mat3_mul(A, d1)), *dt2 = vec3_add(*dt2, mat3_mul(A, d2));
}

// The motion of velocity number j (0 .. 5: a, 6 .. 11: b) alone.
static PairMotion unit_motion(const Contact* contact, const BodyState* body, int j) {
    PairMotion t = {0};
    int k = j % 6;
    Vec3 unit = vec3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
    Vec3* part = j < 6 ? (k < 3 ? &t.x_a : &t.phi_a) : (k < 3 ? &t.x_b : &t.phi_b);
    *part = k < 3 ? unit : mat3_mul(body[j < 6 ? contact->a : contact->b].R, unit);
    return t;
}

// What contact_contract looks at: forces and velocities at the contact point, world.
typedef struct Contraction {
    Vec3 t[3], f;             // directions; impulse sum P_r t_r
    Vec3 arm_a, arm_b;        // from the mass centers to the point
    Vec3 omega_a, omega_b, w; // angular velocities; velocity of b's point against a's
} Contraction;

// Derivative of one side's part of G P: sign (f, R'(arm x f)).
static void force_derivative(const BodyState* body, double sign, Vec3 arm, Vec3 f, Vec3 df,
                             Vec3 darm, Vec3 phi, double* d) {
    Vec3 change = vec3_add(vec3_cross(darm, f), vec3_cross(arm, df));
    Vec3 m = mat3_mul_transposed(body->R, vec3_sub(change, vec3_cross(phi, vec3_cross(arm, f))));
    d[0] = sign * df.x, d[1] = sign * df.y, d[2] = sign * df.z;
    d[3] = sign * m.x, d[4] = sign * m.y, d[5] = sign * m.z;
}

static void prepare_contraction(const Contact* contact, const BodyState* body,
                                const ContactState* s, int rows, const double* P, const double* v,
                                Contraction* c) {
    const BodyState *a = &body[contact->a], *b = &body[contact->b];
    *c = (Contraction){.t = {s->n}};
    if (rows > 1) tangents(contact, a, s, &c->t[1], &c->t[2]);
    c->arm_a = vec3_sub(s->point, a->x), c->arm_b = vec3_sub(s->point, b->x);
    for (int r = 0; r < rows && P != NULL; ++r) c->f = vec3_add_scaled(c->f, P[r], c->t[r]);
    if (v == NULL) return;
    Vec3 v_a = vec3_zero(), v_b = vec3_zero();
    if (contact->a > 0) {
        v_a = vec3(v[0], v[1], v[2]);
        c->omega_a = mat3_mul(a->R, vec3(v[3], v[4], v[5]));
        v += 6;
    }
    if (contact->b > 0) {
        v_b = vec3(v[0], v[1], v[2]);
        c->omega_b = mat3_mul(b->R, vec3(v[3], v[4], v[5]));
    }
    v_a = vec3_add(v_a, vec3_cross(c->omega_a, c->arm_a));
    v_b = vec3_add(v_b, vec3_cross(c->omega_b, c->arm_b));
    c->w = vec3_sub(v_b, v_a);
}

// Along one motion: column j of dGP (n rows) and of dGv.
static void contract_motion(const Contact* contact, const BodyState* body, const ContactState* s,
                            const Contraction* c, const PairMotion* m, int rows, const double* P,
                            double* dGP, double* dGv) {
    Vec3 dt[3], dp;
    differentiate(contact, body, s, m, &dt[0], &dp);
    if (rows > 1)
        tangent_derivatives(contact, &body[contact->a], s, c->t, dt[0], m->phi_a, &dt[1], &dt[2]);
    Vec3 darm_a = vec3_sub(dp, m->x_a), darm_b = vec3_sub(dp, m->x_b);
    if (dGP != NULL) {
        Vec3 df = vec3_zero();
        for (int r = 0; r < rows; ++r) df = vec3_add_scaled(df, P[r], dt[r]);
        if (contact->a > 0) {
            force_derivative(&body[contact->a], -1, c->arm_a, c->f, df, darm_a, m->phi_a, dGP);
            dGP += 6;
        }
        if (contact->b > 0)
            force_derivative(&body[contact->b], 1, c->arm_b, c->f, df, darm_b, m->phi_b, dGP);
    }
    if (dGv == NULL) return;
    Vec3 on_b = vec3_add(vec3_cross(vec3_cross(m->phi_b, c->omega_b), c->arm_b),
                         vec3_cross(c->omega_b, darm_b));
    Vec3 on_a = vec3_add(vec3_cross(vec3_cross(m->phi_a, c->omega_a), c->arm_a),
                         vec3_cross(c->omega_a, darm_a));
    Vec3 dw = vec3_sub(on_b, on_a);
    for (int r = 0; r < rows; ++r) dGv[r] = vec3_dot(dt[r], c->w) + vec3_dot(c->t[r], dw);
}

void contact_contract(const Contact* contact, const BodyState* body, int rows, const double* P,
                      const double* v, double* dGP, double* dGv) {
    ContactState s;
    Contraction c;
    contact_state(contact, body, &s);
    prepare_contraction(contact, body, &s, rows, dGP != NULL ? P : NULL, dGv != NULL ? v : NULL,
                        &c);
    int first = contact->a > 0 ? 0 : 6, last = contact->b > 0 ? 12 : 6, n = last - first;
    for (int j = 0; j < n; ++j) {
        PairMotion motion = unit_motion(contact, body, first + j);
        contract_motion(contact, body, &s, &c, &motion, rows, P, dGP != NULL ? dGP + n * j : NULL,
                        dGv != NULL ? dGv + rows * j : NULL);
    }
}
