// A step that is told to stop ends at once, with the state as before it, and asking it changes no
// bit. The mechanism: a row of four-bars with play and friction in every revolute, whose steps take
// thousands of iterations of the friction solvers.
#include <time.h>
#include "test.h"

#include "app/model/model.h"
#include "command.h"

#if defined(__SANITIZE_ADDRESS__)
static const double SLOWER = 20; // than a build without sanitizers
#else
static const double SLOWER = 1;
#endif

static void put_revolute(FILE* file, const char* name, int i, const char* a, int na, const char* b,
                         int nb, double x, double z) {
    fprintf(file, "%s{\"name\": \"%s%d\", \"type\": \"revolute\", \"a\": \"%s",
            strcmp(name, "g") == 0 && i == 0 ? "" : ", ", name, i, a);
    if (na >= 0) fprintf(file, "%d", na);
    fprintf(
        file,
        "\", \"b\": \"%s%d\", \"point\": [%g, 0, %g], \"axis\": [0, 1, 0], \"clearance\": 1e-4, "
        "\"radius\": 0.005, \"length\": 0.02, \"friction\": 0.1, \"restitution\": 0}",
        b, nb, x, z);
}

// n four-bars side by side, links of 0.2 m, swinging at 5 rad/s.
static const char* row_of_four_bars(int n) {
    static char path[300];
    FILE* file = fopen(scratch_file("row.json", path, sizeof path), "w");
    assert_non_null(file);
    fprintf(file, "{\"format\": \"lash-model/1\", \"gravity\": [0, 0, -9.81], \"parts\": [");
    for (int i = 0; i <= n; ++i)
        fprintf(file,
                "{\"name\": \"v%d\", \"shape\": {\"type\": \"box\", \"size\": [0.2, 0.01, 0.02]}, "
                "\"mass\": 0.1, \"pose\": {\"position\": [%g, 0, 0.1], \"axis\": [0, 1, 0], "
                "\"angle\": -1.5707963267948966}, \"velocity\": [0.5, 0, 0], "
                "\"angular_velocity\": [0, 5, 0]}, ",
                i, 0.2 * i);
    for (int i = 0; i < n; ++i)
        fprintf(file,
                "%s{\"name\": \"h%d\", \"shape\": {\"type\": \"box\", \"size\": [0.2, 0.01, "
                "0.02]}, \"mass\": 0.1, \"pose\": {\"position\": [%g, 0, 0.2]}, \"velocity\": [1, "
                "0, 0]}",
                i == 0 ? "" : ", ", i, 0.2 * i + 0.1);
    fprintf(file, "], \"joints\": [");
    for (int i = 0; i <= n; ++i) put_revolute(file, "g", i, "ground", -1, "v", i, 0.2 * i, 0);
    for (int i = 0; i < n; ++i) {
        put_revolute(file, "l", i, "v", i, "h", i, 0.2 * i, 0.2);
        put_revolute(file, "r", i, "h", i, "v", i + 1, 0.2 * i + 0.2, 0.2);
    }
    fprintf(file, "], \"simulation\": {\"step\": 2e-5, \"duration\": 0.012, \"substeps\": 256}}");
    fclose(file);
    return path;
}

typedef struct Case {
    LashModel* model;
    LashMechanism* mech;
    LashSim* sim;
} Case;

static Case begin(int n) {
    LashError error = {0};
    Case c = {.model = lash_model_load(row_of_four_bars(n), NULL, 0, &error)};
    if (c.model == NULL) fail_msg("%s", error.message);
    c.mech = lash_model_build(c.model, &error);
    if (c.mech == NULL) fail_msg("%s", error.message);
    c.sim = lash_sim_create(lash_mechanism_system(c.mech), &c.model->simulation.settings);
    return c;
}

static void end(Case* c) {
    lash_sim_destroy(c->sim);
    lash_mechanism_destroy(c->mech);
    lash_model_destroy(c->model);
}

// Processor time of this thread: other work of the machine does not count [s].
static double processor_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct Asking {
    int64_t count, limit; // questions so far; the one that is answered yes
    double last, longest; // time of the last one, longest time without any [s]
} Asking;

static bool asked(void* context) {
    Asking* a = context;
    double now = processor_time();
    if (now - a->last > a->longest) a->longest = now - a->last;
    a->last = now;
    return ++a->count >= a->limit;
}

static void long_steps_are_never_deaf_for_a_fifth_of_a_second(void** state) {
    (void)state;
    Case c = begin(20);
    Asking a = {.limit = INT64_MAX, .last = processor_time()};
    lash_sim_set_stop(c.sim, (LashStop){.asked = asked, .context = &a});
    double start = processor_time();
    int64_t most = 0;
    while (processor_time() - start < 4) {
        int64_t before = a.count;
        a.limit = a.count + 3000; // no step goes on for ever
        lash_sim_step(c.sim);
        if (a.count - before > most) most = a.count - before;
    }
    printf("longest time without a question %.3g s, most questions in a step %lld\n", a.longest,
           (long long)most);
    assert_true(a.longest < 0.2 * SLOWER);
    assert_true(most > 100 || SLOWER > 1); // there were long steps
    end(&c);
}

static void a_stopped_step_leaves_no_trace(void** state) {
    (void)state;
    enum { STEPS = 40 };
    Case plain = begin(3), other = begin(3);
    int stopped = 0;
    for (int i = 0; i < STEPS; ++i) {
        const double *q, *v, *q_other, *v_other;
        LashStepInfo info = lash_sim_step(plain.sim);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        Asking a = {.limit = 1 + i % 3};
        double t = lash_sim_time(other.sim);
        lash_sim_state(other.sim, &q, &v);
        size_t nq = (size_t)lash_mechanism_body_count(other.mech) * 7 * sizeof *q;
        double* kept = malloc(nq);
        memcpy(kept, q, nq);
        lash_sim_set_stop(other.sim, (LashStop){.asked = asked, .context = &a});
        info = lash_sim_step(other.sim);
        if (info.outcome == LASH_INTERRUPTED) {
            ++stopped;
            assert_true(lash_sim_time(other.sim) == t);
            assert_memory_equal(kept, q, nq);
            lash_sim_set_stop(other.sim, (LashStop){0});
            info = lash_sim_step(other.sim);
        }
        free(kept);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        lash_sim_state(plain.sim, &q, &v);
        lash_sim_state(other.sim, &q_other, &v_other);
        // What an attempt learned may serve the next: the same to the tolerances, not to the bit.
        for (size_t k = 0; k < nq / sizeof *q; ++k) assert_true(fabs(q[k] - q_other[k]) < 1e-8);
    }
    assert_true(stopped > STEPS / 4);
    end(&plain);
    end(&other);
}

static void being_asked_changes_no_bit(void** state) {
    (void)state;
    Case plain = begin(3), other = begin(3);
    Asking a = {.limit = INT64_MAX};
    lash_sim_set_stop(other.sim, (LashStop){.asked = asked, .context = &a});
    for (int i = 0; i < 100; ++i) {
        const double *q, *v, *q_other, *v_other;
        assert_int_equal(lash_sim_step(plain.sim).outcome, LASH_CONVERGED);
        assert_int_equal(lash_sim_step(other.sim).outcome, LASH_CONVERGED);
        lash_sim_state(plain.sim, &q, &v);
        lash_sim_state(other.sim, &q_other, &v_other);
        size_t bodies = (size_t)lash_mechanism_body_count(plain.mech);
        assert_memory_equal(q, q_other, 7 * bodies * sizeof *q);
        assert_memory_equal(v, v_other, 6 * bodies * sizeof *v);
    }
    assert_true(a.count > 100);
    end(&plain);
    end(&other);
}

// The whole program, interrupted in the middle of its steps.
static void the_program_answers_at_once_and_its_file_is_readable(void** state) {
    (void)state;
    char result[300];
    scratch_file("row.h5", result, sizeof result);
    Command command = {.argument = {"run", row_of_four_bars(20), "--duration", "30", "-o", result}};
    static const int signals[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; ++i) {
        int status = 0;
        pid_t child = start_command(&command);
        usleep(1500000 + 700000 * (useconds_t)i);
        double start = test_clock();
        kill(child, signals[i]);
        waitpid(child, &status, 0);
        double answer = test_clock() - start;
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 130);
        if (answer > 1 * SLOWER) fail_msg("answered after %g s", answer); // of a busy machine
        Outcome o = LASH("export", "--csv", result);
        assert_int_equal(o.code, 0);
        outcome_free(&o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_steps_are_never_deaf_for_a_fifth_of_a_second),
        cmocka_unit_test(a_stopped_step_leaves_no_trace),
        cmocka_unit_test(being_asked_changes_no_bit),
        cmocka_unit_test(the_program_answers_at_once_and_its_file_is_readable),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
