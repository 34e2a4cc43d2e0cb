// A line per attempt: when, which contacts, how it was linearised, how it ended.
#include "app/run/trace.h"

#include <inttypes.h>

static void put_line(void* context, const LashAttempt* attempt) { // LashTrace
    fprintf(context, "%.17g,%.17g,%s,%d,%016" PRIx64 ",%s,%s,%d,%d,%.6g,%.6g,%.6g,%.6g,%s\n",
            attempt->t, attempt->h, attempt->scheme, attempt->contacts, attempt->set,
            attempt->operator_name, attempt->derivatives, attempt->iterations, attempt->solver,
            attempt->dynamics_error, attempt->velocity_error, attempt->contact_error,
            attempt->position_error, attempt->outcome);
}

AppOutput* app_trace_open(LashSim* sim, const char* path, LashError* error) {
    AppOutput* output = app_output_create(path, error);
    if (output == NULL) return NULL;
    fputs(
        "time [s],h [s],scheme,contacts,set,operator,derivatives,iterations,solver iterations,"
        "dynamics [m/s],velocity [m/s],contact [m/s],position [m],outcome\n",
        app_output_stream(output));
    lash_sim_set_trace(sim, put_line, app_output_stream(output));
    return output;
}
