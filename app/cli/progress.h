// The progress line on a terminal, colours, and a clean Ctrl-C.
#ifndef LASH_APP_PROGRESS_H
#define LASH_APP_PROGRESS_H

#include <stdbool.h>

#include "core/stop.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { APP_EXIT_INTERRUPTED = 130 }; // Ctrl-C (or SIGTERM) ended the work; what was done is kept

typedef struct AppProgress {
    bool shown;         // stderr is a terminal that can rewrite a line
    double start, last; // wall clock [s]
} AppProgress;

double app_wall_clock(void);  // monotonic [s]
double app_rough_clock(void); // the same, some milliseconds late, at a tenth of the cost

AppProgress app_progress_start(void);
// Draws the line at most ten times a second; fraction in [0, 1].
void app_progress_update(AppProgress* progress, double fraction, const char* what);
void app_progress_clear(AppProgress* progress);

// "reading crank.step: 12 s" on a terminal, as LashImport.progress wants it.
void app_progress_cad(const char* path, double seconds, double limit);

bool app_stderr_colored(void); // a terminal, and NO_COLOR is not set

// After app_catch_interrupt, SIGINT and SIGTERM only raise the flag; a second one ends the process
// at once.
void app_catch_interrupt(void);
bool app_interrupted(void);
LashStop app_interrupt_stop(void); // asks it

#ifdef __cplusplus
}
#endif
#endif
