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

// Where the helper is: $LASH_CAD, beside the running program or one folder up (build tree),
// ../libexec/lash/ (installed), or the folder chosen at build time.
bool lash_cad_find(char path[LASH_CAD_PATH], LashError* error);

// Runs argv (argv[0] is the path) to its end and returns what it wrote to file descriptor 3, from
// lash_alloc. NULL, with a message, when it reports an error, dies of a signal or exceeds the time
// limit [s].
void* lash_cad_run(char* const argv[], double time_limit, size_t* bytes, LashError* error);

// Starts argv; *input is a socket to its standard input, *output a pipe from its descriptor 3.
// False, with a message, when it cannot.
bool lash_cad_start(char* const argv[], pid_t* process, int* input, int* output, LashError* error);

#ifdef __cplusplus
}
#endif
#endif
