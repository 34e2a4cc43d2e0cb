// PNG through stb: the only file that sees it.
#include "app/viewer/picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/output_file.h"
#include "core/arena.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

typedef struct Sink {
    FILE* file;
    bool good;
} Sink;

static void put(void* context, void* data, int bytes) {
    Sink* sink = context;
    sink->good = sink->good && fwrite(data, 1, (size_t)bytes, sink->file) == (size_t)bytes;
}

bool view_bitmap_write(const ViewBitmap* bitmap, const char* file, LashError* error) {
    AppOutput* output = app_output_create(file, error);
    if (output == NULL) return false;
    Sink sink = {app_output_stream(output), true};
    bool made = stbi_write_png_to_func(put, &sink, bitmap->width, bitmap->height, 3, bitmap->pixel,
                                       3 * bitmap->width) != 0;
    if (made && sink.good) return app_output_finish(output, error);
    lash_error_set(error, LASH_ERROR_IO, "", "cannot write the picture: %s", strerror(errno));
    lash_error_file(error, file);
    app_output_discard(output);
    return false;
}

ViewBitmap view_bitmap_read(const char* file, LashError* error) {
    ViewBitmap b = {0};
    int channels = 0;
    unsigned char* data = stbi_load(file, &b.width, &b.height, &channels, 3);
    if (data == NULL) {
        lash_error_set(error, LASH_ERROR_IO, "", "cannot read the picture: %s",
                       stbi_failure_reason());
        lash_error_file(error, file);
        return b;
    }
    size_t bytes = 3 * (size_t)b.width * (size_t)b.height;
    b.pixel = lash_alloc(bytes);
    memcpy(b.pixel, data, bytes);
    stbi_image_free(data);
    return b;
}
