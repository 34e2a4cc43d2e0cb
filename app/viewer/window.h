// The window: GLFW, OpenGL 3.3, keys and mouse.
#ifndef LASH_APP_VIEWER_WINDOW_H
#define LASH_APP_VIEWER_WINDOW_H

#include "app/viewer/viewer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ViewWindow ViewWindow;

typedef struct ViewWindowOptions {
    int width, height; // in points
    double scale;      // NAN: what the screen says
    bool vertical_sync;
    const char* title;
} ViewWindowOptions;

// Borrows the viewer. NULL with error (exit code 7): no display, OpenGL too old.
ViewWindow* view_window_create(Viewer* viewer, const ViewWindowOptions* options, LashError* error);
void view_window_destroy(ViewWindow* window); // NULL is allowed

// Handles what happened, draws and shows one picture. False when the window is to be closed.
bool view_window_step(ViewWindow* window);
void view_window_size(const ViewWindow* window, int* width, int* height); // [pixels]
// Where the picture of the mechanism is in the window, from the upper left corner [pixels].
void view_window_viewport(const ViewWindow* window, double* x, double* y);
// Draws the picture once more and copies it: (3 width height) bytes, rows from the top.
void view_window_read(ViewWindow* window, unsigned char* pixels);

#ifdef __cplusplus
}
#endif
#endif
