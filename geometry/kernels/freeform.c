// Pairs with a free curve or surface (and cone with cone): their roots, found by a global search
// (freeform_search.c) or followed by Newton (freeform_systems.c).
//
// Between searches roots are followed. Those that wait outside the trims and wedges, or beyond an
// end of the parameters (where Newton was stopped), are followed too: a contact that passes from
// one feature to the next is there at once.
#include "geometry/kernels/freeform_internal.h"

#include <string.h>

// ---- roots ------------------------------------------------------------------------------------

static Vec3 outward(const LashFeature* f, const LashSurfacePoint* s) {
    return vec3_scale(f->side, vec3_normalize(vec3_cross(s->u, s->v)));
}

// Gap at a root before any other test; INFINITY when it is of no use.
double lash_free_gap(LashFreeProblem* q, const double x[4]) {
    const LashPairView* v = q->v;
    double gap, reach = lash_kernel_reach(v->a, v->b);
    lash_free_points(q, x);
    if (q->mode == LASH_MODE_S) {
        Vec3 n, e[2];
        double k[2];
        gap = lash_free_distance(q->Q, q->at[0].p, &n, e, k);
    } else {
        Vec3 w = vec3_sub(q->at[0].p, q->at[1].p);
        gap = q->mode == LASH_MODE_N ? vec3_dot(w, outward(v->b, &q->at[1])) : vec3_norm(w);
    }
    return gap <= v->query->limit && gap >= -2 * reach ? gap : INFINITY;
}

bool lash_free_same(const LashFreeProblem* q, const double* x, const double* y) {
    for (int i = 0; i < q->n; ++i)
        if (lash_free_parameter_distance(q, i, x[i], y[i]) > 1e-5) return false;
    return true;
}

static bool is_known(const LashFreeProblem* q, const double x[4]) {
    for (int k = 0; k < q->roots; ++k)
        if (lash_free_same(q, x, q->x[k])) return true;
    return false;
}

// Enters a new root into the list, the smallest gaps first; a full list drops its largest.
void lash_free_keep(LashFreeProblem* q, const double x[4], double sign) {
    if (is_known(q, x)) return;
    double gap = lash_free_gap(q, x);
    if (isinf(gap) || (q->roots == LASH_FREE_ROOTS && q->gap[LASH_FREE_ROOTS - 1] <= gap)) return;
    int at = q->roots < LASH_FREE_ROOTS ? q->roots++ : LASH_FREE_ROOTS - 1;
    for (; at > 0 && q->gap[at - 1] > gap; --at) {
        q->gap[at] = q->gap[at - 1];
        q->sign[at] = q->sign[at - 1];
        memcpy(q->x[at], q->x[at - 1], sizeof q->x[at]);
    }
    q->gap[at] = gap;
    q->sign[at] = sign;
    memcpy(q->x[at], x, sizeof q->x[at]);
}

// Adds the root with parameters x to the view; true when it was accepted.
static bool add_root(LashFreeProblem* q, const double x[4], int slot, bool check) {
    LashPairView* v = q->v;
    LashCandidate c = {.slot = slot, .check = check};
    int before = v->count;
    lash_free_points(q, x);
    if (q->mode == LASH_MODE_S) {
        const LashSurfacePoint s = q->at[0];
        Vec3 n, e[2];
        double k[2], d = lash_free_distance(q->Q, s.p, &n, e, k), tube = q->Q->side * q->Q->tube;
        bool face = q->P->kind == LASH_FEATURE_FACE;
        Vec3 N = face ? vec3_cross(s.u, s.v) : vec3_zero();
        if (face && vec3_dot(N, n) * q->P->side > 0) return false; // same way round
        Vec3 skeleton = vec3_add_scaled(s.p, -d - tube, n);
        if (q->Q == v->b) {
            c.ca = s.p;
            c.cb = skeleton;
            c.n = n;
            memcpy(c.t_a, x, sizeof c.t_a);
        } else { // found in a's frame
            c.cb = lash_place(v->b_a, s.p);
            c.ca = lash_place(v->b_a, skeleton);
            c.n = vec3_neg(mat3_mul(v->b_a->rot, n));
            memcpy(c.t_b, x, sizeof c.t_b);
        }
        lash_pair_add(v, &c);
        return v->count > before;
    }
    const LashSurfacePoint a = q->at[0], b = q->at[1];
    c.ca = a.p;
    c.cb = b.p;
    memcpy(c.t_a, x, (size_t)q->na * sizeof(double));
    memcpy(c.t_b, x + q->na, (size_t)(q->n - q->na) * sizeof(double));
    if (q->mode == LASH_MODE_N) {
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
bool lash_free_is_minimum(LashFreeProblem* q, const double x[4]) {
    double F[4], J[16] = {0};
    if (q->mode != LASH_MODE_C) return true;
    lash_free_system(q, x, F, J);
    if (q->na == 0) return J[0] < 0;
    return J[0] > 0 && -J[0] * J[5] - J[4] * J[4] > 0;
}

// ---- search and follow ------------------------------------------------------------------------

static void make_problem(LashPairView* v, LashFreeProblem* q) {
    const LashFeature *a = v->a, *b = v->b;
    q->v = v;
    q->roots = q->ends = 0;
    q->evaluated = false;
    bool free_b = b->skeleton == LASH_SKELETON_SURFACE || b->skeleton == LASH_SKELETON_CURVE;
    bool elementary_a = a->kind == LASH_FEATURE_FACE && a->skeleton != LASH_SKELETON_SURFACE;
    q->na = 0;
    if (!free_b || elementary_a) {
        q->mode = LASH_MODE_S;
        if (free_b) {
            q->P = b;
            q->Q = a;
            q->place = lash_placement_inverse(v->b_a);
        } else {
            q->P = a;
            q->Q = b;
            q->place = *v->b_a;
        }
        q->n = lash_free_parameters(q->P);
        return;
    }
    q->mode = b->skeleton == LASH_SKELETON_SURFACE ? LASH_MODE_N : LASH_MODE_C;
    q->na = lash_free_parameters(a);
    q->n = q->na + lash_free_parameters(b);
}

// Slots: a root keeps the slot of the warm root it came from; new ones take the free slots.
static void add_roots(LashFreeProblem* q, LashWarm* warm) {
    bool taken[LASH_MAX_POINTS] = {false};
    LashWarm next = {.unresolved = q->unresolved};
    int slot_of[LASH_FREE_ROOTS];
    for (int k = 0; k < q->roots; ++k) {
        slot_of[k] = -1;
        for (int s = 0; warm != NULL && s < warm->count; ++s) {
            double d = 0;
            for (int i = 0; i < q->n; ++i)
                d = fmax(d, lash_free_parameter_distance(q, i, q->x[k][i], warm->p[s][i]));
            if (d < 0.05 && !taken[s]) {
                taken[s] = true;
                slot_of[k] = s;
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
        if (!taken[s]) {
            memcpy(next.p[s], warm->p[s], sizeof next.p[s]);
            next.sign[s] = 0;
        }
    *warm = next;
}

// Roots that wait outside: those that came in take a slot that is empty now.
static void follow_waiting(LashFreeProblem* q, LashWarm* warm, bool taken[LASH_MAX_POINTS]) {
    for (int k = 0; k < warm->waiting; ++k) {
        double x[4], sign;
        memcpy(x, warm->wait[k], sizeof x);
        int s = warm->count < LASH_MAX_POINTS ? warm->count : 0;
        while (s < LASH_MAX_POINTS && taken[s]) ++s;
        for (int i = 0; s == LASH_MAX_POINTS && i < LASH_MAX_POINTS; ++i)
            if (!taken[i]) s = i;
        if (s == LASH_MAX_POINTS) return;
        if (lash_free_newton(q, x, 0, &sign) != LASH_ROOT) continue;
        memcpy(warm->wait[k], x, sizeof x);
        if (!lash_free_is_minimum(q, x) || is_known(q, x)) continue;
        memcpy(q->x[q->roots++], x, sizeof x);
        if (!add_root(q, x, s, true)) continue;
        taken[s] = true;
        warm->sign[s] = sign;
        memcpy(warm->p[s], x, sizeof x);
        if (s >= warm->count) warm->count = s + 1;
    }
}

void lash_pair_free(LashPairView* v) {
    LashFreeProblem q;
    make_problem(v, &q);
    LashWarm* warm = v->query->warm;
    if (warm == NULL || v->query->search) {
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
