// Pages of studies as a reader meets them: two stores compared, a click on a sample, and in a browser,
// where there is one: no label is cut at any width, nothing is wider than the window.
#include <cjson/cJSON.h>
#include "test.h"

#include "app/study/statistics.h"
#include "model_text.h"

static const char* at(const char* name) {
    static char path[8][300];
    static int next;
    next = (next + 1) % 8;
    return scratch_file(name, path[next], sizeof path[0]);
}

static void run_study(const char* name, const char* study) {
    char path[400], file[40], store[40];
    snprintf(file, sizeof file, "%.20s.study.json", name);
    snprintf(store, sizeof store, "%.20s.db", name);
    write_model(file, study, path, sizeof path);
    remove(at(store));
    Outcome o = LASH("study", "run", path, "-o", at(store), "-j", "2");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
}

#define GAP(fit, sigma)                                                                   \
    "{'format': 'lash-study/1', 'model': null, 'parameters': [{'name': 'p', 'fit': '" fit \
    "', 'distribution': 'normal', 'cpk': 1}, {'name': 'c', 'distribution': 'normal', "    \
    "'mean': 0, 'sigma': " sigma                                                          \
    "}], 'outputs': [{'name': 'gap', 'unit': 'um', "                                      \
    "'expression': '1e6*(p.hole - p.shaft)/2 + c', 'usl': 34}, {'name': 'c2', "           \
    "'expression': 'c^2'}], 'design': {'type': 'sobol', 'samples': 400}}"

static double number_at(const cJSON* json, const char* const* path) {
    for (; *path != NULL && json != NULL; ++path)
        json = (*path)[0] >= '0' && (*path)[0] <= '9' ? cJSON_GetArrayItem(json, atoi(*path))
                                                      : cJSON_GetObjectItem(json, *path);
    assert_non_null(json);
    return cJSON_IsNumber(json) ? json->valuedouble : (double)NAN;
}
#define NUMBER(json, ...) number_at(json, (const char* const[]){__VA_ARGS__, NULL})

static void two_stores_are_compared_with_intervals(void** state) {
    (void)state;
    run_study("old", GAP("20 H9/f8", "1"));
    run_study("new", GAP("20 H7/f8", "1"));
    Outcome o = LASH("study", "compare", at("old.db"), at("new.db"), "-o", at("c.html"), "--json");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    cJSON* json = cJSON_Parse(o.out);
    outcome_free(&o);
    // H9 is 52 um wide, H7 21: the middle moves by 15.5 um on the diameter
    double shift = NUMBER(json, "outputs", "0", "mean", "after") -
                   NUMBER(json, "outputs", "0", "mean", "before");
    assert_true(fabs(shift + 7.75) < 0.3);
    assert_true(NUMBER(json, "outputs", "0", "mean", "change_ci", "0") < -7.75);
    assert_true(NUMBER(json, "outputs", "0", "mean", "change_ci", "1") > -7.75);
    assert_true(NUMBER(json, "outputs", "0", "sigma", "change_ci", "1") < 1);
    assert_true(NUMBER(json, "outputs", "0", "out_of_spec", "change_ci", "1") < 0);
    assert_true(NUMBER(json, "outputs", "1", "sigma", "change_ci", "0") < 1);
    assert_true(NUMBER(json, "outputs", "1", "sigma", "change_ci", "1") > 1);
    cJSON_Delete(json);
    o = LASH("study", "compare", at("old.db"), at("new.db"));
    assert_non_null(strstr(o.out, "sigma"));
    assert_non_null(strstr(o.out, "no difference shown"));
    assert_non_null(strstr(o.out, "parameter p.hole: 20 H9/f8"));
    assert_null(strstr(o.out, "parameter c:")); // did not change
    outcome_free(&o);
    char* page = slurp(at("c.html"));
    assert_non_null(strstr(page, "What differs"));
    assert_non_null(strstr(page, "aria-label=\"Histograms before and after\""));
    assert_null(strstr(page, "nan"));
    free(page);
}

static void stores_without_a_common_output_are_refused(void** state) {
    (void)state;
    run_study("old", GAP("20 H9/f8", "1"));
    run_study("other",
              "{'format': 'lash-study/1', 'model': null, 'parameters': [{'name': 'c', "
              "'distribution': 'normal', 'mean': 0, 'sigma': 1}], 'outputs': [{'name': 'y', "
              "'expression': 'c'}], 'design': {'type': 'random', 'samples': 9}}");
    Outcome o = LASH("study", "compare", at("old.db"), at("other.db"));
    assert_int_equal(o.code, 2);
    assert_non_null(strstr(o.err, "no output of the same name"));
    outcome_free(&o);
    o = LASH("study", "compare", at("old.db"), at("missing.db"));
    assert_int_equal(o.code, 7);
    outcome_free(&o);
}

// Coverage of the three intervals on samples of known populations.
static void intervals_of_changes_hold_the_truth(void** state) {
    (void)state;
    enum { RUNS = 400, N = 120 };
    uint64_t seed = 5;
    int held[3] = {0};
    for (int run = 0; run < RUNS; ++run) {
        double value[2][N];
        int64_t out[2] = {0};
        for (int s = 0; s < 2; ++s) {
            for (int i = 0; i < N; ++i) {
                double sum = -6;
                for (int k = 0; k < 12; ++k) {
                    seed = seed * 6364136223846793005u + 1442695040888963407u;
                    sum += (double)(seed >> 11) * 0x1p-53;
                }
                value[s][i] = s + (s + 1) * sum; // N(0, 1), N(1, 2)
                out[s] += sum > 1;               // the same share
            }
        }
        LashMoments a = lash_moments(value[0], N), b = lash_moments(value[1], N);
        LashInterval mean = lash_mean_difference(&a, &b), ratio = lash_sigma_ratio(&a, &b);
        LashInterval share = lash_share_difference(out[0], N, out[1], N);
        held[0] += mean.low <= 1 && 1 <= mean.high;
        held[1] += ratio.low <= 2 && 2 <= ratio.high;
        held[2] += share.low <= 0 && 0 <= share.high;
    }
    for (int k = 0; k < 3; ++k) {
        if (held[k] < 0.92 * RUNS) print_error("%d: %d of %d\n", k, held[k], RUNS);
        assert_true(held[k] >= 0.92 * RUNS);
    }
}

// ---- one page -----------------------------------------------------------------------------------

#define LONG_STUDY                                                                                \
    "{'format': 'lash-study/1', 'name': 'A study of things whose names are very long indeed, as " \
    "those of real assemblies are', 'model': null, 'parameters': [{'name': "                      \
    "'clearance_between_the_upper_rocker_arm_and_its_shaft', 'fit': '10 H7/g6', "                 \
    "'distribution': 'normal'}, {'name': 'wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww', "               \
    "'distribution': 'normal', 'mean': 123456.789, 'sigma': 0.001, 'unit': "                      \
    "'newtonmetres per radian and second'}], 'outputs': [{'name': "                               \
    "'time_until_the_main_contact_has_opened_completely', 'unit': 'milliseconds after the trip "  \
    "of the release', 'expression': '1234.5678 + 1e4*(clearance_between_the_upper_rocker_arm_"    \
    "and_its_shaft.hole - 0.01) + 0.001*(wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww - 123456.789)', "  \
    "'usl': 1234.7012345, 'lsl': 1234.5601234}, {'name': 'tiny', 'unit': 'm', 'expression': "     \
    "'1e-9*clearance_between_the_upper_rocker_arm_and_its_shaft.shaft', 'usl': 1}], 'design': "   \
    "{'type': 'sobol', 'samples': 128}}"

static void a_dot_refers_to_the_command_of_its_sample(void** state) {
    (void)state;
    run_study("long", LONG_STUDY);
    Outcome o = LASH("study", "report", at("long.db"), "-o", at("long.html"));
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    char* page = slurp(at("long.html"));
    int dots = 0;
    for (const char* link = page; (link = strstr(link, "<a href=\"#s")) != NULL; ++link) {
        char target[64];
        if (strncmp(link + 9, "#summary", 8) == 0) continue;
        snprintf(target, sizeof target, "<div class=\"sample\" id=\"s%d\">", atoi(link + 11));
        assert_non_null(strstr(page, target));
        ++dots;
    }
    assert_true(dots >= 128);
    assert_null(strstr(page, "<script"));
    free(page);
}

static const char probe[] =
    "<script>let n=0,bad=[];for(const t of document.querySelectorAll('svg text')){const s="
    "t.ownerSVGElement.getBoundingClientRect(),r=t.getBoundingClientRect();++n;if(r.left<s.left-1||"
    "r.right>s.right+1||r.top<s.top-1||r.bottom>s.bottom+1)bad.push(t.textContent)}const w="
    "document.documentElement.clientWidth;for(const e of document.querySelectorAll('body>*,"
    "section>*,figure'))if(!e.closest('.scroll')&&e.getBoundingClientRect().right>w+1)bad.push("
    "'wide '+e.tagName+' '+e.className);document.body.textContent='PROBE '+n+' texts, bad: '+"
    "bad.length+' '+bad.join(' | ')</script></body></html>";

static void expect_nothing_cut(const char* name, int width) {
    char command[1400], more[300];
    char* page = slurp(at(name));
    char* end = strstr(page, "</body></html>");
    assert_non_null(end);
    *end = '\0';
    FILE* file = fopen(at("probe.html"), "w");
    fprintf(file, "%s%s", page, probe);
    fclose(file);
    free(page);
    snprintf(more, sizeof more, "--dump-dom --window-size=%d,900", width);
    snprintf(command, sizeof command,
             "timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir='%s' %s "
             "'file://%s' >'%s' 2>/dev/null",
             at("profile"), more, at("probe.html"), at("dom.html"));
    assert_int_equal(system(command), 0);
    char* dom = slurp(at("dom.html"));
    const char* told = strstr(dom, "PROBE ");
    assert_non_null(told);
    if (strstr(told, "bad: 0 ") == NULL) print_error("%s at %d: %.600s\n", name, width, told);
    assert_non_null(strstr(told, "bad: 0 "));
    free(dom);
}

static void no_label_is_cut_and_nothing_is_wider_than_the_window(void** state) {
    (void)state;
    if (system("command -v chromium >/dev/null 2>&1") != 0) skip();
    run_study("long", LONG_STUDY);
    run_study("old", GAP("20 H9/f8", "1"));
    run_study("new", GAP("20 H7/f8", "1"));
    Outcome o = LASH("study", "report", at("long.db"), "-o", at("long.html"));
    outcome_free(&o);
    o = LASH("study", "compare", at("old.db"), at("new.db"), "-o", at("c.html"));
    outcome_free(&o);
    static const int widths[] = {400, 800, 1300};
    for (int i = 0; i < 3; ++i) {
        expect_nothing_cut("long.html", widths[i]);
        expect_nothing_cut("c.html", widths[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_stores_are_compared_with_intervals),
        cmocka_unit_test(stores_without_a_common_output_are_refused),
        cmocka_unit_test(intervals_of_changes_hold_the_truth),
        cmocka_unit_test(a_dot_refers_to_the_command_of_its_sample),
        cmocka_unit_test(no_label_is_cut_and_nothing_is_wider_than_the_window),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
