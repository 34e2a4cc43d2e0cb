// Claims and the tools to check them: shared by the verify*.c files and their tests.
#ifndef LASH_APP_VERIFY_INTERNAL_H
#define LASH_APP_VERIFY_INTERNAL_H

#include "app/verify/cache.h"
#include "app/verify/paper_systems.h"
#include "core/error.h"
#include "solvers/sim.h"

// ---- Claims -------------------------------------------------------------------------------------

enum { CURVES = 6 };

typedef struct Picture { // our curves, drawn in the report
    char title[160];
    const char *x_label, *unit;
    int points, curves;
    double* x;         // (points) owned
    double* y[CURVES]; // (points) owned
    const char* name[CURVES];
} Picture;

typedef struct Verdict { // filled by the function of a claim
    bool pass;
    char got[1024]; // our figures, as text
    Picture picture;
    Cache* cache; // runs shared with other claims and with the figures; borrowed
    bool all;     // --all: slow runs too
} Verdict;

// Appends to `got`; returns ok. A claim passes when all its parts do.
bool verdict_add(Verdict* verdict, bool ok, const char* format, ...) LASH_PRINTF(3, 4);
// Appends "name value" and checks low <= value <= high.
bool verdict_range(Verdict* verdict, const char* name, double value, double low, double high);

// The picture of a claim: one x for all its curves. Values are copied; at most CURVES.
void verdict_picture(Verdict* verdict, const char* title, const char* x_label, const char* unit,
                     int points, const double* x);
void verdict_curve(Verdict* verdict, const char* name, const double* y);
void verdict_free(Verdict* verdict); // the picture

typedef struct Claim {
    const char *id, *place; // "A-38", section or figure
    const char* title;
    const char *expected, *criterion; // what the paper says; when we agree
    const char* note;                 // where the paper is wrong or ambiguous, or NULL
    bool slow;                        // only with --all, or by name
    void (*run)(Verdict* verdict);    // NULL: cannot be tested, the note says why
} Claim;

typedef struct ClaimTable {
    const char* paper;
    const Claim* claim;
    int count;
} ClaimTable;

// [A12] Acary, RR-8029
ClaimTable verify_examples(void);     // A-01 .. A-10: examples and basic schemes
ClaimTable verify_chattering(void);   // A-11 .. A-22: chattering, energy, rocking block
ClaimTable verify_bar(void);          // A-23 .. A-33: impacting elastic bar
ClaimTable verify_ring(void);         // pendulum in a ring
ClaimTable verify_slider_crank(void); // A-36 ..
ClaimTable verify_play(void);         // play in a joint, circuit breaker
// [AC24] Acary and Collins-Craft
ClaimTable verify_fremond(void);       // C-01 .. C-11, C-15, C-16: laws of impact
ClaimTable verify_fremond_block(void); // C-12 .. C-14: solver, matrices, sliding elastic block
// [A16] Acary, energy
ClaimTable verify_energy(void); // D-01 .. D-05, D-16, D-17
ClaimTable verify_alpha(void);  // D-06 .. D-15: Newmark, HHT, generalized alpha, Krenk-Hogsberg

// [P06] Potra et al.
ClaimTable verify_trapezoidal(void); // B-01 .. B-29: trapezoidal rule with events
// [S12] Schindler et al.
ClaimTable verify_ggl(void); // E-01 .. E-17: midpoint rules, Gear-Gupta-Leimkuhler

enum { MAX_CLAIMS = 160 };

typedef struct Row { // a claim that was run
    const Claim* claim;
    const char* paper;
    Verdict verdict;
    char operators[96]; // how steps with contacts were linearised
    double seconds;
} Row;

typedef struct Rows {
    Row row[MAX_CLAIMS];
    int count, failed, untested;
    const char* first_failed;
    const Claim* later[MAX_CLAIMS]; // slow ones that were not run
    int laters;
} Rows;

// What the report is made of.
typedef struct Manual {
    const Rows* rows;
    Cache* cache;
    bool all;       // slow figures too
    bool whole;     // every claim, not only some that were named: with all schemes side by side
    double seconds; // of processor time that the claims took
} Manual;
// The manual as one HTML page with the figures, or as Markdown when the file is called so.
bool verify_write_report(const Manual* manual, const char* path, LashError* error);

// The command, for these tables.
int verify_tables(const ClaimTable* table, int tables, int argc, char** argv);

// ---- Operators ----------------------------------------------------------------------------------

// A sim whose attempts are counted by operator.
LashSim* verify_sim(const LashSystem* system, const LashSettings* settings);
enum { OPERATORS = 4 };
typedef struct OperatorCounts { // attempts with contacts, by operator
    const char* name[OPERATORS];
    long count[OPERATORS];
} OperatorCounts;
void verify_operators_begin(void);
OperatorCounts verify_operators_now(void);             // since then
void verify_operators_add(const OperatorCounts* more); // of a run that is not made again
void verify_operators(char* text, size_t size);        // "contacts 99.8 %, joints 0.2 %"

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

// ---- Random linear systems with contact and friction --------------------------------------------

enum { RANDOM_N = 4, RANDOM_CONTACTS = 3 };

typedef struct Random {
    uint64_t state;
} Random;
double random_uniform(Random* random, double low, double high);
double random_normal(Random* random);

typedef struct RandomLinear {
    int rows, contacts;         // rows of each contact: 1, 2 or 3; together at most n
    double M[16], C[16], K[16]; // (n x n)
    double load[RANDOM_N], q[RANDOM_N], v[RANDOM_N];
    double push[RANDOM_N]; // amplitudes of a load that varies, random_push; 0: none
    LashLinearContact contact[RANDOM_CONTACTS];
} RandomLinear;
// M, K positive definite, C semi-definite; contacts that start open, mu in [0, 1], e in [0, e_max].
RandomLinear random_linear(Random* random, int rows, double e_max);
LashLagrangian* random_linear_create(const RandomLinear* data);
void random_push(const RandomLinear* data, double t, double* load); // (n) push_i sin(3 t + i)

// Balance of one step, energies from M, K, q and v.
typedef struct StepBalance {
    double change;      // E_{k+1} - E_k - work of loads and dampers [J]
    double identity;    // change - (1/2 - theta)(|dv|_M^2 + |dq|_K^2) - U_{k+theta}' P, over scale
    double normal;      // U_N,k+theta P_N - sum (1 - theta (1 + e)) U_N,k P_N, over scale
    double alternative; // the same by (44) of [A16], over scale
    double tangential;  // largest work of friction in one contact [J]
    int pushing;        // contacts with P > 0
    int opening;        // of them with U_N,k > 0
} StepBalance;
bool balanced_step(const RandomLinear* data, LashSim* sim, double theta, StepBalance* balance);

// The same over all steps of 60 random systems with 1, 2 and 3 rows per contact.
typedef struct Balance {                        // largest of each
    double identity, alternative, normal, gain; // gain: of steps with contact [J]
    long pushing;
    int failed;
} Balance;
Balance balance_of(LashLaw law, double theta, double e_max, uint64_t seed);

// The energy identity of the alpha family (verify_alpha.c), largest over all steps.
typedef struct AlphaCase {
    int rows, systems, steps; // rows per contact
    double push;              // size of a load that varies
    bool joint;               // one in place of the last contact
    uint64_t seed;
} AlphaCase;
typedef struct AlphaBalance {
    double identity, energy; // difference of its sides; of H in the run and from outside; relative
    double gain;             // dH - W [J]
    double contact;          // U_{k+1/2}' P of a step [J]
    int pushing, failed;     // contacts with P > 0; runs with a failed step
} AlphaBalance;
AlphaBalance alpha_balance(const LashSettings* settings, const AlphaCase* what);
// Of hht (alpha) and the schemes with a spectral radius, tight tolerances, forecast end.
LashSettings alpha_settings(LashScheme scheme, double h, double value);

// Least-squares slope of log(y) over log(x).
double fitted_slope(int n, const double* x, const double* y);

LashSettings verify_settings(LashScheme scheme, double h);
// With the explicit forecast g + gamma h U <= 0.
LashSettings verify_explicit(LashScheme scheme, double h, double gamma);

// By trapezoidal (verify_trapezoidal.c): times of the first impacts, those at one time once; how many.
int verify_impact_times(LashSim* sim, long steps, int most, double* time);

#endif
