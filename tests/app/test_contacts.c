// Contacts from model files: features, the papers' models with their figures, results, starts that
// overlap, steps that fail.
#include <cjson/cJSON.h>
#include "test.h"

#include "app/model/model.h"
#include "app/run/record.h"
#include "command.h"
#include "core/arena.h"
#include "core/math3.h"

static const char* const papers = LASH_SOURCE_DIR "/models/papers/";

static void assert_near(double value, double expected, double tolerance) {
    if (fabs(value - expected) <= tolerance) return;
    fail_msg("%.17g differs from %.17g by more than %g", value, expected, tolerance);
}

static void assert_contains(const char* text, const char* words) {
    if (strstr(text, words) != NULL) return;
    fail_msg("expected to find \"%s\" in \"%s\"", words, text);
}

static double number_at(const cJSON* node, const char* path) {
    char copy[128];
    snprintf(copy, sizeof copy, "%s", path);
    for (char* key = strtok(copy, "/"); key != NULL; key = strtok(NULL, "/")) {
        node = cJSON_GetObjectItem(node, key);
        if (node == NULL) fail_msg("no key %s in %s", key, path);
    }
    if (!cJSON_IsNumber(node)) fail_msg("%s is no number", path);
    return node->valuedouble;
}

// A model of models/papers run with --json and a result file; extra options may be NULL.
typedef struct PaperRun {
    cJSON* json;
    LashRecord* record;
} PaperRun;

static PaperRun run_paper(const char* name, const char* a, const char* b) {
    char model[400], path[300];
    PaperRun run = {0};
    snprintf(model, sizeof model, "%s%s.json", papers, name);
    scratch_file("paper.h5", path, sizeof path);
    Outcome o = LASH("run", model, "--json", "-o", path, a, b);
    if (o.code != 0) fail_msg("%s: exit code %d: %s", name, o.code, o.err);
    run.json = cJSON_Parse(o.out);
    assert_non_null(run.json);
    outcome_free(&o);
    LashError error = {0};
    run.record = lash_record_open(path, &error);
    if (run.record == NULL) fail_msg("%s: %s", error.where, error.message);
    return run;
}

static void end_paper(PaperRun* run) {
    cJSON_Delete(run->json);
    lash_record_close(run->record);
}

// Steps [t, t + h] in which a contact was hit, at most `most` of them; returns how many.
static int impacts_of(const LashRecord* record, const char* name, double* t, int most) {
    int found = 0;
    LashError error = {0};
    for (int64_t i = 0; i < record->events; ++i) {
        LashRecordEvent event;
        assert_true(lash_record_read_events(record, i, 1, &event, &error));
        if (event.kind != LASH_EVENT_IMPACT ||
            strcmp(record->contact_name[event.contact], name) != 0)
            continue;
        if (found < most) t[found] = event.t;
        ++found;
    }
    return found;
}

// Distance of a time from the step that begins at t.
static double from_step(double time, double t, double h) {
    return fmax(0, fmax(t - time, time - (t + h)));
}

static double* read_series(const LashRecord* record, LashSeries series) {
    LashError error = {0};
    double* values =
        lash_alloc((size_t)record->frames * (size_t)record->layout.width[series] * sizeof *values);
    assert_true(lash_record_read(record, series, 0, record->frames, values, &error));
    return values;
}

// A model of the papers with one text replaced, in the scratch folder.
static const char* edited(const char* name, const char* from, const char* to, char* path,
                          size_t size) {
    char source[400];
    snprintf(source, sizeof source, "%s%s.json", papers, name);
    char* text = slurp(source);
    char* at = strstr(text, from);
    if (at == NULL) fail_msg("no '%s' in %s", from, name);
    FILE* file = fopen(scratch_file("edited.json", path, size), "w");
    fprintf(file, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(file);
    free(text);
    return path;
}

// ---- the papers' models -------------------------------------------------------------------------

// Exact positions and first impacts (event-driven, 20 digits); the trapezoidal rule locates impacts, O(h^2).
static void double_pendulum_meets_the_wall_as_the_exact_solution_says(void** state) {
    (void)state;
    static const double tolerance[2] = {5e-5, 1e-6};
    for (int k = 0; k < 2; ++k) {
        PaperRun run =
            run_paper("double_pendulum_wall", "--scheme", k == 0 ? "combined" : "trapezoidal");
        assert_near(number_at(run.json, "outputs/x1"), 0.021946257563808, tolerance[k]);
        assert_near(number_at(run.json, "outputs/x2"), 0.023851309509373, tolerance[k]);
        assert_near(number_at(run.json, "outputs/first_impact1"), 0.545229943827, 5e-7);
        assert_near(number_at(run.json, "outputs/first_impact2"), 0.707571786029, 5 * tolerance[k]);
        assert_true(number_at(run.json, "outputs/impacts1") == 3);
        assert_true(number_at(run.json, "outputs/impacts2") == 2);
        assert_true(number_at(run.json, "violation/unilateral") <= 1e-10);
        end_paper(&run);
    }
}

static void block_on_a_table_sticks_and_slips_as_the_exact_solution_says(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        PaperRun run = run_paper("block_on_table", "--scheme", k == 0 ? "combined" : "trapezoidal");
        double tolerance = k == 0 ? 5e-7 : 2e-6; // 2 h^2
        assert_near(number_at(run.json, "outputs/x"), 2.9913028331150315, tolerance);
        assert_near(number_at(run.json, "outputs/x_max"), 3.0043485697268652, tolerance);
        assert_near(number_at(run.json, "outputs/v"), 0, 2e-5);
        assert_near(number_at(run.json, "outputs/gap"), 0, 1e-10);
        end_paper(&run);
    }
}

static void carts_meet_the_stopper_as_the_exact_solution_says(void** state) {
    (void)state;
    static const struct {
        const char* delta;
        double first, x1, x2;
    } exact[2] = {{"delta=100", 0.056836085702354, 0.198257232941920, 5.178661133750545},
                  {"delta=1000", 0.055745555962525, 0.215696245411358, 5.213458176643117}};
    for (int k = 0; k < 2; ++k) {
        PaperRun run = run_paper("carts_and_stopper", "--set", exact[k].delta);
        assert_near(number_at(run.json, "outputs/first_impact"), exact[k].first, 1e-5);
        assert_near(number_at(run.json, "outputs/x1"), exact[k].x1, 2e-3); // O(h), h = 1e-3
        assert_near(number_at(run.json, "outputs/x2"), exact[k].x2, 2e-3);
        end_paper(&run);
    }
    PaperRun run = run_paper("carts_and_stopper", "--scheme", "trapezoidal");
    assert_near(number_at(run.json, "outputs/first_impact"), exact[0].first, 1e-6);
    assert_near(number_at(run.json, "outputs/x1"), exact[0].x1, 2e-5);
    assert_near(number_at(run.json, "outputs/x2"), exact[0].x2, 2e-5);
    end_paper(&run);
}

static void ballards_ball_hits_at_the_known_times_and_rests(void** state) {
    (void)state;
    PaperRun run = run_paper("bouncing_ball", NULL, NULL);
    double t[8], h = 1e-3;
    assert_true(impacts_of(run.record, "bounce", t, 8) >= 8);
    for (int n = 1; n <= 4; ++n) assert_true(from_step(3 - pow(2, 2 - n), t[n - 1], h) <= 2 * h);
    assert_near(number_at(run.json, "outputs/first_impact"), 1, 1e-9);
    assert_near(number_at(run.json, "outputs/force_at_rest"), 2, 1e-9);
    assert_near(number_at(run.json, "outputs/speed"), 0, 1e-12);
    assert_near(number_at(run.json, "outputs/gap"), 0, 1e-10);
    assert_near(number_at(run.json, "energy/dissipated"), 2, 5e-3);
    assert_true(number_at(run.json, "violation/unilateral") <= 1e-10);
    assert_near(number_at(run.json, "contacts/each/bounce/peak_impulse"), 3, 3 * h);
    assert_near(number_at(run.json, "contacts/each/bounce/peak_force"), 2, 0.02 * 2);
    end_paper(&run);
}

static void the_oscillator_loses_half_its_speed_every_half_period(void** state) {
    (void)state;
    PaperRun run = run_paper("linear_oscillator", NULL, NULL);
    double t[8], h = 1e-3;
    assert_int_equal(impacts_of(run.record, "hit", t, 8), 4);
    for (int n = 0; n < 4; ++n) {
        assert_true(from_step((n + 0.5) * LASH_PI, t[n], h) <= 2 * h);
    }
    assert_near(number_at(run.json, "outputs/energy"), 0.5 / 256, 1e-5);
    end_paper(&run);
}

static void the_rocking_block_comes_to_rest_above_the_floor(void** state) {
    (void)state;
    static const double first[] = {0.177221938, 0.320976527}; // left edge, right edge
    PaperRun run = run_paper("rocking_block", NULL, NULL);
    double t[1], h = 1e-3;
    assert_true(impacts_of(run.record, "base.3", t, 1) > 0);
    assert_true(from_step(first[0], t[0], h) <= 2 * h);
    assert_true(impacts_of(run.record, "base.1", t, 1) > 0);
    assert_true(from_step(first[1], t[0], h) <= 2 * h);
    assert_true(number_at(run.json, "outputs/least_gap") >= -1e-10);
    double* time = read_series(run.record, LASH_SERIES_TIME);
    double* v = read_series(run.record, LASH_SERIES_VELOCITY);
    double* omega = read_series(run.record, LASH_SERIES_ANGULAR_VELOCITY);
    for (int64_t i = 0; i < run.record->frames; ++i) {
        if (time[i] < 1.2) continue;
        for (int k = 0; k < 3; ++k) {
            assert_near(v[3 * i + k], 0, 1e-10);
            assert_near(omega[3 * i + k], 0, 1e-10);
        }
    }
    assert_true(time[run.record->frames - 1] > 1.99);
    lash_free(time);
    lash_free(v);
    lash_free(omega);
    end_paper(&run);
}

static void friction_holds_the_roller(void** state) {
    (void)state;
    PaperRun run = run_paper("slider_on_roller", NULL, NULL);
    assert_near(number_at(run.json, "outputs/roller_speed"), 0, 1e-6);
    assert_near(number_at(run.json, "outputs/normal_force"), 9.81, 1e-6);
    assert_near(number_at(run.json, "contacts/each/line/first_impact"), sqrt(2 * 0.05 / 9.81),
                1e-5);
    // the torque over the radius; what the joints block anyway may add to it, within the cone
    double friction = number_at(run.json, "outputs/friction_force");
    assert_true(friction >= 0.5 * 0.3 * 9.81 - 1e-6 && friction <= 0.3 * 9.81 + 1e-6);
    double angle = number_at(run.json, "outputs/roller_angle");
    int impacts = (int)number_at(run.json, "contacts/impacts");
    end_paper(&run);
    // Algorithm 1 with an explicit forecast: impacts never end, and the roller turns on
    char path[300];
    edited("slider_on_roller", "\"step\": 1e-3",
           "\"step\": 1e-3, \"scheme\": \"direct\", \"forecast\": \"explicit\", \"gamma\": 0", path,
           sizeof path);
    Outcome o = LASH("run", path, "--json");
    assert_int_equal(o.code, 0);
    cJSON* json = cJSON_Parse(o.out);
    assert_true(number_at(json, "contacts/impacts") > 10 * impacts);
    assert_true(number_at(json, "outputs/roller_angle") > angle + 0.02);
    cJSON_Delete(json);
    outcome_free(&o);
}

static void the_pendulum_stays_on_its_ring_or_sinks_through_it(void** state) {
    (void)state;
    PaperRun run = run_paper("pendulum_in_ring", NULL, NULL);
    assert_near(number_at(run.json, "outputs/first_impact"), sqrt(0.02 / 9.81), 1e-5);
    double* gap = read_series(run.record, LASH_SERIES_CONTACT_GAP);
    double* active = read_series(run.record, LASH_SERIES_CONTACTS);
    int closed = 0;
    for (int64_t i = 0; i < run.record->frames; ++i) {
        if (active[i] == 0) continue;
        assert_near(gap[i], 0, 1e-10);
        ++closed;
    }
    assert_true(closed > run.record->frames * 9 / 10);
    lash_free(gap);
    lash_free(active);
    end_paper(&run);
    run = run_paper("pendulum_in_ring", "--scheme=moreau-jean", "--direction=start");
    gap = read_series(run.record, LASH_SERIES_CONTACT_GAP);
    double* time = read_series(run.record, LASH_SERIES_TIME);
    double lowest[5] = {0}; // of every second
    for (int64_t i = 0; i < run.record->frames; ++i) {
        int second = time[i] < 4.999 ? (int)time[i] : 4;
        lowest[second] = fmin(lowest[second], gap[i]);
    }
    for (int k = 1; k < 5; ++k) assert_true(lowest[k] < lowest[k - 1] - 1e-4); // it drifts on
    assert_true(lowest[4] < -2e-3);                                            // out of the ring
    lash_free(gap);
    lash_free(time);
    end_paper(&run);
}

static void the_stick_hits_twice(void** state) {
    (void)state;
    PaperRun run = run_paper("impacting_stick", NULL, NULL);
    double t[3], h = 1e-4;
    assert_int_equal(impacts_of(run.record, "tip", t, 3), 2);
    assert_true(from_step(0.060274089093133519, t[0], h) <= 2 * h);
    assert_true(from_step(0.16327578439964252, t[1], h) <= 2 * h);
    assert_near(number_at(run.json, "outputs/first_impact"), 0.060274089093133519, 1e-6);
    assert_near(number_at(run.json, "outputs/peak_impulse"), 0.373278166921, 5e-4);
    assert_true(number_at(run.json, "energy/dissipated") < 0); // Newton's law: friction drives
    end_paper(&run);
}

static void the_slider_crank_with_play_reaches_the_known_state(void** state) {
    (void)state;
    static const double exact[] = {0.0026925027520212, 0.0056123631902104, 0.0074750562123966,
                                   0.0084217679342493};
    PaperRun run = run_paper("slider_crank_play", NULL, NULL);
    assert_near(number_at(run.json, "energy/start"), 7.49554875, 1e-12);
    assert_near(number_at(run.json, "outputs/crank_angle"), 9.00077, 1e-3);
    assert_near(number_at(run.json, "outputs/energy"), 7.2281, 1e-3);
    assert_true(number_at(run.json, "violation/unilateral") <= 1e-10);
    assert_true(number_at(run.json, "violation/bilateral") <= 1e-10);
    double t[4], h = 1e-5, rear = 0, front = 0;
    assert_true(impacts_of(run.record, "top.1", t, 4) >= 4);
    for (int n = 0; n < 4; ++n) assert_true(from_step(exact[n], t[n], h) <= 2 * h);
    LashError error = {0};
    LashRecordEvent event[2];
    assert_true(lash_record_read_events(run.record, 0, 2, event, &error));
    rear = event[0].impulse[0];
    front = event[1].impulse[0];
    assert_near(rear / front, 1.005 / 0.995, 1e-6); // sliding friction turns the slider
    assert_near(event[0].after[0], -0.4 * event[0].before[0], 1e-9);
    assert_near(fabs(event[0].impulse[1]), 0.01 * rear, 1e-9);
    // frames come every 5 steps: their sums and peaks know of every impact
    double* impulse = read_series(run.record, LASH_SERIES_CONTACT_IMPULSE);
    double* peak = read_series(run.record, LASH_SERIES_CONTACT_PEAK);
    double largest = 0;
    for (int64_t i = 0; i < run.record->frames; ++i) {
        largest = fmax(largest, peak[4 * i]);
        assert_true(impulse[12 * i] >= peak[4 * i] - 1e-15);
    }
    assert_near(largest, number_at(run.json, "contacts/each/top.1/peak_impulse"), 1e-15);
    lash_free(impulse);
    lash_free(peak);
    end_paper(&run);
}

// ---- features -----------------------------------------------------------------------------------

// Gap number `number` of a model with these contacts; parts in mm: "a" at the origin turned about
// x, "b" above it with its mass center off the part's origin.
static LashContactPlace place_of(const char* contacts, int number, int count) {
    char text[2000];
    snprintf(text, sizeof text,
             "{\"format\": \"lash-model/1\", \"units\": {\"length\": \"mm\", \"angle\": \"deg\"}, "
             "\"parameters\": {\"r\": 2}, \"parts\": ["
             "{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1], \"pose\": {\"position\": [0, "
             "0, 0], \"axis\": [1, 0, 0], \"angle\": 90}},"
             "{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1], \"center\": [7, 8, 9], "
             "\"shape\": {\"type\": \"box\", \"size\": [2, 4, 6], \"pose\": {\"position\": [1, 0, "
             "0]}}, \"pose\": {\"position\": [0, 0, 50]}}], \"contacts\": [%s]}",
             contacts);
    LashError error = {0};
    LashModel* model = lash_model_parse("test", text, strlen(text), NULL, 0, &error);
    if (model == NULL) fail_msg("%s: %s", error.where, error.message);
    assert_int_equal(model->contact_points, count);
    LashMechanism* mech = lash_model_build(model, NULL);
    const LashSystem* system = lash_mechanism_system(mech);
    double q[14], v[12];
    system->initial_state(system, q, v);
    LashContactPlace place = lash_mechanism_contact_place(mech, number, q);
    lash_mechanism_destroy(mech);
    lash_model_destroy(model);
    return place;
}

#define PLANE_A "{\"part\": \"a\", \"plane\": {\"point\": [0, 3, 0], \"normal\": [0, 1, 0]}}"

static void features_stand_where_their_parts_coordinates_say(void** state) {
    (void)state;
    static const struct {
        const char *a, *b;
        int number, count;
        double gap; // [mm]
    } cases[] = {
        // part a: y is up (world z); the plane stands at world z = 3
        {PLANE_A, "{\"part\": \"b\", \"point\": [1, 2, 3]}", 0, 1, 50},
        {"{\"part\": \"b\", \"point\": [1, 2, 3]}", PLANE_A, 0, 1, 50},
        {PLANE_A, "{\"part\": \"b\", \"points\": [[0, 0, 0], [0, 0, \"-r\"]]}", 1, 2, 45},
        {PLANE_A, "{\"part\": \"b\", \"sphere\": {\"center\": [0, 0, 1], \"radius\": \"r\"}}", 0, 1,
         46},
        {PLANE_A, "{\"part\": \"b\", \"box\": {}}", 0, 8, 44},
        {PLANE_A, "{\"part\": \"b\", \"box\": {\"corners\": [[1, 1, 1], [0, 0, -1]]}}", 1, 2, 44},
        {PLANE_A,
         "{\"part\": \"b\", \"box\": {\"size\": [2, 2, 8], \"pose\": {\"position\": [0, 0, 10]}, "
         "\"corners\": [[-1, 1, -1]]}}",
         0, 1, 53},
        {PLANE_A,
         "{\"part\": \"b\", \"cylinder\": {\"axis\": [1, 0, 0], \"radius\": 5, \"length\": 20}}", 1,
         2, 42},
        {PLANE_A, "{\"part\": \"b\", \"circle\": {\"axis\": [0, 1, 0], \"radius\": 5}}", 0, 1, 42},
        // circles about world y: centers 50 mm apart
        {"{\"part\": \"a\", \"circle\": {\"radius\": 70, \"inside\": true}}",
         "{\"part\": \"b\", \"circle\": {\"axis\": [0, 1, 0], \"radius\": 5}}", 0, 1, 15},
        {"{\"part\": \"b\", \"circle\": {\"axis\": [0, 1, 0], \"radius\": 70, \"inside\": true}}",
         "{\"part\": \"a\", \"circle\": {\"radius\": 5}}", 0, 1, 15},
        {"{\"part\": \"a\", \"circle\": {\"radius\": 5}}",
         "{\"part\": \"b\", \"circle\": {\"axis\": [0, 1, 0], \"radius\": \"5*r\"}}", 0, 1, 35},
        {"{\"part\": \"a\", \"cylinder\": {\"radius\": 60, \"inside\": true}}",
         "{\"part\": \"b\", \"point\": [0, 3, 4]}", 0, 1, 6},
        {"{\"part\": \"a\", \"sphere\": {\"radius\": 10}}",
         "{\"part\": \"b\", \"sphere\": {\"radius\": 5}}", 0, 1, 35},
        {"{\"part\": \"a\", \"sphere\": {\"radius\": 5}}",
         "{\"part\": \"b\", \"sphere\": {\"radius\": 60, \"inside\": true}}", 0, 1, 5},
        {"{\"part\": \"a\", \"point\": [0, 0, 0]}",
         "{\"part\": \"b\", \"sphere\": {\"radius\": 20}}", 0, 1, 30},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[600];
        snprintf(text, sizeof text, "{\"name\": \"c\", \"a\": %s, \"b\": %s}", cases[i].a,
                 cases[i].b);
        LashContactPlace place = place_of(text, cases[i].number, cases[i].count);
        if (fabs(place.gap - 1e-3 * cases[i].gap) > 1e-15) {
            fail_msg("case %zu: gap %.17g m instead of %g mm", i, place.gap, cases[i].gap);
        }
    }
}

static void either_order_of_sides_gives_the_same_run(void** state) {
    (void)state;
    static const char* const sides[2] = {
        "{\"part\": \"ground\", \"plane\": {\"point\": [0, 0, 0], \"normal\": [0, 0, 1]}}",
        "{\"part\": \"p\", \"sphere\": {\"radius\": 0.1}}"};
    double final[2] = {0};
    for (int i = 0; i < 2; ++i) {
        char text[1000], path[300];
        snprintf(text, sizeof text,
                 "{\"format\": \"lash-model/1\", \"gravity\": [0, 0, -10], \"parts\": [{\"name\": "
                 "\"p\", \"mass\": 1, \"inertia\": [1, 1, 1], \"velocity\": [1, 0, 0], \"pose\": "
                 "{\"position\": [0, 0, 0.2]}}], \"contacts\": [{\"name\": \"c\", \"a\": %s, "
                 "\"b\": %s, \"restitution\": 0.5, \"friction\": 0.2}], \"simulation\": {\"step\": "
                 "1e-3}, \"outputs\": [{\"name\": \"x\", \"quantity\": \"position.x\", \"of\": "
                 "\"p\"}]}",
                 sides[i], sides[1 - i]);
        FILE* file = fopen(scratch_file("order.json", path, sizeof path), "w");
        fputs(text, file);
        fclose(file);
        Outcome o = LASH("run", path, "--json");
        assert_int_equal(o.code, 0);
        cJSON* json = cJSON_Parse(o.out);
        final[i] = number_at(json, "outputs/x");
        cJSON_Delete(json);
        outcome_free(&o);
    }
    assert_true(final[0] == final[1]);
    assert_true(final[0] > 0.1 && final[0] < 1); // friction has slowed it
}

// ---- starts and failures ------------------------------------------------------------------------

static void check_lists_the_gaps(void** state) {
    (void)state;
    char model[400];
    snprintf(model, sizeof model, "%sslider_crank_play.json", papers);
    Outcome o = LASH("check", model, "--json");
    assert_int_equal(o.code, 0);
    cJSON* json = cJSON_Parse(o.out);
    const cJSON* gaps = cJSON_GetObjectItem(json, "gaps");
    assert_int_equal(cJSON_GetArraySize(gaps), 4);
    const cJSON* last = cJSON_GetArrayItem(gaps, 3);
    assert_string_equal(cJSON_GetObjectItem(last, "contact")->valuestring, "bottom.2");
    assert_near(number_at(last, "gap"), 1e-3, 1e-17);
    cJSON_Delete(json);
    outcome_free(&o);
    o = LASH("check", model, "--set", "play=0");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "4 contacts at the start: 4 closed, 0 overlapping");
    outcome_free(&o);
    o = LASH("check", model, "--set", "play=-0.001"); // no slider fits
    assert_int_equal(o.code, 3);
    assert_contains(o.out, "OVERLAPS");
    assert_contains(o.err, "no consistent start was found near it");
    outcome_free(&o);
}

static void a_start_that_overlaps_is_refused_or_assembled(void** state) {
    (void)state;
    char model[400], path[300];
    snprintf(model, sizeof model, "%sbouncing_ball.json", papers);
    Outcome o = LASH("run", model, "--set", "height=-0.02");
    assert_int_equal(o.code, 3);
    assert_contains(o.err, "contacts[0]: the start overlaps at contact 'bounce': 0.02 m deep");
    outcome_free(&o);
    // the slider turned and lifted into the upper wall: both its upper corners end up there
    edited("slider_crank_play", "\"pose\": {\"position\": [\"l1+l2\", 0, 0]}}\n  ],",
           "\"pose\": {\"position\": [\"l1+l2\", 0.0013, 0], \"axis\": [0, 0, 1], \"angle\": "
           "0.01}}\n  ],",
           path, sizeof path);
    o = LASH("check", path, "--json");
    assert_int_equal(o.code, 3);
    cJSON* json = cJSON_Parse(o.out);
    assert_near(number_at(json, "start/penetration"), 7.987e-4, 1e-6);
    assert_true(number_at(json, "start/moved") < 0.011);
    cJSON_Delete(json);
    outcome_free(&o);
    char* text = slurp(path);
    char* at = strstr(text, "\"duration\": 0.1");
    FILE* file = fopen(path, "w");
    fprintf(file, "%.*s\"assemble\": true, \"duration\": 2e-4%s", (int)(at - text), text, at + 15);
    fclose(file);
    free(text);
    o = LASH("run", path, "--json");
    assert_int_equal(o.code, 0);
    json = cJSON_Parse(o.out);
    assert_true(number_at(json, "assembled_by") > 5e-3);
    assert_true(number_at(json, "violation/unilateral") <= 1e-10);
    cJSON_Delete(json);
    outcome_free(&o);
}

// A driver pushes a part against a wall: no step can satisfy both.
static const char* const jam =
    "{\"format\": \"lash-model/1\", \"parts\": [{\"name\": \"pusher\", \"mass\": 1, \"inertia\": "
    "[1, 1, 1], \"velocity\": [1, 0, 0]}], \"joints\": [{\"name\": \"slide\", \"type\": "
    "\"prismatic\", \"a\": \"ground\", \"b\": \"pusher\", \"point\": [0, 0, 0], \"axis\": [1, 0, "
    "0], \"driver\": {\"position\": \"t\"}}], \"contacts\": [{\"name\": \"wall\", \"a\": "
    "{\"part\": \"ground\", \"plane\": {\"point\": [0.0105, 0, 0], \"normal\": [-1, 0, 0]}}, "
    "\"b\": {\"part\": \"pusher\", \"point\": [0, 0, 0]}}], \"simulation\": {\"step\": 1e-3, "
    "\"duration\": 0.05, \"record_every\": 4, \"substeps\": 4}}";

static void a_step_that_fails_ends_the_run_with_code_5_and_a_whole_file(void** state) {
    (void)state;
    char model[300], result[300];
    FILE* file = fopen(scratch_file("jam.json", model, sizeof model), "w");
    fputs(jam, file);
    fclose(file);
    scratch_file("jam.h5", result, sizeof result);
    Outcome o = LASH("run", model, "--json", "-o", result);
    assert_int_equal(o.code, 5);
    assert_contains(o.err, "t = 0.01 s: step 11 cannot be solved: these exclude each other");
    assert_contains(o.err, "'wall'");
    cJSON* json = cJSON_Parse(o.out);
    assert_non_null(json);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(json, "ok")));
    assert_near(number_at(json, "error/code"), 5, 0);
    assert_near(number_at(json, "steps"), 10, 0);
    assert_near(number_at(json, "simulated_seconds"), 0.01, 1e-15);
    cJSON_Delete(json);
    outcome_free(&o);
    LashError error = {0};
    LashRecord* record = lash_record_open(result, &error);
    assert_non_null(record);
    assert_int_equal(record->frames, 4); // steps 0, 4, 8 and the last good one
    double t = 0;
    assert_true(lash_record_read(record, LASH_SERIES_TIME, 3, 1, &t, &error));
    assert_near(t, 0.01, 1e-15);
    lash_record_close(record);
}

static void substeps_carry_a_step_that_is_too_long(void** state) {
    (void)state;
    char path[300];
    edited("slider_crank_play", "\"step\": 1e-5", "\"step\": 1e-2, \"substeps\": 1", path,
           sizeof path);
    Outcome o = LASH("run", path); // the crank turns by more than a radian in a step
    assert_int_equal(o.code, 5);
    assert_contains(o.err, "substeps");
    outcome_free(&o);
    edited("slider_crank_play", "\"step\": 1e-5", "\"step\": 1e-2, \"substeps\": 256", path,
           sizeof path);
    o = LASH("run", path, "--json");
    assert_int_equal(o.code, 0);
    cJSON* json = cJSON_Parse(o.out);
    assert_near(number_at(json, "steps"), 10, 0);
    assert_true(number_at(json, "substepped") >= 1);
    assert_true(number_at(json, "violation/unilateral") <= 1e-10);
    assert_true(number_at(json, "contacts/impacts") > 0);
    cJSON_Delete(json);
    outcome_free(&o);
}

static void events_are_exported(void** state) {
    (void)state;
    char model[400], result[300];
    snprintf(model, sizeof model, "%simpacting_stick.json", papers);
    scratch_file("stick.h5", result, sizeof result);
    Outcome o = LASH("run", model, "-o", result);
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "2 impacts");
    outcome_free(&o);
    o = LASH("export", result, "--csv", "--events");
    assert_int_equal(o.code, 0);
    char kind[2][16] = {"", ""};
    double t[2] = {0};
    const char* line = strchr(o.out, '\n') + 1;
    int rows = 0;
    for (; *line != '\0'; line = strchr(line, '\n') + 1, ++rows) {
        if (rows < 2) assert_int_equal(sscanf(line, "%15[a-z],tip,%lf", kind[rows], &t[rows]), 2);
    }
    assert_string_equal(kind[0], "impact");
    assert_string_equal(kind[1], "open");
    assert_near(t[0], 0.0602, 1e-4);
    assert_int_equal(rows, 4);
    outcome_free(&o);
    o = LASH("export", result, "--csv");
    assert_contains(o.out, "tip.impulse.t1 [N s]");
    outcome_free(&o);
}

static void directions_are_chosen_on_the_command_line(void** state) {
    (void)state;
    char model[400];
    snprintf(model, sizeof model, "%sbouncing_ball.json", papers);
    Outcome o = LASH("run", model, "--json", "--duration=0.1", "--direction=end");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "\"end\"");
    outcome_free(&o);
    o = LASH("run", model, "--direction=and");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "there is no direction 'and' (did you mean 'end'?)");
    outcome_free(&o);
}

static int clean_up(void** state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(double_pendulum_meets_the_wall_as_the_exact_solution_says),
        cmocka_unit_test(block_on_a_table_sticks_and_slips_as_the_exact_solution_says),
        cmocka_unit_test(carts_meet_the_stopper_as_the_exact_solution_says),
        cmocka_unit_test(ballards_ball_hits_at_the_known_times_and_rests),
        cmocka_unit_test(the_oscillator_loses_half_its_speed_every_half_period),
        cmocka_unit_test(the_rocking_block_comes_to_rest_above_the_floor),
        cmocka_unit_test(friction_holds_the_roller),
        cmocka_unit_test(the_pendulum_stays_on_its_ring_or_sinks_through_it),
        cmocka_unit_test(the_stick_hits_twice),
        cmocka_unit_test(the_slider_crank_with_play_reaches_the_known_state),
        cmocka_unit_test(features_stand_where_their_parts_coordinates_say),
        cmocka_unit_test(either_order_of_sides_gives_the_same_run),
        cmocka_unit_test(check_lists_the_gaps),
        cmocka_unit_test(a_start_that_overlaps_is_refused_or_assembled),
        cmocka_unit_test(a_step_that_fails_ends_the_run_with_code_5_and_a_whole_file),
        cmocka_unit_test(substeps_carry_a_step_that_is_too_long),
        cmocka_unit_test(events_are_exported),
        cmocka_unit_test(directions_are_chosen_on_the_command_line),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
