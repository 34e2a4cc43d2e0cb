// The play of a joint as its CAD faces have it.
#ifndef LASH_APP_CHECK_PLAY_H
#define LASH_APP_CHECK_PLAY_H

#include "app/model/model.h"

typedef struct CheckPlay {
    bool known;       // faces were found
    bool agrees;      // with the model's play, but rounding
    bool on_purpose;  // the model names the faces and overrides what they measure
    double play;      // R - r of a bore and its pin; of a guide per side [m]
    int bore, pin;    // faces of the outer and the inner part, -1: named in the model
    int outer, inner; // parts
} CheckPlay;

CheckPlay check_play(const LashModel* model, int joint);

#endif
