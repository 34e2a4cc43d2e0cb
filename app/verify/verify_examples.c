// Claims of [A12] Acary, RR-8029: examples and basic schemes.
//
// Exact motions used here. Ballard's ball, m = 1, f = -2, e = 1/2, q0 = 1: impacts at
// t_n = 3 - 2^(2-n), rebound 2^(1-n), at rest from t = 3. Oscillators: the closed form between
// impacts; the impact times in the table were computed from it with 20 digits.
#include <math.h>
#include <string.h>

#include "app/verify/runs.h"
#include "core/arena.h"
#include "core/math3.h"

// ---- Exact motions ------------------------------------------------------------------------------

void verify_ballard(double t, double* q, double* v) {
    if (t < 1) { // first fall
        *q = 1 - t * t;
        *v = -2 * t;
        return;
    }
    *q = *v = 0;
    if (t >= 3) return;
    int n = (int)floor(2 - log2(3 - t));
    double s = t - (3 - exp2(2 - n)), up = exp2(1 - n);
    if (s < 0) {
        --n;
        s = t - (3 - exp2(2 - n));
        up = exp2(1 - n);
    } // rounding of log2
    *q = up * s - s * s;
    *v = up - 2 * s;
}

// Free motion of a damped oscillator from (q, v), s later.
static void free_motion(const LashPaperOscillator* oscillator, double s, double* q, double* v) {
    double decay = oscillator->damping / (2 * oscillator->mass),
           rest = oscillator->force / oscillator->stiffness;
    double w = sqrt(oscillator->stiffness / oscillator->mass - decay * decay), a = *q - rest;
    double b = (*v + decay * a) / w, E = exp(-decay * s), C = cos(w * s), S = sin(w * s);
    *q = rest + E * (a * C + b * S);
    *v = E * ((b * w - decay * a) * C - (a * w + decay * b) * S);
}

// The exact motion, carried on from impact to impact: roots of the closed form by bisection.
typedef struct Exact {
    LashPaperOscillator data;
    double start, q, v; // behind the last impact
    double next;        // time of the next one
} Exact;

static double next_impact(const Exact* exact) {
    double flight =
        2 * exact->v * exact->data.mass / (exact->data.stiffness * exact->data.wall); // when short
    double step = exact->q > exact->data.wall ? 1e-3 : fmin(1e-3, flight / 50), low = 0, high = 0,
           q, v;
    do { // until the gap changes its sign
        low = high;
        high += step;
        q = exact->q;
        v = exact->v;
        free_motion(&exact->data, high, &q, &v);
    } while (q > exact->data.wall);
    for (int i = 0; i < 60; ++i) {
        double middle = 0.5 * (low + high);
        q = exact->q;
        v = exact->v;
        free_motion(&exact->data, middle, &q, &v);
        *(q > exact->data.wall ? &low : &high) = middle;
    }
    return exact->start + high;
}

static void exact_oscillator(Exact* exact, double t, double* q, double* v) {
    while (t >= exact->next) {
        free_motion(&exact->data, exact->next - exact->start, &exact->q, &exact->v);
        exact->start = exact->next;
        exact->q = exact->data.wall;
        exact->v *= -exact->data.e;
        exact->next = exact->v > 1e-9 ? next_impact(exact) : INFINITY; // what is left lasts 1e-9 s
        if (exact->next == INFINITY) exact->v = 0;
    }
    *q = exact->q;
    *v = exact->v;
    if (exact->next < INFINITY) free_motion(&exact->data, t - exact->start, q, v);
}

// Times of the first n impacts (approach faster than `speed`) of contact 0; returns how many.
static int impact_times(Run* run, double speed, double T, int n, double* times) {
    int found = 0;
    while (run->t < T && found < n && run_step(run)) {
        if (run->P[0] > 0 && run->U_before[0] < -speed) times[found++] = run->t;
    }
    return found;
}

static double worst_time(int n, const double* times, const double* exact) {
    double worst = 0;
    for (int i = 0; i < n; ++i) worst = fmax(worst, fabs(times[i] - exact[i]));
    return worst;
}

// ---- Claims -------------------------------------------------------------------------------------

// Times of the first n impacts as the trapezoidal rule locates them; returns how many.
int verify_located(LashLagrangian* model, double h, double T, int n, double* times) {
    LashSettings set = verify_settings(LASH_TRAPEZOIDAL, h);
    LashSim* sim = verify_sim(lash_lagrangian_system(model), &set);
    int found = 0;
    while (lash_sim_time(sim) < T && found < n && lash_sim_step(sim).outcome == LASH_CONVERGED) {
        int events;
        const LashEvent* event = lash_sim_events(sim, &events);
        for (int i = 0; i < events && found < n; ++i) {
            if (event[i].kind == LASH_EVENT_IMPACT) times[found++] = event[i].t;
        }
    }
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(model);
    return found;
}

static void a01_ballard(Verdict* verdict) {
    const double exact[6] = {1, 2, 2.5, 2.75, 2.875, 2.9375};
    double located[6]; // force and acceleration are constant: exact but for rounding
    int count = verify_located(lash_paper_bouncing_ball(NULL), 1e-2, 3, 6, located);
    double off = count == 6 ? worst_time(count, located, exact) : INFINITY;
    verdict_add(verdict, off <= 1e-10, "trapezoidal, h=0.01: %d impacts located to %.1e s", count,
                off);
    const LashScheme scheme[2] = {LASH_MOREAU_JEAN, LASH_COMBINED};
    for (int c = 0; c < 2; ++c) {
        for (double h = 1e-3; h > 5e-5; h /= 10) {
            LashSettings set = verify_settings(scheme[c], h);
            Run run = run_begin(lash_paper_bouncing_ball(NULL), &set);
            double times[6], force = 0;
            int n = impact_times(&run, 1e-2, 3, 6, times);
            run_to(&run, 3.5);
            for (int k = 0; k < 100 && run_step(&run); ++k) force += run.P[0] / h / 100;
            double error = n == 6 ? worst_time(n, times, exact) / h : INFINITY;
            verdict_add(verdict, !run.failed && error <= 10 && fabs(force - 2) < 1e-9,
                        "%s h=%g: impact times within %.1f h, force at rest %.10g",
                        c == 0 ? "Moreau-Jean" : "combined", h, error, force);
            run_end(&run);
        }
    }
}

typedef struct Oscillator {
    const char* name;
    LashPaperOscillator data;
    double h, speed;
    int impacts;
    double times[6];
} Oscillator;

static const Oscillator oscillators[3] = {
    {"a",
     {1, 0, 1, 0, 0, 0.5, 1, 0},
     1e-4,
     1e-2,
     4,
     {LASH_PI / 2, 3 * LASH_PI / 2, 5 * LASH_PI / 2, 7 * LASH_PI / 2}},
    {"b",
     {1, 0.1, 39.478417604357434, 0, 0.2, 0.5, 1, 0},
     1e-5,
     5e-2,
     6,
     {0.21886983038411099, 0.59354655951637781, 0.87086384569290499, 1.0403775533972002,
      1.1312069776141554, 1.1774600441284187}},
    {"c",
     {1e-3, 0, 100, -0.00981, 0, 0.9, 1, 0},
     1e-7,
     1,
     6,
     {0.0049669839438886324, 0.014900882900775434, 0.024834705267784136, 0.034768442534928547,
      0.044702085246668554, 0.054635622896848608}}};

static void a02_oscillators(Verdict* verdict) {
    for (int k = 0; k < 3; ++k) {
        const Oscillator* oscillator = &oscillators[k];
        double error[2];
        for (int i = 0; i < 2; ++i) {
            LashSettings set =
                verify_settings(LASH_COMBINED, i == 0 ? 4 * oscillator->h : oscillator->h);
            Run run = run_begin(lash_paper_linear_oscillator(&oscillator->data), &set);
            double times[6];
            int n = impact_times(&run, oscillator->speed,
                                 oscillator->times[oscillator->impacts - 1] * 1.1,
                                 oscillator->impacts, times);
            error[i] = n == oscillator->impacts && !run.failed
                           ? worst_time(n, times, oscillator->times) / set.h
                           : INFINITY;
            run_end(&run);
        }
        verdict_add(verdict, error[0] <= 4 && error[1] <= 4,
                    "%s: %d impact times within %.2f h and %.2f h at h=%g, %g", oscillator->name,
                    oscillator->impacts, error[0], error[1], 4 * oscillator->h, oscillator->h);
    }
}

// The printed gaps (9), f_A = y - l/2 cos + L/2 sin, f_B = y - l/2 cos - L/2 sin.
static double printed_gap(const double* q, int corner) {
    return q[1] - 0.75 * cos(q[2]) + (corner == 0 ? 0.5 : -0.5) * sin(q[2]);
}

static void a03_block_gradient(Verdict* verdict) {
    LashLagrangian* block = lash_paper_rocking_block(NULL);
    const LashSystem* system = lash_lagrangian_system(block);
    LashSystemWork* work = system->work_create(system);
    double worst = 0, gap_error = 0, M[9];
    for (int k = 0; k < 25; ++k) {
        double q[3] = {0.3, 0.9, -1.2 + 0.1 * k}, v[3] = {0}, g[2], g_t[2], G[6];
        const LashInteractionList* list = system->collect(system, work, 0, q, v, 1e-3, 2);
        system->evaluate(system, work, 0, q, NULL, g, g_t, G);
        for (int c = 0; c < 2; ++c) {
            gap_error = fmax(gap_error, fabs(g[c] - printed_gap(q, c)));
            for (int j = 0; j < 3; ++j) {
                double x[3] = {q[0], q[1], q[2]}, y[3] = {q[0], q[1], q[2]}, d = 1e-5;
                x[j] += d;
                y[j] -= d;
                double slope = (printed_gap(x, c) - printed_gap(y, c)) / (2 * d);
                worst = fmax(worst, fabs(G[list->item[c].offset + j] - slope));
            }
        }
    }
    system->mass(system, work, (double[]){0, 1, 0}, M);
    verdict_add(verdict, worst <= 1e-7, "G - gradient of (9) %.2g", worst);
    verdict_add(verdict, gap_error <= 1e-14, "gap - (9) %.2g", gap_error);
    verdict_add(verdict, fabs(M[8] - 3.25 / 12) < 1e-15, "I = %.10g kg m2", M[8]);
    system->work_destroy(system, work);
    lash_lagrangian_destroy(block);
}

// Largest |U + e U_before| / (1 + |U_before|) where P > 0.
static double law_error(LashLagrangian* model, const LashSettings* settings, double e, double T,
                        int* impacts) {
    Run run = run_begin(model, settings);
    double worst = 0;
    while (run.t < T && run_step(&run)) {
        for (int c = 0; c < run.contacts; ++c) {
            if (!(run.P[c] > 1e-12)) continue;
            double error = fabs(run.U[c] + e * run.U_before[c]) / (1 + fabs(run.U_before[c]));
            worst = fmax(worst, error);
            *impacts += fabs(run.U_before[c]) > 1e-3;
        }
    }
    if (run.failed) worst = INFINITY;
    run_end(&run);
    return worst;
}

static void a04_impact_law(Verdict* verdict) {
    LashSettings set = verify_settings(LASH_MOREAU_JEAN, 1e-3);
    set.tolerance_velocity = 1e-12;
    set.tolerance_solver = 1e-14;
    int impacts[3] = {0};
    double error[3];
    error[0] = law_error(lash_paper_bouncing_ball(NULL), &set, 0.5, 4, &impacts[0]);
    error[1] = law_error(lash_paper_rocking_block(NULL), &set, 0.5, 2, &impacts[1]);
    set.h = 1e-5;
    error[2] = law_error(lash_paper_slider_crank(NULL), &set, 0.4, 0.1, &impacts[2]);
    const char* name[3] = {"ball", "block", "slider-crank"};
    for (int k = 0; k < 3; ++k)
        verdict_add(verdict, error[k] <= 1e-12 && impacts[k] >= 5, "%s %.2g over %d impacts",
                    name[k], error[k], impacts[k]);
}

// Rows (step, q) of a public run: ball m = 1, g = 9.81, e = 0.9, q0 = 1, h = 5e-3.
static void a05_schatzman_paoli(Verdict* verdict) {
    static const struct {
        int step;
        double q, tolerance;
    } row[5] = {{100, 1.539618749998950e-01, 1e-9},
                {500, 4.134542062498788e-01, 1e-9},
                {1000, 1.394543305144318e-01, 1e-9},
                {1400, 2.513205547327739e-02, 1e-9},
                {1999, -5.157198019328790e-12, 4e-6}};
    LashPaperBall data = {.mass = 1, .force = -9.81, .e = 0, .q = 1};
    LashSettings set = verify_settings(LASH_SCHATZMAN_PAOLI, 5e-3);
    Run run = run_begin(lash_paper_bouncing_ball(&data), &set);
    run_to(&run, 10);
    verdict_add(verdict, !run.failed && run.violation <= 1e-14, "e=0: largest violation %.2g",
                run.violation);
    run_end(&run);
    data.e = 0.9;
    run = run_begin(lash_paper_bouncing_ball(&data), &set);
    double worst = 0, law = 0, at_once = INFINITY, fall = 0, speed = 0;
    bool ok = true;
    int touching = 0; // steps with an impulse so far
    for (int k = 1, i = 0; k < 2000 && run_step(&run); ++k) {
        double last = speed;
        speed = (run.q[0] - run.q_before[0]) / run.h; // of the step
        if (run.P[0] > 0 && touching == 0) {
            fall = last;
            if (k < 400) at_once = fmin(at_once, fabs(run.v[0] / run.v_before[0] + 0.9));
        }
        if (!(run.P[0] > 0) && touching > 0 && k < 400) // the impact is over
            law = touching <= 3 ? fmax(law, fabs(last / fall + 0.9)) : INFINITY;
        touching = run.P[0] > 0 ? touching + 1 : 0;
        if (i >= 5 || k != row[i].step) continue;
        double error = fabs(run.q[0] - row[i].q);
        ok = ok && error <= row[i].tolerance;
        worst = fmax(worst, error);
        ++i;
    }
    verdict_add(verdict, ok && !run.failed, "e=0.9: public rows to %.2g m", worst);
    verdict_add(verdict, law < 1e-9 && at_once > 0.1,
                "speed ratio -e over 2-3 steps to %.2g, at once only to %.2g", law, at_once);
    run_end(&run);
}

// ---- prox forms ---------------------------------------------------------------------------------

// x = prox_M(K; y), K = {x_i >= low_i}: every set of bounds that hold is tried (2 coordinates).
static void prox(const double* M, const double* low, const double* y, double* x) {
    for (int set = 0; set < 4; ++set) {
        double r[2]; // M (x - y) = r >= 0 on the bounds, 0 elsewhere
        bool fixed[2] = {set & 1, set & 2};
        double a = M[0], b = M[1], c = M[3];
        if (!fixed[0] && !fixed[1]) {
            x[0] = y[0];
            x[1] = y[1];
        }
        if (fixed[0]) x[0] = low[0];
        if (fixed[1]) x[1] = low[1];
        if (fixed[0] && !fixed[1]) x[1] = y[1] - b / c * (x[0] - y[0]);
        if (fixed[1] && !fixed[0]) x[0] = y[0] - b / a * (x[1] - y[1]);
        r[0] = a * (x[0] - y[0]) + b * (x[1] - y[1]);
        r[1] = b * (x[0] - y[0]) + c * (x[1] - y[1]);
        bool good = true;
        for (int i = 0; i < 2; ++i)
            good = good && (fixed[i] ? r[i] >= -1e-14 : x[i] >= low[i] - 1e-14);
        if (good) return;
    }
}

static LashLagrangian* two_balls(double e) { // coupled by the mass matrix, both above the ground
    static const double M[6] = {0, 2, 0.5, 0.5, 1, 0};
    LashLinearContact contact[2];
    for (int i = 0; i < 2; ++i) {
        contact[i] = (LashLinearContact){
            .kind = LASH_UNILATERAL, .rows = 1, .e = e, .name = i == 0 ? "one" : "two"};
        contact[i].row[0] = (LashLinearRow){0, 1, {i}, {1}};
    }
    LashLinearDef def = lash_linear_def();
    def.n = 2;
    def.bandwidth = 1;
    def.M = M;
    def.load = (double[]){-3, -2};
    def.q0 = (double[]){1, 0.7};
    def.v0 = (double[]){0.1, -0.4};
    def.contact = contact;
    def.contacts = 2;
    return lash_linear_create(&def);
}

static const double prox_M[4] = {2, 0.5, 0.5, 1}, prox_a[2] = {-2 / 1.75, -2.5 / 1.75}; // M^-1 f

static void a06_prox(Verdict* verdict) {
    const double e = 0.6, h = 1e-2;
    LashSettings set = verify_explicit(LASH_MOREAU_JEAN, h, 0.5);
    Run run = run_begin(two_balls(e), &set);
    double worst = 0;
    int touched = 0;
    for (int k = 0; k < 400; ++k) { // (24): v + e v_k = prox(T(q~); (1 + e) v_k + h M^-1 F)
        double low[2], y[2], x[2];
        for (int i = 0; i < 2; ++i) low[i] = run.q[i] + 0.5 * h * run.v[i] <= 0 ? 0 : -INFINITY;
        if (!run_step(&run)) break;
        for (int i = 0; i < 2; ++i) y[i] = (1 + e) * run.v_before[i] + h * prox_a[i];
        if (low[0] == 0 || low[1] == 0) ++touched;
        prox(prox_M, low, y, x);
        for (int i = 0; i < 2; ++i)
            worst = fmax(worst, fabs(run.v[i] + e * run.v_before[i] - x[i]));
    }
    verdict_add(verdict, !run.failed && worst <= 1e-12 && touched > 20,
                "(24) to %.2g m/s, %d contact steps", worst, touched);
    run_end(&run);
    set = verify_settings(LASH_SCHATZMAN_PAOLI, h);
    run = run_begin(two_balls(e), &set);
    double back[2] = {1 - h * 0.1, 0.7 + h * 0.4};
    worst = touched = 0;
    for (int k = 0; k < 400 && run_step(&run); ++k) {
        double low[2] = {0, 0}, y[2], x[2]; // (25)
        for (int i = 0; i < 2; ++i)
            y[i] = 2 * run.q_before[i] - (1 - e) * back[i] + h * h * prox_a[i];
        prox(prox_M, low, y, x);
        for (int i = 0; i < 2; ++i) worst = fmax(worst, fabs(run.q[i] + e * back[i] - x[i]));
        touched += run.P[0] > 0 || run.P[1] > 0;
        memcpy(back, run.q_before, sizeof back);
    }
    verdict_add(verdict, !run.failed && worst <= 1e-12 && touched > 20,
                "(25) to %.2g m, %d contact steps", worst, touched);
    run_end(&run);
}

// ---- Orders -------------------------------------------------------------------------------------

// Against Ballard's ball, or oscillator b.
static OrderErrors order_errors(bool ball, const LashSettings* settings) {
    Exact exact = {.data = oscillators[1].data, .q = 1};
    Run run =
        run_begin(ball ? lash_paper_bouncing_ball(NULL) : lash_paper_linear_oscillator(&exact.data),
                  settings);
    exact.next = next_impact(&exact);
    OrderErrors e = {0};
    while (run.t + run.h <= 4 && run_step(&run)) {
        double q, v;
        if (ball) {
            verify_ballard(run.t, &q, &v);
        } else {
            exact_oscillator(&exact, run.t, &q, &v);
        }
        double dq = fabs(run.q[0] - q), dv = fabs(run.v[0] - v);
        e.q_sup = fmax(e.q_sup, dq);
        e.v_sup = fmax(e.v_sup, dv);
        e.q_l1 += run.h * dq;
        e.v_l1 += run.h * dv;
        e.q_l2 += run.h * dq * dq;
        e.v_l2 += run.h * dv * dv;
        if (settings->scheme != LASH_SCHATZMAN_PAOLI) e.tau = fmax(e.tau, run_projected(&run, 0.5));
    }
    e.q_l2 = sqrt(e.q_l2);
    e.v_l2 = sqrt(e.v_l2);
    if (run.failed) e.q_sup = NAN;
    run_end(&run);
    return e;
}

const OrderFamily* order_family(Cache* cache, bool ball, LashScheme scheme, double gamma) {
    uint64_t key = cache_key(0, "orders", 6);
    key = cache_key(key, &ball, sizeof ball);
    key = cache_key(key, &scheme, sizeof scheme);
    key = cache_key(key, &gamma, sizeof gamma);
    OrderFamily* family = cache_find(cache, key);
    if (family != NULL) return family;
    family = lash_alloc(sizeof *family);
    for (int k = 0; k < ORDER_FAMILY; ++k) {
        family->h[k] = 1.01 * exp2(-6 - 0.25 * k);
        LashSettings set = verify_explicit(scheme, family->h[k], gamma);
        family->error[k] = order_errors(ball, &set);
    }
    cache_keep(cache, key, family, NULL);
    return family;
}

// Slopes of q in the three norms, of v in l1 and l2, of v in the uniform norm.
static void family_slopes(const OrderFamily* family, double* slope) {
    for (int i = 0; i < 6; ++i) {
        double x[ORDER_FAMILY];
        for (int k = 0; k < ORDER_FAMILY; ++k) {
            const OrderErrors* e = &family->error[k];
            x[k] = (const double[]){e->q_sup, e->q_l1, e->q_l2, e->v_l1, e->v_l2, e->v_sup}[i];
        }
        slope[i] = fitted_slope(ORDER_FAMILY, family->h, x);
    }
}

static void a07_order(Verdict* verdict) {
    const LashScheme scheme[4] = {LASH_SCHATZMAN_PAOLI, LASH_MOREAU_JEAN, LASH_DIRECT,
                                  LASH_COMBINED};
    const char* name[4] = {"Schatzman-Paoli", "Moreau-Jean", "Algorithm 1", "Algorithm 2"};
    for (int problem = 0; problem < 2; ++problem) {
        for (int c = 0; c < 4; ++c) {
            double s[6];
            family_slopes(order_family(verdict->cache, problem == 0, scheme[c], 0), s);
            bool ok = s[5] < 0.2 && s[4] >= 0.35 && s[4] <= 0.65;
            for (int i = 0; i < 4; ++i) ok = ok && s[i] >= 0.85 && s[i] <= 1.15;
            verdict_add(verdict, ok, "%s%s %.2f %.2f %.2f %.2f %.2f %.2f",
                        problem == 0 ? "ball " : "osc. ", name[c], s[0], s[1], s[2], s[3], s[4],
                        s[5]);
        }
    }
}

static void a08_multiplier(Verdict* verdict) {
    const OrderFamily* family = order_family(verdict->cache, true, LASH_DIRECT, 0);
    double tau[ORDER_FAMILY], ratio = 0;
    for (int k = 0; k < ORDER_FAMILY; ++k) {
        tau[k] = family->error[k].tau;
        ratio = fmax(ratio, tau[k] / family->h[k]);
    }
    verdict_range(verdict, "slope of max tau", fitted_slope(ORDER_FAMILY, family->h, tau), 0.9,
                  1.1);
    verdict_range(verdict, "max tau / h", ratio, 0, 2); // largest speed of the ball: 2
}

// One step from q = |v| h / 2, v = -2: the impact falls in the middle of the step.
static void a09_consistency(Verdict* verdict) {
    double h[5], eq[2][5], ev[2][5];
    for (int gamma = 0; gamma < 2; ++gamma) {
        for (int k = 0; k < 5; ++k) {
            h[k] = 1e-2 * exp2(-2 * k);
            LashPaperBall data = lash_paper_ball();
            data.q = h[k];
            data.v = -2;
            double hit = (-2 + sqrt(4 + 4 * data.q)) / 2, up = 0.5 * (2 + 2 * hit), s = h[k] - hit;
            LashSettings set = verify_explicit(LASH_DIRECT, h[k], gamma);
            Run run = run_begin(lash_paper_bouncing_ball(&data), &set);
            run_step(&run);
            eq[gamma][k] = fabs(run.q[0] - (up * s - s * s));
            ev[gamma][k] = run.failed ? NAN : fabs(run.v[0] - (up - 2 * s));
            run_end(&run);
        }
    }
    verdict_range(verdict, "slope of e_q (gamma=0)", fitted_slope(5, h, eq[0]), 0.85, 1.15);
    verdict_range(verdict, "of e_v (gamma=0)", fitted_slope(5, h, ev[0]), -0.15, 0.15);
    double q = fitted_slope(5, h, eq[1]), v = fitted_slope(5, h, ev[1]);
    verdict_add(verdict, q >= 0.85 && v >= -0.15, "better when forecast (gamma=1): %.2f, %.2f", q,
                v);
}

static void a10_coupled(Verdict* verdict) {
    const double stiffness[3] = {1e2, 1e4, 1e6};
    for (int k = 0; k < 3; ++k) {
        LashPaperOscillator data = {1, 0, stiffness[k], 0, 0.05, 0.5, 1, 0};
        Run run[2];
        double q = 0, v = 0;
        int more = 0, projected = 0;
        for (int c = 0; c < 2; ++c) {
            LashSettings set = verify_explicit(LASH_DIRECT, 1e-3, 0);
            set.coupled = c == 1;
            set.theta = 0.75;
            run[c] = run_begin(lash_paper_linear_oscillator(&data), &set);
        }
        for (int i = 0; i < 2000; ++i) { // step by step from the same state: impacts amplify
            lash_sim_set_state(run[1].sim, run[0].t, run[0].q, run[0].v);
            if (!run_step(&run[0]) || !run_step(&run[1])) break;
            q = fmax(q, fabs(run[0].q[0] - run[1].q[0]));
            v = fmax(v, fabs(run[0].v[0] - run[1].v[0]));
            int d = run[1].info.newton - run[0].info.newton;
            if (d > more) more = d;
            projected += run_projected(&run[0], 0.75) > 1e-12;
        }
        verdict_add(verdict,
                    !run[0].failed && !run[1].failed && q <= 1e-10 && v <= 1e-7 && more <= 1 &&
                        projected > 0,
                    "k=%g: dq %.1g m, dv %.1g m/s, coupled needs up to %+d iterations, %d steps "
                    "projected",
                    stiffness[k], q, v, more, projected);
        for (int c = 0; c < 2; ++c) run_end(&run[c]);
    }
}

// ---- Table --------------------------------------------------------------------------------------

static const Claim claims[] = {
    {"A-01", "example 1", "Ballard's ball: finite accumulation of impacts",
     "t_n = 3 - 2^(2-n), at rest from t = 3 with force 2",
     "six impact times within 10 h, force at rest 2; located ones to 1e-10 s", NULL, false,
     a01_ballard},
    {"A-02", "example 2, (8)", "impacting linear oscillators a, b, c",
     "closed-form flow between impacts", "impact times within 4 h at two step lengths", NULL, false,
     a02_oscillators},
    {"A-03", "example 3, (9), (10)", "rocking block: gaps, their gradient, inertia",
     "columns of (10), I = m (l^2 + L^2) / 12", "differences of the printed gaps to 1e-7", NULL,
     false, a03_block_gradient},
    {"A-04", "(26)", "Moreau-Jean: U_{k+1} = -e U_k whenever P > 0", "exact",
     "1e-12 relative at every step with P > 0", NULL, false, a04_impact_law},
    {"A-05", "3.2, 3.3", "Schatzman-Paoli: g >= 0 when e = 0, Newton's law over 2-3 steps",
     "g(q_{k+1}) >= 0; public trajectory of a ball, e = 0.9",
     "violation <= 1e-14; law over at most 3 steps; public positions to 1e-9 (4e-6 after step "
     "1577)",
     NULL, false, a05_schatzman_paoli},
    {"A-06", "(24), (25)", "prox forms equal complementarity forms", "equal", "1e-12", NULL, false,
     a06_prox},
    {"A-07", "figure 2, 4.2", "global order, slopes: q sup, l1, l2; v l1, l2, sup",
     "order 1, projection does not change it",
     "gamma = 0: 0.85 .. 1.15 for q and v l1; v l2 0.35 .. 0.65, v sup does not converge (< 0.2)",
     "an impact found O(h) late leaves an error of v of size 1 for a time O(h): order 1 in l1, 1/2 "
     "in l2, 0 in the uniform norm",
     false, a07_order},
    {"A-08", "figure 3, (30)", "Algorithm 1: max tau = O(h)", "O(h)",
     "slope 0.9 .. 1.1, tau <= max|v| h", NULL, false, a08_multiplier},
    {"A-09", "proposition 2", "local consistency across an impact", "e_q = O(h), e_v = O(1)",
     "slopes 1 +- 0.15 and 0 +- 0.15 where the impact is not forecast", NULL, false,
     a09_consistency},
    {"A-10", "4.3.1", "Algorithm 1, decoupled and coupled", "same solution, coupling O(h^2)",
     "same state to the Newton tolerance, iterations within +1", NULL, false, a10_coupled},
};

ClaimTable verify_examples(void) {
    return (ClaimTable){"Acary, RR-8029", claims, sizeof claims / sizeof *claims};
}
