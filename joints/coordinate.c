// Free coordinates of joints: value, gradient, second derivative.
//
//   along e     x = e_a . (p_b - p_a): the row axis_point of rows.c
//   about z     angle of the unit vector k in the plane of the axes x, y with normal z = x x y:
//               c = k.x, s = k.y, n = k.z, angle = atan2(s, c). The plane turns with phi_p, k with
//               phi_k:
//                   d angle = w . (phi_k - phi_p),   w = z - n/(c^2 + s^2) m,   m = c x + s y
//               Here x, y, z = axes of a, k = x_b. Seen from b (second angle of a universal joint):
//               k = z_a in the plane z_b, y_b, whose normal is -x_b.
//
//   between     the angle between the two: with s = x_b . z_a, angle = -asin(s),
//                   d angle = w . (phi_b - phi_a),   w = m / |m|,   m = z_a x x_b
//               (yaw about z of a, pitch between, roll about x of b: the turns of b against a)
//               dw = (I - w w') / |m| ([x_b]x [z_a]x phi_a - [z_a]x [x_b]x phi_b)
//
// Second derivative, with delta = phi_k - phi_p and k_e = k x e (so that d(k.e) = k_e . delta):
//     dw = phi_p x w - Q delta,   Q = (1 + n^2)/(1 - n^2)^2 m k_z' + n/(1 - n^2) (x k_x' + y k_y')
// and the columns R_p'w, R_k'w add -phi x w of their own body. Exact for any n^2 < 1.
#include "joints/rows.h"

typedef struct Angle {
    Vec3 x, y, z, k;             // the plane and the vector, world
    const BodyState *p, *k_body; // bodies that carry them
    int part_p, part_k;          // A_ANG or B_ANG
    double c, s, n;
    Vec3 m, w;
} Angle;

static Angle angle_of(CoordinateType type, const JointFrames* frames) {
    Angle t = {.p = frames->a, .k_body = frames->b, .part_p = A_ANG, .part_k = B_ANG};
    if (type == ABOUT_Z) {
        t.x = axis_a(frames, 0);
        t.y = axis_a(frames, 1);
        t.z = axis_a(frames, 2);
        t.k = axis_b(frames, 0);
    } else {
        t.p = frames->b;
        t.k_body = frames->a;
        t.part_p = B_ANG;
        t.part_k = A_ANG;
        t.x = axis_b(frames, 2);
        t.y = axis_b(frames, 1);
        t.z = vec3_neg(axis_b(frames, 0));
        t.k = axis_a(frames, 2);
    }
    t.c = vec3_dot(t.k, t.x);
    t.s = vec3_dot(t.k, t.y);
    t.n = vec3_dot(t.k, t.z);
    t.m = vec3_add(vec3_scale(t.c, t.x), vec3_scale(t.s, t.y));
    t.w = vec3_add_scaled(t.z, -t.n / (t.c * t.c + t.s * t.s), t.m);
    return t;
}

double coordinate_value(CoordinateType type, const JointFrames* frames) {
    if (type == ABOUT_BETWEEN) {
        double s = vec3_dot(axis_b(frames, 0), axis_a(frames, 2));
        return -asin(fmax(-1, fmin(s, 1)));
    }
    if (type == ABOUT_Z) {
        Vec3 k = axis_b(frames, 0);
        return atan2(vec3_dot(k, axis_a(frames, 1)), vec3_dot(k, axis_a(frames, 0)));
    }
    if (type == ABOUT_X_OF_B) {
        Vec3 k = axis_a(frames, 2);
        return atan2(vec3_dot(k, axis_b(frames, 1)), vec3_dot(k, axis_b(frames, 2)));
    }
    return vec3_dot(axis_a(frames, (int)type), vec3_sub(frames->p_b, frames->p_a));
}

double coordinate_unwrapped(CoordinateType type, const JointFrames* frames, double last) {
    double x = coordinate_value(type, frames);
    if (!coordinate_is_angle(type)) return x;
    return x + 2 * LASH_PI * round((last - x) / (2 * LASH_PI));
}

static void between_row(const JointFrames* frames, RowWriter* out) {
    Vec3 w = vec3_normalize(vec3_cross(axis_a(frames, 2), axis_b(frames, 0)));
    double value = out->g != NULL ? coordinate_value(ABOUT_BETWEEN, frames) : 0;
    put_row(out, value, vec3_zero(), vec3_neg(mat3_mul_transposed(frames->a->R, w)), vec3_zero(),
            mat3_mul_transposed(frames->b->R, w));
}

static void between_contract(const JointFrames* frames, RowContraction* contraction) {
    Vec3 z = axis_a(frames, 2), x = axis_b(frames, 0), m = vec3_cross(z, x);
    double length = vec3_norm(m);
    Vec3 w = vec3_scale(1 / length, m);
    Mat3 across =
        mat3_scale(1 / length, mat3_sub(mat3_identity(), mat3_outer(w, w))); // dw = across dm
    Mat3 X = mat3_skew(x), Z = mat3_skew(z), W = mat3_skew(w);
    Mat3 by_a = mat3_product(across, mat3_product(X, Z));
    Mat3 by_b = mat3_scale(-1, mat3_product(across, mat3_product(Z, X)));
    Mat3 A = frames->a->R, B = frames->b->R, At = mat3_transpose(A), Bt = mat3_transpose(B);
    int row = contraction->row++;
    add_block(contraction, row, A_ANG, A_ANG,
              mat3_scale(-1, mat3_product(At, mat3_product(mat3_add(by_a, W), A))));
    add_block(contraction, row, A_ANG, B_ANG,
              mat3_scale(-1, mat3_product(At, mat3_product(by_b, B))));
    add_block(contraction, row, B_ANG, A_ANG, mat3_product(Bt, mat3_product(by_a, A)));
    add_block(contraction, row, B_ANG, B_ANG, mat3_product(Bt, mat3_product(mat3_add(by_b, W), B)));
}

void coordinate_row(CoordinateType type, const JointFrames* frames, RowWriter* out) {
    if (type == ABOUT_BETWEEN) {
        between_row(frames, out);
        return;
    }
    if (!coordinate_is_angle(type)) {
        row_axis_point(frames, (int)type, out);
        return;
    }
    Angle t = angle_of(type, frames);
    Vec3 p = vec3_neg(mat3_mul_transposed(t.p->R, t.w)), k = mat3_mul_transposed(t.k_body->R, t.w);
    bool plane_on_a = t.part_p == A_ANG;
    double value = out->g != NULL ? atan2(t.s, t.c) : 0;
    put_row(out, value, vec3_zero(), plane_on_a ? p : k, vec3_zero(), plane_on_a ? k : p);
}

void coordinate_contract(CoordinateType type, const JointFrames* frames,
                         RowContraction* contraction) {
    if (type == ABOUT_BETWEEN) {
        between_contract(frames, contraction);
        return;
    }
    if (!coordinate_is_angle(type)) {
        row_axis_point_contract(frames, (int)type, contraction);
        return;
    }
    Angle t = angle_of(type, frames);
    double rho = t.c * t.c + t.s * t.s, n = t.n;
    Mat3 Q = mat3_scale((1 + n * n) / (rho * rho), mat3_outer(t.m, vec3_cross(t.k, t.z)));
    Q = mat3_add(Q, mat3_scale(n / rho, mat3_add(mat3_outer(t.x, vec3_cross(t.k, t.x)),
                                                 mat3_outer(t.y, vec3_cross(t.k, t.y)))));
    Mat3 P = t.p->R, K = t.k_body->R, Pt = mat3_transpose(P), Kt = mat3_transpose(K);
    Mat3 S = mat3_sub(mat3_skew(t.w), Q);
    int row = contraction->row++;
    add_block(contraction, row, t.part_p, t.part_p,
              mat3_scale(-1, mat3_product(Pt, mat3_product(Q, P))));
    add_block(contraction, row, t.part_p, t.part_k, mat3_product(Pt, mat3_product(Q, K)));
    add_block(contraction, row, t.part_k, t.part_p,
              mat3_scale(-1, mat3_product(Kt, mat3_product(S, P))));
    add_block(contraction, row, t.part_k, t.part_k, mat3_product(Kt, mat3_product(S, K)));
}

void coordinate_reaction(CoordinateType type, const JointFrames* frames, double Q, Vec3* force,
                         Vec3* moment) {
    if (!coordinate_is_angle(type)) {
        *force = vec3_add_scaled(*force, Q, axis_a(frames, (int)type));
        return;
    }
    if (type == ABOUT_BETWEEN) {
        Vec3 w = vec3_normalize(vec3_cross(axis_a(frames, 2), axis_b(frames, 0)));
        *moment = vec3_add_scaled(*moment, Q, w);
        return;
    }
    Angle t = angle_of(type, frames);
    *moment = vec3_add_scaled(*moment, type == ABOUT_Z ? Q : -Q, t.w);
}
