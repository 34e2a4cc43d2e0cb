// Second derivatives of a contact point: from how it wanders and turns to d(G P)/dq and d(G'v)/dq.
#ifndef LASH_JOINTS_CONTRACTION_H
#define LASH_JOINTS_CONTRACTION_H

#include "joints/joint.h"

// A contact between two bodies with the impulse and the velocities it is contracted with. World
// axes.
typedef struct Contraction {
    const BodyState *a, *b;
    bool has_a, has_b; // the side is not the ground
    int rows;          // 1 or 3
    Vec3 point, t[3];  // where it acts; its directions, from a into b
    bool own_points;   // it acts on b at point + half, on a at point - half; both at the point
    Vec3 half;         // half the gap along the normal, or zero
    Vec3 f;            // impulse on b: sum P_r t_r
    Vec3 omega_a, omega_b;
    Vec3 w; // velocity of b's point against a's
} Contraction;

// Its first-order changes. For a small motion, with phi_a of body a, phi of b against a and v of
// b's material against a's at x_0:
//   df = f_turn phi_a + f_v v + f_phi phi,     w.dt_r = w_turn[r].phi_a + w_v[r].v + w_phi[r].phi,
//   dpoint = p_v v + p_phi phi + (what the material of a does there)
//   dhalf = e_v v + e_phi phi + phi_a x half      (own points; zero otherwise)
typedef struct ContractionRates {
    Vec3 x_0;
    Mat3 f_turn, f_v, f_phi, p_v, p_phi, e_v, e_phi;
    Vec3 w_turn[3], w_v[3], w_phi[3];
} ContractionRates;

// Columns of G (6 x rows) on a side: sign (t, R'((point - x) x t)); sign: b 1, a -1.
void contraction_directions(const BodyState* body, Vec3 point, double sign, int rows, const Vec3* t,
                            double* G);
// Sets f from P (rows) and the velocities from v (6 per moving side, a first), the other fields
// being set; NULL: not asked for.
void contraction_prepare(Contraction* contraction, const double* P, const double* v);
// Rates of a contact whose directions turn with a: f_turn, w_turn; the others zero but p_v = I.
void contraction_start(const Contraction* contraction, ContractionRates* rates);
// d(G P)/dq (n x n) and d(G'v)/dq (rows x n), n = 6 per moving side, a first.
void contraction_impulse(const Contraction* contraction, const ContractionRates* rates,
                         double* dGP);
void contraction_velocity(const Contraction* contraction, const ContractionRates* rates,
                          double* dGv);

#endif
