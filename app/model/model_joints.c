// Joints: key table and frames.
//
// A joint frame is written in world coordinates of the start ("point", "axis", "x_axis"), or for
// either side in the coordinates of its part ("a_point", ...): then the two frames may differ, and
// the start may violate the joint. "start" is what the model calls the first coordinate then: frame
// b is turned or shifted by it against frame a (a screw's both).
//
// Gear and rack_and_pinion name two joints instead of two parts; they couple the first angle of the
// one with the first angle, or displacement, of the other.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/suggest.h"
#include "app/model/json_scan.h"
#include "app/model/model_internal.h"
#include "core/math3.h"

// In the order of LashJointType.
static const char* const joint_types[] = {
#define X(id, name) [LASH_##id] = #name,
    LASH_JOINT_TABLE(X)
#undef X
        [LASH_JOINT_TYPES] = NULL};

#define DRIVER(member) .key = #member, .offset = offsetof(LashModelDriver, member)
static const KeySpec driver_keys[] = {
    {DRIVER(coordinate), .type = KEY_TEXT,
     .help = "which one, where the joint has several: angle, displacement, second_angle, x, y, z, "
             "roll, pitch, yaw"},
    {DRIVER(position), .type = KEY_FUNCTION, .variables = 1,
     .help = "joint coordinate as a function of t [angle or length]"},
    {DRIVER(speed), .type = KEY_FUNCTION, .variables = 1,
     .help = "speed of the joint coordinate as a function of t"},
};
const KeyTable model_driver_table = {
    .what = "a driver", .key = driver_keys, .keys = 3, .size = sizeof(LashModelDriver)};

#define LIMIT(member) .key = #member, .offset = offsetof(LashModelLimit, member)
static const KeySpec limit_keys[] = {
    {LIMIT(coordinate), .type = KEY_TEXT, .help = "which one, where the joint has several"},
    {LIMIT(lower), .type = KEY_NUMBER, .help = "smallest value [angle or length]"},
    {LIMIT(upper), .type = KEY_NUMBER, .help = "largest value [angle or length]"},
    {LIMIT(restitution), .type = KEY_NUMBER, .range = RANGE_FRACTION,
     .help = "speed after / before an impact on the limit, default 0"},
};
static void limit_defaults(void* target) {
    LashModelLimit* limit = target;
    limit->lower = limit->upper = NAN;
}
const KeyTable model_limit_table = {.what = "a limit",
                                    .key = limit_keys,
                                    .keys = sizeof limit_keys / sizeof *limit_keys,
                                    .size = sizeof(LashModelLimit),
                                    .defaults = limit_defaults};

static const char* const sides[] = {"a", "b", NULL};

static const char* const confidences[] = {"sure", "likely", "guess", NULL};
static const KeySpec draft_keys[] = {
    {.key = "reason",
     .offset = offsetof(LashModelDraft, reason),
     .type = KEY_TEXT,
     .help = "what it was found by"},
    {.key = "confidence",
     .offset = offsetof(LashModelDraft, confidence),
     .type = KEY_CHOICE,
     .choices = confidences,
     .help = "how sure that is"},
};
const KeyTable model_draft_table = {.what = "a draft's reason",
                                    .key = draft_keys,
                                    .keys = sizeof draft_keys / sizeof *draft_keys,
                                    .size = sizeof(LashModelDraft)};

#define JOINT(member) .key = #member, .offset = offsetof(LashModelJoint, member)
static const KeySpec joint_keys[] = {
    {JOINT(name), .type = KEY_TEXT, .required = true, .help = "unique among the joints"},
    {JOINT(type), .type = KEY_CHOICE, .choices = joint_types, .required = true,
     .help = "kind of joint"},
    {JOINT(a), .type = KEY_TEXT, .help = "name of a part, or \"ground\""},
    {JOINT(b), .type = KEY_TEXT,
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
    {JOINT(clearance), .type = KEY_PLAY, .unit = UNIT_LENGTH, .range = RANGE_NOT_NEGATIVE,
     .help = "play: radial, or per side of a guide or plate; 0 is an ideal joint"},
    {JOINT(axial_clearance), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_NOT_NEGATIVE,
     .help = "revolute: play per side against collars, default the clearance; 0 holds it ideally"},
    {JOINT(restitution), .type = KEY_NUMBER, .range = RANGE_FRACTION,
     .help = "with clearance: speed after / before an impact, default 0"},
    {JOINT(pin_length), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_POSITIVE,
     .help = "with clearance: of a pin or shaft, default beyond the bore"},
    {JOINT(guide_length), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_POSITIVE,
     .help = "prismatic with clearance: of the guide, default beyond the slider"},
    {JOINT(collar_radius), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_POSITIVE,
     .help = "revolute with clearance: of the rings that meet the collars, default 1.5 radius"},
    {JOINT(width), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_POSITIVE,
     .help = "prismatic, planar with clearance: of slider or plate along x"},
    {JOINT(height), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_POSITIVE,
     .help = "prismatic, planar with clearance: of slider or plate along y"},
    {JOINT(eccentricity), .type = KEY_VECTOR, .unit = UNIT_LENGTH,
     .help = "with clearance: how far the joint point of b lies from that of a at the start"},
    {JOINT(bore), .type = KEY_FACES, .count_offset = offsetof(LashModelJoint, bore_faces),
     .help = "with clearance: CAD faces of the bore or socket: axis, radius, length"},
    {JOINT(pin), .type = KEY_FACES, .count_offset = offsetof(LashModelJoint, pin_faces),
     .help = "with clearance: CAD faces of the pin or ball"},
    {JOINT(bore_in), .type = KEY_CHOICE, .choices = sides,
     .help = "with clearance: the part with the bore, socket or guide; default a"},
    {JOINT(driver), .type = KEY_LIST_OR_ONE, .table = &model_driver_table,
     .count_offset = offsetof(LashModelJoint, drivers), .help = "prescribed motion"},
    {.key = "limits",
     .offset = offsetof(LashModelJoint, limit),
     .type = KEY_LIST_OR_ONE,
     .table = &model_limit_table,
     .count_offset = offsetof(LashModelJoint, limits),
     .help = "ends of a coordinate"},
    {JOINT(friction), .type = KEY_NUMBER, .range = RANGE_NOT_NEGATIVE,
     .help = "Coulomb coefficient of the sliding surfaces, loaded by the joint's reaction"},
    {JOINT(radius), .type = KEY_NUMBER, .unit = UNIT_LENGTH,
     .help = "of the pin or shaft that rubs; of a pinion: displacement of the rack per radian"},
    {JOINT(second_axis), .type = KEY_VECTOR,
     .help = "universal: axis of the cross in b, across 'axis' (which stays in a), world axes"},
    {JOINT(length), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_POSITIVE,
     .help = "distance: of the rod, default that of the start; with clearance: of the bore, of the "
             "slider"},
    {JOINT(pitch), .type = KEY_NUMBER, .unit = UNIT_LENGTH,
     .help = "screw: displacement per turn, positive for a right-hand thread"},
    {JOINT(ratio), .type = KEY_NUMBER,
     .help = "gear: angle of joint_b per angle of joint_a, negative for external gears"},
    {JOINT(joint_a), .type = KEY_TEXT, .help = "gear, rack_and_pinion: joint of the driving wheel"},
    {JOINT(draft), .type = KEY_OBJECT, .table = &model_draft_table,
     .help = "why lash draft put this joint here; not used"},
    {JOINT(joint_b), .type = KEY_TEXT, .help = "gear, rack_and_pinion: joint of the other part"},
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
    joint->second_axis.x = NAN;
    joint->length = joint->pitch = joint->ratio = joint->radius = joint->friction = NAN;
    joint->clearance = joint->axial_clearance = joint->restitution = joint->pin_length = NAN;
    joint->guide_length = joint->collar_radius = joint->width = joint->height = NAN;
    joint->eccentricity.x = joint->measured = NAN;
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
    bool needs_axis = joint->type != LASH_FIXED && joint->type != LASH_SPHERICAL &&
                      joint->type != LASH_DISTANCE && joint->type != LASH_FREE_JOINT;
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
        return model_fail(context, path,
                          "expected an axis that is not zero, found 0, 0, 0; such as [0, 0, 1]");
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
    if (model_has(joint->eccentricity.x))
        joint->world_b.r = vec3_add(joint->world_b.r, joint->eccentricity);
    if (joint->start == 0) return true;
    if (joint->type != LASH_PRISMATIC && joint->type != LASH_REVOLUTE &&
        joint->type != LASH_CYLINDRICAL && joint->type != LASH_SCREW) {
        return model_fail(context, path, "a %s joint has no coordinate to 'start' from",
                          joint_types[joint->type]);
    }
    double start = model_start_coordinate(model, joint, 0), shift = start;
    if (joint->type != LASH_PRISMATIC) {
        shift = model_start_coordinate(model, joint, 1);
        joint->world_b.rot =
            quat_mul(joint->world_b.rot, quat_from_axis_angle(vec3(0, 0, 1), start));
    }
    joint->world_b.r = vec3_add_scaled(joint->world_b.r, shift, axis_b);
    return true;
}

// Coordinates of a free joint, from where its two frames stand (joints/kinds/free.c).
static double free_start(const LashModelJoint* joint, int coordinate) {
    Pose a_b = pose_mul(pose_inverse(joint->world_a), joint->world_b);
    Mat3 turn = quat_matrix(a_b.rot);
    const double* R = turn.m; // by columns
    const double value[] = {
        a_b.r.x,          a_b.r.y, a_b.r.z, atan2(R[5], R[8]), -asin(fmax(-1, fmin(R[2], 1))),
        atan2(R[1], R[0])};
    return value[coordinate];
}

double model_start_coordinate(const LashModel* model, const LashModelJoint* joint, int coordinate) {
    LashJointType type = (LashJointType)joint->type;
    if (type == LASH_FREE_JOINT) return free_start(joint, coordinate);
    if (coordinate > 0 && type != LASH_SCREW) return 0;
    bool angle = lash_coordinate_is_angle(type, 0);
    double start =
        joint->start * model_unit_factor(&model->units, angle ? UNIT_ANGLE : UNIT_LENGTH);
    return coordinate == 0 ? start : start * joint->pitch / (2 * LASH_PI);
}

bool model_find_coordinate(ModelContext* context, const char* path, const LashModelJoint* joint,
                           const char* name, int* coordinate) {
    LashJointType type = (LashJointType)joint->type;
    int count = lash_coordinate_count(type);
    *coordinate = 0;
    if (count == 0) {
        return model_fail(context, path, "a %s joint has no free coordinate", joint_types[type]);
    }
    if (name == NULL) return true;
    char list[80] = "";
    for (int c = 0; c < count; ++c) {
        const char* own = lash_coordinate_name(type, c);
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", c == 0 ? "" : ", ", own);
        *coordinate = c;
        if (strcmp(name, own) == 0) return true;
    }
    return model_fail(context, path, "a %s joint has no coordinate '%.40s'; it has %s",
                      joint_types[type], name, list);
}

static bool resolve_drivers(ModelContext* context, const char* path, LashModelJoint* joint) {
    char key[96];
    snprintf(key, sizeof key, "%s.driver", path);
    for (int i = 0; i < joint->drivers; ++i) {
        LashModelDriver* driver = &joint->driver[i];
        if (!model_find_coordinate(context, key, joint, driver->coordinate, &driver->index))
            return false;
        if (driver->position.given == driver->speed.given) {
            return model_fail(context, key, "a driver has either 'position' or 'speed'");
        }
        for (int k = 0; k < i; ++k) {
            if (joint->driver[k].index != driver->index) continue;
            return model_fail(context, key, "the coordinate '%s' is driven twice",
                              lash_coordinate_name((LashJointType)joint->type, driver->index));
        }
    }
    return true;
}

// SI factor of a coordinate.
static double coordinate_unit(const LashModel* model, const LashModelJoint* joint, int coordinate) {
    bool angle = lash_coordinate_is_angle((LashJointType)joint->type, coordinate);
    return model_unit_factor(&model->units, angle ? UNIT_ANGLE : UNIT_LENGTH);
}

static bool resolve_limits(ModelContext* context, const char* path, LashModelJoint* joint) {
    char key[96];
    snprintf(key, sizeof key, "%s.limits", path);
    for (int i = 0; i < joint->limits; ++i) {
        LashModelLimit* limit = &joint->limit[i];
        if (!model_find_coordinate(context, key, joint, limit->coordinate, &limit->index))
            return false;
        if (!model_has(limit->lower) && !model_has(limit->upper)) {
            return model_fail(context, key, "a limit has 'lower', 'upper' or both");
        }
        if (limit->lower >= limit->upper) { // false when one is not given
            return model_fail(context, key, "'lower' must be below 'upper', got %g and %g",
                              limit->lower, limit->upper);
        }
        for (int k = 0; k < i; ++k) {
            if (joint->limit[k].index != limit->index) continue;
            return model_fail(context, key, "the coordinate '%s' is limited twice",
                              lash_coordinate_name((LashJointType)joint->type, limit->index));
        }
        double start = model_start_coordinate(context->model, joint, limit->index) /
                       coordinate_unit(context->model, joint, limit->index);
        if (limit->lower > start || limit->upper < start) {
            return model_fail(context, key, "the start, %g, lies outside the limits", start);
        }
    }
    return true;
}

// Keys that only some types have: must (1) or may (2).
typedef struct KeyUse {
    const char* key;
    bool given;
    int use;
} KeyUse;

static bool check_keys(ModelContext* context, const char* path, const LashModelJoint* joint) {
    LashJointType type = (LashJointType)joint->type;
    bool gear = type == LASH_GEAR, rack = type == LASH_RACK_AND_PINION, couples = gear || rack;
    bool play = lash_joint_can_have_clearance(type) &&
                (model_has(joint->clearance) || joint->bore != NULL || joint->pin != NULL);
    bool rubs = lash_joint_has_friction(type) && joint->friction > 0 && !(joint->clearance > 0) &&
                joint->pin == NULL && joint->bore == NULL;
    bool pin = lash_joint_friction_turns(type);
    int radius = pin || play ? 2 : 0;
    if (rack || (pin && rubs)) radius = 1;
    const KeyUse uses[] = {
        {"a", joint->a != NULL, !couples},
        {"b", joint->b != NULL, !couples},
        {"joint_a", joint->joint_a != NULL, couples},
        {"joint_b", joint->joint_b != NULL, couples},
        {"ratio", model_has(joint->ratio), gear},
        {"radius", model_has(joint->radius), radius},
        {"pitch", model_has(joint->pitch), type == LASH_SCREW},
        {"length", model_has(joint->length), type == LASH_DISTANCE || play ? 2 : 0},
        {"friction", model_has(joint->friction), lash_joint_has_friction(type) || play ? 2 : 0},
        {"clearance", model_has(joint->clearance), joint->clearance > 0 && !play ? 0 : 2},
        {"second_axis", model_has(joint->second_axis.x), type == LASH_UNIVERSAL ? 2 : 0},
        {"driver", joint->drivers > 0, couples ? 0 : 2},
        {"limits", joint->limits > 0, couples ? 0 : 2},
        {"start", joint->start != 0, couples ? 0 : 2},
        {"point", model_has(joint->point.x), couples ? 0 : 2},
        {"axis", model_has(joint->axis.x), couples ? 0 : 2},
    };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; ++i) {
        if (uses[i].use == 1 && !uses[i].given) {
            return model_fail(context, path, "the key '%s' is missing: a %s joint needs it",
                              uses[i].key, joint_types[type]);
        }
        if (uses[i].use == 0 && uses[i].given) {
            char key[96];
            snprintf(key, sizeof key, "%s.%s", path, uses[i].key);
            return model_fail(context, key, "a %s joint has no '%s'", joint_types[type],
                              uses[i].key);
        }
    }
    const KeyUse nonzero[] = {{"ratio", joint->ratio == 0, 0},
                              {"pitch", joint->pitch == 0, 0},
                              {"radius", rack ? joint->radius == 0 : joint->radius <= 0, 0}};
    for (size_t i = 0; i < sizeof nonzero / sizeof *nonzero; ++i) {
        if (!nonzero[i].given) continue;
        char key[96];
        snprintf(key, sizeof key, "%s.%s", path, nonzero[i].key);
        return model_fail(context, key, i == 2 && !rack ? "must be > 0" : "must not be 0");
    }
    return true;
}

// The first coordinate of a joint that is an angle, or is none.
static bool find_coupled(ModelContext* context, const char* path, const LashModelJoint* joint,
                         bool angle, int* coordinate) {
    LashJointType type = (LashJointType)joint->type;
    for (int c = 0; c < lash_coordinate_count(type) && type != LASH_FREE_JOINT; ++c) {
        *coordinate = c;
        if (lash_coordinate_is_angle(type, c) == angle) return true;
    }
    return model_fail(context, path, "the joint '%.60s' is %s and has no %s to couple", joint->name,
                      joint_types[type], angle ? "angle" : "displacement");
}

static bool resolve_gear(ModelContext* context, int index) {
    LashModel* model = context->model;
    LashModelJoint* joint = &model->joint[index];
    const char* names[2] = {joint->joint_a, joint->joint_b};
    Pose* world[2] = {&joint->world_a, &joint->world_b};
    for (int k = 0; k < 2; ++k) {
        char key[96];
        snprintf(key, sizeof key, "joints[%d].joint_%c", index, 'a' + k);
        if (!model_find_joint(context, key, names[k], &joint->coupled[k])) return false;
        if (joint->coupled[k] >= index) {
            return model_fail(context, key,
                              "the joint '%.60s' must stand before the gear in the list", names[k]);
        }
        const LashModelJoint* via = &model->joint[joint->coupled[k]];
        bool angle = k == 0 || joint->type == LASH_GEAR;
        if (!find_coupled(context, key, via, angle, &joint->coupled_coordinate[k])) return false;
        *world[k] = via->world_b;
        *(k == 0 ? &joint->part_a : &joint->part_b) = via->part_b;
    }
    bool moving = false;
    for (int k = 0; k < 2; ++k) {
        int part = k == 0 ? joint->part_a : joint->part_b;
        moving = moving || (part >= 0 && model->part[part].body >= 0);
    }
    if (joint->part_a == joint->part_b || !moving) {
        char path[64];
        snprintf(path, sizeof path, "joints[%d]", index);
        return model_fail(context, path, "the two joints must have different parts as their 'b'");
    }
    return true;
}

// The cross of a universal joint, and the length of a rod.
static bool resolve_special(ModelContext* context, const char* path, LashModelJoint* joint) {
    if (joint->type == LASH_UNIVERSAL && model_has(joint->second_axis.x)) {
        if (!model_has(joint->axis.x) || model_has(joint->x_axis.x)) {
            return model_fail(context, path, "'second_axis' goes with 'axis' and without 'x_axis'");
        }
        double size = vec3_norm(joint->axis) * vec3_norm(joint->second_axis);
        if (!(fabs(vec3_dot(joint->axis, joint->second_axis)) <= 1e-6 * size) || size == 0) {
            return model_fail(context, path, "'second_axis' must stand across 'axis'");
        }
        joint->x_axis = joint->second_axis;
    }
    return true;
}

static bool resolve_length(ModelContext* context, const char* path, LashModelJoint* joint) {
    if (joint->type != LASH_DISTANCE || model_has(joint->length)) return true;
    joint->length = vec3_distance(joint->world_a.r, joint->world_b.r);
    if (joint->length > 0) return true;
    return model_fail(context, path,
                      "the ends of this rod coincide: it needs different 'a_point' and 'b_point'");
}

static bool resolve_joint(ModelContext* context, int index) {
    LashModel* model = context->model;
    LashModelJoint* joint = &model->joint[index];
    char path[64], key[80];
    snprintf(path, sizeof path, "joints[%d]", index);
    int first = model_name_find(model, MODEL_JOINTS, joint->name);
    if (first != index) {
        snprintf(key, sizeof key, "%s.name", path);
        return model_fail(context, key, "the name '%.60s' is taken by joints[%d]; names are unique",
                          joint->name, first);
    }
    if (!check_keys(context, path, joint)) return false;
    if (joint->type == LASH_GEAR || joint->type == LASH_RACK_AND_PINION)
        return resolve_gear(context, index);
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
    return resolve_drivers(context, path, joint) && resolve_special(context, path, joint) &&
           model_measure_joint(context, path, joint) && resolve_frames(context, path, joint) &&
           resolve_limits(context, path, joint) && resolve_length(context, path, joint) &&
           model_resolve_clearance(context, path, joint);
}

bool model_resolve_joints(ModelContext* context) {
    for (int i = 0; i < context->model->joints; ++i) {
        if (!resolve_joint(context, i)) return false;
    }
    return true;
}

bool model_find_joint(ModelContext* context, const char* path, const char* name, int* joint) {
    const LashModel* model = context->model;
    char hint[300];
    int found = model_name_find(context->model, MODEL_JOINTS, name);
    if (found >= 0) {
        *joint = found;
        return true;
    }
    AppSuggestion near = app_suggestion(name);
    for (int i = 0; i < model->joints; ++i) app_suggestion_offer(&near, model->joint[i].name);
    return model_fail(context, path, "there is no joint '%.60s'%s", name,
                      app_suggestion_names(&near, hint, sizeof hint));
}
