// The smaller models: each runs to its end within the tolerances and does what its page says.
#include "models_run.h"
#include "test.h"

#define OPTIONS(...) ((const char* const[]){__VA_ARGS__, NULL})

static void pendulum_stays_in_its_ring(void** state) {
    (void)state;
    cJSON* json = run_model("pendulum_in_ring/pendulum_in_ring.json", NULL);
    assert_exact(json);
    // falls 1 cm: sqrt(2 * 0.01 / 9.81)
    assert_between("first impact", result_at(json, "outputs/first_impact"), 0.0451523 - 5e-4,
                   0.0451523 + 5e-4);
    assert_between("pin", result_at(json, "outputs/pin_x"), -1, 1);
    cJSON_Delete(json);
}

static void four_bar_rattles_on_three_pins(void** state) {
    (void)state;
    cJSON* json = run_model("four_bar/four_bar.json", OPTIONS("--duration", "0.05"));
    assert_exact(json);
    assert_between("impacts", result_at(json, "contacts/impacts"), 10, 1e6);
    assert_no_energy_given(json);
    // of the 0.08 J in it: what one step, or one joint in an impact of several, can feed in
    assert_between("gain of a step", result_at(json, "energy/step_gain/work"), 0, 1e-4);
    assert_between("gain of a joint", result_at(json, "energy/largest_gain/work"), 0, 1e-4);
    cJSON_Delete(json);
}

// The tutorial's mechanism: a crank whose speed is prescribed, play in its pin. It slides on, with
// few impacts, and needs neither shorter steps nor many corrections.
// The speed of the crank is prescribed: 20 pi t / 0.05, so that it has turned by pi / 2 after 0.05
// s, whatever hits the rod and the slider.
static void driven_slider_crank_keeps_its_angle(void** state) {
    (void)state;
    cJSON* json = run_model("first/slider_crank.json", OPTIONS("--duration", "0.05"));
    assert_exact(json);
    assert_between("impacts", result_at(json, "contacts/impacts"), 5, 100);
    // A step in parts, or a velocity left by the tolerance, is no impact: without them there are
    // three.
    assert_between("impacts of the pin", result_at(json, "joints/crank_pin/impacts"), 2, 4);
    assert_between("steps in parts", result_at(json, "substepped"), 0, 3);
    assert_between("corrections", result_at(json, "iterations/newton/avg"), 1, 3);
    for (int i = 0; i < 4; i += 3) {
        double half =
            result_at(json, i == 0 ? "final/crank/quaternion/0" : "final/crank/quaternion/3");
        assert_between("angle", half, sqrt(0.5) - 1e-8, sqrt(0.5) + 1e-8);
    }
    cJSON_Delete(json);
}

static void shaft_spins_down_in_its_tube(void** state) {
    (void)state;
    cJSON* json = run_model("shaft_in_tube/shaft_in_tube.json", NULL);
    assert_exact(json);
    assert_between("spin", result_at(json, "outputs/spin_left"), 0, 62.8);
    assert_between("gap", result_at(json, "outputs/least_gap"), -1e-10, 1e-10);
    cJSON_Delete(json);
}

static void follower_rides_on_the_freeform_cam(void** state) {
    (void)state;
    cJSON* json = run_model("cam_follower/cam_follower.json",
                            OPTIONS("--duration", long_tests() ? "0.2" : "0.02"));
    assert_exact(json);
    if (long_tests()) // base circle 20 + foot 6 + lift 8
        assert_between("lift", result_at(json, "outputs/lift"), 0.0339, 0.0341);
    cJSON_Delete(json);
}

static void geneva_wheel_goes_a_quarter_per_turn(void** state) {
    (void)state;
    cJSON* json = run_model("geneva/geneva.json", NULL); // two turns of the driver
    assert_exact(json);
    assert_between("wheel", result_at(json, "outputs/wheel_angle"), -3.1416 - 0.01, -3.1416 + 0.01);
    double fastest = -4 * 3.14159265 / (sqrt(2) - 1); // in the middle of a quarter turn [rad/s]
    assert_between("speed", result_at(json, "outputs/wheel_speed_peak"), 1.002 * fastest,
                   0.998 * fastest);
    cJSON_Delete(json);
}

// Another formula, another law of impact, events at their own times: what `combined` finds, `trapezoidal` finds too,
// to the order of the first one. Impacts are compared where both name them, the first of each contact.
static void compare_schemes(const char* model, const char* duration) {
    cJSON* json[2];
    for (int k = 0; k < 2; ++k) {
        const char* scheme = k == 0 ? "combined" : "trapezoidal";
        json[k] = run_model(model, OPTIONS("--scheme", scheme, "--duration", duration));
    }
    double h = result_at(json[0], "step"), energy = result_at(json[0], "energy/end");
    assert_between(model, result_at(json[1], "energy/end") - energy, -1e-3 * fabs(energy),
                   1e-3 * fabs(energy));
    const cJSON* each[2];
    for (int k = 0; k < 2; ++k)
        each[k] = cJSON_GetObjectItem(cJSON_GetObjectItem(json[k], "contacts"), "each");
    double first = INFINITY;
    const char* name = NULL;
    for (const cJSON* node = each[0]->child; node != NULL; node = node->next) {
        double t = result_at(node, "first_impact");
        if (!(t < first)) continue;
        first = t;
        name = node->string;
    }
    assert_non_null(name);
    double other = result_at(cJSON_GetObjectItem(each[1], name), "first_impact");
    assert_between(name, other, first - 0.2 * h, first + 0.2 * h);
    for (int k = 0; k < 2; ++k) cJSON_Delete(json[k]);
}

static void another_scheme_agrees_on_ten_mechanisms(void** state) {
    (void)state;
    static const char* const run[][2] = {{"slider_crank/guide_play.json", "0.01"},
                                         {"slider_crank/crank_pin_play.json", "0.004"},
                                         {"slider_crank/all_play.json", "0.002"},
                                         {"slider_crank/driven_play.json", "0.002"},
                                         {"four_bar/four_bar.json", "0.003"},
                                         {"shaft_in_tube/shaft_in_tube.json", "0.005"},
                                         {"pendulum_in_ring/pendulum_in_ring.json", "0.1"},
                                         {"cam_follower/cam_follower.json", "0.0005"},
                                         {"geneva/geneva.json", "0.28"},
                                         {"circuit_breaker/breaker.json", "0.00006"}};
    for (size_t k = 0; k < sizeof run / sizeof *run; ++k) compare_schemes(run[k][0], run[k][1]);
}

// Ends of pins that hit in turn ended it at 34 ms: an accumulation of several contacts.
static void trapezoidal_passes_accumulations_of_several_contacts(void** state) {
    (void)state;
    cJSON* json = run_model("slider_crank/crank_pin_play.json",
                            OPTIONS("--scheme", "trapezoidal", "--duration", "0.04"));
    assert_between("energy", result_at(json, "energy/end"), 7.08, 7.12);
    assert_between("penetration", result_at(json, "violation/unilateral"), 0, 1e-8);
    assert_no_energy_given(json);
    cJSON_Delete(json);
}

// Both ends of the pin slide, then roll: speeds that alternate in them grew by a seventh per step, the ends left the ring in turn
// and the rod with them. Whole run, with an edge where a contact gets its place within a step.
static void pin_in_its_ring_is_not_hit_again(void** state) {
    (void)state;
    cJSON* json =
        run_model("pendulum_in_ring/pendulum_in_ring.json", OPTIONS("--scheme", "trapezoidal"));
    assert_between("impacts", result_at(json, "contacts/impacts"), 2, 2);
    assert_between("energy", result_at(json, "energy/end"), -82.4314,
                   -82.4264); // combined: -82.4266
    assert_between("penetration", result_at(json, "violation/unilateral"), 0, 2e-9);
    assert_no_energy_given(json);
    cJSON_Delete(json);
}

static int tear_down(void** state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_stays_in_its_ring),
        cmocka_unit_test(four_bar_rattles_on_three_pins),
        cmocka_unit_test(driven_slider_crank_keeps_its_angle),
        cmocka_unit_test(shaft_spins_down_in_its_tube),
        cmocka_unit_test(follower_rides_on_the_freeform_cam),
        cmocka_unit_test(geneva_wheel_goes_a_quarter_per_turn),
        cmocka_unit_test(another_scheme_agrees_on_ten_mechanisms),
        cmocka_unit_test(trapezoidal_passes_accumulations_of_several_contacts),
        cmocka_unit_test(pin_in_its_ring_is_not_hit_again),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
