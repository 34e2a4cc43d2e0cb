// What the friction methods share. For solvers/ and tests.
#ifndef LASH_SOLVERS_FRICTION_INTERNAL_H
#define LASH_SOLVERS_FRICTION_INTERNAL_H

#include <math.h>

#include "solvers/cone/lcp.h"
#include "solvers/friction.h"

enum {
    LASH_SMALL_ROWS = 32,         // up to here everything lives on the stack
    LASH_BAND_ROWS = 1024,        // workspace of the factorisation: m x min(m, this)
    LASH_NORM_ROWS = 96,          // minimum-norm answers are sought up to this many rows
    LASH_SHRINK_ROWS = 300,       // large impulses are reduced up to this many rows
    LASH_POLYHEDRAL_CONTACTS = 64 // pivoting with friction: up to this many contacts
};

// Sweeps follow the direction of slip from one to the next; it need not be exact at once [rad].
#define LASH_SWEEP_ANGLE 1e-2

// Impulses above this many times max |b| / lambda come from contradictory rows [-].
#define LASH_LARGEST_GAIN 1e7

static inline uint8_t friction_kind(const LashFrictionProblem* p, int i) {
    return p->kind == NULL ? (uint8_t)LASH_CONTACT_SPATIAL : p->kind[i];
}

// What a contact does: decided from (P, U) by the Alart-Curnier function.
typedef enum ContactStatus { STATUS_OPEN, STATUS_STICK, STATUS_SLIP } ContactStatus;

// One contact, copied out of W: the exact one-contact solver works on it.
typedef struct LocalContact {
    double W[9];       // its own block, column-major with 3 rows
    double inverse[9]; // of W, when regular
    double lambda;     // largest eigenvalue of the symmetric part [1/kg]
    double mu;         // friction [-]
    double d[2], k;    // slip: direction of P_T, diagonal term of the row across it
    int32_t row;       // first row
    uint8_t kind;      // LashContactKind
    uint8_t rows;      // 1 .. 3
    uint8_t regular;   // inverse is set
    uint8_t status;    // ContactStatus of the latest decision
} LocalContact;

// A problem prepared for the methods, all in the caller's workspace.
typedef struct Friction {
    const LashFrictionProblem* problem;
    const LashFrictionSettings* settings;
    int contacts, m;
    LocalContact* contact;    // (contacts)
    double scale;             // 1 + |b|
    double b_largest;         // max |b| [m/s]
    double *P, *U;            // (m) the caller's: current point, U = W P + b
    double *best_P, *trial_P; // (m)
    double* saved_P;          // (m) best point of all methods, saved_residual there
    double saved_residual;
    double *x, *rhs;        // (m) unknowns of Newton
    double shift;           // proximal term: U = W P + b + shift lambda (P - center) [-]
    double newton_shift;    // what Newton adds to its matrix alone [-]
    double* center;         // (m)
    double* vectors;        // (16 m) of the interior point method
    int32_t *first, *order; // (contacts + 1) first unknown, band ordering
    int32_t* scratch;       // (3 contacts)
    int32_t* pivot;         // (m)
    double* matrix;         // factorisation, minimum norm
    size_t matrix_size;     // in numbers
    int iterations;         // sweeps and linear solves so far
    int changed;            // statuses that changed in the latest Newton step
    double newton_cost;     // multiplications of the latest factorisation
    bool singular;          // a linear system without full rank was met
    bool band_ready;        // order holds the band ordering
} Friction;

static inline bool friction_stopped(const Friction* f) {
    return lash_stop_asked(f->settings->stop);
}

// Projection of x onto the cone |x_T| <= mu x_N, rows components; in place.
static inline void friction_project(int rows, double mu, double* x) {
    if (rows == 1) {
        x[0] = x[0] > 0 ? x[0] : 0;
        return;
    }
    double t = rows == 3 ? sqrt(x[1] * x[1] + x[2] * x[2]) : fabs(x[1]);
    if (t <= mu * x[0]) return;
    if (mu * t <= -x[0]) {
        x[0] = x[1] = 0;
        if (rows == 3) x[2] = 0;
        return;
    }
    double n = (x[0] + mu * t) / (1 + mu * mu), s = mu * n / t;
    x[0] = n;
    x[1] *= s;
    if (rows == 3) x[2] *= s;
}

// |P - proj(P - rho u)| of one contact, u = U + (mu |U_T|, 0, 0).
static inline double friction_natural(uint8_t kind, double mu, double rho, const double* P,
                                      const double* U) {
    if (kind == LASH_CONTACT_BILATERAL) return rho * fabs(U[0]);
    if (kind == LASH_CONTACT_FRICTIONLESS) {
        double z = P[0] - rho * U[0];
        return fabs(z > 0 ? rho * U[0] : P[0]);
    }
    int rows = kind;
    double t = rows == 3 ? sqrt(U[1] * U[1] + U[2] * U[2]) : fabs(U[1]);
    double z[3] = {P[0] - rho * (U[0] + mu * t), P[1] - rho * U[1], 0};
    if (rows == 3) z[2] = P[2] - rho * U[2];
    friction_project(rows, mu, z);
    double s = (P[0] - z[0]) * (P[0] - z[0]) + (P[1] - z[1]) * (P[1] - z[1]);
    if (rows == 3) s += (P[2] - z[2]) * (P[2] - z[2]);
    return sqrt(s);
}

// Largest eigenvalue of the symmetric part of a block of 1 .. 3 rows.
double friction_lambda(int rows, const double* W, int ld);

// U = W P + b
void friction_velocity(const LashFrictionProblem* p, const double* P, double* U);

// The same with the proximal term of f.
void friction_velocity_at(const Friction* f, const double* P, double* U);

// The residual with U given and lambda known.
double friction_residual_at(const Friction* f, const double* P, const double* U);

// Solves one contact U = W P + q exactly, q its velocity without its own impulse. P holds a guess
// and gets the answer; the direction of slip is found to angle squared [rad]. Returns false when
// it has none (then P is a projected step).
bool friction_local(LocalContact* contact, const double* q, double angle, double* P);

// Dense W: kind, rows, row, mu and lambda of all contacts. Returns 1 + |b|.
double friction_list_contacts(const LashFrictionProblem* p, LocalContact* contact);

// Dense W, contacts prepared: Gauss-Seidel from P; U = W P + b is kept up.
void friction_sweep(const LashFrictionProblem* p, LocalContact* contact, int sweeps, double angle,
                    double* P, double* U);

// Copies the block out of W and inverts it; row, rows, kind, mu and lambda are set already.
void friction_local_prepare(LocalContact* contact, const double* W, int ld);

// Decides what contact does from z = P - rho U; rho = 1 / lambda. It is closed when
// lambda z_N > threshold [m/s]: at the start a little below 0, so that contacts just touching
// count; later a little above, so that rounding does not close what carries nothing.
ContactStatus friction_status(const LocalContact* contact, double threshold, const double* P,
                              const double* U);

// The methods. Each starts from f->P, leaves its best point in f->P and f->U, and returns the
// residual there.
double friction_gauss_seidel(Friction* f, int max_sweeps, double tolerance);
double friction_newton(Friction* f, int max_steps, double tolerance);
double friction_proximal(Friction* f, int max_steps, double tolerance);
double friction_interior_point(Friction* f, int max_solves, double tolerance);

// The same solution with the smallest impulses, or nearly so (weighted by lambda), for any size.
void friction_smallest(Friction* f, double tolerance);

// Does a contact touch without load beside a loaded one that it is coupled with? Then other
// solutions may exist although each system met was regular. scale = 1 + |b|.
bool friction_touching(const LashFrictionProblem* p, const LocalContact* contact, double scale,
                       const double* P, const double* U);

// The polyhedral cone as an LCP; P stays when it finds none.
LashLcpInfo friction_polyhedral(Friction* f, int directions, double tolerance);
size_t friction_polyhedral_size(int contacts, int m); // numbers of f->matrix

// The solution of smallest norm that has the same U as (P, U): P_new (m). Returns false when it was
// not found to rounding (P is then as good as any). work: friction_norm_size(m) numbers.
size_t friction_norm_size(int m);
bool friction_minimum_norm(const LashFrictionProblem* p, const LocalContact* contact, double scale,
                           const double* P, const double* U, double* P_new, double* work);

// What P is for friction_levenberg.
typedef enum FrictionStart {
    FRICTION_ANY,    // near the answer; none smaller is looked for
    FRICTION_WARM,   // near the answer, which stays near it
    FRICTION_SHRUNK, // the same; what rows that depend on each other leave open is taken out of it
    FRICTION_FROM_NOTHING // it only says which contacts stick and slide
} FrictionStart;

// Dense problems inside a Newton iteration, whose rows may depend on and contradict each other
// (friction_levenberg.c): a residual that is enough will do. matrix: a number that stays the same as long
// as W does, 0 when there is none; work: friction_levenberg_size numbers, zero before the first call and
// left alone between calls.
size_t friction_levenberg_size(int contacts, int m);
LashFrictionInfo friction_levenberg(const LashFrictionProblem* p, uint64_t matrix, double tolerance,
                                    double enough, FrictionStart start, double* P, double* U,
                                    double* work);

// Small dense problems, no workspace: returns false when it gives up.
bool friction_small(const LashFrictionProblem* p, const LashFrictionSettings* s, double* P,
                    double* U, LashFrictionInfo* info);

#endif
