// How far the impacts of a step reach: an impact is felt at once by all that joints and closed
// contacts tie to the parts that met, whether they moved against each other or not.
#ifndef LASH_APP_STRIKE_H
#define LASH_APP_STRIKE_H

#include "joints/mechanism.h"
#include "solvers/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppStrike {
    int bodies;  // of the mechanism
    int* parent; // (bodies) of parts that are tied together: the way to the one that stands for all
    bool* struck; // (bodies) where it stands for all: an impact reached them
    bool any;     // an impact in the last step
} AppStrike;

AppStrike app_strike_create(const LashMechanism* mech);
void app_strike_free(AppStrike* strike);

// After a step.
void app_strike_step(AppStrike* strike, const LashMechanism* mech, const LashSim* sim);
// Was a contact, or a joint, reached by an impact of the last step?
bool app_strike_contact(const AppStrike* strike, const LashMechanism* mech, int contact);
bool app_strike_joint(const AppStrike* strike, const LashMechanism* mech, int joint);

#ifdef __cplusplus
}
#endif
#endif
