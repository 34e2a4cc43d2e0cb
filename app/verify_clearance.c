// Claims of [A12] Acary, RR-8029, sections 6.4.3 and 6.5: the slider-crank with play
// in the joint of crank and rod, e = 0, mu = 0.01, in space: a pin in a bore, both ends.
#include <math.h>

#include "app/verify_internal.h"
#include "core/math3.h"
#include "joints/mechanism.h"

static const double PIN = 0.01, LENGTH = 0.02; // radius of the pin, length of the bore [m]
static const double STEP = 1e-5, END = 0.0838; // [s]; two revolutions at 150 rad/s

static LashBodyId add_body(LashMechanism* mech, double mass, Mat3 inertia, double x, double vy,
                           double omega) {
    LashBodyDef def = lash_body_def();
    def.mass = mass, def.inertia = inertia;
    def.world_body = pose(vec3(x, 0, 0), quat_identity());
    def.velocity = vec3(0, vy, 0), def.omega = vec3(0, 0, omega);
    return lash_mechanism_add_body(mech, &def);
}

static void join(LashMechanism* mech, LashJointType type, LashBodyId a, LashBodyId b, double x_a,
                 double x_b, double play) {
    LashJointDef def = lash_joint_def();
    Quat axis =
        type == LASH_PRISMATIC ? quat_from_axis_angle(vec3(0, 1, 0), LASH_PI / 2) : quat_identity();
    def.type = type, def.body_a = a, def.body_b = b;
    def.a_joint = pose(vec3(x_a, 0, 0), axis), def.b_joint = pose(vec3(x_b, 0, 0), axis);
    def.clearance.play = play, def.clearance.radius = PIN, def.clearance.bore_length = LENGTH;
    def.clearance.mu = play > 0 ? 0.01 : 0;
    lash_mechanism_add_joint(mech, &def);
}

static LashMechanism* slider_crank(double play) {
    LashPaperSliderCrank d = lash_paper_crank();
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, vec3(0, -d.gravity, 0));
    LashBodyId ground = lash_mechanism_ground(mech);
    LashBodyId crank =
        add_body(mech, d.m1, mat3_diagonal(2e-6, d.J1, d.J1), d.l1 / 2, d.l1 / 2 * d.v[0], d.v[0]);
    LashBodyId rod = add_body(mech, d.m2, mat3_diagonal(2e-6, d.J2, d.J2), d.l1 + d.l2 / 2,
                              -d.l2 / 2 * d.v[1], d.v[1]);
    LashBodyId slider = add_body(mech, d.m3, mat3_diagonal(d.J3, d.J3, d.J3), d.l1 + d.l2, 0, 0);
    join(mech, LASH_REVOLUTE, ground, crank, 0, -d.l1 / 2, 0);
    join(mech, LASH_REVOLUTE, crank, rod, d.l1 / 2, -d.l2 / 2, play);
    join(mech, LASH_REVOLUTE, rod, slider, d.l2 / 2, 0, 0);
    join(mech, LASH_PRISMATIC, ground, slider, d.l1 + d.l2, 0, 0);
    return mech;
}

typedef struct Motion {
    double time;         // reached [s]
    double eccentricity; // largest [m]
    double penetration;  // largest [m]
    double before;       // largest |omega - omega(0)| of the crank before the first contact [rad/s]
    bool converged;
} Motion;

static Motion move(double play, LashScheme scheme, LashDirection direction, double h, double end) {
    LashMechanism* mech = slider_crank(play);
    LashSettings set = verify_settings(scheme, h);
    set.direction = direction;
    set.max_substeps = 64;
    LashSim* sim = lash_sim_create(lash_mechanism_system(mech), &set);
    Motion m = {.converged = true};
    bool touched = false;
    for (long k = 0, n = lround(end / h); k < n && m.converged; ++k) {
        LashStepInfo info = lash_sim_step(sim);
        m.converged = info.outcome == LASH_CONVERGED;
        const double *q, *v;
        lash_sim_state(sim, &q, &v);
        m.eccentricity = fmax(m.eccentricity, lash_mechanism_joint_play(mech, 1, q).eccentricity);
        m.penetration = fmax(m.penetration, info.penetration);
        touched = touched || info.contacts > 0;
        if (!touched) m.before = fmax(m.before, fabs(v[5] - 150));
    }
    m.time = lash_sim_time(sim);
    lash_sim_destroy(sim), lash_mechanism_destroy(mech);
    return m;
}

static void a48_play(Verdict* verdict) {
    const double play[2] = {5e-4, 5e-3};
    for (int k = 0; k < 2; ++k) {
        Motion m = move(play[k], LASH_COMBINED, LASH_AT_MIDPOINT, STEP, END);
        verdict_add(verdict, m.converged && m.penetration <= 1e-10,
                    "play %g m: Algorithm 2 keeps the pin in its bore to %.1e m", play[k],
                    m.penetration);
        verdict_add(verdict, m.before <= 1.5, "crank speed off by %.2g %% before the first contact",
                    m.before / 1.5);
        Motion mj = move(play[k], LASH_MOREAU_JEAN, LASH_AT_START, STEP, END);
        verdict_add(verdict, !mj.converged || mj.eccentricity > 1.05 * play[k],
                    "Moreau-Jean: pin %.2f plays off its middle by %.3g s",
                    mj.eccentricity / play[k], mj.time);
    }
    Motion coarse = move(5e-4, LASH_MOREAU_JEAN, LASH_AT_START, STEP, 0.002);
    Motion fine = move(5e-4, LASH_MOREAU_JEAN, LASH_AT_START, 0.1 * STEP, 0.002);
    verdict_add(verdict, fine.penetration < 0.2 * coarse.penetration,
                "Moreau-Jean violates by %.1e m at h=1e-5, %.1e at 1e-6 (2 ms)", coarse.penetration,
                fine.penetration);
}

static const Claim claims[] = {
    {"A-48", "figures 28-30", "play 5e-4 and 5e-3 m between crank and rod, h = 1e-5",
     "speeds constant until the first plastic impact; Moreau-Jean loses the joint, Algorithm 2 "
     "does "
     "not",
     "speed within 1 %; Algorithm 2: gap >= -1e-10 m for two revolutions; Moreau-Jean: outside the "
     "play, O(h)",
     "a pin of radius 10 mm in a bore of 20 mm length, in space; Moreau-Jean with rows and "
     "impulses "
     "at the start of the step, without projection",
     false, a48_play},
    {"A-49", "6.5", "circuit breaker of 7 bodies and 12 contacts", "pictures", "-",
     "the paper gives no data of the C60 breaker; models/circuit_breaker is an own design", false,
     NULL},
};

ClaimTable verify_clearance(void) {
    return (ClaimTable){"Acary, RR-8029", claims, sizeof claims / sizeof *claims};
}
