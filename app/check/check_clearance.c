// lash check: the play of joints with clearance, radial and diametral, as used and as the CAD faces
// measure.
#include <math.h>
#include <stdio.h>

#include "app/check/check_internal.h"
#include "app/check/check_play.h"

void check_clearances_put(AppJson* json, const LashModel* model) {
    app_json_key(json, "clearances");
    app_json_begin_array(json);
    for (int i = 0; i < model->joints; ++i) {
        const LashModelJoint* joint = &model->joint[i];
        if (!(joint->play.play > 0) && isnan(joint->measured)) continue;
        app_json_begin_object(json);
        app_json_put_text(json, "joint", joint->name);
        app_json_put_number(json, "radial", joint->play.play);
        app_json_put_number(json, "diametral", 2 * joint->play.play);
        app_json_put_number(json, "axial", joint->play.axial);
        CheckPlay cad = check_play(model, i);
        app_json_put_number(json, "measured", cad.known ? cad.play : NAN);
        app_json_put_bool(json, "agrees", cad.agrees);
        app_json_put_integer(json, "contacts", joint->contacts);
        app_json_end_object(json);
    }
    app_json_end_array(json);
}

static void print_radii(const LashModelJoint* joint) {
    bool ball = joint->type == LASH_SPHERICAL;
    printf("; %s of radius %.6g m, %s %.6g m", ball ? "socket" : "bore",
           joint->play.radius + joint->play.play, ball ? "ball" : "pin", joint->play.radius);
}

static void print_measured(const LashModel* model, int joint, bool sides) {
    CheckPlay cad = check_play(model, joint);
    if (!cad.known) return;
    printf("; CAD faces");
    if (cad.bore >= 0)
        printf(" %d of %s and %d of %s", cad.bore, model->part[cad.outer].name, cad.pin,
               model->part[cad.inner].name);
    printf(" measure %.6g m %s, %.6g m %s", cad.play, sides ? "per side" : "radial", 2 * cad.play,
           sides ? "in all" : "diametral");
    if (!cad.agrees && cad.on_purpose) printf(" (the model's clearance counts)");
    if (!cad.agrees && !cad.on_purpose) printf("  DIFFERENT");
}

void check_clearances_print(const LashModel* model) {
    bool first = true;
    for (int i = 0; i < model->joints; ++i) {
        const LashModelJoint* joint = &model->joint[i];
        if (!(joint->play.play > 0) && isnan(joint->measured)) continue;
        if (first) printf("clearance    joints with play\n");
        first = false;
        bool sides = joint->type == LASH_PLANAR || joint->play.width > 0;
        printf("  %-18s ", joint->name);
        if (joint->play.play > 0) {
            printf("%.6g m %s, %.6g m %s", joint->play.play, sides ? "per side" : "radial",
                   2 * joint->play.play, sides ? "in all" : "diametral");
            if (joint->type == LASH_REVOLUTE) printf(", axial %.6g m per side", joint->play.axial);
            if (!sides) print_radii(joint);
        } else {
            printf("none: ideal");
        }
        print_measured(model, i, sides);
        printf("\n");
    }
}
