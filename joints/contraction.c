// With arm_s = point - x_s, G P of side b is (f, R_b'(arm_b x f)), of side a minus that with its
// own arm and R. A motion (dx, phi) of each side's body changes them by
//
//     (df,  R'((dpoint - dx) x f + arm x df - phi x (arm x f)))
//
// and the relative velocity w = v_b + omega_b x arm_b - v_a - omega_a x arm_a by
//
//     dw = (omega_b - omega_a) x dpoint - omega_b x dx_b + omega_a x dx_a
//          + (phi_b x omega_b) x arm_b - (phi_a x omega_a) x arm_a.
//
// Put in for every motion at once, df and dpoint are 3 x 3 matrices Df, Dp; M the moment on a:
//
//     x_b      Df = f_v                             Dp = p_v                   (x_a: the opposite)
//     phi_b    Df = f_phi - f_v [rho_b]             Dp = p_phi - p_v [rho_b]
//     phi_a    Df = f_turn - f_phi + f_v [rho_a]    Dp = -[arm_a] - p_phi + p_v [rho_a]
//     M = [arm_a] Df - [f] Dp,     on b: M + [x_a - x_b] Df
//
// with rho_s = x_0 - x_s and [y] z = y x z. G'v is contracted row by row the same way, transposed.
#include "joints/contraction.h"

void contraction_prepare(Contraction* c, const double* P, const double* v) {
    c->f = c->omega_a = c->omega_b = c->w = vec3_zero();
    for (int r = 0; r < c->rows && P != NULL; ++r) c->f = vec3_add_scaled(c->f, P[r], c->t[r]);
    if (v == NULL) return;
    if (c->has_a) {
        c->omega_a = mat3_mul(c->a->R, vec3(v[3], v[4], v[5]));
        Vec3 at = vec3_cross(c->omega_a, vec3_sub(c->point, c->a->x));
        c->w = vec3_neg(vec3_add(vec3(v[0], v[1], v[2]), at));
        v += 6;
    }
    if (c->has_b) {
        c->omega_b = mat3_mul(c->b->R, vec3(v[3], v[4], v[5]));
        Vec3 at = vec3_cross(c->omega_b, vec3_sub(c->point, c->b->x));
        c->w = vec3_add(c->w, vec3_add(vec3(v[0], v[1], v[2]), at));
    }
}

void contraction_start(const Contraction* c, ContractionRates* rates) {
    *rates = (ContractionRates){
        .x_0 = c->point, .f_turn = mat3_skew(vec3_neg(c->f)), .p_v = {{1, 0, 0, 0, 1, 0, 0, 0, 1}}};
    for (int r = 0; r < c->rows; ++r) rates->w_turn[r] = vec3_cross(c->t[r], c->w);
}

// -M [rho]: each row of M becomes rho x row.
static inline Mat3 through_arm(const Mat3* M, Vec3 rho) {
    Mat3 r;
    const double* m = M->m;
    for (int i = 0; i < 3; ++i) {
        r.m[i] = rho.y * m[i + 6] - rho.z * m[i + 3];
        r.m[i + 3] = rho.z * m[i] - rho.x * m[i + 6];
        r.m[i + 6] = rho.x * m[i + 3] - rho.y * m[i];
    }
    return r;
}

// M += [a] D
static inline void add_cross(Mat3* M, Vec3 a, const Mat3* D) {
    for (int k = 0; k < 9; k += 3) {
        const double* d = D->m + k;
        M->m[k] += a.y * d[2] - a.z * d[1];
        M->m[k + 1] += a.z * d[0] - a.x * d[2];
        M->m[k + 2] += a.x * d[1] - a.y * d[0];
    }
}

static inline void put(double* d, int n, double sign, const Mat3* M) {
    for (int j = 0; j < 3; ++j, d += n) {
        d[0] = sign * M->m[3 * j], d[1] = sign * M->m[3 * j + 1], d[2] = sign * M->m[3 * j + 2];
    }
}

// R' M
static inline Mat3 transposed_product(const Mat3* R, const Mat3* M) {
    return mat3_columns(mat3_mul_transposed(*R, mat3_column(*M, 0)),
                        mat3_mul_transposed(*R, mat3_column(*M, 1)),
                        mat3_mul_transposed(*R, mat3_column(*M, 2)));
}

// Three columns of dGP for one kind of motion: Df, Dp and the moments that turn with the body,
// own_a and own_b, brought to the columns' axes by R (NULL: world).
static inline void put_columns(const Contraction* c, const Mat3* Df, const Mat3* Dp, Vec3 own_a,
                               Vec3 own_b, const Mat3* R, double sign, double* d) {
    int n = c->has_a && c->has_b ? 12 : 6;
    Mat3 M = mat3_zero(), lin = R == NULL ? *Df : mat3_product(*Df, *R);
    add_cross(&M, vec3_sub(c->point, c->a->x), Df);
    add_cross(&M, vec3_neg(c->f), Dp);
    if (c->has_a) {
        Mat3 own = mat3_add(M, mat3_skew(own_a));
        if (R != NULL) own = mat3_product(own, *R);
        own = transposed_product(&c->a->R, &own);
        put(d, n, -sign, &lin), put(d + 3, n, -sign, &own);
        d += 6;
    }
    if (c->has_b) {
        add_cross(&M, vec3_sub(c->a->x, c->b->x), Df);
        M = mat3_add(M, mat3_skew(own_b));
        if (R != NULL) M = mat3_product(M, *R);
        M = transposed_product(&c->b->R, &M);
        put(d, n, sign, &lin), put(d + 3, n, sign, &M);
    }
}

void contraction_impulse(const Contraction* c, const ContractionRates* s, double* dGP) {
    int n = c->has_a && c->has_b ? 12 : 6;
    Vec3 none = vec3_zero();
    if (c->has_a) {
        Vec3 arm = vec3_sub(c->point, c->a->x), rho = vec3_sub(s->x_0, c->a->x);
        Mat3 Df = mat3_sub(mat3_sub(s->f_turn, s->f_phi), through_arm(&s->f_v, rho));
        Mat3 Dp = mat3_sub(mat3_sub(mat3_skew(vec3_neg(arm)), s->p_phi), through_arm(&s->p_v, rho));
        put_columns(c, &Df, &Dp, vec3_cross(arm, c->f), none, &c->a->R, 1, dGP + 3 * n);
    }
    double* to_b = dGP + (c->has_a ? 6 * n : 0);
    if (c->has_b) {
        Vec3 arm = vec3_sub(c->point, c->b->x), rho = vec3_sub(s->x_0, c->b->x);
        Mat3 Df = mat3_add(s->f_phi, through_arm(&s->f_v, rho));
        Mat3 Dp = mat3_add(s->p_phi, through_arm(&s->p_v, rho));
        put_columns(c, &Df, &Dp, none, vec3_cross(arm, c->f), &c->b->R, 1, to_b + 3 * n);
    }
    put_columns(c, &s->f_v, &s->p_v, none, c->f, NULL, c->has_b ? 1 : -1, c->has_b ? to_b : dGP);
    if (!c->has_a || !c->has_b) return;
    for (int i = 0; i < 3 * n; ++i) dGP[i] = -to_b[i];
}

void contraction_velocity(const Contraction* c, const ContractionRates* s, double* dGv) {
    Vec3 turning = vec3_sub(c->omega_b, c->omega_a);
    Vec3 arm_a = vec3_sub(c->point, c->a->x), arm_b = vec3_sub(c->point, c->b->x);
    Vec3 rho_a = vec3_sub(s->x_0, c->a->x), rho_b = vec3_sub(s->x_0, c->b->x);
    int n = c->rows;
    for (int r = 0; r < n; ++r, ++dGv) {
        Vec3 t = c->t[r], x = vec3_cross(t, turning);
        Vec3 y = vec3_add(s->w_v[r], mat3_mul_transposed(s->p_v, x));
        Vec3 z = vec3_add(s->w_phi[r], mat3_mul_transposed(s->p_phi, x));
        Vec3 lin = vec3_sub(y, vec3_cross(t, c->omega_b));
        double* d = dGv;
        if (c->has_a) {
            Vec3 m = vec3_sub(s->w_turn[r], vec3_add(vec3_cross(rho_a, y), z));
            m = vec3_add(m, vec3_cross(arm_a, x));
            m = vec3_sub(m, vec3_cross(c->omega_a, vec3_cross(arm_a, t)));
            m = mat3_mul_transposed(c->a->R, m);
            d[0] = -lin.x, d[n] = -lin.y, d[2 * n] = -lin.z;
            d[3 * n] = m.x, d[4 * n] = m.y, d[5 * n] = m.z;
            d += 6 * n;
        }
        if (c->has_b) {
            Vec3 m = vec3_add(vec3_cross(rho_b, y), z);
            m = vec3_add(m, vec3_cross(c->omega_b, vec3_cross(arm_b, t)));
            m = mat3_mul_transposed(c->b->R, m);
            d[0] = lin.x, d[n] = lin.y, d[2 * n] = lin.z;
            d[3 * n] = m.x, d[4 * n] = m.y, d[5 * n] = m.z;
        }
    }
}
