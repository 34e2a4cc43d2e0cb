// The Sobol sequence, plain and scrambled, any point on its own.
#ifndef LASH_APP_STUDY_SOBOL_H
#define LASH_APP_STUDY_SOBOL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LASH_SOBOL_DIMENSIONS = 3667, LASH_SOBOL_BITS = 32 };

// Direction numbers: bits[LASH_SOBOL_BITS * k + r] is the number that bit r of the Gray code of the
// index switches in dimension k; the most significant bit is worth 1/2.
void lash_sobol_directions(int dimensions, uint32_t* bits);

// Coordinate k of the point with this index < 2^32, index 0 being the origin; order of the Gray
// code.
uint32_t lash_sobol_coordinate(const uint32_t* bits, int k, uint32_t index);

// The same scrambled (Owen): in (0, 1). Numbers with another block are an independent scrambling.
double lash_sobol_scrambled(const uint32_t* bits, int k, uint32_t index, uint64_t seed,
                            uint32_t block);

#ifdef __cplusplus
}
#endif
#endif
