// Results, messages, exit codes.
#include "app/cli/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/progress.h"
#include "app/cli/text.h"
#include "app/version.h"

AppReport app_report(const char* command, bool json) {
    return (AppReport){.command = command, .json = json};
}

// A line to stderr: names and paths of others are shown, not obeyed by the terminal.
static void print_line(const char* format, va_list arguments) {
    char line[2048];
    vsnprintf(line, sizeof line, format, arguments);
    app_text_print(stderr, line);
    fputc('\n', stderr);
}

void app_report_note(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
}

void app_report_warning(const char* format, ...) {
    bool color = app_stderr_colored();
    fputs(color ? "\033[33mwarning:\033[0m " : "warning: ", stderr);
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
}

const char* app_plural(int count, const char* one, const char* many) {
    return count == 1 ? one : many;
}

void app_report_print_error(const LashError* error) {
    bool color = app_stderr_colored();
    fputs(color ? "\033[31mlash:\033[0m " : "lash: ", stderr);
    const char* const parts[] = {error->file, error->where, error->message};
    for (int i = 0; i < 3; ++i) {
        if (i < 2 && parts[i][0] == '\0') continue;
        app_text_print(stderr, parts[i]);
        fputs(i < 2 ? ": " : "\n", stderr);
    }
}

AppJson* app_report_document(AppReport* report, const LashError* error) {
    AppJson* json = &report->document;
    bool failed = error != NULL && error->status != LASH_OK;
    app_json_begin_object(json);
    app_json_put_text(json, "lash", LASH_VERSION);
    app_json_put_text(json, "command", report->command);
    app_json_put_bool(json, "ok", !failed);
    app_json_key(json, "error");
    if (failed) {
        app_json_begin_object(json);
        app_json_put_integer(json, "code", (int)error->status);
        app_json_put_text(json, "file", error->file);
        app_json_put_text(json, "where", error->where);
        app_json_put_text(json, "message", error->message);
        app_json_end_object(json);
    } else {
        app_json_null(json);
    }
    return json;
}

int app_report_finish(AppReport* report, const LashError* error) {
    bool failed = error != NULL && error->status != LASH_OK;
    int code = failed ? (int)error->status : 0;
    if (failed) app_report_print_error(error);
    if (report->json) {
        if (report->document.used == 0) app_report_document(report, error);
        app_json_end_object(&report->document);
        fwrite(report->document.text, 1, report->document.used, stdout);
        fputc('\n', stdout);
    }
    app_json_free(&report->document);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "lash: standard output could not be written completely\n");
        if (code == 0) code = LASH_ERROR_IO;
    }
    return code;
}
