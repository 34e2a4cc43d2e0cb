// Pictures without a window: renderer, captions and panels on an offscreen framebuffer.
#ifndef LASH_APP_VIEWER_STUDIO_H
#define LASH_APP_VIEWER_STUDIO_H

#include "app/viewer/picture.h"
#include "app/viewer/viewer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ViewStudio ViewStudio;

typedef struct ViewStudioOptions {
    int width, height, samples;
    double scale;          // of texts, lines and marks
    bool panels, captions; // as in the window; time and scales in the picture
} ViewStudioOptions;

// Borrows the viewer, whose camera gets the size of the picture. NULL with error (exit code 7).
ViewStudio* view_studio_create(Viewer* viewer, const ViewStudioOptions* options, LashError* error);
void view_studio_destroy(ViewStudio* studio); // NULL is allowed

void view_studio_draw(ViewStudio* studio, double wall);        // without reading it back
void view_studio_set_samples(ViewStudio* studio, int samples); // from the next picture on
// Draws what the viewer shows now; the bitmap belongs to the studio.
const ViewBitmap* view_studio_shoot(ViewStudio* studio);
// What is under a pixel of the picture.
ViewPick view_studio_pick(ViewStudio* studio, int x, int y);

#ifdef __cplusplus
}
#endif
#endif
