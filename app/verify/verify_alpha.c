// Claims D-06 to D-15 of [A16] Acary, energy of nonsmooth schemes: the alpha family.
//
// Everything is kept from outside, from q and v alone: a and a~ (Krenk-Hogsberg: s = M a - F_r) by
// their recursions, the filters z, x, y of dq, dv and the load's change, and with them H and both
// sides of the identity that solvers/schemes/alpha.c states.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/verify/verify_internal.h"
#include "solvers/schemes/alpha.h"

enum { N = RANDOM_N };

typedef struct Book { // of one run
    const RandomLinear* data;
    bool split; // Krenk-Hogsberg
    double m, f, gamma, beta, nu, eta, ratio;
    double a[N], smooth[N], z[N], x[N], y[N];
} Book;

static double form(const double* x, const double* A, const double* y) { // x' A y
    double sum = 0;
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) sum += x[i] * A[i + N * j] * y[j];
    }
    return sum;
}

static double dot(const double* x, const double* y) {
    double sum = 0;
    for (int i = 0; i < N; ++i) sum += x[i] * y[i];
    return sum;
}

// x <- M^-1 x by elimination: M is small and positive definite.
static void divide(const double* M, double* x) {
    double A[N * N];
    memcpy(A, M, sizeof A);
    for (int k = 0; k < N; ++k) {
        for (int i = k + 1; i < N; ++i) {
            double factor = A[i + N * k] / A[k + N * k];
            for (int j = k; j < N; ++j) A[i + N * j] -= factor * A[k + N * j];
            x[i] -= factor * x[k];
        }
    }
    for (int k = N - 1; k >= 0; --k) {
        for (int j = k + 1; j < N; ++j) x[k] -= A[k + N * j] * x[j];
        x[k] /= A[k + N * k];
    }
}

// Forces of the potential, load - K q, and all others, push(t) - C v.
static void forces(const RandomLinear* data, double t, const double* q, const double* v,
                   double* potential, double* other) {
    random_push(data, t, other);
    for (int i = 0; i < N; ++i) {
        potential[i] = data->load[i];
        for (int j = 0; j < N; ++j) {
            potential[i] -= data->K[i + N * j] * q[j];
            other[i] -= data->C[i + N * j] * v[j];
        }
    }
}

static Book book_begin(const RandomLinear* data, const LashSettings* settings) {
    Book book = {.data = data};
    double option[SCHEME_OPTIONS], c[SCHEME_COEFFICIENTS], other[N];
    scheme_options(settings, option);
    scheme_of(settings)->coefficients(option, c);
    book.split = scheme_of(settings)->history_v == ALPHA_HISTORY;
    book.m = c[ALPHA_M];
    book.f = c[ALPHA_F];
    book.gamma = c[ALPHA_GAMMA];
    book.beta = c[ALPHA_BETA];
    book.nu = 0.5 - book.m;
    book.eta = book.f - book.m;
    book.ratio = book.eta == 0 ? 0 : book.eta / book.nu;
    forces(data, 0, data->q, data->v, book.smooth, other);
    for (int i = 0; i < N; ++i) book.a[i] = book.smooth[i] + other[i];
    divide(data->M, book.a);
    if (!book.split) memcpy(book.smooth, book.a, sizeof book.a);
    return book;
}

// a and a~ (or s) at the end of a step.
static void advance_accelerations(Book* book, double t, double h, const double* q0,
                                  const double* v0, const double* q, const double* v) {
    const RandomLinear* data = book->data;
    double F_p[N], F_r[N], before[N], unused[N];
    forces(data, t, q0, v0, before, unused);
    forces(data, t + h, q, v, F_p, F_r);
    double end[N];
    for (int i = 0; i < N; ++i) end[i] = book->split ? F_p[i] : F_p[i] + F_r[i];
    if (!book->split) divide(data->M, end);
    for (int i = 0; i < N; ++i) {
        double old = book->split ? before[i] : book->smooth[i];
        double last = book->split ? book->smooth[i] : book->a[i];
        double next = ((1 - book->f) * end[i] + book->f * old - book->m * last) / (1 - book->m);
        book->a[i] = book->split ? next + F_r[i] : next;
        book->smooth[i] = book->split ? next : end[i];
    }
    if (book->split) divide(data->M, book->a);
}

static void advance_filter(const Book* book, const double* change, double* z) {
    for (int i = 0; i < N; ++i)
        z[i] = (book->nu * change[i] - (0.5 - book->nu) * z[i]) / (0.5 + book->nu);
}

static double energy_H(const Book* book, double h, const double* q, const double* v) {
    const RandomLinear* data = book->data;
    double of_z =
        book->eta == 0 ? 0 : book->eta / (2 * book->nu * book->nu) * (book->nu - book->gamma + 0.5);
    return 0.5 * (form(v, data->M, v) + form(q, data->K, q)) - dot(data->load, q) +
           h * h / 4 * (2 * book->beta - book->gamma) * form(book->a, data->M, book->a) +
           of_z * form(book->z, data->K, book->z);
}

// U_{k+1/2} . P of joints and contacts.
static double impulse_work(const RandomLinear* data, LashSim* sim, const double* v0,
                           const double* v, int* pushing) {
    const LashInteractionList* list = lash_sim_interactions(sim);
    const double* P = lash_sim_contact_impulses(sim);
    double work = 0;
    for (int k = 0; k < list->count; ++k) {
        const LashInteraction* item = &list->item[k];
        const LashLinearContact* contact = &data->contact[item->id];
        for (int r = 0; r < item->rows; ++r) {
            const LashLinearRow* row = &contact->row[r];
            double U = 0;
            for (int i = 0; i < row->entries; ++i)
                U += row->coefficient[i] * 0.5 * (v0[row->dof[i]] + v[row->dof[i]]);
            work += P[item->row + r] * U;
        }
        *pushing += item->kind == LASH_UNILATERAL && P[item->row] > 0;
    }
    return work;
}

// One step; false: it failed.
static bool book_step(Book* book, LashSim* sim, double h, AlphaBalance* sum) {
    const RandomLinear* data = book->data;
    const double *q, *v;
    double t = lash_sim_time(sim), q0[N], v0[N], a0[N], z0[N], x0[N], y0[N], push0[N], push[N];
    lash_sim_state(sim, &q, &v);
    memcpy(q0, q, sizeof q0);
    memcpy(v0, v, sizeof v0);
    memcpy(a0, book->a, sizeof a0);
    memcpy(z0, book->z, sizeof z0);
    memcpy(x0, book->x, sizeof x0);
    memcpy(y0, book->y, sizeof y0);
    double H0 = energy_H(book, h, q0, v0);
    if (lash_sim_step(sim).outcome != LASH_CONVERGED) return false;
    lash_sim_state(sim, &q, &v);
    random_push(data, t, push0);
    random_push(data, t + h, push);
    advance_accelerations(book, t, h, q0, v0, q, v);
    double dq[N], dv[N], da[N], dF[N], dz[N], force[N], damped[N];
    for (int i = 0; i < N; ++i) {
        dq[i] = q[i] - q0[i];
        dv[i] = v[i] - v0[i];
        da[i] = book->a[i] - a0[i];
        dF[i] = push[i] - push0[i];
    }
    advance_filter(book, dq, book->z);
    advance_filter(book, dv, book->x);
    advance_filter(book, dF, book->y);
    double gamma = book->gamma, filter = book->split ? 0 : book->ratio;
    for (int i = 0; i < N; ++i) {
        dz[i] = book->z[i] - z0[i];
        force[i] =
            gamma * (push[i] - filter * book->y[i]) + (1 - gamma) * (push0[i] - filter * y0[i]);
        damped[i] = gamma * (v[i] - filter * book->x[i]) + (1 - gamma) * (v0[i] - filter * x0[i]);
    }
    double H = energy_H(book, h, q, v), scale = 1 + fabs(H) + form(v, data->M, v);
    double contact = impulse_work(data, sim, v0, v, &sum->pushing);
    double left = H - H0 - dot(dq, force) + form(dq, data->C, damped);
    double R = contact -
               h * h / 2 * (gamma - 0.5) * (2 * book->beta - gamma) * form(da, data->M, da) -
               (gamma - 0.5 - book->eta) * form(dq, data->K, dq) -
               book->ratio * (book->nu - gamma + 0.5) * form(dz, data->K, dz);
    sum->identity = fmax(sum->identity, fabs(left - R) / scale);
    sum->energy = fmax(sum->energy, fabs(lash_sim_energy(sim).algorithmic - H) / scale);
    sum->gain = fmax(sum->gain, left);
    sum->contact = fmax(sum->contact, contact);
    return true;
}

// A joint in place of the last contact; the system starts with it closed.
static void make_joint(RandomLinear* data) {
    LashLinearContact* joint = &data->contact[data->contacts - 1];
    double* G = joint->row[0].coefficient;
    joint->kind = LASH_BILATERAL;
    joint->rows = 1;
    joint->row[0].g0 = 0;
    joint->mu = 0;
    double U = dot(G, data->v) / dot(G, G);
    for (int i = 0; i < N; ++i) data->v[i] -= U * G[i];
}

AlphaBalance alpha_balance(const LashSettings* settings, const AlphaCase* what) {
    Random random = {what->seed};
    AlphaBalance sum = {.gain = -INFINITY, .contact = -INFINITY};
    for (int k = 0; k < what->systems; ++k) {
        RandomLinear data = random_linear(&random, what->rows, 1);
        for (int i = 0; i < N; ++i) data.push[i] = what->push * random_normal(&random);
        if (what->joint) make_joint(&data);
        LashLagrangian* model = random_linear_create(&data);
        LashSim* sim = verify_sim(lash_lagrangian_system(model), settings);
        Book book = book_begin(&data, settings);
        for (int i = 0; i < what->steps; ++i) {
            if (book_step(&book, sim, settings->h, &sum)) continue;
            ++sum.failed;
            break;
        }
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(model);
    }
    return sum;
}

LashSettings alpha_settings(LashScheme scheme, double h, double value) {
    LashSettings set = verify_settings(scheme, h);
    set.forecast = LASH_FORECAST_END;
    set.tolerance_velocity = 1e-13;
    set.tolerance_solver = 1e-15;
    lash_settings_set(&set, scheme == LASH_HHT ? "alpha" : "spectral_radius", value);
    return set;
}

static LashSettings newmark_settings(double h, double gamma, double beta) {
    LashSettings set = verify_settings(LASH_NEWMARK, h);
    set.forecast = LASH_FORECAST_END;
    set.tolerance_velocity = 1e-13;
    set.tolerance_solver = 1e-15;
    lash_settings_set(&set, "newmark_gamma", gamma);
    lash_settings_set(&set, "newmark_beta", beta);
    return set;
}

// Both sides of the identity, and dH - W, over random systems with contacts and over some with a
// joint beside them.
static void check_identity(Verdict* verdict, const char* name, const LashSettings* set,
                           uint64_t seed) {
    for (int joint = 0; joint < 2; ++joint) {
        AlphaCase what = {
            .rows = 1, .systems = 12, .steps = 200, .push = 2, .joint = joint == 1, .seed = seed};
        AlphaBalance b = alpha_balance(set, &what);
        bool good = b.failed == 0 && b.identity <= 1e-12 && b.energy <= 1e-12 && b.pushing > 50;
        verdict_add(verdict, good && b.gain <= 1e-12, "%s%s: %.1e, dH - W <= %.1e J, %d contacts",
                    name, joint == 1 ? " with a joint" : "", b.identity, b.gain, b.pushing);
    }
}

// ---- Claims -------------------------------------------------------------------------------------

static void coefficients_of(double radius, double* c) {
    scheme_at(LASH_GENERALIZED_ALPHA)->coefficients(&radius, c);
}

static void d06_coefficients(Verdict* verdict) {
    static const double known[3][5] = {{0, -1, 0, 1.5, 1},
                                       {0.8, 1.0 / 3, 4.0 / 9, 11.0 / 18, 25.0 / 81},
                                       {1, 0.5, 0.5, 0.5, 0.25}};
    for (int k = 0; k < 3; ++k) {
        double c[SCHEME_COEFFICIENTS], error = 0;
        coefficients_of(known[k][0], c);
        for (int i = 0; i < ALPHA_COEFFICIENTS; ++i)
            error = fmax(error, fabs(c[i] - known[k][1 + i]));
        verdict_add(verdict, error <= 1e-15, "rho=%g: %.6g %.6g %.6g %.6g", known[k][0], c[ALPHA_M],
                    c[ALPHA_F], c[ALPHA_GAMMA], c[ALPHA_BETA]);
    }
}

static void d07_ratio(Verdict* verdict) {
    double c[SCHEME_COEFFICIENTS], worst = 0;
    for (int k = 0; k < 100; ++k) {
        coefficients_of(0.01 * k, c);
        worst = fmax(worst, fabs((c[ALPHA_F] - c[ALPHA_M]) / (0.5 - c[ALPHA_M]) - 2.0 / 3));
    }
    verdict_add(verdict, worst <= 1e-13, "eta/nu = 2/3 to %.1e for rho < 1", worst);
    coefficients_of(1, c);
    verdict_add(verdict, c[ALPHA_M] == 0.5 && c[ALPHA_F] == 0.5, "rho=1: nu = %g, eta = %g",
                0.5 - c[ALPHA_M], c[ALPHA_F] - c[ALPHA_M]);
}

static void d08_variant(Verdict* verdict) {
    static const double theta[4] = {0.5, 0.6, 0.8, 1};
    for (int k = 0; k < 4; ++k) {
        Random random = {80 + (uint64_t)k};
        double worst = 0;
        int failed = 0;
        for (int s = 0; s < 10; ++s) {
            RandomLinear data = random_linear(&random, 1, 1);
            LashLagrangian* model = random_linear_create(&data);
            LashSettings newmark = newmark_settings(5e-3, theta[k], theta[k] / 2);
            LashSettings jean = verify_settings(LASH_MOREAU_JEAN, 5e-3);
            jean.forecast = LASH_FORECAST_END;
            jean.tolerance_velocity = newmark.tolerance_velocity;
            jean.tolerance_solver = newmark.tolerance_solver;
            jean.theta = theta[k];
            jean.variant = true;
            LashSim* one = verify_sim(lash_lagrangian_system(model), &newmark);
            LashSim* other = verify_sim(lash_lagrangian_system(model), &jean);
            for (int i = 0; i < 200; ++i) {
                const double *q, *v, *q_other, *v_other;
                failed += lash_sim_step(one).outcome != LASH_CONVERGED;
                failed += lash_sim_step(other).outcome != LASH_CONVERGED;
                lash_sim_state(one, &q, &v);
                lash_sim_state(other, &q_other, &v_other);
                for (int j = 0; j < N; ++j) {
                    worst = fmax(worst, fabs(q[j] - q_other[j]) / (1 + fabs(q[j])));
                    worst = fmax(worst, fabs(v[j] - v_other[j]) / (1 + fabs(v[j])));
                }
            }
            lash_sim_destroy(one);
            lash_sim_destroy(other);
            lash_lagrangian_destroy(model);
        }
        verdict_add(verdict, failed == 0 && worst <= 1e-13, "theta=%g: %.1e", theta[k], worst);
    }
}

static void d09_generalized(Verdict* verdict) {
    static const double radius[4] = {0, 0.5, 0.8, 1};
    for (int k = 0; k < 4; ++k) {
        char name[32];
        LashSettings set = alpha_settings(LASH_GENERALIZED_ALPHA, 0.013, radius[k]);
        snprintf(name, sizeof name, "rho=%g", radius[k]);
        check_identity(verdict, name, &set, 90 + (uint64_t)k);
    }
}

static void d10_contacts(Verdict* verdict) {
    static const LashScheme scheme[3] = {LASH_HHT, LASH_GENERALIZED_ALPHA, LASH_KRENK_HOGSBERG};
    for (int k = 0; k < 3; ++k) {
        LashSettings set = alpha_settings(scheme[k], 5e-3, k == 0 ? 0.1 : 0.8);
        AlphaCase what = {.rows = 1, .systems = 20, .steps = 300, .push = 2, .seed = 100};
        AlphaBalance b = alpha_balance(&set, &what);
        verdict_add(verdict, b.failed == 0 && b.contact <= 1e-14 && b.pushing > 100,
                    "%s: U' P <= %.1e J, %d contacts", lash_scheme_name(scheme[k]), b.contact,
                    b.pushing);
    }
}

static void d11_krenk(Verdict* verdict) {
    static const double radius[3] = {0, 0.5, 0.8};
    for (int k = 0; k < 3; ++k) {
        char name[32];
        LashSettings set = alpha_settings(LASH_KRENK_HOGSBERG, 0.013, radius[k]);
        snprintf(name, sizeof name, "rho=%g", radius[k]);
        check_identity(verdict, name, &set, 110 + (uint64_t)k);
    }
}

static void d12_hht(Verdict* verdict) {
    static const double alpha[3] = {0, 0.1, 1.0 / 3};
    for (int k = 0; k < 3; ++k) {
        char name[32];
        LashSettings set = alpha_settings(LASH_HHT, 0.013, alpha[k]);
        snprintf(name, sizeof name, "alpha=%.3g", alpha[k]);
        check_identity(verdict, name, &set, 120 + (uint64_t)k);
    }
}

static void check_newmark(Verdict* verdict, double gamma, double beta, uint64_t seed) {
    char name[48];
    LashSettings set = newmark_settings(0.013, gamma, beta);
    snprintf(name, sizeof name, "gamma=%g beta=%g", gamma, beta);
    check_identity(verdict, name, &set, seed);
}

static void d13_newmark(Verdict* verdict) {
    check_newmark(verdict, 0.6, 0.4, 130);
    check_newmark(verdict, 0.7, 0.5, 131);
}

static void d14_special(Verdict* verdict) {
    check_newmark(verdict, 0.5, 0.4, 140);
    check_newmark(verdict, 0.7, 0.35, 141);
    check_newmark(verdict, 0.5, 0.25, 142);
}

static void d15_range(Verdict* verdict) {
    int wrong = 0;
    double slack = 1e-15; // of rho = 1, where all four bounds meet
    for (int k = 0; k <= 1000; ++k) {
        double c[SCHEME_COEFFICIENTS];
        coefficients_of(1e-3 * k, c);
        double eta = c[ALPHA_F] - c[ALPHA_M], nu = 0.5 - c[ALPHA_M];
        bool stable = 2 * c[ALPHA_BETA] >= c[ALPHA_GAMMA] - slack &&
                      c[ALPHA_GAMMA] >= 0.5 - slack && eta >= -slack && eta <= nu + slack;
        wrong += !stable;
    }
    verdict_add(verdict, wrong == 0, "1001 values of rho in [0, 1]: %d outside", wrong);
}

static const Claim claims[] = {
    {"D-06", "(27)", "coefficients of the optimal family",
     "rho=0.8: alpha_m 1/3, alpha_f 4/9, gamma 11/18, beta 25/81", "1e-15", NULL, false,
     d06_coefficients},
    {"D-07", "remark 1", "rho = 1: nu = eta = 0, eta/nu -> 2/3", "exact", "1e-13",
     "eta/nu is 2/3 for every rho < 1", false, d07_ratio},
    {"D-08", "4.2, (29)", "2 beta = gamma = theta: Newmark is the variant of Moreau-Jean",
     "the same states", "1e-13, 40 random linear systems, 200 steps",
     "in linear systems; elsewhere Newmark averages M^-1 F of both ends", false, d08_variant},
    {"D-09", "lemma 2, (58)", "generalized alpha: balance with the filters x, y, z", "equality",
     "1e-12 relative from the first step; dH - W <= 1e-12 J",
     "h/2 before (2 beta - gamma) in (63) must be h^2/2", false, d09_generalized},
    {"D-10", "lemma 3, (71)", "contacts never add energy", "U_{k+1/2}' P <= 0", "<= 1e-14 J",
     "with the activation (24), forecast end", false, d10_contacts},
    {"D-11", "proposition 2, (73)", "Krenk-Hogsberg: equality; stable in (75)", "equality",
     "1e-12 relative; dH - W <= 1e-12 J", "(30) prints +F_k in its second bracket, (49) is right",
     false, d11_krenk},
    {"D-12", "proposition 3, (81)", "HHT: equality; dissipates in (83)", "equality",
     "1e-12 relative; dH - W <= 1e-12 J", NULL, false, d12_hht},
    {"D-13", "proposition 4, (87)", "Newmark: equality; dissipates in (89)", "equality",
     "1e-12 relative; dH - W <= 1e-12 J", "the term must be h^2/2 (2 beta - gamma) |da|^2, not h/2",
     false, d13_newmark},
    {"D-14", "corollary 1, (90)-(92)", "gamma = 1/2; gamma = 2 beta; both", "equality",
     "1e-12 relative; dH - W <= 1e-12 J", NULL, false, d14_special},
    {"D-15", "6.2, (77)", "the family (26) is stable for every rho in [0, 1]",
     "2 beta >= gamma >= 1/2, 0 <= eta <= nu", "true for 1001 values", NULL, false, d15_range},
};

ClaimTable verify_alpha(void) {
    return (ClaimTable){"Acary, energy", claims, sizeof claims / sizeof *claims};
}
