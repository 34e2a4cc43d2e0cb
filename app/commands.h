// Every command of the program: its option table, and the function main calls.
#ifndef LASH_APP_COMMANDS_H
#define LASH_APP_COMMANDS_H

#include "app/cli/options.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const AppCommand app_run_command, app_check_command, app_export_command, app_schema_command,
    app_fit_command, app_draft_command, app_bench_mechanisms_command, app_verify_command,
    app_view_command, app_bench_viewer_command;

// argv[0] is the command's name. The result is the exit code.
int app_run(int argc, char** argv);
int app_check(int argc, char** argv);
int app_export(int argc, char** argv);
int app_draft(int argc, char** argv);
int app_fit(int argc, char** argv);
int app_schema(int argc, char** argv);
int app_bench(int argc, char** argv);
int app_bench_mechanisms(int argc, char** argv);
int app_verify(int argc, char** argv);
int app_view(int argc, char** argv);
int app_bench_viewer(int argc, char** argv);

#ifdef __cplusplus
}
#endif
#endif
