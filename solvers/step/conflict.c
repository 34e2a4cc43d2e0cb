// A contradiction is named: drivers and contacts that no motion satisfies together.
//
// With the rows of a configuration, a velocity must satisfy
//
//     joints and drivers   A_b v = b_b,    b_b = -dg/dt
//     contacts             A_c v >= b_c,   b_c = -dg/dt - g/h     (no gap closes within h)
//
// There is none exactly when multipliers exist that add all rows up to nothing, A'r = 0, r_c >= 0,
// but not the right-hand sides, r'b > 0 (Farkas). The residual of the least squares
//
//     min  sum_b (b_b - A_b v)^2 + sum_c max(0, b_c - A_c v)^2
//     r = b - A v,   0 for contacts that are content
//
// is such an r, or zero: the optimum says A'r = 0, and r'b = r'(b - A v) = |r|^2. The rows where r
// is not zero exclude each other. Rows are scaled to length 1 in velocities measured in m/s
// (turning at the radius of gyration), so that r compares with a speed.
//
// Newton on the set of contacts that are not content; normal equations, their regularisation
// taken out by repetition. This is done once, when a step has failed.
#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "solvers/linear/dense.h"
#include "solvers/step/sim_internal.h"

enum { LARGEST = 1200, ROUNDS = 60, REPETITIONS = 4 };
static const double SMALL = 1e-12;  // regularisation, of rows of length 1
static const double CLEARLY = 1e-3; // of the largest right-hand side: what r must exceed
static const double BELONGS = 0.02; // of the largest r: a row that takes part

typedef struct Row {
    const LashInteraction* item;
    int index; // of its rows
    double b, r, scale;
    bool contact, counts;
} Row;

typedef struct Conflict {
    const LashSim* sim;
    int n, rows;
    Row* row;
    const double* G;
    double *N, *y, *x, *old;
} Conflict;

// Calls for every number of a row: a (size) of block b, scaled.
static double dot_row(const Conflict* conflict, const Row* row, const double* y) {
    const LashSystem* system = conflict->sim->system;
    const double* column = conflict->G + row->item->offset;
    double sum = 0;
    for (int b = 0; b < row->item->touched; ++b) {
        int n = lash_block_size(system, row->item->block[b]);
        int at = system->block_start[row->item->block[b]];
        for (int i = 0; i < n; ++i)
            sum += column[n * row->index + i] / conflict->sim->weight[at + i] * y[at + i];
        column += n * row->item->rows;
    }
    return row->scale * sum;
}

static void add_row(const Conflict* conflict, const Row* row, double factor, double* x) {
    const LashSystem* system = conflict->sim->system;
    const double* column = conflict->G + row->item->offset;
    for (int b = 0; b < row->item->touched; ++b) {
        int n = lash_block_size(system, row->item->block[b]);
        int at = system->block_start[row->item->block[b]];
        for (int i = 0; i < n; ++i)
            x[at + i] +=
                factor * row->scale * column[n * row->index + i] / conflict->sim->weight[at + i];
        column += n * row->item->rows;
    }
}

static void add_contact(Conflict* conflict, const LashInteraction* item, double b) {
    conflict->row[conflict->rows++] = (Row){.item = item, .b = b, .scale = 1, .contact = true};
}

static void list_rows(Conflict* conflict, const LashInteractionList* list, const double* g,
                      const double* g_t, double h) {
    for (int i = 0; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        double gap = g[item->row];
        if (item->kind == LASH_UNILATERAL && gap < INFINITY)
            add_contact(conflict, item, -g_t[item->row] - fmax(gap, 0) / h);
        if (i >= list->bilateral) continue;
        for (int r = 0; r < item->rows; ++r)
            conflict->row[conflict->rows++] =
                (Row){.item = item, .index = r, .b = -g_t[item->row + r], .scale = 1};
    }
    for (int k = 0; k < conflict->rows; ++k) { // to length 1
        Row* row = &conflict->row[k];
        memset(conflict->x, 0, (size_t)conflict->n * sizeof *conflict->x);
        add_row(conflict, row, 1, conflict->x);
        double square = 0;
        for (int i = 0; i < conflict->n; ++i) square += conflict->x[i] * conflict->x[i];
        row->scale = square > 0 ? 1 / sqrt(square) : 0;
        row->b *= row->scale;
    }
}

// r and which contacts count at y; returns |r|^2.
static double residuals(Conflict* conflict) {
    double sum = 0;
    for (int k = 0; k < conflict->rows; ++k) {
        Row* row = &conflict->row[k];
        double r = row->scale == 0 ? 0 : row->b - dot_row(conflict, row, conflict->y);
        row->counts = !row->contact || r > 0;
        row->r = row->counts ? r : 0;
        sum += row->r * row->r;
    }
    return sum;
}

// N = sum a a' of the rows that count + SMALL, factored.
static bool factor(Conflict* conflict) {
    size_t n = (size_t)conflict->n;
    memset(conflict->N, 0, n * n * sizeof *conflict->N);
    for (size_t i = 0; i < n; ++i) conflict->N[i * (n + 1)] = SMALL;
    for (int k = 0; k < conflict->rows; ++k) {
        const Row* row = &conflict->row[k];
        if (!row->counts || row->scale == 0) continue;
        memset(conflict->x, 0, n * sizeof *conflict->x);
        add_row(conflict, row, 1, conflict->x);
        for (size_t j = 0; j < n; ++j) {
            if (conflict->x[j] == 0) continue;
            for (size_t i = 0; i < n; ++i)
                conflict->N[i + n * j] += conflict->x[i] * conflict->x[j];
        }
    }
    return lash_dense_cholesky(conflict->n, conflict->N, conflict->n);
}

// y <- y + N^-1 A'r with the rows that counted when N was made, some times.
static void advance(Conflict* conflict) {
    for (int k = 0; k < REPETITIONS; ++k) {
        memset(conflict->x, 0, (size_t)conflict->n * sizeof *conflict->x);
        for (int i = 0; i < conflict->rows; ++i) {
            const Row* row = &conflict->row[i];
            if (row->counts && row->scale > 0)
                add_row(conflict, row, row->b - dot_row(conflict, row, conflict->y), conflict->x);
        }
        lash_dense_cholesky_solve(conflict->n, conflict->N, conflict->n, conflict->x);
        for (int i = 0; i < conflict->n; ++i) conflict->y[i] += conflict->x[i];
    }
}

static bool solve(Conflict* conflict) {
    size_t bytes = (size_t)conflict->n * sizeof *conflict->y;
    double best = residuals(conflict);
    for (int k = 0; k < ROUNDS; ++k) {
        memcpy(conflict->old, conflict->y, bytes);
        if (!factor(conflict)) return false;
        advance(conflict);
        double now = residuals(conflict);
        for (int half = 0; half < 20 && !(now <= best); ++half) {
            for (int i = 0; i < conflict->n; ++i)
                conflict->y[i] = 0.5 * (conflict->y[i] + conflict->old[i]);
            now = residuals(conflict);
        }
        bool done = !(now < (1 - 1e-9) * best);
        best = now;
        if (done) break;
    }
    return best < INFINITY;
}

// Takes the interactions whose rows take part, the strongest of each.
static int name_rows(const Conflict* c, LashSim* sim) {
    double largest_r = 0, largest_b = 0;
    for (int k = 0; k < c->rows; ++k) {
        largest_r = fmax(largest_r, fabs(c->row[k].r));
        if (!c->row[k].contact) largest_b = fmax(largest_b, fabs(c->row[k].b));
    }
    sim->failure.conflicts = 0;
    if (!(largest_r > CLEARLY * largest_b)) return 0;
    for (int k = 0; k < c->rows; ++k) {
        const Row* row = &c->row[k];
        bool driver = row->item->prescribed;
        if (!row->contact && !driver) continue; // what holds is no cause
        if (fabs(row->r) < BELONGS * largest_r || sim->failure.conflicts == LASH_MAX_CONFLICTS)
            continue;
        sim->failure.conflict[sim->failure.conflicts++] = (LashConflict){
            .id = row->item->id, .driver = driver, .speed = driver ? row->b / row->scale : 0};
    }
    return sim->failure.conflicts;
}

bool conflict_find(LashSim* sim) {
    const LashSystem* system = sim->system;
    double h = sim->settings.h;
    bool driven = false;
    sim->failure.conflicts = 0;
    if (system->nv > LARGEST || !all_finite(sim->failure.start_q, system->nq)) return false;
    const LashInteractionList* list = system->collect(
        system, sim->work, sim->failure.start_t, sim->failure.start_q, sim->now.v, h, sim->reach);
    for (int i = 0; i < list->bilateral; ++i) driven = driven || list->item[i].prescribed;
    Step* step = &sim->step;
    step->list = list;
    bool good = driven && system->evaluate(system, sim->work, sim->failure.start_t,
                                           sim->failure.start_q, NULL, step->g, step->g_t, step->G);
    if (good && all_finite(step->G, list->G_size)) {
        size_t n = (size_t)system->nv;
        double* memory = lash_alloc((n * n + 3 * n) * sizeof *memory);
        Conflict c = {.sim = sim, .n = system->nv, .G = step->G, .N = memory, .y = memory + n * n};
        c.x = c.y + n;
        c.old = c.x + n;
        c.row = lash_alloc((size_t)(list->rows + 1) * sizeof *c.row);
        list_rows(&c, list, step->g, step->g_t, h);
        good = solve(&c) && name_rows(&c, sim) > 1;
        lash_free(c.row);
        lash_free(memory);
    }
    step->list =
        system->collect(system, sim->work, sim->now.t, sim->now.q, sim->now.v, h, sim->reach);
    return good;
}
