// A prescribed speed holds a position: the coordinate stands at the sum of the speed, whatever
// joints and contacts have to be projected.
//
//     X_{k+1} = X_k + h ((1 - theta) s(t_k) + theta s(t_{k+1}))
#include "test.h"

#include "tests/joint_cases.h"

static const double HELD = 1e-9; // [m or rad] at every time; a step alone is held to 1e-10
static const double STEPS[] = {5e-3, 1e-3, 2e-4}, BOUNCES[] = {0, 0.5, 0.9};
enum { COUNT = 3 };

// ---- runs ---------------------------------------------------------------------------------------

typedef struct Driven {
    int joint, coordinate;
    const char* speed;
    double at, last; // the sum so far; the speed at its end
} Driven;

static double speed_of(const Driven* driven, double t) {
    LashFunction f = function(driven->speed);
    double values[3] = {t}, speed = lash_expression_value(f.expression, values);
    lash_expression_destroy(f.expression);
    return speed;
}

static void drive(LashJointDef* def, int coordinate, const char* speed) {
    def->coordinate[coordinate].driver = LASH_DRIVE_SPEED;
    def->coordinate[coordinate].motion = function(speed);
}

// Runs to T and compares all driven coordinates with their sums. Returns the steps in which
// contacts pushed; takes the mechanism.
static int hold(LashMechanism* mech, LashSettings settings, double T, Driven* driven, int count) {
    LashSim* sim = lash_sim_create(lash_mechanism_system(mech), &settings);
    double w = settings.variant ? 0.5 : settings.theta;
    int pushed = 0;
    for (int k = 0; k < count; ++k) {
        driven[k].at = coordinate(mech, sim, driven[k].joint, driven[k].coordinate);
        driven[k].last = speed_of(&driven[k], 0);
    }
    while (lash_sim_time(sim) < T - 0.5 * settings.h) {
        double t = lash_sim_time(sim);
        pushed += step(sim).contacts > 0;
        double h = lash_sim_time(sim) - t;
        for (int k = 0; k < count; ++k) {
            Driven* d = &driven[k];
            double speed = speed_of(d, lash_sim_time(sim));
            d->at += h * ((1 - w) * d->last + w * speed);
            d->last = speed;
            check("driven coordinate", coordinate(mech, sim, d->joint, d->coordinate), d->at, HELD);
        }
    }
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
    return pushed;
}

static LashSettings settings_with(double h) {
    LashSettings settings = lash_settings();
    settings.h = h;
    settings.max_substeps = 64;
    return settings;
}

// ---- mechanisms ---------------------------------------------------------------------------------

// A point falls on a plane that `body` carries, z of the plane along x.
static void add_ball_on(LashMechanism* mech, LashBodyId body, Pose plane, Vec3 start, double e) {
    LashContactDef contact = lash_contact_def();
    contact.body_a = body;
    contact.body_b = add(mech, 1, ball(0.004), at(start.x, start.y, start.z));
    contact.a_type = LASH_FEATURE_PLANE;
    contact.b_type = LASH_FEATURE_SPHERE;
    contact.a_frame = plane;
    contact.e = e;
    contact.mu = 0.2;
    lash_mechanism_add_contact(mech, &contact);
    lash_mechanism_set_gravity(mech, vec3(-GRAVITY, 0, 0));
}

// A table that moves along x, and a ball that bounces on it.
static LashMechanism* table(const char* speed, double e) {
    LashMechanism* mech = lash_mechanism_create();
    LashBodyDef def = lash_body_def();
    Driven driven = {.speed = speed};
    def.mass = 1;
    def.inertia = ball(0.004);
    def.velocity = vec3(speed_of(&driven, 0), 0, 0);
    LashBodyId body = lash_mechanism_add_body(mech, &def);
    Pose up = frame(vec3_zero(), vec3(1, 0, 0), vec3(0, 1, 0));
    LashJointDef guide = joint_at(mech, LASH_PRISMATIC, lash_mechanism_ground(mech), body, up);
    drive(&guide, 0, speed);
    lash_mechanism_add_joint(mech, &guide);
    add_ball_on(mech, body, up, vec3(0.1, 0, 0), e);
    return mech;
}

// A lever about z, held; a ball falls on its end.
static LashMechanism* lever(const char* speed, double e) {
    LashMechanism* mech = lash_mechanism_create();
    LashBodyId body = add(mech, 0.3, ball(1e-3), at(0, 0.1, 0));
    LashJointDef bearing =
        joint_at(mech, LASH_REVOLUTE, lash_mechanism_ground(mech), body, pose_identity());
    drive(&bearing, 0, speed);
    lash_mechanism_add_joint(mech, &bearing);
    add_ball_on(mech, body, frame(vec3(0.01, 0, 0), vec3(1, 0, 0), vec3(0, 1, 0)),
                vec3(0.08, 0.17, 0), e);
    return mech;
}

// Crank 50 mm, rod 150 mm, slider along x; the crank pin has play.
static LashMechanism* slider_crank(const char* speed, double play, double e) {
    LashMechanism* mech = lash_mechanism_create();
    LashBodyId ground = lash_mechanism_ground(mech);
    LashBodyId crank = add(mech, 0.3, ball(2e-4), at(0.025, 0, 0));
    LashBodyId rod = add(mech, 0.4, ball(9e-4), at(0.125, 0, 0));
    LashBodyId slider = add(mech, 0.5, ball(3e-4), at(0.2, 0, 0));
    LashJointDef bearing = joint_at(mech, LASH_REVOLUTE, ground, crank, pose_identity());
    drive(&bearing, 0, speed);
    lash_mechanism_add_joint(mech, &bearing);
    LashJointDef pin = joint_at(mech, LASH_REVOLUTE, crank, rod, at(0.05, 0, 0));
    if (play > 0) {
        pin.clearance.play = play;
        pin.clearance.radius = 0.01;
        pin.clearance.bore_length = 0.02;
        pin.clearance.e = e;
        pin.clearance.mu = 0.1;
    }
    lash_mechanism_add_joint(mech, &pin);
    LashJointDef other = joint_at(mech, LASH_REVOLUTE, rod, slider, at(0.2, 0, 0));
    lash_mechanism_add_joint(mech, &other);
    Pose along = frame(vec3(0.2, 0, 0), vec3(1, 0, 0), vec3(0, 1, 0));
    LashJointDef guide = joint_at(mech, LASH_PRISMATIC, ground, slider, along);
    lash_mechanism_add_joint(mech, &guide);
    lash_mechanism_set_gravity(mech, vec3(0, -GRAVITY, 0));
    return mech;
}

// An arm turns about a tilted axis, a carriage on it is driven outwards, and on that a table.
static LashMechanism* crane(const char* turn, const char* out) {
    LashMechanism* mech = lash_mechanism_create();
    LashBodyId arm = add(mech, 2, mat3_diagonal(0.3, 0.2, 0.1), at(0.1, 0.2, 0));
    LashBodyId carriage = add(mech, 1, mat3_diagonal(0.01, 0.02, 0.03), at(0.5, 0.1, 0.1));
    Pose tilted = frame(vec3_zero(), vec3(0.3, 1, 0.5), vec3(1, 0, 0));
    LashJointDef pivot = joint_at(mech, LASH_REVOLUTE, lash_mechanism_ground(mech), arm, tilted);
    drive(&pivot, 0, turn);
    lash_mechanism_add_joint(mech, &pivot);
    Pose beam = frame(vec3(0.2, 0.2, 0), vec3(1, 0.1, 0.2), vec3(0, 0, 1));
    LashJointDef slide = joint_at(mech, LASH_PRISMATIC, arm, carriage, beam);
    drive(&slide, 0, out);
    lash_mechanism_add_joint(mech, &slide);
    return mech;
}

// ---- tests --------------------------------------------------------------------------------------

static void a_driven_table_is_not_moved_by_a_bouncing_ball(void** state) {
    (void)state;
    const char* speeds[] = {"2 + cos(pi/2*t)", "0", "3*t^2 - 1"};
    for (int s = 0; s < 3; ++s) {
        for (int i = 0; i < COUNT * COUNT; ++i) {
            Driven driven = {.speed = speeds[s]};
            LashMechanism* mech = table(speeds[s], BOUNCES[i % COUNT]);
            assert_true(hold(mech, settings_with(STEPS[i / COUNT]), 1, &driven, 1) > 0);
        }
    }
}

static void a_lever_held_at_speed_zero_stays_where_it_is(void** state) {
    (void)state;
    for (int i = 0; i < COUNT * COUNT; ++i) {
        Driven driven = {.speed = "0"};
        LashMechanism* mech = lever("0", BOUNCES[i % COUNT]);
        assert_true(hold(mech, settings_with(STEPS[i / COUNT]), 0.6, &driven, 1) > 2);
    }
}

static void a_driven_crank_stands_at_the_sum_of_its_speed(void** state) {
    (void)state;
    const double steps[] = {2e-4, 5e-5}, plays[] = {0, 1e-4};
    for (int i = 0; i < 2 * COUNT * 2; ++i) {
        double h = steps[i % 2], e = BOUNCES[i / 2 % COUNT], play = plays[i / (2 * COUNT)];
        Driven driven = {.speed = "40*min(1, t/0.02)"};
        LashMechanism* mech = slider_crank(driven.speed, play, e);
        int pushed = hold(mech, settings_with(h), 0.1, &driven, 1);
        assert_true(play > 0 ? pushed > 10 : pushed == 0);
    }
}

static void a_drive_on_a_turning_arm_stands_at_the_sum_of_its_speed(void** state) {
    (void)state;
    for (int i = 0; i < COUNT; ++i) {
        Driven driven[] = {{.joint = 0, .speed = "3*sin(5*t)"}, {.joint = 1, .speed = "0.4*t"}};
        LashMechanism* mech = crane(driven[0].speed, driven[1].speed);
        hold(mech, settings_with(STEPS[i]), 1, driven, 2);
    }
}

static void every_variant_of_the_step_holds_driven_parts(void** state) {
    (void)state;
    LashSettings variant[8];
    for (int i = 0; i < 8; ++i) variant[i] = settings_with(1e-3);
    variant[0].theta = 0.8;
    variant[1].theta = 0.8;
    variant[1].variant = true;
    variant[2].direction = LASH_AT_END;
    variant[3].direction = LASH_AT_START;
    variant[4].full_newton = true;
    variant[5].scheme = LASH_DIRECT;
    variant[6].scheme = LASH_DIRECT;
    variant[6].forecast = LASH_FORECAST_EXPLICIT;
    variant[7].law = LASH_FREMOND;
    for (int i = 0; i < 8; ++i) {
        Driven up = {.speed = "2 + cos(3*t)"}, still = {.speed = "0"};
        assert_true(hold(table(up.speed, 0.5), variant[i], 0.5, &up, 1) > 0);
        assert_true(hold(lever("0", 0.5), variant[i], 0.3, &still, 1) > 0);
    }
}

// So few corrections are allowed that impacts are solved in parts. The speed is linear: its sum is
// the same in parts.
static void a_step_in_parts_holds_driven_parts(void** state) {
    (void)state;
    LashSettings settings = settings_with(1e-3);
    settings.max_iterations = 3;
    settings.max_substeps = 1 << 12;
    Driven driven = {.speed = "5 + 100*t"};
    assert_true(hold(slider_crank(driven.speed, 1e-4, 0.5), settings, 0.3, &driven, 1) > 10);
}

RUN(TEST(a_driven_table_is_not_moved_by_a_bouncing_ball),
    TEST(a_lever_held_at_speed_zero_stays_where_it_is),
    TEST(a_driven_crank_stands_at_the_sum_of_its_speed),
    TEST(a_drive_on_a_turning_arm_stands_at_the_sum_of_its_speed),
    TEST(every_variant_of_the_step_holds_driven_parts), TEST(a_step_in_parts_holds_driven_parts))
