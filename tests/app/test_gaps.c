// The quantity `gap` is a number at every distance, or refused.
#include <cjson/cJSON.h>
#include "test.h"

#include "model_text.h"

static int make_parts(void** state) {
    (void)state;
    char cache[400];
    setenv("XDG_CACHE_HOME", scratch_file("cache", cache, sizeof cache), 1);
    make_part("ball", "'steps': [{'sphere': {'radius': 8}}]");
    make_part("plate",
              "'steps': [{'box': {'size': [400, 200, 10], 'centered': true}, 'at': [0, 0, -5]}], "
              "'names': [{'name': 'top', 'near': [0, 0, 0]}]");
    return 0;
}

static int remove_parts(void** state) {
    (void)state;
    scratch_remove();
    return 0;
}

static double output_of(const char* json, const char* name) {
    cJSON* root = cJSON_Parse(json);
    const cJSON* outputs = cJSON_GetObjectItem(root, "outputs");
    const cJSON* item = cJSON_GetObjectItem(outputs, name);
    double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    cJSON_Delete(root);
    return value;
}

static void assert_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.15g differs from %.15g by more than %g", value, expected, tolerance);
}

// A ball flies 1 m over a plate and past its end: the distance is that of the top face, then that
// of its edge.
static void the_gap_of_cad_faces_is_their_distance_far_from_contact(void** state) {
    (void)state;
    char path[400];
    write_model("flight.json",
                "{'format': 'lash-model/1', 'units': {'length': 'mm', 'mass': 'kg'}, 'gravity': "
                "[0, 0, 0], 'parts': [{'name': 'ball', 'step': 'ball.step', 'density': 7.85e-6, "
                "'pose': {'position': [0, 0, 1008]}, 'velocity': [1000, 0, -500]}, {'name': "
                "'plate', 'step': 'plate.step', 'fixed': true}], 'contacts': "
                "[{'name': 'land', 'a': {'part': 'plate', 'faces': ['top']}, 'b': {'part': "
                "'ball', 'faces': 'all'}, 'offset': 0.25}], 'outputs': [{'name': 'end', "
                "'quantity': 'gap', 'of': "
                "'land'}, {'name': 'mean', 'quantity': 'gap', 'of': 'land', 'when': 'mean'}, "
                "{'name': 'when', 'quantity': 'gap', 'of': 'land', 'when': 'first-crossing', "
                "'level': 960.25}], 'simulation': {'duration': 1, 'step': 1e-3}}",
                path, sizeof path);
    Outcome o = LASH("run", path, "--json");
    if (o.code != 0) fail_msg("%s", o.err);
    assert_near(output_of(o.out, "end"), hypot(0.8, 0.508) - 0.008 + 0.25e-3, 1e-12);
    assert_near(output_of(o.out, "when"), 0.08, 1e-9); // over the plate: 1 - 0.5 t
    double mean = 0; // by the trapezoidal rule over the steps, as outputs are
    for (int i = 0; i <= 1000; ++i) {
        double t = 1e-3 * i, distance = hypot(fmax(0, t - 0.2), 1.008 - 0.5 * t);
        mean += (i % 1000 == 0 ? 0.5e-3 : 1e-3) * (distance - 0.008 + 0.25e-3);
    }
    assert_near(output_of(o.out, "mean"), mean, 1e-12);
    outcome_free(&o);
}

// The pin slides along its axis, play 0.1 mm: out of the bore of 20 mm it is as far as the circles
// at the ends.
static void the_gap_of_a_pin_that_has_left_its_bore_is_the_distance_of_the_ends(void** state) {
    (void)state;
    char path[400];
    write_model("leaves.json",
                "{'format': 'lash-model/1', 'units': {'length': 'mm', 'mass': 'kg'}, 'gravity': "
                "[0, 0, 0], 'parts': [{'name': 'pin', 'mass': 1, 'inertia': [100, 100, 100], "
                "'velocity': [0, 0, 1000]}], 'joints': [{'name': 'bush', 'type': 'cylindrical', "
                "'a': 'ground', 'b': 'pin', 'point': [0, 0, 0], 'axis': [0, 0, 1], 'clearance': "
                "0.1, 'radius': 5, 'length': 20, 'pin_length': 40}], 'outputs': [{'name': 'end', "
                "'quantity': 'gap', 'of': 'bush'}], 'simulation': {'duration': 0.06, 'step': "
                "1e-4}}",
                path, sizeof path);
    Outcome o = LASH("run", path, "--json");
    assert_int_equal(o.code, 0);
    assert_near(output_of(o.out, "end"), hypot(1e-4, 0.06 - 0.03), 1e-9);
    outcome_free(&o);
    o = LASH("run", path, "--json", "--duration", "0.01"); // still inside
    assert_near(output_of(o.out, "end"), 1e-4, 1e-9);
    outcome_free(&o);
}

static void the_gap_of_one_point_of_a_joint_is_refused_with_a_reason(void** state) {
    (void)state;
    char path[400];
    write_model("point.json",
                "{'format': 'lash-model/1', 'parts': [{'name': 'pin', 'mass': 1, 'inertia': [1, "
                "1, 1]}], 'joints': [{'name': 'bush', 'type': 'cylindrical', 'a': 'ground', 'b': "
                "'pin', 'point': [0, 0, 0], 'axis': [0, 0, 1], 'clearance': 1e-4, 'radius': 5e-3, "
                "'length': 0.02, 'pin_length': 0.04}], 'outputs': [{'name': 'end', 'quantity': "
                "'gap', 'of': 'bush.1'}], 'simulation': {'duration': 0.01, 'step': 1e-4}}",
                path, sizeof path);
    Outcome o = LASH("run", path);
    assert_int_equal(o.code, 3);
    assert_non_null(strstr(o.err, "outputs[0].of"));
    assert_non_null(strstr(o.err, "ask for the gap of 'bush'"));
    outcome_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gap_of_cad_faces_is_their_distance_far_from_contact),
        cmocka_unit_test(the_gap_of_a_pin_that_has_left_its_bore_is_the_distance_of_the_ends),
        cmocka_unit_test(the_gap_of_one_point_of_a_joint_is_refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, make_parts, remove_parts);
}
