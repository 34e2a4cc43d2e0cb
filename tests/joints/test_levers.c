// Friction at an impact has the lever of the closed contact: what it gives to the motion along a
// floor it takes from the spin, J d(omega) + r m d(v) = 0, at every step length; and the order of
// convergence on a curved path stays.
#include "test.h"

#include "geometry/pairs.h"
#include "tests/joint_cases.h"

static const double RADIUS = 0.5, INERTIA = 0.1; // of the ball; its mass is 1 kg

typedef enum Kind { BALL, DISC, FACES, KINDS } Kind;

typedef struct Fall {
    LashMechanism* mech;
    LashShape *floor, *ball; // of faces
} Fall;

// Spins about z at 2 rad/s and falls against x on a floor of the ground.
static LashBodyId add_spinning(LashMechanism* mech) {
    LashBodyDef def = lash_body_def();
    def.mass = 1;
    def.inertia = ball(INERTIA);
    def.world_body = at(1, 0, 0);
    def.omega = vec3(0, 0, 2);
    lash_mechanism_set_gravity(mech, vec3(-GRAVITY, 0, 0));
    return lash_mechanism_add_body(mech, &def);
}

static void add_faces(Fall* fall, LashBodyId body, double mu, double e) {
    fall->floor = lash_shape_box(vec3(2, 20, 20));
    fall->ball = lash_shape_sphere(RADIUS);
    LashPairDef pair = lash_pair_def();
    pair.a.shape = fall->floor;
    pair.b.shape = fall->ball;
    pair.a.body_shape = at(-1, 0, 0);
    LashPairContactDef def = lash_pair_contact_def();
    def.body_a = lash_mechanism_ground(fall->mech);
    def.body_b = body;
    def.pair = lash_pair_create(&pair);
    def.mu = mu;
    def.e = e;
    lash_mechanism_add_pair_contact(fall->mech, &def);
}

static Fall fall_create(Kind kind, double mu, double e) {
    Fall fall = {.mech = lash_mechanism_create()};
    LashBodyId body = add_spinning(fall.mech);
    if (kind == FACES) {
        add_faces(&fall, body, mu, e);
        return fall;
    }
    LashContactDef def = lash_contact_def();
    def.body_a = lash_mechanism_ground(fall.mech);
    def.body_b = body;
    def.a_type = LASH_FEATURE_PLANE;
    def.a_frame = frame(vec3_zero(), vec3(1, 0, 0), vec3(0, 1, 0));
    def.b_type = kind == BALL ? LASH_FEATURE_SPHERE : LASH_FEATURE_DISC;
    def.b_radius = RADIUS;
    def.mu = mu;
    def.e = e;
    lash_mechanism_add_contact(fall.mech, &def);
    return fall;
}

static void fall_destroy(Fall* fall) {
    lash_mechanism_destroy(fall->mech);
    lash_shape_destroy(fall->floor);
    lash_shape_destroy(fall->ball);
}

// Speed along the floor and spin after the run.
static void run_fall(Fall* fall, LashScheme scheme, double h, double T, double* speed,
                     double* spin) {
    LashSettings settings = lash_settings();
    settings.h = h;
    settings.scheme = scheme;
    LashSim* sim = lash_sim_create(lash_mechanism_system(fall->mech), &settings);
    while (lash_sim_time(sim) < T - 0.5 * h) step(sim);
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    *speed = v[1];
    *spin = v[5];
    lash_sim_destroy(sim);
}

// It rolls after the impact, v = r omega: omega = omega_0 J / (J + m r^2) = 4/7 rad/s.
static void a_spinning_ball_rolls_after_a_plastic_impact(void** state) {
    (void)state;
    const double steps[] = {5e-3, 1e-3, 2e-4};
    for (int kind = BALL; kind < KINDS; ++kind) {
        for (int i = 0; i < 3; ++i) {
            double speed, spin;
            Fall fall = fall_create((Kind)kind, 0.5, 0);
            run_fall(&fall, LASH_COMBINED, steps[i], 0.5, &speed, &spin);
            check("spin", spin, 4.0 / 7, 1e-12);
            check("speed", speed, RADIUS * 4 / 7, 1e-12);
            fall_destroy(&fall);
        }
    }
}

// Bouncing and slipping, too.
static void friction_takes_from_the_spin_what_it_gives_along_the_floor(void** state) {
    (void)state;
    const double steps[] = {5e-3, 1e-3}, mu[] = {0.02, 0.5}, e[] = {0, 0.6};
    const LashScheme schemes[] = {LASH_COMBINED, LASH_DIRECT};
    for (int i = 0; i < 16 * KINDS; ++i) {
        double speed, spin;
        Fall fall = fall_create((Kind)(i / 16), mu[i & 1], e[i >> 1 & 1]);
        run_fall(&fall, schemes[i >> 2 & 1], steps[i >> 3 & 1], 1, &speed, &spin);
        check("J omega + r m v", INERTIA * spin + RADIUS * speed, INERTIA * 2, 1e-12);
        assert_true(spin < 1.99);
        fall_destroy(&fall);
    }
}

// A ball slides and rolls in a bore under friction, never leaving it. Returns its height at T.
static double height_in_bore(LashFeatureType feature, double h) {
    LashMechanism* mech = lash_mechanism_create();
    LashBodyDef body = lash_body_def();
    body.mass = 1;
    body.inertia = ball(0.002);
    body.world_body = at(0.4, 0, 0);
    body.omega = vec3(0, 0, 5);
    LashContactDef def = lash_contact_def();
    def.body_a = lash_mechanism_ground(mech);
    def.body_b = lash_mechanism_add_body(mech, &body);
    def.a_type = LASH_FEATURE_CYLINDER;
    def.b_type = feature;
    def.inside = true;
    def.a_radius = 0.5;
    def.b_radius = 0.1;
    def.mu = 0.05;
    lash_mechanism_add_contact(mech, &def);
    // Against the bore from the start: friction acts smoothly.
    lash_mechanism_set_gravity(mech, vec3(GRAVITY, -0.5 * GRAVITY, 0));
    LashSim* sim = start(mech, h);
    run_to(sim, h, 0.2);
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    double height = q[1];
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
    return height;
}

static void sliding_in_a_bore_is_of_second_order(void** state) {
    (void)state;
    const LashFeatureType features[] = {LASH_FEATURE_SPHERE, LASH_FEATURE_DISC};
    for (int i = 0; i < 2; ++i) {
        double x = height_in_bore(features[i], 4e-3), y = height_in_bore(features[i], 2e-3);
        double z = height_in_bore(features[i], 1e-3);
        check("ratio of errors", (x - y) / (y - z), 4, 0.4);
    }
}

RUN(TEST(a_spinning_ball_rolls_after_a_plastic_impact),
    TEST(friction_takes_from_the_spin_what_it_gives_along_the_floor),
    TEST(sliding_in_a_bore_is_of_second_order))
