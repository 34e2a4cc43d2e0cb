// Contacts between simple features of two bodies: gap, normal and point, with exact derivatives.
//
// Side a carries a plane, a cylinder (bore or shaft) or a sphere; side b a sphere (radius 0: a
// point) or the edge circle of a disc. The normal n points from a into b: the gap grows when b
// moves along n. The contact point is the middle of the closest points; impulses act there, or on
// each body at its own closest point (LashLevers). Tangents go with the
// surface of a, smoothly: along x and y of a plane, around and along a cylinder.
#ifndef LASH_JOINTS_CONTACT_H
#define LASH_JOINTS_CONTACT_H

#include "joints/contact/contraction.h"

static const double CONTACT_POLE = 1e-12; // 1 + n.z of a sphere's lower pole at least, for tangents

typedef struct Contact {
    LashContactDef def; // name owned
    int a, b;           // bodies: 0 is the ground
    Vec3 a_axis;        // z of the feature of a, body coordinates: plane normal, cylinder axis
    double a_level;     // height of the origin of the feature of a along its axis [m]
    Vec3 b_axis;        // axis of the disc, body coordinates
    Mat3 a_axes;        // axes of the frame of a, body coordinates
    Vec3 b_x, b_y;      // in the plane of the disc, body coordinates
    int view;           // number of its ContactView
    int interaction;    // in the list, -1: none of its own
    int pair;           // between face sets: number of its PairContact; or one of ContactOf
    int rim;            // edge circle that can lie flat: number of its Rim (rim.h); -1: none
} Contact;
enum ContactOf { CONTACT_OF_FEATURES = -1, CONTACT_OF_GROUP = -2 };

// Body b seen from body a: one for all contacts between the two.
typedef struct ContactView {
    const BodyState *a, *b; // a NULL: the ground
    Mat3 Q;                 // R_a' R_b
    Vec3 d;                 // R_a'(x_b - x_a) [m]
} ContactView;
void contact_view(const BodyState* a, const BodyState* b, ContactView* view);

// In the axes of body a, from its mass center.
typedef struct ContactState {
    double gap;
    Vec3 center, disc_axis; // feature of b
    Vec3 n, point;
    Vec3 rim;    // circle and cylinder: touching point of the circle
    double held; // 1: a disc's point is a material one, the center (rim.h); else 0
} ContactState;

// contact_gap sets all but the point; contact_point then that.
void contact_gap(const Contact* contact, const ContactView* view, ContactState* state);
void contact_point(const Contact* contact, ContactState* state);
// Gap, contact point and normal, world.
LashContactPlace contact_place(const Contact* contact, const ContactView* view);
// Columns n, t1, t2 of G (6 x rows) per side; NULL where that side is the ground.
void contact_directions(const Contact* contact, const ContactView* view, const ContactState* state,
                        int rows, LashLevers levers, double* Ga, double* Gb);
// d(G P)/dq (n x n) and d(G'v)/dq (rows x n), n = 6 per moving side, a first; either may be NULL; v
// over these sides. s: with the point.
void contact_contract(const Contact* contact, const BodyState* body, const ContactView* view,
                      const ContactState* state, int rows, LashLevers levers, const double* P,
                      const double* v, double* dGP, double* dGv);

// Edge circle of b in, or around, a cylinder of a (contact_circle.c): its part of contact_gap, the
// point included, and its rates.
static inline bool contact_is_circle_in_cylinder(const Contact* contact) {
    return contact->def.a_type == LASH_FEATURE_CYLINDER && contact->def.b_type == LASH_FEATURE_DISC;
}
void circle_gap(const Contact* contact, const ContactView* view, ContactState* state);
// The same for all circles among the contacts at once.
typedef struct Circles Circles;
Circles* circles_create(const Contact* contact, int contacts);
void circles_destroy(Circles* circles);
void circles_find(Circles* circles, const Contact* contact, const ContactView* view,
                  ContactState* state);

// A contact's features and state, world.
typedef struct ContactWorld {
    double gap;
    bool held; // as of ContactState
    Vec3 n, axis;
    Vec3 origin, center, disc_axis; // but circle and cylinder
    // Circle and cylinder: the touching point, its derivative by the angle on the circle, that
    // along the axis; denominator of d(angle); distance from the axis, negative against n.
    Vec3 rim, along;
    double lift, slope, out;
} ContactWorld;
// Sets lift, slope and out; returns the derivative of the rim in the axes of a.
Vec3 circle_turning(const Contact* contact, const ContactView* view, const ContactState* state,
                    ContactWorld* world);
void circle_rates(const ContactWorld* world, const Contraction* contraction, const double* P,
                  ContractionRates* rates);
// The normal on a cylinder turns about its axis by v . (velocity) + phi . (turn): dn = around times
// that, dt1 = -n times that. Sets f_v, f_phi (P not NULL), w_v and w_phi.
void contact_add_turn(const Contraction* contraction, const double* P, Vec3 around, Vec3 v,
                      Vec3 phi, ContractionRates* rates);

#endif
