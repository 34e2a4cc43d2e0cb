// Error records, assertions and the log callback (with the allocation counter the only global
// state).
#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static LashLog* log_callback;
static void* log_context;

bool lash_error_set(LashError* error, LashStatus status, const char* where, const char* format,
                    ...) {
    if (error == NULL || error->status != LASH_OK) return false;
    error->status = status;
    snprintf(error->where, sizeof error->where, "%s", where == NULL ? "" : where);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

bool lash_error_null(LashError* error, const char* what) {
    return lash_error_set(error, LASH_ERROR_USAGE, "", "expected %s, found NULL", what);
}

void lash_error_file(LashError* error, const char* file) {
    if (error == NULL || error->file[0] != '\0') return;
    snprintf(error->file, sizeof error->file, "%s", file);
}

void lash_assert_failed(const char* expression, const char* file, int line) {
    fprintf(stderr, "lash: internal error: %s:%d: %s does not hold. Please report this.\n", file,
            line, expression);
    abort();
}

void lash_set_log(LashLog* log, void* context) {
    log_callback = log;
    log_context = context;
}

void lash_log(const char* format, ...) {
    if (log_callback == NULL) return;
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    log_callback(log_context, message);
}
