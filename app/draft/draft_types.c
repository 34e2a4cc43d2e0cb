// What kind of joint a pair is: by its stops and parallel axes, and, where these leave it open, by
// the freedom of the whole assembly.
//
// One axis without stops is a revolute joint, unless that locks what else would move: with all such
// joints revolute the assembly has certain motions. A joint is cylindrical when sliding along its
// axis lets other joints turn that could not (the piston of a slider-crank).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/draft/draft.h"
#include "core/arena.h"
#include "core/math3.h"
#include "joints/mechanism.h"
#include "solvers/mobility.h"

const char* const draft_type_name[DRAFT_TYPES] = {"revolute",  "cylindrical", "prismatic",
                                                  "spherical", "planar",      "fixed"};
static const LashJointType joint_type[DRAFT_TYPES] = {
    LASH_REVOLUTE, LASH_CYLINDRICAL, LASH_PRISMATIC, LASH_SPHERICAL, LASH_PLANAR, LASH_FIXED};

// ---- geometry -----------------------------------------------------------------------------------

// Does the face's box reach the axis, or nearly?
static bool near_axis(const DraftJoint* joint, const DraftPlane* plane, double radius) {
    Vec3 low = plane->box.low, high = plane->box.high;
    double t = vec3_dot(vec3_sub(plane->point, joint->point), joint->axis), r = 1.5 * radius;
    Vec3 p = vec3_add_scaled(joint->point, t, joint->axis);
    return p.x >= low.x - r && p.x <= high.x + r && p.y >= low.y - r && p.y <= high.y + r &&
           p.z >= low.z - r && p.z <= high.z + r;
}

// Gap along the axis between planes that look at each other near the axis: `lower` body below.
static double stop_gap(const Draft* draft, const DraftJoint* joint, int lower, int upper) {
    double radius = draft->round[joint->pin].radius, least = INFINITY, reach = 4 * radius;
    const DraftBody *below = &draft->body[lower], *above = &draft->body[upper];
    for (int i = below->first_plane; i < below->first_plane + below->planes; ++i) {
        const DraftPlane* a = &draft->plane[i];
        if (vec3_dot(a->normal, joint->axis) < 1 - 1e-9) continue;
        for (int k = above->first_plane; k < above->first_plane + above->planes; ++k) {
            const DraftPlane* b = &draft->plane[k];
            if (vec3_dot(b->normal, joint->axis) > -1 + 1e-9) continue;
            double gap = vec3_dot(vec3_sub(b->point, a->point), joint->axis);
            if (gap < -1e-7 || gap > reach || gap >= least) continue;
            if (near_axis(joint, a, radius) && near_axis(joint, b, radius) &&
                draft_planes_overlap(draft, a, b))
                least = gap;
        }
    }
    return least;
}

static void find_stops(Draft* draft, DraftJoint* joint) {
    double down =
        stop_gap(draft, joint, joint->outer, joint->inner); // the inner one cannot go down
    double up = stop_gap(draft, joint, joint->inner, joint->outer);
    joint->stopped[0] = down < joint->length;
    joint->stopped[1] = up < joint->length;
    if (joint->stopped[0] && joint->stopped[1]) joint->axial = 0.5 * (down + up);
}

// Parallel axes between the same bodies: dowels, or guide rods.
static void merge_parallel(Draft* draft) {
    int count = 0;
    for (int i = 0; i < draft->joints; ++i) {
        DraftJoint j = draft->joint[i];
        bool merged = false;
        for (int k = 0; k < count && !merged; ++k) {
            DraftJoint* other = &draft->joint[k];
            bool same = (other->outer == j.outer && other->inner == j.inner) ||
                        (other->outer == j.inner && other->inner == j.outer);
            if (!same || j.bore < 0 || other->bore < 0 || j.type == DRAFT_SPHERICAL ||
                other->type == DRAFT_SPHERICAL || vec3_norm(vec3_cross(j.axis, other->axis)) > 1e-6)
                continue;
            ++other->axes;
            other->no_play = other->no_play && j.no_play;
            other->play = fmin(other->play, j.play);
            other->type = other->no_play ? DRAFT_FIXED : DRAFT_PRISMATIC;
            merged = true;
        }
        if (!merged) draft->joint[count++] = j;
    }
    draft->joints = count;
}

// ---- freedom ------------------------------------------------------------------------------------

static Pose joint_pose(const DraftJoint* joint) {
    Vec3 x = vec3_norm(joint->x_axis) > 0 ? joint->x_axis : vec3(1, 0, 0);
    if (vec3_norm(vec3_cross(x, joint->axis)) < 0.1) x = vec3(0, 1, 0);
    Vec3 z = vec3_norm(joint->axis) > 0 ? vec3_normalize(joint->axis) : vec3(0, 0, 1);
    Vec3 y = vec3_normalize(vec3_cross(z, x));
    x = vec3_cross(y, z);
    Mat3 m = {{x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z}};
    return pose(joint->point, quat_from_matrix(m));
}

typedef struct Freedom {
    LashMechanism* mech;
    LashSim* sim;
    LashFreedom* freedom;
    int* number; // (bodies) in the mechanism, -1: ground
} Freedom;

// The drafted mechanism with ideal joints, bodies of unit mass at the origin's axes.
static Freedom freedom_of(const Draft* draft) {
    Freedom f = {.mech = lash_mechanism_create(),
                 .number = lash_alloc(((size_t)draft->bodies + 1) * sizeof(int))};
    LashBodyId* id = lash_alloc(((size_t)draft->bodies + 1) * sizeof *id);
    int moving = 0;
    for (int b = 0; b < draft->bodies; ++b) {
        f.number[b] = -1;
        id[b] = lash_mechanism_ground(f.mech);
        if (draft->body[b].ground) continue;
        const LashBox* box = &draft->shape->part[draft->part[draft->body[b].largest].row].box;
        double size = 0.3 * vec3_norm(vec3_sub(box->high, box->low));
        char name[32];
        snprintf(name, sizeof name, "b%d", b);
        LashBodyDef def = lash_body_def();
        def.name = name;
        def.mass = 1;
        def.inertia = mat3_scale(fmax(size * size, 1e-12), mat3_identity());
        def.world_body = pose(vec3_scale(0.5, vec3_add(box->low, box->high)), quat_identity());
        id[b] = lash_mechanism_add_body(f.mech, &def);
        f.number[b] = moving++;
    }
    for (int i = 0; i < draft->joints; ++i) {
        const DraftJoint* draft_joint = &draft->joint[i];
        if (f.number[draft_joint->outer] < 0 && f.number[draft_joint->inner] < 0) continue;
        char name[32];
        snprintf(name, sizeof name, "j%d", i);
        LashJointDef def = lash_joint_def();
        def.type = joint_type[draft_joint->type];
        def.name = name;
        def.body_a = id[draft_joint->outer];
        def.body_b = id[draft_joint->inner];
        Pose world = joint_pose(draft_joint);
        const LashBox* boxes[2];
        int bodies[2] = {draft_joint->outer, draft_joint->inner};
        Pose* frames[2] = {&def.a_joint, &def.b_joint};
        for (int k = 0; k < 2; ++k) {
            boxes[k] = &draft->shape->part[draft->part[draft->body[bodies[k]].largest].row].box;
            *frames[k] = world;
            if (f.number[bodies[k]] >= 0)
                frames[k]->r =
                    vec3_sub(world.r, vec3_scale(0.5, vec3_add(boxes[k]->low, boxes[k]->high)));
        }
        lash_mechanism_add_joint(f.mech, &def);
    }
    lash_free(id);
    if (moving == 0) return f;
    LashSettings settings = lash_settings();
    f.sim = lash_sim_create(lash_mechanism_system(f.mech), &settings);
    f.freedom = lash_sim_freedom(f.sim);
    return f;
}

static void freedom_free(Freedom* f) {
    lash_freedom_destroy(f->freedom);
    lash_sim_destroy(f->sim);
    lash_mechanism_destroy(f->mech);
    lash_free(f->number);
}

static Vec3 turning(const Freedom* f, int body, int motion, int nv) {
    if (f->number[body] < 0) return vec3_zero();
    const double* v = f->freedom->motion + (size_t)nv * (size_t)motion + 6 * f->number[body];
    return vec3(v[3], v[4], v[5]);
}

// Does the joint turn in some motion?
static bool turns(const Draft* draft, const Freedom* f, int joint) {
    const DraftJoint* draft_joint = &draft->joint[joint];
    int nv = 6 * lash_mechanism_body_count(f->mech);
    for (int m = 0; m < f->freedom->motions; ++m) {
        Vec3 w =
            vec3_sub(turning(f, draft_joint->inner, m, nv), turning(f, draft_joint->outer, m, nv));
        double size = 0;
        const double* v = f->freedom->motion + (size_t)nv * (size_t)m;
        for (int i = 3; i < nv; ++i) size = fmax(size, fabs(v[i]));
        if (vec3_norm(w) > 1e-7 * fmax(size, 1e-300) && vec3_norm(w) > 0) return true;
    }
    return false;
}

static int count_turning(const Draft* draft, int except) {
    Freedom f = freedom_of(draft);
    int count = 0;
    for (int i = 0; i < draft->joints && f.freedom != NULL; ++i)
        count += i != except && draft->joint[i].type != DRAFT_FIXED && turns(draft, &f, i);
    freedom_free(&f);
    return count;
}

static bool is_open(const DraftJoint* joint) { // neither stops nor parallel axes decide
    return joint->bore >= 0 && joint->axes == 1 && joint->type == DRAFT_REVOLUTE &&
           !(joint->stopped[0] && joint->stopped[1]);
}

// Nothing but this joint holds the part, nothing stops it both ways, and it sits long in its bore:
// a plunger or a shaft in a tube, not a lever.
static const double LONG_BORE = 2; // engaged length by diameter; levers have 0.5 .. 1.5

static bool is_plunger(const Draft* draft, const DraftJoint* draft_joint) {
    if (!is_open(draft_joint) ||
        draft_joint->length < 2 * LONG_BORE * draft->round[draft_joint->pin].radius)
        return false;
    int count = 0; // of joints of the pin's body: a bore around a pin of another part is a lever
    for (int i = 0; i < draft->joints; ++i)
        count += draft->joint[i].outer == draft_joint->inner ||
                 draft->joint[i].inner == draft_joint->inner;
    return count == 1 && !draft->body[draft_joint->inner].ground;
}

static void decide_open(Draft* draft) {
    for (int i = 0; i < draft->joints; ++i) {
        DraftJoint* draft_joint = &draft->joint[i];
        draft_joint->plunger = is_plunger(draft, draft_joint);
        if (draft_joint->plunger) draft_joint->type = DRAFT_CYLINDRICAL;
    }
    int turning_now = count_turning(draft, -1), joints = 0;
    for (int i = 0; i < draft->joints; ++i)
        joints += draft->joint[i].type != DRAFT_FIXED && draft->joint[i].type != DRAFT_PRISMATIC;
    if (turning_now == joints) return; // everything turns
    for (int i = 0; i < draft->joints; ++i) {
        DraftJoint* draft_joint = &draft->joint[i];
        if (!is_open(draft_joint)) continue;
        int before = count_turning(draft, i);
        draft_joint->type = DRAFT_CYLINDRICAL;
        if (count_turning(draft, i) <= before) draft_joint->type = DRAFT_REVOLUTE;
    }
}

// ---- words --------------------------------------------------------------------------------------

static void explain_round(const Draft* draft, DraftJoint* joint) {
    const DraftRound *bore = &draft->round[joint->bore], *pin = &draft->round[joint->pin];
    char play[60], why[140] = "";
    snprintf(play, sizeof play, "play %.4g mm per side", 1e3 * joint->play);
    if (joint->no_play) snprintf(play, sizeof play, "drawn without play: which fit?");
    joint->confidence = DRAFT_SURE;
    if (joint->type == DRAFT_FIXED || joint->type == DRAFT_PRISMATIC) {
        snprintf(why, sizeof why, "%d parallel axes%s", joint->axes,
                 joint->type == DRAFT_FIXED ? " without play" : "");
    } else if (joint->type == DRAFT_CYLINDRICAL) {
        snprintf(why, sizeof why, "slides: %s",
                 joint->plunger ? "held by nothing else, and long in its bore"
                                : "held along the axis other joints could not turn");
        joint->confidence = DRAFT_LIKELY;
    } else if (joint->type == DRAFT_REVOLUTE && joint->stopped[0] && joint->stopped[1]) {
        snprintf(why, sizeof why, "stopped both ways, %.4g mm per side", 1e3 * joint->axial);
    } else if (joint->type == DRAFT_REVOLUTE) {
        snprintf(
            why, sizeof why, "%s, taken as held along its axis",
            joint->stopped[0] || joint->stopped[1] ? "stopped one way only" : "no stops found");
        joint->confidence = DRAFT_LIKELY;
    }
    if (joint->no_play && joint->confidence == DRAFT_SURE) joint->confidence = DRAFT_LIKELY;
    snprintf(joint->reason, sizeof joint->reason, "%s of radius %.6g mm in %s of %.6g mm; %s%s%s",
             pin->sphere ? "ball" : "pin", 1e3 * pin->radius, pin->sphere ? "socket" : "bore",
             1e3 * bore->radius, play, why[0] != '\0' ? "; " : "", why);
}

static void explain_planes(DraftJoint* joint) {
    char play[100];
    snprintf(play, sizeof play, "play %.4g mm per side", 1e3 * joint->play);
    if (joint->play_other > joint->play + 1e-9)
        snprintf(play, sizeof play, "play %.4g mm per side, %.4g mm across", 1e3 * joint->play,
                 1e3 * joint->play_other);
    if (joint->no_play)
        snprintf(play, sizeof play, "drawn without play%s",
                 joint->type == DRAFT_PRISMATIC ? ": which fit?" : "");
    joint->confidence = joint->type == DRAFT_PRISMATIC ? DRAFT_LIKELY : DRAFT_GUESS;
    if (joint->type == DRAFT_PRISMATIC)
        snprintf(joint->reason, sizeof joint->reason,
                 "%.6g by %.6g mm between two pairs of planes; %s", 1e3 * joint->width,
                 1e3 * joint->height, play);
    else
        snprintf(joint->reason, sizeof joint->reason, "a plate between two planes; %s", play);
}

static void name_joints(Draft* draft) {
    for (int i = 0; i < draft->joints; ++i) {
        DraftJoint* j = &draft->joint[i];
        int same = 1;
        for (int k = 0; k < i; ++k) {
            const DraftJoint* o = &draft->joint[k];
            same += (o->outer == j->outer && o->inner == j->inner) ||
                    (o->outer == j->inner && o->inner == j->outer);
        }
        bool turned = draft->body[j->inner].ground;
        snprintf(j->name, sizeof j->name, "%s-%s", draft->body[turned ? j->inner : j->outer].name,
                 draft->body[turned ? j->outer : j->inner].name);
        size_t used = strlen(j->name);
        if (same > 1) snprintf(j->name + used, sizeof j->name - used, "-%d", same);
    }
}

// Axes point along + of their largest component: a sense that people can foretell.
static void point_axes(Draft* draft) {
    for (int i = 0; i < draft->joints; ++i) {
        Vec3* z = &draft->joint[i].axis;
        double most = z->x;
        if (fabs(z->y) > fabs(most) + 1e-9) most = z->y;
        if (fabs(z->z) > fabs(most) + 1e-9) most = z->z;
        if (most < 0) *z = vec3_scale(-1, *z);
    }
}

void draft_decide_types(Draft* draft) {
    merge_parallel(draft);
    point_axes(draft);
    for (int i = 0; i < draft->joints; ++i) {
        DraftJoint* draft_joint = &draft->joint[i];
        if (draft_joint->bore >= 0 && draft_joint->type == DRAFT_REVOLUTE)
            find_stops(draft, draft_joint);
    }
    decide_open(draft);
    for (int i = 0; i < draft->joints; ++i) {
        if (draft->joint[i].bore >= 0)
            explain_round(draft, &draft->joint[i]);
        else
            explain_planes(&draft->joint[i]);
    }
    name_joints(draft);
}

void draft_count_freedom(Draft* draft) {
    Freedom f = freedom_of(draft);
    draft->freedom = f.freedom != NULL ? f.freedom->dof : 0;
    draft->redundant = f.freedom != NULL ? f.freedom->circuits : 0;
    freedom_free(&f);
    bool* held = lash_alloc((size_t)draft->bodies + 1);
    for (int i = 0; i < draft->joints; ++i)
        held[draft->joint[i].outer] = held[draft->joint[i].inner] = true;
    for (int b = 0; b < draft->bodies; ++b) {
        if (!held[b] && !draft->body[b].ground)
            draft_add_note(draft,
                           "'%s' has no joint: it floats free; is a joint missing, or does it "
                           "belong to another part?",
                           draft->body[b].name);
    }
    lash_free(held);
}
