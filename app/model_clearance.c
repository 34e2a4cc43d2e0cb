// Joints with clearance: from the keys of the file to the surfaces of joints/clearance.c.
//
//   clearance         R - r, or per side; axial_clearance (default: clearance)
//   radius, length    of the pin and of the bore; pin_length when the pin ends within it
//   prismatic         length of the slider, which ends within its guide; guide_length when not
#include <math.h>
#include <stdio.h>

#include "app/model_internal.h"

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
        return model_fail(context, path,
                          "the key '%s' is missing: a %s joint with clearance needs it%s",
                          needs[i].key, lash_joint_type_name(type),
                          i == 0 && section ? ", or 'width' and 'height'" : "");
    }
    const Need wrong[] = {
        {"width", model_has(joint->width), section},
        {"height", model_has(joint->height), section},
        {"radius", model_has(joint->radius), round || !section},
        {"length", model_has(joint->length), turns || prismatic},
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
    play->width = or_else(joint->width, 0), play->height = or_else(joint->height, 0);
    play->bore_length = or_else(prismatic ? joint->guide_length : joint->length, INFINITY);
    play->pin_length = or_else(prismatic ? joint->length : joint->pin_length, INFINITY);
    play->outer_b = joint->bore_in == 1;
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
