// Sparse Gaussian elimination of rows in the order they come, with their rank, their dependences
// and their null space. For questions about a mechanism, not for the time step: it allocates.
#ifndef LASH_SOLVERS_ELIMINATION_H
#define LASH_SOLVERS_ELIMINATION_H

#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashElimination LashElimination;

// A row counts as dependent when what earlier rows leave of it is at most tolerance times its norm.
LashElimination* lash_elimination_create(int columns, double tolerance);
void lash_elimination_destroy(LashElimination* elimination); // NULL is allowed

// Adds the next row: n numbers at the given columns, each column once. True: independent.
bool lash_elimination_add(LashElimination* elimination, int n, const int* column,
                          const double* value);
// The same without adding it; weight, or NULL, gets what lash_elimination_circuit would give, with
// the weight of this row at index `rows`.
bool lash_elimination_test(LashElimination* elimination, int n, const int* column,
                           const double* value, double* weight);

int lash_elimination_rows(const LashElimination* elimination);
int lash_elimination_rank(const LashElimination* elimination);
bool lash_elimination_independent(const LashElimination* elimination, int row);
bool lash_elimination_is_pivot(const LashElimination* elimination, int column);
// What was left of a row when it was added, as a share of its norm; largest over dependent rows.
double lash_elimination_left(const LashElimination* elimination, int row);
double lash_elimination_work(const LashElimination* elimination); // multiplications so far

// weight (rows): sum of weight x row = 0 for a dependent row, whose own weight is 1; the other rows
// with weight are independent ones, none of which could be left out.
void lash_elimination_circuit(const LashElimination* elimination, int row, double* weight);
// x (columns): the null vector that is 1 at a column without pivot and 0 at the others without.
void lash_elimination_null_vector(const LashElimination* elimination, int column, double* x);
// x (columns): A x = b in the independent rows, 0 at columns without pivot; b (rows).
void lash_elimination_solve(const LashElimination* elimination, const double* b, double* x);
// y (rows): A' y = c at the columns with pivot, 0 in dependent rows.
void lash_elimination_solve_transposed(const LashElimination* elimination, const double* c,
                                       double* y);

#ifdef __cplusplus
}
#endif
#endif
