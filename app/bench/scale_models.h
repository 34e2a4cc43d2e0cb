// Mechanisms of any size as model files: for models/scale, tests and `lash bench mechanisms`.
#ifndef LASH_APP_SCALE_MODELS_H
#define LASH_APP_SCALE_MODELS_H

#include <stdbool.h>
#include <stdio.h>

// Columns: identifier; name; what N counts; sizes of the benchmark; what it is.
// clang-format off
#define APP_SCALE_TABLE(X) \
    X(FOUR_BARS, "four_bars_play", "windows", "four-bars in a row (2 N + 1 bodies), play and friction in every pin, in motion") \
    X(CHAIN, "chain_play", "links", "a hanging chain that swings, play and friction in every pin") \
    X(GEARS, "gears_play", "gears", "a train of gears on plain bearings with play and friction") \
    X(SCISSORS, "scissors_play", "stages", "a scissor lift (2 N + 1 bodies) that sinks, play and friction in every pin") \
    X(ROLLER_CHAIN, "roller_chain", "links", "a chain with play on two sprockets with round teeth, driven") \
    X(STACK, "stack", "boxes", "a stack of boxes that settles") \
    X(WALL, "wall", "bricks", "a wall of bricks in bond that settles, one group") \
    X(DOMINOES, "dominoes", "stones", "a row of dominoes, the first one falling") \
    X(BALLS, "balls", "balls", "balls that fall into a funnel, two groups")
// clang-format on
typedef enum AppScaleModel {
#define X(id, name, counts, help) APP_SCALE_##id,
    APP_SCALE_TABLE(X)
#undef X
        APP_SCALE_MODELS
} AppScaleModel;

const char* app_scale_name(AppScaleModel model);
const char* app_scale_counts(AppScaleModel model);
const char* app_scale_help(AppScaleModel model);
int app_scale_least(AppScaleModel model); // the smallest N
void app_scale_write(AppScaleModel model, int n, FILE* file);

#endif
