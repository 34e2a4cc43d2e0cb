// A rigid body as numbers.
#ifndef LASH_CORE_BODY_H
#define LASH_CORE_BODY_H

#include "core/error.h"
#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashBodyId { // by value; {0} is null, so a forgotten field asserts instead of
                            // meaning body 0
    int32_t index1;
} LashBodyId;

typedef struct LashBodyDef {
    const char* name;         // copied, unique in the mechanism
    double mass;              // > 0 [kg]
    LashMat3 inertia;         // about the center of mass, body axes [kg m^2]
    LashPose world_body;      // initial placement; the body origin is the center of mass
    LashVec3 velocity, omega; // of the center of mass, world axes [m/s]; body axes [rad/s]
} LashBodyDef;

LashBodyDef lash_body_def(void);

// Principal moments, ascending (Jacobi rotations).
LashVec3 lash_inertia_principal(LashMat3 inertia);

// False, with a message, unless mass > 0 and the inertia is finite, symmetric, positive definite
// and keeps the triangle inequality of its principal moments (largest <= sum of the others, to 1e-6
// of it).
bool lash_body_check(const LashBodyDef* def, const char* where, LashError* error);

#ifdef __cplusplus
}
#endif
#endif
