// Pictures without a window.
#include "app/viewer/studio.h"

#include <epoxy/gl.h>

#include "app/viewer/offscreen.h"
#include "app/viewer/ui.h"
#include "core/arena.h"

struct ViewStudio {
    Viewer* viewer;
    ViewStudioOptions options;
    ViewOffscreen* offscreen;
    ViewRenderer* renderer;
    ViewUi* ui;
    ViewBitmap bitmap;
};

static void set_camera(ViewStudio* s, ViewRectangle* area) {
    *area = (ViewRectangle){0, 0, s->options.width, s->options.height};
    if (s->ui != NULL)
        *area = view_ui_viewport(s->ui, s->viewer, s->options.width, s->options.height);
    s->viewer->camera.width = (int)area->width;
    s->viewer->camera.height = (int)area->height;
}

ViewStudio* view_studio_create(Viewer* viewer, const ViewStudioOptions* o, LashError* error) {
    ViewStudio* s = lash_alloc(sizeof *s);
    s->viewer = viewer;
    s->options = *o;
    viewer->pixel = o->scale;
    s->offscreen = view_offscreen_create(o->width, o->height, error);
    if (s->offscreen != NULL) s->renderer = view_renderer_create(&viewer->scene, error);
    bool good = s->renderer != NULL;
    if (good && (o->panels || o->captions)) {
        ViewUiOptions ui = {NULL, o->scale, o->panels, o->captions};
        s->ui = view_ui_create(&ui, error);
        good = s->ui != NULL;
    }
    if (!good) {
        view_studio_destroy(s);
        return NULL;
    }
    ViewRectangle area;
    set_camera(s, &area);
    s->bitmap =
        (ViewBitmap){o->width, o->height, lash_alloc(3 * (size_t)o->width * (size_t)o->height)};
    return s;
}

void view_studio_destroy(ViewStudio* s) {
    if (s == NULL) return;
    view_ui_destroy(s->ui);
    view_renderer_destroy(s->renderer);
    view_offscreen_destroy(s->offscreen);
    lash_free(s->bitmap.pixel);
    lash_free(s);
}

static void draw(ViewStudio* s, double wall) {
    ViewRectangle area;
    view_offscreen_bind(s->offscreen);
    set_camera(s, &area);
    ViewPicture picture = viewer_picture(s->viewer);
    picture.x = (int)area.x;
    picture.y = s->options.height - (int)(area.y + area.height);
    view_renderer_draw_smooth(s->renderer, &picture, s->options.samples);
    glViewport(0, 0, s->options.width, s->options.height);
    if (s->ui != NULL) view_ui_draw(s->ui, s->viewer, s->options.width, s->options.height, wall);
}

void view_studio_draw(ViewStudio* s, double wall) {
    draw(s, wall);
    view_offscreen_finish(s->offscreen);
}

void view_studio_set_samples(ViewStudio* s, int samples) {
    s->options.samples = samples;
}

const ViewBitmap* view_studio_shoot(ViewStudio* s) {
    draw(s, 0);
    view_offscreen_read(s->offscreen, s->bitmap.pixel);
    return &s->bitmap;
}

ViewPick view_studio_pick(ViewStudio* s, int x, int y) {
    ViewRectangle area;
    set_camera(s, &area);
    ViewPicture picture = viewer_picture(s->viewer);
    return view_renderer_pick(s->renderer, &picture, x - (int)area.x, y - (int)area.y);
}
