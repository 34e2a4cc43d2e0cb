// The clock of the viewer.
#include "app/viewer/playback.h"

#include <math.h>
#include <stdio.h>

static const double ladder[] = {1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2,
                                5e-2, 0.1,  0.2,  0.5,  1,    2,    5,    10};
enum { RUNGS = sizeof ladder / sizeof *ladder };

static int nearest_rung(double speed) {
    int best = 0;
    for (int i = 1; i < RUNGS; ++i) {
        if (fabs(log(ladder[i] / speed)) < fabs(log(ladder[best] / speed))) best = i;
    }
    return best;
}

ViewPlayback view_playback(double duration) {
    double speed = duration > 0 ? duration / 8 : 1;
    return (ViewPlayback){.speed = ladder[nearest_rung(fmin(1, speed))], .loop = true};
}

void view_playback_range(ViewPlayback* p, double begin, double end, bool growing) {
    p->begin = begin;
    p->end = end;
    p->growing = growing;
    view_playback_seek(p, p->time);
}

void view_playback_seek(ViewPlayback* p, double time) {
    p->time = fmax(p->begin, fmin(p->end, time));
}

void view_playback_advance(ViewPlayback* p, double wall) {
    if (!p->playing) return;
    double next = p->time + p->speed * wall, length = p->end - p->begin;
    if (next <= p->end) {
        p->time = next;
    } else if (p->growing) { // wait for the simulation
        p->time = p->end;
    } else if (p->loop && length > 0) {
        p->time = p->begin + fmod(next - p->begin, length);
    } else {
        p->time = p->end;
        p->playing = false;
    }
}

void view_playback_toggle(ViewPlayback* p) {
    p->playing = !p->playing;
    if (p->playing && !p->growing && p->time >= p->end) p->time = p->begin;
}

void view_playback_speed(ViewPlayback* p, int rungs) {
    int rung = nearest_rung(p->speed) + rungs;
    if (rung < 0) rung = 0;
    if (rung >= RUNGS) rung = RUNGS - 1;
    p->speed = ladder[rung];
}

const char* view_playback_speed_text(const ViewPlayback* p, char* text, int size) {
    if (p->speed >= 1) {
        snprintf(text, (size_t)size, "%g x", p->speed);
    } else {
        snprintf(text, (size_t)size, "1/%g", round(1 / p->speed));
    }
    return text;
}
