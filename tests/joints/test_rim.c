// A ring that lies flat bears every load within its rim, and tips under one beyond it: a round plate between two
// planes under its weight W and a torque, together a load W at `share` of the radius R in the direction `angle`.
#include "test.h"

#include "core/arena.h"
#include "joints/mechanism_internal.h"
#include "tests/joint_cases.h"

static const double RADIUS = 0.02, MASS = 0.5, INERTIA = 2e-4; // [m], [kg], [kg m^2]
enum { DIRECTIONS = 24 };

typedef struct Load {
    double share, angle; // [-], [rad]
    double turning;      // how fast the load goes round [rad/s]
    double mu, e;
    Vec3 tilt, velocity, spin; // at the start [rad], [m/s], [rad/s]
    double play, height;       // from plane to plane each way; of the plate above the lower one [m]
} Load;

typedef struct Ring {
    int parts; // steps that were taken in parts
    LashMechanism* mech;
    LashSim* sim;
    LashExpression* component[2];
    double play;
} Ring;

static double weight(void) {
    return MASS * GRAVITY;
}

static void add_torque(const Load* load, LashBodyId plate, Ring* ring) {
    const char* names[] = {"t", "x", "v"};
    double M = load->share * RADIUS * weight();
    LashForceDef torque = lash_force_def();
    torque.type = LASH_TORQUE;
    torque.body_b = plate;
    for (int k = 0; k < 2; ++k) {
        char text[96];
        snprintf(text, sizeof text, "%s%.17g * %s(%.17g + %.17g * t)", k == 0 ? "-" : "", M,
                 k == 0 ? "sin" : "cos", load->angle, load->turning);
        ring->component[k] = lash_expression_compile(text, names, 3, NULL);
        torque.component[k] =
            (LashFunction){.out = 1, .in = {1, 1, 1}, .expression = ring->component[k]};
    }
    lash_mechanism_add_force(ring->mech, &torque);
}

static Ring ring(const Load* load, double h) {
    Ring ring = {.mech = lash_mechanism_create(), .play = load->play};
    LashBodyDef body = lash_body_def();
    body.mass = MASS;
    body.inertia = mat3_diagonal(INERTIA, INERTIA, 1.5 * INERTIA);
    body.world_body = pose(vec3(0, 0, load->height - load->play), quat_exp(load->tilt));
    body.velocity = load->velocity;
    body.omega = load->spin;
    LashBodyId plate = lash_mechanism_add_body(ring.mech, &body);
    LashJointDef joint =
        joint_at(ring.mech, LASH_PLANAR, lash_mechanism_ground(ring.mech), plate, pose_identity());
    joint.b_joint = pose_identity();
    joint.clearance.play = load->play;
    joint.clearance.radius = RADIUS;
    joint.clearance.mu = load->mu;
    joint.clearance.e = load->e;
    lash_mechanism_add_joint(ring.mech, &joint);
    add_torque(load, plate, &ring);
    lash_mechanism_set_gravity(ring.mech, vec3(0, 0, -GRAVITY));
    LashSettings settings = lash_settings();
    settings.h = h;
    settings.max_substeps =
        64; // as models have it: a pass that takes too much work is taken in parts
    ring.sim = lash_sim_create(lash_mechanism_system(ring.mech), &settings);
    return ring;
}

static void end(Ring* ring) {
    lash_sim_destroy(ring->sim);
    lash_mechanism_destroy(ring->mech);
}

// Least gap of the whole rim to both planes.
static double rim_gap_of(const Ring* ring) {
    const double *q, *v;
    lash_sim_state(ring->sim, &q, &v);
    Vec3 axis = quat_rotate(quat(q[3], q[4], q[5], q[6]), vec3(0, 0, 1));
    return ring->play - fabs(q[2]) - RADIUS * hypot(axis.x, axis.y);
}

static double tilt_of(const Ring* ring) {
    const double *q, *v;
    lash_sim_state(ring->sim, &q, &v);
    return lash_mechanism_joint_play(ring->mech, 0, q).tilt;
}

// Along z and about x, y.
static double tipping_of(const Ring* ring) {
    const double *q, *v;
    lash_sim_state(ring->sim, &q, &v);
    return fmax(fabs(v[2]), fmax(fabs(v[3]), fabs(v[4])));
}

static bool goes_on(Ring* ring) {
    LashStepInfo info = lash_sim_step(ring->sim);
    ring->parts += info.substeps > 1;
    return info.outcome == LASH_CONVERGED && rim_gap_of(ring) > -1.05e-10;
}

static double direction(int d) {
    return 2 * LASH_PI * (d + 0.1) / DIRECTIONS;
}

static void check_reaction(const Ring* r, const Load* load, double h) {
    LashReaction reaction_now = reaction(r->mech, r->sim, 0, h);
    double M = load->share * RADIUS * weight();
    check_vector("force", reaction_now.force, vec3(0, 0, weight()), 1e-9);
    check_vector("moment", reaction_now.moment,
                 vec3(M * sin(load->angle), -M * cos(load->angle), 0), 1e-9);
}

static void load_within_the_rim_rests(void** state) {
    (void)state;
    const double share[] = {0.1, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99}, h[] = {1e-3, 1e-4, 1e-5, 1e-6};
    for (int i = 0; i < 4 * 7 * DIRECTIONS; ++i) {
        Load load = {.share = share[i / 4 % 7],
                     .angle = direction(i / 28),
                     .mu = i % 8 < 4 ? 0.2 : 0,
                     .play = 1e-4};
        Ring r = ring(&load, h[i % 4]);
        for (int k = 0; k < 40; ++k) {
            step(r.sim);
            check("tilt", tilt_of(&r), 0, 1e-9);
            check("gap", rim_gap_of(&r), 0, 1e-10);
        }
        check("tipping", tipping_of(&r), 0, 1e-8);
        check_reaction(&r, &load, h[i % 4]);
        end(&r);
    }
}

// Without friction over the point S of the rim, at R in the direction of the load:
//     N = W + m R alpha,   J alpha = W R share - R N
static void load_beyond_the_rim_tips(void** state) {
    (void)state;
    const double share[] = {1.01, 1.1, 2}, h[] = {1e-4, 1e-5, 1e-6};
    for (int i = 0; i < 3 * 3 * DIRECTIONS; ++i) {
        enum { STEPS = 100 };
        Load load = {.share = share[i / 3 % 3], .angle = direction(i / 9), .play = 1e-2};
        Ring r = ring(&load, h[i % 3]);
        for (int k = 0; k < STEPS; ++k) {
            step(r.sim);
            assert_true(rim_gap_of(&r) > -1e-10);
        }
        double alpha = RADIUS * weight() * (load.share - 1) / (INERTIA + MASS * RADIUS * RADIUS);
        double T = STEPS * h[i % 3], expected = 0.5 * alpha * T * T;
        check("tilt", tilt_of(&r), expected, 0.02 * expected + 1e-10 / RADIUS);
        end(&r);
    }
}

// Plates that fall flat and tilted, slide and spin, with and without rebound: contacts take energy only.
static void plate_comes_down_under_any_load(void** state) {
    (void)state;
    enum { SHARES = 4, STEPS = 3, CASES = SHARES * STEPS * DIRECTIONS * 4 };
    const double share[SHARES] = {0.1, 0.6, 0.9, 0.99}, h[STEPS] = {2e-4, 1e-4, 1e-5};
    int failed = 0, parts = 0;
    double most = 0;
    for (int i = 0; i < CASES; ++i) {
        int kind = i / (CASES / 4), d = i / (SHARES * STEPS) % DIRECTIONS;
        Load load = {.share = share[i / STEPS % SHARES],
                     .angle = direction(d),
                     .mu = d % 2 ? 0.2 : 0,
                     .e = kind == 2 ? 0.3 : 0,
                     .play = 1e-5,
                     .height = 1e-5};
        if (kind == 1) load.tilt = vec3(2e-4 * cos(1.7 * d), 2e-4 * sin(1.7 * d), 0);
        if (kind >= 2) load.velocity = vec3(0.1, 0.05, 0);
        if (kind >= 2) load.spin = vec3(0, 0, 20);
        Ring r = ring(&load, h[i % STEPS]);
        bool good = true;
        for (int k = 0; k < 200 && good; ++k) good = goes_on(&r);
        LashEnergy energy = lash_sim_energy(r.sim);
        most = fmax(most, energy.contact_work_n + energy.contact_work_t);
        if (!good)
            print_error("h %g, share %g, direction %d, kind %d fails at %g\n", h[i % STEPS],
                        load.share, d, kind, lash_sim_time(r.sim));
        failed += !good;
        parts += r.parts;
        end(&r);
    }
    print_message("%d of %d fail, %d steps in parts, largest work of contacts %.2g J\n", failed,
                  CASES, parts, most);
    assert_int_equal(failed, 0);
    assert_true(parts <= CASES * 200 / 100);
    assert_true(most < 1e-12);
}

// The load goes round on the plate, which stays where it is.
static void load_that_goes_round_keeps_the_plate_flat(void** state) {
    (void)state;
    const double share[] = {0.3, 0.7, 0.97}, h[] = {1e-3, 1e-4};
    for (int i = 0; i < 6; ++i) {
        Load load = {.share = share[i / 2], .turning = 50, .mu = 0.1, .play = 1e-4};
        Ring r = ring(&load, h[i % 2]);
        for (int k = 0; k < 300; ++k) {
            step(r.sim);
            check("tilt", tilt_of(&r), 0, 1e-8);
            check("gap", rim_gap_of(&r), 0, 2e-10);
        }
        end(&r);
    }
}

// The point that bears is part of the state: a run that is restored goes on bit for bit.
static void saved_run_goes_on_with_its_point(void** state) {
    (void)state;
    Load load = {.share = 0.8, .angle = 0.3, .turning = 50, .mu = 0.1, .play = 1e-4};
    Ring one = ring(&load, 1e-4), two = ring(&load, 1e-4);
    for (int k = 0; k < 50; ++k) step(one.sim);
    size_t bytes = lash_sim_save(one.sim, NULL, 0);
    void* memory = lash_alloc(bytes);
    assert_int_equal(lash_sim_save(one.sim, memory, bytes), bytes);
    assert_true(lash_sim_restore(two.sim, memory, bytes, NULL));
    assert_true(lash_sim_work(one.sim)->rims.rim[0].held);
    for (int k = 0; k < 50; ++k) {
        const double *q[2], *v[2];
        step(one.sim);
        step(two.sim);
        lash_sim_state(one.sim, &q[0], &v[0]);
        lash_sim_state(two.sim, &q[1], &v[1]);
        assert_memory_equal(q[0], q[1], 7 * sizeof(double));
        assert_memory_equal(v[0], v[1], 6 * sizeof(double));
    }
    lash_free(memory);
    end(&one);
    end(&two);
}

RUN(TEST(load_within_the_rim_rests), TEST(load_beyond_the_rim_tips),
    TEST(plate_comes_down_under_any_load), TEST(load_that_goes_round_keeps_the_plate_flat),
    TEST(saved_run_goes_on_with_its_point))
