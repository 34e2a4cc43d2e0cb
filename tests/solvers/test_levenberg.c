// Friction problems inside a Newton iteration: rows that depend on each other, rows that contradict
// each other a little (solvers/cone/friction_levenberg.c).
#include "test.h"

#include "solvers/cone/friction_internal.h"

enum { CONTACTS = 6, ROWS = 3 * CONTACTS, FREEDOMS = 8, CASES = 200 };

typedef struct Case {
    double G[FREEDOMS][ROWS], v[FREEDOMS], W[ROWS * ROWS], b[ROWS], mu[CONTACTS];
    double P[ROWS], U[ROWS];
    LashFrictionProblem problem;
} Case;

static double uniform(uint64_t* state) { // in (-1, 1)
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) / (double)(1ll << 52) - 1;
}

// W = G'G of rank 8 in 18 rows; the bodies move along v, against the contacts.
static void fill(Case* c, uint64_t seed, double contradiction) {
    uint64_t state = seed * 77 + 1;
    for (int i = 0; i < FREEDOMS; ++i) {
        c->v[i] = uniform(&state);
        for (int j = 0; j < ROWS; ++j) c->G[i][j] = uniform(&state);
    }
    for (int j = 0; j < ROWS; ++j) {
        c->b[j] = contradiction * uniform(&state);
        for (int i = 0; i < FREEDOMS; ++i) c->b[j] += c->G[i][j] * c->v[i];
        for (int k = 0; k < ROWS; ++k) {
            c->W[j + ROWS * k] = 0;
            for (int i = 0; i < FREEDOMS; ++i) c->W[j + ROWS * k] += c->G[i][j] * c->G[i][k];
        }
        c->P[j] = 0;
    }
    for (int i = 0; i < CONTACTS; ++i) c->mu[i] = 0.1;
    c->problem = (LashFrictionProblem){
        .contacts = CONTACTS, .m = ROWS, .mu = c->mu, .b = c->b, .W = c->W, .ldw = ROWS};
}

static LashFrictionInfo solve(Case* c, double enough, FrictionStart start) {
    double* work = calloc(friction_levenberg_size(CONTACTS, ROWS), sizeof *work);
    LashFrictionInfo info =
        friction_levenberg(&c->problem, 0, 1e-12, enough, 0, start, c->P, c->U, work);
    free(work);
    return info;
}

static void dependent_rows_are_solved(void** state) {
    (void)state;
    int solved = 0;
    for (int k = 0; k < CASES; ++k) {
        Case c;
        fill(&c, (uint64_t)k, 0);
        double start = lash_friction_residual(&c.problem, LASH_MEASURE_VELOCITY, c.P, c.U);
        LashFrictionInfo info = solve(&c, 1e-12, FRICTION_WARM);
        double residual = lash_friction_residual(&c.problem, LASH_MEASURE_VELOCITY, c.P, c.U);
        if (info.outcome == LASH_CONVERGED && residual <= 0.1 * start) ++solved;
        assert_true(fabs(residual - info.residual) <= 1e-14);
    }
    print_message("%d of %d\n", solved, CASES);
    assert_true(solved >= CASES * 95 / 100); // the caller has another way for the others
}

static void contradictions_are_met_halfway(void** state) {
    (void)state;
    for (int k = 0; k < CASES; ++k) {
        Case c, exact;
        fill(&exact, (uint64_t)k, 0);
        if (solve(&exact, 1e-12, FRICTION_FROM_NOTHING).outcome != LASH_CONVERGED) continue;
        fill(&c, (uint64_t)k, 1e-6);
        memcpy(c.P, exact.P, sizeof c.P);
        LashFrictionInfo info = solve(&c, 1e-12, FRICTION_WARM);
        double largest = 0, largest_exact = 0;
        for (int j = 0; j < ROWS; ++j) {
            largest = fmax(largest, fabs(c.P[j]));
            largest_exact = fmax(largest_exact, fabs(exact.P[j]));
        }
        assert_true(info.residual <= 1e-5); // no answer exists below some 1e-6
        assert_true(largest <= 2 * largest_exact + 1);
    }
}

// From an answer that is larger than it need be to the smallest one.
static void the_smallest_answer_is_found(void** state) {
    (void)state;
    Case c;
    fill(&c, 3, 0);
    for (int i = 0; i < CONTACTS; ++i) c.mu[i] = 0;
    for (int j = 0; j < ROWS; ++j) c.b[j] = 0;
    for (int i = 0; i < CONTACTS; ++i) c.P[3 * i] = 1 + (i == 2);
    friction_velocity(&c.problem, c.P, c.U);
    for (int j = 0; j < ROWS; ++j) c.b[j] = -c.U[j]; // this P is an answer now
    double before = 0, after = 0;
    for (int j = 0; j < ROWS; ++j) before += c.P[j] * c.P[j];
    LashFrictionInfo info = solve(&c, 1e-12, FRICTION_FROM_NOTHING);
    assert_true(info.residual <= 1e-11);
    for (int j = 0; j < ROWS; ++j) after += c.P[j] * c.P[j];
    assert_true(after <= before * (1 + 1e-12));
}

// The same matrix again with other velocities: the factor at hand does, and a new one where other
// contacts stick or slide.
static void factors_are_kept_while_the_matrix_stays(void** state) {
    (void)state;
    double* work = calloc(friction_levenberg_size(CONTACTS, ROWS), sizeof *work);
    memset(work, 0, friction_levenberg_size(CONTACTS, ROWS) * sizeof *work);
    int solved = 0, tried = 0;
    for (int k = 0; k < CASES; ++k) {
        Case c;
        fill(&c, (uint64_t)k, 0);
        if (solve(&c, 1e-12, FRICTION_WARM).outcome != LASH_CONVERGED) continue;
        for (int change = 0; change < 4; ++change) { // from none to all statuses new
            double size = change == 0 ? 1e-9 : pow(10, change - 4), P[ROWS];
            for (int j = 0; j < ROWS; ++j) P[j] = c.P[j] * (1 + size * ((j * 7 + k) % 5 - 2));
            LashFrictionInfo info = friction_levenberg(&c.problem, 1 + (uint64_t)k, 1e-12, 1e-12, 0,
                                                       FRICTION_WARM, P, c.U, work);
            double left = lash_friction_residual(&c.problem, LASH_MEASURE_VELOCITY, P, c.U);
            ++tried;
            solved += info.outcome == LASH_CONVERGED && left <= 2e-12;
        }
    }
    free(work);
    print_message("%d of %d\n", solved, tried);
    assert_true(tried > 2 * CASES && solved >= tried * 95 / 100);
}

// What is behind the workspace stays as it is, whatever the number of contacts.
static void the_workspace_is_not_left(void** state) {
    (void)state;
    Case c;
    fill(&c, 5, 0);
    for (int contacts = 1; contacts <= CONTACTS; ++contacts) {
        size_t size = friction_levenberg_size(contacts, 3 * contacts);
        double* work = calloc(size + 64, sizeof *work);
        for (size_t i = 0; i < 64; ++i) work[size + i] = 123.25;
        c.problem.contacts = contacts;
        c.problem.m = 3 * contacts;
        memset(c.P, 0, sizeof c.P);
        friction_levenberg(&c.problem, 0, 1e-12, 1e-12, 0, FRICTION_WARM, c.P, c.U, work);
        for (size_t i = 0; i < 64; ++i) assert_true(work[size + i] == 123.25);
        free(work);
    }
}

RUN(TEST(dependent_rows_are_solved), TEST(contradictions_are_met_halfway),
    TEST(the_smallest_answer_is_found), TEST(factors_are_kept_while_the_matrix_stays),
    TEST(the_workspace_is_not_left))
