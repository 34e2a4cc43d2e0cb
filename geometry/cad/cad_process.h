// Runs the helper program `lash-cad`, the only one that links OpenCASCADE.
#ifndef LASH_GEOMETRY_CAD_PROCESS_H
#define LASH_GEOMETRY_CAD_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LASH_CAD_PATH = 4096 };

// Told a few times a second while a file is read; seconds < 0: it has been read.
typedef void (*LashCadProgress)(const char* name, double seconds, double limit);

// Where the helper is: $LASH_CAD, beside the running program or one folder up (build tree),
// ../libexec/lash/ (installed), or the folder chosen at build time.
bool lash_cad_find(char path[LASH_CAD_PATH], LashError* error);

// What the helper works on, and how long it may.
typedef struct LashCadTask {
    const void* data; // it reads these very bytes, at LASH_CAD_INPUT
    size_t bytes;
    const char* name;          // of the file they are from, for progress
    double seconds;            // of processor time; five times as long by the clock
    LashCadProgress progress;  // NULL: none
    struct LashReader* reader; // NULL: a process of its own
} LashCadTask;
#define LASH_CAD_INPUT "/proc/self/fd/4"

// Runs argv (argv[0] is the path) to its end and returns what it wrote to file descriptor 3, from
// lash_alloc. NULL, with a message, when it reports an error, dies of a signal or exceeds its time.
void* lash_cad_run(char* const argv[], const LashCadTask* task, size_t* bytes, LashError* error);

// Starts argv; *input is a socket to its standard input, *output a pipe from its descriptor 3.
// False, with a message, when it cannot.
bool lash_cad_start(char* const argv[], pid_t* process, int* input, int* output, LashError* error);

#ifdef __cplusplus
}
#endif
#endif
