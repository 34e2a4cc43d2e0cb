// What the program writes: never onto what it reads, nor onto what is no file; whole or not at all;
// by one process at a time.
#include <dirent.h>
#include <sys/resource.h>
#include "test.h"

#include "app/cli/output_file.h"
#include "app/lash.h"
#include "command.h"

static const char falling[] =
    "{\"format\": \"lash-model/1\", \"name\": \"ball\", \"parts\": [{\"name\": \"ball\", "
    "\"shape\": {\"type\": \"sphere\", \"radius\": 0.1}, \"density\": 7850}], "
    "\"simulation\": {\"step\": 1e-3, \"duration\": 0.1}}\n";

static void write_text(const char* path, const char* text) {
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static const char* write_model(char* path, size_t size) {
    write_text(scratch_file("ball.json", path, size), falling);
    return path;
}

static void assert_refused(Outcome o, const char* word) {
    assert_int_equal(o.code, 7);
    if (strstr(o.err, word) == NULL) fail_msg("'%s' expected in '%s'", word, o.err);
    outcome_free(&o);
}

static void a_model_is_never_overwritten(void** state) {
    (void)state;
    char model[300], link[300], hard[300], other[300];
    write_model(model, sizeof model);
    scratch_file("link.h5", link, sizeof link);
    scratch_file("hard.h5", hard, sizeof hard);
    snprintf(other, sizeof other, "%s/../%s/ball.json", scratch(), strrchr(scratch(), '/') + 1);
    unlink(link);
    unlink(hard);
    assert_int_equal(symlink(model, link), 0);
    const char* const path[] = {model, link, other, hard};
    assert_int_equal(linkat(AT_FDCWD, model, AT_FDCWD, hard, 0), 0);
    for (int i = 0; i < 4; ++i) {
        assert_refused(LASH("run", model, "-o", path[i]), "reads");
        assert_refused(LASH("run", model, "--plot", path[i]), "reads");
        char* text = slurp(model);
        assert_string_equal(text, falling);
        free(text);
    }
}

static void a_result_is_never_overwritten_by_its_export(void** state) {
    (void)state;
    char model[300], result[300];
    scratch_file("ball.h5", result, sizeof result);
    Outcome o = LASH("run", write_model(model, sizeof model), "-o", result);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    static const char* const format[] = {"--csv", "--glb", "--vtk"};
    for (int i = 0; i < 3; ++i) assert_refused(LASH("export", format[i], result, result), "reads");
    assert_refused(LASH("view", result, "--png", result), "reads");
    o = LASH("export", "--csv", result);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
}

static void what_is_no_file_is_not_written(void** state) {
    (void)state;
    char model[300], fifo[300], result[300];
    scratch_file("out", fifo, sizeof fifo);
    write_model(model, sizeof model);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    Outcome o = LASH("run", model, "-o", scratch_file("good.h5", result, sizeof result));
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    const struct {
        const char *path, *kind;
    } cases[] = {{fifo, "FIFO"}, {"/dev/null", "device"}, {scratch(), "directory"}};
    for (int i = 0; i < 3; ++i) {
        assert_refused(LASH("run", model, "-o", cases[i].path), cases[i].kind);
        assert_refused(LASH("run", model, "--plot", cases[i].path), cases[i].kind);
        assert_refused(LASH("export", "--csv", result, cases[i].path), cases[i].kind);
        assert_refused(LASH("export", "--glb", result, cases[i].path), cases[i].kind);
        assert_refused(LASH("view", result, "--png", cases[i].path), cases[i].kind);
    }
    unlink(fifo);
}

static int strangers(void) { // temporaries and locks in the scratch folder
    int count = 0;
    DIR* folder = opendir(scratch());
    for (struct dirent* e; (e = readdir(folder)) != NULL;)
        count += strstr(e->d_name, ".lash-") != NULL || strstr(e->d_name, ".lock") != NULL;
    closedir(folder);
    return count;
}

static void a_file_is_replaced_whole_or_not_at_all(void** state) {
    (void)state;
    char path[300], text[64];
    LashError error = {0};
    write_text(scratch_file("kept.txt", path, sizeof path), "old");
    AppOutput* output = app_output_create(path, &error);
    assert_non_null(output);
    fputs("half", app_output_stream(output));
    app_output_discard(output);
    char* now = slurp(path);
    assert_string_equal(now, "old");
    free(now);
    output = app_output_create(path, &error);
    fputs("new", app_output_stream(output));
    assert_null(strstr(app_output_temporary(output), ".part"));
    snprintf(text, sizeof text, "%ld", (long)getpid()); // a name that nobody can foresee
    assert_null(strstr(strrchr(app_output_temporary(output), '/'), text));
    assert_true(app_output_finish(output, &error));
    now = slurp(path);
    assert_string_equal(now, "new");
    free(now);
    assert_int_equal(strangers(), 0);
}

// The target of a link is replaced, the link stays.
static void a_link_is_followed(void** state) {
    (void)state;
    char path[300], link[300];
    LashError error = {0};
    struct stat info;
    write_text(scratch_file("target.txt", path, sizeof path), "old");
    scratch_file("link.txt", link, sizeof link);
    assert_int_equal(symlink("target.txt", link), 0);
    AppOutput* output = app_output_create(link, &error);
    fputs("new", app_output_stream(output));
    assert_true(app_output_finish(output, &error));
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    char* now = slurp(path);
    assert_string_equal(now, "new");
    free(now);
}

static const char endless[] =
    "{\"format\": \"lash-model/1\", \"name\": \"ball\", \"parts\": [{\"name\": \"ball\", "
    "\"shape\": {\"type\": \"sphere\", \"radius\": 0.1}, \"density\": 7850}], "
    "\"simulation\": {\"step\": 1e-6, \"duration\": 1000, \"record_every\": 100}}\n";

static void the_second_run_onto_a_file_is_refused_and_a_dead_one_does_not_block(void** state) {
    (void)state;
    char model[300], slow[300], result[300], number[32];
    write_model(model, sizeof model);
    write_text(scratch_file("slow.json", slow, sizeof slow), endless);
    scratch_file("shared.h5", result, sizeof result);
    unlink(result);
    Command first = {.argument = {"run", slow, "-o", result, NULL}};
    pid_t child = start_command(&first);
    while (access(result, R_OK) != 0) usleep(1000);
    snprintf(number, sizeof number, "process %ld", (long)child);
    assert_refused(LASH("run", model, "-o", result), number);
    Outcome o = LASH("export", "--csv", result); // it may be read meanwhile
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    o = LASH("export", "--csv", result); // and after the kill
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = LASH("run", model, "-o", result);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
}

// A run that fails before its first frame leaves the result of an earlier one.
static void an_old_result_stays_until_there_is_a_new_one(void** state) {
    (void)state;
    char model[300], result[300];
    struct stat before, after;
    scratch_file("old.h5", result, sizeof result);
    Outcome o = LASH("run", write_model(model, sizeof model), "-o", result);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    assert_int_equal(stat(result, &before), 0);
    LashError error = {0};
    const char* const name[] = {"a"};
    LashRecordInfo info = {.version = "0",
                           .model_file = "m.json",
                           .model_text = "{}",
                           .options = "{}",
                           .scheme = "combined",
                           .step = 1e-3,
                           .sizes = {.bodies = 1},
                           .body_name = name};
    LashRecorder* recorder = lash_recorder_create(result, &info, &error);
    assert_non_null(recorder);
    assert_int_equal(stat(result, &after), 0);
    assert_true(before.st_ino == after.st_ino); // no frame yet
    LashRecordLayout layout =
        lash_record_layout((LashRecordSizes){.bodies = 1, .joints = 0, .contacts = 0});
    double* frame = lash_alloc((size_t)layout.total * sizeof *frame);
    assert_true(lash_recorder_add(recorder, frame, &error));
    assert_int_equal(stat(result, &after), 0);
    assert_true(before.st_ino != after.st_ino);
    lash_free(frame);
    assert_true(lash_recorder_close(recorder, &error));
}

// As `ulimit -f` does: the signal would end the program without a word.
static void a_limit_of_the_file_size_ends_in_a_message(void** state) {
    (void)state;
    char model[300], result[300], csv[300];
    write_model(model, sizeof model);
    struct rlimit old, small = {8192, RLIM_INFINITY};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    Outcome o = LASH("run", model, "-o", scratch_file("whole.h5", result, sizeof result));
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    Outcome run = LASH("run", model, "-o", scratch_file("cut.h5", csv, sizeof csv));
    Outcome export = LASH("export", "--csv", result, scratch_file("cut.csv", csv, sizeof csv));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_refused(run, "rite");
    assert_refused(export, "too large");
    assert_int_not_equal(access(csv, F_OK), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_is_never_overwritten),
        cmocka_unit_test(a_result_is_never_overwritten_by_its_export),
        cmocka_unit_test(what_is_no_file_is_not_written),
        cmocka_unit_test(a_file_is_replaced_whole_or_not_at_all),
        cmocka_unit_test(a_link_is_followed),
        cmocka_unit_test(the_second_run_onto_a_file_is_refused_and_a_dead_one_does_not_block),
        cmocka_unit_test(an_old_result_stays_until_there_is_a_new_one),
        cmocka_unit_test(a_limit_of_the_file_size_ends_in_a_message),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove();
    return failed;
}
