// One run of a system in time.
#ifndef LASH_SOLVERS_SIM_H
#define LASH_SOLVERS_SIM_H

#include "core/error.h"
#include "core/stop.h"
#include "core/system.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashSim LashSim; // opaque: state, workspaces, arena; private to one thread

// The schemes: value, file in solvers/schemes/ that describes it, name as models write it. A new one
// is its file and a line here.
#define LASH_SCHEME_TABLE(SCHEME)                                          \
    SCHEME(LASH_COMBINED, combined, "combined")                            \
    SCHEME(LASH_MOREAU_JEAN, moreau_jean, "moreau-jean")                   \
    SCHEME(LASH_DIRECT, direct, "direct")                                  \
    SCHEME(LASH_SCHATZMAN_PAOLI, schatzman_paoli, "schatzman-paoli")       \
    SCHEME(LASH_NEWMARK, newmark, "newmark")                               \
    SCHEME(LASH_HHT, hht, "hht")                                           \
    SCHEME(LASH_GENERALIZED_ALPHA, generalized_alpha, "generalized-alpha") \
    SCHEME(LASH_KRENK_HOGSBERG, krenk_hogsberg, "krenk-hogsberg")          \
    SCHEME(LASH_MOREAU_MIDPOINT, moreau_midpoint, "moreau-midpoint")       \
    SCHEME(LASH_GGL, ggl, "ggl")                                           \
    SCHEME(LASH_TRAPEZOIDAL, trapezoidal, "trapezoidal")                   \
    SCHEME(LASH_TRAPEZOIDAL_POSITION, trapezoidal_position, "trapezoidal-position")

#define LASH_SCHEME_VALUE(value, file, name) value,
typedef enum LashScheme { LASH_SCHEME_TABLE(LASH_SCHEME_VALUE) LASH_SCHEMES } LashScheme;

extern const char* const lash_scheme_names[LASH_SCHEMES + 1]; // ends with NULL
const char* lash_scheme_name(LashScheme scheme);
const char* lash_scheme_summary(LashScheme scheme);
// Does the scheme read this setting: "theta", "direction", "forecast", "gamma", "coupled",
// "variant", or an option that it declares; "fremond": the law of this name; "joint friction",
// "restitution": does it know that?
bool lash_scheme_uses(LashScheme scheme, const char* setting);
// Names of the schemes for which that is so: "combined, direct or moreau-jean".
void lash_scheme_list(const char* setting, char* text, size_t size);

// A setting that a scheme declares in its file: a number, or one of some names. Its value is a
// number; of a name its place among the names.
typedef struct LashOption {
    const char *name, *help;
    double value;             // default
    double low, high;         // range; of names: the first and the last that the scheme takes
    const char* const* names; // NULL: a number; ends with NULL; lash_truth_names: false or true
} LashOption;
extern const char* const lash_truth_names[3];
enum { LASH_MAX_OPTIONS = 32 }; // of all schemes together

// The options of all schemes, each name once.
int lash_option_count(void);
const LashOption* lash_option(int number); // as the first scheme that has it declares it
// As the scheme declares it; NULL: it has none of this name.
const LashOption* lash_scheme_option(LashScheme scheme, const char* name);

typedef enum LashDirection {
    LASH_AT_MIDPOINT,
    LASH_AT_END,
    LASH_AT_START
} LashDirection; // where impulses point

typedef enum LashForecast { // which contacts may act, where the scheme activates by forecast
    LASH_FORECAST_EXPLICIT, // g + gamma h U <= 0
    LASH_FORECAST_FREE,     // g + h (theta U_free + (1 - theta) U) <= 0
    LASH_FORECAST_MIDPOINT, // g(q (+) h/2 v) <= 0
    LASH_FORECAST_END       // g(q (+) h v) <= 0 and U <= 0
} LashForecast;

typedef enum LashJointMethod { // linear algebra of the joints
    LASH_JOINTS_AUTOMATIC,     // whichever is expected to be faster
    LASH_JOINTS_DENSE,         // full matrices: small mechanisms
    LASH_JOINTS_SPARSE         // cost linear in the number of bodies
} LashJointMethod;

typedef enum LashLaw {   // friction at an impact
    LASH_NEWTON_COULOMB, // against the velocity after it
    LASH_FREMOND         // against the average of before and after: never creates energy
} LashLaw;

typedef struct LashSettings {
    LashScheme scheme;
    LashLaw law;     // not with Schatzman-Paoli
    double h, theta; // time step [s]; 1/2 midpoint .. 1 implicit Euler
    LashDirection direction;
    LashForecast forecast;
    double gamma;              // of the explicit forecast, in [0, 2]
    bool coupled;              // direct scheme: one problem in (P, tau)
    bool project_all;          // direct scheme: project every contact, not only forecast ones
    bool variant;              // q moves with v_{k+1/2} whatever theta
    double tolerance_position; // largest violated gap or joint error of an accepted step [m]
    double tolerance_velocity; // the same for velocities and M^-1 x dynamics residual [m/s]
    double tolerance_solver;   // complementarity residual [m/s]
    int max_iterations;        // Newton iterations per pass
    bool full_newton; // renew the Newton matrix, all derivatives in it, in every iteration; stop at
                      // the tolerances. Default: keep it over many steps, go on below them
    LashJointMethod joints;
    int max_substeps; // 1: none; a failing step is retried as 2, 4, ... sub-steps up to this
    double option[LASH_MAX_OPTIONS]; // by number; NaN: not given, as the scheme declares it
} LashSettings;

typedef struct LashStepInfo {
    LashOutcome outcome; // anything but LASH_CONVERGED leaves the state as before the step
    int contacts;        // unilateral interactions with P > 0; in the part with the most of them
    int newton, projection, index_set, solver; // iterations as docs/schemes.md counts them
    int substeps;
    int opening;           // contacts with P > 0 although U_N was > 0 at the start: the proof that
                           // Fremond's law dissipates does not cover them
    int demoted;           // contacts that pushed but could not be closed exactly with the others
    double position_error; // largest bilateral joint error, recomputed from the final q [m, rad]
    double penetration;    // largest -g of all candidates, >= 0 [m]
    double velocity_error; // largest violation of the velocity constraints [m/s, rad/s]
    double dynamics_error; // |M^-1 r| of the equation of motion, turning at the radius of gyration
                           // [m/s]
    double shift;    // largest displacement of a block by the projection, turning at the radius
                     // of gyration [m]
    int shift_block; // of this block
    uint64_t worst;  // id of the interaction with the largest error, in tolerances;
                     // LASH_NOWHERE: none has one
} LashStepInfo;

#define LASH_NOWHERE UINT64_MAX // the id of no interaction

// What stopped a step, beyond errors above the tolerances.
typedef enum LashFaultKind {
    LASH_FAULT_NONE,
    LASH_FAULT_FORCE,    // forces, or their derivatives, are not finite at (t, q, v)
    LASH_FAULT_ROWS,     // a gap, a joint error or its velocity is not finite at (t, q, v)
    LASH_FAULT_GAP,      // the gap of two surfaces fell by more than they moved in the step to t
    LASH_FAULT_EVENTS,   // more events until t than a step may have; id: the last of them
    LASH_FAULT_CONTACTS, // contacts closed at once at t have no solution to the tolerance
    LASH_FAULT_CONFLICT, // drivers and contacts exclude each other at t: lash_sim_conflicts
    LASH_FAULT_OVERFLOW  // state, impulses or energies of the step's end (t, q, v) are not finite
} LashFaultKind;

typedef struct LashFault {
    LashFaultKind kind;
    double t;            // [s]
    uint64_t id;         // the interaction concerned, LASH_NOWHERE: none
    const double *q, *v; // borrowed until the next step; not of LASH_FAULT_GAP
    double fell, moved;  // LASH_FAULT_GAP: by how much the gap fell, the surfaces moved [m]
    int contacts;        // LASH_FAULT_CONTACTS: how many
    double residual;     // LASH_FAULT_CONTACTS: what is left [m/s]
} LashFault;

typedef struct LashEnergy {
    double kinetic, potential;             // now [J]
    double external_work;                  // since the start, drivers included [J]
    double damping_work;                   // of dampers, <= 0 [J]
    double contact_work_n, contact_work_t; // of normal and tangential impulses [J]
    double opening_work;                   // the part of them by contacts that were opening [J]
    double joint_work;                     // of ideal joints: pure discretisation error [J]
    double start;                          // kinetic + potential at the start [J]
    double algorithmic; // H of schemes that have one, beside kinetic + potential: now; NaN [J]
} LashEnergy;

typedef enum LashEventKind {
    LASH_EVENT_IMPACT, // a contact that approached is stopped, or rebounds: the velocity jumps
    LASH_EVENT_OPEN,   // a contact that touched is free
    LASH_EVENT_SLIP,   // a contact that stuck begins to slide
    LASH_EVENT_STICK,  // a contact that slid begins to stick
    LASH_EVENT_PLASTIC // opposed contacts could not rebound together: the step was solved without
                       // rebound
} LashEventKind;

typedef struct LashEvent {
    LashEventKind kind;
    double t, h;                    // the step in which it happened runs from t to t + h [s]
    double gap_before;              // at t [m]
    uint64_t id;                    // of the interaction
    double impulse[3];              // n, t1, t2 over the step [N s]
    double U_before[3], U_after[3]; // at the start and at the end of the step [m/s]
} LashEvent;

// What one contact, limit or friction gave in a step, summed over the step's parts.
typedef struct LashPush {
    uint64_t id; // of the interaction
    int rows;
    double P[3];       // n, t1, t2 [N s]
    double impulse[3]; // of G P, the first numbers on the last block it acts on: of a rigid body
                       // the linear impulse, world axes [N s]
    double work_n, work_t; // of the normal and the tangential impulses [J]
} LashPush;

LashSettings lash_settings(void);
// False, with a message naming the setting, when one is out of range.
bool lash_settings_check(const LashSettings* settings, LashError* error);

// A setting that is not the default and that the scheme does not read; NULL: none.
const char* lash_settings_unused(const LashSettings* settings);
// Gives an option its value, or one of its names. False: no scheme has it, or no such name.
bool lash_settings_set(LashSettings* settings, const char* option, double value);
bool lash_settings_choose(LashSettings* settings, const char* option, const char* name);
// As the scheme reads it: given, or its default; NaN: it does not read it.
double lash_settings_option(const LashSettings* settings, const char* option);
// Can the scheme, so set, run this system? False, with a message, when it cannot.
bool lash_settings_fit(const LashSettings* settings, const LashSystem* system, LashError* error);

LashSim* lash_sim_create(const LashSystem* system, const LashSettings* settings); // borrows system
void lash_sim_destroy(LashSim* sim);                                              // NULL is allowed

LashStepInfo lash_sim_step(LashSim* sim);
// A step that is told to stop ends with LASH_INTERRUPTED, the state as before it. What is never
// told to stop has the same bits with and without.
void lash_sim_set_stop(LashSim* sim, LashStop stop);

// Up to n steps; the info of the last one, and in *done (may be NULL) how many converged: it ends at
// the first that does not.
LashStepInfo lash_sim_step_n(LashSim* sim, int n, int* done);

// The run as bytes: returns how many there are, and writes them when `bytes` is enough (memory NULL:
// only asked). Saving changes nothing. Restored in a run of the same system and settings, in this
// process or another of the same build, it goes on with the same bits as the run that was saved,
// and as one that never was: time, positions, velocities, history, warm starts, kept factors, turn
// counters, inputs, energies, impulses and events of the last step. False, and nothing has changed,
// for bytes that are damaged or of another model. Pointers borrowed from a run end with restoring it.
size_t lash_sim_save(const LashSim* sim, void* memory, size_t bytes);
bool lash_sim_restore(LashSim* sim, const void* memory, size_t bytes, LashError* error);

// One attempt at the nonlinear problem of a step: a set of contacts, linearised in one way.
typedef struct LashAttempt {
    double t, h; // the step, or part of one, begins; its length [s]
    const char* scheme;
    int contacts;              // that take part
    uint64_t set;              // a number for their ids: the same for the same contacts
    const char* operator_name; // "joints", "full", "contacts" (docs/schemes.md)
    const char* derivatives;   // in it, at last: "none", "forces", "contacts", "all"
    int iterations, solver;    // corrections; iterations of the contact solver
    double dynamics_error, velocity_error, contact_error; // at the end [m/s]
    double position_error;                                // [m, rad]
    const char* outcome; // "converged", "inaccurate", "failed"; "grows": ended early, a contact
                         // outside the set penetrates
} LashAttempt;
typedef void LashTrace(void* context, const LashAttempt* attempt);
// Called after every attempt of every step; NULL: no more. It changes no bits.
void lash_sim_set_trace(LashSim* sim, LashTrace* trace, void* context);

// Of the last step that did not converge.
LashFault lash_sim_fault(const LashSim* sim);
// A driver, limit or contact that excludes others: no motion satisfies all of them.
enum { LASH_MAX_CONFLICTS = 64 };
typedef struct LashConflict {
    uint64_t id;
    bool driver;
    double speed; // that the driver prescribes [m/s or rad/s]
} LashConflict;
const LashConflict* lash_sim_conflicts(const LashSim* sim, int* count); // of LASH_FAULT_CONFLICT

// Over the next step input `input` of the system goes linearly from `from` to `to`, then it stays
// there; the same twice: constant. False, and nothing is set, for an input that does not exist and
// for what is no finite number.
bool lash_sim_set_input(LashSim* sim, int input, double from, double to);

double lash_sim_time(const LashSim* sim);
uint64_t lash_sim_steps(const LashSim* sim);
void lash_sim_state(const LashSim* sim, const double** q, const double** v); // borrowed
LashEnergy lash_sim_energy(LashSim* sim);
LashSystemWork* lash_sim_work(LashSim* sim);

// Restarts at (t, q, v); history of multi-step schemes and energy sums are forgotten.
void lash_sim_set_state(LashSim* sim, double t, const double* q, const double* v);

// Impulses of the last step, all its sub-steps: the list (of the last one) and P (rows); bilateral
// ones are of minimum norm (moments divided by length).
const LashInteractionList* lash_sim_interactions(const LashSim* sim);
const double* lash_sim_impulses(LashSim* sim);
// Impulses of the last step or sub-step, without looking for the joints' minimum norm.
const double* lash_sim_contact_impulses(const LashSim* sim);
// What pushed in the last step, in any of its sub-steps: contacts, limits, friction in joints.
const LashPush* lash_sim_pushes(const LashSim* sim, int* count);
const double* lash_sim_gaps(const LashSim* sim);       // (rows) at the end of the step
const double* lash_sim_velocities(const LashSim* sim); // (rows) U at the end of the step

// What happened in the last step, in the order of the interactions; valid until the next step.
const LashEvent* lash_sim_events(const LashSim* sim, int* count);

// Degrees of freedom at (t, q): rank of the bilateral rows, the interactions that are redundant
// given those before them, and the largest joint error. flags: (count of bilateral interactions)
// number of redundant rows each.
typedef struct LashMobility {
    int dof, rank, rows;
    double position_error; // [m, rad]
    double velocity_error; // [m/s, rad/s]
} LashMobility;
LashMobility lash_sim_mobility(LashSim* sim, int* redundant_rows);

// Moves q to the nearest configuration (in the metric M) and v to the nearest velocity that satisfy
// the bilateral rows to the tolerances, and opens contacts that overlap. False when it does not
// converge; *moved is the largest displacement [m, rad].
bool lash_sim_assemble(LashSim* sim, double* moved);

#ifdef __cplusplus
}
#endif
#endif
