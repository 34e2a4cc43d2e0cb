// What is selected, and what is told of it. One thing at a time, the same in the tree, in space and
// in the timeline.
#define _GNU_SOURCE // strcasestr
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/viewer/viewer.h"
#include "solvers/sim.h"

static void select_nothing(Viewer* viewer) {
    viewer->selected = (ViewPick){-1, -1};
    viewer->selected_joint = -1;
    viewer->selected_contact = -1;
    viewer->selected_event = -1;
}

void viewer_select_part(Viewer* viewer, int part, int face) {
    select_nothing(viewer);
    viewer->selected = (ViewPick){part, face};
}

void viewer_select_joint(Viewer* viewer, int joint) {
    select_nothing(viewer);
    viewer->selected_joint = joint;
}

void viewer_select_contact(Viewer* viewer, int contact) {
    select_nothing(viewer);
    viewer->selected_contact = contact;
}

// With the event the place where it happened.
void viewer_select_event(Viewer* viewer, int64_t event) {
    select_nothing(viewer);
    if (event < 0 || event >= viewer->events) return;
    const ViewEvent* e = &viewer->event[event];
    viewer->selected_event = event;
    if (e->contact >= 0 && e->contact < viewer->scene.contacts)
        viewer->selected_contact = e->contact;
    else if (e->joint >= 0 && e->joint < viewer->scene.joints)
        viewer->selected_joint = e->joint;
}

int viewer_contact_joint(const Viewer* viewer, int contact) {
    for (int j = 0; j < viewer->scene.joints; ++j) {
        int first = 0, count = lash_mechanism_joint_contacts(viewer->scene.mech, j, &first);
        if (contact >= first && contact < first + count) return j;
    }
    return -1;
}

static const char* body_name(const Viewer* viewer, int body) {
    return body < 0 ? "ground" : lash_mechanism_body_name(viewer->scene.mech, body);
}

// Time with a prefix that keeps it short: "12.345 ms".
static void put_time(double t, char* text, size_t size) {
    if (fabs(t) < 0.1)
        snprintf(text, size, "%.6g ms", 1e3 * t);
    else
        snprintf(text, size, "%.6g s", t);
}

// Is there an impact of the contact that ends in (after, until]?
static bool struck_again(const Viewer* viewer, int64_t event, double after, double until) {
    for (int64_t i = event + 1; i < viewer->events && viewer->event[i].t <= until; ++i) {
        const ViewEvent* e = &viewer->event[i];
        bool impact = e->kind == LASH_EVENT_IMPACT || e->kind == LASH_EVENT_PLASTIC;
        if (e->contact == viewer->event[event].contact && impact && e->t > after) return true;
    }
    return false;
}

// An impact has an impulse and no force. What the contact carries afterwards is known from the next
// frame on, unless it has opened or was struck again in that frame's last step: NAN.
static double force_after(Viewer* viewer, int64_t event) {
    const ViewEvent* e = &viewer->event[event];
    double slack = 0.25 * e->h, sum = 0;
    if (e->contact < 0) return NAN;
    int64_t index = view_source_find(viewer->source, e->t + slack) + 1;
    if (index >= viewer->status.frames) return NAN;
    ViewFrame frame = view_frame_create(&viewer->scene);
    LashError ignored = {0};
    bool good = view_source_frame(viewer->source, index, &frame, &ignored);
    double t = good ? view_source_time(viewer->source, index) : 0;
    for (int i = 0; i < frame.points && good; ++i) {
        const LashRecordPoint* p = &frame.point[i];
        if (p->contact != e->contact) continue;
        for (int k = 0; k < 3; ++k) sum += p->force[k] * p->normal[k];
    }
    view_frame_destroy(&frame);
    bool again = struck_again(viewer, event, t - viewer->status.step + slack, t + slack);
    return good && sum > 0 && isfinite(sum) && !again ? sum : NAN;
}

// Of an event without a jump of velocity the impulse of its step over the step; of an impact what
// comes after it.
static double force_of(Viewer* viewer, int64_t event) {
    const ViewEvent* e = &viewer->event[event];
    bool impact = e->kind == LASH_EVENT_IMPACT || e->kind == LASH_EVENT_PLASTIC;
    if (!impact) return e->contact >= 0 && e->h > 0 && e->impulse > 0 ? e->impulse / e->h : NAN;
    if (viewer->force_event == event) return viewer->event_force;
    double force = force_after(viewer, event);
    if (isfinite(force) || !viewer->status.running) {
        viewer->force_event = event;
        viewer->event_force = force;
    }
    return force;
}

// ", 0.25 N s, then 31 N"
static void put_strength(Viewer* viewer, int64_t event, char* text, size_t size) {
    const ViewEvent* e = &viewer->event[event];
    bool impact = e->kind == LASH_EVENT_IMPACT || e->kind == LASH_EVENT_PLASTIC;
    double force = force_of(viewer, event);
    text[0] = '\0';
    if (e->impulse > 0 && isfinite(e->impulse)) snprintf(text, size, ", %.3g N s", e->impulse);
    if (!isfinite(force)) return;
    size_t used = strlen(text);
    snprintf(text + used, size - used, impact ? ", then %.3g N" : ", %.3g N", force);
}

const char* viewer_event_text(Viewer* viewer, int64_t event, char* text, size_t size) {
    text[0] = '\0';
    if (event < 0 || event >= viewer->events) return text;
    const ViewEvent* e = &viewer->event[event];
    char when[32], how[80];
    int a = -1, b = -1, joint = e->joint;
    const char* place = "?";
    put_time(e->t, when, sizeof when);
    if (e->contact >= 0 && e->contact < viewer->scene.contacts) {
        lash_mechanism_contact_bodies(viewer->scene.mech, e->contact, &a, &b);
        joint = viewer_contact_joint(viewer, e->contact);
        place = lash_mechanism_contact_name(viewer->scene.mech, e->contact);
    } else if (joint >= 0 && joint < viewer->scene.joints) {
        a = viewer->scene.joint[joint].body_a;
        b = viewer->scene.joint[joint].body_b;
    }
    if (joint >= 0 && joint < viewer->scene.joints) place = viewer->scene.joint[joint].name;
    put_strength(viewer, event, how, sizeof how);
    snprintf(text, size, "%s at %s: %.40s and %.40s in %.60s%s", lash_event_name(e->kind), when,
             body_name(viewer, a), body_name(viewer, b), place, how);
    return text;
}

int64_t viewer_event_near(const Viewer* viewer, double t, double slack) {
    int64_t best = -1;
    for (int64_t i = 0; i < viewer->events; ++i) {
        const ViewEvent* e = &viewer->event[i];
        if (fabs(e->t - t) > slack || !viewer_event_passes(viewer, i)) continue;
        if (best < 0 || e->impulse > viewer->event[best].impulse) best = i;
    }
    return best;
}

// ---- filter -------------------------------------------------------------------------------------

static bool contains(const char* name, const char* piece) {
    return strcasestr(name, piece) != NULL;
}

void viewer_filter(Viewer* viewer, const char* text) {
    const ViewScene* scene = &viewer->scene;
    if (text != viewer->filter) snprintf(viewer->filter, sizeof viewer->filter, "%s", text);
    const char* piece = viewer->filter;
    for (int i = 0; i < scene->parts; ++i)
        viewer->part_passes[i] = contains(scene->part[i].name, piece);
    for (int i = 0; i < scene->joints; ++i) {
        const ViewJoint* joint = &scene->joint[i];
        viewer->joint_passes[i] = contains(joint->name, piece) ||
                                  contains(body_name(viewer, joint->body_a), piece) ||
                                  contains(body_name(viewer, joint->body_b), piece);
    }
    for (int i = 0; i < scene->contacts; ++i) {
        int a = -1, b = -1;
        lash_mechanism_contact_bodies(scene->mech, i, &a, &b);
        viewer->contact_passes[i] = contains(lash_mechanism_contact_name(scene->mech, i), piece) ||
                                    contains(body_name(viewer, a), piece) ||
                                    contains(body_name(viewer, b), piece);
    }
}

bool viewer_event_passes(const Viewer* viewer, int64_t event) {
    const ViewEvent* e = &viewer->event[event];
    if (e->contact >= 0)
        return e->contact < viewer->scene.contacts && viewer->contact_passes[e->contact];
    return e->joint < 0 || e->joint >= viewer->scene.joints || viewer->joint_passes[e->joint];
}
