// Why a step failed. Causes are looked for one after the other, the surest first; each is a
// function that writes what it found and returns true, or returns false. Without any: the errors
// left.
#include "app/run/step_failure.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/arena.h"
#include "core/math3.h"

typedef struct Cause {
    const AppStepFailure* of;
    LashFault fault; // what the step itself knows
    char text[768];
} Cause;

static const char* body_name(const Cause* cause, int body) {
    return body < 0 ? "ground" : lash_mechanism_body_name(cause->of->mech, body);
}

// ---- numbers that are none ----------------------------------------------------------------------

// " and part 'b'" where a force acts between two parts.
static void parts_of(const Cause* cause, const LashForceValue* value, char* text, size_t size) {
    int a = value->body_a, b = value->body_b;
    if (value->components == 3 || a < 0 || b < 0) {
        int body = b < 0 ? a : b;
        snprintf(text, size, "on part '%.60s'", body_name(cause, body));
        return;
    }
    snprintf(text, size, "on parts '%.60s' and '%.60s'", body_name(cause, a), body_name(cause, b));
}

// The component of a force that is not finite, -1: all are; derivatives count.
static int not_finite(const LashForceValue* value) {
    for (int i = 0; i < value->components; ++i) {
        if (!isfinite(value->value[i])) return i;
    }
    bool slopes = isfinite(value->slope[0]) && isfinite(value->slope[1]) &&
                  isfinite(value->slope[2]) && isfinite(value->x) && isfinite(value->speed);
    return slopes ? -1 : 0;
}

static const char* expression_of(const LashModelForce* force, int component) {
    bool torque = force->torque_components > 0;
    const char* text = torque ? force->torque[component].text : force->force[component].text;
    return text == NULL ? "" : text;
}

// Where the arguments of a function of x and v stand: a part of the message, in SI units.
static void arguments_of(const LashForceValue* value, char* text, size_t size) {
    text[0] = '\0';
    if (value->components == 1)
        snprintf(text, size, " with x = %.6g, v = %.6g (SI)", value->x, value->speed);
}

// "; table 'pull' was read at x = 12, outside 0 to 10", where that is the cause; else empty.
static void table_left(const Cause* cause, int force, int component, const LashForceValue* value,
                       char* text, size_t size) {
    LashTableRead read = lash_mechanism_force_outside(
        cause->of->mech, lash_sim_work(cause->of->sim), force, component, cause->fault.t, value);
    text[0] = '\0';
    if (read.table == NULL) return;
    snprintf(text, size, "; table '%.40s' was read at %s = %.6g, outside %.6g to %.6g",
             lash_table_name(read.table), read.variable == 0 ? "x" : "y", read.value, read.low,
             read.high);
}

static bool force_not_finite(Cause* cause) {
    const AppStepFailure* of = cause->of;
    const LashFault* fault = &cause->fault;
    if (fault->kind != LASH_FAULT_FORCE) return false;
    for (int k = 0; k < of->model->forces; ++k) {
        const LashModelForce* force = &of->model->force[k];
        LashForceValue value = lash_mechanism_force_value(of->mech, lash_sim_work(of->sim), k,
                                                          fault->t, fault->q, fault->v);
        int component = not_finite(&value);
        if (component < 0) continue;
        char parts[160], arguments[80];
        parts_of(cause, &value, parts, sizeof parts);
        arguments_of(&value, arguments, sizeof arguments);
        static const char* const axis[] = {"", " (y)", " (z)"};
        double result = value.value[component];
        const char* expression = expression_of(force, component);
        if (isfinite(result)) {
            snprintf(cause->text, sizeof cause->text,
                     "the derivative of force '%.60s' %s is not finite at t = %.9g s%s: \"%.120s\" "
                     "has a corner or a pole there",
                     force->name, parts, fault->t, arguments, expression);
        } else {
            char table[160];
            table_left(cause, k, component, &value, table, sizeof table);
            snprintf(cause->text, sizeof cause->text,
                     "force '%.60s' %s is %s at t = %.9g s%s: check \"%.100s\"%s%s", force->name,
                     parts, isnan(result) ? "not a number" : "infinite", fault->t, arguments,
                     expression, axis[component], table);
        }
        return true;
    }
    return false;
}

static bool driver_not_finite(Cause* cause) {
    const AppStepFailure* of = cause->of;
    const LashFault* fault = &cause->fault;
    if (fault->kind != LASH_FAULT_ROWS) return false;
    for (int j = 0; j < of->model->joints; ++j) {
        const LashModelJoint* joint = &of->model->joint[j];
        for (int k = 0; k < joint->drivers; ++k) {
            const LashModelDriver* driver = &joint->driver[k];
            double value, rate;
            if (!lash_mechanism_driver_value(of->mech, lash_sim_work(of->sim), j, driver->index,
                                             fault->t, &value, &rate))
                continue;
            if (isfinite(value) && isfinite(rate)) continue;
            const char* text =
                driver->position.text != NULL ? driver->position.text : driver->speed.text;
            snprintf(cause->text, sizeof cause->text,
                     "the driver of joint '%.60s' prescribes a %s that is not finite at "
                     "t = %.9g s: check \"%.120s\"",
                     joint->name, isfinite(value) ? "speed" : "motion", fault->t,
                     text == NULL ? "" : text);
            return true;
        }
    }
    char name[96] = "";
    of->system->name(of->system, fault->id, name, sizeof name);
    snprintf(cause->text, sizeof cause->text,
             "'%.60s' has an error that is not a number at t = %.9g s", name, fault->t);
    return true;
}

// ---- contacts from nowhere ----------------------------------------------------------------------

// The face through which the parts came into each other before the step, where the contact leaves
// it out.
static void intruding_face(const Cause* cause, int contact, char* text, size_t size) {
    const double *q, *v;
    lash_sim_state(cause->of->sim, &q, &v);
    LashContactIntrusion in = lash_mechanism_contact_intrusion(cause->of->mech, contact, q);
    if (!(in.depth > 0)) {
        snprintf(text, size, "the gap of these CAD faces jumps: check them with lash check");
        return;
    }
    snprintf(
        text, size,
        "the other part came in through face %d%s%.40s%s of '%.40s', which this contact leaves "
        "out: add it to the faces there",
        in.face, in.name[0] != '\0' ? " ('" : "", in.name, in.name[0] != '\0' ? "')" : "",
        body_name(cause, in.body));
}

static bool gap_jumps(Cause* cause) {
    const AppStepFailure* of = cause->of;
    const LashFault* fault = &cause->fault;
    if (fault->kind != LASH_FAULT_GAP) return false;
    int contact = lash_mechanism_contact_of(of->mech, fault->id), a, b;
    lash_mechanism_interaction_bodies(of->mech, fault->id, &a, &b);
    char why[240];
    intruding_face(cause, contact, why, sizeof why);
    snprintf(cause->text, sizeof cause->text,
             "contact '%.60s' between '%.60s' and '%.60s' appears from nowhere at t = %.9g s: its "
             "gap falls by %.3g m while its surfaces move by %.3g m; %s",
             lash_mechanism_contact_name(of->mech, contact), body_name(cause, a),
             body_name(cause, b), fault->t, fault->fell, fault->moved, why);
    return true;
}

// ---- too many events ----------------------------------------------------------------------------

static bool rattles(Cause* cause) {
    const AppStepFailure* of = cause->of;
    if (cause->fault.kind != LASH_FAULT_EVENTS) return false;
    char name[96] = "";
    of->system->name(of->system, cause->fault.id, name, sizeof name);
    snprintf(cause->text, sizeof cause->text,
             "more events in a step than max_events allows, up to t = %.9g s, the last at contact "
             "'%.60s'; a scheme that does not look for events (combined) passes over them",
             cause->fault.t, name);
    return true;
}

// ---- too many contacts at once ------------------------------------------------------------------

static bool crowds(Cause* cause) {
    const LashFault* fault = &cause->fault;
    if (fault->kind != LASH_FAULT_CONTACTS) return false;
    snprintf(cause->text, sizeof cause->text,
             "the %d contacts that are closed at t = %.9g s have no common solution to the "
             "tolerance of velocities, %.2g m/s are left; this scheme solves all contacts of an "
             "impact at one instant, one that does not look for events (combined) passes over it",
             fault->contacts, fault->t, fault->residual);
    return true;
}

// ---- contradictions -----------------------------------------------------------------------------

// Name of an interaction as the model has it: of a contact of several points that of the contact.
static void model_name(const AppStepFailure* of, uint64_t id, char* text, size_t size) {
    int point = lash_mechanism_contact_of(of->mech, id);
    of->system->name(of->system, id, text, size);
    for (int k = 0; k < of->model->contacts && point >= 0; ++k) {
        const LashModelContact* contact = &of->model->contact[k];
        if (point >= contact->first && point < contact->first + contact->count)
            snprintf(text, size, "%s", contact->name);
    }
}

// Adds "'name' (speed)" to a list, unless it was the last one already.
static void add_name(const AppStepFailure* of, const LashConflict* conflict, char* last,
                     size_t size, char* text, size_t room) {
    char name[96] = "", speed[48] = "";
    model_name(of, conflict->id, name, sizeof name);
    if (strcmp(name, last) == 0) return;
    snprintf(last, size, "%s", name);
    int joint = lash_mechanism_joint_of(of->mech, conflict->id), coordinate;
    if (conflict->driver && joint >= 0) {
        lash_mechanism_joint_part(conflict->id, &coordinate);
        bool angle =
            lash_coordinate_is_angle(lash_mechanism_joint(of->mech, joint)->type, coordinate);
        snprintf(speed, sizeof speed, " (%.4g %s)", conflict->speed, angle ? "rad/s" : "m/s");
    }
    size_t used = strlen(text);
    if (used + 1 < room)
        snprintf(text + used, room - used, "%s'%.40s'%s", used == 0 ? "" : ", ", name, speed);
}

static bool contradicts(Cause* cause) {
    const AppStepFailure* of = cause->of;
    if (cause->fault.kind != LASH_FAULT_CONFLICT) return false;
    int count;
    const LashConflict* conflict = lash_sim_conflicts(of->sim, &count);
    char names[320] = "", last[96] = "";
    for (int i = 0; i < count; ++i)
        add_name(of, &conflict[i], last, sizeof last, names, sizeof names);
    snprintf(cause->text, sizeof cause->text,
             "these exclude each other at t = %.9g s, no motion satisfies them all: %s",
             cause->fault.t, names);
    return true;
}

// ---- numbers beyond all range -------------------------------------------------------------------

// The force that is largest at (t, q, v), -1: there is none.
static int largest_force(const Cause* cause, double t, const double* q, const double* v,
                         double* size) {
    int largest = -1;
    *size = 0;
    for (int k = 0; k < cause->of->model->forces; ++k) {
        LashForceValue value =
            lash_mechanism_force_value(cause->of->mech, lash_sim_work(cause->of->sim), k, t, q, v);
        double most = 0;
        for (int i = 0; i < value.components; ++i) most = worse(most, fabs(value.value[i]));
        if (most <= *size) continue;
        largest = k;
        *size = most;
    }
    return largest;
}

// Velocities, impulses or energies overflow: the fastest part, and the largest force.
static bool overflows(Cause* cause) {
    const AppStepFailure* of = cause->of;
    const LashFault* fault = &cause->fault;
    if (fault->kind != LASH_FAULT_OVERFLOW) return false;
    int fastest = 0;
    double speed = 0;
    for (int i = 0; i < 6 * lash_mechanism_body_count(of->mech); ++i) {
        if (fabs(fault->v[i]) <= speed) continue;
        fastest = i / 6;
        speed = worse(speed, fabs(fault->v[i]));
    }
    double size;
    const double *q, *v;
    lash_sim_state(of->sim, &q, &v);
    int force = largest_force(cause, fault->t, q, v, &size);
    char blame[160] = "";
    if (force >= 0)
        snprintf(blame, sizeof blame, "; the largest force there is '%.60s', %.3g N or N m",
                 of->model->force[force].name, size);
    snprintf(cause->text, sizeof cause->text,
             "velocities or energies leave the range of numbers at t = %.9g s: part '%.60s' would "
             "move at %.3g m/s or rad/s%s",
             fault->t, body_name(cause, fastest), speed, blame);
    return true;
}

// A force that alone would throw its part out of sight within a step.
static bool too_strong(Cause* cause) {
    static const double MOST = 1e6; // [m or rad]
    const AppStepFailure* of = cause->of;
    double size, h = of->model->simulation.settings.h, t = lash_sim_time(of->sim) + 0.5 * h;
    const double *q, *v;
    lash_sim_state(of->sim, &q, &v);
    int force = largest_force(cause, t, q, v, &size);
    if (force < 0) return false;
    LashForceValue value =
        lash_mechanism_force_value(of->mech, lash_sim_work(of->sim), force, t, q, v);
    int body = value.body_b < 0 ? value.body_a : value.body_b;
    const LashBodyDef* def = lash_mechanism_body(of->mech, body);
    const double* J = def->inertia.m;
    double inertia = fmax(J[0], fmax(J[4], J[8]));
    if (!(h * h * size > MOST * fmax(def->mass, inertia))) return false;
    char parts[160];
    parts_of(cause, &value, parts, sizeof parts);
    snprintf(cause->text, sizeof cause->text,
             "force '%.60s' %s is %.3g N or N m at t = %.9g s: no step of %g s can follow that",
             of->model->force[force].name, parts, size, t, h);
    return true;
}

// A part so far away that its position is known less exactly than the tolerance.
static bool too_far(Cause* cause) {
    const AppStepFailure* of = cause->of;
    double tolerance = of->model->simulation.settings.tolerance_position;
    const double *q, *v;
    lash_sim_state(of->sim, &q, &v);
    for (int b = 0; b < lash_mechanism_body_count(of->mech); ++b) {
        double away = vec3_norm(vec3(q[7 * b], q[7 * b + 1], q[7 * b + 2]));
        if (away * DBL_EPSILON <= 10 * tolerance) continue;
        snprintf(cause->text, sizeof cause->text,
                 "part '%.60s' is %.3g m from the origin, where positions are rounded to %.2g m, "
                 "more than simulation.tolerance_position = %.3g m: check its pose",
                 body_name(cause, b), away, away * DBL_EPSILON, tolerance);
        return true;
    }
    return false;
}

// A part that turns by more than a radian within the shortest part of a step: no expansion of a
// rotation holds so far.
static bool too_fast(Cause* cause) {
    static const double MOST = 1; // [rad]
    const AppStepFailure* of = cause->of;
    const LashSettings* settings = &of->model->simulation.settings;
    double h = settings->h;
    for (int parts = 2; parts <= settings->max_substeps; parts *= 2) h = settings->h / parts;
    const double *q, *v;
    lash_sim_state(of->sim, &q, &v);
    for (int b = 0; b < lash_mechanism_body_count(of->mech); ++b) {
        double omega = vec3_norm(vec3(v[6 * b + 3], v[6 * b + 4], v[6 * b + 5]));
        if (omega * h <= MOST) continue;
        snprintf(cause->text, sizeof cause->text,
                 "part '%.60s' turns at %.3g rad/s, %.3g rad within one step of %g s: a step "
                 "should not turn a part by more than about 0.1 rad; try a smaller step%s",
                 body_name(cause, b), omega, omega * h, h,
                 settings->max_substeps > 1 ? "" : " or \"substeps\"");
        return true;
    }
    return false;
}

// ---- forces that jump ---------------------------------------------------------------------------

// A straight way through the states near the one before the step: one component of a body's
// velocity, or of its position, goes from -reach to +reach of what it is.
typedef struct Way {
    const Cause* cause;
    int force, body, component;
    bool moves; // the position; else the velocity
    double reach;
    double t;      // of the forces [s]
    double *q, *v; // scratch
} Way;

static LashForceValue value_on(const Way* way, double s) {
    const AppStepFailure* of = way->cause->of;
    const double *q, *v;
    lash_sim_state(of->sim, &q, &v);
    memcpy(way->q, q, (size_t)of->system->nq * sizeof *q);
    memcpy(way->v, v, (size_t)of->system->nv * sizeof *v);
    double by = s * way->reach, *x = way->q + 7 * way->body;
    if (!way->moves) {
        way->v[6 * way->body + way->component] += by;
    } else if (way->component < 3) {
        x[way->component] += by;
    } else {
        Vec3 turn = vec3(way->component == 3, way->component == 4, way->component == 5);
        Quat rot = quat_mul(quat(x[3], x[4], x[5], x[6]), quat_exp(vec3_scale(by, turn)));
        x[3] = rot.w;
        x[4] = rot.x;
        x[5] = rot.y;
        x[6] = rot.z;
    }
    return lash_mechanism_force_value(of->mech, lash_sim_work(of->sim), way->force, way->t, way->q,
                                      way->v);
}

// Halves the interval where the value changes most until it is a point: a change that is left there
// is a jump, however steep a function is. *before, *after: the values beside it.
static bool jumps_on(const Way* way, LashForceValue* before, LashForceValue* after) {
    enum { SAMPLES = 64, HALVINGS = 60 };
    double low = -1, most = 0;
    LashForceValue last = value_on(way, low);
    if (last.components != 1) return false;
    for (int i = 1; i <= 2 * SAMPLES; ++i) {
        double s = -1 + (double)i / SAMPLES;
        LashForceValue now = value_on(way, s);
        double change = fabs(now.value[0] - last.value[0]);
        if (change > most) {
            most = change;
            low = s - 1.0 / SAMPLES;
        }
        last = now;
    }
    double high = low + 1.0 / SAMPLES, scale = 0;
    for (int i = 0; i < HALVINGS; ++i) {
        double middle = 0.5 * (low + high);
        *before = value_on(way, low);
        *after = value_on(way, high);
        LashForceValue at = value_on(way, middle);
        bool first = fabs(at.value[0] - before->value[0]) >= fabs(after->value[0] - at.value[0]);
        scale = fmax(fabs(before->value[0]), fabs(after->value[0]));
        if (middle == low || middle == high) break;
        if (first)
            high = middle;
        else
            low = middle;
    }
    // An angle that leaps by a turn, seen from too far away, is no jump of the force.
    bool same_place = fabs(after->x - before->x) <= 1e-6 * (1 + fabs(after->x));
    return most > 0 && same_place && fabs(after->value[0] - before->value[0]) > 1e-6 * scale;
}

// Largest change of a velocity in a step by the applied forces alone [m/s, rad/s].
static double free_change(const Cause* cause) {
    const AppStepFailure* of = cause->of;
    double* F = lash_alloc((size_t)of->system->nv * sizeof *F);
    double most = 0, h = of->model->simulation.settings.h;
    const double *q, *v;
    lash_sim_state(of->sim, &q, &v);
    of->system->forces(of->system, lash_sim_work(of->sim), lash_sim_time(of->sim), q, v, F);
    for (int i = 0; i < 6 * lash_mechanism_body_count(of->mech); ++i) {
        const LashBodyDef* body = lash_mechanism_body(of->mech, i / 6);
        int k = i % 6;
        double inertia = k < 3 ? body->mass : body->inertia.m[4 * (k - 3)];
        most = fmax(most, h * fabs(F[i]) / inertia);
    }
    lash_free(F);
    return most;
}

// Looks along all ways from the bodies of a force.
static bool jumps_nearby(Way* way, double change, LashForceValue* before, LashForceValue* after) {
    double h = way->cause->of->model->simulation.settings.h;
    way->body = 0;
    LashForceValue now = value_on(way, 0);
    if (now.components != 1) return false; // of time only
    const int body[2] = {now.body_a, now.body_b};
    double speed = 2 * fabs(now.speed) + 2 * change;
    for (int k = 0; k < 24; ++k) {
        way->body = body[k / 12];
        way->component = k % 6;
        way->moves = k % 12 >= 6;
        way->reach = way->moves ? h * speed : speed;
        if (way->body >= 0 && jumps_on(way, before, after)) return true;
    }
    return false;
}

// A force that jumps where the step goes through: no value in between that would balance the rest.
static bool force_jumps(Cause* cause) {
    const AppStepFailure* of = cause->of;
    size_t nq = (size_t)of->system->nq, nv = (size_t)of->system->nv;
    double* scratch = lash_alloc((nq + nv + 1) * sizeof *scratch);
    double change = free_change(cause);
    Way way = {.cause = cause, .q = scratch, .v = scratch + nq};
    way.t = lash_sim_time(of->sim) + 0.5 * of->model->simulation.settings.h;
    LashForceValue before = {0}, after = {0};
    bool found = false;
    for (int k = 0; k < of->model->forces && !found; ++k) {
        way.force = k;
        found = jumps_nearby(&way, change, &before, &after);
    }
    lash_free(scratch);
    if (!found) return false;
    const LashModelForce* force = &of->model->force[way.force];
    char parts[160];
    parts_of(cause, &before, parts, sizeof parts);
    double v = fabs(after.speed) < 1e-12 ? 0 : after.speed;
    snprintf(cause->text, sizeof cause->text,
             "force '%.60s' %s jumps from %.4g to %.4g N or N m at x = %.4g, v = %.4g (SI): "
             "\"%.100s\" has no value between for the step to take; use joint friction, a contact "
             "or a limit, or a smooth transition (tanh)",
             force->name, parts, before.value[0], after.value[0], after.x, v,
             expression_of(force, 0));
    return true;
}

// ---- errors above the tolerances ----------------------------------------------------------------

// Contacts that pushed in the last accepted step, or touch: "; closed contacts: a, b".
static void closed_contacts(const AppStepFailure* of, char* text, size_t size) {
    const double tolerance = 10 * of->model->simulation.settings.tolerance_position;
    int closed = 0;
    text[0] = '\0';
    for (int i = 0; of->log != NULL && i < of->log->count; ++i) {
        if (!(of->log->contact[i].gap <= tolerance)) continue;
        size_t used = strlen(text);
        if (++closed > 6) continue;
        snprintf(text + used, size - used, "%s%.24s", closed == 1 ? "; closed contacts: " : ", ",
                 of->model->contact_point[i].name);
    }
    size_t used = strlen(text);
    if (closed > 6) snprintf(text + used, size - used, " and %d more", closed - 6);
}

static void errors_left(const AppStepFailure* of, char* text, size_t size) {
    const LashStepInfo* info = of->info;
    char name[96] = "", worst[96] = "", closed[240];
    of->system->name(of->system, info->worst, name, sizeof name);
    if (name[0] != '\0') snprintf(worst, sizeof worst, ", worst at '%.60s'", name);
    closed_contacts(of, closed, sizeof closed);
    snprintf(text, size,
             "joint errors %.3g m or rad, penetration %.3g m, velocity %.3g m/s, dynamics %.3g "
             "m/s%s%s; try a smaller step%s",
             info->position_error, info->penetration, info->velocity_error, info->dynamics_error,
             worst, closed,
             of->model->simulation.settings.max_substeps > 1 ? "" : " or \"substeps\"");
}

bool app_step_failure(const AppStepFailure* failure, LashError* error) {
    static bool (*const causes[])(Cause*) = {
        force_not_finite, driver_not_finite, gap_jumps, rattles,  crowds,     contradicts,
        too_strong,       overflows,         too_far,   too_fast, force_jumps};
    Cause cause = {.of = failure, .fault = lash_sim_fault(failure->sim)};
    char where[64];
    snprintf(where, sizeof where, "t = %.9g s", lash_sim_time(failure->sim));
    for (size_t i = 0; i < sizeof causes / sizeof *causes; ++i) {
        if (!causes[i](&cause)) continue;
        return lash_error_set(error, LASH_ERROR_NUMERICS, where, "step %lld cannot be solved: %s",
                              (long long)failure->step, cause.text);
    }
    errors_left(failure, cause.text, sizeof cause.text);
    return lash_error_set(error, LASH_ERROR_NUMERICS, where,
                          "step %lld did not reach the tolerances; %s", (long long)failure->step,
                          cause.text);
}
