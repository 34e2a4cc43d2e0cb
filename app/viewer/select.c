// What is selected, and what is told of it. One thing at a time, the same in the tree, in space and
// in the timeline.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/viewer/viewer.h"

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

const char* viewer_event_text(const Viewer* viewer, int64_t event, char* text, size_t size) {
    text[0] = '\0';
    if (event < 0 || event >= viewer->events) return text;
    const ViewEvent* e = &viewer->event[event];
    char when[32], how[48] = "";
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
    if (e->impulse > 0 && isfinite(e->impulse)) snprintf(how, sizeof how, ", %.3g N s", e->impulse);
    snprintf(text, size, "%s at %s: %.40s and %.40s in %.60s%s", lash_event_name(e->kind), when,
             body_name(viewer, a), body_name(viewer, b), place, how);
    return text;
}

int64_t viewer_event_near(const Viewer* viewer, double t, double slack) {
    int64_t best = -1;
    for (int64_t i = 0; i < viewer->events; ++i) {
        const ViewEvent* e = &viewer->event[i];
        if (fabs(e->t - t) > slack) continue;
        if (best < 0 || e->impulse > viewer->event[best].impulse) best = i;
    }
    return best;
}
