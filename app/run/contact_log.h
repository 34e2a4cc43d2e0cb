// What a run knows of its contacts: gaps and impulses of the step just done, sums since the last
// frame, peaks and counts since the start.
#ifndef LASH_APP_CONTACT_LOG_H
#define LASH_APP_CONTACT_LOG_H

#include "app/model/model.h"
#include "app/run/gap_watch.h"
#include "app/run/joint_log.h"
#include "app/run/record.h"
#include "app/run/strike.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppContact {
    double gap; // now [m], the least of its points; INFINITY: too far to be looked at, and no
                // output asks for it
    // n, t1, t2 of the last step, all its parts [N s]; of CAD surfaces n, |t|, 0 summed over the
    // points
    double P[3];
    Vec3 impulse; // resultant on b, world axes, of the last step [N s]
    double load;  // normal force of the last step that no impact reached [N]
    double blow;  // what an impact added to the load in the last step, P_n - load h; 0: none [N s]
    double sum[3], largest; // since the last frame: P, largest blow [N s]
    Vec3 impulse_sum;       // since the last frame [N s]
    int64_t impacts;
    double first_impact;            // [s], NAN: none so far
    double peak_impulse, peak_time; // largest blow [N s], end of its step [s]
    double peak_force; // largest P_n / h of a step that no impact reached [N]: in an impact the
                       // force is no number, only its impulse is
    AppWork work;
} AppContact;

typedef struct AppGain { // energy that one joint or contact fed in within one step
    double work, time;   // [J], end of the step [s]
    int joint, contact;  // whose, -1: not one of these
} AppGain;

typedef struct AppContactLog {
    AppContact* contact; // (count) owned
    int count;
    AppGapWatch* watch;     // of the gaps that outputs ask for, owned, NULL: none
    double* gap;            // (count) scratch of the watch
    double h;               // length of the last step [s]
    double frame_time;      // since the last frame [s]
    AppJointLog joints;     // among them those with clearance, whose contacts these are
    AppStrike strike;       // what the impacts of the last step reached, owned
    AppWork all;            // of all contacts, limits and friction together
    double all_time;        // end of the step of its gain [s]
    AppGain gain;           // the largest of one joint or contact so far, 0: none
    LashRecordPoint* point; // of the present frame, owned
    int points, capacity;
    bool stale; // the last step failed: what the sim knows of contacts is of no state
} AppContactLog;

// Gaps at the start, from q. Borrows model and mech.
AppContactLog app_contact_log_create(const LashModel* model, const LashMechanism* mech,
                                     const double* q);
void app_contact_log_free(AppContactLog* log);

// After a step of h: copies, counts, and hands the events to the recorder (NULL: none).
bool app_contact_log_step(AppContactLog* log, const LashMechanism* mech, LashSim* sim, double h,
                          LashRecorder* recorder, LashError* error);

// The places where contacts pushed in the last step or are closed, for the frame that is recorded
// next.
bool app_contact_log_points(AppContactLog* log, const LashMechanism* mech, LashSim* sim,
                            LashRecorder* recorder, LashError* error);

// Writes the contacts' part of a frame, and begins the sums of the next one.
void app_contact_log_frame(AppContactLog* log, const LashRecordLayout* layout, double* frame);

#ifdef __cplusplus
}
#endif
#endif
