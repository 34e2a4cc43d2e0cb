// Joints with clearance: contacts between the two surfaces of the joint, instead of rows.
//
// The outer part carries the bore (socket, guide), the inner one the pin (ball, slider, plate),
// each in its joint frame; play c, pin radius r, bore radius R = r + c. Where a surface ends inside
// the other, its edge touches:
//
// - revolute, cylindrical: circles at the ends of the bore around the pin, circles at the ends of
//   the pin in the bore, those that can lie inside the other surface (contact_circle.c: exact in
//   any tilt). Two touch when the pin lies along the bore, one at each end when it is tilted as far
//   as it goes.
// - revolute: collars, the ring at each end of the shorter one against the plane of the collar,
//   axial play away. Tilted it touches with one point of its edge circle, exactly; flat it lies on
//   RING points of that circle and on one more that the load chooses (rim.c). One row z_a.(p_b - p_a) = 0 stands instead without axial play.
// - prismatic, round: as cylindrical; a key without play, y_a.x_b = 0, keeps it from turning.
// - prismatic, with corners: every corner of the shorter one against the two faces next to it.
// - spherical: the ball in the socket.
// - planar: corners, or the edge circle of a round plate as a collar's, between two planes, c from
//   each.
//
// All contacts of a joint share e and mu (opposed contacts that close in one step could not rebound
// differently). As c goes to 0 the set of positions left goes to that of the ideal joint.
#include <math.h>
#include <stdio.h>

#include "core/arena.h"
#include "joints/mechanism_internal.h"
#include "joints/rows.h"

enum { RING = 3, MOST = 16 }; // points of a ring; contacts of one joint at most
// A ring tilted by less lies on its RING points [m]: their circle then reaches beyond them by less than
// (1 - cos(pi / RING)) FLAT = 1e-11, a tenth of the tolerance of positions. So where its edge begins to count, or
// ceases to, a step has a solution with it and without; with 1e-10 it had neither (test_joints_clearance).
static const double FLAT = 2e-11;

// --- Rows that are left --------------------------------------------------------------------------

static void write_axial(const JointFrames* frames, RowWriter* out) {
    row_axis_point(frames, 2, out);
}
static void contract_axial(const JointFrames* frames, RowContraction* contraction) {
    row_axis_point_contract(frames, 2, contraction);
}
static void react_axial(const JointFrames* frames, const double* P, Vec3* force, Vec3* moment) {
    *force = vec3_scale(P[0], axis_a(frames, 2));
    *moment = vec3_zero();
}

static void write_key(const JointFrames* frames, RowWriter* out) {
    row_dot(frames, 1, 0, out);
}
static void contract_key(const JointFrames* frames, RowContraction* contraction) {
    row_dot_contract(frames, 1, 0, contraction);
}
static void react_key(const JointFrames* frames, const double* P, Vec3* force, Vec3* moment) {
    *force = vec3_zero();
    *moment = row_dot_moment(frames, 1, 0, P[0]);
}

static const JointKind revolute_free = {
    .name = "revolute", .coordinates = 1, .coordinate = {ABOUT_Z}};
static const JointKind revolute_held = {.name = "revolute",
                                        .rows = 1,
                                        .write = write_axial,
                                        .contract = contract_axial,
                                        .reaction = react_axial,
                                        .coordinates = 1,
                                        .coordinate = {ABOUT_Z}};
static const JointKind cylindrical_free = {
    .name = "cylindrical", .coordinates = 2, .coordinate = {ABOUT_Z, ALONG_Z}};
static const JointKind prismatic_free = {
    .name = "prismatic", .coordinates = 1, .coordinate = {ALONG_Z}};
static const JointKind prismatic_keyed = {.name = "prismatic",
                                          .rows = 1,
                                          .angular = 0x1,
                                          .write = write_key,
                                          .contract = contract_key,
                                          .reaction = react_key,
                                          .coordinates = 1,
                                          .coordinate = {ALONG_Z}};
static const JointKind spherical_free = {.name = "spherical"};
static const JointKind planar_free = {
    .name = "planar", .coordinates = 3, .coordinate = {ALONG_X, ALONG_Y, ABOUT_Z}};

static bool has_corners(const LashClearanceDef* clearance) {
    return clearance->width > 0;
}

const JointKind* clearance_kind(const LashJointDef* def) {
    const LashClearanceDef* clearance_def = &def->clearance;
    switch (def->type) {
        case LASH_REVOLUTE:
            return clearance_def->axial > 0 ? &revolute_free : &revolute_held;
        case LASH_CYLINDRICAL:
            return &cylindrical_free;
        case LASH_PRISMATIC:
            return has_corners(clearance_def) ? &prismatic_free : &prismatic_keyed;
        case LASH_SPHERICAL:
            return &spherical_free;
        case LASH_PLANAR:
            return &planar_free;
        default:
            return NULL;
    }
}

bool lash_joint_can_have_clearance(LashJointType type) {
    LashJointDef def = {.type = type};
    return clearance_kind(&def) != NULL;
}

void clearance_check(const LashJointDef* def) {
    const LashClearanceDef* clearance_def = &def->clearance;
    bool ends = def->type != LASH_SPHERICAL && def->type != LASH_PLANAR;
    bool section = def->type == LASH_PRISMATIC || def->type == LASH_PLANAR;
    LASH_ASSERT(lash_joint_can_have_clearance(def->type) && def->mu == 0);
    LASH_ASSERT(isfinite(clearance_def->play) && clearance_def->e >= 0 && clearance_def->e <= 1 &&
                clearance_def->mu >= 0 && clearance_def->axial >= 0);
    LASH_ASSERT(has_corners(clearance_def) ? section && clearance_def->height > 0
                                           : clearance_def->radius > 0);
    LASH_ASSERT(!ends || (clearance_def->bore_length > 0 && clearance_def->pin_length > 0));
    LASH_ASSERT(!ends || isfinite(clearance_def->bore_length) ||
                isfinite(clearance_def->pin_length));
    LASH_ASSERT(def->type != LASH_REVOLUTE || clearance_def->axial == 0 ||
                clearance_def->collar_radius > 0);
}

// --- Contacts ------------------------------------------------------------------------------------

// Contacts being listed: outer and inner body with their joint frames.
typedef struct ContactSet {
    const LashClearanceDef* def;
    LashBodyId outer, inner;
    Pose outer_frame, inner_frame;
    LashContactDef contact[MOST];
    int count;
} ContactSet;

static Pose shifted(Pose frame, Vec3 by) {
    return pose(pose_point(frame, by), frame.rot);
}

// The frame turned so that its z axis points along `axis` of it.
static Pose facing(Pose frame, Vec3 at, Vec3 axis) {
    return pose(pose_point(frame, at), quat_mul(frame.rot, quat_between(vec3(0, 0, 1), axis)));
}

static LashContactDef* add(ContactSet* set, bool carrier_outer) {
    LASH_ASSERT(set->count < MOST);
    LashContactDef* contact = &set->contact[set->count++];
    *contact = lash_contact_def();
    contact->body_a = carrier_outer ? set->outer : set->inner;
    contact->body_b = carrier_outer ? set->inner : set->outer;
    contact->a_frame = carrier_outer ? set->outer_frame : set->inner_frame;
    contact->b_frame = carrier_outer ? set->inner_frame : set->outer_frame;
    contact->e = set->def->e;
    contact->mu = set->def->mu;
    return contact;
}

// Circle at height z of the one part against the cylinder of the other from low to high.
static void add_circle(ContactSet* set, bool of_pin, double z, double low, double high) {
    LashContactDef* contact = add(set, of_pin);
    double r = set->def->radius, R = r + set->def->play;
    contact->a_type = LASH_FEATURE_CYLINDER;
    contact->b_type = LASH_FEATURE_DISC;
    contact->inside = of_pin;
    contact->a_radius = of_pin ? R : r;
    contact->b_radius = of_pin ? r : R;
    contact->a_low = low;
    contact->a_high = high;
    contact->b_frame = shifted(contact->b_frame, vec3(0, 0, z));
}

// Point of the one part against a plane of the other, through `at` with outward normal.
static void add_point(ContactSet* set, bool of_pin, Vec3 point, Vec3 at, Vec3 normal) {
    LashContactDef* contact = add(set, of_pin);
    contact->a_type = LASH_FEATURE_PLANE;
    contact->a_frame = facing(contact->a_frame, at, normal);
    contact->b_frame = shifted(contact->b_frame, point);
}

static bool pin_is_shorter(const LashClearanceDef* clearance) {
    return clearance->pin_length < clearance->bore_length;
}

// slack: by how much the pin can be displaced along the axis either way.
static void add_ends(ContactSet* set, double slack) {
    const LashClearanceDef* clearance = set->def;
    double bore = 0.5 * clearance->bore_length, pin = 0.5 * clearance->pin_length;
    for (int side = -1; side <= 1; side += 2) {
        double end = pin + side * clearance->pin_offset; // how far the pin reaches on this side
        if (isinf(pin) || end > bore + slack) {
            add_circle(set, false, side * bore, -INFINITY, INFINITY);
        } else if (isinf(bore) || bore > end + slack) {
            add_circle(set, true, side * end, -INFINITY, INFINITY);
        } else {
            add_circle(set, false, side * bore, clearance->pin_offset - pin,
                       clearance->pin_offset + pin);
            add_circle(set, true, side * end, -bore, bore);
        }
    }
}

static Vec3 ring_point(double radius, int k, double z) {
    double angle = 2 * LASH_PI * (k + 0.5) / RING;
    return vec3(radius * cos(angle), radius * sin(angle), z);
}

// Edge circle about z at height z of the one part against a plane across z of the other.
static void add_ring(ContactSet* set, bool of_pin, double radius, double z, double plane,
                     double normal) {
    for (int k = 0; k < RING; ++k) {
        add_point(set, of_pin, ring_point(radius, k, z), vec3(0, 0, plane), vec3(0, 0, normal));
    }
    add_point(set, of_pin, vec3(0, 0, z), vec3(0, 0, plane), vec3(0, 0, normal));
    LashContactDef* circle = &set->contact[set->count - 1];
    circle->b_type = LASH_FEATURE_DISC;
    circle->b_radius = radius;
    circle->flat = FLAT;
}

static void add_collars(ContactSet* set) {
    const LashClearanceDef* clearance = set->def;
    bool of_pin = pin_is_shorter(clearance); // ring on the pin, shoulders on the bore's part
    double half = 0.5 * (of_pin ? clearance->pin_length : clearance->bore_length);
    double middle = of_pin ? clearance->pin_offset : 0;
    for (int side = -1; side <= 1; side += 2) {
        add_ring(set, of_pin, clearance->collar_radius, side * half + middle,
                 side * (half + clearance->axial) + middle, -side);
    }
}

// Corner (sx, sy, sz) of the shorter one against the face across x and the one across y.
static void add_corners(ContactSet* set) {
    const LashClearanceDef* clearance = set->def;
    bool of_pin = pin_is_shorter(clearance);
    double half = 0.5 * (of_pin ? clearance->pin_length : clearance->bore_length);
    double point = of_pin ? 0 : clearance->play, face = of_pin ? clearance->play : 0,
           out = of_pin ? -1 : 1;
    for (int i = 0; i < 8; ++i) {
        double x = i & 1 ? 1 : -1, y = i & 2 ? 1 : -1, z = i & 4 ? 1 : -1;
        Vec3 corner = vec3(x * (0.5 * clearance->width + point),
                           y * (0.5 * clearance->height + point), z * half);
        Vec3 across_x = vec3(x * (0.5 * clearance->width + face), 0, 0);
        Vec3 across_y = vec3(0, y * (0.5 * clearance->height + face), 0);
        add_point(set, of_pin, corner, across_x, vec3(x * out, 0, 0));
        add_point(set, of_pin, corner, across_y, vec3(0, y * out, 0));
    }
}

static void add_plate(ContactSet* set) {
    const LashClearanceDef* clearance = set->def;
    for (int side = -1; side <= 1; side += 2) {
        if (!has_corners(clearance))
            add_ring(set, true, clearance->radius, 0, side * clearance->play, -side);
        for (int k = 0; k < 4 && has_corners(clearance); ++k) {
            Vec3 point = vec3(k & 1 ? 0.5 * clearance->width : -0.5 * clearance->width,
                              k & 2 ? 0.5 * clearance->height : -0.5 * clearance->height, 0);
            add_point(set, true, point, vec3(0, 0, side * clearance->play), vec3(0, 0, -side));
        }
    }
}

static void add_ball(ContactSet* set) {
    LashContactDef* contact = add(set, true);
    contact->a_type = LASH_FEATURE_SPHERE;
    contact->inside = true;
    contact->a_radius = set->def->radius + set->def->play;
    contact->b_radius = set->def->radius;
}

static void list_contacts(LashJointType type, ContactSet* set) {
    const LashClearanceDef* clearance = set->def;
    switch (type) {
        case LASH_REVOLUTE:
            // the pin moves along the axis by axial at most, a tilted one a little more
            add_ends(set, 2 * clearance->axial + 4 * clearance->play);
            if (clearance->axial > 0) add_collars(set);
            break;
        case LASH_CYLINDRICAL:
            add_ends(set, INFINITY);
            break;
        case LASH_PRISMATIC:
            if (has_corners(clearance)) {
                add_corners(set);
            } else {
                add_ends(set, INFINITY);
            }
            break;
        case LASH_SPHERICAL:
            add_ball(set);
            break;
        case LASH_PLANAR:
            add_plate(set);
            break;
        default:
            break;
    }
}

int lash_clearance_contact_count(LashJointType type, const LashClearanceDef* clearance) {
    ContactSet set = {
        .def = clearance, .outer_frame = pose_identity(), .inner_frame = pose_identity()};
    if (clearance->play > 0) list_contacts(type, &set);
    return set.count;
}

static void add_joint_contacts(LashMechanism* mech, Joint* joint) {
    const LashJointDef* def = &joint->def;
    bool swap = def->clearance.outer_b;
    ContactSet set = {.def = &def->clearance,
                      .outer = swap ? def->body_b : def->body_a,
                      .inner = swap ? def->body_a : def->body_b,
                      .outer_frame = swap ? def->b_joint : def->a_joint,
                      .inner_frame = swap ? def->a_joint : def->b_joint};
    list_contacts(def->type, &set);
    joint->first_contact = mech->contacts;
    joint->contacts = set.count;
    for (int i = 0; i < set.count; ++i) {
        char name[160];
        snprintf(name, sizeof name, "%.140s.%d", def->name, i + 1);
        set.contact[i].name = name;
        lash_mechanism_add_contact(mech, &set.contact[i]);
    }
}

void clearance_add_contacts(LashMechanism* mech) {
    for (int j = 0; j < mech->joints; ++j) {
        if (mech->joint[j].def.clearance.play > 0) add_joint_contacts(mech, &mech->joint[j]);
    }
}

// --- Results -------------------------------------------------------------------------------------

int lash_mechanism_joint_contacts(const LashMechanism* mech, int joint, int* first) {
    if (first != NULL) *first = mech->joint[joint].first_contact;
    return mech->joint[joint].contacts;
}

int lash_mechanism_contact_interaction(const LashMechanism* mech, int contact) {
    return mech->contact[contact].interaction;
}

void clearance_reaction(const LashMechanism* mech, const LashSystemWork* work, const Joint* joint,
                        const JointFrames* frames, const double* P, Vec3* force, Vec3* moment) {
    for (int i = 0; i < joint->contacts; ++i) {
        const Contact* contact = &mech->contact[joint->first_contact + i];
        const LashInteraction* item = &mech->interaction[contact->interaction];
        const double* p = P + item->row;
        if (p[0] == 0) continue;
        bool same = contact->b == joint->b; // the contact pushes b, or its reaction does
        ContactView view;
        ContactState s;
        contact_view(same ? frames->a : frames->b, same ? frames->b : frames->a, &view);
        contact_gap(contact, &view, &s);
        if (work != NULL && contact->rim >= 0)
            rim_gap_again(&work->rims.rim[contact->rim], contact, &view, &s);
        contact_point(contact, &s);
        if (s.gap == INFINITY) s.point = s.center; // of a flat ring, nobody knows where
        double Ga[18], Gb[18];
        contact_directions(contact, &view, &s, item->rows, LASH_COMMON_POINT, Ga, Gb);
        Vec3 point = vec3_add(view.a->x, mat3_mul(view.a->R, s.point));
        const double* G = same ? Gb : Ga;
        Vec3 push = vec3_zero();
        for (int r = 0; r < item->rows; ++r) {
            push = vec3_add_scaled(push, p[r], vec3(G[6 * r], G[6 * r + 1], G[6 * r + 2]));
        }
        *force = vec3_add(*force, push);
        *moment = vec3_add(*moment, vec3_cross(vec3_sub(point, frames->p_b), push));
    }
}
