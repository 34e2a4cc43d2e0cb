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
#include "solvers/linear/rank.h"

static bool invert(int rows, const double* a, double* b) {
    if (rows == 1) {
        if (!(fabs(a[0]) > 0)) return false;
        b[0] = 1 / a[0];
        return true;
    }
    if (rows == 2) {
        double det = a[0] * a[4] - a[1] * a[3];
        if (!(fabs(det) > LASH_RANK_GIVEN * fabs(a[0] * a[4]))) return false;
        double s = 1 / det;
        b[0] = s * a[4];
        b[1] = -s * a[1];
        b[3] = -s * a[3];
        b[4] = s * a[0];
        return true;
    }
    double c0 = a[4] * a[8] - a[5] * a[7], c1 = a[5] * a[6] - a[3] * a[8],
           c2 = a[3] * a[7] - a[4] * a[6], det = a[0] * c0 + a[1] * c1 + a[2] * c2;
    if (!(fabs(det) > LASH_RANK_GIVEN * fabs(a[0] * a[4] * a[8]))) return false;
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

void friction_local_prepare(LocalContact* contact, const double* W, int ld) {
    for (int j = 0; j < contact->rows; ++j)
        for (int i = 0; i < contact->rows; ++i)
            contact->W[3 * j + i] = W[(size_t)j * (size_t)ld + (size_t)i];
    contact->regular = invert(contact->rows, contact->W, contact->inverse);
}

void friction_prepare_contacts(const LashFrictionProblem* problem, LocalContact* contact) {
    for (int i = 0, ld; i < problem->contacts; ++i, ++contact) {
        const double* W = friction_block(problem, i, contact->row, &ld);
        friction_local_prepare(contact, W, ld);
    }
}

// Slip in the direction d: fills P, returns false unless p > 0 and U_T opposes d.
static bool slip_answer(const LocalContact* contact, const double* q, double d1, double d2,
                        double* P) {
    const double* W = contact->W;
    double mu = contact->mu, den = W[0] + mu * (W[3] * d1 + W[6] * d2);
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
static double slip_function(const LocalContact* contact, const double* q, double d1, double d2,
                            double* derivative) {
    const double* W = contact->W;
    double mu = contact->mu;
    double den = W[0] + mu * (W[3] * d1 + W[6] * d2), den1 = mu * (-W[3] * d2 + W[6] * d1);
    double v1 = den * q[1] - q[0] * (W[1] + mu * (W[4] * d1 + W[7] * d2));
    double v2 = den * q[2] - q[0] * (W[2] + mu * (W[5] * d1 + W[8] * d2));
    double w1 = den1 * q[1] - q[0] * mu * (-W[4] * d2 + W[7] * d1);
    double w2 = den1 * q[2] - q[0] * mu * (-W[5] * d2 + W[8] * d1);
    *derivative = d1 * w2 - d2 * w1 - (d1 * v1 + d2 * v2);
    return d1 * v2 - d2 * v1;
}

static bool slip_newton(const LocalContact* contact, const double* q, double d1, double d2,
                        double angle, double* P) {
    for (int i = 0; i < 12; ++i) {
        double slope, f = slip_function(contact, q, d1, d2, &slope);
        double step = -f / slope;
        if (!(fabs(step) < 0.7)) step = step > 0 ? 0.7 : -0.7;
        if (!(slope > 0)) step = f > 0 ? -0.7 : 0.7; // a solution crosses upwards (s >= 0)
        double e1 = d1 - step * d2, e2 = d2 + step * d1, s = 1 / sqrt(e1 * e1 + e2 * e2);
        d1 = e1 * s;
        d2 = e2 * s;
        if (fabs(step) < angle)
            return slip_answer(contact, q, d1, d2, P); // next error: step squared
    }
    return false;
}

// Bisects every sign change of f around the circle; takes the first that answers.
static bool slip_scan(const LocalContact* contact, const double* q, double* P) {
    enum { PARTS = 24 };
    double slope, last = 0, last_angle = 0;
    for (int k = 0; k <= PARTS; ++k) {
        double angle = 2 * 3.14159265358979323846 * k / PARTS;
        double f = slip_function(contact, q, cos(angle), sin(angle), &slope);
        if (k > 0 && (f > 0) != (last > 0)) {
            double low = last_angle, high = angle;
            for (int i = 0; i < 60; ++i) {
                double middle = 0.5 * (low + high);
                double g = slip_function(contact, q, cos(middle), sin(middle), &slope);
                if ((g > 0) == (last > 0))
                    low = middle;
                else
                    high = middle;
            }
            if (slip_answer(contact, q, cos(low), sin(low), P)) return true;
        }
        last = f;
        last_angle = angle;
    }
    return false;
}

static bool local_spatial(LocalContact* contact, const double* q, double angle, double* P) {
    double mu = contact->mu;
    if (contact->regular) {
        const double* V = contact->inverse;
        double P0 = -(V[0] * q[0] + V[3] * q[1] + V[6] * q[2]);
        double P1 = -(V[1] * q[0] + V[4] * q[1] + V[7] * q[2]);
        double P2 = -(V[2] * q[0] + V[5] * q[1] + V[8] * q[2]);
        if (P0 > 0 && P1 * P1 + P2 * P2 <= mu * mu * P0 * P0) {
            P[0] = P0;
            P[1] = P1;
            P[2] = P2;
            contact->status = STATUS_STICK;
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
    contact->status = STATUS_SLIP;
    return slip_newton(contact, q, d1 * s, d2 * s, angle, P) || slip_scan(contact, q, P);
}

static bool local_planar(LocalContact* contact, const double* q, double* P) {
    double mu = contact->mu;
    if (contact->regular) {
        double P0 = -(contact->inverse[0] * q[0] + contact->inverse[3] * q[1]);
        double P1 = -(contact->inverse[1] * q[0] + contact->inverse[4] * q[1]);
        if (P0 > 0 && fabs(P1) <= mu * P0) {
            P[0] = P0;
            P[1] = P1;
            contact->status = STATUS_STICK;
            return true;
        }
    }
    contact->status = STATUS_SLIP;
    double first = P[1] != 0 ? copysign(1, P[1]) : -copysign(1, q[1]);
    for (int k = 0; k < 2; ++k) {
        double d = k == 0 ? first : -first, den = contact->W[0] + mu * d * contact->W[3];
        if (!(den > 0)) continue;
        double p = -q[0] / den, U1 = q[1] + (contact->W[1] + mu * d * contact->W[4]) * p;
        if (U1 * d > 1e-14 * fabs(q[1])) continue;
        P[0] = p;
        P[1] = mu * d * p;
        return true;
    }
    return false;
}

// No solution with this q: one projected step, so that sweeps can go on.
static void local_step(const LocalContact* contact, const double* q, double* P) {
    double U[3], rho = 1 / contact->lambda, t = 0;
    for (int i = 0; i < contact->rows; ++i) {
        U[i] = q[i];
        for (int j = 0; j < contact->rows; ++j) U[i] += contact->W[3 * j + i] * P[j];
        if (i > 0) t += U[i] * U[i];
    }
    for (int i = 0; i < contact->rows; ++i) P[i] -= rho * U[i];
    P[0] -= rho * contact->mu * sqrt(t);
    friction_project(contact->rows, contact->mu, P);
}

bool friction_local(LocalContact* contact, const double* q, double angle, double* P) {
    if (contact->kind == LASH_CONTACT_BILATERAL) {
        contact->status = STATUS_STICK;
        if (contact->regular) P[0] = -q[0] * contact->inverse[0];
        return contact->regular;
    }
    if (q[0] >= 0) {
        for (int i = 0; i < contact->rows; ++i) P[i] = 0;
        contact->status = STATUS_OPEN;
        return true;
    }
    if (contact->rows == 1) {
        contact->status = STATUS_STICK;
        if (!(contact->W[0] > 0)) return false;
        P[0] = -q[0] / contact->W[0];
        return true;
    }
    if (contact->rows == 3 ? local_spatial(contact, q, angle, P) : local_planar(contact, q, P))
        return true;
    local_step(contact, q, P);
    return false;
}
