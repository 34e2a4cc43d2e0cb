// Every joint kind: reactions of a hand-derived statics case, derivatives against differences,
// energy of a free swing, violation at 1e-10, drivers on each coordinate.
#include "test.h"
#include "tests/joint_cases.h"

// --- Derivatives -----------------------------------------------------------------------------

static LashBodyId body_at(LashMechanism* mech, double seed) {
    LashBodyDef def = lash_body_def();
    def.mass = 1 + 0.3 * seed;
    def.inertia = (Mat3){{2, 0.1, 0.2, 0.1, 1.5, -0.1, 0.2, -0.1, 1.8 + 0.1 * seed}};
    def.world_body =
        pose(vec3(seed, 0.5 - seed, 0.2), quat_normalize(quat(1, 0.1 * seed, -0.2, 0.3)));
    def.velocity = vec3(0.3, -0.2, seed);
    def.omega = vec3(0.5, seed, -0.7);
    return lash_mechanism_add_body(mech, &def);
}

// A joint whose frames do not meet: derivatives hold there too.
static LashJointDef open_joint(LashJointType type, LashBodyId a, LashBodyId b) {
    LashJointDef def = lash_joint_def();
    def.type = type;
    def.body_a = a;
    def.body_b = b;
    def.a_joint = pose(vec3(0.3, -0.1, 0.2), quat_normalize(quat(0.9, 0.2, 0.1, -0.3)));
    def.b_joint = pose(vec3(-0.2, 0.4, 0.1), quat_normalize(quat(0.8, -0.1, 0.3, 0.2)));
    def.length = 0.5;
    def.pitch = 0.3;
    return def;
}

static void derivatives_of_drivers_limits_and_friction_match_differences(void** state) {
    (void)state;
    for (int type = 0; type < LASH_GEAR; ++type) {
        for (int grounded = 0; grounded < 3; ++grounded) {
            LashMechanism* mech = lash_mechanism_create();
            LashBodyId ground = lash_mechanism_ground(mech), one = body_at(mech, 0.4),
                       two = body_at(mech, -0.3);
            LashJointDef def = open_joint((LashJointType)type, grounded == 1 ? ground : one,
                                          grounded == 2 ? ground : two);
            for (int c = 0; c < lash_coordinate_count(def.type); ++c) {
                LashCoordinateDef* x = &def.coordinate[c];
                x->driver = c == 1 ? LASH_DRIVE_SPEED : LASH_DRIVE_POSITION;
                x->motion = function("sin(3*t)");
                x->lower = -0.4;
                x->upper = 0.7;
                x->e = 0.5;
            }
            if (lash_joint_has_friction(def.type)) {
                def.mu = 0.3;
                def.radius = 0.15;
            }
            lash_mechanism_add_joint(mech, &def);
            check_system(lash_mechanism_system(mech), 0.3, 1e-6);
            lash_mechanism_destroy(mech);
        }
    }
}

static void derivatives_of_forces_on_coordinates_match_differences(void** state) {
    (void)state;
    for (int type = 0; type < LASH_GEAR; ++type) {
        for (int c = 0; c < lash_coordinate_count((LashJointType)type); ++c) {
            LashMechanism* mech = lash_mechanism_create();
            LashJointDef def =
                open_joint((LashJointType)type, body_at(mech, 0.4), body_at(mech, -0.3));
            LashForceDef force = lash_force_def();
            force.joint = lash_mechanism_add_joint(mech, &def);
            force.coordinate = c;
            force.type = LASH_JOINT_FORCE;
            force.component[0] = function("x^2*v + sin(t)*x");
            lash_mechanism_add_force(mech, &force);
            force.type = LASH_JOINT_SPRING;
            force.stiffness = 20;
            force.damping = 3;
            force.component[0] = (LashFunction){.in = {1, 1, 1}};
            lash_mechanism_add_force(mech, &force);
            check_system(lash_mechanism_system(mech), 0.3, 1e-5);
            lash_mechanism_destroy(mech);
        }
    }
}

// Gears on a common carrier, on the ground, and on four different bodies.
static void derivatives_of_gears_match_differences(void** state) {
    (void)state;
    for (int variant = 0; variant < 6; ++variant) {
        LashMechanism* mech = lash_mechanism_create();
        LashBodyId ground = lash_mechanism_ground(mech);
        LashBodyId body[4];
        for (int k = 0; k < 4; ++k) body[k] = body_at(mech, 0.4 - 0.3 * k);
        bool rack = variant >= 3;
        LashBodyId carrier[2] = {variant % 3 == 1 ? ground : body[2],
                                 body[variant % 3 == 2 ? 3 : 2]};
        LashJointDef gear = lash_joint_def();
        gear.type = rack ? LASH_RACK_AND_PINION : LASH_GEAR;
        gear.ratio = -0.7;
        for (int k = 0; k < 2; ++k) {
            LashJointType type = rack && k == 1 ? LASH_CYLINDRICAL : LASH_REVOLUTE;
            LashJointDef def = open_joint(type, carrier[k], body[k]);
            gear.coupled[k] = lash_mechanism_add_joint(mech, &def);
            gear.coupled_coordinate[k] = rack && k == 1 ? 1 : 0;
        }
        lash_mechanism_add_joint(mech, &gear);
        check_system(lash_mechanism_system(mech), 0.3, 1e-6);
        lash_mechanism_destroy(mech);
    }
}

// --- Statics -----------------------------------------------------------------------------------

// A beam with mass 2 whose center stands 0.3 from the joint along x; gravity along -y.
static const double MASS = 2, ARM = 0.3, H = 1e-3;

typedef struct Beam {
    LashMechanism* mech;
    LashBodyId ground, body;
} Beam;

static Beam beam(void) {
    Beam b = {.mech = lash_mechanism_create()};
    lash_mechanism_set_gravity(b.mech, vec3(0, -GRAVITY, 0));
    b.ground = lash_mechanism_ground(b.mech);
    b.body = add(b.mech, MASS, mat3_diagonal(0.1, 0.2, 0.3), at(ARM, 0, 0));
    return b;
}

// The joint of the beam in the world frame `world`; coordinates in `held` are held by a driver.
static void hold(Beam* b, LashJointType type, Pose world, unsigned held) {
    LashJointDef def = joint_at(b->mech, type, b->ground, b->body, world);
    def.pitch = 0.02;
    for (int c = 0; c < LASH_MAX_COORDINATES; ++c) {
        if (held >> c & 1) def.coordinate[c].driver = LASH_DRIVE_POSITION;
    }
    lash_mechanism_add_joint(b->mech, &def);
}

// What joint 0 exerts after some steps at rest.
static LashReaction at_rest(Beam* b) {
    LashSim* sim = start(b->mech, H);
    for (int k = 0; k < 5; ++k) step(sim);
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    for (int i = 0; i < 6; ++i) check("at rest", v[i], 0, 1e-10);
    LashReaction r = reaction(b->mech, sim, 0, H);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(b->mech);
    return r;
}

static const double TIGHT = 1e-7; // forces from velocities of 1e-10 over a step of 1e-3

// Held at its end, a beam needs the force m g up and the moment m g ARM about z, whatever the
// joint: what the free coordinates leave out comes from their drivers.
static void driven_joints_carry_a_cantilever(void** state) {
    (void)state;
    const struct {
        LashJointType type;
        unsigned held;
    } cases[] = {{LASH_FIXED, 0},       {LASH_REVOLUTE, 1},  {LASH_PRISMATIC, 1},
                 {LASH_CYLINDRICAL, 3}, {LASH_UNIVERSAL, 3}, {LASH_PLANAR, 7},
                 {LASH_SCREW, 1},       {LASH_FREE_JOINT, 63}};
    const Pose frames[] = {at(0, 0, 0), frame(vec3_zero(), vec3(0, 1, 0), vec3(1, 0, 0)),
                           frame(vec3_zero(), vec3(1, 0.4, -0.3), vec3(0.2, 1, 0.1))};
    for (int k = 0; k < 8; ++k) {
        for (int f = 0; f < 3; ++f) {
            if (cases[k].type == LASH_UNIVERSAL && f > 0) continue; // one turn stays free: below
            Beam b = beam();
            if (cases[k].type == LASH_UNIVERSAL) {
                hold(&b, LASH_UNIVERSAL, frame(vec3_zero(), vec3(0, 0, 1), vec3(1, 0, 0)), 3);
            } else {
                hold(&b, cases[k].type, frames[f], cases[k].held);
            }
            LashReaction r = at_rest(&b);
            Quat axes = cases[k].type == LASH_UNIVERSAL ? quat_identity() : frames[f].rot;
            check_vector("force", quat_rotate(axes, r.force), vec3(0, MASS * GRAVITY, 0), TIGHT);
            check_vector("moment", quat_rotate(axes, r.moment), vec3(0, 0, MASS * GRAVITY * ARM),
                         TIGHT);
        }
    }
}

// The universal joint holds the turn about the axis across its cross: here y, where the weight acts
// along z (cross: z_a = x, x_b = z).
static void universal_joint_holds_the_third_turn(void** state) {
    (void)state;
    Beam b = beam();
    lash_mechanism_set_gravity(b.mech, vec3(0, 0, -GRAVITY));
    hold(&b, LASH_UNIVERSAL, frame(vec3_zero(), vec3(1, 0, 0), vec3(0, 0, 1)), 0);
    LashReaction r = at_rest(&b); // axes of the frame: x along z, y along -y, z along x
    check_vector("force", r.force, vec3(MASS * GRAVITY, 0, 0), TIGHT);
    check_vector("moment", r.moment, vec3(0, MASS * GRAVITY * ARM, 0), TIGHT);
}

// A boom on a ball joint, held at its tip by a rod to a point above the ball: T sin(beta) = m g
// / 2.
static void rod_and_ball_joint_hold_a_boom(void** state) {
    (void)state;
    Beam b = beam();
    hold(&b, LASH_SPHERICAL, pose_identity(), 0);
    double height = 0.4, length = hypot(height, 2 * ARM), T = MASS * GRAVITY / 2 * length / height;
    LashJointDef rod = lash_joint_def();
    rod.type = LASH_DISTANCE;
    rod.body_a = b.ground;
    rod.body_b = b.body;
    rod.a_joint.r = vec3(0, height, 0);
    rod.b_joint.r = vec3(ARM, 0, 0);
    rod.length = length;
    lash_mechanism_add_joint(b.mech, &rod);
    LashSim* sim = start(b.mech, H);
    for (int k = 0; k < 5; ++k) step(sim);
    LashReaction ball_joint = reaction(b.mech, sim, 0, H), pull = reaction(b.mech, sim, 1, H);
    check_vector("ball", ball_joint.force, vec3(T * 2 * ARM / length, MASS * GRAVITY / 2, 0),
                 TIGHT);
    check_vector("rod", pull.force, vec3(-T * 2 * ARM / length, MASS * GRAVITY / 2, 0), TIGHT);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(b.mech);
}

// A nut on a vertical screw carries its weight only if something holds the turn: torque m g lead.
static void screw_turns_weight_into_torque(void** state) {
    (void)state;
    double pitch = 0.05, lead = pitch / (2 * LASH_PI), J = 0.3;
    Beam b = {.mech = lash_mechanism_create()};
    lash_mechanism_set_gravity(b.mech, vec3(0, 0, -GRAVITY));
    b.ground = lash_mechanism_ground(b.mech);
    b.body = add(b.mech, MASS, ball(J), pose_identity());
    LashJointDef def = joint_at(b.mech, LASH_SCREW, b.ground, b.body, pose_identity());
    def.pitch = pitch;
    LashForceDef force = lash_force_def(); // holds the turn
    force.type = LASH_JOINT_FORCE;
    force.joint = lash_mechanism_add_joint(b.mech, &def);
    force.component[0].out = MASS * GRAVITY * lead;
    lash_mechanism_add_force(b.mech, &force);
    LashReaction r = at_rest(&b);
    check_vector("force", r.force, vec3(0, 0, MASS * GRAVITY), TIGHT);
    check_vector("moment", r.moment, vec3(0, 0, -MASS * GRAVITY * lead), TIGHT);
}

// Left alone the nut turns: (m lead^2 + J) angle'' = -m g lead, over many turns.
static void nut_spins_down_its_screw(void** state) {
    (void)state;
    double pitch = 0.5, lead = pitch / (2 * LASH_PI), J = 0.01, T = 2;
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, 0, -GRAVITY));
    LashBodyId nut = add(mech, MASS, ball(J), pose_identity());
    LashJointDef def =
        joint_at(mech, LASH_SCREW, lash_mechanism_ground(mech), nut, pose_identity());
    def.pitch = pitch;
    lash_mechanism_add_joint(mech, &def);
    LashSim* sim = start(mech, H);
    run_to(sim, H, T);
    double a = -MASS * GRAVITY * lead / (MASS * lead * lead + J);
    check("angle", coordinate(mech, sim, 0, 0), 0.5 * a * T * T, 1e-7);
    check("displacement", coordinate(mech, sim, 0, 1), 0.5 * a * T * T * lead, 1e-8);
    assert_true(coordinate(mech, sim, 0, 0) < -20 * LASH_PI); // more than ten turns
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// A ladder (length L, center in the middle) with its foot on a floor plane and its head on a wall
// line, held by a horizontal force at the foot: floor m g, wall and foot force m g cot(angle)/2.
static void ladder_between_plane_and_line(void** state) {
    (void)state;
    double L = 2, angle = 1.1;
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, -GRAVITY, 0));
    LashBodyId ground = lash_mechanism_ground(mech);
    Vec3 foot = vec3(L * cos(angle), 0, 0), head = vec3(0, L * sin(angle), 0);
    LashBodyId ladder =
        add(mech, MASS, ball(0.5), pose(vec3_scale(0.5, vec3_add(foot, head)), quat_identity()));
    LashJointDef floor = joint_at(mech, LASH_POINT_ON_PLANE, ground, ladder,
                                  frame(foot, vec3(0, 1, 0), vec3(1, 0, 0)));
    LashJointDef wall = joint_at(mech, LASH_POINT_ON_LINE, ground, ladder,
                                 frame(head, vec3(0, 1, 0), vec3(1, 0, 0)));
    double push = MASS * GRAVITY / (2 * tan(angle));
    LashForceDef force = lash_force_def();
    force.type = LASH_JOINT_FORCE;
    force.joint = lash_mechanism_add_joint(mech, &floor);
    force.component[0].out = -push; // along x of the floor
    lash_mechanism_add_joint(mech, &wall);
    lash_mechanism_add_force(mech, &force);
    LashSim* sim = start(mech, H);
    for (int k = 0; k < 5; ++k) step(sim);
    check_vector("floor", reaction(mech, sim, 0, H).force, vec3(0, 0, MASS * GRAVITY), 1e-5);
    check_vector("wall", reaction(mech, sim, 1, H).force, vec3(push, 0, 0), 1e-5);
    check("at rest", coordinate(mech, sim, 0, 0), 0, 1e-9);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// Two wheels on the ground, a torque on each: at rest when they balance through the ratio; free,
// J_1 + ratio^2 J_2 turns under T_1.
static void gears_balance_and_accelerate(void** state) {
    (void)state;
    double J[2] = {0.2, 0.5}, ratio = -2.5, T1 = 3;
    for (int balanced = 0; balanced < 2; ++balanced) {
        LashMechanism* mech = lash_mechanism_create();
        LashJointDef gear = lash_joint_def();
        gear.type = LASH_GEAR;
        gear.ratio = ratio;
        for (int k = 0; k < 2; ++k) {
            LashBodyId wheel = add(mech, 1, ball(J[k]), at(k, 0, 0));
            LashJointDef def =
                joint_at(mech, LASH_REVOLUTE, lash_mechanism_ground(mech), wheel, at(k, 0, 0));
            gear.coupled[k] = lash_mechanism_add_joint(mech, &def);
        }
        lash_mechanism_add_joint(mech, &gear);
        LashForceDef force = lash_force_def();
        force.type = LASH_JOINT_FORCE;
        force.joint = gear.coupled[0];
        force.component[0].out = T1;
        lash_mechanism_add_force(mech, &force);
        force.joint = gear.coupled[1];
        force.component[0].out = balanced ? -T1 / ratio : 0;
        lash_mechanism_add_force(mech, &force);
        LashSim* sim = start(mech, H);
        double T = 2, a = balanced ? 0 : T1 / (J[0] + ratio * ratio * J[1]);
        run_to(sim, H, T);
        check("first wheel", coordinate(mech, sim, 0, 0), 0.5 * a * T * T, 1e-8);
        check("second wheel", coordinate(mech, sim, 1, 0), 0.5 * a * T * T * ratio, 1e-8);
        double expected = balanced ? T1 / ratio : J[1] * a * ratio;
        check("torque", reaction(mech, sim, 2, H).moment.z, expected, TIGHT);
        lash_sim_destroy(sim);
        lash_mechanism_destroy(mech);
    }
}

// A planet on a swinging arm rolls around a fixed sun: angle against the arm = ratio x angle of the
// arm, so I = J_arm + m l^2 + J (1 + ratio)^2 swings like a pendulum.
static void planet_rolls_around_a_fixed_sun(void** state) {
    (void)state;
    double l = 0.25, J_arm = 0.01, J = 0.02, ratio = 3;
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, -GRAVITY, 0));
    LashBodyId arm = add(mech, 1e-3, ball(J_arm), at(0, 0, 0));
    LashBodyId planet = add(mech, MASS, ball(J), at(l, 0, 0));
    LashJointDef turn =
        joint_at(mech, LASH_REVOLUTE, lash_mechanism_ground(mech), arm, at(0, 0, 0));
    LashJointDef bearing = joint_at(mech, LASH_REVOLUTE, arm, planet, at(l, 0, 0));
    LashJointDef gear = lash_joint_def();
    gear.type = LASH_GEAR;
    gear.ratio = ratio;
    gear.coupled[0] = lash_mechanism_add_joint(mech, &turn);
    gear.coupled[1] = lash_mechanism_add_joint(mech, &bearing);
    lash_mechanism_add_joint(mech, &gear);
    LashSim* sim = start(mech, H);
    double I = J_arm + MASS * l * l + J * (1 + ratio) * (1 + ratio), fastest = 0;
    for (double t = 0.05; t < 3; t += 0.05) {
        run_to(sim, H, t);
        double angle = coordinate(mech, sim, 0, 0), omega = speed(mech, sim, 0, 0);
        check("ratio", coordinate(mech, sim, 1, 0), ratio * angle, 1e-9);
        check("energy", 0.5 * I * omega * omega, -MASS * GRAVITY * l * sin(angle), 1e-4);
        fastest = fmax(fastest, fabs(omega));
    }
    check("speed at the bottom", fastest, sqrt(2 * MASS * GRAVITY * l / I), 0.05);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// A rack hangs on a pinion: force m g on the rack, torque m g r on the pinion's driver.
static void pinion_holds_the_rack(void** state) {
    (void)state;
    double r = 0.04;
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, -GRAVITY, 0));
    LashBodyId ground = lash_mechanism_ground(mech);
    LashBodyId pinion = add(mech, 1, ball(0.1), at(0, 0, 0)),
               rack = add(mech, MASS, ball(0.1), at(r, 0, 0));
    LashJointDef turn = joint_at(mech, LASH_REVOLUTE, ground, pinion, at(0, 0, 0));
    LashJointDef slide = joint_at(mech, LASH_PRISMATIC, ground, rack,
                                  frame(vec3(r, 0, 0), vec3(0, 1, 0), vec3(1, 0, 0)));
    turn.coordinate[0].driver = LASH_DRIVE_POSITION;
    turn.coordinate[0].motion = function("20*t");
    LashJointDef mesh = lash_joint_def();
    mesh.type = LASH_RACK_AND_PINION;
    mesh.ratio = r;
    mesh.coupled[0] = lash_mechanism_add_joint(mech, &turn);
    mesh.coupled[1] = lash_mechanism_add_joint(mech, &slide);
    lash_mechanism_add_joint(mech, &mesh);
    LashSim* sim = start(mech, H);
    run_to(sim, H, 1);
    check("rack", coordinate(mech, sim, 1, 0), 20 * r, 1e-9);
    check("force", reaction(mech, sim, 2, H).force.z, MASS * GRAVITY, 1e-6);
    check("torque", reaction(mech, sim, 0, H).moment.z, MASS * GRAVITY * r, 1e-6);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// --- Motion ------------------------------------------------------------------------------------

// A shaft through a universal joint bent by beta: tan(out) = tan(in) cos(beta) or its inverse.
static void universal_joint_transmits_unevenly(void** state) {
    (void)state;
    double beta = 0.5;
    LashMechanism* mech = lash_mechanism_create();
    LashBodyId ground = lash_mechanism_ground(mech);
    Vec3 bent = vec3(sin(beta), 0, cos(beta));
    LashBodyId in = add(mech, 1, ball(0.1), at(0, 0, -1));
    LashBodyId out = add(mech, 1, ball(0.1), pose(bent, quat_identity()));
    LashJointDef a = joint_at(mech, LASH_REVOLUTE, ground, in, at(0, 0, -1));
    a.coordinate[0].driver = LASH_DRIVE_POSITION;
    a.coordinate[0].motion = function("3*t^2");
    LashJointDef b = joint_at(mech, LASH_REVOLUTE, ground, out,
                              frame(bent, bent, vec3(cos(beta), 0, -sin(beta))));
    // the cross: one axis across the first shaft, x, the other across the second, y
    LashJointDef cross =
        joint_at(mech, LASH_UNIVERSAL, in, out, frame(vec3_zero(), vec3(1, 0, 0), vec3(0, 1, 0)));
    lash_mechanism_add_joint(mech, &a);
    lash_mechanism_add_joint(mech, &b);
    lash_mechanism_add_joint(mech, &cross);
    LashSim* sim = start(mech, H);
    for (double t = 0.1; t < 2; t += 0.1) {
        run_to(sim, H, t);
        double x = coordinate(mech, sim, 0, 0), y = coordinate(mech, sim, 1, 0);
        double turned = atan2(sin(x) * cos(beta), cos(x));
        double other = atan2(sin(x), cos(x) * cos(beta));
        double e1 = remainder(y - turned, 2 * LASH_PI), e2 = remainder(y - other, 2 * LASH_PI);
        check("Cardan's law", fmin(fabs(e1), fabs(e2)), 0, 1e-9);
    }
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// A body on every joint swings for a second under gravity: rows at 1e-10 in each step (checked in
// step()), energy kept to the order of the scheme.
static void free_swing_keeps_energy_and_joints(void** state) {
    (void)state;
    for (int type = LASH_REVOLUTE; type < LASH_GEAR; ++type) {
        double error[2];
        for (int fine = 0; fine < 2; ++fine) {
            LashMechanism* mech = lash_mechanism_create();
            lash_mechanism_set_gravity(mech, vec3(0.3, -GRAVITY, 0.2));
            LashBodyDef body = lash_body_def();
            body.mass = MASS;
            body.inertia = mat3_diagonal(0.05, 0.08, 0.11);
            body.world_body = at(0.4, 0.1, 0);
            LashBodyId id = lash_mechanism_add_body(mech, &body);
            LashJointDef def = joint_at(mech, (LashJointType)type, lash_mechanism_ground(mech), id,
                                        frame(vec3(0, 0, 0.1), vec3(1, 2, 3), vec3(1, 0, 0)));
            def.pitch = 0.3;
            if (type == LASH_DISTANCE) {
                def.a_joint.r = vec3(0, 0.2, 0);
                def.b_joint.r = vec3(0.1, 0.1, 0);
                def.length = vec3_distance(def.a_joint.r, vec3(0.5, 0.2, 0));
            }
            lash_mechanism_add_joint(mech, &def);
            double h = fine ? 5e-4 : 1e-3;
            LashSim* sim = start(mech, h);
            double kinetic = 0;
            error[fine] = 0;
            while (lash_sim_time(sim) < 1 - h / 2) {
                step(sim);
                LashEnergy e = lash_sim_energy(sim);
                error[fine] = fmax(error[fine], fabs(e.kinetic + e.potential - e.start));
                kinetic = fmax(kinetic, e.kinetic);
            }
            assert_true(kinetic > 0.5); // it moves
            lash_sim_destroy(sim);
            lash_mechanism_destroy(mech);
        }
        print_message("%-16s energy error %.2e J (h = 1e-3), %.2e J (5e-4)\n",
                      lash_joint_type_name((LashJointType)type), error[0], error[1]);
        check("energy", error[0], 0, 2e-4 * MASS * GRAVITY * 0.4);
        assert_true(error[0] < 1e-9 || error[1] < 0.35 * error[0]);
    }
}

RUN(TEST(derivatives_of_drivers_limits_and_friction_match_differences),
    TEST(derivatives_of_forces_on_coordinates_match_differences),
    TEST(derivatives_of_gears_match_differences), TEST(driven_joints_carry_a_cantilever),
    TEST(universal_joint_holds_the_third_turn), TEST(rod_and_ball_joint_hold_a_boom),
    TEST(screw_turns_weight_into_torque), TEST(nut_spins_down_its_screw),
    TEST(ladder_between_plane_and_line), TEST(gears_balance_and_accelerate),
    TEST(planet_rolls_around_a_fixed_sun), TEST(pinion_holds_the_rack),
    TEST(universal_joint_transmits_unevenly), TEST(free_swing_keeps_energy_and_joints))
