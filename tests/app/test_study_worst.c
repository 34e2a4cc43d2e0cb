// lash study worst: known corners, never better than the worst sample, the same points for any number
// of processes and after an interruption, and what a report makes of them.
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

#define PARAMETERS                                                                       \
    "{\"name\": \"a\", \"distribution\": \"uniform\", \"low\": -1, \"high\": 1}, "       \
    "{\"name\": \"b\", \"distribution\": \"truncated-normal\", \"mean\": 2, \"sigma\": " \
    "0.3, \"low\": 1, \"high\": 3}, "                                                    \
    "{\"name\": \"c\", \"distribution\": \"triangular\", \"low\": 0, \"mode\": 1, "      \
    "\"high\": 4}, {\"name\": \"d\", \"distribution\": \"discrete\", \"values\": [1, 5, 3]}"

static void make_store(const char* store, const char* parameters, const char* outputs) {
    FILE* file = fopen(at("w.study.json"), "w");
    assert_non_null(file);
    fprintf(file,
            "{\"format\": \"lash-study/1\", \"model\": null, \"parameters\": [%s], \"design\": "
            "{\"type\": \"sobol\", \"samples\": 64}, \"outputs\": [%s]}",
            parameters, outputs);
    fclose(file);
    remove(store);
    Outcome o = LASH("study", "run", at("w.study.json"), "-o", store, "-j", "1");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
}

static cJSON* search(const char* store, const char* jobs, const char* points) {
    Outcome o = points != NULL
                    ? LASH("study", "worst", store, "-j", jobs, "--points", points, "--json")
                    : LASH("study", "worst", store, "-j", jobs, "--json");
    if (o.code != 0) print_error("code %d, %s", o.code, o.err);
    assert_int_equal(o.code, 0);
    cJSON* json = cJSON_Parse(o.out);
    assert_non_null(json);
    outcome_free(&o);
    return json;
}

static double number_of(const cJSON* object, const char* key) {
    const cJSON* item = cJSON_GetObjectItem(object, key);
    assert_non_null(item);
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

static void known_corners_are_found(void** state) {
    (void)state;
    static const struct {
        const char* expression;
        double high, low; // over the box
    } known[] = {
        {"a - 2*b + 0.5*c + d", 1 - 2 + 2 + 5, -1 - 6 + 0 + 1},
        {"a*b*c", 12, -12},
        {"a*(b - 2)*(c - 2) + 0.1*a", 2.1, -2.1},
        {"-(a - 0.25)^2 - (b - 1.5)^2 + c", 4, -(1.25 * 1.25) - 2.25},
        {"exp(a)*sqrt(c) - d^2", 2.718281828459045 * 2 - 1, -25},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        char output[200];
        snprintf(output, sizeof output, "{\"name\": \"y\", \"expression\": \"%s\"}",
                 known[i].expression);
        make_store(at("k.db"), PARAMETERS, output);
        cJSON* json = search(at("k.db"), "2", NULL);
        const cJSON* cases = cJSON_GetObjectItem(json, "worst_cases");
        assert_int_equal(cJSON_GetArraySize(cases), 2); // no limits: both ends
        const double expected[] = {known[i].high, known[i].low};
        for (int k = 0; k < 2; ++k) {
            const cJSON* one = cJSON_GetArrayItem(cases, k);
            double value = number_of(one, "value");
            if (!(fabs(value - expected[k]) <
                  2e-3)) // an extremum inside is met to 1/32 of the zone
                print_error("%s: %.17g, expected %.17g\n", known[i].expression, value, expected[k]);
            assert_true(fabs(value - expected[k]) < 2e-3);
            if (i < 3) assert_true(fabs(value - expected[k]) < 1e-12);
            assert_true(cJSON_IsTrue(cJSON_GetObjectItem(one, "complete")));
        }
        cJSON_Delete(json);
    }
}

// Rough functions, on which a local search finds no corner: what it tells is still at least as bad
// as every sample, and inside the box.
static void it_is_never_better_than_the_worst_sample(void** state) {
    (void)state;
    for (int i = 1; i <= 12; ++i) {
        char output[300];
        snprintf(output, sizeof output,
                 "{\"name\": \"y\", \"expression\": \"sin(%d*a)*cos(%d*b) + sin(%d*c*b) + "
                 "0.3*sin(40*a*c) + 0.1*d\", \"usl\": 1, \"lsl\": -1}",
                 3 * i, 5 * i, i);
        make_store(at("r.db"), PARAMETERS, output);
        cJSON* json = search(at("r.db"), "2", i % 2 == 0 ? "15" : NULL);
        const cJSON* one;
        cJSON_ArrayForEach(one, cJSON_GetObjectItem(json, "worst_cases")) {
            double value = number_of(one, "value"), sample = number_of(one, "worst_sample_value");
            bool high = strcmp(cJSON_GetObjectItem(one, "side")->valuestring, "high") == 0;
            assert_true(high ? value >= sample : value <= sample);
            const cJSON* x = cJSON_GetObjectItem(one, "at");
            assert_true(fabs(number_of(x, "a")) <= 1);
            assert_true(number_of(x, "b") >= 1 && number_of(x, "b") <= 3);
            assert_true(number_of(x, "c") >= 0 && number_of(x, "c") <= 4);
        }
        cJSON_Delete(json);
    }
}

static char* dump(const char* store) {
    Outcome o = LASH("study", "dump", store, "--canonical");
    assert_int_equal(o.code, 0);
    char* text = o.out;
    o.out = NULL;
    outcome_free(&o);
    return text;
}

#define ROUGH "{\"name\": \"y\", \"expression\": \"sin(9*a)*b + c*d - a*c\", \"usl\": 1}"

static void any_number_of_processes_and_any_interruption_give_the_same_points(void** state) {
    (void)state;
    make_store(at("one.db"), PARAMETERS, ROUGH);
    make_store(at("four.db"), PARAMETERS, ROUGH);
    make_store(at("parts.db"), PARAMETERS, ROUGH);
    cJSON_Delete(search(at("one.db"), "1", NULL));
    cJSON_Delete(search(at("four.db"), "4", NULL));
    static const char* const budget[] = {"1", "7", "8", "23", NULL};
    for (int i = 0; i < 5; ++i) cJSON_Delete(search(at("parts.db"), "2", budget[i]));
    char *one = dump(at("one.db")), *four = dump(at("four.db")), *parts = dump(at("parts.db"));
    assert_non_null(strstr(one, "\nworst 0 ok"));
    assert_string_equal(one, four);
    assert_string_equal(one, parts);
    free(one);
    free(four);
    free(parts);
}

static void a_search_that_is_killed_goes_on(void** state) {
    (void)state;
    make_store(at("kill.db"), PARAMETERS, ROUGH);
    make_store(at("whole.db"), PARAMETERS, ROUGH);
    for (int i = 0; i < 6; ++i) {
        pid_t child =
            start_command(&(Command){.argument = {"study", "worst", at("kill.db"), NULL}});
        const struct timespec pause = {.tv_nsec = 8000000L * (i + 1)};
        nanosleep(&pause, NULL);
        kill(child, i % 2 == 0 ? SIGKILL : SIGINT);
        waitpid(child, NULL, 0);
    }
    cJSON_Delete(search(at("kill.db"), "2", NULL));
    cJSON_Delete(search(at("whole.db"), "2", NULL));
    char *killed = dump(at("kill.db")), *whole = dump(at("whole.db"));
    assert_string_equal(killed, whole);
    free(killed);
    free(whole);
}

static void the_report_tells_it_apart_from_the_statistics(void** state) {
    (void)state;
    make_store(at("p.db"), PARAMETERS,
               "{\"name\": \"y\", \"expression\": \"a + b\", \"usl\": 3.5}");
    Outcome o = LASH("study", "report", at("p.db"), "-o", at("p.html"));
    assert_null(strstr(o.out, "worst case"));
    outcome_free(&o);
    cJSON_Delete(search(at("p.db"), "2", NULL));
    o = LASH("study", "report", at("p.db"), "-o", at("p.html"));
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.out, "worst case, high end (no statistic): 4;"));
    outcome_free(&o);
    char* page = slurp(at("p.html"));
    assert_non_null(strstr(page, "Worst case, high end: no statistic"));
    assert_non_null(strstr(page, "not how often"));
    assert_non_null(strstr(page, "data-key=\"y.worst_case.high.value\" data-value=\"4\""));
    assert_null(strstr(page, "Worst case, low end"));
    free(page);
}

static void points_are_kept_by_merge(void** state) {
    (void)state;
    make_store(at("one.db"), PARAMETERS, ROUGH);
    make_store(at("two.db"), PARAMETERS, ROUGH);
    cJSON_Delete(search(at("one.db"), "2", "9"));
    cJSON_Delete(search(at("two.db"), "2", "30"));
    remove(at("both.db"));
    Outcome o = LASH("study", "merge", at("one.db"), at("two.db"), "-o", at("both.db"));
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    char *two = dump(at("two.db")), *both = dump(at("both.db")); // the same search, once
    assert_string_equal(two, both);
    free(two);
    free(both);
}

static void wrong_calls_and_tampered_points_are_refused(void** state) {
    (void)state;
    make_store(at("t.db"), PARAMETERS, ROUGH);
    Outcome o = LASH("study", "worst", at("t.db"), "--of", "z");
    assert_int_equal(o.code, 2);
    assert_non_null(strstr(o.err, "no output 'z'"));
    outcome_free(&o);
    o = LASH("study", "worst", at("t.db"), "--points", "0");
    assert_int_equal(o.code, 2);
    outcome_free(&o);
    cJSON_Delete(search(at("t.db"), "2", "9"));
    static const char* const harm[] = {
        "UPDATE worst SET parameters = '[1, 2]' WHERE id = 3",
        "UPDATE worst SET parameters = '[1, 2, 3, 1]', status = 'fine' WHERE id = 3",
        "UPDATE worst SET status = 'ok', id = 90 WHERE id = 3",
    };
    for (size_t i = 0; i < sizeof harm / sizeof *harm; ++i) {
        sqlite3* db = NULL;
        assert_int_equal(sqlite3_open(at("t.db"), &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, harm[i], NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        o = LASH("study", "report", at("t.db"), "-o", at("t.html"));
        assert_int_equal(o.code, 7);
        assert_non_null(strstr(o.err, "of the worst case"));
        outcome_free(&o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_corners_are_found),
        cmocka_unit_test(it_is_never_better_than_the_worst_sample),
        cmocka_unit_test(any_number_of_processes_and_any_interruption_give_the_same_points),
        cmocka_unit_test(a_search_that_is_killed_goes_on),
        cmocka_unit_test(the_report_tells_it_apart_from_the_statistics),
        cmocka_unit_test(points_are_kept_by_merge),
        cmocka_unit_test(wrong_calls_and_tampered_points_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
