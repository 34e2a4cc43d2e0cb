// Circular edge and torus against circular edge, torus, plane, cone.
//
// Circle / plane: the deepest point lies along the projection of -n into the circle's plane. For a
// nearly parallel circle three fixed points of it (balls, for a torus) span the contact as well.
//
// Circle / circle and circle / cone: P(f) runs over the convex circle; with h = height and e = the
// part across the other axis, rho = |e|, B = rho^2, both distances are stationary where
//   N(f) = L'(f) + m B'(f) / rho(f) = 0:     circle  L = |P|^2, m = -R;     cone  L = -2 h sin a, m
//   = cos a
// L, h, e are trigonometric of degree 1, B of degree 2, so N has at most 8 zeros in all. They are
// bracketed by 32 samples; where |N| dips between samples of one sign, its extremum is searched for
// two more. Then Newton inside the bracket. B is formed from e, never as |P|^2 - h^2: near the axis
// that would leave few digits of rho.
#include "geometry/kernels/kernels_internal.h"

enum { SAMPLES = 32, PARTS = 3 };

// Of two convex circles one this many times as large has its roots, over a small part of it, between
// two samples. Any small number will do.
static const double LARGE = 2;

typedef struct Around {
    double L1, L2;                 // L' = -s L1 + c L2
    double x0, x1, x2, y0, y1, y2; // e = e0 + c e1 + s e2, two components
    double m, floor;               // floor: rho^2 below this counts as this (the axis itself) [m^2]
    double sharp;                  // rho^2 below this: N bends within a step of the samples [m^2]
} Around;

static double slope(const Around* q, double c, double s, double* derivative) {
    double tx = c * q->x1 + s * q->x2, ty = c * q->y1 + s * q->y2; // e - e0 = -e''
    double x = q->x0 + tx, y = q->y0 + ty, xd = c * q->x2 - s * q->x1, yd = c * q->y2 - s * q->y1;
    double B = x * x + y * y, half = x * xd + y * yd;  // B' / 2
    double bend = xd * xd + yd * yd - x * tx - y * ty; // B'' / 2
    B = B > q->floor ? B : q->floor;
    double i = 1 / sqrt(B), m = 2 * q->m * i;
    *derivative = m * (bend - half * half / B) - (c * q->L1 + s * q->L2);
    return c * q->L2 - s * q->L1 + m * half;
}

static double at(const Around* q, double f, double* derivative) {
    return slope(q, cos(f), sin(f), derivative);
}

typedef struct Samples { // N and N' at equal angles around the circle; the last equals the first
    double n[SAMPLES + 1], d[SAMPLES + 1];
    double steep;            // slopes above this are far from a turning point of N
    bool sharp[SAMPLES + 1]; // so near to the other axis that N may bend within a step
} Samples;

static const double around_cosine[SAMPLES] = {
    1,
    0.98078528040323043,
    0.92387953251128674,
    0.83146961230254524,
    0.70710678118654757,
    0.55557023301960218,
    0.38268343236508984,
    0.19509032201612825,
    0,
    -0.19509032201612825,
    -0.38268343236508984,
    -0.55557023301960218,
    -0.70710678118654757,
    -0.83146961230254524,
    -0.92387953251128674,
    -0.98078528040323043,
    -1,
    -0.98078528040323043,
    -0.92387953251128674,
    -0.83146961230254524,
    -0.70710678118654757,
    -0.55557023301960218,
    -0.38268343236508984,
    -0.19509032201612825,
    0,
    0.19509032201612825,
    0.38268343236508984,
    0.55557023301960218,
    0.70710678118654757,
    0.83146961230254524,
    0.92387953251128674,
    0.98078528040323043,
};

static void sample(const Around* q, Samples* out) {
    double B[SAMPLES], sharp = q->sharp;
    for (int i = 0; i < SAMPLES; ++i) {
        double c = around_cosine[i], s = around_cosine[(i + 3 * SAMPLES / 4) % SAMPLES];
        double tx = c * q->x1 + s * q->x2, ty = c * q->y1 + s * q->y2; // as in slope()
        double x = q->x0 + tx, y = q->y0 + ty;
        double xd = c * q->x2 - s * q->x1, yd = c * q->y2 - s * q->y1;
        double b = x * x + y * y, half = x * xd + y * yd,
               bend = xd * xd + yd * yd - x * tx - y * ty;
        b = b > q->floor ? b : q->floor;
        double i1 = 1 / sqrt(b), m = 2 * q->m * i1;
        B[i] = b;
        out->n[i] = c * q->L2 - s * q->L1 + m * half;
        out->d[i] = m * (bend - half * half * i1 * i1) - (c * q->L1 + s * q->L2);
    }
    double most = 0;
    for (int i = 0; i < SAMPLES; ++i) {
        double d = fabs(out->d[i]);
        most = d > most ? d : most;
        out->sharp[i] = B[i] < sharp;
    }
    out->steep = 0.15 * most;
    out->n[SAMPLES] = out->n[0];
    out->d[SAMPLES] = out->d[0];
    out->sharp[SAMPLES] = out->sharp[0];
}

// The zero of N in [low, high], where N changes its sign from -sign_high: Newton kept inside by
// bisection, from f.
static double zero_between(const Around* q, double low, double high, double f, double sign_high) {
    double last = 1; // step before
    for (int i = 0; i < 60; ++i) {
        double d, n = at(q, f, &d);
        if (n == 0) break;
        if (n * sign_high > 0)
            high = f;
        else
            low = f;
        double next = f - n / d, step = fabs(next - f);
        bool inside = next >= low && next <= high;
        // quadratic: the next step would be C step^2, C = step / last^2 when not small by luck
        double C = i == 0 ? 1e4 : fmax(1, step / (last * last));
        if (inside && step < 1e-7 && step * step * C < 1e-16) return next;
        last = inside ? step : 1;
        f = inside ? next : 0.5 * (low + high);
        if (high - low < 1e-15) break;
    }
    return f;
}

typedef struct Sample {
    double f, n, d; // angle, N, N'
} Sample;

static Sample sample_at(const Around* q, double f) {
    Sample s = {.f = f};
    s.n = at(q, f, &s.d);
    return s;
}

// Zeros of N between two samples where it rises (falls): the extrema of the cubic through both
// values and slopes cut the interval into monotone pieces.
static int zeros_between(const Around* q, Sample a, Sample b, double rising, double* found,
                         int count) {
    double h = b.f - a.f, c1 = h * a.d, c2 = 3 * (b.n - a.n) - h * (2 * a.d + b.d);
    double c3 = h * (a.d + b.d) - 2 * (b.n - a.n), root = c2 * c2 - 3 * c3 * c1;
    Sample cut[4] = {a};
    int cuts = 1;
    if (root > 0) { // c1 + 2 c2 t + 3 c3 t^2 = 0
        double m = -(c2 + copysign(sqrt(root), c2)), t[2];
        t[0] = c3 != 0 ? m / (3 * c3) : -1;
        t[1] = m != 0 ? c1 / m : -1;
        if (t[0] > t[1]) {
            m = t[0];
            t[0] = t[1];
            t[1] = m;
        }
        for (int i = 0; i < 2; ++i)
            if (t[i] > 0 && t[i] < 1) cut[cuts++] = sample_at(q, a.f + h * t[i]);
    }
    cut[cuts++] = b;
    for (int i = 0; i + 1 < cuts && count < LASH_MAX_POINTS; ++i) {
        double n0 = cut[i].n, n1 = cut[i + 1].n, low = cut[i].f, high = cut[i + 1].f;
        if (!(n0 * rising < 0 && n1 * rising >= 0)) continue;
        double guess = low + (high - low) * n0 / (n0 - n1);
        found[count++] = zero_between(q, low, high, guess, rising);
    }
    return count;
}

// A zero with a small slope d may have a twin too near for the samples: the other zeros of the
// cubic d x + d2 x^2 / 2 + d3 x^3 / 6 around z. Adds the one where N rises (falls), polished.
static int add_twin(const Around* q, double z, double d, double rising, double* found, int count) {
    const double e = 1e-3;
    double low, high;
    at(q, z - e, &low);
    at(q, z + e, &high);
    double d2 = (high - low) / (2 * e), d3 = (high - 2 * d + low) / (e * e);
    double root = 0.25 * d2 * d2 - 2 * d3 * d / 3;
    if (!(root > 0 && d3 * rising > 0) || count == LASH_MAX_POINTS) return count;
    double far = -(0.5 * d2 + copysign(sqrt(root), d2)) * 3 / d3,
           x = z + far; // beyond the falling one
    if (fabs(far) > 0.2) return count;
    for (int i = 0; i < 20; ++i) {
        double slope_x, n = at(q, x, &slope_x), step = n / slope_x;
        if (!(slope_x * rising > 0) || fabs(step) > 0.5 * fabs(far)) return count;
        x -= step;
        if (fabs(step) < 1e-10) break;
    }
    for (int i = 0; i < count; ++i)
        if (fabs(remainder(x - found[i], 2 * LASH_PI)) < 1e-3 * fabs(far)) return count;
    found[count++] = x;
    return count;
}

// Where the zero of the cubic through values and slopes at both ends of [0, h] lies: Newton on it
// from the secant's zero.
static double cubic_zero(double n0, double d0, double n1, double d1, double h) {
    double c1 = h * d0, c2 = 3 * (n1 - n0) - h * (2 * d0 + d1), c3 = h * (d0 + d1) - 2 * (n1 - n0);
    double t = n0 / (n0 - n1);
    for (int i = 0; i < 2; ++i) {
        double f = n0 + t * (c1 + t * (c2 + t * c3)), d = c1 + t * (2 * c2 + 3 * t * c3);
        double next = t - f / d;
        t = next > 0 && next < 1 ? next : t;
    }
    return t * h;
}

// Zeros of N between samples i and i + 1 where it rises (falls). Away from the other axis N is
// smooth on the scale of a step: where its slope is steep at both ends and in the middle it is
// monotone. Else, where zeros may hide, the interval is searched in parts.
static int zeros_in_step(const Around* q, const Samples* at, const bool* dip, int i, double rising,
                         double* found, int count) {
    const double step = 2 * LASH_PI / SAMPLES;
    double n0 = at->n[i], n1 = at->n[i + 1], d0 = at->d[i], d1 = at->d[i + 1];
    double middle = 1.5 * (n1 - n0) / step - 0.25 * (d0 + d1), steep = at->steep;
    double way = d0 < 0 ? -1 : 1; // up or down
    bool monotone = way * d0 > steep && way * d1 > steep && way * middle > steep;
    if (monotone && !at->sharp[i] && !at->sharp[i + 1]) {
        if (!(n0 * rising < 0 && n1 * rising >= 0)) return count;
        double f = i * step, guess = f + cubic_zero(n0, d0, n1, d1, step);
        found[count++] = zero_between(q, f, f + step, guess, rising);
        return count;
    }
    if (!dip[i] && !dip[i + 1] && n0 * n1 > 0) return count;
    Sample a = {.f = i * step, .n = n0, .d = d0};
    for (int k = 1; k <= PARTS; ++k) {
        Sample b = {.f = (i + 1) * step, .n = n1, .d = d1};
        if (k < PARTS) b = sample_at(q, (i + (double)k / PARTS) * step);
        count = zeros_between(q, a, b, rising, found, count);
        a = b;
    }
    return count;
}

// Minima (rising = +1) or maxima (-1) of the distance; angles.
static int stationary(const Around* q, double rising, double found[LASH_MAX_POINTS]) {
    Samples at_step;
    const double* n = at_step.n;
    bool dip[SAMPLES + 1]; // |N| has a minimum here: zeros may hide on both sides
    int count = 0;
    double largest = 0;
    sample(q, &at_step);
    for (int i = 0; i < SAMPLES; ++i) {
        double before = fabs(n[(i + SAMPLES - 1) % SAMPLES]), here = fabs(n[i]);
        dip[i] = here <= before && here <= fabs(n[i + 1]);
        largest = here > largest ? here : largest;
    }
    dip[SAMPLES] = dip[0];
    for (int i = 0; i < SAMPLES && count < LASH_MAX_POINTS; ++i)
        count = zeros_in_step(q, &at_step, dip, i, rising, found, count);
    for (int i = 0, all = count; i < all; ++i) {
        double d;
        at(q, found[i], &d);
        if (fabs(d) < 1e-2 * largest) count = add_twin(q, found[i], d, rising, found, count);
    }
    return count;
}

typedef struct Frame {
    Vec3 o, x, y, z;
} Frame;

// Circle (radius R, about the z of a) over the z axis of b.
static Around around(const Frame* a, double R, const Frame* b) {
    Vec3 w = vec3_sub(a->o, b->o);
    Around q = {.x0 = vec3_dot(w, b->x), .y0 = vec3_dot(w, b->y)};
    q.x1 = R * vec3_dot(a->x, b->x);
    q.y1 = R * vec3_dot(a->x, b->y);
    q.x2 = R * vec3_dot(a->y, b->x);
    q.y2 = R * vec3_dot(a->y, b->y);
    q.floor = 1e-24 * (vec3_norm_squared(w) + R * R);
    q.sharp = 0.16 * R * R; // (2 steps along the circle)^2
    return q;
}

static Vec3 on_circle(Vec3 o, Vec3 x, Vec3 y, double R, double f) {
    return vec3_add(o, vec3_add(vec3_scale(R * cos(f), x), vec3_scale(R * sin(f), y)));
}

static Vec3 nearest_on_circle(Vec3 p, Vec3 o, Vec3 x, Vec3 z, double R) {
    Vec3 e = lash_across(vec3_sub(p, o), z);
    double rho = vec3_norm(e);
    return vec3_add_scaled(o, R, rho > 0 ? vec3_scale(1 / rho, e) : x);
}

// A slot for each root by where it is on the circle, so that one keeps its slot when others come or
// go: its quarter, or the next free one. Quarters do not begin where symmetric parts touch.
static int slot_at(double f, bool used[LASH_MAX_POINTS]) {
    double quarter = (f + 0.3) / (0.5 * LASH_PI);
    int slot = (int)(quarter - 4 * floor(0.25 * quarter)) & 3;
    while (used[slot]) slot = (slot + 1) & 3;
    used[slot] = true;
    return slot;
}

static void circle_circle(LashPairView* view) {
    const LashFeature *a = view->a, *b = view->b;
    bool hollow = a->side * b->side<0, small = a->radius> LARGE * b->radius;
    bool swap = hollow ? a->side < 0 : small; // run over the convex one, or the small one
    Frame fa = {view->origin, view->x, view->y, view->z}, fb = {b->origin, b->x, b->y, b->z};
    const Frame *over = swap ? &fb : &fa, *axis = swap ? &fa : &fb;
    double R = swap ? b->radius : a->radius;
    Vec3 ao = view->origin, ax = view->x, ay = view->y, az = view->z,
         w0 = vec3_sub(over->o, axis->o);
    Around q = around(over, R, axis);
    q.L1 = 2 * R * vec3_dot(w0, over->x);
    q.L2 = 2 * R * vec3_dot(w0, over->y);
    q.m = swap ? -a->radius : -b->radius;
    double f[LASH_MAX_POINTS];
    int count = stationary(&q, hollow ? -1 : 1, f);
    if (count == 0) f[count++] = 0; // coaxial: everywhere the same
    bool used[LASH_MAX_POINTS] = {false};
    for (int i = 0; i < count; ++i) {
        LashCandidate c = {.slot = slot_at(f[i], used)};
        c.check = lash_is_smooth(a) || lash_is_smooth(b);
        if (swap) {
            c.cb = on_circle(b->origin, b->x, b->y, b->radius, f[i]);
            c.ca = nearest_on_circle(c.cb, ao, ax, az, a->radius);
        } else {
            c.ca = on_circle(ao, ax, ay, a->radius, f[i]);
            c.cb = nearest_on_circle(c.ca, b->origin, b->x, b->z, b->radius);
        }
        if (!lash_is_smooth(a) && !lash_is_smooth(b)) {
            Vec3 ta = vec3_scale(1 / a->radius, vec3_cross(az, vec3_sub(c.ca, ao)));
            Vec3 tb = vec3_scale(1 / b->radius, vec3_cross(b->z, vec3_sub(c.cb, b->origin)));
            lash_pair_add_edges(view, &c, ta, tb);
            continue;
        }
        Vec3 w = vec3_sub(c.ca, c.cb);
        double d = vec3_norm(w);
        if (d == 0) continue;
        c.n = vec3_scale((hollow ? -1 : 1) / d, w);
        lash_pair_add(view, &c);
    }
}

static void circle_plane(LashPairView* view) {
    const LashFeature *a = view->a, *b = view->b;
    LashCandidate c = {.n = vec3_scale(b->side, b->z)};
    Vec3 e = lash_across(vec3_neg(c.n), view->z);
    double sine = vec3_norm(e);
    bool full = a->kind == LASH_FEATURE_EDGE ? a->closed : a->face->u_closed;
    double flat = full ? view->query->flat : 0.25 * view->query->flat;
    if (sine > 1e-13 && a->radius * sine >= flat) {
        c.ca = vec3_add_scaled(view->origin, a->radius / sine, e);
        c.cb = vec3_add_scaled(c.ca, -vec3_dot(vec3_sub(c.ca, b->origin), b->z), b->z);
        lash_pair_add(view, &c);
    }
    if (!full || sine > LASH_SLACK_PLANE || a->seam) return;
    static const double cosine[3] = {1, -0.5, -0.5};
    static const double sines[3] = {0, 0.86602540378443864676, -0.86602540378443864676};
    c.ball = true;
    for (int k = 0; k < 3; ++k) {
        Vec3 p = vec3_add(vec3_scale(cosine[k], view->x), vec3_scale(sines[k], view->y));
        c.ca = vec3_add_scaled(view->origin, a->radius, p);
        c.cb = vec3_add_scaled(c.ca, -vec3_dot(vec3_sub(c.ca, b->origin), b->z), b->z);
        c.slot = 1 + k;
        lash_pair_add(view, &c);
    }
}

static void circle_cone(LashPairView* view) {
    const LashFeature *a = view->a, *b = view->b;
    Frame fa = {view->origin, view->x, view->y, view->z}, fb = {b->origin, b->x, b->y, b->z};
    Around q = around(&fa, a->radius, &fb);
    double m = -2 * b->sin_a * a->radius;
    q.L1 = m * vec3_dot(view->x, b->z);
    q.L2 = m * vec3_dot(view->y, b->z);
    q.m = b->cos_a;
    double f[LASH_MAX_POINTS];
    int count = stationary(&q, b->side < 0 ? -1 : 1, f);
    if (count == 0) f[count++] = 0; // coaxial
    for (int i = 0; i < count; ++i) {
        LashCandidate c = {.ca = on_circle(view->origin, view->x, view->y, a->radius, f[i]),
                           .slot = i};
        c.check = true;
        Vec3 w = vec3_sub(c.ca, b->origin);
        double z = vec3_dot(w, b->z);
        Vec3 e = lash_across(w, b->z);
        double rho = vec3_norm(e);
        if (rho == 0) continue;
        double d = (rho - b->radius) * b->cos_a - z * b->sin_a;
        Vec3 n = vec3_sub(vec3_scale(b->cos_a / rho, e), vec3_scale(b->sin_a, b->z));
        c.cb = vec3_add_scaled(c.ca, -d, n);
        c.n = vec3_scale(b->side, n);
        lash_pair_add(view, &c);
    }
}

void lash_pair_circle(LashPairView* view) {
    switch (view->b->skeleton) {
        case LASH_SKELETON_CIRCLE:
            circle_circle(view);
            break;
        case LASH_SKELETON_PLANE:
            circle_plane(view);
            break;
        case LASH_SKELETON_CONE:
            circle_cone(view);
            break;
        default:
            break;
    }
}
