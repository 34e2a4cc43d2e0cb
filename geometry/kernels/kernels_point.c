// Vertex and sphere against every elementary feature: closed forms.
//
// c is the point (or the ball's center). Line: foot on the axis. Circle: the nearest point of the
// circle lies in the half-plane of c and the axis; the farthest opposite. Cone with radius r at its
// origin and half angle a, in that half-plane (rho, z): signed distance (rho - r) cos a - z sin a.
#include "geometry/kernels/kernels_internal.h"

// Adds the candidate with n along +-(ca - cb); outward of b when the points coincide.
static void add_skeletons(LashPairView* view, LashCandidate* candidate, double sign,
                          Vec3 fallback) {
    Vec3 w = vec3_sub(candidate->ca, candidate->cb);
    double d = vec3_norm(w);
    candidate->n = d > 0 ? vec3_scale(sign / d, w) : vec3_scale(sign, fallback);
    lash_pair_add(view, candidate);
}

static void point_circle(LashPairView* view, LashCandidate* candidate, double sign) {
    const LashFeature* feature = view->b;
    Vec3 e = lash_across(vec3_sub(view->origin, feature->origin), feature->z);
    double rho = vec3_norm(e);
    e = rho > 0 ? vec3_scale(1 / rho, e) : feature->x;
    bool far = view->a->kind == LASH_FEATURE_FACE && view->a->side < 0; // ring inside a socket
    candidate->cb = vec3_add_scaled(feature->origin, far ? -feature->radius : feature->radius, e);
    candidate->check = far || feature->side < 0;
    add_skeletons(view, candidate, sign, feature->z);
}

static void point_cone(LashPairView* view, LashCandidate* candidate) {
    const LashFeature* feature = view->b;
    Vec3 w = vec3_sub(view->origin, feature->origin);
    double z = vec3_dot(w, feature->z);
    Vec3 e = lash_across(w, feature->z);
    double rho = vec3_norm(e);
    e = rho > 0 ? vec3_scale(1 / rho, e) : feature->x;
    double d = (rho - feature->radius) * feature->cos_a - z * feature->sin_a;
    Vec3 n = vec3_sub(vec3_scale(feature->cos_a, e), vec3_scale(feature->sin_a, feature->z));
    candidate->cb = vec3_add_scaled(view->origin, -d, n);
    candidate->n = vec3_scale(feature->side, n);
    candidate->check = feature->side < 0;
    lash_pair_add(view, candidate);
}

// lash_pair_add for the commonest pair of flat parts: the plane's foot is the projection, the
// vertex owns the contact when none of its edges leads towards the plane.
static void vertex_plane(LashPairView* view) {
    const LashFeature *a = view->a, *b = view->b;
    Vec3 n = vec3_scale(b->side, b->z);
    double gap = vec3_dot(vec3_sub(view->origin, b->origin), n);
    if (!(gap <= view->query->limit && gap >= -2 * b->reach)) return;
    LashRoot* root = view->roots;
    *root = (LashRoot){.gap = gap,
                       .normal = n,
                       .point_a = view->origin,
                       .point_b = vec3_add_scaled(view->origin, -gap, n),
                       .deep = gap < -b->reach};
    Vec3 m = mat3_mul_transposed(view->b_a->rot, n);      // inward: seen from a
    double slack = gap < 0 ? INFINITY : LASH_SLACK_PLANE; // inside it penetrates, however it points
    for (int k = 0; k < a->directions; ++k) {
        double d = -vec3_dot(m, a->direction[k]);
        if (d > slack) return;
        if (fabs(d) < LASH_BORDER_ANGLE) root->boundary = true;
    }
    if (lash_feature_owns(b, root->point_b, root->t_b, n, 0, view->query->room, &root->boundary) ||
        (gap < 0 && lash_behind_concave_edge(b, root->point_b, -gap))) // as in lash_pair_add
        view->count = 1;
}

void lash_pair_point(LashPairView* view) {
    const LashFeature *a = view->a, *b = view->b;
    if (a->kind == LASH_FEATURE_VERTEX && b->skeleton == LASH_SKELETON_PLANE) {
        vertex_plane(view);
        return;
    }
    LashCandidate c = {.ca = view->origin};
    double sign = a->side * b->side; // -1: one of them is hollow
    bool round = b->skeleton == LASH_SKELETON_POINT || b->skeleton == LASH_SKELETON_LINE;
    if (sign < 0 && round && (a->side < 0 ? a->tube < b->tube : b->tube < a->tube))
        return; // a ball larger than its socket touches the rim

    switch (b->skeleton) {
        case LASH_SKELETON_POINT:
            c.cb = b->origin;
            add_skeletons(view, &c, sign, b->z);
            break;
        case LASH_SKELETON_LINE:
            c.cb =
                vec3_add_scaled(b->origin, vec3_dot(vec3_sub(view->origin, b->origin), b->z), b->z);
            add_skeletons(view, &c, sign, b->x);
            break;
        case LASH_SKELETON_CIRCLE:
            point_circle(view, &c, sign);
            break;
        case LASH_SKELETON_PLANE:
            c.n = vec3_scale(b->side, b->z);
            c.cb = vec3_add_scaled(view->origin, -vec3_dot(vec3_sub(view->origin, b->origin), b->z),
                                   b->z);
            lash_pair_add(view, &c);
            break;
        case LASH_SKELETON_CONE:
            point_cone(view, &c);
            break;
        default:
            break;
    }
}
