// Counter-based random numbers: a number is a function of (seed, stream, index, dimension), so
// sample i is the same whoever draws it, in any order.
#ifndef LASH_APP_STUDY_RANDOM_H
#define LASH_APP_STUDY_RANDOM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashRandomWords {
    uint32_t word[4];
} LashRandomWords;

// Streams that a study draws from; numbers of different streams are independent.
typedef enum LashRandomStream {
    LASH_STREAM_POINT,
    LASH_STREAM_SCRAMBLE,
    LASH_STREAM_PERMUTATION,
    LASH_STREAM_MORRIS,
    LASH_STREAM_BOOTSTRAP
} LashRandomStream;

// 128 random bits of one counter.
LashRandomWords lash_random_words(uint64_t seed, uint32_t stream, uint32_t dimension,
                                  uint64_t index);

// Uniform in the open interval (0, 1), 53 bits.
double lash_random_uniform(uint64_t seed, uint32_t stream, uint32_t dimension, uint64_t index);

// Whole number in [0, count), count < 2^32.
uint32_t lash_random_below(uint64_t seed, uint32_t stream, uint32_t dimension, uint64_t index,
                           uint32_t count);

// Place of index in a random permutation of [0, count), found without a table.
uint64_t lash_random_permute(uint64_t seed, uint32_t dimension, uint64_t index, uint64_t count);

#ifdef __cplusplus
}
#endif
#endif
