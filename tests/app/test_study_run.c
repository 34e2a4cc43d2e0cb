// lash study as a user meets it: the same rows whoever runs them, and nothing lost by kills, full
// disks, bad samples.
#include <sys/prctl.h>
#include <sys/resource.h>
#include "test.h"

#include "command.h"

// A ball on a floor: 200 steps, about a millisecond.
static const char model_text[] =
    "{\"format\": \"lash-model/1\", \"gravity\": [0, 0, -9.81],\n"
    " \"parameters\": {\"e\": 0.8, \"height\": 0.001, \"dt\": 1e-4, \"speed\": 0.1},\n"
    " \"parts\": [{\"name\": \"ball\", \"mass\": 0.1, \"inertia\": [4e-5, 4e-5, 4e-5],\n"
    "  \"pose\": {\"position\": [0, 0, \"0.01+height\"]}, \"velocity\": [\"speed\", 0, 0]}],\n"
    " \"contacts\": [{\"name\": \"floor\", \"a\": {\"part\": \"ground\", \"plane\":\n"
    "  {\"point\": [0, 0, 0], \"normal\": [0, 0, 1]}}, \"b\": {\"part\": \"ball\", \"sphere\":\n"
    "  {\"radius\": 0.01}}, \"restitution\": \"e\", \"friction\": 0.1}],\n"
    " \"simulation\": {\"step\": \"dt\", \"duration\": 0.02},\n"
    " \"outputs\": [{\"name\": \"hits\", \"quantity\": \"impacts\", \"of\": \"floor\"},\n"
    "  {\"name\": \"first\", \"quantity\": \"first_impact\", \"of\": \"floor\"}]}\n";

#define BALL_PARAMETERS                                                               \
    "{\"name\": \"e\", \"distribution\": \"uniform\", \"low\": 0.3, \"high\": 0.9}, " \
    "{\"name\": \"height\", \"distribution\": \"normal\", \"mean\": 0.001, \"sigma\": 0.0002}"
#define BALL_OUTPUTS                                                                        \
    "{\"name\": \"first\", \"usl\": 0.015}, {\"name\": \"hits\"}, {\"name\": \"lost\", "    \
    "\"expression\": \"run.dissipated\"}, {\"name\": \"z\", \"quantity\": \"position.z\", " \
    "\"of\": \"ball\", \"when\": \"max\"}"

static void write_file(const char* name, const char* text) {
    char path[300];
    FILE* file = fopen(scratch_file(name, path, sizeof path), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

// Writes a study of the ball (or of no model) to the scratch folder.
static void write_study(const char* name, const char* model, const char* parameters,
                        const char* design, const char* outputs, const char* more) {
    char text[4000];
    snprintf(text, sizeof text,
             "{\"format\": \"lash-study/1\", \"model\": %s,\n \"parameters\": [%s],\n"
             " \"design\": {%s},\n \"outputs\": [%s]%s}\n",
             model, parameters, design, outputs, more);
    write_file(name, text);
}

static void write_ball(const char* design) {
    write_file("ball.json", model_text);
    write_study("ball.study.json", "\"ball.json\"", BALL_PARAMETERS, design, BALL_OUTPUTS, "");
}

static const char* at(const char* name) { // path in the scratch folder; a few at a time
    static char path[8][300];
    static int next;
    next = (next + 1) % 8;
    return scratch_file(name, path[next], sizeof path[0]);
}

static char* canonical(const char* store) {
    Outcome o = LASH("study", "dump", "--canonical", at(store));
    if (o.code != 0) print_error("%s\n", o.err);
    assert_int_equal(o.code, 0);
    free(o.err);
    return o.out;
}

static void forget(const char* store) {
    char name[300];
    remove(at(store));
    snprintf(name, sizeof name, "%s-journal", at(store));
    remove(name);
}

static void expect_run(const char* study, const char* store, const char* jobs) {
    forget(store);
    Outcome o = LASH("study", "run", at(study), "-o", at(store), "-j", jobs);
    if (o.code != 0) print_error("%s\n", o.err);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
}

static void expect_same(const char* store, const char* expected) {
    char* text = canonical(store);
    if (strcmp(text, expected) != 0) print_error("%s differs\n", store);
    assert_true(strcmp(text, expected) == 0);
    free(text);
}

// ---- determinism --------------------------------------------------------------------------------

static void rows_are_the_same_for_any_number_of_workers_and_shards(void** state) {
    (void)state;
    write_ball("\"type\": \"sobol\", \"samples\": 60");
    expect_run("ball.study.json", "one.db", "1");
    char* expected = canonical("one.db");
    assert_non_null(strstr(expected, "\n59 ok 200 "));
    expect_run("ball.study.json", "two.db", "2");
    expect_same("two.db", expected);
    expect_run("ball.study.json", "five.db", "5");
    expect_same("five.db", expected);
    const char* shards[] = {"1/4", "2/4", "3/4", "4/4"};
    const char* stores[] = {"s1.db", "s2.db", "s3.db", "s4.db"};
    for (int i = 0; i < 4; ++i) {
        Outcome o = LASH("study", "run", at("ball.study.json"), "-o", at(stores[i]), "--shard",
                         shards[i], "--json");
        assert_int_equal(o.code, 0);
        assert_non_null(strstr(o.out, "\"planned\": 15"));
        outcome_free(&o);
    }
    Outcome o = LASH("study", "merge", "-o", at("merged.db"), at("s3.db"), at("s1.db"), at("s4.db"),
                     at("s2.db"));
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    expect_same("merged.db", expected);
    free(expected);
}

static bool has_mpi(void) {
    char program[300];
    snprintf(program, sizeof program, "%s/lash-mpi", LASH_BINARY_DIR);
    return access(program, X_OK) == 0 && system("command -v mpirun >/dev/null 2>&1") == 0;
}

// Exit status of lash-mpi.
static int run_mpi(int ranks, const char* what, const char* file, const char* store) {
    char program[300], command[1400];
    snprintf(program, sizeof program, "%s/lash-mpi", LASH_BINARY_DIR);
    snprintf(command, sizeof command,
             "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe "
             "-n %d '%s' study %s '%s' %s '%s' >/dev/null 2>'%s'",
             ranks, program, what, at(file), store != NULL ? "-o" : "--json",
             store != NULL ? at(store) : "--json", at("mpi.err"));
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void mpi_ranks_give_the_same_rows(void** state) {
    (void)state;
    if (!has_mpi()) skip();
    write_ball("\"type\": \"latin-hypercube\", \"samples\": 60");
    expect_run("ball.study.json", "threads.db", "2");
    char* expected = canonical("threads.db");
    for (int ranks = 1; ranks <= 4; ranks *= 2) {
        forget("mpi.db");
        assert_int_equal(run_mpi(ranks, "run", "ball.study.json", "mpi.db"), 0);
        expect_same("mpi.db", expected);
    }
    free(expected);
}

static void a_lost_rank_ends_the_job_and_resume_finishes_it(void** state) {
    (void)state;
    if (!has_mpi()) skip();
    write_ball("\"type\": \"sobol\", \"samples\": 60");
    forget("lost.db");
    setenv("LASH_STUDY_FAULT", "abort:30", 1);
    assert_int_not_equal(run_mpi(3, "run", "ball.study.json", "lost.db"), 0);
    assert_int_equal(run_mpi(2, "resume", "lost.db", NULL), 0);
    unsetenv("LASH_STUDY_FAULT");
    char* text = canonical("lost.db");
    assert_non_null(strstr(text, "\n30 crashed 0 "));
    assert_non_null(strstr(text, "\n29 ok 200 "));
    assert_non_null(strstr(text, "\n59 ok 200 "));
    free(text);
}

static void another_seed_gives_other_rows(void** state) {
    (void)state;
    write_study("n.study.json", "null",
                "{\"name\": \"a\", \"distribution\": \"uniform\", \"low\": 0, \"high\": 1}",
                "\"type\": \"random\", \"samples\": 10",
                "{\"name\": \"y\", \"expression\": \"2*a\"}", "");
    expect_run("n.study.json", "n.db", "1");
    forget("m.db");
    Outcome o = LASH("study", "run", at("n.study.json"), "-o", at("m.db"), "--seed", "12345678901",
                     "--samples", "12");
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    char *a = canonical("n.db"), *b = canonical("m.db");
    assert_non_null(strstr(b, "seed 12345678901 rows 12"));
    assert_true(strcmp(strstr(a, "\n0 ok"), strstr(b, "\n0 ok")) != 0);
    free(a);
    free(b);
}

// In a file a number is exact up to 2^53.
static void a_seed_may_have_16_digits(void** state) {
    (void)state;
    const char* parameter =
        "{\"name\": \"a\", \"distribution\": \"uniform\", \"low\": 0, \"high\": 1}";
    const char* output = "{\"name\": \"y\", \"expression\": \"2*a\"}";
    write_study("s.study.json", "null", parameter,
                "\"type\": \"random\", \"samples\": 3, \"seed\": 9007199254740991", output, "");
    expect_run("s.study.json", "s.db", "1");
    char* text = canonical("s.db");
    assert_non_null(strstr(text, "seed 9007199254740991 rows 3"));
    free(text);
    write_study("s.study.json", "null", parameter,
                "\"type\": \"random\", \"samples\": 3, \"seed\": 9007199254740994", output, "");
    Outcome o = LASH("study", "plan", at("s.study.json"));
    assert_int_equal(o.code, 3);
    assert_non_null(strstr(o.err, "design.seed: expected a whole number up to 9007199254740992"));
    outcome_free(&o);
}

// ---- kills --------------------------------------------------------------------------------------

// Starts run or resume, kills it after `delay`; true when it was still running.
static bool kill_after(double delay) {
    bool exists = access(at("killed.db"), F_OK) == 0;
    Command run = {
        .argument = {"study", "run", at("ball.study.json"), "-o", at("killed.db"), "-j", "2"}};
    Command resume = {.argument = {"study", "resume", at("killed.db"), "-j", "2"}};
    pid_t child = start_command(exists ? &resume : &run);
    struct timespec pause = {.tv_nsec = (long)(1e9 * delay)};
    nanosleep(&pause, NULL);
    int status = 0;
    bool alive = waitpid(child, &status, WNOHANG) == 0;
    if (!alive) {
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        return false;
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return true;
}

static void finish_and_compare(const char* expected) {
    if (access(at("killed.db"), F_OK) == 0) {
        Outcome o = LASH("study", "resume", at("killed.db"));
        if (o.code != 0) print_error("%s\n", o.err);
        assert_int_equal(o.code, 0);
        outcome_free(&o);
        expect_same("killed.db", expected);
    }
    forget("killed.db");
}

static void fifty_kills_lose_nothing_and_repeat_nothing(void** state) {
    (void)state;
    write_ball("\"type\": \"sobol\", \"samples\": 250");
    expect_run("ball.study.json", "whole.db", "2");
    char* expected = canonical("whole.db");
    forget("killed.db");
    unsigned random = 12345;
    int kills = 0, finished = 0;
    while (kills < 50) {
        random = random * 1103515245U + 12345U;
        double delay = 0.004 + 0.16 * ((random >> 8) & 0xFFFF) / 65536.0;
        if (kill_after(delay)) {
            ++kills;
            continue;
        }
        ++finished;
        expect_same("killed.db", expected);
        forget("killed.db");
    }
    finish_and_compare(expected);
    print_message("%d kills, %d studies finished between them\n", kills, finished + 1);
    free(expected);
}

// Rows of a store, in the words of the table after the header.
static int row_count(const char* store) {
    char* text = canonical(store);
    int lines = 0;
    for (const char* c = strstr(text, "\ncolumns"); c != NULL && *c != '\0'; ++c)
        lines += *c == '\n';
    free(text);
    return lines - 2;
}

static void what_a_reader_saw_survives_the_kill(void** state) {
    (void)state;
    write_ball("\"type\": \"sobol\", \"samples\": 4000");
    forget("seen.db");
    int seen = 0;
    for (int k = 0; k < 8; ++k) {
        Command run = {
            .argument = {"study", "run", at("ball.study.json"), "-o", at("seen.db"), "-j", "2"}};
        Command resume = {.argument = {"study", "resume", at("seen.db"), "-j", "2"}};
        pid_t child = start_command(k == 0 ? &run : &resume);
        struct timespec pause = {.tv_nsec = 200000000 + 10000000 * k};
        nanosleep(&pause, NULL);
        for (int look = 0; look < 5; ++look) { // rows are committed while it reads
            int now = row_count("seen.db");
            assert_true(now >= seen);
            seen = now;
        }
        int status = 0;
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    assert_true(row_count("seen.db") >= seen && seen > 0);
    print_message("%d rows seen while it was killed 8 times\n", seen);
}

static void an_interrupt_keeps_what_is_done(void** state) {
    (void)state;
    write_ball("\"type\": \"sobol\", \"samples\": 4000");
    forget("stopped.db");
    Command run = {.argument = {"study", "run", at("ball.study.json"), "-o", at("stopped.db")}};
    pid_t child = start_command(&run);
    struct timespec pause = {.tv_nsec = 400000000};
    nanosleep(&pause, NULL);
    kill(child, SIGTERM);
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    char* text = canonical("stopped.db");
    assert_null(strstr(text, "running"));
    free(text);
}

// ---- bad samples --------------------------------------------------------------------------------

static void a_sample_that_aborts_the_process_becomes_a_row(void** state) {
    (void)state;
    write_ball("\"type\": \"sobol\", \"samples\": 40");
    expect_run("ball.study.json", "good.db", "2");
    char* good = canonical("good.db");
    setenv("LASH_STUDY_FAULT", "abort:17", 1);
    forget("abort.db");
    Outcome o = LASH("study", "run", at("ball.study.json"), "-o", at("abort.db"), "--json");
    unsetenv("LASH_STUDY_FAULT");
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.out, "\"crashed\": 1"));
    assert_non_null(strstr(o.out, "\"ok\": 39"));
    char* text = canonical("abort.db");
    char* row = strstr(text, "\n17 crashed 0 ");
    assert_non_null(row);
    assert_non_null(strstr(row, "signal 6"));
    // all other rows are as they were
    char* end = strchr(row + 1, '\n');
    char* same = strstr(good, "\n17 ok");
    assert_int_equal(strncmp(text, good, (size_t)(row - text)), 0);
    assert_string_equal(end, strchr(same + 1, '\n'));
    free(text);
    free(good);
    outcome_free(&o);
}

static void diverging_refused_and_limited_samples_are_rows_with_reasons(void** state) {
    (void)state;
    write_file("ball.json", model_text);
    write_study("bad.study.json", "\"ball.json\"",
                "{\"name\": \"speed\", \"distribution\": \"discrete\", \"values\": [0.1, 1e14]}, "
                "{\"name\": \"height\", \"distribution\": \"discrete\", \"values\": [0.001, "
                "-0.001]}, {\"name\": \"dt\", \"distribution\": \"discrete\", \"values\": [1e-4, "
                "1e-5]}",
                "\"type\": \"grid\"", BALL_OUTPUTS, ", \"limits\": {\"steps\": 500}");
    expect_run("bad.study.json", "bad.db", "2");
    char* text = canonical("bad.db");
    assert_non_null(strstr(text, "\n0 ok 200 "));
    assert_non_null(strstr(text, "\n1 failed 142 "));
    assert_non_null(strstr(text, "m from the origin, where positions are rounded to"));
    assert_non_null(strstr(text, "\n2 refused 0 "));
    assert_non_null(strstr(text, "the start overlaps"));
    assert_non_null(strstr(text, "\n4 limit 0 "));
    assert_non_null(strstr(text, "needs 2000 steps, the limit is 500"));
    free(text);
    Outcome o = LASH("study", "report", at("bad.db"), "-o", at("bad.html"));
    assert_int_equal(o.code, 0);
    char* page = slurp(at("bad.html"));
    assert_non_null(strstr(page, "the start overlaps"));
    free(page);
    outcome_free(&o);
}

static void a_row_ended_by_the_clock_is_marked_and_not_canonical(void** state) {
    (void)state;
    write_file("ball.json", model_text);
    write_study("slow.study.json", "\"ball.json\"", BALL_PARAMETERS,
                "\"type\": \"sobol\", \"samples\": 3", BALL_OUTPUTS,
                ", \"limits\": {\"seconds\": 1e-9}");
    expect_run("slow.study.json", "slow.db", "1");
    char* text = canonical("slow.db");
    assert_null(strstr(text, "\n0 "));
    free(text);
    Outcome o = LASH("study", "dump", at("slow.db"));
    assert_non_null(strstr(o.out, "\n0 time 1 "));
    outcome_free(&o);
}

// ---- the disk -----------------------------------------------------------------------------------

// Runs lash in a child that cannot write files larger than `bytes`.
static Outcome limited(const Command* command, rlim_t bytes) {
    struct rlimit old, now;
    getrlimit(RLIMIT_FSIZE, &old);
    now = old;
    now.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &now);
    signal(SIGXFSZ, SIG_IGN);
    Outcome o = run_command(command);
    setrlimit(RLIMIT_FSIZE, &old);
    return o;
}

static void a_full_disk_is_told_and_costs_nothing(void** state) {
    (void)state;
    write_ball("\"type\": \"sobol\", \"samples\": 300");
    expect_run("ball.study.json", "room.db", "2");
    char* expected = canonical("room.db");
    forget("full.db");
    Command run = {
        .argument = {"study", "run", at("ball.study.json"), "-o", at("full.db"), "-j", "2"}};
    Outcome o = limited(&run, 60000);
    assert_int_equal(o.code, 7);
    assert_non_null(strstr(o.err, "full.db"));
    print_message("full disk: %s", o.err);
    outcome_free(&o);
    o = LASH("study", "resume", at("full.db"));
    if (o.code != 0) print_error("%s\n", o.err);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    expect_same("full.db", expected);
    forget("none.db");
    Command none = {
        .argument = {"study", "run", at("ball.study.json"), "-o", at("none.db"), "-j", "2"}};
    o = limited(&none, 10000); // not even the plan fits
    assert_int_equal(o.code, 7);
    assert_int_not_equal(access(at("none.db"), F_OK), 0);
    outcome_free(&o);
    free(expected);
}

static void a_store_that_cannot_be_written_is_told(void** state) {
    (void)state;
    write_ball("\"type\": \"sobol\", \"samples\": 10");
    expect_run("ball.study.json", "locked.db", "1");
    char* before = canonical("locked.db");
    chmod(at("locked.db"), 0444);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {                       // root may write everything unless it gives that up
        prctl(PR_CAPBSET_DROP, 1, 0, 0, 0); // CAP_DAC_OVERRIDE, gone after the next exec
        Command resume = {.argument = {"study", "resume", at("locked.db")}};
        Outcome o = run_command(&resume);
        _exit(o.code == 7 && strstr(o.err, "locked.db") != NULL ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    expect_same("locked.db", before);
    chmod(at("locked.db"), 0644);
    free(before);
    Outcome o = LASH("study", "run", at("ball.study.json"), "-o", "/proc/none.db");
    assert_int_equal(o.code, 7);
    outcome_free(&o);
}

// ---- bad studies --------------------------------------------------------------------------------

typedef struct Bad {
    const char *parameters, *design, *outputs, *more, *message;
} Bad;

#define GOOD_P "{\"name\": \"e\", \"distribution\": \"uniform\", \"low\": 0.1, \"high\": 0.9}"
#define GOOD_D "\"type\": \"random\", \"samples\": 5"
#define GOOD_O "{\"name\": \"hits\"}"

static const Bad bad_studies[] = {
    {"{\"name\": \"hieght\", \"distribution\": \"uniform\", \"low\": 0, \"high\": 1}", GOOD_D,
     GOOD_O, "", "no parameter 'hieght' (did you mean 'height'?)"},
    {"{\"name\": \"e\", \"distribution\": \"uniform\", \"low\": 1, \"high\": 1}", GOOD_D, GOOD_O,
     "", "the range from low 1 to high 1 is empty"},
    {"{\"name\": \"e\", \"distribution\": \"normal\", \"mean\": 1, \"sigma\": -0.1}", GOOD_D,
     GOOD_O, "", "sigma must be > 0"},
    {"{\"name\": \"e\", \"distribution\": \"normal\", \"mean\": 1}", GOOD_D, GOOD_O, "",
     "needs 'sigma'"},
    {"{\"name\": \"e\", \"distribution\": \"uniform\", \"low\": 0, \"high\": 1, \"mode\": 0.5}",
     GOOD_D, GOOD_O, "", "has no 'mode'"},
    {"{\"name\": \"e\", \"distribution\": \"triangular\", \"low\": 0, \"high\": 1, \"mode\": 3}",
     GOOD_D, GOOD_O, "", "the mode 3 must lie"},
    {"{\"name\": \"e\", \"distribution\": \"discrete\", \"values\": []}", GOOD_D, GOOD_O, "",
     "empty list"},
    {"{\"name\": \"e\", \"distribution\": \"gauss\"}", GOOD_D, GOOD_O, "", "expected one of"},
    {GOOD_P ", " GOOD_P, GOOD_D, GOOD_O, "", "varies already"},
    {GOOD_P, GOOD_D, "{\"name\": \"hit\"}", "", "no output 'hit' (did you mean 'hits'?)"},
    {GOOD_P, GOOD_D, "{\"name\": \"q\", \"expression\": \"hits + nothing\"}", "", "nothing"},
    {GOOD_P, GOOD_D, "{\"name\": \"q\", \"expression\": \"hits +\"}", "", "outputs[0].expression"},
    {GOOD_P, GOOD_D, "{\"name\": \"q\", \"quantity\": \"colour\"}", "", "colour"},
    {GOOD_P, GOOD_D, "{\"name\": \"hits\", \"lsl\": 3, \"usl\": 2}", "", "must lie below"},
    {GOOD_P, GOOD_D, "{\"name\": \"e\", \"expression\": \"1\"}", "", "taken by a parameter"},
    {GOOD_P, GOOD_D, "{\"name\": \"\", \"expression\": \"1\"}", "", "an output needs a name"},
    {GOOD_P, "\"type\": \"random\"", GOOD_O, "", "needs 'samples'"},
    {GOOD_P, "\"type\": \"random\", \"samples\": 0", GOOD_O, "", "expected a number > 0"},
    {GOOD_P, "\"type\": \"list\"", GOOD_O, "", "a list needs a 'file'"},
    {GOOD_P, "\"type\": \"morris\", \"samples\": 5, \"levels\": 5", GOOD_O, "", "even number"},
    {GOOD_P, "\"type\": \"random\", \"samples\": 5, \"size\": 3", GOOD_O, "", "unknown key 'size'"},
    {GOOD_P, GOOD_D, GOOD_O, ", \"correlations\": [{\"a\": \"e\", \"b\": \"x\", \"rho\": 0.1}]",
     "no parameter 'x'"},
    {BALL_PARAMETERS, GOOD_D, GOOD_O,
     ", \"correlations\": [{\"a\": \"e\", \"b\": \"height\", \"rho\": 1.5}]", "rho must lie"},
    {BALL_PARAMETERS, "\"type\": \"saltelli\", \"samples\": 8", GOOD_O,
     ", \"correlations\": [{\"a\": \"e\", \"b\": \"height\", \"rho\": 0.5}]",
     "wants independent parameters"},
    {GOOD_P, GOOD_D, GOOD_O, ", \"limits\": {\"steps\": -1}", "expected a number > 0"},
};

static void bad_studies_are_refused_before_anything_runs(void** state) {
    (void)state;
    write_file("ball.json", model_text);
    for (size_t i = 0; i < sizeof bad_studies / sizeof *bad_studies; ++i) {
        const Bad* bad = &bad_studies[i];
        write_study("wrong.study.json", "\"ball.json\"", bad->parameters, bad->design, bad->outputs,
                    bad->more);
        forget("wrong.db");
        Outcome o = LASH("study", "run", at("wrong.study.json"), "-o", at("wrong.db"));
        if (o.code != 3 || strstr(o.err, bad->message) == NULL)
            print_error("case %zu: code %d, expected '%s' in: %s\n", i, o.code, bad->message,
                        o.err);
        assert_int_equal(o.code, 3);
        assert_non_null(strstr(o.err, bad->message));
        assert_non_null(strstr(o.err, "wrong.study.json"));
        assert_int_not_equal(access(at("wrong.db"), F_OK), 0);
        outcome_free(&o);
    }
    write_study("wrong.study.json", "\"missing.json\"", GOOD_P, GOOD_D, GOOD_O, "");
    Outcome o = LASH("study", "run", at("wrong.study.json"), "-o", at("wrong.db"));
    assert_int_equal(o.code, 7);
    assert_non_null(strstr(o.err, "missing.json"));
    outcome_free(&o);
}

static void expect_7(Outcome o, const char* message) {
    if (o.code != 7 || strstr(o.err, message) == NULL)
        print_error("code %d, expected '%s' in: %s\n", o.code, message, o.err);
    assert_int_equal(o.code, 7);
    assert_non_null(strstr(o.err, message));
    outcome_free(&o);
}

static void the_studies_that_come_with_lash_are_good(void** state) {
    (void)state;
    const char* files[] = {LASH_SOURCE_DIR "/models/slider_crank/clearance.study.json",
                           LASH_SOURCE_DIR "/models/circuit_breaker/clearances.study.json"};
    for (int i = 0; i < 2; ++i) {
        Outcome o = LASH("study", "plan", files[i], "--json");
        if (o.code != 0) print_error("%s\n", o.err);
        assert_int_equal(o.code, 0);
        assert_null(strstr(o.err, "warning")); // a first-crossing is a time
        outcome_free(&o);
    }
    Outcome o = LASH("schema", "study");
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.out, "\"lash-study/1\""));
    assert_non_null(strstr(o.out, "truncated-normal"));
    outcome_free(&o);
}

// Real models with CAD: threads share the shapes. Minutes: only with LASH_LONG_TESTS.
static void studies_of_cad_models_run_to_their_reports(void** state) {
    (void)state;
    if (getenv("LASH_LONG_TESTS") == NULL) skip();
    const char* files[] = {LASH_SOURCE_DIR "/models/slider_crank/clearance.study.json",
                           LASH_SOURCE_DIR "/models/circuit_breaker/clearances.study.json"};
    const char* samples[] = {"16", "4"};
    for (int i = 0; i < 2; ++i) {
        forget("cad1.db");
        forget("cad2.db");
        Outcome o =
            LASH("study", "run", files[i], "-o", at("cad1.db"), "-n", samples[i], "-j", "1");
        assert_int_equal(o.code, 0);
        outcome_free(&o);
        o = LASH("study", "run", files[i], "-o", at("cad2.db"), "-n", samples[i], "-j", "3");
        assert_int_equal(o.code, 0);
        outcome_free(&o);
        char* expected = canonical("cad1.db");
        expect_same("cad2.db", expected);
        free(expected);
        o = LASH("study", "report", at("cad2.db"), "-o", at("cad.html"));
        assert_int_equal(o.code, 0);
        outcome_free(&o);
    }
}

static void the_benchmark_says_where_the_time_goes(void** state) {
    (void)state;
    write_ball("\"type\": \"sobol\", \"samples\": 60");
    Outcome o = LASH("bench", "study", at("ball.study.json"), "-n", "60", "-j", "2", "--json");
    if (o.code != 0) print_error("%s\n", o.err);
    assert_int_equal(o.code, 0);
    const char* keys[] = {"overhead_ms",    "busy",  "read the model",
                          "create the run", "steps", "store, scheduler"};
    double value[6];
    for (int i = 0; i < 6; ++i) {
        char key[64];
        snprintf(key, sizeof key, "\"%s\": ", keys[i]);
        const char* found = strstr(o.out, key);
        assert_non_null(found);
        value[i] = strtod(found + strlen(key), NULL);
        assert_true(value[i] > 0);
    }
    assert_true(value[1] <= 1);
    assert_true(value[2] + value[3] + value[5] <= value[0]); // parts of the whole
    assert_non_null(strstr(o.out, "\"samples\": 60"));
    outcome_free(&o);
}

static void wrong_stores_and_other_models_are_refused(void** state) {
    (void)state;
    write_ball("\"type\": \"sobol\", \"samples\": 10");
    expect_run("ball.study.json", "right.db", "1");
    expect_7(LASH("study", "run", at("ball.study.json"), "-o", at("right.db")), "resume");
    write_file("text.db",
               "this is no database at all, only some text of more than a hundred "
               "characters, so that nobody can take it for an empty file.\n");
    expect_7(LASH("study", "resume", at("text.db")), "text.db");
    expect_7(LASH("study", "dump", at("text.db")), "text.db");
    expect_7(LASH("study", "report", at("nowhere.db")), "there is no such store");
    // another study of the same model
    write_study("other.study.json", "\"ball.json\"", BALL_PARAMETERS,
                "\"type\": \"sobol\", \"samples\": 11", BALL_OUTPUTS, "");
    expect_7(LASH("study", "resume", at("other.study.json"), "-o", at("right.db")),
             "another study");
    expect_run("other.study.json", "other.db", "1");
    expect_7(LASH("study", "merge", "-o", at("both.db"), at("right.db"), at("other.db")),
             "another study");
    assert_int_not_equal(access(at("both.db"), F_OK), 0);
    // the model has changed since
    char* changed = strdup(model_text);
    strstr(changed, "9.81")[0] = '8';
    write_file("ball.json", changed);
    expect_7(LASH("study", "resume", at("right.db")), "is not the one this study began with");
    free(changed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_same_for_any_number_of_workers_and_shards),
        cmocka_unit_test(mpi_ranks_give_the_same_rows),
        cmocka_unit_test(a_lost_rank_ends_the_job_and_resume_finishes_it),
        cmocka_unit_test(another_seed_gives_other_rows),
        cmocka_unit_test(a_seed_may_have_16_digits),
        cmocka_unit_test(fifty_kills_lose_nothing_and_repeat_nothing),
        cmocka_unit_test(what_a_reader_saw_survives_the_kill),
        cmocka_unit_test(an_interrupt_keeps_what_is_done),
        cmocka_unit_test(a_sample_that_aborts_the_process_becomes_a_row),
        cmocka_unit_test(diverging_refused_and_limited_samples_are_rows_with_reasons),
        cmocka_unit_test(a_row_ended_by_the_clock_is_marked_and_not_canonical),
        cmocka_unit_test(a_full_disk_is_told_and_costs_nothing),
        cmocka_unit_test(a_store_that_cannot_be_written_is_told),
        cmocka_unit_test(bad_studies_are_refused_before_anything_runs),
        cmocka_unit_test(the_studies_that_come_with_lash_are_good),
        cmocka_unit_test(studies_of_cad_models_run_to_their_reports),
        cmocka_unit_test(the_benchmark_says_where_the_time_goes),
        cmocka_unit_test(wrong_stores_and_other_models_are_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove();
    return failed;
}
