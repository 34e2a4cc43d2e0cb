// Contacts between face sets inside a mechanism: derivatives against differences, ids, promises,
// statics, determinism, no allocation in a step.
#include "core/math3.h"
#include "geometry/pairs.h"
#include "joints/mechanism.h"
#include "solvers/sim.h"
#include "test.h"
#include "tests/system_check.h"

static const double STEP = 1e-6; // of differences [m, rad]

typedef struct Scene {
    LashShape *a, *b;
    LashMechanism* mech;
} Scene;

typedef struct SceneDef {
    LashShape *a, *b;
    Pose world_a, world_b;
    int grounded; // 0: both move, 1: a is the ground, 2: b is
    double mu, e, offset;
} SceneDef;

static LashBodyId scene_body(LashMechanism* mech, Pose world, bool ground) {
    if (ground) return lash_mechanism_ground(mech);
    LashBodyDef def = lash_body_def();
    def.mass = 1.3;
    def.inertia = (Mat3){{2, 0.1, 0.2, 0.1, 1.5, -0.1, 0.2, -0.1, 1.8}};
    def.world_body = world;
    return lash_mechanism_add_body(mech, &def);
}

static Scene scene_create(const SceneDef* d) {
    Scene s = {.a = d->a, .b = d->b, .mech = lash_mechanism_create()};
    LashPairDef pair = lash_pair_def();
    pair.a.shape = d->a;
    pair.b.shape = d->b;
    pair.offset = d->offset;
    if (d->grounded == 1) pair.a.body_shape = d->world_a;
    if (d->grounded == 2) pair.b.body_shape = d->world_b;
    LashPairContactDef def = lash_pair_contact_def();
    def.name = "touch";
    def.body_a = scene_body(s.mech, d->world_a, d->grounded == 1);
    def.body_b = scene_body(s.mech, d->world_b, d->grounded == 2);
    def.pair = lash_pair_create(&pair);
    def.e = d->e;
    def.mu = d->mu;
    lash_mechanism_add_pair_contact(s.mech, &def);
    return s;
}

static void scene_destroy(Scene* s) {
    lash_mechanism_destroy(s->mech);
    lash_shape_destroy(s->a);
    lash_shape_destroy(s->b);
}

// ---- derivatives --------------------------------------------------------------------------------

// Interaction i has a place at q and at both differences along every velocity.
static bool stays(Probe* p, int i) {
    const LashInteraction* item = &p->list->item[i];
    for (int j = 0; j < p->s->nv; ++j) {
        for (int side = -1; side <= 1; side += 2) {
            const double* x = shifted(p, p->q, j, side * STEP);
            assert_true(p->s->evaluate(p->s, p->work, 0, x, NULL, p->g, NULL, NULL));
            if (!(p->g[item->row] < 1)) return false;
        }
    }
    return true;
}

static void check_gradient(Probe* p, int i) {
    const LashInteraction* item = &p->list->item[i];
    assert_true(p->s->evaluate(p->s, p->work, 0, p->q, NULL, p->g, p->g_t, p->G));
    const double* G = p->G + item->offset;
    for (int b = 0; b < item->touched; ++b, G += 6 * item->rows) {
        for (int j = 0; j < 6; ++j) {
            p->s->evaluate(p->s, p->work, 0, shifted(p, p->q, 6 * item->block[b] + j, STEP), NULL,
                           p->g, NULL, NULL);
            p->s->evaluate(p->s, p->work, 0, shifted(p, p->q, 6 * item->block[b] + j, -STEP), NULL,
                           p->g2, NULL, NULL);
            check("G", G[j], (p->g[item->row] - p->g2[item->row]) / (2 * STEP), 1e-8);
        }
    }
}

static void check_contraction(Probe* p, int i) {
    const LashInteraction* item = &p->list->item[i];
    const double P[3] = {0.7, -1.3, 0.4};
    int n = 6 * item->touched;
    double dGP[144], dGv[36], plus[12], minus[12], U[2][LASH_MAX_ROWS];
    p->s->contract(p->s, p->work, 0, p->q, i, P, p->v, dGP, dGv);
    for (int column = 0; column < n; ++column) {
        int j = 6 * item->block[column / 6] + column % 6;
        products(p, shifted(p, p->q, j, STEP), i, P, plus, U[0]);
        products(p, shifted(p, p->q, j, -STEP), i, P, minus, U[1]);
        for (int k = 0; k < n; ++k) {
            double d = (plus[k] - minus[k]) / (2 * STEP);
            check("d(GP)/dq", dGP[k + n * column], d, 2e-7 * (1 + fabs(d)));
        }
        for (int r = 0; r < item->rows; ++r) {
            double d = (U[0][r] - U[1][r]) / (2 * STEP);
            check("d(G'v)/dq", dGv[r + item->rows * column], d, 2e-7 * (1 + fabs(d)));
        }
    }
}

// Moves b until the least gap is `gap` [m].
static void bring_near(SceneDef* def, double gap) {
    for (int k = 0; k < 20; ++k) {
        SceneDef free = *def;
        free.grounded = 0;
        Scene scene = scene_create(&free);
        double q[14], v[12];
        const LashSystem* system = lash_mechanism_system(scene.mech);
        system->initial_state(system, q, v);
        LashContactPlace place = lash_mechanism_contact_place(scene.mech, 0, q);
        assert_true(isfinite(place.gap));
        def->world_b.r = vec3_add_scaled(def->world_b.r, gap - place.gap, place.normal);
        lash_mechanism_destroy(scene.mech);
        if (fabs(place.gap - gap) < 1e-12) return;
    }
}

// Both levers of friction. Returns how many points were checked.
static int check_scene(SceneDef* def, double gap) {
    bring_near(def, gap);
    Scene scene = scene_create(def);
    Probe p = probe_create(lash_mechanism_system(scene.mech));
    int checked = 0;
    uint64_t seed = 3;
    check_pattern(p.s);
    check_list(&p);
    for (int i = 0; i < p.s->nv; ++i) p.v[i] = random_number(&seed);
    for (int i = p.list->bilateral; i < p.list->count; ++i) {
        assert_true(p.s->evaluate(p.s, p.work, 0, p.q, NULL, p.g, NULL, NULL));
        if (p.g[p.list->item[i].row] > 0.05 || !stays(&p, i)) continue;
        for (int levers = LASH_COMMON_POINT; levers <= LASH_OWN_POINTS; ++levers) {
            p.s->set_levers(p.work, (LashLevers)levers);
            check_gradient(&p, i);
            check_contraction(&p, i);
        }
        ++checked;
    }
    probe_destroy(&p);
    scene_destroy(&scene);
    return checked;
}

static Pose tilted(double x, double y, double z, double a, double b, double c) {
    return pose(vec3(x, y, z), quat_exp(vec3(a, b, c)));
}

static SceneDef scene_number(int k) {
    SceneDef d = {.world_a = tilted(0.1, -0.2, 0.3, 0.2, -0.1, 0.3)};
    Pose near = pose_identity();
    switch (k) {
        case 0: // corner of a box on a face
            d.a = lash_shape_box(vec3(3, 3, 1));
            d.b = lash_shape_box(vec3(0.6, 0.5, 0.4));
            near = tilted(0.2, 0.3, 0.88, 0.5, 0.4, 0.2);
            break;
        case 1: // crossed edges
            d.a = lash_shape_box(vec3(1, 1, 1));
            d.b = lash_shape_box(vec3(1, 1, 1));
            near = pose_mul(
                tilted(0.1, 0, 1.4195, 0, 0, 0),
                pose_mul(pose(vec3_zero(), quat_exp(vec3(LASH_PI / 4, 0, 0))), pose_identity()));
            d.world_a = pose_mul(d.world_a, pose(vec3_zero(), quat_exp(vec3(0, LASH_PI / 4, 0))));
            break;
        case 2: // ball in a bore
            d.a = lash_shape_ring(0.5, 0.8, 2);
            d.b = lash_shape_sphere(0.3);
            near = tilted(0.15, 0.12, 0.2, 0.3, 0.1, 0);
            break;
        case 3: // pin in a bore, tilted
            d.a = lash_shape_ring(0.5, 0.8, 0.7);
            d.b = lash_shape_cylinder(0.48, 2);
            near = tilted(0.005, 0.003, 0.1, 0.02, -0.01, 0);
            break;
        case 4: // rim of a pin on a face
            d.a = lash_shape_box(vec3(3, 3, 1));
            d.b = lash_shape_cylinder(0.3, 1);
            near = tilted(0.1, 0.2, 1.055, 0.2, 0.3, 0);
            break;
        case 5: // two balls
            d.a = lash_shape_sphere(0.5);
            d.b = lash_shape_sphere(0.3);
            near = tilted(0.3, 0.5, 0.55, 0.1, 0, 0);
            break;
        case 6: // crossed cylinders
            d.a = lash_shape_capsule(0.2, 2);
            d.b = lash_shape_capsule(0.3, 2);
            near = tilted(0.51, 0.1, 0, 1.2, 0, 0);
            break;
        default: // ball on a cylinder
            d.a = lash_shape_cylinder(0.5, 2);
            d.b = lash_shape_sphere(0.2);
            near = tilted(0.5, 0.49, 0.1, 0, 0.2, 0);
            break;
    }
    d.world_b = pose_mul(d.world_a, near);
    if (k == 1) d.world_b = pose_mul(tilted(0.1, -0.2, 0.3, 0.2, -0.1, 0.3), near);
    return d;
}

static void derivatives_of_contact_points_match_differences(void** state) {
    (void)state;
    for (int k = 0; k < 8; ++k) {
        for (int variant = 0; variant < 8; ++variant) {
            SceneDef def = scene_number(k);
            def.grounded = variant % 4 % 3;
            def.mu = variant % 4 == 0 ? 0 : 0.3;
            def.offset = def.grounded == 0 ? 0.01 : 0;
            // Nearly closed; and so deep that the levers differ much.
            int points = check_scene(&def, variant < 4 ? -1e-4 : -5e-4);
            if (points == 0) fail_msg("scene %d variant %d has no points", k, variant);
        }
    }
}

// ---- the run ------------------------------------------------------------------------------------

// A box that falls onto a large one, tumbling.
static SceneDef tumbling(void) {
    SceneDef d = {.a = lash_shape_box(vec3(4, 4, 1)),
                  .b = lash_shape_box(vec3(0.4, 0.3, 0.2)),
                  .world_a = pose_identity(),
                  .world_b = tilted(0, 0, 0.9, 0.5, 0.3, 0.2),
                  .grounded = 1,
                  .mu = 0.4,
                  .e = 0.2};
    return d;
}

static void steps_with_pairs_allocate_nothing(void** state) {
    (void)state;
    SceneDef def = tumbling();
    Scene scene = scene_create(&def);
    lash_mechanism_set_gravity(scene.mech, vec3(0, 0, -9.81));
    LashSettings settings = lash_settings();
    settings.h = 1e-3;
    LashSim* sim = lash_sim_create(lash_mechanism_system(scene.mech), &settings);
    uint64_t allocations = lash_allocation_count();
    int closed = 0;
    for (int i = 0; i < 2000; ++i) {
        LashStepInfo info = lash_sim_step(sim);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        assert_true(info.penetration <= 1e-10);
        closed = info.contacts > closed ? info.contacts : closed;
    }
    assert_int_equal(lash_allocation_count(), allocations);
    assert_true(closed >= 1);
    lash_sim_destroy(sim);
    scene_destroy(&scene);
}

static void poses_outside_the_promised_motion_are_refused(void** state) {
    (void)state;
    SceneDef def = tumbling();
    bring_near(&def, 0.001);
    Scene scene = scene_create(&def);
    Probe p = probe_create(lash_mechanism_system(scene.mech));
    assert_true(p.s->evaluate(p.s, p.work, 0, p.q, NULL, p.g, NULL, NULL));
    assert_true(p.s->evaluate(p.s, p.work, 0, shifted(&p, p.q, 2, 1e-4), NULL, p.g, NULL, NULL));
    assert_false(p.s->evaluate(p.s, p.work, 0, shifted(&p, p.q, 2, 0.1), NULL, p.g, NULL, NULL));
    assert_false(p.s->evaluate(p.s, p.work, 0, shifted(&p, p.q, 4, 0.1), NULL, p.g, NULL, NULL));
    p.v[2] = -100; // a fast body may go farther
    p.list = p.s->collect(p.s, p.work, 0, p.q, p.v, 1e-3, 2);
    assert_true(p.s->evaluate(p.s, p.work, 0, shifted(&p, p.q, 2, -0.1), NULL, p.g, NULL, NULL));
    probe_destroy(&p);
    scene_destroy(&scene);
}

// A body far away has no interactions; when it comes near again they have the ids of before.
static void points_keep_their_ids_when_they_come_back(void** state) {
    (void)state;
    SceneDef def = tumbling();
    bring_near(&def, 1e-4);
    Scene scene = scene_create(&def);
    Probe p = probe_create(lash_mechanism_system(scene.mech));
    int count = p.list->count;
    uint64_t id[64];
    assert_true(count > 0 && count <= 64);
    for (int i = 0; i < count; ++i) {
        id[i] = p.list->item[i].id;
        assert_int_equal(lash_mechanism_contact_of(scene.mech, id[i]), 0);
        for (int k = 0; k < i; ++k) assert_true(id[k] != id[i]);
    }
    memcpy(p.plus, p.q, (size_t)p.s->nq * sizeof *p.q);
    p.plus[2] += 1;
    assert_int_equal(p.s->collect(p.s, p.work, 0, p.plus, p.v, 1e-3, 2)->count, 0);
    p.list = p.s->collect(p.s, p.work, 0, p.q, p.v, 1e-3, 2);
    assert_int_equal(p.list->count, count);
    for (int i = 0; i < count; ++i) assert_true(p.list->item[i].id == id[i]);
    probe_destroy(&p);
    scene_destroy(&scene);
}

// With an offset the pin sinks into the face by as much before it touches.
static void an_offset_moves_the_place_of_rest(void** state) {
    (void)state;
    const double offset[2] = {0.01, -0.02};
    for (int k = 0; k < 2; ++k) {
        SceneDef def = {.a = lash_shape_box(vec3(4, 4, 1)),
                        .b = lash_shape_sphere(0.3),
                        .world_a = pose_identity(),
                        .world_b = tilted(0, 0, 0.85, 0, 0, 0),
                        .grounded = 1,
                        .offset = offset[k]};
        Scene scene = scene_create(&def);
        lash_mechanism_set_gravity(scene.mech, vec3(0, 0, -9.81));
        LashSettings settings = lash_settings();
        settings.h = 1e-3;
        LashSim* sim = lash_sim_create(lash_mechanism_system(scene.mech), &settings);
        for (int i = 0; i < 500; ++i) assert_int_equal(lash_sim_step(sim).outcome, LASH_CONVERGED);
        const double *q, *v;
        lash_sim_state(sim, &q, &v);
        check("height", q[2], 0.8 - offset[k], 1e-9);
        lash_sim_destroy(sim);
        scene_destroy(&scene);
    }
}

// ---- groups -------------------------------------------------------------------------------------

enum { MEMBERS = 5 };

typedef struct GroupScene {
    LashShape *ball, *box;
    LashMechanism* mech;
} GroupScene;

// Four bodies and a ball on the ground; shapes stand beside their bodies' origins.
static GroupScene group_scene(double mu, const int (*apart)[2], int aparts) {
    GroupScene s = {lash_shape_sphere(0.1), lash_shape_box(vec3(0.2, 0.3, 0.25)),
                    lash_mechanism_create()};
    LashGroupMember member[MEMBERS];
    for (int i = 0; i < MEMBERS; ++i) {
        Vec3 at = vec3(0.225 * i, 0.01 * i * i, 0.02 * i);
        Quat turn = quat_from_axis_angle(vec3_normalize(vec3(1, i, 2)), 0.3 * i);
        LashBodyId body = scene_body(s.mech, pose(at, turn), i == MEMBERS - 1);
        member[i] =
            (LashGroupMember){.body = body,
                              .shape = i % 2 == 0 ? s.ball : s.box,
                              .body_shape = pose(vec3(0.05, -0.02 * i, 0.03), quat_identity()),
                              .owner = 10 + i,
                              .material = i == 0,
                              .sides = 3};
    }
    member[MEMBERS - 1].body_shape.r = vec3(0.45, 0.04, 0.32);
    const double e[4] = {0.1, 0.2, 0.2, 0.3}, law[4] = {mu, 2 * mu, 2 * mu, 3 * mu};
    LashGroupDef def = lash_group_def();
    def.name = "all";
    def.member = member;
    def.members = MEMBERS;
    def.materials = 2;
    def.e = e;
    def.mu = law;
    def.apart = apart;
    def.aparts = aparts;
    lash_mechanism_add_group(s.mech, &def);
    return s;
}

static void group_scene_destroy(GroupScene* s) {
    lash_mechanism_destroy(s->mech);
    lash_shape_destroy(s->ball);
    lash_shape_destroy(s->box);
}

static void points_of_a_group_have_exact_derivatives(void** state) {
    (void)state;
    for (int friction = 0; friction < 2; ++friction) {
        GroupScene s = group_scene(0.3 * friction, NULL, 0);
        Probe p = probe_create(lash_mechanism_system(s.mech));
        uint64_t seed = 3;
        for (int i = 0; i < p.s->nv; ++i) p.v[i] = random_number(&seed);
        p.list = p.s->collect(p.s, p.work, 0, p.q, p.v, 0.05, 2);
        int checked = 0;
        assert_true(p.list->count > 2);
        for (int i = 0; i < p.list->count; ++i) {
            assert_int_equal(lash_mechanism_contact_of(s.mech, p.list->item[i].id), 0);
            if (!stays(&p, i)) continue;
            check_gradient(&p, i);
            check_contraction(&p, i);
            ++checked;
        }
        assert_true(checked > 2);
        probe_destroy(&p);
        group_scene_destroy(&s);
    }
}

static void a_group_knows_bodies_and_laws_of_its_points_and_who_stays_apart(void** state) {
    (void)state;
    static const int apart[2][2] = {{11, 10}, {12, 13}};
    GroupScene s = group_scene(0.1, apart, 2);
    Probe p = probe_create(lash_mechanism_system(s.mech));
    p.list = p.s->collect(p.s, p.work, 0, p.q, p.v, 1, 400); // all are near
    for (int i = 0; i < p.list->count; ++i) {
        const LashInteraction* item = &p.list->item[i];
        int a, b;
        lash_mechanism_interaction_bodies(s.mech, item->id, &a, &b);
        assert_int_equal(item->block[0], a);
        assert_int_equal(item->touched, b < 0 ? 1 : 2);
        assert_false((a == 0 && b == 1) || (a == 2 && b == 3));
        check("mu", item->mu, a == 0 ? 0.2 : 0.1, 0);
        check("e", item->e, a == 0 ? 0.2 : 0.1, 0);
    }
    assert_true(p.list->count > 4);
    probe_destroy(&p);
    group_scene_destroy(&s);
}

// Balls scattered in a cube: the list has every pair that the distance of the centers tells.
static void the_search_finds_what_a_look_at_all_pairs_finds(void** state) {
    (void)state;
    enum { BALLS = 60 };
    const double r = 0.1, none = 0;
    LashShape* ball = lash_shape_sphere(r);
    LashMechanism* mech = lash_mechanism_create();
    LashGroupMember member[BALLS];
    Vec3 at[BALLS];
    uint64_t seed = 11;
    for (int i = 0; i < BALLS; ++i) {
        for (bool deep = true; deep;) { // deeper than half a ball: no gap would tell
            double x = 0.6 * random_number(&seed), y = 0.5 * random_number(&seed);
            at[i] = vec3(x, y, 0.4 * random_number(&seed));
            deep = false;
            for (int j = 0; j < i; ++j) deep = deep || vec3_distance(at[i], at[j]) < 1.3 * r;
        }
        member[i] = (LashGroupMember){.body = scene_body(mech, pose(at[i], quat_identity()), false),
                                      .shape = ball,
                                      .body_shape = pose_identity(),
                                      .owner = i,
                                      .sides = i < BALLS / 2 ? 1 : 2};
    }
    LashGroupDef def = lash_group_def();
    def.member = member;
    def.members = BALLS;
    def.materials = 1;
    def.e = &none;
    def.mu = &none;
    lash_mechanism_add_group(mech, &def);
    Probe p = probe_create(lash_mechanism_system(mech));
    int expected = 0, found = 0;
    for (int i = 0; i < BALLS / 2; ++i) {
        for (int j = BALLS / 2; j < BALLS; ++j) expected += vec3_distance(at[i], at[j]) < 2 * r;
    }
    assert_true(p.s->evaluate(p.s, p.work, 0, p.q, NULL, p.g, NULL, NULL));
    for (int i = 0; i < p.list->count; ++i) {
        int a, b;
        lash_mechanism_interaction_bodies(mech, p.list->item[i].id, &a, &b);
        double gap = vec3_distance(at[a], at[b]) - 2 * r;
        check("gap", p.g[p.list->item[i].row], gap, 1e-14);
        found += gap < 0;
    }
    assert_int_equal(found, expected);
    assert_true(expected > 10 && p.list->count < 4 * expected);
    probe_destroy(&p);
    lash_mechanism_destroy(mech);
    lash_shape_destroy(ball);
}

RUN(TEST(derivatives_of_contact_points_match_differences), TEST(steps_with_pairs_allocate_nothing),
    TEST(poses_outside_the_promised_motion_are_refused),
    TEST(points_keep_their_ids_when_they_come_back), TEST(an_offset_moves_the_place_of_rest),
    TEST(points_of_a_group_have_exact_derivatives),
    TEST(a_group_knows_bodies_and_laws_of_its_points_and_who_stays_apart),
    TEST(the_search_finds_what_a_look_at_all_pairs_finds))
