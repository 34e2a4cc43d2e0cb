// The program as a user meets it: commands, exit codes, messages, JSON documents.
#include <cjson/cJSON.h>
#include "test.h"

#include "command.h"

static const char* const slider_crank = LASH_SOURCE_DIR "/models/slider_crank/ideal.json";

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
    assert_true(cJSON_IsString(cJSON_GetObjectItem(document, "lash")));
    assert_true(cJSON_IsString(cJSON_GetObjectItem(document, "command")));
    assert_true(cJSON_IsBool(cJSON_GetObjectItem(document, "ok")));
    assert_non_null(cJSON_GetObjectItem(document, "error"));
    return document;
}

static double number_at(const cJSON* document, const char* path) {
    char copy[128];
    snprintf(copy, sizeof copy, "%s", path);
    for (char* key = strtok(copy, "/"); key != NULL; key = strtok(NULL, "/")) {
        document = cJSON_GetObjectItem(document, key);
        if (document == NULL) fail_msg("no key %s in %s", key, path);
    }
    assert_true(cJSON_IsNumber(document));
    return document->valuedouble;
}

static void help_lists_the_commands(void** state) {
    (void)state;
    Outcome o = LASH("-h");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "run");
    assert_contains(o.out, "check");
    assert_string_equal(o.err, "");
    outcome_free(&o);
    static const char* const commands[] = {"run", "check", "export", "schema", "bench"};
    for (int i = 0; i < 5; ++i) {
        o = LASH(commands[i], "-h");
        assert_int_equal(o.code, 0);
        assert_contains(o.out, "usage: lash");
        outcome_free(&o);
    }
}

static void version_is_printed(void** state) {
    (void)state;
    Outcome o = LASH("--version");
    assert_int_equal(o.code, 0);
    assert_int_equal(strncmp(o.out, "lash ", 5), 0);
    outcome_free(&o);
}

static void wrong_usage_exits_with_2_and_a_hint(void** state) {
    (void)state;
    static const struct {
        const char *a, *b, *c, *words;
    } cases[] = {
        {"rnu", NULL, NULL, "did you mean 'run'?"},
        {"run", NULL, NULL, "MODEL is missing"},
        {"run", slider_crank, "--stepp=1", "did you mean 'step'?"},
        {"run", slider_crank, "--step=fast", "needs a number, found 'fast'"},
        {"run", slider_crank, "--step", "needs a value"},
        {"run", slider_crank, "--step=-1", "positive"},
        {"run", slider_crank, "--scheme=moreau-jan", "did you mean 'moreau-jean'?"},
        {"run", slider_crank, "--set=l3=1", "did you mean 'l1'?"},
        {"run", slider_crank, "--set=l1", "expected parameter=value"},
        {"run", slider_crank, "--set=l1=1+", "--set"},
        {"run", slider_crank, slider_crank, "unexpected"},
        {"bench", "mechanism", NULL, "did you mean 'mechanisms'?"},
        {"schema", "modell", NULL, "expected 'model'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        Outcome o = LASH(cases[i].a, cases[i].b, cases[i].c);
        if (o.code != 2) fail_msg("case %zu: exit code %d: %s", i, o.code, o.err);
        assert_contains(o.err, cases[i].words);
        outcome_free(&o);
    }
    Outcome o = run_command(&(Command){.argument = {NULL}});
    assert_int_equal(o.code, 2);
    outcome_free(&o);
}

static void usage_errors_are_json_too(void** state) {
    (void)state;
    Outcome o = LASH("run", "--json", "--bogus", "x");
    assert_int_equal(o.code, 2);
    cJSON* document = one_document(o.out);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(document, "ok")));
    assert_true(number_at(document, "error/code") == 2);
    cJSON_Delete(document);
    outcome_free(&o);
}

static void run_prints_the_agreed_keys(void** state) {
    (void)state;
    Outcome o = LASH("run", slider_crank, "--json", "--duration", "0.01");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.err, "");
    cJSON* d = one_document(o.out);
    assert_true(number_at(d, "steps") == 1000);
    assert_true(fabs(number_at(d, "simulated_seconds") - 0.01) < 1e-12);
    assert_true(number_at(d, "wall_seconds") > 0);
    assert_true(number_at(d, "us_per_step") > 0);
    assert_true(number_at(d, "step") == 1e-5);
    assert_string_equal(cJSON_GetObjectItem(d, "scheme")->valuestring, "combined");
    assert_true(number_at(d, "violation/bilateral") <= 1e-10);
    assert_true(number_at(d, "violation/velocity") <= 1e-10);
    assert_true(number_at(d, "violation/unilateral") == 0);
    static const char* const counters[] = {"newton", "projection", "index_set", "solver"};
    for (int i = 0; i < 4; ++i) {
        char path[64];
        snprintf(path, sizeof path, "iterations/%s/avg", counters[i]);
        double average = number_at(d, path);
        snprintf(path, sizeof path, "iterations/%s/max", counters[i]);
        assert_true(number_at(d, path) >= average);
    }
    assert_true(fabs(number_at(d, "energy/start") - 7.49554875) < 1e-9); // 1/2 w' M w of the data
    assert_true(fabs(number_at(d, "energy/balance_error")) < 1e-4);
    number_at(d, "energy/end");
    number_at(d, "energy/external_work");
    number_at(d, "energy/dissipated");
    number_at(d, "contacts/max_active");
    number_at(d, "contacts/impacts");
    // theta1(0.01 s) of the closed-form reference is 0.9477...; the pin angle is reported unwrapped
    assert_true(number_at(d, "outputs/crank_angle") > 0.9 &&
                number_at(d, "outputs/crank_angle") < 1);
    cJSON* slider = cJSON_GetObjectItem(cJSON_GetObjectItem(d, "final"), "slider");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(slider, "position")), 3);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(slider, "quaternion")), 4);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(slider, "velocity")), 3);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(slider, "angular_velocity")), 3);
    cJSON_Delete(d);
    outcome_free(&o);
}

static void set_replaces_a_parameter(void** state) {
    (void)state;
    Outcome o =
        LASH("run", slider_crank, "--json", "--duration", "1e-4", "--set", "crank_speed=2*pi");
    assert_int_equal(o.code, 0);
    cJSON* d = one_document(o.out);
    assert_true(fabs(number_at(d, "outputs/crank_speed") - 6.283185307) <
                0.05); // gravity acts for 1e-4 s
    cJSON_Delete(d);
    outcome_free(&o);
}

static void check_names_the_redundant_joint(void** state) {
    (void)state;
    Outcome o = LASH("check", LASH_SOURCE_DIR "/models/benchmarks/four_bar.json", "--json");
    assert_int_equal(o.code, 0);
    cJSON* d = one_document(o.out);
    assert_true(number_at(d, "bodies") == 3);
    assert_true(number_at(d, "dof") == 1);
    cJSON* redundant = cJSON_GetObjectItem(d, "redundant");
    assert_int_equal(cJSON_GetArraySize(redundant), 1);
    assert_string_equal(cJSON_GetArrayItem(redundant, 0)->valuestring, "D");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(d, "warnings")), 0);
    assert_true(cJSON_IsArray(cJSON_GetObjectItem(d, "gaps")));
    cJSON_Delete(d);
    outcome_free(&o);
}

static void check_shows_the_nearest_consistent_start(void** state) {
    (void)state;
    Outcome o = LASH("check", LASH_SOURCE_DIR "/tests/data/bad/open_joint.json", "--json");
    assert_int_equal(o.code, 3);
    cJSON* d = one_document(o.out);
    assert_true(fabs(number_at(d, "start/position_error") - 1e-3) < 1e-12);
    assert_true(fabs(number_at(d, "start/moved") - 1e-3) < 1e-6);
    cJSON* a =
        cJSON_GetObjectItem(cJSON_GetObjectItem(cJSON_GetObjectItem(d, "start"), "nearest"), "a");
    cJSON* position = cJSON_GetObjectItem(a, "position");
    assert_true(fabs(cJSON_GetArrayItem(position, 0)->valuedouble + 1e-3) < 1e-9);
    cJSON_Delete(d);
    outcome_free(&o);
}

static const char mixed_units[] =
    "{\"format\": \"lash-model/1\", \"units\": {\"length\": \"mm\"}, \"gravity\": [0, 0, -9.81],\n"
    " \"parts\": [{\"name\": \"plate\", \"shape\": {\"type\": \"box\", \"size\": [50, 50, 5]}, "
    "\"density\": 7850},\n"
    "  {\"name\": \"disc\", \"mass\": 0.1, \"inertia\": [1e6, 1e6, 1e6], \"pose\": {\"position\": "
    "[60, "
    "0, 0]}}]}\n";

static void check_warns_of_millimetres_taken_for_metres(void** state) {
    (void)state;
    char path[300];
    FILE* file = fopen(scratch_file("mixed.json", path, sizeof path), "w");
    fputs(mixed_units, file);
    fclose(file);
    Outcome o = LASH("check", path);
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "gravity is 0.00981 m/s^2: 9.81 was read in mm/s^2; write 9810");
    assert_contains(o.out, "part 'plate': density is 7.85e+12 kg/m^3");
    assert_contains(o.out, "part 'disc': its radius of gyration");
    outcome_free(&o);
}

static void what_is_no_file_exits_with_7(void** state) {
    (void)state;
    Outcome o = LASH("run", LASH_SOURCE_DIR "/tests/data");
    assert_int_equal(o.code, 7);
    assert_contains(o.err, "found a directory");
    outcome_free(&o);
    o = LASH("run", "/nonexistent/model.json");
    assert_int_equal(o.code, 7);
    assert_contains(o.err, "cannot open");
    outcome_free(&o);
    o = LASH("run", slider_crank, "--duration", "1e-4", "-o", "/nonexistent/x.h5");
    assert_int_equal(o.code, 7);
    assert_contains(o.err, "/nonexistent/x.h5");
    outcome_free(&o);
    o = LASH("export", "--csv", slider_crank);
    assert_int_equal(o.code, 7);
    assert_contains(o.err, "found a model: 'lash check', 'lash run'");
    outcome_free(&o);
}

static void a_full_standard_output_is_noticed(void** state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    Outcome o = run_command(&(Command){.argument = {"schema", NULL}, .output = "/dev/full"});
    assert_int_equal(o.code, 7);
    outcome_free(&o);
}

static void schema_accepts_the_keys_the_loader_reads(void** state) {
    (void)state;
    Outcome o = LASH("schema");
    assert_int_equal(o.code, 0);
    cJSON* schema = cJSON_Parse(o.out);
    assert_non_null(schema);
    cJSON* properties = cJSON_GetObjectItem(schema, "properties");
    static const char* const keys[] = {"format", "units",  "parameters", "parts",
                                       "joints", "forces", "simulation", "outputs"};
    for (int i = 0; i < 8; ++i) assert_non_null(cJSON_GetObjectItem(properties, keys[i]));
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(schema, "additionalProperties")));
    cJSON_Delete(schema);
    outcome_free(&o);
}

static void a_run_leaves_a_result_that_exports_as_csv(void** state) {
    (void)state;
    char result[300], csv[300], plot[300];
    scratch_file("r.h5", result, sizeof result);
    scratch_file("r.csv", csv, sizeof csv);
    scratch_file("r.svg", plot, sizeof plot);
    Outcome o = LASH("run", slider_crank, "--duration", "0.002", "-o", result, "--plot", plot);
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "balance error");
    outcome_free(&o);
    o = LASH("export", "--csv", result, csv);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    char *text = slurp(csv), *svg = slurp(plot);
    int lines = 0;
    for (const char* c = text; *c != '\0'; ++c) lines += *c == '\n';
    assert_int_equal(lines, 1 + 201); // header, start and 200 steps
    assert_contains(text, "slider.position.x [m]");
    assert_contains(text, "guide.coordinate [m]");
    assert_contains(text, "crank_pin.force.x [N]");
    assert_int_equal(strncmp(svg, "<svg", 4), 0);
    assert_contains(svg, "</svg>");
    free(text);
    free(svg);
}

static void interrupt_ends_a_run_with_what_it_has(void** state) {
    (void)state;
    char result[300], path[300];
    scratch_file("i.h5", result, sizeof result);
    Command command = {
        .argument = {"run", slider_crank, "--duration", "1000", "--json", "-o", result}};
    pid_t child = start_command(&command);
    while (access(result, R_OK) != 0) usleep(10000);
    usleep(200000);
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    char* out = slurp(scratch_file("stdout", path, sizeof path));
    cJSON* d = one_document(out);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(d, "interrupted")));
    assert_true(number_at(d, "steps") > 0);
    cJSON_Delete(d);
    free(out);
    char csv[300]; // a device would be refused
    Outcome o = LASH("export", "--csv", result, scratch_file("interrupted.csv", csv, sizeof csv));
    assert_int_equal(o.code, 0);
    assert_string_equal(o.err, ""); // complete: no warning
    outcome_free(&o);
}

// A torque that sets in at 35 ms and turns the pendulum many times within a step.
static const char exploding[] =
    "{\"format\": \"lash-model/1\",\n"
    " \"parts\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1], \"pose\": {\"position\": "
    "[1, 0, "
    "0]}}],\n"
    " \"joints\": [{\"name\": \"hinge\", \"type\": \"revolute\", \"a\": \"ground\", \"b\": \"a\", "
    "\"point\": [0, 0, 0], \"axis\": [0, 0, 1]}],\n"
    " \"forces\": [{\"name\": \"f\", \"type\": \"joint_force\", \"joint\": \"hinge\", \"force\": "
    "\"if(t<0.035,0,1e12)\"}],\n"
    " \"simulation\": {\"step\": 0.01, \"duration\": 1}}\n";

static void a_failing_step_exits_with_5_and_tells_the_time(void** state) {
    (void)state;
    char path[300];
    FILE* file = fopen(scratch_file("explode.json", path, sizeof path), "w");
    fputs(exploding, file);
    fclose(file);
    Outcome o = LASH("run", path, "--json");
    assert_int_equal(o.code, 5);
    assert_contains(o.err, "t = 0.0");
    cJSON* d = one_document(o.out);
    assert_true(number_at(d, "error/code") == 5);
    assert_true(number_at(d, "steps") >= 1);
    cJSON_Delete(d);
    outcome_free(&o);
}

static int clean_up(void** state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_lists_the_commands),
        cmocka_unit_test(version_is_printed),
        cmocka_unit_test(wrong_usage_exits_with_2_and_a_hint),
        cmocka_unit_test(usage_errors_are_json_too),
        cmocka_unit_test(run_prints_the_agreed_keys),
        cmocka_unit_test(set_replaces_a_parameter),
        cmocka_unit_test(check_names_the_redundant_joint),
        cmocka_unit_test(check_shows_the_nearest_consistent_start),
        cmocka_unit_test(check_warns_of_millimetres_taken_for_metres),
        cmocka_unit_test(what_is_no_file_exits_with_7),
        cmocka_unit_test(a_full_standard_output_is_noticed),
        cmocka_unit_test(schema_accepts_the_keys_the_loader_reads),
        cmocka_unit_test(a_run_leaves_a_result_that_exports_as_csv),
        cmocka_unit_test(interrupt_ends_a_run_with_what_it_has),
        cmocka_unit_test(a_failing_step_exits_with_5_and_tells_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
