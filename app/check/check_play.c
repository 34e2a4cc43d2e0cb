// The play that the CAD faces around a joint leave.
//
// Round joints: of the outer part the hollow cylinder (sphere), of the inner part the convex one,
// about the joint's own axis (center) in that part and beside its point; of several the one whose
// radius is nearest to the model's. Guides with corners: across each axis of the section the plane
// of the guide that faces the slider and the slider's plane that faces the guide, on both sides of
// the slider; the play per side is the mean of both, and of the two axes the one that is farther
// from the model's counts.
#include "app/check/check_play.h"

#include <math.h>

#include "core/math3.h"

static const double COAXIAL = 1e-3;  // of the radius: farther from the axis is another bore
static const double NEAR = 0.25;     // of the section: a plane farther off bounds something else
static const double PARALLEL = 1e-6; // 1 - cosine

typedef struct Side {
    const LashModelPart* part;
    Pose part_joint; // the joint frame in the part's coordinates
    double wanted;   // radius [m]
    double sense;    // -1: hollow
} Side;

static Side side_of(const LashModel* model, int part, Pose world_joint) {
    Side side = {.part = &model->part[part]};
    side.part_joint = pose_mul(pose_inverse(side.part->world_part), world_joint);
    return side;
}

static bool about_axis(const LashFace* face, const Side* side, bool sphere, double half) {
    if (face->type != (sphere ? LASH_SPHERE : LASH_CYLINDER) || face->side != side->sense)
        return false;
    Vec3 z = quat_rotate(side->part_joint.rot, vec3(0, 0, 1));
    Vec3 d = vec3_sub(face->origin, side->part_joint.r);
    if (sphere) return vec3_norm(d) <= COAXIAL * face->radius;
    double cosine = vec3_dot(z, face->z), along = vec3_dot(d, z);
    if (fabs(cosine) < 1 - PARALLEL) return false;
    if (vec3_norm(vec3_add_scaled(d, -along, z)) > COAXIAL * face->radius) return false;
    double a = along + cosine * face->v0, b = along + cosine * face->v1;
    return fmin(a, b) < half && fmax(a, b) > -half;
}

// The face of that radius, or the nearest to it; NULL: none.
static const LashFace* round_face(const Side* side, bool sphere, double half) {
    const LashFace* best = NULL;
    for (int i = 0; i < side->part->cad->faces; ++i) {
        const LashFace* face = &side->part->cad->face[i];
        if (!about_axis(face, side, sphere, half)) continue;
        if (best == NULL || fabs(face->radius - side->wanted) < fabs(best->radius - side->wanted))
            best = face;
    }
    return best;
}

// Distance of the plane from the joint's axis along e (joint frame) where the face looks along
// `look` times e: of all such planes the one nearest to `wanted`; NAN: none.
static double plane_at(const Side* side, Vec3 e, double look, double wanted, int* index) {
    Vec3 n = quat_rotate(side->part_joint.rot, e);
    double best = NAN;
    for (int i = 0; i < side->part->cad->faces; ++i) {
        const LashFace* face = &side->part->cad->face[i];
        if (face->type != LASH_PLANE) continue;
        if (look * face->side * vec3_dot(face->z, n) < 1 - PARALLEL) continue;
        double at = vec3_dot(vec3_sub(face->origin, side->part_joint.r), n);
        double off = fabs(at - wanted);
        if (off > NEAR * wanted || (!isnan(best) && off >= fabs(best - wanted))) continue;
        best = at;
        *index = face->index;
    }
    return best;
}

static void measure_guide(const LashModelJoint* joint, const Side* outer, const Side* inner,
                          CheckPlay* result) {
    const Vec3 axis[2] = {{1, 0, 0}, {0, 1, 0}};
    const double half[2] = {0.5 * joint->play.width, 0.5 * joint->play.height};
    for (int k = 0; k < 2; ++k) {
        double sum = 0;
        int sides = 0, bore = -1, pin = -1;
        for (int s = -1; s <= 1; s += 2) {
            Vec3 e = vec3_scale(s, axis[k]);
            double guide = plane_at(outer, e, -1, half[k] + joint->play.play, &bore);
            double slider = plane_at(inner, e, 1, half[k], &pin);
            if (isnan(guide) || isnan(slider)) continue;
            sum += guide - slider;
            ++sides;
        }
        if (sides == 0) continue;
        double play = sum / sides;
        bool farther = fabs(play - joint->play.play) > fabs(result->play - joint->play.play);
        if (result->known && !farther) continue;
        result->known = true;
        result->play = play;
        result->bore = bore;
        result->pin = pin;
    }
}

CheckPlay check_play(const LashModel* model, int index) {
    const LashModelJoint* joint = &model->joint[index];
    bool outer_b = joint->bore_in == 1;
    CheckPlay result = {.outer = outer_b ? joint->part_b : joint->part_a,
                        .inner = outer_b ? joint->part_a : joint->part_b,
                        .bore = -1,
                        .pin = -1,
                        .on_purpose = !isnan(joint->measured)};
    bool ball = joint->type == LASH_SPHERICAL;
    bool corners = joint->type == LASH_PRISMATIC && joint->play.width > 0;
    if (result.on_purpose) {
        result.known = true;
        result.play = joint->measured;
    } else if (joint->play.play > 0 && joint->type != LASH_PLANAR && result.outer >= 0 &&
               result.inner >= 0 && model->part[result.outer].cad != NULL &&
               model->part[result.inner].cad != NULL) {
        Side outer = side_of(model, result.outer, outer_b ? joint->world_b : joint->world_a);
        Side inner = side_of(model, result.inner, outer_b ? joint->world_a : joint->world_b);
        outer.sense = -1;
        outer.wanted = joint->play.radius + joint->play.play;
        inner.sense = 1;
        inner.wanted = joint->play.radius;
        double half = 0.5 * fmin(joint->play.bore_length, joint->play.pin_length);
        const LashFace* bore = corners ? NULL : round_face(&outer, ball, half);
        const LashFace* pin = corners ? NULL : round_face(&inner, ball, half);
        if (corners) measure_guide(joint, &outer, &inner, &result);
        if (bore != NULL && pin != NULL) {
            result.known = true;
            result.play = bore->radius - pin->radius;
            result.bore = bore->index;
            result.pin = pin->index;
        }
    }
    double rounding = fmax(0.01 * joint->play.play, 1e-9);
    result.agrees = !result.known || fabs(result.play - joint->play.play) <= rounding;
    return result;
}
