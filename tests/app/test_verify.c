// lash verify: fast claims through the program itself, its JSON, its exit codes.
#include <cjson/cJSON.h>
#include "test.h"

#include "app/verify/verify_internal.h"
#include "tests/command.h"

static cJSON* document_of(const char* text) {
    const char* end = NULL;
    cJSON* document = cJSON_ParseWithOpts(text, &end, 0);
    assert_non_null(document);
    assert_true(strspn(end, " \n") == strlen(end)); // nothing behind it
    assert_string_equal(cJSON_GetObjectItem(document, "command")->valuestring, "verify");
    return document;
}

static const char* text_of(const cJSON* object, const char* key) {
    const cJSON* item = cJSON_GetObjectItem(object, key);
    assert_true(cJSON_IsString(item));
    return item->valuestring;
}

static void fast_claims_pass_and_fill_their_rows(void** state) {
    (void)state;
    Outcome o = LASH("verify", "--json", "A-03", "A-06", "a-11", "A-15", "A-18", "A-19", "A-21",
                     "A-36", "A-37", "A-44", "A-46", "A-50");
    if (o.code != 0) print_error("%s%s", o.out, o.err);
    assert_int_equal(o.code, 0);
    cJSON* d = document_of(o.out);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(d, "ok")));
    assert_int_equal(cJSON_GetObjectItem(d, "passed")->valueint, 12);
    assert_int_equal(cJSON_GetObjectItem(d, "failed")->valueint, 0);
    const cJSON *claims = cJSON_GetObjectItem(d, "claims"), *claim;
    assert_int_equal(cJSON_GetArraySize(claims), 12);
    cJSON_ArrayForEach(claim, claims) {
        static const char* const keys[] = {"id", "paper", "title", "expected", "got", "criterion"};
        for (size_t i = 0; i < 6; ++i) assert_true(strlen(text_of(claim, keys[i])) > 0);
        assert_true(cJSON_IsTrue(cJSON_GetObjectItem(claim, "pass")));
    }
    assert_string_equal(text_of(cJSON_GetArrayItem(claims, 2), "id"), "A-11");
    assert_non_null(strstr(text_of(cJSON_GetArrayItem(claims, 3), "got"), "2.0080"));
    assert_non_null(strstr(text_of(cJSON_GetArrayItem(claims, 3), "note"), "tie"));
    cJSON_Delete(d);
    outcome_free(&o);
}

static void text_shows_paper_and_ours_side_by_side(void** state) {
    (void)state;
    Outcome o = LASH("verify", "A-37");
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.out, "A-37  pass"));
    assert_non_null(strstr(o.out, "l1 150 - l2 75 = 0"));
    assert_non_null(strstr(o.out, "1 passed, 0 failed"));
    assert_string_equal(o.err, "");
    outcome_free(&o);
}

static void list_names_every_claim_without_running_it(void** state) {
    (void)state;
    Outcome o = LASH("verify", "--list");
    Outcome json = LASH("verify", "--list", "--json");
    assert_int_equal(o.code, 0);
    assert_int_equal(json.code, 0);
    static const struct {
        char paper;
        int claims;
    } papers[] = {{'A', 50}, {'B', 29}, {'C', 16}, {'D', 17}, {'E', 17}};
    for (size_t p = 0; p < sizeof papers / sizeof *papers; ++p) {
        for (int k = 1; k <= papers[p].claims; ++k) {
            char id[24];
            snprintf(id, sizeof id, "%c-%02d  ", papers[p].paper, k);
            if (strstr(o.out, id) == NULL) fail_msg("%s", id);
            snprintf(id, sizeof id, "\"id\": \"%c-%02d\"", papers[p].paper, k);
            if (strstr(json.out, id) == NULL) fail_msg("%s", id);
        }
    }
    outcome_free(&o);
    outcome_free(&json);
}

static void report_is_one_page_with_pictures(void** state) {
    (void)state;
    char path[300];
    snprintf(path, sizeof path, "%s/verify_report.html", LASH_BINARY_DIR);
    Outcome o = LASH("verify", "--report", path, "C-08", "A-49");
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.out, "1 passed, 0 failed, 1 not tested"));
    outcome_free(&o);
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    static char page[1 << 20];
    size_t n = fread(page, 1, sizeof page - 1, file);
    page[n] = '\0';
    fclose(file);
    remove(path);
    static const char* const parts[] = {"<!doctype html>", "id='C-08'",  "<svg",   "polyline",
                                        "604 and 1636",    "not tested", "</html>"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        assert_non_null(strstr(page, parts[i]));
    o = LASH("verify", "--report", "/nowhere/at/all.html", "A-50");
    assert_int_equal(o.code, 7);
    outcome_free(&o);
}

static void an_unknown_claim_gets_a_suggestion(void** state) {
    (void)state;
    Outcome o = LASH("verify", "A-388");
    assert_int_equal(o.code, 2);
    assert_non_null(strstr(o.err, "A-38"));
    assert_string_equal(o.out, "");
    outcome_free(&o);
    o = LASH("verify", "--json", "B38");
    assert_int_equal(o.code, 2);
    cJSON* d = document_of(o.out);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(d, "ok")));
    assert_int_equal(cJSON_GetObjectItem(cJSON_GetObjectItem(d, "error"), "code")->valueint, 2);
    cJSON_Delete(d);
    outcome_free(&o);
}

// ---- A claim that fails -------------------------------------------------------------------------

static void holds(Verdict* verdict) {
    verdict_range(verdict, "x", 1, 0, 2);
}
static void fails_in_one_part(Verdict* verdict) {
    verdict_range(verdict, "x", 1, 0, 2);
    verdict_range(verdict, "y", 3, 0, 2);
    verdict_range(verdict, "z", 1, 0, 2);
}
static void is_not_a_number(Verdict* verdict) {
    verdict_range(verdict, "x", 0.0 / (verdict->pass ? 0.0 : 1.0), -1e300, 1e300);
}

static void a_failing_claim_gives_exit_code_6(void** state) {
    (void)state;
    static const Claim claims[] = {
        {"T-01", "here", "holds", "1", "0 .. 2", NULL, false, holds},
        {"T-02", "here", "fails", "1", "0 .. 2", NULL, false, fails_in_one_part},
        {"T-03", "here", "slow and not a number", "1", "0 .. 2", NULL, true, is_not_a_number}};
    const ClaimTable table = {"a test", claims, 3};
    char name[] = "verify", all[] = "--all", first[] = "T-01", third[] = "t-03";
    assert_int_equal(verify_tables(&table, 1, 1, (char*[]){name, NULL}), 6);
    assert_int_equal(verify_tables(&table, 1, 2, (char*[]){name, first, NULL}), 0);
    assert_int_equal(verify_tables(&table, 1, 2, (char*[]){name, third, NULL}), 6);
    assert_int_equal(verify_tables(&table, 1, 3, (char*[]){name, all, first, NULL}), 0);
    Verdict verdict = {.pass = true};
    fails_in_one_part(&verdict);
    assert_false(verdict.pass);
    assert_string_equal(verdict.got, "x 1; y 3; z 1");
}

static void long_results_are_cut_not_overrun(void** state) {
    (void)state;
    Verdict verdict = {.pass = true};
    for (int k = 0; k < 200; ++k) verdict_add(&verdict, true, "part number %d", k);
    assert_true(strlen(verdict.got) < sizeof verdict.got);
    assert_true(verdict.pass);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_claims_pass_and_fill_their_rows),
        cmocka_unit_test(text_shows_paper_and_ours_side_by_side),
        cmocka_unit_test(list_names_every_claim_without_running_it),
        cmocka_unit_test(report_is_one_page_with_pictures),
        cmocka_unit_test(an_unknown_claim_gets_a_suggestion),
        cmocka_unit_test(a_failing_claim_gives_exit_code_6),
        cmocka_unit_test(long_results_are_cut_not_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
