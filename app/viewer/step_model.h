// A STEP file as something to look at: the text of a model that does not move.
#ifndef LASH_APP_VIEWER_STEP_MODEL_H
#define LASH_APP_VIEWER_STEP_MODEL_H

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of an assembly what lash draft makes of it, with its joints; of a part the part alone. To be
// freed with lash_free; NULL with error.
char* view_step_model(const char* step, LashError* error);

#ifdef __cplusplus
}
#endif
#endif
