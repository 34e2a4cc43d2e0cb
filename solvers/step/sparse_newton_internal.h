// What the sparse operator of contacts is made of: shared by the files that find the islands of a pass
// (islands.c), that make the operator of one (operator_sparse.c, where its equations stand) and that
// solve with it (sparse_correct.c).
#ifndef LASH_SOLVERS_SPARSE_NEWTON_INTERNAL_H
#define LASH_SOLVERS_SPARSE_NEWTON_INTERNAL_H

#include "solvers/step/sim_internal.h"

// What a contact does, at velocity level.
typedef enum SlotStatus { SLOT_OPEN, SLOT_STICKS, SLOT_SLIPS } SlotStatus;

// A contact in the system: its unknowns are P (rows) and, where it has a position row, tau.
typedef struct Slot {
    int item;                 // in the list
    int node, at;             // of the matrix, and its first row in it
    int tau_at;               // row of tau in the node of the matrix of positions
    int x;                    // first unknown
    int rows;                 // of P; 0: it is not active
    bool has_tau;             // tau stands after P
    bool empty;               // no place where the surfaces could touch
    int size;                 // velocities of the blocks it touches
    int D, turn;              // where its derivatives stand
    double lambda, lambda_n;  // 1 / scale of its errors; G'G/M of its normal [1/kg]
    double shift[3];          // of the law [m/s]
    double u[3], gap;         // velocity with the shift, gap, of the inner iterate
    SlotStatus status, made;  // now; in the factor
    bool closed, made_closed; // position row is an equation: now; in the factor
    bool pushed;              // because it pushes
    bool smooth;              // no friction: P_T = 0
    double d[2], k;           // slip: direction; U_perp + k P_perp = 0
    double w[3], dw[3], H[9]; // interior points: dual, its change, scaling
    double left[3];           // what the step without it would leave
} Slot;

// Vectors over all bodies, and where those of an island stand in it: each island reads and writes the
// places of its own bodies and joints only, so that all share them.
typedef struct SparseShared {
    int *body_node, *joint_node;    // (blocks), (joints) node in the matrix of its island
    int* body_x;                    // (blocks) first unknown of a body in it: dv, then dd
    int* joint_x;                   // (joints) of a joint: dP, then dtau
    double *dv, *dd, *force, *move; // (nv)
    double *motion, *off;           // (nv) G tau - M shift of the iterate; M^-1 of it
    double* work;                   // (nv)
    bool soft;                      // forces change little within a step
    double forces_t0;               // step of C and K
} SparseShared;

// Bodies that hang together by joints and by contacts of the pass, and the operator of them.
typedef struct SparseNewton { // what is added is saved with a run by sparse_newton_archive
    SparseShared* shared;
    int bodies, joints, slots;         // that belong to it
    const int *body, *joint, *contact; // (bodies), (joints), (slots) which: lists of Islands
    LashBlockLu* lu;
    LashBlockGraph graph; // that it was made from; its arrays are owned
    uint64_t key;         // what lu was made for: contacts, bodies, levels
    int parts;            // 2: velocities and positions, 1: velocities only
    bool split;           // lu is of velocities only; positions have a matrix of their own:
    LashBlockLu* position_lu;
    LashBlockGraph position_graph;  // size is owned, the rest is that of graph
    bool positions_factored;        // position_lu holds factors of what is closed
    bool positions_wait;            // the iteration is one of velocities: dd = w dv
    bool velocities_wait;           // they are near enough: this step of it is one of positions
    int together, longest_together; // passes to come without a split, of the run of them
    int nodes, unknowns;            // of all
    bool loose;                     // contacts stand anywhere in the order of elimination
    int asked_nodes;                // when it was asked last whether they should; 0: never
    bool asked_loose;               // what the answer was
    int slot_capacity;
    Slot* slot; // (slots)
    int D_size, turn_size, D_capacity, turn_capacity;
    double* D;               // d(G'v + g_t)/dq, packed like G, slot by slot
    double *turn, *turn_tau; // (size x size) per slot: d(G* P)/dq, d(G tau)/dq
    bool curved;             // turn_tau counts
    Derivatives derivatives;
    bool factored;     // lu holds factors of the statuses `made`
    bool fresh;        // of the present linearisation
    double h, t0;      // step of the derivatives: length, start [s]
    int factors;       // made since the pass began
    bool again;        // in this pass: there was no answer, it is tried otherwise
    bool plain;        // in this pass: with all derivatives there was no answer
    bool held;         // in this pass: Newton alone did not end
    bool pile;         // of the last correction: sweeps have led it near the answer
    int wait, longest; // passes to come that do not begin at P = 0, of the run of them
    bool singular;     // of the last iteration: its impulses were those of a singular matrix
    bool no_answer;    // of the last correction: there was none
    bool interior;     // the matrix is that of interior points
    double made_prox;  // of the factor
    double prox;       // proximal term: u + prox lambda (P - center)
    bool known;        // its key, lists and slots are made
    bool listed;       // and its matrix is still to be
    uint64_t solved;   // Predictor.guesses from which it was solved last
    double old_rate;   // of a correction with an operator of an earlier step
    double b_norm;     // scale of its contacts' errors [m/s]
    int vector_capacity;
    double *y, *x, *best, *kept, *center; // (unknowns) inner iterate, change, ...
    double *velocities, *positions;       // (unknowns) right sides and solutions of a split
} SparseNewton;

// Errors of an iterate, recomputed from it: as in Step.
typedef struct IslandErrors {
    double dynamics, velocity, contact, position;
} IslandErrors;

// What belongs to an island, and what the one before it, that of its first body, has learned.
typedef struct IslandParts {
    int bodies, joints, slots;
    const int *body, *joint, *contact; // (bodies), (joints), (slots)
    int before;                        // its number; -1: none
    int wait, longest;                 // of SparseNewton
    int together, longest_together;    // likewise
    int asked_nodes;                   // likewise
    bool asked_loose;
    uint64_t solved; // likewise, of bodies that nothing touched and touches
    double old_rate;
} IslandParts;

typedef struct Sweeps Sweeps; // sparse_sweeps.c

// The islands of a pass (islands.c), ordered by their first bodies; bodies that nothing touches are one,
// the last.
struct Islands {
    SparseShared shared;
    int count, capacity;
    SparseNewton** island;    // (capacity) those from `count` on are kept for their memory
    SparseNewton** spare;     // (capacity) scratch
    IslandParts* parts;       // (capacity)
    Convergence* convergence; // (capacity) of each
    IslandErrors* errors;     // (capacity) likewise
    IslandErrors worst;       // of all
    bool* done;               // (capacity) its iteration has ended
    bool* made;               // (capacity) scratch: its operator is made anew
    double* largest;          // (capacity) impulse
    Sweeps* sweeps;
    uint64_t foreseen;      // Predictor.guesses with which contacts were foreseen last
    int foresights;         // from it
    uint64_t key;           // of all
    bool known;             // the numbers are those of `key`
    int *of_block, *before; // (blocks) island of a body, in the pass before
    int* place;             // (blocks) scratch
    int* first;             // (capacity + 1) scratch
    int *body, *joint;      // (blocks), (joints) sorted by island
    int* contact;           // (contact_capacity) interactions that take part, likewise
    int contact_capacity;
};

// --- Islands (islands.c) ---------------------------------------------------------------------------
// Finds the islands of the pass.
void islands_find(LashSim* sim, Step* step);
// Errors of each at the iterate; those of the step become the largest.
void islands_measure(LashSim* sim, Step* step);
double islands_scale(const LashSim* sim); // the largest b_norm
// The errors of the step are those of this island; the largest of all.
void island_focus(const LashSim* sim, Step* step, int k);
void islands_unfocus(const LashSim* sim, Step* step);
// Islands in which nothing moves begin as they stood after the last step, Convergence.rests; what nothing touches
// begins as it flew in it; those that a pass before has solved stay as they are.
void islands_guess(LashSim* sim, Step* step);
// After a correction: which gaps are to be closed because they push.
void islands_note_kinds(const LashSim* sim, Step* step);
// Keeps the iterate of an island; brings it back.
void island_keep(const LashSim* sim, Step* step, const SparseNewton* newton);
void island_restore(const LashSim* sim, Step* step, const SparseNewton* newton);
// y = A x over the bodies of an island, A in the layout of the system's pattern.
void island_multiply(const LashSim* sim, const SparseNewton* newton, const double* A,
                     const double* x, double* y);

// --- The operator of an island (operator_sparse.c) -------------------------------------------------
SparseNewton* sparse_island_create(SparseShared* shared);
void sparse_island_destroy(SparseNewton* newton);
void sparse_island_release(SparseNewton* newton); // the memory of its matrices
void sparse_island_forget(SparseNewton* newton);  // the next pass makes a new operator
void sparse_island_archive(SparseNewton* newton, LashArchive* archive);
// Makes the structure for its bodies, joints and contacts.
void sparse_structure(const LashSim* sim, const Step* step, SparseNewton* newton);
// The same contacts stand elsewhere in the list.
void sparse_number_again(SparseNewton* newton);
// Derivatives of forces and directions at the iterate, as far as `wanted`.
void sparse_derive(LashSim* sim, Step* step, SparseNewton* newton, Derivatives wanted);
// Is it more than a tree, or nearly?
static inline bool sparse_closes_loops(const SparseNewton* newton) {
    return newton->nodes > 2 * newton->bodies;
}
// Share of lambda on the diagonal of contacts in the factors.
double sparse_share(const SparseNewton* newton);
double sparse_plain_share(const SparseNewton* newton); // without what holds an iterate
// May there be one more factor in this pass?
enum { SPARSE_MOST_FACTORS = 200 }; // of an island in a pass
bool sparse_may_factor(LashSim* sim, const SparseNewton* newton);
// Factors the matrix of the present statuses. False: singular, or one too many.
bool sparse_factor(LashSim* sim, Step* step, SparseNewton* newton);
// x <- K^-1 x with the factors at hand.
void sparse_solve(LashSim* sim, const Step* step, SparseNewton* newton, double* x);
// May a step in shorter parts be tried before a matrix that costs more?
bool sparse_may_be_shorter(const LashSim* sim, const Step* step);
// Renews the operator of an island where the one at hand would need too long.
void sparse_renew(LashSim* sim, Step* step, SparseNewton* newton, Convergence* convergence);
// One correction of v, P, tau and the shift with it. False: no answer.
bool sparse_correct_island(LashSim* sim, Step* step, SparseNewton* newton,
                           Convergence* convergence);
// The same with the operator as it is (sparse_correct.c).
bool sparse_correct(LashSim* sim, Step* step, SparseNewton* newton);

// Velocities and positions by matrices of their own (sparse_split.c): is the motion of the projection
// too small to matter for directions?
bool sparse_may_split(const LashSim* sim, const Step* step, const SparseNewton* newton);
void sparse_split_structure(SparseNewton* newton); // after that of velocities
void sparse_split_forget(SparseNewton* newton);
bool sparse_positions_as_factored(const SparseNewton* newton);
bool sparse_factor_positions(LashSim* sim, const Step* step, SparseNewton* newton);
void sparse_split_solve(LashSim* sim, const Step* step, SparseNewton* newton, double* x);

// Pieces of it: residuals at the inner iterate y; u and gap of the slots alone; the right side.
void sparse_evaluate(LashSim* sim, const Step* step, SparseNewton* newton);
void sparse_velocities(LashSim* sim, const Step* step, SparseNewton* newton);
void sparse_right_side(LashSim* sim, const Step* step, SparseNewton* newton);
// y (velocities of its contacts) near the answer by interior points. False: not found.
bool sparse_interior(LashSim* sim, Step* step, SparseNewton* newton);

// Sweeps over the contacts of a pile (sparse_sweeps.c).
Sweeps* sweeps_create(const LashSystem* system);
void sweeps_destroy(Sweeps* sweeps);
bool sparse_is_pile(const LashSim* sim, const Step* step, const SparseNewton* newton);
// Before a pass, at the iterate evaluated last: v and P are swept, and `wanted` names the contacts that push then
// beside those of the set.
typedef enum Foresight {
    FORESEES_NOT,     // it is not a pile: nothing has changed
    FORESEES_MOTION,  // v and P have changed
    FORESEES_CONTACTS // and the set has to grow
} Foresight;
Foresight contacts_foresee(LashSim* sim, Step* step);

#endif
