// The circuit breaker and its latch: friction alone holds them closed, above the threshold that
// statics gives and not below; the plunger trips them. Longer runs with LASH_LONG_TESTS.
#include "models_run.h"
#include "test.h"

#define OPTIONS(...) ((const char* const[]){__VA_ARGS__, NULL})

static const char* const latch = "circuit_breaker/latch.json";
static const char* const breaker = "circuit_breaker/breaker.json";

// Statics of the latch with ideal, frictionless pivots (models/circuit_breaker/README.md): moments
// of hook about D and of trip bar about E, nose force N n + T t at P. Lengths in mm, forces in N.
// Returns T / N that holds a return torque.
static double friction_needed(double rod_force, double return_torque) {
    const double C[2] = {4.867539, 6.879044}, D[2] = {7.771137, 7.633441};
    const double E[2] = {6.995736, -0.244296}, P[2] = {4.055413, 4.287788};
    const double n[2] = {0.422218, -0.906495}, t[2] = {0.906495, 0.422218};
    const double u[2] = {0.9953976707, -0.0958304602};
    double rod = rod_force * ((C[0] - D[0]) * u[1] - (C[1] - D[1]) * u[0]);
    double hook_n = (P[0] - D[0]) * n[1] - (P[1] - D[1]) * n[0];
    double hook_t = (P[0] - D[0]) * t[1] - (P[1] - D[1]) * t[0];
    double bar_n = (P[0] - E[0]) * n[1] - (P[1] - E[1]) * n[0];
    double bar_t = (P[0] - E[0]) * t[1] - (P[1] - E[1]) * t[0];
    // hook_n N + hook_t T = rod,   bar_n N + bar_t T = return_torque
    double N = rod * bar_t - hook_t * return_torque, T = hook_n * return_torque - bar_n * rod;
    return T / N;
}

// Is the hook still held after 6 ms?
static bool holds(const char* friction, const char* joint_friction) {
    cJSON* json = run_model(latch, OPTIONS("--set", friction, "--set", joint_friction, "--set",
                                           "trip_time=1000", "--duration", "0.006"));
    assert_exact(json);
    bool held = fabs(result_at(json, "outputs/hook_angle")) < 0.05;
    cJSON_Delete(json);
    return held;
}

// Does the trip bar stay where it is, with ideal pivots?
static bool sticks(double friction) {
    char set[64];
    snprintf(set, sizeof set, "latch_friction=%.9g", friction);
    cJSON* json = run_model(
        latch, OPTIONS("--set", set, "--set", "play=0", "--set", "joint_friction=0", "--set",
                       "settle_torque=0", "--set", "trip_time=1000", "--duration", "0.005"));
    assert_exact(json);
    bool stuck = fabs(result_at(json, "outputs/trip_bar_angle")) < 1e-3;
    cJSON_Delete(json);
    return stuck;
}

static void threshold_of_the_latch_is_that_of_statics(void** state) {
    (void)state;
    double low = 0.104, high = 0.116, needed = fabs(friction_needed(27.95, 1.0));
    assert_between("friction that statics asks for", needed, 0.108, 0.109);
    while (high - low > (long_tests() ? 5e-5 : 1e-3)) {
        double middle = 0.5 * (low + high);
        if (sticks(middle))
            high = middle;
        else
            low = middle;
    }
    assert_between("threshold found", 0.5 * (low + high), 0.99 * needed, 1.01 * needed);
}

// With play the pins settle first; friction in them helps to hold (README of the model).
static void play_moves_the_threshold_within_the_friction_of_the_pins(void** state) {
    (void)state;
    assert_true(holds("latch_friction=0.2", "joint_friction=0.1"));
    assert_true(holds("latch_friction=0.12", "joint_friction=0"));
    assert_false(holds("latch_friction=0.1", "joint_friction=0"));
    assert_false(holds("latch_friction=0.06", "joint_friction=0.1"));
}

static void the_plunger_frees_the_hook(void** state) {
    (void)state;
    cJSON* json = run_model(latch, NULL);
    assert_exact(json);
    assert_between("hook free", result_at(json, "outputs/hook_free_at"), 3e-3, 7e-3);
    assert_no_energy_given(json);
    cJSON_Delete(json);
}

static void closed_breaker_stays_closed(void** state) {
    (void)state;
    cJSON* json = run_model(breaker, OPTIONS("--set", "trip_time=1000", "--duration",
                                             long_tests() ? "0.05" : "0.0014"));
    assert_exact(json);
    // 130 N mm of the contact spring over 17 mm, less the friction of the shaft
    assert_between("contact force", result_at(json, "outputs/contact_force"), 7.0, 7.8);
    assert_between("hook", result_at(json, "outputs/hook_angle"), -0.02, 0.02);
    assert_between("handle", result_at(json, "outputs/handle_angle"), -0.01, 0.01);
    cJSON_Delete(json);
}

// The bar lands on its stop: three points on two freedoms, velocities are unique, impulses are not.
static void ideal_pivots_and_a_bar_on_its_stop_converge(void** state) {
    (void)state;
    const char* friction[] = {"latch_friction=0.09", "latch_friction=0.1", "latch_friction=0.15"};
    for (int k = 0; k < 3; ++k) {
        cJSON* json = run_model(latch, OPTIONS("--set", friction[k], "--set", "play=0", "--set",
                                               "joint_friction=0", "--duration", "0.0005"));
        assert_exact(json);
        cJSON_Delete(json);
    }
}

static void without_friction_at_the_latch_it_opens_by_itself(void** state) {
    (void)state;
    cJSON* json = run_model(breaker, OPTIONS("--set", "trip_time=1000", "--set", "latch_friction=0",
                                             "--set", "settle_torque=0", "--duration", "0.0025"));
    assert_exact(json);
    assert_between("opening", result_at(json, "outputs/opening_time"), 1e-3, 4e-3);
    cJSON_Delete(json);
}

static void tripped_breaker_opens_and_throws_its_handle(void** state) {
    (void)state;
    if (!long_tests()) skip();
    cJSON* json = run_model(breaker, OPTIONS("--duration", "0.014"));
    assert_exact(json);
    assert_between("opening", result_at(json, "outputs/opening_time"), 4e-3, 10e-3);
    assert_between("handle off", result_at(json, "outputs/handle_off_time"), 5e-3, 14e-3);
    assert_between("balance", result_at(json, "energy/balance_error"), -1e-3, 1e-3);
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
        cmocka_unit_test(threshold_of_the_latch_is_that_of_statics),
        cmocka_unit_test(play_moves_the_threshold_within_the_friction_of_the_pins),
        cmocka_unit_test(the_plunger_frees_the_hook),
        cmocka_unit_test(closed_breaker_stays_closed),
        cmocka_unit_test(ideal_pivots_and_a_bar_on_its_stop_converge),
        cmocka_unit_test(without_friction_at_the_latch_it_opens_by_itself),
        cmocka_unit_test(tripped_breaker_opens_and_throws_its_handle),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
