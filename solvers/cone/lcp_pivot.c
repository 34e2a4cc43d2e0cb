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
static double* cell(const Lcp* lcp, int row, int column) {
    return lcp->matrix + row + (size_t)column * (size_t)lcp->n;
}

static double* rhs(const Lcp* lcp, int row) {
    return cell(lcp, row, lcp->n + 1);
}

static Twofold number(const Lcp* lcp, int row, int column) {
    size_t at = (size_t)row + (size_t)column * (size_t)lcp->n;
    return (Twofold){lcp->matrix[at], lcp->precise ? lcp->matrix2[at] : 0};
}

static void set_number(Lcp* lcp, int row, int column, Twofold x) {
    size_t at = (size_t)row + (size_t)column * (size_t)lcp->n;
    lcp->matrix[at] = x.high;
    lcp->matrix2[at] = x.low;
    lcp->growth = fmax(lcp->growth, fabs(x.high));
}

static void pivot_precise(Lcp* lcp, int row, int column) {
    int n = lcp->n;
    Twofold inverse = twofold_divide((Twofold){1, 0}, number(lcp, row, column));
    for (int j = 0; j <= n + 1; ++j) {
        Twofold s = twofold_multiply(number(lcp, row, j), inverse);
        if (j == column || s.high == 0) continue;
        for (int i = 0; i < n; ++i) {
            Twofold t = number(lcp, i, column);
            if (i == row || t.high == 0) continue;
            Twofold old = number(lcp, i, j), change = twofold_multiply(s, t);
            Twofold left = twofold_subtract(old, change);
            bool none = fabs(left.high) <= PRECISE_NOISE * fabs(old.high);
            set_number(lcp, i, j, none ? (Twofold){0, 0} : left);
        }
        set_number(lcp, row, j, (Twofold){-s.high, -s.low});
    }
    for (int i = 0; i < n; ++i)
        set_number(lcp, i, column, twofold_multiply(number(lcp, i, column), inverse));
    set_number(lcp, row, column, inverse);
}

static void pivot_plain(Lcp* lcp, int row, int column) {
    int n = lcp->n;
    double* pivot_column = cell(lcp, 0, column);
    double inverse = 1 / pivot_column[row];
    for (int j = 0; j <= n + 1; ++j) {
        if (j == column) continue;
        double* c = cell(lcp, 0, j);
        double s = c[row] * inverse;
        if (s == 0) continue;
        for (int i = 0; i < n; ++i) c[i] -= s * pivot_column[i];
        c[row] = -s;
    }
    for (int i = 0; i < n; ++i) pivot_column[i] *= inverse;
    pivot_column[row] = inverse;
}

// The basic variable of the row leaves, the nonbasic one of the column enters.
static void exchange(Lcp* lcp, int row, int column) {
    if (lcp->precise)
        pivot_precise(lcp, row, column);
    else
        pivot_plain(lcp, row, column);
    int left = lcp->basic[row], entered = lcp->nonbasic[column];
    lcp->basic[row] = entered;
    lcp->nonbasic[column] = left;
    lcp->where[entered] = row;
    lcp->where[left] = -1 - column;
    lcp->iterations++;
}

static bool is_free_variable(const Lcp* lcp, int v) {
    return v >= lcp->n && v < 2 * lcp->n && lcp_free(lcp, v - lcp->n);
}

static bool is_fixed_variable(const Lcp* lcp, int v) { // w of a free row: always 0
    return v >= 0 && v < lcp->n && lcp_free(lcp, v);
}

// Largest entry among rows of fixed w and columns of free z.
static double find_free_pivot(const Lcp* lcp, int* row, int* column) {
    double largest = 0;
    for (int j = 0; j < lcp->n; ++j) {
        if (!is_free_variable(lcp, lcp->nonbasic[j])) continue;
        for (int i = 0; i < lcp->n; ++i)
            if (is_fixed_variable(lcp, lcp->basic[i]) && fabs(*cell(lcp, i, j)) > largest) {
                largest = fabs(*cell(lcp, i, j));
                *row = i;
                *column = j;
            }
    }
    return largest;
}

// A free column (or fixed row) that no other free pivot serves: paired with a contact.
static bool pivot_pair(Lcp* lcp, double small) {
    int n = lcp->n, best_row = -1, best_column = -1, best_free = -1, best_fixed = -1;
    double largest = 0;
    for (int j = 0; j < n; ++j) {
        if (!is_free_variable(lcp, lcp->nonbasic[j])) continue;
        for (int k = 0; k < n; ++k) {
            if (!is_fixed_variable(lcp, lcp->basic[k])) continue;
            for (int i = 0; i < n; ++i) { // contact i: w_i basic in row r, z_i nonbasic in column c
                int r = lcp->where[i], c = -1 - lcp->where[n + i];
                if (lcp_free(lcp, i) || r < 0 || c < 0) continue;
                double size = fmin(fabs(*cell(lcp, r, j)), fabs(*cell(lcp, k, c)));
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
    exchange(lcp, best_row, best_free); // z_free enters, w_i leaves
    if (!(fabs(*cell(lcp, best_fixed, best_column)) > small)) return false;
    exchange(lcp, best_fixed, best_column); // z_i enters, fixed w leaves
    return true;
}

// Brings free variables into the basis. Returns false when a row 0 = const is left.
static bool eliminate_free(Lcp* lcp, double scale) {
    double small = 1e-10 * scale;
    int row = 0, column = 0;
    while (!lash_stop_asked(lcp->stop)) {
        if (find_free_pivot(lcp, &row, &column) > small)
            exchange(lcp, row, column);
        else if (!pivot_pair(lcp, small))
            break;
    }
    for (int j = 0; j < lcp->n; ++j) { // columns of fixed w and of free z nobody needs stay at 0
        int v = lcp->nonbasic[j];
        if (is_fixed_variable(lcp, v) || is_free_variable(lcp, v))
            memset(cell(lcp, 0, j), 0, (size_t)lcp->n * sizeof(double));
    }
    return true;
}

// Row i of the lexicographic matrix (B^-1 b, B^-1), entry k: rhs first, then w in order, whose
// columns stand in the tableau with the other sign.
static Twofold lexicographic(const Lcp* lcp, int row, int k) {
    if (k == 0) return number(lcp, row, lcp->n + 1);
    int at = lcp->where[k - 1];
    if (at >= 0) return (Twofold){at == row ? 1 : 0, 0}; // basic: a unit column
    Twofold x = number(lcp, row, -1 - at);
    return (Twofold){-x.high, -x.low};
}

// Is row a lexicographically before row b, both divided by their (positive) entries in the column?
static bool before(const Lcp* lcp, int a, Twofold ta, int b, Twofold tb) {
    for (int k = 0; k <= lcp->n; ++k) {
        Twofold x = lexicographic(lcp, a, k), y = lexicographic(lcp, b, k);
        if (lcp->precise) {
            Twofold d = twofold_subtract(twofold_multiply(x, tb), twofold_multiply(y, ta));
            if (fabs(d.high) > PRECISE_NOISE * lcp->growth * (ta.high + tb.high)) return d.high < 0;
            continue;
        }
        double u = x.high / ta.high, v = y.high / tb.high, size = fmax(fabs(u), fabs(v));
        double start = (k == 0 ? lcp->b_largest : 1) * (1 / ta.high + 1 / tb.high);
        if (fabs(u - v) > 1e-12 * size + 1e-13 * start) return u < v; // what is 0 is rounding
    }
    return false;
}

// Row that blocks the entering column, or -1. Restricted basic variables fall where T < 0. z0
// leaves whenever it can: the solution is reached.
static int ratio_test(const Lcp* lcp, int column, double small, double largest_b) {
    int best = -1, z0 = lcp->where[2 * lcp->n];
    Twofold best_t = {1, 0};
    for (int i = 0; i < lcp->n; ++i) {
        int v = lcp->basic[i];
        Twofold t = number(lcp, i, column);
        t = (Twofold){-t.high, -t.low};
        if (i == z0 || is_free_variable(lcp, v) || is_fixed_variable(lcp, v)) continue;
        if (!(t.high > small)) continue;
        if (best >= 0 && !before(lcp, i, t, best, best_t)) continue;
        best = i;
        best_t = t;
    }
    if (z0 < 0) return best;
    double t = -*cell(lcp, z0, column);
    if (!(t > small)) return best;
    // What would be left of z0 when the other row blocks: nothing but rounding?
    double rounding = (lcp->precise ? 1e-13 : 1e-11) * largest_b;
    if (best < 0 || *rhs(lcp, z0) - t * *rhs(lcp, best) / best_t.high <= rounding) return z0;
    return best;
}

// Powers of two that bring the largest entry of every row and column near 1, in p->r and p->x.
static void set_scales(Lcp* lcp) {
    double *row = lcp->r, *column = lcp->x;
    for (int i = 0; i < lcp->n; ++i) row[i] = column[i] = 1;
    for (int pass = 0; pass < 6; ++pass) {
        double *scale = pass % 2 == 0 ? row : column, *other = pass % 2 == 0 ? column : row;
        for (int i = 0; i < lcp->n; ++i) {
            double largest = 0;
            for (int j = 0; j < lcp->n; ++j) {
                size_t at = pass % 2 == 0 ? (size_t)i + (size_t)j * (size_t)lcp->lda
                                          : (size_t)j + (size_t)i * (size_t)lcp->lda;
                largest = fmax(largest, fabs(lcp->A[at]) * other[j]);
            }
            int exponent = 0;
            if (!(largest > 0 && largest < INFINITY)) continue;
            frexp(largest, &exponent);
            if (abs(exponent) < 500) scale[i] = ldexp(1, -exponent);
        }
    }
}

static double start_tableau(Lcp* lcp) {
    int n = lcp->n;
    double scale = 0;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            double a = lcp->A[(size_t)i + (size_t)j * (size_t)lcp->lda];
            if (lcp->precise) a *= lcp->r[i] * lcp->x[j];
            *cell(lcp, i, j) = a;
            scale = fmax(scale, fabs(a));
        }
    for (int i = 0; i < n; ++i) {
        *rhs(lcp, i) = lcp->precise ? lcp->r[i] * lcp->b[i] : lcp->b[i];
        *cell(lcp, i, n) = 0;
        lcp->basic[i] = i;
        lcp->where[i] = i;
        lcp->nonbasic[i] = n + i;
        lcp->where[n + i] = -1 - i;
    }
    lcp->nonbasic[n] = 2 * n;
    lcp->where[2 * n] = -1 - n;
    lcp->b_largest = 0;
    for (int i = 0; i < n; ++i) lcp->b_largest = fmax(lcp->b_largest, fabs(*rhs(lcp, i)));
    lcp->growth = fmax(fmax(scale, 1), lcp->b_largest);
    if (lcp->precise) memset(lcp->matrix2, 0, (size_t)n * (size_t)(n + 2) * sizeof(double));
    return scale;
}

static double finish(Lcp* lcp) {
    uint8_t* in = (uint8_t*)lcp->x;
    for (int i = 0; i < lcp->n; ++i) in[i] = lcp->where[lcp->n + i] >= 0;
    return lcp_solve_basis(lcp, in);
}

// Complement of a variable that just left.
static int complement(const Lcp* lcp, int v) {
    return v < lcp->n ? v + lcp->n : v - lcp->n;
}

// z of the tableau, which twofold numbers make exact to the last digit.
static double publish(Lcp* lcp) {
    for (int i = 0; i < lcp->n; ++i) {
        int at = lcp->where[lcp->n + i];
        lcp->z[i] = at >= 0 ? lcp->x[i] * *rhs(lcp, at) : 0;
    }
    double residual = lcp_residual(lcp);
    return residual <= lcp->tolerance ? residual : finish(lcp);
}

// What 1 in the variable is in the scaled tableau.
static double unit(const Lcp* lcp, int v) {
    return v < lcp->n ? lcp->r[v] : 1 / lcp->x[v - lcp->n];
}

// z0 enters where the smallest basic variable is, the last of equal ones. Returns the row, or -1
// when all are nonnegative: no pivot is needed.
static int choose_first(Lcp* lcp) {
    int row = -1;
    double worst = 0;
    for (int i = 0; i < lcp->n; ++i) {
        int v = lcp->basic[i];
        if (is_free_variable(lcp, v) || is_fixed_variable(lcp, v)) continue;
        double d = lcp->precise ? unit(lcp, v) : 1;
        *cell(lcp, i, lcp->n) = d;
        Twofold t = {d, 0};
        if (*rhs(lcp, i) >= 0) continue;
        if (row >= 0 && !before(lcp, i, t, row, (Twofold){worst, 0})) continue;
        row = i;
        worst = d;
    }
    return row;
}

static double follow_path(Lcp* lcp) {
    int n = lcp->n, limit = lcp->max_iterations > 0 ? lcp->max_iterations : 50 * n + 100;
    if (lcp->precise) set_scales(lcp);
    double scale = start_tableau(lcp), small = (lcp->precise ? 1e-13 : 1e-11) * scale;
    lcp->ray = false;
    eliminate_free(lcp, scale);
    int row = choose_first(lcp), count = lcp->iterations;
    if (row < 0) return lcp->precise ? publish(lcp) : finish(lcp);
    int left = lcp->basic[row];
    double largest_b = -*rhs(lcp, row) / *cell(lcp, row, n);
    exchange(lcp, row, n);
    while (lcp->iterations - count < limit && !lash_stop_asked(lcp->stop)) {
        int column = -1 - lcp->where[complement(lcp, left)];
        LASH_ASSERT(column >= 0);
        row = ratio_test(lcp, column, small, largest_b);
        if (row < 0) {
            lcp->ray = true;
            break;
        }
        left = lcp->basic[row];
        exchange(lcp, row, column);
        if (left == 2 * n) break;
    }
    return lcp->precise ? publish(lcp) : finish(lcp);
}

double lcp_lemke(Lcp* lcp) {
    lcp->precise = false;
    double residual = follow_path(lcp);
    if (residual <= lcp->tolerance || lcp->n > PRECISE_ROWS || lash_stop_asked(lcp->stop))
        return residual;
    lcp->precise = true;
    return follow_path(lcp);
}
