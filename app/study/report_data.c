// The statistics as JSON and as CSV.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/json_writer.h"
#include "app/cli/output_file.h"
#include "app/cli/text.h"
#include "app/study/analysis.h"

static void put_interval(AppJson* json, const char* key, LashInterval interval) {
    app_json_key(json, key);
    app_json_begin_array(json);
    app_json_number(json, interval.low);
    app_json_number(json, interval.high);
    app_json_end_array(json);
}

static const char* parameter_name(const LashAnalysis* analysis, const LashParameterEffect* effect) {
    return analysis->study->parameter[effect->parameter].name;
}

// ---- one function per analysis of design.h: what it knows beside the ranking --------------------

static void json_shares(AppJson* json, const LashAnalysis* analysis,
                        const LashOutputAnalysis* result) {
    (void)json;
    (void)analysis;
    (void)result;
}

static void json_swings(AppJson* json, const LashAnalysis* analysis,
                        const LashOutputAnalysis* result) {
    json_shares(json, analysis, result);
}

static void json_sobol(AppJson* json, const LashAnalysis* analysis,
                       const LashOutputAnalysis* result) {
    app_json_put_integer(json, "base_points", result->base_used);
    app_json_key(json, "sobol");
    app_json_begin_object(json);
    for (int j = 0; j < analysis->study->active; ++j) {
        const LashSobolIndex* index = &result->effect[j].sobol;
        app_json_key(json, parameter_name(analysis, &result->effect[j]));
        app_json_begin_object(json);
        app_json_put_number(json, "first", index->first);
        app_json_put_number(json, "total", index->total);
        app_json_key(json, "ci");
        app_json_begin_object(json);
        put_interval(json, "first", index->first_ci);
        put_interval(json, "total", index->total_ci);
        app_json_end_object(json);
        app_json_end_object(json);
    }
    app_json_end_object(json);
}

static void json_morris(AppJson* json, const LashAnalysis* analysis,
                        const LashOutputAnalysis* result) {
    app_json_key(json, "morris");
    app_json_begin_object(json);
    for (int j = 0; j < analysis->study->active; ++j) {
        const LashMorrisEffect* morris_effect = &result->effect[j].morris;
        app_json_key(json, parameter_name(analysis, &result->effect[j]));
        app_json_begin_object(json);
        app_json_put_number(json, "mu", morris_effect->mu);
        app_json_put_number(json, "mu_star", morris_effect->mu_star);
        app_json_put_number(json, "sigma", morris_effect->sigma);
        app_json_put_integer(json, "n", morris_effect->n);
        app_json_end_object(json);
    }
    app_json_end_object(json);
}

static void put_contributors(AppJson* json, const LashAnalysis* analysis,
                             const LashOutputAnalysis* result) {
    app_json_key(json, "contributors");
    app_json_begin_array(json);
    for (int j = 0; j < analysis->study->active; ++j) {
        const LashParameterEffect* parameter_effect = &result->effect[j];
        app_json_begin_object(json);
        app_json_put_text(json, "parameter", parameter_name(analysis, parameter_effect));
        app_json_put_number(json, "importance", parameter_effect->importance);
        put_interval(json, "importance_ci", parameter_effect->importance_ci);
        app_json_put_number(json, "share", parameter_effect->contribution.share);
        app_json_put_number(json, "regression", parameter_effect->contribution.regression);
        app_json_put_number(json, "rank_correlation", parameter_effect->contribution.correlation);
        app_json_put_number(json, "low", parameter_effect->low);
        app_json_put_number(json, "high", parameter_effect->high);
        app_json_end_object(json);
    }
    app_json_end_array(json);
}

static void put_tighten(AppJson* json, const LashAnalysis* analysis,
                        const LashOutputAnalysis* result) {
    app_json_key(json, "tighten");
    app_json_begin_object(json);
    for (int j = 0; j < analysis->study->active; ++j) {
        const LashParameterEffect* parameter_effect = &result->effect[j];
        char feature[300];
        app_json_key(json, parameter_name(analysis, parameter_effect));
        app_json_begin_object(json);
        app_json_put_text(
            json, "feature",
            lash_outline_feature(analysis->outline, analysis->study, parameter_effect->parameter,
                                 feature, sizeof feature));
        app_json_put_text(
            json, "part",
            lash_outline_part(analysis->outline, analysis->study, parameter_effect->parameter));
        app_json_put_text(json, "joint",
                          lash_outline_joint(analysis->outline, parameter_effect->parameter));
        app_json_put_number(json, "share", parameter_effect->importance);
        app_json_put_number(json, "slope", parameter_effect->contribution.slope);
        app_json_put_text(
            json, "class",
            parameter_effect->finer.now[0] != '\0' ? parameter_effect->finer.now : NULL);
        app_json_put_text(
            json, "finer",
            parameter_effect->finer.finer[0] != '\0' ? parameter_effect->finer.finer : NULL);
        app_json_put_number(json, "ratio", parameter_effect->finer.ratio);
        app_json_put_number(json, "fall", parameter_effect->finer.fall);
        app_json_put_number(json, "sigma", parameter_effect->finer.sigma);
        app_json_put_number(json, "mean_shift", parameter_effect->finer.mean_shift);
        app_json_end_object(json);
    }
    app_json_end_object(json);
}

static void put_groups(AppJson* json, const char* key, const LashGroup* group, int groups) {
    app_json_key(json, key);
    app_json_begin_array(json);
    for (int i = 0; i < groups; ++i) {
        app_json_begin_object(json);
        app_json_put_text(json, "name", group[i].name);
        app_json_put_number(json, "share", group[i].share);
        app_json_end_object(json);
    }
    app_json_end_array(json);
}

static void put_worst_cases(AppJson* json, const LashAnalysis* analysis,
                            const LashOutputAnalysis* result) {
    LashWorstSearch search = {
        .study = analysis->study, .samples = analysis->table, .rows = analysis->worst_rows};
    app_json_key(json, "worst_case");
    app_json_begin_object(json);
    for (int i = 0; i < analysis->worst_cases; ++i) {
        const LashWorstCase* c = &analysis->worst_case[i];
        if (c->output != result - analysis->output) continue;
        app_json_key(json, c->side == LASH_WORST_HIGH ? "high" : "low");
        lash_worst_put(json, &search, c);
    }
    app_json_end_object(json);
}

static void put_assumptions(AppJson* json, const LashAnalysis* analysis) {
    app_json_key(json, "assumptions");
    app_json_begin_array(json);
    for (int i = 0; i < analysis->assumptions->rows; ++i) {
        app_json_begin_array(json);
        app_json_text(json, analysis->assumptions->row[i].what);
        app_json_text(json, analysis->assumptions->row[i].value);
        app_json_end_array(json);
    }
    app_json_end_array(json);
}

static void put_spec(AppJson* json, const LashOutputAnalysis* analysis) {
    app_json_put_number(json, "lsl", analysis->lsl);
    app_json_put_number(json, "usl", analysis->usl);
    app_json_put_number(json, "cp", analysis->capability.cp);
    app_json_put_number(json, "cpk", analysis->capability.cpk);
    app_json_put_number(json, "cp_percentile", analysis->capability.cp_percentile);
    app_json_put_number(json, "cpk_percentile", analysis->capability.cpk_percentile);
    app_json_put_number(json, "out_of_spec", analysis->share);
    put_interval(json, "out_of_spec_ci", analysis->share_ci);
    app_json_put_integer(json, "out_of_spec_count", analysis->out);
    app_json_put_number(json, "out_of_spec_fitted", analysis->fitted);
    put_interval(json, "out_of_spec_fitted_ci", analysis->fitted_ci);
}

static void put_output(AppJson* json, const LashAnalysis* analysis,
                       const LashOutputAnalysis* result) {
    static void (*const add[])(AppJson*, const LashAnalysis*, const LashOutputAnalysis*) = {
#define X(id, name, ...) [LASH_ANALYSIS_##id] = json_##name,
        LASH_ANALYSIS_TABLE(X)
#undef X
    };
    static const char* const names[LASH_PERCENTILES] = {"p00135", "p01", "p05", "p25",   "p50",
                                                        "p75",    "p95", "p99", "p99865"};
    app_json_begin_object(json);
    app_json_put_text(json, "name", result->name);
    app_json_put_text(json, "unit", result->unit);
    app_json_put_integer(json, "n", result->moments.n);
    app_json_put_integer(json, "missing", result->missing);
    app_json_put_number(json, "mean", result->moments.mean);
    app_json_put_number(json, "sigma", result->moments.sigma);
    app_json_put_number(json, "min", result->moments.min);
    app_json_put_number(json, "max", result->moments.max);
    app_json_put_number(json, "skewness", result->moments.skewness);
    app_json_put_number(json, "kurtosis", result->moments.kurtosis);
    for (int i = 0; i < LASH_PERCENTILES; ++i)
        app_json_put_number(json, names[i], result->percentile[i]);
    put_spec(json, result);
    app_json_put_number(json, "normality_p", result->normality.p);
    app_json_put_number(json, "r2_linear", result->r2);
    app_json_put_number(json, "noise_share", result->noise);
    app_json_put_number(json, "shares_together", result->together);
    app_json_put_text(json, "shares_note", result->note[0] != '\0' ? result->note : NULL);
    put_contributors(json, analysis, result);
    add[lash_study_analysis(analysis->study)](json, analysis, result);
    put_tighten(json, analysis, result);
    put_groups(json, "parts", result->part, result->parts);
    put_groups(json, "joints", result->joint, result->joints);
    app_json_put_number(json, "rss_sigma", result->chain.sigma);
    app_json_put_number(json, "rss_out_of_spec", result->chain_out);
    app_json_put_number(json, "arithmetic_half_range", result->chain.half_range);
    put_worst_cases(json, analysis, result);
    app_json_key(json, "worst");
    app_json_begin_array(json);
    for (int i = 0; i < result->worsts; ++i)
        app_json_integer(json, analysis->table->sample[result->worst[i]].id);
    app_json_end_array(json);
    app_json_end_object(json);
}

void lash_analysis_put(AppJson* json, const LashAnalysis* analysis) {
    const LashStudy* study = analysis->study;
    app_json_put_text(json, "study", study->name != NULL ? study->name : study->file);
    app_json_put_text(json, "design", lash_design_name((LashDesignType)study->design.type));
    app_json_put_integer(json, "seed", (int64_t)study->seed);
    app_json_put_integer(json, "planned", analysis->planned);
    app_json_put_integer(json, "samples", analysis->table->rows);
    app_json_key(json, "status");
    app_json_begin_object(json);
    for (int i = 0; i < LASH_SAMPLE_STATUSES; ++i)
        app_json_put_integer(json, lash_sample_status_name((LashSampleStatus)i),
                             analysis->counts[i]);
    app_json_end_object(json);
    app_json_put_text(json, "ranked_by", analysis->ranked_by);
    put_assumptions(json, analysis);
    app_json_key(json, "outputs");
    app_json_begin_array(json);
    for (int i = 0; i < study->outputs; ++i) put_output(json, analysis, &analysis->output[i]);
    app_json_end_array(json);
}

// Nothing where there is no number.
static void put_value(FILE* file, double value, int digits) {
    fputc(',', file);
    if (isfinite(value)) fprintf(file, "%.*g", digits, value);
}

static void put_name(FILE* file, const char* name) {
    fputc(',', file);
    app_csv_print(file, name);
}

void lash_analysis_print_csv(const LashAnalysis* analysis, FILE* file) {
    const LashStudy* study = analysis->study;
    fprintf(file, "sample,status");
    for (int i = 0; i < study->parameters; ++i) put_name(file, study->parameter[i].name);
    for (int i = 0; i < study->outputs; ++i) put_name(file, study->output[i].measured.name);
    fprintf(file, ",steps,penetration,wall_seconds\n");
    for (int64_t r = 0; r < analysis->table->rows; ++r) {
        const LashSample* row = &analysis->table->sample[r];
        fprintf(file, "%lld,%s", (long long)row->id, lash_sample_status_name(row->status));
        for (int i = 0; i < study->parameters; ++i) put_value(file, row->x[i], 17);
        for (int i = 0; i < study->outputs; ++i) put_value(file, row->y[i], 17);
        fprintf(file, ",%lld", (long long)row->steps);
        put_value(file, row->penetration, 6);
        put_value(file, row->wall, 6);
        fputc('\n', file);
    }
}

bool lash_analysis_write_csv(const LashAnalysis* analysis, const char* path, LashError* error) {
    AppOutput* output = app_output_create(path, error);
    if (output == NULL) return false;
    lash_analysis_print_csv(analysis, app_output_stream(output));
    return app_output_finish(output, error);
}
