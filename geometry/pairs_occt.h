// BRepExtrema behind geometry/pairs.h: the nearest points of two face sets as one contact point.
#ifndef LASH_GEOMETRY_PAIRS_OCCT_H
#define LASH_GEOMETRY_PAIRS_OCCT_H

#include "core/math3.h"
#include "geometry/pairs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashPairOcct LashPairOcct;         // description: files and faces of both sides
typedef struct LashPairOcctWork LashPairOcctWork; // a run's own helper process

LashPairOcct* lash_pair_occt_create(const LashPairDef* def); // copies
void lash_pair_occt_destroy(LashPairOcct* pair);             // NULL is allowed
LashPairOcctWork* lash_pair_occt_work_create(void);
void lash_pair_occt_work_destroy(LashPairOcctWork* work); // NULL is allowed; ends the helper
void lash_pair_occt_work_reset(LashPairOcctWork* work);
void lash_pair_occt_work_archive(LashPairOcctWork* work, LashArchive* archive); // the last normal

typedef enum LashOcctState {
    LASH_OCCT_APART,  // point is complete
    LASH_OCCT_MEETS,  // the faces meet: gap 0 along the last normal
    LASH_OCCT_UNKNOWN // they meet and were never seen apart: no normal, no point
} LashOcctState;

// Poses are those of the shapes. False, with the work's error set, when there is no answer.
bool lash_pair_occt_point(const LashPairOcct* pair, LashPairOcctWork* work, Pose world_a,
                          Pose world_b, LashContactPoint* point, LashOcctState* state);
const LashError* lash_pair_occt_error(const LashPairOcctWork* work);

#ifdef __cplusplus
}
#endif
#endif
