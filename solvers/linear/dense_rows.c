// Kernels on rows of matrices: combinations of rows, and products with a vector.
//
// Registers of 64 bytes where there are any, of 32 otherwise: every number is summed in the same
// order either way. Rows that begin at a multiple of 64 bytes are read fastest
// (lash_dense_aligned).
#include "solvers/linear/dense.h"

#include <math.h>

typedef double Wide __attribute__((vector_size(64), aligned(8), may_alias));
typedef double Half __attribute__((vector_size(32), aligned(8), may_alias));
enum { WIDE = 8 };

// y = keep y + sign sum of a_k X_k for n blocks of WIDE columns, which stay in registers.
// Additions wait for each other within a column only: the more columns at once, the better.
#define DEFINE_TILE(name, V)                                                                       \
    static inline __attribute__((always_inline)) void name(const int n, bool keep, double sign,    \
                                                           int count, const double* a, int stride, \
                                                           const double* X, int ld, double* y) {   \
        enum { PARTS = WIDE * sizeof(double) / sizeof(V) };                                        \
        V sum[8 * PARTS], *to = (V*)y;                                                             \
        _Pragma("GCC unroll 16") for (int i = 0; i < n * PARTS; ++i) sum[i] =                      \
            keep ? to[i] : (V){0};                                                                 \
        for (int k = 0; k < count; ++k, X += ld, a += stride) {                                    \
            double by = sign * *a;                                                                 \
            _Pragma("GCC unroll 16") for (int i = 0; i < n * PARTS; ++i) sum[i] +=                 \
                by * ((const V*)X)[i];                                                             \
        }                                                                                          \
        _Pragma("GCC unroll 16") for (int i = 0; i < n * PARTS; ++i) to[i] = sum[i];               \
    }
DEFINE_TILE(tile_wide, Wide)
DEFINE_TILE(tile_half, Half)

// The same for whole blocks of WIDE columns, in tiles of equal width, at most `most`
// blocks each. Returns the columns done.
#define TILE(tile, n)                                                  \
    case n:                                                            \
        tile(n, keep, sign, count, a, stride, X + done, ld, y + done); \
        break;
#define DEFINE_COMBINE(name, tile, most)                                                          \
    static inline __attribute__((always_inline)) int name(bool keep, double sign, int columns,    \
                                                          int count, const double* a, int stride, \
                                                          const double* X, int ld, double* y) {   \
        int blocks = columns / WIDE, done = 0;                                                    \
        for (int tiles = (blocks + (most)-1) / (most); tiles > 0; --tiles) {                      \
            int n = (blocks + tiles - 1) / tiles;                                                 \
            switch (n) {                                                                          \
                TILE(tile, 1)                                                                     \
                TILE(tile, 2)                                                                     \
                TILE(tile, 3)                                                                     \
                TILE(tile, 4) TILE(tile, 5) TILE(tile, 6) TILE(tile, 7) TILE(tile, 8)             \
            }                                                                                     \
            blocks -= n, done += n * WIDE;                                                        \
        }                                                                                         \
        return done;                                                                              \
    }
DEFINE_COMBINE(combine_wide, tile_wide, 8)
DEFINE_COMBINE(combine_half, tile_half, 6)

// The columns that fill no register.
static inline void combine_rest(bool keep, double sign, int j, int columns, int count,
                                const double* a, int stride, const double* X, int ld, double* y) {
    for (; j < columns; ++j) {
        double sum = keep ? y[j] : 0;
        for (int k = 0; k < count; ++k) sum += sign * a[k * stride] * X[(size_t)k * (size_t)ld + j];
        y[j] = sum;
    }
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define FOR_512 __attribute__((target("avx512f")))
#define FOR_256 __attribute__((target_clones("avx2", "default")))
#define HAS_512 __builtin_cpu_supports("avx512f")
#else
#define FOR_512
#define FOR_256
#define HAS_512 false
#endif

#define DEFINE_KERNEL(name, keep, sign)                                                          \
    FOR_512 static int name##_wide(int columns, int count, const double* a, int stride,          \
                                   const double* X, int ld, double* y) {                         \
        return combine_wide(keep, sign, columns, count, a, stride, X, ld, y);                    \
    }                                                                                            \
    FOR_256 static int name##_half(int columns, int count, const double* a, int stride,          \
                                   const double* X, int ld, double* y) {                         \
        return combine_half(keep, sign, columns, count, a, stride, X, ld, y);                    \
    }                                                                                            \
    void lash_dense_##name##_rows(int columns, int count, const double* a, int stride,           \
                                  const double* X, int ld, double* y) {                          \
        int done = HAS_512 ? name##_wide(columns, count, a, stride, X, ld, y)                    \
                           : name##_half(columns, count, a, stride, X, ld, y);                   \
        if (done < columns) combine_rest(keep, sign, done, columns, count, a, stride, X, ld, y); \
    }
DEFINE_KERNEL(subtract, true, -1)
DEFINE_KERNEL(add, true, 1)
DEFINE_KERNEL(sum, false, 1)

// Y = keep Y + sign A X for three rows of n blocks of columns.
#define DEFINE_THREE(name, V)                                                                   \
    static inline __attribute__((always_inline)) void name(                                     \
        const int n, bool keep, double sign, int count, const double* A, int row, int step,     \
        const double* X, int ld, double* Y, int ldy) {                                          \
        enum { PARTS = WIDE * sizeof(double) / sizeof(V) };                                     \
        V s[3][6 * PARTS];                                                                      \
        for (int r = 0; r < 3; ++r)                                                             \
            _Pragma("GCC unroll 6") for (int p = 0; p < n * PARTS; ++p) s[r][p] =               \
                keep ? ((const V*)(Y + r * ldy))[p] : (V){0};                                   \
        for (int k = 0; k < count; ++k, X += ld, A += step) {                                   \
            double by[3] = {sign * A[0], sign * A[row], sign * A[2 * row]};                     \
            _Pragma("GCC unroll 6") for (int p = 0; p < n * PARTS; ++p) for (int r = 0; r < 3;  \
                                                                             ++r) s[r][p] +=    \
                by[r] * ((const V*)X)[p];                                                       \
        }                                                                                       \
        for (int r = 0; r < 3; ++r)                                                             \
            _Pragma("GCC unroll 6") for (int p = 0; p < n * PARTS; ++p)((V*)(Y + r * ldy))[p] = \
                s[r][p];                                                                        \
    }
DEFINE_THREE(three_wide, Wide)
DEFINE_THREE(three_half, Half)

#define THREE(three, n)                                                         \
    case n:                                                                     \
        three(n, keep, sign, count, A, row, step, X + done, ld, Y + done, ldy); \
        break;
#define DEFINE_PRODUCT(TARGET, name, three, most)                                             \
    TARGET static void name(bool keep, double sign, int blocks, int count, const double* A,   \
                            int row, int step, const double* X, int ld, double* Y, int ldy) { \
        for (int tiles = (blocks + (most)-1) / (most), done = 0; tiles > 0; --tiles) {        \
            int n = (blocks + tiles - 1) / tiles;                                             \
            switch (n) {                                                                      \
                THREE(three, 1)                                                               \
                THREE(three, 2)                                                               \
                THREE(three, 3) THREE(three, 4) THREE(three, 5) THREE(three, 6)               \
            }                                                                                 \
            blocks -= n, done += n * WIDE;                                                    \
        }                                                                                     \
    }
DEFINE_PRODUCT(FOR_512, product_wide, three_wide, 6)
DEFINE_PRODUCT(FOR_256, product_half, three_half, 2)

void lash_dense_multiply_blocks(int rows, int columns, int count, double sign, const double* A,
                                int row, int step, const double* X, int ld, bool keep, double* Y,
                                int ldy) {
    int r = 0;
    for (; r + 3 <= rows; r += 3, A += 3 * row, Y += 3 * ldy) {
        if (HAS_512)
            product_wide(keep, sign, columns / WIDE, count, A, row, step, X, ld, Y, ldy);
        else
            product_half(keep, sign, columns / WIDE, count, A, row, step, X, ld, Y, ldy);
    }
    for (; r < rows; ++r, A += row, Y += ldy) {
        if (!keep) lash_dense_sum_rows(columns, count, A, step, X, ld, Y);
        if (keep && sign > 0) lash_dense_add_rows(columns, count, A, step, X, ld, Y);
        if (keep && sign < 0) lash_dense_subtract_rows(columns, count, A, step, X, ld, Y);
    }
}

// y (4) = four rows of A times x. The columns k, k + WIDE, ... are summed first, then those of k
// and k + 4, then (0 + 1) + (2 + 3), for the four rows at once.
#define FOLD_WIDE(s, r)                                \
    (__builtin_shufflevector(s[r], s[r], 0, 1, 2, 3) + \
     __builtin_shufflevector(s[r], s[r], 4, 5, 6, 7))
#define FOLD_HALF(s, r) (s[2 * (r)] + s[2 * (r) + 1])
#define DEFINE_DOTS(name, V, FOLD)                                                                \
    static inline __attribute__((always_inline)) void name(int n, const double* A, int ld,        \
                                                           const double* x, double* y) {          \
        enum { PARTS = WIDE * sizeof(double) / sizeof(V) };                                       \
        V s[4 * PARTS] = {{0}};                                                                   \
        int i = 0;                                                                                \
        for (; i + WIDE <= n; i += WIDE)                                                          \
            for (int r = 0; r < 4; ++r)                                                           \
                for (int p = 0; p < PARTS; ++p)                                                   \
                    s[PARTS * r + p] += ((const V*)(A + r * ld + i))[p] * ((const V*)(x + i))[p]; \
        Half s0 = FOLD(s, 0), s1 = FOLD(s, 1), s2 = FOLD(s, 2), s3 = FOLD(s, 3);                  \
        Half even = __builtin_shufflevector(s0, s1, 0, 4, 2, 6);                                  \
        Half odd = __builtin_shufflevector(s0, s1, 1, 5, 3, 7);                                   \
        Half even_2 = __builtin_shufflevector(s2, s3, 0, 4, 2, 6);                                \
        Half odd_2 = __builtin_shufflevector(s2, s3, 1, 5, 3, 7);                                 \
        Half total = (__builtin_shufflevector(even, even_2, 0, 1, 4, 5) +                         \
                      __builtin_shufflevector(odd, odd_2, 0, 1, 4, 5)) +                          \
                     (__builtin_shufflevector(even, even_2, 2, 3, 6, 7) +                         \
                      __builtin_shufflevector(odd, odd_2, 2, 3, 6, 7));                           \
        *(Half*)y = total;                                                                        \
        for (int k = i; k < n; ++k)                                                               \
            for (int r = 0; r < 4; ++r) y[r] += A[r * ld + k] * x[k];                             \
    }
DEFINE_DOTS(dots_wide, Wide, FOLD_WIDE)
DEFINE_DOTS(dots_half, Half, FOLD_HALF)

static double dot_lanes(int n, const double* a, const double* x) {
    Half low = {0}, high = {0};
    int i = 0;
    for (; i + WIDE <= n; i += WIDE) {
        low += *(const Half*)(a + i) * *(const Half*)(x + i);
        high += *(const Half*)(a + i + WIDE / 2) * *(const Half*)(x + i + WIDE / 2);
    }
    low += high;
    double sum = (low[0] + low[1]) + (low[2] + low[3]);
    for (; i < n; ++i) sum += a[i] * x[i];
    return sum;
}

// Whole fours of rows. Returns the rows done.
FOR_512 static int multiply_wide(int rows, int n, const double* A, int ld, const double* x,
                                 double* y) {
    int r = 0;
    for (; r + 4 <= rows; r += 4) dots_wide(n, A + r * ld, ld, x, y + r);
    return r;
}
FOR_256 static int multiply_half(int rows, int n, const double* A, int ld, const double* x,
                                 double* y) {
    int r = 0;
    for (; r + 4 <= rows; r += 4) dots_half(n, A + r * ld, ld, x, y + r);
    return r;
}

void lash_dense_multiply_rows(int rows, int n, const double* A, int ld, const double* x,
                              double* y) {
    int r = HAS_512 ? multiply_wide(rows, n, A, ld, x, y) : multiply_half(rows, n, A, ld, x, y);
    for (; r < rows; ++r) y[r] = dot_lanes(n, A + r * ld, x);
}

// Entries before the diagonal are zero, so that whole registers do no harm.
#define DEFINE_SOLVE(name, V, FOLD)                                                              \
    static inline __attribute__((always_inline)) void name(int n, int ld, const double* R,       \
                                                           const double* inverse, double* x) {   \
        enum { PARTS = WIDE * sizeof(double) / sizeof(V) };                                      \
        for (int i = 0; i < n; ++i) {                                                            \
            double y = x[i] * inverse[i];                                                        \
            const V* row = (const V*)(R + i * ld);                                               \
            for (int j = i / WIDE * PARTS; j < ld / WIDE * PARTS; ++j) ((V*)x)[j] -= y * row[j]; \
            x[i] = y;                                                                            \
        }                                                                                        \
        for (int i = n - 1; i >= 0; --i) {                                                       \
            const V* row = (const V*)(R + i * ld);                                               \
            double y = x[i];                                                                     \
            V s[PARTS] = {{0}};                                                                  \
            x[i] = 0;                                                                            \
            for (int j = i / WIDE * PARTS; j < ld / WIDE * PARTS; j += PARTS)                    \
                for (int p = 0; p < PARTS; ++p) s[p] += row[j + p] * ((const V*)x)[j + p];       \
            Half sum = FOLD(s, 0);                                                               \
            x[i] = (y - ((sum[0] + sum[1]) + (sum[2] + sum[3]))) * inverse[i];                   \
        }                                                                                        \
    }
DEFINE_SOLVE(solve_wide, Wide, FOLD_WIDE)
DEFINE_SOLVE(solve_half, Half, FOLD_HALF)
FOR_512 static void upper_wide(int n, int ld, const double* R, const double* inverse, double* x) {
    solve_wide(n, ld, R, inverse, x);
}
FOR_256 static void upper_half(int n, int ld, const double* R, const double* inverse, double* x) {
    solve_half(n, ld, R, inverse, x);
}

void lash_dense_upper_solve(int n, int ld, const double* R, const double* inverse, double* x) {
    if (HAS_512)
        upper_wide(n, ld, R, inverse, x);
    else
        upper_half(n, ld, R, inverse, x);
}

// Four rows of J J' - R'R at the columns of n blocks, R being the rows above them.
#define DEFINE_FOUR(name, V)                                                                    \
    static inline __attribute__((always_inline)) void name(const int n, int k, int i, int ld,   \
                                                           const double* J, double* R, int c) { \
        enum { PARTS = WIDE * sizeof(double) / sizeof(V) };                                     \
        V s[4][4 * PARTS];                                                                      \
        for (int r = 0; r < 4; ++r)                                                             \
            for (int p = 0; p < n * PARTS; ++p) s[r][p] = (V){0};                               \
        for (int j = 0; j < k; ++j)                                                             \
            for (int r = 0; r < 4; ++r)                                                         \
                for (int p = 0; p < n * PARTS; ++p)                                             \
                    s[r][p] += J[j * ld + i + r] * ((const V*)(J + j * ld + c))[p];             \
        for (int j = 0; j < i; ++j)                                                             \
            for (int r = 0; r < 4; ++r)                                                         \
                for (int p = 0; p < n * PARTS; ++p)                                             \
                    s[r][p] -= R[j * ld + i + r] * ((const V*)(R + j * ld + c))[p];             \
        for (int r = 0; r < 4; ++r)                                                             \
            for (int p = 0; p < n * PARTS; ++p) ((V*)(R + (i + r) * ld + c))[p] = s[r][p];      \
    }
DEFINE_FOUR(four_wide, Wide)
DEFINE_FOUR(four_half, Half)
FOR_512 static void gram_wide(int k, int i, int ld, const double* J, double* R) {
    int c = i & ~7;
    for (; c + 4 * WIDE <= ld; c += 4 * WIDE) four_wide(4, k, i, ld, J, R, c);
    if (c + 2 * WIDE <= ld) {
        four_wide(2, k, i, ld, J, R, c);
        c += 2 * WIDE;
    }
    if (c < ld) four_wide(1, k, i, ld, J, R, c);
}
FOR_256 static void gram_half(int k, int i, int ld, const double* J, double* R) {
    for (int c = i & ~7; c < ld; c += WIDE) four_half(1, k, i, ld, J, R, c);
}

bool lash_dense_gram_factor(int k, int ld, const double* J, double shift, double* R,
                            double* inverse) {
    for (int i = 0; i < k; i += 4) {
        int from = i & ~7;
        if (HAS_512)
            gram_wide(k, i, ld, J, R);
        else
            gram_half(k, i, ld, J, R);
        for (int r = i; r < i + 4 && r < k; ++r) {
            double* row = R + r * ld;
            lash_dense_subtract_rows(ld - from, r - i, R + i * ld + r, ld, R + i * ld + from, ld,
                                     row + from);
            row[r] += shift;
            if (!(row[r] > 0)) return false;
            inverse[r] = 1 / sqrt(row[r]);
            for (int j = from; j < r; ++j) row[j] = 0;
            for (int j = r; j < ld; ++j) row[j] *= inverse[r];
        }
    }
    return true;
}
