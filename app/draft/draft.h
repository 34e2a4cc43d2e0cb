// From an assembly to a model: which surfaces of its parts form joints, of what type, with what play.
#ifndef LASH_APP_DRAFT_DRAFT_H
#define LASH_APP_DRAFT_DRAFT_H

#include "core/math3.h"
#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DRAFT_MAX_FACES = 8 }; // faces of one cylinder that are named; halves are two

// A cylinder or sphere of a part: all its faces on one axis with one radius.
typedef struct DraftRound {
    int part; // number among the leaves
    bool sphere, hollow;
    Vec3 point, axis; // a point of the axis, or the center [m]
    double radius;
    double low, high; // along the axis from the point
    double area;
    int face[DRAFT_MAX_FACES], faces; // rows of the shape
} DraftRound;

typedef struct DraftPlane {
    int part, face;
    int body;           // after draft_sort_planes
    Vec3 point, normal; // outward
    LashBox box;
} DraftPlane;

typedef enum DraftConfidence { DRAFT_SURE, DRAFT_LIKELY, DRAFT_GUESS } DraftConfidence;

typedef enum DraftType {
    DRAFT_REVOLUTE,
    DRAFT_CYLINDRICAL,
    DRAFT_PRISMATIC,
    DRAFT_SPHERICAL,
    DRAFT_PLANAR,
    DRAFT_FIXED,
    DRAFT_TYPES
} DraftType;

typedef struct DraftPart { // a leaf of the product tree
    int row;               // in the shape
    const char* path;
    char name[96]; // unique among the parts
    bool fastener; // by its name
    bool pressed;  // without play in one bore, with play in another one on its axis
    int body;      // welded group
} DraftPart;

typedef struct DraftBody { // parts that move as one
    char name[96];         // of its largest part
    int largest;           // part
    int parts;
    bool ground;
    double volume;
    LashBox box;
    int first_plane, planes; // after draft_sort_planes
} DraftBody;

// A pair of surfaces that guide each other.
typedef struct DraftJoint {
    int outer, inner; // bodies: bore, pin; guide, slider
    DraftType type;
    Vec3 point, axis, x_axis;
    double play;     // radial, or per side [m]
    bool no_play;    // drawn at nominal size
    double apart;    // axes or centers of bore and pin as drawn [m]
    int bore, pin;   // rounds, -1: planes
    bool stopped[2]; // along -axis, +axis
    double axial;    // play against the stops, per side [m]; NAN: not found
    double width, height, length;
    double play_other;              // of a guide: of its wider pair of planes [m]
    int axes;                       // parallel axes that it stands for
    bool plunger;                   // slides because nothing else holds it
    int plane_face[8], plane_faces; // of a guide: inner and outer by turns
    DraftConfidence confidence;
    char fit[128]; // from the tolerances of both faces in the file: "10 H7/g6"; empty: none
    char name[200], reason[420];
} DraftJoint;

enum { DRAFT_CONTACT_FACES = 24 };

// Faces of two bodies that are near and no joint: they could touch.
typedef struct DraftContact {
    int body[2];
    int face[2][DRAFT_CONTACT_FACES], faces[2]; // rows of the shape
    double gap;                                 // least [m]
} DraftContact;

typedef struct DraftNote {
    char text[300];
} DraftNote;

typedef struct DraftOptions {
    const char* const* ground; // names or paths of parts
    int grounds;               // 0: by name, or the one with most joints
    double clearance_max;      // [m]; NAN: max(0.1 mm, 10 % of the radius)
    bool keep_fasteners;
} DraftOptions;

typedef struct Draft {
    const LashShape* shape;
    DraftPart* part;
    DraftBody* body;
    DraftRound* round;
    DraftPlane* plane;
    DraftJoint* joint;
    int *first_triangle, *triangle; // (faces + 1), (triangles): rows of the mesh by face
    DraftNote* note;                // welds, doubts, freedom: in words
    DraftContact* contact;
    int parts, bodies, rounds, planes, joints, notes, contacts;
    int overlaps; // pairs of bodies that are in each other
    int freedom;  // degrees of freedom of the drafted mechanism
    int redundant;
} Draft;

extern const char* const draft_type_name[DRAFT_TYPES];
extern const char* const draft_confidence_name[3];

// The caller frees it. NULL with error: nothing to draft.
Draft* draft_create(const LashShape* shape, const DraftOptions* options, LashError* error);
void draft_destroy(Draft* draft);

// Stages, in calling order.
bool draft_list_parts(Draft* draft, LashError* error); // leaves, their rounds and planes
void draft_index_triangles(Draft* draft);
void draft_find_pairs(Draft* draft, const DraftOptions* options);  // round joints between parts
void draft_weld(Draft* draft, const DraftOptions* options);        // fasteners, bodies
void draft_sort_planes(Draft* draft);                              // by body
void draft_find_guides(Draft* draft, const DraftOptions* options); // joints of planes
void draft_decide_types(Draft* draft);                             // geometry, then freedom
bool draft_choose_ground(Draft* draft, const DraftOptions* options, LashError* error);
void draft_attach_sizes(Draft* draft); // toleranced diameters of the file
void draft_count_freedom(Draft* draft);
void draft_find_contacts(Draft* draft); // candidates, overlaps

void draft_add_joint(Draft* draft, const DraftJoint* joint); // or the one with the least play
// Do two plane faces with opposite normals stand across from each other?
bool draft_planes_overlap(const Draft* draft, const DraftPlane* a, const DraftPlane* b);

// Does `word` stand in `name` as the end of a word ("locknut", "Screws", not "screwdriver")?
bool draft_has_word(const char* name, const char* word);
void draft_add_note(Draft* draft, const char* format, ...) LASH_PRINTF(2, 3);

#ifdef __cplusplus
}
#endif
#endif
