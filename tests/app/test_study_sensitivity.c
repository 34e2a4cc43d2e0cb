// Sensitivity indices against the exact values of the Ishigami and Sobol-G functions: accuracy, and
// coverage of the confidence intervals; Morris, contributions.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the headers above
#include <cmocka.h>

#include "app/study/random.h"
#include "app/study/sensitivity.h"

enum { MOST = 8, BASE = 4096 };

typedef struct Function {
    const char* name;
    int d;
    double low, high;
    double (*value)(const double* x);
    double first[MOST], total[MOST];
} Function;

static double ishigami(const double* x) {
    double s = sin(x[1]);
    return sin(x[0]) + 7 * s * s + 0.1 * x[2] * x[2] * x[2] * x[2] * sin(x[0]);
}

static const double g_a[MOST] = {0, 1, 4.5, 9, 99, 99, 99, 99};

static double sobol_g(const double* x) {
    double product = 1;
    for (int i = 0; i < MOST; ++i) product *= (fabs(4 * x[i] - 2) + g_a[i]) / (1 + g_a[i]);
    return product;
}

static Function ishigami_function(void) {
    Function f = {.name = "Ishigami", .d = 3, .low = -M_PI, .high = M_PI, .value = ishigami};
    double p4 = pow(M_PI, 4), p8 = p4 * p4;
    double v1 = 0.5 * pow(1 + 0.1 * p4 / 5, 2), v2 = 49.0 / 8, v13 = 0.01 * p8 * (1.0 / 18 - 0.02);
    double v = v1 + v2 + v13;
    f.first[0] = v1 / v;
    f.first[1] = v2 / v;
    f.first[2] = 0;
    f.total[0] = (v1 + v13) / v;
    f.total[1] = v2 / v;
    f.total[2] = v13 / v;
    return f;
}

static Function g_function(void) {
    Function f = {.name = "Sobol-G", .d = 8, .low = 0, .high = 1, .value = sobol_g};
    double all = 1;
    for (int i = 0; i < MOST; ++i) all *= 1 + 1 / (3 * (1 + g_a[i]) * (1 + g_a[i]));
    for (int i = 0; i < MOST; ++i) {
        double v = 1 / (3 * (1 + g_a[i]) * (1 + g_a[i]));
        f.first[i] = v / (all - 1);
        f.total[i] = v * all / (1 + v) / (all - 1);
    }
    return f;
}

static LashStudy* make_study(const Function* f, const char* design, int samples, uint64_t seed) {
    char text[4096];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "{\"format\": \"lash-study/1\", \"model\": null, \"design\": "
                                "{\"type\": \"%s\", \"samples\": %d}, \"outputs\": [{\"name\": "
                                "\"y\", \"expression\": \"x0\"}], \"parameters\": [",
                                design, samples);
    for (int i = 0; i < f->d; ++i) {
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%s{\"name\": \"x%d\", \"distribution\": \"uniform\", \"low\": "
                              "%.17g, \"high\": %.17g}",
                              i == 0 ? "" : ", ", i, f->low, f->high);
    }
    snprintf(text + n, sizeof text - n, "]}");
    LashError error = {0};
    LashStudySource source = {.file = "test", .text = text};
    LashStudyOverride change = {.has_seed = true, .seed = seed};
    LashStudy* study = lash_study_parse(&source, &change, &error);
    if (study == NULL) print_error("%s: %s\n", error.where, error.message);
    assert_non_null(study);
    return study;
}

// Values of the whole plan; rows AB are put together from A and B, as a Saltelli plan promises.
static double* evaluate(const Function* f, const LashStudy* study) {
    double* y = calloc((size_t)study->samples, sizeof *y);
    double a[MOST], b[MOST], x[MOST];
    for (int64_t i = 0; i < study->base; ++i) {
        int64_t row = i * (f->d + 2);
        lash_study_point(study, row, a);
        lash_study_point(study, row + 1, b);
        y[row] = f->value(a);
        y[row + 1] = f->value(b);
        for (int j = 0; j < f->d; ++j) {
            memcpy(x, a, sizeof x);
            x[j] = b[j];
            y[row + 2 + j] = f->value(x);
        }
    }
    for (int64_t i = 0; i < study->samples; i += 97) {
        lash_study_point(study, i, x);
        assert_true(f->value(x) == y[i]);
    }
    return y;
}

static void check_function(const Function* f) {
    enum { SEEDS = 100 };
    int covered[2 * MOST] = {0};
    double worst = 0;
    LashSobolIndex index[MOST];
    for (int seed = 1; seed <= SEEDS; ++seed) {
        LashStudy* study = make_study(f, "saltelli", BASE, (uint64_t)seed);
        double* y = evaluate(f, study);
        assert_int_equal(lash_sobol_indices(study, y, index), BASE);
        for (int j = 0; j < f->d; ++j) {
            double e1 = fabs(index[j].first - f->first[j]);
            double e2 = fabs(index[j].total - f->total[j]);
            worst = fmax(worst, fmax(e1, e2));
            covered[j] +=
                index[j].first_ci.low <= f->first[j] && f->first[j] <= index[j].first_ci.high;
            covered[MOST + j] +=
                index[j].total_ci.low <= f->total[j] && f->total[j] <= index[j].total_ci.high;
        }
        free(y);
        lash_study_destroy(study);
    }
    int sum = 0, least = SEEDS, most = 0;
    for (int j = 0; j < f->d; ++j) {
        for (int k = 0; k < 2; ++k) {
            int c = covered[k * MOST + j];
            sum += c;
            least = c < least ? c : least;
            most = c > most ? c : most;
        }
    }
    double coverage = 100.0 * sum / (2.0 * f->d * SEEDS);
    print_message(
        "%s: worst error %.4f over 100 seeds; coverage %.1f %% (%d to %d of each index)\n", f->name,
        worst, coverage, least, most);
    assert_true(worst <= 0.03);
    assert_true(coverage >= 88 && coverage <= 99);
    assert_true(least >= 85); // of one index: three sigma below 95 of 100
}

static void ishigami_indices_are_exact_to_three_percent_and_covered(void** state) {
    (void)state;
    Function f = ishigami_function();
    check_function(&f);
}

static void sobol_g_indices_are_exact_to_three_percent_and_covered(void** state) {
    (void)state;
    Function f = g_function();
    check_function(&f);
}

static double linear(const double* x) {
    return 3 * x[0] - x[1] + 0.5 * x[2];
}

static void morris_effects_of_a_linear_function_are_its_slopes(void** state) {
    (void)state;
    Function f = {.name = "linear", .d = 3, .low = 2, .high = 4, .value = linear};
    LashStudy* study = make_study(&f, "morris", 25, 3);
    double* y = calloc((size_t)study->samples, sizeof *y);
    double x[MOST];
    for (int64_t i = 0; i < study->samples; ++i) {
        lash_study_point(study, i, x);
        y[i] = linear(x);
    }
    LashMorrisEffect effect[3];
    const double slope[] = {6, -2, 1}; // over the range of 2
    y[6] = NAN;                        // a failed sample: the steps beside it are left out
    lash_morris_effects(study, y, effect);
    int64_t steps = 0;
    for (int j = 0; j < 3; ++j) {
        assert_true(fabs(effect[j].mu - slope[j]) < 1e-12);
        assert_true(fabs(effect[j].mu_star - fabs(slope[j])) < 1e-12);
        assert_true(effect[j].sigma < 1e-6);
        steps += effect[j].n;
    }
    assert_int_equal(steps, 25 * 3 - 2);
    free(y);
    lash_study_destroy(study);
}

static void contributions_find_a_curve_that_correlation_misses(void** state) {
    (void)state;
    enum { N = 2048 };
    Function f = {.name = "curve", .d = 3, .low = -1, .high = 1};
    LashStudy* study = make_study(&f, "sobol", N, 1);
    double *x = calloc(3 * N, sizeof *x), *y = calloc(N, sizeof *y);
    for (int i = 0; i < N; ++i) {
        lash_study_point(study, i, x + 3 * i);
        // variances: 4 x^2: 16 (1/5 - 1/9) = 64/45; 2 y: 4/3; z: nothing
        y[i] = 4 * x[3 * i] * x[3 * i] + 2 * x[3 * i + 1];
    }
    LashContribution c[3];
    double noise, r2 = lash_contributions(x, y, N, 3, c, &noise);
    double all = 64.0 / 45 + 4.0 / 3;
    assert_true(fabs(c[0].share - 64.0 / 45 / all) < 0.02);
    assert_true(fabs(c[1].share - 4.0 / 3 / all) < 0.02);
    assert_true(c[2].share < 0.01);
    assert_true(fabs(c[0].regression) < 0.02 && fabs(c[0].correlation) < 0.03);
    assert_true(fabs(c[1].regression - sqrt(4.0 / 3 / all)) < 0.01);
    assert_true(fabs(r2 - 4.0 / 3 / all) < 0.02);
    LashBin bin[10];
    double* column = calloc(N, sizeof *column);
    for (int i = 0; i < N; ++i) column[i] = x[3 * i];
    assert_int_equal(lash_main_effect(column, y, N, 10, bin), 10);
    for (int b = 0; b < 10; ++b) { // mean of 4 x^2 over [a, a + 0.2]
        double from = -1 + 0.2 * b, to = from + 0.2;
        double exact = 4 * (to * to * to - from * from * from) / 3 / 0.2;
        assert_true(fabs(bin[b].y - exact) < 0.05);
        assert_true(fabs(bin[b].y - exact) < 5 * bin[b].error);
    }
    free(column);
    free(x);
    free(y);
    lash_study_destroy(study);
}

static void small_contributions_are_found_beside_a_large_one(void** state) {
    (void)state;
    enum { N = 120, K = 6 };
    double x[N * K], y[N], noise;
    LashContribution c[K];
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < K; ++j)
            x[i * K + j] = lash_random_uniform(7, LASH_STREAM_POINT, (uint32_t)j, (uint64_t)i);
        y[i] = x[i * K] + 0.1 * x[i * K + 1];
    }
    lash_contributions(x, y, N, K, c, &noise);
    assert_true(fabs(c[0].share - 1 / 1.01) < 0.05);
    assert_true(c[1].share > noise && c[1].share < 0.02); // 0.01 / 1.01
    for (int j = 2; j < K; ++j) assert_true(c[j].share < 1e-3);
    assert_true(isfinite(lash_contributions(x, y, 2 * (K + 1), K, c, &noise)));
    assert_true(isnan(c[0].share) && isnan(noise)); // too few to say
}

// y has nothing to do with x: about one share in twenty passes for more than chance.
static void the_noise_of_a_share_is_what_it_says(void** state) {
    (void)state;
    enum { N = 200, K = 4, STUDIES = 200 };
    double x[N * K], y[N], noise;
    LashContribution c[K];
    int above = 0;
    for (uint64_t s = 0; s < STUDIES; ++s) {
        for (int i = 0; i < N; ++i) {
            for (int j = 0; j < K; ++j)
                x[i * K + j] = lash_random_uniform(s, LASH_STREAM_POINT, (uint32_t)j, (uint64_t)i);
            y[i] = lash_random_uniform(s, LASH_STREAM_MORRIS, 0, (uint64_t)i);
        }
        lash_contributions(x, y, N, K, c, &noise);
        for (int j = 0; j < K; ++j) above += c[j].share > noise;
    }
    double percent = 100.0 * above / (STUDIES * K);
    print_message("%.1f %% of parameters without influence are above the noise\n", percent);
    assert_true(percent > 2 && percent < 9);
}

static void a_failed_row_costs_its_base_point_only(void** state) {
    (void)state;
    Function f = ishigami_function();
    LashStudy* study = make_study(&f, "saltelli", 1024, 2);
    double* y = evaluate(&f, study);
    LashSobolIndex whole[3], less[3];
    lash_sobol_indices(study, y, whole);
    y[3] = NAN;
    y[100 * 5 + 1] = NAN;
    y[100 * 5 + 2] = NAN;
    assert_int_equal(lash_sobol_indices(study, y, less), 1022);
    for (int j = 0; j < 3; ++j) assert_true(fabs(whole[j].total - less[j].total) < 0.01);
    free(y);
    lash_study_destroy(study);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ishigami_indices_are_exact_to_three_percent_and_covered),
        cmocka_unit_test(sobol_g_indices_are_exact_to_three_percent_and_covered),
        cmocka_unit_test(morris_effects_of_a_linear_function_are_its_slopes),
        cmocka_unit_test(contributions_find_a_curve_that_correlation_misses),
        cmocka_unit_test(small_contributions_are_found_beside_a_large_one),
        cmocka_unit_test(the_noise_of_a_share_is_what_it_says),
        cmocka_unit_test(a_failed_row_costs_its_base_point_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
