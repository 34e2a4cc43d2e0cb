// Contacts between simple features of two bodies: gap, normal and point, with exact derivatives.
//
// Side a carries a plane, a cylinder (bore or shaft, endless) or a sphere; side b a sphere (radius
// 0: a point) or the edge circle of a disc. The normal n points from a into b: the gap grows when b
// moves along n. The contact point is the middle of the closest points.
#ifndef LASH_JOINTS_CONTACT_H
#define LASH_JOINTS_CONTACT_H

#include "joints/joint.h"

typedef struct Contact {
    LashContactDef def; // name owned
    int a, b;           // bodies: 0 is the ground
    Vec3 a_axis;        // z of the feature of a, body coordinates: plane normal, cylinder axis
    Vec3 b_axis;        // axis of the disc, body coordinates
    int interaction;    // in the list, -1: none of its own
    int pair;           // between face sets: number of its PairContact, -1: none
} Contact;

typedef struct ContactState {
    double gap;
    Vec3 n, point;          // world
    Vec3 origin, axis;      // feature of a, world
    Vec3 center, disc_axis; // feature of b, world
} ContactState;

void contact_state(const Contact* contact, const BodyState* body, ContactState* s);
// Columns n, t1, t2 of G (6 x rows) per side; NULL where that side is the ground.
void contact_directions(const Contact* contact, const BodyState* body, const ContactState* s,
                        int rows, double* Ga, double* Gb);
// d(G P)/dq (n x n) and d(G'v)/dq (rows x n), n = 6 per moving side, a first; either may be NULL; v
// over these sides.
void contact_contract(const Contact* contact, const BodyState* body, int rows, const double* P,
                      const double* v, double* dGP, double* dGv);

#endif
