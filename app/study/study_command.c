// lash study: plan, merge, dump; run and resume are in run_command.c, report in report_command.c.
#include "app/study/study_command.h"
#include "app/cli/file_kind.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/report.h"
#include "app/cli/suggest.h"
#include "app/cli/text.h"
#include "app/study/number.h"
#include "core/arena.h"
#include "geometry/cad/sha256.h"

#define OPTION(member) offsetof(StudyOptions, member)
#define COMMON \
    .minimum = 1, .maximum = 1, .json_offset = OPTION(json), .operand_offset = OPTION(operands)
static const AppOption plan_options[] = {
    {"samples", 'n', APP_INTEGER, "N", "samples instead of the design's", OPTION(samples)},
    {"seed", 0, APP_TEXT, "S", "seed instead of the design's", OPTION(seed)},
    {"from-pmi", 0, APP_FLAG, NULL,
     "STUDY is a model: write a study of its toleranced sizes (MODEL.study.json, or -o)",
     OPTION(from_pmi)},
    {"output", 'o', APP_FILE, "FILE", "where --from-pmi writes the study", OPTION(output)},
    APP_OPTION_CAD_SECONDS,
    {"csv", 0, APP_FLAG, NULL, "print the parameters of every sample", OPTION(csv_dump)},
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
const AppCommand app_study_plan_command = {
    .name = "study plan",
    .operands = "STUDY",
    .summary = "check a study and show what it would run",
    .option = plan_options,
    .options = sizeof plan_options / sizeof *plan_options,
    COMMON}; // a study, or with --from-pmi a model: app_study_plan looks

static const AppOption merge_options[] = {
    {"output", 'o', APP_FILE, "STORE.db", "the store to make", OPTION(output)},
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
const AppCommand app_study_merge_command = {.name = "study merge",
                                            .operands = "STORE.db...",
                                            .summary = "join the stores of shards into one",
                                            .minimum = 1,
                                            .maximum = APP_MAX_OPERANDS,
                                            .option = merge_options,
                                            .options = sizeof merge_options / sizeof *merge_options,
                                            .json_offset = OPTION(json),
                                            .operand_offset = OPTION(operands),
                                            .files = APP_FILE_STORE};

static const AppOption dump_options[] = {
    {"canonical", 0, APP_FLAG, NULL,
     "without wall time, worker and date: the same text for the same study", OPTION(canonical)},
};
const AppCommand app_study_dump_command = {.name = "study dump",
                                           .operands = "STORE.db",
                                           .summary = "print all rows of a store as text",
                                           .option = dump_options,
                                           .options = sizeof dump_options / sizeof *dump_options,
                                           COMMON,
                                           .files = APP_FILE_STORE | APP_FILE_STUDY};

// ---- plan ---------------------------------------------------------------------------------------

void study_warn_units(const LashStudy* study) {
    for (int i = 0; i < study->outputs && study->model != NULL; ++i) {
        const LashStudyOutput* output = &study->output[i];
        if (output->expression != NULL || output->unit == NULL || output->model_index < 0 ||
            output->model_index >= study->model->outputs)
            continue;
        const LashModelOutput* measured = &study->model->output[output->model_index];
        char si[40];
        lash_model_result_unit(study->model, measured, si, sizeof si);
        if (strcmp(si, output->unit) == 0 || strcmp(si, "1") == 0) continue;
        app_report_warning(
            "output '%.60s': its unit '%.20s' is a label, the numbers are in %s; an 'expression' "
            "converts them, such as \"1000*%.40s\"",
            output->measured.name, output->unit, si,
            output->output != NULL ? output->output : output->measured.name);
    }
}

static void print_plan(const LashStudy* study) {
    printf("%s: %s design, %lld samples, seed %llu\n",
           study->name != NULL ? study->name : study->file,
           lash_design_name((LashDesignType)study->design.type), (long long)study->samples,
           (unsigned long long)study->seed);
    if (study->model != NULL) {
        const LashModelSimulation* model_simulation = &study->model->simulation;
        printf("model       %s, %.0f steps of %g s each\n", study->model_path,
               model_simulation->duration / model_simulation->settings.h,
               model_simulation->settings.h);
    }
    printf("parameters  %d, of which %d vary\n", study->parameters, study->active);
    for (int i = 0; i < study->parameters; ++i) {
        const LashStudyParameter* study_parameter = &study->parameter[i];
        double sigma = lash_distribution_sigma(&study_parameter->distribution);
        char mean[48];
        lash_number_by_sigma(lash_distribution_mean(&study_parameter->distribution), sigma, mean,
                             sizeof mean);
        printf("  %-18s %-16s mean %s, sigma %.4g %s\n", study_parameter->name,
               lash_distribution_name((LashDistributionType)study_parameter->type), mean, sigma,
               study_parameter->unit != NULL ? study_parameter->unit : "");
    }
    printf("outputs     %d\n", study->outputs);
    for (int i = 0; i < study->outputs; ++i) {
        const LashStudyOutput* output = &study->output[i];
        printf("  %-18s", output->measured.name);
        char limit[48];
        if (!isnan(output->lsl))
            printf(" lsl %s", lash_number_exact(output->lsl, limit, sizeof limit));
        if (!isnan(output->usl))
            printf(" usl %s", lash_number_exact(output->usl, limit, sizeof limit));
        printf(" %s\n", output->unit != NULL ? output->unit : "");
    }
}

static void print_points(const LashStudy* study) {
    double* x = lash_alloc((size_t)study->parameters * sizeof *x);
    for (int k = 0; k < study->parameters; ++k) {
        if (k > 0) putchar(',');
        app_csv_print(stdout, study->parameter[k].name);
    }
    putchar('\n');
    for (int64_t i = 0; i < study->samples; ++i) {
        lash_study_point(study, i, x);
        for (int k = 0; k < study->parameters; ++k) printf("%s%.17g", k == 0 ? "" : ",", x[k]);
        putchar('\n');
    }
    lash_free(x);
}

static void put_plan(AppJson* json, const LashStudy* study) {
    app_json_put_text(json, "design", lash_design_name((LashDesignType)study->design.type));
    app_json_put_integer(json, "samples", study->samples);
    app_json_put_integer(json, "seed", (int64_t)study->seed);
    app_json_key(json, "parameters");
    app_json_begin_array(json);
    for (int i = 0; i < study->parameters; ++i) {
        const LashStudyParameter* study_parameter = &study->parameter[i];
        app_json_begin_object(json);
        app_json_put_text(json, "name", study_parameter->name);
        app_json_put_text(json, "distribution",
                          lash_distribution_name((LashDistributionType)study_parameter->type));
        app_json_put_number(json, "mean", lash_distribution_mean(&study_parameter->distribution));
        app_json_put_number(json, "sigma", lash_distribution_sigma(&study_parameter->distribution));
        app_json_end_object(json);
    }
    app_json_end_array(json);
    app_json_key(json, "outputs");
    app_json_begin_array(json);
    for (int i = 0; i < study->outputs; ++i) app_json_text(json, study->output[i].measured.name);
    app_json_end_array(json);
}

// MODEL.json -> MODEL.study.json, with ".draft" left away.
static void study_name(const char* model, char* path, size_t size) {
    size_t length = strlen(model);
    static const char* const ends[] = {".json", ".draft"};
    for (int i = 0; i < 2; ++i) {
        size_t end = strlen(ends[i]);
        if (length > end && strncmp(model + length - end, ends[i], end) == 0) length -= end;
    }
    snprintf(path, size, "%.*s.study.json", (int)length, model);
}

static int plan_from_pmi(StudyOptions* options, AppReport* report, LashError* error) {
    char path[1024];
    int count = 0;
    const char* model = options->operands.item[0];
    study_name(model, path, sizeof path);
    if (options->output == NULL) options->output = path;
    bool good = app_file_expect(model, APP_FILE_MODEL, error) &&
                study_from_pmi(model, options->output, &count, error);
    if (options->json) {
        AppJson* json = app_report_document(report, error);
        if (good) app_json_put_text(json, "output", options->output);
        if (good) app_json_put_integer(json, "fits", count);
    } else if (good) {
        printf("%d fit%s, each with its hole and its shaft\n", count, count == 1 ? "" : "s");
        printf("written: %s; add limits of the outputs, then lash study run\n", options->output);
    }
    return app_report_finish(report, error);
}

static int app_study_plan(int argc, char** argv) {
    StudyOptions o = study_options();
    StudyTask task;
    LashError error = {0};
    int code = app_options_parse(&app_study_plan_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("study plan", o.json);
    if (o.from_pmi) return plan_from_pmi(&o, &report, &error);
    LashStudy* study = NULL;
    if (o.output != NULL)
        lash_error_set(&error, LASH_ERROR_USAGE, "--output", "belongs to --from-pmi");
    else if (app_file_expect(o.operands.item[0], APP_FILE_STUDY, &error) &&
             study_task(&o, false, &task, &error))
        study = lash_study_load(o.operands.item[0], &task.change, &error);
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        if (study != NULL) put_plan(json, study);
    } else if (study != NULL && o.csv_dump) {
        print_points(study);
    } else if (study != NULL) {
        study_warn_units(study);
        print_plan(study);
    }
    lash_study_destroy(study);
    return app_report_finish(&report, &error);
}

// ---- merge --------------------------------------------------------------------------------------

// Copies the rows of all stores into a new one; the plan is that of the first.
static bool merge(const StudyOptions* options, int64_t* rows, int64_t* planned, LashError* error) {
    LashStore* first = lash_store_open(options->operands.item[0], LASH_STORE_READ, error);
    LashStudy* study = first != NULL ? lash_store_study(first, error) : NULL;
    LashStore* merged = NULL;
    bool good = study != NULL;
    if (good) {
        LashStudyOverride change = {.samples = lash_store_samples(first)};
        merged = lash_store_create(options->output, study, &change, (LashShard){0, 1}, error);
        good = merged != NULL && lash_store_begin(merged, error);
    }
    for (int i = 0; i < options->operands.count && good; ++i) {
        LashStore* from = lash_store_open(options->operands.item[i], LASH_STORE_READ, error);
        good = from != NULL && lash_store_same(first, from, error) &&
               lash_store_copy(merged, from, study, error) &&
               lash_store_copy_worst(merged, from, study, error);
        lash_store_close(from, NULL);
    }
    int64_t counts[LASH_SAMPLE_STATUSES] = {0};
    good = good && lash_store_commit(merged, error) && lash_store_counts(merged, counts, error);
    for (int i = 0; i < LASH_SAMPLE_STATUSES; ++i) *rows += counts[i];
    if (study != NULL) *planned = study->samples;
    bool made = merged != NULL;
    lash_store_close(merged, error);
    lash_store_close(first, NULL);
    lash_study_destroy(study);
    if (made && !good) remove(options->output); // nothing half merged is left
    return good;
}

static int app_study_merge(int argc, char** argv) {
    StudyOptions o = study_options();
    LashError error = {0};
    int64_t rows = 0, planned = 0;
    int code = app_options_parse(&app_study_merge_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("study merge", o.json);
    bool good = o.output != NULL ||
                lash_error_set(&error, LASH_ERROR_USAGE, "--output",
                               "expected the name of the store to make, found none; -o ALL.db");
    good = good && merge(&o, &rows, &planned, &error);
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        app_json_put_integer(json, "samples", rows);
        app_json_put_integer(json, "planned", planned);
    } else if (good) {
        printf("%s: %lld of %lld samples\n", o.output, (long long)rows, (long long)planned);
    }
    return app_report_finish(&report, &error);
}

// ---- dump ---------------------------------------------------------------------------------------

static void print_hash(const char* name, const char* text) {
    char hex[65];
    LashSha256 hash = lash_sha256();
    lash_sha256_add(&hash, text, strlen(text));
    lash_sha256_hex(&hash, hex);
    printf("%s sha256 %s\n", name, hex);
}

// One word of a line: names with spaces or quotes stand in quotes, as in CSV.
static void print_name(const char* name) {
    putchar(' ');
    if (name[0] == '\0' || (strchr(name, ' ') != NULL && strpbrk(name, ",;\"\n\r\t") == NULL)) {
        putchar('"');
        app_text_print(stdout, name);
        putchar('"');
    } else {
        app_csv_print(stdout, name);
    }
}

static void print_number(double value) {
    if (isfinite(value)) {
        printf(" %.17g", value);
    } else {
        printf(" -");
    }
}

static void print_header(LashStore* store, const LashStudy* study, bool canonical) {
    printf("lash-store/1 version %s\n", lash_store_text(store, "version"));
    print_hash("study", lash_store_text(store, "study_text"));
    print_hash("model", lash_store_text(store, "model_text"));
    printf("cad %s\n", lash_store_text(store, "cad"));
    printf("seed %s rows %s\n", lash_store_text(store, "seed"), lash_store_text(store, "rows"));
    if (!canonical) {
        printf("created %s in %s shard %s\n", lash_store_text(store, "created"),
               lash_store_text(store, "folder"), lash_store_text(store, "shard"));
    }
    printf("columns id status steps iterations penetration joint_error velocity_error");
    for (int i = 0; i < study->parameters; ++i) print_name(study->parameter[i].name);
    for (int i = 0; i < study->outputs; ++i) print_name(study->output[i].measured.name);
    printf("%s reason\n", canonical ? "" : " wall worker");
}

// Numbers with all their digits: equal text means equal bits.
static void print_row(const LashStudy* study, const LashSample* row, bool canonical) {
    printf("%lld %s %lld %lld", (long long)row->id, lash_sample_status_name(row->status),
           (long long)row->steps, (long long)row->iterations);
    print_number(row->penetration);
    print_number(row->joint_error);
    print_number(row->velocity_error);
    for (int i = 0; i < study->parameters; ++i) print_number(row->x[i]);
    for (int i = 0; i < study->outputs; ++i) print_number(row->y[i]);
    if (!canonical) printf(" %.6f %d", row->wall, row->worker);
    putchar(' ');
    app_text_print(stdout, row->reason);
    putchar('\n');
}

// Points of the search for the worst case: "worst" before the number, so that no one takes them for
// samples.
static void print_worst(LashStore* store, const LashStudy* study, LashError* error) {
    LashStoreTable* rows = lash_store_worst(store, study, error);
    for (int64_t i = 0; rows != NULL && i < rows->rows; ++i) {
        const LashSample* row = &rows->sample[i];
        printf("worst %lld %s %lld", (long long)row->id, lash_sample_status_name(row->status),
               (long long)row->steps);
        print_number(row->penetration);
        for (int k = 0; k < study->parameters; ++k) print_number(row->x[k]);
        for (int k = 0; k < study->outputs; ++k) print_number(row->y[k]);
        putchar(' ');
        app_text_print(stdout, row->reason);
        putchar('\n');
    }
    lash_store_table_destroy(rows);
}

static int app_study_dump(int argc, char** argv) {
    StudyOptions o = study_options();
    LashError error = {0};
    char path[1024];
    int code = app_options_parse(&app_study_dump_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("study dump", false);
    study_store_path(o.operands.item[0], NULL, path, sizeof path);
    LashStore* store = lash_store_open(path, LASH_STORE_READ, &error);
    LashStudy* study = store != NULL ? lash_store_plan(store, &error) : NULL;
    LashStoreTable* table = study != NULL ? lash_store_table(store, study, &error) : NULL;
    if (table != NULL) {
        print_header(store, study, o.canonical);
        for (int64_t i = 0; i < table->rows; ++i) {
            if (o.canonical && table->sample[i].status == LASH_SAMPLE_TIME) continue;
            print_row(study, &table->sample[i], o.canonical);
        }
        print_worst(store, study, &error);
    }
    lash_store_table_destroy(table);
    lash_study_destroy(study);
    lash_store_close(store, NULL);
    return app_report_finish(&report, &error);
}

// ---- lash study NAME ----------------------------------------------------------------------------

typedef struct Entry {
    const char *name, *summary;
    int (*run)(int argc, char** argv);
} Entry;

static const Entry entries[] = {
    {"plan", "check a study and show what it would run", app_study_plan},
    {"run", "run the samples of a study", app_study_run},
    {"resume", "run the samples that a store lacks", app_study_resume},
    {"merge", "join the stores of shards into one", app_study_merge},
    {"dump", "print all rows of a store as text", app_study_dump},
    {"worst", "search the box of tolerances for the worst case", app_study_worst},
    {"report", "statistics of a store: a page, CSV, JSON", app_study_report},
    {"compare", "two stores, before and after a change", app_study_compare},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

int app_study(int argc, char** argv) {
    bool help = argc >= 2 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0);
    if (argc >= 2 && argv[1][0] != '-') {
        char hint[300];
        AppSuggestion near = app_suggestion(argv[1]);
        for (int i = 0; i < ENTRIES; ++i) {
            if (strcmp(entries[i].name, argv[1]) == 0) return entries[i].run(argc - 1, argv + 1);
            app_suggestion_offer(&near, entries[i].name);
        }
        app_report_note("lash: there is no 'study %s'%s", argv[1],
                        app_suggestion_names(&near, hint, sizeof hint));
        return LASH_ERROR_USAGE;
    }
    FILE* out = help ? stdout : stderr;
    fprintf(out,
            "lash study: which clearance matters, and how many samples are out of spec\n\n"
            "usage: lash study NAME [options]\n\n");
    for (int i = 0; i < ENTRIES; ++i)
        fprintf(out, "  %-8s %s\n", entries[i].name, entries[i].summary);
    return help ? 0 : LASH_ERROR_USAGE;
}
