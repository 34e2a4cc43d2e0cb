// lash check in depth: loops of redundant joints, releases that really release, motions of known
// mechanisms, singular positions.
#include <cjson/cJSON.h>
#include "test.h"

#include "command.h"

static cJSON* at(const cJSON* node, const char* key) {
    cJSON* item = cJSON_GetObjectItem(node, key);
    if (item == NULL) fail_msg("no key %s", key);
    return item;
}
static int whole(const cJSON* node, const char* key) {
    return (int)at(node, key)->valuedouble;
}
static const char* text(const cJSON* node, const char* key) {
    return at(node, key)->valuestring;
}
static double component(const cJSON* node, const char* key, int k) {
    return cJSON_GetArrayItem(at(node, key), k)->valuedouble;
}

static cJSON* check(const char* path) {
    Outcome o = LASH("check", path, "--json");
    if (o.code != 0) fail_msg("%s: exit code %d: %s", path, o.code, o.err);
    cJSON* d = cJSON_Parse(o.out);
    assert_non_null(d);
    outcome_free(&o);
    return d;
}

static cJSON* check_model(cJSON* model) {
    char path[300], *written = cJSON_Print(model);
    FILE* file = fopen(scratch_file("check.json", path, sizeof path), "w");
    fputs(written, file);
    fclose(file);
    cJSON_free(written);
    return check(path);
}

// ---- models -------------------------------------------------------------------------------------

static cJSON* empty_model(void) {
    return cJSON_Parse("{\"format\": \"lash-model/1\", \"parts\": [], \"joints\": []}");
}
static void add_part(cJSON* model, const char* name, double x, double y) {
    char line[300];
    snprintf(line, sizeof line,
             "{\"name\": \"%s\", \"mass\": 1, \"inertia\": [0.02, 0.03, 0.04], \"pose\": "
             "{\"position\": [%.17g, %.17g, 0]}}",
             name, x, y);
    cJSON_AddItemToArray(at(model, "parts"), cJSON_Parse(line));
}
static void add_hinge(cJSON* model, const char* name, const char* a, const char* b, double x,
                      double y) {
    char line[300];
    snprintf(line, sizeof line,
             "{\"name\": \"%s\", \"type\": \"revolute\", \"a\": \"%s\", \"b\": \"%s\", "
             "\"point\": [%.17g, %.17g, 0], \"axis\": [0, 0, 1]}",
             name, a, b, x, y);
    cJSON_AddItemToArray(at(model, "joints"), cJSON_Parse(line));
}

// A parallelogram of unit links, cranks at `angle` from the ground.
static cJSON* parallelogram(double angle) {
    double c = cos(angle), s = sin(angle);
    cJSON* m = empty_model();
    add_part(m, "left", c / 2, s / 2);
    add_part(m, "right", 1 + c / 2, s / 2);
    add_part(m, "bar", 0.5 + c, s);
    add_hinge(m, "A", "ground", "left", 0, 0);
    add_hinge(m, "B", "ground", "right", 1, 0);
    add_hinge(m, "C", "left", "bar", c, s);
    add_hinge(m, "D", "bar", "right", 1 + c, s);
    return m;
}

// n + 1 cranks side by side, joined by n bars; ground hinges last, so that the file's order helps
// nobody.
static cJSON* windows(int n) {
    cJSON* m = empty_model();
    char name[16], a[16], b[16];
    for (int i = 0; i <= n; ++i) {
        snprintf(name, sizeof name, "link%d", i);
        add_part(m, name, i, 0.5);
    }
    for (int i = 0; i < n; ++i) {
        snprintf(name, sizeof name, "bar%d", i);
        add_part(m, name, i + 0.5, 1);
        snprintf(a, sizeof a, "link%d", i);
        snprintf(b, sizeof b, "B%d", i);
        add_hinge(m, b, a, name, i, 1);
        snprintf(a, sizeof a, "link%d", i + 1);
        snprintf(b, sizeof b, "C%d", i);
        add_hinge(m, b, name, a, i + 1, 1);
    }
    for (int i = 0; i <= n; ++i) {
        snprintf(a, sizeof a, "link%d", i);
        snprintf(b, sizeof b, "A%d", i);
        add_hinge(m, b, "ground", a, i, 0);
    }
    return m;
}

static cJSON* door(void) {
    cJSON* m = empty_model();
    add_part(m, "leaf", 0.4, 0);
    add_hinge(m, "low", "ground", "leaf", 0, 0);
    add_hinge(m, "high", "ground", "leaf", 0, 0);
    cJSON_ReplaceItemInArray(at(cJSON_GetArrayItem(at(m, "joints"), 1), "point"), 2,
                             cJSON_CreateNumber(2));
    return m;
}

// ---- redundancies -------------------------------------------------------------------------------

static void each_window_of_a_row_is_a_loop_of_four_joints(void** state) {
    (void)state;
    enum { N = 12 };
    cJSON *m = windows(N), *d = check_model(m);
    assert_int_equal(whole(d, "dof"), 1);
    assert_int_equal(whole(d, "redundant_rows"), 3 * N);
    cJSON* loop;
    int loops = 0;
    cJSON_ArrayForEach(loop, at(d, "redundancies")) {
        assert_int_equal(whole(loop, "rows"), 3);
        assert_int_equal(cJSON_GetArraySize(at(loop, "joints")), 4);
        ++loops;
    }
    assert_int_equal(loops, N);
    cJSON_Delete(m);
    cJSON_Delete(d);
}

static void a_third_crank_adds_a_redundancy_of_all_six_joints(void** state) {
    (void)state;
    cJSON* m = empty_model();
    static const char *const crank[] = {"c0", "c1", "c2"}, *const g[] = {"g0", "g1", "g2"},
                             *const h[] = {"h0", "h1", "h2"};
    for (int i = 0; i < 3; ++i) add_part(m, crank[i], i, 0.5);
    add_part(m, "bar", 1, 1);
    for (int i = 0; i < 3; ++i) add_hinge(m, g[i], "ground", crank[i], i, 0);
    for (int i = 0; i < 3; ++i) add_hinge(m, h[i], crank[i], "bar", i, 1);
    cJSON *d = check_model(m), *loop;
    int of_four = 0, of_six = 0;
    cJSON_ArrayForEach(loop, at(d, "redundancies")) {
        int joints = cJSON_GetArraySize(at(loop, "joints"));
        of_four += joints == 4 ? whole(loop, "rows") : 0;
        of_six += joints == 6 ? whole(loop, "rows") : 0;
    }
    assert_int_equal(whole(d, "dof"), 1);
    assert_int_equal(of_four, 6); // two loops out of their plane
    assert_int_equal(of_six, 1);  // one crank too many in the plane
    cJSON_Delete(m);
    cJSON_Delete(d);
}

// Makes the changes advised for joints of one loop only; returns the rows promised.
static int follow_advice(cJSON* model, const cJSON* d) {
    int rows = 0;
    cJSON *loop, *release, *joint;
    cJSON_ArrayForEach(loop, at(d, "redundancies")) {
        cJSON_ArrayForEach(release, at(loop, "release")) {
            if (cJSON_IsTrue(at(release, "shared"))) continue;
            rows += whole(release, "rows");
            cJSON* joints = at(model, "joints");
            for (int i = cJSON_GetArraySize(joints) - 1; i >= 0; --i) {
                joint = cJSON_GetArrayItem(joints, i);
                if (strcmp(text(joint, "name"), text(release, "joint")) != 0) continue;
                if (cJSON_IsNull(at(release, "make"))) {
                    cJSON_DeleteItemFromArray(joints, i);
                } else {
                    cJSON_DeleteItemFromObject(joint, "start");
                    cJSON_ReplaceItemInObject(joint, "type",
                                              cJSON_CreateString(text(release, "make")));
                }
            }
        }
    }
    return rows;
}

static void assert_advice_holds(cJSON* model, int left) {
    cJSON* d = check_model(model);
    int rows = follow_advice(model, d);
    cJSON* after = check_model(model);
    assert_int_equal(whole(after, "dof"), whole(d, "dof"));
    assert_int_equal(whole(after, "redundant_rows"), whole(d, "redundant_rows") - rows);
    assert_int_equal(whole(after, "redundant_rows"), left);
    cJSON_Delete(d);
    cJSON_Delete(after);
    cJSON_Delete(model);
}

static void releases_take_the_redundancy_and_add_no_freedom(void** state) {
    (void)state;
    assert_advice_holds(parallelogram(1), 0);
    assert_advice_holds(door(), 0);
    assert_advice_holds(windows(5), 0);
    char* file = slurp(LASH_SOURCE_DIR "/models/benchmarks/a03_andrews.json");
    assert_advice_holds(cJSON_Parse(file), 0);
    free(file);
}

static void joints_that_are_driven_are_left_alone(void** state) {
    (void)state;
    cJSON* d = check(LASH_SOURCE_DIR "/models/slider_crank/driven_speed.json");
    cJSON *loop = cJSON_GetArrayItem(at(d, "redundancies"), 0), *release;
    assert_int_equal(cJSON_GetArraySize(at(loop, "release")), 1);
    cJSON_ArrayForEach(release, at(loop, "release")) {
        assert_string_not_equal(text(release, "joint"), "main_bearing");
    }
    cJSON_Delete(d);
}

static void a_second_driver_on_a_loop_is_named(void** state) {
    (void)state;
    cJSON* m = parallelogram(1);
    for (int i = 0; i < 2; ++i) {
        cJSON_AddItemToObject(cJSON_GetArrayItem(at(m, "joints"), i), "driver",
                              cJSON_Parse("{\"speed\": 0}"));
    }
    cJSON *d = check_model(m), *loop, *name;
    assert_int_equal(whole(d, "dof"), 0);
    assert_int_equal(whole(d, "redundant_rows"), 4);
    int drivers = 0;
    cJSON_ArrayForEach(loop, at(d, "redundancies")) {
        cJSON_ArrayForEach(name, at(loop, "joints")) {
            drivers += strstr(name->valuestring, ".driver") != NULL;
        }
    }
    assert_int_equal(drivers, 2);
    cJSON_Delete(m);
    cJSON_Delete(d);
}

// ---- motions ------------------------------------------------------------------------------------

static void the_pendulum_turns_about_its_hinge(void** state) {
    (void)state;
    cJSON* d = check(LASH_SOURCE_DIR "/models/first/pendulum.json");
    assert_int_equal(cJSON_GetArraySize(at(d, "motions")), 1);
    cJSON* motion = cJSON_GetArrayItem(at(d, "motions"), 0);
    cJSON* body = cJSON_GetArrayItem(at(motion, "bodies"), 0);
    assert_string_equal(text(motion, "coordinate"), "hinge");
    assert_string_equal(text(body, "kind"), "rotation");
    assert_string_equal(text(motion, "motion"), "rotation of bar about y through (0, 0, 0) m");
    for (int k = 0; k < 3; ++k) {
        assert_true(fabs(component(body, "axis", k) - (k == 1)) < 1e-12);
        assert_true(fabs(component(body, "point", k)) < 1e-12);
    }
    cJSON_Delete(d);
}

static void gears_pass_their_ratios_on(void** state) {
    (void)state;
    cJSON* d = check(LASH_SOURCE_DIR "/models/joints/gear_train.json");
    cJSON* motion = cJSON_GetArrayItem(at(d, "motions"), 0);
    cJSON* body;
    int seen = 0;
    cJSON_ArrayForEach(body, at(motion, "bodies")) {
        double rate = at(body, "rate")->valuedouble;
        if (strcmp(text(body, "body"), "motor") == 0) assert_true(fabs(rate - 1) < 1e-12);
        if (strcmp(text(body, "body"), "wheel") == 0) assert_true(fabs(rate + 1.0 / 3) < 1e-12);
        if (strcmp(text(body, "body"), "rack") == 0) {
            assert_string_equal(text(body, "kind"), "translation");
            assert_true(fabs(fabs(rate) - 0.025 / 3) < 1e-12);
        }
        ++seen;
    }
    assert_int_equal(seen, 3);
    cJSON_Delete(d);
}

static void the_bar_of_a_parallelogram_moves_on_a_circle(void** state) {
    (void)state;
    cJSON *m = parallelogram(1), *d = check_model(m), *body;
    cJSON* motion = cJSON_GetArrayItem(at(d, "motions"), 0);
    bool found = false;
    cJSON_ArrayForEach(body, at(motion, "bodies")) {
        if (strcmp(text(body, "body"), "bar") != 0) continue;
        found = true;
        assert_string_equal(text(body, "kind"), "translation"); // across the crank, 1 m per rad
        assert_true(fabs(fabs(at(body, "rate")->valuedouble) - 1) < 1e-9);
        assert_true(
            fabs(component(body, "axis", 0) * cos(1) + component(body, "axis", 1) * sin(1)) < 1e-9);
    }
    assert_true(found);
    cJSON_Delete(m);
    cJSON_Delete(d);
}

static void a_free_body_has_six_motions(void** state) {
    (void)state;
    cJSON* d = check(LASH_SOURCE_DIR "/models/papers/rocking_block.json");
    assert_int_equal(cJSON_GetArraySize(at(d, "motions")), 6);
    cJSON_Delete(d);
}

// ---- singular positions -------------------------------------------------------------------------

static void flat_parallelograms_are_singular_and_upright_ones_are_not(void** state) {
    (void)state;
    static const struct {
        double angle;
        const char* kind;
        int dof;
    } cases[] = {{0, "singular", 2},
                 {1e-10, "singular", 2},
                 {1e-4, "nearly singular", 1},
                 {0.05, "regular", 1},
                 {1, "regular", 1}};
    for (int i = 0; i < 5; ++i) {
        cJSON *m = parallelogram(cases[i].angle), *d = check_model(m);
        assert_string_equal(text(at(d, "position"), "kind"), cases[i].kind);
        assert_int_equal(whole(d, "dof"), cases[i].dof);
        assert_int_equal(whole(at(d, "position"), "rank_nearby"), 17);
        cJSON_Delete(m);
        cJSON_Delete(d);
    }
}

// Half the distance to the singular position, half the singular value.
static void the_smallest_singular_value_follows_the_angle(void** state) {
    (void)state;
    double value[2];
    for (int i = 0; i < 2; ++i) {
        cJSON *m = parallelogram(i == 0 ? 2e-4 : 1e-4), *d = check_model(m);
        value[i] = at(at(d, "position"), "smallest_singular_value")->valuedouble;
        cJSON_Delete(m);
        cJSON_Delete(d);
    }
    assert_true(fabs(value[0] / value[1] - 2) < 1e-3);
}

static void an_open_chain_of_many_links_is_regular(void** state) {
    (void)state;
    cJSON* m = empty_model();
    char name[16], before[16] = "ground", hinge[16];
    for (int i = 0; i < 60; ++i) {
        snprintf(name, sizeof name, "link%d", i);
        snprintf(hinge, sizeof hinge, "h%d", i);
        add_part(m, name, i + 0.5, 0);
        add_hinge(m, hinge, before, name, i, 0);
        snprintf(before, sizeof before, "%s", name);
    }
    cJSON* d = check_model(m);
    assert_int_equal(whole(d, "dof"), 60);
    assert_int_equal(cJSON_GetArraySize(at(d, "motions")), 60);
    assert_string_equal(text(at(d, "position"), "kind"), "regular");
    cJSON_Delete(m);
    cJSON_Delete(d);
}

static void two_hundred_windows_take_seconds(void** state) {
    (void)state;
    cJSON* m = windows(200);
    double start = test_clock();
    cJSON* d = check_model(m);
    double seconds = test_clock() - start;
    if (seconds > 60) fail_msg("%g s", seconds); // 0.2 s on a free machine, without sanitizers
    assert_int_equal(cJSON_GetArraySize(at(d, "redundancies")), 200);
    cJSON_Delete(m);
    cJSON_Delete(d);
}

static int clean_up(void** state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_window_of_a_row_is_a_loop_of_four_joints),
        cmocka_unit_test(a_third_crank_adds_a_redundancy_of_all_six_joints),
        cmocka_unit_test(releases_take_the_redundancy_and_add_no_freedom),
        cmocka_unit_test(joints_that_are_driven_are_left_alone),
        cmocka_unit_test(a_second_driver_on_a_loop_is_named),
        cmocka_unit_test(the_pendulum_turns_about_its_hinge),
        cmocka_unit_test(gears_pass_their_ratios_on),
        cmocka_unit_test(the_bar_of_a_parallelogram_moves_on_a_circle),
        cmocka_unit_test(a_free_body_has_six_motions),
        cmocka_unit_test(flat_parallelograms_are_singular_and_upright_ones_are_not),
        cmocka_unit_test(the_smallest_singular_value_follows_the_angle),
        cmocka_unit_test(an_open_chain_of_many_links_is_regular),
        cmocka_unit_test(two_hundred_windows_take_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
