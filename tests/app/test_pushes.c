// Forces and impulses of impacts are told apart: peaks of both are the same at every step length,
// also of closed contacts that only pass an impact on.
#include "test.h"

#include "models_run.h"

// A ball of 0.1 kg falls 10 mm on an anvil of 2 kg that lies on the floor and is pressed down by a
// slowly growing force. A second anvil beside it is hit by nobody.
static const char* const ANVILS =
    "{\"format\": \"lash-model/1\", \"name\": \"anvils\", \"gravity\": [0, 0, -9.81], \"parts\": ["
    "{\"name\": \"anvil\", \"mass\": 2, \"inertia\": [0.01, 0.01, 0.01]},"
    "{\"name\": \"other\", \"mass\": 2, \"inertia\": [0.01, 0.01, 0.01],"
    " \"pose\": {\"position\": [1, 0, 0]}},"
    "{\"name\": \"ball\", \"mass\": %g, \"inertia\": [1e-4, 1e-4, 1e-4],"
    " \"pose\": {\"position\": [0, 0, 0.11]}}],"
    "\"joints\": [{\"name\": \"guide\", \"type\": \"prismatic\", \"a\": \"ground\", \"b\": "
    "\"anvil\", \"point\": [0, 0, 0], \"axis\": [0, 0, 1]},"
    "{\"name\": \"other_guide\", \"type\": \"prismatic\", \"a\": \"ground\", \"b\": \"other\","
    " \"point\": [1, 0, 0], \"axis\": [0, 0, 1]}],"
    "\"forces\": [{\"name\": \"press\", \"type\": \"joint_force\", \"joint\": \"guide\", "
    "\"force\": \"-100*t\"}],"
    "\"contacts\": ["
    "{\"name\": \"floor\", \"a\": {\"part\": \"ground\", \"plane\": {\"point\": [0, 0, 0], "
    "\"normal\": [0, 0, 1]}}, \"b\": {\"part\": \"anvil\", \"point\": [0, 0, 0]}},"
    "{\"name\": \"other_floor\", \"a\": {\"part\": \"ground\", \"plane\": {\"point\": [0, 0, 0], "
    "\"normal\": [0, 0, 1]}}, \"b\": {\"part\": \"other\", \"point\": [0, 0, 0]}},"
    "{\"name\": \"blow\", \"a\": {\"part\": \"anvil\", \"plane\": {\"point\": [0, 0, 0.1], "
    "\"normal\": [0, 0, 1]}}, \"b\": {\"part\": \"ball\", \"point\": [0, 0, 0]}}],"
    "\"simulation\": {\"step\": %g, \"duration\": %g}, \"outputs\": ["
    "{\"name\": \"on_floor\", \"quantity\": \"impulse\", \"of\": \"floor\", \"when\": \"max\"},"
    "{\"name\": \"on_other\", \"quantity\": \"impulse\", \"of\": \"other_floor\", \"when\": "
    "\"max\"},"
    "{\"name\": \"on_anvil\", \"quantity\": \"impulse\", \"of\": \"blow\", \"when\": \"max\"}]}";

static cJSON* run_anvils(double ball, double h, double T) {
    char path[400];
    FILE* file = fopen(scratch_file("anvils.json", path, sizeof path), "w");
    fprintf(file, ANVILS, ball, h, T);
    fclose(file);
    Command command = {.argument = {"run", path, "--json"}};
    Outcome outcome = run_command(&command);
    cJSON* json = cJSON_Parse(outcome.out);
    if (json == NULL || outcome.code != 0) fail_msg("exit code %d: %s", outcome.code, outcome.err);
    outcome_free(&outcome);
    return json;
}

static void assert_near(const cJSON* json, const char* path, double expected, double tolerance) {
    assert_between(path, result_at(json, path), expected - tolerance, expected + tolerance);
}

static void an_impact_passed_on_is_an_impulse_and_no_force(void** state) {
    (void)state;
    const double steps[] = {1e-3, 2e-4, 2e-5}, g = 9.81, T = 0.1;
    const double blow = 0.1 * sqrt(2 * g * 0.01); // [N s]
    for (int i = 0; i < 3; ++i) {
        double h = steps[i];
        cJSON* json = run_anvils(0.1, h, T);
        // The load after the impact, at the middle of the last step.
        assert_near(json, "contacts/each/floor/peak_force", 2.1 * g + 100 * (T - h / 2), 1e-6);
        assert_near(json, "contacts/each/blow/peak_force", 0.1 * g, 1e-6);
        assert_near(json, "contacts/each/other_floor/peak_force", 2 * g, 1e-6);
        assert_near(json, "contacts/each/floor/peak_impulse", blow, 3 * h);
        assert_near(json, "contacts/each/blow/peak_impulse", blow, 3 * h);
        assert_near(json, "contacts/each/other_floor/peak_impulse", 0, 0);
        assert_near(json, "outputs/on_floor", blow, 3 * h);
        assert_near(json, "outputs/on_anvil", blow, 3 * h);
        assert_near(json, "outputs/on_other", 0, 0);
        cJSON_Delete(json);
    }
}

static void a_force_without_impact_has_no_impulse(void** state) {
    (void)state;
    cJSON* json = run_anvils(0.1, 1e-3, 0.04); // the ball arrives after 45 ms
    assert_near(json, "contacts/each/floor/peak_impulse", 0, 0);
    assert_near(json, "outputs/on_floor", 0, 0);
    assert_near(json, "contacts/each/floor/peak_force", 2 * 9.81 + 100 * 0.0395, 1e-6);
    cJSON_Delete(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_impact_passed_on_is_an_impulse_and_no_force),
        cmocka_unit_test(a_force_without_impact_has_no_impulse),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
