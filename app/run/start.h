// The start of a run: which joints it violates and which contacts overlap, and by how much.
#ifndef LASH_APP_START_H
#define LASH_APP_START_H

#include "app/cli/json_writer.h"
#include "app/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppStart {
    double position_error;                     // largest over the bilateral rows [m, rad]
    double velocity_error;                     // [m/s, rad/s]
    char position_name[96], velocity_name[96]; // where they are largest
    double penetration;                        // deepest overlap of a contact, >= 0 [m]
    int contact;                               // its number, -1: none
    int too_deep; // contact whose surfaces are in each other too deeply to be measured, -1: none
    int beside;   // joint with play whose pin is not in its bore, -1: none
    double apart; // distance of their axes there [m]
} AppStart;

// Joint errors and overlaps at the sim's present state, freshly evaluated.
AppStart app_start_errors(const LashMechanism* mech, const LashSystem* system, LashSim* sim,
                          double h);
bool app_start_good(const AppStart* start, const LashSettings* settings);

// The error (exit code 3) of a start that is not good: which joint or contact, by how much, where,
// and what to do.
bool app_start_fail(const LashModel* model, const LashMechanism* mech, const AppStart* start,
                    LashSim* sim, const char* advice, LashError* error);

// The place in the model file of the joint or contact an interaction belongs to, for messages.
void app_start_place(const LashModel* model, const char* name, char* where, size_t size);

// Moves the sim to the nearest consistent start and looks at it afresh: all joints, all gaps, deep
// overlaps too. False: there is none; the sim then stands nowhere in particular.
bool app_start_assemble(const LashMechanism* mech, const LashSystem* system, LashSim* sim,
                        const LashSettings* settings, double* moved);

// True when the start meets the tolerances, or was moved there because the model says "assemble"
// (*moved > 0 then). Else error (exit code 3) names joint or contact and amount.
bool app_start_prepare(const LashModel* model, const LashMechanism* mech, const LashSystem* system,
                       LashSim* sim, double* moved, LashError* error);

// Puts the state of every body of the sim as {name: {position, quaternion, velocity,
// angular_velocity}} under key.
void app_put_bodies(AppJson* json, const char* key, const LashMechanism* mech, LashSim* sim);

#ifdef __cplusplus
}
#endif
#endif
