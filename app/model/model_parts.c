// Parts: key tables, mass properties of primitive shapes, frames.
//
// Mass properties about the center c, for density rho and a primitive along z:
//   box       m = rho a b c,                 Jz = m (a^2 + b^2) / 12
//   cylinder  m = rho pi r^2 L,              Jz = m r^2 / 2,  Jx = m (3 r^2 + L^2) / 12
//   ring      m = rho pi (R^2 - r^2) L,      Jz = m (R^2 + r^2) / 2,  Jx = m (3 (R^2 + r^2) + L^2)
//   / 12 sphere    m = rho 4/3 pi r^3,            J  = 2/5 m r^2 capsule   cylinder + sphere m_s
//   cut in two: Jx = ... + m_s (2/5 r^2 + L^2/4 + 3/8 L r)
// A part of several shapes sums them with Steiner's terms. The body frame is the part's (CAD) frame
// with its origin moved to the mass center.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/suggest.h"
#include "app/model/json_scan.h"
#include "app/model/model_internal.h"
#include "core/math3.h"

static const char* const shape_types[] = {"box", "cylinder", "sphere", "capsule", "ring", NULL};

#define POSE(member) .key = #member, .offset = offsetof(LashModelPose, member)
static const KeySpec pose_keys[] = {
    {POSE(position), .type = KEY_VECTOR, .unit = UNIT_LENGTH, .help = "where the origin stands"},
    {POSE(quaternion), .type = KEY_QUATERNION, .help = "turn as [w, x, y, z]"},
    {POSE(axis), .type = KEY_VECTOR, .help = "turn about this axis ..."},
    {POSE(angle), .type = KEY_NUMBER, .unit = UNIT_ANGLE, .help = "... by this angle"},
};
const KeyTable model_pose_table = {
    .what = "a pose", .key = pose_keys, .keys = 4, .size = sizeof(LashModelPose)};

#define SHAPE(member) .key = #member, .offset = offsetof(LashModelShape, member)
static const KeySpec shape_keys[] = {
    {SHAPE(type), .type = KEY_CHOICE, .choices = shape_types, .required = true,
     .help = "kind of shape"},
    {SHAPE(size), .type = KEY_VECTOR, .unit = UNIT_LENGTH, .range = RANGE_POSITIVE,
     .help = "edges of a box"},
    {SHAPE(radius), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_POSITIVE,
     .help = "of a cylinder, sphere or capsule"},
    {SHAPE(length), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_POSITIVE,
     .help = "along z; of a capsule: without its caps"},
    {SHAPE(inner_radius), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_POSITIVE,
     .help = "of a ring"},
    {SHAPE(outer_radius), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_POSITIVE,
     .help = "of a ring"},
    {SHAPE(pose), .type = KEY_OBJECT, .table = &model_pose_table,
     .help = "where its center stands in the part, and how it is turned"},
};
static void shape_defaults(void* target);
const KeyTable model_shape_table = {.what = "a shape",
                                    .key = shape_keys,
                                    .keys = 7,
                                    .size = sizeof(LashModelShape),
                                    .defaults = shape_defaults};

#define PART(member) .key = #member, .offset = offsetof(LashModelPart, member)
static const KeySpec part_keys[] = {
    {PART(name), .type = KEY_TEXT, .required = true,
     .help = "unique among the parts; not \"ground\""},
    {PART(step), .type = KEY_TEXT, .help = "STEP file, relative to the model file"},
    {PART(part), .type = KEY_TEXTS, .count_offset = offsetof(LashModelPart, part_count),
     .help = "of an assembly: the path of a part in its product tree, as lash info prints it, or a "
             "list of them (one body); default the whole file"},
    {PART(shape), .type = KEY_LIST_OR_ONE, .table = &model_shape_table,
     .count_offset = offsetof(LashModelPart, shapes), .help = "shapes instead of a STEP file"},
    {PART(scale), .type = KEY_NUMBER, .range = RANGE_POSITIVE,
     .help = "metres per number of the STEP file, when the file is wrong about it"},
    {PART(density), .type = KEY_NUMBER, .unit = UNIT_DENSITY, .range = RANGE_POSITIVE,
     .help = "gives mass, center and inertia together with the shape"},
    {PART(mass), .type = KEY_NUMBER, .unit = UNIT_MASS, .range = RANGE_POSITIVE,
     .help = "instead of a density"},
    {PART(center), .type = KEY_VECTOR, .unit = UNIT_LENGTH,
     .help = "mass center in the part's frame"},
    {PART(inertia), .type = KEY_INERTIA, .unit = UNIT_INERTIA,
     .help = "about the mass center in the part's axes: 3 numbers or a 3 x 3 matrix"},
    {PART(pose), .type = KEY_OBJECT, .table = &model_pose_table,
     .help = "of the part's own frame at the start"},
    {PART(velocity), .type = KEY_VECTOR, .unit = UNIT_VELOCITY,
     .help = "of the mass center, world axes, at the start"},
    {PART(angular_velocity), .type = KEY_VECTOR, .unit = UNIT_ANGULAR_VELOCITY,
     .help = "body axes, at the start"},
    {PART(color), .type = KEY_COLOR, .range = RANGE_FRACTION,
     .help = "\"#rrggbb\" or 3 or 4 numbers from 0 to 1"},
    {PART(material), .type = KEY_TEXT,
     .help = "chooses friction and restitution of its contacts in the model's materials"},
    {PART(fixed), .type = KEY_BOOL, .help = "true: belongs to the ground"},
};
static void part_defaults(void* target);
const KeyTable model_part_table = {.what = "a part",
                                   .key = part_keys,
                                   .keys = sizeof part_keys / sizeof *part_keys,
                                   .size = sizeof(LashModelPart),
                                   .defaults = part_defaults};

static void pose_defaults(LashModelPose* pose) {
    pose->quaternion.w = pose->axis.x = pose->angle = NAN;
}

static void shape_defaults(void* target) {
    LashModelShape* shape = target;
    shape->size.x = shape->radius = shape->length = NAN;
    shape->inner_radius = shape->outer_radius = NAN;
    pose_defaults(&shape->pose);
}

static void part_defaults(void* target) {
    LashModelPart* part = target;
    part->scale = part->density = part->mass = part->center.x = part->inertia.m[0] = NAN;
    pose_defaults(&part->pose);
}

bool model_resolve_pose(ModelContext* context, const char* path, const LashModelPose* raw,
                        Pose* result) {
    *result = pose_identity();
    if (!raw->given) return true;
    bool has_axis = model_has(raw->axis.x), has_angle = model_has(raw->angle);
    result->r = raw->position;
    if (model_has(raw->quaternion.w)) {
        if (has_axis || has_angle) {
            return model_fail(context, path,
                              "give the turn as quaternion or as axis and angle, not both");
        }
        result->rot = raw->quaternion;
    } else if (has_axis || has_angle) {
        if (!has_axis || !has_angle) {
            return model_fail(context, path, "axis and angle belong together; '%s' is missing",
                              has_axis ? "angle" : "axis");
        }
        if (!(vec3_norm(raw->axis) > 0)) {
            return model_fail(
                context, path,
                "expected an axis that is not zero, found 0, 0, 0; such as [0, 0, 1]");
        }
        result->rot = quat_from_axis_angle(vec3_normalize(raw->axis), raw->angle);
    }
    return true;
}

// ---- mass of primitive shapes -------------------------------------------------------------------

typedef struct MassProperties { // for density 1
    double mass;
    Vec3 center;
    Mat3 inertia;  // about center
    double extent; // of the geometry from the origin of its frame [m]
} MassProperties;

static MassProperties box_mass(Vec3 s) {
    double m = s.x * s.y * s.z;
    return (MassProperties){
        m, vec3_zero(),
        mat3_diagonal(m * (s.y * s.y + s.z * s.z) / 12, m * (s.x * s.x + s.z * s.z) / 12,
                      m * (s.x * s.x + s.y * s.y) / 12),
        0.5 * vec3_norm(s)};
}

static MassProperties ring_mass(double inner, double outer, double length) {
    double m = LASH_PI * (outer * outer - inner * inner) * length;
    double sum = outer * outer + inner * inner;
    double across = m * (3 * sum + length * length) / 12;
    return (MassProperties){m, vec3_zero(), mat3_diagonal(across, across, 0.5 * m * sum),
                            hypot(outer, 0.5 * length)};
}

static MassProperties capsule_mass(double r, double length) {
    MassProperties p = ring_mass(0, r, length);
    double m = 4.0 / 3.0 * LASH_PI * r * r * r; // both caps
    double across = m * (0.4 * r * r + 0.25 * length * length + 0.375 * length * r);
    p.mass += m;
    p.inertia = mat3_add(p.inertia, mat3_diagonal(across, across, 0.4 * m * r * r));
    p.extent = r + 0.5 * length;
    return p;
}

static MassProperties sphere_mass(double r) {
    double m = 4.0 / 3.0 * LASH_PI * r * r * r, j = 0.4 * m * r * r;
    return (MassProperties){m, vec3_zero(), mat3_diagonal(j, j, j), r};
}

// m (|d|^2 I - d d')
static Mat3 steiner(double m, Vec3 d) {
    return mat3_scale(
        m, mat3_sub(mat3_scale(vec3_norm_squared(d), mat3_identity()), mat3_outer(d, d)));
}

static bool need(ModelContext* context, const char* path, const LashModelShape* shape,
                 const char* key, bool wanted, bool given) {
    if (wanted == given) return true;
    return model_fail(context, path, wanted ? "a %s needs '%s'" : "a %s has no '%s'",
                      shape_types[shape->type], key);
}

static bool check_shape(ModelContext* context, const char* path,
                        const LashModelShape* model_shape) {
    bool box = model_shape->type == LASH_MODEL_BOX, ring = model_shape->type == LASH_MODEL_RING;
    bool sphere = model_shape->type == LASH_MODEL_SPHERE;
    return need(context, path, model_shape, "size", box, model_has(model_shape->size.x)) &&
           need(context, path, model_shape, "radius", !box && !ring,
                model_has(model_shape->radius)) &&
           need(context, path, model_shape, "length", !box && !sphere,
                model_has(model_shape->length)) &&
           need(context, path, model_shape, "inner_radius", ring,
                model_has(model_shape->inner_radius)) &&
           need(context, path, model_shape, "outer_radius", ring,
                model_has(model_shape->outer_radius)) &&
           (!ring || model_shape->inner_radius < model_shape->outer_radius ||
            model_fail(context, path,
                       "inner_radius (%g m) must be smaller than outer_radius (%g m)",
                       model_shape->inner_radius, model_shape->outer_radius));
}

static bool shape_mass(ModelContext* context, const char* path, LashModelShape* shape,
                       MassProperties* properties) {
    if (!check_shape(context, path, shape)) return false;
    if (!model_resolve_pose(context, path, &shape->pose, &shape->part_shape)) return false;
    switch ((LashModelShapeType)shape->type) {
        case LASH_MODEL_BOX:
            *properties = box_mass(shape->size);
            break;
        case LASH_MODEL_CYLINDER:
            *properties = ring_mass(0, shape->radius, shape->length);
            break;
        case LASH_MODEL_SPHERE:
            *properties = sphere_mass(shape->radius);
            break;
        case LASH_MODEL_CAPSULE:
            *properties = capsule_mass(shape->radius, shape->length);
            break;
        case LASH_MODEL_RING:
            *properties = ring_mass(shape->inner_radius, shape->outer_radius, shape->length);
            break;
    }
    Mat3 turn = quat_matrix(shape->part_shape.rot);
    properties->center = shape->part_shape.r;
    properties->inertia =
        mat3_product(mat3_product(turn, properties->inertia), mat3_transpose(turn));
    return true;
}

// Sum over the shapes of a part.
static bool shapes_mass(ModelContext* context, const char* path, LashModelPart* part,
                        MassProperties* sum) {
    *sum = (MassProperties){0};
    Vec3 moment = vec3_zero();
    Mat3 about_origin = mat3_zero();
    for (int i = 0; i < part->shapes; ++i) {
        MassProperties p = {0};
        char where[APP_JSON_PATH];
        snprintf(where, sizeof where, "%.120s.shape", path);
        if (part->shapes > 1) app_json_path_index(where, sizeof where, i);
        if (!shape_mass(context, where, &part->shape[i], &p)) return false;
        sum->mass += p.mass;
        moment = vec3_add_scaled(moment, p.mass, p.center);
        about_origin = mat3_add(about_origin, mat3_add(p.inertia, steiner(p.mass, p.center)));
        sum->extent = fmax(sum->extent, vec3_norm(p.center) + p.extent);
    }
    if (part->shapes > 0) sum->center = vec3_scale(1 / sum->mass, moment);
    sum->inertia = mat3_sub(about_origin, steiner(sum->mass, sum->center));
    return true;
}

// ---- mass of a part -----------------------------------------------------------------------------

// Distance of the farthest box corner of a CAD shape from the origin of its frame [m].
static double cad_extent(const LashShape* shape) {
    double extent = 0;
    for (int i = 0; i < shape->parts; ++i) {
        Vec3 a = shape->part[i].box.low, b = shape->part[i].box.high;
        if (shape->part[i].assembly) continue;
        extent = fmax(extent, vec3_norm(vec3(fmax(fabs(a.x), fabs(b.x)), fmax(fabs(a.y), fabs(b.y)),
                                             fmax(fabs(a.z), fabs(b.z)))));
    }
    return extent;
}

static bool geometry_mass(ModelContext* context, const char* path, LashModelPart* part,
                          MassProperties* properties) {
    if (part->step != NULL && part->shapes > 0) {
        return model_fail(context, path, "a part has a 'step' file or a 'shape', not both");
    }
    if (part->step == NULL && part->part_count > 0)
        return model_fail(context, path, "'part' names a part of a STEP file: give 'step', too");
    if (part->step == NULL) return shapes_mass(context, path, part, properties);
    *properties = (MassProperties){0};
    if (!model_load_cad(context, path, part, &properties->mass, &properties->center,
                        &properties->inertia))
        return false;
    properties->extent = cad_extent(part->cad);
    return true;
}

// No body has such a volume, center and inertia: the faces of the file do not enclose one.
static bool is_no_body(const LashModelPart* part, const MassProperties* properties) {
    Vec3 low = vec3(INFINITY, INFINITY, INFINITY), high = vec3_neg(low);
    for (int i = 0; i < part->cad->parts; ++i) {
        const LashShapePart* row = &part->cad->part[i];
        if (row->assembly || !(row->volume > 0)) continue;
        low = vec3(fmin(low.x, row->box.low.x), fmin(low.y, row->box.low.y),
                   fmin(low.z, row->box.low.z));
        high = vec3(fmax(high.x, row->box.high.x), fmax(high.y, row->box.high.y),
                    fmax(high.z, row->box.high.z));
    }
    bool outside = properties->center.x < low.x || properties->center.x > high.x ||
                   properties->center.y < low.y || properties->center.y > high.y ||
                   properties->center.z < low.z || properties->center.z > high.z;
    Vec3 size = vec3_sub(high, low), moment = lash_inertia_principal(properties->inertia);
    return outside || properties->mass > 1.001 * size.x * size.y * size.z || !(moment.x > 0) ||
           moment.z > 1.001 * (moment.x + moment.y);
}

// Density with a shape; or mass with a shape; or mass, center and inertia.
static bool part_mass(ModelContext* context, const char* path, LashModelPart* part) {
    MassProperties p;
    if (!geometry_mass(context, path, part, &p)) return false;
    bool has_shape = p.mass > 0, has_mass = model_has(part->mass);
    bool has_density = model_has(part->density), has_inertia = model_has(part->inertia.m[0]);
    part->extent = p.extent + vec3_norm(p.center);
    if (part->fixed) {
        part->mass = has_mass ? part->mass : 0;
        part->center = vec3_zero();
        return true;
    }
    if (has_density && (has_mass || has_inertia)) {
        return model_fail(context, path, "give 'density', or 'mass' and 'inertia', not both");
    }
    if (has_density && !has_shape) {
        return model_fail(context, path,
                          part->step != NULL
                              ? "the STEP file has no solid: give 'mass' and 'inertia'"
                              : "a 'density' needs a 'shape' or a 'step' file");
    }
    if (part->step != NULL && has_shape && !has_inertia && is_no_body(part, &p)) {
        return model_fail(context, path,
                          "the faces of '%.120s' do not enclose a body: volume %.4g m^3, center "
                          "[%.4g, %.4g, %.4g] m, inertia and size do not go together; repair the "
                          "file, or give 'mass', 'center' and 'inertia'",
                          part->step, p.mass, p.center.x, p.center.y, p.center.z);
    }
    if (!has_density && !has_mass) {
        return model_fail(
            context, path,
            "the mass is missing: give 'mass' and 'inertia', or 'density' and a shape, or "
            "\"fixed\": true");
    }
    if (has_mass && !has_inertia && !has_shape) {
        return model_fail(context, path, "the key 'inertia' is missing: give it, or a shape");
    }
    double density = has_density ? part->density : part->mass / (has_shape ? p.mass : 1);
    if (has_density) part->mass = density * p.mass;
    if (!has_inertia) part->inertia = mat3_scale(density, p.inertia);
    if (!model_has(part->center.x)) part->center = has_inertia ? vec3_zero() : p.center;
    if (has_mass && !has_inertia) part->density = density;
    return true;
}

static bool resolve_part(ModelContext* context, const char* path, LashModelPart* part) {
    if (!part_mass(context, path, part)) return false;
    if (!model_resolve_pose(context, path, &part->pose, &part->world_part)) return false;
    part->body_part = pose(vec3_neg(part->center), quat_identity());
    part->body = -1;
    if (part->fixed) {
        part->body_part = part->world_part;
        bool moves = vec3_norm(part->velocity) > 0 || vec3_norm(part->angular_velocity) > 0;
        return !moves || model_fail(context, path, "a fixed part can have no velocity");
    }
    LashBodyDef def = lash_body_def();
    def.mass = part->mass;
    def.inertia = part->inertia;
    LashError inner = {0};
    if (!lash_body_check(&def, "", &inner)) return model_fail(context, path, "%s", inner.message);
    part->body = context->model->bodies++;
    return true;
}

static bool check_name(ModelContext* context, const char* path, int index) {
    const LashModel* model = context->model;
    const char* name = model->part[index].name;
    if (name[0] == '\0') return model_fail(context, path, "a name may not be empty");
    if (strcmp(name, "ground") == 0) {
        return model_fail(context, path,
                          "'ground' is the name of what does not move; choose another");
    }
    int first = model_name_find(context->model, MODEL_PARTS, name);
    if (first == index) return true;
    return model_fail(context, path, "the name '%.60s' is taken by parts[%d]; names are unique",
                      name, first);
}

bool model_resolve_parts(ModelContext* context) {
    LashModel* model = context->model;
    for (int i = 0; i < model->parts; ++i) {
        char path[64];
        snprintf(path, sizeof path, "parts[%d].name", i);
        if (!check_name(context, path, i)) return false;
        snprintf(path, sizeof path, "parts[%d]", i);
        if (!resolve_part(context, path, &model->part[i])) return false;
    }
    if (model->bodies == 0) {
        return model_fail(context, model->parts == 0 ? "" : "parts",
                          "a model needs at least one part that moves");
    }
    return true;
}

bool model_find_part(ModelContext* context, const char* path, const char* name, int* part) {
    const LashModel* model = context->model;
    char hint[300];
    *part = -1;
    if (strcmp(name, "ground") == 0) return true;
    *part = model_name_find(context->model, MODEL_PARTS, name);
    if (*part >= 0) return true;
    AppSuggestion near = app_suggestion(name);
    app_suggestion_offer(&near, "ground");
    for (int i = 0; i < model->parts; ++i) app_suggestion_offer(&near, model->part[i].name);
    return model_fail(context, path,
                      "there is no part '%.60s'%s; expected the name of a part or 'ground'", name,
                      app_suggestion_names(&near, hint, sizeof hint));
}
