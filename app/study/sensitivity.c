// Sensitivity.
//
//   Sobol indices from rows A, B, AB_j (A with column j of B) by correlations r of their values,
//   corrected for the correlation that A and B have by chance (Glen and Isaacs 2012):
//     first_j = (r(B, ABj) - r(A, B) r(A, ABj)) / (1 - r(A, B)^2)
//     total_j = 1 - (r(A, ABj) - r(A, B) r(B, ABj)) / (1 - r(A, B)^2)
//   which are the standardised coefficients of f_ABj = b f_B + a f_A: sharp for small indices and
//   for large ones, indifferent to the mean and to the scale of the output. Base points come in R
//   blocks with independent scramblings, so the bootstrap draws whole blocks: points inside one are
//   not independent. Blocks are few, so the interval is
//     index -+ t s sqrt(R / (R - 1)),  s the spread of the resamples, t of Student, R - 1 degrees.
//
//   Morris: elementary effect (f(x + D e_j) - f(x)) / D over each step of each path; mu* = mean of
//   |effect|, sigma = its spread: interactions and curvature.
//
//   Contributions of any sample: y = mean + sum of f_j(u_j) + rest by least squares, f_j a sum of
//   Legendre polynomials of the rank u_j in (0, 1), all parameters together, so that the noise of
//   one share is what all of them leave unexplained. With d_j polynomials and residual variance s^2
//     share_j = (var f_j - d_j s^2 / n) / var y,
//   d_j s^2 / n being what chance gives to a parameter without influence; that is chi^2 of d_j
//   degrees times s^2 / n, which has the 95 % point told as noise (n becomes n - K - 1 with K
//   polynomials in all, as in an adjusted R^2). Linear coefficients by Cholesky;
//   rank correlation. The interval of a share: delete-a-group jackknife, the rows dealt to G groups,
//     share -+ t s,  s^2 = (G - 1) / G sum of (share without group g - their mean)^2,
//   t of Student with G - 1 degrees; the sums of a group are taken off the normal equations, so that
//   all of it costs little more than one fit.
#include "app/study/sensitivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/study/random.h"
#include "app/study/study_internal.h"
#include "core/arena.h"

// ---- Sobol --------------------------------------------------------------------------------------

enum { RESAMPLES = 2000, MOST_DEGREE = 6 };

// Sums over the base points of one block: values of A, B, C = AB_j, their squares and products.
enum { S_A, S_B, S_C, S_AA, S_BB, S_CC, S_AB, S_AC, S_BC, SUMS };
typedef struct BlockSums {
    double n;    // base points used
    double* sum; // (active x SUMS)
} BlockSums;

static bool base_is_good(const double* y, int rows) {
    for (int r = 0; r < rows; ++r) {
        if (!isfinite(y[r])) return false;
    }
    return true;
}

static double center_of(const LashStudy* study, const double* y) {
    double sum = 0, n = 0;
    int rows = study->active + 2;
    for (int64_t b = 0; b < study->base; ++b) {
        if (!base_is_good(y + b * rows, rows)) continue;
        sum += y[b * rows] + y[b * rows + 1];
        n += 2;
    }
    return n > 0 ? sum / n : 0;
}

static int64_t fill_blocks(const LashStudy* study, const double* y, BlockSums* block) {
    int rows = study->active + 2;
    int64_t used = 0;
    double center = center_of(study, y);
    for (int64_t b = 0; b < study->base; ++b) {
        const double* row = y + b * rows;
        if (!base_is_good(row, rows)) continue;
        BlockSums* sums = &block[b / study->block_size];
        double a = row[0] - center, b1 = row[1] - center;
        sums->n += 1;
        for (int j = 0; j < study->active; ++j) {
            double c = row[2 + j] - center, *s = sums->sum + SUMS * j;
            s[S_A] += a;
            s[S_B] += b1;
            s[S_C] += c;
            s[S_AA] += a * a;
            s[S_BB] += b1 * b1;
            s[S_CC] += c * c;
            s[S_AB] += a * b1;
            s[S_AC] += a * c;
            s[S_BC] += b1 * c;
        }
        ++used;
    }
    return used;
}

typedef struct Pair {
    double first, total;
} Pair;

// Indices of parameter j over the blocks listed (all when pick is NULL).
static Pair index_of(const BlockSums* block, const uint32_t* pick, int blocks, int j) {
    double n = 0, s[SUMS] = {0};
    for (int b = 0; b < blocks; ++b) {
        const BlockSums* from = &block[pick != NULL ? pick[b] : (uint32_t)b];
        n += from->n;
        for (int k = 0; k < SUMS; ++k) s[k] += from->sum[SUMS * j + k];
    }
    double aa = s[S_AA] - s[S_A] * s[S_A] / n, bb = s[S_BB] - s[S_B] * s[S_B] / n,
           cc = s[S_CC] - s[S_C] * s[S_C] / n;
    double ab = (s[S_AB] - s[S_A] * s[S_B] / n) / sqrt(aa * bb);
    double ac = (s[S_AC] - s[S_A] * s[S_C] / n) / sqrt(aa * cc);
    double bc = (s[S_BC] - s[S_B] * s[S_C] / n) / sqrt(bb * cc);
    return (Pair){(bc - ab * ac) / (1 - ab * ab), 1 - (ac - ab * bc) / (1 - ab * ab)};
}

// 97.5 % point of Student's t (Cornish-Fisher expansion, good to 4e-3 from 3 degrees on).
static double student(double degrees) {
    const double z = 1.9599639845400542, z2 = z * z, v = 1 / degrees;
    double g1 = z * (z2 + 1) / 4, g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
    double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
    return z + v * (g1 + v * (g2 + v * (g3 + v * g4)));
}

static LashInterval around(double estimate, const double* draws, double widen) {
    double half = widen * lash_moments(draws, RESAMPLES).sigma;
    return (LashInterval){estimate - half, estimate + half};
}

static void bootstrap(const LashStudy* study, const BlockSums* block, int blocks,
                      LashSobolIndex* index) {
    uint32_t* pick = lash_alloc((size_t)blocks * RESAMPLES * sizeof *pick);
    double* draws = lash_alloc(2 * RESAMPLES * sizeof *draws);
    for (int i = 0; i < blocks * RESAMPLES; ++i)
        pick[i] =
            lash_random_below(study->seed, LASH_STREAM_BOOTSTRAP, 1, (uint64_t)i, (uint32_t)blocks);
    double R = blocks, widen = student(R - 1) * sqrt(R / (R - 1));
    for (int j = 0; j < study->active; ++j) {
        for (int r = 0; r < RESAMPLES; ++r) {
            Pair pair = index_of(block, pick + (size_t)r * (size_t)blocks, blocks, j);
            draws[r] = isfinite(pair.first) ? pair.first : index[j].first;
            draws[RESAMPLES + r] = isfinite(pair.total) ? pair.total : index[j].total;
        }
        index[j].first_ci = around(index[j].first, draws, widen);
        index[j].total_ci = around(index[j].total, draws + RESAMPLES, widen);
    }
    lash_free(pick);
    lash_free(draws);
}

int64_t lash_sobol_indices(const LashStudy* study, const double* values, LashSobolIndex* index) {
    int power = 0; // indices have no unit
    double* scaled = lash_scaled(values, study->samples, &power);
    const double* y = scaled != NULL ? scaled : values;
    int d = study->active;
    int blocks = (int)((study->base + study->block_size - 1) / study->block_size), filled = 0;
    BlockSums* block = lash_alloc((size_t)blocks * sizeof *block);
    double* memory = lash_alloc((size_t)blocks * (size_t)d * SUMS * sizeof *memory);
    for (int b = 0; b < blocks; ++b) block[b].sum = memory + (size_t)(b * d) * SUMS;
    int64_t used = fill_blocks(study, y, block);
    for (int b = 0; b < blocks; ++b) {
        if (block[b].n > 0) block[filled++] = block[b];
    }
    for (int j = 0; j < d; ++j) {
        Pair pair = filled > 0 ? index_of(block, NULL, filled, j) : (Pair){NAN, NAN};
        index[j] = (LashSobolIndex){.first = pair.first,
                                    .total = pair.total,
                                    .first_ci = {NAN, NAN},
                                    .total_ci = {NAN, NAN}};
    }
    if (filled >= 4) bootstrap(study, block, filled, index);
    lash_free(scaled);
    lash_free(block);
    lash_free(memory);
    return used;
}

// ---- Morris -------------------------------------------------------------------------------------

void lash_morris_effects(const LashStudy* study, const double* y, LashMorrisEffect* effect) {
    memset(effect, 0, (size_t)study->active * sizeof *effect);
    for (int64_t i = 0; i < study->samples; ++i) {
        double change = 1;
        int j = lash_study_morris_step(study, i, &change);
        if (j < 0 || !isfinite(y[i]) || !isfinite(y[i - 1])) continue;
        double e = (y[i] - y[i - 1]) / change;
        effect[j].mu += e;
        effect[j].mu_star += fabs(e);
        effect[j].sigma += e * e;
        ++effect[j].n;
    }
    for (int j = 0; j < study->active; ++j) {
        LashMorrisEffect* e = &effect[j];
        double n = (double)e->n;
        e->mu /= n;
        e->mu_star /= n;
        e->sigma = n > 1 ? sqrt(fmax(0, e->sigma - n * e->mu * e->mu) / (n - 1)) : NAN;
    }
}

// ---- contributions ------------------------------------------------------------------------------

typedef struct Ranked {
    double key;
    int64_t index;
} Ranked;

static int compare_ranked(const void* a, const void* b) {
    const Ranked *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

// Order of the rows by column j.
static void sort_column(const double* x, int64_t rows, int columns, int j, Ranked* order) {
    for (int64_t i = 0; i < rows; ++i) order[i] = (Ranked){x[i * columns + j], i};
    qsort(order, (size_t)rows, sizeof *order, compare_ranked);
}

// Ranks from 0; equal values share their mean rank.
static void ranks_of(const Ranked* order, int64_t rows, double* rank) {
    for (int64_t i = 0; i < rows;) {
        int64_t end = i;
        while (end < rows && order[end].key == order[i].key) ++end;
        for (int64_t k = i; k < end; ++k) rank[order[k].index] = 0.5 * (double)(i + end - 1);
        i = end;
    }
}

static double correlation(const double* a, const double* b, int64_t n) {
    LashMoments ma = lash_moments(a, n), mb = lash_moments(b, n);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += (a[i] - ma.mean) * (b[i] - mb.mean);
    double scale = (double)(n - 1) * ma.sigma * mb.sigma;
    return scale > 0 ? sum / scale : 0;
}

// Ends of bins with about the same number of rows each; equal keys stay together.
static int64_t bin_end(const Ranked* order, int64_t rows, int64_t begin, double wanted) {
    int64_t end = (int64_t)floor(wanted + 0.5);
    if (end <= begin) end = begin + 1;
    while (end < rows && order[end].key == order[end - 1].key) ++end;
    return end < rows ? end : rows;
}

// Solves the normal equations of the standardised linear model; C (k x k) is destroyed.
static bool solve_normal(double* C, double* b, int k) {
    for (int j = 0; j < k; ++j) {
        for (int i = j; i < k; ++i) {
            double sum = C[i * k + j];
            for (int m = 0; m < j; ++m) sum -= C[i * k + m] * C[j * k + m];
            if (i == j && !(sum > 1e-10)) return false;
            C[i * k + j] = i == j ? sqrt(sum) : sum / C[j * k + j];
        }
    }
    for (int i = 0; i < k; ++i) {
        for (int m = 0; m < i; ++m) b[i] -= C[i * k + m] * b[m];
        b[i] /= C[i * k + i];
    }
    for (int i = k - 1; i >= 0; --i) {
        for (int m = i + 1; m < k; ++m) b[i] -= C[m * k + i] * b[m];
        b[i] /= C[i * k + i];
    }
    return true;
}

// Standardised coefficients; returns R^2.
static double regress(const double* x, const double* y, int64_t rows, int k,
                      LashContribution* contribution) {
    double* column = lash_alloc((size_t)rows * (size_t)(k + 1) * sizeof *column);
    double* C = lash_alloc((size_t)k * (size_t)k * sizeof *C);
    double* b = lash_alloc((size_t)k * 3 * sizeof *b + sizeof *b);
    double* sigma = b + 2 * k; // of the parameters, then of y
    for (int j = 0; j <= k; ++j) {
        double* c = column + (size_t)j * (size_t)rows;
        for (int64_t i = 0; i < rows; ++i) c[i] = j < k ? x[i * k + j] : y[i];
        LashMoments m = lash_moments(c, rows);
        sigma[j] = m.sigma;
        for (int64_t i = 0; i < rows; ++i) c[i] = m.sigma > 0 ? (c[i] - m.mean) / m.sigma : 0;
    }
    const double* last = column + (size_t)k * (size_t)rows;
    for (int i = 0; i < k; ++i) {
        const double* a = column + (size_t)i * (size_t)rows;
        for (int j = 0; j <= i; ++j) {
            const double* c = column + (size_t)j * (size_t)rows;
            double sum = 0;
            for (int64_t r = 0; r < rows; ++r) sum += a[r] * c[r];
            C[i * k + j] = sum / (double)(rows - 1);
        }
        double sum = 0;
        for (int64_t r = 0; r < rows; ++r) sum += a[r] * last[r];
        b[i] = b[k + i] = sum / (double)(rows - 1);
    }
    double R2 = NAN;
    bool good = rows > k + 1 && solve_normal(C, b, k);
    for (int j = 0; j < k; ++j) {
        contribution[j].regression = good ? b[j] : NAN;
        contribution[j].slope = good ? b[j] * sigma[k] / sigma[j] : NAN;
        contribution[j].linear = b[k + j];
    }
    if (good) {
        R2 = 0;
        for (int j = 0; j < k; ++j) R2 += b[j] * b[k + j];
    }
    lash_free(column);
    lash_free(C);
    lash_free(b);
    return R2;
}

// ---- additive model -----------------------------------------------------------------------------

typedef struct Additive {
    int64_t rows;
    int active, columns;
    int* degree;   // (active) polynomials of each parameter
    double* value; // (columns x rows)
} Additive;

// sqrt(2 m + 1) P_m(2 u - 1), m = 1 .. degree: orthonormal on [0, 1]. p[stride (m - 1)].
static void legendre(double u, int degree, double* p, int64_t stride) {
    double x = 2 * u - 1, before = 1, now = x;
    for (int m = 1; m <= degree; ++m) {
        p[stride * (m - 1)] = sqrt(2.0 * m + 1) * now;
        double next = ((2 * m + 1) * x * now - m * before) / (m + 1);
        before = now;
        now = next;
    }
}

// Polynomials of parameter j by the rows in its order; fewer than it has values.
static void add_polynomials(Additive* additive, const Ranked* order, const double* rank, int j,
                            int most) {
    int64_t n = additive->rows;
    int distinct = 1;
    for (int64_t i = 1; i < n && distinct <= most; ++i)
        distinct += order[i].key != order[i - 1].key;
    additive->degree[j] = distinct <= most ? distinct - 1 : most;
    double* column = additive->value + (int64_t)additive->columns * n;
    for (int64_t i = 0; i < n; ++i)
        legendre((rank[i] + 0.5) / (double)n, additive->degree[j], column + i, n);
    for (int m = 0; m < additive->degree[j]; ++m, column += n) {
        double mean = lash_moments(column, n).mean;
        for (int64_t i = 0; i < n; ++i) column[i] -= mean;
    }
    additive->columns += additive->degree[j];
}

// 95 % point of chi^2 (Wilson and Hilferty 1931).
static double chi_squared(int degrees) {
    double c = 2 / (9.0 * degrees), z = 1.6448536269514722;
    return degrees * pow(1 - c + z * sqrt(c), 3);
}

// Sums over rows: everything that the fit and its shares need.
typedef struct Moments2 {
    double n;
    double* product; // (K + 1) x (K + 1), lower part: polynomials, then y
    double* sum;     // (K + 1)
} Moments2;

static Moments2 moments2(int K) {
    size_t size = (size_t)K + 1;
    return (Moments2){.product = lash_alloc(size * size * sizeof(double)),
                      .sum = lash_alloc(size * sizeof(double))};
}

static void free_moments2(Moments2* m) {
    lash_free(m->product);
    lash_free(m->sum);
}

// Rows first, first + stride, ...; y is taken from its mean.
static void add_rows(const Additive* additive, const double* y, double mean, int64_t first,
                     int64_t stride, Moments2* m) {
    int size = additive->columns + 1;
    for (int r = 0; r < size; ++r) {
        const double* u = r < additive->columns ? additive->value + r * additive->rows : y;
        double u0 = r < additive->columns ? 0 : mean;
        for (int c = 0; c <= r; ++c) {
            const double* v = c < additive->columns ? additive->value + c * additive->rows : y;
            double v0 = c < additive->columns ? 0 : mean, sum = 0;
            for (int64_t i = first; i < additive->rows; i += stride)
                sum += (u[i] - u0) * (v[i] - v0);
            m->product[r * size + c] += sum;
        }
        for (int64_t i = first; i < additive->rows; i += stride) m->sum[r] += u[i] - u0;
    }
    m->n += (double)((additive->rows - first + stride - 1) / stride);
}

// Shares of all parameters from `all` less `part` (NULL: nothing); share (active). Returns the noise
// of the shares, NAN when the model cannot be fitted.
static double fit_shares(const Additive* additive, const Moments2* all, const Moments2* part,
                         double* share) {
    int K = additive->columns, size = K + 1, column = 0;
    double n = all->n - (part != NULL ? part->n : 0), explained = 0, noise = 0;
    double* C = lash_alloc((size_t)(2 * K * K + 2 * K) * sizeof *C + 1);
    double *whole = C + K * K, *b = whole + K * K, total = 0;
    for (int r = 0; r < size; ++r) {
        for (int c = 0; c <= r; ++c) {
            int place = r * size + c;
            double sr = all->sum[r] - (part != NULL ? part->sum[r] : 0);
            double sc = all->sum[c] - (part != NULL ? part->sum[c] : 0);
            double product = all->product[place] - (part != NULL ? part->product[place] : 0);
            double value = (product - sr * sc / n) / n;
            if (r < K) C[r * K + c] = whole[r * K + c] = whole[c * K + r] = value;
            if (r == K && c < K) b[c] = b[K + c] = value;
            if (c == K) total = value;
        }
    }
    bool good = total > 0 && n > K + 1 && solve_normal(C, b, K);
    for (int r = 0; r < K && good; ++r) explained += b[r] * b[K + r];
    // the residual variance, and what a finite sample adds to the spread of coefficients
    double left = n - K - 1, s2 = fmax(0, 1 - explained / total) / left * n / left;
    for (int j = 0; j < additive->active && good; ++j) {
        double square = 0; // variance of f_j
        for (int r = column; r < column + additive->degree[j]; ++r) {
            for (int c = column; c < column + additive->degree[j]; ++c)
                square += b[r] * b[c] * whole[r * K + c];
        }
        share[j] = fmax(0, square / total - additive->degree[j] * s2);
        if (additive->degree[j] > 0)
            noise = fmax(noise, s2 * (chi_squared(additive->degree[j]) - additive->degree[j]));
        column += additive->degree[j];
    }
    lash_free(C);
    return good ? noise : NAN;
}

enum { GROUPS = 20, LEAST_OF_GROUP = 3, MOST_COLUMNS = 300 };

// noise: what a share without influence may be; an interval that begins at 0 ends no earlier.
static void jackknife(const Additive* additive, const double* y, double mean, const Moments2* all,
                      double noise, LashContribution* contribution) {
    if (additive->rows < GROUPS * LEAST_OF_GROUP || additive->columns > MOST_COLUMNS) return;
    double* share = lash_alloc((size_t)(GROUPS * additive->active) * sizeof *share);
    bool good = true;
    for (int g = 0; g < GROUPS && good; ++g) {
        Moments2 part = moments2(additive->columns);
        add_rows(additive, y, mean, g, GROUPS, &part);
        good = !isnan(fit_shares(additive, all, &part, share + g * additive->active));
        free_moments2(&part);
    }
    for (int j = 0; j < additive->active && good; ++j) {
        double middle = 0, spread = 0;
        for (int g = 0; g < GROUPS; ++g) middle += share[g * additive->active + j] / GROUPS;
        for (int g = 0; g < GROUPS; ++g) {
            double d = share[g * additive->active + j] - middle;
            spread += d * d * (GROUPS - 1) / GROUPS;
        }
        double half = student(GROUPS - 1) * sqrt(spread), value = contribution[j].share;
        double most = fmax(value, 1), least = value < noise ? noise : value;
        contribution[j].share_ci.low = fmax(value - half, 0);
        contribution[j].share_ci.high = fmin(fmax(value + half, least), most);
    }
    lash_free(share);
}

// Fits the model to y; returns the noise of the shares, NAN when it cannot be fitted.
static double fit_additive(const Additive* additive, const double* y,
                           LashContribution* contribution) {
    double mean = lash_moments(y, additive->rows).mean;
    double* share = lash_alloc((size_t)additive->active * sizeof *share);
    Moments2 all = moments2(additive->columns);
    add_rows(additive, y, mean, 0, 1, &all);
    double noise = fit_shares(additive, &all, NULL, share);
    for (int j = 0; j < additive->active && !isnan(noise); ++j) contribution[j].share = share[j];
    if (!isnan(noise)) jackknife(additive, y, mean, &all, noise, contribution);
    free_moments2(&all);
    lash_free(share);
    return noise;
}

double lash_contributions(const double* x, const double* values, int64_t rows, int active,
                          LashContribution* contribution, double* noise) {
    for (int j = 0; j < active; ++j)
        contribution[j] = (LashContribution){NAN, {NAN, NAN}, NAN, NAN, NAN, NAN};
    *noise = NAN;
    if (rows < 4 || active == 0) return NAN;
    int power = 0; // shares have no unit
    double* scaled = lash_scaled(values, rows, &power);
    const double* y = scaled != NULL ? scaled : values;
    // eight samples for each polynomial where there are enough, more than two in any case
    int most = (int)fmin(fmax(floor((double)rows / (8.0 * active)), 1), MOST_DEGREE);
    bool enough = rows > 2 * (active + 1);
    Additive a = {.rows = rows, .active = active};
    a.degree = lash_alloc((size_t)active * sizeof *a.degree);
    a.value = lash_alloc(enough ? (size_t)(active * most) * (size_t)rows * sizeof(double) : 1);
    Ranked* order = lash_alloc((size_t)rows * sizeof *order);
    double* rank = lash_alloc((size_t)rows * 2 * sizeof *rank);
    sort_column(y, rows, 1, 0, order);
    ranks_of(order, rows, rank);
    for (int j = 0; j < active; ++j) {
        sort_column(x, rows, active, j, order);
        ranks_of(order, rows, rank + rows);
        contribution[j].correlation = correlation(rank, rank + rows, rows);
        if (enough) add_polynomials(&a, order, rank + rows, j, most);
    }
    if (enough) *noise = fit_additive(&a, y, contribution);
    double R2 = regress(x, y, rows, active, contribution);
    for (int j = 0; j < active; ++j) contribution[j].slope = ldexp(contribution[j].slope, power);
    lash_free(scaled);
    lash_free(a.degree);
    lash_free(a.value);
    lash_free(order);
    lash_free(rank);
    return R2;
}

// ---- main effects -------------------------------------------------------------------------------

int lash_main_effect(const double* x, const double* y, int64_t rows, int bins, LashBin* bin) {
    Ranked* order = lash_alloc((size_t)rows * sizeof *order + 1);
    int filled = 0;
    sort_column(x, rows, 1, 0, order);
    for (int64_t begin = 0; begin < rows && filled < bins;) {
        int64_t end =
            bin_end(order, rows, begin, (double)(filled + 1) * (double)rows / (double)bins);
        double sx = 0, sy = 0, sq = 0, n = (double)(end - begin), shift = y[order[begin].index];
        for (int64_t i = begin; i < end; ++i) {
            double d = y[order[i].index] - shift;
            sx += order[i].key;
            sy += d;
            sq += d * d;
        }
        double variance = n > 1 ? fmax(0, sq - sy * sy / n) / (n - 1) : NAN;
        bin[filled++] = (LashBin){sx / n, shift + sy / n, sqrt(variance / n), end - begin};
        begin = end;
    }
    lash_free(order);
    return filled;
}
