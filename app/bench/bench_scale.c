// Rows of `lash bench mechanisms` that show how the cost of a step grows with the number of parts:
// the mechanisms of scale_models.c at several sizes, all with contacts.
//
// The time of a step is a mean over a few steps in motion, or of all from the first touch until nothing moves any
// more: of walls, small ones rest when large ones have hardly begun to settle. It is bounded by a limit of processor
// time; a size that does not end its steps within it says so, and larger ones of the family are left out.
// The exponent p of us = c N^p is that of the least squares line through log N and log us, N the
// number of bodies, over the sizes that were reached.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/bench/bench_scale.h"
#include "app/bench/bench_scenes.h"
#include "app/cli/progress.h"

typedef struct Family {
    AppScaleModel model;
    int size[5];      // 0: no more
    double start, h;  // steps before this time are not counted [s]; step [s]
    const char* name; // NULL: that of the model
    bool settles;     // counted are all steps until nothing moves
} Family;

static const Family families[] = {
    {APP_SCALE_FOUR_BARS, {5, 15, 50, 150, 500}, 0.0002, 2e-5},
    {APP_SCALE_CHAIN, {10, 30, 100, 300, 1000}, 0.0002, 2e-5},
    {APP_SCALE_GEARS, {10, 30, 100, 300, 1000}, 0.0002, 2e-5},
    {APP_SCALE_SCISSORS, {5, 15, 50, 150, 500}, 0.005, 2e-5},
    {APP_SCALE_ROLLER_CHAIN, {16, 30, 100, 300, 1000}, 0.002, 2e-5},
    {APP_SCALE_STACK, {10, 30, 100, 300, 1000}, 0.05, 1e-3},
    {APP_SCALE_WALL, {10, 30, 100, 300, 1000}, 0.02, 2e-4},
    {APP_SCALE_WALL, {10, 30, 100, 300, 1000}, 0.0044, 2e-4, "wall_settling", true},
    {APP_SCALE_DOMINOES, {10, 30, 100, 300, 1000}, 0.1, 2e-4},
    {APP_SCALE_BALLS, {10, 30, 100, 300, 1000}, 0.03, 1e-4},
};
enum { FAMILIES = sizeof families / sizeof *families };

static const double LIMIT = 15;  // processor time of one size [s]
static const double REST = 1e-9; // nothing moves faster [m/s, rad/s]
enum { STEPS = 50 };             // that are counted

static const char* name_of(const Family* family) {
    return family->name != NULL ? family->name : app_scale_name(family->model);
}

static double processor_time(void) { // of this thread [s]
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool is_late(void* context) {
    return processor_time() > *(const double*)context || app_interrupted();
}

bool app_scale_open(AppScaleModel model, int n, AppScene* scene, LashError* error) {
    char *text = NULL, name[64];
    size_t bytes = 0;
    FILE* file = open_memstream(&text, &bytes);
    if (file == NULL) return lash_error_set(error, LASH_ERROR_INTERNAL, "", "out of memory");
    app_scale_write(model, n, file);
    fclose(file);
    snprintf(name, sizeof name, "%s_%d", app_scale_name(model), n);
    *scene = (AppScene){.model = lash_model_parse(name, text, bytes, NULL, 0, error)};
    free(text);
    if (scene->model == NULL) return false;
    scene->settings = scene->model->simulation.settings;
    scene->mech = lash_model_build(scene->model, error);
    if (scene->mech == NULL) return false;
    scene->system = lash_mechanism_system(scene->mech);
    return true;
}

static bool rests(const LashSim* sim, const LashSystem* system) {
    const double *q, *v;
    double fastest = 0;
    lash_sim_state(sim, &q, &v);
    for (int i = 0; i < system->nv; ++i) fastest = fmax(fastest, fabs(v[i]));
    return fastest <= REST;
}

// Have enough steps been counted?
static bool is_done(const Family* family, const AppScene* scene, const LashSim* sim, int counted) {
    if (!family->settles) return counted == STEPS;
    return counted > 0 && rests(sim, scene->system);
}

// Steps from the start until enough of them have been counted, or it is late.
static bool run(const Family* family, const AppScene* scene, AppScaleRow* row, LashError* error) {
    double late = processor_time() + LIMIT, begin = NAN;
    LashSim* sim = lash_sim_create(scene->system, &scene->settings);
    lash_sim_set_stop(sim, (LashStop){is_late, &late});
    int before = (int)ceil(family->start / family->h), done = 0, counted = 0;
    LashStepInfo info = {.outcome = LASH_CONVERGED};
    begin = processor_time();
    for (; !is_done(family, scene, sim, counted) && !is_late(&late); ++done) {
        if (done == before) begin = processor_time();
        info = lash_sim_step(sim);
        if (info.outcome != LASH_CONVERGED) break;
        counted = done < before ? 0 : done - before + 1;
        row->violation = fmax(row->violation, fmax(info.penetration, info.position_error));
        row->contacts = info.contacts > row->contacts ? info.contacts : row->contacts;
    }
    row->late = is_late(&late);
    row->steps = counted > 0 ? counted : done;
    row->us = 1e6 * (processor_time() - begin) / (row->steps > 0 ? row->steps : 1);
    bool failed = info.outcome != LASH_CONVERGED && !row->late;
    lash_sim_destroy(sim);
    if (failed)
        return lash_error_set(error, LASH_ERROR_NUMERICS, row->name, "step %d failed", done + 1);
    return true;
}

// Exponent of the least squares line; NAN: of one size.
static double exponent_of(const AppScaleRow* rows, int count) {
    double x = 0, y = 0, xx = 0, xy = 0;
    int n = 0;
    for (int i = 0; i < count; ++i) {
        if (rows[i].late) continue;
        double a = log(rows[i].bodies), b = log(rows[i].us);
        x += a;
        y += b;
        xx += a * a;
        xy += a * b;
        ++n;
    }
    return n < 2 ? NAN : (n * xy - x * y) / (n * xx - x * x);
}

static void print_row(const AppScaleRow* row) {
    printf(
        "%-26s %9.2f us  %7s  %d bodies, %d contacts at most, %d steps, violation %.1e; %.3f us "
        "per body%s\n",
        row->name, row->us, "", row->bodies, row->contacts, row->steps, row->violation,
        row->us / row->bodies, row->late ? "; stopped by the time limit" : "");
    fflush(stdout);
}

static bool measure(const Family* family, int n, AppScaleRow* row, LashError* error) {
    AppScene scene;
    *row = (AppScaleRow){.family = name_of(family)};
    snprintf(row->name, sizeof row->name, "%s_%d", row->family, n);
    bool good = app_scale_open(family->model, n, &scene, error);
    if (good) {
        row->bodies = scene.system->blocks;
        good = run(family, &scene, row, error);
    }
    app_scene_close(&scene);
    return good;
}

bool app_bench_scale(const char* only, bool quiet, AppScaleRow* rows, int* count,
                     LashError* error) {
    *count = 0;
    for (int f = 0; f < FAMILIES && !app_interrupted(); ++f) {
        const char* name = name_of(&families[f]);
        if (only != NULL && strncmp(name, only, strlen(only)) != 0) continue;
        int first = *count;
        bool late = false;
        for (int k = 0; k < 5 && !late && !app_interrupted(); ++k) {
            AppScaleRow* row = &rows[*count];
            if (!measure(&families[f], families[f].size[k], row, error)) return false;
            late = row->late;
            ++*count;
            if (!quiet) print_row(row);
        }
        double exponent = exponent_of(rows + first, *count - first);
        for (int i = first; i < *count; ++i) rows[i].exponent = exponent;
        if (!quiet && isfinite(exponent))
            printf("%-26s grows as N^%.2f from %d to %d bodies\n", name, exponent,
                   rows[first].bodies, rows[*count - 1 - late].bodies);
    }
    return true;
}
