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
        case LASH_JOINT_TYPES:
            break;
    }
    LASH_ASSERT(!"a known joint type");
    return NULL;
}
