// Free pairs: the systems of equations and Newton's method on them.
//
// Three systems, for the parameters x of the curve or surface:
//  S  against an elementary face with signed distance phi:  grad phi . P_i = 0
//  N  point, edge or surface a against a surface b:  r . S_u = r . S_v = 0,  N . a_i = 0,
//     r = pa - pb, N = S_u x S_v; regular through r = 0
//  E  point, line, circle, curve or surface a against an extruded surface b with the axis e and the
//     profile c: across e, where v does not count,  r . c' = 0,  N . a_i = 0,  N = c' x e.
//     An elementary face a is its skeleton here, with a tube around it (freeform_extruded.c)
//  C  curve against curve or point:  r . a' = 0,  r . b' = 0
// Newton with the exact Jacobian follows a root in 2-3 steps.
#include "geometry/kernels/freeform_internal.h"

#include <string.h>

enum { MAX_NEWTON = 16 };

// ---- systems ----------------------------------------------------------------------------------

int lash_free_parameters(const LashFeature* feature) {
    switch (feature->skeleton) {
        case LASH_SKELETON_POINT:
        case LASH_SKELETON_PLANE:
            return 0;
        case LASH_SKELETON_LINE:
        case LASH_SKELETON_CIRCLE:
        case LASH_SKELETON_CURVE:
            return 1;
        default:
            return 2;
    }
}

// Point and derivatives of a feature, as a surface point (u only for curves), own frame.
LashSurfacePoint lash_free_point(const LashFeature* feature, const double* t) {
    LashSurfacePoint s;
    memset(&s, 0, sizeof s);
    bool face = feature->kind == LASH_FEATURE_FACE;
    if (feature->skeleton == LASH_SKELETON_POINT) {
        s.p = feature->origin;
    } else if (face && feature->skeleton == LASH_SKELETON_LINE) {
        s.p = vec3_add_scaled(feature->origin, t[0], feature->z);
        s.u = feature->z;
    } else if (face && feature->skeleton == LASH_SKELETON_CIRCLE) {
        double c = feature->radius * cos(t[0]), d = feature->radius * sin(t[0]);
        Vec3 out = vec3_add(vec3_scale(c, feature->x), vec3_scale(d, feature->y));
        s.p = vec3_add(feature->origin, out);
        s.u = vec3_add(vec3_scale(-d, feature->x), vec3_scale(c, feature->y));
        s.uu = vec3_neg(out);
    } else if (feature->kind == LASH_FEATURE_EDGE) {
        LashCurvePoint c = lash_edge_point(feature->shape, feature->edge, t[0]);
        s.p = c.p;
        s.u = c.d;
        s.uu = c.dd;
    } else {
        s = lash_face_point(feature->shape, feature->face, t[0], t[1]);
    }
    return s;
}

static LashSurfacePoint place(const LashPlacement* placement, LashSurfacePoint s) {
    s.p = lash_place(placement, s.p);
    s.u = mat3_mul(placement->rot, s.u);
    s.v = mat3_mul(placement->rot, s.v);
    s.uu = mat3_mul(placement->rot, s.uu);
    s.uv = mat3_mul(placement->rot, s.uv);
    s.vv = mat3_mul(placement->rot, s.vv);
    return s;
}

static void evaluate(LashFreeProblem* problem, const double* x) {
    if (problem->mode == LASH_MODE_S) {
        problem->at[0] = place(&problem->place, lash_free_point(problem->P, x));
    } else {
        double profile[2] = {x[problem->na], 0};
        const LashFeature* b = problem->v->b;
        bool extruded = problem->mode == LASH_MODE_E;
        if (extruded) profile[1] = b->cells->middle;
        problem->at[0] = place(problem->v->b_a, lash_free_point(problem->v->a, x));
        problem->at[1] = lash_free_point(b, extruded ? profile : x + problem->na);
    }
    problem->evaluated = true;
    for (int i = 0; i < problem->n; ++i) problem->at_x[i] = x[i];
}

static void shift(LashSurfacePoint* point, int n, const double* d) {
    double x = n > 0 ? d[0] : 0, y = n > 1 ? d[1] : 0;
    Vec3 du = vec3_add(vec3_scale(x, point->uu), vec3_scale(y, point->uv));
    Vec3 dv = vec3_add(vec3_scale(x, point->uv), vec3_scale(y, point->vv));
    Vec3 u = vec3_add_scaled(point->u, 0.5, du), v = vec3_add_scaled(point->v, 0.5, dv);
    point->p = vec3_add_scaled(vec3_add_scaled(point->p, x, u), y, v);
    point->u = vec3_add(point->u, du);
    point->v = vec3_add(point->v, dv);
}

void lash_free_points(LashFreeProblem* problem, const double* x) {
    const double near = 1e-6; // of the range: errors of 1e-18 in the point, 1e-12 in the tangents
    double d[4] = {0, 0, 0, 0};
    bool taylor = problem->evaluated;
    for (int i = 0; i < problem->n && taylor; ++i) {
        double low, high, period = lash_free_range(problem, i, &low, &high);
        d[i] = x[i] - problem->at_x[i];
        taylor = fabs(d[i]) <= near * (period > 0 ? period : high - low);
    }
    if (!taylor) {
        evaluate(problem, x);
        return;
    }
    int na = problem->mode == LASH_MODE_S ? problem->n : problem->na;
    shift(&problem->at[0], na, d);
    if (problem->n > na) shift(&problem->at[1], problem->n - na, d + na);
    for (int i = 0; i < problem->n; ++i) problem->at_x[i] = x[i];
}

// Signed distance of X from the elementary face Q, its gradient, and the Hessian as k1 e1 e1' + k2
// e2 e2'.
double lash_free_distance(const LashFeature* Q, Vec3 X, Vec3* n, Vec3 e[2], double k[2]) {
    Vec3 w = vec3_sub(X, Q->origin);
    k[0] = k[1] = 0;
    e[0] = Q->x;
    e[1] = Q->y;
    if (Q->skeleton == LASH_SKELETON_PLANE) {
        *n = Q->z;
        return vec3_dot(w, Q->z);
    }
    if (Q->skeleton == LASH_SKELETON_POINT) {
        double d = fmax(vec3_norm(w), 1e-300);
        *n = vec3_scale(Q->side / d, w);
        vec3_basis(*n, &e[0], &e[1]);
        k[0] = k[1] = Q->side / d;
        return Q->side * (d - Q->tube);
    }
    double z = vec3_dot(w, Q->z);
    Vec3 r = lash_across(w, Q->z);
    double rho = fmax(vec3_norm(r), 1e-300);
    r = vec3_scale(1 / rho, r);
    e[0] = vec3_cross(Q->z, r);
    if (Q->skeleton == LASH_SKELETON_LINE) {
        *n = vec3_scale(Q->side, r);
        k[0] = Q->side / rho;
        return Q->side * (rho - Q->tube);
    }
    if (Q->skeleton == LASH_SKELETON_CONE) {
        *n = vec3_scale(Q->side, vec3_sub(vec3_scale(Q->cos_a, r), vec3_scale(Q->sin_a, Q->z)));
        k[0] = Q->side * Q->cos_a / rho;
        return Q->side * ((rho - Q->radius) * Q->cos_a - z * Q->sin_a);
    }
    Vec3 t = vec3_add_scaled(vec3_scale(rho - Q->radius, r), z, Q->z); // torus
    double d = fmax(vec3_norm(t), 1e-300);
    t = vec3_scale(1 / d, t);
    *n = vec3_scale(Q->side, t);
    k[0] = Q->side * vec3_dot(t, r) / rho;
    e[1] = vec3_cross(t, e[0]);
    k[1] = Q->side / d;
    return Q->side * (d - Q->tube);
}

static Vec3 system_S(const LashFreeProblem* problem, double F[4], double J[16]) {
    const LashSurfacePoint s = problem->at[0];
    Vec3 n, e[2], d[2] = {s.u, s.v};
    const Vec3* dd[4] = {&s.uu, &s.uv, &s.uv, &s.vv};
    double k[2];
    lash_free_distance(problem->Q, s.p, &n, e, k);
    for (int i = 0; i < problem->n; ++i) {
        F[i] = vec3_dot(n, d[i]);
        for (int j = 0; j < problem->n; ++j)
            J[i + 4 * j] = vec3_dot(n, *dd[i + 2 * j]) +
                           k[0] * vec3_dot(e[0], d[i]) * vec3_dot(e[0], d[j]) +
                           k[1] * vec3_dot(e[1], d[i]) * vec3_dot(e[1], d[j]);
    }
    return s.p;
}

static Vec3 system_N(const LashFreeProblem* problem, double F[4], double J[16]) {
    int na = problem->na;
    const LashSurfacePoint a = problem->at[0], b = problem->at[1];
    Vec3 r = vec3_sub(a.p, b.p), N = vec3_cross(b.u, b.v);
    Vec3 Nu = vec3_add(vec3_cross(b.uu, b.v), vec3_cross(b.u, b.uv));
    Vec3 Nv = vec3_add(vec3_cross(b.uv, b.v), vec3_cross(b.u, b.vv));
    Vec3 da[2] = {a.u, a.v}, db[2] = {b.u, b.v};
    const Vec3 *dda[4] = {&a.uu, &a.uv, &a.uv, &a.vv}, *ddb[4] = {&b.uu, &b.uv, &b.uv, &b.vv};
    for (int i = 0; i < 2; ++i) {
        F[i] = vec3_dot(r, db[i]);
        for (int j = 0; j < na; ++j) J[i + 4 * j] = vec3_dot(db[i], da[j]);
        for (int j = 0; j < 2; ++j)
            J[i + 4 * (na + j)] = vec3_dot(r, *ddb[i + 2 * j]) - vec3_dot(db[i], db[j]);
    }
    for (int i = 0; i < na; ++i) {
        F[2 + i] = vec3_dot(N, da[i]);
        for (int j = 0; j < na; ++j) J[2 + i + 4 * j] = vec3_dot(N, *dda[i + 2 * j]);
        J[2 + i + 4 * na] = vec3_dot(Nu, da[i]);
        J[2 + i + 4 * (na + 1)] = vec3_dot(Nv, da[i]);
    }
    return r;
}

static Vec3 system_C(const LashFreeProblem* problem, double F[4], double J[16]) {
    int na = problem->na;
    const LashSurfacePoint a = problem->at[0], b = problem->at[1];
    Vec3 r = vec3_sub(a.p, b.p);
    if (na == 1) {
        F[0] = vec3_dot(r, a.u);
        J[0] = vec3_dot(a.u, a.u) + vec3_dot(r, a.uu);
        J[4] = -vec3_dot(a.u, b.u);
    }
    F[na] = vec3_dot(r, b.u);
    if (na == 1) J[1] = vec3_dot(a.u, b.u);
    J[na + 4 * na] = vec3_dot(r, b.uu) - vec3_dot(b.u, b.u);
    return r;
}

Vec3 lash_free_system(LashFreeProblem* problem, const double* x, double F[4], double J[16]) {
    if (problem->mode == LASH_MODE_E) return free_flat_system(problem, x, F, J);
    evaluate(problem, x);
    switch (problem->mode) {
        case LASH_MODE_S:
            return system_S(problem, F, J);
        case LASH_MODE_N:
            return system_N(problem, F, J);
        case LASH_MODE_C:
            return system_C(problem, F, J);
        case LASH_MODE_E:
            break;
    }
    return vec3_zero();
}

// Solves J d = F (n <= 4, column stride 4) with rows scaled to 1; false when singular.
static inline bool solve_any(int n, double J[16], double F[4]) {
    for (int i = 0; i < n; ++i) {
        double s = 0;
        for (int j = 0; j < n; ++j)
            if (fabs(J[i + 4 * j]) > s) s = fabs(J[i + 4 * j]);
        if (!(s > 0)) return false;
        for (int j = 0; j < n; ++j) J[i + 4 * j] /= s;
        F[i] /= s;
    }
    for (int k = 0; k < n; ++k) {
        int p = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(J[i + 4 * k]) > fabs(J[p + 4 * k])) p = i;
        if (!(fabs(J[p + 4 * k]) > 1e-14)) return false;
        if (p != k) {
            for (int j = 0; j < n; ++j) {
                double t = J[k + 4 * j];
                J[k + 4 * j] = J[p + 4 * j];
                J[p + 4 * j] = t;
            }
            double t = F[k];
            F[k] = F[p];
            F[p] = t;
        }
        for (int i = k + 1; i < n; ++i) {
            double m = J[i + 4 * k] / J[k + 4 * k];
            for (int j = k + 1; j < n; ++j) J[i + 4 * j] -= m * J[k + 4 * j];
            F[i] -= m * F[k];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = k + 1; j < n; ++j) F[k] -= J[k + 4 * j] * F[j];
        F[k] /= J[k + 4 * k];
    }
    return true;
}

static bool solve(int n, double J[16], double F[4]) {
    return n == 2 ? solve_any(2, J, F) : solve_any(n, J, F); // unrolled for the commonest
}

// Range of parameter i of feature f: the trims decide about its ends. Returns its period, 0: none.
// Circles and surfaces of revolution go round without end; closed patches and curves are wrapped.
static double parameter_range(const LashFeature* feature, int i, double* low, double* high) {
    bool closed, free;
    if (feature->kind == LASH_FEATURE_FACE && feature->skeleton == LASH_SKELETON_LINE) { // its axis
        *low = feature->face->v0;
        *high = feature->face->v1;
        return 0;
    }
    if (feature->kind == LASH_FEATURE_FACE && feature->skeleton == LASH_SKELETON_CIRCLE) {
        *low = -INFINITY;
        *high = INFINITY;
        return 2 * LASH_PI;
    }
    if (feature->kind == LASH_FEATURE_EDGE) {
        *low = feature->t0;
        *high = feature->t1;
        free = feature->skeleton == LASH_SKELETON_CURVE;
        closed = free ? feature->edge->closed : feature->closed;
    } else {
        *low = i == 0 ? feature->face->u0 : feature->face->v0;
        *high = i == 0 ? feature->face->u1 : feature->face->v1;
        free = feature->skeleton == LASH_SKELETON_SURFACE;
        closed = i == 0 ? feature->face->u_closed : free && feature->face->v_closed;
    }
    if (!closed) return 0;
    if (free) return *high - *low;
    *low = -INFINITY;
    *high = INFINITY;
    return 2 * LASH_PI;
}

double lash_free_range(const LashFreeProblem* problem, int i, double* low, double* high) {
    if (problem->mode == LASH_MODE_S) return parameter_range(problem->P, i, low, high);
    if (i < problem->na) return parameter_range(problem->v->a, i, low, high);
    return parameter_range(problem->v->b, i - problem->na, low, high);
}

// Difference of two values of parameter i, as a share of its range or period.
double lash_free_parameter_distance(const LashFreeProblem* problem, int i, double x, double y) {
    double low, high, d = fabs(x - y), period = lash_free_range(problem, i, &low, &high);
    return period > 0 ? fabs(remainder(d, period)) / period : d / (high - low);
}

bool lash_free_newton(LashFreeProblem* problem, double x[4]) {
    enum { PATIENCE = 8 };     // steps against the ends of the range
    const double trust = 0.15; // longest step, of the range
    double low[4], high[4], period[4];
    for (int i = 0; i < problem->n; ++i) period[i] = lash_free_range(problem, i, &low[i], &high[i]);
    int outside = 0;
    double last = 0; // step before
    for (int k = 0; k < MAX_NEWTON; ++k) {
        double F[4], J[16] = {0};
        lash_free_system(problem, x, F, J);
        if (!solve(problem->n, J, F)) return false;
        double step = 0;
        bool clamped = false;
        for (int i = 0; i < problem->n; ++i) {
            double range = period[i] > 0 ? period[i] : high[i] - low[i];
            double d = F[i], most = trust * range;
            if (!isfinite(d)) return false;
            double share = fabs(d) / range;
            if (share > step) step = share;
            if (fabs(d) > most) {
                d = copysign(most, d);
                clamped = true;
            }
            double next = x[i] - d, margin = 1e-7 * range;
            if (period[i] > 0 && next < low[i]) next += period[i];
            if (period[i] > 0 && next > high[i]) next -= period[i];
            if (next < low[i] - margin) {
                next = low[i] - margin;
                clamped = true;
            }
            if (next > high[i] + margin) {
                next = high[i] + margin;
                clamped = true;
            }
            x[i] = next;
        }
        // quadratic: the next step would be C step^2, C = step / last^2 when it is not small by
        // luck
        double C = k == 0 ? 1e4 : fmax(step / (last * last), 5);
        if (step < 1e-6 && C * step * step < 1e-14 && !clamped) return true;
        last = step;
        outside = clamped ? outside + 1 : 0;
        if (outside > PATIENCE) return false;
    }
    return false;
}
