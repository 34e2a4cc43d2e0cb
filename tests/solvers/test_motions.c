// The motions that ideal joints leave (solvers/joints/motions.c), orthogonal bases of rows
// (solvers/linear/orthogonal.c) and the kernels on rows that both stand on (solvers/linear/dense.c).
#include "test.h"

#include "solvers/joints/motions.h"
#include "solvers/linear/dense.h"
#include "solvers/linear/orthogonal.h"
#include "solvers/step/rows.h"
#include "tests/joint_cases.h"

static double uniform(uint64_t* state) { // in (-1, 1)
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) / (double)(1ll << 52) - 1;
}

// --- Kernels and bases

static void rows_are_combined_like_plain_loops(void** state) {
    (void)state;
    enum { MOST = 75, COUNT = 9, LD = 80 };
    double X[COUNT * LD], a[2 * COUNT], y[LD], z[LD], got[COUNT];
    uint64_t seed = 1;
    for (int columns = 0; columns <= MOST; ++columns) {
        for (int i = 0; i < COUNT * LD; ++i) X[i] = uniform(&seed);
        for (int i = 0; i < 2 * COUNT; ++i) a[i] = uniform(&seed);
        for (int kind = 0; kind < 3; ++kind) {
            for (int j = 0; j < LD; ++j) y[j] = z[j] = uniform(&seed);
            for (int j = 0; j < columns; ++j) {
                if (kind == 2) z[j] = 0;
                for (int k = 0; k < COUNT; ++k)
                    z[j] += (kind == 0 ? -1 : 1) * a[2 * k] * X[k * LD + j];
            }
            if (kind == 0) lash_dense_subtract_rows(columns, COUNT, a, 2, X, LD, y);
            if (kind == 1) lash_dense_add_rows(columns, COUNT, a, 2, X, LD, y);
            if (kind == 2) lash_dense_sum_rows(columns, COUNT, a, 2, X, LD, y);
            assert_memory_equal(y, z, sizeof y); // same order of sums, nothing beyond the columns
        }
        lash_dense_multiply_rows(COUNT, columns, X, LD, y, got);
        for (int k = 0; k < COUNT; ++k) {
            double sum = 0;
            for (int j = 0; j < columns; ++j) sum += X[k * LD + j] * y[j];
            check("product", got[k], sum, 1e-13);
        }
    }
}

static void blocks_are_multiplied_like_plain_loops(void** state) {
    (void)state;
    enum { ROWS = 7, COUNT = 5, LD = 80 };
    double A[ROWS * COUNT], X[COUNT * LD], Y[ROWS * LD], Z[ROWS * LD];
    uint64_t seed = 5;
    for (int columns = 0; columns <= LD; columns += 8) {
        for (int kind = 0; kind < 4; ++kind) { // kept or not, A by rows or columns
            bool keep = kind % 2 == 1, by_rows = kind < 2;
            double sign = kind == 3 ? -1 : 1;
            int row = by_rows ? COUNT : 1, step = by_rows ? 1 : ROWS;
            for (int i = 0; i < ROWS * COUNT; ++i) A[i] = uniform(&seed);
            for (int i = 0; i < COUNT * LD; ++i) X[i] = uniform(&seed);
            for (int i = 0; i < ROWS * LD; ++i) Y[i] = Z[i] = uniform(&seed);
            for (int i = 0; i < ROWS; ++i) {
                for (int j = 0; j < columns; ++j) {
                    double sum = keep ? Z[i * LD + j] : 0;
                    for (int k = 0; k < COUNT; ++k)
                        sum += sign * A[i * row + k * step] * X[k * LD + j];
                    Z[i * LD + j] = sum;
                }
            }
            lash_dense_multiply_blocks(ROWS, columns, COUNT, sign, A, row, step, X, LD, keep, Y,
                                       LD);
            assert_memory_equal(Y, Z, sizeof Y);
        }
    }
}

// (J J' + shift) x = b for J of full rank and for one with two equal rows.
static void gram_matrices_are_factored_and_solved(void** state) {
    (void)state;
    enum { MOST = 43, LD = 48 };
    const double SHIFT = 1e-3;
    static double J[MOST * LD], R[(MOST + 3) * LD], A[MOST * MOST];
    double inverse[MOST], x[LD], b[LD];
    uint64_t seed = 7;
    for (int k = 1; k <= MOST; k += 3) {
        int ld = (k + 7) / 8 * 8;
        memset(J, 0, sizeof J);
        for (int j = 0; j < k; ++j)
            for (int i = 0; i < k; ++i) J[i + ld * j] = uniform(&seed);
        for (int j = 0; j < k && k > 20; ++j) J[3 + ld * j] = J[17 + ld * j];
        for (int i = 0; i < k; ++i) {
            for (int c = 0; c < k; ++c) {
                A[i * k + c] = i == c ? SHIFT : 0;
                for (int j = 0; j < k; ++j) A[i * k + c] += J[i + ld * j] * J[c + ld * j];
            }
        }
        assert_true(lash_dense_gram_factor(k, ld, J, SHIFT, R, inverse));
        for (int i = 0; i < ld; ++i) x[i] = b[i] = i < k ? uniform(&seed) : 0;
        lash_dense_upper_solve(k, ld, R, inverse, x);
        for (int i = 0; i < k; ++i) {
            double sum = 0, size = 0;
            for (int c = 0; c < k; ++c) {
                sum += A[i * k + c] * x[c];
                size += fabs(A[i * k + c] * x[c]);
            }
            check("row", sum, b[i], 1e-13 * (1 + size));
        }
    }
    J[0] = NAN;
    assert_false(lash_dense_gram_factor(1, 8, J, SHIFT, R, inverse));
}

// Rows of rank 5 in 11 unknowns, some of them twice, one of them empty.
static void bases_span_the_rows_and_their_complement(void** state) {
    (void)state;
    enum { N = 11, LD = 16, COUNT = 8, RANK = 5 };
    double A[COUNT * LD] = {0}, L[COUNT * LD], Q[N * LD], work[N * LD + 3 * COUNT + 2 * N];
    int order[COUNT];
    uint64_t seed = 3;
    for (int i = 0; i < RANK; ++i)
        for (int k = 0; k < N; ++k) A[i * LD + k] = uniform(&seed) * pow(10, i - 2);
    for (int k = 0; k < N; ++k) A[5 * LD + k] = 3 * A[k] - A[2 * LD + k];
    for (int k = 0; k < N; ++k) A[6 * LD + k] = A[4 * LD + k]; // the last row stays empty
    memcpy(L, A, sizeof L);
    assert_int_equal(lash_orthogonal_factor(N, COUNT, L, LD, 1e-11, order, Q, work), RANK);
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j) {
            double sum = 0;
            for (int k = 0; k < N; ++k) sum += Q[i * LD + k] * Q[j * LD + k];
            check("orthonormal", sum, i == j, 1e-14);
        }
    for (int i = 0; i < COUNT; ++i) { // A = L Q, dropped rows too
        for (int k = 0; k < N; ++k) {
            double sum = 0;
            for (int j = 0; j < (i < RANK ? i + 1 : RANK); ++j)
                sum += L[order[i] * LD + j] * Q[j * LD + k];
            check("A = L Q", sum, A[order[i] * LD + k], 1e-11);
        }
    }
    double e[COUNT], c[RANK], P[COUNT], f[N] = {0};
    for (int i = 0; i < COUNT; ++i) e[i] = 0;
    double x[N];
    for (int k = 0; k < N; ++k) x[k] = uniform(&seed);
    for (int i = 0; i < COUNT; ++i)
        for (int k = 0; k < N; ++k) e[i] += A[i * LD + k] * x[k];
    lash_orthogonal_forward(RANK, L, LD, order, e, c); // x in the basis
    for (int j = 0; j < RANK; ++j) {
        double sum = 0;
        for (int k = 0; k < N; ++k) sum += Q[j * LD + k] * x[k];
        check("forward", c[j], sum, 1e-12);
    }
    lash_orthogonal_backward(RANK, COUNT, L, LD, order, c, P); // A'P = sum of c_j Q_j
    for (int i = 0; i < COUNT; ++i)
        for (int k = 0; k < N; ++k) f[k] += A[i * LD + k] * P[i];
    for (int k = 0; k < N; ++k) {
        double sum = 0;
        for (int j = 0; j < RANK; ++j) sum += c[j] * Q[j * LD + k];
        check("backward", f[k], sum, 1e-11);
    }
}

// --- Motions of mechanisms

typedef struct Fixture {
    LashMechanism* mech;
    const LashSystem* system;
    LashSystemWork* work;
    const LashInteractionList* list;
    double *q, *v, *M, *g, *g_t, *G;
    Motions* motions;
} Fixture;

// Two links and a slider in a plane, guided twice (redundant) or once, beside a free body.
static Fixture set_up(bool redundant) {
    Fixture f = {.mech = lash_mechanism_create()};
    LashBodyId ground = lash_mechanism_ground(f.mech);
    LashBodyId crank = add(f.mech, 1, mat3_diagonal(1e-3, 2e-3, 2.5e-3), at(0.05, 0, 0));
    LashBodyId rod = add(f.mech, 0.5, mat3_diagonal(1e-3, 4e-3, 4.5e-3), at(0.25, 0, 0));
    LashBodyId slider = add(f.mech, 0.8, ball(1e-3), at(0.4, 0, 0));
    add(f.mech, 2, mat3_diagonal(1, 2, 2.5), at(0, 1, 0));
    const LashBodyId a[4] = {ground, crank, rod, ground}, b[4] = {crank, rod, slider, slider};
    const Pose where[4] = {at(0, 0, 0), at(0.1, 0, 0), at(0.4, 0, 0),
                           frame(vec3(0.4, 0, 0), vec3(1, 0, 0), vec3(0, 1, 0))};
    for (int k = 0; k < (redundant ? 4 : 3); ++k) {
        LashJointDef def =
            joint_at(f.mech, k == 3 ? LASH_PRISMATIC : LASH_REVOLUTE, a[k], b[k], where[k]);
        lash_mechanism_add_joint(f.mech, &def);
    }
    const LashSystem* s = f.system = lash_mechanism_system(f.mech);
    f.work = s->work_create(s);
    f.q = calloc((size_t)s->nq, sizeof(double));
    f.v = calloc((size_t)s->nv, sizeof(double));
    f.M = calloc((size_t)s->pattern.offset[s->pattern.count], sizeof(double));
    f.g = calloc((size_t)s->max_rows, sizeof(double));
    f.g_t = calloc((size_t)s->max_rows, sizeof(double));
    f.G = calloc((size_t)s->max_G, sizeof(double));
    s->initial_state(s, f.q, f.v);
    f.list = s->collect(s, f.work, 0, f.q, f.v, 1e-3, 1);
    assert_true(s->evaluate(s, f.work, 0, f.q, NULL, f.g, f.g_t, f.G));
    s->mass(s, f.work, f.q, f.M);
    f.motions = motions_create(s, f.list, f.M);
    assert_non_null(f.motions);
    return f;
}

static void tear_down(Fixture* f) {
    motions_destroy(f->motions);
    f->system->work_destroy(f->system, f->work);
    lash_mechanism_destroy(f->mech);
    double* owned[] = {f->q, f->v, f->M, f->g, f->g_t, f->G};
    for (int i = 0; i < 6; ++i) free(owned[i]);
}

enum { NV = 24, ROWS = 20 };

static double work_of(const Fixture* f, const double* x, const double* y) { // x'M y
    double sum = 0;
    for (int b = 0; b < f->system->blocks; ++b) {
        const double* M = f->M + f->system->pattern.offset[b];
        int at = f->system->block_start[b];
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) sum += x[at + i] * M[i + 6 * j] * y[at + j];
    }
    return sum;
}

static void motions_keep_the_joints_and_close_them(void** state) {
    (void)state;
    for (int redundant = 0; redundant < 2; ++redundant) {
        Fixture f = set_up(redundant == 1);
        int p = f.list->bilateral_rows;
        motions_factor(f.motions, f.G, f.G);
        int k = motions_count(f.motions);
        assert_int_equal(k, redundant ? 7 : 9); // 1 or 3 of the mechanism, 6 of the free body
        double V[NV * NV], a[NV], U[ROWS], e[ROWS], x[NV];
        for (int l = 0; l < k; ++l) {
            memset(a, 0, sizeof a);
            a[l] = 1;
            motions_expand(f.motions, a, V + l * NV);
            lash_rows_velocity(f.system, f.list, 0, f.list->bilateral, NULL, f.G, V + l * NV, U);
            for (int r = 0; r < p; ++r) check("G'V", U[r], 0, 1e-12);
            for (int m = 0; m <= l; ++m)
                check("V'M V", work_of(&f, V + l * NV, V + m * NV), l == m, 1e-12);
        }
        // -Y e: rows of a real motion, so that dependent ones agree
        uint64_t seed = 7;
        for (int i = 0; i < NV; ++i) x[i] = uniform(&seed);
        lash_rows_velocity(f.system, f.list, 0, f.list->bilateral, NULL, f.G, x, e);
        motions_close(f.motions, e, x);
        lash_rows_velocity(f.system, f.list, 0, f.list->bilateral, NULL, f.G, x, U);
        for (int r = 0; r < p; ++r) check("closed", U[r], -e[r], 1e-11);
        for (int l = 0; l < k; ++l) check("no motion", work_of(&f, x, V + l * NV), 0, 1e-12);
        tear_down(&f);
    }
}

// Joints take of a force all that does not move; of redundant ones with the smallest impulses.
static void joints_answer_forces(void** state) {
    (void)state;
    for (int redundant = 0; redundant < 2; ++redundant) {
        Fixture f = set_up(redundant == 1);
        int p = f.list->bilateral_rows;
        uint64_t seed = 11;
        double force[NV], left[NV], a[NV], P[ROWS], again[ROWS];
        motions_factor(f.motions, f.G, f.G);
        for (int i = 0; i < NV; ++i) force[i] = left[i] = uniform(&seed);
        motions_answer(f.motions, force, P);
        lash_rows_apply(f.system, f.list, 0, f.list->bilateral, NULL, f.G, -1, P, left);
        // What is left accelerates along the motions only, and the joints have nothing to add.
        motions_answer(f.motions, left, again);
        for (int r = 0; r < p; ++r) check("nothing left", again[r], 0, 1e-11);
        motions_reduce(f.motions, false, left, a);
        double before[NV];
        motions_reduce(f.motions, false, force, before);
        for (int l = 0; l < motions_count(f.motions); ++l) check("motion", a[l], before[l], 1e-12);
        // Smallest: any other answer P + n with G n = 0 is longer, so P is orthogonal to n.
        double other[ROWS], n[ROWS], size = 0, dot = 0, moved[NV] = {0};
        for (int r = 0; r < p; ++r) other[r] = uniform(&seed);
        lash_rows_apply(f.system, f.list, 0, f.list->bilateral, NULL, f.G, 1, other, moved);
        motions_answer(f.motions, moved, n);
        for (int r = 0; r < p; ++r) {
            n[r] = other[r] - n[r];
            size += n[r] * n[r];
            dot += n[r] * P[r];
        }
        check("smallest", dot, 0, 1e-11);
        assert_true(redundant ? size > 1e-3 : size < 1e-20);
        tear_down(&f);
    }
}

// Directions at the end of a step have turned: V meets them to the square of that.
static void turned_rows_are_met_to_second_order(void** state) {
    (void)state;
    Fixture f = set_up(false);
    const LashSystem* s = f.system;
    double *turned = calloc((size_t)s->max_G, sizeof(double)), left[2], d[NV], a[NV];
    double *q = calloc((size_t)s->nq, sizeof(double)), x[NV], U[ROWS];
    uint64_t seed = 5;
    for (int i = 0; i < NV; ++i) d[i] = uniform(&seed);
    for (int trial = 0; trial < 2; ++trial) {
        double angle = trial == 0 ? 1e-2 : 1e-3;
        s->move(s, f.q, angle, d, q);
        assert_true(s->evaluate(s, f.work, 0, q, NULL, f.g, f.g_t, turned));
        motions_factor(f.motions, f.G, turned);
        left[trial] = 0;
        for (int l = 0; l < motions_count(f.motions); ++l) {
            memset(a, 0, sizeof a);
            a[l] = 1;
            motions_expand(f.motions, a, x);
            lash_rows_velocity(s, f.list, 0, f.list->bilateral, NULL, turned, x, U);
            for (int r = 0; r < f.list->bilateral_rows; ++r)
                left[trial] = fmax(left[trial], fabs(U[r]));
        }
    }
    assert_true(left[0] > 1e-6 && left[1] < 0.02 * left[0]);
    free(turned);
    free(q);
    tear_down(&f);
}

// A row of an interaction in the motions is what G'V gives, and zero outside its clusters; columns
// are treated like single vectors.
static void rows_and_columns_agree_with_vectors(void** state) {
    (void)state;
    enum { LD = 8 };
    Fixture f = set_up(true);
    motions_factor(f.motions, f.G, f.G);
    int k = motions_count(f.motions);
    double A[NV * LD], X[NV * LD], back[NV * LD], a[NV], x[NV];
    uint64_t seed = 9;
    for (int i = 0; i < NV * LD; ++i) A[i] = uniform(&seed);
    motions_expand_columns(f.motions, A, LD, X);
    motions_reduce_columns(f.motions, false, X, LD, back);
    for (int c = 0; c < LD; ++c) {
        for (int i = 0; i < k; ++i) a[i] = A[i * LD + c];
        motions_expand(f.motions, a, x);
        for (int i = 0; i < NV; ++i) check("column", X[i * LD + c], x[i], 1e-12);
        motions_reduce(f.motions, false, x, a);
        for (int i = 0; i < k; ++i) check("back", back[i * LD + c], a[i], 1e-12);
    }
    const LashInteraction* item = &f.list->item[1]; // as if it were a contact
    int first[LASH_MAX_TOUCHED], last[LASH_MAX_TOUCHED];
    double rows[LASH_MAX_ROWS * NV], other[LASH_MAX_ROWS * NV], U[LASH_MAX_ROWS];
    assert_int_equal(motions_touched(f.motions, item, first, last), 1); // one cluster
    LashInteraction contact = *item;                                    // with other directions
    contact.offset = 0;
    for (int i = 0; i < LASH_MAX_ROWS * NV; ++i) other[i] = uniform(&seed);
    for (int count = 1; count <= contact.rows; ++count) {
        for (int i = 0; i < LASH_MAX_ROWS * NV; ++i) rows[i] = 7;
        motions_rows(f.motions, &contact, other, count, true, rows, NV);
        for (int i = 0; i < k; ++i) {
            bool acts = i >= first[0] && i < last[0];
            for (int j = 0; j < k; ++j) a[j] = i == j;
            motions_expand(f.motions, a, x);
            lash_row_velocity(f.system, &contact, other, x, U);
            for (int r = 0; r < contact.rows; ++r) // nothing else is written
                check("rows", rows[r * NV + i], acts && r < count ? U[r] : 7, 1e-12);
        }
    }
    motions_rows(f.motions, item, f.G, item->rows, true, rows, NV);
    for (int r = 0; r < item->rows; ++r)
        for (int i = first[0]; i < last[0]; ++i)
            check("joint rows move nothing", rows[r * NV + i], 0, 1e-12);
    tear_down(&f);
}

RUN(TEST(rows_are_combined_like_plain_loops), TEST(blocks_are_multiplied_like_plain_loops),
    TEST(gram_matrices_are_factored_and_solved), TEST(bases_span_the_rows_and_their_complement),
    TEST(motions_keep_the_joints_and_close_them), TEST(joints_answer_forces),
    TEST(turned_rows_are_met_to_second_order), TEST(rows_and_columns_agree_with_vectors))
