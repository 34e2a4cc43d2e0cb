// lash COMMAND [options]: finds the command and calls it.
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app/check/info.h"
#include "app/cli/report.h"
#include "app/cli/suggest.h"
#include "app/cli/text.h"
#include "app/commands.h"
#include "app/study/study_command.h"
#include "app/version.h"
#include "core/error.h"

typedef struct Entry {
    const char *name, *summary;
    int (*run)(int argc, char** argv);
} Entry;

static const Entry commands[] = {
    {"info", "list parts, masses and faces of a STEP file", app_info},
    {"run", "simulate a model and print a summary", app_run},
    {"view", "see a mechanism move, live or recorded", app_view},
    {"check", "validate a model: degrees of freedom, redundant joints, start, units", app_check},
    {"study", "vary parameters: which clearance matters, what share is out of spec", app_study},
    {"export", "convert a result for other programs", app_export},
    {"draft", "draft a model from a STEP assembly: parts, joints, plays", app_draft},
    {"fit", "limits and play of a fit such as \"10 H7/g6\"", app_fit},
    {"schema", "print the JSON Schema of model or study files", app_schema},
    {"verify", "recompute the claims of the papers behind the schemes", app_verify},
    {"bench", "measure speed", app_bench},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void) {
    printf(
        "lash %s: what does the play in its joints do to a mechanism?\n\n"
        "usage: lash COMMAND [options]\n\ncommands:\n",
        LASH_VERSION);
    for (int i = 0; i < COMMANDS; ++i)
        printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    printf(
        "\n'lash COMMAND -h' tells more. Exit codes: 0 ok, 1 internal, 2 usage, 3 model, 4 CAD,\n"
        "5 numerics, 6 out of spec, 7 input/output, 130 interrupted (what was done is kept).\n");
}

static int unknown_command(const char* name) {
    char hint[128];
    AppSuggestion near = app_suggestion(name);
    for (int i = 0; i < COMMANDS; ++i) app_suggestion_offer(&near, commands[i].name);
    app_suggestion_offer(&near, "--version");
    app_suggestion_offer(&near, "--help");
    app_report_note("lash: unknown command '%s'%s; 'lash -h' lists the commands", name,
                    app_suggestion_text(&near, hint, sizeof hint));
    return LASH_ERROR_USAGE;
}

int main(int argc, char** argv) {
    app_text_guard_stdout();
    signal(SIGXFSZ,
           SIG_IGN); // a file that may grow no further is an error of writing, with a message
    if (argc < 2) {
        fprintf(stderr, "usage: lash COMMAND [options]; 'lash -h' lists the commands\n");
        return LASH_ERROR_USAGE;
    }
    const char* name = argv[1];
    if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0) {
        print_help();
        return fflush(stdout) == 0 ? 0 : LASH_ERROR_IO;
    }
    if (strcmp(name, "--version") == 0) {
        printf("lash %s\n", LASH_VERSION);
        return fflush(stdout) == 0 ? 0 : LASH_ERROR_IO;
    }
    for (int i = 0; i < COMMANDS; ++i) {
        if (strcmp(commands[i].name, name) == 0) return commands[i].run(argc - 1, argv + 1);
    }
    return unknown_command(name);
}
