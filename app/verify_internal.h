// Claims and the tools to check them: shared by the verify*.c files and their tests.
#ifndef LASH_APP_VERIFY_INTERNAL_H
#define LASH_APP_VERIFY_INTERNAL_H

#include "core/error.h"
#include "core/paper_systems.h"
#include "solvers/sim.h"

// ---- Claims -------------------------------------------------------------------------------------

typedef struct Verdict { // filled by the function of a claim
    bool pass;
    char got[1024]; // our figures, as text
} Verdict;

// Appends to `got`; returns ok. A claim passes when all its parts do.
bool verdict_add(Verdict* verdict, bool ok, const char* format, ...) LASH_PRINTF(3, 4);
// Appends "name value" and checks low <= value <= high.
bool verdict_range(Verdict* verdict, const char* name, double value, double low, double high);

typedef struct Claim {
    const char *id, *place; // "A-38", section or figure
    const char* title;
    const char *expected, *criterion; // what the paper says; when we agree
    const char* note;                 // where the paper is wrong or ambiguous, or NULL
    bool slow;                        // only with --all, or by name
    void (*run)(Verdict* verdict);
} Claim;

typedef struct ClaimTable {
    const char* paper;
    const Claim* claim;
    int count;
} ClaimTable;

// [A12] Acary, RR-8029
ClaimTable verify_examples(void);     // A-01 .. A-10: examples and basic schemes
ClaimTable verify_chattering(void);   // A-11 .. A-22: chattering, energy, rocking block
ClaimTable verify_slider_crank(void); // A-36 .. A-50

// The command, for these tables.
int verify_tables(const ClaimTable* table, int tables, int argc, char** argv);

// ---- Runs ---------------------------------------------------------------------------------------

enum { RUN_CONTACTS = 8 };

// A run of a small Lagrangian system, measured from outside: gaps and velocities of its contacts
// are evaluated again from q and v, apart from the run's own work.
typedef struct Run {
    LashLagrangian* model; // owned
    const LashSystem* system;
    LashSystemWork* work;
    LashSim* sim;
    double h, t;
    const double *q, *v;
    double q_before[8], v_before[8];                // at the start of the last step
    LashStepInfo info;                              // of the last step
    int contacts;                                   // unilateral ones
    double gap[RUN_CONTACTS], U[RUN_CONTACTS];      // normal rows, now
    double U_before[RUN_CONTACTS], P[RUN_CONTACTS]; // before the step; of the step
    double P_t[RUN_CONTACTS];                       // tangential, 0 without friction
    double violation;                               // largest -gap so far
    double steps, newton, projection, index_set;    // sums
    int newton_max, projection_max, index_set_max;  // per step
    bool failed;                                    // a step did not converge
} Run;

Run run_begin(LashLagrangian* model, const LashSettings* settings); // owns model
bool run_step(Run* run);                                            // false: failed
void run_to(Run* run, double t);                                    // nearest step
void run_end(Run* run);
double run_energy(const Run* run);
// max |q_{k+1} - q_k - h v_{k+theta}| of the last step: what the projection moved
double run_projected(const Run* run, double theta);

// Least-squares slope of log(y) over log(x).
double fitted_slope(int n, const double* x, const double* y);

LashSettings verify_settings(LashScheme scheme, double h);
// With the explicit forecast g + gamma h U <= 0.
LashSettings verify_explicit(LashScheme scheme, double h, double gamma);

#endif
