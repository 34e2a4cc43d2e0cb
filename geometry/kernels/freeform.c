// Pairs with a free curve or surface (and cone with cone): their roots, found by a global search
// (freeform_search.c) or followed by Newton (freeform_systems.c).
//
// Between searches roots are followed. Those that wait outside the trims and wedges, or beyond an
// end of the parameters (where Newton was stopped), are followed too: a contact that passes from
// one feature to the next is there at once.
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
    lash_free_points(problem, x);
    if (problem->mode == LASH_MODE_S) {
        Vec3 n, e[2];
        double k[2];
        gap = lash_free_distance(problem->Q, problem->at[0].p, &n, e, k);
    } else {
        Vec3 w = vec3_sub(problem->at[0].p, problem->at[1].p);
        gap = problem->mode == LASH_MODE_N ? vec3_dot(w, outward(view->b, &problem->at[1]))
                                           : vec3_norm(w);
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
void lash_free_keep(LashFreeProblem* problem, const double x[4], double sign) {
    if (is_known(problem, x)) return;
    double gap = lash_free_gap(problem, x);
    if (isinf(gap) ||
        (problem->roots == LASH_FREE_ROOTS && problem->gap[LASH_FREE_ROOTS - 1] <= gap))
        return;
    int at = problem->roots < LASH_FREE_ROOTS ? problem->roots++ : LASH_FREE_ROOTS - 1;
    for (; at > 0 && problem->gap[at - 1] > gap; --at) {
        problem->gap[at] = problem->gap[at - 1];
        problem->sign[at] = problem->sign[at - 1];
        memcpy(problem->x[at], problem->x[at - 1], sizeof problem->x[at]);
    }
    problem->gap[at] = gap;
    problem->sign[at] = sign;
    memcpy(problem->x[at], x, sizeof problem->x[at]);
}

// Adds the root with parameters x to the view; true when it was accepted.
static bool add_root(LashFreeProblem* problem, const double x[4], int slot, bool check) {
    LashPairView* view = problem->v;
    LashCandidate c = {.slot = slot, .check = check};
    int before = view->count;
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
    if (problem->mode == LASH_MODE_N) {
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

// ---- search and follow ------------------------------------------------------------------------

static void make_problem(LashPairView* view, LashFreeProblem* problem) {
    const LashFeature *a = view->a, *b = view->b;
    problem->v = view;
    problem->roots = problem->ends = 0;
    problem->evaluated = false;
    bool free_b = b->skeleton == LASH_SKELETON_SURFACE || b->skeleton == LASH_SKELETON_CURVE;
    bool elementary_a = a->kind == LASH_FEATURE_FACE && a->skeleton != LASH_SKELETON_SURFACE;
    problem->na = 0;
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

// Slots: a root keeps the slot of the warm root it came from; new ones take the free slots.
static void add_roots(LashFreeProblem* problem, LashWarm* warm) {
    bool taken[LASH_MAX_POINTS] = {false};
    LashWarm next = {.unresolved = problem->unresolved};
    int slot_of[LASH_FREE_ROOTS];
    for (int k = 0; k < problem->roots; ++k) {
        slot_of[k] = -1;
        for (int s = 0; warm != NULL && s < warm->count; ++s) {
            double d = 0;
            for (int i = 0; i < problem->n; ++i)
                d = fmax(d,
                         lash_free_parameter_distance(problem, i, problem->x[k][i], warm->p[s][i]));
            if (d < 0.05 && !taken[s]) {
                taken[s] = true;
                slot_of[k] = s;
                break;
            }
        }
    }
    for (int k = 0; k < problem->roots; ++k) {
        int s = slot_of[k];
        for (int i = 0; s < 0 && i < LASH_MAX_POINTS; ++i)
            if (!taken[i]) s = i;
        if (s < 0) continue;
        for (int i = 0; slot_of[k] < 0 && i < LASH_MAX_POINTS; ++i)
            if (!taken[i] && i < s) s = i;
        if (!add_root(problem, problem->x[k], s, true)) {
            if (next.waiting < LASH_MAX_WAITING)
                memcpy(next.wait[next.waiting++], problem->x[k], sizeof next.wait[0]);
            continue;
        }
        next.sign[s] = problem->sign[k];
        taken[s] = true;
        if (s >= next.count) next.count = s + 1;
        memcpy(next.p[s], problem->x[k], sizeof next.p[s]);
    }
    if (warm == NULL) return;
    for (int k = 0; k < problem->ends && next.waiting < LASH_MAX_WAITING; ++k)
        memcpy(next.wait[next.waiting++], problem->end[k], sizeof next.wait[0]);
    for (int s = 0; s < next.count; ++s) // holes keep what was there
        if (!taken[s]) {
            memcpy(next.p[s], warm->p[s], sizeof next.p[s]);
            next.sign[s] = 0;
        }
    *warm = next;
}

// Roots that wait outside: those that came in take a slot that is empty now.
static void follow_waiting(LashFreeProblem* problem, LashWarm* warm, bool taken[LASH_MAX_POINTS]) {
    for (int k = 0; k < warm->waiting; ++k) {
        double x[4], sign;
        memcpy(x, warm->wait[k], sizeof x);
        int s = warm->count < LASH_MAX_POINTS ? warm->count : 0;
        while (s < LASH_MAX_POINTS && taken[s]) ++s;
        for (int i = 0; s == LASH_MAX_POINTS && i < LASH_MAX_POINTS; ++i)
            if (!taken[i]) s = i;
        if (s == LASH_MAX_POINTS) return;
        if (lash_free_newton(problem, x, 0, &sign) != LASH_ROOT) continue;
        memcpy(warm->wait[k], x, sizeof x);
        if (!lash_free_is_minimum(problem, x) || is_known(problem, x)) continue;
        memcpy(problem->x[problem->roots++], x, sizeof x);
        if (!add_root(problem, x, s, true)) continue;
        taken[s] = true;
        warm->sign[s] = sign;
        memcpy(warm->p[s], x, sizeof x);
        if (s >= warm->count) warm->count = s + 1;
    }
}

void lash_pair_free(LashPairView* view) {
    LashFreeProblem q;
    make_problem(view, &q);
    LashWarm* warm = view->query->warm;
    if (warm == NULL || view->query->search) {
        lash_free_search(&q);
        add_roots(&q, warm);
        return;
    }
    bool taken[LASH_MAX_POINTS] = {false};
    for (int s = 0; s < warm->count; ++s) { // follow
        double x[4], sign;
        memcpy(x, warm->p[s], sizeof x);
        if (lash_free_newton(&q, x, 8, &sign) != LASH_ROOT || !lash_free_is_minimum(&q, x) ||
            is_known(&q, x))
            continue;
        memcpy(q.x[q.roots++], x, sizeof x);
        // as long as no fold is passed the root stays a contact
        if (!add_root(&q, x, s, sign != warm->sign[s])) continue;
        taken[s] = true;
        warm->sign[s] = sign;
        memcpy(warm->p[s], x, sizeof x);
    }
    follow_waiting(&q, warm, taken);
}
