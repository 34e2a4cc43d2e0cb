// Names in files are shown, never obeyed: by terminals, spreadsheets, browsers.
#include "test.h"

#include "app/cli/text.h"
#include "command.h"

static const char* at(const char* name) {
    static char path[8][300];
    static int next;
    next = (next + 1) % 8;
    return scratch_file(name, path[next], sizeof path[0]);
}

// a ball whose name holds markup, quotes, a comma, a line break, ESC, BEL and a C1 control
#define HOSTILE "a,\\\"<b>&'\\n\\u001b[31m\\u0007\\u009b\\u00e9"

static void write_model(void) {
    FILE* file = fopen(at("m.json"), "w");
    assert_non_null(file);
    fprintf(file,
            "{\"format\": \"lash-model/1\", \"name\": \"%s\", \"gravity\": [0, 0, -9.81], "
            "\"parts\": [{\"name\": \"%s\", \"shape\": {\"type\": \"sphere\", \"radius\": 0.01}, "
            "\"density\": 1000, \"pose\": {\"position\": [0, 0, 0.0101]}}], \"contacts\": "
            "[{\"name\": \"%s\", \"a\": {\"part\": \"ground\", \"plane\": {\"point\": [0, 0, 0], "
            "\"normal\": [0, 0, 1]}}, \"b\": {\"part\": \"%s\", \"sphere\": {\"radius\": "
            "0.01}}}], \"simulation\": {\"step\": 0.001, \"duration\": 0.02}, \"outputs\": "
            "[{\"name\": \"%s\", \"quantity\": \"position.z\", \"of\": \"%s\", \"when\": "
            "\"min\"}]}",
            HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE);
    fclose(file);
}

static void expect_no_controls(const char* what, const char* text) {
    for (const char* c = text; *c != '\0'; ++c) {
        bool control = ((unsigned char)*c < 0x20 && *c != '\n' && *c != '\t') || *c == 0x7F;
        bool c1 = (unsigned char)c[0] == 0xC2 && (unsigned char)c[1] < 0xA0;
        if (control || c1) print_error("%s has a control character at '%.20s'\n", what, c);
        assert_false(control || c1);
    }
}

// Fields of the CSV line at text by RFC 4180; *text moves behind it.
static int csv_fields(const char** text) {
    int count = 1;
    bool quoted = false;
    const char* c = *text;
    for (; *c != '\0' && (quoted || *c != '\n'); ++c) {
        if (*c == '"') quoted = !quoted;
        count += *c == ',' && !quoted;
    }
    assert_false(quoted);
    *text = *c == '\n' ? c + 1 : c;
    return count;
}

static void expect_table(const char* what, const char* text) {
    int columns = csv_fields(&text), rows = 0;
    while (*text != '\0') {
        assert_int_equal(csv_fields(&text), columns);
        ++rows;
    }
    if (rows == 0) print_error("%s has no rows\n", what);
    assert_true(rows > 0);
}

static void names_of_a_model_cannot_command_a_terminal(void** state) {
    (void)state;
    write_model();
    Outcome o = LASH("run", at("m.json"), "-o", at("m.h5"), "--plot", at("m.svg"));
    if (o.code != 0) print_error("%s\n", o.err);
    assert_int_equal(o.code, 0);
    expect_no_controls("stdout", o.out);
    assert_non_null(
        strstr(o.out, "\\x1b[31m\\x07\\xc2\\x9b\xC3\xA9")); // the e with its accent stays
    outcome_free(&o);
    o = LASH("check", at("m.json"));
    expect_no_controls("check", o.out);
    expect_no_controls("check", o.err);
    outcome_free(&o);
    o = LASH("run", "\x1b[31mno\nsuch file.json");
    assert_int_equal(o.code, 7);
    expect_no_controls("stderr", o.err);
    assert_non_null(strstr(o.err, "\\x1b[31mno\\x0asuch file.json"));
    outcome_free(&o);
    o = LASH("\x1b[31mrun");
    assert_int_equal(o.code, 2);
    expect_no_controls("stderr", o.err);
    outcome_free(&o);
}

static void names_are_whole_fields_of_every_table(void** state) {
    (void)state;
    write_model();
    Outcome o = LASH("run", at("m.json"), "-o", at("m.h5"));
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    const char* kinds[] = {"--frames=0", "--events", "--points"};
    for (int i = 0; i < 3; ++i) {
        o = LASH("export", "--csv", kinds[i], at("m.h5"), at("m.csv"));
        if (o.code != 0) print_error("%s\n", o.err);
        assert_int_equal(o.code, 0);
        char* text = slurp(at("m.csv"));
        expect_no_controls(kinds[i], text);
        expect_table(kinds[i], text);
        assert_non_null(strstr(text, "\"a,\"\"<b>&'\\x0a\\x1b[31m"));
        free(text);
        outcome_free(&o);
    }
}

static void a_plot_is_xml_whatever_the_names(void** state) {
    (void)state;
    write_model();
    Outcome o = LASH("run", at("m.json"), "-o", at("m.h5"), "--plot", at("m.svg"));
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    char* text = slurp(at("m.svg"));
    expect_no_controls("plot", text);
    assert_null(strstr(text, "<b>"));
    assert_non_null(strstr(text, "a,&quot;&lt;b&gt;&amp;&#39;\\x0a\\x1b[31m"));
    free(text);
}

static void only_good_characters_are_shown_as_they_are(void** state) {
    (void)state;
    static const char* const pairs[][2] = {{"plain", "plain"},
                                           {"\xC3\xA9", "\xC3\xA9"},
                                           {"\xC2\x85", "\\xc2\\x85"},
                                           {"\xFFx", "\\xffx"},
                                           {"\xC3", "\\xc3"},
                                           {"\xE2\x82\xAC", "\xE2\x82\xAC"},
                                           {"\xED\xA0\x80", "\\xed\\xa0\\x80"},
                                           {"\x7F\t\r", "\\x7f\\x09\\x0d"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        const char* text = pairs[i][0];
        char all[100] = "";
        for (size_t k = 0; k < strlen(text);) {
            char shown[APP_TEXT_SHOWN];
            k += app_text_show(text + k, strlen(text) - k, shown);
            strcat(all, shown);
        }
        assert_string_equal(all, pairs[i][1]);
    }
    assert_true(app_utf8_valid("\xC3\xA9", 2));
    assert_false(app_utf8_valid("\xC3\xA9", 1));
    assert_false(app_utf8_valid("a\0b", 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_a_model_cannot_command_a_terminal),
        cmocka_unit_test(names_are_whole_fields_of_every_table),
        cmocka_unit_test(a_plot_is_xml_whatever_the_names),
        cmocka_unit_test(only_good_characters_are_shown_as_they_are),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove();
    return failed;
}
