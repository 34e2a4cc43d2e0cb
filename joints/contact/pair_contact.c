// Contact points between two sets of faces, with exact derivatives.
//
// The pair manager gives per point the gap g, the normal n (of b, into a), the feet p_a, p_b and
// their second-order data. With m = -n (from a into b), x = (p_a + p_b)/2 and tangents t1, t2:
// columns of G: linear -/+ t, angular R'((x - x_body) x t) for t = m, t1, t2. That is the gradient
// of g, since p_a - p_b = (g - offset) n. Own points (LashLevers): x + (g/2) m on b, x - (g/2) m on
// a.
//
// Tangents. t1 is the part of a world axis c across m, t1 = (c - m m.c)/|.|, t2 = m x t1. The axis
// is chosen at the first evaluation of a time step and kept for the step: a rule that looks at m
// alone (vec3_basis) jumps where a component of m changes its sign, as it does by rounding in every
// planar mechanism, and G at the middle and at the end of a step would then speak of different t1.
//
// Derivatives. For a small motion of both bodies, w and omega of a relative to b at p_a:
//   (s_a, s_b) = D (w_t, (omega x n)_t)     (lash_contact_operator; feet slide by X s, dn = Y_b
//   s_b) dn = Y_b s_b + phi_b x n,   dp_a = w + X_a s_a + (b at p_a),   dp_b = X_b s_b + (b at p_b)
// Where surfaces touch along a line the system is singular: the foot is not determined, and the
// solution of least norm is taken. It enters the Newton matrix only: residuals never see it.
//
// Points that end. A contact passes from a face to the edge beside it: the slot of the face is
// empty from there on, the slot of the edge was empty before. Inside a step a slot that is asked
// for goes on, as the point of a against the plane of b where it was last found, so that the
// iteration sees smooth functions; the slot that takes over is seen with its true gap at the end of
// the step.
//
// Motion. collect is promised that bodies move by at most `factor` times their motion with v, plus
// the same multiple of SLACK of their size (a part at rest may be hit). A pair whose proven
// distance is larger costs one compare of the bodies' travels.
#include "joints/contact/pair_contact.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "geometry/interference.h"
#include "joints/contact/contraction.h"
#include "joints/mechanism_internal.h"

static const double SLACK = 5e-4; // of the parts' size, and [rad]
enum {
    MAX_LISTED = 8192, // interactions of one pair
    ID_INDEX_BITS = 18,
    ID_SIDE_BITS = 20,
    ID_SLOT_BITS = 4
};
static const uint64_t PAIR_ID = (uint64_t)1 << 62;

// ---- ids ----------------------------------------------------------------------------------------

// Kind (2 bits) and index of a feature, from 28 bits to 20.
static uint64_t short_code(uint64_t code) {
    uint64_t kind = code >> 26 & 3, index = code & (((uint64_t)1 << 26) - 1);
    LASH_ASSERT(index < (uint64_t)1 << ID_INDEX_BITS);
    return kind << ID_INDEX_BITS | index;
}

static uint64_t pair_id(int contact, uint64_t slot) {
    uint64_t a = short_code(slot >> 34), b = short_code(slot >> 4 & (((uint64_t)1 << 28) - 1));
    return PAIR_ID | (uint64_t)contact << (2 * ID_SIDE_BITS + ID_SLOT_BITS) |
           a << (ID_SIDE_BITS + ID_SLOT_BITS) | b << ID_SLOT_BITS | (slot & 15);
}

bool pair_id_is(uint64_t id) {
    return id >= PAIR_ID;
}

int pair_id_contact(const LashMechanism* mech, uint64_t id) {
    if (group_id_is(id)) {
        int group = group_id_group(id); // of LASH_NOWHERE none
        return group < mech->groups ? mech->group[group].contact : -1;
    }
    return (int)((id & (PAIR_ID - 1)) >> (2 * ID_SIDE_BITS + ID_SLOT_BITS));
}

// ---- building -----------------------------------------------------------------------------------

LashPairContactDef lash_pair_contact_def(void) {
    return (LashPairContactDef){0};
}

PairContact pair_contact(const LashPairContactDef* def, int contact, int a, int b) {
    LASH_ASSERT(def->pair != NULL && a != b && contact < 1 << 17);
    int most = lash_pair_max_slots(def->pair);
    PairContact pair = {.pair = def->pair,
                        .contact = contact,
                        .a = a,
                        .b = b,
                        .group = -1,
                        .e = def->e,
                        .mu = def->mu,
                        .unsigned_gaps = lash_pair_combinations(def->pair) == 0,
                        .slots = most < MAX_LISTED ? most : MAX_LISTED,
                        .radius_a = lash_pair_radius_a(def->pair),
                        .radius_b = lash_pair_radius_b(def->pair)};
    return pair;
}

static int rows_of(const PairContact* pair) {
    return pair->mu > 0 ? 3 : 1;
}
static int touched_by(const PairContact* pair) {
    return (pair->a > 0) + (pair->b > 0);
}

PairSizes pair_sizes(const LashMechanism* mech) {
    PairSizes sizes = {0};
    for (int k = 0; k < mech->pairs; ++k) {
        const PairContact* pair = &mech->pair[k];
        int rows = rows_of(pair);
        sizes.interactions += pair->slots;
        sizes.rows += rows * pair->slots;
        sizes.G += 6 * touched_by(pair) * rows * pair->slots;
    }
    groups_add_sizes(mech, &sizes);
    return sizes;
}

// Where the two shapes of a pair are at q.
static Pose pose_a(const PairContact* pair, const double* q) {
    Pose body = pair_body_pose(q, pair->a);
    return pair->group < 0 ? body : pose_mul(body, pair->a_shape);
}
static Pose pose_b(const PairContact* pair, const double* q) {
    Pose body = pair_body_pose(q, pair->b);
    return pair->group < 0 ? body : pose_mul(body, pair->b_shape);
}

static void start_points(PairPoints* points, int slots) {
    size_t n = (size_t)slots + 1;
    points->point = lash_alloc(n * sizeof *points->point);
    points->has = lash_alloc(n);
    points->roots = lash_pair_roots_create((int)n);
}

static void start_slots(PairState* state, int room) {
    size_t n = (size_t)room + 1;
    state->room = room;
    state->gap = lash_alloc(n * sizeof *state->gap);
    state->axis = lash_alloc(n);
    state->kept = lash_alloc(n * sizeof *state->kept);
    for (int c = 0; c < 2; ++c) start_points(&state->cache[c], room);
}

static void finish_slots(PairState* state) {
    lash_free(state->gap);
    lash_free(state->axis);
    lash_free(state->kept);
    for (int c = 0; c < 2; ++c) {
        lash_free(state->cache[c].point);
        lash_free(state->cache[c].has);
        lash_pair_roots_destroy(state->cache[c].roots);
    }
}

void pair_state_start(PairState* state, const PairContact* pair, int room) {
    *state = (PairState){.contact = pair, .work = lash_pair_work_create(pair->pair)};
    state->until = -INFINITY;
    start_slots(state, room);
}

void pair_state_finish(PairState* state) {
    lash_pair_work_destroy(state->work);
    finish_slots(state);
}

// The body has points of pairs up to this distance from its origin.
static void promise_within(PairRun* run, int body, double radius) {
    run->body[body].matters = true;
    run->body[body].travel.radius = fmax(run->body[body].travel.radius, radius);
}

void pairs_start(const LashMechanism* mech, LashSystemWork* work) {
    if (mech->pairs == 0 && mech->groups == 0) return;
    PairRun* run = &work->pairs;
    run->capacity = mech->interactions + pair_sizes(mech).interactions + 1;
    run->item = lash_alloc((size_t)run->capacity * sizeof *run->item);
    memcpy(run->item, mech->interaction, (size_t)mech->interactions * sizeof *run->item);
    run->state = lash_alloc((size_t)mech->pairs * sizeof *run->state + 1);
    run->live_capacity = mech->pairs + 16;
    run->live = lash_alloc((size_t)run->live_capacity * sizeof *run->live);
    run->body = lash_alloc((size_t)mech->bodies * sizeof *run->body);
    double* q = lash_alloc((size_t)(mech->system.nq + mech->system.nv + 1) * sizeof *q);
    mech->system.initial_state(&mech->system, q, q + mech->system.nq);
    for (int k = 0; k < mech->pairs; ++k) {
        const PairContact* pair = &mech->pair[k];
        pair_state_start(&run->state[k], pair, pair->slots);
        promise_within(run, pair->a, pair->radius_a);
        promise_within(run, pair->b, pair->radius_b);
    }
    for (int g = 0; g < mech->groups; ++g) {
        const Group* group = &mech->group[g];
        for (int i = 0; i < group->members; ++i)
            promise_within(run, group->member[i].body, group->member[i].reach);
    }
    for (int i = 0; i < mech->bodies; ++i)
        lash_travel_start(&run->body[i].travel, pair_body_pose(q, i), run->body[i].travel.radius);
    groups_start(mech, run);
    lash_free(q);
}

void pairs_finish(const LashMechanism* mech, LashSystemWork* work) {
    PairRun* run = &work->pairs;
    for (int k = 0; k < mech->pairs; ++k) pair_state_finish(&run->state[k]);
    groups_finish(mech, run);
    lash_free(run->item);
    lash_free(run->live);
    lash_free(run->state);
    lash_free(run->body);
}

// ---- collect ------------------------------------------------------------------------------------

static void promise_motion(const LashMechanism* mech, PairRun* run, const double* q,
                           const double* v, double h, double factor) {
    for (int i = 1; i < mech->bodies; ++i) {
        BodyPromise* body = &run->body[i];
        if (!body->matters) continue;
        const double* u = v + 6 * (i - 1);
        body->start = pair_body_pose(q, i);
        lash_travel_move(&body->travel, body->start);
        double move = h * vec3_norm(vec3(u[0], u[1], u[2]));
        double turn = h * vec3_norm(vec3(u[3], u[4], u[5]));
        body->motion.translation = factor * (move + SLACK * body->travel.radius);
        body->motion.rotation = factor * (turn + SLACK);
    }
}

// Room in the list for more interactions.
static void reserve_items(PairRun* run, int count) {
    if (count <= run->capacity) return;
    run->capacity = count + count / 2;
    run->item = lash_realloc(run->item, (size_t)run->capacity * sizeof *run->item);
}

static void add_slots(LashSystemWork* work, PairState* state) {
    const PairContact* pair = state->contact;
    LashInteractionList* list = &work->list;
    const uint64_t* id = lash_pair_slots(state->work);
    LashInteraction item = {.kind = LASH_UNILATERAL,
                            .rows = rows_of(pair),
                            .e = pair->e,
                            .mu = pair->mu,
                            .surfaces = pair->surfaces};
    if (pair->a > 0) item.block[item.touched++] = pair->a - 1;
    if (pair->b > 0) item.block[item.touched++] = pair->b - 1;
    reserve_items(&work->pairs, list->count + state->slots);
    for (int i = 0; i < state->slots; ++i) {
        item.row = list->rows;
        item.offset = list->G_size;
        item.id = pair->group < 0 ? pair_id(pair->contact, id[i]) : group_id(pair, id[i]);
        work->pairs.item[list->count++] = item;
        list->rows += item.rows;
        list->G_size += 6 * item.touched * item.rows;
        state->axis[i] = -1;
        state->kept[i].found = false;
    }
}

// The motion promised for a shape: one of a group stands away from the origin of its body.
static LashMotion motion_of(const BodyPromise* body, const PairContact* pair, const Pose* shape) {
    LashMotion motion = body->motion;
    if (pair->group >= 0) motion.translation += motion.rotation * vec3_norm(shape->r);
    return motion;
}

static void make_live(PairRun* run, PairState* state) {
    if (run->lives == run->live_capacity) {
        run->live_capacity *= 2;
        run->live = lash_realloc(run->live, (size_t)run->live_capacity * sizeof(PairState*));
    }
    run->live[run->lives++] = state;
}

// Lists the slots of a pair that could touch in the step.
static void collect_pair(LashSystemWork* work, PairState* state, const double* q) {
    PairRun* run = &work->pairs;
    const PairContact* pair = state->contact;
    const BodyPromise *a = &run->body[pair->a], *b = &run->body[pair->b];
    double moved = a->motion.translation + a->motion.rotation * a->travel.radius +
                   b->motion.translation + b->motion.rotation * b->travel.radius;
    double travel = a->travel.sum + b->travel.sum;
    state->first = work->list.count;
    state->slots = 0;
    state->cache[0].filled = state->cache[1].filled = false;
    if (travel + moved < state->until) return; // cannot touch
    state->slots = lash_pair_collect(pair->pair, state->work, pose_a(pair, q), pose_b(pair, q),
                                     motion_of(a, pair, &pair->a_shape),
                                     motion_of(b, pair, &pair->b_shape), 0);
    state->until = travel + lash_pair_bound(state->work);
    state->overflow = state->slots > MAX_LISTED;
    if (state->overflow) state->slots = MAX_LISTED;
    if (state->slots == 0) return;
    if (state->slots > state->room) { // of a group's pair: room for what is near
        finish_slots(state);
        start_slots(state, state->slots);
    }
    add_slots(work, state);
    make_live(run, state);
}

void pairs_collect(const LashMechanism* mech, LashSystemWork* work, const double* q,
                   const double* v, double h, double factor) {
    PairRun* run = &work->pairs;
    promise_motion(mech, run, q, v, h, factor);
    run->lives = 0;
    for (int k = 0; k < mech->pairs; ++k) collect_pair(work, &run->state[k], q);
    for (int g = 0; g < mech->groups; ++g) {
        GroupRun* near = &run->group[g];
        group_search(mech, g, near, run->body, q);
        for (int k = 0; k < near->count; ++k) collect_pair(work, &near->pair[k]->state, q);
    }
    work->list.item = run->item;
}

// ---- saving -------------------------------------------------------------------------------------

void pair_state_archive(PairState* state, LashArchive* archive) {
    lash_archive_count(archive, &state->first, INT32_MAX);
    lash_archive_count(archive, &state->slots, MAX_LISTED);
    lash_archive(archive, &state->beyond, sizeof state->beyond);
    lash_archive(archive, &state->beyond_before, sizeof state->beyond_before);
    lash_archive(archive, &state->overflow, sizeof state->overflow);
    lash_archive(archive, &state->until, sizeof state->until);
    lash_pair_work_archive(state->work, archive);
    if (!lash_archive_reads(archive)) return;
    state->cache[0].filled = state->cache[1].filled = false;
    if (state->slots > state->room) {
        finish_slots(state);
        start_slots(state, state->slots);
    }
}

void pairs_archive(const LashMechanism* mech, LashSystemWork* work, LashArchive* archive) {
    PairRun* run = &work->pairs;
    if (mech->pairs == 0 && mech->groups == 0) return;
    size_t fixed = (size_t)mech->interactions;
    if (lash_archive_reads(archive)) {
        reserve_items(run, work->list.count);
        work->list.item = run->item;
        run->lives = 0;
    }
    lash_archive(archive, run->item + fixed,
                 ((size_t)work->list.count - fixed) * sizeof *run->item);
    lash_archive(archive, run->body, (size_t)mech->bodies * sizeof *run->body);
    for (int k = 0; k < mech->pairs; ++k) pair_state_archive(&run->state[k], archive);
    groups_archive(mech, run, archive);
    if (!lash_archive_reads(archive)) return;
    for (int k = 0; k < mech->pairs; ++k) {
        if (run->state[k].slots > 0) make_live(run, &run->state[k]);
    }
    for (int g = 0; g < mech->groups; ++g) {
        for (int k = 0; k < run->group[g].count; ++k) {
            PairState* state = &run->group[g].pair[k]->state;
            if (state->slots > 0) make_live(run, state);
        }
    }
}

// ---- evaluate -----------------------------------------------------------------------------------

static bool same_pose(Pose a, Pose b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool promise_kept(const LashMechanism* mech, const PairRun* run, const double* q) {
    for (int i = 1; i < mech->bodies; ++i) {
        const BodyPromise* body = &run->body[i];
        Pose p = pair_body_pose(q, i);
        if (body->matters && !lash_motion_within(&body->start, &p, body->motion)) return false;
    }
    return true;
}

// A point with the normal from a into b and the tangents of its slot.
typedef struct Frame {
    Vec3 x, t[3];  // middle of the feet; m, t1, t2
    Vec3 half;     // from it to where the lever of b ends; that of a ends on the other side
    Vec3 axis;     // world axis behind t1
    double across; // its length across m
} Frame;

static Frame frame_of(PairState* state, int slot, LashLevers levers,
                      const LashContactPoint* point) {
    Frame f = {.x = vec3_scale(0.5, vec3_add(point->point_a, point->point_b)),
               .t = {vec3_neg(point->normal)}};
    if (levers == LASH_OWN_POINTS) f.half = vec3_scale(-0.5 * point->gap, point->normal);
    Vec3 m = f.t[0];
    if (state->axis[slot] < 0) {
        const double steep = 0.6; // one component at least is smaller
        state->axis[slot] = fabs(m.y) < steep ? 1 : 2;
        if (fabs(m.x) < steep) state->axis[slot] = 0;
    }
    int c = state->axis[slot];
    f.axis = vec3(c == 0, c == 1, c == 2);
    Vec3 across = vec3_add_scaled(f.axis, -vec3_dot(m, f.axis), m);
    f.across = vec3_norm(across);
    f.t[1] = vec3_scale(1 / f.across, across);
    f.t[2] = vec3_cross(m, f.t[1]);
    return f;
}

static void put_directions(const PairContact* pair, const BodyState* body, const Frame* frame,
                           double* G) {
    int rows = rows_of(pair);
    if (pair->a > 0) {
        Vec3 own = vec3_sub(frame->x, frame->half);
        contraction_directions(&body[pair->a], own, -1, rows, frame->t, G);
        G += 6 * rows;
    }
    if (pair->b > 0) {
        Vec3 own = vec3_add(frame->x, frame->half);
        contraction_directions(&body[pair->b], own, 1, rows, frame->t, G);
    }
}

static void keep_point(PairKept* kept, const Pose* a, const Pose* b,
                       const LashContactPoint* point) {
    kept->found = true;
    kept->world_a = *a;
    kept->world_b = *b;
    kept->point_a = point->point_a;
    kept->point_b = point->point_b;
    kept->normal = point->normal;
    kept->gap = point->gap;
}

static void go_on(const PairKept* kept, Pose a, Pose b, LashContactPoint* point) {
    Vec3 at = pose_point(a, pose_point_inverse(kept->world_a, kept->point_a));
    Vec3 origin = pose_point(b, pose_point_inverse(kept->world_b, kept->point_b));
    Vec3 n = quat_rotate(b.rot, quat_rotate_inverse(kept->world_b.rot, kept->normal));
    double offset = // of the pair, contained in the gap
        kept->gap - vec3_dot(vec3_sub(kept->point_a, kept->point_b), kept->normal);
    double distance = vec3_dot(vec3_sub(at, origin), n);
    *point = (LashContactPoint){.gap = distance + offset,
                                .normal = n,
                                .point_a = at,
                                .point_b = vec3_add_scaled(at, -distance, n),
                                .a = {.X = {0}, .Y = {1, 0, 0, 1}},  // a vertex
                                .b = {.X = {1, 0, 0, 1}, .Y = {0}}}; // on a plane
}

// The lowest point of a ring that lies almost flat runs round it at the slightest tilt, and impulses
// found for one place would act at another. Where three fixed points of the ring are asked for, too,
// they bear it, and it stays where it was found first in the step.
static bool stays_where_it_was(const PairState* state, const uint8_t* wanted, int i) {
    if (wanted == NULL || !state->kept[i].found || i + 3 >= state->slots) return false;
    if (!wanted[i + 1] || !wanted[i + 2] || !wanted[i + 3]) return false;
    const PairPoints* cache = &state->cache[1 - state->latest];
    return lash_pair_runs_round(cache->roots, state->gap, state->slots, i);
}

// Gaps of a pair at poses a, b within the promise into state->gap, and the wanted points into the
// older cache.
static bool find_points(const PairContact* pair, PairState* state, Pose a, Pose b, bool points,
                        const uint8_t* wanted) {
    PairPoints* cache = &state->cache[1 - state->latest];
    cache->filled = false;
    if (!lash_pair_evaluate_roots(pair->pair, state->work, a, b, state->gap, wanted,
                                  points ? cache->point : NULL, points ? cache->roots : NULL))
        return false;
    state->beyond = lash_pair_beyond_reach(state->work);
    if (!points) return true;
    for (int i = 0; i < state->slots; ++i) {
        bool asked = wanted == NULL || wanted[i];
        cache->has[i] = asked && state->gap[i] < INFINITY ? HAS_PLACE : HAS_NOTHING;
        bool stays = cache->has[i] && stays_where_it_was(state, wanted, i);
        if (stays) cache->has[i] = HAS_NOTHING;
        if (cache->has[i]) {
            keep_point(&state->kept[i], &a, &b, &cache->point[i]);
        } else if (wanted != NULL && asked && state->kept[i].found) {
            go_on(&state->kept[i], a, b, &cache->point[i]);
            state->gap[i] = cache->point[i].gap;
            cache->has[i] = HAS_ALL;
        }
    }
    cache->filled = true;
    cache->world_a = a;
    cache->world_b = b;
    state->latest = 1 - state->latest;
    return true;
}

static bool any(const uint8_t* wanted, int count) {
    if (wanted == NULL) return true;
    for (int i = 0; i < count; ++i) {
        if (wanted[i]) return true;
    }
    return false;
}

static bool evaluate_pair(LashSystemWork* work, PairState* state, const double* q,
                          const uint8_t* wanted, double* g, double* g_t, double* G) {
    const PairContact* pair = state->contact;
    if (state->overflow) return false; // more than MAX_LISTED: some would be missed
    if (wanted != NULL) wanted += state->first;
    bool points = G != NULL && any(wanted, state->slots);
    if (!points && G != NULL && g_t == NULL) return true; // directions only, and none of them
    if (!find_points(pair, state, pose_a(pair, q), pose_b(pair, q), points, wanted)) return false;
    if (state->beyond > state->beyond_before && !pair->unsigned_gaps)
        return false; // came too deep to be measured
    int rows = rows_of(pair), G_size = 6 * touched_by(pair) * rows;
    LashLevers levers = rows > 1 ? work->levers : LASH_COMMON_POINT; // m does not feel them
    const PairPoints* cache = &state->cache[state->latest];
    const LashInteraction* item = work->pairs.item + state->first;
    for (int i = 0; i < state->slots; ++i, ++item) {
        double *gap = g + item->row, *rate = g_t != NULL ? g_t + item->row : NULL;
        gap[0] = state->gap[i];
        if (rows == 3) gap[1] = gap[2] = 0;
        if (wanted != NULL && !wanted[i]) continue;
        if (rate != NULL) rate[0] = 0;
        if (rate != NULL && rows == 3) rate[1] = rate[2] = 0;
        if (G == NULL) continue;
        if (!cache->has[i]) { // an empty slot acts on nothing
            memset(G + item->offset, 0, (size_t)G_size * sizeof *G);
            continue;
        }
        Frame f = frame_of(state, i, levers, &cache->point[i]);
        put_directions(pair, work->body, &f, G + item->offset);
    }
    return true;
}

bool pairs_evaluate(const LashMechanism* mech, LashSystemWork* work, const double* q,
                    const uint8_t* wanted, double* g, double* g_t, double* G) {
    if (!promise_kept(mech, &work->pairs, q)) return false;
    for (int k = 0; k < work->pairs.lives; ++k) {
        if (!evaluate_pair(work, work->pairs.live[k], q, wanted, g, g_t, G)) return false;
    }
    return true;
}

double pairs_surface_motion(const LashMechanism* mech, int surfaces, const double* d) {
    PairReach reach = {0};
    if (surfaces <= mech->pairs) {
        const PairContact* contact = &mech->pair[surfaces - 1];
        reach = (PairReach){contact->a, contact->b, contact->radius_a, contact->radius_b};
    } else {
        reach = group_reach(mech, surfaces);
    }
    Vec3 move = vec3_zero();
    double turned = 0;
    if (reach.a > 0) {
        const double* a = d + 6 * (reach.a - 1);
        move = vec3(-a[0], -a[1], -a[2]);
        turned += reach.radius_a * vec3_norm(vec3(a[3], a[4], a[5]));
    }
    if (reach.b > 0) {
        const double* b = d + 6 * (reach.b - 1);
        move = vec3_add(move, vec3(b[0], b[1], b[2]));
        turned += reach.radius_b * vec3_norm(vec3(b[3], b[4], b[5]));
    }
    return vec3_norm(move) + turned;
}

void pairs_accept(const LashMechanism* mech, LashSystemWork* work) {
    for (int k = 0; k < mech->pairs; ++k)
        work->pairs.state[k].beyond_before = work->pairs.state[k].beyond;
    for (int g = 0; g < mech->groups; ++g) {
        const GroupRun* near = &work->pairs.group[g];
        for (int k = 0; k < near->count; ++k)
            near->pair[k]->state.beyond_before = near->pair[k]->state.beyond;
    }
}

// ---- derivatives --------------------------------------------------------------------------------

// D of least norm where lash_contact_operator finds no unique solution: (M'M + eps I)^-1 M' with
// the equations of contact.h, angles balanced by the curvature as there.
static void damped_operator(const LashContactPoint* point, double D[16]) {
    double M[16] = {0}, N[16], y = 0,
           gap = vec3_dot(vec3_sub(point->point_a, point->point_b), point->normal);
    for (int i = 0; i < 4; ++i) y = fmax(y, fmax(fabs(point->a.Y[i]), fabs(point->b.Y[i])));
    double s = y > 0 ? 1 / y : 1;
    for (int j = 0; j < 2; ++j) {
        for (int i = 0; i < 2; ++i) {
            int k = i + 2 * j;
            M[i + 4 * j] = point->a.X[k];
            M[i + 4 * (j + 2)] = -(point->b.X[k] + gap * point->b.Y[k]);
            M[i + 2 + 4 * j] = s * point->a.Y[k];
            M[i + 2 + 4 * (j + 2)] = s * point->b.Y[k];
        }
    }
    for (int j = 0; j < 4; ++j) {
        for (int i = j; i < 4; ++i) {
            double sum = i == j ? 1e-12 : 0;
            for (int k = 0; k < 4; ++k) sum += M[k + 4 * i] * M[k + 4 * j];
            N[i + 4 * j] = sum;
        }
        for (int i = 0; i < 4; ++i) D[i + 4 * j] = M[j + 4 * i] * (j < 2 ? -1 : s);
    }
    for (int k = 0; k < 4; ++k) { // positive definite: no pivoting
        for (int i = k + 1; i < 4; ++i) {
            double f = N[i + 4 * k] / N[k + 4 * k];
            for (int j = k + 1; j <= i; ++j) N[i + 4 * j] -= f * N[j + 4 * k];
            for (int j = 0; j < 4; ++j) D[i + 4 * j] -= f * D[k + 4 * j];
        }
    }
    for (int j = 0; j < 4; ++j) {
        for (int i = 3; i >= 0; --i) {
            double sum = D[i + 4 * j];
            for (int k = i + 1; k < 4; ++k) sum -= N[k + 4 * i] * D[k + 4 * j];
            D[i + 4 * j] = sum / N[i + 4 * i];
        }
    }
}

// A vector in the plane of t1, t2 that depends on v and phi of b against a:
// t1 (v_1.v + phi_1.phi) + t2 (v_2.v + phi_2.phi).
typedef struct InPlane {
    Vec3 t1, t2, v_1, v_2, phi_1, phi_2;
} InPlane;

// (t1 t2) M r with r = -(w_t, (omega x n)_t), M (2 x 4).
static inline InPlane in_plane(Vec3 t1, Vec3 t2, const double* M) {
    return (InPlane){.t1 = t1,
                     .t2 = t2,
                     .v_1 = vec3_add_scaled(vec3_scale(M[0], t1), M[2], t2),
                     .v_2 = vec3_add_scaled(vec3_scale(M[1], t1), M[3], t2),
                     .phi_1 = vec3_add_scaled(vec3_scale(M[4], t2), -M[6], t1),
                     .phi_2 = vec3_add_scaled(vec3_scale(M[5], t2), -M[7], t1)};
}

static inline void put_in_plane(const InPlane* plane, Vec3 t1, Vec3 t2, Mat3* of_v, Mat3* of_phi) {
    *of_v = mat3_add(mat3_outer(t1, plane->v_1), mat3_outer(t2, plane->v_2));
    *of_phi = mat3_add(mat3_outer(t1, plane->phi_1), mat3_outer(t2, plane->phi_2));
}

// How the normal m = -n and the middle of the feet change, from D: with r as in in_plane,
//   dm = phi_a x m + phi x m + (t1 t2) Y_b D_b r
//   dx = (a at p_a + b at p_b) / 2 - (t1 t2) (X_a D_a + X_b D_b) r / 2
// Returns the last term of dm.
static InPlane point_rates(const LashContactPoint* point, ContractionRates* rates) {
    double D[16], N[8], S[8];
    const double *Xa = point->a.X, *Xb = point->b.X, *Yb = point->b.Y;
    Vec3 t1, t2, apart = vec3_sub(point->point_b, point->point_a);
    vec3_basis(point->normal, &t1, &t2);
    if (!lash_contact_operator(point, D)) damped_operator(point, D);
    for (int j = 0; j < 4; ++j) {
        const double* d = D + 4 * j;
        for (int i = 0; i < 2; ++i) {
            N[i + 2 * j] = Yb[i] * d[2] + Yb[i + 2] * d[3];
            S[i + 2 * j] =
                -0.5 * (Xa[i] * d[0] + Xa[i + 2] * d[1] + Xb[i] * d[2] + Xb[i + 2] * d[3]);
        }
    }
    InPlane slide = in_plane(t1, t2, S);
    put_in_plane(&slide, t1, t2, &rates->p_v, &rates->p_phi);
    for (int i = 0; i < 9; i += 4) rates->p_v.m[i] += 0.5;
    rates->p_phi = mat3_add(rates->p_phi, mat3_skew(vec3_scale(-0.5, apart)));
    rates->x_0 = point->point_a;
    return in_plane(t1, t2, N);
}

// d((g/2) m) = (m m.v + g dm) / 2; what turns with a is not in it.
static void half_rates(const Frame* frame, const InPlane* dm, double gap, ContractionRates* rates) {
    Vec3 m = frame->t[0];
    Mat3 turn_v, turn_phi;
    put_in_plane(dm, dm->t1, dm->t2, &turn_v, &turn_phi);
    turn_phi = mat3_add(turn_phi, mat3_skew(vec3_neg(m)));
    rates->e_v = mat3_add(mat3_outer(vec3_scale(0.5, m), m), mat3_scale(0.5 * gap, turn_v));
    rates->e_phi = mat3_scale(0.5 * gap, turn_phi);
}

// The directions depend on m alone. With u the world axis behind t1 and l its length across m:
//   dt1 = -(m u.dm + m.u (I - t1 t1') dm) / l,   dt2 = dm x t1 + m x dt1,   so df = Z dm with
//   Z t1 = P_0 t1 - P_1 m,   Z t2 = (P_0 + k P_1) t2 - P_2 (m + k t1),   k = -m.u / l
// and w.dt_r = z_r.dm. A turn phi x m of m gives Z (phi x m) = (Z t1 t2' - Z t2 t1') phi.
static void direction_rates(const Frame* frame, const Contraction* contraction, const double* P,
                            const InPlane* dm, ContractionRates* rates) {
    Vec3 m = frame->t[0], t1 = frame->t[1], t2 = frame->t[2], z[3] = {contraction->w};
    double k = -vec3_dot(m, frame->axis) / frame->across;
    if (P != NULL) {
        bool friction = contraction->rows > 1;
        Vec3 Z1 = vec3_scale(P[0], t1), Z2 = vec3_scale(friction ? P[0] + k * P[1] : P[0], t2);
        if (friction) {
            Z1 = vec3_add_scaled(Z1, -P[1], m);
            Z2 = vec3_add_scaled(Z2, -P[2], vec3_add_scaled(m, k, t1));
        }
        Vec3 to_1 = vec3_add_scaled(vec3_scale(vec3_dot(t1, dm->t1), Z1), vec3_dot(t2, dm->t1), Z2);
        Vec3 to_2 = vec3_add_scaled(vec3_scale(vec3_dot(t1, dm->t2), Z1), vec3_dot(t2, dm->t2), Z2);
        rates->f_turn = mat3_sub(mat3_outer(Z1, t2), mat3_outer(Z2, t1));
        put_in_plane(dm, to_1, to_2, &rates->f_v, &rates->f_phi);
        rates->f_phi = mat3_add(rates->f_phi, rates->f_turn);
    }
    if (contraction->rows > 1) {
        double away = -vec3_dot(m, contraction->w), on_1 = vec3_dot(t1, contraction->w),
               on_2 = vec3_dot(t2, contraction->w);
        z[1] = vec3_add_scaled(vec3_scale(away, t1), k * on_2, t2);
        z[2] = vec3_scale(away - k * on_1, t2);
    }
    for (int r = 0; r < contraction->rows; ++r) {
        double z_1 = vec3_dot(dm->t1, z[r]), z_2 = vec3_dot(dm->t2, z[r]);
        rates->w_turn[r] = vec3_cross(m, z[r]);
        rates->w_v[r] = vec3_add_scaled(vec3_scale(z_1, dm->v_1), z_2, dm->v_2);
        rates->w_phi[r] = vec3_add_scaled(vec3_scale(z_1, dm->phi_1), z_2, dm->phi_2);
        rates->w_phi[r] = vec3_add(rates->w_phi[r], rates->w_turn[r]);
    }
}

static const LashContactPoint* complete_point(const PairContact* pair, PairPoints* cache,
                                              int slot) {
    if (cache->has[slot] == HAS_NOTHING) return NULL;
    if (cache->has[slot] == HAS_PLACE)
        lash_pair_second_order(pair->pair, cache->roots, slot, &cache->point[slot]);
    cache->has[slot] = HAS_ALL;
    return &cache->point[slot];
}

// The point of a slot at q: from the caches, or found anew. NULL: the slot is empty.
static const LashContactPoint* point_at(const LashMechanism* mech, const PairRun* run,
                                        PairState* state, const double* q, int slot) {
    const PairContact* pair = state->contact;
    Pose a = pose_a(pair, q), b = pose_b(pair, q);
    for (int c = 0; c < 2; ++c) {
        PairPoints* cache = &state->cache[c];
        bool same = cache->filled && same_pose(cache->world_a, a) && same_pose(cache->world_b, b);
        if (same && cache->has[slot]) return complete_point(pair, cache, slot);
    }
    if (!promise_kept(mech, run, q) || !find_points(pair, state, a, b, true, NULL)) return NULL;
    return complete_point(pair, &state->cache[state->latest], slot);
}

// The pair that listed interaction i.
static PairState* live_pair(const PairRun* run, int i) {
    int low = 0, high = run->lives - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (run->live[middle]->first <= i)
            low = middle;
        else
            high = middle - 1;
    }
    return run->live[low];
}

void pairs_contract(const LashMechanism* mech, LashSystemWork* work, const double* q, int i,
                    const double* P, const double* v, double* dGP, double* dGv) {
    PairState* state = live_pair(&work->pairs, i);
    const PairContact* pair = state->contact;
    int rows = rows_of(pair), n = 6 * touched_by(pair), slot = i - state->first;
    const LashContactPoint* point = point_at(mech, &work->pairs, state, q, slot);
    if (point == NULL) {
        if (dGP != NULL) memset(dGP, 0, (size_t)(n * n) * sizeof *dGP);
        if (dGv != NULL) memset(dGv, 0, (size_t)(rows * n) * sizeof *dGv);
        return;
    }
    Frame f = frame_of(state, slot, rows > 1 ? work->levers : LASH_COMMON_POINT, point);
    Contraction c = {.a = &work->body[pair->a],
                     .b = &work->body[pair->b],
                     .has_a = pair->a > 0,
                     .has_b = pair->b > 0,
                     .rows = rows,
                     .point = f.x,
                     .own_points = rows > 1 && work->levers == LASH_OWN_POINTS,
                     .half = f.half,
                     .t = {f.t[0], f.t[1], f.t[2]}};
    ContractionRates rates = {0};
    if (dGP == NULL) P = NULL;
    contraction_prepare(&c, P, dGv != NULL ? v : NULL);
    InPlane dm = point_rates(point, &rates);
    if (c.own_points) half_rates(&f, &dm, point->gap, &rates);
    direction_rates(&f, &c, P, &dm, &rates);
    if (dGP != NULL) contraction_impulse(&c, &rates, dGP);
    if (dGv != NULL) contraction_velocity(&c, &rates, dGv);
}

// ---- results ------------------------------------------------------------------------------------

LashContactPlace pair_place_of(const LashContactPoint* point) {
    return (LashContactPlace){point->gap, vec3_scale(0.5, vec3_add(point->point_a, point->point_b)),
                              vec3_neg(point->normal)};
}

// All points with a gap of at most `within`; the caller frees them.
LashContactPoint* pair_query(const PairContact* pair, const double* q, double within, int* count,
                             int* beyond) {
    LashPairWork* work = lash_pair_work_create(pair->pair);
    size_t most = (size_t)lash_pair_max_slots(pair->pair);
    LashContactPoint* point = lash_alloc((most + 1) * sizeof *point);
    *count = lash_pair_query(pair->pair, work, pose_a(pair, q), pose_b(pair, q), within, point,
                             (int)most);
    if (beyond != NULL) *beyond = lash_pair_beyond_reach(work);
    lash_pair_work_destroy(work);
    return point;
}

LashContactPlace pair_least(const PairContact* pair, const double* q) {
    LashContactPlace least = {.gap = INFINITY};
    // All points within a limit are found: the least is the same whatever the limit, and a search of
    // free surfaces costs by it.
    double first = 1e-3 * fmin(pair->radius_a, pair->radius_b);
    double most = 100 * (pair->radius_a + pair->radius_b);
    bool searches = lash_pair_searches(pair->pair);
    for (double within = searches ? first : INFINITY; isinf(least.gap); within *= 8) {
        int count;
        if (!(within < most)) within = INFINITY;
        LashContactPoint* point = pair_query(pair, q, within, &count, NULL);
        for (int i = 0; i < count; ++i)
            if (point[i].gap < least.gap) least = pair_place_of(&point[i]);
        lash_free(point);
        if (isinf(within)) break;
    }
    return least;
}

// Points report up to twice the depth of what is in the other part; crossed edges a little more.
static const double STANDS_FOR = 0.4;

LashContactPlace pair_interference(const PairContact* pair, const double* q) {
    LashInterference found = lash_pair_interference(pair->pair, pose_a(pair, q), pose_b(pair, q));
    if (!(found.depth > 0) || STANDS_FOR * found.depth <= -pair_least(pair, q).gap)
        return (LashContactPlace){.gap = INFINITY};
    return (LashContactPlace){-found.depth, found.point, vec3_neg(found.normal)};
}

LashContactPlace lash_mechanism_contact_interference(const LashMechanism* mech, int contact,
                                                     const double* q) {
    LashContactPlace none = {.gap = INFINITY};
    int k = mech->contact[contact].pair;
    if (k == CONTACT_OF_GROUP) return group_interference(mech, contact, q);
    if (k < 0 || mech->pair[k].unsigned_gaps) return none;
    return pair_interference(&mech->pair[k], q);
}

LashContactIntrusion lash_mechanism_contact_intrusion(const LashMechanism* mech, int contact,
                                                      const double* q) {
    LashContactIntrusion none = {.name = ""};
    int k = mech->contact[contact].pair;
    if (k < 0 || mech->pair[k].unsigned_gaps) return none;
    const PairContact* pair = &mech->pair[k];
    LashIntrusion found =
        lash_pair_intrusion(pair->pair, pair_body_pose(q, pair->a), pair_body_pose(q, pair->b));
    if (!(found.depth > 0)) return none;
    return (LashContactIntrusion){found.depth, found.point, (found.into_a ? pair->a : pair->b) - 1,
                                  found.face->index, found.name};
}

int lash_mechanism_contact_points(const LashMechanism* mech, int contact, const double* q,
                                  double within, LashContactPlace* places, int capacity,
                                  int* beyond) {
    int count, pair = mech->contact[contact].pair;
    if (beyond != NULL) *beyond = 0;
    if (pair == CONTACT_OF_GROUP)
        return group_points(mech, contact, q, within, places, capacity, beyond);
    if (pair < 0) {
        LashContactPlace place = lash_mechanism_contact_place(mech, contact, q);
        if (!(place.gap <= within)) return 0;
        if (capacity > 0) places[0] = place;
        return 1;
    }
    LashContactPoint* point = pair_query(&mech->pair[pair], q, within, &count, beyond);
    if (beyond != NULL && mech->pair[pair].unsigned_gaps) *beyond = 0;
    if (beyond != NULL && *beyond == 0)
        *beyond = lash_mechanism_contact_interference(mech, contact, q).gap < 0;
    for (int i = 0; i < count && i < capacity; ++i) places[i] = pair_place_of(&point[i]);
    lash_free(point);
    return count;
}

// collect lists what is nearer than the promised motion of both sides; a part of that is used up.
double lash_mechanism_contact_seen(const LashMechanism* mech, const LashSystemWork* work,
                                   int contact, const double* q) {
    int k = mech->contact[contact].pair;
    if (k < 0) return INFINITY;
    const PairContact* pair = &mech->pair[k];
    if (work->pairs.state[k].slots == 0) return -INFINITY;
    const int body[2] = {pair->a, pair->b};
    const double radius[2] = {pair->radius_a, pair->radius_b};
    double left = 0;
    for (int s = 0; s < 2; ++s) {
        const BodyPromise* promise = &work->pairs.body[body[s]];
        if (body[s] == 0) continue;
        LashTravel travel;
        lash_travel_start(&travel, promise->start, radius[s]);
        lash_travel_move(&travel, pair_body_pose(q, body[s]));
        left += promise->motion.translation + radius[s] * promise->motion.rotation - travel.sum;
    }
    return left;
}

bool lash_mechanism_interaction_place(const LashMechanism* mech, const LashSystemWork* work, int i,
                                      const double* q, LashContactPlace* place) {
    const LashInteraction* item = &work->list.item[i];
    int contact = lash_mechanism_contact_of(mech, item->id);
    if (contact < 0) return false;
    if (!pair_id_is(item->id)) {
        *place = lash_mechanism_contact_place(mech, contact, q);
        return true;
    }
    const PairState* state = live_pair(&work->pairs, i);
    const PairPoints* cache = &state->cache[state->latest];
    int slot = i - state->first;
    if (!cache->filled || !cache->has[slot]) return false;
    *place = pair_place_of(&cache->point[slot]);
    return true;
}
