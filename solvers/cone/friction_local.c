// One contact with friction, solved exactly.
//
//     U = W P + q,  C_mu contains P perp U + (mu |U_T|, 0, 0) in C_mu*        (W: 1 .. 3 rows)
//
// Three cases: open (q_N >= 0: P = 0), stick (P = -W^-1 q inside the cone), and slip, where
// P = p (1, mu d) with a unit direction d, U_N = 0 and U_T = -s d, s >= 0. U_N = 0 gives
// p = -q_N / (W_nn + mu W_nt d); what is left is one equation in the angle of d,
//
//     f(d) = d' x [ (W_nn + mu W_nt d) q_T - q_N (W_tn + mu W_tt d) ] = 0,
//
// a trigonometric polynomial of degree two (a quartic; O. Bonnefon, G. Daviet, Quartic formulation
// of Coulomb 3D frictional contact, INRIA RT-0400, 2011). Newton from the latest direction nearly
// always ends in a few steps; otherwise all sign changes around the circle are bisected. W may be
// unsymmetric. Where the denominator is not positive (Painleve) a contact may have no solution.
#include <string.h>

#include "core/error.h"
#include "solvers/cone/friction_internal.h"

static bool invert(int rows, const double* a, double* b) {
    if (rows == 1) {
        if (!(fabs(a[0]) > 0)) return false;
        b[0] = 1 / a[0];
        return true;
    }
    if (rows == 2) {
        double det = a[0] * a[4] - a[1] * a[3];
        if (!(fabs(det) > 1e-13 * fabs(a[0] * a[4]))) return false;
        double s = 1 / det;
        b[0] = s * a[4];
        b[1] = -s * a[1];
        b[3] = -s * a[3];
        b[4] = s * a[0];
        return true;
    }
    double c0 = a[4] * a[8] - a[5] * a[7], c1 = a[5] * a[6] - a[3] * a[8],
           c2 = a[3] * a[7] - a[4] * a[6], det = a[0] * c0 + a[1] * c1 + a[2] * c2;
    if (!(fabs(det) > 1e-13 * fabs(a[0] * a[4] * a[8]))) return false;
    double s = 1 / det;
    b[0] = s * c0;
    b[3] = s * c1;
    b[6] = s * c2;
    b[1] = s * (a[2] * a[7] - a[1] * a[8]);
    b[4] = s * (a[0] * a[8] - a[2] * a[6]);
    b[7] = s * (a[1] * a[6] - a[0] * a[7]);
    b[2] = s * (a[1] * a[5] - a[2] * a[4]);
    b[5] = s * (a[2] * a[3] - a[0] * a[5]);
    b[8] = s * (a[0] * a[4] - a[1] * a[3]);
    return true;
}

void friction_local_prepare(LocalContact* c, const double* W, int ld) {
    for (int j = 0; j < c->rows; ++j)
        for (int i = 0; i < c->rows; ++i) c->W[3 * j + i] = W[(size_t)j * (size_t)ld + (size_t)i];
    c->regular = invert(c->rows, c->W, c->inverse);
    c->status = STATUS_OPEN;
}

ContactStatus friction_status(const LocalContact* c, double threshold, const double* P,
                              const double* U) {
    double rho = 1 / c->lambda, n = P[0] - rho * U[0];
    if (c->kind == LASH_CONTACT_BILATERAL) return STATUS_STICK;
    if (!(n * c->lambda > threshold)) return STATUS_OPEN;
    if (c->rows == 1) return STATUS_STICK;
    double z1 = P[1] - rho * U[1], z2 = c->rows == 3 ? P[2] - rho * U[2] : 0;
    return z1 * z1 + z2 * z2 <= c->mu * c->mu * n * n ? STATUS_STICK : STATUS_SLIP;
}

// Slip in the direction d: fills P, returns false unless p > 0 and U_T opposes d.
static bool slip_answer(const LocalContact* c, const double* q, double d1, double d2, double* P) {
    const double* W = c->W;
    double mu = c->mu, den = W[0] + mu * (W[3] * d1 + W[6] * d2);
    if (!(den > 0)) return false;
    double p = -q[0] / den, P1 = mu * p * d1, P2 = mu * p * d2;
    double U1 = q[1] + W[1] * p + W[4] * P1 + W[7] * P2;
    double U2 = q[2] + W[2] * p + W[5] * P1 + W[8] * P2;
    if (!(p > 0) || U1 * d1 + U2 * d2 > 1e-14 * (fabs(q[1]) + fabs(q[2]))) return false;
    P[0] = p;
    P[1] = P1;
    P[2] = P2;
    return true;
}

// f(d) and its derivative along the angle.
static double slip_function(const LocalContact* c, const double* q, double d1, double d2,
                            double* derivative) {
    const double* W = c->W;
    double mu = c->mu;
    double den = W[0] + mu * (W[3] * d1 + W[6] * d2), den1 = mu * (-W[3] * d2 + W[6] * d1);
    double v1 = den * q[1] - q[0] * (W[1] + mu * (W[4] * d1 + W[7] * d2));
    double v2 = den * q[2] - q[0] * (W[2] + mu * (W[5] * d1 + W[8] * d2));
    double w1 = den1 * q[1] - q[0] * mu * (-W[4] * d2 + W[7] * d1);
    double w2 = den1 * q[2] - q[0] * mu * (-W[5] * d2 + W[8] * d1);
    *derivative = d1 * w2 - d2 * w1 - (d1 * v1 + d2 * v2);
    return d1 * v2 - d2 * v1;
}

static bool slip_newton(const LocalContact* c, const double* q, double d1, double d2, double angle,
                        double* P) {
    for (int i = 0; i < 12; ++i) {
        double slope, f = slip_function(c, q, d1, d2, &slope);
        double step = -f / slope;
        if (!(fabs(step) < 0.7)) step = step > 0 ? 0.7 : -0.7;
        if (!(slope > 0)) step = f > 0 ? -0.7 : 0.7; // a solution crosses upwards (s >= 0)
        double e1 = d1 - step * d2, e2 = d2 + step * d1, s = 1 / sqrt(e1 * e1 + e2 * e2);
        d1 = e1 * s;
        d2 = e2 * s;
        if (fabs(step) < angle) return slip_answer(c, q, d1, d2, P); // next error: step squared
    }
    return false;
}

// Bisects every sign change of f around the circle; takes the first that answers.
static bool slip_scan(const LocalContact* c, const double* q, double* P) {
    enum { PARTS = 24 };
    double slope, last = 0, last_angle = 0;
    for (int k = 0; k <= PARTS; ++k) {
        double angle = 2 * 3.14159265358979323846 * k / PARTS;
        double f = slip_function(c, q, cos(angle), sin(angle), &slope);
        if (k > 0 && (f > 0) != (last > 0)) {
            double low = last_angle, high = angle;
            for (int i = 0; i < 60; ++i) {
                double middle = 0.5 * (low + high);
                double g = slip_function(c, q, cos(middle), sin(middle), &slope);
                if ((g > 0) == (last > 0))
                    low = middle;
                else
                    high = middle;
            }
            if (slip_answer(c, q, cos(low), sin(low), P)) return true;
        }
        last = f;
        last_angle = angle;
    }
    return false;
}

static bool local_spatial(LocalContact* c, const double* q, double angle, double* P) {
    double mu = c->mu;
    if (c->regular) {
        const double* V = c->inverse;
        double P0 = -(V[0] * q[0] + V[3] * q[1] + V[6] * q[2]);
        double P1 = -(V[1] * q[0] + V[4] * q[1] + V[7] * q[2]);
        double P2 = -(V[2] * q[0] + V[5] * q[1] + V[8] * q[2]);
        if (P0 > 0 && P1 * P1 + P2 * P2 <= mu * mu * P0 * P0) {
            P[0] = P0;
            P[1] = P1;
            P[2] = P2;
            c->status = STATUS_STICK;
            return true;
        }
    }
    double d1 = P[1], d2 = P[2], t = d1 * d1 + d2 * d2;
    if (!(t > 0)) {
        d1 = -q[1];
        d2 = -q[2];
        t = d1 * d1 + d2 * d2;
    }
    if (!(t > 0)) d1 = t = 1;
    double s = 1 / sqrt(t);
    c->status = STATUS_SLIP;
    return slip_newton(c, q, d1 * s, d2 * s, angle, P) || slip_scan(c, q, P);
}

static bool local_planar(LocalContact* c, const double* q, double* P) {
    double mu = c->mu;
    if (c->regular) {
        double P0 = -(c->inverse[0] * q[0] + c->inverse[3] * q[1]);
        double P1 = -(c->inverse[1] * q[0] + c->inverse[4] * q[1]);
        if (P0 > 0 && fabs(P1) <= mu * P0) {
            P[0] = P0;
            P[1] = P1;
            c->status = STATUS_STICK;
            return true;
        }
    }
    c->status = STATUS_SLIP;
    double first = P[1] != 0 ? copysign(1, P[1]) : -copysign(1, q[1]);
    for (int k = 0; k < 2; ++k) {
        double d = k == 0 ? first : -first, den = c->W[0] + mu * d * c->W[3];
        if (!(den > 0)) continue;
        double p = -q[0] / den, U1 = q[1] + (c->W[1] + mu * d * c->W[4]) * p;
        if (U1 * d > 1e-14 * fabs(q[1])) continue;
        P[0] = p;
        P[1] = mu * d * p;
        return true;
    }
    return false;
}

// No solution with this q: one projected step, so that sweeps can go on.
static void local_step(const LocalContact* c, const double* q, double* P) {
    double U[3], rho = 1 / c->lambda, t = 0;
    for (int i = 0; i < c->rows; ++i) {
        U[i] = q[i];
        for (int j = 0; j < c->rows; ++j) U[i] += c->W[3 * j + i] * P[j];
        if (i > 0) t += U[i] * U[i];
    }
    for (int i = 0; i < c->rows; ++i) P[i] -= rho * U[i];
    P[0] -= rho * c->mu * sqrt(t);
    friction_project(c->rows, c->mu, P);
}

bool friction_local(LocalContact* c, const double* q, double angle, double* P) {
    if (c->kind == LASH_CONTACT_BILATERAL) {
        c->status = STATUS_STICK;
        if (c->regular) P[0] = -q[0] * c->inverse[0];
        return c->regular;
    }
    if (q[0] >= 0) {
        for (int i = 0; i < c->rows; ++i) P[i] = 0;
        c->status = STATUS_OPEN;
        return true;
    }
    if (c->rows == 1) {
        c->status = STATUS_STICK;
        if (!(c->W[0] > 0)) return false;
        P[0] = -q[0] / c->W[0];
        return true;
    }
    if (c->rows == 3 ? local_spatial(c, q, angle, P) : local_planar(c, q, P)) return true;
    local_step(c, q, P);
    return false;
}

// --- All contacts of a dense problem -------------------------------------------------------------

double friction_list_contacts(const LashFrictionProblem* p, LocalContact* contact) {
    double norm = 0;
    for (int i = 0; i < p->m; ++i) norm += p->b[i] * p->b[i];
    for (int i = 0, row = 0; i < p->contacts; ++i) {
        LocalContact* c = contact + i;
        c->kind = friction_kind(p, i);
        c->rows = (uint8_t)lash_contact_rows(c->kind);
        c->row = row;
        c->mu = c->kind > 1 ? p->mu[i] : 0;
        double lambda = friction_lambda(c->rows, p->W + (size_t)row * ((size_t)p->ldw + 1), p->ldw);
        c->lambda = lambda > 0 ? lambda : 1;
        row += c->rows;
    }
    return 1 + sqrt(norm);
}

void friction_sweep(const LashFrictionProblem* p, LocalContact* contact, int sweeps, double angle,
                    double* P_all, double* U) {
    friction_velocity(p, P_all, U);
    for (int k = 0; k < sweeps; ++k)
        for (int i = 0; i < p->contacts; ++i) {
            LocalContact* c = contact + i;
            double q[3] = {0, 0, 0}, P[3] = {0, 0, 0};
            for (int r = 0; r < c->rows; ++r) P[r] = P_all[c->row + r];
            for (int r = 0; r < c->rows; ++r) {
                q[r] = U[c->row + r];
                for (int j = 0; j < c->rows; ++j) q[r] -= c->W[3 * j + r] * P[j];
            }
            friction_local(c, q, angle, P);
            for (int j = 0; j < c->rows; ++j) {
                double change = P[j] - P_all[c->row + j];
                const double* w = p->W + (size_t)(c->row + j) * (size_t)p->ldw;
                if (change == 0) continue;
                for (int r = 0; r < p->m; ++r) U[r] += change * w[r];
                P_all[c->row + j] = P[j];
            }
        }
}
