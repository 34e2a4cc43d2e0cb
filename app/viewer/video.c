// Pictures to `ffmpeg` through a pipe. The child's own messages go to stderr, errors only.
#include "app/viewer/video.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/cli/output_file.h"
#include "core/arena.h"

extern char** environ;

struct ViewVideo {
    pid_t child;
    int pipe;
    size_t bytes;
    char file[1024];
    AppOutput* output;
    void (*old_handler)(int);
};

static bool fail(ViewVideo* v, LashError* error, const char* message) {
    lash_error_set(error, LASH_ERROR_IO, "", "%s", message);
    lash_error_file(error, v->file);
    return false;
}

static bool start(ViewVideo* v, int width, int height, double rate, LashError* error) {
    char size[32], fps[32], file[1100];
    int ends[2];
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(fps, sizeof fps, "%g", rate);
    snprintf(file, sizeof file, "file:%s",
             app_output_temporary(v->output)); // also names that begin with a dash
    const char* argument[] = {"ffmpeg",
                              "-loglevel",
                              "error",
                              "-nostdin",
                              "-y",
                              "-f",
                              "rawvideo",
                              "-pix_fmt",
                              "rgb24",
                              "-s",
                              size,
                              "-r",
                              fps,
                              "-i",
                              "pipe:0",
                              "-vf",
                              "pad=ceil(iw/2)*2:ceil(ih/2)*2", // players want even sides
                              "-pix_fmt",
                              "yuv420p",
                              "-movflags",
                              "+faststart",
                              file,
                              NULL};
    if (pipe(ends) != 0) return fail(v, error, strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    int bad = posix_spawnp(&v->child, "ffmpeg", &actions, NULL, (char* const*)(uintptr_t)argument,
                           environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    v->pipe = ends[1];
    if (bad == 0) return true;
    close(ends[1]);
    v->child = 0;
    return fail(v, error,
                bad == ENOENT ? "a video needs the program ffmpeg, which is not installed (Debian: "
                                "apt-get install ffmpeg); --frames DIR writes single pictures "
                                "without it"
                              : strerror(bad));
}

ViewVideo* view_video_create(const char* file, int width, int height, double rate,
                             LashError* error) {
    ViewVideo* v = lash_alloc(sizeof *v);
    snprintf(v->file, sizeof v->file, "%s", file);
    v->bytes = 3 * (size_t)width * (size_t)height;
    v->output = app_output_create(file, error);
    if (v->output == NULL || !start(v, width, height, rate, error)) {
        app_output_discard(v->output);
        lash_free(v);
        return NULL;
    }
    v->old_handler = signal(SIGPIPE, SIG_IGN); // a child that died is an error, not our end
    return v;
}

bool view_video_add(ViewVideo* v, const unsigned char* pixels, LashError* error) {
    for (size_t sent = 0; sent < v->bytes;) {
        ssize_t n = write(v->pipe, pixels + sent, v->bytes - sent);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return fail(v, error, "ffmpeg stopped taking pictures; see its message above");
        sent += (size_t)n;
    }
    return true;
}

bool view_video_close(ViewVideo* v, LashError* error) {
    if (v == NULL) return true;
    int status = 0;
    close(v->pipe);
    while (waitpid(v->child, &status, 0) < 0 && errno == EINTR) continue;
    signal(SIGPIPE, v->old_handler);
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (good) {
        good = app_output_finish(v->output, error);
    } else {
        fail(v, error, "ffmpeg could not make the video; see its message above");
        app_output_discard(v->output);
    }
    lash_free(v);
    return good;
}
