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
        G[0] = lin_a.x, G[1] = lin_a.y, G[2] = lin_a.z, G[3] = ang_a.x, G[4] = ang_a.y,
        G[5] = ang_a.z;
    }
    if (out->Gb != NULL) {
        double* G = out->Gb + 6 * i;
        G[0] = lin_b.x, G[1] = lin_b.y, G[2] = lin_b.z, G[3] = ang_b.x, G[4] = ang_b.y,
        G[5] = ang_b.z;
    }
}

// First velocity of a part in the packed vector, -1: that side is the ground.
static int part_start(const RowContraction* c, int part) {
    if (part <= A_ANG) return c->has_a ? 3 * part : -1;
    return c->has_b ? 3 * (part - 2) + (c->has_a ? 6 : 0) : -1;
}

void add_block(RowContraction* c, int row, int part, int along, Mat3 H) {
    int i0 = part_start(c, part), j0 = part_start(c, along);
    if (i0 < 0 || j0 < 0) return;
    int n = 6 * ((c->has_a ? 1 : 0) + (c->has_b ? 1 : 0));
    for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) {
            double x = H.m[i + 3 * j];
            if (c->dGP != NULL) c->dGP[(i0 + i) + n * (j0 + j)] += c->P[row] * x;
            if (c->dGv != NULL) c->dGv[row + c->rows * (j0 + j)] += c->v[i0 + i] * x;
        }
    }
}

void row_point3_contract(const JointFrames* f, RowContraction* c) {
    for (int k = 0; k < 3; ++k) {
        Vec3 e_a = vec3(f->a->R.m[k], f->a->R.m[k + 3], f->a->R.m[k + 6]);
        Vec3 e_b = vec3(f->b->R.m[k], f->b->R.m[k + 3], f->b->R.m[k + 6]);
        add_block(c, c->row, A_ANG, A_ANG,
                  mat3_scale(-1, mat3_product(mat3_skew(f->a_point), mat3_skew(e_a))));
        add_block(c, c->row, B_ANG, B_ANG, mat3_product(mat3_skew(f->b_point), mat3_skew(e_b)));
        ++c->row;
    }
}

void row_axis_point_contract(const JointFrames* f, int axis, RowContraction* c) {
    Vec3 e = axis_a(f, axis), u = mat3_column(*f->a_axes, axis);
    Vec3 rho = mat3_mul_transposed(f->a->R, vec3_sub(f->p_b, f->a->x));
    Vec3 e_b = mat3_mul_transposed(f->b->R, e);
    Mat3 Rt = mat3_transpose(f->a->R),
         ba = mat3_product(mat3_transpose(f->b->R), f->a->R); // R_b' R_a
    Mat3 U = mat3_skew(u), Ru = mat3_product(f->a->R, U), S = mat3_skew(f->b_point);
    int row = c->row++;
    add_block(c, row, A_LIN, A_ANG, Ru);
    add_block(c, row, B_LIN, A_ANG, mat3_scale(-1, Ru));
    add_block(c, row, A_ANG, A_LIN, mat3_scale(-1, mat3_product(U, Rt)));
    add_block(c, row, A_ANG, B_LIN, mat3_product(U, Rt));
    add_block(c, row, A_ANG, B_ANG,
              mat3_scale(-1, mat3_product(U, mat3_product(mat3_transpose(ba), S))));
    add_block(c, row, A_ANG, A_ANG, mat3_product(U, mat3_skew(rho)));
    add_block(c, row, B_ANG, A_ANG, mat3_scale(-1, mat3_product(S, mat3_product(ba, U))));
    add_block(c, row, B_ANG, B_ANG, mat3_product(S, mat3_skew(e_b)));
}

void row_dot_contract(const JointFrames* f, int e, int k, RowContraction* c) {
    Vec3 u = mat3_column(*f->a_axes, e), w = mat3_column(*f->b_axes, k);
    Vec3 k_a = mat3_mul(f->a_b, w), e_b = mat3_mul_transposed(f->a_b, u);
    Mat3 U = mat3_skew(u), V = mat3_skew(w), b_a = mat3_transpose(f->a_b);
    int row = c->row++;
    add_block(c, row, A_ANG, A_ANG, mat3_product(U, mat3_skew(k_a)));
    add_block(c, row, A_ANG, B_ANG, mat3_scale(-1, mat3_product(U, mat3_product(f->a_b, V))));
    add_block(c, row, B_ANG, A_ANG, mat3_scale(-1, mat3_product(V, mat3_product(b_a, U))));
    add_block(c, row, B_ANG, B_ANG, mat3_product(V, mat3_skew(e_b)));
}

Vec3 row_dot_moment(const JointFrames* f, int e, int k, double P) {
    return vec3_scale(-P, vec3_cross(axis_a(f, e), axis_b(f, k)));
}

// Columns J (12 x 3) of point3 over both sides, and the unit vector e along p_b - p_a (zero when
// the points coincide: there is no direction then, and no force). Returns the distance.
static double distance_parts(const JointFrames* f, double J[36], Vec3* e) {
    double Ja[18], Jb[18];
    RowWriter rows = {.Ga = Ja, .Gb = Jb};
    row_point3(f, &rows);
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 6; ++i)
            J[12 * k + i] = Ja[6 * k + i], J[12 * k + 6 + i] = Jb[6 * k + i];
    }
    Vec3 d = vec3_sub(f->p_b, f->p_a);
    double x = vec3_norm(d);
    *e = x > 0 ? vec3_scale(1 / x, d) : vec3_zero();
    return x;
}

void row_distance(const JointFrames* f, RowWriter* out) {
    double J[36], g[12];
    Vec3 e;
    double x = distance_parts(f, J, &e);
    for (int i = 0; i < 12; ++i) g[i] = J[i] * e.x + J[12 + i] * e.y + J[24 + i] * e.z;
    put_row(out, x - f->length, vec3(g[0], g[1], g[2]), vec3(g[3], g[4], g[5]),
            vec3(g[6], g[7], g[8]), vec3(g[9], g[10], g[11]));
}

void row_distance_contract(const JointFrames* f, RowContraction* c) {
    double J[36];
    Vec3 e;
    double x = distance_parts(f, J, &e);
    int row = c->row++;
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
                        JJ += a * b, Je += a * e3[k], eJ += b * e3[k];
                    }
                    H.m[i + 3 * j] = (JJ - Je * eJ) / x;
                }
            }
            add_block(c, row, part, along, H);
        }
    }
    Vec3 e_a = mat3_mul_transposed(f->a->R, e), e_b = mat3_mul_transposed(f->b->R, e);
    add_block(c, row, A_ANG, A_ANG,
              mat3_scale(-1, mat3_product(mat3_skew(f->a_point), mat3_skew(e_a))));
    add_block(c, row, B_ANG, B_ANG, mat3_product(mat3_skew(f->b_point), mat3_skew(e_b)));
}
