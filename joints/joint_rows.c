// The interactions of one joint: its rows, drivers, limits and friction.
//
//   rows      g(q) = 0                                                       bilateral
//   driver    x - motion(t) = 0, or dx/dt - motion(t) = 0                    bilateral, prescribed
//   limit     0 <= x - lower, 0 <= upper - x, Newton restitution e           unilateral, one row
//   friction  P_n = |P of the load rows|, |P_t| <= mu P_n against the sliding velocity
//             U_t = dx/dt, or radius dx/dt where x is an angle               rows n (empty), t[,
//             t2]
// with x a free coordinate of the joint. The load is the joint's own reaction: the force across the
// axis of a prismatic or cylindrical joint or of a point on a line, the whole force on a revolute's
// pin, the normal force of a plane. Moments of the reaction carry no friction.
#include <stdio.h>
#include <string.h>

#include "joints/mechanism_internal.h"

_Static_assert(ROLES*(long)JOINT_ID <= CONTACT_ID, "ids of joints and contacts must differ");

// --- Numbering

void joint_number_bilateral(LashMechanism* mech, int j) {
    Joint* joint = &mech->joint[j];
    const JointKind* kind = joint->kind;
    LashInteraction rows = {
        .kind = LASH_BILATERAL, .rows = kind->rows, .angular = kind->angular, .id = (uint64_t)j};
    if (kind->couples) {
        LashInteraction item = coupling_interaction(mech, joint);
        item.id = (uint64_t)j;
        joint->interaction = mechanism_add_interaction(mech, 0, 0, item);
        return;
    }
    if (kind->rows > 0)
        joint->interaction = mechanism_add_interaction(mech, joint->a, joint->b, rows);
    for (int c = 0; c < kind->coordinates; ++c) {
        LashDriverType type = joint->def.coordinate[c].driver;
        if (type == LASH_NO_DRIVER) continue;
        LashInteraction driver = {
            .kind = type == LASH_DRIVE_POSITION ? LASH_BILATERAL : LASH_BILATERAL_VELOCITY,
            .rows = 1,
            .prescribed = true,
            .angular = coordinate_is_angle(kind->coordinate[c]) ? 1u : 0u,
            .id = (uint64_t)j + (uint64_t)(ROLE_DRIVER + c) * JOINT_ID};
        joint->driver[c] = mechanism_add_interaction(mech, joint->a, joint->b, driver);
        joint->extras = true;
    }
}

void joint_number_unilateral(LashMechanism* mech, int j) {
    Joint* joint = &mech->joint[j];
    const JointKind* kind = joint->kind;
    for (int c = 0; c < kind->coordinates; ++c) {
        const LashCoordinateDef* coordinate_def = &joint->def.coordinate[c];
        for (int side = 0; side < 2; ++side) {
            if (!isfinite(side == 0 ? coordinate_def->lower : coordinate_def->upper)) continue;
            int role = (side == 0 ? ROLE_LOWER : ROLE_UPPER) + c;
            LashInteraction limit = {.kind = LASH_UNILATERAL,
                                     .rows = 1,
                                     .angular = coordinate_is_angle(kind->coordinate[c]) ? 1u : 0u,
                                     .e = coordinate_def->e,
                                     .id = (uint64_t)j + (uint64_t)role * JOINT_ID};
            joint->limit[c][side] = mechanism_add_interaction(mech, joint->a, joint->b, limit);
            joint->extras = true;
        }
    }
    if (!(joint->def.mu > 0)) return;
    LashInteraction friction = {.kind = LASH_FRICTION,
                                .rows = 1 + kind->slips,
                                .mu = joint->def.mu,
                                .load = joint->interaction,
                                .load_rows = kind->load,
                                .id = (uint64_t)j + (uint64_t)ROLE_FRICTION * JOINT_ID};
    joint->friction = mechanism_add_interaction(mech, joint->a, joint->b, friction);
    joint->extras = true;
}

LashJointPart lash_mechanism_joint_part(uint64_t id, int* coordinate) {
    static const struct {
        int first;
        LashJointPart part;
    } roles[] = {{ROLE_FRICTION, LASH_PART_FRICTION},
                 {ROLE_UPPER, LASH_PART_UPPER_LIMIT},
                 {ROLE_LOWER, LASH_PART_LOWER_LIMIT},
                 {ROLE_DRIVER, LASH_PART_DRIVER}};
    int role = id >= CONTACT_ID ? ROLE_ROWS : (int)(id / JOINT_ID);
    *coordinate = 0;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; ++i) {
        if (role < roles[i].first) continue;
        *coordinate = role - roles[i].first;
        return roles[i].part;
    }
    return LASH_PART_ROWS;
}

void joint_name(const LashMechanism* mech, uint64_t id, char* text, size_t size) {
    if (id % JOINT_ID >= (uint64_t)mech->joints) { // no interaction of this mechanism
        if (size > 0) text[0] = '\0';
        return;
    }
    static const char* const part_name[] = {[LASH_PART_ROWS] = "",
                                            [LASH_PART_DRIVER] = ".driver",
                                            [LASH_PART_LOWER_LIMIT] = ".lower_limit",
                                            [LASH_PART_UPPER_LIMIT] = ".upper_limit",
                                            [LASH_PART_FRICTION] = ".friction"};
    int coordinate;
    LashJointPart part = lash_mechanism_joint_part(id, &coordinate);
    const LashJointDef* def = &mech->joint[id % JOINT_ID].def;
    bool of_one = part != LASH_PART_ROWS && part != LASH_PART_FRICTION;
    const char* label = of_one ? lash_coordinate_label(def->type, coordinate) : "";
    snprintf(text, size, "%s%s%s%s", def->name, label[0] == '\0' ? "" : ".", label,
             part_name[part]);
}

// --- Evaluation

static RowWriter writer_of(const LashInteraction* item, const Joint* joint, double* g, double* G) {
    RowWriter out = {.g = g + item->row};
    if (G == NULL) return out;
    double* next = G + item->offset;
    if (joint->a > 0) {
        out.Ga = next;
        next += 6 * item->rows;
    }
    if (joint->b > 0) out.Gb = next;
    return out;
}

static void scale_columns(const RowWriter* out, int row, double s) {
    for (int i = 6 * row; i < 6 * row + 6; ++i) {
        if (out->Ga != NULL) out->Ga[i] *= s;
        if (out->Gb != NULL) out->Gb[i] *= s;
    }
}

// g_t = -d(motion)/dt. The g of a speed driver is the coordinate itself.
static void write_driver(const LashInteraction* item, const Joint* joint, int c,
                         const JointFrames* frames, const LashInput* input, double t, double* g,
                         double* g_t, double* G) {
    RowWriter out = writer_of(item, joint, g, G);
    out.g = NULL; // unwrapped below
    if (G != NULL) coordinate_row(joint->kind->coordinate[c], frames, &out);
    const LashCoordinateDef* coordinate_def = &joint->def.coordinate[c];
    double d[3], motion = function_value(&coordinate_def->motion, input, t, 0, 0, d);
    bool speed = coordinate_def->driver == LASH_DRIVE_SPEED;
    double at = coordinate_unwrapped(joint->kind->coordinate[c], frames, frames->turned[c]);
    g[item->row] = speed ? at : at - motion;
    if (g_t != NULL) g_t[item->row] = speed ? -motion : -d[0];
}

static void write_limit(const LashInteraction* item, const Joint* joint, int c, int side,
                        const JointFrames* frames, double* g, double* g_t, double* G) {
    RowWriter out = writer_of(item, joint, g, G);
    out.g = NULL;
    if (G != NULL) coordinate_row(joint->kind->coordinate[c], frames, &out);
    double x = coordinate_unwrapped(joint->kind->coordinate[c], frames, frames->turned[c]);
    const LashCoordinateDef* def = &joint->def.coordinate[c];
    g[item->row] = side == 0 ? x - def->lower : def->upper - x;
    if (side == 1) scale_columns(&out, 0, -1);
    if (g_t != NULL) g_t[item->row] = 0;
}

// Factor on the coordinate's rate that gives the sliding velocity.
static double slip_scale(const Joint* joint, int k) {
    CoordinateType type = joint->kind->coordinate[joint->kind->slip[k]];
    return coordinate_is_angle(type) ? joint->def.radius : 1;
}

static void write_friction(const LashInteraction* item, const Joint* joint,
                           const JointFrames* frames, double* g, double* g_t, double* G) {
    RowWriter out = writer_of(item, joint, g, G);
    out.g = NULL;
    if (G != NULL) put_row(&out, 0, vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero());
    for (int k = 0; k < joint->kind->slips && G != NULL; ++k) {
        coordinate_row(joint->kind->coordinate[joint->kind->slip[k]], frames, &out);
        scale_columns(&out, 1 + k, slip_scale(joint, k));
    }
    for (int r = 0; r < item->rows; ++r) {
        g[item->row + r] = 0;
        if (g_t != NULL) g_t[item->row + r] = 0;
    }
}

// At most LASH_MAX_ROWS: so few that a call of memset would cost more.
static inline void clear(double* x, int rows) {
    x[0] = 0;
    if (rows > 1) x[1] = 0;
    if (rows > 2) x[2] = 0;
    if (rows > 3) x[3] = 0;
    if (rows > 4) x[4] = 0;
    if (rows > 5) x[5] = 0;
}

static bool asked_for(const uint8_t* wanted, int interaction) {
    return wanted == NULL || wanted[interaction];
}

static void evaluate_extras(const LashMechanism* mech, const LashSystemWork* work,
                            const Joint* joint, const JointFrames* frames, double t,
                            const uint8_t* wanted, double* g, double* g_t, double* G) {
    for (int c = 0; c < joint->kind->coordinates; ++c) {
        int driver = joint->driver[c];
        if (driver >= 0) {
            bool asked = asked_for(wanted, driver);
            write_driver(&mech->interaction[driver], joint, c, frames, work->input, t, g,
                         asked ? g_t : NULL, asked ? G : NULL);
        }
        for (int side = 0; side < 2; ++side) {
            int limit = joint->limit[c][side];
            if (limit < 0) continue;
            bool asked = asked_for(wanted, limit);
            write_limit(&mech->interaction[limit], joint, c, side, frames, g, asked ? g_t : NULL,
                        asked ? G : NULL);
        }
    }
    if (joint->friction < 0) return;
    bool asked = asked_for(wanted, joint->friction);
    write_friction(&mech->interaction[joint->friction], joint, frames, g, asked ? g_t : NULL,
                   asked ? G : NULL);
}

void joint_evaluate(const LashMechanism* mech, const LashSystemWork* work, int j, double t,
                    const uint8_t* wanted, double* g, double* g_t, double* G) {
    const Joint* joint = &mech->joint[j];
    JointFrames f;
    if (joint->interaction < 0) { // all clearance: drivers and limits are left
        if (!joint->extras) return;
        mechanism_joint_frames(joint, work->body, mechanism_turned(work, j), &f);
        evaluate_extras(mech, work, joint, &f, t, wanted, g, g_t, G);
        return;
    }
    const LashInteraction* item = &mech->interaction[joint->interaction];
    bool asked = asked_for(wanted, joint->interaction);
    if (g_t != NULL && asked) clear(g_t + item->row, item->rows);
    if (joint->kind->couples) {
        coupling_evaluate(mech, work, joint, item, g, asked ? G : NULL);
        return;
    }
    mechanism_joint_frames(joint, work->body, mechanism_turned(work, j), &f);
    RowWriter out = writer_of(item, joint, g, asked ? G : NULL);
    joint->kind->write(&f, &out);
    if (joint->extras) evaluate_extras(mech, work, joint, &f, t, wanted, g, g_t, G);
}

// --- Second derivatives

static void contract_friction(const Joint* joint, const JointFrames* frames,
                              RowContraction* contraction) {
    double P[3] = {0}; // of the rates, not of the sliding velocity
    for (int k = 0; k < joint->kind->slips && contraction->P != NULL; ++k)
        P[1 + k] = slip_scale(joint, k) * contraction->P[1 + k];
    if (contraction->P != NULL) contraction->P = P;
    contraction->row = 1;
    for (int k = 0; k < joint->kind->slips; ++k)
        coordinate_contract(joint->kind->coordinate[joint->kind->slip[k]], frames, contraction);
    if (contraction->dGv == NULL) return;
    int n = 6 * ((contraction->has_a ? 1 : 0) + (contraction->has_b ? 1 : 0));
    for (int k = 0; k < joint->kind->slips; ++k) {
        for (int i = 0; i < n; ++i)
            contraction->dGv[(1 + k) + contraction->rows * i] *= slip_scale(joint, k);
    }
}

static void negate(double* x, int n) {
    for (int i = 0; i < n && x != NULL; ++i) x[i] = -x[i];
}

void joint_contract(const LashMechanism* mech, const LashSystemWork* work,
                    const LashInteraction* item, const double* P, const double* v, double* dGP,
                    double* dGv) {
    int j = (int)(item->id % JOINT_ID), role = (int)(item->id / JOINT_ID), n = 6 * item->touched;
    const Joint* joint = &mech->joint[j];
    if (dGP != NULL) memset(dGP, 0, (size_t)(n * n) * sizeof *dGP);
    if (dGv != NULL) memset(dGv, 0, (size_t)(item->rows * n) * sizeof *dGv);
    if (joint->kind->couples) {
        coupling_contract(mech, work, joint, item, P, v, dGP, dGv);
        return;
    }
    RowContraction c = {.rows = item->rows,
                        .has_a = joint->a > 0,
                        .has_b = joint->b > 0,
                        .P = P,
                        .v = v,
                        .dGP = dGP,
                        .dGv = dGv};
    JointFrames f;
    mechanism_joint_frames(joint, work->body, mechanism_turned(work, j), &f);
    if (role == ROLE_ROWS) {
        joint->kind->contract(&f, &c);
    } else if (role == ROLE_FRICTION) {
        contract_friction(joint, &f, &c);
    } else {
        coordinate_contract(joint->kind->coordinate[(role - ROLE_DRIVER) % LASH_MAX_COORDINATES],
                            &f, &c);
        if (role >= ROLE_UPPER) {
            negate(dGP, n * n);
            negate(dGv, n);
        }
    }
}
