// Straight edge and cylinder against straight edge, cylinder, circular edge, torus, cone.
//
// Line / line: the common perpendicular; parallel lines have none, their contact ends at edges and
// vertices. So does that of nearly parallel ones, as long as the perpendicular is shorter than the
// distance at the ends by less than SAG: its foot would run along the whole line for the least
// tilt.
//
// Line / circle: seen along the line, the circle is an ellipse with half axes R and q = R |cos t|,
// t the angle between line and circle axis. Its stationary distances from the line's point, with
// the ellipse's center at (e1, e2), e1, e2 >= 0 after reflection, solve
//   h(f) = -e1 R sin f + e2 q cos f - D sin f cos f = 0,   D = R^2 sin^2 t.
//   quadrant (+,+): one root, the farthest point;   quadrant (-,-): one root, the nearest point;
//   quadrant (-,+): e1 R / C + e2 q / S = D, convex: a second maximum and a second minimum inside
//   the evolute, (e1 R)^(2/3) + (e2 q)^(2/3) < D^(2/3), else none;   quadrant (+,-): none.
// Everything is continuous in the tilt; no angle is ever formed, a direction is a unit vector (c,
// s).
//
// Line / cone: signed distance rho(s) cos a - z(s) sin a along the line is convex, rho^2 = A x^2 +
// B:
//   x = k sqrt(B / (A (A - k^2))),  k = z' tan a,  exists for k^2 < A.
#include "geometry/kernels_internal.h"

static const double SAG = 2e-11; // [m]

static void line_line(LashPairView* v) {
    const LashFeature *a = v->a, *b = v->b;
    Vec3 w = vec3_sub(v->origin, b->origin), x = vec3_cross(v->z, b->z);
    double ss = vec3_norm_squared(x);
    if (ss < 1e-24) return;
    LashCandidate c = {0};
    // w + s za - t zb across both lines
    double s = vec3_dot(vec3_cross(b->z, w), x) / ss;
    c.ca = vec3_add_scaled(v->origin, s, v->z);
    // the foot of ca, not t: nearly parallel lines leave s and t uncertain, not their connection
    c.cb = vec3_add_scaled(b->origin, vec3_dot(vec3_sub(c.ca, b->origin), b->z), b->z);
    if (!lash_is_smooth(a) && !lash_is_smooth(b)) {
        lash_pair_add_edges(v, &c, v->z, b->z);
        return;
    }
    Vec3 r = vec3_sub(c.ca, c.cb);
    double d = vec3_norm(r), length = fmin(a->size, b->size);
    if (ss * length * length < 8 * SAG * d) return;
    if (d <= 1e-9 * b->size) r = vec3_scale(vec3_dot(w, x) < 0 ? -1 : 1, x), d = sqrt(ss);
    c.n = vec3_scale(1 / d, r);
    lash_pair_add(v, &c);
}

// ---- ellipse ----------------------------------------------------------------------------------

typedef struct Ellipse {
    double p, q, D; // e1 R, e2 q >= 0 and D >= 0 of the equation above [m^2]
} Ellipse;

typedef struct Direction { // of a point of the ellipse, as a unit vector
    double c, s;
} Direction;

// Root of h on the open quadrant where h falls (maximum, rising = -1) or rises (minimum in mirrored
// coordinates, rising = +1); c and s both >= 0.
//   maximum: h = -p s + q c - D s c;   minimum: h = p s - q c - D s c
static inline Direction guess_root(const Ellipse* e, double rising) {
    double c = e->p + (rising < 0 ? e->D : 0), s = e->q + (rising > 0 ? e->D : 0);
    double l = c * c + s * s, k = 1 / sqrt(l);
    return l > 0 ? (Direction){c * k, s * k} : (Direction){1, 0};
}

// What is left after a step: about step^2 D / |h'| + step^3 (h is nearly a sine), step^2 = t.
static inline bool is_last(const Ellipse* e, double t, double step, double dh) {
    return t * (3 * e->D + fabs(step * dh)) < 1e-16 * fabs(dh);
}

// Bare Newton, which is nearly always enough; false when it cannot be trusted.
static inline bool newton_step(const Ellipse* e, double rising, Direction* d, bool* done) {
    double c = d->c, s = d->s, p = rising * e->p, q = -rising * e->q;
    double h = p * s + q * c - e->D * s * c, dh = p * c - q * s - e->D * (c * c - s * s);
    double step = -h / dh, t = step * step, nc = c - step * s, ns = s + step * c;
    double l = 1 - t * (0.5 - 0.375 * t); // (1 + t)^(-1/2) to 1e-17
    d->c = nc * l, d->s = ns * l, *done = is_last(e, t, step, dh);
    return t < 4e-6 && dh * rising > 0 && nc >= 0 && ns >= 0;
}

static Direction bracketed_root(const Ellipse* e, double rising) {
    double lc = 1, ls = 0, hc = 0, hs = 1; // bracket: h has sign -rising at low
    double p = rising * e->p, q = -rising * e->q;
    Direction d = guess_root(e, rising);
    for (int i = 0; i < 60; ++i) {
        double c = d.c, s = d.s, h = p * s + q * c - e->D * s * c;
        double dh = p * c - q * s - e->D * (c * c - s * s);
        if (h == 0) break;
        if (h * rising < 0)
            lc = c, ls = s;
        else
            hc = c, hs = s;
        double step = -h / dh, nc = c - step * s, ns = s + step * c;
        bool inside =
            dh * rising > 0 && fabs(step) < 1 && lc * ns - ls * nc >= 0 && nc * hs - ns * hc >= 0;
        if (!inside) nc = lc + hc, ns = ls + hs;
        double l = 1 / sqrt(nc * nc + ns * ns);
        d.c = nc * l, d.s = ns * l;
        if (inside && is_last(e, step * step, step, dh)) break;
    }
    return d;
}

static inline Direction unique_root(const Ellipse* e, double rising) {
    Direction d = guess_root(e, rising);
    bool done = false;
    for (int i = 0; i < 3 && newton_step(e, rising, &d, &done); ++i)
        if (done) return d;
    return bracketed_root(e, rising);
}

// Two at once: their chains of roots and divisions run side by side.
static inline void unique_roots(const Ellipse e[2], double rising, Direction d[2]) {
    d[0] = guess_root(e, rising), d[1] = guess_root(e + 1, rising);
    bool done[2];
    for (int i = 0; i < 3; ++i) {
        bool first = newton_step(e, rising, d, done);
        bool second = newton_step(e + 1, rising, d + 1, done + 1);
        if (!first || !second) break;
        if (done[0] && done[1]) return;
    }
    d[0] = unique_root(e, rising), d[1] = unique_root(e + 1, rising);
}

// The left root of p / C + q / S = D on the quadrant (the second maximum: S small); the right one
// is the left root with p and q, C and S exchanged. Inside the evolute: with X = (p/D)^2 and
// Y = (q/D)^2, X^(1/3) + Y^(1/3) < 1 is the same as (1 - X - Y)^3 > 27 X Y, 1 - X - Y > 0.
static bool evolute_root(double p, double q, double D, double* C, double* S) {
    if (p >= D || q >= D) return false;
    double pp = p * p, qq = q * q, DD = D * D, T = DD - pp - qq;
    if (!(T > 0 && T * T * T > 27 * pp * qq * DD)) return false;
    double s = q / (D - p), c = sqrt(fmax(0, 1 - s * s)), last = 1;
    for (int i = 0; i < 100 && s > 0;
         ++i) { // convex and falling here: Newton from the left is monotone
        double ic = 1 / c, is = 1 / s, h = p * ic + q * is - D;
        double dh = p * s * ic * ic - q * c * is * is;
        if (!(dh < 0)) break;
        double step = -h / dh, nc = c - step * s, ns = s + step * c,
               l = 1 / sqrt(nc * nc + ns * ns);
        c = nc * l, s = ns * l;
        // quadratic: the next step would be step^2 (step / last^2)
        if (step < 1e-6 && step * step * fmax(1, step / (last * last)) < 1e-16) break;
        last = step;
    }
    *C = c, *S = s;
    return true;
}

// Stationary points of the distance of the circle (axis z, radius R) from a line with direction d;
// e: the circle's center seen from a point of the line; x: any direction in the circle's plane.
// Points are relative to the center.
static inline int ellipse_points(Vec3 e, Vec3 d, Vec3 z, Vec3 x, double R, bool maxima,
                                 Vec3 point[2]) {
    Vec3 k = vec3_cross(d, z);
    double sine2 = vec3_norm_squared(k), cosine = vec3_dot(d, z);
    if (sine2 > 1e-28) { // line of nodes, put back into the circle's plane
        k = vec3_add_scaled(k, -vec3_dot(k, z), z);
        k = vec3_normalize(k);
    } else {
        k = x;
    }
    Vec3 l = vec3_cross(z, k), j = vec3_cross(d, k);
    if (cosine < 0) l = vec3_neg(l), cosine = -cosine;
    double e1 = vec3_dot(e, k), e2 = vec3_dot(e, j);
    double f1 = e1 < 0 ? -R : R, f2 = e2 < 0 ? -R : R;
    Ellipse ellipse = {fabs(e1) * R, fabs(e2) * R * cosine, R * R * sine2};
    Direction root = unique_root(&ellipse, maxima ? -1 : 1);
    double c = maxima ? root.c : -root.c, s = maxima ? root.s : -root.s;
    point[0] = vec3_add(vec3_scale(f1 * c, k), vec3_scale(f2 * s, l));
    bool second = maxima ? evolute_root(ellipse.p, ellipse.q, ellipse.D, &c, &s)
                         : evolute_root(ellipse.q, ellipse.p, ellipse.D, &s, &c);
    if (!second) return 1;
    point[1] = vec3_add(vec3_scale(-f1 * c, k), vec3_scale(f2 * s, l));
    return 2;
}

static void line_circle(LashPairView* v) {
    const LashFeature *a = v->a, *b = v->b;
    bool edges = !lash_is_smooth(a) && !lash_is_smooth(b), hollow = a->side * b->side < 0;
    Vec3 p[2];
    int count =
        ellipse_points(vec3_sub(b->origin, v->origin), v->z, b->z, b->x, b->radius, hollow, p);
    // Crossed edges: a slot each for the two ends of the chord, whichever of them is found first.
    double along = vec3_dot(p[0], v->z);
    bool swap = edges && along > 1e-3 * b->radius;
    for (int i = 0; i < count; ++i) {
        p[i] = vec3_add(b->origin, p[i]);
        LashCandidate c = {.cb = p[i], .slot = swap ? 1 - i : i};
        c.check = lash_is_smooth(b) && hollow;
        c.ca = vec3_add_scaled(v->origin, vec3_dot(vec3_sub(p[i], v->origin), v->z), v->z);
        Vec3 w = vec3_sub(c.ca, c.cb);
        if (edges) {
            Vec3 t = vec3_scale(1 / b->radius, vec3_cross(b->z, vec3_sub(p[i], b->origin)));
            lash_pair_add_edges(v, &c, v->z, t);
            continue;
        }
        double d = vec3_norm(w);
        if (d == 0) continue; // the axis on the rim: deeper than any reach
        c.n = vec3_scale((hollow ? -1 : 1) / d, w);
        lash_pair_add(v, &c);
    }
}

// A rim seen along the axis of a cylinder, in the cylinder's own axes.
typedef struct Rim {
    double ex, ey, ez; // center
    double zx, zy;     // axis, across the cylinder's
    double kx, ky;     // line of nodes
    double cosine, lz; // |z|; axial component of the direction in the rim's plane across the nodes
    double f1, f2;     // +-1: reflection to e1, e2 >= 0
    Ellipse ellipse;
} Rim;

static Rim make_rim(const LashFeature* rim, const LashFeature* cylinder,
                    const LashPlacement* place) {
    Vec3 z = mat3_mul(place->rot, rim->z);
    Vec3 e = vec3_sub(lash_place(place, rim->origin), cylinder->origin);
    Rim r = {.ex = vec3_dot(e, cylinder->x), .ey = vec3_dot(e, cylinder->y)};
    r.ez = vec3_dot(e, cylinder->z);
    r.zx = vec3_dot(z, cylinder->x), r.zy = vec3_dot(z, cylinder->y);
    double zz = vec3_dot(z, cylinder->z), sine2 = r.zx * r.zx + r.zy * r.zy, R = rim->radius;
    double sine = sqrt(sine2);
    double inverse = 1 / sine;
    r.kx = sine > 0 ? -r.zy * inverse : 1, r.ky = sine > 0 ? r.zx * inverse : 0;
    r.cosine = fabs(zz), r.lz = zz < 0 ? -sine : sine;
    double e1 = r.ex * r.kx + r.ey * r.ky, e2 = r.ey * r.kx - r.ex * r.ky;
    r.f1 = e1 < 0 ? -1 : 1, r.f2 = e2 < 0 ? -1 : 1;
    r.ellipse.p = fabs(e1) * R, r.ellipse.q = fabs(e2) * R * r.cosine, r.ellipse.D = R * R * sine2;
    return r;
}

// The root at the rim's direction (c, s); false when it is none of this pair's.
static bool rim_root(const Rim* q, const LashFeature* rim, const LashFeature* cylinder,
                     double limit, double c, double s, LashRoot* r) {
    double R = rim->radius, side = cylinder->side, border = cylinder->border;
    c *= q->f1, s *= q->f2;
    double px = c * q->kx - s * q->cosine * q->ky; // rim point from its center, across, over R
    double py = c * q->ky + s * q->cosine * q->kx;
    double wx = q->ex + R * px, wy = q->ey + R * py, rho = sqrt(wx * wx + wy * wy);
    double gap = side * (rho - cylinder->tube), t = q->ez + R * s * q->lz;
    if (!(gap <= limit && gap >= -2 * cylinder->reach) || rho == 0) return false;
    double low = t - cylinder->face->v0, high = cylinder->face->v1 - t;
    if (low < -border || high < -border) { // the foot on the cylinder: radius tube instead of rho
        double k = cylinder->tube / rho;
        Vec3 foot = vec3_add(vec3_scale(k * wx, cylinder->x), vec3_scale(k * wy, cylinder->y));
        foot = vec3_add(vec3_add_scaled(cylinder->origin, t, cylinder->z), foot);
        if (!lash_behind_concave_edge(cylinder, foot)) return false;
    }
    r->boundary = low < border || high < border;
    double inverse = side / rho;
    double nx = wx * inverse, ny = wy * inverse; // outward from the cylinder: -m of the rim
    double radial = -(nx * px + ny * py);
    if (rim->wedge != LASH_WEDGE_NONE) {
        double axial = -(nx * q->zx + ny * q->zy);
        const Vec3* v = rim->wedge_side;
        double d0 = radial * v[0].x + axial * v[0].y, d1 = radial * v[1].x + axial * v[1].y;
        if (rim->seam ? !(d0 > 0 && d0 <= LASH_SLACK_RULED)
                      : d0 > LASH_SLACK_RULED || d1 > LASH_SLACK_RULED)
            return false;
        if (!rim->seam && (fabs(d0) < LASH_BORDER_ANGLE || fabs(d1) < LASH_BORDER_ANGLE))
            r->boundary = true;
    }
    Vec3 x = cylinder->x, y = cylinder->y;
    r->gap = gap, r->deep = gap < -cylinder->reach;
    r->normal = vec3_add(vec3_scale(nx, x), vec3_scale(ny, y));
    r->point_a = vec3_add(vec3_add_scaled(cylinder->origin, t, cylinder->z),
                          vec3_add(vec3_scale(wx, x), vec3_scale(wy, y)));
    r->point_b = vec3_add_scaled(r->point_a, -gap, r->normal);
    double tx = -s * q->kx - c * q->cosine * q->ky, ty = c * q->cosine * q->kx - s * q->ky;
    r->tangent =
        vec3_add_scaled(vec3_add(vec3_scale(tx, x), vec3_scale(ty, y)), c * q->lz, cylinder->z);
    r->around = vec3_sub(vec3_scale(nx, y), vec3_scale(ny, x));
    r->bend = radial * rim->bend;
    r->ball_a = r->ball_b = r->shadowed = false, r->rim = true;
    r->t_a[0] = r->t_a[1] = r->t_b[0] = r->t_b[1] = 0;
    return true;
}

// Its roots: d the unique one's direction, sign +1 for maxima.
static int rim_roots(const Rim* q, const LashFeature* rim, const LashFeature* cylinder,
                     double limit, Direction d, double sign, LashRoot roots[2]) {
    const Ellipse* e = &q->ellipse;
    double c, s;
    int found = 0;
    if (rim_root(q, rim, cylinder, limit, sign * d.c, sign * d.s, roots)) roots[found++].slot = 0;
    bool second =
        sign > 0 ? evolute_root(e->p, e->q, e->D, &c, &s) : evolute_root(e->q, e->p, e->D, &s, &c);
    if (second && rim_root(q, rim, cylinder, limit, -c, s, roots + found)) roots[found++].slot = 1;
    return found;
}

// The same as line_circle for the commonest pair, a pin's or hole's full rim with the whole of a
// hole or pin, in the plane across the cylinder. place: the rim's shape in the cylinder's shape.
int lash_rim_cylinder(const LashFeature* rim, const LashFeature* cylinder,
                      const LashPlacement* place, double limit, LashRoot roots[2]) {
    double sign = cylinder->side < 0 ? 1 : -1;
    Rim q = make_rim(rim, cylinder, place);
    return rim_roots(&q, rim, cylinder, limit, unique_root(&q.ellipse, -sign), sign, roots);
}

// Both rims of a pin, or of a hole.
void lash_rims_cylinder(const LashFeature* const rim[2], const LashFeature* cylinder,
                        const LashPlacement* place, double limit,
                        LashRoot (*roots)[LASH_MAX_POINTS], int* count) {
    double sign = cylinder->side < 0 ? 1 : -1;
    Rim q[2] = {make_rim(rim[0], cylinder, place), make_rim(rim[1], cylinder, place)};
    Ellipse e[2] = {q[0].ellipse, q[1].ellipse};
    Direction d[2];
    unique_roots(e, -sign, d);
    for (int k = 0; k < 2; ++k)
        count[k] = rim_roots(q + k, rim[k], cylinder, limit, d[k], sign, roots[k]);
}

static void line_cone(LashPairView* v) {
    const LashFeature* b = v->b;
    Vec3 w = vec3_sub(v->origin, b->origin);
    double z0 = vec3_dot(w, b->z), z1 = vec3_dot(v->z, b->z);
    Vec3 e0 = vec3_add_scaled(w, -z0, b->z), e1 = vec3_add_scaled(v->z, -z1, b->z);
    double A = vec3_norm_squared(e1), k = z1 * b->sin_a / b->cos_a;
    if (!(A > k * k + 1e-24)) return; // steeper than the cone: its ends touch first
    double s0 = -vec3_dot(e0, e1) / A;
    double B = vec3_norm_squared(vec3_add_scaled(e0, s0, e1));
    double s = s0 + k * sqrt(B / (A * (A - k * k)));
    LashCandidate c = {.ca = vec3_add_scaled(v->origin, s, v->z)};
    Vec3 e = lash_across(vec3_add_scaled(e0, s, e1), b->z);
    double rho = vec3_norm(e);
    if (rho == 0) return;
    double d = (rho - b->radius) * b->cos_a - (z0 + s * z1) * b->sin_a;
    c.n = vec3_sub(vec3_scale(b->cos_a / rho, e), vec3_scale(b->sin_a, b->z));
    c.cb = vec3_add_scaled(c.ca, -d, c.n);
    lash_pair_add(v, &c);
}

void lash_pair_line(LashPairView* v) {
    switch (v->b->skeleton) {
        case LASH_SKELETON_LINE:
            line_line(v);
            break;
        case LASH_SKELETON_CIRCLE:
            line_circle(v);
            break;
        case LASH_SKELETON_CONE:
            line_cone(v);
            break;
        default:
            break;
    }
}
