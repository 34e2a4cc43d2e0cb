// Cold problems whose contacts hardly feel each other: the first rung above those for small problems.
//
//     P_a = exact solution of one contact with q_a = b_a + sum_{c < a} W_ac P_c
//
// one sweep of Gauss and Seidel from P = 0. A contact that does not close costs a comparison: neither its block
// of W nor that block's eigenvalue is looked at. The independent check decides whether this is the answer.
#include <string.h>

#include "solvers/cone/friction_internal.h"

// The contact's block, copied and inverted.
static void prepare_one(const LashFrictionProblem* problem, int i, LocalContact* contact) {
    int ld;
    const double* W = friction_block(problem, i, contact->row, &ld);
    double lambda = friction_lambda(contact->rows, W, ld);
    contact->lambda = lambda > 0 ? lambda : 1;
    friction_local_prepare(contact, W, ld);
}

// U (rows of W) += columns of one contact times its P: dense W.
static void push(const LashFrictionProblem* problem, const LocalContact* contact, const double* P,
                 double* U) {
    for (int r = 0; r < contact->rows; ++r) {
        const double* w = problem->W + (size_t)(contact->row + r) * (size_t)problem->ldw;
        for (int k = 0; k < problem->m; ++k) U[k] += P[r] * w[k];
    }
}

// P (m) from 0; U is scratch. contact: lambda of those that close, 1 of the others.
static void sweep(const LashFrictionProblem* problem, LocalContact* contact, double* P, double* U) {
    bool pushed = false;
    memcpy(U, problem->b, (size_t)problem->m * sizeof *U);
    for (int i = 0, row = 0; i < problem->contacts; ++i, ++contact) {
        double q[3] = {0, 0, 0}, *P_i = P + row;
        contact->kind = friction_kind(problem, i);
        contact->rows = (uint8_t)lash_contact_rows(contact->kind);
        contact->row = row;
        contact->mu = contact->kind > 1 ? problem->mu[i] : 0;
        contact->lambda = 1;
        for (int r = 0; r < contact->rows; ++r) q[r] = U[row + r];
        if (pushed && problem->sparse != NULL)
            friction_gather(problem->sparse, i, contact->rows, P, q);
        row += contact->rows;
        if (contact->kind != LASH_CONTACT_BILATERAL && q[0] >= 0) continue;
        prepare_one(problem, i, contact);
        friction_local(contact, q, LASH_SWEEP_ANGLE, P_i);
        if (problem->W != NULL) push(problem, contact, P_i, U);
        pushed = true;
    }
}

OnceAnswer friction_once(const LashFrictionProblem* problem, const LashFrictionSettings* settings,
                         LocalContact* contact, double* P, double* U, LashFrictionInfo* info) {
    double norm = 0, sum = 0;
    sweep(problem, contact, P, U);
    double residual = lash_friction_residual(problem, settings->measure, P, U);
    *info = (LashFrictionInfo){LASH_CONVERGED, LASH_FRICTION_GAUSS_SEIDEL, 1, residual};
    for (int i = 0; i < problem->m; ++i) sum += 0 * U[i]; // not 0 where W is not finite
    if (!(residual <= settings->tolerance) || sum != 0) {
        memset(P, 0, (size_t)problem->m * sizeof *P);
        return ONCE_NONE;
    }
    for (int i = 0; i < problem->m; ++i) norm += problem->b[i] * problem->b[i];
    bool sought = settings->minimum_norm && (problem->W != NULL || problem->m <= LASH_NORM_ROWS);
    if (sought && friction_touching(problem, contact, 1 + sqrt(norm), P, U))
        return ONCE_ONE_OF_SEVERAL;
    return ONCE_THE_ANSWER;
}
