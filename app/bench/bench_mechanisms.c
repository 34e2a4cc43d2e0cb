// lash bench mechanisms: microseconds of processor time per step of whole mechanisms and, where
// lash-bench-peer was built, of the same mechanism with the same step over the same time in other
// programs. Each figure is the least of several repetitions; ours and the peers' alternate, so that
// whatever else the machine does disturbs both alike.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/bench/bench_scale.h"
#include "app/bench/bench_scenes.h"
#include "app/bench/peer.h"
#include "app/cli/data_dir.h"
#include "app/cli/progress.h"
#include "app/cli/report.h"
#include "app/commands.h"

typedef struct BenchOptions {
    AppOperands operands;
    const char *models, *only;
    int repeat;
    bool no_peer, json;
} BenchOptions;

#define OPTION(member) offsetof(BenchOptions, member)
static const AppOption options[] = {
    {"models", 0, APP_FILE, "FOLDER", "where the models are", OPTION(models)},
    {"only", 0, APP_TEXT, "NAME", "only rows whose names begin so", OPTION(only)},
    {"repeat", 0, APP_INTEGER, "N", "repetitions, the fastest counts (default 5)", OPTION(repeat)},
    {"no-peer", 0, APP_FLAG, NULL, "do not run other programs for comparison", OPTION(no_peer)},
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
const AppCommand app_bench_mechanisms_command = {
    .name = "bench mechanisms",
    .operands = "",
    .summary = "microseconds per step of whole mechanisms",
    .detail =
        "Processor time of one thread; the fastest repetition counts. The same mechanism in\n"
        "other programs when lash-bench-peer was built (make bench).",
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands)};

enum { PEERS = 3 };
static const char* const peer_names[PEERS] = {"siconos", "mujoco", "mujoco_bodies"};
static const char* const peer_packages[PEERS] = {
    "libsiconos-numerics-dev libsiconos-kernel-dev libsiconos-mechanics-dev", "libmujoco-dev",
    "libmujoco-dev"};
enum { NO_PEER = 0, SICONOS = 1, MUJOCO = 2, BOTH = 3, MUJOCO_BODIES = 4 }; // bits of Row.peers
static const double PEER_TIME = 15; // a peer is not repeated after so much of wall time [s]

enum { LEAST_STEPS = 10000 };         // of a repetition: shorter runs are repeated within it,
static const double LEAST_TIME = 2e5; // unless they took so long together [us]

typedef struct Row {
    const char* name;
    AppSceneKind kind;
    const char *file, *what;
    double h; // [s]
    int steps;
    unsigned peers;
    const char *peer_scene, *family;
    int size; // 0: no growth row
} Row;

#define FOUR_BARS(n) "A02 with N = " n ", through a flat position, h = 1e-3 s"
#define CHAIN(n) "N = " n " links, hinges in space, falls from rest, h = 1e-4 s"
#define BAR(n) "elastic bar of " n " elements hits a wall, combined, h = 2e-7 s"
// Peers only where the run ends soon: Siconos needs a minute for 1e5 steps in maximal coordinates.
static const Row rows[] = {
    {"slider_crank_ideal", APP_SCENE_MODEL, "slider_crank/ideal.json",
     "3 bodies, maximal coordinates, no play, h = 1e-5 s", 1e-5, 10000, BOTH, "ideal", NULL, 0},
    {"slider_crank_minimal", APP_SCENE_MINIMAL, NULL,
     "play in the guide, 3 angles, planar friction, combined, h = 1e-5 s", 1e-5, 10000, BOTH,
     "minimal", NULL, 0},
    {"slider_crank_maximal", APP_SCENE_MAXIMAL, NULL,
     "play in the guide, 3 bodies, friction in space, combined, h = 1e-5 s", 1e-5, 10000,
     BOTH | MUJOCO_BODIES, "maximal", NULL, 0},
    {"slider_crank_minimal_1e-4", APP_SCENE_MINIMAL, NULL, "the same, h = 1e-4 s", 1e-4, 1000, BOTH,
     "minimal", NULL, 0},
    {"slider_crank_maximal_1e-4", APP_SCENE_MAXIMAL, NULL, "the same, h = 1e-4 s", 1e-4, 1000,
     BOTH | MUJOCO_BODIES, "maximal", NULL, 0},
    {"slider_crank_minimal_1e-6", APP_SCENE_MINIMAL, NULL, "the same, h = 1e-6 s", 1e-6, 100000,
     BOTH, "minimal", NULL, 0},
    {"slider_crank_maximal_1e-6", APP_SCENE_MAXIMAL, NULL, "the same, h = 1e-6 s", 1e-6, 100000,
     MUJOCO | MUJOCO_BODIES, "maximal", NULL, 0},
    {"slider_crank_cad", APP_SCENE_MODEL, "slider_crank/guide_play.json",
     "STEP faces of slider and guide, ideal pins, h = 1e-5 s", 1e-5, 10000, NO_PEER, NULL, NULL, 0},
    {"slider_crank_cad_play", APP_SCENE_MODEL, "slider_crank/crank_pin_play.json",
     "STEP faces of slider and guide, play of 5e-4 m in the crank pin, h = 1e-5 s", 1e-5, 10000,
     NO_PEER, NULL, NULL, 0},
    {"slider_crank_all_play", APP_SCENE_MODEL, "slider_crank/all_play.json",
     "play of 5e-5 m in every joint, h = 1e-5 s", 1e-5, 10000, NO_PEER, NULL, NULL, 0},
    {"breaker_trip", APP_SCENE_MODEL, "circuit_breaker/breaker.json",
     "8 bodies, 8 joints with play, 12 contacts of STEP faces, a whole trip, h = 1e-5 s", 1e-5,
     1000, NO_PEER, NULL, NULL, 0},
    {"pendulum", APP_SCENE_MODEL, "benchmarks/pendulum_120.json", "1 body", 1e-4, 20000, NO_PEER,
     NULL, NULL, 0},
    {"andrews", APP_SCENE_MODEL, "benchmarks/a03_andrews.json", "7 bodies, 10 revolutes", 1e-6,
     10000, NO_PEER, NULL, NULL, 0},
    {"four_bars_1", APP_SCENE_MODEL, "benchmarks/a02_n1.json", "A02 with N = 1: 3 links", 1e-4,
     10000, NO_PEER, NULL, NULL, 0},
    {"four_bars_2", APP_SCENE_MODEL, "benchmarks/a02_n2.json", "A02 with N = 2: 5 links", 1e-4,
     10000, NO_PEER, NULL, NULL, 0},
    {"four_bars_10", APP_SCENE_FOUR_BARS, NULL, FOUR_BARS("10"), 1e-3, 1000, NO_PEER, NULL,
     "four_bars", 10},
    {"four_bars_100", APP_SCENE_FOUR_BARS, NULL, FOUR_BARS("100"), 1e-3, 1000, NO_PEER, NULL,
     "four_bars", 100},
    {"four_bars_1000", APP_SCENE_FOUR_BARS, NULL, FOUR_BARS("1000"), 1e-3, 1000, NO_PEER, NULL,
     "four_bars", 1000},
    {"chain_10", APP_SCENE_CHAIN, NULL, CHAIN("10"), 1e-4, 1000, NO_PEER, NULL, "chain", 10},
    {"chain_100", APP_SCENE_CHAIN, NULL, CHAIN("100"), 1e-4, 1000, NO_PEER, NULL, "chain", 100},
    {"chain_1000", APP_SCENE_CHAIN, NULL, CHAIN("1000"), 1e-4, 1000, NO_PEER, NULL, "chain", 1000},
    {"bar_100", APP_SCENE_BAR, NULL, BAR("100"), 2e-7, 200, NO_PEER, NULL, "bar", 100},
    {"bar_1000", APP_SCENE_BAR, NULL, BAR("1000"), 2e-7, 200, NO_PEER, NULL, "bar", 1000},
    {"bar_10000", APP_SCENE_BAR, NULL, BAR("10000"), 2e-7, 200, NO_PEER, NULL, "bar", 10000},
};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct Figure { // of one peer on one row
    double us;          // NAN: none
    double spent;       // wall time [s]
    char note[320];
} Figure;

typedef struct Result {
    double us;
    int units; // bodies, elements
    char note[320];
    Figure peer[PEERS];
} Result;

// Reads "US ANGLE VIOLATION INDEX_SETS STEPS NOTE", "missing PACKAGES" or "failed WHY".
static void read_answer(const char* text, const char* failure, Figure* figure) {
    double us, angle, violation, index_sets;
    int steps, at = 0;
    if (sscanf(text, "%lf %lf %lf %lf %d %n", &us, &angle, &violation, &index_sets, &steps, &at) >=
        5) {
        if (us >= figure->us) return;
        char sets[48] = "";
        if (isfinite(index_sets)) snprintf(sets, sizeof sets, ", index sets %.3f", index_sets);
        figure->us = us;
        snprintf(figure->note, sizeof figure->note, "theta1 %.5f, violation %.1e m%s; %.200s",
                 angle, violation, sets, text + at);
    } else if (strncmp(text, "missing ", 8) == 0) {
        snprintf(figure->note, sizeof figure->note, "not installed (%.200s)", text + 8);
    } else {
        snprintf(figure->note, sizeof figure->note, "%.250s",
                 strncmp(text, "failed ", 7) == 0 ? text : failure);
    }
}

static void ask_peer(const Row* row, int peer, Figure* figure) {
    char h[32], duration[32], text[256] = "";
    snprintf(h, sizeof h, "%.17g", row->h);
    snprintf(duration, sizeof duration, "%.17g", row->h * row->steps);
    AppPeer process;
    double start = app_wall_clock();
    const char* arguments[] = {"mechanisms", peer_names[peer], row->peer_scene, h, duration, NULL};
    if (!app_peer_start(arguments, &process)) {
        snprintf(figure->note, sizeof figure->note, "not installed (%s)", peer_packages[peer]);
        figure->spent = INFINITY;
        return;
    }
    bool answered = fgets(text, sizeof text, process.answer) != NULL;
    app_peer_end(&process);
    text[strcspn(text, "\n")] = 0;
    figure->spent += app_wall_clock() - start;
    read_answer(text, answered ? "not understood" : "ended without an answer (time limit)", figure);
    if (!isfinite(figure->us)) figure->spent = INFINITY; // asking again is no use
}

static void note_run(const Row* row, const AppSceneRun* run, Result* result) {
    int used = snprintf(result->note, sizeof result->note, "%s; %d steps", row->what, run->steps);
    size_t rest = sizeof result->note - (size_t)used;
    if (row->kind != APP_SCENE_MINIMAL && row->peers == NO_PEER)
        snprintf(result->note + used, rest, ", joint error %.1e, penetration %.1e m",
                 run->position_error, run->penetration);
    else
        snprintf(result->note + used, rest, ", theta1 %.5f, violation %.1e m, index sets %.3f",
                 run->angle, fmax(run->penetration, run->position_error), run->index_sets);
}

// Least microseconds per step of a row and of its peers.
static bool measure(const Row* row, const BenchOptions* bench_options, Result* result,
                    LashError* error) {
    char path[1200] = "";
    if (row->file != NULL && !app_find_model(bench_options->models, row->file, path, sizeof path)) {
        return lash_error_set(error, LASH_ERROR_IO, row->file,
                              "this model was not found; --models names the folder");
    }
    *result = (Result){.us = INFINITY};
    for (int p = 0; p < PEERS; ++p) result->peer[p].us = INFINITY;
    AppScene scene;
    bool done = true, growth = row->size > 0;
    if (growth)
        app_scene_open_growth(row->kind, row->size, row->h, &scene);
    else
        done = app_scene_open(row->kind, path, row->h, &scene, error);
    int least = growth ? LEAST_STEPS / row->size : LEAST_STEPS;
    for (int i = 0; done && i < bench_options->repeat && !app_interrupted(); ++i) {
        AppSceneRun run;
        double spent = 0;
        for (int steps = 0; done && steps < least && spent < LEAST_TIME; steps += row->steps) {
            done = app_scene_run(&scene, row->steps, &run, error);
            result->us = fmin(result->us, run.us);
            spent += run.us * row->steps;
        }
        if (done) note_run(row, &run, result);
        if (done) result->units = row->kind == APP_SCENE_BAR ? row->size : scene.system->blocks;
        for (int p = 0; done && p < PEERS && !bench_options->no_peer && !app_interrupted(); ++p)
            if ((row->peers >> p & 1) != 0 && result->peer[p].spent < PEER_TIME)
                ask_peer(row, p, &result->peer[p]);
    }
    if (!done) lash_error_file(error, path[0] != 0 ? path : row->name);
    app_scene_close(&scene);
    return done;
}

static void put_row(AppJson* json, const Row* row, const Result* result, int peer) {
    const Figure* figure = peer >= 0 ? &result->peer[peer] : NULL;
    char note[700];
    snprintf(note, sizeof note, "%s%s%s%s%s", result->note, figure ? "; " : "",
             figure ? peer_names[peer] : "", figure ? ": " : "", figure ? figure->note : "");
    app_json_begin_object(json);
    app_json_put_text(json, "name", row->name);
    app_json_put_number(json, "us", result->us);
    app_json_put_text(json, "peer", figure ? peer_names[peer] : NULL);
    app_json_put_number(json, "peer_us", figure ? figure->us : NAN);
    app_json_put_number(json, "ratio", figure ? figure->us / result->us : NAN);
    app_json_put_text(json, "note", note);
    if (row->size > 0) {
        app_json_put_text(json, "family", row->family);
        app_json_put_integer(json, "size", row->size);
        app_json_put_number(json, "us_per_unit", result->us / result->units);
    }
    app_json_end_object(json);
}

static bool chosen(const BenchOptions* bench_options, const Row* row) {
    const char* only = bench_options->only;
    return only == NULL || strncmp(row->name, only, strlen(only)) == 0;
}

static bool compared(const Row* row, const BenchOptions* bench_options, int peer) {
    return (row->peers >> peer & 1) != 0 && !bench_options->no_peer;
}

static void put_scale_row(AppJson* json, const AppScaleRow* row) {
    app_json_begin_object(json);
    app_json_put_text(json, "name", row->name);
    app_json_put_text(json, "family", row->family);
    app_json_put_integer(json, "size", row->bodies);
    app_json_put_number(json, "us", row->us);
    app_json_put_number(json, "us_per_unit", row->us / row->bodies);
    app_json_put_integer(json, "contacts", row->contacts);
    app_json_put_integer(json, "steps", row->steps);
    app_json_put_number(json, "violation", row->violation);
    app_json_put_number(json, "exponent", row->exponent);
    app_json_put_bool(json, "stopped", row->late);
    app_json_end_object(json);
}

static void put_rows(AppJson* json, const BenchOptions* bench_options, const Result* result,
                     int done) {
    for (int i = 0; i < done; ++i) {
        bool any = false;
        if (!chosen(bench_options, &rows[i])) continue;
        for (int p = 0; p < PEERS; ++p) {
            if (!compared(&rows[i], bench_options, p)) continue;
            put_row(json, &rows[i], &result[i], p);
            any = true;
        }
        if (!any) put_row(json, &rows[i], &result[i], -1);
    }
}

static void print_row(const Row* row, const BenchOptions* bench_options, const Result* result) {
    char unit[32] = "";
    if (row->size > 0)
        snprintf(unit, sizeof unit, "; %.3f us per %s", result->us / result->units,
                 row->kind == APP_SCENE_BAR ? "element" : "body");
    printf("%-26s %9.2f us  %7s  %s%s\n", row->name, result->us, "", result->note, unit);
    for (int p = 0; p < PEERS; ++p) {
        const Figure* figure = &result->peer[p];
        if (!compared(row, bench_options, p)) continue;
        if (isfinite(figure->us))
            printf("  %-24s %9.2f us  %6.2fx  %s\n", peer_names[p], figure->us,
                   figure->us / result->us, figure->note);
        else
            printf("  %-24s %9s     %7s  %s\n", peer_names[p], "-", "", figure->note);
    }
    fflush(stdout);
}

int app_bench_mechanisms(int argc, char** argv) {
    BenchOptions o = {.repeat = 5};
    int code = app_options_parse(&app_bench_mechanisms_command, argc, argv, &o);
    if (code >= 0) return code;
    app_catch_interrupt();
    AppReport report = app_report("bench", o.json);
    LashError error = {0};
    if (o.repeat < 1) {
        lash_error_set(&error, LASH_ERROR_USAGE, "--repeat", "expected at least 1, found %d",
                       o.repeat);
        return app_report_finish(&report, &error);
    }
    Result results[ROWS] = {0};
    AppScaleRow scale[APP_SCALE_ROWS];
    int done = 0, scales = 0;
    if (!o.json)
        printf("%-26s %9s     %7s  %s\n", "mechanism", "per step", "ratio", "what; what came out");
    for (; done < ROWS && !app_interrupted(); ++done) {
        if (!chosen(&o, &rows[done])) continue;
        if (!measure(&rows[done], &o, &results[done], &error)) break;
        if (!o.json) print_row(&rows[done], &o, &results[done]);
    }
    if (error.status == LASH_OK) app_bench_scale(o.only, o.json, scale, &scales, &error);
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        app_json_key(json, "benchmarks");
        app_json_begin_array(json);
        put_rows(json, &o, results, done);
        for (int i = 0; i < scales; ++i) put_scale_row(json, &scale[i]);
        app_json_end_array(json);
    }
    code = app_report_finish(&report, &error);
    return code == 0 && app_interrupted() ? APP_EXIT_INTERRUPTED : code;
}
