// The scene: meshes come from the CAD tables of the model's parts or from the same tables of
// primitive shapes; a frame places them: world_piece = world_body * body_part * part_shape.
//
// Forces: a contact's impulse since the frame before, divided by that time, in the basis (n, t1,
// t2) of its place; a joint's force as recorded, on body b, in the axes of the joint frame in a.
#include "app/viewer/scene.h"

#include <math.h>
#include <string.h>

#include "app/model/primitive.h"
#include "app/run/measure.h"
#include "core/arena.h"
#include "core/math3.h"
#include "geometry/select.h"

// Calm colours that differ in hue and lightness; ground parts are grey.
static const float palette[][3] = {
    {0.24f, 0.47f, 0.71f}, {0.80f, 0.38f, 0.20f}, {0.35f, 0.56f, 0.36f}, {0.76f, 0.60f, 0.22f},
    {0.50f, 0.42f, 0.66f}, {0.22f, 0.58f, 0.60f}, {0.70f, 0.36f, 0.46f}, {0.45f, 0.50f, 0.56f},
};
enum { PALETTE = sizeof palette / sizeof *palette };
static const float ground_color[3] = {0.66f, 0.69f, 0.72f};

static void add_piece(ViewScene* scene, int part, const LashShape* shape, Pose place, bool owned) {
    ViewPart* p = &scene->part[part];
    ViewPiece piece = {shape, place, part, p->faces, owned};
    scene->piece[scene->pieces++] = piece;
    scene->triangles += shape->triangles;
    p->faces += shape->faces;
    ++p->pieces;
}

static const float* part_color(const LashModelPart* part, int index) {
    if (part->color[3] > 0) return part->color;
    if (part->cad != NULL) {
        for (int i = 0; i < part->cad->parts; ++i) {
            if (part->cad->part[i].color[3] > 0) return part->cad->part[i].color;
        }
    }
    return part->body < 0 ? ground_color : palette[index % PALETTE];
}

static bool add_part(ViewScene* scene, int index, LashError* error) {
    const LashModelPart* part = &scene->model->part[index];
    ViewPart* p = &scene->part[index];
    p->name = part->name;
    p->body = part->body;
    p->place = part->body < 0 ? part->world_part : part->body_part;
    p->first_piece = scene->pieces;
    memcpy(p->color, part_color(part, index), sizeof p->color);
    if (part->cad != NULL) {
        if (part->cad->triangles == 0 && part->cad->lines == 0) {
            return lash_error_set(error, LASH_ERROR_CAD, part->name,
                                  "the STEP file '%s' gave no mesh to draw; 'lash info' tells what "
                                  "is in it",
                                  part->step);
        }
        add_piece(scene, index, part->cad, pose_identity(), false);
    }
    for (int i = 0; i < part->shapes; ++i) {
        add_piece(scene, index, model_primitive(&part->shape[i]), part->shape[i].part_shape, true);
    }
    return true;
}

static void add_joint(ViewScene* scene, int index) {
    const LashModelJoint* joint = &scene->model->joint[index];
    const LashJointDef* def = lash_mechanism_joint(scene->mech, index);
    ViewJoint* j = &scene->joint[index];
    j->name = joint->name;
    j->type = joint->type;
    j->coupling = joint->type == LASH_GEAR || joint->type == LASH_RACK_AND_PINION;
    j->body_a = def->body_a.index1 - 2;
    j->body_b = def->body_b.index1 - 2;
    j->a_joint = def->a_joint;
    j->b_joint = def->b_joint;
    j->clearance = joint->clearance > 0 ? joint->clearance : 0;
    bool turns = joint->type == LASH_REVOLUTE || joint->type == LASH_CYLINDRICAL;
    if (turns && def->clearance.play > 0) {
        double bore = def->clearance.bore_length, pin = def->clearance.pin_length;
        j->pin_radius = def->clearance.radius;
        j->pin_length = isfinite(pin) ? pin : bore;
        if (!isfinite(j->pin_length)) j->pin_length = 2 * j->pin_radius;
    }
    j->outer_b = def->clearance.outer_b;
    for (int i = 0; i < scene->model->parts; ++i) {
        const LashModelPart* part = &scene->model->part[i];
        bool mine = part->body == j->body_a || part->body == j->body_b;
        j->cad = j->cad || (mine && part->cad != NULL);
    }
    j->drafted = joint->draft.given;
    j->guess = joint->draft.given && joint->draft.confidence == 2;
}

static Vec3 up_of(Vec3 gravity) {
    double g = vec3_norm(gravity);
    return g > 0 ? vec3_scale(-1 / g, gravity) : vec3(0, 0, 1);
}

// Direction i of the hull: a spiral over the sphere.
static Vec3 hull_direction(int i) {
    double z = 1 - (2 * i + 1.0) / VIEW_HULL, r = sqrt(1 - z * z), a = 2.399963229728653 * i;
    return vec3(r * cos(a), r * sin(a), z);
}

bool view_scene_create(ViewScene* scene, const LashModel* model, const LashMechanism* mech,
                       LashError* error) {
    size_t pieces = 0;
    for (int i = 0; i < model->parts; ++i) pieces += (size_t)model->part[i].shapes + 1;
    *scene = (ViewScene){.model = model,
                         .mech = mech,
                         .layout = lash_record_layout(app_record_sizes(model, false)),
                         .parts = model->parts,
                         .joints = model->joints,
                         .bodies = model->bodies,
                         .contacts = model->contact_points,
                         .up = up_of(model->gravity)};
    scene->part = lash_alloc((size_t)model->parts * sizeof *scene->part);
    scene->piece = lash_alloc(pieces * sizeof *scene->piece);
    scene->joint = lash_alloc((size_t)model->joints * sizeof *scene->joint);
    scene->bound.low = vec3(INFINITY, INFINITY, INFINITY);
    scene->bound.high = vec3(-INFINITY, -INFINITY, -INFINITY);
    for (int i = 0; i < VIEW_HULL; ++i) scene->direction[i] = hull_direction(i);
    for (int i = 0; i < model->joints; ++i) add_joint(scene, i);
    for (int i = 0; i < model->parts; ++i) {
        if (!add_part(scene, i, error)) {
            lash_error_file(error, model->file);
            return false;
        }
    }
    return true;
}

void view_scene_destroy(ViewScene* scene) {
    for (int i = 0; i < scene->pieces; ++i) {
        if (scene->piece[i].owned) lash_shape_destroy((LashShape*)(uintptr_t)scene->piece[i].shape);
    }
    lash_free(scene->part);
    lash_free(scene->piece);
    lash_free(scene->joint);
    *scene = (ViewScene){0};
}

ViewFrame view_frame_create(const ViewScene* scene) {
    size_t n = (size_t)scene->bodies;
    ViewFrame frame = {0};
    size_t numbers = (size_t)scene->layout.total + 1; // H of some schemes, the last one
    frame.values = lash_alloc(numbers * sizeof(double));
    frame.q = lash_alloc(7 * n * sizeof(double));
    frame.world_body = lash_alloc(n * sizeof(Pose));
    frame.point = lash_alloc(VIEW_MAX_POINTS * sizeof *frame.point);
    return frame;
}

void view_frame_destroy(ViewFrame* frame) {
    lash_free(frame->values);
    lash_free(frame->q);
    lash_free(frame->world_body);
    lash_free(frame->point);
    *frame = (ViewFrame){0};
}

void view_frame_place(const ViewScene* scene, ViewFrame* frame) {
    const double* r = frame->values + scene->layout.offset[LASH_SERIES_POSITION];
    const double* rot = frame->values + scene->layout.offset[LASH_SERIES_ORIENTATION];
    frame->time = frame->values[scene->layout.offset[LASH_SERIES_TIME]];
    for (int i = 0; i < scene->bodies; ++i) {
        memcpy(frame->q + 7 * i, r + 3 * i, 3 * sizeof(double));
        memcpy(frame->q + 7 * i + 3, rot + 4 * i, 4 * sizeof(double));
        frame->world_body[i] =
            pose(vec3(r[3 * i], r[3 * i + 1], r[3 * i + 2]),
                 quat(rot[4 * i], rot[4 * i + 1], rot[4 * i + 2], rot[4 * i + 3]));
    }
}

Pose view_world_body(const ViewFrame* frame, int body) {
    return body < 0 ? pose_identity() : frame->world_body[body];
}

Pose view_world_part(const ViewScene* scene, const ViewFrame* frame, int part) {
    const ViewPart* p = &scene->part[part];
    return pose_mul(view_world_body(frame, p->body), p->place);
}

Pose view_world_piece(const ViewScene* scene, const ViewFrame* frame, int piece) {
    const ViewPiece* p = &scene->piece[piece];
    return pose_mul(view_world_part(scene, frame, p->part), p->part_shape);
}

// ---- extent -------------------------------------------------------------------------------------

static void include(ViewScene* scene, Vec3 p) {
    LashBox* box = &scene->bound;
    if (!isfinite(p.x + p.y + p.z)) return;
    bool first = !isfinite(box->low.x);
    for (int i = 0; i < VIEW_HULL; ++i) {
        Vec3 d = scene->direction[i];
        if (first || vec3_dot(d, p) > vec3_dot(d, scene->hull[i])) scene->hull[i] = p;
    }
    box->low = vec3(fmin(box->low.x, p.x), fmin(box->low.y, p.y), fmin(box->low.z, p.z));
    box->high = vec3(fmax(box->high.x, p.x), fmax(box->high.y, p.y), fmax(box->high.z, p.z));
}

static void include_shape(ViewScene* scene, const LashShape* shape, Pose place) {
    for (int i = 0; i < shape->parts; ++i) {
        if (shape->part[i].assembly) continue;
        LashBox b = shape->part[i].box;
        for (int k = 0; k < 8; ++k) {
            Vec3 corner = vec3(k & 1 ? b.high.x : b.low.x, k & 2 ? b.high.y : b.low.y,
                               k & 4 ? b.high.z : b.low.z);
            include(scene, pose_point(place, corner));
        }
    }
}

void view_scene_extend(ViewScene* scene, const ViewFrame* frame) {
    for (int i = 0; i < scene->pieces; ++i) {
        include_shape(scene, scene->piece[i].shape, view_world_piece(scene, frame, i));
    }
    for (int i = 0; i < scene->bodies; ++i) include(scene, frame->world_body[i].r);
    for (int i = 0; i < scene->joints; ++i) {
        const ViewJoint* j = &scene->joint[i];
        if (j->coupling) continue;
        include(scene, pose_point(view_world_body(frame, j->body_a), j->a_joint.r));
        include(scene, pose_point(view_world_body(frame, j->body_b), j->b_joint.r));
    }
}

double view_scene_size(const ViewScene* scene) {
    double size = vec3_distance(scene->bound.low, scene->bound.high);
    return isfinite(size) && size > 0 ? size : 1;
}

// ---- contacts and forces ------------------------------------------------------------------------

// A recorded point on side b of a contact, where that body is drawn.
static Vec3 drawn_point(const ViewScene* scene, const ViewFrame* frame, int contact, Vec3 p) {
    int a, b;
    lash_mechanism_contact_bodies(scene->mech, contact, &a, &b);
    int body = b >= 0 ? b : a;
    if (body < 0) return p;
    const double* q = frame->q + 7 * body;
    Pose recorded = pose(vec3(q[0], q[1], q[2]), quat(q[3], q[4], q[5], q[6]));
    return pose_point(frame->world_body[body], pose_point_inverse(recorded, p));
}

static Vec3 from_array(const double* a) {
    return vec3(a[0], a[1], a[2]);
}

int view_frame_touches(const ViewScene* scene, const ViewFrame* frame, ViewTouch* touch,
                       int capacity) {
    int count = 0;
    for (int i = 0; i < frame->points && count < capacity; ++i) {
        const LashRecordPoint* record_point = &frame->point[i];
        Vec3 at = from_array(record_point->point), normal = from_array(record_point->normal);
        if (record_point->contact < 0 || record_point->contact >= scene->contacts) continue;
        if (!isfinite(at.x + at.y + at.z + normal.x)) continue;
        ViewTouch t = {.point = drawn_point(scene, frame, record_point->contact, at),
                       .normal = normal,
                       .force = from_array(record_point->force),
                       .gap = record_point->gap,
                       .contact = record_point->contact};
        t.closed = vec3_norm(t.force) > 0;
        touch[count++] = t;
    }
    return count;
}

// Where a contact pushed though it is open again: only simple contacts are known well enough.
static bool past_place(const ViewScene* scene, const ViewFrame* frame, int contact, Vec3* place) {
    if (lash_mechanism_contact_is_pair(scene->mech, contact)) return false;
    LashContactPlace p = lash_mechanism_contact_place(scene->mech, contact, frame->q);
    *place = drawn_point(scene, frame, contact, p.point);
    return isfinite(place->x + place->y + place->z);
}

// Mean forces of contacts, each at the points that push now in the proportion of their forces.
static int contact_forces(const ViewScene* scene, const ViewFrame* frame, ViewArrow* arrow,
                          int capacity) {
    const double* mean = frame->values + scene->layout.offset[LASH_SERIES_CONTACT_FORCE];
    int count = 0;
    for (int c = 0; c < scene->contacts && count < capacity; ++c) {
        Vec3 force = from_array(mean + 3 * c), place;
        double sum = 0;
        if (!(vec3_norm(force) > 0)) continue;
        for (int i = 0; i < frame->points; ++i) {
            if (frame->point[i].contact == c) sum += vec3_norm(from_array(frame->point[i].force));
        }
        for (int i = 0; i < frame->points && sum > 0 && count < capacity; ++i) {
            const LashRecordPoint* record_point = &frame->point[i];
            double share =
                record_point->contact == c ? vec3_norm(from_array(record_point->force)) / sum : 0;
            if (!(share > 0)) continue;
            Vec3 at = drawn_point(scene, frame, c, from_array(record_point->point));
            arrow[count++] = (ViewArrow){at, vec3_scale(share, force), true, c};
        }
        if (sum == 0 && past_place(scene, frame, c, &place))
            arrow[count++] = (ViewArrow){place, force, true, c};
    }
    return count;
}

int view_frame_forces(const ViewScene* scene, const ViewFrame* frame, ViewArrow* arrow,
                      int capacity) {
    const double* force = frame->values + scene->layout.offset[LASH_SERIES_JOINT_FORCE];
    int count = contact_forces(scene, frame, arrow, capacity);
    for (int i = 0; i < scene->joints && count < capacity; ++i) {
        const ViewJoint* j = &scene->joint[i];
        Vec3 local = from_array(force + 3 * i);
        // The contacts of a joint with play show their own forces.
        if (j->coupling || j->clearance > 0 || !(vec3_norm(local) > 0)) continue;
        Pose world_a = pose_mul(view_world_body(frame, j->body_a), j->a_joint);
        Vec3 point = pose_point(view_world_body(frame, j->body_b), j->b_joint.r);
        arrow[count++] = (ViewArrow){point, quat_rotate(world_a.rot, local), false, i};
    }
    return count;
}

// ---- faces --------------------------------------------------------------------------------------

bool view_part_is_glyph(const ViewScene* scene, int part) {
    return scene->part[part].pieces == 0 && scene->part[part].body >= 0;
}

ViewFaceName view_face(const ViewScene* scene, int part, int face) {
    ViewFaceName result = {0};
    if (part < 0 || part >= scene->parts || face < 0) return result;
    const ViewPart* p = &scene->part[part];
    for (int i = 0; i < p->pieces; ++i) {
        const ViewPiece* piece = &scene->piece[p->first_piece + i];
        if (face >= piece->first_face + piece->shape->faces) continue;
        result.shape = piece->shape;
        result.face = &piece->shape->face[face - piece->first_face];
        result.piece = i;
        break;
    }
    return result;
}

// ---- faces of a joint ---------------------------------------------------------------------------

static const double FACING = 0.5e-3; // [m] planes of a plate between planes are nearer

static int pick_faces(const ViewScene* scene, int part, const LashModelFace* faces, int count,
                      ViewPick* pick, int capacity) {
    const LashShape* shape = part < 0 ? NULL : scene->model->part[part].cad;
    int found = 0;
    for (int i = 0; i < count && shape != NULL && found < capacity; ++i) {
        const LashModelFace* face = &faces[i];
        LashFaceQuery query = lash_face_query();
        query.type = face->type - 1;
        query.radius = isnan(face->radius) ? 0 : face->radius;
        if (face->side != 0) query.side = face->side == 1 ? 1 : -1;
        query.has_near = !isnan(face->near.x);
        query.near = face->near;
        int row;
        LashError ignored = {0};
        if (face->name == NULL && face->index < 0 &&
            lash_select_query(shape, LASH_ANY_PART, &query, &row, &ignored))
            pick[found++] = (ViewPick){part, row};
    }
    return found;
}

// Planes of the part that look at the guide's axis from the half width or height, but for the play.
static int pick_guide(const ViewScene* scene, const LashModelJoint* joint, int part,
                      Pose world_joint, ViewPick* pick, int capacity) {
    if (part < 0 || scene->model->part[part].cad == NULL) return 0;
    const LashModelPart* model_part = &scene->model->part[part];
    Pose local = pose_mul(pose_inverse(model_part->world_part), world_joint);
    const double half[2] = {0.5 * joint->width, 0.5 * joint->height};
    double slack = 1e-6 + 2 * fmax(joint->clearance, 0);
    int found = 0;
    for (int i = 0; i < model_part->cad->faces && found < capacity; ++i) {
        const LashFace* face = &model_part->cad->face[i];
        if (face->type != LASH_PLANE) continue;
        for (int k = 0; k < 2; ++k) {
            Vec3 e = quat_rotate(local.rot, vec3(k == 0, k == 1, 0));
            double at = fabs(vec3_dot(vec3_sub(face->origin, local.r), e));
            bool across = fabs(vec3_dot(face->z, e)) > 1 - 1e-6;
            if (across && fabs(at - half[k]) <= slack) pick[found++] = (ViewPick){part, i};
            if (found == capacity) break;
        }
    }
    return found;
}

// Planes of both parts across the axis that look at each other: a plate between planes.
static int pick_facing(const ViewScene* scene, const LashModelJoint* joint, ViewPick* pick,
                       int capacity) {
    if (joint->part_a < 0 || joint->part_b < 0 || joint->type != LASH_PLANAR) return 0;
    const LashModelPart *a = &scene->model->part[joint->part_a],
                        *b = &scene->model->part[joint->part_b];
    Vec3 axis = quat_rotate(joint->world_a.rot, vec3(0, 0, 1));
    int found = 0;
    if (a->cad == NULL || b->cad == NULL) return 0;
    for (int i = 0; i < a->cad->faces; ++i) {
        const LashFace* p = &a->cad->face[i];
        Vec3 n = vec3_scale(p->side, quat_rotate(a->world_part.rot, p->z));
        if (p->type != LASH_PLANE || fabs(vec3_dot(n, axis)) < 1 - 1e-6) continue;
        for (int k = 0; k < b->cad->faces && found + 2 <= capacity; ++k) {
            const LashFace* q = &b->cad->face[k];
            Vec3 m = vec3_scale(q->side, quat_rotate(b->world_part.rot, q->z));
            if (q->type != LASH_PLANE || vec3_dot(n, m) > -1 + 1e-6) continue;
            Vec3 d = vec3_sub(pose_point(b->world_part, q->origin),
                              pose_point(a->world_part, p->origin));
            if (fabs(vec3_dot(d, n)) > FACING) continue;
            pick[found++] = (ViewPick){joint->part_a, i};
            pick[found++] = (ViewPick){joint->part_b, k};
        }
    }
    return found;
}

int view_joint_faces(const ViewScene* scene, int joint, ViewPick* pick, int capacity) {
    const LashModelJoint* model_joint = &scene->model->joint[joint];
    bool outer_b = model_joint->bore_in == 1;
    int outer = outer_b ? model_joint->part_b : model_joint->part_a,
        inner = outer_b ? model_joint->part_a : model_joint->part_b;
    int n =
        pick_faces(scene, outer, model_joint->bore, model_joint->bore_faces, pick, capacity / 2);
    n += pick_faces(scene, inner, model_joint->pin, model_joint->pin_faces, pick + n, capacity - n);
    if (n == 0) n = pick_facing(scene, model_joint, pick, capacity);
    if (n > 0 || !(model_joint->width > 0) || !(model_joint->height > 0)) return n;
    n = pick_guide(scene, model_joint, model_joint->part_a, model_joint->world_a, pick,
                   capacity / 2);
    return n + pick_guide(scene, model_joint, model_joint->part_b, model_joint->world_b, pick + n,
                          capacity - n);
}

bool view_scene_is_drafted(const ViewScene* scene) {
    for (int i = 0; i < scene->joints; ++i)
        if (scene->joint[i].drafted) return true;
    return false;
}
