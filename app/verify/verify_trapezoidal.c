// Claims B-01 to B-29 of [P06] Potra, Anitescu, Gavrea and Trinkle: the linearly implicit trapezoidal rule with
// events and Poisson impacts.
//
// Scheme I of the paper is `rows: end`, scheme II `rows: mean`; the paper's runs locate collisions by
// interpolation and do not stabilise. Its formulas carry misprints: solvers/schemes/trapezoidal_leg.c.
#include <math.h>
#include <string.h>

#include "app/verify/potra_systems.h"
#include "app/verify/verify_internal.h"
#include "core/arena.h"
#include "core/math3.h"
#include "joints/mechanism.h"
#include "solvers/cone/lcp.h"
#include "solvers/schemes/trapezoidal.h"

typedef struct Rule {
    const char *rows, *locate;
    bool stabilize, events;
} Rule;
static const Rule paper = {"mean", "interpolate", false, true};
static const Rule ours = {"mean", "shorten", true, true};

static LashSettings settings_of(const Rule* rule, double h) {
    LashSettings set = verify_settings(LASH_TRAPEZOIDAL, h);
    lash_settings_choose(&set, "rows", rule->rows);
    lash_settings_choose(&set, "locate", rule->locate);
    lash_settings_set(&set, "stabilize", rule->stabilize);
    lash_settings_set(&set, "events", rule->events);
    return set;
}

static bool run_steps(LashSim* sim, long steps) {
    for (long i = 0; i < steps; ++i)
        if (lash_sim_step(sim).outcome != LASH_CONVERGED) return false;
    return true;
}

// ---- Order --------------------------------------------------------------------------------------

// A pendulum in its angle, from 120 degrees.
static void one(const LashLagrangianPoint* at, double* M) {
    (void)at;
    M[0] = 1;
}
static void swing(const LashLagrangianPoint* at, const double* v, double* F) {
    (void)v;
    F[0] = -9.81 * sin(at->q[0]);
}
static void swing_tangents(const LashLagrangianPoint* at, const double* v, double* dFdv,
                           double* dFdq) {
    (void)v;
    (void)dFdv;
    dFdq[0] = -9.81 * cos(at->q[0]);
}

// Height of a heavy top on a ball joint, in maximal coordinates, after 0.1 s.
static double top_height(double h) {
    LashMechanism* mech = lash_mechanism_create();
    LashBodyDef top = lash_body_def();
    top.name = "top";
    top.mass = 1;
    top.inertia = mat3_diagonal(0.02, 0.02, 0.01);
    top.world_body.rot = quat_from_axis_angle(vec3(1, 0, 0), 0.6);
    top.world_body.r = quat_rotate(top.world_body.rot, vec3(0, 0, 0.2));
    top.omega = vec3(0, 0, 60);
    LashJointDef ball = lash_joint_def();
    ball.type = LASH_SPHERICAL;
    ball.name = "ball";
    ball.body_a = lash_mechanism_ground(mech);
    ball.body_b = lash_mechanism_add_body(mech, &top);
    ball.b_joint.r = vec3(0, 0, -0.2);
    lash_mechanism_add_joint(mech, &ball);
    lash_mechanism_set_gravity(mech, vec3(0, 0, -9.81));
    LashSettings set = settings_of(&ours, h);
    LashSim* sim = verify_sim(lash_mechanism_system(mech), &set);
    bool good = run_steps(sim, lround(0.1 / h));
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    double height = good ? q[2] : INFINITY;
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
    return height;
}

static void b01_order(Verdict* verdict) {
    static const double start = 2.0943951023931954923;
    double h[3] = {0.02, 0.01, 0.005}, error_q[3], error_v[3];
    for (int k = 0; k < 3; ++k) {
        LashLagrangianDef def = lash_lagrangian_def();
        def.n = 1;
        def.q0 = &start;
        def.constant_mass = true;
        def.mass = one;
        def.force = swing;
        def.force_tangents = swing_tangents;
        LashLagrangian* model = lash_lagrangian_create(&def);
        LashSettings set = settings_of(&ours, h[k]);
        LashSim* sim = verify_sim(lash_lagrangian_system(model), &set);
        bool good = run_steps(sim, lround(0.2 / h[k]));
        const double *q, *v;
        lash_sim_state(sim, &q, &v);
        error_q[k] = good ? fabs(q[0] - 1.9218542870030653631) : INFINITY;
        error_v[k] = fabs(v[0] + 1.7501000138877660211);
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(model);
    }
    verdict_range(verdict, "pendulum, slope of q", fitted_slope(3, h, error_q), 1.85, 2.15);
    verdict_range(verdict, "of v", fitted_slope(3, h, error_v), 1.85, 2.15);
    double limit = top_height(1e-5), step[3] = {1e-3, 5e-4, 2.5e-4}, error[3];
    for (int k = 0; k < 3; ++k) error[k] = fabs(top_height(step[k]) - limit);
    verdict_range(verdict, "heavy top, slope", fitted_slope(3, step, error), 1.85, 2.15);
}

static void b02_stiff(Verdict* verdict) {
    static const double lambda = 1e8, unit = 1, h[2] = {1e-6, 1e-2};
    for (int k = 0; k < 2; ++k) {
        LashLinearDef def = lash_linear_def();
        def.n = 1;
        def.M = &unit;
        def.C = &lambda;
        def.v0 = &unit;
        LashLagrangian* model = lash_linear_create(&def);
        LashSettings set = settings_of(&ours, h[k]);
        LashSim* sim = verify_sim(lash_lagrangian_system(model), &set);
        const double *q, *v;
        double half = h[k] * lambda / 2, exact = (1 - half) / (1 + half);
        bool good = run_steps(sim, 1);
        lash_sim_state(sim, &q, &v);
        verdict_add(verdict, good && fabs(v[0] - exact) <= 1e-9, "h=%g: %.9f", h[k], v[0]);
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(model);
    }
}

// ---- Double pendulum with a wall ----------------------------------------------------------------

typedef struct Pendulum {
    double error, joint[2]; // |q(T) - exact|; of the joints at T
    double first, kinetic;  // first impact; largest kinetic energy
    double change;          // largest change of energy in a step without event
    int impacts;
    bool failed;
} Pendulum;

static double kinetic_of(const double* v) {
    return 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3]);
}

static void look_at_step(LashSim* sim, double* E, Pendulum* pendulum) {
    const double *q, *v;
    int count, found = 0;
    const LashEvent* event = lash_sim_events(sim, &count);
    for (int i = 0; i < count; ++i) {
        if (event[i].kind != LASH_EVENT_IMPACT) continue;
        if (pendulum->impacts++ == 0) pendulum->first = event[i].t;
        ++found;
    }
    lash_sim_state(sim, &q, &v);
    double now = kinetic_of(v) + 9.81 * (q[1] + q[3]);
    if (found == 0) pendulum->change = fmax(pendulum->change, fabs(now - *E));
    *E = now;
    pendulum->kinetic = fmax(pendulum->kinetic, kinetic_of(v));
}

static Pendulum run_pendulum(const Rule* rule, double h) {
    static const double exact[4] = {0.021946257563808044383, -0.9997591518855643855,
                                    0.02385130950937267283, -1.9997573372724603254};
    LashLagrangian* model = potra_double_pendulum();
    LashSettings set = settings_of(rule, h);
    LashSim* sim = verify_sim(lash_lagrangian_system(model), &set);
    Pendulum p = {0};
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    double E = 9.81 * (q[1] + q[3]);
    for (long i = 0; i < lround(2.5 / h) && !p.failed; ++i) {
        p.failed = lash_sim_step(sim).outcome != LASH_CONVERGED;
        if (!p.failed) look_at_step(sim, &E, &p);
    }
    lash_sim_state(sim, &q, &v);
    for (int i = 0; i < 4; ++i) p.error += (q[i] - exact[i]) * (q[i] - exact[i]);
    p.error = p.failed ? INFINITY : sqrt(p.error);
    p.joint[0] = fabs(q[0] * q[0] + q[1] * q[1] - 1);
    p.joint[1] = fabs((q[2] - q[0]) * (q[2] - q[0]) + (q[3] - q[1]) * (q[3] - q[1]) - 1);
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(model);
    return p;
}

enum { COLUMN = 7 }; // h = 2^-5 .. 2^-11
static void pendulum_column(int what, double* value) {
    for (int k = 0; k < COLUMN; ++k) {
        Pendulum p = run_pendulum(&paper, ldexp(1, -5 - k));
        value[k] = what == 0 ? p.error : p.joint[what - 1];
    }
}

// Ours by SCHEMES to 1e-4, printed to `percent`.
static void check_column(Verdict* verdict, int what, const double* reference, const double* printed,
                         double percent) {
    double value[COLUMN];
    pendulum_column(what, value);
    for (int k = 0; k < COLUMN; ++k)
        verdict_add(verdict,
                    fabs(value[k] / reference[k] - 1) <= 1e-4 &&
                        fabs(value[k] / printed[k] - 1) <= percent / 100,
                    "2^-%d: %.4e", 5 + k, value[k]);
}

static void b05_error(Verdict* verdict) {
    static const double reference[COLUMN] = {2.374025e-3, 6.103633e-4, 1.567907e-4, 3.911523e-5,
                                             9.785694e-6, 2.514242e-6, 6.110196e-7};
    static const double printed[COLUMN] = {2.38e-3, 6.14e-4, 1.54e-4, 3.95e-5,
                                           1.01e-5, 2.42e-6, 6.15e-7};
    check_column(verdict, 0, reference, printed, 5);
}
static void b06_ratios(Verdict* verdict) {
    double value[COLUMN];
    pendulum_column(0, value);
    for (int k = 0; k + 1 < COLUMN; ++k)
        verdict_add(verdict, value[k] / value[k + 1] > 3.6 && value[k] / value[k + 1] < 4.4, "%.2f",
                    value[k] / value[k + 1]);
}
static void b07_joint(Verdict* verdict) {
    static const double reference[COLUMN] = {1.265208e-3, 3.137696e-4, 7.830699e-5, 1.950024e-5,
                                             4.878354e-6, 1.220760e-6, 3.054159e-7};
    static const double printed[COLUMN] = {1.27e-3, 3.14e-4, 7.82e-5, 1.95e-5,
                                           4.88e-6, 1.22e-6, 3.05e-7};
    check_column(verdict, 1, reference, printed, 1);
}
static void b08_joint(Verdict* verdict) {
    static const double reference[COLUMN] = {3.185365e-3, 8.273413e-4, 2.131977e-4, 5.459421e-5,
                                             1.375569e-5, 3.439734e-6, 8.599901e-7};
    static const double printed[COLUMN] = {3.18e-3, 8.29e-4, 2.14e-4, 5.48e-5,
                                           1.37e-5, 3.44e-6, 8.60e-7};
    check_column(verdict, 2, reference, printed, 1);
}
static void b09_ratios(Verdict* verdict) {
    static const double printed[2][6] = {{4.04, 4.01, 4.00, 4.00, 4.00, 4.01},
                                         {3.84, 3.88, 3.90, 3.99, 3.99, 4.00}};
    for (int j = 0; j < 2; ++j) {
        double value[COLUMN], worst = 0;
        pendulum_column(1 + j, value);
        for (int k = 0; k + 1 < COLUMN; ++k)
            worst = fmax(worst, fabs(value[k] / value[k + 1] - printed[j][k]));
        verdict_add(verdict, worst <= 0.05, "joint %d: ratios off by at most %.3f", j + 1, worst);
    }
}

// The first impact of the exact motion to 1e-10 s: the limit of the errors below, which fall by 4.
static const double first_impact = 0.5452299438;

static void b11_impacts(Verdict* verdict) {
    static const Rule rule = {"mean", "shorten", false, true};
    double h[COLUMN], error[COLUMN], change = 0;
    bool good = true;
    for (int k = 0; k < COLUMN; ++k) {
        h[k] = ldexp(1, -5 - k);
        Pendulum p = run_pendulum(&rule, h[k]);
        error[k] = p.failed ? INFINITY : fabs(p.first - first_impact);
        good = good && p.impacts == 5;
        change = fmax(change, p.change);
    }
    verdict_add(verdict, good && fabs(error[0] / 4.64e-4 - 1) <= 0.01, "2^-5: %.2e s", error[0]);
    verdict_add(verdict, good && fabs(error[6] / 1.13e-7 - 1) <= 0.01, "2^-11: %.2e s", error[6]);
    verdict_range(verdict, "slope of the impact time", fitted_slope(COLUMN, h, error), 1.95, 2.05);
    verdict_add(verdict, change <= 1e-12, "dE of a step without event %.1e J", change);
}

static void b21_bounded(Verdict* verdict) {
    double kinetic[2];
    for (int k = 0; k < 2; ++k) kinetic[k] = run_pendulum(&ours, ldexp(1, -8 - 2 * k)).kinetic;
    verdict_add(verdict, fabs(kinetic[0] / kinetic[1] - 1) <= 0.005, "%.4f and %.4f J", kinetic[0],
                kinetic[1]);
}

static void b23_joints(Verdict* verdict) {
    static const Rule rule[2] = {{"mean", "shorten", false, true}, {"mean", "shorten", true, true}};
    static const double low[2] = {1.9, 2.7}, high[2] = {2.1, 3.2};
    for (int s = 0; s < 2; ++s) {
        double h[4], joint[2][4];
        for (int k = 0; k < 4; ++k) {
            h[k] = ldexp(1, -6 - k);
            Pendulum p = run_pendulum(&rule[s], h[k]);
            for (int j = 0; j < 2; ++j) joint[j][k] = p.joint[j];
        }
        for (int j = 0; j < 2; ++j)
            verdict_range(verdict, s == 0 ? "slope" : "stabilised", fitted_slope(4, h, joint[j]),
                          low[s], high[s]);
    }
}

// ---- Block on a table ---------------------------------------------------------------------------

typedef struct Block {
    double x, v, change; // at the end; time of the first event
    double alternation;  // largest |v_{l+1} + v_l| from 1 to 2 s, in stiction
    double rest;         // largest |v| there
    bool failed;
} Block;

static Block run_block(const Rule* rule, double h, double T) {
    LashLagrangian* model = potra_block();
    LashSettings set = settings_of(rule, h);
    LashSim* sim = verify_sim(lash_lagrangian_system(model), &set);
    Block b = {0};
    double last = 0;
    for (long i = 0; i < lround(T / h) && !b.failed; ++i) {
        const double *q, *v;
        int count;
        b.failed = lash_sim_step(sim).outcome != LASH_CONVERGED;
        const LashEvent* event = lash_sim_events(sim, &count);
        if (count > 0 && b.change == 0) b.change = event[0].t;
        lash_sim_state(sim, &q, &v);
        bool sticks = lash_sim_time(sim) > 1 && lash_sim_time(sim) < 2;
        if (sticks) b.rest = fmax(b.rest, fabs(v[0]));
        if (sticks) b.alternation = fmax(b.alternation, fabs(v[0] + last));
        last = v[0];
        b.x = q[0];
        b.v = v[0];
    }
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(model);
    return b;
}

// The reference to 2e-4; what is printed to half of its last digit, up to entry `exact`.
static void check_block(Verdict* verdict, const char* rows, const double* reference,
                        const double* printed, int exact) {
    Rule rule = {rows, "shorten", true, false};
    double h[6], error[6];
    for (int k = 0; k < 6; ++k) {
        h[k] = ldexp(1, -5 - k);
        Block b = run_block(&rule, h[k], 2);
        error[k] = b.failed ? INFINITY : fabs(b.x - 3.0043485697268652);
        bool good = fabs(error[k] / reference[k] - 1) <= 2e-4;
        good = good && (k >= exact || fabs(error[k] / printed[k] - 1) <= 5e-4);
        verdict_add(verdict, good, "2^-%d: %.4e", 5 + k, error[k]);
    }
    verdict_range(verdict, "slope", fitted_slope(6, h, error), 1.85, 2.15);
}

static void b13_block(Verdict* verdict) {
    static const double reference[6] = {5.1966e-5, 1.0254e-5, 2.5546e-6,
                                        6.5515e-7, 1.5494e-7, 4.4085e-8};
    static const double printed[6] = {5.197e-5, 1.025e-5, 2.555e-6, 6.551e-7, 1.549e-7, 3.959e-8};
    check_block(verdict, "end", reference, printed, 5);
}
static void b15_block(Verdict* verdict) {
    static const double reference[6] = {8.0229e-5, 2.3100e-5, 5.6185e-6,
                                        1.3952e-6, 3.6525e-7, 8.2457e-8};
    static const double printed[6] = {8.023e-5, 2.310e-5, 5.619e-6, 1.395e-6, 3.652e-7, 8.246e-8};
    check_block(verdict, "mean", reference, printed, 6);
}

static void b16_stiction(Verdict* verdict) {
    static const Rule plain[2] = {{"end", "shorten", true, false},
                                  {"mean", "shorten", true, false}};
    static const Rule located[2] = {{"end", "shorten", true, true},
                                    {"mean", "shorten", true, true}};
    Block a = run_block(&plain[0], 0.01, 10), b = run_block(&plain[1], 0.01, 10);
    verdict_add(verdict, b.alternation <= 1e-14 && fabs(a.x - b.x) <= 1e-4,
                "not located: v alternates to %.1e, x differs by %.1e m", b.alternation,
                fabs(a.x - b.x));
    a = run_block(&located[0], 0.01, 2.5);
    b = run_block(&located[1], 0.01, 2.5);
    verdict_add(verdict, a.rest <= 1e-14 && b.rest <= 1e-14 && fabs(a.x - b.x) <= 1e-12,
                "located: |v| <= %.1e in stiction, x differs by %.1e m", fmax(a.rest, b.rest),
                fabs(a.x - b.x));
}

// Where the block begins to slip: of the last two steps that stick, the friction that is left, mu P_N - |P_T|, goes
// through zero along a line through their middles. The change itself is seen by the means of steps only.
static double slip_begins(double h) {
    LashLagrangian* model = potra_block();
    LashSettings set = settings_of(&ours, h);
    LashSim* sim = verify_sim(lash_lagrangian_system(model), &set);
    double left[2] = {0}, middle[2] = {0}, found = INFINITY;
    for (long i = 0; i < lround(4 / h) && isinf(found); ++i) {
        if (lash_sim_step(sim).outcome != LASH_CONVERGED) break;
        const double* P = lash_sim_contact_impulses(sim);
        double t = lash_sim_time(sim) - h / 2, now = 0.8 * P[0] - fabs(P[1]);
        if (t < 1) continue; // it still slides from the start
        bool slips = now <= 1e-9 * P[0];
        if (slips) found = middle[1] + left[1] * (middle[1] - middle[0]) / (left[0] - left[1]);
        left[0] = left[1];
        middle[0] = middle[1];
        left[1] = now;
        middle[1] = t;
    }
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(model);
    return found;
}

static void b19_switch(Verdict* verdict) {
    enum { STEPS = 8 }; // where in a step it begins scatters the error of t2 by some h^2
    double h[STEPS], error[2][STEPS];
    for (int k = 0; k < STEPS; ++k) {
        h[k] = ldexp(1, -4 - k);
        Block b = run_block(&ours, h[k], 2);
        error[0][k] = b.failed ? INFINITY : fabs(b.change - 0.33860818467198061736);
        error[1][k] = fabs(slip_begins(h[k]) - acos(-0.981)); // 8 cos t = -7.848
        verdict_add(verdict, error[0][k] < h[k] * h[k] && error[1][k] < 3 * h[k] * h[k],
                    "2^-%d: t1 off by %.1e s, t2 by %.1e s", 4 + k, error[0][k], error[1][k]);
    }
    verdict_range(verdict, "slope of t1", fitted_slope(STEPS, h, error[0]), 1.9, 2.1);
    verdict_range(verdict, "slope of t2", fitted_slope(STEPS, h, error[1]), 1.9, 2.1);
}

// ---- Impacts, carts, quadrature -----------------------------------------------------------------

static void b20_poisson(Verdict* verdict) {
    static const double restitution[3] = {0, 0.5, 1};
    for (int k = 0; k < 3; ++k) {
        LashPaperBall data = lash_paper_ball();
        data.e = restitution[k];
        LashLagrangian* model = lash_paper_bouncing_ball(&data);
        LashSettings set = settings_of(&ours, 0.3);
        LashSim* sim = verify_sim(lash_lagrangian_system(model), &set);
        double law = INFINITY;
        bool found = false;
        for (int i = 0; i < 10 && !found; ++i) {
            int count;
            if (lash_sim_step(sim).outcome != LASH_CONVERGED) break;
            const LashEvent* event = lash_sim_events(sim, &count);
            if (count > 0) law = fabs(event[0].U_after[0] + data.e * event[0].U_before[0]);
            found = count > 0;
        }
        verdict_add(verdict, law <= 1e-13, "e=%g: U+ + e U- = %.1e", data.e, law);
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(model);
    }
}

// Largest |x2 - x1 - 5| and |x1 - 0.2|, and energy over that of the start.
typedef struct Carts {
    double distance, spring, energy;
} Carts;
static Carts run_carts(const PotraCarts* data, double T) {
    LashLagrangian* model = potra_carts(data);
    LashSettings set = settings_of(&ours, 0.01);
    LashSim* sim = verify_sim(lash_lagrangian_system(model), &set);
    Carts c = {0};
    double start = 0;
    for (int i = 0; i <= lround(T / 0.01); ++i) {
        const double *q, *v;
        lash_sim_state(sim, &q, &v);
        double E =
            0.5 * (v[0] * v[0] + v[2] * v[2]) + 0.5 * data->stiffness * (q[0] - 0.2) * (q[0] - 0.2);
        if (i == 0) start = E;
        c.distance = fmax(c.distance, fabs(q[2] - q[0] - 5));
        c.spring = fmax(c.spring, fabs(q[0] - 0.2));
        c.energy = fmax(c.energy, E / start);
        if (lash_sim_step(sim).outcome != LASH_CONVERGED) c.energy = INFINITY;
    }
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(model);
    return c;
}

static void b24_damper(Verdict* verdict) {
    static const double delta[3] = {1e2, 1e3, 1e6}, product[3] = {3.36, 3.42, 3.4};
    for (int k = 0; k < 3; ++k) {
        PotraCarts data = {100, delta[k], 0.1, -2};
        Carts c = run_carts(&data, 4);
        verdict_add(verdict,
                    fabs(delta[k] * c.distance / product[k] - 1) <= 0.1 && c.energy <= 1.0001,
                    "delta=%g: delta max|x2-x1-5| = %.3f, E/E0 <= %.4f", delta[k],
                    delta[k] * c.distance, c.energy);
    }
}

static void b25_spring(Verdict* verdict) {
    static const double gamma[3] = {1e2, 1e4, 1e6}, known[3] = {0.19508, 0.029739, 2.95e-3};
    for (int k = 0; k < 3; ++k) {
        PotraCarts data = {gamma[k], 10, 0.2, -3};
        Carts c = run_carts(&data, 2);
        bool good = c.spring <= 3 / sqrt(gamma[k]) + 40 / gamma[k];
        good = good && c.spring <= known[k] * (1 + 1e-3);
        if (k < 2) good = good && c.spring >= known[k] * (1 - 1e-3);
        verdict_add(verdict, good && c.energy <= 1 + 1e-12,
                    "gamma=%g: |x1-0.2| <= %.5f, E/E0 <= %.4f", gamma[k], c.spring, c.energy);
    }
}

// Mass on the rail x = y that starts off it: G'v changes its sign in every step.
static void b03_rail(Verdict* verdict) {
    static const double M[] = {0, 1, 0, 0, 1, 0}, load[] = {3, -1}, v0[] = {1, 0.9};
    static const Rule rule = {"mean", "shorten", false, true};
    LashLinearContact rail = {.kind = LASH_BILATERAL, .rows = 1, .name = "rail"};
    rail.row[0] = (LashLinearRow){.entries = 2, .dof = {0, 1}, .coefficient = {1, -1}};
    LashLinearDef def = lash_linear_def();
    def.n = 2;
    def.bandwidth = 1;
    def.M = M;
    def.load = load;
    def.v0 = v0;
    def.contact = &rail;
    def.contacts = 1;
    LashLagrangian* model = lash_linear_create(&def);
    LashSettings set = settings_of(&rule, 0.01);
    LashSim* sim = verify_sim(lash_lagrangian_system(model), &set);
    double worst = 0, sign = 1, force = 0;
    bool good = true;
    for (int i = 0; i < 100 && good; ++i) {
        const double *q, *v;
        good = run_steps(sim, 1);
        lash_sim_state(sim, &q, &v);
        sign = -sign;
        worst = fmax(worst, fabs(v[0] - v[1] - sign * 0.1));
        // the mean over a pair of steps is the force of the rail, -2 N along x
        force += lash_sim_contact_impulses(sim)[0] / 0.01 / 100;
    }
    verdict_add(verdict, good && worst <= 1e-13, "alternation to %.1e", worst);
    verdict_add(verdict, fabs(force + 2) <= 1e-10, "mean force of the rail %.12f N", force);
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(model);
}

// One step from a consistent state against 256 short ones.
static void b04_local(Verdict* verdict) {
    static const Rule rule = {"mean", "shorten", false, true};
    static const double a = 0.9, b = 0.5, w1 = -1.1, w2 = 0.4;
    double q0[4] = {sin(a), -cos(a), sin(a) + sin(b), -cos(a) - cos(b)};
    double v0[4] = {cos(a) * w1, sin(a) * w1, cos(a) * w1 + cos(b) * w2, sin(a) * w1 + sin(b) * w2};
    double h[3] = {4e-3, 2e-3, 1e-3}, error[3][3] = {{0}};
    bool good = true;
    for (int k = 0; k < 3; ++k) {
        double end[2][9];
        for (int fine = 0; fine < 2; ++fine) {
            int parts = fine == 1 ? 256 : 1;
            LashLagrangian* model = potra_double_pendulum();
            LashSettings set = settings_of(&rule, h[k] / parts);
            LashSim* sim = verify_sim(lash_lagrangian_system(model), &set);
            const double *q, *v;
            lash_sim_set_state(sim, 0, q0, v0);
            good = good && run_steps(sim, 1);
            end[fine][8] = lash_sim_contact_impulses(sim)[0] / set.h; // at the start, for the fine
            good = good && run_steps(sim, parts - 1);
            lash_sim_state(sim, &q, &v);
            memcpy(end[fine], q, 4 * sizeof *q);
            memcpy(end[fine] + 4, v, 4 * sizeof *v);
            lash_sim_destroy(sim);
            lash_lagrangian_destroy(model);
        }
        for (int i = 0; i < 9; ++i) {
            double* sum = &error[i / 4][k];
            *sum = hypot(*sum, end[0][i] - end[1][i]);
        }
    }
    static const char* const name[3] = {"q", "v", "multiplier"};
    for (int i = 0; i < 3; ++i)
        verdict_range(verdict, name[i], good ? fitted_slope(3, h, error[i]) : NAN, 2.85 - i,
                      3.15 - i);
}

static void b14_rates(Verdict* verdict) {
    Rule rule = {"end", "shorten", true, false};
    double last = 0;
    for (int k = 0; k < 6; ++k) {
        double error = fabs(run_block(&rule, ldexp(1, -5 - k), 2).x - 3.0043485697268652);
        if (k > 0)
            verdict_add(verdict, last / error > 3.5 && last / error < 5.2, "%.3f", last / error);
        last = error;
    }
}

// LCPs with positive definite matrices: Lemke's method never ends on a ray.
static void b17_lemke(Verdict* verdict) {
    enum { M = 6, SAMPLES = 10000 };
    Random random = {17};
    void* work = lash_alloc(lash_lcp_work_size(M));
    int unsolved = 0;
    for (int s = 0; s < SAMPLES; ++s) {
        double A[M * M], W[M * M], b[M], P[M] = {0}, w[M];
        for (int i = 0; i < M * M; ++i) A[i] = random_normal(&random);
        for (int i = 0; i < M; ++i) {
            b[i] = random_normal(&random);
            for (int j = 0; j < M; ++j) {
                W[i + M * j] = i == j ? 0.01 : 0;
                for (int k = 0; k < M; ++k) W[i + M * j] += A[i + M * k] * A[j + M * k];
            }
        }
        LashLcpSettings settings = lash_lcp_settings();
        LashLcpProblem problem = {.n = M, .A = W, .lda = M, .b = b};
        unsolved += lash_lcp_solve(&problem, &settings, P, w, work).outcome != LASH_CONVERGED;
    }
    lash_free(work);
    verdict_add(verdict, unsolved == 0, "%d random problems, %d without solution", SAMPLES,
                unsolved);
}

// Force-free body, J dw = (J w) x w, with three matrices for the derivative of the right side.
static void top_step(int choice, double h, double* w, double* energy) {
    static const double J[3] = {1, 2, 3.5};
    double L[3] = {J[0] * w[0], J[1] * w[1], J[2] * w[2]};
    double k[3] = {L[1] * w[2] - L[2] * w[1], L[2] * w[0] - L[0] * w[2], L[0] * w[1] - L[1] * w[0]};
    double F[9] = {0, L[2], -L[1], -L[2], 0, L[0], L[1], -L[0], 0}; // [J w]x, columns
    double S[9] = {0, w[2], -w[1], -w[2], 0, w[0], w[1], -w[0], 0}; // [w]x
    double A[9], b[3], sum = 0;
    for (int c = 0; c < 3; ++c) {
        for (int r = 0; r < 3; ++r) {
            double slope = F[r + 3 * c];
            if (choice == 0) slope -= S[r + 3 * c] * J[c];
            if (choice == 2) slope *= 2;
            A[r + 3 * c] = (r == c ? J[r] : 0) - h / 2 * slope;
        }
        b[c] = h * k[c];
    }
    eliminate_small(3, A, b);
    for (int i = 0; i < 3; ++i) {
        w[i] += b[i];
        sum += J[i] * w[i] * w[i];
    }
    *energy = sum;
}

static void b22_gyroscopic(Verdict* verdict) {
    static const char* const name[3] = {"true derivative", "F", "2 F"};
    static const double low[3] = {1.9, 0.85, 0.85}, high[3] = {2.1, 1.15, 1.15};
    double exact[3] = {1, 0.7, -0.4}, energy;
    for (int i = 0; i < 200000; ++i) top_step(0, 1e-5, exact, &energy);
    for (int c = 0; c < 3; ++c) {
        double h[3] = {4e-3, 2e-3, 1e-3}, error[3], drift = 0;
        for (int k = 0; k < 3; ++k) {
            double w[3] = {1, 0.7, -0.4}, start = 1 + 2 * 0.49 + 3.5 * 0.16;
            for (int i = 0; i < lround(2 / h[k]); ++i) {
                top_step(c, h[k], w, &energy);
                drift = fmax(drift, fabs(energy - start));
            }
            error[k] = hypot(hypot(w[0] - exact[0], w[1] - exact[1]), w[2] - exact[2]);
        }
        verdict_range(verdict, name[c], fitted_slope(3, h, error), low[c], high[c]);
        if (c == 1) verdict_add(verdict, drift <= 1e-12, "energy kept to %.1e J", drift);
    }
}

static void b26_definite(Verdict* verdict) {
    double smallest = INFINITY;
    for (double h = 1e-4; h < 11; h *= 10) { // carts, x1 and x2: both pivots of A
        for (double k = 1; k <= 1e6; k *= 1e3) {
            double a = 1 + h / 2 * k + h * h / 4 * k, b = -h / 2 * k, c = 1 + h / 2 * k;
            smallest = fmin(smallest, fmin(a, c - b * b / a));
        }
    }
    verdict_add(verdict, smallest > 0, "smallest pivot %.3f for h = 1e-4 .. 10", smallest);
}

// A ball between heavy walls that close, e = 1.
static void b28_walls(Verdict* verdict) {
    enum { N = 3, W = 1, WIDTH = 3 };
    static const double mass[N] = {1e6, 1, 1e6}, q0[N] = {-1, 0, 1}, v0[N] = {1, 0.3, -1};
    double M[N * WIDTH] = {0};
    for (int i = 0; i < N; ++i) M[i * WIDTH + W] = mass[i];
    LashLinearContact contact[2];
    for (int i = 0; i < 2; ++i) {
        contact[i] = (LashLinearContact){.kind = LASH_UNILATERAL, .rows = 1, .e = 1};
        contact[i].name = i == 0 ? "left" : "right";
        contact[i].row[0] =
            (LashLinearRow){.entries = 2, .dof = {i, i + 1}, .coefficient = {-1, 1}};
    }
    LashLinearDef def = lash_linear_def();
    def.n = N;
    def.bandwidth = W;
    def.M = M;
    def.q0 = q0;
    def.v0 = v0;
    def.contact = contact;
    def.contacts = 2;
    LashLagrangian* model = lash_linear_create(&def);
    LashSettings set = settings_of(&ours, 0.01);
    LashSim* sim = verify_sim(lash_lagrangian_system(model), &set);
    int hits = 0, steps = 0;
    bool good = true;
    for (; steps < 120 && good; ++steps) {
        int count;
        good = run_steps(sim, 1);
        lash_sim_events(sim, &count);
        hits += good ? count : 0;
    }
    bool told = good || lash_sim_fault(sim).kind == LASH_FAULT_EVENTS;
    verdict_add(verdict, told, "%s after %d steps and %d events",
                good ? "passes" : "ends, told why,", steps, hits);
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(model);
}

static void b29_quadrature(Verdict* verdict) {
    // int_0^h f = h/2 (f(0) + f(h)) - h^3/12 f'' = h f(h/2) + h^3/24 f'', exact for parabolas
    double worst = 0;
    for (int k = 1; k <= 5; ++k) {
        double h = 0.3 * k, exact = h * h * h / 3; // f = x^2, f'' = 2
        worst = fmax(worst, fabs(h / 2 * h * h - h * h * h / 12 * 2 - exact));
        worst = fmax(worst, fabs(h * h * h / 4 + h * h * h / 24 * 2 - exact));
    }
    verdict_add(verdict, worst <= 1e-14, "both rules on x^2: %.1e", worst);
}

// ---- For claims of others -------------------------------------------------------------------------

int verify_impact_times(LashSim* sim, long steps, int most, double* time) {
    int n = 0;
    double last = -1;
    for (long i = 0; i < steps && n < most; ++i) {
        int count;
        if (lash_sim_step(sim).outcome != LASH_CONVERGED) return n;
        const LashEvent* event = lash_sim_events(sim, &count);
        for (int k = 0; k < count && n < most; ++k) {
            if (event[k].kind != LASH_EVENT_IMPACT || event[k].t == last) continue;
            last = event[k].t;
            time[n++] = last;
        }
    }
    return n;
}

static const Claim claims[] = {
    {"B-01", "theorem 4.1", "second order on smooth motion", "order 2", "slopes 1.85 .. 2.15",
     "(2.8), (2.14), (3.5), (6.9) print (h/2) k_q v, which is of first order", false, b01_order},
    {"B-02", "2", "stiff modes are kept for any h", "|y_{k+1}/y_k| <= 1",
     "(1 - h lambda/2)/(1 + h lambda/2) to 1e-9", NULL, false, b02_stiff},
    {"B-03", "theorem 4.2", "linear joints: G'v alternates its sign, forces of pairs of steps",
     "A'v^l = (-1)^l A'v^0", "1e-13; mean force to 1e-10", NULL, false, b03_rail},
    {"B-04", "corollary 3.5", "local errors with curved joints: q, v, multiplier", "3, 2, 1",
     "slopes +- 0.15", NULL, false, b04_local},
    {"B-05", "table 10.1", "double pendulum with wall: error at 2.5 s",
     "2.38e-3 6.14e-4 1.54e-4 3.95e-5 1.01e-5 2.42e-6 6.15e-7",
     "5 % of the printed, 1e-4 of the reference",
     "collisions interpolated, not stabilised; g = 9.81 is not stated", false, b05_error},
    {"B-06", "table 10.1", "its ratios", "3.88 3.97 3.91 3.92 4.17 3.93", "3.6 .. 4.4", NULL, false,
     b06_ratios},
    {"B-07", "table 10.1", "first joint", "1.27e-3 3.14e-4 7.82e-5 1.95e-5 4.88e-6 1.22e-6 3.05e-7",
     "1 % of the printed, 1e-4 of the reference",
     "Theta1 must be x1^2 + y1^2 - 1; its sign is + with that", false, b07_joint},
    {"B-08", "table 10.1", "second joint",
     "3.18e-3 8.29e-4 2.14e-4 5.48e-5 1.37e-5 3.44e-6 8.60e-7",
     "1 % of the printed, 1e-4 of the reference", NULL, false, b08_joint},
    {"B-09", "table 10.1", "ratios of the joints", "4.04 .. 4.01; 3.84 .. 4.00", "0.05", NULL,
     false, b09_ratios},
    {"B-10", "10.1", "gravity of the double pendulum", "not stated", "-",
     "no data: 9.81 reproduces the table", false, NULL},
    {"B-11", "figure 2", "impact times O(h^2), energy kept between impacts", "-",
     "4.64e-4 .. 1.13e-7 s to 1 %, slope 1.95 .. 2.05; dE of a step without event <= 1e-12 J",
     "rows on the mean velocity do no work: dE is rounding, not O(h^2)", false, b11_impacts},
    {"B-12", "10.2", "block: starts to slide, 8 > 7.848", "t1 = 0.3386, t2 = 2.9463", "-",
     "constants of the exact solution, used in B-13 to B-19", false, NULL},
    {"B-13", "table 10.2", "block, scheme I: error at 2 s",
     "5.197e-5 1.025e-5 2.555e-6 6.551e-7 1.549e-7 3.959e-8",
     "2e-4 of the reference, all printed digits but the last entry; slope 1.85 .. 2.15",
     "without location, whatever the text says; the last is against their own run; printed to four "
     "digits, 1.025e-5 for 1.0254e-5",
     false, b13_block},
    {"B-14", "table 10.2", "its rates", "5.068 4.014 3.899 4.229 3.912", "3.5 .. 5.2",
     "the last is against their own run", false, b14_rates},
    {"B-15", "table 10.3", "block, scheme II",
     "8.023e-5 2.310e-5 5.619e-6 1.395e-6 3.652e-7 8.246e-8",
     "2e-4 of the reference, all printed digits; slope 1.85 .. 2.15", NULL, false, b15_block},
    {"B-16", "figure 4", "stiction: II alternates, positions agree", "v_{l+1} = -v_l",
     "not located: 1e-14, 1e-4 m; located: |v| <= 1e-14, 1e-12 m", NULL, false, b16_stiction},
    {"B-17", "theorem 6.1", "Lemke's method finds a solution", "no ray", "10 000 random problems",
     NULL, false, b17_lemke},
    {"B-18", "7.2, (7.4)", "collision time error O(h^2)", "order 2", "slope 1.9 .. 2.1", NULL,
     false, b11_impacts},
    {"B-19", "7.5", "stick-slip switching time error O(h^2)", "order 2", "slope 1.9 .. 2.1",
     "t1, where the slide ends, by location; t2, where it begins, by the line through the limit",
     false, b19_switch},
    {"B-20", "7.3, 7.4", "Poisson: one contact without friction is Newton's law", "equal", "1e-13",
     NULL, false, b20_poisson},
    {"B-21", "theorem 9.1", "kinetic energy is bounded as h -> 0", "bounded",
     "2^-8 and 2^-10 within 0.5 %", NULL, false, b21_bounded},
    {"B-22", "9.1", "gyroscopic derivative: true, F, 2 F", "F keeps the energy",
     "slopes 2, 1, 1; F: energy to 1e-12 J",
     "symmetric and antisymmetric together would force f = 0; F is of first order", false,
     b22_gyroscopic},
    {"B-23", "9.3", "joints O(h^2), O(h^3) with stabilisation", "2, 3", "1.9 .. 2.1, 2.7 .. 3.2",
     NULL, false, b23_joints},
    {"B-24", "figure 6", "carts: distance ~ 1/delta, energy bounded", "-> 0",
     "delta max within 10 % of 3.36, 3.42, 3.4; E <= E0",
     "needs shortened steps; interpolation is wrong with modes not resolved", false, b24_damper},
    {"B-25", "figure 7", "carts: spring stiff, energy bounded", "small",
     "|x1 - 0.2| 0.19508, 0.029739 to 1e-3, at most 2.95e-3; E <= E0",
     "gamma = 1e6 is not resolved, its spring flips in every step: the last figure depends on what "
     "is located (2.71e-3 and 2.95e-3 for rows end and mean without)",
     false, b25_spring},
    {"B-26", "10.3, (10.13)", "the matrix is positive definite for every h", "definite",
     "pivots > 0 for h = 1e-4 .. 10", NULL, false, b26_definite},
    {"B-27", "10.4", "UMBRA: 100 to 300 contacts", "-", "-", "no data in the paper", false, NULL},
    {"B-28", "7.1", "ball between closing walls, e = 1", "infinitely many collisions",
     "ends with a reason, or passes", NULL, false, b28_walls},
    {"B-29", "lemma 3.1", "constants of the quadratures", "1/12, 1/24", "1e-14", NULL, false,
     b29_quadrature},
};

ClaimTable verify_trapezoidal(void) {
    return (ClaimTable){"Potra et al.", claims, sizeof claims / sizeof *claims};
}
