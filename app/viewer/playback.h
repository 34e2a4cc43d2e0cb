// The clock of the viewer: playing, stepping, speed, loop. Knows no window and no frames.
#ifndef LASH_APP_VIEWER_PLAYBACK_H
#define LASH_APP_VIEWER_PLAYBACK_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ViewPlayback {
    double time, begin, end; // shown; of the frames there are [s]
    double speed;            // simulated per wall time
    bool playing, loop;
    bool growing; // more frames will come after end
} ViewPlayback;

// Speed such that `duration` plays in about eight seconds, of the ladder 1, 2, 5 between 1/10000
// and 10.
ViewPlayback view_playback(double duration);
void view_playback_range(ViewPlayback* playback, double begin, double end, bool growing);
void view_playback_advance(ViewPlayback* playback, double wall); // [s]
void view_playback_toggle(ViewPlayback* playback); // at the end of a finished run: from the start
void view_playback_seek(ViewPlayback* playback, double time); // within the range
void view_playback_speed(ViewPlayback* playback, int rungs);  // > 0: faster
// "1/1000", "2 x"
const char* view_playback_speed_text(const ViewPlayback* playback, char* text, int size);

#ifdef __cplusplus
}
#endif
#endif
