// What can be measured in a run, and its value now.
#ifndef LASH_APP_QUANTITY_H
#define LASH_APP_QUANTITY_H

#include "app/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LashQuantityKind { // order of the table in model_outputs.c
    LASH_POSITION_X,
    LASH_POSITION_Y,
    LASH_POSITION_Z,
    LASH_VELOCITY_X,
    LASH_VELOCITY_Y,
    LASH_VELOCITY_Z,
    LASH_VELOCITY,
    LASH_ANGULAR_VELOCITY_X,
    LASH_ANGULAR_VELOCITY_Y,
    LASH_ANGULAR_VELOCITY_Z,
    LASH_ANGULAR_VELOCITY,
    LASH_COORDINATE,
    LASH_SPEED,
    LASH_FORCE_X,
    LASH_FORCE_Y,
    LASH_FORCE_Z,
    LASH_FORCE,
    LASH_MOMENT_X,
    LASH_MOMENT_Y,
    LASH_MOMENT_Z,
    LASH_MOMENT,
    LASH_ECCENTRICITY, // of a joint with clearance, and the next six
    LASH_TILT,
    LASH_CONTACT_POINTS,
    LASH_WEAR, // work of friction so far, taken positive
    LASH_FREE_TIME,
    LASH_CONTACT_TIME,
    LASH_SLIDING_TIME,
    LASH_GAP,           // of a contact with several points: the least
    LASH_CONTACT_FORCE, // "force" of a contact; forces and impulses of several points are summed
    LASH_NORMAL_FORCE,
    LASH_FRICTION_FORCE,
    LASH_IMPULSE, // normal
    LASH_IMPACTS,
    LASH_FIRST_IMPACT, // time of the first impact so far
    LASH_ENERGY_KINETIC,
    LASH_ENERGY_POTENTIAL,
    LASH_ENERGY_TOTAL,
    LASH_ENERGY_ERROR,
    LASH_QUANTITIES
} LashQuantityKind;

#ifdef __cplusplus
}
#endif
#endif
