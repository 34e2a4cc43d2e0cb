// Elementary surfaces and curves: points, foot points, intersections that are lines or circles.
//
// Intersections. Two surfaces of revolution about one axis meet in circles about it, found in the
// meridian half plane (rho, h), where each is a line or a circle; two surfaces extruded along one
// direction meet in lines along it, found in the plane across. Both are the same planar problem,
// line or circle against line or circle. At tangency its discriminant is the square root of an
// error of rounding, so there the common point is taken as the foot of the center on the other
// curve.
#include "geometry/cad/surface.hpp"
#include "core/math3.h"

#include <algorithm>
#include <cmath>

namespace lash {

bool is_elementary(const Surface& s) {
    return s.type != LASH_FREEFORM;
}

void set_frame(Surface* surface, Vec3 z, Vec3 x_wanted) {
    surface->z = vec3_normalize(z);
    Vec3 x = vec3_add_scaled(x_wanted, -vec3_dot(x_wanted, surface->z), surface->z), y;
    if (vec3_norm(x) < 1e-6 * (1e-300 + vec3_norm(x_wanted)) || vec3_norm(x) == 0)
        vec3_basis(surface->z, &x, &y);
    surface->x = vec3_normalize(x);
    surface->y = vec3_cross(surface->z, surface->x);
}

Vec3 surface_point(const Surface& s, double u, double v) {
    Vec3 around = vec3_add(vec3_scale(cos(u), s.x), vec3_scale(sin(u), s.y));
    switch (s.type) {
        case LASH_PLANE:
            return vec3_add_scaled(vec3_add_scaled(s.origin, u, s.x), v, s.y);
        case LASH_CYLINDER:
            return vec3_add_scaled(vec3_add_scaled(s.origin, s.radius, around), v, s.z);
        case LASH_CONE:
            return vec3_add_scaled(
                vec3_add_scaled(s.origin, s.radius + v * sin(s.half_angle), around),
                v * cos(s.half_angle), s.z);
        case LASH_SPHERE:
            return vec3_add_scaled(vec3_add_scaled(s.origin, s.radius * cos(v), around),
                                   s.radius * sin(v), s.z);
        case LASH_TORUS:
            return vec3_add_scaled(vec3_add_scaled(s.origin, s.radius + s.radius2 * cos(v), around),
                                   s.radius2 * sin(v), s.z);
        default:
            return s.origin;
    }
}

void surface_uv(const Surface& s, Vec3 p, double* u, double* v) {
    Vec3 d = vec3_sub(p, s.origin);
    double a = vec3_dot(d, s.x), b = vec3_dot(d, s.y), h = vec3_dot(d, s.z), rho = hypot(a, b);
    *u = atan2(b, a);
    switch (s.type) {
        case LASH_PLANE:
            *u = a;
            *v = b;
            break;
        case LASH_CYLINDER:
            *v = h;
            break;
        case LASH_CONE:
            *v = (rho - s.radius) * sin(s.half_angle) + h * cos(s.half_angle);
            break;
        case LASH_SPHERE:
            *v = atan2(h, rho);
            break;
        default:
            *v = atan2(h, rho - s.radius);
            break;
    }
}

double surface_distance(const Surface& s, Vec3 p, Vec3* normal) {
    Vec3 d = vec3_sub(p, s.origin);
    double h = vec3_dot(d, s.z);
    Vec3 across = vec3_add_scaled(d, -h, s.z);
    double rho = vec3_norm(across);
    Vec3 out = rho > 0 ? vec3_scale(1 / rho, across) : s.x;
    switch (s.type) {
        case LASH_PLANE:
            *normal = s.z;
            return h;
        case LASH_CYLINDER:
            *normal = out;
            return rho - s.radius;
        case LASH_CONE:
            *normal = vec3_add_scaled(vec3_scale(cos(s.half_angle), out), -sin(s.half_angle), s.z);
            return (rho - s.radius) * cos(s.half_angle) - h * sin(s.half_angle);
        case LASH_SPHERE: {
            double r = vec3_norm(d);
            *normal = r > 0 ? vec3_scale(1 / r, d) : s.z;
            return r - s.radius;
        }
        default: { // torus
            double r = hypot(rho - s.radius, h);
            *normal =
                r > 0 ? vec3_add_scaled(vec3_scale((rho - s.radius) / r, out), h / r, s.z) : out;
            return r - s.radius2;
        }
    }
}

// Bernstein polynomials of degree n at t, and their derivatives.
static void bernstein(int n, double t, double* B, double* dB) {
    B[0] = 1;
    for (int k = 1; k <= n; ++k) {
        if (k == n)
            for (int i = 0; i <= n; ++i) dB[i] = n * ((i > 0 ? B[i - 1] : 0) - (i < n ? B[i] : 0));
        double left = 0;
        for (int i = 0; i < k; ++i) {
            double b = B[i];
            B[i] = left + (1 - t) * b;
            left = t * b;
        }
        B[k] = left;
    }
    if (n == 0) dB[0] = 0;
}

void patch_row(const Patch& p, double u, PatchRow* row) {
    double B[MAX_ORDER], dB[MAX_ORDER], length = p.u1 - p.u0;
    bernstein(p.u_degree, (u - p.u0) / length, B, dB);
    row->degree = p.v_degree;
    row->v0 = p.v0;
    row->length = p.v1 - p.v0;
    const Pole* pole = p.poles.data();
    for (int j = 0; j <= p.v_degree; ++j) {
        double R[4] = {0}, D[4] = {0};
        for (int i = 0; i <= p.u_degree; ++i, ++pole) {
            const double* q = pole->data();
            double b = B[i] * q[3], d = dB[i] * q[3];
            for (int c = 0; c < 3; ++c) {
                R[c] += b * q[c];
                D[c] += d * q[c];
            }
            R[3] += b;
            D[3] += d;
        }
        for (int c = 0; c < 4; ++c) {
            row->point[j][c] = R[c];
            row->slope[j][c] = D[c] / length;
        }
    }
}

Vec3 row_point(const PatchRow& row, double v, Vec3* du, Vec3* dv) {
    double B[MAX_ORDER], dB[MAX_ORDER], P[4] = {0}, Pu[4] = {0}, Pv[4] = {0};
    bernstein(row.degree, (v - row.v0) / row.length, B, dB);
    for (int j = 0; j <= row.degree; ++j)
        for (int c = 0; c < 4; ++c) {
            P[c] += B[j] * row.point[j][c];
            Pu[c] += B[j] * row.slope[j][c];
            Pv[c] += dB[j] * row.point[j][c];
        }
    for (int c = 0; c < 4; ++c) Pv[c] /= row.length;
    Vec3 point = vec3_scale(1 / P[3], vec3(P[0], P[1], P[2]));
    if (du != nullptr)
        *du = vec3_scale(1 / P[3], vec3_add_scaled(vec3(Pu[0], Pu[1], Pu[2]), -Pu[3], point));
    if (dv != nullptr)
        *dv = vec3_scale(1 / P[3], vec3_add_scaled(vec3(Pv[0], Pv[1], Pv[2]), -Pv[3], point));
    return point;
}

Vec3 patch_point(const Patch& p, double u, double v, Vec3* du, Vec3* dv) {
    PatchRow row;
    patch_row(p, u, &row);
    return row_point(row, v, du, dv);
}

Vec3 freeform_point(const Surface& s, double u, double v, Vec3* normal) {
    int i = 0, j = 0;
    while (i + 1 < s.u_patches && u > s.patches[i].u1) ++i;
    while (j + 1 < s.v_patches && v > s.patches[j * s.u_patches].v1) ++j;
    const Patch& p = s.patches[i + j * s.u_patches];
    u = std::clamp(u, p.u0, p.u1);
    v = std::clamp(v, p.v0, p.v1);
    Vec3 du, dv, point = patch_point(p, u, v, &du, &dv), n = vec3_cross(du, dv);
    double limit = 1e-9 * vec3_norm(du) * vec3_norm(dv);
    if (vec3_norm(n) <= limit) { // a pole of the patch: the normal a little inside
        double ui = u + 1e-4 * (0.5 * (p.u0 + p.u1) - u), vi = v + 1e-4 * (0.5 * (p.v0 + p.v1) - v);
        patch_point(p, ui, vi, &du, &dv);
        n = vec3_cross(du, dv);
    }
    *normal = vec3_norm(n) > 0 ? vec3_normalize(n) : vec3(0, 0, 1);
    return point;
}

Vec3 curve_point(const Curve& c, double t, Vec3* tangent) {
    if (c.type == LASH_LINE) {
        if (tangent != nullptr) *tangent = c.z;
        return vec3_add_scaled(c.origin, t, c.z);
    }
    if (c.type == LASH_CIRCLE) {
        double co = c.radius * cos(t), si = c.radius * sin(t);
        if (tangent != nullptr) *tangent = vec3_add(vec3_scale(-si, c.x), vec3_scale(co, c.y));
        return vec3_add_scaled(vec3_add_scaled(c.origin, co, c.x), si, c.y);
    }
    size_t k = 0;
    while (k + 1 < c.segments.size() && t > c.segments[k].t1) ++k;
    const Segment& g = c.segments[k];
    int n = (int)g.poles.size() - 1;
    double B[MAX_ORDER], dB[MAX_ORDER], P[4] = {0}, D[4] = {0}, length = g.t1 - g.t0;
    bernstein(n, (t - g.t0) / length, B, dB);
    for (int i = 0; i <= n; ++i)
        for (int k4 = 0; k4 < 4; ++k4) {
            double q = k4 < 3 ? g.poles[i][3] * g.poles[i][k4] : g.poles[i][3];
            P[k4] += B[i] * q;
            D[k4] += dB[i] * q / length;
        }
    Vec3 point = vec3_scale(1 / P[3], vec3(P[0], P[1], P[2]));
    if (tangent != nullptr)
        *tangent = vec3_scale(1 / P[3], vec3_add_scaled(vec3(D[0], D[1], D[2]), -D[3], point));
    return point;
}

double curve_parameter(const Curve& c, Vec3 p) {
    Vec3 d = vec3_sub(p, c.origin);
    if (c.type == LASH_LINE) return vec3_dot(d, c.z);
    return atan2(vec3_dot(d, c.y), vec3_dot(d, c.x));
}

// Least-length solution of the n <= 4 equations g_i . s = -f_i by Gram-Schmidt; rows that depend on
// the others are left out.
static Vec3 least_step(const Vec3* g, const double* f, int n, bool* full) {
    Vec3 e[4], step = vec3_zero();
    int rank = 0;
    for (int i = 0; i < n && rank < 3; ++i) {
        Vec3 q = g[i];
        for (int k = 0; k < rank; ++k) q = vec3_add_scaled(q, -vec3_dot(q, e[k]), e[k]);
        double length = vec3_norm(q);
        if (length < 1e-4) { // parallel: tangent surfaces, or one more through the same line
            if (n == 2) *full = false;
            continue;
        }
        q = vec3_scale(1 / length, q);
        step = vec3_add_scaled(step, (-f[i] - vec3_dot(g[i], step)) / length, q);
        e[rank++] = q;
    }
    return step;
}

bool project_to_all(const Surface* const* surfaces, int count, Vec3* p, double size) {
    Vec3 q = *p, g[4];
    double f[4];
    for (int iteration = 0; iteration < 30; ++iteration) {
        bool full = true;
        for (int i = 0; i < count; ++i) f[i] = surface_distance(*surfaces[i], q, &g[i]);
        Vec3 step = least_step(g, f, count, &full);
        if (!full) return false;
        q = vec3_add(q, step);
        if (vec3_norm(step) <= 4e-16 * (size + vec3_norm(q))) break;
        if (iteration == 29 && vec3_norm(step) > 1e-12 * size) return false;
    }
    *p = q;
    return true;
}

// A line (radius < 0: through c along d, |d| = 1) or a circle in a plane.
struct Planar {
    double c[2], d[2], radius;
};

// The common point of two planar curves nearest to near[]. tolerance: below it they are tangent.
static bool planar_meet(const Planar& a, const Planar& b, const double near[2], double tolerance,
                        double result[2]) {
    if (a.radius < 0 && b.radius < 0) {
        double det = a.d[0] * b.d[1] - a.d[1] * b.d[0];
        if (fabs(det) < 1e-6) return false;
        double s = ((b.c[0] - a.c[0]) * b.d[1] - (b.c[1] - a.c[1]) * b.d[0]) / det;
        result[0] = a.c[0] + s * a.d[0];
        result[1] = a.c[1] + s * a.d[1];
        return true;
    }
    const Planar &circle = a.radius < 0 ? b : a, &other = a.radius < 0 ? a : b;
    double foot[2], across[2], half2; // foot of the circle's center; half chord squared
    if (other.radius < 0) {
        double s =
            (circle.c[0] - other.c[0]) * other.d[0] + (circle.c[1] - other.c[1]) * other.d[1];
        for (int i = 0; i < 2; ++i) {
            foot[i] = other.c[i] + s * other.d[i];
            across[i] = other.d[i];
        }
        double off = hypot(foot[0] - circle.c[0], foot[1] - circle.c[1]);
        half2 = (circle.radius - off) * (circle.radius + off);
        if (fabs(circle.radius - off) <= tolerance) half2 = 0;
    } else {
        double e[2] = {other.c[0] - circle.c[0], other.c[1] - circle.c[1]}, d = hypot(e[0], e[1]);
        if (d < 1e-9 * (circle.radius + other.radius)) return false;
        double r = circle.radius, q = other.radius, s = 0.5 * (d + (r - q) * (r + q) / d);
        half2 = (r - s) * (r + s);
        bool touch = fabs(d - r - q) <= tolerance || fabs(d - fabs(r - q)) <= tolerance;
        if (touch) {
            half2 = 0;
            s = s > 0 ? r : -r;
        }
        for (int i = 0; i < 2; ++i) foot[i] = circle.c[i] + s * e[i] / d;
        across[0] = -e[1] / d;
        across[1] = e[0] / d;
    }
    if (half2 < 0) return false;
    double h = sqrt(half2);
    double side = (near[0] - foot[0]) * across[0] + (near[1] - foot[1]) * across[1];
    for (int i = 0; i < 2; ++i) result[i] = foot[i] + (side < 0 ? -h : h) * across[i];
    return true;
}

static const double angle_tolerance = 1e-6; // [rad]; CAD writes directions with 6 to 15 digits

static bool parallel(Vec3 a, Vec3 b) {
    return vec3_norm(vec3_cross(a, b)) < angle_tolerance;
}

// Meridian of s in the half plane (rho, h) of the axis (o, z), when s turns about it.
static bool meridian(const Surface& s, Vec3 o, Vec3 z, double tolerance, Planar* planar) {
    Vec3 d = vec3_sub(s.origin, o);
    double h = vec3_dot(d, z), off = vec3_norm(vec3_add_scaled(d, -h, z));
    double sign = vec3_dot(s.z, z) < 0 ? -1 : 1;
    if (s.type == LASH_PLANE) {
        *planar = {{0, h}, {1, 0}, -1};
        return parallel(s.z, z);
    }
    if (off > tolerance || (s.type != LASH_SPHERE && !parallel(s.z, z))) return false;
    if (s.type == LASH_CYLINDER) *planar = {{s.radius, h}, {0, 1}, -1};
    if (s.type == LASH_CONE)
        *planar = {{s.radius, h}, {sin(s.half_angle), sign * cos(s.half_angle)}, -1};
    if (s.type == LASH_SPHERE) *planar = {{0, h}, {0, 0}, s.radius};
    if (s.type == LASH_TORUS) *planar = {{s.radius, h}, {0, 0}, s.radius2};
    return true;
}

// A common axis of revolution of a and b, if any.
static bool common_axis(const Surface& a, const Surface& b, Vec3* o, Vec3* z) {
    const Surface* with_axis = nullptr;
    for (const Surface* surface : {&a, &b})
        if (surface->type == LASH_CYLINDER || surface->type == LASH_CONE ||
            surface->type == LASH_TORUS)
            with_axis = surface;
    if (with_axis != nullptr) {
        *o = with_axis->origin;
        *z = with_axis->z;
        return true;
    }
    if (a.type == LASH_SPHERE && b.type == LASH_SPHERE) {
        *o = a.origin;
        *z = vec3_sub(b.origin, a.origin);
        if (vec3_norm(*z) == 0) return false;
        *z = vec3_normalize(*z);
        return true;
    }
    if (a.type == LASH_PLANE && b.type == LASH_PLANE) return false;
    *o = a.type == LASH_SPHERE ? a.origin : b.origin;
    *z = a.type == LASH_SPHERE ? b.z : a.z;
    return true;
}

static bool meet_coaxial(const Surface& a, const Surface& b, Vec3 p, double tolerance,
                         Curve* curve) {
    Vec3 o, z;
    Planar m, n;
    if (!common_axis(a, b, &o, &z) || !meridian(a, o, z, tolerance, &m) ||
        !meridian(b, o, z, tolerance, &n))
        return false;
    Vec3 d = vec3_sub(p, o);
    double h = vec3_dot(d, z), near[2] = {vec3_norm(vec3_add_scaled(d, -h, z)), h}, at[2];
    if (!planar_meet(m, n, near, tolerance, at) || at[0] <= tolerance) return false;
    curve->type = LASH_CIRCLE;
    curve->origin = vec3_add_scaled(o, at[1], z);
    curve->radius = at[0];
    curve->z = z;
    curve->x = vec3_normalize(vec3_add_scaled(d, -h, z));
    return true;
}

// Cross-section of s in the plane (x, y) across the direction z, when s is extruded along it.
static bool cross_section(const Surface& s, Vec3 x, Vec3 y, Vec3 z, Planar* planar) {
    planar->c[0] = vec3_dot(s.origin, x);
    planar->c[1] = vec3_dot(s.origin, y);
    if (s.type == LASH_CYLINDER) {
        planar->radius = s.radius;
        return parallel(s.z, z);
    }
    if (s.type != LASH_PLANE || fabs(vec3_dot(s.z, z)) > angle_tolerance) return false;
    Vec3 d = vec3_normalize(vec3_cross(z, s.z));
    planar->d[0] = vec3_dot(d, x);
    planar->d[1] = vec3_dot(d, y);
    planar->radius = -1;
    return true;
}

static bool meet_extruded(const Surface& a, const Surface& b, Vec3 p, double tolerance,
                          Curve* curve) {
    Vec3 x, y, z = a.type == LASH_CYLINDER ? a.z : b.z;
    if (a.type == LASH_PLANE && b.type == LASH_PLANE) {
        z = vec3_cross(a.z, b.z);
        if (vec3_norm(z) < angle_tolerance) return false;
        z = vec3_normalize(z);
    }
    Planar m, n;
    vec3_basis(z, &x, &y);
    if (!cross_section(a, x, y, z, &m) || !cross_section(b, x, y, z, &n)) return false;
    double near[2] = {vec3_dot(p, x), vec3_dot(p, y)}, at[2];
    if (!planar_meet(m, n, near, tolerance, at)) return false;
    curve->type = LASH_LINE;
    curve->origin =
        vec3_add_scaled(vec3_add(vec3_scale(at[0], x), vec3_scale(at[1], y)), vec3_dot(p, z), z);
    curve->z = z;
    vec3_basis(z, &curve->x, &curve->y);
    return true;
}

// A plane through the axis cuts out the meridian itself.
static bool meet_meridian(const Surface& a, const Surface& b, Vec3 p, double tolerance,
                          Curve* curve) {
    const Surface &plane = a.type == LASH_PLANE ? a : b, &s = a.type == LASH_PLANE ? b : a;
    if (plane.type != LASH_PLANE || (s.type != LASH_CONE && s.type != LASH_TORUS)) return false;
    if (fabs(vec3_dot(plane.z, s.z)) > angle_tolerance ||
        fabs(vec3_dot(vec3_sub(s.origin, plane.origin), plane.z)) > tolerance)
        return false;
    Vec3 out = vec3_normalize(vec3_cross(plane.z, s.z));
    double side = vec3_dot(vec3_sub(p, s.origin), out);
    if (side < 0) out = vec3_neg(out);
    if (s.type == LASH_CONE) {
        curve->type = LASH_LINE;
        curve->z = vec3_add(vec3_scale(sin(s.half_angle), out), vec3_scale(cos(s.half_angle), s.z));
        Vec3 o = vec3_add_scaled(s.origin, s.radius, out);
        curve->origin = vec3_add_scaled(o, vec3_dot(vec3_sub(p, o), curve->z), curve->z);
        vec3_basis(curve->z, &curve->x, &curve->y);
        return true;
    }
    curve->type = LASH_CIRCLE;
    curve->origin = vec3_add_scaled(s.origin, s.radius, out);
    curve->radius = s.radius2;
    curve->z = vec3_cross(out, s.z);
    curve->x = out;
    return true;
}

static double curve_distance(const Curve& c, Vec3 p) {
    return vec3_distance(p, curve_point(c, curve_parameter(c, p), nullptr));
}

bool intersection_curve(const Surface& a, const Surface& b, const std::vector<Vec3>& points,
                        double tolerance, Curve* curve) {
    if (!is_elementary(a) || !is_elementary(b) || points.size() < 3) return false;
    Vec3 p = points[points.size() / 2];
    Curve c;
    double snap = tolerance;
    if (!meet_coaxial(a, b, p, snap, &c) && !meet_extruded(a, b, p, snap, &c) &&
        !meet_meridian(a, b, p, snap, &c))
        return false;
    if (c.type == LASH_CIRCLE) c.y = vec3_cross(c.z, c.x);
    for (Vec3 q : points)
        if (curve_distance(c, q) > 4 * tolerance) return false;
    Vec3 forward = vec3_sub(points[1], points[0]), tangent;
    curve_point(c, curve_parameter(c, points[0]), &tangent);
    if (vec3_dot(tangent, forward) < 0) {
        c.z = vec3_neg(c.z);
        c.type == LASH_CIRCLE ? c.y = vec3_neg(c.y) : c.x = vec3_neg(c.x);
    }
    *curve = c;
    return true;
}

LashBox empty_box() {
    return {vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), vec3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL)};
}

void grow_box(LashBox* box, Vec3 p) {
    box->low = vec3(fmin(box->low.x, p.x), fmin(box->low.y, p.y), fmin(box->low.z, p.z));
    box->high = vec3(fmax(box->high.x, p.x), fmax(box->high.y, p.y), fmax(box->high.z, p.z));
}

void grow_box(LashBox* box, const LashBox& other) {
    if (other.low.x > other.high.x) return;
    grow_box(box, other.low);
    grow_box(box, other.high);
}

LashBox curve_box(const Curve& c) {
    LashBox box = empty_box();
    if (c.type == LASH_FREE_CURVE) {
        for (const Segment& g : c.segments)
            for (const Pole& p : g.poles) grow_box(&box, vec3(p[0], p[1], p[2]));
        return box;
    }
    grow_box(&box, curve_point(c, c.t0, nullptr));
    grow_box(&box, curve_point(c, c.t1, nullptr));
    if (c.type == LASH_LINE) return box;
    const double x[3] = {c.x.x, c.x.y, c.x.z}, y[3] = {c.y.x, c.y.y, c.y.z};
    for (int i = 0; i < 3; ++i) { // extremes of coordinate i at tan t = y_i / x_i
        double t = atan2(y[i], x[i]);
        for (int k = -4; k <= 4; ++k)
            if (t + k * LASH_PI > c.t0 && t + k * LASH_PI < c.t1)
                grow_box(&box, curve_point(c, t + k * LASH_PI, nullptr));
    }
    return box;
}

const std::vector<double>& fit_nodes() {
    static const std::vector<double> nodes = [] {
        std::vector<double> t;
        for (int i = 0; i <= FIT_DEGREE; ++i)
            t.push_back(0.5 - 0.5 * cos(LASH_PI * i / FIT_DEGREE));
        t.front() = 0;
        t.back() = 1;
        return t;
    }();
    return nodes;
}

// Inverse of B_j(node_i), by elimination with pivoting in extended precision.
static std::vector<long double> inverse_bernstein() {
    const int n = FIT_DEGREE + 1;
    std::vector<long double> A(n * 2 * n, 0);
    for (int i = 0; i < n; ++i) {
        double B[MAX_ORDER], dB[MAX_ORDER];
        bernstein(FIT_DEGREE, fit_nodes()[i], B, dB);
        for (int j = 0; j < n; ++j) A[i * 2 * n + j] = B[j];
        A[i * 2 * n + n + i] = 1;
    }
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k; i < n; ++i)
            if (fabsl(A[i * 2 * n + k]) > fabsl(A[best * 2 * n + k])) best = i;
        for (int j = 0; j < 2 * n; ++j) std::swap(A[k * 2 * n + j], A[best * 2 * n + j]);
        for (int i = 0; i < n; ++i) {
            if (i == k) continue;
            long double f = A[i * 2 * n + k] / A[k * 2 * n + k];
            for (int j = k; j < 2 * n; ++j) A[i * 2 * n + j] -= f * A[k * 2 * n + j];
        }
    }
    std::vector<long double> inverse(n * n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) inverse[i * n + j] = A[i * 2 * n + n + j] / A[i * 2 * n + i];
    return inverse;
}

std::vector<double> fit_bezier(const std::vector<double>& values) {
    static const std::vector<long double> inverse = inverse_bernstein();
    const int n = FIT_DEGREE + 1;
    std::vector<double> c(n);
    for (int i = 0; i < n; ++i) {
        long double sum = 0;
        for (int j = 0; j < n; ++j) sum += inverse[i * n + j] * values[j];
        c[i] = (double)sum;
    }
    c[0] = values[0];
    c[n - 1] = values[n - 1];
    return c;
}

} // namespace lash
