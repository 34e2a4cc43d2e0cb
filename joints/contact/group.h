// Groups: contact between all parts of a set, or of two sets, found by search.
//
// A group is one contact of the mechanism with any number of points. Its members are shapes on
// bodies; which of them can touch in a step is asked of their boxes, so that memory and time follow
// the pairs that are near. Each near pair is a pair contact (pair_contact.h) while it is near.
#ifndef LASH_JOINTS_GROUP_H
#define LASH_JOINTS_GROUP_H

#include "joints/contact/pair_contact.h"

typedef struct GroupMember {
    int body;          // 0: the ground
    int shape;         // in Group.shape
    int owner;         // number of its part, as the maker of the group counts
    int material;      // row and column of the laws
    unsigned sides;    // bits 1 and 2: the sets it belongs to; a pair has one of each
    Pose body_shape;   // where the shape stands in its body
    double reach;      // farthest point of it from the body's origin [m]
    Vec3 middle, half; // of its box, in the shape's frame [m]
} GroupMember;

typedef struct Group {
    int contact; // number of the contact that it is
    GroupMember* member;
    int members;
    const LashShape** shape; // all different, borrowed
    int shapes;
    double *e, *mu; // (materials x materials) laws of two materials
    int materials;
    uint64_t* apart; // (aparts) pairs of owners that do not meet here, ascending
    int aparts;
    int first_surfaces; // number of the surfaces of members 0 and 0
} Group;

// Two members that are near, in a run.
typedef struct NearPair {
    PairContact contact;
    PairState state;
} NearPair;

typedef struct MemberBox {
    double low[3], high[3]; // world, with the motion promised [m]
} MemberBox;

struct GroupRun {
    LashPair** table; // (shapes x shapes) made when two such shapes come near each other
    NearPair** pair;  // (count) ascending in their members
    int count, capacity;
    // Of a search.
    MemberBox* box;  // (members)
    int* order;      // (members) ascending along the axis of the sweep
    uint64_t* found; // (found_count) members i << 32 | j of boxes that meet
    int found_count, found_capacity;
    NearPair** before; // (capacity) pairs of the last search
};

typedef struct PairReach { // bodies of a pair and how far its surfaces reach from their origins [m]
    int a, b;
    double radius_a, radius_b;
} PairReach;

void group_make(LashMechanism* mech, const LashGroupDef* def); // of the contact added next
void group_free(Group* group);
void groups_start(const LashMechanism* mech, PairRun* run);
void groups_finish(const LashMechanism* mech, PairRun* run);
void groups_archive(const LashMechanism* mech, PairRun* run, LashArchive* archive);
void groups_add_sizes(const LashMechanism* mech, PairSizes* sizes);
// Brings the near pairs up to date: those whose boxes, moved as promised from q, meet.
void group_search(const LashMechanism* mech, int number, GroupRun* run, const BodyPromise* body,
                  const double* q);

PairReach group_reach(const LashMechanism* mech, int surfaces);

// Ids of points: group, members, features of both and slot in one number.
bool group_id_is(uint64_t id);
int group_id_group(uint64_t id);
uint64_t group_id(const PairContact* pair, uint64_t slot);
void group_id_bodies(const LashMechanism* mech, uint64_t id, int* a, int* b); // 0: ground

// From scratch at q, for messages and checks: as the functions of mechanism.h. Allocate.
LashContactPlace group_place(const LashMechanism* mech, int contact, const double* q);
int group_points(const LashMechanism* mech, int contact, const double* q, double within,
                 LashContactPlace* places, int capacity, int* beyond);
LashContactPlace group_interference(const LashMechanism* mech, int contact, const double* q);

#endif
