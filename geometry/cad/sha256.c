// SHA-256 as FIPS 180-4, section 6.2, defines it.
//
// The round constants are the first 32 bits of the fractional parts of the cube roots of the first
// 64 primes. On x86 processors with the SHA instructions a block takes those (2 rounds per
// instruction, about 5 times faster); the result is the same bits.
#include "geometry/cad/sha256.h"

#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotr(uint32_t x, int n) {
    return x >> n | x << (32 - n);
}

static void block_plain(uint32_t state[8], const unsigned char* p) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; ++i, p += 4)
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int i = 16; i < 64; ++i) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + w[i - 7] +
               (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
    }
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; ++i) {
        uint32_t e = s[4], a = s[0];
        uint32_t t1 = s[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & s[5]) ^ (~e & s[6])) +
                      K[i] + w[i];
        uint32_t t2 =
            (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; ++i) state[i] += s[i];
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>

static int has_sha_instructions(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b >> 29 & 1) == 0) return 0;
    return __get_cpuid(1, &a, &b, &c, &d) && (c >> 19 & 1) && (c >> 9 & 1); // SSE4.1, SSSE3
}

// The instruction keeps the state as (a, b, e, f) and (c, d, g, h), highest lane first.
__attribute__((target("sha,sse4.1,ssse3"))) static void block_fast(uint32_t state[8],
                                                                   const unsigned char* p) {
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i dcba = _mm_loadu_si128((const __m128i*)state);
    __m128i hgfe = _mm_loadu_si128((const __m128i*)(state + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    __m128i abef0 = abef, cdgh0 = cdgh, w[4];
    for (int i = 0; i < 4; ++i)
        w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i*)(p + 16 * i)), order);
    for (int i = 0; i < 16; ++i) {
        __m128i k = _mm_add_epi32(w[i & 3], _mm_loadu_si128((const __m128i*)(K + 4 * i)));
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0e));
        if (i < 12) { // w[t] for the four rounds 16 later
            __m128i s = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);
            s = _mm_add_epi32(s, _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
            w[i & 3] = _mm_sha256msg2_epu32(s, w[(i + 3) & 3]);
        }
    }
    abef = _mm_add_epi32(abef, abef0);
    cdgh = _mm_add_epi32(cdgh, cdgh0);
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i*)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i*)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#else
static int has_sha_instructions(void) {
    return 0;
}
static void block_fast(uint32_t state[8], const unsigned char* p) {
    block_plain(state, p);
}
#endif

LashSha256 lash_sha256(void) {
    // Fractional parts of the square roots of the first 8 primes.
    return (LashSha256){{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                         0x1f83d9ab, 0x5be0cd19},
                        0,
                        {0}};
}

void lash_sha256_add(LashSha256* hash, const void* data, size_t bytes) {
    const unsigned char* p = data;
    size_t used = hash->bytes % 64;
    int fast = has_sha_instructions();
    hash->bytes += bytes;
    while (bytes > 0) {
        if (used == 0 && bytes >= 64) {
            if (fast)
                block_fast(hash->state, p);
            else
                block_plain(hash->state, p);
            p += 64;
            bytes -= 64;
            continue;
        }
        size_t step = bytes < 64 - used ? bytes : 64 - used;
        memcpy(hash->block + used, p, step);
        used += step;
        p += step;
        bytes -= step;
        if (used == 64) {
            block_plain(hash->state, hash->block);
            used = 0;
        }
    }
}

void lash_sha256_hex(LashSha256* hash, char hex[65]) {
    static const char digit[] = "0123456789abcdef";
    uint64_t bits = hash->bytes * 8;
    unsigned char end[72] = {0x80};
    size_t zeros = (119 - hash->bytes % 64) % 64; // so that the length ends a block
    for (int i = 0; i < 8; ++i) end[1 + zeros + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
    lash_sha256_add(hash, end, 9 + zeros);
    for (int i = 0; i < 64; ++i) hex[i] = digit[hash->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[64] = '\0';
}
