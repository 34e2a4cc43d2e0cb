// SHA-256 (FIPS 180-4), for naming files by their content.
#ifndef LASH_GEOMETRY_SHA256_H
#define LASH_GEOMETRY_SHA256_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashSha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
} LashSha256;

LashSha256 lash_sha256(void);
void lash_sha256_add(LashSha256* hash, const void* data, size_t bytes);
void lash_sha256_hex(LashSha256* hash, char hex[65]); // ends the hash

#ifdef __cplusplus
}
#endif
#endif
