// The global layout of friction problems, with velocities v and masses M:
//
//     M v = q + H P,    U = H' v + b,    contacts:  C_mu  contains  P  perp  U + (mu |U_T|, 0, 0)
//
// M is factorised once, and the contacts see W = H' M^-1 H, b + H' M^-1 q. Rows of M that are not
// coupled are factorised apart (the bodies of a mechanism), each as a band in reverse Cuthill-McKee
// order, so that both small bodies and meshes stay sparse. What is told about an answer P comes
// from M, H, q and b themselves, not from W.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/bench/problem_internal.h"
#include "core/arena.h"
#include "solvers/linear/dense.h"

static const double LARGEST_BAND = 4e7;   // numbers of the factors of M: 320 MB
static const size_t LARGEST_W = 20000000; // entries of W: 320 MB

typedef struct Compressed { // rows or columns of a matrix, one after the other
    int count;              // of them
    int *pointer, *index;   // (count + 1), (entries)
    double* value;          // (entries)
} Compressed;

typedef struct Part { // rows first .. first + size of M in its new order, coupled with no others
    int first, size;
    int half;    // of its band, to each side
    size_t band; // first number of its factors
} Part;

struct AppGlobal {
    int n, m;             // velocities, rows of contacts
    Compressed M_rows;    // in the new order
    Compressed H_rows;    // (n) in the new order
    Compressed H_columns; // (m) indexes in the new order
    double *q, *b;        // (n) in the new order, (m)
    Part* part;
    int parts;
    int32_t *owner, *pivot; // (n) part of a row; pivots of the factors
    double* band;           // factors
    double *v, *r;          // (n) scratch
};

static void free_compressed(Compressed* compressed) {
    lash_free(compressed->pointer);
    lash_free(compressed->index);
    lash_free(compressed->value);
}

void problem_free_global(AppGlobal* global) {
    if (global == NULL) return;
    free_compressed(&global->M_rows);
    free_compressed(&global->H_rows);
    free_compressed(&global->H_columns);
    lash_free(global->q);
    lash_free(global->b);
    lash_free(global->part);
    lash_free(global->owner);
    lash_free(global->pivot);
    lash_free(global->band);
    lash_free(global->v);
    lash_free(global->r);
    lash_free(global);
}

// By rows, or by columns when turned. to: the new number of each row of the matrix; columns: of
// each of its columns, or NULL.
static Compressed compress(const ProblemMatrix* problem_matrix, bool turned, const int32_t* rows,
                           const int32_t* columns) {
    Compressed c = {.count = turned ? problem_matrix->columns : problem_matrix->rows};
    c.pointer = lash_alloc(((size_t)c.count + 1) * sizeof(int));
    c.index = lash_alloc(problem_matrix->count * sizeof(int));
    c.value = lash_alloc(problem_matrix->count * sizeof(double));
    int* fill = lash_alloc(((size_t)c.count + 1) * sizeof(int));
    for (int pass = 0; pass < 2; ++pass) {
        for (size_t k = 0; k < problem_matrix->count; ++k) {
            int row = rows[problem_matrix->entry[k].row], column = problem_matrix->entry[k].column;
            if (columns != NULL) column = columns[column];
            int major = turned ? column : row;
            if (pass == 0) {
                c.pointer[major + 1]++;
                continue;
            }
            c.index[fill[major]] = turned ? row : column;
            c.value[fill[major]++] = problem_matrix->entry[k].value;
        }
        for (int i = 0; pass == 0 && i < c.count; ++i) {
            c.pointer[i + 1] += c.pointer[i];
            fill[i + 1] = c.pointer[i + 1];
        }
    }
    lash_free(fill);
    return c;
}

// New numbers of the rows of M: those that are coupled stand near each other.
static int32_t* order_rows(const ProblemMatrix* M) {
    size_t n = (size_t)M->rows;
    uint8_t* kind = lash_alloc(n); // single rows
    LashBlockSparse pattern;
    problem_sparse(M, M->rows, kind, &pattern);
    int32_t *order = lash_alloc(n * sizeof(int32_t)), *number = lash_alloc(n * sizeof(int32_t));
    int32_t* work = lash_alloc(3 * n * sizeof(int32_t));
    lash_block_sparse_order(&pattern, order, work);
    for (int i = 0; i < M->rows; ++i) number[order[i]] = i;
    problem_free_sparse(&pattern);
    lash_free(kind);
    lash_free(order);
    lash_free(work);
    return number;
}

// Cuts the rows into parts that are not coupled. Returns the numbers that their factors take.
static double find_parts(AppGlobal* global) {
    int* reach =
        lash_alloc((size_t)global->n * sizeof(int)); // last row coupled with the rows up to this
    int* half = lash_alloc((size_t)global->n * sizeof(int));
    for (int i = 0; i < global->n; ++i) reach[i] = i;
    for (int i = 0; i < global->n; ++i)
        for (int k = global->M_rows.pointer[i]; k < global->M_rows.pointer[i + 1]; ++k) {
            int j = global->M_rows.index[k], low = i < j ? i : j, high = i < j ? j : i;
            if (reach[low] < high) reach[low] = high;
            if (half[low] < high - low) half[low] = high - low;
        }
    double size = 0;
    int last = -1;
    for (int i = 0; i < global->n; ++i) {
        if (i > last) {
            global->part[global->parts++] = (Part){.first = i};
            last = i;
        }
        Part* part = global->part + global->parts - 1;
        if (reach[i] > last) last = reach[i];
        if (half[i] > part->half) part->half = half[i];
        part->size++;
        global->owner[i] = global->parts - 1;
        if (i < last) continue;
        part->band = (size_t)fmin(size, LARGEST_BAND);
        size += (double)part->size * (3.0 * part->half + 1);
    }
    lash_free(reach);
    lash_free(half);
    return size;
}

static bool factorise(AppGlobal* global) {
    for (int p = 0; p < global->parts; ++p) {
        const Part* part = global->part + p;
        int ld = 3 * part->half + 1;
        double* band = global->band + part->band;
        for (int i = 0; i < part->size; ++i) {
            int row = part->first + i;
            for (int k = global->M_rows.pointer[row]; k < global->M_rows.pointer[row + 1]; ++k) {
                int j = global->M_rows.index[k] - part->first;
                band[(size_t)(2 * part->half + i - j) + (size_t)j * (size_t)ld] +=
                    global->M_rows.value[k];
            }
        }
        if (!lash_dense_band_lu(part->size, part->half, part->half, band, ld,
                                global->pivot + part->first))
            return false;
    }
    return true;
}

static void solve_part(const AppGlobal* global, const Part* part, double* x) {
    lash_dense_band_solve(part->size, part->half, part->half, global->band + part->band,
                          3 * part->half + 1, global->pivot + part->first, x + part->first);
}

// v = M^-1 (q + H P), once refined; P NULL: without impulses. Returns |M v - q - H P|.
static double velocity(const AppGlobal* global, const double* P) {
    double norm = INFINITY;
    memset(global->v, 0, (size_t)global->n * sizeof(double));
    for (int pass = 0; pass < 3; ++pass) {
        norm = 0;
        for (int i = 0; i < global->n; ++i) {
            double r = global->q[i];
            for (int k = global->H_rows.pointer[i]; P != NULL && k < global->H_rows.pointer[i + 1];
                 ++k)
                r += global->H_rows.value[k] * P[global->H_rows.index[k]];
            for (int k = global->M_rows.pointer[i]; k < global->M_rows.pointer[i + 1]; ++k)
                r -= global->M_rows.value[k] * global->v[global->M_rows.index[k]];
            global->r[i] = r;
            norm += r * r;
        }
        if (pass == 2) break;
        for (int p = 0; p < global->parts; ++p) solve_part(global, global->part + p, global->r);
        for (int i = 0; i < global->n; ++i) global->v[i] += global->r[i];
    }
    return sqrt(norm);
}

// U = H' v + b
static void contact_velocity(const AppGlobal* global, double* U) {
    for (int j = 0; j < global->m; ++j) {
        U[j] = global->b[j];
        for (int k = global->H_columns.pointer[j]; k < global->H_columns.pointer[j + 1]; ++k)
            U[j] += global->H_columns.value[k] * global->v[global->H_columns.index[k]];
    }
}

typedef struct Column {        // of W, being summed
    double* value;             // (m)
    int *rows, count;          // (m) those that are not 0
    int *row_mark, *part_mark; // (m), (parts) 1 + the latest column that reached it
} Column;

// x = M^-1 H_j on one part, H' x into the column.
static void add_part(AppGlobal* global, const Part* part, int j, Column* column) {
    const Compressed* H = &global->H_rows;
    solve_part(global, part, global->v);
    for (int i = part->first; i < part->first + part->size; ++i) {
        double x = global->v[i];
        global->v[i] = 0;
        if (x == 0) continue;
        for (int k = H->pointer[i]; k < H->pointer[i + 1]; ++k) {
            int row = H->index[k];
            if (column->row_mark[row] != j + 1) {
                column->row_mark[row] = j + 1;
                column->rows[column->count++] = row;
                column->value[row] = 0;
            }
            column->value[row] += H->value[k] * x;
        }
    }
}

// Column j of W = H' M^-1 H, from the parts that its row acts on.
static void add_column(AppGlobal* global, int j, Column* column, ProblemMatrix* W) {
    const Compressed* H = &global->H_columns;
    column->count = 0;
    for (int k = H->pointer[j]; k < H->pointer[j + 1]; ++k) global->v[H->index[k]] += H->value[k];
    for (int k = H->pointer[j]; k < H->pointer[j + 1]; ++k) {
        int part = global->owner[H->index[k]];
        if (column->part_mark[part] == j + 1) continue;
        column->part_mark[part] = j + 1;
        add_part(global, global->part + part, j, column);
    }
    for (int k = 0; k < column->count; ++k)
        problem_add_entry(W, column->rows[k], j, column->value[column->rows[k]]);
}

static bool all_finite(const ProblemMatrix* W, int m, const double* b) {
    double sum = 0;
    for (size_t k = 0; k < W->count; ++k) sum += 0 * W->entry[k].value;
    for (int i = 0; i < m; ++i) sum += 0 * b[i];
    return sum == 0;
}

// W and b of the contacts. r: for messages.
static bool reduce(ProblemReader* reader, AppProblem* problem) {
    AppGlobal* g = problem->global;
    size_t m = (size_t)g->m;
    ProblemMatrix W = {.rows = g->m, .columns = g->m};
    Column column = {.value = lash_alloc(m * sizeof(double)), .rows = lash_alloc(m * sizeof(int))};
    column.row_mark = lash_alloc(m * sizeof(int));
    column.part_mark = lash_alloc((size_t)g->parts * sizeof(int));
    double* b = lash_alloc(m * sizeof(double));
    problem->friction.b = b;
    velocity(g, NULL);
    contact_velocity(g, b);
    memset(g->v, 0, (size_t)g->n * sizeof(double));
    for (int j = 0; j < g->m && W.count <= LARGEST_W; ++j) add_column(g, j, &column, &W);
    lash_free(column.value);
    lash_free(column.rows);
    lash_free(column.row_mark);
    lash_free(column.part_mark);
    bool ok = true;
    if (W.count > LARGEST_W)
        ok = problem_fail(reader, "at most 2e7 entries in H' M^-1 H before");
    else if (!all_finite(&W, g->m, b))
        ok = problem_fail(reader, "a regular matrix M before");
    if (ok) problem_set_matrix(problem, &W);
    problem_free_matrix(&W);
    return ok;
}

// Copies M and H in the new order and factorises M.
static bool prepare(ProblemReader* reader, AppGlobal* global, const ProblemMatrix* M,
                    const ProblemMatrix* H, const int32_t* number) {
    size_t n = (size_t)global->n;
    global->M_rows = compress(M, false, number, number);
    global->H_rows = compress(H, false, number, NULL);
    global->H_columns = compress(H, true, number, NULL);
    global->part = lash_alloc(n * sizeof(Part));
    global->owner = lash_alloc(n * sizeof(int32_t));
    global->pivot = lash_alloc(n * sizeof(int32_t));
    global->v = lash_alloc(n * sizeof(double));
    global->r = lash_alloc(n * sizeof(double));
    double size = find_parts(global);
    if (size > LARGEST_BAND)
        return problem_fail(reader, "a sparser matrix M before (its band is wide)");
    global->band = lash_alloc((size_t)size * sizeof(double));
    return factorise(global) || problem_fail(reader, "a regular matrix M before");
}

// q and b; the entries of q find their new places.
static bool read_vectors(ProblemReader* reader, AppGlobal* global, const int32_t* number) {
    global->q = lash_alloc((size_t)global->n * sizeof(double));
    global->b = lash_alloc((size_t)global->m * sizeof(double));
    for (int i = 0; i < global->n; ++i)
        if (!problem_read_double(reader, global->q + number[i], "an entry of q")) return false;
    return problem_read_doubles(reader, global->m, global->b, "an entry of b");
}

bool problem_read_global(ProblemReader* reader, AppProblem* problem) {
    ProblemMatrix M = {0}, H = {0};
    bool ok = problem_read_square(reader, &M) && problem_read_matrix(reader, &H);
    if (ok && (H.rows != M.rows || H.columns != problem->friction.m))
        ok = problem_fail(reader,
                          "a matrix H with the rows of M and dimension times contacts columns");
    if (ok) {
        AppGlobal* g = problem->global = lash_alloc(sizeof *g);
        g->n = M.rows;
        g->m = H.columns;
        int32_t* number = order_rows(&M);
        ok = read_vectors(reader, g, number) && prepare(reader, g, &M, &H, number) &&
             reduce(reader, problem);
        lash_free(number);
    }
    problem_free_matrix(&M);
    problem_free_matrix(&H);
    return ok;
}

static double norm_of(int count, const double* x) {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += x[i] * x[i];
    return sqrt(sum);
}

// |P - proj(P - u)|^2 of one contact, u = U + (mu |U_T|, 0, 0), proj onto |P_T| <= mu P_N.
static double natural(int rows, double mu, const double* P, const double* U) {
    double slip = rows == 3 ? hypot(U[1], U[2]) : fabs(U[1]), x[3] = {0, 0, 0}, sum = 0;
    for (int i = 0; i < rows; ++i) x[i] = P[i] - U[i];
    x[0] -= mu * slip;
    double t = hypot(x[1], x[2]), scale = 1;
    if (mu * t <= -x[0]) { // nearest: the tip
        x[0] = 0;
        scale = 0;
    } else if (t > mu * x[0]) { // nearest: the mantle
        x[0] = (x[0] + mu * t) / (1 + mu * mu);
        scale = mu * x[0] / t;
    }
    for (int i = 0; i < rows; ++i) {
        double d = P[i] - (i == 0 ? x[0] : scale * x[i]);
        sum += d * d;
    }
    return sum;
}

double app_problem_residual(const AppProblem* problem, const double* P) {
    const LashFrictionProblem* friction_problem = &problem->friction;
    double* U = lash_alloc((size_t)friction_problem->m * sizeof(double));
    double residual = 0;
    if (problem->global == NULL) {
        residual = lash_friction_residual(friction_problem, LASH_MEASURE_PLAIN, P, U);
    } else {
        const AppGlobal* g = problem->global;
        double motion = velocity(g, P) / (1 + norm_of(g->n, g->q)), sum = 0;
        contact_velocity(g, U);
        for (int i = 0, row = 0; i < friction_problem->contacts;
             row += friction_problem->kind[i], ++i)
            sum += natural(friction_problem->kind[i], friction_problem->mu[i], P + row, U + row);
        residual = sqrt(sum) / (1 + norm_of(g->m, friction_problem->b));
        if (!(motion <= residual)) residual = motion;
    }
    lash_free(U);
    return residual;
}
