// The report of a study: the page in a browser, its figures against --json; CSV; exit code 6.
#include <cjson/cJSON.h>
#include <sqlite3.h>
#include "test.h"

#include "command.h"

static const char* at(const char* name) {
    static char path[8][300];
    static int next;
    next = (next + 1) % 8;
    return scratch_file(name, path[next], sizeof path[0]);
}

// A part that starts with the speed x1 + 3 and may never pass its place 1e-9 m ahead: the event
// behind "part".
static void write_model(void) {
    FILE* file = fopen(at("i.json"), "w");
    assert_non_null(file);
    fputs(
        "{\"format\": \"lash-model/1\", \"parameters\": {\"x1\": 1, \"x2\": 0, \"x3\": 0}, "
        "\"parts\": [{\"name\": \"ball\", \"mass\": 1, \"inertia\": [1, 1, 1], \"velocity\": "
        "[\"x1 + 3\", 0, 0]}], \"simulation\": {\"step\": 0.01, \"duration\": 0.02}, "
        "\"outputs\": [{\"name\": \"passed\", \"quantity\": \"position.x\", \"of\": \"ball\", "
        "\"when\": \"first-crossing\", \"level\": 1e-9}]}",
        file);
    fclose(file);
}

// Runs a study of the Ishigami function with this design; "part" sometimes never happens.
static void run_design(const char* design) {
    write_model();
    FILE* file = fopen(at("i.study.json"), "w");
    assert_non_null(file);
    fprintf(
        file,
        "{\"format\": \"lash-study/1\", \"name\": \"Ishigami <1990> & others\", \"model\": "
        "\"i.json\", \"parameters\": [{\"name\": \"x1\", \"distribution\": \"uniform\", \"low\": "
        "\"-pi\", \"high\": \"pi\", \"unit\": \"rad\"}, {\"name\": \"x2\", \"distribution\": "
        "\"uniform\", \"low\": \"-pi\", \"high\": \"pi\"}, {\"name\": \"x3\", "
        "\"distribution\": \"uniform\", \"low\": \"-pi\", \"high\": \"pi\"}], \"design\": "
        "{%s}, \"outputs\": [{\"name\": \"y\", \"expression\": \"sin(x1) + 7*sin(x2)^2 + "
        "0.1*x3^4*sin(x1)\", \"unit\": \"N\", \"lsl\": -5, \"usl\": 12}, {\"name\": \"part\", "
        "\"expression\": \"sqrt(max(x1 + 3, 0)) + 0*passed\", \"usl\": 2.4}, {\"name\": \"plain\", "
        "\"expression\": \"x2\"}]}",
        design);
    fclose(file);
    remove(at("i.db"));
    Outcome o = LASH("study", "run", at("i.study.json"), "-o", at("i.db"), "-j", "2");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
}

static cJSON* report_json(void) {
    Outcome o =
        LASH("study", "report", at("i.db"), "-o", at("i.html"), "--csv", at("i.csv"), "--json");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    cJSON* json = cJSON_Parse(o.out);
    assert_non_null(json);
    outcome_free(&o);
    return json;
}

// The number under "y.sobol.x1.first" in the outputs of the report; NAN: null.
static double json_figure(const cJSON* json, const char* key) {
    char text[200];
    snprintf(text, sizeof text, "%s", key);
    const cJSON* node = NULL;
    char* word = strtok(text, ".");
    const cJSON* output;
    cJSON_ArrayForEach(output, cJSON_GetObjectItem(json, "outputs")) {
        if (strcmp(cJSON_GetObjectItem(output, "name")->valuestring, word) == 0) node = output;
    }
    while (node != NULL && (word = strtok(NULL, ".")) != NULL)
        node = cJSON_GetObjectItem(node, word);
    if (node == NULL) print_error("'%s' is not in the JSON document\n", key);
    assert_non_null(node);
    return cJSON_IsNumber(node) ? node->valuedouble : (double)NAN;
}

// Every figure of the page that has a key equals the one of the JSON document.
static int compare_figures(const char* page, const cJSON* json) {
    int count = 0;
    for (const char* at_key = page; (at_key = strstr(at_key, "data-key=\"")) != NULL;) {
        char key[160], value[64];
        at_key += strlen("data-key=\"");
        const char* at_value = strstr(at_key, "data-value=\"");
        assert_non_null(at_value);
        snprintf(key, sizeof key, "%.*s", (int)strcspn(at_key, "\""), at_key);
        at_value += strlen("data-value=\"");
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at_value, "\""), at_value);
        double shown = strtod(value, NULL), told = json_figure(json, key);
        if (!(shown == told || (isnan(shown) && isnan(told))))
            print_error("%s: page %s, JSON %.17g\n", key, value, told);
        assert_true(shown == told || (isnan(shown) && isnan(told)));
        ++count;
    }
    return count;
}

static void expect_sections(const char* page, const char* const* sections) {
    for (int i = 0; sections[i] != NULL; ++i) {
        if (strstr(page, sections[i]) == NULL) print_error("no '%s' on the page\n", sections[i]);
        assert_non_null(strstr(page, sections[i]));
    }
}

static const char* const common[] = {"id=\"summary\"",
                                     "id=\"output0\"",
                                     "id=\"output2\"",
                                     "aria-label=\"Histogram of y\"",
                                     "Percentiles and shape",
                                     "Main effects and scatter",
                                     "worst samples",
                                     "id=\"failed\"",
                                     "id=\"parameters\"",
                                     "id=\"notes\"",
                                     "Ishigami &lt;1990&gt; &amp; others",
                                     NULL};
static const char* const sampled[] = {"Convergence", "out of spec</b>", NULL};

static void check_page(const char* page, const cJSON* json, int least) {
    expect_sections(page, common);
    assert_null(strstr(page, "http:"));
    assert_null(strstr(page, "https:"));
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, ">nan<"));
    assert_null(strstr(page, "\"nan\" y="));
    int count = compare_figures(page, json);
    if (count < least) print_error("only %d figures\n", count);
    assert_true(count >= least);
}

static void every_design_gives_a_page_whose_figures_equal_the_json_document(void** state) {
    (void)state;
    const char* designs[] = {"\"type\": \"saltelli\", \"samples\": 256",
                             "\"type\": \"sobol\", \"samples\": 300",
                             "\"type\": \"latin-hypercube\", \"samples\": 300",
                             "\"type\": \"random\", \"samples\": 5",
                             "\"type\": \"morris\", \"samples\": 10",
                             "\"type\": \"one-at-a-time\", \"levels\": 5",
                             "\"type\": \"grid\", \"levels\": 4"};
    for (size_t i = 0; i < sizeof designs / sizeof *designs; ++i) {
        run_design(designs[i]);
        cJSON* json = report_json();
        char* page = slurp(at("i.html"));
        check_page(page, json, 60);
        if (i < 3) expect_sections(page, sampled);
        if (i == 1) assert_non_null(strstr(page, ">never</td>")); // among the worst of "part"
        if (i == 0) assert_non_null(strstr(page, "Sobol indices with 95 % intervals"));
        assert_non_null(strstr(page, i == 3 ? "too few to rank" : "Ranked contributors"));
        assert_non_null(strstr(page, i == 4 ? "Morris: mean and spread" : "Tornado"));
        free(page);
        cJSON_Delete(json);
    }
}

static void figures_of_the_report_are_those_of_the_samples(void** state) {
    (void)state;
    run_design("\"type\": \"sobol\", \"samples\": 300");
    cJSON* json = report_json();
    char* csv = slurp(at("i.csv"));
    double sum = 0;
    int rows = 0, out = 0, missing = 0, part_out = 0;
    assert_memory_equal(csv, "sample,status,x1,x2,x3,y,part,plain,", 36);
    for (char* line = strchr(csv, '\n') + 1; *line != '\0'; line = strchr(line, '\n') + 1) {
        double x[3], y;
        int id, used = 0;
        assert_int_equal(
            sscanf(line, "%d,ok,%lf,%lf,%lf,%lf,%n", &id, &x[0], &x[1], &x[2], &y, &used), 5);
        assert_int_equal(id, rows++);
        sum += y;
        out += y < -5 || y > 12;
        missing += line[used] == ',';
        part_out += line[used] == ',' || strtod(line + used, NULL) > 2.4;
    }
    assert_int_equal(rows, 300);
    assert_true(fabs(json_figure(json, "y.mean") - sum / rows) < 1e-12);
    assert_true(json_figure(json, "y.out_of_spec") == (double)out / rows);
    assert_true(missing > 0);
    assert_true(json_figure(json, "part.missing") == missing);
    assert_true(json_figure(json, "part.out_of_spec_count") == part_out);
    free(csv);
    cJSON_Delete(json);
    Outcome o = LASH("study", "report", at("i.db"), "-o", at("i.html"), "--limit", "0.5");
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = LASH("study", "report", at("i.db"), "-o", at("i.html"), "--limit", "0.0001");
    assert_int_equal(o.code, 6);
    assert_non_null(strstr(o.err, "out of spec"));
    outcome_free(&o);
}

// ---- any study ----------------------------------------------------------------------------------

// Runs a study without a model of parameters a and b and reports it; page and document as they are.
static Outcome report_of(const char* parameters, const char* samples, const char* outputs,
                         const char* more) {
    FILE* file = fopen(at("r.study.json"), "w");
    assert_non_null(file);
    fprintf(file,
            "{\"format\": \"lash-study/1\", \"model\": null, \"parameters\": [%s], "
            "\"design\": {\"type\": \"random\", \"samples\": %s}, \"outputs\": [%s]%s}",
            parameters, samples, outputs, more);
    fclose(file);
    remove(at("r.db"));
    Outcome o = LASH("study", "run", at("r.study.json"), "-o", at("r.db"), "-j", "1");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = LASH("study", "report", at("r.db"), "-o", at("r.html"), "--csv", at("r.csv"));
    if (o.code != 0) print_error("code %d, %s", o.code, o.err);
    assert_int_equal(o.code, 0);
    return o;
}

#define A "{\"name\": \"a\", \"distribution\": \"normal\", \"mean\": 0, \"sigma\": 1}"
#define B "{\"name\": \"b\", \"distribution\": \"normal\", \"mean\": 0, \"sigma\": 1}"

static void values_have_the_digits_that_sigma_needs_and_limits_all_theirs(void** state) {
    (void)state;
    Outcome o = report_of(A, "400",
                          "{\"name\": \"stroke\", \"expression\": \"120 + 0.004*a\", \"lsl\": "
                          "119.85, \"usl\": 120.0125}",
                          "");
    char* page = slurp(at("r.html"));
    // 120.000 31 with sigma 0.004: five decimals, in the text and on the page
    const char* mean = strstr(o.out, "mean 1");
    assert_non_null(mean);
    double value = 0;
    int used = 0;
    assert_int_equal(sscanf(mean, "mean %lf%n", &value, &used), 1);
    assert_true(fabs(value - 120) < 0.001 && value != 120);
    assert_int_equal(used, (int)strlen("mean 120.00031"));
    assert_non_null(strstr(o.out, "LSL 119.85, USL 120.0125"));
    assert_non_null(strstr(page, ">119.85</td>"));
    assert_non_null(strstr(page, ">120.0125</td>"));
    assert_non_null(strstr(page, "LSL 119.85"));
    assert_null(strstr(page, ">120</td>"));
    free(page);
    outcome_free(&o);
    o = LASH("study", "plan", at("r.study.json"));
    assert_non_null(strstr(o.out, "lsl 119.85 usl 120.0125"));
    outcome_free(&o);
}

static void shares_above_the_whole_are_explained(void** state) {
    (void)state;
    Outcome o = report_of(A ", " B, "400", "{\"name\": \"y\", \"expression\": \"a + b\"}",
                          ", \"correlations\": [{\"a\": \"a\", \"b\": \"b\", \"rho\": -0.9}]");
    char* page = slurp(at("r.html"));
    assert_non_null(strstr(o.out, "the parameters are correlated"));
    assert_non_null(strstr(page, "the parameters are correlated"));
    assert_null(strstr(page, "the rest is interaction"));
    free(page);
    outcome_free(&o);
    o = LASH("study", "report", at("r.db"), "-o", at("r.html"), "--json");
    assert_non_null(strstr(o.out, "\"shares_note\": \"Shares add up to"));
    outcome_free(&o);
    // a quarter of 16 samples: correlated by chance
    o = report_of(A ", " B, "12", "{\"name\": \"y\", \"expression\": \"a - b\"}", "");
    page = slurp(at("r.html"));
    double together = 0;
    const char* found = strstr(page, "Together they explain ");
    if (found != NULL) together = strtod(found + 22, NULL);
    if (together > 100) assert_non_null(strstr(page, "is sampling error (12 samples"));
    free(page);
    outcome_free(&o);
}

static void ranges_that_overflow_or_vanish_are_drawn(void** state) {
    (void)state;
    static const char* const expressions[] = {"if(a < 0, -1.7e308, 1.7e308)",
                                              "1e308*max(min(a, 1.7), -1.7)",
                                              "5e-324*a",
                                              "5e-324*ceil(a)",
                                              "1e-310*a",
                                              "1e308 + 1e292*ceil(a)",
                                              "1e-300*a",
                                              "1e200*a",
                                              "2^53 + ceil(a)",
                                              "if(a < 0, 0, 1e-320)",
                                              "1e17 + 16*ceil(a)"};
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; ++i) {
        char output[300];
        snprintf(output, sizeof output,
                 "{\"name\": \"y\", \"expression\": \"%s\", \"lsl\": -1e20, \"usl\": 1e-20}",
                 expressions[i]);
        Outcome o = report_of(A ", " B, "60", output, "");
        char* page = slurp(at("r.html"));
        assert_null(strstr(page, "=\"nan\" "));
        assert_null(strstr(page, "Mnan"));
        assert_null(strstr(page, "\"inf"));
        assert_null(strstr(page, "-inf"));
        assert_null(strstr(page, ">inf"));
        if (i == 0 || i == 7) { // a drives it
            assert_non_null(strstr(o.out, "variance: a "));
            assert_null(strstr(o.out, "variance: a 0,"));
        }
        free(page);
        outcome_free(&o);
    }
}

static void names_of_outputs_are_text_on_the_page_and_in_the_table(void** state) {
    (void)state;
    Outcome o = report_of(
        A, "40",
        "{\"name\": \"<script>alert(1)</script>,\\\"\\u001b[31m\", \"expression\": \"a\", "
        "\"unit\": \"<i>\\u0007\", \"usl\": 1}",
        "");
    char *page = slurp(at("r.html")), *csv = slurp(at("r.csv"));
    assert_null(strchr(o.out, 0x1B));
    assert_null(strchr(page, 0x1B));
    assert_null(strchr(page, 0x07));
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "<i>"));
    assert_non_null(strstr(page, "&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_non_null(strstr(csv, ",\"<script>alert(1)</script>,\"\"\\x1b[31m\",steps"));
    free(page);
    free(csv);
    outcome_free(&o);
}

static void the_version_in_a_store_is_text_on_the_page(void** state) {
    (void)state;
    Outcome o = report_of(A, "8", "{\"name\": \"y\", \"expression\": \"a\"}", "");
    outcome_free(&o);
    sqlite3* db = NULL;
    assert_int_equal(sqlite3_open(at("r.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "UPDATE info SET value = '1<script>x</script>' WHERE key = "
                                  "'version'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    o = LASH("study", "report", at("r.db"), "-o", at("r.html"));
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    char* page = slurp(at("r.html"));
    assert_null(strstr(page, "<script"));
    assert_non_null(strstr(page, "lash&nbsp;1&lt;script&gt;"));
    free(page);
}

static bool has_browser(void) {
    return system("command -v chromium >/dev/null 2>&1") == 0;
}

// Opens the page headless; its document as the browser understood it goes to dom.html.
static void browse(const char* page, const char* more) {
    char command[1500];
    snprintf(command, sizeof command,
             "timeout 120 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr "
             "--user-data-dir='%s' %s 'file://%s' >'%s' 2>'%s'",
             at("profile"), more, page, at("dom.html"), at("console.txt"));
    assert_int_equal(system(command), 0);
}

static void the_page_opens_in_a_browser_without_errors(void** state) {
    (void)state;
    if (!has_browser()) skip();
    run_design("\"type\": \"saltelli\", \"samples\": 256");
    cJSON* json = report_json();
    browse(at("i.html"), "--dump-dom");
    char* console = slurp(at("console.txt"));
    if (strstr(console, "CONSOLE") != NULL) print_error("%s\n", console);
    assert_null(strstr(console, "CONSOLE"));
    char* dom = slurp(at("dom.html"));
    check_page(dom, json, 60);
    expect_sections(dom, sampled);
    assert_non_null(strstr(dom, "</svg>"));
    free(dom);
    free(console);
    cJSON_Delete(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_design_gives_a_page_whose_figures_equal_the_json_document),
        cmocka_unit_test(figures_of_the_report_are_those_of_the_samples),
        cmocka_unit_test(values_have_the_digits_that_sigma_needs_and_limits_all_theirs),
        cmocka_unit_test(shares_above_the_whole_are_explained),
        cmocka_unit_test(ranges_that_overflow_or_vanish_are_drawn),
        cmocka_unit_test(names_of_outputs_are_text_on_the_page_and_in_the_table),
        cmocka_unit_test(the_version_in_a_store_is_text_on_the_page),
        cmocka_unit_test(the_page_opens_in_a_browser_without_errors),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove();
    return failed;
}
