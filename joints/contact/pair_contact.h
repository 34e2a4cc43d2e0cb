// Contacts between sets of CAD faces: the pair manager of geometry/pairs.h inside a mechanism.
//
// One contact of the mechanism (a name, e, mu) with as many points as the surfaces have places
// where they can touch; each point is an interaction of its own. collect lists them, evaluate and
// contract as in LashSystem. The pair's normal goes from b into a; here, as in contact.h, it is
// turned round: from a into b.
#ifndef LASH_JOINTS_PAIR_CONTACT_H
#define LASH_JOINTS_PAIR_CONTACT_H

#include "geometry/pairs.h"
#include "joints/joint.h"

typedef struct PairContact {
    LashPair* pair; // owned
    int contact;    // number of the contact it belongs to
    int a, b;       // bodies: 0 is the ground
    double e, mu;
    bool unsigned_gaps; // LASH_QUERY_OCCT: penetration is not known
    int slots;          // most that can be listed at once
    double size;        // smaller of the two sides' radii about their bodies [m]
    double radius_a;    // about the body's origin [m]
    double radius_b;
} PairContact;

enum PointHas { HAS_NOTHING, HAS_PLACE, HAS_ALL }; // a place: no second order yet

// Points of a pair at one configuration.
typedef struct PairPoints {
    bool filled;
    Pose world_a, world_b;
    LashContactPoint* point; // (slots) where has is set
    uint8_t* has;            // (slots) PointHas
    LashPairRoots* roots;    // of the points without second order
} PairPoints;

// Where a slot was last found in a time step, the bodies there: a point of a and a plane of b.
typedef struct PairKept {
    bool found;
    Pose world_a, world_b;
    Vec3 point_a, point_b, normal; // world, the normal into a
    double gap;                    // [m]
} PairKept;

// What a run remembers of one pair.
typedef struct PairState {
    LashPairWork* work;
    int first, slots;    // its interactions in the list
    int beyond;          // points below the reach, last evaluation
    int beyond_before;   // the same when the last step was accepted
    bool overflow;       // more slots than the list has room for
    double until;        // sum of both bodies' travel before which it cannot touch [m]
    double* gap;         // (slots) scratch
    int8_t* axis;        // (slots) world axis the first tangent is near to; -1: not chosen yet
    PairKept* kept;      // (slots)
    PairPoints cache[2]; // of the last two configurations
    int latest;          // the newer one
} PairState;

// The motion that collect promised for a body.
typedef struct BodyPromise {
    bool matters; // it has pairs
    LashTravel travel;
    Pose start;
    LashMotion motion;
} BodyPromise;

typedef struct PairRun {
    PairState* state;      // (pairs)
    BodyPromise* body;     // (bodies)
    LashInteraction* item; // the list: fixed interactions, then those of the pairs
} PairRun;

PairContact pair_contact(const LashPairContactDef* def, int contact, int a, int b);
// Largest number of interactions, rows and numbers in G of all pairs, and how many can act at once.
typedef struct PairSizes {
    int interactions, rows, G, active, active_rows;
} PairSizes;
PairSizes pair_sizes(const LashMechanism* mech);

void pairs_start(const LashMechanism* mech, LashSystemWork* work);
void pairs_finish(const LashMechanism* mech, LashSystemWork* work);
void pairs_collect(const LashMechanism* mech, LashSystemWork* work, const double* q,
                   const double* v, double h, double factor);
bool pairs_evaluate(const LashMechanism* mech, LashSystemWork* work, const double* q,
                    const uint8_t* wanted, double* g, double* g_t, double* G);
void pairs_contract(const LashMechanism* mech, LashSystemWork* work, const double* q, int i,
                    const double* P, const double* v, double* dGP, double* dGv);
double pairs_surface_motion(const LashMechanism* mech, int pair, const double* d);
void pairs_accept(const LashMechanism* mech, LashSystemWork* work);

// Point of least gap at q; gap INFINITY: none. Allocates.
LashContactPlace pair_place(const LashMechanism* mech, int pair, const double* q);

// Ids: contact number, features of both sides and slot in one number.
bool pair_id_is(uint64_t id);
int pair_id_contact(uint64_t id);

#endif
