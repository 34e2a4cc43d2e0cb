// LU factors of a sparse block matrix with a fixed pattern: M + h theta C + h^2 theta^2 K, whatever
// the system; and the same bordered with the rows of joints (joint_sparse.c).
#ifndef LASH_SOLVERS_BLOCK_LU_H
#define LASH_SOLVERS_BLOCK_LU_H

#include "core/archive.h"
#include "core/system.h"
#include "solvers/linear/block_order.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashBlockLu LashBlockLu; // owns pattern with fill, values, scratch

LashBlockLu* lash_block_lu_create(const LashSystem* system);
void lash_block_lu_destroy(LashBlockLu* lu); // NULL is allowed

// Factors the matrix given in the layout of system->pattern. False when a pivot block is singular.
// The values are borrowed until the next call.
bool lash_block_lu_factor(LashBlockLu* lu, const double* values);
const double* lash_block_lu_matrix(const LashBlockLu* lu); // the values factored last
// x (nv) <- A^-1 x
void lash_block_lu_solve(const LashBlockLu* lu, double* x);
// The same of one block, of a matrix whose blocks off the diagonal are zero.
void lash_block_lu_solve_block(const LashBlockLu* lu, int block, double* x);
// No off-diagonal blocks: the inverse is as sparse as the matrix.
bool lash_block_lu_is_diagonal(const LashBlockLu* lu);
// Inverse of diagonal block b, (n x n); only meaningful for a block-diagonal matrix.
const double* lash_block_lu_inverse(const LashBlockLu* lu, int block);

// y (nv) = A x for values in the layout of the pattern
void lash_block_multiply(const LashSystem* system, const double* values, const double* x,
                         double* y);
// y (m) += A (m x n) x, one block of it
void lash_block_multiply_one(int m, int n, const double* A, const double* x, double* y);
// The same where only the blocks on the diagonal are not zero: the others are not looked at.
void lash_block_multiply_diagonal(const LashSystem* system, const double* values, const double* x,
                                  double* y);

// --- Any graph of blocks. Vectors hold the nodes one after the other, in the order of the graph.
LashBlockLu* lash_block_lu_create_graph(const LashBlockGraph* graph);
// The same nodes and edges, blocks of other sizes, eliminated in the order of the other one.
LashBlockLu* lash_block_lu_create_like(const LashBlockLu* like, const LashBlockGraph* graph);
// Multiplications of a factorisation, and of a solution: what the choice of a method needs.
double lash_block_lu_factor_cost(const LashBlockLu* lu);
double lash_block_lu_solve_cost(const LashBlockLu* lu);
// Where block (row, column) of the matrix is to be written in `lash_block_lu_clear`'s array, which
// is zeroed by that call and factored in place by lash_block_lu_eliminate.
int lash_block_lu_offset(const LashBlockLu* lu, int row, int column);
int lash_block_lu_find(const LashBlockLu* lu, int row, int column); // -1: no such block
double* lash_block_lu_clear(LashBlockLu* lu);
// Nodes with rows: a row of which less than `dependent` is left of what the bodies put on its
// diagonal depends on the rows before and is left out: its unknown is zero, its right side ignored.
bool lash_block_lu_eliminate(LashBlockLu* lu, double dependent);
// Only the unknowns of rows are found.
void lash_block_lu_solve_rows(const LashBlockLu* lu, double* x);
// Two right sides at once; rows_only: only the unknowns of rows are found.
void lash_block_lu_solve_two(const LashBlockLu* lu, bool rows_only, double* x, double* y);
// (sum of sizes) 1: this unknown was left out; and how many.
const uint8_t* lash_block_lu_left_out(const LashBlockLu* lu);
int lash_block_lu_left_out_count(const LashBlockLu* lu);

// The factors; the values they were made from are the caller's, who names them after reading.
void lash_block_lu_archive(LashBlockLu* lu, LashArchive* archive);
void lash_block_lu_name_matrix(LashBlockLu* lu, const double* values);

#ifdef __cplusplus
}
#endif
#endif
