// What the viewer shows, without any drawing: parts with their meshes, joints, contacts, and where
// all of it is in a frame.
#ifndef LASH_APP_VIEWER_SCENE_H
#define LASH_APP_VIEWER_SCENE_H

#include "app/model/model.h"
#include "app/run/record.h"
#include "core/math3.h"
#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    VIEW_MAX_POINTS = 512, // contact points of a frame that can be shown
    VIEW_HULL = 64         // directions in which the extent of the scene is known
};

typedef enum ViewVisibility { VIEW_SHOWN, VIEW_TRANSPARENT, VIEW_HIDDEN } ViewVisibility;

typedef struct ViewPiece { // a mesh in the coordinates of its part
    const LashShape* shape;
    Pose part_shape;
    int part;
    int first_face; // of this piece among the faces of the part
    bool owned;
} ViewPiece;

typedef struct ViewPart {
    const char* name;
    int body;   // -1: ground
    Pose place; // body_part, or world_part of the ground
    int first_piece, pieces, faces;
    float color[3]; // sRGB
    ViewVisibility visibility;
} ViewPart;

typedef struct ViewJoint {
    const char* name;
    int type;           // LashJointType
    int body_a, body_b; // -1: ground
    Pose a_joint, b_joint;
    double clearance;              // [m], 0: ideal
    double pin_radius, pin_length; // of a joint with play that turns [m]; 0: another one
    bool outer_b;                  // b has the bore
    bool cad;                      // one of its parts has CAD: pin and bore are there already
    bool coupling;                 // gear, rack and pinion: has no place of its own
    bool drafted;                  // by lash draft, with a reason
    bool guess;                    // ... which is no more than a guess
} ViewJoint;

typedef struct ViewPick {
    int part, face; // -1: none; the face as numbered by view_face
} ViewPick;

typedef struct ViewScene {
    const LashModel* model;    // borrowed
    const LashMechanism* mech; // borrowed
    LashRecordLayout layout;   // of the frames that can be shown
    ViewPart* part;
    ViewPiece* piece;
    ViewJoint* joint;
    int parts, pieces, joints, bodies, contacts;
    int triangles;
    Vec3 up;                                    // unit, against gravity; z without gravity
    LashBox bound;                              // world, of all places seen so far
    Vec3 direction[VIEW_HULL], hull[VIEW_HULL]; // farthest place in each direction
} ViewScene;

// One frame placed in the world.
typedef struct ViewFrame {
    double time;
    double* values;         // (layout.total)
    double* q;              // (7 bodies) as recorded
    Pose* world_body;       // (bodies) as drawn: the magnifier may have moved them
    LashRecordPoint* point; // (VIEW_MAX_POINTS) contact points, as recorded
    int points;
} ViewFrame;

typedef struct ViewArrow { // a force
    Vec3 point, force;     // world [m], [N]
    bool contact;
    int index; // of the joint or contact
} ViewArrow;

typedef struct ViewTouch {     // a contact point
    Vec3 point, normal, force; // world, as drawn [m], [1], [N] on side b
    double gap;                // [m]
    bool closed;               // it pushes
    int contact;
} ViewTouch;

// The scene of a model; false with error (exit code 4) when a part has CAD but no mesh to show.
bool view_scene_create(ViewScene* scene, const LashModel* model, const LashMechanism* mech,
                       LashError* error);
void view_scene_destroy(ViewScene* scene);

ViewFrame view_frame_create(const ViewScene* scene);
void view_frame_destroy(ViewFrame* frame);
// Places the bodies from frame->values.
void view_frame_place(const ViewScene* scene, ViewFrame* frame);

// Pose of a body (-1: ground), of a part, of a piece of a part in the frame.
Pose view_world_body(const ViewFrame* frame, int body);
Pose view_world_part(const ViewScene* scene, const ViewFrame* frame, int part);
Pose view_world_piece(const ViewScene* scene, const ViewFrame* frame, int piece);

// Widens the bound by the parts at this frame, ground included.
void view_scene_extend(ViewScene* scene, const ViewFrame* frame);
double view_scene_size(const ViewScene* scene); // diagonal of the bound [m], > 0

// Contact points of the frame; forces in contacts and joints. Of a contact that pushed since the
// frame before the mean force since then is shown, so that no impact between frames is missed. Each
// returns how many, at most capacity.
int view_frame_touches(const ViewScene* scene, const ViewFrame* frame, ViewTouch* touch,
                       int capacity);
int view_frame_forces(const ViewScene* scene, const ViewFrame* frame, ViewArrow* arrow,
                      int capacity);

// Is a part without any mesh: drawn as a glyph, a ball at its mass center with spokes to its
// joints?
bool view_part_is_glyph(const ViewScene* scene, int part);

// Faces that a joint is made of: bore and pin as the model names them, or the planes of a guide, as
// (part, face of view_face). Returns how many, at most capacity.
int view_joint_faces(const ViewScene* scene, int joint, ViewPick* pick, int capacity);
bool view_scene_is_drafted(const ViewScene* scene); // some joint is

// Which face of a part a face number of one of its pieces is; names for the panels.
typedef struct ViewFaceName {
    const LashFace* face;
    const LashShape* shape;
    int piece; // number within the part, from 0
} ViewFaceName;
ViewFaceName view_face(const ViewScene* scene, int part, int face);

#ifdef __cplusplus
}
#endif
#endif
