// A model made ready to be stepped: what `lash run`, studies and the viewer share.
#ifndef LASH_APP_SESSION_H
#define LASH_APP_SESSION_H

#include "app/model/model.h"
#include "app/run/contact_log.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppSessionOptions { // from the command line, instead of the model's
    const char* const* set;        // "parameter=value"
    int sets;
    const char *scheme, *direction; // NULL: as in the model
    double step, duration;          // [s], NAN: as in the model
    const char* text;               // of the model; NULL: read from the file
} AppSessionOptions;

typedef struct AppSession {
    LashModel* model;
    LashMechanism* mech;
    const LashSystem* system; // borrowed from mech
    LashSim* sim;
    double moved; // by assembling the start [m or rad]
} AppSession;

// Loads, builds and prepares the start. False with error; close it in any case.
bool app_session_open(AppSession* session, const char* file, const AppSessionOptions* options,
                      LashError* error);
void app_session_close(AppSession* session);

// Its parts, for those who have a model already: the mechanism, a sim at its start (another one when
// there is one), the start checked or assembled.
bool app_session_build(AppSession* session, LashError* error);
void app_session_create(AppSession* session);
bool app_session_start(AppSession* session, LashError* error);

// Steps from the start to the end of the simulation, and steps between two frames.
int64_t app_session_steps(const AppSession* session);
int64_t app_session_frame_interval(const AppSession* session);

// The error (exit code 5) of step number `step` that did not reach the tolerances. Returns false.
bool app_session_fail_step(const AppSession* session, const AppContactLog* log, int64_t step,
                           const LashStepInfo* info, LashError* error);

#ifdef __cplusplus
}
#endif
#endif
