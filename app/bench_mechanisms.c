// lash bench mechanisms: microseconds of processor time per step of models, the least of several
// repetitions, so that other programs on the machine disturb little.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "app/commands.h"
#include "app/data_dir.h"
#include "app/model.h"
#include "app/progress.h"
#include "app/report.h"
#include "app/start.h"

typedef struct BenchOptions {
    AppOperands operands;
    const char* models;
    int repeat;
    bool json;
} BenchOptions;

#define OPTION(member) offsetof(BenchOptions, member)
static const AppOption options[] = {
    {"models", 0, APP_FILE, "FOLDER", "where the models are", OPTION(models)},
    {"repeat", 0, APP_INTEGER, "N", "repetitions, the fastest counts (default 5)", OPTION(repeat)},
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
const AppCommand app_bench_mechanisms_command = {
    .name = "bench mechanisms",
    .operands = "",
    .summary = "microseconds per step of whole mechanisms",
    .detail = "Processor time of one thread; the fastest repetition counts.",
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands)};

typedef struct Scene {
    const char *name, *file, *note;
    double step; // [s]
    int steps;
    const char* family;
    int size; // 0: no growth row
} Scene;

static const Scene scenes[] = {
    {"slider_crank_ideal", "slider_crank/ideal.json", "3 bodies, maximal coordinates, h = 1e-5 s",
     1e-5, 20000, NULL, 0},
    {"pendulum", "benchmarks/pendulum_120.json", "1 body", 1e-4, 20000, NULL, 0},
    {"andrews", "benchmarks/a03_andrews.json", "7 bodies, 10 revolutes", 1e-6, 10000, NULL, 0},
    {"four_bars_1", "benchmarks/a02_n1.json", "A02 with N = 1: 3 links", 1e-4, 10000, "four_bars",
     3},
    {"four_bars_2", "benchmarks/a02_n2.json", "A02 with N = 2: 5 links", 1e-4, 10000, "four_bars",
     5},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

static double processor_time(void) { // of this thread [s]
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Time of one run [s]; NAN with error when a step fails.
static double time_run(const LashModel* model, const LashMechanism* mech, const LashSystem* system,
                       int steps, LashError* error) {
    LashSim* sim = lash_sim_create(system, &model->simulation.settings);
    double moved, seconds = NAN;
    if (app_start_prepare(model, mech, system, sim, &moved, error)) {
        double start = processor_time();
        int i = 0;
        while (i < steps && lash_sim_step(sim).outcome == LASH_CONVERGED) ++i;
        seconds = processor_time() - start;
        if (i < steps) {
            seconds = NAN;
            lash_error_set(error, LASH_ERROR_NUMERICS, "", "step %d failed", i + 1);
        }
    }
    lash_sim_destroy(sim);
    return seconds;
}

// Least microseconds per step of a scene.
static bool measure(const Scene* scene, const BenchOptions* o, double* us, LashError* error) {
    char path[1200];
    if (!app_find_model(o->models, scene->file, path, sizeof path)) {
        return lash_error_set(error, LASH_ERROR_IO, scene->file,
                              "this model was not found; --models names the folder");
    }
    LashModel* model = lash_model_load(path, NULL, 0, error);
    if (model == NULL) return false;
    model->simulation.settings.h = scene->step;
    LashMechanism* mech = lash_model_build(model, error);
    const LashSystem* system = lash_mechanism_system(mech);
    *us = INFINITY;
    for (int i = 0; i < o->repeat && error->status == LASH_OK && !app_interrupted(); ++i) {
        double seconds = time_run(model, mech, system, scene->steps, error);
        *us = fmin(*us, 1e6 * seconds / scene->steps);
    }
    if (error->status != LASH_OK) lash_error_file(error, path);
    lash_mechanism_destroy(mech);
    lash_model_destroy(model);
    return error->status == LASH_OK;
}

static void put_row(AppJson* json, const Scene* scene, double us) {
    app_json_begin_object(json);
    app_json_put_text(json, "name", scene->name);
    app_json_put_number(json, "us", us);
    app_json_put_text(json, "peer", NULL);
    app_json_put_number(json, "peer_us", NAN);
    app_json_put_number(json, "ratio", NAN);
    app_json_put_text(json, "note", scene->note);
    if (scene->size > 0) {
        app_json_put_text(json, "family", scene->family);
        app_json_put_integer(json, "size", scene->size);
        app_json_put_number(json, "us_per_unit", us / scene->size);
    }
    app_json_end_object(json);
}

int app_bench_mechanisms(int argc, char** argv) {
    BenchOptions o = {.repeat = 5};
    int code = app_options_parse(&app_bench_mechanisms_command, argc, argv, &o);
    if (code >= 0) return code;
    if (o.repeat < 1) o.repeat = 1;
    app_catch_interrupt();
    AppReport report = app_report("bench", o.json);
    LashError error = {0};
    double us[SCENES] = {0};
    int done = 0;
    for (; done < SCENES && !app_interrupted(); ++done) {
        if (!measure(&scenes[done], &o, &us[done], &error)) break;
        if (!o.json)
            printf("%-20s %8.2f us per step   %s\n", scenes[done].name, us[done],
                   scenes[done].note);
    }
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        app_json_key(json, "benchmarks");
        app_json_begin_array(json);
        for (int i = 0; i < done; ++i) put_row(json, &scenes[i], us[i]);
        app_json_end_array(json);
    }
    code = app_report_finish(&report, &error);
    return code == 0 && app_interrupted() ? APP_EXIT_INTERRUPTED : code;
}
