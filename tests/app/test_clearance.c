// Joints with clearance in models: the slider-crank of [A12] (claim A-48), the way to the ideal
// joint, starts within and outside the play, CAD faces, what a run reports.
#include <cjson/cJSON.h>
#include "test.h"

#include "tests/cad_parts.h"
#include "tests/command.h"

// Crank, rod and slider of models/slider_crank/ideal.json; %s: what the crank pin has more.
static const char* const slider_crank =
    "{\"format\": \"lash-model/1\","
    "\"parameters\": {\"l1\": 0.153, \"l2\": 0.306, \"play\": 5e-4, \"speed\": 150},"
    "\"gravity\": [0, -9.81, 0], \"parts\": ["
    "{\"name\": \"crank\", \"mass\": 0.038, \"inertia\": [2e-6, 7.3e-5, 7.4e-5],"
    " \"pose\": {\"position\": [\"l1/2\", 0, 0]}, \"velocity\": [0, \"speed*l1/2\", 0],"
    " \"angular_velocity\": [0, 0, \"speed\"]},"
    "{\"name\": \"rod\", \"mass\": 0.038, \"inertia\": [2e-6, 5.89e-4, 5.9e-4],"
    " \"pose\": {\"position\": [\"l1+l2/2\", 0, 0]}, \"velocity\": [0, \"speed*l1/2\", 0],"
    " \"angular_velocity\": [0, 0, \"-speed*l1/l2\"]},"
    "{\"name\": \"slider\", \"mass\": 0.076, \"inertia\": [2.7e-6, 2.7e-6, 2.7e-6],"
    " \"pose\": {\"position\": [\"l1+l2\", 0, 0]}}],"
    "\"joints\": ["
    "{\"name\": \"main_bearing\", \"type\": \"revolute\", \"a\": \"ground\", \"b\": \"crank\","
    " \"point\": [0, 0, 0], \"axis\": [0, 0, 1]},"
    "{\"name\": \"crank_pin\", \"type\": \"revolute\", \"a\": \"crank\", \"b\": \"rod\","
    " \"point\": [\"l1\", 0, 0], \"axis\": [0, 0, 1], \"clearance\": \"play\","
    " \"radius\": 0.01, \"length\": 0.02, \"friction\": 0.01%s},"
    "{\"name\": \"piston_pin\", \"type\": \"revolute\", \"a\": \"rod\", \"b\": \"slider\","
    " \"point\": [\"l1+l2\", 0, 0], \"axis\": [0, 0, 1]},"
    "{\"name\": \"guide\", \"type\": \"prismatic\", \"a\": \"ground\", \"b\": \"slider\","
    " \"point\": [\"l1+l2\", 0, 0], \"axis\": [1, 0, 0], \"x_axis\": [0, 1, 0]}],"
    "\"simulation\": {\"step\": 1e-5, \"duration\": 0.0838, \"substeps\": 256},"
    "\"outputs\": ["
    "{\"name\": \"angle\", \"quantity\": \"coordinate\", \"of\": \"main_bearing\"},"
    "{\"name\": \"speed\", \"quantity\": \"speed\", \"of\": \"main_bearing\"},"
    "{\"name\": \"gap\", \"quantity\": \"gap\", \"of\": \"crank_pin\", \"when\": \"min\"},"
    "{\"name\": \"first\", \"quantity\": \"first_impact\", \"of\": \"crank_pin\"},"
    "{\"name\": \"eccentricity\", \"quantity\": \"eccentricity\", \"of\": \"crank_pin\","
    " \"when\": \"max\"}]}";

static const char* write_slider_crank(const char* more) {
    static char path[300];
    char text[8192];
    int bytes = snprintf(text, sizeof text, slider_crank, more);
    scratch_file("slider_crank.json", path, sizeof path);
    cad_write(path, text, (size_t)bytes);
    return path;
}

static cJSON* parse(Outcome* o) {
    cJSON* json = cJSON_Parse(o->out);
    assert_non_null(json);
    return json;
}

static double number(const cJSON* json, const char* group, const char* key) {
    const cJSON* item = cJSON_GetObjectItem(cJSON_GetObjectItem(json, group), key);
    if (item == NULL) fail_msg("no %s.%s", group, key);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static double of_joint(const cJSON* json, const char* joint, const char* key) {
    return number(cJSON_GetObjectItem(json, "joints"), joint, key);
}

static void combined_scheme_keeps_the_joint_for_two_revolutions(void** state) {
    (void)state;
    const char* model = write_slider_crank(", \"axial_clearance\": 0");
    const char* plays[] = {"play=5e-4", "play=5e-3"};
    for (int k = 0; k < 2; ++k) {
        Outcome o = LASH("run", model, "--set", plays[k], "--json");
        assert_int_equal(o.code, 0);
        cJSON* json = parse(&o);
        double play = k == 0 ? 5e-4 : 5e-3;
        assert_true(number(json, "outputs", "gap") >= -1e-10);
        assert_true(number(json, "outputs", "eccentricity") <= play + 1e-10);
        assert_true(number(json, "outputs", "angle") > 2 * LASH_PI);
        assert_true(of_joint(json, "crank_pin", "contact_work") <= 0);
        assert_true(of_joint(json, "crank_pin", "wear") > 0);
        double free = of_joint(json, "crank_pin", "free_time");
        double contact = of_joint(json, "crank_pin", "contact_time");
        assert_true(fabs(free + contact - 0.0838) < 1e-9);
        assert_true(free > 4e-4 && contact > 0.08);
        cJSON_Delete(json);
        outcome_free(&o);
    }
}

// Until the first plastic impact both speeds are constant (but for gravity).
static void speeds_are_constant_before_the_first_impact(void** state) {
    (void)state;
    const char* model = write_slider_crank(", \"axial_clearance\": 0");
    Outcome o = LASH("run", model, "--json", "--duration", "4.5e-4");
    cJSON* json = parse(&o);
    assert_true(isnan(number(json, "outputs", "first")));
    double speed = number(json, "outputs", "speed");
    assert_true(fabs(speed - 150) <= 1.5);
    cJSON_Delete(json);
    outcome_free(&o);
    o = LASH("run", model, "--json", "--duration", "4.7e-4");
    json = parse(&o);
    assert_true(fabs(number(json, "outputs", "first") - 4.53e-4) < 1e-5);
    cJSON_Delete(json);
    outcome_free(&o);
}

// Claim A-48: rows at the start of the step, no projection.
static void moreau_jean_loses_the_joint_or_violates_by_the_step(void** state) {
    (void)state;
    const char* model = write_slider_crank(", \"axial_clearance\": 0");
    Outcome o = LASH("run", model, "--json", "--scheme", "moreau-jean", "--direction", "start");
    cJSON* json = parse(&o);
    double eccentricity = number(json, "outputs", "eccentricity");
    print_message("moreau-jean: eccentricity %.3g m in a play of 5e-4 m\n", eccentricity);
    assert_true(o.code != 0 || eccentricity > 2 * 5e-4);
    cJSON_Delete(json);
    outcome_free(&o);
    double violation[2];
    const char* steps[] = {"1e-5", "1e-6"};
    for (int k = 0; k < 2; ++k) {
        o = LASH("run", model, "--json", "--scheme", "moreau-jean", "--direction", "start",
                 "--duration", "0.004", "--step", steps[k]);
        json = parse(&o);
        violation[k] = number(json, "violation", "unilateral");
        cJSON_Delete(json);
        outcome_free(&o);
    }
    print_message("moreau-jean: violated by %.3g m at h = 1e-5, %.3g m at 1e-6\n", violation[0],
                  violation[1]);
    assert_true(violation[0] > 1e-6 && violation[0] > 5 * violation[1]);
}

// The smaller the play, the nearer to the ideal joint with the same friction: first order.
static void trajectory_converges_to_that_of_the_ideal_joint(void** state) {
    (void)state;
    const char* model = write_slider_crank(", \"axial_clearance\": 0");
    const char* plays[] = {"play=0", "play=5e-4", "play=5e-5", "play=5e-6", "play=1e-6"};
    double angle[5];
    for (int k = 0; k < 5; ++k) {
        Outcome o = LASH("run", model, "--set", plays[k], "--json", "--duration", "0.03");
        assert_int_equal(o.code, 0);
        cJSON* json = parse(&o);
        angle[k] = number(json, "outputs", "angle");
        assert_true(k == 0 || number(json, "outputs", "gap") >= -1e-10);
        cJSON_Delete(json);
        outcome_free(&o);
    }
    double error[5], rate;
    for (int k = 1; k < 5; ++k) error[k] = fabs(angle[k] - angle[0]);
    rate = log(error[1] / error[3]) / log(100);
    print_message("errors of the angle %.3g, %.3g, %.3g, %.3g rad: order %.2f\n", error[1],
                  error[2], error[3], error[4], rate);
    assert_true(rate > 0.85 && rate < 1.3);
    assert_true(error[4] < 0.5 * error[3]);
}

// Far below what the step resolves: solved in parts, or refused with exit code 5.
static void tiny_play_is_solved_or_refused(void** state) {
    (void)state;
    const char* model = write_slider_crank(", \"axial_clearance\": 0");
    const char* plays[] = {"play=1e-7", "play=1e-9", "play=1e-12"};
    for (int k = 0; k < 3; ++k) {
        Outcome o = LASH("run", model, "--set", plays[k], "--json", "--duration", "4e-5");
        cJSON* json = parse(&o);
        assert_true(o.code == 0 || o.code == 5);
        if (o.code == 0) assert_true(number(json, "violation", "unilateral") <= 1e-10);
        print_message("%s: exit code %d\n", plays[k], o.code);
        cJSON_Delete(json);
        outcome_free(&o);
    }
}

// ---- starts -------------------------------------------------------------------------------------

static void start_within_the_play_is_accepted_and_outside_refused(void** state) {
    (void)state;
    const char* inside = ", \"axial_clearance\": 0, \"eccentricity\": [3e-4, -3e-4, 0]";
    const char* outside = ", \"axial_clearance\": 0, \"eccentricity\": [5e-4, -3e-4, 0]";
    Outcome o = LASH("check", write_slider_crank(inside));
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = LASH("run", write_slider_crank(outside));
    assert_int_equal(o.code, 3);
    assert_non_null(strstr(o.err, "joints[1]"));
    assert_non_null(strstr(o.err, "crank_pin.1"));
    assert_non_null(strstr(o.err, "8.31e-05 m deep at [0.1")); // hypot(5e-4, 3e-4) - 5e-4
    outcome_free(&o);
}

static void wrong_keys_are_told(void** state) {
    (void)state;
    const struct {
        const char *more, *told;
    } cases[] = {
        {", \"width\": 0.1", "joints[1].width"},
        {", \"guide_length\": 0.1", "joints[1].guide_length"},
        {", \"restitution\": 1.5", "joints[1].restitution"},
        {", \"bore_in\": \"c\"", "joints[1].bore_in"},
        {", \"axial_clearance\": -1", "joints[1].axial_clearance"},
        {", \"bore\": 3", "has no CAD faces"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        Outcome o = LASH("check", write_slider_crank(cases[i].more));
        assert_int_equal(o.code, 3);
        if (strstr(o.err, cases[i].told) == NULL) fail_msg("%s: %s", cases[i].more, o.err);
        outcome_free(&o);
    }
}

// ---- all joints with play -----------------------------------------------------------------------

// All four joints of the slider-crank with play, in space: nothing penetrates, no joint feeds
// energy in.
static void slider_crank_with_play_everywhere_loses_energy_in_every_joint(void** state) {
    (void)state;
    char text[8192], path[300];
    FILE* file = fopen(LASH_SOURCE_DIR "/models/slider_crank/ideal.json", "rb");
    assert_non_null(file);
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    text[bytes] = '\0';
    fclose(file);
    cJSON* model = cJSON_Parse(text);
    cJSON* joint;
    cJSON_ArrayForEach(joint, cJSON_GetObjectItem(model, "joints")) {
        cJSON_AddNumberToObject(joint, "clearance", 1e-4);
        cJSON_AddNumberToObject(joint, "friction", 0.05);
        cJSON_AddNumberToObject(joint, "restitution", 0.2);
        if (strcmp(cJSON_GetObjectItem(joint, "type")->valuestring, "prismatic") == 0) {
            cJSON_AddNumberToObject(joint, "width", 0.03);
            cJSON_AddNumberToObject(joint, "height", 0.02);
            cJSON_AddNumberToObject(joint, "length", 0.05);
        } else {
            cJSON_AddNumberToObject(joint, "radius", 0.01);
            cJSON_AddNumberToObject(joint, "length", 0.02);
        }
    }
    char* changed = cJSON_Print(model);
    scratch_file("all.json", path, sizeof path);
    cad_write(path, changed, strlen(changed));
    free(changed);
    cJSON_Delete(model);
    Outcome o = LASH("run", path, "--json", "--duration", "0.02");
    assert_int_equal(o.code, 0);
    cJSON* json = parse(&o);
    assert_true(number(json, "violation", "unilateral") <= 1e-10);
    const char* names[] = {"main_bearing", "crank_pin", "piston_pin", "guide"};
    for (int i = 0; i < 4; ++i) {
        double work = of_joint(json, names[i], "contact_work");
        print_message("%-14s work %.4g J, largest gain of a step %.2g J, %g impacts\n", names[i],
                      work, of_joint(json, names[i], "largest_gain"),
                      of_joint(json, names[i], "impacts"));
        assert_true(work <= 0);
        assert_true(of_joint(json, names[i], "impacts") > 0);
    }
    cJSON_Delete(json);
    outcome_free(&o);
}

// ---- CAD ----------------------------------------------------------------------------------------

static void faces_give_axis_radii_and_lengths(void** state) {
    (void)state;
    CadFolder folder = cad_folder();
    const char* plate =
        "{\"format\": \"lash-step/1\", \"name\": \"plate\", \"steps\": [{\"box\": {\"size\": [40, "
        "20, 10], \"centered\": true}}, {\"cylinder\": {\"radius\": 5.02, \"length\": 10, "
        "\"side\": \"bore\"}, \"at\": [0, 0, -5], \"do\": \"cut\"}]}";
    const char* pin =
        "{\"format\": \"lash-step/1\", \"name\": \"pin\", \"steps\": [{\"cylinder\": {\"radius\": "
        "5, \"length\": 30, \"side\": \"pin\"}, \"at\": [0, 0, -3]}]}";
    cad_make(&folder, "plate", plate);
    cad_make(&folder, "pin", pin);
    const char* model =
        "{\"format\": \"lash-model/1\", \"units\": {\"length\": \"mm\", \"mass\": \"g\"},"
        "\"gravity\": [0, -9810, 0], \"parts\": [{\"name\": \"plate\", \"step\": \"plate.step\","
        "\"fixed\": true}, {\"name\": \"pin\", \"step\": \"pin.step\", \"density\": 0.00785,"
        "\"pose\": {\"position\": [0, -0.01, 0]}}],"
        "\"joints\": [{\"name\": \"bearing\", \"type\": \"revolute\", \"a\": \"plate\", \"b\": "
        "\"pin\", \"bore\": \"bore\", \"pin\": {\"type\": \"cylinder\", \"radius\": 5},"
        "\"friction\": 0.1%s}], \"simulation\": {\"step\": 1e-4, \"duration\": 0.05}, \"outputs\":"
        "[{\"name\": \"force\", \"quantity\": \"force.y\", \"of\": \"bearing\"},"
        "{\"name\": \"tilt\", \"quantity\": \"tilt\", \"of\": \"bearing\"}]}";
    const char* more[] = {"", ", \"clearance\": 0.05"};
    for (int k = 0; k < 2; ++k) {
        char text[4096], path[700];
        snprintf(text, sizeof text, model, more[k]);
        snprintf(path, sizeof path, "%s/model.json", folder.path);
        cad_write(path, text, strlen(text));
        Outcome o = LASH("run", path, "--json");
        if (o.code != 0) fail_msg("%s", o.err);
        cJSON* json = parse(&o);
        double play = k == 0 ? 2e-5 : 5e-5; // measured, or as told
        double weight = LASH_PI * 25e-6 * 30e-3 * 7850 * 9.81;
        assert_true(fabs(of_joint(json, "bearing", "clearance") - play) < 1e-9);
        assert_true(fabs(number(json, "outputs", "force") - weight) < 1e-6);
        // overhanging, tilted until the ring (radius 7.5 mm) meets both collars
        double tilt = number(json, "outputs", "tilt");
        assert_true(fabs(tilt - 2 * play / 15e-3) < 0.01 * tilt);
        cJSON_Delete(json);
        outcome_free(&o);
    }
    cad_remove_all(folder.path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(combined_scheme_keeps_the_joint_for_two_revolutions),
        cmocka_unit_test(speeds_are_constant_before_the_first_impact),
        cmocka_unit_test(moreau_jean_loses_the_joint_or_violates_by_the_step),
        cmocka_unit_test(trajectory_converges_to_that_of_the_ideal_joint),
        cmocka_unit_test(tiny_play_is_solved_or_refused),
        cmocka_unit_test(start_within_the_play_is_accepted_and_outside_refused),
        cmocka_unit_test(wrong_keys_are_told),
        cmocka_unit_test(slider_crank_with_play_everywhere_loses_energy_in_every_joint),
        cmocka_unit_test(faces_give_axis_radii_and_lengths),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove();
    return failed;
}
