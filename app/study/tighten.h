// What a finer tolerance of one parameter would do, and what a linear tolerance chain says.
#ifndef LASH_APP_STUDY_TIGHTEN_H
#define LASH_APP_STUDY_TIGHTEN_H

#include "app/study/sensitivity.h"
#include "app/study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashFiner {   // one parameter made one ISO grade finer, the others as they are
    char now[24], finer[24]; // classes: "H7", "H6"; empty: the parameter has none
    double ratio;            // width of its scatter then / now
    double shift;            // of its mean, in its unit
    double fall;             // of the output's sigma, as a share of it; NAN: not known
    double sigma;            // of the output then
    double mean_shift;       // of the output's mean
} LashFiner;

// How the scatter of a parameter changes by one grade: a class of ISO 286 or 2768-1 where it has
// one, else by the ratio of two grades, 10^(1/5).
LashFiner lash_finer(const LashStudy* study, int parameter);
// What follows for an output of this sigma. share: of its variance that vanishes with the
// parameter's scatter (interactions included, where they are known).
void lash_finer_output(LashFiner* finer, const LashContribution* contribution, double share,
                       bool correlated, double sigma);

// A linear chain through the slopes: sigma^2 = sum of (slope_i sigma_i)(slope_j sigma_j) rho_ij, and
// all parameters at the worse end of their range.
typedef struct LashChain {
    double sigma;      // NAN: a slope is not known
    double half_range; // sum of |slope| (high - low) / 2: the arithmetic worst case
} LashChain;
// slope (active), in the order of the study's active parameters.
LashChain lash_chain(const LashStudy* study, const double* slope);

#ifdef __cplusplus
}
#endif
#endif
