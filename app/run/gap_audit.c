#include "app/run/gap_audit.h"

#include <math.h>
#include <stdio.h>

#include "core/arena.h"
#include "core/math3.h"

static const double SAME = 1e-9; // gaps that agree so far are the same [m]
// Of a run. A look costs less than a step, a search some steps of a cam: together they take less
// than 4 % of a run of 10 000 steps (geneva, cam_follower).
enum { LOOKS = 500, SEARCHES = 20 };

AppGapAudit app_gap_audit_create(const LashMechanism* mech, int64_t frames) {
    int count = lash_mechanism_contact_count(mech);
    AppGapAudit audit = {
        .mech = mech, .contact = -1, .often = frames / LOOKS + 1, .rare = frames / SEARCHES + 1};
    audit.work = lash_alloc(((size_t)count + 1) * sizeof *audit.work);
    for (int i = 0; i < count; ++i) {
        const LashPair* pair = lash_mechanism_contact_pair(mech, i);
        if (pair == NULL || lash_pair_combinations(pair) == 0) continue; // BRepExtrema: unsigned
        audit.work[i] = lash_pair_work_create(pair);
        int slots = lash_pair_max_slots(pair);
        if (slots > audit.capacity) audit.capacity = slots;
    }
    audit.point = lash_alloc(((size_t)audit.capacity + 1) * sizeof *audit.point);
    return audit;
}

void app_gap_audit_free(AppGapAudit* audit) {
    if (audit->mech == NULL) return;
    for (int i = 0; i < lash_mechanism_contact_count(audit->mech); ++i)
        lash_pair_work_destroy(audit->work[i]);
    lash_free(audit->work);
    lash_free(audit->point);
}

static Pose body_pose(const double* q, int body) {
    if (body < 0) return pose_identity();
    const double* r = q + 7 * body;
    return pose(vec3(r[0], r[1], r[2]), quat(r[3], r[4], r[5], r[6]));
}

// Looks at one contact; returns whether the gaps differ. An open contact is one thing to both: how
// far it is open matters to nobody but outputs, which look for themselves (gap_watch.h).
static bool look_at(AppGapAudit* audit, int i, const double* q, double t, double step) {
    const LashPair* pair = lash_mechanism_contact_pair(audit->mech, i);
    LashPairWork* work = audit->work[i];
    int a, b, least = -1;
    lash_mechanism_contact_bodies(audit->mech, i, &a, &b);
    lash_pair_work_reset(work);
    int count = lash_pair_query(pair, work, body_pose(q, a), body_pose(q, b), 0, audit->point,
                                audit->capacity);
    for (int k = 0; k < count; ++k) {
        if (least < 0 || audit->point[k].gap < audit->point[least].gap) least = k;
    }
    double fresh = least < 0 ? 0 : audit->point[least].gap, seen = fmin(step, 0);
    double difference = fabs(seen - fresh), before = fabs(fmin(audit->step, 0) - audit->fresh);
    if (difference <= SAME) return false;
    if (audit->contact >= 0 && difference <= before) return true;
    audit->contact = i;
    audit->time = t;
    audit->step = step;
    audit->fresh = fresh;
    if (least >= 0) audit->place = audit->point[least].point_a;
    return true;
}

void app_gap_audit_frame(AppGapAudit* audit, LashSim* sim, const AppContactLog* log, bool last) {
    const double *q, *v;
    bool differs = false, search = last || audit->seen % audit->rare == 0;
    if (audit->seen++ % audit->often != 0 && !search) return;
    lash_sim_state(sim, &q, &v);
    for (int i = 0; i < lash_mechanism_contact_count(audit->mech); ++i) {
        if (audit->work[i] == NULL) continue;
        if (!search && lash_pair_searches(lash_mechanism_contact_pair(audit->mech, i))) continue;
        double seen = lash_mechanism_contact_seen(audit->mech, lash_sim_work(sim), i, q);
        if (seen == -INFINITY) continue; // proven to be apart
        if (look_at(audit, i, q, lash_sim_time(sim), log->contact[i].gap)) differs = true;
    }
    ++audit->frames;
    audit->differing += differs;
}

bool app_gap_audit_text(const AppGapAudit* audit, char* text, size_t size) {
    if (audit->contact < 0) return false;
    const char* name = lash_mechanism_contact_name(audit->mech, audit->contact);
    char step[40] = "open";
    if (isfinite(audit->step)) snprintf(step, sizeof step, "%.3g m", audit->step);
    snprintf(text, size,
             "contact '%.60s' has no certain gap: at t = %.9g s the run saw %s, evaluated from "
             "scratch it is %.3g m at [%.6g, %.6g, %.6g] m (%lld of %lld frames differ); its "
             "surfaces cross, are turned inside "
             "out or do not close there: choose other faces, or repair the part",
             name, audit->time, step, audit->fresh, audit->place.x, audit->place.y, audit->place.z,
             (long long)audit->differing, (long long)audit->frames);
    return true;
}

void app_gap_audit_put(AppJson* json, const AppGapAudit* audit) {
    app_json_key(json, "gaps_from_scratch");
    app_json_begin_object(json);
    app_json_put_integer(json, "frames", audit->frames);
    app_json_put_integer(json, "differing", audit->differing);
    if (audit->contact >= 0) {
        app_json_put_text(json, "contact",
                          lash_mechanism_contact_name(audit->mech, audit->contact));
        app_json_put_number(json, "time", audit->time);
        app_json_put_number(json, "gap_of_step", audit->step);
        app_json_put_number(json, "gap", audit->fresh);
        app_json_put_vec3(json, "point", audit->place);
    }
    app_json_end_object(json);
}
