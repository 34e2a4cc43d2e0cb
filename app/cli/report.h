// How a command speaks: results on stdout, messages on stderr, with --json exactly one document.
#ifndef LASH_APP_REPORT_H
#define LASH_APP_REPORT_H

#include "app/cli/json_writer.h"
#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppReport {
    const char* command;
    bool json;
    AppJson document;
} AppReport;

AppReport app_report(const char* command, bool json);

// A line for people on stderr ("lash: ..."); suppressed by nothing.
void app_report_note(const char* format, ...) LASH_PRINTF(1, 2);
void app_report_warning(const char* format, ...) LASH_PRINTF(1, 2);

// Begins the one JSON document: {"lash", "command", "ok", "error"} and leaves it open for the
// command's own keys. error NULL or with status LASH_OK: ok.
AppJson* app_report_document(AppReport* report, const LashError* error);
// Closes and prints the document (when --json), prints the error line (when there is an error),
// flushes stdout and returns the exit code. Frees the report.
int app_report_finish(AppReport* report, const LashError* error);

// one for 1, many for other counts.
const char* app_plural(int count, const char* one, const char* many);

// Prints "file: where: message" to stderr.
void app_report_print_error(const LashError* error);

#ifdef __cplusplus
}
#endif
#endif
