// Block LU without pivoting between blocks, in the order of the system:  A = (I + L) (D + U).
//
//   for k:  D_k^-1 by Gauss-Jordan with row pivoting inside the block
//           for i in later(k):  L_ik = A_ik D_k^-1;   for j in later(k):  A_ij -= L_ik A_kj
//
// later(k): blocks coupled to k, fill included, found once at creation, so a factorisation only
// computes. The mass matrix dominates the diagonal blocks of every system we have, so pivoting
// inside blocks is enough. A banded system stays banded: cost is linear in its length.
#include "solvers/block_lu.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"

typedef struct Later { // the coupled later blocks of one block
    int count;
    int* block;
    int *lower, *upper; // (count) value offsets of A_ik and A_kj
    int* target;        // (count x count) value offset of A_ij
} Later;

struct LashBlockLu {
    const LashSystem* system;
    int blocks, values, max_block;
    Later* later;
    int* diagonal; // (blocks) value offset
    int* source;   // (pattern.count) where each block of the pattern goes
    double* value; // factors; the diagonal blocks hold D^-1
    double* panel; // scratch, (max_block x max_block)
    bool is_diagonal;
};

static int size_of(const LashBlockLu* lu, int block) {
    return lash_block_size(lu->system, block);
}

// --- Symbolic
// -----------------------------------------------------------------------------------------------------

static void insert_later(Later* later, int block) {
    int at = later->count;
    for (int i = 0; i < later->count; ++i) {
        if (later->block[i] == block) return;
        if (later->block[i] > block && i < at) at = i;
    }
    later->block = lash_realloc(later->block, (size_t)(later->count + 1) * sizeof(int));
    memmove(later->block + at + 1, later->block + at, (size_t)(later->count - at) * sizeof(int));
    later->block[at] = block;
    ++later->count;
}

static void find_fill(LashBlockLu* lu) {
    const LashBlocks* pattern = &lu->system->pattern;
    for (int b = 0; b < pattern->count; ++b) {
        int r = pattern->row[b], c = pattern->column[b];
        if (r != c) insert_later(&lu->later[r < c ? r : c], r < c ? c : r);
    }
    for (int k = 0; k < lu->blocks; ++k) {
        for (int i = 0; i < lu->later[k].count; ++i) {
            for (int j = i + 1; j < lu->later[k].count; ++j) {
                insert_later(&lu->later[lu->later[k].block[i]], lu->later[k].block[j]);
            }
        }
    }
}

static int position_of(const Later* later, int block) {
    for (int i = 0; i < later->count; ++i) {
        if (later->block[i] == block) return i;
    }
    LASH_ASSERT(!"a block of the pattern with fill");
    return -1;
}

static int offset_of(const LashBlockLu* lu, int row, int column) {
    if (row == column) return lu->diagonal[row];
    int low = row < column ? row : column, high = row < column ? column : row;
    const Later* later = &lu->later[low];
    int i = position_of(later, high);
    return row > column ? later->lower[i] : later->upper[i];
}

static void lay_out(LashBlockLu* lu) {
    int next = 0;
    for (int k = 0; k < lu->blocks; ++k) {
        int n = size_of(lu, k);
        Later* later = &lu->later[k];
        lu->diagonal[k] = next, next += n * n;
        later->lower = lash_alloc((size_t)later->count * sizeof(int));
        later->upper = lash_alloc((size_t)later->count * sizeof(int));
        for (int i = 0; i < later->count; ++i) {
            int size = n * size_of(lu, later->block[i]);
            later->lower[i] = next, next += size;
            later->upper[i] = next, next += size;
        }
        if (n > lu->max_block) lu->max_block = n;
        if (later->count > 0) lu->is_diagonal = false;
    }
    lu->values = next;
    for (int k = 0; k < lu->blocks; ++k) {
        Later* later = &lu->later[k];
        later->target = lash_alloc((size_t)(later->count * later->count) * sizeof(int));
        for (int i = 0; i < later->count; ++i) {
            for (int j = 0; j < later->count; ++j) {
                later->target[i * later->count + j] =
                    offset_of(lu, later->block[i], later->block[j]);
            }
        }
    }
}

LashBlockLu* lash_block_lu_create(const LashSystem* system) {
    LashBlockLu* lu = lash_alloc(sizeof *lu);
    lu->system = system;
    lu->blocks = system->blocks;
    lu->is_diagonal = true;
    lu->later = lash_alloc((size_t)lu->blocks * sizeof *lu->later);
    lu->diagonal = lash_alloc((size_t)lu->blocks * sizeof(int));
    lu->source = lash_alloc((size_t)system->pattern.count * sizeof(int));
    find_fill(lu);
    lay_out(lu);
    for (int b = 0; b < system->pattern.count; ++b) {
        lu->source[b] = offset_of(lu, system->pattern.row[b], system->pattern.column[b]);
    }
    lu->value = lash_alloc((size_t)lu->values * sizeof(double));
    lu->panel = lash_alloc((size_t)(lu->max_block * lu->max_block) * sizeof(double));
    return lu;
}

void lash_block_lu_destroy(LashBlockLu* lu) {
    if (lu == NULL) return;
    for (int k = 0; k < lu->blocks; ++k) {
        lash_free(lu->later[k].block), lash_free(lu->later[k].lower);
        lash_free(lu->later[k].upper), lash_free(lu->later[k].target);
    }
    lash_free(lu->later), lash_free(lu->diagonal), lash_free(lu->source);
    lash_free(lu->value), lash_free(lu->panel), lash_free(lu);
}

bool lash_block_lu_is_diagonal(const LashBlockLu* lu) {
    return lu->is_diagonal;
}

const double* lash_block_lu_inverse(const LashBlockLu* lu, int block) {
    return lu->value + lu->diagonal[block];
}

// --- Numeric
// ------------------------------------------------------------------------------------------------------

// A (n x n) <- A^-1, Gauss-Jordan with row pivoting; false when singular.
static bool invert(int n, double* A, double* B) {
    memset(B, 0, (size_t)(n * n) * sizeof *B);
    for (int i = 0; i < n; ++i) B[i + n * i] = 1;
    for (int k = 0; k < n; ++k) {
        int p = k;
        for (int i = k + 1; i < n; ++i) {
            if (fabs(A[i + n * k]) > fabs(A[p + n * k])) p = i;
        }
        if (!(fabs(A[p + n * k]) > 0)) return false;
        for (int j = 0; j < n && p != k; ++j) {
            double a = A[k + n * j], b = B[k + n * j];
            A[k + n * j] = A[p + n * j], A[p + n * j] = a;
            B[k + n * j] = B[p + n * j], B[p + n * j] = b;
        }
        double scale = 1 / A[k + n * k];
        for (int j = 0; j < n; ++j) A[k + n * j] *= scale, B[k + n * j] *= scale;
        for (int i = 0; i < n; ++i) {
            double f = A[i + n * k];
            if (i == k || f == 0) continue;
            for (int j = 0; j < n; ++j)
                A[i + n * j] -= f * A[k + n * j], B[i + n * j] -= f * B[k + n * j];
        }
    }
    memcpy(A, B, (size_t)(n * n) * sizeof *B);
    return true;
}

// C (m x n) = A (m x k) B (k x n), or C -= A B
static void multiply(int m, int n, int k, const double* A, const double* B, double* C,
                     bool subtract) {
    for (int j = 0; j < n; ++j) {
        double* c = C + m * j;
        if (!subtract) memset(c, 0, (size_t)m * sizeof *c);
        for (int l = 0; l < k; ++l) {
            double b = subtract ? -B[l + k * j] : B[l + k * j];
            for (int i = 0; i < m; ++i) c[i] += A[i + m * l] * b;
        }
    }
}

bool lash_block_lu_factor(LashBlockLu* lu, const double* values) {
    const LashBlocks* pattern = &lu->system->pattern;
    memset(lu->value, 0, (size_t)lu->values * sizeof *lu->value);
    for (int b = 0; b < pattern->count; ++b) {
        int size = pattern->offset[b + 1] - pattern->offset[b];
        memcpy(lu->value + lu->source[b], values + pattern->offset[b],
               (size_t)size * sizeof(double));
    }
    for (int k = 0; k < lu->blocks; ++k) {
        int n = size_of(lu, k);
        double* D = lu->value + lu->diagonal[k];
        if (!invert(n, D, lu->panel)) return false;
        const Later* later = &lu->later[k];
        for (int i = 0; i < later->count; ++i) {
            int rows = size_of(lu, later->block[i]);
            double* L = lu->value + later->lower[i];
            multiply(rows, n, n, L, D, lu->panel, false);
            memcpy(L, lu->panel, (size_t)(rows * n) * sizeof(double));
            for (int j = 0; j < later->count; ++j) {
                multiply(rows, size_of(lu, later->block[j]), n, L, lu->value + later->upper[j],
                         lu->value + later->target[i * later->count + j], true);
            }
        }
    }
    return true;
}

// y -= A x
static void subtract_product(int m, int n, const double* A, const double* x, double* y) {
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) y[i] -= A[i + m * j] * x[j];
    }
}

// y (6) = A (6 x 6) x: rigid bodies
static inline void multiply6(const double* A, const double* x, double* y) {
    double r[6];
    for (int i = 0; i < 6; ++i) r[i] = A[i] * x[0];
    for (int j = 1; j < 6; ++j) {
        for (int i = 0; i < 6; ++i) r[i] += A[i + 6 * j] * x[j];
    }
    for (int i = 0; i < 6; ++i) y[i] = r[i];
}

// x <- D x; y (n): scratch
static void apply_inverse(int n, const double* D, double* x, double* y) {
    if (n == 6) {
        multiply6(D, x, x);
        return;
    }
    for (int i = 0; i < n; ++i) y[i] = D[i] * x[0];
    for (int j = 1; j < n; ++j) {
        for (int i = 0; i < n; ++i) y[i] += D[i + n * j] * x[j];
    }
    for (int i = 0; i < n; ++i) x[i] = y[i];
}

void lash_block_lu_solve(const LashBlockLu* lu, double* x) {
    const int* start = lu->system->block_start;
    if (lu->is_diagonal) {
        for (int k = 0; k < lu->blocks; ++k) {
            apply_inverse(size_of(lu, k), lu->value + lu->diagonal[k], x + start[k], lu->panel);
        }
        return;
    }
    for (int k = 0; k < lu->blocks; ++k) {
        const Later* later = &lu->later[k];
        for (int i = 0; i < later->count; ++i) {
            subtract_product(size_of(lu, later->block[i]), size_of(lu, k),
                             lu->value + later->lower[i], x + start[k], x + start[later->block[i]]);
        }
    }
    for (int k = lu->blocks - 1; k >= 0; --k) {
        const Later* later = &lu->later[k];
        for (int j = 0; j < later->count; ++j) {
            subtract_product(size_of(lu, k), size_of(lu, later->block[j]),
                             lu->value + later->upper[j], x + start[later->block[j]], x + start[k]);
        }
        apply_inverse(size_of(lu, k), lu->value + lu->diagonal[k], x + start[k], lu->panel);
    }
}

void lash_block_multiply(const LashSystem* system, const double* values, const double* x,
                         double* y) {
    memset(y, 0, (size_t)system->nv * sizeof *y);
    const LashBlocks* pattern = &system->pattern;
    for (int b = 0; b < pattern->count; ++b) {
        int m = lash_block_size(system, pattern->row[b]),
            n = lash_block_size(system, pattern->column[b]);
        const double *A = values + pattern->offset[b],
                     *xb = x + system->block_start[pattern->column[b]];
        double* yb = y + system->block_start[pattern->row[b]];
        if (m == 6 && n == 6) {
            double r[6];
            multiply6(A, xb, r);
            for (int i = 0; i < 6; ++i) yb[i] += r[i];
            continue;
        }
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < m; ++i) yb[i] += A[i + m * j] * xb[j];
        }
    }
}
