/* A program that drives a model through api.h: no struct of Lash, so any language with a C interface can do the same. C and C++.
   drive MODEL STEPS: steps, saves, goes on, restores, goes on again: both ways end alike. */
#include <api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char* text) {
    fprintf(stderr, "%s\n", text);
    return 1;
}

int main(int argc, char** argv) {
    LashRun* run = NULL;
    char message[512];
    if (argc != 3) return fail("usage: drive MODEL STEPS");
    if (lash_run_open(&run, argv[1], NULL, 0, message, sizeof message) != 0) return fail(message);
    int steps = atoi(argv[2]), joints = lash_run_count(run, LASH_JOINTS);
    if (lash_run_step_n(run, steps, NULL) != 0) return fail(lash_run_error(run));
    size_t bytes = lash_run_save(run, NULL, 0);
    void* saved = malloc(bytes);
    double first = 0, again = 0;
    if (saved == NULL || lash_run_save(run, saved, bytes) != bytes) return fail("not saved");
    if (lash_run_step_n(run, steps, NULL) != 0) return fail(lash_run_error(run));
    lash_run_joint(run, 0, 0, &first, NULL);
    if (lash_run_restore(run, saved, bytes) != 0) return fail(lash_run_error(run));
    if (lash_run_step_n(run, steps, NULL) != 0) return fail(lash_run_error(run));
    lash_run_joint(run, 0, 0, &again, NULL);
    printf("%s: t = %.6g s, %d joints, %s is at %.9g, %s\n", lash_version(), lash_run_time(run),
           joints, joints > 0 ? lash_run_name(run, LASH_JOINTS, 0) : "nothing", first,
           memcmp(&first, &again, sizeof first) == 0 ? "the same again" : "another one again");
    free(saved);
    lash_run_close(run);
    return 0;
}
