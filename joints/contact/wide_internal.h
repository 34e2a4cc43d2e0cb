// Vectors and rotations of wide numbers (core/types.h), as far as contact_wide.c needs them.
#ifndef LASH_JOINTS_WIDE_INTERNAL_H
#define LASH_JOINTS_WIDE_INTERNAL_H

#include <math.h>

#include "core/types.h"

typedef struct Wide3 {
    LashWide x, y, z;
} Wide3;
typedef struct WideMat3 {
    Wide3 column[3];
} WideMat3;

// Each step of Heron's rule doubles the digits of the double that it begins with; x >= 0
static inline LashWide wide_sqrt(LashWide x) {
    double start = sqrt((double)x);
    if (!(start > 0)) return 0;
    LashWide y = start;
    for (int i = 0; i < 2; ++i) y = (y + x / y) / 2;
    return y;
}

static inline Wide3 wide3(LashVec3 a) {
    return (Wide3){a.x, a.y, a.z};
}
static inline Wide3 wide3_scale(LashWide s, Wide3 a) {
    return (Wide3){s * a.x, s * a.y, s * a.z};
}
// a + s b
static inline Wide3 wide3_add_scaled(Wide3 a, LashWide s, Wide3 b) {
    return (Wide3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline LashWide wide3_dot(Wide3 a, Wide3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline Wide3 wide3_cross(Wide3 a, Wide3 b) {
    return (Wide3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline Wide3 wide3_multiply(const WideMat3* A, Wide3 b) {
    Wide3 sum = wide3_scale(b.x, A->column[0]);
    sum = wide3_add_scaled(sum, b.y, A->column[1]);
    return wide3_add_scaled(sum, b.z, A->column[2]);
}
// A' b
static inline Wide3 wide3_multiply_transposed(const WideMat3* A, Wide3 b) {
    return (Wide3){wide3_dot(A->column[0], b), wide3_dot(A->column[1], b),
                   wide3_dot(A->column[2], b)};
}

#endif
