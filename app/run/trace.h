// lash run --trace: one line of a table per attempt at the nonlinear problem of a step.
#ifndef LASH_APP_TRACE_H
#define LASH_APP_TRACE_H

#include "app/cli/output_file.h"
#include "solvers/sim.h"

// Begins FILE.csv and has the sim write to it. NULL with error.
AppOutput* app_trace_open(LashSim* sim, const char* path, LashError* error);

#endif
