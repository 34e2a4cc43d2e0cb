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
    LASH_POLYHEDRAL_CONTACTS = 64 // pivoting with friction: up to this many contacts
};

// Sweeps follow the direction of slip from one to the next; it need not be exact at once [rad].
#define LASH_SWEEP_ANGLE 1e-2

// A residual below this is near an answer: Newton is given more steps there [-].
#define LASH_NEAR 1e-4

static inline uint8_t friction_kind(const LashFrictionProblem* problem, int i) {
    return problem->kind == NULL ? (uint8_t)LASH_CONTACT_SPATIAL : problem->kind[i];
}

// What a contact does: decided from (P, U) by the Alart-Curnier function.
typedef enum ContactStatus { STATUS_OPEN, STATUS_STICK, STATUS_SLIP } ContactStatus;

// One contact, copied out of W: the exact one-contact solver works on it.
typedef struct LocalContact {
    double W[9];       // its own block, column-major with 3 rows
    double inverse[9]; // of W, when regular
    double lambda;     // largest eigenvalue of the symmetric part [1/kg]
    double mu;         // friction [-]
    double d[2];       // slip: direction of P_T, decided in reduced.c
    int32_t row;       // first row
    uint8_t kind;      // LashContactKind
    uint8_t rows;      // 1 .. 3
    uint8_t regular;   // inverse is set
    uint8_t status;    // ContactStatus of the latest decision
    uint8_t unknowns;  // of the reduced system since the latest decision
} LocalContact;

typedef struct Reduced Reduced; // reduced.h

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
    double* warm_P;           // (m) P at the beginning
    double* saved_P;          // (m) best point of all methods, saved_residual there
    double saved_residual;
    Reduced* reduced;       // of Newton
    double *x, *rhs;        // (m) its unknowns
    double shift;           // proximal term: U = W P + b + shift lambda (P - center) [-]
    double newton_shift;    // what Newton adds to its matrix alone [-]
    double* center;         // (m)
    double* vectors;        // (18 m) of the interior point method
    int32_t *first, *order; // (contacts + 1) first row of the interior point matrix, band ordering
    int32_t* scratch;       // (3 contacts)
    int32_t* pivot;         // (m)
    double* matrix;         // factorisation, minimum norm
    size_t matrix_size;     // in numbers
    int iterations;         // sweeps and linear solves so far
    int end;                // how many there may be
    double newton_cost;     // multiplications of the latest factorisation
    bool singular;          // a linear system without full rank was met
    bool band_ready;        // order holds the band ordering
} Friction;

Friction friction_prepare(const LashFrictionProblem* problem, const LashFrictionSettings* settings,
                          double* P, double* U, void* work);

// One step of Newton from P, where U = b: dP (m), of which nothing is lost in the rounding of P, and U there.
// Returns the error of P + dP in LASH_MEASURE_VELOCITY, not over 1 + |b| [m/s]; INFINITY: there is no step.
double friction_increment(const LashFrictionProblem* problem, const LashFrictionSettings* settings,
                          const double* P, double* dP, double* U, void* work);

// Shall the methods end: somebody asks for it, or the work allowed is done?
static inline bool friction_stopped(const Friction* friction) {
    return friction->iterations >= friction->end || lash_stop_asked(friction->settings->stop);
}

// Projection of x onto the cone |x_T| <= mu x_N, rows components; in place.
static inline void friction_project(int rows, double mu, double* x) {
    if (rows == 1) {
        x[0] = x[0] > 0 ? x[0] : 0;
        return;
    }
    double t = rows == 3 ? sqrt(x[1] * x[1] + x[2] * x[2]) : fabs(x[1]);
    if (x[0] >= 0 && t <= mu * x[0]) return;
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

// The same as friction_natural, where P is so large that rho u is lost in its rounding.
double friction_natural_exact(int rows, double mu, double rho, const double* P, const double* U);

// Impulses over rho beyond which that may be so: their rounding is 1e-13 m/s [m/s].
#define LASH_LARGE_PUSH 1e3

// No impulse, and not closing: it solves the contact whatever mu and U_T are.
static inline bool friction_is_open(uint8_t kind, const double* P, const double* U) {
    if (kind == LASH_CONTACT_BILATERAL || !(U[0] >= 0) || P[0] != 0) return false;
    return kind < LASH_CONTACT_PLANAR || (P[1] == 0 && (kind == LASH_CONTACT_PLANAR || P[2] == 0));
}

// |P - proj(P - rho u)| of one contact, u = U + (mu |U_T|, 0, 0).
static inline double friction_natural(uint8_t kind, double mu, double rho, const double* P,
                                      const double* U) {
    if (friction_is_open(kind, P, U)) return 0;
    if (kind == LASH_CONTACT_BILATERAL) return rho * fabs(U[0]);
    if (kind == LASH_CONTACT_FRICTIONLESS) {
        double z = P[0] - rho * U[0];
        return fabs(z > 0 ? rho * U[0] : P[0]);
    }
    int rows = kind;
    if (P[0] > LASH_LARGE_PUSH * rho) return friction_natural_exact(rows, mu, rho, P, U);
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

// The diagonal block of contact i, whose first row is `row`; *ld is its leading dimension.
const double* friction_block(const LashFrictionProblem* problem, int i, int row, int* ld);

// U = W P + b
void friction_velocity(const LashFrictionProblem* problem, const double* P, double* U);

// The same with the proximal term of friction.
void friction_velocity_at(const Friction* friction, const double* P, double* U);

// The residual with U given and lambda known, times 1 + |b|.
double friction_error(int contacts, const LocalContact* contact, LashFrictionMeasure measure,
                      const double* P, const double* U);
double friction_residual_at(const Friction* friction, const double* P, const double* U);

// Kind, rows, row, mu and lambda of all contacts. Returns 1 + |b|.
double friction_list_contacts(const LashFrictionProblem* problem, LocalContact* contact);

// Copies a block out of W and inverts it; row, rows, kind, mu and lambda are set already.
void friction_local_prepare(LocalContact* contact, const double* W, int ld);
void friction_prepare_contacts(const LashFrictionProblem* problem, LocalContact* contact);

// Solves one contact U = W P + q exactly, q its velocity without its own impulse. P holds a guess
// and gets the answer; the direction of slip is found to angle squared [rad]. Returns false when
// it has none (then P is a projected step).
bool friction_local(LocalContact* contact, const double* q, double angle, double* P);

// One sweep of Gauss and Seidel over a dense problem, contacts prepared; U = W P + b + shift L P is
// kept up. Returns the largest lambda |change of P| [m/s].
double friction_sweep(const LashFrictionProblem* problem, LocalContact* contact, double shift,
                      double angle, double* P, double* U);

// q (3) += row i of blocks of W, of so many rows, times P
void friction_gather(const LashBlockSparse* W, int i, int rows, const double* P, double* q);

// Keeps P, with this residual, where it is the best point of all methods so far. With a proximal term it is the
// residual of another problem, and P does not count.
void friction_remember(Friction* friction, double residual);

// The methods. Each starts from friction->P, leaves its best point in P and U, and returns the
// residual there.
double friction_gauss_seidel(Friction* friction, int max_sweeps, double tolerance);
double friction_newton(Friction* friction, int max_steps, double tolerance);
double friction_proximal(Friction* friction, int max_steps, double tolerance);
double friction_interior_point(Friction* friction, int max_steps, double tolerance);
double friction_interior_held(Friction* friction, int max_solves, double tolerance);

// --- The ladder: methods in the order they are tried (friction_ladder.c, docs/solvers.md) ---------

// Which problems a rung is for.
typedef enum RungWhere {
    WHERE_SMALL, // dense, up to LASH_SMALL_ROWS rows; these rungs stand first
    WHERE_COLD, // without a warm start: contacts that hardly feel each other need no more; tried before the climb
    WHERE_ANY,     // all
    WHERE_CONES,   // with friction
    WHERE_NO_CONES // without: pivoting solves it, or shows that it has no solution
} RungWhere;

// Where a rung starts.
typedef enum RungStart {
    START_WARM,   // at the P given; after the rungs for small problems at their best point
    START_LATEST, // where the rung before ended
    START_ZERO,   // at P = 0
    START_BEST    // at the best point of all rungs so far
} RungStart;

// The term mu |U_T| of the friction law in an interior point method.
typedef enum RungSlip {
    SLIP_FOLLOWS, // it is in the Newton matrix: a few dozen steps
    SLIP_HELD     // it stands still while a convex problem is solved, many times over
} RungSlip;

typedef struct Rung {
    LashFrictionMethod method; // what LashFrictionInfo calls an answer of this rung
    RungWhere where;
    RungStart start;
    int sweeps; // of Gauss and Seidel first; more where a factorisation is dear
    int steps;  // of the method after them
    int near;   // steps more when the residual is below LASH_NEAR
    RungSlip slip;
} Rung;

extern const Rung friction_ladder[];
extern const int friction_ladder_count;

// Climbs the ladder from the rung with this method on.
LashFrictionInfo friction_climb(Friction* friction, LashFrictionMethod from);

// Moves P to the smallest equal answer, or nearly so (weighted by lambda), for any size.
void friction_smallest(Friction* friction, double tolerance);

// Does a contact touch without load beside a loaded one that it is coupled with? Then other
// solutions may exist although each system met was regular. scale = 1 + |b|.
bool friction_touching(const LashFrictionProblem* problem, const LocalContact* contact,
                       double scale, const double* P, const double* U);

// The polyhedral cone as an LCP; P stays when it finds none.
LashLcpInfo friction_polyhedral(Friction* friction, int directions, double tolerance);
size_t friction_polyhedral_size(int contacts, int m); // numbers of friction->matrix

// The solution of smallest norm that has the same U as (P, U): P_new (m). Returns false when it was
// not found to rounding (P is then as good as any). work: friction_norm_size(m) numbers.
size_t friction_norm_size(int m);
bool friction_minimum_norm(const LashFrictionProblem* problem, const LocalContact* contact,
                           double scale, const double* P, const double* U, double* P_new,
                           double* work);

// What P is for friction_levenberg.
typedef enum FrictionStart {
    FRICTION_ANY,    // near the answer; none smaller is looked for
    FRICTION_WARM,   // near the answer, which stays near it
    FRICTION_SHRUNK, // the same; what rows that depend on each other leave open is taken out of it
    FRICTION_FROM_NOTHING // it only says which contacts stick and slide
} FrictionStart;

// Dense problems inside a Newton iteration, whose rows may depend on and contradict each other
// (friction_levenberg.c): a residual that is enough will do, and max_iterations bounds factors and sweeps (0: it
// ends by itself). matrix: a number that stays the same
// as long as W does, 0 when there is none; work: friction_levenberg_size numbers, zero before the
// first call and left alone between calls.
size_t friction_levenberg_size(int contacts, int m);
LashFrictionInfo friction_levenberg(const LashFrictionProblem* problem, uint64_t matrix,
                                    double tolerance, double enough, int max_iterations,
                                    FrictionStart start, double* P, double* U, double* work);

// Small dense problems by the first rungs of the ladder, no workspace: returns false when it gives
// up; P is then the best point found.
bool friction_small(const LashFrictionProblem* problem, const LashFrictionSettings* settings,
                    double* P, double* U, LashFrictionInfo* info);

// One sweep from P = 0, which P is (friction_once.c); contact: (contacts) scratch.
typedef enum OnceAnswer {
    ONCE_NONE,           // P is 0 again
    ONCE_ONE_OF_SEVERAL, // perhaps not the smallest
    ONCE_THE_ANSWER
} OnceAnswer;
OnceAnswer friction_once(const LashFrictionProblem* problem, const LashFrictionSettings* settings,
                         LocalContact* contact, double* P, double* U, LashFrictionInfo* info);

#endif
