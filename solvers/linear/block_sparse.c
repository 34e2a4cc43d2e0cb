// Block compressed rows: product, look-up, reverse Cuthill-McKee ordering.
//
// The ordering is a breadth-first search from a block of small degree, neighbours in order of
// degree, numbered backwards (A. George, J. Liu, Computer Solution of Large Sparse Positive
// Definite Systems, 1981, chapter 4). A chain of bodies becomes a narrow band.
#include "solvers/linear/block_sparse.h"

#include "core/error.h"

void lash_block_sparse_multiply(const LashBlockSparse* A, const double* x, double* y) {
    for (int i = 0; i < A->blocks; ++i) {
        int first = A->start[i], rows = A->start[i + 1] - first;
        double s[3] = {0, 0, 0};
        for (int k = A->pointer[i]; k < A->pointer[i + 1]; ++k) {
            int j = A->column[k], columns = A->start[j + 1] - A->start[j];
            const double *a = A->values + A->offset[k], *p = x + A->start[j];
            if (rows == 3 && columns == 3) {
                s[0] += a[0] * p[0] + a[3] * p[1] + a[6] * p[2];
                s[1] += a[1] * p[0] + a[4] * p[1] + a[7] * p[2];
                s[2] += a[2] * p[0] + a[5] * p[1] + a[8] * p[2];
            } else if (rows == 2 && columns == 2) {
                s[0] = (s[0] + a[0] * p[0]) + a[2] * p[1];
                s[1] = (s[1] + a[1] * p[0]) + a[3] * p[1];
            } else {
                for (int c = 0; c < columns; ++c)
                    for (int r = 0; r < rows; ++r) s[r] += a[c * rows + r] * p[c];
            }
        }
        for (int r = 0; r < rows; ++r) y[first + r] = s[r];
    }
}

const double* lash_block_sparse_find(const LashBlockSparse* A, int i, int j) {
    int low = A->pointer[i], high = A->pointer[i + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (A->column[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < A->pointer[i + 1] && A->column[low] == j ? A->values + A->offset[low] : NULL;
}

void lash_block_sparse_check(const LashBlockSparse* A) {
    LASH_ASSERT(A->blocks >= 0 && A->start[0] == 0 && A->pointer[0] == 0);
    for (int i = 0; i < A->blocks; ++i) {
        int rows = A->start[i + 1] - A->start[i];
        LASH_ASSERT(rows >= 1 && rows <= 3 && A->pointer[i + 1] > A->pointer[i]);
        LASH_ASSERT(lash_block_sparse_find(A, i, i) != NULL);
        for (int k = A->pointer[i]; k < A->pointer[i + 1]; ++k) {
            int j = A->column[k];
            LASH_ASSERT(j >= 0 && j < A->blocks);
            LASH_ASSERT(k == A->pointer[i] || A->column[k - 1] < j);
            LASH_ASSERT(lash_block_sparse_find(A, j, i) != NULL);
        }
    }
}

static int degree(const LashBlockSparse* A, int i) {
    return A->pointer[i + 1] - A->pointer[i];
}

// Breadth-first numbering from root into order[from ..]; returns the end. mark holds pass for
// numbered blocks.
static int number_from(const LashBlockSparse* A, int root, int from, int32_t* order, int32_t* mark,
                       int32_t pass) {
    int head = from, tail = from;
    order[tail++] = root;
    mark[root] = pass;
    while (head < tail) {
        int i = order[head++], begin = tail;
        for (int k = A->pointer[i]; k < A->pointer[i + 1]; ++k) {
            int j = A->column[k];
            if (mark[j] == pass) continue;
            mark[j] = pass;
            int at = tail++;
            for (; at > begin && degree(A, order[at - 1]) > degree(A, j); --at)
                order[at] = order[at - 1];
            order[at] = j;
        }
    }
    return tail;
}

void lash_block_sparse_order(const LashBlockSparse* A, int32_t* order, int32_t* work) {
    int32_t* mark = work;
    int count = 0;
    for (int i = 0; i < A->blocks; ++i) mark[i] = 0;
    for (int i = 0; i < A->blocks; ++i) {
        if (mark[i] == 3) continue;
        // Two trial searches move the root to the far end of its component.
        int root = i;
        for (int32_t pass = 1; pass <= 2; ++pass)
            root = order[number_from(A, root, count, order, mark, pass) - 1];
        count = number_from(A, root, count, order, mark, 3);
    }
    LASH_ASSERT(count == A->blocks);
    for (int i = 0; i < count / 2; ++i) {
        int32_t t = order[i];
        order[i] = order[count - 1 - i];
        order[count - 1 - i] = t;
    }
}
