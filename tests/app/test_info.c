// lash info: the JSON document scripts rely on, the table, warnings and exit codes.
#include <cjson/cJSON.h>
#include <fcntl.h>
#include "test.h"

#include "app/check/info.h"
#include "tests/cad_parts.h"

static CadFolder folder;
static char step[700], small[700];

static int set_up(void** state) {
    (void)state;
    folder = cad_folder();
    snprintf(
        step, sizeof step, "%s",
        cad_make(
            &folder, "plate",
            "{\"format\": \"lash-step/1\", \"name\": \"plate \\\"A\\\"\", \"color\": [1, 0, 0], "
            "\"steps\": [{\"box\": {\"size\": [10, 20, 30]}}, {\"do\": \"cut\", \"cylinder\": "
            "{\"radius\": 2, \"length\": 30}, \"at\": [5, 5, 0], \"name\": \"bore\"}]}"));
    snprintf(small, sizeof small, "%s",
             cad_make(&folder, "small",
                      "{\"format\": \"lash-step/1\", \"name\": \"small\", \"steps\": [{\"box\": "
                      "{\"size\": [0.1, 0.2, 0.3]}}]}"));
    return 0;
}

static int tear_down(void** state) {
    (void)state;
    cad_remove_all(folder.path);
    return 0;
}

// Runs the command with standard output and error in files; the caller frees both texts.
static int run(const char* const* arguments, char** out, char** err) {
    char* argv[12] = {"info"};
    int argc = 1;
    while (arguments[argc - 1] != NULL) {
        argv[argc] = (char*)arguments[argc - 1];
        ++argc;
    }
    char path[2][700];
    int kept[2];
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; ++i) {
        snprintf(path[i], sizeof path[i], "%s/stream%d", folder.path, i);
        kept[i] = dup(i + 1);
        int file = open(path[i], O_CREAT | O_TRUNC | O_WRONLY, 0600);
        dup2(file, i + 1);
        close(file);
    }
    int code = app_info(argc, argv);
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; ++i) {
        dup2(kept[i], i + 1);
        close(kept[i]);
    }
    size_t n;
    *out = cad_read(path[0], &n);
    *err = cad_read(path[1], &n);
    return code;
}

static const cJSON* get(const cJSON* object, const char* key) {
    const cJSON* item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (item == NULL) fail_msg("key %s is missing", key);
    return item;
}

static double number(const cJSON* list, int i) {
    return cJSON_GetArrayItem(list, i)->valuedouble;
}

// The axis of a plane of a box: does it point from the middle of the part to the face?
static bool is_outward(const cJSON* part, const cJSON* face) {
    const cJSON *low = cJSON_GetArrayItem(get(face, "box"), 0), *center = get(part, "center");
    const cJSON *high = cJSON_GetArrayItem(get(face, "box"), 1), *axis = get(face, "axis");
    double along = 0;
    for (int i = 0; i < 3; ++i)
        along += number(axis, i) * (0.5 * (number(low, i) + number(high, i)) - number(center, i));
    return along > 1e-3;
}

static void json_has_the_promised_keys(void** state) {
    (void)state;
    char *out, *err;
    assert_int_equal(run((const char*[]){step, "--json", "--edges", NULL}, &out, &err), 0);
    cJSON* root = cJSON_Parse(out);
    assert_non_null(root);
    assert_true(cJSON_IsTrue(get(root, "ok")));
    assert_string_equal(get(root, "command")->valuestring, "info");
    assert_string_equal(get(get(root, "units"), "declared")->valuestring, "millimetre");
    const cJSON* part = cJSON_GetArrayItem(get(root, "parts"), 0);
    assert_string_equal(get(part, "name")->valuestring, "plate \"A\"");
    assert_true(fabs(get(part, "volume")->valuedouble - (6e-6 - LASH_PI * 4e-6 * 30e-3)) < 1e-17);
    assert_int_equal(cJSON_GetArraySize(get(part, "center")), 3);
    assert_int_equal(cJSON_GetArraySize(get(part, "inertia")), 3);
    assert_int_equal(get(part, "solids")->valueint, 1);
    assert_int_equal(cJSON_GetArraySize(get(part, "faces")), 7);
    int bores = 0;
    const cJSON* face;
    cJSON_ArrayForEach(face, get(part, "faces")) {
        get(face, "index");
        get(face, "axis");
        get(face, "box");
        get(face, "area");
        const cJSON* name = get(face, "name");
        if (strcmp(get(face, "type")->valuestring, "plane") == 0) {
            assert_int_equal(get(face, "side")->valueint, 1);
            assert_true(is_outward(part, face));
        }
        if (!cJSON_IsString(name)) continue;
        assert_string_equal(name->valuestring, "bore");
        assert_string_equal(get(face, "type")->valuestring, "cylinder");
        assert_true(fabs(get(face, "radius")->valuedouble - 2e-3) < 1e-15);
        ++bores;
    }
    assert_int_equal(bores, 1);
    cJSON_Delete(root);
    free(out);
    free(err);
}

static void the_table_lists_faces_and_warns(void** state) {
    (void)state;
    char *out, *err;
    assert_int_equal(run((const char*[]){small, NULL}, &out, &err), 0);
    assert_non_null(strstr(out, "plane"));
    assert_non_null(strstr(err, "metre numbers under a millimetre header"));
    free(out);
    free(err);
    assert_int_equal(run((const char*[]){small, "--scale", "1", NULL}, &out, &err), 0);
    assert_string_equal(err, "");
    assert_non_null(strstr(out, "overridden"));
    free(out);
    free(err);
    assert_int_equal(run((const char*[]){step, NULL}, &out, &err), 0);
    assert_non_null(strstr(out, "bore"));
    assert_non_null(strstr(out, "inner"));
    free(out);
    free(err);
}

static void mistakes_have_their_exit_codes(void** state) {
    (void)state;
    char bad[700], *out, *err;
    snprintf(bad, sizeof bad, "%s/bad.step", folder.path);
    cad_write(bad, "hello", 5);
    static const struct {
        int code;
        const char* message;
    } expected[] = {{4, "ISO-10303-21"},
                    {7, "cannot open"},
                    {2, "--scale"},
                    {2, "unknown option"},
                    {2, ""},
                    {2, "--cad-seconds"},
                    {4, "of processor time"}};
    const char* const cases[][4] = {{bad, "--json", NULL},
                                    {"/nowhere.step", "--json", NULL},
                                    {step, "--scale", "banana", NULL},
                                    {step, "--colour", NULL},
                                    {NULL},
                                    {step, "--cad-seconds", "0", NULL},
                                    {step, "--no-cache", "--cad-seconds=1e-3", NULL}};
    for (int i = 0; i < 7; ++i) {
        assert_int_equal(run(cases[i], &out, &err), expected[i].code);
        assert_non_null(strstr(err, expected[i].message));
        if (i < 2) {
            cJSON* root = cJSON_Parse(out);
            assert_non_null(root);
            assert_true(cJSON_IsFalse(get(root, "ok")));
            assert_int_equal(get(get(root, "error"), "code")->valueint, expected[i].code);
            cJSON_Delete(root);
        }
        free(out);
        free(err);
    }
    assert_int_equal(run((const char*[]){"-h", NULL}, &out, &err), 0);
    assert_non_null(strstr(out, "usage: lash info"));
    free(out);
    free(err);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_has_the_promised_keys),
        cmocka_unit_test(the_table_lists_faces_and_warns),
        cmocka_unit_test(mistakes_have_their_exit_codes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
