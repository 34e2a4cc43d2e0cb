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

void view_playback_range(ViewPlayback* playback, double begin, double end, bool growing) {
    playback->begin = begin;
    playback->end = end;
    playback->growing = growing;
    view_playback_seek(playback, playback->time);
}

void view_playback_seek(ViewPlayback* playback, double time) {
    playback->time = fmax(playback->begin, fmin(playback->end, time));
}

void view_playback_advance(ViewPlayback* playback, double wall) {
    if (!playback->playing) return;
    double next = playback->time + playback->speed * wall, length = playback->end - playback->begin;
    if (next <= playback->end) {
        playback->time = next;
    } else if (playback->growing) { // wait for the simulation
        playback->time = playback->end;
    } else if (playback->loop && length > 0) {
        playback->time = playback->begin + fmod(next - playback->begin, length);
    } else {
        playback->time = playback->end;
        playback->playing = false;
    }
}

void view_playback_toggle(ViewPlayback* playback) {
    playback->playing = !playback->playing;
    if (playback->playing && !playback->growing && playback->time >= playback->end)
        playback->time = playback->begin;
}

void view_playback_speed(ViewPlayback* playback, int rungs) {
    int rung = nearest_rung(playback->speed) + rungs;
    if (rung < 0) rung = 0;
    if (rung >= RUNGS) rung = RUNGS - 1;
    playback->speed = ladder[rung];
}

const char* view_playback_speed_text(const ViewPlayback* playback, char* text, int size) {
    if (playback->speed >= 1) {
        snprintf(text, (size_t)size, "%g x", playback->speed);
    } else {
        snprintf(text, (size_t)size, "1/%g", round(1 / playback->speed));
    }
    return text;
}
