// Forces: gravity and gyroscopic torques of bodies, and the forces of a mechanism by their kinds.
//
// Most forces push along a coordinate x(q): a distance between two points or the coordinate of a
// joint. With its gradient g = dx/dq (one column), speed xd = g' v and a law f(t, x, xd):
//     F = g f,    C = -f_xd g g',    K = -f_x g g' - f dg/dq - f_xd g d(g'v)/dq
//   distance   x = |p_b - p_a|,  e = (p_b - p_a)/x,  g = J e,
//              dg/dq = (dJ/dq) e + J (I - e e')/x J'   (J: d(p_b - p_a))
//   joint      gradient and second derivative from coordinate.c
// The laws are those of forces/. The others act on one body.
#include <string.h>

#include "core/error.h"
#include "joints/bushing.h"
#include "joints/mechanism_internal.h"
#include "joints/rows.h"

// With inputs u(t) the derivative by t is f_t + f_u du/dt.
static double with_inputs(const LashFunction* function, const LashInput* input, double t, double x,
                          double v, double d[3]) {
    double in[3 + LASH_FUNCTION_INPUTS] = {t / function->in[0], x / function->in[1],
                                           v / function->in[2]};
    double slope[3 + LASH_FUNCTION_INPUTS], rate[LASH_FUNCTION_INPUTS];
    for (int i = 0; i < function->inputs; ++i)
        in[3 + i] = lash_input_at(&input[function->input[i]], t, &rate[i]);
    if (d == NULL) return function->out * lash_expression_value(function->expression, in);
    double value = function->out * lash_expression_gradient(function->expression, in, slope);
    for (int i = 0; i < 3; ++i) d[i] = slope[i] * (function->out / function->in[i]);
    for (int i = 0; i < function->inputs; ++i) d[0] += function->out * slope[3 + i] * rate[i];
    return value;
}

void function_slopes(const LashFunction* function, const LashInput* input, double t, double x,
                     double v, double slope[3 + LASH_FUNCTION_INPUTS]) {
    double rate, in[3 + LASH_FUNCTION_INPUTS] = {t / function->in[0], x / function->in[1],
                                                 v / function->in[2]};
    for (int i = 0; i < function->inputs; ++i)
        in[3 + i] = lash_input_at(&input[function->input[i]], t, &rate);
    lash_expression_gradient(function->expression, in, slope);
}

double function_value(const LashFunction* function, const LashInput* input, double t, double x,
                      double v, double d[3]) {
    if (function->expression == NULL) {
        if (d != NULL) d[0] = d[1] = d[2] = 0;
        return function->out;
    }
    if (function->inputs > 0) return with_inputs(function, input, t, x, v, d);
    const double in[3] = {t / function->in[0], x / function->in[1], v / function->in[2]};
    if (d == NULL) return function->out * lash_expression_value(function->expression, in);
    double value = function->out * lash_expression_gradient(function->expression, in, d);
    for (int i = 0; i < 3; ++i) d[i] *= function->out / function->in[i];
    return value;
}

const ForceKind* force_kind(LashForceType type) {
    switch (type) {
        case LASH_SPRING:
            return &force_spring;
        case LASH_JOINT_SPRING:
            return &force_joint_spring;
        case LASH_JOINT_FORCE:
            return &force_joint_force;
        case LASH_POINT_FORCE:
            return &force_point_force;
        case LASH_TORQUE:
            return &force_torque;
        case LASH_SPRING_FUNCTION:
            return &force_spring_function;
        case LASH_DIRECTION_SPRING:
            return &force_direction_spring;
        case LASH_DIRECTION_FORCE:
            return &force_direction_force;
        case LASH_BUSHING:
            return &force_bushing;
    }
    LASH_ASSERT(!"a known force type");
    return NULL;
}

static void side_velocities(const Force* force, const double* v, double both[12]) {
    const int side[2] = {force->a, force->b};
    for (int s = 0; s < 2; ++s) {
        for (int i = 0; i < 6; ++i) both[6 * s + i] = side[s] == 0 ? 0 : v[6 * (side[s] - 1) + i];
    }
}

static void distance_frames(const Force* force, const BodyState* body, JointFrames* frames) {
    frames->a = &body[force->a];
    frames->b = &body[force->b];
    frames->length = 0;
    frames->a_point = force->def.a_point;
    frames->b_point = force->def.b_point;
    frames->p_a = vec3_add(frames->a->x, mat3_mul(frames->a->R, frames->a_point));
    frames->p_b = vec3_add(frames->b->x, mat3_mul(frames->b->R, frames->b_point));
}

static void distance_coordinate(const Force* force, const BodyState* body, bool second,
                                JointCoordinate* coordinate) {
    JointFrames f;
    distance_frames(force, body, &f);
    RowWriter row = {.g = &coordinate->x, .Ga = coordinate->g, .Gb = coordinate->g + 6};
    bool along = force->kind->along == ALONG_DIRECTION;
    f.a_axes = &force->a_axes;
    if (along)
        row_axis_point(&f, 0, &row);
    else
        row_distance(&f, &row);
    if (!second) return;
    memset(coordinate->H, 0, sizeof coordinate->H);
    const double one = 1;
    RowContraction contraction = {
        .rows = 1, .has_a = true, .has_b = true, .P = &one, .dGP = coordinate->H};
    if (along)
        row_axis_point_contract(&f, 0, &contraction);
    else
        row_distance_contract(&f, &contraction);
}

void mechanism_joint_coordinate(const LashMechanism* mech, const LashSystemWork* work, int joint,
                                int coordinate, bool second, JointCoordinate* c) {
    JointFrames f;
    const double* turned = mechanism_turned(work, joint);
    CoordinateType type = mech->joint[joint].kind->coordinate[coordinate];
    mechanism_joint_frames(&mech->joint[joint], work->body, turned, &f);
    c->x = coordinate_unwrapped(type, &f, turned[coordinate]);
    RowWriter row = {.Ga = c->g, .Gb = c->g + 6};
    coordinate_row(type, &f, &row);
    if (!second) return;
    memset(c->H, 0, sizeof c->H);
    const double one = 1;
    RowContraction contraction = {.rows = 1, .has_a = true, .has_b = true, .P = &one, .dGP = c->H};
    coordinate_contract(type, &f, &contraction);
}

// x, g and, when second is asked for, H.
static void place_coordinate(const LashMechanism* mech, const LashSystemWork* work,
                             const Force* force, bool second, JointCoordinate* coordinate) {
    if (force->kind->along == ALONG_COORDINATE) {
        mechanism_joint_coordinate(mech, work, force->joint, force->def.coordinate, second,
                                   coordinate);
    } else {
        distance_coordinate(force, work->body, second, coordinate);
    }
}

static void coordinate_of(const LashMechanism* mech, const LashSystemWork* work, const Force* force,
                          const double* v, bool second, JointCoordinate* coordinate) {
    place_coordinate(mech, work, force, second, coordinate);
    double both[12];
    side_velocities(force, v, both);
    coordinate->speed = 0;
    for (int i = 0; i < 12; ++i) coordinate->speed += coordinate->g[i] * both[i];
    if (!second) return;
    for (int j = 0; j < 12; ++j) {
        coordinate->gv[j] = 0;
        for (int i = 0; i < 12; ++i) coordinate->gv[j] += both[i] * coordinate->H[i + 12 * j];
    }
}

static Vec3 vector_value(const Force* force, const LashInput* input, double t) {
    const LashFunction* function = force->def.component;
    return vec3(function_value(&function[0], input, t, 0, 0, NULL),
                function_value(&function[1], input, t, 0, 0, NULL),
                function_value(&function[2], input, t, 0, 0, NULL));
}

static void add6(double* F, Vec3 linear, Vec3 angular) {
    F[0] += linear.x;
    F[1] += linear.y;
    F[2] += linear.z;
    F[3] += angular.x;
    F[4] += angular.y;
    F[5] += angular.z;
}

void mechanism_add_forces(const LashMechanism* mech, LashSystemWork* work, double t,
                          const double* v, double* F) {
    for (int i = 1; i < mech->bodies; ++i) {
        const LashBodyDef* def = &mech->body[i].def;
        const double* w = v + 6 * (i - 1) + 3;
        Vec3 omega = vec3(w[0], w[1], w[2]);
        add6(F + 6 * (i - 1), vec3_scale(def->mass, mech->gravity),
             vec3_cross(mat3_mul(def->inertia, omega), omega));
    }
    for (int k = 0; k < mech->forces; ++k) {
        const Force* force = &mech->force[k];
        if (force->kind->along == ALONG_SIX) {
            bushing_add_force(work, force, v, F);
            continue;
        }
        if (force->readings > 0) readings_take(mech, work, force, v);
        if (force->kind->along != ON_BODY) {
            JointCoordinate c;
            double d[3];
            coordinate_of(mech, work, force, v, false, &c);
            double f = force->kind->law(&force->def, work->input, t, c.x, c.speed, d);
            for (int i = 0; i < 6; ++i) {
                if (force->a > 0) F[6 * (force->a - 1) + i] += f * c.g[i];
                if (force->b > 0) F[6 * (force->b - 1) + i] += f * c.g[6 + i];
            }
        } else if (force->b > 0) {
            Vec3 world, torque;
            force->kind->load(&force->def, &work->body[force->b],
                              vector_value(force, work->input, t), &world, &torque);
            add6(F + 6 * (force->b - 1), world, torque);
        }
    }
}

void add_block3(double* block, int row, int column, double s, Mat3 X) {
    for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) block[(row + i) + 6 * (column + j)] += s * X.m[i + 3 * j];
    }
}

static void add_scalar_tangent(const LashMechanism* mech, const LashSystemWork* work,
                               const Force* force, double t, const double* v, double* C,
                               double* K) {
    JointCoordinate c;
    double d[3];
    coordinate_of(mech, work, force, v, true, &c);
    if (force->readings > 0) {
        double D[12];
        for (int i = 0; i < 12; ++i) D[i] = force->kind->sense * c.g[i];
        readings_add_tangents(mech, work, force, 0, (ForcePoint){t, c.x, c.speed, v}, D, C, K);
    }
    double f = force->kind->law(&force->def, work->input, t, c.x, c.speed, d);
    for (int row = 0; row < 2; ++row) {
        for (int column = 0; column < 2; ++column) {
            int block = force->block[row][column];
            if (block < 0) continue;
            double *Cb = C + mech->pattern_offset[block], *Kb = K + mech->pattern_offset[block];
            for (int j = 0; j < 6; ++j) {
                for (int i = 0; i < 6; ++i) {
                    int r = 6 * row + i, s = 6 * column + j;
                    Cb[i + 6 * j] -= d[2] * c.g[r] * c.g[s];
                    Kb[i + 6 * j] -=
                        d[1] * c.g[r] * c.g[s] + f * c.H[r + 12 * s] + d[2] * c.g[r] * c.gv[s];
                }
            }
        }
    }
}

// Of what the components of a load on a body read: each pushes in its own direction.
static void add_load_readings(const LashMechanism* mech, const LashSystemWork* work,
                              const Force* force, double t, const double* v, double* C, double* K) {
    for (int k = 0; k < 3; ++k) {
        Vec3 world, torque;
        Vec3 unit = vec3(k == 0, k == 1, k == 2);
        force->kind->load(&force->def, &work->body[force->b], unit, &world, &torque);
        const double D[12] = {[6] = world.x,  [7] = world.y,   [8] = world.z,
                              [9] = torque.x, [10] = torque.y, [11] = torque.z};
        readings_add_tangents(mech, work, force, k, (ForcePoint){t, 0, 0, v}, D, C, K);
    }
}

void mechanism_add_tangents(const LashMechanism* mech, LashSystemWork* work, double t,
                            const double* v, double* C, double* K) {
    for (int i = 1; i < mech->bodies; ++i) { // gyroscopic: C = [omega]x J - [J omega]x
        const double* w = v + 6 * (i - 1) + 3;
        Vec3 omega = vec3(w[0], w[1], w[2]);
        Mat3 J = mech->body[i].def.inertia;
        add_block3(C + mech->pattern_offset[i - 1], 3, 3, 1,
                   mat3_sub(mat3_product(mat3_skew(omega), J), mat3_skew(mat3_mul(J, omega))));
    }
    for (int k = 0; k < mech->forces; ++k) {
        const Force* force = &mech->force[k];
        if (force->kind->along == ALONG_SIX) {
            bushing_add_tangents(mech, work, force, v, false, C, K);
            continue;
        }
        if (force->readings > 0) readings_take(mech, work, force, v);
        if (force->kind->along != ON_BODY) {
            add_scalar_tangent(mech, work, force, t, v, C, K);
        } else if (force->b > 0) {
            if (force->readings > 0) add_load_readings(mech, work, force, t, v, C, K);
            force->kind->turn(&force->def, &work->body[force->b],
                              vector_value(force, work->input, t),
                              K + mech->pattern_offset[force->b - 1]);
        }
    }
}

// A force along a coordinate whose law falls with x and speed: C = -f_xd g g', K = -f_x g g'.
static void add_definite(const LashMechanism* mech, const LashSystemWork* work, const Force* force,
                         double t, const double* v, double* C, double* K) {
    JointCoordinate c;
    double d[3];
    coordinate_of(mech, work, force, v, false, &c);
    force->kind->law(&force->def, work->input, t, c.x, c.speed, d);
    for (int k = 0; k < 4; ++k) {
        int row = k / 2, column = k % 2, block = force->block[row][column];
        if (block < 0) continue;
        double *Cb = C + mech->pattern_offset[block], *Kb = K + mech->pattern_offset[block];
        for (int j = 0; j < 6; ++j) {
            for (int i = 0; i < 6; ++i) {
                double gg = c.g[6 * row + i] * c.g[6 * column + j];
                if (d[2] < 0) Cb[i + 6 * j] -= d[2] * gg;
                if (d[1] < 0) Kb[i + 6 * j] -= d[1] * gg;
            }
        }
    }
}

void mechanism_add_definite_tangents(const LashMechanism* mech, LashSystemWork* work, double t,
                                     const double* v, double* C, double* K) {
    for (int i = 1; i < mech->bodies; ++i) { // gyroscopic: C = -[J omega]x, which does no work
        const double* w = v + 6 * (i - 1) + 3;
        Vec3 turn = mat3_mul(mech->body[i].def.inertia, vec3(w[0], w[1], w[2]));
        add_block3(C + mech->pattern_offset[i - 1], 3, 3, -1, mat3_skew(turn));
    }
    for (int k = 0; k < mech->forces; ++k) {
        const Force* force = &mech->force[k];
        if (force->kind->along == ON_BODY) continue;
        if (force->kind->along == ALONG_SIX) {
            bushing_add_tangents(mech, work, force, v, true, C, K);
            continue;
        }
        if (force->readings > 0) readings_take(mech, work, force, v);
        add_definite(mech, work, force, t, v, C, K);
    }
}

void mechanism_add_conservative(const LashMechanism* mech, LashSystemWork* work, double* F) {
    for (int i = 1; i < mech->bodies; ++i)
        add6(F + 6 * (i - 1), vec3_scale(mech->body[i].def.mass, mech->gravity), vec3(0, 0, 0));
    for (int k = 0; k < mech->forces; ++k) {
        const Force* force = &mech->force[k];
        if (force->kind->along == ON_BODY) continue;
        if (force->kind->along == ALONG_SIX) {
            bushing_add_conservative(work, force, F);
            continue;
        }
        JointCoordinate c;
        place_coordinate(mech, work, force, false, &c);
        double f = force->kind->conservative(&force->def, c.x);
        for (int i = 0; i < 6; ++i) {
            if (force->a > 0) F[6 * (force->a - 1) + i] += f * c.g[i];
            if (force->b > 0) F[6 * (force->b - 1) + i] += f * c.g[6 + i];
        }
    }
}

double mechanism_force_potential(const LashMechanism* mech, LashSystemWork* work) {
    double energy = 0;
    for (int k = 0; k < mech->forces; ++k) {
        const Force* force = &mech->force[k];
        if (force->kind->along == ON_BODY) continue;
        if (force->kind->along == ALONG_SIX) {
            energy += bushing_potential(work, force);
            continue;
        }
        JointCoordinate c;
        place_coordinate(mech, work, force, false, &c);
        energy += force->kind->potential(&force->def, c.x);
    }
    return energy;
}

LashPower mechanism_force_power(const LashMechanism* mech, LashSystemWork* work, double t,
                                const double* v) {
    LashPower power = {0};
    for (int k = 0; k < mech->forces; ++k) {
        const Force* force = &mech->force[k];
        if (force->kind->along == ALONG_SIX) {
            power.damping += bushing_damping_power(work, force, v);
            continue;
        }
        if (force->readings > 0) readings_take(mech, work, force, v);
        if (force->kind->along != ON_BODY) {
            JointCoordinate c;
            coordinate_of(mech, work, force, v, false, &c);
            LashPower own = force->kind->power(&force->def, work->input, t, c.x, c.speed);
            power.damping += own.damping;
            power.external += own.external;
        } else if (force->b > 0) {
            Vec3 world, torque;
            force->kind->load(&force->def, &work->body[force->b],
                              vector_value(force, work->input, t), &world, &torque);
            const double* w = v + 6 * (force->b - 1);
            power.external +=
                vec3_dot(world, vec3(w[0], w[1], w[2])) + vec3_dot(torque, vec3(w[3], w[4], w[5]));
        }
    }
    return power;
}

LashForceValue lash_mechanism_force_value(const LashMechanism* mech, LashSystemWork* work,
                                          int force, double t, const double* q, const double* v) {
    const Force* f = &mech->force[force];
    LashForceValue result = {.components = 1, .body_a = f->a - 1, .body_b = f->b - 1};
    if (f->readings > 0) {
        mechanism_place(mech, q, work->body);
        readings_take(mech, work, f, v);
    }
    if (f->kind->along == ALONG_SIX) {
        double six[6];
        mechanism_place(mech, q, work->body);
        bushing_value(work, f, v, six);
        result.components = 3;
        memcpy(result.value, six, sizeof six);
        return result;
    }
    if (f->kind->along == ON_BODY) {
        Vec3 value = vector_value(f, work->input, t);
        result.components = 3;
        result.value[0] = value.x;
        result.value[1] = value.y;
        result.value[2] = value.z;
        return result;
    }
    JointCoordinate c;
    mechanism_place(mech, q, work->body);
    coordinate_of(mech, work, f, v, false, &c);
    result.value[0] = f->kind->law(&f->def, work->input, t, c.x, c.speed, result.slope);
    result.x = c.x;
    result.speed = c.speed;
    return result;
}

LashTableRead lash_mechanism_force_outside(const LashMechanism* mech, const LashSystemWork* work,
                                           int force, int component, double t,
                                           const LashForceValue* value) {
    const LashFunction* function = &mech->force[force].def.component[component];
    if (function->expression == NULL) return (LashTableRead){0};
    double rate, in[3 + LASH_FUNCTION_INPUTS] = {t / function->in[0], value->x / function->in[1],
                                                 value->speed / function->in[2]};
    for (int i = 0; i < function->inputs; ++i)
        in[3 + i] = lash_input_at(&work->input[function->input[i]], t, &rate);
    return lash_expression_outside(function->expression, in);
}

bool lash_mechanism_driver_value(const LashMechanism* mech, const LashSystemWork* work, int joint,
                                 int coordinate, double t, double* value, double* rate) {
    const Joint* j = &mech->joint[joint];
    const LashCoordinateDef* coordinate_def = &j->def.coordinate[coordinate];
    if (coordinate >= j->kind->coordinates || coordinate_def->driver == LASH_NO_DRIVER)
        return false;
    double d[3];
    *value = function_value(&coordinate_def->motion, work->input, t, 0, 0, d);
    *rate = d[0];
    return true;
}
