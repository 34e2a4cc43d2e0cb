// Gaps of contacts that outputs ask for: numbers at every distance.
//
// The step looks only at what can touch within it; everything else has the gap INFINITY there. Of
// contacts between CAD faces the least distance of the chosen faces is found anew (geometry/
// distance.h), of a joint whose pin has left its bore the distance of the two surfaces.
#ifndef LASH_APP_GAP_WATCH_H
#define LASH_APP_GAP_WATCH_H

#include "app/model/model.h"
#include "joints/mechanism.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppGapWatch AppGapWatch;

// NULL: no output asks for a gap that the step does not always have. Borrows both.
AppGapWatch* app_gap_watch_create(const LashModel* model, const LashMechanism* mech);
void app_gap_watch_free(AppGapWatch* watch); // NULL is allowed

// gap: (contacts) as the step knows them, replaced where they are watched. NULL watch is allowed.
void app_gap_watch_update(AppGapWatch* watch, const double* q, double* gap);

#ifdef __cplusplus
}
#endif
#endif
