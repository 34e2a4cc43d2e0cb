// Surfaces that guide each other: pins in bores, balls in sockets.
//
// A pin belongs to a bore when they are coaxial to 5e-7 rad, their axes no farther apart than the
// play (0.02 mm where it is drawn without), they overlap along the axis by more than 5 % of the
// radius, the bore's faces cover more than half of its round, and the play is at most
// max(0.1 mm, 10 % of the radius). Between two parts the least play on an axis counts.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/draft/draft.h"
#include "core/arena.h"
#include "core/math3.h"

static const double COAXIAL = 5e-7;      // |sine|
static const double NOMINAL = 0.02e-3;   // [m] axes drawn without play may be so far apart
static const double ROUNDING = 1e-7;     // [m] less play is none
static const double LEAST_PLAY = 0.1e-3; // [m] at least so much is still taken for play
static const double PLAY_SHARE = 0.1;    // ... and so much of the radius
static const double OVERLAP = 0.05;      // of the radius, along the axis

// Share of the full round that the faces cover, by area; gaps along the axis (a fork) do not count.
static double coverage(const Draft* draft, const DraftRound* draft_round) {
    double round = 0, low = INFINITY, high = -INFINITY;
    if (draft_round->sphere)
        return draft_round->area / (4 * LASH_PI * draft_round->radius * draft_round->radius);
    for (int i = 0; i < draft_round->faces;
         ++i) { // intervals that do not touch those before add up
        const LashFace* face = &draft->shape->face[draft_round->face[i]];
        double along = vec3_dot(vec3_sub(face->origin, draft_round->point), draft_round->axis);
        double sense = vec3_dot(face->z, draft_round->axis) < 0 ? -1 : 1;
        double a = fmin(along + sense * face->v0, along + sense * face->v1);
        double b = fmax(along + sense * face->v0, along + sense * face->v1);
        if (a >= high || b <= low) {
            round += b - a;
        } else {
            round += fmax(0, low - a) + fmax(0, b - high);
        }
        low = fmin(low, a);
        high = fmax(high, b);
    }
    return round > 0 ? draft_round->area / (2 * LASH_PI * draft_round->radius * round) : 0;
}

static bool boxes_near(const Draft* draft, int a, int b, double margin) {
    const LashBox *p = &draft->shape->part[draft->part[a].row].box,
                  *q = &draft->shape->part[draft->part[b].row].box;
    return p->low.x - margin <= q->high.x && q->low.x - margin <= p->high.x &&
           p->low.y - margin <= q->high.y && q->low.y - margin <= p->high.y &&
           p->low.z - margin <= q->high.z && q->low.z - margin <= p->high.z;
}

static double overlap_along(const DraftRound* bore, const DraftRound* pin, double* from,
                            double* to) {
    double sense = vec3_dot(bore->axis, pin->axis) < 0 ? -1 : 1;
    double along = vec3_dot(vec3_sub(pin->point, bore->point), bore->axis);
    double a = fmin(along + sense * pin->low, along + sense * pin->high);
    double b = fmax(along + sense * pin->low, along + sense * pin->high);
    *from = fmax(a, bore->low);
    *to = fmin(b, bore->high);
    return *to - *from;
}

static bool pin_in_bore(const Draft* draft, const DraftOptions* options, const DraftRound* bore,
                        const DraftRound* pin, DraftJoint* joint) {
    if (!bore->hollow || pin->hollow || bore->sphere != pin->sphere || bore->part == pin->part)
        return false;
    double play = bore->radius - pin->radius;
    double most = isnan(options->clearance_max) ? fmax(LEAST_PLAY, PLAY_SHARE * pin->radius)
                                                : options->clearance_max;
    if (play < -ROUNDING || play > most) return false;
    if (!boxes_near(draft, bore->part, pin->part, most)) return false;
    Vec3 d = vec3_sub(pin->point, bore->point);
    double apart = bore->sphere
                       ? vec3_norm(d)
                       : vec3_norm(vec3_add_scaled(d, -vec3_dot(d, bore->axis), bore->axis));
    if (apart > fmax(play, NOMINAL)) return false;
    if (!bore->sphere && vec3_norm(vec3_cross(bore->axis, pin->axis)) > COAXIAL) return false;
    if (coverage(draft, bore) <= 0.5 * (1 + 1e-9)) return false;
    double from = 0, to = 0;
    if (!bore->sphere && overlap_along(bore, pin, &from, &to) <= OVERLAP * pin->radius)
        return false;
    *joint = (DraftJoint){.outer = bore->part,
                          .inner = pin->part,
                          .type = bore->sphere ? DRAFT_SPHERICAL : DRAFT_REVOLUTE,
                          .point = vec3_add_scaled(bore->point, 0.5 * (from + to), bore->axis),
                          .axis = bore->axis,
                          .play = fmax(play, 0),
                          .no_play = play <= ROUNDING,
                          .apart = apart,
                          .bore = (int)(bore - draft->round),
                          .pin = (int)(pin - draft->round),
                          .length = to - from,
                          .axial = NAN,
                          .axes = 1};
    return true;
}

static bool same_axis(const DraftJoint* a, const DraftJoint* b) {
    if (a->bore < 0 || b->bore < 0) return false;
    Vec3 d = vec3_sub(a->point, b->point);
    if (a->type == DRAFT_SPHERICAL || b->type == DRAFT_SPHERICAL)
        return a->type == b->type && vec3_norm(d) < NOMINAL + a->play + b->play;
    if (vec3_norm(vec3_cross(a->axis, b->axis)) > 2 * COAXIAL) return false;
    double off = vec3_norm(vec3_add_scaled(d, -vec3_dot(d, a->axis), a->axis));
    return off <= NOMINAL + a->play + b->play;
}

void draft_add_joint(Draft* draft, const DraftJoint* joint) {
    for (int i = 0; i < draft->joints; ++i) {
        DraftJoint* known = &draft->joint[i];
        bool same = (known->outer == joint->outer && known->inner == joint->inner) ||
                    (known->outer == joint->inner && known->inner == joint->outer);
        if (!same || !same_axis(known, joint)) continue;
        if (joint->play < known->play) *known = *joint;
        return;
    }
    if ((draft->joints & (draft->joints - 1)) == 0) { // room doubles
        DraftJoint* more = lash_alloc((2 * (size_t)draft->joints + 1) * sizeof *more);
        if (draft->joints > 0) memcpy(more, draft->joint, (size_t)draft->joints * sizeof *more);
        lash_free(draft->joint);
        draft->joint = more;
    }
    draft->joint[draft->joints++] = *joint;
}

void draft_find_pairs(Draft* draft, const DraftOptions* options) {
    for (int i = 0; i < draft->rounds; ++i) {
        if (!draft->round[i].hollow) continue;
        for (int k = 0; k < draft->rounds; ++k) {
            DraftJoint joint;
            if (pin_in_bore(draft, options, &draft->round[i], &draft->round[k], &joint))
                draft_add_joint(draft, &joint);
        }
    }
}
