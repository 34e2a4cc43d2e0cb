// Figures as HTML with inline SVG. Colours are classes: the style sheet knows light, dark and paper.
//
// Where there are more points than pixels, each pixel column keeps its first, least, largest and last point,
// so no peak is lost; of a curve that runs back in x only what lies nearer than half a pixel is left out.
#include "app/verify/figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"

enum { COLOURS = 8 };

const char figure_style[] =
    ":root{--c0:#1f6fb5;--c1:#d1491b;--c2:#2b8a3e;--c3:#8e3fb0;--c4:#b8860b;--c5:#0c8599;--c6:#"
    "6b7480;"
    "--c7:#a61e4d}"
    "@media(prefers-color-scheme:dark){:root{--c0:#6cb0f0;--c1:#f08a5d;--c2:#74c98a;--c3:#c99be0;"
    "--c4:#e0bd5a;--c5:#5fc8d8;--c6:#a3acb8;--c7:#ec87ab}}"
    "@media "
    "print{:root{--c0:#1f6fb5;--c1:#d1491b;--c2:#2b8a3e;--c3:#8e3fb0;--c4:#b8860b;--c5:#0c8599;"
    "--c6:#6b7480;--c7:#a61e4d}}"
    ".k{fill:none;stroke-width:1.5;stroke-linejoin:round}.k.dash{stroke-dasharray:5 3}"
    ".k.ref{stroke:var(--ink);stroke-width:1.1;stroke-dasharray:5 3}.dots{stroke:none}"
    ".c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}"
    ".c4{stroke:var(--c4)}.c5{stroke:var(--c5)}.c6{stroke:var(--c6)}.c7{stroke:var(--c7)}"
    ".d0{fill:var(--c0)}.d1{fill:var(--c1)}.d2{fill:var(--c2)}.d3{fill:var(--c3)}.d4{fill:var(--c4)"
    "}"
    ".d5{fill:var(--c5)}.d6{fill:var(--c6)}.d7{fill:var(--c7)}"
    ".fig{margin:14px 0 4px;padding:10px 0 2px;border-top:1px solid var(--line)}"
    ".fig h4{font-size:14.5px;margin:0 0 2px}.fig h4 b{color:var(--soft)}.fig>p{font-size:13px;"
    "color:var(--soft);margin:2px 0 6px;max-width:100ch}"
    ".panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(310px,100%),1fr));"
    "gap:8px 22px}.panels.one{grid-template-columns:minmax(0,620px)}"
    ".panels.two{grid-template-columns:repeat(auto-fit,minmax(min(400px,100%),1fr))}"
    ".panels.small{grid-template-columns:repeat(auto-fill,minmax(min(240px,100%),1fr));gap:6px "
    "14px}"
    ".panel{min-width:0}.panel svg{max-width:none}.panel "
    "figcaption{color:var(--ink);font-size:12.5px}"
    ".legend{font-size:12px;color:var(--soft);line-height:1.35}.legend span{margin-right:12px;"
    "white-space:nowrap}.legend "
    "svg{display:inline-block;width:22px;height:9px;vertical-align:middle;"
    "margin-right:4px}.later{border:1px dashed var(--line);border-radius:6px;padding:10px 14px;"
    "color:var(--soft)}"
    "@media print{.fig,.panel{break-inside:avoid}.panels{grid-template-columns:1fr 1fr}"
    ".panels.many{grid-template-columns:1fr 1fr "
    "1fr}.panels.small{grid-template-columns:repeat(4,1fr)}.panels.one{grid-template-columns:70%}}";

// ---- Drawings -----------------------------------------------------------------------------------

void drawing_curve(Drawing* drawing, int panel, const char* name, SeriesStyle style, int points,
                   const double* x, const double* y) {
    LASH_ASSERT(panel >= 0 && panel < FIGURE_PANELS && points > 0);
    size_t bytes = (size_t)points * sizeof *x;
    drawing->item =
        lash_realloc(drawing->item, (size_t)(drawing->count + 1) * sizeof *drawing->item);
    Series* series = &drawing->item[drawing->count++];
    *series = (Series){.panel = panel, .style = style, .points = points};
    snprintf(series->name, sizeof series->name, "%s", name);
    series->x = lash_alloc(bytes);
    series->y = lash_alloc(bytes);
    memcpy(series->x, x, bytes);
    memcpy(series->y, y, bytes);
}

void drawing_row(Drawing* drawing, const char* format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    page_put(&drawing->rows, "%s\n", line);
}

void drawing_free(Drawing* drawing) {
    for (int i = 0; i < drawing->count; ++i) {
        lash_free(drawing->item[i].x);
        lash_free(drawing->item[i].y);
    }
    lash_free(drawing->item);
    page_free(&drawing->rows);
    *drawing = (Drawing){0};
}

// ---- Curves -------------------------------------------------------------------------------------

static bool is_shown(const Plot* plot, double x, double y) {
    return isfinite(x) && isfinite(y) && (!plot->log_x || x > 0) && (!plot->log_y || y > 0);
}

static bool runs_forward(const Series* series) {
    for (int i = 1; i < series->points; ++i) {
        if (series->x[i] < series->x[i - 1]) return false;
    }
    return true;
}

// Points first .. last lie in one pixel column: first, least, largest, last, in their order.
static void put_column(const Plot* plot, const Series* series, int first, int last) {
    int least = first, largest = first;
    for (int i = first; i <= last; ++i) {
        if (series->y[i] < series->y[least]) least = i;
        if (series->y[i] > series->y[largest]) largest = i;
    }
    int early = least < largest ? least : largest, late = least < largest ? largest : least;
    int keep[4] = {first, early, late, last};
    for (int k = 0; k < 4; ++k) {
        if (k > 0 && keep[k] == keep[k - 1]) continue;
        page_put(plot->page, "%.1f,%.1f ", plot_x(plot, series->x[keep[k]]),
                 plot_y(plot, series->y[keep[k]]));
    }
}

// The points from `first` up to the next gap; returns where that is.
static int put_forward(const Plot* plot, const Series* series, int first) {
    int i = first;
    while (i < series->points && is_shown(plot, series->x[i], series->y[i])) {
        int last = i, pixel = (int)(2 * plot_x(plot, series->x[i]));
        while (last + 1 < series->points &&
               is_shown(plot, series->x[last + 1], series->y[last + 1]) &&
               (int)(2 * plot_x(plot, series->x[last + 1])) == pixel)
            ++last;
        put_column(plot, series, i, last);
        i = last + 1;
    }
    return i;
}

static int put_thinned(const Plot* plot, const Series* series, int first) {
    double x = INFINITY, y = INFINITY;
    int i = first;
    for (; i < series->points && is_shown(plot, series->x[i], series->y[i]); ++i) {
        double new_x = plot_x(plot, series->x[i]), new_y = plot_y(plot, series->y[i]);
        if (i + 1 < series->points && fabs(new_x - x) < 0.5 && fabs(new_y - y) < 0.5) continue;
        page_put(plot->page, "%.1f,%.1f ", new_x, new_y);
        x = new_x;
        y = new_y;
    }
    return i;
}

static void put_line(const Plot* plot, const Series* series, const char* class) {
    bool forward = runs_forward(series);
    for (int i = 0; i < series->points;) {
        if (!is_shown(plot, series->x[i], series->y[i])) {
            ++i;
            continue;
        }
        page_put(plot->page, "<polyline class=\"k %s\" points=\"", class);
        i = forward ? put_forward(plot, series, i) : put_thinned(plot, series, i);
        page_put(plot->page, "\"/>");
    }
}

static void put_dots(const Plot* plot, const Series* series, int colour) {
    double x = INFINITY, y = INFINITY;
    page_put(plot->page, "<g class=\"dots d%d\">", colour);
    for (int i = 0; i < series->points; ++i) {
        if (!is_shown(plot, series->x[i], series->y[i])) continue;
        double new_x = plot_x(plot, series->x[i]), new_y = plot_y(plot, series->y[i]);
        if (fabs(new_x - x) < 0.5 && fabs(new_y - y) < 0.5) continue;
        x = new_x;
        y = new_y;
        page_put(plot->page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.2\"/>", x, y);
    }
    page_put(plot->page, "</g>");
}

static void put_series(const Plot* plot, const Series* series, int colour) {
    char class[16];
    snprintf(class, sizeof class, "c%d", colour);
    if (series->style == SERIES_DASHED) {
        put_line(plot, series, "ref");
    } else if (series->style != SERIES_POINTS) {
        put_line(plot, series, class);
    }
    if (series->style == SERIES_POINTS || series->style == SERIES_MARKED)
        put_dots(plot, series, colour);
}

// ---- Panels -------------------------------------------------------------------------------------

// Range of the data of one axis, widened a little; of a scale in decades the positive part.
static void data_range(const Drawing* drawing, int panel, bool of_x, bool log, double* low,
                       double* high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (int s = 0; s < drawing->count; ++s) {
        const Series* series = &drawing->item[s];
        if (series->panel != panel) continue;
        for (int i = 0; i < series->points; ++i) {
            double value = of_x ? series->x[i] : series->y[i];
            if (!isfinite(value) || (log && !(value > 0))) continue;
            *low = fmin(*low, value);
            *high = fmax(*high, value);
        }
    }
    if (!(*low <= *high)) {
        *low = log ? 0.1 : 0;
        *high = 1;
    }
    if (log) {
        *low /= *high > *low ? pow(*high / *low, 0.05) : 2;
        *high *= *high > *low ? pow(*high / *low, 0.05) : 2;
    } else if (!of_x || !(*high > *low)) {
        plot_range(low, high, 0.06);
    }
}

static void set_range(const FigureAxis* axis, const Drawing* drawing, int panel, bool of_x,
                      double* low, double* high) {
    data_range(drawing, panel, of_x, axis->log, low, high);
    if (!(axis->low < axis->high)) return;
    *low = axis->low;
    *high = axis->high;
}

// Both axes in one scale: the range that has too little room is widened.
static void make_equal(Plot* plot) {
    plot_range(&plot->x0, &plot->x1, 0.06);
    double width = plot->width - plot->left - plot->right,
           height = plot->height - plot->top - plot->bottom;
    double scale = fmax((plot->x1 - plot->x0) / width, (plot->y1 - plot->y0) / height);
    double more_x = 0.5 * (scale * width - (plot->x1 - plot->x0)),
           more_y = 0.5 * (scale * height - (plot->y1 - plot->y0));
    plot->x0 -= more_x;
    plot->x1 += more_x;
    plot->y0 -= more_y;
    plot->y1 += more_y;
}

static void put_legend(Page* page, const Drawing* drawing, int index) {
    int named = 0, colour = 0;
    for (int s = 0; s < drawing->count; ++s)
        named += drawing->item[s].panel == index && drawing->item[s].name[0] != '\0';
    if (named == 0) return;
    page_put(page, "<div class=\"legend\">");
    for (int s = 0; s < drawing->count; ++s) {
        const Series* series = &drawing->item[s];
        if (series->panel != index) continue;
        bool dashed = series->style == SERIES_DASHED;
        int own = dashed ? 0 : colour++ % COLOURS;
        if (series->name[0] == '\0') continue;
        page_put(page, "<span><svg viewBox=\"0 0 22 9\" aria-hidden=\"true\">");
        char class[16];
        snprintf(class, sizeof class, dashed ? "ref" : "c%d", own);
        if (series->style != SERIES_POINTS)
            page_put(page, "<path class=\"k %s\" d=\"M0 4.5H22\"/>", class);
        if (series->style == SERIES_POINTS || series->style == SERIES_MARKED)
            page_put(page, "<circle class=\"dots d%d\" cx=\"11\" cy=\"4.5\" r=\"2.6\"/>", own);
        page_put(page, "</svg>");
        page_escape(page, series->name);
        page_put(page, "</span>");
    }
    page_put(page, "</div>");
}

void panel_write(Page* page, const FigurePanel* panel, const Drawing* drawing, int index,
                 const PanelSize* size) {
    Plot plot = {.page = page, .width = size->width, .height = size->height};
    plot.left = 46;
    plot.right = 12;
    plot.top = 10;
    plot.bottom = 40;
    plot.log_x = panel->x.log;
    plot.log_y = panel->y.log;
    set_range(&panel->x, drawing, index, true, &plot.x0, &plot.x1);
    set_range(&panel->y, drawing, index, false, &plot.y0, &plot.y1);
    plot_fit_left(&plot);
    if (size->equal) make_equal(&plot);
    page_put(page, "<figure class=\"panel\"><figcaption>");
    page_escape(page, panel->title);
    page_put(page, "</figcaption>");
    put_legend(page, drawing, index);
    char label[256];
    snprintf(label, sizeof label, "%s: %s over %s", panel->title, panel->y.label, panel->x.label);
    plot_begin(&plot, label);
    plot_axes(&plot, panel->x.label, panel->y.label);
    size_t id = page->used; // where the text stands now: no other has it
    page_put(page,
             "<clipPath id=\"p%zu\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>"
             "</clipPath><g clip-path=\"url(#p%zu)\">",
             id, plot.left, plot.top - 1, plot.width - plot.left - plot.right,
             plot.height - plot.top - plot.bottom + 2, id);
    int colour = 0;
    for (int s = 0; s < drawing->count; ++s) {
        if (drawing->item[s].panel != index) continue;
        bool dashed = drawing->item[s].style == SERIES_DASHED;
        put_series(&plot, &drawing->item[s], dashed ? 0 : colour++ % COLOURS);
    }
    page_put(page, "</g>");
    plot_end(&plot);
    page_put(page, "</figure>\n");
}

// ---- Tables -------------------------------------------------------------------------------------

static void put_cells(Page* page, const char* line, size_t length, const char* tag) {
    page_put(page, "<tr>");
    for (size_t i = 0; i <= length;) {
        size_t end = i;
        while (end < length && line[end] != '|') ++end;
        char cell[256];
        snprintf(cell, sizeof cell, "%.*s", (int)(end - i), line + i);
        page_put(page, "<%s>", tag);
        page_escape(page, cell);
        page_put(page, "</%s>", tag);
        i = end + 1;
    }
    page_put(page, "</tr>\n");
}

static void put_table(Page* page, const Figure* figure, const Drawing* drawing) {
    page_put(page, "<div class=\"scroll\"><table class=\"data\"><thead>");
    put_cells(page, figure->columns, strlen(figure->columns), "th");
    page_put(page, "</thead><tbody>\n");
    for (const char* line = drawing->rows.text; line != NULL && *line != '\0';) {
        const char* end = strchr(line, '\n');
        put_cells(page, line, (size_t)(end - line), "td");
        line = end + 1;
    }
    page_put(page, "</tbody></table></div>\n");
}

// Drawn about as wide as they are shown, so that letters have one size on the whole page.
static PanelSize size_of(const Figure* figure, int panels) {
    int across = figure->across;
    if (across == 0) across = panels % 3 == 0 ? 3 : 2;
    if (panels == 1 || across == 1) return (PanelSize){"panels one", 600, 320, figure->equal};
    if (across == 3) return (PanelSize){"panels many", 350, 240, figure->equal};
    return (PanelSize){"panels two", 520, 280, figure->equal};
}

void figure_anchor(const Figure* figure, char* text, size_t size) {
    snprintf(text, size, "%s-%s", figure->paper, figure->name);
    for (char* c = text; *c != '\0'; ++c)
        if (*c == ' ') *c = '-';
}

void figure_write(Page* page, const Figure* figure, const Drawing* drawing) {
    char anchor[32];
    figure_anchor(figure, anchor, sizeof anchor);
    page_put(page, "<div class=\"fig\" id=\"%s\"><h4><b>Paper %s, %s:</b> ", anchor, figure->paper,
             figure->name);
    page_escape(page, figure->title);
    page_put(page, "</h4>\n");
    if (figure->note != NULL) {
        page_put(page, "<p>");
        page_escape(page, figure->note);
        page_put(page, "</p>\n");
    }
    int panels = 0;
    while (panels < FIGURE_PANELS && figure->panel[panels].x.label != NULL) ++panels;
    if (drawing == NULL) {
        page_put(page,
                 "<p class=\"later\">Its runs take long: <code>lash verify --all --report "
                 "FILE.html</code> draws it.</p>\n");
    } else if (figure->columns != NULL) {
        put_table(page, figure, drawing);
    } else {
        PanelSize size = size_of(figure, panels);
        page_put(page, "<div class=\"%s\">\n", size.grid);
        for (int i = 0; i < panels; ++i) panel_write(page, &figure->panel[i], drawing, i, &size);
        page_put(page, "</div>\n");
    }
    page_put(page, "</div>\n");
}
