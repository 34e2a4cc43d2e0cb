// Inside of a mechanism: for joints/ and its tests only.
#ifndef LASH_JOINTS_MECHANISM_INTERNAL_H
#define LASH_JOINTS_MECHANISM_INTERNAL_H

#include "joints/contact/contact.h"
#include "joints/contact/group.h"
#include "joints/contact/pair_contact.h"
#include "joints/contact/rim.h"
#include "joints/force.h"

typedef struct Body {
    LashBodyDef def; // name owned
} Body;

typedef struct Joint {
    LashJointDef def; // name owned
    const JointKind* kind;
    int a, b;            // bodies: 0 is the ground, i > 0 has velocity block i - 1
    Mat3 a_axes, b_axes; // joint axes in each body
    int via[2];          // joints a gear pair couples
    // In the list of interactions, -1: none.
    int interaction, friction;   // interaction: of the rows
    bool extras;                 // it has drivers, limits or friction
    int first_contact, contacts; // of a joint with clearance
    int driver[LASH_MAX_COORDINATES], limit[LASH_MAX_COORDINATES][2];
    double start[LASH_MAX_COORDINATES]; // coordinates of the initial configuration [rad or m]
} Joint;

// Ids of interactions: joint number plus JOINT_ID times its role, of which there are less than 32;
// contact c has id c + CONTACT_ID; points of pair contacts lie above (pair_contact.h).
enum { JOINT_ID = 1 << 19, CONTACT_ID = 1 << 24 };
enum JointRole {
    ROLE_ROWS,
    ROLE_DRIVER,                                       // + coordinate
    ROLE_LOWER = ROLE_DRIVER + LASH_MAX_COORDINATES,   // + coordinate
    ROLE_UPPER = ROLE_LOWER + LASH_MAX_COORDINATES,    // + coordinate
    ROLE_FRICTION = ROLE_UPPER + LASH_MAX_COORDINATES, // one per joint
    ROLES
};

typedef struct ForceReading { // what a force reads of the state (reading.c)
    LashReading def;
    int body[2];     // as in Joint; 0: none
    int block[2][2]; // of the pattern: side of the force, body read; -1: none
} ForceReading;

typedef struct Bushing {
    LashBushingDef def;
    Mat3 a_axes, b_axes;
} Bushing;

typedef struct Force {
    const ForceKind* kind;
    LashForceDef def;      // name owned
    int a, b, joint;       // bodies as in Joint; joint index or -1
    int block[2][2];       // blocks of the pattern it writes to, by side; -1: ground
    Mat3 a_axes;           // ALONG_DIRECTION: the direction is x
    Bushing* bushing;      // ALONG_SIX
    ForceReading* reading; // (readings) of its components, one after another
    int readings, first_reading[3];
} Force;

struct LashMechanism {
    LashSystem system; // first: a LashSystem* of a mechanism is a LashMechanism*
    bool complete;
    int bodies, joints, forces, contacts; // bodies count the ground
    Body* body;
    Joint* joint;
    Force* force;
    Contact* contact;
    PairContact* pair; // of those contacts that are between face sets
    int pairs;
    Group* group; // of those contacts that are groups
    int groups;
    int (*view)[2]; // (views) bodies a, b of contacts between simple features, all different
    int views;
    int rims; // edge circles that can lie flat
    Vec3 gravity;
    char** input_name;   // (system.inputs)
    double* input_value; // (system.inputs) before a run sets them
    // Tables of the system.
    int *block_start, *q_start, *pattern_row, *pattern_column, *pattern_offset;
    LashInteraction* interaction; // in list order: joints and drivers, then contacts; those of
                                  // pairs follow in the list of a run
    int readings;                 // the most that one force has
    int interactions, rows, G_size;
    int bilateral, bilateral_rows;
};

// What an evaluation found out of bodies and contacts between simple features: derivatives at the
// same configuration begin there.
typedef struct Evaluated {
    bool filled;
    double* q;           // (nq)
    BodyState* body;     // (bodies)
    ContactView* view;   // (views)
    ContactState* state; // (contacts)
    bool* known;         // (contacts) the state, with its point
} Evaluated;

struct LashSystemWork {
    BodyState* body; // (bodies) scratch
    double* turned;  // (joints x LASH_MAX_COORDINATES) angles at the last accepted step [rad]
    Evaluated evaluated[2]; // the last two configurations
    int latest;             // the newer one
    Circles* circles;
    Rims rims;         // where those that lie flat bear
    LashLevers levers; // of contacts
    LashInteractionList list;
    PairRun pairs;
    LashInput* input; // (inputs, then room for the readings of one force)
};

// Body states of a configuration.
void mechanism_place(const LashMechanism* mech, const double* q, BodyState* body);
// The two sides of a joint; turned: of the work, the first one of this joint.
void mechanism_joint_frames(const Joint* joint, const BodyState* body, const double* turned,
                            JointFrames* frames);
void mechanism_frames_between(const Joint* joint, const BodyState* a, const BodyState* b,
                              const double* turned, JointFrames* frames);
static inline const double* mechanism_turned(const LashSystemWork* work, int joint) {
    return work->turned + LASH_MAX_COORDINATES * joint;
}
int mechanism_add_interaction(LashMechanism* mech, int a, int b, LashInteraction item);

// Interactions of joints (joint_rows.c). Numbering: bilateral ones of all joints, then unilateral
// ones. evaluate and contract as in LashSystem, for one joint; bodies are placed.
void joint_number_bilateral(LashMechanism* mech, int j);
void joint_number_unilateral(LashMechanism* mech, int j);
void joint_evaluate(const LashMechanism* mech, const LashSystemWork* work, int j, double t,
                    const uint8_t* wanted, double* g, double* g_t, double* G);
void joint_contract(const LashMechanism* mech, const LashSystemWork* work,
                    const LashInteraction* item, const double* P, const double* v, double* dGP,
                    double* dGv);
void joint_name(const LashMechanism* mech, uint64_t id, char* text, size_t size);

// Joints with clearance (clearance.c): the kind with the rows that are left (NULL: no such joint);
// adds the contacts of all joints; force and moment on b at p_b, world, from the impulses P, where rings
// that lie flat bear as the work has it (NULL: in their middle).
const JointKind* clearance_kind(const LashJointDef* def);
void clearance_check(const LashJointDef* def);
void clearance_add_contacts(LashMechanism* mech);
void clearance_reaction(const LashMechanism* mech, const LashSystemWork* work, const Joint* joint,
                        const JointFrames* frames, const double* P, Vec3* force, Vec3* moment);

// Rows of gear, rack and pinion (coupling.c), touching up to four bodies.
LashInteraction coupling_interaction(const LashMechanism* mech, const Joint* joint);
void coupling_evaluate(const LashMechanism* mech, const LashSystemWork* work, const Joint* joint,
                       const LashInteraction* item, double* g, double* G);
void coupling_contract(const LashMechanism* mech, const LashSystemWork* work, const Joint* joint,
                       const LashInteraction* item, const double* P, const double* v, double* dGP,
                       double* dGv);

// A coordinate of a joint, bodies placed: value, gradient and, when second is asked for, dg/dq.
typedef struct JointCoordinate {
    double x, speed;
    double g[12], H[144]; // gradient and dg/dq over both sides, ground included
    double gv[12];        // d(g'v)/dq
} JointCoordinate;
void mechanism_joint_coordinate(const LashMechanism* mech, const LashSystemWork* work, int joint,
                                int coordinate, bool second, JointCoordinate* c);

// What forces read of the state (reading.c). Taken before a force is evaluated; bodies are placed.
typedef struct ForcePoint { // where a function is evaluated
    double t, x, speed;
    const double* v;
} ForcePoint;
void readings_take(const LashMechanism* mech, LashSystemWork* work, const Force* force,
                   const double* v);
// D: what one unit of the component does to the bodies a, b of the force.
void readings_add_tangents(const LashMechanism* mech, const LashSystemWork* work,
                           const Force* force, int component, ForcePoint at, const double D[12],
                           double* C, double* K);
void readings_add(const LashMechanism* mech, Force* force); // of a new force
void readings_number(LashMechanism* mech);                  // once all inputs are known

// Forces (force.c): added to F (nv), C and K (pattern layout; both or neither NULL); potential [J];
// power.
void mechanism_add_forces(const LashMechanism* mech, LashSystemWork* work, double t,
                          const double* v, double* F);
void mechanism_add_tangents(const LashMechanism* mech, LashSystemWork* work, double t,
                            const double* v, double* C, double* K);
void mechanism_add_definite_tangents(const LashMechanism* mech, LashSystemWork* work, double t,
                                     const double* v, double* C, double* K);
// Those of the potential alone: gravity, springs.
void mechanism_add_conservative(const LashMechanism* mech, LashSystemWork* work, double* F);
double mechanism_force_potential(const LashMechanism* mech, LashSystemWork* work);
LashPower mechanism_force_power(const LashMechanism* mech, LashSystemWork* work, double t,
                                const double* v);

#endif
