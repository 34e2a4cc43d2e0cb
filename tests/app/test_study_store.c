// Stores of studies: names of any kind, hostile files, several programs at once, outputs that are
// no numbers, options that ask for nothing.
#include <dirent.h>
#include <sqlite3.h>
#include "test.h"

#include "command.h"

static const char* at(const char* name) {
    static char path[8][300];
    static int next;
    next = (next + 1) % 8;
    return scratch_file(name, path[next], sizeof path[0]);
}

// A study without a model; extra: keys after the outputs.
static void write_study(const char* name, int samples, const char* outputs, const char* extra) {
    FILE* file = fopen(at(name), "w");
    assert_non_null(file);
    fprintf(file,
            "{\"format\": \"lash-study/1\", \"model\": null, \"parameters\": [{\"name\": \"a\", "
            "\"distribution\": \"uniform\", \"low\": 1, \"high\": 2}], \"design\": {\"type\": "
            "\"random\", \"samples\": %d}, \"outputs\": [%s]%s}",
            samples, outputs, extra);
    fclose(file);
}

static void expect(Outcome o, int code, const char* message) {
    if (o.code != code || strstr(o.err, message) == NULL)
        print_error("code %d instead of %d, expected '%s' in: %s\n", o.code, code, message, o.err);
    assert_int_equal(o.code, code);
    assert_non_null(strstr(o.err, message));
    outcome_free(&o);
}

static void run_plain(const char* study, const char* store) {
    remove(at(store));
    expect(LASH("study", "run", at(study), "-o", at(store), "-j", "1"), 0, "");
}

// Files in the scratch folder whose name begins so.
static int files_like(const char* begin) {
    DIR* folder = opendir(scratch());
    int count = 0;
    struct dirent* entry;
    while ((entry = readdir(folder)) != NULL)
        count += strncmp(entry->d_name, begin, strlen(begin)) == 0;
    closedir(folder);
    return count;
}

// ---- names --------------------------------------------------------------------------------------

static int count_columns(const char* store, const char* sql, const char* name) {
    sqlite3* db = NULL;
    sqlite3_stmt* s = NULL;
    assert_int_equal(sqlite3_open(at(store), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    int count = sqlite3_column_count(s), found = 0;
    for (int i = 0; i < count; ++i) found += strcmp(sqlite3_column_name(s, i), name) == 0;
    assert_int_equal(found, 1);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return count;
}

static void names_are_quoted_whole_and_never_run(void** state) {
    (void)state;
    write_study(
        "sql.study.json", 4,
        "{\"name\": "
        "\"a\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\""
        "\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\"
        "\"\", "
        "\"expression\": \"a\"}, {\"name\": \" FROM sample;COMMIT;ATTACH'evil.db'AS e;/*\", "
        "\"expression\": \"a\"}, {\"name\": \"*/CREATE TABLE e.pwned(x);/*\", \"expression\": "
        "\"a\"}, {\"name\": \"*/BEGIN;--\", \"expression\": \"a\"}",
        "");
    char folder[300];
    assert_non_null(getcwd(folder, sizeof folder));
    assert_int_equal(chdir(scratch()), 0);
    run_plain("sql.study.json", "sql.db");
    assert_int_not_equal(access("evil.db", F_OK), 0);
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(count_columns("sql.db", "SELECT * FROM result", "*/BEGIN;--"), 7);
    expect(LASH("study", "report", at("sql.db"), "-o", at("sql.html")), 0, "");
}

// ---- hostile stores -----------------------------------------------------------------------------

static void change_store(const char* store, const char* sql) {
    sqlite3* db = NULL;
    char* message = NULL;
    assert_int_equal(sqlite3_open(at(store), &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        print_error("%s: %s\n", sql, message);
    assert_null(message);
    sqlite3_close(db);
}

#define SCHEMA "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = "
static const char* const hostile[] = {
    "PRAGMA ignore_check_constraints=ON; " SCHEMA
    "replace(sql, ' NOT NULL', '') WHERE name = 'sample'; PRAGMA writable_schema=RESET; UPDATE "
    "sample SET status = NULL WHERE id = 3",
    "UPDATE sample SET status = x'00ff'",
    "UPDATE sample SET status = 'fine' WHERE id = 2",
    "UPDATE sample SET id = 5000 WHERE id = 2",
    "UPDATE sample SET id = -5 WHERE id = 2",
    "UPDATE sample SET steps = 'many'",
    "UPDATE sample SET steps = -1",
    "UPDATE sample SET iterations = 1e300",
    "UPDATE sample SET penetration = x'0102'",
    "UPDATE sample SET wall = 'long'",
    "UPDATE sample SET wall = 9e999",
    "UPDATE sample SET worker = 99999999999",
    "UPDATE sample SET worker = NULL",
    "UPDATE sample SET reason = x'c3280a'",
    "UPDATE sample SET reason = CAST(x'c328' AS TEXT)",
    "UPDATE sample SET parameters = NULL",
    "UPDATE sample SET parameters = '[1, 2]'",
    "UPDATE sample SET parameters = '[null]'",
    "UPDATE sample SET parameters = '[inf]'",
    "UPDATE sample SET parameters = '[0x10]'",
    "UPDATE sample SET parameters = '[1e999]'",
    "UPDATE sample SET parameters = '[1'",
    "UPDATE sample SET outputs = '[1, 2] and more'",
    "UPDATE sample SET outputs = '[1 2]'",
    "UPDATE sample SET outputs = '[nan, 1]'",
    "UPDATE sample SET outputs = 7",
    "UPDATE sample SET finished = x'03'",
    "UPDATE sample SET replay = x'00'",
    "INSERT INTO sample(id, status) SELECT 100 + id, 'ok' FROM sample",
    "UPDATE info SET value = '5/0' WHERE key = 'shard'",
    "UPDATE info SET value = '1/1' WHERE key = 'shard'",
    "UPDATE info SET value = '-1/3' WHERE key = 'shard'",
    "UPDATE info SET value = 'x' WHERE key = 'shard'",
    "UPDATE info SET value = '99999999999999999999' WHERE key = 'rows'",
    "UPDATE info SET value = '7' WHERE key = 'rows'",
    "UPDATE info SET value = '-4' WHERE key = 'samples'",
    "UPDATE info SET value = '4' WHERE key = 'samples'",
    "UPDATE info SET value = '1e3' WHERE key = 'seed'",
    "UPDATE info SET value = NULL WHERE key = 'version'",
    "UPDATE info SET value = x'41' WHERE key = 'version'",
    "UPDATE info SET value = hex(zeroblob(1000)) WHERE key = 'version'",
    "UPDATE info SET value = '<b>' WHERE key = 'created'",
    "UPDATE info SET value = 12 WHERE key = 'study_text'",
    "UPDATE info SET value = '{' WHERE key = 'study_text'",
    "UPDATE info SET value = '' WHERE key = 'study_text'",
    "UPDATE info SET value = CAST(x'7b00' AS TEXT) WHERE key = 'study_text'",
    "UPDATE info SET value = replace(value, '\"a\"', '\"b-\"') WHERE key = 'study_text'",
    "UPDATE info SET value = replace(value, 'null', '\"m.json\"') WHERE key = 'study_text'",
    "UPDATE info SET value = replace(value, 'random', 'list') WHERE key = 'study_text'",
    "UPDATE info SET value = replace(value, '\"outputs\": [', '\"outputs\": [], \"x\": [') WHERE "
    "key = 'study_text'",
    "UPDATE info SET value = 'lash-store/9' WHERE key = 'format'",
    "DELETE FROM info WHERE key = 'folder'",
    "DELETE FROM info",
    "DROP TABLE sample",
    "DROP TABLE info",
    "ALTER TABLE sample DROP COLUMN wall",
    "ALTER TABLE sample RENAME COLUMN wall TO hall",
    "DROP VIEW result; ALTER TABLE sample RENAME TO example; CREATE VIEW sample AS SELECT * FROM "
    "example",
    "CREATE TRIGGER t AFTER INSERT ON sample BEGIN DELETE FROM sample; END",
    "CREATE VIEW spy AS SELECT 1",
    "CREATE TABLE more(x)",
    "CREATE INDEX i ON sample(status)",
    "CREATE TABLE old AS SELECT * FROM info; DROP TABLE info; CREATE TABLE info(key TEXT PRIMARY "
    "KEY, value TEXT AS (upper(key)))",
    SCHEMA "'CREATE TABLE info(key, value' WHERE name = 'info'",
    SCHEMA "x'00' WHERE name = 'output'",
    "PRAGMA application_id = 5",
};

static void hostile_stores_are_refused_with_a_message(void** state) {
    (void)state;
    write_study("h.study.json", 6,
                "{\"name\": \"y\", \"expression\": \"2*a\"}, {\"name\": \"z\", \"expression\": "
                "\"a\"}",
                "");
    run_plain("h.study.json", "h.db");
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; ++i) {
        char command[900];
        snprintf(command, sizeof command, "cp '%s' '%s'", at("h.db"), at("bad.db"));
        assert_int_equal(system(command), 0);
        change_store("bad.db", hostile[i]);
        const char* what[] = {"dump", "report", "resume", "merge"};
        for (int k = 0; k < 4; ++k) {
            remove(at("merged.db"));
            Outcome o = k == 3 ? LASH("study", "merge", "-o", at("merged.db"), at("bad.db"))
                               : LASH("study", what[k], at("bad.db"));
            // resume reads numbers and status of rows alone; what else is wrong it leaves alone
            bool told = o.code == 7 && strstr(o.err, "bad.db: ") != NULL;
            if (k == 2 && o.code == 0) told = strncmp(hostile[i], "UPDATE sample", 13) == 0;
            if (!told)
                print_error("%s after %s: code %d, %s\n", what[k], hostile[i], o.code, o.err);
            assert_true(told);
            if (k == 3) assert_int_not_equal(access(at("merged.db"), F_OK), 0);
            outcome_free(&o);
        }
    }
}

static void files_that_are_no_stores_are_told(void** state) {
    (void)state;
    write_study("f.study.json", 3, "{\"name\": \"y\", \"expression\": \"2*a\"}", "");
    assert_int_equal(mkfifo(at("pipe.db"), 0600), 0);
    expect(LASH("study", "report", at("pipe.db")), 7, "no file");
    expect(LASH("study", "resume", at("pipe.db")), 7, "no file");
    expect(LASH("study", "dump", scratch()), 7, "no file");
    expect(LASH("study", "run", at("f.study.json"), "-o", at("pipe.db")), 7, "exists");
    remove(at("pipe.db"));
    run_plain("f.study.json", "f.db");
    const char* store = at("f.db");
    expect(LASH("study", "report", store, "-o", store), 7, "f.db");
    expect(LASH("study", "report", store, "-o", at("f.html"), "--csv", store), 7, "f.db");
    expect(LASH("study", "dump", store), 0, "");
    // every prefix of a store, and a store with a byte turned
    FILE* file = fopen(at("f.db"), "rb");
    static char bytes[1 << 16];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t k = 0; k < 40; ++k) {
        file = fopen(at("cut.db"), "wb");
        size_t place = size * k / 40;
        fwrite(bytes, 1, k % 2 == 0 ? place : size, file);
        if (k % 2 == 1) {
            fseek(file, (long)place, SEEK_SET);
            fputc(~bytes[place] & 0xFF, file);
        }
        fclose(file);
        Outcome o = LASH("study", "report", at("cut.db"), "-o", at("cut.html"));
        if (o.code != 0 && o.code != 7) print_error("cut %zu: code %d, %s\n", k, o.code, o.err);
        assert_true(o.code == 7 || (o.code == 0 && k % 2 == 1));
        outcome_free(&o);
    }
}

// ---- several programs ---------------------------------------------------------------------------

// A study whose samples take a while: a free part, many steps.
static void write_slow(void) {
    FILE* file = fopen(at("slow.json"), "w");
    assert_non_null(file);
    fputs(
        "{\"format\": \"lash-model/1\", \"gravity\": [0, 0, -9.81], \"parameters\": {\"a\": 1}, "
        "\"parts\": [{\"name\": \"ball\", \"shape\": {\"type\": \"sphere\", \"radius\": 0.01}, "
        "\"density\": 1000, \"velocity\": [\"a\", 0, 0]}], \"simulation\": {\"step\": 1e-5, "
        "\"duration\": 0.2}, \"outputs\": [{\"name\": \"x\", \"quantity\": \"position.x\", \"of\": "
        "\"ball\", \"when\": \"final\"}]}",
        file);
    fclose(file);
    file = fopen(at("slow.study.json"), "w");
    assert_non_null(file);
    fputs(
        "{\"format\": \"lash-study/1\", \"model\": \"slow.json\", \"parameters\": [{\"name\": "
        "\"a\", \"distribution\": \"uniform\", \"low\": 1, \"high\": 2}], \"design\": {\"type\": "
        "\"random\", \"samples\": 2000}, \"outputs\": [{\"name\": \"x\"}]}",
        file);
    fclose(file);
}

static void pause_for(double seconds) {
    struct timespec pause = {.tv_sec = (time_t)seconds,
                             .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&pause, NULL);
}

static void the_second_program_on_a_store_is_told_who_holds_it(void** state) {
    (void)state;
    write_slow();
    Command first = {
        .argument = {"study", "run", at("slow.study.json"), "-o", at("held.db"), "-j", "1"},
        .output = "/dev/null"};
    pid_t child = start_command(&first);
    for (int i = 0; i < 200 && access(at("held.db"), F_OK) != 0; ++i) pause_for(0.02);
    char host[70] = "", expected[100];
    gethostname(host, sizeof host - 1);
    snprintf(expected, sizeof expected, " on %s since 20", host);
    Outcome o = LASH("study", "run", at("slow.study.json"), "-o", at("held.db"));
    assert_int_equal(o.code, 7);
    assert_non_null(strstr(o.err, "held.db: process "));
    assert_non_null(strstr(o.err, expected));
    long holder = strtol(strstr(o.err, "process ") + 8, NULL, 10);
    assert_true(holder > 0 && kill((pid_t)holder, 0) == 0);
    outcome_free(&o);
    expect(LASH("study", "resume", at("held.db")), 7, expected);
    expect(LASH("study", "dump", "--canonical", at("held.db")), 0, ""); // reading is free
    assert_int_equal(files_like("held.db."), 0);                        // nothing half-made
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    // the dead do not hold: the store goes on
    Command next = {.argument = {"study", "resume", at("held.db"), "-j", "1"},
                    .output = "/dev/null"};
    child = start_command(&next);
    pause_for(1);
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130); // it was at work
}

static void of_programs_that_make_one_store_at_once_one_does(void** state) {
    (void)state;
    enum { AT_ONCE = 4 };
    write_study("race.study.json", 20, "{\"name\": \"y\", \"expression\": \"2*a\"}", "");
    for (int round = 0; round < 12; ++round) {
        pid_t child[AT_ONCE];
        int done = 0;
        remove(at("race.db"));
        for (int i = 0; i < AT_ONCE; ++i) {
            Command run = {
                .argument = {"study", "run", at("race.study.json"), "-o", at("race.db")}};
            child[i] = start_command(&run);
        }
        for (int i = 0; i < AT_ONCE; ++i) {
            int status = 0;
            waitpid(child[i], &status, 0);
            assert_true(WIFEXITED(status));
            assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 7);
            done += WEXITSTATUS(status) == 0;
        }
        assert_int_equal(done, 1);
        assert_int_equal(files_like("race.db"), 1); // no journal, nothing half-made
        Outcome o = LASH("study", "dump", "--canonical", at("race.db"));
        assert_int_equal(o.code, 0);
        assert_non_null(strstr(o.out, "\n19 ok "));
        outcome_free(&o);
    }
}

// ---- outputs that are no numbers ----------------------------------------------------------------

static void outputs_that_are_no_numbers_fail_their_sample(void** state) {
    (void)state;
    write_study("nan.study.json", 40,
                "{\"name\": \"fine\", \"expression\": \"a\"}, {\"name\": \"root\", \"expression\": "
                "\"sqrt(a - 1.5)\"}, {\"name\": \"ratio\", \"expression\": \"1/floor(a/1.7)\"}",
                "");
    run_plain("nan.study.json", "nan.db");
    Outcome o = LASH("study", "dump", at("nan.db"));
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.out, "the output 'root' is not a number"));
    assert_non_null(strstr(o.out, "the output 'ratio' is infinite"));
    assert_non_null(strstr(o.out, " ok "));
    assert_null(strstr(o.out, "nan "));
    assert_null(strstr(o.out, "inf "));
    outcome_free(&o);
    o = LASH("study", "report", at("nan.db"), "-o", at("nan.html"), "--json");
    assert_int_equal(o.code, 0);
    assert_null(strstr(o.out, "\"failed\": 0"));
    assert_non_null(strstr(o.out, "\"missing\": 0"));
    outcome_free(&o);
}

static void options_that_ask_for_nothing_are_refused(void** state) {
    (void)state;
    write_study("o.study.json", 3, "{\"name\": \"y\", \"expression\": \"2*a\", \"usl\": 3}", "");
    remove(at("o.db"));
    const char* study = at("o.study.json");
    expect(LASH("study", "run", study, "-o", at("o.db"), "-n", "0"), 2, "expected a positive");
    expect(LASH("study", "run", study, "-o", at("o.db"), "-n", "-3"), 2, "expected a positive");
    expect(LASH("study", "run", study, "-o", at("o.db"), "-j", "0"), 2, "expected 1 to 1024");
    expect(LASH("study", "plan", study, "-n", "0"), 2, "expected a positive");
    assert_int_not_equal(access(at("o.db"), F_OK), 0);
    run_plain("o.study.json", "o.db");
    expect(LASH("study", "resume", at("o.db"), "-j", "0"), 2, "expected 1 to 1024");
    const char* page = at("o.html");
    expect(LASH("study", "report", at("o.db"), "-o", page, "--limit", "5"), 2, "from 0 to 1");
    expect(LASH("study", "report", at("o.db"), "-o", page, "--limit", "-0.1"), 2, "from 0 to 1");
    assert_int_not_equal(access(page, F_OK), 0);
    expect(LASH("study", "report", at("o.db"), "-o", page, "--limit", "1"), 0, "");
    expect(LASH("study", "report", at("o.db"), "-o", page, "--limit", "0"), 6, "out of spec");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_quoted_whole_and_never_run),
        cmocka_unit_test(hostile_stores_are_refused_with_a_message),
        cmocka_unit_test(files_that_are_no_stores_are_told),
        cmocka_unit_test(the_second_program_on_a_store_is_told_who_holds_it),
        cmocka_unit_test(of_programs_that_make_one_store_at_once_one_does),
        cmocka_unit_test(outputs_that_are_no_numbers_fail_their_sample),
        cmocka_unit_test(options_that_ask_for_nothing_are_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove();
    return failed;
}
