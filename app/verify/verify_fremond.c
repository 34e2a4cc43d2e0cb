// Claims C-01 to C-11, C-15 and C-16 of [AC24] Acary and Collins-Craft: laws of impact with
// friction.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/verify/runs.h"
#include "core/arena.h"
#include "core/math3.h"
#include "solvers/friction.h"

// ---- One impact by the law alone ----------------------------------------------------------------

enum { MAX_M = 9 };

typedef struct Impact { // U+ = W P + U-
    int contacts, m;    // spatial or planar contacts; rows
    uint8_t kind[3];
    double mu[3], e[3];
    double W[MAX_M * MAX_M], before[MAX_M], after[MAX_M], P[MAX_M];
} Impact;

// Solves with friction against U+ + share U-: share = 0 Newton-Coulomb, 1 Fremond (theta = 1/2).
static bool solve_impact(Impact* impact, double share, void* work) {
    double b[MAX_M], u[MAX_M];
    int rows = impact->m / impact->contacts;
    for (int i = 0; i < impact->m; ++i)
        b[i] = impact->before[i] * (1 + (i % rows == 0 ? impact->e[i / rows] : share));
    LashFrictionProblem problem = {.contacts = impact->contacts,
                                   .m = impact->m,
                                   .kind = impact->kind,
                                   .mu = impact->mu,
                                   .b = b,
                                   .W = impact->W,
                                   .ldw = impact->m};
    LashFrictionSettings settings = lash_friction_settings();
    settings.tolerance = 1e-13;
    settings.cold = true;
    memset(impact->P, 0, sizeof impact->P);
    LashFrictionInfo info = lash_friction_solve(&problem, &settings, impact->P, u, work);
    for (int i = 0; i < impact->m; ++i) {
        impact->after[i] = impact->before[i];
        for (int j = 0; j < impact->m; ++j)
            impact->after[i] += impact->W[i + impact->m * j] * impact->P[j];
    }
    return info.outcome != LASH_FAILED && info.residual <= 1e-10;
}

// (U+ + U-)' P / 2 of one contact's rows [first, last), or of all.
static double impact_work(const Impact* impact, int first, int last) {
    double sum = 0;
    for (int i = first; i < last; ++i)
        sum += 0.5 * (impact->before[i] + impact->after[i]) * impact->P[i];
    return sum;
}

static Impact random_impact(Random* random, double mu_max) {
    Impact impact = {.contacts = 1 + (int)random_uniform(random, 0, 3)};
    int rows = random_uniform(random, 0, 1) < 0.5 ? 2 : 3, m = rows * impact.contacts;
    impact.m = m;
    double A[MAX_M * MAX_M];
    for (int i = 0; i < m * m; ++i) A[i] = random_normal(random);
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            double sum = i == j ? 0.05 : 0;
            for (int k = 0; k < m; ++k) sum += A[i + m * k] * A[j + m * k];
            impact.W[i + m * j] = sum;
        }
        double u = random_normal(random);
        impact.before[i] = i % rows == 0 ? -fabs(u) : u; // U_N <= 0: it hits
    }
    for (int c = 0; c < impact.contacts; ++c) {
        impact.kind[c] = (uint8_t)rows;
        impact.mu[c] = random_uniform(random, 0, mu_max);
        impact.e[c] = random_uniform(random, 0, 1);
    }
    return impact;
}

static void c03_never_creates_energy(Verdict* verdict) {
    enum { SAMPLES = 100000 };
    Random random = {3};
    void* work = lash_alloc(lash_friction_work_size(3, MAX_M));
    double largest = -INFINITY, newton = -INFINITY;
    int unsolved = 0, positive = 0;
    for (int i = 0; i < SAMPLES; ++i) {
        Impact impact = random_impact(&random, 1);
        if (!solve_impact(&impact, 1, work)) ++unsolved;
        largest = fmax(largest, impact_work(&impact, 0, impact.m));
        if (!solve_impact(&impact, 0, work)) ++unsolved;
        double w = impact_work(&impact, 0, impact.m);
        newton = fmax(newton, w);
        positive += w > 1e-12;
    }
    lash_free(work);
    verdict_add(verdict, unsolved == 0, "%d impacts, %d unsolved", SAMPLES, unsolved);
    verdict_add(verdict, largest <= 1e-12, "largest work %.2g J", largest);
    verdict_add(verdict, positive > 0,
                "Newton-Coulomb on the same: %d with positive work, up to %.3g J", positive,
                newton);
}

static void c04_sticking(Verdict* verdict) {
    Random random = {4};
    void* work = lash_alloc(lash_friction_work_size(3, MAX_M));
    double worst = 0;
    int stuck = 0;
    for (int i = 0; i < 2000; ++i) {
        Impact impact = random_impact(&random, 1);
        for (int c = 0; c < impact.contacts; ++c) impact.mu[c] = 10;
        if (!solve_impact(&impact, 1, work)) continue;
        int rows = impact.m / impact.contacts;
        for (int c = 0; c < impact.contacts; ++c) {
            int n = rows * c;
            double t = hypot(impact.P[n + 1], rows > 2 ? impact.P[n + 2] : 0);
            if (!(impact.P[n] > 0) || t >= 0.999 * impact.mu[c] * impact.P[n]) continue;
            ++stuck;
            worst = fmax(worst, fabs(impact.after[n] + impact.e[c] * impact.before[n]));
            for (int r = 1; r < rows; ++r)
                worst = fmax(worst, fabs(impact.after[n + r] + impact.before[n + r]));
        }
    }
    lash_free(work);
    verdict_add(verdict, stuck > 1000 && worst <= 1e-12, "%d sticking contacts, worst %.2g m/s",
                stuck, worst);
}

// |distance of (u, r) from the conic form| and whether one of the three cases of Lemma 1 holds.
static void c16_lemma_1(Verdict* verdict) {
    Random random = {16};
    double conic = 0, cases = 0;
    for (int i = 0; i < 30000; ++i) { // cases -> conic form: K* contains u~ perp r in K
        double mu = random_uniform(&random, 0, 1), r[3] = {0}, u[3] = {0};
        double a = random_uniform(&random, 0, 2 * LASH_PI), c = cos(a), s = sin(a);
        double size = random_uniform(&random, 0, 1), speed = random_uniform(&random, 0, 1);
        if (i % 3 == 0) { // take-off
            u[0] = size;
            u[1] = random_normal(&random);
            u[2] = random_normal(&random);
        } else if (i % 3 == 1) { // sticking
            r[0] = size;
            r[1] = speed * mu * size * c;
            r[2] = speed * mu * size * s;
        } else { // sliding
            r[0] = size;
            r[1] = mu * size * c;
            r[2] = mu * size * s;
            u[1] = -speed * c;
            u[2] = -speed * s;
        }
        double u_t = hypot(u[1], u[2]), tilde = u[0] + mu * u_t;
        conic = fmax(conic, fmax(mu * u_t - tilde, hypot(r[1], r[2]) - mu * r[0]));
        conic = fmax(conic, fabs(tilde * r[0] + u[1] * r[1] + u[2] * r[2]));
    }
    void* work = lash_alloc(lash_friction_work_size(3, MAX_M));
    for (int i = 0; i < 3000; ++i) { // conic form (solved) -> one of the cases
        Impact p = random_impact(&random, 1);
        for (int c = 0; c < p.contacts; ++c) p.e[c] = 0;
        if (!solve_impact(&p, 0, work)) cases = INFINITY;
        int rows = p.m / p.contacts;
        for (int c = 0; c < p.contacts; ++c) {
            const double *r = p.P + rows * c, *u = p.after + rows * c;
            double r_t = hypot(r[1], rows > 2 ? r[2] : 0), u_t = hypot(u[1], rows > 2 ? u[2] : 0);
            double dot = r[1] * u[1] + (rows > 2 ? r[2] * u[2] : 0);
            double off = hypot(r[0], r_t) + fmax(0, -u[0]);                  // take-off
            double stick = hypot(u[0], u_t) + fmax(0, r_t - p.mu[c] * r[0]); // sticking
            double slide = fabs(r_t - p.mu[c] * r[0]) + fabs(u[0]) + fabs(dot + r_t * u_t);
            cases = fmax(cases, fmin(off, fmin(stick, slide)));
        }
    }
    lash_free(work);
    verdict_add(verdict, conic <= 1e-12, "cases to conic form: %.2g", conic);
    verdict_add(verdict, cases <= 1e-11, "solutions of the conic form to a case: %.2g", cases);
}

// ---- The stick: exact, from impact to impact ----------------------------------------------------

typedef struct StickImpact {
    double t, work_n, work_t;
    double slip_before, slip_after; // U_T
} StickImpact;

typedef struct Stick {
    LashPaperStick d;
    double t, q[3], v[3];
} Stick;

static double stick_gap(const Stick* stick, double t) {
    double dt = t - stick->t, angle = stick->q[2] + stick->v[2] * dt;
    return stick->q[1] + stick->v[1] * dt - stick->d.gravity * dt * dt / 2 -
           stick->d.length / 2 * cos(angle);
}

// Free flight to the next zero of the gap, which must be negative at some t < end.
static bool stick_fly(Stick* stick, double end) {
    double step = 1e-5, low = stick->t + step;
    while (low < end && stick_gap(stick, low + step) > 0) low += step;
    if (low >= end) return false;
    double high = low + step;
    while (high - low > 1e-16 * high) {
        double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) break;
        *(stick_gap(stick, middle) > 0 ? &low : &high) = middle;
    }
    double dt = high - stick->t;
    stick->q[0] += stick->v[0] * dt;
    stick->q[1] += stick->v[1] * dt - stick->d.gravity * dt * dt / 2;
    stick->q[2] += stick->v[2] * dt;
    stick->v[1] -= stick->d.gravity * dt;
    stick->t = high;
    return true;
}

static StickImpact stick_hit(Stick* stick, double share, void* work) {
    double half = stick->d.length / 2, m = stick->d.mass,
           J = m * stick->d.length * stick->d.length / 12;
    double G[2][3] = {{0, 1, half * sin(stick->q[2])}, {-1, 0, -half * cos(stick->q[2])}};
    double inverse[3] = {1 / m, 1 / m, 1 / J};
    Impact impact = {.contacts = 1, .m = 2, .kind = {2}, .mu = {stick->d.mu}, .e = {stick->d.e}};
    for (int i = 0; i < 2; ++i) {
        for (int k = 0; k < 3; ++k) {
            impact.before[i] += G[i][k] * stick->v[k];
            for (int j = 0; j < 2; ++j) impact.W[i + 2 * j] += G[i][k] * inverse[k] * G[j][k];
        }
    }
    solve_impact(&impact, share, work);
    for (int k = 0; k < 3; ++k)
        stick->v[k] += inverse[k] * (G[0][k] * impact.P[0] + G[1][k] * impact.P[1]);
    return (StickImpact){stick->t, impact_work(&impact, 0, 1), impact_work(&impact, 1, 2),
                         impact.before[1], impact.after[1]};
}

// Impacts in [0, 0.2 s]; returns how many (at most 4).
static int stick_exact(const LashPaperStick* data, double share, StickImpact* impact) {
    Stick s = {.d = data != NULL ? *data : lash_paper_stick()};
    memcpy(s.q, s.d.q, sizeof s.q);
    memcpy(s.v, s.d.v, sizeof s.v);
    void* work = lash_alloc(lash_friction_work_size(1, 2));
    int n = 0;
    while (n < 4 && stick_fly(&s, 0.2)) impact[n++] = stick_hit(&s, share, work);
    lash_free(work);
    return n;
}

// ---- The stick by time stepping -----------------------------------------------------------------

typedef struct StickRun {
    int impacts, step[4];
    double work_n[4], work_t[4];
    double largest_t, sum_n; // largest work of friction in one step; sum of normal work
    bool failed;
} StickRun;

typedef struct StickCase {
    LashLaw law;
    double theta, gamma, h;
} StickCase;

// H at q_k and the explicit forecast, as the paper has it; e and mu of the paper.
static const Track* track_case(Cache* cache, const StickCase* stick) {
    TrackCase what = {.system = TRACK_STICK, .T = 0.2, .stride = 1};
    what.set = verify_explicit(LASH_MOREAU_JEAN, stick->h, stick->gamma);
    what.set.direction = LASH_AT_START;
    what.set.law = stick->law;
    what.set.theta = stick->theta;
    return track_of(cache, &what);
}

const Track* stick_track(Cache* cache, LashLaw law) {
    StickCase stick = {law, 0.5, 0.5, 1e-4};
    return track_case(cache, &stick);
}

static StickRun stick_run(Cache* cache, const StickCase* stick) {
    const Track* track = track_case(cache, stick);
    StickRun result = {.largest_t = -INFINITY, .failed = track->failed};
    for (int k = 1; k < track->points; ++k) {
        double w_t = track->work_t[k] - track->work_t[k - 1];
        double w_n = track->work_n[k] - track->work_n[k - 1];
        result.sum_n += w_n;
        result.largest_t = fmax(result.largest_t, w_t);
        if (track->P[0][k] <= 0 || result.impacts == 4) continue;
        result.step[result.impacts] = k;
        result.work_n[result.impacts] = w_n;
        result.work_t[result.impacts++] = w_t;
    }
    return result;
}

static void c02_energy_created(Verdict* verdict) {
    StickImpact impact[4];
    int n = stick_exact(NULL, 0, impact);
    verdict_add(verdict, n == 2 && fabs(impact[0].work_t - 7.0755753e-4) <= 1e-11,
                "work of friction at the first impact %+.8g J", impact[0].work_t);
}

static void check_stick(Verdict* verdict, LashLaw law, const double time[2], const double work[2],
                        const int step[2], double gamma, int slack) {
    StickImpact exact[4];
    int n = stick_exact(NULL, law == LASH_FREMOND, exact);
    verdict_add(verdict, n == 2, "exact: %d impacts", n);
    for (int i = 0; i < 2 && i < n; ++i) {
        verdict_add(verdict,
                    fabs(exact[i].t - time[i]) <= 1e-12 && fabs(exact[i].work_t - work[i]) <= 5e-9,
                    "t = %.13f s, friction %+.5e J", exact[i].t, exact[i].work_t);
    }
    StickRun run = stick_run(verdict->cache, &(StickCase){law, 0.5, gamma, 1e-4});
    bool ok = !run.failed && run.impacts == 2;
    for (int i = 0; i < 2; ++i)
        ok = ok && abs(run.step[i] - step[i]) <= slack && fabs(run.work_t[i] - work[i]) <= 2e-5;
    verdict_add(verdict, ok, "h = 1e-4: impacts in steps %d and %d, friction %+.4e and %+.4e J",
                run.step[0], run.step[1], run.work_t[0], run.work_t[1]);
}

static void c08_stick_newton(Verdict* verdict) {
    static const double time[2] = {0.0602740890931, 0.1632757843996};
    static const double work[2] = {7.0756e-4, -5.9620e-4};
    static const int step[2] = {604, 1636};
    check_stick(verdict, LASH_NEWTON_COULOMB, time, work, step, 0.5, 0);
    StickRun zero = stick_run(verdict->cache, &(StickCase){LASH_NEWTON_COULOMB, 0.5, 0, 1e-4});
    verdict_add(verdict, zero.step[0] == 604 && zero.step[1] == 1636, "gamma = 0: steps %d and %d",
                zero.step[0], zero.step[1]);
}

static void c09_stick_fremond(Verdict* verdict) {
    static const double time[2] = {0.0602740890931, 0.1634264870419};
    static const double work[2] = {-6.7744e-4, -6.2472e-4};
    static const int step[2] = {604, 1636};
    check_stick(verdict, LASH_FREMOND, time, work, step, 0.5, 3);
    StickRun run = stick_run(verdict->cache, &(StickCase){LASH_FREMOND, 0.5, 0.5, 1e-4});
    verdict_add(verdict, run.largest_t <= 1e-14, "largest of one step %.2g J", run.largest_t);
}

static void c10_normal_work(Verdict* verdict) {
    StickImpact exact[4];
    for (int law = 0; law < 2; ++law) {
        int n = stick_exact(NULL, law, exact);
        double sum = 0;
        for (int i = 0; i < n; ++i) sum = fmax(sum, fabs(exact[i].work_n));
        verdict_add(verdict, n == 2 && sum <= 1e-12, "exact |work_N| <= %.1g J", sum);
    }
    double h[3] = {1e-4, 2.5e-5, 6.25e-6}, work[3];
    for (int i = 0; i < 3; ++i) {
        StickRun run = stick_run(verdict->cache, &(StickCase){LASH_NEWTON_COULOMB, 0.5, 0.5, h[i]});
        work[i] = fabs(run.sum_n);
        verdict_add(verdict, !run.failed && work[i] <= 1 * h[i], "h = %g: %.2e J", h[i], run.sum_n);
    }
}

static void c11_convention(Verdict* verdict) {
    StickImpact plus[4], minus[4];
    stick_exact(NULL, 0, plus);
    LashPaperStick mirrored = lash_paper_stick(); // C = x - l/2 sin(gamma): the angle changes sign
    mirrored.q[2] = -mirrored.q[2];
    mirrored.v[2] = -mirrored.v[2];
    stick_exact(&mirrored, 0, minus);
    verdict_add(verdict, plus[0].work_t > 0 && plus[0].slip_before * plus[0].slip_after < 0,
                "C = x + l/2 sin: U_T %.3f to %.3f m/s, friction %+.3e J", plus[0].slip_before,
                plus[0].slip_after, plus[0].work_t);
    verdict_add(verdict, minus[0].work_t < 0 && minus[0].slip_before * minus[0].slip_after > 0,
                "C = x - l/2 sin: U_T %.3f to %.3f m/s, friction %+.3e J", minus[0].slip_before,
                minus[0].slip_after, minus[0].work_t);
}

static void c07_theta_one(Verdict* verdict) {
    LashSettings set = verify_explicit(LASH_MOREAU_JEAN, 1e-4, 0.5);
    set.direction = LASH_AT_START;
    set.theta = 1;
    Run newton = run_begin(lash_paper_impacting_stick(NULL), &set);
    set.law = LASH_FREMOND;
    Run fremond = run_begin(lash_paper_impacting_stick(NULL), &set);
    double largest = 0;
    for (int k = 0; k < 2000 && run_step(&newton) && run_step(&fremond); ++k) {
        for (int i = 0; i < 3; ++i) {
            largest = fmax(largest, fabs(newton.q[i] - fremond.q[i]));
            largest = fmax(largest, fabs(newton.v[i] - fremond.v[i]));
        }
    }
    verdict_add(verdict,
                !newton.failed && !fremond.failed && newton.steps == 2000 && largest <= 1e-14,
                "stick, 2000 steps, e = 1: largest difference %.1g", largest);
    run_end(&newton);
    run_end(&fremond);
}

// ---- Sliding, balance of linear systems ---------------------------------------------------------

static void c01_sliding_power(Verdict* verdict) {
    LashPaperBlock data = lash_paper_block();
    data.mu = 0.3;
    data.e = 0;
    data.q[0] = 0;
    data.q[1] = data.height / 2;
    data.q[2] = 0;
    data.v[0] = 2;
    data.v[1] = data.v[2] = 0;
    for (int law = 0; law < 2; ++law) {
        LashSettings set = verify_settings(LASH_COMBINED, 1e-3);
        set.law = law;
        Run run = run_begin(lash_paper_rocking_block(&data), &set);
        double worst = 0, sum = 0;
        int steps = 0;
        while (run.t < 0.5 && run.v[0] > 0.1) {
            LashEnergy before = lash_sim_energy(run.sim);
            if (!run_step(&run)) break;
            double work = lash_sim_energy(run.sim).contact_work_t - before.contact_work_t;
            double slip = 0.5 * (run.v_before[0] + run.v[0]);
            double expected = -data.mu * (run.P[0] + run.P[1]) * fabs(slip);
            worst = fmax(worst, fabs(work / expected - 1));
            sum += work;
            ++steps;
        }
        verdict_add(verdict, !run.failed && steps >= 400 && worst <= 1e-12,
                    "%s: %d steps, worst %.1e", law == 0 ? "Newton-Coulomb" : "Fremond", steps,
                    worst);
        run_end(&run);
    }
}

static void c05_balance(Verdict* verdict) {
    for (int law = 0; law < 2; ++law) {
        for (int k = 0; k < 3; ++k) {
            double theta = 0.5 + 0.25 * k;
            Balance b = balance_of((LashLaw)law, theta, 1, 5);
            verdict_add(verdict, b.failed == 0 && b.identity <= 1e-12 && b.normal <= 1e-12,
                        "%s theta=%g: balance %.1e, normal work %.1e, %ld contacts",
                        law == 0 ? "Newton" : "Fremond", theta, b.identity, b.normal, b.pushing);
        }
    }
}

static void c06_dissipates(Verdict* verdict) {
    static const double e[4] = {0, 0.3, 0.7, 1};
    for (int i = 0; i < 4; ++i) {
        for (int end = 0; end < 2; ++end) {
            double theta = end ? 1 / (1 + e[i]) : 0.5;
            Balance b = balance_of(LASH_FREMOND, theta, e[i], 60 + (uint64_t)i);
            verdict_add(verdict, b.failed == 0 && b.gain <= 1e-12,
                        "e<=%g theta=%.3f: dE - W <= %.1e J", e[i], theta, b.gain);
        }
    }
    Balance b = balance_of(LASH_FREMOND, 1, 1, 66);
    verdict_add(verdict, true, "outside (theta=1, e<=1): %.1e J", b.gain);
}

static void c15_theta_one_plastic(Verdict* verdict) {
    Balance b = balance_of(LASH_NEWTON_COULOMB, 1, 0, 15);
    verdict_add(verdict, b.failed == 0 && b.gain <= 1e-12, "dE - W <= %.1e J, %ld contacts", b.gain,
                b.pushing);
}

// ---- Table --------------------------------------------------------------------------------------

static const Claim claims[] = {
    {"C-01", "(40)", "power of smooth sliding is -mu r_N |u_T|", "equality", "1e-12 relative", NULL,
     false, c01_sliding_power},
    {"C-02", "(43), (44)", "Newton's law with Coulomb friction can create energy",
     "work of friction > 0 at the first impact of the stick", "+7.0755753e-4 J to 1e-11",
     "the inertia of the stick, m l^2/12, is not stated in the text", false, c02_energy_created},
    {"C-03", "lemma 2", "Fremond's law never creates energy", "(v+ + v-)' H' p <= 0",
     "largest work of 1e5 random impacts <= 1e-12 J", NULL, false, c03_never_creates_energy},
    {"C-04", "sticking case", "sticking under Fremond's law reverses the slip",
     "u_T+ = -u_T-, u_N+ = -e u_N-", "1e-12",
     "the sentence after (44) prints the reversal without signs", false, c04_sticking},
    {"C-05", "(56), (60)", "discrete balance of energy",
     "dE - W = (1/2 - theta)[..] + u_{k+theta}' p; normal part (1 - theta (1 + e)) u_N,k p_N",
     "1e-12 relative", NULL, false, c05_balance},
    {"C-06", "proposition 1, (77), (78)", "Moreau-Jean-Fremond dissipates",
     "dE <= W for 1/2 <= theta <= 1/(1 + e)", "dE - W <= 1e-12 J in every step with contact", NULL,
     false, c06_dissipates},
    {"C-07", "(75), (76)", "theta = 1: Fremond's scheme is Moreau-Jean", "equal", "1e-14", NULL,
     false, c07_theta_one},
    {"C-08", "5.1, figure 2", "impacting stick, Newton-Coulomb: friction works with the wrong sign",
     "two impacts; positive work of friction at the first",
     "exact t to 1e-12 s, work to 5e-9 J; h = 1e-4: steps 604 and 1636, work within 2e-5 J", NULL,
     false, c08_stick_newton},
    {"C-09", "5.1, figure 3", "impacting stick, Fremond: friction never works with the wrong sign",
     "work of friction never positive",
     "exact t to 1e-12 s, work to 5e-9 J; h = 1e-4: O(h), no step with positive work", NULL, false,
     c09_stick_fremond},
    {"C-10", "5.1", "e = 1: normal impulses do no net work", "0",
     "1e-12 J from impact to impact; at most h [J] when stepping", NULL, false, c10_normal_work},
    {"C-11", "5.1", "which end of the stick touches", "C = x - l/2 sin(gamma) by the initial x",
     "energy grows with + and not with -",
     "the initial position printed suggests the minus sign; only the plus sign gives the paper's "
     "figure",
     false, c11_convention},
    {"C-15", "remark 2", "theta = 1 and e = 0: Moreau-Jean dissipates", "dE <= W",
     "dE - W <= 1e-12 J", NULL, false, c15_theta_one_plastic},
    {"C-16", "lemma 1", "three cases of Coulomb's law equal its conic form", "equivalent",
     "1e-12 from the cases, 1e-11 for solved problems", NULL, false, c16_lemma_1},
};

ClaimTable verify_fremond(void) {
    return (ClaimTable){"Acary, Collins-Craft", claims, sizeof claims / sizeof *claims};
}
