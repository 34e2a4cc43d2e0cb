// Claims of [A12] Acary, RR-8029: slider-crank with play in the joint of crank and
// rod; the circuit breaker.
#include <math.h>

#include "app/run/drive.h"
#include "app/verify/runs.h"
#include "core/arena.h"
#include "core/math3.h"
#include "joints/mechanism.h"

static const double L1 = 0.153, L2 = 0.306, SPEED = 150; // [m, m, rad/s]

static LashBodyId add_body(LashMechanism* mech, const char* name, double mass, double J, double x,
                           double vy, double spin) {
    LashBodyDef body = lash_body_def();
    body.name = name;
    body.mass = mass;
    body.inertia = (Mat3){{J, 0, 0, 0, J, 0, 0, 0, J}}; // only the last one moves
    body.world_body.r = (Vec3){x, 0, 0};
    body.velocity = (Vec3){0, vy, 0};
    body.omega = (Vec3){0, 0, spin};
    return lash_mechanism_add_body(mech, &body);
}

static void add_joint(LashMechanism* mech, LashJointType type, const char* name, LashBodyId a,
                      LashBodyId b, double a_x, double b_x, double play) {
    LashJointDef joint = lash_joint_def();
    joint.type = type;
    joint.name = name;
    joint.body_a = a;
    joint.body_b = b;
    joint.a_joint.r = (Vec3){a_x, 0, 0};
    joint.b_joint.r = (Vec3){b_x, 0, 0};
    if (type == LASH_PRISMATIC) // z of the frames along the guide
        joint.a_joint.rot = joint.b_joint.rot = quat_from_axis_angle((Vec3){0, 1, 0}, LASH_PI / 2);
    joint.clearance.play = play;
    joint.clearance.radius = 0.008;
    joint.clearance.bore_length = 0.01;
    joint.clearance.pin_length = INFINITY;
    joint.clearance.outer_b = true;
    joint.clearance.mu = 0.01;
    lash_mechanism_add_joint(mech, &joint);
}

// Crank, rod and slider in one line; the slider's guide is ideal.
static LashMechanism* make_crank(double play) {
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, (Vec3){0, -9.81, 0});
    double rod_spin = -SPEED * L1 / L2, tip = SPEED * L1;
    LashBodyId ground = lash_mechanism_ground(mech);
    LashBodyId crank = add_body(mech, "crank", 0.038, 7.4e-5, L1 / 2, tip / 2, SPEED);
    LashBodyId rod = add_body(mech, "rod", 0.038, 5.9e-4, L1 + L2 / 2, tip / 2, rod_spin);
    LashBodyId slider = add_body(mech, "slider", 0.076, 2.7e-6, L1 + L2, 0, 0);
    add_joint(mech, LASH_REVOLUTE, "bearing", ground, crank, 0, -L1 / 2, 0);
    add_joint(mech, LASH_REVOLUTE, "crank_pin", crank, rod, L1 / 2, -L2 / 2, play);
    add_joint(mech, LASH_REVOLUTE, "piston_pin", rod, slider, L2 / 2, 0, 0);
    add_joint(mech, LASH_PRISMATIC, "guide", ground, slider, L1 + L2, 0, 0);
    return mech;
}

static void make_run(LashScheme scheme, double play, double h, PlayRun* run) {
    LashMechanism* mech = make_crank(play);
    LashSettings set = verify_settings(scheme, h);
    if (scheme == LASH_MOREAU_JEAN) {
        set.direction = LASH_AT_START;
        set.forecast = LASH_FORECAST_EXPLICIT;
        set.gamma = 0.5;
    } else {
        set.max_substeps = 64;
    }
    LashSim* sim = verify_sim(lash_mechanism_system(mech), &set);
    *run = (PlayRun){.lost = NAN};
    bool touched = false;
    long n = lround(0.3 / h); // plastic impacts slow it down: two turns take longer than 84 ms
    AppSteps steps = app_steps(sim, n);
    while (isnan(run->lost) && run->turns < 2 && app_steps_next(&steps)) {
        const double *q, *v;
        lash_sim_state(sim, &q, &v);
        touched = touched || steps.info.contacts > 0;
        if (!touched) run->before = fmax(run->before, fabs(v[5] / SPEED - 1));
        double off = lash_mechanism_joint_play(mech, 1, q).eccentricity;
        run->violation = fmax(run->violation, off - play);
        if (off > 2 * play) run->lost = lash_sim_time(sim);
        run->turns =
            lash_mechanism_joint_coordinate(mech, lash_sim_work(sim), 0, 0, q) / (2 * LASH_PI);
        int frame = (int)(PLAY_FRAMES * (steps.done - 1) / n);
        run->turn[frame] = run->turns;
        run->eccentricity[frame] = off / play;
        run->crank[frame] = v[5];
        run->rod[frame] = v[11];
        run->slider[frame] = q[14];
        run->slider_speed[frame] = v[12];
        run->frames = frame + 1;
    }
    run->failed = steps.failed;
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

const PlayRun* play_run(Cache* cache, LashScheme scheme, double play, double h) {
    double number[2] = {play, h};
    uint64_t key = cache_key(0, "play", 4);
    key = cache_key(key, &scheme, sizeof scheme);
    key = cache_key(key, number, sizeof number);
    PlayRun* run = cache_find(cache, key);
    if (run != NULL) return run;
    run = lash_alloc(sizeof *run);
    make_run(scheme, play, h, run);
    cache_keep(cache, key, run, NULL);
    return run;
}

// A hundred times finer steps keep the joint with Moreau-Jean too.
static void check_fine(Verdict* verdict, double play) {
    const PlayRun* fine = play_run(verdict->cache, LASH_MOREAU_JEAN, play, 1e-7);
    verdict_add(verdict, !fine->failed && isnan(fine->lost) && fine->turns >= 2,
                "r=%g, Moreau-Jean at h=1e-7: violation %.1e m over %.2f turns", play,
                fine->violation, fine->turns);
}

static void a48_play(Verdict* verdict) {
    static const double play[2] = {5e-4, 5e-3};
    for (int i = 0; i < 2; ++i) {
        double h = 1e-5;
        const PlayRun *plain = play_run(verdict->cache, LASH_MOREAU_JEAN, play[i], h),
                      *combined = play_run(verdict->cache, LASH_COMBINED, play[i], h);
        bool bad = plain->failed || !isnan(plain->lost) || plain->violation > 0.1 * h;
        const char* end = isnan(plain->lost) ? "" : ", joint lost";
        verdict_add(verdict, bad && plain->before <= 0.01, "r=%g, Moreau-Jean: violation %.1e m%s",
                    play[i], plain->violation, plain->failed ? ", a step fails" : end);
        verdict_add(verdict,
                    !combined->failed && combined->violation <= 1e-10 && combined->turns >= 2 &&
                        combined->before <= 0.01,
                    "combined: violation %.1e m over %.2f turns, speed before contact to %.1e",
                    combined->violation, combined->turns, combined->before);
        if (verdict->all) check_fine(verdict, play[i]);
    }
}

static const Claim claims[] = {
    {"A-48", "figures 28 to 30", "slider-crank with play of 5e-4 and 5e-3 m between crank and rod",
     "Moreau-Jean loses the joint before the end of turn 2, Algorithm 2 does not",
     "h=1e-5: Moreau-Jean loses it, fails or violates by more than h/10; combined within 1e-10 m "
     "for two "
     "turns; speed constant to 1 % before the first contact",
     NULL, false, a48_play},
    {"A-49", "6.5", "circuit breaker C60: 7 bodies, 12 contacts", "a simulation", "-",
     "the paper gives no data; models/circuit_breaker is a design of our own after its topology",
     false, NULL},
};

ClaimTable verify_play(void) {
    return (ClaimTable){"Acary, RR-8029", claims, sizeof claims / sizeof *claims};
}
