// Statistics of an output against cases computed by hand.
#include "test.h"

#include "app/study/distribution.h"
#include "app/study/random.h"
#include "app/study/statistics.h"

static void near(double got, double expected) {
    if (fabs(got - expected) <= 1e-12 * fmax(1, fabs(expected))) return;
    print_error("got %.17g, expected %.17g within 1e-12\n", got, expected);
    fail();
}

static void moments_of_six_numbers(void** state) {
    (void)state;
    const double x[] = {1, 2, 3, 4, 5, 6};
    LashMoments m = lash_moments(x, 6);
    near(m.mean, 3.5);
    near(m.sigma, sqrt(3.5));
    near(m.min, 1);
    near(m.max, 6);
    near(m.skewness, 0);
    near(m.kurtosis, 6 * (2 * 6.25 * 6.25 + 2 * 2.25 * 2.25 + 2 * 0.0625) / (17.5 * 17.5) - 3);
    const double shifted[] = {1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4, 1e9 + 5, 1e9 + 6};
    near(lash_moments(shifted, 6).sigma, sqrt(3.5)); // no digits lost to the offset
}

static void percentiles_interpolate_between_neighbours(void** state) {
    (void)state;
    const double x[] = {1, 2, 3, 4, 10};
    near(lash_percentile(x, 5, 0), 1);
    near(lash_percentile(x, 5, 0.1), 1.4);
    near(lash_percentile(x, 5, 0.5), 3);
    near(lash_percentile(x, 5, 0.9), 7.6);
    near(lash_percentile(x, 5, 1), 10);
    near(lash_percentile(x, 1, 0.3), 1);
    assert_true(isnan(lash_percentile(x, 0, 0.5)));
}

static void wilson_intervals_solve_their_equation(void** state) {
    (void)state;
    // roots of (p - x)^2 = z^2 x (1 - x) / n, with 40 digits
    LashInterval i = lash_wilson(3, 50);
    near(i.low, 0.02061497034897395263605488);
    near(i.high, 0.1621709168883817295703250);
    i = lash_wilson(0, 20);
    near(i.low, 0);
    near(i.high, 0.1611251580528193871490551);
    i = lash_wilson(500, 1000);
    near(i.low, 0.4690696003681041807179779);
    near(i.high, 0.5309303996318958192820221);
    i = lash_wilson(20, 20);
    near(i.high, 1);
    near(i.low, 1 - 0.1611251580528193871490551);
}

static void capability_of_known_samples(void** state) {
    (void)state;
    const double x[] = {1, 2, 3, 4, 5, 6};
    LashMoments m = lash_moments(x, 6);
    LashCapability c = lash_capability(x, 6, &m, 0, 10);
    near(c.cp, 0.8908708063747479489485116);
    near(c.cpk, 0.6236095644623235642639581);
    // percentiles 0.135 and 99.865 % lie at 1.00675 and 5.99325
    near(c.cp_percentile, 10 / (5.99325 - 1.00675));
    near(c.cpk_percentile, (3.5 - 0) / (3.5 - 1.00675));
    c = lash_capability(x, 6, &m, NAN, 10);
    assert_true(isnan(c.cp));
    near(c.cpk, 6.5 / (3 * sqrt(3.5)));
    near(c.cpk_percentile, 6.5 / (5.99325 - 3.5));
    c = lash_capability(x, 6, &m, 4, 10); // mean below the lower limit
    near(c.cpk, -0.5 / (3 * sqrt(3.5)));
    const double same[] = {2, 2, 2};
    m = lash_moments(same, 3);
    assert_true(isnan(lash_capability(same, 3, &m, 0, 10).cpk));
}

static void fitted_share_is_that_of_the_normal(void** state) {
    (void)state;
    near(lash_normal_share_out(0, 1, -3, 3), erfc(3 / sqrt(2)));
    near(lash_normal_share_out(1, 2, NAN, 3), 0.5 * erfc(1 / sqrt(2)));
    near(lash_normal_share_out(1, 2, -1, NAN), 0.5 * erfc(1 / sqrt(2)));
    // far out in the tail the share keeps its digits
    double far = lash_normal_share_out(0, 1, NAN, 9);
    assert_true(fabs(far / (0.5 * erfc(9 / sqrt(2))) - 1) < 1e-12);
}

static double* normal_sample(uint64_t seed, int n) {
    double* x = calloc((size_t)n, sizeof *x);
    for (int i = 0; i < n; ++i)
        x[i] = lash_normal_quantile(lash_random_uniform(seed, LASH_STREAM_POINT, 0, (uint64_t)i));
    return x;
}

static void intervals_of_the_fitted_share_cover_it(void** state) {
    (void)state;
    enum { SEEDS = 100, N = 200 };
    int covered = 0;
    double exact = 0.5 * erfc(2 / sqrt(2));
    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        double* x = normal_sample(seed, N);
        LashInterval i = lash_normal_share_interval(x, N, NAN, 2, seed);
        covered += i.low <= exact && exact <= i.high;
        free(x);
    }
    print_message("fitted share: %d of 100 intervals cover it\n", covered);
    assert_in_range(covered, 86, 100);
}

static void normality_is_refused_for_what_is_not_normal(void** state) {
    (void)state;
    enum { SEEDS = 200, N = 300 };
    int refused = 0;
    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        double* x = normal_sample(seed, N);
        LashMoments m = lash_moments(x, N);
        lash_sort(x, N);
        refused += lash_normality(x, N, &m).p < 0.05;
        free(x);
    }
    print_message("normal samples refused at 5 %%: %d of 200\n", refused);
    assert_in_range(refused, 2, 20);
    double* u = calloc(N, sizeof *u);
    for (int i = 0; i < N; ++i) u[i] = exp((double)i / N * 3);
    LashMoments m = lash_moments(u, N);
    assert_true(lash_normality(u, N, &m).p < 1e-6);
    free(u);
}

RUN(TEST(moments_of_six_numbers), TEST(percentiles_interpolate_between_neighbours),
    TEST(wilson_intervals_solve_their_equation), TEST(capability_of_known_samples),
    TEST(fitted_share_is_that_of_the_normal), TEST(intervals_of_the_fitted_share_cover_it),
    TEST(normality_is_refused_for_what_is_not_normal))
