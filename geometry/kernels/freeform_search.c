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
// E: all is seen across the axis of the extruded face b. Of the derivatives of a only their parts
// across it count, |a_i| <= |a_i(x) across e| + sum_k h_k |a_ik|: two extruded faces that are almost
// parallel are as easy as any. A line parallel to the axis, or another extruded face, lies on b
// along a line, whose ends belong to edges and vertices: there is no root (PARALLEL).
//
// So every root is found and none twice, except in boxes that are still undecided after MAX_DEPTH
// halvings or when the budget is used up: at folds (two roots about to vanish), on area contact, at
// poles. There Newton is started from the middle of the box and nothing is proven;
// LashWarm.unresolved counts them. Rounding is covered by a relative 1e-9 of each bound.
//
// Motion. For all poses in which no point of one side that matters has moved by more than delta
// against the other, nor the sides turned by more than theta, F and J change by at most
//   S  |dF_i| <= |P_i| (k2 delta + theta),
//      |dJ_ij| <= |P_ij| (k2 delta + theta) + |P_i||P_j| (k3 delta + 2 k2 theta)
//   N, E, C  r by delta, the derivatives of a by theta times their length.
// With these added to |F| and V the tests above exclude a pair of cells for all these poses at once.
// What is left is a list of candidates; as long as the motion lasts only they are searched, by the
// same tests in the same order. So a pose has one answer, bit for bit, searched afresh or not, and
// roots that are born at a fold are there at once.
#include "geometry/kernels/freeform_internal.h"

#include <string.h>

enum { MAX_STACK = 40 };
enum { MAX_STARTS = 64 }; // from undecided boxes: more of them are a line or an area, without roots

// By the number of parameters.
static const int max_depth[5] = {0, 18, 12, 12, 14}, budget[5] = {0, 2000, 4000, 16000, 40000};
static const double slack = 1 + 1e-9;
enum { FLAT_DEPTH = 4 };              // from here on a flat box is given up
static const double FLAT_BEND = 1e-9; // curvature times size
// Sine of the angle between two lines on which extruded faces count as parallel: over a length L the
// middle of the contact is nearer than its ends by curvature (angle L)^2 / 8, far below 1e-10 L.
static const double PARALLEL = 1e-5;

typedef struct Box {
    double x[4], h[4];
    int depth;
} Box;

typedef enum Verdict { EXCLUDED, FOUND, UNDECIDED, FLAT } Verdict;

// What is known of a box from its middle; E: what a motion adds to F.
typedef struct Middle {
    double F[4], E[4], J[16], V[16];
    double width[4]; // of the box in space [m]
} Middle;

// ---- verdicts ---------------------------------------------------------------------------------

// Inverse of J (n <= 4, column stride 4) with rows scaled to 1; false when singular.
static inline bool invert_any(int n, const double J[16], double Y[16]) {
    double M[4][8];
    for (int i = 0; i < n; ++i) {
        double s = 0;
        for (int j = 0; j < n; ++j)
            if (fabs(J[i + 4 * j]) > s) s = fabs(J[i + 4 * j]);
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

static bool invert(int n, const double J[16], double Y[16]) {
    return n == 2 ? invert_any(2, J, Y) : invert_any(n, J, Y); // unrolled for the commonest
}

static bool value_excludes(int n, const double F[4], const double E[4], const double J[16],
                           const double V[16], const double* h) {
    for (int i = 0; i < n; ++i) {
        double most = E[i];
        for (int j = 0; j < n; ++j) most += (fabs(J[i + 4 * j]) + V[i + 4 * j]) * h[j];
        if (fabs(F[i]) > most * slack) return true;
    }
    return false;
}

// F is the gradient of a distance (S) or minus that of half its square (rows of b); only minima
// are contacts.
static bool minimum_excluded(const LashFreeProblem* problem, const double J[16],
                             const double V[16]) {
    bool normals = problem->mode == LASH_MODE_N || problem->mode == LASH_MODE_E;
    if (normals && (problem->na > 0 || problem->tube < 0)) return false;
    for (int i = 0; i < problem->n; ++i) {
        bool rising =
            problem->mode == LASH_MODE_S || i < problem->na; // the entry of a minimum is positive
        double d = rising ? J[5 * i] : -J[5 * i];
        if (d + V[5 * i] * slack < 0) return true;
    }
    return false;
}

static bool is_inside(const LashFreeProblem* problem, const double x[4], const Box* box) {
    for (int i = 0; i < problem->n; ++i)
        if (fabs(x[i] - box->x[i]) > box->h[i] * (1 + 1e-6)) return false;
    return true;
}

// Newton's method in a box that holds one root at most. A root elsewhere is left to its own box: so
// each has one way to be found, and one value.
static Verdict take_root(LashFreeProblem* problem, const Box* box, const double d[4]) {
    double x[4] = {0, 0, 0, 0};
    for (int i = 0; i < problem->n; ++i) x[i] = box->x[i] - fmin(box->h[i], fmax(-box->h[i], d[i]));
    if (!lash_free_newton(problem, x)) return UNDECIDED;
    if (!is_inside(problem, x, box)) return UNDECIDED;
    if (lash_free_is_minimum(problem, x)) lash_free_keep(problem, x);
    return FOUND;
}

// Newton's step from the middle: does it leave the box for all that is in it?
static bool newton_excludes(int n, const Middle* middle, const double* h) {
    double Y[16];
    if (!invert(n, middle->J, Y)) return false;
    for (int i = 0; i < n; ++i) {
        double d = 0, error = 0;
        for (int j = 0; j < n; ++j) {
            double y = fabs(Y[i + 4 * j]), sum = middle->E[j];
            d += Y[i + 4 * j] * middle->F[j];
            for (int k = 0; k < n; ++k) sum += middle->V[j + 4 * k] * h[k];
            error += y * sum;
        }
        if (fabs(d) > (h[i] + error) * slack) return true;
    }
    return false;
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

static double lowest_cosine(double angle) {
    return angle < LASH_PI ? cos(angle) : -1;
}

// S, a face: normals and gradients over the box that cannot oppose each other.
static bool normals_exclude(const LashFreeProblem* problem, const FreeRange* range, const Box* box,
                            Vec3 X, Vec3 n, double rho) {
    if (problem->P->kind != LASH_FEATURE_FACE) return false;
    Vec3 N = vec3_cross(problem->at[0].u, problem->at[0].v);
    double l = vec3_norm(N), x = gradient_turn(problem->Q, X, rho) * slack;
    double y = normal_turn(range->a, box->h, l) * slack,
           cosine = -problem->P->side * vec3_dot(n, N) / l;
    if (!(x < 1 && y < 1)) return false;
    if (range->turn > 0) return cosine + 1e-9 < lowest_cosine(asin(x) + asin(y) + range->turn);
    // cos (asin x + asin y), both below pi / 2
    return cosine + 1e-9 < sqrt((1 - x * x) * (1 - y * y)) - x * y;
}

// S, two parameters: does the distance not bend in some direction, as along the line contact of a
// roller with a cam? Halving would not bring out a root. Lengths along the parameters are d1.
static bool is_flat(const LashFreeProblem* problem, const FreeRange* range, const double J[16]) {
    const double* d = range->a->d1;
    if (problem->mode != LASH_MODE_S || problem->n != 2) return false;
    double a = J[0] / (d[0] * d[0]), b = J[4] / (d[0] * d[1]), c = J[5] / (d[1] * d[1]);
    double most = fmax(fabs(a), fabs(c)), size = fmin(problem->P->size, problem->Q->size);
    return fabs(a * c - b * b) * size <= FLAT_BEND * most;
}

static double hypot2(const double d[2]) {
    return sqrt(d[0] * d[0] + d[1] * d[1]);
}

// E: length of a vector of a across the axis.
static double length_across(const LashFreeProblem* problem, Vec3 w) {
    double flat[2];
    free_flat_turn(&problem->flat_place, w, flat);
    return hypot2(flat);
}

// Bounds on the first derivatives of a over a box, across the axis of the extruded face, from their
// lengths at its middle.
static void across_axis(const FreeRange* range, int na, const double across[2], const double* h,
                        double d1[2]) {
    const LashDerivatives* full = range->a;
    for (int i = 0; i < na; ++i) {
        double most = across[i] * slack;
        for (int k = 0; k < na; ++k) most += h[k] * full->d2[i + k];
        d1[i] = fmin(full->d1[i], most + range->turn * full->d1[i]);
    }
}

static double spread_of(const FreeRange* range, int n, int na, const double* h) {
    double rho = range->move;
    for (int i = 0; i < n; ++i) rho += h[i] * (i < na ? range->a->d1[i] : range->b->d1[i - na]);
    return rho;
}

static Verdict judge_S(LashFreeProblem* problem, const FreeRange* range, const Box* box, Vec3 at,
                       Middle* middle) {
    Vec3 normal, e[2];
    int n = problem->n;
    double rho = spread_of(range, n, n, box->h);
    double k[2], k2, k3, gap = lash_free_distance(problem->Q, at, &normal, e, k);
    if (gap - rho * slack > range->high || gap + rho * slack < range->low) return EXCLUDED;
    if (free_beyond_cone(problem->Q, at, gap, rho * slack)) return EXCLUDED;
    if (normals_exclude(problem, range, box, at, normal, rho)) return EXCLUDED;
    free_distance_bounds(problem->Q, at, rho, &k2, &k3);
    if (isinf(k2)) return UNDECIDED;
    free_variation_S(range, n, box->h, k2, k3, middle->V);
    if (range->move > 0) free_motion_S(range, n, k2, k3, middle->E, middle->V);
    return FOUND;
}

static Verdict judge_E(LashFreeProblem* problem, const FreeRange* range, const Box* box, Vec3 r,
                       Middle* middle) {
    int na = problem->na;
    double d1[2] = {0, 0}, rho = range->move + box->h[na] * range->b->d1[0];
    double across[2];
    for (int i = 0; i < na; ++i) across[i] = hypot2(problem->flat.d[i]);
    across_axis(range, na, across, box->h, d1);
    for (int i = 0; i < na; ++i) {
        middle->width[i] = box->h[i] * d1[i];
        rho += middle->width[i];
    }
    double length = vec3_norm(r);
    if (length - rho * slack > range->high) return EXCLUDED;
    free_variation_E(range, d1, na, box->h, length + rho, middle->V);
    if (range->move > 0) free_motion_E(range, na, middle->E, middle->V);
    return FOUND;
}

static Verdict judge_NC(LashFreeProblem* problem, const FreeRange* range, const Box* box, Vec3 r,
                        Middle* middle) {
    bool moves = range->move > 0, normals = problem->mode == LASH_MODE_N;
    int n = problem->n, na = problem->na, row = normals ? 0 : na;
    double *E = middle->E, *V = middle->V;
    double rho = spread_of(range, n, na, box->h), most = vec3_norm(r) + rho;
    if (most - 2 * rho * slack > range->high) return EXCLUDED;
    free_variation_r(range, na, n - na, row, box->h, most, V);
    if (normals)
        free_variation_N(range, na, box->h, V);
    else if (na == 1)
        free_variation_a(range, box->h, most, V);
    if (moves) free_motion_r(range, na, n - na, row, E, V);
    if (moves && normals) free_motion_N(range, na, E, V);
    if (moves && !normals && na == 1) free_motion_a(range, most, E, V);
    return FOUND;
}

static Verdict judge_middle(LashFreeProblem* problem, const FreeRange* range, const Box* box,
                            Middle* middle) {
    int n = problem->n, na = problem->mode == LASH_MODE_S ? n : problem->na;
    Vec3 at = lash_free_system(problem, box->x, middle->F, middle->J);
    Verdict verdict = FOUND; // perhaps
    memset(middle->E, 0, sizeof middle->E);
    for (int i = 0; i < n; ++i)
        middle->width[i] = box->h[i] * (i < na ? range->a->d1[i] : range->b->d1[i - na]);
    if (problem->mode == LASH_MODE_S)
        verdict = judge_S(problem, range, box, at, middle);
    else if (problem->mode == LASH_MODE_E)
        verdict = judge_E(problem, range, box, at, middle);
    else
        verdict = judge_NC(problem, range, box, at, middle);
    if (verdict != FOUND) return verdict;
    if (value_excludes(n, middle->F, middle->E, middle->J, middle->V, box->h)) return EXCLUDED;
    return minimum_excluded(problem, middle->J, middle->V) ? EXCLUDED : FOUND;
}

// For all poses of the motion?
static bool is_excluded(LashFreeProblem* problem, const FreeRange* range, const Box* box) {
    Middle middle;
    Verdict verdict = judge_middle(problem, range, box, &middle);
    if (verdict == FOUND) return newton_excludes(problem->n, &middle, box->h);
    return verdict == EXCLUDED;
}

// widest: the parameter along which the box is widest in space.
static Verdict judge(LashFreeProblem* problem, const FreeRange* range, const Box* box,
                     int* widest) {
    Middle middle;
    Verdict verdict = judge_middle(problem, range, box, &middle);
    *widest = 0;
    for (int i = 1; i < problem->n; ++i)
        if (middle.width[i] > middle.width[*widest]) *widest = i;
    if (verdict != FOUND) return verdict;
    if (box->depth >= FLAT_DEPTH && is_flat(problem, range, middle.J)) return FLAT;
    return newton_verdict(problem, box, middle.F, middle.J, middle.V);
}

// ---- branching --------------------------------------------------------------------------------

// From an undecided box. A root elsewhere counts, too: its own box may come when the budget is used up.
static void start(LashFreeProblem* problem, const double x0[4]) {
    double x[4] = {x0[0], x0[1], x0[2], x0[3]};
    if (lash_free_newton(problem, x) && lash_free_is_minimum(problem, x))
        lash_free_keep(problem, x);
}

static void search_box(LashFreeProblem* problem, const FreeRange* range, const Box* whole) {
    Box stack[MAX_STACK];
    int top = 0;
    stack[top++] = *whole;
    while (top > 0) {
        Box box = stack[--top];
        int widest = 0;
        bool tired = box.depth >= max_depth[problem->n] || problem->budget-- <= 0;
        Verdict verdict = UNDECIDED;
        if (!tired || box.depth > 0) verdict = judge(problem, range, &box, &widest);
        if (verdict == EXCLUDED || verdict == FOUND) continue;
        if (tired || verdict == FLAT) {
            if (problem->unresolved++ < MAX_STARTS) start(problem, box.x);
            continue;
        }
        ++box.depth;
        box.h[widest] *= 0.5;
        box.x[widest] -= box.h[widest];
        stack[top++] = box;
        box.x[widest] += 2 * box.h[widest];
        stack[top++] = box;
    }
}

// A box that the cells cannot exclude: it is searched, or (a list is made) becomes a candidate
// unless it is excluded for the whole motion. Returns whether the candidate is taken.
static bool take_box(LashFreeProblem* problem, const FreeRange* range, const Box* box) {
    if (problem->list == NULL) {
        search_box(problem, range, box);
        return false;
    }
    return !is_excluded(problem, range, box);
}

static void add_candidate(LashFreeProblem* problem, int a, int b) {
    LashCandidates* list = problem->list;
    if (list->used == list->capacity) {
        problem->overflow = true;
        return;
    }
    list->item[list->used++] = (LashCellPair){a, b};
}

// ---- cells ------------------------------------------------------------------------------------

static double depth_of(const LashFeature* a, const LashFeature* b) {
    return fmin(lash_kernel_reach(a, b), fmin(a->size, b->size));
}

static Box cell_box(const LashCell* cell) {
    Box box = {.x = {cell->p[0], cell->p[1]}, .h = {cell->half[0], cell->half[1]}};
    return box;
}

// S. Returns whether the cell is a candidate.
static bool look_at_cell(LashFreeProblem* problem, FreeRange* range, const LashCell* cell) {
    Vec3 n, e[2], X = lash_place(&problem->place, cell->center);
    double k[2], d = lash_free_distance(problem->Q, X, &n, e, k), rho = cell->radius + range->move;
    if (d - rho > range->high || d + rho < range->low) return false;
    if (problem->P->kind == LASH_FEATURE_FACE) { // normals must be able to oppose
        double cosine = -vec3_dot(n, mat3_mul(problem->place.rot, cell->normal));
        double x = gradient_turn(problem->Q, X, rho) * slack;
        double turn = cell->cone + (x < 1 ? asin(x) : LASH_PI) + range->turn + 1e-9;
        if (turn < LASH_PI && cosine < cos(turn)) return false;
    }
    Box box = cell_box(cell);
    range->a = &cell->d;
    return take_box(problem, range, &box);
}

static void search_S(LashFreeProblem* problem, FreeRange* range) {
    const LashCells* cells = problem->P->cells;
    for (int g = 0; g < cells->groups; ++g) {
        const LashCellGroup* group = cells->group + g;
        Vec3 n, e[2], X = lash_place(&problem->place, group->center);
        double k[2], d = lash_free_distance(problem->Q, X, &n, e, k);
        double rho = group->radius + range->move;
        if (d - rho > range->high || d + rho < range->low) continue;
        for (int i = group->first; i < group->first + group->count; ++i)
            if (look_at_cell(problem, range, cells->cell + i)) add_candidate(problem, i, 0);
    }
}

// Cannot F_i = r . b_i vanish over both boxes? From the middles alone; spread: of r.
static bool rows_exclude(const FreeRange* range, int nb, Vec3 r, double spread,
                         const LashCell* cell) {
    double length = vec3_norm(r);
    for (int i = 0; i < nb; ++i) {
        double turn = 0; // of b_i
        for (int k = 0; k < nb; ++k) turn += cell->half[k] * range->b->d2[i + k];
        double most = spread * range->b->d1[i] + length * turn;
        if (fabs(vec3_dot(r, cell->tangent[i])) > most * slack) return true;
    }
    return false;
}

// A root has r = gap n: can the gap be in range while r changes by `spread` and n by the cone?
static bool gap_excludes(const FreeRange* range, const LashCell* cell, Vec3 r, double spread) {
    if (cell->cone >= 0.5 * LASH_PI) return false;
    double along = vec3_dot(r, cell->normal),
           error = (vec3_norm(r) + spread) * sin(cell->cone) + spread;
    return along - error * slack > range->gap_high || along + error * slack < range->low;
}

// Can a piece of a with its middle at p, no part of it farther from there than `radius` (E: across
// the axis, `across`), hold a root with the cell?
static bool cell_excludes(const LashFreeProblem* problem, const FreeRange* range,
                          const LashCell* cell, Vec3 p, double radius, double across) {
    Vec3 r = vec3_sub(p, cell->center);
    double both = radius + cell->radius + range->move, far = range->high + both;
    int nb = problem->n - problem->na;
    if (vec3_norm_squared(r) > far * far) return true;
    if (problem->mode == LASH_MODE_E) {
        r = lash_across(r, problem->v->b->cells->axis);
        both = across + cell->half[0] * cell->d.d1[0] + range->move;
        far = range->high + both;
        if (vec3_norm_squared(r) > far * far) return true;
    }
    if (problem->mode != LASH_MODE_C && gap_excludes(range, cell, r, both)) return true;
    // of the parameters this is more than the radius
    double spread = range->move + across;
    for (int k = 0; k < nb; ++k) spread += cell->half[k] * cell->d.d1[k];
    return rows_exclude(range, nb, r, spread, cell);
}

// A root's foot on a straight a is the projection of its foot on the cell: the range of t.
static bool clip_line(const LashFreeProblem* problem, const FreeRange* range, const LashCell* cell,
                      double* low, double* high) {
    const LashPairView* view = problem->v;
    Vec3 w = vec3_sub(cell->center, view->origin);
    double t = vec3_dot(w, view->z), around = cell->radius + range->move;
    *low = fmax(*low, t - around);
    *high = fmin(*high, t + around);
    if (problem->mode == LASH_MODE_E && range->turn == 0) { // the same across the axis
        Vec3 z = lash_across(view->z, view->b->cells->axis);
        double zz = vec3_norm_squared(z);
        t = vec3_dot(w, z) / zz;
        around = (cell->half[0] * cell->d.d1[0] + range->move) / sqrt(zz) * slack;
        *low = fmax(*low, t - around);
        *high = fmin(*high, t + around);
    }
    return *low <= *high;
}

// Ranges of the parameter of a, point, line or circle, in which its root with the cell can be.
typedef struct Windows {
    double t[8], h[8];
    int count;
} Windows;

// A root has r . a' = 0: its foot on a circle is in the direction of its foot on the cell, or
// opposite.
static void clip_circle(const LashFreeProblem* problem, const FreeRange* range,
                        const LashCell* cell, Windows* windows) {
    const LashPairView* view = problem->v;
    double low, high, around = cell->radius;
    double period = lash_free_range(problem, 0, &low, &high);
    Vec3 w = vec3_sub(cell->center, view->origin);
    double x = vec3_dot(w, view->x), y = vec3_dot(w, view->y), far = sqrt(x * x + y * y);
    if (problem->mode == LASH_MODE_E) { // seen along the axis of the circle
        double sine = vec3_norm(lash_across(view->b->cells->axis, view->z));
        around = cell->half[0] * cell->d.d1[0];
        around += cell->half[1] * cell->d.d1[1] * (sine + range->turn);
    }
    double sine = (around + range->move) / far * slack + 1e-9, half = asin(fmin(sine, 1));
    double angle = atan2(y, x);
    windows->count = 0;
    if (period > 0) {
        low = 0;
        high = period;
    }
    // Behind, more than 135 degrees away, all is farther than the radius.
    bool behind = problem->v->a->radius <= range->high + cell->radius + range->move;
    for (int k = 0; k < 6 && sine < 0.7; ++k) { // in front and behind, from turn to turn
        if (k % 2 == 1 && !behind) continue;
        double t = angle + LASH_PI * (k - 2);
        double from = fmax(low, t - half), to = fmin(high, t + half);
        if (!(from <= to)) continue;
        windows->t[windows->count] = 0.5 * (from + to);
        windows->h[windows->count++] = 0.5 * (to - from);
    }
    for (int k = 0; k < 8 && sine >= 0.7; ++k) {
        windows->h[k] = (high - low) / 16;
        windows->t[k] = low + (2 * k + 1) * windows->h[k];
        windows->count = 8;
    }
}

static void clip_to_cell(const LashFreeProblem* problem, const FreeRange* range,
                         const LashCell* cell, Windows* windows) {
    double low, high;
    windows->count = 1;
    windows->t[0] = windows->h[0] = 0;
    if (problem->v->a->skeleton == LASH_SKELETON_CIRCLE) clip_circle(problem, range, cell, windows);
    if (problem->v->a->skeleton != LASH_SKELETON_LINE) return;
    lash_free_range(problem, 0, &low, &high);
    if (!clip_line(problem, range, cell, &low, &high)) windows->count = 0;
    windows->t[0] = 0.5 * (low + high);
    windows->h[0] = 0.5 * (high - low);
}

// A point, line or circle a against one cell of b. Returns whether the cell is a candidate.
static bool look_at_one(LashFreeProblem* problem, FreeRange* range, const LashCell* cell) {
    const LashPairView* view = problem->v;
    bool taken = false;
    Windows windows;
    range->b = &cell->d;
    clip_to_cell(problem, range, cell, &windows);
    for (int k = 0; k < windows.count && !taken; ++k) {
        double t[2] = {windows.t[k], 0}, h = windows.h[k], radius = h * range->a->d1[0];
        double across = radius;
        LashSurfacePoint point = lash_free_point(view->a, t);
        Vec3 p = lash_place(view->b_a, point.p);
        if (problem->mode == LASH_MODE_E && problem->na == 1) {
            double d1[2], length[2] = {length_across(problem, point.u), 0};
            across_axis(range, 1, length, &h, d1);
            across = h * d1[0];
        }
        if (cell_excludes(problem, range, cell, p, radius, across)) continue;
        Box box = cell_box(cell);
        if (problem->na == 1) {
            Box both = {.x = {t[0], cell->p[0], cell->p[1]},
                        .h = {h, cell->half[0], cell->half[1]}};
            box = both;
        }
        taken = take_box(problem, range, &box);
    }
    return taken;
}

static void search_one(LashFreeProblem* problem, FreeRange* range) {
    const LashFeature *a = problem->v->a, *b = problem->v->b;
    Vec3 center = lash_place(problem->v->b_a, a->center);
    for (int g = 0; g < b->cells->groups; ++g) {
        const LashCellGroup* group = b->cells->group + g;
        double far = vec3_distance(center, group->center) - a->bound - group->radius;
        if (far > range->high + range->move) continue;
        for (int i = group->first; i < group->first + group->count; ++i)
            if (look_at_one(problem, range, b->cells->cell + i)) add_candidate(problem, 0, i);
    }
}

typedef struct Placed { // a cell of a in b's frame
    const LashCell* cell;
    Vec3 p, normal;
    double across; // bound of the distance from p, of the parameters; E: across the axis [m]
} Placed;

static Placed place_cell(const LashFreeProblem* problem, FreeRange* range, const LashCell* cell) {
    const LashPlacement* b_a = problem->v->b_a;
    Placed placed = {.cell = cell,
                     .p = lash_place(b_a, cell->center),
                     .normal = mat3_mul(b_a->rot, cell->normal)};
    double d1[2] = {cell->d.d1[0], cell->d.d1[1]};
    range->a = &cell->d;
    if (problem->mode == LASH_MODE_E) {
        double length[2] = {length_across(problem, cell->tangent[0]),
                            length_across(problem, cell->tangent[1])};
        across_axis(range, problem->na, length, cell->half, d1);
    }
    for (int k = 0; k < problem->na; ++k) placed.across += cell->half[k] * d1[k];
    return placed;
}

// Returns whether the pair of cells is a candidate.
static bool look_at_both(LashFreeProblem* problem, FreeRange* range, const Placed* placed,
                         const LashCell* cb) {
    int na = problem->na, nb = problem->n - problem->na;
    const LashCell* ca = placed->cell;
    double turn = ca->cone + cb->cone + range->turn + 1e-9;
    range->a = &ca->d;
    range->b = &cb->d;
    if (cell_excludes(problem, range, cb, placed->p, ca->radius, placed->across)) return false;
    if (na == 2 && turn < LASH_PI && -vec3_dot(placed->normal, cb->normal) < cos(turn))
        return false;
    Box box = cell_box(ca);
    for (int k = 0; k < nb; ++k) {
        box.x[na + k] = cb->p[k];
        box.h[na + k] = cb->half[k];
    }
    return take_box(problem, range, &box);
}

static void search_cells(LashFreeProblem* problem, FreeRange* range, const LashCellGroup* ga,
                         const LashCellGroup* gb) {
    const LashFeature *a = problem->v->a, *b = problem->v->b;
    double high = range->high + range->move;
    for (int i = ga->first; i < ga->first + ga->count; ++i) {
        Placed placed = place_cell(problem, range, a->cells->cell + i);
        double both = placed.cell->radius + gb->radius;
        if (vec3_distance(placed.p, gb->center) - both > high) continue;
        for (int j = gb->first; j < gb->first + gb->count; ++j)
            if (look_at_both(problem, range, &placed, b->cells->cell + j))
                add_candidate(problem, i, j);
    }
}

static void search_both(LashFreeProblem* problem, FreeRange* range) {
    const LashFeature *a = problem->v->a, *b = problem->v->b;
    for (int i = 0; i < a->cells->groups; ++i) {
        Vec3 center = lash_place(problem->v->b_a, a->cells->group[i].center);
        for (int j = 0; j < b->cells->groups; ++j) {
            double r = a->cells->group[i].radius + b->cells->group[j].radius;
            double far = vec3_distance(center, b->cells->group[j].center) - r;
            if (far > range->high + range->move) continue;
            search_cells(problem, range, a->cells->group + i, b->cells->group + j);
        }
    }
}

// Only the candidates of a list.
static void search_listed(LashFreeProblem* problem, FreeRange* range, const LashCellPair* pair,
                          int count) {
    const LashPairView* view = problem->v;
    for (int k = 0; k < count; ++k) {
        if (problem->mode == LASH_MODE_S) {
            look_at_cell(problem, range, problem->P->cells->cell + pair[k].a);
            continue;
        }
        const LashCell* cb = view->b->cells->cell + pair[k].b;
        if (view->a->cells == NULL) {
            look_at_one(problem, range, cb);
            continue;
        }
        Placed placed = place_cell(problem, range, view->a->cells->cell + pair[k].a);
        look_at_both(problem, range, &placed, cb);
    }
}

// A range for the given limit; derivatives of an elementary a go to *of_a.
static FreeRange range_of(const LashFreeProblem* problem, double limit, LashDerivatives* of_a) {
    const LashFeature *a = problem->v->a, *b = problem->v->b;
    double deep = depth_of(a, b), tube = problem->tube, depth = problem->v->query->depth;
    if (depth > 0) deep = fmin(deep, depth);
    FreeRange range = {.low = tube - deep, .gap_high = tube + limit, .high = limit, .a = of_a};
    if (problem->mode != LASH_MODE_S) range.high = fmax(fabs(range.low), fabs(range.gap_high));
    if (a->skeleton == LASH_SKELETON_LINE) of_a->d1[0] = 1;
    if (a->skeleton == LASH_SKELETON_CIRCLE) of_a->d1[0] = of_a->d2[0] = of_a->d3[0] = a->radius;
    return range;
}

// Two edges of plane faces with the same normal z: the outward directions of one are above the
// plane, n . z >= 0, of the other below. They meet on the border only, which belongs to the other
// faces of both edges, too.
static bool is_flush(const LashPairView* view) {
    if (view->a->wedge != LASH_WEDGE_GENERAL && view->a->wedge != LASH_WEDGE_FIXED) return false;
    if (view->b->wedge != LASH_WEDGE_GENERAL && view->b->wedge != LASH_WEDGE_FIXED) return false;
    for (int i = 0; i < 4; ++i) {
        const LashFace* fa = view->a->shape->face + view->a->edge->face[i / 2];
        const LashFace* fb = view->b->shape->face + view->b->edge->face[i % 2];
        if (fa->type != LASH_PLANE || fb->type != LASH_PLANE) continue;
        Vec3 za = mat3_mul(view->b_a->rot, vec3_scale(fa->side, fa->z));
        Vec3 zb = vec3_scale(fb->side, fb->z);
        if (vec3_dot(za, zb) > 0 && vec3_norm(vec3_cross(za, zb)) < LASH_BORDER_ANGLE) return true;
    }
    return false;
}

// A line or an extruded face that is parallel to the extruded face b.
static bool is_parallel(const LashFreeProblem* problem) {
    const LashPairView* view = problem->v;
    if (problem->mode != LASH_MODE_E) return false;
    Vec3 axis = view->z;
    if (lash_feature_is_extruded(view->a))
        axis = mat3_mul(view->b_a->rot, view->a->cells->axis);
    else if (view->a->skeleton != LASH_SKELETON_LINE)
        return false;
    return vec3_norm(vec3_cross(axis, view->b->cells->axis)) < PARALLEL;
}

static void search_all(LashFreeProblem* problem, FreeRange* range) {
    if (problem->mode == LASH_MODE_S)
        search_S(problem, range);
    else if (problem->v->a->cells == NULL)
        search_one(problem, range);
    else
        search_both(problem, range);
}

void lash_free_search(LashFreeProblem* problem, const LashCellPair* listed, int count) {
    LashDerivatives of_a = {{0}};
    FreeRange range = range_of(problem, problem->v->query->limit, &of_a);
    problem->budget = budget[problem->n];
    problem->unresolved = 0;
    problem->list = NULL;
    if (is_parallel(problem) || is_flush(problem->v)) return;
    if (listed != NULL)
        search_listed(problem, &range, listed, count);
    else
        search_all(problem, &range);
}

bool lash_free_list(LashFreeProblem* problem, double move, double turn, LashCandidates* list) {
    LashDerivatives of_a = {{0}};
    FreeRange range = range_of(problem, problem->v->query->limit, &of_a);
    // A point of either side that is in range after the motion: in the frame of the other it has
    // moved by this at most.
    range.move = fmax(move + fmax(range.high, -range.low) * turn, 1e-300);
    range.turn = turn;
    if (is_parallel(problem) || is_flush(problem->v)) return false; // a search ends at once
    problem->list = list;
    problem->overflow = false;
    int before = list->used;
    search_all(problem, &range);
    problem->list = NULL;
    if (problem->overflow) list->used = before;
    return !problem->overflow;
}
