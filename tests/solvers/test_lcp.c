// Linear complementarity: textbook problems, degenerate ones, ones without solution, mixed ones.
#include "test.h"

#include "core/arena.h"
#include "solvers/cone/lcp.h"

enum { MAX = 64 };

static LashLcpInfo solve(int n, const double* A, const double* b, const uint8_t* free_rows,
                         LashLcpMethod method, double* z) {
    double w[MAX];
    LashLcpSettings s = lash_lcp_settings();
    s.method = method;
    void* work = malloc(lash_lcp_work_size(n));
    LashLcpProblem p = {n, A, n, b, free_rows};
    uint64_t before = lash_allocation_count();
    LashLcpInfo info = lash_lcp_solve(&p, &s, z, w, work);
    assert_int_equal(lash_allocation_count(), before);
    double residual = lash_lcp_residual(&p, z, w);
    assert_true(info.residual == residual || residual == 0);
    assert_true((info.outcome == LASH_CONVERGED) == (info.residual <= s.tolerance));
    free(work);
    return info;
}

static uint64_t seed = 1;

static double random_unit(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0 - 0.5;
}

// A = G' G (rank rows of G) plus a skew part; b = -G' v when consistent.
static void random_problem(int n, int rank, double skew, bool consistent, double* A, double* b) {
    double G[MAX * MAX], v[MAX];
    for (int i = 0; i < rank * n; ++i) G[i] = random_unit();
    for (int i = 0; i < rank; ++i) v[i] = random_unit();
    for (int i = 0; i < n; ++i) {
        b[i] = consistent ? 0 : random_unit();
        for (int k = 0; consistent && k < rank; ++k) b[i] -= G[k + i * rank] * v[k];
        for (int j = 0; j < n; ++j) {
            A[i + j * n] = 0;
            for (int k = 0; k < rank; ++k) A[i + j * n] += G[k + i * rank] * G[k + j * rank];
        }
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j) {
            double s = skew * random_unit();
            A[i + j * n] += s;
            A[j + i * n] -= s;
        }
}

static void every_method_finds_the_unique_answer_of_a_positive_definite_problem(void** state) {
    (void)state;
    for (int trial = 0; trial < 300; ++trial) {
        int n = 1 + trial % 10;
        double A[MAX * MAX], b[MAX], first[MAX], z[MAX];
        random_problem(n, n, trial % 2, false, A, b);
        for (int i = 0; i < n; ++i) A[i * (n + 1)] += 0.2;
        for (int m = LASH_LCP_DEFAULT; m <= LASH_LCP_ENUMERATION; ++m) {
            LashLcpInfo info = solve(n, A, b, NULL, (LashLcpMethod)m, z);
            assert_int_equal(info.outcome, LASH_CONVERGED);
            if (m == LASH_LCP_DEFAULT) memcpy(first, z, sizeof z);
            for (int i = 0; i < n; ++i)
                assert_true(fabs(z[i] - first[i]) < 1e-7 * (1 + fabs(first[i])));
        }
    }
}

static void lemke_solves_every_consistent_semidefinite_problem(void** state) {
    (void)state;
    for (int trial = 0; trial < 1000; ++trial) {
        int n = 2 + trial % 30, rank = 1 + trial % (n > 8 ? n / 2 : n);
        double A[MAX * MAX], b[MAX], z[MAX];
        random_problem(n, rank, 0, true, A, b);
        LashLcpInfo info = solve(n, A, b, NULL, LASH_LCP_LEMKE, z);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        assert_false(info.ray);
    }
}

static void degenerate_problems_end(void** state) {
    (void)state;
    // All right-hand sides alike: every ratio test is a tie.
    for (int n = 2; n <= 40; ++n) {
        double A[MAX * MAX], b[MAX], z[MAX];
        for (int i = 0; i < n; ++i) {
            b[i] = -1;
            for (int j = 0; j < n; ++j) A[i + j * n] = j < i ? 2 : 0; // Murty's family
            A[i + i * n] = 1;
        }
        if (n > 8) // 2^n pivots for the large ones: use a tie-ridden positive definite matrix
            for (int i = 0; i < n * n; ++i) A[i] = i % (n + 1) == 0 ? 2 : 1;
        LashLcpInfo info = solve(n, A, b, NULL, LASH_LCP_LEMKE, z);
        assert_int_equal(info.outcome, LASH_CONVERGED);
    }
}

static int random_below(int limit) {
    return (int)((random_unit() + 0.5) * limit);
}

// Equilibrium of a game of several players whose costs are whole numbers, full of ties (D. Miller,
// S. Zucker, Operations Research 39, 1991): 0 <= C x - E v perp x, 0 <= E' x - 1 perp v. With C > 0
// the matrix is copositive-plus and the constraints can be met, so that Lemke must succeed.
static int random_game(int players, int choices, int costs, double* A, double* b) {
    int moves = players * choices, n = moves + players;
    memset(A, 0, (size_t)n * (size_t)n * sizeof(double));
    for (int j = 0; j < moves; ++j) {
        int own = j / choices;
        for (int i = 0; i < moves; ++i)
            A[i + j * n] = i / choices == own ? 1 : 1 + random_below(costs);
        A[moves + own + j * n] = 1;
        A[j + (moves + own) * n] = -1;
    }
    for (int i = 0; i < n; ++i) b[i] = i < moves ? 0 : -1;
    return n;
}

static void lemke_finds_an_equilibrium_of_every_game(void** state) {
    (void)state;
    static double A[MAX * MAX], b[MAX], z[MAX];
    for (int trial = 0; trial < 400; ++trial) {
        int players = 2 + trial % 7, choices = 2 + trial / 7 % 4;
        int n = random_game(players, choices, trial % 3 == 0 ? 3 : 250, A, b);
        LashLcpInfo info = solve(n, A, b, NULL, LASH_LCP_LEMKE, z);
        if (info.outcome != LASH_CONVERGED)
            fail_msg("game %d, %d rows: residual %.1e after %d pivots", trial, n, info.residual,
                     info.iterations);
        for (int k = 0; k < players; ++k) { // what a player chooses adds up to 1
            double sum = 0;
            for (int i = 0; i < choices; ++i) sum += z[k * choices + i];
            assert_true(fabs(sum - 1) < 1e-12);
        }
    }
}

// Units of rows and columns that differ by many orders of magnitude hide ties from plain numbers.
static void lemke_finds_them_in_any_units(void** state) {
    (void)state;
    static double A[MAX * MAX], b[MAX], z[MAX];
    for (int trial = 0; trial < 100; ++trial) {
        double row[MAX], column[MAX];
        int n = random_game(2 + trial % 7, 2 + trial / 7 % 4, 250, A, b);
        for (int i = 0; i < n; ++i) {
            row[i] = ldexp(1, random_below(25) - 12);
            column[i] = ldexp(1, random_below(25) - 12);
        }
        for (int i = 0; i < n; ++i) {
            b[i] *= row[i];
            for (int j = 0; j < n; ++j) A[i + j * n] *= row[i] * column[j];
        }
        LashLcpInfo info = solve(n, A, b, NULL, LASH_LCP_LEMKE, z);
        if (info.outcome != LASH_CONVERGED)
            fail_msg("game %d, %d rows: residual %.1e after %d pivots", trial, n, info.residual,
                     info.iterations);
    }
}

// Whole numbers of rank below n, most of b equal: Lemke solves all that enumeration can, and ends
// on a ray where that finds nothing (semidefinite, hence copositive-plus).
static void lemke_agrees_with_enumeration_on_degenerate_problems(void** state) {
    (void)state;
    int solved = 0, without = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        int n = 2 + trial % 7, rank = 1 + trial / 7 % n;
        double G[MAX], A[MAX], b[MAX], z[MAX], other[MAX];
        for (int i = 0; i < rank * n; ++i) G[i] = random_below(3) - 1;
        for (int i = 0; i < n; ++i)
            b[i] = random_below(4) == 0 ? random_below(3) - 1 : -(trial % 2);
        for (int j = 0; j < n; ++j)
            for (int i = 0; i <= j; ++i) {
                double even = 0, skew = trial % 3 == 0 && i < j ? random_below(3) - 1 : 0;
                for (int k = 0; k < rank; ++k) even += G[k + i * rank] * G[k + j * rank];
                A[i + j * n] = even + skew;
                A[j + i * n] = even - skew;
            }
        LashLcpInfo lemke = solve(n, A, b, NULL, LASH_LCP_LEMKE, z);
        LashLcpInfo all = solve(n, A, b, NULL, LASH_LCP_ENUMERATION, other);
        if ((lemke.outcome == LASH_CONVERGED) != (all.outcome == LASH_CONVERGED))
            fail_msg("problem %d of %d rows: Lemke %.1e, enumeration %.1e", trial, n,
                     lemke.residual, all.residual);
        assert_true(lemke.outcome == LASH_CONVERGED || lemke.ray);
        solved += lemke.outcome == LASH_CONVERGED;
        without += lemke.ray;
    }
    assert_true(solved > 500 && without > 500);
}

static void a_problem_without_solution_is_not_reported_as_solved(void** state) {
    (void)state;
    double A[4] = {0, 0, 0, 0}, b[2] = {-1, 1}, z[2]; // w_1 = -1 whatever z
    for (int m = LASH_LCP_DEFAULT; m <= LASH_LCP_ENUMERATION; ++m) {
        LashLcpInfo info = solve(2, A, b, NULL, (LashLcpMethod)m, z);
        assert_int_equal(info.outcome, LASH_FAILED);
        if (m == LASH_LCP_LEMKE) assert_true(info.ray);
    }
}

static void free_rows_are_met_even_when_rank_deficient(void** state) {
    (void)state;
    for (int trial = 0; trial < 400; ++trial) {
        int n = 3 + trial % 14, rank = 2 + trial % (n - 1);
        double A[MAX * MAX], b[MAX], z[MAX], w;
        uint8_t free_rows[MAX] = {0};
        random_problem(n, rank, 0, true, A, b);
        for (int i = 0; i < n; ++i) free_rows[i] = random_unit() < 0;
        LashLcpInfo info = solve(n, A, b, free_rows, LASH_LCP_DEFAULT, z);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        for (int i = 0; i < n; ++i) {
            w = b[i];
            for (int j = 0; j < n; ++j) w += A[i + j * n] * z[j];
            if (free_rows[i]) assert_true(fabs(w) < 1e-9);
        }
    }
}

// A saddle point: the free row has no diagonal and is served by a contact.
static void a_free_row_without_diagonal_is_paired_with_a_contact(void** state) {
    (void)state;
    // 0 = v - 2 (free u), 0 <= -u + v + 1 perp v >= 0  =>  v = 2, u = 3
    double A[4] = {0, -1, 1, 1}, b[2] = {-2, 1}, z[2];
    uint8_t free_rows[2] = {1, 0};
    LashLcpInfo info = solve(2, A, b, free_rows, LASH_LCP_LEMKE, z);
    assert_int_equal(info.outcome, LASH_CONVERGED);
    assert_true(fabs(z[0] - 3) < 1e-14 && fabs(z[1] - 2) < 1e-14);
}

static bool asked_at_once(void* context) {
    ++*(int*)context;
    return true;
}

// Neither free rows, nor the path, nor its repetition with more digits go on when told to stop.
static void a_method_that_is_told_to_stop_ends(void** state) {
    (void)state;
    static double A[MAX * MAX], b[MAX], z[MAX], w[MAX];
    uint8_t free_rows[MAX] = {0};
    int n = random_game(6, 4, 250, A, b), calls = 0;
    for (int i = 0; i < n; ++i) free_rows[i] = i % 3 == 0;
    LashStop stop = {asked_at_once, &calls};
    void* work = malloc(lash_lcp_work_size(n));
    LashLcpSettings s = lash_lcp_settings();
    s.method = LASH_LCP_LEMKE;
    s.stop = &stop;
    LashLcpProblem p = {n, A, n, b, free_rows};
    LashLcpInfo info = lash_lcp_solve(&p, &s, z, w, work);
    assert_true(info.outcome != LASH_CONVERGED);
    assert_true(info.iterations <= 1);
    assert_true(calls > 0);
    free(work);
}

RUN(TEST(every_method_finds_the_unique_answer_of_a_positive_definite_problem),
    TEST(lemke_solves_every_consistent_semidefinite_problem), TEST(degenerate_problems_end),
    TEST(lemke_finds_an_equilibrium_of_every_game), TEST(lemke_finds_them_in_any_units),
    TEST(lemke_agrees_with_enumeration_on_degenerate_problems),
    TEST(a_problem_without_solution_is_not_reported_as_solved),
    TEST(free_rows_are_met_even_when_rank_deficient),
    TEST(a_free_row_without_diagonal_is_paired_with_a_contact),
    TEST(a_method_that_is_told_to_stop_ends))
