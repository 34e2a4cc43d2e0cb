// Friction and limits in joints against closed forms: blocks on inclines, Potra's block, a pin with
// friction, impacts with restitution at a limit, rest without chatter.
#include "test.h"

#include "tests/joint_cases.h"

static FILE* open_reference(const char* name) {
    char path[512];
    const char* reference = getenv("LASH_REFERENCE_DIR");
    if (reference != NULL) {
        snprintf(path, sizeof path, "%s/analytic/%s", reference, name);
    } else {
        snprintf(path, sizeof path, "%s/../shared/reference/analytic/%s", LASH_SOURCE_DIR, name);
    }
    return fopen(path, "r");
}

// Next row of numbers, false at the end; lines that do not start with a number are passed over.
static bool next_row(FILE* file, double* value, int count) {
    char line[512];
    while (fgets(line, sizeof line, file) != NULL) {
        char* at_number = line;
        int k = 0;
        for (; k < count; ++k) {
            char* end;
            value[k] = strtod(at_number, &end);
            if (end == at_number) break;
            at_number = *end == ',' ? end + 1 : end;
        }
        if (k == count) return true;
    }
    return false;
}

// --- Sliding ---------------------------------------------------------------------------------

// A block that slides along `down` (z of the joint) on a slope; gravity straight down.
static LashMechanism* block_on_slope(LashJointType type, double alpha, double mu, Vec3 velocity) {
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, 0, -GRAVITY));
    Vec3 down = vec3(cos(alpha), 0, -sin(alpha)), normal = vec3(sin(alpha), 0, cos(alpha));
    LashBodyDef body = lash_body_def();
    body.mass = 2;
    body.inertia = mat3_diagonal(0.1, 0.2, 0.3);
    body.velocity = velocity;
    LashBodyId block = lash_mechanism_add_body(mech, &body);
    Pose world = type == LASH_PRISMATIC ? frame(vec3_zero(), down, normal)
                                        : frame(vec3_zero(), normal, down);
    LashJointDef def = joint_at(mech, type, lash_mechanism_ground(mech), block, world);
    def.mu = mu;
    lash_mechanism_add_joint(mech, &def);
    return mech;
}

static void block_on_incline_follows_the_closed_form(void** state) {
    (void)state;
    FILE* file = open_reference("incline_block.csv");
    if (file == NULL) skip();
    const LashJointType types[] = {LASH_PRISMATIC, LASH_PLANAR};
    double row[6], h = 1e-3;
    int rows = 0;
    for (; next_row(file, row, 6); ++rows) {
        double alpha = row[0] * LASH_PI / 180;
        for (int k = 0; k < 2; ++k) {
            Vec3 v = vec3(row[2] * cos(alpha), 0, -row[2] * sin(alpha));
            LashMechanism* mech = block_on_slope(types[k], alpha, row[1], v);
            LashSim* sim = start(mech, h);
            run_to(sim, h, row[3]);
            // friction turns at the end of the step in which the motion does: then the speed is off
            // by up to 2 mu g h from there on; otherwise each step is exact
            double off = row[2] < 0 ? 2 * row[1] * GRAVITY * h : 0;
            check("x", coordinate(mech, sim, 0, 0), row[4], off * row[3] + 1e-9);
            check("v", speed(mech, sim, 0, 0), row[5], off + 1e-9);
            if (row[5] == 0) check("no creep", coordinate(mech, sim, 0, 0), 0, 1e-12);
            lash_sim_destroy(sim);
            lash_mechanism_destroy(mech);
        }
    }
    fclose(file);
    assert_int_equal(rows, 10);
}

// Sideways start on a slope of the friction angle: the friction follows the direction of sliding.
static void block_that_slides_sideways_turns_downhill(void** state) {
    (void)state;
    FILE* file = open_reference("incline_block_3d.csv");
    if (file == NULL) skip();
    double alpha = LASH_PI / 6, h = 1e-3, row[6], worst = 0;
    LashMechanism* mech = block_on_slope(LASH_PLANAR, alpha, tan(alpha), vec3(0, 2, 0));
    LashSim* sim = start(mech, h);
    while (next_row(file, row, 6)) {
        run_to(sim, h, row[0]);
        worst = fmax(worst, fabs(coordinate(mech, sim, 0, 0) - row[2]));
        worst = fmax(worst, fabs(fabs(coordinate(mech, sim, 0, 1)) - row[1]));
        worst = fmax(worst, fabs(speed(mech, sim, 0, 0) - row[4]));
        worst = fmax(worst, fabs(fabs(speed(mech, sim, 0, 1)) - row[3]));
    }
    fclose(file);
    print_message("largest error at h = 1e-3: %g\n", worst);
    check("sideways block", worst, 0, 5e-3); // direction of sliding at the end of the step: order 1
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

static LashMechanism* potra_block(void) {
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, 0, -GRAVITY));
    LashBodyId block = add(mech, 1, ball(0.1), at(3, 0, 0));
    LashJointDef def = joint_at(mech, LASH_PRISMATIC, lash_mechanism_ground(mech), block,
                                frame(vec3_zero(), vec3(1, 0, 0), vec3(0, 0, 1)));
    def.b_joint.r = vec3_zero();
    def.mu = 0.8;
    LashForceDef push = lash_force_def();
    push.type = LASH_JOINT_FORCE;
    push.joint = lash_mechanism_add_joint(mech, &def);
    push.component[0] = function("8*cos(t)");
    lash_mechanism_add_force(mech, &push);
    return mech;
}

static void potra_block_sticks_and_slips_at_the_known_times(void** state) {
    (void)state;
    FILE* file = open_reference("potra_block_trajectory.csv");
    if (file == NULL) skip();
    double h = 1e-3, row[4], worst = 0, friction = 0;
    LashMechanism* mech = potra_block();
    LashSim* sim = start(mech, h);
    int item = lash_mechanism_friction_interaction(mech, 0);
    int row_t = lash_sim_interactions(sim)->item[item].row + 1;
    while (next_row(file, row, 4)) {
        run_to(sim, h, row[0]);
        worst = fmax(worst, fabs(coordinate(mech, sim, 0, 0) - row[1]));
        if (row[0] > 0 && row[2] == 0) { // the force is that of the middle of the step
            check("no creep", speed(mech, sim, 0, 0), 0, 1e-12);
            double middle = -8 * cos(row[0] - h / 2);
            friction = fmax(friction, fabs(lash_sim_impulses(sim)[row_t] / h - middle));
        }
    }
    fclose(file);
    print_message("largest error at h = 1e-3: x %g m, sticking force %g N\n", worst, friction);
    check("x", worst, 0, 2e-6);
    check("friction while sticking", friction, 0, 1e-8);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

static void potra_block_events_are_reported(void** state) {
    (void)state;
    const double expected[] = {0.33860818467198061736, 2.9463467912238629566, 3.5328346088869994490,
                               6.0879394448136561950,  6.6744272624767926874, 9.2295320984034494335,
                               9.8160199160665859259};
    double h = 1e-3;
    int found = 0;
    LashMechanism* mech = potra_block();
    LashSim* sim = start(mech, h);
    while (lash_sim_time(sim) < 10 - h / 2) {
        int count;
        step(sim);
        const LashEvent* event = lash_sim_events(sim, &count);
        for (int k = 0; k < count; ++k, ++found) {
            assert_true(found < 7);
            assert_int_equal(event[k].kind, found % 2 == 0 ? LASH_EVENT_STICK : LASH_EVENT_SLIP);
            check("time of the event", event[k].t, expected[found], 1.5 * h);
        }
    }
    assert_int_equal(found, 7);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// --- A pin with friction --------------------------------------------------------------------

// A wheel turns on a pin under its own weight: |F| = m g, torque mu r m g against the turn.
static void wheel_on_a_pin_stops_and_stays(void** state) {
    (void)state;
    double m = 3, J = 0.02, r = 0.01, mu = 0.3, omega = 5, h = 1e-3;
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, -GRAVITY, 0));
    LashBodyDef body = lash_body_def();
    body.mass = m;
    body.inertia = ball(J);
    body.omega = vec3(0, 0, omega);
    LashBodyId wheel = lash_mechanism_add_body(mech, &body);
    LashJointDef def =
        joint_at(mech, LASH_REVOLUTE, lash_mechanism_ground(mech), wheel, pose_identity());
    def.mu = mu;
    def.radius = r;
    lash_mechanism_add_joint(mech, &def);
    LashSim* sim = start(mech, h);
    double slowing = mu * r * m * GRAVITY / J, stop = omega / slowing;
    run_to(sim, h, 0.5);
    check("speed", speed(mech, sim, 0, 0), omega - slowing * 0.5, 1e-9);
    LashReaction load = reaction(mech, sim, 0, h);
    check("friction torque", load.moment.z, -mu * r * m * GRAVITY, 1e-8);
    run_to(sim, h, stop + 0.1);
    check("angle", coordinate(mech, sim, 0, 0), omega * stop / 2, slowing * h * h);
    double rest = coordinate(mech, sim, 0, 0);
    run_to(sim, h, stop + 0.6);
    check("no creep", coordinate(mech, sim, 0, 0), rest, 1e-12);
    LashEnergy e = lash_sim_energy(sim);
    check("work of friction", e.contact_work_t, -0.5 * J * omega * omega, 1e-6);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// A pendulum whose load depends on its speed and on the friction itself: energy is balanced, and it
// comes to rest inside the angle of friction.
static void pendulum_with_a_thick_pin_comes_to_rest(void** state) {
    (void)state;
    double m = 2, l = 0.3, r = 0.1, mu = 0.5, h = 1e-3;
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, -GRAVITY, 0));
    LashBodyId bob = add(mech, m, ball(0.01), at(l, 0, 0));
    LashJointDef def =
        joint_at(mech, LASH_REVOLUTE, lash_mechanism_ground(mech), bob, pose_identity());
    def.mu = mu;
    def.radius = r;
    lash_mechanism_add_joint(mech, &def);
    LashSim* sim = start(mech, h);
    int most = 0, sum = 0;
    while (lash_sim_time(sim) < 5 - h / 2) {
        LashStepInfo info = step(sim);
        if (info.newton > most) most = info.newton;
        sum += info.newton;
    }
    LashEnergy e = lash_sim_energy(sim);
    print_message("Newton iterations per step: %.2f, at most %d\n", sum * h / 5, most);
    check("at rest", speed(mech, sim, 0, 0), 0, 1e-12);
    double angle = coordinate(mech, sim, 0, 0) + LASH_PI / 2; // from hanging down
    assert_true(fabs(m * GRAVITY * l * sin(angle)) <= mu * r * m * GRAVITY * (1 + 1e-9));
    check("energy", e.kinetic + e.potential - e.start, e.contact_work_t, 1e-5 * m * GRAVITY * l);
    assert_true(e.contact_work_t < -1);
    assert_true(most <= 5 && sum * h / 5 < 1.3);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// A shaft that turns and slides in its bore: friction follows the helix of the sliding.
static void shaft_that_turns_slides_more_easily(void** state) {
    (void)state;
    double m = 1, r = 0.02, mu = 0.2, h = 1e-3, omega = 100, v = 0.5;
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, -GRAVITY, 0));
    LashBodyDef body = lash_body_def();
    body.mass = m;
    body.inertia = ball(0.01);
    body.omega = vec3(0, 0, omega);
    body.velocity = vec3(0, 0, v);
    LashBodyId shaft = lash_mechanism_add_body(mech, &body);
    LashJointDef def =
        joint_at(mech, LASH_CYLINDRICAL, lash_mechanism_ground(mech), shaft, pose_identity());
    def.mu = mu;
    def.radius = r;
    lash_mechanism_add_joint(mech, &def);
    LashSim* sim = start(mech, h);
    step(sim);
    double vz = speed(mech, sim, 0, 1), vt = r * speed(mech, sim, 0, 0), s = hypot(vz, vt);
    LashReaction load = reaction(mech, sim, 0, h);
    check("axial friction", load.force.z, -mu * m * GRAVITY * vz / s, 1e-6);
    check("friction torque", load.moment.z, -mu * m * GRAVITY * r * vt / s, 1e-8);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// --- Limits ----------------------------------------------------------------------------------

// A mass that falls along a slide onto its lower limit: Newton's law at each impact.
static void slide_rebounds_from_its_limit_with_restitution(void** state) {
    (void)state;
    double h = 1e-4, drop = 0.2, e = 0.6;
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, 0, -GRAVITY));
    LashBodyId mass = add(mech, 1.5, ball(0.1), pose_identity());
    LashJointDef def =
        joint_at(mech, LASH_PRISMATIC, lash_mechanism_ground(mech), mass, pose_identity());
    def.coordinate[0].lower = -drop;
    def.coordinate[0].e = e;
    lash_mechanism_add_joint(mech, &def);
    LashSim* sim = start(mech, h);
    double fall = sqrt(2 * drop / GRAVITY), v = GRAVITY * fall, time = fall;
    int impacts = 0;
    while (lash_sim_time(sim) < 2) {
        int count;
        step(sim);
        const LashEvent* event = lash_sim_events(sim, &count);
        for (int k = 0; k < count; ++k) {
            if (event[k].kind != LASH_EVENT_IMPACT || impacts >= 4) continue;
            check("speed before", -event[k].U_before[0], v, 3 * GRAVITY * h);
            check("Newton's law", event[k].U_after[0], -e * event[k].U_before[0], 1e-9);
            check("time", event[k].t, time, 5 * h);
            v *= e;
            time += 2 * v / GRAVITY;
            ++impacts;
        }
    }
    assert_int_equal(impacts, 4);
    check("at rest on the limit", coordinate(mech, sim, 0, 0), -drop, 1e-10);
    check("at rest", speed(mech, sim, 0, 0), 0, 1e-10);
    LashReaction load = reaction(mech, sim, 0, h);
    check("limit carries the weight", load.force.z, 1.5 * GRAVITY, 1e-6);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// A pendulum leaning on an upper limit of its angle: no impact, no motion, constant torque.
static void lever_rests_on_its_limit_without_chatter(void** state) {
    (void)state;
    double h = 1e-3, m = 0.7, l = 0.25;
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, -GRAVITY, 0));
    LashBodyId lever = add(mech, m, ball(0.01), at(-l, 0, 0)); // falls towards larger angles
    LashJointDef def =
        joint_at(mech, LASH_REVOLUTE, lash_mechanism_ground(mech), lever, pose_identity());
    def.coordinate[0].upper = 0.1;
    def.coordinate[0].e = 0.5;
    lash_mechanism_add_joint(mech, &def);
    LashSim* sim = start(mech, h);
    run_to(sim, h, 3);
    check("angle", coordinate(mech, sim, 0, 0), 0.1, 1e-10);
    int events = 0, count;
    for (int k = 0; k < 2000; ++k) {
        LashStepInfo info = step(sim);
        lash_sim_events(sim, &count);
        events += count;
        assert_int_equal(info.contacts, 1);
        check("speed", speed(mech, sim, 0, 0), 0, 1e-10);
    }
    assert_int_equal(events, 0);
    LashReaction load = reaction(mech, sim, 0, h);
    check("torque of the limit", load.moment.z, -m * GRAVITY * l * cos(0.1), 1e-7);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// Limits count turns: a wheel may turn two and a half times before it is stopped.
static void limit_counts_turns(void** state) {
    (void)state;
    double h = 1e-3, upper = 5 * LASH_PI;
    LashMechanism* mech = lash_mechanism_create();
    LashBodyDef body = lash_body_def();
    body.inertia = ball(1);
    body.omega = vec3(0, 0, 10);
    LashBodyId wheel = lash_mechanism_add_body(mech, &body);
    LashJointDef def =
        joint_at(mech, LASH_REVOLUTE, lash_mechanism_ground(mech), wheel, pose_identity());
    def.coordinate[0].upper = upper;
    lash_mechanism_add_joint(mech, &def);
    LashSim* sim = start(mech, h);
    run_to(sim, h, 1.5);
    check("before the limit", coordinate(mech, sim, 0, 0), 15, 1e-9);
    run_to(sim, h, 2);
    check("at the limit", coordinate(mech, sim, 0, 0), upper, 1e-10);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// Friction and a limit on one joint, with all schemes that know contacts.
static void every_scheme_takes_friction_and_limits(void** state) {
    (void)state;
    const LashScheme schemes[] = {LASH_COMBINED, LASH_MOREAU_JEAN, LASH_DIRECT, LASH_DIRECT};
    for (int variant = 0; variant < 12; ++variant) {
        int k = variant / 3;
        double alpha = 0.5, mu = 0.2, h = 1e-3;
        LashMechanism* mech = lash_mechanism_create();
        lash_mechanism_set_gravity(mech, vec3(0, 0, -GRAVITY));
        Vec3 down = vec3(cos(alpha), 0, -sin(alpha));
        LashBodyId block = add(mech, 2, ball(0.1), pose_identity());
        LashJointDef def = joint_at(mech, LASH_PRISMATIC, lash_mechanism_ground(mech), block,
                                    frame(vec3_zero(), down, vec3(0, 1, 0)));
        def.mu = mu;
        def.coordinate[0].upper = 0.5;
        lash_mechanism_add_joint(mech, &def);
        LashSettings settings = lash_settings();
        settings.h = h;
        settings.scheme = schemes[k];
        settings.coupled = k == 3;
        settings.direction = (LashDirection)(variant % 3);
        LashSim* sim = lash_sim_create(lash_mechanism_system(mech), &settings);
        double a = GRAVITY * (sin(alpha) - mu * cos(alpha));
        while (lash_sim_time(sim) < 0.4 - h / 2)
            assert_int_equal(lash_sim_step(sim).outcome, LASH_CONVERGED);
        check("sliding", coordinate(mech, sim, 0, 0), 0.5 * a * 0.16, 1e-9);
        while (lash_sim_time(sim) < 1 - h / 2)
            assert_int_equal(lash_sim_step(sim).outcome, LASH_CONVERGED);
        check("stopped", coordinate(mech, sim, 0, 0), 0.5,
              schemes[k] == LASH_MOREAU_JEAN ? 4 * h : 1e-10);
        lash_sim_destroy(sim);
        lash_mechanism_destroy(mech);
    }
}

// --- Closed loops, chains, redundant joints --------------------------------------------------

// Largest number of Newton iterations, and the energy that is not accounted for, of a run.
typedef struct RunFigures {
    double newton, balance, work;
    int most;
} RunFigures;

static RunFigures run_all(LashSim* sim, double h, double T) {
    RunFigures f = {0};
    int steps = 0;
    while (lash_sim_time(sim) < T - h / 2) {
        LashStepInfo info = step(sim);
        f.newton += info.newton;
        ++steps;
        if (info.newton > f.most) f.most = info.newton;
    }
    LashEnergy e = lash_sim_energy(sim);
    f.newton /= steps;
    f.work = e.contact_work_t;
    f.balance = e.kinetic + e.potential - e.start - e.external_work - e.damping_work -
                e.contact_work_t - e.contact_work_n;
    return f;
}

// A slider-crank with friction in all joints, pushed by a torque and braked by friction.
static void slider_crank_with_friction_everywhere_keeps_its_energy_balance(void** state) {
    (void)state;
    double r = 0.1, l = 0.3, h = 2e-4;
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, -GRAVITY, 0));
    LashBodyId ground = lash_mechanism_ground(mech);
    LashBodyDef def = lash_body_def();
    double omega = 20;
    def.mass = 1;
    def.inertia = ball(2e-3);
    def.world_body = at(r / 2, 0, 0);
    def.omega = vec3(0, 0, omega);
    def.velocity = vec3(0, omega * r / 2, 0);
    LashBodyId crank = lash_mechanism_add_body(mech, &def);
    def.mass = 0.5;
    def.inertia = ball(4e-3);
    def.world_body = at(r + l / 2, 0, 0);
    def.omega = vec3(0, 0, -omega * r / l);
    def.velocity = vec3(0, omega * r / 2, 0);
    LashBodyId rod = lash_mechanism_add_body(mech, &def);
    def.mass = 0.8;
    def.inertia = ball(1e-3);
    def.world_body = at(r + l, 0, 0);
    def.omega = def.velocity = vec3_zero();
    LashBodyId slider = lash_mechanism_add_body(mech, &def);
    const LashBodyId a[4] = {ground, crank, rod, ground}, b[4] = {crank, rod, slider, slider};
    const Pose where[4] = {at(0, 0, 0), at(r, 0, 0), at(r + l, 0, 0),
                           frame(vec3(r + l, 0, 0), vec3(1, 0, 0), vec3(0, 1, 0))};
    for (int k = 0; k < 4; ++k) {
        LashJointDef joint =
            joint_at(mech, k == 3 ? LASH_PRISMATIC : LASH_REVOLUTE, a[k], b[k], where[k]);
        joint.mu = 0.15;
        joint.radius = 0.01;
        LashJointId id = lash_mechanism_add_joint(mech, &joint);
        if (k > 0) continue;
        LashForceDef torque = lash_force_def();
        torque.type = LASH_JOINT_FORCE;
        torque.joint = id;
        torque.component[0] = function("0.8*cos(6*t)");
        lash_mechanism_add_force(mech, &torque);
    }
    LashSim* sim = start(mech, h);
    RunFigures f = run_all(sim, h, 2);
    print_message(
        "slider-crank: %.2f Newton iterations per step, at most %d; friction %g J, "
        "balance %g J\n",
        f.newton, f.most, f.work, f.balance);
    assert_true(f.work < -0.5);
    check("balance", f.balance, 0, 1e-4);
    assert_true(f.newton < 1.5 && f.most <= 6);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// A chain of thick-pinned links comes to rest and then does not creep.
static void chain_with_friction_comes_to_rest(void** state) {
    (void)state;
    enum { LINKS = 6 };
    double l = 0.2, h = 1e-3;
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, -GRAVITY, 0));
    LashBodyId last = lash_mechanism_ground(mech);
    for (int k = 0; k < LINKS; ++k) {
        LashBodyId link = add(mech, 0.3, ball(1e-3), at((k + 0.5) * l, 0, 0));
        LashJointDef def = joint_at(mech, LASH_REVOLUTE, last, link, at(k * l, 0, 0));
        def.mu = 0.5;
        def.radius = 0.05;
        lash_mechanism_add_joint(mech, &def);
        last = link;
    }
    LashSim* sim = start(mech, h);
    RunFigures f = run_all(sim, h, 13);
    print_message("chain: %.2f Newton iterations per step, at most %d; balance %g J\n", f.newton,
                  f.most, f.balance);
    check("balance", f.balance, 0, 2e-3);
    double x[LINKS];
    for (int k = 0; k < LINKS; ++k) x[k] = coordinate(mech, sim, k, 0);
    run_to(sim, h, 14);
    for (int k = 0; k < LINKS; ++k) check("no creep", coordinate(mech, sim, k, 0), x[k], 1e-11);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// Two parallel slides hold one block: the load is shared, the friction is that of the whole weight.
static void redundant_slides_share_the_load(void** state) {
    (void)state;
    double alpha = 0.6, mu = 0.3, h = 1e-3, T = 0.5;
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, 0, -GRAVITY));
    Vec3 down = vec3(cos(alpha), 0, -sin(alpha)), normal = vec3(sin(alpha), 0, cos(alpha));
    LashBodyId block = add(mech, 2, ball(0.1), pose_identity());
    for (int k = 0; k < 2; ++k) {
        LashJointDef def = joint_at(mech, LASH_PRISMATIC, lash_mechanism_ground(mech), block,
                                    frame(vec3(0, k == 0 ? 0.2 : -0.2, 0), down, normal));
        def.mu = mu;
        lash_mechanism_add_joint(mech, &def);
    }
    LashSim* sim = start(mech, h);
    run_to(sim, h, T);
    double a = GRAVITY * (sin(alpha) - mu * cos(alpha));
    check("x", coordinate(mech, sim, 0, 0), 0.5 * a * T * T, 1e-8);
    for (int k = 0; k < 2; ++k) {
        LashReaction r = reaction(mech, sim, k, h);
        check("share of the load", r.force.x, GRAVITY * cos(alpha), 1e-6);
        check("share of the friction", r.force.z, -mu * GRAVITY * cos(alpha), 1e-6);
    }
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// --- Random mechanisms -----------------------------------------------------------------------

static LashMechanism* random_tree(uint64_t* seed) {
    static const LashJointType types[] = {LASH_REVOLUTE,  LASH_PRISMATIC, LASH_CYLINDRICAL,
                                          LASH_UNIVERSAL, LASH_PLANAR,    LASH_SCREW};
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0.3, -GRAVITY, 0.5));
    LashBodyId body[7] = {lash_mechanism_ground(mech)};
    int bodies = 1 + (int)(2.999 * (1 + random_number(seed)));
    for (int k = 1; k <= bodies; ++k) {
        double x[12];
        for (int i = 0; i < 12; ++i) x[i] = random_number(seed);
        Vec3 p = vec3(0.3 * k + 0.1 * x[0], 0.2 * x[1], 0.2 * x[2]);
        Quat rot = quat_normalize(quat(1, x[3], x[4], x[5]));
        body[k] = add(mech, 1 + 0.5 * x[6], mat3_diagonal(0.02, 0.03, 0.025), pose(p, rot));
        int parent = (int)(0.4999 * k * (1 + random_number(seed)));
        LashJointType type = types[(int)(2.999 * (1 + random_number(seed)))];
        Vec3 at_joint = vec3_add(p, vec3_scale(0.15, vec3(x[7], x[8], x[9])));
        LashJointDef def =
            joint_at(mech, type, body[parent], body[k],
                     frame(at_joint, vec3(x[10], x[11], x[0]), vec3(x[1], x[2], x[7])));
        def.pitch = 0.3;
        if (lash_joint_has_friction(type) && random_number(seed) < 0.5) {
            def.mu = 0.5 * (1 + random_number(seed)) + 1e-3;
            def.radius = 0.02;
        }
        for (int c = 0; c < lash_coordinate_count(type); ++c) {
            LashCoordinateDef* coordinate_def = &def.coordinate[c];
            if (random_number(seed) < 0) continue;
            coordinate_def->lower = -0.2;
            coordinate_def->upper = 0.3;
            coordinate_def->e = 0.45 * (1 + random_number(seed));
        }
        lash_mechanism_add_joint(mech, &def);
    }
    return mech;
}

// Every step of every mechanism converges in one part and meets all rows; friction and impacts
// together only take energy. (Friction alone may give some in a step in which an impact turns the
// sliding round: it opposes the velocity after the impact.)
static void random_mechanisms_with_friction_and_limits_converge(void** state) {
    (void)state;
    bool all = getenv("LASH_LONG_TESTS") != NULL;
    double h = 1e-3;
    long steps = 0, newton = 0;
    for (int k = 0; k < (all ? 300 : 20); ++k) {
        uint64_t seed = (uint64_t)k * 7919 + 1;
        LashMechanism* mech = random_tree(&seed);
        LashSim* sim = start(mech, h);
        while (lash_sim_time(sim) < (all ? 1 : 0.3) - h / 2) {
            newton += step(sim).newton;
            ++steps;
        }
        LashEnergy e = lash_sim_energy(sim);
        assert_true(e.contact_work_t + e.contact_work_n <= 1e-12);
        lash_sim_destroy(sim);
        lash_mechanism_destroy(mech);
    }
    print_message("%ld steps, %.2f Newton iterations each\n", steps,
                  (double)newton / (double)steps);
}

RUN(TEST(block_on_incline_follows_the_closed_form), TEST(block_that_slides_sideways_turns_downhill),
    TEST(potra_block_sticks_and_slips_at_the_known_times), TEST(potra_block_events_are_reported),
    TEST(wheel_on_a_pin_stops_and_stays), TEST(pendulum_with_a_thick_pin_comes_to_rest),
    TEST(shaft_that_turns_slides_more_easily), TEST(slide_rebounds_from_its_limit_with_restitution),
    TEST(lever_rests_on_its_limit_without_chatter), TEST(limit_counts_turns),
    TEST(every_scheme_takes_friction_and_limits),
    TEST(slider_crank_with_friction_everywhere_keeps_its_energy_balance),
    TEST(chain_with_friction_comes_to_rest), TEST(redundant_slides_share_the_load),
    TEST(random_mechanisms_with_friction_and_limits_converge))
