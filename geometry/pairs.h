// Contact between two sets of faces on two moving bodies.
//
// A LashPair is the description: the features of both sides and every combination of them that can
// touch. It is const and shared by all runs and threads. A LashPairWork is the private memory of
// one run: proven lower bounds on the gaps, warm starts, the slots of the current time step.
// Nothing here allocates after creation; equal sequences of calls give equal bits.
//
// Two ways to use it:
//   query     all contact points with gap <= activation at the given poses;
//   collect   lists the slots (feature pair and number of the point) that could have a gap <=
//             activation while both bodies keep a promise about their motion; then
//   evaluate  gives the gap, and on request everything else, of exactly those slots, at any poses
//             within the promise; it returns false outside it. An empty slot has gap INFINITY, and
//             so has one that is too far to touch within the promise.
//
// Far pairs cost one compare. After query or collect, lash_pair_bound is a proven lower bound on
// all gaps of the pair at those poses. Keep one LashTravel per body and, per pair, the sum of both
// travels at which the bound is used up:
//     if (travel[i].sum + travel[j].sum < until[k]) continue;            // cannot touch
//     n = lash_pair_query(...);
//     until[k] = travel[i].sum + travel[j].sum + lash_pair_bound(work) - activation;
//
// LASH_QUERY_OCCT answers the same calls with BRepExtrema: about 10^3 to 10^4 times slower; one
// point per pair, the nearest, without curvature; the distance is unsigned. Where the faces meet
// the gap is 0 along the last separated normal and lash_pair_beyond_reach is 1; how deep they are
// is not known, and faces that have passed through each other look separated again. The lower
// bound is that of the boxes.
#ifndef LASH_GEOMETRY_PAIRS_H
#define LASH_GEOMETRY_PAIRS_H

#include "core/archive.h"
#include "geometry/contact_point.h"
#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashPair LashPair;
typedef struct LashPairWork LashPairWork;

typedef struct LashPairSide {
    const LashShape* shape; // borrowed
    const int* faces;       // (face_count) copied; their convex edges and vertices come along
    int face_count;         // 0 and edge_count 0: all of the shape
    const int* edges;       // (edge_count) lone edges, copied
    int edge_count;
    const LashShape* solid; // loose faces: what they lie on, in the same frame, or NULL; looked at
                            // by lash_pair_create only
    LashPose body_shape;    // the shape's frame in the body's frame
    const char* path;       // LASH_QUERY_OCCT: the shape's STEP file, copied; else not looked at
    LashImport import;      // and how it was read
} LashPairSide;

// Who answers.
typedef enum LashQuery {
    LASH_QUERY_EXACT, // the kernels
    LASH_QUERY_OCCT   // BRepExtrema, in a helper process per work, for comparison
} LashQuery;

typedef struct LashPairDef {
    LashPairSide a, b;
    double offset; // added to every gap: > 0 more play, < 0 less [m]
    LashQuery query;
} LashPairDef;

LashPairDef lash_pair_def(void); // identity placements, no offset, exact
// False, with a message, when a definition from user input cannot be answered by its query: occt
// without STEP files or with lone edges, the helper missing or unable to load them (it is tried).
bool lash_pair_check(const LashPairDef* def, LashError* error);
LashPair* lash_pair_create(const LashPairDef* def);
LashPair* lash_pair_share(LashPair* pair);        // the same one, with one more owner
void lash_pair_destroy(LashPair* pair);           // its last owner frees it; NULL is allowed
int lash_pair_combinations(const LashPair* pair); // feature pairs that can touch
bool lash_pair_searches(const LashPair* pair);    // it has free ones: a query from scratch costs
int lash_pair_max_slots(const LashPair* pair);    // most slots collect can return
double lash_pair_radius_a(const LashPair* pair);  // farthest feature point from body a's origin [m]
double lash_pair_radius_b(const LashPair* pair);

LashPairWork* lash_pair_work_create(const LashPair* pair);
void lash_pair_work_destroy(LashPairWork* work);
void lash_pair_work_reset(LashPairWork* work); // forgets bounds and warm starts
// All that it remembers: read back into the work of the same pair, the next calls give the same bits.
void lash_pair_work_archive(LashPairWork* work, LashArchive* archive);

// All contact points with gap <= activation, ordered by feature pair; returns how many there are
// (more than capacity: the first capacity are written). Poses are those of the bodies. Ends the
// step of the last collect.
int lash_pair_query(const LashPair* pair, LashPairWork* work, LashPose world_a, LashPose world_b,
                    double activation, LashContactPoint* points, int capacity);
double lash_pair_bound(const LashPairWork* work);
// Points found deeper than the reach of their features in the last query or evaluate: their gaps
// are not reported, they would be a guess. 0 in a sound simulation.
int lash_pair_beyond_reach(const LashPairWork* work);

// A promise: the body's origin moves by at most `translation` [m], its axes turn by at most
// `rotation` [rad] from the poses given to collect.
typedef struct LashMotion {
    double translation, rotation;
} LashMotion;
bool lash_motion_within(const LashPose* from, const LashPose* to,
                        LashMotion motion); // kept, but rounding

int lash_pair_collect(const LashPair* pair, LashPairWork* work, LashPose world_a, LashPose world_b,
                      LashMotion motion_a, LashMotion motion_b, double activation);
// (slots) ids of the collected slots, valid until the next collect.
const uint64_t* lash_pair_slots(const LashPairWork* work);
// gap: (slots). points: (slots) or NULL for gaps only; wanted: (slots) or NULL for all, limits
// points.
bool lash_pair_evaluate(const LashPair* pair, LashPairWork* work, LashPose world_a,
                        LashPose world_b, double* gap, const uint8_t* wanted,
                        LashContactPoint* points);

// The same within the promise, which it does not check, but the points' second order is left until
// it is asked for: what it is computed from is kept in `roots`, of this evaluation.
typedef struct LashPairRoots LashPairRoots;
LashPairRoots* lash_pair_roots_create(int slots);
void lash_pair_roots_destroy(LashPairRoots* roots);
bool lash_pair_evaluate_roots(const LashPair* pair, LashPairWork* work, LashPose world_a,
                              LashPose world_b, double* gap, const uint8_t* wanted,
                              LashContactPoint* points, LashPairRoots* roots);
// Sets a and b of the point of a slot.
void lash_pair_second_order(const LashPair* pair, const LashPairRoots* roots, int slot,
                            LashContactPoint* point);

// Of points that were all evaluated: is this one the lowest of a ring that lies almost flat on a
// plane, beside three fixed points of it in the next slots? It runs round the ring at the slightest
// tilt.
bool lash_pair_runs_round(const LashPairRoots* roots, const double* gap, int slots, int slot);

// LASH_QUERY_OCCT: status other than LASH_OK when the helper gave no answer to the last query
// (which then returned 0) or evaluate (false). Always LASH_OK with LASH_QUERY_EXACT.
const LashError* lash_pair_error(const LashPairWork* work);

// Path length of a body that bounds the motion of every point within radius of its origin.
typedef struct LashTravel {
    LashPose last;
    double radius, sum; // [m]
} LashTravel;
void lash_travel_start(LashTravel* travel, LashPose world_body, double radius);
void lash_travel_move(LashTravel* travel, LashPose world_body);

#ifdef __cplusplus
}
#endif
#endif
