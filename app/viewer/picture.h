// Pictures as bytes: PNG files written and read, and compared.
#ifndef LASH_APP_VIEWER_PICTURE_H
#define LASH_APP_VIEWER_PICTURE_H

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ViewBitmap {
    int width, height;
    unsigned char* pixel; // 3 per pixel, rows from the top; lash_free
} ViewBitmap;

bool view_bitmap_write(const ViewBitmap* bitmap, const char* file, LashError* error);
// pixel NULL with error (exit code 7) when it cannot be read.
ViewBitmap view_bitmap_read(const char* file, LashError* error);

#ifdef __cplusplus
}
#endif
#endif
