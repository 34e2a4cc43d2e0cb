// `lash bench solvers`: exit codes and the shape of its JSON.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test.h"

#include "app/bench/bench_solvers.h"
#include "core/error.h"

static char text[65536]; // what the command printed

// Runs the command with these words in a child; returns its exit code.
static int run(int count, char** words) {
    char command[] = "solvers", *argv[8] = {command};
    int argc = count + 1;
    for (int i = 0; i < count; ++i) argv[i + 1] = words[i];
    char name[] = "/tmp/lash-bench-XXXXXX";
    int file = mkstemp(name);
    assert_true(file >= 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(file, STDOUT_FILENO);
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(99);
        int code = app_bench_solvers(argc, argv);
        fflush(NULL);
        _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ssize_t n = pread(file, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    close(file);
    unlink(name);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void write_file(const char* name, const char* content) {
    FILE* f = fopen(name, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
}

static void a_good_file_is_solved_and_printed(void** state) {
    (void)state;
    char name[] = "bench_good.dat", json[] = "--json", peer[] = "--no-peer";
    write_file(name, "3 1 0 3 3 3 3  1 0 0  0 1 0  0 0 1  -1 1 3  0.1\n");
    char* argv[] = {json, peer, name};
    assert_int_equal(run(3, argv), LASH_OK);
    assert_non_null(strstr(text, "\"ok\": true"));
    assert_non_null(strstr(text, "\"benchmarks\": ["));
    assert_non_null(strstr(text, "\"name\": \"bench_good.dat\""));
    assert_non_null(strstr(text, "\"contacts\": 1"));
    assert_non_null(strstr(text, "\"peer\": null"));
    assert_int_equal(run(2, argv + 1), LASH_OK);
    assert_non_null(strstr(text, "bench_good.dat"));
    unlink(name);
}

static void bad_input_has_its_exit_code_and_one_json_document(void** state) {
    (void)state;
    char name[] = "bench_bad.dat", missing[] = "bench_missing.dat", json[] = "--json",
         option[] = "--nonsense", tolerance[] = "--tolerance", value[] = "2";
    write_file(name, "3 1 0 3 3 3 3  1 0 oops\n");
    char* bad[] = {json, name};
    assert_int_equal(run(2, bad), LASH_ERROR_MODEL);
    assert_non_null(strstr(text, "\"ok\": false"));
    assert_non_null(strstr(text, "\"code\": 3"));
    char* absent[] = {missing};
    assert_int_equal(run(1, absent), LASH_ERROR_IO);
    char* unknown[] = {option};
    assert_int_equal(run(1, unknown), LASH_ERROR_USAGE);
    char* wrong[] = {tolerance, value};
    assert_int_equal(run(2, wrong), LASH_ERROR_USAGE);
    unlink(name);
}

static void a_problem_without_solution_ends_with_the_numerics_code(void** state) {
    (void)state;
    char name[] = "bench_unsolvable.dat";
    write_file(name, "2 0 2 2 2 2  0 0 0 0  -1 1\n"); // an LCP: w_1 = -1 whatever z
    char* argv[] = {name};
    assert_int_equal(run(1, argv), LASH_ERROR_NUMERICS);
    assert_non_null(strstr(text, "failed"));
    unlink(name);
}

static void options_may_stand_anywhere(void** state) {
    (void)state;
    char name[] = "bench_order.dat", json[] = "--json", peer[] = "--no-peer",
         tolerance[] = "--tolerance=1e-9", end[] = "--";
    write_file(name, "3 1 0 3 3 3 3  1 0 0  0 1 0  0 0 1  -1 1 3  0.1\n");
    char* after[] = {name, json, tolerance, peer};
    assert_int_equal(run(4, after), LASH_OK);
    assert_non_null(strstr(text, "\"name\": \"bench_order.dat\""));
    char* files[] = {json, end, name};
    assert_int_equal(run(3, files), LASH_OK);
    char zero[] = "--tolerance=0", negative[] = "--tolerance=-1e-9", word[] = "--tolerance=small",
         flag[] = "--json=yes";
    char* wrong[][1] = {{zero}, {negative}, {word}, {flag}};
    for (int i = 0; i < 4; ++i) assert_int_equal(run(1, wrong[i]), LASH_ERROR_USAGE);
    unlink(name);
}

// M and H look like a local problem with nothing to solve when they are taken for W and q.
static void global_problems_are_solved_as_such_or_refused(void** state) {
    (void)state;
    char name[] = "bench_global.dat", json[] = "--json";
    char* argv[] = {json, name};
    write_file(name,
               "3 1 0 3 3 3 3  4 0 0  0 4 0  0 0 4  0 3 3 3 3  1 0 0  0 1 0  0 0 1  -8 1 0  0 0 0  "
               "0.1 0\n");
    assert_int_equal(run(2, argv), LASH_OK);
    assert_non_null(strstr(text, "\"outcome\": \"solved\""));
    assert_non_null(strstr(text, "\"iterations\": 1")); // it strikes: not without impulses
    write_file(name,
               "3 1 0 3 3 3 3  4 0 0  0 4 0  0 0 0  0 3 3 3 3  1 0 0  0 1 0  0 0 1  -8 1 0  0 0 0  "
               "0.1 0\n");
    assert_int_equal(run(2, argv), LASH_ERROR_MODEL);
    assert_non_null(strstr(text, "regular matrix M"));
    unlink(name);
}

// Impulses of 5e5 N s: their rounding alone leaves 5e-11, within the tolerance that --help names.
static void nearly_dependent_joints_are_solved_to_the_documented_tolerance(void** state) {
    (void)state;
    char name[] = "bench_joints.dat";
    write_file(name,
               "1 2 2  4 2 2  1 2  1 2  3 4  0 2 4  0 1 0 1  0 1  1 0.9999999  2 0.9999999  3 1  "
               "0.05 -0.05  2 2\n");
    char* argv[] = {name};
    assert_int_equal(run(1, argv), LASH_OK);
    unlink(name);
}

// A peer beside the program whose answers are known: `lash` is linked into a folder of its own.
static void times_are_compared_only_where_the_peer_reached_the_tolerance(void** state) {
    (void)state;
    static const struct {
        const char* answer;
        bool compared;
    } cases[] = {{"echo \"$3 NSGS 2e-10 7 4000\"; echo \"$3 NSN_AC 1.5e-10 7 5000\"", false},
                 {"echo \"$3 NSGS nan 7 4000\"", false},
                 {"echo \"$3 NSGS 2e-10 7 4000\"; echo \"$3 NSN_AC 9e-11 7 5000\"", true}};
    char folder[] = "bench-peer-XXXXXX", script[64], program[64], command[256];
    assert_non_null(mkdtemp(folder));
    snprintf(script, sizeof script, "%s/lash-bench-peer", folder);
    snprintf(program, sizeof program, "%s/lash", folder);
    assert_int_equal(link(LASH_BINARY_DIR "/lash", program), 0);
    write_file("bench_peer.dat", "3 1 0 3 3 3 3  1 0 0  0 1 0  0 0 1  -1 1 3  0.1\n");
    for (int i = 0; i < 3; ++i) {
        char content[256];
        snprintf(content, sizeof content, "#!/bin/sh\n%s\n", cases[i].answer);
        write_file(script, content);
        assert_int_equal(chmod(script, 0755), 0);
        snprintf(command, sizeof command, "%s bench solvers bench_peer.dat --json", program);
        FILE* pipe = popen(command, "r");
        assert_non_null(pipe);
        size_t n = fread(text, 1, sizeof text - 1, pipe);
        text[n] = 0;
        assert_int_equal(pclose(pipe), 0);
        assert_non_null(strstr(text, cases[i].compared ? "siconos NSN_AC" : "siconos NSGS"));
        assert_int_equal(strstr(text, "\"ratio\": null") == NULL, cases[i].compared);
    }
    unlink(script);
    unlink(program);
    unlink("bench_peer.dat");
    rmdir(folder);
}

RUN(TEST(a_good_file_is_solved_and_printed),
    TEST(bad_input_has_its_exit_code_and_one_json_document), TEST(options_may_stand_anywhere),
    TEST(global_problems_are_solved_as_such_or_refused),
    TEST(nearly_dependent_joints_are_solved_to_the_documented_tolerance),
    TEST(times_are_compared_only_where_the_peer_reached_the_tolerance),
    TEST(a_problem_without_solution_ends_with_the_numerics_code))
