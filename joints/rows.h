// Rows of joints, written inline: building blocks of every kind's write (equations: rows.c).
#ifndef LASH_JOINTS_ROWS_H
#define LASH_JOINTS_ROWS_H

#include "joints/joint.h"

static inline void put_half(double* G, Vec3 v) {
    G[0] = v.x;
    G[1] = v.y;
    G[2] = v.z;
}

// Columns of one side: linear sign I, angular sign (s x R'e_k), the rows of R being the columns of
// R'.
static inline void put_point_columns(const BodyState* body, Vec3 s, double sign, double* G) {
    const double* R = body->R.m;
    s = vec3_scale(sign, s);
    for (int k = 0; k < 3; ++k, G += 6) {
        put_half(G, vec3(k == 0 ? sign : 0, k == 1 ? sign : 0, k == 2 ? sign : 0));
        put_half(G + 3, vec3_cross(s, vec3(R[k], R[k + 3], R[k + 6])));
    }
}

// point3: p_b - p_a = 0 in world axes, three rows.
static inline void row_point3(const JointFrames* frames, RowWriter* out) {
    int i = out->rows;
    out->rows += 3;
    if (out->g != NULL) put_half(out->g + i, vec3_sub(frames->p_b, frames->p_a));
    if (out->Ga != NULL) put_point_columns(frames->a, frames->a_point, -1, out->Ga + 6 * i);
    if (out->Gb != NULL) put_point_columns(frames->b, frames->b_point, 1, out->Gb + 6 * i);
}

// axis_point: e_a . (p_b - p_a), e_a an axis of a.
static inline void row_axis_point(const JointFrames* frames, int axis, RowWriter* out) {
    Vec3 e = axis_a(frames, axis), u = mat3_column(*frames->a_axes, axis);
    int i = out->rows++;
    if (out->g != NULL) out->g[i] = vec3_dot(e, vec3_sub(frames->p_b, frames->p_a));
    if (out->Ga != NULL) {
        Vec3 rho = mat3_mul_transposed(frames->a->R, vec3_sub(frames->p_b, frames->a->x));
        put_half(out->Ga + 6 * i, vec3_neg(e));
        put_half(out->Ga + 6 * i + 3, vec3_cross(u, rho));
    }
    if (out->Gb != NULL) {
        put_half(out->Gb + 6 * i, e);
        put_half(out->Gb + 6 * i + 3,
                 vec3_cross(frames->b_point, mat3_mul_transposed(frames->b->R, e)));
    }
}

// dot: e_a . k_b, an axis of a and one of b, whose image in a is k_a = R_a' R_b w. With u the axis
// in a: g = u.k_a, G_a = u x k_a, G_b = -R_b' R_a G_a.
static inline void row_dot_with(const JointFrames* frames, int e, Vec3 k_a, RowWriter* out) {
    Vec3 u = mat3_column(*frames->a_axes, e), m = vec3_cross(u, k_a);
    int i = out->rows++;
    if (out->g != NULL) out->g[i] = vec3_dot(u, k_a);
    if (out->Ga != NULL) {
        put_half(out->Ga + 6 * i, vec3_zero());
        put_half(out->Ga + 6 * i + 3, m);
    }
    if (out->Gb != NULL) {
        put_half(out->Gb + 6 * i, vec3_zero());
        put_half(out->Gb + 6 * i + 3, mat3_mul_transposed(frames->a_b, vec3_neg(m)));
    }
}
static inline Vec3 axis_b_in_a(const JointFrames* frames, int k) {
    return mat3_mul(frames->a_b, mat3_column(*frames->b_axes, k));
}
static inline void row_dot(const JointFrames* frames, int e, int k, RowWriter* out) {
    row_dot_with(frames, e, axis_b_in_a(frames, k), out);
}
// x_a . z_b and y_a . z_b: the axes stay parallel.
static inline void row_parallel(const JointFrames* frames, RowWriter* out) {
    Vec3 k_a = axis_b_in_a(frames, 2);
    row_dot_with(frames, 0, k_a, out);
    row_dot_with(frames, 1, k_a, out);
}

#endif
