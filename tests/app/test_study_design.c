// Random numbers, sequences, designs and distributions of studies.
#include "test.h"

#include "app/study/random.h"
#include "app/study/sobol.h"
#include "app/study/statistics.h"
#include "app/study/study.h"

static LashStudy* parse(const char* text, const char* list, LashError* error) {
    LashStudySource source = {.file = "test.study.json", .text = text, .list_text = list};
    return lash_study_parse(&source, NULL, error);
}

static LashStudy* parse_good(const char* text) {
    LashError error = {0};
    LashStudy* study = parse(text, NULL, &error);
    if (study == NULL) print_error("%s: %s\n", error.where, error.message);
    assert_non_null(study);
    return study;
}

// A study of `count` uniform parameters p0, p1, ... in [0, 1].
static LashStudy* uniform_study(const char* design, int count) {
    size_t size = 400 + 80 * (size_t)count, n = 0;
    char* text = calloc(1, size);
    n += (size_t)snprintf(text, size,
                          "{\"format\": \"lash-study/1\", \"model\": null, \"design\": {%s}, "
                          "\"outputs\": [{\"name\": \"y\", \"expression\": \"p0\"}], "
                          "\"parameters\": [",
                          design);
    for (int i = 0; i < count; ++i)
        n += (size_t)snprintf(text + n, size - n,
                              "%s{\"name\": \"p%d\", \"distribution\": \"uniform\", \"low\": 0, "
                              "\"high\": 1}",
                              i == 0 ? "" : ",", i);
    snprintf(text + n, size - n, "]}");
    LashStudy* study = parse_good(text);
    free(text);
    return study;
}

// ---- random numbers -----------------------------------------------------------------------------

static void philox_gives_the_published_test_vectors(void** state) {
    (void)state;
    LashRandomWords r = lash_random_words(0, 0, 0, 0);
    assert_int_equal(r.word[0], 0x6627e8d5);
    assert_int_equal(r.word[1], 0xe169c58d);
    assert_int_equal(r.word[2], 0xbc57ac4c);
    assert_int_equal(r.word[3], 0x9b00dbd8);
    r = lash_random_words(0x299f31d0a4093822, 0x03707344, 0x13198a2e, 0x85a308d3243f6a88);
    assert_int_equal(r.word[0], 0xd16cfe09);
    assert_int_equal(r.word[1], 0x94fdcceb);
    assert_int_equal(r.word[2], 0x5001e420);
    assert_int_equal(r.word[3], 0x24126ea1);
}

static void uniform_numbers_are_uniform_and_independent_of_order(void** state) {
    (void)state;
    enum { N = 100000 };
    double sum = 0, square = 0, product = 0, last = 0.5;
    for (uint64_t i = 0; i < N; ++i) {
        double u = lash_random_uniform(7, LASH_STREAM_POINT, 3, i) - 0.5;
        assert_true(fabs(u) < 0.5);
        sum += u;
        square += u * u;
        product += u * (last - 0.5);
        last = u + 0.5;
    }
    assert_true(fabs(sum / N) < 5 * sqrt(1.0 / 12 / N));
    assert_true(fabs(square / N - 1.0 / 12) < 5 * sqrt(1.0 / 180 / N));
    assert_true(fabs(product / N) < 5 / 12.0 / sqrt(N));
}

static void permutations_hit_every_place_once(void** state) {
    (void)state;
    const uint64_t counts[] = {1, 2, 3, 5, 16, 17, 1000, 4096};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
        for (uint32_t dimension = 0; dimension < 4; ++dimension) {
            char* seen = calloc(1, counts[c]);
            for (uint64_t i = 0; i < counts[c]; ++i) {
                uint64_t place = lash_random_permute(11, dimension, i, counts[c]);
                assert_true(place < counts[c] && !seen[place]);
                seen[place] = 1;
            }
            free(seen);
        }
    }
}

// ---- Sobol --------------------------------------------------------------------------------------

// Another way to the same sequence: recurrence of Bratley and Fox over the primitive polynomials
// with the first numbers of Joe and Kuo's table, for the dimensions it is written out for here.
typedef struct Row {
    int degree, a; // polynomial x^s + a_1 x^(s-1) + ... + 1, a = a_1 .. a_(s-1)
    uint32_t m[8];
} Row;
static const Row rows[] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
};

static uint32_t other_sobol(int k, uint32_t index) {
    uint32_t v[32];
    if (k == 0) {
        for (int i = 0; i < 32; ++i) v[i] = 1U << (31 - i);
    } else {
        const Row* row = &rows[k - 1];
        int s = row->degree;
        for (int i = 0; i < 32; ++i) {
            if (i < s) {
                v[i] = row->m[i] << (31 - i);
                continue;
            }
            v[i] = v[i - s] ^ (v[i - s] >> s);
            for (int j = 1; j < s; ++j)
                if ((row->a >> (s - 1 - j)) & 1) v[i] ^= v[i - j];
        }
    }
    uint32_t x = 0;
    for (uint32_t n = 0; n < index; ++n) { // walk the Gray code from the origin
        int c = 0;
        for (uint32_t value = n; value & 1; value >>= 1) ++c;
        x ^= v[c];
    }
    return x;
}

static void sobol_points_equal_another_implementation(void** state) {
    (void)state;
    enum { D = 10 };
    uint32_t bits[D * LASH_SOBOL_BITS];
    lash_sobol_directions(D, bits);
    for (uint32_t i = 0; i < 300; ++i) {
        for (int k = 0; k < D; ++k)
            assert_int_equal(lash_sobol_coordinate(bits, k, i), other_sobol(k, i));
    }
}

static void every_dimension_of_sobol_has_one_point_per_stratum(void** state) {
    (void)state;
    enum { D = LASH_SOBOL_DIMENSIONS, N = 64 };
    uint32_t* bits = calloc((size_t)D * LASH_SOBOL_BITS, sizeof *bits);
    lash_sobol_directions(D, bits);
    for (int k = 0; k < D; ++k) {
        uint64_t plain = 0, scrambled = 0;
        for (uint32_t i = 0; i < N; ++i) {
            plain |= 1ULL << (lash_sobol_coordinate(bits, k, i) >> 26);
            scrambled |= 1ULL << (int)(N * lash_sobol_scrambled(bits, k, i, 5, 0));
        }
        assert_true(plain == UINT64_MAX && scrambled == UINT64_MAX);
    }
    free(bits);
}

// Scrambling keeps the net: in dimensions 0 and 1 every elementary box has its point.
static void scrambled_sobol_is_still_a_net(void** state) {
    (void)state;
    uint32_t bits[2 * LASH_SOBOL_BITS];
    lash_sobol_directions(2, bits);
    for (int a = 0; a <= 8; ++a) {
        char seen[256] = {0};
        for (uint32_t i = 0; i < 256; ++i) {
            int x = (int)((1 << a) * lash_sobol_scrambled(bits, 0, i, 3, 9));
            int y = (int)((1 << (8 - a)) * lash_sobol_scrambled(bits, 1, i, 3, 9));
            ++seen[(x << (8 - a)) | y];
        }
        for (int b = 0; b < 256; ++b) assert_int_equal(seen[b], 1);
    }
    assert_true(lash_sobol_scrambled(bits, 0, 0, 3, 9) != lash_sobol_scrambled(bits, 0, 0, 3, 8));
    assert_true(lash_sobol_scrambled(bits, 0, 0, 3, 9) != lash_sobol_scrambled(bits, 0, 0, 4, 9));
}

// Centered L2 discrepancy (Hickernell 1998), squared.
static double discrepancy(const double* x, int n, int d) {
    double a = pow(13.0 / 12, d), b = 0, c = 0;
    for (int i = 0; i < n; ++i) {
        double p = 1;
        for (int k = 0; k < d; ++k) {
            double u = fabs(x[i * d + k] - 0.5);
            p *= 1 + 0.5 * u - 0.5 * u * u;
        }
        b += p;
        for (int j = 0; j < n; ++j) {
            double q = 1;
            for (int k = 0; k < d; ++k) {
                double u = fabs(x[i * d + k] - 0.5), v = fabs(x[j * d + k] - 0.5);
                q *= 1 + 0.5 * (u + v - fabs(x[i * d + k] - x[j * d + k]));
            }
            c += q;
        }
    }
    return a - 2 * b / n + c / n / n;
}

static double design_discrepancy(const char* type, int d) {
    enum { N = 256 };
    char design[80];
    snprintf(design, sizeof design, "\"type\": \"%s\", \"samples\": %d", type, N);
    LashStudy* study = uniform_study(design, d);
    double* x = calloc((size_t)(N * d), sizeof *x);
    for (int i = 0; i < N; ++i) lash_study_point(study, i, x + i * d);
    double result = discrepancy(x, N, d);
    free(x);
    lash_study_destroy(study);
    return result;
}

static void sobol_is_less_discrepant_than_latin_hypercube_and_random(void** state) {
    (void)state;
    const int dimensions[] = {2, 5, 8};
    for (int i = 0; i < 3; ++i) {
        double sobol = design_discrepancy("sobol", dimensions[i]);
        double random = design_discrepancy("random", dimensions[i]);
        double latin = design_discrepancy("latin-hypercube", dimensions[i]);
        print_message("%d dimensions: discrepancy sobol %.2e, latin %.2e, random %.2e\n",
                      dimensions[i], sobol, latin, random);
        assert_true(sobol < 0.5 * random && sobol < latin && latin < random);
    }
}

// ---- designs ------------------------------------------------------------------------------------

static void latin_hypercube_has_one_point_per_stratum(void** state) {
    (void)state;
    enum { N = 100, D = 7 };
    LashStudy* study = uniform_study("\"type\": \"latin-hypercube\", \"samples\": 100", D);
    int seen[D][N] = {0};
    double x[D];
    for (int i = 0; i < N; ++i) {
        lash_study_point(study, i, x);
        for (int k = 0; k < D; ++k) ++seen[k][(int)(N * x[k])];
    }
    for (int k = 0; k < D; ++k)
        for (int i = 0; i < N; ++i) assert_int_equal(seen[k][i], 1);
    lash_study_destroy(study);
}

static void a_thousand_dimensions_are_possible(void** state) {
    (void)state;
    static double x[1200];
    LashStudy* study = uniform_study("\"type\": \"sobol\", \"samples\": 64", 1200);
    double mean = 0;
    for (int i = 0; i < 64; ++i) {
        lash_study_point(study, i, x);
        mean += x[1199] / 64;
    }
    assert_true(fabs(mean - 0.5) < 0.01);
    lash_study_destroy(study);
}

static void a_sample_does_not_depend_on_who_asks_when(void** state) {
    (void)state;
    const char* types[] = {"random", "latin-hypercube", "sobol", "morris", "saltelli"};
    for (int t = 0; t < 5; ++t) {
        char design[80];
        snprintf(design, sizeof design, "\"type\": \"%s\", \"samples\": 40", types[t]);
        LashStudy *a = uniform_study(design, 3), *b = uniform_study(design, 3);
        for (int64_t i = 0; i < a->samples; ++i) {
            double x[3], y[3];
            lash_study_point(a, i, x);
            lash_study_point(b, a->samples - 1 - i, y);
            lash_study_point(b, i, y);
            assert_memory_equal(x, y, sizeof x);
        }
        lash_study_destroy(a);
        lash_study_destroy(b);
    }
}

static void grid_and_one_at_a_time_visit_their_levels(void** state) {
    (void)state;
    double x[2];
    LashStudy* grid = uniform_study("\"type\": \"grid\", \"levels\": 3", 2);
    assert_int_equal(grid->samples, 9);
    lash_study_point(grid, 5, x);
    assert_true(x[0] == 1 && x[1] == 0.5);
    lash_study_destroy(grid);
    LashStudy* one = uniform_study("\"type\": \"one-at-a-time\", \"levels\": 5", 2);
    assert_int_equal(one->samples, 9); // nominal, and four others of each
    lash_study_point(one, 0, x);
    assert_true(x[0] == 0.5 && x[1] == 0.5);
    lash_study_point(one, 1, x);
    assert_true(x[0] == 0 && x[1] == 0.5);
    lash_study_point(one, 8, x);
    assert_true(x[0] == 0.5 && x[1] == 1);
    lash_study_destroy(one);
}

static void morris_paths_change_one_parameter_at_a_time(void** state) {
    (void)state;
    enum { D = 5 };
    LashStudy* study = uniform_study("\"type\": \"morris\", \"samples\": 20", D);
    assert_int_equal(study->samples, 20 * (D + 1));
    double last[D], x[D], change;
    for (int64_t i = 0; i < study->samples; ++i) {
        lash_study_point(study, i, x);
        int moved = lash_study_morris_step(study, i, &change);
        assert_int_equal(moved < 0, i % (D + 1) == 0);
        for (int k = 0; k < D; ++k) {
            assert_true(x[k] >= 0 && x[k] <= 1);
            if (moved >= 0) assert_true(fabs(x[k] - last[k] - (k == moved ? change : 0)) < 1e-12);
        }
        memcpy(last, x, sizeof x);
    }
    lash_study_destroy(study);
}

#define HEAD "{\"format\": \"lash-study/1\", \"model\": null, "
#define TAIL ", \"outputs\": [{\"name\": \"y\", \"expression\": \"a + b\"}]}"

static void a_list_is_read_from_csv(void** state) {
    (void)state;
    LashError error = {0};
    const char* text = HEAD
        "\"design\": {\"type\": \"list\", \"file\": \"x.csv\"}, \"parameters\": ["
        "{\"name\": \"a\", \"distribution\": \"uniform\", \"low\": 0, \"high\": 9},"
        "{\"name\": \"b\", \"distribution\": \"uniform\", \"low\": 0, \"high\": 9}]" TAIL;
    LashStudy* study = parse(text, "b, a\r\n1.5, 2\r\n\n-3e-2,4\n", &error);
    assert_non_null(study);
    double x[2];
    assert_int_equal(study->samples, 2);
    lash_study_point(study, 1, x);
    assert_true(x[0] == 4 && x[1] == -3e-2);
    lash_study_destroy(study);
    const char* bad[] = {"b\n1\n",     "a,b,c\n1,2,3\n", "a,b\n1\n", "a,b\n1,x\n",  "a,b\n",
                         "a,a\n1,2\n", "a,b\n1,2,3\n",   "",         "a,b\n1,inf\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        error = (LashError){0};
        assert_null(parse(text, bad[i], &error));
        assert_int_equal(error.status, LASH_ERROR_MODEL);
    }
}

// ---- distributions ------------------------------------------------------------------------------

static void normal_quantile_inverts_the_distribution_to_rounding(void** state) {
    (void)state;
    assert_true(fabs(lash_normal_quantile(1e-6) + 4.753424308822899) < 1e-12);
    assert_true(fabs(lash_normal_quantile(0.3) + 0.5244005127080407) < 1e-14);
    assert_true(fabs(lash_normal_cdf(-2.5) - 0.006209665325776135) < 1e-16);
    for (double p = 1e-300; p < 0.5; p *= 3) {
        double back = lash_normal_cdf(lash_normal_quantile(p));
        assert_true(fabs(back - p) <= 3e-13 * p); // relative, far in the tail
    }
}

static LashStudyParameter* first_parameter(const char* distribution, LashStudy** study) {
    char text[600];
    snprintf(text, sizeof text,
             HEAD
             "\"design\": {\"type\": \"random\", \"samples\": 2}, \"parameters\": [{\"name\": "
             "\"a\", %s}], \"outputs\": [{\"name\": \"y\", \"expression\": \"a\"}]}",
             distribution);
    *study = parse_good(text);
    return &(*study)->parameter[0];
}

static void moments_agree_with_the_quantile_function(void** state) {
    (void)state;
    const char* texts[] = {
        "\"distribution\": \"uniform\", \"low\": -1, \"high\": 4",
        "\"distribution\": \"normal\", \"mean\": 3, \"sigma\": 0.5",
        "\"distribution\": \"truncated-normal\", \"mean\": 3, \"sigma\": 0.5, \"low\": 2.9, "
        "\"high\": 5",
        "\"distribution\": \"truncated-normal\", \"mean\": 0, \"sigma\": 1, \"low\": 3, "
        "\"high\": 6",
        "\"distribution\": \"triangular\", \"low\": 1, \"mode\": 1.5, \"high\": 4",
        "\"distribution\": \"discrete\", \"values\": [1, 2, 7], \"probabilities\": [1, 2, 1]"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; ++t) {
        enum { N = 200000 };
        LashStudy* study;
        const LashDistribution* d = &first_parameter(texts[t], &study)->distribution;
        double sum = 0, square = 0, last = -INFINITY;
        for (int i = 0; i < N; ++i) { // midpoint rule over u
            double x = lash_distribution_quantile(d, (i + 0.5) / N);
            assert_true(x >= last);
            sum += x;
            square += x * x;
            last = x;
        }
        double mean = sum / N, sigma = sqrt(square / N - mean * mean);
        assert_true(fabs(mean - lash_distribution_mean(d)) < 1e-4);
        assert_true(fabs(sigma - lash_distribution_sigma(d)) < 2e-4);
        lash_study_destroy(study);
    }
}

static void correlated_normals_have_their_correlations(void** state) {
    (void)state;
    enum { N = 4096 };
    LashStudy* study =
        parse_good(HEAD
                   "\"design\": {\"type\": \"sobol\", \"samples\": 4096}, \"parameters\": ["
                   "{\"name\": \"a\", \"distribution\": \"normal\", \"mean\": 1, \"sigma\": 2},"
                   "{\"name\": \"c\", \"distribution\": \"constant\", \"value\": 5},"
                   "{\"name\": \"b\", \"distribution\": \"normal\", \"mean\": -1, \"sigma\": 0.1}],"
                   "\"correlations\": [{\"a\": \"b\", \"b\": \"a\", \"rho\": -0.7}]" TAIL);
    double *a = calloc(N, sizeof *a), *b = calloc(N, sizeof *b), x[3], sum = 0;
    for (int i = 0; i < N; ++i) {
        lash_study_point(study, i, x);
        assert_true(x[1] == 5);
        a[i] = x[0];
        b[i] = x[2];
    }
    LashMoments ma = lash_moments(a, N), mb = lash_moments(b, N);
    for (int i = 0; i < N; ++i) sum += (a[i] - ma.mean) * (b[i] - mb.mean);
    assert_true(fabs(ma.mean - 1) < 0.01 && fabs(ma.sigma - 2) < 0.02);
    assert_true(fabs(mb.sigma - 0.1) < 0.002);
    assert_true(fabs(sum / (N - 1) / ma.sigma / mb.sigma + 0.7) < 0.01);
    free(a);
    free(b);
    lash_study_destroy(study);
}

RUN(TEST(philox_gives_the_published_test_vectors),
    TEST(uniform_numbers_are_uniform_and_independent_of_order),
    TEST(permutations_hit_every_place_once), TEST(sobol_points_equal_another_implementation),
    TEST(every_dimension_of_sobol_has_one_point_per_stratum), TEST(scrambled_sobol_is_still_a_net),
    TEST(sobol_is_less_discrepant_than_latin_hypercube_and_random),
    TEST(latin_hypercube_has_one_point_per_stratum), TEST(a_thousand_dimensions_are_possible),
    TEST(a_sample_does_not_depend_on_who_asks_when),
    TEST(grid_and_one_at_a_time_visit_their_levels),
    TEST(morris_paths_change_one_parameter_at_a_time), TEST(a_list_is_read_from_csv),
    TEST(normal_quantile_inverts_the_distribution_to_rounding),
    TEST(moments_agree_with_the_quantile_function),
    TEST(correlated_normals_have_their_correlations))
