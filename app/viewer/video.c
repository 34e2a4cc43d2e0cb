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

static bool fail(ViewVideo* video, LashError* error, const char* message) {
    lash_error_set(error, LASH_ERROR_IO, "", "%s", message);
    lash_error_file(error, video->file);
    return false;
}

static bool start(ViewVideo* video, int width, int height, double rate, LashError* error) {
    char size[32], fps[32], file[1100];
    int ends[2];
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(fps, sizeof fps, "%g", rate);
    snprintf(file, sizeof file, "file:%s",
             app_output_temporary(video->output)); // also names that begin with a dash
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
    if (pipe(ends) != 0) return fail(video, error, strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    int bad = posix_spawnp(&video->child, "ffmpeg", &actions, NULL,
                           (char* const*)(uintptr_t)argument, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    video->pipe = ends[1];
    if (bad == 0) return true;
    close(ends[1]);
    video->child = 0;
    return fail(video, error,
                bad == ENOENT ? "a video needs the program ffmpeg, which is not installed (Debian: "
                                "apt-get install ffmpeg); --frames DIR writes single pictures "
                                "without it"
                              : strerror(bad));
}

ViewVideo* view_video_create(const char* file, int width, int height, double rate,
                             LashError* error) {
    ViewVideo* video = lash_alloc(sizeof *video);
    snprintf(video->file, sizeof video->file, "%s", file);
    video->bytes = 3 * (size_t)width * (size_t)height;
    video->output = app_output_create(file, error);
    if (video->output == NULL || !start(video, width, height, rate, error)) {
        app_output_discard(video->output);
        lash_free(video);
        return NULL;
    }
    video->old_handler = signal(SIGPIPE, SIG_IGN); // a child that died is an error, not our end
    return video;
}

bool view_video_add(ViewVideo* video, const unsigned char* pixels, LashError* error) {
    for (size_t sent = 0; sent < video->bytes;) {
        ssize_t n = write(video->pipe, pixels + sent, video->bytes - sent);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return fail(video, error, "ffmpeg stopped taking pictures; see its message above");
        sent += (size_t)n;
    }
    return true;
}

bool view_video_close(ViewVideo* video, LashError* error) {
    if (video == NULL) return true;
    int status = 0;
    close(video->pipe);
    while (waitpid(video->child, &status, 0) < 0 && errno == EINTR) continue;
    signal(SIGPIPE, video->old_handler);
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (good) {
        good = app_output_finish(video->output, error);
    } else {
        fail(video, error, "ffmpeg could not make the video; see its message above");
        app_output_discard(video->output);
    }
    lash_free(video);
    return good;
}
