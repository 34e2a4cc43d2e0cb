// What the sparse operator of contacts is made of: shared by the files that make it
// (operator_sparse.c, where its equations stand) and that solve with it (sparse_correct.c).
#ifndef LASH_SOLVERS_SPARSE_NEWTON_INTERNAL_H
#define LASH_SOLVERS_SPARSE_NEWTON_INTERNAL_H

#include "solvers/step/sim_internal.h"

// What a contact does, at velocity level.
typedef enum SlotStatus { SLOT_OPEN, SLOT_STICKS, SLOT_SLIPS } SlotStatus;

// A contact in the system: its unknowns are P (rows) and, where it has a position row, tau.
typedef struct Slot {
    int item;                 // in the list
    int node, at;             // of the matrix, and its first row in it
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

struct SparseNewton { // what is added is saved with a run by sparse_newton_archive
    LashBlockLu* lu;
    LashBlockGraph graph; // that it was made from; its arrays are owned
    uint64_t key;         // set of contacts that lu was made for
    Levels levels;        // likewise
    int parts;            // 2: velocities and positions, 1: velocities only
    int unknowns;         // of all
    int* body_x;          // (blocks) first unknown of a body: dv, then dd
    int* joint_x;         // (joints) of a joint: dP, then dtau
    int slots, slot_capacity;
    Slot* slot; // (slots)
    int D_size, turn_size, D_capacity, turn_capacity;
    double* D;               // d(G'v + g_t)/dq, packed like G, slot by slot
    double *turn, *turn_tau; // (size x size) per slot: d(G* P)/dq, d(G tau)/dq
    bool curved;             // turn_tau counts
    Derivatives derivatives;
    bool soft;         // forces change little within a step
    double forces_t0;  // step of C and K
    bool factored;     // lu holds factors of the statuses `made`
    bool fresh;        // of the present linearisation
    double h, t0;      // step of the derivatives: length, start [s]
    int factors;       // made since the pass began
    bool held;         // in this pass: Newton alone did not end
    int wait, longest; // passes to come that do not begin at P = 0, of the run of them
    bool singular;     // of the last iteration: its impulses were those of a singular matrix
    bool no_answer;    // of the last correction: there was none
    bool interior;     // the matrix is that of interior points
    double made_prox;  // of the factor
    double prox;       // proximal term: u + prox lambda (P - center)
    int vector_capacity;
    double *y, *x, *best, *kept, *center; // (unknowns) inner iterate, change, ...
    double *dv, *dd, *force, *move;       // (nv)
    double *motion, *off;                 // (nv) G tau - M shift of the iterate; M^-1 of it
    double* work;                         // (nv)
};

// Makes the structure for the contacts of the pass; false where nothing changed.
bool sparse_structure(LashSim* sim, Step* step);
// Derivatives of forces and directions at the iterate, as far as `wanted`.
void sparse_derive(LashSim* sim, Step* step, Derivatives wanted);
// Factors the matrix of the present statuses. False: singular.
bool sparse_factor(LashSim* sim, Step* step);
// One correction of v, P, tau and the shift. False: no answer.
bool sparse_correct(LashSim* sim, Step* step);

// Pieces of it: residuals at the inner iterate y; u and gap of the slots alone; the right side.
void sparse_evaluate(LashSim* sim, const Step* step, SparseNewton* newton);
void sparse_velocities(LashSim* sim, const Step* step, SparseNewton* newton);
void sparse_right_side(LashSim* sim, const Step* step, SparseNewton* newton);
// y (velocities of its contacts) near the answer by interior points. False: not found.
bool sparse_interior(LashSim* sim, Step* step);

#endif
