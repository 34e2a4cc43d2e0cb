// Gear-Gupta-Leimkuhler, unified: reference states of a slider-crank with play, no penetration.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <math.h>

#include "app/verify/paper_systems.h"
#include "core/lagrangian.h"
#include "solvers/sim.h"

static LashStepInfo good_step(LashSim* sim) {
    LashStepInfo info = lash_sim_step(sim);
    if (info.outcome != LASH_CONVERGED)
        fail_msg("t = %g: dynamics %g, velocity %g, position %g", lash_sim_time(sim),
                 info.dynamics_error, info.velocity_error, info.position_error);
    return info;
}

static void near_to(double value, double expected, double tolerance) {
    if (fabs(value - expected) <= tolerance) return;
    fail_msg("got %.16g, expected %.16g within %g", value, expected, tolerance);
}

static LashSettings ggl(double h) {
    LashSettings settings = lash_settings();
    settings.scheme = LASH_GGL;
    settings.h = h;
    return settings;
}

// A ball thrown up: the midpoint rule is exact in free flight.
static void free_flight_is_exact(void** state) {
    (void)state;
    LashPaperBall data = lash_paper_ball();
    LashLagrangian* ball = lash_paper_bouncing_ball(&data);
    LashSettings settings = ggl(1e-3);
    LashSim* sim = lash_sim_create(lash_lagrangian_system(ball), &settings);
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    double q0 = q[0], v0 = v[0];
    good_step(sim);
    lash_sim_state(sim, &q, &v);
    double a = (v[0] - v0) / 1e-3;
    for (int i = 1; i < 100; ++i) good_step(sim);
    lash_sim_state(sim, &q, &v);
    near_to(q[0], q0 + v0 * 0.1 + a * 0.005, 1e-12);
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(ball);
}

// [S12], dt = 1e-5, restitution 0.4, 600 steps, rows at the end, grown set; the reference projects
// with N = M^-1, this system with N = 1.
static void the_slider_crank_with_play_reaches_known_states(void** state) {
    (void)state;
    LashPaperSliderCrank data = lash_paper_crank();
    data.e = 0.4;
    data.mu = 0;
    LashLagrangian* crank = lash_paper_slider_crank(&data);
    LashSettings settings = ggl(1e-5);
    LashSim* sim = lash_sim_create(lash_lagrangian_system(crank), &settings);
    int touched = 0;
    for (int i = 0; i < 600; ++i) {
        LashStepInfo info = good_step(sim);
        assert_true(info.penetration <= 1e-10);
        touched += info.contacts;
    }
    assert_true(touched > 0);
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    near_to(q[0], 0.658675683, 3e-7);
    near_to(v[0], 79.4774240, 2e-4);
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(crank);
}

// Ideal: of second order, mass at the explicit midpoint or not.
static void the_ideal_slider_crank_is_of_second_order(void** state) {
    (void)state;
    double angle[3];
    for (int k = 0; k < 3; ++k) {
        LashPaperSliderCrank data = lash_paper_crank();
        data.ideal = true;
        data.mu = 0;
        LashLagrangian* crank = lash_paper_slider_crank(&data);
        double h = k == 2 ? 2e-6 : 1e-4 / (1 + k);
        LashSettings settings = ggl(h);
        LashSim* sim = lash_sim_create(lash_lagrangian_system(crank), &settings);
        for (int i = 0; i < (int)lround(0.02 / h); ++i) good_step(sim);
        const double *q, *v;
        lash_sim_state(sim, &q, &v);
        angle[k] = q[0];
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(crank);
    }
    near_to(log2(fabs(angle[0] - angle[2]) / fabs(angle[1] - angle[2])), 2, 0.1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_flight_is_exact),
        cmocka_unit_test(the_slider_crank_with_play_reaches_known_states),
        cmocka_unit_test(the_ideal_slider_crank_is_of_second_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
