// Vertex and sphere against every elementary feature: closed forms.
//
// c is the point (or the ball's center). Line: foot on the axis. Circle: the nearest point of the
// circle lies in the half-plane of c and the axis; the farthest opposite. Cone with radius r at its
// origin and half angle a, in that half-plane (rho, z): signed distance (rho - r) cos a - z sin a.
#include "geometry/kernels/kernels_internal.h"

// Adds the candidate with n along +-(ca - cb); outward of b when the points coincide.
static void add_skeletons(LashPairView* v, LashCandidate* c, double sign, Vec3 fallback) {
    Vec3 w = vec3_sub(c->ca, c->cb);
    double d = vec3_norm(w);
    c->n = d > 0 ? vec3_scale(sign / d, w) : vec3_scale(sign, fallback);
    lash_pair_add(v, c);
}

static void point_circle(LashPairView* v, LashCandidate* c, double sign) {
    const LashFeature* b = v->b;
    Vec3 e = lash_across(vec3_sub(v->origin, b->origin), b->z);
    double rho = vec3_norm(e);
    e = rho > 0 ? vec3_scale(1 / rho, e) : b->x;
    bool far = v->a->kind == LASH_FEATURE_FACE && v->a->side < 0; // ring inside a socket
    c->cb = vec3_add_scaled(b->origin, far ? -b->radius : b->radius, e);
    c->check = far || b->side < 0;
    add_skeletons(v, c, sign, b->z);
}

static void point_cone(LashPairView* v, LashCandidate* c) {
    const LashFeature* b = v->b;
    Vec3 w = vec3_sub(v->origin, b->origin);
    double z = vec3_dot(w, b->z);
    Vec3 e = lash_across(w, b->z);
    double rho = vec3_norm(e);
    e = rho > 0 ? vec3_scale(1 / rho, e) : b->x;
    double d = (rho - b->radius) * b->cos_a - z * b->sin_a;
    Vec3 n = vec3_sub(vec3_scale(b->cos_a, e), vec3_scale(b->sin_a, b->z));
    c->cb = vec3_add_scaled(v->origin, -d, n);
    c->n = vec3_scale(b->side, n);
    c->check = b->side < 0;
    lash_pair_add(v, c);
}

// lash_pair_add for the commonest pair of flat parts: the plane's foot is the projection, the
// vertex owns the contact when none of its edges leads towards the plane.
static void vertex_plane(LashPairView* v) {
    const LashFeature *a = v->a, *b = v->b;
    Vec3 n = vec3_scale(b->side, b->z);
    double gap = vec3_dot(vec3_sub(v->origin, b->origin), n);
    if (!(gap <= v->query->limit && gap >= -2 * b->reach)) return;
    LashRoot* r = v->roots;
    *r = (LashRoot){.gap = gap,
                    .normal = n,
                    .point_a = v->origin,
                    .point_b = vec3_add_scaled(v->origin, -gap, n),
                    .deep = gap < -b->reach};
    Vec3 m = mat3_mul_transposed(v->b_a->rot, n);         // inward: seen from a
    double slack = gap < 0 ? INFINITY : LASH_SLACK_PLANE; // inside it penetrates, however it points
    for (int k = 0; k < a->directions; ++k) {
        double d = -vec3_dot(m, a->direction[k]);
        if (d > slack) return;
        if (fabs(d) < LASH_BORDER_ANGLE) r->boundary = true;
    }
    if (lash_feature_owns(b, r->point_b, r->t_b, n, 0, v->query->room, &r->boundary) ||
        (gap < 0 && lash_behind_concave_edge(b, r->point_b, -gap))) // as in lash_pair_add
        v->count = 1;
}

void lash_pair_point(LashPairView* v) {
    const LashFeature *a = v->a, *b = v->b;
    if (a->kind == LASH_FEATURE_VERTEX && b->skeleton == LASH_SKELETON_PLANE) {
        vertex_plane(v);
        return;
    }
    LashCandidate c = {.ca = v->origin};
    double sign = a->side * b->side; // -1: one of them is hollow
    bool round = b->skeleton == LASH_SKELETON_POINT || b->skeleton == LASH_SKELETON_LINE;
    if (sign < 0 && round && (a->side < 0 ? a->tube < b->tube : b->tube < a->tube))
        return; // a ball larger than its socket touches the rim

    switch (b->skeleton) {
        case LASH_SKELETON_POINT:
            c.cb = b->origin;
            add_skeletons(v, &c, sign, b->z);
            break;
        case LASH_SKELETON_LINE:
            c.cb = vec3_add_scaled(b->origin, vec3_dot(vec3_sub(v->origin, b->origin), b->z), b->z);
            add_skeletons(v, &c, sign, b->x);
            break;
        case LASH_SKELETON_CIRCLE:
            point_circle(v, &c, sign);
            break;
        case LASH_SKELETON_PLANE:
            c.n = vec3_scale(b->side, b->z);
            c.cb =
                vec3_add_scaled(v->origin, -vec3_dot(vec3_sub(v->origin, b->origin), b->z), b->z);
            lash_pair_add(v, &c);
            break;
        case LASH_SKELETON_CONE:
            point_cone(v, &c);
            break;
        default:
            break;
    }
}
