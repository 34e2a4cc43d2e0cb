// Groups of parts by name patterns, and friction and restitution by materials.
#include <cjson/cJSON.h>

#include "app/model/model.h"
#include "command.h"
#include "core/arena.h"
#include "core/math3.h"
#include "test.h"
#include "tests/model_text.h"

static void assert_near(double value, double expected, double tolerance) {
    if (fabs(value - expected) <= tolerance) return;
    fail_msg("%.17g differs from %.17g by more than %g", value, expected, tolerance);
}

// A floor, two balls and a box in mm; after `extra` (keys of the model) come the contacts.
static void with_contacts(const char* extra, const char* contacts, char* text, size_t size) {
    snprintf(
        text, size,
        "{'format': 'lash-model/1', 'units': {'length': 'mm'}, 'gravity': [0, 0, -9810], %s "
        "'parts': ["
        "{'name': 'floor', 'fixed': true, 'material': 'stone', 'shape': {'type': 'box', "
        "'size': [900, 900, 50]}, 'pose': {'position': [0, 0, -25]}},"
        "{'name': 'ball1', 'material': 'steel', 'density': 7.8e-6, 'shape': {'type': 'sphere', "
        "'radius': 10}, 'pose': {'position': [0, 0, 11.03]}, 'velocity': [100, 0, 0]},"
        "{'name': 'ball2', 'material': 'steel', 'density': 7.8e-6, 'shape': {'type': 'sphere', "
        "'radius': 10}, 'pose': {'position': [23, 4, 15]}},"
        "{'name': 'crate', 'density': 1e-6, 'shape': {'type': 'box', 'size': [20, 20, 20]}, "
        "'pose': {'position': [70, 0, 10.5]}}], 'contacts': [%s], "
        "'simulation': {'step': 1e-4, 'duration': 0.1}, 'outputs': ["
        "{'name': 'x', 'quantity': 'position.x', 'of': 'ball1'},"
        "{'name': 'y', 'quantity': 'position.y', 'of': 'ball2'},"
        "{'name': 'z', 'quantity': 'position.z', 'of': 'ball2'}]}",
        extra, contacts);
}

static Outcome run_model(const char* extra, const char* contacts) {
    char text[4000], path[400], result[400];
    with_contacts(extra, contacts, text, sizeof text);
    write_model("group.json", text, path, sizeof path);
    scratch_file("group.h5", result, sizeof result);
    return LASH("run", path, "--json", "-o", result);
}

static double output_of(const Outcome* outcome, const char* name) {
    cJSON* json = cJSON_Parse(outcome->out);
    const cJSON* value = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "outputs"), name);
    if (!cJSON_IsNumber(value)) fail_msg("no output %s: %s", name, outcome->err);
    double number = value->valuedouble;
    cJSON_Delete(json);
    return number;
}

#define FLOOR_SPHERE(ball)                                      \
    "{'name': 'floor_" ball                                     \
    "', 'a': {'part': 'floor', 'plane': {'point': [0, 0, 25], " \
    "'normal': [0, 0, 1]}}, 'b': {'part': '" ball               \
    "', 'sphere': {'radius': 10}}, 'friction': "                \
    "0.2, 'restitution': 0.47}"
#define BALLS                                                                                   \
    "{'name': 'two', 'a': {'part': 'ball1', 'sphere': {'radius': 10}}, 'b': {'part': 'ball2', " \
    "'sphere': {'radius': 10}}, 'friction': 0.2, 'restitution': 0.47}"

static void a_group_moves_as_the_same_contacts_one_by_one(void** state) {
    (void)state;
    static const char* const names[] = {"x", "y", "z"};
    Outcome one = run_model("", FLOOR_SPHERE("ball1") "," FLOOR_SPHERE("ball2") "," BALLS);
    Outcome group = run_model(
        "", "{'name': 'all', 'among': ['ball*', 'floor'], 'friction': 0.2, 'restitution': 0.47}");
    Outcome two = run_model("",
                            "{'name': 'on', 'between': [['ball?'], 'floor'], 'friction': 0.2, "
                            "'restitution': 0.47}, " BALLS);
    assert_int_equal(one.code, 0);
    assert_int_equal(group.code, 0);
    assert_int_equal(two.code, 0);
    for (int i = 0; i < 3; ++i) {
        double expected = output_of(&one, names[i]);
        assert_near(output_of(&group, names[i]), expected, 1e-7);
        assert_near(output_of(&two, names[i]), expected, 1e-7);
    }
    outcome_free(&one);
    outcome_free(&group);
    outcome_free(&two);
}

// Friction and restitution of the two laws in a group: [0] ball on floor, [1] ball on ball.
static void laws_of(const char* extra, const char* contacts, double mu[2], double e[2]) {
    char text[4000], path[400];
    with_contacts(extra, contacts, text, sizeof text);
    write_model("laws.json", text, path, sizeof path);
    LashError error = {0};
    LashModel* model = lash_model_load(path, NULL, 0, &error);
    if (model == NULL) fail_msg("%s: %s", error.where, error.message);
    const LashModelGroup* group = model->contact_point[model->contact_points - 1].group;
    assert_non_null(group);
    int material[2] = {-1, -1}; // of the floor, of a ball
    for (int i = 0; i < group->members; ++i)
        material[group->member[i].owner > 0] = group->member[i].material;
    for (int k = 0; k < 2; ++k) {
        mu[k] = group->mu[material[1] * group->materials + material[k]];
        e[k] = group->e[material[1] * group->materials + material[k]];
    }
    lash_model_destroy(model);
}

#define TABLE                                                                                \
    "'materials': [{'between': ['stone', 'steel'], 'friction': 0.4}, {'between': ['steel', " \
    "'steel'], 'friction': 0.1, 'restitution': 0.9}, {'restitution': 0.3, 'friction': 0.25}],"
#define AMONG "{'name': 'all', 'among': ['ball*', 'floor']}"

static void materials_give_friction_and_restitution_unless_the_contact_does(void** state) {
    (void)state;
    double mu[2], e[2];
    laws_of(TABLE, AMONG, mu, e);
    assert_near(mu[0], 0.4, 0);
    assert_near(e[0], 0.3, 0); // of the row for all others
    assert_near(mu[1], 0.1, 0);
    assert_near(e[1], 0.9, 0);
    laws_of(TABLE, "{'name': 'all', 'among': ['ball*', 'floor'], 'friction': 0.7}", mu, e);
    assert_near(mu[0], 0.7, 0);
    assert_near(mu[1], 0.7, 0);
    assert_near(e[1], 0.9, 0);
    laws_of("", AMONG, mu, e); // no table at all
    assert_near(mu[0], 0, 0);
    assert_near(e[1], 0, 0);
}

static void a_contact_by_name_takes_the_law_of_its_materials(void** state) {
    (void)state;
    char text[4000], path[400];
    with_contacts(TABLE,
                  "{'name': 'two', 'a': {'part': 'ball1', 'sphere': {'radius': 10}}, 'b': {'part': "
                  "'ball2', 'sphere': {'radius': 10}}, 'restitution': 0.2}",
                  text, sizeof text);
    write_model("laws.json", text, path, sizeof path);
    LashError error = {0};
    LashModel* model = lash_model_load(path, NULL, 0, &error);
    if (model == NULL) fail_msg("%s: %s", error.where, error.message);
    assert_near(model->contact_point[0].def.mu, 0.1, 0);
    assert_near(model->contact_point[0].def.e, 0.2, 0);
    lash_model_destroy(model);
}

static void mistakes_in_groups_and_materials_are_named_with_what_to_do(void** state) {
    (void)state;
    static const struct {
        const char *extra, *contacts, *message;
    } cases[] = {
        {"", "{'name': 'all', 'among': ['bal', 'floor']}", "there is no part 'bal'"},
        {"", "{'name': 'all', 'among': ['crat?x', 'floor']}", "no part has a name that fits"},
        {"", "{'name': 'all', 'among': ['ball3']}", "(did you mean 'ball1'?)"},
        {"", "{'name': 'all', 'between': [['ball*'], ['ground']]}", "\"fixed\": true"},
        {"", "{'name': 'all', 'among': ['floor']}", "a group needs two different parts"},
        {"", "{'name': 'all', 'between': [['ball*']]}", "two lists of texts"},
        {"", "{'name': 'all', 'among': ['ball*'], 'offset': 1}", "has no 'offset'"},
        {"", "{'name': 'all', 'friction': 1}", "the key 'a' is missing"},
        {"", AMONG ", {'name': 'more', 'between': [['ball1'], ['*']]}", "belongs to one group"},
        {"'materials': [{'between': ['stone', 'stell'], 'friction': 0.4, 'restitution': 0}],",
         AMONG, "no 'friction' of 'steel' (did you mean 'stell'?) on 'stone'"},
        {"'materials': [{'between': ['stone', 'steel'], 'friction': 0.4, 'restitution': 0}],",
         "{'name': 'all', 'between': [['crate'], ['floor']]}", "'crate' has no 'material'"},
        {"'materials': [{'between': ['stone'], 'friction': 0.4}],", AMONG,
         "expected two materials, found 1"},
        {"'materials': [{'between': ['a', 'b'], 'friction': 0.4}, {'between': ['b', 'a'], "
         "'friction': 0.4}],",
         AMONG, "materials[0] has a row for this pair already"},
        {"'materials': [{'between': ['a', 'b']}],", AMONG, "needs 'friction', 'restitution'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        Outcome o = run_model(cases[i].extra, cases[i].contacts);
        if (o.code != 3 || strstr(o.err, cases[i].message) == NULL)
            fail_msg("case %zu: exit code %d, %s", i, o.code, o.err);
        outcome_free(&o);
    }
}

// 200 balls, all pairs: one contact in the results, and few bytes.
static void results_do_not_grow_with_the_pairs_of_a_group(void** state) {
    (void)state;
    enum { MANY = 200 };
    char path[400], result[400];
    FILE* file = fopen(scratch_file("many.json", path, sizeof path), "w");
    fprintf(file, "{\"format\": \"lash-model/1\", \"parts\": [");
    for (int i = 0; i < MANY; ++i)
        fprintf(file,
                "%s{\"name\": \"ball%d\", \"density\": 1000, \"shape\": {\"type\": \"sphere\", "
                "\"radius\": 0.01}, \"pose\": {\"position\": [%g, %g, 0]}, \"velocity\": [%g, 0, "
                "0]}",
                i == 0 ? "" : ",", i, 0.0202 * (i % 20), 0.03 * (i / 20), i % 20 == 0 ? 0.1 : 0);
    fprintf(file,
            "], \"contacts\": [{\"name\": \"all\", \"among\": [\"*\"], \"restitution\": 1}],");
    fprintf(file, "\"simulation\": {\"step\": 1e-3, \"duration\": 0.02}}");
    fclose(file);
    scratch_file("many.h5", result, sizeof result);
    Outcome o = LASH("run", path, "--json", "-o", result);
    if (o.code != 0) fail_msg("exit code %d: %s", o.code, o.err);
    cJSON* json = cJSON_Parse(o.out);
    const cJSON* each = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "contacts"), "each");
    assert_int_equal(cJSON_GetArraySize(each), 1);
    const cJSON* all = cJSON_GetObjectItem(each, "all");
    assert_true(cJSON_GetObjectItem(all, "impacts")->valuedouble >= 90); // nine per row and more
    cJSON_Delete(json);
    outcome_free(&o);
}

// 300 balls rest on a floor: more contacts at once, and longer lists, than a run begins with room for.
static void any_number_of_contacts_may_act_at_once(void** state) {
    (void)state;
    enum { MANY = 300 };
    char path[400], result[400];
    FILE* file = fopen(scratch_file("flat.json", path, sizeof path), "w");
    fprintf(file,
            "{\"format\": \"lash-model/1\", \"gravity\": [0, 0, -10], \"parts\": [{\"name\": "
            "\"floor\", \"fixed\": true, \"shape\": {\"type\": \"box\", \"size\": [4, 4, 1]}, "
            "\"pose\": {\"position\": [0, 0, -0.5]}}");
    for (int i = 0; i < MANY; ++i)
        fprintf(file,
                ",{\"name\": \"ball%d\", \"mass\": 1, \"shape\": {\"type\": \"sphere\", "
                "\"radius\": 0.02}, \"pose\": {\"position\": [%g, %g, 0.02]}}",
                i, 0.05 * (i % 20), 0.05 * (i / 20));
    fprintf(file, "], \"contacts\": [{\"name\": \"all\", \"among\": [\"*\"]}],");
    fprintf(file, "\"simulation\": {\"step\": 1e-3, \"duration\": 0.003}}");
    fclose(file);
    scratch_file("flat.h5", result, sizeof result);
    Outcome o = LASH("run", path, "--json", "-o", result);
    if (o.code != 0) fail_msg("exit code %d: %s", o.code, o.err);
    cJSON* json = cJSON_Parse(o.out);
    const cJSON* contacts = cJSON_GetObjectItem(json, "contacts");
    assert_near(cJSON_GetObjectItem(contacts, "max_active")->valuedouble, MANY, 0);
    const cJSON* all = cJSON_GetObjectItem(cJSON_GetObjectItem(contacts, "each"), "all");
    double force = cJSON_GetObjectItem(all, "peak_force")->valuedouble;
    assert_near(force, 10.0 * MANY, MANY * 1e-10 / 1e-3); // masses times tolerance per step
    cJSON_Delete(json);
    outcome_free(&o);
}

// Every edge and vertex of either lies in a side of the other: they fell through each other.
static void parts_of_the_same_outline_rest_flush_on_each_other(void** state) {
    (void)state;
    static const char* const shape[] = {"'type': 'box', 'size': [0.1, 0.1, 0.1]",
                                        "'type': 'cylinder', 'radius': 0.05, 'length': 0.1"};
    for (int i = 0; i < 4; ++i) {
        char text[1000], path[300];
        snprintf(text, sizeof text,
                 "{'format': 'lash-model/1', 'gravity': [0, 0, -9.81], 'parts': [{'name': 'low', "
                 "'fixed': true, 'shape': {%s}}, {'name': 'high', 'density': 1000, 'shape': {%s}, "
                 "'pose': {'position': [0, 0, %s]}}], 'contacts': [{'name': 'pile', 'among': "
                 "['*'], 'friction': 0.3}], 'simulation': {'step': 1e-4, 'duration': 0.01}, "
                 "'outputs': [{'name': 'z', 'quantity': 'position.z', 'of': 'high'}]}",
                 shape[i / 2], shape[i / 2], i % 2 == 0 ? "0.1" : "0.1001");
        write_model("flush.json", text, path, sizeof path);
        Outcome o = LASH("run", path, "--json");
        assert_int_equal(o.code, 0);
        assert_near(output_of(&o, "z"), 0.1, 1e-10);
        outcome_free(&o);
    }
}

RUN(TEST(parts_of_the_same_outline_rest_flush_on_each_other),
    TEST(a_group_moves_as_the_same_contacts_one_by_one),
    TEST(materials_give_friction_and_restitution_unless_the_contact_does),
    TEST(a_contact_by_name_takes_the_law_of_its_materials),
    TEST(mistakes_in_groups_and_materials_are_named_with_what_to_do),
    TEST(results_do_not_grow_with_the_pairs_of_a_group),
    TEST(any_number_of_contacts_may_act_at_once))
