// Rational Bezier curves and patches.
//
//   C(t) = sum B_i^n(s) w_i P_i / sum B_i^n(s) w_i,  s = (t - t0) / (t1 - t0)
//   B_i^n by the triangular recurrence; derivatives from lower degrees:
//   B' = n (B_{i-1}^{n-1} - B_i^{n-1}),  B'' = n (n-1) (B_{i-2}^{n-2} - 2 B_{i-1}^{n-2} +
//   B_i^{n-2}) quotient rule: p = A / w, p' = (A' - w' p) / w, p'' = (A'' - 2 w' p' - w'' p) / w
//
// Bounds. |C'| <= n (w_max / w_min)^2 max |P_{i+1} - P_i| (Floater 1992); with equal weights it is
// the hodograph's control polygon.
#include "geometry/kernels/bezier.h"

// b[0]: values, b[1], b[2]: first and second derivative with respect to s; n + 1 numbers each.
static void basis(int n, double s, double b[3][LASH_MAX_DEGREE + 1]) {
    double* v = b[0];
    double r = 1 - s;
    if (n == 3) { // by far the commonest
        double ss = s * s, rr = r * r, sr = s * r;
        v[0] = rr * r;
        v[1] = 3 * s * rr;
        v[2] = 3 * ss * r;
        v[3] = ss * s;
        b[1][0] = -3 * rr;
        b[1][1] = 3 * rr - 6 * sr;
        b[1][2] = 6 * sr - 3 * ss;
        b[1][3] = 3 * ss;
        b[2][0] = 6 * r;
        b[2][1] = 6 * s - 12 * r;
        b[2][2] = 6 * r - 12 * s;
        b[2][3] = 6 * s;
        return;
    }
    if (n == 1) { // extruded
        v[0] = r;
        v[1] = s;
        b[1][0] = -1;
        b[1][1] = 1;
        b[2][0] = b[2][1] = 0;
        return;
    }
    v[0] = 1;
    for (int i = 0; i <= n; ++i) b[1][i] = b[2][i] = 0;
    for (int k = 1; k <= n; ++k) {
        if (k == n - 1) { // v holds degree n - 2
            double c = (double)n * (n - 1);
            for (int i = 0; i <= n - 2; ++i) {
                b[2][i] += c * v[i];
                b[2][i + 1] -= 2 * c * v[i];
                b[2][i + 2] += c * v[i];
            }
        }
        if (k == n) { // degree n - 1
            for (int i = 0; i < n; ++i) {
                b[1][i] -= n * v[i];
                b[1][i + 1] += n * v[i];
            }
        }
        v[k] = s * v[k - 1];
        for (int i = k - 1; i > 0; --i) v[i] = s * v[i - 1] + r * v[i];
        v[0] *= r;
    }
}

static LashCurvePoint segment_point(const LashShape* shape, const LashSegment* segment, double t) {
    double b[3][LASH_MAX_DEGREE + 1], A[3][4] = {{0}};
    double k = 1 / (segment->t1 - segment->t0);
    int n = segment->degree;
    basis(n, (t - segment->t0) * k, b);
    const double* pole = shape->pole + 4 * (size_t)segment->first_pole;
    for (int i = 0; i <= n; ++i, pole += 4) {
        for (int j = 0; j < 3; ++j) {
            double w = b[j][i] * pole[3];
            A[j][0] += w * pole[0];
            A[j][1] += w * pole[1];
            A[j][2] += w * pole[2];
            A[j][3] += w;
        }
    }
    double w = 1 / A[0][3];
    LashCurvePoint c;
    c.p = vec3_scale(w, vec3(A[0][0], A[0][1], A[0][2]));
    c.d = vec3_scale(w, vec3_add_scaled(vec3(A[1][0], A[1][1], A[1][2]), -A[1][3], c.p));
    Vec3 dd = vec3_add_scaled(vec3(A[2][0], A[2][1], A[2][2]), -2 * A[1][3], c.d);
    c.dd = vec3_scale(w * k * k, vec3_add_scaled(dd, -A[2][3], c.p));
    c.d = vec3_scale(k, c.d);
    return c;
}

LashCurvePoint lash_edge_point(const LashShape* shape, const LashEdge* edge, double t) {
    LashCurvePoint c;
    if (edge->type == LASH_LINE) {
        c.p = vec3_add_scaled(edge->origin, t, edge->z);
        c.d = edge->z;
        c.dd = vec3_zero();
        return c;
    }
    if (edge->type == LASH_CIRCLE) {
        double x = edge->radius * cos(t), y = edge->radius * sin(t);
        Vec3 e = vec3_add(vec3_scale(x, edge->x), vec3_scale(y, edge->y));
        c.p = vec3_add(edge->origin, e);
        c.d = vec3_add(vec3_scale(-y, edge->x), vec3_scale(x, edge->y));
        c.dd = vec3_neg(e);
        return c;
    }
    const LashSegment* segment = shape->segment + edge->first_segment;
    int i = 0;
    while (i + 1 < edge->segments && t > segment[i].t1) ++i;
    return segment_point(shape, segment + i, t);
}

typedef double Two __attribute__((vector_size(16))); // two components at once: x, y or z, w

static inline Two two(double x) {
    return (Two){x, x};
}

// Sums over the poles for two components: A[0..5] = 1, u, v, uu, uv, vv of w P or (w z, w), in the
// patch's own [0, 1]^2. In halves, so that the sums stay in registers.
static inline void half_sums(const double* pole, int n, int m, int half,
                             double bu[3][LASH_MAX_DEGREE + 1], double bv[3][LASH_MAX_DEGREE + 1],
                             Two A[6]) {
    Two S0 = two(0), Su = S0, Sv = S0, Suu = S0, Suv = S0, Svv = S0;
    for (int j = 0; j <= m; ++j) {
        Two R0 = two(0), R1 = R0, R2 = R0;
        for (int i = 0; i <= n; ++i, pole += 4) {
            Two q = half == 0 ? (Two){pole[0], pole[1]} : (Two){pole[2], 1};
            q *= two(pole[3]);
            R0 += two(bu[0][i]) * q;
            R1 += two(bu[1][i]) * q;
            R2 += two(bu[2][i]) * q;
        }
        Two b0 = two(bv[0][j]), b1 = two(bv[1][j]), b2 = two(bv[2][j]);
        S0 += b0 * R0;
        Su += b0 * R1;
        Sv += b1 * R0;
        Suu += b0 * R2;
        Suv += b1 * R1;
        Svv += b2 * R0;
    }
    A[0] = S0;
    A[1] = Su;
    A[2] = Sv;
    A[3] = Suu;
    A[4] = Suv;
    A[5] = Svv;
}

static void patch_sums(const double* pole, int n, int m, double bu[3][LASH_MAX_DEGREE + 1],
                       double bv[3][LASH_MAX_DEGREE + 1], double A[6][4]) {
    Two a[2][6];
    if (n == 3 && m == 3) // by far the commonest: unrolled
    {
        half_sums(pole, 3, 3, 0, bu, bv, a[0]);
        half_sums(pole, 3, 3, 1, bu, bv, a[1]);
    } else if (n == 3 && m == 1) {
        half_sums(pole, 3, 1, 0, bu, bv, a[0]);
        half_sums(pole, 3, 1, 1, bu, bv, a[1]);
    } else {
        half_sums(pole, n, m, 0, bu, bv, a[0]);
        half_sums(pole, n, m, 1, bu, bv, a[1]);
    }
    for (int i = 0; i < 6; ++i) {
        A[i][0] = a[0][i][0];
        A[i][1] = a[0][i][1];
        A[i][2] = a[1][i][0];
        A[i][3] = a[1][i][1];
    }
}

LashSurfacePoint lash_patch_point(const LashShape* shape, const LashPatch* patch, double u,
                                  double v) {
    double bu[3][LASH_MAX_DEGREE + 1], bv[3][LASH_MAX_DEGREE + 1], A[6][4];
    double ku = 1 / (patch->u1 - patch->u0), kv = 1 / (patch->v1 - patch->v0);
    int n = patch->u_degree, m = patch->v_degree;
    basis(n, (u - patch->u0) * ku, bu);
    basis(m, (v - patch->v0) * kv, bv);
    patch_sums(shape->pole + 4 * (size_t)patch->first_pole, n, m, bu, bv, A);
    double w = 1 / A[0][3];
    LashSurfacePoint s;
    Vec3 q[6];
    for (int i = 0; i < 6; ++i) q[i] = vec3(A[i][0], A[i][1], A[i][2]);
    s.p = vec3_scale(w, q[0]);
    s.u = vec3_scale(w, vec3_add_scaled(q[1], -A[1][3], s.p));
    s.v = vec3_scale(w, vec3_add_scaled(q[2], -A[2][3], s.p));
    Vec3 uu = vec3_add_scaled(vec3_add_scaled(q[3], -2 * A[1][3], s.u), -A[3][3], s.p);
    Vec3 vv = vec3_add_scaled(vec3_add_scaled(q[5], -2 * A[2][3], s.v), -A[5][3], s.p);
    Vec3 uv = vec3_add_scaled(vec3_add_scaled(q[4], -A[1][3], s.v), -A[2][3], s.u);
    uv = vec3_add_scaled(uv, -A[4][3], s.p);
    s.uu = vec3_scale(w * ku * ku, uu);
    s.vv = vec3_scale(w * kv * kv, vv);
    s.uv = vec3_scale(w * ku * kv, uv);
    s.u = vec3_scale(ku, s.u);
    s.v = vec3_scale(kv, s.v);
    return s;
}

// A surface of revolution about z with the profile (rho, h)(v): derivatives in v up to the second.
static LashSurfacePoint revolved(const LashFace* face, double u, const double rho[3],
                                 const double h[3]) {
    double c = cos(u), s = sin(u);
    Vec3 e = vec3_add(vec3_scale(c, face->x), vec3_scale(s, face->y));
    Vec3 f = vec3_add(vec3_scale(-s, face->x), vec3_scale(c, face->y));
    LashSurfacePoint r;
    r.p = vec3_add_scaled(vec3_add_scaled(face->origin, rho[0], e), h[0], face->z);
    r.u = vec3_scale(rho[0], f);
    r.v = vec3_add_scaled(vec3_scale(rho[1], e), h[1], face->z);
    r.uu = vec3_scale(-rho[0], e);
    r.uv = vec3_scale(rho[1], f);
    r.vv = vec3_add_scaled(vec3_scale(rho[2], e), h[2], face->z);
    return r;
}

LashSurfacePoint lash_face_point(const LashShape* shape, const LashFace* face, double u, double v) {
    double r = face->radius;
    switch (face->type) {
        case LASH_PLANE: {
            LashSurfacePoint s = {{0}};
            s.p = vec3_add_scaled(vec3_add_scaled(face->origin, u, face->x), v, face->y);
            s.u = face->x;
            s.v = face->y;
            return s;
        }
        case LASH_CYLINDER:
            return revolved(face, u, (double[3]){r, 0, 0}, (double[3]){v, 1, 0});
        case LASH_CONE: {
            double sa = sin(face->half_angle), ca = cos(face->half_angle);
            return revolved(face, u, (double[3]){r + v * sa, sa, 0}, (double[3]){v * ca, ca, 0});
        }
        case LASH_SPHERE: {
            double c = cos(v), s = sin(v);
            return revolved(face, u, (double[3]){r * c, -r * s, -r * c},
                            (double[3]){r * s, r * c, -r * s});
        }
        case LASH_TORUS: {
            double c = face->radius2 * cos(v), s = face->radius2 * sin(v);
            return revolved(face, u, (double[3]){r + c, -s, -c}, (double[3]){s, c, -s});
        }
        case LASH_FREEFORM:
            break;
    }
    const LashPatch* patch = shape->patch + face->first_patch;
    int i = 0, j = 0;
    while (i + 1 < face->u_patches && u > patch[i].u1) ++i;
    while (j + 1 < face->v_patches && v > patch[(size_t)face->u_patches * (size_t)j].v1) ++j;
    return lash_patch_point(shape, patch + i + (size_t)face->u_patches * (size_t)j, u, v);
}

void lash_coedge_point(const LashShape* shape, const LashCoedge* coedge, double s, double uv[2]) {
    if (coedge->kind == LASH_LINE) {
        for (int i = 0; i < 2; ++i) uv[i] = coedge->a[i] + s * (coedge->b[i] - coedge->a[i]);
        return;
    }
    if (coedge->kind == LASH_CIRCLE) {
        double t = coedge->t0 + s * (coedge->t1 - coedge->t0);
        uv[0] = coedge->c[0] + coedge->r * cos(t);
        uv[1] = coedge->c[1] + coedge->r * sin(t);
        return;
    }
    double b[3][LASH_MAX_DEGREE + 1], A[3] = {0, 0, 0};
    basis(coedge->degree, s, b);
    const double* pole = shape->uv_pole + 3 * (size_t)coedge->first_pole;
    for (int i = 0; i <= coedge->degree; ++i, pole += 3) {
        double w = b[0][i] * pole[2];
        A[0] += w * pole[0];
        A[1] += w * pole[1];
        A[2] += w;
    }
    uv[0] = A[0] / A[2];
    uv[1] = A[1] / A[2];
}

void lash_plane_curve(const double* pole, int degree, double s, double d[3][2]) {
    double b[3][LASH_MAX_DEGREE + 1], A[3][3] = {{0}};
    basis(degree, s, b);
    for (int i = 0; i <= degree; ++i, pole += 3)
        for (int j = 0; j < 3; ++j) {
            double w = b[j][i] * pole[2];
            A[j][0] += w * pole[0];
            A[j][1] += w * pole[1];
            A[j][2] += w;
        }
    double w = 1 / A[0][2];
    for (int c = 0; c < 2; ++c) {
        d[0][c] = w * A[0][c];
        d[1][c] = w * (A[1][c] - A[1][2] * d[0][c]);
        d[2][c] = w * (A[2][c] - 2 * A[1][2] * d[1][c] - A[2][2] * d[0][c]);
    }
}

// max |P - Q| and the range of weights over pole pairs `step` poles apart.
static double speed(const double* pole, int count, int step, int row, int degree) {
    double largest = 0, low = INFINITY, high = 0;
    for (int i = 0; i < count; ++i) {
        low = fmin(low, pole[4 * i + 3]);
        high = fmax(high, pole[4 * i + 3]);
        bool last = step == 1 ? (i % row) == row - 1 : i + step >= count;
        if (last) continue;
        const double *p = pole + 4 * i, *q = p + 4 * step;
        largest = fmax(largest, vec3_distance(vec3(p[0], p[1], p[2]), vec3(q[0], q[1], q[2])));
    }
    return degree * largest * (high / low) * (high / low);
}

void lash_patch_speed(const LashShape* shape, const LashPatch* patch, double* u, double* v) {
    int nu = patch->u_degree + 1, nv = patch->v_degree + 1;
    const double* pole = shape->pole + 4 * (size_t)patch->first_pole;
    *u = speed(pole, nu * nv, 1, nu, patch->u_degree) / (patch->u1 - patch->u0);
    *v = speed(pole, nu * nv, nu, nu, patch->v_degree) / (patch->v1 - patch->v0);
}

double lash_segment_speed(const LashShape* shape, const LashSegment* segment) {
    int n = segment->degree + 1;
    const double* pole = shape->pole + 4 * (size_t)segment->first_pole;
    return speed(pole, n, 1, n, segment->degree) / (segment->t1 - segment->t0);
}
