// The table of joint kinds.
#include "joints/joint.h"

const JointKind* joint_kind(LashJointType type) {
    switch (type) {
        case LASH_FIXED:
            return &joint_fixed;
        case LASH_REVOLUTE:
            return &joint_revolute;
        case LASH_PRISMATIC:
            return &joint_prismatic;
        case LASH_SPHERICAL:
            return &joint_spherical;
        case LASH_DISTANCE:
            return &joint_distance;
        case LASH_CYLINDRICAL:
            return &joint_cylindrical;
        case LASH_UNIVERSAL:
            return &joint_universal;
        case LASH_PLANAR:
            return &joint_planar;
        case LASH_SCREW:
            return &joint_screw;
        case LASH_POINT_ON_LINE:
            return &joint_point_on_line;
        case LASH_POINT_ON_PLANE:
            return &joint_point_on_plane;
        case LASH_GEAR:
            return &joint_gear;
        case LASH_RACK_AND_PINION:
            return &joint_rack_and_pinion;
        case LASH_JOINT_TYPES:
            break;
    }
    LASH_ASSERT(!"a known joint type");
    return NULL;
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
                                        [ABOUT_X_OF_B] = "second_angle"};
    return names[joint_kind(type)->coordinate[coordinate]];
}

bool lash_coordinate_is_angle(LashJointType type, int coordinate) {
    return coordinate_is_angle(joint_kind(type)->coordinate[coordinate]);
}
