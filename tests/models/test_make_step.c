// The part generator: what its parameter files may say, and what it answers to mistakes.
#include <sys/wait.h>
#include "test.h"

#include "geometry/select.h"
#include "tests/cad_parts.h"

static CadFolder folder;

static int set_up(void** state) {
    (void)state;
    folder = cad_folder();
    return 0;
}

static int tear_down(void** state) {
    (void)state;
    cad_remove_all(folder.path);
    return 0;
}

// Runs the generator on a text; returns the exit code and its message.
static int run(const char* json, const char* options, char** message) {
    char file[700], step[700], text[700], command[3200];
    snprintf(file, sizeof file, "%s/part.json", folder.path);
    snprintf(step, sizeof step, "%s/part.step", folder.path);
    snprintf(text, sizeof text, "%s/message", folder.path);
    cad_write(file, json, strlen(json));
    unlink(step);
    snprintf(command, sizeof command, "'%s/lash-make-step' '%s' '%s' %s 2> '%s'", LASH_BINARY_DIR,
             file, step, options, text);
    int status = system(command);
    size_t n;
    *message = cad_read(text, &n);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void mistakes_are_told_with_their_key(void** state) {
    (void)state;
    static const char* const cases[][2] = {
        {"{", "JSON"},
        {"{\"format\": \"other\"}", "lash-step/1"},
        {"{\"format\": \"lash-step/1\", \"steps\": []}", "steps"},
        {"{\"format\": \"lash-step/1\", \"colour\": 1, \"steps\": []}", "colour"},
        {"{\"format\": \"lash-step/1\", \"steps\": [{\"box\": {\"size\": [1, 2]}}]}",
         "steps[0].box.size"},
        {"{\"format\": \"lash-step/1\", \"steps\": [{\"box\": {\"size\": [1, 2, -3]}}]}",
         "positive"},
        {"{\"format\": \"lash-step/1\", \"steps\": [{\"cylinder\": {\"radius\": \"r + 1\", "
         "\"length\": 1}}]}",
         "steps[0].cylinder.radius"},
        {"{\"format\": \"lash-step/1\", \"steps\": [{\"extrude\": {\"profile\": {\"path\": "
         "[{\"start\": [0, 0]}, {\"line\": [1, 0]}, {\"line\": [1, 1]}]}, \"length\": 1}}]}",
         "not closed"},
        {"{\"format\": \"lash-step/1\", \"steps\": [{\"box\": {\"size\": [1, 1, 1]}}, {\"do\": "
         "\"cut\", \"box\": {\"size\": [3, 3, 3], \"centered\": true}}]}",
         "nothing is left"},
        {"{\"format\": \"lash-step/1\", \"steps\": [{\"box\": {\"size\": [1, 1, 1]}}, {\"fillet\": "
         "{\"radius\": 9, \"edges\": [[0, 0, 0.5]]}}]}",
         "fit"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char* message;
        int code = run(cases[i][0], "", &message);
        if (code != 3 && code != 4) fail_msg("%s: exit code %d", cases[i][0], code);
        if (strstr(message, cases[i][1]) == NULL && code == 3)
            fail_msg("'%s' expected in '%s'", cases[i][1], message);
        free(message);
    }
}

static void parameters_may_be_set_from_outside(void** state) {
    (void)state;
    char *message, step[700];
    snprintf(step, sizeof step, "%s/part.step", folder.path);
    static const char json[] =
        "{\"format\": \"lash-step/1\", \"parameters\": {\"r\": 3, \"play\": 0.02, \"bore\": \"r + "
        "play\"}, \"steps\": [{\"cylinder\": {\"radius\": \"2 * bore\", \"length\": 5}}]}";
    static const struct {
        const char* options;
        double radius;
    } cases[] = {{"", 6.04e-3}, {"--set r=5", 10.04e-3}, {"--set r=5 --set play=0", 10e-3}};
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(run(json, cases[i].options, &message), 0);
        free(message);
        LashFaceQuery q = lash_face_query();
        q.type = LASH_CYLINDER;
        int face;
        LashShape* s = lash_shape_load(step, NULL, NULL);
        assert_true(lash_select_query(s, 0, &q, &face, NULL));
        assert_true(fabs(s->face[face].radius - cases[i].radius) < 1e-12);
        lash_shape_destroy(s);
    }
}

// Slots, locking arcs and pins: the parts of a Geneva drive, by repetition and names.
static void a_geneva_wheel_has_its_named_faces(void** state) {
    (void)state;
    LashShape* s = cad_part(
        &folder, "wheel",
        "{\"extrude\": {\"profile\": {\"outer\": {\"circle\": {\"radius\": 40}, \"name\": "
        "\"rim\"}, "
        "\"holes\": [{\"circle\": {\"radius\": 5}, \"name\": \"bore\"}]}, \"length\": 6}}, "
        "{\"do\": \"cut\", \"extrude\": {\"profile\": {\"slot\": {\"from\": [18, 0], \"to\": [60, "
        "0], "
        "\"radius\": 3}, \"name\": \"slot\"}, \"length\": 6}, \"repeat\": {\"count\": 4, "
        "\"angle\": "
        "90}}, {\"do\": \"cut\", \"cylinder\": {\"radius\": 30, \"length\": 6, \"side\": "
        "\"lock\"}, "
        "\"at\": [40, 40, 0], \"repeat\": {\"count\": 4, \"angle\": 90}}",
        "");
    static const struct {
        const char* name;
        int count;
    } expected[] = {{"rim", 8}, {"bore", 1}, {"slot", 12}, {"lock", 4}};
    assert_true(s->part[0].closed && s->part[0].valid);
    for (int i = 0; i < 4; ++i) {
        int rows[32];
        assert_int_equal(lash_select_name(s, 0, expected[i].name, rows, 32, NULL),
                         expected[i].count);
    }
    lash_shape_destroy(s);
}

// A full turn: also of faces about which OpenCASCADE's history is silent, also when they are cut.
static void revolved_faces_keep_their_names(void** state) {
    (void)state;
    LashShape* s = cad_part(
        &folder, "pulley",
        "{\"revolve\": {\"profile\": {\"outer\": {\"path\": [{\"start\": [5, -4]}, {\"line\": [20, "
        "-4], \"name\": \"low\"}, {\"line\": [20, 4], \"name\": \"tread\"}, {\"line\": [5, 4], "
        "\"name\": \"high\"}, {\"close\": true, \"name\": \"hub\"}]}, \"holes\": [{\"circle\": "
        "{\"center\": [12, 0], \"radius\": 2}, \"name\": \"channel\"}]}}}, {\"do\": \"cut\", "
        "\"cylinder\": {\"radius\": 1, \"length\": 60}, \"axis\": [1, 0, 0], \"name\": \"drill\"}",
        "");
    static const struct {
        const char* name;
        int count;
        LashSurfaceType type;
    } expected[] = {{"low", 1, LASH_PLANE},     {"tread", 1, LASH_CYLINDER},
                    {"high", 1, LASH_PLANE},    {"hub", 1, LASH_CYLINDER},
                    {"channel", 1, LASH_TORUS}, {"drill", 2, LASH_CYLINDER}};
    assert_true(s->part[0].closed && s->part[0].valid);
    for (int i = 0; i < 6; ++i) {
        int rows[32];
        assert_int_equal(lash_select_name(s, 0, expected[i].name, rows, 32, NULL),
                         expected[i].count);
        assert_int_equal(s->face[rows[0]].type, expected[i].type);
    }
    lash_shape_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_told_with_their_key),
        cmocka_unit_test(parameters_may_be_set_from_outside),
        cmocka_unit_test(a_geneva_wheel_has_its_named_faces),
        cmocka_unit_test(revolved_faces_keep_their_names),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
