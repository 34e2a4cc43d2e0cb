// Free pairs: all roots of a pair within a range of gaps, by branch and bound.
//
// A box x +- h of parameters (a cell, a pair of cells, or a part of one) is judged at its middle,
// from F, its Jacobian J there, and bounds T_ijk on |d J_ij / d x_k| over the cell (from the bounds
// on the derivatives of curve and surface, cells.c). With V_ij = sum_k T_ijk h_k, |J - J(x)| <= V
// over the box, and it holds no root of interest when one of these is true:
//   gap      the distance of its points stays outside the range asked for;
//   value    |F_i| > sum_j (|J_ij| + V_ij) h_j                                  for some i
//   Newton   |d_i| > h_i + sum_j (|J^-1| V)_ij h_j,  d = J^-1 F                 for some i
//   minimum  F is the gradient of the distance and a diagonal entry of its Hessian is negative;
//   normals  those of both sides cannot oppose each other (S): within rho of a point at the
//   distance
//            r from its axis or center the gradient of a distance turns by asin(rho / r) at most.
// Where (|J^-1| V) h < h, component by component, the simplified Newton map contracts: there is one
// root at most (Krawczyk 1969; Neumaier, Interval Methods for Systems of Equations, ch. 5), and
// Newton's method from the middle finds it. All other boxes are halved, along the direction in
// which they are widest in space.
//
// So every root is found and none twice, except in boxes that are still undecided after MAX_DEPTH
// halvings or when the budget is used up: at folds (two roots about to vanish), on line and area
// contact, at poles. There Newton is started from the middle of the box and nothing is proven;
// LashWarm.unresolved counts them. Rounding is covered by a relative 1e-9 of each bound.
#include "geometry/kernels/freeform_internal.h"

#include <string.h>

enum { MAX_STACK = 40 };
enum { MAX_STARTS = 64 }; // from undecided boxes: more of them are a line or an area, without roots

// By the number of parameters.
static const int max_depth[5] = {0, 18, 12, 12, 14}, budget[5] = {0, 2000, 4000, 16000, 40000};
static const double slack = 1 + 1e-9;
enum { FLAT_DEPTH = 4 };              // from here on a flat box is given up
static const double FLAT_BEND = 1e-9; // curvature times size

typedef struct Box {
    double x[4], h[4];
    int depth;
} Box;

typedef struct Range {            // what is searched for
    double low, gap_high;         // of the gaps
    double high;                  // S: gap_high; others: of |r|
    const LashDerivatives *a, *b; // of the parameters of a and b (S: a only, of P)
} Range;

typedef enum Verdict { EXCLUDED, FOUND, UNDECIDED, FLAT } Verdict;

// ---- bounds -----------------------------------------------------------------------------------

// Largest second and third derivative of the distance from Q within rho of X.
static void distance_bounds(const LashFeature* Q, Vec3 X, double rho, double* k2, double* k3) {
    const double c = 1.16; // > 2 / sqrt 3: of D^3 |x| at |x| = 1
    *k2 = *k3 = 0;
    if (Q->skeleton == LASH_SKELETON_PLANE) return;
    Vec3 w = vec3_sub(X, Q->origin);
    double z = Q->skeleton == LASH_SKELETON_POINT ? 0 : vec3_dot(w, Q->z);
    double r = vec3_norm(vec3_add_scaled(w, -z, Q->z)), k = 1;
    if (Q->skeleton == LASH_SKELETON_POINT) r = vec3_norm(w);
    if (Q->skeleton == LASH_SKELETON_CONE) k = Q->cos_a;
    double x = r - Q->radius, s = r - rho, t = sqrt(x * x + z * z) - rho;
    bool torus = Q->skeleton == LASH_SKELETON_CIRCLE;
    if (s <= 0 || (torus && t <= 0)) {
        *k2 = *k3 = INFINITY; // the axis or center is inside
        return;
    }
    *k2 = k / s;
    *k3 = c * k / (s * s);
    if (torus) {
        *k2 = fmax(*k2, 1 / t);
        *k3 += c / (t * t) + 3 / (t * s);
    }
}

// Is every point within rho of X, at the distance `gap` from the cone Q, too near to its axis? With
// the foot's distance from the axis f = r - gap cos a, the gap reaches down to its share of f / cos
// a.
static bool beyond_cone(const LashFeature* Q, Vec3 X, double gap, double rho) {
    if (Q->skeleton != LASH_SKELETON_CONE || Q->side < 0) return false;
    double r = vec3_norm(lash_across(vec3_sub(X, Q->origin), Q->z)) + rho;
    return r < (1 - LASH_FREE_REACH) * (r - 2 * rho - (gap + rho) * Q->cos_a);
}

// The sums of indices give the place in LashDerivatives: u counts 0, v counts 1.
static void variation_S(const Range* range, int n, const double* h, double k2, double k3,
                        double V[16]) {
    const double *d1 = range->a->d1, *d2 = range->a->d2, *d3 = range->a->d3;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int k = 0; k < n; ++k)
                sum += h[k] * (d3[i + j + k] + k3 * d1[i] * d1[j] * d1[k] +
                               k2 * (d2[i + j] * d1[k] + d2[i + k] * d1[j] + d2[j + k] * d1[i]));
            V[i + 4 * j] = sum;
        }
}

// Rows 0, 1 of N and the row of b in C: F_i = r . b_i, over the parameters of a, then of b.
static void variation_r(const Range* range, int na, int nb, int row, const double* h, double r,
                        double V[16]) {
    const LashDerivatives *a = range->a, *b = range->b;
    for (int i = 0; i < nb; ++i) {
        double* v = V + row + i;
        for (int j = 0; j < na; ++j) { // b_i . a_j
            double sum = 0;
            for (int k = 0; k < na; ++k) sum += h[k] * b->d1[i] * a->d2[j + k];
            for (int k = 0; k < nb; ++k) sum += h[na + k] * b->d2[i + k] * a->d1[j];
            v[4 * j] = sum;
        }
        for (int j = 0; j < nb; ++j) { // r . b_ij - b_i . b_j
            double sum = 0;
            for (int k = 0; k < na; ++k) sum += h[k] * a->d1[k] * b->d2[i + j];
            for (int k = 0; k < nb; ++k)
                sum += h[na + k] * (r * b->d3[i + j + k] + b->d1[k] * b->d2[i + j] +
                                    b->d2[i + k] * b->d1[j] + b->d1[i] * b->d2[j + k]);
            v[4 * (na + j)] = sum;
        }
    }
}

// Rows 2, 3 of N: F = N . a_i with N = b_u x b_v.
static void variation_N(const Range* range, int na, const double* h, double V[16]) {
    const LashDerivatives *a = range->a, *b = range->b;
    double N = b->d1[0] * b->d1[1], N1[2], N2[2][2];
    for (int k = 0; k < 2; ++k) {
        N1[k] = b->d2[k] * b->d1[1] + b->d1[0] * b->d2[1 + k];
        for (int l = 0; l < 2; ++l)
            N2[k][l] = b->d3[k + l] * b->d1[1] + b->d2[k] * b->d2[1 + l] + b->d2[l] * b->d2[1 + k] +
                       b->d1[0] * b->d3[1 + k + l];
    }
    for (int i = 0; i < na; ++i) {
        double* v = V + 2 + i;
        for (int j = 0; j < na; ++j) { // N . a_ij
            double sum = 0;
            for (int k = 0; k < na; ++k) sum += h[k] * N * a->d3[i + j + k];
            for (int k = 0; k < 2; ++k) sum += h[na + k] * N1[k] * a->d2[i + j];
            v[4 * j] = sum;
        }
        for (int k = 0; k < 2; ++k) { // N_k . a_i
            double sum = 0;
            for (int j = 0; j < na; ++j) sum += h[j] * N1[k] * a->d2[i + j];
            for (int l = 0; l < 2; ++l) sum += h[na + l] * N2[k][l] * a->d1[i];
            v[4 * (na + k)] = sum;
        }
    }
}

// Row 0 of C: F = r . a'.
static void variation_a(const Range* range, const double* h, double r, double V[16]) {
    const LashDerivatives *a = range->a, *b = range->b;
    V[0] = h[0] * (3 * a->d1[0] * a->d2[0] + r * a->d3[0]) + h[1] * b->d1[0] * a->d2[0];
    V[4] = h[0] * a->d2[0] * b->d1[0] + h[1] * a->d1[0] * b->d2[0];
}

// ---- verdicts ---------------------------------------------------------------------------------

// Inverse of J (n <= 4, column stride 4) with rows scaled to 1; false when singular.
static bool invert(int n, const double J[16], double Y[16]) {
    double M[4][8];
    for (int i = 0; i < n; ++i) {
        double s = 0;
        for (int j = 0; j < n; ++j) s = fmax(s, fabs(J[i + 4 * j]));
        if (!(s > 0 && s < INFINITY)) return false;
        for (int j = 0; j < n; ++j) {
            M[i][j] = J[i + 4 * j] / s;
            M[i][n + j] = i == j ? 1 / s : 0;
        }
    }
    for (int k = 0; k < n; ++k) {
        int p = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(M[i][k]) > fabs(M[p][k])) p = i;
        if (!(fabs(M[p][k]) > 1e-12)) return false;
        for (int j = 0; j < 2 * n && p != k; ++j) {
            double t = M[k][j];
            M[k][j] = M[p][j];
            M[p][j] = t;
        }
        for (int i = 0; i < n; ++i) {
            double m = i == k ? 0 : M[i][k] / M[k][k];
            for (int j = k; j < 2 * n && m != 0; ++j) M[i][j] -= m * M[k][j];
        }
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) Y[i + 4 * j] = M[i][n + j] / M[i][i];
    return true;
}

static bool value_excludes(int n, const double F[4], const double J[16], const double V[16],
                           const double* h) {
    for (int i = 0; i < n; ++i) {
        double most = 0;
        for (int j = 0; j < n; ++j) most += (fabs(J[i + 4 * j]) + V[i + 4 * j]) * h[j];
        if (fabs(F[i]) > most * slack) return true;
    }
    return false;
}

// F is the gradient of a distance (S) or minus that of half its square (rows of b); only minima
// are contacts.
static bool minimum_excluded(const LashFreeProblem* problem, const double J[16],
                             const double V[16]) {
    if (problem->mode == LASH_MODE_N && problem->na > 0) return false;
    for (int i = 0; i < problem->n; ++i) {
        bool rising =
            problem->mode == LASH_MODE_S || i < problem->na; // the entry of a minimum is positive
        double d = rising ? J[5 * i] : -J[5 * i];
        if (d + V[5 * i] * slack < 0) return true;
    }
    return false;
}

// Newton's method in a box that holds one root at most. It may lead to a root elsewhere, too.
static Verdict take_root(LashFreeProblem* problem, const Box* box, const double d[4]) {
    double x[4] = {0, 0, 0, 0}, sign;
    for (int i = 0; i < problem->n; ++i) x[i] = box->x[i] - fmin(box->h[i], fmax(-box->h[i], d[i]));
    if (lash_free_newton(problem, x, 8, &sign) != LASH_ROOT) return UNDECIDED;
    bool inside = true;
    for (int i = 0; i < problem->n; ++i) inside &= fabs(x[i] - box->x[i]) <= box->h[i] * (1 + 1e-6);
    if (lash_free_is_minimum(problem, x)) lash_free_keep(problem, x, sign);
    return inside ? FOUND : UNDECIDED;
}

static Verdict newton_verdict(LashFreeProblem* problem, const Box* box, const double F[4],
                              const double J[16], const double V[16]) {
    double Y[16], d[4] = {0, 0, 0, 0};
    int n = problem->n;
    if (!invert(n, J, Y)) return UNDECIDED;
    bool unique = true;
    for (int i = 0; i < n; ++i) {
        double error = 0;
        for (int j = 0; j < n; ++j) {
            d[i] += Y[i + 4 * j] * F[j];
            double e = 0; // (|Y| V)_ij
            for (int k = 0; k < n; ++k) e += fabs(Y[i + 4 * k]) * V[k + 4 * j];
            error += e * box->h[j];
        }
        if (fabs(d[i]) > (box->h[i] + error) * slack) return EXCLUDED;
        unique &= error * slack < box->h[i];
    }
    return unique ? take_root(problem, box, d) : UNDECIDED;
}

// Sine of the largest angle by which the gradient of the distance from Q turns within rho of X;
// above 1: unknown.
static double gradient_turn(const LashFeature* Q, Vec3 X, double rho) {
    if (Q->skeleton == LASH_SKELETON_PLANE) return 0;
    Vec3 w = vec3_sub(X, Q->origin);
    if (Q->skeleton == LASH_SKELETON_POINT) return rho / vec3_norm(w);
    double z = vec3_dot(w, Q->z), r = vec3_norm(vec3_add_scaled(w, -z, Q->z)), x = r - Q->radius;
    if (Q->skeleton != LASH_SKELETON_CIRCLE) return rho / r;
    // torus: its curvature is at most 1 / (distance from circle and axis), integrated along rho
    double d = sqrt(x * x + z * z), most = rho / (d < r ? d : r);
    return most < 0.79 ? sin(-log1p(-most)) : 2; // 0.79 < 1 - exp(-pi/2)
}

// Sine of the largest angle by which the normal N of a surface turns over a box: |dN| is at most
// the sum of h_k |N_k|.
static double normal_turn(const LashDerivatives* derivatives, const double* h, double length) {
    double u = derivatives->d2[0] * derivatives->d1[1] + derivatives->d1[0] * derivatives->d2[1];
    double v = derivatives->d2[1] * derivatives->d1[1] + derivatives->d1[0] * derivatives->d2[2];
    return (h[0] * u + h[1] * v) / length;
}

// S, a face: normals and gradients over the box that cannot oppose each other.
static bool normals_exclude(const LashFreeProblem* problem, const Range* range, const Box* box,
                            Vec3 X, Vec3 n, double rho) {
    if (problem->P->kind != LASH_FEATURE_FACE) return false;
    Vec3 N = vec3_cross(problem->at[0].u, problem->at[0].v);
    double l = vec3_norm(N), x = gradient_turn(problem->Q, X, rho) * slack;
    double y = normal_turn(range->a, box->h, l) * slack,
           cosine = -problem->P->side * vec3_dot(n, N) / l;
    // cos (asin x + asin y), both below pi / 2
    return x < 1 && y < 1 && cosine + 1e-9 < sqrt((1 - x * x) * (1 - y * y)) - x * y;
}

// S, two parameters: does the distance not bend in some direction, as along the line contact of a
// roller with a cam? Halving would not bring out a root. Lengths along the parameters are d1.
static bool is_flat(const LashFreeProblem* problem, const Range* range, const double J[16]) {
    const double* d = range->a->d1;
    if (problem->mode != LASH_MODE_S || problem->n != 2) return false;
    double a = J[0] / (d[0] * d[0]), b = J[4] / (d[0] * d[1]), c = J[5] / (d[1] * d[1]);
    double most = fmax(fabs(a), fabs(c)), size = fmin(problem->P->size, problem->Q->size);
    return fabs(a * c - b * b) * size <= FLAT_BEND * most;
}

// What is known of a box from its middle.
typedef struct Middle {
    double F[4], J[16], V[16];
} Middle;

static Verdict judge_middle(LashFreeProblem* problem, const Range* range, const Box* box,
                            Middle* middle) {
    double *F = middle->F, *J = middle->J, *V = middle->V, rho = 0;
    int n = problem->n, na = problem->mode == LASH_MODE_S ? n : problem->na;
    Vec3 at = lash_free_system(problem, box->x, F, J);
    for (int i = 0; i < n; ++i)
        rho += box->h[i] * (i < na ? range->a->d1[i] : range->b->d1[i - na]);
    if (problem->mode == LASH_MODE_S) {
        Vec3 normal, e[2];
        double k[2], k2, k3, gap = lash_free_distance(problem->Q, at, &normal, e, k);
        if (gap - rho * slack > range->high || gap + rho * slack < range->low) return EXCLUDED;
        if (beyond_cone(problem->Q, at, gap, rho * slack)) return EXCLUDED;
        if (normals_exclude(problem, range, box, at, normal, rho)) return EXCLUDED;
        distance_bounds(problem->Q, at, rho, &k2, &k3);
        if (isinf(k2)) return UNDECIDED;
        variation_S(range, n, box->h, k2, k3, V);
    } else {
        double r = vec3_norm(at);
        if (r - rho * slack > range->high) return EXCLUDED;
        int nb = n - na;
        variation_r(range, na, nb, problem->mode == LASH_MODE_N ? 0 : na, box->h, r + rho, V);
        if (problem->mode == LASH_MODE_N)
            variation_N(range, na, box->h, V);
        else if (na == 1)
            variation_a(range, box->h, r + rho, V);
    }
    if (value_excludes(n, F, J, V, box->h) || minimum_excluded(problem, J, V)) return EXCLUDED;
    return FOUND; // perhaps
}

static bool is_excluded(LashFreeProblem* problem, const Range* range, const Box* box) {
    Middle middle = {{0}, {0}, {0}};
    return judge_middle(problem, range, box, &middle) == EXCLUDED;
}

static Verdict judge(LashFreeProblem* problem, const Range* range, const Box* box) {
    Middle middle = {{0}, {0}, {0}};
    Verdict verdict = judge_middle(problem, range, box, &middle);
    if (verdict != FOUND) return verdict;
    if (box->depth >= FLAT_DEPTH && is_flat(problem, range, middle.J)) return FLAT;
    return newton_verdict(problem, box, middle.F, middle.J, middle.V);
}

// ---- branching --------------------------------------------------------------------------------

static void keep_end(LashFreeProblem* problem, const double x[4]) {
    if (problem->ends == LASH_MAX_WAITING || isinf(lash_free_gap(problem, x))) return;
    for (int k = 0; k < problem->ends; ++k)
        if (lash_free_same(problem, x, problem->end[k])) return;
    memcpy(problem->end[problem->ends++], x, sizeof problem->end[0]);
}

static void start(LashFreeProblem* problem, const double x0[4]) {
    double x[4] = {x0[0], x0[1], x0[2], x0[3]}, sign;
    LashDescent descent = lash_free_newton(problem, x, 8, &sign);
    if (descent == LASH_ROOT && lash_free_is_minimum(problem, x)) lash_free_keep(problem, x, sign);
    if (descent == LASH_STOPPED) keep_end(problem, x);
}

// Does the box touch an end of a range? From there Newton tells what waits outside.
static bool at_end(const LashFreeProblem* problem, const Box* box) {
    for (int i = 0; i < problem->n; ++i) {
        double low, high, period = lash_free_range(problem, i, &low, &high);
        if (period > 0) continue;
        if (box->x[i] - 1.5 * box->h[i] < low || box->x[i] + 1.5 * box->h[i] > high) return true;
    }
    return false;
}

static void search_box(LashFreeProblem* problem, const Range* range, const Box* whole) {
    Box stack[MAX_STACK];
    int top = 0, na = problem->mode == LASH_MODE_S ? problem->n : problem->na;
    if (problem->v->query->warm != NULL && at_end(problem, whole)) {
        Box around = *whole; // what waits outside is not farther than that
        for (int i = 0; i < problem->n; ++i) around.h[i] *= 2;
        if (is_excluded(problem, range, &around)) return; // and so is a part of it
        start(problem, whole->x);
    }
    stack[top++] = *whole;
    while (top > 0) {
        Box box = stack[--top];
        bool tired = box.depth >= max_depth[problem->n] || problem->budget-- <= 0;
        Verdict verdict = tired && box.depth == 0 ? UNDECIDED : judge(problem, range, &box);
        if (verdict == EXCLUDED || verdict == FOUND) continue;
        if (tired || verdict == FLAT) {
            if (problem->unresolved++ < MAX_STARTS) start(problem, box.x);
            continue;
        }
        int widest = 0;
        double most = -1;
        for (int i = 0; i < problem->n; ++i) {
            double width = box.h[i] * (i < na ? range->a->d1[i] : range->b->d1[i - na]);
            if (width > most) {
                most = width;
                widest = i;
            }
        }
        ++box.depth;
        box.h[widest] *= 0.5;
        box.x[widest] -= box.h[widest];
        stack[top++] = box;
        box.x[widest] += 2 * box.h[widest];
        stack[top++] = box;
    }
}

// ---- cells ------------------------------------------------------------------------------------

static double depth_of(const LashFeature* a, const LashFeature* b) {
    return fmin(lash_kernel_reach(a, b), fmin(a->size, b->size));
}

static Box cell_box(const LashCell* cell) {
    Box box = {.x = {cell->p[0], cell->p[1]}, .h = {cell->half[0], cell->half[1]}};
    return box;
}

static void search_S(LashFreeProblem* problem) {
    const LashCells* cells = problem->P->cells;
    double limit = problem->v->query->limit;
    Range range = {
        .low = -depth_of(problem->v->a, problem->v->b), .gap_high = limit, .high = limit};
    for (int g = 0; g < cells->groups; ++g) {
        const LashCellGroup* group = cells->group + g;
        Vec3 n, e[2];
        double k[2];
        double d =
            lash_free_distance(problem->Q, lash_place(&problem->place, group->center), &n, e, k);
        if (d - group->radius > range.high || d + group->radius < range.low) continue;
        for (int i = 0; i < group->count; ++i) {
            const LashCell* c = cells->cell + group->first + i;
            Vec3 X = lash_place(&problem->place, c->center);
            d = lash_free_distance(problem->Q, X, &n, e, k);
            if (d - c->radius > range.high || d + c->radius < range.low) continue;
            if (problem->P->kind == LASH_FEATURE_FACE) { // normals must be able to oppose
                double cosine = -vec3_dot(n, mat3_mul(problem->place.rot, c->normal));
                double x = gradient_turn(problem->Q, X, c->radius) * slack;
                double turn = c->cone + (x < 1 ? asin(x) : LASH_PI) + 1e-9;
                if (turn < LASH_PI && cosine < cos(turn)) continue;
            }
            Box box = cell_box(c);
            range.a = &c->d;
            search_box(problem, &range, &box);
        }
    }
}

// Cannot F_i = r . b_i vanish over both boxes? From the middles alone.
static bool rows_exclude(const Range* range, int na, int nb, Vec3 r, const Vec3* tangent,
                         const double* ha, const double* hb) {
    double length = vec3_norm(r), spread = 0;
    for (int k = 0; k < na; ++k) spread += ha[k] * range->a->d1[k];
    for (int k = 0; k < nb; ++k) spread += hb[k] * range->b->d1[k];
    for (int i = 0; i < nb; ++i) {
        double turn = 0; // of b_i
        for (int k = 0; k < nb; ++k) turn += hb[k] * range->b->d2[i + k];
        double most = spread * range->b->d1[i] + length * turn;
        if (fabs(vec3_dot(r, tangent[i])) > most * slack) return true;
    }
    return false;
}

// A root has r = gap n: can the gap be in range while r changes by `spread` and n by the cone?
static bool gap_excludes(const Range* range, const LashCell* cell, Vec3 r, double spread) {
    if (cell->cone >= 0.5 * LASH_PI) return false;
    double along = vec3_dot(r, cell->normal),
           error = (vec3_norm(r) + spread) * sin(cell->cone) + spread;
    return along - error * slack > range->gap_high || along + error * slack < range->low;
}

// A vertex or elementary edge a against one cell of b. A root's foot on a line is the projection of
// its foot on the cell; a circle is cut into arcs.
static void search_one_cell(LashFreeProblem* problem, Range* range, const LashCell* cell) {
    enum { ARCS = 8 };
    const LashPairView* view = problem->v;
    Vec3 w = vec3_sub(cell->center, view->origin);
    range->b = &cell->d;
    bool circle = view->a->skeleton == LASH_SKELETON_CIRCLE;
    double low = view->a->t0, high = view->a->t1;
    if (view->a->skeleton == LASH_SKELETON_LINE) {
        double t = vec3_dot(w, view->z);
        low = fmax(low, t - cell->radius);
        high = fmin(high, t + cell->radius);
        if (low > high) return;
    }
    for (int k = 0; k < (circle ? ARCS : 1); ++k) {
        double h = 0.5 * (high - low) / (circle ? ARCS : 1), t[2] = {low + h * (2 * k + 1), 0};
        if (problem->na == 0) h = 0;
        Vec3 r = vec3_sub(lash_place(view->b_a, lash_free_point(view->a, t).p), cell->center);
        double both = cell->radius + h * range->a->d1[0];
        if (vec3_norm_squared(r) > (range->high + both) * (range->high + both)) continue;
        if (problem->mode == LASH_MODE_N && gap_excludes(range, cell, r, both)) continue;
        if (rows_exclude(range, problem->na, problem->n - problem->na, r, cell->tangent, &h,
                         cell->half))
            continue;
        Box box = cell_box(cell);
        if (problem->na == 1) {
            Box both_box = {.x = {t[0], cell->p[0], cell->p[1]},
                            .h = {h, cell->half[0], cell->half[1]}};
            box = both_box;
        }
        search_box(problem, range, &box);
    }
}

static void search_one(LashFreeProblem* problem) {
    const LashFeature *a = problem->v->a, *b = problem->v->b;
    double R = a->radius;
    LashDerivatives of_a = {{0}};
    if (a->skeleton == LASH_SKELETON_LINE) of_a.d1[0] = 1;
    if (a->skeleton == LASH_SKELETON_CIRCLE) of_a.d1[0] = of_a.d2[0] = of_a.d3[0] = R;
    double limit = problem->v->query->limit, deep = depth_of(a, b);
    Range range = {.low = -deep, .gap_high = limit, .high = fmax(limit, deep), .a = &of_a};
    Vec3 center = lash_place(problem->v->b_a, a->center);
    for (int g = 0; g < b->cells->groups; ++g) {
        const LashCellGroup* group = b->cells->group + g;
        double far = vec3_distance(center, group->center) - a->bound - group->radius;
        if (far > range.high) continue;
        for (int i = 0; i < group->count; ++i)
            search_one_cell(problem, &range, b->cells->cell + group->first + i);
    }
}

static void search_cells(LashFreeProblem* problem, Range* range, const LashCellGroup* ga,
                         const LashCellGroup* gb) {
    const LashFeature *a = problem->v->a, *b = problem->v->b;
    int na = problem->na, nb = problem->n - problem->na;
    for (int i = 0; i < ga->count; ++i) {
        const LashCell* ca = a->cells->cell + ga->first + i;
        Vec3 pa = lash_place(problem->v->b_a, ca->center);
        if (vec3_distance(pa, gb->center) - ca->radius - gb->radius > range->high) continue;
        Vec3 normal = mat3_mul(problem->v->b_a->rot, ca->normal);
        range->a = &ca->d;
        for (int j = 0; j < gb->count; ++j) {
            const LashCell* cb = b->cells->cell + gb->first + j;
            double both = ca->radius + cb->radius;
            Vec3 r = vec3_sub(pa, cb->center);
            if (vec3_norm_squared(r) > (range->high + both) * (range->high + both)) continue;
            double turn = ca->cone + cb->cone + 1e-9;
            if (na == 2 && turn < LASH_PI && -vec3_dot(normal, cb->normal) < cos(turn)) continue;
            if (nb == 2 && gap_excludes(range, cb, r, both)) continue;
            range->b = &cb->d;
            if (rows_exclude(range, na, nb, r, cb->tangent, ca->half, cb->half)) continue;
            Box box = cell_box(ca);
            for (int k = 0; k < nb; ++k) {
                box.x[na + k] = cb->p[k];
                box.h[na + k] = cb->half[k];
            }
            search_box(problem, range, &box);
        }
    }
}

static void search_both(LashFreeProblem* problem) {
    const LashFeature *a = problem->v->a, *b = problem->v->b;
    double limit = problem->v->query->limit, deep = depth_of(a, b);
    Range range = {.low = -deep, .gap_high = limit, .high = fmax(limit, deep)};
    for (int i = 0; i < a->cells->groups; ++i) {
        Vec3 center = lash_place(problem->v->b_a, a->cells->group[i].center);
        for (int j = 0; j < b->cells->groups; ++j) {
            double r = a->cells->group[i].radius + b->cells->group[j].radius;
            if (vec3_distance(center, b->cells->group[j].center) - r > range.high) continue;
            search_cells(problem, &range, a->cells->group + i, b->cells->group + j);
        }
    }
}

void lash_free_search(LashFreeProblem* problem) {
    problem->budget = budget[problem->n];
    problem->unresolved = 0;
    if (problem->mode == LASH_MODE_S)
        search_S(problem);
    else if (problem->v->a->cells == NULL)
        search_one(problem);
    else
        search_both(problem);
}
