// What a run knows of its joints with clearance: where the pin is in its play, how long it touches,
// how often it hits, and what friction takes there.
#ifndef LASH_APP_JOINT_LOG_H
#define LASH_APP_JOINT_LOG_H

#include "app/json_writer.h"
#include "app/model.h"
#include "app/record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppJointPlay {
    int first, contacts;       // of the mechanism; 0 contacts: an ideal joint
    double eccentricity, tilt; // now [m], [rad]
    double eccentricity_max, tilt_max;
    int points;                    // contacts that push now
    int64_t impacts;               // steps in which it was hit
    double free, contact, sliding; // time in free flight, touching, and of that sliding [s]
    double work_n, work_t;         // of its normal and friction impulses since the start [J]
    double gain;                   // largest work of one step, > 0: what a step fed in [J]
} AppJointPlay;

typedef struct AppJointLog {
    AppJointPlay* joint; // (count) owned
    int count;
} AppJointLog;

AppJointLog app_joint_log_create(const LashMechanism* mech, const double* q);
void app_joint_log_free(AppJointLog* log);

// After a step of h.
void app_joint_log_step(AppJointLog* log, const LashMechanism* mech, const LashSim* sim, double h);

// The joint a contact belongs to, -1: none.
int app_joint_log_owner(const AppJointLog* log, int contact);

// Writes the play of the joints into a frame.
void app_joint_log_frame(const AppJointLog* log, const LashRecordLayout* layout, double* frame);

// The summary of a run: as an object per joint with clearance, and as text.
void app_joint_log_put(AppJson* json, const AppJointLog* log, const LashModel* model);
void app_joint_log_print(const AppJointLog* log, const LashModel* model);

// Value of a quantity of a joint's play.
double app_joint_log_value(const AppJointLog* log, const LashModelOutput* output);

#ifdef __cplusplus
}
#endif
#endif
