// Lagrangian systems: mechanics written by hand in a few coordinates, or linear with banded
// matrices.
//
//     M(q) dv = F(t, q, v) dt + G(q) dP,      U = G' v + dg/dt,      dq/dt = v
//
// Both constructors give a LashSystem (core/system.h) with q (+) d = q + d. All interactions are
// listed in every step, whatever their gap.
#ifndef LASH_CORE_LAGRANGIAN_H
#define LASH_CORE_LAGRANGIAN_H

#include "core/system.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashLagrangian LashLagrangian; // opaque, owns copies of all it was made from

const LashSystem* lash_lagrangian_system(const LashLagrangian* lagrangian); // borrowed
void lash_lagrangian_destroy(LashLagrangian* lagrangian);                   // NULL is allowed

// ---- Callbacks: n coordinates in one dense block ------------------------------------------------

// Where a callback is asked for its values.
typedef struct LashLagrangianPoint {
    double t;             // [s]
    const double* q;      // (n)
    const double* shared; // what prepare made of q
    const void* context;  // the copy that the system holds
} LashLagrangianPoint;

// All results arrive zeroed: write what is not zero.
typedef struct LashLagrangianContact {
    LashInteractionKind kind;
    int rows;         // unilateral: n; n, t; or n, t1, t2
    int which;        // handed to the callbacks, so that several contacts can share them
    double e, mu;     // Newton restitution, Coulomb friction (unilateral only)
    bool prescribed;  // a motion is imposed
    unsigned angular; // bit i: row i is an angle
    const char* name; // copied
    // g (rows; tangential rows stay 0), g_t = partial dg/dt (rows), G (n x rows). When only gaps
    // are wanted, g_t and G are NULL.
    void (*evaluate)(const LashLagrangianPoint* at, int which, double* g, double* g_t, double* G);
    // dGP (n x n) = d(G P)/dq, dGv (rows x n) = d(G'v + g_t)/dq; either may be NULL. No callback:
    // central differences.
    void (*contract)(const LashLagrangianPoint* at, int which, const double* P, const double* v,
                     double* dGP, double* dGv);
} LashLagrangianContact;

typedef struct LashLagrangianDef {
    int n;                 // coordinates, 1 or more
    const double *q0, *v0; // (n) initial state, copied; NULL: zeros
    const void* context;   // data of the callbacks, copied; plain numbers only
    size_t context_bytes;
    // Called once for every new q, so that sines and the like are computed once. May be NULL.
    int shared; // numbers it leaves
    void (*prepare)(const void* context, const double* q, double* shared);

    bool constant_mass;                                     // M does not depend on q
    void (*mass)(const LashLagrangianPoint* at, double* M); // (n x n), symmetric
    void (*mass_tangent)(const LashLagrangianPoint* at, const double* a,
                         double* dMa); // (n x n) d(M a)/dq. NULL: central differences
    void (*force)(const LashLagrangianPoint* at, const double* v, double* F); // (n)
    void (*force_tangents)(const LashLagrangianPoint* at, const double* v, double* dFdv,
                           double* dFdq);               // (n x n) each. NULL: central differences
    double (*potential)(const LashLagrangianPoint* at); // NULL: 0
    void (*conservative)(const LashLagrangianPoint* at,
                         double* F); // (n) its force; NULL: not given
    LashPower (*power)(const LashLagrangianPoint* at, const double* v); // NULL: none

    const LashLagrangianContact* contact; // copied; in any order
    int contacts;
    double length;    // characteristic length [m]
    bool unit_metric; // projections with N = I, as in the papers' runs
} LashLagrangianDef;

LashLagrangianDef lash_lagrangian_def(void);
LashLagrangian* lash_lagrangian_create(const LashLagrangianDef* def); // caller owns

// ---- Linear: M dv/dt + C v + K q = load + load_of_time(t), banded -------------------------------

enum { LASH_MAX_ENTRIES = 8 }; // coordinates in one row of a linear interaction

typedef struct LashLinearRow { // g = g0 + sum of coefficient[i] q[dof[i]]
    double g0;                 // [m]; 0 in tangential rows
    int entries;
    int dof[LASH_MAX_ENTRIES];
    double coefficient[LASH_MAX_ENTRIES];
} LashLinearRow;

typedef struct LashLinearContact {
    LashInteractionKind kind;
    int rows;
    double e, mu;
    const char* name; // copied
    LashLinearRow row[3];
} LashLinearContact;

typedef struct LashLinearDef {
    int n;         // coordinates
    int bandwidth; // w: entries with |row - column| > w are zero
    // Bands, copied: entry (i, j) stands at [i (2 w + 1) + j - i + w]. C and K may be NULL. K must
    // be symmetric: it has a potential.
    const double *M, *C, *K;
    const double* load;    // (n) constant, part of the potential; NULL: 0
    const double *q0, *v0; // (n) NULL: zeros
    void (*load_of_time)(const void* context, double t,
                         double* load); // (n) arrives zeroed; external work. NULL: none
    const void* context;                // copied
    size_t context_bytes;
    const LashLinearContact* contact; // copied
    int contacts;
    int block; // velocities per block, >= bandwidth; 0: chosen here
    double length;
    bool unit_metric;
} LashLinearDef;

LashLinearDef lash_linear_def(void);
LashLagrangian* lash_linear_create(const LashLinearDef* def); // caller owns

#ifdef __cplusplus
}
#endif
#endif
