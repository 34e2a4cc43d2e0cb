// Tables: values at the points, exact slopes, monotone and of continuous slope between them, what
// happens outside, and what is refused.
#include "test.h"

#include <string.h>

#include "core/expression.h"
#include "core/table.h"

static const double X[] = {-1, 0, 0.5, 2, 3}, Y[] = {0, 1, 4, 4.5};
static const double ONE[] = {-3, -1, 0, 0.1, 7}; // rising
static const double TWO[] = {0, 1, 2, 5, -1, 1, 3, 6, -2, 0.5, 4, 8, -2.5, 0, 5, 9, -4, -1, 6, 12};

static LashTable* table_of(int variables, LashTableKind kind, LashTableOutside outside) {
    LashError error = {0};
    LashTableDef def = {.name = "f",
                        .x = X,
                        .y = variables == 2 ? Y : NULL,
                        .value = variables == 2 ? TWO : ONE,
                        .nx = 5,
                        .ny = variables == 2 ? 4 : 0,
                        .kind = kind,
                        .outside = outside};
    LashTable* table = lash_table_create(&def, &error);
    if (table == NULL) fail_msg("%s", error.message);
    return table;
}

static void values_at_the_points_are_the_table(void** state) {
    (void)state;
    for (int kind = 0; kind < 2; ++kind) {
        LashTable* one = table_of(1, (LashTableKind)kind, LASH_OUTSIDE_ERROR);
        LashTable* two = table_of(2, (LashTableKind)kind, LASH_OUTSIDE_ERROR);
        for (int i = 0; i < 5; ++i) {
            assert_true(fabs(lash_table_value(one, X[i], 0, NULL, NULL) - ONE[i]) < 1e-14);
            for (int j = 0; j < 4; ++j)
                assert_true(fabs(lash_table_value(two, X[i], Y[j], NULL, NULL) - TWO[4 * i + j]) <
                            1e-13);
        }
        lash_table_destroy(one);
        lash_table_destroy(two);
    }
}

// Against central differences, inside cells and, extrapolated, outside.
static void slopes_are_exact(void** state) {
    (void)state;
    const double h = 1e-6;
    for (int k = 0; k < 8; ++k) {
        int variables = 1 + k % 2;
        LashTable* t = table_of(variables, (LashTableKind)(k / 2 % 2),
                                k < 4 ? LASH_OUTSIDE_EXTRAPOLATE : LASH_OUTSIDE_HOLD);
        for (int i = 0; i < 200; ++i) {
            double x = -1.9317 + 0.03 * i, y = -0.8713 + 0.0347 * i, fx, fy;
            lash_table_value(t, x, y, &fx, &fy);
            double dx = (lash_table_value(t, x + h, y, NULL, NULL) -
                         lash_table_value(t, x - h, y, NULL, NULL)) /
                        (2 * h);
            double dy = (lash_table_value(t, x, y + h, NULL, NULL) -
                         lash_table_value(t, x, y - h, NULL, NULL)) /
                        (2 * h);
            if (!(fabs(fx - dx) < 1e-7 * (1 + fabs(dx)))) print_error("%g %g %g\n", x, fx, dx);
            assert_true(fabs(fx - dx) < 1e-7 * (1 + fabs(dx)));
            if (variables == 2) assert_true(fabs(fy - dy) < 1e-7 * (1 + fabs(dy)));
        }
        lash_table_destroy(t);
    }
}

static void a_cubic_is_smooth_and_monotone_along_grid_lines(void** state) {
    (void)state;
    LashTable* one = table_of(1, LASH_TABLE_CUBIC, LASH_OUTSIDE_EXTRAPOLATE);
    LashTable* two = table_of(2, LASH_TABLE_CUBIC, LASH_OUTSIDE_EXTRAPOLATE);
    double last = -INFINITY, a, b, c, d;
    for (double x = -1; x <= 3; x += 0.001) {
        double f = lash_table_value(one, x, 0, NULL, NULL);
        assert_true(f >= last);
        last = f;
    }
    for (int j = 0; j < 4; ++j) { // between points of a grid line: between their values
        for (int i = 0; i < 4; ++i) {
            double low = fmin(TWO[4 * i + j], TWO[4 * i + 4 + j]);
            double high = fmax(TWO[4 * i + j], TWO[4 * i + 4 + j]);
            for (double u = 0; u <= 1; u += 0.01) {
                double f = lash_table_value(two, X[i] + u * (X[i + 1] - X[i]), Y[j], NULL, NULL);
                assert_true(f >= low - 1e-12 && f <= high + 1e-12);
            }
        }
    }
    for (int i = 0; i < 5;
         ++i) { // the same slopes on both sides of every grid line, edges included
        for (double y = -1; y < 6; y += 0.173) {
            double fa = lash_table_value(two, X[i] - 1e-9, y, &a, &b);
            double fb = lash_table_value(two, X[i] + 1e-9, y, &c, &d);
            assert_true(fabs(fa - fb) < 1e-6 && fabs(a - c) < 1e-6 && fabs(b - d) < 1e-6);
        }
        lash_table_value(one, X[i] - 1e-9, 0, &a, &b);
        lash_table_value(one, X[i] + 1e-9, 0, &c, &d);
        assert_true(fabs(a - c) < 1e-6);
    }
    lash_table_destroy(one);
    lash_table_destroy(two);
}

// A smooth function: linear of order 2, cubic of order 2 to 4 where slopes are limited nowhere.
static void a_finer_table_is_nearer(void** state) {
    (void)state;
    for (int kind = 0; kind < 2; ++kind) {
        double error[2] = {0};
        for (int fine = 0; fine < 2; ++fine) {
            int n = fine ? 41 : 21;
            double x[41], f[41];
            for (int i = 0; i < n; ++i) {
                x[i] = (double)i / (n - 1);
                f[i] = exp(2 * x[i]);
            }
            LashTableDef def = {
                .name = "e", .x = x, .value = f, .nx = n, .kind = (LashTableKind)kind};
            LashTable* t = lash_table_create(&def, NULL);
            for (double at = 0; at <= 1; at += 0.0013)
                error[fine] =
                    fmax(error[fine], fabs(lash_table_value(t, at, 0, NULL, NULL) - exp(2 * at)));
            lash_table_destroy(t);
        }
        assert_true(error[0] / error[1] > (kind == 0 ? 3.7 : 5));
    }
}

static void outside_is_what_was_said(void** state) {
    (void)state;
    double fx, fy;
    LashTable* t = table_of(1, LASH_TABLE_LINEAR, LASH_OUTSIDE_ERROR);
    assert_true(isnan(lash_table_value(t, 3.0001, 0, &fx, &fy)));
    assert_true(isnan(lash_table_value(t, NAN, 0, &fx, &fy)));
    assert_true(lash_table_value(t, 3, 0, &fx, &fy) == 7);
    lash_table_destroy(t);
    t = table_of(1, LASH_TABLE_LINEAR, LASH_OUTSIDE_HOLD);
    assert_true(lash_table_value(t, 30, 0, &fx, &fy) == 7 && fx == 0);
    assert_true(lash_table_value(t, -30, 0, &fx, &fy) == -3 && fx == 0);
    lash_table_destroy(t);
    t = table_of(1, LASH_TABLE_LINEAR, LASH_OUTSIDE_EXTRAPOLATE);
    assert_true(fabs(lash_table_value(t, 4, 0, &fx, &fy) - 13.9) < 1e-12);
    lash_table_destroy(t);
    t = table_of(2, LASH_TABLE_CUBIC, LASH_OUTSIDE_HOLD);
    assert_true(lash_table_value(t, 99, 99, &fx, &fy) == 12 && fx == 0 && fy == 0);
    lash_table_destroy(t);
}

static void bad_points_are_refused(void** state) {
    (void)state;
    static const struct {
        double x[3], f[3];
        int n;
        const char* says;
    } bad[] = {{{0, 1, 1}, {1, 2, 3}, 3, "must rise"},
               {{0, 2, 1}, {1, 2, 3}, 3, "must rise"},
               {{0}, {1}, 1, "2 points or more"},
               {{0, NAN, 2}, {1, 2, 3}, 3, "no number"},
               {{0, 1, 2}, {1, INFINITY, 3}, 3, "no number"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        LashError error = {0};
        LashTableDef def = {.name = "f", .x = bad[i].x, .value = bad[i].f, .nx = bad[i].n};
        assert_null(lash_table_create(&def, &error));
        assert_non_null(strstr(error.message, bad[i].says));
    }
    LashError error = {0};
    assert_null(lash_table_create(NULL, &error));
}

static void expressions_call_tables(void** state) {
    (void)state;
    LashTable* list[] = {table_of(1, LASH_TABLE_CUBIC, LASH_OUTSIDE_HOLD), NULL};
    LashTableDef def = {.name = "g",
                        .x = X,
                        .y = Y,
                        .value = TWO,
                        .nx = 5,
                        .ny = 4,
                        .kind = LASH_TABLE_CUBIC,
                        .outside = LASH_OUTSIDE_ERROR};
    list[1] = lash_table_create(&def, NULL);
    LashTables tables = {list, 2};
    static const char* const names[] = {"a", "b"};
    LashError error = {0};
    LashExpression* e =
        lash_expression_compile_with("2*f(a*b) - g(a, b + f(0.2))", names, 2, &tables, &error);
    if (e == NULL) fail_msg("%s", error.message);
    lash_table_destroy(list[0]); // the expression is one more owner
    const double at[] = {0.7, 1.3}, h = 1e-6;
    double gradient[2];
    double value = lash_expression_gradient(e, at, gradient);
    assert_true(value == lash_expression_value(e, at));
    for (int k = 0; k < 2; ++k) {
        double high[] = {at[0], at[1]}, low[] = {at[0], at[1]};
        high[k] += h;
        low[k] -= h;
        double d = (lash_expression_value(e, high) - lash_expression_value(e, low)) / (2 * h);
        assert_true(fabs(d - gradient[k]) < 1e-7);
    }
    assert_null(lash_expression_outside(e, at).table);
    const double far[] = {0.7, 9};
    LashTableRead read = lash_expression_outside(e, far);
    assert_string_equal(lash_table_name(read.table), "f"); // held, but outside; the first that is
    lash_expression_destroy(e);
    static const char* const wrong[][2] = {
        {"g(a)", "takes 2 arguments"}, {"g", "behind the table"}, {"h(a)", "unknown function"}};
    LashTables rest = {list + 1, 1};
    for (int i = 0; i < 3; ++i) {
        error = (LashError){0};
        assert_null(lash_expression_compile_with(wrong[i][0], names, 2, &rest, &error));
        if (strstr(error.message, wrong[i][1]) == NULL) print_error("%s\n", error.message);
        assert_non_null(strstr(error.message, wrong[i][1]));
    }
    lash_table_destroy(list[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_at_the_points_are_the_table),
        cmocka_unit_test(slopes_are_exact),
        cmocka_unit_test(a_cubic_is_smooth_and_monotone_along_grid_lines),
        cmocka_unit_test(a_finer_table_is_nearer),
        cmocka_unit_test(outside_is_what_was_said),
        cmocka_unit_test(bad_points_are_refused),
        cmocka_unit_test(expressions_call_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
