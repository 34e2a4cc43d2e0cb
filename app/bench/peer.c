// Peers run on one thread, as we do: BLAS is told so through the environment.
#include "app/bench/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"

enum { MAX_ARGUMENTS = 16 };
static const char PROGRAM[] = "lash-bench-peer";

static bool find(char* path, size_t size) {
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    if (n <= 0) return false;
    path[n] = 0;
    char* slash = strrchr(path, '/');
    if (slash == NULL || (size_t)(slash + 1 - path) + sizeof PROGRAM > size) return false;
    memcpy(slash + 1, PROGRAM, sizeof PROGRAM);
    return access(path, X_OK) == 0;
}

bool app_peer_exists(void) {
    char path[1024];
    return find(path, sizeof path);
}

static void become(const char* path, const char* const* arguments) {
    char* argv[MAX_ARGUMENTS + 2] = {(char*)PROGRAM};
    for (int i = 0; arguments[i] != NULL; ++i) {
        LASH_ASSERT(i < MAX_ARGUMENTS);
        argv[i + 1] = (char*)arguments[i];
    }
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    execv(path, argv);
    _exit(127);
}

bool app_peer_start(const char* const* arguments, AppPeer* peer) {
    char path[1024];
    int ends[2];
    if (!find(path, sizeof path) || pipe(ends) != 0) return false;
    peer->child = fork();
    if (peer->child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        become(path, arguments);
    }
    close(ends[1]);
    peer->answer = peer->child > 0 ? fdopen(ends[0], "r") : NULL;
    if (peer->answer == NULL) close(ends[0]);
    return peer->answer != NULL;
}

void app_peer_end(AppPeer* peer) {
    fclose(peer->answer);
    while (waitpid(peer->child, NULL, 0) < 0 && errno == EINTR) {}
}
