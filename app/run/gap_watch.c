// Where the step looked, its signed gap counts; elsewhere distance + offset. Where both are known
// they are the same number, unless a place of the faces that cannot touch is nearer than all that
// can: then they differ by less than the motion that a step looks ahead.
#include "app/run/gap_watch.h"

#include <math.h>

#include "app/model/model_internal.h"
#include "app/model/quantity.h"
#include "core/arena.h"
#include "core/math3.h"
#include "geometry/distance.h"

typedef struct Watched { // a contact between faces, or a joint with play
    int contact, joint;  // joint -1: a contact
    int a, b;            // bodies of the contact, -1: ground
    double offset;       // [m]
    LashDistance* distance;
} Watched;

struct AppGapWatch {
    const LashMechanism* mech;
    Watched* item;
    int count;
};

static bool is_watched(const AppGapWatch* watch, int contact) {
    for (int i = 0; i < watch->count; ++i) {
        if (watch->item[i].contact == contact) return true;
    }
    return false;
}

static void add(AppGapWatch* watch, Watched item) {
    size_t count = (size_t)watch->count + 1;
    watch->item = lash_realloc(watch->item, count * sizeof *watch->item);
    watch->item[watch->count++] = item;
}

static void add_output(AppGapWatch* watch, const LashModel* model, const LashModelOutput* output) {
    for (int i = output->index; i < output->index + output->count; ++i) {
        const LashModelContactPoint* point = &model->contact_point[i];
        if (!point->surfaces || is_watched(watch, i)) continue;
        LashPairDef def = model_pair_def(model, point);
        Watched item = {.contact = i, .joint = -1, .offset = def.offset};
        item.distance = lash_distance_create(&def.a, &def.b);
        lash_mechanism_contact_bodies(watch->mech, i, &item.a, &item.b);
        add(watch, item);
    }
    for (int j = 0; j < model->joints; ++j) {
        const LashModelJoint* joint = &model->joint[j];
        bool whole = joint->contacts > 0 && joint->first_contact == output->index &&
                     joint->contacts == output->count;
        if (whole && !is_watched(watch, output->index))
            add(watch, (Watched){.contact = output->index, .joint = j});
    }
}

AppGapWatch* app_gap_watch_create(const LashModel* model, const LashMechanism* mech) {
    AppGapWatch* watch = lash_alloc(sizeof *watch);
    watch->mech = mech;
    for (int i = 0; i < model->outputs; ++i) {
        if (model->output[i].kind == LASH_GAP) add_output(watch, model, &model->output[i]);
    }
    if (watch->count > 0) return watch;
    app_gap_watch_free(watch);
    return NULL;
}

void app_gap_watch_free(AppGapWatch* watch) {
    if (watch == NULL) return;
    for (int i = 0; i < watch->count; ++i) lash_distance_destroy(watch->item[i].distance);
    lash_free(watch->item);
    lash_free(watch);
}

static Pose body_pose(const double* q, int body) {
    if (body < 0) return pose_identity();
    const double* r = q + 7 * body;
    return pose(vec3(r[0], r[1], r[2]), quat(r[3], r[4], r[5], r[6]));
}

static void update_joint(const AppGapWatch* watch, const Watched* item, const double* q,
                         double* gap) {
    int count = lash_mechanism_joint_contacts(watch->mech, item->joint, NULL);
    for (int i = item->contact; i < item->contact + count; ++i) {
        if (gap[i] < INFINITY) return;
    }
    gap[item->contact] = lash_mechanism_joint_distance(watch->mech, item->joint, q);
}

void app_gap_watch_update(AppGapWatch* watch, const double* q, double* gap) {
    for (int i = 0; watch != NULL && i < watch->count; ++i) {
        const Watched* item = &watch->item[i];
        if (item->joint >= 0) {
            update_joint(watch, item, q, gap);
            continue;
        }
        if (gap[item->contact] < INFINITY) continue;
        Pose a = body_pose(q, item->a), b = body_pose(q, item->b);
        gap[item->contact] = lash_distance_query(item->distance, a, b).distance + item->offset;
    }
}
