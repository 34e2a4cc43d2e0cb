// Building blocks of joint rows, with gradient and second derivative.
//
// Increments: x += d_x (world), R <- R exp(psi) (body axes). With s_a, s_b the joint points and u,
// w joint axes in body coordinates, and y_a = R_a' y for a world vector y:
//
//   point3      g = p_b - p_a            G_a = (-I, -s_a x e_a)   G_b = (I, s_b x e_b)
//               e = e1, e2, e3
//   axis point  g = e . (p_b - p_a)      G_a = (-e, -rho x u)     G_b = (e, s_b x e_b)
//               e = R_a u, rho = R_a'(p_b - x_a)
//   dot         g = e . k                G_a = (0, u x k_a)       G_b = (0, w x e_b)     k = R_b w
//   distance    g = |p_b - p_a| - L      the columns of point3 along e = (p_b - p_a)/|p_b - p_a|
//
// Second derivatives follow from d(R' y) = [R' y]x psi and d(R u) = -R [u]x psi.
#include "joints/rows.h"

void put_row(RowWriter* out, double g, Vec3 lin_a, Vec3 ang_a, Vec3 lin_b, Vec3 ang_b) {
    int i = out->rows++;
    if (out->g != NULL) out->g[i] = g;
    if (out->Ga != NULL) {
        double* G = out->Ga + 6 * i;
        G[0] = lin_a.x;
        G[1] = lin_a.y;
        G[2] = lin_a.z;
        G[3] = ang_a.x;
        G[4] = ang_a.y;
        G[5] = ang_a.z;
    }
    if (out->Gb != NULL) {
        double* G = out->Gb + 6 * i;
        G[0] = lin_b.x;
        G[1] = lin_b.y;
        G[2] = lin_b.z;
        G[3] = ang_b.x;
        G[4] = ang_b.y;
        G[5] = ang_b.z;
    }
}

// First velocity of a part in the packed vector, -1: that side is the ground.
static int part_start(const RowContraction* contraction, int part) {
    if (part <= A_ANG) return contraction->has_a ? 3 * part : -1;
    return contraction->has_b ? 3 * (part - 2) + (contraction->has_a ? 6 : 0) : -1;
}

void add_block(RowContraction* contraction, int row, int part, int along, Mat3 H) {
    int i0 = part_start(contraction, part), j0 = part_start(contraction, along);
    if (i0 < 0 || j0 < 0) return;
    int n = 6 * ((contraction->has_a ? 1 : 0) + (contraction->has_b ? 1 : 0));
    for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) {
            double x = H.m[i + 3 * j];
            if (contraction->dGP != NULL)
                contraction->dGP[(i0 + i) + n * (j0 + j)] += contraction->P[row] * x;
            if (contraction->dGv != NULL)
                contraction->dGv[row + contraction->rows * (j0 + j)] += contraction->v[i0 + i] * x;
        }
    }
}

// dGP += H in rows of `part`, columns of `along`.
static void add_impulse(RowContraction* contraction, int part, int along, const Mat3* H,
                        double sign) {
    int i0 = part_start(contraction, part), j0 = part_start(contraction, along),
        n = contraction->has_a && contraction->has_b ? 12 : 6;
    if (i0 < 0 || j0 < 0) return;
    double* d = contraction->dGP + i0 + n * j0;
    for (int j = 0; j < 3; ++j, d += n) {
        d[0] += sign * H->m[3 * j];
        d[1] += sign * H->m[3 * j + 1];
        d[2] += sign * H->m[3 * j + 2];
    }
}

// Row of dGv += x' in columns of `along`.
static void add_velocity(RowContraction* contraction, int row, int along, Vec3 x) {
    int j0 = part_start(contraction, along);
    if (j0 < 0) return;
    double* d = contraction->dGv + row + contraction->rows * j0;
    d[0] += x.x;
    d[contraction->rows] += x.y;
    d[2 * contraction->rows] += x.z;
}

static Vec3 velocity_of(const RowContraction* contraction, int part) {
    int i = part_start(contraction, part);
    return i < 0 ? vec3_zero()
                 : vec3(contraction->v[i], contraction->v[i + 1], contraction->v[i + 2]);
}

// [s] [e] = e s' - (s.e) I
static Mat3 two_skews(Vec3 s, Vec3 e) {
    Mat3 H = mat3_outer(e, s);
    double d = vec3_dot(s, e);
    H.m[0] -= d;
    H.m[4] -= d;
    H.m[8] -= d;
    return H;
}

// M [w]: each row of M becomes row x w.
static Mat3 times_skew(const Mat3* M, Vec3 w) {
    Mat3 r;
    const double* m = M->m;
    for (int i = 0; i < 3; ++i) {
        Vec3 x = vec3_cross(vec3(m[i], m[i + 3], m[i + 6]), w);
        r.m[i] = x.x;
        r.m[i + 3] = x.y;
        r.m[i + 6] = x.z;
    }
    return r;
}

void row_point3_contract(const JointFrames* frames, RowContraction* contraction) {
    const double *A = frames->a->R.m, *B = frames->b->R.m;
    Vec3 s_a = frames->a_point, s_b = frames->b_point;
    if (contraction->dGP != NULL) {
        Vec3 P = vec3(contraction->P[contraction->row], contraction->P[contraction->row + 1],
                      contraction->P[contraction->row + 2]);
        Mat3 on_a = two_skews(s_a, mat3_mul_transposed(frames->a->R, P));
        Mat3 on_b = two_skews(s_b, mat3_mul_transposed(frames->b->R, P));
        add_impulse(contraction, A_ANG, A_ANG, &on_a, -1);
        add_impulse(contraction, B_ANG, B_ANG, &on_b, 1);
    }
    for (int k = 0; k < 3 && contraction->dGv != NULL; ++k) { // w'[s][e] = (w.e) s' - (s.e) w'
        Vec3 e = vec3(A[k], A[k + 3], A[k + 6]), w = velocity_of(contraction, A_ANG);
        Vec3 x = vec3_add_scaled(vec3_scale(vec3_dot(w, e), s_a), -vec3_dot(s_a, e), w);
        add_velocity(contraction, contraction->row + k, A_ANG, vec3_neg(x));
        e = vec3(B[k], B[k + 3], B[k + 6]);
        w = velocity_of(contraction, B_ANG);
        x = vec3_add_scaled(vec3_scale(vec3_dot(w, e), s_b), -vec3_dot(s_b, e), w);
        add_velocity(contraction, contraction->row + k, B_ANG, x);
    }
    contraction->row += 3;
}

// Axis point along u of a: everything is linear in u, so that rows with impulses add up in u.
// S = [s_b], Q = R_a' R_b.
static void axis_impulse(const JointFrames* frames, Vec3 u, RowContraction* contraction) {
    Vec3 rho = mat3_mul_transposed(frames->a->R, vec3_sub(frames->p_b, frames->a->x));
    Vec3 e_b = mat3_mul_transposed(frames->b->R, mat3_mul(frames->a->R, u));
    Mat3 turn = times_skew(&frames->a->R, u), back = mat3_transpose(turn); // R [u] and -[u] R'
    Mat3 own_a = two_skews(u, rho), own_b = two_skews(frames->b_point, e_b);
    Mat3 lever = times_skew(&frames->b->R, frames->b_point); // R_b S
    Mat3 both = mat3_product(back, lever), to_a;             // -[u] Q S
    to_a = mat3_transpose(both);
    add_impulse(contraction, A_LIN, A_ANG, &turn, 1);
    add_impulse(contraction, B_LIN, A_ANG, &turn, -1);
    add_impulse(contraction, A_ANG, A_LIN, &back, 1);
    add_impulse(contraction, A_ANG, B_LIN, &back, -1);
    add_impulse(contraction, A_ANG, A_ANG, &own_a, 1);
    add_impulse(contraction, B_ANG, B_ANG, &own_b, 1);
    add_impulse(contraction, A_ANG, B_ANG, &both, 1);
    add_impulse(contraction, B_ANG, A_ANG, &to_a, 1);
}

static void axis_velocity(const JointFrames* frames, Vec3 u, int row, RowContraction* contraction) {
    Vec3 rho = mat3_mul_transposed(frames->a->R, vec3_sub(frames->p_b, frames->a->x));
    Vec3 e_b = mat3_mul_transposed(frames->b->R, mat3_mul(frames->a->R, u));
    Vec3 x_a = vec3_cross(velocity_of(contraction, A_ANG), u); // (w'[u])' = w x u
    Vec3 x_b = vec3_cross(velocity_of(contraction, B_ANG), frames->b_point);
    Vec3 world_a = mat3_mul(frames->a->R, x_a);
    Vec3 moved =
        vec3_sub(vec3_sub(velocity_of(contraction, A_LIN), velocity_of(contraction, B_LIN)),
                 mat3_mul(frames->b->R, x_b));
    Vec3 on_a = vec3_cross(mat3_mul_transposed(frames->a->R, moved), u);
    Vec3 on_b = vec3_cross(mat3_mul_transposed(frames->b->R, world_a), frames->b_point);
    add_velocity(contraction, row, A_LIN, vec3_neg(world_a));
    add_velocity(contraction, row, B_LIN, world_a);
    add_velocity(contraction, row, A_ANG, vec3_add(on_a, vec3_cross(x_a, rho)));
    add_velocity(contraction, row, B_ANG, vec3_sub(vec3_cross(x_b, e_b), on_b));
}

void row_axis_point_contract(const JointFrames* frames, int axis, RowContraction* contraction) {
    Vec3 u = mat3_column(*frames->a_axes, axis);
    int row = contraction->row++;
    if (contraction->dGP != NULL)
        axis_impulse(frames, vec3_scale(contraction->P[row], u), contraction);
    if (contraction->dGv != NULL) axis_velocity(frames, u, row, contraction);
}

void row_across_contract(const JointFrames* frames, RowContraction* contraction) {
    Vec3 x = mat3_column(*frames->a_axes, 0), y = mat3_column(*frames->a_axes, 1);
    int row = contraction->row;
    contraction->row += 2;
    if (contraction->dGP != NULL)
        axis_impulse(
            frames, vec3_add_scaled(vec3_scale(contraction->P[row], x), contraction->P[row + 1], y),
            contraction);
    if (contraction->dGv != NULL) {
        axis_velocity(frames, x, row, contraction);
        axis_velocity(frames, y, row + 1, contraction);
    }
}

// Dot of u of a and w of b: linear in u, too.
static void dot_impulse(const JointFrames* frames, Vec3 u, Vec3 w, RowContraction* contraction) {
    Vec3 k_a = mat3_mul(frames->a_b, w), e_b = mat3_mul_transposed(frames->a_b, u);
    Mat3 own_a = two_skews(u, k_a), own_b = two_skews(w, e_b), image = times_skew(&frames->a_b, w);
    Mat3 both = mat3_product(mat3_skew(vec3_neg(u)), image), to_a = mat3_transpose(both);
    add_impulse(contraction, A_ANG, A_ANG, &own_a, 1);
    add_impulse(contraction, B_ANG, B_ANG, &own_b, 1);
    add_impulse(contraction, A_ANG, B_ANG, &both, 1);
    add_impulse(contraction, B_ANG, A_ANG, &to_a, 1);
}

static void dot_velocity(const JointFrames* frames, Vec3 u, Vec3 w, int row,
                         RowContraction* contraction) {
    Vec3 k_a = mat3_mul(frames->a_b, w), e_b = mat3_mul_transposed(frames->a_b, u);
    Vec3 x_a = vec3_cross(velocity_of(contraction, A_ANG), u),
         x_b = vec3_cross(velocity_of(contraction, B_ANG), w);
    Vec3 on_a = vec3_cross(mat3_mul(frames->a_b, x_b), u);
    Vec3 on_b = vec3_cross(mat3_mul_transposed(frames->a_b, x_a), w);
    add_velocity(contraction, row, A_ANG, vec3_sub(vec3_cross(x_a, k_a), on_a));
    add_velocity(contraction, row, B_ANG, vec3_sub(vec3_cross(x_b, e_b), on_b));
}

void row_dot_contract(const JointFrames* frames, int e, int k, RowContraction* contraction) {
    Vec3 u = mat3_column(*frames->a_axes, e), w = mat3_column(*frames->b_axes, k);
    int row = contraction->row++;
    if (contraction->dGP != NULL)
        dot_impulse(frames, vec3_scale(contraction->P[row], u), w, contraction);
    if (contraction->dGv != NULL) dot_velocity(frames, u, w, row, contraction);
}

void row_parallel_contract(const JointFrames* frames, RowContraction* contraction) {
    Vec3 x = mat3_column(*frames->a_axes, 0), y = mat3_column(*frames->a_axes, 1);
    Vec3 w = mat3_column(*frames->b_axes, 2);
    int row = contraction->row;
    contraction->row += 2;
    if (contraction->dGP != NULL)
        dot_impulse(frames,
                    vec3_add_scaled(vec3_scale(contraction->P[row], x), contraction->P[row + 1], y),
                    w, contraction);
    if (contraction->dGv != NULL) {
        dot_velocity(frames, x, w, row, contraction);
        dot_velocity(frames, y, w, row + 1, contraction);
    }
}

Vec3 row_dot_moment(const JointFrames* frames, int e, int k, double P) {
    return vec3_scale(-P, vec3_cross(axis_a(frames, e), axis_b(frames, k)));
}

// Columns J (12 x 3) of point3 over both sides, and the unit vector e along p_b - p_a (zero when
// the points coincide: there is no direction then, and no force). Returns the distance.
static double distance_parts(const JointFrames* frames, double J[36], Vec3* e) {
    double Ja[18], Jb[18];
    RowWriter rows = {.Ga = Ja, .Gb = Jb};
    row_point3(frames, &rows);
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 6; ++i) {
            J[12 * k + i] = Ja[6 * k + i];
            J[12 * k + 6 + i] = Jb[6 * k + i];
        }
    }
    Vec3 d = vec3_sub(frames->p_b, frames->p_a);
    double x = vec3_norm(d);
    *e = x > 0 ? vec3_scale(1 / x, d) : vec3_zero();
    return x;
}

void row_distance(const JointFrames* frames, RowWriter* out) {
    Vec3 d = vec3_sub(frames->p_b, frames->p_a);
    double x = vec3_norm(d);
    Vec3 e = x > 0 ? vec3_scale(1 / x, d) : vec3_zero();
    put_row(out, x - frames->length, vec3_neg(e),
            vec3_cross(mat3_mul_transposed(frames->a->R, e), frames->a_point), e,
            vec3_cross(frames->b_point, mat3_mul_transposed(frames->b->R, e)));
}

void row_distance_contract(const JointFrames* frames, RowContraction* contraction) {
    double J[36];
    Vec3 e;
    double x = distance_parts(frames, J, &e);
    int row = contraction->row++;
    if (x == 0) return;
    const double e3[3] = {e.x, e.y, e.z};
    for (int part = A_LIN; part <= B_ANG; ++part) {
        for (int along = A_LIN; along <= B_ANG; ++along) {
            Mat3 H;
            for (int j = 0; j < 3; ++j) {
                for (int i = 0; i < 3; ++i) {
                    double JJ = 0, Je = 0, eJ = 0;
                    for (int k = 0; k < 3; ++k) {
                        double a = J[12 * k + 3 * part + i], b = J[12 * k + 3 * along + j];
                        JJ += a * b;
                        Je += a * e3[k];
                        eJ += b * e3[k];
                    }
                    H.m[i + 3 * j] = (JJ - Je * eJ) / x;
                }
            }
            add_block(contraction, row, part, along, H);
        }
    }
    Vec3 e_a = mat3_mul_transposed(frames->a->R, e), e_b = mat3_mul_transposed(frames->b->R, e);
    add_block(contraction, row, A_ANG, A_ANG,
              mat3_scale(-1, mat3_product(mat3_skew(frames->a_point), mat3_skew(e_a))));
    add_block(contraction, row, B_ANG, B_ANG,
              mat3_product(mat3_skew(frames->b_point), mat3_skew(e_b)));
}
