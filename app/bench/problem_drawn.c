// Problems of real steps: a mechanism is run as it is, and every so many steps the friction problem of the
// step that follows is written down (app/run/friction_dump.c).
#include "app/bench/problem_drawn.h"

#include <stdlib.h>

#include "app/bench/bench_scale.h"
#include "app/cli/progress.h"
#include "app/run/friction_dump.h"
#include "app/run/start.h"

typedef struct Source {
    AppScaleModel model;
    int size, steps, every; // of the mechanism; of its run; between two problems
} Source;

// 1400 steps in all, nearly all of them with contacts.
static const Source sources[] = {
    {APP_SCALE_FOUR_BARS, 4, 1250, 10},     {APP_SCALE_CHAIN, 8, 1250, 10},
    {APP_SCALE_GEARS, 8, 1250, 10},         {APP_SCALE_SCISSORS, 3, 2500, 10},
    {APP_SCALE_ROLLER_CHAIN, 16, 2500, 20}, {APP_SCALE_STACK, 8, 2000, 10},
    {APP_SCALE_WALL, 12, 1250, 10},         {APP_SCALE_DOMINOES, 8, 2500, 20},
    {APP_SCALE_BALLS, 12, 3000, 15},
};
enum { SOURCES = sizeof sources / sizeof *sources };

typedef struct Draw {
    AppDrawnEach* each;
    void* context;
    int drawn;
} Draw;

// The problem of the step that begins now; nothing where no contact with friction is closed.
static bool draw_one(Draw* draw, const Source* source, int step, AppFrictionDump* dump,
                     LashError* error) {
    char* text = NULL;
    size_t bytes = 0;
    FILE* file = open_memstream(&text, &bytes);
    if (file == NULL) return lash_error_set(error, LASH_ERROR_INTERNAL, "", "out of memory");
    int contacts = app_friction_dump_put(dump, file);
    fclose(file);
    bool good = true;
    if (contacts > 0) {
        AppDrawn drawn = {source->model, source->size, step, text, bytes};
        good = draw->each(draw->context, &drawn, error);
        ++draw->drawn;
    }
    free(text);
    return good;
}

static bool step_and_draw(Draw* draw, const Source* source, int last, LashSim* sim,
                          AppFrictionDump* dump, LashError* error) {
    for (int k = 1; k <= source->steps && draw->drawn < last && !app_interrupted(); ++k) {
        if (lash_sim_step(sim).outcome != LASH_CONVERGED)
            return lash_error_set(error, LASH_ERROR_NUMERICS, app_scale_name(source->model),
                                  "step %d failed", k);
        if (k % source->every == 0 && !draw_one(draw, source, k, dump, error)) return false;
    }
    return true;
}

// Until `last` problems have been drawn, or the run is over.
static bool draw_from(Draw* draw, const Source* source, int last, LashError* error) {
    AppScene scene = {0};
    double moved;
    bool good = app_scale_open(source->model, source->size, &scene, error);
    if (good) {
        LashSim* sim = lash_sim_create(scene.system, &scene.settings);
        AppFrictionDump* dump = app_friction_dump_open(scene.system, sim, scene.settings.h);
        good = app_start_prepare(scene.model, scene.mech, scene.system, sim, &moved, error) &&
               step_and_draw(draw, source, last, sim, dump, error);
        app_friction_dump_free(dump);
        lash_sim_destroy(sim);
    }
    app_scene_close(&scene);
    return good;
}

bool app_problems_draw(int count, AppDrawnEach* each, void* context, LashError* error) {
    Draw draw = {.each = each, .context = context};
    for (int k = 0; k < SOURCES && !app_interrupted(); ++k) {
        int left = count - draw.drawn, models = SOURCES - k;
        int last = draw.drawn + (left + models - 1) / models;
        if (!draw_from(&draw, &sources[k], last, error)) return false;
    }
    return true;
}
