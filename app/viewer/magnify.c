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

static void destroy_twin(Twin* t) {
    lash_sim_destroy(t->sim);
    lash_mechanism_destroy(t->mech);
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
    ViewMagnifier* m = lash_alloc(sizeof *m);
    LashModel twin = *model; // shares everything but the joints
    size_t bytes = (size_t)model->joints * sizeof *model->joint;
    twin.joint = lash_alloc(bytes);
    twin.forces = twin.contact_points = 0;
    twin.joints = 0;
    for (int i = 0; i < model->joints; ++i) {
        if (!(model->joint[i].play.play > 0)) twin.joint[twin.joints++] = model->joint[i];
    }
    if (!has_couplings(model)) m->rest = create_twin(&twin);
    memcpy(twin.joint, model->joint, bytes);
    twin.joints = model->joints;
    for (int i = 0; i < twin.joints; ++i) {
        LashModelJoint* j = &twin.joint[i];
        if (!(j->play.play > 0)) continue;
        j->play = (LashClearanceDef){0};
        j->clearance = 0;
        j->friction = NAN; // of the contacts
    }
    m->ideal = create_twin(&twin);
    lash_free(twin.joint);
    m->zero = lash_alloc((size_t)m->ideal.system->nv * sizeof(double));
    m->d = lash_alloc((size_t)m->ideal.system->nv * sizeof(double));
    m->shown = lash_alloc((size_t)m->ideal.system->nq * sizeof(double));
    return m;
}

void view_magnifier_destroy(ViewMagnifier* m) {
    if (m == NULL) return;
    destroy_twin(&m->ideal);
    if (m->rest.mech != NULL) destroy_twin(&m->rest);
    lash_free(m->zero);
    lash_free(m->d);
    lash_free(m->shown);
    lash_free(m);
}

// The nearest configuration that satisfies the twin's joints; NULL when none was found.
static const double* project(ViewMagnifier* m, const Twin* t, double time, const double* q) {
    double moved = 0;
    const double *found, *v;
    lash_sim_set_state(t->sim, time, q, m->zero);
    if (!lash_sim_assemble(t->sim, &moved)) return NULL;
    lash_sim_state(t->sim, &found, &v);
    return found;
}

bool view_magnifier_apply(ViewMagnifier* m, const ViewScene* scene, ViewFrame* frame,
                          double factor) {
    const LashSystem* system = m->ideal.system;
    const double *q0 = project(m, &m->ideal, frame->time, frame->q), *closed = NULL;
    if (q0 == NULL) return false;
    system->difference(system, frame->q, q0, m->d);
    system->move(system, q0, factor, m->d, m->shown);
    if (m->rest.mech != NULL) closed = project(m, &m->rest, frame->time, m->shown);
    if (closed == NULL) closed = m->shown;
    for (int i = 0; i < scene->bodies; ++i) {
        const double* q = closed + 7 * i;
        frame->world_body[i] =
            pose(vec3(q[0], q[1], q[2]), quat_normalize(quat(q[3], q[4], q[5], q[6])));
    }
    return true;
}
