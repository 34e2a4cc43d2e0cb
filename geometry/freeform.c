// Pairs with a free curve or surface (and cone with cone): global search over cells, then Newton.
//
// Three systems, for the parameters x of the curve or surface:
//  S  against an elementary face with signed distance phi:  grad phi . P_i = 0
//  N  point, edge or surface a against a surface b:  r . S_u = r . S_v = 0,  N . a_i = 0,
//     r = pa - pb, N = S_u x S_v; regular through r = 0
//  C  curve against curve or point:  r . a' = 0,  r . b' = 0
// Newton with the exact Jacobian follows a root in 2-3 steps.
//
// Search: a cell (piece of the parameter domain) with middle c and radius R (from bounds on the
// derivatives: no point of the piece is farther from c) cannot hold a root with gap in [-reach,
// limit] when the distance at c exceeds that range by more than R; nor when its normals cannot
// oppose. From the middle of every cell left, Newton is started; equal roots are merged. The cells
// are fine enough (2 + 2 degree per direction) that a piece holds one root at most in practice; the
// tests compare with dense grids.
//
// Between searches roots are followed. Those that wait outside the trims and wedges, or beyond an
// end of the parameters (where Newton was stopped), are followed too: a contact that passes from
// one feature to the next is there at once.
#include "geometry/freeform.h"

#include <string.h>

#include "core/arena.h"
#include "geometry/kernels_internal.h"
#include "geometry/trim.h"

enum { MAX_ROOTS = 32, MAX_NEWTON = 24 };

// ---- cells ------------------------------------------------------------------------------------

static void add_face_cells(LashCells* cells, const LashFeature* f, double u0, double u1, double v0,
                           double v1, int nu, int nv, double speed_u, double speed_v) {
    double hu = (u1 - u0) / nu, hv = (v1 - v0) / nv;
    for (int i = 0; i < nu * nv; ++i) {
        LashCell* c = cells->cell + cells->cells++;
        c->p[0] = u0 + hu * (i % nu + 0.5), c->p[1] = v0 + hv * (i / nu + 0.5);
        c->radius = 0.5 * (hu * speed_u + hv * speed_v);
        for (int k = 0; k < 5; ++k) { // the middle, then the corners
            double u = c->p[0] + (k == 0 ? 0 : k % 2 ? 0.5 * hu : -0.5 * hu);
            double v = c->p[1] + (k == 0 ? 0 : k < 3 ? 0.5 * hv : -0.5 * hv);
            LashSurfacePoint s = lash_face_point(f->shape, f->face, u, v);
            Vec3 n = vec3_cross(s.u, s.v);
            double l = vec3_norm(n);
            n = l > 0 ? vec3_scale(f->face->side / l, n) : c->normal;
            if (k == 0)
                c->center = s.p, c->normal = n;
            else
                c->cone = fmax(c->cone, acos(fmin(1, fmax(-1, vec3_dot(n, c->normal)))));
        }
        c->cone = 1.5 * c->cone + 0.05;
    }
}

static void close_group(LashCells* cells, int first) {
    LashCellGroup* g = cells->group + cells->groups++;
    g->first = first, g->count = cells->cells - first;
    Vec3 low = cells->cell[first].center, high = low;
    for (int i = first; i < cells->cells; ++i) {
        Vec3 c = cells->cell[i].center;
        low = vec3(fmin(low.x, c.x), fmin(low.y, c.y), fmin(low.z, c.z));
        high = vec3(fmax(high.x, c.x), fmax(high.y, c.y), fmax(high.z, c.z));
    }
    g->center = vec3_scale(0.5, vec3_add(low, high));
    g->radius = 0;
    for (int i = first; i < cells->cells; ++i)
        g->radius = fmax(g->radius,
                         vec3_distance(g->center, cells->cell[i].center) + cells->cell[i].radius);
}

static LashCells* cells_create(int cells, int groups) {
    LashCells* c = lash_alloc(sizeof(LashCells));
    c->cell = lash_alloc((size_t)cells * sizeof(LashCell));
    c->group = lash_alloc((size_t)groups * sizeof(LashCellGroup));
    return c;
}

static LashCells* surface_cells(const LashFeature* f) {
    const LashFace* face = f->face;
    int patches = face->u_patches * face->v_patches, total = 0;
    for (int i = 0; i < patches; ++i) {
        const LashPatch* p = f->shape->patch + face->first_patch + i;
        total += (2 + 2 * p->u_degree) * (2 + 2 * p->v_degree);
    }
    LashCells* cells = cells_create(total, patches);
    for (int i = 0; i < patches; ++i) {
        const LashPatch* p = f->shape->patch + face->first_patch + i;
        double u, v;
        int first = cells->cells;
        lash_patch_speed(f->shape, p, &u, &v);
        add_face_cells(cells, f, p->u0, p->u1, p->v0, p->v1, 2 + 2 * p->u_degree,
                       2 + 2 * p->v_degree, u, v);
        close_group(cells, first);
    }
    return cells;
}

static LashCells* curve_cells(const LashFeature* f) {
    const LashEdge* e = f->edge;
    const LashSegment* segment = f->shape->segment + e->first_segment;
    int total = 0;
    for (int i = 0; i < e->segments; ++i) total += 4 + 4 * segment[i].degree;
    LashCells* cells = cells_create(total, e->segments);
    for (int i = 0; i < e->segments; ++i) {
        const LashSegment* s = segment + i;
        int n = 4 + 4 * s->degree, first = cells->cells;
        double h = (s->t1 - s->t0) / n, speed = lash_segment_speed(f->shape, s);
        for (int k = 0; k < n; ++k) {
            LashCell* c = cells->cell + cells->cells++;
            c->p[0] = s->t0 + h * (k + 0.5);
            c->center = lash_edge_point(f->shape, e, c->p[0]).p;
            c->radius = 0.5 * h * speed;
        }
        close_group(cells, first);
    }
    return cells;
}

void lash_feature_prepare(LashFeature* f) {
    f->cells = NULL;
    if (f->skeleton == LASH_SKELETON_SURFACE) {
        f->cells = surface_cells(f);
    } else if (f->skeleton == LASH_SKELETON_CURVE) {
        f->cells = curve_cells(f);
    } else if (f->skeleton == LASH_SKELETON_CONE) {
        const LashFace* face = f->face;
        enum { AROUND = 24, ALONG = 4 };
        f->cells = cells_create(AROUND * ALONG, 1);
        double r = fmax(fabs(face->radius + face->v0 * f->sin_a),
                        fabs(face->radius + face->v1 * f->sin_a));
        add_face_cells(f->cells, f, face->u0, face->u1, face->v0, face->v1, AROUND, ALONG, r, 1);
        close_group(f->cells, 0);
    }
}

void lash_feature_release(LashFeature* f) {
    if (f->cells == NULL) return;
    lash_free(f->cells->cell);
    lash_free(f->cells->group);
    lash_free(f->cells);
    f->cells = NULL;
}

// ---- systems ----------------------------------------------------------------------------------

typedef enum Mode { MODE_S, MODE_N, MODE_C } Mode;

typedef struct Problem {
    LashPairView* v;
    Mode mode;
    const LashFeature *P, *Q;                                // S: parametric and elementary feature
    LashPlacement place;                                     // S: P in Q's frame
    LashPlacement a_b;                                       // inverse of b_a
    int na, n;                                               // parameters of a; of all (S: of P)
    double x[MAX_ROOTS][4], sign[MAX_ROOTS], gap[MAX_ROOTS]; // in ascending order of the gap
    int roots;
    double end[LASH_MAX_WAITING][4]; // where Newton was stopped by the range
    int ends;
} Problem;

static int parameters(const LashFeature* f) {
    switch (f->skeleton) {
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
static LashSurfacePoint feature_point(const LashFeature* f, const double* t) {
    LashSurfacePoint s;
    memset(&s, 0, sizeof s);
    if (f->skeleton == LASH_SKELETON_POINT) {
        s.p = f->origin;
    } else if (f->kind == LASH_FEATURE_EDGE) {
        LashCurvePoint c = lash_edge_point(f->shape, f->edge, t[0]);
        s.p = c.p, s.u = c.d, s.uu = c.dd;
    } else {
        s = lash_face_point(f->shape, f->face, t[0], t[1]);
    }
    return s;
}

static LashSurfacePoint place_point(const LashPlacement* q, LashSurfacePoint s) {
    s.p = lash_place(q, s.p);
    s.u = mat3_mul(q->rot, s.u), s.v = mat3_mul(q->rot, s.v);
    s.uu = mat3_mul(q->rot, s.uu), s.uv = mat3_mul(q->rot, s.uv), s.vv = mat3_mul(q->rot, s.vv);
    return s;
}

// Signed distance of X from the elementary face Q, its gradient, and the Hessian as k1 e1 e1' + k2
// e2 e2'.
static double distance(const LashFeature* Q, Vec3 X, Vec3* n, Vec3 e[2], double k[2]) {
    Vec3 w = vec3_sub(X, Q->origin);
    k[0] = k[1] = 0;
    e[0] = Q->x, e[1] = Q->y;
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
    Vec3 r = vec3_add_scaled(w, -z, Q->z);
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
    e[1] = vec3_cross(t, e[0]), k[1] = Q->side / d;
    return Q->side * (d - Q->tube);
}

static void system_S(const Problem* q, const double* x, double F[4], double J[16]) {
    LashSurfacePoint s = place_point(&q->place, feature_point(q->P, x));
    Vec3 n, e[2], d[2] = {s.u, s.v};
    const Vec3* dd[4] = {&s.uu, &s.uv, &s.uv, &s.vv};
    double k[2];
    distance(q->Q, s.p, &n, e, k);
    for (int i = 0; i < q->n; ++i) {
        F[i] = vec3_dot(n, d[i]);
        for (int j = 0; j < q->n; ++j)
            J[i + 4 * j] = vec3_dot(n, *dd[i + 2 * j]) +
                           k[0] * vec3_dot(e[0], d[i]) * vec3_dot(e[0], d[j]) +
                           k[1] * vec3_dot(e[1], d[i]) * vec3_dot(e[1], d[j]);
    }
}

static void system_N(const Problem* q, const double* x, double F[4], double J[16]) {
    int na = q->na;
    LashSurfacePoint a = place_point(q->v->b_a, feature_point(q->v->a, x));
    LashSurfacePoint b = feature_point(q->v->b, x + na);
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
}

static void system_C(const Problem* q, const double* x, double F[4], double J[16]) {
    int na = q->na;
    LashSurfacePoint a = place_point(q->v->b_a, feature_point(q->v->a, x));
    LashSurfacePoint b = feature_point(q->v->b, x + na);
    Vec3 r = vec3_sub(a.p, b.p);
    if (na == 1) {
        F[0] = vec3_dot(r, a.u);
        J[0] = vec3_dot(a.u, a.u) + vec3_dot(r, a.uu);
        J[4] = -vec3_dot(a.u, b.u);
    }
    F[na] = vec3_dot(r, b.u);
    if (na == 1) J[1] = vec3_dot(a.u, b.u);
    J[na + 4 * na] = vec3_dot(r, b.uu) - vec3_dot(b.u, b.u);
}

// Solves J d = F (n <= 4, column stride 4) with rows scaled to 1; false when singular. sign: of the
// determinant.
static bool solve(int n, double J[16], double F[4], double* sign) {
    *sign = 1;
    for (int i = 0; i < n; ++i) {
        double s = 0;
        for (int j = 0; j < n; ++j) s = fmax(s, fabs(J[i + 4 * j]));
        if (!(s > 0)) return false;
        for (int j = 0; j < n; ++j) J[i + 4 * j] /= s;
        F[i] /= s;
    }
    for (int k = 0; k < n; ++k) {
        int p = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(J[i + 4 * k]) > fabs(J[p + 4 * k])) p = i;
        if (!(fabs(J[p + 4 * k]) > 1e-14)) return false;
        if (J[p + 4 * k] < 0) *sign = -*sign;
        if (p != k) {
            for (int j = 0; j < n; ++j) {
                double t = J[k + 4 * j];
                J[k + 4 * j] = J[p + 4 * j], J[p + 4 * j] = t;
            }
            double t = F[k];
            F[k] = F[p], F[p] = t;
            *sign = -*sign;
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

// Range of parameter i of feature f: the trims decide about its ends. Returns its period, 0: none.
// Circles and surfaces of revolution go round without end; closed patches and curves are wrapped.
static double parameter_range(const LashFeature* f, int i, double* low, double* high) {
    bool closed, free;
    if (f->kind == LASH_FEATURE_EDGE) {
        *low = f->t0, *high = f->t1;
        free = f->skeleton == LASH_SKELETON_CURVE;
        closed = free ? f->edge->closed : f->closed;
    } else {
        *low = i == 0 ? f->face->u0 : f->face->v0;
        *high = i == 0 ? f->face->u1 : f->face->v1;
        free = f->skeleton == LASH_SKELETON_SURFACE;
        closed = i == 0 && f->face->u_closed;
    }
    if (!closed) return 0;
    if (free) return *high - *low;
    *low = -INFINITY, *high = INFINITY;
    return 2 * LASH_PI;
}

static double problem_range(const Problem* q, int i, double* low, double* high) {
    if (q->mode == MODE_S) return parameter_range(q->P, i, low, high);
    if (i < q->na) return parameter_range(q->v->a, i, low, high);
    return parameter_range(q->v->b, i - q->na, low, high);
}

// Difference of two values of parameter i, as a share of its range or period.
static double parameter_distance(const Problem* q, int i, double x, double y) {
    double low, high, d = fabs(x - y), period = problem_range(q, i, &low, &high);
    return period > 0 ? fabs(remainder(d, period)) / period : d / (high - low);
}

typedef enum Descent { ROOT, NO_ROOT, STOPPED } Descent; // stopped by the range

// From x to a root, giving up after `patience` steps against the ends of the range. sign: of the
// determinant of the Jacobian at the root; it changes only at a fold.
static Descent newton(const Problem* q, double x[4], int patience, double* sign) {
    const double trust = 0.15; // longest step, of the range
    double low[4], high[4], period[4];
    for (int i = 0; i < q->n; ++i) period[i] = problem_range(q, i, &low[i], &high[i]);
    int outside = 0;
    for (int k = 0; k < MAX_NEWTON; ++k) {
        double F[4], J[16] = {0};
        switch (q->mode) {
            case MODE_S:
                system_S(q, x, F, J);
                break;
            case MODE_N:
                system_N(q, x, F, J);
                break;
            case MODE_C:
                system_C(q, x, F, J);
                break;
        }
        if (!solve(q->n, J, F, sign)) return NO_ROOT;
        double step = 0, damp = k > 10 ? 0.5 : 1;
        bool clamped = false, stopped = false;
        for (int i = 0; i < q->n; ++i) {
            double range = period[i] > 0 ? period[i] : high[i] - low[i];
            double d = F[i], most = trust * range;
            if (!isfinite(d)) return NO_ROOT;
            step = fmax(step, fabs(d) / range);
            if (fabs(d) > most) d = copysign(most, d), clamped = true;
            double next = x[i] - damp * d, margin = 1e-7 * range;
            if (period[i] > 0 && next < low[i]) next += period[i];
            if (period[i] > 0 && next > high[i]) next -= period[i];
            if (next < low[i] - margin) next = low[i] - margin, clamped = stopped = true;
            if (next > high[i] + margin) next = high[i] + margin, clamped = stopped = true;
            x[i] = next;
        }
        if (step < 1e-6 && !clamped && damp == 1)
            return ROOT; // quadratic: below 1e-11 now, gaps 1e-20
        outside = clamped ? outside + 1 : 0;
        if (outside > patience) return stopped ? STOPPED : NO_ROOT;
    }
    return NO_ROOT;
}

// ---- roots ------------------------------------------------------------------------------------

static Vec3 outward(const LashFeature* f, const LashSurfacePoint* s) {
    return vec3_scale(f->side, vec3_normalize(vec3_cross(s->u, s->v)));
}

// Gap at a root before any other test; INFINITY when it is of no use.
static double root_gap(const Problem* q, const double x[4]) {
    const LashPairView* v = q->v;
    double gap, reach = lash_kernel_reach(v->a, v->b);
    if (q->mode == MODE_S) {
        LashSurfacePoint s = place_point(&q->place, feature_point(q->P, x));
        Vec3 n, e[2];
        double k[2];
        gap = distance(q->Q, s.p, &n, e, k);
    } else {
        LashSurfacePoint a = place_point(v->b_a, feature_point(v->a, x));
        LashSurfacePoint b = feature_point(v->b, x + q->na);
        Vec3 w = vec3_sub(a.p, b.p);
        gap = q->mode == MODE_N ? vec3_dot(w, outward(v->b, &b)) : vec3_norm(w);
    }
    return gap <= v->query->limit && gap >= -2 * reach ? gap : INFINITY;
}

static bool same_root(const Problem* q, const double* x, const double* y) {
    for (int i = 0; i < q->n; ++i)
        if (parameter_distance(q, i, x[i], y[i]) > 1e-5) return false;
    return true;
}

static bool is_known(const Problem* q, const double x[4]) {
    for (int k = 0; k < q->roots; ++k)
        if (same_root(q, x, q->x[k])) return true;
    return false;
}

// Enters a new root into the list, the smallest gaps first; a full list drops its largest.
static void keep(Problem* q, const double x[4], double sign) {
    if (is_known(q, x)) return;
    double gap = root_gap(q, x);
    if (isinf(gap) || (q->roots == MAX_ROOTS && q->gap[MAX_ROOTS - 1] <= gap)) return;
    int at = q->roots < MAX_ROOTS ? q->roots++ : MAX_ROOTS - 1;
    for (; at > 0 && q->gap[at - 1] > gap; --at) {
        q->gap[at] = q->gap[at - 1], q->sign[at] = q->sign[at - 1];
        memcpy(q->x[at], q->x[at - 1], sizeof q->x[at]);
    }
    q->gap[at] = gap, q->sign[at] = sign;
    memcpy(q->x[at], x, sizeof q->x[at]);
}

// Adds the root with parameters x to the view; true when it was accepted.
static bool add_root(Problem* q, const double x[4], int slot, bool check) {
    LashPairView* v = q->v;
    LashCandidate c = {.slot = slot, .check = check};
    int before = v->count;
    if (q->mode == MODE_S) {
        LashSurfacePoint s = place_point(&q->place, feature_point(q->P, x));
        Vec3 n, e[2];
        double k[2], d = distance(q->Q, s.p, &n, e, k), tube = q->Q->side * q->Q->tube;
        bool face = q->P->kind == LASH_FEATURE_FACE;
        Vec3 N = face ? vec3_cross(s.u, s.v) : vec3_zero();
        if (face && vec3_dot(N, n) * q->P->side > 0) return false; // same way round
        Vec3 skeleton = vec3_add_scaled(s.p, -d - tube, n);
        if (q->Q == v->b) {
            c.ca = s.p, c.cb = skeleton, c.n = n;
            memcpy(c.t_a, x, sizeof c.t_a);
        } else { // found in a's frame
            c.cb = lash_place(v->b_a, s.p), c.ca = lash_place(v->b_a, skeleton);
            c.n = vec3_neg(mat3_mul(v->b_a->rot, n));
            memcpy(c.t_b, x, sizeof c.t_b);
        }
        lash_pair_add(v, &c);
        return v->count > before;
    }
    LashSurfacePoint a = place_point(v->b_a, feature_point(v->a, x));
    LashSurfacePoint b = feature_point(v->b, x + q->na);
    c.ca = a.p, c.cb = b.p;
    memcpy(c.t_a, x, (size_t)q->na * sizeof(double));
    memcpy(c.t_b, x + q->na, (size_t)(q->n - q->na) * sizeof(double));
    if (q->mode == MODE_N) {
        c.n = outward(v->b, &b);
        if (q->na == 2 && vec3_dot(vec3_cross(a.u, a.v), c.n) * v->a->side > 0) return false;
        lash_pair_add(v, &c);
    } else if (q->na == 1) {
        lash_pair_add_edges(v, &c, vec3_normalize(a.u), vec3_normalize(b.u));
    } else {
        Vec3 w = vec3_sub(a.p, b.p);
        double d = vec3_norm(w);
        if (d == 0) return false;
        c.n = vec3_scale(1 / d, w);
        lash_pair_add(v, &c);
    }
    return v->count > before;
}

// In mode C only minima count: 2 x 2 Hessian of the squared distance.
static bool is_minimum(const Problem* q, const double x[4]) {
    double F[4], J[16] = {0};
    if (q->mode != MODE_C) return true;
    system_C(q, x, F, J);
    if (q->na == 0) return J[0] < 0;
    return J[0] > 0 && -J[0] * J[5] - J[4] * J[4] > 0;
}

// ---- search -----------------------------------------------------------------------------------

static void keep_end(Problem* q, const double x[4]) {
    if (q->ends == LASH_MAX_WAITING || isinf(root_gap(q, x))) return;
    for (int k = 0; k < q->ends; ++k)
        if (same_root(q, x, q->end[k])) return;
    memcpy(q->end[q->ends++], x, sizeof q->end[0]);
}

static void start(Problem* q, const double x0[4]) {
    double x[4] = {x0[0], x0[1], x0[2], x0[3]}, sign;
    Descent descent = newton(q, x, 8, &sign);
    if (descent == ROOT && is_minimum(q, x)) keep(q, x, sign);
    if (descent == STOPPED) keep_end(q, x);
}

static double depth_of(const LashFeature* a, const LashFeature* b) {
    double reach = fmin(a->reach, b->reach), size = fmin(a->size, b->size);
    return fmin(reach, size);
}

static void search_S(Problem* q) {
    const LashCells* cells = q->P->cells;
    double high = q->v->query->limit, low = -depth_of(q->v->a, q->v->b);
    for (int g = 0; g < cells->groups; ++g) {
        const LashCellGroup* group = cells->group + g;
        Vec3 n, e[2];
        double k[2], d = distance(q->Q, lash_place(&q->place, group->center), &n, e, k);
        if (d - group->radius > high || d + group->radius < low) continue;
        for (int i = 0; i < group->count; ++i) {
            const LashCell* c = cells->cell + group->first + i;
            d = distance(q->Q, lash_place(&q->place, c->center), &n, e, k);
            if (d - c->radius > high || d + c->radius < low) continue;
            if (q->P->kind == LASH_FEATURE_FACE) { // normals must be able to oppose
                double turn = c->radius * fmax(fabs(k[0]), fabs(k[1]));
                double angle =
                    acos(fmin(1, fmax(-1, -vec3_dot(n, mat3_mul(q->place.rot, c->normal)))));
                if (angle > c->cone + turn) continue;
            }
            double x[4] = {c->p[0], c->p[1], 0, 0};
            start(q, x);
        }
    }
}

// Nearest parameter of an elementary point or edge a (placed in b's frame) to p, and the distance.
static double project(const LashPairView* v, Vec3 p, double* t) {
    Vec3 w = vec3_sub(p, v->origin);
    *t = 0;
    if (v->a->skeleton == LASH_SKELETON_POINT) return vec3_norm(w);
    if (v->a->skeleton == LASH_SKELETON_LINE) {
        *t = fmin(v->a->t1, fmax(v->a->t0, vec3_dot(w, v->z)));
        return vec3_norm(vec3_add_scaled(w, -*t, v->z));
    }
    double x = vec3_dot(w, v->x), y = vec3_dot(w, v->y), z = vec3_dot(w, v->z);
    *t = v->a->t0 + remainder(atan2(y, x) - v->a->t0, 2 * LASH_PI);
    if (*t < v->a->t0) *t += 2 * LASH_PI;
    double rho = sqrt(x * x + y * y) - v->a->radius;
    if (!v->a->closed && *t > v->a->t1) { // beyond an arc: its nearer end
        *t = *t - v->a->t1 < v->a->t0 + 2 * LASH_PI - *t ? v->a->t1 : v->a->t0;
        return vec3_distance(p, lash_place(v->b_a, feature_point(v->a, t).p));
    }
    return sqrt(rho * rho + z * z);
}

// Vertex or elementary edge a against the cells of b.
static void search_one(Problem* q) {
    const LashCells* cells = q->v->b->cells;
    double most = fmax(q->v->query->limit, depth_of(q->v->a, q->v->b)), t;
    for (int g = 0; g < cells->groups; ++g) {
        const LashCellGroup* group = cells->group + g;
        if (project(q->v, group->center, &t) - group->radius > most) continue;
        for (int i = 0; i < group->count; ++i) {
            const LashCell* c = cells->cell + group->first + i;
            if (project(q->v, c->center, &t) - c->radius > most) continue;
            double x[4] = {c->p[0], c->p[1], 0, 0};
            if (q->na == 1) x[0] = t, x[1] = c->p[0], x[2] = c->p[1];
            start(q, x);
        }
    }
}

static void search_cells(Problem* q, const LashCellGroup* ga, const LashCellGroup* gb,
                         double most) {
    const LashFeature *a = q->v->a, *b = q->v->b;
    for (int i = 0; i < ga->count; ++i) {
        const LashCell* ca = a->cells->cell + ga->first + i;
        Vec3 pa = lash_place(q->v->b_a, ca->center);
        if (vec3_distance(pa, gb->center) - ca->radius - gb->radius > most) continue;
        Vec3 na = mat3_mul(q->v->b_a->rot, ca->normal);
        for (int j = 0; j < gb->count; ++j) {
            const LashCell* cb = b->cells->cell + gb->first + j;
            double both = ca->radius + cb->radius;
            Vec3 w = vec3_sub(pa, cb->center);
            if (vec3_norm_squared(w) > (most + both) * (most + both)) continue;
            if (q->mode == MODE_N) { // the connection must be able to lie along the normal of b
                double along = vec3_dot(w, cb->normal), cone = fmin(cb->cone, 1.5);
                double across = sqrt(fmax(0, vec3_norm_squared(w) - along * along));
                if (across > 1.5 * both + (fabs(along) + both) * sin(cone)) continue;
            }
            if (q->na == 2 && vec3_dot(na, cb->normal) > -cos(fmin(LASH_PI, ca->cone + cb->cone)))
                continue;
            double x[4] = {ca->p[0], ca->p[1], cb->p[0], cb->p[1]};
            if (q->na == 1) x[1] = cb->p[0], x[2] = cb->p[1];
            start(q, x);
        }
    }
}

static void search_both(Problem* q) {
    const LashFeature *a = q->v->a, *b = q->v->b;
    double most = fmax(q->v->query->limit, depth_of(a, b));
    for (int i = 0; i < a->cells->groups; ++i) {
        Vec3 center = lash_place(q->v->b_a, a->cells->group[i].center);
        for (int j = 0; j < b->cells->groups; ++j) {
            double r = a->cells->group[i].radius + b->cells->group[j].radius;
            if (vec3_distance(center, b->cells->group[j].center) - r > most) continue;
            search_cells(q, a->cells->group + i, b->cells->group + j, most);
        }
    }
}

static void search_all(Problem* q) {
    if (q->mode == MODE_S)
        search_S(q);
    else if (q->v->a->cells == NULL)
        search_one(q);
    else
        search_both(q);
}

static Problem make_problem(LashPairView* v) {
    Problem q;
    memset(&q, 0, sizeof q);
    const LashFeature *a = v->a, *b = v->b;
    q.v = v;
    bool free_b = b->skeleton == LASH_SKELETON_SURFACE || b->skeleton == LASH_SKELETON_CURVE;
    bool elementary_a = a->kind == LASH_FEATURE_FACE && a->skeleton != LASH_SKELETON_SURFACE;
    if (!free_b || elementary_a) {
        q.mode = MODE_S;
        if (free_b) {
            q.P = b, q.Q = a, q.place = lash_placement_inverse(v->b_a);
        } else {
            q.P = a, q.Q = b, q.place = *v->b_a;
        }
        q.n = parameters(q.P);
        return q;
    }
    q.mode = b->skeleton == LASH_SKELETON_SURFACE ? MODE_N : MODE_C;
    q.na = parameters(a), q.n = q.na + parameters(b);
    return q;
}

// Slots: a root keeps the slot of the warm root it came from; new ones take the free slots.
static void add_roots(Problem* q, LashWarm* warm) {
    bool taken[LASH_MAX_POINTS] = {false};
    LashWarm next = {0};
    int slot_of[MAX_ROOTS];
    for (int k = 0; k < q->roots; ++k) {
        slot_of[k] = -1;
        for (int s = 0; warm != NULL && s < warm->count; ++s) {
            double d = 0;
            for (int i = 0; i < q->n; ++i)
                d = fmax(d, parameter_distance(q, i, q->x[k][i], warm->p[s][i]));
            if (d < 0.05 && !taken[s]) {
                taken[s] = true, slot_of[k] = s;
                break;
            }
        }
    }
    for (int k = 0; k < q->roots; ++k) {
        int s = slot_of[k];
        for (int i = 0; s < 0 && i < LASH_MAX_POINTS; ++i)
            if (!taken[i]) s = i;
        if (s < 0) continue;
        for (int i = 0; slot_of[k] < 0 && i < LASH_MAX_POINTS; ++i)
            if (!taken[i] && i < s) s = i;
        if (!add_root(q, q->x[k], s, true)) {
            if (next.waiting < LASH_MAX_WAITING)
                memcpy(next.wait[next.waiting++], q->x[k], sizeof next.wait[0]);
            continue;
        }
        next.sign[s] = q->sign[k];
        taken[s] = true;
        if (s >= next.count) next.count = s + 1;
        memcpy(next.p[s], q->x[k], sizeof next.p[s]);
    }
    if (warm == NULL) return;
    for (int k = 0; k < q->ends && next.waiting < LASH_MAX_WAITING; ++k)
        memcpy(next.wait[next.waiting++], q->end[k], sizeof next.wait[0]);
    for (int s = 0; s < next.count; ++s) // holes keep what was there
        if (!taken[s]) memcpy(next.p[s], warm->p[s], sizeof next.p[s]), next.sign[s] = 0;
    *warm = next;
}

// Roots that wait outside: those that came in take a slot that is empty now.
static void follow_waiting(Problem* q, LashWarm* warm, bool taken[LASH_MAX_POINTS]) {
    for (int k = 0; k < warm->waiting; ++k) {
        double x[4], sign;
        memcpy(x, warm->wait[k], sizeof x);
        int s = warm->count < LASH_MAX_POINTS ? warm->count : 0;
        while (s < LASH_MAX_POINTS && taken[s]) ++s;
        for (int i = 0; s == LASH_MAX_POINTS && i < LASH_MAX_POINTS; ++i)
            if (!taken[i]) s = i;
        if (s == LASH_MAX_POINTS) return;
        if (newton(q, x, 0, &sign) != ROOT) continue;
        memcpy(warm->wait[k], x, sizeof x);
        if (!is_minimum(q, x) || is_known(q, x)) continue;
        memcpy(q->x[q->roots++], x, sizeof x);
        if (!add_root(q, x, s, true)) continue;
        taken[s] = true, warm->sign[s] = sign;
        memcpy(warm->p[s], x, sizeof x);
        if (s >= warm->count) warm->count = s + 1;
    }
}

void lash_pair_free(LashPairView* v) {
    Problem q = make_problem(v);
    LashWarm* warm = v->query->warm;
    if (warm == NULL || v->query->search) {
        search_all(&q);
        add_roots(&q, warm);
        return;
    }
    bool taken[LASH_MAX_POINTS] = {false};
    for (int s = 0; s < warm->count; ++s) { // follow
        double x[4], sign;
        memcpy(x, warm->p[s], sizeof x);
        if (newton(&q, x, 8, &sign) != ROOT || !is_minimum(&q, x) || is_known(&q, x)) continue;
        memcpy(q.x[q.roots++], x, sizeof x);
        // as long as no fold is passed the root stays a contact
        if (!add_root(&q, x, s, sign != warm->sign[s])) continue;
        taken[s] = true, warm->sign[s] = sign;
        memcpy(warm->p[s], x, sizeof x);
    }
    follow_waiting(&q, warm, taken);
}

// ---- normals at edges ---------------------------------------------------------------------------

typedef struct Nearest {
    double u, v, distance;
} Nearest;

static void try_start(const LashShape* shape, const LashFace* face, Vec3 p, double u, double v,
                      Nearest* best) {
    u = fmin(face->u1, fmax(face->u0, u)), v = fmin(face->v1, fmax(face->v0, v));
    double d = vec3_distance(p, lash_face_point(shape, face, u, v).p);
    if (d < best->distance) *best = (Nearest){u, v, d};
}

// Where to start on a face without trims: its edges are the sides of the (u, v) box, usually with
// the same parameter; else the nearest of some points on the sides.
static void start_on_sides(const LashShape* shape, const LashFace* face, double t, Vec3 p,
                           Nearest* best) {
    double size = vec3_distance(face->box.low, face->box.high);
    for (int k = 0; k < 2; ++k) {
        try_start(shape, face, p, t, k ? face->v1 : face->v0, best);
        try_start(shape, face, p, k ? face->u1 : face->u0, t, best);
    }
    if (best->distance < 1e-6 * size) return;
    int nu = 4 * face->u_patches, nv = 4 * face->v_patches;
    for (int i = 0; i <= nu; ++i)
        for (int k = 0; k < 2; ++k)
            try_start(shape, face, p, face->u0 + (face->u1 - face->u0) * i / nu,
                      k ? face->v1 : face->v0, best);
    for (int i = 0; i <= nv; ++i)
        for (int k = 0; k < 2; ++k)
            try_start(shape, face, p, k ? face->u1 : face->u0,
                      face->v0 + (face->v1 - face->v0) * i / nv, best);
}

Vec3 lash_freeform_edge_normal(const LashShape* shape, const LashFace* face, const LashEdge* edge,
                               double t, Vec3 p) {
    Nearest best = {0.5 * (face->u0 + face->u1), 0.5 * (face->v0 + face->v1), INFINITY};
    int index = (int)(edge - shape->edge);
    for (int i = 0; i < face->loops; ++i) { // start on the trim that follows the edge
        const LashLoop* loop = shape->loop + face->first_loop + i;
        for (int j = 0; j < loop->coedges; ++j) {
            const LashCoedge* e = shape->coedge + loop->first_coedge + j;
            for (int k = 0; e->edge == index && k <= 16; ++k) {
                double uv[2];
                lash_coedge_point(shape, e, k / 16.0, uv);
                try_start(shape, face, p, uv[0], uv[1], &best);
            }
        }
    }
    if (isinf(best.distance)) start_on_sides(shape, face, t, p, &best);
    double u = best.u, v = best.v;
    LashSurfacePoint s = lash_face_point(shape, face, u, v);
    for (int k = 0; k < 6; ++k) { // Gauss-Newton projection
        Vec3 r = vec3_sub(p, s.p);
        double a = vec3_dot(s.u, s.u), b = vec3_dot(s.u, s.v), c = vec3_dot(s.v, s.v);
        double f = vec3_dot(r, s.u), g = vec3_dot(r, s.v), det = a * c - b * b;
        if (!(det > 0)) break;
        double du = (c * f - b * g) / det, dv = (a * g - b * f) / det;
        u = fmin(face->u1, fmax(face->u0, u + du)), v = fmin(face->v1, fmax(face->v0, v + dv));
        s = lash_face_point(shape, face, u, v);
        if (fabs(du) <= 1e-12 * (face->u1 - face->u0) && fabs(dv) <= 1e-12 * (face->v1 - face->v0))
            break;
    }
    Vec3 n = vec3_cross(s.u, s.v);
    double l = vec3_norm(n);
    return l > 0 ? vec3_scale(face->side / l, n) : vec3(0, 0, 1);
}
