// Runs of the papers' small systems, kept step by step: what the figures draw and their claims judge.
#ifndef LASH_APP_VERIFY_TRACK_H
#define LASH_APP_VERIFY_TRACK_H

#include "app/verify/cache.h"
#include "app/verify/verify_internal.h"

typedef enum TrackSystem { // data of its type in paper_systems.h, potra_systems.h
    TRACK_BALL,
    TRACK_BLOCK,
    TRACK_CRANK,
    TRACK_STICK,
    TRACK_ROLLER,
    TRACK_DOUBLE_PENDULUM, // without data
    TRACK_TABLE_BLOCK,     // without data
    TRACK_CARTS
} TrackSystem;

typedef struct TrackCase {
    TrackSystem system;
    const void* data; // NULL: what the paper states
    LashSettings set;
    double T;   // end; the nearest step [s]
    int stride; // one point per so many steps
} TrackCase;

enum { TRACK_COORDINATES = 4, TRACK_CONTACTS = 4 };

typedef struct Track {
    int points, n, contacts; // n coordinates
    double* t;               // (points) the start is the first
    double *q[TRACK_COORDINATES], *v[TRACK_COORDINATES];
    double *gap[TRACK_CONTACTS], *U[TRACK_CONTACTS]; // normal rows [m, m/s]
    double *P[TRACK_CONTACTS], *P_t[TRACK_CONTACTS]; // of the point's step [N s]
    double *kinetic, *potential, *energy;            // energy: their sum [J]
    double *work_n, *work_t, *external;              // since the start [J]
    double* tau;                                     // what the projection moved in the step
    double* penetration; // largest -gap of the steps since the last point, >= 0 [m]
    double violation, steps, newton, projection, index_set; // over all steps, as in Run
    int newton_max, projection_max, index_set_max;
    int impacts;            // faster than 1 cm/s and not in the same two steps as another
    double first_impact[8]; // of the first eight: start of their step, or the located time [s]
    double impact_step[8];  // length of that step [s]
    double seconds;         // of processor time
    bool failed;
} Track;

const Track* track_of(Cache* cache, const TrackCase* what); // owned by the cache
// The slider-crank's point of the slider: x and y of its centre, from the angles.
double track_slider_x(const Track* track, int point);
double track_slider_y(const Track* track, int point);
// Turns of the crank at a point.
double track_turns(const Track* track, int point);

#endif
