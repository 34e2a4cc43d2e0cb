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

static double pixel_ratio(const ViewWindow* window) { // pixels per unit of GLFW's coordinates
    int window_width = 1, window_height = 1;
    glfwGetWindowSize(window->glfw, &window_width, &window_height);
    return window_width > 0 ? (double)window->width / window_width : 1;
}

static void on_key(GLFWwindow* glfw, int key, int scancode, int action, int mods) {
    (void)scancode;
    ViewWindow* window = glfwGetWindowUserPointer(glfw);
    window->busy = app_wall_clock();
    if (action == GLFW_RELEASE) return;
    if (key == GLFW_KEY_ESCAPE && view_ui_close(window->ui)) return;
    if (view_ui_has_keyboard(window->ui)) return;
    if (mods & (GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER)) return;
    int code = key | (mods & GLFW_MOD_SHIFT ? VIEW_SHIFT : 0);
    for (const ViewKey* k = viewer_keys(); k->key != NULL; ++k) {
        if (k->code != code) continue;
        viewer_act(window->viewer, k->action);
        if (k->action >= VIEW_LOOK_ISO && k->action <= VIEW_LOOK_BOTTOM)
            window->viewer->camera_touched = true;
        return;
    }
}

static void pick(ViewWindow* window) {
    ViewPicture picture = viewer_picture(window->viewer);
    double x = window->x - window->area.x, y = window->y - window->area.y;
    int contact = view_picture_contact(&picture, x, y), joint = view_picture_joint(&picture, x, y);
    if (contact >= 0) {
        viewer_select_contact(window->viewer, contact);
    } else if (joint >= 0) {
        viewer_select_joint(window->viewer, joint);
    } else {
        ViewPick picked = view_renderer_pick(window->renderer, &picture, (int)x, (int)y);
        viewer_select_part(window->viewer, picked.part, picked.face);
    }
}

static void on_button(GLFWwindow* glfw, int button, int action, int mods) {
    ViewWindow* window = glfwGetWindowUserPointer(glfw);
    window->busy = app_wall_clock();
    if (action == GLFW_PRESS) {
        if (window->button >= 0 || view_ui_has_mouse(window->ui)) return;
        window->button = button;
        window->dragged = false;
        window->shift = (mods & GLFW_MOD_SHIFT) != 0;
        window->press_x = window->x;
        window->press_y = window->y;
    } else if (button == window->button) {
        if (!window->dragged && button == GLFW_MOUSE_BUTTON_LEFT) pick(window);
        window->button = -1;
    }
}

static void on_move(GLFWwindow* glfw, double x, double y) {
    ViewWindow* window = glfwGetWindowUserPointer(glfw);
    double ratio = pixel_ratio(window), dx = x * ratio - window->x, dy = y * ratio - window->y;
    window->x = x * ratio;
    window->y = y * ratio;
    window->busy = app_wall_clock();
    if (window->button < 0) return;
    double slack = CLICK_SLACK * window->viewer->pixel;
    if (!window->dragged &&
        hypot(window->x - window->press_x, window->y - window->press_y) <= slack)
        return;
    if (!window->dragged) {
        dx = window->x - window->press_x;
        dy = window->y - window->press_y;
    }
    window->dragged = window->viewer->camera_touched = true;
    if (window->button == GLFW_MOUSE_BUTTON_LEFT && !window->shift) {
        view_camera_orbit(&window->viewer->camera, dx / window->viewer->pixel,
                          dy / window->viewer->pixel);
    } else {
        view_camera_pan(&window->viewer->camera, dx, dy);
    }
}

static void on_scroll(GLFWwindow* glfw, double dx, double dy) {
    (void)dx;
    ViewWindow* window = glfwGetWindowUserPointer(glfw);
    window->busy = app_wall_clock();
    if (view_ui_has_mouse(window->ui)) return;
    window->viewer->camera_touched = true;
    view_camera_zoom(&window->viewer->camera, pow(1.15, dy), window->x - window->area.x,
                     window->y - window->area.y);
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

static bool open_glfw(ViewWindow* window, const ViewWindowOptions* options, LashError* error) {
    glfwSetErrorCallback(on_error);
    if (!glfwInit()) return fail(error);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, isnan(options->scale));
    window->glfw = glfwCreateWindow(options->width, options->height, options->title, NULL, NULL);
    if (window->glfw == NULL) return fail(error);
    glfwMakeContextCurrent(window->glfw);
    glfwSwapInterval(options->vertical_sync);
    glfwSetWindowUserPointer(window->glfw, window);
    glfwGetFramebufferSize(window->glfw, &window->width, &window->height);
    glfwSetKeyCallback(window->glfw, on_key);
    glfwSetMouseButtonCallback(window->glfw, on_button);
    glfwSetCursorPosCallback(window->glfw, on_move);
    glfwSetScrollCallback(window->glfw, on_scroll);
    return true;
}

// Texts are as large as the screen's density asks for; where GLFW's coordinates are already scaled
// (Wayland), the rest.
static void set_scale(ViewWindow* window, double scale) {
    float x = 1, y = 1;
    glfwGetWindowContentScale(window->glfw, &x, &y);
    window->viewer->pixel = isnan(scale) ? fmax(1, (double)x) : scale;
}

ViewWindow* view_window_create(Viewer* viewer, const ViewWindowOptions* options, LashError* error) {
    ViewWindow* window = lash_alloc(sizeof *window);
    window->viewer = viewer;
    window->button = -1;
    if (open_glfw(window, options, error)) {
        set_scale(window, options->scale);
        window->renderer = view_renderer_create(&viewer->scene, error);
        ViewUiOptions ui = {window->glfw, viewer->pixel / pixel_ratio(window), true, true};
        if (window->renderer != NULL) window->ui = view_ui_create(&ui, error);
    }
    if (window->ui == NULL) {
        view_window_destroy(window);
        return NULL;
    }
    window->software = view_renderer_is_software();
    window->last = window->busy = app_wall_clock();
    return window;
}

void view_window_destroy(ViewWindow* window) {
    if (window == NULL) return;
    view_ui_destroy(window->ui);
    view_renderer_destroy(window->renderer);
    if (window->glfw != NULL) glfwDestroyWindow(window->glfw);
    glfwTerminate();
    lash_free(window);
}

// A software renderer draws moving pictures without anti-aliasing, which costs it three times as
// much, and smooth ones as soon as nothing moves.
static int samples_now(ViewWindow* window) {
    const Viewer* v = window->viewer;
    bool moved = memcmp(&window->camera, &v->camera, sizeof window->camera) != 0 ||
                 window->shown != v->shown;
    window->camera = v->camera;
    window->shown = v->shown;
    window->still = moved ? 0 : window->still + 1;
    return window->software && window->still < 2 ? 0 : SAMPLES;
}

static void draw(ViewWindow* window, double wall) {
    Viewer* v = window->viewer;
    double ratio = pixel_ratio(window);
    ViewRectangle area =
        view_ui_viewport(window->ui, v, window->width / ratio, window->height / ratio);
    ViewRectangle pixels = {area.x * ratio, area.y * ratio, area.width * ratio,
                            area.height * ratio};
    bool resized = pixels.width != window->area.width || pixels.height != window->area.height;
    window->area = pixels;
    v->camera.width = floor(pixels.width);
    v->camera.height = floor(pixels.height);
    if (resized && !v->camera_touched) viewer_fit(v);
    ViewPicture picture = viewer_picture(v);
    picture.x = (int)pixels.x;
    picture.y = window->height - (int)(pixels.y + pixels.height);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    view_renderer_draw_smooth(window->renderer, &picture, samples_now(window));
    glViewport(0, 0, window->width, window->height);
    view_ui_draw(window->ui, v, window->width / ratio, window->height / ratio, wall);
}

bool view_window_step(ViewWindow* window) {
    Viewer* v = window->viewer;
    double now = app_wall_clock();
    bool idle = !v->playback.playing && !v->status.running && now - window->busy > 0.5;
    if (idle) {
        glfwWaitEventsTimeout(0.1); // nothing moves: do not keep the machine warm
    } else {
        glfwPollEvents();
    }
    glfwGetFramebufferSize(window->glfw, &window->width, &window->height);
    if (window->width == 0 || window->height == 0) { // minimised
        glfwWaitEventsTimeout(0.1);
        return !glfwWindowShouldClose(window->glfw) && !v->quit;
    }
    now = app_wall_clock();
    double wall = now - window->last;
    window->last = now;
    viewer_update(v, fmin(wall, 0.25));
    draw(window, wall);
    glFinish();
    glfwSwapBuffers(window->glfw);
    return !glfwWindowShouldClose(window->glfw) && !v->quit && !app_interrupted();
}

void view_window_size(const ViewWindow* window, int* width, int* height) {
    *width = window->width;
    *height = window->height;
}

void view_window_viewport(const ViewWindow* window, double* x, double* y) {
    *x = window->area.x;
    *y = window->area.y;
}

void view_window_read(ViewWindow* window, unsigned char* pixels) {
    size_t row = 3 * (size_t)window->width;
    unsigned char* swap = lash_alloc(row);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    draw(window, 0); // what has been swapped to the screen cannot be read back everywhere
    glReadBuffer(GL_BACK);
    glReadPixels(0, 0, window->width, window->height, GL_RGB, GL_UNSIGNED_BYTE, pixels);
    for (int i = 0; i < window->height / 2; ++i) {
        unsigned char *a = pixels + row * (size_t)i,
                      *b = pixels + row * (size_t)(window->height - 1 - i);
        memcpy(swap, a, row);
        memcpy(a, b, row);
        memcpy(b, swap, row);
    }
    lash_free(swap);
}
