// lash info FILE.step: what is in a CAD file.
#ifndef LASH_APP_INFO_H
#define LASH_APP_INFO_H

#ifdef __cplusplus
extern "C" {
#endif

// argv[0] is "info". Prints to stdout, messages to stderr; returns the exit code.
int app_info(int argc, char** argv);

#ifdef __cplusplus
}
#endif
#endif
