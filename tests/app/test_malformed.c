// Malformed models: each is refused with place and reason, and nothing the fuzzer found comes back.
#include <cjson/cJSON.h>
#include <dirent.h>
#include "test.h"

#include "command.h"
#include "tests/fuzz/load.h"

static void assert_contains(const char* text, const char* words) {
    if (strstr(text, words) != NULL) return;
    fail_msg("expected to find \"%s\" in \"%s\"", words, text);
}

// Exactly one JSON object in text; the caller deletes it.
static cJSON* one_document(const char* text) {
    const char* end = NULL;
    cJSON* document = cJSON_ParseWithOpts(text, &end, 0);
    assert_non_null(document);
    while (*end == '\n' || *end == ' ') ++end;
    assert_int_equal(*end, '\0');
    return document;
}

// One line of expected.txt: file | exit code | place | words.
static void check_bad_model(char* line, bool both) {
    char path[400];
    char* field[4] = {line, NULL, NULL, NULL};
    for (int i = 1; i < 4; ++i) {
        field[i] = strstr(field[i - 1], " | ");
        assert_non_null(field[i]);
        *field[i] = '\0';
        field[i] += 3;
    }
    snprintf(path, sizeof path, "%s/tests/data/bad/%s", LASH_SOURCE_DIR, field[0]);
    static const char* const commands[] = {"run", "check"};
    for (int i = 0; i < (both ? 2 : 1); ++i) {
        Outcome o = LASH(commands[i], path, "--json");
        if (o.code != atoi(field[1])) fail_msg("%s: exit code %d: %s", field[0], o.code, o.err);
        if (o.seconds > 10)
            fail_msg("%s took %g s", field[0], o.seconds); // < 1 s on a free machine
        assert_contains(o.err, field[2]);
        if (i == 0) assert_contains(o.err, field[3]);
        cJSON* document = one_document(o.out);
        assert_true(cJSON_IsFalse(cJSON_GetObjectItem(document, "ok")));
        cJSON* code = cJSON_GetObjectItem(cJSON_GetObjectItem(document, "error"), "code");
        assert_true(cJSON_IsNumber(code) && code->valuedouble == o.code);
        cJSON_Delete(document);
        outcome_free(&o);
    }
}

static void malformed_models_are_refused_with_place_and_reason(void** state) {
    (void)state;
    char* list = slurp(LASH_SOURCE_DIR "/tests/data/bad/expected.txt");
    int count = 0;
    char* rest = list;
    for (char* line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        if (line[0] == '#' || line[0] == '\0') continue;
        check_bad_model(line, count % 8 == 0 || strstr(line, "the start ") != NULL);
        ++count;
    }
    free(list);
    assert_true(count >= 180);
}

// Every file of the corpus has its line, and the other way round.
static void every_malformed_model_is_expected(void** state) {
    (void)state;
    char *list = slurp(LASH_SOURCE_DIR "/tests/data/bad/expected.txt"), name[300];
    DIR* folder = opendir(LASH_SOURCE_DIR "/tests/data/bad");
    assert_non_null(folder);
    for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strstr(entry->d_name, ".json") == NULL) continue;
        snprintf(name, sizeof name, "\n%s | ", entry->d_name);
        assert_contains(list, name);
    }
    closedir(folder);
    free(list);
}

// What the fuzzer does, once with every file of a folder. Returns how many there were.
static int load_folder(const char* path, int* accepted) {
    char name[600];
    int count = 0;
    DIR* folder = opendir(path);
    if (folder == NULL) return 0;
    for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strstr(entry->d_name, ".json") == NULL) continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        FILE* file = fopen(name, "rb");
        assert_non_null(file);
        static char text[1 << 16];
        size_t bytes = fread(text, 1, sizeof text, file);
        fclose(file);
        *accepted += fuzz_load(text, bytes, true);
        ++count;
    }
    closedir(folder);
    return count;
}

static void seeds_and_findings_of_the_fuzzer_pass(void** state) {
    (void)state;
    int accepted = 0;
    int bad = load_folder(LASH_SOURCE_DIR "/tests/data/bad", &accepted);
    assert_true(bad >= 180);
    assert_true(accepted <= 5); // those whose start alone is wrong
    load_folder(LASH_SOURCE_DIR "/tests/fuzz/regression", &accepted);
    accepted = 0;
    int good = load_folder(LASH_SOURCE_DIR "/models/benchmarks", &accepted) +
               load_folder(LASH_SOURCE_DIR "/models/papers", &accepted) +
               load_folder(LASH_SOURCE_DIR "/models/joints", &accepted);
    assert_true(good >= 20 && accepted >= good - 5); // a --set may not fit
}

static int clean_up(void** state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_models_are_refused_with_place_and_reason),
        cmocka_unit_test(every_malformed_model_is_expected),
        cmocka_unit_test(seeds_and_findings_of_the_fuzzer_pass),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
