// Lemke's method with lexicographic pivoting, also from a basis that holds free variables.
//
//     w = A z + b + d z0,   d_i = 1 on the rows of nonnegative basic variables
//
// Condensed tableau: basic = T nonbasic + rhs, one column per nonbasic variable. z0 enters where
// the smallest basic variable is; then the complement of the variable that left enters, until z0
// leaves (solution) or nothing blocks (secondary ray: no solution found). Ties in the ratio test
// are broken by the rows of the basis inverse (lexicographic rule), so degenerate problems cannot
// cycle: R. Cottle, J.-S. Pang, R. Stone, The Linear Complementarity Problem, 2009, sections
// 4.3-4.9. Free variables are pivoted into the basis first, with complete pivoting among the free
// rows; where those are rank-deficient, a free variable enters on the row of a contact whose own
// variable then enters on the free row. Rows that vanish are redundant (or contradictory).
//
// Rounding piles up in the tableau, so only the final basis is taken from it: z is solved for
// afresh from A and b. Where rounding has hidden which rows tie, the path is lost, and with it the
// promise that it ends: then everything is done again on a tableau of twofold numbers (32 digits),
// its rows and columns scaled by powers of two, in which ties and zeros are told from numbers
// however many pivots came before. Scaling leaves the path as it is.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "solvers/cone/lcp_internal.h"
#include "solvers/linear/twofold_internal.h"

// Twofold tableau: what is smaller than this times the largest entry so far is rounding. A unit of
// it is 1e-32, so 1e8 are left for growth; entries of the data end at 1e-16. [-]
static const double PRECISE_NOISE = 1e-24;
enum { PRECISE_ROWS = 200 }; // a pivot takes 0.6 ms there

// Variables: i < n is w_i, n <= i < 2n is z_(i-n), 2n is z0, -1 a dead column.
static double* cell(const Lcp* p, int row, int column) {
    return p->matrix + row + (size_t)column * (size_t)p->n;
}

static double* rhs(const Lcp* p, int row) {
    return cell(p, row, p->n + 1);
}

static Twofold number(const Lcp* p, int row, int column) {
    size_t at = (size_t)row + (size_t)column * (size_t)p->n;
    return (Twofold){p->matrix[at], p->precise ? p->matrix2[at] : 0};
}

static void set_number(Lcp* p, int row, int column, Twofold x) {
    size_t at = (size_t)row + (size_t)column * (size_t)p->n;
    p->matrix[at] = x.high;
    p->matrix2[at] = x.low;
    p->growth = fmax(p->growth, fabs(x.high));
}

static void pivot_precise(Lcp* p, int row, int column) {
    int n = p->n;
    Twofold inverse = twofold_divide((Twofold){1, 0}, number(p, row, column));
    for (int j = 0; j <= n + 1; ++j) {
        Twofold s = twofold_multiply(number(p, row, j), inverse);
        if (j == column || s.high == 0) continue;
        for (int i = 0; i < n; ++i) {
            Twofold t = number(p, i, column);
            if (i == row || t.high == 0) continue;
            Twofold old = number(p, i, j), change = twofold_multiply(s, t);
            Twofold left = twofold_subtract(old, change);
            bool none = fabs(left.high) <= PRECISE_NOISE * fabs(old.high);
            set_number(p, i, j, none ? (Twofold){0, 0} : left);
        }
        set_number(p, row, j, (Twofold){-s.high, -s.low});
    }
    for (int i = 0; i < n; ++i)
        set_number(p, i, column, twofold_multiply(number(p, i, column), inverse));
    set_number(p, row, column, inverse);
}

static void pivot_plain(Lcp* p, int row, int column) {
    int n = p->n;
    double* pivot_column = cell(p, 0, column);
    double inverse = 1 / pivot_column[row];
    for (int j = 0; j <= n + 1; ++j) {
        if (j == column) continue;
        double* c = cell(p, 0, j);
        double s = c[row] * inverse;
        if (s == 0) continue;
        for (int i = 0; i < n; ++i) c[i] -= s * pivot_column[i];
        c[row] = -s;
    }
    for (int i = 0; i < n; ++i) pivot_column[i] *= inverse;
    pivot_column[row] = inverse;
}

// The basic variable of the row leaves, the nonbasic one of the column enters.
static void exchange(Lcp* p, int row, int column) {
    if (p->precise)
        pivot_precise(p, row, column);
    else
        pivot_plain(p, row, column);
    int left = p->basic[row], entered = p->nonbasic[column];
    p->basic[row] = entered;
    p->nonbasic[column] = left;
    p->where[entered] = row;
    p->where[left] = -1 - column;
    p->iterations++;
}

static bool is_free_variable(const Lcp* p, int v) {
    return v >= p->n && v < 2 * p->n && lcp_free(p, v - p->n);
}

static bool is_fixed_variable(const Lcp* p, int v) { // w of a free row: always 0
    return v >= 0 && v < p->n && lcp_free(p, v);
}

// Largest entry among rows of fixed w and columns of free z.
static double find_free_pivot(const Lcp* p, int* row, int* column) {
    double largest = 0;
    for (int j = 0; j < p->n; ++j) {
        if (!is_free_variable(p, p->nonbasic[j])) continue;
        for (int i = 0; i < p->n; ++i)
            if (is_fixed_variable(p, p->basic[i]) && fabs(*cell(p, i, j)) > largest) {
                largest = fabs(*cell(p, i, j));
                *row = i;
                *column = j;
            }
    }
    return largest;
}

// A free column (or fixed row) that no other free pivot serves: paired with a contact.
static bool pivot_pair(Lcp* p, double small) {
    int n = p->n, best_row = -1, best_column = -1, best_free = -1, best_fixed = -1;
    double largest = 0;
    for (int j = 0; j < n; ++j) {
        if (!is_free_variable(p, p->nonbasic[j])) continue;
        for (int k = 0; k < n; ++k) {
            if (!is_fixed_variable(p, p->basic[k])) continue;
            for (int i = 0; i < n; ++i) { // contact i: w_i basic in row r, z_i nonbasic in column c
                int r = p->where[i], c = -1 - p->where[n + i];
                if (lcp_free(p, i) || r < 0 || c < 0) continue;
                double size = fmin(fabs(*cell(p, r, j)), fabs(*cell(p, k, c)));
                if (size > largest) {
                    largest = size;
                    best_row = r;
                    best_column = c;
                    best_free = j;
                    best_fixed = k;
                }
            }
        }
    }
    if (!(largest > small)) return false;
    exchange(p, best_row, best_free); // z_free enters, w_i leaves
    if (!(fabs(*cell(p, best_fixed, best_column)) > small)) return false;
    exchange(p, best_fixed, best_column); // z_i enters, fixed w leaves
    return true;
}

// Brings free variables into the basis. Returns false when a row 0 = const is left.
static bool eliminate_free(Lcp* p, double scale) {
    double small = 1e-10 * scale;
    int row = 0, column = 0;
    while (!lash_stop_asked(p->stop)) {
        if (find_free_pivot(p, &row, &column) > small)
            exchange(p, row, column);
        else if (!pivot_pair(p, small))
            break;
    }
    for (int j = 0; j < p->n; ++j) { // columns of fixed w and of free z nobody needs stay at 0
        int v = p->nonbasic[j];
        if (is_fixed_variable(p, v) || is_free_variable(p, v))
            memset(cell(p, 0, j), 0, (size_t)p->n * sizeof(double));
    }
    return true;
}

// Row i of the lexicographic matrix (B^-1 b, B^-1), entry k: rhs first, then w in order, whose
// columns stand in the tableau with the other sign.
static Twofold lexicographic(const Lcp* p, int row, int k) {
    if (k == 0) return number(p, row, p->n + 1);
    int at = p->where[k - 1];
    if (at >= 0) return (Twofold){at == row ? 1 : 0, 0}; // basic: a unit column
    Twofold x = number(p, row, -1 - at);
    return (Twofold){-x.high, -x.low};
}

// Is row a lexicographically before row b, both divided by their (positive) entries in the column?
static bool before(const Lcp* p, int a, Twofold ta, int b, Twofold tb) {
    for (int k = 0; k <= p->n; ++k) {
        Twofold x = lexicographic(p, a, k), y = lexicographic(p, b, k);
        if (p->precise) {
            Twofold d = twofold_subtract(twofold_multiply(x, tb), twofold_multiply(y, ta));
            if (fabs(d.high) > PRECISE_NOISE * p->growth * (ta.high + tb.high)) return d.high < 0;
            continue;
        }
        double u = x.high / ta.high, v = y.high / tb.high, size = fmax(fabs(u), fabs(v));
        double start = (k == 0 ? p->b_largest : 1) * (1 / ta.high + 1 / tb.high);
        if (fabs(u - v) > 1e-12 * size + 1e-13 * start) return u < v; // what is 0 is rounding
    }
    return false;
}

// Row that blocks the entering column, or -1. Restricted basic variables fall where T < 0. z0
// leaves whenever it can: the solution is reached.
static int ratio_test(const Lcp* p, int column, double small, double largest_b) {
    int best = -1, z0 = p->where[2 * p->n];
    Twofold best_t = {1, 0};
    for (int i = 0; i < p->n; ++i) {
        int v = p->basic[i];
        Twofold t = number(p, i, column);
        t = (Twofold){-t.high, -t.low};
        if (i == z0 || is_free_variable(p, v) || is_fixed_variable(p, v)) continue;
        if (!(t.high > small)) continue;
        if (best >= 0 && !before(p, i, t, best, best_t)) continue;
        best = i;
        best_t = t;
    }
    if (z0 < 0) return best;
    double t = -*cell(p, z0, column);
    if (!(t > small)) return best;
    // What would be left of z0 when the other row blocks: nothing but rounding?
    double rounding = (p->precise ? 1e-13 : 1e-11) * largest_b;
    if (best < 0 || *rhs(p, z0) - t * *rhs(p, best) / best_t.high <= rounding) return z0;
    return best;
}

// Powers of two that bring the largest entry of every row and column near 1, in p->r and p->x.
static void set_scales(Lcp* p) {
    double *row = p->r, *column = p->x;
    for (int i = 0; i < p->n; ++i) row[i] = column[i] = 1;
    for (int pass = 0; pass < 6; ++pass) {
        double *scale = pass % 2 == 0 ? row : column, *other = pass % 2 == 0 ? column : row;
        for (int i = 0; i < p->n; ++i) {
            double largest = 0;
            for (int j = 0; j < p->n; ++j) {
                size_t at = pass % 2 == 0 ? (size_t)i + (size_t)j * (size_t)p->lda
                                          : (size_t)j + (size_t)i * (size_t)p->lda;
                largest = fmax(largest, fabs(p->A[at]) * other[j]);
            }
            int exponent = 0;
            if (!(largest > 0 && largest < INFINITY)) continue;
            frexp(largest, &exponent);
            if (abs(exponent) < 500) scale[i] = ldexp(1, -exponent);
        }
    }
}

static double start_tableau(Lcp* p) {
    int n = p->n;
    double scale = 0;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            double a = p->A[(size_t)i + (size_t)j * (size_t)p->lda];
            if (p->precise) a *= p->r[i] * p->x[j];
            *cell(p, i, j) = a;
            scale = fmax(scale, fabs(a));
        }
    for (int i = 0; i < n; ++i) {
        *rhs(p, i) = p->precise ? p->r[i] * p->b[i] : p->b[i];
        *cell(p, i, n) = 0;
        p->basic[i] = i;
        p->where[i] = i;
        p->nonbasic[i] = n + i;
        p->where[n + i] = -1 - i;
    }
    p->nonbasic[n] = 2 * n;
    p->where[2 * n] = -1 - n;
    p->b_largest = 0;
    for (int i = 0; i < n; ++i) p->b_largest = fmax(p->b_largest, fabs(*rhs(p, i)));
    p->growth = fmax(fmax(scale, 1), p->b_largest);
    if (p->precise) memset(p->matrix2, 0, (size_t)n * (size_t)(n + 2) * sizeof(double));
    return scale;
}

static double finish(Lcp* p) {
    uint8_t* in = (uint8_t*)p->x;
    for (int i = 0; i < p->n; ++i) in[i] = p->where[p->n + i] >= 0;
    return lcp_solve_basis(p, in);
}

// Complement of a variable that just left.
static int complement(const Lcp* p, int v) {
    return v < p->n ? v + p->n : v - p->n;
}

// z of the tableau, which twofold numbers make exact to the last digit.
static double publish(Lcp* p) {
    for (int i = 0; i < p->n; ++i) {
        int at = p->where[p->n + i];
        p->z[i] = at >= 0 ? p->x[i] * *rhs(p, at) : 0;
    }
    double residual = lcp_residual(p);
    return residual <= p->tolerance ? residual : finish(p);
}

// What 1 in the variable is in the scaled tableau.
static double unit(const Lcp* p, int v) {
    return v < p->n ? p->r[v] : 1 / p->x[v - p->n];
}

// z0 enters where the smallest basic variable is, the last of equal ones. Returns the row, or -1
// when all are nonnegative: no pivot is needed.
static int choose_first(Lcp* p) {
    int row = -1;
    double worst = 0;
    for (int i = 0; i < p->n; ++i) {
        int v = p->basic[i];
        if (is_free_variable(p, v) || is_fixed_variable(p, v)) continue;
        double d = p->precise ? unit(p, v) : 1;
        *cell(p, i, p->n) = d;
        Twofold t = {d, 0};
        if (*rhs(p, i) >= 0) continue;
        if (row >= 0 && !before(p, i, t, row, (Twofold){worst, 0})) continue;
        row = i;
        worst = d;
    }
    return row;
}

static double follow_path(Lcp* p) {
    int n = p->n, limit = p->max_iterations > 0 ? p->max_iterations : 50 * n + 100;
    if (p->precise) set_scales(p);
    double scale = start_tableau(p), small = (p->precise ? 1e-13 : 1e-11) * scale;
    p->ray = false;
    eliminate_free(p, scale);
    int row = choose_first(p), count = p->iterations;
    if (row < 0) return p->precise ? publish(p) : finish(p);
    int left = p->basic[row];
    double largest_b = -*rhs(p, row) / *cell(p, row, n);
    exchange(p, row, n);
    while (p->iterations - count < limit && !lash_stop_asked(p->stop)) {
        int column = -1 - p->where[complement(p, left)];
        LASH_ASSERT(column >= 0);
        row = ratio_test(p, column, small, largest_b);
        if (row < 0) {
            p->ray = true;
            break;
        }
        left = p->basic[row];
        exchange(p, row, column);
        if (left == 2 * n) break;
    }
    return p->precise ? publish(p) : finish(p);
}

double lcp_lemke(Lcp* p) {
    p->precise = false;
    double residual = follow_path(p);
    if (residual <= p->tolerance || p->n > PRECISE_ROWS || lash_stop_asked(p->stop))
        return residual;
    p->precise = true;
    return follow_path(p);
}
