// The figures of the verification manual: every row is whole, is drawn with finite data, and shows what its claim
// says.
#include <math.h>
#include <stdlib.h>
#include "test.h"

#include "app/verify/report.h"
#include "app/verify/verify_internal.h"
#include "core/arena.h"

static const Figure* figure_of(const char* paper, const char* name) {
    const Figure* figure[MAX_FIGURES];
    int n = figures_all(figure);
    for (int i = 0; i < n; ++i) {
        if (strcmp(figure[i]->paper, paper) == 0 && strcmp(figure[i]->name, name) == 0)
            return figure[i];
    }
    fail_msg("no %s of paper %s", name, paper);
    return NULL;
}

static int panels_of(const Figure* figure) {
    int n = 0;
    while (n < FIGURE_PANELS && figure->panel[n].x.label != NULL) ++n;
    return n;
}

static int count(const char* text, char c) {
    int n = 0;
    for (; *text != '\0'; ++text) n += *text == c;
    return n;
}

static void every_row_has_a_caption_axes_and_a_claim(void** state) {
    (void)state;
    const Figure* figure[MAX_FIGURES];
    int n = figures_all(figure);
    int missing = 0;
    assert_int_equal(n, 63); // of the five papers
    for (int i = 0; i < n; ++i) {
        const Figure* f = figure[i];
        assert_true(strlen(f->title) > 10);
        for (int k = 0; k < i; ++k)
            assert_false(strcmp(figure[k]->paper, f->paper) == 0 &&
                         strcmp(figure[k]->name, f->name) == 0);
        if (f->run == NULL) { // the note says why
            assert_non_null(f->note);
            ++missing;
            continue;
        }
        assert_int_equal(f->claim[0], f->paper[0]);
        assert_true((f->columns != NULL) != (panels_of(f) > 0));
        for (int p = 0; p < panels_of(f); ++p) {
            const FigurePanel* panel = &f->panel[p];
            assert_true(strlen(panel->title) > 0 && strlen(panel->x.label) > 0);
            assert_non_null(panel->y.label);
            assert_true(panel->x.low <= panel->x.high && panel->y.low <= panel->y.high);
        }
    }
    assert_int_equal(missing, 4); // pictures of CAD models and of programs, a flowchart
}

// Every panel has a curve, every curve a finite point, every row of a table all cells.
static void check_drawing(const Figure* figure, const Drawing* drawing) {
    char name[64];
    snprintf(name, sizeof name, "paper %s, %s", figure->paper, figure->name);
    if (figure->columns != NULL) {
        int cells = count(figure->columns, '|'), rows = 0;
        assert_non_null(drawing->rows.text);
        char* text = strdup(drawing->rows.text);
        for (char* line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"), ++rows) {
            if (count(line, '|') != cells) fail_msg("%s: %s", name, line);
            if (strstr(line, "nan") != NULL || strstr(line, "inf") != NULL)
                fail_msg("%s: %s", name, line);
        }
        free(text);
        assert_true(rows > 0);
        return;
    }
    int curves[FIGURE_PANELS] = {0};
    for (int s = 0; s < drawing->count; ++s) {
        const Series* series = &drawing->item[s];
        int finite = 0;
        assert_true(series->panel < panels_of(figure));
        for (int i = 0; i < series->points; ++i)
            finite += isfinite(series->x[i]) && isfinite(series->y[i]);
        if (finite == 0 || finite < series->points)
            fail_msg("%s, panel %d, %s: %d of %d points are numbers", name, series->panel,
                     series->name, finite, series->points);
        ++curves[series->panel];
    }
    for (int p = 0; p < panels_of(figure); ++p) {
        if (curves[p] == 0) fail_msg("%s: panel %d is empty", name, p);
    }
}

// Their runs take more than a test should; LASH_LONG_TESTS=1 draws them too.
static bool is_long(const Figure* figure) {
    static const char* const names[] = {
        "A figure 2",  "A figure 3",  "A figure 12", "A figure 13", "A figure 14", "A figure 16",
        "A figure 17", "A figure 18", "A table 3",   "A figure 23", "A figure 24", "A figure 28",
        "A figure 29", "A figure 30", "C figure 6",  "C figure 7",  "E figure 10"};
    char name[64];
    snprintf(name, sizeof name, "%s %s", figure->paper, figure->name);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

static void every_figure_is_drawn_with_finite_data(void** state) {
    (void)state;
    const Figure* figure[MAX_FIGURES];
    int n = figures_all(figure);
    Cache* cache = cache_create();
    for (int i = 0; i < n; ++i) {
        if (figure[i]->run == NULL) continue;
        bool skip = figure[i]->slow || is_long(figure[i]);
        if (skip && getenv("LASH_LONG_TESTS") == NULL) continue;
        Drawing drawing = {.cache = cache};
        figure[i]->run(&drawing);
        check_drawing(figure[i], &drawing);
        Page page = {0};
        figure_write(&page, figure[i], &drawing);
        assert_non_null(strstr(page.text, figure[i]->columns != NULL ? "<td>" : "<svg"));
        assert_null(strstr(page.text, "nan"));
        page_free(&page);
        drawing_free(&drawing);
    }
    cache_destroy(cache);
}

// ---- Data and claims ----------------------------------------------------------------------------

// The curve `name` of a panel.
static const Series* curve_of(const Drawing* drawing, int panel, const char* name) {
    for (int s = 0; s < drawing->count; ++s) {
        if (drawing->item[s].panel == panel && strcmp(drawing->item[s].name, name) == 0)
            return &drawing->item[s];
    }
    fail_msg("no curve %s in panel %d", name, panel);
    return NULL;
}

static Drawing draw(const char* paper, const char* name, Cache* cache) {
    Drawing drawing = {.cache = cache};
    figure_of(paper, name)->run(&drawing);
    return drawing;
}

static void chattering_of_figure_4_has_the_amplitude_of_claim_A_11(void** state) {
    (void)state;
    Cache* cache = cache_create();
    Drawing drawing = draw("A", "figure 4", cache);
    for (int gamma = 0; gamma < 3; ++gamma) {
        const Series* v = curve_of(&drawing, 2 * gamma + 1, "velocity");
        double low = INFINITY, high = -INFINITY, h = 0.05, limit = gamma == 0 ? 8.0 / 3 : 4.0 / 3;
        assert_int_equal(v->points, 121);
        for (int i = v->points - 40; i < v->points; ++i) {
            low = fmin(low, v->y[i]);
            high = fmax(high, v->y[i]);
        }
        assert_true(fabs(-low / h / limit - 1) < 0.1 && fabs(2 * high / h / limit - 1) < 0.1);
    }
    drawing_free(&drawing);
    cache_destroy(cache);
}

static void figure_7_ends_with_the_energy_of_claim_A_15(void** state) {
    (void)state;
    Cache* cache = cache_create();
    Drawing drawing = draw("A", "figure 7", cache);
    const Series* E = curve_of(&drawing, 1, "total");
    assert_true(fabs(E->y[E->points - 1] - 2.0080) < 1e-4);
    drawing_free(&drawing);
    cache_destroy(cache);
}

static void portraits_of_figure_25_leave_the_guide_with_moreau_jean_only(void** state) {
    (void)state;
    Cache* cache = cache_create();
    Drawing drawing = draw("A", "figure 25", cache);
    for (int panel = 0; panel < 3; ++panel) {
        const Series* y = curve_of(&drawing, panel, "");
        double most = 0;
        for (int i = 0; i < y->points; ++i) most = fmax(most, fabs(y->y[i]));
        assert_true(panel == 0 ? most > 1.01 : most < 1 + 1e-7);
    }
    drawing_free(&drawing);
    cache_destroy(cache);
}

static void tables_of_paper_B_hold_the_figures_of_its_claims(void** state) {
    (void)state;
    static const struct {
        const char *name, *row[2];
    } table[] = {{"table 10.1", {"2.374e-03", "6.110e-07"}},
                 {"table 10.2", {"5.197e-05", "1.549e-07"}},
                 {"table 10.3", {"8.023e-05", "8.246e-08"}}};
    Cache* cache = cache_create();
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        Drawing drawing = draw("B", table[i].name, cache);
        for (int k = 0; k < 2; ++k) {
            if (strstr(drawing.rows.text, table[i].row[k]) == NULL)
                fail_msg("%s: no %s in\n%s", table[i].name, table[i].row[k], drawing.rows.text);
        }
        drawing_free(&drawing);
    }
    cache_destroy(cache);
}

static void friction_of_the_stick_works_forward_in_figure_2_and_never_in_figure_3(void** state) {
    (void)state;
    Cache* cache = cache_create();
    for (int law = 0; law < 2; ++law) {
        Drawing drawing = draw("C", law == 0 ? "figure 2" : "figure 3", cache);
        const Series* work = curve_of(&drawing, 4, "tangential");
        double most = -INFINITY;
        for (int i = 1; i < work->points; ++i) most = fmax(most, work->y[i] - work->y[i - 1]);
        if (law == 0) assert_true(fabs(most - 7.0704e-4) < 1e-7); // C-08
        if (law == 1) assert_true(most <= 1e-14);                 // C-09
        drawing_free(&drawing);
    }
    cache_destroy(cache);
}

static void gaps_of_figure_4_drift_and_those_of_figure_9_do_not(void** state) {
    (void)state;
    Cache* cache = cache_create();
    for (int k = 0; k < 2; ++k) {
        Drawing drawing = draw("E", k == 0 ? "figure 4" : "figure 9", cache);
        double least = INFINITY;
        for (int c = 0; c < 4; ++c) {
            static const char* const name[4] = {"g1", "g2", "g3", "g4"};
            const Series* gap = curve_of(&drawing, 0, name[c]);
            for (int i = 0; i < gap->points; ++i) least = fmin(least, gap->y[i]);
        }
        if (k == 0) assert_true(fabs(-least / 4.142e-5 - 1) < 1e-3); // E-03
        if (k == 1) assert_true(least >= -1e-10);                    // E-09
        drawing_free(&drawing);
    }
    cache_destroy(cache);
}

static void drift_of_figure_6_ends_where_claim_E_08_says(void** state) {
    (void)state;
    Cache* cache = cache_create();
    Drawing drawing = draw("E", "figure 6", cache);
    const Series *slow = curve_of(&drawing, 0, "velocity level"),
                 *fast = curve_of(&drawing, 1, "acceleration level");
    assert_true(fabs(slow->y[slow->points - 1] / 6.4379e-6 - 1) < 1e-4);
    assert_true(fabs(fast->y[fast->points - 1] / -0.31484 - 1) < 1e-4);
    drawing_free(&drawing);
    cache_destroy(cache);
}

static void a_run_is_made_once(void** state) {
    (void)state;
    Cache* cache = cache_create();
    Drawing first = draw("A", "figure 5", cache), second = draw("A", "figure 5", cache);
    const Series *a = curve_of(&first, 0, "position"), *b = curve_of(&second, 0, "position");
    assert_memory_equal(a->y, b->y, (size_t)a->points * sizeof *a->y);
    drawing_free(&first);
    drawing_free(&second);
    int *value = lash_alloc(sizeof *value), other = 2;
    cache_keep(cache, cache_key(0, "x", 1), value, NULL);
    assert_ptr_equal(cache_find(cache, cache_key(0, "x", 1)), value);
    assert_null(cache_find(cache, cache_key(cache_key(0, "x", 1), &other, sizeof other)));
    cache_destroy(cache);
}

// ---- All schemes --------------------------------------------------------------------------------

static void all_schemes_stand_side_by_side(void** state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip(); // twelve runs of 10000 steps: the optimised program's
#endif
    Manual manual = {.cache = cache_create(), .whole = true};
    Page page = {0};
    manual_schemes(&page, &manual);
    for (int s = 0; s < LASH_SCHEMES; ++s) {
        char name[64];
        snprintf(name, sizeof name, "<b>%s</b>", lash_scheme_name((LashScheme)s));
        if (strstr(page.text, name) == NULL) fail_msg("%s is missing", name);
    }
    assert_null(strstr(page.text, "nan"));
    assert_null(strstr(page.text, "a step failed"));
    int panels = 0;
    for (const char* c = page.text; (c = strstr(c, "<svg ")) != NULL; ++c) ++panels;
    assert_int_equal(panels, 3 * LASH_SCHEMES); // slider, penetration, energy
    page_free(&page);
    cache_destroy(manual.cache);
}

// ---- Drawing ------------------------------------------------------------------------------------

static void decades_gaps_and_outliers_are_drawn(void** state) {
    (void)state;
    Drawing drawing = {0};
    double x[5] = {1e-6, 1e-4, 1e-2, 1, 100}, y[5] = {1e-12, NAN, 0, 1, 1e6};
    drawing_curve(&drawing, 0, "a < b", SERIES_MARKED, 5, x, y);
    FigurePanel panel = {"title & more", {"h", 0, 0, true}, {"error", 0, 0, true}};
    PanelSize size = {"panels one", 600, 320, false};
    Page page = {0};
    panel_write(&page, &panel, &drawing, 0, &size);
    assert_non_null(strstr(page.text, "a &lt; b"));
    assert_non_null(strstr(page.text, "title &amp; more"));
    assert_non_null(strstr(page.text, "10<tspan dy=\"-4\" font-size=\"9\">-6</tspan>"));
    assert_null(strstr(page.text, "nan"));
    int lines = 0, dots = 0;
    for (const char* c = page.text; (c = strstr(c, "<polyline")) != NULL; ++c) ++lines;
    for (const char* c = page.text; (c = strstr(c, "<circle cx")) != NULL; ++c) ++dots;
    assert_int_equal(lines, 2); // one on each side of what has no place on the scale
    assert_int_equal(dots, 3);
    page_free(&page);
    drawing_free(&drawing);
}

static void long_curves_keep_their_peaks_and_few_points(void** state) {
    (void)state;
    enum { POINTS = 100000 };
    double *x = lash_alloc(POINTS * sizeof *x), *y = lash_alloc(POINTS * sizeof *y);
    for (int i = 0; i < POINTS; ++i) {
        x[i] = i;
        y[i] = i == 31415 ? 1 : 0;
    }
    Drawing drawing = {0};
    drawing_curve(&drawing, 0, "", SERIES_LINE, POINTS, x, y);
    FigurePanel panel = {"peak", {"t", 0, 0, false}, {"y", 0, 1, false}};
    PanelSize size = {"panels one", 600, 320, false};
    Page page = {0};
    panel_write(&page, &panel, &drawing, 0, &size);
    assert_non_null(strstr(page.text, ",10.0 ")); // the top
    assert_true(page.used < 60000);
    page_free(&page);
    drawing_free(&drawing);
    lash_free(x);
    lash_free(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_a_caption_axes_and_a_claim),
        cmocka_unit_test(every_figure_is_drawn_with_finite_data),
        cmocka_unit_test(chattering_of_figure_4_has_the_amplitude_of_claim_A_11),
        cmocka_unit_test(figure_7_ends_with_the_energy_of_claim_A_15),
        cmocka_unit_test(portraits_of_figure_25_leave_the_guide_with_moreau_jean_only),
        cmocka_unit_test(tables_of_paper_B_hold_the_figures_of_its_claims),
        cmocka_unit_test(friction_of_the_stick_works_forward_in_figure_2_and_never_in_figure_3),
        cmocka_unit_test(gaps_of_figure_4_drift_and_those_of_figure_9_do_not),
        cmocka_unit_test(drift_of_figure_6_ends_where_claim_E_08_says),
        cmocka_unit_test(a_run_is_made_once),
        cmocka_unit_test(all_schemes_stand_side_by_side),
        cmocka_unit_test(decades_gaps_and_outliers_are_drawn),
        cmocka_unit_test(long_curves_keep_their_peaks_and_few_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
