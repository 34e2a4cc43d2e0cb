// Distributions of a parameter: density by its quantile function.
#ifndef LASH_APP_STUDY_DISTRIBUTION_H
#define LASH_APP_STUDY_DISTRIBUTION_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LashDistributionType { // order of the names in study_keys.c
    LASH_UNIFORM,
    LASH_NORMAL,
    LASH_TRUNCATED_NORMAL,
    LASH_TRIANGULAR,
    LASH_DISCRETE,
    LASH_CONSTANT,
    LASH_DISTRIBUTIONS
} LashDistributionType;

typedef struct LashDistribution {
    LashDistributionType type;
    double low, high, mean, sigma, mode;
    double p_low, p_high;             // truncated normal: normal probabilities of the ends
    const double *values, *cumulated; // discrete: rising probabilities, the last is 1
    int count;
} LashDistribution;

double lash_normal_cdf(double x);
double lash_normal_quantile(double p); // p in (0, 1); full precision in both tails
double lash_normal_density(double x);

// x with P(X <= x) = u, u in (0, 1).
double lash_distribution_quantile(const LashDistribution* distribution, double u);

// The range that grids and one-at-a-time designs span: the support, or mean -+ 3 sigma.
void lash_distribution_range(const LashDistribution* distribution, double* low, double* high);

double lash_distribution_mean(const LashDistribution* distribution);
double lash_distribution_sigma(const LashDistribution* distribution);

#ifdef __cplusplus
}
#endif
#endif
