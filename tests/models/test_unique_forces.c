// Where laws leave forces open, the smallest ones; stick, slip and impacts told from velocities.
//
// Expected values are closed forms. Every model is written by its test, with more than nine rows of contacts
// where that matters: small sets are solved by another method (solvers/step/contact_stage.c).
#include "model_text.h"
#include "models_run.h"
#include "test.h"

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 }; // fewer boxes do
#else
enum { SANITIZED = 0 };
#endif

static cJSON* run_text(const char* name, const char* text, const char* const* options) {
    char path[400];
    write_model(name, text, path, sizeof path);
    Command command = {.argument = {"run", path, "--json"}};
    for (int i = 0; options != NULL && options[i] != NULL; ++i)
        command.argument[3 + i] = options[i];
    Outcome outcome = run_command(&command);
    cJSON* json = cJSON_Parse(outcome.out);
    if (json == NULL || outcome.code != 0)
        fail_msg("%s: exit code %d: %s", name, outcome.code, outcome.err);
    outcome_free(&outcome);
    return json;
}

// A shaper's quick return, all plays 0: both sides of the slot touch the pin, and their squeeze decides about the
// friction there and in the pivot. Without one the work is that of the cut and of the friction under the loads.
static void a_slot_without_play_does_not_squeeze_its_pin(void** state) {
    (void)state;
    make_part("crank",
              "'steps': [{'extrude': {'profile': {'outer': {'slot': {'from': [0, 0], 'to': [0, "
              "30], 'radius': 10}, 'name': 'rim'}},"
              " 'length': 6, 'bottom': 'back', 'top': 'front'}, 'at': [0, 0, -12]},"
              " {'cylinder': {'radius': 5, 'length': 14, 'side': 'pin', 'top': 'end'}, 'at': [0, "
              "30, -6]}]");
    make_part(
        "lever",
        "'steps': [{'extrude': {'profile': {'outer': {'slot': {'from': [0, 0], 'to': [0, 160], "
        "'radius': 13}, 'name': 'rim'},"
        " 'holes': [{'slot': {'from': [0, 40], 'to': [0, 125], 'radius': 5}, 'name': 'slot'}]},"
        " 'length': 10, 'bottom': 'back', 'top': 'front'}, 'at': [0, 0, -5]}]");
    static const char text[] =
        "{'format': 'lash-model/1', 'units': {'length': 'mm', 'mass': 'g', 'time': 's', 'angle': "
        "'deg', 'force': 'N'},"
        " 'gravity': [0, -9810, 0], 'parts': ["
        "  {'name': 'crank', 'step': 'crank.step', 'density': 0.00785, 'pose': {'position': [0, "
        "80, 0]}},"
        "  {'name': 'lever', 'step': 'lever.step', 'density': 0.00785},"
        "  {'name': 'link', 'shape': {'type': 'box', 'size': [96, 14, 6]}, 'density': 0.00785, "
        "'pose': {'position': [40, 160, 8]}},"
        "  {'name': 'ram', 'shape': {'type': 'box', 'size': [120, 30, 20]}, 'density': 0.00785, "
        "'pose': {'position': [140, 160, 25]}}],"
        " 'joints': ["
        "  {'name': 'motor', 'type': 'revolute', 'a': 'ground', 'b': 'crank', 'point': [0, 80, 0], "
        "'axis': [0, 0, 1],"
        "   'driver': {'speed': '720*min(1, t/0.05)'}},"
        "  {'name': 'pivot', 'type': 'revolute', 'a': 'lever', 'b': 'ground', 'point': [0, 0, 0], "
        "'axis': [0, 0, 1],"
        "   'radius': 6, 'friction': 0.1},"
        "  {'name': 'tip', 'type': 'revolute', 'a': 'lever', 'b': 'link', 'point': [0, 160, 0], "
        "'axis': [0, 0, 1], 'radius': 4,"
        "   'friction': 0.1},"
        "  {'name': 'ram_pin', 'type': 'revolute', 'a': 'link', 'b': 'ram', 'point': [80, 160, 0], "
        "'axis': [0, 0, 1]},"
        "  {'name': 'bed', 'type': 'prismatic', 'a': 'ground', 'b': 'ram', 'point': [140, 160, 0], "
        "'axis': [1, 0, 0]}],"
        " 'forces': [{'name': 'cut', 'type': 'joint_force', 'joint': 'bed', 'force': '-40*max(0, "
        "tanh(v/2))'}],"
        " 'contacts': [{'name': 'slot', 'a': {'part': 'lever', 'faces': 'slot'}, 'b': {'part': "
        "'crank', 'faces': 'pin'},"
        "   'friction': 0.1}],"
        " 'simulation': {'step': 1e-4, 'duration': 0.3}}";
    const char* steps[] = {"1e-4", "5e-5"};
    for (int i = 0; i < (SANITIZED ? 1 : 2); ++i) {
        const char* options[] = {"--step", steps[i], NULL};
        cJSON* json = run_text("shaper.json", text, options);
        // The same at every step length; 38 J at the first of them where the squeeze was left open.
        assert_between("work", result_at(json, "energy/external_work"), 0.68, 0.69);
        assert_exact(json);
        cJSON_Delete(json);
    }
}

// A slider between two plates without play: N_below - N_above = m g, and friction mu (N_below + N_above) would
// be anything. The limit of a small play: N_above = 0, deceleration mu g.
static void a_slider_without_play_is_not_squeezed(void** state) {
    (void)state;
    static const char text[] =
        "{'format': 'lash-model/1', 'gravity': [0, 0, -10],"
        " 'parts': [{'name': 'slider', 'shape': {'type': 'box', 'size': [0.1, 0.06, 0.02]}, "
        "'mass': 0.5,"
        "   'velocity': [1, 0, 0]}],"
        " 'contacts': ["
        "  {'name': 'below', 'a': {'part': 'ground', 'plane': {'point': [0, 0, -0.01], 'normal': "
        "[0, 0, 1]}},"
        "   'b': {'part': 'slider', 'box': {'corners': "
        "[[1,1,-1],[1,-1,-1],[-1,1,-1],[-1,-1,-1]]}}, 'friction': 0.2},"
        "  {'name': 'above', 'a': {'part': 'ground', 'plane': {'point': [0, 0, 0.01], 'normal': "
        "[0, 0, -1]}},"
        "   'b': {'part': 'slider', 'box': {'corners': [[1,1,1],[1,-1,1],[-1,1,1],[-1,-1,1]]}}, "
        "'friction': 0.2}],"
        " 'simulation': {'step': 1e-3, 'duration': 0.2},"
        " 'outputs': [{'name': 'x', 'quantity': 'position.x', 'of': 'slider'},"
        "   {'name': 'above', 'quantity': 'force', 'of': 'above', 'when': 'max'},"
        "   {'name': 'below', 'quantity': 'force', 'of': 'below', 'when': 'max'}]}";
    const char* steps[] = {"1e-2", "1e-3", "1.7e-4", "2e-5"};
    for (int i = 0; i < (SANITIZED ? 3 : 4); ++i) {
        const char* options[] = {"--step", steps[i], NULL};
        cJSON* json = run_text("squeezed.json", text, options);
        double t = result_at(json, "simulated_seconds"), x = t - 0.5 * 0.2 * 10 * t * t;
        assert_between("way", result_at(json, "outputs/x"), x - 1e-9, x + 1e-9);
        assert_between("force above", result_at(json, "outputs/above"), 0, 1e-9);
        double below = 0.5 * 10 * sqrt(1 + 0.2 * 0.2); // m g and friction
        assert_between("force below", result_at(json, "outputs/below"), below - 1e-8, below + 1e-8);
        assert_exact(json);
        cJSON_Delete(json);
    }
}

// A table on four legs, its center of mass off the middle: the smallest forces that carry it are linear in the
// place of the leg, N = m g (1/4 + x_c x / (4 a^2) + y_c y / (4 b^2)) for legs at (+-a, +-b).
static void four_legs_share_the_weight_by_the_smallest_forces(void** state) {
    (void)state;
    static const char text[] =
        "{'format': 'lash-model/1', 'gravity': [0, 0, -10],"
        " 'parts': [{'name': 'table', 'mass': 2, 'center': [0.1, -0.05, 0], 'inertia': [0.1, 0.2, "
        "0.25],"
        "   'shape': {'type': 'box', 'size': [1, 0.6, 0.5]}, 'pose': {'position': [0, 0, 0.25]}}],"
        " 'contacts': ["
        "  {'name': 'leg', 'a': {'part': 'ground', 'plane': {'point': [0, 0, 0], 'normal': [0, 0, "
        "1]}},"
        "   'b': {'part': 'table', 'box': {'corners': [[1,1,-1],[1,-1,-1],[-1,1,-1],[-1,-1,-1]]}}, "
        "'friction': 0.3}],"
        " 'simulation': {'step': 1e-3, 'duration': 0.3},"
        " 'outputs': [{'name': '1', 'quantity': 'force', 'of': 'leg.1'},"
        "  {'name': '2', 'quantity': 'force', 'of': 'leg.2'}, {'name': '3', 'quantity': 'force', "
        "'of': 'leg.3'},"
        "  {'name': '4', 'quantity': 'force', 'of': 'leg.4'}]}";
    cJSON* json = run_text("table.json", text, NULL);
    static const double sign[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    for (int i = 0; i < 4; ++i) {
        char path[] = "outputs/0";
        path[8] = (char)('1' + i);
        double N = 20 * (0.25 + 0.1 * sign[i][0] * 0.5 / (4 * 0.25) -
                         0.05 * sign[i][1] * 0.3 / (4 * 0.09));
        assert_between("force of a leg", result_at(json, path), N - 1e-8, N + 1e-8);
    }
    cJSON_Delete(json);
}

// A box at rest on a floor neither slips, sticks, opens nor is hit, whatever rounding does to its corners.
static void rest_has_no_events(void** state) {
    (void)state;
    static const char text[] =
        "{'format': 'lash-model/1', 'gravity': [0.3, 0.2, -10],"
        " 'parts': [{'name': 'box', 'mass': 2, 'shape': {'type': 'box', 'size': [1, 0.6, 0.5]},"
        "   'pose': {'position': [0.1, 0.7, 0.25]}}],"
        " 'contacts': ["
        "  {'name': 'leg', 'a': {'part': 'ground', 'plane': {'point': [0, 0, 0], 'normal': [0, 0, "
        "1]}},"
        "   'b': {'part': 'box', 'box': {'corners': [[1,1,-1],[1,-1,-1],[-1,1,-1],[-1,-1,-1]]}}, "
        "'friction': 0.3}],"
        " 'simulation': {'step': 1e-4, 'duration': 0.5}}";
    char path[400];
    scratch_file("rest.h5", path, sizeof path);
    const char* options[] = {"-o", path, NULL};
    cJSON* json = run_text("rest.json", text, options);
    assert_between("impacts", result_at(json, "contacts/impacts"), 0, 0);
    cJSON_Delete(json);
    Command command = {.argument = {"export", "--csv", path, "--events"}};
    Outcome outcome = run_command(&command);
    assert_int_equal(outcome.code, 0);
    assert_int_equal(strchr(outcome.out, '\n') + 1 - outcome.out,
                     strlen(outcome.out)); // the header alone
    outcome_free(&outcome);
}

// Boxes fall one after the other, each lands with four corners at once, and nothing else is an impact. With 17 of
// them another operator solves the steps: the same count.
static void impacts_are_counted_alike_by_every_operator(void** state) {
    (void)state;
    const int sizes[] = {3, SANITIZED ? 4 : 17};
    for (int k = 0; k < 2; ++k) {
        int n = sizes[k];
        char* text = malloc(1 << 16);
        int at = sprintf(text, "{'format': 'lash-model/1', 'gravity': [0, 0, -9.81], 'parts': [");
        for (int i = 0; i < n; ++i)
            at += sprintf(
                text + at,
                "%s{'name': 'b%d', 'shape': {'type': 'box', 'size': [0.1, 0.1, 0.1]}, 'mass': 1,"
                " 'pose': {'position': [%g, 0, %.17g]}}",
                i > 0 ? "," : "", i, 0.002 * (i % 3 - 1), 0.051 + 0.101 * i);
        at += sprintf(text + at, "], 'contacts': [");
        for (int i = 0; i < n; ++i) {
            char under[32];
            snprintf(under, sizeof under, i > 0 ? "b%d" : "ground", i - 1);
            at += sprintf(text + at,
                          "%s{'name': 'c%d', 'a': {'part': '%s', 'plane': {'point': [0, 0, %g], "
                          "'normal': [0, 0, 1]}},"
                          " 'b': {'part': 'b%d', 'box': {'corners': "
                          "[[1,1,-1],[1,-1,-1],[-1,1,-1],[-1,-1,-1]]}},"
                          " 'friction': 0.3}",
                          i > 0 ? "," : "", i, under, i > 0 ? 0.05 : 0.0, i);
        }
        sprintf(text + at, "], 'simulation': {'step': 1e-3, 'duration': 0.08}}");
        cJSON* json = run_text("stack.json", text, NULL);
        assert_between("impacts", result_at(json, "contacts/impacts"), 4 * n, 4 * n);
        assert_exact(json);
        cJSON_Delete(json);
        free(text);
    }
}

// A disc that sticks in a ring, held in its plane by ideal joints: along the axis nothing can move, and nothing
// pushes. A weight on the lever of the disc is carried by the ring's friction and normal force alone.
static void no_force_acts_along_a_direction_that_joints_hold(void** state) {
    (void)state;
    static const char text[] =
        "{'format': 'lash-model/1', 'gravity': [0, -9.81, 0],"
        " 'parts': [{'name': 'wheel', 'mass': 1, 'inertia': [0.01, 0.01, 0.02], 'center': [0.02, "
        "0, 0],"
        "    'shape': {'type': 'cylinder', 'radius': 0.1, 'length': 0.02}, 'pose': {'position': "
        "[0, -0.1, 0.1]}}],"
        " 'joints': [{'name': 'plane', 'type': 'planar', 'a': 'ground', 'b': 'wheel', 'point': [0, "
        "0, 0.1],"
        "    'axis': [0, 0, 1]}],"
        " 'contacts': [{'name': 'ring', 'a': {'part': 'ground', 'circle': {'radius': 0.2, "
        "'inside': true}},"
        "    'b': {'part': 'wheel', 'circle': {'radius': 0.1}}, 'friction': 0.5}],"
        " 'simulation': {'step': 1e-4, 'duration': 0.5},"
        " 'outputs': [{'name': 'most', 'quantity': 'force.z', 'of': 'plane', 'when': 'max'},"
        "   {'name': 'least', 'quantity': 'force.z', 'of': 'plane', 'when': 'min'},"
        "   {'name': 'energy', 'quantity': 'energy.total', 'when': 'min'}]}";
    cJSON* json = run_text("held.json", text, NULL);
    // What the tolerance of velocities leaves: 1 kg x 1e-10 m/s over a step. It was 5 N.
    assert_between("force along the axis", result_at(json, "outputs/most"), -1e-6, 1e-6);
    assert_between("force along the axis", result_at(json, "outputs/least"), -1e-6, 1e-6);
    // It rolls: friction does no work.
    assert_between("dissipated", result_at(json, "energy/dissipated"), -1e-9, 1e-9);
    cJSON_Delete(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_without_play_does_not_squeeze_its_pin),
        cmocka_unit_test(a_slider_without_play_is_not_squeezed),
        cmocka_unit_test(four_legs_share_the_weight_by_the_smallest_forces),
        cmocka_unit_test(rest_has_no_events),
        cmocka_unit_test(impacts_are_counted_alike_by_every_operator),
        cmocka_unit_test(no_force_acts_along_a_direction_that_joints_hold),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
