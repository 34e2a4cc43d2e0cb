// Cells of free curves and surfaces (and cones): pieces with proven bounds on their derivatives.
//
// Of a Bezier piece, restricted to the cell by de Casteljau, with homogeneous poles A_i = w_i (P_i
// - c), c the middle: every derivative of A and w is at most the largest difference of its poles,
//   |D^k A| <= n! / (n - k)! max |Delta^k A_i| / h^k,
// and those of p = A / w follow by Leibniz' rule, w >= min w_i:
//   |p_u| <= (|A_u| + |w_u||p|) / w,  |p_uu| <= (|A_uu| + 2 |w_u||p_u| + |w_uu||p|) / w,  ...
// with |p| <= max |P_i - c|. Polynomial pieces have w' = 0: the bounds are those of the hodographs.
//
// The normal N = S_u x S_v changes by at most e = |N_u| h_u + |N_v| h_v from the middle, so its
// direction by asin(e / |N|).
#include "geometry/kernels/cells.h"

#include <string.h>

#include "core/arena.h"
#include "geometry/kernels/bezier.h"

enum { SIDE = LASH_MAX_DEGREE + 1 };

// ---- bounds of Bezier pieces --------------------------------------------------------------------

typedef struct Net { // homogeneous poles of a piece, relative to its middle
    int n, m;        // degrees; m = 0: a curve
    double q[SIDE * SIDE][4];
} Net;

static void mix(double* p, const double* q, double s) { // p <- (1 - s) p + s q
    for (int c = 0; c < 4; ++c) p[c] += s * (q[c] - p[c]);
}

// Restricts a row of n + 1 poles, `stride` apart, to [s0, s1].
static void restrict_row(double (*q)[4], int n, int stride, double s0, double s1) {
    for (int k = 1; k <= n; ++k)
        for (int i = n; i >= k; --i) mix(q[i * stride], q[(i - 1) * stride], 1 - s1);
    double s = s1 > 0 ? s0 / s1 : 0;
    for (int k = 1; k <= n; ++k)
        for (int i = 0; i <= n - k; ++i) mix(q[i * stride], q[(i + 1) * stride], s);
}

static void load_net(Net* net, const double* pole, int n, int m) {
    net->n = n;
    net->m = m;
    for (int i = 0; i < (n + 1) * (m + 1); ++i) {
        for (int c = 0; c < 3; ++c) net->q[i][c] = pole[4 * i + c] * pole[4 * i + 3];
        net->q[i][3] = pole[4 * i + 3];
    }
}

static void restrict_net(Net* net, double s0, double s1, double t0, double t1) {
    int row = net->n + 1;
    for (int j = 0; j <= net->m; ++j) restrict_row(net->q + j * row, net->n, 1, s0, s1);
    for (int i = 0; i <= net->n && net->m > 0; ++i) restrict_row(net->q + i, net->m, row, t0, t1);
}

// Largest i-th (in u) and j-th (in v) difference of the poles times its factor: |D A| and |D w|.
static void difference(const Net* net, int i, int j, double hu, double hv, double* A, double* w) {
    int row = net->n + 1, nu = net->n - i, nv = net->m - j;
    *A = *w = 0;
    if (nu < 0 || nv < 0) return;
    static const double binomial[4][4] = {{1}, {1, -1}, {1, -2, 1}, {1, -3, 3, -1}};
    double factor = 1;
    for (int k = 0; k < i; ++k) factor *= (net->n - k) / hu;
    for (int k = 0; k < j; ++k) factor *= (net->m - k) / hv;
    for (int y = 0; y <= nv; ++y)
        for (int x = 0; x <= nu; ++x) {
            double d[4] = {0, 0, 0, 0};
            for (int b = 0; b <= j; ++b)
                for (int a = 0; a <= i; ++a) {
                    double f = binomial[i][a] * binomial[j][b];
                    const double* q = net->q[x + a + (y + b) * row];
                    for (int c = 0; c < 4; ++c) d[c] += f * q[c];
                }
            *A = fmax(*A, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
            *w = fmax(*w, fabs(d[3]));
        }
    *A *= factor;
    *w *= factor;
}

// Bounds of the piece over its whole range, hu by hv; c: its middle. Returns max |p - c|.
static double net_bounds(Net* net, Vec3 c, double hu, double hv, LashDerivatives* derivatives) {
    double A[4][4], w[4][4], low = INFINITY, radius = 0;
    int count = (net->n + 1) * (net->m + 1);
    for (int i = 0; i < count; ++i) {
        double* q = net->q[i];
        q[0] -= q[3] * c.x;
        q[1] -= q[3] * c.y;
        q[2] -= q[3] * c.z;
        radius = fmax(radius, vec3_norm(vec3(q[0], q[1], q[2])) / q[3]);
        low = fmin(low, q[3]);
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; i + j < 4; ++j) difference(net, i, j, hu, hv, &A[i][j], &w[i][j]);
    double p = radius, k = 1 / low, *p1 = derivatives->d1, *p2 = derivatives->d2,
           *p3 = derivatives->d3;
    p1[0] = k * (A[1][0] + w[1][0] * p);
    p1[1] = k * (A[0][1] + w[0][1] * p);
    p2[0] = k * (A[2][0] + 2 * w[1][0] * p1[0] + w[2][0] * p);
    p2[1] = k * (A[1][1] + w[1][0] * p1[1] + w[0][1] * p1[0] + w[1][1] * p);
    p2[2] = k * (A[0][2] + 2 * w[0][1] * p1[1] + w[0][2] * p);
    p3[0] = k * (A[3][0] + 3 * w[1][0] * p2[0] + 3 * w[2][0] * p1[0] + w[3][0] * p);
    p3[1] = k * (A[2][1] + 2 * w[1][0] * p2[1] + w[0][1] * p2[0] + w[2][0] * p1[1] +
                 2 * w[1][1] * p1[0] + w[2][1] * p);
    p3[2] = k * (A[1][2] + 2 * w[0][1] * p2[1] + w[1][0] * p2[2] + w[0][2] * p1[0] +
                 2 * w[1][1] * p1[1] + w[1][2] * p);
    p3[3] = k * (A[0][3] + 3 * w[0][1] * p2[2] + 3 * w[0][2] * p1[1] + w[0][3] * p);
    return radius;
}

// ---- cells ------------------------------------------------------------------------------------

// Middle, tangents, normal and cone; p, half and d must be set.
static void finish_face_cell(LashCell* cell, const LashFeature* feature) {
    LashSurfacePoint s = lash_face_point(feature->shape, feature->face, cell->p[0], cell->p[1]);
    const double *d1 = cell->d.d1, *d2 = cell->d.d2;
    Vec3 n = vec3_cross(s.u, s.v);
    double l = vec3_norm(n);
    double turn = cell->half[0] * (d2[0] * d1[1] + d1[0] * d2[1]) +
                  cell->half[1] * (d2[1] * d1[1] + d1[0] * d2[2]);
    cell->center = s.p;
    cell->tangent[0] = s.u;
    cell->tangent[1] = s.v;
    cell->normal = l > 0 ? vec3_scale(feature->face->side / l, n) : vec3(0, 0, 1);
    cell->cone = turn < l ? asin(turn / l) + 1e-9 : LASH_PI;
}

static void close_group(LashCells* cells, int first) {
    LashCellGroup* cell_group = cells->group + cells->groups++;
    cell_group->first = first;
    cell_group->count = cells->cells - first;
    Vec3 low = cells->cell[first].center, high = low;
    for (int i = first; i < cells->cells; ++i) {
        Vec3 c = cells->cell[i].center;
        low = vec3(fmin(low.x, c.x), fmin(low.y, c.y), fmin(low.z, c.z));
        high = vec3(fmax(high.x, c.x), fmax(high.y, c.y), fmax(high.z, c.z));
    }
    cell_group->center = vec3_scale(0.5, vec3_add(low, high));
    cell_group->radius = 0;
    for (int i = first; i < cells->cells; ++i)
        cell_group->radius =
            fmax(cell_group->radius,
                 vec3_distance(cell_group->center, cells->cell[i].center) + cells->cell[i].radius);
}

static LashCells* cells_create(int cells, int groups) {
    LashCells* c = lash_alloc(sizeof(LashCells));
    c->cell = lash_alloc((size_t)cells * sizeof(LashCell));
    c->group = lash_alloc((size_t)groups * sizeof(LashCellGroup));
    return c;
}

static int pieces(int degree) { // per direction
    return 2 + degree;
}

// Linear in v, all poles moved by the same vector?
static bool find_way(const LashShape* shape, const LashFace* face, Vec3* moved) {
    const LashPatch* patch = shape->patch + face->first_patch;
    Vec3 way = vec3_zero();
    if (face->type != LASH_FREEFORM || face->v_patches != 1) return false;
    for (int i = 0; i < face->u_patches; ++i) {
        const double* pole = shape->pole + 4 * (size_t)patch[i].first_pole;
        int row = patch[i].u_degree + 1;
        if (patch[i].v_degree != 1) return false;
        for (int k = 0; k < row; ++k) {
            const double *p = pole + 4 * k, *q = p + 4 * row;
            Vec3 d = vec3_sub(vec3(q[0], q[1], q[2]), vec3(p[0], p[1], p[2]));
            if (i == 0 && k == 0) way = d;
            double size = vec3_norm(way) + vec3_norm(vec3(p[0], p[1], p[2]));
            if (!(vec3_distance(d, way) <= 1e-13 * size)) return false;
            if (!(fabs(p[3] - q[3]) <= 1e-13 * p[3])) return false;
        }
    }
    *moved = way;
    return vec3_norm(way) > 0;
}

bool lash_face_is_extruded(const LashShape* shape, const LashFace* face) {
    Vec3 way;
    return find_way(shape, face, &way);
}

static bool find_axis(const LashFeature* feature, LashCells* cells) {
    const LashPatch* patch = feature->shape->patch + feature->face->first_patch;
    Vec3 way;
    if (!find_way(feature->shape, feature->face, &way)) return false;
    double length = vec3_norm(way);
    cells->axis = vec3_scale(1 / length, way);
    cells->speed = length / (patch->v1 - patch->v0);
    cells->middle = 0.5 * (patch->v0 + patch->v1);
    return true;
}

// The profile as plane curves: its poles along x and y. Those of both ends of v are the same, seen
// along the axis.
static void make_profile(const LashFeature* feature, LashCells* cells) {
    const LashPatch* patch = feature->shape->patch + feature->face->first_patch;
    int poles = 0, count = feature->face->u_patches;
    vec3_basis(cells->axis, &cells->x, &cells->y);
    for (int i = 0; i < count; ++i) poles += patch[i].u_degree + 1;
    cells->piece = lash_alloc((size_t)count * sizeof *cells->piece);
    cells->pole = lash_alloc((size_t)poles * 3 * sizeof *cells->pole);
    cells->pieces = count;
    double* to = cells->pole;
    for (int i = 0; i < count; ++i) {
        const double* from = feature->shape->pole + 4 * (size_t)patch[i].first_pole;
        cells->piece[i] = (LashProfilePiece){patch[i].u0, patch[i].u1, patch[i].u_degree,
                                             (int)(to - cells->pole) / 3};
        for (int k = 0; k <= patch[i].u_degree; ++k, from += 4, to += 3) {
            to[0] = vec3_dot(cells->x, vec3(from[0], from[1], from[2]));
            to[1] = vec3_dot(cells->y, vec3(from[0], from[1], from[2]));
            to[2] = from[3];
        }
    }
}

bool lash_feature_is_extruded(const LashFeature* feature) {
    return feature->skeleton == LASH_SKELETON_SURFACE && feature->cells != NULL &&
           feature->cells->extruded;
}

static void add_patch(LashCells* cells, const LashFeature* feature, const LashPatch* patch,
                      Net* net) {
    int nu = pieces(patch->u_degree), first = cells->cells;
    int nv = cells->extruded ? 1 : pieces(patch->v_degree);
    double hu = (patch->u1 - patch->u0) / nu, hv = (patch->v1 - patch->v0) / nv;
    for (int i = 0; i < nu * nv; ++i) {
        LashCell* c = cells->cell + cells->cells++;
        int x = i % nu, y = i / nu;
        c->p[0] = patch->u0 + hu * (x + 0.5);
        c->p[1] = patch->v0 + hv * (y + 0.5);
        c->half[0] = 0.5 * hu;
        c->half[1] = 0.5 * hv;
        load_net(net, feature->shape->pole + 4 * (size_t)patch->first_pole, patch->u_degree,
                 patch->v_degree);
        restrict_net(net, (double)x / nu, (x + 1.0) / nu, (double)y / nv, (y + 1.0) / nv);
        Vec3 middle = lash_face_point(feature->shape, feature->face, c->p[0], c->p[1]).p;
        c->radius = net_bounds(net, middle, hu, hv, &c->d);
        if (cells->extruded) c->d.d2[1] = c->d.d2[2] = c->d.d3[1] = c->d.d3[2] = c->d.d3[3] = 0;
        c->radius =
            fmin(c->radius, c->half[0] * c->d.d1[0] + c->half[1] * c->d.d1[1]) * (1 + 1e-12);
        finish_face_cell(c, feature);
    }
    close_group(cells, first);
}

static LashCells* surface_cells(const LashFeature* feature) {
    const LashFace* face = feature->face;
    int patches = face->u_patches * face->v_patches, total = 0;
    const LashPatch* patch = feature->shape->patch + face->first_patch;
    for (int i = 0; i < patches; ++i)
        total += pieces(patch[i].u_degree) * pieces(patch[i].v_degree);
    LashCells* cells = cells_create(total, patches);
    cells->extruded = find_axis(feature, cells);
    if (cells->extruded) make_profile(feature, cells);
    Net* net = lash_alloc(sizeof *net);
    for (int i = 0; i < patches; ++i) add_patch(cells, feature, patch + i, net);
    lash_free(net);
    return cells;
}

static LashCells* curve_cells(const LashFeature* feature) {
    const LashEdge* e = feature->edge;
    const LashSegment* segment = feature->shape->segment + e->first_segment;
    int total = 0;
    for (int i = 0; i < e->segments; ++i) total += 2 * pieces(segment[i].degree);
    LashCells* cells = cells_create(total, e->segments);
    Net* net = lash_alloc(sizeof *net);
    for (int i = 0; i < e->segments; ++i) {
        const LashSegment* s = segment + i;
        int n = 2 * pieces(s->degree), first = cells->cells;
        double h = (s->t1 - s->t0) / n;
        for (int k = 0; k < n; ++k) {
            LashCell* c = cells->cell + cells->cells++;
            c->p[0] = s->t0 + h * (k + 0.5);
            c->half[0] = 0.5 * h;
            LashCurvePoint p = lash_edge_point(feature->shape, e, c->p[0]);
            c->center = p.p;
            c->tangent[0] = p.d;
            load_net(net, feature->shape->pole + 4 * (size_t)s->first_pole, s->degree, 0);
            restrict_net(net, (double)k / n, (k + 1.0) / n, 0, 1);
            c->radius = net_bounds(net, p.p, h, 1, &c->d);
            c->radius = fmin(c->radius, 0.5 * h * c->d.d1[0]) * (1 + 1e-12);
        }
        close_group(cells, first);
    }
    lash_free(net);
    return cells;
}

static LashCells* cone_cells(const LashFeature* feature) {
    enum { AROUND = 16, ALONG = 2 };
    const LashFace* face = feature->face;
    LashCells* cells = cells_create(AROUND * ALONG, 1);
    double hu = (face->u1 - face->u0) / AROUND, hv = (face->v1 - face->v0) / ALONG;
    double r = fmax(fabs(face->radius + face->v0 * feature->sin_a),
                    fabs(face->radius + face->v1 * feature->sin_a));
    double s = fabs(feature->sin_a);
    for (int i = 0; i < AROUND * ALONG; ++i) {
        LashCell* c = cells->cell + cells->cells++;
        c->p[0] = face->u0 + hu * (i % AROUND + 0.5);
        c->p[1] = face->v0 + hv * (i / AROUND + 0.5);
        c->half[0] = 0.5 * hu;
        c->half[1] = 0.5 * hv;
        c->d = (LashDerivatives){{r, 1}, {r, s, 0}, {r, s, 0, 0}};
        c->radius = c->half[0] * r + c->half[1];
        finish_face_cell(c, feature);
    }
    close_group(cells, 0);
    return cells;
}

// Taylor: S(x + h) differs from S(x) + S_k h_k by at most the sum of |S_kl| h_k h_l / 2.
LashBox lash_cell_box(const LashCell* cell) {
    const double* h = cell->half;
    const double *d2 = cell->d.d2, radius = cell->radius;
    double bend = 0.5 * (d2[0] * h[0] * h[0] + 2 * d2[1] * h[0] * h[1] + d2[2] * h[1] * h[1]);
    const Vec3 *s = cell->tangent, *t = s + 1;
    bend = bend * (1 + 1e-9) + 1e-12 * radius;
    Vec3 e = vec3(fmin(radius, bend + fabs(s->x) * h[0] + fabs(t->x) * h[1]),
                  fmin(radius, bend + fabs(s->y) * h[0] + fabs(t->y) * h[1]),
                  fmin(radius, bend + fabs(s->z) * h[0] + fabs(t->z) * h[1]));
    return (LashBox){vec3_sub(cell->center, e), vec3_add(cell->center, e)};
}

void lash_feature_cells(LashFeature* feature) {
    feature->cells = NULL;
    if (feature->skeleton == LASH_SKELETON_SURFACE)
        feature->cells = surface_cells(feature);
    else if (feature->skeleton == LASH_SKELETON_CURVE)
        feature->cells = curve_cells(feature);
    else if (feature->skeleton == LASH_SKELETON_CONE)
        feature->cells = cone_cells(feature);
}

void lash_feature_prepare(LashFeature* feature) {
    bool proven;
    lash_feature_cells(feature);
    if (feature->skeleton != LASH_SKELETON_SURFACE) return;
    feature->reach = fmin(feature->reach, lash_cells_reach(feature, &proven));
}

void lash_feature_release(LashFeature* feature) {
    if (feature->cells == NULL) return;
    lash_free(feature->cells->cell);
    lash_free(feature->cells->group);
    lash_free(feature->cells->piece);
    lash_free(feature->cells->pole);
    lash_free(feature->cells);
    feature->cells = NULL;
}
