// Block Gauss-Seidel for friction: contact after contact is solved exactly while the others wait
// (the nonsmooth Gauss-Seidel of M. Jean, CMAME 177, 1999).
//
//     q_a = b_a + sum_{c != a} W_ac P_c,     P_a <- exact solution of one contact with q_a
//
// Dense W: U is kept up to date by columns, so a contact that does not change costs nothing.
// Sparse W: q is gathered along the block row; a sweep is linear in the number of blocks.
// With a proximal term, q has shift lambda (P - center) as well.
#include <math.h>

#include "solvers/cone/friction_internal.h"

// Solves the contact whose velocity is q with its present impulse P, which gets the answer.
// change (3): of P. Returns lambda |change| [m/s].
static inline double solve_contact(LocalContact* contact, double* q, double angle, double* P,
                                   double* change) {
    double P_new[3] = {0, 0, 0}, moved = 0;
    int rows = contact->rows;
    for (int r = 0; r < rows; ++r) P_new[r] = P[r];
    for (int r = 0; r < rows; ++r)
        for (int j = 0; j < rows; ++j) q[r] -= contact->W[3 * j + r] * P_new[j];
    friction_local(contact, q, angle, P_new);
    for (int r = 0; r < rows; ++r) {
        change[r] = P_new[r] - P[r];
        moved += change[r] * change[r];
        P[r] = P_new[r];
    }
    return contact->lambda * sqrt(moved);
}

double friction_sweep(const LashFrictionProblem* problem, LocalContact* contact, double shift,
                      double angle, double* P, double* U) {
    double largest = 0;
    for (int i = 0; i < problem->contacts; ++i, ++contact) {
        double q[3] = {0, 0, 0}, change[3];
        for (int r = 0; r < contact->rows; ++r) q[r] = U[contact->row + r];
        double moved = solve_contact(contact, q, angle, P + contact->row, change);
        if (moved > largest) largest = moved;
        for (int j = 0; j < contact->rows; ++j) {
            if (change[j] == 0) continue;
            const double* w = problem->W + (size_t)(contact->row + j) * (size_t)problem->ldw;
            for (int r = 0; r < problem->m; ++r) U[r] += change[j] * w[r];
            U[contact->row + j] += shift * contact->lambda * change[j];
        }
    }
    return largest;
}

void friction_gather(const LashBlockSparse* W, int i, int rows, const double* P, double* q) {
    for (int k = W->pointer[i]; k < W->pointer[i + 1]; ++k) {
        int j = W->column[k], at = W->start[j], columns = W->start[j + 1] - at;
        const double *a = W->values + W->offset[k], *x = P + at;
        if (rows == 3 && columns == 3) {
            if (x[0] == 0 && x[1] == 0 && x[2] == 0) continue;
            q[0] += a[0] * x[0] + a[3] * x[1] + a[6] * x[2];
            q[1] += a[1] * x[0] + a[4] * x[1] + a[7] * x[2];
            q[2] += a[2] * x[0] + a[5] * x[1] + a[8] * x[2];
        } else if (rows == 2 && columns == 2) {
            q[0] = (q[0] + a[0] * x[0]) + a[2] * x[1];
            q[1] = (q[1] + a[1] * x[0]) + a[3] * x[1];
        } else {
            for (int s = 0; s < columns; ++s)
                for (int r = 0; r < rows; ++r) q[r] += a[s * rows + r] * x[s];
        }
    }
}

static double sweep_sparse(Friction* friction) {
    const LashFrictionProblem* problem = friction->problem;
    double largest = 0;
    for (int i = 0; i < friction->contacts; ++i) {
        LocalContact* contact = friction->contact + i;
        double q[3] = {0, 0, 0}, change[3], *P = friction->P + contact->row;
        const double *b = problem->b + contact->row, *center = friction->center + contact->row;
        friction_gather(problem->sparse, i, contact->rows, friction->P, q);
        for (int r = 0; r < contact->rows; ++r)
            q[r] += b[r] + friction->shift * contact->lambda * (P[r] - center[r]);
        double moved = solve_contact(contact, q, LASH_SWEEP_ANGLE, P, change);
        if (moved > largest) largest = moved;
    }
    return largest;
}

double friction_gauss_seidel(Friction* friction, int max_sweeps, double tolerance) {
    const LashFrictionProblem* problem = friction->problem;
    double factor = 1, residual = INFINITY, *P = friction->P, *U = friction->U;
    if (problem->W != NULL) friction_velocity_at(friction, P, U); // sparse: by rows, from P
    for (int k = 1; k <= max_sweeps && !friction_stopped(friction); ++k) {
        double change = problem->W != NULL ? friction_sweep(problem, friction->contact,
                                                            friction->shift, LASH_SWEEP_ANGLE, P, U)
                                           : sweep_sparse(friction);
        friction->iterations++;
        if (change > factor * tolerance * friction->scale && k < max_sweeps) continue;
        friction_velocity_at(friction, P, U);
        residual = friction_residual_at(friction, P, U);
        if (residual <= tolerance || change == 0) break;
        if (change <= factor * tolerance * friction->scale) factor *= 0.3;
        if (factor < 1e-6) break; // rounding: no sweep can improve it
    }
    return residual;
}
