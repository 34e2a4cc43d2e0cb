// Pages and drawings. Ticks stand at 1, 2 or 5 times a power of ten, about five of them.
#include "app/study/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

void page_escape(Page* page, const char* text) {
    for (const char* c = text != NULL ? text : ""; *c != '\0'; ++c) {
        const char* code = *c == '&'    ? "&amp;"
                           : *c == '<'  ? "&lt;"
                           : *c == '>'  ? "&gt;"
                           : *c == '"'  ? "&quot;"
                           : *c == '\'' ? "&#39;"
                                        : NULL;
        if (code != NULL) {
            page_put(page, "%s", code);
        } else {
            reserve(page, 1);
            page->text[page->used++] = *c;
            page->text[page->used] = '\0';
        }
    }
}

const char* page_number(double value, char* text, size_t size) {
    if (isnan(value)) {
        snprintf(text, size, "&ndash;");
    } else if (value != 0 && (fabs(value) < 1e-4 || fabs(value) >= 1e7)) {
        snprintf(text, size, "%.3e", value);
    } else {
        snprintf(text, size, "%.4g", value);
        if (strchr(text, 'e') != NULL) snprintf(text, size, "%.0f", value);
    }
    return text;
}

void plot_begin(const Plot* p, const char* label) {
    page_put(p->page, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", p->width,
             p->height);
    page_escape(p->page, label);
    page_put(p->page, "\">");
}

void plot_end(const Plot* p) {
    page_put(p->page, "</svg>\n");
}

double plot_x(const Plot* p, double x) {
    return p->left + (x - p->x0) / (p->x1 - p->x0) * (p->width - p->left - p->right);
}

double plot_y(const Plot* p, double y) {
    return p->height - p->bottom - (y - p->y0) / (p->y1 - p->y0) * (p->height - p->top - p->bottom);
}

static double tick_step(double span, double count) {
    double raw = span / count, power = pow(10, floor(log10(raw))), f = raw / power;
    return power * (f < 1.5 ? 1 : f < 3.5 ? 2 : f < 7.5 ? 5 : 10);
}

static void tick_text(double value, double step, char* text, size_t size) {
    if (fabs(value) < 1e-9 * step) value = 0;
    double large = fmax(fabs(value), step);
    int decimals = (int)fmax(0, -floor(log10(step) + 1e-9));
    if (large >= 1e6 || large < 1e-3) {
        snprintf(text, size, value == 0 ? "0" : "%.3g", value);
    } else {
        snprintf(text, size, "%.*f", decimals, value);
    }
}

void plot_axes(const Plot* p, const char* x_name, const char* y_name) {
    char text[32];
    double right = p->width - p->right, bottom = p->height - p->bottom;
    double step = tick_step(p->x1 - p->x0, (right - p->left) / 75);
    for (double t = ceil(p->x0 / step - 1e-9) * step; t <= p->x1 + 1e-9 * step; t += step) {
        tick_text(t, step, text, sizeof text);
        page_put(p->page,
                 "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"tick\" x=\"%.1f\" "
                 "y=\"%.1f\" text-anchor=\"middle\">%s</text>",
                 plot_x(p, t), p->top, bottom, plot_x(p, t), bottom + 14, text);
    }
    page_put(p->page, "<text class=\"axis\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
             0.5 * (p->left + right), p->height - 4);
    page_escape(p->page, x_name);
    page_put(p->page, "</text>");
    if (y_name != NULL) {
        step = tick_step(p->y1 - p->y0, (bottom - p->top) / 38);
        for (double t = ceil(p->y0 / step - 1e-9) * step; t <= p->y1 + 1e-9 * step; t += step) {
            tick_text(t, step, text, sizeof text);
            page_put(p->page,
                     "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text class=\"tick\" x=\"%.1f\" "
                     "y=\"%.1f\" text-anchor=\"end\">%s</text>",
                     p->left, plot_y(p, t), right, p->left - 5, plot_y(p, t) + 3.5, text);
        }
        page_put(p->page,
                 "<text class=\"axis\" transform=\"translate(11 %.1f) rotate(-90)\" "
                 "text-anchor=\"middle\">",
                 0.5 * (p->top + bottom));
        page_escape(p->page, y_name);
        page_put(p->page, "</text>");
    }
    page_put(p->page, "<path class=\"frame\" d=\"M%.1f %.1fV%.1fH%.1f\"/>", p->left, p->top, bottom,
             right);
}

void plot_range(double* low, double* high, double margin) {
    double span = *high - *low;
    if (!(span > 0)) span = fabs(*low) > 0 ? fabs(*low) * 0.1 : 1;
    *low -= margin * span;
    *high += margin * span;
}
