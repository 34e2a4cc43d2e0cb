// `lash bench solvers [FILE...]`: speed and residual of the complementarity solvers on problem
// files or on built-in problems, beside the peer's when lash-bench-peer stands next to the program.
#ifndef LASH_APP_BENCH_SOLVERS_H
#define LASH_APP_BENCH_SOLVERS_H

#ifdef __cplusplus
extern "C" {
#endif

// argv[0] is "solvers", the other words follow. Prints to stdout; returns the exit code.
int app_bench_solvers(int argc, char** argv);

#ifdef __cplusplus
}
#endif
#endif
