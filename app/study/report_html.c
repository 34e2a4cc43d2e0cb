// The page of a study: one file without scripts or outside references; light, dark and paper by the
// reader's settings. Every figure that the JSON document also has carries its key and all its
// digits in data-key and data-value.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/output_file.h"
#include "app/cli/report.h"
#include "app/study/analysis.h"
#include "app/study/figures.h"
#include "app/study/number.h"
#include "app/study/page.h"
#include "app/study/report_html.h"
#include "core/arena.h"

enum { MOST_EFFECTS = 12, MOST_FAILED = 50 };

// ---- small pieces -------------------------------------------------------------------------------

void html_begin_cell(Page* page, const char* output, const char* key, double value) {
    page_put(page, "<td data-key=\"");
    page_escape(page, output);
    page_put(page, ".");
    page_escape(page, key);
    page_put(page, "\" data-value=\"%.17g\">", isfinite(value) ? value : NAN);
}

void html_cell(Page* page, const char* output, const char* key, double value) {
    char text[48];
    html_begin_cell(page, output, key, value);
    page_put(page, "%s</td>", page_number(value, text, sizeof text));
}

void html_value_cell(Page* page, const LashOutputAnalysis* analysis, const char* key,
                     double value) {
    char text[48];
    html_begin_cell(page, analysis->name, key, value);
    page_put(page, "%s</td>", page_value(value, analysis->moments.sigma, text, sizeof text));
}

// A limit as it was given.
static void limit_cell(Page* page, const char* output, const char* key, double value) {
    char text[48];
    html_begin_cell(page, output, key, value);
    page_put(page, "%s</td>",
             isnan(value) ? "&ndash;" : lash_number_exact(value, text, sizeof text));
}

static void index_cell(Page* page, const char* output, const char* key, double value) {
    html_begin_cell(page, output, key, value);
    page_put(page, isnan(value) ? "&ndash;</td>" : "%.3f</td>", value);
}

static void percent_cell(Page* page, const char* output, const char* key, double value,
                         LashInterval ci) {
    html_begin_cell(page, output, key, value);
    if (isnan(value)) {
        page_put(page, "&ndash;</td>");
        return;
    }
    char text[32], low[32], high[32], ppm[32];
    page_put(page,
             "<span%s>%s&nbsp;%%</span><br><span class=\"soft\">%s to %s&nbsp;%%<br>%s</span></td>",
             value > 0.01 ? " class=\"redtext\"" : "", page_percent(value, 3, text, sizeof text),
             page_percent(ci.low, 2, low, sizeof low), page_percent(ci.high, 2, high, sizeof high),
             page_ppm(value, ppm, sizeof ppm));
}

void html_plain_cell(Page* page, double value) {
    char text[48];
    page_put(page, "<td>%s</td>", page_number(value, text, sizeof text));
}

static void spread_cell(Page* page, double value, double sigma) {
    char text[48];
    page_put(page, "<td>%s</td>", page_value(value, sigma, text, sizeof text));
}

static void card(Page* page, const char* value, const char* name) {
    page_put(page, "<div class=\"card\"><b>");
    page_escape(page, value);
    page_put(page, "</b><span>%s</span></div>", name);
}

void html_begin_section(Page* page, const char* heading) {
    page_put(page, "<section><h3>%s</h3>", heading);
}

void html_end_section(Page* page) {
    page_put(page, "</section>\n");
}

static void begin_figure(Page* page) {
    page_put(page, "<figure>");
}

static void end_figure(Page* page, const char* caption) {
    page_put(page, "<figcaption>%s</figcaption></figure>\n", caption);
}

// ---- head ---------------------------------------------------------------------------------------

static void put_head(Page* page, const LashAnalysis* analysis, const LashStore* store) {
    const LashStudy* study = analysis->study;
    const char* title = study->name != NULL ? study->name : study->file;
    char text[64];
    page_put(page,
             "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
             "name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>");
    page_escape(page, title);
    page_put(page, "</title><link rel=\"icon\" href=\"data:,\"><style>%s</style></head><body>\n",
             html_style);
    page_put(page, "<h1>");
    page_escape(page, title);
    page_put(page, "</h1><p class=\"soft\">");
    page_escape(page, study->description);
    page_put(page, "</p><div class=\"cards\" id=\"overview\">");
    snprintf(text, sizeof text, "%lld", (long long)analysis->table->rows);
    char name[96];
    snprintf(name, sizeof name, "samples of %lld planned", (long long)analysis->planned);
    card(page, text, name);
    snprintf(text, sizeof text, "%lld",
             (long long)(analysis->table->rows - analysis->counts[LASH_SAMPLE_OK]));
    card(page, text, "failed");
    card(page, lash_design_name((LashDesignType)study->design.type), "design");
    snprintf(text, sizeof text, "%d", study->active);
    card(page, text, "parameters vary");
    snprintf(text, sizeof text, "%llu", (unsigned long long)study->seed);
    card(page, text, "seed");
    if (study->model_path != NULL) {
        if (analysis->steps >= 1e6) {
            snprintf(text, sizeof text, "%.3g million", 1e-6 * analysis->steps);
        } else {
            snprintf(text, sizeof text, "%.0f", analysis->steps);
        }
        card(page, text, "time steps");
        snprintf(text, sizeof text, "%.1e m", analysis->penetration);
        card(page, text, "deepest penetration");
    }
    page_put(page, "</div><p class=\"soft\">");
    if (study->model_path != NULL) {
        page_put(page, "Model <code>");
        page_escape(page, study->model_path);
        page_put(page, "</code>, ");
    }
    page_put(page, "store <code>");
    page_escape(page, lash_store_path(store));
    const char* begun = lash_store_text(store, "created"); // 2026-01-31T12:00:00Z
    page_put(page, "</code>, begun <time>%.10s&nbsp;%.5s&nbsp;UTC</time> with lash&nbsp;", begun,
             begun + 11); // its form was checked
    page_escape(page, lash_store_text(store, "version"));
    page_put(page, ".</p>\n");
}

// ---- summary ------------------------------------------------------------------------------------

static void output_cell(Page* page, const LashAnalysis* analysis, int index) {
    const LashOutputAnalysis* result = &analysis->output[index];
    page_put(page, "<tr><td><a href=\"#output%d\">", index);
    page_escape(page, result->name);
    page_put(page, "</a> <span class=\"soft\">");
    page_escape(page, result->unit);
    page_put(page, "</span></td>");
}

static void put_values(Page* page, const LashAnalysis* analysis) {
    page_put(page,
             "<div class=\"scroll\"><table><tr><th>output</th><th>n</th><th>mean</th><th>sigma</th>"
             "<th>min</th><th>5 %%</th><th>50 %%</th><th>95 %%</th><th>max</th></tr>\n");
    for (int i = 0; i < analysis->study->outputs; ++i) {
        const LashOutputAnalysis* result = &analysis->output[i];
        output_cell(page, analysis, i);
        html_cell(page, result->name, "n", (double)result->moments.n);
        html_value_cell(page, result, "mean", result->moments.mean);
        html_cell(page, result->name, "sigma", result->moments.sigma);
        html_value_cell(page, result, "min", result->moments.min);
        html_value_cell(page, result, "p05", result->percentile[2]);
        html_value_cell(page, result, "p50", result->percentile[4]);
        html_value_cell(page, result, "p95", result->percentile[6]);
        html_value_cell(page, result, "max", result->moments.max);
        page_put(page, "</tr>\n");
    }
    page_put(page, "</table></div>");
}

static void put_limits(Page* page, const LashAnalysis* analysis) {
    int shown = 0;
    for (int i = 0; i < analysis->study->outputs; ++i) {
        const LashOutputAnalysis* result = &analysis->output[i];
        if (isnan(result->lsl) && isnan(result->usl)) continue;
        if (shown++ == 0) {
            page_put(page,
                     "<section><div class=\"scroll\"><table><tr><th>specification</th><th>LSL</th>"
                     "<th>USL</th><th>Cp</th><th>Cpk</th><th>Cpk by<br>percentiles</th><th>out of "
                     "spec,<br>counted</th><th>out of spec,<br>normal fit</th></tr>\n");
        }
        output_cell(page, analysis, i);
        limit_cell(page, result->name, "lsl", result->lsl);
        limit_cell(page, result->name, "usl", result->usl);
        html_cell(page, result->name, "cp", result->capability.cp);
        html_cell(page, result->name, "cpk", result->capability.cpk);
        html_cell(page, result->name, "cpk_percentile", result->capability.cpk_percentile);
        percent_cell(page, result->name, "out_of_spec", result->share, result->share_ci);
        percent_cell(page, result->name, "out_of_spec_fitted", result->fitted, result->fitted_ci);
        page_put(page, "</tr>\n");
    }
    page_put(page, shown > 0 ? "</table></div></section>"
                             : "<p class=\"soft\">No output has specification limits.</p>");
}

static void put_summary(Page* page, const LashAnalysis* analysis) {
    page_put(page, "<h2 id=\"summary\">Summary</h2>");
    put_values(page, analysis);
    put_limits(page, analysis);
    if (!analysis->sample) {
        page_put(page,
                 "<p class=\"soft\">This design is no random sample of the parameters: mean, sigma "
                 "and percentiles describe its points, capabilities and shares are left out.</p>");
    }
}

// ---- one output ---------------------------------------------------------------------------------

// What drives the output, in a sentence.
static void put_driver(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result) {
    const LashParameterEffect* parameter_effect = &result->effect[0];
    bool sobol = lash_study_analysis(analysis->study) == LASH_ANALYSIS_SOBOL;
    if (analysis->study->active == 0 || result->distinct < 2) return;
    if (isnan(parameter_effect->importance)) {
        page_put(page, "%lld samples are too few to rank %d %s. ", (long long)result->moments.n,
                 analysis->study->active,
                 app_plural(analysis->study->active, "parameter", "parameters"));
        return;
    }
    if (parameter_effect->importance < result->noise) {
        page_put(page,
                 "No parameter stands out by itself: with %lld samples a share of the variance "
                 "below %.1f %% may be chance. ",
                 (long long)result->moments.n, 100 * result->noise);
        return;
    }
    page_put(page, "<b>");
    page_escape(page, analysis->study->parameter[parameter_effect->parameter].name);
    if (!analysis->shares) {
        char number[48];
        page_put(page, "</b> moves it most: by %s",
                 page_number(parameter_effect->importance, number, sizeof number));
        if (result->unit != NULL) page_put(page, " ");
        page_escape(page, result->unit);
        page_put(page, " over its range. ");
    } else if (parameter_effect->importance < 0.1) {
        page_put(page,
                 "</b> matters most, but explains only %.0f %% of the variance: the parameters "
                 "act together, or small changes decide which way impacts go. ",
                 100 * parameter_effect->importance);
    } else {
        page_put(page, "</b> matters most: %.0f %% of the variance%s. ",
                 100 * parameter_effect->importance,
                 sobol ? ", interactions included" : " by itself");
    }
    if (result->note[0] != '\0' && parameter_effect->importance > 1)
        page_put(page, "%s ", result->note);
}

static void put_shape(Page* page, const LashOutputAnalysis* analysis) {
    char low[48], high[48];
    page_value(analysis->moments.min, analysis->moments.sigma, low, sizeof low);
    page_value(analysis->moments.max, analysis->moments.sigma, high, sizeof high);
    if (analysis->distinct == 1) {
        page_put(page, "Every sample gave %s. ", low);
    } else if (analysis->distinct == 2) {
        page_put(page,
                 "Only the values %s and %s occur: the counted share is what tells; sigma, Cpk and "
                 "the normal fit mean nothing here. ",
                 low, high);
    } else if (analysis->moments.kurtosis > 20) {
        page_put(page,
                 "A few extreme samples carry most of the variance: look at the worst ones "
                 "below. ");
    }
    if (!isnan(analysis->share) && analysis->distinct > 2 && analysis->normality.p < 0.05) {
        page_put(page,
                 "The values are not normal (Anderson-Darling p %s): trust the counted share "
                 "and the percentiles, not Cpk and the normal fit.",
                 analysis->normality.p < 0.001 ? "&lt; 0.001" : "&lt; 0.05");
    }
}

static void put_verdict(Page* page, const LashAnalysis* analysis,
                        const LashOutputAnalysis* result) {
    bool limits = !isnan(result->share);
    const char* verdict = result->share > 0.01 ? "bad" : "good";
    page_put(page, "<p class=\"verdict %s\">", limits ? verdict : "");
    if (limits) {
        char share[32], low[32], high[32];
        page_put(page,
                 "<b>%s %% out of spec</b> (%lld of %lld; with 95 %% confidence %s to %s %%). ",
                 page_percent(result->share, 3, share, sizeof share), (long long)result->out,
                 (long long)(result->moments.n + result->missing),
                 page_percent(result->share_ci.low, 2, low, sizeof low),
                 page_percent(result->share_ci.high, 2, high, sizeof high));
    }
    if (result->missing > 0)
        page_put(page, "In %lld %s it never happened%s. ", (long long)result->missing,
                 result->missing == 1 ? "sample" : "samples",
                 limits ? ", which counts as out of spec" : "");
    put_driver(page, analysis, result);
    put_shape(page, result);
    page_put(page, "</p>\n");
}

static void put_percentiles(Page* page, const LashOutputAnalysis* analysis) {
    static const char* const names[LASH_PERCENTILES] = {
        "0.135 %", "1 %", "5 %", "25 %", "50 %", "75 %", "95 %", "99 %", "99.865 %"};
    static const char* const keys[LASH_PERCENTILES] = {"p00135", "p01", "p05", "p25",   "p50",
                                                       "p75",    "p95", "p99", "p99865"};
    page_put(page, "<div><h3>Percentiles and shape</h3><table>");
    for (int i = 0; i < LASH_PERCENTILES; ++i) {
        page_put(page, "<tr><th>%s</th>", names[i]);
        html_value_cell(page, analysis, keys[i], analysis->percentile[i]);
        page_put(page, "</tr>");
    }
    page_put(page, "<tr><th>skewness</th>");
    html_cell(page, analysis->name, "skewness", analysis->moments.skewness);
    page_put(page, "</tr><tr><th>kurtosis</th>");
    html_cell(page, analysis->name, "kurtosis", analysis->moments.kurtosis);
    page_put(page, "</tr></table></div>\n");
}

static void html_morris(Page* page, const LashAnalysis* analysis,
                        const LashOutputAnalysis* result) {
    html_begin_section(page, "Morris");
    begin_figure(page);
    figure_morris(page, analysis, result);
    end_figure(page,
               "Right: strong. High: its effect depends on the others, or is curved. Dotted: "
               "sigma = mu*.");
    page_put(page,
             "<table><tr><th>parameter</th><th>mu*</th><th>mu</th><th>sigma</th>"
             "<th>steps</th></tr>");
    for (int j = 0; j < analysis->study->active; ++j) {
        const LashMorrisEffect* morris_effect = &result->effect[j].morris;
        const char* name = analysis->study->parameter[result->effect[j].parameter].name;
        char key[128];
        page_put(page, "<tr><td>");
        page_escape(page, name);
        page_put(page, "</td>");
        snprintf(key, sizeof key, "morris.%.80s.mu_star", name);
        html_cell(page, result->name, key, morris_effect->mu_star);
        html_plain_cell(page, morris_effect->mu);
        snprintf(key, sizeof key, "morris.%.80s.sigma", name);
        html_cell(page, result->name, key, morris_effect->sigma);
        html_plain_cell(page, (double)morris_effect->n);
        page_put(page, "</tr>");
    }
    page_put(page, "</table>");
    html_end_section(page);
}

static void put_contributors(Page* page, const LashAnalysis* analysis,
                             const LashOutputAnalysis* result) {
    html_begin_section(page, "Ranked contributors");
    begin_figure(page);
    figure_contributors(page, analysis, result);
    page_put(page, "<figcaption>%s", analysis->ranking);
    if (!isnan(result->noise))
        page_put(page, " Below %.1f %% (muted, dotted line) it may be chance.",
                 100 * result->noise);
    if (!isnan(result->r2) && lash_study_analysis(analysis->study) != LASH_ANALYSIS_SOBOL)
        page_put(page, " Together they explain %.0f %%, straight lines alone %.0f %%%s.",
                 100 * result->together, 100 * result->r2,
                 result->note[0] == '\0' && result->r2 < 0.99 ? "; the rest is interaction or jumps"
                                                              : "");
    page_put(page, "%s%s</figcaption></figure>\n", result->note[0] == '\0' ? "" : " ",
             result->note);
    html_end_section(page);
}

static void put_tornado(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result,
                        const char* caption) {
    html_begin_section(page, "Tornado");
    begin_figure(page);
    figure_tornado(page, analysis, result);
    end_figure(page, caption);
    html_end_section(page);
}

static void html_shares(Page* page, const LashAnalysis* analysis,
                        const LashOutputAnalysis* result) {
    char caption[300];
    snprintf(caption, sizeof caption,
             "Mean output in the lowest (muted) and the highest (strong) of %d equal parts of the "
             "samples by each parameter; dotted: mean of all.",
             result->effect[0].bins);
    put_tornado(page, analysis, result, caption);
}

static void html_sobol(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result) {
    html_shares(page, analysis, result);
}

static void html_swings(Page* page, const LashAnalysis* analysis,
                        const LashOutputAnalysis* result) {
    put_tornado(page, analysis, result,
                "Output at the low (muted) and high (strong) end of each parameter; dotted: mean "
                "of all.");
}

static void put_ranking(Page* page, const LashAnalysis* analysis,
                        const LashOutputAnalysis* result) {
    static void (*const put[])(Page*, const LashAnalysis*, const LashOutputAnalysis*) = {
#define X(id, name, ...) [LASH_ANALYSIS_##id] = html_##name,
        LASH_ANALYSIS_TABLE(X)
#undef X
    };
    page_put(page, "<div class=\"grid2\">");
    if (!isnan(result->effect[0].importance)) put_contributors(page, analysis, result);
    put[lash_study_analysis(analysis->study)](page, analysis, result);
    page_put(page, "</div>\n");
}

static void put_effects(Page* page, const LashAnalysis* analysis,
                        const LashOutputAnalysis* result) {
    int count = analysis->study->active < MOST_EFFECTS ? analysis->study->active : MOST_EFFECTS;
    page_put(
        page,
        "<h3>Main effects and scatter</h3><p class=\"soft\">Dots: samples (red: out "
        "of spec); "
        "line: mean over equal parts of the samples, with 95 %% intervals. Click a dot for the "
        "command that shows that sample.%s</p><div "
        "class=\"grid4\">",
        analysis->study->active > MOST_EFFECTS ? " The twelve most important are shown." : "");
    for (int j = 0; j < count; ++j) {
        begin_figure(page);
        figure_effect(page, analysis, result, &result->effect[j]);
        page_put(page, "</figure>");
    }
    page_put(page, "</div>\n");
}

static void put_sobol(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result) {
    html_begin_section(page, "Sobol indices");
    page_put(page, "<div class=\"grid2\"><div>");
    begin_figure(page);
    figure_sobol(page, analysis, result);
    end_figure(page,
               "First order: the parameter alone. Total: with all its interactions. Whiskers: "
               "95 % intervals by bootstrap over independent scramblings.");
    page_put(page,
             "</div><div><table><tr><th>parameter</th><th>first</th><th>95 %%</th><th>total"
             "</th><th>95 %%</th></tr>");
    for (int j = 0; j < analysis->study->active; ++j) {
        const LashSobolIndex* index = &result->effect[j].sobol;
        const char* name = analysis->study->parameter[result->effect[j].parameter].name;
        char key[128];
        page_put(page, "<tr><td>");
        page_escape(page, name);
        page_put(page, "</td>");
        snprintf(key, sizeof key, "sobol.%.80s.first", name);
        index_cell(page, result->name, key, index->first);
        page_put(page, "<td class=\"soft\">%.3f to %.3f</td>", index->first_ci.low,
                 index->first_ci.high);
        snprintf(key, sizeof key, "sobol.%.80s.total", name);
        index_cell(page, result->name, key, index->total);
        page_put(page, "<td class=\"soft\">%.3f to %.3f</td></tr>", index->total_ci.low,
                 index->total_ci.high);
    }
    page_put(page,
             "</table><p class=\"soft\">%lld of %lld base points; a base point with a failed "
             "sample is left out.</p></div></div>",
             (long long)result->base_used, (long long)analysis->study->base);
    html_end_section(page);
}

static void put_convergence(Page* page, const LashOutputAnalysis* analysis) {
    if (analysis->convergence_points == 0) return;
    html_begin_section(page, "Convergence");
    page_put(page, "<div class=\"grid4\">");
    begin_figure(page);
    figure_mean(page, analysis);
    end_figure(page, "Mean and its 95 % interval as samples come in.");
    if (!isnan(analysis->share)) {
        begin_figure(page);
        figure_share(page, analysis);
        end_figure(page, "Share out of spec and its 95 % interval (Wilson).");
    }
    page_put(page, "</div>");
    html_end_section(page);
}

static void put_parameter(Page* page, const char* name, double value) {
    char text[48];
    page_escape(page, name);
    page_put(page, "=%s ", lash_number_exact(value, text, sizeof text));
}

void html_replay(Page* page, const LashStudy* study, const double* x) {
    enum { REPLAY = 1 << 16 };
    char* replay = lash_alloc(REPLAY);
    page_put(page, "<code>");
    page_escape(page, lash_sample_replay(study, x, replay, REPLAY));
    for (int k = 0; k < study->parameters && replay[0] == '\0'; ++k)
        put_parameter(page, study->parameter[k].name, x[k]);
    page_put(page, "</code>");
    lash_free(replay);
}

static void put_worst(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result) {
    page_put(page,
             "<h3>The %d worst samples</h3><p class=\"soft\">%s. The command shows the sample "
             "in the viewer.</p><div class=\"scroll\"><table><thead><tr><th>sample</th><th>",
             result->worsts,
             !isnan(result->lsl) || !isnan(result->usl) ? "Farthest beyond, or nearest to, a limit"
                                                        : "Farthest from the median");
    page_escape(page, result->name);
    page_put(page, "</th><th class=\"text\">replay</th></tr></thead>");
    for (int i = 0; i < result->worsts; ++i) {
        const LashSample* row = &analysis->table->sample[result->worst[i]];
        char text[48];
        double y = row->y[result - analysis->output];
        bool out = isnan(y) || y < result->lsl || y > result->usl;
        page_put(page, "<tr><td>%lld</td><td%s>%s</td><td class=\"text wide\">", (long long)row->id,
                 out ? " class=\"redtext\"" : "",
                 isnan(y) ? "never" : page_value(y, result->moments.sigma, text, sizeof text));
        html_replay(page, analysis->study, row->x);
        page_put(page, "</td></tr>\n");
    }
    page_put(page, "</table></div>\n");
}

static void put_output(Page* page, const LashAnalysis* analysis, int index) {
    const LashOutputAnalysis* result = &analysis->output[index];
    page_put(page, "<h2 class=\"output\" id=\"output%d\">", index);
    page_escape(page, result->name);
    if (result->unit != NULL) {
        page_put(page, " <span class=\"soft\">[");
        page_escape(page, result->unit);
        page_put(page, "]</span>");
    }
    page_put(page, "</h2>\n");
    put_verdict(page, analysis, result);
    if (result->moments.n > 0) {
        page_put(page, "<section class=\"sides\">");
        begin_figure(page);
        figure_histogram(page, analysis, result);
        end_figure(page, result->distinct > 2
                             ? "Histogram with specification limits; orange: normal "
                               "curve of the same mean and sigma."
                             : "Histogram with specification limits.");
        put_percentiles(page, result);
        html_end_section(page);
    }
    if (result->distinct > 1) {
        put_ranking(page, analysis, result);
        html_tighten(page, analysis, result);
        if (lash_study_analysis(analysis->study) == LASH_ANALYSIS_SOBOL)
            put_sobol(page, analysis, result);
        put_effects(page, analysis, result);
        put_convergence(page, result);
    }
    if (result->distinct > 1 || result->missing > 0) put_worst(page, analysis, result);
    html_worst_case(page, analysis, result);
}

// ---- the rest -----------------------------------------------------------------------------------

static void put_failed(Page* page, const LashAnalysis* analysis) {
    int64_t failed = analysis->table->rows - analysis->counts[LASH_SAMPLE_OK];
    int shown = 0;
    page_put(page, "<h2 id=\"failed\">Failed samples</h2>");
    if (failed == 0) {
        page_put(page, "<p>None.</p>\n");
        return;
    }
    page_put(page,
             "<p>%lld of %lld samples have no outputs and do not count in the statistics%s."
             "</p><div class=\"scroll\"><table><tr><th>sample</th><th class=\"text\">status"
             "</th><th class=\"text\">reason</th></tr>",
             (long long)failed, (long long)analysis->table->rows,
             failed > MOST_FAILED ? "; the first 50 are listed" : "");
    for (int64_t i = 0; i < analysis->table->rows && shown < MOST_FAILED; ++i) {
        const LashSample* row = &analysis->table->sample[i];
        if (row->status == LASH_SAMPLE_OK) continue;
        page_put(page, "<tr><td>%lld</td><td class=\"text\">%s</td><td class=\"text wide\">",
                 (long long)row->id, lash_sample_status_name(row->status));
        page_escape(page, row->reason);
        page_put(page, "<br>");
        html_replay(page, analysis->study, row->x);
        page_put(page, "</td></tr>\n");
        ++shown;
    }
    page_put(page, "</table></div>\n");
}

static void put_parameters(Page* page, const LashAnalysis* analysis) {
    page_put(page,
             "<h2 id=\"parameters\">Parameters</h2><div class=\"scroll\"><table><tr><th>"
             "parameter</th><th class=\"text\">distribution</th><th>mean</th><th>sigma</th>"
             "<th>from</th><th>to</th></tr>");
    for (int i = 0; i < analysis->study->parameters; ++i) {
        const LashStudyParameter* study_parameter = &analysis->study->parameter[i];
        double low, high;
        lash_distribution_range(&study_parameter->distribution, &low, &high);
        page_put(page, "<tr><td>");
        page_escape(page, study_parameter->name);
        page_put(page, " <span class=\"soft\">");
        page_escape(page, study_parameter->unit);
        page_put(page, "</span></td><td class=\"text\">%s</td>",
                 lash_distribution_name((LashDistributionType)study_parameter->type));
        double sigma = lash_distribution_sigma(&study_parameter->distribution);
        spread_cell(page, lash_distribution_mean(&study_parameter->distribution), sigma);
        html_plain_cell(page, sigma);
        spread_cell(page, low, sigma);
        spread_cell(page, high, sigma);
        page_put(page, "</tr>\n");
    }
    page_put(page,
             "</table></div><p class=\"soft\">Values in the units of the model; a normal is "
             "listed from mean - 3 sigma to mean + 3 sigma.</p>\n");
}

static void put_notes(Page* page) {
    page_put(
        page,
        "<h2 id=\"notes\">How the figures are made</h2><ul class=\"soft\">"
        "<li>Percentiles: linear between neighbours of the sorted values. Cp = (USL - LSL) / 6 "
        "sigma, Cpk = distance of the mean to the nearer limit / 3 sigma; by percentiles: with the "
        "0.135, 50 and 99.865 %% points (ISO 22514-2), which fewer than about a thousand samples "
        "can only guess.</li>"
        "<li>Share out of spec, counted: interval by Wilson. Normal fit: share of the normal with "
        "the sample's mean and sigma outside the limits, interval by bootstrap.</li>"
        "<li>Share of the variance of one parameter: a sum of smooth curves, one over the ranks of "
        "each parameter, is fitted to all samples together; the share is the variance of one "
        "curve, less what chance alone would give. The dotted line is what 95 of 100 parameters "
        "without influence stay below.</li>"
        "<li>Sobol indices: correlations of the samples that share all but one parameter, or that "
        "parameter alone, corrected for chance (Glen and Isaacs 2012); intervals by bootstrap over "
        "independently scrambled blocks of the Sobol sequence.</li>"
        "<li>For Latin hypercubes and Sobol sequences the intervals are on the safe side.</li>"
        "</ul>\n");
}

// What a click on a point of a scatter shows, at the lower edge of the window: the device and the
// command that opens it. Without a script: it is there, hidden, until its name is the target.
static void put_samples(Page* page, const LashAnalysis* analysis) {
    const LashStoreTable* table = analysis->table;
    bool* drawn = lash_alloc((size_t)table->rows * sizeof *drawn + 1);
    for (int i = 0; i < analysis->study->outputs; ++i) {
        const LashOutputAnalysis* result = &analysis->output[i];
        int64_t step = result->distinct > 1 ? figure_point_step(result) : 1;
        for (int64_t k = 0; k < result->moments.n && result->distinct > 1; k += step)
            drawn[result->row[k]] = true;
    }
    for (int64_t r = 0; r < table->rows; ++r) {
        const LashSample* row = &table->sample[r];
        if (!drawn[r]) continue;
        page_put(page,
                 "<div class=\"sample\" id=\"s%lld\"><a class=\"close\" href=\"#-\" "
                 "aria-label=\"close\">&times;</a><b>sample %lld</b>",
                 (long long)row->id, (long long)row->id);
        for (int i = 0; i < analysis->study->outputs && i < MOST_EFFECTS; ++i) {
            char text[48];
            page_put(page, "%s ", i == 0 ? ":" : ",");
            page_escape(page, analysis->output[i].name);
            page_put(page, "&nbsp;%s",
                     isnan(row->y[i]) ? "never"
                                      : page_value(row->y[i], analysis->output[i].moments.sigma,
                                                   text, sizeof text));
        }
        page_put(page, "<br>");
        html_replay(page, analysis->study, row->x);
        page_put(page, "</div>\n");
    }
    lash_free(drawn);
}

void figure_page(Page* page, const LashAnalysis* analysis, const LashStore* store) {
    put_head(page, analysis, store);
    put_summary(page, analysis);
    for (int i = 0; i < analysis->study->outputs; ++i) put_output(page, analysis, i);
    put_failed(page, analysis);
    put_parameters(page, analysis);
    html_assumptions(page, analysis);
    put_notes(page);
    put_samples(page, analysis);
    page_put(page, "</body></html>\n");
}

bool lash_analysis_write_html(const LashAnalysis* analysis, const LashStore* store,
                              const char* path, LashError* error) {
    Page page = {0};
    figure_page(&page, analysis, store);
    AppOutput* output = app_output_create(path, error);
    bool good = output != NULL;
    if (good) {
        fwrite(page.text, 1, page.used, app_output_stream(output));
        good = app_output_finish(output, error);
    }
    page_free(&page);
    return good;
}
