// lash run --dump-friction FOLDER: friction problems of a run as files, for `lash bench solvers`.
#ifndef LASH_APP_FRICTION_DUMP_H
#define LASH_APP_FRICTION_DUMP_H

#include <stdio.h>

#include "solvers/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppFrictionDump AppFrictionDump; // borrows the system and the sim

// The folder is made where it is missing. NULL with error.
AppFrictionDump* app_friction_dump_create(const LashSystem* system, LashSim* sim, double h,
                                          const char* folder, LashError* error);
// The same without a folder, for app_friction_dump_put alone.
AppFrictionDump* app_friction_dump_open(const LashSystem* system, LashSim* sim, double h);
// Writes FOLDER/friction_STEP.dat of the step that begins at the state now; nothing where no contact
// with friction is closed. False with error.
bool app_friction_dump_step(AppFrictionDump* dump, LashError* error);
// The same problem to an open file; returns its contacts, 0: nothing was written.
int app_friction_dump_put(AppFrictionDump* dump, FILE* file);
void app_friction_dump_free(AppFrictionDump* dump); // NULL is allowed

#ifdef __cplusplus
}
#endif
#endif
