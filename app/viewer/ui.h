// The user interface around the picture: panels, timeline, plots, captions. Dear ImGui is behind
// it.
#ifndef LASH_APP_VIEWER_UI_H
#define LASH_APP_VIEWER_UI_H

#include "app/viewer/viewer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ViewUi ViewUi;

typedef struct ViewUiOptions {
    void* window;  // GLFWwindow, NULL: pictures without a window
    double scale;  // of texts and widgets: 2 on a screen of double density
    bool panels;   // side panels, timeline and status line can be shown
    bool captions; // time, grid and force scale in the picture
} ViewUiOptions;

typedef struct ViewRectangle {
    double x, y, width, height; // from the upper left corner
} ViewRectangle;

// Needs a current OpenGL context. NULL with error.
ViewUi* view_ui_create(const ViewUiOptions* options, LashError* error);
void view_ui_destroy(ViewUi* ui); // NULL is allowed

// Where the picture of the mechanism goes in a window of this size.
ViewRectangle view_ui_viewport(const ViewUi* ui, const Viewer* viewer, double width, double height);
// Lays out and draws the whole interface over the picture.
void view_ui_draw(ViewUi* ui, Viewer* viewer, double width, double height, double wall);

// Closes the menu that is open with the next picture; false: none is.
bool view_ui_close(ViewUi* ui);
bool view_ui_has_mouse(const ViewUi* ui);    // it is over a panel
bool view_ui_has_keyboard(const ViewUi* ui); // a text is being typed

#ifdef __cplusplus
}
#endif
#endif
