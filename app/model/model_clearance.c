// Joints with clearance: from the keys of the file to the surfaces of joints/contact/clearance.c.
//
//   clearance         R - r, or per side; axial_clearance (default: clearance)
//   radius, length    of the pin and of the bore; pin_length when the pin ends within it
//   prismatic         length of the slider, which ends within its guide; guide_length when not
//   bore, pin         CAD faces (cylinders on one axis, or spheres about one center) that give the
//                     joint frames, radii and lengths; the measured play counts unless `clearance`
//                     is given, which moves the bore's wall and leaves the pin
#include <math.h>
#include <stdio.h>

#include "app/model/model_internal.h"
#include "core/math3.h"
#include "geometry/select.h"

// Keys that a joint with play needs; the types that do.
typedef struct Need {
    const char* key;
    bool given, needed;
} Need;

static bool check_needs(ModelContext* context, const char* path, const LashModelJoint* joint) {
    LashJointType type = (LashJointType)joint->type;
    bool prismatic = type == LASH_PRISMATIC, planar = type == LASH_PLANAR;
    bool turns = type == LASH_REVOLUTE || type == LASH_CYLINDRICAL;
    bool round = !model_has(joint->width) && !model_has(joint->height);
    bool section = prismatic || planar;
    const Need needs[] = {
        {"radius", model_has(joint->radius), round || !section},
        {"width", model_has(joint->width), section && !round},
        {"height", model_has(joint->height), section && !round},
        {"length", model_has(joint->length),
         turns ? !model_has(joint->pin_length) : prismatic && !model_has(joint->guide_length)},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; ++i) {
        if (!needs[i].needed || needs[i].given) continue;
        return model_fail(
            context, path,
            "the key '%s' is missing: a %s joint with clearance needs it%s; faces of CAD "
            "parts ('pin', 'bore') would give it",
            needs[i].key, lash_joint_type_name(type),
            i == 0 && section ? ", or 'width' and 'height'" : ", of the pin");
    }
    const Need wrong[] = {
        {"width", model_has(joint->width), section},
        {"height", model_has(joint->height), section},
        {"radius", model_has(joint->radius), round || !section},
        {"length", model_has(joint->length) && joint->bore == NULL, turns || prismatic},
        {"pin_length", model_has(joint->pin_length), turns},
        {"guide_length", model_has(joint->guide_length), prismatic},
        {"axial_clearance", model_has(joint->axial_clearance), type == LASH_REVOLUTE},
        {"collar_radius", model_has(joint->collar_radius), type == LASH_REVOLUTE},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        if (!wrong[i].given || wrong[i].needed) continue;
        char key[96];
        snprintf(key, sizeof key, "%s.%s", path, wrong[i].key);
        return model_fail(context, key, "a %s joint with clearance has no '%s'%s",
                          lash_joint_type_name(type), wrong[i].key,
                          i == 2 ? " beside 'width' and 'height'" : "");
    }
    return true;
}

static double or_else(double given, double otherwise) {
    return model_has(given) ? given : otherwise;
}

// ---- CAD faces ----------------------------------------------------------------------------------

typedef struct Surface { // faces of one radius about one axis or center, part's coordinates
    bool given;
    Vec3 point, axis; // middle of the faces on the axis
    double radius, length;
} Surface;

static bool measure_faces(ModelContext* context, const char* path, int part, bool sphere,
                          const LashModelFace* faces, int count, Surface* surface) {
    const LashShape* shape = part < 0 ? NULL : context->model->part[part].cad;
    if (shape == NULL) {
        return model_fail(context, path, "'%.60s' has no CAD faces; give 'radius' and 'length'",
                          part < 0 ? "ground" : context->model->part[part].name);
    }
    int *row, rows;
    if (!model_select_faces(context, path, shape, faces, count, &row, &rows)) return false;
    const LashFace* first = &shape->face[row[0]];
    double low = INFINITY, high = -INFINITY, tolerance = 1e-6 * first->radius;
    for (int i = 0; i < rows; ++i) {
        const LashFace* face = &shape->face[row[i]];
        if (face->type != (sphere ? LASH_SPHERE : LASH_CYLINDER)) {
            return model_fail(context, path, "face %d is a %s; expected a %s", face->index,
                              lash_surface_type_name(face->type), sphere ? "sphere" : "cylinder");
        }
        Vec3 d = vec3_sub(face->origin, first->origin);
        double along = sphere ? 0 : vec3_dot(d, first->z);
        bool same = fabs(face->radius - first->radius) <= tolerance &&
                    vec3_norm(vec3_add_scaled(d, -along, first->z)) <= tolerance &&
                    (sphere || fabs(vec3_dot(face->z, first->z)) > 1 - 1e-9);
        if (!same) {
            return model_fail(context, path,
                              "faces %d and %d do not belong to one surface: radii %g and %g m",
                              first->index, face->index, first->radius, face->radius);
        }
        double sense = vec3_dot(face->z, first->z) < 0 ? -1 : 1;
        double a = along + sense * face->v0, b = along + sense * face->v1;
        low = fmin(low, fmin(a, b));
        high = fmax(high, fmax(a, b));
    }
    *surface = (Surface){true, first->origin, first->z, first->radius, high - low};
    if (!sphere) surface->point = vec3_add_scaled(first->origin, 0.5 * (low + high), first->z);
    return true;
}

static Pose frame_of(const LashModel* model, int part) {
    return part < 0 ? pose_identity() : model->part[part].world_part;
}

static void put_axis(const Surface* surface, Vec3 point, bool on_a, LashModelJoint* joint) {
    Vec3* own_point = on_a ? &joint->a_point : &joint->b_point;
    Vec3* own_axis = on_a ? &joint->a_axis : &joint->b_axis;
    if (!model_has(own_point->x)) *own_point = point;
    if (!model_has(own_axis->x)) *own_axis = surface->axis;
}

// The pin's axis has the sense of the bore's, and its joint point lies across from the bore's
// middle.
static double align_pin(const LashModel* model, const Surface* bore, int outer, int inner,
                        Surface* pin) {
    Pose out = frame_of(model, outer), in = frame_of(model, inner);
    Vec3 axis = quat_rotate(out.rot, bore->axis), z = quat_rotate(in.rot, pin->axis);
    if (vec3_dot(axis, z) < 0) {
        pin->axis = vec3_neg(pin->axis);
        z = vec3_neg(z);
    }
    Vec3 middle = pose_point(out, bore->point), own = pose_point(in, pin->point);
    double offset = vec3_dot(vec3_sub(own, middle), z);
    pin->point = vec3_add_scaled(pin->point, -offset, pin->axis);
    return offset;
}

bool model_measure_joint(ModelContext* context, const char* path, LashModelJoint* joint) {
    const LashModel* model = context->model;
    bool sphere = joint->type == LASH_SPHERICAL, outer_b = joint->bore_in == 1;
    bool turns = joint->type == LASH_REVOLUTE || joint->type == LASH_CYLINDRICAL;
    int outer = outer_b ? joint->part_b : joint->part_a;
    int inner = outer_b ? joint->part_a : joint->part_b;
    char key[96];
    Surface bore = {0}, pin = {0};
    if (joint->bore == NULL && joint->pin == NULL) return true;
    snprintf(key, sizeof key, "%s.%s", path, joint->bore != NULL ? "bore" : "pin");
    if (!turns && !sphere) {
        return model_fail(context, key,
                          "CAD faces belong to revolute, cylindrical and spherical joints");
    }
    if (joint->bore != NULL &&
        !measure_faces(context, key, outer, sphere, joint->bore, joint->bore_faces, &bore))
        return false;
    snprintf(key, sizeof key, "%s.pin", path);
    if (joint->pin != NULL &&
        !measure_faces(context, key, inner, sphere, joint->pin, joint->pin_faces, &pin))
        return false;
    if (bore.given && pin.given && !sphere)
        joint->pin_offset = align_pin(model, &bore, outer, inner, &pin);
    if (bore.given) put_axis(&bore, bore.point, !outer_b, joint);
    if (pin.given) put_axis(&pin, pin.point, outer_b, joint);
    if (bore.given && !model_has(joint->length)) joint->length = bore.length;
    if (pin.given && !sphere && !model_has(joint->pin_length)) joint->pin_length = pin.length;
    if (bore.given && pin.given) joint->measured = bore.radius - pin.radius;
    if (!model_has(joint->radius))
        joint->radius = pin.given ? pin.radius : bore.radius - joint->clearance;
    if (model_has(joint->clearance)) return true;
    if (!model_has(joint->measured)) {
        return model_fail(context, path, "the play follows from 'bore' and 'pin', or 'clearance'");
    }
    if (joint->measured < 0) {
        return model_fail(context, path,
                          "the pin of radius %.9g m is thicker than its bore of %.9g m: give a "
                          "'clearance'",
                          pin.radius, bore.radius);
    }
    joint->clearance = joint->measured;
    return true;
}

// ---- resolution ---------------------------------------------------------------------------------

bool model_resolve_clearance(ModelContext* context, const char* path, LashModelJoint* joint) {
    bool prismatic = joint->type == LASH_PRISMATIC;
    joint->play = lash_joint_def().clearance;
    if (!(joint->clearance > 0)) {
        if (!model_has(joint->eccentricity.x) || model_has(joint->clearance)) return true;
        return model_fail(context, path, "an 'eccentricity' belongs to a joint with 'clearance'");
    }
    if (!check_needs(context, path, joint)) return false;
    LashClearanceDef* play = &joint->play;
    play->play = joint->clearance;
    play->e = or_else(joint->restitution, 0);
    play->mu = or_else(joint->friction, 0);
    play->radius = or_else(joint->radius, 0);
    play->width = or_else(joint->width, 0);
    play->height = or_else(joint->height, 0);
    play->bore_length = or_else(prismatic ? joint->guide_length : joint->length, INFINITY);
    play->pin_length = or_else(prismatic ? joint->length : joint->pin_length, INFINITY);
    play->outer_b = joint->bore_in == 1;
    play->pin_offset = joint->pin_offset;
    if (joint->type == LASH_REVOLUTE) {
        play->axial = or_else(joint->axial_clearance, play->play);
        play->collar_radius = or_else(joint->collar_radius, 1.5 * play->radius);
    }
    return true;
}

bool model_list_joint_contacts(ModelContext* context) {
    LashModel* model = context->model;
    for (int i = 0; i < model->joints; ++i) {
        LashModelJoint* joint = &model->joint[i];
        joint->contacts = lash_clearance_contact_count((LashJointType)joint->type, &joint->play);
        joint->first_contact = model->contact_points;
        for (int k = 0; k < joint->contacts; ++k) {
            char path[64], name[160];
            snprintf(path, sizeof path, "joints[%d].name", i);
            snprintf(name, sizeof name, "%.140s.%d", joint->name, k + 1);
            LashModelContactPoint point = {.name = model_strdup(model, name),
                                           .contact = -1,
                                           .part_a = joint->part_a,
                                           .part_b = joint->part_b,
                                           .def = lash_contact_def()};
            if (!model_add_contact_point(context, path, &point)) return false;
        }
    }
    return true;
}
