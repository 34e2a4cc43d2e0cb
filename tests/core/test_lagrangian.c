// Lagrangian systems: derivatives against differences, energy identities, the contract of
// core/system.h, and the papers' problems against numbers known from theory.
#include <time.h>
#include "test.h"

#include "app/verify/paper_systems.h"
#include "core/arena.h"
#include "core/lagrangian.h"
#include "core/math3.h"
#include "solvers/sim.h"
#include "tests/system_check.h"

// Checks the system and destroys it.
static void check_lagrangian(LashLagrangian* lagrangian, double spread, double energy_tolerance) {
    check_system(lash_lagrangian_system(lagrangian), spread, energy_tolerance);
    lash_lagrangian_destroy(lagrangian);
}

// ---- The papers' systems ------------------------------------------------------------------------

static void paper_systems_are_consistent(void** state) {
    (void)state;
    check_lagrangian(lash_paper_bouncing_ball(NULL), 1, 1e-9);
    check_lagrangian(lash_paper_linear_oscillator(NULL), 1, 1e-9);
    LashPaperOscillator damped = lash_paper_oscillator();
    damped.damping = 0.1;
    damped.force = -0.3;
    damped.wall = 0.2;
    check_lagrangian(lash_paper_linear_oscillator(&damped), 1, 1e-9);
    check_lagrangian(lash_paper_rocking_block(NULL), 1, 1e-9);
    LashPaperBlock rough = lash_paper_block();
    rough.mu = 0.4;
    check_lagrangian(lash_paper_rocking_block(&rough), 1, 1e-9);
    check_lagrangian(lash_paper_slider_crank(NULL), 1, 1e-9);
    LashPaperSliderCrank crank = lash_paper_crank();
    crank.mu = 0;
    check_lagrangian(lash_paper_slider_crank(&crank), 1, 1e-9);
    crank.ideal = true;
    check_lagrangian(lash_paper_slider_crank(&crank), 1, 1e-9);
    check_lagrangian(lash_paper_impacting_stick(NULL), 1, 1e-9);
    check_lagrangian(lash_paper_slider_on_roller(NULL), 1, 1e-9);
    LashPaperBar soft = lash_paper_bar(); // the real one spoils differences by its stiffness
    soft.modulus = 1e4;
    check_lagrangian(lash_paper_impacting_bar(13, &soft), 1, 1e-8);
    soft.lumped = true;
    check_lagrangian(lash_paper_impacting_bar(16, &soft), 1, 1e-8);
}

static double energy_of(Probe* p) {
    p->s->mass(p->s, p->work, p->q, p->M);
    multiply(p, p->M, p->v, p->plus);
    double T = 0;
    for (int i = 0; i < p->s->nv; ++i) T += 0.5 * p->v[i] * p->plus[i];
    return T + p->s->potential(p->s, p->work, p->t, p->q);
}

// Solves the dense (n x n) system A x = b in place, with pivoting; n <= 4.
static void solve_small(int n, double* A, double* b) {
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i) {
            if (fabs(A[i + n * k]) > fabs(A[pivot + n * k])) pivot = i;
        }
        for (int j = 0; j < n; ++j) {
            double x = A[k + n * j];
            A[k + n * j] = A[pivot + n * j];
            A[pivot + n * j] = x;
        }
        double x = b[k];
        b[k] = b[pivot];
        b[pivot] = x;
        for (int i = k + 1; i < n; ++i) {
            double f = A[i + n * k] / A[k + n * k];
            for (int j = k; j < n; ++j) A[i + n * j] -= f * A[k + n * j];
            b[i] -= f * b[k];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = k + 1; j < n; ++j) b[k] -= A[k + n * j] * b[j];
        b[k] /= A[k + n * k];
    }
}

typedef void Acceleration(Probe* p, double t, const double* q, const double* v, double* a);

// dv/dt = M^-1 F; one dense block
static void acceleration(Probe* p, double t, const double* q, const double* v, double* a) {
    p->s->mass(p->s, p->work, q, p->M);
    p->s->forces(p->s, p->work, t, q, v, a);
    solve_small(p->s->nv, p->M, a);
}

// One classical Runge-Kutta step without contact: error O(h^5).
static void runge_kutta(Probe* p, double h, Acceleration* acceleration_at) {
    enum { N = 4 };
    int n = p->s->nv;
    double q[5][N], v[5][N], a[5][N];
    const double c[5] = {0, 0, 0.5, 0.5, 1};
    assert_true(n <= N);
    for (int k = 1; k <= 4; ++k) {
        for (int i = 0; i < n; ++i) {
            q[k][i] = p->q[i] + (k > 1 ? c[k] * h * v[k - 1][i] : 0);
            v[k][i] = p->v[i] + (k > 1 ? c[k] * h * a[k - 1][i] : 0);
        }
        acceleration_at(p, p->t + c[k] * h, q[k], v[k], a[k]);
    }
    for (int i = 0; i < n; ++i) {
        p->q[i] += h / 6 * (v[1][i] + 2 * v[2][i] + 2 * v[3][i] + v[4][i]);
        p->v[i] += h / 6 * (a[1][i] + 2 * a[2][i] + 2 * a[3][i] + a[4][i]);
    }
    p->t += h;
}

// Flies freely until the first gap of the system closes; returns the time, the contact in which.
static double first_impact(Probe* p, double h, int* which) {
    for (;;) {
        double q[4], v[4], t = p->t;
        memcpy(q, p->q, (size_t)p->s->nq * sizeof(double));
        memcpy(v, p->v, (size_t)p->s->nv * sizeof(double));
        runge_kutta(p, h, acceleration);
        p->s->evaluate(p->s, p->work, p->t, p->q, NULL, p->g, p->g_t, p->G);
        *which = -1;
        for (int i = 0; i < p->list->count; ++i) {
            if (p->g[p->list->item[i].row] <= 0) *which = i;
        }
        if (*which < 0) continue;
        if (h < 1e-14) return p->t;
        memcpy(p->q, q, (size_t)p->s->nq * sizeof(double)); // again with half the step
        memcpy(p->v, v, (size_t)p->s->nv * sizeof(double));
        p->t = t;
        h /= 2;
    }
}

static void slider_crank_starts_with_the_known_energy(void** state) {
    (void)state;
    LashLagrangian* lagrangian = lash_paper_slider_crank(NULL);
    Probe p = probe_create(lash_lagrangian_system(lagrangian));
    check("E0 [J]", energy_of(&p), 7.49554875, 1e-14);
    check("V0 [J]", p.s->potential(p.s, p.work, 0, p.q), 0, 0);
    p.s->evaluate(p.s, p.work, 0, p.q, NULL, p.g, p.g_t, p.G);
    for (int i = 0; i < 4; ++i) check("play [m]", p.g[2 * i], 1e-3, 1e-17);
    check("U_n [m/s]", p.G[0] * 150 - p.G[1] * 75, 0, 0); // aligned: no motion across the guide
    probe_destroy(&p);
    lash_lagrangian_destroy(lagrangian);
}

// The first impact of the exact event-driven solution, 2.6925027520212 ms, with its state.
static void slider_crank_flies_to_its_first_impact(void** state) {
    (void)state;
    LashLagrangian* lagrangian = lash_paper_slider_crank(NULL);
    Probe p = probe_create(lash_lagrangian_system(lagrangian));
    int which;
    double t = first_impact(&p, 1e-6, &which);
    check("t [s]", t, 0.0026925027520212121, 1e-14);
    check("theta1", p.q[0], 0.35530445502774528, 1e-12);
    check("theta2", p.q[1], -0.17150954094017392, 1e-12);
    check("omega1", p.v[0], 109.55768154315023, 1e-9);
    check("omega2", p.v[1], -49.330789961931444, 1e-9);
    check("theta3", p.q[2], 0, 0);
    const double* G = p.G;
    double U = G[0] * p.v[0] + G[1] * p.v[1] + G[2] * p.v[2];
    check("U_n", U, -0.84161232203286864, 1e-10);
    check("energy", energy_of(&p), 7.49554875, 1e-12);
    assert_true(which == 1); // both upper corners close; 2 is the last of them
    probe_destroy(&p);
    lash_lagrangian_destroy(lagrangian);
}

// The tangential row is the motion of the corner along the wall, t = n turned by +90 degrees.
static void slider_crank_corners_slide_along_the_walls(void** state) {
    (void)state;
    LashPaperSliderCrank d = lash_paper_crank();
    LashLagrangian* lagrangian = lash_paper_slider_crank(NULL);
    Probe p = probe_create(lash_lagrangian_system(lagrangian));
    const double corner[4][3] = {{-d.a, d.b, 1}, {d.a, d.b, 1}, {-d.a, -d.b, -1}, {d.a, -d.b, -1}};
    const double q[3] = {0.7, -0.3, 0.02}, v[3] = {3, -5, 2};
    memcpy(p.q, q, sizeof q);
    p.s->evaluate(p.s, p.work, 0, p.q, NULL, p.g, p.g_t, p.G);
    for (int i = 0; i < 4; ++i) {
        double x[2], y[2], u = corner[i][0], w = corner[i][1], side = corner[i][2];
        for (int k = 0; k < 2; ++k) {
            double s = k == 0 ? -1e-6 : 1e-6, a[3];
            for (int j = 0; j < 3; ++j) a[j] = q[j] + s * v[j];
            x[k] = d.l1 * cos(a[0]) + d.l2 * cos(a[1]) + u * cos(a[2]) - w * sin(a[2]);
            y[k] = d.l1 * sin(a[0]) + d.l2 * sin(a[1]) + u * sin(a[2]) + w * cos(a[2]);
        }
        const double* G = p.G + p.list->item[i].offset;
        double U_n = G[0] * v[0] + G[1] * v[1] + G[2] * v[2];
        double U_t = G[3] * v[0] + G[4] * v[1] + G[5] * v[2];
        check("U_n", U_n, -side * (y[1] - y[0]) / 2e-6, 1e-9);
        check("U_t", U_t, side * (x[1] - x[0]) / 2e-6, 1e-9);
        check("gap", p.g[2 * i], d.b + d.c - side * (y[0] + y[1]) / 2, 1e-11);
    }
    probe_destroy(&p);
    lash_lagrangian_destroy(lagrangian);
}

// Acceleration on the constraint: M a - G lambda = F, G'a + (d(G'v)/dq) v = 0.
static void constrained_acceleration(Probe* p, double t, const double* q, const double* v,
                                     double* a) {
    double M[9], F[3], A[16] = {0}, g, g_t, G[3], dGv[3], P = 0;
    p->s->mass(p->s, p->work, q, M);
    p->s->forces(p->s, p->work, t, q, v, F);
    p->s->evaluate(p->s, p->work, t, q, NULL, &g, &g_t, G);
    p->s->contract(p->s, p->work, 0, q, 0, &P, v, NULL, dGv);
    a[3] = 0;
    for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) A[i + 4 * j] = M[i + 3 * j];
        A[3 + 4 * j] = G[j];
        A[j + 12] = -G[j];
        a[j] = F[j];
        a[3] -= dGv[j] * v[j];
    }
    solve_small(4, A, a);
}

// Without play: the published solution of the ideal mechanism at 0.1 s.
static void ideal_slider_crank_turns_as_known(void** state) {
    (void)state;
    LashPaperSliderCrank d = lash_paper_crank();
    d.ideal = true;
    LashLagrangian* lagrangian = lash_paper_slider_crank(&d);
    Probe p = probe_create(lash_lagrangian_system(lagrangian));
    assert_int_equal(p.list->bilateral, 1);
    for (int step = 0; step < 10000; ++step) runge_kutta(&p, 1e-5, constrained_acceleration);
    check("theta1(0.1 s)", p.q[0], 9.1401524169416283, 1e-8);
    check("omega1(0.1 s)", p.v[0], 144.40633208906299, 1e-6);
    check("energy [J]", energy_of(&p), 7.49554875, 1e-9);
    probe_destroy(&p);
    lash_lagrangian_destroy(lagrangian);
}

static void rocking_block_and_stick_meet_the_ground_at_known_times(void** state) {
    (void)state;
    const struct {
        LashLagrangian* lagrangian;
        double t;
        const char* name;
    } cases[] = {
        {lash_paper_rocking_block(NULL), 0.177221938, "B"},
        {lash_paper_impacting_stick(NULL), 0.060274089093133519, "tip"},
    };
    for (int k = 0; k < 2; ++k) {
        Probe p = probe_create(lash_lagrangian_system(cases[k].lagrangian));
        int which;
        check("t [s]", first_impact(&p, 1e-3, &which), cases[k].t, k == 0 ? 5e-10 : 1e-13);
        char text[16];
        p.s->name(p.s, p.list->item[which].id, text, sizeof text);
        assert_string_equal(text, cases[k].name);
        if (k == 1) { // sliding speed of the exact run just before the impact
            double U = p.G[3] * p.v[0] + p.G[4] * p.v[1] + p.G[5] * p.v[2];
            check("U_t [m/s]", U, 0.464858402958, 1e-11);
        }
        probe_destroy(&p);
        lash_lagrangian_destroy(cases[k].lagrangian);
    }
}

// [A12 (9)-(10)] written out
static void rocking_block_has_the_printed_gaps(void** state) {
    (void)state;
    LashLagrangian* lagrangian = lash_paper_rocking_block(NULL);
    Probe p = probe_create(lash_lagrangian_system(lagrangian));
    double l = 1.5, L = 1, y = p.q[1], a = p.q[2];
    p.s->evaluate(p.s, p.work, 0, p.q, NULL, p.g, p.g_t, p.G);
    check("f_A", p.g[0], y - l / 2 * cos(a) + L / 2 * sin(a), 1e-16);
    check("f_B", p.g[1], y - l / 2 * cos(a) - L / 2 * sin(a), 1e-16);
    check("G_A", p.G[2], l / 2 * sin(a) + L / 2 * cos(a), 1e-16);
    check("G_B", p.G[5], l / 2 * sin(a) - L / 2 * cos(a), 1e-16);
    check("E0", energy_of(&p), 9.8154166666666667, 1e-14);
    probe_destroy(&p);
    lash_lagrangian_destroy(lagrangian);
}

static void impacting_bar_has_its_mass_stiffness_and_first_frequency(void** state) {
    (void)state;
    LashPaperBar data = lash_paper_bar();
    for (int lumped = 0; lumped < 2; ++lumped) {
        data.lumped = lumped == 1;
        LashLagrangian* lagrangian = lash_paper_impacting_bar(100, &data);
        Probe p = probe_create(lash_lagrangian_system(lagrangian));
        int n = p.s->nv;
        assert_int_equal(n, 101);
        double mass = data.density * data.area * data.length;
        check("E0", energy_of(&p), 0.5 * mass * 0.01, 1e-14);
        p.s->forces(p.s, p.work, 0, p.q, p.v, p.F);
        check("rigid", largest(p.F, n), 0, 1e-5 * data.modulus * data.area * 1e-14 * 100);
        // Rayleigh quotient of cos(pi x / L): the first free mode, omega = pi c0 / L
        for (int i = 0; i < n; ++i) p.q[i] = p.v[i] = cos(LASH_PI * i / 100.0);
        double V = p.s->potential(p.s, p.work, 0, p.q), T = energy_of(&p) - V;
        double omega = LASH_PI * sqrt(data.modulus / data.density);
        check("omega", sqrt(V / T) / omega, 1, 1e-4);
        probe_destroy(&p);
        lash_lagrangian_destroy(lagrangian);
    }
}

// ---- Linear systems in general ------------------------------------------------------------------

static void waves(const void* context, double t, double* load) {
    const double* amplitude = context;
    load[0] = amplitude[0] * sin(t);
    load[5] = amplitude[1] * cos(3 * t);
}

static void random_banded_system_is_consistent(void** state) {
    (void)state;
    enum { N = 23, W = 3, B = 2 * W + 1 };
    uint64_t seed = 11;
    double M[N * B] = {0}, C[N * B] = {0}, K[N * B] = {0}, load[N], q[N], v[N];
    for (int i = 0; i < N; ++i) {
        load[i] = random_number(&seed);
        q[i] = random_number(&seed);
        v[i] = random_number(&seed);
        for (int j = i; j < N && j <= i + W; ++j) {
            int here = i * B + j - i + W, there = j * B + i - j + W;
            M[here] = M[there] = i == j ? 5 : random_number(&seed);
            K[here] = K[there] = i == j ? 9 : random_number(&seed);
            C[here] = random_number(&seed);
            C[there] = random_number(&seed); // unsymmetric
        }
    }
    const double amplitude[2] = {2, 3};
    LashLinearContact contact[3] = {
        {.kind = LASH_UNILATERAL, .rows = 3, .e = 0.3, .mu = 0.2, .name = "stop"},
        {.kind = LASH_BILATERAL, .rows = 2},
        {.kind = LASH_UNILATERAL, .rows = 1, .name = "end"}};
    contact[0].row[0] = (LashLinearRow){0.4, 2, {22, 1}, {1, -2}};
    contact[0].row[1] = (LashLinearRow){0, 1, {0}, {1.5}};
    contact[0].row[2] = (LashLinearRow){0, 2, {21, 8}, {1, 1}};
    contact[1].row[0] = (LashLinearRow){-0.1, 3, {9, 10, 11}, {1, 2, 3}};
    contact[1].row[1] = (LashLinearRow){0.2, 1, {12}, {1}};
    contact[2].row[0] = (LashLinearRow){1, 1, {22}, {-1}};
    for (int block = 0; block <= 30; block += 3) { // 0: automatic; 24 and more: one block
        LashLinearDef def = lash_linear_def();
        def.n = N;
        def.bandwidth = W;
        def.M = M;
        def.C = C;
        def.K = K;
        def.load = load;
        def.q0 = q;
        def.v0 = v;
        def.load_of_time = waves;
        def.context = amplitude;
        def.context_bytes = sizeof amplitude;
        def.contact = contact;
        def.contacts = 3;
        def.block = block;
        LashLagrangian* lagrangian = lash_linear_create(&def);
        const LashSystem* s = lash_lagrangian_system(lagrangian);
        assert_true(s->constant_mass && s->unit_metric);
        Probe p = probe_create(s);
        assert_int_equal(p.list->item[0].id, 1); // the bilateral one comes first
        assert_int_equal(p.list->bilateral, 1);
        char text[32];
        s->name(s, 0, text, sizeof text);
        assert_string_equal(text, "stop");
        s->name(s, 1, text, sizeof text);
        assert_string_equal(text, "interaction.2");
        s->mass(s, p.work, p.q, p.M); // the blocks are the band
        to_dense(&p, p.M);
        for (int i = 0; i < N; ++i) {
            for (int j = 0; j < N; ++j) {
                double expected = abs(i - j) <= W ? M[i * B + j - i + W] : 0;
                check("M", p.dense[i + N * j], expected, 0);
            }
        }
        probe_destroy(&p);
        check_lagrangian(lagrangian, 1, 1e-9);
    }
}

// ---- Callbacks without derivatives, moving constraints ------------------------------------------

// A bead on a turning arm in polar coordinates (r, a), with a spring, drag and gravity.
static void bead_mass(const LashLagrangianPoint* at, double* M) {
    M[0] = 2;
    M[3] = 2 * at->q[0] * at->q[0];
}

static void bead_force(const LashLagrangianPoint* at, const double* v, double* F) {
    double k = *(const double*)at->context, r = at->q[0], g = 9.81;
    F[0] = 2 * r * v[1] * v[1] - k * (r - 1) - 2 * g * sin(at->q[1]) - 0.3 * v[0];
    F[1] = -4 * r * v[0] * v[1] - 2 * g * r * cos(at->q[1]) + sin(at->t);
}

static double bead_potential(const LashLagrangianPoint* at) {
    double k = *(const double*)at->context, r = at->q[0];
    return 0.5 * k * (r - 1) * (r - 1) + 2 * 9.81 * r * sin(at->q[1]);
}

static LashPower bead_power(const LashLagrangianPoint* at, const double* v) {
    return (LashPower){.external = sin(at->t) * v[1], .damping = -0.3 * v[0] * v[0]};
}

static void bead_driver(const LashLagrangianPoint* at, int which, double* g, double* g_t,
                        double* G) {
    (void)which;
    g[0] = at->q[1] - 0.5 * at->t * at->t;
    if (G != NULL) {
        G[1] = 1;
        g_t[0] = -at->t;
    }
}

static void bead_wall(const LashLagrangianPoint* at, int which, double* g, double* g_t, double* G) {
    double r = at->q[0], c = cos(at->q[1]), s = sin(at->q[1]), w = which;
    g[0] = w - r * c + 0.1 * sin(2 * at->t); // a wall across x that moves
    if (G == NULL) return;
    g_t[0] = 0.2 * cos(2 * at->t);
    G[0] = -c;
    G[1] = r * s;
    G[2] = s;
    G[3] = r * c; // along y
    g_t[1] = 0.01 * r * at->t;
}

static void missing_derivatives_are_made_by_differences(void** state) {
    (void)state;
    const double k = 40;
    LashLagrangianContact contact[3] = {
        {.kind = LASH_UNILATERAL, .rows = 2, .which = 3, .mu = 0.3, .evaluate = bead_wall},
        {.kind = LASH_BILATERAL,
         .rows = 1,
         .prescribed = true,
         .angular = 1,
         .name = "driver",
         .evaluate = bead_driver},
        {.kind = LASH_UNILATERAL, .rows = 2, .which = 5, .e = 0.5, .evaluate = bead_wall}};
    LashLagrangianDef def = lash_lagrangian_def();
    assert_true(def.unit_metric);
    def.n = 2;
    def.q0 = (double[]){1.2, 0.3};
    def.v0 = (double[]){-0.4, 1.1};
    def.context = &k;
    def.context_bytes = sizeof k;
    def.mass = bead_mass;
    def.force = bead_force;
    def.potential = bead_potential;
    def.power = bead_power;
    def.contact = contact;
    def.contacts = 3;
    def.unit_metric = false;
    LashLagrangian* lagrangian = lash_lagrangian_create(&def);
    const LashSystem* s = lash_lagrangian_system(lagrangian);
    assert_false(s->unit_metric);
    Probe p = probe_create(s);
    const LashInteraction* item = p.list->item;
    assert_true(item[0].id == 1 && item[0].prescribed && item[0].angular == 1);
    assert_true(item[1].id == 0 && item[1].mu == 0.3 && item[2].id == 2 && item[2].e == 0.5);
    p.t = 0.7; // exact values, to the 1e-9 that differences give
    s->tangents(s, p.work, p.t, p.q, p.v, p.C, p.K);
    double r = p.q[0], a = p.q[1];
    check("C", p.C[1], 4 * r * p.v[1], 1e-8);
    check("K", p.K[3], -2 * 9.81 * r * sin(a), 1e-8);
    probe_destroy(&p);
    check_lagrangian(lagrangian, 0.3, 1e-7);
}

// The remembered points must never answer for another q or t.
static void values_do_not_depend_on_what_was_asked_before(void** state) {
    (void)state;
    LashLagrangian* lagrangian = lash_paper_slider_crank(NULL);
    const LashSystem* s = lash_lagrangian_system(lagrangian);
    Probe p = probe_create(s);
    uint64_t seed = 3;
    double q[4][3];
    for (int i = 0; i < 12; ++i) q[i / 3][i % 3] = random_number(&seed);
    for (int i = 0; i < 200; ++i) {
        const double* at = q[(int)(2 + 2 * random_number(&seed))];
        LashSystemWork* fresh = s->work_create(s);
        double M[2][9];
        s->mass(s, p.work, at, M[0]);
        s->mass(s, fresh, at, M[1]);
        assert_memory_equal(M[0], M[1], sizeof M[0]);
        s->evaluate(s, p.work, 0, at, NULL, p.g, p.g_t, p.G);
        s->evaluate(s, fresh, 0, at, NULL, p.g2, p.g_t2, p.G2);
        assert_memory_equal(p.G, p.G2, (size_t)s->max_G * sizeof(double));
        assert_memory_equal(p.g, p.g2, (size_t)s->max_rows * sizeof(double));
        s->work_destroy(s, fresh);
    }
    probe_destroy(&p);
    lash_lagrangian_destroy(lagrangian);
}

// ---- Cost ---------------------------------------------------------------------------------------

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds of one evaluation of everything a Newton iteration asks for; the least of several.
static double evaluation_time(const LashSystem* s, int repeats) {
    Probe p = {0};
    size_t nv = (size_t)s->nv, blocks = (size_t)s->pattern.offset[s->pattern.count];
    p.work = s->work_create(s);
    double *q = doubles(nv), *v = doubles(nv), *F = doubles(nv), *M = doubles(blocks),
           *C = doubles(blocks), *K = doubles(blocks), *G = doubles((size_t)s->max_G),
           *g = doubles((size_t)s->max_rows), *g_t = doubles((size_t)s->max_rows), best = 1e9;
    s->initial_state(s, q, v);
    for (int pass = 0; pass < 20; ++pass) {
        double start = now();
        for (int i = 0; i < repeats; ++i) {
            q[0] += 1e-9; // a new point each time
            s->mass(s, p.work, q, M);
            s->forces(s, p.work, 0, q, v, F);
            s->tangents(s, p.work, 0, q, v, C, K);
            s->evaluate(s, p.work, 0, q, NULL, g, g_t, G);
        }
        best = fmin(best, (now() - start) / repeats);
    }
    double* all[] = {q, v, F, M, C, K, G, g, g_t};
    for (int i = 0; i < 9; ++i) lash_free(all[i]);
    s->work_destroy(s, p.work);
    return best;
}

// Prints times; the limits are far from what a loaded machine needs.
static void cost_is_small_and_linear(void** state) {
    (void)state;
    LashLagrangian* crank = lash_paper_slider_crank(NULL);
    double t = evaluation_time(lash_lagrangian_system(crank), 10000);
    print_message("slider-crank: M, F, C, K, g, G at a new point: %.0f ns\n", 1e9 * t);
    assert_true(t < 5e-5);
    lash_lagrangian_destroy(crank);
    double per_element[2];
    for (int k = 0; k < 2; ++k) {
        int elements = k == 0 ? 1000 : 20000;
        LashLagrangian* bar = lash_paper_impacting_bar(elements, NULL);
        per_element[k] = evaluation_time(lash_lagrangian_system(bar), 10) / elements;
        print_message("bar, %d elements: %.1f ns per element\n", elements, 1e9 * per_element[k]);
        lash_lagrangian_destroy(bar);
    }
    assert_true(per_element[1] < 10 * per_element[0]); // quadratic growth gives 20, caches 3
}

// Derivatives that leave the matrix of a step positive definite: those of linear systems are; systems of callbacks do not
// say, and a scheme that asks for them is refused.
static void definite_tangents_are_those_of_linear_systems(void** state) {
    (void)state;
    LashLagrangian* bar = lash_paper_impacting_bar(10, NULL);
    const LashSystem* system = lash_lagrangian_system(bar);
    assert_true(system->definite_tangents != NULL && system->definite_tangents == system->tangents);
    lash_lagrangian_destroy(bar);
    LashLagrangian* crank = lash_paper_slider_crank(NULL);
    LashSettings set = lash_settings();
    LashError error = {0};
    set.scheme = LASH_TRAPEZOIDAL;
    assert_true(lash_settings_fit(&set, lash_lagrangian_system(crank), &error));
    lash_settings_choose(&set, "tangents", "definite");
    assert_false(lash_settings_fit(&set, lash_lagrangian_system(crank), &error));
    assert_string_equal(error.where, "simulation.tangents");
    lash_lagrangian_destroy(crank);
}

RUN(TEST(paper_systems_are_consistent), TEST(slider_crank_starts_with_the_known_energy),
    TEST(slider_crank_flies_to_its_first_impact), TEST(slider_crank_corners_slide_along_the_walls),
    TEST(ideal_slider_crank_turns_as_known),
    TEST(rocking_block_and_stick_meet_the_ground_at_known_times),
    TEST(rocking_block_has_the_printed_gaps),
    TEST(impacting_bar_has_its_mass_stiffness_and_first_frequency),
    TEST(random_banded_system_is_consistent), TEST(missing_derivatives_are_made_by_differences),
    TEST(values_do_not_depend_on_what_was_asked_before),
    TEST(definite_tangents_are_those_of_linear_systems), TEST(cost_is_small_and_linear))
