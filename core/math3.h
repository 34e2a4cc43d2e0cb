// Small vectors, matrices, rotations: by value, static inline. C17 and C++17.
#ifndef LASH_CORE_MATH3_H
#define LASH_CORE_MATH3_H

#include <math.h>

#include "core/types.h"

// The short names of the inside.
typedef LashVec3 Vec3;
typedef LashQuat Quat;
typedef LashMat3 Mat3;
typedef LashPose Pose;

#define LASH_PI 3.14159265358979323846

// The larger of two errors. Not a number is the largest of all, and stays so: fmax would drop it.
static inline double worse(double error, double other) {
    return error >= other || error != error ? error : other;
}

static inline double within(double x, double low, double high) {
    if (x < low) return low;
    return x > high ? high : x;
}

static inline Vec3 vec3(double x, double y, double z) {
    Vec3 a;
    a.x = x;
    a.y = y;
    a.z = z;
    return a;
}
static inline Vec3 vec3_zero(void) {
    return vec3(0, 0, 0);
}
static inline Vec3 vec3_add(Vec3 a, Vec3 b) {
    return vec3(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline Vec3 vec3_sub(Vec3 a, Vec3 b) {
    return vec3(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline Vec3 vec3_neg(Vec3 a) {
    return vec3(-a.x, -a.y, -a.z);
}
static inline Vec3 vec3_scale(double s, Vec3 a) {
    return vec3(s * a.x, s * a.y, s * a.z);
}
// a + s b
static inline Vec3 vec3_add_scaled(Vec3 a, double s, Vec3 b) {
    return vec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline double vec3_dot(Vec3 a, Vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline Vec3 vec3_cross(Vec3 a, Vec3 b) {
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double vec3_norm_squared(Vec3 a) {
    return vec3_dot(a, a);
}
static inline double vec3_norm(Vec3 a) {
    return sqrt(vec3_dot(a, a));
}
static inline double vec3_distance(Vec3 a, Vec3 b) {
    return vec3_norm(vec3_sub(a, b));
}
// a / |a|; a must not be zero
static inline Vec3 vec3_normalize(Vec3 a) {
    return vec3_scale(1.0 / vec3_norm(a), a);
}
// Which of its two formulas vec3_basis uses. It jumps where n.z passes this limit; mechanisms whose
// axes are parallel to z keep their normals near n.z = 0, so the jump must not be there.
static inline double vec3_basis_sign(Vec3 n) {
    return n.z < -0.7321 ? -1.0 : 1.0;
}
// Two unit vectors that complete the unit vector n to a right-handed basis (t1, t2, n).
static inline void vec3_basis(Vec3 n, Vec3* t1, Vec3* t2) {
    double sign = vec3_basis_sign(n);
    double a = -1.0 / (sign + n.z), b = n.x * n.y * a;
    *t1 = vec3(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *t2 = vec3(b, sign + n.y * n.y * a, -n.y);
}

static inline Mat3 mat3_zero(void) {
    Mat3 a = {{0, 0, 0, 0, 0, 0, 0, 0, 0}};
    return a;
}
static inline Mat3 mat3_diagonal(double x, double y, double z) {
    Mat3 a = {{x, 0, 0, 0, y, 0, 0, 0, z}};
    return a;
}
static inline Mat3 mat3_identity(void) {
    return mat3_diagonal(1, 1, 1);
}
static inline Vec3 mat3_column(Mat3 a, int j) {
    return vec3(a.m[3 * j], a.m[3 * j + 1], a.m[3 * j + 2]);
}
static inline Mat3 mat3_columns(Vec3 a, Vec3 b, Vec3 c) {
    Mat3 r = {{a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z}};
    return r;
}
static inline Vec3 mat3_mul(Mat3 a, Vec3 b) {
    return vec3(a.m[0] * b.x + a.m[3] * b.y + a.m[6] * b.z,
                a.m[1] * b.x + a.m[4] * b.y + a.m[7] * b.z,
                a.m[2] * b.x + a.m[5] * b.y + a.m[8] * b.z);
}
// a' b
static inline Vec3 mat3_mul_transposed(Mat3 a, Vec3 b) {
    return vec3(a.m[0] * b.x + a.m[1] * b.y + a.m[2] * b.z,
                a.m[3] * b.x + a.m[4] * b.y + a.m[5] * b.z,
                a.m[6] * b.x + a.m[7] * b.y + a.m[8] * b.z);
}
static inline Mat3 mat3_transpose(Mat3 a) {
    Mat3 r = {{a.m[0], a.m[3], a.m[6], a.m[1], a.m[4], a.m[7], a.m[2], a.m[5], a.m[8]}};
    return r;
}
static inline Mat3 mat3_product(Mat3 a, Mat3 b) {
    return mat3_columns(mat3_mul(a, mat3_column(b, 0)), mat3_mul(a, mat3_column(b, 1)),
                        mat3_mul(a, mat3_column(b, 2)));
}
static inline Mat3 mat3_add(Mat3 a, Mat3 b) {
    Mat3 r;
    for (int i = 0; i < 9; ++i) r.m[i] = a.m[i] + b.m[i];
    return r;
}
static inline Mat3 mat3_scale(double s, Mat3 a) {
    Mat3 r;
    for (int i = 0; i < 9; ++i) r.m[i] = s * a.m[i];
    return r;
}
static inline Mat3 mat3_sub(Mat3 a, Mat3 b) {
    return mat3_add(a, mat3_scale(-1, b));
}
// a b'
static inline Mat3 mat3_outer(Vec3 a, Vec3 b) {
    return mat3_columns(vec3_scale(b.x, a), vec3_scale(b.y, a), vec3_scale(b.z, a));
}
// [a]x, so that [a]x b = a x b
static inline Mat3 mat3_skew(Vec3 a) {
    Mat3 r = {{0, a.z, -a.y, -a.z, 0, a.x, a.y, -a.x, 0}};
    return r;
}
static inline double mat3_determinant(Mat3 a) {
    return vec3_dot(mat3_column(a, 0), vec3_cross(mat3_column(a, 1), mat3_column(a, 2)));
}
// Inverse by cofactors; a must be regular
static inline Mat3 mat3_inverse(Mat3 a) {
    Vec3 c0 = mat3_column(a, 0), c1 = mat3_column(a, 1), c2 = mat3_column(a, 2);
    double s = 1.0 / mat3_determinant(a);
    return mat3_transpose(mat3_columns(vec3_scale(s, vec3_cross(c1, c2)),
                                       vec3_scale(s, vec3_cross(c2, c0)),
                                       vec3_scale(s, vec3_cross(c0, c1))));
}

static inline Quat quat(double w, double x, double y, double z) {
    Quat a;
    a.w = w;
    a.x = x;
    a.y = y;
    a.z = z;
    return a;
}
static inline Quat quat_identity(void) {
    return quat(1, 0, 0, 0);
}
static inline Quat quat_mul(Quat a, Quat b) {
    return quat(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}
static inline Quat quat_conjugate(Quat a) {
    return quat(a.w, -a.x, -a.y, -a.z);
}
static inline double quat_norm(Quat a) {
    return sqrt(a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z);
}
static inline Quat quat_normalize(Quat a) {
    double s = 1.0 / quat_norm(a);
    return quat(s * a.w, s * a.x, s * a.y, s * a.z);
}
static inline Vec3 quat_rotate(Quat a, Vec3 b) {
    Vec3 u = vec3(a.x, a.y, a.z);
    Vec3 t = vec3_scale(2.0, vec3_cross(u, b));
    return vec3_add(vec3_add_scaled(b, a.w, t), vec3_cross(u, t));
}
static inline Vec3 quat_rotate_inverse(Quat a, Vec3 b) {
    return quat_rotate(quat_conjugate(a), b);
}
static inline Mat3 quat_matrix(Quat a) {
    double xx = a.x * a.x, yy = a.y * a.y, zz = a.z * a.z;
    double xy = a.x * a.y, xz = a.x * a.z, yz = a.y * a.z;
    double wx = a.w * a.x, wy = a.w * a.y, wz = a.w * a.z;
    Mat3 r = {{1 - 2 * (yy + zz), 2 * (xy + wz), 2 * (xz - wy), 2 * (xy - wz), 1 - 2 * (xx + zz),
               2 * (yz + wx), 2 * (xz + wy), 2 * (yz - wx), 1 - 2 * (xx + yy)}};
    return r;
}
// Rotation matrix (orthonormal) to quaternion, stable for every angle
static inline Quat quat_from_matrix(Mat3 a) {
    double xx = a.m[0], yy = a.m[4], zz = a.m[8], trace = xx + yy + zz;
    Quat r;
    if (trace >= xx && trace >= yy && trace >= zz) {
        r = quat(1 + trace, a.m[5] - a.m[7], a.m[6] - a.m[2], a.m[1] - a.m[3]);
    } else if (xx >= yy && xx >= zz) {
        r = quat(a.m[5] - a.m[7], 1 + xx - yy - zz, a.m[1] + a.m[3], a.m[2] + a.m[6]);
    } else if (yy >= zz) {
        r = quat(a.m[6] - a.m[2], a.m[1] + a.m[3], 1 + yy - xx - zz, a.m[5] + a.m[7]);
    } else {
        r = quat(a.m[1] - a.m[3], a.m[2] + a.m[6], a.m[5] + a.m[7], 1 + zz - xx - yy);
    }
    return quat_normalize(r);
}
// exp of the rotation vector a: rotation by |a| about a. Taylor below 1e-4 (next term < 1e-18).
static inline Quat quat_exp(Vec3 a) {
    double s = 0.25 * vec3_dot(a, a); // (|a|/2)^2
    double half_sinc, c;
    if (s < 2.5e-3) { // |a| < 0.1: the terms left out are below 1e-17
        half_sinc = 0.5 * (1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72))));
        c = 1 - s / 2 * (1 - s / 12 * (1 - s / 30 * (1 - s / 56 * (1 - s / 90))));
    } else {
        double x = sqrt(s);
        half_sinc = 0.5 * sin(x) / x;
        c = cos(x);
    }
    return quat(c, half_sinc * a.x, half_sinc * a.y, half_sinc * a.z);
}
// Rotation vector of a unit quaternion, |result| <= pi
static inline Vec3 quat_log(Quat a) {
    Vec3 u = vec3(a.x, a.y, a.z);
    double s = vec3_norm(u), w = a.w;
    if (w < 0) {
        u = vec3_neg(u);
        w = -w;
    }
    if (s < 1e-8) return vec3_scale(2.0 / w, u);
    return vec3_scale(2.0 * atan2(s, w) / s, u);
}
static inline Quat quat_from_axis_angle(Vec3 axis, double angle) { // axis unit
    double s = sin(0.5 * angle);
    return quat(cos(0.5 * angle), s * axis.x, s * axis.y, s * axis.z);
}
// Shortest rotation that takes the unit vector a to the unit vector b
static inline Quat quat_between(Vec3 a, Vec3 b) {
    double w = 1 + vec3_dot(a, b);
    if (w < 1e-12) { // opposite: any axis across a
        Vec3 t1, t2;
        vec3_basis(a, &t1, &t2);
        return quat(0, t1.x, t1.y, t1.z);
    }
    Vec3 c = vec3_cross(a, b);
    return quat_normalize(quat(w, c.x, c.y, c.z));
}
// Right Jacobian T of the exponential: exp(a + T^-1... ) read exp(a + e) = exp(a) exp(T(a) e) +
// O(e^2). T(a) = I - (1 - cos x)/x^2 [a]x + (x - sin x)/x^3 [a]x^2, x = |a|
static inline Mat3 so3_right_jacobian(Vec3 a) {
    double s = vec3_dot(a, a), b, c;
    if (s < 1e-2) {
        b = 0.5 * (1 - s / 12 * (1 - s / 30 * (1 - s / 56 * (1 - s / 90))));
        c = (1 - s / 20 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110)))) / 6;
    } else {
        double x = sqrt(s);
        b = (1 - cos(x)) / s;
        c = (x - sin(x)) / (s * x);
    }
    Mat3 k = mat3_skew(a);
    return mat3_add(mat3_add(mat3_identity(), mat3_scale(-b, k)),
                    mat3_scale(c, mat3_product(k, k)));
}

static inline Pose pose(Vec3 r, Quat rot) {
    Pose a;
    a.r = r;
    a.rot = rot;
    return a;
}
static inline Pose pose_identity(void) {
    return pose(vec3_zero(), quat_identity());
}
static inline Vec3 pose_point(Pose a, Vec3 b) {
    return vec3_add(a.r, quat_rotate(a.rot, b));
}
static inline Vec3 pose_point_inverse(Pose a, Vec3 b) {
    return quat_rotate_inverse(a.rot, vec3_sub(b, a.r));
}
// a_b * b_c = a_c
static inline Pose pose_mul(Pose a, Pose b) {
    return pose(pose_point(a, b.r), quat_mul(a.rot, b.rot));
}
static inline Pose pose_inverse(Pose a) {
    Quat r = quat_conjugate(a.rot);
    return pose(vec3_neg(quat_rotate(r, a.r)), r);
}

#endif
