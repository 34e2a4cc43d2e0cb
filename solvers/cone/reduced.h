// The reduced system of a friction problem: contacts that are open, stick or slip. For solvers/cone.
#ifndef LASH_SOLVERS_REDUCED_H
#define LASH_SOLVERS_REDUCED_H

#include "solvers/cone/friction_internal.h"

// In which unit the rows are written.
typedef enum ReducedRows {
    ROWS_ARE_VELOCITIES, // as they stand [m/s]
    ROWS_ARE_IMPULSES    // over each contact's lambda [N s]: least squares weighs contacts alike
} ReducedRows;

struct Reduced {
    const LashFrictionProblem* problem;
    LocalContact* contact; // (contacts) status, direction and unknowns are decided here
    const int32_t* order; // (contacts) contacts in the order of their unknowns; NULL: as they stand
    ReducedRows unit;
    int n;               // unknowns
    int changed;         // contacts with another status than before the latest decision
    int32_t* first;      // (contacts) first unknown of each
    int32_t* row;        // (m) row j of F': c1 times this one plus c2 times the next
    double *c1, *c2, *D; // (m) D: diagonal
    double* t;           // (m + 1) scratch; the last is 0
};

// Statuses from (P, U), with the unknowns and rows that follow. A contact closes when
// lambda P_N - U_N > threshold [m/s]: at a cold start a little below 0, so that contacts just
// touching count; later a little above, so that rounding does not close what carries nothing.
void reduced_decide(Reduced* reduced, double threshold, const double* P, const double* U);

// J (n x n) = F' W E + D of a dense problem, leading dimension ld; rows n .. fill are 0.
void reduced_assemble(const Reduced* reduced, double* J, int ld, int fill);

// B (unknowns of i x unknowns of j) = F_i' W_ij E_j for one block of W, without D. Both closed.
void reduced_block(const Reduced* reduced, int i, int j, const double* W, int ld, double* B,
                   int ldb);

// r (n) = F' t + D x for velocities t (m + 1), whose last is 0.
void reduced_residual(const Reduced* reduced, const double* t, const double* x, double* r);

// x (n) of P, and P (m) = E x. Expanding what was extracted puts P onto the span of E.
void reduced_extract(const Reduced* reduced, const double* P, double* x);
void reduced_expand(const Reduced* reduced, const double* x, double* P);

#endif
