// lash run --trace: a line per attempt, and the run is the same with and without.
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

RUN(TEST(every_step_has_a_line), TEST(contacts_show_their_operator_and_set),
    TEST(a_trace_changes_no_bits), TEST(the_trace_is_a_file_of_its_own))
