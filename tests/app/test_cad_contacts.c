// Contacts between faces of STEP parts, from model files: statics, friction, known motions,
// results, starts, what is told of mistakes. The parts are made by lash-make-step.
#include <cjson/cJSON.h>
#include "test.h"

#include "app/run/record.h"
#include "command.h"
#include "core/arena.h"
#include "core/math3.h"

static void assert_near(double value, double expected, double tolerance) {
    if (fabs(value - expected) <= tolerance) return;
    fail_msg("%.17g differs from %.17g by more than %g", value, expected, tolerance);
}

static void write_text(const char* name, const char* text, char* path, size_t size) {
    FILE* file = fopen(scratch_file(name, path, size), "w");
    fputs(text, file);
    fclose(file);
}

static void make_part(const char* name, const char* body) {
    char json[400], step[400], command[1200], text[2000], file[64];
    snprintf(text, sizeof text, "{\"format\": \"lash-step/1\", \"name\": \"%s\", %s}", name, body);
    snprintf(file, sizeof file, "%s.part.json", name);
    write_text(file, text, json, sizeof json);
    snprintf(file, sizeof file, "%s.step", name);
    snprintf(command, sizeof command, "'%s/lash-make-step' '%s' '%s'", LASH_BINARY_DIR, json,
             scratch_file(file, step, sizeof step));
    if (system(command) != 0) fail_msg("cannot make %s", name);
}

static int make_parts(void** state) {
    (void)state;
    char cache[300];
    setenv("XDG_CACHE_HOME", scratch_file("cache", cache, sizeof cache), 1);
    make_part("box",
              "\"steps\": [{\"box\": {\"size\": [40, 30, 20], \"centered\": true}}], \"names\": "
              "[{\"name\": \"bottom\", \"near\": [0, 0, -10]}]");
    make_part("plate",
              "\"steps\": [{\"box\": {\"size\": [400, 200, 10], \"centered\": true}, \"at\": [0, "
              "0, -5]}], \"names\": [{\"name\": \"top\", \"near\": [0, 0, 0]}]");
    make_part("ball", "\"steps\": [{\"sphere\": {\"radius\": 8}}]");
    make_part("groove",
              "\"steps\": [{\"extrude\": {\"profile\": {\"polygon\": [[-40, -10], [40, -10], [40, "
              "30], [30, 30], [0, 0], [-30, 30], [-40, 30]]}, \"length\": 400}, \"axis\": [1, 0, "
              "0], \"x\": [0, 1, 0]}]");
    make_part("ring",
              "\"steps\": [{\"extrude\": {\"profile\": {\"outer\": {\"circle\": {\"radius\": "
              "1002}}, \"holes\": [{\"circle\": {\"radius\": 1000}, \"name\": \"inside\"}]}, "
              "\"length\": 40}, \"at\": [0, 20, 0], \"axis\": [0, -1, 0]}]");
    make_part("corner",
              "\"steps\": [{\"extrude\": {\"profile\": {\"polygon\": [[-100, -10], [60, -10], [60, "
              "40], [50, 40], [50, 0], [-100, 0]]}, \"length\": 100}, \"at\": [0, 50, 0], "
              "\"axis\": [0, -1, 0], \"x\": [1, 0, 0]}]");
    make_part("tip", "\"edges\": [[[0, 0, 775], [0, 0, 900]]]");
    make_part("bush",
              "\"steps\": [{\"extrude\": {\"profile\": {\"outer\": {\"circle\": {\"radius\": 12}}, "
              "\"holes\": [{\"circle\": {\"radius\": 5.05}, \"name\": \"bore\"}]}, \"length\": "
              "10}}]");
    make_part("pin",
              "\"steps\": [{\"cylinder\": {\"radius\": 5, \"length\": 30, \"side\": "
              "\"pin\"}, \"at\": [0, 0, -10]}]");
    return 0;
}

static int remove_parts(void** state) {
    (void)state;
    scratch_remove();
    return 0;
}

// A model in millimetres; parts, contacts and simulation as JSON texts.
static const char* model(const char* parts, const char* contacts, const char* rest, char* path,
                         size_t size) {
    char text[4000];
    snprintf(text, sizeof text,
             "{\"format\": \"lash-model/1\", \"units\": {\"length\": \"mm\", \"angle\": \"deg\"}, "
             "\"gravity\": [0, 0, -9810], \"parts\": [%s], \"contacts\": [%s], %s}",
             parts, contacts, rest);
    write_text("model.json", text, path, size);
    return path;
}

typedef struct Run {
    cJSON* json;
    LashRecord* record;
} Run;

static Run run_model(const char* path) {
    char result[300];
    Run run = {0};
    Outcome o = LASH("run", path, "--json", "-o", scratch_file("result.h5", result, sizeof result));
    if (o.code != 0) fail_msg("exit code %d: %s", o.code, o.err);
    run.json = cJSON_Parse(o.out);
    outcome_free(&o);
    LashError error = {0};
    run.record = lash_record_open(result, &error);
    if (run.record == NULL) fail_msg("%s", error.message);
    return run;
}

static void end_run(Run* run) {
    cJSON_Delete(run->json);
    lash_record_close(run->record);
}

static double output(const Run* run, const char* name) {
    const cJSON* item = cJSON_GetObjectItem(cJSON_GetObjectItem(run->json, "outputs"), name);
    if (!cJSON_IsNumber(item)) fail_msg("no output %s", name);
    return item->valuedouble;
}

#define PLATE "{\"name\": \"plate\", \"step\": \"plate.step\", \"fixed\": true}"
#define BOX(place)                                                                      \
    "{\"name\": \"box\", \"step\": \"box.step\", \"density\": 7.8e-6, \"pose\": " place \
    ", \"velocity\": [1000, 0, 0]}"
#define ON_PLATE                                                                                \
    "{\"name\": \"rest\", \"a\": {\"part\": \"plate\", \"faces\": \"top\"}, \"b\": {\"part\": " \
    "\"box\", \"faces\": \"bottom\"}, \"friction\": 0.3}"
static const char* const box_outputs =
    "\"simulation\": {\"step\": 1e-4, \"duration\": 0.5, \"record_every\": 50}, \"outputs\": ["
    "{\"name\": \"x\", \"quantity\": \"position.x\", \"of\": \"box\"},"
    "{\"name\": \"z\", \"quantity\": \"position.z\", \"of\": \"box\"},"
    "{\"name\": \"gap\", \"quantity\": \"gap\", \"of\": \"rest\", \"when\": \"min\"},"
    "{\"name\": \"normal\", \"quantity\": \"normal_force\", \"of\": \"rest\"}]";

// ---- motions ------------------------------------------------------------------------------------

static void a_box_slides_on_a_plate_to_the_place_friction_allows(void** state) {
    (void)state;
    char path[300];
    Run run = run_model(model(PLATE "," BOX("{\"position\": [0, 0, 10]}"), ON_PLATE, box_outputs,
                              path, sizeof path));
    double weight = 7800 * 0.04 * 0.03 * 0.02 * 9.81;
    assert_near(output(&run, "normal"), weight, 1e-9 * weight);
    assert_near(output(&run, "x"), 1 / (2 * 0.3 * 9.81), 1e-6); // v^2 / (2 mu g), v = 1 m/s
    assert_near(output(&run, "z"), 0.01, 1e-12);
    assert_true(output(&run, "gap") >= -1e-10);
    end_run(&run);
}

static void four_corners_carry_a_box_and_keep_their_ids(void** state) {
    (void)state;
    char path[300];
    LashError error = {0};
    Run run = run_model(model(PLATE "," BOX("{\"position\": [0, 0, 10]}"), ON_PLATE, box_outputs,
                              path, sizeof path));
    LashRecordPoint first[8], point[8];
    double force[3], weight = 7800 * 0.04 * 0.03 * 0.02 * 9.81;
    assert_int_equal(lash_record_read_points(run.record, 1, first, 8, &error), 4);
    for (int64_t i = 1; i < run.record->frames; ++i) {
        assert_int_equal(lash_record_read_points(run.record, i, point, 8, &error), 4);
        double sum = 0;
        for (int k = 0; k < 4; ++k) {
            assert_true(point[k].id == first[k].id);
            assert_true(point[k].contact == 0 && point[k].joint == -1);
            assert_near(point[k].point[2], 0, 1e-12);
            assert_near(point[k].normal[2], 1, 1e-12); // from the plate into the box
            for (int m = 0; m < k; ++m) {
                double dx = point[k].point[0] - point[m].point[0];
                double dy = point[k].point[1] - point[m].point[1];
                assert_true(hypot(dx, dy) > 0.029); // each corner once
            }
            sum += point[k].force[2];
        }
        assert_near(sum, weight, 1e-8 * weight); // on b, upwards
        assert_true(lash_record_read(run.record, LASH_SERIES_CONTACT_FORCE, i, 1, force, &error));
        assert_near(force[2], weight, 1e-8 * weight);
    }
    assert_true(lash_record_read(run.record, LASH_SERIES_CONTACT_FORCE, 2, 1, force, &error));
    assert_near(force[0], -0.3 * weight, 1e-8); // friction against the motion
    end_run(&run);
}

static void a_box_over_the_edge_of_a_plate_is_carried_by_crossed_edges(void** state) {
    (void)state;
    char path[300];
    Run run = run_model(
        model(PLATE ",{\"name\": \"box\", \"step\": \"box.step\", \"density\": 7.8e-6, \"pose\": "
                    "{\"position\": [190, 0, 10], \"axis\": [0, 0, 1], \"angle\": 20}}",
              ON_PLATE, box_outputs, path, sizeof path));
    LashRecordPoint point[12];
    LashError error = {0};
    double weight = 7800 * 0.04 * 0.03 * 0.02 * 9.81;
    int count = lash_record_read_points(run.record, run.record->frames - 1, point, 12, &error);
    int on_edge = 0;
    for (int k = 0; k < count; ++k) on_edge += fabs(point[k].point[0] - 0.2) < 1e-9;
    assert_true(count >= 4 && on_edge == 2);
    assert_near(output(&run, "normal"), weight, 1e-8 * weight);
    assert_near(output(&run, "z"), 0.01, 1e-11);
    end_run(&run);
}

static void a_ball_rests_in_a_groove_on_both_flanks(void** state) {
    (void)state;
    char path[300];
    Run run = run_model(
        model("{\"name\": \"groove\", \"step\": \"groove.step\", \"fixed\": true}, {\"name\": "
              "\"ball\", \"step\": \"ball.step\", \"density\": 7.8e-6, \"pose\": {\"position\": "
              "[100, 2, 16]}}",
              "{\"name\": \"rest\", \"a\": {\"part\": \"groove\", \"faces\": \"all\"}, \"b\": "
              "{\"part\": \"ball\", \"faces\": \"all\"}, \"friction\": 0.2}",
              "\"simulation\": {\"step\": 1e-4, \"duration\": 1}, \"outputs\": ["
              "{\"name\": \"z\", \"quantity\": \"position.z\", \"of\": \"ball\"},"
              "{\"name\": \"gap\", \"quantity\": \"gap\", \"of\": \"rest\", \"when\": \"min\"}]",
              path, sizeof path));
    LashRecordPoint point[4];
    LashError error = {0};
    double weight = 7800 * 4 * LASH_PI / 3 * 0.008 * 0.008 * 0.008 * 9.81, up = 0;
    assert_int_equal(lash_record_read_points(run.record, run.record->frames - 1, point, 4, &error),
                     2);
    for (int k = 0; k < 2; ++k) {
        up += point[k].force[2];
        assert_near(fabs(point[k].point[1]), 0.008 / sqrt(2), 1e-9); // flanks of 45 degrees
    }
    assert_near(up, weight, 1e-6 * weight);
    assert_near(output(&run, "z"), 0.008 * sqrt(2), 1e-9);
    assert_true(output(&run, "gap") >= -1e-10);
    end_run(&run);
}

// Edges of the box lie in the inner edge of the corner: floor and wall both hold it.
static void a_box_slides_into_an_inner_corner_and_leans_on_floor_and_wall(void** state) {
    (void)state;
    char path[300], text[3000];
    snprintf(
        text, sizeof text,
        "{\"format\": \"lash-model/1\", \"units\": {\"length\": \"mm\"}, \"gravity\": [4000, 0, "
        "-9810], \"parts\": [{\"name\": \"corner\", \"step\": \"corner.step\", \"fixed\": "
        "true}, {\"name\": \"box\", \"step\": \"box.step\", \"density\": 7.8e-6, \"pose\": "
        "{\"position\": [0, 0, 10]}}], \"contacts\": [{\"name\": \"lean\", \"a\": {\"part\": "
        "\"corner\", \"faces\": \"all\"}, \"b\": {\"part\": \"box\", \"faces\": \"all\"}, "
        "\"friction\": 0.1}], \"simulation\": {\"step\": 1e-4, \"duration\": 0.4}, "
        "\"outputs\": [{\"name\": \"x\", \"quantity\": \"position.x\", \"of\": \"box\"}, "
        "{\"name\": \"z\", \"quantity\": \"position.z\", \"of\": \"box\"}, {\"name\": "
        "\"gap\", \"quantity\": \"gap\", \"of\": \"lean\", \"when\": \"min\"}]}");
    write_text("corner.json", text, path, sizeof path);
    Run run = run_model(path);
    LashError error = {0};
    double force[3], mass = 7800 * 0.04 * 0.03 * 0.02;
    assert_near(output(&run, "x"), 0.03, 1e-9);
    assert_near(output(&run, "z"), 0.01, 1e-9);
    assert_true(output(&run, "gap") >= -1e-10);
    assert_true(lash_record_read(run.record, LASH_SERIES_CONTACT_FORCE, run.record->frames - 1, 1,
                                 force, &error));
    assert_near(force[0], -4 * mass, 1e-6); // statics
    assert_near(force[2], 9.81 * mass, 1e-6);
    end_run(&run);
}

// The papers' pendulum, its ring and the tip of its rod from STEP files.
static void a_pendulum_in_a_step_ring_moves_as_the_one_of_the_papers(void** state) {
    (void)state;
    static const char* const paper = LASH_SOURCE_DIR "/models/papers/pendulum_in_ring.json";
    char path[300];
    char* text = slurp(paper);
    cJSON* json = cJSON_Parse(text);
    free(text);
    cJSON* ring = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "parts"), 0);
    cJSON_DeleteItemFromObject(ring, "shape");
    cJSON_AddStringToObject(ring, "step", "ring.step");
    cJSON* hook = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "contacts"), 0);
    cJSON_ReplaceItemInObject(hook, "a",
                              cJSON_Parse("{\"part\": \"ring\", \"faces\": \"inside\"}"));
    cJSON_ReplaceItemInObject(hook, "b",
                              cJSON_Parse("{\"part\": \"rod\", \"step\": \"tip.step\"}"));
    text = cJSON_Print(json);
    write_text("ring.json", text, path, sizeof path);
    free(text);
    cJSON_Delete(json);
    Outcome o = LASH("run", paper, "--json");
    assert_int_equal(o.code, 0);
    Run expected = {.json = cJSON_Parse(o.out)}, run = run_model(path);
    outcome_free(&o);
    assert_near(output(&run, "hook_x"), output(&expected, "hook_x"), 1e-9);
    assert_near(output(&run, "ring_speed"), output(&expected, "ring_speed"), 1e-9);
    assert_near(output(&run, "first_impact"), output(&expected, "first_impact"), 1e-12);
    assert_near(output(&run, "normal_force"), output(&expected, "normal_force"), 1e-6);
    assert_near(output(&run, "energy"), output(&expected, "energy"), 1e-9);
    assert_true(output(&run, "least_gap") >= -1e-10);
    cJSON_Delete(expected.json);
    end_run(&run);
}

// ---- results ------------------------------------------------------------------------------------

static void tumbling_model(char* path, size_t size) {
    model(
        PLATE
        ",{\"name\": \"box\", \"step\": \"box.step\", \"density\": 7.8e-6, \"pose\": "
        "{\"position\": [0, 0, 40], \"axis\": [1, 0.4, 0.2], \"angle\": 37}, \"velocity\": "
        "[300, 100, 0], \"angular_velocity\": [200, -150, 70]}",
        "{\"name\": \"rest\", \"a\": {\"part\": \"plate\", \"faces\": \"all\"}, \"b\": {\"part\": "
        "\"box\", \"faces\": \"all\"}, \"friction\": 0.3, \"restitution\": 0.4}",
        "\"simulation\": {\"step\": 1e-4, \"duration\": 0.4}", path, size);
}

static void two_runs_give_the_same_bits(void** state) {
    (void)state;
    char path[300];
    double* frames[2];
    size_t bytes = 0;
    tumbling_model(path, sizeof path);
    for (int k = 0; k < 2; ++k) {
        LashError error = {0};
        Run run = run_model(path);
        size_t total = (size_t)run.record->layout.total, count = (size_t)run.record->frames;
        bytes = total * count * sizeof(double);
        frames[k] = lash_alloc(bytes);
        for (size_t i = 0; i < count; ++i)
            assert_true(
                lash_record_read_frame(run.record, (int64_t)i, frames[k] + i * total, &error));
        assert_true(run.record->points > 0);
        end_run(&run);
    }
    assert_memory_equal(frames[0], frames[1], bytes);
    lash_free(frames[0]);
    lash_free(frames[1]);
}

static void a_killed_run_leaves_a_readable_result_with_its_points(void** state) {
    (void)state;
    char path[300], result[300];
    scratch_file("killed.h5", result, sizeof result);
    model(PLATE "," BOX("{\"position\": [0, 0, 10]}"), ON_PLATE,
          "\"simulation\": {\"step\": 1e-5, \"duration\": 1000, \"record_every\": 1}", path,
          sizeof path);
    Command command = {.argument = {"run", path, "-o", result}};
    srand(7);
    for (int i = 0; i < 10; ++i) {
        unlink(result);
        pid_t child = start_command(&command);
        for (int k = 0; k < 100000 && access(result, R_OK) != 0; ++k) usleep(100);
        usleep((useconds_t)(rand() % 40000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        LashError error = {0};
        LashRecord* record = lash_record_open(result, &error);
        if (record == NULL) fail_msg("kill %d: %s", i, error.message);
        for (int64_t f = 1; f < record->frames; ++f) {
            LashRecordPoint point[8];
            assert_int_equal(lash_record_read_points(record, f, point, 8, &error), 4);
            for (int k = 0; k < 4; ++k) assert_near(point[k].normal[2], 1, 1e-9);
        }
        lash_record_close(record);
    }
}

static void export_writes_contact_points_and_forces(void** state) {
    (void)state;
    char path[300], result[300];
    Run run = run_model(model(PLATE "," BOX("{\"position\": [0, 0, 10]}"), ON_PLATE, box_outputs,
                              path, sizeof path));
    end_run(&run);
    scratch_file("result.h5", result, sizeof result);
    Outcome o = LASH("export", "--csv", result);
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.out, "rest.force.x [N],rest.force.y [N],rest.force.z [N]"));
    assert_non_null(strstr(o.out, "rest.gap [m]"));
    outcome_free(&o);
    o = LASH("export", "--csv", "--points", result);
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.out, "time [s],of,id,point.x [m]"));
    assert_non_null(strstr(o.out, ",rest,"));
    outcome_free(&o);
}

// ---- starts, checks, mistakes -------------------------------------------------------------------

static void a_start_that_overlaps_is_refused_with_depth_and_place(void** state) {
    (void)state;
    char path[300];
    model(PLATE "," BOX("{\"position\": [0, 0, 9]}"), ON_PLATE, box_outputs, path, sizeof path);
    Outcome o = LASH("run", path);
    assert_int_equal(o.code, 3);
    assert_non_null(strstr(o.err, "0.001 m deep at ["));
    outcome_free(&o);
    o = LASH("check", path);
    const char* mend = strstr(o.out, "mend first   contact 'rest' overlaps by 0.001 m");
    if (mend == NULL || mend > strstr(o.out, "freedom ")) fail_msg("not on top: %s", o.out);
    outcome_free(&o);
    model(PLATE "," BOX("{\"position\": [0, 0, 2]}"), ON_PLATE, box_outputs, path, sizeof path);
    o = LASH("run", path);
    assert_int_equal(o.code, 3);
    assert_non_null(strstr(o.err, "too deep"));
    outcome_free(&o);
}

// No vertex or edge of either box is near a chosen face of the other: a test of its own finds them.
static void boxes_deep_in_each_other_are_refused_with_depth_and_place(void** state) {
    (void)state;
    char path[300];
    const char* const command[] = {"check", "run"};
    make_part("brick", "\"steps\": [{\"box\": {\"size\": [40, 30, 20], \"centered\": true}}]");
    model(
        "{\"name\": \"one\", \"step\": \"brick.step\", \"fixed\": true}, {\"name\": \"two\", "
        "\"step\": \"brick.step\", \"density\": 7.8e-6, \"pose\": {\"position\": [5, 0, 0]}}",
        "{\"name\": \"rest\", \"a\": {\"part\": \"one\", \"faces\": \"all\"}, \"b\": "
        "{\"part\": \"two\", \"faces\": \"all\"}}",
        "\"simulation\": {\"assemble\": true}", path, sizeof path);
    for (int i = 0; i < 2; ++i) {
        Outcome o = LASH(command[i], path);
        assert_int_equal(o.code, 3);
        if (strstr(o.err, "0.005 m deep at [") == NULL) fail_msg("%s", o.err);
        if (i == 0) {
            assert_non_null(strstr(o.out, "too deep in each other, by 0.005 m; place one anew"));
            assert_non_null(strstr(o.out, "overlaps up to 0.005 m"));
        }
        outcome_free(&o);
    }
    Outcome o = LASH("check", path, "--json");
    cJSON* json = cJSON_Parse(o.out);
    const cJSON* deep = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "too_deep"), 0);
    assert_string_equal(cJSON_GetObjectItem(deep, "contact")->valuestring, "rest");
    assert_near(cJSON_GetObjectItem(deep, "depth")->valuedouble, 0.005, 1e-8);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(deep, "point")), 3);
    cJSON_Delete(json);
    outcome_free(&o);
}

// A pin and a bore of two faces each, kept apart by their names: four pairs of faces, one fit; in two contacts, too.
static void a_pin_and_its_bore_in_halves_are_one_fit(void** state) {
    (void)state;
    char path[300], halves[700];
    for (int i = 0; i < 2; ++i) {
        double r = i == 0 ? 5 : 5.05;
        snprintf(
            halves, sizeof halves,
            "{\"path\": [{\"start\": [%g, 0]}, {\"arc\": {\"to\": [%g, 0], \"through\": [0, %g]}, "
            "\"name\": \"front\"}, {\"arc\": {\"to\": [%g, 0], \"through\": [0, %g]}, \"name\": "
            "\"back\"}]}",
            r, -r, r, r, -r);
        char body[1000];
        const char* bore =
            "\"join\": false, \"steps\": [{\"extrude\": {\"profile\": {\"outer\": {\"circle\": "
            "{\"radius\": 12}}, \"holes\": [%s]}, \"length\": 9}}]";
        const char* pin =
            "\"join\": false, \"steps\": [{\"extrude\": {\"profile\": %s, \"length\": 9}}]";
        snprintf(body, sizeof body, i == 0 ? pin : bore, halves);
        make_part(i == 0 ? "half_pin" : "half_bore", body);
    }
    const char* contacts[] = {
        "{\"name\": \"fit\", \"a\": {\"part\": \"pin\", \"faces\": [\"front\", \"back\"]}, \"b\": "
        "{\"part\": \"bush\", \"faces\": [\"front\", \"back\"]}}",
        "{\"name\": \"fit 1\", \"a\": {\"part\": \"pin\", \"faces\": [\"front\", \"back\"]}, "
        "\"b\": "
        "{\"part\": \"bush\", \"faces\": [\"front\"]}}, "
        "{\"name\": \"fit 2\", \"a\": {\"part\": \"pin\", \"faces\": [\"front\", \"back\"]}, "
        "\"b\": "
        "{\"part\": \"bush\", \"faces\": [\"back\"]}}"};
    for (int i = 0; i < 2; ++i) {
        model(
            "{\"name\": \"pin\", \"step\": \"half_pin.step\", \"fixed\": true}, {\"name\": "
            "\"bush\", "
            "\"step\": \"half_bore.step\", \"density\": 7.8e-6}",
            contacts[i], "\"simulation\": {}", path, sizeof path);
        Outcome o = LASH("check", path, "--json");
        cJSON* json = cJSON_Parse(o.out);
        if (cJSON_GetArraySize(cJSON_GetObjectItem(json, "fits")) != 1) fail_msg("%s", o.out);
        cJSON_Delete(json);
        outcome_free(&o);
    }
}

static void assemble_lifts_an_overlapping_box_out_of_the_plate(void** state) {
    (void)state;
    char path[300];
    model(PLATE "," BOX("{\"position\": [0, 0, 9.5]}"), ON_PLATE,
          "\"simulation\": {\"step\": 1e-4, \"duration\": 1e-2, \"assemble\": true}, \"outputs\": "
          "[{\"name\": \"z\", \"quantity\": \"position.z\", \"of\": \"box\"}]",
          path, sizeof path);
    Run run = run_model(path);
    assert_near(output(&run, "z"), 0.01, 1e-9);
    end_run(&run);
}

static void check_lists_clearances_overlaps_and_contacts_that_never_touch(void** state) {
    (void)state;
    char path[300];
    const char* parts =
        "{\"name\": \"pin\", \"step\": \"pin.step\", \"fixed\": true}, {\"name\": \"bush\", "
        "\"step\": \"bush.step\", \"density\": 7.8e-6, \"pose\": {\"position\": [0.07, 0, 0]}}, "
        "{\"name\": \"far\", \"step\": \"ball.step\", \"density\": 7.8e-6, \"pose\": "
        "{\"position\": [500, 0, 0]}}";
    model(parts,
          "{\"name\": \"fit\", \"a\": {\"part\": \"pin\", \"faces\": \"pin\"}, \"b\": {\"part\": "
          "\"bush\", \"faces\": {\"type\": \"cylinder\", \"side\": \"concave\"}}}, {\"name\": "
          "\"tight\", \"offset\": -0.05, \"a\": {\"part\": \"pin\", \"faces\": {\"type\": "
          "\"cylinder\", \"radius\": 5}}, \"b\": {\"part\": \"bush\", \"faces\": \"bore\"}}, "
          "{\"name\": \"away\", \"a\": {\"part\": \"pin\", \"faces\": \"pin\"}, \"b\": {\"part\": "
          "\"far\", \"faces\": 0}}",
          "\"joints\": [{\"name\": \"arm\", \"type\": \"revolute\", \"a\": \"ground\", \"b\": "
          "\"far\", \"point\": [0, 0, 0], \"axis\": [0, 0, 1]}]",
          path, sizeof path);
    Outcome o = LASH("check", path, "--json");
    assert_int_equal(o.code, 3); // it overlaps
    cJSON* json = cJSON_Parse(o.out);
    const cJSON* fits = cJSON_GetObjectItem(json, "fits");
    assert_int_equal(cJSON_GetArraySize(fits), 2);
    const cJSON *one = cJSON_GetArrayItem(fits, 0), *two = cJSON_GetArrayItem(fits, 1);
    assert_near(cJSON_GetObjectItem(one, "radial")->valuedouble, 5e-5, 1e-12);
    assert_near(cJSON_GetObjectItem(one, "diametral")->valuedouble, 1e-4, 1e-12);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(two, "zero")));
    const cJSON* overlap = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "overlaps"), 0);
    assert_string_equal(cJSON_GetObjectItem(overlap, "contact")->valuestring, "fit");
    assert_near(cJSON_GetObjectItem(overlap, "depth")->valuedouble, 2e-5, 1e-9);
    const cJSON* never = cJSON_GetObjectItem(json, "never_touch");
    assert_int_equal(cJSON_GetArraySize(never), 1);
    assert_string_equal(cJSON_GetArrayItem(never, 0)->valuestring, "away");
    cJSON_Delete(json);
    outcome_free(&o);
}

// A STEP file whose planes do not go together: one of them is far from its edges.
static void faces_that_enclose_no_body_are_blamed_on_the_file(void** state) {
    (void)state;
    char path[300], step[300];
    int blamed = 0;
    make_part("far", "\"steps\": [{\"box\": {\"size\": [20, 20, 20]}, \"at\": [500, 0, 0]}]");
    write_text("far.json",
               "{\"format\": \"lash-model/1\", \"units\": {\"length\": \"mm\"}, \"parts\": "
               "[{\"name\": \"far\", \"step\": \"torn.step\", \"density\": 7.8e-6}], "
               "\"simulation\": {\"step\": 1e-4, \"duration\": 1e-3}}",
               path, sizeof path);
    char* text = slurp(scratch_file("far.step", step, sizeof step));
    for (char* plane = text; (plane = strstr(plane, "= PLANE(")) != NULL; ++plane) {
        static const char place[] = "(500.,0.,0.)";
        char* at = strstr(plane, place);
        if (at == NULL) break;
        FILE* file = fopen(scratch_file("torn.step", step, sizeof step), "w");
        fprintf(file, "%.*s(500.,4000.,0.)%s", (int)(at - text), text, at + sizeof place - 1);
        fclose(file);
        Outcome o = LASH("check", path);
        assert_null(strstr(o.err, "positive definite"));
        blamed += o.code == 3 && strstr(o.err, "do not enclose a body") != NULL;
        outcome_free(&o);
    }
    free(text);
    assert_true(blamed > 0);
}

// The lowest point of a ring runs round it as it falls flat: impulses found for one place acted at
// another, and the step of the impact could not be solved however small.
static void a_spinning_ring_falls_flat(void** state) {
    (void)state;
    char path[300];
    make_part("washer",
              "\"steps\": [{\"extrude\": {\"profile\": {\"outer\": {\"circle\": {\"radius\": 12}}, "
              "\"holes\": [{\"circle\": {\"radius\": 8}}]}, \"length\": 5}}]");
    make_part("slab", "\"steps\": [{\"box\": {\"size\": [90, 90, 10], \"centered\": true}}]");
    write_text(
        "washer.json",
        "{\"format\": \"lash-model/1\", \"units\": {\"length\": \"mm\"}, \"gravity\": [0, 0, "
        "-9810], "
        "\"parts\": [{\"name\": \"washer\", \"step\": \"washer.step\", \"density\": 7.8e-6, "
        "\"angular_velocity\": [-1.8368632874143573, -0.8703003371342346, 29.290420516642484], "
        "\"velocity\": [0, 0, -300], \"pose\": {\"position\": [0, 0, 5.2], \"axis\": [1, 0.3, 0], "
        "\"angle\": 0.001}}, {\"name\": \"slab\", \"step\": \"slab.step\", \"fixed\": true}], "
        "\"contacts\": [{\"name\": \"touch\", \"a\": {\"part\": \"washer\", \"faces\": \"all\"}, "
        "\"b\": {\"part\": \"slab\", \"faces\": {\"type\": \"plane\", \"axis\": [0, 0, 1], "
        "\"near\": [0, 0, 5]}}, \"friction\": 0.3}], "
        "\"simulation\": {\"step\": 1.5e-5, \"duration\": 0.01}}",
        path, sizeof path);
    Outcome o = LASH("run", path);
    if (o.code != 0) fail_msg("exit code %d: %s", o.code, o.err);
    outcome_free(&o);
}

static void mistakes_in_faces_are_told_with_what_there_is(void** state) {
    (void)state;
    static const char* const cases[][2] = {
        {"\"faces\": \"botom\"", "named faces: bottom"},
        {"\"faces\": 9", "the part has 6 faces"},
        {"\"faces\": {\"type\": \"cylinder\"}", "no face fits"},
        {"\"faces\": {\"type\": \"plane\"}", "add 'near'"},
        {"\"faces\": {\"kind\": \"plane\"}", "unknown key 'kind'"},
        {"\"faces\": []", "at least one face"},
        {"\"faces\": true", "index"},
        {"\"faces\": 1.5", "whole number"},
        {"\"step\": \"nothing.step\"", "nothing.step"},
        {"\"point\": [0, 0, 0]", "CAD surfaces"},
        {"\"faces\": 0, \"point\": [0, 0, 0]", "several"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char contact[400], path[300];
        snprintf(contact, sizeof contact,
                 "{\"name\": \"rest\", \"a\": {\"part\": \"plate\", \"faces\": \"top\"}, \"b\": "
                 "{\"part\": \"box\", %s}}",
                 cases[i][0]);
        model(PLATE "," BOX("{\"position\": [0, 0, 10]}"), contact, "\"simulation\": {}", path,
              sizeof path);
        Outcome o = LASH("check", path);
        if (o.code != 3 && o.code != 7) fail_msg("%s: exit code %d", cases[i][0], o.code);
        if (strstr(o.err, cases[i][1]) == NULL)
            fail_msg("%s: expected \"%s\" in \"%s\"", cases[i][0], cases[i][1], o.err);
        outcome_free(&o);
    }
}

static void contacts_that_cannot_be_are_refused(void** state) {
    (void)state;
    static const char* const cases[][2] = {
        {"{\"name\": \"c\", \"a\": {\"part\": \"pin\", \"faces\": \"pin\"}, \"b\": {\"part\": "
         "\"ground\", \"step\": \"plate.step\"}}",
         "one of which moves"},
        {"{\"name\": \"c\", \"a\": {\"part\": \"bush\", \"faces\": \"bore\"}, \"b\": {\"part\": "
         "\"ground\", \"faces\": 0}}",
         "no STEP file"},
        {"{\"name\": \"c\", \"offset\": 1, \"a\": {\"part\": \"bush\", \"point\": [0, 0, 0]}, "
         "\"b\": {\"part\": \"ground\", \"plane\": {\"point\": [0, 0, 0], \"normal\": [0, 0, "
         "1]}}}",
         "an offset belongs"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char path[300];
        model(
            "{\"name\": \"pin\", \"step\": \"pin.step\", \"fixed\": true}, {\"name\": \"bush\", "
            "\"step\": \"bush.step\", \"density\": 7.8e-6}",
            cases[i][0], "\"simulation\": {}", path, sizeof path);
        Outcome o = LASH("check", path);
        assert_int_equal(o.code, 3);
        if (strstr(o.err, cases[i][1]) == NULL)
            fail_msg("expected \"%s\" in \"%s\"", cases[i][1], o.err);
        outcome_free(&o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_slides_on_a_plate_to_the_place_friction_allows),
        cmocka_unit_test(four_corners_carry_a_box_and_keep_their_ids),
        cmocka_unit_test(a_box_over_the_edge_of_a_plate_is_carried_by_crossed_edges),
        cmocka_unit_test(a_ball_rests_in_a_groove_on_both_flanks),
        cmocka_unit_test(a_box_slides_into_an_inner_corner_and_leans_on_floor_and_wall),
        cmocka_unit_test(a_pendulum_in_a_step_ring_moves_as_the_one_of_the_papers),
        cmocka_unit_test(two_runs_give_the_same_bits),
        cmocka_unit_test(a_killed_run_leaves_a_readable_result_with_its_points),
        cmocka_unit_test(export_writes_contact_points_and_forces),
        cmocka_unit_test(a_start_that_overlaps_is_refused_with_depth_and_place),
        cmocka_unit_test(boxes_deep_in_each_other_are_refused_with_depth_and_place),
        cmocka_unit_test(a_pin_and_its_bore_in_halves_are_one_fit),
        cmocka_unit_test(assemble_lifts_an_overlapping_box_out_of_the_plate),
        cmocka_unit_test(check_lists_clearances_overlaps_and_contacts_that_never_touch),
        cmocka_unit_test(faces_that_enclose_no_body_are_blamed_on_the_file),
        cmocka_unit_test(a_spinning_ring_falls_flat),
        cmocka_unit_test(mistakes_in_faces_are_told_with_what_there_is),
        cmocka_unit_test(contacts_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, make_parts, remove_parts);
}
