// Inside of a run: shared by sim.c, the stages of a step and the schemes.
#ifndef LASH_SOLVERS_SIM_INTERNAL_H
#define LASH_SOLVERS_SIM_INTERNAL_H

#include <math.h>

#include "core/archive.h"
#include "core/arena.h"
#include "core/math3.h"
#include "core/stop.h"
#include "solvers/cone/projection_problem.h"
#include "solvers/friction.h"
#include "solvers/joints/joint_solver.h"
#include "solvers/linear/block_lu.h"
#include "solvers/sim.h"
#include "solvers/step/operator.h"
#include "solvers/step/tuning.h"

typedef struct Scheme Scheme;
typedef struct FullNewton FullNewton;
typedef struct ContactNewton ContactNewton;
typedef struct Islands Islands;

enum {
    ORDERS = 6,          // steps the predictor looks back, at most
    RESPONSE_LIMIT = 96, // largest nv for which responses to contacts are full matrices
    DENSE_ROWS = 2048, // of contacts in one problem with full matrices, beside the sparse operator
    SCHEME_OPTIONS = 13, // options of one scheme, at most
    SCHEME_COEFFICIENTS = 8
};

// What the position problem of a pass asks of an interaction.
enum { POSITION_FREE, POSITION_CLOSED_IF_PUSHED, POSITION_NOT_NEGATIVE };

// What the equations of a pass are about.
typedef enum Levels {
    VELOCITIES,
    POSITIONS, // and the projection
    GAPS       // contacts and joints at the end of the step only, by the scheme's own rows
} Levels;

// N in the shift N G tau of the projection.
typedef enum ShiftMetric {
    SHIFT_BY_MASS, // M^-1, or what is near it: the A^-1 or the M of some steps ago
    SHIFT_BY_UNIT, // 1
    SHIFT_BY_PLACE // exactly M(mass_place)^-1: the plan has factored it (mass_factor)
} ShiftMetric;

// What the scheme wants of a step; equations in residual.c.
typedef struct Stencil {
    double *d_0, *f_0, *v_star;     // (nv) by the plan
    double d_v, d_w;                // weights of v and w in the increment [s]
    double f_v;                     // weight of v in the velocity of the forces
    double move;                    // d_v / h: weight of the end in what speeds integrate to
    double free_weight;             // of the end in the forecast `free`
    double tie;                     // gap up to which a forecast counts as a contact [m]
    double force_h;                 // weight of the forces, h kappa [s]
    double potential_h;             // more of those of the potential; 0: no split [s]
    double* r_0;                    // (nv) by the plan where they are split: of the start [N s]
    double t_force, t_star;         // when forces, directions of impulses are taken [s]
    double force_d, star_d, mass_d; // share of the increment at which they, masses are taken
    double mass_w;                  // the same of the masses in w
    // (nq) where forces, directions, masses are taken whatever d is; NULL: by their shares.
    const double *force_place, *star_place, *mass_place;
    bool rows_at_star;        // velocity rows and U at the start are those of G*, not of both ends
    bool projects_at_star;    // the projection shifts along G*; otherwise along G of the end
    ShiftMetric shift_metric; // N of the projection
    double c_v, c_d;          // A = M + c_v C + c_d d_v K: force_h f_v, force_h force_d
    LashLaw law;              // of contacts
    double law_before;        // weight of U_T(start) in it
    bool coupled;             // contacts of both levels in one problem (operator_coupled.c)
} Stencil;

// Everything a step computes, in the order it is made. Sizes: nv, rows of the list, m rows and nc
// contacts that are active.
struct Step {
    double t0, h;                    // start time, length [s]
    Stencil stencil;                 // plan of the scheme
    Levels levels;                   // of the present pass
    Attempt attempt;                 // how it is tried; after a pass: how the next one begins
    const LashInteractionList* list; // collect
    uint8_t* active;                 // (count) velocity law acts: bilateral always
    uint8_t* position;               // (count) POSITION_*
    uint8_t* wanted;                 // (count) directions are needed
    double* scale;                   // (count) of contact errors, see contact_scale; 0: not known
    double* gap_start;               // (count) gap at the start, where U_start was evaluated
    double* U_start;                 // (rows) U at the start of the step, for the impact law
    uint8_t* has_U_start;            // (count)
    double *v, *P, *tau;             // unknowns: (nv), (rows), (rows)
    double* P_low;                   // (rows) of a jam: its impulses are P + P_low
    double* steady;                  // (rows) of active contacts: LastContacts.steady of the next step
    double* shift;                   // (nv) N G tau
    double *d, *q_end;               // (nv) increment; (nq) q (+) d
    const double *q_force, *q_star, *q_mass,
        *q_w;                // (nq) where forces, directions, masses are taken
    double* room[4];         // (nq) for them
    double *v_force, *F, *r; // (nv) velocity of the forces, forces, residual of the dynamics
    double *g, *g_t, *G;     // at the end of the step
    double *g_star, *g_t_star, *G_star; // where impulses point: directions, gaps not used
    double* G_hat;                      // G + d_v d(G'v)/dq: derivative of the rows for Newton
    double* U;                          // (rows)
    int nc, m;                          // active contacts, their rows
    int* contact;                       // (nc) interaction
    int* first;                         // (nc) first row in the contact problem
    double *W, *b, *P_c, *U_c, *mu;     // the contact problem
    int ldw;                            // leading dimension of W
    double* dP_c;                       // (m) of a jam: change of P, with its own digits
    bool increments;                    // the contact problem was solved for dP_c
    uint8_t* held;                      // (m) rows of W along which the joints hold the parts
    uint8_t* kind;                      // (nc)
    double* A_n;                        // (nn x nn) position problem of contact normals
    int nn;                             // contacts in the position problem
    int* normal;                        // (nn) interaction
    double *gap_n, *tau_n, *gap_new, *P_n;
    uint8_t* kind_n;
    double b_norm;      // |b| of the contact problem solved last
    double goal;        // share of the tolerances that the iteration goes on to
    int correction;     // corrections made in the pass so far
    uint8_t* state;     // (count) ContactState at the end of the step: events_of_step
    double restitution; // factor on e: 1, or 0 when the step is retried without rebound
    // Errors of the iterate, recomputed from it.
    double dynamics_error, velocity_error, contact_error, position_error, penetration;
    uint64_t worst_velocity, worst_position, worst_gap; // where the largest are, LASH_NOWHERE
    int demoted;
    // Of schemes that take a step in legs of their own (trapezoidal.c).
    double* work;              // (2 count) of an interaction, normal and tangential [J]
    uint8_t* keep;             // (count) contacts that the next step begins with
    LashEnergy works;          // works up to its end
    double *w, *w_used;        // (nv) M^-1 G* P; as the increment of the iterate has it
    double *answer, *dv;       // (nv) A^-1 r; the change of v by a correction
    double *kept, *kept_shift; // (nv + 3 rows), (nv) an iterate that passes
    uint64_t list_key;         // ids of the list
    bool outside;              // an evaluation was refused: q beyond the motion promised to collect
    int friction_work;         // factors and sweeps of friction solvers in this pass
    bool crowded;              // more contacts wanted to act than there is room for
    bool unfinished; // the pass ended early: a contact outside the index set penetrates clearly
    bool foreseen;   // it ended before it began: `wanted` names the contacts that the set needs
    bool relaxed;    // pushing contacts need not be closed exactly
    int exchanges;   // passes solved again because a contact acts at another of its points
};

// What the predictor knows of one kind of quantity.
enum { SPAN_V, SPAN_SHIFT, JOINT_P, JOINT_TAU, CONTACT_P, CONTACT_TAU, SPANS };
typedef struct Span {
    int history; // steps in its columns of the table
    int order;   // that would have predicted the last one best
} Span;

// What a contact did at the end of a step (events.c).
typedef enum ContactState {
    CONTACT_OPEN,
    CONTACT_TOUCHES,
    CONTACT_STICKS,
    CONTACT_SLIDES
} ContactState;

// Active contacts of a step: id, impulse and end velocity, 3 rows each.
typedef struct LastContacts {
    int count;
    uint64_t* id;
    uint8_t* closed; // it pushed, or its gap is closed
    uint8_t* state;  // ContactState
    double *P, *U, *tau;
    double* steady; // (3 count) those under which bodies would accelerate least (steady.c)
} LastContacts;
void last_contacts_copy(const LastContacts* from, LastContacts* to); // to has room

// Rows that prescribe a speed (drivers.c); where they stand is part of the state.
typedef struct Drivers {
    int count;
    int* row;                  // (count)
    double *x_end, *speed_end; // at the end of the step, as of the last evaluation
} Drivers;

// What a step starts from and leaves: all that a failed attempt must give back.
typedef struct State {
    double t;
    double *q, *v;                   // (nq), (nv)
    double h;                        // length of the step that led here [s]
    double* history;                 // of the scheme
    double *driver_x, *driver_speed; // (drivers) where prescribed speeds stand, how fast they move
    LastContacts last;
    double* steady_change; // (nv) what last.steady does to v in a step of length steady_h
    double steady_h;       // 0: nothing is known [s]
    LashEnergy energy;
} State;

// Backward differences of v, shift, P and tau of the joints, P and tau of the contacts
// (predictor.c).
typedef struct Predictor {
    double* difference[ORDERS + 1];
    Span span[SPANS];
    int history;                       // steps since the last jump
    uint64_t contacts_key;             // ids of the contacts that acted in the last step
    const double *guess_P, *guess_tau; // as last.P and last.tau: predicted; NULL: not
    double* guess;                     // a line of the table: what is predicted
    uint64_t guesses;                  // so far: what was solved from an older one is gone
} Predictor;

// In which metric N^-1 the projection is factored.
typedef enum Metric {
    METRIC_MASS,   // M
    METRIC_SHARED, // A stands for M: position_joints is velocity_joints
    METRIC_TURNED  // M - d(G tau)/dq
} Metric;
typedef enum Response {
    RESPONSE_NONE,
    RESPONSE_FORMED,
    RESPONSE_REFINED // so exactly that dependent contacts show
} Response;

// Linear algebra of the step: A = M + c_v C + c_d d_v K and the joints on it (operator_joints.c).
typedef struct Operators {
    LashBlockLu *A, *M;
    LashBlockLu* N;        // M - d(G tau)/dq
    Metric metric;         // of the projection
    bool mass_known;       // N is M (mass_factor)
    double made_h, made_t; // step that A was made for: length (0: none), start [s]
    int served;            // 0: no step has been solved with A yet
    Response response;     // are B (and B_n) formed?
    LashJointSolver velocity_joints, position_joints;
    FullNewton* full;        // bodies and joints, all derivatives; NULL: no joints
    ContactNewton* contacts; // the same with contacts; NULL: none, or too large
    Islands* sparse;         // the same where that is too large; NULL: no contacts, or not for them
    double *M_values, *C_values, *K_values, *A_values;
    int *pattern_first, *pattern_block; // (blocks + 1), (pattern.count) blocks of the pattern by
                                        // row
    double *B, *B_n; // (nv x nv) A^-1 and N^-1 with the joints closed; NULL: too large, solve by
                     // columns
    double* contraction; // scratch of contract: dGP and dGv
} Operators;

// What the last steps taught about the iteration.
typedef struct Experience {
    double contraction_rate;          // in the last steps, at worst
    double old_rate;                  // with an operator of contacts of an earlier step
    Derivatives derivatives;          // that an operator of joints has
    int singular_steps, singular_run; // steps to come with full Newton at once, length of the run
    int separate_steps, separate_run; // steps to come in which velocities and positions have
                                      // joints of their own, length of the run
    int full_steps,
        full_run; // steps to come with full matrices of contacts at once, length of the run
} Experience;

// Steps that rounding may have stopped (jam.c).
typedef struct Jam {
    bool suspected; // an attempt of this step has failed with impulses so large
    bool tried;     // the step is tried as a jam now
    int steps, run; // steps to come that are tried as jams at once, length of the run
} Jam;

// Workspaces of the solvers of complementarity problems.
typedef struct Solvers {
    void *friction, *levenberg, *projection;
} Solvers;

// What stopped a step, and where.
typedef struct Failure {
    LashFault fault;
    double *q, *v;   // (nq), (nv) where
    double* start_q; // (nq) where the part of the step began that had no solution
    double start_t;  // when [s]
    LashConflict conflict[LASH_MAX_CONFLICTS];
    int conflicts;
} Failure;

typedef struct Events { // of the last step
    LashEvent* item;
    int count, capacity;
} Events;

typedef struct Pushes { // of the last step
    LashPush* item;
    int count, capacity;
    int before; // of the parts before the present one
} Pushes;

// Impulses of the last step with those of the joints of minimum norm, made when asked for.
typedef struct Reactions {
    LashJointSolver joints;
    double* P;     // (rows)
    double* parts; // (rows of the joints) sum over the parts of the step
    bool clean;    // P is made
} Reactions;

typedef struct Sizes {
    int interactions, rows, G;  // of a list
    int contacts, contact_rows; // that can act at once
    int dense, dense_rows;      // of them, that full matrices have room for
    int joint_rows;             // the same in every step
} Sizes;

// Where the contacts of the last step stand in its list, by id: made when a step begins.
typedef struct LastPlaces {
    int size;   // of the table, a power of 2; 0: few contacts, looked for one by one
    int* place; // (size) 1 + where; 0: free
} LastPlaces;

struct LashSim {
    const LashSystem* system;
    LashSettings settings;
    const Scheme* scheme;
    double option[SCHEME_OPTIONS], coefficient[SCHEME_COEFFICIENTS]; // of the scheme
    LashSystemWork* work;
    LashArena arena;
    Sizes sizes;
    double* place;  // (nq + nv) of the state now
    double* weight; // (nv) of velocities in errors: 1; radius of gyration for turning bodies [m]
    State now;
    State saved; // before a step in parts
    uint64_t steps;
    double reach; // factor on the motion promised to collect
    Drivers drivers;
    Predictor predictor;
    Operators operators;
    Experience experience;
    Jam jam;
    Solvers solvers;
    LastPlaces last_places;
    Step step;
    LashStepInfo info;
    Events events;
    Pushes pushes;
    Reactions reactions;
    Failure failure;
    LashStop stop;    // asked in every loop that may be long
    bool stopped;     // it said so in this step
    LashTrace* trace; // NULL: nobody asks
    void* trace_context;
};

// Room for a list that is longer than all before (sim.c).
void sim_fit_list(LashSim* sim, const LashInteractionList* list);
// Exactly the room that a saved run had; and where everything stands in the arena, once more: what
// is in it stays. In an empty arena all addresses are NULL.
void sim_fit_sizes(LashSim* sim, const Sizes* sizes);
void sim_lay_out(LashSim* sim);

// Shall the step end? Once told, it stays so until the next step.
static inline bool sim_stopped(LashSim* sim) {
    if (!sim->stopped) sim->stopped = lash_stop_asked(&sim->stop);
    return sim->stopped;
}

// Scratch of one function, from the run's arena: mark, take, give back.
typedef LashArenaMark Scratch;
static inline Scratch scratch_begin(const LashSim* sim) {
    return lash_arena_mark(&sim->arena);
}
static inline double* scratch_velocity(LashSim* sim) { // (nv)
    return lash_arena_doubles(&sim->arena, (size_t)sim->system->nv);
}
static inline double* scratch_rows(LashSim* sim) { // (rows)
    return lash_arena_doubles(&sim->arena, (size_t)sim->sizes.rows);
}
static inline double* scratch_place(LashSim* sim) { // (nq)
    return lash_arena_doubles(&sim->arena, (size_t)sim->system->nq);
}
static inline void scratch_end(LashSim* sim, Scratch scratch) {
    lash_arena_release(&sim->arena, scratch);
}

// Are all n numbers finite? Forces that a user wrote may be anything; solvers want numbers.
static inline bool all_finite(const double* x, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * 0;
    return sum == 0;
}
// The same of a square matrix with |A_ij|^2 <= A_ii A_jj, or nearly so: its diagonal tells.
static inline bool diagonal_finite(const double* A, int lda, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += A[(size_t)i * (size_t)(lda + 1)] * 0;
    return sum == 0;
}

static inline const LashBlockLu* metric_of(const Operators* operators) {
    if (operators->metric == METRIC_SHARED) return operators->A;
    return operators->metric == METRIC_TURNED ? operators->N : operators->M;
}

// --- Saved runs (snapshot.c) ---------------------------------------------------------------------
size_t sim_history_size(const LashSim* sim); // numbers of now.history

// --- Beginning (begin.c) -------------------------------------------------------------------------
// Starts a step of length h: lists interactions, guesses v and P; no contact is active.
void step_begin(LashSim* sim, Step* step, double h);
// Where the contact of this id stands among those of the last step, -1: nowhere.
int last_place(const LashSim* sim, uint64_t id);
// Marks contact i active, with the impulse of the last step as a guess when it was active there.
void step_activate(LashSim* sim, Step* step, int i);

// --- Warm start (predictor.c) --------------------------------------------------------------------
// v and joint impulses extrapolated, contact impulses zero.
void step_guess(LashSim* sim, Step* step);
// v of a block as it was, and the shift with which it stays where it is.
void guess_stays(const LashSim* sim, Step* step, int block);
// Keeps the solved step for the predictor; smooth: no jump in it.
void step_remember(LashSim* sim, const Step* step, bool smooth);

// --- Impulses of rest (steady.c) -----------------------------------------------------------------
// Of the solved step, before it becomes the last one: fills step->steady for its active contacts.
void steady_find(LashSim* sim, Step* step);

// --- Residuals (residual.c) ----------------------------------------------------------------------
// In this order: places of the iterate; rows there (false: outside the motion promised to collect);
// then, with an operator at hand, residuals and errors.
void residual_places(LashSim* sim, Step* step);
bool residual_rows(LashSim* sim, Step* step);
void copy_directions(Step* step); // G* <- G: impulses point as the rows do
void residual_errors(LashSim* sim, Step* step);
// Factors M at q, for impulses_velocity and schemes: operators.N, once where masses are constant.
bool mass_factor(LashSim* sim, const double* q);
void mass_multiply(const LashSim* sim, const double* x, double* y); // y (nv) = M x
void residual_answer(LashSim* sim, Step* step); // answer = A^-1 r, once A is a new one
// System's evaluate; remembers a refusal.
bool sim_evaluate(LashSim* sim, double t, const double* q, const uint8_t* wanted, double* g,
                  double* g_t, double* G);
void projection_force(LashSim* sim, const Step* step, double* x); // x (nv) += G tau
// Keeps the iterate; brings it back.
void iterate_keep(const LashSim* sim, Step* step);
void iterate_restore(const LashSim* sim, Step* step);
// An empty contact slot: no place where the surfaces could touch.
static inline bool is_empty(const Step* step, const LashInteraction* item) {
    return item->kind == LASH_UNILATERAL && step->g[item->row] == INFINITY;
}

// --- The iteration (iterate.c) -------------------------------------------------------------------
// Solves the step for the sets active and position.
LashOutcome step_solve(LashSim* sim, Step* step, Levels levels);
// Shorter steps come before anything else, if they are allowed (sim.c): they mend nearly all.
static inline bool shorter_first(const LashSim* sim, const Step* step) {
    return attempt_couples(step->attempt) && 8 * step->h > sim->settings.h &&
           sim->settings.max_substeps > 8;
}

// --- Jams (jam.c) --------------------------------------------------------------------------------
void jam_suspect(LashSim* sim, const Step* step); // of the last iterate of an attempt that failed
void jam_impulses(LashSim* sim, Step* step);      // r -= G* P, in wide numbers
void jam_learn(Jam* jam, bool at_once);           // a step is solved; at_once: it began as a jam
int jam_work(const Step* step);                   // factors and sweeps in a pass
// The friction problem of a coupled correction from P_c. False: not near enough.
bool jam_solve_contacts(LashSim* sim, Step* step, const LashFrictionProblem* problem);
// dP of row `row` of the list, row c of the contact problem, which P and P_low become.
double jam_take(Step* step, int row, int c);

// --- Acceptance (accept.c) -----------------------------------------------------------------------
// Judges the solved step, books its energies and takes it as the new state.
LashOutcome step_accept(LashSim* sim, Step* step, LashOutcome outcome);

// --- Prescribed speeds (drivers.c) ---------------------------------------------------------------
int drivers_count(const LashInteractionList* list); // rows
void drivers_start(LashSim* sim);                   // the present state is where they start
// g: coordinates at the end of the step become position errors; g_t there.
void drivers_hold(LashSim* sim, const Step* step, const double* g_t, double* g);
void drivers_accept(LashSim* sim); // the step last held is taken

// --- Linear algebra (operator_joints.c) ----------------------------------------------------------
void operator_forget(LashSim* sim); // the next pass makes a new one
// What a solved pass says about its operator: its contraction at worst.
void operator_learn(LashSim* sim, const Step* step, double rate);
void pattern_sort(LashSim* sim); // fills pattern_first and pattern_block, once
// True when B (and B_n) can be used: forms them once so many columns have been asked of the
// operator at hand that it pays. False: not yet, or the system is too large.
bool response_ready(LashSim* sim, const Step* step);
// x (nv) <- response of the closed joints to the generalized impulse x; positions: in the
// projection metric
void joints_response(LashSim* sim, const Step* step, bool positions, double* x);

// x (nv) <- change of v by the generalized impulse x, joints left open.
void impulse_answer(LashSim* sim, const Step* step, double* x);
// z (nv) = inverse (directions dP), dP (joint rows); inverse NULL: none; A: impulse_answer.
void joints_push(LashSim* sim, const Step* step, const double* directions, const double* dP,
                 const LashBlockLu* inverse, double* z);
// dP: impulses of the joints that undo the velocity x (nv), G'(x + z) = 0; z: what they add to it.
void joints_answer(LashSim* sim, const Step* step, const double* x, double* dP, double* z);

// G_hat = G + d_v d(G'v + g_t)/dq of the wanted interactions [first, last); returns step->G_hat
const double* row_derivatives(LashSim* sim, Step* step, int first, int last);

// --- All derivatives (operator_full.c) -------------------------------------------------------------
FullNewton* full_newton_create(const LashSystem* system, const LashInteractionList* list);
void full_newton_destroy(FullNewton* full);
void full_newton_archive(FullNewton* full, LashArchive* archive);
bool full_newton_factor(LashSim* sim, Step* step);
// dv = change of v; P and, at the level of positions, tau of the joints are corrected.
void full_newton_correct(LashSim* sim, Step* step);

// --- The same with contacts, velocities and positions coupled (operator_contacts.c) -----------------
// M: values of the constant mass. NULL: not for this system.
ContactNewton* contact_newton_create(const LashSystem* system, const LashInteractionList* list,
                                     const double* M, const Sizes* sizes);
void contact_newton_destroy(ContactNewton* newton);
void contact_newton_archive(ContactNewton* newton, LashArchive* archive);
// Does it apply to the set, law and directions of this step?
bool contact_newton_possible(const LashSim* sim, const Step* step);
// Impulses of the joints (bilateral rows) for a unit impulse of a row of the contact problem.
const double* contact_newton_loads(const LashSim* sim, int row);
void contact_newton_forget(LashSim* sim); // the next pass makes a new operator
// |N G tau - shift|: the motion of the iterate against its own multipliers
double contact_newton_motion_error(LashSim* sim, const Step* step);

// --- The same, sparse (operator_sparse.c) ----------------------------------------------------------
// Which of the two that couple contacts is tried next: full matrices, where a run has both, are taken for
// some steps once the sparse one has found no answer.
static inline bool sim_is_sparse(const LashSim* sim) {
    if (sim->operators.sparse == NULL) return false;
    if (sim->jam.tried && sim->operators.contacts != NULL) return false;
    return sim->operators.contacts == NULL || sim->experience.full_steps == 0;
}
bool sparse_newton_possible(const LashSystem* system);
// One for each island of bodies (islands.c).
Islands* islands_create(const LashSystem* system, const LashInteractionList* list);
void islands_destroy(Islands* islands);
void islands_archive(const LashSim* sim, Islands* islands, LashArchive* archive);
void islands_forget(LashSim* sim); // the next pass makes new operators
// The sparse operator takes the place of the one with full matrices, whatever the size: for tests.
void sim_use_sparse(LashSim* sim);
// Did the last correction of an island find no answer, and is there still a shorter step to try?
bool sparse_shorter_first(const LashSim* sim, const Step* step);
// Room for N G tau - shift of the iterate (nv), and for M times it.
void islands_motion(const LashSim* sim, double** motion, double** off);

// --- Contacts (contact_stage.c) ------------------------------------------------------------------
// Numbers the active contacts and those of the position problem; U at the start where the impact
// law needs it.
bool contacts_list(LashSim* sim, Step* step);
// Is it friction in a joint? That always acts, and has no gap.
bool joint_friction(const LashInteraction* item);
// The normal rows of friction in joints: W (leading dimension ld) = w (e_N - dL/dP) and
// b = -w (L - dL/dP P), where L is taken with the impulses of the joints corrected so far.
void assemble_loads(LashSim* sim, Step* step, double* W, int ld, double* b, const double* P);
// Errors of the contact law and, at their level, of the positions at the iterate, joined to those
// of the joints.
void contacts_errors(LashSim* sim, Step* step);
// Error of the law of active contact i, over 1 + b_norm of the step but in jams [m/s]; error of the gap of normal
// k of the position problem [m].
double contact_law_error(LashSim* sim, Step* step, int i);
double contact_gap_error(const Step* step, int k);
// The friction problem (W, b) of the active contacts.
LashFrictionProblem friction_problem(const Step* step);
LashFrictionSettings friction_settings(const LashSim* sim);
// lash_friction_solve within what a pass allows, tuning.friction_work, and settings.max_iterations (0: that alone).
LashFrictionInfo friction_solve(LashSim* sim, Step* step, const LashFrictionProblem* problem,
                                LashFrictionSettings settings, double* P, double* U);
// P (m) becomes the impulses of the active contacts; x (nv) += G* (what that changes).
void contacts_take(LashSim* sim, Step* step, const double* P, double* x);
// dv += response to the generalized impulse x (destroyed); the joints' impulses are completed.
void contacts_push(LashSim* sim, Step* step, double* x);
// Solves the friction problem (W, b) of a coupled correction from P_c; number: of W, 0 for one that
// changes with every correction; derivatives: in W. False: not near enough.
bool contacts_solve_coupled(LashSim* sim, Step* step, uint64_t number, Derivatives derivatives);
// Rows and columns of empty slots say U = w P, b = 0: no impulse, and none on others.
void part_empty_slots(const Step* step, double* W, int ld, double* b);
// A row along which the joints hold both parts, a tangent along the axis of a planar mechanism: its
// W is rounding, and an impulse along it would be anything. length, free: squared, with and without
// the joints.
static inline bool is_held(double length, double free) {
    return length < tuning.held * free;
}
// G'M^-1 G of a row, with the diagonal of M only
double row_mobility(const LashSim* sim, const LashInteraction* item, const double* G, int row);
// Rows and columns of held rows say U = w P, b = 0: no impulse; P_c starts without them.
void part_held_rows(Step* step, double* W, int ld);
void clear_held_rows(const Step* step, double* b, double* P);
// Do the contacts of the pass fit into the room for full matrices?
bool contacts_fit(const LashSim* sim, const Step* step);
// Solves the contact problem; dv and P are completed. False: no solution.
bool contacts_correct(LashSim* sim, Step* step);
// Solves the position problem at the corrected velocities for tau.
bool positions_correct(LashSim* sim, Step* step);
// y (nv) = response of the closed joints to column `row` of a contact
void response_column(LashSim* sim, const Step* step, const LashInteraction* item, int row,
                     bool positions, double* y);
static inline bool shifts_by_unit(const Step* step) {
    return step->stencil.shift_metric == SHIFT_BY_UNIT;
}
// Rows of the contacts' law at velocity level: G at the end of the step; G* under Fremond's law.
static inline const double* law_rows(const Step* step) {
    return step->stencil.law == LASH_FREMOND ? step->G_star : step->G;
}
// What the law of contact i adds to U (rows): e U_N(start); under Fremond's law also
// (1 - theta)/theta U_T(start).
void law_shift(const Step* step, int i, double* shift);
// Fremond's law, rows at G*: U at the start along the directions of the iterate, G*' v_k + g_t.
void star_start(LashSim* sim, Step* step);
// x (nv) <- N x; x gets the joints' answer to the displacement x, their tau is completed;
// moved (nv): displacement by the corrections made so far
void solve_metric(LashSim* sim, double* x);
// Takes tau over into the shift.
void projection_update(LashSim* sim, Step* step);
void keep_joints_closed(LashSim* sim, Step* step, double* x);
void increment_so_far(LashSim* sim, const Step* step, double* moved);

// --- Velocities and positions in one problem (operator_coupled.c) --------------------------------
size_t coupled_scratch(int contacts, int contact_rows); // [bytes] of coupled_correct
// dv, the velocity correction without contacts, P and tau are completed.
bool coupled_correct(LashSim* sim, Step* step);

// --- Events (events.c) ---------------------------------------------------------------------------
void events_of_step(LashSim* sim, Step* step); // and step->state

// --- Pushes (pushes.c) ---------------------------------------------------------------------------
void pushes_clear(LashSim* sim);      // a step begins
void pushes_begin_part(LashSim* sim); // the next part of it
// Active interaction i pushed and did this work [J].
void pushes_add(LashSim* sim, const Step* step, int i, double work_n, double work_t);

// --- Trace (trace.c) -----------------------------------------------------------------------------
// An attempt ended; solver_before: iterations of the contact solver before it.
void trace_attempt(LashSim* sim, const Step* step, const char* operator_name,
                   Derivatives derivatives, int solver_before, LashOutcome outcome);

// --- Faults (fault.c) ----------------------------------------------------------------------------
// The iterate has errors that are not finite: keeps where, and what is to blame for it.
void fault_of_iterate(LashSim* sim, const Step* step);
// Are state, impulses, errors and energies of the solved step numbers?
bool step_is_finite(LashSim* sim, const Step* step);
bool energy_is_finite(LashSim* sim, const Step* step);

// --- Gaps that fall by more than surfaces move (gap_jump.c) --------------------------------------
bool gaps_jump(LashSim* sim, Step* step);       // of the solved step; keeps the fault
void gaps_of_failure(LashSim* sim, Step* step); // the same of a step without solution

// --- Contradictions (conflict.c) -----------------------------------------------------------------
bool conflict_find(LashSim* sim); // where the step failed; fills sim->failure.conflict

// --- Energy (energy.c) ---------------------------------------------------------------------------
double energy_kinetic(LashSim* sim, const double* q, const double* v);
// Works of the forces at (t, q) over weight [s], of the impulses, where the system moves with v (nv);
// v_force: velocity of the forces, NULL: v.
void energy_add_forces(LashSim* sim, double weight, double t, const double* q,
                       const double* v_force, const double* v);
void energy_add_impulses(LashSim* sim, const Step* step, const double* v);
void energy_theta(LashSim* sim, Step* step); // of the theta-method

#endif
