// Claims of [A12] Acary, RR-8029: chattering, energy, slider on a roller, public
// trajectories, rocking block.
#include <math.h>
#include <string.h>

#include "app/verify/runs.h"

// ---- Bouncing ball ------------------------------------------------------------------------------

typedef struct Tail { // the last 40 steps before T = 6
    double low, high; // of the velocity
    double violation, tau;
    int projections;
    bool failed;
} Tail;

static const Track* ball_track(Cache* cache, const LashSettings* settings) {
    TrackCase what = {.system = TRACK_BALL, .set = *settings, .T = 6, .stride = 1};
    return track_of(cache, &what);
}

static Tail ball_tail(Cache* cache, const LashSettings* settings) {
    const Track* track = ball_track(cache, settings);
    Tail tail = {.low = INFINITY, .high = -INFINITY};
    for (int k = 1; k < track->points; ++k) {
        tail.tau = fmax(tail.tau, track->tau[k]);
        tail.projections += track->tau[k] > 1e-12;
        if (k < track->points - 40) continue;
        tail.low = fmin(tail.low, track->v[0][k]);
        tail.high = fmax(tail.high, track->v[0][k]);
    }
    tail.violation = track->violation;
    tail.failed = track->failed;
    return tail;
}

static void a11_chattering(Verdict* verdict) {
    const double h[3] = {0.05, 0.0493, 0.01};
    for (int gamma = 0; gamma <= 2; ++gamma) {
        double low = gamma == 0 ? -8.0 / 3 : -4.0 / 3, high = -low / 2;
        for (int k = 0; k < 3; ++k) {
            LashSettings set = verify_explicit(LASH_DIRECT, h[k], gamma);
            Tail tail = ball_tail(verdict->cache, &set);
            bool ok = !tail.failed && fabs(tail.low / h[k] - low) <= 0.1 * fabs(low) &&
                      fabs(tail.high / h[k] - high) <= 0.1 * high;
            verdict_add(verdict, ok, "gamma=%d h=%g: [%.3f, %.3f] h", gamma, h[k], tail.low / h[k],
                        tail.high / h[k]);
        }
    }
}

static void a12_free_forecast(Verdict* verdict) {
    const double h[3] = {0.05, 0.0493, 0.01};
    for (int k = 0; k < 3; ++k) {
        LashSettings set = verify_settings(LASH_DIRECT, h[k]);
        Tail tail = ball_tail(verdict->cache, &set);
        double speed = fmax(-tail.low, tail.high);
        verdict_add(verdict, !tail.failed && speed < 1e-4, "h=%g: |v| <= %.2g m/s", h[k], speed);
    }
}

// At h = 0.05 the ball touches at the very end of step 20. It is started 1e-12 lower, so that the
// tie counts as contact.
static void a13_equals_moreau_jean(Verdict* verdict) {
    LashPaperBall data = lash_paper_ball();
    data.q -= 1e-12;
    double difference = 0, tau = 0, violation = 0;
    Run run[2];
    for (int c = 0; c < 2; ++c) {
        LashSettings set = verify_settings(c == 0 ? LASH_DIRECT : LASH_MOREAU_JEAN, 0.05);
        run[c] = run_begin(lash_paper_bouncing_ball(&data), &set);
    }
    while (run[0].t < 6 && run_step(&run[0]) && run_step(&run[1])) {
        difference = fmax(difference, fabs(run[0].q[0] - run[1].q[0]));
        difference = fmax(difference, fabs(run[0].v[0] - run[1].v[0]));
        tau = fmax(tau, run_projected(&run[0], 0.5));
    }
    violation = run[1].violation;
    verdict_add(verdict,
                !run[0].failed && !run[1].failed && difference <= 1e-11 && tau <= 1e-11 &&
                    violation <= 1e-11,
                "h=0.05: violation %.2g, tau %.2g, difference to Moreau-Jean %.2g", violation, tau,
                difference);
    for (int c = 0; c < 2; ++c) run_end(&run[c]);
    LashSettings set = verify_settings(LASH_DIRECT, 0.0501);
    Tail tail = ball_tail(verdict->cache, &set);
    verdict_add(verdict, !tail.failed && tail.tau > 1e-4 && tail.tau < 2e-3,
                "h=0.0501: %d steps are projected, tau up to %.2g", tail.projections, tail.tau);
}

static void a14_potential_energy(Verdict* verdict) {
    LashSettings set = verify_explicit(LASH_DIRECT, 0.05, 0);
    const Track* track = ball_track(verdict->cache, &set);
    double worst = 0, least = INFINITY;
    int projections = 0;
    for (int k = 1; k < track->points; ++k) {
        double change = track->energy[k] - track->energy[k - 1];
        double work =
            track->work_n[k] + track->work_t[k] - track->work_n[k - 1] - track->work_t[k - 1];
        double dq = track->q[0][k] - track->q[0][k - 1] -
                    0.5 * set.h * (track->v[0][k] + track->v[0][k - 1]);
        worst = fmax(worst, fabs(change - work - 2 * dq)); // |f| = 2
        if (fabs(dq) > 1e-12) {
            ++projections;
            least = fmin(least, 2 * dq);
        }
    }
    verdict_add(verdict, !track->failed && worst <= 1e-14 && least >= 0 && projections > 10,
                "%d projections, dE - |f| dq = %.2g J, smallest dE = %.2g J", projections, worst,
                least);
}

const Track* elastic_ball(Cache* cache, double h) {
    LashPaperBall data = lash_paper_ball();
    data.e = 1;
    TrackCase what = {.system = TRACK_BALL, .data = &data, .stride = 1};
    what.set = verify_explicit(LASH_DIRECT, h, 0);
    what.T = h * floor(10 / h + 1e-9);
    return track_of(cache, &what);
}

static void a15_energy_grows(Verdict* verdict) {
    const Track* track = elastic_ball(verdict->cache, 0.0501);
    double start = track->energy[0], end = track->energy[track->points - 1];
    verdict_add(verdict, !track->failed && end > start && fabs(end - 2.0080) <= 1e-4,
                "h=0.0501: E from %.4f to %.4f J", start, end);
}

static void a16_amplitude(Verdict* verdict) {
    const double h[4] = {0.05, 0.0203, 0.0101, 0.00507};
    double low = INFINITY, high = 0;
    for (int k = 0; k < 4; ++k) {
        LashSettings set = verify_explicit(LASH_DIRECT, h[k], 1);
        Tail tail = ball_tail(verdict->cache, &set);
        double ratio = tail.failed ? NAN : (tail.high - tail.low) / h[k];
        low = fmin(low, ratio);
        high = fmax(high, ratio);
        verdict_add(verdict, !tail.failed, "h=%g: %.3f h", h[k], ratio);
    }
    verdict_add(verdict, high <= 1.1 * low, "spread %.1f %%", 100 * (high / low - 1));
}

// ---- Slider on a roller -------------------------------------------------------------------------

const Track* roller_track(Cache* cache, LashScheme scheme) {
    TrackCase what = {.system = TRACK_ROLLER, .T = 3, .stride = 1};
    what.set = verify_explicit(scheme, 1e-3, 0);
    return track_of(cache, &what);
}

static void a17_roller(Verdict* verdict) {
    const LashScheme scheme[3] = {LASH_MOREAU_JEAN, LASH_COMBINED, LASH_DIRECT};
    const char* name[3] = {"Moreau-Jean", "Algorithm 2", "Algorithm 1"};
    for (int c = 0; c < 3; ++c) {
        const Track* track = roller_track(verdict->cache, scheme[c]);
        double angle = 0, speed = 0;
        for (int k = 0; k < track->points; ++k) {
            if (track->t[k] < 1.5 + 5e-4) {
                angle = track->q[1][k];
            } else {
                speed = fmax(speed, fabs(track->v[1][k]));
            }
        }
        double drift = track->q[1][track->points - 1] - angle;
        bool rests = speed < 1e-6 && fabs(drift)<1e-6, drifts = fabs(drift)> 1e-4;
        verdict_add(verdict, !track->failed && (c < 2 ? rests : drifts),
                    "%s: speed %.2g rad/s, drift %.2g rad in 1.5 s", name[c], speed, drift);
    }
}

// ---- Algorithm 2 --------------------------------------------------------------------------------

// Every step: no violation, impact law where P > 0, and what was projected lies on a contact.
static void check_combined(Verdict* verdict, const char* name, LashLagrangian* model, double h,
                           double e, double T) {
    LashSettings set = verify_settings(LASH_COMBINED, h);
    Run run = run_begin(model, &set);
    double law = 0;
    int wrong = 0, projected = 0;
    while (run.t < T && run_step(&run)) {
        bool on_contact = false;
        for (int c = 0; c < run.contacts; ++c) {
            on_contact = on_contact || fabs(run.gap[c]) <= 1e-10;
            if (run.P[c] > 1e-12) law = fmax(law, fabs(run.U[c] + e * run.U_before[c]));
        }
        bool moved = run_projected(&run, 0.5) > 1e-9;
        projected += moved;
        wrong += moved && !on_contact;
    }
    verdict_add(
        verdict,
        !run.failed && run.violation <= 1e-10 && law <= 1e-10 && wrong == 0 && projected > 0,
        "%s h=%g: violation %.2g m, law %.2g m/s, %d steps projected", name, h, run.violation, law,
        projected);
    run_end(&run);
}

static void a18_combined_end(Verdict* verdict) {
    check_combined(verdict, "ball", lash_paper_bouncing_ball(NULL), 0.0501, 0.5, 6);
    check_combined(verdict, "block", lash_paper_rocking_block(NULL), 1e-2, 0.5, 2);
    check_combined(verdict, "block", lash_paper_rocking_block(NULL), 1e-3, 0.5, 2);
    check_combined(verdict, "slider-crank", lash_paper_slider_crank(NULL), 1e-4, 0.4, 0.2);
}

// Rows (step, q, v) of public runs: ball m = 1, g = 9.81, e = 0.9, q0 = 1, h = 5e-3, theta = 1/2.
typedef struct PublicRun {
    const char* name;
    LashScheme scheme;
    bool project_all;
    double tolerance;
    struct {
        int step;
        double q, v;
    } row[5];
} PublicRun;

static const PublicRun public_runs[4] = {{"Moreau-Jean",
                                          LASH_MOREAU_JEAN,
                                          true,
                                          1e-12,
                                          {{100, 1.744884999999991e-01, 3.531600000000007e+00},
                                           {500, 3.956807012500005e-01, -1.628950500000001e+00},
                                           {1000, 1.513536802625140e-01, -7.522581257549901e-01},
                                           {1400, 2.739785245603675e-02, 2.848801105499127e-01},
                                           {1999, -2.288618090550717e-05, 2.775557561562891e-17}}},
                                         {"Algorithm 1, all projected",
                                          LASH_DIRECT,
                                          true,
                                          1e-12,
                                          {{100, 1.744884999999981e-01, 3.531600000000010e+00},
                                           {500, 3.956807012500134e-01, -1.628950499999989e+00},
                                           {1000, 1.588003366375142e-01, -7.522581257549684e-01},
                                           {1400, 2.631139200045741e-02, -6.240728463215673e-01},
                                           {1999, 6.417015415800044e-04, -3.079489722801790e-02}}},
                                         {"Algorithm 1, active projected",
                                          LASH_DIRECT,
                                          false,
                                          1e-12,
                                          {{100, 1.744884999999991e-01, 3.531600000000007e+00},
                                           {500, 3.956807012500005e-01, -1.628950500000001e+00},
                                           {1000, 1.588003366375136e-01, -7.522581257549901e-01},
                                           {1400, 2.631139200045884e-02, -6.240728463215899e-01},
                                           {1999, 6.417015415795758e-04, -3.079489722803269e-02}}},
                                         {"Algorithm 2",
                                          LASH_COMBINED,
                                          true,
                                          2e-10,
                                          {{100, 1.688546250000003e-01, 3.531600000000007e+00},
                                           {500, 3.651772500000000e-01, -1.722145500000000e+00},
                                           {1000, 0.000000000000000e+00, 1.599293275384501e+00},
                                           {1400, 5.419430411974174e-03, -3.812341065336194e-01},
                                           {1999, 5.039379110190824e-11, -2.775557561562891e-17}}}};

static void a19_public(Verdict* verdict) {
    LashPaperBall data = {.mass = 1, .force = -9.81, .e = 0.9, .q = 1};
    for (int c = 0; c < 4; ++c) {
        const PublicRun* public_run = &public_runs[c];
        LashSettings set = verify_explicit(public_run->scheme, 5e-3, 0.5);
        set.project_all = public_run->project_all;
        Run run = run_begin(lash_paper_bouncing_ball(&data), &set);
        double worst = 0, speed = 0;
        for (int k = 1, i = 0; k < 2000 && run_step(&run); ++k) {
            if (k >= 1960) speed = fmax(speed, fabs(run.v[0]));
            if (k != public_run->row[i].step) continue;
            worst = fmax(worst, fabs(run.q[0] - public_run->row[i].q));
            worst = fmax(worst, fabs(run.v[0] - public_run->row[i].v));
            ++i;
        }
        bool chatters = public_run->scheme == LASH_DIRECT;
        verdict_add(verdict,
                    !run.failed && worst <= public_run->tolerance &&
                        (chatters ? speed > 1e-2 : speed < 1e-9),
                    "%s: rows to %.1g, last |v| %.1g", public_run->name, worst, speed);
        run_end(&run);
    }
}

// ---- Rocking block ------------------------------------------------------------------------------

// First impacts: contact (0 = A, 1 = B) and time.
static int block_impacts(Run* run, int n, int* contact, double* time) {
    int found = 0;
    while (found < n && run->t < 1 && run_step(run)) {
        for (int c = 0; c < 2 && found < n; ++c) {
            if (run->P[c] > 0 && run->U_before[c] < -0.05) {
                contact[found] = c;
                time[found++] = run->t;
            }
        }
    }
    return found;
}

// The block flies freely between impacts, which the trapezoidal rule follows exactly.
static void check_located(Verdict* verdict, double omega, const double* exact) {
    double h[2] = {4e-3, 1e-3}, late[2] = {0};
    for (int i = 0; i < 2; ++i) {
        LashPaperBlock data = lash_paper_block();
        data.v[2] = omega;
        double time[5];
        int found = verify_located(lash_paper_rocking_block(&data), h[i], 1, 5, time);
        if (found < 5) late[i] = INFINITY;
        for (int j = 0; j < found; ++j) late[i] = fmax(late[i], fabs(time[j] - exact[j]));
    }
    verdict_add(verdict, late[0] <= 5e-10 && late[1] <= 5e-10,
                "trapezoidal: located to %.1e and %.1e s at h=4e-3, 1e-3", late[0], late[1]);
}

static void a20_block_impacts(Verdict* verdict) {
    static const double exact[2][5] = {
        {0.177221938, 0.320976527, 0.455950726, 0.555587370, 0.573909847},
        {0.183751484, 0.296296864, 0.472693234, 0.518576581, 0.614645847}};
    for (int k = 0; k < 2; ++k) {
        double error[3];
        bool order = true;
        for (int i = 0; i < 3; ++i) {
            LashPaperBlock data = lash_paper_block();
            if (k == 1) data.v[2] = 0;
            LashSettings set =
                verify_settings(LASH_COMBINED, (const double[]){1e-3, 1e-4, 1e-5}[i]);
            Run run = run_begin(lash_paper_rocking_block(&data), &set);
            int contact[5];
            double time[5];
            bool found = block_impacts(&run, 5, contact, time) == 5 && !run.failed;
            error[i] = found ? 0 : INFINITY;
            for (int j = 0; j < 5 && found; ++j) {
                error[i] = fmax(error[i], fabs(time[j] - exact[k][j]) / set.h);
                order = order && contact[j] == (j % 2 == 0 ? 1 : 0);
            }
            run_end(&run);
        }
        verdict_add(verdict, order && error[0] <= 10 && error[1] <= 10 && error[2] <= 10,
                    "omega0=%g: B A B A B within %.1f, %.1f, %.1f h at h=1e-3, 1e-4, 1e-5",
                    k == 0 ? 0.2 : 0.0, error[0], error[1], error[2]);
        check_located(verdict, k == 0 ? 0.2 : 0, exact[k]);
    }
}

typedef struct BlockEnd {
    double speed, y, angle, violation; // largest |v|, |omega| for t > 1.2; at the end
    double energy[2];                  // at 0.6 and 2
    bool failed;
} BlockEnd;

const Track* rocking_track(Cache* cache, LashScheme scheme) {
    TrackCase what = {.system = TRACK_BLOCK, .T = 2, .stride = 1};
    what.set = verify_settings(LASH_COMBINED, 1e-2);
    if (scheme == LASH_DIRECT) what.set = verify_explicit(LASH_DIRECT, 1e-2, 1);
    return track_of(cache, &what);
}

static BlockEnd block_end(Cache* cache, LashScheme scheme) {
    const Track* track = rocking_track(cache, scheme);
    BlockEnd end = {.violation = track->violation, .failed = track->failed};
    for (int k = 0; k < track->points; ++k) {
        if (fabs(track->t[k] - 0.6) < 5e-3) end.energy[0] = track->energy[k];
        end.energy[1] = track->energy[k];
        end.y = track->q[1][k];
        end.angle = track->q[2][k];
        if (track->t[k] <= 1.2) continue;
        end.speed = fmax(end.speed, fmax(fabs(track->v[1][k]), fabs(track->v[2][k])));
    }
    return end;
}

static void a21_block_rests(Verdict* verdict) {
    BlockEnd two = block_end(verdict->cache, LASH_COMBINED);
    verdict_add(verdict,
                !two.failed && two.speed < 1e-6 && fabs(two.y - 0.75) < 1e-9 &&
                    fabs(two.angle) < 1e-9 && two.violation <= 1e-10,
                "Algorithm 2: speed after 1.2 s %.2g, y %.9g, theta %.2g, violation %.2g",
                two.speed, two.y, two.angle, two.violation);
    BlockEnd one = block_end(verdict->cache, LASH_DIRECT);
    verdict_add(verdict, !one.failed && one.speed > 1e-3, "Algorithm 1: speed %.2g", one.speed);
}

static void a22_block_energy(Verdict* verdict) {
    BlockEnd two = block_end(verdict->cache, LASH_COMBINED);
    BlockEnd one = block_end(verdict->cache, LASH_DIRECT);
    const double time[2] = {0.6, 2};
    for (int k = 0; k < 2; ++k)
        verdict_add(verdict, !one.failed && !two.failed && two.energy[k] <= one.energy[k],
                    "t=%g: %.6f (Algorithm 2), %.6f J (Algorithm 1)", time[k], two.energy[k],
                    one.energy[k]);
}

// ---- Table --------------------------------------------------------------------------------------

static const Claim claims[] = {
    {"A-11", "figure 4, 4.5", "Algorithm 1 with explicit forecast chatters, gamma = 0, 1, 2",
     "velocity does not decay (h = 5e-2)",
     "limits [-8h/3, 4h/3] for gamma = 0, [-4h/3, 2h/3] else, to 10 %", NULL, false,
     a11_chattering},
    {"A-12", "figure 5", "no chattering with the free forecast", "at rest after the accumulation",
     "|v| of the last 40 steps < 1e-4", NULL, false, a12_free_forecast},
    {"A-13", "4.5", "free forecast: no violation, tau = 0, equals Moreau-Jean", "always",
     "exact at h = 0.05 with the tie at t = 1 as contact",
     "the claim holds for the paper's step only: at h = 0.0501 some steps are projected", false,
     a13_equals_moreau_jean},
    {"A-14", "figure 6", "each projection raises the potential energy", "dE = |f| dq >= 0",
     "to 1e-14 J at every step", NULL, false, a14_potential_energy},
    {"A-15", "figure 7", "Algorithm 1, e = 1: the total energy grows", "E_end > E_0",
     "2.0080 +- 1e-4 J at T = 10 with h = 0.0501",
     "at the paper's h = 5e-2 the value hangs on the rounding of a tie at t = 1", false,
     a15_energy_grows},
    {"A-16", "4.5", "amplitude of chattering vanishes with h", "-> 0",
     "amplitude / h constant, 10 %", NULL, false, a16_amplitude},
    {"A-17", "figure 8", "slider on a roller, torque < mu R m g: who comes to rest",
     "Moreau-Jean and Algorithm 2 do, Algorithm 1 never",
     "speed < 1e-6 rad/s; Algorithm 1 keeps drifting",
     "the paper gives no data: R = 0.1, m = 1, mu = 0.3, e = 0.5, half the limiting torque", false,
     a17_roller},
    {"A-18", "(65)-(70)", "Algorithm 2 ends without violation, projected contacts obey the law",
     "at every step", "g >= -1e-10, law to 1e-10, projection only on contacts", NULL, false,
     a18_combined_end},
    {"A-19", "public data", "ball, e = 0.9: Algorithm 1 chatters, Algorithm 2 does not",
     "rows of public runs", "1e-12, Algorithm 2 2e-10 (their tolerance)", NULL, false, a19_public},
    {"A-20", "5.3", "rocking block: first impacts",
     "B 0.177221938, A 0.320976527, B 0.455950726, A 0.555587370, B 0.573909847 s",
     "order and times, O(h): within 10 h; located ones to 5e-10 s",
     "printed as y0 = 0 m/s, theta0 = 0.2 rad/s: the velocities; public code has omega0 = 0", false,
     a20_block_impacts},
    {"A-21", "5.3, figure 9", "rocking block comes to rest with Algorithm 2 only",
     "rest at t = 0.7862 with y = 0.75, theta = 0",
     "|v|, |omega| < 1e-6 for t > 1.2; Algorithm 1 not", NULL, false, a21_block_rests},
    {"A-22", "5.3", "Algorithm 2 dissipates more than Algorithm 1", "E(2) <= E(1)",
     "at t = 0.6 and 2 s", NULL, false, a22_block_energy},
};

ClaimTable verify_chattering(void) {
    return (ClaimTable){"Acary, RR-8029", claims, sizeof claims / sizeof *claims};
}
