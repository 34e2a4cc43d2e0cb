// The strict scanner and the JSON writer.
#include "test.h"

#include "app/cli/json_writer.h"
#include "app/cli/suggest.h"
#include "app/model/json_scan.h"
#include "core/arena.h"

static bool accepted(const char* text) {
    LashError error = {0};
    return app_json_check(text, strlen(text), &error);
}

static void valid_documents_are_accepted(void** state) {
    (void)state;
    static const char* const good[] = {"{}",
                                       "[]",
                                       "0",
                                       "-0.5e-3",
                                       "\"\\u00e9\\ud83d\\ude00\"",
                                       " [1, 2, {\"a\": null}] \n",
                                       "{\"a\": {\"a\": 1}, \"b\": {\"a\": 2}}",
                                       "1e-999",
                                       "\"\xC3\xA9\xF0\x9F\x98\x80\"",
                                       "1.7976931348623157e308"};
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
        if (!accepted(good[i])) fail_msg("refused: %s", good[i]);
    }
}

static void invalid_documents_are_refused(void** state) {
    (void)state;
    static const char* const bad[] = {"",
                                      "{",
                                      "[1,]",
                                      "{\"a\": 1,}",
                                      "{\"a\" 1}",
                                      "{a: 1}",
                                      "01",
                                      "1.",
                                      ".5",
                                      "+1",
                                      "1e",
                                      "-",
                                      "NaN",
                                      "Infinity",
                                      "tru",
                                      "nulll",
                                      "'a'",
                                      "\"a",
                                      "\"a\nb\"",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\ud800\"",
                                      "\"\\ud800\\u0041\"",
                                      "\"\\u0000\"",
                                      "{\"a\": 1, \"\\u0061\": 2}",
                                      "1 2",
                                      "1e999",
                                      "\"\xC0\xAF\"",
                                      "\"\xED\xA0\x80\"",
                                      "\"\xF5\x80\x80\x80\"",
                                      "\"\xC3\"",
                                      "\xEF\xBB\xBF{}",
                                      "\x01",
                                      "[1 2]",
                                      "{\"a\": 1 \"b\": 2}",
                                      "]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        if (accepted(bad[i])) fail_msg("accepted: %s", bad[i]);
    }
}

static void every_prefix_of_a_document_is_refused_with_a_message(void** state) {
    (void)state;
    const char* text = "{\"a\": [1, -2.5e+3, \"x\\u00e9\\n\"], \"b\": {\"c\": true, \"d\": null}}";
    for (size_t n = 0; n < strlen(text); ++n) {
        LashError error = {0};
        char* exact = malloc(n + 1); // no byte behind the end: a sanitizer sees an overrun
        memcpy(exact, text, n);
        assert_false(app_json_check(exact, n, &error));
        assert_int_equal(error.status, LASH_ERROR_MODEL);
        assert_true(strlen(error.message) > 10);
        assert_int_equal(strncmp(error.where, "line 1, column ", 15), 0);
        free(exact);
    }
}

static void nesting_is_limited(void** state) {
    (void)state;
    for (int depth = 63; depth <= 66; ++depth) {
        char text[256] = "";
        for (int i = 0; i < depth; ++i) strcat(text, "[");
        for (int i = 0; i < depth; ++i) strcat(text, "]");
        assert_int_equal(accepted(text), depth <= 64);
    }
}

static void places_are_lines_and_characters(void** state) {
    (void)state;
    const char* text =
        "{\n  \"\xC3\xA9\": 1, \"parts\": [\n    {\"x\": 5},\n    {\"two words\": [7, 8]}\n  ]\n}";
    static const struct {
        const char* path;
        int line, column;
    } cases[] = {{"", 1, 1},
                 {"[\"\xC3\xA9\"]", 2, 8},
                 {"parts", 2, 20},
                 {"parts[0]", 3, 5},
                 {"parts[0].x", 3, 11},
                 {"parts[1][\"two words\"][1]", 4, 23},
                 {"parts[0].missing", 3, 5},
                 {"nothing", 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        AppPlace place = app_json_find(text, strlen(text), cases[i].path);
        if (place.line != cases[i].line || place.column != cases[i].column) {
            fail_msg("%s: found %d:%d", cases[i].path, place.line, place.column);
        }
    }
}

static void many_keys_are_checked_quickly(void** state) {
    (void)state;
    size_t used = 0;
    char* text = malloc(4000000);
    used += (size_t)sprintf(text, "{");
    for (int i = 0; i < 200000; ++i) used += (size_t)sprintf(text + used, "\"k%d\": 1,", i);
    used += (size_t)sprintf(text + used, "\"k7\": 2}");
    LashError error = {0};
    assert_false(app_json_check(text, used, &error));
    assert_non_null(strstr(error.message, "'k7' stands twice"));
    free(text);
}

static void writer_gives_numbers_that_read_back_exactly(void** state) {
    (void)state;
    static const double numbers[] = {0.1,   1.0 / 3, 1e300, -5e-324, 0, 1234567890123456789.0,
                                     2.5e-8};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        AppJson json = {0};
        app_json_number(&json, numbers[i]);
        assert_true(strtod(json.text, NULL) == numbers[i]);
        app_json_free(&json);
    }
}

static void writer_never_emits_what_json_lacks(void** state) {
    (void)state;
    AppJson json = {0};
    app_json_begin_object(&json);
    app_json_put_number(&json, "nan", NAN);
    app_json_put_number(&json, "inf", INFINITY);
    app_json_put_text(&json, "text\"\\\n\t\x01", "\"\\\n\t\x01");
    app_json_key(&json, "list");
    app_json_begin_array(&json);
    app_json_integer(&json, -3);
    app_json_bool(&json, true);
    app_json_null(&json);
    app_json_begin_object(&json);
    app_json_end_object(&json);
    app_json_end_array(&json);
    app_json_end_object(&json);
    assert_true(accepted(json.text));
    assert_null(strstr(json.text, "nan:"));
    assert_non_null(strstr(json.text, "\"inf\": null"));
    app_json_free(&json);
}

static void the_nearest_word_is_suggested(void** state) {
    (void)state;
    char hint[64];
    AppSuggestion near = app_suggestion("lenght");
    app_suggestion_offer(&near, "mass");
    app_suggestion_offer(&near, "length");
    assert_string_equal(app_suggestion_text(&near, hint, sizeof hint), " (did you mean 'length'?)");
    near = app_suggestion("abcdef");
    app_suggestion_offer(&near, "position");
    assert_string_equal(app_suggestion_text(&near, hint, sizeof hint), "");
}

RUN(TEST(valid_documents_are_accepted), TEST(invalid_documents_are_refused),
    TEST(every_prefix_of_a_document_is_refused_with_a_message), TEST(nesting_is_limited),
    TEST(places_are_lines_and_characters), TEST(many_keys_are_checked_quickly),
    TEST(writer_gives_numbers_that_read_back_exactly), TEST(writer_never_emits_what_json_lacks),
    TEST(the_nearest_word_is_suggested))
