// lash-bench-peer: the same problems and mechanisms given to other programs' libraries, for
// comparison only. A program of its own, built when one of them is found, executed by `lash bench`;
// the product never links it.
//
//     lash-bench-peer solvers TOLERANCE FILE...
//     lash-bench-peer mechanisms PEER SCENE STEP DURATION
//
// The second prints one line: MICROSECONDS ANGLE VIOLATION INDEX_SETS STEPS NOTE, or "missing
// PACKAGES", or "failed WHY". What the libraries print themselves is thrown away. Time limit, since
// some of them do not end.
#include "app/bench/bench_peer_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/error.h"

enum {
    TIME_LIMIT = 120,   // [s]
    LEAST_STEPS = 10000 // shorter runs are repeated, the fastest counts: as lash does with its own
};

typedef struct Peer {
    const char *name, *packages;
    bool (*run)(PeerScene scene, double h, double duration, PeerRun* run); // NULL: not installed
} Peer;

static const Peer peers[] = {
#ifdef LASH_PEER_SICONOS
    {"siconos", NULL, peer_siconos},
#else
    {"siconos", "libsiconos-kernel-dev libsiconos-mechanics-dev", NULL},
#endif
#ifdef LASH_PEER_MUJOCO
    {"mujoco", NULL, peer_mujoco},
    {"mujoco_bodies", NULL, peer_mujoco_bodies},
#else
    {"mujoco", "libmujoco-dev", NULL},
    {"mujoco_bodies", "libmujoco-dev", NULL},
#endif
};

static const char* const scenes[PEER_SCENES] = {"ideal", "minimal", "maximal"};

double peer_processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

// The libraries write to stdout: from here on our answer goes to another descriptor.
static FILE* hide_stdout(void) {
    fflush(stdout);
    FILE* answer = fdopen(dup(STDOUT_FILENO), "w");
    if (answer == NULL || freopen("/dev/null", "w", stdout) == NULL ||
        freopen("/dev/null", "w", stderr) == NULL)
        exit(LASH_ERROR_IO);
    return answer;
}

static int mechanisms(const Peer* peer, PeerScene scene, double h, double duration) {
    if (peer->run == NULL) {
        printf("missing %s\n", peer->packages);
        return LASH_OK;
    }
    FILE* answer = hide_stdout();
    alarm(TIME_LIMIT);
    PeerRun run = {.us = INFINITY};
    bool done = true;
    int least = (int)fmin(LEAST_STEPS * h / duration, LEAST_STEPS);
    for (int i = 0; done && (i < 1 || i < least); ++i) {
        PeerRun next = {.note = "the library reported no reason"};
        done = peer->run(scene, h, duration, &next);
        if (!done || next.us < run.us) run = next;
    }
    if (done)
        fprintf(answer, "%.6g %.12g %.6g %.6g %d %s\n", run.us, run.angle, run.violation,
                run.index_sets, run.steps, run.note);
    else
        fprintf(answer, "failed %s\n", run.note);
    fclose(answer);
    return LASH_OK;
}

static int usage(void) {
    fprintf(
        stderr,
        "usage: lash-bench-peer solvers TOLERANCE FILE...\n"
        "       lash-bench-peer mechanisms siconos|mujoco|mujoco_bodies ideal|minimal|maximal STEP "
        "DURATION\n");
    return LASH_ERROR_USAGE;
}

int main(int argc, char** argv) {
    if (argc >= 2 && strcmp(argv[1], "solvers") == 0) {
#ifdef LASH_PEER_SOLVERS
        return peer_solvers(argc, argv);
#else
        return LASH_OK; // nothing to compare with: libsiconos-numerics-dev is not installed
#endif
    }
    if (argc != 6 || strcmp(argv[1], "mechanisms") != 0) return usage();
    double h = atof(argv[4]), duration = atof(argv[5]);
    if (!(h > 0 && duration >= h)) return usage();
    for (size_t p = 0; p < sizeof peers / sizeof *peers; ++p)
        for (int s = 0; s < PEER_SCENES; ++s)
            if (strcmp(peers[p].name, argv[2]) == 0 && strcmp(scenes[s], argv[3]) == 0)
                return mechanisms(peers + p, (PeerScene)s, h, duration);
    return usage();
}
