// LU factors of a block matrix with a fixed pattern: M + h theta C + h^2 theta^2 K, whatever the
// system.
#ifndef LASH_SOLVERS_BLOCK_LU_H
#define LASH_SOLVERS_BLOCK_LU_H

#include "core/system.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashBlockLu LashBlockLu; // owns pattern with fill, values, scratch

LashBlockLu* lash_block_lu_create(const LashSystem* system);
void lash_block_lu_destroy(LashBlockLu* lu); // NULL is allowed

// Factors the matrix given in the layout of system->pattern. False when a pivot block is singular.
bool lash_block_lu_factor(LashBlockLu* lu, const double* values);
// x (nv) <- A^-1 x
void lash_block_lu_solve(const LashBlockLu* lu, double* x);
// No off-diagonal blocks: the inverse is as sparse as the matrix.
bool lash_block_lu_is_diagonal(const LashBlockLu* lu);
// Inverse of diagonal block b, (n x n); only meaningful for a block-diagonal matrix.
const double* lash_block_lu_inverse(const LashBlockLu* lu, int block);

// y (nv) = A x for values in the layout of the pattern
void lash_block_multiply(const LashSystem* system, const double* values, const double* x,
                         double* y);

#ifdef __cplusplus
}
#endif
#endif
