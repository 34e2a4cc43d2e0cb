// The C interface for bindings: names, numbers, steps, inputs, saved runs in another process, wrong
// use, and memory that runs out.
#include <math.h>
#include <unistd.h>
#include "test.h"

#include "app/api.h"
#include "app/lash.h"
#include "model_text.h"

#if defined(__SANITIZE_ADDRESS__)
static const bool sanitized = true;
// A call that memory ran out in loses what other libraries hold: JSON trees.
const char* __asan_default_options(void);
const char* __asan_default_options(void) {
    return "detect_leaks=0";
}
#else
static const bool sanitized = false;
#endif

static const char pendulum[] =
    "{'format': 'lash-model/1', 'gravity': [0, -9.81, 0], 'parameters': {'m': 2}, 'inputs': "
    "{'push': {'value': 0}}, 'parts': [{'name': 'frame', 'mass': 1, 'inertia': [1, 1, 1], "
    "'fixed': true}, {'name': 'p', 'mass': 'm', 'inertia': [0.1, 0.1, 0.1], 'pose': {'position': "
    "[0.5, 0, 0]}}], 'joints': [{'name': 'j', 'type': 'revolute', 'a': 'ground', 'b': 'p', "
    "'point': [0, 0, 0], 'axis': [0, 0, 1]}], 'forces': [{'name': 'f', 'type': 'joint_force', "
    "'joint': 'j', 'force': 'push - 0.1*v'}], 'simulation': {'step': 1e-3, 'duration': 1}}";

static LashRun* open_text(const char* text) {
    char path[300], message[512];
    LashRun* run = NULL;
    write_model("api.json", text, path, sizeof path);
    int status = lash_run_open(&run, path, NULL, 0, message, sizeof message);
    if (status != 0) fail_msg("%s", message);
    return run;
}

static void names_numbers_and_steps(void** state) {
    (void)state;
    assert_int_equal(lash_api_version(), LASH_API_VERSION);
    assert_true(lash_version()[0] != '\0');
    LashRun* run = open_text(pendulum);
    assert_int_equal(lash_run_count(run, LASH_PARTS), 2);
    assert_int_equal(lash_run_find(run, LASH_PARTS, "p"), 1);
    assert_string_equal(lash_run_name(run, LASH_JOINTS, 0), "j");
    assert_string_equal(lash_run_name(run, LASH_INPUTS, 0), "push");
    assert_int_equal(lash_run_coordinates(run, 0), 1);
    assert_string_equal(lash_run_coordinate_name(run, 0, 0), "angle");
    double h, angle, speed, position[3], q[7], force[3], energy;
    int done;
    assert_int_equal(lash_run_get(run, "step", &h), 0);
    assert_true(h == 1e-3);
    assert_int_equal(lash_run_step_n(run, 100, &done), 0);
    assert_int_equal(done, 100);
    assert_true(fabs(lash_run_time(run) - 0.1) < 1e-12);
    assert_int_equal(lash_run_joint(run, 0, 0, &angle, &speed), 0);
    assert_int_equal(lash_run_part(run, 1, position, NULL, NULL, NULL), 0);
    assert_true(fabs(position[1] - 0.5 * sin(angle)) < 1e-9);
    assert_int_equal(lash_run_state(run, q, NULL), 0);
    assert_true(q[1] == position[1]);
    assert_int_equal(lash_run_reaction(run, 0, force, NULL), 0);
    assert_true(fabs(force[0]) + fabs(force[1]) > 1);
    assert_int_equal(lash_run_get(run, "energy.balance_error", &energy), 0);
    assert_true(fabs(energy) < 1e-6);
    double before = speed;
    assert_int_equal(lash_run_set_input(run, "push", 100, 100), 0);
    assert_int_equal(lash_run_step_n(run, 50, NULL), 0);
    assert_int_equal(lash_run_joint(run, 0, 0, NULL, &speed), 0);
    assert_true(speed > before + 1);
    assert_int_equal(lash_run_input(run, "push", &h), 0);
    assert_true(h == 100);
    assert_int_equal(lash_run_reset(run), 0);
    assert_true(lash_run_time(run) == 0);
    lash_run_close(run);
}

static void parameters_are_set_and_errors_come_back_as_text(void** state) {
    (void)state;
    char path[300], message[512];
    LashRun* run = NULL;
    write_model("api.json", pendulum, path, sizeof path);
    const char* good[] = {"m=3"};
    const char* wrong[] = {"mm=3"};
    assert_int_equal(lash_run_open(&run, path, good, 1, message, sizeof message), 0);
    lash_run_close(run);
    assert_int_equal(lash_run_open(&run, path, wrong, 1, message, sizeof message),
                     LASH_ERROR_USAGE);
    assert_null(run);
    assert_non_null(strstr(message, "no parameter 'mm'"));
    assert_int_equal(lash_run_open(&run, "/nowhere.json", NULL, 0, message, sizeof message),
                     LASH_ERROR_IO);
    assert_non_null(strstr(message, "/nowhere.json"));
    assert_int_equal(lash_run_open(&run, NULL, NULL, 0, NULL, 0), LASH_ERROR_USAGE);
    assert_int_equal(lash_run_open(NULL, path, NULL, 0, NULL, 0), LASH_ERROR_USAGE);
    assert_int_equal(lash_run_open(&run, path, NULL, 2, NULL, 0), LASH_ERROR_USAGE);
}

// A ball on a fixed one: its weight, forces, a bushing; either is the second side of the contact.
static void forces_and_contacts_are_read(void** state) {
    (void)state;
    for (int swapped = 0; swapped < 2; ++swapped) {
        char text[2000];
        snprintf(
            text, sizeof text,
            "{'format': 'lash-model/1', 'gravity': [0, 0, -10], 'parts': [{'name': 'floor', "
            "'shape': {'type': 'box', 'size': [9, 9, 1]}, 'fixed': true, 'pose': {'position': "
            "[0, 0, -0.5]}}, {'name': 'p', 'shape': {'type': 'sphere', 'radius': 0.5}, 'mass': "
            "2, 'pose': {'position': [0, 0, 0.5]}}], 'joints': [{'name': 'j', 'type': 'free', "
            "'a': 'ground', 'b': 'p', 'point': [0, 0, 0]}], 'contacts': [{'name': 'c', 'a': "
            "{'part': '%s', 'sphere': {'radius': 0.5}}, 'b': {'part': '%s', 'sphere': {'radius': "
            "0.5}}}], 'forces': [{'name': 's', 'type': 'joint_force', 'joint': 'j', "
            "'coordinate': 'z', 'force': '-3'}, {'name': 'b', 'type': 'bushing', 'a': "
            "'ground', 'b': 'p', 'stiffness_matrix': [1, 1, 1, 1, 1, 1], 'rest_coordinates': "
            "[0, 0, 0, 0, 0, 0.25]}, {'name': 'f', 'type': 'force', 'part': 'p', 'force': [0, "
            "0, -4]}], 'simulation': {'step': 1e-3, 'duration': 1}}",
            swapped ? "p" : "floor", swapped ? "floor" : "p");
        LashRun* run = open_text(text);
        double value[6], gap, force[3];
        int components;
        assert_int_equal(lash_run_step_n(run, 5, NULL), 0);
        assert_int_equal(lash_run_find_coordinate(run, 0, "yaw"), 5);
        assert_int_equal(lash_run_find_coordinate(run, 0, "angle"), -1);
        assert_int_equal(lash_run_force(run, 0, value, &components), 0);
        assert_true(components == 1 && value[0] == -3);
        assert_int_equal(lash_run_force(run, 1, value, &components), 0);
        assert_true(components == 6 && fabs(value[5] - 0.25) < 1e-3);
        assert_int_equal(lash_run_force(run, 2, value, NULL), 0);
        assert_true(value[2] == -4);
        assert_int_equal(lash_run_contact(run, 0, &gap, force), 0);
        assert_true(fabs(gap) < 1e-9);
        assert_true(fabs(force[2] - (swapped ? -27 : 27)) < 1e-6);
        assert_int_equal(lash_run_contact(run, 1, &gap, NULL), LASH_ERROR_USAGE);
        assert_string_equal(lash_run_error(run),
                            "lash_run_contact: there is no contact number 1: "
                            "the model has 1, numbered from 0");
        assert_int_equal(lash_run_force(run, -1, value, NULL), LASH_ERROR_USAGE);
        assert_int_equal(lash_run_force(run, 0, NULL, NULL), LASH_ERROR_USAGE);
        lash_run_close(run);
    }
}

static void wrong_use_is_refused_and_sets_nothing(void** state) {
    (void)state;
    LashRun* run = open_text(pendulum);
    double x;
    assert_int_equal(lash_run_step_n(run, -1, NULL), LASH_ERROR_USAGE);
    assert_int_equal(lash_run_joint(run, 7, 0, &x, NULL), LASH_ERROR_USAGE);
    assert_int_equal(lash_run_joint(run, 0, 3, &x, NULL), LASH_ERROR_USAGE);
    assert_int_equal(lash_run_part(run, -1, NULL, NULL, NULL, NULL), LASH_ERROR_USAGE);
    assert_int_equal(lash_run_set_input(run, "pull", 1, 1), LASH_ERROR_USAGE);
    assert_int_equal(lash_run_set_input(run, "push", NAN, 1), LASH_ERROR_USAGE);
    assert_int_equal(lash_run_input(run, "pull", &x), LASH_ERROR_USAGE);
    assert_int_equal(lash_run_input(run, "push", NULL), LASH_ERROR_USAGE);
    assert_int_equal(lash_run_get(run, "mass", &x), LASH_ERROR_USAGE);
    assert_true(lash_run_error(run)[0] != '\0');
    assert_int_equal(lash_run_find(run, LASH_JOINTS, "k"), -1);
    assert_int_equal(lash_run_find(run, LASH_JOINTS, NULL), -1);
    assert_null(lash_run_name(run, LASH_PARTS, 99));
    assert_int_equal(lash_run_step_n(NULL, 1, NULL), LASH_ERROR_USAGE);
    assert_int_equal(lash_run_restore(run, "abc", 3), LASH_ERROR_IO);
    assert_int_equal(lash_run_restore(run, NULL, 0), LASH_ERROR_IO);
    assert_int_equal(lash_run_step_n(run, 1, NULL), 0);
    lash_run_close(run);
    lash_run_close(NULL);
}

// ---- saved runs ---------------------------------------------------------------------------------

static uint64_t state_sum(LashRun* run) {
    double nq, nv;
    lash_run_get(run, "coordinates", &nq);
    lash_run_get(run, "velocities", &nv);
    double* numbers = malloc((size_t)(nq + nv + 3) * sizeof *numbers);
    lash_run_state(run, numbers, numbers + (int)nq);
    numbers[(int)(nq + nv)] = lash_run_time(run);
    lash_run_get(run, "energy.external_work", &numbers[(int)(nq + nv) + 1]);
    lash_run_get(run, "energy.balance_error", &numbers[(int)(nq + nv) + 2]);
    uint64_t sum = 0xcbf29ce484222325u;
    for (int j = 0; j < lash_run_count(run, LASH_JOINTS); ++j) {
        double load[6];
        lash_run_reaction(run, j, load, load + 3);
        for (size_t i = 0; i < sizeof load; ++i)
            sum = (sum ^ ((const unsigned char*)load)[i]) * 0x100000001b3u;
    }
    const unsigned char* byte = (const unsigned char*)numbers;
    for (size_t i = 0; i < (size_t)(nq + nv + 3) * sizeof *numbers; ++i)
        sum = (sum ^ byte[i]) * 0x100000001b3u;
    free(numbers);
    return sum;
}

static LashRun* open_model(const char* path) {
    LashRun* run = NULL;
    char message[512];
    if (lash_run_open(&run, path, NULL, 0, message, sizeof message) != 0) {
        fprintf(stderr, "%s\n", message);
        return NULL;
    }
    return run;
}

static char* read_bytes(const char* path, size_t* bytes) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char* data = malloc(*bytes + 1);
    if (fread(data, 1, *bytes, file) != *bytes) *bytes = 0;
    fclose(file);
    return data;
}

// Another process: MODEL STATE STEPS, prints the sum.
static int go_on(char** argv) {
    LashRun* run = open_model(argv[0]);
    size_t bytes = 0;
    char* state = read_bytes(argv[1], &bytes);
    if (run == NULL || state == NULL) return 1;
    if (lash_run_restore(run, state, bytes) != 0) return 2;
    free(state);
    if (lash_run_step_n(run, atoi(argv[2]), NULL) != 0) return 3;
    printf("%016llx\n", (unsigned long long)state_sum(run));
    lash_run_close(run);
    return 0;
}

static void save_to(LashRun* run, const char* path) {
    size_t bytes = lash_run_save(run, NULL, 0);
    char *state = malloc(bytes), *again = malloc(bytes);
    assert_int_equal(lash_run_save(run, state, bytes - 1), bytes); // too small: only asked
    assert_int_equal(lash_run_save(run, state, bytes), bytes);
    assert_int_equal(lash_run_save(run, again, bytes), bytes);
    assert_memory_equal(state, again, bytes); // and has changed nothing
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(state, 1, bytes, file), bytes);
    fclose(file);
    free(state);
    free(again);
}

// One run that is never saved, one that is, and one restored in another process.
static void check_model(const char* path, int before, int after) {
    char saved[300], out[300], command[2400], here[40], self[400];
    uint64_t sum[2];
    scratch_file("state.bin", saved, sizeof saved);
    for (int k = 0; k < 2; ++k) {
        LashRun* run = open_model(path);
        assert_non_null(run);
        if (lash_run_step_n(run, before, NULL) != 0) fail_msg("%s", lash_run_error(run));
        if (k == 1) save_to(run, saved);
        if (lash_run_step_n(run, after, NULL) != 0) fail_msg("%s", lash_run_error(run));
        sum[k] = state_sum(run);
        lash_run_close(run);
    }
    if (sum[0] != sum[1]) fail_msg("%s, step %d: saving changes it", path, before);
    snprintf(here, sizeof here, "%016llx\n", (unsigned long long)sum[1]);
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    snprintf(command, sizeof command, "'%s' --go-on '%s' '%s' %d > '%s'", self, path, saved, after,
             scratch_file("sum.txt", out, sizeof out));
    assert_int_equal(system(command), 0);
    char* there = slurp(out);
    if (strcmp(here, there) != 0)
        fail_msg("%s, step %d: %s, in another process %s", path, before, here, there);
    free(there);
}

// Play, friction, CAD contact with warm starts, groups that are searched, more than 96 velocities
// (the sparse operator), limits, drivers, gears, free joints; saved at a random step.
static void a_restored_run_goes_on_with_the_same_bits_in_another_process(void** state) {
    (void)state;
    static const struct {
        const char* name;
        int least, most, after; // steps before it is saved, and after
    } models[] = {
        {"slider_crank/all_play", 5, 300, 100},    {"four_bar/four_bar", 5, 120, 60},
        {"joints/gear_train", 5, 300, 60},         {"joints/shaker", 500, 2500, 60},
        {"papers/rocking_block", 5, 300, 60},      {"papers/pendulum_in_ring", 5, 120, 60},
        {"benchmarks/a04_bricard", 5, 120, 60},    {"circuit_breaker/breaker", 5, 300, 40},
        {"cam_follower/cam_follower", 5, 100, 20}, {"geneva/geneva", 5, 100, 40},
        {"scale/balls_20", 950, 1100, 30}, // the first touch at 900
        {"scale/chain_play_8", 5, 100, 30},        {"scale/roller_chain_20", 5, 60, 10},
        {"scale/four_bars_play_4", 5, 60, 20}};
    bool all = getenv("LASH_LONG_TESTS") != NULL;
    uint64_t seed = 20240611;
    for (int round = 0; round < (all ? 20 : 1); ++round) {
        for (size_t i = 0; i < sizeof models / sizeof *models; ++i) {
            char path[600];
            if (sanitized && models[i].least > 5 && !all) continue; // ten times as long
            snprintf(path, sizeof path, "%s/models/%s.json", LASH_SOURCE_DIR, models[i].name);
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            int range = models[i].most - models[i].least;
            if (sanitized && range > 40) range = 40;
            check_model(path, models[i].least + (int)(seed >> 33) % range, models[i].after);
        }
    }
}

// Events located within steps, accumulations of impacts.
static void a_restored_run_of_located_events_has_the_same_bits(void** state) {
    (void)state;
    char path[300];
    write_model(
        "events.json",
        "{'format': 'lash-model/1', 'gravity': [0, 0, -9.81], 'parts': [{'name': 'p', "
        "'mass': 2, 'inertia': [0.1, 0.1, 0.1], 'velocity': [1, 0, 0]}], 'joints': [{'name': "
        "'j', 'type': 'planar', 'a': 'ground', 'b': 'p', 'point': [0, 0, 0], 'axis': [0, 1, "
        "0], 'x_axis': [1, 0, 0], 'limits': [{'coordinate': 'x', 'lower': -0.1, 'upper': "
        "0.1, 'restitution': 0.8}, {'coordinate': 'y', 'lower': -0.05, 'upper': 0.05, "
        "'restitution': 0.5}]}], 'simulation': {'step': 1e-3, 'duration': 1, 'scheme': "
        "'trapezoidal'}}",
        path, sizeof path);
    for (int before = 40; before < 900; before += sanitized ? 429 : 143)
        check_model(path, before, 100);
}

// The same with every scheme and its history, in this process.
static void every_scheme_goes_on_with_the_same_bits(void** state) {
    (void)state;
    static const char* const models[] = {"slider_crank/ideal", "papers/bouncing_ball"};
    int schemes = 0;
    for (int k = 0; k < 2 * LASH_SCHEMES; ++k) {
        char path[600];
        LashError error = {0};
        snprintf(path, sizeof path, "%s/models/%s.json", LASH_SOURCE_DIR, models[k % 2]);
        LashModel* model = lash_model_load(path, NULL, 0, &error);
        assert_non_null(model);
        LashMechanism* mech = lash_model_build(model, &error);
        const LashSystem* system = lash_mechanism_system(mech);
        LashSettings settings = lash_settings();
        settings.h = model->simulation.settings.h;
        settings.scheme = (LashScheme)(k / 2);
        bool fits =
            lash_settings_check(&settings, NULL) && lash_settings_fit(&settings, system, NULL);
        LashSim* one = fits ? lash_sim_create(system, &settings) : NULL;
        LashSim* two = fits ? lash_sim_create(system, &settings) : NULL;
        if (fits && lash_sim_step_n(one, 37, NULL).outcome == LASH_CONVERGED) {
            size_t bytes = lash_sim_save(one, NULL, 0);
            char* saved = malloc(bytes);
            assert_int_equal(lash_sim_save(one, saved, bytes), bytes);
            assert_true(lash_sim_restore(two, saved, bytes, &error));
            assert_int_equal(lash_sim_steps(two), 37);
            LashSim* never = lash_sim_create(system, &settings);
            LashSim* sims[] = {never, one, two};
            lash_sim_step_n(never, 37, NULL);
            int done[3];
            const double *q[3], *v[3];
            for (int i = 0; i < 3; ++i) {
                lash_sim_step_n(sims[i], 40, &done[i]);
                lash_sim_state(sims[i], &q[i], &v[i]);
                assert_int_equal(done[i], done[0]);
                if (memcmp(q[i], q[0], (size_t)system->nq * sizeof **q) != 0 ||
                    memcmp(v[i], v[0], (size_t)system->nv * sizeof **v) != 0)
                    fail_msg("%s with %s", models[k % 2], lash_scheme_name(settings.scheme));
            }
            lash_sim_destroy(never);
            free(saved);
            ++schemes;
        }
        lash_sim_destroy(one);
        lash_sim_destroy(two);
        lash_mechanism_destroy(mech);
        lash_model_destroy(model);
    }
    assert_true(schemes >= 10);
}

static void damaged_and_foreign_bytes_are_refused_and_change_nothing(void** state) {
    (void)state;
    LashRun* run = open_text(pendulum);
    assert_int_equal(lash_run_step_n(run, 10, NULL), 0);
    size_t bytes = lash_run_save(run, NULL, 0);
    char* saved = malloc(bytes);
    assert_int_equal(lash_run_save(run, saved, bytes), bytes);
    uint64_t sum = state_sum(run);
    for (size_t i = 0; i < bytes; i += 3) {
        saved[i] ^= 0x41;
        int status = lash_run_restore(run, saved, bytes);
        assert_true(status == LASH_ERROR_IO || status == LASH_ERROR_MODEL);
        saved[i] ^= 0x41;
    }
    assert_int_equal(lash_run_restore(run, saved, bytes - 8), LASH_ERROR_IO);
    assert_int_equal(lash_run_restore(run, saved, bytes), 0);
    assert_true(state_sum(run) == sum);
    char path[600];
    snprintf(path, sizeof path, "%s/models/papers/bouncing_ball.json", LASH_SOURCE_DIR);
    LashRun* other = open_model(path);
    assert_int_equal(lash_run_restore(other, saved, bytes), LASH_ERROR_MODEL);
    assert_non_null(strstr(lash_run_error(other), "another model"));
    lash_run_close(other);
    lash_run_close(run);
    free(saved);
}

// ---- memory -------------------------------------------------------------------------------------

static void memory_that_runs_out_is_an_error_that_comes_back(void** state) {
    (void)state;
    char path[300], message[512];
    write_model("api.json", pendulum, path, sizeof path);
    LashRun* run = NULL;
    int64_t n = 0;
    for (n = 1; run == NULL && n < 100000; ++n) {
        lash_alloc_fail_at(n);
        int status = lash_run_open(&run, path, NULL, 0, message, sizeof message);
        lash_alloc_fail_at(0);
        if (status == 0) break;
        assert_int_equal(status, LASH_ERROR_INTERNAL);
        assert_non_null(strstr(message, "out of memory"));
    }
    assert_true(n > 50);
    assert_int_equal(lash_run_step_n(run, 5, NULL), 0);
    lash_run_close(run);
}

static void a_run_that_cannot_be_restored_for_want_of_memory_stays_as_it_is(void** state) {
    (void)state;
    LashRun* run = open_text(pendulum);
    assert_int_equal(lash_run_step_n(run, 5, NULL), 0);
    size_t bytes = lash_run_save(run, NULL, 0);
    char* saved = malloc(bytes);
    assert_int_equal(lash_run_save(run, saved, bytes), bytes);
    assert_int_equal(lash_run_step_n(run, 5, NULL), 0);
    uint64_t sum = state_sum(run);
    int status = LASH_ERROR_INTERNAL;
    for (int64_t n = 1; status != 0; ++n) {
        lash_alloc_fail_at(n);
        status = lash_run_restore(run, saved, bytes);
        lash_alloc_fail_at(0);
        if (status == 0) break;
        assert_int_equal(status, LASH_ERROR_INTERNAL);
        assert_non_null(strstr(lash_run_error(run), "out of memory"));
        assert_true(state_sum(run) == sum);
    }
    assert_true(lash_run_time(run) < 6e-3);
    assert_int_equal(lash_run_step_n(run, 5, NULL), 0);
    assert_true(state_sum(run) == sum);
    lash_run_close(run);
    free(saved);
}

static void a_run_whose_memory_ran_out_says_so_and_can_be_closed(void** state) {
    (void)state;
    LashRun* run = open_text(pendulum);
    assert_int_equal(lash_run_step_n(run, 5, NULL), 0);
    lash_alloc_fail_at(3); // while it is made anew
    assert_int_equal(lash_run_reset(run), LASH_ERROR_INTERNAL);
    lash_alloc_fail_at(0);
    assert_non_null(strstr(lash_run_error(run), "out of memory"));
    assert_int_equal(lash_run_step_n(run, 5, NULL), LASH_ERROR_INTERNAL);
    lash_run_close(run);
}

int main(int argc, char** argv) {
    if (argc == 5 && strcmp(argv[1], "--go-on") == 0) return go_on(argv + 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_numbers_and_steps),
        cmocka_unit_test(parameters_are_set_and_errors_come_back_as_text),
        cmocka_unit_test(forces_and_contacts_are_read),
        cmocka_unit_test(wrong_use_is_refused_and_sets_nothing),
        cmocka_unit_test(a_restored_run_goes_on_with_the_same_bits_in_another_process),
        cmocka_unit_test(a_restored_run_of_located_events_has_the_same_bits),
        cmocka_unit_test(every_scheme_goes_on_with_the_same_bits),
        cmocka_unit_test(damaged_and_foreign_bytes_are_refused_and_change_nothing),
        cmocka_unit_test(memory_that_runs_out_is_an_error_that_comes_back),
        cmocka_unit_test(a_run_that_cannot_be_restored_for_want_of_memory_stays_as_it_is),
        cmocka_unit_test(a_run_whose_memory_ran_out_says_so_and_can_be_closed),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
