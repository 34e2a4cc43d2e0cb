// What the methods for linear complementarity share.
#ifndef LASH_SOLVERS_LCP_INTERNAL_H
#define LASH_SOLVERS_LCP_INTERNAL_H

#include "solvers/cone/lcp.h"

typedef struct Lcp {
    int n, lda;
    const double *A, *b;
    const uint8_t* free;                       // (n) or NULL: no free rows
    double *z, *w;                             // (n) the caller's
    double* matrix;                            // (n x (n + 2))
    double* matrix2;                           // (n x (n + 2)) also the low parts of matrix
    double* least;                             // least squares of n x n
    double *x, *r, *d;                         // (n + 1) scratch
    int32_t *pivot, *basic, *nonbasic, *where; // (n + 1), (n), (n + 1), (2 n + 1)
    double tolerance;
    int max_iterations, iterations;
    bool ray;
    bool precise;     // Lemke: matrix + matrix2 is a tableau of twofold numbers
    double b_largest; // Lemke: largest entry of b in the tableau's units
    double growth;    // Lemke with twofold numbers: largest entry of the tableau so far
    const LashStop* stop;
} Lcp;

static inline bool lcp_free(const Lcp* lcp, int i) {
    return lcp->free != NULL && lcp->free[i];
}

double lcp_residual(const Lcp* lcp); // sets w

// Sets z from a complementary basis: in[i] = 1 where z_i may differ from 0. Least squares when the
// basis is singular. Returns the residual.
double lcp_solve_basis(Lcp* lcp, const uint8_t* in);

// Each returns the residual of the z it leaves.
double lcp_lemke(Lcp* lcp);
double lcp_enumerate(Lcp* lcp);

#endif
