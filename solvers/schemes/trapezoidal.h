// The linearly implicit trapezoidal rule: one leg (trapezoidal_leg.c), impacts (poisson_impact.c), the
// step with its events (trapezoidal.c).
#ifndef LASH_SOLVERS_TRAPEZOIDAL_H
#define LASH_SOLVERS_TRAPEZOIDAL_H

#include "solvers/schemes/scheme.h"

enum { LEG_ROWS_END = 1, LEG_ROWS_MEAN = 2 }; // of the option `rows`
enum { MASS_MIDPOINT, MASS_ENDS };
enum { TANGENTS_EXACT, TANGENTS_DEFINITE };
enum { CONE_EXACT, CONE_POLYHEDRAL };
enum { LAW_POISSON, LAW_NEWTON };

// What a contact does within a leg.
typedef enum Status {
    STATUS_UNKNOWN,
    STATUS_OPEN, // no impulse
    STATUS_STICKS,
    STATUS_SLIDES,     // in space; in the plane: towards +t
    STATUS_SLIDES_BACK // in the plane: towards -t
} Status;

// A leg: one linear system and one contact problem from (t, q, v) over h, for the set step->active.
typedef struct Leg {
    int rows, mass_at, tangents; // options
    int directions;              // of a polyhedral cone; 0: the round one
    double stabilize;            // 1: g(q)/h in the rows
    double whole;                // length of the step [s]
    double band;                 // gap below which a contact touches [m]
    double t, h;
    double *q, *v;         // (nq), (nv) start: where the step stands
    double *q_end, *v_end; // (nq), (nv)
    double *g, *U;         // (rows) at the start: gaps or errors, G'v + g_t
    double *g_end, *U_end; // (rows)
    double* P;             // (rows) impulses of the leg
    double *y, *mean;      // (nv) v_end - v; v + y/2
    double *x, *z;         // (nv) scratch
    double *u, *dP;        // (rows) scratch
    double* q_middle;      // (nq)
    const uint8_t* held;   // (count) statuses that contacts keep; NULL: as their laws say
} Leg;

Leg leg_create(LashSim* sim); // from scratch
// g and U at (t, q, v); false: outside.
bool leg_start(LashSim* sim, Step* step, Leg* leg);
// Solves it for leg->h.
bool leg_solve(LashSim* sim, Step* step, Leg* leg);
// Direction of sliding at the start of the leg, in its two tangential rows; false: it does not slide.
bool leg_slide(const Leg* leg, const LashInteraction* item, Status status, double d[2]);
// What the contact i of a solved leg did.
Status leg_status(const Step* step, const Leg* leg, int i);
// Its end becomes the start of the next one; g and U too.
void leg_advance(const LashSim* sim, const Step* step, Leg* leg);

// How a contact takes part in an impact.
typedef enum ImpactKind {
    IMPACT_REBOUNDS, // with its e
    IMPACT_PUSHED,   // it pushed before: its U_N was zero but for the error of the leg
    IMPACT_STUCK,    // and stuck: its U_T was, too
    IMPACT_PLASTIC   // e = 0: its bounces end here
} ImpactKind;

// U = W P + b of the active contacts with friction, from W, b into P_c, U_c; false: no solution.
bool leg_solve_friction(LashSim* sim, Step* step, const Leg* leg);

// The impact of the set step->active at (t, q), by Poisson's law or Newton's: v, U, and the impulses in leg->P.
// kind (count).
// U = 0 in the joints, U_N = 0 in the contacts that pushed and U_T = 0 in those that stuck, by impulses of theirs.
bool impact_of_closed(LashSim* sim, Step* step, Leg* leg, const uint8_t* kind);
bool impact_solve(LashSim* sim, Step* step, Leg* leg, int law, const uint8_t* kind);

// Small dense system A x = b (n x n, column-major, overwritten) by elimination; false: singular.
bool eliminate_small(int n, double* A, double* b);

#endif
