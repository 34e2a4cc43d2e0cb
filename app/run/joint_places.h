// Does a joint lie where its parts are?
#ifndef LASH_APP_JOINT_PLACES_H
#define LASH_APP_JOINT_PLACES_H

#include "app/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// A sentence about joint number `joint` when its axis or point is far from all geometry of a part
// it joins; false: nothing to say, or nothing known. Parts without CAD are not looked at (their
// shapes may stand for masses only), nor are joints whose point is no place (prismatic, planar,
// couplings).
bool app_joint_is_far(const LashModel* model, int joint, char* text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
