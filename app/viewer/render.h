// Draws a frame of a scene with OpenGL 3.3 core into the framebuffer that is bound.
#ifndef LASH_APP_VIEWER_RENDER_H
#define LASH_APP_VIEWER_RENDER_H

#include "app/viewer/camera.h"
#include "app/viewer/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { VIEW_MAX_MARKS = 16, VIEW_PIECE_MARKS = 8 }; // faces marked in a picture; in one piece

typedef struct ViewStyle {
    bool edges, grid, forces, contacts, joint_frames, traces, section;
    Vec3 section_normal;   // unit, world; what lies on its side is cut away
    double section_offset; // along it, from the middle of the scene [m]
} ViewStyle;

typedef struct ViewTrace { // path of a point
    const float* point;    // 3 per point, world
    int count;
    float color[3];
} ViewTrace;

typedef struct ViewPicture { // all that is drawn; borrowed
    const ViewScene* scene;
    const ViewFrame* frame;
    const ViewCamera* camera;
    int x, y; // lower left corner in the framebuffer [pixels]
    ViewStyle style;
    ViewPick selected, hovered;
    int selected_joint;              // -1: none
    int selected_contact;            // -1: none; its points are drawn larger
    ViewPick marked[VIEW_MAX_MARKS]; // faces of the selected joint
    int marks;
    const ViewArrow* arrow;
    int arrows;
    const ViewTouch* touch;
    int touches;
    const ViewTrace* trace;
    int traces;
    double force_length;  // of an arrow [m/N]
    double magnification; // of the play; bores are opened by it
    double pixel;         // pixels per point of the screen: line widths, marks
} ViewPicture;

typedef struct ViewRenderer ViewRenderer; // opaque: buffers and programs of one GL context

ViewStyle view_style(void);

// Uploads the meshes. NULL with error (exit code 7) when the context is too old or a shader fails.
ViewRenderer* view_renderer_create(const ViewScene* scene, LashError* error);
void view_renderer_destroy(ViewRenderer* renderer); // NULL is allowed
void view_renderer_draw(ViewRenderer* renderer, const ViewPicture* picture);
// The same with `samples` per pixel (lowered to what the driver can; 0: as above). The framebuffer
// that is bound has one.
void view_renderer_draw_smooth(ViewRenderer* renderer, const ViewPicture* picture, int samples);

// The contact one of whose points is at the pixel; -1: none, or they are not drawn.
int view_picture_contact(const ViewPicture* picture, double x, double y);
// The joint whose symbol is at the pixel; -1: none, or they are not drawn.
int view_picture_joint(const ViewPicture* picture, double x, double y);
// What is under the pixel (x, y) from the upper left corner of the picture.
ViewPick view_renderer_pick(ViewRenderer* renderer, const ViewPicture* picture, int x, int y);

// Width of a cell of the ground grid for this scene: 1, 2 or 5 times a power of ten [m].
double view_grid_cell(const ViewScene* scene);
// "3.3 (Core Profile) Mesa ..., llvmpipe"
const char* view_renderer_name(void);
bool view_renderer_is_software(void);

#ifdef __cplusplus
}
#endif
#endif
