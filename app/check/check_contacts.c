// Contacts in `lash check`.
//
// Fits. A convex and a hollow cylinder (or sphere) of the two sides belong together when, at the
// start, their axes (centers) are nearer than the larger radius; clearance = R - r + offset.
//
// Never. Two bodies held together by an ideal joint move against each other along its coordinates
// only; with rho and z the distance from the axis and the height along it of the middle of a face's
// box, r the radius of that box, two faces stay apart by at least
//     revolute     hypot(rho_a - rho_b, z_a - z_b) - r_a - r_b
//     cylindrical, screw   |rho_a - rho_b| - r_a - r_b
//     prismatic    distance across the axis - r_a - r_b
//     spherical, universal |d_a - d_b| - r_a - r_b,  d the distances from the center
//     planar       |z_a - z_b| - r_a - r_b
// When all pairs of faces do, the contact can never touch. Other mechanisms are not looked at.
#include "app/check/check_contacts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/model/model_internal.h"
#include "core/arena.h"
#include "core/math3.h"

// ---- sides as lists of faces --------------------------------------------------------------------

static int face_count(const LashPairSide* side) {
    return side->face_count > 0 ? side->face_count : side->shape->faces;
}
static const LashFace* face_at(const LashPairSide* side, int i) {
    return &side->shape->face[side->face_count > 0 ? side->faces[i] : i];
}
static Pose part_pose(const LashModel* model, int part) {
    return part < 0 ? pose_identity() : model->part[part].world_part;
}
static const char* part_name(const LashModel* model, int part) {
    return part < 0 ? "ground" : model->part[part].name;
}

// ---- fits ---------------------------------------------------------------------------------------

static void add_fit(CheckContacts* contacts, CheckFit fit) {
    double size = isfinite(fit.bore_radius) ? fit.bore_radius : 1;
    fit.zero = fabs(fit.radial) <= 1e-9 * fmax(size, 1e-3);
    contacts->fit = lash_grow(contacts->fit, contacts->fits, sizeof *contacts->fit);
    contacts->fit[contacts->fits++] = fit;
}

static bool has_same_parts(const CheckFit* a, const CheckFit* b) {
    if (a->contact < 0 || b->contact < 0) return false;
    return strcmp(a->bore_part, b->bore_part) == 0 && strcmp(a->pin_part, b->pin_part) == 0;
}

// Bores and pins that CAD systems cut in halves make four fits of one, two contacts on a journal two.
static bool is_known(const CheckContacts* contacts, const CheckFit* fit) {
    for (int i = 0; i < contacts->fits; ++i) {
        const CheckFit* other = &contacts->fit[i];
        double same = 1e-6 * fit->bore_radius;
        if (!has_same_parts(other, fit) || strcmp(other->what, fit->what) != 0) continue;
        if (fabs(other->radial - fit->radial) > same) continue;
        if (fabs(other->bore_radius - fit->bore_radius) > same) continue;
        if (fabs(other->pin_radius - fit->pin_radius) > same) continue;
        if (vec3_distance(other->place, fit->place) < fit->bore_radius) return true;
    }
    return false;
}

// Its middle, on the axis of a cylinder.
static Vec3 middle_of(const LashFace* bore, Pose world) {
    Vec3 middle = vec3_scale(0.5, vec3_add(bore->box.low, bore->box.high));
    double z = vec3_dot(vec3_sub(middle, bore->origin), bore->z);
    if (bore->type == LASH_SPHERE) z = 0;
    return pose_point(world, vec3_add_scaled(bore->origin, z, bore->z));
}

// Are a hollow and a convex round face one in the other?
static bool belong_together(const LashFace* bore, Pose world_bore, const LashFace* pin,
                            Pose world_pin) {
    if (bore->type != pin->type || bore->side > 0 || pin->side < 0) return false;
    Vec3 a = pose_point(world_bore, bore->origin), b = pose_point(world_pin, pin->origin);
    if (bore->type == LASH_SPHERE) return vec3_distance(a, b) < bore->radius;
    if (bore->type != LASH_CYLINDER) return false;
    Vec3 z = quat_rotate(world_bore.rot, bore->z), w = vec3_sub(b, a);
    double across = vec3_norm(vec3_add_scaled(w, -vec3_dot(w, z), z));
    double cosine = fabs(vec3_dot(z, quat_rotate(world_pin.rot, pin->z)));
    bool near = across < bore->radius && cosine > 0.99;
    return near && pin->radius < 1.2 * bore->radius && pin->radius > 0.5 * bore->radius;
}

static void find_fits(CheckContacts* contacts, const LashModel* model, int number) {
    const LashModelContactPoint* point = &model->contact_point[number];
    const LashPairSide* side[2] = {&point->side_a, &point->side_b};
    const int part[2] = {point->part_a, point->part_b};
    for (int hollow = 0; hollow < 2; ++hollow) {
        const LashPairSide *outer = side[hollow], *inner = side[1 - hollow];
        Pose world_outer = part_pose(model, part[hollow]);
        Pose world_inner = part_pose(model, part[1 - hollow]);
        for (int i = 0; i < face_count(outer); ++i) {
            for (int k = 0; k < face_count(inner); ++k) {
                const LashFace *bore = face_at(outer, i), *pin = face_at(inner, k);
                if (!belong_together(bore, world_outer, pin, world_inner)) continue;
                CheckFit fit = {.contact = number,
                                .joint = -1,
                                .what = bore->type == LASH_SPHERE ? "sphere" : "cylinder",
                                .bore = bore->index,
                                .pin = pin->index,
                                .bore_part = part_name(model, part[hollow]),
                                .pin_part = part_name(model, part[1 - hollow]),
                                .bore_radius = bore->radius,
                                .pin_radius = pin->radius,
                                .place = middle_of(bore, world_outer),
                                .radial = bore->radius - pin->radius + point->offset};
                if (!is_known(contacts, &fit)) add_fit(contacts, fit);
            }
        }
    }
}

static void find_joint_fits(CheckContacts* contacts, const LashModel* model) {
    for (int i = 0; i < model->joints; ++i) {
        const LashModelJoint* joint = &model->joint[i];
        if (!(joint->play.play > 0)) continue;
        bool guide = joint->type == LASH_PRISMATIC || joint->type == LASH_PLANAR;
        bool round = !guide || !(joint->play.width > 0);
        const char* bore = guide ? "guide" : "cylinder";
        add_fit(contacts,
                (CheckFit){.contact = -1,
                           .joint = i,
                           .what = joint->type == LASH_SPHERICAL ? "sphere" : bore,
                           .bore = -1,
                           .pin = -1,
                           .bore_radius = round ? joint->play.radius + joint->play.play : NAN,
                           .pin_radius = round ? joint->play.radius : NAN,
                           .radial = joint->play.play});
    }
}

// ---- overlaps -----------------------------------------------------------------------------------

static void find_overlaps(CheckContacts* contacts, const LashMechanism* mech, int number,
                          const double* q, double tolerance) {
    LashContactPlace place[64];
    int count = lash_mechanism_contact_points(mech, number, q, -tolerance, place, 64,
                                              &contacts->beyond[number]);
    if (contacts->beyond[number] > 0)
        contacts->deep[number] = lash_mechanism_contact_interference(mech, number, q);
    contacts->through[number] = lash_mechanism_contact_intrusion(mech, number, q);
    for (int i = 0; i < count && i < 64; ++i) {
        contacts->overlap =
            lash_grow(contacts->overlap, contacts->overlaps, sizeof *contacts->overlap);
        contacts->overlap[contacts->overlaps++] = (CheckOverlap){number, place[i]};
    }
}

// ---- contacts that can never touch --------------------------------------------------------------

typedef struct Ball {
    Vec3 center;
    double radius;
} Ball;

static Ball face_ball(const LashFace* face, Pose world) {
    Vec3 middle = vec3_scale(0.5, vec3_add(face->box.low, face->box.high));
    return (Ball){pose_point(world, middle), 0.5 * vec3_distance(face->box.low, face->box.high)};
}

// The least distance of two balls fixed to the sides of an ideal joint [m]; -1: not known.
static double least_distance(const LashModelJoint* joint, Ball a, Ball b) {
    Vec3 z = quat_rotate(joint->world_a.rot, vec3(0, 0, 1)), o = joint->world_a.r;
    Vec3 wa = vec3_sub(a.center, o), wb = vec3_sub(b.center, o), w = vec3_sub(wb, wa);
    double za = vec3_dot(wa, z), zb = vec3_dot(wb, z), both = a.radius + b.radius;
    double ra = vec3_norm(vec3_add_scaled(wa, -za, z)), rb = vec3_norm(vec3_add_scaled(wb, -zb, z));
    switch ((LashJointType)joint->type) {
        case LASH_FIXED:
            return vec3_norm(w) - both;
        case LASH_REVOLUTE:
            return hypot(ra - rb, za - zb) - both;
        case LASH_CYLINDRICAL:
        case LASH_SCREW:
            return fabs(ra - rb) - both;
        case LASH_PRISMATIC:
            return vec3_norm(vec3_add_scaled(w, -vec3_dot(w, z), z)) - both;
        case LASH_SPHERICAL:
        case LASH_UNIVERSAL:
            return fabs(vec3_norm(wa) - vec3_norm(wb)) - both;
        case LASH_PLANAR:
            return fabs(za - zb) - both;
        default:
            return -1;
    }
}

static int body_of(const LashModel* model, int part) {
    return part < 0 ? -1 : model->part[part].body;
}

static bool can_never_touch(const LashModel* model, const LashModelContactPoint* point) {
    int a = body_of(model, point->part_a), b = body_of(model, point->part_b);
    const LashPairSide *side_a = &point->side_a, *side_b = &point->side_b;
    if (face_count(side_a) == 0 || face_count(side_b) == 0) return false; // edges only
    for (int j = 0; j < model->joints; ++j) {
        const LashModelJoint* joint = &model->joint[j];
        int ja = body_of(model, joint->part_a), jb = body_of(model, joint->part_b);
        bool between = (ja == a && jb == b) || (ja == b && jb == a);
        bool couples = joint->type == LASH_GEAR || joint->type == LASH_RACK_AND_PINION;
        if (!between || couples || joint->play.play > 0) continue;
        double least = INFINITY;
        for (int i = 0; i < face_count(side_a) && least > 0; ++i) {
            Ball ball = face_ball(face_at(side_a, i), part_pose(model, point->part_a));
            for (int k = 0; k < face_count(side_b) && least > 0; ++k) {
                Ball other = face_ball(face_at(side_b, k), part_pose(model, point->part_b));
                least = fmin(least, least_distance(joint, ball, other) + fmin(0, point->offset));
            }
        }
        if (least > 0) return true;
    }
    return false;
}

// ---- all ----------------------------------------------------------------------------------------

CheckContacts check_contacts(const LashModel* model, const LashMechanism* mech, const double* q,
                             double tolerance) {
    CheckContacts c = {.points = model->contact_points};
    c.beyond = lash_alloc(((size_t)c.points + 1) * sizeof *c.beyond);
    c.deep = lash_alloc(((size_t)c.points + 1) * sizeof *c.deep);
    c.never = lash_alloc((size_t)c.points + 1);
    c.through = lash_alloc(((size_t)c.points + 1) * sizeof *c.through);
    for (int i = 0; i < c.points; ++i) {
        find_overlaps(&c, mech, i, q, tolerance);
        if (!model->contact_point[i].surfaces) continue;
        find_fits(&c, model, i);
        c.never[i] = can_never_touch(model, &model->contact_point[i]);
    }
    find_joint_fits(&c, model);
    return c;
}

void check_contacts_free(CheckContacts* contacts) {
    lash_free(contacts->fit);
    lash_free(contacts->overlap);
    lash_free(contacts->beyond);
    lash_free(contacts->deep);
    lash_free(contacts->never);
    lash_free(contacts->through);
}

static const char* fit_name(const CheckFit* fit, const LashModel* model) {
    return fit->joint >= 0 ? model->joint[fit->joint].name
                           : model->contact_point[fit->contact].name;
}

static void print_fit(const CheckFit* fit, const LashModel* model) {
    printf("  %-18s ", fit_name(fit, model));
    if (isfinite(fit->bore_radius)) {
        printf("%s of radius %.6g m", fit->what[0] == 's' ? "socket" : "bore", fit->bore_radius);
        if (fit->bore_part != NULL) printf(" (%s, face %d)", fit->bore_part, fit->bore);
        printf(", %s %.6g m", fit->what[0] == 's' ? "ball" : "pin", fit->pin_radius);
        if (fit->pin_part != NULL) printf(" (%s, face %d)", fit->pin_part, fit->pin);
        printf(": clearance %.6g m radial, %.6g m diametral", fit->radial, 2 * fit->radial);
    } else {
        printf("guide: clearance %.6g m per side, %.6g m in all", fit->radial, 2 * fit->radial);
    }
    const char* trouble = fit->radial < 0 ? "  INTERFERENCE" : "";
    printf("%s\n", fit->zero ? "  ZERO CLEARANCE" : trouble);
}

static void print_too_deep(const CheckContacts* contacts, const LashModel* model, int i) {
    const LashContactPlace* deep = &contacts->deep[i];
    printf("overlaps     %s: in each other too deeply to be measured",
           model->contact_point[i].name);
    if (deep->gap < 0)
        printf(", %.3g m at [%.6g, %.6g, %.6g]", -deep->gap, deep->point.x, deep->point.y,
               deep->point.z);
    printf("\n");
}

// ---- the outside of loose faces -----------------------------------------------------------------

static const char* side_file(const LashModel* model, const LashModelContactPoint* point, int k) {
    const LashModelContact* contact = &model->contact[point->contact];
    const LashModelSide* side = k == 0 ? &contact->a : &contact->b;
    int part = k == 0 ? point->part_a : point->part_b;
    if (side->step != NULL) return side->step;
    return part >= 0 && model->part[part].step != NULL ? model->part[part].step : "";
}

// What told the outside, for people and for programs.
static const char* outside_rule(const LashModelOutside* outside, bool words) {
    if (outside->by_flip == outside->groups) return words ? "the model's \"flip\"" : "flip";
    if (outside->solid == outside->groups) return words ? "the part's solid" : "solid";
    if (outside->start == outside->groups)
        return words ? "the opposite faces at the start" : "start";
    return words ? "several, face by face" : "several";
}

static const char* turned_text(const LashModelOutside* outside) {
    if (outside->turned == 0) return "as in the file";
    return outside->turned == outside->groups ? "turned" : "some turned";
}

static void print_outsides(const LashModel* model) {
    bool first = true;
    for (int i = 0; i < model->contact_points; ++i) {
        const LashModelContactPoint* point = &model->contact_point[i];
        for (int k = 0; k < 2; ++k) {
            const LashModelOutside* model_outside = &point->outside[k];
            if (model_outside->groups == 0) continue;
            if (first) printf("outside      of loose faces, and what told it\n");
            first = false;
            printf("  %-18s %c: %s, by %s (%s)\n", point->name, "ab"[k], turned_text(model_outside),
                   outside_rule(model_outside, true), side_file(model, point, k));
        }
    }
}

static void put_outsides(AppJson* json, const LashModel* model) {
    app_json_key(json, "outside");
    app_json_begin_array(json);
    for (int i = 0; i < model->contact_points; ++i) {
        const LashModelContactPoint* point = &model->contact_point[i];
        for (int k = 0; k < 2; ++k) {
            const LashModelOutside* model_outside = &point->outside[k];
            if (model_outside->groups == 0) continue;
            app_json_begin_object(json);
            app_json_put_text(json, "contact", point->name);
            app_json_put_text(json, "side", k == 0 ? "a" : "b");
            app_json_put_text(json, "file", side_file(model, point, k));
            app_json_put_integer(json, "groups", model_outside->groups);
            app_json_put_integer(json, "turned", model_outside->turned);
            app_json_put_text(json, "rule", outside_rule(model_outside, false));
            app_json_end_object(json);
        }
    }
    app_json_end_array(json);
}

// ---- reports ------------------------------------------------------------------------------------

static const char* owner_of(const LashModel* model, int body) {
    for (int i = 0; i < model->parts && body >= 0; ++i)
        if (model->part[i].body == body) return model->part[i].name;
    return "ground";
}

static void print_through(const CheckContacts* contacts, const LashModel* model, int i) {
    const LashContactIntrusion* in = &contacts->through[i];
    if (!(in->depth > 0)) return;
    bool named = in->name[0] != '\0';
    printf(
        "through      %s: %.3g m inside '%s' at [%.6g, %.6g, %.6g] through its face %d%s%s%s, "
        "which the contact leaves out\n",
        model->contact_point[i].name, in->depth, owner_of(model, in->body), in->point.x,
        in->point.y, in->point.z, in->face, named ? " ('" : "", in->name, named ? "')" : "");
}

void check_contacts_print(const CheckContacts* contacts, const LashModel* model) {
    bool first = true;
    print_outsides(model);
    for (int i = 0; i < contacts->fits; ++i) {
        if (contacts->fit[i].joint >= 0) continue; // told with its clearance
        if (first) printf("fits         pins in bores and balls in sockets of contacts\n");
        first = false;
        print_fit(&contacts->fit[i], model);
    }
    if (contacts->overlaps > 0) printf("overlaps     depth and place\n");
    for (int i = 0; i < contacts->overlaps; ++i) {
        const LashContactPlace* contact_place = &contacts->overlap[i].place;
        printf("  %-18s %.6g m at [%.6g, %.6g, %.6g] along [%.3g, %.3g, %.3g]\n",
               model->contact_point[contacts->overlap[i].contact].name, -contact_place->gap,
               contact_place->point.x, contact_place->point.y, contact_place->point.z,
               contact_place->normal.x, contact_place->normal.y, contact_place->normal.z);
    }
    for (int i = 0; i < contacts->points; ++i) {
        if (contacts->beyond[i] > 0) print_too_deep(contacts, model, i);
        print_through(contacts, model, i);
        if (contacts->never[i])
            printf("never        %s: the joint between its parts keeps the faces apart\n",
                   model->contact_point[i].name);
    }
}

static void put_fit(AppJson* json, const CheckFit* fit, const LashModel* model) {
    app_json_begin_object(json);
    app_json_put_text(json, fit->joint >= 0 ? "joint" : "contact", fit_name(fit, model));
    app_json_put_text(json, "type", fit->what);
    if (isfinite(fit->bore_radius)) {
        app_json_put_number(json, "bore_radius", fit->bore_radius);
        app_json_put_number(json, "pin_radius", fit->pin_radius);
    }
    if (fit->bore_part != NULL) {
        app_json_put_text(json, "bore_part", fit->bore_part);
        app_json_put_integer(json, "bore_face", fit->bore);
        app_json_put_text(json, "pin_part", fit->pin_part);
        app_json_put_integer(json, "pin_face", fit->pin);
    }
    app_json_put_number(json, "radial", fit->radial);
    app_json_put_number(json, "diametral", 2 * fit->radial);
    app_json_put_bool(json, "zero", fit->zero);
    app_json_end_object(json);
}

void check_contacts_put(AppJson* json, const CheckContacts* contacts, const LashModel* model) {
    put_outsides(json, model);
    app_json_key(json, "fits");
    app_json_begin_array(json);
    for (int i = 0; i < contacts->fits; ++i) put_fit(json, &contacts->fit[i], model);
    app_json_end_array(json);
    app_json_key(json, "overlaps");
    app_json_begin_array(json);
    for (int i = 0; i < contacts->overlaps; ++i) {
        const LashContactPlace* contact_place = &contacts->overlap[i].place;
        app_json_begin_object(json);
        app_json_put_text(json, "contact", model->contact_point[contacts->overlap[i].contact].name);
        app_json_put_number(json, "depth", -contact_place->gap);
        app_json_put_vec3(json, "point", contact_place->point);
        app_json_put_vec3(json, "normal", contact_place->normal);
        app_json_end_object(json);
    }
    app_json_end_array(json);
    app_json_key(json, "too_deep");
    app_json_begin_array(json);
    for (int i = 0; i < contacts->points; ++i) {
        const LashContactPlace* deep = &contacts->deep[i];
        if (contacts->beyond[i] == 0) continue;
        app_json_begin_object(json);
        app_json_put_text(json, "contact", model->contact_point[i].name);
        app_json_put_number(json, "depth", deep->gap < 0 ? -deep->gap : NAN); // null: not found
        if (deep->gap < 0) app_json_put_vec3(json, "point", deep->point);
        app_json_end_object(json);
    }
    app_json_end_array(json);
    app_json_key(json, "through_faces");
    app_json_begin_array(json);
    for (int i = 0; i < contacts->points; ++i) {
        const LashContactIntrusion* in = &contacts->through[i];
        if (!(in->depth > 0)) continue;
        app_json_begin_object(json);
        app_json_put_text(json, "contact", model->contact_point[i].name);
        app_json_put_text(json, "part", owner_of(model, in->body));
        app_json_put_integer(json, "face", in->face);
        app_json_put_number(json, "depth", in->depth);
        app_json_put_vec3(json, "point", in->point);
        app_json_end_object(json);
    }
    app_json_end_array(json);
    app_json_key(json, "never_touch");
    app_json_begin_array(json);
    for (int i = 0; i < contacts->points; ++i) {
        if (contacts->never[i]) app_json_text(json, model->contact_point[i].name);
    }
    app_json_end_array(json);
}
