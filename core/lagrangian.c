// Lagrangian systems given by callbacks: one dense velocity block of size n.
//
//     M(q) dv = F(t, q, v) dt + G(q) dP                                   [A12 (1)-(3)]
//
// F holds everything but inertia times acceleration: gravity, springs and the velocity terms of
// Lagrange's equations. What depends on q alone and is dear (sines) is made by prepare once per q
// and kept for the last two q of the run: a step works at q_{k+theta} and at q_{k+1}.
//
// Derivatives without a callback are central differences with the step s = 6e-6 (1 + |x|), about
// the cube root of the rounding error, which balances truncation s^2 f'''/6 against rounding
// 1e-16 f/s: some 1e-10 of the value for functions that vary over lengths of about 1. Newton's
// method does well with that; exact derivatives are better and faster.
//
// The linear systems are in lagrangian_linear.c.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "core/lagrangian_internal.h"

enum { POINTS = 3 }; // prepared q: two remembered, the last for differences

typedef struct Callbacks {
    LashLagrangian base;            // first, so that a LashSystem* is a Callbacks*
    LashLagrangianDef def;          // its pointers point into memory owned here
    LashLagrangianContact* contact; // in the order of the list: bilateral ones first
    void* context;
} Callbacks;

struct LashSystemWork {
    double *q[POINTS], *shared[POINTS]; // (n), (def.shared)
    bool filled[POINTS];
    int latest;                                 // of the two remembered
    double *x, *plus, *minus, *G, *g_t, *block; // scratch of the differences
};

static const Callbacks* callbacks_of(const LashSystem* system) {
    return (const Callbacks*)system;
}

// ---- Parts common to both kinds -----------------------------------------------------------------

const LashSystem* lash_lagrangian_system(const LashLagrangian* lagrangian) {
    return &lagrangian->system;
}

static void initial_state(const LashSystem* system, double* q, double* v) {
    const LashLagrangian* base = (const LashLagrangian*)system;
    memcpy(q, base->q0, (size_t)system->nq * sizeof *q);
    memcpy(v, base->v0, (size_t)system->nv * sizeof *v);
}

static void move(const LashSystem* system, const double* q, double s, const double* d,
                 double* result) {
    for (int i = 0; i < system->nq; ++i) result[i] = q[i] + s * d[i];
}

static void difference(const LashSystem* system, const double* b, const double* a, double* d) {
    for (int i = 0; i < system->nq; ++i) d[i] = b[i] - a[i];
}

static void move_tangent(const LashSystem* system, double s, const double* d, const double* x,
                         double* y) {
    (void)s;
    (void)d;
    memmove(y, x, (size_t)system->nv * sizeof *y);
}

static const LashInteractionList* collect(const LashSystem* system, LashSystemWork* work, double t,
                                          const double* q, const double* v, double h,
                                          double factor) {
    (void)work;
    (void)t;
    (void)q;
    (void)v;
    (void)h;
    (void)factor;
    return &((const LashLagrangian*)system)->list;
}

static void accept(const LashSystem* system, LashSystemWork* work, double t, double* q,
                   const double* v) {
    (void)system;
    (void)work;
    (void)t;
    (void)q;
    (void)v;
}

static void name(const LashSystem* system, uint64_t id, char* text, size_t size) {
    const LashLagrangian* base = (const LashLagrangian*)system;
    LASH_ASSERT(id < (uint64_t)base->list.count);
    snprintf(text, size, "%s", base->names[id]);
}

void lash_lagrangian_begin(LashLagrangian* base, int n, const double* q0, const double* v0,
                           int contacts) {
    LashSystem* s = &base->system;
    s->nq = s->nv = n;
    s->linear_motion = true;
    s->initial_state = initial_state;
    s->move = move;
    s->difference = difference;
    s->move_tangent = move_tangent;
    s->collect = collect;
    s->accept = accept;
    s->name = name;
    base->q0 = lash_alloc((size_t)n * sizeof(double));
    base->v0 = lash_alloc((size_t)n * sizeof(double));
    if (q0 != NULL) memcpy(base->q0, q0, (size_t)n * sizeof(double));
    if (v0 != NULL) memcpy(base->v0, v0, (size_t)n * sizeof(double));
    base->item = lash_alloc((size_t)contacts * sizeof *base->item);
    base->names = lash_alloc((size_t)contacts * sizeof *base->names);
    base->list.item = base->item;
}

void lash_lagrangian_add(LashLagrangian* base, LashInteraction item, const char* label) {
    LashInteractionList* list = &base->list;
    bool bilateral = item.kind != LASH_UNILATERAL;
    LASH_ASSERT(item.rows >= 1 && item.rows <= (bilateral ? LASH_MAX_ROWS : 3));
    LASH_ASSERT(bilateral || (item.e >= 0 && item.e <= 1 && item.mu >= 0));
    LASH_ASSERT(!bilateral || list->count == list->bilateral); // they come first
    item.row = list->rows;
    item.offset = list->G_size;
    int size = 0;
    for (int i = 0; i < item.touched; ++i) size += lash_block_size(&base->system, item.block[i]);
    base->item[list->count++] = item;
    list->bilateral += bilateral;
    list->rows += item.rows;
    if (bilateral) list->bilateral_rows += item.rows;
    list->G_size += size * item.rows;
    char number[32];
    snprintf(number, sizeof number, "interaction.%d", (int)item.id + 1);
    base->names[item.id] = lash_strdup(label != NULL ? label : number);
    base->system.max_interactions = list->count;
    base->system.max_rows = list->rows;
    base->system.max_G = list->G_size;
}

void lash_lagrangian_destroy(LashLagrangian* lagrangian) {
    if (lagrangian == NULL) return;
    for (int i = 0; i < lagrangian->list.count; ++i) lash_free(lagrangian->names[i]);
    lash_free(lagrangian->names);
    lash_free(lagrangian->item);
    lash_free(lagrangian->q0);
    lash_free(lagrangian->v0);
    lash_free(lagrangian->pattern);
    lagrangian->destroy(lagrangian);
    lash_free(lagrangian);
}

// ---- Points: q with what prepare made of it -----------------------------------------------------

static LashSystemWork* work_create(const LashSystem* system) {
    const LashLagrangianDef* def = &callbacks_of(system)->def;
    size_t n = (size_t)def->n, shared = (size_t)def->shared;
    size_t G = n * LASH_MAX_ROWS;
    size_t doubles = POINTS * (n + shared) + 3 * n + G + LASH_MAX_ROWS + n * n;
    LashSystemWork* work = lash_alloc(sizeof *work + doubles * sizeof(double));
    double* memory = (double*)(work + 1);
    for (int i = 0; i < POINTS; ++i) {
        work->q[i] = memory;
        memory += n;
        work->shared[i] = memory;
        memory += shared;
    }
    work->x = memory;
    memory += n;
    work->plus = memory;
    memory += n;
    work->minus = memory;
    memory += n;
    work->G = memory;
    memory += G;
    work->g_t = memory;
    memory += LASH_MAX_ROWS;
    work->block = memory;
    return work;
}

static void work_destroy(const LashSystem* system, LashSystemWork* work) {
    (void)system;
    lash_free(work);
}

static LashLagrangianPoint prepare(const Callbacks* callbacks, LashSystemWork* work, int slot,
                                   double t, const double* q) {
    if (callbacks->def.prepare != NULL)
        callbacks->def.prepare(callbacks->context, q, work->shared[slot]);
    return (LashLagrangianPoint){t, q, work->shared[slot], callbacks->context};
}

// The point (t, q), prepared unless one of the last two q was the same.
static LashLagrangianPoint point_at(const Callbacks* callbacks, LashSystemWork* work, double t,
                                    const double* q) {
    if (callbacks->def.prepare == NULL)
        return (LashLagrangianPoint){t, q, NULL, callbacks->context};
    size_t bytes = (size_t)callbacks->def.n * sizeof *q;
    for (int k = 0; k < 2; ++k) {
        int slot = k == 0 ? work->latest : 1 - work->latest;
        if (work->filled[slot] && memcmp(work->q[slot], q, bytes) == 0) {
            work->latest = slot;
            return (LashLagrangianPoint){t, q, work->shared[slot], callbacks->context};
        }
    }
    int slot = work->latest = 1 - work->latest;
    memcpy(work->q[slot], q, bytes);
    work->filled[slot] = true;
    return prepare(callbacks, work, slot, t, q);
}

// The point whose coordinate j is changed by s, for differences. One at a time.
static LashLagrangianPoint point_beside(const Callbacks* callbacks, LashSystemWork* work, double t,
                                        const double* q, int j, double s) {
    double* beside = work->q[POINTS - 1];
    memcpy(beside, q, (size_t)callbacks->def.n * sizeof *q);
    beside[j] += s;
    return prepare(callbacks, work, POINTS - 1, t, beside);
}

static double difference_step(double x) {
    return 6e-6 * (1 + fabs(x));
}

static void zero(double* x, size_t count) {
    memset(x, 0, count * sizeof *x);
}

// ---- Mass and forces ----------------------------------------------------------------------------

static void mass(const LashSystem* system, LashSystemWork* work, const double* q, double* M) {
    const Callbacks* callbacks = callbacks_of(system);
    zero(M, (size_t)(callbacks->def.n * callbacks->def.n));
    LashLagrangianPoint at = point_at(callbacks, work, 0, q);
    callbacks->def.mass(&at, M);
}

static void mass_tangent(const LashSystem* system, LashSystemWork* work, const double* q,
                         const double* a, double s, double* K) {
    const Callbacks* callbacks = callbacks_of(system);
    int n = callbacks->def.n;
    size_t size = (size_t)(n * n);
    double* block = work->block;
    if (callbacks->def.mass_tangent != NULL) {
        zero(block, size);
        LashLagrangianPoint at = point_at(callbacks, work, 0, q);
        callbacks->def.mass_tangent(&at, a, block);
        for (size_t i = 0; i < size; ++i) K[i] += s * block[i];
        return;
    }
    for (int j = 0; j < n; ++j) {
        double step = difference_step(q[j]);
        for (int side = 1; side >= -1; side -= 2) {
            zero(block, size);
            LashLagrangianPoint at = point_beside(callbacks, work, 0, q, j, side * step);
            callbacks->def.mass(&at, block);
            for (int k = 0; k < n; ++k) {
                for (int i = 0; i < n; ++i) {
                    K[i + n * j] += side * s / (2 * step) * block[i + n * k] * a[k];
                }
            }
        }
    }
}

static void forces(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                   const double* v, double* F) {
    const Callbacks* callbacks = callbacks_of(system);
    zero(F, (size_t)callbacks->def.n);
    LashLagrangianPoint at = point_at(callbacks, work, t, q);
    callbacks->def.force(&at, v, F);
}

static void conservative(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                         double* F) {
    const Callbacks* callbacks = callbacks_of(system);
    zero(F, (size_t)callbacks->def.n);
    LashLagrangianPoint at = point_at(callbacks, work, t, q);
    callbacks->def.conservative(&at, F);
}

// Column j of a derivative of F from its values on both sides: -(plus - minus) / 2s.
static void negative_column(const LashSystemWork* work, int n, double s, double* column) {
    for (int i = 0; i < n; ++i) column[i] = (work->minus[i] - work->plus[i]) / (2 * s);
}

static void tangents(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                     const double* v, double* C, double* K) {
    const Callbacks* callbacks = callbacks_of(system);
    int n = callbacks->def.n;
    size_t size = (size_t)(n * n);
    LashLagrangianPoint at = point_at(callbacks, work, t, q);
    if (callbacks->def.force_tangents != NULL) {
        zero(C, size);
        zero(K, size);
        callbacks->def.force_tangents(&at, v, C, K);
        for (size_t i = 0; i < size; ++i) {
            C[i] = -C[i];
            K[i] = -K[i];
        }
        return;
    }
    memcpy(work->x, v, (size_t)n * sizeof *v);
    for (int j = 0; j < n; ++j) {
        double s = difference_step(v[j]);
        zero(work->plus, (size_t)n);
        zero(work->minus, (size_t)n);
        work->x[j] = v[j] + s;
        callbacks->def.force(&at, work->x, work->plus);
        work->x[j] = v[j] - s;
        callbacks->def.force(&at, work->x, work->minus);
        work->x[j] = v[j];
        negative_column(work, n, s, C + n * j);

        s = difference_step(q[j]);
        zero(work->plus, (size_t)n);
        zero(work->minus, (size_t)n);
        LashLagrangianPoint beside = point_beside(callbacks, work, t, q, j, s);
        callbacks->def.force(&beside, v, work->plus);
        beside = point_beside(callbacks, work, t, q, j, -s);
        callbacks->def.force(&beside, v, work->minus);
        negative_column(work, n, s, K + n * j);
    }
}

static LashPower power(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                       const double* v) {
    const Callbacks* callbacks = callbacks_of(system);
    if (callbacks->def.power == NULL) return (LashPower){0, 0};
    LashLagrangianPoint at = point_at(callbacks, work, t, q);
    return callbacks->def.power(&at, v);
}

static double potential(const LashSystem* system, LashSystemWork* work, double t, const double* q) {
    const Callbacks* callbacks = callbacks_of(system);
    if (callbacks->def.potential == NULL) return 0;
    LashLagrangianPoint at = point_at(callbacks, work, t, q);
    return callbacks->def.potential(&at);
}

// ---- Interactions -------------------------------------------------------------------------------

static bool evaluate(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                     const uint8_t* wanted, double* g, double* g_t, double* G) {
    const Callbacks* callbacks = callbacks_of(system);
    const LashInteractionList* list = &callbacks->base.list;
    LashLagrangianPoint at = point_at(callbacks, work, t, q);
    zero(g, (size_t)list->rows);
    for (int i = 0; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        const LashLagrangianContact* contact = &callbacks->contact[i];
        if (G == NULL || (wanted != NULL && !wanted[i])) {
            contact->evaluate(&at, contact->which, g + item->row, NULL, NULL);
            continue;
        }
        double* rates = g_t != NULL ? g_t + item->row : work->g_t; // callbacks always find room
        zero(rates, (size_t)item->rows);
        zero(G + item->offset, (size_t)(callbacks->def.n * item->rows));
        contact->evaluate(&at, contact->which, g + item->row, rates, G + item->offset);
    }
    return true;
}

// Adds s G P to dGP (n) and s (G'v + g_t) to dGv (rows), taken beside q.
static void add_contracted(const Callbacks* callbacks, LashSystemWork* work,
                           const LashLagrangianPoint* beside, int i, double s, const double* P,
                           const double* v, double* dGP, double* dGv) {
    const LashLagrangianContact* contact = &callbacks->contact[i];
    int n = callbacks->def.n;
    double g[LASH_MAX_ROWS] = {0};
    zero(work->g_t, LASH_MAX_ROWS);
    zero(work->G, (size_t)(n * contact->rows));
    contact->evaluate(beside, contact->which, g, work->g_t, work->G);
    for (int r = 0; r < contact->rows; ++r) {
        double u = work->g_t[r];
        for (int k = 0; k < n; ++k) {
            if (dGv != NULL) u += work->G[k + n * r] * v[k];
            if (dGP != NULL) dGP[k] += s * work->G[k + n * r] * P[r];
        }
        if (dGv != NULL) dGv[r] += s * u;
    }
}

static void contract(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                     int i, const double* P, const double* v, double* dGP, double* dGv) {
    const Callbacks* callbacks = callbacks_of(system);
    const LashLagrangianContact* contact = &callbacks->contact[i];
    int n = callbacks->def.n, rows = contact->rows;
    if (dGP != NULL) zero(dGP, (size_t)(n * n));
    if (dGv != NULL) zero(dGv, (size_t)(rows * n));
    if (contact->contract != NULL) {
        LashLagrangianPoint at = point_at(callbacks, work, t, q);
        contact->contract(&at, contact->which, P, v, dGP, dGv);
        return;
    }
    for (int j = 0; j < n; ++j) {
        double s = difference_step(q[j]);
        for (int side = 1; side >= -1; side -= 2) {
            LashLagrangianPoint beside = point_beside(callbacks, work, t, q, j, side * s);
            add_contracted(callbacks, work, &beside, i, side / (2 * s), P, v,
                           dGP != NULL ? dGP + n * j : NULL, dGv != NULL ? dGv + rows * j : NULL);
        }
    }
}

// ---- Construction -------------------------------------------------------------------------------

static void destroy(LashLagrangian* base) {
    Callbacks* callbacks = (Callbacks*)base;
    lash_free(callbacks->contact);
    lash_free(callbacks->context);
}

// Copies the contacts into the order of the list; the id is the place in the user's order.
static void add_contacts(Callbacks* callbacks, const LashLagrangianDef* def) {
    callbacks->contact = lash_alloc((size_t)def->contacts * sizeof *callbacks->contact);
    for (int pass = 0; pass < 2; ++pass) { // bilateral, unilateral
        for (int i = 0; i < def->contacts; ++i) {
            const LashLagrangianContact* contact = &def->contact[i];
            if ((contact->kind == LASH_UNILATERAL) != (pass == 1)) continue;
            LASH_ASSERT(contact->evaluate != NULL);
            callbacks->contact[callbacks->base.list.count] = *contact;
            callbacks->contact[callbacks->base.list.count].name = NULL;
            LashInteraction item = {.kind = contact->kind,
                                    .rows = contact->rows,
                                    .touched = 1,
                                    .prescribed = contact->prescribed,
                                    .angular = contact->angular,
                                    .e = contact->e,
                                    .mu = contact->mu,
                                    .id = (uint64_t)i};
            lash_lagrangian_add(&callbacks->base, item, contact->name);
        }
    }
}

LashLagrangianDef lash_lagrangian_def(void) {
    return (LashLagrangianDef){.length = 1, .unit_metric = true};
}

LashLagrangian* lash_lagrangian_create(const LashLagrangianDef* def) {
    LASH_ASSERT(def->n >= 1 && def->mass != NULL && def->force != NULL && def->length > 0);
    LASH_ASSERT(def->contacts >= 0 && def->shared >= 0);
    Callbacks* callbacks = lash_alloc(sizeof *callbacks);
    int n = def->n;
    callbacks->base.destroy = destroy;
    callbacks->def = *def;
    callbacks->def.q0 = callbacks->def.v0 = NULL; // copied below
    callbacks->def.contact = NULL;
    callbacks->def.context = callbacks->context = lash_alloc(def->context_bytes);
    if (def->context_bytes > 0) memcpy(callbacks->context, def->context, def->context_bytes);

    LashSystem* s = &callbacks->base.system;
    lash_lagrangian_begin(&callbacks->base, n, def->q0, def->v0, def->contacts);
    int* memory = callbacks->base.pattern = lash_alloc(6 * sizeof *memory);
    memory[1] = n;     // starts of blocks: 0, n
    memory[3] = n * n; // offsets: 0, n n; row and column: 0
    s->blocks = 1;
    s->block_start = s->q_start = memory;
    s->pattern = (LashBlocks){1, memory + 4, memory + 5, memory + 2};
    s->constant_mass = def->constant_mass;
    s->unit_metric = def->unit_metric;
    s->length = def->length;
    s->work_create = work_create;
    s->work_destroy = work_destroy;
    s->mass = mass;
    s->mass_tangent = mass_tangent;
    s->forces = forces;
    s->conservative = def->conservative != NULL ? conservative : NULL;
    s->tangents = tangents;
    s->power = power;
    s->potential = potential;
    s->evaluate = evaluate;
    s->contract = contract;
    add_contacts(callbacks, def);
    return &callbacks->base;
}
