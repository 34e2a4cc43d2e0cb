// Bushings: springs and dampers on six coordinates at once.
#ifndef LASH_JOINTS_BUSHING_H
#define LASH_JOINTS_BUSHING_H

#include "joints/mechanism_internal.h"

// Bodies are placed. See mechanism_internal.h for what is added to F, C and K.
void bushing_add_force(const LashSystemWork* work, const Force* force, const double* v, double* F);
void bushing_add_conservative(const LashSystemWork* work, const Force* force, double* F);
void bushing_add_tangents(const LashMechanism* mech, const LashSystemWork* work, const Force* force,
                          const double* v, bool definite, double* C, double* K);
double bushing_potential(const LashSystemWork* work, const Force* force);
double bushing_damping_power(const LashSystemWork* work, const Force* force, const double* v);
void bushing_value(const LashSystemWork* work, const Force* force, const double* v, double f[6]);
void bushing_make(Force* force, const LashBushingDef* def);

#endif
