// What a file is, by its first bytes, so that a file given to the wrong command is told the right
// one.
#ifndef LASH_APP_FILE_KIND_H
#define LASH_APP_FILE_KIND_H

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bits: a command may take several.
typedef enum AppFileKind {
    APP_FILE_OTHER = 0, // whatever reads it tells what is wrong with it
    APP_FILE_MODEL = 1,
    APP_FILE_STUDY = 2,
    APP_FILE_STEP = 4,
    APP_FILE_RESULT = 8,
    APP_FILE_STORE = 16
} AppFileKind;

AppFileKind app_file_kind(const char* path);

// Whether the file may be one of `kinds`. False with error: it is there and is another kind, which
// the message names with the commands that take it; or it is not there, and what is there instead.
// A FIFO, a device, an unreadable file: true, for whoever opens it to tell.
bool app_file_expect(const char* path, unsigned kinds, LashError* error);

// An output whose name ends like another kind of file (--png x.jpg) is refused: the bytes would not
// be what the name says. endings: ".png", or several, ".mp4 .mkv". Names without a known ending,
// and NULL, pass.
bool app_file_ending(const char* option, const char* path, const char* endings, LashError* error);

#ifdef __cplusplus
}
#endif
#endif
