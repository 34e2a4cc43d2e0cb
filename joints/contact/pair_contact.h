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
    double radius_a;    // about the body's origin [m]
    double radius_b;
    int surfaces; // its number in the list of interactions
    // Of a group (group.h): the shapes of two members, which stand in their bodies somewhere.
    int group; // -1: declared, the shapes' places are in `pair`
    int member[2];
    Pose a_shape, b_shape;
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
    const PairContact* contact;
    LashPairWork* work;
    int room;            // slots that the arrays below have
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

typedef struct GroupRun GroupRun;
typedef struct PairRun {
    PairState* state; // (pairs)
    GroupRun* group;  // (groups) pairs of bodies that are near
    PairState** live; // (lives) those with interactions in the list, in its order
    int lives, live_capacity;
    BodyPromise* body;     // (bodies)
    LashInteraction* item; // the list: fixed interactions, then those of the pairs
    int capacity;          // of it
} PairRun;

PairContact pair_contact(const LashPairContactDef* def, int contact, int a, int b);
// Largest number of interactions, rows and numbers in G of all pairs; of groups a first guess.
typedef struct PairSizes {
    int interactions, rows, G;
} PairSizes;
PairSizes pair_sizes(const LashMechanism* mech);

void pairs_start(const LashMechanism* mech, LashSystemWork* work);
void pairs_finish(const LashMechanism* mech, LashSystemWork* work);
// What a run remembers of them and the list of its last step; places of points are not in it.
void pairs_archive(const LashMechanism* mech, LashSystemWork* work, LashArchive* archive);
void pairs_collect(const LashMechanism* mech, LashSystemWork* work, const double* q,
                   const double* v, double h, double factor);
bool pairs_evaluate(const LashMechanism* mech, LashSystemWork* work, const double* q,
                    const uint8_t* wanted, double* g, double* g_t, double* G);
void pairs_contract(const LashMechanism* mech, LashSystemWork* work, const double* q, int i,
                    const double* P, const double* v, double* dGP, double* dGv);
double pairs_surface_motion(const LashMechanism* mech, int surfaces, const double* d);
void pairs_accept(const LashMechanism* mech, LashSystemWork* work);

// What a run remembers of a pair, with room for so many slots; borrows the contact.
void pair_state_start(PairState* state, const PairContact* pair, int room);
void pair_state_finish(PairState* state);
void pair_state_archive(PairState* state, LashArchive* archive);

static inline Pose pair_body_pose(const double* q, int body) {
    if (body == 0) return pose_identity();
    const double* r = q + 7 * (body - 1);
    return pose(vec3(r[0], r[1], r[2]), quat(r[3], r[4], r[5], r[6]));
}

// At q, from scratch: the point of least gap (gap INFINITY: none); all points with a gap of at most
// `within`, which the caller frees; places in each other deeper than any point tells.
LashContactPlace pair_least(const PairContact* pair, const double* q);
LashContactPoint* pair_query(const PairContact* pair, const double* q, double within, int* count,
                             int* beyond);
LashContactPlace pair_interference(const PairContact* pair, const double* q);
LashContactPlace pair_place_of(const LashContactPoint* point);

// Ids: contact number, features of both sides and slot in one number.
bool pair_id_is(uint64_t id);
int pair_id_contact(const LashMechanism* mech, uint64_t id);

#endif
