// Files that the program writes, one way for all of them.
//
// What is written goes to a new file of an unpredictable name in the folder of the target and is
// renamed when it is whole: whoever looks sees the old file or the new one. Refused, with exit
// code 7: a file that this process has read (compared by device and inode, so links and other
// names are seen through), a device, a FIFO, a socket, a directory, and a file that another process
// is writing. While one is written, NAME.lock beside it holds the number of the process; it counts
// only as long as that process lives.
#ifndef LASH_APP_OUTPUT_FILE_H
#define LASH_APP_OUTPUT_FILE_H

#include <stdio.h>

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppOutput AppOutput;

// Whether a file may be written there, without doing anything: for a message before long work.
bool app_output_check(const char* path, LashError* error);

// NULL with error. Ends in app_output_finish or app_output_discard.
AppOutput* app_output_create(const char* path, LashError* error);
FILE* app_output_stream(AppOutput* output); // of the new file
// Its name until then, for libraries and programs that open it themselves: it ends like the
// target's.
const char* app_output_temporary(const AppOutput* output);
// Gives the new file its name, when it is not yet whole but already worth keeping.
bool app_output_publish(AppOutput* output, LashError* error);
// Closes, gives the name, frees. False with error: something was not written; the old file stays.
bool app_output_finish(AppOutput* output, LashError* error);
// Removes what has no name yet, and frees. NULL is allowed.
void app_output_discard(AppOutput* output);

#ifdef __cplusplus
}
#endif
#endif
