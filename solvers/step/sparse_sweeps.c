// Sweeps over the contacts of a pile (the nonsmooth Gauss-Seidel of M. Jean, CMAME 177, 1999) before a pass: contact
// after contact is solved exactly while the others wait,
//
//     q = u + G'x - W P,   P <- exact solution of one contact U = W P + q,   x <- x + M^-1 G* dP,
//
// x the change of velocities since the sweeps began, M the masses alone, W = G'M^-1 G* of one contact. What
// moves few bodies settles in a few sweeps, where Newton needs a factor for each round of changed statuses;
// what moves many hardly changes, and is left to Newton (sparse_correct.c, hold_pile). Nothing is accepted for having
// been swept: a pass begins from it, and its residuals are those of the step.
//
// An open contact acts once its gap, as the sweeps have the motion, closes: a ball that one impact pushes into the next
// does not cost a pass of its own.
//
// A contact is solved again only where one of its bodies has moved since by more than what the sweeps end with.
#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "solvers/cone/friction_internal.h"
#include "solvers/step/rows.h"
#include "solvers/step/sparse_newton_internal.h"

// Share of the largest change of the first sweep that is left alone.
static const double LITTLE = 1e-3;
enum {
    MANY = 32, // contacts: fewer are Newton's in a few factors
    MOST_SWEEPS = 100
};

typedef struct Swept { // a contact
    const LashInteraction* item;
    double* P;
    double u[3]; // velocity with the shift of the law, at x = 0 [m/s]
    double gap;  // foreseen at x = 0 [m]
    bool acts;   // false: not before its gap closes
    int answer;  // where M^-1 G* stands: packed like G
    double seen; // what its bodies had moved when it was solved last [m/s]
    LocalContact local;
} Swept;

struct Sweeps {
    int count, capacity, answer_capacity, answers;
    Swept* contact;
    double* answer;
    double* x;     // (nv)
    double* moved; // (blocks) sum of the changes that contacts have made [m/s]
};

Sweeps* sweeps_create(const LashSystem* system) {
    Sweeps* sweeps = lash_alloc(sizeof *sweeps);
    sweeps->x = lash_alloc(((size_t)system->nv + 1) * sizeof(double));
    sweeps->moved = lash_alloc(((size_t)system->blocks + 1) * sizeof(double));
    return sweeps;
}

void sweeps_destroy(Sweeps* sweeps) {
    if (sweeps == NULL) return;
    lash_free(sweeps->contact);
    lash_free(sweeps->answer);
    lash_free(sweeps->x);
    lash_free(sweeps->moved);
    lash_free(sweeps);
}

static void begin(Sweeps* sweeps, int contacts, int numbers) {
    if (sweeps->capacity < contacts) {
        sweeps->capacity = 2 * contacts;
        sweeps->contact =
            lash_realloc(sweeps->contact, (size_t)sweeps->capacity * sizeof *sweeps->contact);
    }
    if (sweeps->answer_capacity < numbers) {
        sweeps->answer_capacity = 2 * numbers;
        sweeps->answer =
            lash_realloc(sweeps->answer, (size_t)sweeps->answer_capacity * sizeof(double));
    }
    sweeps->count = sweeps->answers = 0;
}

static int size_of(const LashSystem* system, const LashInteraction* item) {
    int n = 0;
    for (int b = 0; b < item->touched; ++b) n += lash_block_size(system, item->block[b]);
    return n * item->rows;
}

// Adds a contact: u = rows' v, impulses along `star`.
static Swept* add(const LashSim* sim, Sweeps* sweeps, const LashInteraction* item,
                  const double* rows, const double* star, double* P) {
    const LashSystem* system = sim->system;
    Swept* swept = &sweeps->contact[sweeps->count++];
    *swept = (Swept){.item = item, .P = P, .acts = true, .answer = sweeps->answers, .seen = -1};
    swept->local.rows = swept->local.kind = (uint8_t)item->rows;
    swept->local.mu = item->mu;
    double W[9] = {0}, *to = sweeps->answer + sweeps->answers;
    const double *G = rows + item->offset, *S = star + item->offset;
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]);
        const double* D = lash_block_lu_inverse(sim->operators.M, item->block[b]);
        for (int r = 0; r < item->rows; ++r, to += n) {
            memset(to, 0, (size_t)n * sizeof *to);
            for (int j = 0; j < n; ++j) lash_axpy(n, S[n * r + j], D + n * j, to);
            for (int s = 0; s < item->rows; ++s)
                for (int i = 0; i < n; ++i) W[s + 3 * r] += G[n * s + i] * to[i];
        }
        G += n * item->rows;
        S += n * item->rows;
    }
    sweeps->answers += size_of(system, item);
    friction_local_prepare(&swept->local, W, 3);
    swept->local.lambda = friction_lambda(item->rows, W, 3);
    if (!(swept->local.lambda > 0)) swept->local.lambda = 1;
    return swept;
}

static double moved_so_far(const Sweeps* sweeps, const LashInteraction* item) {
    double sum = 0;
    for (int b = 0; b < item->touched; ++b) sum += sweeps->moved[item->block[b]];
    return sum;
}

// P <- exact solution of the contact alone at the velocity u of the others. Returns |change of P|, dP.
static double solve_alone(Swept* swept, const double* u, double* dP) {
    LocalContact* local = &swept->local;
    int rows = swept->item->rows;
    double q[LASH_MAX_ROWS] = {0}, P[LASH_MAX_ROWS] = {0}, sum = 0;
    for (int r = 0; r < rows; ++r) P[r] = swept->P[r];
    for (int r = 0; r < rows; ++r) {
        q[r] = swept->u[r] + u[r];
        for (int s = 0; s < rows; ++s) q[r] -= local->W[r + 3 * s] * P[s];
    }
    friction_local(local, q, LASH_SWEEP_ANGLE, P);
    for (int r = 0; r < rows; ++r) {
        dP[r] = P[r] - swept->P[r];
        sum += dP[r] * dP[r];
        swept->P[r] = P[r];
    }
    return sqrt(sum);
}

// Visits one contact. Returns lambda |change of its impulse| [m/s].
static double visit(const LashSystem* system, Sweeps* sweeps, Swept* swept, const double* rows,
                    double w, double little) {
    const LashInteraction* item = swept->item;
    double u[LASH_MAX_ROWS] = {0}, dP[LASH_MAX_ROWS] = {0}, moved = moved_so_far(sweeps, item);
    if (swept->seen >= 0 && moved - swept->seen <= little) return 0;
    swept->seen = moved;
    lash_row_velocity(system, item, rows, sweeps->x, u);
    swept->acts = swept->acts || swept->gap + w * u[0] <= 0;
    if (!swept->acts) return 0;
    double change = swept->local.lambda * solve_alone(swept, u, dP);
    if (change == 0) return 0;
    LashInteraction packed = *item;
    packed.offset = swept->answer;
    lash_row_apply(system, &packed, sweeps->answer, 1, dP, sweeps->x);
    for (int b = 0; b < item->touched; ++b) sweeps->moved[item->block[b]] += change;
    swept->seen = moved_so_far(sweeps, item);
    return change;
}

// Forth and back in turn, until little changes any more.
static void sweep(const LashSystem* system, Sweeps* sweeps, const double* rows, double w) {
    double first = 0;
    memset(sweeps->moved, 0, (size_t)system->blocks * sizeof *sweeps->moved);
    for (int k = 0; k < MOST_SWEEPS; ++k) {
        double largest = 0;
        for (int i = 0; i < sweeps->count; ++i) {
            int at = k % 2 ? sweeps->count - 1 - i : i;
            double change =
                visit(system, sweeps, &sweeps->contact[at], rows, w, 0.5 * LITTLE * first);
            largest = fmax(largest, change);
        }
        if (k == 0) first = largest;
        if (!(largest > LITTLE * first)) break;
    }
}

// Contacts alone couple the bodies, and the law is one of velocities at the end.
static bool can_sweep(const LashSim* sim, const Step* step) {
    return lash_block_lu_is_diagonal(sim->operators.M) && step->list->bilateral == 0 &&
           step->stencil.law != LASH_FREMOND;
}

// A pile: bodies touch at more places than there are bodies (a chain does not), but contacts have not more rows than
// bodies have velocities (spheres have three contacts each, bricks a dozen): where they have, impulses depend on where
// the sweeps begin, and they turn Newton away instead of leading it near.
typedef struct Count {
    const LashInteraction* last;
    int places, rows, bodies, velocities;
} Count;

static void count_contact(Count* count, const LashInteraction* item) {
    const LashInteraction* last = count->last;
    bool again = last != NULL && last->touched == item->touched &&
                 memcmp(last->block, item->block, (size_t)item->touched * sizeof *item->block) == 0;
    count->places += !again;
    count->rows += item->rows;
    count->last = item;
}

static bool is_pile(const Count* count) {
    return count->places >= MANY && count->places > count->bodies &&
           count->rows <= count->velocities;
}

bool sparse_is_pile(const LashSim* sim, const Step* step, const SparseNewton* newton) {
    Count count = {.bodies = newton->bodies};
    if (!newton->split || !can_sweep(sim, step)) return false;
    for (int s = 0; s < newton->slots; ++s)
        if (!newton->slot[s].empty) count_contact(&count, &step->list->item[newton->slot[s].item]);
    for (int i = 0; i < newton->bodies; ++i)
        count.velocities += lash_block_size(sim->system, newton->body[i]);
    return is_pile(&count);
}

// --- Before a pass ---------------------------------------------------------------------------------

typedef struct Near {
    int contacts, numbers; // those that take part, numbers in their directions
    Count acting;          // those in the set
} Near;

// Marks in `wanted` the contacts of the set, and those as near as the fastest of it moves within the step.
static Near name_near(const LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    double fastest = 0, *touched = sim->operators.sparse->sweeps->moved;
    Near near = {0};
    memset(touched, 0, (size_t)system->blocks * sizeof *touched);
    for (int i = 0; i < step->list->count; ++i)
        if (step->active[i]) fastest = fmax(fastest, fabs(step->U_start[step->list->item[i].row]));
    for (int i = 0; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        bool acts = step->active[i];
        step->wanted[i] = item->kind == LASH_UNILATERAL && !is_empty(step, item) &&
                          (acts || step->g[item->row] < fastest * step->h);
        if (!step->wanted[i]) continue;
        ++near.contacts;
        near.numbers += size_of(system, item);
        if (!acts) continue;
        count_contact(&near.acting, item);
        for (int b = 0; b < item->touched; ++b) touched[item->block[b]] = 1;
    }
    for (int b = 0; b < system->blocks; ++b) {
        near.acting.bodies += touched[b] > 0;
        if (touched[b] > 0) near.acting.velocities += lash_block_size(system, b);
    }
    return near;
}

// Contacts and the motion without their changes: x = -M^-1 r, r what the impulses leave of the dynamics.
static void gather_near(LashSim* sim, Step* step, Sweeps* sweeps) {
    const LashSystem* system = sim->system;
    memcpy(sweeps->x, step->r, (size_t)system->nv * sizeof *sweeps->x);
    lash_block_lu_solve(sim->operators.M, sweeps->x);
    for (int i = 0; i < system->nv; ++i) sweeps->x[i] = -sweeps->x[i];
    for (int i = 0; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        if (!step->wanted[i]) continue;
        double *P = step->P + item->row, e = item->e * step->restitution, U[LASH_MAX_ROWS];
        if (!step->active[i]) memset(P, 0, (size_t)item->rows * sizeof *P);
        Swept* swept = add(sim, sweeps, item, step->G, step->G, P);
        lash_row_velocity(system, item, step->G, step->v, U);
        for (int r = 0; r < item->rows; ++r) swept->u[r] = U[r] + step->g_t[item->row + r];
        if (e > 0) lash_row_velocity(system, item, step->G, sim->now.v, U);
        if (e > 0) swept->u[0] += e * (U[0] + step->g_t[item->row]);
        swept->gap = step->g[item->row];
        swept->acts = step->active[i];
    }
}

Foresight contacts_foresee(LashSim* sim, Step* step) {
    Sweeps* sweeps = sim->operators.sparse->sweeps;
    Foresight foresight = FORESEES_NOT;
    if (!can_sweep(sim, step)) return FORESEES_NOT;
    Near near = name_near(sim, step);
    if (is_pile(&near.acting) && sim_evaluate(sim, step->t0 + step->h, step->q_end, step->wanted,
                                              step->g, step->g_t, step->G)) {
        begin(sweeps, near.contacts, near.numbers);
        gather_near(sim, step, sweeps);
        sweep(sim->system, sweeps, step->G, step->stencil.d_v);
        lash_axpy(sim->system->nv, 1, sweeps->x, step->v);
        foresight = FORESEES_MOTION;
        for (int k = 0; k < sweeps->count; ++k) {
            const Swept* swept = &sweeps->contact[k];
            int i = (int)(swept->item - step->list->item);
            step->wanted[i] = step->active[i] || swept->P[0] > 0;
            if (swept->P[0] > 0 && !step->active[i]) foresight = FORESEES_CONTACTS;
        }
    }
    if (foresight == FORESEES_CONTACTS) return foresight;
    for (int i = 0; i < step->list->count; ++i)
        step->wanted[i] = step->active[i] || step->position[i] != POSITION_FREE;
    return foresight;
}
