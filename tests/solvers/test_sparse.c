// Sparse joints: against full matrices on small mechanisms, redundant ones included, and on A02
// with 40 loops; cost and fill linear in the number of bodies; singular positions.
#include "test.h"

#include "app/bench/bench_scenes.h"
#include "core/arena.h"
#include "core/math3.h"
#include "solvers/joints/joint_solver.h"
#include "solvers/step/rows.h"

// --- Mechanisms

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 }; // fewer bodies do
#else
enum { SANITIZED = 0 };
#endif

static LashBodyId add_body(LashMechanism* mech, double x, double y, double z) {
    LashBodyDef def = lash_body_def();
    def.mass = 0.5 + 0.3 * (x + y + z) * (x + y + z);
    def.inertia = mat3_diagonal(0.01, 0.02, 0.015);
    def.world_body.r = vec3(x, y, z);
    return lash_mechanism_add_body(mech, &def);
}

// A joint through world point r about `axis`; bodies are unturned, at the places given.
static void add_joint(LashMechanism* mech, LashJointType type, LashBodyId a, Vec3 at_a,
                      LashBodyId b, Vec3 at_b, Vec3 r, Vec3 axis) {
    LashJointDef def = lash_joint_def();
    Quat rot = quat_between(vec3(0, 0, 1), axis);
    def.type = type;
    def.body_a = a;
    def.body_b = b;
    def.a_joint = pose(vec3_sub(r, at_a), rot);
    def.b_joint = pose(vec3_sub(r, at_b), rot);
    lash_mechanism_add_joint(mech, &def);
}

// A hub with `arms` arms, each of two bodies: a tree whose root has many joints.
static LashMechanism* build_star(int arms) {
    LashMechanism* mech = lash_mechanism_create();
    Vec3 hub_at = vec3_zero();
    LashBodyId hub = add_body(mech, 0, 0, 0);
    for (int i = 0; i < arms; ++i) {
        double c = cos(2 * LASH_PI * i / arms), s = sin(2 * LASH_PI * i / arms);
        Vec3 near = vec3(c, s, 0), far = vec3(2 * c, 2 * s, 0.1);
        LashBodyId first = add_body(mech, near.x, near.y, near.z),
                   second = add_body(mech, far.x, far.y, far.z);
        add_joint(mech, i % 3 == 0 ? LASH_SPHERICAL : LASH_REVOLUTE, hub, hub_at, first, near,
                  vec3(c / 2, s / 2, 0), vec3(0, 0, 1));
        add_joint(mech, i % 2 == 0 ? LASH_UNIVERSAL : LASH_PRISMATIC, first, near, second, far,
                  vec3(1.5 * c, 1.5 * s, 0.05), vec3(s, -c, 0));
    }
    return mech;
}

// A ring of hinged bodies fixed to the ground at two places, one joint doubled: planar loops with
// redundant rows, a body held twice over, and a tree on it.
static LashMechanism* build_ring(int n) {
    LashMechanism* mech = lash_mechanism_create();
    LashBodyId ground = lash_mechanism_ground(mech), id[64];
    Vec3 at[64], up = vec3(0, 0, 1);
    for (int i = 0; i < n; ++i) {
        double angle = 2 * LASH_PI * i / n;
        at[i] = vec3(2 * cos(angle), 1.5 * sin(angle), 0);
        id[i] = add_body(mech, at[i].x, at[i].y, at[i].z);
    }
    for (int i = 0; i < n; ++i) {
        int k = (i + 1) % n;
        Vec3 r = vec3_scale(0.5, vec3_add(at[i], at[k]));
        add_joint(mech, LASH_REVOLUTE, id[i], at[i], id[k], at[k], r, up);
    }
    add_joint(mech, LASH_REVOLUTE, ground, vec3_zero(), id[0], at[0], vec3(2.5, 0, 0), up);
    add_joint(mech, LASH_REVOLUTE, ground, vec3_zero(), id[0], at[0], vec3(2.5, 0, 0.3), up);
    add_joint(mech, LASH_POINT_ON_LINE, ground, vec3_zero(), id[n / 2], at[n / 2], at[n / 2],
              vec3(1, 0, 0));
    LashBodyId tail = add_body(mech, -4, 0, 0);
    add_joint(mech, LASH_SPHERICAL, id[n / 2], at[n / 2], tail, vec3(-4, 0, 0), vec3(-3, 0, 0), up);
    return mech;
}

// --- One factorisation, both ways

typedef struct Bench {
    const LashSystem* system;
    LashSystemWork* work;
    const LashInteractionList* list;
    double *q, *v, *g, *g_t, *G, *M, *U;
    LashBlockLu* lu;
} Bench;

static double* doubles(int n) {
    return lash_alloc(((size_t)n + 1) * sizeof(double));
}

static Bench open_bench(LashMechanism* mech) {
    Bench b = {.system = lash_mechanism_system(mech)};
    const LashSystem* s = b.system;
    b.work = s->work_create(s);
    b.q = doubles(s->nq);
    b.v = doubles(s->nv);
    s->initial_state(s, b.q, b.v);
    b.list = s->collect(s, b.work, 0, b.q, b.v, 1e-3, 2);
    b.g = doubles(s->max_rows);
    b.g_t = doubles(s->max_rows);
    b.G = doubles(s->max_G);
    b.U = doubles(s->max_rows);
    b.M = doubles(s->pattern.offset[s->pattern.count]);
    assert_true(s->evaluate(s, b.work, 0, b.q, NULL, b.g, b.g_t, b.G));
    s->mass(s, b.work, b.q, b.M);
    b.lu = lash_block_lu_create(s);
    assert_true(lash_block_lu_factor(b.lu, b.M));
    uint64_t seed = 7;
    for (int i = 0; i < s->nv; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        b.v[i] = (double)(seed >> 11) / 9007199254740992.0 - 0.5;
    }
    lash_rows_velocity(s, b.list, 0, b.list->bilateral, NULL, b.G, b.v,
                       b.U); // rows that can be met
    return b;
}

static void close_bench(Bench* b) {
    b->system->work_destroy(b->system, b->work);
    lash_block_lu_destroy(b->lu);
    lash_free(b->q);
    lash_free(b->v);
    lash_free(b->g);
    lash_free(b->g_t);
    lash_free(b->G);
    lash_free(b->M);
    lash_free(b->U);
}

// Largest |G (P - Q)|, and of P - Q itself, relative to the largest of G P, P.
static void compare(const Bench* b, const double* P, const double* Q, double* felt, double* whole) {
    int nv = b->system->nv;
    double *x = doubles(nv), *y = doubles(nv), size = 0, most = 0;
    lash_rows_apply(b->system, b->list, 0, b->list->bilateral, NULL, b->G, 1, P, x);
    lash_rows_apply(b->system, b->list, 0, b->list->bilateral, NULL, b->G, 1, Q, y);
    *felt = *whole = 0;
    for (int i = 0; i < nv; ++i) {
        *felt = fmax(*felt, fabs(x[i] - y[i]));
        size = fmax(size, fabs(x[i]));
    }
    for (int i = 0; i < b->list->bilateral_rows; ++i) {
        *whole = fmax(*whole, fabs(P[i] - Q[i]));
        most = fmax(most, fabs(P[i]));
    }
    *felt /= size;
    *whole /= most;
    lash_free(x);
    lash_free(y);
}

static void expect_same_answer(LashMechanism* mech, int rank) {
    Bench b = open_bench(mech);
    LashJointSolver dense, sparse;
    lash_joint_solver_init(&dense, b.system, b.list, LASH_JOINTS_DENSE);
    lash_joint_solver_init(&sparse, b.system, b.list, LASH_JOINTS_SPARSE);
    lash_joint_solver_factor(&dense, b.list, b.G, b.lu, false, false);
    lash_joint_solver_factor(&sparse, b.list, b.G, b.lu, false, false);
    assert_int_equal(sparse.rank, dense.rank);
    if (rank >= 0) assert_int_equal(sparse.rank, rank);
    int m = b.list->bilateral_rows;
    double *P = doubles(m), *Q = doubles(m), felt, whole;
    lash_joint_solver_solve(&dense, b.U, P);
    lash_joint_solver_solve(&sparse, b.U, Q);
    compare(&b, P, Q, &felt, &whole);
    assert_true(felt <= 1e-10);
    if (sparse.rank == m) assert_true(whole <= 1e-9);
    lash_joint_solver_minimum_norm(&sparse, b.list, b.G, b.lu, Q);
    lash_joint_solver_minimum_norm(&dense, b.list, b.G, b.lu, P);
    compare(&b, P, Q, &felt, &whole);
    assert_true(felt <= 1e-10 && whole <= 1e-9);
    lash_free(P);
    lash_free(Q);
    lash_joint_solver_free(&dense);
    lash_joint_solver_free(&sparse);
    close_bench(&b);
    lash_mechanism_destroy(mech);
}

static LashMechanism* growth(AppSceneKind kind, int size) {
    AppScene scene;
    app_scene_open_growth(kind, size, 1e-3, &scene);
    return scene.mech;
}

static void sparse_and_full_joints_give_the_same_impulses(void** state) {
    (void)state;
    expect_same_answer(growth(APP_SCENE_CHAIN, 7), 35);
    expect_same_answer(growth(APP_SCENE_FOUR_BARS, 1), 17);
    expect_same_answer(growth(APP_SCENE_FOUR_BARS, 6), 77);
    expect_same_answer(build_star(1), -1);
    expect_same_answer(build_star(9), -1);
    expect_same_answer(build_ring(4), -1);
    expect_same_answer(build_ring(9), -1);
    expect_same_answer(growth(APP_SCENE_FOUR_BARS, 40), 485);
}

// --- Cost

static double cost_per_body(LashMechanism* mech) {
    const LashSystem* s = lash_mechanism_system(mech);
    double *q = doubles(s->nq), *v = doubles(s->nv);
    LashSystemWork* work = s->work_create(s);
    s->initial_state(s, q, v);
    LashJointSparse* sparse = lash_joint_sparse_create(s, s->collect(s, work, 0, q, v, 1e-3, 2));
    double cost = lash_joint_sparse_factor_cost(sparse) + 10 * lash_joint_sparse_solve_cost(sparse);
    cost /= s->blocks;
    lash_joint_sparse_destroy(sparse);
    s->work_destroy(s, work);
    lash_free(q);
    lash_free(v);
    lash_mechanism_destroy(mech);
    return cost;
}

static void operations_per_body_do_not_grow_with_the_mechanism(void** state) {
    (void)state;
    double chain = cost_per_body(growth(APP_SCENE_CHAIN, 10));
    double bars = cost_per_body(growth(APP_SCENE_FOUR_BARS, 10));
    double star = cost_per_body(build_star(10)); // its hub has as many joints as it has arms
    assert_true(cost_per_body(growth(APP_SCENE_CHAIN, 1000)) <= 1.2 * chain);
    assert_true(cost_per_body(growth(APP_SCENE_FOUR_BARS, 1000)) <= 1.2 * bars);
    assert_true(cost_per_body(build_star(500)) <= 1.2 * star);
}

// --- Steps

// q and v after some steps; 0 where one failed.
static int run(const LashSystem* system, LashJointMethod method, double h, int steps, double* q,
               double* v, LashStepInfo* worst) {
    LashSettings settings = lash_settings();
    settings.h = h;
    settings.joints = method;
    LashSim* sim = lash_sim_create(system, &settings);
    *worst = (LashStepInfo){0};
    int done = 0;
    for (; done < steps; ++done) {
        LashStepInfo info = lash_sim_step(sim);
        if (info.outcome != LASH_CONVERGED) break;
        worst->position_error = fmax(worst->position_error, info.position_error);
        worst->velocity_error = fmax(worst->velocity_error, info.velocity_error);
        worst->newton = info.newton > worst->newton ? info.newton : worst->newton;
    }
    const double *end, *speed;
    lash_sim_state(sim, &end, &speed);
    memcpy(q, end, (size_t)system->nq * sizeof *q);
    memcpy(v, speed, (size_t)system->nv * sizeof *v);
    lash_sim_destroy(sim);
    return done;
}

static void expect_same_motion(LashMechanism* mech, double h, int steps, double near) {
    const LashSystem* system = lash_mechanism_system(mech);
    double *q[3], *v[3];
    LashStepInfo worst;
    for (int k = 0; k < 3; ++k) { // the third repeats the second
        q[k] = doubles(system->nq);
        v[k] = doubles(system->nv);
        int done = run(system, k == 0 ? LASH_JOINTS_DENSE : LASH_JOINTS_SPARSE, h, steps, q[k],
                       v[k], &worst);
        assert_int_equal(done, steps);
        assert_true(worst.position_error <= 1e-10 && worst.velocity_error <= 1e-10);
    }
    for (int i = 0; i < system->nq; ++i) assert_true(fabs(q[0][i] - q[1][i]) <= near);
    assert_memory_equal(q[1], q[2], (size_t)system->nq * sizeof(double));
    assert_memory_equal(v[1], v[2], (size_t)system->nv * sizeof(double));
    for (int k = 0; k < 3; ++k) {
        lash_free(q[k]);
        lash_free(v[k]);
    }
    lash_mechanism_destroy(mech);
}

static void sparse_and_full_joints_move_alike(void** state) {
    (void)state;
    expect_same_motion(growth(APP_SCENE_CHAIN, 4), 1e-3, 300, 1e-8);
    expect_same_motion(growth(APP_SCENE_FOUR_BARS, 2), 1e-3, 1200, 1e-8); // two flat positions
    expect_same_motion(build_star(5), 1e-3, 100, 1e-9);
    expect_same_motion(build_ring(5), 1e-3, 100, 1e-9);
}

// The tip angle of A02: (N + 1) links about their feet, N bars in translation.
static double a02_angle(int n, double t) {
    enum { STEPS = 200000 };
    double links = n + 1, J = links / 3 + n, moment = 9.81 * (links / 2 + n);
    double a = LASH_PI / 2, w = -1, h = t / STEPS; // speed 1 m/s to the right
    for (int i = 0; i < STEPS; ++i) {              // Runge-Kutta of fourth order
        double k[4][2], x[2] = {a, w};
        for (int s = 0; s < 4; ++s) {
            double f = s == 3 ? h : h / 2;
            k[s][0] = x[1];
            k[s][1] = -moment / J * cos(x[0]);
            x[0] = a + f * k[s][0];
            x[1] = w + f * k[s][1];
        }
        a += h / 6 * (k[0][0] + 2 * k[1][0] + 2 * k[2][0] + k[3][0]);
        w += h / 6 * (k[0][1] + 2 * k[1][1] + 2 * k[2][1] + k[3][1]);
    }
    return a;
}

// Reactions of the last step: as small as the full pseudo-inverse makes them.
static void expect_minimum_norm(LashSim* sim, const LashSystem* system) {
    const LashInteractionList* list = lash_sim_interactions(sim);
    const double* P = lash_sim_impulses(sim);
    LashJointSolver dense;
    LashBlockLu* lu = lash_block_lu_create(system);
    double *M = doubles(system->pattern.offset[system->pattern.count]), *G = doubles(system->max_G),
           *g = doubles(system->max_rows), *Q = doubles(system->max_rows), change = 0, size = 0;
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    // Directions at the end of the step stand for those at its middle: the norm asks for a P in
    // the range of G', which is as near as the two are.
    system->evaluate(system, lash_sim_work(sim), 0, q, NULL, g, NULL, G);
    system->mass(system, lash_sim_work(sim), q, M);
    assert_true(lash_block_lu_factor(lu, M));
    lash_joint_solver_init(&dense, system, list, LASH_JOINTS_DENSE);
    memcpy(Q, P, (size_t)list->bilateral_rows * sizeof *Q);
    lash_joint_solver_minimum_norm(&dense, list, G, lu, Q);
    for (int i = 0; i < list->bilateral_rows; ++i) {
        change = fmax(change, fabs(P[i] - Q[i]));
        size = fmax(size, fabs(P[i]));
    }
    assert_true(change <= 1e-2 * size);
    lash_joint_solver_free(&dense);
    lash_block_lu_destroy(lu);
    lash_free(M);
    lash_free(G);
    lash_free(g);
    lash_free(Q);
}

static void forty_four_bars_pass_flat_positions_on_the_right_branch(void** state) {
    (void)state;
    AppScene scene;
    const double h = 5e-5;
    int n = SANITIZED ? 10 : 40, steps = getenv("LASH_LONG_TESTS") != NULL ? 200000 : 26000;
    app_scene_open_growth(APP_SCENE_FOUR_BARS, n, h, &scene);
    LashSim* sim = lash_sim_create(scene.system, &scene.settings);
    double energy = 0, position = 0;
    for (int i = 0; i < steps; ++i) {
        LashStepInfo info = lash_sim_step(sim);
        if (info.outcome != LASH_CONVERGED) fail_msg("step %d failed", i);
        position = fmax(position, fmax(info.position_error, info.velocity_error));
        if (i % 50 != 0) continue;
        LashEnergy e = lash_sim_energy(sim);
        energy = fmax(energy, fabs(e.kinetic + e.potential - e.start));
    }
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    double angle = a02_angle(n, h * steps);
    double x = 2 * q[0], y = 2 * q[1]; // tip of the first link
    print_message("A02 N = %d, %g s: tip off by %.1e m, energy %.1e J, rows %.1e\n", n, h * steps,
                  hypot(x - cos(angle), y - sin(angle)), energy, position);
    assert_true(position <= 1e-10);
    assert_true(energy <= 1e-4); // IFToMM
    assert_true(hypot(x - cos(angle), y - sin(angle)) <= 1e-5);
    expect_minimum_norm(sim, scene.system);
    lash_sim_destroy(sim);
    app_scene_close(&scene);
}

static void singular_positions_cost_few_iterations(void** state) {
    (void)state;
    LashMechanism* mech = growth(APP_SCENE_FOUR_BARS, 10);
    const LashSystem* system = lash_mechanism_system(mech);
    double *q = doubles(system->nq), *v = doubles(system->nv);
    LashStepInfo worst;
    assert_int_equal(run(system, LASH_JOINTS_SPARSE, 1e-3, 3000, q, v, &worst), 3000);
    assert_true(worst.newton <= 25);
    lash_free(q);
    lash_free(v);
    lash_mechanism_destroy(mech);
}

// --- Rows that follow one of their bodies

// Multiplications of a factor of a wall in bond: bodies of 12 rows, each on two others by 16.
static double wall_cost(int wide, int high, uint8_t kind) {
    enum { MOST = 1200 };
    static int size[MOST], a[4 * MOST], b[4 * MOST];
    static uint8_t rows[MOST];
    LashBlockGraph graph = {.size = size, .rows = rows, .a = a, .b = b};
    for (int i = 0; i < wide * high; ++i) {
        size[i] = 12;
        rows[i] = LASH_NODE_BODY;
    }
    graph.nodes = wide * high;
    for (int i = 0; i < wide * high; ++i) {
        int course = i / wide, place = i % wide;
        for (int k = 0; k < 2 && course > 0; ++k) {
            int other = place + (course % 2 == 0 ? k - 1 : k);
            if (other < 0 || other >= wide) continue;
            int node = graph.nodes++;
            size[node] = 16;
            rows[node] = kind;
            a[graph.edges] = node;
            b[graph.edges++] = i;
            a[graph.edges] = node;
            b[graph.edges++] = (course - 1) * wide + other;
        }
    }
    LashBlockLu* lu = lash_block_lu_create_graph(&graph);
    double cost = lash_block_lu_factor_cost(lu);
    lash_block_lu_destroy(lu);
    return cost;
}

static void rows_at_any_place_make_less_fill_in_a_wall(void** state) {
    (void)state;
    double loose = wall_cost(6, 17, LASH_NODE_LOOSE_ROWS);
    assert_true(loose < 0.4 * wall_cost(6, 17, LASH_NODE_SHIFTED_ROWS));
    assert_true(wall_cost(10, 30, LASH_NODE_LOOSE_ROWS) < 8 * loose); // N^1.7 or less
}

RUN(TEST(rows_at_any_place_make_less_fill_in_a_wall),
    TEST(sparse_and_full_joints_give_the_same_impulses),
    TEST(operations_per_body_do_not_grow_with_the_mechanism),
    TEST(sparse_and_full_joints_move_alike),
    TEST(forty_four_bars_pass_flat_positions_on_the_right_branch),
    TEST(singular_positions_cost_few_iterations))
