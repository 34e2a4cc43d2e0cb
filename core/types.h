// Plain data shared by all folders. Compiles as C17 and as C++17.
#ifndef LASH_CORE_TYPES_H
#define LASH_CORE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Compiles a hot loop for wider registers too and picks at load time. Only for loops without
// reductions, so that every machine computes the same bits (a * b + c is never contracted). Not for 512
// bits: blocks of 6 x 6 fill them badly, and a heap's factors took a tenth more.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define LASH_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define LASH_VECTOR_CLONES
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashVec3 {
    double x, y, z;
} LashVec3;

typedef struct LashQuat { // unit, scalar first, body -> world
    double w, x, y, z;
} LashQuat;

typedef struct LashMat3 { // column-major: m[row + 3 * column]
    double m[9];
} LashMat3;

typedef struct LashPose { // a_b: frame b expressed in frame a
    LashVec3 r;
    LashQuat rot;
} LashPose;

// A number of 34 digits, for the few sums in which all sixteen of a double cancel. Software computes with it,
// every operation correctly rounded: the same bits on every machine, some hundred times as slow.
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 LashWide;
#else
typedef long double LashWide; // machines whose long double has 113 bits need no other name for it
#endif

// What became of a numerical task. The caller decides what to do about it.
typedef enum LashOutcome {
    LASH_CONVERGED,  // the tolerance was reached, verified on the returned numbers
    LASH_INACCURATE, // the best point found, above the tolerance; the residual tells
    LASH_FAILED,     // nothing usable
    LASH_INTERRUPTED // told to stop (core/stop.h) before it was done
} LashOutcome;

#ifdef __cplusplus
}
#endif
#endif
