// Which parameter drives an output.
#ifndef LASH_APP_STUDY_SENSITIVITY_H
#define LASH_APP_STUDY_SENSITIVITY_H

#include "app/study/statistics.h"
#include "app/study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

// Rows of a plan in its order, one value each; NAN: failed or missing.
typedef struct LashSobolIndex {
    double first, total;
    LashInterval first_ci, total_ci; // 95 %
} LashSobolIndex;
// Saltelli plans: indices of every active parameter; returns the base points used. index (active).
int64_t lash_sobol_indices(const LashStudy* study, const double* y, LashSobolIndex* index);

typedef struct LashMorrisEffect {
    double mu, mu_star, sigma; // of the elementary effects: change of the output over the range
    int64_t n;
} LashMorrisEffect;
void lash_morris_effects(const LashStudy* study, const double* y, LashMorrisEffect* effect);

// Any sample: x (rows x active), y (rows), all finite.
typedef struct LashContribution {
    double share;          // of the variance explained by this parameter alone, any shape of curve
    LashInterval share_ci; // 95 %; NAN: too few rows, or too many polynomials
    double regression;     // standardised coefficient of the linear model
    double slope;          // the same in units: output per unit of the parameter
    double correlation;    // of the ranks (Spearman)
    double linear;         // of the values (Pearson)
} LashContribution;
// Returns R^2 of the linear model; NAN when it cannot be found. noise: a share that 95 of 100
// parameters without any influence stay below; NAN, as the shares are, with too few rows.
double lash_contributions(const double* x, const double* y, int64_t rows, int active,
                          LashContribution* contribution, double* noise);

// Mean of y over equally filled bins of x: a main effect. Returns the number of bins filled.
typedef struct LashBin {
    double x, y, error; // mean of each, standard error of y
    int64_t n;
} LashBin;
int lash_main_effect(const double* x, const double* y, int64_t rows, int bins, LashBin* bin);

#ifdef __cplusplus
}
#endif
#endif
