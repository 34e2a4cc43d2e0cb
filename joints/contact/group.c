// The search for pairs that are near, by sort and sweep.
//
// Every member has a box along the world axes: that of its shape, turned, and grown by what its
// points may move in the step,
//
//     half' = |R| half + translation + rotation (distance of its farthest point from the body)
//
// so that members whose boxes do not meet cannot touch in the step. Boxes are sorted along the axis
// in which the members lie farthest apart (ties: by number) and swept: a box is compared with those
// behind it that begin before it ends. The answer depends on the poses and promises alone, not on
// the steps before, and comes in ascending order of the members.
//
// A pair that is near keeps its bounds and warm starts while it stays near.
#include "joints/contact/group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "joints/mechanism_internal.h"

enum {
    GROUP_BITS = 7,
    MEMBER_BITS = 14,
    FEATURE_BITS = 10, // index of a face, edge or vertex
    SIDE_BITS = FEATURE_BITS + 2,
    SLOT_BITS = 4,
    FIRST_ROOM = 4 // slots of a new near pair
};
static const uint64_t GROUP_ID = (uint64_t)1 << 63;

// ---- ids ----------------------------------------------------------------------------------------

bool group_id_is(uint64_t id) {
    return id >= GROUP_ID;
}

static int id_part(uint64_t id, int shift, int bits) {
    return (int)(id >> shift & (((uint64_t)1 << bits) - 1));
}

int group_id_group(uint64_t id) {
    return id_part(id, 2 * MEMBER_BITS + 2 * SIDE_BITS + SLOT_BITS, GROUP_BITS);
}

// Kind (2 bits) and index of a feature, from 28 bits to 12.
static uint64_t short_code(uint64_t code) {
    uint64_t kind = code >> 26 & 3, index = code & (((uint64_t)1 << 26) - 1);
    LASH_ASSERT(index < (uint64_t)1 << FEATURE_BITS);
    return kind << FEATURE_BITS | index;
}

uint64_t group_id(const PairContact* pair, uint64_t slot) {
    uint64_t id = (uint64_t)pair->group;
    id = id << MEMBER_BITS | (uint64_t)pair->member[0];
    id = id << MEMBER_BITS | (uint64_t)pair->member[1];
    id = id << SIDE_BITS | short_code(slot >> 34);
    id = id << SIDE_BITS | short_code(slot >> 4 & (((uint64_t)1 << 28) - 1));
    return GROUP_ID | id << SLOT_BITS | (slot & 15);
}

void group_id_bodies(const LashMechanism* mech, uint64_t id, int* a, int* b) {
    const Group* group = &mech->group[group_id_group(id)];
    int shift = 2 * SIDE_BITS + SLOT_BITS;
    *a = group->member[id_part(id, shift + MEMBER_BITS, MEMBER_BITS)].body;
    *b = group->member[id_part(id, shift, MEMBER_BITS)].body;
}

// ---- building -----------------------------------------------------------------------------------

LashGroupDef lash_group_def(void) {
    return (LashGroupDef){0};
}

bool lash_group_can_have(const LashShape* shape) {
    int most = 1 << FEATURE_BITS;
    return shape->faces < most && shape->edges < most && shape->vertices < most;
}

int lash_group_max_members(void) {
    return 1 << MEMBER_BITS;
}
int lash_group_max_groups(void) {
    return 1 << GROUP_BITS;
}

static uint64_t owners_key(int a, int b) {
    int low = a < b ? a : b, high = a < b ? b : a;
    return (uint64_t)low << 32 | (uint32_t)high;
}

static int compare_keys(const void* a, const void* b) {
    uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

static int shape_number(Group* group, const LashShape* shape) {
    for (int i = group->shapes - 1; i >= 0; --i) {
        if (group->shape[i] == shape) return i;
    }
    group->shape = lash_grow(group->shape, group->shapes, sizeof *group->shape);
    group->shape[group->shapes] = shape;
    return group->shapes++;
}

// Box of all that the shape has.
static LashBox shape_box(const LashShape* shape) {
    LashBox box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < shape->faces + shape->edges; ++i) {
        const LashBox* own =
            i < shape->faces ? &shape->face[i].box : &shape->edge[i - shape->faces].box;
        box.low = vec3(fmin(box.low.x, own->low.x), fmin(box.low.y, own->low.y),
                       fmin(box.low.z, own->low.z));
        box.high = vec3(fmax(box.high.x, own->high.x), fmax(box.high.y, own->high.y),
                        fmax(box.high.z, own->high.z));
    }
    return box;
}

static GroupMember make_member(const LashMechanism* mech, Group* group,
                               const LashGroupMember* def) {
    LASH_ASSERT(def->body.index1 > 0 && def->body.index1 <= mech->bodies);
    LASH_ASSERT(def->shape != NULL && lash_group_can_have(def->shape));
    LashBox box = shape_box(def->shape);
    GroupMember member = {.body = def->body.index1 - 1,
                          .shape = shape_number(group, def->shape),
                          .owner = def->owner,
                          .material = def->material,
                          .sides = def->sides,
                          .body_shape = def->body_shape,
                          .middle = vec3_scale(0.5, vec3_add(box.low, box.high)),
                          .half = vec3_scale(0.5, vec3_sub(box.high, box.low))};
    LASH_ASSERT(member.material >= 0 && member.material < group->materials);
    for (int c = 0; c < 8; ++c) {
        Vec3 corner = vec3(c & 1 ? box.low.x : box.high.x, c & 2 ? box.low.y : box.high.y,
                           c & 4 ? box.low.z : box.high.z);
        member.reach = fmax(member.reach, vec3_norm(pose_point(member.body_shape, corner)));
    }
    return member;
}

static double* copy_laws(const double* law, int count) {
    double* copy = lash_alloc((size_t)count * sizeof *copy);
    memcpy(copy, law, (size_t)count * sizeof *copy);
    return copy;
}

void group_make(LashMechanism* mech, const LashGroupDef* def) {
    LASH_ASSERT(def->members > 0 && def->members <= lash_group_max_members());
    LASH_ASSERT(mech->groups < lash_group_max_groups() && def->materials > 0);
    int last = mech->groups, surfaces = 0;
    mech->group = lash_grow(mech->group, mech->groups, sizeof *mech->group);
    if (last > 0) {
        const Group* before = &mech->group[last - 1];
        surfaces = before->first_surfaces + before->members * before->members;
    }
    LASH_ASSERT(surfaces >= 0 && surfaces < INT32_MAX / 2);
    Group* group = &mech->group[mech->groups++];
    *group = (Group){.contact = mech->contacts,
                     .members = def->members,
                     .materials = def->materials,
                     .e = copy_laws(def->e, def->materials * def->materials),
                     .mu = copy_laws(def->mu, def->materials * def->materials),
                     .aparts = def->aparts,
                     .first_surfaces = surfaces};
    group->member = lash_alloc((size_t)def->members * sizeof *group->member);
    for (int i = 0; i < def->members; ++i)
        group->member[i] = make_member(mech, group, &def->member[i]);
    group->apart = lash_alloc((size_t)def->aparts * sizeof *group->apart + 1);
    for (int i = 0; i < def->aparts; ++i)
        group->apart[i] = owners_key(def->apart[i][0], def->apart[i][1]);
    qsort(group->apart, (size_t)group->aparts, sizeof *group->apart, compare_keys);
}

void group_free(Group* group) {
    lash_free(group->member);
    lash_free(group->shape);
    lash_free(group->e);
    lash_free(group->mu);
    lash_free(group->apart);
}

// May the two meet in this group?
static bool may_meet(const Group* group, const GroupMember* a, const GroupMember* b) {
    bool across = (a->sides & 1 && b->sides & 2) || (a->sides & 2 && b->sides & 1);
    if (!across || a->body == b->body || a->owner == b->owner) return false;
    uint64_t key = owners_key(a->owner, b->owner);
    return bsearch(&key, group->apart, (size_t)group->aparts, sizeof key, compare_keys) == NULL;
}

// First capacities: of a pile each part has some neighbours. A list may grow beyond.
void groups_add_sizes(const LashMechanism* mech, PairSizes* sizes) {
    enum { NEIGHBOURS = 4, POINTS = 2, MORE = 64 };
    for (int g = 0; g < mech->groups; ++g) {
        const Group* group = &mech->group[g];
        int moving = 0;
        for (int i = 0; i < group->members; ++i) moving += group->member[i].body > 0;
        int listed = NEIGHBOURS * POINTS * moving + MORE;
        sizes->interactions += listed;
        sizes->rows += 3 * listed;
        sizes->G += 36 * listed;
    }
}

PairReach group_reach(const LashMechanism* mech, int surfaces) {
    int number = surfaces - mech->pairs - 1, g = 0;
    while (g + 1 < mech->groups && mech->group[g + 1].first_surfaces <= number) ++g;
    const Group* group = &mech->group[g];
    number -= group->first_surfaces;
    const GroupMember *a = &group->member[number / group->members],
                      *b = &group->member[number % group->members];
    return (PairReach){a->body, b->body, a->reach, b->reach};
}

// ---- a run --------------------------------------------------------------------------------------

void groups_start(const LashMechanism* mech, PairRun* run) {
    run->group = lash_alloc((size_t)mech->groups * sizeof *run->group + 1);
    for (int g = 0; g < mech->groups; ++g) {
        const Group* group = &mech->group[g];
        GroupRun* near = &run->group[g];
        near->table = lash_alloc((size_t)(group->shapes * group->shapes) * sizeof *near->table);
        near->box = lash_alloc((size_t)group->members * sizeof *near->box);
        near->order = lash_alloc((size_t)group->members * sizeof *near->order);
    }
}

static void drop(NearPair* pair) {
    pair_state_finish(&pair->state);
    lash_free(pair);
}

static void finish_run(const Group* group, GroupRun* run) {
    for (int k = 0; k < run->count; ++k) drop(run->pair[k]);
    for (int k = 0; k < group->shapes * group->shapes; ++k) lash_pair_destroy(run->table[k]);
    lash_free(run->table);
    lash_free(run->pair);
    lash_free(run->before);
    lash_free(run->box);
    lash_free(run->order);
    lash_free(run->found);
}

void groups_finish(const LashMechanism* mech, PairRun* run) {
    for (int g = 0; g < mech->groups; ++g) finish_run(&mech->group[g], &run->group[g]);
    lash_free(run->group);
}

// ---- the search ---------------------------------------------------------------------------------

// margin: grown by so much on top [m]; body NULL: nothing moves.
static void place_boxes(const Group* group, GroupRun* run, const BodyPromise* body, const double* q,
                        double margin) {
    for (int i = 0; i < group->members; ++i) {
        const GroupMember* member = &group->member[i];
        Pose world = pose_mul(pair_body_pose(q, member->body), member->body_shape);
        Mat3 R = quat_matrix(world.rot);
        Vec3 c = pose_point(world, member->middle);
        const double center[3] = {c.x, c.y, c.z};
        double grown = margin;
        if (body != NULL && member->body > 0) {
            LashMotion motion = body[member->body].motion;
            grown += motion.translation + motion.rotation * member->reach;
        }
        for (int k = 0; k < 3; ++k) {
            double half = fabs(R.m[k]) * member->half.x + fabs(R.m[k + 3]) * member->half.y +
                          fabs(R.m[k + 6]) * member->half.z + grown;
            run->box[i].low[k] = center[k] - half;
            run->box[i].high[k] = center[k] + half;
        }
    }
}

// The axis along which the moving members lie farthest apart, measured by the mean distance from
// their mean.
static int widest_axis(const Group* group, const GroupRun* run) {
    double mean[3] = {0}, spread[3] = {0};
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < group->members; ++i) {
            if (group->member[i].body == 0) continue;
            const MemberBox* box = &run->box[i];
            for (int k = 0; k < 3; ++k) {
                double middle = 0.5 * (box->low[k] + box->high[k]);
                if (pass == 0) mean[k] += middle / group->members;
                if (pass == 1) spread[k] += fabs(middle - mean[k]);
            }
        }
    }
    int axis = spread[1] > spread[0] ? 1 : 0;
    return spread[2] > spread[axis] ? 2 : axis;
}

typedef struct SweepKey {
    double low;
    int member;
} SweepKey;

static int compare_sweep(const void* a, const void* b) {
    const SweepKey *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

static void sort_boxes(const Group* group, GroupRun* run, int axis) {
    SweepKey* key = lash_alloc((size_t)group->members * sizeof *key);
    for (int i = 0; i < group->members; ++i) key[i] = (SweepKey){run->box[i].low[axis], i};
    qsort(key, (size_t)group->members, sizeof *key, compare_sweep);
    for (int i = 0; i < group->members; ++i) run->order[i] = key[i].member;
    lash_free(key);
}

static bool boxes_meet(const MemberBox* a, const MemberBox* b, int axis) {
    int y = (axis + 1) % 3, z = (axis + 2) % 3;
    return a->low[y] <= b->high[y] && b->low[y] <= a->high[y] && a->low[z] <= b->high[z] &&
           b->low[z] <= a->high[z];
}

static void sweep(const Group* group, GroupRun* run, int axis) {
    run->found_count = 0;
    for (int k = 0; k < group->members; ++k) {
        int i = run->order[k];
        const MemberBox* box = &run->box[i];
        for (int l = k + 1; l < group->members; ++l) {
            int j = run->order[l];
            if (run->box[j].low[axis] > box->high[axis]) break;
            if (!boxes_meet(box, &run->box[j], axis)) continue;
            if (!may_meet(group, &group->member[i], &group->member[j])) continue;
            if (run->found_count == run->found_capacity) {
                run->found_capacity = 2 * run->found_capacity + 64;
                run->found =
                    lash_realloc(run->found, (size_t)run->found_capacity * sizeof *run->found);
            }
            run->found[run->found_count++] = owners_key(i, j);
        }
    }
    if (run->found_count > 1)
        qsort(run->found, (size_t)run->found_count, sizeof *run->found, compare_keys);
}

static void find_near(const Group* group, GroupRun* run, const BodyPromise* body, const double* q,
                      double margin) {
    place_boxes(group, run, body, q, margin);
    int axis = widest_axis(group, run);
    sort_boxes(group, run, axis);
    sweep(group, run, axis);
}

// The pair of two members as a contact of its own; side a is the one with the lower number.
static PairContact make_contact(const Group* group, GroupRun* run, int number, uint64_t key) {
    int i = (int)(key >> 32), j = (int)(key & 0xffffffff);
    const GroupMember *a = &group->member[i], *b = &group->member[j];
    LashPair** table = &run->table[a->shape * group->shapes + b->shape];
    if (*table == NULL) {
        LashPairDef def = lash_pair_def();
        def.a.shape = group->shape[a->shape];
        def.b.shape = group->shape[b->shape];
        *table = lash_pair_create(&def);
    }
    int law = a->material * group->materials + b->material;
    LashPairContactDef def = {.pair = *table, .e = group->e[law], .mu = group->mu[law]};
    PairContact contact = pair_contact(&def, group->contact, a->body, b->body);
    contact.group = number;
    contact.member[0] = i;
    contact.member[1] = j;
    contact.a_shape = a->body_shape;
    contact.b_shape = b->body_shape;
    contact.radius_a = a->reach;
    contact.radius_b = b->reach;
    return contact;
}

static uint64_t key_of(const NearPair* pair) {
    return owners_key(pair->contact.member[0], pair->contact.member[1]);
}

static NearPair* new_pair(const LashMechanism* mech, int number, GroupRun* run, uint64_t key) {
    const Group* group = &mech->group[number];
    NearPair* pair = lash_alloc(sizeof *pair);
    pair->contact = make_contact(group, run, number, key);
    pair->contact.surfaces = mech->pairs + 1 + group->first_surfaces +
                             pair->contact.member[0] * group->members + pair->contact.member[1];
    pair_state_start(&pair->state, &pair->contact, FIRST_ROOM);
    return pair;
}

static void reserve_pairs(GroupRun* run, int count) {
    if (count <= run->capacity) return;
    run->capacity = count + count / 2;
    run->before = lash_realloc(run->before, (size_t)run->capacity * sizeof *run->before);
    run->pair = lash_realloc(run->pair, (size_t)run->capacity * sizeof *run->pair);
}

// Reading: one after another, so that what fails on the way can be freed.
static void archive_group(const LashMechanism* mech, int number, GroupRun* run,
                          LashArchive* archive) {
    int count = run->count, members = mech->group[number].members;
    lash_archive_count(archive, &count, INT32_MAX / 4);
    if (lash_archive_reads(archive)) {
        for (int k = 0; k < run->count; ++k) drop(run->pair[k]);
        run->count = 0;
        reserve_pairs(run, count);
    }
    for (int k = 0; k < count && !archive->failed; ++k) {
        uint64_t key = lash_archive_reads(archive) ? 0 : key_of(run->pair[k]);
        lash_archive(archive, &key, sizeof key);
        bool known = (key >> 32) < (uint64_t)members && (uint32_t)key < (uint32_t)members;
        archive->failed = archive->failed || !known;
        if (archive->failed) return;
        if (lash_archive_reads(archive)) run->pair[run->count++] = new_pair(mech, number, run, key);
        pair_state_archive(&run->pair[k]->state, archive);
    }
}

void groups_archive(const LashMechanism* mech, PairRun* run, LashArchive* archive) {
    for (int g = 0; g < mech->groups; ++g) archive_group(mech, g, &run->group[g], archive);
}

void group_search(const LashMechanism* mech, int number, GroupRun* run, const BodyPromise* body,
                  const double* q) {
    const Group* group = &mech->group[number];
    find_near(group, run, body, q, 0);
    int kept = 0, count = run->count;
    reserve_pairs(run, run->found_count);
    NearPair** before = run->pair;
    run->pair = run->before;
    run->before = before;
    run->count = run->found_count;
    for (int k = 0; k < run->found_count; ++k) { // both lists ascend
        uint64_t key = run->found[k];
        for (; kept < count && key_of(before[kept]) < key; ++kept) drop(before[kept]);
        if (kept < count && key_of(before[kept]) == key) {
            run->pair[k] = before[kept++];
            continue;
        }
        run->pair[k] = new_pair(mech, number, run, key);
    }
    for (; kept < count; ++kept) drop(before[kept]);
}

// ---- from scratch -------------------------------------------------------------------------------

// Calls see for every pair of members whose boxes, grown by a margin, meet at q.
typedef struct Look {
    const double* q;
    double within;
    LashContactPlace least; // of all
    LashContactPlace* places;
    int count, capacity, beyond;
} Look;

static int number_of(const LashMechanism* mech, int contact) {
    int g = 0;
    while (mech->group[g].contact != contact) ++g;
    return g;
}

static void look_around(const LashMechanism* mech, int contact, double margin, Look* look,
                        void (*see)(const PairContact* pair, Look* look)) {
    int g = number_of(mech, contact);
    const Group* group = &mech->group[g];
    PairRun run = {0};
    groups_start(mech, &run);
    find_near(group, &run.group[g], NULL, look->q, margin);
    for (int k = 0; k < run.group[g].found_count; ++k) {
        PairContact pair = make_contact(group, &run.group[g], g, run.group[g].found[k]);
        see(&pair, look);
    }
    groups_finish(mech, &run);
}

static void see_points(const PairContact* pair, Look* look) {
    int count, beyond = 0;
    LashContactPoint* point = pair_query(pair, look->q, look->within, &count, &beyond);
    for (int i = 0; i < count; ++i) {
        LashContactPlace place = pair_place_of(&point[i]);
        if (place.gap < look->least.gap) look->least = place;
        if (look->count < look->capacity) look->places[look->count] = place;
        ++look->count;
    }
    look->beyond += beyond;
    lash_free(point);
}

static void see_interference(const PairContact* pair, Look* look) {
    LashContactPlace place = pair_interference(pair, look->q);
    if (place.gap < look->least.gap) look->least = place;
}

// Half the thinnest member: so far apart parts are still looked at for the least gap [m].
static double near_enough(const LashMechanism* mech, int contact) {
    const Group* group = &mech->group[number_of(mech, contact)];
    double least = INFINITY;
    for (int i = 0; i < group->members; ++i) {
        Vec3 half = group->member[i].half;
        least = fmin(least, fmin(half.x, fmin(half.y, half.z)));
    }
    return isfinite(least) ? least : 0;
}

LashContactPlace group_place(const LashMechanism* mech, int contact, const double* q) {
    Look look = {.q = q, .within = INFINITY, .least = {.gap = INFINITY}};
    look_around(mech, contact, near_enough(mech, contact), &look, see_points);
    return look.least;
}

int group_points(const LashMechanism* mech, int contact, const double* q, double within,
                 LashContactPlace* places, int capacity, int* beyond) {
    Look look = {.q = q,
                 .within = within,
                 .least = {.gap = INFINITY},
                 .places = places,
                 .capacity = capacity};
    look_around(mech, contact, fmax(within, 0), &look, see_points);
    if (beyond != NULL) *beyond = look.beyond;
    if (beyond != NULL && look.beyond == 0) *beyond = group_interference(mech, contact, q).gap < 0;
    return look.count;
}

LashContactPlace group_interference(const LashMechanism* mech, int contact, const double* q) {
    Look look = {.q = q, .least = {.gap = INFINITY}};
    look_around(mech, contact, 0, &look, see_interference);
    return look.least;
}
