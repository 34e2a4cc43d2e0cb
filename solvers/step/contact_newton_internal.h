// What the operator of contacts is made of: shared by the files that make it
// (operator_contacts.c, where its equations stand) and that solve with it (contacts_correct.c).
#ifndef LASH_SOLVERS_CONTACT_NEWTON_INTERNAL_H
#define LASH_SOLVERS_CONTACT_NEWTON_INTERNAL_H

#include "solvers/joints/motions.h"
#include "solvers/linear/dense.h"
#include "solvers/step/sim_internal.h"

struct ContactNewton { // what is added is saved with a run by contact_newton_archive
    Motions* motions;
    int n, ldn, p; // velocities; padded; bilateral rows
    int contacts;  // that there is room for
    // What the operator was made for.
    bool valid;
    Levels levels;
    Derivatives derivatives; // ALL, FORCES, or NONE: S = 0, Theta = 1
    double h, t0;            // step: length, start [s]
    uint64_t key;
    uint64_t number;   // of operators made so far
    double motions_t0; // step of the joints' motions
    int m, ld;         // rows of contacts; padded
    int k, ldk;        // motions that joints leave; padded
    int ne, rank;      // closed contacts E; independent ones
    int l, ldl;        // motions that E leaves, k - rank; padded
    int* leader; // (contacts) of step->normal: the deeper point it is closed with, mostly itself
    int *closed, *order, *swap; // (contacts) E: positions in step->normal; order of its rows
    double* G_n;                // (contacts x ldk) normals in the motions
    double* E;                  // (contacts x ldk) those of E, factored
    double* B;                  // (k x ldk) basis by rows: normals of E, then N
    double* N;                  // (k x ldl) N by columns
    bool curved;                // C(tau) counts
    double *C_tau, *Q;          // (ldn x n) by columns
    bool* filled;               // (blocks x blocks) of C(tau), Q and C that are not zero
    double* D;                  // packed like G
    double* Theta;              // (l x ldl)
    double* S;                  // (k x ldl)
    double *N_v, *Q_N;          // (n x ldl) scratch: V N, forces by it
    double *Z, *X_0, *X;        // (k x ld), (l x ld) scratch of W
    double* rows;               // (rows of a contact x ldk) scratch
    bool soft;                  // forces change little within a step
    bool damping_couples;       // C has blocks off the diagonal
    bool loads;                 // some joints have friction
    bool holds;                 // joints hold the parts along some row of the contacts
    double* answer;             // (m x p) impulses of the joints for unit ones of the contacts
    double* grid;               // scratch
    double *a, *z, *x, *y;      // (k) changes of the motions; x and y of the equations above
    double *mu, *eta, *z_c;     // (k) m in the motions
    double *dv, *dd, *dv_p, *dd_p, *force;   // (n)
    double *motion, *off;                    // (n) m, M^-1 m of the iterate
    double *e, *t;                           // (p), (n + m) scratch
    double *gap, *tau, *gap_new, *P_n, *A_n; // position problem of the contacts
    uint8_t* kind;
    void* projection_work;
    double* memory; // of all of them
    size_t numbers; // in it, from G_n on
};

// One correction of v, P, tau and the shift with the operator at hand. False: no answer.
bool contact_newton_correct(LashSim* sim, Step* step);

// Is the gap of normal r to be closed: P_N > least, of it or of a point that it leads?
bool contact_newton_pushes(const Step* step, const ContactNewton* newton, int r, double least);

// --- Small kernels -------------------------------------------------------------------------------

static inline double dot(int n, const double* x, const double* y) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

// y (rows) += sign A x, A (rows x n) by rows; work (rows)
static inline void add_product(int rows, int n, double sign, const double* A, int ld,
                               const double* x, double* work, double* y) {
    lash_dense_multiply_rows(rows, n, A, ld, x, work);
    for (int i = 0; i < rows; ++i) y[i] += sign * work[i];
}

// y (ld) = A'x, A (rows x ld)
static inline void multiply_transposed(int rows, const double* A, int ld, const double* x,
                                       double* y) {
    lash_dense_sum_rows(ld, rows, x, 1, A, ld, y);
}

#endif
