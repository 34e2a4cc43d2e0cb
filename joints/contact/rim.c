// Where the rim of a ring that lies flat bears.
//
// A ring of radius r on a plane: every point of the rim, at the angle phi, has a gap
//
//     g(phi) = g_c - r m cos(phi - phi_m) >= 0
//
// with g_c the height of its middle, m the sine of its tilt, phi_m the lowest point. Tilted, the
// lowest point alone touches, and its place is a smooth function of the motion. Flat, all points
// touch, and which of them bears is not in the configuration: the load says it. Three fixed points
// of the ring bear loads within their triangle. Beside them, up to the rim, a fourth point does that
// is chosen by exchange, as in semi-infinite programs: while a pass of the step iterates, the point
// is a material one of the rim, at a fixed angle; when the pass is solved the whole rim is looked at,
// in position and in velocity (with Newton's law U + e U_start >= 0 of all its points),
//
//     g_c - r m >= 0,      U_c - r |omega x n| >= 0,
//
// and where it does not hold the point goes there and the pass is solved again. A ring that tips over
// the chord between the point and one of the three is lowest between them, on the side of the load: each
// choice bounds the place on one side, and a place outside the bounds is halfway between them. So the
// place comes to the direction of the load, and a load within the rim to rest; under one beyond it the ring
// tips over the point.
//
// The point stays from step to step as long as the ring lies flat. In a step that began with a tilt the lowest point
// moves with the ring, until it has none or goes round it: then it is held where it was. Gaps and normals of a pose
// are the same with it as without, to def.flat; the place of a force is what it adds to the pose.
#include "joints/contact/rim.h"

#include "core/arena.h"

// Choices of a point in one step: at first where the rim is lowest, then halfway between the bounds;
// after many a rim that is within the tolerances will do.
enum { FREE_CHOICES = 4, MANY_CHOICES = 16, MOST_CHOICES = 40 };
// Share of the position tolerance that a point of the rim may penetrate while another one is held: at
// first, after many choices.
static const double SHARE = 0.25, MOST_SHARE = 0.9;
// What it may approach with: velocity tolerances; if it tips, position tolerances per step, or SHARE of
// them after many choices.
static const double VELOCITIES = 10, SLOW = 0.01;
static const double NARROW = 1e-6; // bounds so near that leave nothing are none [rad]
// cos(pi/3): the nearest of the fixed points approaches with this share of the turning, at least.
static const double COVERED = 0.5;

// --- Memory --------------------------------------------------------------------------------------

void rims_create(Rims* rims, const Contact* contact, int contacts) {
    *rims = (Rims){0};
    for (int c = 0; c < contacts; ++c) {
        if (contact[c].rim < 0) continue;
        rims->rim = lash_grow(rims->rim, rims->count, sizeof *rims->rim);
        rims->rim[rims->count++] = (Rim){.contact = c};
    }
}

void rims_destroy(Rims* rims) {
    lash_free(rims->rim);
}

void rims_archive(Rims* rims, LashArchive* archive) {
    for (int k = 0; k < rims->count; ++k) {
        Rim* rim = &rims->rim[k];
        lash_archive(archive, &rim->held, sizeof rim->held);
        lash_archive(archive, &rim->angle, sizeof rim->angle);
    }
}

// --- The ring ------------------------------------------------------------------------------------

// Middle height, the direction of the lowest point in the ring's axes, times the sine of the tilt.
typedef struct Lie {
    double height, tilt; // of the middle; radius times sine [m]
    double x, y;         // of the lowest point, times the sine of the tilt
} Lie;

static Lie lie_of(const Contact* contact, const ContactView* view) {
    Vec3 center = vec3_add(view->d, mat3_mul(view->Q, contact->def.b_frame.r));
    Vec3 n = mat3_mul_transposed(view->Q, contact->a_axis); // in the axes of b
    Lie lie = {.height = vec3_dot(contact->a_axis, center) - contact->a_level,
               .x = -vec3_dot(n, contact->b_x),
               .y = -vec3_dot(n, contact->b_y)};
    lie.tilt = contact->def.b_radius * hypot(lie.x, lie.y);
    return lie;
}

static void hold(Rim* rim, double angle) {
    rim->held = true;
    rim->angle = angle;
}

void rim_gap_again(const Rim* rim, const Contact* contact, const ContactView* view,
                   ContactState* state) {
    if (!rim->held) return;
    double r = contact->def.b_radius;
    Vec3 arm = vec3_add(vec3_scale(r * cos(rim->angle), contact->b_x),
                        vec3_scale(r * sin(rim->angle), contact->b_y));
    Vec3 at = vec3_add(contact->def.b_frame.r, arm);
    state->center = vec3_add(view->d, mat3_mul(view->Q, at));
    state->gap = vec3_dot(state->n, state->center) - contact->a_level;
    state->held = 1;
}

// Has the lowest point gone round to another of the three fixed ones, or to the other side?
static bool turned_away(const Rim* rim, const Lie* lie) {
    double along = lie->x * rim->seen_x + lie->y * rim->seen_y;
    return along < COVERED * hypot(lie->x, lie->y) * hypot(rim->seen_x, rim->seen_y);
}

void rim_gap(Rim* rim, const Contact* contact, const ContactView* view, bool asked,
             ContactState* state) {
    bool waits = rim->rests && !rim->tips && !rim->held;
    if (waits) state->gap = INFINITY;
    if (asked && !waits && !rim->held && !rim->tips) {
        Lie lie = lie_of(contact, view);
        if (rim->seen && (state->gap == INFINITY || turned_away(rim, &lie)))
            hold(rim, atan2(rim->seen_y, rim->seen_x));
        if (state->gap < INFINITY) {
            rim->seen = true;
            rim->seen_x = lie.x;
            rim->seen_y = lie.y;
        }
    }
    rim_gap_again(rim, contact, view, state);
}

void rim_begin(Rim* rim, const Contact* contact, const ContactView* view) {
    static const double TOUCHES = 1e-10; // [m]
    Lie lie = lie_of(contact, view);
    rim->rests = lie.tilt <= TOUCHES && fabs(lie.height) <= TOUCHES;
    rim->held = rim->held && rim->rests;
    rim->tips = rim->seen = false;
    rim->choices = 0;
    rim->low = -INFINITY;
    rim->high = INFINITY;
}

// --- Exchange ------------------------------------------------------------------------------------

// The point goes to the angle, or as near to it as the choices before allow.
static void choose(Rim* rim, double angle) {
    ++rim->choices;
    if (!rim->held) {
        hold(rim, angle);
        return;
    }
    double turn = remainder(angle - rim->angle, 2 * LASH_PI);
    if (turn > 0)
        rim->low = rim->angle;
    else
        rim->high = rim->angle;
    if (rim->high - rim->low < NARROW) {
        rim->low = -INFINITY;
        rim->high = INFINITY;
    }
    double next = rim->angle + turn;
    bool between = next > rim->low && next < rim->high;
    if (isfinite(rim->high - rim->low) && !(between && rim->choices <= FREE_CHOICES))
        next = 0.5 * (rim->low + rim->high);
    hold(rim, next);
}

// The point that approaches fastest, if the three fixed ones do not.
static bool choose_by_velocity(Rim* rim, const Contact* contact, const ContactView* view,
                               const RimMotion* motion, bool tips) {
    Vec3 a = vec3_cross(contact->a_axis, motion->turning); // U(t) = U_c + r a . t
    a = mat3_mul_transposed(view->Q, a);
    double x = -vec3_dot(a, contact->b_x), y = -vec3_dot(a, contact->b_y),
           turning = contact->def.b_radius * hypot(x, y);
    double limit = -VELOCITIES * motion->velocity;
    double slow = rim->choices <= MANY_CHOICES ? SLOW : SHARE;
    if (tips) limit = fmin(limit, -slow * motion->position / motion->h);
    if (motion->approach - turning >= limit) return false;
    if (motion->approach - COVERED * turning < limit) return false;
    if (rim->choices >= MOST_CHOICES) return false;
    choose(rim, atan2(y, x));
    return true;
}

// The lowest point, if it penetrates.
static bool choose_by_position(Rim* rim, const Lie* lie, const RimMotion* motion) {
    double share = rim->choices <= MANY_CHOICES ? SHARE : MOST_SHARE;
    if (lie->height - lie->tilt >= -share * motion->position) return false;
    if (rim->choices >= MOST_CHOICES) { // the lowest point itself is what is left to try
        rim->held = false;
        rim->tips = true;
    } else {
        choose(rim, atan2(lie->y, lie->x));
    }
    return true;
}

bool rim_exchange(Rim* rim, const Contact* contact, const ContactView* view,
                  const RimMotion* motion) {
    Lie lie = lie_of(contact, view);
    if (rim->tips || lie.height - lie.tilt > motion->position) return false;
    bool flat = lie.tilt < contact->def.flat;
    if (!flat && !rim->held && !rim->rests) return false; // its lowest point is the contact
    if (!flat && choose_by_position(rim, &lie, motion)) return true;
    bool tips = lie.tilt > motion->position;
    return (rim->rests || !tips) && choose_by_velocity(rim, contact, view, motion, tips);
}
