// Tracks: a Run, looked at after every step.
#include "app/verify/track.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "app/verify/potra_systems.h"
#include "core/arena.h"
#include "core/math3.h"

static size_t data_size(TrackSystem system) {
    switch (system) {
        case TRACK_BALL:
            return sizeof(LashPaperBall);
        case TRACK_BLOCK:
            return sizeof(LashPaperBlock);
        case TRACK_CRANK:
            return sizeof(LashPaperSliderCrank);
        case TRACK_STICK:
            return sizeof(LashPaperStick);
        case TRACK_ROLLER:
            return sizeof(LashPaperRoller);
        case TRACK_CARTS:
            return sizeof(PotraCarts);
        case TRACK_DOUBLE_PENDULUM:
        case TRACK_TABLE_BLOCK:
            break;
    }
    return 0;
}

static LashLagrangian* create(const TrackCase* what) {
    switch (what->system) {
        case TRACK_BALL:
            return lash_paper_bouncing_ball(what->data);
        case TRACK_BLOCK:
            return lash_paper_rocking_block(what->data);
        case TRACK_CRANK:
            return lash_paper_slider_crank(what->data);
        case TRACK_STICK:
            return lash_paper_impacting_stick(what->data);
        case TRACK_ROLLER:
            return lash_paper_slider_on_roller(what->data);
        case TRACK_DOUBLE_PENDULUM:
            return potra_double_pendulum();
        case TRACK_TABLE_BLOCK:
            return potra_block();
        case TRACK_CARTS:
            return potra_carts(what->data);
    }
    return NULL;
}

static double* column(int capacity) {
    return lash_alloc((size_t)capacity * sizeof(double));
}

static void make_columns(Track* track, int capacity) {
    track->t = column(capacity);
    for (int i = 0; i < track->n; ++i) {
        track->q[i] = column(capacity);
        track->v[i] = column(capacity);
    }
    for (int c = 0; c < track->contacts; ++c) {
        track->gap[c] = column(capacity);
        track->U[c] = column(capacity);
        track->P[c] = column(capacity);
        track->P_t[c] = column(capacity);
    }
    double** other[] = {&track->kinetic, &track->potential, &track->energy, &track->work_n,
                        &track->work_t,  &track->external,  &track->tau,    &track->penetration};
    for (size_t i = 0; i < sizeof other / sizeof *other; ++i) *other[i] = column(capacity);
}

static void release(void* value) {
    Track* track = value;
    lash_free(track->t);
    for (int i = 0; i < track->n; ++i) {
        lash_free(track->q[i]);
        lash_free(track->v[i]);
    }
    for (int c = 0; c < track->contacts; ++c) {
        lash_free(track->gap[c]);
        lash_free(track->U[c]);
        lash_free(track->P[c]);
        lash_free(track->P_t[c]);
    }
    double* other[] = {track->kinetic, track->potential, track->energy, track->work_n,
                       track->work_t,  track->external,  track->tau,    track->penetration};
    for (size_t i = 0; i < sizeof other / sizeof *other; ++i) lash_free(other[i]);
}

static void add_point(Track* track, const Run* run, double theta, double penetration) {
    int k = track->points++;
    LashEnergy energy = lash_sim_energy(run->sim);
    track->t[k] = run->t;
    for (int i = 0; i < track->n; ++i) {
        track->q[i][k] = run->q[i];
        track->v[i][k] = run->v[i];
    }
    for (int c = 0; c < track->contacts; ++c) {
        track->gap[c][k] = run->gap[c];
        track->U[c][k] = run->U[c];
        track->P[c][k] = run->P[c];
        track->P_t[c][k] = run->P_t[c];
    }
    track->kinetic[k] = energy.kinetic;
    track->potential[k] = energy.potential;
    track->energy[k] = energy.kinetic + energy.potential;
    track->work_n[k] = energy.contact_work_n;
    track->work_t[k] = energy.contact_work_t;
    track->external[k] = energy.external_work;
    track->tau[k] = k > 0 ? run_projected(run, theta) : 0;
    track->penetration[k] = penetration;
}

static void count_impacts(Track* track, const LashSim* sim, double h, double* last) {
    const double slow = 1e-2; // [m/s] below it an impact belongs to an accumulation
    int events;
    const LashEvent* event = lash_sim_events(sim, &events);
    for (int i = 0; i < events; ++i) {
        bool fast = event[i].kind == LASH_EVENT_IMPACT && event[i].U_before[0] < -slow;
        if (!fast || event[i].t < *last + 2 * h) continue;
        *last = event[i].t;
        if (track->impacts < 8) {
            track->first_impact[track->impacts] = event[i].t;
            track->impact_step[track->impacts] = event[i].h;
        }
        ++track->impacts;
    }
}

static void take_sums(Track* track, const Run* run) {
    track->violation = run->violation;
    track->steps = run->steps;
    track->newton = run->newton;
    track->projection = run->projection;
    track->index_set = run->index_set;
    track->newton_max = run->newton_max;
    track->projection_max = run->projection_max;
    track->index_set_max = run->index_set_max;
    track->failed = run->failed;
}

static Track* make(const TrackCase* what) {
    Run run = run_begin(create(what), &what->set);
    long steps = lround(what->T / what->set.h);
    Track* track = lash_alloc(sizeof *track);
    *track = (Track){.n = run.system->nv, .contacts = run.contacts};
    LASH_ASSERT(track->n <= TRACK_COORDINATES && track->contacts <= TRACK_CONTACTS);
    make_columns(track, (int)(steps / what->stride) + 2);
    add_point(track, &run, what->set.theta, 0);
    clock_t start = clock();
    double penetration = 0, last = -INFINITY;
    for (long k = 1; k <= steps && run_step(&run); ++k) {
        for (int c = 0; c < run.contacts; ++c) penetration = fmax(penetration, -run.gap[c]);
        count_impacts(track, run.sim, what->set.h, &last);
        if (k % what->stride != 0 && k != steps) continue;
        add_point(track, &run, what->set.theta, penetration);
        penetration = 0;
    }
    track->seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    take_sums(track, &run);
    run_end(&run);
    return track;
}

const Track* track_of(Cache* cache, const TrackCase* what) {
    uint64_t key = cache_key(0, "track", 5);
    key = cache_key(key, &what->system, sizeof what->system);
    if (what->data != NULL) key = cache_key(key, what->data, data_size(what->system));
    key = cache_key(key, &what->set, sizeof what->set);
    key = cache_key(key, &what->T, sizeof what->T);
    key = cache_key(key, &what->stride, sizeof what->stride);
    Track* track = cache_find(cache, key);
    if (track != NULL) return track;
    track = make(what);
    cache_keep(cache, key, track, release);
    return track;
}

double track_slider_x(const Track* track, int point) {
    LashPaperSliderCrank d = lash_paper_crank();
    return d.l1 * cos(track->q[0][point]) + d.l2 * cos(track->q[1][point]);
}

double track_slider_y(const Track* track, int point) {
    LashPaperSliderCrank d = lash_paper_crank();
    return d.l1 * sin(track->q[0][point]) + d.l2 * sin(track->q[1][point]);
}

double track_turns(const Track* track, int point) {
    return track->q[0][point] / (2 * LASH_PI);
}
