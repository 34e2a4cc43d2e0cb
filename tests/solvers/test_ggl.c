// Gear-Gupta-Leimkuhler, unified: reference states of a slider-crank with play, no penetration.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <math.h>
#include <string.h>

#include "app/verify/paper_systems.h"
#include "core/lagrangian.h"
#include "joints/mechanism.h"
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

typedef struct Variant {
    LashScheme scheme;
    const char *coupling, *rows, *activation, *metric;
} Variant;

static LashSettings settings_of(const Variant* variant, double h) {
    LashSettings set = lash_settings();
    set.scheme = variant->scheme;
    set.h = h;
    const char* name[] = {"coupling", "rows", "activation", "metric"};
    const char* value[] = {variant->coupling, variant->rows, variant->activation, variant->metric};
    for (int i = 0; i < 4; ++i)
        if (value[i] != NULL) assert_true(lash_settings_choose(&set, name[i], value[i]));
    return set;
}

static LashLagrangian* slider_crank(double e, bool ideal) {
    LashPaperSliderCrank data = lash_paper_crank();
    data.e = e;
    data.mu = 0;
    data.ideal = ideal;
    return lash_paper_slider_crank(&data);
}

// [S12], dt = 1e-5; all that is known of a run after `steps`.
typedef struct Known {
    Variant variant;
    double e;
    int steps;
    double angle, speed, energy, violation; // violation < 0: none
} Known;

static void check_known(const Known* known) {
    LashLagrangian* crank = slider_crank(known->e, false);
    LashSettings settings = settings_of(&known->variant, 1e-5);
    LashSim* sim = lash_sim_create(lash_lagrangian_system(crank), &settings);
    double violation = 0;
    for (int i = 0; i < known->steps; ++i) violation = fmax(violation, good_step(sim).penetration);
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    LashEnergy energy = lash_sim_energy(sim);
    near_to(q[0], known->angle, 1e-9 * (1 + fabs(known->angle)));
    near_to(v[0], known->speed, 1e-9 * fabs(known->speed) + 1e-7);
    near_to(energy.kinetic + energy.potential, known->energy, 2e-9);
    if (known->violation < 0)
        assert_true(violation <= 1e-10);
    else
        near_to(violation, known->violation, 1e-3 * known->violation);
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(crank);
}

static void the_slider_crank_with_play_reaches_known_states(void** state) {
    (void)state;
    static const Known known[] = {{{LASH_MOREAU_MIDPOINT, NULL, "midpoint", NULL, NULL},
                                   0.4,
                                   600,
                                   0.658463754,
                                   79.4219675,
                                   7.452981773,
                                   2.585e-6},
                                  {{LASH_GGL, "decoupled", "midpoint", NULL, "unit"},
                                   0.4,
                                   600,
                                   0.658462771,
                                   79.4193432,
                                   7.453025028,
                                   -1},
                                  {{LASH_GGL, "unified", "midpoint", "grown", "unit"},
                                   0.4,
                                   600,
                                   0.658674940,
                                   79.4734501,
                                   7.465162567,
                                   -1},
                                  {{LASH_GGL, "unified", "end", "grown", "mass"},
                                   0.4,
                                   600,
                                   0.658675683,
                                   79.4774240,
                                   7.465109868,
                                   -1},
                                  {{LASH_GGL, "none", "midpoint", NULL, NULL},
                                   0.4,
                                   600,
                                   0.658679689,
                                   79.4709178,
                                   7.465131114,
                                   1.625e-6}};
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k) check_known(&known[k]);
}

// Restitution 0.1, 0.1 s: 10 000 steps over many impacts and closed phases.
static void long_runs_of_the_slider_crank_reach_known_states(void** state) {
    (void)state;
    static const Known known[] = {{{LASH_MOREAU_MIDPOINT, NULL, "midpoint", NULL, NULL},
                                   0.1,
                                   10000,
                                   9.015446114,
                                   136.9419137,
                                   7.261668469,
                                   4.142e-5},
                                  {{LASH_GGL, "decoupled", "midpoint", NULL, "unit"},
                                   0.1,
                                   10000,
                                   9.016867926,
                                   137.0366170,
                                   7.264876733,
                                   -1},
                                  {{LASH_GGL, "none", "midpoint", NULL, NULL},
                                   0.1,
                                   10000,
                                   9.037660133,
                                   138.4409115,
                                   7.305445088,
                                   4.174e-5},
                                  {{LASH_GGL, "unified", "midpoint", "paper", "unit"},
                                   0.1,
                                   10000,
                                   9.039203533,
                                   138.5441940,
                                   7.309222648,
                                   1.208e-6},
                                  {{LASH_GGL, "unified", "midpoint", "grown", "unit"},
                                   0.1,
                                   10000,
                                   9.039142166,
                                   138.5393263,
                                   7.309018116,
                                   -1},
                                  {{LASH_GGL, "unified", "end", "grown", "unit"},
                                   0.1,
                                   10000,
                                   9.038704716,
                                   138.5130089,
                                   7.307945433,
                                   -1}};
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k) check_known(&known[k]);
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

// Orders on the ideal slider-crank: rows at the midpoint cost one, and so do forces with v_n.
static void rows_at_the_midpoint_cost_an_order(void** state) {
    (void)state;
    static const struct {
        Variant variant;
        double slope;
    } known[] = {{{LASH_GGL, "unified", "end", NULL, "mass"}, 2},
                 {{LASH_GGL, "unified", "midpoint", NULL, "unit"}, 1},
                 {{LASH_MOREAU_MIDPOINT, NULL, "end", NULL, NULL}, 1}};
    for (int k = 0; k < 3; ++k) {
        double angle[3];
        for (int i = 0; i < 3; ++i) {
            double h = i == 2 ? 1e-6 : 1e-4 / (1 + i);
            Variant exact = {LASH_GGL, "unified", "end", NULL, "mass"};
            LashLagrangian* crank = slider_crank(0, true);
            LashSettings settings = settings_of(i == 2 ? &exact : &known[k].variant, h);
            LashSim* sim = lash_sim_create(lash_lagrangian_system(crank), &settings);
            for (int n = 0; n < (int)lround(0.02 / h); ++n) good_step(sim);
            const double *q, *v;
            lash_sim_state(sim, &q, &v);
            angle[i] = q[0];
            lash_sim_destroy(sim);
            lash_lagrangian_destroy(crank);
        }
        near_to(log2(fabs(angle[0] - angle[2]) / fabs(angle[1] - angle[2])), known[k].slope, 0.1);
    }
}

// A stick that falls on rough ground: friction never adds energy with the mean velocity of Fremond's
// law, in either scheme, and a resting end stays.
static void friction_works_in_both_schemes(void** state) {
    (void)state;
    static const Variant variant[] = {{LASH_GGL, "unified", "end", NULL, NULL},
                                      {LASH_GGL, "unified", "midpoint", NULL, NULL},
                                      {LASH_GGL, "decoupled", "midpoint", NULL, NULL},
                                      {LASH_MOREAU_MIDPOINT, NULL, "end", NULL, NULL}};
    for (int k = 0; k < 4; ++k) {
        LashPaperStick data = lash_paper_stick();
        data.mu = 0.4;
        data.e = 0.3;
        LashLagrangian* stick = lash_paper_impacting_stick(&data);
        LashSettings settings = settings_of(&variant[k], 1e-4);
        settings.law = LASH_FREMOND;
        LashSim* sim = lash_sim_create(lash_lagrangian_system(stick), &settings);
        int touched = 0;
        for (int i = 0; i < 2000; ++i) touched += good_step(sim).contacts;
        LashEnergy energy = lash_sim_energy(sim);
        assert_true(touched > 5);
        assert_true(energy.contact_work_t < 0);
        assert_true(energy.kinetic + energy.potential < energy.start);
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(stick);
    }
}

static void settings_are_refused_with_a_reason(void** state) {
    (void)state;
    LashSettings set = ggl(1e-5);
    LashError error = {0};
    assert_false(lash_settings_choose(&set, "rows", "nowhere"));
    assert_true(lash_settings_choose(&set, "rows", "mean")); // of another scheme
    assert_false(lash_settings_check(&set, &error));
    assert_string_equal(error.where, "simulation.rows");
    assert_non_null(strstr(error.message, "'midpoint', 'end'"));
    set = ggl(1e-5);
    error = (LashError){0};
    lash_settings_choose(&set, "metric", "unit");
    LashMechanism* mech = lash_mechanism_create();
    assert_false(lash_settings_fit(&set, lash_mechanism_system(mech), &error));
    assert_string_equal(error.where, "simulation.metric");
    lash_mechanism_destroy(mech);
    set.scheme = LASH_MOREAU_MIDPOINT;
    assert_string_equal(lash_settings_unused(&set), "metric");
}

// Corrections per step, slider-crank with play in its guide.
static double corrections(LashScheme scheme, double h) {
    LashPaperSliderCrank data = lash_paper_crank();
    LashLagrangian* crank = lash_paper_slider_crank(&data);
    LashSettings set = lash_settings();
    set.scheme = scheme;
    set.h = h;
    LashSim* sim = lash_sim_create(lash_lagrangian_system(crank), &set);
    enum { STEPS = 3000 };
    double sum = 0;
    for (int i = 0; i < STEPS; ++i) sum += good_step(sim).newton;
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(crank);
    return sum / STEPS;
}

// Counted work instead of time: what a correction costs differs by 15 % at most (docs/schemes.md).
static void steps_cost_no_more_than_their_share(void** state) {
    (void)state;
    static const LashScheme by_forecast[] = {LASH_NEWMARK,           LASH_HHT,
                                             LASH_GENERALIZED_ALPHA, LASH_KRENK_HOGSBERG,
                                             LASH_MOREAU_MIDPOINT,   LASH_TRAPEZOIDAL};
    for (double h = 1e-4; h > 5e-6; h /= 10) {
        double moreau = corrections(LASH_MOREAU_JEAN, h), combined = corrections(LASH_COMBINED, h);
        for (int i = 0; i < 6; ++i)
            if (corrections(by_forecast[i], h) > 1.1 * moreau)
                fail_msg("%s at h = %g", lash_scheme_name(by_forecast[i]), h);
        if (corrections(LASH_GGL, h) > 1.4 * combined) fail_msg("ggl at h = %g", h);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_flight_is_exact),
        cmocka_unit_test(the_slider_crank_with_play_reaches_known_states),
        cmocka_unit_test(long_runs_of_the_slider_crank_reach_known_states),
        cmocka_unit_test(the_ideal_slider_crank_is_of_second_order),
        cmocka_unit_test(rows_at_the_midpoint_cost_an_order),
        cmocka_unit_test(friction_works_in_both_schemes),
        cmocka_unit_test(settings_are_refused_with_a_reason),
        cmocka_unit_test(steps_cost_no_more_than_their_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
