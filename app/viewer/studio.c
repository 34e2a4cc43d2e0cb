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

static void set_camera(ViewStudio* studio, ViewRectangle* area) {
    *area = (ViewRectangle){0, 0, studio->options.width, studio->options.height};
    if (studio->ui != NULL)
        *area = view_ui_viewport(studio->ui, studio->viewer, studio->options.width,
                                 studio->options.height);
    studio->viewer->camera.width = (int)area->width;
    studio->viewer->camera.height = (int)area->height;
}

ViewStudio* view_studio_create(Viewer* viewer, const ViewStudioOptions* studio_options,
                               LashError* error) {
    ViewStudio* studio = lash_alloc(sizeof *studio);
    studio->viewer = viewer;
    studio->options = *studio_options;
    viewer->pixel = studio_options->scale;
    studio->offscreen = view_offscreen_create(studio_options->width, studio_options->height, error);
    if (studio->offscreen != NULL) studio->renderer = view_renderer_create(&viewer->scene, error);
    bool good = studio->renderer != NULL;
    if (good && (studio_options->panels || studio_options->captions)) {
        ViewUiOptions ui = {NULL, studio_options->scale, studio_options->panels,
                            studio_options->captions};
        studio->ui = view_ui_create(&ui, error);
        good = studio->ui != NULL;
    }
    if (!good) {
        view_studio_destroy(studio);
        return NULL;
    }
    ViewRectangle area;
    set_camera(studio, &area);
    studio->bitmap = (ViewBitmap){
        studio_options->width, studio_options->height,
        lash_alloc(3 * (size_t)studio_options->width * (size_t)studio_options->height)};
    return studio;
}

void view_studio_destroy(ViewStudio* studio) {
    if (studio == NULL) return;
    view_ui_destroy(studio->ui);
    view_renderer_destroy(studio->renderer);
    view_offscreen_destroy(studio->offscreen);
    lash_free(studio->bitmap.pixel);
    lash_free(studio);
}

static void draw(ViewStudio* studio, double wall) {
    ViewRectangle area;
    view_offscreen_bind(studio->offscreen);
    set_camera(studio, &area);
    ViewPicture picture = viewer_picture(studio->viewer);
    picture.x = (int)area.x;
    picture.y = studio->options.height - (int)(area.y + area.height);
    view_renderer_draw_smooth(studio->renderer, &picture, studio->options.samples);
    glViewport(0, 0, studio->options.width, studio->options.height);
    if (studio->ui != NULL)
        view_ui_draw(studio->ui, studio->viewer, studio->options.width, studio->options.height,
                     wall);
}

void view_studio_draw(ViewStudio* studio, double wall) {
    draw(studio, wall);
    view_offscreen_finish(studio->offscreen);
}

void view_studio_set_samples(ViewStudio* studio, int samples) {
    studio->options.samples = samples;
}

const ViewBitmap* view_studio_shoot(ViewStudio* studio) {
    draw(studio, 0);
    view_offscreen_read(studio->offscreen, studio->bitmap.pixel);
    return &studio->bitmap;
}

ViewPick view_studio_pick(ViewStudio* studio, int x, int y) {
    ViewRectangle area;
    set_camera(studio, &area);
    ViewPicture picture = viewer_picture(studio->viewer);
    return view_renderer_pick(studio->renderer, &picture, x - (int)area.x, y - (int)area.y);
}
