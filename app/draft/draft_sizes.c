// The play of a joint from the toleranced diameters of its bore and its pin (AP242).
//
// Both known: a fit. Its size is the pin's nominal diameter; a bore drawn larger has its deviations
// counted from there, so that play = hole - shaft is that of the two faces. One known only, or a fit
// that interferes in the middle of its zones: the reason says so and the drawn play stands.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/draft/draft.h"
#include "app/model/fit.h"

// The first usable size of the round's faces; NULL: none. *note: of one that cannot be used.
static const LashSize* size_of(const Draft* draft, const DraftRound* round, const char** note) {
    const LashShape* shape = draft->shape;
    for (int i = 0; i < shape->sizes; ++i) {
        const LashSize* size = &shape->size[i];
        if (size->kind != LASH_SIZE_DIAMETER) continue;
        for (int k = 0; k < round->faces; ++k) {
            if (size->face != round->face[k]) continue;
            if (size->note == 0) return size;
            *note = lash_shape_string(shape, size->note);
        }
    }
    return NULL;
}

// Deviations of a size; false: its class is not known at that diameter.
static bool zone_of(const Draft* draft, const LashSize* size, LashZone* zone, LashError* error) {
    *zone = (LashZone){.lower = size->lower, .upper = size->upper};
    if (!isnan(size->lower)) return true;
    char text[80];
    LashFit fit;
    const char* name = lash_shape_string(draft->shape, size->class_name);
    snprintf(text, sizeof text, "%.9g %s", 1e3 * size->nominal, name);
    if (!lash_fit_parse(text, &fit, error)) return false;
    *zone = fit.hole.kind != LASH_ZONE_NONE ? fit.hole : fit.shaft;
    return true;
}

// "H7", or "(+0.015 0)" counted from a size that is less by `shift` [m].
static void zone_text(const LashZone* zone, double shift, char* text, size_t size) {
    if (zone->name[0] != '\0' && fabs(shift) < 1e-12)
        snprintf(text, size, "%s", zone->name);
    else
        snprintf(text, size, "(%+.9g %+.9g)", 1e3 * (zone->upper + shift),
                 1e3 * (zone->lower + shift));
}

static void say(DraftJoint* joint, const char* what, const char* detail) {
    size_t used = strlen(joint->reason);
    snprintf(joint->reason + used, sizeof joint->reason - used, "; %s%s", what, detail);
}

static void replace_question(DraftJoint* joint) {
    static const char question[] = "drawn without play: which fit?";
    static const char answer[] = "drawn without play";
    char* at = strstr(joint->reason, question);
    if (at == NULL) return;
    size_t kept = strlen(answer);
    memmove(at + kept, at + strlen(question), strlen(at + strlen(question)) + 1);
}

static void attach(const Draft* draft, DraftJoint* joint) {
    const char* note = NULL;
    const LashSize* bore = size_of(draft, &draft->round[joint->bore], &note);
    const LashSize* pin = size_of(draft, &draft->round[joint->pin], &note);
    if (bore == NULL || pin == NULL) {
        if (note != NULL) say(joint, "a size in the file cannot be used: ", note);
        if (bore != NULL) say(joint, "the file has a tolerance of the bore, none of the pin", "");
        if (pin != NULL) say(joint, "the file has a tolerance of the pin, none of the bore", "");
        return;
    }
    LashZone hole, shaft;
    LashError error = {0};
    if (!zone_of(draft, bore, &hole, &error) || !zone_of(draft, pin, &shaft, &error)) {
        say(joint, "a class in the file cannot be used: ", error.message);
        return;
    }
    char hole_text[48], shaft_text[48], text[128];
    double shift = bore->nominal - pin->nominal;
    zone_text(&hole, shift, hole_text, sizeof hole_text);
    zone_text(&shaft, 0, shaft_text, sizeof shaft_text);
    double least = hole.lower + shift - shaft.upper, most = hole.upper + shift - shaft.lower;
    snprintf(text, sizeof text, "%.9g %s/%s", 1e3 * pin->nominal, hole_text, shaft_text);
    if (!(least + most > 0)) {
        say(joint, "its sizes in the file leave no play: ", text);
        return;
    }
    snprintf(joint->fit, sizeof joint->fit, "%s", text);
    replace_question(joint);
    say(joint, "play from the sizes in the file: ", text);
    snprintf(text, sizeof text, ", %.4g to %.4g um per side", 0.5e6 * least, 0.5e6 * most);
    size_t used = strlen(joint->reason);
    snprintf(joint->reason + used, sizeof joint->reason - used, "%s", text);
}

void draft_attach_sizes(Draft* draft) {
    int count = 0;
    for (int i = 0; i < draft->joints; ++i) {
        DraftJoint* joint = &draft->joint[i];
        bool has_play = joint->type != DRAFT_FIXED && joint->type != DRAFT_PRISMATIC;
        if (joint->bore >= 0 && has_play && draft->shape->sizes > 0) attach(draft, joint);
        count += joint->fit[0] != '\0';
    }
    if (draft->shape->sizes > 0)
        draft_add_note(draft, "sizes: the file has %d with tolerances; %d joint%s a play from them",
                       draft->shape->sizes, count, count == 1 ? " takes" : "s take");
}
