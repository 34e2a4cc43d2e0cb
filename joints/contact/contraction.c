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
// Put in for every motion at once, df and dpoint are 3 x 3 matrices Df, Dp:
//
//     x_b      Df = f_v                             Dp = p_v                   (x_a: the opposite)
//     phi_b    Df = f_phi - f_v [rho_b]             Dp = p_phi - p_v [rho_b]
//     phi_a    Df = f_turn - f_phi + f_v [rho_a]    Dp = -[arm_a] - p_phi + p_v [rho_a]
//     moment   R'[arm] Df - R'[f] Dp, and of the side that moves: R'[f] for x_b, and since
//              R'[y] R = [R'y], [R'(arm x f)] for phi
//
// with rho_s = x_0 - x_s and [y] z = y x z. Where each side acts at its own point, point + half on
// b and point - half on a, arm_s and Dp are those of that point: De = e_v, e_phi - e_v [rho_b],
// -[half] - e_phi + e_v [rho_a] is added on b and taken away on a. G'v is contracted for all rows
// at once the same way, transposed. Lanes are the components of a column of dGP, or the rows of
// dGv.
#include "joints/contact/contraction.h"

#include "joints/lanes.h"

// sign R'[arm] by columns; lane 0: sign of the force along z.
static inline void moments(const Mat3* R, Vec3 arm, double sign, Four by_f[3]) {
    const double* r = R->m;
    const Four x = {0, r[0], r[3], r[6]}, y = {0, r[1], r[4], r[7]}, z = {0, r[2], r[5], r[8]};
    arm = vec3_scale(sign, arm);
    by_f[0] = arm.z * y - arm.y * z;
    by_f[1] = arm.x * z - arm.z * x;
    by_f[2] = arm.y * x - arm.x * y;
    by_f[2][0] = sign;
}

LASH_VECTOR_CLONES void contraction_directions(const BodyState* body, Vec3 point, double sign,
                                               int rows, const Vec3* t, double* G) {
    Four by_f[3];
    moments(&body->R, vec3_sub(point, body->x), sign, by_f);
    for (int r = 0; r < rows; ++r, ++t, G += 6) {
        *(Two*)G = sign * *(const Two*)t;
        *(Four*)(G + 2) = t->x * by_f[0] + t->y * by_f[1] + t->z * by_f[2];
    }
}

void contraction_prepare(Contraction* contraction, const double* P, const double* v) {
    contraction->f = contraction->omega_a = contraction->omega_b = contraction->w = vec3_zero();
    for (int r = 0; r < contraction->rows && P != NULL; ++r)
        contraction->f = vec3_add_scaled(contraction->f, P[r], contraction->t[r]);
    if (v == NULL) return;
    if (contraction->has_a) {
        contraction->omega_a = mat3_mul(contraction->a->R, vec3(v[3], v[4], v[5]));
        Vec3 at = vec3_cross(
            contraction->omega_a,
            vec3_sub(vec3_sub(contraction->point, contraction->half), contraction->a->x));
        contraction->w = vec3_neg(vec3_add(vec3(v[0], v[1], v[2]), at));
        v += 6;
    }
    if (contraction->has_b) {
        contraction->omega_b = mat3_mul(contraction->b->R, vec3(v[3], v[4], v[5]));
        Vec3 at = vec3_cross(
            contraction->omega_b,
            vec3_sub(vec3_add(contraction->point, contraction->half), contraction->b->x));
        contraction->w = vec3_add(contraction->w, vec3_add(vec3(v[0], v[1], v[2]), at));
    }
}

void contraction_start(const Contraction* contraction, ContractionRates* rates) {
    *rates = (ContractionRates){.x_0 = contraction->point,
                                .f_turn = mat3_skew(vec3_neg(contraction->f)),
                                .p_v = {{1, 0, 0, 0, 1, 0, 0, 0, 1}}};
    for (int r = 0; r < contraction->rows; ++r)
        rates->w_turn[r] = vec3_cross(contraction->t[r], contraction->w);
}

// Columns of Df, Dp and De for three motions; the last lane is not used.
typedef struct Rates {
    Four f[3], p[3], e[3];
} Rates;

// What becomes of a column of Df and Dp on a side, but for the force along x and y. Lanes: force
// along z, three moments.
typedef struct Side {
    double sign;           // of the impulse: b 1, a -1
    Four by_f[3], by_p[3]; // sign R'[arm], -sign R'[f]
    Four turn[3];          // sign [R'(arm x f)]
} Side;

static inline void set_side(const Mat3* R, Vec3 arm, Vec3 f, double sign, Side* side) {
    const double* r = R->m;
    Vec3 own = vec3_cross(arm, f = vec3_scale(sign, f)), m = mat3_mul_transposed(*R, own);
    side->sign = sign;
    moments(R, arm, sign, side->by_f);
    const Four x = {0, r[0], r[3], r[6]}, y = {0, r[1], r[4], r[7]}, z = {0, r[2], r[5], r[8]};
    side->by_p[0] = f.y * z - f.z * y;
    side->by_p[1] = f.z * x - f.x * z;
    side->by_p[2] = f.x * y - f.y * x;
    side->turn[0] = (Four){0, 0, m.z, -m.y};
    side->turn[1] = (Four){0, -m.z, 0, m.x};
    side->turn[2] = (Four){0, m.y, -m.x, 0};
}

// Three columns of dGP, rows of one side.
static inline __attribute__((always_inline)) void put_columns(const Side* side, const Rates* D,
                                                              const Four* own, int n, double* d) {
    for (int j = 0; j < 3; ++j, d += n) {
        Four own_p = D->p[j] + side->sign * D->e[j];
        const double *f = (const double*)&D->f[j], *p = (const double*)&own_p;
        Four by_f = f[0] * side->by_f[0] + f[1] * side->by_f[1] + f[2] * side->by_f[2];
        Four by_p = p[0] * side->by_p[0] + p[1] * side->by_p[1] + p[2] * side->by_p[2];
        Four sum = by_f + by_p;
        if (own != NULL) sum += own[j];
        *(Two*)d = side->sign * *(const Two*)f;
        *(Four*)(d + 2) = sum;
    }
}

static inline void load(const Mat3* M, Four* to) {
    const double* m = M->m;
    for (int k = 0; k < 3; ++k, m += 3) to[k] = (Four){m[0], m[1], m[2]};
}

// D <- (D - V [rho]) R, of three columns.
static inline void turn_columns(const Four* V, const Mat3* R, Vec3 rho, Four* D) {
    Four x = D[0] + (rho.y * V[2] - rho.z * V[1]);
    Four y = D[1] + (rho.z * V[0] - rho.x * V[2]);
    Four z = D[2] + (rho.x * V[1] - rho.y * V[0]);
    for (int j = 0; j < 3; ++j) {
        const double* r = R->m + 3 * j;
        D[j] = r[0] * x + r[1] * y + r[2] * z;
    }
}

// D <- (D - V [rho]) R of all columns.
static inline void turn_rates(const Rates* V, const Mat3* R, Vec3 rho, bool own_points, Rates* D) {
    turn_columns(V->f, R, rho, D->f);
    turn_columns(V->p, R, rho, D->p);
    if (own_points) turn_columns(V->e, R, rho, D->e);
}

LASH_VECTOR_CLONES void contraction_impulse(const Contraction* contraction,
                                            const ContractionRates* rates, double* dGP) {
    bool both = contraction->has_a && contraction->has_b;
    int n = both ? 12 : 6, to_b = both ? 6 : 0; // rows of b
    double *of_a = dGP, *of_b = dGP + to_b * n; // columns
    Vec3 arm_a = vec3_sub(contraction->point, contraction->a->x),
         arm_b = vec3_sub(contraction->point, contraction->b->x);
    Rates v, phi;
    Side a, b;
    load(&rates->e_v, v.e);
    load(&rates->e_phi, phi.e);
    load(&rates->f_v, v.f);
    load(&rates->p_v, v.p);
    load(&rates->f_phi, phi.f);
    load(&rates->p_phi, phi.p);
    if (contraction->has_a)
        set_side(&contraction->a->R, vec3_sub(arm_a, contraction->half), contraction->f, -1, &a);
    if (contraction->has_b) {
        Vec3 rho = vec3_sub(rates->x_0, contraction->b->x);
        Rates turn = phi;
        turn_rates(&v, &contraction->b->R, rho, contraction->own_points, &turn);
        set_side(&contraction->b->R, vec3_add(arm_b, contraction->half), contraction->f, 1, &b);
        const Four move[3] = {-b.by_p[0], -b.by_p[1], -b.by_p[2]};
        put_columns(&b, &v, move, n, of_b + to_b);
        put_columns(&b, &turn, b.turn, n, of_b + to_b + 3 * n);
        if (both) {
            put_columns(&a, &v, NULL, n, of_b);
            put_columns(&a, &turn, NULL, n, of_b + 3 * n);
        }
    }
    if (contraction->has_a) {
        Vec3 rho = vec3_sub(contraction->a->x, rates->x_0);
        Mat3 arm = mat3_skew(vec3_neg(arm_a)), half = mat3_skew(vec3_neg(contraction->half));
        Rates turn;
        load(&rates->f_turn, turn.f);
        load(&arm, turn.p);
        load(&half, turn.e);
        for (int k = 0; k < 3; ++k) {
            turn.f[k] -= phi.f[k];
            turn.p[k] -= phi.p[k];
            turn.e[k] -= phi.e[k];
        }
        turn_rates(&v, &contraction->a->R, rho, contraction->own_points, &turn);
        put_columns(&a, &turn, a.turn, n, of_a + 3 * n);
        if (both) put_columns(&b, &turn, NULL, n, of_a + 3 * n + to_b);
        if (!both) put_columns(&a, &v, NULL, n, of_b);
        for (int i = 0; i < 3 * n; ++i) of_a[i] = -of_b[i];
    }
}

// A vector for each row, the rows in lanes.
typedef struct Rows {
    Four x, y, z;
} Rows;

static inline void load_rows(const Vec3* of, int n, Rows* rows) {
    if (n == 1) {
        *rows = (Rows){{of->x}, {of->y}, {of->z}};
        return;
    }
    rows->x = (Four){of[0].x, of[1].x, of[2].x};
    rows->y = (Four){of[0].y, of[1].y, of[2].y};
    rows->z = (Four){of[0].z, of[1].z, of[2].z};
}

static inline void add_rows(const Rows* b, Rows* r) {
    r->x += b->x;
    r->y += b->y;
    r->z += b->z;
}

// r = a x b
static inline void cross(Vec3 a, const Rows* b, Rows* r) {
    r->x = a.y * b->z - a.z * b->y;
    r->y = a.z * b->x - a.x * b->z;
    r->z = a.x * b->y - a.y * b->x;
}
static inline void add_cross(Vec3 a, const Rows* b, Rows* r) {
    Rows c;
    cross(a, b, &c);
    add_rows(&c, r);
}

// r = M' b
static inline void transposed(const Mat3* M, const Rows* b, Rows* r) {
    const double* m = M->m;
    r->x = m[0] * b->x + m[1] * b->y + m[2] * b->z;
    r->y = m[3] * b->x + m[4] * b->y + m[5] * b->z;
    r->z = m[6] * b->x + m[7] * b->y + m[8] * b->z;
}
static inline void add_transposed(const Mat3* M, const Rows* b, Rows* r) {
    Rows c;
    transposed(M, b, &c);
    add_rows(&c, r);
}

// Three columns of n rows.
static inline void put_rows(const Rows* of, int n, double* d) {
    const Four column[3] = {of->x, of->y, of->z};
    for (int k = 0; k < 3; ++k, d += n) {
        d[0] = column[k][0];
        if (n > 1) {
            d[1] = column[k][1];
            d[2] = column[k][2];
        }
    }
}

// R'm in three columns of n rows.
static inline void put_moment(const Mat3* R, const Rows* rows, int n, double* d) {
    Rows own;
    transposed(R, rows, &own);
    put_rows(&own, n, d);
}

LASH_VECTOR_CLONES void contraction_velocity(const Contraction* contraction,
                                             const ContractionRates* rates, double* dGv) {
    Vec3 turning = vec3_sub(contraction->omega_b, contraction->omega_a);
    int n = contraction->rows;
    Rows t, x, apart, y, z, lin;
    load_rows(contraction->t, n, &t);
    load_rows(rates->w_v, n, &y);
    load_rows(rates->w_phi, n, &z);
    cross(vec3_neg(turning), &t, &x);
    add_transposed(&rates->p_v, &x, &y);
    add_transposed(&rates->p_phi, &x, &z);
    if (contraction->own_points) { // omega_b x dhalf + omega_a x dhalf
        cross(vec3_neg(vec3_add(contraction->omega_a, contraction->omega_b)), &t, &apart);
        add_transposed(&rates->e_v, &apart, &y);
        add_transposed(&rates->e_phi, &apart, &z);
    }
    lin = y;
    add_cross(contraction->omega_b, &t, &lin);
    if (contraction->has_a) {
        Rows m, turned;
        Vec3 arm = vec3_sub(contraction->point, contraction->a->x),
             rho = vec3_sub(rates->x_0, contraction->a->x);
        load_rows(rates->w_turn, n, &m);
        add_cross(vec3_neg(rho), &y, &m);
        m.x -= z.x;
        m.y -= z.y;
        m.z -= z.z;
        add_cross(arm, &x, &m);
        if (contraction->own_points) add_cross(contraction->half, &apart, &m);
        cross(vec3_sub(arm, contraction->half), &t, &turned);
        add_cross(vec3_neg(contraction->omega_a), &turned, &m);
        const Rows back = {-lin.x, -lin.y, -lin.z};
        put_rows(&back, n, dGv);
        put_moment(&contraction->a->R, &m, n, dGv + 3 * n);
        dGv += 6 * n;
    }
    if (contraction->has_b) {
        Rows m = z, turned;
        Vec3 arm = vec3_sub(vec3_add(contraction->point, contraction->half), contraction->b->x);
        Vec3 rho = vec3_sub(rates->x_0, contraction->b->x);
        add_cross(rho, &y, &m);
        cross(arm, &t, &turned);
        add_cross(contraction->omega_b, &turned, &m);
        put_rows(&lin, n, dGv);
        put_moment(&contraction->b->R, &m, n, dGv + 3 * n);
    }
}
