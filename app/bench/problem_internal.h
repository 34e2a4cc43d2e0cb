// Shared by the readers of problem files: numbers, matrices, and the global layout.
#ifndef LASH_APP_PROBLEM_INTERNAL_H
#define LASH_APP_PROBLEM_INTERNAL_H

#include "app/bench/problem_file.h"

enum {
    PROBLEM_MAX_SIZE = 1000000,  // rows of a matrix
    PROBLEM_MAX_ROWS = 60000,    // rows of W: the solver takes up to 8 kB per row
    PROBLEM_MAX_LCP_ROWS = 3000, // rows of an LCP: dense, a few copies of 72 MB
};

typedef struct ProblemReader {
    const char *text, *end, *at; // *end is 0
    LashError* error;
} ProblemReader;

typedef struct ProblemMatrix {
    int storage, rows, columns;
    size_t count, capacity;
    AppEntry* entry;
    int blocks;  // storage 1: block rows
    int* bounds; // storage 1: (blocks) cumulated row sizes
} ProblemMatrix;

// FCLIB files (problem_fclib.c): do the bytes begin as HDF5? The file as text; NULL with error, the
// caller frees it.
bool problem_is_fclib(const char* bytes, size_t size);
char* problem_fclib_text(const char* path, size_t* size, LashError* error);

// "line 7: expected WHAT, found ..."; returns false.
bool problem_fail(ProblemReader* reader, const char* what);
bool problem_read_double(ProblemReader* reader, double* value, const char* what);
bool problem_read_int(ProblemReader* reader, int low, int high, int* value, const char* what);
bool problem_read_doubles(ProblemReader* reader, int count, double* values, const char* what);

// Any matrix; what is filled on failure is freed by problem_free_matrix too.
bool problem_read_matrix(ProblemReader* reader, ProblemMatrix* matrix);
bool problem_read_square(ProblemReader* reader, ProblemMatrix* matrix);
void problem_free_matrix(ProblemMatrix* matrix);
void problem_add_entry(ProblemMatrix* matrix, int row, int column, double value);

double* problem_dense(const ProblemMatrix* matrix); // column-major, caller owns
void problem_sparse(const ProblemMatrix* matrix, int blocks, const uint8_t* kind,
                    LashBlockSparse* sparse);
void problem_free_sparse(LashBlockSparse* sparse);
// W of p: dense when small or well filled, sparse blocks otherwise. kind and contacts are set.
void problem_set_matrix(AppProblem* problem, const ProblemMatrix* matrix);

// M v = q + H P, u = H' v + b, behind dim and contacts: reads M, H, q, b, factorises M and sets W,
// b of p->friction. kind and contacts are set.
bool problem_read_global(ProblemReader* reader, AppProblem* problem);
void problem_free_global(AppGlobal* global); // NULL is allowed

#endif
