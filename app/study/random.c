// Counter-based random numbers: the Philox 4x32 bijection with ten rounds of multiply, swap and
// xor (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3; SC 2011).
//
//   round: (c0, c1, c2, c3) <- (hi(M1 c2) ^ c1 ^ k0, lo(M1 c2), hi(M0 c0) ^ c3 ^ k1, lo(M0 c0)),
//   keys grow by the Weyl constants (k0, k1) += (golden ratio, sqrt 3 - 1) 2^32.
//
// Permutations are Feistel networks with Philox as round function over the next even number of
// bits; a place beyond the end is sent through again until it lies inside (cycle walking), which
// keeps the map one-to-one.
#include "app/study/random.h"

#include "core/error.h"

enum { ROUNDS = 10, FEISTEL_ROUNDS = 8 };

static uint32_t high_word(uint32_t a, uint32_t b) {
    return (uint32_t)(((uint64_t)a * b) >> 32);
}

LashRandomWords lash_random_words(uint64_t seed, uint32_t stream, uint32_t dimension,
                                  uint64_t index) {
    const uint32_t M0 = 0xD2511F53U, M1 = 0xCD9E8D57U;
    uint32_t c0 = (uint32_t)index, c1 = (uint32_t)(index >> 32), c2 = dimension, c3 = stream;
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int i = 0; i < ROUNDS; ++i) {
        uint32_t h0 = high_word(M0, c0), l0 = M0 * c0, h1 = high_word(M1, c2), l1 = M1 * c2;
        c0 = h1 ^ c1 ^ k0;
        c1 = l1;
        c2 = h0 ^ c3 ^ k1;
        c3 = l0;
        k0 += 0x9E3779B9U;
        k1 += 0xBB67AE85U;
    }
    return (LashRandomWords){{c0, c1, c2, c3}};
}

static double to_uniform(uint32_t high, uint32_t low) {
    uint64_t bits = ((uint64_t)high << 21) | (low >> 11); // 53
    return ((double)bits + 0.5) * 0x1p-53;
}

double lash_random_uniform(uint64_t seed, uint32_t stream, uint32_t dimension, uint64_t index) {
    LashRandomWords r = lash_random_words(seed, stream, dimension, index);
    return to_uniform(r.word[0], r.word[1] & ~0x800U); // + 0.5 must not round up to 1
}

uint32_t lash_random_below(uint64_t seed, uint32_t stream, uint32_t dimension, uint64_t index,
                           uint32_t count) {
    LASH_ASSERT(count > 0);
    LashRandomWords r = lash_random_words(seed, stream, dimension, index);
    uint64_t bits = ((uint64_t)r.word[0] << 32) | r.word[1]; // uneven by less than 2^-32
    return (uint32_t)(((bits >> 32) * count + (((bits & 0xFFFFFFFFU) * count) >> 32)) >> 32);
}

uint64_t lash_random_permute(uint64_t seed, uint32_t dimension, uint64_t index, uint64_t count) {
    LASH_ASSERT(index < count);
    int half = 1;
    while ((1ULL << (2 * half)) < count) ++half;
    const uint64_t mask = (1ULL << half) - 1;
    uint64_t x = index;
    do {
        uint64_t left = x >> half, right = x & mask;
        for (uint32_t round = 0; round < FEISTEL_ROUNDS; ++round) {
            LashRandomWords r = lash_random_words(
                seed, LASH_STREAM_PERMUTATION | (round << 8) | ((uint32_t)half << 16), dimension,
                right);
            uint64_t mixed = left ^ ((((uint64_t)r.word[0] << 32) | r.word[1]) & mask);
            left = right;
            right = mixed;
        }
        x = (left << half) | right;
    } while (x >= count);
    return x;
}
