// Point in trimmed face.
//
// The loops are closed chains in the (u, v) plane. A ray from the point towards +v crosses them an
// odd number of times when the point is inside (Jordan); seams of closed surfaces run along v, are
// parallel to the ray and need no special case. A half-open rule (u_from <= u < u_to) counts a
// crossing at a common end once. Lines and circles are exact; rational Bezier pieces are cut in
// halves until their control points (a convex hull, weights > 0) lie on one side of the ray.
//
// Before that the distance to each piece is compared with the tolerance, in lengths on the surface:
// du and dv are scaled by the lengths of dS/du and dS/dv at the point.
//
// On a plane that distance is a true one: as long as a point moves by less, no rim is crossed and
// the answer stays. On a cylinder it is one of the surface unrolled: points of it a chord d < r/4
// apart are at most asin(d/r) r < 1.02 d apart there (r 5 % too small: 1.07 d). Its seams count as
// rims here.
#include "geometry/kernels/trim.h"

#include "geometry/kernels/bezier.h"

typedef struct RayCast {
    double u, v;      // the point
    double hu, hv;    // metres per unit of u and v
    double tolerance; // [m]
    double near2;     // no piece is nearer than the root of this [m^2]
    int crossings;
    bool border;
} RayCast;

static void keep_nearest(RayCast* ray, double distance2) {
    if (distance2 < ray->near2) ray->near2 = distance2;
}

static double wrap(double t, double low) { // into [low, low + 2 pi)
    double s = t - low;
    if (s < 0) s += 2 * LASH_PI;
    if (s >= 2 * LASH_PI) s -= 2 * LASH_PI;
    if (s < 0 || s >= 2 * LASH_PI) s -= 2 * LASH_PI * floor(s / (2 * LASH_PI));
    return low + s;
}

// Like wrap, but a point just below low stays there when the region is not closed.
static double wrap_into(double t, double low, double high) {
    double s = wrap(t, low);
    if (s > high && s - high > low + 2 * LASH_PI - s) s -= 2 * LASH_PI;
    return s;
}

void lash_face_parameters(const LashFace* face, Vec3 p, double* u, double* v) {
    Vec3 w = vec3_sub(p, face->origin);
    double x = vec3_dot(w, face->x), y = vec3_dot(w, face->y), z = vec3_dot(w, face->z);
    if (face->type == LASH_PLANE) {
        *u = x;
        *v = y;
        return;
    }
    *u = wrap_into(atan2(y, x), face->u0, face->u1);
    double rho = sqrt(x * x + y * y);
    switch (face->type) {
        case LASH_CYLINDER:
            *v = z;
            break;
        case LASH_CONE: {
            double s = sin(face->half_angle), c = cos(face->half_angle);
            *v = (rho - face->radius) * s + z * c;
            break;
        }
        case LASH_SPHERE:
            *v = atan2(z, rho);
            break;
        case LASH_TORUS:
            *v = wrap_into(atan2(z, rho - face->radius), face->v0, face->v1);
            break;
        default:
            *v = z;
            break;
    }
}

static Vec3 radial(const LashFace* face, Vec3 w, double* rho, double* z) {
    *z = vec3_dot(w, face->z);
    Vec3 e = vec3_add_scaled(w, -*z, face->z);
    *rho = vec3_norm(e);
    return *rho > 0 ? vec3_scale(1 / *rho, e) : face->x;
}

Vec3 lash_face_normal(const LashFace* face, Vec3 p) {
    Vec3 w = vec3_sub(p, face->origin), n = face->z;
    double rho, z;
    if (face->type == LASH_SPHERE) {
        double d = vec3_norm(w);
        return vec3_scale(d > 0 ? face->side / d : face->side, d > 0 ? w : face->z);
    }
    if (face->type != LASH_PLANE) {
        n = radial(face, w, &rho, &z);
        if (face->type == LASH_CONE) {
            n = vec3_sub(vec3_scale(cos(face->half_angle), n),
                         vec3_scale(sin(face->half_angle), face->z));
        } else if (face->type == LASH_TORUS) {
            Vec3 t = vec3_add_scaled(vec3_scale(rho - face->radius, n), z, face->z);
            double d = vec3_norm(t);
            n = d > 0 ? vec3_scale(1 / d, t) : n;
        }
    }
    return vec3_scale(face->side, n);
}

double lash_face_distance(const LashFace* face, Vec3 p) {
    Vec3 w = vec3_sub(p, face->origin);
    double rho, z, d = 0;
    switch (face->type) {
        case LASH_PLANE:
            d = vec3_dot(w, face->z);
            break;
        case LASH_SPHERE:
            d = vec3_norm(w) - face->radius;
            break;
        case LASH_CYLINDER:
            radial(face, w, &rho, &z);
            d = rho - face->radius;
            break;
        case LASH_CONE:
            radial(face, w, &rho, &z);
            d = (rho - face->radius) * cos(face->half_angle) - z * sin(face->half_angle);
            break;
        case LASH_TORUS:
            radial(face, w, &rho, &z);
            d = sqrt((rho - face->radius) * (rho - face->radius) + z * z) - face->radius2;
            break;
        case LASH_FREEFORM:
            break;
    }
    return face->side * d;
}

// Lengths of dS/du and dS/dv at (u, v).
static void metric(const LashShape* shape, const LashFace* face, double u, double v, double* hu,
                   double* hv) {
    switch (face->type) {
        case LASH_PLANE:
            *hu = *hv = 1;
            return;
        case LASH_CYLINDER:
            *hu = face->radius;
            *hv = 1;
            return;
        case LASH_CONE:
            *hu = fabs(face->radius + v * sin(face->half_angle));
            *hv = 1;
            return;
        case LASH_SPHERE:
            *hu = face->radius * fabs(cos(v));
            *hv = face->radius;
            return;
        case LASH_TORUS:
            *hu = fabs(face->radius + face->radius2 * cos(v));
            *hv = face->radius2;
            return;
        case LASH_FREEFORM:
            break;
    }
    LashSurfacePoint s = lash_face_point(shape, face, u, v);
    *hu = vec3_norm(s.u);
    *hv = vec3_norm(s.v);
}

static void cast_line(RayCast* ray, const double a[2], const double b[2]) {
    double au = (a[0] - ray->u) * ray->hu, av = (a[1] - ray->v) * ray->hv;
    double bu = (b[0] - ray->u) * ray->hu, bv = (b[1] - ray->v) * ray->hv;
    double du = bu - au, dv = bv - av, l = du * du + dv * dv;
    double s = l > 0 ? -(au * du + av * dv) / l : 0;
    s = within(s, 0, 1);
    double eu = au + s * du, ev = av + s * dv, distance2 = eu * eu + ev * ev;
    if (distance2 <= ray->tolerance * ray->tolerance) ray->border = true;
    keep_nearest(ray, distance2);
    bool up = a[0] <= ray->u && ray->u < b[0], down = b[0] <= ray->u && ray->u < a[0];
    if (!up && !down) return;
    double v = a[1] + (ray->u - a[0]) / (b[0] - a[0]) * (b[1] - a[1]);
    if (v > ray->v) ++ray->crossings;
}

// A circle is cut into pieces that are monotone in u, each crossed at most once.
static void cast_circle(RayCast* ray, const LashCoedge* coedge) {
    double t0 = fmin(coedge->t0, coedge->t1), t1 = fmax(coedge->t0, coedge->t1);
    double du = ray->u - coedge->c[0], dv = ray->v - coedge->c[1];
    double scale = fmin(ray->hu, ray->hv); // conservative where hu != hv: BORDER is only a flag
    double off = fabs(sqrt(du * du + dv * dv) - coedge->r) * scale;
    keep_nearest(ray, off * off); // of the whole circle
    if (off <= ray->tolerance) {  // else its ends are farther, too
        if (wrap(atan2(dv, du), t0) <= t1) ray->border = true;
        for (int i = 0; i < 2; ++i) {
            double end = i == 0 ? t0 : t1;
            double eu = (coedge->c[0] + coedge->r * cos(end) - ray->u) * ray->hu;
            double ev = (coedge->c[1] + coedge->r * sin(end) - ray->v) * ray->hv;
            if (eu * eu + ev * ev <= ray->tolerance * ray->tolerance) ray->border = true;
        }
    }
    // all of it beside the ray, or below the point
    if (fabs(du) > coedge->r * (1 + 1e-12) || dv > coedge->r * (1 + 1e-12)) return;
    double from = t0;
    for (double k = floor(t0 / LASH_PI) + 1; from < t1; ++k) {
        double to = fmin(t1, k * LASH_PI);
        double middle = 0.5 * (from + to);
        double ua = coedge->c[0] + coedge->r * cos(from), ub = coedge->c[0] + coedge->r * cos(to);
        // exact ends at multiples of pi, so that neighbours agree on the half-open rule
        if (from == (k - 1) * LASH_PI)
            ua = coedge->c[0] + (fmod(fabs(k - 1), 2) == 0 ? coedge->r : -coedge->r);
        if (to == k * LASH_PI) ub = coedge->c[0] + (fmod(fabs(k), 2) == 0 ? coedge->r : -coedge->r);
        bool hit = (ua <= ray->u && ray->u < ub) || (ub <= ray->u && ray->u < ua);
        if (hit) {
            double h = sqrt(fmax(0, coedge->r * coedge->r - du * du));
            if (coedge->c[1] + (sin(middle) > 0 ? h : -h) > ray->v) ++ray->crossings;
        }
        from = to;
    }
}

// The pole polygon's box contains the curve. False: it is beside the ray or below the point, beyond
// the tolerance.
static bool keep_hull(RayCast* ray, const double* pole, int n) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i <= n; ++i) {
        for (int k = 0; k < 2; ++k) {
            double x = pole[3 * i + k];
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
        }
    }
    double du = fmax(0, fmax(low[0] - ray->u, ray->u - high[0])) * ray->hu;
    double dv = fmax(0, fmax(low[1] - ray->v, ray->v - high[1])) * ray->hv;
    keep_nearest(ray, du * du + dv * dv);
    double far = ray->tolerance * (1 + 1e-9);
    return du <= far && (dv <= far || low[1] > ray->v);
}

static void cast_bezier(RayCast* ray, const double* pole, int n, int depth) {
    double u_low = INFINITY, u_high = -INFINITY, v_low = INFINITY, v_high = -INFINITY;
    for (int i = 0; i <= n; ++i) {
        double u = pole[3 * i] / pole[3 * i + 2], v = pole[3 * i + 1] / pole[3 * i + 2];
        u_low = fmin(u_low, u);
        u_high = fmax(u_high, u);
        v_low = fmin(v_low, v);
        v_high = fmax(v_high, v);
    }
    double tu = ray->tolerance / fmax(ray->hu, 1e-300), tv = ray->tolerance / fmax(ray->hv, 1e-300);
    if (u_high + tu < ray->u || u_low - tu > ray->u || v_high + tv < ray->v) return;
    bool small = (u_high - u_low) <= tu && (v_high - v_low) <= tv;
    bool near = v_low - tv <= ray->v;
    if (near && small) ray->border = true;
    if (!near || small || depth == 0) {
        double a[2] = {pole[0] / pole[2], pole[1] / pole[2]};
        double b[2] = {pole[3 * n] / pole[3 * n + 2], pole[3 * n + 1] / pole[3 * n + 2]};
        bool hit = (a[0] <= ray->u && ray->u < b[0]) || (b[0] <= ray->u && ray->u < a[0]);
        if (hit && (!near || 0.5 * (v_low + v_high) > ray->v)) ++ray->crossings;
        return;
    }
    double left[3 * (LASH_MAX_DEGREE + 1)], right[3 * (LASH_MAX_DEGREE + 1)];
    for (int i = 0; i < 3 * (n + 1); ++i) right[i] = pole[i];
    for (int k = 0; k <= n; ++k) { // de Casteljau at 1/2, homogeneous
        for (int c = 0; c < 3; ++c) left[3 * k + c] = right[c];
        for (int i = 0; i < 3 * (n - k); ++i) right[i] = 0.5 * (right[i] + right[i + 3]);
    }
    cast_bezier(ray, left, n, depth - 1);
    cast_bezier(ray, right, n, depth - 1);
}

static void cast_coedge(const LashShape* shape, RayCast* ray, const LashCoedge* coedge) {
    if (coedge->kind == LASH_LINE) {
        bool border = ray->border;
        cast_line(ray, coedge->a, coedge->b);
        if (coedge->edge < 0) ray->border = border; // a seam is no rim
    } else if (coedge->kind == LASH_CIRCLE) {
        cast_circle(ray, coedge);
    } else { // poles (u, v, w) to homogeneous (u w, v w, w)
        double h[3 * (LASH_MAX_DEGREE + 1)];
        const double* pole = shape->uv_pole + 3 * (size_t)coedge->first_pole;
        if (!keep_hull(ray, pole, coedge->degree)) return;
        for (int i = 0; i <= coedge->degree; ++i) {
            h[3 * i] = pole[3 * i] * pole[3 * i + 2];
            h[3 * i + 1] = pole[3 * i + 1] * pole[3 * i + 2];
            h[3 * i + 2] = pole[3 * i + 2];
        }
        cast_bezier(ray, h, coedge->degree, 48);
    }
}

static LashTrimSide range_side(double t, double low, double high, double tolerance) {
    if (t < low - tolerance || t > high + tolerance) return LASH_OUTSIDE;
    return t < low + tolerance || t > high - tolerance ? LASH_BORDER : LASH_INSIDE;
}

// u and v both against the box; a closed direction has no ends.
static LashTrimSide box_side(const LashFace* face, double u, double v, double tu, double tv) {
    bool v_closed = face->type == LASH_TORUS ? face->v1 - face->v0 >= 2 * LASH_PI - 1e-9
                                             : face->type == LASH_FREEFORM && face->v_closed;
    bool pole_low = face->type == LASH_SPHERE && face->v0 <= -0.5 * LASH_PI + 1e-9;
    bool pole_high = face->type == LASH_SPHERE && face->v1 >= 0.5 * LASH_PI - 1e-9;
    LashTrimSide su = face->u_closed ? LASH_INSIDE : range_side(u, face->u0, face->u1, tu), sv;
    sv = v_closed
             ? LASH_INSIDE
             : range_side(v, pole_low ? -INFINITY : face->v0, pole_high ? INFINITY : face->v1, tv);
    return su < sv ? su : sv;
}

static LashTrimSide cast_loops(const LashShape* shape, const LashFace* face, RayCast* ray) {
    for (int i = 0; i < face->loops; ++i) {
        const LashLoop* loop = shape->loop + face->first_loop + i;
        for (int j = 0; j < loop->coedges; ++j)
            cast_coedge(shape, ray, shape->coedge + loop->first_coedge + j);
    }
    if (ray->border) return LASH_BORDER;
    return ray->crossings % 2 ? LASH_INSIDE : LASH_OUTSIDE;
}

LashTrimSide lash_trim_parameters(const LashShape* shape, const LashFace* face, double u, double v,
                                  double tolerance) {
    RayCast ray = {.u = u, .v = v, .tolerance = tolerance, .near2 = INFINITY};
    metric(shape, face, u, v, &ray.hu, &ray.hv);
    double tu = tolerance / fmax(ray.hu, tolerance), tv = tolerance / ray.hv;
    LashTrimSide box = box_side(face, u, v, tu, tv);
    if (face->loops == 0 || box == LASH_OUTSIDE) return box;
    return cast_loops(shape, face, &ray);
}

// How far t is from both ends of the range.
static double range_room(double t, double low, double high) {
    double a = fabs(t - low), b = fabs(t - high);
    return a < b ? a : b;
}

static LashTrimSide plane_side(const LashShape* shape, const LashFace* face, Vec3 p,
                               double tolerance, double* room) {
    Vec3 w = vec3_sub(p, face->origin);
    RayCast ray = {.u = vec3_dot(w, face->x),
                   .v = vec3_dot(w, face->y),
                   .hu = 1,
                   .hv = 1,
                   .tolerance = tolerance,
                   .near2 = INFINITY};
    LashTrimSide su = range_side(ray.u, face->u0, face->u1, tolerance);
    LashTrimSide sv = range_side(ray.v, face->v0, face->v1, tolerance), box = su < sv ? su : sv;
    double room_u = range_room(ray.u, face->u0, face->u1);
    double room_v = range_room(ray.v, face->v0, face->v1);
    if (box == LASH_OUTSIDE) { // in u or in v
        *room = fmax(room_u, room_v);
        if (sv != LASH_OUTSIDE) *room = room_u;
        if (su != LASH_OUTSIDE) *room = room_v;
        return box;
    }
    *room = fmin(room_u, room_v);
    if (face->loops == 0 || shape == NULL) return box;
    LashTrimSide side = cast_loops(shape, face, &ray);
    *room = sqrt(ray.near2);
    return side;
}

static LashTrimSide cylinder_side(const LashShape* shape, const LashFace* face, Vec3 p,
                                  double tolerance, double* room) {
    double r = face->radius;
    RayCast ray = {.hu = r, .hv = 1, .tolerance = tolerance, .near2 = INFINITY};
    lash_face_parameters(face, p, &ray.u, &ray.v);
    LashTrimSide side = box_side(face, ray.u, ray.v, tolerance / fmax(r, tolerance), tolerance);
    *room = 0;
    if (side == LASH_OUTSIDE) return side;
    if (face->loops > 0 && shape != NULL) {
        side = cast_loops(shape, face, &ray);
        *room = sqrt(ray.near2);
    } else if (!face->u_closed) {
        *room =
            fmin(r * range_room(ray.u, face->u0, face->u1), range_room(ray.v, face->v0, face->v1));
    }
    bool on = fabs(face->side * lash_face_distance(face, p)) <= 0.05 * r;
    *room = side == LASH_INSIDE && on ? fmin(*room / 1.1, 0.25 * r) : 0;
    return side;
}

LashTrimSide lash_trim_near(const LashShape* shape, const LashFace* face, Vec3 p, double tolerance,
                            LashTrimRoom* last) {
    if (last != NULL && vec3_norm_squared(vec3_sub(p, last->p)) < last->room * last->room)
        return last->side;
    double room, u, v;
    LashTrimSide side;
    if (face->type == LASH_PLANE) {
        side = plane_side(shape, face, p, tolerance, &room);
    } else if (face->type == LASH_CYLINDER) {
        side = cylinder_side(shape, face, p, tolerance, &room);
    } else {
        lash_face_parameters(face, p, &u, &v);
        return lash_trim_parameters(shape, face, u, v, tolerance);
    }
    room -= 2 * tolerance; // the border, and rounding
    if (last != NULL) *last = (LashTrimRoom){p, side != LASH_BORDER && room > 0 ? room : 0, side};
    return side;
}

LashTrimSide lash_trim_point(const LashShape* shape, const LashFace* face, Vec3 p,
                             double tolerance) {
    return lash_trim_near(shape, face, p, tolerance, NULL);
}

bool lash_trim_is_box(const LashShape* shape, const LashFace* face) {
    double eu = 1e-9 * (face->u1 - face->u0), ev = 1e-9 * (face->v1 - face->v0);
    if (face->loops > 2 || (face->loops == 2 && !face->u_closed)) return false;
    for (int i = 0; i < face->loops; ++i) {
        const LashLoop* loop = shape->loop + face->first_loop + i;
        for (int j = 0; j < loop->coedges; ++j) {
            const LashCoedge* e = shape->coedge + loop->first_coedge + j;
            if (e->kind != LASH_LINE) return false;
            bool low_u = fabs(e->a[0] - face->u0) <= eu && fabs(e->b[0] - face->u0) <= eu;
            bool high_u = fabs(e->a[0] - face->u1) <= eu && fabs(e->b[0] - face->u1) <= eu;
            bool low_v = fabs(e->a[1] - face->v0) <= ev && fabs(e->b[1] - face->v0) <= ev;
            bool high_v = fabs(e->a[1] - face->v1) <= ev && fabs(e->b[1] - face->v1) <= ev;
            if (!low_u && !high_u && !low_v && !high_v) return false;
        }
    }
    return true;
}

LashTrimSide lash_trim_box(const LashFace* face, Vec3 p, double tolerance) {
    double u, v;
    if (face->type == LASH_CYLINDER && face->u_closed) { // the commonest face: no angle needed
        v = vec3_dot(vec3_sub(p, face->origin), face->z);
        return range_side(v, face->v0, face->v1, tolerance);
    }
    if (face->type == LASH_PLANE) { // and the next
        Vec3 w = vec3_sub(p, face->origin);
        LashTrimSide su = range_side(vec3_dot(w, face->x), face->u0, face->u1, tolerance);
        LashTrimSide sv = range_side(vec3_dot(w, face->y), face->v0, face->v1, tolerance);
        return su < sv ? su : sv;
    }
    lash_face_parameters(face, p, &u, &v);
    double hu = 1, hv = 1;
    metric(NULL, face, u, v, &hu, &hv);
    return box_side(face, u, v, tolerance / fmax(hu, tolerance), tolerance / hv);
}
