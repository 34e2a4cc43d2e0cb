// The independent check of a friction problem (SCHEMES 1).
//
//     velocity measure:  max_a |P_a - proj(P_a - rho_a u_a)| / rho_a / (1 + |b|),
//                        rho_a = 1 / lambda_max(W_aa)                                   [m/s]
//     plain measure:     |P - proj(P - u)|_2 / (1 + |b|)
//
// with u = U + (mu |U_T|, 0, 0), U = W P + b. Joint rows contribute |U|. Nothing is taken from the
// solver: U is recomputed from W, P and b.
#include "core/error.h"
#include "solvers/cone/friction_internal.h"
#include "solvers/linear/dense.h"

// Largest root of the characteristic polynomial by Laguerre's iteration from above; all roots are
// real, so it falls monotonically and settles within a few steps.
static double lambda_three(double a, double b, double c, double d, double e, double f) {
    // [a d e; d b f; e f c]
    double trace = a + b + c, minors = a * b + a * c + b * c - d * d - e * e - f * f;
    double det = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e);
    double x = fmax(a + fabs(d) + fabs(e),
                    fmax(b + fabs(d) + fabs(f), c + fabs(e) + fabs(f))); // Gershgorin
    for (int i = 0; i < 12; ++i) {
        double p = ((x - trace) * x + minors) * x - det;
        double p1 = (3 * x - 2 * trace) * x + minors, p2 = 6 * x - 2 * trace;
        double root = 4 * p1 * p1 - 6 * p * p2;
        double step = 3 * p / (p1 + sqrt(root > 0 ? root : 0));
        if (!(step > 1e-9 * x)) break;
        x -= step;
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

void friction_velocity(const LashFrictionProblem* p, const double* P, double* U) {
    if (p->W != NULL) {
        for (int i = 0; i < p->m; ++i) U[i] = p->b[i];
        lash_dense_multiply_add(p->m, p->m, p->W, p->ldw, P, U);
    } else {
        lash_block_sparse_multiply(p->sparse, P, U);
        for (int i = 0; i < p->m; ++i) U[i] += p->b[i];
    }
}

void friction_velocity_at(const Friction* f, const double* P, double* U) {
    friction_velocity(f->problem, P, U);
    if (f->shift == 0) return;
    for (int i = 0; i < f->contacts; ++i) {
        const LocalContact* c = f->contact + i;
        double s = f->shift * c->lambda;
        for (int r = c->row; r < c->row + c->rows; ++r) U[r] += s * (P[r] - f->center[r]);
    }
}

double lash_friction_residual(const LashFrictionProblem* p, LashFrictionMeasure measure,
                              const double* P, double* U) {
    friction_velocity(p, P, U);
    double worst = 0, sum = 0, norm = 0;
    for (int i = 0, row = 0; i < p->contacts; ++i) {
        uint8_t kind = friction_kind(p, i);
        int rows = lash_contact_rows(kind), ld = p->W != NULL ? p->ldw : rows;
        double mu = kind > 1 ? p->mu[i] : 0, lambda = 1;
        if (measure == LASH_MEASURE_VELOCITY) {
            const double* W = p->W != NULL ? p->W + (size_t)row * ((size_t)p->ldw + 1)
                                           : lash_block_sparse_find(p->sparse, i, i);
            lambda = friction_lambda(rows, W, ld);
            if (!(lambda > 0)) lambda = 1; // a contact that no impulse moves: plain measure
        }
        double r = friction_natural(kind, mu, 1 / lambda, P + row, U + row) * lambda;
        if (!(r <= worst)) worst = r; // NaN stays
        sum += r * r;
        row += rows;
    }
    for (int i = 0; i < p->m; ++i) norm += p->b[i] * p->b[i];
    return (measure == LASH_MEASURE_VELOCITY ? worst : sqrt(sum)) / (1 + sqrt(norm));
}

double friction_residual_at(const Friction* f, const double* P, const double* U) {
    double worst = 0, sum = 0;
    bool plain = f->settings->measure == LASH_MEASURE_PLAIN;
    for (int i = 0; i < f->contacts; ++i) {
        const LocalContact* c = f->contact + i;
        double lambda = plain ? 1 : c->lambda;
        double r = friction_natural(c->kind, c->mu, 1 / lambda, P + c->row, U + c->row) * lambda;
        if (!(r <= worst)) worst = r;
        sum += r * r;
    }
    return (plain ? sqrt(sum) : worst) / f->scale;
}
