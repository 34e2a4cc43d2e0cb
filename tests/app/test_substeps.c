// A step solved in parts reports all of them: impulses, joint forces and work are those of the
// whole step, "closed at once" is of one part. Sub-steps are forced: Newton may correct only a few
// times.
#include "test.h"

#include "app/run/contact_log.h"
#include "app/run/measure.h"
#include "core/math3.h"

typedef struct Case {
    LashModel* model;
    LashMechanism* mech;
    LashSim* sim;
    AppContactLog log;
    int parts, largest, closed; // steps in parts, most parts, most contacts closed at once
} Case;

static Case begin(const char* file, double h, int corrections) {
    LashError error = {0};
    Case c = {.model = lash_model_load(file, NULL, 0, &error)};
    if (c.model == NULL) fail_msg("%s", error.message);
    LashSettings* settings = &c.model->simulation.settings;
    settings->h = h;
    settings->max_iterations = corrections;
    settings->max_substeps = 1 << 12;
    c.mech = lash_model_build(c.model, &error);
    if (c.mech == NULL) fail_msg("%s", error.message);
    c.sim = lash_sim_create(lash_mechanism_system(c.mech), settings);
    const double *q, *v;
    lash_sim_state(c.sim, &q, &v);
    c.log = app_contact_log_create(c.model, c.mech, q);
    return c;
}

static void end(Case* c) {
    app_contact_log_free(&c->log);
    lash_sim_destroy(c->sim);
    lash_mechanism_destroy(c->mech);
    lash_model_destroy(c->model);
}

static void step(Case* c) {
    LashStepInfo info = lash_sim_step(c->sim);
    assert_int_equal(info.outcome, LASH_CONVERGED);
    app_contact_log_step(&c->log, c->mech, c->sim, c->model->simulation.settings.h, NULL, NULL);
    c->parts += info.substeps > 1;
    if (info.substeps > c->largest) c->largest = info.substeps;
    if (info.contacts > c->closed) c->closed = info.contacts;
}

// Of one body, or of all of them: -1.
static Vec3 momentum(const Case* c, int body) {
    const double *q, *v;
    lash_sim_state(c->sim, &q, &v);
    Vec3 sum = vec3_zero();
    for (int b = 0; b < lash_mechanism_body_count(c->mech); ++b) {
        double mass = body >= 0 && b != body ? 0 : lash_mechanism_body(c->mech, b)->mass;
        sum = vec3_add_scaled(sum, mass, vec3(v[6 * b], v[6 * b + 1], v[6 * b + 2]));
    }
    return sum;
}

// What the contacts gave to a body in the last step; -1: the contacts with the ground, to all.
static Vec3 contact_impulse(const Case* c, int body) {
    Vec3 sum = vec3_zero();
    for (int i = 0; i < c->log.count; ++i) {
        int a, b;
        lash_mechanism_contact_bodies(c->mech, i, &a, &b);
        Vec3 push = c->log.contact[i].impulse;
        bool on_b = body >= 0 ? b == body : a < 0, on_a = body >= 0 ? a == body : b < 0;
        if (on_b) sum = vec3_add(sum, push);
        if (on_a) sum = vec3_sub(sum, push);
    }
    return sum;
}

static Vec3 joint_impulse(const Case* c, int joint) {
    const double *q, *v;
    double h = c->model->simulation.settings.h;
    lash_sim_state(c->sim, &q, &v);
    LashReaction r = lash_mechanism_reaction(c->mech, lash_sim_work(c->sim), joint, q,
                                             lash_sim_impulses(c->sim), h);
    Quat world_a = lash_mechanism_joint(c->mech, joint)->a_joint.rot; // a is the ground
    return vec3_scale(h, quat_rotate(world_a, r.force));
}

static int body_named(const Case* c, const char* name) {
    for (int b = 0; b < lash_mechanism_body_count(c->mech); ++b) {
        if (strcmp(lash_mechanism_body_name(c->mech, b), name) == 0) return b;
    }
    fail_msg("no body %s", name);
    return -1;
}

static void assert_same(Vec3 a, Vec3 b, double tolerance) {
    if (vec3_distance(a, b) <= tolerance) return;
    fail_msg("(%.15g, %.15g, %.15g) and (%.15g, %.15g, %.15g) differ by more than %g", a.x, a.y,
             a.z, b.x, b.y, b.z, tolerance);
}

// Joints with clearance, contacts of no joint, limits: every work has one owner.
static void assert_work_is_complete(Case* c) {
    LashEnergy energy = lash_sim_energy(c->sim);
    double sum = 0, all = energy.contact_work_n + energy.contact_work_t;
    for (int j = 0; j < c->log.joints.count; ++j) sum += app_work_net(&c->log.joints.joint[j].work);
    for (int i = 0; i < c->log.count; ++i) {
        if (c->log.joints.owner[i] < 0) sum += app_work_net(&c->log.contact[i].work);
    }
    assert_true(fabs(sum - all) <= 1e-12 * fabs(all));
    assert_true(fabs(app_work_net(&c->log.all) - all) <= 1e-12 * fabs(all));
}

// Everything that acts on crank, rod and slider from outside: main bearing, guide, weight.
static void impulses_of_all_parts_give_the_momentum(void** state) {
    (void)state;
    Case c = begin(LASH_SOURCE_DIR "/models/slider_crank/crank_pin_play.json", 2e-4, 5);
    assert_string_equal(lash_mechanism_joint_name(c.mech, 0), "main_bearing");
    Vec3 start = momentum(&c, -1), given = vec3_zero();
    double mass = 0;
    for (int b = 0; b < lash_mechanism_body_count(c.mech); ++b)
        mass += lash_mechanism_body(c.mech, b)->mass;
    for (int i = 0; i < 20; ++i) {
        step(&c);
        given = vec3_add(given, vec3_add(contact_impulse(&c, -1), joint_impulse(&c, 0)));
        given = vec3_add_scaled(given, mass * c.model->simulation.settings.h, c.model->gravity);
    }
    assert_true(c.parts > 0 && c.largest > 1);
    assert_in_range(c.closed, 2, 12); // of one part, not of all
    assert_same(vec3_sub(momentum(&c, -1), start), given, 1e-9);
    assert_work_is_complete(&c);
    end(&c);
}

// Points of CAD surfaces come and go between the parts.
static void parts_with_other_contact_points_lose_nothing(void** state) {
    (void)state;
    Case c = begin(LASH_SOURCE_DIR "/models/circuit_breaker/latch.json", 1e-4, 4);
    int hook = body_named(&c, "hook"), bar = body_named(&c, "trip_bar");
    Vec3 rod = vec3(27.95 * 0.9953976707, -27.95 * 0.0958304602, 0); // on the hook [N]
    Vec3 on_hook = vec3_zero(), on_bar = vec3_zero();
    for (int i = 0; i < 7; ++i) {
        step(&c);
        on_hook = vec3_add(on_hook, contact_impulse(&c, hook));
        on_hook = vec3_add_scaled(on_hook, c.model->simulation.settings.h, rod);
        on_bar = vec3_add(on_bar, contact_impulse(&c, bar));
    }
    assert_true(c.parts > 0 && c.largest > 1);
    assert_in_range(c.closed, 2, 12);
    assert_same(momentum(&c, hook), on_hook, 1e-11);
    assert_same(momentum(&c, bar), on_bar, 1e-11);
    assert_work_is_complete(&c);
    end(&c);
}

// The pin of the tutorial's mechanism hits its bore three times in 30 ms and slides along it
// between.
static void contacts_that_push_on_are_not_hit_again(void** state) {
    (void)state;
    Case c = begin(LASH_SOURCE_DIR "/models/first/slider_crank.json", 2e-5, 2);
    for (int i = 0; i < 1500; ++i) step(&c);
    int64_t impacts = 0;
    for (int j = 0; j < c.log.joints.count; ++j) impacts += c.log.joints.joint[j].impacts;
    print_message("%d of 1500 steps in parts, %d impacts of the pin\n", c.parts, (int)impacts);
    assert_true(c.parts > 10);
    assert_in_range(impacts, 3, 4);
    end(&c);
}

RUN(TEST(impulses_of_all_parts_give_the_momentum),
    TEST(parts_with_other_contact_points_lose_nothing),
    TEST(contacts_that_push_on_are_not_hit_again))
