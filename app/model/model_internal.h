// Key tables and the context of reading a model: shared by the model_*.c files.
#ifndef LASH_APP_MODEL_INTERNAL_H
#define LASH_APP_MODEL_INTERNAL_H

#include "app/cli/json_writer.h"
#include "app/model/model.h"

// Units of numbers. Columns: identifier; exponents of length, mass, time, angle and force in the
// model's units; name in SI.
// clang-format off
#define MODEL_UNIT_TABLE(X) \
    X(NONE, 0, 0, 0, 0, 0, "") \
    X(LENGTH, 1, 0, 0, 0, 0, "m") \
    X(MASS, 0, 1, 0, 0, 0, "kg") \
    X(TIME, 0, 0, 1, 0, 0, "s") \
    X(ANGLE, 0, 0, 0, 1, 0, "rad") \
    X(FORCE, 0, 0, 0, 0, 1, "N") \
    X(VELOCITY, 1, 0, -1, 0, 0, "m/s") \
    X(ANGULAR_VELOCITY, 0, 0, -1, 1, 0, "rad/s") \
    X(ACCELERATION, 1, 0, -2, 0, 0, "m/s^2") \
    X(INERTIA, 2, 1, 0, 0, 0, "kg m^2") \
    X(DENSITY, -3, 1, 0, 0, 0, "kg/m^3") \
    X(TORQUE, 1, 0, 0, 0, 1, "N m") \
    X(STIFFNESS, -1, 0, 0, 0, 1, "N/m") \
    X(DAMPING, -1, 0, 1, 0, 1, "N s/m") \
    X(ANGULAR_STIFFNESS, 1, 0, 0, -1, 1, "N m/rad") \
    X(ANGULAR_DAMPING, 1, 0, 1, -1, 1, "N m s/rad") \
    X(PIECES, 0, 0, 0, 0, 0, "1") \
    X(JOULE, 0, 0, 0, 0, 0, "J") \
    X(NEWTON_SECOND, 0, 0, 0, 0, 0, "N s")
// clang-format on
typedef enum ModelUnit { // NONE: a plain number, or one whose unit is found later. PIECES: a number
                         // of things. JOULE, NEWTON_SECOND: SI whatever the units of the model
#define X(id, length, mass, time, angle, force, si) UNIT_##id,
    MODEL_UNIT_TABLE(X)
#undef X
} ModelUnit;

typedef enum KeyType {
    KEY_TEXT,
    KEY_TEXT_OR_NULL, // null: as by default
    KEY_TEXT_LISTS,   // LashModelNames[2] from a list of two, each as KEY_TEXTS
    KEY_TEXTS,        // char** from a text or a list of them; the count goes to count_offset
    KEY_NUMBER,
    KEY_PLAY, // as KEY_NUMBER, or {"fit": "10 H7/g6"}: half of the play in the middle of the zones
    KEY_NUMBERS, // double* from a list; the count goes to count_offset
    KEY_ROWS,    // the same from a list of numbers, or of lists of as many numbers each
    KEY_INTEGER, // int
    KEY_LONG,    // int64_t, to 2^53: those that a JSON number holds exactly
    KEY_BOOL,
    KEY_YES_NO,     // int: 1 true, -1 false, 0 not given
    KEY_CHOICE,     // int: index into choices
    KEY_OPTION,     // double: a number; with choices one of them, or true or false: its index
    KEY_VECTOR,     // Vec3
    KEY_VECTORS,    // Vec3* from a list of lists; the count goes to count_offset
    KEY_QUATERNION, // Quat, normalised
    KEY_INERTIA,    // Mat3 from 3 numbers or 3 x 3
    KEY_COLOR,      // float[4] from 3 or 4 numbers or "#rrggbb"
    KEY_FUNCTION,   // LashModelFunction
    KEY_FUNCTIONS,  // LashModelFunction[3] from one or three; the count goes to count_offset
    KEY_OBJECT,     // struct that begins with `bool given`
    KEY_LIST,       // pointer to structs; the count goes to count_offset
    KEY_LIST_OR_ONE,
    KEY_NAMED, // as KEY_LIST from an object: each key is the name, which stands behind `given`
    KEY_FACES, // LashModelFace* from an index, a name, a query, or a list of them; the count goes
               // to count_offset
    KEY_PARAMETERS
} KeyType;

typedef enum KeyRange { RANGE_ANY, RANGE_POSITIVE, RANGE_NOT_NEGATIVE, RANGE_FRACTION } KeyRange;

typedef struct KeyTable KeyTable;
typedef struct KeySpec {
    const char* key;
    KeyType type;
    size_t offset;
    ModelUnit unit;
    KeyRange range;
    bool required;
    const char* help;
    const char* const* choices; // ends in NULL
    const KeyTable* table;      // of objects and lists
    size_t count_offset;
    int variables; // a function's: 1 = t, 3 = t, x, v; plus READS_STATE where it is a load
} KeySpec;

struct KeyTable {
    const char* what; // "a part", for messages and the schema
    const KeySpec* key;
    int keys;
    size_t size; // of the struct
    void (*defaults)(void* target);
    int (*more)(void);             // keys besides those listed; NULL: none
    KeySpec (*key_of)(int number); // of them
};
int model_key_count(const KeyTable* table);
KeySpec model_key(const KeyTable* table, int i);

extern const KeyTable model_root_table, model_units_table, model_part_table, model_shape_table,
    model_pose_table, model_joint_table, model_driver_table, model_limit_table, model_force_table,
    model_contact_table, model_draft_table, model_output_table, model_simulation_table,
    model_face_table, model_table_table, model_input_table, model_material_table;
extern const char* const model_direction_names[];

typedef struct ModelContext {
    LashModel* model;
    const char* text; // of the file
    size_t bytes;
    LashError* error;
    LashReader* reader; // of the STEP files
} ModelContext;

// Fills the error with line, column and path, and returns false. The path "--set" means the option.
bool model_fail(const ModelContext* context, const char* path, const char* format, ...)
    LASH_PRINTF(3, 4);

void* model_alloc(LashModel* model, size_t bytes); // zeroed, freed with the model
char* model_strdup(LashModel* model, const char* text);
void model_free_memory(LashModel* model);

// Reads units and parameters of a model and nothing else: no CAD, no checks of the rest.
bool model_read_base(ModelContext* context);
// Reads all keys of a model, with parameters set as by --set, and resolves nothing: no CAD, no names,
// no frames. For those who ask what a model says, not what it does.
bool model_read_outline(ModelContext* context, const char* const* sets, int set_count);
// Reads another document than a model with a key table: the strict scan, "format" (the first choice
// of that key), then all keys. context->model lends memory, units and parameters.
bool model_read_document(ModelContext* context, const KeyTable* table, void* target);

// SI value of one unit.
double model_unit_factor(const LashModelUnits* units, ModelUnit unit);
const char* model_unit_si(ModelUnit unit);

// Parameters: raw entries as read, then resolved together.
typedef struct RawParameter {
    char* name;
    char* text; // NULL: a number
    double value;
    const char* fit;    // text of {"fit": ...}; NULL: none
    const char* source; // path in the file, or "--set"
    int state;          // 0 untouched, 1 being evaluated, 2 known
} RawParameter;
bool model_resolve_parameters(ModelContext* context, RawParameter* raw, int count,
                              const char* const* sets, int set_count);
// Value of an expression of parameters alone.
bool model_evaluate(ModelContext* context, const char* path, const char* text, double* value);
// A function of the first `variables` of t, x, v, and of parameters; with READS_STATE also of
// coordinates of joints and parts ("crank.angle"), which model_resolve_readings finds later.
enum { READS_STATE = 16 };
bool model_resolve_readings(ModelContext* context, const char* path, LashModelFunction* function);
bool model_read_function(ModelContext* context, const char* path, const char* text, int variables,
                         LashModelFunction* function);
LashFunction model_compile_function(const LashModel* model, const LashModelFunction* function,
                                    double out, double t_unit, double x_unit, double v_unit);

// The input of this name, -1: none.
int model_find_input(const LashModel* model, const char* name);
// What a function may be called with: t, x, v, then the inputs and the state that it reads; names (3 +
// LASH_FUNCTION_INPUTS). Returns their number.
int model_function_names(const LashModel* model, const LashModelFunction* function,
                         const char** names);
// A signal over time from a CSV file with two columns, t and value: linear between lines, held
// outside. NULL with error.
LashTable* model_read_signal(const char* file, const char* name, LashError* error);

// Tables are made as soon as they are read: every expression behind them may call them.
bool model_make_tables(ModelContext* context);
LashTables model_tables(const LashModel* model);

// Resolution after reading: names, mass properties, frames. Each reports the first error it meets.
bool model_resolve_pose(ModelContext* context, const char* path, const LashModelPose* raw,
                        Pose* pose);
bool model_resolve_parts(ModelContext* context);
bool model_resolve_joints(ModelContext* context);
bool model_resolve_forces(ModelContext* context);
bool model_resolve_contacts(ModelContext* context);
bool model_resolve_outputs(ModelContext* context);
// One more output than the file has (borrowed texts), for a study; path: of it, for messages.
bool model_add_output(ModelContext* context, const LashModelOutput* output, const char* path);
bool model_resolve_simulation(ModelContext* context);
// Joints with clearance: surfaces and play; their contacts, listed after those of the file.
// Before the frames: what CAD faces say of axis, radii and lengths.
bool model_measure_joint(ModelContext* context, const char* path, LashModelJoint* joint);
bool model_resolve_clearance(ModelContext* context, const char* path, LashModelJoint* joint);
bool model_list_joint_contacts(ModelContext* context);
// Appends a contact point of this name; reports a name that is taken.
bool model_add_contact_point(ModelContext* context, const char* path,
                             const LashModelContactPoint* point);
// Groups of parts and laws of materials (model_groups.c). The law of a contact of two parts: what it
// says itself, else what the materials' table says, else 0; -1: the ground.
bool model_check_materials(ModelContext* context);
bool model_is_group(const LashModelContact* contact);
bool model_resolve_group(ModelContext* context, int index, LashModelGroup** group);
bool model_contact_law(ModelContext* context, int index, int part_a, int part_b);
// Mass, center and inertia of a STEP part for density 1 kg/m^3.
bool model_load_cad(ModelContext* context, const char* path, LashModelPart* part, double* volume,
                    Vec3* center, Mat3* inertia);

// A STEP file named in the model, read once with each scale (NAN: as the file says), also for
// models that vary this one; key: path of the text. Borrowed from the model. NULL with error.
LashShape* model_load_step(ModelContext* context, const char* key, const char* step, double scale);
// Notes that the model reads this file; the one that is carried with it, NULL: read it from the
// disk.
const LashModelFile* model_use_file(LashModel* model, const char* name);
// Path of a STEP file, which stands relative to the model file.
void model_cad_path(const LashModel* model, const char* step, char* path, size_t size);
// Rows of the face table that `faces` names, each once, in model memory; path of the key.
LashPairDef model_pair_def(const LashModel* model, const LashModelContactPoint* point);
// Turns loose faces of contacts by their solid, the start or the model's word.
bool model_find_outsides(ModelContext* context);
// Keeps a shape that was made of a loaded one; `made` tells how. NULL: none yet.
LashShape* model_find_made(const ModelContext* context, const char* file, double scale,
                           const char* made);
void model_keep_made(ModelContext* context, const char* file, double scale, const char* made,
                     LashShape* shape);
bool model_select_faces(ModelContext* context, const char* path, const LashShape* shape,
                        const LashModelFace* faces, int count, int** rows, int* row_count);

// Names are found by hashing (model_names.c): files of 1e5 parts load in seconds.
typedef struct NameIndex {
    int* slot; // (capacity) number of a thing plus one, 0: free
    int capacity, listed;
} NameIndex;
typedef struct NamedList { // things with a char* name each
    const void* item;
    size_t stride, offset;
    int count;
} NamedList;
typedef enum ModelNames {
    MODEL_PARTS,
    MODEL_JOINTS,
    MODEL_FORCES,
    MODEL_CONTACTS,
    MODEL_POINTS,
    MODEL_PARAMETERS,
    MODEL_NAMES
} ModelNames;
// The first thing of that name, -1: none. The list only grows, and its names do not change.
int model_index_find(NameIndex* index, LashModel* memory, const NamedList* list, const char* name);
int model_name_find(LashModel* model, ModelNames kind, const char* name);

// Index of the part called name (-1: "ground"); reports unknown names.
bool model_find_part(ModelContext* context, const char* path, const char* name, int* part);
// Index of a joint's coordinate by name; NULL is the first.
bool model_find_coordinate(ModelContext* context, const char* path, const LashModelJoint* joint,
                           const char* name, int* coordinate);
// SI value of the coordinate at the start.
double model_start_coordinate(const LashModel* model, const LashModelJoint* joint, int coordinate);
bool model_find_joint(ModelContext* context, const char* path, const char* name, int* joint);
// A contact, or one point of it, as a range of contact points.
bool model_find_contact(ModelContext* context, const char* path, const char* name, int* first,
                        int* count);

static inline bool model_has(double number) {
    return number == number;
}

// ---- forces -------------------------------------------------------------------------------------

// Keys of a force beside name and type.
// clang-format off
#define MODEL_FORCE_KEY_TABLE(X) \
    X(a, force->a != NULL) X(b, force->b != NULL) \
    X(a_point, model_has(force->a_point.x)) X(b_point, model_has(force->b_point.x)) \
    X(part, force->part != NULL) X(point, model_has(force->point.x)) X(axes, force->axes != 0) \
    X(joint, force->joint != NULL) X(coordinate, force->coordinate != NULL) \
    X(stiffness, model_has(force->stiffness)) X(damping, model_has(force->damping)) \
    X(rest, model_has(force->rest)) X(acts, force->acts != 0) X(direction, model_has(force->direction.x)) \
    X(stiffness_matrix, force->stiffness_count > 0) X(damping_matrix, force->damping_count > 0) \
    X(rest_coordinates, force->rest_count > 0) X(place, model_has(force->place.x)) \
    X(axis, model_has(force->axis.x)) X(x_axis, model_has(force->x_axis.x)) \
    X(force, force->force_components > 0) X(torque, force->torque_components > 0)

// Columns: identifier; name in models; keys it must have; keys it may have; what it acts on:
// resolve_line, .. of model_forces.c and build_line_force, .. of model_build.c; its kind in joints/, and
// where "force" is a function (the same where it must be or cannot).
#define MODEL_FORCE_TABLE(X) \
    X(SPRING, "spring", HAS(a) | HAS(b), HAS(a_point) | HAS(b_point) | HAS(stiffness) | HAS(damping) | HAS(rest) | HAS(force) | \
      HAS(acts) | HAS(direction), line, LASH_SPRING, LASH_SPRING_FUNCTION) \
    X(DAMPER, "damper", HAS(a) | HAS(b) | HAS(damping), HAS(a_point) | HAS(b_point) | HAS(direction), line, LASH_SPRING, LASH_SPRING) \
    X(TORSION_SPRING, "torsion_spring", HAS(joint) | HAS(stiffness), HAS(coordinate) | HAS(damping) | HAS(rest) | HAS(acts), \
      joint, LASH_JOINT_SPRING, LASH_JOINT_SPRING) \
    X(JOINT_SPRING, "joint_spring", HAS(joint) | HAS(stiffness), HAS(coordinate) | HAS(damping) | HAS(rest) | HAS(acts), \
      joint, LASH_JOINT_SPRING, LASH_JOINT_SPRING) \
    X(JOINT_FORCE, "joint_force", HAS(joint) | HAS(force), HAS(coordinate), joint, LASH_JOINT_FORCE, LASH_JOINT_FORCE) \
    X(BUSHING, "bushing", HAS(a) | HAS(b) | HAS(stiffness_matrix), HAS(damping_matrix) | HAS(rest_coordinates) | HAS(place) | \
      HAS(axis) | HAS(x_axis), bushing, LASH_BUSHING, LASH_BUSHING) \
    X(FORCE, "force", HAS(part) | HAS(force), HAS(point) | HAS(axes), part, LASH_POINT_FORCE, LASH_POINT_FORCE) \
    X(TORQUE, "torque", HAS(part) | HAS(torque), HAS(axes), part, LASH_TORQUE, LASH_TORQUE)
// clang-format on

typedef enum ModelForceType {
#define X(id, ...) MODEL_##id,
    MODEL_FORCE_TABLE(X)
#undef X
        MODEL_FORCE_TYPES
} ModelForceType;

#endif
