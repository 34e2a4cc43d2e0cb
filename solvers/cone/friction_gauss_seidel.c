// Block Gauss-Seidel for friction: contact after contact is solved exactly while the others wait
// (the nonsmooth Gauss-Seidel of M. Jean, CMAME 177, 1999).
//
//     q_a = b_a + sum_{c != a} W_ac P_c,     P_a <- exact solution of one contact with q_a
//
// Dense W: U is kept up to date by columns, so a contact that does not change costs nothing.
// Sparse W: q is gathered along the block row; a sweep is linear in the number of blocks.
#include <string.h>

#include "core/error.h"
#include "solvers/cone/friction_internal.h"

// Returns lambda |change of P| of the contact [m/s].
static double sweep_dense(Friction* f, LocalContact* c) {
    const LashFrictionProblem* p = f->problem;
    double q[3] = {0, 0, 0}, P[3] = {0, 0, 0}, moved = 0;
    double *P_old = f->P + c->row, *U = f->U + c->row;
    for (int r = 0; r < c->rows; ++r) P[r] = P_old[r];
    for (int r = 0; r < c->rows; ++r) {
        q[r] = U[r];
        for (int j = 0; j < c->rows; ++j) q[r] -= c->W[3 * j + r] * P[j];
    }
    friction_local(c, q, LASH_SWEEP_ANGLE, P);
    for (int j = 0; j < c->rows; ++j) {
        double change = P[j] - P_old[j];
        if (change == 0) continue;
        const double* w = p->W + (size_t)(c->row + j) * (size_t)p->ldw;
        for (int r = 0; r < p->m; ++r) f->U[r] += change * w[r];
        U[j] += f->shift * c->lambda * change;
        P_old[j] = P[j];
        moved += change * change;
    }
    return c->lambda * sqrt(moved);
}

static double sweep_sparse(Friction* f, LocalContact* c, int i) {
    const LashBlockSparse* A = f->problem->sparse;
    const double *P_all = f->P, *b = f->problem->b + c->row;
    double q[3] = {0, 0, 0}, P[3] = {0, 0, 0}, moved = 0, *P_old = f->P + c->row;
    int rows = c->rows;
    for (int k = A->pointer[i]; k < A->pointer[i + 1]; ++k) {
        int j = A->column[k], at = A->start[j], columns = A->start[j + 1] - at;
        const double *a = A->values + A->offset[k], *x = P_all + at;
        if (rows == 3 && columns == 3) {
            if (x[0] == 0 && x[1] == 0 && x[2] == 0) continue;
            q[0] += a[0] * x[0] + a[3] * x[1] + a[6] * x[2];
            q[1] += a[1] * x[0] + a[4] * x[1] + a[7] * x[2];
            q[2] += a[2] * x[0] + a[5] * x[1] + a[8] * x[2];
        } else {
            for (int s = 0; s < columns; ++s)
                for (int r = 0; r < rows; ++r) q[r] += a[s * rows + r] * x[s];
        }
    }
    for (int r = 0; r < rows; ++r) P[r] = P_old[r];
    for (int r = 0; r < rows; ++r) {
        q[r] += b[r] + f->shift * c->lambda * (P[r] - f->center[c->row + r]);
        for (int j = 0; j < rows; ++j) q[r] -= c->W[3 * j + r] * P[j];
    }
    friction_local(c, q, LASH_SWEEP_ANGLE, P);
    for (int j = 0; j < rows; ++j) {
        moved += (P[j] - P_old[j]) * (P[j] - P_old[j]);
        P_old[j] = P[j];
    }
    return c->lambda * sqrt(moved);
}

double friction_gauss_seidel(Friction* f, int max_sweeps, double tolerance) {
    const LashFrictionProblem* p = f->problem;
    double factor = 1, residual = INFINITY;
    friction_velocity_at(f, f->P, f->U);
    for (int k = 1; k <= max_sweeps && !friction_stopped(f); ++k) {
        double change = 0;
        for (int i = 0; i < f->contacts; ++i) {
            LocalContact* c = f->contact + i;
            double d = p->W != NULL ? sweep_dense(f, c) : sweep_sparse(f, c, i);
            if (d > change) change = d;
        }
        f->iterations++;
        if (change > factor * tolerance * f->scale && k < max_sweeps) continue;
        friction_velocity_at(f, f->P, f->U);
        residual = friction_residual_at(f, f->P, f->U);
        if (residual <= tolerance || change == 0) break;
        if (change <= factor * tolerance * f->scale) factor *= 0.3;
        if (factor < 1e-6) break; // rounding: no sweep can improve it
    }
    return residual;
}
