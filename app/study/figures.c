// The drawings of a report, as inline SVG. Colours are classes: the page's style sheet knows light,
// dark and paper.
#include "app/study/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/study/distribution.h"
#include "app/study/number.h"
#include "core/arena.h"

enum { MOST_BARS = 20, MOST_POINTS = 600 };

static const char* with_unit(const char* name, const char* unit, char* text, size_t size) {
    bool plain = unit == NULL || unit[0] == '\0';
    snprintf(text, size, plain ? "%s" : "%s [%s]", name, unit);
    return text;
}

static const char* parameter_name(const LashAnalysis* analysis, const LashParameterEffect* effect) {
    return analysis->study->parameter[effect->parameter].name;
}

// ---- histogram ----------------------------------------------------------------------------------

// Width by Freedman and Diaconis, 8 to 60 bins.
static int bin_count(const LashOutputAnalysis* analysis) {
    double spread = analysis->percentile[5] - analysis->percentile[3];
    double width = 2 * spread / cbrt((double)analysis->moments.n);
    double range = analysis->moments.max - analysis->moments.min;
    double count = width > 0 ? ceil(range / width) : sqrt((double)analysis->moments.n);
    return (int)fmin(fmax(count, 8), 60);
}

static void limit_line(const Plot* plot, double limit, const char* name) {
    char number[40];
    if (isnan(limit)) return;
    lash_number_exact(limit, number, sizeof number);
    bool left = limit<plot->x0, right = limit> plot->x1;
    double x = left ? plot->left : plot_x(plot, limit);
    if (right) x = plot->width - plot->right;
    if (!left && !right)
        page_put(plot->page, "<path class=\"limit\" d=\"M%.1f %.1fV%.1f\"/>", x, plot->top - 2,
                 plot->height - plot->bottom);
    double width = page_text_width(name) + page_text_width(number) + 30;
    bool before = right || x + width > plot->width;
    page_put(plot->page, "<text class=\"limit-text\" x=\"%.1f\" y=\"%.1f\"%s>%s%s %s%s</text>",
             x + (before ? -4 : 4), plot->top + 8, before ? " text-anchor=\"end\"" : "",
             left ? "&larr; " : "", name, number, right ? " &rarr;" : "");
}

// A place between low (part 0) and high (part 1), also when their difference overflows.
static double between(double low, double high, double part) {
    return (1 - part) * low + part * high;
}

static void draw_fit(const Plot* plot, const LashOutputAnalysis* analysis, double scale) {
    if (!isfinite(scale)) return;
    page_put(plot->page, "<path class=\"fit\" d=\"");
    for (int i = 0; i <= 120; ++i) {
        double x = between(plot->x0, plot->x1, i / 120.0);
        double y =
            scale * lash_normal_density((x - analysis->moments.mean) / analysis->moments.sigma);
        page_put(plot->page, "%c%.1f %.1f", i == 0 ? 'M' : 'L', plot_x(plot, x), plot_y(plot, y));
    }
    page_put(plot->page, "\"/>");
}

typedef struct Bar {
    double from, to; // values of the output
    int low, high;   // samples
} Bar;

static void histogram_bar(const Plot* plot, Bar bar, double sigma, const char* kind) {
    double left = plot_x(plot, bar.from) + 0.5, right = plot_x(plot, bar.to) - 0.5;
    char from[48], to[48];
    if (bar.high <= bar.low) return;
    page_put(plot->page,
             "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>"
             "%s to %s: %d %s</title></rect>",
             kind, left, plot_y(plot, bar.high), fmax(right - left, 0.8),
             plot_y(plot, bar.low) - plot_y(plot, bar.high),
             page_value(bar.from, sigma, from, sizeof from),
             page_value(bar.to, sigma, to, sizeof to), bar.high - bar.low,
             strcmp(kind, "out") == 0 ? "out of spec" : "samples");
}

void figure_histogram(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result) {
    (void)analysis;
    int bins = bin_count(result), most = 0, count[60] = {0}, bad[60] = {0};
    double low = result->moments.min, high = result->moments.max, sigma = result->moments.sigma;
    char axis[128];
    if (!(high > low)) plot_range(&low, &high, 0.5);
    for (int64_t i = 0; i < result->moments.n; ++i) {
        double place = bins * plot_fraction(result->value[i], low, high);
        int b = (int)fmin(fmax(place, 0), bins - 1);
        if (++count[b] > most) most = count[b];
        bad[b] += result->value[i] < result->lsl || result->value[i] > result->usl;
    }
    Plot p = {.page = page, 430, 270, 46, 14, 22, 40, low, high, 0, 1.12 * most, .counts = true};
    // Limits nearer than half the range are shown, others pointed at.
    double span = high - low;
    if (result->lsl < low && result->lsl > low - 0.5 * span) p.x0 = result->lsl;
    if (result->usl > high && result->usl < high + 0.5 * span) p.x1 = result->usl;
    plot_range(&p.x0, &p.x1, 0.03);
    char label[200];
    snprintf(label, sizeof label, "Histogram of %.80s", result->name);
    plot_fit_left(&p);
    plot_begin(&p, label);
    plot_axes(&p, with_unit(result->name, result->unit, axis, sizeof axis), "samples");
    for (int b = 0; b < bins; ++b) { // out of spec stands on top of what is within
        Bar bar = {between(low, high, (double)b / bins), between(low, high, (b + 1.0) / bins)};
        bar.high = count[b] - bad[b];
        histogram_bar(&p, bar, sigma, "bar");
        bar.low = bar.high;
        bar.high = count[b];
        histogram_bar(&p, bar, sigma, "out");
    }
    double width = high / bins - low / bins;
    if (result->distinct > 2) draw_fit(&p, result, (double)result->moments.n * width / sigma);
    limit_line(&p, result->lsl, "LSL");
    limit_line(&p, result->usl, "USL");
    plot_end(&p);
}

static int count_bins(const LashOutputAnalysis* analysis, double low, double high, int bins,
                      int* count) {
    int most = 0;
    for (int64_t i = 0; i < analysis->moments.n; ++i) {
        int b = (int)fmin(fmax(bins * plot_fraction(analysis->value[i], low, high), 0), bins - 1);
        if (++count[b] > most) most = count[b];
    }
    return most;
}

void figure_pair(Page* page, const LashOutputAnalysis* a, const LashOutputAnalysis* b) {
    enum { BINS = 24 };
    int count[2][BINS] = {{0}};
    double low = fmin(a->moments.min, b->moments.min), high = fmax(a->moments.max, b->moments.max);
    double n[] = {fmax((double)a->moments.n, 1), fmax((double)b->moments.n, 1)};
    char axis[128];
    if (!(high > low)) plot_range(&low, &high, 0.5);
    double most = count_bins(a, low, high, BINS, count[0]) / n[0];
    most = fmax(most, count_bins(b, low, high, BINS, count[1]) / n[1]);
    Plot p = {.page = page, 430, 230, 46, 14, 22, 40, low, high, 0, 112 * fmax(most, 0.01)};
    plot_range(&p.x0, &p.x1, 0.03);
    plot_fit_left(&p);
    plot_begin(&p, "Histograms before and after");
    plot_axes(&p, with_unit(a->name, a->unit, axis, sizeof axis), "share of samples [%]");
    for (int i = 0; i < BINS; ++i) {
        double left = plot_x(&p, between(low, high, (double)i / BINS));
        double right = plot_x(&p, between(low, high, (i + 1.0) / BINS));
        double top = plot_y(&p, 100 * count[0][i] / n[0]);
        page_put(page,
                 "<rect class=\"total\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                 left, top, right - left, plot_y(&p, 0) - top);
    }
    page_put(page, "<path class=\"fit\" d=\"M%.1f %.1f", plot_x(&p, low), plot_y(&p, 0));
    for (int i = 0; i < BINS; ++i)
        page_put(page, "V%.1fH%.1f", plot_y(&p, 100 * count[1][i] / n[1]),
                 plot_x(&p, between(low, high, (i + 1.0) / BINS)));
    page_put(page, "V%.1f\"/>", plot_y(&p, 0));
    limit_line(&p, a->lsl, "LSL");
    limit_line(&p, a->usl, "USL");
    plot_end(&p);
}

// ---- bars ---------------------------------------------------------------------------------------

static int bar_count(const LashAnalysis* analysis) {
    return analysis->study->active < MOST_BARS ? analysis->study->active : MOST_BARS;
}

// A name beside a bar, at most this wide [px]: a long one keeps its beginning and its end, which
// tells hole from shaft.
static const double widest_name = 190;

static const char* short_name(const char* name, char* text, size_t size) {
    enum { BEGIN = 12 };
    size_t length = strlen(name), end = length;
    snprintf(text, size, "%s", name);
    if (page_text_width(text) <= widest_name && length < size) return text;
    for (size_t kept = length < 40 ? length : 40; kept > 3; --kept) {
        end = length - kept;
        snprintf(text, size, "%.*s..%s", BEGIN, name, name + end);
        if (page_text_width(text) <= widest_name) break;
    }
    return text;
}

// A plot with a row of `each` for every bar, names at the left and room for numbers at the right.
static Plot bar_plot(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result,
                     double each, double right) {
    int bars = bar_count(analysis);
    double left = 60;
    for (int j = 0; j < bars; ++j) {
        char text[96];
        short_name(parameter_name(analysis, &result->effect[j]), text, sizeof text);
        left = fmax(left, fmin(page_text_width(text), widest_name) + 12);
    }
    return (Plot){.page = page, 430, 44 + each * bars, left, right, 6, 38, 0, 1, 0, bars};
}

static void center_line(const Plot* plot, double x) {
    page_put(plot->page, "<path class=\"center\" d=\"M%.1f %.1fV%.1f\"/>", plot_x(plot, x),
             plot->top, plot->height - plot->bottom);
}

static void bar_name(const Plot* plot, const char* name, double y) {
    char text[96];
    short_name(name, text, sizeof text);
    page_put(plot->page, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">",
             plot->left - 8, y + 4);
    page_escape(plot->page, text);
    page_put(plot->page, "<title>");
    page_escape(plot->page, name);
    page_put(plot->page, "</title></text>");
}

void figure_contributors(Page* page, const LashAnalysis* analysis,
                         const LashOutputAnalysis* result) {
    int n = bar_count(analysis);
    bool share = analysis->shares;
    double scale = share ? 100 : 1, most = share ? 0.1 : 0;
    for (int j = 0; j < n; ++j) {
        most = fmax(most, result->effect[j].importance);
        if (share) most = fmax(most, fmin(result->effect[j].importance_ci.high, 1));
    }
    char axis[128];
    Plot p = bar_plot(page, analysis, result, 22, 60);
    p.x0 = 0;
    p.x1 = most > 0 ? scale * most : 1;
    plot_begin(&p, "Parameters ranked by their influence");
    plot_axes(&p, with_unit(analysis->ranked_by, share ? "%" : result->unit, axis, sizeof axis),
              NULL);
    for (int j = 0; j < n; ++j) {
        const LashParameterEffect* parameter_effect = &result->effect[j];
        double y = plot_y(&p, n - j - 0.5), value = parameter_effect->importance;
        bool chance = value < result->noise;
        char number[32];
        bar_name(&p, parameter_name(analysis, parameter_effect), y);
        if (isnan(value)) continue;
        LashInterval ci = parameter_effect->importance_ci;
        double end = plot_x(&p, fmax(scale * value, 0)), edge = p.width - p.right;
        double low = plot_x(&p, scale * ci.low), high = fmin(plot_x(&p, scale * ci.high), edge);
        double beside = chance ? fmax(end, fmin(plot_x(&p, scale * result->noise), edge)) : end;
        if (!isnan(ci.low)) beside = fmax(beside, high);
        if (share) {
            snprintf(number, sizeof number, "%.1f %%", 100 * value);
        } else {
            page_number(value, number, sizeof number);
        }
        page_put(page,
                 "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\"/><text "
                 "class=\"value\" x=\"%.1f\" y=\"%.1f\">%s</text>",
                 chance ? "total" : "bar", p.left, y - 7, fmax(end - p.left, 0.5), beside + 5,
                 y + 4, number);
        if (isnan(ci.low)) continue;
        page_put(page, "<path class=\"whisker\" d=\"M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6\"/>",
                 low, y, high, low, y - 3, high, y - 3);
    }
    if (scale * result->noise < p.x1) center_line(&p, scale * result->noise);
    plot_end(&p);
}

void figure_tornado(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result) {
    int n = bar_count(analysis);
    double low = result->moments.mean, high = result->moments.mean;
    char axis[128];
    for (int j = 0; j < n; ++j) {
        low = fmin(low, fmin(result->effect[j].low, result->effect[j].high));
        high = fmax(high, fmax(result->effect[j].low, result->effect[j].high));
    }
    plot_range(&low, &high, 0.12);
    Plot p = bar_plot(page, analysis, result, 22, 16);
    p.x0 = low;
    p.x1 = high;
    plot_begin(&p, "Tornado: output at the low and high end of each parameter");
    plot_axes(&p, with_unit(result->name, result->unit, axis, sizeof axis), NULL);
    for (int j = 0; j < n; ++j) {
        const LashParameterEffect* parameter_effect = &result->effect[j];
        double y = plot_y(&p, n - j - 0.5), middle = plot_x(&p, result->moments.mean);
        bar_name(&p, parameter_name(analysis, parameter_effect), y);
        bool overlap = (parameter_effect->low - result->moments.mean) *
                           (parameter_effect->high - result->moments.mean) >
                       0;
        for (int side = 0; side < 2; ++side) {
            double value = side == 0 ? parameter_effect->low : parameter_effect->high;
            if (isnan(value)) continue;
            double end = plot_x(&p, value), top = overlap && side == 1 ? y : y - 7;
            char number[48];
            page_put(page,
                     "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\">"
                     "<title>%s end: %s</title></rect>",
                     side == 0 ? "low" : "high", fmin(end, middle), top, fabs(end - middle),
                     overlap ? 7 : 14, side == 0 ? "low" : "high",
                     page_value(value, result->moments.sigma, number, sizeof number));
        }
    }
    center_line(&p, result->moments.mean);
    plot_end(&p);
}

// ---- main effect and scatter --------------------------------------------------------------------

int64_t figure_point_step(const LashOutputAnalysis* analysis) {
    return (analysis->moments.n + MOST_POINTS - 1) / MOST_POINTS;
}

static void effect_points(const Plot* plot, const LashAnalysis* analysis,
                          const LashOutputAnalysis* result, int parameter) {
    int64_t step = figure_point_step(result);
    for (int out = 0; out < 2; ++out) {
        page_put(plot->page, "<g class=\"%s\">", out ? "dot-out" : "dot");
        for (int64_t i = 0; i < result->moments.n; i += step) {
            double y = result->value[i];
            const LashSample* row = &analysis->table->sample[result->row[i]];
            if ((y < result->lsl || y > result->usl) != out) continue;
            page_put(plot->page, "<a href=\"#s%lld\"><path d=\"M%.1f %.1fh0\"/></a>",
                     (long long)row->id, plot_x(plot, row->x[parameter]), plot_y(plot, y));
        }
        page_put(plot->page, "</g>");
    }
}

static void effect_line(const Plot* plot, const LashParameterEffect* effect) {
    page_put(plot->page, "<path class=\"effect\" d=\"");
    for (int b = 0; b < effect->bins; ++b)
        page_put(plot->page, "%c%.1f %.1f", b == 0 ? 'M' : 'L', plot_x(plot, effect->bin[b].x),
                 plot_y(plot, effect->bin[b].y));
    page_put(plot->page, "\"/><path class=\"whisker\" d=\"");
    for (int b = 0; b < effect->bins; ++b) {
        double half = 1.96 * effect->bin[b].error;
        if (!isfinite(half)) continue;
        page_put(plot->page, "M%.1f %.1fV%.1f", plot_x(plot, effect->bin[b].x),
                 plot_y(plot, effect->bin[b].y - half), plot_y(plot, effect->bin[b].y + half));
    }
    page_put(plot->page, "\"/>");
}

void figure_effect(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result,
                   const LashParameterEffect* effect) {
    const LashStudyParameter* parameter = &analysis->study->parameter[effect->parameter];
    double x0 = INFINITY, x1 = -INFINITY, y0 = result->moments.min, y1 = result->moments.max;
    char x_name[128], y_name[128], label[200];
    for (int64_t i = 0; i < result->moments.n; ++i) {
        double x = analysis->table->sample[result->row[i]].x[effect->parameter];
        x0 = fmin(x0, x);
        x1 = fmax(x1, x);
    }
    plot_range(&x0, &x1, 0.04);
    plot_range(&y0, &y1, 0.06);
    Plot p = {.page = page, 270, 190, 48, 8, 8, 38, x0, x1, y0, y1};
    snprintf(label, sizeof label, "%.80s over %.80s", result->name, parameter->name);
    plot_fit_left(&p);
    plot_begin(&p, label);
    plot_axes(&p, with_unit(parameter->name, parameter->unit, x_name, sizeof x_name),
              with_unit(result->name, result->unit, y_name, sizeof y_name));
    effect_points(&p, analysis, result, effect->parameter);
    effect_line(&p, effect);
    const double limits[] = {result->lsl, result->usl};
    for (int i = 0; i < 2; ++i) {
        if (!(limits[i] > y0 && limits[i] < y1)) continue;
        page_put(page, "<path class=\"limit\" d=\"M%.1f %.1fH%.1f\"/>", p.left,
                 plot_y(&p, limits[i]), p.width - p.right);
    }
    plot_end(&p);
}

// ---- Sobol, Morris ------------------------------------------------------------------------------

static void sobol_bar(const Plot* plot, const char* kind, double y, double value, LashInterval ci) {
    double end = plot_x(plot, fmax(value, 0));
    page_put(plot->page,
             "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"10\"/><path "
             "class=\"whisker\" d=\"M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6\"/>",
             kind, plot->left, y, fmax(end - plot->left, 0.5), plot_x(plot, fmax(ci.low, plot->x0)),
             y + 5, plot_x(plot, fmin(ci.high, plot->x1)), plot_x(plot, fmax(ci.low, plot->x0)),
             y + 2, plot_x(plot, fmin(ci.high, plot->x1)), y + 2);
}

void figure_sobol(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result) {
    int n = bar_count(analysis);
    double most = 1;
    for (int j = 0; j < n; ++j) most = fmax(most, result->effect[j].sobol.total_ci.high);
    Plot p = bar_plot(page, analysis, result, 32, 16);
    p.x0 = -0.05;
    p.x1 = fmin(most, 2);
    plot_begin(&p, "Sobol indices with 95 % intervals");
    plot_axes(&p, "Sobol index: first order (strong), total (muted)", NULL);
    for (int j = 0; j < n; ++j) {
        const LashSobolIndex* index = &result->effect[j].sobol;
        double y = plot_y(&p, n - j - 0.5);
        bar_name(&p, parameter_name(analysis, &result->effect[j]), y);
        if (isnan(index->first)) continue;
        Plot zero = p;
        zero.left = plot_x(&p, 0);
        zero.x0 = 0;
        sobol_bar(&zero, "bar", y - 11, index->first, index->first_ci);
        sobol_bar(&zero, "total", y + 1, index->total, index->total_ci);
    }
    plot_end(&p);
}

void figure_morris(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result) {
    double x = 0, y = 0;
    for (int j = 0; j < analysis->study->active; ++j) {
        x = fmax(x, result->effect[j].morris.mu_star);
        y = fmax(y, result->effect[j].morris.sigma);
    }
    Plot p = {
        .page = page, 430, 290, 56, 20, 14, 40, 0, x > 0 ? 1.15 * x : 1, 0, y > 0 ? 1.15 * y : 1};
    plot_fit_left(&p);
    plot_begin(&p, "Morris: mean and spread of the elementary effects");
    plot_axes(&p, "mu*: mean size of the effect over the whole range",
              "sigma: curvature, interaction");
    double end = fmin(p.x1, p.y1);
    page_put(page, "<path class=\"center\" d=\"M%.1f %.1fL%.1f %.1f\"/>", plot_x(&p, 0),
             plot_y(&p, 0), plot_x(&p, end), plot_y(&p, end));
    for (int j = 0; j < analysis->study->active; ++j) {
        const LashMorrisEffect* morris_effect = &result->effect[j].morris;
        if (isnan(morris_effect->sigma)) continue;
        double px = plot_x(&p, morris_effect->mu_star), py = plot_y(&p, morris_effect->sigma);
        page_put(page,
                 "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/><text class=\"value\" "
                 "x=\"%.1f\" y=\"%.1f\"%s>",
                 px, py, px + (px > 320 ? -8 : 8), py + (j % 2 == 0 ? -5 : 13),
                 px > 320 ? " text-anchor=\"end\"" : "");
        page_escape(page, parameter_name(analysis, &result->effect[j]));
        page_put(page, "</text>");
    }
    plot_end(&p);
}

// ---- convergence --------------------------------------------------------------------------------

typedef struct Band {
    double n, middle, low, high;
} Band;

static void draw_band(Plot* plot, const Band* band, int count, const char* name,
                      const char* label) {
    plot->y0 = INFINITY;
    plot->y1 = -INFINITY;
    for (int i = 0; i < count; ++i) {
        plot->y0 = fmin(plot->y0, band[i].low);
        plot->y1 = fmax(plot->y1, band[i].high);
    }
    plot_range(&plot->y0, &plot->y1, 0.06);
    plot->x0 = 0;
    plot->x1 = band[count - 1].n;
    plot_fit_left(plot);
    plot_begin(plot, label);
    plot_axes(plot, "samples", name);
    page_put(plot->page, "<path class=\"band\" d=\"");
    for (int i = 0; i < count; ++i)
        page_put(plot->page, "%c%.1f %.1f", i == 0 ? 'M' : 'L', plot_x(plot, band[i].n),
                 plot_y(plot, band[i].high));
    for (int i = count - 1; i >= 0; --i)
        page_put(plot->page, "L%.1f %.1f", plot_x(plot, band[i].n), plot_y(plot, band[i].low));
    page_put(plot->page, "Z\"/><path class=\"effect\" d=\"");
    for (int i = 0; i < count; ++i)
        page_put(plot->page, "%c%.1f %.1f", i == 0 ? 'M' : 'L', plot_x(plot, band[i].n),
                 plot_y(plot, band[i].middle));
    page_put(plot->page, "\"/>");
    plot_end(plot);
}

void figure_mean(Page* page, const LashOutputAnalysis* analysis) {
    Band band[LASH_CONVERGENCE];
    char name[128];
    int count = 0;
    for (int i = 0; i < analysis->convergence_points; ++i) {
        const LashConvergencePoint* point = &analysis->convergence[i];
        if (isfinite(point->half)) // it may not have happened yet
            band[count++] = (Band){(double)point->n, point->mean, point->mean - point->half,
                                   point->mean + point->half};
    }
    Plot p = {.page = page, 270, 190, 52, 8, 10, 38};
    snprintf(name, sizeof name, "mean of %.60s%s%.30s%s", analysis->name,
             analysis->unit != NULL ? " [" : "", analysis->unit != NULL ? analysis->unit : "",
             analysis->unit != NULL ? "]" : "");
    if (count > 0) draw_band(&p, band, count, name, "Mean and its 95 % interval over samples");
}

void figure_share(Page* page, const LashOutputAnalysis* analysis) {
    Band band[LASH_CONVERGENCE];
    for (int i = 0; i < analysis->convergence_points; ++i) {
        const LashConvergencePoint* point = &analysis->convergence[i];
        band[i] = (Band){(double)point->n, 100 * point->share, 100 * point->share_ci.low,
                         100 * point->share_ci.high};
    }
    Plot p = {.page = page, 270, 190, 52, 8, 10, 38};
    draw_band(&p, band, analysis->convergence_points, "out of spec [%]",
              "Share out of specification and its 95 % interval over samples");
}
