// lash bench study: how much of the machine a study uses, and what a sample costs besides its
// simulation.
//
//   busy      time the workers spend in samples / (workers x wall clock)
//   overhead  processor time of all threads less that spent stepping, per sample: reading the model
//             with new parameters, building, starting, cleaning up, the store, the scheduler
//
// Processor time is what counts on a machine that others use, too.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/data_dir.h"
#include "app/progress.h"
#include "app/report.h"
#include "app/study/study_command.h"

typedef struct BenchOptions {
    AppOperands operands;
    const char* models;
    int samples, jobs;
    bool json;
} BenchOptions;

#define OPTION(member) offsetof(BenchOptions, member)
static const AppOption options[] = {
    {"samples", 'n', APP_INTEGER, "N", "of the slider-crank study (default 40; the goal is 1000)",
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
    char name[64];
    int64_t samples;
    double wall, cpu;       // [s]
    double busy;            // share of the workers' time
    double overhead, setup; // [s] per sample
    double stepping;        // [s] per sample
    double thousand;        // [s] wall clock of 1000 samples at this processor time
} Figures;

static bool measure(const char* study_path, int samples, int jobs, Figures* f, LashError* error) {
    char path[64];
    LashStudyOverride change = {.samples = samples};
    snprintf(path, sizeof path, "bench-study-%ld.db", (long)getpid());
    remove(path);
    LashStudy* study = lash_study_load(study_path, &change, error);
    LashStore* store =
        study != NULL ? lash_store_create(path, study, &change, (LashShard){0, 1}, error) : NULL;
    double start = app_wall_clock(), cpu = study_cpu_clock(), own = lash_thread_clock();
    LashSchedule* schedule = store != NULL ? lash_schedule_start(store, study, jobs, error) : NULL;
    if (schedule != NULL) {
        while (!lash_schedule_wait(schedule, 0.5).finished) {
            if (app_interrupted()) lash_schedule_stop(schedule);
        }
        LashScheduleState state = lash_schedule_end(schedule);
        *error = state.error;
        double n = state.ran > 0 ? (double)state.ran : 1;
        f->samples = state.ran;
        f->wall = app_wall_clock() - start;
        f->cpu = study_cpu_clock() - cpu;
        f->busy = state.sampling / (jobs * f->wall);
        f->setup = state.setup / n;
        f->stepping = state.stepping / n;
        f->overhead = (state.cpu - state.stepping + state.writing + lash_thread_clock() - own) / n;
        f->thousand = 1000 * f->cpu / n / jobs;
    }
    lash_store_close(store, error);
    lash_study_destroy(study);
    remove(path);
    return error->status == LASH_OK;
}

static void note(const Figures* f, int jobs, char* text, size_t size) {
    snprintf(
        text, size,
        "%lld samples with %d workers: %.1f %% busy; besides stepping %.3f ms per sample (%.3f "
        "ms of it to read and build the model); stepping %.1f ms; 1000 samples: %.0f s of wall "
        "clock on idle cores at this processor time",
        (long long)f->samples, jobs, 100 * f->busy, 1e3 * f->overhead, 1e3 * f->setup,
        1e3 * f->stepping, f->thousand);
}

static void put_figures(AppJson* json, const Figures* f, int jobs) {
    char text[400];
    note(f, jobs, text, sizeof text);
    app_json_begin_object(json);
    app_json_put_text(json, "name", f->name);
    app_json_put_number(json, "us", 1e6 * f->cpu / (double)(f->samples > 0 ? f->samples : 1));
    app_json_put_text(json, "peer", NULL);
    app_json_put_number(json, "peer_us", NAN);
    app_json_put_number(json, "ratio", NAN);
    app_json_put_text(json, "note", text);
    app_json_put_integer(json, "samples", f->samples);
    app_json_put_integer(json, "workers", jobs);
    app_json_put_number(json, "busy", f->busy);
    app_json_put_number(json, "overhead_ms", 1e3 * f->overhead);
    app_json_put_number(json, "setup_ms", 1e3 * f->setup);
    app_json_put_number(json, "wall_seconds", f->wall);
    app_json_put_number(json, "cpu_seconds", f->cpu);
    app_json_put_number(json, "thousand_seconds", f->thousand);
    app_json_end_object(json);
}

int app_bench_study(int argc, char** argv) {
    BenchOptions o = {.samples = 40, .jobs = 2};
    LashError error = {0};
    char path[1200], text[400];
    int code = app_options_parse(&command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("bench", o.json);
    Figures f = {.name = "slider-crank clearance study"};
    app_catch_interrupt();
    if (o.samples < 1 || o.jobs < 1 || o.jobs > 1024) {
        lash_error_set(&error, LASH_ERROR_USAGE, "--samples, --jobs", "expected positive numbers");
    } else if (o.operands.count > 0) {
        snprintf(path, sizeof path, "%s", o.operands.item[0]);
        snprintf(f.name, sizeof f.name, "%.60s", path);
    } else if (!app_find_model(o.models, "slider_crank/clearance.study.json", path, sizeof path)) {
        lash_error_set(&error, LASH_ERROR_IO, "slider_crank/clearance.study.json",
                       "this study was not found; --models names the folder");
    }
    if (error.status == LASH_OK && measure(path, o.samples, o.jobs, &f, &error) && !o.json) {
        note(&f, o.jobs, text, sizeof text);
        printf("%s: %.1f s\n%s\n", f.name, f.wall, text);
    }
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        app_json_key(json, "benchmarks");
        app_json_begin_array(json);
        if (error.status == LASH_OK) put_figures(json, &f, o.jobs);
        app_json_end_array(json);
    }
    code = app_report_finish(&report, &error);
    return code == 0 && app_interrupted() ? APP_EXIT_INTERRUPTED : code;
}
