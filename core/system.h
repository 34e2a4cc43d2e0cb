// What a time-stepping scheme sees of a mechanical system: sizes, mass, forces, motion and
// interactions.
//
//     M(q) dv = F(t, q, v) dt + G(q) dP,      U = G(q)' v + dg/dt,      q moves along v: q (+) h v
//
// Two kinds exist: rigid bodies in maximal coordinates (joints/mechanism.h) and Lagrangian systems
// (core/lagrangian.h). Schemes run unchanged on both. A system is const and shared by all runs and
// threads; whatever a run has to remember (turn counters, warm starts, distance bounds) lives in
// its LashSystemWork.
//
// Velocity space is cut into blocks: a rigid body is one block of 6 (linear velocity in world axes,
// angular velocity in body axes); a small Lagrangian system is one block; a banded one is a row of
// small blocks. Matrices are stored as dense column-major blocks. "Derivative with respect to q"
// always means with respect to the increment x in q (+) x at x = 0.
#ifndef LASH_CORE_SYSTEM_H
#define LASH_CORE_SYSTEM_H

#include "core/archive.h"
#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashSystem LashSystem;
typedef struct LashSystemWork
    LashSystemWork; // private to one run; each kind of system defines its own

enum {
    LASH_MAX_TOUCHED = 4, // velocity blocks one interaction may act on
    LASH_MAX_ROWS = 6     // rows of one interaction
};

// Where the blocks of M, C and K stand. The diagonal blocks come first, in order.
typedef struct LashBlocks {
    int count;
    const int *row, *column; // (count) block indices
    const int* offset; // (count + 1) block b is (size(row) x size(column)) at values + offset[b]
} LashBlocks;

typedef enum LashInteractionKind {
    LASH_BILATERAL,          // g(t, q) = 0 and U = 0: an ideal joint, a position driver
    LASH_BILATERAL_VELOCITY, // U = 0: a speed driver; its g is the coordinate that moves with this
    // speed, -g_t, and has to stand at the sum of it (solvers/step/drivers.c)
    LASH_UNILATERAL, // 0 <= g: contact, limit; rows are n, or n,t (2D), or n,t1,t2 (3D friction)
    LASH_FRICTION    // friction in a joint: rows n,t or n,t1,t2 with an empty normal row (g = 0,
                     // G = 0); always acts, P_n = |impulses of the load rows of a bilateral one|
} LashInteractionKind;

typedef struct LashInteraction {
    LashInteractionKind kind;
    int rows;                    // 1 .. LASH_MAX_ROWS
    int row;                     // its first row among the rows of the list
    int offset;                  // its first number in the packed G of the list
    int touched;                 // velocity blocks it acts on
    int block[LASH_MAX_TOUCHED]; // their indices, all different
    bool prescribed;             // a motion is imposed: the work of its impulses is external work
    unsigned angular; // bit i: row i is an angle [rad], its impulse an angular one [N m s]
    double e, mu;     // Newton restitution in [0, 1], Coulomb friction >= 0 (unilateral, friction)
    int load;         // LASH_FRICTION: the bilateral interaction that presses the surfaces together
    unsigned load_rows; // bit i: row i of it counts
    int surfaces; // points between the same two surfaces have the same number and stand together,
                  // at the end of the list; 0: a gap of another kind
    uint64_t id;  // the same physical interaction has the same id in every step
} LashInteraction;

// The interactions of one step: bilateral ones first, then every unilateral one that could close in
// it.
typedef struct LashInteractionList {
    int count, bilateral;     // interactions; how many of them are bilateral (both kinds)
    int rows, bilateral_rows; // rows of all, of the bilateral ones
    int G_size; // numbers in the packed G: per interaction, per touched block, (size x rows)
    const LashInteraction* item; // (count) owned by the work, valid until the next collect
} LashInteractionList;

// Where the impulse of a contact acts on its bodies while the gap is open: both levers end at the
// common point in the middle of the gap, so that angular momentum is kept exactly; or each ends at
// its body's own closest point, where it touches once the gap is closed: for schemes that close
// gaps by projection, in which half an open gap would be too much lever for friction.
typedef enum LashLevers { LASH_COMMON_POINT, LASH_OWN_POINTS } LashLevers;

// A number that comes from outside and that forces and drivers may read: it goes linearly from
// `from` at t0 to `to` at t1 and has these values before and after.
typedef struct LashInput {
    double t0, t1, from, to;
} LashInput;

// Its value at t, and the rate of it.
static inline double lash_input_at(const LashInput* input, double t, double* rate) {
    bool moves = input->t1 > input->t0 && t >= input->t0 && t <= input->t1;
    *rate = moves ? (input->to - input->from) / (input->t1 - input->t0) : 0;
    if (moves) return input->from + *rate * (t - input->t0);
    return t < input->t0 ? input->from : input->to;
}

// A pass of the step that is solved: motion at its start and end.
typedef struct LashPass {
    const double *q, *v, *v_start;
    double restitution;        // factor on the restitution of contacts
    double position, velocity; // tolerances [m], [m/s]
    double h;                  // length of the step [s]
} LashPass;

// Power of the forces that are not in the potential energy [W].
typedef struct LashPower {
    double external; // done by applied forces and torques
    double damping;  // done by dampers: <= 0
} LashPower;

struct LashSystem {
    int nq, nv, blocks;     // numbers in q, in v; velocity blocks
    const int* block_start; // (blocks + 1) first velocity of each block
    const int* q_start;     // (blocks + 1) first coordinate of each block
    LashBlocks pattern;     // of M, C and K (M may hold zeros off the diagonal)
    bool constant_mass;     // M does not depend on q
    bool linear_motion;     // q (+) d = q + d
    bool unit_metric;       // projections use N = I instead of M^-1 (the papers' Lagrangian runs)
    double length; // characteristic length: divides moments when reactions are compared [m]
    int max_interactions, max_rows, max_G; // largest list that collect can return
    bool grows;                            // these sizes are a first guess: a list may be longer

    int inputs; // that a run may set; 0: none

    LashSystemWork* (*work_create)(const LashSystem* system);
    void (*work_destroy)(const LashSystem* system, LashSystemWork* work);
    void (*initial_state)(const LashSystem* system, double* q, double* v);
    // NULL: no contact here has levers. At the common point unless told otherwise.
    void (*set_levers)(LashSystemWork* work, LashLevers levers);

    // A contact may stand for many points of which the motion does not say which one bears (the rim of a ring
    // that lies flat): it then has one material point that stays while a pass of the step iterates. exchange, after a
    // solved pass: do all of the points obey the laws? Otherwise it takes another one, and the contact is marked in
    // chosen (count), must act, and the pass be solved again. NULL: there is no such contact. Only what
    // set_exchange is told of, by schemes that ask, is held so.
    void (*set_exchange)(LashSystemWork* work, bool exchanges);
    bool (*exchange)(const LashSystem* system, LashSystemWork* work, const LashPass* pass,
                     uint8_t* chosen);

    void (*set_input)(LashSystemWork* work, int input, const LashInput* signal); // NULL: no inputs

    // All that a run remembers of the system beyond q and v: turn counters, inputs, bounds and warm
    // starts of contacts, the list of its last step. NULL: nothing but what can be found again.
    void (*work_archive)(const LashSystem* system, LashSystemWork* work, LashArchive* archive);

    // result = q (+) s d;  d = b (-) a;  y = T(s d) x with T the right Jacobian of the exponential.
    void (*move)(const LashSystem* system, const double* q, double s, const double* d,
                 double* result);
    void (*difference)(const LashSystem* system, const double* b, const double* a, double* d);
    void (*move_tangent)(const LashSystem* system, double s, const double* d, const double* x,
                         double* y);

    // Values in the layout of pattern. mass_tangent adds s d(M(q) a)/dq to K (never called for
    // constant mass).
    void (*mass)(const LashSystem* system, LashSystemWork* work, const double* q, double* M);
    void (*mass_tangent)(const LashSystem* system, LashSystemWork* work, const double* q,
                         const double* a, double s, double* K);
    // All smooth forces (nv), gyroscopic ones included; C = -dF/dv, K = -dF/dq.
    void (*forces)(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                   const double* v, double* F);
    void (*tangents)(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                     const double* v, double* C, double* K);
    // The same without what could make M + h/2 C + h^2/4 K indefinite: how forces turn, springs and dampers
    // that push the motion on; of the gyroscopic torques only what does no work. NULL: not given.
    void (*definite_tangents)(const LashSystem* system, LashSystemWork* work, double t,
                              const double* q, const double* v, double* C, double* K);
    // Of them those of the potential energy alone: gravity, springs. NULL: not given apart.
    void (*conservative)(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                         double* F);
    LashPower (*power)(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                       const double* v);
    double (*potential)(const LashSystem* system, LashSystemWork* work, double t,
                        const double* q); // [J]

    // Lists the interactions of a step from (t, q): every unilateral one that could close while
    // each point moves by at most factor times what it moves with v in h.
    const LashInteractionList* (*collect)(const LashSystem* system, LashSystemWork* work, double t,
                                          const double* q, const double* v, double h,
                                          double factor);
    // Evaluates the listed interactions at (t, q). g, g_t: (rows) gap or joint error and its
    // partial time derivative (0 in tangential rows of g); G packed, or NULL for gaps only. wanted
    // (count), or NULL for all, limits G and g_t to the interactions marked; gaps are always given;
    // +INFINITY where a contact slot is empty. With G but without g_t only directions are asked
    // for: gaps of interactions that are not wanted may then be left as they are. Returns false
    // when q lies outside the motion that collect was promised: collect again.
    bool (*evaluate)(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                     const uint8_t* wanted, double* g, double* g_t, double* G);
    // Derivatives of interaction i at (t, q), n = velocities of its touched blocks in their order:
    // dGP (n x n) = d(G P)/dq for the impulse P (rows), dGv (rows x n) = d(G'v + g_t)/dq. Either
    // may be NULL.
    void (*contract)(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                     int i, const double* P, const double* v, double* dGP, double* dGv);

    // x (nv) += G P of interaction i to 30 digits, with bodies at q (+) s d, rounded nowhere. False: no more
    // is known of its directions than evaluate says. NULL: of none.
    bool (*push)(const LashSystem* system, LashSystemWork* work, const double* q, double s,
                 const double* d, int i, const double* P, LashWide* x);

    // How far the two surfaces of this number move against each other at most while q moves to
    // q (+) d: their least gap cannot change by more. NULL where no interaction has surfaces.
    double (*surface_motion)(const LashSystem* system, int surfaces, const double* d);

    // The step to (t, q, v) is accepted: renormalises q, updates turn counters and warm starts.
    void (*accept)(const LashSystem* system, LashSystemWork* work, double t, double* q,
                   const double* v);
    // Writes the name of interaction id for messages and results ("guide.1", "crank_pin").
    void (*name)(const LashSystem* system, uint64_t id, char* text, size_t size);
};

static inline int lash_block_size(const LashSystem* system, int block) {
    return system->block_start[block + 1] - system->block_start[block];
}

#ifdef __cplusplus
}
#endif
#endif
