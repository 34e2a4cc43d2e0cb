// The table of joint kinds.
#include "joints/joint.h"

const JointKind* joint_kind(LashJointType type) {
    static const JointKind* const kinds[] = {
#define X(id, name) [LASH_##id] = &joint_##name,
        LASH_JOINT_TABLE(X)
#undef X
    };
    LASH_ASSERT(type >= 0 && type < LASH_JOINT_TYPES);
    return kinds[type];
}

const char* lash_joint_type_name(LashJointType type) {
    return joint_kind(type)->name;
}

bool lash_joint_has_friction(LashJointType type) {
    return joint_kind(type)->slips > 0;
}

bool lash_joint_friction_turns(LashJointType type) {
    const JointKind* kind = joint_kind(type);
    for (int k = 0; k < kind->slips; ++k) {
        if (coordinate_is_angle(kind->coordinate[kind->slip[k]])) return true;
    }
    return false;
}

int lash_coordinate_count(LashJointType type) {
    return joint_kind(type)->coordinates;
}

const char* lash_coordinate_name(LashJointType type, int coordinate) {
    static const char* const names[] = {[ALONG_X] = "x",
                                        [ALONG_Y] = "y",
                                        [ALONG_Z] = "displacement",
                                        [ABOUT_Z] = "angle",
                                        [ABOUT_X_OF_B] = "second_angle",
                                        [ABOUT_BETWEEN] = "pitch"};
    const JointKind* kind = joint_kind(type);
    if (kind->coordinate_name != NULL) return kind->coordinate_name[coordinate];
    return names[kind->coordinate[coordinate]];
}

const char* lash_coordinate_label(LashJointType type, int coordinate) {
    bool known = coordinate >= 0 && coordinate < joint_kind(type)->coordinates;
    bool named = coordinate > 0 || type == LASH_FREE_JOINT;
    return known && named ? lash_coordinate_name(type, coordinate) : "";
}

bool lash_coordinate_is_angle(LashJointType type, int coordinate) {
    return coordinate_is_angle(joint_kind(type)->coordinate[coordinate]);
}
