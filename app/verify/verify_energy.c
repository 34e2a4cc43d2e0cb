// Claims D-01 to D-05, D-16 and D-17 of [A16] Acary, energy of nonsmooth schemes: Moreau-Jean part.
#include <math.h>
#include <string.h>

#include "app/verify/verify_internal.h"
#include "core/arena.h"
#include "solvers/cone/lcp.h"

static void d01_impact_work(Verdict* verdict) {
    enum { M = 4, SAMPLES = 20000 };
    Random random = {1};
    void* work = lash_alloc(lash_lcp_work_size(M));
    double equality = 0, largest = -INFINITY;
    int unsolved = 0;
    for (int s = 0; s < SAMPLES; ++s) {
        double A[M * M], W[M * M], before[M], e[M], b[M], P[M] = {0}, w[M];
        for (int i = 0; i < M * M; ++i) A[i] = random_normal(&random);
        for (int i = 0; i < M; ++i) {
            for (int j = 0; j < M; ++j) {
                W[i + M * j] = i == j ? 0.05 : 0;
                for (int k = 0; k < M; ++k) W[i + M * j] += A[i + M * k] * A[j + M * k];
            }
            before[i] = -fabs(random_normal(&random));
            e[i] = random_uniform(&random, 0, 1);
            b[i] = (1 + e[i]) * before[i];
        }
        LashLcpSettings settings = lash_lcp_settings();
        settings.tolerance = 1e-13;
        LashLcpProblem problem = {.n = M, .A = W, .lda = M, .b = b};
        unsolved += lash_lcp_solve(&problem, &settings, P, w, work).outcome != LASH_CONVERGED;
        double kinetic = 0, law = 0;
        for (int i = 0; i < M; ++i) {
            double after = w[i] - e[i] * before[i];
            kinetic += 0.5 * (before[i] + after) * P[i];
            law += 0.5 * (1 - e[i]) * before[i] * P[i];
        }
        equality = fmax(equality, fabs(kinetic - law) / (1 + fabs(law)));
        largest = fmax(largest, law);
    }
    lash_free(work);
    verdict_add(verdict, unsolved == 0 && equality <= 1e-12 && largest <= 1e-14,
                "%d impacts of 4 contacts: equality to %.1e, largest work %.1e J", SAMPLES,
                equality, largest);
}

static void d02_equality(Verdict* verdict) {
    static const double theta[4] = {0.5, 0.6, 0.75, 1};
    for (int i = 0; i < 4; ++i) {
        Balance b = balance_of(LASH_NEWTON_COULOMB, theta[i], 1, 20 + (uint64_t)i);
        verdict_add(verdict, b.failed == 0 && b.identity <= 1e-12, "theta=%g: %.1e, %ld contacts",
                    theta[i], b.identity, b.pushing);
    }
}

// Frictionless systems, one run each; counts the dissipative ones.
static void frictionless_runs(double e, double theta, int runs, double* gain, int* dissipative) {
    Random random = {31};
    *gain = -INFINITY;
    *dissipative = 0;
    for (int k = 0; k < runs; ++k) {
        RandomLinear data = random_linear(&random, 1, 0);
        for (int c = 0; c < data.contacts; ++c) data.contact[c].e = e;
        LashLagrangian* model = random_linear_create(&data);
        LashSettings set = verify_settings(LASH_MOREAU_JEAN, 5e-3);
        set.theta = theta;
        set.forecast = LASH_FORECAST_END;
        LashSim* sim = verify_sim(lash_lagrangian_system(model), &set);
        double largest = -INFINITY;
        StepBalance b;
        for (int i = 0; i < 400 && balanced_step(&data, sim, theta, &b); ++i) {
            if (b.pushing > 0) largest = fmax(largest, b.change);
        }
        if (largest > -INFINITY) {
            *dissipative += largest <= 1e-12;
            *gain = fmax(*gain, largest);
        }
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(model);
    }
}

static void d03_range(Verdict* verdict) {
    static const double e[4] = {0, 0.3, 0.7, 1};
    for (int i = 0; i < 4; ++i) {
        double gain;
        int dissipative;
        frictionless_runs(e[i], 1 / (1 + e[i]), 60, &gain, &dissipative);
        verdict_add(verdict, gain <= 1e-12, "e=%g theta=%.3f: dE - W <= %.1e J", e[i],
                    1 / (1 + e[i]), gain);
    }
}

static void d04_not_sharp(Verdict* verdict) {
    double gain;
    int dissipative;
    frictionless_runs(0.5, 1 / 1.5 + 0.02, 60, &gain, &dissipative);
    verdict_add(verdict, dissipative > 0,
                "e=0.5, theta = bound + 0.02: %d of 60 runs still dissipate (largest gain %.1e J)",
                dissipative, gain);
}

static void d05_alternative(Verdict* verdict) {
    static const double theta[3] = {0.5, 0.7, 1};
    for (int i = 0; i < 3; ++i) {
        Balance b = balance_of(LASH_NEWTON_COULOMB, theta[i], 1, 50 + (uint64_t)i);
        verdict_add(verdict, b.failed == 0 && b.alternative <= 1e-12, "theta=%g: %.1e", theta[i],
                    b.alternative);
    }
    double gain;
    int dissipative;
    frictionless_runs(1, 0.5, 60, &gain, &dissipative);
    verdict_add(verdict, gain <= 1e-12, "theta=1/2, e=1: dE - W <= %.1e J", gain);
}

static void d16_activation(Verdict* verdict) {
    Random random = {16};
    int wrong = 0, in = 0, out = 0;
    for (int k = 0; k < 20; ++k) {
        RandomLinear data = random_linear(&random, 1, 1);
        LashLagrangian* model = random_linear_create(&data);
        LashSettings set = verify_settings(LASH_MOREAU_JEAN, 5e-3);
        set.forecast = LASH_FORECAST_END;
        LashSim* sim = verify_sim(lash_lagrangian_system(model), &set);
        for (int i = 0; i < 400; ++i) {
            const double *q, *v;
            double g[RANDOM_CONTACTS], U[RANDOM_CONTACTS];
            lash_sim_state(sim, &q, &v);
            for (int c = 0; c < data.contacts; ++c) {
                const LashLinearRow* row = &data.contact[c].row[0];
                g[c] = row->g0;
                U[c] = 0;
                for (int j = 0; j < RANDOM_N; ++j) {
                    g[c] += row->coefficient[j] * (q[j] + set.h * v[j]);
                    U[c] += row->coefficient[j] * v[j];
                }
            }
            if (lash_sim_step(sim).outcome != LASH_CONVERGED) ++wrong;
            const double *P = lash_sim_impulses(sim), *after = lash_sim_velocities(sim);
            for (int c = 0; c < data.contacts; ++c) {
                int row = lash_sim_interactions(sim)->item[c].row;
                if (fabs(g[c]) < 1e-9) continue; // a tie within the position tolerance
                bool listed = g[c] <= 0 && U[c] <= 0;
                in += listed;
                out += !listed;
                if (listed) // the law holds: 0 <= U + e U_k perp P >= 0
                    wrong += after[row] + data.contact[c].e * U[c] < -1e-10;
                else
                    wrong += P[row] != 0;
            }
        }
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(model);
    }
    verdict_add(verdict, wrong == 0 && in > 100 && out > 100,
                "%d in the set obey the law, %d outside have P = 0, %d do not", in, out, wrong);
}

static void d17_violation(Verdict* verdict) {
    static const double h[4] = {1e-4, 5e-5, 2e-5, 1e-5};
    double violation[4], log_h[4], log_g[4];
    for (int i = 0; i < 4; ++i) {
        violation[i] = 0;
        for (int k = 0; k < 6; ++k) { // it depends on where in a step an impact falls
            LashSettings set = verify_settings(LASH_MOREAU_JEAN, h[i] * (1 - 0.01 * k));
            Run run = run_begin(lash_paper_slider_crank(NULL), &set);
            run_to(&run, 0.04);
            violation[i] = run.failed ? INFINITY : fmax(violation[i], run.violation);
            run_end(&run);
        }
        log_h[i] = log10(h[i]);
        log_g[i] = log10(violation[i]);
        verdict_add(verdict, isfinite(violation[i]), "h=%g: %.2e m", h[i], violation[i]);
    }
    verdict_picture(verdict, "Slider-crank, Moreau-Jean: largest penetration", "log10 h", "log10 m",
                    4, log_h);
    verdict_curve(verdict, "largest penetration", log_g);
    verdict_range(verdict, "slope", fitted_slope(4, h, violation), 0.9, 1.1);
}

static const Claim claims[] = {
    {"D-01", "(20)", "work of an impact without friction", "1/2 ((1 - rho) U-)' P <= 0",
     "equality to 1e-12, never above 1e-14 J", NULL, false, d01_impact_work},
    {"D-02", "lemma 1, (33)", "Moreau-Jean: discrete equality of dissipation",
     "dE - W = (1/2 - theta)(|dv|^2 + |dq|^2) + U_{k+theta}' P", "1e-12 relative",
     "(30) prints +F_k in its second bracket where -F_k is meant", false, d02_equality},
    {"D-03", "proposition 1, (40)", "dissipates for 1/2 <= theta <= 1/(1 + rho)", "dE <= W",
     "dE - W <= 1e-12 J at the upper bound, 60 random systems each", NULL, false, d03_range},
    {"D-04", "remark 2", "the bound is not sharp", "some runs dissipate above it",
     "at least one dissipative run", NULL, false, d04_not_sharp},
    {"D-05", "(44), (45)", "other form of the equality; theta = 1/2 always dissipates", "equality",
     "1e-12 relative; dE - W <= 1e-12 J for e = 1",
     "the bracket of (44) must enclose -P'(U_{k+1} - U_k) too", false, d05_alternative},
    {"D-16", "(24)", "activation: g(q_k + h v_k) <= 0 and U_k <= 0", "set of contacts that may act",
     "the law holds inside, P = 0 outside", NULL, false, d16_activation},
    {"D-17", "4.1", "violation of Moreau-Jean is proportional to h", "O(h)", "slope 0.9 .. 1.1",
     NULL, false, d17_violation},
};

ClaimTable verify_energy(void) {
    return (ClaimTable){"Acary, energy", claims, sizeof claims / sizeof *claims};
}
