// The optional program lash-bench-peer beside this one: finding, starting, ending it.
#ifndef LASH_APP_PEER_H
#define LASH_APP_PEER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppPeer {
    FILE* answer; // its stdout
    pid_t child;
} AppPeer;

bool app_peer_exists(void); // false when it was not built

// Starts it with these arguments (ends in NULL, without its name); false when that fails.
bool app_peer_start(const char* const* arguments, AppPeer* peer);
void app_peer_end(AppPeer* peer); // waits for it

#ifdef __cplusplus
}
#endif
#endif
