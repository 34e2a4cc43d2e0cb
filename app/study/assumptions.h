// All that a study takes for granted, as one list: what a reader has to agree with before the
// figures mean anything.
#ifndef LASH_APP_STUDY_ASSUMPTIONS_H
#define LASH_APP_STUDY_ASSUMPTIONS_H

#include "app/study/outline.h"
#include "app/study/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashAssumption {
    char what[140], value[400];
} LashAssumption;

typedef struct LashAssumptions {
    LashAssumption* row;
    int rows, room;
} LashAssumptions;

LashAssumptions* lash_assumptions_create(const LashStudy* study, const LashOutline* outline,
                                         const LashStore* store);
void lash_assumptions_destroy(LashAssumptions* assumptions); // NULL is allowed

#ifdef __cplusplus
}
#endif
#endif
