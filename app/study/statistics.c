// Statistics of one output.
//
//   percentile        x at p (n - 1) between sorted values, linear (Hyndman and Fan, type 7)
//   Wilson            (p + z^2/2n -+ z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n), z = 1.959964
//   Cp, Cpk           (USL - LSL) / 6 s, min(USL - m, m - LSL) / 3 s
//   by percentiles    (USL - LSL) / (x_99.865 - x_0.135), min((USL - x_50) / (x_99.865 - x_50),
//                     (x_50 - LSL) / (x_50 - x_0.135)) (ISO 22514-2)
//   normal fit        P(LSL) + 1 - P(USL) of the normal with the sample's mean and sigma
//   Anderson-Darling  A^2 = -n - 1/n sum (2i - 1)(ln P_i + ln(1 - P_{n+1-i})), times
//                     1 + 0.75/n + 2.25/n^2
#include "app/study/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/study/distribution.h"
#include "app/study/random.h"
#include "core/arena.h"

static const double Z95 = 1.9599639845400542; // two-sided 95 % point of the normal

static LashMoments plain_moments(const double* values, int64_t n) {
    LashMoments m = {.n = n,
                     .mean = NAN,
                     .sigma = NAN,
                     .min = NAN,
                     .max = NAN,
                     .skewness = NAN,
                     .kurtosis = NAN};
    if (n == 0) return m;
    double sum = 0, shift = values[0]; // sums about a value keep their digits
    m.min = m.max = values[0];
    for (int64_t i = 0; i < n; ++i) {
        sum += values[i] - shift;
        m.min = fmin(m.min, values[i]);
        m.max = fmax(m.max, values[i]);
    }
    m.mean = shift + sum / (double)n;
    if (n < 2) return m;
    double s1 = 0, s2 = 0, s3 = 0, s4 = 0;
    for (int64_t i = 0; i < n; ++i) {
        double d = values[i] - m.mean;
        s1 += d;
        s2 += d * d;
        s3 += d * d * d;
        s4 += d * d * d * d;
    }
    s2 -= s1 * s1 / (double)n;
    m.sigma = sqrt(fmax(s2, 0) / (double)(n - 1));
    double v = s2 / (double)n;
    if (v > 0) {
        m.skewness = s3 / (double)n / (v * sqrt(v));
        m.kurtosis = s4 / (double)n / (v * v) - 3;
    }
    return m;
}

// Fourth powers of what is beyond 1e70 or below 1e-70 overflow or vanish.
double* lash_scaled(const double* values, int64_t n, int* power) {
    const double safe = 1e70;
    double largest = 0;
    for (int64_t i = 0; i < n; ++i) largest = fmax(largest, fabs(values[i]));
    if (largest == 0 || (largest < safe && largest > 1 / safe)) return NULL;
    *power = ilogb(largest);
    double* scaled = lash_alloc((size_t)n * sizeof *scaled);
    for (int64_t i = 0; i < n; ++i) scaled[i] = ldexp(values[i], -*power);
    return scaled;
}

LashMoments lash_moments(const double* values, int64_t n) {
    int power = 0;
    double* scaled = lash_scaled(values, n, &power);
    if (scaled == NULL) return plain_moments(values, n);
    LashMoments m = plain_moments(scaled, n);
    m.mean = ldexp(m.mean, power);
    m.sigma = ldexp(m.sigma, power);
    m.min = ldexp(m.min, power);
    m.max = ldexp(m.max, power);
    lash_free(scaled);
    return m;
}

static int compare(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

void lash_sort(double* values, int64_t n) {
    if (n > 1) qsort(values, (size_t)n, sizeof *values, compare);
}

double lash_percentile(const double* sorted, int64_t n, double p) {
    if (n == 0) return NAN;
    double place = p * (double)(n - 1);
    int64_t i = (int64_t)floor(place);
    if (i >= n - 1) return sorted[n - 1];
    double part = place - (double)i, step = sorted[i + 1] - sorted[i];
    if (isinf(step)) return (1 - part) * sorted[i] + part * sorted[i + 1];
    return sorted[i] + part * step;
}

LashInterval lash_wilson(int64_t k, int64_t n) {
    if (n == 0) return (LashInterval){0, 1};
    const double z = Z95;
    double N = (double)n, p = (double)k / N, z2 = z * z / N;
    double center = (p + 0.5 * z2) / (1 + z2);
    double half = z * sqrt(p * (1 - p) / N + 0.25 * z2 / N) / (1 + z2);
    return (LashInterval){k == 0 ? 0 : center - half, k == n ? 1 : center + half};
}

// Smaller of the two one-sided ratios; a missing limit does not count.
static double nearer(double above, double spread_above, double below, double spread_below) {
    double up = above / spread_above, down = below / spread_below;
    if (isnan(above)) return down;
    if (isnan(below)) return up;
    return fmin(up, down);
}

LashInterval lash_mean_difference(const LashMoments* a, const LashMoments* b) {
    double va = a->sigma * a->sigma / (double)a->n, vb = b->sigma * b->sigma / (double)b->n;
    double half = Z95 * sqrt(va + vb), middle = b->mean - a->mean;
    return (LashInterval){middle - half, middle + half};
}

LashInterval lash_sigma_ratio(const LashMoments* a, const LashMoments* b) {
    // variance of ln s: (excess kurtosis + 2) / (4 n)
    double va = (a->kurtosis + 2) / (4 * (double)a->n), vb = (b->kurtosis + 2) / (4 * (double)b->n);
    double half = Z95 * sqrt(va + vb), ratio = b->sigma / a->sigma;
    return (LashInterval){ratio * exp(-half), ratio * exp(half)};
}

LashInterval lash_share_difference(int64_t k_a, int64_t n_a, int64_t k_b, int64_t n_b) {
    LashInterval a = lash_wilson(k_a, n_a), b = lash_wilson(k_b, n_b);
    double p = (double)k_a / (double)n_a, q = (double)k_b / (double)n_b;
    return (LashInterval){q - p - hypot(q - b.low, a.high - p),
                          q - p + hypot(b.high - q, p - a.low)};
}

LashCapability lash_capability(const double* sorted, int64_t n, const LashMoments* moments,
                               double lsl, double usl) {
    LashCapability c = {NAN, NAN, NAN, NAN};
    if (n < 2 || !(moments->sigma > 0)) return c;
    c.cp = (usl - lsl) / (6 * moments->sigma);
    c.cpk =
        nearer(usl - moments->mean, 3 * moments->sigma, moments->mean - lsl, 3 * moments->sigma);
    double low = lash_percentile(sorted, n, 0.00135), high = lash_percentile(sorted, n, 0.99865);
    double middle = lash_percentile(sorted, n, 0.5);
    if (!(high > middle) || !(middle > low)) return c;
    c.cp_percentile = (usl - lsl) / (high - low);
    c.cpk_percentile = nearer(usl - middle, high - middle, middle - lsl, middle - low);
    return c;
}

double lash_normal_share_out(double mean, double sigma, double lsl, double usl) {
    double share = 0;
    if (!isnan(lsl)) share += lash_normal_cdf((lsl - mean) / sigma);
    if (!isnan(usl)) share += lash_normal_cdf((mean - usl) / sigma);
    return share;
}

LashInterval lash_normal_share_interval(const double* values, int64_t n, double lsl, double usl,
                                        uint64_t seed) {
    enum { RESAMPLES = 600 };
    LashInterval interval = {NAN, NAN};
    if (n < 3 || n > UINT32_MAX) return interval;
    double* share = lash_alloc(RESAMPLES * sizeof *share);
    double shift = values[0];
    for (int b = 0; b < RESAMPLES; ++b) {
        double sum = 0, square = 0;
        for (int64_t i = 0; i < n; ++i) {
            uint32_t pick = lash_random_below(seed, LASH_STREAM_BOOTSTRAP, (uint32_t)b, (uint64_t)i,
                                              (uint32_t)n);
            double d = values[pick] - shift;
            sum += d;
            square += d * d;
        }
        double mean = sum / (double)n;
        double variance = fmax(0, square - sum * mean) / (double)(n - 1);
        share[b] = variance > 0 ? lash_normal_share_out(shift + mean, sqrt(variance), lsl, usl)
                                : (double)(shift + mean < lsl || shift + mean > usl);
    }
    lash_sort(share, RESAMPLES);
    interval.low = lash_percentile(share, RESAMPLES, 0.025);
    interval.high = lash_percentile(share, RESAMPLES, 0.975);
    lash_free(share);
    return interval;
}

LashNormality lash_normality(const double* sorted, int64_t n, const LashMoments* moments) {
    LashNormality result = {NAN, NAN};
    if (n < 8 || !(moments->sigma > 0)) return result;
    double N = (double)n, sum = 0;
    for (int64_t i = 0; i < n; ++i) {
        double a = (sorted[i] - moments->mean) / moments->sigma;
        double b = (sorted[n - 1 - i] - moments->mean) / moments->sigma;
        sum += (2 * (double)i + 1) *
               (log(fmax(lash_normal_cdf(a), 1e-300)) + log(fmax(lash_normal_cdf(-b), 1e-300)));
    }
    double A = (-N - sum / N) * (1 + 0.75 / N + 2.25 / (N * N)), p;
    if (A >= 0.6) {
        p = exp(1.2937 - 5.709 * A + 0.0186 * A * A);
    } else if (A >= 0.34) {
        p = exp(0.9177 - 4.279 * A - 1.38 * A * A);
    } else if (A >= 0.2) {
        p = 1 - exp(-8.318 + 42.796 * A - 59.938 * A * A);
    } else {
        p = 1 - exp(-13.436 + 101.14 * A - 223.73 * A * A);
    }
    result.statistic = A;
    result.p = A > 13 ? 0 : fmin(fmax(p, 0), 1);
    return result;
}
