// The clock of the solver benches, ours and the peer's alike.
#ifndef LASH_APP_BENCH_CLOCK_H
#define LASH_APP_BENCH_CLOCK_H

#include <math.h>
#include <time.h>

// Wall clock and processor time [us]; of the two the smaller is taken, since other programs on the
// machine lengthen the first and reading the second is slow.
typedef struct BenchInstant {
    double wall, cpu;
} BenchInstant;

static inline BenchInstant bench_now(void) {
    struct timespec w, c;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &c);
    clock_gettime(CLOCK_MONOTONIC, &w); // last: nothing but the work lies after it
    return (BenchInstant){(double)w.tv_sec * 1e6 + (double)w.tv_nsec * 1e-3,
                          (double)c.tv_sec * 1e6 + (double)c.tv_nsec * 1e-3};
}

static inline double bench_since(BenchInstant start) {
    struct timespec w;
    clock_gettime(CLOCK_MONOTONIC, &w); // first: it must not pay for the other
    double wall = (double)w.tv_sec * 1e6 + (double)w.tv_nsec * 1e-3 - start.wall;
    return fmin(wall, bench_now().cpu - start.cpu);
}

#endif
