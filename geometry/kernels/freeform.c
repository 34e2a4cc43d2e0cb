// Pairs with a free curve or surface (and cone with cone): their roots, found by a global search
// (freeform_search.c) over all pairs of cells, or over those that a list of candidates leaves. What
// is remembered of the roots are their slots only.
#include "geometry/kernels/freeform_internal.h"

#include <string.h>

// ---- roots ------------------------------------------------------------------------------------

static Vec3 outward(const LashFeature* feature, const LashSurfacePoint* point) {
    return vec3_scale(feature->side, vec3_normalize(vec3_cross(point->u, point->v)));
}

// Gap at a root before any other test; INFINITY when it is of no use.
double lash_free_gap(LashFreeProblem* problem, const double x[4]) {
    const LashPairView* view = problem->v;
    double gap, reach = lash_kernel_reach(view->a, view->b);
    if (problem->mode != LASH_MODE_E) lash_free_points(problem, x);
    if (problem->mode == LASH_MODE_E) {
        gap = free_flat_gap(problem, x);
    } else if (problem->mode == LASH_MODE_S) {
        Vec3 n, e[2];
        double k[2];
        gap = lash_free_distance(problem->Q, problem->at[0].p, &n, e, k);
    } else {
        Vec3 w = vec3_sub(problem->at[0].p, problem->at[1].p);
        gap = vec3_norm(w);
        if (problem->mode != LASH_MODE_C)
            gap = vec3_dot(w, outward(view->b, &problem->at[1])) - problem->tube;
    }
    return gap <= view->query->limit && gap >= -2 * reach ? gap : INFINITY;
}

bool lash_free_same(const LashFreeProblem* problem, const double* x, const double* y) {
    for (int i = 0; i < problem->n; ++i)
        if (lash_free_parameter_distance(problem, i, x[i], y[i]) > 1e-5) return false;
    return true;
}

static bool is_known(const LashFreeProblem* problem, const double x[4]) {
    for (int k = 0; k < problem->roots; ++k)
        if (lash_free_same(problem, x, problem->x[k])) return true;
    return false;
}

// Enters a new root into the list, the smallest gaps first; a full list drops its largest.
void lash_free_keep(LashFreeProblem* problem, const double x[4]) {
    if (is_known(problem, x)) return;
    double gap = lash_free_gap(problem, x);
    if (isinf(gap) ||
        (problem->roots == LASH_FREE_ROOTS && problem->gap[LASH_FREE_ROOTS - 1] <= gap))
        return;
    int at = problem->roots < LASH_FREE_ROOTS ? problem->roots++ : LASH_FREE_ROOTS - 1;
    for (; at > 0 && problem->gap[at - 1] > gap; --at) {
        problem->gap[at] = problem->gap[at - 1];
        memcpy(problem->x[at], problem->x[at - 1], sizeof problem->x[at]);
    }
    problem->gap[at] = gap;
    memcpy(problem->x[at], x, sizeof problem->x[at]);
}

// Adds the root with parameters x to the view; true when it was accepted.
static bool add_root(LashFreeProblem* problem, const double x[4], int slot) {
    LashPairView* view = problem->v;
    LashCandidate c = {.slot = slot, .check = true};
    int before = view->count;
    problem->evaluated = false; // whatever was looked at last: one value for a root
    lash_free_points(problem, x);
    if (problem->mode == LASH_MODE_S) {
        const LashSurfacePoint s = problem->at[0];
        Vec3 n, e[2];
        double k[2], d = lash_free_distance(problem->Q, s.p, &n, e, k),
                     tube = problem->Q->side * problem->Q->tube;
        bool face = problem->P->kind == LASH_FEATURE_FACE;
        Vec3 N = face ? vec3_cross(s.u, s.v) : vec3_zero();
        if (face && vec3_dot(N, n) * problem->P->side > 0) return false; // same way round
        Vec3 skeleton = vec3_add_scaled(s.p, -d - tube, n);
        if (problem->Q == view->b) {
            c.ca = s.p;
            c.cb = skeleton;
            c.n = n;
            memcpy(c.t_a, x, sizeof c.t_a);
        } else { // found in a's frame
            c.cb = lash_place(view->b_a, s.p);
            c.ca = lash_place(view->b_a, skeleton);
            c.n = vec3_neg(mat3_mul(view->b_a->rot, n));
            memcpy(c.t_b, x, sizeof c.t_b);
        }
        lash_pair_add(view, &c);
        return view->count > before;
    }
    const LashSurfacePoint a = problem->at[0], b = problem->at[1];
    c.ca = a.p;
    c.cb = b.p;
    memcpy(c.t_a, x, (size_t)problem->na * sizeof(double));
    memcpy(c.t_b, x + problem->na, (size_t)(problem->n - problem->na) * sizeof(double));
    if (problem->mode == LASH_MODE_E) { // v of the foot
        const LashCells* cells = view->b->cells;
        double along = vec3_dot(vec3_sub(a.p, b.p), cells->axis);
        c.cb = vec3_add_scaled(b.p, along, cells->axis);
        c.t_b[1] = cells->middle + along / cells->speed;
    }
    if (problem->mode != LASH_MODE_C) {
        c.n = outward(view->b, &b);
        if (problem->na == 2 && vec3_dot(vec3_cross(a.u, a.v), c.n) * view->a->side > 0)
            return false;
        lash_pair_add(view, &c);
    } else if (problem->na == 1) {
        lash_pair_add_edges(view, &c, vec3_normalize(a.u), vec3_normalize(b.u));
    } else {
        Vec3 w = vec3_sub(a.p, b.p);
        double d = vec3_norm(w);
        if (d == 0) return false;
        c.n = vec3_scale(1 / d, w);
        lash_pair_add(view, &c);
    }
    return view->count > before;
}

// In mode C only minima count: 2 x 2 Hessian of the squared distance.
bool lash_free_is_minimum(LashFreeProblem* problem, const double x[4]) {
    double F[4], J[16] = {0};
    if (problem->mode != LASH_MODE_C) return true;
    lash_free_system(problem, x, F, J);
    if (problem->na == 0) return J[0] < 0;
    return J[0] > 0 && -J[0] * J[5] - J[4] * J[4] > 0;
}

// ---- search -----------------------------------------------------------------------------------

static void make_problem(LashPairView* view, LashFreeProblem* problem) {
    const LashFeature *a = view->a, *b = view->b;
    problem->v = view;
    problem->roots = 0;
    problem->list = NULL;
    problem->evaluated = false;
    bool free_b = b->skeleton == LASH_SKELETON_SURFACE || b->skeleton == LASH_SKELETON_CURVE;
    bool elementary_a = a->kind == LASH_FEATURE_FACE && a->skeleton != LASH_SKELETON_SURFACE;
    problem->na = 0;
    problem->tube = 0;
    if (lash_feature_is_extruded(b) && a->skeleton != LASH_SKELETON_CONE) {
        problem->mode = LASH_MODE_E;
        problem->na = lash_free_parameters(a);
        problem->n = problem->na + 1;
        problem->tube = a->side * a->tube;
        free_flat_place(problem);
        return;
    }
    if (!free_b || elementary_a) {
        problem->mode = LASH_MODE_S;
        if (free_b) {
            problem->P = b;
            problem->Q = a;
            problem->place = lash_placement_inverse(view->b_a);
        } else {
            problem->P = a;
            problem->Q = b;
            problem->place = *view->b_a;
        }
        problem->n = lash_free_parameters(problem->P);
        return;
    }
    problem->mode = b->skeleton == LASH_SKELETON_SURFACE ? LASH_MODE_N : LASH_MODE_C;
    problem->na = lash_free_parameters(a);
    problem->n = problem->na + lash_free_parameters(b);
}

// Largest difference of the parameters, as a share of their ranges.
static double parameter_distance(const LashFreeProblem* problem, const double* x, const double* y) {
    double most = 0;
    for (int i = 0; i < problem->n; ++i)
        most = fmax(most, lash_free_parameter_distance(problem, i, x[i], y[i]));
    return most;
}

// A root keeps the slot of the nearest root of the last call; new ones take the free slots. x: of
// the roots of the view. Slots that are empty now remember what was there.
static void assign_slots(LashFreeProblem* problem, double x[LASH_MAX_POINTS][4], LashWarm* warm) {
    const double same = 0.05; // of the range: roots move by less between two calls
    LashPairView* view = problem->v;
    bool taken[LASH_MAX_POINTS] = {false};
    for (int k = 0; k < view->count; ++k) {
        double nearest = same;
        view->roots[k].slot = -1;
        for (int s = 0; s < warm->count; ++s) {
            double d = taken[s] ? INFINITY : parameter_distance(problem, x[k], warm->p[s]);
            if (!(d < nearest)) continue;
            nearest = d;
            view->roots[k].slot = s;
        }
        if (view->roots[k].slot >= 0) taken[view->roots[k].slot] = true;
    }
    for (int k = 0; k < view->count; ++k) {
        int s = view->roots[k].slot;
        if (s < 0) {
            s = 0;
            while (taken[s]) ++s;
            taken[s] = true;
            view->roots[k].slot = s;
        }
        if (s >= warm->count) warm->count = s + 1;
        memcpy(warm->p[s], x[k], sizeof warm->p[s]);
    }
}

// The smallest gaps that both features own.
static void add_roots(LashFreeProblem* problem, LashWarm* warm) {
    LashPairView* view = problem->v;
    double x[LASH_MAX_POINTS][4];
    for (int k = 0; k < problem->roots && view->count < LASH_MAX_POINTS; ++k) {
        int at = view->count;
        if (add_root(problem, problem->x[k], at)) memcpy(x[at], problem->x[k], sizeof x[at]);
    }
    if (warm == NULL) return;
    warm->unresolved = problem->unresolved;
    assign_slots(problem, x, warm);
}

void lash_pair_free(LashPairView* view) {
    LashFreeProblem problem;
    make_problem(view, &problem);
    LashWarm* warm = view->query->warm;
    const LashCandidates* all = view->query->candidates;
    bool listed = warm != NULL && all != NULL && warm->listed;
    lash_free_search(&problem, listed ? all->item + warm->first : NULL, listed ? warm->pairs : 0);
    add_roots(&problem, warm);
}

void lash_pair_list_free(LashPairView* view, double move, double turn) {
    LashFreeProblem problem;
    make_problem(view, &problem);
    LashWarm* warm = view->query->warm;
    LashCandidates* all = view->query->candidates;
    warm->first = all->used;
    warm->listed = lash_free_list(&problem, move, turn, all);
    warm->pairs = all->used - warm->first;
}
