// Contact kernels: dispatch, the common tests of a candidate, rates.
//
// Every elementary feature is a skeleton with a tube of radius r (0 for vertices and edges). Let
// d u = C_a - C_b be the connection of two skeleton points at a stationary point of their distance.
//   both convex:         n = u,   gap = d - r_a - r_b            (d is a local minimum)
//   one concave (bore):  n = -u,  gap = r_concave - r_convex - d (d is a local maximum)
// pa = C_a - side_a r_a n, pb = C_b + side_b r_b n. So one formula holds through contact into
// penetration, and its sign comes from the faces' orientation, never from the distance.
//
// Second-order test, with the curvature K of each side with respect to its outward normal: the
// point is a contact when I + g K_a and I + g K_b are positive (not beyond the focal points: the
// reach of curvature) and K_a + K_b (I + g K_b)^-1 is positive semidefinite on the directions in
// which the sides can slide.
//
// Rates (b at rest): foot points move by w + X_a p_a and X_b p_b,
// normals turn by -omega x n + Y_a p_a (= -dn) and Y_b p_b (= dn); pa = pb + g n gives
//   X_a p_a - (X_b + g Y_b) p_b = -w_t,     Y_a p_a + Y_b p_b = (omega x n)_t,     dg = w . n
#include "geometry/kernels/kernels.h"

#include "geometry/kernels/kernels_internal.h"

// Of the depth: how far beyond an end at a reentrant corner a foot may be. The foot moves by the
// depth over the tangent of the angle between both edges; what has no point in the solid is left
// out by the pair manager. Less: contacts at such corners are lost, test_geometry_solid.
static const double ENDS = 8;

static bool concave(
    const LashFeature* feature) { // every point of it is hollow in one direction at least
    return feature->kind == LASH_FEATURE_FACE && feature->side < 0 &&
           feature->skeleton != LASH_SKELETON_SURFACE;
}

static bool is_free(LashSkeleton a, LashSkeleton b) {
    enum {
        FREE = 1 << LASH_SKELETON_CURVE | 1 << LASH_SKELETON_SURFACE,
        CONE = 1 << LASH_SKELETON_CONE
    };
    int both = 1 << a | 1 << b;
    return (both & FREE) != 0 || both == CONE;
}

bool lash_kernel_is_free(const LashFeature* a, const LashFeature* b) {
    return is_free(a->skeleton, b->skeleton);
}

// The smaller skeleton first, extruded faces last.
static bool is_ordered(const LashFeature* a, const LashFeature* b) {
    if (a->skeleton != b->skeleton) return a->skeleton < b->skeleton;
    return !lash_feature_is_extruded(a) || lash_feature_is_extruded(b);
}

static int slots_ordered(const LashFeature* a, const LashFeature* b) {
    LashSkeleton s = a->skeleton, t = b->skeleton;
    bool ca = concave(a), cb = concave(b);
    switch (s) {
        case LASH_SKELETON_POINT:
            if (t == LASH_SKELETON_LINE || t == LASH_SKELETON_PLANE || t == LASH_SKELETON_CONE)
                return ca ? 0 : 1; // a socket touches those at its rim
            return t == LASH_SKELETON_CURVE || t == LASH_SKELETON_SURFACE ? LASH_MAX_POINTS : 1;
        case LASH_SKELETON_LINE:
            if (t == LASH_SKELETON_LINE) return ca || cb ? 0 : 1;
            if (t == LASH_SKELETON_CIRCLE) return 2;
            if (t == LASH_SKELETON_PLANE) return 0;
            if (t == LASH_SKELETON_CONE) return ca || cb ? 0 : 1;
            return LASH_MAX_POINTS;
        case LASH_SKELETON_CIRCLE:
            if (t == LASH_SKELETON_PLANE) return ca ? 0 : LASH_MAX_POINTS;
            if (t == LASH_SKELETON_CONE) return ca ? 0 : LASH_MAX_POINTS;
            return LASH_MAX_POINTS;
        case LASH_SKELETON_CURVE:
            return LASH_MAX_POINTS;
        case LASH_SKELETON_PLANE: // an extruded face lies on it along a line, if at all
            if (lash_feature_is_extruded(b)) return 0;
            return t == LASH_SKELETON_SURFACE ? LASH_MAX_POINTS : 0;
        case LASH_SKELETON_CONE:
            return t == LASH_SKELETON_CONE && (ca || cb) ? 0 : LASH_MAX_POINTS;
        case LASH_SKELETON_SURFACE:
            return LASH_MAX_POINTS;
    }
    return 0;
}

int lash_kernel_slots(const LashFeature* a, const LashFeature* b) {
    if (concave(a) && concave(b)) return 0;
    for (int i = 0; i < 2; ++i) { // a seam only continues a line contact
        const LashFeature *f = i == 0 ? a : b, *g = i == 0 ? b : a;
        bool ruled = g->skeleton == LASH_SKELETON_PLANE || g->skeleton == LASH_SKELETON_LINE;
        if (f->seam && !(g->kind == LASH_FEATURE_FACE && ruled)) return 0;
    }
    return is_ordered(a, b) ? slots_ordered(a, b) : slots_ordered(b, a);
}

// How far outside its cone a vertex or edge f may still be taken, against g.
static double slack_against(const LashFeature* f, const LashFeature* g) {
    if (f->kind == LASH_FEATURE_FACE) return 0;
    if (g->skeleton == LASH_SKELETON_PLANE) return LASH_SLACK_PLANE;
    if (f->kind == LASH_FEATURE_EDGE && g->kind == LASH_FEATURE_EDGE) return LASH_SLACK_RULED;
    bool ruled = g->skeleton == LASH_SKELETON_LINE || g->skeleton == LASH_SKELETON_CONE;
    return ruled && g->kind == LASH_FEATURE_FACE ? LASH_SLACK_RULED : LASH_SLACK_TIGHT;
}

double lash_kernel_reach(const LashFeature* a, const LashFeature* b) {
    bool fa = a->kind == LASH_FEATURE_FACE, fb = b->kind == LASH_FEATURE_FACE;
    double share = is_free(a->skeleton, b->skeleton) ? LASH_FREE_REACH : 1;
    if (fa != fb) return share * (fa ? a->reach : b->reach);
    return share * (a->reach < b->reach ? a->reach : b->reach);
}

// A cone's radius of curvature changes along it: is the gap deeper than its share at the foot?
static bool beyond_cone(const LashFeature* feature, Vec3 foot, double gap) {
    if (feature->skeleton != LASH_SKELETON_CONE || feature->side < 0) return false;
    double rho = vec3_norm(lash_across(vec3_sub(foot, feature->origin), feature->z));
    return gap * feature->cos_a < -LASH_FREE_REACH * rho;
}

static bool is_contact(const LashPairView* view, const LashCandidate* candidate,
                       const LashRoot* root) {
    Vec3 t1, t2;
    vec3_basis(root->normal, &t1, &t2);
    LashSecondOrder A, B;
    const Mat3* R = &view->b_a->rot;
    lash_feature_second_order(view->b, false, root->point_b, candidate->t_b, root->normal, t1, t2,
                              &B);
    lash_feature_second_order(view->a, candidate->ball,
                              lash_place_inverse(view->b_a, root->point_a), candidate->t_a,
                              vec3_neg(mat3_mul_transposed(*R, root->normal)),
                              mat3_mul_transposed(*R, t1), mat3_mul_transposed(*R, t2), &A);
    return lash_second_order_is_contact(view->a, view->b, &A, &B, root->gap);
}

// Depth of the edge g, placed in e's frame, below the plane through p with normal n.
static double deepest_of(const LashFeature* feature, const LashPlacement* place, Vec3 p, Vec3 n) {
    if (feature->skeleton == LASH_SKELETON_CIRCLE) {
        double c = vec3_dot(mat3_mul(place->rot, feature->z), n);
        double height = vec3_dot(vec3_sub(lash_place(place, feature->origin), p), n);
        return height - feature->radius * sqrt(fmax(0, 1 - c * c));
    }
    double deepest = INFINITY;
    for (int k = 0; k < 2; ++k) {
        Vec3 end = lash_place(
            place, vec3_add_scaled(feature->origin, k ? feature->t1 : feature->t0, feature->z));
        deepest = fmin(deepest, vec3_dot(vec3_sub(end, p), n));
    }
    return deepest;
}

// Crossed edges e and g: does a face at e separate g's edge with less than their depth? Then the
// solids leave each other along that face's normal rather than across the edges; where both are
// equally deep the root of g's end on that face takes over, so the gap is continuous. place: g in
// e's frame, p: foot on e.
static bool face_separates(const LashFeature* e, const LashFeature* g, const LashPlacement* place,
                           Vec3 p, double gap) {
    if (e->wedge == LASH_WEDGE_NONE) return false;
    if (e->wedge == LASH_WEDGE_GENERAL || g->skeleton == LASH_SKELETON_CURVE)
        return gap < -0.05 * fmin(e->size, g->size);
    for (int i = 0; i < 2; ++i) {
        Vec3 n = e->wedge_normal[i];
        if (e->wedge == LASH_WEDGE_COAXIAL) // (radial, axial) at p
            n = vec3_add_scaled(vec3_scale(n.x / e->radius, vec3_sub(p, e->origin)), n.y, e->z);
        if (deepest_of(g, place, p, n) > gap) return true;
    }
    return false;
}

static bool crossing_is_contact(const LashPairView* view, const LashRoot* root) {
    if (view->a->kind != LASH_FEATURE_EDGE || view->b->kind != LASH_FEATURE_EDGE) return true;
    LashPlacement a_b = lash_placement_inverse(view->b_a);
    return !face_separates(view->b, view->a, view->b_a, root->point_b, root->gap) &&
           !face_separates(view->a, view->b, &a_b, lash_place(&a_b, root->point_a), root->gap);
}

// A vertex or edge below two faces with a reentrant edge between them: its feet lie beyond that edge,
// one of them not farther than it is deep. The pair manager moves the root to the reentrant edge. Of an
// edge only where the face is one of a solid, against which the pair manager holds the root.
static bool is_behind(const LashFeature* sharp, const LashFeature* face, Vec3 foot, double gap) {
    if (gap >= 0 || face->kind != LASH_FEATURE_FACE) return false;
    bool edge = sharp->kind == LASH_FEATURE_EDGE && face->of_solid;
    return (sharp->kind == LASH_FEATURE_VERTEX || edge) &&
           lash_behind_concave_edge(face, foot, -gap);
}

void lash_pair_add(LashPairView* view, const LashCandidate* candidate) {
    const LashFeature *a = view->a, *b = view->b;
    double ra = a->side * a->tube, rb = b->side * b->tube;
    double gap = vec3_dot(vec3_sub(candidate->ca, candidate->cb), candidate->n) - ra - rb;
    double reach = lash_kernel_reach(a, b);
    if (!(gap <= view->query->limit && gap >= -2 * reach) || view->count == LASH_MAX_POINTS) return;
    LashRoot* root = view->roots + view->count;
    root->gap = gap;
    root->normal = candidate->n;
    root->slot = candidate->slot;
    root->point_a = vec3_add_scaled(candidate->ca, -ra, candidate->n);
    root->point_b = vec3_add_scaled(candidate->cb, rb, candidate->n);
    root->boundary = false;
    root->ball_a = candidate->ball;
    root->ball_b = false;
    root->rim = false;
    root->beyond = false;
    root->raised = false;
    root->deep = gap < -reach;
    root->t_a[0] = candidate->t_a[0];
    root->t_a[1] = candidate->t_a[1];
    root->t_b[0] = candidate->t_b[0];
    root->t_b[1] = candidate->t_b[1];
    double slack_a = slack_against(a, b), slack_b = slack_against(b, a);
    if (gap < 0 && b->kind == LASH_FEATURE_FACE && a->kind == LASH_FEATURE_VERTEX) {
        slack_a = INFINITY; // inside the material it penetrates, whichever way it points
    } else if (gap < 0 && a->kind == LASH_FEATURE_EDGE && b->kind == LASH_FEATURE_EDGE) {
        // crossed edges: outside the wedges their points would lie outside the other's material
        double most = 1e-9 * fmin(a->size, b->size) / -gap;
        slack_a = fmin(slack_a, most);
        slack_b = fmin(slack_b, most);
    }
    LashTrimRoom* room = view->query->room != NULL ? view->query->room + 2 * candidate->slot : NULL;
    if (!lash_feature_owns(b, root->point_b, candidate->t_b, candidate->n, slack_b, room,
                           &root->boundary) &&
        !is_behind(a, b, root->point_b, gap)) {
        if (gap >= 0 || !lash_edge_goes_on(b, root->point_b, candidate->n, slack_b, -ENDS * gap))
            return;
        root->beyond = true;
    }
    if (room != NULL) ++room;
    Vec3 p = lash_place_inverse(view->b_a, root->point_a);
    Vec3 m = vec3_neg(mat3_mul_transposed(view->b_a->rot, candidate->n));
    if (!lash_feature_owns(a, p, candidate->t_a, m, slack_a, room, &root->boundary) &&
        !is_behind(b, a, p, gap)) {
        if (gap >= 0 || !lash_edge_goes_on(a, p, m, slack_a, -ENDS * gap)) return;
        root->beyond = true;
    }
    if (gap < 0 && is_free(a->skeleton, b->skeleton))
        root->deep |= beyond_cone(a, p, gap) || beyond_cone(b, root->point_b, gap);
    if (candidate->check && !root->deep && !is_contact(view, candidate, root)) return;
    root->shadowed = gap < 0 && !crossing_is_contact(view, root);
    ++view->count;
}

// Do the edges lie apart along n, farther than the limit? Then they are not in each other along -n,
// although free edges own every direction.
static bool apart(const LashPairView* view, const LashCandidate* candidate) {
    if (vec3_dot(vec3_sub(candidate->ca, candidate->cb), candidate->n) <= view->query->limit)
        return false;
    LashRoot root;
    LashKernelQuery query = *view->query;
    LashPairView all = *view;
    query.limit = INFINITY;
    all.query = &query;
    all.roots = &root;
    all.count = 0;
    lash_pair_add(&all, candidate);
    return all.count > 0;
}

void lash_pair_add_edges(LashPairView* view, LashCandidate* candidate, Vec3 tangent_a,
                         Vec3 tangent_b) {
    Vec3 w = vec3_sub(candidate->ca, candidate->cb), x = vec3_cross(tangent_a, tangent_b);
    double d = vec3_norm(w), sine = vec3_norm(x), size = fmin(view->a->size, view->b->size);
    if (d > sine * size) {
        candidate->n = vec3_scale(1 / d, w);
    } else if (sine > 0) {
        candidate->n = vec3_scale((vec3_dot(x, w) < 0 ? -1 : 1) / sine, x);
    } else {
        return; // the same point and the same tangent: no direction; the faces have it
    }
    int before = view->count;
    lash_pair_add(view, candidate);
    if (view->count > before || sine < 1e-6 || apart(view, candidate)) return;
    candidate->n = vec3_neg(candidate->n); // past each other: the wedges tell
    lash_pair_add(view, candidate);
}

// ---- second-order test ------------------------------------------------------------------------

static bool positive(const double M[4], double tolerance) { // symmetric part, semidefinite
    double a = M[0] + tolerance, d = M[3] + tolerance, b = 0.5 * (M[1] + M[2]);
    return a >= 0 && d >= 0 && a * d - b * b >= 0;
}

// K (I + g K)^-1 for symmetric K; false beyond the focal point.
static bool parallel_curvature(const double K[4], double g, double P[4]) {
    double a = 1 + g * K[0], b = g * K[2], c = g * K[1], d = 1 + g * K[3];
    double det = a * d - b * c;
    if (!(det > 0 && a + d > 0)) return false;
    double inv[4] = {d / det, -c / det, -b / det, a / det};
    P[0] = K[0] * inv[0] + K[2] * inv[1];
    P[1] = K[1] * inv[0] + K[3] * inv[1];
    P[2] = K[0] * inv[2] + K[2] * inv[3];
    P[3] = K[1] * inv[2] + K[3] * inv[3];
    return true;
}

bool lash_second_order_is_contact(const LashFeature* a, const LashFeature* b,
                                  const LashSecondOrder* A, const LashSecondOrder* B, double gap) {
    bool fa = a->kind == LASH_FEATURE_FACE, fb = b->kind == LASH_FEATURE_FACE;
    double P[4] = {0, 0, 0, 0}, Q[4];
    if (fa && !parallel_curvature(A->Y, gap, Q)) return false;
    if (fb && !parallel_curvature(B->Y, gap, P)) return false;
    double size = fmin(a->size, b->size), tolerance = 1e-9 / size;
    if (fa && fb) {
        double M[4];
        for (int i = 0; i < 4; ++i) M[i] = A->Y[i] + P[i];
        return positive(M, tolerance);
    }
    if (!fa && !fb) return true; // the kernels give minima of the distance
    // one edge (X = s s') or vertex (X = 0): s' (K_edge + K_face) s >= 0
    const LashSecondOrder* E = fa ? B : A;
    const double* F = fa ? Q : P;
    double sum = 0;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            double x = E->X[i + 2 * j];
            sum += x * F[i + 2 * j];
            double yx = 0;
            for (int k = 0; k < 2; ++k) yx += E->Y[i + 2 * k] * E->X[k + 2 * j];
            sum += i == j ? yx : 0;
        }
    return sum >= -tolerance;
}

// The same for a rim on a barrel. (p, q) and (r, s): the unit vectors along the rim and around the
// barrel in the basis. Rim: X = (p, q)(p, q)', Y = bend X + (-q, p)(-q, p)'; barrel: X = I,
// Y = k (r, s)(r, s)'.
static void rim_second_order(const LashFeature* barrel, const LashRoot* root, const Mat3* world_b,
                             Vec3 t1, Vec3 t2, LashSecondOrder* of_rim,
                             LashSecondOrder* of_barrel) {
    Vec3 tangent = mat3_mul(*world_b, root->tangent), around = mat3_mul(*world_b, root->around);
    double p = vec3_dot(tangent, t1), q = vec3_dot(tangent, t2), h = root->bend;
    double r = vec3_dot(around, t1), s = vec3_dot(around, t2), k = barrel->side / barrel->tube;
    double pp = p * p, pq = p * q, qq = q * q;
    *of_rim =
        (LashSecondOrder){{pp, pq, pq, qq}, {h * pp + qq, (h - 1) * pq, (h - 1) * pq, h * qq + pp}};
    *of_barrel = (LashSecondOrder){{1, 0, 0, 1}, {k * r * r, k * r * s, k * r * s, k * s * s}};
}

// The same in every direction and place: vertex, ball, plane.
static bool is_isotropic(const LashFeature* feature, bool ball) {
    return ball || feature->kind == LASH_FEATURE_VERTEX ||
           (feature->kind == LASH_FEATURE_FACE &&
            (feature->skeleton == LASH_SKELETON_PLANE || feature->skeleton == LASH_SKELETON_POINT));
}

void lash_kernel_second_order(const LashFeature* a, const LashFeature* b, const LashPlacement* b_a,
                              const LashRoot* root, const Mat3* world_b,
                              LashContactPoint* contact) {
    Vec3 t1, t2; // basis of the world normal, brought into b's and a's axes
    vec3_basis(contact->normal, &t1, &t2);
    if (root->raised) {
        contact->a = contact->b = (LashSecondOrder){.X = {1, 0, 0, 1}};
        return;
    }
    if (root->rim) {
        bool of_a = a->kind == LASH_FEATURE_EDGE;
        rim_second_order(of_a ? b : a, root, world_b, t1, t2, of_a ? &contact->a : &contact->b,
                         of_a ? &contact->b : &contact->a);
        return;
    }
    bool same_a = is_isotropic(a, root->ball_a), same_b = is_isotropic(b, root->ball_b);
    if (same_b) lash_feature_second_order(b, root->ball_b, t1, NULL, t1, t1, t2, &contact->b);
    if (same_a) lash_feature_second_order(a, root->ball_a, t1, NULL, t1, t1, t2, &contact->a);
    if (same_a && same_b) return;
    t1 = mat3_mul_transposed(*world_b, t1);
    t2 = mat3_mul_transposed(*world_b, t2);
    if (!same_b)
        lash_feature_second_order(b, root->ball_b, root->point_b, root->t_b, root->normal, t1, t2,
                                  &contact->b);
    if (same_a) return;
    Vec3 m = vec3_neg(mat3_mul_transposed(b_a->rot, root->normal));
    lash_feature_second_order(a, root->ball_a, lash_place_inverse(b_a, root->point_a), root->t_a, m,
                              mat3_mul_transposed(b_a->rot, t1), mat3_mul_transposed(b_a->rot, t2),
                              &contact->a);
}

// ---- dispatch ---------------------------------------------------------------------------------

static void place_skeleton(LashPairView* view) {
    const LashFeature* feature = view->a;
    view->origin = lash_place(view->b_a, feature->origin);
    if (feature->skeleton != LASH_SKELETON_POINT) view->z = mat3_mul(view->b_a->rot, feature->z);
    if (feature->skeleton >= LASH_SKELETON_CIRCLE) {
        view->x = mat3_mul(view->b_a->rot, feature->x);
        view->y = vec3_cross(view->z, view->x);
    }
}

static void roots_ordered(LashPairView* view) {
    const LashFeature* feature = view->a;
    place_skeleton(view);
    if (is_free(feature->skeleton, view->b->skeleton)) {
        lash_pair_free(view);
        return;
    }
    switch (feature->skeleton) {
        case LASH_SKELETON_POINT:
            lash_pair_point(view);
            break;
        case LASH_SKELETON_LINE:
            lash_pair_line(view);
            break;
        case LASH_SKELETON_CIRCLE:
            lash_pair_circle(view);
            break;
        default:
            break;
    }
}

// Roots found in a's frame with the names exchanged.
static void exchange(const LashPlacement* b_a, LashRoot* roots, int count) {
    for (int i = 0; i < count; ++i) {
        LashRoot* root = roots + i;
        Vec3 point_a = root->point_a;
        bool ball = root->ball_a;
        root->normal = vec3_neg(mat3_mul(b_a->rot, root->normal));
        root->point_a = lash_place(b_a, root->point_b);
        root->point_b = lash_place(b_a, point_a);
        root->ball_a = root->ball_b;
        root->ball_b = ball;
        if (root->rim) {
            root->tangent = mat3_mul(b_a->rot, root->tangent);
            root->around = mat3_mul(b_a->rot, root->around);
        }
        for (int k = 0; k < 2; ++k) {
            double t = root->t_a[k];
            root->t_a[k] = root->t_b[k];
            root->t_b[k] = t;
        }
    }
}

int lash_kernel_roots(const LashFeature* a, const LashFeature* b, const LashPlacement* b_a,
                      const LashKernelQuery* query, LashRoot roots[LASH_MAX_POINTS]) {
    if (lash_is_rim_cylinder(a, b)) return lash_rim_cylinder(a, b, b_a, query->limit, roots);
    LashPairView v;
    v.query = query;
    v.roots = roots;
    v.count = 0;
    bool ordered = is_ordered(a, b), rim = lash_is_rim_cylinder(b, a);
    if (ordered && !rim) {
        v.a = a;
        v.b = b;
        v.b_a = b_a;
        roots_ordered(&v);
        return v.count;
    }
    LashPlacement inverse;
    if (query->a_b == NULL) inverse = lash_placement_inverse(b_a);
    v.a = b;
    v.b = a;
    v.b_a = query->a_b != NULL ? query->a_b : &inverse;
    if (rim)
        v.count = lash_rim_cylinder(b, a, v.b_a, query->limit, roots);
    else
        roots_ordered(&v);
    exchange(b_a, roots, v.count);
    return v.count;
}

bool lash_kernel_list(const LashFeature* a, const LashFeature* b, const LashPlacement* b_a,
                      const LashKernelQuery* query, double move, double turn) {
    LASH_ASSERT(is_free(a->skeleton, b->skeleton) && query->warm != NULL);
    LashPlacement inverse = lash_placement_inverse(b_a);
    bool ordered = is_ordered(a, b);
    LashPairView v = {.a = ordered ? a : b,
                      .b = ordered ? b : a,
                      .b_a = ordered ? b_a : &inverse,
                      .query = query};
    if (!ordered && query->a_b != NULL) v.b_a = query->a_b;
    place_skeleton(&v);
    lash_pair_list_free(&v, move, turn);
    return query->warm->listed;
}

bool lash_kernel_rims(const LashFeature* const a[2], const LashFeature* const b[2],
                      const LashPlacement* b_a, const LashKernelQuery* query,
                      LashRoot (*roots)[LASH_MAX_POINTS], int* count) {
    if (b[0] == b[1] && b[0]->barrel) {
        if (!a[0]->rim || !a[1]->rim) return false;
        lash_rims_cylinder(a, b[0], b_a, query->limit, roots, count);
        return true;
    }
    if (a[0] != a[1] || !a[0]->barrel || !b[0]->rim || !b[1]->rim) return false;
    LashPlacement inverse;
    if (query->a_b == NULL) inverse = lash_placement_inverse(b_a);
    const LashPlacement* a_b = query->a_b != NULL ? query->a_b : &inverse;
    lash_rims_cylinder(b, a[0], a_b, query->limit, roots, count);
    for (int k = 0; k < 2; ++k) exchange(b_a, roots[k], count[k]);
    return true;
}

// ---- rates ------------------------------------------------------------------------------------

static double largest(double most, const double* x, int n) {
    for (int i = 0; i < n; ++i) most = fabs(x[i]) > most ? fabs(x[i]) : most;
    return most;
}

// Solves M x = R for 4 right-hand sides in place, partial pivoting; rows (M, R).
static bool solve4(double row[4][8]) {
    double scale = 0;
    for (int i = 0; i < 4; ++i) scale = largest(scale, row[i], 4);
    for (int k = 0; k < 4; ++k) {
        int p = k;
        for (int i = k + 1; i < 4; ++i)
            if (fabs(row[i][k]) > fabs(row[p][k])) p = i;
        if (!(fabs(row[p][k]) > 1e-13 * scale)) return false;
        double pivot[8], inverse = 1 / row[p][k];
        for (int j = 0; j < 8; ++j) {
            pivot[j] = inverse * row[p][j];
            row[p][j] = row[k][j];
        }
        for (int j = 0; j < 8; ++j) row[k][j] = pivot[j];
        for (int i = 0; i < 4; ++i) {
            double f = row[i][k];
            if (i == k || f == 0) continue;
            for (int j = 0; j < 8; ++j) row[i][j] -= f * pivot[j];
        }
    }
    return true;
}

bool lash_contact_operator(const LashContactPoint* point, double D[16]) {
    // Rows 0,1: lengths; rows 2,3: angles. A smooth side's p is a length, a vertex's an angle, so
    // the angle rows and the vertex columns are balanced by the gap-free length L = 1 / (1 + |Y|).
    double row[4][8] = {{0}};
    double g =
        vec3_dot(vec3_sub(point->point_a, point->point_b), point->normal); // without the offset
    double y = largest(largest(0, point->a.Y, 4), point->b.Y, 4);
    double x = largest(largest(0, point->a.X, 4), point->b.X, 4);
    double s = y > 0 ? 1 / y : 1;
    if (x == 0) s = 1;
    for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 2; ++i) {
            int k = i + 2 * j;
            row[i][j] = point->a.X[k];
            row[i][j + 2] = -(point->b.X[k] + g * point->b.Y[k]);
            row[i + 2][j] = s * point->a.Y[k];
            row[i + 2][j + 2] = s * point->b.Y[k];
        }
    row[0][4] = row[1][5] = -1;
    row[2][6] = row[3][7] = s;
    bool regular = solve4(row);
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) D[i + 4 * j] = regular ? row[i][4 + j] : 0;
    return regular;
}

bool lash_contact_rate(const LashContactPoint* point, Vec3 w, Vec3 omega, LashContactRate* rate) {
    Vec3 t1, t2, n = point->normal, turn = vec3_cross(omega, n);
    vec3_basis(n, &t1, &t2);
    double D[16], r[4] = {vec3_dot(w, t1), vec3_dot(w, t2), vec3_dot(turn, t1), vec3_dot(turn, t2)};
    double p[4] = {0, 0, 0, 0};
    bool ok = lash_contact_operator(point, D);
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) p[i] += D[i + 4 * j] * r[j];
    const double *Xa = point->a.X, *Xb = point->b.X, *Yb = point->b.Y;
    double sa[2] = {Xa[0] * p[0] + Xa[2] * p[1], Xa[1] * p[0] + Xa[3] * p[1]};
    double sb[2] = {Xb[0] * p[2] + Xb[2] * p[3], Xb[1] * p[2] + Xb[3] * p[3]};
    double dn[2] = {Yb[0] * p[2] + Yb[2] * p[3], Yb[1] * p[2] + Yb[3] * p[3]};
    rate->gap = vec3_dot(w, n);
    rate->point_a = vec3_add(w, vec3_add(vec3_scale(sa[0], t1), vec3_scale(sa[1], t2)));
    rate->point_b = vec3_add(vec3_scale(sb[0], t1), vec3_scale(sb[1], t2));
    rate->normal = vec3_add(vec3_scale(dn[0], t1), vec3_scale(dn[1], t2));
    return ok;
}

int lash_contact_span(const LashContactPoint* points, int count, int chosen[LASH_MAX_POINTS]) {
    if (count == 0) return 0;
    int deepest = 0, far = -1, left = -1, right = -1;
    for (int i = 1; i < count; ++i)
        if (points[i].gap < points[deepest].gap) deepest = i;
    Vec3 o = points[deepest].point_b, n = points[deepest].normal;
    double most = 0;
    for (int i = 0; i < count; ++i) {
        double d = vec3_distance(points[i].point_b, o);
        if (d > most) {
            most = d;
            far = i;
        }
    }
    int used = 0;
    chosen[used++] = deepest;
    if (far < 0) return used;
    chosen[used++] = far;
    Vec3 across = vec3_cross(n, vec3_sub(points[far].point_b, o));
    double low = -1e-9 * most * most, high = 1e-9 * most * most; // of no width: a line
    for (int i = 0; i < count; ++i) {
        double d = vec3_dot(vec3_sub(points[i].point_b, o), across);
        if (d > high) {
            high = d;
            left = i;
        }
        if (d < low) {
            low = d;
            right = i;
        }
    }
    if (left >= 0) chosen[used++] = left;
    if (right >= 0) chosen[used++] = right;
    return used;
}
