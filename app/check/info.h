// lash info FILE.step: what is in a CAD file.
#ifndef LASH_APP_INFO_H
#define LASH_APP_INFO_H

#include "app/cli/options.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const AppCommand app_info_command;

// argv[0] is "info". Prints to stdout, messages to stderr; returns the exit code.
int app_info(int argc, char** argv);

#ifdef __cplusplus
}
#endif
#endif
