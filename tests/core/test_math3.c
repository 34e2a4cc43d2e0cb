// Small vectors and rotations against identities they must satisfy.
#include "core/math3.h"
#include "test.h"

static void exp_and_log_are_inverse(void** state) {
    (void)state;
    for (double x = 1e-9; x < 3.1; x *= 1.7) {
        Vec3 a = vec3_scale(x, vec3_normalize(vec3(0.3, -0.5, 0.8)));
        Vec3 b = quat_log(quat_exp(a));
        assert_true(vec3_distance(a, b) <= 4e-16 * (1 + x) * 4);
    }
}

static void right_jacobian_is_the_derivative_of_exp(void** state) {
    (void)state;
    for (double x = 1e-3; x < 3.0; x *= 2) {
        Vec3 a = vec3_scale(x, vec3_normalize(vec3(1, -2, 0.5))), e = vec3(0.2, 0.7, -0.4);
        double step = 1e-5;
        Quat plus = quat_exp(vec3_add_scaled(a, step, e)),
             minus = quat_exp(vec3_add_scaled(a, -step, e));
        Vec3 d = vec3_scale(0.5 / step, quat_log(quat_mul(quat_conjugate(minus), plus)));
        assert_true(vec3_distance(d, mat3_mul(so3_right_jacobian(a), e)) < 1e-9);
    }
}

static void matrix_and_quaternion_rotate_alike(void** state) {
    (void)state;
    Quat p = quat_normalize(quat(0.1, -0.7, 0.4, 0.6));
    Vec3 a = vec3(1, 2, 3);
    assert_true(vec3_distance(quat_rotate(p, a), mat3_mul(quat_matrix(p), a)) < 1e-15 * 8);
    Quat back = quat_from_matrix(quat_matrix(p));
    assert_true(fabs(fabs(back.w * p.w + back.x * p.x + back.y * p.y + back.z * p.z) - 1) < 1e-15);
}

RUN(TEST(exp_and_log_are_inverse), TEST(right_jacobian_is_the_derivative_of_exp),
    TEST(matrix_and_quaternion_rotate_alike))
