// The nonsmooth alpha family (alpha.c): a scheme of it is its options and four numbers.
#ifndef LASH_SOLVERS_ALPHA_H
#define LASH_SOLVERS_ALPHA_H

#include "solvers/schemes/scheme.h"

enum { ALPHA_M, ALPHA_F, ALPHA_GAMMA, ALPHA_BETA, ALPHA_COEFFICIENTS }; // sim->coefficient
// Vectors of history: a, its smooth part a~ (Krenk-Hogsberg: M a - F_r), filter z, F_p.
enum { ALPHA_A, ALPHA_SMOOTH, ALPHA_Z, ALPHA_POTENTIAL, ALPHA_HISTORY };

enum { // settings that all of them read
    USES_ALPHA =
        USES_DIRECTION | USES_FORECAST | USES_FREMOND | USES_JOINT_FRICTION | USES_RESTITUTION
};

// The optimal family [A16 (27)] of spectral radius rho at infinity.
void alpha_of_radius(double radius, double* coefficient);
extern const LashOption alpha_radius_option; // spectral_radius

void alpha_start(LashSim* sim);
void alpha_plan(LashSim* sim, Step* step);
void alpha_energy(LashSim* sim, Step* step);
double alpha_algorithmic(LashSim* sim);
void alpha_accept(LashSim* sim, const Step* step);
// Vector `which` of history.
static inline double* alpha_history(LashSim* sim, int which) {
    return sim->now.history + which * sim->system->nv;
}
void alpha_filter(LashSim* sim, const Step* step); // z <- end of the step

#endif
