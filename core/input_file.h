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
// "a directory", "a FIFO", ...: what st_mode says.
const char* lash_file_kind(unsigned mode);

#ifdef __cplusplus
}
#endif
#endif
