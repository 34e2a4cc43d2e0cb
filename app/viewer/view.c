// lash view: the window, or pictures without one.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands.h"
#include "app/progress.h"
#include "app/report.h"
#include "app/viewer/offscreen.h"
#include "app/viewer/picture.h"
#include "app/viewer/viewer.h"
#include "core/arena.h"

typedef struct ViewOptions {
    AppOperands operands;
    AppList set, plot;
    const char *scheme, *direction, *png, *size, *camera, *select;
    double step, duration, frame, magnify, scale;
    bool json, bare, panels, orthographic, joints, traces;
} ViewOptions;

#define OPTION(member) offsetof(ViewOptions, member)
static const AppOption options[] = {
    {"png", 0, APP_FILE, "FILE.png", "draw one picture, without a window", OPTION(png)},
    {"frame", 0, APP_NUMBER, "SECONDS", "time of the picture (default: the start)", OPTION(frame)},
    {"size", 0, APP_TEXT, "WxH", "of the picture or window (default 1280x800)", OPTION(size)},
    {"camera", 0, APP_TEXT, "VIEW",
     "iso, front, back, left, right, top, bottom, or YAW,PITCH[,ZOOM] in degrees", OPTION(camera)},
    {"set", 's', APP_LIST, "NAME=VALUE", "give a parameter another value", OPTION(set)},
    {"scheme", 0, APP_TEXT, "SCHEME", "time-stepping scheme instead of the model's",
     OPTION(scheme)},
    {"step", 0, APP_NUMBER, "SECONDS", "time step instead of the model's", OPTION(step)},
    {"duration", 0, APP_NUMBER, "SECONDS", "simulated time instead of the model's",
     OPTION(duration)},
    {"json", 0, APP_FLAG, NULL, "print one JSON document about what was written", OPTION(json)},
};
const AppCommand app_view_command = {.name = "view",
                                     .operands = "MODEL or RESULT.h5",
                                     .summary = "see a mechanism move, live or recorded",
                                     .detail = NULL,
                                     .minimum = 1,
                                     .maximum = 1,
                                     .option = options,
                                     .options = sizeof options / sizeof *options,
                                     .json_offset = OPTION(json),
                                     .operand_offset = OPTION(operands)};

enum { MAX_SIDE = 16384 };

static bool parse_size(const char* text, int* width, int* height, LashError* error) {
    int used = 0;
    if (text == NULL) return true;
    bool good = sscanf(text, "%d%*1[xX]%d%n", width, height, &used) == 2 && text[used] == '\0';
    if (good && *width >= 16 && *height >= 16 && *width <= MAX_SIDE && *height <= MAX_SIDE)
        return true;
    return lash_error_set(error, LASH_ERROR_USAGE, "--size",
                          "expected WIDTHxHEIGHT of 16 to %d pixels, found '%.40s'", MAX_SIDE,
                          text);
}

static bool draw_png(Viewer* v, const ViewOptions* o, int width, int height, LashError* error) {
    ViewOffscreen* offscreen = view_offscreen_create(width, height, 8, error);
    ViewRenderer* renderer = offscreen == NULL ? NULL : view_renderer_create(&v->scene, error);
    bool good = renderer != NULL;
    if (good) {
        ViewBitmap bitmap = {width, height, lash_alloc(3 * (size_t)width * (size_t)height)};
        view_offscreen_bind(offscreen);
        ViewPicture picture = viewer_picture(v);
        view_renderer_draw(renderer, &picture);
        view_offscreen_read(offscreen, bitmap.pixel);
        good = view_bitmap_write(&bitmap, o->png, error);
        lash_free(bitmap.pixel);
    }
    view_renderer_destroy(renderer);
    view_offscreen_destroy(offscreen);
    return good;
}

int app_view(int argc, char** argv) {
    ViewOptions o = {.step = NAN, .duration = NAN, .frame = NAN, .magnify = 1, .scale = NAN};
    int code = app_options_parse(&app_view_command, argc, argv, &o), width = 1280, height = 800;
    if (code >= 0) return code;
    AppReport report = app_report("view", o.json);
    LashError error = {0};
    AppSessionOptions session = {o.set.item,  o.set.count, o.scheme,
                                 o.direction, o.step,      o.duration};
    ViewSource* source = NULL;
    Viewer* v = NULL;
    if (parse_size(o.size, &width, &height, &error))
        source = view_source_open(o.operands.item[0], &session, &error);
    if (source != NULL) v = viewer_create(source, &error);
    if (v != NULL) {
        double zoom = 1;
        v->camera.width = width, v->camera.height = height;
        v->playback.playing = false;
        bool good = o.camera == NULL || view_camera_parse(&v->camera, o.camera, &zoom, &error);
        if (!isnan(o.frame)) view_source_wait(source, o.frame);
        viewer_update(v, 0);
        viewer_survey(v, 1 << 20);
        if (!isnan(o.frame)) viewer_seek(v, o.frame);
        viewer_fit(v);
        v->camera.distance /= zoom;
        if (good) draw_png(v, &o, width, height, &error);
    }
    viewer_destroy(v);
    view_source_close(source);
    if (o.json) app_report_document(&report, &error);
    return app_report_finish(&report, &error);
}
