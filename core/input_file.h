// Files that are read: regular ones only, opened without waiting for anybody.
#ifndef LASH_CORE_INPUT_FILE_H
#define LASH_CORE_INPUT_FILE_H

#include <stdint.h>

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

// A descriptor that the caller closes, and the bytes of the file; -1 with error (exit code 7): it
// is not there, or a FIFO, a device, a socket or a directory.
int lash_input_open(const char* path, uint64_t* bytes, LashError* error);
// Whether this process has opened that file with lash_input_open, whatever its name: outputs never
// go there. The one list of the program, kept under a lock.
bool lash_input_was_read(uint64_t device, uint64_t inode);
// Counts a file that a library opens itself as read.
void lash_input_note(const char* path);
// "a directory", "a FIFO", ...: what st_mode says.
const char* lash_file_kind(unsigned mode);

#ifdef __cplusplus
}
#endif
#endif
