// Progress line, colours, interrupts.
#include "app/cli/progress.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/cli/text.h"

static volatile sig_atomic_t interrupt_flag; // a signal handler can reach nothing else

double app_wall_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double app_rough_clock(void) {
#ifdef CLOCK_MONOTONIC_COARSE
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
#else
    return app_wall_clock();
#endif
}

static bool is_terminal(void) {
    const char* kind = getenv("TERM");
    return isatty(STDERR_FILENO) && kind != NULL && strcmp(kind, "dumb") != 0;
}

AppProgress app_progress_start(void) {
    double now = app_wall_clock();
    return (AppProgress){.shown = is_terminal(), .start = now, .last = now};
}

void app_progress_update(AppProgress* progress, double fraction, const char* what) {
    enum { WIDTH = 30 };
    if (!progress->shown) return;
    double now = app_wall_clock();
    if (now - progress->last < 0.1) return;
    progress->last = now;
    char bar[WIDTH + 1];
    int filled = (int)(fraction * WIDTH);
    for (int i = 0; i < WIDTH; ++i) bar[i] = i < filled ? '=' : ' ';
    bar[WIDTH] = '\0';
    double spent = now - progress->start;
    double left = fraction > 1e-3 ? spent * (1 - fraction) / fraction : 0;
    fprintf(stderr, "\r[%s] %3.0f %%  %s  %.0f s left\033[K", bar, 100 * fraction, what, left);
    fflush(stderr);
}

void app_progress_clear(AppProgress* progress) {
    if (!progress->shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}

void app_progress_cad(const char* path, double seconds, double limit) {
    if (!is_terminal()) return;
    if (seconds >= 0) {
        fputs("\rreading ", stderr);
        app_text_print(stderr, path);
        fprintf(stderr, ": %.0f s (at most %g s of processor time, --cad-seconds)\033[K", seconds,
                limit);
    } else {
        fputs("\r\033[K", stderr);
    }
    fflush(stderr);
}

bool app_stderr_colored(void) {
    const char* no_color = getenv("NO_COLOR");
    return is_terminal() && (no_color == NULL || no_color[0] == '\0');
}

static void on_interrupt(int number) {
    if (interrupt_flag) _exit(128 + number);
    interrupt_flag = 1;
}

void app_catch_interrupt(void) {
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool app_interrupted(void) {
    return interrupt_flag != 0;
}

static bool asked(void* context) {
    (void)context;
    return interrupt_flag != 0;
}

LashStop app_interrupt_stop(void) {
    return (LashStop){.asked = asked};
}
