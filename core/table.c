// Tables.
//
//   linear   f = (1 - u) f_0 + u f_1 in a cell of width h, u = (x - x_0) / h; two variables: bilinear
//   cubic    f = H_00(u) f_0 + H_10(u) h m_0 + H_01(u) f_1 + H_11(u) h m_1,
//            H_00 = (1 + 2u)(1 - u)^2, H_10 = u (1 - u)^2, H_01 = u^2 (3 - 2u), H_11 = u^2 (u - 1)
//   slopes m that keep it monotone where the points are (Fritsch and Butland 1984): 0 at an extremum,
//            else the harmonic mean 3 (h_0 + h_1) / (w_0 / d_0 + w_1 / d_1), w_0 = 2 h_1 + h_0,
//            w_1 = h_1 + 2 h_0, d the differences beside the point; at the ends a parabola, held to
//            the sign and to three times the difference beside it
//   two      tensor product of the cubics with f, f_x, f_y (monotone slopes along the grid lines) and
//            f_xy, the mean of the parabolic slopes of f_x along y and of f_y along x. On a grid line
//            it is the cubic of that line.
//
// Outside, with (c, d) the nearest point of the box: f + f_x (x - c) + f_y (y - d) + f_xy (x - c)(y - d).
#include "core/table.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/arena.h"

struct LashTable {
    atomic_int owners;
    char* name;
    int nx, ny; // ny 1: of one variable
    int variables;
    LashTableKind kind;
    LashTableOutside outside;
    double *x, *y;
    double *f, *fx, *fy, *fxy; // (nx x ny); slopes of a cubic
};

// ---- slopes -------------------------------------------------------------------------------------

static double end_slope(double h0, double h1, double d0, double d1) {
    double m = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (m * d0 <= 0) return 0;
    return d0 * d1 <= 0 && fabs(m) > 3 * fabs(d0) ? 3 * d0 : m;
}

static double inner_slope(double h0, double h1, double d0, double d1) {
    if (!(d0 * d1 > 0)) return 0;
    double w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
    return (w0 + w1) / (w0 / d0 + w1 / d1);
}

// Slope at point i of f along x, n points, a stride between them.
static double monotone_slope(const double* x, const double* f, int n, int stride, int i) {
    int k = i == 0 ? 0 : i - 1; // first cell of two
    if (n == 2) return (f[stride] - f[0]) / (x[1] - x[0]);
    if (k > n - 3) k = n - 3;
    double h0 = x[k + 1] - x[k], h1 = x[k + 2] - x[k + 1];
    double d0 = (f[(k + 1) * stride] - f[k * stride]) / h0;
    double d1 = (f[(k + 2) * stride] - f[(k + 1) * stride]) / h1;
    if (i == k) return end_slope(h0, h1, d0, d1);
    return i == k + 1 ? inner_slope(h0, h1, d0, d1) : end_slope(h1, h0, d1, d0);
}

// Of the parabola through three neighbours.
static double parabolic_slope(const double* x, const double* f, int n, int stride, int i) {
    int k = i == 0 ? 0 : i - 1;
    if (n == 2) return (f[stride] - f[0]) / (x[1] - x[0]);
    if (k > n - 3) k = n - 3;
    double h0 = x[k + 1] - x[k], h1 = x[k + 2] - x[k + 1];
    double d0 = (f[(k + 1) * stride] - f[k * stride]) / h0;
    double d1 = (f[(k + 2) * stride] - f[(k + 1) * stride]) / h1;
    double curve = (d1 - d0) / (h0 + h1);
    return d0 + curve * (2 * x[i] - x[k] - x[k + 1]);
}

static void find_slopes(LashTable* table) {
    int nx = table->nx, ny = table->ny;
    for (int i = 0; i < nx; ++i) {
        for (int j = 0; j < ny; ++j) {
            table->fx[i * ny + j] = monotone_slope(table->x, table->f + j, nx, ny, i);
            if (ny > 1)
                table->fy[i * ny + j] = monotone_slope(table->y, table->f + i * ny, ny, 1, j);
        }
    }
    for (int i = 0; i < nx && ny > 1; ++i) {
        for (int j = 0; j < ny; ++j)
            table->fxy[i * ny + j] =
                0.5 * (parabolic_slope(table->y, table->fx + i * ny, ny, 1, j) +
                       parabolic_slope(table->x, table->fy + j, nx, ny, i));
    }
}

// ---- making -------------------------------------------------------------------------------------

static bool check_points(const char* name, const char* axis, const double* x, int n,
                         LashError* error) {
    if (n < 2)
        return lash_error_set(error, LASH_ERROR_MODEL, name,
                              "a table needs 2 points or more along %s, found %d", axis, n);
    for (int i = 0; i < n; ++i) {
        if (!isfinite(x[i]))
            return lash_error_set(error, LASH_ERROR_MODEL, name, "%s[%d] is no number", axis, i);
        if (i > 0 && !(x[i] > x[i - 1]))
            return lash_error_set(error, LASH_ERROR_MODEL, name,
                                  "%s must rise from point to point, found %g behind %g at %s[%d]",
                                  axis, x[i], x[i - 1], axis, i);
    }
    return true;
}

LashTable* lash_table_create(const LashTableDef* def, LashError* error) {
    if (def == NULL || def->name == NULL || def->x == NULL || def->value == NULL) {
        lash_error_null(error, "a table, its name, points and values");
        return NULL;
    }
    bool two = def->y != NULL;
    if (!check_points(def->name, "x", def->x, def->nx, error)) return NULL;
    if (two && !check_points(def->name, "y", def->y, def->ny, error)) return NULL;
    size_t nx = (size_t)def->nx, ny = two ? (size_t)def->ny : 1, n = nx * ny;
    for (size_t i = 0; i < n; ++i) {
        if (isfinite(def->value[i])) continue;
        lash_error_set(error, LASH_ERROR_MODEL, def->name, "value %zu is no number", i);
        return NULL;
    }
    LashTable* table = lash_alloc(sizeof *table);
    double* memory = lash_alloc((nx + ny + 4 * n) * sizeof *memory);
    *table = (LashTable){.name = lash_strdup(def->name),
                         .nx = (int)nx,
                         .ny = (int)ny,
                         .variables = two ? 2 : 1,
                         .kind = def->kind,
                         .outside = def->outside,
                         .x = memory,
                         .y = memory + nx,
                         .f = memory + nx + ny,
                         .fx = memory + nx + ny + n,
                         .fy = memory + nx + ny + 2 * n,
                         .fxy = memory + nx + ny + 3 * n};
    atomic_init(&table->owners, 1);
    memcpy(table->x, def->x, nx * sizeof *table->x);
    if (two) memcpy(table->y, def->y, ny * sizeof *table->y);
    memcpy(table->f, def->value, n * sizeof *table->f);
    if (table->kind == LASH_TABLE_CUBIC) find_slopes(table);
    return table;
}

LashTable* lash_table_share(LashTable* table) {
    atomic_fetch_add(&table->owners, 1);
    return table;
}

void lash_table_destroy(LashTable* table) {
    if (table == NULL || atomic_fetch_sub(&table->owners, 1) > 1) return;
    lash_free(table->x);
    lash_free(table->name);
    lash_free(table);
}

const char* lash_table_name(const LashTable* table) {
    return table->name;
}

int lash_table_variables(const LashTable* table) {
    return table->variables;
}

int lash_table_points(const LashTable* table, const double** x, const double** value) {
    *x = table->x;
    *value = table->f;
    return table->nx;
}

// ---- reading ------------------------------------------------------------------------------------

// The cell of x, which lies between the ends.
static int cell_of(const double* x, int n, double at) {
    int low = 0, high = n - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (x[middle] <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Weights of (f_0, f_1, m_0, m_1) in a cell of width h, and their derivatives by x.
typedef struct Basis {
    double w[4], d[4];
} Basis;

static Basis basis_at(LashTableKind kind, double u, double h) {
    if (kind == LASH_TABLE_LINEAR) return (Basis){{1 - u, u, 0, 0}, {-1 / h, 1 / h, 0, 0}};
    double r = 1 - u;
    return (Basis){{(1 + 2 * u) * r * r, u * u * (3 - 2 * u), h * u * r * r, -h * u * u * r},
                   {-6 * u * r / h, 6 * u * r / h, r * (1 - 3 * u), u * (3 * u - 2)}};
}

static double clamp(double x, const double* points, int n) {
    return fmin(fmax(x, points[0]), points[n - 1]);
}

typedef struct Local { // value and derivatives at a point of the box
    double f, fx, fy, fxy;
} Local;

static Local along_x(const LashTable* table, double x) {
    int i = cell_of(table->x, table->nx, x);
    double h = table->x[i + 1] - table->x[i];
    Basis b = basis_at(table->kind, (x - table->x[i]) / h, h);
    const double *f = table->f + i, *m = table->fx + i;
    return (Local){.f = b.w[0] * f[0] + b.w[1] * f[1] + b.w[2] * m[0] + b.w[3] * m[1],
                   .fx = b.d[0] * f[0] + b.d[1] * f[1] + b.d[2] * m[0] + b.d[3] * m[1]};
}

static Local in_plane(const LashTable* table, double x, double y) {
    int i = cell_of(table->x, table->nx, x), j = cell_of(table->y, table->ny, y);
    double h = table->x[i + 1] - table->x[i], k = table->y[j + 1] - table->y[j];
    Basis a = basis_at(table->kind, (x - table->x[i]) / h, h),
          b = basis_at(table->kind, (y - table->y[j]) / k, k);
    Local local = {0};
    for (int p = 0; p < 2; ++p) {
        for (int q = 0; q < 2; ++q) {
            int n = (i + p) * table->ny + j + q;
            // along y: value and x slope of column p, each with its y slope
            double f = b.w[q] * table->f[n] + b.w[2 + q] * table->fy[n];
            double m = b.w[q] * table->fx[n] + b.w[2 + q] * table->fxy[n];
            double fd = b.d[q] * table->f[n] + b.d[2 + q] * table->fy[n];
            double md = b.d[q] * table->fx[n] + b.d[2 + q] * table->fxy[n];
            local.f += a.w[p] * f + a.w[2 + p] * m;
            local.fx += a.d[p] * f + a.d[2 + p] * m;
            local.fy += a.w[p] * fd + a.w[2 + p] * md;
            local.fxy += a.d[p] * fd + a.d[2 + p] * md;
        }
    }
    return local;
}

double lash_table_value(const LashTable* table, double x, double y, double* fx, double* fy) {
    bool two = table->variables == 2;
    double c = clamp(x, table->x, table->nx), d = two ? clamp(y, table->y, table->ny) : y;
    if (isnan(x) || (two && isnan(y))) c = d = NAN;
    bool inside = x == c && (!two || y == d);
    double nothing;
    if (fx == NULL) fx = &nothing;
    if (fy == NULL) fy = &nothing;
    *fx = *fy = NAN;
    if (isnan(c) || (!inside && table->outside == LASH_OUTSIDE_ERROR)) return NAN;
    Local local = two ? in_plane(table, c, d) : along_x(table, c);
    double by = x - c, along = two ? y - d : 0;
    if (table->outside == LASH_OUTSIDE_HOLD) {
        *fx = by == 0 ? local.fx : 0;
        *fy = along == 0 ? local.fy : 0;
        return local.f;
    }
    *fx = local.fx + local.fxy * along;
    *fy = local.fy + local.fxy * by;
    return local.f + local.fx * by + (local.fy + local.fxy * by) * along;
}

bool lash_table_is_outside(const LashTable* table, double x, double y, int* which, double* low,
                           double* high) {
    for (int k = 0; k < table->variables; ++k) {
        const double* points = k == 0 ? table->x : table->y;
        double at = k == 0 ? x : y;
        *which = k;
        *low = points[0];
        *high = points[(k == 0 ? table->nx : table->ny) - 1];
        if (at < *low || at > *high) return true;
    }
    return false;
}
