// An OpenGL context and a framebuffer without window and display (EGL surfaceless).
#ifndef LASH_APP_VIEWER_OFFSCREEN_H
#define LASH_APP_VIEWER_OFFSCREEN_H

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ViewOffscreen ViewOffscreen;

// Current in this thread until destroyed; one sample per pixel. NULL with error (exit code 7).
ViewOffscreen* view_offscreen_create(int width, int height, LashError* error);
void view_offscreen_destroy(ViewOffscreen* offscreen); // NULL is allowed
void view_offscreen_bind(ViewOffscreen* offscreen);    // drawing goes there
// Waits until everything is drawn.
void view_offscreen_finish(ViewOffscreen* offscreen);
// The picture drawn so far: 3 bytes per pixel, rows from the top; (3 width height) bytes.
void view_offscreen_read(ViewOffscreen* offscreen, unsigned char* pixels);

#ifdef __cplusplus
}
#endif
#endif
