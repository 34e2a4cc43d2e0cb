// A video made by the program `ffmpeg`, which gets the pictures through a pipe.
#ifndef LASH_APP_VIEWER_VIDEO_H
#define LASH_APP_VIEWER_VIDEO_H

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ViewVideo ViewVideo;

// NULL with error (exit code 7) when there is no ffmpeg.
ViewVideo* view_video_create(const char* file, int width, int height, double rate,
                             LashError* error);
// One picture: (3 width height) bytes, rows from the top.
bool view_video_add(ViewVideo* video, const unsigned char* pixels, LashError* error);
// Waits for ffmpeg; false with error when it failed. NULL is allowed.
bool view_video_close(ViewVideo* video, LashError* error);

#ifdef __cplusplus
}
#endif
#endif
