// docs/from_cad.md: its commands are run as they stand there, in a folder of their own, and lead to
// the answer it tells.
#include "test.h"

#include "command.h"

static char* page;

static int read_page(void** state) {
    (void)state;
    page = slurp(LASH_SOURCE_DIR "/docs/from_cad.md");
    return 0;
}

static int end(void** state) {
    free(page);
    return remove_scratch(state);
}

// Runs a line of the page in the scratch folder; what it printed is in out.txt there.
static void run_line(const char* line, size_t length) {
    char command[2000];
    snprintf(command, sizeof command, "cd '%s' && PATH='%s':\"$PATH\" %.*s >out.txt 2>err.txt",
             scratch(), LASH_BINARY_DIR, (int)length, line);
    if (system(command) == 0) return;
    char path[400];
    char* text = slurp(scratch_file("err.txt", path, sizeof path));
    fail_msg("%.*s: %s", (int)length, line, text);
}

// The line of the page that begins so.
static const char* line_of(const char* begin, size_t* length) {
    const char* at = strstr(page, begin);
    if (at == NULL) fail_msg("the page has no line '%s'", begin);
    *length = strcspn(at, "\n");
    return at;
}

static void insert(char** text, const char* mark, bool behind, const char* begin) {
    size_t length, size = strlen(*text);
    const char* line = line_of(begin, &length);
    const char* at = strstr(*text, mark);
    if (at == NULL) fail_msg("the draft has no '%s'", mark);
    size_t before = (size_t)(at - *text) + (behind ? strlen(mark) : 0);
    char* more = malloc(size + length + 2);
    assert_non_null(more);
    memcpy(more, *text, before);
    memcpy(more + before, line, length);
    more[before + length] = '\n';
    memcpy(more + before + length + 1, *text + before, size - before + 1);
    free(*text);
    *text = more;
}

static void edit(void) {
    char path[400];
    char* text = slurp(scratch_file("clamp.draft.json", path, sizeof path));
    insert(&text, "\"joints\": [\n", true, "{\"name\": \"closed\"");
    insert(&text, "  \"simulation\":", false, "\"forces\": [{\"name\": \"workpiece\"");
    insert(&text, "  \"simulation\":", false, "\"outputs\": [{\"name\": \"tip\"");
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(text);
}

static void the_commands_of_the_page_lead_to_its_answer(void** state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    if (getenv("LASH_LONG_TESTS") == NULL) skip(); // a hundred samples: a minute and a half
#endif
    char command[1000], path[400];
    snprintf(command, sizeof command, "ln -s '%s/models' '%s/models'", LASH_SOURCE_DIR, scratch());
    assert_int_equal(system(command), 0);
    static const char* const lines[] = {"lash-make-step models",
                                        "lash info clamp",
                                        "lash draft clamp.step --m",
                                        "lash view clamp.draft.json --png",
                                        "lash check clamp",
                                        "",
                                        "lash run clamp",
                                        "cp models/toggle",
                                        "lash study run clamp",
                                        "lash study report clamp"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) {
        size_t length;
        if (lines[i][0] == '\0') {
            edit();
            continue;
        }
        char begin[80];
        snprintf(begin, sizeof begin, "\n    %s", lines[i]);
        const char* line = strstr(page, begin);
        if (line == NULL) fail_msg("the page has no line '%s'", lines[i]);
        length = strcspn(line + 1, "\n");
        run_line(line + 1, length);
    }
    char* report = slurp(scratch_file("out.txt", path, sizeof path));
    static const char* const told[] = {"mean 0.05", "out of spec", "parts: arm"};
    for (int i = 0; i < 3; ++i) {
        if (strstr(report, told[i]) == NULL) fail_msg("no '%s' in %s", told[i], report);
        assert_non_null(strstr(page, told[i]));
    }
    free(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_commands_of_the_page_lead_to_its_answer),
    };
    return cmocka_run_group_tests(tests, read_page, end);
}
