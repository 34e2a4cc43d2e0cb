// Gap, normal and contact point of simple feature pairs. With c the center of b's feature and r its
// radius, o and u origin and axis of a's feature and R its radius:
//
//   plane      n = u,                         gap = n.(c - o) - r
//   cylinder   w = c - o,  e = (w - u u.w)/rho,  outside: n = e, gap = rho - R - r;   inside: n =
//   -e, gap = R - r - rho sphere     e = (c - o)/rho,                  the same disc on a plane:
//   with k its axis, m = n - k (k.n), s = m/|m|:  lowest point x = c - r s,  gap = n.(x - o)
//
// The contact point is the middle of both closest points: x - (gap/2) n with x = c - r n (sphere)
// or c - r s (disc). All of it is computed in the axes of body a, in which its feature rests.
// Columns of G: linear -/+ t (world), angular R'((x - x_body) x t) for t = n, t1, t2; levers that
// end at each body's own point: x + (gap/2) n on b, x - (gap/2) n on a. The column of n is the
// same. Derivatives: see rates_of.
#include "joints/contact/contact.h"

#include "joints/lanes.h"

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

void contact_view(const BodyState* a, const BodyState* b, ContactView* view) {
    view->a = a;
    view->b = b;
    if (a == NULL) {
        view->Q = b->R;
        view->d = b->x;
        return;
    }
    Mat3 Rt = mat3_transpose(a->R);
    view->Q = mat3_product(Rt, b->R);
    view->d = mat3_mul(Rt, vec3_sub(b->x, a->x));
}

void contact_gap(const Contact* contact, const ContactView* view, ContactState* state) {
    if (contact_is_circle_in_cylinder(contact)) {
        circle_gap(contact, view, state);
        return;
    }
    double r = contact->def.b_radius;
    state->held = 0;
    state->center = vec3_add(view->d, mat3_mul(view->Q, contact->def.b_frame.r));
    if (contact->def.a_type == LASH_FEATURE_PLANE) {
        state->n = contact->a_axis;
        state->gap = vec3_dot(state->n, state->center) - contact->a_level;
    } else {
        double sign = contact->def.inside ? -1 : 1;
        Vec3 w = vec3_sub(state->center, contact->def.a_frame.r);
        if (contact->def.a_type == LASH_FEATURE_CYLINDER) // in the plane across the axis
            w = vec3_add_scaled(w, -vec3_dot(w, contact->a_axis), contact->a_axis);
        double rho = vec3_norm(w);
        // On the axis every direction is as near as any other: take a fixed one.
        state->n = rho > 0 ? vec3_scale(sign / rho, w) : vec3(sign, 0, 0);
        state->gap = sign * (rho - contact->def.a_radius);
    }
    if (!is_disc(contact)) {
        state->gap -= r;
        return;
    }
    state->disc_axis = mat3_mul(view->Q, contact->b_axis);
    double length;
    across(state->n, state->disc_axis, &length);
    state->gap = r * length < contact->def.flat ? INFINITY : state->gap - r * length;
}

void contact_point(const Contact* contact, ContactState* state) {
    if (contact_is_circle_in_cylinder(contact)) return; // it has it
    double length, r = state->held != 0 ? 0 : contact->def.b_radius;
    Vec3 down = is_disc(contact) ? across(state->n, state->disc_axis, &length) : state->n;
    Vec3 x = vec3_add_scaled(state->center, -r, down);
    state->point = state->gap < INFINITY ? vec3_add_scaled(x, -0.5 * state->gap, state->n) : x;
}

// From the axes of body a to the world.
static inline Vec3 direction_to_world(const ContactView* view, Vec3 t) {
    return view->a == NULL ? t : mat3_mul(view->a->R, t);
}
static inline Vec3 point_to_world(const ContactView* view, Vec3 x) {
    return view->a == NULL ? x : vec3_add(view->a->x, mat3_mul(view->a->R, x));
}

LashContactPlace contact_place(const Contact* contact, const ContactView* view) {
    ContactState s;
    contact_gap(contact, view, &s);
    contact_point(contact, &s);
    return (LashContactPlace){s.gap, point_to_world(view, s.point), direction_to_world(view, s.n)};
}

// Tangents t1, t2. A sphere's are those of vec3_basis in the axes of its frame, without the change
// of sign at the equator: they are singular at one point only, its lower pole.
//   t1 = (1 + x^2 a, x y a, -x),  t2 = (x y a, 1 + y^2 a, -y),  a = -1/(1 + z),  (x, y, z) = n
static inline void tangents(const Contact* contact, Vec3 n, Vec3* t1, Vec3* t2) {
    const Mat3* A = &contact->a_axes;
    if (contact->def.a_type == LASH_FEATURE_CYLINDER) { // around, along
        *t1 = vec3_cross(contact->a_axis, n);
        *t2 = contact->a_axis;
        return;
    }
    if (contact->def.a_type == LASH_FEATURE_PLANE) {
        *t1 = mat3_column(*A, 0);
        *t2 = mat3_column(*A, 1);
        return;
    }
    n = mat3_mul_transposed(*A, n);
    double k = -1 / fmax(1 + n.z, CONTACT_POLE), b = n.x * n.y * k;
    *t1 = mat3_mul(*A, vec3(1 + n.x * n.x * k, b, -n.x));
    *t2 = mat3_mul(*A, vec3(b, 1 + n.y * n.y * k, -n.y));
}

// Columns of one side: the linear part as xy t and the first lane of zm t, the angular part as its
// other lanes.
static inline void put_side(const Two xy[3], const Four zm[3], int rows, const Vec3* t, double* G) {
    for (int r = 0; r < rows; ++r, ++t, G += 6) {
        *(Two*)G = t->x * xy[0] + t->y * xy[1] + t->z * xy[2];
        *(Four*)(G + 2) = t->x * zm[0] + t->y * zm[1] + t->z * zm[2];
    }
}

// Do levers end at each body's own point? That of n does not feel it.
static inline bool own_points(const ContactState* state, int rows, LashLevers levers) {
    return levers == LASH_OWN_POINTS && rows > 1 && state->gap < INFINITY;
}

LASH_VECTOR_CLONES void contact_directions(const Contact* contact, const ContactView* view,
                                           const ContactState* state, int rows, LashLevers levers,
                                           double* Ga, double* Gb) {
    static const Mat3 identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const double *R = view->a != NULL ? view->a->R.m : identity.m, *q = view->Q.m;
    double half = own_points(state, rows, levers) ? 0.5 * state->gap : 0;
    Vec3 t[3] = {state->n}, x = vec3_add_scaled(state->point, -half, state->n);
    Vec3 arm = vec3_add_scaled(vec3_sub(state->point, view->d), half, state->n);
    Two xy[3] = {{R[0], R[1]}, {R[3], R[4]}, {R[6], R[7]}};
    if (rows > 1) tangents(contact, state->n, &t[1], &t[2]);
    if (Gb != NULL) { // (R_a, Q'[x - d]) t
        const Four e = {0, q[0], q[3], q[6]}, f = {0, q[1], q[4], q[7]}, g = {0, q[2], q[5], q[8]};
        const Four zm[3] = {arm.z * f - arm.y * g + (Four){R[2]},
                            arm.x * g - arm.z * e + (Four){R[5]},
                            arm.y * e - arm.x * f + (Four){R[8]}};
        put_side(xy, zm, rows, t, Gb);
    }
    if (Ga != NULL) { // -(R_a, [x]) t
        const Four zm[3] = {{-R[2], 0, -x.z, x.y}, {-R[5], x.z, 0, -x.x}, {-R[8], -x.y, x.x, 0}};
        for (int k = 0; k < 3; ++k) xy[k] = -xy[k];
        put_side(xy, zm, rows, t, Ga);
    }
}

// sum P_r dt_r and w.dt_r of a sphere's directions along dn seen from a: Z dn, z[r].dn. In the axes
// of its frame the columns of dt1/dn, dt2/dn are those of tangents, differentiated.
static void sphere_turning(const Contact* contact, const Contraction* contraction, const double* P,
                           Mat3* Z, Vec3 z[3]) {
    *Z = mat3_identity();
    z[0] = contraction->w;
    if (P != NULL) *Z = mat3_scale(P[0], *Z);
    if (contraction->rows == 1) return;
    Mat3 A = mat3_product(contraction->a->R, contact->a_axes), At = mat3_transpose(A);
    Vec3 n = mat3_mul(At, contraction->t[0]);
    double k = -1 / fmax(1 + n.z, CONTACT_POLE), kk = k * k;
    Mat3 d1 = {{2 * n.x * k, n.y * k, -1, 0, n.x * k, 0, n.x * n.x * kk, n.x * n.y * kk, 0}};
    Mat3 d2 = {{n.y * k, 0, 0, n.x * k, 2 * n.y * k, -1, n.x * n.y * kk, n.y * n.y * kk, 0}};
    d1 = mat3_product(A, mat3_product(d1, At));
    d2 = mat3_product(A, mat3_product(d2, At));
    z[1] = mat3_mul_transposed(d1, contraction->w);
    z[2] = mat3_mul_transposed(d2, contraction->w);
    if (P != NULL) *Z = mat3_add(*Z, mat3_add(mat3_scale(P[1], d1), mat3_scale(P[2], d2)));
}

void contact_add_turn(const Contraction* contraction, const double* P, Vec3 around, Vec3 v,
                      Vec3 phi, ContractionRates* rates) {
    if (P != NULL) {
        Vec3 h = vec3_scale(P[0], around);
        if (contraction->rows > 1) h = vec3_add_scaled(h, -P[1], contraction->t[0]);
        rates->f_v = mat3_outer(h, v);
        rates->f_phi = mat3_outer(h, phi);
    }
    double along = vec3_dot(around, contraction->w),
           away = -vec3_dot(contraction->t[0], contraction->w);
    rates->w_v[0] = vec3_scale(along, v);
    rates->w_phi[0] = vec3_scale(along, phi);
    rates->w_v[1] = vec3_scale(away, v);
    rates->w_phi[1] = vec3_scale(away, phi);
}

// The ball's center c moves by v against a:
//   plane     dn = 0;    cylinder, sphere    dn = +- (I - e e' [- u u']) v / rho
//   point     dx = v - r dn,   dgap = n.v,   half the gap: d(gap n) = n dgap + gap dn
// The lowest point of a disc on a plane wanders as its axis k turns, with e the part of n across k,
// |e| = 1, and b = k x e:
//   dx = v + r k b.phi - (r / |m|) (n.k) b e.phi,   dgap = n.(v + phi x (x - c))
static void rates_of(const Contact* contact, const ContactWorld* world,
                     const Contraction* contraction, const double* P, ContractionRates* rates) {
    double r = contact->def.b_radius, sign = contact->def.inside ? -1 : 1;
    double depth = r + (world->gap < INFINITY ? 0.5 * world->gap : 0);
    rates->x_0 = world->center;
    Mat3 closer = mat3_outer(vec3_scale(0.5, world->n), world->n);
    rates->p_v = mat3_sub(rates->p_v, closer);
    if (contraction->own_points) rates->e_v = closer;
    if (is_disc(contact) && !world->held) { // on a plane
        double length;
        Vec3 k = world->disc_axis, e = across(world->n, k, &length), b = vec3_cross(k, e);
        Vec3 lever = vec3_cross(vec3_sub(contraction->point, world->center), world->n);
        rates->p_phi = mat3_outer(vec3_scale(-0.5, world->n), lever);
        if (contraction->own_points) rates->e_phi = mat3_scale(-1, rates->p_phi);
        if (length <= 1e-12) return;
        Mat3 tilts = mat3_outer(vec3_scale(r, k), b);
        Mat3 turns = mat3_outer(vec3_scale(r / length * vec3_dot(world->n, k), b), e);
        rates->p_phi = mat3_add(rates->p_phi, mat3_sub(tilts, turns));
        return;
    }
    if (contact->def.a_type == LASH_FEATURE_PLANE) return;
    Vec3 w = vec3_sub(world->center, world->origin);
    if (contact->def.a_type == LASH_FEATURE_CYLINDER) {
        Vec3 around = vec3_cross(world->axis, world->n);
        double rho = vec3_norm(vec3_add_scaled(w, -vec3_dot(w, world->axis), world->axis));
        if (rho == 0) return;
        Vec3 turn = vec3_scale(sign / rho, around);
        contact_add_turn(contraction, P, around, turn, vec3_zero(), rates);
        Mat3 dn = mat3_outer(around, turn);
        rates->p_v = mat3_sub(rates->p_v, mat3_scale(depth, dn));
        if (contraction->own_points)
            rates->e_v = mat3_add(rates->e_v, mat3_scale(0.5 * world->gap, dn));
        return;
    }
    double rho = vec3_norm(w);
    if (rho == 0) return;
    Mat3 dn = mat3_sub(mat3_identity(), mat3_outer(world->n, world->n)), Z;
    Vec3 z[3];
    dn = mat3_scale(sign / rho, dn);
    sphere_turning(contact, contraction, P, &Z, z);
    if (P != NULL) rates->f_v = mat3_product(Z, dn);
    for (int i = 0; i < contraction->rows; ++i)
        rates->w_v[i] = mat3_mul(dn, z[i]); // dn is symmetric
    rates->p_v = mat3_sub(rates->p_v, mat3_scale(depth, dn));
    if (contraction->own_points)
        rates->e_v = mat3_add(rates->e_v, mat3_scale(0.5 * world->gap, dn));
}

void contact_contract(const Contact* contact, const BodyState* body, const ContactView* view,
                      const ContactState* state, int rows, LashLevers levers, const double* P,
                      const double* v, double* dGP, double* dGv) {
    Contraction c = {.a = &body[contact->a],
                     .b = &body[contact->b],
                     .has_a = contact->a > 0,
                     .has_b = contact->b > 0,
                     .rows = rows};
    bool circle = contact_is_circle_in_cylinder(contact);
    ContractionRates rates;
    ContactWorld world = {.gap = state->gap,
                          .held = is_disc(contact) && !circle && state->held != 0,
                          .n = direction_to_world(view, state->n)};
    world.axis = direction_to_world(view, contact->a_axis);
    if (circle) {
        world.rim = point_to_world(view, state->rim);
        world.along = direction_to_world(view, circle_turning(contact, view, state, &world));
    } else {
        world.center = point_to_world(view, state->center);
        world.origin = point_to_world(view, contact->def.a_frame.r);
        if (is_disc(contact)) world.disc_axis = direction_to_world(view, state->disc_axis);
    }
    c.point = point_to_world(view, state->point);
    c.t[0] = world.n;
    c.own_points = own_points(state, rows, levers);
    if (c.own_points) c.half = vec3_scale(0.5 * state->gap, world.n);
    if (rows > 1 && contact->def.a_type == LASH_FEATURE_CYLINDER) {
        c.t[1] = vec3_cross(world.axis, world.n);
        c.t[2] = world.axis;
    } else if (rows > 1) {
        tangents(contact, state->n, &c.t[1], &c.t[2]);
        c.t[1] = direction_to_world(view, c.t[1]);
        c.t[2] = direction_to_world(view, c.t[2]);
    }
    if (dGP == NULL) P = NULL;
    contraction_prepare(&c, P, dGv != NULL ? v : NULL);
    contraction_start(&c, &rates);
    if (circle) {
        circle_rates(&world, &c, P, &rates);
    } else {
        rates_of(contact, &world, &c, P, &rates);
    }
    if (dGP != NULL) contraction_impulse(&c, &rates, dGP);
    if (dGv != NULL) contraction_velocity(&c, &rates, dGv);
}
