// The camera: looks at a target from a distance; orbit, pan, zoom to the cursor, standard views.
#ifndef LASH_APP_VIEWER_CAMERA_H
#define LASH_APP_VIEWER_CAMERA_H

#include "core/error.h"
#include "core/math3.h"
#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ViewStandard {
    VIEW_ISO,
    VIEW_FRONT,
    VIEW_BACK,
    VIEW_LEFT,
    VIEW_RIGHT,
    VIEW_TOP,
    VIEW_BOTTOM,
    VIEW_STANDARDS
} ViewStandard;

typedef struct ViewCamera {
    Vec3 up, right;    // unit, of the world as shown: up, and what the front view has to the right
    Vec3 target;       // [m]
    double distance;   // eye to target [m]
    double yaw, pitch; // [rad]; 0, 0 is the front view
    double field;      // of view, vertical [rad]
    bool orthographic;
    double width, height; // of the picture [pixels]
    double near, far;     // of the depth range [m]; view_camera_clip sets them
} ViewCamera;

typedef struct ViewRay {
    Vec3 origin, direction; // unit
} ViewRay;

// A camera of a world with this up direction.
ViewCamera view_camera(Vec3 up);

// "iso", "front", ..., or "YAW,PITCH[,ZOOM]" in degrees, zoom 1: all in view. False with error.
bool view_camera_parse(ViewCamera* camera, const char* text, double* zoom, LashError* error);
void view_camera_set(ViewCamera* camera, ViewStandard standard);
// Keeps the direction of looking; all points are in view, with a margin.
void view_camera_fit(ViewCamera* camera, const Vec3* point, int count);
// Near and far from the box that must be seen.
void view_camera_clip(ViewCamera* camera, LashBox box);

void view_camera_orbit(ViewCamera* camera, double dx, double dy); // [pixels]
void view_camera_pan(ViewCamera* camera, double dx, double dy);   // the target's plane follows
// Zooms by factor (> 1: nearer) so that what is under the pixel (x, y) stays there.
void view_camera_zoom(ViewCamera* camera, double factor, double x, double y);

void view_camera_axes(const ViewCamera* camera, Vec3* right, Vec3* up, Vec3* back);
Vec3 view_camera_eye(const ViewCamera* camera);
ViewRay view_camera_ray(const ViewCamera* camera, double x, double y); // through a pixel
// Metres per pixel at a point.
double view_camera_scale(const ViewCamera* camera, Vec3 point);
// Pixel of a point; false when it is behind the eye.
bool view_camera_project(const ViewCamera* camera, Vec3 point, double* x, double* y);

// Column-major 4 x 4 matrices for the shaders: world -> eye -> clip.
void view_camera_matrices(const ViewCamera* camera, float view[16], float projection[16]);

#ifdef __cplusplus
}
#endif
#endif
