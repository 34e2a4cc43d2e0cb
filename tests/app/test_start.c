// Starts that look right and are not: pins beside their bores, joints far from their parts,
// overlaps that assembling cannot mend, plays that differ from the CAD.
#include "test.h"

#include "model_text.h"

static int make_parts(void** state) {
    (void)state;
    char cache[400];
    setenv("XDG_CACHE_HOME", scratch_file("cache", cache, sizeof cache), 1);
    make_part("block",
              "'steps': [{'box': {'size': [40, 30, 20], 'centered': true}}], 'names': [{'name': "
              "'bottom', 'near': [0, 0, -10]}]");
    make_part("floor", // a lone face that looks down
              "'steps': [{'box': {'size': [400, 200, 10], 'centered': true}, 'at': [0, 0, -5]}], "
              "'names': [{'name': 'top', 'near': [0, 0, 0]}], 'only': ['top'], 'reversed': true");
    make_part("link",
              "'steps': [{'extrude': {'profile': {'outer': {'slot': {'from': [0, 0], 'to': [100, "
              "0], 'radius': 12}}, 'holes': [{'circle': {'radius': 5.2}, 'name': 'bore'}]}, "
              "'length': 10}, 'at': [0, 0, -5]}]");
    make_part("post",
              "'steps': [{'cylinder': {'radius': 5, 'length': 30, 'side': 'pin'}, 'at': "
              "[0, 0, -15]}]");
    return 0;
}

static int remove_parts(void** state) {
    (void)state;
    scratch_remove();
    return 0;
}

// A link on a post; point: where the joint is in the link, play and further keys.
static Outcome link_on_post(const char* command, const char* joint, const char* simulation) {
    char text[2000], path[400];
    snprintf(text, sizeof text,
             "{'format': 'lash-model/1', 'units': {'length': 'mm', 'mass': 'kg'}, 'gravity': [0, "
             "0, 0], 'parts': [{'name': 'post', 'step': 'post.step', 'fixed': true}, {'name': "
             "'link', 'step': 'link.step', 'density': 7.85e-6}], 'joints': [{'name': 'pivot', "
             "'type': 'revolute', 'a': 'link', 'b': 'post', %s}], 'simulation': {'duration': "
             "0.01, 'step': 1e-3%s}}",
             joint, simulation);
    write_model("link.json", text, path, sizeof path);
    return run_command(&(Command){.argument = {command, path, NULL}});
}

#define AXES "'a_axis': [0, 0, 1], 'b_axis': [0, 0, 1], 'radius': 5, 'length': 10"

static void a_pin_beside_its_bore_is_refused_with_the_distance(void** state) {
    (void)state;
    const char* const start[] = {"", ", 'assemble': true"};
    const char* const point[] = {"'b_point': [11, 0, 0], 'clearance': 0.2, " AXES,
                                 "'b_point': [50, 0, 0], 'clearance': 0.2, " AXES,
                                 "'b_point': [1000, 0, 0], 'clearance': 0.2, " AXES};
    const char* const distance[] = {"0.011 m apart", "0.05 m apart", "1 m apart"};
    for (int i = 0; i < 12; ++i) {
        char joint[300];
        snprintf(joint, sizeof joint, "'a_point': [0, 0, 0], %s", point[i % 3]);
        Outcome o = link_on_post(i < 6 ? "check" : "run", joint, start[i / 3 % 2]);
        assert_int_equal(o.code, 3);
        assert_non_null(strstr(o.err, "joints[0]: the pin of joint 'pivot' lies beside its bore"));
        assert_non_null(strstr(o.err, distance[i % 3]));
        outcome_free(&o);
    }
}

static void a_joint_far_from_its_parts_is_warned_of_with_the_distance(void** state) {
    (void)state;
    const char* far = "'point': [0, 60, 0], 'axis': [0, 0, 1]"; // 48 mm beyond the rim
    Outcome o = link_on_post("check", far, "");
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.out, "joint 'pivot': its axis is 0.048 m away from part 'link'"));
    outcome_free(&o);
    o = link_on_post("run", far, "");
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.err, "warning: joint 'pivot': its axis is 0.048 m away"));
    outcome_free(&o);
    o = link_on_post("check", "'point': [0, 0, 700], 'axis': [0, 0, 1]", ""); // along the axis
    assert_int_equal(o.code, 0);
    assert_null(strstr(o.out, "away from part"));
    outcome_free(&o);
}

static void check_compares_the_play_of_a_joint_with_its_cad_faces(void** state) {
    (void)state;
    const char* const joint[] = {
        "'point': [0, 0, 0], 'axis': [0, 0, 1], 'radius': 5, 'length': 10, 'clearance': 0.2",
        "'point': [0, 0, 0], 'axis': [0, 0, 1], 'radius': 5, 'length': 10, 'clearance': 0.05",
        "'bore': 'bore', 'pin': 'pin', 'clearance': 0.05"};
    for (int i = 0; i < 3; ++i) {
        Outcome o = link_on_post("check", joint[i], "");
        assert_int_equal(o.code, 0);
        assert_non_null(strstr(o.out, "measure 0.0002 m radial, 0.0004 m diametral"));
        bool warned =
            strstr(o.out, "warning      joint 'pivot' has a play of 5e-05 m, its CAD") != NULL;
        assert_int_equal(warned, i == 1);
        assert_int_equal(strstr(o.out, "the model's clearance counts") != NULL, i == 2);
        outcome_free(&o);
    }
}

static void models_of_the_repository_have_the_play_of_their_cad(void** state) {
    (void)state;
    const char* const model[] = {"slider_crank/all_play",       "slider_crank/driven_play",
                                 "slider_crank/crank_pin_play", "four_bar/four_bar",
                                 "circuit_breaker/breaker",     "cam_follower/cam_follower"};
    for (size_t i = 0; i < sizeof model / sizeof *model; ++i) {
        char path[600];
        snprintf(path, sizeof path, "%s/models/%s.json", LASH_SOURCE_DIR, model[i]);
        Outcome o = LASH("check", path);
        assert_int_equal(o.code, 0);
        assert_non_null(strstr(o.out, "; CAD faces"));
        assert_null(strstr(o.out, "DIFFERENT"));
        assert_null(strstr(o.out, "has a play of"));
        outcome_free(&o);
    }
}

// The floor looks down, by the model's word, so the block above it counts as 10 mm inside the
// material (without `flip` the start would tell that it looks up): nothing that
// assembling sees, and the contact would never act.
static void an_overlap_that_assembling_cannot_mend_is_refused(void** state) {
    (void)state;
    const char* const start[] = {"", ", 'assemble': true"};
    const char* const command[] = {"check", "run"};
    for (int i = 0; i < 4; ++i) {
        char text[2000], path[400];
        snprintf(
            text, sizeof text,
            "{'format': 'lash-model/1', 'units': {'length': 'mm', 'mass': 'kg'}, 'gravity': "
            "[0, 0, -9810], 'parts': [{'name': 'floor', 'step': 'floor.step', 'fixed': true}, "
            "{'name': 'block', 'step': 'block.step', 'density': 7.85e-6, 'pose': {'position': "
            "[0, 0, 20]}}], 'contacts': [{'name': 'land', 'a': {'part': 'floor', 'faces': "
            "'all', 'flip': false}, 'b': {'part': 'block', 'faces': 'bottom'}}], 'simulation': "
            "{'duration': 0.01, 'step': 1e-3%s}}",
            start[i % 2]);
        write_model("floor.json", text, path, sizeof path);
        Outcome o = LASH(command[i / 2], path);
        assert_int_equal(o.code, 3);
        assert_non_null(strstr(o.err, "contacts[0]"));
        assert_null(strstr(o.out, "nearest "));
        outcome_free(&o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pin_beside_its_bore_is_refused_with_the_distance),
        cmocka_unit_test(a_joint_far_from_its_parts_is_warned_of_with_the_distance),
        cmocka_unit_test(check_compares_the_play_of_a_joint_with_its_cad_faces),
        cmocka_unit_test(models_of_the_repository_have_the_play_of_their_cad),
        cmocka_unit_test(an_overlap_that_assembling_cannot_mend_is_refused),
    };
    return cmocka_run_group_tests(tests, make_parts, remove_parts);
}
