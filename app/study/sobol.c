// The Sobol sequence by its direction numbers v_r: x_i = xor of v_r over the bits r of the Gray
// code i ^ (i >> 1) (Antonov and Saleev 1979), and its scrambling by Owen (1995): digit after digit
// is flipped by a random bit that depends on all digits before it, which keeps every balance of the
// net and makes each point uniform.
//
// The random bits are the nodes of a binary tree. One draw of 128 bits serves a subtree of seven
// levels (127 nodes), so 32 digits need five draws.
#include "app/study/sobol.h"

#include "app/study/random.h"

enum { LEVELS = 7 };

uint32_t lash_sobol_coordinate(const uint32_t* bits, int k, uint32_t index) {
    uint32_t x = 0, code = index ^ (index >> 1);
    const uint32_t* v = bits + LASH_SOBOL_BITS * k;
    for (; code != 0; code &= code - 1) x ^= v[__builtin_ctz(code)];
    return x;
}

double lash_sobol_scrambled(const uint32_t* bits, int k, uint32_t index, uint64_t seed,
                            uint32_t block) {
    const uint32_t x = lash_sobol_coordinate(bits, k, index);
    const uint32_t stream = LASH_STREAM_SCRAMBLE | (block << 8);
    uint32_t y = 0;
    for (int top = 0; top < LASH_SOBOL_BITS; top += LEVELS) {
        uint64_t prefix = top == 0 ? 0 : x >> (LASH_SOBOL_BITS - top);
        LashRandomWords r =
            lash_random_words(seed, stream, (uint32_t)k, prefix | ((uint64_t)(top + 1) << 32));
        uint32_t node = 0; // within the subtree, counted level by level
        for (int level = top; level < top + LEVELS && level < LASH_SOBOL_BITS; ++level) {
            int shift = LASH_SOBOL_BITS - 1 - level;
            uint32_t digit = (x >> shift) & 1U;
            uint32_t flip = (r.word[node >> 5] >> (node & 31)) & 1U;
            y |= (digit ^ flip) << shift;
            node = 2 * node + 1 + digit;
        }
    }
    // Digits below 2^-32 are free.
    double rest = lash_random_uniform(seed, stream, (uint32_t)k, x | (1ULL << 62));
    double u = ((double)y + rest) * 0x1p-32;
    return u < 1 ? u : 1 - 0x1p-53;
}
