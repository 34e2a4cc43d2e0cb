// Loads that read the state: a force whose function uses coordinates of joints or bodies that it does
// not act on.
//
// A reading y(q) has the gradient g_y = dy/dq over its two bodies; its speed is y' = g_y'v. With the
// load's own column D (the gradient of its coordinate, or the direction of a component on its body)
// and f = f(..., y):
//     K -= f_y D g_y'                                 y: a coordinate or a position
//     C -= f_y D g_y',   K -= f_y D d(g_y'v)/dq       y: a speed
// These are blocks between the loaded bodies and the read ones, without symmetry.
//
// A reading's value stands behind the inputs of the run, in the unit in which the expression wants
// it, and is taken anew before every evaluation of its force: the law of the force sees one more
// input.
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "joints/mechanism_internal.h"

typedef struct Read {
    double y;
    double by_q[12], by_v[12]; // derivatives over both bodies
} Read;

static bool is_of_joint(const LashReading* reading) {
    return reading->kind == LASH_READ_COORDINATE || reading->kind == LASH_READ_SPEED;
}

static void read_joint(const LashMechanism* mech, const LashSystemWork* work,
                       const ForceReading* reading, const double* v, bool derivatives, Read* read) {
    JointCoordinate c;
    int joint = reading->def.joint.index1 - 1;
    bool speed = reading->def.kind == LASH_READ_SPEED;
    mechanism_joint_coordinate(mech, work, joint, reading->def.coordinate, speed && derivatives,
                               &c);
    read->y = c.x;
    if (!speed) {
        memcpy(read->by_q, c.g, sizeof c.g);
        return;
    }
    double both[12] = {0};
    for (int s = 0; s < 2; ++s) {
        if (reading->body[s] > 0)
            memcpy(both + 6 * s, v + 6 * (reading->body[s] - 1), 6 * sizeof *both);
    }
    read->y = 0;
    for (int i = 0; i < 12; ++i) read->y += c.g[i] * both[i];
    if (!derivatives) return;
    memcpy(read->by_v, c.g, sizeof c.g);
    for (int j = 0; j < 12; ++j) {
        for (int i = 0; i < 12; ++i) read->by_q[j] += both[i] * c.H[i + 12 * j];
    }
}

static void read_body(const LashSystemWork* work, const ForceReading* reading, const double* v,
                      Read* read) {
    int body = reading->body[0], axis = reading->def.axis;
    const double* own = v + 6 * (body - 1);
    const Vec3 x = work->body[body].x;
    const double position[3] = {x.x, x.y, x.z};
    switch (reading->def.kind) {
        case LASH_READ_POSITION:
            read->y = position[axis];
            read->by_q[axis] = 1;
            return;
        case LASH_READ_VELOCITY:
            read->y = own[axis];
            read->by_v[axis] = 1;
            return;
        default:
            read->y = own[3 + axis];
            read->by_v[3 + axis] = 1;
            return;
    }
}

static void read_state(const LashMechanism* mech, const LashSystemWork* work,
                       const ForceReading* reading, const double* v, bool derivatives, Read* read) {
    *read = (Read){0};
    if (is_of_joint(&reading->def)) {
        read_joint(mech, work, reading, v, derivatives, read);
    } else {
        read_body(work, reading, v, read);
    }
}

void readings_take(const LashMechanism* mech, LashSystemWork* work, const Force* force,
                   const double* v) {
    for (int i = 0; i < force->readings; ++i) {
        Read read;
        read_state(mech, work, &force->reading[i], v, false, &read);
        double value = read.y / force->reading[i].def.unit;
        work->input[mech->system.inputs + i] = (LashInput){.from = value, .to = value};
    }
}

// C and K of one reading whose function has the slope f_y, for the load's column D over both sides.
static void add_blocks(const LashMechanism* mech, const ForceReading* reading, const Read* read,
                       double slope, const double D[12], double* C, double* K) {
    for (int row = 0; row < 2; ++row) {
        for (int column = 0; column < 2; ++column) {
            int block = reading->block[row][column];
            if (block < 0) continue;
            double *Cb = C + mech->pattern_offset[block], *Kb = K + mech->pattern_offset[block];
            for (int j = 0; j < 6; ++j) {
                for (int i = 0; i < 6; ++i) {
                    Cb[i + 6 * j] -= slope * D[6 * row + i] * read->by_v[6 * column + j];
                    Kb[i + 6 * j] -= slope * D[6 * row + i] * read->by_q[6 * column + j];
                }
            }
        }
    }
}

void readings_add_tangents(const LashMechanism* mech, const LashSystemWork* work,
                           const Force* force, int component, ForcePoint at, const double D[12],
                           double* C, double* K) {
    const LashFunction* function = &force->def.component[component];
    double slope[3 + LASH_FUNCTION_INPUTS];
    if (function->readings == 0) return;
    function_slopes(function, work->input, at.t, at.x, at.speed, slope);
    for (int k = 0; k < function->readings; ++k) {
        const ForceReading* reading = &force->reading[force->first_reading[component] + k];
        Read read;
        read_state(mech, work, reading, at.v, true, &read);
        int variable = 3 + function->inputs - function->readings + k;
        add_blocks(mech, reading, &read, slope[variable] * function->out / reading->def.unit, D, C,
                   K);
    }
}

// ---- building -----------------------------------------------------------------------------------

static ForceReading make_reading(const LashMechanism* mech, const LashReading* def) {
    ForceReading reading = {.def = *def};
    LASH_ASSERT(def->unit > 0);
    if (is_of_joint(def)) {
        LASH_ASSERT(def->joint.index1 > 0 && def->joint.index1 <= mech->joints);
        const Joint* joint = &mech->joint[def->joint.index1 - 1];
        LASH_ASSERT(def->coordinate >= 0 && def->coordinate < joint->kind->coordinates);
        reading.body[0] = joint->a;
        reading.body[1] = joint->b;
        return reading;
    }
    LASH_ASSERT(def->body.index1 > 1 && def->body.index1 <= mech->bodies);
    LASH_ASSERT(def->axis >= 0 && def->axis < 3);
    reading.body[0] = def->body.index1 - 1;
    return reading;
}

void readings_add(const LashMechanism* mech, Force* force) {
    int count = 0;
    for (int k = 0; k < 3; ++k) count += force->def.component[k].readings;
    if (count == 0) return;
    force->reading = lash_alloc((size_t)count * sizeof *force->reading);
    for (int k = 0; k < 3; ++k) {
        LashFunction* function = &force->def.component[k];
        force->first_reading[k] = force->readings;
        LASH_ASSERT(function->inputs + function->readings <= LASH_FUNCTION_INPUTS);
        for (int i = 0; i < function->readings; ++i)
            force->reading[force->readings++] = make_reading(mech, &function->reading[i]);
        function->inputs += function->readings; // they stand behind the inputs
        function->reading = NULL;               // was the caller's
    }
}

void readings_number(LashMechanism* mech) {
    mech->readings = 0;
    for (int f = 0; f < mech->forces; ++f) {
        Force* force = &mech->force[f];
        if (force->readings > mech->readings) mech->readings = force->readings;
        for (int k = 0; k < 3 && force->readings > 0; ++k) {
            LashFunction* function = &force->def.component[k];
            int first = function->inputs - function->readings;
            for (int i = 0; i < function->readings; ++i)
                function->input[first + i] = mech->system.inputs + force->first_reading[k] + i;
        }
    }
}
