// A model file ("lash-model/1") as plain data: read, checked, converted to SI, ready to build a
// mechanism.
#ifndef LASH_APP_MODEL_H
#define LASH_APP_MODEL_H

#include "core/error.h"
#include "core/table.h"
#include "core/types.h"
#include "geometry/pairs.h"
#include "geometry/shape.h"
#include "joints/mechanism.h"
#include "solvers/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

// Structs that a key table fills begin with `given`: the key stood in the file.

typedef struct LashModelUnits { // indices into the tables of model_units.c
    bool given;
    int length, mass, time, angle, force;
} LashModelUnits;

// A number, or a function of t (and of x and v, where a force may use them), in the model's units.
typedef struct LashModelFunction {
    bool given;
    char* text;                      // NULL: a constant; parameters are replaced by their values
    double value;                    // of a constant
    int inputs;                      // that it reads
    int input[LASH_FUNCTION_INPUTS]; // numbers of the model's inputs
    int readings;                    // of the state, by a force
    char* reading_name[LASH_FUNCTION_INPUTS];
    LashReading reading[LASH_FUNCTION_INPUTS]; // once parts and joints are known
} LashModelFunction;

// A number from outside, which functions of time may read; before it is set it has the value of the
// parameter of its name.
typedef struct LashModelInput {
    bool given;
    char* name;
    double value;
    char* unit; // for people; NULL: none
} LashModelInput;

typedef struct LashModelPose {
    bool given;
    LashVec3 position;   // [m]
    LashQuat quaternion; // w = NAN: not given
    LashVec3 axis;       // x = NAN: not given
    double angle;        // [rad], NAN: not given
} LashModelPose;

typedef enum LashModelShapeType {
    LASH_MODEL_BOX,
    LASH_MODEL_CYLINDER,
    LASH_MODEL_SPHERE,
    LASH_MODEL_CAPSULE,
    LASH_MODEL_RING
} LashModelShapeType;

typedef struct LashModelShape { // centered at its pose, axis along z; lengths [m], NAN: not given
    bool given;
    int type; // LashModelShapeType
    LashVec3 size;
    double radius, length, inner_radius, outer_radius;
    LashModelPose pose;
    LashPose part_shape; // placement in the part's frame, resolved
} LashModelShape;

typedef struct LashModelPart {
    bool given;
    char* name;
    char* step;  // file as written, NULL: none
    char** part; // paths in its product tree: only these parts of it; NULL: all
    int part_count;
    double scale;
    LashModelShape* shape;
    int shapes;
    double density, mass; // [kg/m^3], [kg]; NAN: not given
    LashVec3 center;      // of mass, in the part's frame [m]
    LashMat3 inertia;     // about the mass center, part's axes [kg m^2]; m[0] = NAN: not given
    LashModelPose pose;
    LashVec3 velocity, angular_velocity; // of the mass center, world axes; body axes
    float color[4];                      // alpha 0: none given
    char* material;                      // row of the model's materials; NULL: none
    bool fixed;
    // resolved
    LashPose world_part; // the part's own (CAD) frame at the start
    LashPose body_part;  // the same in the body frame: mass center, axes parallel; for the viewer
    int body;            // number in the mechanism, -1: part of the ground
    double extent;       // largest distance of its geometry from the mass center [m], 0: unknown
    LashShape* cad;      // of a STEP part, borrowed from LashModel.cad of this model or its donor
} LashModelPart;

typedef struct LashModelDriver {
    bool given;
    char* coordinate; // name; NULL: the joint's first
    LashModelFunction position, speed;
    int index; // resolved: of the coordinate
} LashModelDriver;

typedef struct LashModelLimit {
    bool given;
    char* coordinate;
    double lower, upper; // in the model's units; NAN: none
    double restitution;
    int index; // resolved: of the coordinate
} LashModelLimit;

// One way to name faces of CAD geometry: by index, by name, or by what the face is.
typedef struct LashModelFace {
    bool given;
    int index;        // as `lash info` prints it, -1: not given
    char* name;       // all faces of that name, NULL: not given
    int type;         // of a query: 0 any, else 1 + LashSurfaceType
    double radius;    // [m], NAN: any
    int side;         // 0 any, 1 convex (a pin), 2 concave (a bore)
    LashVec3 axis;    // part's axes; x = NAN: any
    LashVec3 near;    // part's coordinates [m]; x = NAN: not given
    double tolerance; // of radius and ties [m], NAN: default
    int flip;         // of a loose face: 1 turned, -1 as in its file, 0 not given
} LashModelFace;

// How the outside of the loose faces of a contact's side was found.
typedef struct LashModelOutside {
    int groups;                // of loose faces that share edges; 0: all faces are a solid's
    int turned;                // of them against the file
    int solid, start, by_flip; // of them told by the part's solid, the start, the model's "flip"
} LashModelOutside;

typedef struct LashModelDraft { // where a joint came from: written by lash draft
    bool given;
    char* reason;
    int confidence; // sure, likely, guess
} LashModelDraft;

typedef struct LashModelJoint {
    bool given;
    LashModelDraft draft;
    char* name;
    int type; // LashJointType
    char *a, *b;
    LashVec3 point, axis, x_axis;       // world, at the start; x = NAN: not given
    LashVec3 a_point, a_axis, a_x_axis; // in the frame of part a, instead
    LashVec3 b_point, b_axis, b_x_axis;
    double start, clearance; // start: in the model's units; clearance NAN: not given
    LashModelDriver* driver;
    LashModelLimit* limit;
    int drivers, limits;
    LashVec3 second_axis;                          // universal: axis in b, instead of x_axis
    double length, pitch, ratio, radius, friction; // NAN: not given
    char *joint_a, *joint_b;                       // gear, rack and pinion
    // With clearance (model_clearance.c); NAN: not given
    double axial_clearance, restitution, pin_length, guide_length, collar_radius, width, height;
    LashVec3 eccentricity;     // x = NAN: not given
    int bore_in;               // 0: a carries the bore, 1: b
    LashModelFace *bore, *pin; // CAD faces, NULL: not given
    int bore_faces, pin_faces;
    double measured, pin_offset; // resolved: play of these faces [m], NAN: not known; middle of
                                 // the pin along its axis from the joint point [m]
    // resolved
    LashClearanceDef play;
    int first_contact, contacts;           // of a joint with clearance, in LashModel.contact_point
    int part_a, part_b;                    // -1: ground
    int coupled[2], coupled_coordinate[2]; // joints and coordinates of a gear
    LashPose world_a, world_b;             // joint frames at the start; z is the axis
} LashModelJoint;

// A surface or a set of points in the coordinates of its part; which fields count depends on the
// key it stood under.
typedef struct LashModelFeature {
    bool given;
    LashVec3 center;       // or the point of a plane [m]
    LashVec3 axis;         // or the outward normal of a plane; x = NAN: not given
    LashVec3 size;         // edges of a box [m]; x = NAN: the part's own box
    double radius, length; // [m]; length NAN: not given
    bool inside;           // the other side is within: a bore, a ring, a socket
    LashModelPose pose;    // of a box
    LashVec3* corner;      // of a box: components -1, 0, 1; NULL: all eight
    int corners;
} LashModelFeature;

typedef struct LashModelSide {
    bool given;
    char* part;
    LashModelFace* faces; // NULL: not given
    int face_count;
    char* step;       // extra geometry in the part's coordinates, NULL: none
    int flip;         // of its loose faces, as a face's
    LashVec3 point;   // [m], x = NAN: not given
    LashVec3* points; // [m], NULL: not given
    int point_count;
    LashModelFeature sphere, plane, cylinder, circle, box;
    LashShape* extra; // of `step`, borrowed as a part's
} LashModelSide;

typedef struct LashModelNames { // names or patterns of parts
    char** name;
    int count; // 0: not given
} LashModelNames;

// Laws of two materials, or of all pairs without a row of their own.
typedef struct LashModelMaterials {
    bool given;
    LashModelNames between;       // 0 or 2 materials
    double restitution, friction; // NAN: not given
} LashModelMaterials;

typedef struct LashModelContact {
    bool given;
    bool off; // read and checked for its keys, then left out
    LashModelDraft draft;
    char* name;
    LashModelSide a, b;
    LashModelNames among, between[2]; // of a group, instead of a and b
    double restitution, friction;     // NAN: not given; resolved except of a group
    double offset;                    // of CAD surfaces: added to their gaps [m]; NAN: not given
    // resolved
    int first, count; // its points in LashModel.contact_point
} LashModelContact;

typedef struct LashModelGroup { // parts that touch where they come near each other
    LashGroupMember* member;    // bodies not set; owner: number of the part
    int members;
    int materials;
    double *e, *mu; // (materials x materials)
} LashModelGroup;

typedef struct LashModelContactPoint { // one contact of the mechanism, in its order
    char* name;                        // "guide", or "guide.2" where a contact has several
    int contact;                       // of the model; -1: of a joint with clearance
    int part_a, part_b;                // -1: ground
    LashContactDef def;                // frames in the coordinates of their parts; bodies not set
    LashModelGroup* group;             // instead of all that follows; NULL: none
    bool surfaces;               // between CAD surfaces: side_a, side_b, offset instead of def
    LashPairSide side_a, side_b; // shapes in the coordinates of their parts
    double offset;               // [m]
    LashModelOutside outside[2]; // of side_a, side_b
    LashPair* pair;              // made by lash_model_share, NULL: none
} LashModelContactPoint;

typedef struct LashModelForce {
    bool given;
    char* name;
    int type; // row of the table in model_internal.h
    char *a, *b, *part, *joint, *coordinate;
    LashVec3 a_point, b_point, point; // in the frames of their parts [m]
    double stiffness, damping,
        rest; // in the model's units, as the unit depends on the joint; NAN: not given
    LashModelFunction force[3], torque[3];
    int force_components, torque_components; // functions given: 0, 1 or 3
    int axes;                                // 0 world, 1 part
    int acts;                                // LashActs
    LashVec3 direction;                      // of a spring, in the frame of part a
    // of a bushing: 6 numbers on the diagonal or 36; its frame at the start, world
    double *stiffness_matrix, *damping_matrix, *rest_coordinates;
    int stiffness_count, damping_count, rest_count;
    LashVec3 place, axis, x_axis;
    // resolved
    LashBushingDef* bushing;         // frames in the parts' bodies are made by the builder
    LashPose world_frame;            // of a bushing
    int part_a, part_b, joint_index; // -1: ground; -1: none
    int coordinate_index;
    double stiffness_si, damping_si, rest_si;
} LashModelForce;

typedef enum LashModelWhen {
    LASH_WHEN_FINAL,
    LASH_WHEN_MAX,
    LASH_WHEN_MIN,
    LASH_WHEN_MEAN,
    LASH_WHEN_RMS,
    LASH_WHEN_INTEGRAL,
    LASH_WHEN_FIRST_CROSSING
} LashModelWhen;

typedef struct LashModelOutput {
    bool given;
    char* name;
    char* quantity;
    char* of;
    char* coordinate; // of a joint; NULL: its first
    int when;         // LashModelWhen
    double level;
    int direction;  // of a crossing: 0 any, 1 up, 2 down
    LashVec3 point; // in the part's frame [m]; x = NAN: the mass center
    // resolved
    int kind;  // index into the table of quantities (model_outputs.c)
    int index; // body or joint number, first contact point
    int count; // contact points, of a contact's quantity
    int coordinate_index;
    double level_si;
    LashVec3 body_point; // [m]
} LashModelOutput;

typedef struct
    LashModelTable { // a function of one or two variables, in the units that its expressions give it
    bool given;
    char *name, *file; // file: CSV instead of x, y and values; NULL: none
    double *x, *y, *values;
    int x_count, y_count, value_count;
    int interpolation; // LashTableKind
    int outside;       // LashTableOutside
    // resolved
    LashTable* table; // owned
    char hash[65];    // of the file; empty: none
} LashModelTable;

typedef struct LashModelSimulation {
    bool given;
    LashSettings settings;
    double duration; // [s]
    bool assemble;
    int record_every; // steps between two frames of the result file; 0: chosen
    int query;        // one choice so far
} LashModelSimulation;

typedef struct LashModelParameter {
    char* name;
    double value;    // in the model's units, as used
    const char* fit; // "10 H7/g6" when the file gives it so; else NULL
} LashModelParameter;

typedef struct LashModelCad { // a STEP file, read once for all parts and contacts that use it
    char* file;
    double scale;   // NAN: as written
    char* selected; // paths of the parts taken from it, one per line; NULL: all
    LashShape* shape;
} LashModelCad;

// A file that a model reads, as a result remembers it.
typedef struct LashModelFile {
    const char* name; // as the model has it
    char hash[65];    // SHA-256 of its bytes, hex
    const char* data; // NULL: too large to be carried
    size_t bytes;
} LashModelFile;

typedef struct LashModel {
    bool given;
    char *format, *schema, *name, *description;
    const char* file; // as given to load
    const char* text; // the file, verbatim
    size_t text_bytes;
    void* document;                // the file, parsed; NULL: the donor's
    const struct LashModel* donor; // lends file, text, document, CAD and pairs; NULL: none
    const LashModelFile* carried;  // taken instead of those on the disk; borrowed while it is read
    int carried_files;
    char** used; // names of the files it reads, each once
    int used_files;
    LashModelCad* cad;
    int cads;
    LashModelUnits units;
    LashModelParameter* parameter;
    int parameters;
    LashVec3 gravity;      // [m/s^2]
    LashModelInput* input; // they stand behind the parameters of the file, too
    int inputs;
    LashModelTable* table;
    int tables;
    LashTable** compiled_table; // (tables) as expressions want them
    LashModelPart* part;
    int parts;
    LashModelJoint* joint;
    int joints;
    LashModelForce* force;
    int forces;
    LashModelMaterials* material;
    int materials;
    LashModelContact* contact;
    int contacts;
    LashModelContactPoint* contact_point;
    int contact_points, contact_point_capacity;
    LashModelOutput* output;
    int outputs;
    LashModelSimulation simulation;
    int bodies;   // parts that move
    void* names;  // where each name is (model_names.c)
    void* memory; // blocks behind all pointers above
} LashModel;

// Reads and checks a whole model; sets are texts "parameter=value" (a number or an expression) that
// replace values of the file. NULL with error. The caller destroys it.
LashModel* lash_model_load(const char* file, const char* const* sets, int set_count,
                           LashError* error);
// The same from text, e.g. the one embedded in a result; file names it in messages.
// Files that are carried with the text are not read from the disk.
LashModel* lash_model_parse_carried(const char* file, const char* text, size_t bytes,
                                    const char* const* sets, int set_count,
                                    const LashModelFile* carried, int carried_files,
                                    LashError* error);
LashModel* lash_model_parse(const char* file, const char* text, size_t bytes,
                            const char* const* sets, int set_count, LashError* error);
// The same model with other parameters; borrows from `model`, which must outlive it, all that does
// not depend on them. Any number of threads may do this at the same time.
LashModel* lash_model_vary(const LashModel* model, const char* const* sets, int set_count,
                           LashError* error);
void lash_model_destroy(LashModel* model); // NULL is allowed

// Makes what mechanisms of this model and of its variations may share: the tables of CAD pairs.
bool lash_model_share(LashModel* model, LashError* error);
// Builds the mechanism: bodies are the parts that move, joints and forces in the order of the file,
// contacts in the order of contact_point.
LashMechanism* lash_model_build(const LashModel* model, LashError* error);

// SI unit of an output, joint type considered.
const char* lash_model_output_unit(const LashModel* model, const LashModelOutput* output);
// The unit of what an output gives at the end: "s" of a first-crossing, "N s" of an integral.
const char* lash_model_result_unit(const LashModel* model, const LashModelOutput* output,
                                   char* text, size_t size);

const char* lash_direction_name(LashDirection direction);

#ifdef __cplusplus
}
#endif
#endif
