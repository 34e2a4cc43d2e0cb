// Which part to tighten, the linear chain beside the samples, the worst case, and the assumptions: on
// the page and as text.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/text.h"
#include "app/study/number.h"
#include "app/study/report_html.h"

enum { MOST_FEATURES = 40, FEATURE = 300 };

static const LashStudyParameter* parameter_of(const LashAnalysis* analysis,
                                              const LashParameterEffect* effect) {
    return &analysis->study->parameter[effect->parameter];
}

static const char* feature_of(const LashAnalysis* analysis, const LashParameterEffect* effect,
                              char* text) {
    return lash_outline_feature(analysis->outline, analysis->study, effect->parameter, text,
                                FEATURE);
}

// "H7 to H6", "spread / 1.58".
static const char* finer_text(const LashFiner* f, char* text, size_t size) {
    if (isnan(f->ratio)) {
        snprintf(text, size, "none finer");
    } else if (f->finer[0] != '\0') {
        snprintf(text, size, "%s to %s", f->now, f->finer);
    } else {
        snprintf(text, size, "scatter / %.2f", 1 / f->ratio);
    }
    return text;
}

// The unit of a slope: "N per mm"; a parameter of a fit has the model's unit of length.
static const char* slope_unit(const LashAnalysis* analysis, const LashOutputAnalysis* result,
                              const LashStudyParameter* parameter, char* text, size_t size) {
    static const char* const lengths[] = {"m", "mm", "um", "cm", "in"};
    const char* of = result->unit != NULL && result->unit[0] != '\0' ? result->unit : "";
    const char* per =
        parameter->unit != NULL && parameter->unit[0] != '\0' ? parameter->unit : "unit";
    double metres = lash_outline_length_unit(analysis->outline);
    static const double factors[] = {1, 1e-3, 1e-6, 1e-2, 0.0254};
    for (int i = 0; i < 5 && parameter->fit != NULL && parameter->unit == NULL; ++i) {
        if (fabs(metres / factors[i] - 1) < 1e-9) per = lengths[i];
    }
    snprintf(text, size, "%.60s%sper %.40s", of, of[0] != '\0' ? " " : "", per);
    return text;
}

// ---- which to tighten ---------------------------------------------------------------------------

static void tighten_row(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result,
                        const LashParameterEffect* effect) {
    const LashStudyParameter* parameter = parameter_of(analysis, effect);
    char text[FEATURE], key[160], number[48];
    page_put(page, "<tr><td class=\"text\">");
    page_escape(page, feature_of(analysis, effect, text));
    if (strcmp(text, parameter->name) != 0) {
        page_put(page, "<br><span class=\"soft\">");
        page_escape(page, parameter->name);
        page_put(page, "</span>");
    }
    page_put(page, "</td>");
    snprintf(key, sizeof key, "tighten.%.80s.share", parameter->name);
    html_begin_cell(page, result->name, key, effect->importance);
    page_put(page, "%.1f&nbsp;%%", 100 * effect->importance);
    if (!isnan(effect->importance_ci.low))
        page_put(page, "<br><span class=\"soft\">%.1f to %.1f</span>",
                 100 * effect->importance_ci.low, 100 * effect->importance_ci.high);
    page_put(page, "</td>");
    snprintf(key, sizeof key, "tighten.%.80s.slope", parameter->name);
    html_begin_cell(page, result->name, key, effect->contribution.slope);
    page_put(page, "%s<br><span class=\"soft\">",
             page_number(effect->contribution.slope, number, sizeof number));
    page_escape(page, slope_unit(analysis, result, parameter, text, sizeof text));
    page_put(page, "</span></td><td class=\"text\">");
    page_escape(page, finer_text(&effect->finer, text, sizeof text));
    page_put(page, "</td>");
    snprintf(key, sizeof key, "tighten.%.80s.fall", parameter->name);
    html_begin_cell(page, result->name, key, effect->finer.fall);
    if (isnan(effect->finer.fall)) {
        page_put(page, "&ndash;</td>");
    } else {
        page_put(page, "%.1f&nbsp;%%<br><span class=\"soft\">to %s</span></td>",
                 100 * effect->finer.fall, page_number(effect->finer.sigma, number, sizeof number));
    }
    snprintf(key, sizeof key, "tighten.%.80s.mean_shift", parameter->name);
    html_begin_cell(page, result->name, key, effect->finer.mean_shift);
    bool moves = effect->finer.shift != 0;
    page_put(page, "%s</td></tr>\n",
             page_number(moves ? effect->finer.mean_shift : NAN, number, sizeof number));
}

static void put_groups(Page* page, const char* what, const LashGroup* group, int groups) {
    if (groups == 0) return;
    page_put(page, "<div><table><tr><th>%s</th><th>share of the<br>variance</th></tr>\n", what);
    for (int i = 0; i < groups && i < MOST_FEATURES; ++i) {
        page_put(page, "<tr><td class=\"text\">");
        page_escape(page, group[i].name);
        page_put(page, "</td><td>%.1f&nbsp;%%</td></tr>\n", 100 * group[i].share);
    }
    page_put(page, "</table></div>");
}

static void chain_row(Page* page, const LashOutputAnalysis* analysis, const char* what,
                      const char* keys[2], const double figures[2]) {
    char text[32], ppm[32];
    page_put(page, "<tr><td class=\"text\">%s</td>", what);
    html_cell(page, analysis->name, keys[0], figures[0]);
    html_begin_cell(page, analysis->name, keys[1], figures[1]);
    if (isnan(figures[1])) {
        page_put(page, "&ndash;</td></tr>\n");
        return;
    }
    page_put(page, "%s&nbsp;%%<br><span class=\"soft\">%s</span></td></tr>\n",
             page_percent(figures[1], 3, text, sizeof text), page_ppm(figures[1], ppm, sizeof ppm));
}

static void put_chain(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result) {
    if (!(result->chain.sigma > 0) || !analysis->sample) return;
    char half[48], mean[48];
    const char* counted[] = {"sigma", "out_of_spec"};
    const char* fitted[] = {"sigma", "out_of_spec_fitted"};
    const char* chain[] = {"rss_sigma", "rss_out_of_spec"};
    page_put(page, "<div><table><tr><th>by</th><th>sigma</th><th>out of spec</th></tr>\n");
    chain_row(page, result, "samples, counted", counted,
              (double[]){result->moments.sigma, result->share});
    chain_row(page, result, "samples, normal fit", fitted,
              (double[]){result->moments.sigma, result->fitted});
    chain_row(page, result, "linear chain, root sum square", chain,
              (double[]){result->chain.sigma, result->chain_out});
    page_put(page,
             "</table><p class=\"soft\">The chain takes the sensitivities for constants: where it "
             "differs from the samples, the mechanism is not linear. Arithmetic worst case of the "
             "chain: %s &plusmn; %s.</p></div>",
             page_value(result->moments.mean, result->moments.sigma, mean, sizeof mean),
             page_number(result->chain.half_range, half, sizeof half));
}

void html_tighten(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result) {
    int count = analysis->study->active;
    if (!analysis->shares || isnan(result->effect[0].importance)) return;
    html_begin_section(page, "Which part to tighten");
    page_put(page,
             "<div class=\"scroll\"><table><thead><tr><th>feature</th><th>share of the variance"
             "<br>(95 %%)</th><th>sensitivity</th><th class=\"text\">one ISO grade finer</th>"
             "<th>sigma falls by</th><th>mean moves by</th></tr></thead>\n");
    for (int j = 0; j < count && j < MOST_FEATURES; ++j)
        tighten_row(page, analysis, result, &result->effect[j]);
    page_put(
        page,
        "</table></div><p class=\"soft\">Sensitivity: slope of the linear model. One grade "
        "finer: this one alone, by its share of the variance; a class keeps its letter, so its "
        "middle moves; what has no class scatters by a grade's ratio less.%s</p>",
        count > MOST_FEATURES ? " The forty most important are listed." : "");
    page_put(page, "<div class=\"sides\">");
    put_groups(page, "part, all its features", result->part, result->parts);
    put_groups(page, "joint, both its sides", result->joint, result->joints);
    put_chain(page, analysis, result);
    page_put(page, "</div>");
    html_end_section(page);
}

void text_tighten(const LashAnalysis* analysis, const LashOutputAnalysis* result) {
    enum { SHOWN = 4 };
    if (!analysis->shares || !analysis->sample || isnan(result->effect[0].importance)) return;
    for (int j = 0; j < analysis->study->active && j < SHOWN; ++j) {
        const LashParameterEffect* parameter_effect = &result->effect[j];
        char feature[FEATURE], finer[64], unit[128];
        if (parameter_effect->importance < result->noise || isnan(parameter_effect->finer.fall))
            continue;
        printf("  one grade finer, ");
        app_text_print(stdout, feature_of(analysis, parameter_effect, feature));
        printf(" (%s): sigma falls by %.1f %%; %.4g ",
               finer_text(&parameter_effect->finer, finer, sizeof finer),
               100 * parameter_effect->finer.fall, parameter_effect->contribution.slope);
        app_text_print(stdout,
                       slope_unit(analysis, result, parameter_of(analysis, parameter_effect), unit,
                                  sizeof unit));
        putchar('\n');
    }
    for (int i = 0; i < result->parts && i < SHOWN; ++i) {
        printf("%s %s %.1f %%", i == 0 ? "  parts:" : ",", result->part[i].name,
               100 * result->part[i].share);
        if (i + 1 == result->parts || i + 1 == SHOWN) putchar('\n');
    }
    if (!(result->chain.sigma > 0)) return;
    printf("  linear chain (root sum square): sigma %.4g", result->chain.sigma);
    if (!isnan(result->chain_out))
        printf(", out of spec %.3g %% (%.0f ppm)", 100 * result->chain_out,
               1e6 * result->chain_out);
    putchar('\n');
}

// ---- the worst case -----------------------------------------------------------------------------

static LashWorstSearch search_of(const LashAnalysis* analysis) {
    return (LashWorstSearch){
        .study = analysis->study, .samples = analysis->table, .rows = analysis->worst_rows};
}

static const char* end_of(double value, double low, double high) {
    if (value <= low) return "low end";
    return value >= high ? "high end" : "inside";
}

static void put_corner(Page* page, const LashAnalysis* analysis, const LashWorstCase* worst_case) {
    const LashStudy* study = analysis->study;
    LashWorstSearch search = search_of(analysis);
    page_put(page,
             "<div class=\"scroll\"><table><thead><tr><th>parameter</th><th>value</th>"
             "<th class=\"text\">in its zone</th><th>from</th><th>to</th></tr></thead>\n");
    for (int k = 0; k < study->parameters; ++k) {
        double low, high, sigma = lash_distribution_sigma(&study->parameter[k].distribution);
        char text[3][48];
        if (study->parameter[k].active < 0) continue;
        lash_worst_box(&search, k, &low, &high);
        page_put(page, "<tr><td class=\"text\">");
        page_escape(page, study->parameter[k].name);
        page_put(page, "</td><td>%s</td><td class=\"text\">%s</td><td>%s</td><td>%s</td></tr>\n",
                 page_value(worst_case->x[k], sigma, text[0], sizeof text[0]),
                 end_of(worst_case->x[k], low, high),
                 page_value(low, sigma, text[1], sizeof text[1]),
                 page_value(high, sigma, text[2], sizeof text[2]));
    }
    page_put(page, "</table></div><p>");
    html_replay(page, study, worst_case->x);
    page_put(page, "</p>");
}

static const char* case_value(const LashOutputAnalysis* analysis, double value, char* text,
                              size_t size) {
    return isnan(value) ? "never happens" : page_value(value, analysis->moments.sigma, text, size);
}

void html_worst_case(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result) {
    for (int i = 0; i < analysis->worst_cases; ++i) {
        const LashWorstCase* c = &analysis->worst_case[i];
        char worst[48], sample[48], key[48];
        if (c->output != result - analysis->output) continue;
        bool high = c->side == LASH_WORST_HIGH;
        double limit = high ? result->usl : result->lsl;
        bool out = isnan(c->value) || (high ? c->value > limit : c->value < limit);
        snprintf(key, sizeof key, "worst_case.%s.value", high ? "high" : "low");
        page_put(page, "<section class=\"apart\"><h3>Worst case, %s end: no statistic</h3><p>",
                 high ? "high" : "low");
        page_put(page, "<b%s data-key=\"", out ? " class=\"redtext\"" : "");
        page_escape(page, result->name);
        page_put(page, ".%s\" data-value=\"%.17g\">%s</b>", key,
                 isfinite(c->value) ? c->value : NAN,
                 case_value(result, c->value, worst, sizeof worst));
        page_put(page, " against %s of the worst sample (%lld). ",
                 case_value(result, c->sample_value, sample, sizeof sample), (long long)c->sample);
        page_put(page, "A search over the box of tolerances ran %lld devices%s",
                 (long long)c->points, c->complete ? "" : ", and has not come to its end");
        if (c->unusable > 0)
            page_put(page, "; %lld of them could not be simulated", (long long)c->unusable);
        page_put(
            page,
            ". It tells how bad a device within tolerance can be, not how often that happens%s."
            "</p>",
            analysis->study->correlations > 0 ? "; correlations do not bound it" : "");
        put_corner(page, analysis, c);
        page_put(page, "</section>\n");
    }
}

void text_worst_case(const LashAnalysis* analysis, const LashOutputAnalysis* result) {
    for (int i = 0; i < analysis->worst_cases; ++i) {
        const LashWorstCase* c = &analysis->worst_case[i];
        char worst[48];
        if (c->output != result - analysis->output) continue;
        snprintf(worst, sizeof worst, isnan(c->value) ? "never happens" : "%.6g", c->value);
        printf("  worst case, %s end (no statistic): %s; %lld points%s\n",
               c->side == LASH_WORST_HIGH ? "high" : "low", worst, (long long)c->points,
               c->complete ? "" : ", not ended");
    }
}

// ---- assumptions --------------------------------------------------------------------------------

void html_assumptions(Page* page, const LashAnalysis* analysis) {
    page_put(page,
             "<h2 id=\"assumptions\">Assumptions</h2><p>All that the figures above rest on.</p>"
             "<div class=\"scroll\"><table>\n");
    for (int i = 0; i < analysis->assumptions->rows; ++i) {
        const LashAssumption* row = &analysis->assumptions->row[i];
        page_put(page, "<tr><td class=\"text\">");
        page_escape(page, row->what);
        page_put(page, "</td><td class=\"text wrap\">");
        page_escape(page, row->value);
        page_put(page, "</td></tr>\n");
    }
    page_put(page, "</table></div>\n");
}

void text_assumptions(const LashAnalysis* analysis) {
    printf("assumptions\n");
    for (int i = 0; i < analysis->assumptions->rows; ++i) {
        const LashAssumption* row = &analysis->assumptions->row[i];
        printf("  ");
        app_text_print(stdout, row->what);
        printf(": ");
        app_text_print(stdout, row->value);
        putchar('\n');
    }
}
