// Forces: key table, what each type needs, units that depend on the joint.
//
//   spring          along the line from a to b: stiffness (length - rest) + damping d(length)/dt,
//   pulls when > 0;
//                   or "force": a function of t, x = length, v = its rate
//   torsion_spring  on an angle x of a joint: -stiffness (x - rest) - damping dx/dt
//   joint_spring    the same on any coordinate
//   joint_force     on a joint coordinate: a function of t, x, v
//   bushing         six springs and dampers at once between two parts
//   force, torque   on a part: three functions of t
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/model/json_scan.h"
#include "app/model/model_internal.h"
#include "core/math3.h"

static const char* const force_types[] = {
#define X(id, name, ...) [MODEL_##id] = name,
    MODEL_FORCE_TABLE(X)
#undef X
        [MODEL_FORCE_TYPES] = NULL};
static const char* const axes_names[] = {"world", "part", NULL};
static const char* const acts_names[] = {
    [LASH_ACTS_BOTH_WAYS] = "both", [LASH_PUSHES] = "push", [LASH_PULLS] = "pull", NULL};

#define FORCE(member) .key = #member, .offset = offsetof(LashModelForce, member)
static const KeySpec force_keys[] = {
    {FORCE(name), .type = KEY_TEXT, .required = true, .help = "unique among the forces"},
    {FORCE(type), .type = KEY_CHOICE, .choices = force_types, .required = true,
     .help = "kind of force"},
    {FORCE(a), .type = KEY_TEXT, .help = "spring, damper: part at one end, or \"ground\""},
    {FORCE(b), .type = KEY_TEXT, .help = "spring, damper: part at the other end"},
    {FORCE(a_point), .type = KEY_VECTOR, .unit = UNIT_LENGTH, .help = "end in the frame of part a"},
    {FORCE(b_point), .type = KEY_VECTOR, .unit = UNIT_LENGTH, .help = "end in the frame of part b"},
    {FORCE(part), .type = KEY_TEXT, .help = "force, torque: the part it acts on"},
    {FORCE(point), .type = KEY_VECTOR, .unit = UNIT_LENGTH,
     .help = "force: where it acts, in the part's frame; default the mass center"},
    {FORCE(axes), .type = KEY_CHOICE, .choices = axes_names,
     .help = "force, torque: components in world axes (default) or in those of the part"},
    {FORCE(joint), .type = KEY_TEXT,
     .help = "torsion_spring, joint_spring, joint_force: the joint"},
    {FORCE(coordinate), .type = KEY_TEXT,
     .help = "of that joint, where it has several: angle, displacement, second_angle, x, y, z, "
             "roll, pitch, yaw"},
    {FORCE(stiffness), .type = KEY_NUMBER, .range = RANGE_NOT_NEGATIVE,
     .help = "[force / length, or torque / angle]"},
    {FORCE(damping), .type = KEY_NUMBER, .range = RANGE_NOT_NEGATIVE,
     .help = "[force time / length, or torque time / angle]"},
    {FORCE(rest), .type = KEY_NUMBER,
     .help = "length or coordinate without force; default: that of the start"},
    {FORCE(acts), .type = KEY_CHOICE, .choices = acts_names,
     .help = "springs: both ways (default), or they only push (below rest) or only pull (above)"},
    {FORCE(direction), .type = KEY_VECTOR,
     .help = "spring, damper: acts along this direction of part a instead of the line of its ends"},
    {FORCE(stiffness_matrix), .type = KEY_ROWS,
     .count_offset = offsetof(LashModelForce, stiffness_count),
     .help = "bushing: 6 numbers, or 6 x 6, for x, y, z, roll, pitch, yaw"},
    {FORCE(damping_matrix), .type = KEY_ROWS,
     .count_offset = offsetof(LashModelForce, damping_count), .help = "bushing: the same"},
    {FORCE(rest_coordinates), .type = KEY_NUMBERS,
     .count_offset = offsetof(LashModelForce, rest_count),
     .help = "bushing: the six without force; default: 0, as it stands at the start"},
    {FORCE(place), .type = KEY_VECTOR, .unit = UNIT_LENGTH,
     .help = "bushing: its point at the start, world; default the mass center of b"},
    {FORCE(axis), .type = KEY_VECTOR, .help = "bushing: its z at the start, world; default z"},
    {FORCE(x_axis), .type = KEY_VECTOR, .help = "bushing: its x at the start, world"},
    {FORCE(force), .type = KEY_FUNCTIONS, .variables = 3 + READS_STATE,
     .count_offset = offsetof(LashModelForce, force_components),
     .help = "force: 3 functions of t; joint_force, spring: one function of t, x, v"},
    {FORCE(torque), .type = KEY_FUNCTIONS, .variables = 1 + READS_STATE,
     .count_offset = offsetof(LashModelForce, torque_components),
     .help = "torque: 3 functions of t"},
};
static void force_defaults(void* target);
const KeyTable model_force_table = {.what = "a force",
                                    .key = force_keys,
                                    .keys = sizeof force_keys / sizeof *force_keys,
                                    .size = sizeof(LashModelForce),
                                    .defaults = force_defaults};

static void force_defaults(void* target) {
    LashModelForce* force = target;
    force->a_point.x = force->b_point.x = force->point.x = NAN;
    force->direction.x = force->place.x = force->axis.x = force->x_axis.x = NAN;
    force->stiffness = force->damping = force->rest = NAN;
    force->part_a = force->part_b = force->joint_index = -1;
}

enum {
#define X(key, given) KEY_OF_##key,
    MODEL_FORCE_KEY_TABLE(X)
#undef X
};
#define HAS(key) (1u << KEY_OF_##key)

static bool check_given(ModelContext* context, const char* path, const LashModelForce* force) {
    static const struct {
        unsigned must, may;
    } use[] = {
#define X(id, name, must, may, ...) [MODEL_##id] = {must, may},
        MODEL_FORCE_TABLE(X)
#undef X
    };
    const struct {
        const char* name;
        bool given;
    } key[] = {
#define X(key, given) {#key, given},
        MODEL_FORCE_KEY_TABLE(X)
#undef X
    };
    const char* type = force_types[force->type];
    for (size_t i = 0; i < sizeof key / sizeof *key; ++i) {
        unsigned bit = 1u << i;
        bool must = use[force->type].must & bit, may = use[force->type].may & bit;
        if (must && !key[i].given)
            return model_fail(context, path, "a %s needs '%s'", type, key[i].name);
        if (!must && !may && key[i].given) {
            char place[96];
            snprintf(place, sizeof place, "%s.%s", path, key[i].name);
            return model_fail(context, place, "a %s has no '%s'", type, key[i].name);
        }
    }
    return true;
}

static bool check_keys(ModelContext* context, const char* path, const LashModelForce* model_force) {
    if (!check_given(context, path, model_force)) return false;
    bool vector = model_force->part != NULL; // it acts on a part
    int count = model_force->torque_components > 0 ? model_force->torque_components
                                                   : model_force->force_components;
    if (count > 0 && count != (vector ? 3 : 1)) {
        return model_fail(context, path,
                          vector ? "a %s needs three components [x, y, z]"
                                 : "the force of a %s is one function, not three",
                          force_types[model_force->type]);
    }
    if (model_force->acts != LASH_ACTS_BOTH_WAYS &&
        (model_has(model_force->damping) || model_force->force_components > 0)) {
        return model_fail(context, path,
                          "a spring that only %ses has a 'stiffness' alone: its damper or function "
                          "would jump where it lets go; add a damper of its own",
                          acts_names[model_force->acts]);
    }
    if (model_force->type == MODEL_SPRING) {
        bool linear = model_has(model_force->stiffness) || model_has(model_force->damping);
        if (linear == (model_force->force_components > 0)) {
            return model_fail(context, path,
                              "a spring needs 'stiffness' (and 'damping'), or 'force'");
        }
    }
    return true;
}

// The ends of a line: parts, and points in the part's frame (the ground's is the world).
static bool resolve_line(ModelContext* context, const char* path, LashModelForce* model_force) {
    const LashModel* model = context->model;
    char key[96];
    snprintf(key, sizeof key, "%s.a", path);
    if (!model_find_part(context, key, model_force->a, &model_force->part_a)) return false;
    snprintf(key, sizeof key, "%s.b", path);
    if (!model_find_part(context, key, model_force->b, &model_force->part_b)) return false;
    if (model_force->part_a == model_force->part_b) {
        return model_fail(context, path, "a %s connects two different parts; found '%s' twice",
                          force_types[model_force->type], model_force->a);
    }
    if (!model_has(model_force->a_point.x)) model_force->a_point = vec3_zero();
    if (!model_has(model_force->b_point.x)) model_force->b_point = vec3_zero();
    Pose a =
        model_force->part_a < 0 ? pose_identity() : model->part[model_force->part_a].world_part;
    Pose b =
        model_force->part_b < 0 ? pose_identity() : model->part[model_force->part_b].world_part;
    Vec3 between =
        vec3_sub(pose_point(b, model_force->b_point), pose_point(a, model_force->a_point));
    bool along = model_has(model_force->direction.x);
    if (along && !(vec3_norm(model_force->direction) > 0))
        return model_fail(context, path, "the direction must not be zero");
    Vec3 axis = along ? quat_rotate(a.rot, vec3_normalize(model_force->direction)) : vec3_zero();
    double length = along ? vec3_dot(axis, between) : vec3_norm(between);
    if (!along && !(length > 0)) {
        return model_fail(context, path, "the two ends of this %s coincide: it has no direction",
                          force_types[model_force->type]);
    }
    const LashModelUnits* units = &model->units;
    model_force->stiffness_si =
        model_has(model_force->stiffness)
            ? model_force->stiffness * model_unit_factor(units, UNIT_STIFFNESS)
            : 0;
    model_force->damping_si = model_has(model_force->damping)
                                  ? model_force->damping * model_unit_factor(units, UNIT_DAMPING)
                                  : 0;
    model_force->rest_si = model_has(model_force->rest)
                               ? model_force->rest * model_unit_factor(units, UNIT_LENGTH)
                               : length;
    return true;
}

// Units of row i and column j of a bushing's matrix: force or torque per length or angle.
static double matrix_unit(const LashModelUnits* units, int i, int j, bool rate) {
    double load = model_unit_factor(units, i < 3 ? UNIT_FORCE : UNIT_TORQUE);
    double by = model_unit_factor(units, j < 3 ? UNIT_LENGTH : UNIT_ANGLE);
    return load / by * (rate ? model_unit_factor(units, UNIT_TIME) : 1);
}

// Of 6 numbers on the diagonal, or of 36 row by row.
static bool take_matrix(ModelContext* context, const char* path, const double* numbers, int count,
                        bool rate, double matrix[6][6]) {
    if (count == 0) return true;
    if (count != 6 && count != 36)
        return model_fail(context, path, "expected 6 numbers or 6 lists of 6, found %d", count);
    const LashModelUnits* units = &context->model->units;
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            double number = count == 36 ? numbers[6 * i + j] : (i == j) * numbers[i];
            matrix[i][j] = number * matrix_unit(units, i, j, rate);
        }
    }
    return true;
}

static bool bushing_frame(ModelContext* context, const char* path, LashModelForce* model_force) {
    const LashModelPart* b =
        model_force->part_b < 0 ? NULL : &context->model->part[model_force->part_b];
    Vec3 place = b == NULL ? vec3_zero() : pose_point(b->world_part, b->center);
    Vec3 z = model_has(model_force->axis.x) ? model_force->axis : vec3(0, 0, 1);
    if (model_has(model_force->place.x)) place = model_force->place;
    if (!(vec3_norm(z) > 0)) return model_fail(context, path, "the axis must not be zero");
    z = vec3_normalize(z);
    Vec3 x = fabs(z.x) < 0.9 ? vec3(1, 0, 0) : vec3(0, 1, 0);
    if (model_has(model_force->x_axis.x)) x = model_force->x_axis;
    x = vec3_add_scaled(x, -vec3_dot(x, z), z);
    if (!(vec3_norm(x) > 1e-9)) return model_fail(context, path, "x_axis is along the axis");
    x = vec3_normalize(x);
    Vec3 y = vec3_cross(z, x);
    Mat3 axes = {{x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z}};
    model_force->world_frame = pose(place, quat_from_matrix(axes));
    return true;
}

static bool resolve_bushing(ModelContext* context, const char* path, LashModelForce* model_force) {
    LashModel* model = context->model;
    char key[96];
    snprintf(key, sizeof key, "%s.a", path);
    if (!model_find_part(context, key, model_force->a, &model_force->part_a)) return false;
    snprintf(key, sizeof key, "%s.b", path);
    if (!model_find_part(context, key, model_force->b, &model_force->part_b)) return false;
    if (model_force->part_a == model_force->part_b)
        return model_fail(context, path, "a bushing connects two different parts; found '%s' twice",
                          model_force->a);
    if (!bushing_frame(context, path, model_force)) return false;
    LashBushingDef* def = model_alloc(model, sizeof *def);
    model_force->bushing = def;
    snprintf(key, sizeof key, "%s.stiffness_matrix", path);
    if (!take_matrix(context, key, model_force->stiffness_matrix, model_force->stiffness_count,
                     false, def->stiffness))
        return false;
    snprintf(key, sizeof key, "%s.damping_matrix", path);
    if (!take_matrix(context, key, model_force->damping_matrix, model_force->damping_count, true,
                     def->damping))
        return false;
    snprintf(key, sizeof key, "%s.rest_coordinates", path);
    if (model_force->rest_count != 0 && model_force->rest_count != 6)
        return model_fail(context, key, "expected 6 numbers, found %d", model_force->rest_count);
    for (int i = 0; i < model_force->rest_count; ++i)
        def->rest[i] = model_force->rest_coordinates[i] *
                       model_unit_factor(&model->units, i < 3 ? UNIT_LENGTH : UNIT_ANGLE);
    LashError inner = {0};
    if (lash_bushing_check(def, &inner)) return true;
    snprintf(key, sizeof key, "%s.%.20s_matrix", path, inner.where);
    return model_fail(context, key, "%s", inner.message);
}

static bool resolve_joint(ModelContext* context, const char* path, LashModelForce* model_force) {
    const LashModel* model = context->model;
    char key[96];
    snprintf(key, sizeof key, "%s.joint", path);
    if (!model_find_joint(context, key, model_force->joint, &model_force->joint_index))
        return false;
    const LashModelJoint* joint = &model->joint[model_force->joint_index];
    LashJointType type = (LashJointType)joint->type;
    snprintf(key, sizeof key, "%s.%s", path,
             model_force->coordinate == NULL ? "joint" : "coordinate");
    if (!model_find_coordinate(context, key, joint, model_force->coordinate,
                               &model_force->coordinate_index))
        return false;
    bool torsion = model_force->type == MODEL_TORSION_SPRING;
    for (int c = 0; torsion && model_force->coordinate == NULL && c < lash_coordinate_count(type);
         ++c) {
        model_force->coordinate_index = c;
        if (lash_coordinate_is_angle(type, c)) break;
    }
    bool angle = lash_coordinate_is_angle(type, model_force->coordinate_index);
    if (torsion && !angle) {
        return model_fail(context, key, "a torsion_spring acts on an angle; '%.60s' has none here",
                          joint->name);
    }
    const LashModelUnits* units = &model->units;
    double k = model_unit_factor(units, angle ? UNIT_ANGULAR_STIFFNESS : UNIT_STIFFNESS);
    double c = model_unit_factor(units, angle ? UNIT_ANGULAR_DAMPING : UNIT_DAMPING);
    double x = model_unit_factor(units, angle ? UNIT_ANGLE : UNIT_LENGTH);
    model_force->stiffness_si = model_has(model_force->stiffness) ? model_force->stiffness * k : 0;
    model_force->damping_si = model_has(model_force->damping) ? model_force->damping * c : 0;
    model_force->rest_si =
        model_has(model_force->rest)
            ? model_force->rest * x
            : model_start_coordinate(model, joint, model_force->coordinate_index);
    return true;
}

static bool resolve_part(ModelContext* context, const char* path, LashModelForce* model_force) {
    char key[96];
    snprintf(key, sizeof key, "%s.part", path);
    if (!model_find_part(context, key, model_force->part, &model_force->part_b)) return false;
    if (model_force->part_b < 0 || context->model->part[model_force->part_b].body < 0) {
        return model_fail(context, key, "a %s acts on a part that moves; '%.60s' does not",
                          force_types[model_force->type], model_force->part);
    }
    if (!model_has(model_force->point.x))
        model_force->point = context->model->part[model_force->part_b].center;
    for (int i = 0; i < 3 && model_force->force_components > 0; ++i) {
        if (model_force->force[i].text == NULL) continue;
        const char* names[3 + LASH_FUNCTION_INPUTS];
        int count = model_function_names(context->model, &model_force->force[i], names);
        LashTables tables = model_tables(context->model);
        LashExpression* expression =
            lash_expression_compile_with(model_force->force[i].text, names, count, &tables, NULL);
        bool state = expression == NULL || lash_expression_uses(expression, 1) ||
                     lash_expression_uses(expression, 2);
        lash_expression_destroy(expression);
        if (state) {
            snprintf(key, sizeof key, "%s.force[%d]", path, i);
            return model_fail(context, key, "here only t and parameters are known, not x and v");
        }
    }
    return true;
}

// What its functions read of joints and parts.
static bool resolve_functions(ModelContext* context, const char* path,
                              LashModelForce* model_force) {
    char key[96];
    for (int i = 0; i < 6; ++i) {
        bool torque = i >= 3;
        int k = i % 3;
        int count = torque ? model_force->torque_components : model_force->force_components;
        if (k >= count) continue;
        snprintf(key, sizeof key, "%s.%s", path, torque ? "torque" : "force");
        if (count > 1) snprintf(key, sizeof key, "%s.%s[%d]", path, torque ? "torque" : "force", k);
        LashModelFunction* function = torque ? &model_force->torque[k] : &model_force->force[k];
        if (!model_resolve_readings(context, key, function)) return false;
    }
    return true;
}

static bool resolve_force(ModelContext* context, int index) {
    static bool (*const resolve[])(ModelContext*, const char*, LashModelForce*) = {
#define X(id, name, must, may, on, ...) [MODEL_##id] = resolve_##on,
        MODEL_FORCE_TABLE(X)
#undef X
    };
    LashModel* model = context->model;
    LashModelForce* model_force = &model->force[index];
    char path[64];
    snprintf(path, sizeof path, "forces[%d].name", index);
    int first = model_name_find(model, MODEL_FORCES, model_force->name);
    if (first != index)
        return model_fail(context, path,
                          "the name '%.60s' is taken by forces[%d]; names are unique",
                          model_force->name, first);
    snprintf(path, sizeof path, "forces[%d]", index);
    if (!check_keys(context, path, model_force)) return false;
    if (!resolve_functions(context, path, model_force)) return false;
    return resolve[model_force->type](context, path, model_force);
}

bool model_resolve_forces(ModelContext* context) {
    for (int i = 0; i < context->model->forces; ++i) {
        if (!resolve_force(context, i)) return false;
    }
    return true;
}
