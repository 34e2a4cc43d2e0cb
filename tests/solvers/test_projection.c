// The position projection problem on small matrices with known answers.
#include "test.h"

#include "solvers/cone/projection_problem.h"

enum { MAX = 24 };

typedef struct Case {
    int m;
    double A[MAX * MAX], g[MAX], P_n[MAX], tau[MAX], g_new[MAX];
    uint8_t kind[MAX], final_kind[MAX];
} Case;

static LashProjectionInfo solve(Case* c, double tolerance) {
    LashProjectionProblem p = {c->m, c->A, c->m, c->g, c->kind, c->P_n, tolerance};
    void* work = aligned_alloc(64, (lash_projection_work_size(c->m) + 63) / 64 * 64);
    LashProjectionInfo info = lash_projection_solve(&p, c->tau, c->g_new, c->final_kind, work);
    free(work);
    return info;
}

// A = G' G for the columns of G (n x m)
static void gram(Case* c, int n, const double* G) {
    for (int i = 0; i < c->m; ++i)
        for (int j = 0; j < c->m; ++j) {
            double s = 0;
            for (int k = 0; k < n; ++k) s += G[k + i * n] * G[k + j * n];
            c->A[i + j * c->m] = s;
        }
}

static void open_gaps_need_no_move(void** state) {
    (void)state;
    Case c = {.m = 2, .A = {1, 0, 0, 1}, .g = {1e-3, 0}};
    LashProjectionInfo info = solve(&c, 1e-12);
    assert_int_equal(info.outcome, LASH_CONVERGED);
    assert_true(c.tau[0] == 0 && c.tau[1] == 0 && info.residual == 0);
}

static void penetration_is_pushed_out_exactly(void** state) {
    (void)state;
    Case c = {.m = 2, .A = {2, 1, 1, 2}, .g = {-1e-3, 5e-4}};
    LashProjectionInfo info = solve(&c, 1e-15);
    assert_int_equal(info.outcome, LASH_CONVERGED);
    assert_true(fabs(c.tau[0] - 5e-4) < 1e-17 && c.tau[1] == 0);
    assert_true(fabs(c.g_new[0]) < 1e-17);
}

static void equality_may_pull(void** state) {
    (void)state;
    Case c = {.m = 1, .A = {4}, .g = {2e-3}, .kind = {LASH_PROJECT_EQUALITY}, .P_n = {1}};
    LashProjectionInfo info = solve(&c, 1e-15);
    assert_int_equal(info.outcome, LASH_CONVERGED);
    assert_true(fabs(c.tau[0] + 5e-4) < 1e-18);
    assert_int_equal(info.demoted, 0);
}

static void redundant_equalities_share_the_load_evenly(void** state) {
    (void)state;
    // Three points of one straight edge, moved by one height and one angle: rank 2.
    double G[6] = {1, -1, 1, 0, 1, 1};
    Case c = {.m = 3, .g = {-1e-3, -1e-3, -1e-3}, .P_n = {1, 1, 1}};
    memset(c.kind, LASH_PROJECT_EQUALITY, 3);
    gram(&c, 2, G);
    LashProjectionInfo info = solve(&c, 1e-14);
    assert_int_equal(info.outcome, LASH_CONVERGED);
    assert_int_equal(info.demoted, 0);
    for (int i = 0; i < 3; ++i) assert_true(fabs(c.tau[i] - 1e-3 / 3) < 1e-16);
}

static void inconsistent_equalities_demote_the_smallest_impulse(void** state) {
    (void)state;
    double G[6] = {1, -1, 1, 0, 1, 1};
    Case c = {.m = 3, .g = {0, 1e-3, 0}, .P_n = {3, 1, 2}}; // the middle point is off the line
    memset(c.kind, LASH_PROJECT_EQUALITY, 3);
    gram(&c, 2, G);
    LashProjectionInfo info = solve(&c, 1e-14);
    assert_int_equal(info.outcome, LASH_CONVERGED);
    assert_int_equal(info.demoted, 1);
    assert_int_equal(c.final_kind[1], LASH_PROJECT_INEQUALITY);
    assert_true(fabs(c.g_new[1] - 1e-3) < 1e-15);
}

static void inequality_wins_over_an_equality_of_the_other_side(void** state) {
    (void)state;
    // Both sides of a guide: g0 = x - 1e-4, g1 = -x - 1e-4 + 3e-4: closing side 0 opens side 1;
    // holding g0 = 0 at x = 1e-4 leaves g1 = 1e-4 free. Then a guide that is too narrow.
    double G[2] = {1, -1};
    Case c = {.m = 2, .g = {-1e-4, 2e-4}, .P_n = {1, 0}};
    c.kind[0] = LASH_PROJECT_EQUALITY;
    gram(&c, 1, G);
    LashProjectionInfo info = solve(&c, 1e-14);
    assert_int_equal(info.outcome, LASH_CONVERGED);
    assert_int_equal(info.demoted, 0);
    Case narrow = {.m = 2, .g = {-1e-4, -1e-4}, .P_n = {1, 0}};
    narrow.kind[0] = LASH_PROJECT_EQUALITY;
    gram(&narrow, 1, G);
    info = solve(&narrow, 1e-14);
    assert_int_equal(info.outcome, LASH_INACCURATE);
    assert_true(info.residual >= 0.99e-4 && fabs(narrow.tau[0]) < 1e3);
    assert_true(isfinite(narrow.tau[0]) && isfinite(narrow.tau[1]));
}

static double random_unit(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

// A = G' G with fewer velocities than rows, g = -G' d with a displacement d that clears everything.
static void random_feasible_problems_are_solved_to_tolerance(void** state) {
    (void)state;
    uint64_t seed = 7;
    for (int k = 0; k < 2000; ++k) {
        Case c = {.m = 1 + (int)(random_unit(&seed) * 12)};
        int n = 1 + (int)(random_unit(&seed) * 8);
        double G[MAX * MAX], d[MAX];
        for (int i = 0; i < n * c.m; ++i) G[i] = random_unit(&seed) - 0.5;
        for (int i = 0; i < n; ++i) d[i] = 1e-3 * (random_unit(&seed) - 0.5);
        gram(&c, n, G);
        for (int i = 0; i < c.m; ++i) {
            for (int j = 0; j < n; ++j) c.g[i] -= G[j + i * n] * d[j];
            c.P_n[i] = random_unit(&seed);
            double pick = random_unit(&seed);
            c.kind[i] = pick < 0.8 ? LASH_PROJECT_EQUALITY : LASH_PROJECT_BILATERAL;
            if (pick < 0.6) c.kind[i] = LASH_PROJECT_INEQUALITY;
        }
        LashProjectionInfo info = solve(&c, 1e-13);
        if (info.outcome) {
            int ne = 0, nb = 0;
            for (int i = 0; i < c.m; i++) {
                ne += c.kind[i] == 1;
                nb += c.kind[i] == 2;
            }
            print_message("k %d m %d n %d eq %d bil %d res %g dem %d it %d\n", k, c.m, n, ne, nb,
                          info.residual, info.demoted, info.iterations);
            continue;
        }
        assert_int_equal(info.demoted, 0); // d meets every row as an equality
        for (int i = 0; i < c.m; ++i) {
            if (c.kind[i] != LASH_PROJECT_INEQUALITY)
                assert_true(fabs(c.g_new[i]) <= 1e-13);
            else
                assert_true(c.g_new[i] >= -1e-13 && c.tau[i] >= -1e-13);
        }
    }
}

RUN(TEST(open_gaps_need_no_move), TEST(penetration_is_pushed_out_exactly), TEST(equality_may_pull),
    TEST(redundant_equalities_share_the_load_evenly),
    TEST(inconsistent_equalities_demote_the_smallest_impulse),
    TEST(inequality_wins_over_an_equality_of_the_other_side),
    TEST(random_feasible_problems_are_solved_to_tolerance))
