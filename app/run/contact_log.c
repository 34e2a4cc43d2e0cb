// The contacts of a run.
//
// When a contact closes within a step from t to t + h, the time of the impact is estimated from the
// gap and the approach at t: t + gap / -U_n, within the step.
//
// A step's impulse is a force times its length, unless an impact reached the contact in it (hit, or
// closed and passing on what another one received): then what exceeds the load it carried before is
// the impulse of the impact, and both tend to numbers of their own as the step gets shorter.
#include "app/run/contact_log.h"

#include <math.h>
#include <string.h>

#include "app/model/quantity.h"
#include "core/arena.h"
#include "core/math3.h"

// Puts numbers where outputs ask for gaps that the step did not look at.
static void watch_gaps(AppContactLog* log, const double* q) {
    if (log->watch == NULL) return;
    for (int i = 0; i < log->count; ++i) log->gap[i] = log->contact[i].gap;
    app_gap_watch_update(log->watch, q, log->gap);
    for (int i = 0; i < log->count; ++i) log->contact[i].gap = log->gap[i];
}

AppContactLog app_contact_log_create(const LashModel* model, const LashMechanism* mech,
                                     const double* q) {
    AppContactLog log = {.count = lash_mechanism_contact_count(mech)};
    log.contact = lash_alloc((size_t)log.count * sizeof *log.contact);
    log.gap = lash_alloc((size_t)log.count * sizeof *log.gap);
    log.watch = app_gap_watch_create(model, mech);
    for (int i = 0; i < log.count; ++i) {
        log.contact[i].gap = lash_mechanism_contact_place(mech, i, q).gap;
        log.contact[i].first_impact = log.contact[i].peak_time = NAN;
    }
    watch_gaps(&log, q);
    log.joints = app_joint_log_create(mech, q);
    log.strike = app_strike_create(mech);
    return log;
}

void app_contact_log_free(AppContactLog* log) {
    app_gap_watch_free(log->watch);
    lash_free(log->contact);
    lash_free(log->gap);
    lash_free(log->point);
    app_joint_log_free(&log->joints);
    app_strike_free(&log->strike);
}

// Impulse on side b of a contact, world axes: that on b, or minus that on a.
static Vec3 world_impulse(const LashMechanism* mech, const LashPush* push) {
    int a, b;
    lash_mechanism_interaction_bodies(mech, push->id, &a, &b);
    return vec3_scale(b >= 0 ? 1 : -1, vec3(push->impulse[0], push->impulse[1], push->impulse[2]));
}

static void add_impact(AppContact* contact, const LashEvent* event) {
    ++contact->impacts;
    if (!isnan(contact->first_impact)) return;
    double approach = -event->U_before[0];
    double after = approach > 0 ? fmax(event->gap_before, 0) / approach : 0;
    contact->first_impact = event->t + fmin(after, event->h);
}

static bool take_events(AppContactLog* log, const LashMechanism* mech, const LashSim* sim,
                        LashRecorder* recorder, LashError* error) {
    int count;
    const LashEvent* event = lash_sim_events(sim, &count);
    for (int i = 0; i < count; ++i) {
        int number = lash_mechanism_contact_of(mech, event[i].id), coordinate;
        bool contact = number >= 0; // else a limit or friction of a joint
        if (contact && event[i].kind == LASH_EVENT_IMPACT)
            add_impact(&log->contact[number], &event[i]);
        if (recorder == NULL) continue;
        LashJointPart part = lash_mechanism_joint_part(event[i].id, &coordinate);
        LashRecordEvent row = {.kind = (int32_t)event[i].kind,
                               .contact = number,
                               .joint = lash_mechanism_joint_of(mech, event[i].id),
                               .part = (int32_t)part,
                               .coordinate = coordinate,
                               .t = event[i].t,
                               .h = event[i].h,
                               .gap = event[i].gap_before};
        memcpy(row.impulse, event[i].impulse, sizeof row.impulse);
        memcpy(row.before, event[i].U_before, sizeof row.before);
        memcpy(row.after, event[i].U_after, sizeof row.after);
        if (!lash_recorder_add_event(recorder, &row, error)) return false;
    }
    return true;
}

// Sums and peaks with the step just done, which ended at t; struck: by an impact.
static void add_up(const AppContactLog* log, AppContact* contact, bool struck, double t) {
    double normal = contact->P[0];
    contact->blow = struck ? normal - contact->load * log->h : 0;
    for (int r = 0; r < 3; ++r) contact->sum[r] += contact->P[r];
    contact->impulse_sum = vec3_add(contact->impulse_sum, contact->impulse);
    contact->largest = fmax(contact->largest, contact->blow);
    if (contact->blow > contact->peak_impulse) {
        contact->peak_impulse = contact->blow;
        contact->peak_time = t;
    }
    if (!struck) {
        contact->load = normal / log->h;
        contact->peak_force = fmax(contact->peak_force, contact->load);
    }
    app_work_step(&contact->work);
}

static void add_pushes(AppContactLog* log, const LashMechanism* mech, const LashSim* sim) {
    int count;
    const LashPush* push = lash_sim_pushes(sim, &count);
    for (int i = 0; i < count; ++i) {
        int number = lash_mechanism_contact_of(mech, push[i].id);
        if (number < 0) continue;
        AppContact* contact = &log->contact[number];
        const double* P = push[i].P;
        contact->impulse = vec3_add(contact->impulse, world_impulse(mech, &push[i]));
        contact->P[0] += P[0];
        if (lash_mechanism_contact_is_pair(mech, number))
            contact->P[1] += hypot(P[1], P[2]); // rows it does not have are 0
        else {
            contact->P[1] = P[1];
            contact->P[2] = P[2];
        }
        app_work_push(&contact->work, &push[i]);
    }
}

// All pushes together, and which joint, or contact of no joint, fed in most in the step that ended
// at t.
static void look_for_gain(AppContactLog* log, const LashSim* sim, double t) {
    int count;
    const LashPush* push = lash_sim_pushes(sim, &count);
    log->all.step = 0;
    for (int i = 0; i < count; ++i) app_work_push(&log->all, &push[i]);
    if (log->all.step > log->all.gain) log->all_time = t;
    app_work_step(&log->all);
    for (int j = 0; j < log->joints.count; ++j) {
        double work = log->joints.joint[j].work.step;
        if (work > log->gain.work) log->gain = (AppGain){work, t, j, -1};
    }
    for (int i = 0; i < log->count; ++i) {
        double work = log->contact[i].work.step;
        if (log->joints.owner[i] < 0 && work > log->gain.work)
            log->gain = (AppGain){work, t, -1, i};
    }
}

bool app_contact_log_step(AppContactLog* log, const LashMechanism* mech, LashSim* sim, double h,
                          LashRecorder* recorder, LashError* error) {
    const LashInteractionList* list = lash_sim_interactions(sim);
    const double* gap = lash_sim_gaps(sim);
    log->h = h;
    log->frame_time += h;
    for (int i = 0; i < log->count; ++i) {
        AppContact* contact = &log->contact[i];
        contact->gap = INFINITY;
        contact->work.step = 0;
        contact->P[0] = contact->P[1] = contact->P[2] = 0;
        contact->impulse = vec3_zero();
    }
    if (!take_events(log, mech, sim, recorder, error)) return false;
    for (int i = list->bilateral; i < list->count; ++i) {
        int number = lash_mechanism_contact_of(mech, list->item[i].id);
        if (number < 0) continue;
        log->contact[number].gap = fmin(log->contact[number].gap, gap[list->item[i].row]);
    }
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    for (int i = 0; i < log->count; ++i) { // the least of a list that may lack a nearer one
        AppContact* contact = &log->contact[i];
        bool far = isfinite(contact->gap) && contact->gap > 0;
        if (far && contact->gap > lash_mechanism_contact_seen(mech, lash_sim_work(sim), i, q))
            contact->gap = INFINITY;
    }
    watch_gaps(log, q);
    add_pushes(log, mech, sim);
    app_strike_step(&log->strike, mech, sim);
    for (int i = 0; i < log->count; ++i) {
        bool struck = app_strike_contact(&log->strike, mech, i);
        add_up(log, &log->contact[i], struck, lash_sim_time(sim));
    }
    app_joint_log_step(&log->joints, mech, sim, &log->strike, h);
    look_for_gain(log, sim, lash_sim_time(sim));
    return true;
}

// Pushes stand in the order in which they came, mostly that of the list: the search goes on from the
// place of the last one.
static const LashPush* push_of(const LashSim* sim, uint64_t id, int* from) {
    int count;
    const LashPush* push = lash_sim_pushes(sim, &count);
    for (int i = 0; i < count; ++i) {
        int k = (*from + i) % count;
        if (push[k].id != id) continue;
        *from = k + 1;
        return &push[k];
    }
    return NULL;
}

static void put_point(const LashContactPlace* place, Vec3 force, LashRecordPoint* record_point) {
    record_point->point[0] = place->point.x;
    record_point->point[1] = place->point.y;
    record_point->point[2] = place->point.z;
    record_point->normal[0] = place->normal.x;
    record_point->normal[1] = place->normal.y;
    record_point->normal[2] = place->normal.z;
    record_point->force[0] = force.x;
    record_point->force[1] = force.y;
    record_point->force[2] = force.z;
}

bool app_contact_log_points(AppContactLog* log, const LashMechanism* mech, LashSim* sim,
                            LashRecorder* recorder, LashError* error) {
    const double closed = 1e-9; // [m]
    log->points = 0;
    if (log->count == 0 || lash_sim_steps(sim) == 0 || log->stale) return true;
    const LashInteractionList* list = lash_sim_interactions(sim);
    const double *q, *v, *gap = lash_sim_gaps(sim);
    lash_sim_state(sim, &q, &v);
    int from = 0;
    for (int i = list->bilateral; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        int number = lash_mechanism_contact_of(mech, item->id);
        LashContactPlace place;
        if (number < 0) continue;
        bool touches = gap[item->row] <= closed;
        const LashPush* push =
            touches || log->contact[number].P[0] > 0 ? push_of(sim, item->id, &from) : NULL;
        if (push == NULL && !touches) continue;
        if (!lash_mechanism_interaction_place(mech, lash_sim_work(sim), i, q, &place)) continue;
        if (log->points == log->capacity) {
            log->capacity = 2 * log->capacity + 16;
            log->point = lash_realloc(log->point, (size_t)log->capacity * sizeof *log->point);
        }
        LashRecordPoint* record_point = &log->point[log->points++];
        *record_point = (LashRecordPoint){.contact = number,
                                          .joint = log->joints.owner[number],
                                          .id = item->id,
                                          .gap = gap[item->row]};
        Vec3 impulse = push == NULL ? vec3_zero() : world_impulse(mech, push);
        put_point(&place, vec3_scale(1 / log->h, impulse), record_point);
    }
    if (recorder == NULL) return true;
    return lash_recorder_add_points(recorder, log->point, log->points, error);
}

void app_contact_log_frame(AppContactLog* log, const LashRecordLayout* layout, double* frame) {
    app_joint_log_frame(&log->joints, layout, frame);
    double* gap = frame + layout->offset[LASH_SERIES_CONTACT_GAP];
    double* impulse = frame + layout->offset[LASH_SERIES_CONTACT_IMPULSE];
    double* force = frame + layout->offset[LASH_SERIES_CONTACT_FORCE];
    double* peak = frame + layout->offset[LASH_SERIES_CONTACT_PEAK];
    double* impacts = frame + layout->offset[LASH_SERIES_CONTACT_IMPACTS];
    double* work = frame + layout->offset[LASH_SERIES_CONTACT_WORK];
    for (int i = 0; i < log->count; ++i) {
        AppContact* contact = &log->contact[i];
        gap[i] = contact->gap;
        memcpy(impulse + 3 * i, contact->sum, sizeof contact->sum);
        Vec3 mean = log->frame_time > 0 ? vec3_scale(1 / log->frame_time, contact->impulse_sum)
                                        : vec3_zero();
        force[3 * i] = mean.x;
        force[3 * i + 1] = mean.y;
        force[3 * i + 2] = mean.z;
        peak[i] = contact->largest;
        impacts[i] = (double)contact->impacts;
        work[i] = app_work_net(&contact->work);
        contact->sum[0] = contact->sum[1] = contact->sum[2] = contact->largest = 0;
        contact->impulse_sum = vec3_zero();
    }
    log->frame_time = 0;
}
