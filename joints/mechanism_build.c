// A mechanism while it is built: bodies, joints, forces and contacts are added, and asked for by number.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/arena.h"
#include "joints/bushing.h"
#include "joints/mechanism.h"
#include "joints/mechanism_internal.h"

LashContactDef lash_contact_def(void) {
    return (LashContactDef){.b_type = LASH_FEATURE_SPHERE,
                            .a_frame = pose_identity(),
                            .b_frame = pose_identity(),
                            .a_low = -INFINITY,
                            .a_high = INFINITY};
}

LashJointDef lash_joint_def(void) {
    LashJointDef def = {.type = LASH_FIXED, .a_joint = pose_identity(), .b_joint = pose_identity()};
    def.clearance.bore_length = def.clearance.pin_length = INFINITY;
    for (int c = 0; c < LASH_MAX_COORDINATES; ++c) {
        def.coordinate[c] =
            (LashCoordinateDef){.motion = {.in = {1, 1, 1}}, .lower = -INFINITY, .upper = INFINITY};
    }
    return def;
}

LashForceDef lash_force_def(void) {
    LashForceDef def = {0};
    for (int i = 0; i < 3; ++i) def.component[i] = (LashFunction){.in = {1, 1, 1}};
    return def;
}

LashMechanism* lash_mechanism_create(void) {
    LashMechanism* mech = lash_alloc(sizeof *mech);
    mech->bodies = 1;
    mech->body = lash_alloc(sizeof *mech->body);
    mech->body[0].def = lash_body_def();
    mech->body[0].def.name = lash_strdup("ground");
    return mech;
}

int lash_mechanism_add_input(LashMechanism* mech, const char* name, double value) {
    int n = mech->system.inputs;
    LASH_ASSERT(!mech->complete && name != NULL);
    mech->input_name = lash_realloc(mech->input_name, (size_t)(n + 1) * sizeof *mech->input_name);
    mech->input_value =
        lash_realloc(mech->input_value, (size_t)(n + 1) * sizeof *mech->input_value);
    mech->input_name[n] = lash_strdup(name);
    mech->input_value[n] = value;
    mech->system.inputs = n + 1;
    return n;
}

int lash_mechanism_find_input(const LashMechanism* mech, const char* name) {
    for (int i = 0; i < mech->system.inputs; ++i) {
        if (strcmp(mech->input_name[i], name) == 0) return i;
    }
    return -1;
}

int lash_mechanism_input_count(const LashMechanism* mech) {
    return mech->system.inputs;
}

const char* lash_mechanism_input_name(const LashMechanism* mech, int input) {
    LASH_ASSERT(input >= 0 && input < mech->system.inputs);
    return mech->input_name[input];
}

double lash_mechanism_input_value(const LashSystemWork* work, int input, double t) {
    double rate;
    return lash_input_at(&work->input[input], t, &rate);
}

void lash_mechanism_destroy(LashMechanism* mech) {
    if (mech == NULL) return;
    for (int i = 0; i < mech->bodies; ++i) lash_free((char*)mech->body[i].def.name);
    for (int i = 0; i < mech->joints; ++i) {
        lash_free((char*)mech->joint[i].def.name);
        for (int c = 0; c < LASH_MAX_COORDINATES; ++c)
            lash_expression_destroy(mech->joint[i].def.coordinate[c].motion.expression);
    }
    for (int i = 0; i < mech->forces; ++i) {
        lash_free((char*)mech->force[i].def.name);
        lash_free(mech->force[i].reading);
        lash_free(mech->force[i].bushing);
        for (int k = 0; k < 3; ++k)
            lash_expression_destroy(mech->force[i].def.component[k].expression);
    }
    for (int i = 0; i < mech->contacts; ++i) lash_free((char*)mech->contact[i].def.name);
    for (int i = 0; i < mech->pairs; ++i) lash_pair_destroy(mech->pair[i].pair);
    for (int i = 0; i < mech->groups; ++i) group_free(&mech->group[i]);
    for (int i = 0; i < mech->system.inputs; ++i) lash_free(mech->input_name[i]);
    lash_free(mech->input_name);
    lash_free(mech->input_value);
    void* owned[] = {
        mech->group,       mech->pair,           mech->contact,        mech->body,
        mech->joint,       mech->force,          mech->block_start,    mech->q_start,
        mech->pattern_row, mech->pattern_column, mech->pattern_offset, mech->interaction,
        mech->view};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i) lash_free(owned[i]);
    lash_free(mech);
}

LashBodyId lash_mechanism_ground(const LashMechanism* mech) {
    (void)mech;
    return (LashBodyId){1};
}

static int body_index(const LashMechanism* mech, LashBodyId id) {
    LASH_ASSERT(id.index1 > 0 && id.index1 <= mech->bodies);
    return id.index1 - 1;
}

static char* name_or_number(const char* name, const char* kind, int number) {
    if (name != NULL) return lash_strdup(name);
    char text[64];
    snprintf(text, sizeof text, "%s%d", kind, number);
    return lash_strdup(text);
}

LashBodyId lash_mechanism_add_body(LashMechanism* mech, const LashBodyDef* def) {
    LASH_ASSERT(mech != NULL && !mech->complete && lash_body_check(def, "", NULL));
    mech->body = lash_grow(mech->body, mech->bodies, sizeof *mech->body);
    Body* body = &mech->body[mech->bodies];
    body->def = *def;
    body->def.name = name_or_number(def->name, "body", mech->bodies);
    body->def.world_body.rot = quat_normalize(def->world_body.rot);
    return (LashBodyId){++mech->bodies};
}

static int joint_index(const LashMechanism* mech, LashJointId id) {
    LASH_ASSERT(id.index1 > 0 && id.index1 <= mech->joints);
    return id.index1 - 1;
}

// A gear pair stands between the second bodies of its joints.
static void couple(const LashMechanism* mech, Joint* joint) {
    for (int k = 0; k < 2; ++k) {
        joint->via[k] = joint_index(mech, joint->def.coupled[k]);
        const Joint* via = &mech->joint[joint->via[k]];
        int c = joint->def.coupled_coordinate[k];
        LASH_ASSERT(c >= 0 && c < via->kind->coordinates);
        bool angle = joint->def.type == LASH_GEAR || k == 0;
        LASH_ASSERT(coordinate_is_angle(via->kind->coordinate[c]) == angle);
        *(k == 0 ? &joint->a : &joint->b) = via->b;
        *(k == 0 ? &joint->def.body_a : &joint->def.body_b) = (LashBodyId){via->b + 1};
    }
    LASH_ASSERT(joint->def.ratio != 0);
}

static void check_joint(const Joint* joint) {
    const LashJointDef* def = &joint->def;
    LASH_ASSERT(joint->a != joint->b);
    LASH_ASSERT(def->type != LASH_DISTANCE || def->length > 0);
    LASH_ASSERT(def->type != LASH_SCREW || def->pitch != 0);
    if (def->clearance.play > 0) clearance_check(def);
    LASH_ASSERT(def->mu == 0 || lash_joint_has_friction(def->type));
    LASH_ASSERT(def->mu == 0 || def->radius > 0 || !lash_joint_friction_turns(def->type));
    for (int c = 0; c < LASH_MAX_COORDINATES; ++c) {
        const LashCoordinateDef* coordinate_def = &def->coordinate[c];
        bool used = coordinate_def->driver != LASH_NO_DRIVER || isfinite(coordinate_def->lower) ||
                    isfinite(coordinate_def->upper);
        LASH_ASSERT(!used || c < joint->kind->coordinates);
        LASH_ASSERT(coordinate_def->lower < coordinate_def->upper && coordinate_def->e >= 0 &&
                    coordinate_def->e <= 1);
    }
}

LashJointId lash_mechanism_add_joint(LashMechanism* mech, const LashJointDef* def) {
    LASH_ASSERT(mech != NULL && def != NULL && !mech->complete);
    mech->joint = lash_grow(mech->joint, mech->joints, sizeof *mech->joint);
    Joint* joint = &mech->joint[mech->joints];
    *joint = (Joint){.def = *def,
                     .kind = def->clearance.play > 0 ? clearance_kind(def) : joint_kind(def->type),
                     .a_axes = quat_matrix(quat_normalize(def->a_joint.rot)),
                     .b_axes = quat_matrix(quat_normalize(def->b_joint.rot)),
                     .interaction = -1,
                     .friction = -1};
    LASH_ASSERT(joint->kind != NULL);
    for (int c = 0; c < LASH_MAX_COORDINATES; ++c)
        joint->driver[c] = joint->limit[c][0] = joint->limit[c][1] = -1;
    if (joint->kind->couples) {
        couple(mech, joint);
    } else {
        joint->a = body_index(mech, def->body_a);
        joint->b = body_index(mech, def->body_b);
    }
    check_joint(joint);
    joint->def.name = name_or_number(def->name, "joint", mech->joints + 1);
    return (LashJointId){++mech->joints};
}

LashForceId lash_mechanism_add_force(LashMechanism* mech, const LashForceDef* def) {
    LASH_ASSERT(mech != NULL && def != NULL && !mech->complete);
    mech->force = lash_grow(mech->force, mech->forces, sizeof *mech->force);
    Force* force = &mech->force[mech->forces];
    *force = (Force){.kind = force_kind(def->type), .def = *def, .joint = -1};
    if (force->kind->along == ALONG_COORDINATE) {
        force->joint = joint_index(mech, def->joint);
        const Joint* joint = &mech->joint[force->joint];
        LASH_ASSERT(def->coordinate >= 0 && def->coordinate < joint->kind->coordinates);
        force->a = joint->a;
        force->b = joint->b;
    } else {
        force->a = def->body_a.index1 == 0 ? 0 : body_index(mech, def->body_a);
        force->b = body_index(mech, def->body_b);
    }
    force->def.name = name_or_number(def->name, "force", mech->forces + 1);
    readings_add(mech, force);
    if (force->kind->along == ALONG_DIRECTION) {
        LASH_ASSERT(vec3_norm(def->direction) > 0);
        Vec3 x = vec3_normalize(def->direction),
             y = vec3_normalize(vec3_cross(fabs(x.x) < 0.6 ? vec3(1, 0, 0) : vec3(0, 1, 0), x));
        Vec3 z = vec3_cross(x, y);
        force->a_axes = (Mat3){{x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z}};
    }
    if (force->kind->along == ALONG_SIX) bushing_make(force, def->bushing);
    return (LashForceId){++mech->forces};
}

static Contact* new_contact(LashMechanism* mech) {
    LASH_ASSERT(!mech->complete);
    mech->contact = lash_grow(mech->contact, mech->contacts, sizeof *mech->contact);
    return &mech->contact[mech->contacts];
}

LashContactId lash_mechanism_add_contact(LashMechanism* mech, const LashContactDef* def) {
    LASH_ASSERT(mech != NULL && def != NULL);
    LASH_ASSERT(def->a_type != LASH_FEATURE_DISC);
    LASH_ASSERT(def->b_type == LASH_FEATURE_SPHERE || def->b_type == LASH_FEATURE_DISC);
    LASH_ASSERT(def->b_type != LASH_FEATURE_DISC || def->a_type != LASH_FEATURE_SPHERE);
    Contact* contact = new_contact(mech);
    *contact = (Contact){.def = *def,
                         .pair = CONTACT_OF_FEATURES,
                         .rim = -1,
                         .a = body_index(mech, def->body_a),
                         .b = body_index(mech, def->body_b),
                         .a_axis = quat_rotate(quat_normalize(def->a_frame.rot), vec3(0, 0, 1)),
                         .a_axes = quat_matrix(quat_normalize(def->a_frame.rot))};
    Mat3 b_axes = quat_matrix(quat_normalize(def->b_frame.rot));
    contact->b_x = mat3_column(b_axes, 0);
    contact->b_y = mat3_column(b_axes, 1);
    contact->b_axis = mat3_column(b_axes, 2);
    contact->a_level = vec3_dot(contact->a_axis, def->a_frame.r);
    LASH_ASSERT(contact->a != contact->b);
    if (def->b_type == LASH_FEATURE_DISC && def->a_type == LASH_FEATURE_PLANE && def->flat > 0)
        contact->rim = mech->rims++;
    contact->def.name = name_or_number(def->name, "contact", mech->contacts + 1);
    return (LashContactId){++mech->contacts};
}

LashContactId lash_mechanism_add_pair_contact(LashMechanism* mech, const LashPairContactDef* def) {
    LASH_ASSERT(mech != NULL && def != NULL);
    Contact* contact = new_contact(mech);
    *contact = (Contact){.def = lash_contact_def(),
                         .a = body_index(mech, def->body_a),
                         .b = body_index(mech, def->body_b),
                         .interaction = -1,
                         .rim = -1,
                         .pair = mech->pairs};
    contact->def.body_a = def->body_a;
    contact->def.body_b = def->body_b;
    contact->def.e = def->e;
    contact->def.mu = def->mu;
    contact->def.name = name_or_number(def->name, "contact", mech->contacts + 1);
    mech->pair = lash_grow(mech->pair, mech->pairs, sizeof *mech->pair);
    mech->pair[mech->pairs] = pair_contact(def, mech->contacts, contact->a, contact->b);
    mech->pair[mech->pairs].surfaces = mech->pairs + 1;
    ++mech->pairs;
    return (LashContactId){++mech->contacts};
}

LashContactId lash_mechanism_add_group(LashMechanism* mech, const LashGroupDef* def) {
    LASH_ASSERT(mech != NULL && def != NULL);
    Contact* contact = new_contact(mech);
    *contact = (Contact){
        .def = lash_contact_def(), .interaction = -1, .rim = -1, .pair = CONTACT_OF_GROUP};
    contact->def.name = name_or_number(def->name, "contact", mech->contacts + 1);
    group_make(mech, def);
    return (LashContactId){++mech->contacts};
}

void lash_mechanism_set_gravity(LashMechanism* mech, Vec3 gravity) {
    LASH_ASSERT(mech != NULL);
    mech->gravity = gravity;
}

int lash_mechanism_body_count(const LashMechanism* mech) {
    return mech->bodies - 1;
}
int lash_mechanism_joint_count(const LashMechanism* mech) {
    return mech->joints;
}
int lash_mechanism_contact_count(const LashMechanism* mech) {
    return mech->contacts;
}
const char* lash_mechanism_contact_name(const LashMechanism* mech, int contact) {
    return mech->contact[contact].def.name;
}
void lash_mechanism_contact_bodies(const LashMechanism* mech, int contact, int* a, int* b) {
    *a = mech->contact[contact].a - 1;
    *b = mech->contact[contact].b - 1;
}
bool lash_mechanism_contact_is_pair(const LashMechanism* mech, int contact) {
    return mech->contact[contact].pair != CONTACT_OF_FEATURES;
}
const LashPair* lash_mechanism_contact_pair(const LashMechanism* mech, int contact) {
    int pair = mech->contact[contact].pair;
    return pair < 0 ? NULL : mech->pair[pair].pair;
}
void lash_mechanism_interaction_bodies(const LashMechanism* mech, uint64_t id, int* a, int* b) {
    if (group_id_is(id)) {
        group_id_bodies(mech, id, a, b);
        --*a;
        --*b;
        return;
    }
    lash_mechanism_contact_bodies(mech, lash_mechanism_contact_of(mech, id), a, b);
}
bool lash_mechanism_contact_is_group(const LashMechanism* mech, int contact) {
    return mech->contact[contact].pair == CONTACT_OF_GROUP;
}
int lash_mechanism_contact_of(const LashMechanism* mech, uint64_t interaction_id) {
    if (pair_id_is(interaction_id)) return pair_id_contact(mech, interaction_id);
    return interaction_id >= CONTACT_ID ? (int)(interaction_id - CONTACT_ID) : -1;
}
int lash_mechanism_joint_of(const LashMechanism* mech, uint64_t interaction_id) {
    (void)mech;
    return interaction_id >= CONTACT_ID ? -1 : (int)(interaction_id % JOINT_ID);
}
const char* lash_mechanism_body_name(const LashMechanism* mech, int body) {
    return mech->body[body + 1].def.name;
}
const char* lash_mechanism_joint_name(const LashMechanism* mech, int joint) {
    return mech->joint[joint].def.name;
}
const LashBodyDef* lash_mechanism_body(const LashMechanism* mech, int body) {
    return &mech->body[body + 1].def;
}
const LashJointDef* lash_mechanism_joint(const LashMechanism* mech, int joint) {
    return &mech->joint[joint].def;
}
int lash_mechanism_joint_interaction(const LashMechanism* mech, int joint) {
    return mech->joint[joint].interaction;
}
int lash_mechanism_friction_interaction(const LashMechanism* mech, int joint) {
    return mech->joint[joint].friction;
}
