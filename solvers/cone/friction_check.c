// The independent check of a friction problem (docs/schemes.md).
//
//     velocity measure:  max_a |P_a - proj(P_a - rho_a u_a)| / rho_a / (1 + |b|),
//                        rho_a = 1 / lambda_max(W_aa)                                   [m/s]
//     plain measure:     |P - proj(P - u)|_2 / (1 + |b|)
//
// with u = U + (mu |U_T|, 0, 0), U = W P + b. Joint rows contribute |U|. Nothing is taken from the
// solver: U is recomputed from W, P and b.
#include <float.h>

#include "core/error.h"
#include "solvers/cone/friction_internal.h"
#include "solvers/linear/dense.h"

// Largest root of the characteristic polynomial by Laguerre's iteration from above; all roots are
// real, so it falls monotonically and settles within a few steps. No diagonal entry exceeds it: at a double root
// both p and p1 are rounding, and a step could go anywhere.
static double lambda_three(double a, double b, double c, double d, double e, double f) {
    // [a d e; d b f; e f c]
    double trace = a + b + c, minors = a * b + a * c + b * c - d * d - e * e - f * f;
    double det = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e);
    double least = fmax(a, fmax(b, c));
    double x = fmax(a + fabs(d) + fabs(e),
                    fmax(b + fabs(d) + fabs(f), c + fabs(e) + fabs(f))); // Gershgorin
    for (int i = 0; i < 12; ++i) {
        double p = ((x - trace) * x + minors) * x - det;
        double p1 = (3 * x - 2 * trace) * x + minors, p2 = 6 * x - 2 * trace;
        double root = 4 * p1 * p1 - 6 * p * p2;
        double step = 3 * p / (p1 + sqrt(root > 0 ? root : 0));
        if (!(step > 1e-9 * x)) break;
        x = fmax(x - step, least);
    }
    return x;
}

double friction_lambda(int rows, const double* W, int ld) {
    if (rows == 1) return W[0];
    double a = W[0], b = W[ld + 1], d = 0.5 * (W[1] + W[ld]);
    if (rows == 2) return 0.5 * (a + b + sqrt((a - b) * (a - b) + 4 * d * d));
    double c = W[2 * ld + 2], e = 0.5 * (W[2] + W[2 * ld]), f = 0.5 * (W[ld + 2] + W[2 * ld + 1]);
    return lambda_three(a, b, c, d, e, f);
}

// A light part between two heavy ones hands on impulses of 1e6 Ns and must move exactly: P - rho u
// would be P. With w = -rho u, z = P + w and s = |z_T| - mu z_N
//
//     z in the cone, s <= 0:    proj(z) - P = w
//     outside:                  proj(z) - P = w - s/(1 + mu^2) (-mu, z_T/|z_T|)
//     s = (|P_T| - mu P_N) + (|z_T| - |P_T|) - mu w_N,   |z_T| - |P_T| = (2 P_T + w_T).w_T/(|z_T| + |P_T|)
//
// in which nothing large cancels but the first bracket. It is zero where P slips, up to the rounding
// of P itself, and then counts as zero: no impulse that a number can hold would be nearer.
double friction_natural_exact(int rows, double mu, double rho, const double* P, const double* U) {
    double slip = rows == 3 ? hypot(U[1], U[2]) : fabs(U[1]);
    double w[3] = {-rho * (U[0] + mu * slip), -rho * U[1], rows == 3 ? -rho * U[2] : 0};
    double T[2] = {P[1], rows == 3 ? P[2] : 0};
    double before = hypot(T[0], T[1]), after = hypot(T[0] + w[1], T[1] + w[2]);
    double beyond = before - mu * P[0];
    if (fabs(beyond) <= 4 * DBL_EPSILON * before) beyond = 0;
    double sum = before + after, n = P[0] + w[0];
    double grows = sum > 0 ? ((2 * T[0] + w[1]) * w[1] + (2 * T[1] + w[2]) * w[2]) / sum : 0;
    double s = beyond + grows - mu * w[0];
    if (s > 0 && mu * after <= -n) return sqrt(P[0] * P[0] + T[0] * T[0] + T[1] * T[1]);
    if (s > 0) {
        double share = s / (1 + mu * mu);
        w[0] += share * mu;
        w[1] -= share * (T[0] + w[1]) / after;
        w[2] -= share * (T[1] + w[2]) / after;
    }
    return sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

const double* friction_block(const LashFrictionProblem* problem, int i, int row, int* ld) {
    if (problem->W != NULL) {
        *ld = problem->ldw;
        return problem->W + (size_t)row * ((size_t)problem->ldw + 1);
    }
    *ld = lash_contact_rows(friction_kind(problem, i));
    return lash_block_sparse_find(problem->sparse, i, i);
}

void friction_velocity(const LashFrictionProblem* problem, const double* P, double* U) {
    int m = problem->m;
    if (problem->W != NULL) {
        for (int i = 0; i < m; ++i) U[i] = problem->b[i];
        lash_dense_multiply_add(m, m, problem->W, problem->ldw, P, U);
    } else {
        lash_block_sparse_multiply(problem->sparse, P, U);
        for (int i = 0; i < m; ++i) U[i] += problem->b[i];
    }
}

void friction_velocity_at(const Friction* friction, const double* P, double* U) {
    friction_velocity(friction->problem, P, U);
    if (friction->shift == 0) return;
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        double s = friction->shift * contact->lambda;
        for (int r = contact->row; r < contact->row + contact->rows; ++r)
            U[r] += s * (P[r] - friction->center[r]);
    }
}

// Errors of contacts: the largest, and the sum of squares.
typedef struct Errors {
    double worst, sum;
} Errors;

static inline void add_error(Errors* errors, double r) {
    if (!(r <= errors->worst)) errors->worst = r; // NaN stays
    errors->sum += r * r;
}

static inline double measured(const Errors* errors, LashFrictionMeasure measure) {
    return measure == LASH_MEASURE_VELOCITY ? errors->worst : sqrt(errors->sum);
}

double lash_friction_residual(const LashFrictionProblem* problem, LashFrictionMeasure measure,
                              const double* P, double* U) {
    friction_velocity(problem, P, U);
    Errors errors = {0, 0};
    double norm = 0;
    for (int i = 0, row = 0, ld; i < problem->contacts; ++i) {
        uint8_t kind = friction_kind(problem, i);
        int rows = lash_contact_rows(kind);
        double mu = kind > 1 ? problem->mu[i] : 0, lambda = 1;
        bool open = friction_is_open(kind, P + row, U + row); // its error is 0
        if (measure == LASH_MEASURE_VELOCITY && !open) {
            const double* W = friction_block(problem, i, row, &ld);
            lambda = friction_lambda(rows, W, ld);
            if (!(lambda > 0)) lambda = 1; // a contact that no impulse moves: plain measure
        }
        if (!open)
            add_error(&errors, friction_natural(kind, mu, 1 / lambda, P + row, U + row) * lambda);
        row += rows;
    }
    for (int i = 0; i < problem->m; ++i) norm += problem->b[i] * problem->b[i];
    return measured(&errors, measure) / (1 + sqrt(norm));
}

double friction_error(int contacts, const LocalContact* contact, LashFrictionMeasure measure,
                      const double* P, const double* U) {
    Errors errors = {0, 0};
    for (int i = 0; i < contacts; ++i, ++contact) {
        double lambda = measure == LASH_MEASURE_PLAIN ? 1 : contact->lambda;
        int row = contact->row;
        double r = friction_natural(contact->kind, contact->mu, 1 / lambda, P + row, U + row);
        add_error(&errors, r * lambda);
    }
    return measured(&errors, measure);
}

double friction_residual_at(const Friction* friction, const double* P, const double* U) {
    return friction_error(friction->contacts, friction->contact, friction->settings->measure, P,
                          U) /
           friction->scale;
}

double friction_list_contacts(const LashFrictionProblem* problem, LocalContact* contact) {
    double norm = 0;
    for (int i = 0; i < problem->m; ++i) norm += problem->b[i] * problem->b[i];
    for (int i = 0, row = 0, ld; i < problem->contacts; ++i, ++contact) {
        contact->kind = friction_kind(problem, i);
        contact->rows = (uint8_t)lash_contact_rows(contact->kind);
        contact->row = row;
        contact->mu = contact->kind > 1 ? problem->mu[i] : 0;
        const double* W = friction_block(problem, i, row, &ld);
        LASH_ASSERT(W != NULL);
        double lambda = friction_lambda(contact->rows, W, ld);
        contact->lambda = lambda > 0 ? lambda : 1;
        contact->status = STATUS_OPEN;
        row += contact->rows;
    }
    return 1 + sqrt(norm);
}
