// Sparse elimination: rank, circuits, null space and solutions of random matrices of known rank.
#include "test.h"

#include "core/arena.h"
#include "solvers/linear/elimination.h"

enum { ROWS = 60, COLUMNS = 45, RANK = 31 };

static double draw(uint32_t* state) {
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 23) - 1;
}

// Rows 0 .. RANK-1 sparse and random, the others combinations of a few of them; then shuffled.
static void make(uint32_t seed, double A[ROWS][COLUMNS]) {
    uint32_t state = seed;
    memset(A, 0, sizeof(double[ROWS][COLUMNS]));
    for (int i = 0; i < RANK; ++i) {
        A[i][i] = 1 + fabs(draw(&state));
        for (int k = 0; k < 6; ++k) A[i][(int)(44.9 * fabs(draw(&state)))] += draw(&state);
    }
    for (int i = RANK; i < ROWS; ++i) {
        for (int k = 0; k < 3; ++k) {
            int from = (int)(RANK * fabs(draw(&state)));
            double s = draw(&state);
            for (int c = 0; c < COLUMNS; ++c) A[i][c] += s * A[from][c];
        }
    }
    for (int i = ROWS - 1; i > 0; --i) {
        int k = (int)(i * fabs(draw(&state)));
        double row[COLUMNS];
        memcpy(row, A[i], sizeof row);
        memcpy(A[i], A[k], sizeof row);
        memcpy(A[k], row, sizeof row);
    }
}

static LashElimination* eliminate(double A[ROWS][COLUMNS]) {
    LashElimination* e = lash_elimination_create(COLUMNS, 1e-9);
    int index[COLUMNS];
    for (int c = 0; c < COLUMNS; ++c) index[c] = c;
    for (int i = 0; i < ROWS; ++i) lash_elimination_add(e, COLUMNS, index, A[i]);
    return e;
}

static void rank_of_random_rows_is_found(void** state) {
    (void)state;
    double A[ROWS][COLUMNS];
    for (uint32_t seed = 1; seed <= 50; ++seed) {
        make(seed, A);
        LashElimination* e = eliminate(A);
        assert_int_equal(lash_elimination_rank(e), RANK);
        assert_int_equal(lash_elimination_rows(e), ROWS);
        lash_elimination_destroy(e);
    }
}

static void circuits_cancel_and_have_no_row_too_many(void** state) {
    (void)state;
    double A[ROWS][COLUMNS], weight[ROWS + 1];
    for (uint32_t seed = 1; seed <= 20; ++seed) {
        make(seed, A);
        LashElimination* e = eliminate(A);
        for (int i = 0; i < ROWS; ++i) {
            if (lash_elimination_independent(e, i)) continue;
            lash_elimination_circuit(e, i, weight);
            assert_true(weight[i] == 1);
            for (int c = 0; c < COLUMNS; ++c) {
                double sum = 0;
                for (int k = 0; k < ROWS; ++k) sum += weight[k] * A[k][c];
                assert_true(fabs(sum) < 1e-9);
            }
            for (int k = 0; k < ROWS; ++k) // only rows before it, and independent ones
                assert_true(k == i || weight[k] == 0 ||
                            (k < i && lash_elimination_independent(e, k)));
        }
        lash_elimination_destroy(e);
    }
}

static void null_vectors_are_orthogonal_to_all_rows(void** state) {
    (void)state;
    double A[ROWS][COLUMNS], x[COLUMNS];
    int found = 0;
    make(3, A);
    LashElimination* e = eliminate(A);
    for (int c = 0; c < COLUMNS; ++c) {
        if (lash_elimination_is_pivot(e, c)) continue;
        lash_elimination_null_vector(e, c, x);
        ++found;
        assert_true(x[c] == 1);
        for (int i = 0; i < ROWS; ++i) {
            double sum = 0;
            for (int k = 0; k < COLUMNS; ++k) sum += A[i][k] * x[k];
            assert_true(fabs(sum) < 1e-9);
        }
    }
    assert_int_equal(found, COLUMNS - RANK);
    lash_elimination_destroy(e);
}

static void solutions_satisfy_the_independent_rows(void** state) {
    (void)state;
    double A[ROWS][COLUMNS], x[COLUMNS], y[ROWS], b[ROWS], c[COLUMNS] = {0};
    uint32_t noise = 5;
    make(4, A);
    LashElimination* e = eliminate(A);
    for (int i = 0; i < ROWS; ++i) b[i] = draw(&noise);
    lash_elimination_solve(e, b, x);
    for (int i = 0; i < ROWS; ++i) {
        double sum = 0;
        for (int k = 0; k < COLUMNS; ++k) sum += A[i][k] * x[k];
        if (lash_elimination_independent(e, i)) assert_true(fabs(sum - b[i]) < 1e-9);
    }
    for (int k = 0; k < COLUMNS; ++k) c[k] = draw(&noise);
    lash_elimination_solve_transposed(e, c, y);
    for (int k = 0; k < COLUMNS; ++k) {
        double sum = 0;
        for (int i = 0; i < ROWS; ++i) sum += A[i][k] * y[i];
        if (lash_elimination_is_pivot(e, k)) assert_true(fabs(sum - c[k]) < 1e-9);
    }
    lash_elimination_destroy(e);
}

static void a_test_leaves_no_trace(void** state) {
    (void)state;
    double A[ROWS][COLUMNS], weight[ROWS + 1], again[ROWS + 1];
    int index[COLUMNS];
    for (int c = 0; c < COLUMNS; ++c) index[c] = c;
    make(6, A);
    LashElimination *e = lash_elimination_create(COLUMNS, 1e-9), *plain = eliminate(A);
    for (int i = 0; i < ROWS; ++i) {
        bool free = lash_elimination_test(e, COLUMNS, index, A[i], weight);
        assert_int_equal(free, lash_elimination_add(e, COLUMNS, index, A[i]));
        assert_int_equal(free, lash_elimination_independent(plain, i));
        if (free) continue;
        lash_elimination_circuit(plain, i, again);
        for (int k = 0; k <= i; ++k) assert_true(fabs(weight[k] - again[k]) < 1e-12);
    }
    lash_elimination_destroy(e);
    lash_elimination_destroy(plain);
}

static void an_empty_row_depends_on_nothing(void** state) {
    (void)state;
    LashElimination* e = lash_elimination_create(3, 1e-9);
    const int index[3] = {0, 1, 2};
    const double zero[3] = {0};
    double weight[1] = {7};
    assert_false(lash_elimination_add(e, 3, index, zero));
    lash_elimination_circuit(e, 0, weight);
    assert_true(weight[0] == 1);
    assert_int_equal(lash_elimination_rank(e), 0);
    lash_elimination_destroy(e);
}

RUN(TEST(rank_of_random_rows_is_found), TEST(circuits_cancel_and_have_no_row_too_many),
    TEST(null_vectors_are_orthogonal_to_all_rows), TEST(solutions_satisfy_the_independent_rows),
    TEST(a_test_leaves_no_trace), TEST(an_empty_row_depends_on_nothing))
