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
// afresh from A and b.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/lcp_internal.h"

// Variables: i < n is w_i, n <= i < 2n is z_(i-n), 2n is z0, -1 a dead column.
static double* cell(const Lcp* p, int row, int column) {
    return p->matrix + row + (size_t)column * (size_t)p->n;
}

static double* rhs(const Lcp* p, int row) {
    return cell(p, row, p->n + 1);
}

// The basic variable of the row leaves, the nonbasic one of the column enters.
static void exchange(Lcp* p, int row, int column) {
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
    int left = p->basic[row], entered = p->nonbasic[column];
    p->basic[row] = entered, p->nonbasic[column] = left;
    p->where[entered] = row, p->where[left] = -1 - column;
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
            if (is_fixed_variable(p, p->basic[i]) && fabs(*cell(p, i, j)) > largest)
                largest = fabs(*cell(p, i, j)), *row = i, *column = j;
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
                if (size > largest)
                    largest = size, best_row = r, best_column = c, best_free = j, best_fixed = k;
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
    for (;;) {
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

// Row i of the lexicographic matrix, entry k: rhs first, then the columns of w in order.
static double lexicographic(const Lcp* p, int row, int k) {
    if (k == 0) return *rhs(p, row);
    int at = p->where[k - 1];
    if (at >= 0) return at == row ? -1 : 0; // basic: minus a unit column in this sign convention
    return *cell(p, row, -1 - at);
}

// Is row a lexicographically before row b, both divided by their entries in the column?
static bool before(const Lcp* p, int a, double ta, int b, double tb) {
    for (int k = 0; k <= p->n; ++k) {
        double x = lexicographic(p, a, k) / ta, y = lexicographic(p, b, k) / tb;
        double size = fmax(fabs(x), fabs(y));
        if (k > 0) x = -x, y = -y;
        if (fabs(x - y) > 1e-12 * size + 1e-300) return x < y;
    }
    return false;
}

// Row that blocks the entering column, or -1. Restricted basic variables fall where T < 0. z0
// leaves whenever it can: the solution is reached.
static int ratio_test(const Lcp* p, int column, double small, double largest_b) {
    int best = -1, z0 = p->where[2 * p->n];
    double best_t = 1;
    for (int i = 0; i < p->n; ++i) {
        int v = p->basic[i];
        double t = -*cell(p, i, column);
        if (i == z0 || is_free_variable(p, v) || is_fixed_variable(p, v) || !(t > small)) continue;
        if (best < 0 || before(p, i, t, best, best_t)) best = i, best_t = t;
    }
    if (z0 < 0) return best;
    double t = -*cell(p, z0, column);
    if (!(t > small)) return best;
    // What would be left of z0 when the other row blocks: nothing but rounding?
    if (best < 0 || *rhs(p, z0) - t * *rhs(p, best) / best_t <= 1e-11 * largest_b) return z0;
    return best;
}

static double start_tableau(Lcp* p) {
    int n = p->n;
    double scale = 0;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            double a = p->A[(size_t)i + (size_t)j * (size_t)p->lda];
            *cell(p, i, j) = a;
            scale = fmax(scale, fabs(a));
        }
    for (int i = 0; i < n; ++i) {
        *rhs(p, i) = p->b[i], *cell(p, i, n) = 0;
        p->basic[i] = i, p->where[i] = i;
        p->nonbasic[i] = n + i, p->where[n + i] = -1 - i;
    }
    p->nonbasic[n] = 2 * n, p->where[2 * n] = -1 - n;
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

double lcp_lemke(Lcp* p) {
    int n = p->n, limit = p->max_iterations > 0 ? p->max_iterations : 50 * n + 100;
    double scale = start_tableau(p), small = 1e-11 * scale, worst = 0;
    int row = -1;
    p->ray = false;
    eliminate_free(p, scale);
    for (int i = 0; i < n; ++i) {
        int v = p->basic[i];
        if (is_free_variable(p, v) || is_fixed_variable(p, v)) continue;
        *cell(p, i, n) = 1;
        if (*rhs(p, i) < worst || (row >= 0 && *rhs(p, i) == worst && before(p, i, 1, row, 1)))
            worst = *rhs(p, i), row = i;
    }
    if (row < 0) return finish(p);
    int left = p->basic[row], count = p->iterations;
    double largest_b = -worst;
    exchange(p, row, n);
    while (p->iterations - count < limit) {
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
    return finish(p);
}
