// `lash bench solvers`: exit codes and the shape of its JSON.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/bench_solvers.h"
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_file_is_solved_and_printed),
        cmocka_unit_test(bad_input_has_its_exit_code_and_one_json_document),
        cmocka_unit_test(a_problem_without_solution_ends_with_the_numerics_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
