// Free motions and redundancies of the bilateral rows A = D G' S^-1, where S measures velocities
// (1 for a linear one, the system's length for an angular velocity of a rigid body) and D scales
// the rows to norm 1.
//
// Rank by sparse elimination in the order of the rows (elimination.c): dof = nv - rank. Each
// dependent row r gets a circuit, a smallest set of rows with sum P_i a_i = 0. Which set is found
// depends on the rows offered, and a user wants short loops, so r is tested against growing
// neighbourhoods: the interactions within d bodies of its own. Allowed are rows independent in the
// whole and those whose circuits are known; so every circuit has a row that none before it has, and
// together they span all self-stresses (cf. turnback: Kaneko, Lawo, Thierauf 1982). Then
// interactions are left out, the farthest first, as long as r depends on the others.
//
// The smallest singular value of the independent rows A_B is 1 / |A_B^+|, by power iteration:
//     A_B^+ y = x - Z (Z'Z)^-1 Z' x with A_B x = y and Z the free motions; (A_B^+)' x: A_B' y = x.
//
// A position is singular when the rank is larger a little off: q moves along a random free motion,
// is closed again by Newton's method with the free columns held, and the rank is taken anew.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/linear/dense.h"
#include "solvers/linear/elimination.h"
#include "solvers/linear/rank.h"
#include "solvers/mobility.h"
#include "solvers/step/mobility_internal.h"
#include "solvers/step/sim_internal.h"

static const double EFFORT = 3e9;   // multiplications spent on short loops
static const double OFF = 1e-3;     // motion to a position nearby, of the system's length
static const double CLOSED = 1e-10; // of the system's length
enum { MAX_COLUMNS = LASH_MAX_TOUCHED * 64, ITERATIONS = 60, NEARBY = 3, CLOSING = 12 };

typedef struct Rows {
    const LashSystem* system;
    const LashInteractionList* list;
    int rows;
    double* scale;  // (nv) of velocities
    size_t* start;  // (rows + 1)
    int* column;    // nonzeros
    double* value;  // of rows scaled to norm 1
    double* norm;   // (rows) before
    int* owner;     // (rows) interaction
    bool* velocity; // (rows) LASH_BILATERAL_VELOCITY
} Rows;

// ---- rows ---------------------------------------------------------------------------------------

static void scale_velocities(const LashSystem* system, double* scale) {
    for (int b = 0; b < system->blocks; ++b) {
        int size = lash_block_size(system, b);
        bool body = size == 6 && system->q_start[b + 1] - system->q_start[b] == 7;
        for (int k = 0; k < size; ++k) {
            scale[system->block_start[b] + k] = body && k >= 3 ? system->length : 1;
        }
    }
}

static void rows_create(Rows* r, const LashSystem* system, const LashInteractionList* list) {
    size_t m = (size_t)list->bilateral_rows + 1, entries = 1;
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        for (int b = 0; b < item->touched; ++b)
            entries += (size_t)(item->rows * lash_block_size(system, item->block[b]));
    }
    *r = (Rows){.system = system, .list = list, .rows = list->bilateral_rows};
    r->scale = lash_alloc(((size_t)system->nv + 1) * sizeof *r->scale);
    r->start = lash_alloc(m * sizeof *r->start);
    r->norm = lash_alloc(m * sizeof *r->norm);
    r->owner = lash_alloc(m * sizeof *r->owner);
    r->velocity = lash_alloc(m * sizeof *r->velocity);
    r->column = lash_alloc(entries * sizeof *r->column);
    r->value = lash_alloc(entries * sizeof *r->value);
    scale_velocities(system, r->scale);
}

static void rows_free(Rows* rows) {
    lash_free(rows->scale);
    lash_free(rows->start);
    lash_free(rows->norm);
    lash_free(rows->owner);
    lash_free(rows->velocity);
    lash_free(rows->column);
    lash_free(rows->value);
}

// One row of an interaction; n: nonzeros so far. Returns n after it.
static size_t put_one(Rows* r, const LashInteraction* item, const double* G, int i, size_t n) {
    const double* column = G + item->offset;
    double sum = 0;
    size_t first = n;
    for (int b = 0; b < item->touched; ++b) {
        int size = lash_block_size(r->system, item->block[b]);
        int start = r->system->block_start[item->block[b]];
        for (int k = 0; k < size; ++k) {
            double x = column[i * size + k] / r->scale[start + k];
            if (x == 0) continue;
            r->column[n] = start + k;
            r->value[n++] = x;
            sum += x * x;
        }
        column += item->rows * size;
    }
    r->norm[item->row + i] = sqrt(sum);
    for (size_t k = first; k < n && sum > 0; ++k) r->value[k] /= sqrt(sum);
    return n;
}

static void rows_fill(Rows* r, const double* G) {
    size_t n = 0;
    for (int k = 0; k < r->list->bilateral; ++k) {
        const LashInteraction* item = &r->list->item[k];
        for (int i = 0; i < item->rows; ++i) {
            int row = item->row + i;
            r->start[row] = n;
            n = put_one(r, item, G, i, n);
            r->owner[row] = k;
            r->velocity[row] = item->kind == LASH_BILATERAL_VELOCITY;
            r->start[row + 1] = n;
        }
    }
}

static int row_size(const Rows* rows, int row) {
    return (int)(rows->start[row + 1] - rows->start[row]);
}

static LashElimination* eliminate(const Rows* r) {
    LashElimination* elimination = lash_elimination_create(r->system->nv, LASH_RANK_LENGTH);
    for (int i = 0; i < r->rows; ++i) {
        size_t s = r->start[i];
        lash_elimination_add(elimination, row_size(r, i), r->column + s, r->value + s);
    }
    return elimination;
}

int lash_bilateral_rank(const LashSystem* system, const LashInteractionList* list, const double* G,
                        int* redundant) {
    Rows r;
    rows_create(&r, system, list);
    rows_fill(&r, G);
    LashElimination* elimination = eliminate(&r);
    int rank = lash_elimination_rank(elimination);
    for (int i = 0; i < list->bilateral && redundant != NULL; ++i) redundant[i] = 0;
    for (int i = 0; i < r.rows && redundant != NULL; ++i) {
        redundant[r.owner[i]] += !lash_elimination_independent(elimination, i);
    }
    lash_elimination_destroy(elimination);
    rows_free(&r);
    return rank;
}

// ---- short loops --------------------------------------------------------------------------------

typedef struct Loops {
    const Rows* r;
    const LashElimination* whole;
    LashFreedom* freedom;
    bool* known;                   // (rows) dependent rows with a circuit
    int *block_start, *block_item; // interactions of each velocity block
    int* seen;                     // (interactions) stamp of the search
    bool* seen_block;              // (blocks)
    int* queue;                    // (interactions)
    int* block_queue;              // (blocks) visited, to clear seen_block
    int* row_of;                   // (rows) rows offered, in order
    double* weight;                // (rows + 1)
    int stamp;
    double effort;
} Loops;

static void loops_create(Loops* loops, const Rows* r, const LashElimination* whole,
                         LashFreedom* freedom) {
    int items = r->list->bilateral, blocks = r->system->blocks, touched = 0;
    *loops = (Loops){.r = r, .whole = whole, .freedom = freedom};
    loops->known = lash_alloc((size_t)r->rows + 1);
    loops->block_start = lash_alloc(((size_t)blocks + 2) * sizeof(int));
    for (int i = 0; i < items; ++i) {
        const LashInteraction* item = &r->list->item[i];
        touched += item->touched;
        for (int b = 0; b < item->touched; ++b) ++loops->block_start[item->block[b] + 2];
    }
    for (int b = 0; b < blocks; ++b) loops->block_start[b + 2] += loops->block_start[b + 1];
    loops->block_item = lash_alloc(((size_t)touched + 1) * sizeof(int));
    for (int i = 0; i < items; ++i) {
        const LashInteraction* item = &r->list->item[i];
        for (int b = 0; b < item->touched; ++b)
            loops->block_item[loops->block_start[item->block[b] + 1]++] = i;
    }
    loops->seen = lash_alloc(((size_t)items + 1) * sizeof(int));
    loops->queue = lash_alloc(((size_t)items + 1) * sizeof(int));
    loops->seen_block = lash_alloc((size_t)blocks + 1);
    loops->block_queue = lash_alloc(((size_t)blocks + 1) * sizeof(int));
    loops->row_of = lash_alloc(((size_t)r->rows + 1) * sizeof(int));
    loops->weight = lash_alloc(((size_t)r->rows + 2) * sizeof(double));
}

static void loops_free(Loops* loops) {
    lash_free(loops->known);
    lash_free(loops->block_start);
    lash_free(loops->block_item);
    lash_free(loops->seen);
    lash_free(loops->queue);
    lash_free(loops->seen_block);
    lash_free(loops->block_queue);
    lash_free(loops->row_of);
    lash_free(loops->weight);
}

// Keeps the circuit of `row`: weights of the rows row_of[0 .. offered), then its own; NULL: of all.
static void keep_circuit(Loops* loops, int row, const int* row_of, int offered) {
    LashCircuit* c = &loops->freedom->circuit[loops->freedom->circuits++];
    double largest = 0;
    int n = 0;
    for (int i = 0; i <= offered; ++i) largest = fmax(largest, fabs(loops->weight[i]));
    for (int i = 0; i <= offered; ++i) n += fabs(loops->weight[i]) > 1e-6 * largest;
    c->interaction = loops->r->owner[row];
    c->row = lash_alloc((size_t)n * sizeof *c->row);
    c->P = lash_alloc((size_t)n * sizeof *c->P);
    for (int i = 0; i <= offered; ++i) {
        if (!(fabs(loops->weight[i]) > 1e-6 * largest)) continue;
        int k = row_of == NULL ? i : row_of[i];
        if (row_of != NULL && i == offered) k = row;
        c->row[c->rows] = k;
        c->P[c->rows++] = loops->weight[i] / largest / loops->r->norm[k];
    }
    loops->known[row] = true;
}

// Offers the rows of interaction i to the local elimination.
static int offer(Loops* loops, LashElimination* local, int i, int row, int offered) {
    const LashInteraction* item = &loops->r->list->item[i];
    for (int k = item->row; k < item->row + item->rows; ++k) {
        if (k == row || !(lash_elimination_independent(loops->whole, k) || loops->known[k]))
            continue;
        size_t first = loops->r->start[k];
        lash_elimination_add(local, row_size(loops->r, k), loops->r->column + first,
                             loops->r->value + first);
        loops->row_of[offered++] = k;
    }
    return offered;
}

// Appends the interactions that share a body with queue[from .. to); returns the new end.
static int widen(Loops* loops, int from, int to, int* blocks) {
    int end = to;
    for (int k = from; k < to; ++k) {
        const LashInteraction* item = &loops->r->list->item[loops->queue[k]];
        for (int b = 0; b < item->touched; ++b) {
            int block = item->block[b];
            if (loops->seen_block[block]) continue;
            loops->seen_block[block] = true;
            loops->block_queue[(*blocks)++] = block;
            for (int n = loops->block_start[block]; n < loops->block_start[block + 1]; ++n) {
                int next = loops->block_item[n];
                if (loops->seen[next] == loops->stamp) continue;
                loops->seen[next] = loops->stamp;
                loops->queue[end++] = next;
            }
        }
    }
    return end;
}

// Weights of `row` in the rows offered without those of interactions marked as left out; false:
// independent of them. row_of and *offered are renewed.
static bool without(Loops* loops, int row, const int* queue, const bool* left_out, int items,
                    int* offered) {
    const Rows* rows = loops->r;
    LashElimination* local = lash_elimination_create(rows->system->nv, LASH_RANK_LENGTH);
    size_t first = rows->start[row];
    *offered = 0;
    for (int k = 0; k < items; ++k) {
        if (!left_out[k]) *offered = offer(loops, local, queue[k], row, *offered);
    }
    bool depends = !lash_elimination_test(local, row_size(rows, row), rows->column + first,
                                          rows->value + first, loops->weight);
    loops->effort += lash_elimination_work(local) + rows->system->nv;
    lash_elimination_destroy(local);
    return depends;
}

// Leaves interactions out of a circuit just found, as far as that is possible. Returns the number
// of rows then offered.
static int shorten(Loops* loops, int row, int offered) {
    enum { LONGEST = 64 };
    bool left_out[LONGEST] = {false};
    int queue[LONGEST], items = 0, last = -1;
    double largest = 0;
    for (int i = 0; i <= offered; ++i) largest = fmax(largest, fabs(loops->weight[i]));
    for (int i = 0; i < offered; ++i) { // rows of an interaction stand together
        int owner = loops->r->owner[loops->row_of[i]];
        if (owner == last || !(fabs(loops->weight[i]) > 1e-6 * largest)) continue;
        if (items == LONGEST) return offered;
        queue[items++] = last = owner;
    }
    for (int k = items - 1; k >= 0; --k) {
        if (queue[k] == loops->r->owner[row]) continue;
        left_out[k] = true;
        left_out[k] = without(loops, row, queue, left_out, items, &offered);
    }
    without(loops, row, queue, left_out, items, &offered);
    return offered;
}

// Looks for the circuit of a dependent row within `reach` bodies of it.
static bool find_circuit(Loops* loops, int row, int reach) {
    const Rows* rows = loops->r;
    LashElimination* local = lash_elimination_create(rows->system->nv, LASH_RANK_LENGTH);
    size_t first = rows->start[row];
    int from = 0, to = 1, blocks = 0, offered = 0;
    bool found = false;
    loops->queue[0] = rows->owner[row];
    loops->seen[rows->owner[row]] = ++loops->stamp;
    for (int d = 0; d <= reach && from < to && !found; ++d) {
        for (int k = from; k < to; ++k)
            offered = offer(loops, local, loops->queue[k], row, offered);
        found = !lash_elimination_test(local, row_size(rows, row), rows->column + first,
                                       rows->value + first, loops->weight);
        int end = widen(loops, from, to, &blocks);
        from = to;
        to = end;
        if (loops->effort + lash_elimination_work(local) > EFFORT) break;
    }
    for (int k = 0; k < blocks; ++k) loops->seen_block[loops->block_queue[k]] = false;
    loops->effort += lash_elimination_work(local) + rows->system->nv;
    lash_elimination_destroy(local);
    if (!found) return false;
    keep_circuit(loops, row, loops->row_of, shorten(loops, row, offered));
    return true;
}

// All dependent rows once, forwards or backwards. Returns how many got their circuit.
static int sweep(Loops* loops, int reach, bool backwards) {
    int found = 0, m = loops->r->rows;
    for (int k = 0; k < m && loops->effort < EFFORT; ++k) {
        int row = backwards ? m - 1 - k : k;
        if (lash_elimination_independent(loops->whole, row) || loops->known[row]) continue;
        found += find_circuit(loops, row, reach);
    }
    return found;
}

static void find_circuits(const Rows* r, const LashElimination* whole, LashFreedom* freedom) {
    Loops loops;
    int missing = freedom->rows - freedom->rank;
    freedom->circuit = lash_alloc(((size_t)missing + 1) * sizeof *freedom->circuit);
    loops_create(&loops, r, whole, freedom);
    for (int reach = 1; freedom->circuits < missing && loops.effort < EFFORT;
         reach += (reach + 1) / 2) {
        while (sweep(&loops, reach, false) + sweep(&loops, reach, true) > 0) {}
        if (reach > r->list->bilateral) break;
    }
    for (int row = 0; row < r->rows; ++row) { // what was too far or too much work
        if (lash_elimination_independent(whole, row) || loops.known[row]) continue;
        lash_elimination_circuit(whole, row, loops.weight);
        keep_circuit(&loops, row, NULL, r->rows - 1);
    }
    loops_free(&loops);
}

// ---- motions and singular values ----------------------------------------------------------------

// Z (nv x dof) in scaled velocities.
static void find_motions(const Rows* rows, const LashElimination* elimination,
                         LashFreedom* freedom) {
    size_t nv = (size_t)rows->system->nv, n = 0;
    if (freedom->dof > LASH_MAX_MOTIONS) return;
    freedom->motion = lash_alloc((nv * (size_t)freedom->dof + 1) * sizeof(double));
    for (int c = 0; c < rows->system->nv; ++c) {
        if (lash_elimination_is_pivot(elimination, c)) continue;
        lash_elimination_null_vector(elimination, c, freedom->motion + nv * n++);
    }
    freedom->motions = freedom->dof;
}

// x <- x - Z (Z'Z)^-1 Z' x; ZZ: Cholesky factor of Z'Z
static void remove_motions(const LashFreedom* freedom, int nv, const double* ZZ, double* z,
                           double* x) {
    int n = freedom->motions;
    for (int k = 0; k < n; ++k) {
        z[k] = 0;
        for (int i = 0; i < nv; ++i)
            z[k] += freedom->motion[(size_t)nv * (size_t)k + (size_t)i] * x[i];
    }
    if (n > 0) lash_dense_cholesky_solve(n, ZZ, n, z);
    for (int k = 0; k < n; ++k) {
        for (int i = 0; i < nv; ++i)
            x[i] -= freedom->motion[(size_t)nv * (size_t)k + (size_t)i] * z[k];
    }
}

static bool factor_motions(const LashFreedom* freedom, int nv, double* ZZ) {
    int n = freedom->motions;
    for (int a = 0; a < n; ++a) {
        for (int b = 0; b <= a; ++b) {
            const double *x = freedom->motion + (size_t)nv * (size_t)a,
                         *y = freedom->motion + (size_t)nv * (size_t)b;
            double sum = 0;
            for (int i = 0; i < nv; ++i) sum += x[i] * y[i];
            ZZ[a + n * b] = ZZ[b + n * a] = sum;
        }
    }
    return n == 0 || lash_dense_cholesky(n, ZZ, n);
}

static double normalise(double* x, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * x[i];
    for (int i = 0; i < n && sum > 0; ++i) x[i] /= sqrt(sum);
    return sqrt(sum);
}

static double noise(uint32_t* state) { // in [-1, 1]
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 23) - 1;
}

static void find_smallest(const Rows* r, const LashElimination* elimination, LashFreedom* freedom) {
    int nv = r->system->nv, m = r->rows, n = freedom->motions;
    if (freedom->rank == 0 || n < freedom->dof) return;
    double* ZZ = lash_alloc(((size_t)n * (size_t)n + 1) * sizeof *ZZ);
    double* z = lash_alloc(((size_t)n + 1) * sizeof *z);
    double *x = lash_alloc((size_t)nv * sizeof *x), *y = lash_alloc((size_t)m * sizeof *y);
    uint32_t state = 1;
    bool good = factor_motions(freedom, nv, ZZ);
    for (int i = 0; i < m; ++i)
        y[i] = lash_elimination_independent(elimination, i) ? noise(&state) : 0;
    normalise(y, m);
    double before = 0;
    for (int k = 0; k < ITERATIONS && good; ++k) {
        lash_elimination_solve(elimination, y, x);
        remove_motions(freedom, nv, ZZ, z, x);
        freedom->smallest = 1 / normalise(x, nv);
        lash_elimination_solve_transposed(elimination, x, y);
        normalise(y, m);
        if (fabs(freedom->smallest - before) <= 1e-9 * before) break;
        before = freedom->smallest;
    }
    for (int i = 0; i < nv; ++i) x[i] /= r->scale[i];
    freedom->weak_motion = x;
    freedom->weak_impulse = y;
    lash_free(ZZ);
    lash_free(z);
}

// ---- positions nearby ---------------------------------------------------------------------------

// Evaluates the bilateral rows at q into r; b (rows) gets the scaled errors.
static void evaluate_at(LashSim* sim, Rows* r, const double* q, double* b) {
    const LashSystem* system = sim->system;
    Step* step = &sim->step;
    step->list =
        system->collect(system, sim->work, sim->now.t, q, sim->now.v, sim->settings.h, sim->reach);
    for (int i = 0; i < step->list->count; ++i) step->wanted[i] = i < step->list->bilateral;
    system->evaluate(system, sim->work, sim->now.t, q, step->wanted, step->g, step->g_t, step->G);
    r->list = step->list;
    rows_fill(r, step->G);
    for (int i = 0; i < r->rows && b != NULL; ++i) {
        b[i] = r->velocity[i] || r->norm[i] == 0 ? 0 : -step->g[i] / r->norm[i];
    }
}

// Rank at q (+) x / scale, closed again; 0: it does not close.
static int rank_at(LashSim* sim, Rows* r, double* x, double* q, double* q_new, double* b) {
    const LashSystem* system = sim->system;
    int rank = 0;
    memcpy(q, sim->now.q, (size_t)system->nq * sizeof *q);
    for (int k = 0; k < CLOSING; ++k) {
        double worst = 0;
        for (int i = 0; i < system->nv; ++i) x[i] /= r->scale[i];
        system->move(system, q, 1, x, q_new);
        memcpy(q, q_new, (size_t)system->nq * sizeof *q);
        evaluate_at(sim, r, q, b);
        LashElimination* elimination = eliminate(r);
        rank = lash_elimination_rank(elimination);
        for (int i = 0; i < r->rows; ++i) worst = fmax(worst, fabs(b[i]));
        lash_elimination_solve(elimination, b, x);
        lash_elimination_destroy(elimination);
        if (worst <= CLOSED * system->length) return rank;
        if (!isfinite(worst) || worst > system->length) return 0;
    }
    return 0;
}

static void look_nearby(LashSim* sim, Rows* r, LashFreedom* freedom) {
    const LashSystem* system = sim->system;
    size_t nv = (size_t)system->nv;
    double* x = lash_alloc((nv + 1) * sizeof *x);
    double* q = lash_alloc(2 * ((size_t)system->nq + 1) * sizeof *q);
    double* b = lash_alloc(((size_t)r->rows + 1) * sizeof *b);
    uint32_t state = 7;
    for (int k = 0; k < NEARBY && freedom->motions > 0; ++k) {
        double largest = 0;
        memset(x, 0, nv * sizeof *x);
        for (int j = 0; j < freedom->motions; ++j) {
            double share = noise(&state);
            for (size_t i = 0; i < nv; ++i) x[i] += share * freedom->motion[nv * (size_t)j + i];
        }
        for (size_t i = 0; i < nv; ++i) largest = fmax(largest, fabs(x[i]));
        for (size_t i = 0; i < nv; ++i) x[i] *= OFF * system->length / largest;
        int rank = rank_at(sim, r, x, q, q + system->nq, b);
        if (rank > freedom->rank_nearby) freedom->rank_nearby = rank;
    }
    lash_free(x);
    lash_free(q);
    lash_free(b);
}

// ---- the whole ----------------------------------------------------------------------------------

LashFreedom* lash_sim_freedom(LashSim* sim) {
    const LashSystem* system = sim->system;
    LashFreedom* freedom = lash_alloc(sizeof *freedom);
    Rows r;
    Step* step = &sim->step;
    step->list = system->collect(system, sim->work, sim->now.t, sim->now.q, sim->now.v,
                                 sim->settings.h, sim->reach);
    rows_create(&r, system, step->list);
    evaluate_at(sim, &r, sim->now.q, NULL);
    LashElimination* elimination = eliminate(&r);
    freedom->rows = r.rows;
    freedom->rank = freedom->rank_nearby = lash_elimination_rank(elimination);
    freedom->dof = system->nv - freedom->rank;
    freedom->smallest = NAN;
    for (int i = 0; i < r.rows; ++i) {
        if (!lash_elimination_independent(elimination, i))
            freedom->mismatch = fmax(freedom->mismatch, lash_elimination_left(elimination, i));
    }
    find_circuits(&r, elimination, freedom);
    find_motions(&r, elimination, freedom);
    find_smallest(&r, elimination, freedom);
    if (freedom->dof > 0 && freedom->rank < freedom->rows) look_nearby(sim, &r, freedom);
    for (size_t k = 0; k < (size_t)freedom->motions * (size_t)system->nv; ++k) {
        freedom->motion[k] /= r.scale[k % (size_t)system->nv];
    }
    evaluate_at(sim, &r, sim->now.q, NULL); // leaves the work as it was
    lash_elimination_destroy(elimination);
    rows_free(&r);
    return freedom;
}

void lash_freedom_destroy(LashFreedom* freedom) {
    if (freedom == NULL) return;
    for (int i = 0; i < freedom->circuits; ++i) {
        lash_free(freedom->circuit[i].row);
        lash_free(freedom->circuit[i].P);
    }
    lash_free(freedom->circuit);
    lash_free(freedom->motion);
    lash_free(freedom->weak_motion);
    lash_free(freedom->weak_impulse);
    lash_free(freedom);
}
