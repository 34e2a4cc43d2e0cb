// Runs of the repository's models as a user makes them: lash run MODEL --json, with parameters.
#ifndef LASH_TESTS_MODELS_RUN_H
#define LASH_TESTS_MODELS_RUN_H

#include "test.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "command.h"

// NULL-terminated options after the model's path below models/; the caller deletes the document.
static inline cJSON* run_model(const char* model, const char* const* options) {
    char path[400];
    snprintf(path, sizeof path, "%s/models/%s", LASH_SOURCE_DIR, model);
    Command command = {.argument = {"run", path, "--json"}};
    for (int i = 0; options != NULL && options[i] != NULL; ++i) {
        assert_true(i + 4 < COMMAND_ARGUMENTS);
        command.argument[3 + i] = options[i];
    }
    Outcome outcome = run_command(&command);
    cJSON* json = cJSON_Parse(outcome.out);
    if (json == NULL || outcome.code != 0)
        fail_msg("%s: exit code %d: %s%s", model, outcome.code, outcome.out, outcome.err);
    outcome_free(&outcome);
    return json;
}

static inline double result_at(const cJSON* node, const char* path) {
    char copy[128];
    snprintf(copy, sizeof copy, "%s", path);
    for (char* key = strtok(copy, "/"); key != NULL; key = strtok(NULL, "/")) {
        bool index = cJSON_IsArray(node);
        node = index ? cJSON_GetArrayItem(node, atoi(key)) : cJSON_GetObjectItem(node, key);
        if (node == NULL) fail_msg("no key %s in %s", key, path);
    }
    if (cJSON_IsNull(node)) return NAN;
    if (!cJSON_IsNumber(node)) fail_msg("%s is no number", path);
    return node->valuedouble;
}

static inline void assert_between(const char* what, double value, double low, double high) {
    if (value >= low && value <= high) return;
    fail_msg("%s is %.17g, not from %g to %g", what, value, low, high);
}

// Every accepted step meets the tolerances of the model: 1e-10.
static inline void assert_exact(const cJSON* json) {
    assert_between("gap", result_at(json, "violation/unilateral"), 0, 1e-10);
    assert_between("joint error", result_at(json, "violation/bilateral"), 0, 1e-10);
    assert_between("velocity error", result_at(json, "violation/velocity"), 0, 1e-10);
}

// Over the run every joint and contact took energy: the verdict of the run, and the figures.
static inline void assert_no_energy_given(const cJSON* json) {
    const cJSON* group[] = {cJSON_GetObjectItem(json, "joints"),
                            cJSON_GetObjectItem(cJSON_GetObjectItem(json, "contacts"), "each")};
    for (int i = 0; i < 2; ++i) {
        assert_non_null(group[i]);
        for (const cJSON* node = group[i]->child; node != NULL; node = node->next) {
            double net = result_at(node, "contact_work"),
                   wear = i == 0 ? result_at(node, "wear") : 0;
            assert_between(node->string, net, -INFINITY, 1e-12);
            assert_between(node->string, wear, -1e-12, INFINITY);
        }
    }
    const cJSON* givers = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "energy"), "givers");
    assert_true(cJSON_IsArray(givers) && cJSON_GetArraySize(givers) == 0);
}

static inline bool long_tests(void) {
    return getenv("LASH_LONG_TESTS") != NULL;
}

#endif
