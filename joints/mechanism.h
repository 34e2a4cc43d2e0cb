// Rigid bodies, joints, forces and contacts: the multibody system in maximal coordinates.
//
// Built once, then read-only and shared by all runs (lash_mechanism_system). Per body q holds r (3,
// world) and the quaternion (4, scalar first), v the velocity of the mass center (3, world axes)
// and omega (3, body axes).
#ifndef LASH_JOINTS_MECHANISM_H
#define LASH_JOINTS_MECHANISM_H

#include "core/body.h"
#include "core/expression.h"
#include "core/system.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashMechanism LashMechanism; // opaque, owns all it holds

typedef struct LashJointId {
    int32_t index1;
} LashJointId;
typedef struct LashForceId {
    int32_t index1;
} LashForceId;
typedef struct LashContactId {
    int32_t index1;
} LashContactId;

// A compiled expression in the user's units, all SI outside:
//     value = out * expression(t / in[0], x / in[1], v / in[2])
enum { LASH_FUNCTION_INPUTS = 12 }; // inputs and readings that one function may have
typedef struct LashFunction {
    LashExpression* expression; // NULL: the constant `out`; owned by the mechanism once added
    double out, in[3];          // SI units per unit of the result, of t, x and v
    int inputs;                 // variables behind t, x and v: inputs of the mechanism, as they are
    int input[LASH_FUNCTION_INPUTS];
    // Variables behind the inputs, of forces only: what the function reads of the state. Copied.
    int readings;
    const struct LashReading* reading; // (readings)
} LashFunction;

// The joints: name in models, of joints/kinds/NAME.c and of the const JointKind joint_NAME in it.
//   distance         massless rod between the two joint points
//   cylindrical      turns about z and slides along it
//   universal        a cross: axis z in a, axis x in b
//   planar           slides on the plane across z and turns about it
//   screw            turns about z, slides along it by pitch per turn
//   point_on_line    the point of b on the line along z of a
//   point_on_plane   the point of b in the plane across z of a
//   free             holds nothing: six coordinates of b against a, to read, drive, load and limit
//   gear             ratio between the angles of two joints
//   rack_and_pinion  a displacement follows an angle of another joint
// clang-format off
#define LASH_JOINT_TABLE(X) \
    X(FIXED, fixed) \
    X(REVOLUTE, revolute) \
    X(PRISMATIC, prismatic) \
    X(SPHERICAL, spherical) \
    X(DISTANCE, distance) \
    X(CYLINDRICAL, cylindrical) \
    X(UNIVERSAL, universal) \
    X(PLANAR, planar) \
    X(SCREW, screw) \
    X(POINT_ON_LINE, point_on_line) \
    X(POINT_ON_PLANE, point_on_plane) \
    X(FREE_JOINT, free) \
    X(GEAR, gear) \
    X(RACK_AND_PINION, rack_and_pinion)
// clang-format on
typedef enum LashJointType {
#define X(id, name) LASH_##id,
    LASH_JOINT_TABLE(X)
#undef X
        LASH_JOINT_TYPES
} LashJointType;

enum { LASH_MAX_COORDINATES = 6 }; // free coordinates of a joint

typedef enum LashDriverType {
    LASH_NO_DRIVER,
    LASH_DRIVE_POSITION,
    LASH_DRIVE_SPEED
} LashDriverType;

// One free coordinate x of a joint [rad or m]: what moves it and where it ends.
typedef struct LashCoordinateDef {
    LashDriverType driver;
    LashFunction motion; // of t: [rad] or [m]; [rad/s] or [m/s] for a speed driver
    double lower, upper; // lower <= x <= upper, infinite: no limit [rad or m]
    double e;            // Newton restitution of the limits in [0, 1]
    double start;        // an angle counts turns from the value nearest to this [rad]
} LashCoordinateDef;

// Play between the two surfaces of a joint (clearance.c): revolute, cylindrical, spherical,
// prismatic, planar. Such a joint has contacts instead of rows.
typedef struct LashClearanceDef {
    double play;   // bore radius minus pin radius; per side of a guide or plate [m]; 0: ideal joint
    double axial;  // revolute: per side, against collars [m]; 0: held along the axis by a row
    double radius; // of the pin, the ball, a round slider or a round plate [m]
    double bore_length;   // of the bore or guide, its middle at the joint point [m]; infinite: the
    double pin_length;    // other one's ends touch; the same of pin or slider, its middle at
    double pin_offset;    // pin_offset along its axis from the joint point [m]
    double collar_radius; // of the rings that touch the collars [m]
    double width, height; // of a slider or plate with corners, along x and y [m]; 0: round
    bool outer_b;         // b carries bore, socket or guide and a the pin, instead of a and b
    double e, mu;         // Newton restitution, Coulomb friction of all its contacts
} LashClearanceDef;

typedef struct LashJointDef {
    LashJointType type;
    const char* name;          // copied, unique among joints
    LashBodyId body_a, body_b; // either may be the ground, not both; not looked at in a gear pair
    LashPose a_joint, b_joint; // joint frame in each body; z is the axis, x where the angle is zero
    LashCoordinateDef coordinate[LASH_MAX_COORDINATES]; // in the order of lash_coordinate_name
    double length;                                      // of a distance joint, > 0 [m]
    double pitch; // of a screw: displacement per turn, not 0, positive right-handed [m]
    // Gear, rack and pinion: x_2 - x_2(0) = ratio (x_1 - x_1(0)); [-], or [m] per rad of a pinion
    LashJointId coupled[2]; // added before
    int coupled_coordinate[2];
    double ratio;
    double mu;     // Coulomb friction of the sliding surfaces [-]; 0: none
    double radius; // of the sliding surface where the joint turns, > 0 with friction [m]
    LashClearanceDef clearance;
} LashJointDef;

typedef enum LashForceType {
    LASH_SPRING, // along the line between two points: k (length - rest) + c d(length)/dt, pulls
                 // when positive
    LASH_JOINT_SPRING,    // on a joint coordinate x: -k (x - rest) - c dx/dt  (torsion spring of a
                          // revolute)
    LASH_JOINT_FORCE,     // on a joint coordinate: function of t, x, dx/dt [N m or N]
    LASH_POINT_FORCE,     // function of t, three components, at a point of body b
    LASH_TORQUE,          // function of t, three components, on body b
    LASH_SPRING_FUNCTION, // along the line between two points: function of t, length, d(length)/dt;
                          // pulls when positive
    LASH_DIRECTION_SPRING, // spring along a direction of body a: x = direction . (p_b - p_a)
    LASH_DIRECTION_FORCE,  // component[0] along it, on b: a function of t, x, v
    LASH_BUSHING
} LashForceType;

// One-sided springs: push while x < rest, pull while x > rest.
typedef enum LashActs { LASH_ACTS_BOTH_WAYS, LASH_PUSHES, LASH_PULLS } LashActs;

// Six coordinates of frame b against frame a: along x, y, z of a, about x of b (roll), between
// (pitch), about z of a (yaw). Symmetric matrices without negative eigenvalues.
typedef struct LashBushingDef {
    LashPose a_frame, b_frame;             // in the bodies
    double stiffness[6][6], damping[6][6]; // SI
    double rest[6];                        // [m], [rad]
} LashBushingDef;
bool lash_bushing_check(const LashBushingDef* def, LashError* error);

typedef struct LashForceDef {
    LashForceType type;
    const char* name;                // copied, unique among forces
    LashBodyId body_a, body_b;       // reaction on a (ground allowed), action on b
    LashVec3 a_point, b_point;       // body coordinates [m]
    LashJointId joint;               // of the joint forces
    int coordinate;                  // of that joint
    double stiffness, damping, rest; // [N/m, N s/m, m] or [N m/rad, N m s/rad, rad]
    LashFunction component[3];       // force components, or [0] for the scalar functions
    bool body_axes;                  // components in axes of body b instead of world axes
    LashActs acts;                   // of the springs; without damping unless both ways
    LashVec3 direction;              // LASH_DIRECTION_*: in axes of body a
    const LashBushingDef* bushing;   // LASH_BUSHING: copied
} LashForceDef;

typedef enum LashReadingKind {
    LASH_READ_COORDINATE,      // of a joint [rad or m]
    LASH_READ_SPEED,           // its rate
    LASH_READ_POSITION,        // of a body's mass center, world axes [m]
    LASH_READ_VELOCITY,        // world axes [m/s]
    LASH_READ_ANGULAR_VELOCITY // body axes [rad/s]
} LashReadingKind;

// A number of the state that a force may depend on.
typedef struct LashReading {
    LashReadingKind kind;
    LashJointId joint; // of the first two
    int coordinate;
    LashBodyId body; // of the others: one that moves
    int axis;        // 0, 1, 2
    double unit;     // SI units per unit in which the expression wants it
} LashReading;

typedef enum LashFeatureType {
    LASH_FEATURE_PLANE,    // side a: through the frame's origin, z is the outward normal
    LASH_FEATURE_CYLINDER, // side a: about z of the frame; inside: a bore
    LASH_FEATURE_SPHERE,   // either side: about the frame's origin; radius 0 on side b: a point
    LASH_FEATURE_DISC      // side b: an edge circle, axis z of the frame: of a cylinder lying on a
    // plane, of the end of a pin in a bore (inside) or of a bore around a pin
} LashFeatureType;

typedef struct LashContactDef {
    const char* name;          // copied, unique among contacts
    LashBodyId body_a, body_b; // either may be the ground, not both
    LashFeatureType a_type, b_type;
    LashPose a_frame, b_frame; // of the feature in its body
    double a_radius, b_radius; // [m]
    double a_low, a_high;      // ends of a cylinder along z, infinite by default: only a circle in
                               // it looks at them [m]
    double flat;  // disc on a plane: with less tilt, radius times its sine, it has no touching
                  // point and the gap is infinite [m]; three points of its edge, contacts of
                  // their own, must bear it then, and beside them it does where the load is
    bool inside;  // b inside the cylinder or sphere of a
    double e, mu; // Newton restitution in [0, 1], Coulomb friction
} LashContactDef;

// A contact between two sets of CAD faces: one name, any number of points.
typedef struct LashPair LashPair;
typedef struct LashPairContactDef {
    const char* name;          // copied, unique among contacts
    LashBodyId body_a, body_b; // sides of the pair; either may be the ground, not both
    LashPair* pair;            // owned by the mechanism once added; its shapes are borrowed
    double e, mu;              // Newton restitution in [0, 1], Coulomb friction
} LashPairContactDef;

// A contact between any of the members of a set, or of two sets, that come near each other: one
// name, any number of points (joints/contact/group.h).
typedef struct LashGroupMember {
    LashBodyId body;               // may be the ground
    const struct LashShape* shape; // all its faces; borrowed, must outlive the mechanism
    LashPose body_shape;           // the shape's frame in the body's frame
    int owner;      // its part, by a number of the caller; shapes of one part do not meet
    int material;   // row and column of the laws
    unsigned sides; // 1, 2, or 3 for both: a pair that meets has one of each
} LashGroupMember;
typedef struct LashGroupDef {
    const char* name;              // copied, unique among contacts
    const LashGroupMember* member; // (members) copied
    int members;
    int materials;
    const double *e, *mu;  // (materials x materials) Newton restitution, Coulomb friction; copied
    const int (*apart)[2]; // (aparts) owners that do not meet here, copied
    int aparts;
} LashGroupDef;

LashContactDef lash_contact_def(void);
LashPairContactDef lash_pair_contact_def(void);
LashGroupDef lash_group_def(void);
// What a group can hold: shapes of not too many faces, edges and vertices (1023 of each); members;
// and how many groups a mechanism may have.
bool lash_group_can_have(const struct LashShape* shape);
int lash_group_max_members(void);
int lash_group_max_groups(void);
LashJointDef lash_joint_def(void);
LashForceDef lash_force_def(void);

LashMechanism* lash_mechanism_create(void); // caller owns; holds only the ground
void lash_mechanism_destroy(LashMechanism* mech);

LashBodyId lash_mechanism_ground(const LashMechanism* mech);
LashBodyId lash_mechanism_add_body(LashMechanism* mech, const LashBodyDef* def);
LashJointId lash_mechanism_add_joint(LashMechanism* mech, const LashJointDef* def);
LashForceId lash_mechanism_add_force(LashMechanism* mech, const LashForceDef* def);
LashContactId lash_mechanism_add_contact(LashMechanism* mech, const LashContactDef* def);
LashContactId lash_mechanism_add_pair_contact(LashMechanism* mech, const LashPairContactDef* def);
LashContactId lash_mechanism_add_group(LashMechanism* mech, const LashGroupDef* def);
void lash_mechanism_set_gravity(LashMechanism* mech, LashVec3 gravity); // [m/s^2]

// Completes the tables; nothing can be added afterwards. The system borrows the mechanism.
const LashSystem* lash_mechanism_system(LashMechanism* mech);

int lash_mechanism_body_count(
    const LashMechanism* mech); // without the ground; bodies are numbered from 0
int lash_mechanism_joint_count(const LashMechanism* mech);
int lash_mechanism_contact_count(const LashMechanism* mech);
const char* lash_mechanism_body_name(const LashMechanism* mech, int body);
const char* lash_mechanism_joint_name(const LashMechanism* mech, int joint);
const char* lash_mechanism_contact_name(const LashMechanism* mech, int contact);
const LashBodyDef* lash_mechanism_body(const LashMechanism* mech, int body);
const LashJointDef* lash_mechanism_joint(const LashMechanism* mech, int joint); // frames as added

// Contact number `contact` of the mechanism an interaction stands for, -1: it is a joint or driver.
int lash_mechanism_contact_of(const LashMechanism* mech, uint64_t interaction_id);
// Joint whose rows, driver, limit or friction an interaction is, -1: it is a contact.
int lash_mechanism_joint_of(const LashMechanism* mech, uint64_t interaction_id);
// What an interaction is to its joint.
typedef enum LashJointPart {
    LASH_PART_ROWS, // the joint itself; also of what is no joint's
    LASH_PART_DRIVER,
    LASH_PART_LOWER_LIMIT,
    LASH_PART_UPPER_LIMIT,
    LASH_PART_FRICTION
} LashJointPart;
LashJointPart lash_mechanism_joint_part(uint64_t interaction_id, int* coordinate);
// Where the contact is at configuration q.
typedef struct LashContactPlace {
    double gap;             // [m]
    LashVec3 point, normal; // world; normal from a into b
} LashContactPlace;
// Of a contact between face sets: its point of least gap; gap INFINITY where there is none, and of a group where all
// parts are farther apart than half the thinnest of them. Not for the time loop: allocates.
LashContactPlace lash_mechanism_contact_place(const LashMechanism* mech, int contact,
                                              const double* q);
// All its points with a gap of at most `within`; returns how many, the first `capacity` are
// written. beyond (or NULL): places that overlap too deeply to be measured. Allocates.
int lash_mechanism_contact_points(const LashMechanism* mech, int contact, const double* q,
                                  double within, LashContactPlace* places, int capacity,
                                  int* beyond);
// The deepest place of parts that are in each other deeper than any point of the contact tells (its
// gap is minus the depth); gap INFINITY: there is none. Allocates.
LashContactPlace lash_mechanism_contact_interference(const LashMechanism* mech, int contact,
                                                     const double* q);
// The deepest point that came in through a face which the contact leaves out; depth 0: none.
// Allocates.
typedef struct LashContactIntrusion {
    double depth; // [m]
    LashVec3 point;
    int body;         // whose face it is, -1: ground
    int face;         // its number in its part
    const char* name; // of the face, "": none
} LashContactIntrusion;
LashContactIntrusion lash_mechanism_contact_intrusion(const LashMechanism* mech, int contact,
                                                      const double* q);
// Body numbers of a contact's interaction, -1: ground.
void lash_mechanism_interaction_bodies(const LashMechanism* mech, uint64_t id, int* a, int* b);
// A group: its points are between different bodies.
bool lash_mechanism_contact_is_group(const LashMechanism* mech, int contact);
// Body numbers of its sides, -1: ground, and of a group.
void lash_mechanism_contact_bodies(const LashMechanism* mech, int contact, int* a, int* b);
bool lash_mechanism_contact_is_pair(const LashMechanism* mech, int contact);
const LashPair* lash_mechanism_contact_pair(const LashMechanism* mech, int contact); // or NULL
// Gaps up to this one are in the list of work at q, which is within its promise; what is farther may
// be missing there. INFINITY for contacts that are no pairs, -INFINITY for a pair that is not listed
// since nothing of it can touch [m].
double lash_mechanism_contact_seen(const LashMechanism* mech, const LashSystemWork* work,
                                   int contact, const double* q);
// Place of interaction i of the list after a step that ended at q; false: it is no contact, or did
// not act in the step.
bool lash_mechanism_interaction_place(const LashMechanism* mech, const LashSystemWork* work, int i,
                                      const double* q, LashContactPlace* place);

// Contacts of a joint with clearance: how many (0: the joint is ideal) and the first one's number.
// They follow the contacts that were added, joint by joint; names are "joint.1", "joint.2", ...
int lash_mechanism_joint_contacts(const LashMechanism* mech, int joint, int* first);
// Where such a contact stands in the list of interactions.
int lash_mechanism_contact_interaction(const LashMechanism* mech, int contact);
// Their number, before the joint is added.
int lash_clearance_contact_count(LashJointType type, const LashClearanceDef* clearance);
bool lash_joint_can_have_clearance(LashJointType type);

// Where the pin is in its play: distance of the joint points across the axis (spherical: in space;
// planar: along the normal; prismatic: across), angle between the axes.
typedef struct LashPlay {
    double eccentricity, tilt; // [m], [rad]
} LashPlay;
LashPlay lash_mechanism_joint_play(const LashMechanism* mech, int joint, const double* q);
// Of a round joint with play: least distance of the surfaces of pin and bore where the pin has left
// the bore, so that none of the joint's contacts has a gap [m].
double lash_mechanism_joint_distance(const LashMechanism* mech, int joint, const double* q);

static inline LashBodyId lash_body_id(int body) { // of body number `body`
    LashBodyId id;
    id.index1 = body + 2; // 1 is the ground
    return id;
}
static inline LashJointId lash_joint_id(int joint) {
    LashJointId id;
    id.index1 = joint + 1;
    return id;
}

// Free coordinates of a joint type: their number, and for each a name ("angle", "displacement",
// "second_angle", "x", "y") and whether it is an angle.
int lash_coordinate_count(LashJointType type);
const char* lash_coordinate_name(LashJointType type, int coordinate);
// The same where results name a column: empty for the first one, which needs no name; a free joint's
// have all theirs. "" also for one that the joint does not have.
const char* lash_coordinate_label(LashJointType type, int coordinate);
bool lash_coordinate_is_angle(LashJointType type, int coordinate);
// Name of the type as models write it; whether its surfaces can have friction; whether that turns.
const char* lash_joint_type_name(LashJointType type);
bool lash_joint_has_friction(LashJointType type);
bool lash_joint_friction_turns(LashJointType type); // the radius matters

// Where joint number `joint` stands in the list of interactions: its rows; and its friction, -1
// where there is none.
int lash_mechanism_joint_interaction(const LashMechanism* mech, int joint);
int lash_mechanism_friction_interaction(const LashMechanism* mech, int joint);

// Free coordinate [rad or m] of a joint and its speed, angles unwrapped with the turn counters of
// work (NULL: those of the start); 0 where the joint has no such coordinate.
double lash_mechanism_joint_coordinate(const LashMechanism* mech, const LashSystemWork* work,
                                       int joint, int coordinate, const double* q);
double lash_mechanism_joint_speed(const LashMechanism* mech, int joint, int coordinate,
                                  const double* q, const double* v);

// What force number `force` gives at (t, q, v), for messages about it.
typedef struct LashForceValue {
    int components;     // 3: a force or torque on a body; 1: along a coordinate x
    double value[6];    // [N or N m]; of a bushing all six, x, y, z, roll, pitch, yaw
    double x, speed;    // of the coordinate [m or rad, per s]
    double slope[3];    // derivatives by t, x and speed; 0 of three components
    int body_a, body_b; // bodies it acts on, -1: ground
} LashForceValue;
LashForceValue lash_mechanism_force_value(const LashMechanism* mech, LashSystemWork* work,
                                          int force, double t, const double* q, const double* v);
// Numbers that come from outside (lash_sim_set_input) and that functions may read. add: their number,
// and the value before any is set; name copied. find: -1: there is none of that name.
int lash_mechanism_add_input(LashMechanism* mech, const char* name, double value);
int lash_mechanism_find_input(const LashMechanism* mech, const char* name);
int lash_mechanism_input_count(const LashMechanism* mech);
const char* lash_mechanism_input_name(const LashMechanism* mech, int input);
// Its value at t in a run.
double lash_mechanism_input_value(const LashSystemWork* work, int input, double t);

// Where a component of a force reads a table outside its range at t; table NULL: nowhere.
LashTableRead lash_mechanism_force_outside(const LashMechanism* mech, const LashSystemWork* work,
                                           int force, int component, double t,
                                           const LashForceValue* value);
// What the driver of a coordinate prescribes at t: position or speed, and its rate by t. False:
// there is no driver.
bool lash_mechanism_driver_value(const LashMechanism* mech, const LashSystemWork* work, int joint,
                                 int coordinate, double t, double* value, double* rate);

// Force and moment that the joint (drivers, limits and friction included) exerts on body b at the
// joint point, in the axes of a_joint, averaged over h: P (rows of the list) as the sim returns it.
// Gear, rack and pinion: what the second joint gets along z of its frame. work: of the run, which knows where a
// ring that lies flat on its plane bears; NULL: in its middle.
typedef struct LashReaction {
    LashVec3 force, moment; // [N], [N m]
} LashReaction;
LashReaction lash_mechanism_reaction(const LashMechanism* mech, const LashSystemWork* work,
                                     int joint, const double* q, const double* P, double h);

#ifdef __cplusplus
}
#endif
#endif
