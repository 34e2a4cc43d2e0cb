// Where bodies could touch beside their joints, and where they are drawn in each other.
//
// Faces of two bodies that are no joint and nearer than twice the largest play are candidates of
// contact: the same kernels look at them as in a run. Free-form faces are left out: a search for
// their nearest points takes too long here.
//
// Some points of the viewing mesh of each body are held against the exact solids of the other.
// Bodies that are in each other by more than the mesh is coarse are told: most likely they do not
// stand in their places.
#include <math.h>
#include <string.h>

#include "app/draft/draft.h"
#include "core/arena.h"
#include "core/math3.h"
#include "geometry/pairs.h"
#include "geometry/solid.h"

static const double LEAST_REACH = 0.25e-3; // [m] looked at in any case
static const double ROUNDING = 1e-6;       // [m] less overlap is none
static const double COARSE = 1.5e-3;       // of the part's diagonal: the mesh is off by half of it
enum { POINTS = 16, SAMPLES = 60 };        // contact points of two faces; points of a body

typedef struct Near { // faces of a body that are near another body
    int* face;
    int faces;
} Near;

static bool boxes_near(const LashBox* p, const LashBox* q, double margin) {
    return p->low.x - margin <= q->high.x && q->low.x - margin <= p->high.x &&
           p->low.y - margin <= q->high.y && q->low.y - margin <= p->high.y &&
           p->low.z - margin <= q->high.z && q->low.z - margin <= p->high.z;
}

static Near near_faces(const Draft* draft, int body, const LashBox* other, double reach) {
    const LashShape* shape = draft->shape;
    Near near = {.face = lash_alloc(((size_t)shape->faces + 1) * sizeof(int))};
    for (int i = 0; i < draft->parts; ++i) {
        if (draft->part[i].body != body) continue;
        const LashShapePart* part = &shape->part[draft->part[i].row];
        for (int k = part->first_face; k < part->first_face + part->faces; ++k)
            if (shape->face[k].type != LASH_FREEFORM &&
                boxes_near(&shape->face[k].box, other, reach))
                near.face[near.faces++] = k;
    }
    return near;
}

static LashPair* pair_of(const Draft* draft, const int* a, int count_a, const int* b, int count_b) {
    LashPairDef def = lash_pair_def();
    def.a.shape = draft->shape;
    def.b.shape = draft->shape;
    def.a.faces = a;
    def.a.face_count = count_a;
    def.b.faces = b;
    def.b.face_count = count_b;
    return lash_pair_create(&def);
}

// The least gap, INFINITY: farther than reach.
static double gap_of(const LashPair* pair, double reach) {
    LashContactPoint point[POINTS];
    LashPairWork* work = lash_pair_work_create(pair);
    int count = lash_pair_query(pair, work, pose_identity(), pose_identity(), reach, point, POINTS);
    double least = INFINITY;
    for (int i = 0; i < count && i < POINTS; ++i) least = fmin(least, point[i].gap);
    lash_pair_work_destroy(work);
    return least;
}

static bool is_along(const LashFace* face, Vec3 axis) {
    return fabs(vec3_dot(face->z, axis)) > 1 - 1e-9;
}

// Does the motion of the joint leave every gap at this face as it is, or is the face what the joint
// is made of? Of a pin and its bore: cylinders about the axis, and, where it cannot slide, planes
// across it. Of a guide: planes along it.
static bool is_part_of(const DraftJoint* joint, const LashFace* face) {
    bool plane = face->type == LASH_PLANE;
    switch (joint->type) {
        case DRAFT_FIXED:
            return true;
        case DRAFT_SPHERICAL:
            return face->type == LASH_SPHERE && vec3_distance(face->origin, joint->point) < 1e-4;
        case DRAFT_PRISMATIC:
            return plane && joint->bore < 0
                       ? fabs(vec3_dot(face->z, joint->axis)) < 1e-6
                       : face->type == LASH_CYLINDER && is_along(face, joint->axis);
        case DRAFT_PLANAR:
            return plane && is_along(face, joint->axis);
        default:
            break;
    }
    if (plane) return joint->type == DRAFT_REVOLUTE && is_along(face, joint->axis);
    Vec3 d = vec3_sub(face->origin, joint->point);
    double off = vec3_norm(vec3_add_scaled(d, -vec3_dot(d, joint->axis), joint->axis));
    return (face->type == LASH_CYLINDER || face->type == LASH_CONE) &&
           is_along(face, joint->axis) && off < 1e-4 + joint->play;
}

static bool is_jointed(const Draft* draft, int body_a, int body_b, int a, int b) {
    for (int i = 0; i < draft->joints; ++i) {
        const DraftJoint* draft_joint = &draft->joint[i];
        bool these = (draft_joint->outer == body_a && draft_joint->inner == body_b) ||
                     (draft_joint->outer == body_b && draft_joint->inner == body_a);
        if (these && (is_part_of(draft_joint, &draft->shape->face[a]) ||
                      is_part_of(draft_joint, &draft->shape->face[b])))
            return true;
    }
    return false;
}

static void add_face(DraftContact* contact, int side, int face) {
    int* count = &contact->faces[side];
    for (int i = 0; i < *count; ++i)
        if (contact->face[side][i] == face) return;
    if (*count < DRAFT_CONTACT_FACES) contact->face[side][(*count)++] = face;
}

static void add_contact(Draft* draft, const DraftContact* contact) {
    if ((draft->contacts & (draft->contacts - 1)) == 0) { // room doubles
        DraftContact* more = lash_alloc((2 * (size_t)draft->contacts + 1) * sizeof *more);
        if (draft->contacts > 0)
            memcpy(more, draft->contact, (size_t)draft->contacts * sizeof *more);
        lash_free(draft->contact);
        draft->contact = more;
    }
    draft->contact[draft->contacts++] = *contact;
}

static void find_candidates(Draft* draft, int a, int b, const Near* near_a, const Near* near_b,
                            double reach) {
    const LashShape* shape = draft->shape;
    DraftContact contact = {.body = {a, b}, .gap = INFINITY};
    for (int i = 0; i < near_a->faces; ++i) {
        for (int k = 0; k < near_b->faces; ++k) {
            int p = near_a->face[i], q = near_b->face[k];
            if (!boxes_near(&shape->face[p].box, &shape->face[q].box, reach)) continue;
            if (is_jointed(draft, a, b, p, q)) continue;
            LashPair* pair = pair_of(draft, &p, 1, &q, 1);
            double gap = gap_of(pair, reach);
            lash_pair_destroy(pair);
            if (gap > reach || gap < -ROUNDING) continue;
            contact.gap = fmin(contact.gap, fmax(gap, 0));
            add_face(&contact, 0, p);
            add_face(&contact, 1, q);
        }
    }
    if (contact.faces[0] > 0) add_contact(draft, &contact);
}

typedef struct Depth {
    double depth; // [m]
    Vec3 point;
} Depth;

static bool in_box(const LashBox* box, Vec3 p) {
    return p.x >= box->low.x && p.x <= box->high.x && p.y >= box->low.y && p.y <= box->high.y &&
           p.z >= box->low.z && p.z <= box->high.z;
}

static Vec3 middle_of(const LashShape* shape, int triangle) {
    Vec3 sum = vec3_zero();
    for (int k = 0; k < 3; ++k) {
        const float* q = shape->mesh_point + 3 * (size_t)shape->triangle[3 * (size_t)triangle + k];
        sum = vec3_add(sum, vec3(q[0], q[1], q[2]));
    }
    return vec3_scale(1.0 / 3, sum);
}

// How deep the point lies in the material of a part of the body.
static void look_at_point(const Draft* draft, int body, Vec3 p, Depth* deepest) {
    for (int i = 0; i < draft->parts; ++i) {
        if (draft->part[i].body != body) continue;
        int row = draft->part[i].row;
        const LashShapePart* part = &draft->shape->part[row];
        LashSolidFoot foot;
        const LashSolid* solid = NULL;
        if (in_box(&part->box, p)) solid = lash_shape_solid(draft->shape, row);
        if (solid == NULL || !lash_solid_nearest(solid, p, INFINITY, &foot) || !foot.inside)
            continue;
        double coarse = COARSE * vec3_distance(part->box.low, part->box.high);
        if (foot.distance > fmax(coarse, deepest->depth))
            *deepest = (Depth){.depth = foot.distance, .point = p};
    }
}

// Of the triangles of `own` in the box of `other`, SAMPLES spread over all.
static void look_into(const Draft* draft, int own, int other, Depth* deepest) {
    const LashShape* shape = draft->shape;
    for (int pass = 0, inside = 0; pass < 2; ++pass) {
        int stride = inside / SAMPLES + 1, count = 0;
        for (int i = 0; i < draft->parts; ++i) {
            if (draft->part[i].body != own) continue;
            const LashShapePart* part = &shape->part[draft->part[i].row];
            for (int k = part->first_triangle; k < part->first_triangle + part->triangles; ++k) {
                Vec3 p = middle_of(shape, k);
                if (!in_box(&draft->body[other].box, p)) continue;
                if (pass == 0)
                    ++inside;
                else if (count++ % stride == 0)
                    look_at_point(draft, other, p, deepest);
            }
        }
    }
}

static void find_overlap(Draft* draft, int a, int b) {
    Depth deepest = {0};
    look_into(draft, a, b, &deepest);
    look_into(draft, b, a, &deepest);
    if (deepest.depth == 0) return;
    ++draft->overlaps;
    if (draft->overlaps > 3) return;
    draft_add_note(draft,
                   "'%s' and '%s' are %.3g mm in each other at (%.4g, %.4g, %.4g) mm: do they "
                   "stand in their places?",
                   draft->body[a].name, draft->body[b].name, 1e3 * deepest.depth,
                   1e3 * deepest.point.x, 1e3 * deepest.point.y, 1e3 * deepest.point.z);
}

static void look_at(Draft* draft, int a, int b, double reach) {
    Near near_a = near_faces(draft, a, &draft->body[b].box, reach);
    Near near_b = near_faces(draft, b, &draft->body[a].box, reach);
    find_overlap(draft, a, b);
    find_candidates(draft, a, b, &near_a, &near_b, reach);
    lash_free(near_a.face);
    lash_free(near_b.face);
}

void draft_find_contacts(Draft* draft) {
    double reach = LEAST_REACH;
    for (int i = 0; i < draft->joints; ++i) reach = fmax(reach, 2 * draft->joint[i].play);
    for (int a = 0; a < draft->bodies; ++a) {
        for (int b = a + 1; b < draft->bodies; ++b) {
            if (draft->body[a].ground && draft->body[b].ground) continue;
            if (boxes_near(&draft->body[a].box, &draft->body[b].box, reach))
                look_at(draft, a, b, reach);
        }
    }
    if (draft->overlaps > 0)
        draft_add_note(draft,
                       "%d pair%s of parts overlap: parts that do not stand in their places give "
                       "joints by chance",
                       draft->overlaps, draft->overlaps == 1 ? "" : "s");
}
