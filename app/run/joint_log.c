// The play of joints over a run.
//
// A joint touches in a step when one of its contacts pushes in it, it slides when one of those
// moves along its surface at the end of the step. Wear is the work of friction, taken positive:
// wear laws (Archard) make the worn volume proportional to it.
#include "app/run/joint_log.h"

#include <math.h>
#include <stdio.h>

#include "app/model/quantity.h"
#include "core/arena.h"

static const double SLIDES = 1e-6; // slower than this sticks [m/s]

void app_work_push(AppWork* work, const LashPush* push) {
    work->normal += push->work_n;
    work->friction += push->work_t;
    work->step += push->work_n + push->work_t;
    work->pressed += push->P[0];
}
void app_work_step(AppWork* work) {
    work->gain = fmax(work->gain, work->step);
}
bool app_work_gives(const AppWork* work, double tolerance) {
    return app_work_net(work) > tolerance * work->pressed;
}
void app_work_put(AppJson* json, const AppWork* work, double tolerance) {
    app_json_put_number(json, "contact_work", app_work_net(work));
    app_json_put_bool(json, "gives_energy", app_work_gives(work, tolerance));
    app_json_put_number(json, "largest_gain", work->gain);
}

static void look(AppJointPlay* joint, const LashMechanism* mech, int j, const double* q) {
    LashPlay play = lash_mechanism_joint_play(mech, j, q);
    joint->eccentricity = play.eccentricity;
    joint->tilt = play.tilt;
    joint->eccentricity_max = fmax(joint->eccentricity_max, play.eccentricity);
    joint->tilt_max = fmax(joint->tilt_max, play.tilt);
}

AppJointLog app_joint_log_create(const LashMechanism* mech, const double* q) {
    AppJointLog log = {.count = lash_mechanism_joint_count(mech)};
    int contacts = lash_mechanism_contact_count(mech);
    log.joint = lash_alloc((size_t)log.count * sizeof *log.joint);
    log.owner = lash_alloc((size_t)contacts * sizeof *log.owner);
    for (int c = 0; c < contacts; ++c) log.owner[c] = -1;
    for (int j = 0; j < log.count; ++j) {
        AppJointPlay* joint = &log.joint[j];
        joint->contacts = lash_mechanism_joint_contacts(mech, j, &joint->first);
        for (int c = 0; c < joint->contacts; ++c) log.owner[joint->first + c] = j;
        if (joint->contacts > 0) look(joint, mech, j, q);
    }
    return log;
}

void app_joint_log_free(AppJointLog* log) {
    lash_free(log->joint);
    lash_free(log->owner);
}

static void count_impacts(AppJointLog* log, const LashMechanism* mech, const LashSim* sim) {
    int events;
    const LashEvent* event = lash_sim_events(sim, &events);
    double last = -INFINITY;
    int counted = -1;
    for (int i = 0; i < events; ++i) {
        int contact = lash_mechanism_contact_of(mech, event[i].id);
        if (event[i].kind != LASH_EVENT_IMPACT || contact < 0) continue;
        int joint = log->owner[contact];
        if (joint < 0 || (joint == counted && event[i].t == last)) continue; // both ends: once
        ++log->joint[joint].impacts;
        counted = joint;
        last = event[i].t;
    }
}

// Work of the step, in all its parts; which joints touched in it.
static void add_pushes(AppJointLog* log, const LashMechanism* mech, const LashSim* sim) {
    int count;
    const LashPush* push = lash_sim_pushes(sim, &count);
    for (int j = 0; j < log->count; ++j) log->joint[j].work.step = log->joint[j].impulse = 0;
    for (int i = 0; i < count; ++i) {
        int contact = lash_mechanism_contact_of(mech, push[i].id);
        int j = contact < 0 ? lash_mechanism_joint_of(mech, push[i].id) : log->owner[contact];
        if (j < 0) continue;
        app_work_push(&log->joint[j].work, &push[i]);
        if (contact >= 0) log->joint[j].impulse += push[i].P[0];
    }
    for (int j = 0; j < log->count; ++j) {
        AppJointPlay* joint = &log->joint[j];
        app_work_step(&joint->work);
    }
}

// Sorts the impulse of the step into load and blow.
static void add_blow(AppJointPlay* joint, bool struck, double h) {
    if (struck)
        joint->peak_impulse = fmax(joint->peak_impulse, joint->impulse - joint->load * h);
    else
        joint->load = joint->impulse / h;
}

void app_joint_log_step(AppJointLog* log, const LashMechanism* mech, const LashSim* sim,
                        const AppStrike* strike, double h) {
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    const LashInteractionList* list = lash_sim_interactions(sim);
    const double *U = lash_sim_velocities(sim), *P = lash_sim_contact_impulses(sim);
    count_impacts(log, mech, sim);
    add_pushes(log, mech, sim);
    for (int j = 0; j < log->count; ++j) {
        AppJointPlay* joint = &log->joint[j];
        if (joint->contacts == 0) continue;
        add_blow(joint, app_strike_joint(strike, mech, j), h);
        bool slides = false;
        joint->points = 0;
        for (int c = joint->first; c < joint->first + joint->contacts; ++c) {
            const LashInteraction* item = &list->item[lash_mechanism_contact_interaction(mech, c)];
            if (!(P[item->row] > 0)) continue;
            ++joint->points;
            slides = slides || item->rows < 3 || hypot(U[item->row + 1], U[item->row + 2]) > SLIDES;
        }
        *(joint->impulse > 0 ? &joint->contact : &joint->free) += h;
        if (slides) joint->sliding += h;
        look(joint, mech, j, q);
    }
}

void app_joint_log_frame(const AppJointLog* log, const LashRecordLayout* layout, double* frame) {
    const int* at = layout->offset;
    for (int j = 0; j < log->count; ++j) {
        const AppJointPlay* joint = &log->joint[j];
        frame[at[LASH_SERIES_JOINT_ECCENTRICITY] + j] = joint->eccentricity;
        frame[at[LASH_SERIES_JOINT_TILT] + j] = joint->tilt;
        frame[at[LASH_SERIES_JOINT_POINTS] + j] = joint->points;
        frame[at[LASH_SERIES_JOINT_IMPACTS] + j] = (double)joint->impacts;
        frame[at[LASH_SERIES_JOINT_WEAR] + j] = 0 - joint->work.friction;
        frame[at[LASH_SERIES_JOINT_WORK_NET] + j] = app_work_net(&joint->work);
    }
}

static void put_play(AppJson* json, const AppJointPlay* joint, double clearance) {
    app_json_put_number(json, "clearance", clearance);
    app_json_put_number(json, "eccentricity", joint->eccentricity);
    app_json_put_number(json, "eccentricity_max", joint->eccentricity_max);
    app_json_put_number(json, "tilt", joint->tilt);
    app_json_put_number(json, "tilt_max", joint->tilt_max);
    app_json_put_integer(json, "contact_points", joint->points);
    app_json_put_integer(json, "impacts", joint->impacts);
    app_json_put_number(json, "peak_impulse", joint->peak_impulse);
    app_json_put_number(json, "free_time", joint->free);
    app_json_put_number(json, "contact_time", joint->contact);
    app_json_put_number(json, "sliding_time", joint->sliding);
}

void app_joint_log_put(AppJson* json, const AppJointLog* log, const LashModel* model) {
    double tolerance = model->simulation.settings.tolerance_velocity;
    app_json_key(json, "joints");
    app_json_begin_object(json);
    for (int j = 0; j < log->count; ++j) {
        const AppJointPlay* joint = &log->joint[j];
        if (joint->contacts == 0 && joint->work.pressed == 0) continue;
        app_json_key(json, model->joint[j].name);
        app_json_begin_object(json);
        if (joint->contacts > 0) put_play(json, joint, model->joint[j].play.play);
        app_json_put_number(json, "wear", 0 - joint->work.friction);
        app_work_put(json, &joint->work, tolerance);
        app_json_end_object(json);
    }
    app_json_end_object(json);
}

void app_joint_log_print(const AppJointLog* log, const LashModel* model, int name_width) {
    bool first = true;
    for (int j = 0; j < log->count; ++j) {
        const AppJointPlay* joint = &log->joint[j];
        if (joint->contacts == 0) continue;
        if (first) {
            printf("joints with clearance\n");
            printf("  %-*s %10s %8s %9s %9s %9s %11s %11s %11s %10s\n", name_width, "", "play",
                   "impacts", "free", "touching", "sliding", "peak push", "wear", "net work",
                   "most tilt");
            printf("  %-*s %10s %8s %9s %9s %9s %11s %11s %11s %10s\n", name_width, "", "[m]", "",
                   "[s]", "[s]", "[s]", "[N s]", "[J]", "[J]", "[rad]");
        }
        first = false;
        printf("  %-*s %10.4g %8lld %9.4g %9.4g %9.4g %11.4g %11.4g %11.4g %10.3g\n", name_width,
               model->joint[j].name, model->joint[j].play.play, (long long)joint->impacts,
               joint->free, joint->contact, joint->sliding, joint->peak_impulse,
               0 - joint->work.friction, app_work_net(&joint->work), joint->tilt_max);
    }
}
