// A strict scanner in front of the JSON parser: rejects what that one lets pass, and knows lines
// and columns.
#ifndef LASH_APP_JSON_SCAN_H
#define LASH_APP_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    APP_JSON_MAX_DEPTH = 64,
    APP_JSON_MAX_BYTES = 64 << 20,
    APP_JSON_PATH = 160 // longest path that is told in full
};

typedef struct AppPlace {
    int line, column; // from 1; columns count characters, not bytes
} AppPlace;

// True when text is exactly one JSON value in UTF-8 without duplicate keys, numbers beyond double,
// NUL characters or nesting beyond APP_JSON_MAX_DEPTH. Else error tells place, path, expected,
// found.
bool app_json_check(const char* text, size_t bytes, LashError* error);

// Where the value of path stands in a text that passed the check; the nearest enclosing value when
// path itself does not exist.
AppPlace app_json_find(const char* text, size_t bytes, const char* path);

// Paths: "parts[2].pose"; keys that are no plain words as ["two words"].
void app_json_path_key(char* path, size_t size, const char* key);
void app_json_path_index(char* path, size_t size, int index);

// Reads a whole file; ends in an extra 0 that *bytes does not count. NULL with error (exit code 7)
// for what is not a readable regular file below the limit. The caller frees with lash_free.
char* app_read_file(const char* path, size_t limit, size_t* bytes, LashError* error);

#ifdef __cplusplus
}
#endif
#endif
