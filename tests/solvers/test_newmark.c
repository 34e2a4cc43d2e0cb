// Nonsmooth Newmark: reference states, the relation to Moreau-Jean, energy identity step by step,
// second order with joints, also where the mass depends on q.
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
#include "core/math3.h"
#include "solvers/sim.h"
#include "tests/scheme_cases.h"
#include "tests/system_check.h"

static LashSettings newmark(double h, double gamma, double beta) {
    LashSettings settings = lash_settings();
    settings.scheme = LASH_NEWMARK;
    settings.h = h;
    assert_true(lash_settings_set(&settings, "newmark_gamma", gamma));
    assert_true(lash_settings_set(&settings, "newmark_beta", beta));
    settings.forecast = LASH_FORECAST_END;
    return settings;
}

static void good_steps(LashSim* sim, int steps) {
    for (int i = 0; i < steps; ++i) {
        LashStepInfo info = lash_sim_step(sim);
        if (info.outcome != LASH_CONVERGED)
            fail_msg("step %d: dynamics %g, velocity %g", i, info.dynamics_error,
                     info.velocity_error);
    }
}

static void near_to(double value, double expected, double tolerance) {
    if (fabs(value - expected) <= tolerance) return;
    fail_msg("got %.16g, expected %.16g within %g", value, expected, tolerance);
}

// ---- Linear systems -----------------------------------------------------------------------------

enum { N = 4, CONTACTS = 2, BAND = 2 * N - 1 };

typedef struct Linear {
    double M[N * N], C[N * N], K[N * N], load[N], push[N], q[N], v[N];
    int n;
    LashLinearContact contact[CONTACTS];
    LashLagrangian* system;
} Linear;

static void push_of_time(const void* context, double t, double* load) {
    const double* push = context;
    for (int i = 0; i < N; ++i) load[i] = push[i] * sin(3 * t + i);
}

static void to_band(const double* A, double* band) {
    memset(band, 0, N * BAND * sizeof *band);
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) band[i * BAND + j - i + N - 1] = A[i + N * j];
    }
}

static void random_spd(uint64_t* seed, double diagonal, double scale, double* A) {
    double L[N * N];
    for (int i = 0; i < N * N; ++i) L[i] = random_number(seed);
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
            double sum = i == j ? diagonal / scale : 0;
            for (int k = 0; k < N; ++k) sum += L[i + N * k] * L[j + N * k];
            A[i + N * j] = scale * sum;
        }
    }
}

static Linear random_linear(uint64_t seed) {
    Linear s = {.n = N};
    double M[N * BAND], C[N * BAND], K[N * BAND];
    random_spd(&seed, 1, 0.5, s.M);
    random_spd(&seed, 0.01, 0.2, s.C);
    random_spd(&seed, 1, 10, s.K);
    to_band(s.M, M);
    to_band(s.C, C);
    to_band(s.K, K);
    for (int i = 0; i < N; ++i) {
        s.push[i] = 2 * random_number(&seed);
        s.q[i] = 0.1 * random_number(&seed);
        s.v[i] = 2 * random_number(&seed);
    }
    static const char* const names[CONTACTS] = {"one", "two"};
    for (int c = 0; c < CONTACTS; ++c) {
        s.contact[c] =
            (LashLinearContact){.kind = LASH_UNILATERAL, .rows = 1, .e = 0.5, .name = names[c]};
        s.contact[c].row[0] = (LashLinearRow){.g0 = 0.15, .entries = N};
        for (int i = 0; i < N; ++i) {
            s.contact[c].row[0].dof[i] = i;
            s.contact[c].row[0].coefficient[i] = random_number(&seed);
            s.load[i] -= 3 * s.contact[c].row[0].coefficient[i];
        }
    }
    LashLinearDef def = lash_linear_def();
    def.n = N;
    def.bandwidth = N - 1;
    def.M = M;
    def.C = C;
    def.K = K;
    def.load = s.load;
    def.q0 = s.q;
    def.v0 = s.v;
    def.load_of_time = push_of_time;
    def.context = s.push;
    def.context_bytes = sizeof s.push;
    def.contact = s.contact;
    def.contacts = CONTACTS;
    s.system = lash_linear_create(&def);
    return s;
}

static double form(const double* x, const double* A, const double* y) { // x' A y
    double sum = 0;
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) sum += x[i] * A[i + N * j] * y[j];
    }
    return sum;
}

static void two_masses_and_a_wall_reach_known_states(void** state) {
    (void)state;
    static const struct {
        double gamma, beta, q[2], v[2], impulse;
    } known[] = {{0.5,
                  0.25,
                  {-0.00890549228127381, -0.0734803465095135},
                  {-0.15061450467479, 0.0383490846083648},
                  5.19739181958575},
                 {0.7,
                  0.35,
                  {-0.0149931454224171, -0.0731061963971482},
                  {-0.316669423957934, 0.0756077104483592},
                  4.89794511951998}};
    for (int k = 0; k < 2; ++k) {
        LashLagrangian* masses = two_masses();
        LashSettings settings = newmark(0.01, known[k].gamma, known[k].beta);
        LashSim* sim = lash_sim_create(lash_lagrangian_system(masses), &settings);
        double impulse = 0;
        for (int i = 0; i < 100; ++i) {
            good_steps(sim, 1);
            impulse += lash_sim_impulses(sim)[0];
        }
        const double *q, *v;
        lash_sim_state(sim, &q, &v);
        for (int i = 0; i < 2; ++i) {
            near_to(q[i], known[k].q[i], 1e-13);
            near_to(v[i], known[k].v[i], 1e-12);
        }
        near_to(impulse, known[k].impulse, 1e-12);
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(masses);
    }
}

// 2 beta = gamma = theta: q moves with v_{k+1/2}, as in the variant of Moreau-Jean.
static void in_linear_systems_it_is_the_variant_of_moreau_jean(void** state) {
    (void)state;
    static const double theta[] = {0.5, 0.6, 0.8};
    LashPaperOscillator data = lash_paper_oscillator();
    for (int k = 0; k < 3; ++k) {
        LashLagrangian* oscillator = lash_paper_linear_oscillator(&data);
        LashSettings a = newmark(0.01, theta[k], theta[k] / 2), b = lash_settings();
        b.h = a.h;
        b.forecast = a.forecast;
        b.scheme = LASH_MOREAU_JEAN;
        b.theta = theta[k];
        b.variant = true;
        LashSim* one = lash_sim_create(lash_lagrangian_system(oscillator), &a);
        LashSim* other = lash_sim_create(lash_lagrangian_system(oscillator), &b);
        for (int i = 0; i < 200; ++i) {
            good_steps(one, 1);
            good_steps(other, 1);
            const double *q, *v, *q_other, *v_other;
            lash_sim_state(one, &q, &v);
            lash_sim_state(other, &q_other, &v_other);
            near_to(q[0], q_other[0], 1e-13 * (1 + fabs(q_other[0])));
            near_to(v[0], v_other[0], 1e-13 * (1 + fabs(v_other[0])));
        }
        lash_sim_destroy(one);
        lash_sim_destroy(other);
        lash_lagrangian_destroy(oscillator);
    }
}

// a = M^-1 (F - C v - K q) by elimination: N is small.
static void acceleration(const Linear* s, double t, const double* q, const double* v, double* a) {
    double A[N * N], push[N] = {0};
    push_of_time(s->push, t, push);
    memcpy(A, s->M, sizeof A);
    for (int i = 0; i < N; ++i) {
        a[i] = s->load[i] + push[i];
        for (int j = 0; j < N; ++j) a[i] -= s->C[i + N * j] * v[j] + s->K[i + N * j] * q[j];
    }
    for (int k = 0; k < N; ++k) {
        for (int i = k + 1; i < N; ++i) {
            double factor = A[i + N * k] / A[k + N * k];
            for (int j = k; j < N; ++j) A[i + N * j] -= factor * A[k + N * j];
            a[i] -= factor * a[k];
        }
    }
    for (int k = N - 1; k >= 0; --k) {
        for (int j = k + 1; j < N; ++j) a[k] -= A[k + N * j] * a[j];
        a[k] /= A[k + N * k];
    }
}

// Everything right of the equal sign of the identity in newmark.c, less dH, from states alone; also
// against the works that the run books.
static void check_identity(const Linear* s, const LashSettings* set, LashSim* sim, int steps) {
    double gamma = lash_settings_option(set, "newmark_gamma"), h = set->h;
    double extra = 2 * lash_settings_option(set, "newmark_beta") - gamma;
    double q0[N], v0[N], a0[N], a1[N];
    for (int k = 0; k < steps; ++k) {
        double t = lash_sim_time(sim), push0[N] = {0}, push1[N] = {0};
        const double *q, *v;
        lash_sim_state(sim, &q, &v);
        memcpy(q0, q, sizeof q0);
        memcpy(v0, v, sizeof v0);
        LashEnergy before = lash_sim_energy(sim);
        good_steps(sim, 1);
        lash_sim_state(sim, &q, &v);
        LashEnergy after = lash_sim_energy(sim);
        acceleration(s, t, q0, v0, a0);
        acceleration(s, t + h, q, v, a1);
        push_of_time(s->push, t, push0);
        push_of_time(s->push, t + h, push1);
        double dq[N], da[N], v_gamma[N], external = 0, contact = 0;
        for (int i = 0; i < N; ++i) {
            dq[i] = q[i] - q0[i];
            da[i] = a1[i] - a0[i];
            v_gamma[i] = gamma * v[i] + (1 - gamma) * v0[i];
            external += dq[i] * (gamma * push1[i] + (1 - gamma) * push0[i]);
        }
        const double* P = lash_sim_impulses(sim);
        for (int c = 0; c < CONTACTS; ++c) {
            for (int i = 0; i < N; ++i)
                contact += P[c] * s->contact[c].row[0].coefficient[i] * 0.5 * (v0[i] + v[i]);
        }
        double damping = -form(dq, s->C, v_gamma);
        double dH = after.kinetic + after.potential - before.kinetic - before.potential +
                    h * h / 4 * extra * (form(a1, s->M, a1) - form(a0, s->M, a0));
        double right =
            contact - (gamma - 0.5) * (form(dq, s->K, dq) + h * h / 2 * extra * form(da, s->M, da));
        double size = 1 + fabs(after.kinetic) + fabs(after.potential);
        near_to(dH - external - damping, right, 1e-12 * size);
        near_to(after.external_work - before.external_work, external, 1e-12 * size);
        near_to(after.damping_work - before.damping_work, damping, 1e-12 * size);
        near_to(after.contact_work_n - before.contact_work_n, contact, 1e-12 * size);
        assert_true(contact <= 1e-13); // U_k <= 0 of every active contact
    }
}

static void the_energy_identity_holds_in_every_step(void** state) {
    (void)state;
    static const double rule[][2] = {{0.5, 0.25}, {0.6, 0.3}, {0.5, 0.4}, {0.6, 0.4}};
    for (int k = 0; k < 12; ++k) {
        Linear linear = random_linear(7 + (uint64_t)k);
        LashSettings set = newmark(0.013, rule[k % 4][0], rule[k % 4][1]);
        set.tolerance_velocity = 1e-13;
        set.tolerance_solver = 1e-15;
        LashSim* sim = lash_sim_create(lash_lagrangian_system(linear.system), &set);
        check_identity(&linear, &set, sim, 100);
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(linear.system);
    }
}

// ---- Order --------------------------------------------------------------------------------------

// A bead on the line x = 1 in polar coordinates (r, phi): the mass depends on q, the row turns. It
// falls freely along the line, y = v t - g t^2 / 2.
static const double GRAVITY = 10;

static void polar_mass(const LashLagrangianPoint* at, double* M) {
    M[0] = 1;
    M[3] = at->q[0] * at->q[0];
}
static void polar_force(const LashLagrangianPoint* at, const double* v, double* F) {
    double r = at->q[0], phi = at->q[1];
    F[0] = r * v[1] * v[1] - GRAVITY * sin(phi);
    F[1] = -2 * r * v[0] * v[1] - GRAVITY * r * cos(phi);
}
static void line(const LashLagrangianPoint* at, int which, double* g, double* g_t, double* G) {
    (void)which;
    (void)g_t;
    g[0] = at->q[0] * cos(at->q[1]) - 1;
    if (G == NULL) return;
    G[0] = cos(at->q[1]);
    G[1] = -at->q[0] * sin(at->q[1]);
}

static double error_of_bead(double h, LashDirection direction) {
    static const double q0[] = {1, 0}, v0[] = {0, 2};
    LashLagrangianContact joint = {
        .kind = LASH_BILATERAL, .rows = 1, .name = "line", .evaluate = line};
    LashLagrangianDef def = lash_lagrangian_def();
    def.n = 2;
    def.q0 = q0;
    def.v0 = v0;
    def.mass = polar_mass;
    def.force = polar_force;
    def.contact = &joint;
    def.contacts = 1;
    LashLagrangian* bead = lash_lagrangian_create(&def);
    LashSettings set = newmark(h, 0.5, 0.25);
    set.direction = direction;
    LashSim* sim = lash_sim_create(lash_lagrangian_system(bead), &set);
    good_steps(sim, (int)lround(0.5 / h));
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    double error = fabs(q[0] * sin(q[1]) - (2 * 0.5 - GRAVITY * 0.125));
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(bead);
    return error;
}

static void it_is_of_second_order_where_mass_and_joint_turn(void** state) {
    (void)state;
    double coarse = error_of_bead(0.005, LASH_AT_MIDPOINT);
    double fine = error_of_bead(0.0025, LASH_AT_MIDPOINT);
    double slope = log2(coarse / fine);
    if (!(slope > 1.9 && slope < 2.1)) fail_msg("errors %g, %g: slope %g", coarse, fine, slope);
}

// A pendulum in (x, y), from the horizontal.
static void unit_mass(const LashLagrangianPoint* at, double* M) {
    (void)at;
    M[0] = M[3] = 1;
}
static void weight(const LashLagrangianPoint* at, const double* v, double* F) {
    (void)at;
    (void)v;
    F[1] = -GRAVITY;
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

static double height_of_pendulum(double h, LashDirection direction) {
    static const double q0[] = {1, 0};
    LashLagrangianContact joint = {
        .kind = LASH_BILATERAL, .rows = 1, .name = "rod", .evaluate = rod};
    LashLagrangianDef def = lash_lagrangian_def();
    def.n = 2;
    def.q0 = q0;
    def.constant_mass = true;
    def.mass = unit_mass;
    def.force = weight;
    def.contact = &joint;
    def.contacts = 1;
    LashLagrangian* pendulum = lash_lagrangian_create(&def);
    LashSettings set = newmark(h, 0.5, 0.25);
    set.direction = direction;
    LashSim* sim = lash_sim_create(lash_lagrangian_system(pendulum), &set);
    good_steps(sim, (int)lround(1 / h));
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    double height = q[1];
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(pendulum);
    return height;
}

static void on_what_turns_impulses_at_the_end_cost_an_order(void** state) {
    (void)state;
    double exact = height_of_pendulum(1.0 / 20000, LASH_AT_MIDPOINT), slope[2];
    static const LashDirection direction[] = {LASH_AT_MIDPOINT, LASH_AT_END};
    for (int k = 0; k < 2; ++k) {
        double coarse = fabs(height_of_pendulum(1.0 / 200, direction[k]) - exact);
        slope[k] = log2(coarse / fabs(height_of_pendulum(1.0 / 400, direction[k]) - exact));
    }
    near_to(slope[0], 2, 0.1);
    near_to(slope[1], 1, 0.2);
}

// Ballard's ball comes to rest with the forecast `free`; with `end` it keeps 2/3 a h.
static void rest_after_an_accumulation_depends_on_the_forecast(void** state) {
    (void)state;
    static const LashForecast forecast[] = {LASH_FORECAST_FREE, LASH_FORECAST_END};
    LashPaperBall data = lash_paper_ball();
    double h = 0.00505, largest[2] = {0};
    for (int k = 0; k < 2; ++k) {
        LashLagrangian* ball = lash_paper_bouncing_ball(&data);
        LashSettings set = newmark(h, 0.5, 0.25);
        set.forecast = forecast[k];
        LashSim* sim = lash_sim_create(lash_lagrangian_system(ball), &set);
        good_steps(sim, 950);
        for (int i = 0; i < 40; ++i) {
            const double *q, *v;
            good_steps(sim, 1);
            lash_sim_state(sim, &q, &v);
            largest[k] = fmax(largest[k], fabs(v[0]));
        }
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(ball);
    }
    assert_true(largest[0] < 1e-12);
    near_to(largest[1], 2.0 / 3 * 2 * h, 1e-9);
}

// ---- Settings -----------------------------------------------------------------------------------

static void settings_of_other_schemes_are_told(void** state) {
    (void)state;
    LashSettings set = newmark(0.01, 0.6, 0.3);
    LashError error = {0};
    assert_true(lash_settings_check(&set, &error));
    assert_null(lash_settings_unused(&set));
    set.theta = 0.7;
    assert_string_equal(lash_settings_unused(&set), "theta");
    set.theta = 0.5;
    lash_settings_set(&set, "newmark_beta", 0.28); // below gamma/2 energy can grow
    assert_false(lash_settings_check(&set, &error));
    assert_string_equal(error.where, "simulation.newmark_beta");
    set = lash_settings();
    lash_settings_set(&set, "newmark_gamma", 0.6);
    assert_string_equal(lash_settings_unused(&set), "newmark_gamma");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_masses_and_a_wall_reach_known_states),
        cmocka_unit_test(in_linear_systems_it_is_the_variant_of_moreau_jean),
        cmocka_unit_test(the_energy_identity_holds_in_every_step),
        cmocka_unit_test(it_is_of_second_order_where_mass_and_joint_turn),
        cmocka_unit_test(on_what_turns_impulses_at_the_end_cost_an_order),
        cmocka_unit_test(rest_after_an_accumulation_depends_on_the_forecast),
        cmocka_unit_test(settings_of_other_schemes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
