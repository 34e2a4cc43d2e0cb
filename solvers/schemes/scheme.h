// What a time-stepping scheme adds to the common step: one file and one line of LASH_SCHEME_TABLE
// (solvers/sim.h).
//
// lash_sim_step calls, for every part of a step:
//
//     plan      what the step wants: the stencil (equations in step/residual.c)
//     advance   which contacts act; solves with step_solve, as often as it takes
//     holds     is the solved step good enough beyond its residuals?
//     energy    works of the step
//     accept    history <- this step
//
// History is numbers that live from step to step (Schatzman-Paoli: q_{k-1}; Newmark: a_k); a step
// in parts saves and restores them with the state.
#ifndef LASH_SOLVERS_SCHEME_H
#define LASH_SOLVERS_SCHEME_H

#include "solvers/step/sim_internal.h"

// What the positions at the end of a step must satisfy.
typedef enum Projection {
    PROJECTS_NOTHING,      // they follow from the velocities
    PROJECTS_INEQUALITIES, // 0 <= g perp tau >= 0
    PROJECTS_PUSHED        // and g = 0 where P_N > 0, on a set that grows
} Projection;

// Whose are the equations of the step?
typedef enum Equations {
    EQUATIONS_STENCIL, // those of the plan, solved by step_solve
    EQUATIONS_OWN      // advance has its own
} Equations;

// Settings of all schemes that not every scheme reads; a model that gives another one is told so.
// What only some schemes have is an option that they declare.
enum {
    USES_THETA = 1,
    USES_DIRECTION = 2,
    USES_FORECAST = 4, // and gamma
    USES_COUPLED = 8,
    USES_VARIANT = 16,
    USES_FREMOND = 32,        // law: fremond
    USES_JOINT_FRICTION = 64, // no setting: friction in joints is known to it
    USES_RESTITUTION = 128,   // no setting: contacts may rebound
    USES_THETA_METHOD = USES_THETA | USES_DIRECTION | USES_VARIANT | USES_FREMOND |
                        USES_JOINT_FRICTION | USES_RESTITUTION
};

typedef struct Scheme {
    const char* summary; // one line for help and manual
    unsigned uses;       // USES_*
    const LashOption* option;
    int options; // at most SCHEME_OPTIONS
    // Options that do not go together: false, with a message. NULL: all do.
    bool (*check)(const double* option, LashError* error);
    // Systems that it cannot run, so set: false, with a message. NULL: none.
    bool (*fits)(const LashSystem* system, const double* option, LashError* error);
    // What it computes from its options, once per run: sim->coefficient. NULL: nothing.
    void (*coefficients)(const double* option, double* coefficient);
    Projection projection;
    Equations equations;
    bool exchanges;                         // asks the system for exchanges (core/system.h)
    int history_q, history_v;               // numbers of history: so many times nq, and nv
    void (*start)(LashSim* sim);            // history of a new state; NULL: none
    void (*plan)(LashSim* sim, Step* step); // NULL: the theta-method's
    LashOutcome (*advance)(LashSim* sim, Step* step);
    // At the level of gaps: U, what the laws act on, with its directions G and G*; false: outside.
    bool (*rows)(LashSim* sim, Step* step);
    bool (*holds)(const LashSim* sim, const Step* step); // NULL: yes
    void (*energy)(LashSim* sim, Step* step);            // NULL: the theta-method's
    double (*algorithmic)(LashSim* sim);            // H - E of the present state; NULL: unknown
    void (*accept)(LashSim* sim, const Step* step); // NULL: no history
} Scheme;

// Never NULL.
const Scheme* scheme_at(int number);
const Scheme* scheme_of(const LashSettings* settings);
// Values of the scheme's options, given or default.
void scheme_options(const LashSettings* settings, double* value);

// --- Shared by schemes ---------------------------------------------------------------------------
void plan_theta(LashSim* sim, Step* step); // theta.c
void stencil_theta(LashSim* sim, Step* step, double theta, double move, LashDirection direction);
LashOutcome forecast_activate(LashSim* sim, Step* step, LashForecast forecast); // forecast.c
LashOutcome forecast_velocities(LashSim* sim, Step* step); // as set; positions follow
bool gaps_hold(const LashSim* sim, const Step* step);      // theta.c: none above the tolerance

#endif
