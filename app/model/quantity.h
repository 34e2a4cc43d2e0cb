// What can be measured in a run: one table, one row per quantity.
#ifndef LASH_APP_QUANTITY_H
#define LASH_APP_QUANTITY_H

#include "app/model/model_internal.h"

typedef enum QuantityTraits { // what else is asked about a quantity; several are joined by |
    PLAIN = 0,
    IMPULSIVE = 1,     // an average over the step just done: has no value at the start
    AT_POINT = 2,      // "point" may name another place of the part
    OF_COORDINATE = 4, // "coordinate" may name another one of the joint
    OF_PLAY = 8,       // the joint must have clearance
    IS_TIME_OF = 16    // of an event: not a number until it happens
} QuantityTraits;

// Unit of a joint's coordinate: where it is an angle, and where it is a length.
#define BY_COORDINATE(angle, length) (UNIT_##angle | UNIT_##length << 8)

// Columns: identifier; name in models; what it is of; unit; traits; the function of
// app/run/quantities.c that gives its value, and the number this is called with. A row that lacks
// one, or whose function does not exist, does not compile. Names may repeat for other `of`s.
// clang-format off
#define LASH_QUANTITY_TABLE(X) \
    X(POSITION_X, "position.x", PART, UNIT_LENGTH, AT_POINT, body_position, 0) \
    X(POSITION_Y, "position.y", PART, UNIT_LENGTH, AT_POINT, body_position, 1) \
    X(POSITION_Z, "position.z", PART, UNIT_LENGTH, AT_POINT, body_position, 2) \
    X(VELOCITY_X, "velocity.x", PART, UNIT_VELOCITY, AT_POINT, body_velocity, 0) \
    X(VELOCITY_Y, "velocity.y", PART, UNIT_VELOCITY, AT_POINT, body_velocity, 1) \
    X(VELOCITY_Z, "velocity.z", PART, UNIT_VELOCITY, AT_POINT, body_velocity, 2) \
    X(VELOCITY, "velocity", PART, UNIT_VELOCITY, AT_POINT, body_velocity, NORM) \
    X(ANGULAR_VELOCITY_X, "angular_velocity.x", PART, UNIT_ANGULAR_VELOCITY, PLAIN, body_omega, 0) \
    X(ANGULAR_VELOCITY_Y, "angular_velocity.y", PART, UNIT_ANGULAR_VELOCITY, PLAIN, body_omega, 1) \
    X(ANGULAR_VELOCITY_Z, "angular_velocity.z", PART, UNIT_ANGULAR_VELOCITY, PLAIN, body_omega, 2) \
    X(ANGULAR_VELOCITY, "angular_velocity", PART, UNIT_ANGULAR_VELOCITY, PLAIN, body_omega, NORM) \
    X(COORDINATE, "coordinate", JOINT, BY_COORDINATE(ANGLE, LENGTH), OF_COORDINATE, joint_number, LASH_SERIES_JOINT_COORDINATE) \
    X(SPEED, "speed", JOINT, BY_COORDINATE(ANGULAR_VELOCITY, VELOCITY), OF_COORDINATE, joint_number, LASH_SERIES_JOINT_SPEED) \
    X(FORCE_X, "force.x", JOINT, UNIT_FORCE, IMPULSIVE, joint_force, 0) \
    X(FORCE_Y, "force.y", JOINT, UNIT_FORCE, IMPULSIVE, joint_force, 1) \
    X(FORCE_Z, "force.z", JOINT, UNIT_FORCE, IMPULSIVE, joint_force, 2) \
    X(FORCE, "force", JOINT, UNIT_FORCE, IMPULSIVE, joint_force, NORM) \
    X(MOMENT_X, "moment.x", JOINT, UNIT_TORQUE, IMPULSIVE, joint_moment, 0) \
    X(MOMENT_Y, "moment.y", JOINT, UNIT_TORQUE, IMPULSIVE, joint_moment, 1) \
    X(MOMENT_Z, "moment.z", JOINT, UNIT_TORQUE, IMPULSIVE, joint_moment, 2) \
    X(MOMENT, "moment", JOINT, UNIT_TORQUE, IMPULSIVE, joint_moment, NORM) \
    X(ECCENTRICITY, "eccentricity", JOINT, UNIT_LENGTH, OF_PLAY, play_eccentricity, 0) \
    X(TILT, "tilt", JOINT, UNIT_ANGLE, OF_PLAY, play_tilt, 0) \
    X(CONTACT_POINTS, "contact_points", JOINT, UNIT_PIECES, OF_PLAY, play_contact_points, 0) \
    X(WEAR, "wear", JOINT, UNIT_JOULE, OF_PLAY, play_wear, 0) \
    X(FREE_TIME, "free_time", JOINT, UNIT_TIME, OF_PLAY, play_free_time, 0) \
    X(CONTACT_TIME, "contact_time", JOINT, UNIT_TIME, OF_PLAY, play_contact_time, 0) \
    X(SLIDING_TIME, "sliding_time", JOINT, UNIT_TIME, OF_PLAY, play_sliding_time, 0) \
    X(GAP, "gap", CONTACT, UNIT_LENGTH, PLAIN, contact_gap, 0) \
    X(CONTACT_FORCE, "force", CONTACT, UNIT_FORCE, IMPULSIVE, contact_force, 0) \
    X(NORMAL_FORCE, "normal_force", CONTACT, UNIT_FORCE, IMPULSIVE, contact_normal_force, 0) \
    X(FRICTION_FORCE, "friction_force", CONTACT, UNIT_FORCE, IMPULSIVE, contact_friction_force, 0) \
    X(IMPULSE, "impulse", CONTACT, UNIT_NEWTON_SECOND, IMPULSIVE, contact_impulse, 0) \
    X(IMPACTS, "impacts", CONTACT, UNIT_PIECES, PLAIN, contact_impacts, 0) \
    X(FIRST_IMPACT, "first_impact", CONTACT, UNIT_TIME, IS_TIME_OF, contact_first_impact, 0) \
    X(INPUT, "input", INPUT, UNIT_PIECES, PLAIN, input_value, 0) \
    X(ENERGY_KINETIC, "energy.kinetic", NOTHING, UNIT_JOULE, PLAIN, energy_kinetic, 0) \
    X(ENERGY_POTENTIAL, "energy.potential", NOTHING, UNIT_JOULE, PLAIN, energy_potential, 0) \
    X(ENERGY_TOTAL, "energy.total", NOTHING, UNIT_JOULE, PLAIN, energy_total, 0) \
    X(ENERGY_ERROR, "energy.balance_error", NOTHING, UNIT_JOULE, PLAIN, energy_error, 0) \
    X(ENERGY_ALGORITHMIC, "energy.algorithmic", NOTHING, UNIT_JOULE, PLAIN, energy_algorithmic, 0)
// clang-format on

typedef enum LashQuantityKind {
#define X(id, ...) LASH_##id,
    LASH_QUANTITY_TABLE(X)
#undef X
        LASH_QUANTITIES
} LashQuantityKind;

typedef enum LashQuantityOf {
    LASH_OF_NOTHING,
    LASH_OF_PART,
    LASH_OF_JOINT,
    LASH_OF_CONTACT,
    LASH_OF_INPUT
} LashQuantityOf;

typedef struct LashQuantity {
    const char* name;
    LashQuantityOf of;
    int unit;   // ModelUnit, or two of them: BY_COORDINATE
    int traits; // QuantityTraits
} LashQuantity;

const LashQuantity* lash_quantity(int kind);
static inline bool lash_quantity_is(int kind, QuantityTraits trait) {
    return (lash_quantity(kind)->traits & trait) != 0;
}

// The time of something that may not happen: its result is then not a number, and no fault.
bool lash_model_output_is_event(const LashModelOutput* output);

#endif
