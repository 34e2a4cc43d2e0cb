// lash study worst: the search for the worst case. Every point runs alone in a child process, so a
// point that kills the program is a row like any other, and goes to the store as soon as all before
// it are done.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/file_kind.h"
#include "app/cli/progress.h"
#include "app/cli/report.h"
#include "app/cli/suggest.h"
#include "app/cli/text.h"
#include "app/study/number.h"
#include "app/study/study_command.h"
#include "app/study/worst.h"
#include "core/arena.h"

#define OPTION(member) offsetof(StudyOptions, member)
static const AppOption options[] = {
    {"of", 0, APP_TEXT, "OUTPUT", "only of this output (default: all that have limits)",
     OPTION(of)},
    {"points", 0, APP_INTEGER, "N",
     "at most N points per output and side (default: 20 + 20 per parameter)", OPTION(points)},
    {"jobs", 'j', APP_INTEGER, "N", "points at the same time (default: one per core)",
     OPTION(jobs)},
    APP_OPTION_CAD_SECONDS,
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
const AppCommand app_study_worst_command = {
    .name = "study worst",
    .operands = "STORE.db",
    .summary = "search the box of tolerances for the worst case",
    .detail =
        "Begins at the worst samples and moves parameters to the ends of their zones as long as "
        "the\n"
        "output gets worse. Points go to the store: after Ctrl-C the same command goes on, and "
        "the\n"
        "report shows the worst case apart from the statistics. It says how bad a device within\n"
        "tolerance can be, not how often that happens.",
    .minimum = 1,
    .maximum = 1,
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands),
    .files = APP_FILE_STORE | APP_FILE_STUDY};

typedef struct Work {
    LashStore* store;
    LashStudy* study;
    LashStoreTable* rows;
    LashSample** made; // what rows borrow since it was read
    int64_t mades, room;
    int jobs;
    AppProgress progress;
    LashWorstCase* found;
    int cases;
} Work;

// ---- running ------------------------------------------------------------------------------------

static void append_row(Work* work, LashSample* sample) {
    LashStoreTable* rows = work->rows;
    if (work->mades == work->room) {
        work->room = 2 * work->room + 64;
        work->made = lash_realloc(work->made, (size_t)work->room * sizeof *work->made);
    }
    work->made[work->mades++] = sample;
    rows->sample = lash_realloc(rows->sample, (size_t)(rows->rows + 1) * sizeof *rows->sample);
    rows->sample[rows->rows++] = *sample;
}

// At most `jobs` points, so that each commit is near.
static bool run_few(Work* work, const double* x, int count, LashError* error) {
    LashSample** sample = lash_alloc((size_t)count * sizeof(LashSample*));
    bool good =
        lash_isolate_points(work->study, x, work->rows->rows, count, work->jobs, sample, error);
    int kept = 0;
    while (good && kept < count && sample[kept] != NULL) ++kept; // in their order, without holes
    if (kept > 0) {
        good = lash_store_begin(work->store, error);
        for (int i = 0; i < kept && good; ++i)
            good = lash_store_put_worst(work->store, work->study, sample[i], error);
        good = lash_store_commit(work->store, error) && good;
    }
    for (int i = 0; i < count; ++i) {
        if (good && i < kept) {
            append_row(work, sample[i]);
        } else {
            lash_sample_destroy(sample[i]);
        }
    }
    lash_free(sample);
    return good;
}

static bool run_points(void* context, const double* x, int count, LashError* error) {
    Work* work = context;
    bool good = true;
    int each = 4 * work->jobs;
    for (int done = 0; done < count && good && !app_interrupted(); done += each) {
        int part = count - done < each ? count - done : each;
        char what[64];
        good = run_few(work, x + (size_t)done * (size_t)work->study->parameters, part, error);
        snprintf(what, sizeof what, "%lld points", (long long)work->rows->rows);
        app_progress_update(&work->progress, 0, what);
    }
    return good;
}

// Is output i to be searched? No output has limits: all are.
static bool is_wanted(const StudyOptions* study_options, const LashStudy* study, int i) {
    bool limits = false;
    if (study_options->of != NULL)
        return strcmp(study->output[i].measured.name, study_options->of) == 0;
    for (int k = 0; k < study->outputs; ++k)
        limits = limits || !isnan(study->output[k].lsl) || !isnan(study->output[k].usl);
    return !limits || !isnan(study->output[i].lsl) || !isnan(study->output[i].usl);
}

static bool check_output(const StudyOptions* study_options, const LashStudy* study,
                         LashError* error) {
    char hint[300];
    if (study_options->of == NULL) return true;
    AppSuggestion near = app_suggestion(study_options->of);
    for (int i = 0; i < study->outputs; ++i) {
        if (strcmp(study->output[i].measured.name, study_options->of) == 0) return true;
        app_suggestion_offer(&near, study->output[i].measured.name);
    }
    return lash_error_set(error, LASH_ERROR_USAGE, "--of", "the study has no output '%.60s'%s",
                          study_options->of, app_suggestion_names(&near, hint, sizeof hint));
}

static bool search_all(const StudyOptions* study_options, Work* work, const LashStoreTable* samples,
                       LashError* error) {
    const LashStudy* study = work->study;
    LashWorstSearch search = {.study = study,
                              .samples = samples,
                              .rows = work->rows,
                              .run = run_points,
                              .context = work,
                              .budget = study_options->points > 0 ? study_options->points : 0};
    bool good = true;
    work->found = lash_alloc(2 * (size_t)study->outputs * sizeof *work->found);
    for (int i = 0; i < study->outputs && good; ++i) {
        LashWorstSide side[2];
        int sides = is_wanted(study_options, study, i) ? lash_worst_sides(study, i, side) : 0;
        for (int k = 0; k < sides && good && !app_interrupted(); ++k)
            good = lash_worst_find(&search, i, side[k], &work->found[work->cases++], error);
    }
    return good;
}

// ---- telling ------------------------------------------------------------------------------------

static const char* end_of(double value, double low, double high) {
    if (value <= low) return "low end";
    return value >= high ? "high end" : "inside";
}

static void print_corner(const LashWorstSearch* search, const LashWorstCase* worst_case) {
    for (int k = 0; k < search->study->parameters; ++k) {
        double low, high;
        if (search->study->parameter[k].active < 0) continue;
        lash_worst_box(search, k, &low, &high);
        printf("    %-24s %.10g (%s)\n", search->study->parameter[k].name, worst_case->x[k],
               end_of(worst_case->x[k], low, high));
    }
}

static const char* value_text(double value, char* text, size_t size) {
    if (isnan(value)) return "never happens";
    snprintf(text, size, "%.6g", value);
    return text;
}

static void print_case(const LashWorstSearch* search, const LashWorstCase* worst_case) {
    const LashStudyOutput* output = &search->study->output[worst_case->output];
    double limit = worst_case->side == LASH_WORST_HIGH ? output->usl : output->lsl;
    char worst[48], sample[48];
    app_text_print(stdout, output->measured.name);
    if (output->unit != NULL) {
        printf(" in ");
        app_text_print(stdout, output->unit);
    }
    printf(", %s end", worst_case->side == LASH_WORST_HIGH ? "high" : "low");
    if (!isnan(limit))
        printf(" (%s %.9g)", worst_case->side == LASH_WORST_HIGH ? "USL" : "LSL", limit);
    if (worst_case->x == NULL) {
        printf(": no sample has it\n");
        return;
    }
    printf("\n  worst case %s; the worst sample (%lld) %s\n",
           value_text(worst_case->value, worst, sizeof worst), (long long)worst_case->sample,
           value_text(worst_case->sample_value, sample, sizeof sample));
    printf("  %lld points run", (long long)worst_case->points);
    if (worst_case->unusable > 0)
        printf(", %lld of them could not be simulated", (long long)worst_case->unusable);
    printf("%s\n", worst_case->complete
                       ? ""
                       : "; the search has not ended: --points, or the command again");
    if (worst_case->is_sample) printf("  nothing worse than the worst sample was found\n");
    print_corner(search, worst_case);
}

static void put_cases(AppJson* json, const LashWorstSearch* search, const Work* work) {
    app_json_key(json, "worst_cases");
    app_json_begin_array(json);
    for (int i = 0; i < work->cases; ++i) lash_worst_put(json, search, &work->found[i]);
    app_json_end_array(json);
    app_json_put_integer(json, "points", work->rows->rows);
    app_json_put_bool(json, "interrupted", app_interrupted());
}

void lash_worst_put(AppJson* json, const LashWorstSearch* search, const LashWorstCase* worst_case) {
    const LashStudy* study = search->study;
    app_json_begin_object(json);
    app_json_put_text(json, "output", study->output[worst_case->output].measured.name);
    app_json_put_text(json, "side", worst_case->side == LASH_WORST_HIGH ? "high" : "low");
    app_json_put_number(json, "value", worst_case->value);
    app_json_put_number(json, "worst_sample_value", worst_case->sample_value);
    app_json_put_integer(json, "worst_sample", worst_case->sample);
    app_json_put_integer(json, "points", worst_case->points);
    app_json_put_integer(json, "not_simulated", worst_case->unusable);
    app_json_put_bool(json, "complete", worst_case->complete);
    app_json_key(json, "at");
    app_json_begin_object(json);
    for (int k = 0; k < study->parameters && worst_case->x != NULL; ++k)
        app_json_put_number(json, study->parameter[k].name, worst_case->x[k]);
    app_json_end_object(json);
    app_json_end_object(json);
}

static void tell(const StudyOptions* study_options, const Work* work, const LashStoreTable* samples,
                 AppReport* report, LashError* error) {
    LashWorstSearch search = {.study = work->study, .samples = samples, .rows = work->rows};
    if (study_options->json) {
        AppJson* json = app_report_document(report, error);
        if (error->status == LASH_OK) put_cases(json, &search, work);
        return;
    }
    if (error->status != LASH_OK) return;
    for (int i = 0; i < work->cases; ++i) print_case(&search, &work->found[i]);
    if (app_interrupted()) {
        printf("interrupted: the same command goes on\n");
    } else {
        printf("not a statistic: how bad a device within its tolerances can be, not how often\n");
    }
}

static bool check_numbers(const StudyOptions* study_options, LashError* error) {
    if (study_options->jobs != STUDY_NOT_GIVEN &&
        (study_options->jobs < 1 || study_options->jobs > 1024))
        return lash_error_set(error, LASH_ERROR_USAGE, "--jobs",
                              "expected 1 to 1024 processes, found %d", study_options->jobs);
    if (study_options->points != STUDY_NOT_GIVEN && study_options->points < 1)
        return lash_error_set(error, LASH_ERROR_USAGE, "--points",
                              "expected a positive number, found %d", study_options->points);
    return true;
}

int app_study_worst(int argc, char** argv) {
    StudyOptions o = study_options();
    LashError error = {0};
    char path[1024];
    int code = app_options_parse(&app_study_worst_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("study worst", o.json);
    Work work = {.jobs = study_jobs(&o)};
    LashStoreTable* samples = NULL;
    app_catch_interrupt();
    study_store_path(o.operands.item[0], NULL, path, sizeof path);
    if (check_numbers(&o, &error)) work.store = lash_store_open(path, LASH_STORE_WRITE, &error);
    if (work.store != NULL) work.study = lash_store_study(work.store, &error);
    if (work.study != NULL && check_output(&o, work.study, &error)) {
        samples = lash_store_table(work.store, work.study, &error);
        work.rows = samples != NULL ? lash_store_worst(work.store, work.study, &error) : NULL;
    }
    if (work.rows != NULL) {
        work.progress = app_progress_start();
        search_all(&o, &work, samples, &error);
        app_progress_clear(&work.progress);
    }
    tell(&o, &work, samples, &report, &error);
    for (int64_t i = 0; i < work.mades; ++i) lash_sample_destroy(work.made[i]);
    lash_free(work.made);
    lash_free(work.found);
    lash_store_table_destroy(work.rows);
    lash_store_table_destroy(samples);
    lash_study_destroy(work.study);
    lash_store_close(work.store, &error);
    code = app_report_finish(&report, &error);
    return code == 0 && app_interrupted() ? APP_EXIT_INTERRUPTED : code;
}
