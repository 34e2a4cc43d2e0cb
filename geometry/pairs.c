// The pair manager: which feature pairs can touch now, found without missing any.
//
// Each combination k of features carries E_k: the accumulated relative motion (travel) at which its
// proven distance bound is used up. While E_k - travel > limit it cannot have a gap below the
// limit: one compare. E is also kept as minima over blocks of 32 combinations and over the whole
// pair. When a bound is used up it is computed anew from boxes and balls (bounds.c); what is still
// near goes to the kernels. Relative travel of one motion: |dc| + R dt, with c the middle of side a
// in b's frame, R its radius and dt the relative rotation.
//
// Free combinations list the pairs of cells that can hold a contact within a margin of motion, and
// search those until the margin is used up (freeform_search.c).
//
// Once and only once. A root on the border between two features is found by both; the second one at
// the same place is dropped. Inside the material the border between two faces with a common convex
// edge is their medial surface: a vertex or ball whose center is inside belongs to the face it is
// nearer to. Other penetrations are dropped where a neighbouring face is a much shorter way out and
// a shallower root nearby stands for them.
#include "geometry/pairs.h"

#include <string.h>

#include "core/arena.h"
#include "geometry/kernels/bounds.h"
#include "geometry/kernels/kernels_internal.h"
#include "geometry/pairs_internal.h"
#include "geometry/pairs_occt.h"

// Free combinations that are near at a time, and pairs of cells that are listed for them. More are
// searched as well, but without a list.
enum { MOST_FREE = 4096, CANDIDATES = 32768 };
// A list of candidates should hold for so many motions like the last one, or so many times what is
// promised for a step, which parts keep by far. More: longer lists; fewer: they are made more often.
static const double STEPS = 12, PROMISES = 3;
static const double ROOM = 1.3; // of the limits of a list: promises differ from step to step
// In a time step parts are apart before it, up to what the projection leaves: no deeper than what is
// promised and this share of the features.
static const double DRIFT = 0.02;
static const double ALMOST_FLAT = 4e-8; // [m] a ring that falls flat comes to its end from above in
                                        // a few corrections; smaller: its lowest point runs round
                                        // between them. test_app_cad_contacts
static const double FLAT = 2e-10;       // half of it is the usual tolerance of positions [m]

typedef struct Free { // what is known of a free combination that has been near
    LashWarm warm;
    double travel, turned; // until then its candidates are [m], [rad]
    double limit, depth;   // of their gaps [m]
} Free;

typedef struct Found { // a root of the current evaluation, for the search for doubles
    Vec3 point_a, point_b;
    double gap, tolerance;
    double near; // a contact patch of this depth is smaller than this [m]
    double real; // > 0: see pair_root_counts [m]
    int slot;    // where it was written
    bool boundary, shadowed, dropped;
} Found;

struct LashPairWork {
    const LashPair* pair;
    double *expiry, *block_expiry; // (combinations), (blocks) travel at which the bound is 0 [m]
    double* block_depth;           // (blocks) least expiry minus the depth [m]
    double* near_until;            // (combinations) until this travel a near one stays listed
    double all_near_until;         // the same for both sides as a whole
    double travel, bound;          // [m]
    double turned;                 // sum of the rotations [rad]
    double pace, spin;             // of the last motion [m], [rad]
    bool started;
    LashPlacement b_a; // of the last travel update
    Quat rotation;     // the same as a quaternion
    int* free_of;      // (warms) its place in free, -1: none
    Free* free;        // (free_capacity)
    int frees, free_capacity;
    LashCandidates candidates;
    LashTrimRoom* room; // (rooms)
    Found* found;       // (max_slots)
    int founds, deep, beyond;
    bool first;            // a query from scratch
    bool borders, shadows; // one of them lies on a border, is shadowed
    // the current step
    int listed, slots;
    int* list;    // (combinations) collected combinations
    uint64_t* id; // (max_slots)
    double limit; // of the gaps that collect promised to find [m]
    double moved; // largest relative motion within the promise [m]
    double depth; // that matters, without the drift [m]
    double flat;  // LashKernelQuery.flat: of a time step only [m]
    Pose world_a, world_b;
    LashMotion motion_a, motion_b;
    LashPairOcctWork* occt; // or NULL
    bool occt_failed;       // in the last call
};

struct LashPairRoots {
    int slots;
    LashRoot* root;   // (slots)
    int* combination; // (slots) -1: the point has all
    LashPlacement b_a;
    Mat3 world_b;
};

// ---- work -------------------------------------------------------------------------------------

LashPairWork* lash_pair_work_create(const LashPair* pair) {
    LashPairWork* work = lash_alloc(sizeof(LashPairWork));
    size_t n = (size_t)pair->combinations + 1, slots = (size_t)pair->max_slots + 1;
    work->pair = pair;
    work->expiry = lash_alloc((size_t)pair->blocks * PAIR_BLOCK * sizeof(double) + 64);
    work->block_expiry = lash_alloc(((size_t)pair->blocks + 1) * sizeof(double));
    work->block_depth = lash_alloc(((size_t)pair->blocks + 1) * sizeof(double));
    work->near_until = lash_alloc(n * sizeof(double));
    work->free_of = lash_alloc(((size_t)pair->warms + 1) * sizeof(int));
    work->free_capacity = pair->warms < MOST_FREE ? pair->warms : MOST_FREE;
    work->free = lash_alloc(((size_t)work->free_capacity + 1) * sizeof(Free));
    work->candidates.capacity = pair->warms > 0 ? CANDIDATES : 0;
    work->candidates.item = lash_alloc((size_t)work->candidates.capacity * sizeof(LashCellPair));
    work->room = lash_alloc(((size_t)pair->rooms + 1) * sizeof(LashTrimRoom));
    work->found = lash_alloc(slots * sizeof(Found));
    work->list = lash_alloc(n * sizeof(int));
    work->id = lash_alloc(slots * sizeof(uint64_t));
    if (pair->occt != NULL) work->occt = lash_pair_occt_work_create();
    lash_pair_work_reset(work);
    return work;
}

void lash_pair_work_destroy(LashPairWork* work) {
    if (work == NULL) return;
    lash_free(work->expiry);
    lash_free(work->block_expiry);
    lash_free(work->block_depth);
    lash_free(work->near_until);
    lash_free(work->free_of);
    lash_free(work->free);
    lash_free(work->candidates.item);
    lash_free(work->room);
    lash_free(work->found);
    lash_free(work->list);
    lash_free(work->id);
    lash_pair_occt_work_destroy(work->occt);
    lash_free(work);
}

#define PASS(member) lash_archive(archive, &work->member, sizeof work->member)
#define PASS_ARRAY(member, count) \
    lash_archive(archive, work->member, (size_t)(count) * sizeof *work->member)
void lash_pair_work_archive(LashPairWork* work, LashArchive* archive) {
    const LashPair* pair = work->pair;
    PASS_ARRAY(expiry, pair->blocks * PAIR_BLOCK);
    PASS_ARRAY(block_expiry, pair->blocks);
    PASS_ARRAY(block_depth, pair->blocks);
    PASS_ARRAY(near_until, pair->combinations);
    PASS_ARRAY(free_of, pair->warms);
    lash_archive_count(archive, &work->frees, work->free_capacity);
    PASS_ARRAY(free, work->frees);
    lash_archive_count(archive, &work->candidates.used, work->candidates.capacity);
    PASS_ARRAY(candidates.item, work->candidates.used);
    PASS_ARRAY(room, pair->rooms);
    PASS(all_near_until);
    PASS(travel);
    PASS(bound);
    PASS(turned);
    PASS(pace);
    PASS(spin);
    PASS(started);
    PASS(b_a);
    PASS(rotation);
    lash_archive_count(archive, &work->founds, pair->max_slots);
    PASS_ARRAY(found, work->founds);
    PASS(deep);
    PASS(beyond);
    PASS(first);
    PASS(borders);
    PASS(shadows);
    lash_archive_count(archive, &work->listed, pair->combinations);
    PASS_ARRAY(list, work->listed);
    lash_archive_count(archive, &work->slots, pair->max_slots);
    PASS_ARRAY(id, work->slots);
    PASS(limit);
    PASS(moved);
    PASS(depth);
    PASS(flat);
    PASS(world_a);
    PASS(world_b);
    PASS(motion_a);
    PASS(motion_b);
    PASS(occt_failed);
    if (work->occt != NULL) lash_pair_occt_work_archive(work->occt, archive);
}
#undef PASS
#undef PASS_ARRAY

LashPairRoots* lash_pair_roots_create(int slots) {
    LashPairRoots* roots = lash_alloc(sizeof *roots);
    roots->slots = slots;
    roots->root = lash_alloc((size_t)slots * sizeof *roots->root);
    roots->combination = lash_alloc((size_t)slots * sizeof *roots->combination);
    return roots;
}

void lash_pair_roots_destroy(LashPairRoots* roots) {
    if (roots == NULL) return;
    lash_free(roots->root);
    lash_free(roots->combination);
    lash_free(roots);
}

static void forget_near(LashPairWork* work) {
    for (int i = 0; i < work->pair->combinations; ++i) work->near_until[i] = -INFINITY;
    work->all_near_until = -INFINITY;
}

static void forget_lists(LashPairWork* work) {
    for (int i = 0; i < work->frees; ++i) work->free[i].warm.listed = false;
    work->candidates.used = 0;
}

static void forget_free(LashPairWork* work) {
    for (int i = 0; i < work->pair->warms; ++i) work->free_of[i] = -1;
    work->frees = 0;
    work->candidates.used = 0;
}

void lash_pair_work_reset(LashPairWork* work) {
    const LashPair* pair = work->pair;
    work->started = false;
    work->travel = 0;
    work->turned = work->pace = work->spin = work->moved = 0;
    work->bound = 0;
    work->listed = work->slots = work->beyond = 0;
    for (int i = 0; i < pair->blocks * PAIR_BLOCK; ++i)
        work->expiry[i] = i < pair->combinations ? -INFINITY : INFINITY;
    forget_near(work);
    for (int i = 0; i < pair->blocks; ++i) work->block_expiry[i] = work->block_depth[i] = -INFINITY;
    forget_free(work);
    if (work->occt != NULL) lash_pair_occt_work_reset(work->occt);
    work->occt_failed = false;
}

double lash_pair_bound(const LashPairWork* work) {
    return work->bound;
}
int lash_pair_beyond_reach(const LashPairWork* work) {
    return work->beyond;
}
const uint64_t* lash_pair_slots(const LashPairWork* work) {
    return work->id;
}
const LashError* lash_pair_error(const LashPairWork* work) {
    static const LashError none = {0};
    return work->occt_failed ? lash_pair_occt_error(work->occt) : &none;
}

static inline Pose placed(const PairSide* side, Pose world_body) {
    if (!side->shifted) return world_body;
    if (side->turned) return pose_mul(world_body, side->body_shape);
    return pose(pose_point(world_body, side->body_shape.r), world_body.rot);
}

static PairView view_of(const LashPair* pair, Pose world_a, Pose world_b) {
    Pose a = placed(&pair->a, world_a), b = placed(&pair->b, world_b);
    PairView v;
    v.b = b;
    v.rotation = quat_mul(quat_conjugate(b.rot), a.rot);
    v.b_a.rot = quat_matrix(v.rotation);
    v.b_a.r = quat_rotate_inverse(b.rot, vec3_sub(a.r, b.r));
    v.a_b = lash_placement_inverse(&v.b_a);
    return v;
}

static void advance(LashPairWork* work, const PairView* view) {
    const LashFeature* all = &work->pair->a.all;
    if (work->started) {
        double d =
            vec3_distance(lash_place(&work->b_a, all->center), lash_place(&view->b_a, all->center));
        work->spin = lash_rotation_angle(work->rotation, view->rotation) * (1 + 1e-12);
        work->pace = (d + all->bound * work->spin) * (1 + 1e-12);
        work->travel += work->pace;
        work->turned += work->spin;
    }
    work->started = true;
    work->b_a = view->b_a;
    work->rotation = view->rotation;
    // what is used up stays behind; all is made anew before there is no room
    if (work->candidates.used > work->candidates.capacity / 4 * 3) forget_lists(work);
    if (work->frees > work->free_capacity / 4 * 3 && work->free_capacity == MOST_FREE)
        forget_free(work);
}

// LashKernelQuery.depth.
static double depth_of(const LashPairWork* work, const PairCombination* pair_combination) {
    const LashFeature* a = work->pair->a.feature + pair_combination->a;
    const LashFeature* b = work->pair->b.feature + pair_combination->b;
    return work->depth + DRIFT * fmin(a->size, b->size);
}

// Of a free combination; NULL: there is no room.
static Free* free_of(LashPairWork* work, int warm) {
    if (work->free_of[warm] >= 0) return work->free + work->free_of[warm];
    if (work->frees == work->free_capacity) return NULL;
    work->free_of[warm] = work->frees;
    Free* free = work->free + work->frees++;
    memset(free, 0, sizeof *free);
    return free;
}

static LashKernelQuery query_of(LashPairWork* work, const PairCombination* pair_combination,
                                const PairView* view, double limit) {
    LashKernelQuery query = {.limit = limit, .a_b = &view->a_b, .flat = work->flat};
    if (pair_combination->room >= 0) query.room = work->room + pair_combination->room;
    if (pair_combination->warm >= 0) {
        query.depth = depth_of(work, pair_combination);
        Free* free = free_of(work, pair_combination->warm);
        if (free != NULL) query.warm = &free->warm;
        query.candidates = &work->candidates;
    }
    return query;
}

// A motion to come, from the pose of the last advance [m], [rad].
typedef struct Margin {
    double move, turn;
} Margin;

static bool list_holds(const LashPairWork* work, const Free* free, double limit, Margin margin) {
    return free->warm.listed && limit <= free->limit && work->depth <= free->depth &&
           work->travel + margin.move <= free->travel && work->turned + margin.turn <= free->turned;
}

// Lists the candidates of a free combination for gaps up to the limit and a motion up to the margin.
static void list_candidates(const LashPair* pair, LashPairWork* work,
                            const PairCombination* pair_combination, const PairView* view,
                            double limit, Margin margin, Free* free) {
    LashKernelQuery query = query_of(work, pair_combination, view, ROOM * limit);
    query.depth *= ROOM;
    free->travel = work->travel + margin.move;
    free->turned = work->turned + margin.turn;
    free->limit = ROOM * limit;
    free->depth = ROOM * work->depth;
    lash_kernel_list(pair->a.feature + pair_combination->a, pair->b.feature + pair_combination->b,
                     &view->b_a, &query, margin.move * (1 + 1e-9), margin.turn * (1 + 1e-9));
}

// Calls of the kernels for one combination; free ones search what is listed, or all.
static int combination_roots(const LashPair* pair, LashPairWork* work,
                             const PairCombination* pair_combination, const PairView* view,
                             double limit, LashRoot roots[LASH_MAX_POINTS]) {
    LashKernelQuery query = query_of(work, pair_combination, view, limit);
    return lash_kernel_roots(pair->a.feature + pair_combination->a,
                             pair->b.feature + pair_combination->b, &view->b_a, &query, roots);
}

typedef struct Batch { // roots of a listed combination, and of its twin when that is next
    LashRoot roots[2][LASH_MAX_POINTS];
    int count[2];
    bool second; // the twin's are waiting
} Batch;

// Roots of the i-th listed combination, in their order.
static int listed_roots(const LashPair* pair, LashPairWork* work, int i, const PairView* view,
                        double limit, Batch* batch, LashRoot** roots) {
    const PairCombination* c = pair->combination + work->list[i];
    *roots = batch->roots[0];
    if (batch->second) {
        batch->second = false;
        *roots = batch->roots[1];
        return batch->count[1];
    }
    if (c->rim && i + 1 < work->listed) {
        const PairCombination* d = pair->combination + work->list[i + 1];
        const LashFeature *a = pair->a.feature, *b = pair->b.feature;
        const LashFeature *fa[2] = {a + c->a, a + d->a}, *fb[2] = {b + c->b, b + d->b};
        LashKernelQuery query = {.limit = limit, .a_b = &view->a_b};
        batch->second = lash_kernel_rims(fa, fb, &view->b_a, &query, batch->roots, batch->count);
        if (batch->second) return batch->count[0];
    }
    return combination_roots(pair, work, c, view, limit, batch->roots[0]);
}

// Marks the roots that are much deeper than their features: one by one, the shallowest first, those
// that another root stands for.
static bool drop_deeper(LashPairWork* work) {
    double stands = 0; // depth of the roots that count
    bool any = false;
    for (int i = 0; i < work->founds; ++i)
        if (work->found[i].real == 0) stands = fmax(stands, -work->found[i].gap);
    for (;;) {
        Found* next = NULL;
        for (int i = 0; i < work->founds; ++i) {
            Found* f = work->found + i;
            if (f->real == 0 || f->dropped) continue;
            f->dropped = f->real <= 2 * stands;
            any |= f->dropped;
            if (!f->dropped && (next == NULL || f->gap > next->gap)) next = f;
        }
        if (next == NULL) return any;
        stands = -next->gap;
        next->real = 0;
    }
}

// Marks the shadowed roots that a shallower one nearby stands for, and those of drop_deeper.
static bool drop_shadowed(LashPairWork* work) {
    if (!work->shadows) return false;
    bool any = drop_deeper(work);
    for (int i = 0; i < work->founds; ++i) {
        Found* f = work->found + i;
        for (int k = 0; k < work->founds && f->shadowed && !f->dropped; ++k) {
            const Found* g = work->found + k;
            if (g->shadowed || g->dropped || !(g->gap <= 0 && g->gap > f->gap)) continue;
            f->dropped = vec3_distance(f->point_b, g->point_b) < f->near;
            any |= f->dropped;
        }
    }
    return any;
}

static bool is_double(LashPairWork* work, const LashRoot* r, double tolerance) {
    work->borders |= r->boundary;
    for (int i = 0; i < work->founds && work->borders; ++i) {
        const Found* f = work->found + i;
        if (!f->boundary && !r->boundary) continue;
        double t = fmax(tolerance, f->tolerance);
        if (vec3_distance(f->point_a, r->point_a) <= t &&
            vec3_distance(f->point_b, r->point_b) <= t)
            return true;
    }
    Found* f = work->found + work->founds++;
    f->point_a = r->point_a;
    f->point_b = r->point_b;
    f->gap = r->gap;
    f->boundary = r->boundary;
    f->tolerance = tolerance;
    f->shadowed = f->dropped = false;
    return false;
}

// Is the root reported, for the time being? It is written at `slot`.
static bool accepted(const LashPair* pair, LashPairWork* work,
                     const PairCombination* pair_combination, const PairView* view, LashRoot* r,
                     int slot) {
    const LashFeature *a = pair->a.feature + pair_combination->a,
                      *b = pair->b.feature + pair_combination->b;
    PairVerdict verdict = {0};
    if (r->gap < 0 && !pair_root_counts(&pair->a, &pair->b, pair_combination, view, r, &verdict)) {
        work->deep += work->first && r->deep && verdict.inside;
        return false;
    }
    if (r->deep ||
        r->gap < -pair_combination->depth) { // deeper ones are listed by a query from scratch only
        ++work->deep;
        return false;
    }
    if (is_double(work, r, 64 * (a->border > b->border ? a->border : b->border))) return false;
    Found* f = work->found + work->founds - 1;
    f->slot = slot;
    f->shadowed = verdict.shadowed;
    f->real = verdict.real;
    work->shadows |= f->shadowed || f->real > 0;
    f->near = f->shadowed ? -8 * r->gap + 4 * sqrt(-r->gap * fmin(a->size, b->size)) : 0;
    return true;
}

static uint64_t slot_id(const LashPair* pair, const PairCombination* pair_combination, int slot) {
    uint64_t a = pair->a.feature[pair_combination->a].code,
             b = pair->b.feature[pair_combination->b].code;
    return a << 34 | b << 4 | (uint64_t)slot;
}

static void write_point(const LashPair* pair, const PairCombination* pair_combination,
                        const PairView* view, const LashRoot* r, LashContactPoint* point) {
    point->gap = r->gap + pair->offset;
    point->normal = mat3_mul(view->world_b, r->normal);
    point->point_a = vec3_add(view->b.r, mat3_mul(view->world_b, r->point_a));
    point->point_b = vec3_add(view->b.r, mat3_mul(view->world_b, r->point_b));
    point->id = slot_id(pair, pair_combination, r->slot);
}

static void write_second_order(const LashPair* pair, const PairCombination* pair_combination,
                               const PairView* view, const LashRoot* r, LashContactPoint* point) {
    lash_kernel_second_order(pair->a.feature + pair_combination->a,
                             pair->b.feature + pair_combination->b, &view->b_a, r, &view->world_b,
                             point);
}

void lash_pair_second_order(const LashPair* pair, const LashPairRoots* roots, int slot,
                            LashContactPoint* point) {
    int k = roots->combination[slot];
    if (k < 0) return;
    const PairCombination* pair_combination = pair->combination + k;
    lash_kernel_second_order(pair->a.feature + pair_combination->a,
                             pair->b.feature + pair_combination->b, &roots->b_a, roots->root + slot,
                             &roots->world_b, point);
}

bool lash_pair_runs_round(const LashPairRoots* roots, const double* gap, int slots, int slot) {
    if (slot + 3 >= slots || !(gap[slot] < INFINITY) || roots->root[slot].slot != 0) return false;
    if (roots->combination[slot] < 0 || roots->root[slot].ball_a || roots->root[slot].ball_b)
        return false;
    for (int k = slot + 1; k <= slot + 3; ++k) {
        if (!(fabs(gap[k] - gap[slot]) < ALMOST_FLAT)) return false;
        if (roots->combination[k] != roots->combination[slot]) return false;
        if (!roots->root[k].ball_a && !roots->root[k].ball_b) return false;
    }
    return true;
}

// Is combination i listed at this threshold of the expiry? Renews its bound when it is used up. A
// bound cannot recover faster than the sides move: one that fell short by m is not looked at again
// before the travel has grown by m.
static bool is_near(const LashPair* pair, LashPairWork* work, const PairView* view, int i,
                    double threshold) {
    if (work->expiry[i] > threshold) return false;
    if (work->travel < work->near_until[i]) return true;
    const PairCombination* pair_combination = pair->combination + i;
    const LashFeature* a = pair->a.feature + pair_combination->a;
    const LashFeature* b = pair->b.feature + pair_combination->b;
    if (work->first) { // of many combinations most are far away: balls tell
        double apart = vec3_distance(lash_place(&view->b_a, a->center), b->center);
        double far = apart - a->bound - b->bound - 1e-12 * (apart + a->bound + b->bound);
        if (work->travel + far > threshold) {
            work->expiry[i] = work->travel + far;
            return false;
        }
    }
    work->expiry[i] = work->travel + lash_feature_bound(a, b, &view->b_a);
    work->near_until[i] = work->travel + (threshold - work->expiry[i]);
    return work->expiry[i] <= threshold;
}

// Renews used-up bounds; lists the combinations that may have a gap <= limit: their distance is at
// most the limit or, with deep > 0, they may be in penetration down to deep times the reach. Sets
// w->bound.
static void list_near(const LashPair* pair, LashPairWork* work, const PairView* view, double limit,
                      double deep) {
    // Bounds are of unsigned distances: with a positive offset the sides may be in each other by
    // that much without touching, and a set of faces has no inside that would tell.
    double inside = deep > 0 ? deep * pair->depth : fmax(0, pair->offset);
    if (deep == 0 && pair->offset > 0) limit += 2 * pair->offset;
    work->listed = 0;
    if (work->travel >= work->all_near_until) {
        double bound = lash_feature_bound(&pair->a.all, &pair->b.all, &view->b_a);
        work->all_near_until = work->travel + (fmax(limit, inside) - bound);
        if (bound > limit && bound > inside) {
            work->bound = bound + pair->offset;
            return;
        }
    }
    double first = INFINITY, near = limit + work->travel;
    for (int k = 0; k < pair->blocks; ++k) {
        if (work->block_expiry[k] > near && (deep == 0 || work->block_depth[k] > work->travel)) {
            first = fmin(first, work->block_expiry[k]);
            continue;
        }
        double block = INFINITY, depth = INFINITY;
        int end =
            PAIR_BLOCK * (k + 1) < pair->combinations ? PAIR_BLOCK * (k + 1) : pair->combinations;
        for (int i = PAIR_BLOCK * k; i < end; ++i) {
            double most = fmax(1, deep) * pair->combination[i].depth;
            double threshold = deep > 0 ? fmax(near, work->travel + most) : near;
            if (is_near(pair, work, view, i, threshold)) work->list[work->listed++] = i;
            block = fmin(block, work->expiry[i]);
            depth = fmin(depth, work->expiry[i] - most);
        }
        work->block_expiry[k] = block;
        work->block_depth[k] = depth;
        first = fmin(first, block);
    }
    first -= work->travel;
    work->bound = first > fmax(0, pair->offset) ? first + pair->offset
                                                : -INFINITY; // touching: nothing is known
}

// Leaves out the listed free combinations without candidates for gaps up to the limit within
// `needed`. Lists that do not hold so long are made anew, for the margin.
static void leave_out_empty(const LashPair* pair, LashPairWork* work, const PairView* view,
                            double limit, Margin needed, Margin margin) {
    if (pair->warms == 0) return;
    int kept = 0;
    for (int i = 0; i < work->listed; ++i) {
        const PairCombination* pair_combination = pair->combination + work->list[i];
        int warm = pair_combination->warm;
        Free* free = warm >= 0 ? free_of(work, warm) : NULL;
        if (free != NULL && !list_holds(work, free, limit, needed)) {
            free->warm.listed = false;
            if (margin.move > 0) // else all are searched, once
                list_candidates(pair, work, pair_combination, view, limit, margin, free);
        }
        if (free != NULL && free->warm.listed && free->warm.pairs == 0) continue;
        work->list[kept++] = work->list[i];
    }
    work->listed = kept;
}

// LASH_QUERY_OCCT: may the boxes be nearer than the limit? Sets w->bound.
static bool occt_is_near(const LashPair* pair, LashPairWork* work, const PairView* view,
                         double limit) {
    double bound = lash_feature_bound(&pair->a.all, &pair->b.all, &view->b_a);
    work->listed = work->beyond = 0;
    work->occt_failed = false;
    work->bound = bound > 0 ? bound + pair->offset : -INFINITY;
    return bound <= limit || bound <= 0;
}

// The one point; false: no answer. *any: there is a point, with the offset.
static bool occt_point(const LashPair* pair, LashPairWork* work, Pose world_a, Pose world_b,
                       LashContactPoint* point, bool* any) {
    Pose a = pose_mul(world_a, pair->a.body_shape), b = pose_mul(world_b, pair->b.body_shape);
    LashOcctState state = LASH_OCCT_UNKNOWN;
    bool ok = lash_pair_occt_point(pair->occt, work->occt, a, b, point, &state);
    *any = ok && state != LASH_OCCT_UNKNOWN;
    work->beyond = ok && state != LASH_OCCT_APART;
    work->occt_failed = !ok;
    point->gap += pair->offset;
    return ok;
}

static int occt_query(const LashPair* pair, LashPairWork* work, const PairView* view, Pose world_a,
                      Pose world_b, double activation, LashContactPoint* points, int capacity) {
    LashContactPoint point;
    bool any = false;
    work->slots = 0;
    if (!occt_is_near(pair, work, view, activation - pair->offset)) return 0;
    if (!occt_point(pair, work, world_a, world_b, &point, &any)) work->bound = -INFINITY;
    if (!any || point.gap > activation) return 0;
    if (capacity > 0) points[0] = point;
    return 1;
}

int lash_pair_query(const LashPair* pair, LashPairWork* work, Pose world_a, Pose world_b,
                    double activation, LashContactPoint* points, int capacity) {
    PairView v = view_of(pair, world_a, world_b);
    double limit = activation - pair->offset;
    work->flat = 0;
    work->depth = INFINITY;
    if (pair->occt != NULL)
        return occt_query(pair, work, &v, world_a, world_b, activation, points, capacity);
    // The first one looks twice as deep: a start below the reach is told (beyond_reach) instead of
    // taken for one apart.
    bool first = !work->started;
    work->first = first;
    advance(work, &v);
    list_near(pair, work, &v, fmax(limit, 0), first ? 2 : 1);
    if (first) forget_near(work);
    Margin margin = {STEPS * work->pace, STEPS * work->spin};
    leave_out_empty(pair, work, &v, fmax(limit, 0), (Margin){0, 0}, margin);
    work->slots = work->founds = work->deep = 0;
    work->borders = work->shadows = false; // ends the current step
    v.world_b = quat_matrix(v.b.rot);
    int count = 0;
    Batch batch;
    batch.second = false;
    for (int i = 0; i < work->listed; ++i) {
        const PairCombination* pair_combination = pair->combination + work->list[i];
        LashRoot* roots;
        int n = listed_roots(pair, work, i, &v, fmax(limit, 0), &batch, &roots);
        for (int k = 0; k < n; ++k) {
            if (roots[k].gap > fmax(limit, 0) ||
                !accepted(pair, work, pair_combination, &v, roots + k, count))
                continue;
            if (count < capacity) {
                write_point(pair, pair_combination, &v, roots + k, points + count);
                write_second_order(pair, pair_combination, &v, roots + k, points + count);
            }
            ++count;
        }
    }
    work->listed = 0;
    work->beyond = count == 0 ? work->deep : 0;
    if (!drop_shadowed(work) && limit >= 0) return count;
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        if (work->found[i].dropped || work->found[i].gap > limit) continue;
        if (i < capacity) points[kept] = points[i];
        ++kept;
    }
    return kept;
}

// ---- a time step ------------------------------------------------------------------------------

// What is farther cannot touch within the promise.
static double limit_of_step(const LashPairWork* work) {
    return fabs(work->limit) + 2 * work->moved;
}

int lash_pair_collect(const LashPair* pair, LashPairWork* work, Pose world_a, Pose world_b,
                      LashMotion motion_a, LashMotion motion_b, double activation) {
    PairView v = view_of(pair, world_a, world_b);
    double moved = motion_a.translation + pair->a.radius * motion_a.rotation +
                   motion_b.translation + pair->b.radius * motion_b.rotation;
    work->limit = activation - pair->offset;
    work->moved = moved;
    work->depth = fabs(work->limit) + 1.5 * moved;
    work->world_a = world_a;
    work->world_b = world_b;
    work->motion_a = motion_a;
    work->motion_b = motion_b;
    work->slots = 0;
    work->first = false;
    if (pair->occt != NULL) {
        if (occt_is_near(pair, work, &v, work->limit + moved)) work->id[work->slots++] = 1;
        return work->slots;
    }
    advance(work, &v);
    list_near(pair, work, &v, work->limit + moved, 0);
    Margin promised = {moved, motion_a.rotation + motion_b.rotation};
    Margin margin = {PROMISES * promised.move, PROMISES * promised.turn};
    leave_out_empty(pair, work, &v, limit_of_step(work), promised, margin);
    for (int i = 0; i < work->listed; ++i) {
        const PairCombination* pair_combination = pair->combination + work->list[i];
        for (int k = 0; k < pair_combination->slots; ++k)
            work->id[work->slots++] = slot_id(pair, pair_combination, k);
    }
    return work->slots;
}

bool lash_motion_within(const Pose* from, const Pose* to, LashMotion m) {
    if (memcmp(from, to, sizeof *from) == 0) return true;
    double slack = 1 + 1e-9, far = m.translation * slack, most = m.rotation * slack + 1e-15;
    if (!(vec3_norm_squared(vec3_sub(from->r, to->r)) <= far * far)) return false;
    Quat d = quat_mul(quat_conjugate(from->rot), to->rot); // angle = 2 atan(s / c) <= 2 s / c
    double ss = d.x * d.x + d.y * d.y + d.z * d.z;
    if (4 * ss <= most * most * d.w * d.w) return true;
    return 2 * atan2(sqrt(ss), fabs(d.w)) <= most; // a bound from above would refuse the last of it
}

static bool occt_evaluate(const LashPair* pair, LashPairWork* work, Pose world_a, Pose world_b,
                          double* gap, const uint8_t* wanted, LashContactPoint* points) {
    LashContactPoint point;
    bool any = false;
    if (work->slots == 0) return true;
    if (!occt_point(pair, work, world_a, world_b, &point, &any)) return false;
    gap[0] = any ? point.gap : INFINITY;
    if (any && points != NULL && (wanted == NULL || wanted[0])) points[0] = point;
    return true;
}

bool lash_pair_evaluate(const LashPair* pair, LashPairWork* work, Pose world_a, Pose world_b,
                        double* gap, const uint8_t* wanted, LashContactPoint* points) {
    return lash_motion_within(&work->world_a, &world_a, work->motion_a) &&
           lash_motion_within(&work->world_b, &world_b, work->motion_b) &&
           lash_pair_evaluate_roots(pair, work, world_a, world_b, gap, wanted, points, NULL);
}

bool lash_pair_evaluate_roots(const LashPair* pair, LashPairWork* work, Pose world_a, Pose world_b,
                              double* gap, const uint8_t* wanted, LashContactPoint* points,
                              LashPairRoots* kept) {
    LASH_ASSERT(kept == NULL || kept->slots >= work->slots);
    if (pair->occt != NULL) {
        if (kept != NULL) kept->combination[0] = -1;
        return occt_evaluate(pair, work, world_a, world_b, gap, wanted, points);
    }
    PairView v = view_of(pair, world_a, world_b);
    double limit = limit_of_step(work);
    work->flat = FLAT;
    work->first = false;
    if (points != NULL) v.world_b = quat_matrix(v.b.rot);
    if (kept != NULL) {
        kept->b_a = v.b_a;
        kept->world_b = v.world_b;
    }
    int first = 0;
    Batch batch;
    batch.second = false;
    work->founds = work->deep = 0;
    work->borders = work->shadows = false;
    for (int i = 0; i < work->listed; ++i) {
        const PairCombination* pair_combination = pair->combination + work->list[i];
        LashRoot* roots;
        for (int k = 0; k < pair_combination->slots; ++k) gap[first + k] = INFINITY;
        int n = listed_roots(pair, work, i, &v, limit, &batch, &roots);
        for (int k = 0; k < n; ++k) {
            int slot = first + roots[k].slot;
            if (!accepted(pair, work, pair_combination, &v, roots + k, slot)) continue;
            gap[slot] = roots[k].gap + pair->offset;
            if (points == NULL || (wanted != NULL && !wanted[slot])) continue;
            write_point(pair, pair_combination, &v, roots + k, points + slot);
            if (kept != NULL) {
                kept->root[slot] = roots[k];
                kept->combination[slot] = work->list[i];
            } else
                write_second_order(pair, pair_combination, &v, roots + k, points + slot);
        }
        first += pair_combination->slots;
    }
    work->beyond = work->founds == 0 ? work->deep : 0;
    if (drop_shadowed(work))
        for (int i = 0; i < work->founds; ++i)
            if (work->found[i].dropped) gap[work->found[i].slot] = INFINITY;
    return true;
}

// ---- travel -----------------------------------------------------------------------------------

void lash_travel_start(LashTravel* travel, Pose world_body, double radius) {
    travel->last = world_body;
    travel->radius = radius;
    travel->sum = 0;
}

void lash_travel_move(LashTravel* travel, Pose world_body) {
    double d = vec3_distance(travel->last.r, world_body.r);
    double angle = lash_rotation_angle(travel->last.rot, world_body.rot);
    travel->sum += (d + travel->radius * angle) * (1 + 1e-12);
    travel->last = world_body;
}
