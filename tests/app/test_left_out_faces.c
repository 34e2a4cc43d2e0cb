// A part that comes in through a face which the contact leaves out: the gap falls at once where a
// chosen face becomes the nearest. The run is refused, and names that face; so does lash check.
#include "test.h"

#include "command.h"
#include "model_text.h"

static int make_parts(void** state) {
    (void)state;
    char cache[300];
    setenv("XDG_CACHE_HOME", scratch_file("cache", cache, sizeof cache), 1);
    make_part("box", "'steps': [{'box': {'size': [8, 8, 8], 'centered': true}}]");
    make_part(
        "plate",
        "'steps': [{'box': {'size': [90, 90, 2], 'centered': true}, 'at': [0, 0, -1]}], "
        "'names': [{'name': 'top', 'near': [0, 0, 0]}, {'name': 'back', 'near': [0, 0, -2]}]");
    return 0;
}

static int remove_parts(void** state) {
    (void)state;
    scratch_remove();
    return 0;
}

// The box rises to the back of a plate of 2 mm; z is the place of its center.
static Outcome lash_on(const char* command, const char* faces, double z) {
    char path[300], text[1500];
    snprintf(text, sizeof text,
             "{'format': 'lash-model/1', 'units': {'length': 'mm'}, 'parts': [{'name': 'plate', "
             "'step': 'plate.step', 'fixed': true}, {'name': 'box', 'step': 'box.step', 'density': "
             "7.8e-6, 'pose': {'position': [0, 0, %g]}, 'velocity': [0, 0, 100]}], 'contacts': "
             "[{'name': 'rest', 'a': {'part': 'plate', 'faces': %s}, 'b': {'part': 'box', 'faces': "
             "'all'}}], 'simulation': {'step': 1e-4, 'duration': 0.05}}",
             z, faces);
    write_model("model.json", text, path, sizeof path);
    return LASH(command, path);
}

static void a_run_names_the_face_that_a_part_came_in_through(void** state) {
    (void)state;
    Outcome o = lash_on("run", "'top'", -6.5);
    assert_int_equal(o.code, 5);
    if (strstr(o.err, "('back') of 'ground'") == NULL) fail_msg("%s", o.err);
    assert_non_null(strstr(o.err, "which this contact leaves out"));
    outcome_free(&o);
    o = lash_on("run", "['top', 'back']", -6.5); // it bounces off
    assert_int_equal(o.code, 0);
    outcome_free(&o);
}

static void check_names_the_face_that_parts_are_in_each_other_through(void** state) {
    (void)state;
    Outcome o = lash_on("check", "'top'", -5.8);
    if (strstr(o.out, "through      rest: 0.0002 m inside 'ground'") == NULL) fail_msg("%s", o.out);
    assert_non_null(strstr(o.out, "('back'), which the contact leaves out"));
    outcome_free(&o);
    o = lash_on("check", "'top'", -6.5);
    assert_null(strstr(o.out, "through      "));
    outcome_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_names_the_face_that_a_part_came_in_through),
        cmocka_unit_test(check_names_the_face_that_parts_are_in_each_other_through),
    };
    return cmocka_run_group_tests(tests, make_parts, remove_parts);
}
