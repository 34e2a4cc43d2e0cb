// Fits in models and studies: the play of a fit, hole and shaft apart, closed forms of a linear
// output, and shafts that do not enter.
#include "test.h"

#include "app/lash.h"
#include "app/study/sample.h"
#include "app/study/study.h"
#include "model_text.h"

static const char pendulum[] =
    "{'format': 'lash-model/1', 'units': {'length': 'mm', 'mass': 'g'},"
    " 'parameters': {'play': %s},"
    " 'parts': [{'name': 'rod', 'mass': 100, 'inertia': [1e4, 1e4, 1e4],"
    "            'pose': {'position': [50, 0, 0]}}],"
    " 'joints': [{'name': 'pin', 'type': 'revolute', 'a': 'ground', 'b': 'rod', 'point': [0, 0, 0],"
    "             'axis': [0, 1, 0], 'clearance': %s, 'radius': 5, 'length': 10}],"
    " 'simulation': {'step': 1e-4, 'duration': 1e-3}}";

static double clearance_of(const char* parameter, const char* clearance, const char* says) {
    char text[2000];
    snprintf(text, sizeof text, pendulum, parameter, clearance);
    for (char* c = text; *c != '\0'; ++c) {
        if (*c == '\'') *c = '"';
    }
    LashError error = {0};
    LashModel* model = lash_model_parse("m.json", text, strlen(text), NULL, 0, &error);
    if (says != NULL) {
        assert_null(model);
        if (strstr(error.message, says) == NULL) fail_msg("%s", error.message);
        return NAN;
    }
    if (model == NULL) fail_msg("%s: %s", error.where, error.message);
    double value = model->joint[0].clearance;
    lash_model_destroy(model);
    return value;
}

static void a_fit_is_half_of_the_play_in_the_middle_of_its_zones(void** state) {
    (void)state;
    assert_true(fabs(clearance_of("0", "{'fit': '10 H7/g6'}", NULL) - 8.5e-6) < 1e-15);
    assert_true(fabs(clearance_of("{'fit': '10 H7/g6'}", "'2*play'", NULL) - 17e-6) < 1e-15);
}

static void what_is_no_play_is_refused(void** state) {
    (void)state;
    clearance_of("0", "{'fit': '10 H7'}", "one part of a fit");
    clearance_of("0", "{'fit': '25 P7/h6'}", "no play");
    clearance_of("0", "{'fit': '10 H7-g6'}", "expected a size in mm");
    clearance_of("0", "{'fits': '10 H7/g6'}", "expected a number");
    clearance_of("0", "{'fit': '10 H7/g6', 'x': 1}", "expected a number");
    clearance_of("{'fit': 3}", "0", "expected a number");
}

static LashStudy* study_of(const char* text, const char* says) {
    char copy[3000];
    snprintf(copy, sizeof copy, "%s", text);
    for (char* c = copy; *c != '\0'; ++c) {
        if (*c == '\'') *c = '"';
    }
    LashError error = {0};
    LashStudySource source = {.file = "s.json", .text = copy};
    LashStudy* study = lash_study_parse(&source, NULL, &error);
    if (says == NULL) {
        if (study == NULL) fail_msg("%s: %s", error.where, error.message);
        return study;
    }
    assert_null(study);
    if (strstr(error.message, says) == NULL) fail_msg("%s", error.message);
    return NULL;
}

#define TWO_FITS(seed)                                                                   \
    "{'format': 'lash-study/1', 'model': null, 'parameters': ["                          \
    "{'name': 'a', 'fit': '10 H7/g6', 'distribution': 'normal', 'cpk': 1},"              \
    "{'name': 'b', 'fit': '20 H8/f7', 'distribution': 'normal', 'cpk': 1.5}],"           \
    "'outputs': [{'name': 'gap', 'expression': '(a.hole-a.shaft)/2+(b.hole-b.shaft)/2'," \
    " 'usl': 2.9e-5}], 'design': {'type': 'random', 'samples': 400, 'seed': " #seed "}}"

static void a_fit_becomes_hole_and_shaft_with_their_zones(void** state) {
    (void)state;
    LashStudy* study = study_of(TWO_FITS(1), NULL);
    assert_int_equal(study->parameters, 4);
    static const char* const names[] = {"a.hole", "a.shaft", "b.hole", "b.shaft"};
    for (int i = 0; i < 4; ++i) assert_string_equal(study->parameter[i].name, names[i]);
    const LashStudyParameter* p = study->parameter;
    assert_true(fabs(p[0].low - 10e-3) < 1e-12 && fabs(p[0].high - 10.015e-3) < 1e-12);
    assert_true(fabs(p[1].low - 9.986e-3) < 1e-12 && fabs(p[1].high - 9.995e-3) < 1e-12);
    assert_true(fabs(p[0].sigma - 15e-6 / 6) < 1e-15);
    assert_true(fabs(p[2].sigma - 33e-6 / 9) < 1e-15);
    lash_study_destroy(study);
}

// Mean, sigma and share above the limit of a sum of four nearly normal sizes: in closed form; each
// within its 95 % band in at least 16 of 20 seeds.
static void a_linear_output_has_the_closed_form(void** state) {
    (void)state;
    static const double width[] = {15e-6, 9e-6, 33e-6, 21e-6}, cpk[] = {1, 1, 1.5, 1.5};
    double variance = 0;
    for (int k = 0; k < 4; ++k) {
        double s = width[k] / (6 * cpk[k]), c = 3 * cpk[k]; // cut at c sigmas
        double density = exp(-0.5 * c * c) / sqrt(2 * 3.14159265358979323846);
        double inside = erf(c * sqrt(0.5));
        variance += 0.25 * s * s * (1 - 2 * c * density / inside);
    }
    double mean = 0.5 * (17e-6 + 47e-6), sigma = sqrt(variance), usl = 2.9e-5;
    double share = 0.5 * erfc((usl - mean) / sigma * sqrt(0.5));
    int good[3] = {0};
    for (int seed = 1; seed <= 20; ++seed) {
        LashStudyOverride change = {.has_seed = true, .seed = (uint64_t)seed};
        char text[3000];
        snprintf(text, sizeof text, "%s", TWO_FITS(1));
        for (char* c = text; *c != '\0'; ++c) {
            if (*c == '\'') *c = '"';
        }
        LashStudySource source = {.file = "s.json", .text = text};
        LashError error = {0};
        LashStudy* study = lash_study_parse(&source, &change, &error);
        assert_non_null(study);
        double sum = 0, squares = 0, x[4];
        int n = (int)study->samples, out = 0;
        for (int i = 0; i < n; ++i) {
            lash_study_point(study, i, x);
            double y = 0.5 * (x[0] - x[1] + x[2] - x[3]) - mean;
            sum += y;
            squares += y * y;
            out += y + mean > usl;
        }
        double m = sum / n, s = sqrt((squares - n * m * m) / (n - 1));
        good[0] += fabs(m) < 1.96 * sigma / sqrt(n);
        good[1] += fabs(s / sigma - 1) < 1.96 / sqrt(2.0 * n);
        good[2] += fabs(out - n * share) < 1.96 * sqrt(n * share * (1 - share)) + 0.5;
        lash_study_destroy(study);
    }
    for (int k = 0; k < 3; ++k) assert_true(good[k] >= 16);
}

static void the_report_ranks_hole_and_shaft_apart(void** state) {
    (void)state;
    char path[300], store[300];
    write_model("fits.study.json", TWO_FITS(3), path, sizeof path);
    scratch_file("fits.db", store, sizeof store);
    Outcome o = LASH("study", "run", path, "-o", store);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = LASH("study", "report", store, "--json");
    if (o.code != 0) fail_msg("%s", o.err);
    // (width / Cpk)^2: 22^2, 15^2, 14^2, 9^2
    static const char* const order[] = {"\"b.hole\"", "\"a.hole\"", "\"b.shaft\"", "\"a.shaft\""};
    const char* at = strstr(o.out, "\"contributors\"");
    for (int i = 0; i < 4; ++i) {
        assert_non_null(at);
        at = strstr(at, order[i]);
    }
    assert_non_null(at);
    outcome_free(&o);
}

static void a_shaft_that_does_not_enter_is_a_refused_row(void** state) {
    (void)state;
    char path[300], store[300];
    write_model("press.json",
                "{'format': 'lash-model/1', 'units': {'length': 'mm', 'mass': 'g'},"
                " 'parameters': {'play': 0.01},"
                " 'parts': [{'name': 'rod', 'mass': 100, 'inertia': [1e4, 1e4, 1e4],"
                "            'pose': {'position': [50, 0, 0]}}],"
                " 'joints': [{'name': 'pin', 'type': 'revolute', 'a': 'ground', 'b': 'rod',"
                "  'point': [0, 0, 0], 'axis': [0, 1, 0], 'clearance': 'play', 'radius': 5,"
                "  'length': 10}], 'gravity': [0, 0, -9810],"
                " 'simulation': {'step': 1e-4, 'duration': 1e-3}}",
                path, sizeof path);
    write_model("press.study.json",
                "{'format': 'lash-study/1', 'model': 'press.json', 'parameters': [{'name': 'play',"
                " 'fit': '25 K7/h6', 'distribution': 'uniform'}],"
                " 'outputs': [{'name': 'e', 'expression': 'run.dissipated'}],"
                " 'design': {'type': 'random', 'samples': 40, 'seed': 1}}",
                path, sizeof path);
    scratch_file("press.db", store, sizeof store);
    Outcome o = LASH("study", "run", path, "-o", store);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = LASH("study", "dump", store);
    assert_non_null(strstr(o.out, "does not enter its hole"));
    outcome_free(&o);
}

static void wrong_fits_of_a_study_are_refused(void** state) {
    (void)state;
#define ONE(keys)                                                                  \
    "{'format': 'lash-study/1', 'model': null, 'parameters': [{'name': 'a', " keys \
    "}],"                                                                          \
    "'outputs': [{'name': 'y', 'expression': '1'}],"                               \
    "'design': {'type': 'random', 'samples': 4}}"
    study_of(ONE("'fit': '10 H7/g6', 'distribution': 'triangular'"), "normal or uniform");
    study_of(ONE("'fit': '10 H7/g6', 'distribution': 'normal', 'mean': 3"), "leave low, high");
    study_of(ONE("'fit': '10 H7/g6', 'distribution': 'normal', 'cpk': 0"), "cpk must lie");
    study_of(ONE("'fit': '10 H7/g6', 'distribution': 'uniform', 'cpk': 1"), "'cpk' belongs");
    study_of(ONE("'low': 0, 'high': 1, 'distribution': 'uniform', 'cpk': 1"), "'cpk' belongs");
    study_of(ONE("'fit': '10 Q7', 'distribution': 'normal'"), "expected a size in mm");
    lash_study_destroy(study_of(ONE("'fit': '120 ISO 2768-m', 'distribution': 'normal'"), NULL));
    lash_study_destroy(study_of(ONE("'fit': '10 h9', 'distribution': 'uniform'"), NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_is_half_of_the_play_in_the_middle_of_its_zones),
        cmocka_unit_test(what_is_no_play_is_refused),
        cmocka_unit_test(a_fit_becomes_hole_and_shaft_with_their_zones),
        cmocka_unit_test(a_linear_output_has_the_closed_form),
        cmocka_unit_test(the_report_ranks_hole_and_shaft_apart),
        cmocka_unit_test(a_shaft_that_does_not_enter_is_a_refused_row),
        cmocka_unit_test(wrong_fits_of_a_study_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
