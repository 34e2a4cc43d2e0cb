// lash study report: the statistics of a store as a page, as CSV and JSON, and in short.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/file_kind.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "app/study/analysis.h"
#include "app/study/number.h"
#include "app/study/report_html.h"
#include "app/study/study_command.h"

#define OPTION(member) offsetof(StudyOptions, member)
static const AppOption options[] = {
    {"output", 'o', APP_FILE, "PAGE.html", "where the page goes (default: STORE.html)",
     OPTION(output)},
    {"csv", 0, APP_FILE, "FILE.csv", "also write all samples as a table", OPTION(csv)},
    {"limit", 0, APP_NUMBER, "SHARE",
     "exit with code 6 when a larger share of an output is out of spec", OPTION(limit)},
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
const AppCommand app_study_report_command = {
    .name = "study report",
    .operands = "STORE.db",
    .summary = "statistics of a store: a page, CSV, JSON",
    .detail = "A store that is not complete yet is reported with the samples it has.",
    .minimum = 1,
    .maximum = 1,
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands),
    .files = APP_FILE_STORE | APP_FILE_STUDY};

static void page_path(const StudyOptions* study_options, const char* store, char* path,
                      size_t size) {
    size_t length = strlen(store);
    if (study_options->output != NULL) {
        snprintf(path, size, "%s", study_options->output);
        return;
    }
    bool db = length > 3 && strcmp(store + length - 3, ".db") == 0;
    snprintf(path, size, "%.*s.html", (int)(db ? length - 3 : length), store);
}

static void print_limits(const LashOutputAnalysis* analysis) {
    char text[48];
    if (!isnan(analysis->lsl))
        printf(", LSL %s", lash_number_exact(analysis->lsl, text, sizeof text));
    if (!isnan(analysis->usl))
        printf(", USL %s", lash_number_exact(analysis->usl, text, sizeof text));
}

static void print_output(const LashAnalysis* analysis, const LashOutputAnalysis* result) {
    const LashStudy* study = analysis->study;
    const double values[] = {result->moments.mean, result->percentile[2], result->percentile[4],
                             result->percentile[6]};
    char text[4][48];
    app_text_print(stdout, result->name);
    if (result->unit != NULL) {
        printf(" in ");
        app_text_print(stdout, result->unit);
    }
    for (int i = 0; i < 4; ++i)
        lash_number_by_sigma(values[i], result->moments.sigma, text[i], sizeof text[i]);
    printf("\n  mean %s, sigma %.4g, 5 %% %s, 50 %% %s, 95 %% %s (%lld samples)\n", text[0],
           result->moments.sigma, text[1], text[2], text[3], (long long)result->moments.n);
    if (!isnan(result->share)) {
        printf("  out of spec %.3g %% (%.3g to %.3g; %.0f ppm)", 100 * result->share,
               100 * result->share_ci.low, 100 * result->share_ci.high, 1e6 * result->share);
        print_limits(result);
        if (result->distinct > 2)
            printf(", normal fit %.3g %%, Cpk %.3g, by percentiles %.3g%s", 100 * result->fitted,
                   result->capability.cpk, result->capability.cpk_percentile,
                   result->normality.p < 0.05 ? " (not normal)" : "");
        putchar('\n');
    }
    if (study->active == 0 || result->distinct < 2) return;
    if (isnan(result->effect[0].importance)) return; // too few to rank
    printf("  %s:", analysis->ranked_by);
    for (int j = 0; j < study->active && j < 6; ++j) {
        const LashParameterEffect* parameter_effect = &result->effect[j];
        printf("%s %s %.3g", j == 0 ? "" : ",", study->parameter[parameter_effect->parameter].name,
               parameter_effect->importance);
        if (!isnan(parameter_effect->importance_ci.low))
            printf(" (%.3g to %.3g)", parameter_effect->importance_ci.low,
                   parameter_effect->importance_ci.high);
    }
    printf("\n%s%s%s", result->note[0] != '\0' ? "  " : "", result->note,
           result->note[0] != '\0' ? "\n" : "");
    text_tighten(analysis, result);
}

static void print_analysis(const LashAnalysis* analysis, const char* page) {
    printf("%s: %lld of %lld samples, %lld ok\n",
           analysis->study->name != NULL ? analysis->study->name : analysis->study->file,
           (long long)analysis->table->rows, (long long)analysis->planned,
           (long long)analysis->counts[LASH_SAMPLE_OK]);
    for (int i = 0; i < analysis->study->outputs; ++i) {
        print_output(analysis, &analysis->output[i]);
        text_worst_case(analysis, &analysis->output[i]);
    }
    text_assumptions(analysis);
    printf("page: %s\n", page);
}

static void check_limit(const LashAnalysis* analysis, double limit, LashError* error) {
    for (int i = 0; i < analysis->study->outputs && !isnan(limit); ++i) {
        const LashOutputAnalysis* result = &analysis->output[i];
        if (!(result->share > limit)) continue;
        lash_error_set(error, LASH_ERROR_SPEC, result->name,
                       "%.3g %% of the samples are out of spec, allowed are %.3g %%",
                       100 * result->share, 100 * limit);
    }
}

int app_study_report(int argc, char** argv) {
    StudyOptions o = study_options();
    LashError error = {0};
    char path[1024], page[1100];
    int code = app_options_parse(&app_study_report_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("study report", o.json);
    if (!isnan(o.limit) && !(o.limit >= 0 && o.limit <= 1)) {
        lash_error_set(&error, LASH_ERROR_USAGE, "--limit",
                       "expected a share from 0 to 1 (0.01 is 1 %%), found %g", o.limit);
        return app_report_finish(&report, &error);
    }
    study_store_path(o.operands.item[0], NULL, path, sizeof path);
    page_path(&o, path, page, sizeof page);
    LashStore* store = lash_store_open(path, LASH_STORE_READ, &error);
    LashStudy* study = store != NULL ? lash_store_plan(store, &error) : NULL;
    LashStoreTable* table = study != NULL ? lash_store_table(store, study, &error) : NULL;
    LashAnalysis* analysis = NULL;
    if (table != NULL) analysis = lash_analysis_create(study, table, store, &error);
    if (analysis != NULL) {
        lash_analysis_write_html(analysis, store, page, &error);
        if (o.csv != NULL) lash_analysis_write_csv(analysis, o.csv, &error);
        if (error.status == LASH_OK) check_limit(analysis, o.limit, &error);
    }
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        if (analysis != NULL) {
            app_json_put_text(json, "page", page);
            lash_analysis_put(json, analysis);
        }
    } else if (analysis != NULL) {
        print_analysis(analysis, page);
    }
    lash_analysis_destroy(analysis);
    lash_store_table_destroy(table);
    lash_study_destroy(study);
    lash_store_close(store, NULL);
    return app_report_finish(&report, &error);
}
