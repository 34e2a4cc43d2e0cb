// The clearance magnifier. A twin of the mechanism has ideal joints instead of those with play. The
// frame's configuration q is projected onto the twin's constraints (the nearest one in the metric
// of the masses): q_0 is where the bodies would be without play, and
//
//     q_shown = q_0 (+) k (q (-) q_0)
//
// exaggerates what the play did, k times. Ideal joints, also those in loops, stay closed to first
// order in the displacement; a second twin, which has only the ideal joints, closes them exactly.
#include "app/viewer/magnify.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/math3.h"

typedef struct Twin {
    LashMechanism* mech;
    const LashSystem* system;
    LashSim* sim;
} Twin;

struct ViewMagnifier {
    Twin ideal, rest;         // all joints without play; without the joints that have play
    double *zero, *d, *shown; // v, q (-) q_0, q
};

static Twin create_twin(const LashModel* model) {
    LashError error = {0};
    Twin t = {.mech = lash_model_build(model, &error)};
    LASH_ASSERT(t.mech != NULL); // the model was built before
    t.system = lash_mechanism_system(t.mech);
    t.sim = lash_sim_create(t.system, &model->simulation.settings);
    return t;
}

static void destroy_twin(Twin* twin) {
    lash_sim_destroy(twin->sim);
    lash_mechanism_destroy(twin->mech);
}

// Gears name other joints by number: without them the list can be shortened.
static bool has_couplings(const LashModel* model) {
    for (int i = 0; i < model->joints; ++i) {
        int type = model->joint[i].type;
        if (type == LASH_GEAR || type == LASH_RACK_AND_PINION) return true;
    }
    return false;
}

ViewMagnifier* view_magnifier_create(const LashModel* model) {
    bool any = false;
    for (int i = 0; i < model->joints; ++i) any = any || model->joint[i].play.play > 0;
    if (!any) return NULL;
    ViewMagnifier* magnifier = lash_alloc(sizeof *magnifier);
    LashModel twin = *model; // shares everything but the joints
    size_t bytes = (size_t)model->joints * sizeof *model->joint;
    twin.joint = lash_alloc(bytes);
    twin.forces = twin.contact_points = 0;
    twin.joints = 0;
    for (int i = 0; i < model->joints; ++i) {
        if (!(model->joint[i].play.play > 0)) twin.joint[twin.joints++] = model->joint[i];
    }
    if (!has_couplings(model)) magnifier->rest = create_twin(&twin);
    memcpy(twin.joint, model->joint, bytes);
    twin.joints = model->joints;
    for (int i = 0; i < twin.joints; ++i) {
        LashModelJoint* model_joint = &twin.joint[i];
        if (!(model_joint->play.play > 0)) continue;
        model_joint->play = (LashClearanceDef){0};
        model_joint->clearance = 0;
        model_joint->friction = NAN; // of the contacts
    }
    magnifier->ideal = create_twin(&twin);
    lash_free(twin.joint);
    magnifier->zero = lash_alloc((size_t)magnifier->ideal.system->nv * sizeof(double));
    magnifier->d = lash_alloc((size_t)magnifier->ideal.system->nv * sizeof(double));
    magnifier->shown = lash_alloc((size_t)magnifier->ideal.system->nq * sizeof(double));
    return magnifier;
}

void view_magnifier_destroy(ViewMagnifier* magnifier) {
    if (magnifier == NULL) return;
    destroy_twin(&magnifier->ideal);
    if (magnifier->rest.mech != NULL) destroy_twin(&magnifier->rest);
    lash_free(magnifier->zero);
    lash_free(magnifier->d);
    lash_free(magnifier->shown);
    lash_free(magnifier);
}

// The nearest configuration that satisfies the twin's joints; NULL when none was found.
static const double* project(ViewMagnifier* magnifier, const Twin* twin, double time,
                             const double* q) {
    double moved = 0;
    const double *found, *v;
    lash_sim_set_state(twin->sim, time, q, magnifier->zero);
    if (!lash_sim_assemble(twin->sim, &moved)) return NULL;
    lash_sim_state(twin->sim, &found, &v);
    return found;
}

bool view_magnifier_apply(ViewMagnifier* magnifier, const ViewScene* scene, ViewFrame* frame,
                          double factor) {
    const LashSystem* system = magnifier->ideal.system;
    const double *q0 = project(magnifier, &magnifier->ideal, frame->time, frame->q), *closed = NULL;
    if (q0 == NULL) return false;
    system->difference(system, frame->q, q0, magnifier->d);
    system->move(system, q0, factor, magnifier->d, magnifier->shown);
    if (magnifier->rest.mech != NULL)
        closed = project(magnifier, &magnifier->rest, frame->time, magnifier->shown);
    if (closed == NULL) closed = magnifier->shown;
    for (int i = 0; i < scene->bodies; ++i) {
        const double* q = closed + 7 * i;
        frame->world_body[i] =
            pose(vec3(q[0], q[1], q[2]), quat_normalize(quat(q[3], q[4], q[5], q[6])));
    }
    return true;
}
