// The clearance magnifier. A twin of the mechanism has ideal joints instead of those with play. The
// frame's configuration q is projected onto the twin's constraints (the nearest one in the metric
// of the masses): q_0 is where the bodies would be without play, and
//
//     q_shown = q_0 (+) k (q (-) q_0)
//
// exaggerates what the play did, k times. Ideal joints, also those in loops, stay closed to first
// order in the displacement: pictures tear by k^2 |q - q_0|^2 / size at most.
#include "app/viewer/magnify.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/math3.h"

struct ViewMagnifier {
    LashMechanism* mech;
    const LashSystem* system;
    LashSim* sim;
    double *zero, *d, *shown; // v, q (-) q_0, q
};

ViewMagnifier* view_magnifier_create(const LashModel* model) {
    bool any = false;
    for (int i = 0; i < model->joints; ++i) any = any || model->joint[i].play.play > 0;
    if (!any) return NULL;
    LashModel twin = *model; // shares everything but the joints
    size_t bytes = (size_t)model->joints * sizeof *model->joint;
    twin.joint = lash_alloc(bytes);
    memcpy(twin.joint, model->joint, bytes);
    for (int i = 0; i < twin.joints; ++i) {
        twin.joint[i].play.play = twin.joint[i].play.axial = 0;
        twin.joint[i].clearance = 0;
        twin.joint[i].friction = NAN; // of the contacts
    }
    twin.forces = twin.contact_points = 0;
    LashError error = {0};
    LashMechanism* mech = lash_model_build(&twin, &error);
    lash_free(twin.joint);
    if (mech == NULL) return NULL;
    ViewMagnifier* m = lash_alloc(sizeof *m);
    m->mech = mech;
    m->system = lash_mechanism_system(mech);
    m->sim = lash_sim_create(m->system, &model->simulation.settings);
    m->zero = lash_alloc((size_t)m->system->nv * sizeof(double));
    m->d = lash_alloc((size_t)m->system->nv * sizeof(double));
    m->shown = lash_alloc((size_t)m->system->nq * sizeof(double));
    return m;
}

void view_magnifier_destroy(ViewMagnifier* m) {
    if (m == NULL) return;
    lash_sim_destroy(m->sim);
    lash_mechanism_destroy(m->mech);
    lash_free(m->zero);
    lash_free(m->d);
    lash_free(m->shown);
    lash_free(m);
}

bool view_magnifier_apply(ViewMagnifier* m, const ViewScene* scene, ViewFrame* frame,
                          double factor) {
    double moved = 0;
    const double *q0, *v;
    lash_sim_set_state(m->sim, frame->time, frame->q, m->zero);
    if (!lash_sim_assemble(m->sim, &moved)) return false;
    lash_sim_state(m->sim, &q0, &v);
    m->system->difference(m->system, frame->q, q0, m->d);
    m->system->move(m->system, q0, factor, m->d, m->shown);
    for (int i = 0; i < scene->bodies; ++i) {
        const double* q = m->shown + 7 * i;
        frame->world_body[i] =
            pose(vec3(q[0], q[1], q[2]), quat_normalize(quat(q[3], q[4], q[5], q[6])));
    }
    return true;
}
