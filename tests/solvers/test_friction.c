// Friction problems with known answers: closed forms, invariants, methods against each other.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test.h"

#include "app/bench/problem_builtin.h"
#include "core/arena.h"
#include "solvers/cone/friction_internal.h"

static LashFrictionInfo solve(const LashFrictionProblem* p, const LashFrictionSettings* s,
                              double* P, double* U) {
    size_t size = (lash_friction_work_size(p->contacts, p->m) + 63) / 64 * 64;
    void* work = aligned_alloc(64, size);
    uint64_t before = lash_allocation_count();
    LashFrictionInfo info = lash_friction_solve(p, s, P, U, work);
    assert_int_equal(lash_allocation_count(), before);
    free(work);
    return info;
}

static LashFrictionSettings cold(double tolerance) {
    LashFrictionSettings s = lash_friction_settings();
    s.cold = true;
    s.tolerance = tolerance;
    return s;
}

static void assert_near(double got, double expected, double tolerance) {
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("got %.17g, expected %.17g within %.1e", got, expected, tolerance);
}

// A step makes its workspace once, for all its contacts; any problem with fewer of them must fit.
static void a_workspace_holds_every_smaller_problem(void** state) {
    (void)state;
    for (int contacts = 1; contacts < 320; ++contacts) {
        for (int rows = 1; rows <= 3; ++rows) {
            size_t size = lash_friction_work_size(contacts, rows * contacts);
            assert_true(size >= lash_friction_work_size(contacts - 1, rows * (contacts - 1)));
            if (rows > 1)
                assert_true(size >= lash_friction_work_size(contacts, (rows - 1) * contacts));
        }
    }
}

static void separating_contacts_get_no_impulse(void** state) {
    (void)state;
    double W[9] = {2, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {0.5, 3, -1}, mu = 0.3, P[3] = {1, 0, 0},
           U[3];
    LashFrictionProblem p = {.contacts = 1, .m = 3, .mu = &mu, .b = b, .W = W, .ldw = 3};
    LashFrictionSettings s = lash_friction_settings();
    LashFrictionInfo info = solve(&p, &s, P, U);
    assert_int_equal(info.outcome, LASH_CONVERGED);
    assert_true(P[0] == 0 && P[1] == 0 && P[2] == 0 && U[1] == 3 && info.residual == 0);
}

static void a_block_sticks_below_and_slides_above_the_friction_angle(void** state) {
    (void)state;
    // One contact, W = 1/m: normal b_N = -1, tangential b_T = slope. Sticks while slope <= mu.
    for (double slope = 0; slope < 2; slope += 0.125) {
        double mass = 0.25, W[9] = {1 / mass, 0, 0, 0, 1 / mass, 0, 0, 0, 1 / mass};
        double b[3] = {-1, 0.6 * slope, 0.8 * slope}, mu = 0.7, P[3], U[3];
        LashFrictionProblem p = {.contacts = 1, .m = 3, .mu = &mu, .b = b, .W = W, .ldw = 3};
        LashFrictionSettings s = cold(1e-14);
        assert_int_equal(solve(&p, &s, P, U).outcome, LASH_CONVERGED);
        double t = fmin(slope, mu) * mass;
        assert_near(P[0], mass, 1e-15);
        assert_near(P[1], -0.6 * t, 1e-14);
        assert_near(P[2], -0.8 * t, 1e-14);
        assert_near(hypot(U[1], U[2]), fmax(0, slope - mu), 1e-13);
    }
}

static void the_residual_sees_every_kind_of_error(void** state) {
    (void)state;
    double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {-1, 2, 0}, mu = 0.5, U[3];
    LashFrictionProblem p = {.contacts = 1, .m = 3, .mu = &mu, .b = b, .W = W, .ldw = 3};
    double right[3] = {1, -0.5, 0}, scale = 1 + sqrt(5.0);
    assert_true(lash_friction_residual(&p, LASH_MEASURE_VELOCITY, right, U) < 1e-16);
    double small[3] = {0.99, -0.495, 0}, turned[3] = {1, -0.4, 0.3}, outside[3] = {1, -0.6, 0};
    assert_near(lash_friction_residual(&p, LASH_MEASURE_VELOCITY, small, U) * scale, 0.01, 0.02);
    assert_true(lash_friction_residual(&p, LASH_MEASURE_VELOCITY, turned, U) * scale > 0.05);
    assert_true(lash_friction_residual(&p, LASH_MEASURE_VELOCITY, outside, U) * scale > 0.05);
    double pull[3] = {-0.1, 0, 0};
    assert_true(lash_friction_residual(&p, LASH_MEASURE_PLAIN, pull, U) * scale > 0.05);
}

static void gram_masses_do_not_hide_a_wrong_friction_direction(void** state) {
    (void)state;
    double w = 1e4, W[9] = {w, 0, 0, 0, w, 0, 0, 0, w}, b[3] = {-1, 1, 0}, mu = 0.5, U[3];
    LashFrictionProblem p = {.contacts = 1, .m = 3, .mu = &mu, .b = b, .W = W, .ldw = 3};
    double wrong[3] = {1e-4, 0, -0.5e-4}; // friction across the slip
    assert_true(lash_friction_residual(&p, LASH_MEASURE_VELOCITY, wrong, U) > 0.1);
    assert_true(lash_friction_residual(&p, LASH_MEASURE_PLAIN, wrong, U) < 1e-3);
}

// Every P on a grid of the cone's boundary and inside is worse than the exact local answer.
static void the_local_solver_is_exact_for_unsymmetric_blocks(void** state) {
    (void)state;
    uint64_t seed = 99;
    for (int trial = 0; trial < 3000; ++trial) {
        double G[9], W[9], q[3], P[3] = {0, 0, 0};
        for (int i = 0; i < 12; ++i) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            double u = (double)(seed >> 11) / 9007199254740992.0 - 0.5;
            if (i < 9)
                G[i] = u;
            else
                q[i - 9] = u;
        }
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                W[i + 3 * j] = i == j ? 0.3 : 0; // stays away from Painleve's case
                for (int k = 0; k < 3; ++k) W[i + 3 * j] += G[k + 3 * i] * G[k + 3 * j];
            }
        W[1] += 1e-3;
        W[3] -= 1e-3;
        LocalContact c = {.kind = 3, .rows = 3, .mu = 0.05 + (trial % 10) * 0.05};
        c.lambda = friction_lambda(3, W, 3);
        friction_local_prepare(&c, W, 3);
        assert_true(friction_local(&c, q, 1e-8, P));
        double U[3];
        for (int i = 0; i < 3; ++i) U[i] = q[i] + W[i] * P[0] + W[i + 3] * P[1] + W[i + 6] * P[2];
        assert_true(friction_natural(3, c.mu, 1 / c.lambda, P, U) * c.lambda < 1e-13);
    }
}

static void lambda_is_the_largest_eigenvalue(void** state) {
    (void)state;
    double W[9] = {2, 1, 0, 1, 2, 0, 0, 0, 2.5}; // eigenvalues 3, 1, 2.5
    assert_near(friction_lambda(3, W, 3), 3, 1e-8);
    double I[9] = {5, 0, 0, 0, 5, 0, 0, 0, 5};
    assert_near(friction_lambda(3, I, 3), 5, 1e-12);
    assert_near(friction_lambda(2, W, 3), 3, 1e-12);
}

// Four corners of a box on a plane: 12 rows, rank 6. Weight in the middle: a quarter each.
static void redundant_corners_share_the_load_whatever_the_warm_start(void** state) {
    (void)state;
    AppProblem* box = app_problem_stack(1, 0.5);
    const LashFrictionProblem* p = &box->friction;
    LashFrictionSettings s = lash_friction_settings();
    for (int start = 0; start < 4; ++start) {
        double P[12] = {0}, U[12];
        for (int i = 0; i < 12; ++i) P[i] = start * 0.01 * ((i * 7 + start) % 5 - (i % 3 != 0) * 2);
        LashFrictionInfo info = solve(p, &s, P, U);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        for (int i = 0; i < 4; ++i) {
            assert_near(P[3 * i], 0.0981 / 4, 1e-15);
            assert_near(P[3 * i + 1], 0, 1e-15);
        }
    }
    app_problem_destroy(box);
}

// The box is also pushed and tipped so that the smallest P leaves the cone somewhere.
static void minimum_norm_is_independent_of_the_warm_start_on_the_cone_boundary(void** state) {
    (void)state;
    AppProblem* box = app_problem_stack(1, 0.2);
    LashFrictionProblem p = box->friction;
    for (int load = 0; load < 6; ++load) {
        double b[12], P_first[12], U[12];
        for (int i = 0; i < 4; ++i) { // velocities of a rigid motion: push along x, roll about y
            double x = i & 1 ? 0.5 : -0.5, roll = 0.02 * load;
            b[3 * i] = -0.0981 - roll * x;
            b[3 * i + 1] = 0.004 * load;
            b[3 * i + 2] = 0;
        }
        p.b = b;
        for (int start = 0; start < 5; ++start) {
            double P[12];
            for (int i = 0; i < 12; ++i) P[i] = start * 0.02 * ((i * 5 + start) % 7 - 3);
            LashFrictionSettings s = lash_friction_settings();
            s.tolerance = 1e-11;
            assert_int_equal(solve(&p, &s, P, U).outcome, LASH_CONVERGED);
            if (start == 0) memcpy(P_first, P, sizeof P);
            for (int i = 0; i < 12; ++i) assert_near(P[i], P_first[i], 1e-9);
        }
    }
    app_problem_destroy(box);
}

static void opposed_contacts_that_close_are_reported_quickly(void** state) {
    (void)state;
    // Both sides of a bore with different restitution: U_1 = x - 1, U_2 = -x - 0.5: infeasible.
    double W[4] = {1, -1, -1, 1}, b[2] = {-1, -0.5}, P[2], U[2];
    uint8_t kind[2] = {1, 1};
    LashFrictionProblem p = {.contacts = 2, .m = 2, .kind = kind, .b = b, .W = W, .ldw = 2};
    LashFrictionSettings s = cold(1e-12);
    LashFrictionInfo info = solve(&p, &s, P, U);
    assert_int_not_equal(info.outcome, LASH_CONVERGED);
    assert_true(info.residual > 0.1 && isfinite(P[0]) && isfinite(P[1]));
    assert_true(info.iterations < 2000);
    // The same with friction in the plane.
    double W4[16] = {1, 0, -1, 0, 0, 1, 0, 1, -1, 0, 1, 0, 0, 1, 0, 1},
           b4[4] = {-1, 0.3, -0.5, 0.3};
    double P4[4], U4[4], mu[2] = {0.3, 0.3};
    uint8_t planar[2] = {2, 2};
    LashFrictionProblem q = {
        .contacts = 2, .m = 4, .kind = planar, .mu = mu, .b = b4, .W = W4, .ldw = 4};
    info = solve(&q, &s, P4, U4);
    assert_int_not_equal(info.outcome, LASH_CONVERGED);
    assert_true(info.residual > 0.1 && info.iterations < 20000);
    double checked = lash_friction_residual(&q, s.measure, P4, U4);
    assert_true(info.residual == checked);
}

static void painleve_rod_gets_an_honest_verdict(void** state) {
    (void)state;
    for (double mu = 0.1; mu < 4; mu += 0.3)
        for (double angle = 0.3; angle < 1.5; angle += 0.2) {
            AppProblem* rod = app_problem_painleve(mu, angle);
            double P[2], U[2], U_checked[2];
            LashFrictionSettings s = cold(1e-12);
            LashFrictionInfo info = solve(&rod->friction, &s, P, U);
            double residual = lash_friction_residual(&rod->friction, s.measure, P, U_checked);
            assert_true(info.residual == residual);
            assert_true((info.outcome == LASH_CONVERGED) == (residual <= s.tolerance));
            assert_true(info.iterations < 20000);
            // At velocity level an impact always has a solution (b = G' v): jamming, if nothing
            // else.
            assert_int_equal(info.outcome, LASH_CONVERGED);
            app_problem_destroy(rod);
        }
}

static void joint_rows_and_contacts_are_solved_together(void** state) {
    (void)state;
    AppRandomProblem set = {.seed = 3, .contacts = 12, .bodies = 8, .rows = 0};
    for (set.seed = 1; set.seed < 100; ++set.seed) {
        AppProblem* p = app_problem_random(&set);
        double P[36], U[36];
        LashFrictionSettings s = cold(1e-11);
        assert_int_equal(solve(&p->friction, &s, P, U).outcome, LASH_CONVERGED);
        for (int i = 0, row = 0; i < 12; ++i) {
            if (p->friction.kind[i] == LASH_CONTACT_BILATERAL) assert_true(fabs(U[row]) < 1e-9);
            row += lash_contact_rows(p->friction.kind[i]);
        }
        app_problem_destroy(p);
    }
}

static void dense_and_sparse_storage_give_the_same_answer(void** state) {
    (void)state;
    AppProblem* p = app_problem_stack(12, 0.4); // 144 rows: sparse
    const LashFrictionProblem* sparse = &p->friction;
    assert_non_null(sparse->sparse);
    int m = sparse->m;
    double *W = calloc((size_t)(m * m), 8), *unit = calloc((size_t)m, 8);
    for (int j = 0; j < m; ++j) {
        unit[j] = 1;
        lash_block_sparse_multiply(sparse->sparse, unit, W + (size_t)(j * m));
        unit[j] = 0;
    }
    LashFrictionProblem dense = *sparse;
    dense.sparse = NULL;
    dense.W = W;
    dense.ldw = m;
    double *P = calloc((size_t)m, 8), *Q = calloc((size_t)m, 8), *U = calloc((size_t)m, 8),
           *V = calloc((size_t)m, 8);
    LashFrictionSettings s = cold(1e-12);
    assert_int_equal(solve(sparse, &s, P, U).outcome, LASH_CONVERGED);
    assert_int_equal(solve(&dense, &s, Q, V).outcome, LASH_CONVERGED);
    for (int i = 0; i < m; ++i) assert_near(U[i], V[i], 1e-10);
    free(W);
    free(unit);
    free(P);
    free(Q);
    free(U);
    free(V);
    app_problem_destroy(p);
}

// Coulomb's law allows several solutions; methods may pick different ones. All must pass the check,
// and for small friction, where the solution is unique, they must agree.
static void all_methods_agree_where_the_solution_is_unique(void** state) {
    (void)state;
    AppRandomProblem set = {.contacts = 6, .bodies = 20, .rows = 3};
    int differ = 0;
    for (set.seed = 1; set.seed < 60; ++set.seed) {
        AppProblem* p = app_problem_random(&set);
        double U_first[18] = {0}, mu[6];
        LashFrictionProblem q = p->friction;
        for (int i = 0; i < 6; ++i) mu[i] = set.seed < 30 ? 0.05 * q.mu[i] : q.mu[i];
        q.mu = mu;
        for (int method = 0; method <= LASH_FRICTION_ROBUST; ++method) {
            double P[18], U[18], worst = 0;
            LashFrictionSettings s = cold(1e-11);
            s.method = (LashFrictionMethod)method;
            LashFrictionInfo info = solve(&q, &s, P, U);
            if (method == LASH_FRICTION_NEWTON && info.outcome != LASH_CONVERGED) continue;
            assert_int_equal(info.outcome, LASH_CONVERGED);
            if (method == 0) memcpy(U_first, U, sizeof U);
            for (int i = 0; i < 18; ++i) worst = fmax(worst, fabs(U[i] - U_first[i]));
            if (set.seed < 30) assert_true(worst < 1e-7);
            differ += worst > 1e-7;
        }
        app_problem_destroy(p);
    }
    assert_true(differ <= 12); // of 120 comparisons with large friction
}

static void the_polyhedral_cone_is_exact_in_the_plane_and_close_in_space(void** state) {
    (void)state;
    AppRandomProblem set = {.contacts = 5, .bodies = 12, .rows = 2};
    for (set.seed = 1; set.seed < 30; ++set.seed) {
        set.rows = 2 + (int)(set.seed % 2);
        AppProblem* p = app_problem_random(&set);
        double P[15], U[15], Q[15], V[15], norm = 0, difference = 0;
        LashFrictionSettings s = cold(1e-11);
        s.method = LASH_FRICTION_POLYHEDRAL;
        LashFrictionInfo info = solve(&p->friction, &s, P, U);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        s.method = LASH_FRICTION_DEFAULT;
        assert_int_equal(solve(&p->friction, &s, Q, V).outcome, LASH_CONVERGED);
        for (int i = 0; i < p->friction.m; ++i) {
            norm += V[i] * V[i];
            difference += (U[i] - V[i]) * (U[i] - V[i]);
        }
        assert_true(sqrt(difference) <= (set.rows == 2 ? 1e-7 : 0.5) * (1 + sqrt(norm)));
        for (int i = 0; i < 5; ++i) {
            const double* c = P + i * set.rows;
            double t = set.rows == 3 ? hypot(c[1], c[2]) : fabs(c[1]);
            assert_true(t <= p->friction.mu[i] * c[0] * (1 + 1e-9) + 1e-9);
        }
        app_problem_destroy(p);
    }
}

// Two equal tangential masses but for rounding, a sphere's: the largest eigenvalue is a double root, and a bad
// answer must not pass for want of a scale.
static void a_double_eigenvalue_does_not_hide_an_error(void** state) {
    (void)state;
    const double W[] = {0.25, 0, 0, 0, 0x1.cp-1, 0, 0, 0, 0x1.c000000000002p-1}, mu = 0.3;
    const double b[] = {-0x1.41743e963dc49p-8, 0x1.422424a276b76p-1, 0x1.a2da4ebf275a3p-55};
    const double stuck[] = {0.01962, -0.719065, 0}; // far outside the cone
    LashFrictionProblem problem = {.contacts = 1, .m = 3, .mu = &mu, .b = b, .W = W, .ldw = 3};
    LashFrictionSettings s = cold(1e-12);
    s.method = LASH_FRICTION_POLYHEDRAL;
    s.directions = 8;
    double P[3], U[3];
    assert_true(lash_friction_residual(&problem, LASH_MEASURE_VELOCITY, stuck, U) > 0.1);
    assert_int_equal(solve(&problem, &s, P, U).outcome, LASH_CONVERGED);
    assert_true(fabs(P[0] - 0.01962) < 1e-12 && fabs(P[1] + 0.3 * 0.01962) < 1e-12);
}

static void the_same_problem_gives_the_same_bits(void** state) {
    (void)state;
    AppRandomProblem set = {.seed = 17, .contacts = 30, .bodies = 12, .rows = 3};
    AppProblem* p = app_problem_random(&set);
    double P[90], U[90], Q[90], V[90];
    LashFrictionSettings s = cold(1e-10);
    solve(&p->friction, &s, P, U);
    solve(&p->friction, &s, Q, V);
    assert_memory_equal(P, Q, sizeof P);
    app_problem_destroy(p);
}

// NaN and wrong sizes are bugs of the caller: the program stops.
static bool aborts(const LashFrictionProblem* p, double* P) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        double U[16];
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(0);
        signal(SIGABRT, SIG_DFL);
        LashFrictionSettings s = lash_friction_settings();
        void* work = aligned_alloc(64, 1 << 20);
        lash_friction_solve(p, &s, P, U, work);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
}

static void nan_and_wrong_sizes_assert(void** state) {
    (void)state;
    double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {-1, 0, 0}, mu = 0.5, P[3] = {0, 0, 0};
    LashFrictionProblem p = {.contacts = 1, .m = 3, .mu = &mu, .b = b, .W = W, .ldw = 3};
    assert_false(aborts(&p, P));
    p.m = 4;
    assert_true(aborts(&p, P));
    p.m = 3;
    p.ldw = 2;
    assert_true(aborts(&p, P));
    p.ldw = 3;
    b[1] = NAN;
    assert_true(aborts(&p, P));
    b[1] = 0;
    mu = NAN;
    assert_true(aborts(&p, P));
    mu = 0.5;
    W[4] = NAN;
    assert_true(aborts(&p, P));
    W[4] = 1;
    P[0] = NAN;
    assert_true(aborts(&p, P));
}

// A light part between heavy ones: P is 1e12 times rho u. On a side of the cone the map is linear in the
// plane, so that its error is that of small impulses, whatever P is.
static void large_impulses_do_not_hide_velocities(void** state) {
    (void)state;
    const double rho = 0.25, mu = 0.5, small[2] = {16, 8}, large[2] = {0x1p42, 0x1p41};
    const double U[][2] = {{0, -2e-3}, {1e-9, -2e-3}, {-1e-9, -2e-3}, {3e-10, -1e-6}, {0, 2e-8}};
    for (size_t k = 0; k < sizeof U / sizeof U[0]; ++k) {
        double expected = friction_natural(LASH_CONTACT_PLANAR, mu, rho, small, U[k]);
        double got = friction_natural(LASH_CONTACT_PLANAR, mu, rho, large, U[k]);
        assert_true(fabs(got - expected) < 1e-14);
    }
    // Sticking, in space: rho |u|. Outside the cone by more than rounding: an error of its size.
    const double inside[3] = {1e12, 1e11, -2e11}, u[3] = {3e-10, 0, 4e-10};
    double n = 3e-10 + mu * 4e-10;
    double stuck = rho * sqrt(n * n + 4e-10 * 4e-10);
    double got = friction_natural(LASH_CONTACT_SPATIAL, mu, rho, inside, u);
    assert_true(fabs(got - stuck) < 1e-12 * stuck);
    const double outside[3] = {1e12, 0.5e12 * (1 + 1e-9), 0}, none[3] = {0};
    assert_true(friction_natural(LASH_CONTACT_SPATIAL, mu, rho, outside, none) > 100);
}

// A part of 0.1 kg between two of 1e7 kg: W P of 3.5e6 N s is rounded to 4e-9 m/s. The change of P is found from what
// the velocities really are, with digits of its own; contacts that part keep P = 0.
static void a_change_of_large_impulses_has_its_own_digits(void** state) {
    (void)state;
    enum { M = 2 };
    const uint8_t kind[M] = {LASH_CONTACT_FRICTIONLESS, LASH_CONTACT_FRICTIONLESS};
    const double W[M * M] = {10 + 1e-7, -10, -10, 10 + 1e-7}, P[M] = {3.5e6, 3.5e6};
    const double rest[M] = {1e-9, -2e-9};
    LashFrictionProblem p = {.contacts = M, .m = M, .kind = kind, .b = rest, .W = W, .ldw = M};
    LashFrictionSettings s = lash_friction_settings();
    s.shift = 1e-13;
    size_t size = (lash_friction_work_size(M, M) + 63) / 64 * 64;
    void* work = aligned_alloc(64, size);
    double dP[M], U[M];
    assert_true(friction_increment(&p, &s, P, dP, U, work) <= 1e-14);
    assert_near(dP[0] + dP[1], 1e-9 / 1e-7, 1e-5 * 1e-2); // both against the heavy parts
    assert_near(dP[0] - dP[1], -3e-9 / 20, 1e-15);        // each against the light one
    const double none[M] = {0, 0}, apart[M] = {0.1, 0.2};
    p.b = apart;
    assert_true(friction_increment(&p, &s, none, dP, U, work) == 0);
    assert_true(dP[0] == 0 && dP[1] == 0 && U[0] == 0.1);
    free(work);
}

RUN(TEST(a_workspace_holds_every_smaller_problem), TEST(separating_contacts_get_no_impulse),
    TEST(a_block_sticks_below_and_slides_above_the_friction_angle),
    TEST(the_residual_sees_every_kind_of_error),
    TEST(gram_masses_do_not_hide_a_wrong_friction_direction),
    TEST(the_local_solver_is_exact_for_unsymmetric_blocks), TEST(lambda_is_the_largest_eigenvalue),
    TEST(redundant_corners_share_the_load_whatever_the_warm_start),
    TEST(minimum_norm_is_independent_of_the_warm_start_on_the_cone_boundary),
    TEST(opposed_contacts_that_close_are_reported_quickly),
    TEST(painleve_rod_gets_an_honest_verdict), TEST(joint_rows_and_contacts_are_solved_together),
    TEST(dense_and_sparse_storage_give_the_same_answer),
    TEST(all_methods_agree_where_the_solution_is_unique),
    TEST(the_polyhedral_cone_is_exact_in_the_plane_and_close_in_space),
    TEST(a_double_eigenvalue_does_not_hide_an_error), TEST(the_same_problem_gives_the_same_bits),
    TEST(large_impulses_do_not_hide_velocities), TEST(nan_and_wrong_sizes_assert),
    TEST(a_change_of_large_impulses_has_its_own_digits))
