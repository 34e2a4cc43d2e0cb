// Claims E-01 to E-17 of [S12] Schindler, Rezaei, Kursawe and Acary: midpoint rules and
// Gear-Gupta-Leimkuhler on the slider-crank with play.
//
// Where [S12] leaves open at which configuration velocities of contacts are taken: `rows: midpoint` is
// what it computes (only that drifts as its figure 4 shows), `rows: end` our default.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/verify/verify_internal.h"
#include "core/arena.h"
#include "solvers/cone/lcp.h"

enum { CORNERS = 4 };

typedef struct Variant {
    LashScheme scheme;
    const char *coupling, *rows, *activation, *metric; // NULL: default
} Variant;

static const Variant moreau = {LASH_MOREAU_MIDPOINT, NULL, "midpoint", NULL, NULL};
static const Variant reference = {LASH_GGL, "none", "midpoint", NULL, NULL};
static const Variant decoupled = {LASH_GGL, "decoupled", "midpoint", NULL, "unit"};
static const Variant paper = {LASH_GGL, "unified", "midpoint", "paper", "unit"};
static const Variant grown = {LASH_GGL, "unified", "midpoint", "grown", "unit"};
static const Variant at_end = {LASH_GGL, "unified", "end", "grown", "mass"};

static LashSettings settings_of(const Variant* variant, double h) {
    LashSettings set = verify_settings(variant->scheme, h);
    const char* name[] = {"coupling", "rows", "activation", "metric"};
    const char* value[] = {variant->coupling, variant->rows, variant->activation, variant->metric};
    for (int i = 0; i < 4; ++i)
        if (value[i] != NULL) lash_settings_choose(&set, name[i], value[i]);
    return set;
}

static LashPaperSliderCrank crank_data(double e) {
    LashPaperSliderCrank data = lash_paper_crank();
    data.e = e;
    data.mu = 0;
    return data;
}

static Run crank_run(const Variant* variant, double e, double h) {
    LashPaperSliderCrank data = crank_data(e);
    LashSettings set = settings_of(variant, h);
    return run_begin(lash_paper_slider_crank(&data), &set);
}

// ---- The model ----------------------------------------------------------------------------------

static void e01_data(Verdict* verdict) {
    LashPaperSliderCrank d = lash_paper_crank();
    Run run = crank_run(&at_end, 0.1, 1e-5);
    bool table = d.l1 == 0.153 && d.l2 == 0.306 && d.a == 0.05 && d.b == 0.025 && d.c == 0.001 &&
                 d.m1 == 0.038 && d.m2 == 0.038 && d.m3 == 0.076 && d.J1 == 7.4e-5 &&
                 d.J2 == 5.9e-4 && d.J3 == 2.7e-6 && d.gravity == 9.81;
    verdict_add(verdict, table && d.v[0] == 150 && d.v[1] == -75 && d.v[2] == 0, "table 1");
    verdict_range(verdict, "E(0)", run_energy(&run), 7.49554875 - 1e-8, 7.49554875 + 1e-8);
    run_end(&run);
}

// Lagrangian from the motion of the three mass centres.
static double lagrangian(const LashPaperSliderCrank* crank, const double* q, const double* v) {
    double c1 = cos(q[0]), s1 = sin(q[0]), c2 = cos(q[1]), s2 = sin(q[1]);
    double x[3] = {-0.5 * crank->l1 * s1 * v[0],
                   -crank->l1 * s1 * v[0] - 0.5 * crank->l2 * s2 * v[1],
                   -crank->l1 * s1 * v[0] - crank->l2 * s2 * v[1]};
    double y[3] = {0.5 * crank->l1 * c1 * v[0], crank->l1 * c1 * v[0] + 0.5 * crank->l2 * c2 * v[1],
                   crank->l1 * c1 * v[0] + crank->l2 * c2 * v[1]};
    double height[3] = {0.5 * crank->l1 * s1, crank->l1 * s1 + 0.5 * crank->l2 * s2,
                        crank->l1 * s1 + crank->l2 * s2};
    double m[3] = {crank->m1, crank->m2, crank->m3}, J[3] = {crank->J1, crank->J2, crank->J3},
           sum = 0;
    for (int i = 0; i < 3; ++i)
        sum += 0.5 * m[i] * (x[i] * x[i] + y[i] * y[i]) + 0.5 * J[i] * v[i] * v[i] -
               m[i] * crank->gravity * height[i];
    return sum;
}

// dL/dv_i by central differences: exact for a quadratic form.
static double momentum(const LashPaperSliderCrank* crank, const double* q, const double* v, int i) {
    double side[2], x[3];
    for (int k = 0; k < 2; ++k) {
        memcpy(x, v, sizeof x);
        x[i] += k == 0 ? 1 : -1;
        side[k] = lagrangian(crank, q, x);
    }
    return (side[0] - side[1]) / 2;
}

// M and F of the system against differences of the Lagrangian at random places: the largest error.
static double lagrange_error(const LashPaperSliderCrank* crank, const Run* run, Random* random) {
    double q[3], v[3], M[9], F[3], error = 0;
    static const double step = 1e-5;
    for (int i = 0; i < 3; ++i) {
        q[i] = random_uniform(random, -3, 3);
        v[i] = random_uniform(random, -10, 10);
    }
    run->system->mass(run->system, run->work, q, M);
    run->system->forces(run->system, run->work, 0, q, v, F);
    for (int i = 0; i < 3; ++i) {
        double force = 0, p = 0, moved[3];
        for (int j = 0; j < 3; ++j) p += M[i + 3 * j] * v[j];
        error = fmax(error, fabs(p - momentum(crank, q, v, i)));
        for (int side = -1; side <= 1; side += 2) {
            memcpy(moved, q, sizeof moved);
            moved[i] += side * step;
            force += side * lagrangian(crank, moved, v) / (2 * step);
            for (int j = 0; j < 3; ++j) moved[j] = q[j] + side * step * v[j];
            force -= side * momentum(crank, moved, v, i) / (2 * step);
        }
        error = fmax(error, fabs(force - F[i]));
    }
    return error;
}

static double gradient_error(const Run* run, Random* random) {
    const LashSystem* system = run->system;
    const LashInteractionList* list = lash_sim_interactions(run->sim);
    double q[3], g[CORNERS], g_t[CORNERS], G[3 * CORNERS], side[2][CORNERS], error = 0;
    static const double step = 1e-5;
    for (int i = 0; i < 3; ++i) q[i] = random_uniform(random, -3, 3);
    system->evaluate(system, run->work, 0, q, NULL, g, g_t, G);
    for (int j = 0; j < 3; ++j) {
        double moved[3];
        for (int k = 0; k < 2; ++k) {
            memcpy(moved, q, sizeof moved);
            moved[j] += k == 0 ? step : -step;
            system->evaluate(system, run->work, 0, moved, NULL, side[k], NULL, NULL);
        }
        for (int c = 0; c < list->count; ++c) {
            int row = list->item[c].row;
            double slope = (side[0][row] - side[1][row]) / (2 * step);
            error = fmax(error, fabs(slope - G[list->item[c].offset + j]));
        }
    }
    return error;
}

static void e02_equations(Verdict* verdict) {
    Random random = {2};
    LashPaperSliderCrank data = crank_data(0.1);
    Run run = crank_run(&at_end, 0.1, 1e-5);
    double error = 0, gradient = 0;
    for (int k = 0; k < 100; ++k) {
        error = fmax(error, lagrange_error(&data, &run, &random));
        gradient = fmax(gradient, gradient_error(&run, &random));
    }
    verdict_add(verdict, error <= 1e-8, "M and h against the Lagrangian: %.1e", error);
    verdict_add(verdict, gradient <= 1e-8, "W against differences of the gaps: %.1e", gradient);
    run_end(&run);
}

// ---- Penetration and drift ----------------------------------------------------------------------

static void e03_penetration(Verdict* verdict) {
    static const double h[3] = {4e-5, 2e-5, 1e-5};
    double violation[3];
    for (int i = 0; i < 3; ++i) {
        Run run = crank_run(&moreau, 0.1, h[i]);
        run_to(&run, 0.1);
        violation[i] = run.violation;
        verdict_add(verdict, !run.failed, "dt=%g: %.3e m", h[i], run.violation);
        run_end(&run);
    }
    verdict_range(verdict, "at dt=1e-5", violation[2], 1.7e-5, 6e-5);
    verdict_range(verdict, "slope", fitted_slope(3, h, violation), 0.9, 1.25);
}

static void e04_drift(Verdict* verdict) {
    enum { POINTS = 1003 };
    double t[POINTS], g[POINTS], sum_t = 0, sum_g = 0, sum_U = 0;
    Run run = crank_run(&moreau, 0.1, 1e-5);
    run_to(&run, 0.04073);
    int n = 0, corner = 0;
    for (int c = 1; c < CORNERS; ++c)
        if (run.gap[c] < run.gap[corner]) corner = c;
    for (; n < POINTS && run_step(&run); ++n) {
        t[n] = run.t;
        g[n] = run.gap[corner];
        sum_t += t[n] / POINTS;
        sum_g += g[n] / POINTS;
        sum_U += run.U[corner] / POINTS;
    }
    double tt = 0, tg = 0, gg = 0;
    for (int i = 0; i < n; ++i) {
        tt += (t[i] - sum_t) * (t[i] - sum_t);
        tg += (t[i] - sum_t) * (g[i] - sum_g);
        gg += (g[i] - sum_g) * (g[i] - sum_g);
    }
    verdict_picture(verdict, "Gap of a closed contact, 40.73 to 50.76 ms", "t", "m", n, t);
    verdict_curve(verdict, "gap", g);
    verdict_range(verdict, "slope [m/s]", tg / tt, -3.86e-3 * 1.05, -3.86e-3 * 0.95);
    verdict_range(verdict, "R^2", tg * tg / (tt * gg), 0.99, 1);
    verdict_add(verdict, fabs(sum_U + 3.9e-3) < 2e-4, "mean gap velocity %.2e m/s", sum_U);
    run_end(&run);
}

static void e05_symmetry(Verdict* verdict) {
    static const Variant* const variant[2] = {&moreau, &at_end};
    for (int k = 0; k < 2; ++k) {
        Run run = crank_run(variant[k], 0.1, 1e-5);
        double worst = 0, c = crank_data(0).c;
        while (run.t < 0.1 - 5e-6 && run_step(&run)) {
            worst = fmax(worst, fabs(run.gap[0] - run.gap[1]));
            worst = fmax(worst, fabs(run.gap[2] - run.gap[3]));
            worst = fmax(worst, fabs(run.gap[0] + run.gap[2] - 2 * c));
        }
        verdict_add(verdict, !run.failed && worst <= 1e-12, "%s: %.1e m",
                    lash_scheme_name(variant[k]->scheme), worst);
        run_end(&run);
    }
}

// Ends of steps that push after three or more without.
static int impact_times(const Variant* variant, double e, double h, double T, int most,
                        double* time) {
    Run run = crank_run(variant, e, h);
    double last = -1;
    int n = 0;
    while (run.t < T && run_step(&run)) {
        bool pushes = false;
        for (int c = 0; c < run.contacts; ++c) pushes = pushes || run.P[c] > 0;
        if (pushes && run.t - last > 3 * h && n < most) time[n++] = run.t;
        if (pushes) last = run.t;
    }
    run_end(&run);
    return n;
}

// Bounds of the impacts after the first, rows midpoint and rows end [s].
typedef struct Bounds {
    double midpoint, end;
} Bounds;

// The first impact to a step, for all; dt = 1e-5.
static void compare_impacts(Verdict* verdict, double e, const double* exact, int many,
                            const Bounds* bounds) {
    static const Variant* const variant[3] = {&moreau, &grown, &at_end};
    static const char* const name[3] = {"moreau-midpoint", "unified, rows midpoint",
                                        "unified, rows end"};
    for (int k = 0; k < 3; ++k) {
        static const double h = 1e-5;
        double time[8], worst = 0, bound = k < 2 ? bounds->midpoint : bounds->end;
        int n = impact_times(variant[k], e, h, exact[many - 1] + 1e-3, 8, time);
        bool good = n >= many && fabs(time[0] - exact[0]) <= 1.1 * h;
        for (int j = 1; j < many && j < n; ++j) worst = fmax(worst, fabs(time[j] - exact[j]));
        verdict_add(verdict, good && worst <= bound, "%s: first to %.1e s, others %.1e s", name[k],
                    fabs(time[0] - exact[0]), worst);
    }
}

// Located: O(h^2).
static void locate_impacts(Verdict* verdict, double e, const double* exact, int many) {
    double h[2] = {5e-5, 2.5e-5}, error[2][4] = {{0}};
    for (int k = 0; k < 2; ++k) {
        LashPaperSliderCrank data = crank_data(e);
        LashLagrangian* crank = lash_paper_slider_crank(&data);
        LashSettings set = verify_settings(LASH_TRAPEZOIDAL, h[k]);
        LashSim* sim = verify_sim(lash_lagrangian_system(crank), &set);
        double time[4] = {0};
        int n = verify_impact_times(sim, lround(0.012 / h[k]), many, time);
        for (int i = 0; i < many; ++i) error[k][i] = i < n ? fabs(time[i] - exact[i]) : INFINITY;
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(crank);
    }
    double least = INFINITY, worst = 0;
    for (int i = 0; i < many; ++i) {
        least = fmin(least, log2(error[0][i] / error[1][i]));
        worst = fmax(worst, error[1][i]);
    }
    verdict_add(verdict, error[1][0] <= 1.3e-7 && worst <= 2.5e-7 && least >= 1.9,
                "trapezoidal, h=2.5e-5: first to %.2e s, all to %.1e s, slope %.2f", error[1][0],
                worst, least);
}

static void e06_impacts(Verdict* verdict) {
    static const double exact[2] = {2.6925027520e-3, 3.2758139626e-3};
    compare_impacts(verdict, 0.1, exact, 2, &(Bounds){1e-4, 2e-5});
    locate_impacts(verdict, 0.1, exact, 2);
}

static void e07_impacts(Verdict* verdict) {
    static const double exact[4] = {2.6925027520e-3, 5.6077978681e-3, 7.4656351696e-3,
                                    8.4092527491e-3};
    compare_impacts(verdict, 0.4, exact, 4, &(Bounds){2.1e-4, 6e-5});
    locate_impacts(verdict, 0.4, exact, 4);
}

// ---- Ideal model --------------------------------------------------------------------------------

static LashLagrangian* ideal_crank(void) {
    LashPaperSliderCrank data = crank_data(0);
    data.ideal = true;
    return lash_paper_slider_crank(&data);
}

// Exponent of |y| over t in [0.2, 1], y the distance of the slider from the axis.
static double drift_exponent(int n, const double* t, const double* y) {
    double x[64], z[64];
    int points = 0;
    for (int i = 0; i < n; ++i) {
        if (t[i] < 0.2 - 1e-9 || points == 64) continue;
        x[points] = t[i];
        z[points++] = fabs(y[i]);
    }
    return fitted_slope(points, x, z);
}

// Acceleration level: G'a + d(G'v)/dt = 0 at the explicit midpoint, nothing else.
static void acceleration_step(const LashSystem* system, LashSystemWork* work, double h, double* q,
                              double* v) {
    double middle[3], M[9], F[3], g, g_t, G[3], dGv[3], a[3], x[3];
    for (int i = 0; i < 3; ++i) middle[i] = q[i] + h / 2 * v[i];
    system->mass(system, work, middle, M);
    system->forces(system, work, 0, middle, v, F);
    system->evaluate(system, work, 0, middle, NULL, &g, &g_t, G);
    system->contract(system, work, 0, middle, 0, (double[]){0}, v, NULL, dGv);
    double det = M[0] * M[4] - M[1] * M[3];
    a[0] = (M[4] * F[0] - M[3] * F[1]) / det;
    a[1] = (M[0] * F[1] - M[1] * F[0]) / det;
    a[2] = F[2] / M[8];
    x[0] = (M[4] * G[0] - M[3] * G[1]) / det;
    x[1] = (M[0] * G[1] - M[1] * G[0]) / det;
    x[2] = G[2] / M[8];
    double curvature = 0, open = 0, answer = 0;
    for (int i = 0; i < 3; ++i) {
        curvature += dGv[i] * v[i];
        open += G[i] * a[i];
        answer += G[i] * x[i];
    }
    for (int i = 0; i < 3; ++i) {
        double change = h * (a[i] - (open + curvature) / answer * x[i]);
        q[i] += h * (v[i] + change / 2);
        v[i] += change;
    }
}

static void e08_drift(Verdict* verdict) {
    enum { POINTS = 10 };
    double t[POINTS], y[2][POINTS];
    LashPaperSliderCrank data = lash_paper_crank();
    Variant rows_end = {LASH_MOREAU_MIDPOINT, NULL, "end", NULL, NULL};
    LashSettings set = settings_of(&rows_end, 1e-4);
    Run run = run_begin(ideal_crank(), &set);
    for (int i = 0; i < POINTS; ++i) {
        t[i] = 0.1 * (i + 1);
        run_to(&run, t[i]);
        y[0][i] = data.l1 * sin(run.q[0]) + data.l2 * sin(run.q[1]);
    }
    double q[3], v[3];
    run.system->initial_state(run.system, q, v);
    for (int i = 0; i < POINTS; ++i) {
        for (int k = 0; k < 1000; ++k) acceleration_step(run.system, run.work, 1e-4, q, v);
        y[1][i] = data.l1 * sin(q[0]) + data.l2 * sin(q[1]);
    }
    verdict_add(verdict, !run.failed, "velocity level y(1 s) = %.4e m, acceleration level %.4e m",
                y[0][POINTS - 1], y[1][POINTS - 1]);
    verdict_range(verdict, "exponent, velocity level", drift_exponent(POINTS, t, y[0]), 0.7, 1.2);
    verdict_range(verdict, "acceleration level", drift_exponent(POINTS, t, y[1]), 1.5, 2.2);
    run_end(&run);
}

static void e14_order(Verdict* verdict) {
    static const struct {
        Variant variant;
        const char* name;
        double low, high;
    } known[3] = {{{LASH_GGL, "unified", "end", NULL, "mass"}, "unified, rows end", 1.9, 2.1},
                  {{LASH_GGL, "unified", "midpoint", NULL, "unit"}, "rows midpoint", 0.9, 1.1},
                  {{LASH_MOREAU_MIDPOINT, NULL, "end", NULL, NULL}, "moreau-midpoint", 0.9, 1.1}};
    LashSettings fine = settings_of(&known[0].variant, 1e-6);
    Run exact = run_begin(ideal_crank(), &fine);
    run_to(&exact, 0.02);
    for (int k = 0; k < 3; ++k) {
        double h[3] = {1e-4, 5e-5, 2.5e-5}, error[3];
        for (int i = 0; i < 3; ++i) {
            LashSettings set = settings_of(&known[k].variant, h[i]);
            Run run = run_begin(ideal_crank(), &set);
            run_to(&run, 0.02);
            error[i] = run.failed ? INFINITY : fabs(run.q[0] - exact.q[0]);
            run_end(&run);
        }
        verdict_range(verdict, known[k].name, fitted_slope(3, h, error), known[k].low,
                      known[k].high);
    }
    run_end(&exact);
}

static void e17_bilateral(Verdict* verdict) {
    double h[3] = {1e-4, 5e-5, 2.5e-5}, psi[3], open = 0, U_worst = 0;
    Variant unit = {LASH_GGL, "unified", "end", NULL, "unit"};
    for (int k = 0; k < 3; ++k) {
        LashSettings set = settings_of(&unit, h[k]);
        Run run = run_begin(ideal_crank(), &set);
        psi[k] = 0;
        while (run.t < 0.1 - h[k] / 2 && run_step(&run)) {
            double g, g_t, G[3], middle[3], moved = 0, length = 0, U = 0;
            for (int i = 0; i < 3; ++i) {
                double shift =
                    run.q[i] - run.q_before[i] - h[k] * 0.5 * (run.v[i] + run.v_before[i]);
                middle[i] = 0.5 * (run.q[i] + run.q_before[i]);
                moved += shift * shift;
            }
            run.system->evaluate(run.system, run.work, run.t, middle, NULL, &g, &g_t, G);
            for (int i = 0; i < 3; ++i) length += G[i] * G[i];
            psi[k] = fmax(psi[k], sqrt(moved / length)); // shift = G Psi
            run.system->evaluate(run.system, run.work, run.t, run.q, NULL, &g, &g_t, G);
            for (int i = 0; i < 3; ++i) U += G[i] * run.v[i];
            open = fmax(open, fabs(g));
            U_worst = fmax(U_worst, fabs(U));
        }
        verdict_add(verdict, !run.failed, "dt=%g: Psi %.2e", h[k], psi[k]);
        run_end(&run);
    }
    verdict_add(verdict, open <= 1e-10 && U_worst <= 1e-10, "|g| <= %.1e m, |U| <= %.1e m/s", open,
                U_worst);
    verdict_range(verdict, "slope of Psi", fitted_slope(3, h, psi), 2.9, 3.1);
}

// ---- Energy -------------------------------------------------------------------------------------

static void e09_no_penetration(Verdict* verdict) {
    Variant all = {LASH_GGL, "unified", "midpoint", "all", "unit"};
    const Variant* const variant[3] = {&grown, &all, &paper};
    static const char* const name[3] = {"grown", "all", "paper's set"};
    for (int k = 0; k < 3; ++k) {
        Run run = crank_run(variant[k], 0.1, 1e-5);
        run_to(&run, 0.1);
        bool good = k < 2 ? run.violation <= 1e-10 : run.violation > 1e-7 && run.violation < 1e-5;
        verdict_add(verdict, !run.failed && good, "%s: %.2e m", name[k], run.violation);
        run_end(&run);
    }
}

static void e10_rises(Verdict* verdict) {
    static const Variant* const variant[2] = {&decoupled, &moreau};
    for (int k = 0; k < 2; ++k) {
        Run run = crank_run(variant[k], 0.1, 1e-5);
        double before = run_energy(&run), largest = 0;
        int rises = 0;
        while (run.t < 0.1 - 5e-6 && run_step(&run)) {
            double now = run_energy(&run);
            bool pushes = run_projected(&run, 0.5) > 1e-14;
            for (int c = 0; c < run.contacts; ++c) pushes = pushes || run.P[c] > 0;
            rises += pushes && now > before;
            if (pushes) largest = fmax(largest, now - before);
            before = now;
        }
        bool good = k == 0 ? rises >= 1000 && largest > 1e-5 : rises < 20 && largest < 1e-9;
        verdict_add(verdict, !run.failed && good, "%s: %d steps with dE > 0, largest %.1e J",
                    k == 0 ? "decoupled" : "moreau-midpoint", rises, largest);
        run_end(&run);
    }
}

static void e11_energies(Verdict* verdict) {
    static const Variant* const variant[3] = {&moreau, &reference, &paper};
    static const double ours[3] = {2.880231467, 3.225780388, 3.262698139};
    double E[3];
    for (int k = 0; k < 3; ++k) {
        Run run = crank_run(variant[k], 0.1, 1e-5);
        run_to(&run, 4);
        E[k] = run.failed ? NAN : run_energy(&run);
        verdict_add(verdict, fabs(E[k] - ours[k]) < 0.02 * ours[k], "%.6f J", E[k]);
        run_end(&run);
    }
    verdict_add(verdict, E[0] < E[1] && E[1] < E[2] && (E[2] - E[0]) / E[2] < 0.2,
                "Moreau < reference < unified, spread %.1f %%", 100 * (E[2] - E[0]) / E[2]);
}

// Closures: phases that push for at least a millisecond, pauses below 0.2 ms not counted.
static int closures(double e, double T, int* impacts) {
    Run run = crank_run(&at_end, e, 1e-5);
    int phases = 0, pushing = 0, quiet = 1000;
    *impacts = 0;
    while (run.t < T && run_step(&run)) {
        bool pushes = false;
        for (int c = 0; c < run.contacts; ++c) pushes = pushes || run.P[c] > 0;
        *impacts += pushes && quiet > 2;
        quiet = pushes ? 0 : quiet + 1;
        if (pushes) ++pushing;
        if (quiet > 20) pushing = 0;
        phases += pushing == 100;
    }
    run_end(&run);
    return phases;
}

static void e13_persistent(Verdict* verdict) {
    int impacts, few = closures(0.9, 0.03, &impacts);
    verdict_add(verdict, few == 0 && impacts == 4, "eps=0.9, 30 ms: %d impacts, %d closures",
                impacts, few);
    int many = closures(0.4, 0.1, &impacts);
    verdict_add(verdict, many == 4, "eps=0.4, 0.1 s: %d closures", many);
}

// ---- Solvers ------------------------------------------------------------------------------------

static void e15_prox(Verdict* verdict) {
    enum { M = 3, SAMPLES = 200 };
    static const double share[3] = {0.3, 1, 1.6};
    Random random = {15};
    void* work = lash_alloc(lash_lcp_work_size(M));
    double worst = 0;
    for (int s = 0; s < SAMPLES; ++s) {
        double A[M * M], W[M * M], b[M], P[M] = {0}, w[M], trace = 0;
        for (int i = 0; i < M * M; ++i) A[i] = random_normal(&random);
        for (int i = 0; i < M; ++i) {
            b[i] = random_normal(&random);
            for (int j = 0; j < M; ++j) {
                W[i + M * j] = i == j ? 0.5 : 0;
                for (int k = 0; k < M; ++k) W[i + M * j] += A[i + M * k] * A[j + M * k];
            }
            trace += W[i + M * i];
        }
        LashLcpSettings settings = lash_lcp_settings();
        settings.tolerance = 1e-14;
        LashLcpProblem problem = {.n = M, .A = W, .lda = M, .b = b};
        lash_lcp_solve(&problem, &settings, P, w, work);
        for (int r = 0; r < 3; ++r) { // Lambda = max(0, Lambda - r (W Lambda + b)), iterated
            double x[M] = {0};
            for (int i = 0; i < 20000; ++i) {
                double next[M];
                for (int j = 0; j < M; ++j) {
                    double U = b[j];
                    for (int k = 0; k < M; ++k) U += W[j + M * k] * x[k];
                    next[j] = fmax(0, x[j] - share[r] / trace * U);
                }
                memcpy(x, next, sizeof x);
            }
            for (int j = 0; j < M; ++j) worst = fmax(worst, fabs(x[j] - P[j]) / (1 + P[j]));
        }
    }
    lash_free(work);
    verdict_add(verdict, worst <= 1e-12, "%d problems, three r each: %.1e", SAMPLES, worst);
}

// Residuals of the unified step with contact `c` closed, x = (q, v, Lambda, Psi), N = 1.
typedef struct Unified {
    const Run* run;
    int c;
    double h, e, q[3], v[3], M[9];
} Unified;
enum { UNKNOWNS = 8 };

static void unified_residual(const Unified* u, const double* x, double* r) {
    const LashSystem* system = u->run->system;
    const LashInteraction* item = &lash_sim_interactions(u->run->sim)->item[u->c];
    double q_m[3], v_m[3], F[3], g[CORNERS], g_t[CORNERS], G[3 * CORNERS], end[CORNERS];
    for (int i = 0; i < 3; ++i) {
        q_m[i] = 0.5 * (u->q[i] + x[i]);
        v_m[i] = 0.5 * (u->v[i] + x[3 + i]);
    }
    system->forces(system, u->run->work, 0, q_m, v_m, F);
    system->evaluate(system, u->run->work, 0, q_m, NULL, g, g_t, G);
    system->evaluate(system, u->run->work, 0, x, NULL, end, NULL, NULL);
    const double* n = G + item->offset;
    r[6] = 0;
    for (int i = 0; i < 3; ++i) {
        r[i] = x[i] - u->q[i] - u->h * v_m[i] - n[i] * x[7];
        r[3 + i] = -u->h * F[i] - n[i] * x[6];
        for (int j = 0; j < 3; ++j) r[3 + i] += u->M[i + 3 * j] * (x[3 + j] - u->v[j]);
        r[6] += n[i] * (x[3 + i] + u->e * u->v[i]);
    }
    r[7] = end[item->row];
}

// (43)-(52) with N = 1: derivatives of the residuals on the branch of a closed contact.
static void unified_jacobian(const Unified* u, const double* x, double* J) {
    const LashSystem* system = u->run->system;
    const LashInteraction* item = &lash_sim_interactions(u->run->sim)->item[u->c];
    double q_m[3], v_m[3], C[9], K[9], g[CORNERS], g_t[CORNERS], G[3 * CORNERS], G_end[3 * CORNERS];
    double turn_psi[9], turn_lambda[9], dGv[3], v_law[3];
    for (int i = 0; i < 3; ++i) {
        q_m[i] = 0.5 * (u->q[i] + x[i]);
        v_m[i] = 0.5 * (u->v[i] + x[3 + i]);
        v_law[i] = x[3 + i] + u->e * u->v[i];
    }
    system->tangents(system, u->run->work, 0, q_m, v_m, C, K);
    system->evaluate(system, u->run->work, 0, q_m, NULL, g, g_t, G);
    system->contract(system, u->run->work, 0, q_m, u->c, x + 7, v_law, turn_psi, dGv);
    system->contract(system, u->run->work, 0, q_m, u->c, x + 6, v_law, turn_lambda, dGv);
    system->evaluate(system, u->run->work, 0, x, NULL, g, g_t, G_end);
    const double *n = G + item->offset, *n_end = G_end + item->offset;
    memset(J, 0, UNKNOWNS * UNKNOWNS * sizeof *J);
    for (int i = 0; i < 3; ++i) {
        J[i + UNKNOWNS * i] = 1;
        J[i + UNKNOWNS * (3 + i)] = -u->h / 2;
        J[i + UNKNOWNS * 7] = -n[i];
        J[3 + i + UNKNOWNS * 6] = -n[i];
        J[6 + UNKNOWNS * i] = dGv[i] / 2;
        J[6 + UNKNOWNS * (3 + i)] = n[i];
        J[7 + UNKNOWNS * i] = n_end[i];
        for (int j = 0; j < 3; ++j) {
            J[i + UNKNOWNS * j] -= turn_psi[i + 3 * j] / 2;
            J[3 + i + UNKNOWNS * j] = u->h / 2 * K[i + 3 * j] - turn_lambda[i + 3 * j] / 2;
            J[3 + i + UNKNOWNS * (3 + j)] = u->M[i + 3 * j] + u->h / 2 * C[i + 3 * j];
        }
    }
}

static void e16_jacobian(Verdict* verdict) {
    Random random = {16};
    Run run = crank_run(&grown, 0.1, 1e-5);
    double worst = 0;
    for (int k = 0; k < 50; ++k) {
        Unified u = {.run = &run, .c = k % CORNERS, .h = 1e-3, .e = 0.1};
        double x[UNKNOWNS], J[UNKNOWNS * UNKNOWNS], side[2][UNKNOWNS], q_M[3], size = 0, error = 0;
        for (int i = 0; i < 3; ++i) {
            u.q[i] = random_uniform(&random, -2, 2);
            u.v[i] = random_uniform(&random, -20, 20);
            x[i] = u.q[i] + random_uniform(&random, -0.02, 0.02);
            x[3 + i] = random_uniform(&random, -20, 20);
            q_M[i] = u.q[i] + u.h / 2 * u.v[i];
        }
        x[6] = random_uniform(&random, 0, 0.1);
        x[7] = random_uniform(&random, 0, 0.1);
        run.system->mass(run.system, run.work, q_M, u.M);
        unified_jacobian(&u, x, J);
        for (int j = 0; j < UNKNOWNS; ++j) {
            double moved[UNKNOWNS];
            for (int s = 0; s < 2; ++s) {
                memcpy(moved, x, sizeof moved);
                moved[j] += s == 0 ? 1e-6 : -1e-6;
                unified_residual(&u, moved, side[s]);
            }
            for (int i = 0; i < UNKNOWNS; ++i) {
                double slope = (side[0][i] - side[1][i]) / 2e-6;
                error = fmax(error, fabs(slope - J[i + UNKNOWNS * j]));
                size = fmax(size, fabs(J[i + UNKNOWNS * j]));
            }
        }
        worst = fmax(worst, error / size);
    }
    verdict_add(verdict, worst <= 1e-6, "50 random iterates: %.1e relative", worst);
    run_end(&run);
}

static const Claim claims[] = {
    {"E-01", "table 1", "data of the slider-crank, energy at the start", "E0 = 7.49554875 J",
     "table exact, E0 to 1e-8 J", "the text prints 15001/s for 150.0 1/s", false, e01_data},
    {"E-02", "(18)-(20)", "W, M and h of the slider-crank", "the Lagrange equations", "1e-8",
     "minus signs of gravity and of (m1/2 + m2 + m3) are lost in h", false, e02_equations},
    {"E-03", "figure 3(a)", "Moreau's midpoint rule penetrates, in proportion to dt",
     "y exceeds 1e-3 m", "dt=1e-5: 1.7e-5 to 6e-5 m; slope 0.9 .. 1.25",
     "rows at the midpoint; the drift adds to what the impact leaves", false, e03_penetration},
    {"E-04", "figure 4", "a closed gap drifts about linearly, its velocity slightly negative",
     "linear drift", "40.73 .. 50.76 ms: slope -3.86e-3 m/s to 5 %, R^2 > 0.99",
     "the phase from 3.35 ms on does not drift: its curvature opens the contact", false, e04_drift},
    {"E-05", "figure 4", "opposite gaps are symmetric, the slider does not turn",
     "g1 = g2, g3 = g4, g1 + g3 = 2c", "1e-12 m", NULL, false, e05_symmetry},
    {"E-06", "eps = 0.1", "first impacts", "2.69250, 3.27581 ms",
     "dt=1e-5: first within dt, others within 2 dt (rows end), 0.1 ms (rows midpoint); located: "
     "1.3e-7 s at 2.5e-5, order 2",
     NULL, false, e06_impacts},
    {"E-07", "eps = 0.4", "first impacts", "2.69250, 5.60780, 7.46564, 8.40925 ms",
     "dt=1e-5: first within dt, others within 2 n dt (rows end), 0.21 ms (rows midpoint); located: "
     "1.3e-7 s at 2.5e-5, order 2",
     "the error of one impact moves the next: 2 dt and 0.1 ms hold for eps = 0.1; impact n here 2 "
     "n dt, 0.05 n ms",
     false, e07_impacts},
    {"E-08", "figure 6, 2.2", "ideal model, 1 s: drift at velocity and at acceleration level",
     "linear, parabolic", "exponents 0.7 .. 1.2 and 1.5 .. 2.2",
     "velocity level with rows at the end; at the midpoint there is no trend", false, e08_drift},
    {"E-09", "figures 8, 9", "unified: no penetration", "none",
     "grown or all: <= 1e-10 m; the paper's set: 1e-7 .. 1e-5 m",
     "with the paper's set (11) a contact that closes in the second half of a step penetrates",
     false, e09_no_penetration},
    {"E-10", "3.1", "decoupled projection: energy rises", "fluctuates",
     "0.1 s: >= 1000 contact steps with dE > 0, largest > 1e-5 J; moreau-midpoint < 20, < 1e-9 J",
     "that there is no decreasing trend is not reproduced: 2.92 J after 4 s", false, e10_rises},
    {"E-11", "figure 10", "energies after 4 s", "Moreau < reference <= unified",
     "order; spread below 20 %; within 2 % of 2.880, 3.226, 3.263 J", NULL, true, e11_energies},
    {"E-12", "3.2.2", "unified costs about 10 times Moreau's rule", "factor 10", "-",
     "informative: timing of another program. Here unified takes 1.3 times the instructions", false,
     NULL},
    {"E-13", "3.2.2", "persistent contacts are rare for eps > 0.5", "rare",
     "eps=0.9: 4 impacts, no closure in 30 ms; eps=0.4: 4 closures in 0.1 s", NULL, false,
     e13_persistent},
    {"E-14", "(36)-(37)", "order on the ideal model", "-",
     "unified, rows end 2 +- 0.1; rows midpoint and moreau-midpoint 1 +- 0.1",
     "the explicit mass point does not spoil the order", false, e14_order},
    {"E-15", "(13), (32)", "prox form is complementarity, for any r > 0", "the same solution",
     "1e-12", NULL, false, e15_prox},
    {"E-16", "(43)-(52)", "Newton's matrix of the unified step", "derivative of the residuals",
     "1e-6 relative to differences", NULL, false, e16_jacobian},
    {"E-17", "(25)-(28)", "bilateral: Psi vanishes, g = 0 and U = 0 both hold", "Psi -> 0",
     "|g|, |U| <= 1e-10; slope of Psi 2.9 .. 3.1",
     "rows at the end; at the midpoint Psi is O(dt^2)", false, e17_bilateral},
};

ClaimTable verify_ggl(void) {
    return (ClaimTable){"Schindler et al.", claims, sizeof claims / sizeof *claims};
}
