// Pages and drawings. Ticks stand at 1, 2 or 5 times a power of ten, about five of them; those of a
// scale in decades at powers of ten, between them at 2 and 5 where there are few.
#include "app/study/page.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/text.h"
#include "app/study/number.h"
#include "core/arena.h"

static void reserve(Page* page, size_t more) {
    if (page->used + more + 1 <= page->capacity) return;
    page->capacity = 2 * (page->used + more + 1);
    page->text = lash_realloc(page->text, page->capacity);
}

void page_free(Page* page) {
    lash_free(page->text);
    *page = (Page){0};
}

void page_put(Page* page, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    reserve(page, (size_t)length);
    va_start(arguments, format);
    vsnprintf(page->text + page->used, (size_t)length + 1, format, arguments);
    va_end(arguments);
    page->used += (size_t)length;
}

static const char* entity_of(char c) {
    switch (c) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '"':
            return "&quot;";
        case '\'':
            return "&#39;";
        default:
            return NULL;
    }
}

void page_escape(Page* page, const char* text) {
    size_t bytes = text != NULL ? strlen(text) : 0;
    for (size_t i = 0; i < bytes;) {
        char shown[APP_TEXT_SHOWN];
        bool cut = (unsigned char)text[i] >= 0xC2 && bytes - i < 4;
        if (cut && app_utf8_length(text + i, bytes - i) == 0) return; // its end was left out
        i += app_text_show(text + i, bytes - i, shown);
        const char* entity = entity_of(shown[0]);
        page_put(page, "%s", entity != NULL ? entity : shown);
    }
}

const char* page_number(double value, char* text, size_t size) {
    if (!isfinite(value)) {
        snprintf(text, size, "&ndash;");
    } else if (value != 0 && (fabs(value) < 1e-4 || fabs(value) >= 1e7)) {
        snprintf(text, size, "%.3e", value);
    } else {
        snprintf(text, size, "%.4g", value);
        if (strchr(text, 'e') != NULL) snprintf(text, size, "%.0f", value);
    }
    return text;
}

const char* page_value(double value, double sigma, char* text, size_t size) {
    if (!isfinite(value)) return page_number(value, text, size);
    return lash_number_by_sigma(value, sigma, text, size);
}

const char* page_percent(double share, int digits, char* text, size_t size) {
    double percent = 100 * share;
    if (isnan(share)) {
        snprintf(text, size, "&ndash;");
    } else if (percent > 0 && percent < 0.001) {
        snprintf(text, size, "&lt; 0.001");
    } else {
        if (percent >= 99.5) digits = 4; // not 1e+02
        snprintf(text, size, "%.*g", digits, percent);
    }
    return text;
}

const char* page_ppm(double share, char* text, size_t size) {
    double ppm = 1e6 * share;
    if (isnan(share)) {
        snprintf(text, size, "&ndash;");
    } else if (ppm > 0 && ppm < 0.1) {
        snprintf(text, size, "&lt; 0.1&nbsp;ppm");
    } else if (ppm >= 1000) {
        snprintf(text, size, "%.0f&nbsp;%03d&nbsp;ppm", floor(rint(ppm) / 1000),
                 (int)fmod(rint(ppm), 1000));
    } else {
        snprintf(text, size, "%.3g&nbsp;ppm", ppm);
    }
    return text;
}

void plot_begin(const Plot* plot, const char* label) {
    page_put(plot->page, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", plot->width,
             plot->height);
    page_escape(plot->page, label);
    page_put(plot->page, "\">");
}

void plot_end(const Plot* plot) {
    page_put(plot->page, "</svg>\n");
}

double plot_fraction(double x, double low, double high) {
    if (isinf(high - low)) return (0.5 * x - 0.5 * low) / (0.5 * high - 0.5 * low);
    return (x - low) / (high - low);
}

// What lies far outside, or is no number, is drawn beside the picture.
static double near_page(double place) {
    return fmin(fmax(place, -9999), 9999);
}

static double axis_fraction(double value, double low, double high, bool decades) {
    if (decades) return plot_fraction(log10(value), log10(low), log10(high));
    return plot_fraction(value, low, high);
}

double plot_x(const Plot* plot, double x) {
    return near_page(plot->left + axis_fraction(x, plot->x0, plot->x1, plot->log_x) *
                                      (plot->width - plot->left - plot->right));
}

double plot_y(const Plot* plot, double y) {
    return near_page(plot->height - plot->bottom -
                     axis_fraction(y, plot->y0, plot->y1, plot->log_y) *
                         (plot->height - plot->top - plot->bottom));
}

enum { MOST_TICKS = 50 }; // also when the range is a rounding error wide

static double tick_step(double span, double count) {
    return app_nice_number(span / count);
}

// Numbers of an axis are shown in units of 10^exponent, which stands at its end: 0, or a multiple
// of three that keeps them short.
static int axis_exponent(double low, double high) {
    double large = fmax(fabs(low), fabs(high));
    if (!(large > 0) || (large >= 0.02 && large < 1e5)) return 0;
    return (int)fmax(3 * floor(log10(large) / 3), -306); // 1e-307 is the last power of ten there is
}

static const char* tick_text(double value, double step, char* text, size_t size) {
    if (fabs(value) < 1e-9 * step) value = 0;
    double digits = fmin(fmax(-floor(log10(step) + 1e-9), 0), 20);
    snprintf(text, size, "%.*f", (int)digits, value);
    return text;
}

static void put_exponent(const Plot* plot, int exponent, const char* anchor, double x, double y) {
    if (exponent == 0) return;
    page_put(plot->page,
             "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">&times;10<tspan "
             "dy=\"-4\" font-size=\"9\">%d</tspan></text>",
             x, y, anchor, exponent);
}

static double letter_width(char c) { // at most, in the type of drawings [px]
    if (strchr("mwMW@%&", c) != NULL) return 11.5;
    if (strchr("ijltfrI.,:;'| ()[]", c) != NULL) return 5.2;
    return c >= 'A' && c <= 'Z' ? 9 : 7.3;
}

double page_text_width(const char* text) {
    double width = 0;
    for (; *text != '\0'; ++text) {
        if (((unsigned char)*text & 0xC0) != 0x80) width += letter_width(*text); // not inside UTF-8
    }
    return width;
}

// What does not fit into `room` loses its unit, then its end.
static const char* fit_name(const char* name, double room, char* text, size_t size) {
    const char* unit = strstr(name, " [");
    bool whole = page_text_width(name) <= room || unit == NULL;
    snprintf(text, size, "%.*s", whole ? (int)size : (int)(unit - name), name);
    for (size_t n = strlen(text); n > 4 && page_text_width(text) > room; --n)
        snprintf(text + n - 3, size - n + 3, "..");
    return text;
}

// ---- scales in decades --------------------------------------------------------------------------

typedef struct Decades {
    int first, last; // powers of ten in the range
    int step;        // of the labelled ones
    bool between;    // 2 and 5 times them too
} Decades;

static Decades decades_of(double low, double high, double room) {
    Decades d = {(int)ceil(log10(low) - 1e-9), (int)floor(log10(high) + 1e-9), 1, false};
    double span = log10(high) - log10(low);
    while (span / d.step > room) ++d.step;
    d.between = span < 2;
    return d;
}

// One tick of a scale in decades, `value` = digit 10^power.
static void decade_tick(const Plot* plot, bool vertical, int digit, int power) {
    double value = digit * pow(10, power), bottom = plot->height - plot->bottom;
    if (vertical && !(value >= plot->y0 * (1 - 1e-9) && value <= plot->y1 * (1 + 1e-9))) return;
    if (!vertical && !(value >= plot->x0 * (1 - 1e-9) && value <= plot->x1 * (1 + 1e-9))) return;
    if (vertical) {
        double y = plot_y(plot, value);
        page_put(plot->page,
                 "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text class=\"tick\" x=\"%.1f\" "
                 "y=\"%.1f\" text-anchor=\"end\">",
                 plot->left, y, plot->width - plot->right, plot->left - 5, y + 3.5);
    } else {
        double x = plot_x(plot, value);
        page_put(plot->page,
                 "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"tick\" x=\"%.1f\" "
                 "y=\"%.1f\" text-anchor=\"middle\">",
                 x, plot->top, bottom, x, bottom + 15);
    }
    if (digit > 1) page_put(plot->page, "%d&middot;", digit);
    page_put(plot->page, "10<tspan dy=\"-4\" font-size=\"9\">%d</tspan></text>", power);
}

static void decade_ticks(const Plot* plot, bool vertical) {
    double length =
        vertical ? plot->height - plot->top - plot->bottom : plot->width - plot->left - plot->right;
    double low = vertical ? plot->y0 : plot->x0, high = vertical ? plot->y1 : plot->x1;
    Decades d = decades_of(low, high, length / (vertical ? 24 : 44));
    for (int power = d.first - 1; power <= d.last; ++power) {
        if (power % d.step != 0) continue;
        decade_tick(plot, vertical, 1, power);
        if (!d.between) continue;
        decade_tick(plot, vertical, 2, power);
        decade_tick(plot, vertical, 5, power);
    }
}

// ---- axes ---------------------------------------------------------------------------------------

static void x_ticks(const Plot* plot, int exponent) {
    char text[48];
    double right = plot->width - plot->right, bottom = plot->height - plot->bottom;
    double unit = pow(10, exponent),
           step = tick_step(plot->x1 / unit - plot->x0 / unit, (right - plot->left) / 70);
    double first = ceil(plot->x0 / unit / step - 1e-9);
    for (int i = 0; i < MOST_TICKS && (first + i) * step <= plot->x1 / unit + 1e-9 * step; ++i) {
        double t = (first + i) * step;
        page_put(plot->page,
                 "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"tick\" x=\"%.1f\" "
                 "y=\"%.1f\" text-anchor=\"middle\">%s</text>",
                 plot_x(plot, t * unit), plot->top, bottom, plot_x(plot, t * unit), bottom + 14,
                 tick_text(t, step, text, sizeof text));
    }
    put_exponent(plot, exponent, "end", plot->width - 1, plot->height - 4);
}

static void x_axis(const Plot* plot, const char* name) {
    double right = plot->width - plot->right;
    int exponent = plot->log_x ? 0 : axis_exponent(plot->x0, plot->x1);
    if (plot->log_x) {
        decade_ticks(plot, false);
    } else {
        x_ticks(plot, exponent);
    }
    double middle = 0.5 * (plot->left + right), taken = exponent != 0 ? 44 : 4;
    double room = 2 * fmin(middle - 4, plot->width - taken - middle);
    char shown[128];
    page_put(plot->page, "<text class=\"axis\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
             middle, plot->height - 4);
    page_escape(plot->page, fit_name(name, room, shown, sizeof shown));
    page_put(plot->page, "</text>");
}

typedef struct Ticks {
    int exponent;
    double unit, step, first; // numbers are (first + i) step unit
} Ticks;

static Ticks y_ticks(const Plot* plot) {
    Ticks t = {.exponent = plot->counts ? 0 : axis_exponent(plot->y0, plot->y1)};
    t.unit = pow(10, t.exponent);
    t.step = tick_step(plot->y1 / t.unit - plot->y0 / t.unit,
                       (plot->height - plot->bottom - plot->top) / 36);
    if (plot->counts) t.step = fmax(t.step, 1);
    t.first = ceil(plot->y0 / t.unit / t.step - 1e-9);
    return t;
}

void plot_fit_left(Plot* plot) {
    const double name = 22, most = 0.5 * plot->width; // [px]
    if (plot->log_y) {                                // the widest label is 5x10^-16
        plot->left = fmax(plot->left, 40 + name);
        return;
    }
    Ticks t = y_ticks(plot);
    char text[48];
    for (int i = 0; i < MOST_TICKS; ++i) {
        double tick = (t.first + i) * t.step;
        if (!(tick <= plot->y1 / t.unit + 1e-9 * t.step)) break;
        double width = page_text_width(tick_text(tick, t.step, text, sizeof text));
        plot->left = fmin(fmax(plot->left, width + name), most);
    }
}

static void put_y_ticks(const Plot* plot) {
    char text[48];
    double right = plot->width - plot->right;
    Ticks ticks = y_ticks(plot);
    int exponent = ticks.exponent;
    double unit = ticks.unit, step = ticks.step, first = ticks.first;
    for (int i = 0; i < MOST_TICKS && (first + i) * step <= plot->y1 / unit + 1e-9 * step; ++i) {
        double t = (first + i) * step;
        page_put(plot->page,
                 "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text class=\"tick\" x=\"%.1f\" "
                 "y=\"%.1f\" text-anchor=\"end\">%s</text>",
                 plot->left, plot_y(plot, t * unit), right, plot->left - 5,
                 plot_y(plot, t * unit) + 3.5, tick_text(t, step, text, sizeof text));
    }
    put_exponent(plot, exponent, "start", plot->left + 3, plot->top + 8);
}

static void y_axis(const Plot* plot, const char* name) {
    if (plot->log_y) {
        decade_ticks(plot, true);
    } else {
        put_y_ticks(plot);
    }
    page_put(plot->page,
             "<text class=\"axis\" transform=\"translate(13 %.1f) rotate(-90)\" "
             "text-anchor=\"middle\">",
             0.5 * plot->height);
    char shown[128];
    fit_name(name, plot->height - 8, shown, sizeof shown);
    page_escape(plot->page, shown);
    page_put(plot->page, "</text>");
}

void plot_axes(const Plot* plot, const char* x_name, const char* y_name) {
    x_axis(plot, x_name);
    if (y_name != NULL) y_axis(plot, y_name);
    page_put(plot->page, "<path class=\"frame\" d=\"M%.1f %.1fV%.1fH%.1f\"/>", plot->left,
             plot->top, plot->height - plot->bottom, plot->width - plot->right);
}

void plot_range(double* low, double* high, double margin) {
    double span = *high - *low;
    if (!(span > 0)) span = fabs(*low) > 0 ? fabs(*low) * 0.1 : 1;
    *low = fmax(*low - margin * span, -DBL_MAX);
    *high = fmin(*high + margin * span, DBL_MAX);
    if (*high > *low) return;
    *low -= DBL_MIN; // so small that a tenth of it is nothing
    *high += DBL_MIN;
}
