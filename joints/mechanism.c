// The multibody system as a scheme sees it, and its results. Building it: mechanism_build.c.
//
// Body i > 0 has q = (r, quaternion) at 7 (i - 1) and v = (velocity in world axes, omega in body
// axes) at 6 (i - 1). Body 0 is the ground: at the origin, not in q.
#include "joints/mechanism.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/arena.h"
#include "joints/contact/contact_wide.h"
#include "joints/mechanism_internal.h"

// --- Kinematics ----------------------------------------------------------------------------------

static inline BodyState state_at(const double* r) {
    return (BodyState){vec3(r[0], r[1], r[2]), quat_matrix(quat(r[3], r[4], r[5], r[6]))};
}

static void place_body(int i, const double* q, BodyState* body) {
    body[i] = state_at(q + 7 * (i - 1));
}

void mechanism_place(const LashMechanism* mech, const double* q, BodyState* body) {
    body[0] = (BodyState){vec3_zero(), mat3_identity()};
    for (int i = 1; i < mech->bodies; ++i) place_body(i, q, body);
}

static void place_touched(const LashInteraction* item, const double* q, BodyState* body) {
    body[0] = (BodyState){vec3_zero(), mat3_identity()};
    for (int k = 0; k < item->touched; ++k) place_body(item->block[k] + 1, q, body);
}

void mechanism_joint_frames(const Joint* joint, const BodyState* body, const double* turned,
                            JointFrames* frames) {
    mechanism_frames_between(joint, &body[joint->a], &body[joint->b], turned, frames);
}

void mechanism_frames_between(const Joint* joint, const BodyState* a, const BodyState* b,
                              const double* turned, JointFrames* frames) {
    frames->a = a;
    frames->b = b;
    frames->a_point = joint->def.a_joint.r;
    frames->b_point = joint->def.b_joint.r;
    frames->a_axes = &joint->a_axes;
    frames->b_axes = &joint->b_axes;
    frames->p_a = joint->a == 0 ? frames->a_point
                                : vec3_add(frames->a->x, mat3_mul(frames->a->R, frames->a_point));
    frames->p_b = vec3_add(frames->b->x, mat3_mul(frames->b->R, frames->b_point));
    if (joint->kind->angular != 0)
        frames->a_b =
            joint->a == 0 ? frames->b->R : mat3_product(mat3_transpose(frames->a->R), frames->b->R);
    frames->length = joint->def.length;
    frames->lead = joint->def.pitch / (2 * LASH_PI);
    frames->turned = turned;
}

static const LashMechanism* of(const LashSystem* system) {
    return (const LashMechanism*)system;
}

static void initial_state(const LashSystem* system, double* q, double* v) {
    const LashMechanism* mech = of(system);
    for (int i = 1; i < mech->bodies; ++i, q += 7, v += 6) {
        const LashBodyDef* def = &mech->body[i].def;
        const Pose p = def->world_body;
        const double values[7] = {p.r.x, p.r.y, p.r.z, p.rot.w, p.rot.x, p.rot.y, p.rot.z};
        const double speeds[6] = {def->velocity.x, def->velocity.y, def->velocity.z,
                                  def->omega.x,    def->omega.y,    def->omega.z};
        memcpy(q, values, sizeof values);
        memcpy(v, speeds, sizeof speeds);
    }
}

// x += s d_x,  p <- p exp(s d_omega / 2)
static inline void move_body(const double* q, double s, const double* d, double* result) {
    Quat p = quat_mul(quat(q[3], q[4], q[5], q[6]), quat_exp(vec3(s * d[3], s * d[4], s * d[5])));
    result[0] = q[0] + s * d[0];
    result[1] = q[1] + s * d[1];
    result[2] = q[2] + s * d[2];
    result[3] = p.w;
    result[4] = p.x;
    result[5] = p.y;
    result[6] = p.z;
}

static void move(const LashSystem* system, const double* q, double s, const double* d,
                 double* result) {
    for (int i = 0; i < system->blocks; ++i) move_body(q + 7 * i, s, d + 6 * i, result + 7 * i);
}

static void difference(const LashSystem* system, const double* b, const double* a, double* d) {
    for (int i = 0; i < system->blocks; ++i, a += 7, b += 7, d += 6) {
        Vec3 w = quat_log(quat_mul(quat(a[3], -a[4], -a[5], -a[6]), quat(b[3], b[4], b[5], b[6])));
        d[0] = b[0] - a[0];
        d[1] = b[1] - a[1];
        d[2] = b[2] - a[2];
        d[3] = w.x;
        d[4] = w.y;
        d[5] = w.z;
    }
}

static void move_tangent(const LashSystem* system, double s, const double* d, const double* x,
                         double* y) {
    for (int i = 0; i < system->blocks; ++i, d += 6, x += 6, y += 6) {
        Vec3 w = mat3_mul(so3_right_jacobian(vec3(s * d[3], s * d[4], s * d[5])),
                          vec3(x[3], x[4], x[5]));
        y[0] = x[0];
        y[1] = x[1];
        y[2] = x[2];
        y[3] = w.x;
        y[4] = w.y;
        y[5] = w.z;
    }
}

// --- Mass and forces -----------------------------------------------------------------------------

static void mass(const LashSystem* system, LashSystemWork* work, const double* q, double* M) {
    (void)work;
    (void)q;
    const LashMechanism* mech = of(system);
    memset(M, 0, (size_t)system->pattern.offset[system->pattern.count] * sizeof *M);
    for (int i = 1; i < mech->bodies; ++i) {
        const LashBodyDef* def = &mech->body[i].def;
        double* block = M + system->pattern.offset[i - 1];
        for (int k = 0; k < 3; ++k) block[k + 6 * k] = def->mass;
        for (int j = 0; j < 3; ++j) {
            for (int k = 0; k < 3; ++k) block[(3 + k) + 6 * (3 + j)] = def->inertia.m[k + 3 * j];
        }
    }
}

static void forces(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                   const double* v, double* F) {
    const LashMechanism* mech = of(system);
    memset(F, 0, (size_t)system->nv * sizeof *F);
    if (mech->forces > 0) mechanism_place(mech, q, work->body);
    mechanism_add_forces(mech, work, t, v, F);
}

static void tangents(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                     const double* v, double* C, double* K) {
    const LashMechanism* mech = of(system);
    size_t bytes = (size_t)system->pattern.offset[system->pattern.count] * sizeof(double);
    memset(C, 0, bytes);
    memset(K, 0, bytes);
    mechanism_place(mech, q, work->body);
    mechanism_add_tangents(mech, work, t, v, C, K);
}

static void definite_tangents(const LashSystem* system, LashSystemWork* work, double t,
                              const double* q, const double* v, double* C, double* K) {
    const LashMechanism* mech = of(system);
    size_t bytes = (size_t)system->pattern.offset[system->pattern.count] * sizeof(double);
    memset(C, 0, bytes);
    memset(K, 0, bytes);
    mechanism_place(mech, q, work->body);
    mechanism_add_definite_tangents(mech, work, t, v, C, K);
}

static void conservative(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                         double* F) {
    (void)t;
    const LashMechanism* mech = of(system);
    memset(F, 0, (size_t)system->nv * sizeof *F);
    if (mech->forces > 0) mechanism_place(mech, q, work->body);
    mechanism_add_conservative(mech, work, F);
}

static LashPower power(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                       const double* v) {
    const LashMechanism* mech = of(system);
    if (mech->forces == 0) return (LashPower){0};
    mechanism_place(mech, q, work->body);
    return mechanism_force_power(mech, work, t, v);
}

static double potential(const LashSystem* system, LashSystemWork* work, double t, const double* q) {
    (void)t;
    const LashMechanism* mech = of(system);
    double energy = 0;
    for (int i = 1; i < mech->bodies; ++i) {
        const double* r = q + 7 * (i - 1);
        energy -= mech->body[i].def.mass * vec3_dot(mech->gravity, vec3(r[0], r[1], r[2]));
    }
    if (mech->forces == 0) return energy;
    mechanism_place(mech, q, work->body);
    return energy + mechanism_force_potential(mech, work);
}

// --- Interactions --------------------------------------------------------------------------------

static ContactView view_at(const LashMechanism* mech, const Contact* contact, const double* q,
                           BodyState* body) {
    ContactView view;
    place_touched(&mech->interaction[contact->interaction], q, body);
    contact_view(contact->a > 0 ? &body[contact->a] : NULL, &body[contact->b], &view);
    return view;
}

static void begin_rims(const LashMechanism* mech, LashSystemWork* work, const double* q) {
    for (int k = 0; k < work->rims.count; ++k) {
        const Contact* contact = &mech->contact[work->rims.rim[k].contact];
        ContactView view = view_at(mech, contact, q, work->body);
        rim_begin(&work->rims.rim[k], contact, &view);
    }
}

static const LashInteractionList* collect(const LashSystem* system, LashSystemWork* work, double t,
                                          const double* q, const double* v, double h,
                                          double factor) {
    (void)t;
    const LashMechanism* mech = of(system);
    work->list = (LashInteractionList){.count = mech->interactions,
                                       .bilateral = mech->bilateral,
                                       .rows = mech->rows,
                                       .bilateral_rows = mech->bilateral_rows,
                                       .G_size = mech->G_size,
                                       .item = mech->interaction};
    if (mech->pairs > 0 || mech->groups > 0) pairs_collect(mech, work, q, v, h, factor);
    if (work->rims.exchanges) begin_rims(mech, work, q);
    return &work->list;
}

// Motion of ring against plane with v + e v_start, at rebound e.
static RimMotion motion_of(const Contact* contact, const ContactView* view, const LashPass* pass) {
    double e = contact->def.e * pass->restitution;
    const Contact* c = contact;
    Vec3 velocity[2] = {vec3_zero(), vec3_zero()}, turning[2] = {vec3_zero(), vec3_zero()};
    const int body[2] = {c->a, c->b};
    for (int k = 0; k < 2; ++k) {
        if (body[k] == 0) continue;
        const double *v = pass->v + 6 * (body[k] - 1), *w = pass->v_start + 6 * (body[k] - 1);
        velocity[k] = vec3(v[0] + e * w[0], v[1] + e * w[1], v[2] + e * w[2]);
        turning[k] = vec3(v[3] + e * w[3], v[4] + e * w[4], v[5] + e * w[5]);
    }
    if (c->a > 0) { // to the axes of a
        velocity[0] = mat3_mul_transposed(view->a->R, velocity[0]);
        velocity[1] = mat3_mul_transposed(view->a->R, velocity[1]);
    }
    Vec3 lever = mat3_mul(view->Q, c->def.b_frame.r), center = vec3_add(view->d, lever);
    turning[1] = mat3_mul(view->Q, turning[1]);
    Vec3 of_a = vec3_add(velocity[0], vec3_cross(turning[0], center));
    Vec3 of_b = vec3_add(velocity[1], vec3_cross(turning[1], lever));
    return (RimMotion){.approach = vec3_dot(c->a_axis, vec3_sub(of_b, of_a)),
                       .turning = vec3_sub(turning[1], turning[0]),
                       .position = pass->position,
                       .velocity = pass->velocity,
                       .h = pass->h};
}

static bool exchange(const LashSystem* system, LashSystemWork* work, const LashPass* pass,
                     uint8_t* chosen) {
    const LashMechanism* mech = of(system);
    bool any = false;
    for (int k = 0; k < work->rims.count; ++k) {
        const Contact* contact = &mech->contact[work->rims.rim[k].contact];
        ContactView view = view_at(mech, contact, pass->q, work->body);
        RimMotion motion = motion_of(contact, &view, pass);
        bool here = rim_exchange(&work->rims.rim[k], contact, &view, &motion);
        chosen[contact->interaction] = here;
        any = any || here;
    }
    return any;
}

static void set_exchange(LashSystemWork* work, bool exchanges) {
    work->rims.exchanges = exchanges && work->rims.count > 0;
}

// The normal row, and zeros in the tangential ones.
static inline void put_normal(const LashInteraction* item, double value, double* g) {
    g += item->row;
    g[0] = value;
    if (item->rows == 3) g[1] = g[2] = 0;
}

static void evaluate_contacts(const LashMechanism* mech, LashSystemWork* work, Evaluated* at,
                              const uint8_t* wanted, double* g, double* g_t, double* G) {
    for (int c = 0; c < mech->contacts; ++c) {
        const Contact* contact = &mech->contact[c];
        ContactState* contact_state = &at->state[c];
        if (contact->pair != CONTACT_OF_FEATURES) continue;
        bool asked = wanted == NULL || wanted[contact->interaction];
        at->known[c] = asked && G != NULL;
        if (!asked && G != NULL && g_t == NULL) continue; // directions only
        const LashInteraction* item = &mech->interaction[contact->interaction];
        const ContactView* view = &at->view[contact->view];
        if (!contact_is_circle_in_cylinder(contact)) contact_gap(contact, view, contact_state);
        if (contact->rim >= 0 && work->rims.exchanges)
            rim_gap(&work->rims.rim[contact->rim], contact, view, asked, contact_state);
        put_normal(item, contact_state->gap, g);
        if (!asked) continue;
        if (g_t != NULL) put_normal(item, 0, g_t);
        if (G == NULL) continue;
        double *Ga = contact->a > 0 ? G + item->offset : NULL, *Gb = NULL;
        if (contact->b > 0) Gb = G + item->offset + (contact->a > 0 ? 6 * item->rows : 0);
        contact_point(contact, contact_state);
        contact_directions(contact, view, contact_state, item->rows, work->levers, Ga, Gb);
    }
}

static void place_views(const LashMechanism* mech, Evaluated* at) {
    for (int k = 0; k < mech->views; ++k) {
        const int *side = mech->view[k], a = side[0];
        contact_view(a > 0 ? &at->body[a] : NULL, &at->body[side[1]], &at->view[k]);
    }
}

static void place_contacts(const LashMechanism* mech, const BodyState* body, const double* q,
                           Evaluated* at) {
    at->filled = true;
    memcpy(at->q, q, (size_t)mech->system.nq * sizeof *q);
    memcpy(at->body, body, (size_t)mech->bodies * sizeof *body);
    place_views(mech, at);
}

static bool evaluate(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                     const uint8_t* wanted, double* g, double* g_t, double* G) {
    const LashMechanism* mech = of(system);
    mechanism_place(mech, q, work->body);
    for (int j = 0; j < mech->joints; ++j) joint_evaluate(mech, work, j, t, wanted, g, g_t, G);
    Evaluated* at = &work->evaluated[work->latest = 1 - work->latest];
    place_contacts(mech, work->body, q, at);
    circles_find(work->circles, mech->contact, at->view, at->state);
    evaluate_contacts(mech, work, at, wanted, g, g_t, G);
    if (mech->pairs == 0 && mech->groups == 0) return true;
    return pairs_evaluate(mech, work, q, wanted, g, g_t, G);
}

// Did this evaluation find the bodies of an interaction where they are in q?
static bool evaluated_at(const Evaluated* at, const LashInteraction* item, const double* q) {
    if (!at->filled) return false;
    for (int k = 0; k < item->touched; ++k) {
        int first = 7 * item->block[k];
        if (memcmp(at->q + first, q + first, 7 * sizeof *q) != 0) return false;
    }
    return true;
}

static void contract_contact(const LashMechanism* mech, LashSystemWork* work, const double* q,
                             const LashInteraction* item, const double* P, const double* v,
                             double* dGP, double* dGv) {
    int number = (int)(item->id - CONTACT_ID), rows = item->rows;
    const Contact* contact = &mech->contact[number];
    for (int k = 0; k < 2; ++k) {
        const Evaluated* at = &work->evaluated[k];
        if (!at->known[number] || !evaluated_at(at, item, q)) continue;
        contact_contract(contact, at->body, &at->view[contact->view], &at->state[number], rows,
                         work->levers, P, v, dGP, dGv);
        return;
    }
    ContactView view;
    ContactState s;
    place_touched(item, q, work->body);
    contact_view(contact->a > 0 ? &work->body[contact->a] : NULL, &work->body[contact->b], &view);
    contact_gap(contact, &view, &s);
    if (contact->rim >= 0) rim_gap_again(&work->rims.rim[contact->rim], contact, &view, &s);
    contact_point(contact, &s);
    contact_contract(contact, work->body, &view, &s, rows, work->levers, P, v, dGP, dGv);
}

static void contract(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                     int i, const double* P, const double* v, double* dGP, double* dGv) {
    (void)t;
    const LashMechanism* mech = of(system);
    const LashInteraction* item = &work->list.item[i];
    double touched[6 * LASH_MAX_TOUCHED];
    for (int s = 0; s < item->touched && dGv != NULL; ++s) {
        memcpy(touched + 6 * s, v + 6 * item->block[s], 6 * sizeof *v);
    }
    if (!pair_id_is(item->id) && item->id >= CONTACT_ID) {
        contract_contact(mech, work, q, item, P, touched, dGP, dGv);
        return;
    }
    place_touched(item, q, work->body);
    if (pair_id_is(item->id)) {
        pairs_contract(mech, work, q, i, P, touched, dGP, dGv);
    } else {
        joint_contract(mech, work, item, P, touched, dGP, dGv);
    }
}

static bool push(const LashSystem* system, LashSystemWork* work, const double* q, double s,
                 const double* d, int i, const double* P, LashWide* x) {
    const LashMechanism* mech = of(system);
    const LashInteraction* item = &work->list.item[i];
    if (pair_id_is(item->id) || item->id < CONTACT_ID) return false;
    const Contact* contact = &mech->contact[item->id - CONTACT_ID];
    BodyState* body = work->body;
    body[0] = (BodyState){vec3_zero(), mat3_identity()};
    for (int k = 0; k < item->touched; ++k) {
        int block = item->block[k];
        double there[7];
        move_body(q + 7 * block, s, d + 6 * block, there);
        body[block + 1] = state_at(there);
    }
    ContactView view;
    ContactState near;
    contact_view(contact->a > 0 ? &body[contact->a] : NULL, &body[contact->b], &view);
    contact_gap(contact, &view, &near);
    return contact_push_wide(contact, q, s, d, &near, work->levers, item->rows, P, x);
}

static double surface_motion(const LashSystem* system, int surfaces, const double* d) {
    return pairs_surface_motion(of(system), surfaces, d);
}

static bool has_angle(const JointKind* kind) {
    for (int c = 0; c < kind->coordinates; ++c) {
        if (coordinate_is_angle(kind->coordinate[c])) return true;
    }
    return false;
}

static void accept(const LashSystem* system, LashSystemWork* work, double t, double* q,
                   const double* v) {
    (void)t;
    (void)v;
    const LashMechanism* mech = of(system);
    for (int i = 0; i < system->blocks; ++i) {
        double* p = q + 7 * i + 3;
        Quat unit = quat_normalize(quat(p[0], p[1], p[2], p[3]));
        p[0] = unit.w;
        p[1] = unit.x;
        p[2] = unit.y;
        p[3] = unit.z;
    }
    mechanism_place(mech, q, work->body);
    pairs_accept(mech, work);
    for (int j = 0; j < mech->joints; ++j) {
        const Joint* joint = &mech->joint[j];
        double* turned = work->turned + LASH_MAX_COORDINATES * j;
        if (!has_angle(joint->kind)) continue;
        JointFrames f;
        mechanism_joint_frames(joint, work->body, turned, &f);
        for (int c = 0; c < joint->kind->coordinates; ++c) {
            CoordinateType type = joint->kind->coordinate[c];
            if (coordinate_is_angle(type)) turned[c] = coordinate_unwrapped(type, &f, turned[c]);
        }
    }
}

static void name(const LashSystem* system, uint64_t id, char* text, size_t size) {
    const LashMechanism* mech = of(system);
    if (id >= CONTACT_ID) {
        int contact = lash_mechanism_contact_of(mech, id);
        if (contact < 0 || contact >= mech->contacts) contact = -1;
        if (contact < 0 && size > 0) text[0] = '\0'; // no interaction of this mechanism
        if (contact < 0) return;
        snprintf(text, size, "%s", mech->contact[contact].def.name);
        return;
    }
    joint_name(mech, id, text, size);
}

static LashSystemWork* work_create(const LashSystem* system) {
    const LashMechanism* mech = of(system);
    LashSystemWork* work = lash_alloc(sizeof *work);
    work->body = lash_alloc((size_t)mech->bodies * sizeof *work->body);
    for (int k = 0; k < 2; ++k) {
        Evaluated* at = &work->evaluated[k];
        at->q = lash_alloc((size_t)mech->system.nq * sizeof *at->q);
        at->body = lash_alloc((size_t)mech->bodies * sizeof *at->body);
        at->view = lash_alloc((size_t)mech->views * sizeof *at->view);
        at->state = lash_alloc((size_t)mech->contacts * sizeof *at->state);
        at->known = lash_alloc((size_t)mech->contacts * sizeof *at->known);
    }
    work->turned = lash_alloc((size_t)(LASH_MAX_COORDINATES * mech->joints) * sizeof *work->turned);
    for (int j = 0; j < mech->joints; ++j) {
        memcpy(work->turned + LASH_MAX_COORDINATES * j, mech->joint[j].start,
               sizeof mech->joint[j].start);
    }
    work->circles = circles_create(mech->contact, mech->contacts);
    rims_create(&work->rims, mech->contact, mech->contacts);
    size_t inputs = (size_t)(mech->system.inputs + mech->readings);
    work->input = lash_alloc(inputs * sizeof *work->input + 1);
    for (int i = 0; i < mech->system.inputs; ++i)
        work->input[i] = (LashInput){.from = mech->input_value[i], .to = mech->input_value[i]};
    pairs_start(mech, work);
    return work;
}

static void set_levers(LashSystemWork* work, LashLevers levers) {
    work->levers = levers;
}

static void set_input(LashSystemWork* work, int input, const LashInput* signal) {
    work->input[input] = *signal;
}

// Bodies and contacts between simple features as the last two evaluations found them.
static void archive_evaluated(const LashMechanism* mech, Evaluated* at, LashArchive* archive) {
    lash_archive(archive, &at->filled, sizeof at->filled);
    lash_archive(archive, at->q, (size_t)mech->system.nq * sizeof *at->q);
    lash_archive(archive, at->body, (size_t)mech->bodies * sizeof *at->body);
    lash_archive(archive, at->state, (size_t)mech->contacts * sizeof *at->state);
    lash_archive(archive, at->known, (size_t)mech->contacts * sizeof *at->known);
    if (lash_archive_reads(archive) && at->filled) place_views(mech, at);
}

static void work_archive(const LashSystem* system, LashSystemWork* work, LashArchive* archive) {
    const LashMechanism* mech = of(system);
    enum { MOST = 1 << 28 };
    size_t coordinates = (size_t)(LASH_MAX_COORDINATES * mech->joints);
    lash_archive(archive, work->turned, coordinates * sizeof *work->turned);
    lash_archive(archive, work->input, (size_t)system->inputs * sizeof *work->input);
    for (int k = 0; k < 2; ++k) archive_evaluated(mech, &work->evaluated[k], archive);
    lash_archive_count(archive, &work->latest, 1);
    rims_archive(&work->rims, archive);
    LashInteractionList* list = &work->list;
    lash_archive_count(archive, &list->count, MOST);
    lash_archive_count(archive, &list->rows, MOST);
    lash_archive_count(archive, &list->G_size, MOST);
    archive->failed = archive->failed || list->count < mech->interactions;
    if (!archive->failed) pairs_archive(mech, work, archive);
}

static void work_destroy(const LashSystem* system, LashSystemWork* work) {
    if (work == NULL) return;
    pairs_finish(of(system), work);
    circles_destroy(work->circles);
    rims_destroy(&work->rims);
    lash_free(work->body);
    for (int k = 0; k < 2; ++k) {
        const Evaluated* at = &work->evaluated[k];
        lash_free(at->q);
        lash_free(at->body);
        lash_free(at->view);
        lash_free(at->state);
        lash_free(at->known);
    }
    lash_free(work->turned);
    lash_free(work->input);
    lash_free(work);
}

// --- Completing the tables -----------------------------------------------------------------------

static void number_blocks(LashMechanism* mech) {
    int n = mech->bodies - 1;
    mech->block_start = lash_alloc((size_t)(n + 1) * sizeof(int));
    mech->q_start = lash_alloc((size_t)(n + 1) * sizeof(int));
    for (int i = 0; i <= n; ++i) {
        mech->block_start[i] = 6 * i;
        mech->q_start[i] = 7 * i;
    }
}

// Blocks of the pattern, chained by row: one is found among those of its row.
typedef struct Pattern {
    int count;
    int *first, *next; // (rows), (capacity): number plus one, 0: the end
} Pattern;

static int pattern_block(LashMechanism* mech, Pattern* pattern, int row, int column) {
    for (int b = pattern->first[row]; b > 0; b = pattern->next[b - 1])
        if (mech->pattern_column[b - 1] == column) return b - 1;
    int block = pattern->count++;
    mech->pattern_row[block] = row;
    mech->pattern_column[block] = column;
    pattern->next[block] = pattern->first[row];
    pattern->first[row] = block + 1;
    return block;
}

// The blocks between the bodies of a force and those that it reads, in both senses.
static void lay_out_readings(LashMechanism* mech, Pattern* pattern, Force* force) {
    const int side[2] = {force->kind->along == ON_BODY ? -1 : force->a - 1, force->b - 1};
    for (int i = 0; i < force->readings; ++i) {
        ForceReading* reading = &force->reading[i];
        for (int r = 0; r < 2; ++r) {
            for (int c = 0; c < 2; ++c) {
                int body = reading->body[c] - 1;
                reading->block[r][c] = -1;
                if (side[r] < 0 || body < 0) continue;
                reading->block[r][c] = pattern_block(mech, pattern, side[r], body);
                pattern_block(mech, pattern, body, side[r]);
            }
        }
    }
}

// Diagonal blocks, and for every force or contact between two moving bodies the two blocks that
// couple them.
static void lay_out_pattern(LashMechanism* mech) {
    int n = mech->bodies - 1;
    size_t capacity = (size_t)(n + 2 * mech->forces + 2 * mech->contacts + 1);
    for (int k = 0; k < mech->forces; ++k) capacity += 8 * (size_t)mech->force[k].readings;
    mech->pattern_row = lash_alloc(capacity * sizeof(int));
    mech->pattern_column = lash_alloc(capacity * sizeof(int));
    mech->pattern_offset = lash_alloc((capacity + 1) * sizeof(int));
    Pattern pattern = {.first = lash_alloc((size_t)(n + 1) * sizeof(int)),
                       .next = lash_alloc(capacity * sizeof(int))};
    for (int i = 0; i < n; ++i) pattern_block(mech, &pattern, i, i);
    for (int k = 0; k < mech->forces; ++k) {
        Force* force = &mech->force[k];
        bool couples = force->kind->along != ON_BODY;
        const int side[2] = {force->a - 1, force->b - 1};
        for (int r = 0; r < 2; ++r) {
            for (int c = 0; c < 2; ++c) {
                bool present = couples && side[r] >= 0 && side[c] >= 0;
                force->block[r][c] = present ? pattern_block(mech, &pattern, side[r], side[c]) : -1;
            }
        }
        lay_out_readings(mech, &pattern, force);
    }
    // Derivatives of the contacts' directions between two bodies, where matrices are full; the sparse
    // operator of large systems has places of its own for the contacts that act.
    enum { FEW_BODIES = 16 };
    for (int c = 0; c < mech->contacts && n <= FEW_BODIES; ++c) {
        int a = mech->contact[c].a - 1, b = mech->contact[c].b - 1;
        if (a < 0 || b < 0) continue;
        pattern_block(mech, &pattern, a, b);
        pattern_block(mech, &pattern, b, a);
    }
    lash_free(pattern.first);
    lash_free(pattern.next);
    for (int b = 0; b <= pattern.count; ++b) mech->pattern_offset[b] = 36 * b;
    mech->system.pattern =
        (LashBlocks){pattern.count, mech->pattern_row, mech->pattern_column, mech->pattern_offset};
}

int mechanism_add_interaction(LashMechanism* mech, int a, int b, LashInteraction item) {
    if (a > 0) item.block[item.touched++] = a - 1;
    if (b > 0) item.block[item.touched++] = b - 1;
    item.row = mech->rows;
    item.offset = mech->G_size;
    mech->rows += item.rows;
    mech->G_size += 6 * item.touched * item.rows;
    mech->interaction[mech->interactions] = item;
    return mech->interactions++;
}

// The view of the contact's two bodies, which it shares with other contacts.
static int view_between(LashMechanism* mech, int a, int b) {
    for (int k = 0; k < mech->views; ++k) {
        if (mech->view[k][0] == a && mech->view[k][1] == b) return k;
    }
    mech->view[mech->views][0] = a;
    mech->view[mech->views][1] = b;
    return mech->views++;
}

static void number_interactions(LashMechanism* mech) {
    size_t most = (size_t)(mech->joints * (2 + 3 * LASH_MAX_COORDINATES) + mech->contacts);
    mech->interaction = lash_alloc(most * sizeof *mech->interaction);
    mech->view = lash_alloc((size_t)mech->contacts * sizeof *mech->view);
    for (int j = 0; j < mech->joints; ++j) joint_number_bilateral(mech, j);
    mech->bilateral = mech->interactions;
    mech->bilateral_rows = mech->rows;
    for (int j = 0; j < mech->joints; ++j) joint_number_unilateral(mech, j);
    for (int c = 0; c < mech->contacts; ++c) {
        Contact* contact = &mech->contact[c];
        if (contact->pair != CONTACT_OF_FEATURES) continue;
        LashInteraction item = {.kind = LASH_UNILATERAL,
                                .rows = contact->def.mu > 0 ? 3 : 1,
                                .e = contact->def.e,
                                .mu = contact->def.mu,
                                .id = (uint64_t)c + CONTACT_ID};
        contact->interaction = mechanism_add_interaction(mech, contact->a, contact->b, item);
        contact->view = view_between(mech, contact->a, contact->b);
    }
}

// Half the largest distance between joint points on a body: moments divided by it compare with
// forces.
static double characteristic_length(const LashMechanism* mech) {
    double size = 0;
    for (int j = 0; j < mech->joints; ++j) {
        const Joint* joint = &mech->joint[j];
        if (joint->a > 0) size = fmax(size, vec3_norm(joint->def.a_joint.r));
        if (joint->b > 0) size = fmax(size, vec3_norm(joint->def.b_joint.r));
    }
    return size > 0 ? size : 1;
}

static void start_coordinates(LashMechanism* mech) {
    double* q = lash_alloc((size_t)(7 * mech->bodies) * sizeof *q);
    double* v = lash_alloc((size_t)(6 * mech->bodies) * sizeof *v);
    BodyState* body = lash_alloc((size_t)mech->bodies * sizeof *body);
    initial_state(&mech->system, q, v);
    mechanism_place(mech, q, body);
    for (int j = 0; j < mech->joints; ++j) {
        Joint* joint = &mech->joint[j];
        JointFrames f;
        mechanism_joint_frames(joint, body, joint->start, &f);
        for (int c = 0; c < joint->kind->coordinates; ++c) {
            joint->start[c] = coordinate_unwrapped(joint->kind->coordinate[c], &f,
                                                   joint->def.coordinate[c].start);
        }
    }
    lash_free(q);
    lash_free(v);
    lash_free(body);
}

const LashSystem* lash_mechanism_system(LashMechanism* mech) {
    LASH_ASSERT(mech != NULL);
    if (mech->complete) return &mech->system;
    clearance_add_contacts(mech);
    mech->complete = true;
    int n = mech->bodies - 1;
    mech->system = (LashSystem){.nq = 7 * n,
                                .inputs = mech->system.inputs,
                                .nv = 6 * n,
                                .blocks = n,
                                .constant_mass = true,
                                .length = characteristic_length(mech),
                                .work_create = work_create,
                                .set_levers = set_levers,
                                .set_exchange = mech->rims > 0 ? set_exchange : NULL,
                                .exchange = mech->rims > 0 ? exchange : NULL,
                                .set_input = set_input,
                                .work_archive = work_archive,
                                .work_destroy = work_destroy,
                                .initial_state = initial_state,
                                .move = move,
                                .difference = difference,
                                .move_tangent = move_tangent,
                                .mass = mass,
                                .forces = forces,
                                .conservative = conservative,
                                .tangents = tangents,
                                .definite_tangents = definite_tangents,
                                .power = power,
                                .potential = potential,
                                .collect = collect,
                                .evaluate = evaluate,
                                .contract = contract,
                                .push = push,
                                .surface_motion = surface_motion,
                                .accept = accept,
                                .name = name};
    number_blocks(mech);
    readings_number(mech);
    lay_out_pattern(mech);
    number_interactions(mech);
    start_coordinates(mech);
    mech->system.block_start = mech->block_start;
    mech->system.q_start = mech->q_start;
    PairSizes pairs = pair_sizes(mech);
    mech->system.max_interactions = mech->interactions + pairs.interactions;
    mech->system.max_rows = mech->rows + pairs.rows;
    mech->system.max_G = mech->G_size + pairs.G;
    mech->system.grows = mech->groups > 0;
    return &mech->system;
}

// --- Results -------------------------------------------------------------------------------------

static BodyState state_of(int body, const double* q) {
    if (body == 0) return (BodyState){vec3_zero(), mat3_identity()};
    return state_at(q + 7 * (body - 1));
}

// Frames of a joint at q; state: the two bodies, which f points to.
static void frames_at(const LashMechanism* mech, const LashSystemWork* work, int joint,
                      const double* q, BodyState state[2], JointFrames* frames) {
    const Joint* j = &mech->joint[joint];
    state[0] = state_of(j->a, q);
    state[1] = state_of(j->b, q);
    const double* turned = work == NULL ? j->start : mechanism_turned(work, joint);
    mechanism_frames_between(j, &state[0], &state[1], turned, frames);
}

double lash_mechanism_joint_coordinate(const LashMechanism* mech, const LashSystemWork* work,
                                       int joint, int coordinate, const double* q) {
    const Joint* j = &mech->joint[joint];
    if (coordinate >= j->kind->coordinates) return 0;
    JointFrames f;
    BodyState state[2];
    frames_at(mech, work, joint, q, state, &f);
    return coordinate_unwrapped(j->kind->coordinate[coordinate], &f, f.turned[coordinate]);
}

LashPlay lash_mechanism_joint_play(const LashMechanism* mech, int joint, const double* q) {
    const Joint* j = &mech->joint[joint];
    JointFrames f;
    BodyState state[2];
    frames_at(mech, NULL, joint, q, state, &f);
    Vec3 d = vec3_sub(f.p_b, f.p_a), z = axis_a(&f, 2);
    double along = vec3_dot(d, z);
    Vec3 across = vec3_add_scaled(d, -along, z);
    LashPlay play = {
        .tilt = atan2(vec3_norm(vec3_cross(z, axis_b(&f, 2))), vec3_dot(z, axis_b(&f, 2)))};
    play.eccentricity = vec3_norm(across);
    if (j->def.type == LASH_SPHERICAL) play.eccentricity = vec3_norm(d);
    if (j->def.type == LASH_PLANAR) play.eccentricity = fabs(along);
    return play;
}

double lash_mechanism_joint_speed(const LashMechanism* mech, int joint, int coordinate,
                                  const double* q, const double* v) {
    const Joint* j = &mech->joint[joint];
    if (coordinate >= j->kind->coordinates) return 0;
    JointFrames f;
    BodyState state[2];
    frames_at(mech, NULL, joint, q, state, &f);
    double g, Ga[6], Gb[6], speed = 0;
    RowWriter out = {.g = &g, .Ga = Ga, .Gb = Gb};
    coordinate_row(j->kind->coordinate[coordinate], &f, &out);
    for (int i = 0; i < 6; ++i) {
        if (j->a > 0) speed += Ga[i] * v[6 * (j->a - 1) + i];
        if (j->b > 0) speed += Gb[i] * v[6 * (j->b - 1) + i];
    }
    return speed;
}

// Adds what drivers, limits and friction do along the coordinates.
static void add_coordinate_reactions(const LashMechanism* mech, const Joint* joint,
                                     const JointFrames* frames, const double* P, Vec3* force,
                                     Vec3* moment) {
    const JointKind* kind = joint->kind;
    for (int c = 0; c < kind->coordinates; ++c) {
        const int role[3] = {joint->driver[c], joint->limit[c][0], joint->limit[c][1]};
        double Q = 0;
        for (int k = 0; k < 3; ++k) {
            if (role[k] >= 0) Q += (k == 2 ? -1 : 1) * P[mech->interaction[role[k]].row];
        }
        coordinate_reaction(kind->coordinate[c], frames, Q, force, moment);
    }
    for (int k = 0; k < kind->slips && joint->friction >= 0; ++k) {
        CoordinateType type = kind->coordinate[kind->slip[k]];
        double arm = coordinate_is_angle(type) ? joint->def.radius : 1;
        double Q = arm * P[mech->interaction[joint->friction].row + 1 + k];
        coordinate_reaction(type, frames, Q, force, moment);
    }
}

LashReaction lash_mechanism_reaction(const LashMechanism* mech, const LashSystemWork* work,
                                     int joint, const double* q, const double* P, double h) {
    const Joint* j = &mech->joint[joint];
    const double* rows = j->interaction < 0 ? NULL : P + mech->interaction[j->interaction].row;
    if (j->kind->couples) {
        Vec3 along = vec3(0, 0, rows[0] / h);
        bool turns = j->def.type == LASH_GEAR;
        return (LashReaction){turns ? vec3_zero() : along, turns ? along : vec3_zero()};
    }
    JointFrames f;
    BodyState state[2];
    frames_at(mech, NULL, joint, q, state, &f);
    Vec3 force = vec3_zero(), moment = vec3_zero();
    if (rows != NULL) j->kind->reaction(&f, rows, &force, &moment);
    clearance_reaction(mech, work, j, &f, P, &force, &moment);
    add_coordinate_reactions(mech, j, &f, P, &force, &moment);
    Mat3 A = mat3_product(f.a->R, *f.a_axes);
    return (LashReaction){vec3_scale(1 / h, mat3_mul_transposed(A, force)),
                          vec3_scale(1 / h, mat3_mul_transposed(A, moment))};
}

LashContactPlace lash_mechanism_contact_place(const LashMechanism* mech, int contact,
                                              const double* q) {
    const Contact* c = &mech->contact[contact];
    if (c->pair == CONTACT_OF_GROUP) return group_place(mech, contact, q);
    if (c->pair >= 0) return pair_least(&mech->pair[c->pair], q);
    BodyState a = state_of(c->a, q), b = state_of(c->b, q);
    ContactView view;
    contact_view(&a, &b, &view);
    return contact_place(c, &view);
}
