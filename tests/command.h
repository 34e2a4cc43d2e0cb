// Runs the program under test as a user does: its own process, its exit code, what it printed.
#ifndef LASH_TESTS_COMMAND_H
#define LASH_TESTS_COMMAND_H

#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMAND_ARGUMENTS = 24 };

typedef struct Command {
    const char* argument[COMMAND_ARGUMENTS]; // after "lash", ends in NULL
    const char* output;                      // where stdout goes; NULL: captured
} Command;

typedef struct Outcome {
    int code;        // exit code, 128 + signal
    char *out, *err; // captured, freed by outcome_free
    double seconds;
} Outcome;

static inline double test_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline char* slurp(const char* path) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) return calloc(1, 1);
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    rewind(file);
    char* text = calloc(1, (size_t)bytes + 1);
    size_t got = fread(text, 1, (size_t)bytes, file);
    text[got] = '\0';
    fclose(file);
    return text;
}

// A scratch folder of this test process, made once.
static inline const char* scratch(void) {
    static char folder[256];
    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "%s/scratch.%ld", LASH_BINARY_DIR, (long)getpid());
        mkdir(folder, 0755);
    }
    return folder;
}

static inline const char* scratch_file(const char* name, char* path, size_t size) {
    snprintf(path, size, "%s/%s", scratch(), name);
    return path;
}

static inline void scratch_remove(void) {
    char text[300];
    snprintf(text, sizeof text, "rm -rf '%s'", scratch());
    if (system(text) != 0) fprintf(stderr, "scratch folder is left\n");
}

// Group teardown of cmocka.
static inline int remove_scratch(void** state) {
    (void)state;
    scratch_remove();
    return 0;
}

static inline void redirect(const char* path, int target) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(file, target);
    close(file);
}

static inline pid_t start_command(const Command* command) {
    char program[300], out[300], err[300];
    snprintf(program, sizeof program, "%s/lash", LASH_BINARY_DIR);
    scratch_file("stdout", out, sizeof out);
    scratch_file("stderr", err, sizeof err);
    fflush(NULL);
    pid_t child = fork();
    if (child != 0) return child;
    redirect(command->output != NULL ? command->output : out, STDOUT_FILENO);
    redirect(err, STDERR_FILENO);
    char* argv[COMMAND_ARGUMENTS + 2] = {program};
    for (int i = 0; i < COMMAND_ARGUMENTS && command->argument[i] != NULL; ++i) {
        argv[i + 1] = (char*)(uintptr_t)command->argument[i];
    }
    execv(program, argv);
    _exit(127);
}

static inline Outcome run_command(const Command* command) {
    char path[300];
    int status = 0;
    double start = test_clock();
    pid_t child = start_command(command);
    waitpid(child, &status, 0);
    Outcome o = {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                 .seconds = test_clock() - start};
    o.out = slurp(scratch_file("stdout", path, sizeof path));
    o.err = slurp(scratch_file("stderr", path, sizeof path));
    return o;
}

static inline void outcome_free(Outcome* o) {
    free(o->out);
    free(o->err);
}

#define LASH(...) run_command(&(Command){.argument = {__VA_ARGS__, NULL}})

#endif
