// Checks that any LashSystem must pass: derivatives against differences, energy, pattern, the list
// of interactions. For tests that use cmocka; include it behind cmocka.h.
#ifndef LASH_TESTS_SYSTEM_CHECK_H
#define LASH_TESTS_SYSTEM_CHECK_H

#include "test.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/system.h"

static inline void check(const char* what, double got, double expected, double tolerance) {
    if (fabs(got - expected) <= tolerance) return;
    print_error("%s: got %.17g, expected %.17g, tolerance %g\n", what, got, expected, tolerance);
    fail();
}

static inline double random_number(uint64_t* seed) { // in (-1, 1), SplitMix64
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

static inline double* doubles(size_t count) {
    return lash_alloc(count * sizeof(double));
}

// ---- A system with its memory -------------------------------------------------------------------

typedef struct Probe {
    const LashSystem* s;
    LashSystemWork* work;
    const LashInteractionList* list;
    double t, *q, *v, *x, *unit;          // the point; a changed q or v
    double *M, *C, *K, *dense;            // blocks; (nv x nv)
    double *F, *plus, *minus;             // (nv)
    double *g, *g2, *g_t, *g_t2, *G, *G2; // interactions
} Probe;

static inline Probe probe_create(const LashSystem* s) {
    size_t nv = (size_t)(s->nq > s->nv ? s->nq : s->nv),
           blocks = (size_t)s->pattern.offset[s->pattern.count];
    size_t more = s->grows ? 16 : 1; // lists are longer than the guess
    size_t rows = more * (size_t)s->max_rows, G = more * (size_t)s->max_G;
    Probe p = {.s = s, .work = s->work_create(s)};
    double** vectors[] = {&p.q, &p.v, &p.x, &p.unit, &p.F, &p.plus, &p.minus};
    for (size_t i = 0; i < 7; ++i) *vectors[i] = doubles(nv);
    double** matrices[] = {&p.M, &p.C, &p.K};
    for (size_t i = 0; i < 3; ++i) *matrices[i] = doubles(blocks);
    double** local[] = {&p.g, &p.g2, &p.g_t, &p.g_t2};
    for (size_t i = 0; i < 4; ++i) *local[i] = doubles(rows);
    p.G = doubles(G);
    p.G2 = doubles(G);
    p.dense = doubles(nv * nv);
    s->initial_state(s, p.q, p.v);
    p.list = s->collect(s, p.work, 0, p.q, p.v, 1e-3, 2);
    return p;
}

static inline void probe_destroy(Probe* p) {
    double* all[] = {p->q, p->unit, p->v,  p->x,   p->F,    p->plus, p->minus, p->M,    p->C,
                     p->K, p->g,    p->g2, p->g_t, p->g_t2, p->G,    p->G2,    p->dense};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) lash_free(all[i]);
    p->s->work_destroy(p->s, p->work);
}

// Blocks to a dense (nv x nv) matrix in p->dense.
static inline void to_dense(Probe* p, const double* blocks) {
    const LashSystem* s = p->s;
    memset(p->dense, 0, (size_t)(s->nv * s->nv) * sizeof(double));
    for (int k = 0; k < s->pattern.count; ++k) {
        int row = s->pattern.row[k], column = s->pattern.column[k];
        const double* block = blocks + s->pattern.offset[k];
        for (int j = s->block_start[column]; j < s->block_start[column + 1]; ++j) {
            for (int i = s->block_start[row]; i < s->block_start[row + 1]; ++i) {
                p->dense[i + s->nv * j] += *block++;
            }
        }
    }
}

// y = A x for blocks A
static inline void multiply(Probe* p, const double* blocks, const double* x, double* y) {
    int n = p->s->nv;
    to_dense(p, blocks);
    for (int i = 0; i < n; ++i) {
        y[i] = 0;
        for (int j = 0; j < n; ++j) y[i] += p->dense[i + n * j] * x[j];
    }
}

static inline double largest(const double* x, int n) {
    double m = 0;
    for (int i = 0; i < n; ++i) m = fmax(m, fabs(x[i]));
    return m;
}

// p->x = at (+) step e_j for a configuration, at + step e_j for velocities
static inline const double* shifted(Probe* p, const double* at, int j, double step) {
    const LashSystem* s = p->s;
    memset(p->unit, 0, (size_t)s->nv * sizeof(double));
    p->unit[j] = 1;
    if (at == p->q) {
        s->move(s, at, step, p->unit, p->x);
    } else {
        for (int i = 0; i < s->nv; ++i) p->x[i] = at[i] + step * p->unit[i];
    }
    return p->x;
}

// ---- Generic checks -----------------------------------------------------------------------------

static inline void check_pattern(const LashSystem* s) {
    assert_int_equal(s->block_start[0], 0);
    assert_int_equal(s->block_start[s->blocks], s->nv);
    assert_int_equal(s->q_start[s->blocks], s->nq);
    const LashBlocks* b = &s->pattern;
    assert_int_equal(b->offset[0], 0);
    for (int k = 0; k < b->count; ++k) {
        if (k < s->blocks) assert_true(b->row[k] == k && b->column[k] == k);
        int size = lash_block_size(s, b->row[k]) * lash_block_size(s, b->column[k]);
        assert_int_equal(b->offset[k + 1] - b->offset[k], size);
        bool transposed = false;
        for (int m = 0; m < b->count; ++m) {
            transposed |= b->row[m] == b->column[k] && b->column[m] == b->row[k];
            assert_false(m != k && b->row[m] == b->row[k] && b->column[m] == b->column[k]);
        }
        assert_true(transposed);
    }
}

static inline void check_list(const Probe* p) {
    const LashInteractionList* list = p->list;
    int rows = 0, offset = 0;
    assert_true(list->count <= p->s->max_interactions && list->rows <= p->s->max_rows);
    assert_true(list->G_size <= p->s->max_G);
    for (int i = 0; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        assert_int_equal(item->row, rows);
        assert_int_equal(item->offset, offset);
        bool bilateral = item->kind != LASH_UNILATERAL && item->kind != LASH_FRICTION;
        assert_int_equal(bilateral, i < list->bilateral);
        if (i == list->bilateral) assert_int_equal(list->bilateral_rows, rows);
        int size = 0;
        for (int k = 0; k < item->touched; ++k) {
            size += lash_block_size(p->s, item->block[k]);
            for (int m = 0; m < k; ++m) assert_int_not_equal(item->block[m], item->block[k]);
        }
        rows += item->rows;
        offset += size * item->rows;
        char text[64];
        p->s->name(p->s, item->id, text, sizeof text);
        assert_true(strlen(text) > 0);
    }
    assert_int_equal(rows, list->rows);
    assert_int_equal(offset, list->G_size);
}

// Column j of a matrix against (plus - minus) / 2s
static inline void check_column(const Probe* p, const char* what, int j, double s, double scale) {
    int n = p->s->nv;
    for (int i = 0; i < n; ++i) {
        double expected = (p->plus[i] - p->minus[i]) / (2 * s);
        check(what, p->dense[i + n * j], expected, 1e-7 * (1 + scale + fabs(expected)));
    }
}

static inline void check_force_tangents(Probe* p) {
    const LashSystem* s = p->s;
    int n = s->nv;
    s->forces(s, p->work, p->t, p->q, p->v, p->F);
    s->tangents(s, p->work, p->t, p->q, p->v, p->C, p->K);
    for (int which = 0; which < 2; ++which) {
        const double* at = which == 0 ? p->v : p->q;
        to_dense(p, which == 0 ? p->C : p->K);
        double scale = largest(p->dense, n * n);
        for (int j = 0; j < n; ++j) {
            double step = 1e-5 * (which == 0 ? 1 + fabs(at[j]) : 1);
            for (int side = -1; side <= 1; side += 2) { // C and K are negative derivatives
                const double* x = shifted(p, at, j, side * step);
                s->forces(s, p->work, p->t, which ? x : p->q, which ? p->v : x,
                          side < 0 ? p->plus : p->minus);
            }
            check_column(p, which == 0 ? "C" : "K", j, step, scale);
        }
    }
}

static inline void check_mass_tangent(Probe* p) {
    const LashSystem* s = p->s;
    int n = s->nv;
    double* product = doubles((size_t)n);
    for (int j = 0; j < n; ++j) {
        double step = 1e-5;
        for (int side = -1; side <= 1; side += 2) {
            s->mass(s, p->work, shifted(p, p->q, j, side * step), p->M);
            multiply(p, p->M, p->v, product);
            memcpy(side > 0 ? p->plus : p->minus, product, (size_t)n * sizeof(double));
        }
        memset(p->K, 0, (size_t)s->pattern.offset[s->pattern.count] * sizeof(double));
        if (!s->constant_mass) {
            s->mass_tangent(s, p->work, p->q, p->v, 0.25, p->K); // it adds, twice here
            s->mass_tangent(s, p->work, p->q, p->v, 0.75, p->K);
        }
        to_dense(p, p->K);
        check_column(p, "d(Ma)/dq", j, step, largest(p->dense, n * n));
    }
    lash_free(product);
}

// d/dt (v'Mv/2 + V) along the motion M dv/dt = F equals the power of the other forces:
// v'F + v'(d(Mv)/dq)v/2 + V_q v = external + damping.
static inline void check_energy(Probe* p, double tolerance) {
    const LashSystem* s = p->s;
    int n = s->nv;
    s->forces(s, p->work, p->t, p->q, p->v, p->F);
    double rate = 0, scale = 1;
    for (int i = 0; i < n; ++i) {
        rate += p->v[i] * p->F[i];
        scale += fabs(p->v[i] * p->F[i]);
    }
    memset(p->K, 0, (size_t)s->pattern.offset[s->pattern.count] * sizeof(double));
    if (!s->constant_mass) s->mass_tangent(s, p->work, p->q, p->v, 1, p->K);
    multiply(p, p->K, p->v, p->plus);
    for (int i = 0; i < n; ++i) rate += 0.5 * p->v[i] * p->plus[i];
    double step = 1e-5 / (1 + largest(p->v, n)), V[2];
    for (int side = 0; side < 2; ++side) {
        s->move(s, p->q, side ? step : -step, p->v, p->x);
        V[side] = s->potential(s, p->work, p->t, p->x);
    }
    rate += (V[1] - V[0]) / (2 * step);
    LashPower power = s->power(s, p->work, p->t, p->q, p->v);
    check("energy rate", rate, power.external + power.damping, tolerance * scale);
}

// G of normal and bilateral rows is the gradient of g; g_t its time derivative.
static inline void check_gap_gradients(Probe* p) {
    const LashSystem* s = p->s;
    assert_true(s->evaluate(s, p->work, p->t, p->q, NULL, p->g, p->g_t, p->G));
    for (int i = 0; i < p->list->count; ++i) {
        const LashInteraction* item = &p->list->item[i];
        const double* G = p->G + item->offset;
        bool one = item->kind == LASH_UNILATERAL || item->kind == LASH_FRICTION;
        int normals = one ? 1 : item->rows;
        for (int r = normals; r < item->rows; ++r) assert_true(p->g[item->row + r] == 0);
        for (int b = 0; b < item->touched; ++b) {
            int m = lash_block_size(s, item->block[b]), start = s->block_start[item->block[b]];
            for (int j = 0; j < m; ++j) {
                double step = 1e-5;
                shifted(p, p->q, start + j, step);
                s->evaluate(s, p->work, p->t, p->x, NULL, p->g, p->g_t2, NULL);
                shifted(p, p->q, start + j, -step);
                s->evaluate(s, p->work, p->t, p->x, NULL, p->g2, p->g_t2, NULL);
                for (int r = 0; r < normals; ++r) {
                    double d = (p->g[item->row + r] - p->g2[item->row + r]) / (2 * step);
                    check("G", G[j + m * r], d, 1e-9);
                }
            }
            G += m * item->rows;
        }
        // The coordinate of a speed driver does not know the time.
        if (item->kind == LASH_BILATERAL_VELOCITY) continue;
        s->evaluate(s, p->work, p->t + 1e-5, p->q, NULL, p->g, p->g_t2, NULL);
        s->evaluate(s, p->work, p->t - 1e-5, p->q, NULL, p->g2, p->g_t2, NULL);
        for (int r = 0; r < normals; ++r) {
            double d = (p->g[item->row + r] - p->g2[item->row + r]) / 2e-5;
            check("g_t", p->g_t[item->row + r], d, 1e-9);
        }
    }
}

// G P (numbers of the touched blocks) and U = G'v + g_t (rows) of interaction i at q
static inline void products(Probe* p, const double* q, int i, const double* P, double* GP,
                            double* U) {
    const LashInteraction* item = &p->list->item[i];
    p->s->evaluate(p->s, p->work, p->t, q, NULL, p->g, p->g_t, p->G);
    const double* G = p->G + item->offset;
    for (int r = 0; r < item->rows; ++r) U[r] = p->g_t[item->row + r];
    for (int b = 0, at = 0; b < item->touched; ++b) {
        int m = lash_block_size(p->s, item->block[b]), start = p->s->block_start[item->block[b]];
        for (int j = 0; j < m; ++j) {
            GP[at + j] = 0;
            for (int r = 0; r < item->rows; ++r) {
                GP[at + j] += G[j + m * r] * P[r];
                U[r] += G[j + m * r] * p->v[start + j];
            }
        }
        at += m;
        G += m * item->rows;
    }
}

static inline void check_contracted(Probe* p) {
    const LashSystem* s = p->s;
    const double P[LASH_MAX_ROWS] = {0.7, -1.3, 0.4, 1.1, -0.2, 0.9};
    for (int i = 0; i < p->list->count; ++i) {
        const LashInteraction* item = &p->list->item[i];
        int n = 0, column = 0;
        for (int b = 0; b < item->touched; ++b) n += lash_block_size(s, item->block[b]);
        size_t size = (size_t)n;
        double *dGP = doubles(size * size), *dGv = doubles(size * (size_t)item->rows);
        double *plus = doubles(size), *minus = doubles(size), U[2][LASH_MAX_ROWS];
        s->contract(s, p->work, p->t, p->q, i, P, p->v, dGP, dGv);
        double scale = 1 + largest(p->v, s->nv);
        for (int b = 0; b < item->touched; ++b) {
            for (int j = s->block_start[item->block[b]]; j < s->block_start[item->block[b] + 1];
                 ++j, ++column) {
                double step = 1e-5;
                products(p, shifted(p, p->q, j, step), i, P, plus, U[0]);
                products(p, shifted(p, p->q, j, -step), i, P, minus, U[1]);
                for (int k = 0; k < n; ++k) {
                    double d = (plus[k] - minus[k]) / (2 * step);
                    check("d(GP)/dq", dGP[k + n * column], d, 1e-8);
                }
                for (int r = 0; r < item->rows; ++r) {
                    double d = (U[0][r] - U[1][r]) / (2 * step);
                    check("d(G'v)/dq", dGv[r + item->rows * column], d, 1e-8 * scale);
                }
            }
        }
        double* again = doubles(size * size); // either may be NULL
        s->contract(s, p->work, p->t, p->q, i, P, p->v, again, NULL);
        assert_memory_equal(again, dGP, size * size * sizeof(double));
        s->contract(s, p->work, p->t, p->q, i, P, p->v, NULL, again);
        assert_memory_equal(again, dGv, size * (size_t)item->rows * sizeof(double));
        lash_free(again);
        lash_free(dGP);
        lash_free(dGv);
        lash_free(plus);
        lash_free(minus);
    }
}

static inline void push_zero(const Probe* p, LashWide* x) {
    for (int i = 0; i < p->s->nv; ++i) x[i] = 0;
}

// Where it is known to 30 digits G P is that of doubles, and follows a displacement of 1e-22.
static inline void check_push(Probe* p) {
    const LashSystem* s = p->s;
    const double P[LASH_MAX_ROWS] = {0.7, -1.3, 0.4, 1.1, -0.2, 0.9}, tiny = 1e-22;
    LashWide *x = lash_alloc((size_t)s->nv * sizeof *x), *y = lash_alloc((size_t)s->nv * sizeof *y);
    for (int i = 0; i < p->list->count && s->push != NULL; ++i) {
        const LashInteraction* item = &p->list->item[i];
        double dGP[24 * 24], GP[24], U[LASH_MAX_ROWS];
        push_zero(p, x);
        if (!s->push(s, p->work, p->q, 0.5, p->v, i, P, x)) continue;
        s->move(s, p->q, 0.5, p->v, p->x);
        products(p, p->x, i, P, GP, U);
        for (int b = 0, at = 0; b < item->touched; ++b)
            for (int j = s->block_start[item->block[b]]; j < s->block_start[item->block[b] + 1];
                 ++j)
                check("push", (double)x[j], GP[at++], 1e-12);
        push_zero(p, x);
        memset(p->unit, 0, (size_t)s->nv * sizeof(double));
        assert_true(s->push(s, p->work, p->q, 1, p->unit, i, P, x));
        s->contract(s, p->work, p->t, p->q, i, P, p->v, dGP, NULL);
        const double* column = dGP;
        for (int b = 0; b < item->touched; ++b) {
            for (int j = s->block_start[item->block[b]]; j < s->block_start[item->block[b] + 1];
                 ++j) {
                push_zero(p, y);
                p->unit[j] = tiny;
                assert_true(s->push(s, p->work, p->q, 1, p->unit, i, P, y));
                p->unit[j] = 0;
                for (int a = 0; a < item->touched; ++a)
                    for (int k = s->block_start[item->block[a]];
                         k < s->block_start[item->block[a] + 1]; ++k)
                        check("d(push)/dq", (double)((y[k] - x[k]) / tiny), *column++, 1e-9);
            }
        }
    }
    lash_free(x);
    lash_free(y);
}

// wanted limits G and g_t; gaps are always given; a NULL G asks for gaps only.
static inline void check_wanted(Probe* p) {
    const LashSystem* s = p->s;
    int rows = p->list->rows;
    s->evaluate(s, p->work, p->t, p->q, NULL, p->g, p->g_t, p->G);
    uint8_t wanted[32] = {0};
    assert_true(p->list->count <= 32);
    for (int marked = 0; marked < p->list->count; ++marked) {
        memset(wanted, 0, sizeof wanted);
        wanted[marked] = 1;
        for (int i = 0; i < rows; ++i) p->g2[i] = p->g_t2[i] = -77;
        for (int i = 0; i < p->list->G_size; ++i) p->G2[i] = -77;
        s->evaluate(s, p->work, p->t, p->q, wanted, p->g2, p->g_t2, p->G2);
        for (int i = 0; i < p->list->count; ++i) {
            const LashInteraction* item = &p->list->item[i];
            int end = i + 1 < p->list->count ? item[1].offset : p->list->G_size;
            for (int r = item->row; r < item->row + item->rows; ++r) {
                assert_true(p->g2[r] == p->g[r]);
                assert_true(p->g_t2[r] == (i == marked ? p->g_t[r] : -77));
            }
            for (int k = item->offset; k < end; ++k) {
                assert_true(p->G2[k] == (i == marked ? p->G[k] : -77));
            }
        }
    }
    assert_true(s->evaluate(s, p->work, p->t, p->q, NULL, p->g2, NULL, p->G2)); // no g_t asked for
    assert_memory_equal(p->G2, p->G, (size_t)p->list->G_size * sizeof(double));
    for (int i = 0; i < rows; ++i) p->g2[i] = -77;
    assert_true(s->evaluate(s, p->work, p->t, p->q, NULL, p->g2, NULL, NULL));
    assert_memory_equal(p->g2, p->g, (size_t)rows * sizeof(double));
}

static inline void check_linear_motion(Probe* p) {
    const LashSystem* s = p->s;
    s->move(s, p->q, 0.3, p->v, p->x);
    s->difference(s, p->x, p->q, p->plus);
    s->move_tangent(s, 0.3, p->v, p->F, p->minus);
    for (int i = 0; i < s->nv; ++i) {
        check("q (+) s v", p->x[i], p->q[i] + 0.3 * p->v[i], 0);
        check("(-)", p->plus[i], 0.3 * p->v[i], 1e-15 * (1 + fabs(p->x[i])));
        check("T", p->minus[i], p->F[i], 0);
    }
    memcpy(p->plus, p->x, (size_t)s->nq * sizeof(double));
    s->accept(s, p->work, p->t, p->x, p->v);
    assert_memory_equal(p->plus, p->x, (size_t)s->nq * sizeof(double));
}

// All checks at the start and at random states around it.
static inline void check_system(const LashSystem* s, double spread, double energy_tolerance) {
    check_pattern(s);
    Probe p = probe_create(s);
    check_list(&p);
    uint64_t seed = 5;
    for (int pass = 0; pass < 4; ++pass) {
        uint64_t allocations = lash_allocation_count();
        s->mass(s, p.work, p.q, p.M);
        s->forces(s, p.work, p.t, p.q, p.v, p.F);
        s->tangents(s, p.work, p.t, p.q, p.v, p.C, p.K);
        p.list = s->collect(s, p.work, p.t, p.q, p.v, 1e-3, 2);
        s->evaluate(s, p.work, p.t, p.q, NULL, p.g, p.g_t, p.G);
        assert_int_equal(lash_allocation_count(), allocations);
        check_force_tangents(&p);
        check_mass_tangent(&p);
        check_energy(&p, energy_tolerance);
        for (int levers = LASH_COMMON_POINT; levers <= LASH_OWN_POINTS; ++levers) {
            if (s->set_levers != NULL) s->set_levers(p.work, (LashLevers)levers);
            if (levers == LASH_OWN_POINTS && s->set_levers == NULL) break;
            check_gap_gradients(&p);
            check_contracted(&p);
            check_push(&p);
            check_wanted(&p);
        }
        if (s->linear_motion) check_linear_motion(&p);
        p.t += 0.4;
        for (int i = 0; i < s->nv; ++i) {
            p.unit[i] = random_number(&seed);
            p.v[i] += spread * random_number(&seed);
        }
        s->move(s, p.q, spread, p.unit, p.x);
        memcpy(p.q, p.x, (size_t)s->nq * sizeof(double));
    }
    probe_destroy(&p);
}

#endif
