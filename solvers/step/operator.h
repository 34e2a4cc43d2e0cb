// How the nonlinear problem of a step is linearised, and how hard it is tried: each one value that
// can be printed (lash run --trace).
#ifndef LASH_SOLVERS_OPERATOR_H
#define LASH_SOLVERS_OPERATOR_H

#include "solvers/sim.h"

typedef struct Step Step;

// What a Newton matrix knows of the directions of impulses.
typedef enum Derivatives {
    DERIVATIVES_NONE,     // masses only
    DERIVATIVES_FORCES,   // and C, K of the forces
    DERIVATIVES_CONTACTS, // and those of the contacts' directions
    DERIVATIVES_ALL       // and those of the joints
} Derivatives;

// In the order they are tried; contacts between rigid bodies never by those of joints.
typedef enum Attempt {
    ATTEMPT_CONTACTS,         // coupled, the operator is kept while it contracts
    ATTEMPT_CONTACTS_RENEWED, // coupled, a new one for each correction
    ATTEMPT_KEPT,             // joints, the operator is kept over many steps
    ATTEMPT_ALL_DERIVATIVES,  // joints or all bodies, a new one for each correction
    ATTEMPT_NONE
} Attempt;

// How the iteration of one attempt is going. Errors are multiples of the tolerances.
typedef struct Convergence {
    int i, most;        // corrections made, allowed
    double error, last; // of the iterate, of the one before
    double first, best; // of the first iterate, the smallest so far
    int best_at;        // correction that gave it
    double kept;        // of the iterate kept because it passes; INFINITY: none
    double rate;        // contraction at worst
    int growing, stalled, weak;
    int solver;              // iterations of the contact solver before the last correction
    int solver_first;        // and before the first one
    Derivatives derivatives; // that an operator of contacts may have
    bool rests;              // it begins where nothing moved
    double enough;           // error of the first iterate that needs no correction; below 0: it needs one
    bool solved;             // it begins where a pass before has solved the same
    bool used_old;           // the last correction used an operator of an earlier step
} Convergence;

// Two operators couple velocities and positions of contacts: operator_contacts with full matrices, up to
// RESPONSE_LIMIT velocities, and operator_sparse, above them and where it promises less time (sim.c decides
// when a run is made; sim_use_sparse for tests). A run that has both begins with the sparse one. Both take forces by their tangents C and K in the system's pattern, which
// need not be symmetric: a force on a body that reads another one is a block (body, read body), and
// nothing else is needed here. Terms that have no place in the pattern: see operator_sparse.c.
typedef struct Operator {
    const char* name;
    // Before residuals are taken: an operator that they are measured with; NULL: none. False: singular.
    bool (*prepare)(LashSim* sim, Step* step);
    // The two of the sparse operator are those of its islands (iterate.c).
    // Renews the operator where the one at hand would need too long. False: singular.
    bool (*renew)(LashSim* sim, Step* step, Convergence* convergence);
    // Residuals -> changes of v, P, tau and the shift. False: no answer.
    bool (*correct)(LashSim* sim, Step* step, Convergence* convergence);
    Derivatives (*derivatives)(const LashSim* sim, const Step* step); // in it
} Operator;

extern const Operator
    operator_joints,   // A, joints on it, contacts by their responses; velocities, then positions
    operator_full,     // the same, bodies and joints in one matrix with all derivatives
    operator_coupled,  // as of joints, contacts of velocities and positions in one problem
    operator_contacts, // joints and closed contacts eliminated, velocities and positions coupled
    operator_sparse;   // the same equations on the sparse structure of bodies, joints and contacts

// Is a new operator cheaper than what the one at hand, of the step from t0, would still need? One of an earlier step is
// judged by how far the first correction with such a one came last, old_rate, and tried again now and then.
bool operator_is_slow(const Step* step, const Convergence* convergence, double t0,
                      double* old_rate);

// Of an attempt.
const Operator* attempt_operator(const LashSim* sim, const Step* step);
static inline bool attempt_couples(Attempt attempt) {
    return attempt <= ATTEMPT_CONTACTS_RENEWED;
}
static inline bool attempt_renews(Attempt attempt) {
    return attempt == ATTEMPT_CONTACTS_RENEWED || attempt == ATTEMPT_ALL_DERIVATIVES;
}

#endif
