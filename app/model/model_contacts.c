// Contacts: key tables, and their surfaces as pairs of the mechanism's features.
//
// A side names a part and one feature in the part's own (CAD) coordinates. The mechanism knows the
// pairs carrier (plane, cylinder, sphere; its side a) against tip (sphere, edge circle of a disc;
// its side b). Either side of the file may be the carrier; features become:
//
//   point, points    spheres of radius 0
//   sphere           a tip, or the carrier when hollow ("inside") or against points
//   box              its corners: points
//   plane            a carrier
//   cylinder         a carrier of endless length; lying on a plane: its two edge circles
//   circle           planar: an endless cylinder as the carrier, on a plane an edge circle, in a
//                    ring a sphere of its radius, as only the distance across the ring's axis
//                    counts
//
// A contact with several points becomes as many contacts of the mechanism: name.1, name.2, ...
//
// CAD surfaces (faces of a STEP part, or an extra STEP file) meet CAD surfaces, through the pair
// manager: one contact of the mechanism, whose points come and go.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/suggest.h"
#include "app/model/json_scan.h"
#include "app/model/model_internal.h"
#include "core/math3.h"

#define FEATURE(name, member) .key = name, .offset = offsetof(LashModelFeature, member)
#define FEATURE_CENTER(text) \
    { FEATURE("center", center), .type = KEY_VECTOR, .unit = UNIT_LENGTH, .help = text }
#define FEATURE_RADIUS                                                        \
    {                                                                         \
        FEATURE("radius", radius), .type = KEY_NUMBER, .unit = UNIT_LENGTH,   \
                                   .range = RANGE_POSITIVE, .required = true, \
                                   .help = "radius of the surface"            \
    }
#define FEATURE_AXIS \
    { FEATURE("axis", axis), .type = KEY_VECTOR, .help = "direction of its axis, default z" }
#define FEATURE_INSIDE(text) \
    { FEATURE("inside", inside), .type = KEY_BOOL, .help = text }

static const KeySpec sphere_keys[] = {FEATURE_CENTER("default the part's origin"), FEATURE_RADIUS,
                                      FEATURE_INSIDE("true: a socket, the other side is within")};
static const KeySpec plane_keys[] = {
    {FEATURE("point", center), .type = KEY_VECTOR, .unit = UNIT_LENGTH, .required = true,
     .help = "a point of the plane"},
    {FEATURE("normal", axis), .type = KEY_VECTOR, .required = true,
     .help = "points out of the material, to the other side"}};
static const KeySpec cylinder_keys[] = {
    FEATURE_CENTER("middle of the axis, default the part's origin"),
    FEATURE_AXIS,
    FEATURE_RADIUS,
    {FEATURE("length", length), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_POSITIVE,
     .help = "of a cylinder that lies on a plane"},
    FEATURE_INSIDE("true: a bore, the other side is within")};
static const KeySpec circle_keys[] = {FEATURE_CENTER("default the part's origin"), FEATURE_AXIS,
                                      FEATURE_RADIUS,
                                      FEATURE_INSIDE("true: a ring, the other side is within")};
static const KeySpec box_keys[] = {
    {FEATURE("size", size), .type = KEY_VECTOR, .unit = UNIT_LENGTH, .range = RANGE_NOT_NEGATIVE,
     .help = "edges, default those of the part's box shape"},
    {FEATURE("pose", pose), .type = KEY_OBJECT, .table = &model_pose_table,
     .help = "of its center, where a size is given"},
    {FEATURE("corners", corner), .type = KEY_VECTORS,
     .count_offset = offsetof(LashModelFeature, corners),
     .help = "which ones, as lists of -1, 0 (middle of that edge) and 1; default all eight"}};

#define TABLE(text, list)                                              \
    {                                                                  \
        .what = text, .key = list, .keys = sizeof list / sizeof *list, \
        .size = sizeof(LashModelFeature)                               \
    }
static const KeyTable sphere_table = TABLE("a sphere", sphere_keys);
static const KeyTable plane_table = TABLE("a plane", plane_keys);
static const KeyTable cylinder_table = TABLE("a cylinder", cylinder_keys);
static const KeyTable circle_table = TABLE("a circle", circle_keys);
static const KeyTable box_table = TABLE("a box", box_keys);

#define SIDE(member) .key = #member, .offset = offsetof(LashModelSide, member)
static const KeySpec side_keys[] = {
    {SIDE(part), .type = KEY_TEXT, .required = true, .help = "name of a part, or \"ground\""},
    {SIDE(point), .type = KEY_VECTOR, .unit = UNIT_LENGTH, .help = "a point of the part"},
    {SIDE(points), .type = KEY_VECTORS, .unit = UNIT_LENGTH,
     .count_offset = offsetof(LashModelSide, point_count), .help = "several points of the part"},
    {SIDE(sphere), .type = KEY_OBJECT, .table = &sphere_table, .help = "a ball, or a socket"},
    {SIDE(plane), .type = KEY_OBJECT, .table = &plane_table, .help = "an endless plane"},
    {SIDE(cylinder), .type = KEY_OBJECT, .table = &cylinder_table, .help = "a shaft, or a bore"},
    {SIDE(circle), .type = KEY_OBJECT, .table = &circle_table,
     .help = "a planar disc, or a planar ring"},
    {SIDE(box), .type = KEY_OBJECT, .table = &box_table, .help = "corners of a box"},
    {SIDE(faces), .type = KEY_FACES, .count_offset = offsetof(LashModelSide, face_count),
     .help = "faces of the part's STEP file (or of 'step' beside it): index, name, query, a list "
             "of them, or \"all\"; the other side is CAD, too"},
    {SIDE(step), .type = KEY_TEXT,
     .help = "extra STEP file drawn in the part's coordinates: faces, a shell, edges"},
    {SIDE(flip), .type = KEY_YES_NO,
     .help = "of loose faces whose outside neither the part's solid nor the start tells: false as "
             "in the file, true turned"},
};
static const KeyTable side_table = {.what = "a side of a contact",
                                    .key = side_keys,
                                    .keys = sizeof side_keys / sizeof *side_keys,
                                    .size = sizeof(LashModelSide)};

#define CONTACT(member) .key = #member, .offset = offsetof(LashModelContact, member)
static const KeySpec contact_keys[] = {
    {CONTACT(name), .type = KEY_TEXT, .required = true,
     .help = "unique among the contacts and joints"},
    {CONTACT(a), .type = KEY_OBJECT, .table = &side_table, .help = "one side"},
    {CONTACT(b), .type = KEY_OBJECT, .table = &side_table, .help = "the other side"},
    {.key = "among",
     .offset = offsetof(LashModelContact, among.name),
     .type = KEY_TEXTS,
     .count_offset = offsetof(LashModelContact, among.count),
     .help =
         "a group, instead of a and b: parts by name or pattern (*, ?), each of which may touch "
         "each other one with all of its surface"},
    {CONTACT(between), .type = KEY_TEXT_LISTS,
     .help = "a group, instead of a and b: two lists of names or patterns; parts of one may touch "
             "parts of the other"},
    {CONTACT(restitution), .type = KEY_NUMBER, .range = RANGE_FRACTION,
     .help = "Newton's coefficient, default that of the parts' materials, or 0"},
    {CONTACT(friction), .type = KEY_NUMBER, .range = RANGE_NOT_NEGATIVE,
     .help = "Coulomb's coefficient, default that of the parts' materials, or 0"},
    {CONTACT(offset), .type = KEY_NUMBER, .unit = UNIT_LENGTH,
     .help = "of CAD surfaces: added to every gap, > 0 more play, < 0 less; default 0"},
    {CONTACT(off), .type = KEY_BOOL, .help = "true: left out, as lash draft writes its candidates"},
    {CONTACT(draft), .type = KEY_OBJECT, .table = &model_draft_table,
     .help = "why lash draft put this contact here; not used"},
};
static void contact_defaults(void* target);
const KeyTable model_contact_table = {.what = "a contact",
                                      .key = contact_keys,
                                      .keys = sizeof contact_keys / sizeof *contact_keys,
                                      .size = sizeof(LashModelContact),
                                      .defaults = contact_defaults};

static void feature_defaults(LashModelFeature* feature) {
    feature->axis = vec3(0, 0, 1);
    feature->size.x = feature->length = NAN;
    feature->pose.quaternion.w = feature->pose.axis.x = feature->pose.angle = NAN;
}

static void side_defaults(LashModelSide* side) {
    side->point.x = NAN;
    feature_defaults(&side->sphere);
    feature_defaults(&side->plane);
    feature_defaults(&side->cylinder);
    feature_defaults(&side->circle);
    feature_defaults(&side->box);
}

static void contact_defaults(void* target) {
    LashModelContact* contact = target;
    side_defaults(&contact->a);
    side_defaults(&contact->b);
    contact->offset = NAN;
    contact->restitution = NAN;
    contact->friction = NAN;
}

// ---- one side -----------------------------------------------------------------------------------

typedef enum SurfaceType { POINTS, SPHERE, PLANE, CYLINDER, CIRCLE, CAD } SurfaceType;
static const char* const surface_names[] = {"points",     "a sphere", "a plane",
                                            "a cylinder", "a circle", "CAD surfaces"};

typedef struct Surface { // a side with its feature made out
    SurfaceType type;
    char path[APP_JSON_PATH];
    int part; // -1: ground
    Pose frame;
    double radius, length;
    bool inside;
    const Vec3* point; // (points) of POINTS
    int points;
    LashPairSide cad;
} Surface;

// The part's own box shape, when it has exactly one.
static bool own_box(ModelContext* context, const Surface* surface, Vec3* size, Pose* pose) {
    const LashModelPart* part = surface->part < 0 ? NULL : &context->model->part[surface->part];
    const LashModelShape* box = NULL;
    int boxes = 0;
    for (int i = 0; part != NULL && i < part->shapes; ++i) {
        if (part->shape[i].type == LASH_MODEL_BOX) {
            box = &part->shape[i];
            ++boxes;
        }
    }
    if (boxes != 1) {
        return model_fail(context, surface->path,
                          "the key 'size' is missing: '%.60s' has %d box shapes to take it from",
                          part == NULL ? "ground" : part->name, boxes);
    }
    *size = box->size;
    *pose = box->part_shape;
    return true;
}

static bool is_sign(double x) {
    return x == -1 || x == 0 || x == 1;
}

// Corners as points in the part's coordinates.
static bool box_points(ModelContext* context, const LashModelFeature* box, Surface* surface) {
    Vec3 size = box->size;
    Pose pose;
    if (!model_has(size.x)) {
        if (box->pose.given) {
            return model_fail(context, surface->path, "a 'pose' belongs to a box with a 'size'");
        }
        if (!own_box(context, surface, &size, &pose)) return false;
    } else if (!model_resolve_pose(context, surface->path, &box->pose, &pose)) {
        return false;
    }
    surface->points = box->corner != NULL ? box->corners : 8;
    Vec3* point = model_alloc(context->model, (size_t)surface->points * sizeof *point);
    for (int i = 0; i < surface->points; ++i) {
        Vec3 sign = vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
        if (box->corner != NULL) sign = box->corner[i];
        if (!is_sign(sign.x) || !is_sign(sign.y) || !is_sign(sign.z)) {
            char path[APP_JSON_PATH + 32];
            snprintf(path, sizeof path, "%s.corners[%d]", surface->path, i);
            return model_fail(context, path, "expected -1, 0 or 1 each, found [%g, %g, %g]", sign.x,
                              sign.y, sign.z);
        }
        Vec3 half = vec3(0.5 * sign.x * size.x, 0.5 * sign.y * size.y, 0.5 * sign.z * size.z);
        point[i] = pose_point(pose, half);
    }
    surface->point = point;
    return true;
}

static bool surface_frame(ModelContext* context, const LashModelFeature* feature, const char* key,
                          Surface* surface) {
    surface->radius = feature->radius;
    surface->length = feature->length;
    surface->inside = feature->inside;
    if (!(vec3_norm(feature->axis) > 0)) {
        app_json_path_key(surface->path, sizeof surface->path, key);
        return model_fail(
            context, surface->path,
            "expected a direction that is not zero, found 0, 0, 0; such as [0, 0, 1]");
    }
    Vec3 axis = vec3_normalize(feature->axis);
    surface->frame = pose(feature->center, quat_between(vec3(0, 0, 1), axis));
    return true;
}

// CAD geometry: of the extra file, or of the part; all of it, or the faces named.
static bool cad_side(ModelContext* context, LashModelSide* side, Surface* surface) {
    const LashModelPart* part = surface->part < 0 ? NULL : &context->model->part[surface->part];
    char path[APP_JSON_PATH];
    surface->type = CAD;
    surface->cad = lash_pair_def().a;
    snprintf(path, sizeof path, "%s", surface->path);
    if (side->step != NULL) {
        app_json_path_key(path, sizeof path, "step");
        side->extra = model_load_step(context, path, side->step, part != NULL ? part->scale : NAN);
        if (side->extra == NULL) return false;
        if (side->extra->faces + side->extra->edges == 0)
            return model_fail(context, path, "'%.80s' has no faces and no edges", side->step);
    } else if (part == NULL || part->cad == NULL) {
        app_json_path_key(path, sizeof path, "faces");
        return model_fail(context, path,
                          "'%.60s' has no STEP file to take faces of; give the part a 'step', or "
                          "this side",
                          part == NULL ? "ground" : part->name);
    }
    surface->cad.shape = side->step != NULL ? side->extra : part->cad;
    char file[1024];
    model_cad_path(context->model, side->step != NULL ? side->step : part->step, file, sizeof file);
    surface->cad.path = model_strdup(context->model, file);
    if (part != NULL && model_has(part->scale)) surface->cad.import.scale = part->scale;
    if (side->faces == NULL) return true;
    snprintf(path, sizeof path, "%s", surface->path);
    app_json_path_key(path, sizeof path, "faces");
    int *rows, count;
    if (!model_select_faces(context, path, surface->cad.shape, side->faces, side->face_count, &rows,
                            &count))
        return false;
    surface->cad.faces = rows;
    surface->cad.face_count = count;
    return true;
}

// Finds the part and the one feature that the side gives.
static bool read_side(ModelContext* context, const char* path, LashModelSide* side,
                      Surface* surface) {
    char key[APP_JSON_PATH];
    *surface = (Surface){.radius = 0, .length = NAN};
    snprintf(key, sizeof key, "%s.part", path);
    snprintf(surface->path, sizeof surface->path, "%s", path);
    if (!model_find_part(context, key, side->part, &surface->part)) return false;
    bool point = model_has(side->point.x), points = side->points != NULL;
    bool cad = side->faces != NULL || side->step != NULL;
    int given = point + points + side->sphere.given + side->plane.given + side->cylinder.given +
                side->circle.given + side->box.given + cad;
    if (given != 1) {
        return model_fail(context, path,
                          "expected one of point, points, sphere, plane, cylinder, circle, box, "
                          "faces, step beside 'part'; found %s",
                          given == 0 ? "none" : "several");
    }
    if (cad) return cad_side(context, side, surface);
    const struct {
        const LashModelFeature* feature;
        SurfaceType type;
    } simple[] = {{&side->sphere, SPHERE},
                  {&side->plane, PLANE},
                  {&side->cylinder, CYLINDER},
                  {&side->circle, CIRCLE}};
    const LashModelFeature* feature = NULL;
    surface->type = POINTS;
    for (int k = 0; k < 4 && feature == NULL; ++k) {
        if (!simple[k].feature->given) continue;
        feature = simple[k].feature;
        surface->type = simple[k].type;
    }
    if (point) {
        surface->point = &side->point;
        surface->points = 1;
    }
    if (points) {
        surface->point = side->points;
        surface->points = side->point_count;
    }
    if (point || points) return true;
    if (side->box.given) {
        app_json_path_key(surface->path, sizeof surface->path, "box");
        return box_points(context, &side->box, surface);
    }
    static const char* const keys[] = {"", "sphere", "plane", "cylinder", "circle"};
    app_json_path_key(surface->path, sizeof surface->path, keys[surface->type]);
    return surface_frame(context, feature, surface->type == PLANE ? "normal" : "axis", surface);
}

// ---- pairs --------------------------------------------------------------------------------------

// Whether the pair can be carrier a against tip b.
static bool can_carry(const Surface* a, const Surface* b) {
    bool tip = b->type == POINTS || ((b->type == SPHERE || b->type == CIRCLE) && !b->inside);
    switch (a->type) {
        case PLANE:
            return tip || (b->type == CYLINDER && !b->inside);
        case CYLINDER:
            return tip;
        case CIRCLE:
            return tip;
        case SPHERE:
            return b->type == POINTS || (b->type == SPHERE && !b->inside);
        case POINTS:
        case CAD:
            break;
    }
    return false;
}

static bool fits_inside(ModelContext* context, const Surface* a, const Surface* b) {
    if (!a->inside || b->type == POINTS || a->radius >= b->radius) return true;
    return model_fail(context, a->path,
                      "%s of radius %g m cannot hold %s of radius %g m; the larger one has "
                      "\"inside\": true",
                      surface_names[a->type], a->radius, surface_names[b->type], b->radius);
}

// Tips of a pair: how many, and number i of them.
static int tip_count(const Surface* a, const Surface* b) {
    if (b->type == POINTS) return b->points;
    return a->type == PLANE && b->type == CYLINDER ? 2 : 1;
}

static void put_tip(const Surface* a, const Surface* b, int i, LashContactDef* def) {
    def->b_type = LASH_FEATURE_SPHERE;
    def->b_frame = b->frame;
    def->b_radius = b->radius;
    if (b->type == POINTS) def->b_frame = pose(b->point[i], quat_identity());
    if (a->type != PLANE || (b->type != CYLINDER && b->type != CIRCLE)) return;
    def->b_type = LASH_FEATURE_DISC;
    if (b->type == CYLINDER) {
        Vec3 end = vec3(0, 0, (i == 0 ? -0.5 : 0.5) * b->length);
        def->b_frame.r = pose_point(b->frame, end);
    }
}

static bool check_point_name(ModelContext* context, const char* path, const char* name) {
    const LashModel* model = context->model;
    int point = model_name_find(context->model, MODEL_POINTS, name);
    if (point >= 0 && model->contact_point[point].contact < 0)
        return model_fail(context, path, "the name '%.60s' is taken by a joint with clearance",
                          name);
    if (point >= 0)
        return model_fail(context, path,
                          "the name '%.60s' is taken by contacts[%d]; names are unique", name,
                          model->contact_point[point].contact);
    int joint = model_name_find(context->model, MODEL_JOINTS, name);
    if (joint < 0) return true;
    return model_fail(context, path,
                      "the name '%.60s' is taken by joints[%d]; contacts and joints have "
                      "different names",
                      name, joint);
}

// Room for `count` more points; doubles, so that many contacts cost little.
static LashModelContactPoint* reserve_points(LashModel* model, int count) {
    int needed = model->contact_points + count;
    if (needed > model->contact_point_capacity) {
        int capacity =
            needed > 2 * model->contact_point_capacity ? needed : 2 * model->contact_point_capacity;
        LashModelContactPoint* all = model_alloc(model, (size_t)capacity * sizeof *all);
        for (int i = 0; i < model->contact_points; ++i) all[i] = model->contact_point[i];
        model->contact_point = all;
        model->contact_point_capacity = capacity;
    }
    return model->contact_point;
}

// Appends the mechanism's contacts of carrier a against b.
static bool add_points(ModelContext* context, int index, const Surface* a, const Surface* b) {
    static const LashFeatureType types[] = {[SPHERE] = LASH_FEATURE_SPHERE,
                                            [PLANE] = LASH_FEATURE_PLANE,
                                            [CYLINDER] = LASH_FEATURE_CYLINDER,
                                            [CIRCLE] = LASH_FEATURE_CYLINDER};
    LashModel* model = context->model;
    LashModelContact* contact = &model->contact[index];
    int count = tip_count(a, b), before = model->contact_points;
    char path[64], name[160];
    snprintf(path, sizeof path, "contacts[%d].name", index);
    LashModelContactPoint* all = reserve_points(model, count);
    contact->first = before;
    contact->count = count;
    if (count > 1 && !check_point_name(context, path, contact->name)) return false;
    for (int i = 0; i < count; ++i) {
        LashModelContactPoint* point = &all[before + i];
        snprintf(name, sizeof name, count == 1 ? "%.120s" : "%.120s.%d", contact->name, i + 1);
        if (!check_point_name(context, path, name)) return false;
        *point = (LashModelContactPoint){.name = model_strdup(model, name),
                                         .contact = index,
                                         .part_a = a->part,
                                         .part_b = b->part,
                                         .def = lash_contact_def()};
        LashContactDef* def = &point->def;
        def->a_type = types[a->type];
        def->a_frame = a->frame;
        def->a_radius = a->radius;
        def->inside = a->inside;
        def->e = contact->restitution;
        def->mu = contact->friction;
        put_tip(a, b, i, def);
        ++model->contact_points;
    }
    return true;
}

// One contact of the mechanism between CAD surfaces.
static bool add_surfaces(ModelContext* context, int index, const Surface* a, const Surface* b) {
    LashModel* model = context->model;
    LashModelContact* contact = &model->contact[index];
    char path[64];
    snprintf(path, sizeof path, "contacts[%d]", index);
    if (a->type != b->type) {
        const Surface* other = a->type == CAD ? b : a;
        return model_fail(context, path,
                          "CAD surfaces ('faces', 'step') meet CAD surfaces only, found %s on the "
                          "other side",
                          surface_names[other->type]);
    }
    snprintf(path, sizeof path, "contacts[%d].name", index);
    if (!check_point_name(context, path, contact->name)) return false;
    LashModelContactPoint* point = &reserve_points(model, 1)[model->contact_points];
    *point = (LashModelContactPoint){.name = model_strdup(model, contact->name),
                                     .contact = index,
                                     .part_a = a->part,
                                     .part_b = b->part,
                                     .def = lash_contact_def(),
                                     .surfaces = true,
                                     .side_a = a->cad,
                                     .side_b = b->cad,
                                     .offset = model_has(contact->offset) ? contact->offset : 0};
    point->def.e = contact->restitution;
    point->def.mu = contact->friction;
    contact->first = model->contact_points++;
    contact->count = 1;
    return true;
}

static bool moves(const LashModel* model, int part) {
    return part >= 0 && model->part[part].body >= 0;
}

static bool resolve_sides(ModelContext* context, int index) {
    const LashModel* model = context->model;
    LashModelContact* contact = &model->contact[index];
    char path[64], key[80];
    Surface a, b;
    snprintf(path, sizeof path, "contacts[%d]", index);
    for (int k = 0; k < 2; ++k) {
        bool given = k == 0 ? contact->a.given : contact->b.given;
        if (given) continue;
        return model_fail(context, path,
                          "the key '%s' is missing: %s; or name a group of parts with 'among' or "
                          "'between'",
                          k == 0 ? "a" : "b", k == 0 ? "one side" : "the other side");
    }
    snprintf(key, sizeof key, "%s.a", path);
    if (!read_side(context, key, &contact->a, &a)) return false;
    snprintf(key, sizeof key, "%s.b", path);
    if (!read_side(context, key, &contact->b, &b)) return false;
    if (a.part == b.part || (!moves(model, a.part) && !moves(model, b.part))) {
        return model_fail(context, path,
                          "a contact is between two different parts, one of which moves; found "
                          "'%.60s' and '%.60s'",
                          contact->a.part, contact->b.part);
    }
    if (!model_contact_law(context, index, a.part, b.part)) return false;
    if (a.type == CAD || b.type == CAD) return add_surfaces(context, index, &a, &b);
    if (model_has(contact->offset)) {
        snprintf(key, sizeof key, "%s.offset", path);
        return model_fail(context, key,
                          "an offset belongs to contacts of CAD surfaces ('faces', 'step')");
    }
    // Among equals the hollow or larger one carries.
    bool swap = !can_carry(&a, &b) ||
                (can_carry(&b, &a) && (b.inside || (!a.inside && b.radius > a.radius)));
    const Surface *carrier = swap ? &b : &a, *tip = swap ? &a : &b;
    if (!can_carry(carrier, tip)) {
        return model_fail(context, path,
                          "%s%s against %s%s is no contact Lash knows; a plane, cylinder, circle "
                          "or sphere meets points, a box, a sphere or a circle, a plane also a "
                          "cylinder",
                          surface_names[a.type], a.inside ? " (inside)" : "", surface_names[b.type],
                          b.inside ? " (inside)" : "");
    }
    if (tip->type == CYLINDER && !model_has(tip->length)) {
        return model_fail(context, tip->path,
                          "the key 'length' is missing: a cylinder lies on a plane with the "
                          "circles at its ends");
    }
    return fits_inside(context, carrier, tip) && add_points(context, index, carrier, tip);
}

// One contact of the mechanism, between all parts of the group that come near each other.
static bool resolve_group(ModelContext* context, int index) {
    LashModel* model = context->model;
    LashModelContact* contact = &model->contact[index];
    LashModelContactPoint point = {.name = contact->name,
                                   .contact = index,
                                   .part_a = -1,
                                   .part_b = -1,
                                   .def = lash_contact_def()};
    char path[64];
    snprintf(path, sizeof path, "contacts[%d].name", index);
    if (!model_resolve_group(context, index, &point.group)) return false;
    contact->first = model->contact_points;
    contact->count = 1;
    return model_add_contact_point(context, path, &point);
}

static bool resolve_contact(ModelContext* context, int index) {
    const LashModel* model = context->model;
    LashModelContact* contact = &model->contact[index];
    char path[64], key[80];
    snprintf(path, sizeof path, "contacts[%d]", index);
    if (contact->name[0] == '\0') {
        snprintf(key, sizeof key, "%s.name", path);
        return model_fail(context, key, "a name may not be empty");
    }
    int first = model_name_find(context->model, MODEL_CONTACTS, contact->name);
    if (first != index) {
        snprintf(key, sizeof key, "%s.name", path);
        return model_fail(context, key,
                          "the name '%.60s' is taken by contacts[%d]; names are unique",
                          contact->name, first);
    }
    return model_is_group(contact) ? resolve_group(context, index) : resolve_sides(context, index);
}

bool model_resolve_contacts(ModelContext* context) {
    if (!model_check_materials(context)) return false;
    for (int i = 0; i < context->model->contacts; ++i) {
        if (context->model->contact[i].off) continue;
        if (!resolve_contact(context, i)) return false;
    }
    return model_find_outsides(context) && model_list_joint_contacts(context);
}
bool model_add_contact_point(ModelContext* context, const char* path,
                             const LashModelContactPoint* point) {
    if (!check_point_name(context, path, point->name)) return false;
    reserve_points(context->model, 1)[context->model->contact_points] = *point;
    ++context->model->contact_points;
    return true;
}

bool model_find_contact(ModelContext* context, const char* path, const char* name, int* first,
                        int* count) {
    const LashModel* model = context->model;
    char hint[300];
    int contact = model_name_find(context->model, MODEL_CONTACTS, name);
    if (contact >= 0) {
        *first = model->contact[contact].first;
        *count = model->contact[contact].count;
        return true;
    }
    // All contacts of a joint with clearance, also when it is 0 now: a study may end there.
    int joint = model_name_find(context->model, MODEL_JOINTS, name);
    if (joint >= 0 && model_has(model->joint[joint].clearance)) {
        *first = model->joint[joint].first_contact;
        *count = model->joint[joint].contacts;
        return true;
    }
    int point = model_name_find(context->model, MODEL_POINTS, name);
    if (point >= 0) {
        *first = point;
        *count = 1;
        return true;
    }
    AppSuggestion near = app_suggestion(name);
    for (int i = 0; i < model->contacts; ++i) app_suggestion_offer(&near, model->contact[i].name);
    for (int i = 0; i < model->contact_points; ++i)
        app_suggestion_offer(&near, model->contact_point[i].name);
    return model_fail(context, path, "there is no contact '%.60s'%s", name,
                      app_suggestion_names(&near, hint, sizeof hint));
}
