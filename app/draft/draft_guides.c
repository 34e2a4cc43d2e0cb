// Plates between planes: guides with corners.
//
// A body between two planes of another one that look at it from both sides, with little play: one
// such pair of planes leaves it free in the plane, two that cross make a guide. Bodies, not parts:
// the cover of a guide is often screwed on.
#include <math.h>

#include "app/draft/draft.h"
#include "core/math3.h"

static const double PLANE_SHARE = 0.01; // of the plate's width: play of a guide, at most
static const double ROUNDING = 1e-7;    // [m] less play is none

typedef struct Sandwich { // a body between two planes of another one
    Vec3 normal, middle;
    double width, play; // of the inner body; per side
    int face[4];        // inner and outer, twice
} Sandwich;

static bool boxes_near(const LashBox* p, const LashBox* q, double margin) {
    return p->low.x - margin <= q->high.x && q->low.x - margin <= p->high.x &&
           p->low.y - margin <= q->high.y && q->low.y - margin <= p->high.y &&
           p->low.z - margin <= q->high.z && q->low.z - margin <= p->high.z;
}

// The nearest plane of `outer` that faces this one; the gap, INFINITY: none nearer than `limit`.
static double facing_gap(const Draft* draft, const DraftPlane* plane, int outer, double limit,
                         int* face) {
    const DraftBody* body = &draft->body[outer];
    double least = INFINITY;
    for (int i = body->first_plane; i < body->first_plane + body->planes; ++i) {
        const DraftPlane* other = &draft->plane[i];
        if (vec3_dot(plane->normal, other->normal) > -1 + 1e-12) continue;
        double gap = vec3_dot(vec3_sub(other->point, plane->point), plane->normal);
        if (gap < -ROUNDING || gap > limit || gap >= least) continue;
        if (!boxes_near(&plane->box, &other->box, gap + ROUNDING)) continue;
        if (!draft_planes_overlap(draft, plane, other)) continue;
        least = fmax(gap, 0);
        *face = other->face;
    }
    return least;
}

static bool known(const Sandwich* found, int count, Vec3 normal) {
    for (int m = 0; m < count; ++m)
        if (fabs(vec3_dot(found[m].normal, normal)) > 1 - 1e-9) return true;
    return false;
}

static int sandwiches(const Draft* draft, const DraftOptions* options, int outer, int inner,
                      Sandwich* found, int most) {
    const DraftBody* body = &draft->body[inner];
    double size = vec3_norm(vec3_sub(body->box.high, body->box.low));
    double limit = isnan(options->clearance_max) ? 2 * PLANE_SHARE * size : options->clearance_max;
    int count = 0, last = body->first_plane + body->planes;
    for (int i = body->first_plane; i < last && count < most; ++i) {
        const DraftPlane* a = &draft->plane[i];
        if (known(found, count, a->normal)) continue;
        Sandwich s = {.normal = a->normal, .face = {a->face}};
        double gap_a = facing_gap(draft, a, outer, limit, &s.face[1]);
        if (gap_a == INFINITY) continue;
        for (int k = i + 1; k < last && count < most; ++k) {
            const DraftPlane* b = &draft->plane[k];
            if (vec3_dot(a->normal, b->normal) > -1 + 1e-12) continue;
            s.width = vec3_dot(vec3_sub(a->point, b->point), a->normal);
            if (!(s.width > 0)) continue;
            double gap_b = facing_gap(draft, b, outer, limit, &s.face[3]);
            double largest = isnan(options->clearance_max) ? PLANE_SHARE * s.width : limit;
            if (!(gap_a + gap_b <= 2 * largest)) continue;
            s.face[2] = b->face;
            s.play = 0.5 * (gap_a + gap_b);
            s.middle = vec3_scale(0.5, vec3_add(a->point, b->point));
            found[count++] = s;
            break;
        }
    }
    return count;
}

static bool joined(const Draft* draft, int a, int b) {
    for (int i = 0; i < draft->joints; ++i) {
        const DraftJoint* draft_joint = &draft->joint[i];
        if ((draft_joint->outer == a && draft_joint->inner == b) ||
            (draft_joint->outer == b && draft_joint->inner == a))
            return true;
    }
    return false;
}

static void find_guide(Draft* draft, const DraftOptions* options, int outer, int inner) {
    Sandwich s[3];
    int count = sandwiches(draft, options, outer, inner, s, 3);
    if (count == 0) return;
    const LashBox* box = &draft->body[inner].box;
    DraftJoint joint = {.outer = outer,
                        .inner = inner,
                        .type = count >= 2 ? DRAFT_PRISMATIC : DRAFT_PLANAR,
                        .point = vec3_scale(0.5, vec3_add(box->low, box->high)),
                        .bore = -1,
                        .pin = -1,
                        .axial = NAN,
                        .axes = 1};
    for (int k = 0; k < count && k < 2; ++k) { // the middle between the planes
        double off = vec3_dot(vec3_sub(s[k].middle, joint.point), s[k].normal);
        joint.point = vec3_add_scaled(joint.point, off, s[k].normal);
        for (int m = 0; m < 4; ++m) joint.plane_face[joint.plane_faces++] = s[k].face[m];
    }
    joint.axis = s[0].normal;
    joint.play = s[0].play;
    if (count >= 2) {
        joint.x_axis = s[0].normal;
        joint.axis = vec3_normalize(vec3_cross(s[0].normal, s[1].normal));
        joint.width = s[0].width;
        joint.height = s[1].width;
        joint.play = fmin(s[0].play, s[1].play);
        joint.play_other = fmax(s[0].play, s[1].play);
    }
    Vec3 d = vec3_sub(box->high, box->low), n = joint.axis;
    joint.length = fabs(d.x * n.x) + fabs(d.y * n.y) + fabs(d.z * n.z);
    joint.no_play = joint.play <= ROUNDING;
    draft_add_joint(draft, &joint);
}

void draft_find_guides(Draft* draft, const DraftOptions* options) {
    double margin = isnan(options->clearance_max) ? 0 : options->clearance_max;
    for (int a = 0; a < draft->bodies; ++a) {
        for (int b = 0; b < draft->bodies; ++b) {
            if (a == b || joined(draft, a, b)) continue;
            const LashBox *p = &draft->body[a].box, *q = &draft->body[b].box;
            double size = vec3_norm(vec3_sub(q->high, q->low));
            if (boxes_near(p, q, fmax(margin, PLANE_SHARE * size)))
                find_guide(draft, options, a, b);
        }
    }
}
