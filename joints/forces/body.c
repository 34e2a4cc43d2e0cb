// A force at a point p of a body and a torque on it, with components f in world or body axes. With
// the rotation R of the body, force F in world axes and torque T in body axes:
//   force    world axes   F = f      T = p x R'f        body axes   F = R f    T = p x f
//   torque   world axes   F = 0      T = R'f            body axes   F = 0      T = f
// Derivatives by a rotation w of the body (body axes):  d(R f) = -R [f]x w,  d(R'f) = [R'f]x w.
#include "joints/force.h"

static Vec3 in_body_axes(const LashForceDef* def, const BodyState* state, Vec3 f) {
    return def->body_axes ? f : mat3_mul_transposed(state->R, f);
}

static void point_load(const LashForceDef* def, const BodyState* state, Vec3 f, Vec3* world,
                       Vec3* torque) {
    *world = def->body_axes ? mat3_mul(state->R, f) : f;
    *torque = vec3_cross(def->b_point, in_body_axes(def, state, f));
}

static void point_turn(const LashForceDef* def, const BodyState* state, Vec3 f, double* block) {
    if (def->body_axes) {
        add_block3(block, 0, 3, 1, mat3_product(state->R, mat3_skew(f)));
        return;
    }
    Mat3 skew = mat3_skew(mat3_mul_transposed(state->R, f));
    add_block3(block, 3, 3, -1, mat3_product(mat3_skew(def->b_point), skew));
}

static void torque_load(const LashForceDef* def, const BodyState* state, Vec3 f, Vec3* world,
                        Vec3* torque) {
    *world = vec3_zero();
    *torque = in_body_axes(def, state, f);
}

static void torque_turn(const LashForceDef* def, const BodyState* state, Vec3 f, double* block) {
    if (!def->body_axes) add_block3(block, 3, 3, -1, mat3_skew(mat3_mul_transposed(state->R, f)));
}

const ForceKind force_point_force = FORCE_ON_BODY("point force", point_load, point_turn);
const ForceKind force_torque = FORCE_ON_BODY("torque", torque_load, torque_turn);
