// The nonsmooth alpha family: reference states, energy identities with filters, joints, contacts and
// friction, orders of convergence also where mass and directions turn, rest after an accumulation,
// refusals. Reference values were computed by an independent program.
#include "test.h"

#include "app/verify/paper_systems.h"
#include "app/verify/verify_internal.h"
#include "core/lagrangian.h"
#include "core/math3.h"
#include "joints/mechanism.h"
#include "solvers/schemes/alpha.h"
#include "tests/scheme_cases.h"
#include "tests/system_check.h"

static const double GRAVITY = 9.81;

typedef struct Member {
    LashScheme scheme;
    const char* option;
    double value;
} Member;

static LashSettings settings_of(const Member* member, double h) {
    LashSettings set = lash_settings();
    set.scheme = member->scheme;
    set.h = h;
    set.forecast = LASH_FORECAST_END;
    if (member->option != NULL) assert_true(lash_settings_set(&set, member->option, member->value));
    return set;
}

static void good_steps(LashSim* sim, int steps) {
    for (int i = 0; i < steps; ++i) {
        LashStepInfo info = lash_sim_step(sim);
        if (info.outcome != LASH_CONVERGED)
            fail_msg("step %d: dynamics %g, velocity %g", i, info.dynamics_error,
                     info.velocity_error);
    }
}

static double slope(double coarse, double fine) {
    return log2(fabs(coarse / fine));
}

// ---- Two masses and a wall ----------------------------------------------------------------------

static void two_masses_and_a_wall_reach_known_states(void** state) {
    (void)state;
    static const struct {
        Member member;
        double q[2], v[2], impulse;
    } known[] = {{{LASH_HHT, "alpha", 0.1},
                  {-0.00875605681730377, -0.0731992455560862},
                  {-0.151324428588955, 0.0392451705506048},
                  5.20124524394446},
                 {{LASH_GENERALIZED_ALPHA, "spectral_radius", 0.8},
                  {-0.00886081313479901, -0.0734087378749889},
                  {-0.150740811185833, 0.0385746124300844},
                  5.19848276111816},
                 {{LASH_KRENK_HOGSBERG, "spectral_radius", 0.8},
                  {-0.00918641754166024, -0.0732398205875322},
                  {-0.150065282856339, 0.0444220432063664},
                  5.18294114886115},
                 {{LASH_GENERALIZED_ALPHA, "spectral_radius", 0},
                  {-0.0114009262708721, -0.0691718602291163},
                  {0.101048661667662, 0.0133230526692354},
                  5.38130753296135},
                 {{LASH_KRENK_HOGSBERG, "spectral_radius", 0},
                  {-0.00786546371557173, -0.0579090648353851},
                  {-0.0083636369011825, 0.109104348906724},
                  5.35583759829881},
                 {{LASH_GENERALIZED_ALPHA, "spectral_radius", 1}, // Newmark 1/4, 1/2
                  {-0.00890549228127381, -0.0734803465095135},
                  {-0.15061450467479, 0.0383490846083648},
                  5.19739181958575}};
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k) {
        LashLagrangian* masses = two_masses();
        LashSettings set = settings_of(&known[k].member, 0.01);
        LashSim* sim = lash_sim_create(lash_lagrangian_system(masses), &set);
        double impulse = 0;
        for (int i = 0; i < 100; ++i) {
            good_steps(sim, 1);
            impulse += lash_sim_impulses(sim)[0];
        }
        const double *q, *v;
        lash_sim_state(sim, &q, &v);
        for (int i = 0; i < 2; ++i) {
            check("q", q[i], known[k].q[i], 1e-12);
            check("v", v[i], known[k].v[i], 1e-11);
        }
        check("impulse", impulse, known[k].impulse, 1e-11);
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(masses);
    }
}

// ---- Energy -------------------------------------------------------------------------------------

static void energy_identities_hold_with_friction_under_both_laws(void** state) {
    (void)state;
    static const Member member[] = {{LASH_NEWMARK, NULL, 0},
                                    {LASH_HHT, "alpha", 0.1},
                                    {LASH_GENERALIZED_ALPHA, "spectral_radius", 0.8},
                                    {LASH_KRENK_HOGSBERG, "spectral_radius", 0.8}};
    for (size_t k = 0; k < sizeof member / sizeof *member; ++k) {
        double contact[2];
        for (int law = 0; law < 2; ++law) {
            LashSettings set = settings_of(&member[k], 0.01);
            set.law = law == 0 ? LASH_NEWTON_COULOMB : LASH_FREMOND;
            set.tolerance_velocity = 1e-13;
            set.tolerance_solver = 1e-15;
            AlphaCase what = {.rows = 2, .systems = 10, .steps = 150, .push = 2, .seed = 5};
            AlphaBalance b = alpha_balance(&set, &what);
            assert_int_equal(b.failed, 0);
            assert_true(b.pushing > 50);
            check("identity", b.identity, 0, 1e-12);
            check("H", b.energy, 0, 1e-12);
            contact[law] = b.contact;
        }
        assert_true(contact[1] <= 1e-12); // Fremond's law never adds energy, Newton-Coulomb may
    }
}

static void energy_identities_hold_with_joints_and_filters(void** state) {
    (void)state;
    static const Member member[] = {{LASH_HHT, "alpha", 0.2},
                                    {LASH_GENERALIZED_ALPHA, "spectral_radius", 0.3},
                                    {LASH_KRENK_HOGSBERG, "spectral_radius", 0.3}};
    for (size_t k = 0; k < sizeof member / sizeof *member; ++k) {
        LashSettings set = settings_of(&member[k], 0.01);
        set.tolerance_velocity = 1e-13;
        set.tolerance_solver = 1e-15;
        AlphaCase what = {
            .rows = 1, .systems = 10, .steps = 200, .push = 2, .joint = true, .seed = 9};
        AlphaBalance b = alpha_balance(&set, &what);
        assert_int_equal(b.failed, 0);
        check("identity", b.identity, 0, 1e-12);
        check("H", b.energy, 0, 1e-12);
        assert_true(b.gain <= 1e-12);
    }
}

// ---- Order --------------------------------------------------------------------------------------

static const Member family[] = {{LASH_NEWMARK, NULL, 0},
                                {LASH_HHT, "alpha", 0.1},
                                {LASH_GENERALIZED_ALPHA, "spectral_radius", 0.8},
                                {LASH_KRENK_HOGSBERG, "spectral_radius", 0.8}};
enum { FAMILY = sizeof family / sizeof *family };

// Point mass on a massless rod, from 120 degrees, in (x, y).
static void unit_mass(const LashLagrangianPoint* at, double* M) {
    (void)at;
    M[0] = M[3] = 1;
}
static void weight(const LashLagrangianPoint* at, double* F) {
    (void)at;
    F[1] = -GRAVITY;
}
static void force(const LashLagrangianPoint* at, const double* v, double* F) {
    (void)v;
    weight(at, F);
}
static void rod(const LashLagrangianPoint* at, int which, double* g, double* g_t, double* G) {
    (void)which;
    (void)g_t;
    double length = hypot(at->q[0], at->q[1]);
    g[0] = length - 1;
    if (G == NULL) return;
    G[0] = at->q[0] / length;
    G[1] = at->q[1] / length;
}

static double pendulum_error(const Member* member, double h, LashDirection direction) {
    static const double q0[] = {0.86602540378443864676, 0.5}; // 120 degrees from below
    LashLagrangianContact joint = {
        .kind = LASH_BILATERAL, .rows = 1, .name = "rod", .evaluate = rod};
    LashLagrangianDef def = lash_lagrangian_def();
    def.n = 2;
    def.q0 = q0;
    def.constant_mass = true;
    def.mass = unit_mass;
    def.force = force;
    def.conservative = weight;
    def.contact = &joint;
    def.contacts = 1;
    LashLagrangian* pendulum = lash_lagrangian_create(&def);
    LashSettings set = settings_of(member, h);
    set.direction = direction;
    LashSim* sim = lash_sim_create(lash_lagrangian_system(pendulum), &set);
    good_steps(sim, (int)lround(0.2 / h));
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    double error = hypot(q[0] - 0.93900941496889366306, q[1] - 0.34389143432161270032);
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(pendulum);
    return error;
}

static void pendulum_is_of_second_order_with_impulses_at_the_midpoint(void** state) {
    (void)state;
    for (int k = 0; k < FAMILY; ++k) {
        double mid = slope(pendulum_error(&family[k], 0.002, LASH_AT_MIDPOINT),
                           pendulum_error(&family[k], 0.001, LASH_AT_MIDPOINT));
        double end = slope(pendulum_error(&family[k], 0.002, LASH_AT_END),
                           pendulum_error(&family[k], 0.001, LASH_AT_END));
        check("slope, midpoint", mid, 2, 0.1);
        check("slope, end", end, 1, 0.15);
    }
}

// Cuspidal top: m = 1, pivot to mass centre 0.2, J = (0.01, 0.01, 0.008) about the latter, 30
// degrees, 150 rad/s about its axis; spherical joint at the origin.
static LashSim* top(const Member* member, double h, int steps, LashMechanism** mech) {
    *mech = lash_mechanism_create();
    lash_mechanism_set_gravity(*mech, vec3(0, 0, -GRAVITY));
    LashBodyDef body = lash_body_def();
    Quat rot = quat_from_axis_angle(vec3(1, 0, 0), LASH_PI / 6);
    body.mass = 1;
    body.inertia = mat3_diagonal(0.01, 0.01, 0.008);
    body.world_body = pose(quat_rotate(rot, vec3(0, 0, 0.2)), rot);
    body.omega = vec3(0, 0, 150);
    LashJointDef joint = lash_joint_def();
    joint.type = LASH_SPHERICAL;
    joint.body_a = lash_mechanism_ground(*mech);
    joint.body_b = lash_mechanism_add_body(*mech, &body);
    joint.a_joint = pose_identity();
    joint.b_joint = pose(vec3(0, 0, -0.2), quat_identity());
    lash_mechanism_add_joint(*mech, &joint);
    LashSettings set = settings_of(member, h);
    LashSim* sim = lash_sim_create(lash_mechanism_system(*mech), &set);
    good_steps(sim, steps);
    return sim;
}

static void heavy_top_in_maximal_coordinates_reaches_a_known_state(void** state) {
    (void)state;
    static const double known_q[] = {1.57333970725058e-05, -0.100169140176168, 0.173107316052536,
                                     0.706658590828325,    0.189742585942539,  -0.176716609821625,
                                     0.658333218743758};
    static const double known_v[] = {0.00468900682952472, -0.0336671142883764, -0.0194818503255872,
                                     0.0371438174226561,  -0.192341969857946,  150};
    LashMechanism* mech;
    LashSim* sim = top(&family[2], 1e-3, 10, &mech);
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    for (int i = 0; i < 7; ++i) check("q", q[i], known_q[i], 1e-9);
    for (int i = 0; i < 6; ++i) check("v", v[i], known_v[i], 1e-8 * (1 + fabs(known_v[i])));
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

// The same top about its pivot, three angular velocities: a body that rests at the pivot with the inertia about it,
// (0.05, 0.05, 0.008), and its weight at the mass centre; what would move it is taken back at the pivot.
static LashMechanism* top_about_its_pivot(void) {
    LashMechanism* mech = lash_mechanism_create();
    LashBodyDef body = lash_body_def();
    body.mass = 1;
    body.inertia = mat3_diagonal(0.05, 0.05, 0.008);
    body.world_body.rot = quat_from_axis_angle(vec3(1, 0, 0), LASH_PI / 6);
    body.omega = vec3(0, 0, 150);
    LashForceDef force = lash_force_def();
    force.type = LASH_POINT_FORCE;
    force.body_b = lash_mechanism_add_body(mech, &body);
    force.name = "pivot";
    force.component[2].out = GRAVITY;
    lash_mechanism_add_force(mech, &force);
    force.name = "weight";
    force.b_point = vec3(0, 0, 0.2);
    force.component[2].out = -GRAVITY;
    lash_mechanism_add_force(mech, &force);
    return mech;
}

static void heavy_top_about_its_pivot_reaches_known_states(void** state) {
    (void)state;
    static const struct {
        Member member;
        double q[4], v[3];
    } known[] = {{{LASH_NEWMARK, NULL, 0},
                  {0.0682132847141363, 0.0187310983154728, -0.259991285441386, 0.963016420025609},
                  {-0.359498613048346, -0.144937489531096, 150}},
                 {{LASH_HHT, "alpha", 0.1},
                  {0.0682139132061134, 0.0187287503533458, -0.259987753918873, 0.963017374592759},
                  {-0.358711244248286, -0.144644744048901, 150}},
                 {{LASH_GENERALIZED_ALPHA, "spectral_radius", 0.8},
                  {0.0682134191998758, 0.0187305957681952, -0.259990638132576, 0.963016595031802},
                  {-0.359371927853553, -0.144897959169048, 150}},
                 {{LASH_GENERALIZED_ALPHA, "spectral_radius", 0},
                  {0.0682248452455731, 0.0186879163650486, -0.259953176484915, 0.963026727722836},
                  {-0.351160736439645, -0.140345301439382, 150}},
                 {{LASH_TRAPEZOIDAL, NULL, 0},
                  {0.0682125693585058, 0.0187337565249528, -0.260001489544054, 0.963013664068609},
                  {-0.361506417668952, -0.145811279909615, 150}}};
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k) {
        LashMechanism* mech = top_about_its_pivot();
        LashSettings set = settings_of(&known[k].member, 1e-3);
        LashSim* sim = lash_sim_create(lash_mechanism_system(mech), &set);
        good_steps(sim, 20);
        const double *q, *v;
        lash_sim_state(sim, &q, &v);
        for (int i = 0; i < 4; ++i) check("q", q[3 + i], known[k].q[i], 1e-9 * fabs(known[k].q[i]));
        for (int i = 0; i < 3; ++i) check("v", v[3 + i], known[k].v[i], 1e-9 * fabs(known[k].v[i]));
        lash_sim_destroy(sim);
        lash_mechanism_destroy(mech);
    }
}

static void heavy_top_in_maximal_coordinates_is_of_second_order(void** state) {
    (void)state;
    for (int k = 0; k < 3; ++k) { // Krenk-Hogsberg: gyroscopic forces are not of the potential
        double at[3][3];
        for (int i = 0; i < 3; ++i) {
            double h = i == 2 ? 5e-5 : 1e-3 / (1 << i);
            LashMechanism* mech;
            LashSim* sim = top(&family[k], h, (int)lround(0.1 / h), &mech);
            const double *q, *v;
            lash_sim_state(sim, &q, &v);
            memcpy(at[i], q, sizeof at[i]);
            lash_sim_destroy(sim);
            lash_mechanism_destroy(mech);
        }
        double error[2] = {0};
        for (int i = 0; i < 2; ++i) {
            for (int c = 0; c < 3; ++c) error[i] += (at[i][c] - at[2][c]) * (at[i][c] - at[2][c]);
        }
        check("slope", slope(sqrt(error[0]), sqrt(error[1])), 2, 0.1);
    }
}

static void ideal_slider_crank(const Member* member, double h, int steps, double q[2],
                               double v[2]) {
    LashPaperSliderCrank data = lash_paper_crank();
    data.ideal = true;
    data.mu = 0;
    LashLagrangian* crank = lash_paper_slider_crank(&data);
    LashSettings set = settings_of(member, h);
    LashSim* sim = lash_sim_create(lash_lagrangian_system(crank), &set);
    good_steps(sim, steps);
    const double *at_q, *at_v;
    lash_sim_state(sim, &at_q, &at_v);
    memcpy(q, at_q, 2 * sizeof *q);
    memcpy(v, at_v, 2 * sizeof *v);
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(crank);
}

static void ideal_slider_crank_reaches_known_states_with_second_order(void** state) {
    (void)state;
    static const double known[3][4] = {
        {0.576006525324687, -0.275822941366629, 85.4684769375711, -37.2467070040719},
        {0.576007024625036, -0.275823121535073, 85.4691850545418, -37.2470054184704},
        {0.576006556570748, -0.275822908848714, 85.4686009190718, -37.2467599358693}};
    for (int k = 0; k < 3; ++k) {
        double q[2], v[2], angle[3];
        ideal_slider_crank(&family[k], 1e-4, 50, q, v);
        for (int i = 0; i < 2; ++i) {
            check("q", q[i], known[k][i], 1e-9);
            check("v", v[i], known[k][2 + i], 1e-9 * fabs(known[k][2 + i]));
        }
        for (int i = 0; i < 3; ++i) {
            double h = i == 2 ? 2e-6 : 1e-4 / (1 << i);
            ideal_slider_crank(&family[k], h, (int)lround(0.02 / h), q, v);
            angle[i] = q[0];
        }
        check("slope", slope(angle[0] - angle[2], angle[1] - angle[2]), 2, 0.1);
    }
}

// Forced and damped: the weighting of Krenk and Hogsberg costs an order.
static void damping_costs_krenk_hogsberg_an_order(void** state) {
    (void)state;
    double end[2][3];
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < 3; ++i) {
            double h = i == 2 ? 1e-5 : 2e-3 / (1 << i);
            LashPaperOscillator data = lash_paper_oscillator();
            data.stiffness = 100;
            data.damping = 2;
            data.wall = -100;
            LashLagrangian* model = lash_paper_linear_oscillator(&data);
            LashSettings set = settings_of(&family[2 + k], h);
            LashSim* sim = lash_sim_create(lash_lagrangian_system(model), &set);
            good_steps(sim, (int)lround(1 / h));
            const double *q, *v;
            lash_sim_state(sim, &q, &v);
            end[k][i] = q[0];
            lash_sim_destroy(sim);
            lash_lagrangian_destroy(model);
        }
    }
    check("generalized-alpha", slope(end[0][0] - end[0][2], end[0][1] - end[0][2]), 2, 0.1);
    check("krenk-hogsberg", slope(end[1][0] - end[1][2], end[1][1] - end[1][2]), 1, 0.25);
}

// ---- Activation ---------------------------------------------------------------------------------

// Ballard's ball, h = 0.00505: with the set of the paper, g(q + h v) <= 0 and U <= 0, it never rests.
static void rest_after_an_accumulation_depends_on_the_forecast(void** state) {
    (void)state;
    static const struct {
        LashForecast forecast;
        double gamma, penetration, speed;
    } known[] = {{LASH_FORECAST_END, 0.5, 0.00332475657117, 0.00673333333333},
                 {LASH_FORECAST_FREE, 0.5, 0.00232475749999, 0},
                 {LASH_FORECAST_EXPLICIT, 0, 0.01246200125, 0},
                 {LASH_FORECAST_EXPLICIT, 0.5, 0.00358713125, 0}};
    LashPaperBall data = lash_paper_ball();
    for (int k = 0; k < FAMILY; ++k) {
        for (size_t f = 0; f < sizeof known / sizeof *known; ++f) {
            LashLagrangian* ball = lash_paper_bouncing_ball(&data);
            LashSettings set = settings_of(&family[k], 0.00505);
            set.forecast = known[f].forecast;
            set.gamma = known[f].gamma;
            LashSim* sim = lash_sim_create(lash_lagrangian_system(ball), &set);
            double lowest = 0, fastest = 0;
            for (int i = 0; i < 990; ++i) {
                const double *q, *v;
                good_steps(sim, 1);
                lash_sim_state(sim, &q, &v);
                lowest = fmax(lowest, -q[0]);
                if (i >= 950) fastest = fmax(fastest, fabs(v[0]));
            }
            check("penetration", lowest, known[f].penetration, 1e-10);
            check("speed at rest", fastest, known[f].speed, 1e-10);
            lash_sim_destroy(sim);
            lash_lagrangian_destroy(ball);
        }
    }
}

// e = 0.4, no friction, 0.1 s, forecast end.
static void slider_crank_with_play_reaches_known_states(void** state) {
    (void)state;
    static const struct {
        int member;
        double h, angle, speed, violation;
    } known[] = {{0, 2e-4, 9.05262127515366, 139.391201226915, 2.75925293057736e-05},
                 {1, 1e-4, 9.04673979139036, 139.06237683846, 1.64244912240646e-05},
                 {2, 2e-4, 9.05263176004078, 139.391183587653, 2.75216879102183e-05},
                 {2, 1e-4, 9.04658289635559, 139.020064111807, 1.5700361494014e-05},
                 {2, 5e-5, 9.04478877459139, 138.930182296682, 8.13179495238558e-06}};
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k) {
        LashPaperSliderCrank data = lash_paper_crank();
        data.e = 0.4;
        data.mu = 0;
        LashLagrangian* crank = lash_paper_slider_crank(&data);
        LashSettings set = settings_of(&family[known[k].member], known[k].h);
        LashSim* sim = lash_sim_create(lash_lagrangian_system(crank), &set);
        double violation = 0;
        for (int i = 0; i < (int)lround(0.1 / known[k].h); ++i) {
            LashStepInfo info = lash_sim_step(sim);
            assert_int_equal(info.outcome, LASH_CONVERGED);
            violation = fmax(violation, info.penetration);
        }
        const double *q, *v;
        lash_sim_state(sim, &q, &v);
        check("angle", q[0], known[k].angle, 1e-8);
        check("speed", v[0], known[k].speed, 1e-5);
        check("violation", violation, known[k].violation, 1e-9);
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(crank);
    }
}

// ---- Settings -----------------------------------------------------------------------------------

static void options_are_those_that_the_scheme_declares(void** state) {
    (void)state;
    LashError error = {0};
    LashSettings set = settings_of(&family[1], 0.01);
    assert_true(lash_settings_check(&set, &error));
    assert_null(lash_settings_unused(&set));
    lash_settings_set(&set, "alpha", 0.34);
    assert_false(lash_settings_check(&set, &error));
    assert_string_equal(error.where, "simulation.alpha");
    set = settings_of(&family[1], 0.01);
    lash_settings_set(&set, "spectral_radius", 0.8); // the default of others, given nevertheless
    assert_string_equal(lash_settings_unused(&set), "spectral_radius");
    assert_false(lash_settings_set(&set, "nothing", 1));
    assert_true(isnan(lash_settings_option(&set, "spectral_radius")));
    set.scheme = LASH_GENERALIZED_ALPHA;
    set.option[0] = set.option[1] = NAN;
    assert_true(lash_settings_option(&set, "spectral_radius") == 0.8);
    char list[200];
    lash_scheme_list("spectral_radius", list, sizeof list);
    assert_string_equal(list, "generalized-alpha or krenk-hogsberg");
}

static void krenk_hogsberg_refuses_systems_without_the_split(void** state) {
    (void)state;
    LashLagrangianDef def = lash_lagrangian_def();
    def.n = 2;
    def.constant_mass = true;
    def.mass = unit_mass;
    def.force = force;
    LashLagrangian* model = lash_lagrangian_create(&def);
    LashSettings set = settings_of(&family[3], 0.01);
    LashError error = {0};
    assert_false(lash_settings_fit(&set, lash_lagrangian_system(model), &error));
    assert_non_null(strstr(error.message, "forces of the potential apart"));
    set.scheme = LASH_GENERALIZED_ALPHA;
    assert_true(lash_settings_fit(&set, lash_lagrangian_system(model), &error));
    lash_lagrangian_destroy(model);
}

RUN(TEST(two_masses_and_a_wall_reach_known_states),
    TEST(energy_identities_hold_with_friction_under_both_laws),
    TEST(energy_identities_hold_with_joints_and_filters),
    TEST(pendulum_is_of_second_order_with_impulses_at_the_midpoint),
    TEST(heavy_top_in_maximal_coordinates_reaches_a_known_state),
    TEST(heavy_top_about_its_pivot_reaches_known_states),
    TEST(heavy_top_in_maximal_coordinates_is_of_second_order),
    TEST(ideal_slider_crank_reaches_known_states_with_second_order),
    TEST(damping_costs_krenk_hogsberg_an_order),
    TEST(rest_after_an_accumulation_depends_on_the_forecast),
    TEST(slider_crank_with_play_reaches_known_states),
    TEST(options_are_those_that_the_scheme_declares),
    TEST(krenk_hogsberg_refuses_systems_without_the_split))
