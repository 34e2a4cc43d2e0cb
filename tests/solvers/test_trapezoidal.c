// Linearly implicit trapezoidal rule without events, against closed forms: stiff modes, a pendulum,
// a block that slides to a stop.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <math.h>

#include "core/lagrangian.h"
#include "solvers/sim.h"

static void good_steps(LashSim* sim, int steps) {
    for (int i = 0; i < steps; ++i)
        if (lash_sim_step(sim).outcome != LASH_CONVERGED) fail_msg("step %d", i);
}

static void near_to(double value, double expected, double tolerance) {
    if (fabs(value - expected) <= tolerance) return;
    fail_msg("got %.16g, expected %.16g within %g", value, expected, tolerance);
}

static LashSettings trapezoidal(double h) {
    LashSettings settings = lash_settings();
    settings.scheme = LASH_TRAPEZOIDAL;
    settings.h = h;
    return settings;
}

// v' = -lambda v: multiplied by (1 - h lambda / 2) / (1 + h lambda / 2) in every step.
static void a_stiff_mode_flips_its_sign(void** state) {
    (void)state;
    static const double lambda[] = {10, 1e8}, one = 1;
    for (int k = 0; k < 2; ++k) {
        LashLinearDef def = lash_linear_def();
        def.n = 1;
        def.M = &one;
        def.C = &lambda[k];
        def.v0 = &one;
        LashLagrangian* mode = lash_linear_create(&def);
        LashSettings settings = trapezoidal(1e-3);
        LashSim* sim = lash_sim_create(lash_lagrangian_system(mode), &settings);
        good_steps(sim, 1);
        const double *q, *v;
        lash_sim_state(sim, &q, &v);
        double half = 0.5e-3 * lambda[k];
        near_to(v[0], (1 - half) / (1 + half), 1e-9);
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(mode);
    }
}

static void unit_mass(const LashLagrangianPoint* at, double* M) {
    (void)at;
    M[0] = M[3] = 1;
}
static void weight(const LashLagrangianPoint* at, const double* v, double* F) {
    (void)at;
    (void)v;
    F[1] = -10;
}
static double height(const LashLagrangianPoint* at) {
    return 10 * at->q[1];
}
static void rod(const LashLagrangianPoint* at, int which, double* g, double* g_t, double* G) {
    (void)which;
    (void)g_t;
    double length = hypot(at->q[0], at->q[1]);
    g[0] = length - 1;
    if (G == NULL) return;
    G[0] = at->q[0] / length;
    G[1] = at->q[1] / length;
}

// From the horizontal: at the lowest point v^2 = 2 g; the energy tells the error at any time.
static double energy_error(double h) {
    static const double q0[] = {1, 0};
    LashLagrangianContact joint = {
        .kind = LASH_BILATERAL, .rows = 1, .name = "rod", .evaluate = rod};
    LashLagrangianDef def = lash_lagrangian_def();
    def.n = 2;
    def.q0 = q0;
    def.constant_mass = true;
    def.mass = unit_mass;
    def.force = weight;
    def.potential = height;
    def.contact = &joint;
    def.contacts = 1;
    LashLagrangian* pendulum = lash_lagrangian_create(&def);
    LashSettings settings = trapezoidal(h);
    LashSim* sim = lash_sim_create(lash_lagrangian_system(pendulum), &settings);
    good_steps(sim, (int)lround(0.5 / h));
    LashEnergy energy = lash_sim_energy(sim);
    double error = fabs(energy.kinetic + energy.potential - energy.start);
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(pendulum);
    return error;
}

static void a_pendulum_is_of_second_order(void** state) {
    (void)state;
    double coarse = energy_error(1.0 / 200), fine = energy_error(1.0 / 400);
    double slope = log2(coarse / fine);
    if (!(slope > 1.8)) fail_msg("errors %g, %g: slope %g", coarse, fine, slope);
}

// On the floor with mu = 0.3 and g = 10: v = v0 - 3 t, exact in every step; then rest, exactly.
static void a_block_slides_to_a_stop(void** state) {
    (void)state;
    static const double M[] = {0, 1, 0, 0, 1, 0}, load[] = {0, -10}, v0[] = {1, 0};
    LashLinearContact floor = {.kind = LASH_UNILATERAL, .rows = 2, .mu = 0.3, .name = "floor"};
    floor.row[0] = (LashLinearRow){.entries = 1, .dof = {1}, .coefficient = {1}};
    floor.row[1] = (LashLinearRow){.entries = 1, .dof = {0}, .coefficient = {1}};
    LashLinearDef def = lash_linear_def();
    def.n = 2;
    def.bandwidth = 1;
    def.M = M;
    def.load = load;
    def.v0 = v0;
    def.contact = &floor;
    def.contacts = 1;
    LashLagrangian* block = lash_linear_create(&def);
    LashSettings settings = trapezoidal(1e-3);
    LashSim* sim = lash_sim_create(lash_lagrangian_system(block), &settings);
    const double *q, *v;
    good_steps(sim, 200);
    lash_sim_state(sim, &q, &v);
    near_to(v[0], 1 - 3 * 0.2, 1e-11);
    near_to(q[0], 0.2 - 1.5 * 0.04, 1e-11);
    near_to(q[1], 0, 1e-12);
    good_steps(sim, 200);
    lash_sim_state(sim, &q, &v);
    near_to(v[0], 0, 2e-3); // sticks on the mean velocity: within a step's change of it
    near_to(q[0], 1.0 / 6, 1e-5);
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(block);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stiff_mode_flips_its_sign),
        cmocka_unit_test(a_pendulum_is_of_second_order),
        cmocka_unit_test(a_block_slides_to_a_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
