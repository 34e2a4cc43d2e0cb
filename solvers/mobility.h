// What the bilateral rows of a run leave free, and what they say twice, at its present position.
#ifndef LASH_SOLVERS_MOBILITY_H
#define LASH_SOLVERS_MOBILITY_H

#include "solvers/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

// Rows of which each follows from the others: impulses that act on nothing, G P = 0.
typedef struct LashCircuit {
    int interaction; // the one whose row repeats rows before it
    int rows;
    int* row;  // (rows) of the list
    double* P; // (rows) [N s, N m s]; largest x norm of its row = 1
} LashCircuit;

typedef struct LashFreedom {
    int rows, rank, dof;
    int circuits; // = rows - rank
    LashCircuit* circuit;
    int motions;    // = dof, or 0 where there are more than LASH_MAX_MOTIONS
    double* motion; // (nv x motions) a basis of the velocities that the rows allow
    // Rows scaled to norm 1, angular velocities times length:
    double mismatch;      // largest share of a redundant row that is left beside the others
    double smallest;      // singular value of the independent rows; NAN: not computed
    double* weak_motion;  // (nv) unit velocity that changes the rows least: by `smallest`
    double* weak_impulse; // (rows) unit impulse with the least effect
    int rank_nearby;      // largest rank at positions a little off along random free motions
} LashFreedom;

enum { LASH_MAX_MOTIONS = 400 };

LashFreedom* lash_sim_freedom(LashSim* sim);     // caller destroys; the state is not changed
void lash_freedom_destroy(LashFreedom* freedom); // NULL is allowed

#ifdef __cplusplus
}
#endif
#endif
