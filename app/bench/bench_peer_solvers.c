// lash-bench-peer solvers: the same problem files solved by Siconos numerics.
//
// Prints one line per file and method: FILE METHOD RESIDUAL ITERATIONS MICROSECONDS. The residual
// is that of our independent check (plain measure) on the peer's answer; the peer's own tolerance,
// relative to |q|, is set so that both mean the same. Each method runs in a child process with a
// time limit, since some of them do not end.
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "FrictionContactProblem.h"
#include "Friction_cst.h"
#include "NonSmoothDrivers.h"
#include "SolverOptions.h"
#include "app/bench/bench_clock.h"
#include "app/bench/bench_peer_internal.h"
#include "app/bench/problem_file.h"
#include "core/arena.h"

enum { TIME_LIMIT = 20 }; // [s] per method and file

typedef struct Method {
    const char* name;
    int id, dimension;
} Method;

static const Method methods[] = {
    {"NSGS", SICONOS_FRICTION_3D_NSGS, 3},
    {"NSN_AC", SICONOS_FRICTION_3D_NSN_AC, 3},
    {"NSGS", SICONOS_FRICTION_2D_NSGS, 2},
};

// Solves repeatedly from zero, for half a second at most; prints the best time.
static int run(const char* path, const AppProblem* ours, const Method* method, double tolerance) {
    FrictionContactProblem* problem = frictionContact_new_from_filename(path);
    if (problem == NULL || problem->dimension != method->dimension) return 1;
    size_t n = (size_t)(problem->dimension * problem->numberOfContacts);
    double *reaction = lash_alloc(n * sizeof(double)), *velocity = lash_alloc(n * sizeof(double)),
           *U = lash_alloc(n * sizeof(double)), norm = 0, best = INFINITY, total = 0;
    int iterations = 0;
    for (size_t i = 0; i < n; ++i) norm += problem->q[i] * problem->q[i];
    norm = sqrt(norm);
    for (int k = 0; k < 200 && (k < 1 || total < 5e5); ++k) {
        SolverOptions* options = solver_options_create(method->id);
        options->dparam[SICONOS_DPARAM_TOL] = tolerance * (1 + norm) / (norm > 0 ? norm : 1);
        options->iparam[SICONOS_IPARAM_MAX_ITER] =
            method->id == SICONOS_FRICTION_3D_NSN_AC ? 1000 : 100000;
        memset(reaction, 0, n * sizeof(double));
        memset(velocity, 0, n * sizeof(double));
        BenchInstant start = bench_now();
        if (method->dimension == 3)
            fc3d_driver(problem, reaction, velocity, options);
        else
            fc2d_driver(problem, reaction, velocity, options);
        double spent = bench_since(start);
        total += spent;
        best = fmin(best, spent);
        iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
        solver_options_delete(options);
    }
    double residual = lash_friction_residual(&ours->friction, LASH_MEASURE_PLAIN, reaction, U);
    printf("%s %s %.3e %d %.3f\n", path, method->name, residual, iterations, best);
    fflush(stdout);
    return 0;
}

static void run_apart(const char* path, const AppProblem* ours, const Method* method,
                      double tolerance) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(1);
        alarm(TIME_LIMIT);
        _exit(run(path, ours, method, tolerance));
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (child < 0 || status != 0) printf("%s %s nan 0 nan\n", path, method->name);
}

int peer_solvers(int argc, char** argv) {
    double tolerance = argc > 2 ? atof(argv[2]) : 0;
    if (argc < 4 || !(tolerance > 0)) {
        fprintf(stderr, "usage: lash-bench-peer solvers TOLERANCE FILE...\n");
        return LASH_ERROR_USAGE;
    }
    for (int i = 3; i < argc; ++i) {
        LashError error = {0};
        AppProblem* ours = app_problem_load(argv[i], &error);
        if (ours == NULL || ours->layout != APP_LAYOUT_FRICTION) {
            app_problem_destroy(ours);
            continue;
        }
        int dimension = ours->friction.kind[0];
        for (size_t k = 0; k < sizeof methods / sizeof methods[0]; ++k)
            if (methods[k].dimension == dimension) run_apart(argv[i], ours, methods + k, tolerance);
        app_problem_destroy(ours);
    }
    return 0;
}
