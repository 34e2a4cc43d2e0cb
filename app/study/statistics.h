// Statistics of one output: moments, percentiles, capability, shares out of specification.
#ifndef LASH_APP_STUDY_STATISTICS_H
#define LASH_APP_STUDY_STATISTICS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashInterval {
    double low, high;
} LashInterval;

typedef struct LashMoments {
    int64_t n;
    double mean, sigma, min, max; // sigma with n - 1; NAN below two values
    double skewness, kurtosis;    // 0 and 0 of a normal
} LashMoments;
// Values so large or small that their powers are no numbers, divided by 2^power, which changes no
// digit: the caller frees them. NULL: they are good as they are.
double* lash_scaled(const double* values, int64_t n, int* power);

LashMoments lash_moments(const double* values, int64_t n);

void lash_sort(double* values, int64_t n);
// Percentile of sorted values, p in [0, 1]: linear between the two nearest of (i / (n - 1)).
double lash_percentile(const double* sorted, int64_t n, double p);

// Wilson's interval of a share k / n, two-sided 95 %.
LashInterval lash_wilson(int64_t k, int64_t n);

// 95 % intervals of what changed from sample a to sample b, drawn independently: difference of the
// means (Welch), ratio of the sigmas (b / a, by their kurtosis), difference of the shares (Newcombe's
// from Wilson's intervals).
LashInterval lash_mean_difference(const LashMoments* a, const LashMoments* b);
LashInterval lash_sigma_ratio(const LashMoments* a, const LashMoments* b);
LashInterval lash_share_difference(int64_t k_a, int64_t n_a, int64_t k_b, int64_t n_b);

// Capability; lsl, usl: NAN where there is none. NAN where it has no meaning.
typedef struct LashCapability {
    double cp, cpk;                       // (usl - lsl) / 6 sigma; nearer limit / 3 sigma
    double cp_percentile, cpk_percentile; // with the 0.135, 50 and 99.865 % points instead
} LashCapability;
LashCapability lash_capability(const double* sorted, int64_t n, const LashMoments* moments,
                               double lsl, double usl);

// Share of a normal with this mean and sigma outside the limits.
double lash_normal_share_out(double mean, double sigma, double lsl, double usl);
// Its 95 % interval: percentiles of the bootstrap of mean and sigma.
LashInterval lash_normal_share_interval(const double* values, int64_t n, double lsl, double usl,
                                        uint64_t seed);

// Anderson-Darling test that values are normal: the statistic corrected for n, and its p-value
// (Stephens; D'Agostino). NAN below 8 values or without spread.
typedef struct LashNormality {
    double statistic, p;
} LashNormality;
LashNormality lash_normality(const double* sorted, int64_t n, const LashMoments* moments);

#ifdef __cplusplus
}
#endif
#endif
