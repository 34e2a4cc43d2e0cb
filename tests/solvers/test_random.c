// Random friction problems, fixed seeds: every answer must pass the independent check at 1e-10.
// LASH_LONG_TESTS=1 runs 10 000 of them, otherwise the first few hundred (a hundred under sanitizers).
#include "test.h"

#include "app/bench/problem_builtin.h"

enum { FAMILIES = 5 };
#if defined(__SANITIZE_ADDRESS__)
enum { FIRST_FEW = 100 };
#else
enum { FIRST_FEW = 400 };
#endif

// Full rank, rank-deficient, planar, mixed with joint rows, unsymmetric; 1 .. 100 contacts.
static AppRandomProblem choose(int k) {
    uint64_t mix = (uint64_t)k * 0x9e3779b97f4a7c15u >> 33;
    int contacts = 1 + (int)(mix % (k % 4 == 0 ? 100 : 12));
    AppRandomProblem set = {.seed = (uint64_t)k + 1, .contacts = contacts, .rows = 3};
    set.bodies = k % FAMILIES == 0 ? contacts + 2 : 1 + contacts / 3;
    if (k % FAMILIES == 2) set.rows = 2;
    if (k % FAMILIES == 3) set.rows = 0;
    if (k % FAMILIES == 4) set.asymmetry = 1e-4;
    return set;
}

static LashFrictionInfo solve_with(const LashFrictionProblem* p, const LashFrictionSettings* s,
                                   double* P, double* U) {
    size_t size = (lash_friction_work_size(p->contacts, p->m) + 63) / 64 * 64;
    void* work = aligned_alloc(64, size);
    LashFrictionInfo info = lash_friction_solve(p, s, P, U, work);
    free(work);
    return info;
}

static LashFrictionInfo solve(const LashFrictionProblem* p, LashFrictionMethod method, double* P,
                              double* U) {
    LashFrictionSettings s = lash_friction_settings();
    s.cold = true;
    s.tolerance = 1e-10;
    s.method = method;
    return solve_with(p, &s, P, U);
}

static void every_answer_passes_the_check(void** state) {
    (void)state;
    int count = getenv("LASH_LONG_TESTS") != NULL ? 10000 : FIRST_FEW, failed = 0, robust = 0;
    for (int k = 0; k < count; ++k) {
        AppRandomProblem set = choose(k);
        AppProblem* p = app_problem_random(&set);
        const LashFrictionProblem* f = &p->friction;
        double *P = calloc((size_t)f->m, 8), *U = calloc((size_t)f->m, 8);
        LashFrictionInfo info = solve(f, LASH_FRICTION_DEFAULT, P, U);
        double residual = lash_friction_residual(f, LASH_MEASURE_VELOCITY, P, U);
        assert_true(info.residual == residual); // never a silent wrong answer
        assert_true((info.outcome == LASH_CONVERGED) == (residual <= 1e-10));
        if (info.outcome != LASH_CONVERGED) {
            failed++;
            print_message("problem %d: %d contacts, %d bodies, %d rows: residual %.1e after %d\n",
                          k, set.contacts, set.bodies, set.rows, residual, info.iterations);
        }
        robust += info.method > LASH_FRICTION_ROBUST;
        free(P);
        free(U);
        app_problem_destroy(p);
    }
    print_message("%d problems, %d by the robust method, %d not solved\n", count, robust, failed);
    assert_int_equal(failed, 0);
}

// Two methods may find different solutions of the same problem: both must pass the check. Where
// friction is small the solution is unique in U.
static void different_velocities_come_from_different_solutions(void** state) {
    (void)state;
    int differ = 0, pairs = 0;
    for (int k = 0; k < 300; ++k) {
        AppRandomProblem set = choose(k);
        set.asymmetry = 0;
        AppProblem* p = app_problem_random(&set);
        LashFrictionProblem f = p->friction;
        double *mu = malloc((size_t)f.contacts * 8), *P = calloc((size_t)f.m, 8),
               *U = calloc((size_t)f.m, 8), *V = calloc((size_t)f.m, 8), worst = 0;
        for (int i = 0; i < f.contacts; ++i) mu[i] = k % 2 == 0 ? 0.02 * f.mu[i] : f.mu[i];
        f.mu = mu;
        LashFrictionInfo a = solve(&f, LASH_FRICTION_DEFAULT, P, U);
        LashFrictionInfo b = solve(&f, LASH_FRICTION_GAUSS_SEIDEL, P, V);
        if (a.outcome == LASH_CONVERGED && b.outcome == LASH_CONVERGED) {
            for (int i = 0; i < f.m; ++i) worst = fmax(worst, fabs(U[i] - V[i]));
            pairs++;
            differ += worst > 1e-5;
        }
        free(mu);
        free(P);
        free(U);
        free(V);
        app_problem_destroy(p);
    }
    print_message("%d of %d pairs differ in U\n", differ, pairs);
    assert_true(pairs > 150 && differ <= pairs / 5);
}

// Problem k from P = 0.
static LashFrictionInfo solve_cold(int k, LashFrictionSettings* s) {
    AppRandomProblem set = choose(k);
    AppProblem* p = app_problem_random(&set);
    size_t rows = (size_t)p->friction.m;
    double *P = calloc(rows, sizeof *P), *U = calloc(rows, sizeof *U);
    s->cold = true;
    LashFrictionInfo info = solve_with(&p->friction, s, P, U);
    free(P);
    free(U);
    app_problem_destroy(p);
    return info;
}

// A step cuts the work on one problem: what is allowed is enough for most of them from a cold start, and never exceeded.
static void work_is_bounded(void** state) {
    (void)state;
    enum { WORK = 200 };
    int failed = 0, most = 0;
    for (int k = 0; k < FIRST_FEW; ++k) {
        LashFrictionSettings s = lash_friction_settings();
        s.tolerance = 1e-10;
        s.max_iterations = WORK;
        LashFrictionInfo info = solve_cold(k, &s);
        most = info.iterations > most ? info.iterations : most;
        failed += info.outcome != LASH_CONVERGED;
    }
    print_message("%d problems, at most %d factors and sweeps, %d not solved\n", FIRST_FEW, most,
                  failed);
    assert_true(most <= WORK);
    assert_true(failed <= FIRST_FEW / 50);
}

// Whoever asks for more than rounding allows gets the best point that was passed on the way.
static void asking_for_more_never_gives_less(void** state) {
    (void)state;
    double worst = 0;
    for (int k = 0; k < FIRST_FEW / 8; ++k) {
        LashFrictionSettings s = lash_friction_settings();
        s.tolerance = 1e-16;
        s.minimum_norm = false;
        s.max_iterations = 600;
        LashFrictionInfo info = solve_cold(k, &s);
        if (!(info.residual <= worst)) worst = info.residual;
        if (info.residual > 1e-10) print_message("problem %d: %.1e\n", k, info.residual);
    }
    print_message("residuals up to %.1e where 1e-16 was asked for\n", worst);
    assert_true(worst <= 1e-10);
}

RUN(TEST(work_is_bounded), TEST(asking_for_more_never_gives_less),
    TEST(every_answer_passes_the_check), TEST(different_velocities_come_from_different_solutions))
