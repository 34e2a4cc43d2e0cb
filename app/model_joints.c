// Joints: key table and frames.
//
// A joint frame is written in world coordinates of the start ("point", "axis", "x_axis"), or for
// either side in the coordinates of its part ("a_point", ...): then the two frames may differ, and
// the start may violate the joint. "start" is the joint coordinate the model calls the initial one:
// frame b is turned (revolute) or shifted (prismatic) by it against frame a.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/json_scan.h"
#include "app/model_internal.h"
#include "app/suggest.h"
#include "core/math3.h"

static const char* const joint_types[] = {"fixed", "revolute", "prismatic", "spherical", NULL};

#define DRIVER(member) .key = #member, .offset = offsetof(LashModelDriver, member)
static const KeySpec driver_keys[] = {
    {DRIVER(position), .type = KEY_FUNCTION, .variables = 1,
     .help = "joint coordinate as a function of t [angle or length]"},
    {DRIVER(speed), .type = KEY_FUNCTION, .variables = 1,
     .help = "speed of the joint coordinate as a function of t"},
};
const KeyTable model_driver_table = {
    .what = "a driver", .key = driver_keys, .keys = 2, .size = sizeof(LashModelDriver)};

#define JOINT(member) .key = #member, .offset = offsetof(LashModelJoint, member)
static const KeySpec joint_keys[] = {
    {JOINT(name), .type = KEY_TEXT, .required = true, .help = "unique among the joints"},
    {JOINT(type), .type = KEY_CHOICE, .choices = joint_types, .required = true,
     .help = "kind of joint"},
    {JOINT(a), .type = KEY_TEXT, .required = true, .help = "name of a part, or \"ground\""},
    {JOINT(b), .type = KEY_TEXT, .required = true,
     .help = "name of the other part; the coordinate is the motion of b against a"},
    {JOINT(point), .type = KEY_VECTOR, .unit = UNIT_LENGTH,
     .help = "where the joint is at the start, world coordinates"},
    {JOINT(axis), .type = KEY_VECTOR, .help = "its axis at the start, world axes"},
    {JOINT(x_axis), .type = KEY_VECTOR,
     .help = "x axis of the joint frame: where the angle is zero, axis of the reaction's x"},
    {JOINT(a_point), .type = KEY_VECTOR, .unit = UNIT_LENGTH,
     .help = "in the frame of part a, instead of point"},
    {JOINT(a_axis), .type = KEY_VECTOR, .help = "in the frame of part a, instead of axis"},
    {JOINT(a_x_axis), .type = KEY_VECTOR, .help = "in the frame of part a, instead of x_axis"},
    {JOINT(b_point), .type = KEY_VECTOR, .unit = UNIT_LENGTH,
     .help = "in the frame of part b, instead of point"},
    {JOINT(b_axis), .type = KEY_VECTOR, .help = "in the frame of part b, instead of axis"},
    {JOINT(b_x_axis), .type = KEY_VECTOR, .help = "in the frame of part b, instead of x_axis"},
    {JOINT(start), .type = KEY_NUMBER,
     .help = "joint coordinate at the start [angle or length], default 0"},
    {JOINT(clearance), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_NOT_NEGATIVE,
     .help = "radial play; 0 is an ideal joint"},
    {JOINT(driver), .type = KEY_OBJECT, .table = &model_driver_table, .help = "prescribed motion"},
};
static void joint_defaults(void* target);
const KeyTable model_joint_table = {.what = "a joint",
                                    .key = joint_keys,
                                    .keys = sizeof joint_keys / sizeof *joint_keys,
                                    .size = sizeof(LashModelJoint),
                                    .defaults = joint_defaults};

static void joint_defaults(void* target) {
    LashModelJoint* joint = target;
    joint->point.x = joint->axis.x = joint->x_axis.x = NAN;
    joint->a_point.x = joint->a_axis.x = joint->a_x_axis.x = NAN;
    joint->b_point.x = joint->b_axis.x = joint->b_x_axis.x = NAN;
}

// The part's own frame at the start; the ground's is the world.
static Pose part_frame(const LashModel* model, int part) {
    return part < 0 ? pose_identity() : model->part[part].world_part;
}

// Own value of a side, turned into world axes, or the common one.
static Vec3 direction(Pose frame, Vec3 own, Vec3 common) {
    return model_has(own.x) ? quat_rotate(frame.rot, own) : common;
}

typedef struct Side {
    const char* point_key;
    Vec3 own_point, own_axis, own_x_axis;
    Pose frame;
} Side;

static bool side_axes(ModelContext* context, const char* path, const LashModelJoint* joint,
                      const Side* side, Vec3* axis, Vec3* x_axis) {
    bool needs_axis = joint->type == LASH_REVOLUTE || joint->type == LASH_PRISMATIC;
    *axis = direction(side->frame, side->own_axis, joint->axis);
    *x_axis = direction(side->frame, side->own_x_axis, joint->x_axis);
    if (!model_has(axis->x)) {
        if (needs_axis) {
            return model_fail(context, path, "a %s joint needs an 'axis'",
                              joint_types[joint->type]);
        }
        *axis = vec3(0, 0, 1);
    }
    if (!(vec3_norm(*axis) > 0))
        return model_fail(context, path, "expected an axis that is not zero");
    *axis = vec3_normalize(*axis);
    if (!model_has(x_axis->x)) return true;
    Vec3 across = vec3_add_scaled(*x_axis, -vec3_dot(*x_axis, *axis), *axis);
    if (!(vec3_norm(across) > 1e-6 * vec3_norm(*x_axis))) {
        return model_fail(context, path, "the x axis may not be zero nor parallel to the axis");
    }
    *x_axis = vec3_normalize(across);
    return true;
}

static bool side_point(ModelContext* context, const char* path, const LashModelJoint* joint,
                       const Side* side, Vec3* point) {
    if (model_has(side->own_point.x)) {
        *point = pose_point(side->frame, side->own_point);
        return true;
    }
    if (!model_has(joint->point.x)) {
        return model_fail(context, path, "the key 'point' is missing (or '%s')", side->point_key);
    }
    *point = joint->point;
    return true;
}

static Quat frame_rotation(Vec3 axis, Vec3 x_axis) {
    return quat_from_matrix(mat3_columns(x_axis, vec3_cross(axis, x_axis), axis));
}

static bool resolve_frames(ModelContext* context, const char* path, LashModelJoint* joint) {
    const LashModel* model = context->model;
    Side a = {"a_point", joint->a_point, joint->a_axis, joint->a_x_axis,
              part_frame(model, joint->part_a)};
    Side b = {"b_point", joint->b_point, joint->b_axis, joint->b_x_axis,
              part_frame(model, joint->part_b)};
    Vec3 axis_a, axis_b, x_a, x_b, unused;
    if (!side_point(context, path, joint, &a, &joint->world_a.r) ||
        !side_point(context, path, joint, &b, &joint->world_b.r) ||
        !side_axes(context, path, joint, &a, &axis_a, &x_a) ||
        !side_axes(context, path, joint, &b, &axis_b, &x_b)) {
        return false;
    }
    if (!model_has(x_a.x)) vec3_basis(axis_a, &x_a, &unused);
    if (!model_has(x_b.x)) x_b = quat_rotate(quat_between(axis_a, axis_b), x_a);
    joint->world_a.rot = frame_rotation(axis_a, x_a);
    joint->world_b.rot = frame_rotation(axis_b, x_b);
    if (joint->type == LASH_REVOLUTE) {
        double angle = joint->start * model_unit_factor(&model->units, UNIT_ANGLE);
        joint->world_b.rot =
            quat_mul(joint->world_b.rot, quat_from_axis_angle(vec3(0, 0, 1), angle));
    } else if (joint->type == LASH_PRISMATIC) {
        double shift = joint->start * model_unit_factor(&model->units, UNIT_LENGTH);
        joint->world_b.r = vec3_add_scaled(joint->world_b.r, shift, axis_b);
    } else if (joint->start != 0) {
        return model_fail(context, path, "a %s joint has no coordinate to 'start' from",
                          joint_types[joint->type]);
    }
    return true;
}

static bool check_driver(ModelContext* context, const char* path, const LashModelJoint* joint) {
    const LashModelDriver* driver = &joint->driver;
    if (!driver->given) return true;
    if (joint->type != LASH_REVOLUTE && joint->type != LASH_PRISMATIC) {
        return model_fail(context, path,
                          "a %s joint cannot be driven; revolute and prismatic ones can",
                          joint_types[joint->type]);
    }
    if (driver->position.given == driver->speed.given) {
        return model_fail(context, path, "a driver has either 'position' or 'speed'");
    }
    return true;
}

static bool resolve_joint(ModelContext* context, int index) {
    LashModel* model = context->model;
    LashModelJoint* joint = &model->joint[index];
    char path[64], key[80];
    snprintf(path, sizeof path, "joints[%d]", index);
    for (int i = 0; i < index; ++i) {
        if (strcmp(model->joint[i].name, joint->name) == 0) {
            snprintf(key, sizeof key, "%s.name", path);
            return model_fail(context, key,
                              "the name '%.60s' is taken by joints[%d]; names are unique",
                              joint->name, i);
        }
    }
    snprintf(key, sizeof key, "%s.a", path);
    if (!model_find_part(context, key, joint->a, &joint->part_a)) return false;
    snprintf(key, sizeof key, "%s.b", path);
    if (!model_find_part(context, key, joint->b, &joint->part_b)) return false;
    bool a_moves = joint->part_a >= 0 && model->part[joint->part_a].body >= 0;
    bool b_moves = joint->part_b >= 0 && model->part[joint->part_b].body >= 0;
    if (joint->part_a == joint->part_b || (!a_moves && !b_moves)) {
        return model_fail(
            context, path,
            "a joint connects two different parts, one of which moves; found '%s' and '%s'",
            joint->a, joint->b);
    }
    if (joint->clearance > 0) {
        snprintf(key, sizeof key, "%s.clearance", path);
        return model_fail(context, key, "joints with clearance are not in this version yet; use 0");
    }
    snprintf(key, sizeof key, "%s.driver", path);
    return check_driver(context, key, joint) && resolve_frames(context, path, joint);
}

bool model_resolve_joints(ModelContext* context) {
    for (int i = 0; i < context->model->joints; ++i) {
        if (!resolve_joint(context, i)) return false;
    }
    return true;
}

bool model_find_joint(ModelContext* context, const char* path, const char* name, int* joint) {
    const LashModel* model = context->model;
    char hint[128];
    AppSuggestion near = app_suggestion(name);
    for (int i = 0; i < model->joints; ++i) {
        app_suggestion_offer(&near, model->joint[i].name);
        if (strcmp(model->joint[i].name, name) == 0) {
            *joint = i;
            return true;
        }
    }
    return model_fail(context, path, "there is no joint '%.60s'%s", name,
                      app_suggestion_text(&near, hint, sizeof hint));
}
