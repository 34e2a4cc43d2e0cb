// A square matrix made of small dense blocks, most of them absent: W of many contacts.
#ifndef LASH_SOLVERS_BLOCK_SPARSE_H
#define LASH_SOLVERS_BLOCK_SPARSE_H

#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Block compressed rows. Block k of block row i stands in block column column[k] and holds
// rows(i) x rows(column[k]) numbers, column-major, at values + offset[k]. Every diagonal block is
// present; the pattern is symmetric (values need not be); columns ascend within a row.
typedef struct LashBlockSparse {
    int blocks;             // block rows
    const int32_t* start;   // (blocks + 1) first row of each block row; start[blocks] = m
    const int32_t* pointer; // (blocks + 1) first block of each block row
    const int32_t* column;  // (pointer[blocks]) block column of each block
    const int64_t* offset;  // (pointer[blocks]) first number of each block
    const double* values;
} LashBlockSparse;

// y = A x
void lash_block_sparse_multiply(const LashBlockSparse* A, const double* x, double* y);

// The block (i, j), or NULL when it is absent.
const double* lash_block_sparse_find(const LashBlockSparse* A, int i, int j);

// Asserts the promises above (O(blocks log blocks)).
void lash_block_sparse_check(const LashBlockSparse* A);

// Reverse Cuthill-McKee: order[new] = old, so that coupled blocks stand near each other.
// work: (3 * blocks) numbers.
void lash_block_sparse_order(const LashBlockSparse* A, int32_t* order, int32_t* work);

#ifdef __cplusplus
}
#endif
#endif
