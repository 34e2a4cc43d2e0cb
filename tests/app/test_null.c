// NULL where a program should have passed something: an error where the function has one, else a
// message and abort(); never a crash without a word.
#include "app/lash.h"
#include "command.h"
#include "test.h"

static void assert_told(LashError* error) {
    assert_int_not_equal(error->status, LASH_OK);
    assert_true(error->message[0] != '\0');
    *error = (LashError){0};
}

static void models_and_paths_may_not_be_null(void** state) {
    (void)state;
    LashError error = {0};
    assert_null(lash_model_load(NULL, NULL, 0, &error));
    assert_told(&error);
    assert_null(lash_model_load("m.json", NULL, 3, &error));
    assert_told(&error);
    assert_null(lash_model_parse(NULL, "{}", 2, NULL, 0, &error));
    assert_told(&error);
    assert_null(lash_model_parse("m.json", NULL, 2, NULL, 0, &error));
    assert_told(&error);
    assert_null(lash_model_parse("m.json", NULL, 0, NULL, 0, &error));
    assert_told(&error);
    assert_null(lash_model_vary(NULL, NULL, 0, &error));
    assert_told(&error);
    assert_false(lash_model_share(NULL, &error));
    assert_told(&error);
    assert_null(lash_model_build(NULL, &error));
    assert_told(&error);
    assert_null(lash_shape_load(NULL, NULL, &error));
    assert_told(&error);
    assert_false(lash_settings_check(NULL, &error));
    assert_told(&error);
    assert_false(lash_body_check(NULL, "", &error));
    assert_told(&error);
    assert_null(lash_expression_compile(NULL, NULL, 0, &error));
    assert_told(&error);
    assert_null(lash_model_load(NULL, NULL, 0, NULL)); // nobody wants to know
    assert_null(lash_model_build(NULL, NULL));
    lash_model_destroy(NULL);
    lash_mechanism_destroy(NULL);
    lash_sim_destroy(NULL);
}

static void results_may_not_be_null(void** state) {
    (void)state;
    LashError error = {0};
    LashRecordInfo info = {0};
    double number = 0;
    LashRecordEvent event = {0};
    LashRecordPoint point = {0};
    assert_null(lash_recorder_create(NULL, &info, &error));
    assert_told(&error);
    assert_null(lash_recorder_create("x.h5", NULL, &error));
    assert_told(&error);
    assert_null(lash_recorder_create("x.h5", &info, &error));
    assert_told(&error);
    assert_false(lash_recorder_add(NULL, &number, &error));
    assert_told(&error);
    assert_false(lash_recorder_add_event(NULL, &event, &error));
    assert_told(&error);
    assert_false(lash_recorder_add_points(NULL, &point, 1, &error));
    assert_told(&error);
    assert_false(lash_recorder_flush(NULL, &error));
    assert_told(&error);
    assert_true(lash_recorder_close(NULL, &error));
    assert_null(lash_record_open(NULL, &error));
    assert_told(&error);
    assert_false(lash_record_read(NULL, LASH_SERIES_TIME, 0, 1, &number, &error));
    assert_told(&error);
    assert_false(lash_record_read_frame(NULL, 0, &number, &error));
    assert_told(&error);
    assert_false(lash_record_read_events(NULL, 0, 1, &event, &error));
    assert_told(&error);
    assert_int_equal(lash_record_read_points(NULL, 0, &point, 1, &error), -1);
    assert_told(&error);
    assert_false(lash_record_read_all_points(NULL, 0, 1, &point, &error));
    assert_told(&error);
    lash_record_close(NULL);
}

static void use_no_system(void) {
    lash_mechanism_system(NULL);
}
static void use_no_body(void) {
    lash_mechanism_add_body(NULL, NULL);
}
static void use_no_joint(void) {
    lash_mechanism_add_joint(lash_mechanism_create(), NULL);
}
static void use_no_force(void) {
    lash_mechanism_add_force(NULL, &(LashForceDef){0});
}
static void use_no_sim(void) {
    LashSettings settings = lash_settings();
    lash_sim_create(NULL, &settings);
}
static void use_no_step(void) {
    lash_sim_step(NULL);
}
static void use_no_time(void) {
    lash_sim_time(NULL);
}

static void functions_without_an_error_say_what_is_missing(void** state) {
    (void)state;
    void (*const use[])(void) = {use_no_system, use_no_body, use_no_joint, use_no_force,
                                 use_no_sim,    use_no_step, use_no_time};
    char path[300];
    scratch_file("words", path, sizeof path);
    for (size_t i = 0; i < sizeof use / sizeof *use; ++i) {
        pid_t child = fork();
        if (child == 0) {
            redirect(path, STDERR_FILENO);
            signal(SIGABRT, SIG_DFL);
            use[i]();
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        char* words = slurp(path);
        assert_non_null(strstr(words, "!= NULL"));
        free(words);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_and_paths_may_not_be_null),
        cmocka_unit_test(results_may_not_be_null),
        cmocka_unit_test(functions_without_an_error_say_what_is_missing),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove();
    return failed;
}
