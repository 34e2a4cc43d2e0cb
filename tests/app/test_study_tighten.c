// Which part to tighten: what one ISO grade is said to bring is what a run with that grade brings;
// features, parts and joints by name; intervals of shares; the linear chain; assumptions.
#include <cjson/cJSON.h>
#include "test.h"

#include "app/study/sensitivity.h"
#include "app/study/study.h"
#include "model_text.h"

static const char* at(const char* name) {
    static char path[8][300];
    static int next;
    next = (next + 1) % 8;
    return scratch_file(name, path[next], sizeof path[0]);
}

static cJSON* report_of(const char* study, const char* store) {
    char path[300];
    write_model("t.study.json", study, path, sizeof path);
    remove(store);
    Outcome o = LASH("study", "run", path, "-o", store, "-j", "2");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = LASH("study", "report", store, "-o", at("t.html"), "--json");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    cJSON* json = cJSON_Parse(o.out);
    assert_non_null(json);
    outcome_free(&o);
    return json;
}

static const cJSON* output_of(const cJSON* json, int index) {
    return cJSON_GetArrayItem(cJSON_GetObjectItem(json, "outputs"), index);
}

static double number_of(const cJSON* object, const char* key) {
    const cJSON* item = cJSON_GetObjectItem(object, key);
    if (item == NULL) print_error("no '%s'\n", key);
    assert_non_null(item);
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

// A gap in um that is linear in hole and shaft, curved in c, with an interaction.
static void gap_study(char* text, size_t size, const char* fit, const char* more) {
    snprintf(text, size,
             "{'format': 'lash-study/1', 'model': null, 'parameters': ["
             "{'name': 'p', 'fit': '20 %s', 'distribution': 'normal', 'cpk': 1},"
             "{'name': 'c', 'distribution': 'normal', 'mean': 0, 'sigma': 1}],"
             "'outputs': [{'name': 'gap', 'expression': "
             "'1e6*(p.hole - p.shaft)/2 + 1.5*c + 0.4*c^2', 'unit': 'um', 'usl': 40}],"
             "'design': {'type': 'sobol', 'samples': 2000, 'seed': 5}%s}",
             fit, more);
}

static void expect_fall(const char* fit, const char* finer_fit, const char* parameter,
                        const char* more) {
    char text[1000];
    gap_study(text, sizeof text, fit, more);
    cJSON* before = report_of(text, at("before.db"));
    gap_study(text, sizeof text, finer_fit, more);
    cJSON* after = report_of(text, at("after.db"));
    const cJSON *a = output_of(before, 0), *b = output_of(after, 0);
    const cJSON* told = cJSON_GetObjectItem(cJSON_GetObjectItem(a, "tighten"), parameter);
    double sigma = number_of(a, "sigma"), then = number_of(b, "sigma");
    double shift = number_of(b, "mean") - number_of(a, "mean");
    double fall = number_of(told, "fall");
    if (!(fabs(fall - (1 - then / sigma)) < 0.01))
        print_error("%s: told %g, ran %g\n", parameter, fall, 1 - then / sigma);
    assert_true(fall > 0.03);
    assert_true(fabs(fall - (1 - then / sigma)) < 0.01); // 2000 samples: sigma to 1.6 %, one seed
    assert_true(fabs(number_of(told, "sigma") - then) < 0.015 * sigma);
    assert_true(fabs(number_of(told, "mean_shift") - shift) < 0.02 * sigma);
    cJSON_Delete(before);
    cJSON_Delete(after);
}

static void one_grade_finer_brings_what_a_run_with_it_brings(void** state) {
    (void)state;
    expect_fall("H8/f7", "H7/f7", "p.hole", "");
    expect_fall("H8/f7", "H8/f6", "p.shaft", "");
    expect_fall("K8/g9", "K7/g9", "p.hole", "");
}

static void a_grade_finer_counts_correlations(void** state) {
    (void)state;
    static const char* const more[] = {
        ", 'correlations': [{'a': 'p.hole', 'b': 'p.shaft', 'rho': 0.6}]",
        ", 'correlations': [{'a': 'p.hole', 'b': 'p.shaft', 'rho': -0.6}]"};
    for (int i = 0; i < 2; ++i) expect_fall("H8/f7", "H7/f7", "p.hole", more[i]);
}

// ---- names --------------------------------------------------------------------------------------

static const char crank[] =
    "{'format': 'lash-model/1', 'units': {'length': 'mm', 'mass': 'g'},"
    " 'parameters': {'play': 0.01, 'slack': 0.02, 'mu': 0.1, 'twice': '2*mu', 'weight': 100},"
    " 'parts': [{'name': 'crank', 'mass': 'weight', 'inertia': [1e4, 1e4, 1e4],"
    "            'pose': {'position': [50, 0, 0]}}, {'name': 'rod', 'mass': 100,"
    "            'inertia': [1e4, 1e4, 1e4], 'pose': {'position': [150, 0, 0]}}],"
    " 'joints': [{'name': 'main', 'type': 'revolute', 'a': 'ground', 'b': 'crank',"
    "  'point': [0, 0, 0], 'axis': [0, 1, 0], 'clearance': 'slack', 'radius': 5, 'length': 10,"
    "  'friction': 'twice'},"
    "  {'name': 'crank_pin', 'type': 'revolute', 'a': 'crank', 'b': 'rod', 'bore_in': 'b',"
    "  'point': [100, 0, 0], 'axis': [0, 1, 0], 'clearance': 'play', 'radius': 5, 'length': 10}],"
    " 'gravity': [0, 0, -9810], 'simulation': {'step': 2e-5, 'duration': 2e-4}}";

static void features_parts_and_joints_are_named(void** state) {
    (void)state;
    char path[300];
    write_model("crank.json", crank, path, sizeof path);
    cJSON* json = report_of(
        "{'format': 'lash-study/1', 'model': 'crank.json', 'parameters': ["
        "{'name': 'play', 'fit': '10 H7/g6', 'distribution': 'normal'},"
        "{'name': 'slack', 'distribution': 'uniform', 'low': 0.01, 'high': 0.03, 'unit': 'mm'},"
        "{'name': 'mu', 'distribution': 'uniform', 'low': 0.05, 'high': 0.15},"
        "{'name': 'weight', 'distribution': 'uniform', 'low': 95, 'high': 105, 'unit': 'g'}],"
        "'outputs': [{'name': 'y', 'expression': '500*(play.hole - play.shaft) + 200*slack + 30*mu "
        "+ weight', 'unit': 'um'}], 'design': {'type': 'sobol', 'samples': 128}}",
        at("crank.db"));
    const cJSON* tighten = cJSON_GetObjectItem(output_of(json, 0), "tighten");
    static const char* const expected[][4] = {
        {"play.hole", "hole of rod, joint crank_pin", "rod", "crank_pin"},
        {"play.shaft", "pin of crank, joint crank_pin", "crank", "crank_pin"},
        {"slack", "play of joint main, ground and crank", NULL, "main"},
        {"mu", "friction of joint main", NULL, "main"},
        {"weight", "mass of crank", "crank", NULL}};
    for (int i = 0; i < 5; ++i) {
        const cJSON* one = cJSON_GetObjectItem(tighten, expected[i][0]);
        assert_non_null(one);
        assert_string_equal(cJSON_GetObjectItem(one, "feature")->valuestring, expected[i][1]);
        const cJSON* names[] = {cJSON_GetObjectItem(one, "part"),
                                cJSON_GetObjectItem(one, "joint")};
        for (int k = 0; k < 2; ++k) {
            assert_true(cJSON_IsNull(names[k]) == (expected[i][2 + k] == NULL));
            if (expected[i][2 + k] != NULL)
                assert_string_equal(names[k]->valuestring, expected[i][2 + k]);
        }
    }
    // the mass of the crank and its pin; its joint with the ground is no part's alone
    const cJSON* part = cJSON_GetArrayItem(cJSON_GetObjectItem(output_of(json, 0), "parts"), 0);
    assert_string_equal(cJSON_GetObjectItem(part, "name")->valuestring, "crank");
    char* page = slurp(at("t.html"));
    assert_non_null(strstr(page, "hole of rod, joint crank_pin"));
    assert_non_null(strstr(page, ">H7 to H6<"));
    assert_non_null(strstr(page, "um per mm"));
    assert_non_null(strstr(page, "part, all its features"));
    free(page);
    cJSON_Delete(json);
}

static void the_assumptions_are_one_table(void** state) {
    (void)state;
    char path[300];
    write_model("crank.json", crank, path, sizeof path);
    cJSON* json = report_of(
        "{'format': 'lash-study/1', 'model': 'crank.json', 'parameters': ["
        "{'name': 'play', 'fit': '10 H7/g6', 'distribution': 'normal', 'cpk': 1.67},"
        "{'name': 'mu', 'distribution': 'uniform', 'low': 0.05, 'high': 0.15}],"
        "'correlations': [{'a': 'play.hole', 'b': 'mu', 'rho': 0.25}],"
        "'outputs': [{'name': 'y', 'expression': 'mu'}],"
        "'design': {'type': 'random', 'samples': 12, 'seed': 77}}",
        at("crank.db"));
    Outcome o = LASH("study", "report", at("crank.db"), "-o", at("t.html"));
    assert_int_equal(o.code, 0);
    char* page = slurp(at("t.html"));
    static const char* const parts[] = {
        "10 H7/g6 with Cpk 1.67, cut at the zone: truncated-normal, 10 to 10.015",
        "uniform, 0.05 to 0.15",
        "play.hole with mu: rho 0.25",
        "0.2 in all joints",
        "random, seed 77, 12 samples",
        "2e-05 s",
        "combined",
        "sha256 ",
        "none given: 0"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        if (strstr(o.out, parts[i]) == NULL) print_error("no '%s' in\n%s\n", parts[i], o.out);
        assert_non_null(strstr(o.out, parts[i]));
        assert_non_null(strstr(page, parts[i]));
    }
    assert_non_null(strstr(page, "id=\"assumptions\""));
    free(page);
    outcome_free(&o);
    cJSON_Delete(json);
}

// ---- figures ------------------------------------------------------------------------------------

static double uniform_at(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

// y = a + 0.5 b + 0.25 c + noise of half the variance: each interval should hold its true share in
// 95 of 100 runs.
static void intervals_of_shares_hold_the_truth(void** state) {
    (void)state;
    enum { ROWS = 240, RUNS = 100 };
    static double x[3 * ROWS], y[ROWS];
    const double slope[] = {1, 0.5, 0.25}, total = 2 * (1 + 0.25 + 0.0625);
    int held = 0;
    uint64_t seed = 11;
    for (int run = 0; run < RUNS; ++run) {
        for (int i = 0; i < ROWS; ++i) {
            y[i] = sqrt(0.5 * total) * (uniform_at(&seed) - 0.5) * sqrt(12);
            for (int k = 0; k < 3; ++k) {
                x[3 * i + k] = (uniform_at(&seed) - 0.5) * sqrt(12);
                y[i] += slope[k] * x[3 * i + k];
            }
        }
        LashContribution c[3];
        double noise;
        lash_contributions(x, y, ROWS, 3, c, &noise);
        for (int k = 0; k < 3; ++k) {
            double truth = slope[k] * slope[k] / total;
            assert_true(c[k].share_ci.low <= c[k].share && c[k].share <= c[k].share_ci.high);
            held += c[k].share_ci.low <= truth && truth <= c[k].share_ci.high;
            assert_true(fabs(c[k].slope - slope[k]) < 0.5);
        }
    }
    if (held < 0.9 * 3 * RUNS || held > 0.99 * 3 * RUNS) print_error("%d of %d\n", held, 3 * RUNS);
    assert_true(held >= 0.9 * 3 * RUNS);
}

static void the_chain_has_the_closed_form(void** state) {
    (void)state;
    cJSON* json = report_of(
        "{'format': 'lash-study/1', 'model': null, 'parameters': ["
        "{'name': 'a', 'distribution': 'normal', 'mean': 1, 'sigma': 0.3},"
        "{'name': 'b', 'distribution': 'uniform', 'low': 0, 'high': 1}],"
        "'correlations': [{'a': 'a', 'b': 'b', 'rho': 0.5}],"
        "'outputs': [{'name': 'y', 'expression': '2*a - 3*b', 'usl': 2}],"
        "'design': {'type': 'random', 'samples': 200}}",
        at("chain.db"));
    double p = 0.6, q = 3 / sqrt(12), sigma = sqrt(p * p + q * q - p * q); // rho 0.5
    const cJSON* y = output_of(json, 0);
    assert_true(fabs(number_of(y, "rss_sigma") - sigma) < 1e-9);
    assert_true(fabs(number_of(y, "arithmetic_half_range") - (1.8 + 1.5)) < 1e-9);
    double share = 0.5 * erfc((2 - number_of(y, "mean")) / sigma * sqrt(0.5));
    assert_true(fabs(number_of(y, "rss_out_of_spec") - share) < 1e-9);
    cJSON_Delete(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_grade_finer_brings_what_a_run_with_it_brings),
        cmocka_unit_test(a_grade_finer_counts_correlations),
        cmocka_unit_test(features_parts_and_joints_are_named),
        cmocka_unit_test(the_assumptions_are_one_table),
        cmocka_unit_test(intervals_of_shares_hold_the_truth),
        cmocka_unit_test(the_chain_has_the_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
