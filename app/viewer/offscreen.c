// Drawing without a display: a surfaceless EGL context (Mesa), else one on an EGL device, and a
// framebuffer.
#include "app/viewer/offscreen.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <string.h>

#include "core/arena.h"

struct ViewOffscreen {
    EGLDisplay display;
    EGLContext context;
    int width, height;
    unsigned frame, color, depth;
};

static EGLDisplay open_display(void) {
    if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_base")) {
        if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless")) {
            EGLDisplay display =
                eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
            if (display != EGL_NO_DISPLAY && eglInitialize(display, NULL, NULL)) return display;
        }
        EGLDeviceEXT device[8];
        EGLint count = 0;
        if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration") &&
            eglQueryDevicesEXT(8, device, &count)) {
            for (int i = 0; i < count; ++i) {
                EGLDisplay display =
                    eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, device[i], NULL);
                if (display != EGL_NO_DISPLAY && eglInitialize(display, NULL, NULL)) return display;
            }
        }
    }
    return EGL_NO_DISPLAY;
}

static bool fail(LashError* error, const char* what) {
    return lash_error_set(error, LASH_ERROR_IO, "EGL",
                          "%s; a driver that draws without a display is needed (Debian: "
                          "apt-get install libegl1 libgl1-mesa-dri)",
                          what);
}

static bool open_context(ViewOffscreen* o, LashError* error) {
    static const EGLint config_list[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                                         EGL_NONE};
    static const EGLint context_list[] = {EGL_CONTEXT_MAJOR_VERSION,
                                          3,
                                          EGL_CONTEXT_MINOR_VERSION,
                                          3,
                                          EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                          EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                          EGL_NONE};
    o->display = open_display();
    if (o->display == EGL_NO_DISPLAY) return fail(error, "no drawing surface was found");
    EGLConfig config = NULL;
    EGLint count = 0;
    if (!eglBindAPI(EGL_OPENGL_API)) return fail(error, "the driver has no OpenGL");
    eglChooseConfig(o->display, config_list, &config, 1, &count);
    o->context =
        eglCreateContext(o->display, count > 0 ? config : NULL, EGL_NO_CONTEXT, context_list);
    if (o->context == EGL_NO_CONTEXT) return fail(error, "the driver refuses OpenGL 3.3");
    if (!eglMakeCurrent(o->display, EGL_NO_SURFACE, EGL_NO_SURFACE, o->context))
        return fail(error, "the driver cannot draw without a surface");
    return true;
}

static void create_target(ViewOffscreen* o) {
    glGenFramebuffers(1, &o->frame);
    glGenRenderbuffers(1, &o->color);
    glGenRenderbuffers(1, &o->depth);
    glBindFramebuffer(GL_FRAMEBUFFER, o->frame);
    glBindRenderbuffer(GL_RENDERBUFFER, o->color);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, o->width, o->height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, o->color);
    glBindRenderbuffer(GL_RENDERBUFFER, o->depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, o->width, o->height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, o->depth);
}

ViewOffscreen* view_offscreen_create(int width, int height, LashError* error) {
    ViewOffscreen* o = lash_alloc(sizeof *o);
    int largest = 0;
    o->width = width;
    o->height = height;
    bool good = open_context(o, error);
    if (good) glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
    if (good && (width > largest || height > largest)) {
        good = lash_error_set(error, LASH_ERROR_USAGE, "--size",
                              "the driver draws pictures of up to %d x %d pixels, %d x %d were "
                              "asked for",
                              largest, largest, width, height);
    }
    if (good) {
        create_target(o);
        good = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE ||
               fail(error, "the driver cannot make a framebuffer");
    }
    if (good) return o;
    view_offscreen_destroy(o);
    return NULL;
}

void view_offscreen_destroy(ViewOffscreen* o) {
    if (o == NULL) return;
    if (o->frame != 0) {
        unsigned targets[] = {o->color, o->depth};
        glDeleteFramebuffers(1, &o->frame);
        glDeleteRenderbuffers(2, targets);
    }
    if (o->display != EGL_NO_DISPLAY) {
        eglMakeCurrent(o->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        if (o->context != EGL_NO_CONTEXT) eglDestroyContext(o->display, o->context);
        // The display stays: the next context gets the same one. Ending it unloads Mesa's driver,
        // which loses 112 bytes every time (22.3.6).
        eglReleaseThread();
    }
    lash_free(o);
}

void view_offscreen_bind(ViewOffscreen* o) {
    glBindFramebuffer(GL_FRAMEBUFFER, o->frame);
    glViewport(0, 0, o->width, o->height);
}

// glFinish alone does not make Mesa's software renderer release what it has collected for a
// picture: memory grows by megabytes per picture (22.3.6). Reading a pixel does.
void view_offscreen_finish(ViewOffscreen* o) {
    unsigned char pixel[4];
    glBindFramebuffer(GL_FRAMEBUFFER, o->frame);
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
}

void view_offscreen_read(ViewOffscreen* o, unsigned char* pixels) {
    size_t row = 3 * (size_t)o->width;
    glBindFramebuffer(GL_FRAMEBUFFER, o->frame);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, o->width, o->height, GL_RGB, GL_UNSIGNED_BYTE, pixels);
    unsigned char* swap = lash_alloc(row);
    for (int i = 0; i < o->height / 2; ++i) { // OpenGL's rows begin at the bottom
        unsigned char *a = pixels + row * (size_t)i,
                      *b = pixels + row * (size_t)(o->height - 1 - i);
        memcpy(swap, a, row);
        memcpy(a, b, row);
        memcpy(b, swap, row);
    }
    lash_free(swap);
}
