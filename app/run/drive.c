// The loop over the steps of a run, once for all commands.
#include <math.h>

#include "app/run/drive.h"

#include "core/arena.h"

AppDrive app_drive_create(const AppSession* session) {
    const LashModel* model = session->model;
    const double *q, *v;
    lash_sim_state(session->sim, &q, &v);
    AppDrive drive = {.session = session,
                      .steps = app_session_steps(session),
                      .h = model->simulation.settings.h,
                      .start_energy = lash_sim_energy(session->sim).start,
                      .log = app_contact_log_create(model, session->mech, q)};
    bool algorithmic = isfinite(lash_sim_energy(session->sim).algorithmic);
    drive.layout = lash_record_layout(app_record_sizes(model, algorithmic));
    drive.frame = lash_alloc((size_t)drive.layout.total * sizeof(double));
    drive.statistic = lash_alloc((size_t)model->outputs * sizeof *drive.statistic);
    drive.joint_parts = lash_alloc((size_t)model->joints);
    app_outputs_read(model, drive.joint_parts);
    return drive;
}

void app_drive_free(AppDrive* drive) {
    if (drive->session == NULL) return; // never created
    app_contact_log_free(&drive->log);
    lash_free(drive->statistic);
    lash_free(drive->frame);
    lash_free(drive->joint_parts);
    *drive = (AppDrive){0};
}

// Inputs go from their value now to that at the end of the step.
static void set_inputs(const AppDrive* drive) {
    LashSim* sim = drive->session->sim;
    double t = lash_sim_time(sim);
    for (int i = 0; i < drive->signals; ++i) {
        const LashTable* table = drive->signal[i].table;
        lash_sim_set_input(sim, drive->signal[i].input, lash_table_value(table, t, 0, NULL, NULL),
                           lash_table_value(table, t + drive->h, 0, NULL, NULL));
    }
}

AppDriveEnd app_drive_run(AppDrive* drive, AppDriveEach* each, void* context, LashError* error) {
    const AppSession* session = drive->session;
    set_inputs(drive);
    if (!each(context, drive, error)) return APP_DRIVE_STOPPED;
    while (drive->counters.steps < drive->steps) {
        set_inputs(drive);
        LashStepInfo info = lash_sim_step(session->sim);
        drive->log.stale = info.outcome != LASH_CONVERGED;
        if (info.outcome == LASH_INTERRUPTED) return APP_DRIVE_INTERRUPTED;
        if (drive->log.stale) {
            app_session_fail_step(session, &drive->log, drive->counters.steps + 1, &info, error);
            return APP_DRIVE_FAILED;
        }
        app_counters_add(&drive->counters, &info, session->sim);
        if (!app_contact_log_step(&drive->log, session->mech, session->sim, drive->h,
                                  drive->recorder, error))
            return APP_DRIVE_FAILED;
        if (!each(context, drive, error)) return APP_DRIVE_STOPPED;
    }
    return APP_DRIVE_DONE;
}

void app_drive_measure(AppDrive* drive) {
    app_measure_frame(drive->session->mech, drive->session->sim, &drive->counters, &drive->layout,
                      drive->h, NULL, drive->frame);
}

void app_drive_measure_for_outputs(AppDrive* drive) {
    app_measure_frame(drive->session->mech, drive->session->sim, &drive->counters, &drive->layout,
                      drive->h, drive->joint_parts, drive->frame);
}

void app_drive_outputs(AppDrive* drive) {
    const LashModel* model = drive->session->model;
    double t = lash_sim_time(drive->session->sim);
    for (int i = 0; i < model->outputs; ++i) {
        double value = app_drive_value(drive, &model->output[i]);
        app_statistic_add(&drive->statistic[i], &model->output[i], t, value);
    }
}

void app_drive_next_frame(AppDrive* drive) {
    AppCounters* counters = &drive->counters;
    counters->frame_position = 0;
    counters->frame_velocity = 0;
    counters->frame_penetration = 0;
    counters->frame_shift = 0;
}

AppSteps app_steps(LashSim* sim, int64_t planned) {
    return (AppSteps){.sim = sim, .planned = planned};
}

bool app_steps_next(AppSteps* steps) {
    if (steps->done == steps->planned) return false;
    steps->info = lash_sim_step(steps->sim);
    steps->failed = steps->info.outcome != LASH_CONVERGED;
    if (steps->failed) return false;
    ++steps->done;
    return true;
}
