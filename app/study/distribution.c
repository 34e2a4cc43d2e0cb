// Quantiles, means, standard deviations.
//
//   normal        mean + sigma z(u)
//   truncated     mean + sigma z(P(low) + u (P(high) - P(low))), from the nearer tail
//   triangular    low + sqrt(u (high - low)(mode - low)) below the mode, mirrored above
//
// z = inverse of the normal distribution: a rough start (Abramowitz and Stegun 26.2.23, 4.5e-4) and
// Halley's iteration on erfc, which triples the digits each time.
#include "app/study/distribution.h"

#include <math.h>

#include "core/error.h"

double lash_normal_cdf(double x) {
    return 0.5 * erfc(-x * M_SQRT1_2);
}

double lash_normal_density(double x) {
    return exp(-0.5 * x * x) / sqrt(2 * M_PI);
}

// p <= 1/2
static double lower_quantile(double p) {
    double t = sqrt(-2 * log(p));
    double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                         (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
    for (int i = 0; i < 3; ++i) {
        double e = (lash_normal_cdf(x) - p) / lash_normal_density(x);
        x -= e / (1 + 0.5 * x * e);
    }
    return x;
}

double lash_normal_quantile(double p) {
    LASH_ASSERT(p > 0 && p < 1);
    return p <= 0.5 ? lower_quantile(p) : -lower_quantile(1 - p);
}

static double truncated_quantile(const LashDistribution* distribution, double u) {
    // Of the two tails the one with the smaller probabilities loses no digits.
    double a = (distribution->low - distribution->mean) / distribution->sigma,
           b = (distribution->high - distribution->mean) / distribution->sigma, p;
    if (a > 0) {
        double qa = lash_normal_cdf(-a), qb = lash_normal_cdf(-b);
        p = qa - u * (qa - qb);
        return distribution->mean -
               distribution->sigma * lash_normal_quantile(fmin(fmax(p, 1e-300), 1 - 0x1p-53));
    }
    p = distribution->p_low + u * (distribution->p_high - distribution->p_low);
    return distribution->mean +
           distribution->sigma * lash_normal_quantile(fmin(fmax(p, 1e-300), 1 - 0x1p-53));
}

double lash_distribution_quantile(const LashDistribution* distribution, double u) {
    switch (distribution->type) {
        case LASH_UNIFORM:
            return distribution->low + u * (distribution->high - distribution->low);
        case LASH_NORMAL:
            return distribution->mean + distribution->sigma * lash_normal_quantile(u);
        case LASH_TRUNCATED_NORMAL:
            return fmin(fmax(truncated_quantile(distribution, u), distribution->low),
                        distribution->high);
        case LASH_TRIANGULAR: {
            double width = distribution->high - distribution->low,
                   left = distribution->mode - distribution->low;
            if (u * width < left) return distribution->low + sqrt(u * width * left);
            return distribution->high -
                   sqrt((1 - u) * width * (distribution->high - distribution->mode));
        }
        case LASH_DISCRETE:
            for (int i = 0; i < distribution->count - 1; ++i) {
                if (u < distribution->cumulated[i]) return distribution->values[i];
            }
            return distribution->values[distribution->count - 1];
        case LASH_CONSTANT:
        case LASH_DISTRIBUTIONS:
            break;
    }
    return distribution->mean;
}

void lash_distribution_range(const LashDistribution* distribution, double* low, double* high) {
    *low = distribution->low;
    *high = distribution->high;
    if (distribution->type == LASH_NORMAL) {
        *low = distribution->mean - 3 * distribution->sigma;
        *high = distribution->mean + 3 * distribution->sigma;
    }
    if (distribution->type == LASH_CONSTANT) *low = *high = distribution->mean;
    if (distribution->type != LASH_DISCRETE) return;
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < distribution->count; ++i) {
        *low = fmin(*low, distribution->values[i]);
        *high = fmax(*high, distribution->values[i]);
    }
}

// First and second moment about `origin` of a discrete distribution.
static void discrete_moments(const LashDistribution* distribution, double origin, double* m1,
                             double* m2) {
    *m1 = *m2 = 0;
    for (int i = 0; i < distribution->count; ++i) {
        double p = distribution->cumulated[i] - (i > 0 ? distribution->cumulated[i - 1] : 0);
        double x = distribution->values[i] - origin;
        *m1 += p * x;
        *m2 += p * x * x;
    }
}

// phi(a) - phi(b) over P(b) - P(a): mean of the truncated standard normal.
static double truncated_mean(const LashDistribution* distribution, double a, double b) {
    return (lash_normal_density(a) - lash_normal_density(b)) /
           (distribution->p_high - distribution->p_low);
}

double lash_distribution_mean(const LashDistribution* distribution) {
    double m1, m2;
    switch (distribution->type) {
        case LASH_UNIFORM:
            return 0.5 * (distribution->low + distribution->high);
        case LASH_TRUNCATED_NORMAL:
            return distribution->mean +
                   distribution->sigma *
                       truncated_mean(
                           distribution,
                           (distribution->low - distribution->mean) / distribution->sigma,
                           (distribution->high - distribution->mean) / distribution->sigma);
        case LASH_TRIANGULAR:
            return (distribution->low + distribution->mode + distribution->high) / 3;
        case LASH_DISCRETE:
            discrete_moments(distribution, 0, &m1, &m2);
            return m1;
        default:
            return distribution->mean;
    }
}

double lash_distribution_sigma(const LashDistribution* distribution) {
    double m1, m2;
    switch (distribution->type) {
        case LASH_UNIFORM:
            return (distribution->high - distribution->low) / sqrt(12);
        case LASH_TRUNCATED_NORMAL: {
            double a = (distribution->low - distribution->mean) / distribution->sigma,
                   b = (distribution->high - distribution->mean) / distribution->sigma;
            double m = truncated_mean(distribution, a, b);
            double edge = (a * lash_normal_density(a) - b * lash_normal_density(b)) /
                          (distribution->p_high - distribution->p_low);
            return distribution->sigma * sqrt(fmax(0, 1 + edge - m * m));
        }
        case LASH_TRIANGULAR: {
            double a = distribution->low, b = distribution->high, c = distribution->mode;
            return sqrt((a * a + b * b + c * c - a * b - a * c - b * c) / 18);
        }
        case LASH_DISCRETE:
            discrete_moments(distribution, lash_distribution_mean(distribution), &m1, &m2);
            return sqrt(m2);
        case LASH_NORMAL:
            return distribution->sigma;
        default:
            return 0;
    }
}
