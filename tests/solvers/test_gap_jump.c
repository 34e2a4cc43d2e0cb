// No contact appears from nowhere: a gap that falls by more than its surfaces move is refused, not
// projected away. The gap of a ball on a plane is spoilt on purpose, as an error of geometry would.
#include "test.h"

#include "core/math3.h"
#include "joints/mechanism.h"
#include "solvers/sim.h"

static const double T_JUMP = 0.01, DEPTH = 5e-4; // [s], [m]

// The true system's functions, and what is added to its gaps from T_JUMP on.
static bool (*true_evaluate)(const LashSystem*, LashSystemWork*, double, const double*,
                             const uint8_t*, double*, double*, double*);
static const LashInteractionList* (*true_collect)(const LashSystem*, LashSystemWork*, double,
                                                  const double*, const double*, double, double);
static double jump;
static bool once; // where the ball lies the gap is spoilt only at the first iterate of a step
static int met;   // evaluations since T_JUMP: the first is that of the middle of the step

static const LashInteractionList* collect(const LashSystem* system, LashSystemWork* work, double t,
                                          const double* q, const double* v, double h,
                                          double factor) {
    const LashInteractionList* list = true_collect(system, work, t, q, v, h, factor);
    for (int i = 0; i < list->count; ++i)
        ((LashInteraction*)(uintptr_t)&list->item[i])->surfaces = 1;
    return list;
}

static bool evaluate(const LashSystem* system, LashSystemWork* work, double t, const double* q,
                     const uint8_t* wanted, double* g, double* g_t, double* G) {
    bool good = true_evaluate(system, work, t, q, wanted, g, g_t, G);
    if (t <= T_JUMP) return good;
    bool right = once && ++met > 2 && fabs(q[2] - 0.1) < 1e-8;
    if (!right) g[0] -= jump;
    return good;
}

static double surface_motion(const LashSystem* system, int surfaces, const double* d) {
    (void)system;
    (void)surfaces;
    return vec3_norm(vec3(d[0], d[1], d[2])) + 0.1 * vec3_norm(vec3(d[3], d[4], d[5]));
}

// A ball of 1 kg and 0.1 m on a plane, sliding at `speed`, falling from `height`.
static LashMechanism* ball_on_plane(double speed, double height) {
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, 0, -9.81));
    LashBodyDef body = lash_body_def();
    body.name = "ball";
    body.mass = 1;
    body.inertia = mat3_diagonal(4e-3, 4e-3, 4e-3);
    body.world_body.r = vec3(0, 0, 0.1 + height);
    body.velocity = vec3(speed, 0, 0);
    LashContactDef contact = lash_contact_def();
    contact.name = "floor";
    contact.body_a = lash_mechanism_ground(mech);
    contact.body_b = lash_mechanism_add_body(mech, &body);
    contact.b_radius = 0.1;
    lash_mechanism_add_contact(mech, &contact);
    LashSystem* system = (LashSystem*)(uintptr_t)lash_mechanism_system(mech);
    true_evaluate = system->evaluate;
    true_collect = system->collect;
    system->evaluate = evaluate;
    system->collect = collect;
    system->surface_motion = surface_motion;
    return mech;
}

static LashStepInfo run(LashSim* sim, int steps) {
    LashStepInfo info = {.outcome = LASH_CONVERGED};
    for (int i = 0; i < steps && info.outcome == LASH_CONVERGED; ++i) info = lash_sim_step(sim);
    return info;
}

static void a_gap_that_jumps_is_refused_and_named(void** state) {
    (void)state;
    static const LashScheme schemes[] = {LASH_COMBINED, LASH_DIRECT, LASH_MOREAU_JEAN};
    for (int k = 0; k < 3; ++k) {
        for (int parts = 1; parts <= 64; parts *= 64) {
            LashMechanism* mech = ball_on_plane(0.2, 0);
            LashSettings settings = lash_settings();
            settings.h = 1e-4;
            settings.scheme = schemes[k];
            settings.max_substeps = parts;
            jump = DEPTH;
            LashSim* sim = lash_sim_create(lash_mechanism_system(mech), &settings);
            LashStepInfo info = run(sim, 200);
            assert_int_not_equal(info.outcome, LASH_CONVERGED);
            assert_true(fabs(lash_sim_time(sim) - T_JUMP) < 2e-4);
            LashFault fault = lash_sim_fault(sim);
            assert_int_equal(fault.kind, LASH_FAULT_GAP);
            assert_int_equal(lash_mechanism_contact_of(mech, fault.id), 0);
            assert_true(fabs(fault.fell - DEPTH) < 1e-5);
            assert_true(fault.moved < 3e-5);
            const double *q, *v;
            lash_sim_state(sim, &q, &v);
            assert_true(fabs(q[2] - 0.1) < 1e-9); // it was not lifted
            lash_sim_destroy(sim);
            lash_mechanism_destroy(mech);
        }
    }
}

// A surface that the solver meets at its first iterate only lifts the ball to a place where its gap
// is closed. Before and after the motion of the step all is sound. In parts of a step the ball goes
// on, as the surface is not met again.
static void a_place_to_which_no_motion_led_is_refused(void** state) {
    (void)state;
    for (int parts = 1; parts <= 4; parts *= 4) {
        LashMechanism* mech = ball_on_plane(0.2, 0);
        LashSettings settings = lash_settings();
        settings.h = 1e-4;
        settings.max_substeps = parts;
        jump = DEPTH;
        once = true;
        met = 0;
        LashSim* sim = lash_sim_create(lash_mechanism_system(mech), &settings);
        LashStepInfo info = run(sim, 200);
        once = false;
        const double *q, *v;
        lash_sim_state(sim, &q, &v);
        assert_true(fabs(q[2] - 0.1) < 1e-9); // it was not lifted
        if (parts == 1) {
            assert_int_not_equal(info.outcome, LASH_CONVERGED);
            LashFault fault = lash_sim_fault(sim);
            assert_int_equal(fault.kind, LASH_FAULT_GAP);
            assert_int_equal(lash_mechanism_contact_of(mech, fault.id), 0);
            assert_true(fabs(fault.fell - DEPTH) < 1e-5);
            assert_true(fault.moved < 3e-5);
        } else {
            assert_int_equal(info.outcome, LASH_CONVERGED);
        }
        lash_sim_destroy(sim);
        lash_mechanism_destroy(mech);
    }
}

// Steps of impacts are not suspected: the gap falls by what the ball moves.
static void impacts_and_sliding_go_on(void** state) {
    (void)state;
    static const double heights[] = {0, 1e-6, 1e-3, 0.05};
    for (int k = 0; k < 4; ++k) {
        LashMechanism* mech = ball_on_plane(1, heights[k]);
        LashSettings settings = lash_settings();
        settings.h = 1e-3;
        jump = 0;
        LashSim* sim = lash_sim_create(lash_mechanism_system(mech), &settings);
        assert_int_equal(run(sim, 400).outcome, LASH_CONVERGED);
        lash_sim_destroy(sim);
        lash_mechanism_destroy(mech);
    }
}

// What the projection moved is told: the gap's fall of 0.4 h v is within what the ball moves.
static void the_shift_of_a_step_is_reported(void** state) {
    (void)state;
    LashMechanism* mech = ball_on_plane(0.2, 0);
    LashSettings settings = lash_settings();
    settings.h = 1e-4;
    jump = 8e-6;
    LashSim* sim = lash_sim_create(lash_mechanism_system(mech), &settings);
    double most = 0;
    for (int i = 0; i < 200; ++i) {
        LashStepInfo info = lash_sim_step(sim);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        most = fmax(most, info.shift);
        if (info.shift > 1e-7) assert_int_equal(info.shift_block, 0);
    }
    assert_true(most > 1e-6 && most < 1e-5);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

RUN(TEST(a_gap_that_jumps_is_refused_and_named), TEST(a_place_to_which_no_motion_led_is_refused),
    TEST(impacts_and_sliding_go_on), TEST(the_shift_of_a_step_is_reported))
