// The contacts of a run.
//
// When a contact closes within a step from t to t + h, the time of the impact is estimated from the
// gap and the approach at t: t + gap / -U_n, within the step.
#include "app/contact_log.h"

#include <math.h>
#include <string.h>

#include "app/quantity.h"
#include "core/arena.h"
#include "core/math3.h"

AppContactLog app_contact_log_create(const LashMechanism* mech, const double* q) {
    AppContactLog log = {.count = lash_mechanism_contact_count(mech)};
    log.contact = lash_alloc((size_t)log.count * sizeof *log.contact);
    for (int i = 0; i < log.count; ++i) {
        log.contact[i].gap = lash_mechanism_contact_place(mech, i, q).gap;
        log.contact[i].first_impact = log.contact[i].peak_time = NAN;
    }
    return log;
}

void app_contact_log_free(AppContactLog* log) {
    lash_free(log->contact);
}

static void add_impact(AppContact* contact, const LashEvent* event) {
    contact->hit = true;
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
        int number = lash_mechanism_contact_of(mech, event[i].id);
        if (number < 0) continue;
        if (event[i].kind == LASH_EVENT_IMPACT) add_impact(&log->contact[number], &event[i]);
        AppContact* contact = &log->contact[number];
        if (event[i].impulse[0] > contact->peak_impulse) { // one of a sub-step, too
            contact->peak_impulse = event[i].impulse[0];
            contact->peak_time = event[i].t + event[i].h;
        }
        contact->largest = fmax(contact->largest, event[i].impulse[0]);
        if (recorder == NULL) continue;
        LashRecordEvent row = {.kind = (int32_t)event[i].kind,
                               .contact = number,
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

bool app_contact_log_step(AppContactLog* log, const LashMechanism* mech, LashSim* sim,
                          const LashStepInfo* info, double h, LashRecorder* recorder,
                          LashError* error) {
    if (log->count == 0) return true;
    const LashInteractionList* list = lash_sim_interactions(sim);
    const double *gap = lash_sim_gaps(sim), *P = lash_sim_impulses(sim);
    log->h = h / info->substeps;
    for (int i = 0; i < log->count; ++i) {
        AppContact* contact = &log->contact[i];
        contact->gap = INFINITY, contact->hit = false;
        contact->P[0] = contact->P[1] = contact->P[2] = 0;
    }
    if (!take_events(log, mech, sim, recorder, error)) return false;
    for (int i = list->bilateral; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        int number = lash_mechanism_contact_of(mech, item->id);
        if (number < 0) continue;
        AppContact* contact = &log->contact[number];
        contact->gap = gap[item->row];
        for (int r = 0; r < item->rows && r < 3; ++r) {
            contact->P[r] = P[item->row + r];
            contact->sum[r] += P[item->row + r];
        }
        double normal = contact->P[0];
        contact->largest = fmax(contact->largest, normal);
        if (normal > contact->peak_impulse) {
            contact->peak_impulse = normal, contact->peak_time = lash_sim_time(sim);
        }
        if (!contact->hit) contact->peak_force = fmax(contact->peak_force, normal / log->h);
    }
    return true;
}

void app_contact_log_frame(AppContactLog* log, const LashRecordLayout* layout, double* frame) {
    double* gap = frame + layout->offset[LASH_SERIES_CONTACT_GAP];
    double* impulse = frame + layout->offset[LASH_SERIES_CONTACT_IMPULSE];
    double* peak = frame + layout->offset[LASH_SERIES_CONTACT_PEAK];
    double* impacts = frame + layout->offset[LASH_SERIES_CONTACT_IMPACTS];
    for (int i = 0; i < log->count; ++i) {
        AppContact* contact = &log->contact[i];
        gap[i] = contact->gap;
        memcpy(impulse + 3 * i, contact->sum, sizeof contact->sum);
        peak[i] = contact->largest;
        impacts[i] = (double)contact->impacts;
        contact->sum[0] = contact->sum[1] = contact->sum[2] = contact->largest = 0;
    }
}

double app_contact_log_value(const AppContactLog* log, const LashModelOutput* output) {
    double gap = INFINITY, first = INFINITY, impacts = 0, n = 0, t = 0, all = 0;
    for (int i = output->index; i < output->index + output->count; ++i) {
        const AppContact* contact = &log->contact[i];
        double friction = hypot(contact->P[1], contact->P[2]);
        gap = fmin(gap, contact->gap);
        first = fmin(first, contact->first_impact); // passes over NAN
        impacts += (double)contact->impacts;
        n += contact->P[0];
        t += friction;
        all += hypot(contact->P[0], friction);
    }
    double per_time = log->h > 0 ? 1 / log->h : 0;
    switch (output->kind) {
        case LASH_GAP:
            return gap;
        case LASH_CONTACT_FORCE:
            return all * per_time;
        case LASH_NORMAL_FORCE:
            return n * per_time;
        case LASH_FRICTION_FORCE:
            return t * per_time;
        case LASH_IMPULSE:
            return n;
        case LASH_IMPACTS:
            return impacts;
        default:
            return isfinite(first) ? first : NAN; // LASH_FIRST_IMPACT
    }
}
