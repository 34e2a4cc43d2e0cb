// The time loop. A model stepped and measured is what `lash run`, a sample of a study and the live
// viewer share; they differ in what they do after a step. A bare sim is stepped by verify and bench.
#ifndef LASH_APP_DRIVE_H
#define LASH_APP_DRIVE_H

#include "app/run/measure.h"
#include "app/run/session.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- a model, stepped and measured --------------------------------------------------------------

// An input that follows a signal over time.
typedef struct AppSignal {
    int input; // of the mechanism
    LashTable* table;
} AppSignal;

typedef struct AppDrive {
    const AppSession* session; // borrowed
    int64_t steps;             // planned
    double h;                  // of a step [s]
    double start_energy;       // [J]
    LashRecordLayout layout;
    AppCounters counters;
    AppContactLog log;
    AppStatistic* statistic; // (outputs) by app_drive_outputs
    double* frame;           // (layout.total) by app_drive_measure
    uint8_t* joint_parts;    // (joints) what the outputs read of them: app_outputs_read
    const AppSignal* signal; // (signals) borrowed
    int signals;
    LashRecorder* recorder; // takes the events of every step; borrowed, NULL: none
} AppDrive;

// From the state of the session's sim. Free it before the session.
AppDrive app_drive_create(const AppSession* session);
void app_drive_free(AppDrive* drive);

typedef enum AppDriveEnd {
    APP_DRIVE_DONE,        // all planned steps
    APP_DRIVE_STOPPED,     // by `each`
    APP_DRIVE_INTERRUPTED, // within a step, by the stop of the sim; the step does not count
    APP_DRIVE_FAILED       // error: a step did not reach its tolerances, or the recorder failed
} AppDriveEnd;

// Called at the start (counters.steps is 0) and after every step. False: stop.
typedef bool AppDriveEach(void* context, AppDrive* drive, LashError* error);

AppDriveEnd app_drive_run(AppDrive* drive, AppDriveEach* each, void* context, LashError* error);

// For `each`: fills the frame with the state now, the second of joints only what the outputs read;
// adds the outputs' values in it to their statistics; begins the largest violations of the next frame.
void app_drive_measure(AppDrive* drive);
void app_drive_measure_for_outputs(AppDrive* drive);
void app_drive_outputs(AppDrive* drive);
void app_drive_next_frame(AppDrive* drive);
// Value of an output in the frame (quantities.c).
double app_drive_value(const AppDrive* drive, const LashModelOutput* output);

// ---- a sim, stepped -----------------------------------------------------------------------------

// for (AppSteps steps = app_steps(sim, n); app_steps_next(&steps);) { look at sim, steps.info }
typedef struct AppSteps {
    LashSim* sim;
    int64_t planned, done;
    LashStepInfo info; // of the last step
    bool failed;       // the last step did not converge: the sim is as before it
} AppSteps;

AppSteps app_steps(LashSim* sim, int64_t planned);
// One step more; false: all are done, or it failed.
bool app_steps_next(AppSteps* steps);

#ifdef __cplusplus
}
#endif
#endif
