// Friction problems made here: what `lash bench solvers` runs without files, and what tests use.
#ifndef LASH_APP_PROBLEM_BUILTIN_H
#define LASH_APP_PROBLEM_BUILTIN_H

#include "app/bench/problem_file.h"

#ifdef __cplusplus
extern "C" {
#endif

// N unit boxes (1 m, 1 kg) on top of each other on the ground, four corners per face, one step of
// gravity. Caller owns.
AppProblem* app_problem_stack(int boxes, double mu);

typedef struct AppRandomProblem {
    uint64_t seed;
    int contacts, bodies; // few bodies for many contacts: W is rank-deficient
    int rows;             // 1 .. 3 per contact; 0: mixed kinds, joint rows included
    double asymmetry;     // relative size of the difference between G' and G*
} AppRandomProblem;

// Rigid bodies of 1e-4 .. 1e3 kg with random contacts, mu in [0, 1], b = G' v_free.
AppProblem* app_problem_random(const AppRandomProblem* settings);

// A slider of 0.1 kg in a guide, planar, its four corners as contacts, turning at omega [rad/s].
// -0.11: both corners at one wall are loaded; -3: one at each wall. The other two touch.
AppProblem* app_problem_slider(double omega);

// A rod sliding on the ground with so much friction that none or several solutions exist.
AppProblem* app_problem_painleve(double mu, double angle);

#ifdef __cplusplus
}
#endif
#endif
