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

static bool open_context(ViewOffscreen* offscreen, LashError* error) {
    static const EGLint config_list[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                                         EGL_NONE};
    static const EGLint context_list[] = {EGL_CONTEXT_MAJOR_VERSION,
                                          3,
                                          EGL_CONTEXT_MINOR_VERSION,
                                          3,
                                          EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                          EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                          EGL_NONE};
    offscreen->display = open_display();
    if (offscreen->display == EGL_NO_DISPLAY) return fail(error, "no drawing surface was found");
    EGLConfig config = NULL;
    EGLint count = 0;
    if (!eglBindAPI(EGL_OPENGL_API)) return fail(error, "the driver has no OpenGL");
    eglChooseConfig(offscreen->display, config_list, &config, 1, &count);
    offscreen->context = eglCreateContext(offscreen->display, count > 0 ? config : NULL,
                                          EGL_NO_CONTEXT, context_list);
    if (offscreen->context == EGL_NO_CONTEXT) return fail(error, "the driver refuses OpenGL 3.3");
    if (!eglMakeCurrent(offscreen->display, EGL_NO_SURFACE, EGL_NO_SURFACE, offscreen->context))
        return fail(error, "the driver cannot draw without a surface");
    return true;
}

static void create_target(ViewOffscreen* offscreen) {
    glGenFramebuffers(1, &offscreen->frame);
    glGenRenderbuffers(1, &offscreen->color);
    glGenRenderbuffers(1, &offscreen->depth);
    glBindFramebuffer(GL_FRAMEBUFFER, offscreen->frame);
    glBindRenderbuffer(GL_RENDERBUFFER, offscreen->color);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, offscreen->width, offscreen->height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                              offscreen->color);
    glBindRenderbuffer(GL_RENDERBUFFER, offscreen->depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, offscreen->width,
                          offscreen->height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER,
                              offscreen->depth);
}

ViewOffscreen* view_offscreen_create(int width, int height, LashError* error) {
    ViewOffscreen* offscreen = lash_alloc(sizeof *offscreen);
    int largest = 0;
    offscreen->width = width;
    offscreen->height = height;
    bool good = open_context(offscreen, error);
    if (good) glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
    if (good && (width > largest || height > largest)) {
        good = lash_error_set(error, LASH_ERROR_USAGE, "--size",
                              "the driver draws pictures of up to %d x %d pixels, %d x %d were "
                              "asked for",
                              largest, largest, width, height);
    }
    if (good) {
        create_target(offscreen);
        good = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE ||
               fail(error, "the driver cannot make a framebuffer");
    }
    if (good) return offscreen;
    view_offscreen_destroy(offscreen);
    return NULL;
}

void view_offscreen_destroy(ViewOffscreen* offscreen) {
    if (offscreen == NULL) return;
    if (offscreen->frame != 0) {
        unsigned targets[] = {offscreen->color, offscreen->depth};
        glDeleteFramebuffers(1, &offscreen->frame);
        glDeleteRenderbuffers(2, targets);
    }
    if (offscreen->display != EGL_NO_DISPLAY) {
        eglMakeCurrent(offscreen->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        if (offscreen->context != EGL_NO_CONTEXT)
            eglDestroyContext(offscreen->display, offscreen->context);
        // The display stays: the next context gets the same one. Ending it unloads Mesa's driver,
        // which loses 112 bytes every time (22.3.6).
        eglReleaseThread();
    }
    lash_free(offscreen);
}

void view_offscreen_bind(ViewOffscreen* offscreen) {
    glBindFramebuffer(GL_FRAMEBUFFER, offscreen->frame);
    glViewport(0, 0, offscreen->width, offscreen->height);
}

// glFinish alone does not make Mesa's software renderer release what it has collected for a
// picture: memory grows by megabytes per picture (22.3.6). Reading a pixel does.
void view_offscreen_finish(ViewOffscreen* offscreen) {
    unsigned char pixel[4];
    glBindFramebuffer(GL_FRAMEBUFFER, offscreen->frame);
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
}

void view_offscreen_read(ViewOffscreen* offscreen, unsigned char* pixels) {
    size_t row = 3 * (size_t)offscreen->width;
    glBindFramebuffer(GL_FRAMEBUFFER, offscreen->frame);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, offscreen->width, offscreen->height, GL_RGB, GL_UNSIGNED_BYTE, pixels);
    unsigned char* swap = lash_alloc(row);
    for (int i = 0; i < offscreen->height / 2; ++i) { // OpenGL's rows begin at the bottom
        unsigned char *a = pixels + row * (size_t)i,
                      *b = pixels + row * (size_t)(offscreen->height - 1 - i);
        memcpy(swap, a, row);
        memcpy(a, b, row);
        memcpy(b, swap, row);
    }
    lash_free(swap);
}
