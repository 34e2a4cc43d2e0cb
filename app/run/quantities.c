// Values of the quantities of app/model/quantity.h in the frame and the logs of a drive.
#include <math.h>

#include "app/model/quantity.h"
#include "app/run/drive.h"
#include "core/math3.h"

enum { NORM = 3 }; // of a vector, instead of component 0, 1 or 2

static double part_of(Vec3 a, int part) {
    const double component[] = {a.x, a.y, a.z};
    return part == NORM ? vec3_norm(a) : component[part];
}

// Three numbers of object number i.
static Vec3 triple(const AppDrive* drive, LashSeries series, int i) {
    const double* x = drive->frame + drive->layout.offset[series] + 3 * i;
    return vec3(x[0], x[1], x[2]);
}

static double number(const AppDrive* drive, LashSeries series) {
    return drive->frame[drive->layout.offset[series]];
}

// ---- parts --------------------------------------------------------------------------------------

static Quat rotation(const AppDrive* drive, int body) {
    const double* p = drive->frame + drive->layout.offset[LASH_SERIES_ORIENTATION] + 4 * body;
    return quat(p[0], p[1], p[2], p[3]);
}

static double body_position(const AppDrive* drive, const LashModelOutput* output, int part) {
    Vec3 arm = quat_rotate(rotation(drive, output->index), output->body_point);
    return part_of(vec3_add(triple(drive, LASH_SERIES_POSITION, output->index), arm), part);
}

// v + omega x arm, world axes
static double body_velocity(const AppDrive* drive, const LashModelOutput* output, int part) {
    Quat rot = rotation(drive, output->index);
    Vec3 arm = quat_rotate(rot, output->body_point);
    Vec3 omega = triple(drive, LASH_SERIES_ANGULAR_VELOCITY, output->index);
    Vec3 v = triple(drive, LASH_SERIES_VELOCITY, output->index);
    return part_of(vec3_add(v, vec3_cross(quat_rotate(rot, omega), arm)), part);
}

static double body_omega(const AppDrive* drive, const LashModelOutput* output, int part) {
    return part_of(triple(drive, LASH_SERIES_ANGULAR_VELOCITY, output->index), part);
}

// ---- joints -------------------------------------------------------------------------------------

static double joint_number(const AppDrive* drive, const LashModelOutput* output, int series) {
    return drive->frame[drive->layout.offset[series] + drive->layout.coordinates * output->index +
                        output->coordinate_index];
}

static double joint_force(const AppDrive* drive, const LashModelOutput* output, int part) {
    return part_of(triple(drive, LASH_SERIES_JOINT_FORCE, output->index), part);
}

static double joint_moment(const AppDrive* drive, const LashModelOutput* output, int part) {
    return part_of(triple(drive, LASH_SERIES_JOINT_MOMENT, output->index), part);
}

// Of a joint with clearance.
#define PLAY(function, value)                                                                  \
    static double function(const AppDrive* drive, const LashModelOutput* output, int unused) { \
        (void)unused;                                                                          \
        const AppJointPlay* play = &drive->log.joints.joint[output->index];                    \
        return value;                                                                          \
    }
PLAY(play_eccentricity, play->eccentricity)
PLAY(play_tilt, play->tilt)
PLAY(play_contact_points, play->points)
PLAY(play_wear, 0 - play->work.friction) // work of friction so far, taken positive
PLAY(play_free_time, play->free)
PLAY(play_contact_time, play->contact)
PLAY(play_sliding_time, play->sliding)

// ---- contacts -----------------------------------------------------------------------------------

// Of a contact with several points: the least gap, the first impact; all else is summed.
typedef struct ContactSum {
    double gap, first, impacts; // [m], [s], number
    double n, t, all, blow;     // impulses of the last step: normal, friction, both, impact [N s]
} ContactSum;

static ContactSum contact_sum(const AppDrive* drive, const LashModelOutput* output) {
    ContactSum sum = {.gap = INFINITY, .first = INFINITY};
    for (int i = output->index; i < output->index + output->count; ++i) {
        const AppContact* contact = &drive->log.contact[i];
        double friction = hypot(contact->P[1], contact->P[2]);
        sum.gap = fmin(sum.gap, contact->gap);
        sum.first = fmin(sum.first, contact->first_impact); // passes over NAN
        sum.impacts += (double)contact->impacts;
        sum.n += contact->P[0];
        sum.blow += contact->blow;
        sum.t += friction;
        sum.all += hypot(contact->P[0], friction);
    }
    return sum;
}

#define CONTACT(function, value)                                                               \
    static double function(const AppDrive* drive, const LashModelOutput* output, int unused) { \
        (void)unused;                                                                          \
        ContactSum sum = contact_sum(drive, output);                                           \
        double per_time = drive->log.h > 0 ? 1 / drive->log.h : 0;                             \
        (void)per_time;                                                                        \
        return value;                                                                          \
    }
CONTACT(contact_gap, output->count > 0 ? sum.gap : 0) // 0: of a joint whose clearance is 0
CONTACT(contact_force, sum.all* per_time)
CONTACT(contact_normal_force, sum.n* per_time)
CONTACT(contact_friction_force, sum.t* per_time)
CONTACT(contact_impulse, fmax(sum.blow, 0))
CONTACT(contact_impacts, sum.impacts)
CONTACT(contact_first_impact, isfinite(sum.first) ? sum.first : NAN)

// ---- inputs -------------------------------------------------------------------------------------

static double input_value(const AppDrive* drive, const LashModelOutput* output, int unused) {
    (void)unused;
    return drive->frame[drive->layout.offset[LASH_SERIES_INPUT] + output->index];
}

// ---- energies -----------------------------------------------------------------------------------

#define ENERGY(function, value)                                                                \
    static double function(const AppDrive* drive, const LashModelOutput* output, int unused) { \
        (void)output;                                                                          \
        (void)unused;                                                                          \
        double kinetic = number(drive, LASH_SERIES_KINETIC);                                   \
        double potential = number(drive, LASH_SERIES_POTENTIAL);                               \
        (void)kinetic;                                                                         \
        (void)potential;                                                                       \
        return value;                                                                          \
    }
// Of all that is not in the energy: loads, dampers, contacts.
static double work(const AppDrive* drive) {
    return number(drive, LASH_SERIES_EXTERNAL_WORK) + number(drive, LASH_SERIES_DAMPING_WORK) +
           number(drive, LASH_SERIES_CONTACT_WORK_NORMAL) +
           number(drive, LASH_SERIES_CONTACT_WORK_TANGENTIAL);
}
ENERGY(energy_kinetic, kinetic)
ENERGY(energy_potential, potential)
ENERGY(energy_total, kinetic + potential)
ENERGY(energy_error, kinetic + potential - drive->start_energy - work(drive))

// H of a scheme that has one, which it does not let grow; of others not a number.
static double energy_algorithmic(const AppDrive* drive, const LashModelOutput* output, int unused) {
    (void)output;
    (void)unused;
    bool known = drive->layout.width[LASH_SERIES_ALGORITHMIC] > 0;
    return known ? number(drive, LASH_SERIES_ALGORITHMIC) : NAN;
}

double app_drive_value(const AppDrive* drive, const LashModelOutput* output) {
    static const struct {
        double (*value)(const AppDrive* drive, const LashModelOutput* output, int part);
        int part;
    } table[] = {
#define X(id, name, of, unit, traits, value, part) [LASH_##id] = {value, part},
        LASH_QUANTITY_TABLE(X)
#undef X
    };
    return table[output->kind].value(drive, output, table[output->kind].part);
}
