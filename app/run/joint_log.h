// What a run knows of its joints: with clearance, where the pin is in its play, how long it touches
// and how often it hits; of all, the work of their contacts, limits and friction.
#ifndef LASH_APP_JOINT_LOG_H
#define LASH_APP_JOINT_LOG_H

#include "app/cli/json_writer.h"
#include "app/model/model.h"
#include "app/run/record.h"
#include "app/run/strike.h"

#ifdef __cplusplus
extern "C" {
#endif

// Work of the impulses of a joint or contact; energy is theirs to take, not to give.
typedef struct AppWork {
    double normal, friction; // since the start [J]
    double gain;             // largest work of one step, > 0: what that step fed in [J]
    double step;             // of the last step [J]
    double pressed;          // sum of the normal impulses since the start [N s]
} AppWork;

// Adds a push; then, once in a step, what the step did.
void app_work_push(AppWork* work, const LashPush* push);
void app_work_step(AppWork* work);
static inline double app_work_net(const AppWork* work) {
    return work->normal + work->friction;
}
// Did it give energy over the run? Velocities are known to the tolerance [m/s]: no less counts.
bool app_work_gives(const AppWork* work, double tolerance);
void app_work_put(AppJson* json, const AppWork* work, double tolerance);

typedef struct AppJointPlay {
    int first, contacts;       // of the mechanism; 0 contacts: an ideal joint
    double eccentricity, tilt; // now [m], [rad]
    double eccentricity_max, tilt_max;
    int points;                    // contacts that push now
    int64_t impacts;               // steps in which it was hit
    double free, contact, sliding; // time in free flight, touching, and of that sliding [s]
    double impulse;                // sum of its normal impulses in the last step [N s]
    double load;                   // the same per time, of the last step that no impact reached [N]
    double peak_impulse;           // largest that an impact added to it [N s]
    AppWork work;                  // of its contacts, limits and friction
} AppJointPlay;

typedef struct AppJointLog {
    AppJointPlay* joint; // (count) owned
    int count;
    int* owner; // (contacts) the joint with clearance a contact belongs to, -1: none; owned
} AppJointLog;

AppJointLog app_joint_log_create(const LashMechanism* mech, const double* q);
void app_joint_log_free(AppJointLog* log);

// After a step of h; strike: its impacts.
void app_joint_log_step(AppJointLog* log, const LashMechanism* mech, const LashSim* sim,
                        const AppStrike* strike, double h);

// Writes the play of the joints into a frame.
void app_joint_log_frame(const AppJointLog* log, const LashRecordLayout* layout, double* frame);

// The summary of a run: as an object per joint with clearance or with work of limits or friction,
// and as text.
void app_joint_log_put(AppJson* json, const AppJointLog* log, const LashModel* model);
void app_joint_log_print(const AppJointLog* log, const LashModel* model, int name_width);

#ifdef __cplusplus
}
#endif
#endif
