// Description -> mechanism: bodies at their mass centers, joint frames in body coordinates,
// functions compiled.
#include <stdio.h>
#include <string.h>

#include "app/model/model_internal.h"
#include "core/arena.h"
#include "core/math3.h"

// Pose of the body that carries a part, and its id; the ground's frame is the world.
static Pose body_pose(const LashModel* model, int part) {
    if (part < 0 || model->part[part].body < 0) return pose_identity();
    const LashModelPart* model_part = &model->part[part];
    return pose(pose_point(model_part->world_part, model_part->center), model_part->world_part.rot);
}

static LashBodyId body_id(const LashModel* model, const LashMechanism* mech, int part) {
    if (part < 0 || model->part[part].body < 0) return lash_mechanism_ground(mech);
    return lash_body_id(model->part[part].body);
}

// A point of a part's own frame in the frame of its body.
static Vec3 body_point(const LashModel* model, int part, Vec3 point) {
    return part < 0 ? point : pose_point(model->part[part].body_part, point);
}

static void build_bodies(const LashModel* model, LashMechanism* mech) {
    for (int i = 0; i < model->parts; ++i) {
        const LashModelPart* part = &model->part[i];
        if (part->body < 0) continue;
        LashBodyDef def = lash_body_def();
        def.name = part->name;
        def.mass = part->mass;
        def.inertia = part->inertia;
        def.world_body = body_pose(model, i);
        def.velocity = part->velocity;
        def.omega = part->angular_velocity;
        lash_mechanism_add_body(mech, &def);
    }
}

static void build_coordinates(const LashModel* model, const LashModelJoint* joint,
                              LashJointDef* def) {
    const LashModelUnits* units = &model->units;
    double t = model_unit_factor(units, UNIT_TIME);
    for (int c = 0; c < lash_coordinate_count(def->type); ++c)
        def->coordinate[c].start = model_start_coordinate(model, joint, c);
    for (int i = 0; i < joint->drivers; ++i) {
        const LashModelDriver* driver = &joint->driver[i];
        LashCoordinateDef* coordinate_def = &def->coordinate[driver->index];
        bool angle = lash_coordinate_is_angle(def->type, driver->index);
        bool position = driver->position.given;
        ModelUnit unit = angle ? UNIT_ANGULAR_VELOCITY : UNIT_VELOCITY;
        if (position) unit = angle ? UNIT_ANGLE : UNIT_LENGTH;
        coordinate_def->driver = position ? LASH_DRIVE_POSITION : LASH_DRIVE_SPEED;
        coordinate_def->motion =
            model_compile_function(model, position ? &driver->position : &driver->speed,
                                   model_unit_factor(units, unit), t, 1, 1);
    }
    for (int i = 0; i < joint->limits; ++i) {
        const LashModelLimit* limit = &joint->limit[i];
        LashCoordinateDef* coordinate_def = &def->coordinate[limit->index];
        bool angle = lash_coordinate_is_angle(def->type, limit->index);
        double unit = model_unit_factor(units, angle ? UNIT_ANGLE : UNIT_LENGTH);
        if (model_has(limit->lower)) coordinate_def->lower = limit->lower * unit;
        if (model_has(limit->upper)) coordinate_def->upper = limit->upper * unit;
        coordinate_def->e = limit->restitution;
    }
}

static void build_joint(const LashModel* model, LashMechanism* mech, const LashModelJoint* joint) {
    LashJointDef def = lash_joint_def();
    def.type = (LashJointType)joint->type;
    def.name = joint->name;
    if (def.type == LASH_GEAR || def.type == LASH_RACK_AND_PINION) {
        for (int k = 0; k < 2; ++k) {
            def.coupled[k] = lash_joint_id(joint->coupled[k]);
            def.coupled_coordinate[k] = joint->coupled_coordinate[k];
        }
        def.ratio = def.type == LASH_GEAR ? joint->ratio : joint->radius;
        lash_mechanism_add_joint(mech, &def);
        return;
    }
    def.body_a = body_id(model, mech, joint->part_a);
    def.body_b = body_id(model, mech, joint->part_b);
    def.a_joint = pose_mul(pose_inverse(body_pose(model, joint->part_a)), joint->world_a);
    def.b_joint = pose_mul(pose_inverse(body_pose(model, joint->part_b)), joint->world_b);
    if (model_has(joint->length)) def.length = joint->length;
    if (model_has(joint->pitch)) def.pitch = joint->pitch;
    def.clearance = joint->play;
    if (model_has(joint->friction) && !(joint->play.play > 0) && lash_joint_has_friction(def.type))
        def.mu = joint->friction;
    if (model_has(joint->radius)) def.radius = joint->radius;
    build_coordinates(model, joint, &def);
    lash_mechanism_add_joint(mech, &def);
}

static void build_line_force(const LashModel* model, const LashMechanism* mech,
                             const LashModelForce* force, LashForceDef* def) {
    const LashModelUnits* units = &model->units;
    def->body_a = body_id(model, mech, force->part_a);
    def->body_b = body_id(model, mech, force->part_b);
    def->a_point = body_point(model, force->part_a, force->a_point);
    def->b_point = body_point(model, force->part_b, force->b_point);
    if (force->force_components > 0) {
        def->component[0] = model_compile_function(
            model, &force->force[0], model_unit_factor(units, UNIT_FORCE),
            model_unit_factor(units, UNIT_TIME), model_unit_factor(units, UNIT_LENGTH),
            model_unit_factor(units, UNIT_VELOCITY));
    }
}

static void build_joint_force(const LashModel* model, const LashMechanism* mech,
                              const LashModelForce* force, LashForceDef* def) {
    (void)mech;
    const LashModelUnits* units = &model->units;
    const LashModelJoint* joint = &model->joint[force->joint_index];
    bool angle = lash_coordinate_is_angle((LashJointType)joint->type, force->coordinate_index);
    def->joint = lash_joint_id(force->joint_index);
    def->coordinate = force->coordinate_index;
    if (force->force_components > 0) {
        def->component[0] = model_compile_function(
            model, &force->force[0], model_unit_factor(units, angle ? UNIT_TORQUE : UNIT_FORCE),
            model_unit_factor(units, UNIT_TIME),
            model_unit_factor(units, angle ? UNIT_ANGLE : UNIT_LENGTH),
            model_unit_factor(units, angle ? UNIT_ANGULAR_VELOCITY : UNIT_VELOCITY));
    }
}

static void build_bushing_force(const LashModel* model, const LashMechanism* mech,
                                const LashModelForce* force, LashForceDef* def) {
    def->body_a = body_id(model, mech, force->part_a);
    def->body_b = body_id(model, mech, force->part_b);
}

static void build_part_force(const LashModel* model, const LashMechanism* mech,
                             const LashModelForce* force, LashForceDef* def) {
    const LashModelUnits* units = &model->units;
    bool torque = force->torque_components > 0;
    def->body_a = lash_mechanism_ground(mech);
    def->body_b = body_id(model, mech, force->part_b);
    def->body_axes = force->axes == 1;
    if (!torque) def->b_point = body_point(model, force->part_b, force->point);
    for (int i = 0; i < 3; ++i) {
        def->component[i] =
            model_compile_function(model, torque ? &force->torque[i] : &force->force[i],
                                   model_unit_factor(units, torque ? UNIT_TORQUE : UNIT_FORCE),
                                   model_unit_factor(units, UNIT_TIME), 1, 1);
    }
}

static void build_force(const LashModel* model, LashMechanism* mech, const LashModelForce* force) {
    static const struct {
        void (*build)(const LashModel*, const LashMechanism*, const LashModelForce*, LashForceDef*);
        LashForceType type, function;
    } row[] = {
#define X(id, name, must, may, on, type, function) \
    [MODEL_##id] = {build_##on##_force, type, function},
        MODEL_FORCE_TABLE(X)
#undef X
    };
    LashForceDef def = lash_force_def();
    def.name = force->name;
    def.stiffness = force->stiffness_si;
    def.damping = force->damping_si;
    def.rest = force->rest_si;
    def.type = force->force_components > 0 ? row[force->type].function : row[force->type].type;
    def.acts = (LashActs)force->acts;
    if (model_has(force->direction.x)) {
        bool function = force->force_components > 0;
        def.type = function ? LASH_DIRECTION_FORCE : LASH_DIRECTION_SPRING;
        def.direction = force->part_a < 0 ? force->direction
                                          : quat_rotate(model->part[force->part_a].body_part.rot,
                                                        force->direction);
    }
    row[force->type].build(model, mech, force, &def);
    LashBushingDef bushing;
    if (force->bushing != NULL) {
        bushing = *force->bushing;
        bushing.a_frame =
            pose_mul(pose_inverse(body_pose(model, force->part_a)), force->world_frame);
        bushing.b_frame =
            pose_mul(pose_inverse(body_pose(model, force->part_b)), force->world_frame);
        def.bushing = &bushing;
    }
    lash_mechanism_add_force(mech, &def);
}

LashPairDef model_pair_def(const LashModel* model, const LashModelContactPoint* point) {
    LashPairDef pair = lash_pair_def();
    pair.a = point->side_a;
    pair.b = point->side_b;
    pair.offset = point->offset;
    pair.query = (LashQuery)model->simulation.query;
    if (point->part_a >= 0) pair.a.body_shape = model->part[point->part_a].body_part;
    if (point->part_b >= 0) pair.b.body_shape = model->part[point->part_b].body_part;
    return pair;
}

static bool same_side(const LashPairSide* a, const LashPairSide* b) {
    return a->shape == b->shape && a->solid == b->solid && a->face_count == b->face_count &&
           a->edge_count == 0 && b->edge_count == 0 &&
           memcmp(&a->body_shape, &b->body_shape, sizeof a->body_shape) == 0 &&
           (a->face_count == 0 ||
            memcmp(a->faces, b->faces, (size_t)a->face_count * sizeof *a->faces) == 0);
}

// The pair that this model or its donor has made of the same definition, NULL: none.
static LashPair* find_pair(const LashModel* model, int index, const LashPairDef* def) {
    for (const LashModel* m = model; m != NULL; m = m->donor) {
        if (index >= m->contact_points || m->contact_point[index].pair == NULL) continue;
        LashPairDef other = model_pair_def(m, &m->contact_point[index]);
        if (def->query == other.query && def->offset == other.offset &&
            same_side(&def->a, &other.a) && same_side(&def->b, &other.b))
            return m->contact_point[index].pair;
    }
    return NULL;
}

// A pair of its own, or a share in one that exists; NULL with error.
static LashPair* make_pair(const LashModel* model, int index, LashError* error) {
    const LashModelContactPoint* point = &model->contact_point[index];
    LashPairDef def = model_pair_def(model, point);
    LashPair* pair = find_pair(model, index, &def);
    if (pair != NULL) return lash_pair_share(pair);
    char where[64];
    snprintf(where, sizeof where, "contacts[%d]", point->contact);
    LashError inner = {0};
    if (!lash_pair_check(&def, &inner)) {
        lash_error_set(error, inner.status, where, "%s", inner.message);
        return NULL;
    }
    pair = lash_pair_create(&def);
    if (def.query == LASH_QUERY_OCCT || lash_pair_combinations(pair) > 0) return pair;
    lash_error_set(error, LASH_ERROR_MODEL, where,
                   "no face, edge or vertex of one side can ever touch one of the other (both "
                   "hollow, or both without convex edges)");
    lash_pair_destroy(pair);
    return NULL;
}

bool lash_model_share(LashModel* model, LashError* error) {
    if (model == NULL) return lash_error_null(error, "a model");
    for (int i = 0; i < model->contact_points; ++i) {
        LashModelContactPoint* point = &model->contact_point[i];
        if (!point->surfaces || point->pair != NULL) continue;
        point->pair = make_pair(model, i, error);
        if (point->pair == NULL) {
            lash_error_file(error, model->file);
            return false;
        }
    }
    return true;
}

static bool build_surfaces(const LashModel* model, LashMechanism* mech, int index,
                           LashError* error) {
    const LashModelContactPoint* point = &model->contact_point[index];
    LashPairContactDef def = lash_pair_contact_def();
    def.name = point->name;
    def.body_a = body_id(model, mech, point->part_a);
    def.body_b = body_id(model, mech, point->part_b);
    def.pair = make_pair(model, index, error);
    def.e = point->def.e;
    def.mu = point->def.mu;
    if (def.pair == NULL) return false;
    lash_mechanism_add_pair_contact(mech, &def);
    return true;
}

static void build_contact(const LashModel* model, LashMechanism* mech,
                          const LashModelContactPoint* point) {
    LashContactDef def = point->def;
    def.name = point->name;
    def.body_a = body_id(model, mech, point->part_a);
    def.body_b = body_id(model, mech, point->part_b);
    if (point->part_a >= 0)
        def.a_frame = pose_mul(model->part[point->part_a].body_part, def.a_frame);
    if (point->part_b >= 0)
        def.b_frame = pose_mul(model->part[point->part_b].body_part, def.b_frame);
    lash_mechanism_add_contact(mech, &def);
}

static void build_group(const LashModel* model, LashMechanism* mech,
                        const LashModelContactPoint* point) {
    const LashModelGroup* group = point->group;
    LashGroupDef def = lash_group_def();
    LashGroupMember* member = lash_alloc((size_t)group->members * sizeof *member);
    for (int i = 0; i < group->members; ++i) {
        member[i] = group->member[i];
        member[i].body = body_id(model, mech, member[i].owner);
    }
    def.name = point->name;
    def.member = member;
    def.members = group->members;
    def.materials = group->materials;
    def.e = group->e;
    def.mu = group->mu;
    int(*apart)[2] =
        lash_alloc((size_t)(model->contact_points + model->joints + 1) * sizeof *apart);
    for (int i = 0; i < model->contact_points; ++i) { // what is told apart wins
        const LashModelContactPoint* other = &model->contact_point[i];
        if (other->part_a < 0 || other->part_b < 0) continue;
        apart[def.aparts][0] = other->part_a;
        apart[def.aparts++][1] = other->part_b;
    }
    for (int i = 0; i < model->joints; ++i) {
        const LashModelJoint* joint = &model->joint[i];
        if (joint->part_a < 0 || joint->part_b < 0 || joint->type == LASH_FREE_JOINT) continue;
        apart[def.aparts][0] = joint->part_a;
        apart[def.aparts++][1] = joint->part_b;
    }
    def.apart = (const int(*)[2])apart;
    lash_mechanism_add_group(mech, &def);
    lash_free(apart);
    lash_free(member);
}

LashMechanism* lash_model_build(const LashModel* model, LashError* error) {
    if (model == NULL) {
        lash_error_null(error, "a model");
        return NULL;
    }
    bool good = true; // everything else was checked when the model was read
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, model->gravity);
    build_bodies(model, mech);
    const LashModelParameter* input = model->parameter + (model->parameters - model->inputs);
    for (int i = 0; i < model->inputs; ++i)
        lash_mechanism_add_input(mech, input[i].name, input[i].value);
    for (int i = 0; i < model->joints; ++i) build_joint(model, mech, &model->joint[i]);
    for (int i = 0; i < model->forces; ++i) build_force(model, mech, &model->force[i]);
    for (int i = 0; i < model->contact_points && good; ++i) {
        const LashModelContactPoint* point = &model->contact_point[i];
        if (point->contact < 0) continue; // joints with clearance add theirs
        if (point->group != NULL) {
            build_group(model, mech, point);
        } else if (point->surfaces) {
            good = build_surfaces(model, mech, i, error);
        } else {
            build_contact(model, mech, point);
        }
    }
    good =
        good && lash_settings_fit(&model->simulation.settings, lash_mechanism_system(mech), error);
    if (good) return mech;
    lash_mechanism_destroy(mech);
    lash_error_file(error, model->file);
    return NULL;
}
