// Claims of [A12] Acary, RR-8029: a rod hooked inside a turning ring.
#include <math.h>

#include "app/run/drive.h"
#include "app/verify/runs.h"
#include "core/arena.h"
#include "core/math3.h"
#include "joints/mechanism.h"

static const double R = 1, GAP = 0.01, HALF = 0.775; // ring, fall, half length of the rod [m]

static LashMechanism* make_ring(void) {
    LashMechanism* mech = lash_mechanism_create();
    lash_mechanism_set_gravity(mech, (Vec3){0, 0, -9.81});
    LashBodyDef body = lash_body_def();
    body.name = "ring";
    body.mass = 1;
    body.inertia = (Mat3){{0.4001, 0, 0, 0, 0.8, 0, 0, 0, 0.4001}};
    body.omega = (Vec3){0, 10, 0};
    LashBodyId ring = lash_mechanism_add_body(mech, &body);
    body = lash_body_def();
    body.name = "rod";
    body.mass = 5;
    body.inertia = (Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 0.01}};
    body.world_body.r = (Vec3){0, 0, -R + GAP - HALF};
    LashBodyId rod = lash_mechanism_add_body(mech, &body);
    // z of both frames along the world's y
    Pose along_y = pose_identity();
    along_y.rot = quat_from_axis_angle((Vec3){1, 0, 0}, -2 * atan(1));
    LashJointDef axle = lash_joint_def();
    axle.type = LASH_REVOLUTE;
    axle.name = "axle";
    axle.body_a = lash_mechanism_ground(mech);
    axle.body_b = ring;
    axle.a_joint = axle.b_joint = along_y;
    lash_mechanism_add_joint(mech, &axle);
    LashContactDef hook = lash_contact_def();
    hook.name = "hook";
    hook.body_a = ring;
    hook.body_b = rod;
    hook.a_type = LASH_FEATURE_CYLINDER;
    hook.a_frame = along_y;
    hook.a_radius = R;
    hook.inside = true;
    hook.b_type = LASH_FEATURE_SPHERE;
    hook.b_frame.r = (Vec3){0, 0, HALF};
    hook.mu = 0.3;
    lash_mechanism_add_contact(mech, &hook);
    return mech;
}

static void make_run(LashScheme scheme, LashDirection direction, double duration, RingRun* run) {
    LashMechanism* mech = make_ring();
    LashSettings set = verify_explicit(scheme, 5e-4, 0);
    set.direction = direction;
    LashSim* sim = verify_sim(lash_mechanism_system(mech), &set);
    *run = (RingRun){.first_time = NAN, .lost = NAN};
    double before = GAP;
    AppSteps steps = app_steps(sim, lround(duration / set.h));
    while (isnan(run->lost) && app_steps_next(&steps)) {
        const double* q;
        const double* v;
        lash_sim_state(sim, &q, &v);
        double gap = lash_mechanism_contact_place(mech, 0, q).gap;
        int events;
        const LashEvent* event = lash_sim_events(sim, &events);
        for (int i = 0; i < events && isnan(run->first_time); ++i) {
            if (event[i].kind != LASH_EVENT_IMPACT) continue;
            run->first_time = event[i].t;
            run->first_speed = -event[i].U_before[0];
            run->first_gap = gap;
        }
        const LashInteractionList* list = lash_sim_interactions(sim);
        bool pushes = false;
        for (int i = list->bilateral; i < list->count; ++i)
            pushes = pushes || lash_sim_impulses(sim)[list->item[i].row] > 0;
        if (pushes) {
            run->closed = fmax(run->closed, fabs(gap));
            run->recovered += before < -1e-9 && gap > before + 1e-9;
        }
        run->lowest = fmin(run->lowest, gap);
        if (gap < -2e-3) run->lost = lash_sim_time(sim); // through the ring
        if (run->frames < RING_FRAMES) {
            run->t[run->frames] = lash_sim_time(sim);
            run->gap[run->frames++] = 1e3 * gap;
        }
        before = gap;
    }
    run->failed = steps.failed;
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
}

const RingRun* ring_run(Cache* cache, LashScheme scheme) {
    LashDirection direction = scheme == LASH_MOREAU_JEAN ? LASH_AT_START : LASH_AT_MIDPOINT;
    uint64_t key = cache_key(0, "ring", 4);
    key = cache_key(key, &scheme, sizeof scheme);
    RingRun* run = cache_find(cache, key);
    if (run != NULL) return run;
    run = lash_alloc(sizeof *run);
    make_run(scheme, direction, 2, run);
    cache_keep(cache, key, run, NULL);
    return run;
}

static void a34_first_contact(Verdict* verdict) {
    const RingRun* run = ring_run(verdict->cache, LASH_MOREAU_JEAN);
    double exact = sqrt(2 * GAP / 9.81), h = 5e-4;
    verdict_add(verdict, !run->failed && fabs(run->first_time - exact) <= 2 * h,
                "first contact in the step from %.4f s (exact %.6f)", run->first_time, exact);
    verdict_add(verdict, fabs(run->first_speed - 9.81 * exact) <= 9.81 * 2 * h,
                "speed %.4f m/s (exact %.5f)", run->first_speed, 9.81 * exact);
    verdict_add(verdict, -run->first_gap <= 1.5 * 9.81 * exact * h, "penetration %.2e m",
                -run->first_gap);
}

static void a35_drift(Verdict* verdict) {
    const RingRun *plain = ring_run(verdict->cache, LASH_MOREAU_JEAN),
                  *combined = ring_run(verdict->cache, LASH_COMBINED);
    verdict_add(verdict, !plain->failed && !isnan(plain->lost),
                "Moreau-Jean: through the 2 mm of the ring after %.3f s", plain->lost);
    verdict_add(verdict, plain->recovered == 0, "steps in contact that undo penetration: %d",
                plain->recovered);
    verdict_add(verdict, !combined->failed && combined->closed <= 1e-10 && isnan(combined->lost),
                "combined: |g| <= %.1e m while P > 0 over 2 s", combined->closed);
}

static const Claim claims[] = {
    {"A-34", "6.3", "pendulum in a ring: first contact", "falls 1 cm: 0.045152 s, 0.44294 m/s",
     "time and speed within 2 steps; first penetration at most 1.5 v h = 3.3e-4 m",
     "inertias are printed in kg/m^2", false, a34_first_contact},
    {"A-35", "figures 19, 20", "Moreau-Jean drifts out of the ring, Algorithm 2 does not",
     "contact lost; below machine precision",
     "Moreau-Jean never recovers and passes the ring; combined |g| <= 1e-10 m while P > 0", NULL,
     false, a35_drift},
};

ClaimTable verify_ring(void) {
    return (ClaimTable){"Acary, RR-8029", claims, sizeof claims / sizeof *claims};
}
