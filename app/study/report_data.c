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

static void json_shares(AppJson* json, const LashAnalysis* analysis, const LashOutputAnalysis* a) {
    (void)json;
    (void)analysis;
    (void)a;
}

static void json_swings(AppJson* json, const LashAnalysis* analysis, const LashOutputAnalysis* a) {
    json_shares(json, analysis, a);
}

static void json_sobol(AppJson* json, const LashAnalysis* analysis, const LashOutputAnalysis* a) {
    app_json_put_integer(json, "base_points", a->base_used);
    app_json_key(json, "sobol");
    app_json_begin_object(json);
    for (int j = 0; j < analysis->study->active; ++j) {
        const LashSobolIndex* s = &a->effect[j].sobol;
        app_json_key(json, parameter_name(analysis, &a->effect[j]));
        app_json_begin_object(json);
        app_json_put_number(json, "first", s->first);
        app_json_put_number(json, "total", s->total);
        app_json_key(json, "ci");
        app_json_begin_object(json);
        put_interval(json, "first", s->first_ci);
        put_interval(json, "total", s->total_ci);
        app_json_end_object(json);
        app_json_end_object(json);
    }
    app_json_end_object(json);
}

static void json_morris(AppJson* json, const LashAnalysis* analysis, const LashOutputAnalysis* a) {
    app_json_key(json, "morris");
    app_json_begin_object(json);
    for (int j = 0; j < analysis->study->active; ++j) {
        const LashMorrisEffect* m = &a->effect[j].morris;
        app_json_key(json, parameter_name(analysis, &a->effect[j]));
        app_json_begin_object(json);
        app_json_put_number(json, "mu", m->mu);
        app_json_put_number(json, "mu_star", m->mu_star);
        app_json_put_number(json, "sigma", m->sigma);
        app_json_put_integer(json, "n", m->n);
        app_json_end_object(json);
    }
    app_json_end_object(json);
}

static void put_contributors(AppJson* json, const LashAnalysis* analysis,
                             const LashOutputAnalysis* a) {
    app_json_key(json, "contributors");
    app_json_begin_array(json);
    for (int j = 0; j < analysis->study->active; ++j) {
        const LashParameterEffect* e = &a->effect[j];
        app_json_begin_object(json);
        app_json_put_text(json, "parameter", parameter_name(analysis, e));
        app_json_put_number(json, "importance", e->importance);
        put_interval(json, "importance_ci", e->importance_ci);
        app_json_put_number(json, "share", e->contribution.share);
        app_json_put_number(json, "regression", e->contribution.regression);
        app_json_put_number(json, "rank_correlation", e->contribution.correlation);
        app_json_put_number(json, "low", e->low);
        app_json_put_number(json, "high", e->high);
        app_json_end_object(json);
    }
    app_json_end_array(json);
}

static void put_tighten(AppJson* json, const LashAnalysis* analysis, const LashOutputAnalysis* a) {
    app_json_key(json, "tighten");
    app_json_begin_object(json);
    for (int j = 0; j < analysis->study->active; ++j) {
        const LashParameterEffect* e = &a->effect[j];
        char feature[300];
        app_json_key(json, parameter_name(analysis, e));
        app_json_begin_object(json);
        app_json_put_text(json, "feature",
                          lash_outline_feature(analysis->outline, analysis->study, e->parameter,
                                               feature, sizeof feature));
        app_json_put_text(json, "part",
                          lash_outline_part(analysis->outline, analysis->study, e->parameter));
        app_json_put_text(json, "joint", lash_outline_joint(analysis->outline, e->parameter));
        app_json_put_number(json, "share", e->importance);
        app_json_put_number(json, "slope", e->contribution.slope);
        app_json_put_text(json, "class", e->finer.now[0] != '\0' ? e->finer.now : NULL);
        app_json_put_text(json, "finer", e->finer.finer[0] != '\0' ? e->finer.finer : NULL);
        app_json_put_number(json, "ratio", e->finer.ratio);
        app_json_put_number(json, "fall", e->finer.fall);
        app_json_put_number(json, "sigma", e->finer.sigma);
        app_json_put_number(json, "mean_shift", e->finer.mean_shift);
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
                            const LashOutputAnalysis* a) {
    LashWorstSearch search = {
        .study = analysis->study, .samples = analysis->table, .rows = analysis->worst_rows};
    app_json_key(json, "worst_case");
    app_json_begin_object(json);
    for (int i = 0; i < analysis->worst_cases; ++i) {
        const LashWorstCase* c = &analysis->worst_case[i];
        if (c->output != a - analysis->output) continue;
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

static void put_spec(AppJson* json, const LashOutputAnalysis* a) {
    app_json_put_number(json, "lsl", a->lsl);
    app_json_put_number(json, "usl", a->usl);
    app_json_put_number(json, "cp", a->capability.cp);
    app_json_put_number(json, "cpk", a->capability.cpk);
    app_json_put_number(json, "cp_percentile", a->capability.cp_percentile);
    app_json_put_number(json, "cpk_percentile", a->capability.cpk_percentile);
    app_json_put_number(json, "out_of_spec", a->share);
    put_interval(json, "out_of_spec_ci", a->share_ci);
    app_json_put_integer(json, "out_of_spec_count", a->out);
    app_json_put_number(json, "out_of_spec_fitted", a->fitted);
    put_interval(json, "out_of_spec_fitted_ci", a->fitted_ci);
}

static void put_output(AppJson* json, const LashAnalysis* analysis, const LashOutputAnalysis* a) {
    static void (*const add[])(AppJson*, const LashAnalysis*, const LashOutputAnalysis*) = {
#define X(id, name, ...) [LASH_ANALYSIS_##id] = json_##name,
        LASH_ANALYSIS_TABLE(X)
#undef X
    };
    static const char* const names[LASH_PERCENTILES] = {"p00135", "p01", "p05", "p25",   "p50",
                                                        "p75",    "p95", "p99", "p99865"};
    app_json_begin_object(json);
    app_json_put_text(json, "name", a->name);
    app_json_put_text(json, "unit", a->unit);
    app_json_put_integer(json, "n", a->moments.n);
    app_json_put_integer(json, "missing", a->missing);
    app_json_put_number(json, "mean", a->moments.mean);
    app_json_put_number(json, "sigma", a->moments.sigma);
    app_json_put_number(json, "min", a->moments.min);
    app_json_put_number(json, "max", a->moments.max);
    app_json_put_number(json, "skewness", a->moments.skewness);
    app_json_put_number(json, "kurtosis", a->moments.kurtosis);
    for (int i = 0; i < LASH_PERCENTILES; ++i)
        app_json_put_number(json, names[i], a->percentile[i]);
    put_spec(json, a);
    app_json_put_number(json, "normality_p", a->normality.p);
    app_json_put_number(json, "r2_linear", a->r2);
    app_json_put_number(json, "noise_share", a->noise);
    app_json_put_number(json, "shares_together", a->together);
    app_json_put_text(json, "shares_note", a->note[0] != '\0' ? a->note : NULL);
    put_contributors(json, analysis, a);
    add[lash_study_analysis(analysis->study)](json, analysis, a);
    put_tighten(json, analysis, a);
    put_groups(json, "parts", a->part, a->parts);
    put_groups(json, "joints", a->joint, a->joints);
    app_json_put_number(json, "rss_sigma", a->chain.sigma);
    app_json_put_number(json, "rss_out_of_spec", a->chain_out);
    app_json_put_number(json, "arithmetic_half_range", a->chain.half_range);
    put_worst_cases(json, analysis, a);
    app_json_key(json, "worst");
    app_json_begin_array(json);
    for (int i = 0; i < a->worsts; ++i)
        app_json_integer(json, analysis->table->sample[a->worst[i]].id);
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
