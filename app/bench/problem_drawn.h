// Friction problems drawn from real steps of the mechanisms of models/scale (scale_models.h).
#ifndef LASH_APP_PROBLEM_DRAWN_H
#define LASH_APP_PROBLEM_DRAWN_H

#include "app/bench/problem_file.h"
#include "app/bench/scale_models.h"

typedef struct AppDrawn {
    AppScaleModel model;
    int size,
        step; // bodies or so, as the model counts them; the problem is that of the step after it
    const char* text; // of the global layout: what `lash run --dump-friction` writes
    size_t bytes;
} AppDrawn;

// Called for each problem; false ends the drawing (with error, or without).
typedef bool AppDrawnEach(void* context, const AppDrawn* drawn, LashError* error);

// Draws up to count problems, evenly from all models, the same ones every time. Where a run has fewer steps with
// contacts than it should give, the next ones give more. False: a step failed (error), or each said so.
bool app_problems_draw(int count, AppDrawnEach* each, void* context, LashError* error);

#endif
