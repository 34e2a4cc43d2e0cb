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

static double truncated_quantile(const LashDistribution* d, double u) {
    // Of the two tails the one with the smaller probabilities loses no digits.
    double a = (d->low - d->mean) / d->sigma, b = (d->high - d->mean) / d->sigma, p;
    if (a > 0) {
        double qa = lash_normal_cdf(-a), qb = lash_normal_cdf(-b);
        p = qa - u * (qa - qb);
        return d->mean - d->sigma * lash_normal_quantile(fmin(fmax(p, 1e-300), 1 - 0x1p-53));
    }
    p = d->p_low + u * (d->p_high - d->p_low);
    return d->mean + d->sigma * lash_normal_quantile(fmin(fmax(p, 1e-300), 1 - 0x1p-53));
}

double lash_distribution_quantile(const LashDistribution* d, double u) {
    switch (d->type) {
        case LASH_UNIFORM:
            return d->low + u * (d->high - d->low);
        case LASH_NORMAL:
            return d->mean + d->sigma * lash_normal_quantile(u);
        case LASH_TRUNCATED_NORMAL:
            return fmin(fmax(truncated_quantile(d, u), d->low), d->high);
        case LASH_TRIANGULAR: {
            double width = d->high - d->low, left = d->mode - d->low;
            if (u * width < left) return d->low + sqrt(u * width * left);
            return d->high - sqrt((1 - u) * width * (d->high - d->mode));
        }
        case LASH_DISCRETE:
            for (int i = 0; i < d->count - 1; ++i) {
                if (u < d->cumulated[i]) return d->values[i];
            }
            return d->values[d->count - 1];
        case LASH_CONSTANT:
        case LASH_DISTRIBUTIONS:
            break;
    }
    return d->mean;
}

void lash_distribution_range(const LashDistribution* d, double* low, double* high) {
    *low = d->low;
    *high = d->high;
    if (d->type == LASH_NORMAL) {
        *low = d->mean - 3 * d->sigma;
        *high = d->mean + 3 * d->sigma;
    }
    if (d->type == LASH_CONSTANT) *low = *high = d->mean;
    if (d->type != LASH_DISCRETE) return;
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < d->count; ++i) {
        *low = fmin(*low, d->values[i]);
        *high = fmax(*high, d->values[i]);
    }
}

// First and second moment about `origin` of a discrete distribution.
static void discrete_moments(const LashDistribution* d, double origin, double* m1, double* m2) {
    *m1 = *m2 = 0;
    for (int i = 0; i < d->count; ++i) {
        double p = d->cumulated[i] - (i > 0 ? d->cumulated[i - 1] : 0);
        double x = d->values[i] - origin;
        *m1 += p * x;
        *m2 += p * x * x;
    }
}

// phi(a) - phi(b) over P(b) - P(a): mean of the truncated standard normal.
static double truncated_mean(const LashDistribution* d, double a, double b) {
    return (lash_normal_density(a) - lash_normal_density(b)) / (d->p_high - d->p_low);
}

double lash_distribution_mean(const LashDistribution* d) {
    double m1, m2;
    switch (d->type) {
        case LASH_UNIFORM:
            return 0.5 * (d->low + d->high);
        case LASH_TRUNCATED_NORMAL:
            return d->mean + d->sigma * truncated_mean(d, (d->low - d->mean) / d->sigma,
                                                       (d->high - d->mean) / d->sigma);
        case LASH_TRIANGULAR:
            return (d->low + d->mode + d->high) / 3;
        case LASH_DISCRETE:
            discrete_moments(d, 0, &m1, &m2);
            return m1;
        default:
            return d->mean;
    }
}

double lash_distribution_sigma(const LashDistribution* d) {
    double m1, m2;
    switch (d->type) {
        case LASH_UNIFORM:
            return (d->high - d->low) / sqrt(12);
        case LASH_TRUNCATED_NORMAL: {
            double a = (d->low - d->mean) / d->sigma, b = (d->high - d->mean) / d->sigma;
            double m = truncated_mean(d, a, b);
            double edge =
                (a * lash_normal_density(a) - b * lash_normal_density(b)) / (d->p_high - d->p_low);
            return d->sigma * sqrt(fmax(0, 1 + edge - m * m));
        }
        case LASH_TRIANGULAR: {
            double a = d->low, b = d->high, c = d->mode;
            return sqrt((a * a + b * b + c * c - a * b - a * c - b * c) / 18);
        }
        case LASH_DISCRETE:
            discrete_moments(d, lash_distribution_mean(d), &m1, &m2);
            return sqrt(m2);
        case LASH_NORMAL:
            return d->sigma;
        default:
            return 0;
    }
}
