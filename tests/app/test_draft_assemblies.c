// lash draft on whole assemblies (tests/data/assemblies), each with its model written by hand: every
// joint found, none false, axes, plays and types right, fasteners and pressed pins welded; with
// ideal joints and the loads of the model written by hand both give the same motion. Drawn at
// nominal size every joint asks for its play, and with a fit it runs.
#include "test.h"

#include <cjson/cJSON.h>
#include <stdarg.h>

#include "app/lash.h"
#include "core/math3.h"
#include "model_text.h"

typedef struct Assembly {
    const char* name;
    int parts;           // placed, with fasteners
    int bodies;          // after welding
    int freedom;         // degrees of freedom
    const char* nominal; // options of lash-make-step that take the plays away
    const char* more;    // options of lash draft
    bool by_hand;        // a model written by hand stands beside it
} Assembly;

static const Assembly assemblies[] = {
    {"slider_crank", 14, 4, 1, "--set play=0", "", true},
    {"four_bar", 9, 4, 1, "--set play=0", "", true},
    {"breaker", 16, 10, 6, "--set play=0 --set sleeve=0", "--ground case --ground cover", true},
    {"geneva", 9, 3, 2, "--set play=0", "", true},
    {"shaft_in_tube", 7, 2, 2, "--set play=0", "", true},
    {"toggle_clamp", 17, 5, 1, "--set play=0", "", true},
    {"scissor_lift", 16, 6, 1, "--set play=0 --set gap=0 --set side=0", "", true},
    {"quick_return", 20, 7, 1,
     "--set bushing_play=0 --set pin_play=0 --set slot_play=0 --set rocker_play=0 --set "
     "link_play=0 "
     "--set ram_play=0 --set side_play=0",
     "", false},
    {"rim_brake", 12, 8, 7,
     "--set arm_play=0 --set link_play=0 --set ball_play=0 --set guide_play=0 --set guide_side=0",
     "", false},
};
enum { ASSEMBLIES = sizeof assemblies / sizeof *assemblies };

static void make(const Assembly* a, const char* options, const char* step) {
    char command[2000], path[400], source[600];
    snprintf(source, sizeof source, "%s/tests/data/assemblies/%s.json", LASH_SOURCE_DIR, a->name);
    if (strcmp(a->name, "toggle_clamp") == 0) // the one of docs/from_cad.md
        snprintf(source, sizeof source, "%s/models/toggle_clamp/clamp.json", LASH_SOURCE_DIR);
    snprintf(command, sizeof command, "'%s/lash-make-step' '%s' '%s' %s", LASH_BINARY_DIR, source,
             scratch_file(step, path, sizeof path), options);
    if (system(command) != 0) fail_msg("%s", command);
}

// The JSON document of a command of the program in the scratch folder; fails unless it exits with 0.
static cJSON* lash_json(const char* format, ...) {
    char line[2000], command[2600], here[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    snprintf(command, sizeof command, "cd '%s' && '%s/lash' %s --json",
             scratch_file(".", here, sizeof here), LASH_BINARY_DIR, line);
    FILE* pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t room = 1 << 22, used = 0, n;
    char* text = malloc(room);
    while (used + 1 < room && (n = fread(text + used, 1, room - used - 1, pipe)) > 0) used += n;
    text[used] = '\0';
    if (pclose(pipe) != 0) fail_msg("%s: %s", line, text);
    cJSON* json = cJSON_Parse(text);
    assert_non_null(json);
    free(text);
    return json;
}

static cJSON* item(const cJSON* object, const char* key) {
    cJSON* found = cJSON_GetObjectItemCaseSensitive(object, key);
    if (found == NULL) fail_msg("'%s' is missing", key);
    return found;
}

static const char* text_of(const cJSON* object, const char* key) {
    return item(object, key)->valuestring;
}

static void vector_of(const cJSON* object, const char* key, double* x) {
    for (int k = 0; k < 3; ++k) x[k] = cJSON_GetArrayItem(item(object, key), k)->valuedouble;
}

static cJSON* read_json(const char* path) {
    char* text = slurp(path);
    cJSON* json = cJSON_Parse(text);
    if (json == NULL) fail_msg("%s: no JSON", path);
    free(text);
    return json;
}

static void write_json(const char* name, const cJSON* json) {
    char path[400];
    char* text = cJSON_Print(json);
    FILE* file = fopen(scratch_file(name, path, sizeof path), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(text);
}

static bool joins(const cJSON* joint, const char* a, const char* b, const char* p, const char* q) {
    const char *x = text_of(joint, a), *y = text_of(joint, b);
    return (strcmp(x, p) == 0 && strcmp(y, q) == 0) || (strcmp(x, q) == 0 && strcmp(y, p) == 0);
}

// The drafted joint against the one written by hand.
static void compare_joint(const Assembly* a, const cJSON* drafted, const LashModelJoint* hand,
                          double play) {
    double p[3], z[3];
    vector_of(drafted, "point", p);
    vector_of(drafted, "axis", z);
    Vec3 point = vec3(p[0], p[1], p[2]), axis = vec3(z[0], z[1], z[2]);
    double cosine = vec3_dot(axis, quat_rotate(hand->world_a.rot, vec3(0, 0, 1)));
    Vec3 d = vec3_sub(hand->world_a.r, point);
    double off = vec3_norm(vec3_add_scaled(d, -vec3_dot(d, axis), axis));
    const char* type = lash_joint_type_name(hand->type);
    if (strcmp(text_of(drafted, "type"), type) != 0)
        fail_msg("%s: %s is %s", a->name, hand->name, text_of(drafted, "type"));
    if (!(cosine > 1 - 1e-12)) fail_msg("%s: %s: cosine %.15g", a->name, hand->name, cosine);
    if (hand->type != LASH_PRISMATIC && !(off <= 1e-9))
        fail_msg("%s: %s: axis %.3g m off", a->name, hand->name, off);
    double found = item(drafted, "radial_clearance")->valuedouble;
    if (!(fabs(found - play) <= 1e-9)) fail_msg("%s: %s: play %.12g m", a->name, hand->name, found);
    assert_true(strlen(text_of(drafted, "reason")) > 10);
    assert_true(strlen(text_of(drafted, "confidence")) > 3);
}

static double expected_play(const cJSON* by_hand, const char* joint) { // [m]
    char name[80];
    snprintf(name, sizeof name, "play_%s", joint);
    return 1e-3 * item(item(by_hand, "parameters"), name)->valuedouble;
}

static const char* part_name(const LashModel* model, int part) {
    return part < 0 ? "ground" : model->part[part].name;
}

// Every joint of the model written by hand is in the report, and the report has no other.
static void compare_joints(const Assembly* a, const cJSON* report, const cJSON* by_hand) {
    char file[80], path[400];
    LashError error = {0};
    snprintf(file, sizeof file, "%s.model.json", a->name);
    LashModel* model = lash_model_load(scratch_file(file, path, sizeof path), NULL, 0, &error);
    if (model == NULL) fail_msg("%s: %s", file, error.message);
    const cJSON *drafted, *joints = item(report, "joints");
    if (cJSON_GetArraySize(joints) != model->joints)
        fail_msg("%s: %d joints", a->name, cJSON_GetArraySize(joints));
    for (int i = 0; i < model->joints; ++i) {
        const LashModelJoint* hand = &model->joint[i];
        int found = 0;
        cJSON_ArrayForEach(drafted, joints) {
            if (!joins(drafted, "outer", "inner", part_name(model, hand->part_a),
                       part_name(model, hand->part_b)))
                continue;
            compare_joint(a, drafted, hand, expected_play(by_hand, hand->name));
            ++found;
        }
        if (found != 1) fail_msg("%s: %s found %d times", a->name, hand->name, found);
    }
    lash_model_destroy(model);
}

static cJSON* named(const cJSON* list, const char* name) {
    cJSON* entry;
    cJSON_ArrayForEach(entry, list) {
        if (strcmp(text_of(entry, "name"), name) == 0) return entry;
    }
    return NULL;
}

static void copy(const cJSON* from, const char* key, cJSON* to) {
    const cJSON* value = cJSON_GetObjectItemCaseSensitive(from, key);
    if (value == NULL) return;
    cJSON_DeleteItemFromObjectCaseSensitive(to, key);
    cJSON_AddItemToObject(to, key, cJSON_Duplicate(value, 1));
}

// The drafted model without play, with the names, drivers, loads and outputs of the other one.
static void merge(cJSON* drafted, const cJSON* by_hand) {
    static const char* const played[] = {"clearance", "axial_clearance", "width",
                                         "height",    "length",          "bore_in"};
    static const char* const taken[] = {"parameters", "gravity", "contacts",
                                        "forces",     "outputs", "simulation"};
    cJSON *joint, *part;
    cJSON_ArrayForEach(joint, item(drafted, "joints")) {
        bool round = cJSON_HasObjectItem(joint, "bore");
        for (int k = 1; k < 6; ++k) // faces of a bore need their side
            if (!(round && k == 5)) cJSON_DeleteItemFromObjectCaseSensitive(joint, played[k]);
        cJSON_DeleteItemFromObjectCaseSensitive(joint, played[0]);
        if (round) cJSON_AddNumberToObject(joint, "clearance", 0);
        const cJSON* hand;
        cJSON_ArrayForEach(hand, item(by_hand, "joints")) {
            if (!joins(joint, "a", "b", text_of(hand, "a"), text_of(hand, "b"))) continue;
            copy(hand, "name", joint);
            copy(hand, "driver", joint);
        }
    }
    cJSON_ArrayForEach(part, item(drafted, "parts")) {
        const cJSON* hand = named(item(by_hand, "parts"), text_of(part, "name"));
        assert_non_null(hand);
        copy(hand, "velocity", part);
        copy(hand, "angular_velocity", part);
    }
    for (int k = 0; k < 6; ++k) copy(by_hand, taken[k], drafted);
}

static void compare_motion(const Assembly* a, const cJSON* by_hand) {
    char path[400], file[80];
    snprintf(file, sizeof file, "%s.draft.json", a->name);
    cJSON* drafted = read_json(scratch_file(file, path, sizeof path));
    merge(drafted, by_hand);
    write_json("merged.json", drafted);
    cJSON_Delete(drafted);
    cJSON* mine = lash_json("run merged.json");
    cJSON* theirs = lash_json("run %s.model.json", a->name);
    const cJSON* output;
    int outputs = 0;
    cJSON_ArrayForEach(output, item(theirs, "outputs")) {
        double x = output->valuedouble,
               y = item(item(mine, "outputs"), output->string)->valuedouble;
        if (!(fabs(x - y) <= 1e-6 * fabs(x)))
            fail_msg("%s: %s: drafted %.12g, by hand %.12g", a->name, output->string, y, x);
        ++outputs;
    }
    assert_true(outputs > 0);
    cJSON_Delete(mine);
    cJSON_Delete(theirs);
}

static void loads_checks_and_runs(const char* file) {
    cJSON_Delete(lash_json("check %s", file));
    cJSON_Delete(lash_json("run %s --duration 0.005", file));
}

static void copy_model(const Assembly* a) {
    char command[1200], path[400];
    snprintf(command, sizeof command, "cp '%s/tests/data/assemblies/%s.model.json' '%s'",
             LASH_SOURCE_DIR, a->name, scratch_file(".", path, sizeof path));
    if (system(command) != 0) fail_msg("%s", command);
}

// With sanitizers every third one: all of them take two minutes.
#if defined(__SANITIZE_ADDRESS__)
enum { STRIDE = 3 };
#else
enum { STRIDE = 1 };
#endif

static void assemblies_are_drafted_as_they_were_meant(void** state) {
    (void)state;
    for (int i = 0; i < ASSEMBLIES; i += STRIDE) {
        const Assembly* a = &assemblies[i];
        char step[80], file[80], path[400];
        snprintf(step, sizeof step, "%s.step", a->name);
        snprintf(file, sizeof file, "%s.draft.json", a->name);
        make(a, "", step);
        cJSON* report = lash_json("draft %s %s", step, a->more);
        if (item(report, "parts")->valueint != a->parts ||
            item(report, "bodies")->valueint != a->bodies ||
            item(report, "freedom")->valueint != a->freedom)
            fail_msg("%s: %d parts, %d bodies, %d degrees of freedom", a->name,
                     item(report, "parts")->valueint, item(report, "bodies")->valueint,
                     item(report, "freedom")->valueint);
        loads_checks_and_runs(file);
        if (a->by_hand) {
            copy_model(a);
            snprintf(file, sizeof file, "%s.model.json", a->name);
            cJSON* by_hand = read_json(scratch_file(file, path, sizeof path));
            compare_joints(a, report, by_hand);
            compare_motion(a, by_hand);
            cJSON_Delete(by_hand);
        }
        cJSON_Delete(report);
    }
}

typedef struct Expected {
    const char *a, *b, *type;
    double play; // [mm]
} Expected;

static void has_joints(const char* name, const Expected* expected, int count) {
    char step[80];
    snprintf(step, sizeof step, "%s.step", name);
    for (int i = 0; i < ASSEMBLIES; ++i)
        if (strcmp(assemblies[i].name, name) == 0) make(&assemblies[i], "", step);
    cJSON* report = lash_json("draft %s", step);
    assert_int_equal(cJSON_GetArraySize(item(report, "joints")), count);
    for (int i = 0; i < count; ++i) {
        const cJSON *joint, *found = NULL;
        cJSON_ArrayForEach(joint, item(report, "joints")) {
            if (joins(joint, "outer", "inner", expected[i].a, expected[i].b)) found = joint;
        }
        if (found == NULL) fail_msg("%s: no joint %s-%s", name, expected[i].a, expected[i].b);
        assert_string_equal(text_of(found, "type"), expected[i].type);
        double play = item(found, "radial_clearance")->valuedouble;
        if (!(fabs(play - 1e-3 * expected[i].play) <= 1e-9))
            fail_msg("%s: %s-%s: play %.12g m", name, expected[i].a, expected[i].b, play);
    }
    cJSON_Delete(report);
}

// Drawn before the program was first run on them; docs/from_cad.md tells what it found then.
static void the_blind_assemblies_have_their_joints(void** state) {
    (void)state;
    static const Expected press[] = {
        {"column", "crank disc", "revolute", 0.025}, {"crank disc", "die block", "revolute", 0.02},
        {"rocker", "die block", "planar", 0.02},     {"column", "rocker", "revolute", 0.03},
        {"link", "rocker", "revolute", 0.015},       {"link", "ram", "revolute", 0.015},
        {"link#2", "rocker", "revolute", 0.015},     {"link#2", "ram", "revolute", 0.015},
        {"column", "ram", "prismatic", 0.04}};
    static const Expected brake[] = {{"fork", "arm", "revolute", 0.03},
                                     {"fork", "arm mirrored", "revolute", 0.03},
                                     {"brake/left/link", "arm", "revolute", 0.02},
                                     {"brake/left/link", "plunger", "revolute", 0.02},
                                     {"brake/right/link", "arm mirrored", "revolute", 0.02},
                                     {"brake/right/link", "plunger", "revolute", 0.02},
                                     {"arm", "brake/left/shoe", "spherical", 0.04},
                                     {"arm mirrored", "brake/right/shoe", "spherical", 0.04},
                                     {"fork", "plunger", "prismatic", 0.025}};
    has_joints("quick_return", press, sizeof press / sizeof *press);
    has_joints("rim_brake", brake, sizeof brake / sizeof *brake);
}

static void at_nominal_size_every_joint_asks_for_its_play(void** state) {
    (void)state;
    for (int i = 0; i < ASSEMBLIES; i += STRIDE) {
        const Assembly* a = &assemblies[i];
        make(a, a->nominal, "nominal.step");
        cJSON* report = lash_json("draft nominal.step %s", a->more);
        const cJSON* joint;
        cJSON_ArrayForEach(joint, item(report, "joints")) {
            bool asks = strstr(text_of(joint, "reason"), "which fit?") != NULL ||
                        strcmp(text_of(joint, "type"), "planar") == 0;
            if (!cJSON_IsTrue(item(joint, "no_play")) || !asks)
                fail_msg("%s: %s: %s", a->name, text_of(joint, "name"), text_of(joint, "reason"));
        }
        cJSON_Delete(report);
        loads_checks_and_runs("nominal.draft.json");
        cJSON_Delete(lash_json("draft nominal.step %s --fit H7/g6", a->more));
        loads_checks_and_runs("nominal.draft.json");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assemblies_are_drafted_as_they_were_meant),
        cmocka_unit_test(the_blind_assemblies_have_their_joints),
        cmocka_unit_test(at_nominal_size_every_joint_asks_for_its_play),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
