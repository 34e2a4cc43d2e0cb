// The window. Keys and buttons become actions of the viewer; the mouse moves the camera unless it
// is over a panel: left drag orbits, right or middle drag (or shift) pans, the wheel zooms to the
// cursor, a click without a drag selects.
#include "app/viewer/window.h"

#include <epoxy/gl.h>
// after epoxy
#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/progress.h"
#include "app/viewer/ui.h"
#include "core/arena.h"

struct ViewWindow {
    GLFWwindow* glfw;
    Viewer* viewer;
    ViewRenderer* renderer;
    ViewUi* ui;
    ViewRectangle area; // of the picture [pixels]
    int width, height;  // [pixels]
    int button;         // that is held over the picture, -1: none
    bool dragged, shift;
    double x, y, press_x, press_y; // of the mouse [pixels]
    double last, busy;             // wall clock [s]: last picture; last thing that happened
    bool software;                 // Mesa draws on the processor
    ViewCamera camera;             // of the picture before, to know whether anything moves
    int64_t shown;
    int still; // pictures since something moved
    char glfw_error[200];
};

enum {
    CLICK_SLACK = 3, // [points] a hand may tremble in a click
    SAMPLES = 4      // per pixel
};

static double pixel_ratio(const ViewWindow* w) { // pixels per unit of GLFW's coordinates
    int window_width = 1, window_height = 1;
    glfwGetWindowSize(w->glfw, &window_width, &window_height);
    return window_width > 0 ? (double)w->width / window_width : 1;
}

static void on_key(GLFWwindow* glfw, int key, int scancode, int action, int mods) {
    (void)scancode;
    ViewWindow* w = glfwGetWindowUserPointer(glfw);
    w->busy = app_wall_clock();
    if (action == GLFW_RELEASE || view_ui_has_keyboard(w->ui)) return;
    if (mods & (GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER)) return;
    int code = key | (mods & GLFW_MOD_SHIFT ? VIEW_SHIFT : 0);
    for (const ViewKey* k = viewer_keys(); k->key != NULL; ++k) {
        if (k->code != code) continue;
        viewer_act(w->viewer, k->action);
        if (k->action >= VIEW_LOOK_ISO && k->action <= VIEW_LOOK_BOTTOM)
            w->viewer->camera_touched = true;
        return;
    }
}

static void pick(ViewWindow* w) {
    ViewPicture picture = viewer_picture(w->viewer);
    double x = w->x - w->area.x, y = w->y - w->area.y;
    w->viewer->selected = (ViewPick){-1, -1};
    w->viewer->selected_joint = view_picture_joint(&picture, x, y);
    if (w->viewer->selected_joint < 0)
        w->viewer->selected = view_renderer_pick(w->renderer, &picture, (int)x, (int)y);
}

static void on_button(GLFWwindow* glfw, int button, int action, int mods) {
    ViewWindow* w = glfwGetWindowUserPointer(glfw);
    w->busy = app_wall_clock();
    if (action == GLFW_PRESS) {
        if (w->button >= 0 || view_ui_has_mouse(w->ui)) return;
        w->button = button;
        w->dragged = false;
        w->shift = (mods & GLFW_MOD_SHIFT) != 0;
        w->press_x = w->x;
        w->press_y = w->y;
    } else if (button == w->button) {
        if (!w->dragged && button == GLFW_MOUSE_BUTTON_LEFT) pick(w);
        w->button = -1;
    }
}

static void on_move(GLFWwindow* glfw, double x, double y) {
    ViewWindow* w = glfwGetWindowUserPointer(glfw);
    double ratio = pixel_ratio(w), dx = x * ratio - w->x, dy = y * ratio - w->y;
    w->x = x * ratio;
    w->y = y * ratio;
    w->busy = app_wall_clock();
    if (w->button < 0) return;
    double slack = CLICK_SLACK * w->viewer->pixel;
    if (!w->dragged && hypot(w->x - w->press_x, w->y - w->press_y) <= slack) return;
    if (!w->dragged) {
        dx = w->x - w->press_x;
        dy = w->y - w->press_y;
    }
    w->dragged = w->viewer->camera_touched = true;
    if (w->button == GLFW_MOUSE_BUTTON_LEFT && !w->shift) {
        view_camera_orbit(&w->viewer->camera, dx / w->viewer->pixel, dy / w->viewer->pixel);
    } else {
        view_camera_pan(&w->viewer->camera, dx, dy);
    }
}

static void on_scroll(GLFWwindow* glfw, double dx, double dy) {
    (void)dx;
    ViewWindow* w = glfwGetWindowUserPointer(glfw);
    w->busy = app_wall_clock();
    if (view_ui_has_mouse(w->ui)) return;
    w->viewer->camera_touched = true;
    view_camera_zoom(&w->viewer->camera, pow(1.15, dy), w->x - w->area.x, w->y - w->area.y);
}

static void on_error(int code, const char* text) {
    (void)code;
    (void)text; // asked for by glfwGetError
}

static bool fail(LashError* error) {
    const char* text = NULL;
    glfwGetError(&text);
    const char* display = getenv("DISPLAY");
    const char* wayland = getenv("WAYLAND_DISPLAY");
    bool none = (display == NULL || display[0] == '\0') && (wayland == NULL || wayland[0] == '\0');
    if (none) {
        return lash_error_set(error, LASH_ERROR_IO, "display",
                              "there is none to open a window on (DISPLAY is not set); --png, "
                              "--frames and --video draw without one");
    }
    return lash_error_set(error, LASH_ERROR_IO, "display",
                          "no window with OpenGL 3.3 could be opened: %.200s; --png, --frames and "
                          "--video draw without one, LIBGL_ALWAYS_SOFTWARE=1 without the graphics "
                          "card",
                          text != NULL ? text : "no reason given");
}

static bool open_glfw(ViewWindow* w, const ViewWindowOptions* o, LashError* error) {
    glfwSetErrorCallback(on_error);
    if (!glfwInit()) return fail(error);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, isnan(o->scale));
    w->glfw = glfwCreateWindow(o->width, o->height, o->title, NULL, NULL);
    if (w->glfw == NULL) return fail(error);
    glfwMakeContextCurrent(w->glfw);
    glfwSwapInterval(o->vertical_sync);
    glfwSetWindowUserPointer(w->glfw, w);
    glfwGetFramebufferSize(w->glfw, &w->width, &w->height);
    glfwSetKeyCallback(w->glfw, on_key);
    glfwSetMouseButtonCallback(w->glfw, on_button);
    glfwSetCursorPosCallback(w->glfw, on_move);
    glfwSetScrollCallback(w->glfw, on_scroll);
    return true;
}

// Texts are as large as the screen's density asks for; where GLFW's coordinates are already scaled
// (Wayland), the rest.
static void set_scale(ViewWindow* w, double scale) {
    float x = 1, y = 1;
    glfwGetWindowContentScale(w->glfw, &x, &y);
    w->viewer->pixel = isnan(scale) ? fmax(1, (double)x) : scale;
}

ViewWindow* view_window_create(Viewer* viewer, const ViewWindowOptions* o, LashError* error) {
    ViewWindow* w = lash_alloc(sizeof *w);
    w->viewer = viewer;
    w->button = -1;
    if (open_glfw(w, o, error)) {
        set_scale(w, o->scale);
        w->renderer = view_renderer_create(&viewer->scene, error);
        ViewUiOptions ui = {w->glfw, viewer->pixel / pixel_ratio(w), true, true};
        if (w->renderer != NULL) w->ui = view_ui_create(&ui, error);
    }
    if (w->ui == NULL) {
        view_window_destroy(w);
        return NULL;
    }
    w->software = view_renderer_is_software();
    w->last = w->busy = app_wall_clock();
    return w;
}

void view_window_destroy(ViewWindow* w) {
    if (w == NULL) return;
    view_ui_destroy(w->ui);
    view_renderer_destroy(w->renderer);
    if (w->glfw != NULL) glfwDestroyWindow(w->glfw);
    glfwTerminate();
    lash_free(w);
}

// A software renderer draws moving pictures without anti-aliasing, which costs it three times as
// much, and smooth ones as soon as nothing moves.
static int samples_now(ViewWindow* w) {
    const Viewer* v = w->viewer;
    bool moved = memcmp(&w->camera, &v->camera, sizeof w->camera) != 0 || w->shown != v->shown;
    w->camera = v->camera;
    w->shown = v->shown;
    w->still = moved ? 0 : w->still + 1;
    return w->software && w->still < 2 ? 0 : SAMPLES;
}

static void draw(ViewWindow* w, double wall) {
    Viewer* v = w->viewer;
    double ratio = pixel_ratio(w);
    ViewRectangle area = view_ui_viewport(w->ui, v, w->width / ratio, w->height / ratio);
    ViewRectangle pixels = {area.x * ratio, area.y * ratio, area.width * ratio,
                            area.height * ratio};
    bool resized = pixels.width != w->area.width || pixels.height != w->area.height;
    w->area = pixels;
    v->camera.width = floor(pixels.width);
    v->camera.height = floor(pixels.height);
    if (resized && !v->camera_touched) viewer_fit(v);
    ViewPicture picture = viewer_picture(v);
    picture.x = (int)pixels.x;
    picture.y = w->height - (int)(pixels.y + pixels.height);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    view_renderer_draw_smooth(w->renderer, &picture, samples_now(w));
    glViewport(0, 0, w->width, w->height);
    view_ui_draw(w->ui, v, w->width / ratio, w->height / ratio, wall);
}

bool view_window_step(ViewWindow* w) {
    Viewer* v = w->viewer;
    double now = app_wall_clock();
    bool idle = !v->playback.playing && !v->status.running && now - w->busy > 0.5;
    if (idle) {
        glfwWaitEventsTimeout(0.1); // nothing moves: do not keep the machine warm
    } else {
        glfwPollEvents();
    }
    glfwGetFramebufferSize(w->glfw, &w->width, &w->height);
    if (w->width == 0 || w->height == 0) { // minimised
        glfwWaitEventsTimeout(0.1);
        return !glfwWindowShouldClose(w->glfw) && !v->quit;
    }
    now = app_wall_clock();
    double wall = now - w->last;
    w->last = now;
    viewer_update(v, fmin(wall, 0.25));
    draw(w, wall);
    glFinish();
    glfwSwapBuffers(w->glfw);
    return !glfwWindowShouldClose(w->glfw) && !v->quit && !app_interrupted();
}

void view_window_size(const ViewWindow* w, int* width, int* height) {
    *width = w->width;
    *height = w->height;
}

void view_window_viewport(const ViewWindow* w, double* x, double* y) {
    *x = w->area.x;
    *y = w->area.y;
}

void view_window_read(ViewWindow* w, unsigned char* pixels) {
    size_t row = 3 * (size_t)w->width;
    unsigned char* swap = lash_alloc(row);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    draw(w, 0); // what has been swapped to the screen cannot be read back everywhere
    glReadBuffer(GL_BACK);
    glReadPixels(0, 0, w->width, w->height, GL_RGB, GL_UNSIGNED_BYTE, pixels);
    for (int i = 0; i < w->height / 2; ++i) {
        unsigned char *a = pixels + row * (size_t)i,
                      *b = pixels + row * (size_t)(w->height - 1 - i);
        memcpy(swap, a, row);
        memcpy(a, b, row);
        memcpy(b, swap, row);
    }
    lash_free(swap);
}
