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
// Everything is continuous in the tilt; no angle is ever formed, a direction is a unit vector
// (c, s).
//
// Line / cone: the signed distance rho(s) cos a - z(s) sin a along the line is convex. With
// rho^2 = A x^2 + B:
//   x = k sqrt(B / (A (A - k^2))),  k = z' tan a,  exists for k^2 < A.
#include "geometry/kernels/kernels_internal.h"

static const double SAG = 2e-11; // [m]

static void line_line(LashPairView* view) {
    const LashFeature *a = view->a, *b = view->b;
    Vec3 w = vec3_sub(view->origin, b->origin), x = vec3_cross(view->z, b->z);
    double ss = vec3_norm_squared(x);
    if (ss < 1e-24) return;
    LashCandidate c = {0};
    // w + s za - t zb across both lines
    double s = vec3_dot(vec3_cross(b->z, w), x) / ss;
    c.ca = vec3_add_scaled(view->origin, s, view->z);
    // the foot of ca, not t: nearly parallel lines leave s and t uncertain, not their connection
    c.cb = vec3_add_scaled(b->origin, vec3_dot(vec3_sub(c.ca, b->origin), b->z), b->z);
    if (!lash_is_smooth(a) && !lash_is_smooth(b)) {
        lash_pair_add_edges(view, &c, view->z, b->z);
        return;
    }
    Vec3 r = vec3_sub(c.ca, c.cb);
    double d = vec3_norm(r), length = fmin(a->size, b->size);
    if (ss * length * length < 8 * SAG * d) return;
    if (d <= 1e-9 * b->size) {
        r = vec3_scale(vec3_dot(w, x) < 0 ? -1 : 1, x);
        d = sqrt(ss);
    }
    c.n = vec3_scale(1 / d, r);
    lash_pair_add(view, &c);
}

// ---- ellipse ----------------------------------------------------------------------------------

typedef struct Ellipse {
    double p, q, D; // e1 R, e2 q >= 0 and D >= 0 of the equation above [m^2]
} Ellipse;

typedef struct Direction { // of a point of the ellipse, as a unit vector
    double c, s;
} Direction;

// The equations of all roots have the form h(c, s) = P s + Q c - D s c = 0.
typedef struct Trigonometric {
    double P, Q, D;
    double rising; // sign of h' at the root that is meant
} Trigonometric;

// Newton on the direction; false when it left the quadrant c, s >= 0 or h' has the wrong sign.
static inline bool newton_step(const Trigonometric* trigonometric, Direction* direction,
                               bool* done) {
    double c = direction->c, s = direction->s, D = trigonometric->D;
    double h = trigonometric->P * s + trigonometric->Q * c - D * s * c,
           dh = trigonometric->P * c - trigonometric->Q * s - D * (c * c - s * s);
    double step = -h / dh, t = step * step, nc = c - step * s, ns = s + step * c;
    double l = t < 4e-6 ? 1 - t * (0.5 - 0.375 * t) : 1 / sqrt(1 + t); // the first is good to 1e-17
    direction->c = nc * l;
    direction->s = ns * l;
    // what is left is about step^2 D / |h'| + step^3 (h is nearly a sine)
    *done = t * (3 * D + fabs(step * dh)) < 1e-16 * fabs(dh);
    return t < 0.25 && dh * trigonometric->rising > 0 && nc >= 0 && ns >= 0;
}

// Root of h on the open quadrant where h falls (maximum, rising = -1) or rises (minimum in mirrored
// coordinates, rising = +1):
//   maximum: h = -p s + q c - D s c;   minimum: h = p s - q c - D s c
static inline Trigonometric unique_equation(const Ellipse* e, double rising) {
    return (Trigonometric){rising * e->p, -rising * e->q, e->D, rising};
}

static inline Direction normalized(double c, double s) {
    double l = c * c + s * s, k = 1 / sqrt(l);
    return l > 0 ? (Direction){c * k, s * k} : (Direction){1, 0};
}

// A maximum has (c, s) along (p + D c, q), a minimum along (p, q + D s): two steps of that.
static inline Direction guess_root(const Ellipse* e, double rising) {
    double x = rising < 0 ? e->D : 0, y = rising > 0 ? e->D : 0;
    Direction d = normalized(e->p + x, e->q + y);
    return normalized(e->p + x * d.c, e->q + y * d.s);
}

static Direction bracketed_root(const Ellipse* e, double rising) {
    Direction low = {1, 0}, high = {0, 1}, d = guess_root(e, rising); // h has sign -rising at low
    Trigonometric f = unique_equation(e, rising);
    for (int i = 0; i < 60; ++i) {
        double h = f.P * d.s + f.Q * d.c - f.D * d.s * d.c;
        if (h == 0) break;
        *(h * rising < 0 ? &low : &high) = d;
        bool done = false, inside = newton_step(&f, &d, &done);
        inside &= low.c * d.s - low.s * d.c >= 0 && d.c * high.s - d.s * high.c >= 0;
        if (!inside) d = normalized(low.c + high.c, low.s + high.s);
        if (inside && done) break;
    }
    return d;
}

// n roots at once: their chains of roots and divisions run side by side. A root that is found
// stays, so that each has the bits it would have alone. False: not all found.
static inline bool newton_all(const Trigonometric* trigonometric, Direction* direction, int n) {
    bool found[4] = {false, false, false, false};
    for (int i = 0; i < 5; ++i) {
        bool trusted = true, all = true;
        for (int k = 0; k < n; ++k) {
            if (found[k]) continue;
            trusted &= newton_step(trigonometric + k, direction + k, found + k);
            all &= found[k];
        }
        if (!trusted) return false;
        if (all) return true;
    }
    return false;
}

static inline Direction unique_root(const Ellipse* e, double rising) {
    Trigonometric f = unique_equation(e, rising);
    Direction d = guess_root(e, rising);
    return newton_all(&f, &d, 1) ? d : bracketed_root(e, rising);
}

// The left root of p / C + q / S = D on the quadrant (the second maximum: S small). Convex and
// falling there: Newton from the left is monotone.
static Direction left_root(double p, double q, double D) {
    double s = q / (D - p), c = sqrt(fmax(0, 1 - s * s)), last = 1;
    for (int i = 0; i < 100 && s > 0; ++i) {
        double h = p / c + q / s - D, dh = p * s / (c * c) - q * c / (s * s);
        if (!(dh < 0)) break;
        double step = -h / dh, nc = c - step * s, ns = s + step * c,
               l = 1 / sqrt(nc * nc + ns * ns);
        c = nc * l;
        s = ns * l;
        // quadratic: the next step would be step^2 (step / last^2)
        if (step < 1e-6 && step * step * fmax(1, step / (last * last)) < 1e-16) break;
        last = step;
    }
    return (Direction){c, s};
}

// The left root of e, or with e exchanged the right one, where it is there. Inside the evolute:
// with X = (p/D)^2 and Y = (q/D)^2, X^(1/3) + Y^(1/3) < 1 is the same as (1 - X - Y)^3 > 27 X Y, 1
// - X - Y > 0.
static inline bool has_second(const Ellipse* e) {
    double p = e->p, q = e->q, D = e->D, pp = p * p, qq = q * q, DD = D * D, T = DD - pp - qq;
    return p < D && q < D && T > 0 && T * T * T > 27 * pp * qq * DD;
}

static inline Trigonometric second_equation(const Ellipse* e) {
    return (Trigonometric){e->p, e->q, e->D, -1};
}

static inline Direction second_root(const Ellipse* e) {
    Trigonometric f = second_equation(e);
    Direction d = normalized(e->D - e->p, e->q);
    return newton_all(&f, &d, 1) ? d : left_root(e->p, e->q, e->D);
}

// A second maximum is the left root, a second minimum the right one: C and S, p and q exchanged.
static inline Ellipse second_ellipse(const Ellipse* e, bool maxima) {
    return maxima ? *e : (Ellipse){e->q, e->p, e->D};
}
static inline Direction exchanged(Direction d, bool maxima) {
    return maxima ? d : (Direction){d.s, d.c};
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
    if (cosine < 0) {
        l = vec3_neg(l);
        cosine = -cosine;
    }
    double e1 = vec3_dot(e, k), e2 = vec3_dot(e, j);
    double f1 = e1 < 0 ? -R : R, f2 = e2 < 0 ? -R : R;
    Ellipse ellipse = {fabs(e1) * R, fabs(e2) * R * cosine, R * R * sine2};
    Direction root = unique_root(&ellipse, maxima ? -1 : 1);
    double c = maxima ? root.c : -root.c, s = maxima ? root.s : -root.s;
    point[0] = vec3_add(vec3_scale(f1 * c, k), vec3_scale(f2 * s, l));
    if (!has_second(&ellipse)) return 1;
    Ellipse other = second_ellipse(&ellipse, maxima);
    root = exchanged(second_root(&other), maxima);
    point[1] = vec3_add(vec3_scale(-f1 * root.c, k), vec3_scale(f2 * root.s, l));
    return 2;
}

static void line_circle(LashPairView* view) {
    const LashFeature *a = view->a, *b = view->b;
    bool edges = !lash_is_smooth(a) && !lash_is_smooth(b), hollow = a->side * b->side < 0;
    Vec3 p[2];
    int count = ellipse_points(vec3_sub(b->origin, view->origin), view->z, b->z, b->x, b->radius,
                               hollow, p);
    // Crossed edges: a slot each for the two ends of the chord, whichever of them is found first.
    double along = vec3_dot(p[0], view->z);
    bool swap = edges && along > 1e-3 * b->radius;
    for (int i = 0; i < count; ++i) {
        p[i] = vec3_add(b->origin, p[i]);
        LashCandidate c = {.cb = p[i], .slot = swap ? 1 - i : i};
        c.check = lash_is_smooth(b) && hollow;
        c.ca =
            vec3_add_scaled(view->origin, vec3_dot(vec3_sub(p[i], view->origin), view->z), view->z);
        Vec3 w = vec3_sub(c.ca, c.cb);
        if (edges) {
            Vec3 t = vec3_scale(1 / b->radius, vec3_cross(b->z, vec3_sub(p[i], b->origin)));
            lash_pair_add_edges(view, &c, view->z, t);
            continue;
        }
        double d = vec3_norm(w);
        if (d == 0) continue; // the axis on the rim: deeper than any reach
        c.n = vec3_scale((hollow ? -1 : 1) / d, w);
        lash_pair_add(view, &c);
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
    r.zx = vec3_dot(z, cylinder->x);
    r.zy = vec3_dot(z, cylinder->y);
    double zz = vec3_dot(z, cylinder->z), sine2 = r.zx * r.zx + r.zy * r.zy, R = rim->radius;
    double sine = sqrt(sine2);
    double inverse = 1 / sine;
    r.kx = sine > 0 ? -r.zy * inverse : 1;
    r.ky = sine > 0 ? r.zx * inverse : 0;
    r.cosine = fabs(zz);
    r.lz = zz < 0 ? -sine : sine;
    double e1 = r.ex * r.kx + r.ey * r.ky, e2 = r.ey * r.kx - r.ex * r.ky;
    r.f1 = e1 < 0 ? -1 : 1;
    r.f2 = e2 < 0 ? -1 : 1;
    r.ellipse.p = fabs(e1) * R;
    r.ellipse.q = fabs(e2) * R * r.cosine;
    r.ellipse.D = R * R * sine2;
    return r;
}

// The root at the rim's direction (c, s); false when it is none of this pair's.
static bool rim_root(const Rim* q, const LashFeature* rim, const LashFeature* cylinder,
                     double limit, double c, double s, LashRoot* root) {
    double R = rim->radius, side = cylinder->side, border = cylinder->border;
    c *= q->f1;
    s *= q->f2;
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
        if (!lash_behind_concave_edge(cylinder, foot, 0)) return false;
    }
    root->boundary = low < border || high < border;
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
            root->boundary = true;
    }
    Vec3 x = cylinder->x, y = cylinder->y;
    root->gap = gap;
    root->deep = gap < -cylinder->reach;
    root->normal = vec3_add(vec3_scale(nx, x), vec3_scale(ny, y));
    root->point_a = vec3_add(vec3_add_scaled(cylinder->origin, t, cylinder->z),
                             vec3_add(vec3_scale(wx, x), vec3_scale(wy, y)));
    root->point_b = vec3_add_scaled(root->point_a, -gap, root->normal);
    double tx = -s * q->kx - c * q->cosine * q->ky, ty = c * q->cosine * q->kx - s * q->ky;
    root->tangent =
        vec3_add_scaled(vec3_add(vec3_scale(tx, x), vec3_scale(ty, y)), c * q->lz, cylinder->z);
    root->around = vec3_sub(vec3_scale(nx, y), vec3_scale(ny, x));
    root->bend = radial * rim->bend;
    root->ball_a = root->ball_b = root->shadowed = root->raised = false;
    root->rim = true;
    root->beyond = false;
    root->t_a[0] = root->t_a[1] = root->t_b[0] = root->t_b[1] = 0;
    return true;
}

typedef struct RimRoots { // directions of the roots
    Direction unique, second;
    bool two;
} RimRoots;

static int add_rim_roots(const Rim* q, const LashFeature* rim, const LashFeature* cylinder,
                         double limit, const RimRoots* d, LashRoot roots[2]) {
    double sign = cylinder->side < 0 ? 1 : -1;
    int found = 0;
    if (rim_root(q, rim, cylinder, limit, sign * d->unique.c, sign * d->unique.s, roots))
        roots[found++].slot = 0;
    if (d->two && rim_root(q, rim, cylinder, limit, -d->second.c, d->second.s, roots + found))
        roots[found++].slot = 1;
    return found;
}

static RimRoots rim_roots(const Rim* rim, bool maxima) {
    RimRoots d = {.unique = unique_root(&rim->ellipse, maxima ? -1 : 1)};
    d.two = has_second(&rim->ellipse);
    Ellipse second = second_ellipse(&rim->ellipse, maxima);
    if (d.two) d.second = exchanged(second_root(&second), maxima);
    return d;
}

// The same for two rims, all roots side by side; false: they must be found one by one.
static inline bool rims_roots(const Rim q[2], bool maxima, RimRoots out[2]) {
    double rising = maxima ? -1 : 1;
    Trigonometric f = unique_equation(&q[0].ellipse, rising),
                  g = unique_equation(&q[1].ellipse, rising);
    Direction d = guess_root(&q[0].ellipse, rising), e = guess_root(&q[1].ellipse, rising);
    out[0].two = has_second(&q[0].ellipse);
    out[1].two = has_second(&q[1].ellipse);
    if (out[0].two != out[1].two) return false;
    if (!out[0].two) {
        Trigonometric both[2] = {f, g};
        Direction root[2] = {d, e};
        bool found = newton_all(both, root, 2);
        out[0].unique = root[0];
        out[1].unique = root[1];
        return found;
    }
    Ellipse x = second_ellipse(&q[0].ellipse, maxima), y = second_ellipse(&q[1].ellipse, maxima);
    Trigonometric all[4] = {f, g, second_equation(&x), second_equation(&y)};
    Direction root[4] = {d, e, normalized(x.D - x.p, x.q), normalized(y.D - y.p, y.q)};
    bool found = newton_all(all, root, 4);
    out[0].unique = root[0];
    out[1].unique = root[1];
    out[0].second = exchanged(root[2], maxima);
    out[1].second = exchanged(root[3], maxima);
    return found;
}

// The same as line_circle for the commonest pair, a pin's or hole's full rim with the whole of a
// hole or pin, in the plane across the cylinder. place: the rim's shape in the cylinder's shape.
int lash_rim_cylinder(const LashFeature* rim, const LashFeature* cylinder,
                      const LashPlacement* place, double limit, LashRoot roots[2]) {
    Rim q = make_rim(rim, cylinder, place);
    RimRoots d = rim_roots(&q, cylinder->side < 0);
    return add_rim_roots(&q, rim, cylinder, limit, &d, roots);
}

// Both rims of a pin, or of a hole.
void lash_rims_cylinder(const LashFeature* const rim[2], const LashFeature* cylinder,
                        const LashPlacement* place, double limit,
                        LashRoot (*roots)[LASH_MAX_POINTS], int* count) {
    bool maxima = cylinder->side < 0;
    Rim q[2] = {make_rim(rim[0], cylinder, place), make_rim(rim[1], cylinder, place)};
    RimRoots d[2];
    if (!rims_roots(q, maxima, d)) {
        d[0] = rim_roots(q, maxima);
        d[1] = rim_roots(q + 1, maxima);
    }
    for (int k = 0; k < 2; ++k)
        count[k] = add_rim_roots(q + k, rim[k], cylinder, limit, d + k, roots[k]);
}

static void line_cone(LashPairView* view) {
    const LashFeature* feature = view->b;
    Vec3 w = vec3_sub(view->origin, feature->origin);
    double z0 = vec3_dot(w, feature->z), z1 = vec3_dot(view->z, feature->z);
    Vec3 e0 = vec3_add_scaled(w, -z0, feature->z), e1 = vec3_add_scaled(view->z, -z1, feature->z);
    double A = vec3_norm_squared(e1), k = z1 * feature->sin_a / feature->cos_a;
    if (!(A > k * k + 1e-24)) return; // steeper than the cone: its ends touch first
    double s0 = -vec3_dot(e0, e1) / A;
    double B = vec3_norm_squared(vec3_add_scaled(e0, s0, e1));
    double s = s0 + k * sqrt(B / (A * (A - k * k)));
    LashCandidate c = {.ca = vec3_add_scaled(view->origin, s, view->z)};
    Vec3 e = lash_across(vec3_add_scaled(e0, s, e1), feature->z);
    double rho = vec3_norm(e);
    if (rho == 0) return;
    double d = (rho - feature->radius) * feature->cos_a - (z0 + s * z1) * feature->sin_a;
    c.n = vec3_sub(vec3_scale(feature->cos_a / rho, e), vec3_scale(feature->sin_a, feature->z));
    c.cb = vec3_add_scaled(c.ca, -d, c.n);
    lash_pair_add(view, &c);
}

void lash_pair_line(LashPairView* view) {
    switch (view->b->skeleton) {
        case LASH_SKELETON_LINE:
            line_line(view);
            break;
        case LASH_SKELETON_CIRCLE:
            line_circle(view);
            break;
        case LASH_SKELETON_CONE:
            line_cone(view);
            break;
        default:
            break;
    }
}
