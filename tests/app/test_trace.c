// lash run --trace: a line per attempt, and the run is the same with and without.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "test.h"

static const char* const play = LASH_SOURCE_DIR "/models/slider_crank/crank_pin_play.json";
static const char* const ideal = LASH_SOURCE_DIR "/models/slider_crank/ideal.json";

static int count(const char* text, const char* words) {
    int found = 0;
    for (const char* at = text; (at = strstr(at, words)) != NULL; ++at) ++found;
    return found;
}

static void every_step_has_a_line(void** state) {
    (void)state;
    char path[300];
    scratch_file("ideal.csv", path, sizeof path);
    Outcome o = LASH("run", ideal, "--duration", "0.002", "--trace", path);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    char* text = slurp(path);
    assert_int_equal(strncmp(text, "time [s],h [s],scheme,contacts,set,operator,derivatives,", 56),
                     0);
    assert_int_equal(count(text, "\n"), 1 + 200);
    assert_int_equal(count(text, ",combined,0,0000000000000000,joints,forces,"), 200);
    assert_int_equal(count(text, ",converged\n"), 200);
    free(text);
}

static void contacts_show_their_operator_and_set(void** state) {
    (void)state;
    char path[300];
    scratch_file("play.csv", path, sizeof path);
    Outcome o = LASH("run", play, "--duration", "0.002", "--trace", path);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    char* text = slurp(path);
    assert_true(count(text, ",contacts,all,") > 0);
    assert_true(count(text, ",converged\n") + count(text, ",grows\n") >= 200);
    free(text);
    o = LASH("run", play, "--duration", "0.002", "--scheme", "schatzman-paoli", "--step", "1e-6",
             "--duration", "1e-5", "--trace", path);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    text = slurp(path);
    assert_int_equal(count(text, ",schatzman-paoli,"), 10);
    assert_int_equal(count(text, ",joints,"), 10);
    free(text);
}

static void a_trace_changes_no_bits(void** state) {
    (void)state;
    char path[300], a[300], b[300];
    scratch_file("play.csv", path, sizeof path);
    scratch_file("a.h5", a, sizeof a);
    scratch_file("b.h5", b, sizeof b);
    Outcome o = LASH("run", play, "--duration", "0.002", "-o", a, "--trace", path);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = LASH("run", play, "--duration", "0.002", "-o", b);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    Outcome with = LASH("export", "--csv", a), without = LASH("export", "--csv", b);
    assert_int_equal(with.code, 0);
    assert_string_equal(with.out, without.out);
    outcome_free(&with);
    outcome_free(&without);
}

static void the_trace_is_a_file_of_its_own(void** state) {
    (void)state;
    char path[300];
    scratch_file("same.h5", path, sizeof path);
    Outcome o = LASH("run", ideal, "--duration", "0.002", "-o", path, "--trace", path);
    assert_int_equal(o.code, 2);
    assert_non_null(strstr(o.err, "--trace"));
    outcome_free(&o);
}

// Bars of 1e7 and 0.1 kg in zigzag, with play and friction in every pin: when the third one comes to bear, the
// light one jams between the heavy ones.
static void write_jam(const char* path) {
    enum { BARS = 3 };
    static const double LENGTH = 0.1, ANGLE = 0.5;
    char parts[2000] = "", joints[2000] = "";
    double x = 0, z = 0;
    for (int k = 0; k < BARS; ++k) {
        double angle = k % 2 == 0 ? ANGLE : -ANGLE, dx = LENGTH * cos(angle),
               dz = -LENGTH * sin(angle);
        const char* comma = k > 0 ? "," : "";
        size_t at = strlen(parts);
        snprintf(
            parts + at, sizeof parts - at,
            "%s{\"name\": \"b%d\", \"shape\": {\"type\": \"box\", \"size\": [%g, 0.01, 0.02]}, "
            "\"mass\": %g, \"pose\": {\"position\": [%.17g, 0, %.17g], \"axis\": [0, 1, 0], "
            "\"angle\": %g}}",
            comma, k + 1, LENGTH, k % 2 == 0 ? 1e7 : 0.1, x + dx / 2, z + dz / 2, angle);
        char before[16] = "ground";
        if (k > 0) snprintf(before, sizeof before, "b%d", k);
        at = strlen(joints);
        snprintf(joints + at, sizeof joints - at,
                 "%s{\"name\": \"j%d\", \"type\": \"revolute\", \"a\": \"%s\", \"b\": \"b%d\", "
                 "\"point\": [%.17g, 0, %.17g], \"axis\": [0, 1, 0], \"clearance\": 1e-4, "
                 "\"radius\": 0.005, \"length\": 0.02, \"friction\": 0.1, \"restitution\": 0}",
                 comma, k + 1, before, k + 1, x, z);
        x += dx;
        z += dz;
    }
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"format\": \"lash-model/1\", \"name\": \"jam\", \"gravity\": [0, 0, -9.81], "
            "\"parts\": [%s], \"joints\": [%s], "
            "\"simulation\": {\"step\": 1e-5, \"duration\": 0.01, \"substeps\": 16}}",
            parts, joints);
    fclose(file);
}

// The field of a line, counted from 0.
static const char* field_of(const char* line, int field) {
    for (int k = 0; k < field; ++k) line = strchr(line, ',') + 1;
    return line;
}

// Whatever is tried takes at most 200 factors and sweeps; what is tried as a jam then, 5000.
static void the_work_on_an_attempt_is_bounded(void** state) {
    (void)state;
    enum { OPERATOR = 5, SOLVER = 8, MOST = 200, MOST_IN_JAM = 5000 };
    char model[300], path[300];
    scratch_file("jam.json", model, sizeof model);
    scratch_file("jam.csv", path, sizeof path);
    write_jam(model);
    Outcome o = LASH("run", model, "--trace", path);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    char* text = slurp(path);
    int largest = 0, in_jam = 0;
    for (char* line = strchr(text, '\n'); line != NULL && line[1] != 0;
         line = strchr(line + 1, '\n')) {
        int solver = atoi(field_of(line + 1, SOLVER));
        int* most = strncmp(field_of(line + 1, OPERATOR), "jam,", 4) == 0 ? &in_jam : &largest;
        *most = solver > *most ? solver : *most;
    }
    free(text);
    print_message("at most %d factors and sweeps, %d in a jam\n", largest, in_jam);
    assert_in_range(largest, 20, MOST); // the jam is hard
    assert_in_range(in_jam, 20, MOST_IN_JAM);
}

RUN(TEST(every_step_has_a_line), TEST(contacts_show_their_operator_and_set),
    TEST(a_trace_changes_no_bits), TEST(the_trace_is_a_file_of_its_own),
    TEST(the_work_on_an_attempt_is_bounded))
