// Where the rim of a ring that lies flat bears (rim.c).
#ifndef LASH_JOINTS_RIM_H
#define LASH_JOINTS_RIM_H

#include "core/archive.h"
#include "joints/contact/contact.h"

// One edge circle that three fixed points of it help to bear (def.flat > 0).
typedef struct Rim {
    int contact;
    bool held;    // its point is a material one, at `angle` of the circle
    bool rests;   // the step began with it flat on its plane: it comes in by exchange only
    bool tips;    // no choice of this step would do: its lowest point, held no more
    bool seen;    // its lowest point was asked for while tilted, in this step, at seen_x, seen_y
    int choices;  // of places in this step
    double angle; // [rad]
    double low, high; // the place is between these, as far as the choices of this step tell [rad]
    double seen_x, seen_y;
} Rim;

typedef struct Rims {
    bool exchanges; // the scheme asks for exchanges; otherwise no point is ever held
    int count;
    Rim* rim; // (count)
} Rims;

void rims_create(Rims* rims, const Contact* contact, int contacts);
void rims_destroy(Rims* rims);
void rims_archive(Rims* rims, LashArchive* archive);

// The state of an edge circle after contact_gap, with its point held where that is so; asked: with
// its point.
void rim_gap(Rim* rim, const Contact* contact, const ContactView* view, bool asked,
             ContactState* state);
// The same at a configuration that was evaluated before: nothing is noted.
void rim_gap_again(const Rim* rim, const Contact* contact, const ContactView* view,
                   ContactState* state);

// A step begins at this pose.
void rim_begin(Rim* rim, const Contact* contact, const ContactView* view);
// How the plane and the ring move at the end of a pass: n . velocity of the ring's center against
// the plane, and the turning of ring against plane, in the axes of a. With restitution e, these of
// v + e v_start.
typedef struct RimMotion {
    double approach;           // [m/s]
    Vec3 turning;              // [rad/s]
    double position, velocity; // tolerances [m], [m/s]
    double h;                  // length of the step [s]
} RimMotion;
// Does the whole rim bear at the end of a pass? Otherwise it is held at another point: true.
bool rim_exchange(Rim* rim, const Contact* contact, const ContactView* view,
                  const RimMotion* motion);

#endif
