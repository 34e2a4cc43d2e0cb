// lash bench study: how much of the machine a study uses, and what a sample costs besides its
// simulation.
//
//   overhead  processor time of all threads less that spent stepping, per sample: reading the model
//             with new parameters, building, starting, cleaning up, the store, the scheduler
//   busy      wall time the workers spend in samples / that and the time they wait for one
//   at work   1 - (time a worker neither ran nor waited for a core) / its life: what the workers
//             would use of cores of their own; a lock or a disk inside a sample shows here, too
//
// None of them depends on what else the machine does. Not counted is the end of a study, where the
// last samples leave some workers without work.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/cli/data_dir.h"
#include "app/cli/progress.h"
#include "app/cli/report.h"
#include "app/study/study_command.h"

typedef struct BenchOptions {
    AppOperands operands;
    const char* models;
    int samples, jobs;
    bool json;
} BenchOptions;

#define OPTION(member) offsetof(BenchOptions, member)
static const AppOption options[] = {
    {"samples", 'n', APP_INTEGER, "N",
     "of the slider-crank study (default 40; the goal is 1000); a tenth of it of the breaker's",
     OPTION(samples)},
    {"jobs", 'j', APP_INTEGER, "N", "worker threads (default 2)", OPTION(jobs)},
    {"models", 0, APP_FILE, "FOLDER", "where the models are", OPTION(models)},
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
static const AppCommand command = {.name = "bench study",
                                   .operands = "[STUDY]",
                                   .summary = "studies: workers busy, overhead per sample",
                                   .maximum = 1,
                                   .option = options,
                                   .options = sizeof options / sizeof *options,
                                   .json_offset = OPTION(json),
                                   .operand_offset = OPTION(operands)};

typedef struct Figures {
    const char* name;
    int workers;
    int64_t samples;
    double wall, cpu;               // [s]
    double busy, at_work;           // shares of the workers' time; NAN: not known
    double spent[LASH_SPENT_PARTS]; // [s] per sample
    double store, overhead;         // [s] per sample
    double commits;                 // per sample
    double thousand;                // [s] wall clock of 1000 samples at this processor time
} Figures;

// own: processor time of the main thread.
static void evaluate(Figures* figures, const LashScheduleState* state, double own) {
    double n = state->ran > 0 ? (double)state->ran : 1;
    figures->samples = state->ran;
    figures->busy = state->sampling / (state->sampling + state->waiting);
    figures->at_work = 1 - state->blocked / (state->sampling + state->waiting);
    for (int i = 0; i < LASH_SPENT_PARTS; ++i) figures->spent[i] = state->spent[i] / n;
    figures->overhead =
        (state->working + state->writing + own) / n - figures->spent[LASH_SPENT_STEPS];
    figures->store = figures->overhead;
    for (int i = 0; i < LASH_SPENT_PARTS; ++i) {
        if (i != LASH_SPENT_STEPS) figures->store -= figures->spent[i];
    }
    figures->commits = state->commits / n;
    figures->thousand = 1000 * figures->cpu / n / figures->workers;
}

static bool measure(const char* study_path, int samples, Figures* figures, LashError* error) {
    char path[64];
    LashStudyOverride change = {.samples = samples};
    snprintf(path, sizeof path, "bench-study-%ld.db", (long)getpid());
    remove(path);
    LashStudy* study = lash_study_load(study_path, &change, error);
    LashStore* store =
        study != NULL ? lash_store_create(path, study, &change, (LashShard){0, 1}, error) : NULL;
    double start = app_wall_clock(), cpu = study_cpu_clock(), own = lash_thread_clock();
    LashSchedule* schedule =
        store != NULL ? lash_schedule_start(store, study, figures->workers, error) : NULL;
    if (schedule != NULL) {
        while (!lash_schedule_wait(schedule, 0.5).finished) {
            if (app_interrupted()) lash_schedule_stop(schedule);
        }
        LashScheduleState state = lash_schedule_end(schedule);
        *error = state.error;
        figures->wall = app_wall_clock() - start;
        figures->cpu = study_cpu_clock() - cpu;
        evaluate(figures, &state, lash_thread_clock() - own);
    }
    lash_store_close(store, error);
    lash_study_destroy(study);
    remove(path);
    return error->status == LASH_OK;
}

static void print_figures(const Figures* figures) {
    printf("%s: %lld samples with %d %s, %.1f s\n", figures->name, (long long)figures->samples,
           figures->workers, app_plural(figures->workers, "worker", "workers"), figures->wall);
    printf("  processor time of a sample            ms\n");
    for (int i = 0; i < LASH_SPENT_PARTS; ++i)
        printf("    %-28s %9.3f\n", lash_sample_part_name((LashSamplePart)i),
               1e3 * figures->spent[i]);
    printf("    %-28s %9.3f  (%.2f commits)\n", "store, scheduler", 1e3 * figures->store,
           figures->commits);
    printf("    %-28s %9.3f  (to be at most 1)\n", "all besides its steps",
           1e3 * figures->overhead);
    printf("  workers in samples %.2f %% of their time, waiting for the next %.2f %%",
           100 * figures->busy, 100 * (1 - figures->busy));
    if (!isnan(figures->at_work)) printf("; running or ready to %.2f %%", 100 * figures->at_work);
    printf("\n  1000 samples: %.0f s on %d idle %s at this processor time\n", figures->thousand,
           figures->workers, app_plural(figures->workers, "core", "cores"));
}

static void put_figures(AppJson* json, const Figures* figures) {
    char text[200];
    snprintf(text, sizeof text,
             "%lld samples with %d workers: %.1f %% busy; besides stepping %.3f ms per sample",
             (long long)figures->samples, figures->workers, 100 * figures->busy,
             1e3 * figures->overhead);
    app_json_begin_object(json);
    app_json_put_text(json, "name", figures->name);
    app_json_put_number(json, "us",
                        1e6 * figures->cpu / (double)(figures->samples > 0 ? figures->samples : 1));
    app_json_put_text(json, "peer", NULL);
    app_json_put_number(json, "peer_us", NAN);
    app_json_put_number(json, "ratio", NAN);
    app_json_put_text(json, "note", text);
    app_json_put_integer(json, "samples", figures->samples);
    app_json_put_integer(json, "workers", figures->workers);
    app_json_put_number(json, "busy", figures->busy);
    app_json_put_number(json, "at_work", figures->at_work);
    app_json_put_number(json, "overhead_ms", 1e3 * figures->overhead);
    app_json_key(json, "parts_ms");
    app_json_begin_object(json);
    for (int i = 0; i < LASH_SPENT_PARTS; ++i)
        app_json_put_number(json, lash_sample_part_name((LashSamplePart)i),
                            1e3 * figures->spent[i]);
    app_json_put_number(json, "store, scheduler", 1e3 * figures->store);
    app_json_end_object(json);
    app_json_put_number(json, "commits_per_sample", figures->commits);
    app_json_put_number(json, "wall_seconds", figures->wall);
    app_json_put_number(json, "cpu_seconds", figures->cpu);
    app_json_put_number(json, "thousand_seconds", figures->thousand);
    app_json_end_object(json);
}

// The study named, or those that come with lash. Rows done.
static int measure_all(const BenchOptions* bench_options, Figures* rows, LashError* error) {
    static const struct {
        const char *file, *name;
        int divisor; // of the samples asked for
    } known[] = {{"slider_crank/clearance.study.json", "slider-crank clearance study", 1},
                 {"circuit_breaker/clearances.study.json", "circuit-breaker clearance study", 10}};
    int done = 0;
    char path[1200];
    if (bench_options->samples < 1 || bench_options->jobs < 1 || bench_options->jobs > 1024) {
        lash_error_set(error, LASH_ERROR_USAGE, "--samples, --jobs", "expected positive numbers");
        return 0;
    }
    if (bench_options->operands.count > 0) {
        rows[0] =
            (Figures){.name = bench_options->operands.item[0], .workers = bench_options->jobs};
        return measure(rows[0].name, bench_options->samples, &rows[0], error) ? 1 : 0;
    }
    for (int i = 0; i < 2 && !app_interrupted(); ++i) {
        if (!app_find_model(bench_options->models, known[i].file, path, sizeof path)) {
            lash_error_set(error, LASH_ERROR_IO, known[i].file,
                           "this study was not found; --models names the folder");
            break;
        }
        int samples = (bench_options->samples + known[i].divisor - 1) / known[i].divisor;
        rows[i] = (Figures){.name = known[i].name, .workers = bench_options->jobs};
        if (!measure(path, samples, &rows[i], error)) break;
        ++done;
    }
    return done;
}

int app_bench_study(int argc, char** argv) {
    BenchOptions o = {.samples = 40, .jobs = 2};
    LashError error = {0};
    Figures rows[2];
    int code = app_options_parse(&command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("bench", o.json);
    app_catch_interrupt();
    int done = measure_all(&o, rows, &error);
    for (int i = 0; i < done && !o.json; ++i) print_figures(&rows[i]);
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        app_json_key(json, "benchmarks");
        app_json_begin_array(json);
        for (int i = 0; i < done; ++i) put_figures(json, &rows[i]);
        app_json_end_array(json);
    }
    code = app_report_finish(&report, &error);
    return code == 0 && app_interrupted() ? APP_EXIT_INTERRUPTED : code;
}
