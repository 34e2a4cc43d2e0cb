// Why a step failed, in words: what `lash run`, studies and the viewer say of it.
#ifndef LASH_APP_STEP_FAILURE_H
#define LASH_APP_STEP_FAILURE_H

#include "app/model/model.h"
#include "app/run/contact_log.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppStepFailure { // all borrowed
    const LashModel* model;
    const LashMechanism* mech;
    const LashSystem* system;
    LashSim* sim;             // after the step that failed: its state is the one before
    const AppContactLog* log; // of the steps before
    int64_t step;             // its number, from 1
    const LashStepInfo* info;
} AppStepFailure;

// The error (exit code 5) that names the cause: a force or motion that is not a number, numbers
// beyond all range, ... or the errors that were left where none of them is found. Returns false.
bool app_step_failure(const AppStepFailure* failure, LashError* error);

#ifdef __cplusplus
}
#endif
#endif
