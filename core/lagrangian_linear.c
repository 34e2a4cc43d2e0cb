// Linear Lagrangian systems with banded matrices, cut into small velocity blocks.
//
//     M dv + (C v + K q - f(t)) dt = G dP,      g = g0 + A q,  G = A'        [A12 (8), (71)]
//
// Blocks are at least as wide as the band, so that M, C and K are block tridiagonal: their pattern
// has 3 blocks per block row and every cost here is linear in n. Potential energy:
// V = q'Kq / 2 - load'q; the load that depends on time does external work, C damping work
// -v'Cv.
#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "core/lagrangian_internal.h"

typedef struct Band { // diagonals d = j - i, the empty ones left out
    int count;
    int* d;         // (count)
    double** value; // (count) value[k][i] = entry (i, i + d[k])
    double* memory;
} Band;

typedef struct Linear {
    LashLagrangian base; // first
    int n;
    Band C, K;
    double *M_blocks, *C_blocks, *K_blocks; // in the layout of the pattern
    size_t block_numbers;                   // in each of them
    double* load;                           // (n)
    LashLinearContact* contact;             // in the order of the list
    double* G;                              // packed, constant
    void* context;
    void (*load_of_time)(const void* context, double t, double* load);
} Linear;

struct LashSystemWork {
    double* f; // (n) load of time, products
};

static const Linear* linear_of(const LashSystem* system) {
    return (const Linear*)system;
}

static LashSystemWork* work_create(const LashSystem* system) {
    LashSystemWork* work = lash_alloc(sizeof *work + (size_t)system->nv * sizeof(double));
    work->f = (double*)(work + 1);
    return work;
}

static void work_destroy(const LashSystem* system, LashSystemWork* work) {
    (void)system;
    lash_free(work);
}

// ---- Mass and forces ----------------------------------------------------------------------------

// y += s A x
static void band_add(const Band* A, int n, double s, const double* x, double* restrict y) {
    for (int k = 0; k < A->count; ++k) {
        int d = A->d[k], begin = d < 0 ? -d : 0, end = d > 0 ? n - d : n;
        const double* value = A->value[k];
        for (int i = begin; i < end; ++i) y[i] += s * value[i] * x[i + d];
    }
}

static double dot(int n, const double* x, const double* y) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

static void mass(const LashSystem* system, LashSystemWork* work, const double* q, double* M) {
    (void)work;
    (void)q;
    const Linear* linear = linear_of(system);
    memcpy(M, linear->M_blocks, linear->block_numbers * sizeof *M);
}

static void mass_tangent(const LashSystem* system, LashSystemWork* work, const double* q,
                         const double* a, double s, double* K) {
    (void)system;
    (void)work;
    (void)q;
    (void)a;
    (void)s;
    (void)K; // M is constant
}

static void forces(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                   const double* v, double* F) {
    const Linear* linear = linear_of(system);
    memcpy(F, linear->load, (size_t)linear->n * sizeof *F);
    band_add(&linear->K, linear->n, -1, q, F);
    band_add(&linear->C, linear->n, -1, v, F);
    if (linear->load_of_time == NULL) return;
    memset(work->f, 0, (size_t)linear->n * sizeof *work->f);
    linear->load_of_time(linear->context, t, work->f);
    for (int i = 0; i < linear->n; ++i) F[i] += work->f[i];
}

static void conservative(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                         double* F) {
    (void)work;
    (void)t;
    const Linear* linear = linear_of(system);
    memcpy(F, linear->load, (size_t)linear->n * sizeof *F);
    band_add(&linear->K, linear->n, -1, q, F);
}

static void tangents(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                     const double* v, double* C, double* K) {
    (void)work;
    (void)t;
    (void)q;
    (void)v;
    const Linear* linear = linear_of(system);
    memcpy(C, linear->C_blocks, linear->block_numbers * sizeof *C);
    memcpy(K, linear->K_blocks, linear->block_numbers * sizeof *K);
}

static LashPower power(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                       const double* v) {
    (void)q;
    const Linear* linear = linear_of(system);
    LashPower result = {0, 0};
    if (linear->load_of_time != NULL) {
        memset(work->f, 0, (size_t)linear->n * sizeof *work->f);
        linear->load_of_time(linear->context, t, work->f);
        result.external = dot(linear->n, work->f, v);
    }
    if (linear->C.count > 0) {
        memset(work->f, 0, (size_t)linear->n * sizeof *work->f);
        band_add(&linear->C, linear->n, -1, v, work->f);
        result.damping = dot(linear->n, work->f, v);
    }
    return result;
}

static double potential(const LashSystem* system, LashSystemWork* work, double t, const double* q) {
    (void)t;
    const Linear* linear = linear_of(system);
    memset(work->f, 0, (size_t)linear->n * sizeof *work->f);
    band_add(&linear->K, linear->n, 0.5, q, work->f);
    return dot(linear->n, work->f, q) - dot(linear->n, linear->load, q);
}

// ---- Interactions -------------------------------------------------------------------------------

static bool evaluate(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                     const uint8_t* wanted, double* g, double* g_t, double* G) {
    (void)work;
    (void)t;
    const Linear* linear = linear_of(system);
    const LashInteractionList* list = &linear->base.list;
    for (int i = 0; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        bool full = G != NULL && (wanted == NULL || wanted[i]);
        int normal_rows = item->kind == LASH_UNILATERAL ? 1 : item->rows;
        for (int r = 0; r < item->rows; ++r) {
            const LashLinearRow* row = &linear->contact[i].row[r];
            double gap = row->g0;
            for (int k = 0; k < row->entries; ++k) gap += row->coefficient[k] * q[row->dof[k]];
            g[item->row + r] = r < normal_rows ? gap : 0;
            if (full && g_t != NULL) g_t[item->row + r] = 0;
        }
        if (!full) continue;
        int end = i + 1 < list->count ? list->item[i + 1].offset : list->G_size;
        size_t bytes = (size_t)(end - item->offset) * sizeof *G;
        memcpy(G + item->offset, linear->G + item->offset, bytes);
    }
    return true;
}

static void contract(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                     int i, const double* P, const double* v, double* dGP, double* dGv) {
    (void)work;
    (void)t;
    (void)q;
    (void)P;
    (void)v; // G is constant: both are zero
    const LashInteraction* item = &linear_of(system)->base.item[i];
    size_t n = 0;
    for (int k = 0; k < item->touched; ++k) n += (size_t)lash_block_size(system, item->block[k]);
    if (dGP != NULL) memset(dGP, 0, n * n * sizeof *dGP);
    if (dGv != NULL) memset(dGv, 0, n * (size_t)item->rows * sizeof *dGv);
}

// ---- Construction: matrices ---------------------------------------------------------------------

static double band_entry(const double* band, int w, int i, int j) {
    return band == NULL || j - i > w || i - j > w ? 0 : band[i * (2 * w + 1) + j - i + w];
}

// Keeps the diagonals of the given rows that are not all zero.
static Band band_create(const double* rows, int n, int w) {
    Band band = {0};
    if (rows == NULL) return band;
    size_t diagonals = (size_t)(2 * w + 1);
    band.d = lash_alloc(diagonals * sizeof *band.d);
    band.value = lash_alloc(diagonals * sizeof *band.value);
    band.memory = lash_alloc(diagonals * (size_t)n * sizeof *band.memory);
    for (int d = -w; d <= w; ++d) {
        double* value = band.memory + (size_t)band.count * (size_t)n;
        bool filled = false;
        for (int i = d < 0 ? -d : 0; i < n && i + d < n; ++i) {
            value[i] = band_entry(rows, w, i, i + d);
            filled = filled || value[i] != 0;
        }
        if (!filled) continue;
        band.d[band.count] = d;
        band.value[band.count++] = value;
    }
    return band;
}

static void band_free(Band* band) {
    lash_free(band->d);
    lash_free(band->value);
    lash_free(band->memory);
}

static bool is_symmetric(const double* band, int n, int w) {
    for (int i = 0; i < n; ++i) {
        for (int j = i + 1; j < n && j <= i + w; ++j) {
            double a = band_entry(band, w, i, j), b = band_entry(band, w, j, i);
            if (fabs(a - b) > 1e-12 * (fabs(a) + fabs(b))) return false;
        }
    }
    return true;
}

// Blocks of the given size, the last one smaller; diagonal blocks first, then (b, b+1), (b+1, b).
static void make_pattern(Linear* linear, int size) {
    LashSystem* s = &linear->base.system;
    int blocks = (linear->n + size - 1) / size, count = 3 * blocks - 2;
    int* memory = linear->base.pattern =
        lash_alloc((size_t)(blocks + 1 + 2 * count + count + 1) * sizeof(int));
    int *start = memory, *row = start + blocks + 1, *column = row + count, *offset = column + count;
    for (int b = 0; b < blocks; ++b) start[b] = b * size;
    start[blocks] = linear->n;
    for (int b = 0; b < blocks; ++b) row[b] = column[b] = b;
    for (int b = 0, k = blocks; b + 1 < blocks; ++b, k += 2) {
        row[k] = b;
        column[k] = b + 1;
        row[k + 1] = b + 1;
        column[k + 1] = b;
    }
    for (int k = 0; k < count; ++k) {
        int rows = start[row[k] + 1] - start[row[k]];
        int columns = start[column[k] + 1] - start[column[k]];
        offset[k + 1] = offset[k] + rows * columns;
    }
    s->blocks = blocks;
    s->block_start = s->q_start = start;
    s->pattern = (LashBlocks){count, row, column, offset};
    linear->block_numbers = (size_t)offset[count];
}

static double* make_blocks(const Linear* linear, const double* band, int w) {
    const LashSystem* s = &linear->base.system;
    double* values = lash_alloc(linear->block_numbers * sizeof *values);
    for (int k = 0; k < s->pattern.count; ++k) {
        int row = s->pattern.row[k], column = s->pattern.column[k];
        double* block = values + s->pattern.offset[k];
        for (int j = s->block_start[column]; j < s->block_start[column + 1]; ++j) {
            for (int i = s->block_start[row]; i < s->block_start[row + 1]; ++i) {
                *block++ = band_entry(band, w, i, j);
            }
        }
    }
    return values;
}

// ---- Construction: interactions -----------------------------------------------------------------

// The blocks a contact touches, in ascending order.
static void find_touched(const LashLinearContact* contact, int size, LashInteraction* item) {
    for (int r = 0; r < contact->rows; ++r) {
        for (int k = 0; k < contact->row[r].entries; ++k) {
            int block = contact->row[r].dof[k] / size, i = 0;
            while (i < item->touched && item->block[i] < block) ++i;
            if (i < item->touched && item->block[i] == block) continue;
            LASH_ASSERT(item->touched < LASH_MAX_TOUCHED);
            memmove(&item->block[i + 1], &item->block[i],
                    (size_t)(item->touched - i) * sizeof item->block[0]);
            item->block[i] = block;
            ++item->touched;
        }
    }
}

static void check_contact(const LashLinearContact* contact, int n) {
    LASH_ASSERT(contact->rows >= 1 && contact->rows <= 3);
    for (int r = 0; r < contact->rows; ++r) {
        const LashLinearRow* row = &contact->row[r];
        LASH_ASSERT(row->entries >= 1 && row->entries <= LASH_MAX_ENTRIES);
        for (int k = 0; k < row->entries; ++k) LASH_ASSERT(row->dof[k] >= 0 && row->dof[k] < n);
    }
}

// Writes the constant, packed G: per interaction, per touched block, (size x rows).
static void fill_G(Linear* linear, int size) {
    const LashInteractionList* list = &linear->base.list;
    linear->G = lash_alloc((size_t)list->G_size * sizeof *linear->G);
    for (int i = 0; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        double* block = linear->G + item->offset;
        for (int b = 0; b < item->touched; ++b) {
            int m = lash_block_size(&linear->base.system, item->block[b]);
            for (int r = 0; r < item->rows; ++r) {
                const LashLinearRow* row = &linear->contact[i].row[r];
                for (int k = 0; k < row->entries; ++k) {
                    if (row->dof[k] / size != item->block[b]) continue;
                    block[row->dof[k] % size + m * r] += row->coefficient[k];
                }
            }
            block += m * item->rows;
        }
    }
}

static void add_contacts(Linear* linear, const LashLinearDef* def, int size) {
    linear->contact = lash_alloc((size_t)def->contacts * sizeof *linear->contact);
    for (int pass = 0; pass < 2; ++pass) { // bilateral, unilateral
        for (int i = 0; i < def->contacts; ++i) {
            const LashLinearContact* contact = &def->contact[i];
            if ((contact->kind == LASH_UNILATERAL) != (pass == 1)) continue;
            check_contact(contact, def->n);
            linear->contact[linear->base.list.count] = *contact;
            linear->contact[linear->base.list.count].name = NULL;
            LashInteraction item = {.kind = contact->kind,
                                    .rows = contact->rows,
                                    .e = contact->e,
                                    .mu = contact->mu,
                                    .id = (uint64_t)i};
            find_touched(contact, size, &item);
            lash_lagrangian_add(&linear->base, item, contact->name);
        }
    }
    fill_G(linear, size);
}

static void destroy(LashLagrangian* base) {
    Linear* linear = (Linear*)base;
    band_free(&linear->C);
    band_free(&linear->K);
    lash_free(linear->M_blocks);
    lash_free(linear->C_blocks);
    lash_free(linear->K_blocks);
    lash_free(linear->load);
    lash_free(linear->contact);
    lash_free(linear->G);
    lash_free(linear->context);
}

LashLinearDef lash_linear_def(void) {
    return (LashLinearDef){.length = 1, .unit_metric = true};
}

static void set_table(LashSystem* system) {
    system->constant_mass = true;
    system->work_create = work_create;
    system->work_destroy = work_destroy;
    system->mass = mass;
    system->mass_tangent = mass_tangent;
    system->forces = forces;
    system->conservative = conservative;
    system->tangents = tangents;
    system->definite_tangents = tangents; // C and K are
    system->power = power;
    system->potential = potential;
    system->evaluate = evaluate;
    system->contract = contract;
}

LashLagrangian* lash_linear_create(const LashLinearDef* def) {
    enum { SMALL = 6, BLOCK = 4 }; // up to SMALL coordinates are one block
    int n = def->n, w = def->bandwidth;
    LASH_ASSERT(n >= 1 && w >= 0 && def->M != NULL && def->length > 0 && def->contacts >= 0);
    LASH_ASSERT(is_symmetric(def->M, n, w) && (def->K == NULL || is_symmetric(def->K, n, w)));
    int size = w > BLOCK ? w : BLOCK;
    if (n <= SMALL) size = n;
    if (def->block != 0) size = def->block;
    LASH_ASSERT(size >= 1 && (size >= w || size >= n));
    if (size > n) size = n;

    Linear* linear = lash_alloc(sizeof *linear);
    linear->base.destroy = destroy;
    linear->n = n;
    lash_lagrangian_begin(&linear->base, n, def->q0, def->v0, def->contacts);
    set_table(&linear->base.system);
    linear->base.system.unit_metric = def->unit_metric;
    linear->base.system.length = def->length;
    make_pattern(linear, size);
    linear->C = band_create(def->C, n, w);
    linear->K = band_create(def->K, n, w);
    linear->M_blocks = make_blocks(linear, def->M, w);
    linear->C_blocks = make_blocks(linear, def->C, w);
    linear->K_blocks = make_blocks(linear, def->K, w);
    linear->load = lash_alloc((size_t)n * sizeof *linear->load);
    if (def->load != NULL) memcpy(linear->load, def->load, (size_t)n * sizeof *linear->load);
    linear->load_of_time = def->load_of_time;
    linear->context = lash_alloc(def->context_bytes);
    if (def->context_bytes > 0) memcpy(linear->context, def->context, def->context_bytes);
    add_contacts(linear, def, size);
    return &linear->base;
}
