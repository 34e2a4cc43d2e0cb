// SVG line plots.
//
// Ticks at 1, 2 or 5 times a power of ten. Where there are more points than pixels, each pixel
// column keeps its first, least, largest and last point, so no peak is lost.
#include "app/run/plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/output_file.h"
#include "app/cli/text.h"

static const double width = 960, left = 78, right = 24, top = 66, bottom = 52; // [px]
static const double panel_height = 210, panel_gap = 40;

static const char* const palette[APP_PLOT_SERIES] = {"#0b6bcb", "#d9480f", "#2b8a3e", "#9c36b5",
                                                     "#c79100", "#0c8599", "#868e96", "#a61e4d",
                                                     "#5c940d", "#364fc7", "#e8590c", "#495057"};

typedef struct Axis {
    double low, high, step; // range shown, distance of ticks
    int exponent;           // labels show value / 10^exponent
} Axis;

static double nice_step(double span, int ticks) {
    return app_nice_number(span / ticks);
}

// Range of [low, high] widened to ticks (or to a little air), and its common power of ten.
static Axis make_axis(double low, double high, int ticks, bool to_ticks) {
    // beyond these a range overflows, or has no tenth; what lies outside is drawn at the edge
    const double largest_shown = 1e300, least_shown = 1e-290;
    if (!(low <= high)) {
        low = 0;
        high = 1;
    }
    low = fmax(low, -largest_shown);
    high = fmin(high, largest_shown);
    double size = fmax(fabs(low), fabs(high));
    if (high - low <= 1e-12 * size || size < least_shown) { // a constant: show it in the middle
        double air = size < least_shown ? 1 : 0.05 * size;
        low -= air;
        high += air;
    }
    Axis axis = {.low = low, .high = high, .step = nice_step(high - low, ticks)};
    if (to_ticks) {
        axis.low = axis.step * floor(low / axis.step + 1e-9);
        axis.high = axis.step * ceil(high / axis.step - 1e-9);
    }
    double largest = fmax(fabs(axis.low), fabs(axis.high));
    int exponent = largest > 0 ? (int)floor(log10(largest) + 1e-12) : 0;
    axis.exponent = exponent >= 4 || exponent <= -3 ? 3 * (int)floor(exponent / 3.0) : 0;
    return axis;
}

// XML knows no control characters: they are shown as \x1b.
static void print_escaped(FILE* file, const char* text) {
    size_t bytes = strlen(text);
    for (size_t i = 0; i < bytes;) {
        char shown[APP_TEXT_SHOWN];
        i += app_text_show(text + i, bytes - i, shown);
        switch (shown[0]) {
            case '<':
                fputs("&lt;", file);
                break;
            case '>':
                fputs("&gt;", file);
                break;
            case '&':
                fputs("&amp;", file);
                break;
            case '"':
                fputs("&quot;", file);
                break;
            case '\'':
                fputs("&#39;", file);
                break;
            default:
                fputs(shown, file);
        }
    }
}

static void tick_label(char* text, size_t size, const Axis* axis, double value) {
    double scale = pow(10, axis->exponent), step = axis->step / scale;
    int digits = (int)fmax(0, -floor(log10(step) + 1e-9));
    double shown = value / scale;
    if (fabs(shown) < 1e-9 * step) shown = 0;
    snprintf(text, size, "%s%.*f", shown < 0 ? "\xE2\x88\x92" : "", digits > 12 ? 12 : digits,
             fabs(shown));
}

static void print_exponent(FILE* file, int exponent) {
    static const char* const digit[] = {
        "\xE2\x81\xB0", "\xC2\xB9",     "\xC2\xB2",     "\xC2\xB3",     "\xE2\x81\xB4",
        "\xE2\x81\xB5", "\xE2\x81\xB6", "\xE2\x81\xB7", "\xE2\x81\xB8", "\xE2\x81\xB9"};
    char number[16];
    fputs("10", file);
    snprintf(number, sizeof number, "%d", exponent);
    for (const char* c = number; *c != '\0'; ++c) {
        fputs(*c == '-' ? "\xE2\x81\xBB" : digit[*c - '0'], file);
    }
}

typedef struct Frame { // one panel on the page
    Axis x, y;
    double x0, x1, y0, y1; // [px], y0 below y1 on the page: y grows upwards
} Frame;

// On the page or just beside it, also for what is far outside of the range.
static double near_page(double place) {
    return fmin(fmax(place, -9999), 9999);
}

static double page_x(const Frame* frame, double x) {
    return near_page(frame->x0 +
                     (x - frame->x.low) / (frame->x.high - frame->x.low) * (frame->x1 - frame->x0));
}

static double page_y(const Frame* frame, double y) {
    return near_page(frame->y0 +
                     (y - frame->y.low) / (frame->y.high - frame->y.low) * (frame->y1 - frame->y0));
}

static void draw_grid(FILE* file, const Frame* frame, bool labels_below) {
    char label[48];
    for (double k = ceil(frame->y.low / frame->y.step - 1e-9);
         k * frame->y.step <= frame->y.high + 1e-9 * frame->y.step; ++k) {
        double y = page_y(frame, k * frame->y.step);
        bool zero = k == 0;
        fprintf(file, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s'/>\n", frame->x0, y,
                frame->x1, y, zero ? "#adb5bd" : "#e9ecef");
        tick_label(label, sizeof label, &frame->y, k * frame->y.step);
        fprintf(file, "<text x='%.1f' y='%.1f' text-anchor='end'>%s</text>\n", frame->x0 - 9, y + 4,
                label);
    }
    for (double k = ceil(frame->x.low / frame->x.step - 1e-9);
         k * frame->x.step <= frame->x.high + 1e-9 * frame->x.step; ++k) {
        double x = page_x(frame, k * frame->x.step);
        fprintf(file, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#f1f3f5'/>\n", x,
                frame->y0, x, frame->y1);
        if (!labels_below) continue;
        tick_label(label, sizeof label, &frame->x, k * frame->x.step);
        fprintf(file, "<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>\n", x, frame->y0 + 19,
                label);
    }
    fprintf(file, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#868e96'/>\n", frame->x0,
            frame->y0, frame->x1, frame->y0);
}

// Points of one pixel column that matter: first, least, largest, last, in time order.
static void draw_column(FILE* file, const Frame* frame, const double* x, const double* y, int first,
                        int last) {
    int least = first, largest = first;
    for (int i = first; i <= last; ++i) {
        if (y[i] < y[least]) least = i;
        if (y[i] > y[largest]) largest = i;
    }
    int early = least < largest ? least : largest, late = least < largest ? largest : least;
    int keep[4] = {first, early, late, last};
    for (int k = 0; k < 4; ++k) {
        if (k > 0 && keep[k] == keep[k - 1]) continue;
        fprintf(file, "%.2f,%.2f ", page_x(frame, x[keep[k]]), page_y(frame, y[keep[k]]));
    }
}

static void draw_series(FILE* file, const Frame* frame, const AppPlot* plot, const double* y,
                        const char* color) {
    int i = 0;
    while (i < plot->points) {
        while (i < plot->points && !isfinite(y[i])) ++i;
        if (i == plot->points) return;
        fprintf(
            file,
            "<polyline fill='none' stroke='%s' stroke-width='1.6' stroke-linejoin='round' points='",
            color);
        while (i < plot->points && isfinite(y[i])) {
            int last = i, column = (int)(2 * page_x(frame, plot->x[i]));
            while (last + 1 < plot->points && isfinite(y[last + 1]) &&
                   (int)(2 * page_x(frame, plot->x[last + 1])) == column) {
                ++last;
            }
            draw_column(file, frame, plot->x, y, i, last);
            i = last + 1;
        }
        fputs("'/>\n", file);
    }
}

// Unit above the axis on the left, names with their colours beside it on the right.
static void draw_panel_head(FILE* file, const Frame* frame, const AppPlotPanel* panel) {
    fprintf(file, "<text x='%.1f' y='%.1f' text-anchor='end' fill='#495057'>", frame->x0 - 9,
            frame->y1 - 12);
    if (frame->y.exponent != 0) {
        print_exponent(file, frame->y.exponent);
        fputc(' ', file);
    }
    print_escaped(file, panel->unit);
    fputs("</text>\n", file);
    double x = frame->x0;
    for (int i = 0; i < panel->series; ++i) {
        double space = 22 + 6.7 * (double)strlen(panel->item[i].name);
        if (x + space > frame->x1 + right) break; // no room: the line stays unnamed
        fprintf(file,
                "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s' stroke-width='3'/>\n", x,
                frame->y1 - 16, x + 16, frame->y1 - 16, palette[i]);
        fprintf(file, "<text x='%.1f' y='%.1f' fill='#212529'>", x + 22, frame->y1 - 12);
        print_escaped(file, panel->item[i].name);
        fputs("</text>\n", file);
        x += space + 22;
    }
}

static void draw_panel(FILE* file, const AppPlot* plot, int index, const Axis* axis) {
    const AppPlotPanel* panel = &plot->panel[index];
    double low = INFINITY, high = -INFINITY;
    for (int s = 0; s < panel->series; ++s) {
        for (int i = 0; i < plot->points; ++i) {
            if (!isfinite(panel->item[s].y[i])) continue;
            low = fmin(low, panel->item[s].y[i]);
            high = fmax(high, panel->item[s].y[i]);
        }
    }
    double y1 = top + 24 + index * (panel_height + panel_gap);
    Frame f = {*axis, make_axis(low, high, 5, true), left, width - right, y1 + panel_height, y1};
    draw_grid(file, &f, index == plot->panels - 1);
    for (int s = 0; s < panel->series; ++s)
        draw_series(file, &f, plot, panel->item[s].y, palette[s]);
    draw_panel_head(file, &f, panel);
}

void app_plot_print(const AppPlot* plot, FILE* file) {
    double height = top + 24 + plot->panels * (panel_height + panel_gap) - panel_gap + bottom;
    fprintf(
        file,
        "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' viewBox='0 0 %.0f "
        "%.0f' "
        "font-family='Inter, \"Helvetica Neue\", Helvetica, Arial, sans-serif' font-size='12.5' "
        "fill='#495057'>\n<rect width='100%%' height='100%%' fill='white'/>\n",
        width, height, width, height);
    fprintf(file, "<text x='%.1f' y='32' font-size='19' font-weight='600' fill='#212529'>", left);
    print_escaped(file, plot->title);
    fputs("</text>\n", file);
    if (plot->subtitle != NULL) {
        fprintf(file, "<text x='%.1f' y='53' fill='#868e96'>", left);
        print_escaped(file, plot->subtitle);
        fputs("</text>\n", file);
    }
    Axis x = make_axis(plot->points > 0 ? plot->x[0] : 0,
                       plot->points > 0 ? plot->x[plot->points - 1] : 1, 8, false);
    for (int i = 0; i < plot->panels; ++i) draw_panel(file, plot, i, &x);
    fprintf(file, "<text x='%.1f' y='%.1f' text-anchor='middle'>", 0.5 * (left + width - right),
            height - 12);
    print_escaped(file, plot->x_label);
    if (x.exponent != 0) {
        fputs(" [", file);
        print_exponent(file, x.exponent);
        fputs(" s]", file);
    }
    fputs("</text>\n</svg>\n", file);
}

void app_plot_add(AppPlot* plot, const char* unit, const char* name, const double* y) {
    int p = 0;
    while (p < plot->panels && strcmp(plot->panel[p].unit, unit) != 0) ++p;
    if (p == APP_PLOT_PANELS) return;
    AppPlotPanel* panel = &plot->panel[p];
    if (p == plot->panels) {
        plot->panels++;
        panel->unit = unit;
    }
    for (int i = 0; i < panel->series; ++i) {
        if (strcmp(panel->item[i].name, name) == 0) return;
    }
    if (panel->series == APP_PLOT_SERIES) return;
    AppPlotSeries* series = &panel->item[panel->series++];
    snprintf(series->name, sizeof series->name, "%s", name);
    series->y = y;
}

bool app_plot_write(const AppPlot* plot, const char* path, LashError* error) {
    AppOutput* output = app_output_create(path, error);
    if (output == NULL) return false;
    app_plot_print(plot, app_output_stream(output));
    return app_output_finish(output, error);
}
